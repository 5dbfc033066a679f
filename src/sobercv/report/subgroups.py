"""Scores by subgroup: each held-out centre, each sex, each site; how much they differ, and what a new centre may see.

Between subgroups the scores are taken as draws of a random-effects model. Its between-subgroup variance is known badly
from few subgroups, so that the interval for a new one averages over its confidence distribution, which the Q statistic
gives exactly (Viechtbauer 2007; Nagashima, Noma and Furukawa 2019). docs/tutorials/survival.md says what it covers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from ..containers import Array
from ..inference import Estimate
from ..inference.units import Units
from ..metrics import Metric, Scorer
from ..predictions import Predictions
from .evidence import padded, positive_of
from .records import Chart, Section, Table, Whisker
from .summary import FEW_GROUPS
from .words import NOTHING, between, clean, digits_for, metric_label, number, within

N_RESAMPLES = 400
#: More subgroups than these are a column of its own kind, such as an id.
MOST = 40


class Subgroup(NamedTuple):
    """The winner's score on the rows of one subgroup that were predicted by models trained without them.

    There is no interval where all resamples score alike: of a few rows, all may be right by chance.
    """

    label: str
    n: int
    events: int | None
    score: float = np.nan
    interval: tuple[float, float] | None = None
    variance: float = np.nan


class Heterogeneity(NamedTuple):
    """How much subgroups differ: mean, DerSimonian and Laird's standard deviation, interval for a new one."""

    mean: float
    between: float
    low: float
    high: float


def heterogeneity(scores: Array, variances: Array, level: float = 0.95) -> Heterogeneity:
    """Describe the spread of scores [k] with sampling variances [k] between at least 3 subgroups."""
    k, weight = len(scores), 1.0 / variances
    mean = weight @ scores / weight.sum()
    q = weight @ (scores - mean) ** 2
    tau2 = max(0.0, (q - (k - 1)) / (weight.sum() - weight @ weight / weight.sum()))
    # P(tau2 <= t) = P(chi2 >= Q(t)): weights of a grid of between-variances, and the normal around each of them.
    grid = np.append(0.0, np.geomspace(1e-4, 400.0, 300)) * (scores.var(ddof=1) + variances.max())
    each = 1.0 / (variances + grid[:, None])  # [G, k]
    centre = each @ scores / each.sum(axis=1)
    chance = stats.chi2.sf((each * (scores - centre[:, None]) ** 2).sum(axis=1), k - 1)
    chance[-1] = 1.0
    share = np.diff(chance, prepend=0.0)
    spread = np.sqrt(grid + 1.0 / each.sum(axis=1))
    reach = 12.0 * np.sqrt(scores.var(ddof=1) + variances.max())
    places = np.linspace(scores.min() - reach, scores.max() + reach, 8001)
    below = share @ stats.norm.cdf((places - centre[:, None]) / spread[:, None])
    tail = (1.0 - level) / 2.0
    low, high = np.interp((tail, 1.0 - tail), below, places)
    return Heterogeneity(float(centre @ share), float(np.sqrt(tau2)), float(low), float(high))


def scores_by(table: Predictions, labels: Array, scorer: Scorer, level: float, seed: int) -> list[Subgroup]:
    """Score the winner's predictions within each subgroup, with a bootstrap of the rows, or groups, inside it."""
    found, is_event = list[Subgroup](), table.y["event"] if table.task == "survival" else None
    if table.n_classes == 2:
        is_event = table.y == table.target.labels.index(positive_of(table))
    for label in sorted(set(labels.tolist())):
        rows = np.flatnonzero((labels == label) & table.seen.any(axis=1))
        if not len(rows):
            continue
        inside = None if table.groups is None else table.groups[rows]
        n_groups = 0 if inside is None else len(np.unique(inside))
        # A centre is resampled by its rows. A bootstrap of a few groups can be far too narrow, so that rows are
        # resampled as well there, and what varies more counts.
        units = [None] * (n_groups < FEW_GROUPS) + [inside] * (n_groups > 1)
        resampled = [Units(len(rows), seed, "subgroups", groups=each).counts(0, N_RESAMPLES) for each in units]
        counts = np.zeros((1 + len(units) * N_RESAMPLES, table.n_samples), np.uint8)
        counts[:, rows] = np.concatenate([np.ones((1, len(rows)), np.uint8), *resampled])
        score, *values = scorer.scores(counts)[:, 0]
        defined = (d[~np.isnan(d)] for d in np.split(np.array(values), len(units)))
        draws = max((d for d in defined if len(d) > N_RESAMPLES // 2), key=np.var, default=np.empty(0))
        one = Subgroup(clean(label, 60), len(rows), None if is_event is None else int(is_event[rows].sum()))
        if not np.isnan(score) and len(draws):
            low, high = np.quantile(draws, ((1.0 - level) / 2.0, (1.0 + level) / 2.0)).tolist()
            interval = (low, high) if np.ptp(draws) else None
            one = one._replace(score=float(score), interval=interval, variance=float(draws.var(ddof=1)))
        found.append(one)
    return found


def subgroup_section(search: Any, column: str, labels: Array, held_out: bool) -> Section | None:
    """Return a forest plot and a table of scores by subgroup; those held out were predicted without all of them."""
    table, question, level = search.winner_predictions_, search.question_, search.confidence_level
    if not 2 <= len(set(labels.tolist())) <= MOST or not table.responses:
        return None
    estimates = list(search.estimate_.values())[:3] if search.multimetric_ else [search.estimate_]
    scorers = [question.bind(table, metric, pooled=True) for metric in question.metrics[: len(estimates)]]
    by_metric = [scores_by(table, labels, scorer, level, search.seed_) for scorer in scorers]
    scored = [s for s in by_metric[0] if not np.isnan(s.score)]
    if len(scored) < 2:
        return None
    digits = digits_for([v for s in scored for v in (s.score, *(s.interval or ()))])
    column, first, *others = clean(column, 40), *(metric_label(e.metric, e.positive) for e in estimates)
    name = f"by-{'-'.join(column.lower().split())}"
    title = f"Each {column} held out" if held_out else f"Scores by {column}"
    counted = ("Rows", "Events")[: 1 if scored[0].events is None else 2]
    rows: list[tuple[str, ...]] = [(column, *counted, first, "Interval", *others)]
    for one, *rest in zip(*by_metric, strict=True):
        sizes = (f"{n:,}" for n in (one.n, one.events) if n is not None)
        interval = NOTHING if one.interval is None else between(one.interval, digits)
        scores = (number(other.score, digits) for other in rest)
        rows.append((one.label, *sizes, number(one.score, digits), interval, *scores))
    whiskers = [
        Whisker(float(i), *(s.interval or (s.score, s.score)), s.score, f"{s.label}: {number(s.score, digits)}")
        for i, s in enumerate(scored)
    ]
    names, below = [f"{s.label} ({s.n:,})" for s in scored], ""
    ends = (number(end(s.score for s in scored), digits) for end in (min, max))
    told = f"{first} ranges from {' to '.join(ends)} over {len(scored)} values of {column}"
    told += ", each predicted by models that were trained without it." if held_out else "."
    if held_out and len(scored) == 2:
        told += " Two values do not show how much others would differ."
    elif held_out:  # only models that never saw a value can tell what they would score in a new one
        new = _spread(scored, estimates[0], question.first)
        hint = f"a new one: {between((new.low, new.high), digits)}"
        whiskers.append(Whisker(float(len(scored)), new.low, new.high, new.mean, hint, hollow=True))
        names.append("a new one")
        below = " The diamond is their mean with the prediction interval for a new one."
        differ = f"they differ by a standard deviation of {number(new.between, digits)}"
        told += (
            f" Beyond chance, {differ if new.between > 0 else 'no difference was detected'}. In a new one, "
            f"{within(first)} is expected between {number(new.low, digits)} and {number(new.high, digits)} "
            f"({100 * level:g} % random-effects prediction interval, corrected for the selection)."
        )
        if len(scored) < FEW_GROUPS:
            told += (
                f" {len(scored)} values of {column} can show whether the model fails in one of them; they cannot show "
                "how much it varies between many. Only more values make the interval for a new one more certain; more "
                "rows of each do not."
            )
    if any(s.interval is None for s in scored):
        below += " No interval: all resamples score alike."
    forest = Chart(
        name, f"{first} by {column}", first, "", padded([(w.low, w.high) for w in whiskers]),
        (len(whiskers) - 0.5, -0.5), whiskers=tuple(whiskers), y_names=tuple(names),
        sentence=f"The winner's score on the rows of each, with a bootstrap interval; rows in brackets.{below}",
    )  # fmt: skip
    return Section(name, title, (forest,), (Table(name, title, tuple(rows), told),))


def _spread(scored: list[Subgroup], estimate: Estimate, metric: Metric) -> Heterogeneity:
    """Heterogeneity, moved by what selecting the winner cost and kept within the range of the metric."""
    sizes, scores, variances = np.array([(s.n, s.score, s.variance) for s in scored], float).T
    # A subgroup on which all is right shows no variance; it has at least a quarter of what others of its size have.
    variances = np.maximum(np.maximum(variances, np.mean(sizes * variances) / sizes / 4.0), 1e-8)
    found = heterogeneity(scores, variances, estimate.confidence_level)
    moved = np.array([found.mean, found.low, found.high]) - max(0.0, estimate.optimism)
    mean, low, high = np.clip(moved, *metric.range).tolist()
    # A new subgroup is never more certain than the honest score, whose interval allows for models that are trained on
    # other rows, too.
    ends = estimate.interval or (low, high)
    return Heterogeneity(mean, found.between, min(low, ends[0]), max(high, ends[1]))
