"""From a finished search to the plain data of its report.

Takes a fitted search and, for the importance of columns, its data; gives a `Summary`. All that a report shows is
computed here; renderers only write it down.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..errors import SoberError
from . import curves, facts, findings, numbers
from .caveats import caveat, caveats
from .evidence import N_BANDS, Evidence
from .importance import importance
from .records import Caveat, Chart, Matrix, Summary
from .words import clean

CHARTS: dict[str, tuple[str, Callable[[Evidence], Chart | None]]] = {
    "roc": ("classification", curves.roc),
    "precision_recall": ("classification", curves.precision_recall),
    "calibration": ("classification", curves.calibration),
    "predicted": ("regression", numbers.predicted),
    "residuals": ("regression", numbers.residuals),
    "survival": ("survival", numbers.survival),
}


def summarize(
    search: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    title: str | None = None,
    command: str | None = None,
    n_permutations: int = 10,
    seed: int | None = None,
    created: str | None = None,
) -> Summary:
    """Put all that a report says about a finished search into plain data.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted. Everything but the importance of columns comes from what it keeps.
    X, y : array-like, optional
        The data it was given; needed only for the permutation importance of the final model.
    sample_weight : array-like [N], optional
        Goes into the score behind the permutation importance. All else uses the weights that the search was given.
    title : str, optional
    command : str, optional
        What repeats the run, such as a command line; the search as code unless given.
    n_permutations : int, default=10
        Shuffles for each column; 0 leaves the importance out.
    seed : int, optional
        For bands and shuffles; the seed of the search unless given.
    created : str, optional
        When the report was made; now unless given.

    Returns
    -------
    Summary
    """
    check_is_fitted(search, "estimate_")
    _check(search, X, y, n_permutations)
    seed = search.seed_ if seed is None else seed
    scores = findings.scores(search)
    evidence = Evidence.of(search, seed)
    charts, matrix = charts_of(evidence)
    columns, reasons = importance(search, X, y, sample_weight=sample_weight, n_permutations=n_permutations, seed=seed)
    return Summary(
        title=clean(title or "Tuning report", 120),
        task=evidence.task,
        created=created or datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        headline=findings.headline(scores[0]),
        why=findings.why(search, scores[0]),
        scores=scores,
        draws=findings.draws(findings.estimates_of(search)[0]),
        race=findings.race(search),
        rows=findings.rows(search),
        winner=findings.winner(search),
        curves_note=facts.curves_note(search, scores[0], N_BANDS),
        charts=charts,
        matrix=matrix,
        importance=columns,
        caveats=caveats(search, (*_missing(evidence, charts, matrix), *reasons)),
        faults=findings.faults(search),
        data=facts.data(search, X),
        timing=facts.timing(search),
        versions=facts.versions(),
        method=facts.method(search),
        citation=facts.CITATION,
        seed=int(search.seed_),
        command=command or facts.command(search),
    )


def charts_of(evidence: Evidence) -> tuple[tuple[Chart, ...], Matrix | None]:
    """All charts that the task and the predictions allow."""
    made = [chart(evidence) for task, chart in CHARTS.values() if task == evidence.task]
    matrix = curves.confusion(evidence) if evidence.task == "classification" else None
    return tuple(chart for chart in made if chart is not None), matrix


def _missing(evidence: Evidence, charts: tuple[Chart, ...], matrix: Matrix | None) -> tuple[Caveat, ...]:
    """Say which charts the reader may miss, and what would bring them."""
    shown = {chart.name for chart in charts}
    found = []
    if evidence.task == "classification" and evidence.scores() is None:
        text = (
            "The search kept predicted labels only, so there is no ROC curve; add roc_auc or neg_log_loss to scoring."
        )
        found.append(caveat("W704", text))
    elif evidence.classes is not None and len(evidence.classes) == 2 and "calibration" not in shown:
        text = "The search kept no probabilities, so there is no calibration curve; add neg_log_loss to scoring."
        found.append(caveat("W704", text))
    if evidence.task == "classification" and matrix is None:
        text = (
            f"With more than {curves.MOST_CLASSES} classes there is no confusion matrix, and ROC curves for some only."
        )
        found.append(caveat("W704", text))
    if evidence.task == "survival" and not charts:
        found.append(caveat("W704", "No sample had the event, so there are no survival curves."))
    return tuple(found)


def _check(search: Any, X: Any, y: Any, n_permutations: int) -> None:
    if isinstance(n_permutations, bool) or not isinstance(n_permutations, int) or n_permutations < 0:
        raise SoberError("E108", f"`n_permutations` must be a whole number of 0 or more; got {n_permutations!r}.")
    n = search.predictions_.n_samples
    for name, values in (("X", X), ("y", y)):
        shape = getattr(values, "shape", None)
        rows = n if values is None else shape[0] if shape else len(values)
        if rows != n:
            raise SoberError(
                "E701",
                f"`{name}` has {rows:,} rows, but the search was given {n:,}. Pass the data that it was tuned on.",
            )
