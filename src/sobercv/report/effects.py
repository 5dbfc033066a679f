"""What the final model says when one column changes: partial dependence, and lines of single samples (ICE).

Takes a finished search, its rows and the columns that it leans on, gives charts; never fits and never draws.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

import numpy as np

from .. import seeds
from ..containers import Array
from ..positive_class import obvious_positive
from .evidence import Band, line_of
from .importance import column_names, is_numeric
from .records import Chart, Importance
from .words import class_name, clean

N_COLUMNS, N_PLACES, N_ROWS, N_FAINT = 3, 21, 150, 30
#: More lines than there are colours say nothing.
MOST_CLASSES = 3


def effects(search: Any, X: Any, importance: Importance | None, max_seconds: float = np.inf) -> tuple[Chart, ...]:
    """Draw the first few columns, the most important first.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted, with a final model.
    X : pandas.DataFrame or array [N, P]
    importance : Importance or None
        Columns that it does not list, or with no importance, are not drawn; neither are columns of text.
    max_seconds : float
        After which no more are drawn.
    """
    if importance is None:
        return ()
    X = X if hasattr(X, "iloc") else np.asarray(X)
    names, numeric, end = column_names(X), is_numeric(X), monotonic() + max_seconds
    wanted = [bar.label for bar in importance.bars if bar.value > 0 and bar.label in names]
    columns = [c for c in (names.index(label) for label in wanted) if numeric[c]]
    generator = seeds.generator(search.seed_, "effects")
    rows = np.sort(generator.permutation(X.shape[0])[:N_ROWS])
    made: list[Chart] = []
    for column in columns[:N_COLUMNS]:
        if monotonic() > end:
            break
        chart = _effect(search, X, int(column), names[column], rows)
        made += [] if chart is None else [chart]
    return tuple(made)


def _effect(search: Any, X: Any, column: int, name: str, rows: Array) -> Chart | None:
    every = np.asarray(X.iloc[:, column] if hasattr(X, "iloc") else X[:, column], dtype=np.float64)
    known = every[np.isfinite(every)]
    places = np.unique(np.quantile(known, np.linspace(0.02, 0.98, N_PLACES))) if len(known) else known
    if len(places) < 2:
        return None
    said, labels, what = _said(search, _with_values(X, column, rows, places))
    by_row = said.reshape(len(places), len(rows), -1)  # [G, n, lines]
    faint = by_row[:, np.linspace(0, len(rows) - 1, min(N_FAINT, len(rows))).astype(int), 0].T
    means = by_row.mean(axis=1)  # [G, lines]
    drawn = means if len(labels) > 1 else np.concatenate([means.T, faint])
    low, high = float(drawn.min()), float(drawn.max())
    room = 0.06 * (high - low) or 0.5
    lines = [line_of(label, places, Band(*3 * (means[:, k],))) for k, label in enumerate(labels)]
    return Chart(
        name=f"effect-{column}",
        title=name,
        x_label=clean(name, 40),
        y_label=what,
        x_range=(float(places[0]), float(places[-1])),
        y_range=(low - room, high + room),
        lines=tuple(lines),
        sentence="",
        faint=tuple(tuple(float(f"{v:.5g}") for v in row) for row in faint) if len(labels) == 1 else (),
    )


def _with_values(X: Any, column: int, rows: Array, places: Array) -> Any:
    """Copy some rows once for each place, with the column set to it."""
    again, values = np.tile(rows, len(places)), np.repeat(places, len(rows))
    if hasattr(X, "iloc"):
        copy = X.iloc[again].reset_index(drop=True)
        dtype = X.dtypes.iloc[column]
        copy.isetitem(column, values if dtype.kind == "f" else np.round(values).astype(dtype))
        return copy
    copy = X[again]
    copy[:, column] = values
    return copy


def _said(search: Any, X: Any) -> tuple[Array, list[str], str]:
    """What the model says of rows [M, lines], how the lines are called, and what it is."""
    task = search.predictions_.task
    if task == "survival":
        return np.asarray(search.predict(X), np.float64), ["mean"], "predicted risk"
    if task == "regression":
        return np.asarray(search.predict(X), np.float64), ["mean"], "predicted"
    classes = list(search.classes_.tolist())
    if len(classes) == 2:
        positive = search.predictions_.target.positive_label
        positive = obvious_positive(classes) if positive is None else positive
        k = classes.index(positive) if positive in classes else 1
        if hasattr(search, "predict_proba"):
            return np.asarray(search.predict_proba(X))[:, k], ["mean"], f"probability of {class_name(classes[k])}"
        values = np.asarray(search.decision_function(X), np.float64)
        return values if k == 1 else -values, ["mean"], f"score of {class_name(classes[k])}"
    sizes = np.bincount(search.predictions_.y, minlength=len(classes))
    known = search.predictions_.classes.tolist()
    frequent = sorted(sorted(range(len(known)), key=lambda i: -sizes[i])[:MOST_CLASSES])
    places = [classes.index(known[i]) for i in frequent]
    ask = search.predict_proba if hasattr(search, "predict_proba") else search.decision_function
    what = "probability" if hasattr(search, "predict_proba") else "score"
    return np.asarray(ask(X))[:, places], [class_name(known[i]) for i in frequent], what
