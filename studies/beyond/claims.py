"""What the paper says of two classes, asked of numbers, survival times and many classes.

Takes rows of the study, gives claims with verdicts: means over data sets and sizes, told only where two standard errors
do not reach across.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..claims import Claim
from .measure import LEVEL

Rows = Sequence[dict[str, Any]]
#: A correction is good enough where less than this is left of the score, in units of the metric (R2: of the variance).
SMALL = 0.02
TITLES = {
    "r2": "R2",
    "neg_mean_squared_error": "squared error",
    "concordance_index": "C-index",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc_ovr": "AUC, one against the rest",
}
KINDS = {"regression": "numbers", "survival": "survival", "classes": "many classes"}


def of_metric(rows: Rows, metric: str) -> list[dict[str, Any]]:
    """The rows of one metric."""
    return [row for row in rows if row["metric"] == metric]


def cells(rows: Rows, what: Any) -> np.ndarray:
    """The mean of a number in each data set and size; `what` is a function of a row. NaN is left out."""
    found: dict[tuple[str, float], list[float]] = {}
    for row in rows:
        value = what(row)
        if np.isfinite(value):
            found.setdefault((row["data"], row["n"]), []).append(value)
    return np.array([np.mean(values) for values in found.values()])


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """The mean, and twice its standard error."""
    return float(values.mean()), 2 * float(values.std(ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else np.inf


def bias(rows: Rows, protocol: str) -> tuple[float, float]:
    """Mean bias over data sets and sizes, and twice its standard error; positive is optimistic."""
    return mean_and_error(cells(rows, lambda row: row[protocol] - row["truth"]))


def rmse(rows: Rows, protocol: str) -> float:
    """Root of the mean squared error over sub-data sets."""
    return float(np.sqrt(np.nanmean([(row[protocol] - row["truth"]) ** 2 for row in rows])))


def _told(value: float, error: float, bound: float) -> bool | None:
    """Whether a value lies above a bound; None where the error reaches across."""
    return None if abs(value - bound) <= error else value > bound


def claims(rows: Rows) -> list[Claim]:
    """All claims, metric by metric."""
    found: list[Claim] = []
    for metric, title in TITLES.items():
        here = of_metric(rows, metric)
        if here:
            found += _of_one(here, f"{KINDS[here[0]['kind']]}, {title}")
    return found


def _of_one(rows: Rows, where: str) -> list[Claim]:
    optimism, error = bias(rows, "naive")
    left, left_error = bias(rows, "bbc")
    gain, gain_error = mean_and_error(
        cells(rows, lambda row: abs(row["naive"] - row["truth"]) - abs(row["bbc"] - row["truth"]))
    )
    nested, own = rmse(rows, "ncv"), rmse(rows, "bbc")
    ratio, ratio_error = mean_and_error(
        cells(rows, lambda row: (row["ncv"] - row["truth"]) ** 2 - (row["bbc"] - row["truth"]) ** 2)
    )
    covered, covered_error = mean_and_error(cells(rows, lambda row: row["covers wilson"]))
    paper = float(cells(rows, lambda row: row["covers percentile"]).mean())
    return [
        Claim(
            where,
            "plain CV of the winner is optimistic",
            "> 0",
            f"{optimism:+.3f} ± {error:.3f}",
            _told(optimism, error, 0.0),
        ),
        Claim(
            where,
            "BBC is not optimistic, and off by little",
            f"-{SMALL:g} to 0",
            f"{left:+.3f} ± {left_error:.3f}",
            _within(left, left_error),
            "agrees when zero or a little less cannot be excluded",
        ),
        Claim(
            where,
            "BBC is nearer to the truth than plain CV, table by table",
            "> 0",
            f"{gain:+.4f} ± {gain_error:.4f}",
            _told(gain, gain_error, 0.0),
            "mean distance saved",
        ),
        Claim(
            where,
            "BBC errs no more than nested selection",
            "RMSE not larger",
            f"{own:.3f} against {nested:.3f}",
            True if ratio >= 0 else _told(ratio, ratio_error, 0.0),
        ),
        Claim(
            where,
            "the 95 % interval covers",
            f"{LEVEL:g}",
            f"{covered:.3f} ± {covered_error:.3f}",
            covered + covered_error >= LEVEL - 0.02,
            f"percentile interval: {paper:.3f}",
        ),
    ]


def _within(value: float, error: float) -> bool:
    return value - error <= 0.0 and value + error >= -SMALL
