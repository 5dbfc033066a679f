"""Predictions: the table of out-of-sample predictions that carries data from training to inference.

Arrays from training or from outside become one checked, immutable table.
Axes, always in this order: N samples, C configurations, R repeats, K classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .containers import Array, as_array, check_order, codes_of, frame_of, has_missing, weights_of
from .errors import SoberError
from .responses import RESPONSES, is_response, read_response, with_axes
from .targets import Target, TaskName


@dataclass(frozen=True, eq=False)
class Predictions:
    """Every configuration's out-of-sample predictions, and all that is needed to score them.

    Use `Predictions.build` for arrays from outside; the constructor trusts what it is given.

    The table has N samples, C configurations, R repeats of the cross-validation, and K classes.
    """

    target: Target  #: the truth: class indices, numbers, or (event, time) records, and what they stand for
    #: Arrays [N, C, R] or [N, C, R, K] by the name of the scikit-learn method that returned them; empty where only the
    #: models were scored. Labels are class indices. With two classes a probability is that of the second class; with
    #: more, the last axis holds one for each class.
    responses: Mapping[str, Array]
    seen: Array  #: bool [N, R]: which samples have predictions; what is not seen is never read
    fold_of: Array  #: int [N, R]: the fold in which a sample was held out; meaningless where not seen
    groups: Array | None = None  #: int [N]: samples of one group are resampled together
    sample_weight: Array | None = None  #: float [N]
    configurations: Array = field(default_factory=lambda: np.empty(0, np.int64))  #: int [C]: the id of each
    folds_known: bool = True  #: False when no folds were given: then all samples count as one fold
    n_left_out: int = 0  #: configurations of the input that were left out: they lack predictions that others have
    n_dropped: int = 0  #: configurations that left a race before its end, dropped or failed, and are not in the table
    #: What the dropped configurations had predicted, one table for those dropped after the same splits; of the same
    #: samples. They take part in the correction. A part of the table has none.
    dropped: tuple[Predictions, ...] = ()

    y: Array = field(init=False)  #: values, task, classes and number of classes (or 0) of the target
    task: TaskName = field(init=False)
    classes: Array | None = field(init=False)
    n_classes: int = field(init=False)
    n_samples: int = field(init=False)  #: seen or not
    n_configurations: int = field(init=False)
    n_repeats: int = field(init=False)
    rows: Array = field(init=False)  #: indices of the samples that have a prediction in any repeat
    is_complete: bool = field(init=False)  #: whether every sample has been predicted in every repeat

    def __post_init__(self) -> None:
        n_configurations = next((int(a.shape[1]) for a in self.responses.values()), len(self.configurations))
        if len(self.configurations) != n_configurations:
            self.__dict__["configurations"] = np.arange(n_configurations)
        target, seen = self.target, self.seen
        self.__dict__.update(
            y=target.values,
            task=target.task,
            classes=target.classes,
            n_classes=target.n_classes,
            n_samples=len(target.values),
            n_configurations=n_configurations,
            n_repeats=int(seen.shape[1]),
            rows=np.flatnonzero(seen.any(axis=1)),
            is_complete=bool(seen.all()),
        )

    def labels(self) -> Array:
        """Predicted class indices [N, C, R]: as given, else the likeliest class."""
        if "predict" in self.responses:
            return self.responses["predict"]
        probabilities = self.responses["predict_proba"]
        if probabilities.ndim == 4:
            return probabilities.argmax(axis=3).astype(np.int8 if self.n_classes < 128 else np.int32)
        return (probabilities > 0.5).astype(np.int8)

    def to_frame(self) -> Any:
        """Return all predictions as a tidy data frame of pandas: one row for each sample, configuration and repeat.

        Columns are `sample`, `configuration`, `repeat`, `fold`, the truth (`y`, or `event` and `time`), and one per
        response; probabilities of more than two classes have a column for each class, `predict_proba_<class>`.
        """
        samples, repeats = np.nonzero(self.seen)
        n = self.n_configurations
        columns: dict[str, Array] = {
            "sample": np.repeat(samples, n),
            "configuration": np.tile(self.configurations, len(samples)),
            "repeat": np.repeat(repeats, n),
            "fold": np.repeat(self.fold_of[samples, repeats], n),
        }
        truth = self.y[np.repeat(samples, n)]
        if self.task == "survival":
            columns |= {"event": truth["event"], "time": truth["time"]}
        elif truth.ndim > 1:  # several outputs per sample, or none
            columns |= {f"y_{k}": column for k, column in enumerate(truth.T)}
        else:
            columns["y"] = truth if self.classes is None else self.classes[truth]
        for name, array in self.responses.items():
            long = np.moveaxis(array, 2, 1)[samples, repeats].reshape(len(samples) * n, *array.shape[3:])
            if long.ndim == 1:
                columns[name] = self.classes[long] if name == "predict" and self.classes is not None else long
            else:
                labels = range(long.shape[1]) if self.classes is None else self.classes.tolist()
                columns |= {f"{name}_{label}": long[:, k] for k, label in enumerate(labels)}
        return frame_of(columns, *(table.to_frame() for table in self.dropped))

    def take_rows(self, rows: Array) -> Predictions:
        """Keep these samples (indices or a mask)."""
        return self._cut(
            rows,
            target=self.target.take(rows),
            seen=self.seen[rows],
            fold_of=self.fold_of[rows],
            groups=None if self.groups is None else self.groups[rows],
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
        )

    def take_configurations(self, keep: Array) -> Predictions:
        """Keep these configurations (positions or a mask); they keep their ids."""
        return self._cut((slice(None), keep), configurations=self.configurations[keep])

    def take_repeat(self, repeat: int) -> Predictions:
        """Keep one repeat."""
        one = np.s_[:, repeat : repeat + 1]
        return self._cut((slice(None), *one), seen=self.seen[one], fold_of=self.fold_of[one])

    def _cut(self, place: Any, **changed: Any) -> Predictions:
        responses = {name: array[place] for name, array in self.responses.items()}
        return replace(self, responses=responses, dropped=(), **changed)

    def only_seen(self) -> Predictions:
        """Leave out the samples that no repeat has predicted yet: they are not in the table."""
        return self if len(self.rows) == self.n_samples else self.take_rows(self.rows)

    def __repr__(self) -> str:
        axes = f"{self.n_samples} samples, {self.n_configurations} configurations, {self.n_repeats} repeats"
        return f"Predictions({axes}, {self.task}, {', '.join(self.responses) or 'no responses'})"

    @classmethod
    def build(
        cls,
        y: Any,
        predictions: Any,
        *,
        task: TaskName,
        responses: Sequence[str] = ("predict",),
        folds: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
    ) -> Predictions:
        """Check and convert arrays from any tool.

        Parameters
        ----------
        y : array-like [N] or Target
            The truth: labels of any type, numbers, or a survival target.
        predictions : array-like [N], [N, C], [N, C, R] or [N, C, R, K], or a dict of those by response
            Out-of-sample predictions; numpy, pandas, polars, or a masked array where predictions are missing. NaN in
            whole folds of a configuration, where `folds` are given, or in all of it, is a trial that was pruned.
            With more than two classes [N, C, K] is understood as well. K classes come in sorted order.
        task : {"classification", "regression", "survival"}
        responses : sequence of str
            What the metric accepts, best first; decides how a bare array is read.
        folds, groups, sample_weight, pos_label
            As for `sobercv.bbc`.
        """
        target = y if isinstance(y, Target) else Target.read(y, task, pos_label=pos_label)
        given = predictions if isinstance(predictions, Mapping) else {"": predictions}
        arrays: dict[str, Array] = {}  # [N, C, R(, K)]
        present: Array | None = None  # which predictions are there [N, C, R]; None where all are
        for name, values in given.items():
            if name and not is_response(name, target):
                text = f"`predictions` has the key {name!r}; allowed are {', '.join(RESPONSES)}. For a dict of arrays "
                raise SoberError("E116", f"{text}by model, use sobercv.correct(predictions, metric, y=y, method=...).")
            arrays[name], here = with_axes(*as_array(values, "predictions"), target)
            present = here if present is None else present if here is None else present & here
        shapes = {array.shape[:3] for array in arrays.values()}
        if len(shapes) > 1:
            raise SoberError("E101", f"The arrays in `predictions` have different shapes: {sorted(shapes)}.")
        if not shapes or 0 in next(iter(shapes))[1:]:
            raise SoberError("E101", "`predictions` is empty: no configuration. Pass at least one column.")
        if hasattr(y, "reindex"):
            named = {name or "predictions": values for name, values in given.items()}
            check_order(y, "y", {**named, "groups": groups, "folds": folds, "sample_weight": sample_weight})
        n, n_configurations, n_repeats = next(iter(arrays.values())).shape[:3]
        mask: Array = np.ones((n, n_repeats), bool)
        fold_of = np.zeros((n, n_repeats), np.int64)
        if folds is not None:
            array, _ = as_array(folds, "folds")
            if array.ndim == 1:
                array = np.repeat(array[:, None], n_repeats, axis=1)
            if array.shape != (n, n_repeats):
                raise SoberError("E107", f"`folds` must be [{n}] or [{n}, {n_repeats}]; got shape {array.shape}.")
            fold_of = np.stack([codes_of(array[:, r], n, "folds") for r in range(n_repeats)], axis=1)
        keep: Array = np.ones(n_configurations, bool)
        gaps = [np.isnan(a) for a in arrays.values() if a.dtype.kind == "f" and has_missing(a)]
        pruned = _pruned(gaps, fold_of, folds is not None) if gaps else None
        if pruned is not None:
            present = pruned if present is None else present & pruned
        if present is not None:
            mask &= present.any(axis=1)
            keep = np.asarray((present | ~mask[:, None, :]).all(axis=(0, 2)))
            if not keep.any():
                problem = (
                    "No configuration has all the predictions that the others have. Keep complete samples or columns."
                )
                raise SoberError("E111", problem)
        if not mask.any():
            raise SoberError("E106", "No sample has a prediction. Pass predictions for at least some samples.")
        tensors: dict[str, Array] = {}
        for name, array in arrays.items():
            label, tensor = read_response(name, array if keep.all() else array[:, keep], mask, target, responses)
            tensors[label] = tensor
        return cls(
            target=target,
            responses=tensors,
            seen=mask,
            fold_of=fold_of,
            groups=None if groups is None else codes_of(groups, n, "groups"),
            sample_weight=weights_of(sample_weight, n),
            configurations=np.flatnonzero(keep),
            folds_known=folds is not None,
            n_left_out=int(np.sum(~keep)),
        )


def _pruned(gaps: list[Array], fold_of: Array, folds_known: bool) -> Array | None:
    """Tell what trials lack that were pruned, as NaN in whole folds: which predictions are there [N, C, R], or None.

    Where folds are not known, only a configuration without any prediction is taken for one. NaN in single rows is a
    mistake, and is refused later; so is a table in which no configuration is complete.
    """
    lacking = np.logical_or.reduce([gap if gap.ndim == 3 else gap.any(axis=3) for gap in gaps])
    incomplete = lacking.any(axis=(0, 2))
    if incomplete.all() or not (folds_known or lacking[:, incomplete].all()):
        return None
    for fold, here in zip(fold_of.T, np.moveaxis(lacking, 2, 0), strict=True):
        for rows in (fold == f for f in np.unique(fold)):
            if (here[rows].any(axis=0) & ~here[rows].all(axis=0)).any():
                return None
    return ~lacking
