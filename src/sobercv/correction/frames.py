"""Fold scores in a table: wide or long, or as tidymodels, caret, mlr, mlr3 and scikit-learn write them.

A wide table has one row per fold and one column per configuration. A long one has one row per fold and configuration:
a column of folds, a column per measure, and columns that tell configurations apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import Note, SoberError
from .fold_scores import FoldScores
from .searches import SPLIT

#: Names of columns by what they hold, in lower case and without marks between words.
FOLDS = ("resample", "fold", "foldid", "split", "iteration", "iter", "id2", "id")
REPEATS = ("repeat", "rep", "repetition")
MODELS = (".config", "model", "config", "configuration", "learnerid", "learner", "candidate", "trial", "params")
SCORES = (".estimate", "score", "testscore", "value", "estimate")
#: Measures of which less is better: they are negated, and called neg_... as in scikit-learn.
LOSS = re.compile(
    r"(classif\.|regr\.)?(rmse|mae|mse|mape|smape|mase|medae|sse|mn_log_loss|log_?loss|[bm]?brier(_class|_score)?|ce|"
    r"mmce|err(or)?|loss|.*_(error|loss))",
    re.I,
)
GAIN = re.compile(
    r"(classif\.|regr\.)?(acc(uracy)?|kappa|roc|(roc_?|pr_?)?auc|sens(itivity)?|spec(ificity)?|f_?(meas|1|beta).*|"
    r"mcc|bacc|bal(anced)?_accuracy|r(squared|sq|2)|ccc|(test_)?score|precision|recall|ppv|npv|j_index|c_?index|"
    r"concordance.*|average_precision|neg_.+)",
    re.I,
)


def read_frame(
    frame: Any, metric: str | None = None, *, n_repeats: int | None = None, greater_is_better: bool | None = None
) -> FoldScores:
    """Read fold scores from a data frame.

    Parameters
    ----------
    frame : pandas DataFrame
    metric : str, optional
        The measure that selected. Needed for a table of several measures in rows; default: the first column of a
        measure.
    n_repeats : int, optional
        Number of repeats of a wide table (default: 1). A long table says it by a column or by the names of folds.
    greater_is_better : bool, optional
        Needed for a measure whose direction cannot be told by its name.
    """
    frame = without_row_names(frame)
    names = {_plain(column): column for column in frame.columns}
    if any(SPLIT.fullmatch(str(column)) for column in frame.columns):
        return _cv_results(frame, metric, n_repeats)
    fold = _first(names, FOLDS)
    if fold is None or not (_first(names, SCORES) or any(_is_measure(str(name)) for name in frame.columns)):
        return _wide(frame, metric, n_repeats, greater_is_better)
    if ".metric" in names:
        frame, metric = _rows_of(frame, names[".metric"], metric)
    score, notes = _score_column(frame, names, metric)
    repeat = _first(names, REPEATS) or (names.get("id") if fold == names.get("id2") else None)
    model = _first(names, MODELS)
    others = (column for column in frame.columns if column not in (fold, repeat, names.get("taskid")))
    by = [model] if model is not None else [column for column in others if not _is_measure(str(column))]
    sign, name = direction(score if metric is None else metric, greater_is_better)
    scores, models, found_repeats = _pivot(frame, fold, repeat, by, score)
    return FoldScores({name: sign * scores}, names=models, n_repeats=found_repeats, notes=notes)


#: Columns of tables of predictions, which hold folds as well.
PREDICTIONS = ("pred", "obs", "truth", "response", "prediction", "rowindex", "row", "rowids", "ytrue", "ypred", ".pred")


def holds_fold_scores(frame: Any) -> bool:
    """Whether a table holds scores of folds by their names, rather than predictions of samples."""
    names = {_plain(column) for column in frame.columns}
    if any(SPLIT.fullmatch(str(column)) for column in frame.columns):
        return True
    if names & set(PREDICTIONS) or any(name.startswith(".pred") for name in names) or not names & set(FOLDS):
        return False
    if ".metric" in names and ".estimate" in names:
        return True
    measured = any(_is_measure(str(column)) for column in frame.columns)
    return measured and (bool(names & set(MODELS)) or "resample" in names)


def direction(measure: str, greater_is_better: bool | None) -> tuple[int, str]:
    """Return the sign that makes more better, and the name of the signed score.

    Raises
    ------
    SoberError
        If `greater_is_better` is None and the name of the measure does not tell.
    """
    if greater_is_better is None:
        if not GAIN.fullmatch(measure) and not LOSS.fullmatch(measure):
            raise SoberError(
                "E113",
                f"Whether more or less of {measure!r} is better is not known. Pass greater_is_better=True or False.",
            )
        greater_is_better = GAIN.fullmatch(measure) is not None
    return (1, measure) if greater_is_better else (-1, f"neg_{measure}")


def _plain(column: Any) -> str:
    text = str(column).strip().lower()
    return text[:1] + re.sub(r"[._ ]", "", text[1:])


def _first(names: dict[str, Any], known: Iterable[str]) -> Any:
    return next((names[name] for name in known if name in names), None)


def _is_measure(column: str) -> bool:
    known = LOSS.fullmatch(column) or GAIN.fullmatch(column) or column.startswith(".")
    return bool(known) or _plain(column) in SCORES


def without_row_names(frame: Any) -> Any:
    """Drop the numbers of rows that R and pandas write as a first column without a name."""
    if not len(frame.columns) or not re.fullmatch(r"(Unnamed: 0|X|)", str(frame.columns[0])):
        return frame
    first = [str(value) for value in frame.iloc[:, 0]]
    counted = first in ([str(i + start) for i in range(len(first))] for start in (0, 1))
    return frame.iloc[:, 1:] if counted or str(frame.columns[0]) != "X" else frame


def _rows_of(frame: Any, column: Any, metric: str | None) -> tuple[Any, str]:
    """Keep the rows of one measure of a table that lists several one below the other."""
    known = list(dict.fromkeys(frame[column].astype(str)))
    chosen = known[0] if metric is None and len(known) == 1 else metric
    if chosen not in known:
        raise SoberError("E113", f"Name the measure that selected as `metric`; the table holds {', '.join(known)}.")
    return frame[frame[column].astype(str) == chosen], str(chosen)


def _score_column(frame: Any, names: dict[str, Any], metric: str | None) -> tuple[Any, tuple[Note, ...]]:
    """Find the column of scores, and say so if several could be meant."""
    score = _first(names, SCORES)
    if score is not None:
        return score, ()
    measures = [str(name) for name in frame.columns if _is_measure(str(name))]
    if metric is not None and metric not in frame.columns:
        raise SoberError("E122", f"`metric` must be one of the columns {', '.join(measures)}; got {metric!r}.")
    score = measures[0] if metric is None else metric
    text = (
        f"The table holds {', '.join(measures)}; {score} is taken as the one that selected. Name another as `metric`."
    )
    return score, (Note("W204", text),) if metric is None and len(measures) > 1 else ()


def _pivot(frame: Any, fold: Any, repeat: Any, by: Sequence[Any], score: Any) -> tuple[Any, list[str], int]:
    """Long to wide: scores [F, C] with the folds of each repeat together, names of models, number of repeats."""
    keys = [_place(row) for row in frame[fold].astype(str)]
    if repeat is not None:
        keys = [(str(of), place) for of, (_, place) in zip(frame[repeat], keys, strict=True)]
    models = [
        str(row[0]) if len(by) == 1 and by[0] in frame.columns and not _is_parameter(by[0]) else
        ", ".join(f"{key}={value}" for key, value in zip(by, row, strict=True))
        for row in frame[list(by)].itertuples(index=False, name=None)
    ]  # fmt: skip
    if len(set(models)) < 2:
        raise SoberError(
            "E813",
            "The table holds the fold scores of one configuration, so nothing was chosen and nothing can be corrected. "
            'Save those of every configuration (caret: trainControl(returnResamp = "all")).',
        )
    rows = {key: i for i, key in enumerate(sorted(set(keys), key=lambda key: list(map(_natural, key))))}
    columns = {model: i for i, model in enumerate(dict.fromkeys(models))}
    scores = np.full((len(rows), len(columns)), np.nan)
    for key, model, value in zip(keys, models, frame[score].to_numpy(dtype=np.float64), strict=True):
        at = rows[key], columns[model]
        if not np.isnan(scores[at]):
            raise SoberError(
                "E812",
                f"{model!r} has two scores on {fold} {key[1]!r}. One column must tell folds apart and one or more must "
                f"tell configurations apart; read as {fold!r} and {', '.join(map(repr, by))}.",
            )
        scores[at] = value
    n_repeats = len({key[0] for key in keys})
    return scores, list(columns), n_repeats if len(rows) % n_repeats == 0 else 1


def _is_parameter(column: Any) -> bool:
    return _plain(column) not in MODELS


def _place(fold: str) -> tuple[str, str]:
    """Repeat and fold of caret's names: Fold03.Rep1."""
    match = re.fullmatch(r"(.+?)[._ ](Rep\w*)", fold)
    return (match[2], match[1]) if match else ("", fold)


def _natural(text: str) -> list[Any]:
    """Order Fold2 before Fold10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", text) if part]


def _wide(frame: Any, metric: str | None, n_repeats: int | None, greater_is_better: bool | None) -> FoldScores:
    labels = [column for column in frame.columns if _plain(column) in (*FOLDS, *REPEATS)]
    table = frame.drop(columns=labels)
    try:
        scores = table.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        scores = np.empty((0, 0))
    if scores.shape[1] < 2:
        raise SoberError(
            "E812",
            "A table of fold scores has one row per fold and one numeric column per configuration, or columns such as "
            f"fold, model and score; got the columns {', '.join(map(str, list(frame.columns)[:8]))}.",
        )
    sign, name = direction("score" if metric is None else metric, greater_is_better)
    return FoldScores({name: sign * scores}, names=[str(column) for column in table.columns], n_repeats=n_repeats or 1)


def _cv_results(frame: Any, metric: str | None, n_repeats: int | None) -> FoldScores:
    """A cv_results_ that was saved as a table: one row per configuration."""
    found = [match for match in (SPLIT.fullmatch(str(column)) for column in frame.columns) if match]
    names = list(dict.fromkeys(match[2] for match in found))
    first = names[0] if len(names) == 1 else metric
    if first not in names:
        raise SoberError("E113", f"Name the measure that selected as `metric`; the table holds {', '.join(names)}.")
    n_splits = 1 + max(int(match[1]) for match in found)
    scores = {
        metric if metric is not None and name == first else name: np.array(
            [frame[f"split{k}_test_{name}"].to_numpy(dtype=np.float64) for k in range(n_splits)]
        )
        for name in [first, *(name for name in names if name != first)]
    }
    parameters = [str(column) for column in frame.columns if str(column).startswith("param_")]
    params = [
        {name.removeprefix("param_"): value for name, value in row.items() if value == value}
        for row in frame[parameters].to_dict("records")
    ]
    rank = f"rank_test_{first}"
    winner = int(frame[rank].to_numpy().argmin()) if rank in frame.columns else None
    return FoldScores(scores, params=params, n_repeats=n_repeats or 1, winner=winner)
