"""write_run: everything that came out of a run, into its folder.

Takes a fitted search with its summary, gives the `Results` that the screen shows. Each file is written whole, one after
the other; results.json comes last, so that it speaks of files that are there.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from ..errors import Note
from ..predictions import Predictions
from ..report.html import to_html
from ..report.records import Summary
from ..search.selected import estimate_of
from . import model
from .folder import RunFolder
from .long_table import long_table
from .methods import methods
from .prepared import Prepared
from .refit import refit_script
from .results import RESULTS, Honest, Results
from .settings import Settings
from .survival_curve import SurvivalCurve
from .versions import versions


def write_run(
    search: Any,
    prepared: Prepared,
    settings: Settings,
    summary: Summary,
    notes: tuple[Note, ...],
    folder: RunFolder,
    with_report: bool = True,
) -> Results:
    """Write the results of a run.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted; with or without a final model.
    prepared : Prepared
    settings : Settings
        With the path of the data.
    summary : Summary
    notes : tuple of Note
        What the user is told.
    folder : RunFolder
        Locked.
    with_report : bool
        Whether report.html is wanted.
    """
    import pyarrow.parquet as parquet

    data, found = prepared.data, versions()
    table = long_table(search.predictions_, data.rows)
    folder.write("predictions.parquet", lambda file: parquet.write_table(table, file))
    if hasattr(search, "best_estimator_"):
        score = vars(Honest.of(summary.scores[0]))
        reading = prepared.table.record.to_dict()
        facts: dict[str, Any] = {"score": score, "versions": found, "command": settings.command(), "reading": reading}
        facts |= {"positive": _positive(search.predictions_), "survival": _curve(search)}
        facts |= {"threshold": getattr(estimate_of(search).decision, "value", None)}
        notes = (*notes, *model.save(search.best_estimator_, data, folder, facts))
        folder.write("refit.py", refit_script(search, data, prepared.table, str(settings.data), found["sobercv"]))
    else:
        model.remove(folder)
        (folder / "refit.py").unlink(missing_ok=True)
    folder.write("METHODS.md", methods(search, prepared.plan, data, summary, found["sobercv"]))
    if with_report:
        folder.write("report.html", to_html(summary))
    else:
        (folder / "report.html").unlink(missing_ok=True)
    results = Results.of(search, prepared, settings, summary, notes, str(folder.path))
    folder.write_json(RESULTS, results.to_dict())
    return results


def _positive(table: Predictions) -> Any:
    """The one of two classes whose probability decides: the positive one, else the second."""
    if table.classes is None or len(table.classes) != 2:
        return None
    label = table.target.positive_label
    return table.classes.tolist()[1] if label is None else label


def _curve(search: Any) -> dict[str, Any] | None:
    """How probable it is to survive with a risk: by the winner's risks of rows that it was not trained on."""
    table = search.predictions_
    if table.task != "survival":
        return None
    here, column = table.seen[:, 0], int(np.flatnonzero(table.configurations == search.best_index_)[0])
    return asdict(SurvivalCurve.fit(table.responses["predict"][here, column, 0], table.y[here]))
