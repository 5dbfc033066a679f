"""Functions and scorers of scikit-learn, recognised: the same number, by the fast path.

Takes a function (y_true, y_pred), a `partial` of one or what `make_scorer` gave, gives the metric that it stands for;
what is not recognised becomes a metric that calls it. A scorer that needs the model is refused here: a table of
predictions has none.

scikit-learn has no public way to look into what `make_scorer` gave. It is read defensively: only objects of exactly
the type that `make_scorer` makes are looked into, only for what a scorer must hold, and where that is not found, the
object is a scorer that needs the model, which is right for every scorer and only slower.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from ..errors import SoberError, warn
from ..targets import TaskName
from . import registry
from .base import Metric
from .general import MAX_CALLS, GeneralMetric


@dataclass(frozen=True)
class Known:
    """A function of scikit-learn that has a fast path.

    Attributes
    ----------
    name : str
        Of the metric.
    ignored : tuple of str
        Arguments that change nothing here: what they tell is known from the table, or concerns several outputs.
    fixed : mapping of str to value
        Arguments that have a fast path for this value only.
    """

    name: str
    ignored: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)


_MEAN = {"normalize": True}  # a sum over the samples is no mean, and means nothing where samples are left out
_SHARES = {
    "f1_score": Known("f1"),
    "fbeta_score": Known("fbeta"),
    "precision_score": Known("precision"),
    "recall_score": Known("recall"),
    "jaccard_score": Known("jaccard"),
}
_LABELS = {
    "accuracy_score": Known("accuracy", fixed=_MEAN),
    "zero_one_loss": Known("neg_zero_one_loss", fixed=_MEAN),
    "hamming_loss": Known("neg_hamming_loss"),
    "balanced_accuracy_score": Known("balanced_accuracy"),
    "matthews_corrcoef": Known("matthews_corrcoef"),
    "cohen_kappa_score": Known("cohen_kappa", ignored=("replace_undefined_by",)),
}
_GROUPS = {
    name: Known(name, fixed={"contingency": None} if name == "mutual_info_score" else {})
    for name in (
        "adjusted_mutual_info_score",
        "adjusted_rand_score",
        "completeness_score",
        "fowlkes_mallows_score",
        "homogeneity_score",
        "mutual_info_score",
        "normalized_mutual_info_score",
        "rand_score",
        "v_measure_score",
    )
}
_SCORES = {
    "log_loss": Known("neg_log_loss", ignored=("labels",), fixed=_MEAN),
    "brier_score_loss": Known("neg_brier_score", ignored=("labels", "pos_label")),
    "hinge_loss": Known("neg_hinge_loss", ignored=("labels",)),
    "top_k_accuracy_score": Known("top_k_accuracy", ignored=("labels",), fixed=_MEAN),
    "d2_log_loss_score": Known("d2_log_loss_score", ignored=("labels",)),
    "d2_brier_score": Known("d2_brier_score", ignored=("labels", "pos_label")),
    "roc_auc_score": Known("roc_auc", ignored=("labels",)),
    "average_precision_score": Known("average_precision"),
}
_ONE_OUTPUT = ("multioutput", "force_finite")
_NUMBERS = {
    function: Known(name, ignored=_ONE_OUTPUT)
    for function, name in {
        "mean_squared_error": "neg_mean_squared_error",
        "root_mean_squared_error": "neg_root_mean_squared_error",
        "mean_absolute_error": "neg_mean_absolute_error",
        "median_absolute_error": "neg_median_absolute_error",
        "mean_absolute_percentage_error": "neg_mean_absolute_percentage_error",
        "mean_squared_log_error": "neg_mean_squared_log_error",
        "root_mean_squared_log_error": "neg_root_mean_squared_log_error",
        "mean_poisson_deviance": "neg_mean_poisson_deviance",
        "mean_gamma_deviance": "neg_mean_gamma_deviance",
        "mean_tweedie_deviance": "neg_mean_tweedie_deviance",
        "mean_pinball_loss": "neg_mean_pinball_loss",
        "max_error": "neg_max_error",
        "r2_score": "r2",
        "explained_variance_score": "explained_variance",
        "d2_absolute_error_score": "d2_absolute_error_score",
        "d2_pinball_score": "d2_pinball_score",
        "d2_tweedie_score": "d2_tweedie_score",
    }.items()
}
#: Functions of `sklearn.metrics`, by their names there.
KNOWN: dict[str, Known] = _LABELS | _SHARES | _GROUPS | _SCORES | _NUMBERS


@dataclass(frozen=True, eq=False)
class Unwrapped:
    """What `make_scorer` was called with."""

    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    responses: tuple[str, ...]
    greater_is_better: bool


def unwrap(scorer: Any) -> Unwrapped | None:
    """Look into what `make_scorer` gave; None for anything else, and where it does not look as expected."""
    from sklearn.metrics import accuracy_score, make_scorer

    if type(scorer) is not type(make_scorer(accuracy_score)):
        return None
    held = vars(scorer)
    function, arguments = held.get("_score_func"), held.get("_kwargs")
    sign, response = held.get("_sign"), held.get("_response_method")
    responses = (response,) if isinstance(response, str) else tuple(response or ())
    if not callable(function) or not isinstance(arguments, dict) or sign not in (1, -1) or not responses:
        return None
    return Unwrapped(function, arguments, responses, sign == 1)


def needs_model(function: Callable[..., Any]) -> bool:
    """Whether a callable is a scorer (estimator, X, y), and no function (y_true, y_pred)."""
    if type(function).__module__.partition(".")[0] == "sklearn":
        return True  # a scorer of scikit-learn that was not unwrapped
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not places and any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True  # takes anything; scikit-learn would call it with the model
    required = [p for p in places if p.default is p.empty]
    named = [p.name.lower() for p in places]
    return len(required) >= 3 or named[:1] == ["estimator"] or named[1:2] == ["x"] or named[2:3] == ["y"]


@lru_cache(maxsize=1)
def _functions() -> list[tuple[Any, Known]]:
    """The functions themselves, as this version of scikit-learn has them."""
    import sklearn.metrics

    found = [(getattr(sklearn.metrics, name, None), known) for name, known in KNOWN.items()]
    for name in ("positive_likelihood_ratio", "neg_negative_likelihood_ratio"):  # not public but as scorers
        inside = unwrap(sklearn.metrics.get_scorer(name))
        if inside is not None:
            found.append((inside.function, Known(name)))
    return found


def recognise(
    function: Callable[..., Any], arguments: Mapping[str, Any], responses: tuple[str, ...] | None = None
) -> Metric | None:
    """Find the fast path of a function with arguments; None where there is none.

    Parameters
    ----------
    function : callable
    arguments : mapping of str to value
    responses : tuple of str, optional
        What it is to be computed from, best first; what the metric wants unless given.
    """
    inner: Any = function
    while isinstance(inner, partial) and not inner.args:
        inner, arguments = inner.func, {**inner.keywords, **arguments}
    known = next((known for one, known in _functions() if one is inner), None)
    if known is None:
        return None
    told = {key: value for key, value in arguments.items() if key not in known.ignored}
    for key, value in known.fixed.items():
        if told.pop(key, value) is not value:
            return None
    told = _translated(known.name, told)
    try:
        metric = registry.make(known.name, told)
    except SoberError:  # arguments without a fast path; whoever calls the function will say what is wrong with them
        return None
    return metric if responses is None else _computed_from(metric, responses)


def _translated(name: str, told: dict[str, Any]) -> dict[str, Any]:
    """Drop what means nothing: scikit-learn's defaults, and a positive class where none is asked for."""
    if told.get("multi_class") == "raise":
        told = {**told, "multi_class": None}
    if told.get("average", "binary") != "binary" and name in ("f1", "fbeta", "precision", "recall", "jaccard"):
        told = {key: value for key, value in told.items() if key != "pos_label"}
    return told


def _computed_from(metric: Metric, responses: tuple[str, ...]) -> Metric | None:
    """Compute a metric from what a scorer asks for, where that is possible."""
    if responses == metric.responses:
        return metric
    ranks_anything = metric.pools_scores and "decision_function" in metric.responses
    if not ranks_anything and not all(response in metric.responses for response in responses):
        return None
    made = metric.named(metric.name)
    made.responses = responses
    if responses[0] == "predict":
        made.max_classes = 2  # labels of more classes have no order
    return made


def from_callable(
    function: Callable[..., Any],
    name: str | None = None,
    greater_is_better: bool | None = None,
    response: str | None = None,
    task: TaskName | None = None,
    max_calls: int = MAX_CALLS,
) -> Metric:
    """Make a metric of a function (y_true, y_pred), or of what `make_scorer` gave."""
    inside = unwrap(function)
    if inside is not None:
        return from_scorer(function, name, task)
    label = name or getattr(function, "__name__", None) or type(function).__name__
    if needs_model(function):
        raise SoberError(
            "E130",
            f"{label} is a scorer (estimator, X, y): it needs the fitted model, and a table of predictions has none. "
            "Pass a function (y_true, y_pred), or the name of a metric.",
        )
    metric = recognise(function, {}, None if response is None else (response,))
    if metric is not None:
        metric = metric if greater_is_better is None else metric.with_sign(greater_is_better)
        return _settled(metric, name, task)
    if response in ("predict_proba", "decision_function"):
        task = task or "classification"
    better = greater_is_better is not False
    return GeneralMetric(function, label, task, (response or "predict",), better, max_calls=max_calls)


def from_scorer(scorer: Any, name: str | None = None, task: TaskName | None = None) -> Metric:
    """Make a metric of what `make_scorer` gave."""
    inside = unwrap(scorer)
    if inside is None:
        raise SoberError("E130", f"{scorer!r} needs the fitted model. Pass a function (y_true, y_pred), or a name.")
    metric = recognise(inside.function, inside.arguments, inside.responses)
    if metric is not None:
        if inside.greater_is_better and not metric.greater_is_better:
            function = getattr(inside.function, "__name__", metric.name)
            warn(
                "W210",
                f"{function} is a loss, and its scorer says that more is better, so that the worst would win. Write "
                f"make_scorer({function}, greater_is_better=False).",
            )
        return _settled(metric.with_sign(inside.greater_is_better), name, task)
    label = name or getattr(inside.function, "__name__", None) or type(inside.function).__name__
    function = partial(inside.function, **inside.arguments) if inside.arguments else inside.function
    if task is None and inside.responses[0] != "predict":
        task = "classification"
    return GeneralMetric(function, label, task, inside.responses, inside.greater_is_better, _pos_label(inside))


def _settled(metric: Metric, name: str | None, task: TaskName | None) -> Metric:
    metric = metric.on_classes() if task == "classification" else metric
    return metric if name is None else metric.named(name)


def _pos_label(inside: Unwrapped) -> Any:
    """Whose column a scorer hands to its function: what it was told, else what the function has as its default."""
    if "pos_label" in inside.arguments:
        return inside.arguments["pos_label"]
    try:
        asked = inspect.signature(inside.function).parameters.get("pos_label")
    except (TypeError, ValueError):
        return None
    return None if asked is None or asked.default is asked.empty else asked.default
