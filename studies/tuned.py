"""Thresholds, ensembles and families: what is claimed of a tuned decision, and its truth.

Simulated scores of two classes whose truth is known, and the real tables of the study of intervals: naive and corrected
score, interval and truth of a threshold, a mix and how much better it is than one configuration, the best of a family
and how much it is behind the best of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import sobercv
from sobercv.inference.bootstrap import BACK
from sobercv.metrics import get

from . import intervals, sets
from .evidence import Evidence, Table, markdown
from .harness import Key, Options, Part, Row, read_about, read_results

SAMPLES, CONFIGURATIONS, REPETITIONS, PIECE = (60, 150, 400), (20, 200), 2000, 10
SHARE = 0.35  # of positives
SHARED = 0.5  # of the noise is common to all configurations, as models of the same rows err alike
NEW = 20_000  # new samples on which a mix is judged
#: What is tuned, by which metric, in how many resamples.
TUNED: dict[str, tuple[Any, str, int]] = {
    "threshold": (sobercv.best_with_threshold(), "balanced_accuracy", 500),
    "threshold, F1": (sobercv.best_with_threshold(), "f1", 500),
    "greedy ensemble": (sobercv.greedy_ensemble(), "roc_auc", 200),
    "family": ("best", "roc_auc", 500),
    "family, difference": ("best", "roc_auc", 500),
}
FAMILY = 4  # one in so many configurations belongs to the family
#: What is claimed of one table in which something was tuned.
CLAIMS = {
    "threshold": ("threshold",),
    "threshold, F1": ("threshold, F1",),
    "greedy ensemble": ("greedy ensemble", "greedy ensemble, gain"),
    "family": ("family", "family, difference"),
}
LINEAR = range(8)  # the family of real tables: penalised linear models stand first among the configurations
FEWEST_JUDGES = 1000
#: Sizes that are told together.
SIZES = {"40": (40, 60), "100": (80, 100), "200 to 500": (200, 500)}


# ---- simulated tables ----
def _scores(rng: np.random.Generator, n: int, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The truth, and binormal scores of configurations that differ in how far they part the classes."""
    y = np.zeros(n, np.int8)
    while not 2 <= y.sum() <= n - 2:
        y = (rng.random(n) < SHARE).astype(np.int8)
    common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, len(distance)))
    return y, (y[:, None] - 0.5) * distance + np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * own


def _chances(scores: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-scores))


def draw_table(
    tuned: str, n: int, c: int, repetition: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.random.Generator]:
    """Truth, probabilities, how far each configuration parts the classes, and the generator for what comes after."""
    rng = np.random.default_rng([0, repetition, n, c, len(tuned)])
    distance = np.clip(rng.normal(0.8, 0.3, c), 0.0, None)
    y, scores = _scores(rng, n, distance)
    return y, _chances(scores), distance, rng


def one_table(tuned: str, n: int, c: int, repetition: int) -> list[list[float]]:
    """For each claim: naive, corrected, lower and upper end, truth of the final decision."""
    y, chances, distance, rng = draw_table(tuned, n, c, repetition)
    select, metric, resamples = TUNED[tuned]
    options: dict[str, Any] = {"n_bootstraps": resamples, "random_state": repetition, "fixed_models": True}
    if tuned == "family":
        gap = sobercv.difference(y, chances, metric, first=range(c // FAMILY), **options)
        return family_claims(gap, lambda winner: float(stats.norm.cdf(distance[winner] / np.sqrt(2))))
    found = sobercv.bbc(y, chances, metric, select=select, **options)
    claim = [found.naive, found.value, *found.interval]
    if found.single is None:
        return [[*claim, truth_of(found.decision, distance, metric, rng)]]
    mix, alone = mixed(found.decision, distance, metric, rng, found.single.winner)
    return [[*claim, mix], [found.naive - found.single.naive, found.gain, *found.gain_interval, mix - alone]]


def family_claims(gap: sobercv.Difference, truth: Callable[[int], float]) -> list[list[float]]:
    """What is claimed of the best of a family, and of its difference to the best of the others."""
    first, second = truth(gap.first.winner), truth(gap.second.winner)
    claims: Any = (gap.first, first), (gap, first - second)
    return [[found.naive, found.value, *found.interval, true] for found, true in claims]


def truth_of(decision: Any, distance: np.ndarray, metric: str, rng: np.random.Generator) -> float:
    """The true score of a decision."""
    if hasattr(decision, "value"):  # a threshold: both shares are known exactly
        chance = min(max(decision.value, 1e-300), 1 - 1e-16)
        cut, far = np.log(chance / (1 - chance)), distance[decision.configuration] / 2
        found, alarm = stats.norm.sf(cut - far), stats.norm.sf(cut + far)
        if metric == "balanced_accuracy":
            return float((found + 1 - alarm) / 2)
        return float(2 * SHARE * found / (SHARE + SHARE * found + (1 - SHARE) * alarm))
    return mixed(decision, distance, metric, rng, decision.configurations[0])[0]


def mixed(
    decision: Any, distance: np.ndarray, metric: str, rng: np.random.Generator, single: int
) -> tuple[float, float]:
    """The score of a mix and of one configuration on the same new samples."""
    members = list(decision.configurations)
    y, scores = _scores(rng, NEW, distance[[*members, single]])
    if single in members:
        scores[:, -1] = scores[:, members.index(single)]
    chances = _chances(scores)
    both = np.stack([chances[:, :-1] @ np.array(decision.weights), chances[:, -1]], axis=1)
    judged = sobercv.Predictions.build(y, {"predict_proba": both}, task="classification")
    mix, alone = get(metric).scores(judged, np.ones((1, NEW), np.uint8))[0]
    return float(mix), float(alone)


def design() -> list[Key]:
    """Round by round, so that a run that is ended early has as many repetitions of every setting."""
    return [
        (tuned, n, c, first)
        for first in range(0, REPETITIONS, PIECE)
        for tuned in CLAIMS
        for n in SAMPLES
        for c in CONFIGURATIONS
    ]


def simulated(options: Options, tuned: str, n: int, c: int, first: int) -> list[list[list[float]]]:
    """Some repetitions of one setting."""
    return [one_table(tuned, n, c, r) for r in range(first, first + PIECE)]


def results(found: dict[Key, Any]) -> list[Row]:
    """One row per claim, size and number of configurations."""
    rows = []
    for tuned, claims in CLAIMS.items():
        for k, claim in enumerate(claims):
            for n in SAMPLES:
                for c in CONFIGURATIONS:
                    tables = [one[k] for key, some in found.items() if key[:3] == (tuned, n, c) for one in some]
                    if tables:
                        rows.append({"tuned": claim, "n": n, "c": c, **_summary(np.array(tables))})
    return rows


def _summary(found: np.ndarray) -> Row:
    naive, value, low, high, truth = found.T
    return {
        "repetitions": len(found), "truth": truth.mean(), "naive_bias": (naive - truth).mean(),
        "bias": (value - truth).mean(), "bias_error": (value - truth).std(ddof=1) / np.sqrt(len(found)),
        "covers": ((low <= truth) & (truth <= high)).mean(), "width": (high - low).mean(),
    }  # fmt: skip


# ---- real tables ----
def places() -> list[Key]:
    """The tables of the study of intervals with two classes and one repeat."""
    return [place for place in intervals.places(intervals.BINARY) if place[3] == 1]


def arrays(options: Options, *place: Any) -> tuple[np.ndarray, ...] | None:
    """Target and predictions [N, C] of a table, and of the rows that judge; None where few judge."""
    table = sets.sub_sample(options, *place)
    if len(table["y_judges"]) < FEWEST_JUDGES:
        return None
    p, p_new = table["predictions"][:, :, 0].astype(np.float64), table["judged"].astype(np.float64)
    return table["y"], p, table["y_judges"], p_new


def real(options: Options, *place: Any) -> list[list[float]]:
    """For each kind of tuning naive, corrected, lower and upper end, truth; nothing where few rows tell the truth."""
    table = arrays(options, *place)
    return [] if table is None else real_claims(*table)


def real_claims(y: np.ndarray, p: np.ndarray, y_new: np.ndarray, p_new: np.ndarray) -> list[list[float]]:
    """Each kind of tuning on one table, in the order of `TUNED`."""
    found = []
    for select, metric, resamples in list(TUNED.values())[:3]:
        estimate = sobercv.bbc(y, p, metric, select=select, n_bootstraps=resamples)
        truth = true_score(estimate.decision, metric, y_new, p_new)
        found.append([estimate.naive, estimate.value, *estimate.interval, truth])
    _, metric, resamples = TUNED["family"]
    gap = sobercv.difference(y, p, metric, first=LINEAR, n_bootstraps=resamples)
    return found + family_claims(gap, lambda winner: _score(metric, y_new, p_new[:, winner]))


def true_score(decision: Any, metric: str, y_new: np.ndarray, p_new: np.ndarray) -> float:
    """The score of a threshold or a mix on rows that no model was trained on."""
    if hasattr(decision, "value"):
        return _score(metric, y_new, (p_new[:, decision.configuration] >= decision.value).astype(int))
    return _score(metric, y_new, p_new[:, list(decision.configurations)] @ np.array(decision.weights))


def _score(metric: str, y: np.ndarray, new: np.ndarray) -> float:
    table = sobercv.Predictions.build(y, new[:, None], task="classification")
    return float(get(metric).scores(table, np.ones((1, len(y)), np.uint8))[0, 0])


def standard_error(off: np.ndarray, names: np.ndarray) -> float:
    """Of a mean over tables, whose data sets are independent, and not the tables of one set."""
    of_set = np.array([(off[names == name] - off.mean()).sum() for name in np.unique(names)])
    return float(np.sqrt((of_set**2).sum() * len(of_set) / max(len(of_set) - 1, 1)) / len(off))


def real_results(found: dict[Key, Any]) -> dict[str, list[Row]]:
    """By kind of tuning and size; and how far the estimate should move back towards plain CV."""
    tables = [
        {"set": key[0], "tuned": tuned, "size": size, **dict(zip(("naive", "value", "low", "high", "truth"), claim,
                                                                  strict=True))}
        for key, claims in found.items()
        for tuned, claim in zip(TUNED, claims, strict=False)
        for size, (least, most) in SIZES.items()
        if least <= key[1] <= most
    ]  # fmt: skip
    rows = pd.DataFrame(tables)
    summary = []
    for (tuned, size), some in by_kind(rows, TUNED):
        off, naive = (some.value - some.truth).to_numpy(), (some.naive - some.truth).to_numpy()
        summary.append({
            "tuned": tuned, "n": size, "tables": len(some), "sets": some.set.nunique(), "truth": some.truth.mean(),
            "naive_bias": naive.mean(), "bias": off.mean(), "bias_error": standard_error(off, some.set.to_numpy()),
            "naive_error": np.abs(naive).mean(), "error": np.abs(off).mean(),
            "covers": ((some.low <= some.truth) & (some.truth <= some.high)).mean(),
        })  # fmt: skip
    return {"real": summary, "back": by_share(rows), "back-sets": by_set(rows)}


def by_kind(rows: pd.DataFrame, kinds: Any) -> list[tuple[tuple[str, str], pd.DataFrame]]:
    """The tables of each kind of tuning and size."""
    found = [((k, size), rows[(rows.tuned == k) & (rows["size"] == size)]) for k in kinds for size in SIZES]
    return [(key, some) for key, some in found if len(some)]


#: How far an estimate of what was tuned may go back towards the naive score.
BACK_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
BACK_KINDS = ("threshold", "threshold, F1", "greedy ensemble")


def errors(rows: pd.DataFrame) -> np.ndarray:
    """Estimate less truth at each share [tables, shares]: a claim at one share tells that at every other."""
    naive, value, truth = (rows[name].to_numpy()[:, None] for name in ("naive", "value", "truth"))
    plain = (value - BACK * naive) / (1.0 - BACK)
    return plain + np.array(BACK_SHARES) * (naive - plain) - truth


def by_share(rows: pd.DataFrame) -> list[Row]:
    """Bias and root mean square of the error, for each kind of tuning, size and share."""
    return [
        {"tuned": kind, "n": size, "share": share, "tables": len(e), "bias": e.mean(),
         "bias_error": standard_error(e, some.set.to_numpy()), "rmse": np.sqrt((e**2).mean())}
        for (kind, size), some in by_kind(rows, BACK_KINDS)
        for share, e in zip(BACK_SHARES, errors(some).T, strict=True)
    ]  # fmt: skip


def by_set(rows: pd.DataFrame) -> list[Row]:
    """For each data set the share of the smallest error on the others, and what it does to this one."""
    found = []
    for name in sorted(rows.set.unique()):
        others = [errors(some) for _, some in by_kind(rows[rows.set != name], BACK_KINDS)]
        chosen = int(np.mean([np.sqrt((off**2).mean(axis=0)) for off in others], axis=0).argmin())
        own = rows[(rows.set == name) & rows.tuned.isin(BACK_KINDS)]
        row: Row = {"data": name, "tables": len(own) // len(BACK_KINDS), "chosen": BACK_SHARES[chosen]}
        for when, k in (("at 0", 0), ("chosen", chosen)):
            e = errors(own)[:, k]
            row |= {f"bias {when}": e.mean(), f"rmse {when}": np.sqrt((e**2).mean())}
        found.append(row)
    return found


PARTS = {
    "main": Part(design, simulated, results, "%.6f", {"seed": 0, "fixed_models": True, "new": NEW}),
    "real": Part(places, real, real_results, "%.6f", {"seed": 0}),
}

# ---- the page ----
SHOWN = ("threshold", "greedy ensemble", "family")


def real_lines(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """One line per kind of tuning and size."""
    return [
        (
            row["tuned"], str(row["n"]), f"{row['tables']}", f"{row['naive_bias']:+.3f}",
            f"{row['bias']:+.3f} ± {row['bias_error']:.3f}", f"{row['naive_error']:.3f}", f"{row['error']:.3f}",
            f"{row['covers']:.2f}",
        )
        for row in rows.to_dict("records")
    ]  # fmt: skip


def as_they_are(name: str, holds: str, rows: pd.DataFrame, heads: tuple[str, ...], names: list[str]) -> Table:
    """Results with all their digits."""
    cells = rows[names].itertuples(index=False)
    lines = [[str(float(v)) if isinstance(v, int) else str(v) for v in row] for row in cells]
    return Table(name, holds, heads, lines)


def draw(plt: Any) -> Any:
    """Bias of plain CV and of the corrected score, one line per row of the simulation."""
    rows = read_results("tuned")
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


def evidence() -> Evidence:
    """The page."""
    rows, real, back, by_sets = (read_results(f"tuned{part}") for part in ("", "-real", "-back", "-back-sets"))
    about = read_about("tuned")
    naive, worst = (rows.loc[rows[key].abs().idxmax()] for key in ("naive_bias", "bias"))
    bias, error = ([np.average(by_sets[f"{what} {when}"], weights=by_sets.tables) for when in ("at 0", "chosen")]
                   for what in ("bias", "rmse"))  # fmt: skip
    heads = ("tuned", "samples", "tables", "plain CV", "sober", "error of plain CV", "of sober", "95 % covers")
    text = f"""Real data: sub-samples of {real.sets.max()} sets with two classes, 27
configurations; bias with its standard error, and the mean distance from the truth:

{markdown(heads, real_lines(real[real.tuned.isin(SHOWN)]))}

Simulated ({rows.repetitions[0]} tables per row, {len(rows)} rows): the largest bias is
{worst.bias:+.3f} ({worst.tuned}, {worst.n} samples), where plain CV is off by
{worst.naive_bias:+.3f}; 95 % intervals cover {rows.covers.min():.3f} to {rows.covers.max():.3f}.

## How it differs from BBC for one configuration
- **A sample that was drawn twice counts once** while a threshold or ensemble is tuned on a resample. With
  repetitions, what is tuned on 0.63 N distinct samples would be as good as if it were tuned on N / 2.
- **Labels of all resamples are scored together** where a threshold makes labels: the mean of many F1 scores, each of
  a handful of positives, is too low.
- **The estimate moves a tenth of the way back** towards plain CV, because the reported decision was tuned on all N
  samples and the judged ones on 0.63 N. Draws and intervals are not moved. The tenth is the share with the smallest
  error on real data; with the share chosen on the other data sets, the mean bias is {bias[1]:+.4f} instead of
  {bias[0]:+.4f} without it, and the root mean squared error {error[1]:.4f} instead of {error[0]:.4f}.

Families of models and the best single configuration are judged as in the paper.

## What was done
Simulated: classes of 35 and 65 %, configurations that share half of their noise, fixed models
(`fixed_models=True`); the truth of mixes is measured on {about["new"]:,} new samples. Real: ten folds; the truth is
that of the refitted models with the threshold or weights that were found, on 1,000 to 3,000 other rows. A family is a
quarter of the configurations (real data: penalised linear models)."""
    made = [
        (row["tuned"], f"{row['n']}", f"{row['c']}", f"{row['truth']:.3f}", f"{row['naive_bias']:+.3f}",
         f"{row['bias']:+.3f}", f"{row['bias_error']:.3f}", f"{row['covers']:.3f}")
        for row in rows.to_dict("records")
    ]  # fmt: skip
    last = ("bias", "error of the bias", "RMSE")
    return Evidence(
        name="tuned",
        title="Thresholds, ensembles and families",
        answer=(
            f"Whatever is tuned on the out-of-fold predictions makes the score too good. Plain CV claims up to "
            f"{naive.naive_bias:.3f} too much ({naive.tuned}, {naive.n} samples); sober tunes again in "
            f"every resample and is off by at most {abs(worst.bias):.3f} in {len(rows)} simulated settings."
        ),
        figure="Bias of plain CV and of sober for tuned thresholds, ensembles and families",
        draw=draw,
        text=text,
        tables=(
            Table("tuned", "simulated tables",
                  ("tuned", "samples", "configurations", "truth", "plain CV", "sober", "error of the bias", "covers"),
                  made),
            Table("tuned-real", "real data, all kinds of tuning", heads, real_lines(real)),
            as_they_are("tuned-share", "bias and error by how far the estimate moves back", back,
                        ("tuned", "samples", "share", "tables", *last),
                        ["tuned", "n", "share", "tables", "bias", "bias_error", "rmse"]),
        ),
        command="python -m studies tuned --data FOLDER",
        about=about,
    )  # fmt: skip


PAGES = (evidence,)
