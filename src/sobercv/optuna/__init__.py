"""Optuna proposes, sober cross-validates, prunes and judges: an objective whose best trial has an honest score."""

from ..errors import needs

with needs("sobercv.optuna needs Optuna", "'sobercv[optuna]'"):
    import optuna as _optuna  # noqa: F401 - the extra, asked for where its absence can be explained

from .objective import Objective
from .replaying import replay

__all__ = ["Objective", "replay"]
