"""How optimistic corrected scores are when the configurations were proposed by a tuner that looks at scores.

Simulated problems have a true accuracy at every point of a cube; real ones are sub-samples on which a kernel classifier
with three parameters is searched. Three ways to propose: by chance, by the scores of all samples, by those of half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

import sobercv
from sobercv.inference import Question
from sobercv.inference.bootstrap import corrected
from sobercv.inference.tables import Table

from . import sets
from .harness import Array, Key, Options, Page, Part, Rng, Row, Rows, bias, grouped, read_results
from .learners import squared_distances

DIMENSIONS = 3
SAMPLES, TRIALS, REPETITIONS, PIECE, BOOTSTRAPS = (50, 100, 300, 1000), (50, 200, 1000), 100, 25, 300
SETS = ("sylvine", "jasmine", "madeline", "gina", "ada_agnostic_train", "cells")
REAL_SAMPLES, REAL_TRIALS, REAL_REPETITIONS = (50, 100), 200, 4
FOLDS, JUDGES = 10, 1500  # judges: rows on which the true score is measured
#: Which scores the proposer sees: none, those of all samples, those of every other sample.
WAYS = ("chance", "all", "half")


# ---- simulated problems ----
#: What the true accuracy looks like: its best value, what is lost at the far corner, and the correlation of far points.
#: Nothing to find; a gentle hill; a steep one that all but the best miss by much.
SHAPES = {"flat": (0.7, 0.0, 0.3), "hill": (0.75, 0.2, 0.5), "steep": (0.8, 0.6, 0.5)}
WAVES = 48  # cosines of which a field is made
REACH = 0.2  # how far apart two points err independently, but for what all points share


class Surface:
    """Samples are right where a random field of theirs lies below a threshold.

    Neighbouring points err on the same samples, as neighbouring hyper-parameters do, so that a tuner finds a smooth
    surface with hills that are noise.
    """

    def __init__(self, shape: str, n: int, rng: Rng) -> None:
        self.top, self.drop, shared = SHAPES[shape]
        self._peak = rng.random(DIMENSIONS)
        self._waves = rng.standard_normal((WAVES, DIMENSIONS)) / REACH
        own = rng.standard_normal((n, 2 * WAVES)) / np.sqrt(WAVES)
        self._field = np.sqrt(1.0 - shared) * own
        self._level = np.sqrt(shared) * rng.standard_normal(n)

    def truth(self, point: Array) -> float:
        """The accuracy that this point has on new samples."""
        return float(self.top - self.drop * np.mean((point - self._peak) ** 2))

    def right(self, point: Array) -> Array:
        """Which samples this point predicts rightly, bool [N]."""
        angle = self._waves @ point
        latent = self._level + self._field @ np.concatenate([np.cos(angle), np.sin(angle)])  # standard normal
        return np.asarray(latent < ndtri(self.truth(point)))


# ---- real problems ----
class Sample:
    """A sub-sample of a real set, of a multiple of ten samples: predicted out of fold, judged on other rows."""

    def __init__(self, ready: sets.Ready, n: int, rng: Rng) -> None:
        order = rng.permutation(len(ready.y))
        self._rows, self._judges = order[:n], order[n : n + JUDGES]
        self._features, self._sign = ready.features, 2.0 * ready.y - 1.0
        self._folds = rng.permutation(np.arange(n) % FOLDS)

    def right(self, point: Array) -> Array:
        """Which samples this point predicts rightly when they are held out, bool [N]."""
        return sets.out_of_fold(partial(self._right, point), self._rows, self._folds)

    def truth(self, point: Array) -> float:
        """The accuracy of this point, trained on all samples, on other rows."""
        return float(self._right(point, self._rows, self._judges).mean())

    def _right(self, point: Array, train: Array, test: Array) -> Array:
        X, y = self._features[train], self._sign[train]
        level = y.mean()
        related = np.abs((X - X.mean(axis=0)).T @ (y - level))  # each feature alone
        kept = np.argsort(-related, kind="stable")[: max(1, round(len(related) ** point[2]))]
        A, B = X[:, kept], self._features[test][:, kept]
        width, penalty = 10.0 ** (3.0 * point[0] - 2.0) / len(kept), 10.0 ** (5.0 * point[1] - 4.0)
        inside, across = (np.exp(-width * squared_distances(here, A)) for here in (A, B))
        inside.flat[:: len(inside) + 1] += penalty * len(train) / 10.0
        said = across @ np.linalg.solve(inside, y - level) + level
        return np.asarray((said > 0) == (self._sign[test] > 0))


# ---- proposers ----
# From points [S, t, d], values [S, t] and a generator to the next points [S, d], for S searches at once.
STARTUP, CANDIDATES, MOST_GOOD = 10, 24, 25


def by_chance(points: Array, values: Array, rng: Rng) -> Array:
    """Propose evenly over the cube, whatever was found."""
    return rng.random((points.shape[0], points.shape[2]))


def tpe(points: Array, values: Array, rng: Rng) -> Array:
    """Propose where the best so far are dense, compared with the others: a tree-structured Parzen estimator.

    Bergstra et al. (2011) as in Optuna, one dimension at a time; a test compares the two. A hundred times as fast.
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


def _parzen(points: Array) -> tuple[Array, Array]:
    """Centres and widths of kernels in [0, 1]: one per point, as wide as the gap beside it; and a wide one."""
    s, t = points.shape
    middle = np.full((s, 1), 0.5)
    edges = np.sort(np.concatenate([np.zeros((s, 1)), points, middle, np.ones((s, 1))], axis=1), axis=1)
    centres, gaps = edges[:, 1:-1], np.diff(edges, axis=1)
    widths = np.clip(np.maximum(gaps[:, :-1], gaps[:, 1:]), 1.0 / min(100.0, 2.0 + t), 1.0)
    widths[np.arange(s), (centres == 0.5).argmax(axis=1)] = 1.0  # the prior's
    return centres, widths


def _density(at: Array, centres: Array, widths: Array) -> Array:
    inside = (ndtr((1 - centres) / widths) - ndtr(-centres / widths)) * widths
    distance = (at[:, :, None] - centres[:, None, :]) / widths[:, None, :]
    return (np.exp(-0.5 * distance**2) / inside[:, None, :]).sum(axis=2) / centres.shape[1] + 1e-300


# ---- pieces ----
def search(
    problems: Sequence[Any], propose: Callable[..., Array], trials: int, looked_at: Array, rng: Rng
) -> tuple[Array, Array]:
    """Run trials, each proposed by earlier scores on some samples: points [S, T, d], right or not [S, N, T]."""
    points, values = np.empty((len(problems), trials, DIMENSIONS)), np.empty((len(problems), trials))
    right = np.empty((len(problems), len(looked_at), trials), bool)
    for t in range(trials):
        points[:, t] = propose(points[:, :t], values[:, :t], rng)
        for s, problem in enumerate(problems):
            right[s, :, t] = problem.right(points[s, t])
        values[:, t] = right[:, looked_at, t].mean(axis=1)
    return points, right


def claims(problems: Sequence[Any], trials: int, n: int, place: Sequence[int]) -> list[Row]:
    """Search problems of n samples in every way: what is claimed, the score judged by the other half ("apart"), truth.

    A problem is a `Surface` or a `Sample`.
    """
    half, y = np.arange(n) % 2 == 0, np.arange(n) // 2 % 2  # both classes in both halves
    question = Question.ask("accuracy", n_bootstraps=BOOTSTRAPS)
    rows: list[Row] = [{} for _ in problems]
    for k, way in enumerate(WAYS):
        looked_at, propose = half if way == "half" else np.ones(n, bool), by_chance if way == "chance" else tpe
        found = search(problems, propose, trials, looked_at, np.random.default_rng([*place, 1 + k]))
        for row, problem, points, right in zip(rows, problems, *found, strict=True):
            labels = np.where(right, y[:, None], 1 - y[:, None])
            made = sobercv.Predictions.build(y, labels, task="classification")
            told = {"bbc": sobercv.bbc(None, made, "accuracy", n_bootstraps=BOOTSTRAPS)}
            truth = problem.truth(points[told["bbc"].winner])
            row |= {f"truth {way}": truth, f"naive {way}": told["bbc"].naive}
            if way == "half":
                told["apart"] = corrected(Table(made, question, judges=~half))["accuracy"]
            for name, estimate in told.items():
                low, high = estimate.interval
                row |= {f"{name} {way}": estimate.value, f"covered {name} {way}": float(low <= truth <= high)}
                row[f"width {name} {way}"] = high - low
    return rows


def design() -> list[Key]:
    """Shape, samples, trials and first problem; round by round, so that an early look has all shapes and sizes."""
    found = product(range(0, REPETITIONS, PIECE), TRIALS, SAMPLES, SHAPES)
    return [(shape, n, trials, first) for first, trials, n, shape in found]


def simulated(options: Options, name: str, n: int, trials: int, first: int) -> list[Row]:
    """Search some simulated problems."""
    place = [0, list(SHAPES).index(name), n, trials]
    surfaces = [Surface(name, n, np.random.default_rng([*place, r, 0])) for r in range(first, first + PIECE)]
    return claims(surfaces, trials, n, [*place, first])


def real(options: Options, name: str, n: int, r: int) -> list[Row]:
    """Search one sub-sample."""
    place = [0, SETS.index(name), n, r]
    sample = Sample(sets.read(options, name), n, np.random.default_rng([*place, 0]))
    return claims([sample], REAL_TRIALS, n, place)


def summarise(rows: Rows) -> Row:
    """Over all shapes: bias with its standard error, RMSE; coverage and width of intervals."""
    out: Row = {"repetitions": len(rows)}
    for claim in ("naive chance", "bbc chance", "naive all", "bbc all", "bbc half", "apart half"):
        out |= bias(claim, rows[claim] - rows[f"truth {claim.split()[1]}"])
    return out | {name: rows[name].mean() for name in rows if name.startswith(("covered", "width", "truth"))}


ABOUT = {"seed": 0, "bootstraps": BOOTSTRAPS}
PARTS = {
    "main": Part(
        "shape n trials first", design, simulated, lambda rows: grouped(rows, "trials n", summarise), about=ABOUT
    ),
    "real": Part(
        "set n sample", lambda: [(name, n, r) for r in range(REAL_REPETITIONS) for name in SETS for n in REAL_SAMPLES],
        real, lambda rows: grouped(rows.assign(trials=REAL_TRIALS), "trials n", summarise), about=ABOUT,
    ),
}  # fmt: skip

# ---- the page ----
SHOWN_TRIALS = 200
TITLES = {
    "naive all": "TPE, plain CV", "bbc all": "TPE, BBC", "apart half": "TPE, propose_from=0.5",
    "bbc chance": "random, BBC",
}  # fmt: skip


def draw(plt: Any, numbers: Any) -> Any:
    """Bias against the number of samples, one panel per claim about TPE and one for random search."""
    rows = numbers["rows"]
    fig, axes = plt.subplots(1, 4, figsize=(13, 3.6), sharey=True)
    for ax, (claim, title) in zip(axes, TITLES.items(), strict=True):
        for trials, shade in zip(TRIALS, ("#9ecae1", "#4292c6", "#08519c"), strict=True):
            here = rows[rows.trials == trials].sort_values("n")
            values, errors = (list(here[f"{what} {claim}"]) for what in ("bias", "se"))
            ax.errorbar(range(len(here)), values, errors, color=shade, marker="o", ms=3, lw=1.2, label=f"{trials}")
        ax.axhline(0, color="0.4", lw=0.8)
        ax.set_title(title, loc="left", fontsize=11)
        ax.set_xticks(range(len(SAMPLES)), [str(n) for n in SAMPLES])
        ax.set_xlabel("samples")
    axes[0].set_ylabel("estimate - truth (accuracy)")
    axes[-1].legend(title="trials", frameon=False)
    return fig


def page() -> Page:
    rows, real = read_results("adaptive"), read_results("adaptive-real")
    shown = rows[rows.trials == SHOWN_TRIALS]
    numbers = {
        "shown": shown, "real": real, "hard": shown[shown.n == 100].iloc[0], "rows": rows,
        "every": pd.concat([rows.assign(kind="simulated"), real.assign(kind="real")]),
        "wider": rows["width apart half"] / rows["width bbc all"], "costs": rows["truth all"] - rows["truth half"],
    }  # fmt: skip
    return Page("adaptive", "adaptive", draw, numbers)


PAGES = (page,)
