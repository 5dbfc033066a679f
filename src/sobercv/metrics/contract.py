"""The contract of a metric: what it scores at a time and what it declares; the only place that knows signs and repeats.

`counts[b, i]` says how often sample i is present in resample b: scoring with counts equals scoring the data with each
sample repeated that often. Scores are `[B, C]`, and more is better. NaN means one thing only: the score is undefined on
those samples, whatever the configurations predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import threads
from ..containers import Array
from ..errors import SoberError
from ..predictions import Predictions
from ..responses import survival_at
from ..targets import Target, TaskName, guess_task
from . import blocks

if TYPE_CHECKING:
    from .confusion import AtCuts

#: Score all samples together, or fold by fold; "within_folds" compares only samples of the same fold.
Aggregate = Literal["pooled", "fold", "within_folds"]
#: A metric bound to a part, in its natural direction, where a loss stays a loss: (counts [B, N], picked [B] or None) ->
#: the score of every configuration [B, C], or that of configuration picked[b] in resample b [B, 1].
Core = Callable[[Array, Array | None], Array]

#: Metrics by name: itself, what makes it of arguments, or the name with arguments that a name is short for.
Registry = dict[str, "Metric | Callable[..., Metric] | str"]

_FEWEST = 100  # resamples: with fewer an interval of 95 % has no ends
#: Responses in words, for messages.
_WORDS = {
    "predict": "predicted labels or numbers (predict)",
    "predict_proba": "probabilities (predict_proba)",
    "decision_function": "scores (decision_function)",
}


# ---- what is scored at a time ---------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Part:
    """One repeat (or one fold of it): all its samples are present, and there is one prediction for each."""

    y: Array  # [N]
    values: Array  # [N, C] or [N, C, K]: the response that the metric asked for
    weight: Array | None  # [N]
    fold: Array  # [N], from 0; zero everywhere unless pairs are to be compared within folds only
    classes: Array | None  # [K]
    positive: int  # index of the positive class
    metric: str  # its name, for messages
    n_threads: int

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def weights(self) -> Array:
        """Weight of every sample, 1 where none is given [N]."""
        return np.ones(len(self.y)) if self.weight is None else self.weight

    def weighted(self, columns: Array) -> Array:
        """Columns [..., N] times the weights of the samples."""
        return columns if self.weight is None else columns * self.weight

    def totals(self, counts: Array) -> Array:
        """Weight of the samples present in each resample [B, 1]."""
        if self.weight is None:
            return counts.sum(axis=1, dtype=np.float64, keepdims=True)
        out = np.zeros((len(counts), 1))
        for at, end in blocks.cut(len(self.weight), blocks.ROWS):  # in pieces: counts as floats take eight times more
            out[:, 0] += counts[:, at:end].astype(np.float64) @ self.weight[at:end]
        return out


def as_counts(counts: Array) -> Array:
    """Bring counts to the smallest type that the kernels take: uint8 where they fit."""
    counts = np.asarray(counts)
    if counts.dtype == np.uint8:
        return counts
    if counts.dtype == np.bool_:
        return counts.view(np.uint8)
    if counts.size and (counts.dtype.kind not in "iu" or counts.min() < 0 or counts.max() >= 2**31):
        raise SoberError("E108", "`counts` must be whole numbers from 0 to 2,147,483,647: how often each was drawn.")
    return counts.astype(np.uint8 if counts.max(initial=0) < 256 else np.int32)


# ---- a metric -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Metric:
    """What to call good."""

    task: TaskName | None  #: None is read off the data, see `for_target`
    #: Binds to a `Part` and returns a `Core`: whatever does not depend on the resample is computed here, once. A linear
    #: metric takes several complete repeats. None where the score is one of the fitted model, given by fold.
    core: Callable[..., Core] | None
    name: str = ""  #: scikit-learn's, with arguments where there are any: `sobercv.metrics.get(name)` finds it again
    #: What it can be computed from, best first: "predict", "predict_proba", "decision_function".
    responses: tuple[str, ...] = ("predict",)
    greater_is_better: bool = True  #: False for losses: their scores are negated, here and nowhere else
    range: tuple[float, float] = (0.0, 1.0)  #: smallest and largest possible score, sign included; may be infinite
    halved_for_two: bool = False  #: whether the range is half of that for two classes
    pools_scores: bool = False  #: whether predictions of different folds are compared with each other
    linear: bool = False  #: whether it is a mean over samples: complete repeats are averaged before they are scored
    #: How often one correction may call the user's function that computes each score; None where there is none.
    max_calls: int | None = None
    takes_weights: bool = True  #: whether samples may have weights
    #: Whether more is better at all. A calibration slope is best at 1: it can be reported, not selected by.
    selects: bool = True
    reads_labels_as_numbers: bool = False  #: see `on_classes`
    times: tuple[float, ...] = ()  #: where survival probabilities are needed; see `survival_at`
    min_classes: int = 0  #: that it is defined for
    max_classes: int | None = None
    depends_on_positive: bool = False  #: whether it is another number when the other one of two classes is positive
    pos_label: Any = None  #: the positive class, where it is an argument of the metric (default: that of the target)
    #: What it is of true and false positives, for two classes; None where they alone do not tell, or where more of
    #: them is not always better.
    at_cuts: AtCuts | None = None
    #: For each response that it is computed from, what can stand for it, best first.
    wanted: tuple[tuple[str, ...], ...] = field(init=False)
    #: What rounding errors of a score are relative to, beside the score itself: 1 where the range has an end other than
    #: 0. Otherwise 0: an error has the unit of the target, and in tiny units every difference between two is tiny.
    unit: float = field(init=False)

    def __post_init__(self) -> None:
        several = tuple((survival_at(time),) for time in self.times)
        ends = [end for end in self.range if end != 0 and np.isfinite(end)]
        self.__dict__.update(wanted=several or ((self.responses,) if self.responses else ()), unit=1.0 if ends else 0.0)

    @classmethod
    def given(cls, name: str, task: TaskName | None) -> Metric:
        """Stand for a score of the fitted model itself, given by fold; more is better."""
        return cls(task=task, core=None, name=name, responses=(), range=(-np.inf, np.inf))

    def affordable(self, n_resamples: int, n_configurations: int) -> int:
        """How many of these resamples to draw; fewer only where every score calls a user's function."""
        if self.max_calls is None:
            return n_resamples
        # Each resample scores every configuration once in bag, and the winner out of bag.
        return min(n_resamples, max(_FEWEST, self.max_calls // (n_configurations + 1)))

    # ---- the two verbs -------------------------------------------------------------------------------------------
    def scores(self, predictions: Predictions, counts: Array, *, n_jobs: int | None = None) -> Array:
        """Score every configuration on every resample.

        Parameters
        ----------
        predictions : Predictions
        counts : array [B, N]
        n_jobs : int, optional
            Threads, as in scikit-learn: None is 1, -1 all cores. Changes no result.

        Returns
        -------
        array [B, C]
            More is better. NaN where undefined.
        """
        n_threads = threads.count(n_jobs)
        scorer = self.bind(predictions, n_jobs=n_jobs)
        counts = as_counts(counts)
        cut = blocks.ranges(len(counts), predictions.n_samples, n_threads) or [(0, 0)]
        return np.concatenate(blocks.run(lambda start, stop: scorer.scores(counts[start:stop]), cut, n_threads))

    def bind(
        self,
        predictions: Predictions,
        *,
        aggregate: Aggregate = "pooled",
        n_jobs: int | None = None,
    ) -> Scorer:
        """Prepare for many resamples: sort, compare and square once."""
        self.check_target(predictions.target)
        if aggregate == "within_folds" and not self.pools_scores:
            raise SoberError(
                "E114", f'aggregate="within_folds" is for metrics that rank samples; {self.name} does not.'
            )
        weight = predictions.sample_weight
        if weight is not None and not self.takes_weights:
            raise SoberError("E114", f"{self.name} does not support `sample_weight`. Leave it out.")
        if self.reads_labels_as_numbers:
            assert predictions.classes is not None
            numbers = predictions.classes.astype(np.float64)
            target, responses = Target("regression", numbers[predictions.y]), {"predict": numbers[predictions.labels()]}
            predictions = replace(predictions, target=target, responses=responses)
        values, target = self.response_of(predictions), predictions.target
        assert self.core is not None
        places, parts = list[Array | None](), list[Part]()  # rows of each part; None where all samples are in it
        for r in range(predictions.n_repeats):
            seen = np.flatnonzero(predictions.seen[:, r])  # none, in the middle of a race, of repeats to come
            fold = predictions.fold_of[seen, r] if aggregate == "fold" else np.zeros_like(seen)
            for here in (seen[fold == f] for f in np.unique(fold)):
                places.append(None if len(here) == predictions.n_samples else here)
                rows: Any = slice(None) if places[-1] is None else here
                among = np.zeros_like(here)
                if aggregate == "within_folds":
                    among = np.unique(predictions.fold_of[here, r], return_inverse=True)[1].reshape(-1)
                part = Part(
                    y=predictions.y[rows],
                    values=values[rows, :, r],
                    weight=None if weight is None else weight[rows],
                    fold=among,
                    classes=predictions.classes,
                    positive=self.positive_index(target),
                    metric=self.name,
                    n_threads=threads.count(n_jobs),
                )
                parts.append(part)
        if aggregate == "pooled" and self.linear and predictions.is_complete:
            bound: list[tuple[Array | None, Core]] = [(None, self.core(*parts))]
        else:
            bound = list(zip(places, map(self.core, parts), strict=True))
        return Scorer(self, bound, aggregate == "fold", predictions.n_configurations)

    # ---- the same metric, read otherwise --------------------------------------------------------------------------
    def for_target(self, y: Any) -> Metric:
        """Settle what depends on the target, a `Target` or the values of `y`: the task of a function, a range."""
        if self.task is None:
            return replace(self, task=y.task if isinstance(y, Target) else guess_task(y).task)
        if self.halved_for_two and isinstance(y, Target) and y.n_classes == 2:
            low, high = self.range
            return replace(self, range=(low / 2, high / 2), halved_for_two=False)
        return self

    def on_classes(self) -> Metric:
        """Take labels for numbers, as scikit-learn's regression metrics do; functions get them as they are."""
        if self.task != "regression" or self.max_calls is not None:
            return self
        return replace(self, task="classification", reads_labels_as_numbers=True)

    # ---- what it needs -------------------------------------------------------------------------------------------
    def response_of(self, predictions: Predictions) -> Array:
        """Pick the response [N, C, R(, K)] that the metric is computed from."""
        held = predictions.responses
        if self.core is None:
            raise SoberError(
                "E116", f"{self.name} needs the fitted model. Pass a function (y_true, y_pred) or the name of a metric."
            )
        found = []
        for names in self.wanted:
            name = next((name for name in names if name in held), None)
            if name is None and names[0] == "predict" and "predict_proba" in held:
                return predictions.labels()
            if name is None:
                needed, there = ([_WORDS.get(each, each) for each in some] for some in (names, held))
                raise SoberError(
                    "E116",
                    f"{self.name} is computed from {' or '.join(needed)}; the table holds only "
                    f"{', '.join(there) or 'other responses of some models'}. Add what is needed, or choose another.",
                )
            found.append(held[name])
        return np.stack(found, axis=-1) if self.times else found[0]

    def check_target(self, target: Target) -> None:
        """Refuse a kind of target, a number of classes, or classes of which the metric cannot know the positive one."""
        k, name, labels, told = target.n_classes, self.name, target.labels, self.pos_label
        if self.core is None:
            return  # a scorer of models has seen its target
        code, is_two = "E116", self.depends_on_positive and k == 2
        if target.values.ndim > 1:
            n = target.values.shape[1]
            code = "E112"
            problem = f"{name} needs one entry per sample in `y`; got {n}. BBCSearchCV takes scikit-learn's scorers."
        elif self.reads_labels_as_numbers and target.classes is not None and target.classes.dtype.kind not in "biuf":
            problem = f"{name} needs numbers; the classes are {labels[:3]}. Choose another metric."
        elif self.task not in (None, target.task):
            problem = f"{name} is a metric for {self.task}; the target is for {target.task}. Choose another."
        elif k == 1:
            code, problem = (
                "E112",
                f"`y` holds a single class, {labels[0]!r}, so there is nothing to predict. Check `y`.",
            )
        elif k < self.min_classes:
            problem = f"{name} needs at least {self.min_classes} classes in `y`; got {k}. Check `y`, or use accuracy."
        elif self.max_classes is not None and k > self.max_classes:
            several = {"roc_auc": "roc_auc_ovr", **{share: f"{share}_macro" for share in ("f1", "precision", "recall")}}
            other = several.get(name, "balanced_accuracy")
            problem = f"{name} is for {self.max_classes} classes; `y` has {k}. Choose {other} or another metric."
        elif is_two and told is None and target.positive is None:
            code, (one, other) = "E120", map(repr, labels)
            problem = f"{name} depends on the positive class, and the labels {one} and {other} do not say which is "
            problem += f"positive. Pass pos_label={one} or pos_label={other}."
        elif is_two and told is not None and told not in labels:
            code, (one, other) = "E110", map(repr, labels)
            problem = f"`pos_label` must be one of the classes ({one}, {other}); got {told!r}."
        else:
            return
        raise SoberError(code, problem)

    def positive_index(self, target: Target) -> int:
        """Return the index of the positive class; of the last one where nothing tells."""
        if self.depends_on_positive and self.pos_label is not None and target.n_classes == 2:
            return target.labels.index(self.pos_label)
        return target.n_classes - 1 if target.positive is None else target.positive

    def positive_of(self, target: Target) -> Any:
        """Return the class that a score is of, where it depends on which class is the positive one; else None."""
        if not self.depends_on_positive:
            return None
        return target.positive_label if self.pos_label is None else self.pos_label

    def __repr__(self) -> str:
        return f"<metric {self.name}>"


# ---- a metric bound to a table --------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Scorer:
    """A metric bound to a table, ready for any number of resamples; the mean over repeats or folds is taken here."""

    metric: Metric
    parts: list[tuple[Array | None, Core]]  #: rows, None where all samples are in the part, and their core
    weighs_equally: bool  #: whether all parts count the same, as folds do; repeats count by their samples
    n_configurations: int

    def picked(self, counts: Array, winners: Array) -> Array:
        """Score one configuration for each resample: counts [B, N], winners [B] -> [B]; no winner (-1) gives NaN."""
        some = winners >= 0
        if some.all():
            return self.scores(counts, winners)[:, 0]
        out = np.full(len(winners), np.nan)
        if some.any():
            out[some] = self.scores(counts[some], winners[some])[:, 0]
        return out

    def scores(self, counts: Array, winners: Array | None = None) -> Array:
        """Mean over the parts in which it is defined: counts [B, N] -> all [B, C], or one per resample [B, 1]."""
        if len(self.parts) == 1 and self.parts[0][0] is None:
            mean = self.parts[0][1](counts, winners)
        else:
            # Nothing has been seen where there is no part: every score is undefined.
            total, weight = np.zeros((2, len(counts), self.n_configurations if winners is None else 1))
            for rows, core in self.parts:
                here = counts if rows is None else counts[:, rows]
                scores = core(here, winners)
                defined = ~np.isnan(scores)
                size = 1.0 if self.weighs_equally else here.sum(axis=1, dtype=np.float64, keepdims=True)
                w = np.where(defined, size, 0.0)
                total += np.where(defined, scores, 0.0) * w
                weight += w
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = total / weight
        return mean if self.metric.greater_is_better else np.negative(mean, out=mean)

    @property
    def complaint(self) -> str:
        """What a user's function said when it first refused; "" where there is none, or where it did not."""
        return next((said for _, core in self.parts if (said := getattr(core, "complaint", ""))), "")
