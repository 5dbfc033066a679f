"""Fold scores in a table: wide or long, or as tidymodels, caret, mlr, mlr3 and scikit-learn write them.

A wide table has one row per fold and one column per configuration. A long one has one row per fold and configuration:
a column of folds, a column per measure, and columns that tell configurations apart.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..errors import Note, SoberError
from .fold_scores import FoldScores
from .searches import SPLIT, read_search

#: Columns that number samples, tell patients apart, or say where a row was in the cross-validation. They are never
#: predictions of a configuration. Where several are present, the first in the list plays the part.
SAMPLE = (
    "sample", "sample_id", "sampleid", "sample_index", "sample_nr", "row", "row_id", "rowid", "row_ids", "row_index",
    "rowindex", "row_number", "index", "idx", "id", "obs_id", "observation",
)  # fmt: skip
SUBJECT = ("patient", "patient_id", "subject", "subject_id", "person", "person_id", "case", "case_id")
FOLD = ("resample", "fold", "folds", "fold_id", "foldid", "cv_fold", "outer_fold", "split")
REPEAT = ("repeat", "repeats", "repeat_id", "repetition", "rep")
PLACE = frozenset((*SAMPLE, *SUBJECT, *FOLD, *REPEAT))
#: Columns that name configurations, or hold the truth, a predicted class, a predicted number, or a score.
CONFIGURATION = (
    "config", "model", "models", "model_id", "model_name", "config_id", "configuration", "learner_id", "learner",
    "algorithm", "method", "classifier", "regressor", "estimator", "pipeline", "trial", "trial_id", "candidate",
    "setting",
)  # fmt: skip
TRUTH = ("y_true", "ytrue", "truth", "true", "true_label", "y", "target", "label", "obs", "observed", "actual")
LABEL = ("y_pred", "ypred", "pred", "pred_class", "predicted", "prediction", "predicted_class", "yhat", "y_hat")
NUMBER = (
    "prob", "proba", "probability", "score", "y_prob", "y_proba", "y_score", "decision", "risk", "pred", "prediction",
    "predicted", "y_pred", "ypred", "yhat", "y_hat",
)  # fmt: skip
SCORE = ("estimate", "score", "test_score", "value")
FOLDS = (*FOLD, "iteration", "iter", "id2", "id")
MODELS = (*CONFIGURATION, "params")
#: Columns of tables of predictions, which hold folds as well.
PREDICTIONS = {"pred", "obs", "truth", "response", "prediction", "rowindex", "row", "row_ids", "y_true", "y_pred"}
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


def plain_name(column: Any) -> str:
    """Write the name of a column in small letters with underscores, as the lists above do."""
    return re.sub(r"[\s.\-]+", "_", str(column).strip().casefold()).strip("_")


def named(frame: Any, words: Collection[str], leave_out: Collection[Any] = ()) -> list[str]:
    """Return the columns whose names are among words, in the order of the table."""
    return [c for c in frame.columns if plain_name(c) in words and c not in leave_out]


def first_named(frame: Any, words: Iterable[str]) -> Any:
    """Return the column that has the first of the words as its name; None if there is none."""
    names = {plain_name(column): column for column in reversed(list(frame.columns))}
    return next((names[word] for word in words if word in names), None)


def joined(frame: Any, columns: list[str]) -> Any:
    """Name each row's configuration by the columns that tell configurations apart."""
    if not columns:
        return frame.iloc[:, 0].map(lambda _: "the only one")
    if len(columns) == 1 and plain_name(columns[0]) in CONFIGURATION:
        return frame[columns[0]].astype(str)
    text = f"{columns[0]}=" + frame[columns[0]].astype(str)
    for column in columns[1:]:
        text = text + f", {column}=" + frame[column].astype(str)
    return text


def read_frame(
    frame: Any, metric: str | None = None, *, n_repeats: int | None = None, greater_is_better: bool | None = None
) -> FoldScores:
    """Read fold scores from a data frame.

    `metric`: the measure that selected. Needed for a table of several measures in rows; default: the first column of a
    measure. `n_repeats`: number of repeats of a wide table (default: 1). A long table says it by a column or by the
    names of folds. `greater_is_better`: needed for a measure whose direction cannot be told by its name.
    """
    frame = without_row_names(frame)
    if any(SPLIT.fullmatch(str(column)) for column in frame.columns):
        return _cv_results(frame, metric, n_repeats)
    fold = first_named(frame, FOLDS)
    score = first_named(frame, SCORE)
    if fold is None or (score is None and not _measures(frame)):
        return _wide(frame, metric, n_repeats, greater_is_better)
    if ".metric" in frame.columns:
        frame, metric = _rows_of(frame, ".metric", metric)
    notes: tuple[Note, ...] = ()
    if score is None:
        score, notes = _score_column(_measures(frame), metric)
    repeat = first_named(frame, REPEAT) or ("id" if plain_name(fold) == "id2" and "id" in frame.columns else None)
    keys = [_place(row) for row in frame[fold].astype(str)]
    if repeat is not None:
        keys = [(str(of), place) for of, (_, place) in zip(frame[repeat], keys, strict=True)]
    by = _telling_apart(frame, fold, repeat)
    sign, name = direction(score if metric is None else metric, greater_is_better)
    scores, models, found_repeats = _pivot(frame, keys, by, fold, score)
    return FoldScores({name: sign * scores}, names=models, n_repeats=found_repeats, notes=notes)


def holds_fold_scores(frame: Any) -> bool:
    """Whether a table holds scores of folds by their names, rather than predictions of samples."""
    names = {plain_name(column) for column in frame.columns}
    if any(SPLIT.fullmatch(str(column)) for column in frame.columns):
        return True
    if names & PREDICTIONS or any(str(c).startswith(".pred") for c in frame.columns) or not names & set(FOLDS):
        return False
    if {".metric", ".estimate"} <= set(frame.columns):
        return True
    return bool(_measures(frame)) and (bool(names & set(MODELS)) or "resample" in names)


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


def without_row_names(frame: Any) -> Any:
    """Drop the numbers of rows that R and pandas write as a first column without a name."""
    if not len(frame.columns) or not re.fullmatch(r"(Unnamed: 0|X|)", str(frame.columns[0])):
        return frame
    first = [str(value) for value in frame.iloc[:, 0]]
    counted = first in ([str(i + start) for i in range(len(first))] for start in (0, 1))
    return frame.iloc[:, 1:] if counted or str(frame.columns[0]) != "X" else frame


def _measures(frame: Any) -> list[str]:
    """Columns that hold a measure by their names."""
    return [c for c in map(str, frame.columns) if LOSS.fullmatch(c) or GAIN.fullmatch(c) or plain_name(c) in SCORE]


def _rows_of(frame: Any, column: Any, metric: str | None) -> tuple[Any, str]:
    """Keep the rows of one measure of a table that lists several one below the other."""
    known = list(dict.fromkeys(frame[column].astype(str)))
    chosen = known[0] if metric is None and len(known) == 1 else metric
    if chosen not in known:
        raise SoberError("E113", f"Name the measure that selected as `metric`; the table holds {', '.join(known)}.")
    return frame[frame[column].astype(str) == chosen], str(chosen)


def _score_column(measures: list[str], metric: str | None) -> tuple[str, tuple[Note, ...]]:
    """Choose among the columns of measures, and say so if several could be meant."""
    if metric is not None and metric not in measures:
        raise SoberError("E122", f"`metric` must be one of the columns {', '.join(measures)}; got {metric!r}.")
    score = measures[0] if metric is None else metric
    text = (
        f"The table holds {', '.join(measures)}; {score} is taken as the one that selected. Name another as `metric`."
    )
    return score, (Note("W204", text),) if metric is None and len(measures) > 1 else ()


def _telling_apart(frame: Any, fold: Any, repeat: Any) -> list[Any]:
    """Columns that tell configurations apart: the one that names them, or all parameters."""
    places = [column for column in (fold, repeat) if column is not None]
    model = first_named(frame, MODELS)
    measures = _measures(frame)
    others = [
        c for c in frame.columns if c not in (*places, *measures) and plain_name(c) != "task_id" and str(c)[:1] != "."
    ]
    if model is None:
        return others
    # A column called "model" may be one of several parameters (caret's C5.0).
    return others if len(others) > 1 and frame.duplicated([*places, model]).any() else [model]


def _pivot(frame: Any, keys: list[tuple[str, str]], by: list[Any], fold: Any, score: Any) -> tuple[Any, list[str], int]:
    """Long to wide: scores [F, C] with the folds of each repeat together, names of models, number of repeats."""
    models = joined(frame, by).tolist()
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


def _place(fold: str) -> tuple[str, str]:
    """Repeat and fold of caret's names: Fold03.Rep1."""
    match = re.fullmatch(r"(.+?)[._ ](Rep\w*)", fold)
    return (match[2], match[1]) if match else ("", fold)


def _natural(text: str) -> list[Any]:
    """Order Fold2 before Fold10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", text) if part]


def _wide(frame: Any, metric: str | None, n_repeats: int | None, greater_is_better: bool | None) -> FoldScores:
    table = frame.drop(columns=[column for column in frame.columns if plain_name(column) in (*FOLDS, *REPEAT)])
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
    results: dict[str, Any] = {str(column): frame[column].to_numpy() for column in frame.columns}
    parameters = [name for name in results if name.startswith("param_")]
    results["params"] = [
        {name.removeprefix("param_"): value for name, value in row.items() if value == value}
        for row in frame[parameters].to_dict("records")
    ]
    search = SimpleNamespace(cv_results_=results, scoring=metric or "score")
    rank = f"rank_test_{metric if f'rank_test_{metric}' in results else 'score'}"
    if rank in results:
        search.best_index_ = int(results[rank].argmin())
    return read_search(search, metric, n_repeats)
