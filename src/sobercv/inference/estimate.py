"""Estimate: an honest number with all that is needed to judge it, as attributes, text, HTML and plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..containers import Array, check_level
from ..errors import Note, SoberError
from ..targets import titled
from .intervals import Interval, Percentile, compromise

if TYPE_CHECKING:
    from .difference import Difference

#: In the order in which protocols are compared.
METHODS = {
    "naive": "plain cross-validation of the winner, optimistic",
    "tt": "TT: Tibshirani and Tibshirani's correction",
    "ncv": "NCV: nested cross-validation",
    "bbc": "BBC-CV: bootstrap bias corrected",
    "bbc-f": "BBC-F: bootstrap over folds",
    "632+": "BBC.632+: between plain CV and BBC-CV",
    "wmc": "WMC: mean of all configurations, weighted by their chance to win",
    "wmcs": "WMCS: WMC of scores shrunk towards each other",
    "ipl": "IPL: winners on fewer samples, and the power law through their scores",
}


def shown(params: Mapping[str, Any], width: int = 100) -> str:
    """Parameters as people write them, on one line: ``C=10, kernel='rbf'``."""
    values = {name: value.item() if isinstance(value, np.generic) else value for name, value in params.items()}
    text = ", ".join(f"{name}={' '.join(repr(value).split())}" for name, value in values.items())
    return text if len(text) <= width else text[: width - 3] + "..."


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """How good the selected configuration is.

    Scores have scikit-learn's names and signs: more is better.

    Attributes
    ----------
    value : float
        The number to report.
    naive : float
        What plain cross-validation claims for the winner.
    method : str
        "bbc", "bbc-f", "632+", "naive", "tt" or "ncv".
    metric : str
    winner, winner_name, winner_params, configurations, scores, win_counts, decision
        What was selected, and from what.
    n_samples, n_repeats, n_groups, n_folds, n_left_out, fixed_models, seed
        What was judged, and how it was drawn.
    positive : label or None
        The class that the score is of, where it depends on which class is the positive one.
    bounds : Interval or None
        What `interval` is made of; has bounds at any level.
    confidence_level : float
    draws : array [B] or None
        Score of each resample's winner on the samples left out; NaN where undefined.
    n_undefined : int
        Draws on which the metric was undefined; they are left out of the mean.
    notes : tuple of Note
        What the reader should know: sentences, each with its code.
    single : Estimate or None
        Where several configurations were mixed, the best one alone, corrected by the same draws; see `gain`.
    judge_alone : callable or None
        Judges one configuration on the same draws; see `gain_over`. It holds the predictions, and so is not pickled.

    Examples
    --------
    >>> import sobercv
    >>> from sobercv.testing import simulate
    >>> data = simulate.beta_accuracy(n=100, c=50, seed=1)
    >>> estimate = sobercv.bbc(data.y, data.predictions, "accuracy")
    >>> estimate.interval[0] < estimate.value < estimate.interval[1]
    True
    >>> estimate.lower_bound(0.95) > estimate.interval_at(0.95)[0]  # one side is nearer than two
    True
    """

    # What was selected, and from what.
    winner: int  #: index of the selected configuration, as in the input
    #: int [C]: index of every configuration compared; dropped, failed and incomplete ones are not
    configurations: Array
    scores: Array  #: [C]: plain cross-validated score of each of them
    win_counts: Array | None = None  #: int [C]: how often each of them was selected
    winner_name: str | None = None  #: the winner's column, where the predictions came with names
    winner_params: dict[str, Any] | None = None  #: the winner's parameters, where a search found it
    #: What was decided beside the winner: a threshold, or the weights of a mix, whose best member is the winner.
    decision: Any = None
    # What was judged, and how it was drawn.
    n_samples: int = 0
    n_repeats: int = 1
    n_groups: int | None = None
    n_folds: int | None = None  #: of a repeat, where scores by fold are all that is known
    n_left_out: int = 0  #: configurations that lacked predictions and were not considered
    fixed_models: bool = False  #: whether the models were trained on other data, so that nothing was cross-validated
    seed: int | None = None  #: repeats the draws when passed as `random_state`
    # What it came to.
    value: float
    naive: float
    method: str
    metric: str
    positive: Any = None
    bounds: Interval | None = None
    confidence_level: float = 0.95
    draws: Array | None = None
    n_undefined: int = 0
    notes: tuple[Note, ...] = ()
    single: Estimate | None = None
    judge_alone: Callable[[int], Estimate] | None = None

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Two-sided interval at `confidence_level`; None for protocols that have none."""
        return None if self.bounds is None else self.interval_at(self.confidence_level)

    @property
    def interval_method(self) -> str | None:
        """How the interval was made: "percentile" or "calibrated"; None where there is none."""
        return None if self.bounds is None else self.bounds.name

    @property
    def optimism(self) -> float:
        """How much plain cross-validation overstates: `naive - value`."""
        return self.naive - self.value

    @property
    def gain(self) -> float | None:
        """How much better than the best single configuration: `value - single.value`."""
        return None if self.single is None else self.value - self.single.value

    @property
    def gain_interval(self) -> tuple[float, float] | None:
        """Interval of `gain` at `confidence_level`, as that of `sobercv.difference`."""
        from .difference import Difference

        return None if self.single is None else Difference.of(self, self.single, self.confidence_level).interval

    @property
    def n_configurations(self) -> int:
        """Number of configurations that were compared."""
        return len(self.scores)

    @property
    def title(self) -> str:
        """The metric and, where the score depends on it, the positive class: `recall of "nein"`."""
        return titled(self.metric, self.positive)

    def as_632plus(self) -> Estimate:
        """BBC.632+: the point between the naive and this estimate that the same draws lead to.

        BBC is conservative because a resample holds only 63.2 % of the distinct samples. In the spirit of Efron and
        Tibshirani's .632+, the weight of BBC grows from .632 to 1 as the optimism approaches what a winner picked by
        chance alone would have: its distance from the average configuration. A percentile interval moves along, and
        stays within the metric's range; the calibrated one knows both numbers already.
        """
        bounds = self._bounds
        value = compromise(self.naive, self.value, self.scores, bounds.range)
        if isinstance(bounds, Percentile):
            bounds = replace(bounds, shift=value - self.value)
        return replace(self, value=value, method="632+", bounds=bounds)

    def gain_over(self, first: int = 0) -> Difference:
        """Tell whether the choice was worth it: the winner against one configuration that needed no choice.

        Both are judged on the same draws, and the winner is corrected for having been chosen.

        Parameters
        ----------
        first : int, default=0
            Index of the configuration to compare with, as in the input.

        Returns
        -------
        Difference
            With an interval, and `sentence()` to say it in words.

        Examples
        --------
        >>> import sobercv
        >>> from sobercv.testing import simulate
        >>> data = simulate.beta_accuracy(n=100, c=50, seed=1)
        >>> print(sobercv.bbc(data.y, data.predictions, "accuracy").gain_over(0).sentence())
        Tuning gained 0.205 (95 % interval -0.026 to 0.378): not clearly better than the first configuration.
        """
        from .difference import Difference

        if self.judge_alone is None:
            raise SoberError(
                "E114",
                "This estimate no longer has the predictions, so nothing can be compared. Use "
                'sobercv.difference(y, predictions, metric, first="best", second=[0]).',
            )
        return Difference.of(self, self.judge_alone(first), self.confidence_level)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "judge_alone": None}

    def interval_at(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided interval at another level, made in the same way; `value` always lies in it."""
        low, high = self._bounds.bounds((1.0 + check_level(confidence_level)) / 2.0)
        return min(low, self.value), max(high, self.value)

    def lower_bound(self, confidence_level: float = 0.95) -> float:
        """One-sided bound: the true score is at least this, with this confidence."""
        return self._one_sided(confidence_level)[0]

    def upper_bound(self, confidence_level: float = 0.95) -> float:
        """One-sided bound: the true score is at most this, with this confidence."""
        return self._one_sided(confidence_level)[1]

    def _one_sided(self, level: float) -> tuple[float, float]:
        low, high = self._bounds.bounds(check_level(level))
        holds = self.interval_method == "calibrated" and level >= 0.5
        return (min(low, self.value), max(high, self.value)) if holds else (low, high)

    @property
    def _bounds(self) -> Interval:
        if self.bounds is None:
            raise SoberError("E114", f"The method {self.method!r} has no draws and so no interval. Use sobercv.bbc.")
        return self.bounds

    # ---- for readers ---------------------------------------------------------------------------------------------
    def _rows(self) -> dict[str, str]:
        """What a reader wants to know, by its label."""
        score, method, won, alone = f"{self.value:.4f}", METHODS.get(self.method, self.method), "", ""
        if self.interval is not None:
            low, high = self.interval
            score += f"   {100 * self.confidence_level:g} % interval [{low:.4f}, {high:.4f}]"
            method += f"; {self.interval_method} interval"
        if self.win_counts is not None and self.win_counts.sum() > 0:
            wins = self.win_counts[self.configurations == self.winner].sum()
            won = f"   won {100 * wins / self.win_counts.sum():.0f} % of the resamples"
        if self.single is not None and self.gain_interval is not None:
            low, high = self.gain_interval
            alone = f"{self.single.value:.4f}   the mix is {self.gain:+.4f} [{low:+.4f}, {high:+.4f}] better"
        size = f"{self.n_samples} samples" if self.n_folds is None else f"{self.n_folds} folds"
        size += f" in {self.n_groups} groups" if self.n_groups else ""
        size += f", {self.n_configurations} configuration{'' if self.n_configurations == 1 else 's'}"
        size += f", {self.n_repeats} repeats" if self.n_repeats > 1 else ""
        undefined = ""
        if self.n_undefined and self.draws is not None:
            undefined = f"{self.n_undefined} of {len(self.draws)} draws, left out"
        optimism = f"{self.naive:.4f}   optimism {round(self.optimism, 4) + 0.0:+.4f}"
        rows = {
            "metric": self.title,
            "honest score": "" if self.method == "naive" else score,
            "plain CV says": score if self.method == "naive" else optimism,
            "winner": f"{self._winner()}{won}",
            "decision": "" if self.decision is None else self.decision.shown(),
            "winner alone": alone,
            "method": method,
            "data": size,
            "undefined": undefined,
        }
        return {label: text for label, text in rows.items() if text}

    def _winner(self) -> str:
        """Return the winner by its name or its parameters; by its number only where it has neither."""
        if self.winner_name is not None:
            return self.winner_name
        return shown(self.winner_params) if self.winner_params else f"configuration {self.winner}"

    def summary(self) -> str:
        """A few lines of text for people."""
        rows = self._rows()
        width = max(map(len, rows))
        lines = [f"{label:<{width}}  {text}" for label, text in rows.items()]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    __str__ = summary

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __repr__(self) -> str:
        interval = "" if self.interval is None else f", interval=({self.interval[0]:.4f}, {self.interval[1]:.4f})"
        return (
            f"Estimate({self.metric}={self.value:.4f}{interval}, naive={self.naive:.4f}, winner={self._winner()!r}, "
            f"method={self.method!r}{'' if self.interval is None else f', interval_method={self.interval_method!r}'})"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th style="text-align:left">{escape(label)}</th><td style="text-align:left">{escape(text)}</td></tr>'
            for label, text in self._rows().items()
        )
        notes = "".join(f"<p>{escape(note.text)}</p>" for note in self.notes)
        return f"<table>{rows}</table>{notes}"

    def report(self: Any, path: Any, *, title: str | None = None, command: str | None = None) -> Any:
        """Write a report: one HTML file that works offline, its tables, or JSON.

        Parameters
        ----------
        path : str or path
            Ends with `.html`, `.md`, `.csv` or `.json`. What is there is replaced.
        title : str, optional
        command : str, optional
            What repeats the analysis; printed at the end of the page.

        Returns
        -------
        Path
        """
        from ..report import summarize_estimates, write

        return write(summarize_estimates(self, title=title, command=command), path)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON: undefined draws become None."""

        def plain(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return [None if v != v else v for v in value.tolist()]
            return value.to_dict() if hasattr(value, "to_dict") else value

        names = (
            "metric", "positive", "method", "value", "interval_method", "confidence_level", "naive", "optimism",
            "winner", "winner_name", "n_undefined", "n_samples", "n_configurations", "n_repeats", "n_groups", "n_folds",
            "n_left_out", "seed", "gain", "configurations", "scores", "win_counts", "draws", "decision", "single",
        )  # fmt: skip
        return {
            **{name: plain(getattr(self, name)) for name in names},
            "interval": self.interval and list(self.interval),
            "gain_interval": self.gain_interval and list(self.gain_interval),
            "winner_params": self.winner_params and {name: repr(value) for name, value in self.winner_params.items()},
            "notes": [note.to_dict() for note in self.notes],
        }


class Estimates(dict[str, Estimate]):
    """Estimates of one winner by several metrics; the first metric selected it. Shown as a table."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"These are estimates by {', '.join(self)}, so name the metric: estimates[metric].{name}.")

    def _rows(self) -> list[tuple[str, ...]]:
        """The table as text, with its heads."""
        rows: list[tuple[str, ...]] = [("metric", "claimed", "honest", "interval")]
        for one in self.values():
            interval = "" if one.interval is None else "[{:.4f}, {:.4f}]".format(*one.interval)
            rows.append((one.title, f"{one.naive:.4f}", f"{one.value:.4f}", interval))
        return rows

    def _remarks(self) -> list[str]:
        """The winner, and the notes of all metrics, each once."""
        notes = dict.fromkeys(note.text for one in self.values() for note in one.notes)
        return [f"winner  {next(iter(self.values()))._winner()}", *(f"note: {note}" for note in notes)]

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self._rows(), strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in self._rows()]
        return "\n".join([*lines, *self._remarks()])

    __repr__ = __str__
    report = Estimate.report

    def _repr_html_(self) -> str:
        lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self._rows()]
        head, *body = (f"<tr>{line}</tr>" for line in lines)
        remarks = "".join(f"<p>{escape(text)}</p>" for text in self._remarks())
        return f"<table><thead>{head.replace('td>', 'th>')}</thead><tbody>{''.join(body)}</tbody></table>{remarks}"
