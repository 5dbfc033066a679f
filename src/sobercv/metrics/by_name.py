"""Metrics by name, and the functions and scorers of scikit-learn that they stand for.

A name with or without arguments, a metric, a function (y_true, y_pred) or what `make_scorer` returned becomes a metric:
the fast one where there is one, otherwise one that calls the function. A scorer that needs the model is refused: a
table of predictions has none.

scikit-learn has no public way to look into what `make_scorer` returned. It is read defensively: only objects of exactly
the type that `make_scorer` makes are looked into, only for what a scorer must hold, and where that is not found, the
object is a scorer that needs the model, which is right for every scorer and only slower.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..containers import Array, whole_number
from ..errors import SoberError, warn
from ..responses import OUTSIDE, RESPONSES
from ..targets import TaskName
from ..threads import ignored_warnings
from . import clinic, confusion, means, ranks, survival
from .contract import Metric, Part, Registry

MAX_CALLS = 1000  # of a function in one correction, unless its metric allows more
#: Names of functions of which less is better.
_LOSS = re.compile(
    r"(?i)(?!.*(neg|minus|inv))(.*_)?(n?r?mse|r?msle|mae|medae|[sw]?mape|mase|sse|brier(_score)?|err|errors?(_rate)?|"
    r"(log_?)?loss|deviance)(_score|_metric|_func|_fn)?"
)
#: The registry: every metric by name.
METRICS: Registry = means.METRICS | confusion.METRICS | ranks.METRICS | survival.METRICS | clinic.METRICS
#: Names of scikit-learn for a metric with arguments.
_SHORT = {spelled: name for name, spelled in METRICS.items() if isinstance(spelled, str)}


def names() -> list[str]:
    """List the names of the metrics that have a fast path and need no argument, sorted."""
    return sorted(n for n in METRICS if all(p.default is not p.empty for p in parameters(METRICS[n]).values()))


def get(metric: str | Metric | Callable[..., Any], **arguments: Any) -> Metric:
    """Find a metric.

    Parameters
    ----------
    metric : str, Metric or callable
        A name of `sobercv.metrics.names()`, with arguments where it takes any ("fbeta(beta=2)"), any scoring string of
        scikit-learn, a metric, a function (y_true, y_pred) -> float, or what scikit-learn's `make_scorer` returned.
    **arguments
        Of a metric that is given by its name: `get("fbeta", beta=2)`.

    Returns
    -------
    Metric

    Examples
    --------
    >>> import sobercv
    >>> sobercv.metrics.get("fbeta", beta=2)
    <metric fbeta(beta=2)>
    """
    if not isinstance(metric, str):
        kind = type(metric).__name__
        if arguments:
            raise SoberError("E105", f"Arguments go with the name of a metric; got {kind}. Write a name.")
        if not isinstance(metric, Metric) and not callable(metric):
            raise SoberError("E105", f"`metric` must be a name, a function or a metric; got {kind}.")
        return metric if isinstance(metric, Metric) else make_metric(metric)
    name, written = _parsed(metric) if metric.rstrip().endswith(")") else (metric, {})
    found = METRICS[name] if name in METRICS else _other(name)
    allowed = parameters(found)
    given = {key: _plain(value) for key, value in (written | arguments).items()}
    unknown = next((key for key in given if key not in allowed), None)
    if unknown is not None:
        import sklearn.metrics

        function = f"{name.removesuffix('_score')}_score"
        known = inspect.signature(getattr(sklearn.metrics, function, lambda: None)).parameters
        hint = f" Pass make_scorer({function}, {unknown}=...)." if unknown in known else ""
        takes = ", ".join(allowed) or "no arguments"
        raise SoberError("E122", f"{name} takes {takes}; got `{unknown}`.{hint}")
    if isinstance(found, str):
        return get(found)
    missing = [key for key, p in allowed.items() if p.default is p.empty and key not in given]
    if missing:
        raise SoberError("E113", f"{name} needs `{missing[0]}`. Write {name}({missing[0]}=...).")
    told = {key: given[key] for key, p in allowed.items() if key in given and not _same(given[key], p.default)}
    spelled = f"{name}({', '.join(f'{key}={value!r}' for key, value in told.items())})" if told else name
    return replace(found if isinstance(found, Metric) else found(**told), name=_SHORT.get(spelled, spelled))


def _plain(value: Any) -> Any:
    """Numbers and lists of numpy as Python's own, which can be written down and read again."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return list(value) if isinstance(value, (tuple, range)) else value


def _same(value: Any, default: Any) -> bool:
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (value, default))
    return value is default or ((numbers or type(value) is type(default)) and bool(value == default))


def _parsed(written: str) -> tuple[str, dict[str, Any]]:
    """Take "fbeta(beta=2)" apart."""
    try:
        call = ast.parse(written.strip(), mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            return call.func.id, {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        pass
    hint = "Write name=value pairs separated by commas: 'fbeta(beta=2)'."
    raise SoberError("E105", f"{written!r} is not a name with arguments. {hint}")


@lru_cache(maxsize=64)
def _other(name: str) -> Metric:
    import sklearn.metrics

    known = set(sklearn.metrics.get_scorer_names())
    if name in known:
        return make_metric(sklearn.metrics.get_scorer(name), name=name)
    known |= set(METRICS)
    # People also drop scikit-learn's "neg_" and write initials.
    written = name.lower().replace("-", "_").removeprefix("classif.").removeprefix("regr.")
    close = difflib.get_close_matches(written, sorted(known), n=3, cutoff=0.6)
    close += [full for full in (f"neg_{name}", f"neg_mean_{name}") if full in known and full not in close]
    short = {
        **dict.fromkeys(("auc", "auroc", "auc_roc", "aucroc", "rocauc"), "roc_auc"), "acc": "accuracy",
        "mse": "neg_mean_squared_error", "rmse": "neg_root_mean_squared_error",
        "mae": "neg_mean_absolute_error", "cindex": "concordance_index", "c_index": "concordance_index",
        "mcc": "matthews_corrcoef", "logloss": "neg_log_loss", "mn_log_loss": "neg_log_loss", "ce": "accuracy",
        **dict.fromkeys(("brier", "bbrier", "brier_class"), "neg_brier_score"), "sens": "recall",
        "spec": "specificity", "f_meas": "f1", "kap": "cohen_kappa", "kappa": "cohen_kappa",
    }  # fmt: skip
    close = [short[written]] if written in short else close
    some = "Some are roc_auc, accuracy, f1, r2 and concordance_index; sobercv.metrics.names() lists all."
    hint = f"Did you mean {' or '.join(close)}?" if close else some
    function = name.removeprefix("neg_")
    has_name = written in short or {f"neg_{name}", name.removesuffix("_score")} & known
    if hasattr(sklearn.metrics, function) and not has_name:
        loss = ", greater_is_better=False" if function.endswith(("_loss", "_deviance", "_error")) else ""
        hint = f"Pass scikit-learn's function: make_scorer({function}{loss})."
    raise SoberError("E105", f"There is no metric called {name!r}. {hint}")


def make_metric(
    function: Callable[..., Any] | str,
    *,
    name: str | None = None,
    greater_is_better: bool | None = None,
    response: str | None = None,
    task: TaskName | None = None,
    max_calls: int = MAX_CALLS,
    range: tuple[float, float] | None = None,
) -> Metric:
    """Make a metric of your own function, for `sobercv.bbc` and `sobercv.BBCSearchCV`.

    scikit-learn's functions, and `partial` of them, are recognised and become the fast metrics that they are. Any other
    function is called for every resample and configuration, which is far slower.

    Parameters
    ----------
    function : callable or str
        `f(y_true, y_pred) -> float`, what scikit-learn's `make_scorer` returned, or the name of a metric.
        Raise ValueError, or return NaN, where it is not defined.
    name : str, optional
        How it is called in results (default: the name of the function).
    greater_is_better : bool, optional
        False for losses: the score is negated, as scikit-learn does. Default: what a scorer says; else True, except
        for scikit-learn's own losses. A name like that of a loss warns.
    response : {"predict", "predict_proba", "decision_function"}, optional
        What the function wants as `y_pred` (default: "predict").
    task : {"classification", "regression", "survival"}, optional
        The kind of target (default: inferred from `y`).
    max_calls : int, default=1000
        How often one correction may call a function that is not recognised. Where all resamples would cost more, fewer
        are drawn, at least 100, and the estimate says so.
    range : (float, float), optional
        Smallest and largest value that the function can return, such as (0, 1); either may be infinite. Intervals stay
        within it. Default: unknown, except for functions that are recognised.

    Returns
    -------
    Metric

    Examples
    --------
    >>> import numpy as np, sobercv
    >>> def worst_error(y_true, y_pred):
    ...     return np.max(np.abs(y_true - y_pred))
    >>> sobercv.make_metric(worst_error, greater_is_better=False, task="regression")
    <metric worst_error>
    """
    if isinstance(function, str):
        if any(given is not None for given in (greater_is_better, response, task, range)):
            text = f"The metric {function!r} has its own direction, response, task and range; pass `name` only."
            raise SoberError("E122", text)
        found = get(function)
        return found if name is None else replace(found, name=name)
    if not callable(function):
        raise SoberError("E105", f"`function` must be callable or a name; got {type(function).__name__}.")
    if response is not None and response not in RESPONSES:
        raise SoberError("E122", f"`response` must be one of {', '.join(RESPONSES)}; got {response!r}.")
    max_calls, (lowest, highest) = whole_number("max_calls", max_calls), _ends(range)
    scorer = unwrap(function)
    inner, arguments, responses, says = scorer or Unwrapped(function, {}, None, None)
    while isinstance(inner, partial) and not inner.args:
        arguments, inner = {**inner.keywords, **arguments}, inner.func
    responses = responses if response is None else (response,)
    upwards = says if greater_is_better is None else greater_is_better
    own_name = getattr(inner, "__name__", None) or type(inner).__name__
    label = name or own_name
    if scorer is None and needs_model(function):
        raise SoberError(
            "E116",
            f"The scorer {label} needs the fitted model. Pass a function (y_true, y_pred) or the name of a metric.",
        )
    metric = recognise(inner, arguments, responses)
    named = label if own_name == "<lambda>" else own_name
    is_loss = bool(_LOSS.fullmatch(named)) if metric is None else not metric.greater_is_better
    if upwards is None and str(getattr(inner, "__module__", "")).startswith("sklearn."):
        upwards = not is_loss
    if is_loss and greater_is_better is None and upwards is not False:
        call = "sobercv.make_metric" if scorer is None else "make_scorer"
        warn(
            "W210",
            f"{named} is a loss by its name, but higher values count as better, so the worst configuration would win. "
            f"Write {call}({named}, greater_is_better=False).",
        )
    if metric is None:
        responses, called, pos_label = responses or ("predict",), partial(inner, **arguments), None
        if scorer and (asked := parameters(called).get("pos_label")) is not None and asked.default is not asked.empty:
            pos_label = asked.default  # the class whose column a scorer passes to its function
        return Metric(
            task=task or (None if responses[0] == "predict" else "classification"),
            core=partial(Calls, function=called, response=responses[0], pos_label=pos_label, range=(lowest, highest)),
            name=label,
            responses=responses,
            greater_is_better=upwards is not False,
            range=(-highest, -lowest) if upwards is False else (lowest, highest),
            max_calls=max_calls,
            takes_weights="sample_weight" in parameters(called),
            pos_label=pos_label,
        )
    if upwards not in (None, metric.greater_is_better):  # count up what was counted down, or reverse
        low, high = metric.range
        spelled = metric.name.removeprefix("neg_") if upwards else f"neg_{metric.name}"
        metric = replace(
            metric, name=spelled, greater_is_better=not metric.greater_is_better, range=(-high, -low), at_cuts=None
        )
    metric = metric.on_classes() if task == "classification" else metric
    return metric if name is None else replace(metric, name=name)


def _ends(given: Any) -> tuple[float, float]:
    """Return smallest and largest value of a function, infinite where no range is given."""
    if given is None:
        return -np.inf, np.inf
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        low = high = np.nan
    if not low < high:
        raise SoberError("E108", f"`range` must be two numbers, the smaller first; got {given!r}. Write (0, 1).")
    return low, high


# ---- functions and scorers of scikit-learn ---------------------------------------------------------------------------
#: Arguments of scikit-learn's functions that concern several outputs, or what is undefined here anyway.
_IGNORED = ("multioutput", "force_finite", "replace_undefined_by")


def name_of(function: Any) -> str | None:
    """Return the name of the metric that a function of scikit-learn is; None of any other."""
    if not str(getattr(function, "__module__", "")).startswith("sklearn.metrics."):
        return None
    name = str(getattr(function, "__name__", ""))
    # As scikit-learn's scorers: f1_score is f1, max_error neg_max_error, and brier_score_loss neg_brier_score.
    readings = (name, name.removesuffix("_score"), f"neg_{name}", f"neg_{name.removesuffix('_loss')}")
    return next((reading for reading in readings if reading in METRICS), None)


class Unwrapped(NamedTuple):
    """What `make_scorer` was called with; None of a plain function is what its metric says."""

    function: Any
    arguments: Mapping[str, Any]
    responses: tuple[str, ...] | None
    greater_is_better: bool | None


def unwrap(scorer: Any) -> Unwrapped | None:
    """Look into what `make_scorer` returned; None for anything else, and where it does not look as expected."""
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
    taken = list(parameters(function).values())
    places = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not places and any(p.kind is p.VAR_POSITIONAL for p in taken):
        return True  # takes anything; scikit-learn would call it with the model
    required = [p for p in places if p.default is p.empty]
    named = [p.name.lower() for p in places]
    return len(required) >= 3 or named[:1] == ["estimator"] or named[1:2] == ["x"] or named[2:3] == ["y"]


def recognise(
    function: Callable[..., Any], arguments: Mapping[str, Any], responses: tuple[str, ...] | None = None
) -> Metric | None:
    """Find the fast path of a function with arguments, computed from these responses; None where there is none."""
    name = name_of(function)
    if name is None:
        return None
    taken, defaults = parameters(METRICS[name]), inspect.signature(function).parameters
    by_label = name in confusion.METRICS  # where `labels` select classes; elsewhere the table knows them
    averages = by_label and arguments.get("average", "binary") != "binary"
    told = {}
    for key, value in arguments.items():
        ignored = key in _IGNORED or (key == "labels" and not by_label) or (key == "zero_division" and _same(value, 0))
        ignored |= key == "pos_label" and (key not in taken or averages)
        usual = key in defaults and key != "pos_label" and _same(_plain(value), defaults[key].default)
        if not (ignored or usual):
            told[key] = value
    try:
        metric = get(name, **told)
    except SoberError:  # arguments without a fast path; the function itself says what is wrong with them
        return None
    if responses in (None, metric.responses):
        return metric
    # What ranks can rank anything; all else is computed from responses of its own.
    ranks_anything = metric.pools_scores and "decision_function" in metric.responses
    if not ranks_anything and not set(responses or ()) <= set(metric.responses):
        return None
    most = 2 if responses[0] == "predict" else metric.max_classes  # labels of more classes have no order
    return replace(metric, responses=responses, max_classes=most)


def parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    """Parameters of a function; none of what is no function, or where Python does not know them."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


# ---- functions that are called --------------------------------------------------------------------------------------
class Calls:
    """Calls a function on the rows of a part, repeated as often as they were drawn: B x C calls.

    A ValueError is scikit-learn's way of saying "not defined on these samples": the score is NaN, and `complaint` is
    what the function said first, else "".
    """

    complaint = ""

    def __init__(
        self, part: Part, *, function: Callable[..., Any], response: str, pos_label: Any, range: tuple[float, float]
    ) -> None:
        self._function, self._weight, self._range = function, part.weight, range
        self._y, self._values, self._metric = part.y, part.values, part.metric
        if part.classes is None:
            return
        self._y = part.classes[part.y]
        if response == "predict":
            self._values = part.classes[part.values]
        elif part.values.ndim == 2 and pos_label is not None and pos_label == part.classes[0]:
            self._values = 1.0 - part.values if response == "predict_proba" else -part.values

    def __call__(self, counts: Array, picked: Array | None = None) -> Array:
        n = self._values.shape[1]
        asked = np.broadcast_to(np.arange(n), (len(counts), n)) if picked is None else picked[:, None]
        out = np.full(asked.shape, np.nan)
        for b, row in enumerate(counts):
            rows = np.repeat(np.arange(len(row)), row)
            for j, c in enumerate(asked[b] if len(rows) else ()):
                out[b, j] = self._score(rows, int(c))
        return out

    def _score(self, rows: Array, configuration: int) -> float:
        weight = {} if self._weight is None else {"sample_weight": self._weight[rows]}
        values = np.ascontiguousarray(self._values[rows, configuration])
        try:
            with ignored_warnings():  # thousands of calls on resamples; undefined ones come back as NaN
                value = float(self._function(self._y[rows], values, **weight))
        except SoberError:
            raise
        except ValueError as problem:
            self.complaint = self.complaint or f"{type(problem).__name__}: {problem}"
            return float("nan")
        except Exception as problem:
            raise SoberError(
                "E117",
                f"The metric {self._metric} failed with {type(problem).__name__}: {problem}. It must take "
                "(y_true, y_pred) and return one number.",
            ) from problem
        low, high = self._range
        if value < low - OUTSIDE or value > high + OUTSIDE:
            raise SoberError(
                "E117",
                f"The metric {self._metric} returned {value:g}, outside its range from {low:g} to {high:g}. Correct "
                "range= of sobercv.make_metric.",
            )
        return min(max(value, low), high) if value == value else value
