"""Optuna proposes, sober cross-validates, prunes and judges: an objective whose best trial has an honest score."""

from ..errors import also

try:
    import optuna as _optuna  # noqa: F401 - the extra, asked for where its absence can be explained
except ImportError:
    raise also(ImportError)(
        "E403", "sobercv.optuna needs Optuna, which is not installed. Write: pip install 'sobercv[optuna]'."
    ) from None

from .objective import Objective
from .replaying import replay

__all__ = ["Objective", "replay"]
