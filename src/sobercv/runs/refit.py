"""refit: train the winner of a run again; and the short script in the folder of a run that calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from ..tables import Dataset, assign, read
from .folder import RunFolder
from .model import load
from .record import RunRecord

SCRIPT = '''"""Trains the winner of this run again, on its table or on another one with the same columns.

Usage: python refit.py [table] [file for predictions]
"""

import sys
from pathlib import Path

import pandas as pd

from sobercv.runs.refit import refit

model, data = refit(Path(__file__).parent, *sys.argv[1:2])
if len(sys.argv) > 2:
    pd.DataFrame({"prediction": model.predict(data.X)}).to_csv(sys.argv[2], index=False)
else:
    print(model)
'''


def refit(folder: str | Path, table: str | Path | None = None) -> tuple[Any, Dataset]:
    """Train the winner of a run again, on its table or another one; return the pipeline and what it was trained on."""
    run = RunFolder(Path(folder))
    record = RunRecord.read(run)
    settings = record.settings
    data = assign(read(str(table or settings.data), settings, schema=record.schema).frame, settings)
    model = clone(load(run))
    if isinstance(getattr(model, "estimator", None), FrozenEstimator):  # a tuned threshold around the pipeline
        model.set_params(estimator=clone(model.estimator.estimator))
    return model.fit(data.X, data.y, **data.fit_arguments), data
