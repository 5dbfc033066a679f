"""Numbers and names as readers see them, the same in every renderer.

Takes values, gives short text; never computes anything that is not about writing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from ..targets import titled
from .records import ConfigurationRow, Score

LABELS = {
    "roc_auc": "ROC AUC",
    "roc_auc_ovr": "ROC AUC, one class against the rest",
    "roc_auc_ovo": "ROC AUC, class against class",
    "average_precision": "Average precision",
    "f1": "F1",
    "r2": "R\u00b2",
    "ppv": "PPV",
    "npv": "NPV",
    "concordance_index_ipcw": "Concordance index (Uno)",
    "concordance_index": "Concordance index",
    "matthews_corrcoef": "Matthews correlation",
}
NOTHING, MINUS = "\u2013", "\u2212"
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
    return label[:1].lower() + label[1:] if label[1:2].islower() and not label.startswith("Matthews") else label


def clean(value: Any, longest: int = 300) -> str:
    """One line of text that any file can hold, cut where it is too long."""
    text = _UNWRITABLE.sub("\ufffd", " ".join(str(value).split()))
    return text if len(text) <= longest else text[: longest - 1] + "\u2026"


def class_name(label: Any) -> str:
    """Name a class; a bare number says nothing."""
    return clean(label if isinstance(label, str) else f"class {label}", 60)


def digits_for(values: Iterable[float]) -> int:
    """Give the decimals that a score needs: three for shares, fewer for large numbers, more where ends would blur."""
    known = [abs(v) for v in values if math.isfinite(v)]
    largest = max(known, default=0.0)
    if largest >= 10:
        return max(0, 3 - math.floor(math.log10(largest)))
    digits = 3
    while digits < 5 and (0 < largest < 10 ** (1 - digits) or any(_blurs(v, digits) for v in known)):
        digits += 1
    return digits


def _blurs(value: float, digits: int) -> bool:
    """Whether a number that is not 1 would be written as 1."""
    return value < 1 and round(value, digits) == 1 and 1 - value > 1e-5


def number(value: float | None, digits: int = 3) -> str:
    """Write a score."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:z,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int = 3) -> str:
    """Write a difference."""
    return f"{value:+z,.{digits}f}".replace("-", MINUS)


def apart(naive: float, value: float, digits: int) -> float:
    """How far two numbers are apart as they are written, so that whoever subtracts finds the same."""
    return round(naive, digits) - round(value, digits)


def off_by(score: Score) -> str:
    """Write how far plain cross-validation is off, the same in every output."""
    return signed(apart(score.naive, score.value, score.digits), score.digits)


def gap(score: Score) -> str:
    """Say how far plain cross-validation is off, as the two numbers are written."""
    difference = apart(score.naive, score.value, score.digits)
    if abs(difference) < 0.5 * 10.0**-score.digits:
        return "the same to the last digit shown"
    return f"{number(abs(difference), score.digits)} {'too good' if difference > 0 else 'lower'}"


def between(bounds: Iterable[float | None], digits: int = 3) -> str:
    """Write an interval."""
    low, high = bounds
    return f"{number(low, digits)} to {number(high, digits)}"


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


def seconds(value: float) -> str:
    """Write a duration."""
    if value < 0.0995:
        return f"{1000 * value:.{0 if value >= 0.01 else 1}f} ms"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def status(row: ConfigurationRow) -> str:
    """Say what became of a configuration."""
    if row.is_winner:
        return "winner"
    if row.dropped_after is None:
        return row.status
    return f"dropped after round {row.dropped_after}" + ("" if row.p is None else f" ({_sure(row.p)} sure)")


def _sure(p: float) -> str:
    """Write how sure a rule was; nobody is quite sure."""
    return ">99.9 %" if p > 0.9994 else f"{100 * p:.1f} %"


def parameters(params: dict[str, Any], short: dict[str, str]) -> str:
    """Write the parameters of a configuration, by their short names."""
    return clean(", ".join(f"{short[name]}={_value(value)}" for name, value in params.items())) or "(defaults)"


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Leave out the step (`model__C` becomes `C`) wherever the rest alone says which parameter is meant."""
    every = sorted(set(names))
    tails = [name.rpartition("__")[2] for name in every]
    return {name: tail if tails.count(tail) == 1 else name for name, tail in zip(every, tails, strict=True)}


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return repr(value.item()) if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else repr(value)
