"""Target: the one reading of what is to be predicted: its task, its values, its classes and the positive one.

`y` as a user holds it becomes class indices, numbers, or records of event and time; what cannot be read is refused in
one sentence. Metrics, training, presets, tables and importers all read targets here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from .containers import Array, as_array, as_numbers, distinct, has_missing, one_column
from .errors import SoberError

#: What kind of thing is predicted.
TaskName = Literal["classification", "regression", "survival"]
#: The same as people ask for it of a table or a preset, where two classes are a task of their own.
TABLE_TASKS = ("binary", "multiclass", "regression", "survival")
#: The one form in which survival targets travel.
SURVIVAL = np.dtype([("event", np.bool_), ("time", np.float64)])
#: Whole numbers with at most so many different values are classes by default.
MOST_CLASSES = 10
#: Numbers beyond this cannot be scored: the sum of their squares is no longer a number.
LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted. Use `Target.read`; the constructor trusts what it is given.

    Values are class indices, float64, or records of (event, time) [N], by `task`; [N, M] where a target has M outputs
    per sample, or none: only the models and their scorers read them.
    Class index k stands for the label `classes[k]`. Classes are sorted, but for two of which the lesser was said to be
    the positive one: then that one is second. One score per sample is always that of the second class.
    """

    task: TaskName
    values: Array
    classes: Array | None = None
    positive: int | None = None  # index of the positive class: as named, else the label 1; None where neither tells
    labels: list[Any] = field(init=False)  # the classes as a list; empty where there are none
    n_classes: int = field(init=False)  # 0 where the target is not a class

    def __post_init__(self) -> None:
        labels = [] if self.classes is None else self.classes.tolist()
        self.__dict__.update(labels=labels, n_classes=len(labels))

    @classmethod
    def read(cls, y: Any, task: TaskName, *, pos_label: Any = None) -> Target:
        """Check and encode a target.

        Parameters
        ----------
        y : array-like [N]
            Labels of any type, numbers, or a survival target: scikit-survival's structured array (event first, then
            time, whatever the names), or two columns of which exactly one holds only 0 and 1, the event. Where both
            do, the event comes first.
        task : {"classification", "regression", "survival"}
        pos_label : label, optional
            The positive one of two classes.
        """
        if task != "classification":
            if pos_label is not None:
                raise SoberError("E114", f"`pos_label` names one of two classes; this is a {task}. Leave it out.")
            return cls(task, survival_of(y) if task == "survival" else numbers_of(y))
        codes, classes = classes_of(y)
        labels = classes.tolist()
        if pos_label is not None and len(labels) != 2:
            raise SoberError("E114", f"`pos_label` names one of two classes; `y` has {len(labels)}. Leave it out.")
        if pos_label is not None and pos_label not in labels:
            raise SoberError("E110", f"`pos_label` must be {labels[0]!r} or {labels[1]!r}; got {pos_label!r}.")
        named = 1 if pos_label is None else pos_label
        positive = labels.index(named) if len(labels) == 2 and named in labels else None
        if pos_label is not None and positive == 0:  # the positive class comes second
            codes, classes, positive = 1 - codes, classes[::-1], 1
        return cls(task, codes.astype(np.int64), classes, positive)

    @classmethod
    def of_models(cls, y: Any, task: TaskName, n: int) -> Target:
        """Keep what only models and their scorers read: several outputs, dense or sparse, of n samples, or None."""
        if y is None:
            return cls(task, np.zeros((n, 0)))
        values = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        return cls(task, values.reshape(len(values), -1))

    def read_new(self, y: Any) -> Target:
        """Read the target of other samples: the same task, the same classes."""
        new = Target.read(y, self.task)
        if self.classes is None or new.classes is None:
            return new
        classes, place = self.classes, codes_among(new.classes, self.classes)
        kinds = {classes.dtype.kind, new.classes.dtype.kind}
        if place is None and (len(kinds) == 1 or not kinds & set("mM")):  # dates are not among numbers or text
            # As in scikit-learn, a label that no model has seen is one that no model gets right.
            classes = np.concatenate([classes, new.classes[[label not in self.labels for label in new.labels]]])
            place = codes_among(new.classes, classes)
        if place is None:
            raise SoberError("E110", "`y` holds labels that are not among the classes. Score on the same classes.")
        return replace(self, classes=classes, values=place.astype(np.int64)[new.values])

    def take(self, rows: Any) -> Target:
        """Keep these samples (indices, a slice or a mask); classes stay, also those that no sample is left of."""
        return replace(self, values=self.values[rows])

    @property
    def positive_label(self) -> Any:
        """The positive class as a label; None where it is not known."""
        return None if self.positive is None else self.labels[self.positive]


# ---- reading --------------------------------------------------------------------------------------------------------
def numbers_of(y: Any) -> Array:
    """Read numbers: float64, finite, and not so large that their squares overflow."""
    out = as_numbers(one_column(y, "y", "E112"), "y", "E112").astype(np.float64, copy=False)
    if not np.isfinite(out).all():
        raise SoberError("E112", "`y` holds missing or infinite values (NaN or inf). Leave those samples out.")
    largest = float(max(out.max(initial=0.0), -out.min(initial=0.0)))
    if largest > LARGEST:
        raise SoberError("E112", f"`y` holds {largest:.4g}; squares beyond {LARGEST:g} overflow. Scale `y` down.")
    return out


def classes_of(y: Any) -> tuple[Array, Array]:
    """Read labels of any type: class indices in as few bytes as they need, and the sorted classes."""
    labels = one_column(y, "y", "E112")
    if labels.dtype.names is not None:
        names = " and ".join(labels.dtype.names)
        raise SoberError("E112", f"`y` must hold labels; got records of {names}. Choose a metric for survival.")
    classes, codes = distinct(labels, "y", "E112")
    return codes.astype(np.int8 if len(classes) < 128 else np.int32), classes


def codes_among(values: Array, classes: Array) -> Array | None:
    """Turn labels into indices of classes [K], in any order; None where any of them is no class."""
    kind: Any = np.int8 if len(classes) < 128 else np.int32
    if values.dtype == object or classes.dtype == object or values.dtype.kind in "US" or classes.dtype.kind in "US":
        position = {label: k for k, label in enumerate(classes.tolist())}
        # Objects are not sorted: None or NaN among text cannot be, and is simply no class.
        distinct, inverse = (values, None) if values.dtype == object else np.unique(values, return_inverse=True)
        try:
            found = np.fromiter((position.get(v, -1) for v in distinct.ravel().tolist()), kind, distinct.size)
        except TypeError:  # a list is no label
            return None
        if (found < 0).any():
            return None
        return (found if inverse is None else found[inverse]).reshape(values.shape)
    codes = np.zeros(values.shape, kind)
    for k, label in enumerate(classes):  # comparisons beat a search where classes are few
        codes += (values == label).astype(kind) * kind(k + 1)
    return None if (codes == 0).any() else codes - kind(1)


def survival_of(y: Any) -> Array:
    """Read a survival target, see `Target.read`: records of (event, time)."""
    array, present = as_array(y, "y")
    if array.dtype.names is not None and len(array.dtype.names) == 2:
        event, time = (array[name] for name in array.dtype.names)
    elif array.ndim == 2 and array.shape[1] == 2:
        first, second = array[:, 0], array[:, 1]
        event, time = (first, second) if _are_flags(first) else (second, first)
    else:
        problem = f"A survival target has an event and a time for each sample; got shape {array.shape}."
        raise SoberError("E112", f"{problem} Pass scikit-survival's structured array or two columns.")
    if not _are_flags(event):
        raise SoberError("E112", "The event of a survival target must be 0 (censored) or 1 (observed), or a boolean.")
    out = np.empty(len(array), SURVIVAL)
    out["event"] = event.astype(bool)
    out["time"] = as_numbers(time, "y", "E112")
    if present is not None or not np.isfinite(out["time"]).all() or (out["time"] < 0).any():
        raise SoberError("E112", "The times of a survival target must be finite and not negative.")
    return out


def _are_flags(column: Array) -> bool:
    if column.dtype.kind in "biuf":
        return bool(np.isin(column, (0, 1)).all())
    return column.dtype == object and not has_missing(column) and all(v in (0, 1) for v in column.tolist())


# ---- the task -------------------------------------------------------------------------------------------------------
class Guess(NamedTuple):
    """A task inferred from values, and whether they leave no doubt."""

    task: TaskName
    is_sure: bool


def guess_task(y: Any) -> Guess:
    """Infer the task from the values of a target.

    Records and two columns are survival. Text and flags are classes; so are two whole numbers, and a few of them (at
    most ten) that each occur five times on average. All other numbers are numbers.
    """
    values, _ = as_array(y, "y")
    if values.dtype.names is not None or (values.ndim == 2 and values.shape[1] == 2):
        return Guess("survival", True)
    if values.dtype.kind not in "iuf":
        return Guess("classification", True)
    distinct = np.unique(values)
    with np.errstate(invalid="ignore"):  # NaN is refused when the target is read
        is_whole = np.array_equal(distinct, np.round(distinct))
    if not is_whole:
        return Guess("regression", True)
    if len(distinct) <= 2:
        return Guess("classification", True)
    if len(distinct) <= min(MOST_CLASSES, len(values) // 5):
        return Guess("classification", False)
    return Guess("regression", len(distinct) > 3 * MOST_CLASSES)


def is_survival(y: Any) -> bool:
    """Whether a target can be nothing else: records of two entries."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    return names is not None and len(names) == 2


def has_several_outputs(y: Any) -> bool:
    """Whether a target has more than one entry per sample (and is no survival target)."""
    if y is None or is_survival(y):
        return False
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # rows of different lengths have no shape
        return False
    return len(shape) > 2 or (len(shape) == 2 and shape[1] > 1)


def task_name(task: str) -> TaskName:
    """Return the task that one of `TABLE_TASKS` stands for."""
    return "classification" if task in ("binary", "multiclass") else task  # type: ignore[return-value]


# ---- the positive class ---------------------------------------------------------------------------------------------
#: positive/negative, in any case, with or without accents; an underscore stands for a space or a hyphen.
_PAIRS = """
    yes/no y/n ja/nein j/n oui/non o/n si/no s/n sim/nao ja/nee ja/nej ja/nei tak/nie t/n ano/ne da/nu da/ne kylla/ei
    igen/nem evet/hayir ya/tidak co/khong да/нет да/не так/ні ναι/οχι はい/いいえ 是/否 有/无 有/無
    예/아니오 نعم/لا כן/לא हाँ/नहीं
    true/false t/f wahr/falsch vrai/faux verdadero/falso vero/falso verdadeiro/falso waar/onwaar sant/falskt
    prawda/falsz
    positive/negative pos/neg p/n +/- positiv/negativ positif/negatif positivo/negativo positief/negatief
    dodatni/ujemny 阳性/阴性 陽性/陰性
    case/control cases/controls patient/control patients/controls case/ctrl fall/kontrolle patient/kontrolle cas/temoin
    cas/controle caso/control caso/controllo caso/controle geval/controle fall/kontroll 病例/对照
    disease/healthy diseased/healthy sick/healthy ill/healthy patient/healthy disease/control disease/normal sick/well
    unhealthy/healthy affected/unaffected infected/uninfected infected/healthy exposed/unexposed
    krank/gesund malade/sain enfermo/sano malato/sano doente/saudavel ziek/gezond sjuk/frisk syg/rask syk/frisk
    chory/zdrowy nemocny/zdravy
    dead/alive died/alive deceased/alive death/alive dead/living dead/survived died/survived death/survival
    died/lived deceased/survived expired/alive non_survivor/survivor nonsurvivor/survivor
    tot/lebend tot/lebendig tot/am_leben tot/lebt verstorben/lebend verstorben/lebt gestorben/lebt
    verstorben/uberlebt gestorben/uberlebt mort/vivant decede/vivant muerto/vivo fallecido/vivo morto/vivo deceduto/vivo
    obito/vivo dood/levend overleden/levend dod/levande dod/levende
    malignant/benign m/b maligne/benigne malin/benin maligno/benigno bosartig/gutartig maligne/benin
    kwaadaardig/goedaardig
    cancer/normal cancer/healthy cancer/control cancer/benign tumor/normal tumour/normal tumor/healthy krebs/gesund
    abnormal/normal anormal/normal anormale/normale auffallig/unauffallig pathologic/normal pathological/normal
    pathologisch/normal
    present/absent presence/absence vorhanden/nicht_vorhanden presente/ausente event/censored observed/censored
    spam/ham fraud/legitimate fraud/genuine attack/benign anomaly/normal defect/ok defective/ok
"""
#: X against "no X", unless X is the negative side of a pair itself: "not healthy" is not the negative of "healthy".
_NEGATIONS = """
    no not non without kein keine keinen nicht ohne sans pas_de sin senza sem nao geen niet zonder ikke ingen uten uden
    inte utan bez nie не без
"""


def titled(metric: str, positive: Any) -> str:
    """Name a metric and, where there is one, the class that it is of: `recall of "nein"`."""
    return metric if positive is None or "pos_label" in metric else f'{metric} of "{positive}"'


def obvious_positive(classes: Sequence[Any]) -> Any:
    """Return the positive one of two classes, in any order, where their names leave no doubt; None where they do.

    Examples
    --------
    >>> obvious_positive(["ja", "nein"]), obvious_positive(["Relapse", "no relapse"]), obvious_positive(["A", "B"])
    ('ja', 'Relapse', None)
    """
    if len(classes) != 2:
        return None
    for positive, negative in (classes, classes[::-1]):
        with suppress(TypeError, ValueError):
            if float(positive) == 1 and float(negative) in (0, -1):
                return positive
        word, other = _plain(positive), _plain(negative)
        is_negated = other in {f"{no}_{word}" for no in _NOT} | {f"non{word}"}
        if (word, other) in _KNOWN or (is_negated and len(word) > 2 and word not in _NEGATIVES):
            return positive
    return None


def _plain(label: Any) -> str:
    """Write a label without case, accents and outer spaces, inner spaces and hyphens as underscores."""
    text = unicodedata.normalize("NFKD", str(label).strip().casefold()).translate(_LETTERS)
    return re.sub(r"[\s_-]+", "_", "".join(c for c in text if not unicodedata.combining(c)))


_LETTERS = str.maketrans("ıłøđ", "ilod")  # letters whose strokes and dots are no accents
_KNOWN = frozenset((_plain(a), _plain(b)) for a, b in (pair.split("/") for pair in _PAIRS.split()))
_NEGATIVES = frozenset(negative for _, negative in _KNOWN)
_NOT = frozenset(map(_plain, _NEGATIONS.split()))
