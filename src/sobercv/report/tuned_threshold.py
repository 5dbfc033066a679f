"""The curve over thresholds: what the winner would have scored at every threshold, and the one that was tuned.

Takes the winner's out-of-sample probabilities of two classes and the tuned threshold, gives a chart with a bootstrap
band; never draws. The curve is that of plain cross-validation: its top is too good, which the estimate corrects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..containers import Array
from ..inference.procedures import Threshold
from ..search.selected import estimate_of
from .chart_lines import line_of
from .evidence import Evidence
from .records import Chart, Mark
from .words import class_name, metric_label

GRID = np.linspace(0.0, 1.0, 101)


def tuned_threshold(evidence: Evidence, search: Any) -> Chart | None:
    """Draw the score over thresholds; None where none was tuned, or where it is no probability.

    Parameters
    ----------
    evidence : Evidence
    search : BBCSearchCV
        Fitted.
    """
    estimate, formula = estimate_of(search), search.question_.first.at_cuts
    decision, chances = estimate.decision, evidence.responses.get("predict_proba")
    if not isinstance(decision, Threshold) or chances is None or evidence.classes is None or formula is None:
        return None
    if decision.response != "predict_proba" or not 0.0 < decision.value < 1.0:
        return None
    second = bool(evidence.classes[1] == decision.positive)
    of_positive = chances if second else 1.0 - chances
    ill = evidence.y == (1 if second else 0)
    cuts = np.append(GRID, decision.value)

    def scores(repeat: int, weight: Array) -> Array:
        """Score at every cut of the grid and, last, at the threshold."""
        reached = of_positive[:, repeat] >= cuts[:, None]  # [G, N]
        found, alarms = reached @ (weight * ill), reached @ (weight * ~ill)
        return formula.scores(found, alarms, float(weight @ ill), float(weight @ ~ill))

    band = evidence.banded(scores)
    order = np.argsort(cuts)
    line = line_of("winner", cuts[order], band.at(order))
    known = np.concatenate([band.low, band.high, band.centre])
    known = known[~np.isnan(known)]
    room = 0.05 * float(np.ptp(known)) or 0.05
    label = metric_label(estimate.metric, estimate.positive)
    return Chart(
        name="tuned_threshold",
        title="Score by threshold",
        x_label=f"threshold: {class_name(decision.positive)} from this probability on",
        y_label=label,
        x_range=(0.0, 1.0),
        y_range=(float(known.min()) - room, float(known.max()) + room),
        lines=(line,),
        sentence="What the winner scores at each threshold by plain cross-validation. The circle is the threshold that "
        f"was tuned, {decision.value:.3g}. It was picked for being the best here, so its height is too good: the "
        "honest score is the corrected one. Where the line is flat, another threshold is as good.",
        marks=(Mark(decision.value, float(band.centre[-1]), f"threshold {decision.value:.3g}"),),
    )
