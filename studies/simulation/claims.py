"""Every sentence of section 6.1 that holds a number or a direction, checked against our results.

Takes the rows of `results.csv`, gives claims with verdicts.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..claims import Claim, as_text, told

Rows = list[dict[str, float]]


def column(rows: Rows, name: str) -> np.ndarray:
    """One column of the results."""
    return np.array([row[name] for row in rows])


def _mean(rows: Rows, name: str, error: str) -> tuple[float, float]:
    """Mean over settings and its Monte Carlo error."""
    return float(column(rows, name).mean()), float(np.sqrt((column(rows, error) ** 2).sum()) / len(rows))


def _along(rows: Rows, key: str, name: str, error: str) -> list[tuple[float, float]]:
    """Mean over settings and its error, for each value of a column in rising order."""
    return [_mean(_at(rows, key, value), name, error) for value in sorted({row[key] for row in rows})]


def _falling(steps: list[tuple[float, float]]) -> bool | None:
    """Whether each mean is lower than the one before."""
    rises = [(b - a, float(np.hypot(e, f))) for (a, e), (b, f) in pairwise(steps)]
    answers = [told(rise, error) for rise, error in rises]
    return False if False in answers else None if None in answers else True


def _pm(value: float, error: float) -> str:
    return f"{value:+.4f} ± {2 * error:.4f}"


def _at(rows: Rows, name: str, *values: float) -> Rows:
    return [row for row in rows if row[name] in values]


def claims(rows: Rows) -> list[Claim]:
    """All claims of the section."""
    hard = _at(rows, "a", 9)  # the mean accuracy of 0.6 that the paper's figure shows
    return [*_naive(rows), *_tt(hard), *_ncv(rows), *_bbc(rows, hard), *_bced(rows, hard)]


def _naive(rows: Rows) -> list[Claim]:
    bias, error = column(rows, "bias naive"), column(rows, "se naive")
    # At the easiest settings the bias is smaller than its error: "all" is judged within two of them.
    all_up = told(float((-bias - 2 * error).max()), float(error[(-bias - 2 * error).argmax()]))
    along_n, along_c = (_along(rows, key, "bias naive", "se naive") for key in ("n", "c"))
    by_n, by_c = ([value for value, _ in steps] for steps in (along_n, along_c))
    n_up = int((bias > 0).sum())
    return [
        Claim("6.1", "CVT is optimistic in all settings", "all", f"{n_up} of {len(rows)}", all_up),
        Claim(
            "6.1",
            "the bias of CVT is as high as",
            "0.17",
            f"{bias.max():.3f}",
            told(abs(bias.max() - 0.17) - 0.015, error[bias.argmax()]),
        ),
        Claim(
            "6.1",
            "the smaller the sample, the more CVT overestimates",
            "falling in N",
            " > ".join(f"{b:.3f}" for b in by_n),
            _falling(along_n),
            "mean over configurations and distributions",
        ),
        Claim(
            "6.1",
            "the bias of CVT tends to 0",
            "0",
            f"{by_n[-1]:.4f} at the largest N",
            told(by_n[-1] - 0.01, along_n[-1][1]),
        ),
        Claim(
            "6.1",
            "the bias of CVT grows with the number of configurations, though little",
            "rising in C",
            " < ".join(f"{b:.3f}" for b in by_c),
            _falling([along_c[-1], along_c[0]]),
        ),
    ]


def _tt(hard: Rows) -> list[Claim]:
    found = []
    for samples, says, up in (
        ((20, 40), "TT is optimistic on average for N = 20 and 40", True),
        ((60, 80, 100), "TT over-corrects on average for N = 60, 80, 100", False),
        ((500, 1000), "TT is conservative for N of 500 and more", False),
    ):
        part = _at(hard, "n", *samples)
        if not part:
            continue
        value, error = _mean(part, "bias tt", "se tt")
        found.append(
            Claim(
                "6.1, fig. 1",
                says,
                "> 0" if up else "< 0",
                _pm(value, error),
                told(-value if up else value, error),
                "accuracy 0.6",
            )
        )
    return found


def _ncv(rows: Rows) -> list[Claim]:
    value, error = _mean(rows, "bias ncv", "se ncv")
    worst = float(np.abs(column(rows, "bias ncv")).max())
    return [
        Claim(
            "6.1",
            "NCV is almost unbiased across all sample sizes",
            "about 0",
            f"{_pm(value, error)}, worst setting {worst:.3f}",
            told(abs(value) - 0.01, error),
        )
    ]


def _bbc(rows: Rows, hard: Rows) -> list[Claim]:
    bias = column(rows, "bias bbc")
    share, widely = (float((bias < k * column(rows, "se bbc")).mean()) for k in (2, 4))
    by_n = [float(np.abs(column(_at(rows, "n", n), "bias bbc")).mean()) for n in sorted({r["n"] for r in rows})]
    last = [row["se bbc"] for row in _at(rows, "n", max(r["n"] for r in rows))]
    value, error = _mean(hard, "minus ncv bbc", "minus ncv se bbc")
    every, every_error = _mean(rows, "minus ncv bbc", "minus ncv se bbc")
    worst = min(hard, key=lambda r: r["minus ncv bbc"])
    small = min(_at(hard, "n", 20) or hard, key=lambda r: r["minus ncv bbc"])
    gap = small["minus ncv bbc"] - worst["minus ncv bbc"]  # how much worse it is elsewhere
    tt = float(np.abs(column(rows, "bias tt")).mean())
    own = float(np.abs(bias).mean())
    return [
        Claim(
            "6.1",
            "BBC is conservative",
            "in general",
            f"in {100 * share:.0f} % of settings",
            True if share > 0.9 else None if widely > 0.9 else False,
        ),
        Claim(
            "6.1",
            "the bias of BBC quickly tends to zero",
            "falling in N",
            " > ".join(f"{b:.3f}" for b in by_n),
            told(by_n[-1] - 0.25 * by_n[0], float(np.mean(last))),
        ),
        Claim(
            "6.1, fig. 1",
            "BBC is more conservative than NCV by, on average",
            "0.013",
            f"{_pm(-value, error)}; over all distributions {_pm(-every, every_error)}",
            told(abs(-value - 0.013) - 0.006, error),
            "accuracy 0.6",
        ),
        Claim(
            "6.1",
            "and at worst, for N = 20, by",
            "0.034",
            f"{-worst['minus ncv bbc']:.3f} at N = {worst['n']:.0f}, C = {worst['c']:.0f}",
            told(max(abs(-small["minus ncv bbc"] - 0.034) - 0.012, gap), small["minus ncv se bbc"]),
            "accuracy 0.6",
        ),
        Claim("6.1", "BBC is more accurate than TT overall", "|BBC| < |TT|", f"{own:.4f} against {tt:.4f}", own < tt),
    ]


def _bced(rows: Rows, hard: Rows) -> list[Claim]:
    value, error = _mean(hard, "minus ncv bced", "minus ncv se bced")
    worst = min(hard, key=lambda r: r["minus ncv bced"])
    models = column(rows, "models bced")
    return [
        Claim(
            "6.1",
            "BCED is on par with NCV: more conservative by, on average",
            "0.005",
            _pm(-value, error),
            told(abs(-value - 0.005) - 0.006, error),
            "accuracy 0.6",
        ),
        Claim(
            "6.1",
            "and at worst by",
            "0.018",
            f"{-worst['minus ncv bced']:.3f} at N = {worst['n']:.0f}, C = {worst['c']:.0f}",
            told(abs(-worst["minus ncv bced"] - 0.018) - 0.012, worst["minus ncv se bced"]),
            "accuracy 0.6",
        ),
        Claim(
            "6.1",
            "BCED trains up to one order of magnitude fewer models than CVT",
            "up to 10",
            f"{1 / models.mean():.1f} on average, {1 / models.min():.1f} at most",
            1 / models.min() > 5,
        ),
    ]


def table_of(rows: Rows) -> str:
    """The claims for a terminal."""
    return as_text(claims(rows))
