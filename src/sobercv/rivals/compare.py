"""Run several protocols on the same splits of one data set, and show what each claims, trains and takes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from numbers import Integral
from typing import Any

import numpy as np

from .. import seeds
from ..containers import frame_of
from ..errors import Note, SoberError, also
from ..inference.bootstrap import corrected
from ..inference.estimate import METHODS
from ..inference.tables import Table
from ..search.bbc_search_cv import BBCSearchCV
from ..search.design import check, design, drop_rule
from ..search.scoring import ScoringPlan
from ..targets import has_several_outputs, titled
from ..training import MemoryStore, expand
from .from_predictions import judged
from .nested_cv import nested_cv

#: Every protocol, in the order in which it is shown.
PROTOCOLS = {**METHODS, "bced": "BBC-CV with early dropping", "bbc-repeated": "BBC-CV over repeated partitions"}
#: Options of a search that all protocols can follow.
SEARCH_OPTIONS = (
    "scoring", "pos_label", "cv", "select", "aggregate", "stratify", "interval",
    "n_bootstraps", "confidence_level", "n_jobs", "random_state",
)  # fmt: skip


@dataclass(frozen=True)
class ProtocolRow:
    """One protocol of a comparison."""

    protocol: str
    score: float
    interval: tuple[float, float] | None
    winner: int  # index of the configuration that it returns
    models_paper: int  # by the paper's way of counting, the final one included
    models: int  # that this protocol really needs here, the final one included
    seconds: float  # training and inference; shared training counts for each protocol that needs it


@dataclass(frozen=True)
class Comparison:
    """Protocols side by side.

    Attributes
    ----------
    rows : tuple of ProtocolRow
        For each protocol its `score`, `interval`, `winner`, numbers of models (`models_paper`, `models`) and `seconds`.
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

    def __getitem__(self, protocol: str) -> ProtocolRow:
        return {row.protocol: row for row in self.rows}[protocol]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        columns = {each.name: [getattr(row, each.name) for row in self.rows] for each in fields(ProtocolRow)}
        return frame_of(columns).set_index("protocol")

    def _cells(self) -> list[tuple[str, ...]]:
        """The table as text, with its heads."""
        interval = f"{100 * self.confidence_level:g} % interval"
        title = titled(self.metric, self.positive)
        cells: list[tuple[str, ...]] = [("protocol", title, interval, "models (paper)", "models", "seconds")]
        for row in self.rows:
            interval = "" if row.interval is None else "[{:.4f}, {:.4f}]".format(*row.interval)
            numbers = (f"{row.models_paper:,}", f"{row.models:,}", f"{row.seconds:.2f}")
            cells.append((row.protocol, f"{row.score:.4f}", interval, *numbers))
        return cells

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self._cells(), strict=True)]
        line = "  ".join(f"{{:{'<' if i in (0, 2) else '>'}{width}}}" for i, width in enumerate(widths))
        head = f"{self.n_samples} samples, {self.n_configurations} configurations, {self.n_folds} folds"
        lines = [line.format(*cells).rstrip() for cells in self._cells()]
        return "\n".join([head, "", *lines, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        lines = ["".join(f"<td>{escape(cell)}</td>" for cell in line) for line in self._cells()]
        head, *body = (f"<tr>{line}</tr>" for line in lines)
        return f"<table><thead>{head.replace('td>', 'th>')}</thead><tbody>{''.join(body)}</tbody></table>"


def compare(
    estimator: Any,
    param_grid: Any,
    X: Any,
    y: Any,
    *,
    protocols: Sequence[str] = ("naive", "tt", "ncv", "bbc", "bced"),
    drop: Any = "bced",
    n_repeats: int = 10,
    groups: Any = None,
    sample_weight: Any = None,
    **search_options: Any,
) -> Comparison:
    """Run several protocols on the same splits of one data set; what several of them need is trained once.

    Parameters
    ----------
    estimator, param_grid, X, y, groups, sample_weight
        As for `BBCSearchCV` and its `fit`.
    protocols : sequence of str
        Any of "naive", "tt", "ncv", "bbc", "bbc-f", "632+", "wmc", "wmcs", "ipl", "bced" and "bbc-repeated".
    drop : "auto" or rule, default="bced"
        Drop rule of "bced". The paper's is followed by the paper's correction, of survivors alone; any other counts the
        dropped configurations.
    n_repeats : int, default=10
        Partitions of "bbc-repeated"; needs `cv` to be a number.
    **search_options
        `scoring` (one metric), `pos_label`, `cv`, `select`, `aggregate`, `stratify`,
        `interval`, `n_bootstraps`, `confidence_level`, `n_jobs` and `random_state`, as for `BBCSearchCV`.

    Returns
    -------
    Comparison
    """
    unknown = [p for p in protocols if p not in PROTOCOLS]
    if unknown or not protocols:
        given = repr(unknown[0]) if unknown else "none"
        raise SoberError("E122", f"`protocols` must be among {', '.join(PROTOCOLS)}; got {given}.")
    unknown = [name for name in search_options if name not in SEARCH_OPTIONS]
    if unknown:
        raise also(TypeError)(
            "E122", f"`compare` has no option {unknown[0]!r}; options of the search are {', '.join(SEARCH_OPTIONS)}."
        )
    options = {**search_options, "refit": False, "random_state": seeds.root(search_options.get("random_state", 0))}
    data = {"groups": groups, "sample_weight": sample_weight}
    with warnings.catch_warnings(action="ignore"):  # the search itself warns
        plain = BBCSearchCV(estimator, param_grid, drop=None, **options)
        found = ScoringPlan.make(plain, y).metrics()  # refuses what needs the model
        if y is None or has_several_outputs(y):
            raise SoberError("E112", "`compare` needs one entry per sample in `y`; got several or none.")
        if len(found) > 1:
            raise SoberError("E114", f"`compare` judges by one metric; got {', '.join(found)} in `scoring`. Name one.")
        if not (plain.scoring is None or isinstance(plain.scoring, str)):
            (options["scoring"],) = found.values()
            plain.set_params(scoring=options["scoring"])
        repeated = BBCSearchCV(estimator, param_grid, drop=None, n_repeats=n_repeats, **options)
        if "bbc-repeated" in protocols:  # refuses, before any fit, splits that cannot be repeated
            design(repeated, X, y, data, plain.random_state)
        made = design(plain, X, y, data, plain.random_state)
        made.question.rule_for(np.arange(1))  # refuses a threshold or an ensemble, which the others cannot judge
        if "ncv" in protocols and (made.plan.n_repeats > 1 or not made.plan.seen(range(made.plan.n_splits)).all()):
            raise SoberError("E114", "Nested cross-validation needs folds that partition the samples once. Pass cv=10.")
        splits = [(split.train, split.test) for split in made.plan.splits]
        papers = isinstance(drop, str) and drop == "bced"
        again = {**options, "cv": splits, "drop": drop, "count_dropped": not papers}
        dropping = BBCSearchCV(estimator, param_grid, **again)
        if "bced" in protocols:  # refuses, before any fit, a rule that cannot serve here
            check(dropping)
            question = design(dropping, X, y, data, plain.random_state).question
            n_configurations = len(expand(param_grid, None, plain.random_state, estimator))
            drop_rule(drop, MemoryStore(made.problem, made.plan, n_configurations).nothing_yet(), question)
    if not isinstance(plain.cv, Integral):  # split once: a splitter without a seed gives other folds each time
        plain.set_params(cv=splits)
    plain.fit(X, y, **data)
    whole, rows = plain.estimate_, list[ProtocolRow]()
    for protocol in (known for known in PROTOCOLS if known in protocols):
        start = time.perf_counter()
        models, models_paper, shared = plain.race_.n_fits + 1, None, plain.race_.seconds
        if protocol == "ncv":
            estimate, n_inner = nested_cv(plain, made)
            k, c = plain.n_splits_, len(plain.race_.status)
            models, models_paper = models + n_inner, k * k * c + k + 1
        elif protocol in ("bced", "bbc-repeated"):
            search = repeated if protocol == "bbc-repeated" else dropping
            estimate = search.fit(X, y, **data).estimate_
            models, shared = search.race_.n_fits + 1, 0.0
        elif protocol in ("bbc", "632+"):
            estimate = whole if protocol == "bbc" else whole.as_632plus()
            shared += plain.judge_time_  # their bootstrap is the search's
        elif protocol == "bbc-f":  # folds are drawn as they are, so there are no strata
            by_fold = replace(plain.question_, by="fold", stratify=False)
            (estimate,) = corrected(Table(plain.predictions_, by_fold)).values()
        else:
            (estimate,) = judged(Table(plain.predictions_, plain.question_), protocol).values()
        seconds = time.perf_counter() - start + shared
        claim = (protocol, estimate.value, estimate.interval, estimate.winner)
        rows.append(ProtocolRow(*claim, models_paper or models, models, seconds))
    return Comparison(
        rows=tuple(rows),
        metric=plain.question_.first.name,
        n_samples=plain.predictions_.n_samples,
        n_configurations=len(plain.race_.status),
        n_folds=plain.n_splits_,
        confidence_level=plain.confidence_level,
        interval_method=plain.interval,
        notes=whole.notes,
        positive=whole.positive,
    )
