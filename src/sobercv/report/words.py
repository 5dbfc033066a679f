"""Numbers, names, models and parameters as readers see them: one way to write each, in every output."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..targets import titled

LABELS = {
    "roc_auc": "ROC AUC",
    "roc_auc_ovr": "ROC AUC, one class against the rest",
    "roc_auc_ovo": "ROC AUC, class against class",
    "r2": "R\u00b2",
    "ppv": "PPV",
    "npv": "NPV",
    "concordance_index_ipcw": "Concordance index (Uno)",
    "matthews_corrcoef": "Matthews correlation",
    "neg_brier_score": "Negative Brier score",
}
NOTHING = "\u2013"
#: Half of a pair, or a control character: no file could hold it, and no reader could read it.
_UNWRITABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")


def metric_label(name: str, positive: Any = None) -> str:
    """Write a metric's name for people, and the class that it is of where it depends on one."""
    base, _, arguments = name.partition("(")
    words = clean(base.removeprefix("neg_").replace("_", " "))
    plain = f"Negative {words}" if base.startswith("neg_") else words[:1].upper() + words[1:]
    given = clean(f" ({arguments}".replace("=", " ")) if arguments else ""
    return titled(f"{LABELS.get(base, plain)}{given and ' '}{given}", None if positive is None else clean(positive, 60))


def within(label: str) -> str:
    """Write the label of a metric in the middle of a line: balanced accuracy, but ROC AUC, R\u00b2 and F1."""
    keeps_its_capital = not label[1:2].islower() or label.startswith(("Matthews", "Brier"))
    return label if keeps_its_capital else label[:1].lower() + label[1:]


def clean(value: Any, longest: int = 300) -> str:
    """One line of text that any file can hold, cut where it is too long."""
    text = _UNWRITABLE.sub("\ufffd", " ".join(str(value).split()))
    return text if len(text) <= longest else text[: longest - 1] + "\u2026"


def class_name(label: Any) -> str:
    """Name a class; a bare number says nothing."""
    return clean(label if isinstance(label, str) else f"class {label}", 60)


def digits_for(values: Iterable[float], gap: float = 0.0) -> int:
    """Return the decimals that scores need: three for shares, up to five where a score or a `gap` would vanish."""
    known = [abs(v) for v in values if math.isfinite(v)]
    largest = max(known, default=0.0)
    if largest >= 10:
        return max(0, 3 - math.floor(math.log10(largest)))
    for digits in (3, 4):
        vanishes = 0 < largest < 10 ** (1 - digits) or 0 < abs(gap) < 0.5 * 10**-digits
        if not vanishes and not any(v < 1 - 1e-5 and round(v, digits) == 1 for v in known):  # nor is written as 1
            return digits
    return 5


def number(value: float | None, digits: int = 3, sign: str = "") -> str:
    """Write a score or, with "+" as its sign, a difference."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:{sign}z,.{digits}f}"


def between(bounds: Iterable[float | None], digits: int = 3) -> str:
    """Write an interval."""
    low, high = bounds
    return f"{number(low, digits)} to {number(high, digits)}"


def share_with_interval(share: float | None, low: float | None, high: float | None) -> str:
    """Write a share in percent with its interval: 45 (40-50)."""
    if share is None or share != share:
        return NOTHING
    return f"{percent(share).removesuffix(' %')} ({100 * (low or 0):.0f}\u2013{100 * (high or 0):.0f})"


def percent(share: float | None) -> str:
    """Write a share; what is not quite nothing or everything is not written as such."""
    if share is None or not math.isfinite(share):
        return NOTHING
    if 0 < share < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def count(n: int, one: str, many: str = "") -> str:
    """Write so many things."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def seconds(value: float | None) -> str:
    """Write a duration."""
    if value is None:
        return NOTHING
    if value < 0.0995:
        return f"{1000 * value:.{0 if value >= 0.01 else 1}f} ms"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


#: What a model is called in a paper, by a part of its class's name; the first that fits.
FAMILIES = {
    "Dummy": "a constant baseline", "NoRisk": "a constant baseline", "Boosting": "gradient boosting",
    "SurvivalForest": "random survival forests", "Forest": "random forests", "ExtraTrees": "extremely randomised trees",
    "SurvivalSVM": "survival support vector machines", "SV": "support vector machines",
    "NB": "naive Bayes", "Neighbors": "nearest neighbours", "ElasticNetCox": "elastic-net Cox regression",
    "ElasticNetLogistic": "elastic-net logistic regression", "ElasticNet": "elastic nets",
    "Logistic": "ridge logistic regression", "Ridge": "ridge regression",
}  # fmt: skip
#: What tells two models of one family apart, by a part of their class's name, where no parameter does.
TELLING = {"kernel": "SV", "l1_ratio": "ElasticNet"}
MODEL, SELECT = "model", "select"


def family_of(model: Any) -> str:
    """Name the kind of a model; of a pipeline or a wrapper, that of the model inside."""
    model = getattr(model, "steps", [("", model)])[-1][1]
    kind = type(model).__name__
    if kind == "CalibratedClassifierCV" and model.estimator is not None:
        return f"calibrated {family_of(model.estimator)}"
    if kind == "TransformedTargetRegressor" and model.regressor is not None:
        return family_of(model.regressor)
    words = next((words for part, words in FAMILIES.items() if part in kind), kind)
    is_ridge = getattr(model, "penalty", "l2") in ("l2", "deprecated") and not getattr(model, "l1_ratio", None)
    return words if is_ridge else words.removeprefix("ridge ")


def configurations_in_words(search: Any) -> list[str]:
    """Write every configuration of a fitted search for people."""
    listed = search.cv_results_["params"]
    names = sorted({name for params in listed for name in params})
    tails = [name.rpartition("__")[2] for name in names]
    # `model__C` becomes `C` wherever that alone says which parameter is meant.
    short = {name: tail if tails.count(tail) == 1 else name for name, tail in zip(names, tails, strict=True)}
    default = getattr(search.estimator, "steps", [("", search.estimator)])[-1][1]
    return [in_words(params, short, default) for params in listed]


def in_words(params: Mapping[str, Any], short: Mapping[str, str], default: Any) -> str:
    """Write a configuration for people; `short`: names of parameters, `default`: the model if none is named."""
    given = dict(params)
    if not hasattr(given.get(MODEL), "get_params") and SELECT not in given:
        plain = {n: v.item() if hasattr(v, "item") and getattr(v, "ndim", 1) == 0 else v for n, v in given.items()}
        written = (f"{short[n]}={f'{v:.6g}' if isinstance(v, float) else repr(v)}" for n, v in plain.items())
        return clean(", ".join(written)) or "(defaults)"
    model, select = given.pop(MODEL, default), given.pop(SELECT, "passthrough")
    told = {name.rpartition("__")[2]: value for name, value in given.items()}
    inner = getattr(model, "estimator", getattr(model, "regressor", model))
    for name, kind in TELLING.items():
        if name not in told and kind in type(inner).__name__ and hasattr(inner, name):
            told[name] = getattr(inner, name)
    shown = {name: f"{v:.4g}" if isinstance(v, float) else clean(v, 60) for name, v in told.items()}
    if "roots" in shown:  # of our forests: multiples of the square root of the number of columns
        shown["columns per split"] = f"{shown.pop('roots')} \u00d7 \u221ap"
    values = ", ".join(f"{name} {value}" for name, value in shown.items())
    columns = "all columns"
    if hasattr(select, "alpha") and hasattr(select, "k"):
        columns = f"columns chosen by SES (alpha {select.alpha}, k {select.k})"
    elif select is not None and not isinstance(select, str):
        columns = f"columns chosen by {type(select).__name__}"
    return f"{family_of(model)}{f' ({values})' if values else ''}, {columns}"


#: What Markdown or the HTML in it would act on; an underscore inside a word is plain text.
_MARKDOWN = re.compile(r"[\\`*\[\]<>&|~$]|(?<!\w)_|_(?!\w)|^[#+-](?= )")


def md(text: str) -> str:
    """Write text so that Markdown shows it as it is, HTML included."""
    return _MARKDOWN.sub(r"\\\g<0>", text)
