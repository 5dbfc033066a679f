"""The final model in a file of skops: unlike a pickle, reading it executes no code but that of known types."""

from __future__ import annotations

import re
from typing import Any
from zipfile import ZIP_DEFLATED

from ..errors import SoberError
from .folder import RunFolder, read_file

MODEL = "model.skops"
#: What pipelines of the presets are made of beside the types that skops trusts itself. Private names change with
#: versions, so that modules are named; none of them executes text, opens files or calls functions that it is given.
TRUSTED = re.compile(
    r"numpy\.dtype|scipy\.optimize\._optimize\.OptimizeResult"
    r"|sobercv\.(presets|forests|feature_selection)(\.\w+)+|sksurv(\.\w+)+"
    r"|sklearn\.(tree|ensemble|neighbors|calibration|frozen|_loss)(\.\w+)+"
    r"|sklearn\.(model_selection\._classification_threshold|metrics\._dist_metrics)\.\w+"
    r"|skrub\.(?!_data_ops|_reporting)(_\w+|selectors)(\.\w+)+"
)


def packed(model: Any) -> bytes:
    """Return the contents of the file of a model."""
    from skops.io import dumps

    return bytes(dumps(model, compression=ZIP_DEFLATED))


def load(folder: RunFolder) -> Any:
    """Read the model of a run; E809 where it is missing or damaged, E810 where it holds types of no pipeline."""
    from skops.io import get_untrusted_types, loads

    path = folder / MODEL
    raw = read_file(path)
    if raw is None:
        raise SoberError("E809", f"{path} is not there. Write: sober resume {folder.path}")
    try:
        asked = get_untrusted_types(data=raw)
    except Exception as error:  # no archive, or one whose contents no skops has written
        raise folder.damaged(MODEL, type(error).__name__) from None
    unknown = [name for name in asked if TRUSTED.fullmatch(name) is None]
    if unknown:
        raise SoberError(
            "E810", f"{path} holds {', '.join(unknown[:3])}, of which no model of sober is made, so it is not loaded: "
            "it might execute code. Write the model again with sober resume.",
        )  # fmt: skip
    try:
        return loads(raw, trusted=asked)
    except Exception as error:
        raise SoberError(
            "E810", f"{path} cannot be loaded with the versions installed here ({type(error).__name__}). Compare them "
            "with those in results.json.",
        ) from error  # fmt: skip
