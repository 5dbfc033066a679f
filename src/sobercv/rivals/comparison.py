"""The record of a comparison of protocols: what each claims, how many models it trains, how long it takes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from ..errors import Note, SoberError
from ..targets import titled


@dataclass(frozen=True)
class ProtocolRow:
    """One protocol of a comparison.

    Attributes
    ----------
    protocol : str
    score : float
    interval : (float, float) or None
    winner : int
        Index of the configuration that it returns.
    models_paper : int
        Models by the paper's way of counting, the final one included.
    models : int
        Models that this protocol really needs here, the final one included.
    seconds : float
        Training and inference of this protocol alone; shared training counts for each protocol that needs it.
    """

    protocol: str
    score: float
    interval: tuple[float, float] | None
    winner: int
    models_paper: int
    models: int
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """Protocols side by side.

    Attributes
    ----------
    rows : tuple of ProtocolRow
    metric : str
    positive : label or None
        The positive class, where scores depend on it.
    n_samples, n_configurations, n_folds : int
    confidence_level : float
    interval_method : {"percentile", "calibrated"}
        How intervals were made.
    notes : tuple of Note
        Those of plain cross-validation, which all protocols but "bbc-repeated" start from.
    """

    rows: tuple[ProtocolRow, ...]
    metric: str
    n_samples: int
    n_configurations: int
    n_folds: int
    confidence_level: float = 0.95
    interval_method: str = "calibrated"
    notes: tuple[Note, ...] = ()
    positive: Any = None

    @property
    def title(self) -> str:
        """The metric and, where scores depend on it, the positive class."""
        return titled(self.metric, self.positive)

    def __getitem__(self, protocol: str) -> ProtocolRow:
        for row in self.rows:
            if row.protocol == protocol:
                return row
        raise KeyError(protocol)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "metric": self.metric,
            "positive": self.positive,
            "n_samples": self.n_samples,
            "n_configurations": self.n_configurations,
            "n_folds": self.n_folds,
            "confidence_level": self.confidence_level,
            "interval_method": self.interval_method,
            "rows": [vars(row) for row in self.rows],
            "notes": [asdict(note) for note in self.notes],
        }

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise SoberError(
                "E403", "A data frame needs pandas, which is not installed. Write: pip install pandas."
            ) from None
        return pd.DataFrame([vars(row) for row in self.rows]).set_index("protocol")

    def _cells(self) -> list[tuple[str, ...]]:
        cells: list[tuple[str, ...]] = []
        for row in self.rows:
            interval = "" if row.interval is None else f"[{row.interval[0]:.4f}, {row.interval[1]:.4f}]"
            numbers = (f"{row.models_paper:,}", f"{row.models:,}", f"{row.seconds:.2f}")
            cells.append((row.protocol, f"{row.score:.4f}", interval, *numbers))
        return cells

    @property
    def _heads(self) -> tuple[str, ...]:
        interval = f"{100 * self.confidence_level:g} % interval"
        return ("protocol", self.title, interval, "models (paper)", "models", "seconds")

    def __str__(self) -> str:
        table = [self._heads, *self._cells()]
        widths = [max(len(line[i]) for line in table) for i in range(len(self._heads))]
        lines = [
            "  ".join(
                cell.ljust(w) if i in (0, 2) else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in table
        ]
        head = f"{self.n_samples} samples, {self.n_configurations} configurations, {self.n_folds} folds"
        return "\n".join([head, "", *(line.rstrip() for line in lines), *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(h)}</th>" for h in self._heads)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in self._cells())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
