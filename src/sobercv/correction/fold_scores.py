"""FoldScores: what a finished search left behind, whichever tool ran it, and its judgement by BBC-F.

Every tool that tunes by cross-validation keeps the score of each configuration on each fold. That is all BBC-F needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .. import metrics, seeds
from ..containers import Array
from ..errors import Note, SoberError
from ..inference import Estimate
from ..inference.estimate import Data, Selected, shown
from ..inference.intervals import Calibrated, Evidence, Percentile, check_level
from ..inference.selection import best
from ..inference.tables import FoldMeans
from ..inference.units import Units

#: Below this number of folds a note says what that costs.
FEW_FOLDS = 5


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Scores by fold of every configuration."""

    #: By metric, the one that selects first. More is better. The F = K x R folds of R repeats are listed repeat by
    #: repeat. A configuration with a NaN is left out, see `complete` [F, C].
    scores: Mapping[str, Array]
    #: Parameters of each configuration.
    params: Sequence[dict[str, Any]] | None = None
    #: Names of the configurations, where they have names rather than parameters.
    names: Sequence[str] | None = None
    #: Number of times the samples were partitioned into folds.
    n_repeats: int = 1
    #: For splits whose test sets overlap (ShuffleSplit): size of a test set over that of a training set.
    test_share: float | None = None
    #: Position of the configuration that the tool selected; None for the one with the highest mean.
    winner: int | None = None
    #: Scores of the folds present in a resample, by metric [F, C], -> position of the winner; None for the highest
    #: mean.
    rule: Callable[[Mapping[str, Array]], int] | None = None
    notes: tuple[Note, ...] = ()

    @property
    def first(self) -> Array:
        """Scores by the metric that selects [F, C]."""
        return next(iter(self.scores.values()))

    @property
    def n_folds(self) -> int:
        """Number of folds of one repeat."""
        return len(self.first) // self.n_repeats

    def complete(self) -> Array:
        """Positions of the configurations that have a score on every fold, by every metric."""
        return np.flatnonzero(np.all([~np.isnan(scores).any(axis=0) for scores in self.scores.values()], axis=0))

    def named(self, at: int) -> str | None:
        """Name a configuration by its own name and by what was tuned; None where it has neither."""
        parts = [] if self.names is None else [self.names[at]]
        tuned = what_was_tuned(self.params, at) if self.params else ""
        return ": ".join([*parts, tuned] if tuned else parts) or None

    def check(self) -> None:
        """Refuse what cannot be resampled: one split, folds that do not divide into the repeats, nothing complete."""
        n_splits = len(self.first)
        if n_splits % self.n_repeats:
            raise SoberError(
                "E108",
                f"{n_splits} splits cannot be {self.n_repeats} repeats of the same number of folds. Pass the number of "
                "repeats as `n_repeats`.",
            )
        if self.n_folds < 2:
            raise SoberError(
                "E307",
                "Every configuration was judged on one split only, so there are no folds to resample. Search again "
                "with cv=5 or more, or pass the hold-out predictions of all configurations to "
                "sobercv.bbc(y, predictions, fixed_models=True).",
            )
        if not len(self.complete()):
            raise SoberError("E111", "No configuration has a score on every fold. Check the errors of the search.")
        if self.winner is not None and self.winner not in self.complete():
            raise SoberError("E111", "The configuration that the search selected lacks a score on some fold.")


def what_was_tuned(params: Sequence[Mapping[str, Any]], at: int) -> str:
    """Write the parameters of one configuration that differ between configurations, models by what differs in them."""
    said = {}
    for name, value in params[at].items():
        others = [each[name] for each in params if name in each]
        if len(others) == len(params) and len(params) > 1 and all(_same(other, value) for other in others):
            continue
        if not hasattr(value, "get_params"):
            said[name] = value
            continue
        own = value.get_params(deep=False)
        alike = [other.get_params(deep=False) for other in others if type(other) is type(value)]
        tuned = {key: v for key, v in own.items() if any(not _same(other.get(key), v) for other in alike)}
        said[name] = _Said(f"{type(value).__name__}({shown(tuned)})")
    return shown(said)


def _same(one: Any, other: Any) -> bool:
    return one is other or repr(one) == repr(other)


class _Said(str):
    """Text that is written without quotes."""

    __repr__ = str.__str__


def judge(
    found: FoldScores, *, n_bootstraps: int = 1000, confidence_level: float = 0.95, random_state: Any = 0
) -> dict[str, Estimate]:
    """Correct the winner's score for having been selected, by every metric: BBC-F within each repeat."""
    found.check()
    check_level(confidence_level)
    kept, seed = found.complete(), seeds.root(random_state)
    scores = {name: table[:, kept] for name, table in found.scores.items()}
    means = {name: table.mean(axis=0) for name, table in scores.items()}
    repeats = {name: [FoldMeans(one) for one in np.split(table, found.n_repeats)] for name, table in scores.items()}
    counts = Units.of_folds(found.n_folds, n_bootstraps, seed).counts(0, n_bootstraps)  # [B, K], for all repeats
    n_left_out = found.first.shape[1] - len(kept)
    data = Data(n_repeats=found.n_repeats, n_folds=found.n_folds, n_left_out=n_left_out, seed=seed)
    first = next(iter(scores))
    winner = int(best(means[first][None])[0]) if found.winner is None else int(np.searchsorted(kept, found.winner))
    if found.rule is None:
        winners = [best(one.scores(counts)) for one in repeats[first]]
    else:
        k = found.n_folds
        winners = [_by_rule(found, kept, slice(r * k, r * k + k), counts) for r in range(found.n_repeats)]

    def judged(name: str, chosen: list[Array]) -> list[Array]:
        """Score of configuration chosen[r][b] on the folds that are absent from resample b, by repeat."""
        return [one.picked(counts == 0, at) for one, at in zip(repeats[name], chosen, strict=True)]

    def estimate(name: str, at: int, draws: Array, members: Array, wins: Array | None = None, **more: Any) -> Estimate:
        """Make an estimate for the configuration at this position, compared with those at positions `members`."""
        name_, params = found.named(int(kept[at])), None if found.params is None else dict(found.params[kept[at]])
        return Estimate(
            **{"value": float(np.mean(draws)), **more},
            naive=float(means[name][at]),
            method="bbc-f",
            metric=name,
            draws=draws,
            selected=Selected(int(kept[at]), kept[members], means[name][members], wins, name_, params),
            data=data,
        )

    def alone(name: str, configuration: int) -> Estimate:
        """Judge one configuration, with nothing selected."""
        if configuration not in kept:
            raise SoberError(
                "E122",
                f"There is no configuration {configuration!r} to compare with: it failed on some fold or does not "
                f"exist. Name one of {kept[0]} to {kept[-1]}.",
            )
        at = int(np.searchsorted(kept, configuration))
        draws = np.mean(judged(name, [np.full(len(counts), at)] * found.n_repeats), axis=0)
        bounds = Percentile(np.sort(draws), range=range_of(name))
        return estimate(name, at, draws, np.array([at]), bounds=bounds)

    # Repeats share samples, so that their variances are not divided; overlapping test sets have Nadeau and Bengio's
    # correction.
    wider = 1.0 if found.test_share is None else 1.0 + found.n_folds * found.test_share
    wins = np.bincount(np.concatenate(winners), minlength=len(kept))
    notes = (*found.notes, *_notes(found, len(kept)))
    out = {}
    for name in scores:
        draws = np.mean(judged(name, winners), axis=0)
        value = float(np.mean(draws))
        own = judged(name, [np.full(len(counts), winner)] * found.n_repeats)
        seen = Evidence(
            means[name],
            np.mean([one.scores(counts).var(axis=0, ddof=1) for one in repeats[name]], axis=0) * wider,
            winner,
            value,
            float(np.mean([np.mean(one) for one in own])),
            range_of(name),
            found.n_folds,
            float(found.n_folds),
            clustered=True,
            folds=True,
            trained=1.0 - 1.0 / found.n_folds,
            draws=draws,
        )
        out[name] = estimate(
            name,
            winner,
            draws,
            np.arange(len(kept)),
            wins,
            value=min(value, float(means[name][winner])) if name == first else value,
            bounds=Calibrated.of(seen) or Percentile.of(seen),
            confidence_level=confidence_level,
            notes=notes,
            judge_alone=partial(alone, name),
        )
    return out


def _by_rule(found: FoldScores, kept: Array, rows: slice, counts: Array) -> Array:
    """Run the search's own rule on the folds of each resample of a repeat, repeated as often as they were drawn."""
    assert found.rule is not None
    winners = np.empty(len(counts), np.int64)
    is_kept = np.isin(np.arange(found.first.shape[1]), kept)
    scores = {name: np.where(is_kept, table[rows], np.nan) for name, table in found.scores.items()}
    for b, row in enumerate(counts):
        present = {name: np.repeat(table, row, axis=0) for name, table in scores.items()}
        try:
            winners[b] = np.flatnonzero(kept == found.rule(present))[0]
        except Exception as error:
            raise SoberError(
                "E117",
                "`refit` selects the winner, so it is called again on each resample of the folds. It failed there: "
                f"{type(error).__name__}: {error}. Pass metric= to judge the highest mean instead.",
            ) from error
    return winners


def _notes(found: FoldScores, n_kept: int) -> list[Note]:
    n_all, k = found.first.shape[1], found.n_folds
    out = [
        Note(
            "W211",
            f"Only the scores of {k} folds are known, so folds were resampled (BBC-F). Out-of-fold predictions give a "
            "narrower interval: BBCSearchCV keeps them.",
        )
    ]
    if n_kept < n_all:
        out.append(Note("W204", f"{n_all - n_kept} of {n_all} configurations failed on some fold and were left out."))
    if k < FEW_FOLDS:
        out.append(Note("W205", f"With {k} folds the interval is wide: {k} numbers say little about how scores vary."))
    if n_kept == 1:
        out.append(Note("W202", "There is one configuration only, so nothing was selected and nothing is corrected."))
    return out


#: Measures of R's tools that scikit-learn does not have, or calls otherwise.
RANGES = {
    "kappa": (-1.0, 1.0), "mcc": (-1.0, 1.0), "roc": (0.0, 1.0), "auc": (0.0, 1.0), "pr_auc": (0.0, 1.0),
    "acc": (0.0, 1.0), "sens": (0.0, 1.0), "spec": (0.0, 1.0), "bal_accuracy": (0.0, 1.0), "rsquared": (0.0, 1.0),
    "rsq": (0.0, 1.0), "f_meas": (0.0, 1.0), "neg_mmce": (-1.0, 0.0), "neg_ce": (-1.0, 0.0),
}  # fmt: skip


def range_of(name: str) -> tuple[float, float]:
    """Smallest and largest possible score by this name; infinite where nothing is known."""
    plain = name.lower().replace("classif.", "").replace("regr.", "")
    if plain in RANGES:
        return RANGES[plain]
    try:
        return metrics.get(plain).range
    except SoberError:
        return (-np.inf, 0.0) if plain.startswith("neg_") else (-np.inf, np.inf)
