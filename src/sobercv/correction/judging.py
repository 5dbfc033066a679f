"""What a finished search left behind, whichever tool ran it, and its judgement.

Scores by fold of every configuration (`FoldScores`) are enough for BBC-F, which resamples folds; out-of-fold
predictions (`ToolPredictions`) are judged by BBC, which resamples samples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from .. import metrics, seeds
from ..containers import Array, check_level, check_order
from ..errors import Note, SoberError
from ..inference import Estimate
from ..inference.bbc import bbc
from ..inference.intervals import Calibrated, Evidence, Percentile
from ..inference.notes import adaptive, are_shares
from ..inference.selection import best
from ..inference.tables import FoldMeans
from ..inference.units import Units
from ..tables.naming import closest, quoted
from ..tables.tool_columns import GAIN, LOSS
from ..targets import classes_of, guess_task, obvious_positive

#: Below this number of folds a note says what that costs.
FEW_FOLDS = 5
#: More splits than this may be folds of several repeats.
MOST_USUAL_FOLDS = 10
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
#: Measures of R's tools that scikit-learn does not have, or calls otherwise.
RANGES = {
    r"roc|(pr_)?auc|acc|bal_accuracy|sens|spec|f_meas|rsq(uared)?|cindex|roc_aun[pu]|roc_auc_survival": (0.0, 1.0),
    "kap(pa)?|mcc": (-1.0, 1.0),
    "neg_(mm)?ce": (-1.0, 0.0),
}
ANY = (-np.inf, np.inf)
# AutoGluon calls stackers LightGBM_BAG_L2; a name that only ends in L2 may be a penalty.
_AUTOML = re.compile(r"WeightedEnsemble_L\d|_BAG_L[2-9]|StackedEnsemble_(All|Best)")  # of AutoGluon and H2O
_ENSEMBLE = re.compile(r"WeightedEnsemble|_BAG_L[2-9]|stack(ed|ing|_?ensemble)|super_?learner|blend", re.I)

#: Scores of the folds present in a resample, for each metric [F, C], -> position of the winner.
Rule = Callable[[Sequence[Array]], int]


@dataclass(frozen=True, eq=False, kw_only=True)
class FinishedSearch:
    """What is known of a search beside its scores or predictions."""

    params: Sequence[dict[str, Any]] | None = None  # parameters of each configuration
    n_repeats: int = 1  # number of times the samples were partitioned into folds
    is_adaptive: bool = False  # whether later configurations were chosen by the scores of earlier ones
    notes: tuple[Note, ...] = ()  # what the reader should know about how it was understood


# ---- fold scores ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class FoldScores(FinishedSearch):
    """Scores by fold of every configuration."""

    #: By metric, the one that selects first. More is better. The F = K x R folds of R repeats are listed repeat by
    #: repeat. A configuration with a NaN or an infinite score is left out, see `complete` [F, C].
    scores: Mapping[str, Array]
    names: Sequence[str] | None = None  # names of the configurations, where they have names
    #: Smallest and largest possible score by metric, where the tool knows them better than the name does.
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    test_share: float | None = None  # where test sets overlap (ShuffleSplit): their size over that of training sets
    winner: int | None = None  # position of what the tool selected; None for the highest mean
    rule: Rule | None = None  # how the tool selects; None for the highest mean
    knows_repeats: bool = True  # whether something told `n_repeats`
    advice: str = "BBCSearchCV keeps them."  # how the tool keeps out-of-fold predictions

    @property
    def first(self) -> Array:
        """Scores by the metric that selects [F, C]."""
        return next(iter(self.scores.values()))

    def complete(self) -> dict[str, Array]:
        """Scores, undefined of configurations that lack one on some fold; refuse what cannot be resampled."""
        n_folds, is_complete = len(self.first), np.isfinite(np.stack([*self.scores.values()])).all(axis=(0, 1))
        if self.n_repeats < 1 or n_folds % self.n_repeats:
            text = f"{n_folds} splits cannot be {self.n_repeats} repeats of the same number of folds. `n_repeats` is "
            raise SoberError("E108", f"{text}how often the samples were partitioned into folds.")
        if n_folds < 2 * self.n_repeats:
            text = "Every configuration was judged on one split only, so there are no folds to resample. Search again "
            text += "with cv=5 or more, or pass the hold-out predictions of all configurations to "
            raise SoberError("E307", f'{text}sobercv.bbc(y, predictions, interval="fixed_models").')
        if not is_complete.any():
            raise SoberError("E111", "No configuration has a score on every fold. Check the errors of the search.")
        if self.winner is not None and not is_complete[self.winner]:
            raise SoberError("E111", "The configuration that the search selected lacks a score on some fold.")
        return {name: np.where(is_complete, table, np.nan) for name, table in self.scores.items()}


def judge(
    found: FoldScores, *, n_bootstraps: int = 1000, confidence_level: float = 0.95, random_state: Any = 0
) -> dict[str, Estimate]:
    """Correct the winner's score for having been selected, by every metric: BBC-F within each repeat."""
    check_level(confidence_level)
    scores, seed, k = found.complete(), seeds.root(random_state), len(found.first) // found.n_repeats  # k folds
    repeats = {name: [FoldMeans(one) for one in np.split(table, found.n_repeats)] for name, table in scores.items()}
    means = {name: table.mean(axis=0) for name, table in scores.items()}
    first = next(iter(scores))
    kept = np.flatnonzero(~np.isnan(means[first]))
    ranges = {name: range_of(name, table, found.ranges.get(name)) for name, table in scores.items()}
    if ranges[first] is None:
        low, high = np.nanmin(scores[first]), np.nanmax(scores[first])
        text = f"{first} cannot have scores from {low:.6g} to {high:.6g}. Name the metric that was computed, in its "
        text += "own unit; losses that are positive have names without neg_, such as log_loss."
        raise SoberError("E102", text)
    counts = Units.of_folds(k, n_bootstraps, seed).counts(0, n_bootstraps)  # [B, K], for all repeats
    if found.rule is None:
        winners = np.array([best(one.scores(counts)) for one in repeats[first]])  # [R, B]
    else:
        winners = np.array([_by_rule(found.rule, each, kept, counts) for each in zip(*repeats.values(), strict=True)])
    winner = int(best(means[first][None])[0]) if found.winner is None else found.winner

    def estimate(name: str, at: int, chosen: Array, members: Array) -> Estimate:
        """Make an estimate for a configuration, compared with `members`, of what was chosen in each resample."""
        absent = [one.picked(counts == 0, each) for one, each in zip(repeats[name], chosen, strict=True)]  # [R, B]
        draws = np.mean(absent, axis=0)
        return Estimate(
            value=float(np.mean(draws)), naive=float(means[name][at]), method="bbc-f", metric=name, draws=draws,
            bounds=Percentile(draws, range=ranges[name] or ANY), winner=at, configurations=members,
            scores=means[name][members], winner_name=None if found.names is None else found.names[at],
            winner_params=None if found.params is None else dict(found.params[at]), n_repeats=found.n_repeats,
            n_folds=k, n_left_out=found.first.shape[1] - len(kept), seed=seed,
        )  # fmt: skip

    def alone(name: str, configuration: int) -> Estimate:
        """Judge one configuration, with nothing selected."""
        if configuration not in kept:
            text = f"There is no configuration {configuration!r} to compare with: it failed or does not exist. Name "
            raise SoberError("E122", f"{text}one of {kept[0]} to {kept[-1]}.")
        return estimate(name, configuration, np.full_like(winners, configuration), np.array([configuration]))

    notes, out = _notes(found, len(kept), k), dict[str, Estimate]()
    for name, table in scores.items():
        made = estimate(name, winner, winners, kept)
        # Repeats share samples, so that their variances are not divided; overlapping test sets have Nadeau and
        # Bengio's correction.
        spread = np.mean([one.scores(counts).var(axis=0, ddof=1) for one in repeats[name]], axis=0)
        spread *= 1.0 + k * (found.test_share or 0.0)
        seen = Evidence(
            means[name], spread, winner, made.value, alone(name, winner).value, ranges[name] or ANY, k, float(k),
            clustered=True, folds=True, trained=1.0 - 1.0 / k, draws=np.asarray(made.draws),
        )  # fmt: skip
        unknown = list[Note]()
        if ranges[name] == ANY and are_shares(table):
            close = closest(name, metrics.names()) or ["accuracy"]
            text = f"No metric is called {name!r}, so its range is unknown and the interval may reach beyond it. If "
            text += f'the scores cannot exceed 1, name the metric: correct(..., "{close[0]}").'
            unknown = [Note("W201", text)]
        out[name] = replace(
            made, value=min(made.value, made.naive) if name == first else made.value, notes=(*notes, *unknown),
            bounds=Calibrated.of(seen) or made.bounds, confidence_level=confidence_level,
            win_counts=np.bincount(winners.ravel(), minlength=len(means[name]))[kept],
            judge_alone=partial(alone, name),
        )  # fmt: skip
    return out


def _notes(found: FoldScores, n_kept: int, k: int) -> tuple[Note, ...]:
    """Say what limits an estimate from scores on `k` folds of the `n_kept` configurations that have all of them."""
    n_tried = found.first.shape[1]
    usual = next((n for n in range(MOST_USUAL_FOLDS, 1, -1) if k % n == 0), k)  # folds of one repeat
    is_unknown = not found.knows_repeats and k > MOST_USUAL_FOLDS and usual < k
    said = [
        (is_unknown, "W203", f"It is unknown whether these {k} splits are folds of several repeats. If so, the "
         f"interval is too narrow: pass n_repeats={k // usual} (on the command line --repeats {k // usual})."),
        (True, "W211", f"Only the scores of {k} folds are known, so folds were resampled (BBC-F). Out-of-fold "
         f"predictions give a narrower interval: {found.advice}"),
        (n_kept < n_tried, "W204", f"{n_tried - n_kept} of {n_tried} configurations failed or were stopped before "
         "they had a score on every fold, and were left out; if they were stopped for their scores, the estimate is "
         "slightly too good."),
        (k < FEW_FOLDS, "W205", f"With {k} folds the interval is wide: {k} numbers say little about how scores vary."),
        (n_kept == 1, "W202", "There is only one configuration, so nothing was selected or needs correction."),
    ]  # fmt: skip
    noted = [*found.notes, *([adaptive(None, n_tried)] if found.is_adaptive else [])]
    return (*noted, *(Note(code, text) for applies, code, text in said if applies))


def _by_rule(rule: Rule, repeat: Sequence[FoldMeans], kept: Array, counts: Array) -> Array:
    """Run the search's own rule on the folds of each resample of a repeat, repeated as often as they were drawn."""
    try:
        chosen = [rule([np.repeat(scores.table, row, axis=0) for scores in repeat]) for row in counts]
        return np.array([kept[kept == one][0] for one in chosen])
    except Exception as error:
        text = "`refit` selects the winner, so it is called again on each resample of the folds. It failed there: "
        text += f"{type(error).__name__}: {error}. Pass metric= to judge the highest mean instead."
        raise SoberError("E117", text) from error


def more_is_better(measure: str) -> bool | None:
    """Whether more of a measure is better, by its name; None where the name does not tell."""
    if GAIN.fullmatch(measure) or LOSS.fullmatch(measure):
        return GAIN.fullmatch(measure) is not None
    try:
        return metrics.get(measure).greater_is_better
    except SoberError:
        return None


def range_of(name: str, scores: Array, told: tuple[float, float] | None) -> tuple[float, float] | None:
    """Smallest and largest possible score, as told or by this name; infinite if unknown; None if scores exceed it."""
    plain = re.sub(r"(classif|regr|surv)\.", "", name.lower())
    told = told or next((ends for names, ends in RANGES.items() if re.fullmatch(names, plain)), None)
    try:
        low, high = told or metrics.get(plain).range
    except SoberError:  # a study may minimise what is negative
        return (-np.inf, 0.0) if plain.startswith("neg_") and np.nanmax(scores) <= 0 else ANY
    return (low, high) if low - 1e-6 <= np.nanmin(scores) and np.nanmax(scores) <= high + 1e-6 else None


# ---- predictions ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class ToolPredictions(FinishedSearch):
    """Predictions of another tool in sober's axes."""

    tool: str
    y: Array
    #: By "predict" or "predict_proba", or "" where a bare column can be either [N, C, R(, K)].
    responses: Mapping[str, Any]
    names: list[str]  # of the configurations
    groups: Array | None = None
    folds: Array | None = None

    @classmethod
    def by_model(cls, tool: str, y: Any, predictions: Mapping[str, Any], method: str, **about: Any) -> ToolPredictions:
        """Put predictions [N] or, by sorted class, [N, K] of models side by side; `about`: other attributes.

        None stands for the predictions of a model that has none.
        """
        if method not in METHODS:
            raise SoberError("E122", f"`method` must be one of {', '.join(METHODS)}; got {method!r}.")
        if not predictions:
            raise SoberError("E813", "There are no predictions. Pass those of every model that was tried, by its name.")
        check_order(y, "y", {f"predictions[{name!r}]": column for name, column in predictions.items()})
        y, lacking = np.asarray(y), [column is None for column in predictions.values()]
        classes, given = set(y.ravel().tolist()), [column for column in predictions.values() if column is not None]
        # A data frame may name its columns by class, in any order.
        are_named = [hasattr(each, "dtypes") and set(getattr(each, "columns", ())) == classes for each in given]
        columns = [np.asarray(each[sorted(classes)] if by else each) for each, by in zip(given, are_named, strict=True)]
        shapes = {column.shape for column in columns}
        if len(shapes) > 1 or any(len(shape) not in (1, 2) or shape[0] != len(y) for shape in shapes):
            text = f"Predictions of every model must be [N] or [N, K] of one shape; y has {len(y)} rows: "
            raise SoberError("E101", f"{text}{', '.join(sorted(map(str, shapes)))}.")
        stacked = np.stack(columns, axis=1)
        if any(lacking):
            stacked = np.ma.masked_array(stacked)[:, np.cumsum(np.logical_not(lacking)) - 1]
            stacked[:, lacking] = np.ma.masked
        if method == "predict_log_proba":
            method, stacked = "predict_proba", np.exp(stacked)
        if stacked.ndim == 3:
            stacked = stacked[:, :, 1] if stacked.shape[2] == 2 else stacked[:, :, None, :]
        return cls(tool, y, {method: stacked}, list(predictions), **about)

    @property
    def classes(self) -> list[Any]:
        """The classes of the truth in sorted order; an empty list where it holds numbers or times."""
        return classes_of(self.y)[1].tolist() if guess_task(self.y).task == "classification" else []

    def names_no_class(self) -> bool:
        """Whether columns hold scores of one of two classes without saying of which."""
        bare, classes = self.responses.get(""), self.classes
        if bare is None or bare.dtype.kind not in "iuf" or len(classes) != 2:
            return False
        return bare.dtype.kind == "f" or not set(np.unique(np.ma.compressed(bare)).tolist()) <= set(classes)

    def usual_metric(self) -> str:
        """Return the usual metric of the task and the kind of predictions."""
        if not self.classes:
            return "concordance_index" if guess_task(self.y).task == "survival" else "r2"
        two, bare = len(self.classes) == 2, self.responses.get("")
        if "predict_proba" in self.responses:
            return "roc_auc" if two else "roc_auc_ovr"
        are_fractions = bare is not None and bare.dtype.kind == "f"
        if are_fractions and not two and self.y.dtype.kind in "iuf":  # counts or grades, predicted as numbers
            return "r2"
        return "roc_auc" if two and (are_fractions or "decision_function" in self.responses) else "accuracy"


def judge_predictions(
    found: ToolPredictions, metric: Any = None, *, force: bool = False, pos_label: Any = None, **options: Any
) -> dict[str, Estimate]:
    """Correct the score of the winner among another tool's configurations, by every metric.

    `force`: go on where the answer could mislead; the reason becomes a note. `pos_label`: columns of scores that name
    no class are scores of it. `**options`: those of `sobercv.bbc`.
    """
    notes, is_own = list(found.notes), found.tool == "cross_val_predict"  # what callers made themselves is trusted

    def object_to(code: str, text: str) -> None:
        """Refuse to answer, or note why the answer could mislead."""
        if not force:
            raise SoberError(code, text)
        notes.append(Note(code, text))

    pattern = _AUTOML if is_own else _ENSEMBLE
    if stacked := [str(name)[:60] for name in found.names if pattern.search(str(name))]:
        text = f"{stacked[0]!r} looks like a stacked ensemble, whose predictions were fitted to the same truth; its "
        text += (
            f"score cannot be corrected. Leave it out{'' if is_own else f' with --ignore {quoted(stacked[0])}'}; an "
        )
        text += "ensemble of the others is corrected by sobercv.bbc(..., select=sobercv.greedy_ensemble())."
        object_to("E814", text)
    is_gap = np.moveaxis(np.ma.getmaskarray(next(iter(found.responses.values()))), 1, 0)
    if not is_own and sum(not gaps.all() for gaps in is_gap) < 2:
        text = "There is only one configuration, so nothing was chosen here and nothing can be corrected. Save the "
        object_to("E813", f"{text}predictions of every configuration that was tried, not of the winner alone.")
    responses, classes = dict(found.responses), found.classes
    # Scores of an unnamed class are taken as those of the greater label, as most tools write them, only where that one
    # is also the positive class by its name: 0 and 1, no and yes.
    if pos_label is None and found.names_no_class() and obvious_positive(classes) != classes[1]:
        one, other = classes
        text = f"The columns of predictions are scores of one of two classes, {str(one)!r} or {str(other)!r}, and the "
        text += "table does not say which; a wrong guess reverses every ranking. Write --positive "
        text += (
            f"{quoted(one)} if larger values mean {str(one)!r}, else --positive {quoted(other)}; in Python pos_label=."
        )
        raise SoberError("E120", text)
    if len(classes) == 2 and str(pos_label) == str(classes[0]):  # those that name classes are of the greater one
        turned = {"predict_proba": lambda values: 1.0 - values, "decision_function": lambda values: -values}
        responses = {name: turned[name](v) if name in turned else v for name, v in responses.items()}
    if len(responses) > 1 and (bare := responses.pop("", None)) is not None:  # beside others it needs a name
        are_chances = bare.dtype.kind == "f" and 0 <= bare.min() <= bare.max() <= 1 and "predict_proba" not in responses
        responses["predict_proba" if are_chances else "decision_function"] = bare
    several = [metric] if metric is not None and not isinstance(metric, (list, tuple)) else metric
    estimates: dict[str, Estimate] = bbc(
        found.y,
        responses.get("", responses),
        [metrics.get(one) if isinstance(one, str) else one for one in several or [found.usual_metric()]],
        **{"groups": found.groups, "folds": found.folds, "random_state": 0, "pos_label": pos_label, **options},
    )  # fmt: skip
    first = next(iter(estimates.values()))
    if not (is_own or force) and any(note.code == "W301" for note in first.notes):
        text = f"{found.names[first.winner][:60]!r} predicts all {len(found.y)} rows perfectly, as models do on the "
        text += "rows they were trained on. Save out-of-fold predictions; if that is what these are, add --force."
        raise SoberError("E814", text)
    if found.is_adaptive:
        notes.append(adaptive(first.n_groups or first.n_samples, first.n_configurations))
    name, params = found.names[first.winner], None if found.params is None else found.params[first.winner]
    return {  # all metrics judge the same winner
        metric: replace(
            one, winner_name=name, winner_params=params, notes=(*one.notes, *notes),
            decision=one.decision and one.decision.named(found.names),
        )
        for metric, one in estimates.items()
    }  # fmt: skip
