"""Thresholds, ensembles and families: what is claimed of a tuned decision, and its truth.

Simulated scores of two classes whose truth is known, and the real tables of the study of intervals: naive and corrected
score, interval and truth of a threshold, a mix and how much better it is than one configuration, the best of a family
and how much it is behind the best of all.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import sobercv
from sobercv.inference import procedures
from sobercv.inference.bootstrap import BACK

from . import intervals, sets
from .harness import Array, Options, Page, Part, Rng, Row, Rows, claim, covers, grouped, read_results

SAMPLES, CONFIGURATIONS, REPETITIONS = (60, 150, 400), (20, 200), 2000
SHARE = 0.35  # of positives
SHARED = 0.5  # of the noise is common to all configurations, as models of the same rows err alike
NEW = 20_000  # new samples on which a mix is judged
#: What is tuned, by which metric, in how many resamples.
TUNED: dict[str, tuple[Any, str, int]] = {
    "threshold": (sobercv.best_with_threshold(), "balanced_accuracy", 500),
    "threshold, F1": (sobercv.best_with_threshold(), "f1", 500),
    "greedy ensemble": (sobercv.greedy_ensemble(), "roc_auc", 200),
    "family": ("best", "roc_auc", 500),
}
#: What is claimed of them, in the order of the tables.
CLAIMS = (*list(TUNED)[:3], "greedy ensemble, gain", "family", "family, difference")
FAMILY = 4  # one in so many configurations belongs to the family
LINEAR = range(8)  # the family of real tables: penalised linear models stand first among the configurations
FEWEST_JUDGES = 1000
#: Sizes that share a row: up to so many samples.
SIZES = {60: "40", 100: "100", 500: "200 to 500"}


def claims(kind: str, y: Array, chances: Array, family: Any, truth: Callable[..., Any], **options: Any) -> list[Row]:
    """Tune on one table: naive, corrected, lower and upper end, and truth of what is claimed.

    ``truth(metric, *decided)`` are the scores of columns, thresholds or mixes on the same new samples.
    """
    select, metric, resamples = TUNED[kind]
    if kind == "family":
        gap = sobercv.difference(y, chances, metric, first=family, n_bootstraps=resamples, **options)
        first, second = truth(metric, int(gap.first.winner), int(gap.second.winner))
        difference = {"tuned": "family, difference", **claim(gap, first - second)}
        return [{"tuned": kind, **claim(gap.first, first)}, difference]
    found = sobercv.bbc(y, chances, metric, select=select, n_bootstraps=resamples, **options)
    if found.single is None:
        return [{"tuned": kind, **claim(found, *truth(metric, found.decision))}]
    mix, alone = truth(metric, found.decision, int(found.single.winner))
    gain = {"naive": found.naive - found.single.naive, "value": found.gain, "truth": mix - alone}
    gain["low"], gain["high"] = found.gain_interval
    return [{"tuned": kind, **claim(found, mix)}, {"tuned": f"{kind}, gain", **gain}]


# ---- simulated tables ----
def draw_scores(rng: Rng, n: int, distance: Array) -> tuple[Array, Array]:
    """The truth, and binormal scores of configurations that differ in how far they part the classes."""
    y = np.zeros(n, np.int8)
    while not 2 <= y.sum() <= n - 2:
        y = (rng.random(n) < SHARE).astype(np.int8)
    common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, len(distance)))
    return y, (y[:, None] - 0.5) * distance + np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * own


def chances_of(scores: Array) -> Array:
    """Probabilities."""
    return 1.0 / (1.0 + np.exp(-scores))


def simulated(options: Options, kind: str, n: int, c: int, sample: int) -> list[Row]:
    """Tune on simulated scores."""
    rng = np.random.default_rng([0, sample, n, c, len(kind)])
    distance = np.clip(rng.normal(0.8, 0.3, c), 0.0, None)
    y, scores = draw_scores(rng, n, distance)

    def truth(metric: str, *decided: Any) -> Any:
        if kind == "family":
            return [float(stats.norm.cdf(distance[c] / np.sqrt(2))) for c in decided]
        if kind == "greedy ensemble":
            return of_mix(*decided, distance, metric, rng)
        return [of_threshold(one.value, distance[one.configuration], metric) for one in decided]

    return claims(kind, y, chances_of(scores), range(c // FAMILY), truth, random_state=sample, interval="fixed_models")


def of_threshold(value: float, distance: float, metric: str) -> float:
    """The score of a threshold, of which both shares are known exactly."""
    chance = min(max(value, 1e-300), 1 - 1e-16)
    cut, far = np.log(chance / (1 - chance)), distance / 2
    found, alarm = stats.norm.sf(cut - far), stats.norm.sf(cut + far)
    if metric == "balanced_accuracy":
        return float((found + 1 - alarm) / 2)
    return float(2 * SHARE * found / (SHARE + SHARE * found + (1 - SHARE) * alarm))


def of_mix(mix: Any, single: int, distance: Array, metric: str, rng: Rng) -> tuple[float, float]:
    """The score of a mix and of one configuration on the same new samples."""
    members = list(mix.configurations)
    y, scores = draw_scores(rng, NEW, distance[[*members, single]])
    if single in members:
        scores[:, -1] = scores[:, members.index(single)]
    chances = chances_of(scores)
    return scored(metric, y, chances[:, :-1] @ np.array(mix.weights)), scored(metric, y, chances[:, -1])


def scored(metric: str, y: Array, new: Array) -> float:
    """The score of predictions, or of labels."""
    return float(sets.scores_on(sobercv.Predictions.build(y, new[:, None], task="classification"), metric)[0])


# ---- real tables ----
def real(options: Options, *place: Any) -> list[Row]:
    """Tune in every way on one table; nothing where few rows are left to measure the true score."""
    sample = sets.sub_sample(options, *place)
    if len(sample.y_judges) < FEWEST_JUDGES:
        return []
    p, p_new = sample.predictions[:, :, 0].astype(np.float64), sample.judged.astype(np.float64)
    return real_claims(sample.y, p, sample.y_judges, p_new)


def real_claims(y: Array, p: Array, y_new: Array, p_new: Array) -> list[Row]:
    """Tune on one table, judge on rows that no model was trained on."""

    def predicted(one: Any) -> Array:
        if isinstance(one, int):
            return p_new[:, one]
        if isinstance(one, procedures.Mix):
            return p_new[:, list(one.configurations)] @ np.array(one.weights)
        return (p_new[:, one.configuration] >= one.value).astype(int)

    def truth(metric: str, *decided: Any) -> list[float]:
        return [scored(metric, y_new, predicted(one)) for one in decided]

    return [row for kind in TUNED for row in claims(kind, y, p, LINEAR, truth)]


# ---- summaries ----
def told(rows: Rows) -> Row:
    """Bias with its standard error, distance from the truth, coverage and width; data sets are independent."""
    naive, off = (rows.naive - rows.truth).to_numpy(), (rows.value - rows.truth).to_numpy()
    return {
        "tables": len(rows), "sets": rows.set.nunique(), "truth": rows.truth.mean(), "naive_bias": naive.mean(),
        "bias": off.mean(), "bias_error": standard_error(off, rows.set.to_numpy()),
        "naive_error": np.abs(naive).mean(), "error": np.abs(off).mean(),
        "covers": covers(rows), "width": (rows.high - rows.low).mean(),
    }  # fmt: skip


def standard_error(off: Array, names: Array) -> float:
    """Of a mean over tables: data sets are independent, the tables of one set are not."""
    of_set = np.array([(off[names == name] - off.mean()).sum() for name in np.unique(names)])
    return float(np.sqrt((of_set**2).sum() * len(of_set) / max(len(of_set) - 1, 1)) / len(off))


def by_claim(rows: Rows, summarise: Callable[[Rows], Any], *names: str) -> Rows:
    """Claims in their order, then by other columns."""
    rows = rows.assign(tuned=pd.Categorical(rows.tuned, CLAIMS))
    return grouped(rows, " ".join(["tuned", *names]), summarise)


def real_results(rows: Rows) -> dict[str, Rows]:
    """By kind of tuning and size; and how far the estimate should move back towards plain CV."""
    rows = rows[rows.tuned != "greedy ensemble, gain"]
    rows = rows.assign(n=pd.cut(rows.n, [0, *SIZES], labels=list(SIZES.values())))
    back = rows[rows.tuned.isin(BACK_KINDS)]
    return {"real": by_claim(rows, told, "n"), "back": by_claim(back, by_share, "n"), "back-sets": by_set(back)}


#: How far an estimate of what was tuned may go back towards the naive score.
BACK_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
BACK_KINDS = CLAIMS[:3]


def errors(rows: Rows) -> Array:
    """Estimate less truth at each share [tables, shares]: a claim at one share determines those at all others."""
    naive, value, truth = (rows[name].to_numpy()[:, None] for name in ("naive", "value", "truth"))
    plain = (value - BACK * naive) / (1.0 - BACK)
    return plain + np.array(BACK_SHARES) * (naive - plain) - truth


def by_share(rows: Rows) -> list[Row]:
    """Bias and root mean square of the error at each share."""
    off = errors(rows)
    ses, rmses = [standard_error(e, rows.set.to_numpy()) for e in off.T], np.sqrt((off**2).mean(axis=0))
    found = {"share": BACK_SHARES, "tables": len(off), "bias": off.mean(axis=0), "bias_error": ses, "rmse": rmses}
    return pd.DataFrame(found).to_dict("records")


def by_set(rows: Rows) -> Rows:
    """For each data set the share of the smallest error on the others, and what it does to this one."""

    def one(own: Rows) -> Row:
        others = by_claim(rows[rows.set != own.set.iloc[0]], by_share, "n")
        chosen = int(others.groupby("share").rmse.mean().argmin())
        row: Row = {"tables": len(own) // len(BACK_KINDS), "chosen": BACK_SHARES[chosen]}
        for when, e in (("at 0", errors(own)[:, 0]), ("chosen", errors(own)[:, chosen])):
            row |= {f"bias {when}": e.mean(), f"rmse {when}": np.sqrt((e**2).mean())}
        return row

    return grouped(rows.assign(data=rows.set), "data", one) if rows.set.nunique() > 1 else rows.head(0)


PARTS = {
    "main": Part(
        "kind n c sample", lambda: list(product(TUNED, SAMPLES, CONFIGURATIONS)), simulated,
        lambda rows: by_claim(rows.assign(set=np.arange(len(rows))), told, "n", "c"), "%.6f",
        {"seed": 0, "fixed_models": True, "new": NEW}, samples=REPETITIONS, at_once=10,
    ),
    "real": Part(  # the tables of the study of intervals with two classes and one repeat
        "set n sample repeats", lambda: [place for place in intervals.places("binary") if place[3] == 1], real,
        real_results, "%.6f", {"seed": 0},
    ),
}  # fmt: skip


# ---- the page ----
def draw(plt: Any, numbers: Any) -> Any:
    """Bias of plain CV and of the corrected score, one line per row of the simulation."""
    rows = numbers["rows"]
    small = rows[rows.n == rows.n.min()]
    fig, ax = plt.subplots(figsize=(9, 4.6))
    for key, colour, name in (("naive_bias", "#c44e52", "plain CV"), ("bias", "#4c72b0", "sober")):
        ax.plot(list(small[key]), range(len(small)), "o", color=colour, label=name)
    ax.axvline(0, color="0.4", lw=0.8)
    ax.set_yticks(range(len(small)), [f"{row.tuned}, {row.c} configurations" for row in small.itertuples()])
    ax.invert_yaxis()
    ax.set_xlabel(f"estimate - truth, {small.n.iloc[0]} samples")
    ax.legend(frameon=False)
    return fig


def page() -> Page:
    rows, real, back, sets_ = (read_results(f"tuned{part}") for part in ("", "-real", "-back", "-back-sets"))
    naive, worst = (rows.loc[rows[key].abs().idxmax()] for key in ("naive_bias", "bias"))
    numbers = {
        "rows": rows, "real": real, "shown": real[real.tuned.isin(["threshold", "greedy ensemble", "family"])],
        "back": back, "naive": naive, "worst": worst, "off": abs(worst.bias), "settings": len(rows),
        "moved": {name: np.average(sets_[name], weights=sets_.tables) for name in list(sets_)[3:]},
    }  # fmt: skip
    return Page("tuned", "tuned", draw, numbers)


PAGES = (page,)
