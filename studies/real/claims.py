"""Every sentence of section 6.2 that holds a number or a direction, checked against our results.

Takes the rows of a results file (one for each sub-data set), gives claims with verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..claims import Claim, as_text
from .design import LEVELS, REPEATS

Rows = list[dict[str, Any]]
SMALL = (20, 40, 60, 80, 100)
#: Which column holds the true performance of what a protocol returns.
TRUTH = dict.fromkeys(("cvt", "tt", "ncv", "bbc", "632+"), "truth bbc") | {
    p: f"truth {p}" for p in ("bbc-f", "bced", "bced50", "bbc10")
}


def sizes(rows: Rows) -> list[int]:
    """Sample sizes in the results."""
    return sorted({int(r["n"]) for r in rows})


def names(rows: Rows) -> list[str]:
    """Data sets in the results."""
    return sorted({r["data"] for r in rows})


def at(rows: Rows, n: Sequence[int] | None = None, data: str | None = None) -> Rows:
    """Only some sizes, only one data set."""
    return [r for r in rows if (n is None or r["n"] in n) and (data is None or r["data"] == data)]


def column(rows: Rows, name: str) -> np.ndarray:
    """One column."""
    return np.array([row[name] for row in rows], dtype=float)


def bias(rows: Rows, protocol: str) -> np.ndarray:
    """Estimate minus truth on every sub-data set."""
    return column(rows, protocol) - column(rows, TRUTH[protocol])


def coverage(rows: Rows, protocol: str, level: float) -> float:
    """How often the interval of this level holds the truth."""
    return float((column(rows, f"reached {protocol}") <= level + 1e-9).mean())


def miscalibration(rows: Rows, protocol: str) -> float:
    """Mean distance of the coverage from the level, over all levels."""
    return float(np.mean([abs(coverage(rows, protocol, level) - level) for level in LEVELS]))


def relative(rows: Rows, one: str, other: str) -> float:
    """Mean true performance of what one protocol returns, relative to that of another."""
    return float(column(rows, TRUTH[one]).mean() / column(rows, TRUTH[other]).mean())


def cells(rows: Rows) -> list[tuple[str, int, Rows]]:
    """Rows of every data set and size."""
    return [(d, n, part) for d in names(rows) for n in sizes(rows) if (part := at(rows, (n,), d))]


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _side(values: np.ndarray, above: bool, of: float = 0.0) -> bool | None:
    """Whether the mean lies on this side; None where it does not, but two standard errors would carry it there."""
    mean, error = mean_and_error(values)
    if (mean > of) == above:
        return True
    return None if not abs(mean - of) > 2 * error else False


def _all(verdicts: Sequence[bool | None]) -> bool | None:
    return False if False in verdicts else None if None in verdicts else True


def _pm(values: np.ndarray) -> str:
    mean, error = mean_and_error(values)
    return f"{mean:+.3f} ± {2 * error:.3f}"


def _by_n(rows: Rows, protocol: str) -> str:
    return ", ".join(f"{bias(at(rows, (n,)), protocol).mean():+.3f} (N = {n})" for n in sizes(rows))


def claims(rows: Rows) -> list[Claim]:
    """All claims of the section that the results can speak to."""
    return [*_plain(rows), *_tt(rows), *_low_bias(rows), *_dropping(rows), *_repeats(rows), *_intervals(rows)]


def _plain(rows: Rows) -> list[Claim]:
    where = "6.2.1, fig. 2"
    small = [n for n in sizes(rows) if n <= 100]
    up = _all([_side(bias(at(rows, (n,)), "cvt"), True) for n in small])
    found = [
        Claim(where, "CVT is optimistic for N up to 100", "> 0", _by_n(at(rows, small), "cvt"), up),
    ]
    first, last = sizes(rows)[0], sizes(rows)[-1]
    a, b = (float(bias(at(rows, (n,)), "cvt").mean()) for n in (first, last))
    found.append(
        Claim(
            where,
            "the bias of CVT tends to zero",
            "falling",
            f"{a:+.3f} (N = {first}) to {b:+.3f} (N = {last})",
            abs(b) < abs(a) / 2,
        )
    )
    return found


def _tt(rows: Rows) -> list[Claim]:
    where = "6.2.1, fig. 2"
    found = []
    if at(rows, (20,)):
        values = bias(at(rows, (20,)), "tt")
        found.append(Claim(where, "TT over-estimates for N = 20", "> 0", _pm(values), _side(values, True)))
    large = [n for n in sizes(rows) if n >= 60]
    if large:
        down = _all([_side(bias(at(rows, (n,)), "tt"), False) for n in large])
        found.append(Claim(where, "TT over-corrects for N of 60 and more", "< 0", _by_n(at(rows, large), "tt"), down))
    protocols = ("cvt", "tt", "ncv", "bbc", "bced")
    size = {p: float(np.mean([abs(bias(part, p).mean()) for _, _, part in cells(rows)])) for p in protocols}
    worst = sorted(size, key=lambda p: -size[p])[:2]
    found.append(
        Claim(
            where,
            "TT has the worst results of all protocols except CVT",
            "CVT, then TT",
            ", ".join(f"{p.upper()} {size[p]:.3f}" for p in sorted(size, key=lambda p: -size[p])),
            set(worst) == {"cvt", "tt"},
            "mean over data sets and sizes of |bias|",
        )
    )
    return found


def _low_bias(rows: Rows) -> list[Claim]:
    where = "6.2.1, fig. 2"
    found = []
    for p in ("ncv", "bbc"):
        each = [bias(at(rows, (n,)), p) for n in sizes(rows)]
        low = _all([_side(b * np.sign(b.mean()), False, of=0.04) for b in each])
        found.append(
            Claim(
                where,
                f"{p.upper()} has low bias whatever the sample size",
                "about 0",
                _by_n(rows, p),
                low,
                "mean over data sets; agrees when no size is off by more than 0.04",
            )
        )
    conservative = [(d, n, bias(part, "bbc").mean() < 0) for d, n, part in cells(rows)]
    share = float(np.mean([c for *_, c in conservative]))
    others = ", ".join(f"{d} {n}" for d, n, c in conservative if not c) or "none"
    found.append(
        Claim(
            where,
            "BBC is mainly conservative, except for madeline at N = 40 and madelon at N = 60, 80, 100",
            "mainly",
            f"in {100 * share:.0f} % of data sets and sizes; not: {others}",
            share > 0.5,
        )
    )
    for name, paper in (("dexter", 0.033), ("madeline", 0.031)):
        if part := at(rows, (40,), name):
            mean, error = mean_and_error(bias(part, "ncv"))
            size = f"{len(part)} sub-data set" + "s" * (len(part) > 1)
            agrees = None if len(part) < 10 else bool(abs(mean - paper) < 2 * error)
            found.append(
                Claim(
                    where,
                    f"NCV is slightly optimistic for {name} at N = 40",
                    f"{paper:+.3f}",
                    f"{mean:+.3f}" if len(part) < 2 else _pm(bias(part, "ncv")),
                    agrees,
                    size,
                )
            )
    small = at(rows, SMALL)
    more = np.abs([bias(part, "bced").mean() for _, _, part in cells(small)])
    less = np.abs([bias(part, "bbc").mean() for _, _, part in cells(small)])
    found.append(
        Claim(
            where,
            "BCED has a larger bias than BBC for N up to 100, on average",
            "larger",
            f"{more.mean():.3f} against {less.mean():.3f}",
            _side(more - less, True),
            "mean |bias|, no guard",
        )
    )
    if large := at(rows, (500,)):
        gap = bias(large, "bced") - bias(large, "bbc")
        found.append(
            Claim(
                where,
                "for N = 500 the bias of BCED is identical to that of BBC",
                "0",
                _pm(gap),
                abs(gap.mean()) < 0.005,
            )
        )
    return found


def _dropping(rows: Rows) -> list[Claim]:
    where = "6.2.2, fig. 3"
    found = []
    small = [(1 - relative(part, "bced", "bbc"), d, n) for d, n, part in cells(at(rows, SMALL))]
    guarded = [(1 - relative(part, "bced50", "bbc"), d, n) for d, n, part in cells(at(rows, SMALL))]
    worst = max(small)
    average, average_guarded = (float(np.mean([loss for loss, *_ in each])) for each in (small, guarded))
    found.append(
        Claim(
            where,
            "without a guard BCED loses performance for N up to 100, at worst (dexter, N = 40)",
            "9.05 %",
            f"{100 * worst[0]:.2f} % ({worst[1]}, N = {worst[2]}); {100 * average:.2f} % on average",
            worst[0] > 0.02,
        )
    )
    found.append(
        Claim(
            where,
            "a guard of 50 predictions avoids that loss",
            "recommended",
            f"{100 * max(guarded)[0]:.2f} % at worst; {100 * average_guarded:.2f} % on average",
            max(guarded)[0] < worst[0] and average_guarded < 0.005,
        )
    )
    gone = 1 - column(at(rows, SMALL), "alive bced")
    found.append(
        Claim(
            where,
            "for N up to 100 most configurations are dropped in the first couple of folds",
            "> 95 %",
            f"{100 * gone.mean():.0f} % after two folds",
            bool(gone.mean() > 0.5),
            "agrees when it is most of them; see below",
        )
    )
    losses = {
        "sylvine": 0.0,
        "philippine": 0.0,
        "madeline": 0.0,
        "christine": 0.0,
        "gina": 0.0,
        "gisette": 0.44,
        "jasmine": 0.15,
        "madelon": 1.4,
    }
    for d, _, part in cells(at(rows, (500,))):
        loss = 100 * (1 - relative(part, "bced", "bbc"))
        paper = losses.get(d, 0.0)
        found.append(
            Claim(
                where,
                f"loss of BCED at N = 500: {d}",
                f"{paper:g} %",
                f"{loss:.2f} %",
                loss < paper + 0.5,
                "agrees when at most half a percent more",
            )
        )
    if large := at(rows, (500,)):
        ups = {d: float(1 / column(part, "models bced").mean()) for d, _, part in cells(large)}
        listed = ", ".join(f"{d} {u:.1f}" for d, u in ups.items())
        inside = [u for u in ups.values() if 2 <= u <= 10]
        found.append(
            Claim(
                "6.2.2, fig. 4",
                "BCED is 2 to 5 times faster than CVT at N = 500, up to 10",
                "2 to 5, up to 10",
                listed,
                len(inside) > len(ups) / 2,
                "ratio of models trained",
            )
        )
    return found


def _repeats(rows: Rows) -> list[Claim]:
    where = "6.2.3, fig. 5"
    found: list[Claim] = []
    if f"width {REPEATS - 1}" not in rows[0]:
        return found
    for says, protocol, n in (
        (
            "10 repeats return an equally good or better model than one, for N of 40 and more",
            "bbc",
            [n for n in sizes(rows) if n >= 40],
        ),
        (
            "10 repeats return a better model than NCV, for N of 40 and more (except philippine, jasmine)",
            "ncv",
            [n for n in sizes(rows) if n >= 40],
        ),
    ):
        parts = [
            (d, m, part) for d, m, part in cells(at(rows, n)) if protocol == "bbc" or d not in ("philippine", "jasmine")
        ]
        gains = [relative(part, "bbc10", protocol) - 1 for *_, part in parts]
        every = [r for *_, part in parts for r in part]
        difference = column(every, "truth bbc10") - column(every, TRUTH[protocol])
        good = float(np.mean([g > -0.0025 for g in gains]))
        found.append(
            Claim(
                where,
                says,
                "systematically",
                f"{_pm(difference)} AUC; not worse in {100 * good:.0f} % of data sets and sizes",
                bool(difference.mean() > 0 and good > 0.5),
                "not worse: by less than a quarter of a percent",
            )
        )
    gap = bias(rows, "bbc10") - bias(rows, "bbc")
    found.append(
        Claim(
            where, "the bias with 10 repeats is similar to that with one", "similar", _pm(gap), abs(gap.mean()) < 0.02
        )
    )
    return found


def _intervals(rows: Rows) -> list[Claim]:
    where = "6.2.4, fig. 6"
    found = []
    for n, says in (
        (20, "the intervals of BBC are conservative for N = 20"),
        (100, "and still conservative for N = 100"),
    ):
        if part := at(rows, (n,)):
            over = float(np.mean([coverage(part, "bbc", level) - level for level in LEVELS]))
            eighty, ninety_five = (100 * coverage(part, "bbc", level) for level in (0.8, 0.95))
            covered = f"80 % interval covers {eighty:.0f} %, 95 % covers {ninety_five:.0f} %"
            found.append(
                Claim(
                    where,
                    says,
                    "coverage above level",
                    covered,
                    over > 0,
                    f"{len(part)} sub-data sets; mean over levels {over:+.2f}",
                )
            )
    if f"width {REPEATS - 1}" not in rows[0]:
        return found
    small = at(rows, SMALL)
    found.append(
        Claim(
            where,
            "10 repeats bring coverage closer to its level",
            "closer",
            f"mean distance {miscalibration(small, 'bbc10'):.3f} against {miscalibration(small, 'bbc'):.3f}",
            miscalibration(small, "bbc10") < miscalibration(small, "bbc"),
            "N up to 100",
        )
    )
    one, four, ten = (column(small, f"width {r}" if r < REPEATS else "width bbc10").mean() for r in (1, 4, REPEATS))
    found.append(
        Claim(
            "6.2.4, fig. 7",
            "10 repeats greatly shrink the intervals, for N up to 100",
            "shrink",
            f"mean width {one:.3f} to {ten:.3f}",
            bool(ten < 0.95 * one),
        )
    )
    found.append(
        Claim(
            "6.2.4, fig. 7",
            "3 to 4 repeats suffice",
            "most of the gain",
            f"{100 * (one - four) / (one - ten):.0f} % of it with 4",
            bool((one - four) > 0.7 * (one - ten)),
        )
    )
    by_n = [column(at(rows, (n,)), "width bbc").mean() for n in sizes(rows)]
    found.append(
        Claim(
            "6.2.4, fig. 7",
            "intervals shrink with the sample size",
            "falling in N",
            " > ".join(f"{w:.2f}" for w in by_n),
            bool(np.all(np.diff(by_n) < 0)),
        )
    )
    if large := at(rows, (500,)):
        over = float(np.mean([coverage(large, "bbc10", level) - level for level in LEVELS]))
        found.append(
            Claim(
                where,
                "for N = 500 the intervals of BCED and of 10 repeats are not conservative",
                "coverage below level",
                f"mean over levels {over:+.2f} (10 repeats)",
                over < 0 if len(large) >= 50 else None,
                f"{len(large)} sub-data sets",
            )
        )
    return found


def table_of(rows: Rows) -> str:
    """The claims for a terminal."""
    return as_text(claims(rows))
