"""What decisions at a threshold are worth: the operating point, a table of thresholds, the decision curve.

Takes the winner's out-of-sample predictions of two classes, gives marks, tables and charts with bootstrap bounds; never
draws. Whoever reaches a threshold counts as positive.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from .chart_lines import line_of
from .evidence import Band, Evidence
from .records import Chart, Mark, Table
from .share_bounds import widened
from .words import class_name, percent

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
GRID = np.linspace(0.01, 0.99, 99)


def operating_point(evidence: Evidence) -> tuple[Mark, ...]:
    """Mark the share of false alarms and of cases found by the labels that were predicted."""
    labels = evidence.labels()
    if labels is None:
        return ()
    found = evidence.banded(lambda r, weight: _shares(labels[:, r] == 1, evidence.y == 1, weight)).centre
    if np.isnan(found[:2]).any():
        return ()
    sensitivity, specificity = float(found[0]), float(found[1])
    return (Mark(1.0 - specificity, sensitivity, f"sensitivity {sensitivity:.2f}, specificity {specificity:.2f}"),)


def thresholds(evidence: Evidence) -> Table | None:
    """Tabulate sensitivity, specificity and predictive values by threshold, in percent with intervals."""
    chances = _chances(evidence)
    if chances is None or evidence.classes is None:
        return None
    name = class_name(evidence.classes[1])
    rows: list[tuple[str, ...]] = [("Threshold", f"Called {name}", "Sensitivity", "Specificity", "PPV", "NPV")]
    for threshold in THRESHOLDS:
        band = evidence.banded(lambda r, w, t=threshold: _shares(chances[:, r] >= t, evidence.y == 1, w))  # type: ignore[misc]
        called, ill = chances >= threshold, np.broadcast_to((evidence.y == 1)[:, None], chances.shape)
        parts = (ill, ~ill, called, ~called)  # what each is a share of
        band = widened(band, np.array([*(evidence.units(part) for part in parts), 1.0]), evidence.level)
        shares = (_percent(band, i) for i in range(4))
        rows.append((f"{threshold:g}", percent(float(band.centre[4])), *shares))
    return Table(
        "thresholds",
        "Decisions by threshold",
        tuple(rows),
        f"Whoever's probability of {name} reaches the threshold is called {name}. Sensitivity: of those who are "
        f"{name}, the share called so; specificity: of the others, the share not called so; PPV and NPV: the share of "
        f"either call that is right. In percent, with {100 * evidence.level:g} % bootstrap intervals (Wilson's "
        "where the share is 0 or 100). Choose a threshold by what a miss and a false alarm cost, not by the best row.",
    )


def decision_curve(evidence: Evidence) -> Chart | None:
    """Net benefit by threshold, against treating all and treating none."""
    chances = _chances(evidence)
    if chances is None or evidence.classes is None:
        return None
    name, ill = class_name(evidence.classes[1]), evidence.y == 1
    odds = GRID / (1.0 - GRID)

    def benefit(treated: Array, weight: Array) -> Array:
        """Net benefit at each threshold, of samples [N] treated up to a threshold each."""
        place = np.searchsorted(GRID, treated, side="right")  # treated at all thresholds below this place
        right = np.cumsum(np.bincount(place, weight * ill, len(GRID) + 1)[::-1])[::-1][1:]
        wrong = np.cumsum(np.bincount(place, weight * ~ill, len(GRID) + 1)[::-1])[::-1][1:]
        total = weight.sum()
        return np.asarray((right - odds * wrong) / total) if total > 0 else np.full(len(GRID), np.nan)

    model = evidence.banded(lambda r, weight: benefit(chances[:, r], weight))
    everybody = benefit(np.ones(len(ill)), evidence.weight)
    share = float(evidence.weight @ ill / evidence.weight.sum())
    return Chart(
        name="decision",
        title="Decision curve",
        x_label="threshold probability",
        y_label="net benefit",
        x_range=(0.0, 1.0),
        y_range=(-0.15 * share, 1.1 * share),
        lines=(
            line_of("treat by the model", GRID, model),
            line_of("treat all", GRID, Band(everybody, everybody, everybody)),
        ),
        reference=(0.0, 0.0, 1.0, 0.0),
        sentence=f"What treating those called {name} is worth: true positives for each sample, minus false alarms at "
        "the odds of the threshold. It is useful where it runs above treating all and above the dashed line, "
        "treating none.",
    )


def _chances(evidence: Evidence) -> Array | None:
    two = evidence.classes is not None and len(evidence.classes) == 2
    return evidence.responses.get("predict_proba") if two else None


def _shares(called: Array, ill: Array, weight: Array) -> Array:
    """Sensitivity, specificity, PPV, NPV, and the share that is called positive."""
    right, wrong = weight @ (called & ill), weight @ (called & ~ill)
    missed, spared = weight @ (~called & ill), weight @ (~called & ~ill)
    parts = np.array([right, spared, right, spared, right + wrong])
    wholes = np.array([right + missed, wrong + spared, right + wrong, missed + spared, weight.sum()])
    return np.divide(parts, wholes, out=np.full(5, np.nan), where=wholes > 0)


def _percent(band: Band, i: int) -> str:
    centre, low, high = (100 * float(values[i]) for values in (band.centre, band.low, band.high))
    return "\u2013" if np.isnan(centre) else f"{centre:.0f} ({low:.0f}\u2013{high:.0f})"
