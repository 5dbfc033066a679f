"""Charts of a classification: ROC, precision and recall, confusion.

Takes the winner's out-of-sample predictions, gives charts with bootstrap bands; never draws.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..containers import Array
from .chart_lines import known, line_of
from .evidence import Band, Evidence
from .records import Chart, ConfusionMatrix, Line
from .share_bounds import widened
from .thresholds import operating_point
from .words import between, class_name, clean, number

GRID = np.linspace(0.0, 1.0, 101)
MOST_CLASSES = 12
#: Cells of more classes are too small for an interval: a table below the chart has them.
MOST_WITH_INTERVALS = 5
SHARES = (0.0, 1.0)
Curve = Callable[[Array], Array]  # weight [N] -> [G + 1]: the curve and, last, the area under it


def roc(evidence: Evidence) -> Chart | None:
    """ROC curve; with more than two classes, one for each class against the rest."""
    lines = _one_against_rest(evidence, roc_curve, "AUC")
    if lines is None:
        return None
    marks = operating_point(evidence) if is_binary(evidence) else ()
    more = "; the table of thresholds says more" if "predict_proba" in evidence.responses else ""
    return Chart(
        name="roc",
        title="ROC",
        x_label="false positive rate",
        y_label="true positive rate",
        x_range=SHARES,
        y_range=SHARES,
        lines=lines,
        reference=(0.0, 0.0, 1.0, 1.0),
        sentence="How many true cases are found (up) for how many false alarms (right). The dashed line is guessing."
        + (f" The circle is where the predicted labels stand{more}." if marks else ""),
        marks=marks,
    )


def precision_recall(evidence: Evidence) -> Chart | None:
    """Precision at every recall; two classes only."""
    lines = _one_against_rest(evidence, precision_curve, "average precision") if is_binary(evidence) else None
    if lines is None:
        return None
    share = float(evidence.weight @ (evidence.y == 1) / evidence.weight.sum())
    return Chart(
        name="precision_recall",
        title="Precision and recall",
        x_label="recall",
        y_label="precision",
        x_range=SHARES,
        y_range=SHARES,
        lines=lines,
        reference=(0.0, share, 1.0, share),
        sentence=f"How many alarms are true (up) for how many cases found (right). Guessing would be right in "
        f"{100 * share:.0f} % of its alarms, the dashed line.",
    )


def confusion(evidence: Evidence) -> ConfusionMatrix | None:
    """Of each true class, the share predicted as each class."""
    labels = evidence.labels()
    if labels is None or evidence.classes is None or len(evidence.classes) > MOST_CLASSES:
        return None
    k = len(evidence.classes)

    def share(repeat: int, weight: Array) -> Array:
        table = np.bincount(evidence.y * k + labels[:, repeat], weight, minlength=k * k).reshape(k, k)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(table / table.sum(axis=1, keepdims=True)).reshape(-1)

    sizes = [evidence.units((evidence.y == i)[:, None] & np.ones_like(evidence.seen)) for i in range(k)]
    band = widened(evidence.banded(share), np.repeat(sizes, k), evidence.level)
    cells = evidence.y[:, None] * k + labels
    count = np.bincount(cells[evidence.seen], minlength=k * k).reshape(k, k) / evidence.n_repeats
    where = "Small print: samples, and" if k <= MOST_WITH_INTERVALS else "In the table below:"
    return ConfusionMatrix(
        title="Confusion",
        labels=tuple(clean(label, 60) for label in evidence.classes.tolist()),
        share=_cells(band.centre, k),
        low=_cells(band.low, k),
        high=_cells(band.high, k),
        count=tuple(tuple(round(float(v), 1) for v in row) for row in count),
        sentence=f"Of each true class (row), the share predicted as each class (column). {where} "
        f"{100 * evidence.level:g} % bootstrap intervals (Wilson's where the share is 0 or 100 %).",
    )


# ---- curves of weights ---------------------------------------------------------------------------------------------
def roc_curve(scores: Array, positive: Array) -> Curve:
    """Sort once; give the true positive rate on the grid of false positive rates, and the area."""
    order, ends = _walk(scores)
    hit = positive[order]

    def curve(weight: Array) -> Array:
        w = weight[order]
        found, alarms = np.cumsum(w * hit)[ends], np.cumsum(w * ~hit)[ends]
        if found[-1] <= 0 or alarms[-1] <= 0:
            return np.full(len(GRID) + 1, np.nan)
        y, x = np.append(0.0, found / found[-1]), np.append(0.0, alarms / alarms[-1])
        return np.append(np.interp(GRID, x, y), np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)

    return curve


def precision_curve(scores: Array, positive: Array) -> Curve:
    """Sort once; give the precision on the grid of recalls, and the average precision."""
    order, ends = _walk(scores)
    hit = positive[order]

    def curve(weight: Array) -> Array:
        w = weight[order]
        found, called = np.cumsum(w * hit)[ends], np.cumsum(w)[ends]
        if found[-1] <= 0:
            return np.full(len(GRID) + 1, np.nan)
        first = np.flatnonzero(called > 0)[0]
        recall, precision = found[first:] / found[-1], found[first:] / called[first:]
        at = np.minimum(np.searchsorted(recall, np.maximum(GRID - 1e-12, 1e-12)), len(recall) - 1)
        return np.append(precision[at], np.sum(np.diff(recall, prepend=0.0) * precision))

    return curve


def _walk(scores: Array) -> tuple[Array, Array]:
    """Order from the highest score down, and where each run of equal scores ends."""
    order = np.argsort(-scores, kind="stable")
    return order, np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)


# ---- lines ---------------------------------------------------------------------------------------------------------
def _one_against_rest(evidence: Evidence, make: Callable[[Array, Array], Curve], area: str) -> tuple[Line, ...] | None:
    scores, classes = evidence.scores(), evidence.classes
    if scores is None or classes is None or len(classes) < 2:
        return None
    columns = scores[:, :, None] if scores.ndim == 2 else scores
    codes = [1] if scores.ndim == 2 else list(range(min(len(classes), MOST_CLASSES)))
    lines = []
    for code in codes:
        ranked = columns[:, :, 0 if scores.ndim == 2 else code]
        curves = [make(ranked[:, r], evidence.y == code) for r in range(evidence.n_repeats)]
        band = evidence.banded(lambda r, weight, curves=curves: curves[r](weight))  # type: ignore[misc]
        text = f"{area} {number(band.centre[-1])}, {between((band.low[-1], band.high[-1]))}"
        lines.append(line_of(class_name(classes[code]), GRID, _without_last(band), text))
    return tuple(lines)


def _without_last(band: Band) -> Band:
    return Band(band.centre[:-1], band.low[:-1], band.high[:-1])


def _cells(values: Array, k: int) -> tuple[tuple[float | None, ...], ...]:
    return tuple(known(row) for row in values.reshape(k, k))


def is_binary(evidence: Evidence) -> bool:
    """Whether there are two classes."""
    return evidence.classes is not None and len(evidence.classes) == 2
