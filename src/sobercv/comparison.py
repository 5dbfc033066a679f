"""The protocols side by side on one data set: what each claims, how many models it trains, how long it takes.

Takes what a search takes, gives a `Comparison`. All protocols see the same splits; what several need is trained once.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any

from .errors import Note, SoberError
from .inference import Estimate, Question
from .inference.bbc import corrected
from .inference.power_law import power_law_score
from .inference.rivals import naive_scores, tibshirani_scores
from .inference.tables import Inputs, open_memory, open_table
from .inference.weighted_means import weighted_scores
from .nested_cv import nested_cv
from .search.bbc_search_cv import BBCSearchCV
from .search.design import known_task
from .search.scoring import metrics_of
from .targets import has_several_outputs, titled

#: Every protocol, in the order in which it is shown.
PROTOCOLS = {
    "naive": "plain CV of the winner (optimistic)",
    "tt": "Tibshirani and Tibshirani's correction",
    "ncv": "nested cross-validation",
    "bbc": "bootstrap bias corrected CV",
    "bbc-f": "bootstrap over folds",
    "632+": "between plain CV and BBC-CV",
    "wmc": "mean of all, by their chance to win",
    "wmcs": "the same of shrunken scores",
    "wmcs-raw": "chances from shrunken scores only",
    "ipl": "power law of winners on fewer samples",
    "bced": "BBC-CV with early dropping",
    "bbc-repeated": "BBC-CV over repeated partitions",
}


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
        The class that scores are of, where they depend on which class is the positive one.
    n_samples, n_configurations, n_folds : int
    confidence_level : float
    interval_method : {"percentile", "wilson"}
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
    interval_method: str = "wilson"
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
        """Give the table as a pandas data frame."""
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
            cells.append(
                (
                    row.protocol,
                    f"{row.score:.4f}",
                    interval,
                    f"{row.models_paper:,}",
                    f"{row.models:,}",
                    f"{row.seconds:.2f}",
                )
            )
        return cells

    @property
    def _heads(self) -> tuple[str, ...]:
        return (
            "protocol",
            self.title,
            f"{100 * self.confidence_level:g} % interval",
            "models (paper)",
            "models",
            "seconds",
        )

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


def compare(
    estimator: Any,
    param_grid: Any,
    X: Any,
    y: Any,
    *,
    protocols: Sequence[str] = ("naive", "tt", "ncv", "bbc", "bced"),
    scoring: Any = None,
    pos_label: Any = None,
    cv: Any = 10,
    n_repeats: int = 10,
    n_iter: int | None = None,
    drop: Any = "bced",
    select: Any = "best",
    aggregate: str = "pooled",
    within_folds: bool = False,
    stratify: bool = False,
    interval: str = "wilson",
    n_bootstraps: int = 1000,
    confidence_level: float = 0.95,
    groups: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> Comparison:
    """Run several protocols on the same splits of one data set.

    Parameters
    ----------
    estimator, param_grid, X, y, scoring, pos_label, cv, n_iter, select, aggregate, within_folds, stratify,
    interval, n_bootstraps, confidence_level, groups, sample_weight, n_jobs, random_state
        As in `BBCSearchCV`.
    protocols : sequence of str
        Any of "naive", "tt", "ncv", "bbc", "bbc-f", "632+", "wmc", "wmcs", "wmcs-raw", "ipl", "bced" and
        "bbc-repeated".
    n_repeats : int, default=10
        Partitions of "bbc-repeated"; needs `cv` to be a number.
    drop : "auto" or rule, default="bced"
        Drop rule of "bced". The paper's is followed by the paper's correction, of survivors alone; any other counts the
        dropped.

    Returns
    -------
    Comparison
    """
    unknown = [p for p in protocols if p not in PROTOCOLS]
    if unknown or not protocols:
        given = repr(unknown[0]) if unknown else "none"
        raise SoberError("E108", f"`protocols` must be among {', '.join(PROTOCOLS)}; got {given}.")
    options: dict[str, Any] = {
        "scoring": scoring,
        "pos_label": pos_label,
        "cv": cv,
        "n_iter": n_iter,
        "select": select,
        "aggregate": aggregate,
        "within_folds": within_folds,
        "stratify": stratify,
        "interval": interval,
        "n_bootstraps": n_bootstraps,
        "confidence_level": confidence_level,
        "refit": False,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    data = {"groups": groups, "sample_weight": sample_weight}
    plain = BBCSearchCV(estimator, param_grid, drop=None, **options)
    with warnings.catch_warnings():  # what is worth a warning is said by the search
        warnings.simplefilter("ignore")
        metrics = metrics_of(scoring, known_task(plain, y), estimator=estimator)  # refuses what needs the model
    if y is None or has_several_outputs(y):
        raise SoberError(
            "E112", "`compare` scores predictions, so `y` must have one entry a sample; got several or none."
        )
    if callable(scoring):  # all protocols score predictions, also by a function that a search would call on models
        (options["scoring"],) = metrics.values()
        plain.set_params(scoring=options["scoring"])
    plain.fit(X, y, **data)
    if plain.multimetric_:
        raise SoberError("E108", "`compare` judges by one metric; got several in `scoring`. Name one.")
    fixed = {**options, "cv": plain.splits_}  # the same folds, also where `cv` is an iterator or has no seed
    rows: list[ProtocolRow] = []
    for protocol in PROTOCOLS:
        if protocol not in protocols:
            continue
        start = time.perf_counter()
        if protocol == "bced":
            papers = isinstance(drop, str) and drop == "bced"
            search = BBCSearchCV(estimator, param_grid, drop=drop, count_dropped=not papers, **fixed).fit(X, y, **data)
            rows.append(_row(protocol, search.estimate_, search.race_.n_fits + 1, None, time.perf_counter() - start))
        elif protocol == "bbc-repeated":
            search = BBCSearchCV(estimator, param_grid, drop=None, n_repeats=n_repeats, **options).fit(X, y, **data)
            rows.append(_row(protocol, search.estimate_, search.race_.n_fits + 1, None, time.perf_counter() - start))
        elif protocol == "ncv":
            estimate, extra = nested_cv(plain, X, y, groups, sample_weight)
            seconds = time.perf_counter() - start + plain.race_.seconds
            k, c = plain.n_splits_, len(plain.race_.status)
            rows.append(_row(protocol, estimate, plain.race_.n_fits + extra + 1, k * k * c + k + 1, seconds))
        else:
            estimate = _on_predictions(protocol, plain)
            seconds = time.perf_counter() - start + plain.race_.seconds
            seconds += plain.judge_time_ if protocol == "bbc" else 0.0  # its bootstrap is that of the search
            rows.append(_row(protocol, estimate, plain.race_.n_fits + 1, None, seconds))
    return Comparison(
        rows=tuple(rows),
        metric=plain.question_.first.name,
        n_samples=plain.predictions_.n_samples,
        n_configurations=len(plain.race_.status),
        n_folds=plain.n_splits_,
        confidence_level=confidence_level,
        interval_method=interval,
        notes=plain.estimate_.notes,
        positive=plain.estimate_.positive,
    )


def _row(protocol: str, estimate: Estimate, models: int, models_paper: int | None, seconds: float) -> ProtocolRow:
    return ProtocolRow(
        protocol, estimate.value, estimate.interval, estimate.winner, models_paper or models, models, seconds
    )


def _on_predictions(protocol: str, search: BBCSearchCV) -> Estimate:
    """Protocols that need nothing but the predictions of plain cross-validation."""
    question: Question = search.question_
    inputs = Inputs(search.predictions_)
    if protocol == "bbc":
        estimate: Estimate = search.estimate_
        return estimate
    if protocol == "naive":
        found = naive_scores(open_memory(inputs, question))
    elif protocol == "tt":
        found = tibshirani_scores(open_memory(inputs, question))
    elif protocol == "bbc-f":  # folds are drawn as they are, so there are no strata
        found = corrected(open_table(inputs, replace(question, by="fold", stratify=False)))
    elif protocol == "632+":
        found = corrected(open_table(inputs, replace(question, method="632+")))
    elif protocol == "ipl":
        return power_law_score(open_memory(inputs, question))
    else:
        return weighted_scores(open_memory(inputs, question), protocol)
    return next(iter(found.values()))
