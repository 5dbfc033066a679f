"""Charts and tables of the winner's out-of-sample predictions, with bootstrap bands; drawn elsewhere.

Most of those of classes come from one count: how many samples of either kind reach each of some cuts. Each maker
returns its charts and tables; none where the predictions do not allow them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..containers import Array
from ..inference import Estimate
from ..inference.procedures import Threshold
from ..metrics import get
from ..predictions import Predictions
from ..search.results import estimate_of
from ..targets import Target
from .evidence import Evidence, Statistic, line_of, padded
from .records import Box, Chart, Line, Mark, Race, Score, Table
from .svg import ticks
from .words import between, class_name, clean, count, metric_label, number, percent, share_with_interval

Parts = tuple[Chart | Table, ...]
#: Of samples found and false alarms [G] at ascending cuts, and of the totals of both: the values of a curve.
Formula = Callable[..., Array]
GRID, CUTS = np.linspace(0.0, 1.0, 101), np.linspace(0.01, 0.99, 99)
THRESHOLDS = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
MOST_CLASSES = 12
MOST_POINTS = 400
SHARES, DIAGONAL = (0.0, 1.0), (0.0, 0.0, 1.0, 1.0)


# ---- classes -------------------------------------------------------------------------------------------------------
def by_cuts(values: Array, positive: Array, cuts: Array | None, formula: Formula) -> Statistic:
    """Return what a formula makes of values [N, R], which are sorted into the cuts (default: every value) only once."""
    grids = [np.unique(column) if cuts is None else cuts for column in values.T]
    places = [np.searchsorted(grid, column, side="right") for grid, column in zip(grids, values.T, strict=True)]

    def statistic(repeat: int, weight: Array) -> Array:
        size = len(grids[repeat]) + 1
        both = (np.bincount(places[repeat], weight * side, size) for side in (positive, ~positive))
        found, alarms = (np.cumsum(each[::-1])[::-1][1:] for each in both)
        return formula(found, alarms, float(weight @ positive), float(weight @ ~positive))

    return statistic


def roc_curve(found: Array, alarms: Array, *_: float) -> Array:
    """Return the true positive rate on the grid of false positive rates and, last, the area."""
    if found[0] <= 0 or alarms[0] <= 0:
        return np.full(len(GRID) + 1, np.nan)
    y, x = (np.append(0.0, each[::-1] / each[0]) for each in (found, alarms))
    return np.append(np.interp(GRID, x, y), np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)


def precision_curve(found: Array, alarms: Array, *_: float) -> Array:
    """Return the precision on the grid of recalls and, last, the average precision."""
    if found[0] <= 0:
        return np.full(len(GRID) + 1, np.nan)
    found, called = found[::-1], (found + alarms)[::-1]
    first = np.flatnonzero(called > 0)[0]
    recall, precision = found[first:] / found[-1], found[first:] / called[first:]
    at = np.minimum(np.searchsorted(recall, np.maximum(GRID - 1e-12, 1e-12)), len(recall) - 1)
    return np.append(precision[at], np.sum(np.diff(recall, prepend=0.0) * precision))


def shares(found: Array, alarms: Array, ill: float, well: float) -> Array:
    """Sensitivity, specificity, PPV, NPV, and the share that is called positive: [5 * G]."""
    called, whole = found + alarms, np.full_like(found, ill + well)
    parts = np.array([found, well - alarms, found, well - alarms, called])
    wholes = np.array([np.full_like(found, ill), np.full_like(found, well), called, whole - called, whole])
    return np.divide(parts, wholes, out=np.full(parts.shape, np.nan), where=wholes > 0).reshape(-1)


def curve_of(evidence: Evidence, code: int, formula: Formula, measure: str) -> Line:
    """Return a curve on the grid, of a class against the rest, with the measure that comes last in its formula."""
    scores = evidence.scores
    assert scores is not None
    values = scores if scores.ndim == 2 else scores[:, :, code]
    band = evidence.banded(by_cuts(values, evidence.y == code, None, formula))
    text = f"{measure} {number(band[0, -1])}, {between(band[1:, -1])}"
    return line_of(class_name(evidence.classes[code]), GRID, band[:, :-1], text)


def roc(evidence: Evidence) -> Parts:
    """ROC curve; with more than two classes, one for each class against the rest."""
    labels, k = evidence.labels, len(evidence.classes)
    if evidence.scores is None or k < 2:
        return ()
    lines = (curve_of(evidence, code, roc_curve, "AUC") for code in ([1] if k == 2 else range(k)[:MOST_CLASSES]))
    sentence = "Share of true cases found (up) against share of false alarms (right). The dashed line is guessing."
    marks = []
    if labels is not None and k == 2:
        found, spared = evidence.banded(by_cuts(labels, evidence.y == 1, np.ones(1), shares))[0, :2].tolist()
        if np.isfinite(found + spared):
            marks.append(Mark(1.0 - spared, found, f"sensitivity {found:.2f}, specificity {spared:.2f}"))
            more = "; see the table of thresholds" if "predict_proba" in evidence.responses else ""
            sentence += f" The circle marks the predicted labels{more}."
    return (
        Chart("roc", "ROC", "false positive rate", "true positive rate", SHARES, SHARES, tuple(lines), sentence,
              reference=DIAGONAL, marks=tuple(marks), apart=k > 2),
    )  # fmt: skip


def precision_recall(evidence: Evidence) -> Parts:
    """Precision at every recall; two classes only."""
    if evidence.scores is None or len(evidence.classes) != 2:
        return ()
    share = float(evidence.weight @ (evidence.y == 1) / evidence.weight.sum())
    sentence = (
        f"Share of alarms that are true (up) against share of cases found (right). Guessing is right in "
        f"{100 * share:.0f} % of its alarms (the dashed line)."
    )
    line = curve_of(evidence, 1, precision_curve, "average precision")
    return (
        Chart("precision_recall", "Precision and recall", "recall", "precision", SHARES, SHARES, (line,), sentence,
              reference=(0.0, share, 1.0, share)),
    )  # fmt: skip


def in_bins(evidence: Evidence, values: Array, truth: Array) -> Line:
    """Mean of the truth [N] by that of values [N, R], in bins of equal size of some 30 values or more, at most ten."""
    n_bins = int(np.clip(evidence.seen.sum() // 30, 3, 10))
    edges = np.unique(np.quantile(values[evidence.seen], np.linspace(0, 1, n_bins + 1)))
    k, bins = max(len(edges) - 1, 1), np.searchsorted(edges[1:-1], values, side="right")

    def means(repeat: int, weight: Array) -> Array:
        here = bins[:, repeat]
        with np.errstate(invalid="ignore", divide="ignore"):
            sums = [np.bincount(here, weight * each, minlength=k) for each in (truth, values[:, repeat])]
            return np.append(*sums / np.bincount(here, weight, minlength=k))

    band, (x, *_) = np.split(evidence.banded(means), 2, axis=1)
    return line_of(f"mean in {k} bins of equal size", x[~np.isnan(x)], band[:, ~np.isnan(x)], marked=True)


def calibration(evidence: Evidence) -> Parts:
    """Predicted probability against observed share in bins of equal size, with slope and intercept of the logits."""
    chances = evidence.chances
    if chances is None:
        return ()
    line = in_bins(evidence, chances, evidence.y == 1)
    target, known = Target("classification", evidence.y, evidence.classes, 1), np.ma.array(chances, mask=~evidence.seen)
    table = Predictions.build(
        target, {"predict_proba": known[:, None]}, task="classification", sample_weight=evidence.weight
    )
    names, ones = ("slope", "intercept"), np.ones((1, len(evidence.y)), np.uint8)
    fitted = [float(get(f"calibration_{name}").scores(table, ones)[0, 0]) for name in names]
    is_defined = bool(np.isfinite(fitted).all())  # not where probabilities separate the classes, or are all alike
    sentence = (
        "Where the line runs above the dashed diagonal, the event was more frequent than predicted. Best: slope 1 "
        "(below 1, probabilities are too extreme) and intercept 0 (below 0, they are too high)."
    )
    return (
        Chart("calibration", "Calibration", f"predicted probability of {class_name(evidence.classes[1])}",
              "observed share", SHARES, SHARES, (line,), sentence, reference=DIAGONAL,
              below=(names, tuple(number(v, 2) for v in fitted)) if is_defined else ()),
    )  # fmt: skip


def decision(evidence: Evidence) -> Parts:
    """Net benefit by threshold, and a table of sensitivity, specificity and predictive values."""
    chances, ill, odds = evidence.chances, evidence.y == 1, CUTS / (1.0 - CUTS)
    if chances is None or not ill.any():
        return ()
    name = class_name(evidence.classes[1])

    def benefit(found: Array, alarms: Array, n_ill: float, n_well: float) -> Array:
        total = n_ill + n_well
        return np.asarray((found - odds * alarms) / total) if total > 0 else np.full(len(CUTS), np.nan)

    share = float(evidence.weight @ ill / evidence.weight.sum())
    lines = (
        line_of("treat by the model", CUTS, evidence.banded(by_cuts(chances, ill, CUTS, benefit))),
        line_of("treat all", CUTS, np.stack([share - odds * (1.0 - share)] * 3)),
    )
    chart = Chart(
        "decision", "Decision curve", "threshold probability", "net benefit", SHARES, (-0.15 * share, 1.1 * share),
        lines, f"Net benefit of treating those called {name}: true positives per sample, minus false alarms at the "
        'odds of the threshold. Useful where the line is above "treat all" and above the dashed line, "treat '
        'none".', reference=(0.0, 0.0, 1.0, 0.0),
    )  # fmt: skip
    reached, are_ill, all_rows = [chances >= t for t in THRESHOLDS], ill[:, None], np.ones((1, 1), bool)
    wholes = [*[are_ill] * 10, *[~are_ill] * 10, *reached, *(~rows for rows in reached), *[all_rows] * 10]
    band = evidence.share_band(by_cuts(chances, ill, THRESHOLDS, shares), wholes).reshape(3, 5, -1)
    rows: list[tuple[str, ...]] = [("Threshold", f"Called {name}", "Sensitivity", "Specificity", "PPV", "NPV")]
    for threshold, *cells, (called, *_) in zip(THRESHOLDS, *band.transpose(1, 2, 0).tolist(), strict=True):
        rows.append((f"{threshold:g}", percent(called), *(share_with_interval(*cell) for cell in cells)))
    sentence = (
        f"A sample whose probability of {name} reaches the threshold is called {name}. Sensitivity: of those that are "
        f"{name}, the share called so; specificity: of the others, the share not called so; PPV and NPV: the share of "
        f"either call that is right. In percent, with {100 * evidence.level:g} % bootstrap intervals (Wilson's "
        "where the share is 0 or 100). Choose a threshold by what a miss and a false alarm cost, not by the best row."
    )
    return chart, Table("thresholds", "Decisions by threshold", tuple(rows), sentence)


def confusion(evidence: Evidence) -> Parts:
    """Of each true class, the share predicted as each class: a chart, and a table with intervals."""
    labels = evidence.labels
    if labels is None or len(evidence.classes) > MOST_CLASSES:
        return ()
    k, cells = len(evidence.classes), evidence.y[:, None] * len(evidence.classes) + labels

    def share(repeat: int, weight: Array) -> Array:
        table = np.bincount(cells[:, repeat], weight, minlength=k * k).reshape(k, k)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(table / table.sum(axis=1, keepdims=True)).reshape(-1)

    wholes = [(evidence.y == i)[:, None] for i in range(k) for _ in range(k)]
    band = evidence.share_band(share, wholes).reshape(3, k, k)
    counted = np.bincount(cells[evidence.seen], minlength=k * k).reshape(k, k) / evidence.seen.shape[1]
    names, boxes = tuple(clean(label, 60) for label in evidence.classes.tolist()), []
    rows: list[tuple[str, ...]] = [("true \\ predicted", *names)]
    for name, row in zip(names, band.transpose(1, 2, 0).tolist(), strict=True):
        rows.append((name, *(share_with_interval(*cell) for cell in row)))
    for i, j in np.ndindex(k, k):
        n, total = (f"{v:.1f}".removesuffix(".0") for v in (counted[i, j], counted[i].sum()))
        shown, tint = percent(float(band[0, i, j])), float(np.nan_to_num(band[0, i, j]))
        hint = f"true {names[i]}, predicted {names[j]}: {n} samples, {shown}"
        words = shown.replace(" ", "\u202f"), f"{n} of {total}"
        boxes.append(Box(j - 0.5, i - 0.5, j + 0.5, i + 0.5, 0, hint, tint, words))
    what = "Of each true class (row), the percentage predicted as each class (column)."
    what += " Percentages are weighted, counts are not." if np.ptp(evidence.weight) else ""
    intervals = f"{100 * evidence.level:g} % bootstrap intervals (Wilson's where the share is 0 or 100 %)."
    chart = Chart(
        "confusion", "Confusion", "predicted", "true", (-0.5, k - 0.5), (k - 0.5, -0.5),
        sentence=f"{what} The table below has intervals.", boxes=tuple(boxes), x_names=names, y_names=names,
    )  # fmt: skip
    title, said = "Confusion in percent, with intervals", f"{what} In brackets: {intervals}"
    return chart, Table("confusion", title, tuple(rows), said, folded=True)


def tuned_threshold(evidence: Evidence, search: Any) -> Parts:
    """Draw the score over thresholds, where one was tuned and is a probability."""
    estimate, formula, chances = estimate_of(search), search.question_.first.at_cuts, evidence.chances
    tuned = estimate.decision
    is_chance = isinstance(tuned, Threshold) and tuned.response == "predict_proba" and 0.0 < tuned.value < 1.0
    if not is_chance or chances is None or formula is None:
        return ()
    is_second = bool(evidence.classes[1] == tuned.positive)
    values, ill = (chances, evidence.y == 1) if is_second else (1.0 - chances, evidence.y == 0)
    cuts = np.unique(np.append(GRID, tuned.value))
    band = evidence.banded(by_cuts(values, ill, cuts, formula.scores))
    mark = Mark(tuned.value, float(band[0, np.searchsorted(cuts, tuned.value)]), f"threshold {tuned.value:.3g}")
    return (
        Chart("tuned_threshold", "Score by threshold",
              f"threshold: {class_name(tuned.positive)} at or above this probability",
              metric_label(estimate.metric, estimate.positive), SHARES, padded(band),
              (line_of("winner", cuts, band),),
              "The winner's score at each threshold by plain cross-validation. The circle is the tuned threshold, "
              f"{tuned.value:.3g}. It was picked because it is the best here, so its height is too good: the "
              "honest score is the corrected one. Where the line is flat, other thresholds are as good.",
              marks=(mark,)),
    )  # fmt: skip


# ---- numbers and survival times ------------------------------------------------------------------------------------
def predicted(evidence: Evidence) -> Parts:
    """Draw true values against predicted ones, at most some hundred of them, and their mean in bins of equal size."""
    evidence = evidence.averaged()
    guess, truth = evidence.responses["predict"], evidence.y
    line = in_bins(evidence, guess, truth)
    places = np.unique(np.linspace(0, len(truth) - 1, min(len(truth), MOST_POINTS)).astype(int))
    shown = np.argsort(guess[:, 0], kind="stable")[places]
    x, y = (tuple(float(f"{v:.6g}") for v in each[shown]) for each in (guess[:, 0], truth))
    low, high = float(min(guess.min(), truth.min())), float(max(guess.max(), truth.max()))
    return (
        Chart("predicted", "Predicted and true", "predicted", "true", padded(guess, 0.04), padded(truth, 0.04), (line,),
              "Each point is a sample; on the dashed diagonal the prediction is right. The line is the mean of the "
              f"true values in {len(line.x)} bins of equal size.", (low, low, high, high), x, y),
    )  # fmt: skip


def survival(evidence: Evidence) -> Parts:
    """Kaplan-Meier curves of thirds by out-of-sample risk, and a table of the share without event at round times."""
    event, time = evidence.y["event"].astype(bool), evidence.y["time"].astype(float)
    end = float(np.quantile(time, 0.95))  # a curve of the last few samples tells nothing
    if "predict" not in evidence.responses or not event.any() or end == 0:
        return ()
    round_times, shown_times = zip(*((t, written) for t, written in ticks((0.0, end), 4) if t < end), strict=True)
    grid = np.linspace(0.0, end, 101)
    places = np.append(grid, [t for t in round_times if t > 0])
    evidence = evidence.averaged()
    group, names = risk_groups(evidence.responses["predict"][:, 0])
    curve = by_cuts(time[:, None], event, None, kaplan_meier(time, places))
    lines, at_risk, rows = [], [], []
    for g, name in enumerate(names):
        here = group == g
        band = replace(evidence, weight=evidence.weight * here).banded(curve)
        band = np.where(places <= time[here].max(), band, np.nan)  # no sample tells what comes after
        text = f"{count(int(here.sum()), 'sample')}, {count(int((event & here).sum()), 'event')}"
        lines.append(line_of(name, grid, band[:, :101], text, stepped=True))
        at_risk.append((name, *(str(int((here & (time >= t)).sum())) for t in round_times)))
        rows.append((name, *(share_with_interval(*each) for each in band[:, 101:].T.tolist())))
    chart = Chart(
        "survival", "Survival by risk group", evidence.time, "share without event", (0.0, end), SHARES, tuple(lines),
        "Kaplan-Meier curves of samples grouped by their out-of-sample risk. The further apart the curves, the better "
        "the risk separates samples with early and late events.",
        below=(("at risk", *shown_times), *at_risk),
    )  # fmt: skip
    return chart, Table(
        "survival_at", "Survival by risk group at round times",
        (("Share without event at", *shown_times[1:]), *rows), f"Kaplan-Meier, in percent, with "
        f"{100 * evidence.level:g} % bootstrap intervals; times in the unit of the table.",
    )  # fmt: skip


def kaplan_meier(time: Array, grid: Array) -> Formula:
    """Return the formula of the share without event at each place of the grid [G], by cuts at every time."""
    at = np.searchsorted(np.unique(time), grid, side="right")

    def curve(events: Array, censored: Array, *_: float) -> Array:
        at_risk = events + censored
        if at_risk[0] <= 0:
            return np.full(len(grid), np.nan)
        died = -np.diff(events, append=0.0)
        stays = 1.0 - np.divide(died, at_risk, out=np.zeros_like(died), where=at_risk > 0)
        return np.asarray(np.append(1.0, np.cumprod(np.clip(stays, 0.0, 1.0)))[at])

    return curve


def risk_groups(risk: Array) -> tuple[Array, list[str]]:
    """Cut into thirds by risk; equal risks stay together, so there may be fewer groups."""
    cuts = np.unique(np.quantile(risk, [1 / 3, 2 / 3], method="inverted_cdf"))
    group = np.unique(np.searchsorted(cuts, risk, side="left"), return_inverse=True)[1].reshape(-1)
    names = {1: ["all (equal risk)"], 2: ["low risk", "high risk"], 3: ["low risk", "middle risk", "high risk"]}
    return group, names[int(group.max()) + 1]


# ---- the selection -------------------------------------------------------------------------------------------------
def draws_chart(estimate: Estimate, score: Score) -> tuple[Chart, ...]:
    """Histogram of the draws in some 30 bins, with the honest score and what plain CV claims; none without draws."""
    known = np.empty(0) if estimate.draws is None else estimate.draws[~np.isnan(estimate.draws)]
    if not len(known):
        return ()
    low, high, n_bins = float(known.min()), float(known.max()), int(np.clip(np.sqrt(len(known)), 5, 30))
    if high - low < 1e-12:  # all draws are equal: one bar in the middle
        low, high, n_bins = low - 0.5, high + 0.5, 25
    heights, edges = np.histogram(known, bins=n_bins, range=(low, high))
    first, last = score.interval or (low, high)
    boxes = []
    for left, right, n in zip(edges.tolist(), edges[1:].tolist(), heights.tolist(), strict=False):
        inside = first <= (left + right) / 2 <= last or left <= score.value <= right
        hint = f"{n} draws from {number(left, 4)} to {number(right, 4)}"
        boxes.append(Box(float(f"{left:.6g}"), 0.0, float(f"{right:.6g}"), float(n), 0 if inside else 2, hint))
    top = float(heights.max()) * 1.16
    marked = (f"honest {score.honest}", score.value), (f"plain CV {score.claim}", score.naive)
    lines = tuple(Line(name, (x, x), *3 * ((0.0, top),)) for name, x in marked)
    # What is tuned is not judged by the mean of the draws, see docs/evidence/tuned.md.
    honest = "their mean, the honest number" if estimate.decision is None else "the honest number"
    undefined = f" {estimate.n_undefined} draws were undefined and left out." if estimate.n_undefined else ""
    sentence = (
        f"The choice was repeated on {score.n_draws:,} resamples, and the chosen configuration scored on what each "
        f"resample left out. The solid line marks {honest}; the dotted line, what plain cross-validation "
        f"claims; grey bars lie outside the interval.{undefined}"
    )
    return (
        Chart("draws", "Draws", score.label, "resamples", padded((low, high, score.naive), 0.03), (0.0, top), lines,
              sentence, boxes=tuple(boxes)),
    )  # fmt: skip


def race_of(search: Any) -> tuple[Race, Chart]:
    """Say what dropping came to, and draw one column per round: configurations that stayed, were dropped or failed."""
    log, rule, boxes = search.race_, search.drop_rule_, []
    race = Race(
        len(log.status), int(log.n_fits), int(log.n_fits_saved), rule="" if rule is None else clean(rule),
        reason=str(getattr(rule, "reason", f"{clean(rule)} found inferior")), counted=bool(search.predictions_.dropped),
    )  # fmt: skip
    before, alive = race.n_start, log.alive_by_round.tolist()
    for i, stayed in enumerate(alive):
        dropped = int((log.dropped_at == i).sum())
        told = f"Round {i + 1}: {stayed} still in the race, {dropped} dropped, {before - stayed - dropped} failed"
        floors = (0, stayed, stayed + dropped, before)
        for series, (floor, top) in enumerate(pairwise(map(float, floors))):
            if top > floor:
                boxes.append(Box(i + 0.61, floor, i + 1.39, top, series, told))
        before = stayed
    dropped = int((log.status == "dropped").sum())
    if not race.rule:
        folds = "every fold" if search.is_complete_ else "every fold reached before the run ended"
        ran = race.n_start - len(log.failures)
        text = f"Early dropping was off: all {ran:,} ran on {folds}, {race.n_trained:,} models."
    elif not dropped:
        text = f"After each round, configurations that {race.reason} could be dropped; none were."
    else:
        counted = " Dropped configurations took part in the correction with the predictions they had." * race.counted
        text = (
            f"After each round, configurations that {race.reason} were dropped: {dropped:,} of {race.n_start:,}, and "
            f"{race.n_saved:,} of {race.n_saved + race.n_trained:,} models were never needed.{counted} The table below "
            "says when each was dropped."
        )
    return race, Chart(
        "race", "Race", "round of the cross-validation", "configurations", (0.4, len(alive) + 0.6),
        (0.0, race.n_start * 1.08), boxes=tuple(boxes), sentence=text,
        series=("still in the race", "dropped" * bool(race.n_saved), "failed" * bool(log.failures)),
    )  # fmt: skip


#: Every chart by name: those of a task from the winner's predictions, in the order of the page, those of none from the
#: search.
CHARTS: dict[str, tuple[str, Callable[[Any], tuple[Any, ...]]]] = {
    "draws": ("", lambda search: draws_chart(estimate_of(search), Score.of(estimate_of(search)))),
    "race": ("", lambda search: race_of(search)[1:]),
    "roc": ("classification", roc),
    "precision_recall": ("classification", precision_recall),
    "calibration": ("classification", calibration),
    "decision": ("classification", decision),
    "confusion": ("classification", confusion),
    "predicted": ("regression", predicted),
    "survival": ("survival", survival),
}
