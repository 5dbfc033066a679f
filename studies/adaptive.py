"""How optimistic corrected scores are when the configurations were proposed by a tuner that looks at scores.

Simulated problems have a true accuracy at every point of a cube; real ones are sub-samples on which a kernel classifier
with three parameters is searched. Three ways to propose: by chance, by the scores of all samples, by those of half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

import sobercv
from sobercv.inference import Question
from sobercv.inference.bootstrap import corrected
from sobercv.inference.tables import Table as InferenceTable

from . import sets
from .evidence import Evidence, Table, markdown
from .harness import Key, Options, Part, Row, read_about, read_results

DIMENSIONS = 3
SAMPLES, TRIALS, REPETITIONS, PIECE, BOOTSTRAPS = (50, 100, 300, 1000), (50, 200, 1000), 100, 25, 300
SETS = ("sylvine", "jasmine", "madeline", "gina", "ada_agnostic_train", "cells")
REAL_SAMPLES, REAL_TRIALS, REAL_REPETITIONS = (50, 100), 200, 4
FOLDS, JUDGES = 10, 1500  # judges: rows that tell the truth
#: Whose scores lead the proposer: none, those of all samples, those of every other sample.
WAYS = ("chance", "all", "half")
#: What is claimed: of each way the plain and the corrected score, and of `half` the score judged by the other half.
COLUMNS = (
    *(f"{what} {way}" for way in WAYS for what in ("truth", "naive", "bbc", "covered bbc", "width bbc")),
    *("apart half", "covered apart half", "width apart half"),
)


class Problem(Protocol):
    """What is searched: simulated, or a sample of real data."""

    def right(self, point: np.ndarray) -> np.ndarray:
        """Which samples this point predicts rightly, bool [N]."""

    def truth(self, point: np.ndarray) -> float:
        """The accuracy that this point has on new samples."""


# ---- simulated problems ----
class Shape(NamedTuple):
    """What the true accuracy looks like: its best value, what is lost at the far corner, correlation of far points."""

    name: str
    top: float
    drop: float
    shared: float


#: Nothing to find; a gentle hill; a steep one that all but the best miss by much.
SHAPES = (Shape("flat", 0.7, 0.0, 0.3), Shape("hill", 0.75, 0.2, 0.5), Shape("steep", 0.8, 0.6, 0.5))
WAVES = 48  # cosines of which a field is made
REACH = 0.2  # how far apart two points err independently, but for what all points share


class Surface:
    """Samples are right where a random field of theirs lies below a threshold.

    Neighbouring points err on the same samples, as neighbouring hyper-parameters do, so that a tuner finds a smooth
    surface with hills that are noise.
    """

    def __init__(self, shape: Shape, n: int, rng: np.random.Generator) -> None:
        self.shape = shape
        self._peak = rng.random(DIMENSIONS)
        self._waves = rng.standard_normal((WAVES, DIMENSIONS)) / REACH
        own = rng.standard_normal((n, 2 * WAVES)) / np.sqrt(WAVES)
        self._field = np.sqrt(1.0 - shape.shared) * own
        self._level = np.sqrt(shape.shared) * rng.standard_normal(n)

    def truth(self, point: np.ndarray) -> float:
        """The accuracy that this point has on new samples."""
        return float(self.shape.top - self.shape.drop * np.mean((point - self._peak) ** 2))

    def right(self, point: np.ndarray) -> np.ndarray:
        """Which samples this point predicts rightly, bool [N]."""
        angle = self._waves @ point
        latent = self._level + self._field @ np.concatenate([np.cos(angle), np.sin(angle)])  # standard normal
        return np.asarray(latent < ndtri(self.truth(point)))


# ---- real problems ----
class Sample:
    """A sub-sample of a real set, of a multiple of ten samples: predicted out of fold, judged on other rows."""

    def __init__(self, ready: sets.Ready, n: int, rng: np.random.Generator) -> None:
        order = rng.permutation(len(ready.y))
        rows, self._judges = order[:n], order[n : n + JUDGES]
        self._ready, self._rows = ready, rows
        self._sign = 2.0 * ready.y - 1.0
        fold = rng.permutation(np.arange(n) % FOLDS)
        self._splits = [(rows[fold != k], rows[fold == k]) for k in range(FOLDS)]
        self._place = np.concatenate([np.flatnonzero(fold == k) for k in range(FOLDS)])
        self._ranked = [self._by_relevance(train) for train, _ in self._splits]

    def _by_relevance(self, train: np.ndarray) -> np.ndarray:
        """Order the features by how well each alone goes with the truth in these rows."""
        X, y = self._ready.features[train], self._sign[train]
        return np.argsort(-np.abs((X - X.mean(axis=0)).T @ (y - y.mean())), kind="stable")

    def right(self, point: np.ndarray) -> np.ndarray:
        """Which samples this point predicts rightly when they are held out, bool [N]."""
        found = np.empty(len(self._rows), bool)
        found[self._place] = np.concatenate(
            [self._predict(point, *split, ranked) for split, ranked in zip(self._splits, self._ranked, strict=True)]
        )
        return found

    def truth(self, point: np.ndarray) -> float:
        """The accuracy of this point, trained on all samples, on other rows."""
        return float(self._predict(point, self._rows, self._judges, self._by_relevance(self._rows)).mean())

    def _predict(self, point: np.ndarray, train: np.ndarray, test: np.ndarray, ranked: np.ndarray) -> np.ndarray:
        kept = ranked[: max(1, round(len(ranked) ** point[2]))]
        A, B = self._ready.features[train][:, kept], self._ready.features[test][:, kept]
        width, penalty = 10.0 ** (3.0 * point[0] - 2.0) / len(kept), 10.0 ** (5.0 * point[1] - 4.0)
        inside, across = _kernel(A, A, width), _kernel(B, A, width)
        inside.flat[:: len(inside) + 1] += penalty * len(train) / 10.0
        centre = self._sign[train].mean()
        said = across @ np.linalg.solve(inside, self._sign[train] - centre) + centre
        return np.asarray((said > 0) == (self._sign[test] > 0))


def _kernel(A: np.ndarray, B: np.ndarray, width: float) -> np.ndarray:
    squared = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2.0 * A @ B.T
    return np.asarray(np.exp(-width * np.maximum(squared, 0.0)))


# ---- proposers ----
#: (points [S, t, d], values [S, t], generator) -> the next points [S, d], for S searches at once.
Proposer = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
STARTUP, CANDIDATES, MOST_GOOD = 10, 24, 25


def by_chance(points: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Propose evenly over the cube, whatever was found."""
    return rng.random((points.shape[0], points.shape[2]))


def tpe(points: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Propose where the best so far are dense, compared with the others: a tree-structured Parzen estimator.

    Bergstra et al. (2011) in the form of Optuna's default, one dimension at a time. Written out here because a thousand
    searches of a thousand trials need one that is a hundred times as fast; a test compares the two.
    """
    s, t, d = points.shape
    if t < STARTUP:
        return rng.random((s, d))
    order = np.argsort(-values, axis=1, kind="stable")
    ranked = np.take_along_axis(points, order[:, :, None], axis=1)
    n_good = min(int(np.ceil(0.1 * t)), MOST_GOOD)
    rows = np.moveaxis(ranked, 1, 2).reshape(s * d, t)  # every dimension of every search is a row
    good, others = _parzen(rows[:, :n_good]), _parzen(rows[:, n_good:])
    which = rng.integers(good[0].shape[1], size=(s * d, CANDIDATES))
    centre, width = (np.take_along_axis(values, which, 1) for values in good)
    low, high = ndtr(-centre / width), ndtr((1 - centre) / width)
    candidates = np.clip(centre + width * ndtri(low + rng.random(which.shape) * (high - low)), 0.0, 1.0)
    promise = _density(candidates, *good) / _density(candidates, *others)
    return np.take_along_axis(candidates, promise.argmax(axis=1)[:, None], 1)[:, 0].reshape(s, d)


def _parzen(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres and widths of kernels in [0, 1]: one per point, as wide as the gap beside it; and a wide one."""
    s, t = points.shape
    middle = np.full((s, 1), 0.5)
    edges = np.sort(np.concatenate([np.zeros((s, 1)), points, middle, np.ones((s, 1))], axis=1), axis=1)
    centres, gaps = edges[:, 1:-1], np.diff(edges, axis=1)
    widths = np.clip(np.maximum(gaps[:, :-1], gaps[:, 1:]), 1.0 / min(100.0, 2.0 + t), 1.0)
    widths[np.arange(s), (centres == 0.5).argmax(axis=1)] = 1.0  # the prior's
    return centres, widths


def _density(at: np.ndarray, centres: np.ndarray, widths: np.ndarray) -> np.ndarray:
    inside = (ndtr((1 - centres) / widths) - ndtr(-centres / widths)) * widths
    distance = (at[:, :, None] - centres[:, None, :]) / widths[:, None, :]
    return (np.exp(-0.5 * distance**2) / inside[:, None, :]).sum(axis=2) / centres.shape[1] + 1e-300


# ---- pieces ----
def search(
    problems: Sequence[Problem], propose: Proposer, trials: int, looked_at: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Run trials, each proposed by earlier scores on some samples: points [S, T, d], right or not [S, N, T]."""
    points, values = np.empty((len(problems), trials, DIMENSIONS)), np.empty((len(problems), trials))
    right = np.empty((len(problems), len(looked_at), trials), bool)
    for t in range(trials):
        points[:, t] = propose(points[:, :t], values[:, :t], rng)
        for s, problem in enumerate(problems):
            right[s, :, t] = problem.right(points[s, t])
        values[:, t] = right[:, looked_at, t].mean(axis=1)
    return points, right


def claims(problems: Sequence[Problem], trials: int, n: int, place: Sequence[int]) -> np.ndarray:
    """Search problems of n samples in every way; one row per problem, numbers in the order of `COLUMNS`."""
    half = np.arange(n) % 2 == 0
    parts = []
    for k, way in enumerate(WAYS):
        rng = np.random.default_rng([*place, 1 + k])
        looked_at = half if way == "half" else np.ones(n, bool)
        points, right = search(problems, by_chance if way == "chance" else tpe, trials, looked_at, rng)
        judges = ~half if way == "half" else None
        parts.append([_claims(*each, judges) for each in zip(problems, points, right, strict=True)])
    return np.concatenate(parts, axis=1)


def _claims(problem: Problem, points: np.ndarray, right: np.ndarray, judges: np.ndarray | None) -> list[float]:
    y = np.arange(len(right)) // 2 % 2  # both classes among those looked at, and among the others
    table = sobercv.Predictions.build(y, np.where(right, y[:, None], 1 - y[:, None]), task="classification")
    bbc = sobercv.bbc(None, table, "accuracy", n_bootstraps=BOOTSTRAPS)
    truth = problem.truth(points[bbc.winner])
    row = [truth, bbc.naive, bbc.value, *_covers(bbc, truth)]
    if judges is not None:
        question = Question.ask("accuracy", n_bootstraps=BOOTSTRAPS)
        apart = corrected(InferenceTable(table, question, judges=judges))["accuracy"]
        row += [apart.value, *_covers(apart, truth)]
    return row


def _covers(estimate: sobercv.Estimate, truth: float) -> tuple[float, float]:
    assert estimate.interval is not None
    low, high = estimate.interval
    return float(low <= truth <= high), high - low


def design() -> list[Key]:
    """Shape, samples, trials and first problem; round by round, so that an early look has all shapes and sizes."""
    return [
        (shape.name, n, trials, first)
        for first in range(0, REPETITIONS, PIECE)
        for trials in TRIALS
        for n in SAMPLES
        for shape in SHAPES
    ]


def simulated(options: Options, name: str, n: int, trials: int, first: int, last: int | None = None) -> np.ndarray:
    """Search some simulated problems."""
    index = [shape.name for shape in SHAPES].index(name)
    place = [0, index, n, trials]
    numbers = range(first, first + PIECE if last is None else last)
    surfaces = [Surface(SHAPES[index], n, np.random.default_rng([*place, r, 0])) for r in numbers]
    return claims(surfaces, trials, n, [*place, first])


def real(options: Options, name: str, n: int, r: int) -> np.ndarray:
    """Search one sub-sample."""
    place = [0, SETS.index(name), n, r]
    sample = Sample(sets.read(options, name), n, np.random.default_rng([*place, 0]))
    return claims([sample], REAL_TRIALS, n, place)


def summarise(n: int, trials: int, rows: np.ndarray) -> Row:
    """One row of the results, over all shapes: bias with its standard error, RMSE; coverage and width of intervals."""
    column = {name: rows[:, i] for i, name in enumerate(COLUMNS)}
    out: Row = {"n": n, "trials": trials, "repetitions": len(rows), "shapes": len(SHAPES)}
    for claim in ("naive chance", "bbc chance", "naive all", "bbc all", "bbc half", "apart half"):
        error = column[claim] - column[f"truth {claim.split()[1]}"]
        out[f"bias {claim}"] = error.mean()
        out[f"se {claim}"] = error.std(ddof=1) / np.sqrt(len(rows))
        out[f"rmse {claim}"] = np.sqrt((error**2).mean())
        if f"covered {claim}" in column:
            out |= {f"{what} {claim}": column[f"{what} {claim}"].mean() for what in ("covered", "width")}
    return out | {f"truth {way}": column[f"truth {way}"].mean() for way in WAYS}


def results(found: dict[Key, Any]) -> list[Row]:
    """One row per number of trials and samples."""
    cells = sorted({(trials, n) for _, n, trials, _ in found})
    return [
        summarise(n, trials, np.concatenate([some for key, some in found.items() if key[1:3] == (n, trials)]))
        for trials, n in cells
    ]


def real_results(found: dict[Key, Any]) -> list[Row]:
    """One row per number of samples."""
    sizes = sorted({n for _, n, _ in found})
    return [
        summarise(n, REAL_TRIALS, np.concatenate([some for key, some in found.items() if key[1] == n])) for n in sizes
    ]


ABOUT = {"seed": 0, "bootstraps": BOOTSTRAPS}
PARTS = {
    "main": Part(design, simulated, results, about=ABOUT),
    "real": Part(
        lambda: [(name, n, r) for r in range(REAL_REPETITIONS) for name in SETS for n in REAL_SAMPLES], real,
        real_results, about=ABOUT,
    ),
}  # fmt: skip

# ---- the page ----
CLAIMS = {
    "naive chance": "random, plain CV", "bbc chance": "random, BBC", "naive all": "TPE, plain CV",
    "bbc all": "TPE, BBC", "apart half": "TPE, `propose_from=0.5`",
}  # fmt: skip
SHOWN_TRIALS = 200


def bias_lines(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """The bias of every claim, by samples and trials."""
    return [
        (f"{row['n']}", f"{row['trials']}", *(f"{row[f'bias {c}']:+.3f} ± {row[f'se {c}']:.3f}" for c in CLAIMS))
        for row in rows.to_dict("records")
    ]


def all_rows(rows: pd.DataFrame, real: pd.DataFrame) -> Table:
    """Bias, coverage, width and error of every claim, simulated and real."""
    names = [f"{what} {c}" for c in CLAIMS for what in ("bias", "se", "rmse", "covered", "width")]
    names = [name for name in names if name in rows]
    heads = ["tables", "samples", "trials", "problems", *names]
    heads += ["truth of the winner, all samples propose", "half of the samples propose"]
    lines = [
        [kind, *(f"{row[k]}" for k in ("n", "trials", "repetitions")),
         *(f"{row[name]:.4f}" for name in (*names, "truth all", "truth half"))]
        for kind, some in (("simulated", rows), ("real", real))
        for row in some.to_dict("records")
    ]  # fmt: skip
    return Table("adaptive", "bias, coverage, width and error in every setting, simulated and real", heads, lines)


def draw(plt: Any) -> Any:
    """Bias against the number of samples, one panel per claim about TPE and one for random search."""
    rows = read_results("adaptive")
    fig, axes = plt.subplots(1, 4, figsize=(13, 3.6), sharey=True)
    for ax, claim in zip(axes, ("naive all", "bbc all", "apart half", "bbc chance"), strict=True):
        for trials, shade in zip(TRIALS, ("#9ecae1", "#4292c6", "#08519c"), strict=True):
            here = rows[rows.trials == trials].sort_values("n")
            values, errors = (list(here[f"{what} {claim}"]) for what in ("bias", "se"))
            ax.errorbar(range(len(here)), values, errors, color=shade, marker="o", ms=3, lw=1.2, label=f"{trials}")
        ax.axhline(0, color="0.4", lw=0.8)
        ax.set_title(CLAIMS[claim].replace("`", ""), loc="left", fontsize=11)
        ax.set_xticks(range(len(SAMPLES)), [str(n) for n in SAMPLES])
        ax.set_xlabel("samples")
    axes[0].set_ylabel("estimate - truth (accuracy)")
    axes[-1].legend(title="trials", frameon=False)
    return fig


def evidence() -> Evidence:
    """The page."""
    rows, real = read_results("adaptive"), read_results("adaptive-real")
    about = read_about("adaptive")
    hard = rows[(rows.n == 100) & (rows.trials == SHOWN_TRIALS)].iloc[0]
    wider = rows["width apart half"] / rows["width bbc all"]
    heads = ("samples", "trials", *CLAIMS.values())
    text = f"""Bias of accuracy, simulated, with its standard error:

{markdown(heads, bias_lines(rows[rows.trials == SHOWN_TRIALS]))}

Real data (sub-samples of six sets, a kernel classifier with three parameters):

{markdown(heads, bias_lines(real))}

TPE and other samplers that learn propose each trial by the scores of earlier ones on the same samples, so
their trials fit these samples better than new ones. The bootstrap corrects for having picked the best trial, not for
having proposed them: what stays grows with the number of trials and shrinks with the number of samples. Note W811
quotes the number nearest to the size of your study.

**The remedy.** With `Objective(..., propose_from=0.5)` the sampler sees the scores of every other fold
only; all samples select the winner, and those that the sampler has not seen judge it. That needs no extra fit. The
interval is {wider.min():.1f} to {wider.max():.1f} times as wide, and the sampler learns from half of the samples, which
costs at most {(rows["truth all"] - rows["truth half"]).max():.3f} of true accuracy here.

**Not corrected:** what a person learns from earlier scores when writing the next grid.

## What was done
Simulated problems have three parameters and a known true accuracy at every point (flat, a gentle hill, a
steep one); neighbouring points predict alike. The proposer is a tree-structured Parzen estimator like Optuna's default.
{rows.repetitions[0]} problems per row, {about["bootstraps"]} resamples. The truth on real data is the accuracy
on 1,500 other rows; there are few problems per row, so standard errors are large."""
    return Evidence(
        name="adaptive",
        title="Adaptive search: Optuna and Bayesian optimisation",
        answer=(
            f"With 100 samples and {SHOWN_TRIALS} TPE trials, plain CV claims {hard['bias naive all']:.3f} of accuracy "
            f"too much. BBC leaves {hard['bias bbc all']:+.3f} of it, and `propose_from=0.5` leaves "
            f"{hard['bias apart half']:+.3f}. Under random search BBC is right."
        ),
        figure="Bias against samples for plain CV, BBC and propose_from=0.5 under TPE, and for BBC under random search",
        draw=draw,
        text=text,
        tables=(all_rows(rows, real),),
        command="python -m studies adaptive --data FOLDER",
        about=about,
    )


PAGES = (evidence,)
