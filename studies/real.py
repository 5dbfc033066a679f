"""Section 6.2 of the paper: real data, every protocol on the same folds, the winner judged on a hold-out set."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import fetch_openml
from sklearn.metrics import get_scorer
from sklearn.model_selection import train_test_split

import sobercv
from sobercv import presets
from sobercv.inference import DropVerdict, Question

from . import sets
from .harness import Absent, Array, Mean, Options, Page, Part, Row, Rows, all_of, grouped, panels, read_results
from .races import papers_rule, replay

#: The data sets of the paper and their numbers on OpenML; the last two were not at hand.
PAPER = {
    "jasmine": 41143, "madeline": 41144, "sylvine": 41146, "gisette": 41026, "madelon": 1485, "dexter": 4136,
    "gina": 1038, "christine": 41142, "philippine": 41145,
}  # fmt: skip
AT_HAND = tuple(PAPER)[:7]
SIZES = (20, 40, 60, 80, 100, 500)
LEVELS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
NEVER = 2.0  # stands for "not even the widest interval holds the truth"
FOLDS, REPEATS, BOOTSTRAPS, GUARD, METRIC, POOL = 10, 10, 1000, 50, "roc_auc", 0.3
#: Sub-samples of each size, and of those that take long (N = 500, wide tables); trees of a forest.
SAMPLES, COSTLY, TREES = 3, 1, 25
FULL_SAMPLES, FULL_TREES = 20, 1000
#: The subset of the 610 configurations: which selections, and which positions in the list of values of each parameter.
SELECTIONS = (None, (0.05, 2))
SUBSET: dict[str, dict[str, tuple[int, ...]]] = {
    "linear": {"model__C": (0, 2, 4)},  # cost .01, 1, 100
    "poly": {"model__C": (2,), "model__gamma": (0, 2)},  # degree 2 and 3, cost 1, gamma .01 and 1
    "rbf": {"model__C": (2, 4), "model__gamma": (0, 1, 3)},  # cost 1 and 100, gamma .01, .1, 10
    "elastic net": {"model__alpha": (2, 5)},  # mixtures .001 and 1; the third and the sixth of the ten penalties
    "forest": {"model__min_samples_leaf": (0,), "model__roots": (1,)},  # leaves of 1, one root of the columns
}


# ---- data ----
def load(options: Options, name: str) -> tuple[Array, Array]:
    """A table [N, P] and its classes 0 and 1; from OpenML where no folder is given."""
    if options.data:
        parts = sets.raw(options.find(name, f"{name}_valid"))  # of gisette, the part that is small enough
        X, y = parts["X"], parts["y"]
    else:
        try:
            X, y = fetch_openml(data_id=PAPER[name], return_X_y=True, as_frame=False)
        except OSError as error:
            raise Absent(f"{name} (OpenML: {error})") from None
        y = y == np.unique(y)[-1]
    return (X.toarray() if sparse.issparse(X) else X).astype(np.float64), np.asarray(y, dtype=np.int64)


class SubSample(NamedTuple):
    """One sub-sample to tune on, and the hold-out set that knows how good the model is."""

    X: Any
    y: Array
    X_rest: Any
    y_rest: Array
    seed: int


def fits(y: Array, n: int) -> bool:
    """Whether a sub-sample of this size leaves something in the pool of 30 %, and has both classes in every fold."""
    return n < int(POOL * len(y)) and round(n * min(np.mean(y == 1), np.mean(y != 1))) >= FOLDS


def sub_sample(X: Any, y: Array, n: int, sample: int) -> SubSample:
    """Cut the table into pool and hold-out, the same for all samples, and draw n rows from the pool."""
    pool, rest = train_test_split(np.arange(len(y)), train_size=POOL, stratify=y, random_state=0)
    rows, _ = train_test_split(pool, train_size=n, stratify=y[pool], random_state=sample * 1009 + n)
    return SubSample(X[rows], y[rows], X[rest], y[rest], sample)


# ---- configurations ----
def subset(grids: list[dict[str, list[Any]]]) -> list[dict[str, list[Any]]]:
    """Keep 36 of the 610 configurations: 2 selections times 13 SVMs, 4 elastic nets and a forest."""
    kept = []
    for grid in grids:
        step, model = grid["select"][0], grid["model"][0]
        selection = None if step == "passthrough" else (step.alpha, step.k)
        if selection in SELECTIONS and getattr(model, "l1_ratio", None) != 0.5:
            places = SUBSET[getattr(model, "kernel", "forest" if hasattr(model, "n_estimators") else "elastic net")]
            kept.append({name: [grid[name][i] for i in places.get(name, range(len(grid[name])))] for name in grid})
    return kept


def search(part: SubSample, trees: int, full: bool, **more: Any) -> sobercv.BBCSearchCV:
    """Cross-validate the paper's configurations, or the subset."""
    preset = presets.get("paper", "binary", part.X, part.y, n_trees=trees)
    return sobercv.BBCSearchCV(
        preset.estimator, preset.param_grid if full else subset(preset.param_grid), scoring=METRIC, cv=FOLDS,
        drop=None, refit=False, **options_of(part), **more,
    ).fit(part.X, part.y)  # fmt: skip


def options_of(part: SubSample) -> dict[str, Any]:
    """What estimates and searches have in common; percentile intervals are the paper's."""
    return {"random_state": part.seed, "n_bootstraps": BOOTSTRAPS, "n_jobs": 1, "interval": "percentile"}


def truths(found: sobercv.BBCSearchCV, part: SubSample, estimates: dict[str, sobercv.Estimate]) -> Row:
    """Train each winner on the whole sub-sample and judge it on the hold-out set."""
    judged, judge = {}, get_scorer(METRIC)
    for winner in {estimate.winner for estimate in estimates.values()}:
        model = clone(found.estimator).set_params(**clone(found.cv_results_["params"][winner], safe=False))
        judged[winner] = judge(model.fit(part.X, part.y), part.X_rest, part.y_rest)
    return {f"truth {name}": judged[estimate.winner] for name, estimate in estimates.items()}


def drop_equals(table: sobercv.Predictions, question: Question, round_index: int) -> DropVerdict:
    """The paper's likely rule: drop what is worse than or equal to the best in more than 99 % of the resamples."""
    draws, n = np.random.default_rng([question.seed, round_index]), table.n_samples
    scores = question.bind(table).scores(draws.multinomial(n, np.full(n, 1 / n), BOOTSTRAPS))
    scores = scores[~np.isnan(scores).any(axis=1)]
    top = int(sets.scores_on(table, METRIC).argmax())
    p = (scores <= scores[:, [top]]).mean(axis=0) if len(scores) else np.zeros(table.n_configurations)
    keep = p <= 0.99
    keep[top] = True
    return DropVerdict(keep, p, top)


# ---- pieces ----
def piece(
    measure: Callable[[SubSample, int, bool], Row], options: Options, name: str, n: int, sample: int, *,
    trees: int = TREES, everything: bool = False,
) -> list[Row]:  # fmt: skip
    """Measure one sub-sample, with all 610 configurations or a subset, and so many trees in a forest.

    Nothing where the data are too few, or the sub-sample is one that takes long.
    """
    X, y = load(options, name)
    costly = measure is protocols and not everything and (n >= 500 or X.shape[1] >= 5000)
    if not fits(y, n) or (costly and sample >= COSTLY):
        return []
    start = time.process_time()
    row = measure(sub_sample(X, y, n, sample), trees, everything)
    return [{**row, "seconds": time.process_time() - start}]


def protocols(part: SubSample, trees: int, everything: bool, repeats: int = REPEATS) -> Row:
    """Run every protocol.

    The repeats are trained once: their first partition is that of all other protocols, and dropping is replayed on it.
    """
    run, options = search(part, trees, everything, n_repeats=repeats), options_of(part)
    ncv = sobercv.compare(
        run.estimator, run.param_grid, part.X, part.y, protocols=("ncv",), cv=run.splits_[:FOLDS], scoring=METRIC,
        **options,
    )["ncv"]  # fmt: skip
    every = run.predictions_
    once = every.take_repeat(0)
    bbc = sobercv.bbc(None, once, METRIC, **options)
    row: Row = {"ncv": ncv.score, "naive": bbc.naive, "tt": sobercv.tibshirani(None, once, METRIC, n_jobs=1).value}
    row |= {"632+": bbc.as_632plus().value, "configurations": once.n_configurations}
    found = {"bbc": bbc, "bbc10": run.estimate_}
    for name, guard in (("bced", 0), ("bced50", GUARD)):
        raced = replay(once, papers_rule(guard), Question.ask(METRIC, **options))
        found[name] = sobercv.bbc(None, raced.survivors, METRIC, **options)
        row |= {f"models {name}": raced.models, f"alive {name}": raced.alive[1]}
    row |= {name: estimate.value for name, estimate in found.items()} | truths(run, part, found)
    four = {name: values[:, :, :4] for name, values in every.responses.items()}
    found["4"] = sobercv.bbc(every.y, four, METRIC, folds=every.fold_of[:, :4], **options)
    for name in ("bbc", "bbc10", "4"):
        low, high = found[name].interval
        row[f"width {name}"] = high - low
        if name != "4":  # the smallest level whose interval holds the truth: those of higher levels do, too
            truth, ends = row[f"truth {name}"], {level: found[name].interval_at(level) for level in LEVELS}
            row[f"reached {name}"] = next((x for x, (low, high) in ends.items() if low <= truth <= high), NEVER)
    return row


def both_rules(part: SubSample, trees: int, everything: bool) -> Row:
    """Cross-validate once, and race with both rules for ties."""
    run = search(part, trees, everything)
    once, found = run.predictions_, {"bbc": run.estimate_}
    row: Row = {"configurations": once.n_configurations, "trees": trees, "naive": run.estimate_.naive}
    row["tt"] = sobercv.tibshirani(None, once, METRIC, n_jobs=1).value
    for name, rule in (("strict", papers_rule()), ("equals", drop_equals)):
        raced = replay(once, rule, Question.ask(METRIC, random_state=part.seed))
        found[name] = sobercv.bbc(None, raced.survivors, METRIC, **options_of(part))
        row |= {f"alive {name}": raced.alive[1], f"models {name}": raced.models}
    return row | {name: estimate.value for name, estimate in found.items()} | truths(run, part, found)


def part(measure: Any, samples: int, names: Iterable[str] = AT_HAND, sizes: Any = SIZES, **options: Any) -> Part:
    """What is measured on so many sub-samples of each size."""
    design = partial(sets.in_rounds, {name: dict.fromkeys(sizes, samples) for name in names}, 1)
    by_place = partial(pd.DataFrame.sort_values, by=["data", "n", "sample"], kind="stable")
    return Part("data n sample", design, partial(piece, measure, **options), by_place, about={"seed": 0})


everything = {"trees": FULL_TREES, "everything": True}
PARTS = {
    "main": part(protocols, SAMPLES),
    # All 610 configurations once: what depends on how many compete.
    "width": part(both_rules, 8, **everything),
    # What dropping does to equals, the likely reason of the paper's losses.
    "ties": part(both_rules, 3, sizes=SIZES[:-1]),
    # Where the paper names a data set, with as many sub-samples as the paper has.
    "nested": part(partial(protocols, repeats=1), 20, ("dexter", "madeline"), (40,)),
    # The paper's whole design.
    "full": part(protocols, FULL_SAMPLES, PAPER, **everything),
}


# ---- every statement of the section that holds a number or a direction ----
SMALL = (20, 40, 60, 80, 100)
NAMES = {"naive": "CVT", "tt": "TT", "ncv": "NCV", "bbc": "BBC", "bced": "BCED"}


def truth(rows: Rows, protocol: str) -> pd.Series:
    """The true score of what a protocol returns; most return the same as BBC."""
    return rows.get(f"truth {protocol}", rows["truth bbc"])


def bias(rows: Rows, protocol: str) -> pd.Series:
    """Estimate minus truth on every sub-sample."""
    return rows[protocol] - truth(rows, protocol)


def by_cell(rows: Rows, protocol: str) -> pd.Series:
    """Mean bias of every data set and size."""
    return bias(rows, protocol).groupby([rows.data, rows.n]).mean()


def coverage(rows: Rows, protocol: str, level: float) -> float:
    """How often the interval of this level holds the truth."""
    return float((rows[f"reached {protocol}"] <= level + 1e-9).mean())


def over(rows: Rows, protocol: str) -> Array:
    """How far coverage is above its level [L]."""
    return np.array([coverage(rows, protocol, level) - level for level in LEVELS])


def relative(rows: Rows, one: str, other: str) -> pd.Series:
    """True score of what one protocol returns by that of another, for every data set and size."""
    first, second = (truth(rows, protocol).groupby([rows.data, rows.n]).mean() for protocol in (one, other))
    return first / second


def by_size(rows: Rows, protocol: str) -> pd.Series:
    """The mean bias at every size."""
    return bias(rows, protocol).groupby(rows.n).apply(Mean.of)


def by_n(rows: Rows, protocol: str) -> str:
    return ", ".join(f"{off.value:+.3f} (N = {n})" for n, off in by_size(rows, protocol).items())


def checked(rows: Rows, wide: Rows, nested: Rows) -> dict[str, Any]:
    """All statements that the results can speak to.

    `wide` are rows of all 610 configurations, `nested` those of the two places where the paper names NCV's bias.
    """
    small, large, from_60 = (rows[some] for some in (rows.n.isin(SMALL), rows.n == 500, rows.n >= 60))
    wide_small, wide_tiny = wide[wide.n.isin(SMALL)], wide[wide.n == 20]
    naive, size = bias(rows, "naive").groupby(rows.n).mean(), {p: by_cell(rows, p).abs().mean() for p in NAMES}
    order = sorted(size, key=lambda p: -size[p])
    optimistic = by_cell(rows, "bbc") >= 0
    tt = Mean.of(bias(wide_tiny, "tt"))
    off_wide = {p: by_cell(wide_small, p).abs() for p in ("bbc", "strict", "equals")}
    lost, guarded = (100 * (1 - relative(small, p, "bbc")) for p in ("bced", "bced50"))
    loss = 100 * (1 - relative(large, "bced", "bbc")).droplevel("n")
    repeated = {}
    for p, some in (("bbc", rows), ("ncv", rows[~rows.data.isin(["philippine", "jasmine"])])):
        some = some[some.n >= 40]
        good, gain = (relative(some, "bbc10", p) - 1 > -0.0025).mean(), truth(some, "bbc10") - truth(some, p)
        repeated[p] = {"gain": Mean.of(gain), "good": 100 * good, "agrees": gain.mean() > 0 and good > 0.5}
    covers = {}
    for n, p in ((20, "bbc"), (100, "bbc"), (500, "bbc10")):
        shares = {f"c{level:.0%}": 100 * coverage(rows[rows.n == n], p, level) for level in (0.8, 0.95)}
        covers[f"n{n}"] = {"n": (rows.n == n).sum(), "above": over(rows[rows.n == n], p).mean(), **shares}
    far = pd.Series({p: np.abs(over(small, p)).mean() for p in ("bbc10", "bbc")})
    width, widths = small.filter(like="width").mean(), rows.groupby("n")["width bbc"].mean()
    times = 1 / wide[wide.n == 500].groupby("data")["models strict"].mean()
    ncv = {name: Mean.of(bias(nested[nested.data == name], "ncv")) for name in ("dexter", "madeline")}
    return {
        "cvt": by_n(small, "naive"), "cvt_up": all_of(one.above() for one in by_size(small, "naive")),
        "naive": naive, "falls": abs(naive.iloc[-1]) < abs(naive.iloc[0]) / 2,
        "tt": tt, "tt_n": len(wide_tiny),
        "by_sign": "; by its sign alone, two errors reach across" if abs(tt.value) < 2 * tt.error else "",
        "tt_by_n": by_n(from_60, "tt"), "tt_down": all_of(one.below() for one in by_size(from_60, "tt")),
        "sizes": ", ".join(f"{NAMES[p]} {size[p]:.3f}" for p in order), "tt_worst": set(order[:2]) == {"naive", "tt"},
        "low": {p: by_n(rows, p) for p in ("ncv", "bbc")},
        "is_low": {p: all_of(one.near(0, 0.04) for one in by_size(rows, p)) for p in ("ncv", "bbc")},
        "conservative": 100 * (1 - optimistic.mean()),
        "not": ", ".join(f"{data} {n}" for data, n in optimistic.index[optimistic]),
        "nested": ncv, "nested_n": nested.data.value_counts(),
        "nested_agrees": {
            name: abs(ncv[name].value - paper) < 2 * ncv[name].error
            for name, paper in (("dexter", 0.033), ("madeline", 0.031))
        },
        "wide": {p: off.mean() for p, off in off_wide.items()}, "wide_n": len(wide_small),
        "larger": Mean.of(off_wide["strict"] - off_wide["bbc"]),
        "gap": Mean.of(bias(large, "bced") - bias(large, "bbc")), "lost": lost, "lost_at": lost.idxmax(),
        "guarded": guarded, "guard_avoids": guarded.max() < lost.max() and guarded.mean() < 0.5,
        "gone": 100 * (1 - small["alive bced"].mean()), "loss": loss, "repeated": repeated,
        "speed": ", ".join(f"{name} {up:.1f}" for name, up in times.items()), "fast": times.between(2, 10).mean(),
        "similar": Mean.of(bias(rows, "bbc10") - bias(rows, "bbc")), "covers": covers,
        "large_agrees": covers["n500"]["above"] < 0 if len(large) >= 50 else None, "far": far,
        "closer": far.bbc - far.bbc10, "width": width, "shrinks": width["width bbc10"] / width["width bbc"],
        "gained": 100 * (width["width bbc"] - width["width 4"]) / (width["width bbc"] - width["width bbc10"]),
        "widths": " > ".join(f"{w:.2f}" for w in widths), "shrink": (np.diff(widths) < 0).all(),
    }  # fmt: skip


# ---- the page ----
PROTOCOLS = {
    "naive": "CVT: plain CV", "tt": "TT", "ncv": "NCV: nested CV", "bbc": "BBC-CV", "bced": "BCED-CV, no guard",
    "bced50": "BCED-CV, guard of 50", "bbc10": "BBC-CV, 10 repeats", "632+": "BBC.632+",
}  # fmt: skip


def draw(plt: Any, numbers: Any) -> Any:
    """The paper's figure 2: mean bias of each protocol against the sample size, one line per data set."""

    def lines(protocol: str) -> dict[str, Any]:
        by_set = numbers["rows"].groupby("data")
        means = {name: bias(some, protocol).groupby(some.n).mean() for name, some in by_set}
        return {name: (plt.get_cmap("tab10")(i), line) for i, (name, line) in enumerate(means.items())}

    fig, axes = panels(plt, PROTOCOLS, lines, SIZES)
    axes[0, 0].legend(fontsize=8, frameon=False, ncol=2)
    for ax in axes[:, 0]:
        ax.set_ylabel("estimate - hold-out AUC")
    return fig


def told(rows: Rows) -> Row:
    """Bias and RMSE of every protocol, and coverage of the 95 % percentile interval."""
    found = {p: bias(rows, p) for p in PROTOCOLS}
    return {
        "sub": len(rows), "covers": coverage(rows, "bbc", 0.95),
        **{f"bias {p}": off.mean() for p, off in found.items()},
        **{f"rmse {p}": np.sqrt((off**2).mean()) for p, off in found.items()},
    }  # fmt: skip


def by_width(rows: Rows) -> list[Row]:
    """Bias with 610 configurations, what dropping saves and what it costs."""
    first = {"sub": len(rows), **{p: Mean.of(bias(rows, p)) for p in ("naive", "tt", "bbc")}}
    means, found = rows.mean(numeric_only=True), []
    for rule, words in (("strict", "what is worse"), ("equals", "ties, too")):
        gone, saved = 100 * (1 - means[f"alive {rule}"]), 1 / means[f"models {rule}"]
        lost = 100 * (1 - means[f"truth {rule}"] / means["truth bbc"])
        found.append({**first, "words": words, "gone": gone, "saved": saved, "lost": lost})
    return found


def page() -> Page:
    rows, wide, ties, nested = (read_results(f"real{name}") for name in ("", "-width", "-ties", "-nested"))
    few, few_wide, lost = rows[rows.n.isin(SMALL)], wide[wide.n.isin(SMALL)], {}
    for rule in ("strict", "equals"):
        losses = 100 * (1 - relative(ties, rule, "bbc"))
        lost[rule] = {"gone": 100 * (1 - ties[f"alive {rule}"].mean()), "losses": losses, "at": losses.idxmax()}
    numbers = checked(rows, wide, nested) | {
        "off": {p: bias(few, p).mean() for p in PROTOCOLS},
        "off_wide": {p: bias(few_wide, p).mean() for p in ("naive", "bbc")}, "rows": rows,
        "by_size": grouped(pd.concat([rows, rows.assign(n="all")]), "n", told, sort=False),
        "by_width": grouped(pd.concat([wide, few_wide.assign(n="up to 100")]), "n", by_width, sort=False),
        "by_set": grouped(rows, "data n", told),
        "ties": lost, "all_n": len(rows),
        "hours": rows.seconds.sum() / 3600, "samples": SAMPLES, "costly": COSTLY, "trees": TREES,
    }  # fmt: skip
    return Page("real-data", "real", draw, numbers)


PAGES = (page,)
