"""Tables that tools wrote: fold scores or predictions, wide or long, known by the names of their columns.

A wide table has one column per configuration and one row per fold (scores) or per sample (predictions). A long one has
one row per score or prediction and columns with documented names: those of tidymodels, caret, mlr3 and sober, or of the
lists below. Where a part is lacking, the table is refused with the columns that are needed: read in another way it
would give a wrong number.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import reduce
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError
from ..tables import Roles
from ..tables.naming import listed
from ..tables.roles import check_target, find, survival_target
from .judging import FoldScores, ToolPredictions
from .searches import SPLIT, read_search

#: Columns that number samples, tell patients apart, or say where a row was in the cross-validation. They are never
#: predictions of a configuration. Where several are present, the first in the list plays the part.
SAMPLE = (
    "sample", "sample_id", "sampleid", "sample_index", "sample_nr", "row", "row_id", "rowid", "row_ids", "row_index",
    "rowindex", "row_number", "index", "idx", "id", "obs_id", "observation",
)  # fmt: skip
SUBJECT = ("patient", "patient_id", "subject", "subject_id", "person", "person_id", "case", "case_id")
FOLD = ("resample", "fold", "folds", "fold_id", "foldid", "cv_fold", "outer_fold", "split", "iteration", "iter")
REPEAT = ("repeat", "repeats", "repeat_id", "repetition", "rep")
PLACE = frozenset((*SAMPLE, *SUBJECT, *FOLD, *REPEAT))
#: Columns that name configurations, or hold the truth, a predicted class, a predicted number, or a score.
CONFIGURATION = (
    "config", "model", "models", "model_id", "model_name", "config_id", "configuration", "learner_id", "learner",
    "algorithm", "method", "classifier", "regressor", "estimator", "pipeline", "trial", "trial_id", "candidate",
    "setting",
)  # fmt: skip
TRUTH = ("y_true", "ytrue", "truth", "true", "true_label", "y", "target", "label", "obs", "observed", "actual")
PREDICTED = ("y_pred", "ypred", "pred", "predicted", "prediction", "yhat", "y_hat", "response")
LABEL = (*PREDICTED, "pred_class", "predicted_class")
NUMBER = (*PREDICTED, "prob", "proba", "probability", "score", "y_prob", "y_proba", "y_score", "decision", "risk")
SCORE = ("estimate", "score", "test_score", "value")
FOLDS = (*FOLD, "id2", "id")
MODELS = (*CONFIGURATION, "params")
WANTED = (
    "A long table needs: sample (which row of the data), model (which configuration), y_true, and prob_<class>, score "
    "or y_pred; fold and repeat where there are any."
)
#: Tools whose long tables are known, by columns that they all have.
TOOLS = {
    "tidymodels": {".row", ".config"},
    "caret": {"rowIndex", "obs", "pred", "Resample"},
    "mlr3": {"row_ids", "truth"},
}
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
_CHANCE = re.compile(r"(?i)(?:y_?)?(?:prob|proba|probability|p|pred|score)[_. ](.+)")


def recognise(
    frame: Any, roles: Roles | None = None, metric: str | None = None, **given: Any
) -> FoldScores | ToolPredictions:
    """Read a table of fold scores or of predictions.

    `roles`: the column with the truth (long tables of known tools tell it themselves), or time and event in wide tables
    of risks; a group whose rows are resampled together; columns or, in long tables, configurations to leave out.
    `metric`: the measure that selected, in a table of fold scores. `**given`: names of `Roles`, instead of it.
    """
    roles = roles or Roles(**given)
    frame = _without_row_names(frame)
    if not roles.target_names and holds_fold_scores(frame):
        return read_frame(frame.drop(columns=list(roles.ignore), errors="ignore"), metric)
    if roles.target_names:
        check_target(roles, frame.columns)
    for name in [*roles.target_names, *filter(None, [roles.group])]:
        find(frame, name)
    if tool_of(frame) is None and _sample(frame, roles) is None:
        return _wide_predictions(frame, roles)
    if roles.time is not None:
        raise SoberError("E812", "Survival predictions are read from wide tables: one column per configuration.")
    return read_long(frame, roles)


# ---- names of columns ----------------------------------------------------------------------------------------------
def _plain(column: Any) -> str:
    """Write the name of a column in small letters with underscores, as the lists above do."""
    return re.sub(r"[\s.\-]+", "_", str(column).strip().casefold()).strip("_")


def _named(frame: Any, words: Collection[str], leave_out: Collection[Any] = ()) -> list[Any]:
    """Return the columns whose names are among words, in the order of the words."""
    names = [(_plain(column), column) for column in frame.columns if column not in leave_out]
    return [column for word in words for name, column in names if name == word]


def _first_named(frame: Any, words: Collection[str]) -> Any:
    """Return the column that has the first of the words as its name; None if there is none."""
    return next(iter(_named(frame, words)), None)


def _joined(frame: Any, columns: list[str]) -> Any:
    """Name each row's configuration by the columns that tell configurations apart."""
    if not columns:
        return frame.iloc[:, 0].map(lambda _: "the only one")
    if len(columns) == 1 and _plain(columns[0]) in CONFIGURATION:
        return frame[columns[0]].astype(str)
    return reduce(lambda text, more: text + ", " + more, (f"{c}=" + frame[c].astype(str) for c in columns))


def _without_row_names(frame: Any) -> Any:
    """Drop the row numbers that R and pandas write as a column without a name."""
    nameless = [c for c in frame.columns if re.fullmatch(r"(?i)Unnamed: \d+|X|", str(c))]
    counts = [[str(i + start) for i in range(len(frame))] for start in (0, 1)]
    return frame.drop(columns=[c for c in nameless if frame[c].astype(str).tolist() in counts])


# ---- fold scores ---------------------------------------------------------------------------------------------------
def holds_fold_scores(frame: Any) -> bool:
    """Whether a table holds scores of folds by their names, rather than predictions of samples."""
    names = {_plain(column) for column in frame.columns}
    if any(SPLIT.fullmatch(str(column)) for column in frame.columns):
        return True
    if names & PREDICTIONS or any(str(c).startswith(".pred") for c in frame.columns) or not names & set(FOLDS):
        return False
    if {".metric", ".estimate"} <= set(frame.columns):
        return True
    return bool(_measures(frame)) and bool(names & {*MODELS, "resample"})


def read_frame(
    frame: Any, metric: str | None = None, *, n_repeats: int | None = None, greater_is_better: bool | None = None
) -> FoldScores:
    """Read fold scores from a data frame.

    `metric`: the measure that selected. Needed for a table of several measures in rows; default: the first column of a
    measure. `n_repeats`: number of repeats of a wide table (default: 1). A long table says it by a column or by the
    names of folds. `greater_is_better`: needed for a measure whose direction cannot be told by its name.
    """
    frame = _without_row_names(frame)
    if any(SPLIT.fullmatch(str(column)) for column in frame.columns):
        return _cv_results(frame, metric, n_repeats)
    fold, score, measures = _first_named(frame, FOLDS), _first_named(frame, SCORE), _measures(frame)
    if fold is None or (score is None and not measures):
        return _wide_scores(frame, metric, n_repeats, greater_is_better)
    measure = _first_named(frame, ("metric", "measure")) if score is not None else None
    known = [] if measure is None else list(dict.fromkeys(frame[measure].astype(str)))
    # A column of measures, perhaps several one below the other; "metric" is also a parameter of nearest neighbours.
    if measure == ".metric" or (known and all(GAIN.fullmatch(one) or LOSS.fullmatch(one) for one in known)):
        metric = known[0] if metric is None and len(known) == 1 else metric
        if metric not in known:
            raise SoberError("E113", f"Name the measure that selected as `metric`; the table holds {', '.join(known)}.")
        frame = frame[frame[measure].astype(str) == metric].drop(columns=measure)
    notes: tuple[Note, ...] = ()
    if score is None:
        if metric is not None and metric not in measures:
            raise SoberError("E122", f"`metric` must be one of the columns {', '.join(measures)}; got {metric!r}.")
        score = metric or measures[0]
        text = f"The table holds {', '.join(measures)}; {score} is taken as the one that selected."
        notes = (Note("W204", f"{text} Name another as `metric`."),) if metric is None and len(measures) > 1 else ()
    repeat = _first_named(frame, REPEAT) or ("id" if _plain(fold) == "id2" and "id" in frame.columns else None)
    # Repeat and fold of every row; caret names both at once: Fold03.Rep1.
    found = frame[fold].astype(str).str.extract(r"^(?P<fold>.+?)(?:[._ ](?P<repeat>Rep\w*))?$", re.DOTALL).fillna("")
    repeats = found["repeat"] if repeat is None else frame[repeat].astype(str)
    keys = list(zip(repeats, found["fold"], strict=True))
    sign, name = direction(score if metric is None else metric, greater_is_better)
    scores, models = _pivot(frame, keys, _telling_apart(frame, fold, repeat), fold, score)
    n_found = repeats.nunique()
    n_found = n_found if len(scores) % n_found == 0 else 1
    return FoldScores({name: sign * scores}, names=models, n_repeats=n_found, notes=notes)


def direction(measure: str, greater_is_better: bool | None) -> tuple[int, str]:
    """Return the sign that makes more better, and the name of the signed score; ask where the name does not tell."""
    if greater_is_better is None:
        greater_is_better = GAIN.fullmatch(measure) is not None
        if not greater_is_better and not LOSS.fullmatch(measure):
            said = f"Whether more or less of {measure!r} is better is not known. Pass greater_is_better=True or False."
            raise SoberError("E113", said)
    return (1, measure) if greater_is_better else (-1, f"neg_{measure}")


def _measures(frame: Any) -> list[str]:
    """Columns that hold a measure by their names."""
    return [c for c in map(str, frame.columns) if LOSS.fullmatch(c) or GAIN.fullmatch(c) or _plain(c) in SCORE]


def _telling_apart(frame: Any, fold: Any, repeat: Any) -> list[Any]:
    """Columns that tell configurations apart: the one that names them, or all parameters."""
    places = [column for column in (fold, repeat) if column is not None]
    taken = {*places, *_measures(frame)}
    others = [c for c in frame.columns if c not in taken and _plain(c) != "task_id" and str(c)[:1] != "."]
    model = _first_named(frame, MODELS)
    # A column called "model" may be one of several parameters (caret's C5.0).
    if model is None or (len(others) > 1 and frame.duplicated([*places, model]).any()):
        return others
    return [model]


def _pivot(frame: Any, keys: list[tuple[str, str]], by: list[Any], fold: Any, score: Any) -> tuple[Any, list[str]]:
    """Long to wide: scores [F, C] with the folds of each repeat together, and names of models."""
    models, names = _joined(frame, by).factorize()
    if len(names) < 2:
        raise SoberError(
            "E813",
            "The table holds the fold scores of one configuration, so nothing was chosen and nothing can be corrected. "
            'Save those of every configuration (caret: trainControl(returnResamp = "all")).',
        )
    places = {key: i for i, key in enumerate(sorted(set(keys), key=lambda key: list(map(_natural, key))))}
    rows = np.array([places[key] for key in keys])
    _, at, times = np.unique(rows * len(names) + models, return_index=True, return_counts=True)
    if times.max() > 1:
        first = at[times > 1].min()
        raise SoberError(
            "E812",
            f"{names[models[first]]!r} has two scores on {fold} {keys[first][1]!r}. One column must tell folds apart "
            f"and one or more must tell configurations apart; read as {fold!r} and {', '.join(map(repr, by))}.",
        )
    scores = np.full((len(places), len(names)), np.nan)
    scores[rows, models] = frame[score].to_numpy(dtype=np.float64)
    return scores, list(names)


def _natural(text: str) -> list[Any]:
    """Order Fold2 before Fold10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", text) if part]


def _wide_scores(frame: Any, metric: str | None, n_repeats: int | None, greater_is_better: bool | None) -> FoldScores:
    places = _named(frame, (*FOLDS, *REPEAT))
    if places and n_repeats is None and frame.duplicated(places).any():
        raise SoberError(
            "E812",
            f"Rows have the same {' and '.join(map(str, places))}, so this is no table with one row per fold; got the "
            f"columns {', '.join(map(str, list(frame.columns)[:8]))}. Say how often the folds were repeated "
            "(n_repeats=); out-of-fold predictions go to sobercv.bbc(y, predictions).",
        )
    if n_repeats is None and (repeat := _first_named(frame, REPEAT)) is not None:
        sizes = frame[repeat].value_counts()
        if sizes.nunique() == 1 and sizes.iloc[0] > 1:  # else one partition: a column of ones, or repeats of one split
            n_repeats, frame = len(sizes), frame.sort_values(repeat, kind="stable")
    table = frame.drop(columns=places)
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


# ---- long tables of predictions: which column plays which part -------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Parts:
    """Columns of a long table by the part that they play; None where a tool does not have it."""

    sample: Any
    configuration: Any
    truth: Any
    repeat: Any = None
    fold: Any = None
    label: Any = None
    number: Any = None
    chances: dict[str, Any] = field(default_factory=dict)
    is_adaptive: bool = False


def tool_of(frame: Any) -> str | None:
    """Return the tool whose long table of predictions this is by its columns; None for any other table."""
    return next((tool for tool, columns in TOOLS.items() if columns <= set(frame.columns)), None)


def holds_long_predictions(frame: Any) -> bool:
    """Whether a table is a long one of predictions by its names: of a known tool, or with the documented parts."""
    if holds_fold_scores(frame):
        return False
    parts = all(_named(frame, words) for words in (CONFIGURATION, TRUTH))
    return tool_of(frame) is not None or (parts and _sample(frame, Roles()) is not None)


def read_long(frame: Any, roles: Roles) -> ToolPredictions:
    """Bring the columns of a long table into arrays [N, C, R(, K)], without the configurations to be ignored.

    Rows that were predicted twice in the same place are refused: then these are not out-of-fold predictions of one
    cross-validation.
    """
    tool = tool_of(frame)
    parts = {"tidymodels": _tidymodels, "caret": _caret}.get(tool or "", _documented)(frame, roles)
    keep = ~parts.configuration.isin(list(roles.ignore)).to_numpy() & parts.truth.notna().to_numpy()
    if not keep.any():
        raise SoberError("E812", "No prediction is left: the truth is missing everywhere, or all were ignored.")
    rows, samples = _codes(parts.sample, keep)
    models, names = _codes(parts.configuration, keep)
    places, repeats = (np.zeros(len(rows), int), [0]) if parts.repeat is None else _codes(parts.repeat, keep)
    shape = n, c, r = len(samples), len(names), len(repeats)
    flat = (rows * c + models) * r + places
    _, at, times = np.unique(flat, return_index=True, return_counts=True)
    if times.max() > 1:
        worst = at[times.argmax()]
        start = "Only one configuration can be told apart: in" if c == 1 else "In"
        raise SoberError(
            "E813" if c == 1 else "E814",
            f"{start} one repeat row {samples[rows[worst]]} of configuration {str(names[models[worst]])[:50]!r} was "
            f"predicted {times.max()} times, so these are not out-of-fold predictions of one cross-validation. Keep "
            "the columns that tell configurations and repeats apart, and save the hold-out predictions only.",
        )
    gaps = np.ones(n * c * r, bool)
    gaps[flat] = False

    def spread(column: Any, empty: Any) -> Any:
        values = column[keep].to_numpy()
        kind = object if values.dtype.kind not in "iufb" else np.result_type(values, 0.0)
        out = np.full(n * c * r, empty, dtype=kind)
        out[flat] = values
        return np.ma.masked_array(out.reshape(shape), gaps.reshape(shape))

    y = _own(rows, n, parts.truth[keep], "truth")
    folds = None
    if parts.fold is not None:
        folds = np.zeros((n, r), int)
        folds[rows, places] = _codes(parts.fold, keep)[0]
    group = frame.get(roles.group or (".group" if tool == "tidymodels" else None))
    named = f"long table by {parts.sample.name!r} and {parts.configuration.name!r}"
    return ToolPredictions(
        tool or named, y, _responses(parts, spread, y), [str(name) for name in names], folds=folds, n_repeats=r,
        is_adaptive=parts.is_adaptive,
        groups=None if group is None else _own(rows, n, group[keep], "group").astype(str),
    )  # fmt: skip


def _tidymodels(frame: Any, roles: Roles) -> Parts:
    """Read collect_predictions() of a tuned workflow, or sober's own predictions.parquet, which has its names."""
    predicted = [c for c in frame.columns if c.startswith(".pred")]
    if not predicted:
        raise SoberError("E812", "The table has .row and .config but no .pred column. Tune with save_pred = TRUE.")
    taken = {".row", ".config", ".iter", "id", "id2", *predicted, roles.group or ".group"}
    others = [c for c in frame.columns if c not in taken and not c.startswith(".decision_")]
    truth = roles.target or _only_truth([c for c in others if frame.groupby(".row")[c].nunique().max() == 1])
    resample, split = (frame[name].astype(str) if name in frame.columns else None for name in ("id", "id2"))
    if split is None:
        # One level of resampling: Fold01 is a fold of the only repeat; Bootstrap01 is a hold-out of its own.
        split = resample
        resample = None if resample is None or resample.str.match(r"(?i)fold").all() else resample
    return Parts(
        frame[".row"], frame[".config"].astype(str), frame[truth], resample, split,
        label=frame.get(".pred_class"), number=frame.get(".pred"),
        chances={c.removeprefix(".pred_"): frame[c] for c in predicted if c not in (".pred", ".pred_class")},
        is_adaptive=".iter" in frame.columns and frame[".iter"].nunique() > 1,
    )  # fmt: skip


def _caret(frame: Any, roles: Roles) -> Parts:
    """Read train(...)$pred with savePredictions = "all"."""
    truth = frame[roles.target or "obs"]
    chances = {c: frame[c] for c in frame.columns if c in set(truth.astype(str))}
    taken = {*TOOLS["caret"], "weights", truth.name, *chances, roles.group}
    resample = frame["Resample"].astype(str)
    repeat = resample.str.extract(r"\.?(Rep\d+)$")[0]
    if not repeat.notna().all():
        repeat = None if resample.str.match(r"(?i)fold").all() else resample
    is_number = truth.dtype.kind in "iuf" and not chances
    return Parts(
        frame["rowIndex"], _joined(frame, [c for c in frame.columns if c not in taken]), truth, repeat, resample,
        chances=chances, **{"number" if is_number else "label": frame["pred"]},
    )  # fmt: skip


def _sample(frame: Any, roles: Roles) -> Any:
    """Return the column that tells samples apart, if it repeats as in long tables."""
    # A patient may have several rows in a wide table, too; only with a column of models does it name samples.
    words = (*SAMPLE, *SUBJECT) if _named(frame, CONFIGURATION, roles.ignore) else SAMPLE
    names = _named(frame, words, {*roles.target_names, roles.group})
    return next((name for name in names if frame[name].duplicated().any() and frame[name].nunique() > 1), None)


def _documented(frame: Any, roles: Roles) -> Parts:
    """Read as.data.table() of mlr3's predictions, bound together, or any long table with columns of the lists above."""
    is_mlr3 = tool_of(frame) == "mlr3"
    sample = "row_ids" if is_mlr3 else _sample(frame, roles)
    kept = frame.drop(columns=[c for c in (*roles.ignore, roles.group) if c in frame.columns])
    truth = roles.target or ("truth" if is_mlr3 else _only_truth(_named(kept, TRUTH, {sample})))
    words = ("uhash", "nr", "config", "learner_id", "batch_nr") if is_mlr3 else CONFIGURATION
    model = _first_named(kept.drop(columns=[truth, sample]), words)
    if model is None:
        times = int(kept[sample].value_counts().max())
        raise SoberError(
            "E812",
            f"{sample[:40]!r} repeats (up to {times} rows per value), but no column names the configurations. {WANTED}",
        )
    fold, repeat = (next(iter(_named(kept, places)), None) for places in (FOLD, REPEAT))
    labels = {str(v) for v in kept[truth].dropna().unique()}
    rest = kept.drop(columns=[c for c in (sample, truth, model, fold, repeat) if c is not None])
    chances = {m[1]: rest[c] for c in rest if (m := _CHANCE.fullmatch(c)) and m[1] in labels}
    label = next((c for c in _named(rest, LABEL) if _are_labels(rest[c], kept[truth], labels)), None)
    number = next((c for c in _named(rest, NUMBER) if c != label and rest[c].dtype.kind in "iuf"), None)
    if not chances and label is None and number is None:
        raise SoberError("E812", f"No column of this long table holds predictions. {WANTED}")
    return Parts(
        kept[sample], kept[model].astype(str), kept[truth], kept.get(repeat), kept.get(fold), rest.get(label),
        rest.get(number), chances, is_adaptive=model == "batch_nr" and kept[model].nunique() > 1,
    )  # fmt: skip


def _only_truth(candidates: list[str]) -> str:
    """Return the only candidate for the truth, or ask."""
    if len(candidates) == 1:
        return candidates[0]
    found = "none of the columns is" if not candidates else f"{', '.join(map(repr, candidates[:4]))} could be"
    raise SoberError("E808", f"Which column holds the truth? It seems that {found} it. Write --target COLUMN.")


def _are_labels(column: Any, truth: Any, labels: set[str]) -> bool:
    """Whether predictions are classes: text, or whole numbers that all occur in the truth, of few classes."""
    if column.dtype.kind == "f" or truth.dtype.kind == "f":
        return False
    return len(labels) <= 20 and {str(v) for v in column.dropna().unique()} <= labels


# ---- long tables: columns to arrays --------------------------------------------------------------------------------
def _codes(column: Any, keep: Array) -> tuple[Array, list[Any]]:
    if column[keep].isna().any():
        raise SoberError("E812", f"The column {column.name!r} has gaps. Every prediction needs one.")
    codes, values = column[keep].factorize(sort=True)
    return np.asarray(codes), list(values)


def _own(sample: Array, n: int, column: Any, what: str) -> Array:
    """Return each sample's own value, the same in all its rows."""
    codes, values = column.factorize()
    own = np.full(n, -1)
    own[sample] = codes
    if (own[sample] != codes).any():
        raise SoberError("E812", f"The {what} differs between rows of the same sample. One sample has one {what}.")
    return _values(values.take(own))


def _values(column: Any) -> Array:
    return np.asarray(column.to_numpy() if column.dtype.kind in "iufb" else np.asarray(column, dtype=object))


def _responses(parts: Parts, spread: Any, truth: Array) -> dict[str, Any]:
    found, chances = {}, parts.chances
    labels = sorted(set(truth.tolist()))
    texts = {str(one): one for one in labels}
    if parts.number is not None:
        found["predict" if not chances and truth.dtype.kind == "f" else ""] = spread(parts.number, 0.0)
    if parts.label is not None:
        labelled = parts.label.astype(str).map(texts) if truth.dtype == object else parts.label
        if labelled.isna().any():
            raise SoberError("E110", "A predicted class does not occur in the truth. Check the labels.")
        found["predict"] = spread(labelled, labels[0])
    if chances and set(chances) >= set(texts):
        columns = [spread(chances[str(one)], 0.0) for one in labels]
        found["predict_proba"] = columns[1] if len(columns) == 2 else np.ma.stack(columns, axis=3)
    elif len(chances) == 1 and len(labels) == 2 and set(chances) <= set(texts):
        name, column = next(iter(chances.items()))
        found["predict_proba"] = spread(column if texts[name] == labels[1] else 1 - column, 0.0)
    if not found:
        raise SoberError("E812", "No column holds predictions for the classes of the truth. Check their names.")
    return found


# ---- wide tables of predictions ------------------------------------------------------------------------------------
def _wide_predictions(frame: Any, roles: Roles) -> ToolPredictions:
    """Read a wide table; any table that is not long is read as one, or refused."""
    truth = roles.target_names
    if not truth:
        raise SoberError("E808", f"Say which column holds the truth: --target COLUMN. {listed(frame.columns)} {WANTED}")
    for name in roles.ignore:
        find(frame, name)
    kept = frame.loc[frame[truth].notna().all(axis=1)]
    if not len(kept):
        raise SoberError("E112", f"The truth {truth[0]!r} is missing in every row. Name another column.")
    taken = {*truth, roles.group, *roles.ignore}
    names = [c for c in frame.columns if c not in taken and _plain(c) not in PLACE]
    if not names:
        raise SoberError(
            "E812", "Beside the truth there is no column of predictions. Give one column per configuration."
        )
    values = [_column(kept[c], c, kept[truth[0]]) for c in names]
    if len({v.dtype == object for v in values}) > 1:
        raise SoberError(
            "E812", "Some columns hold labels and others numbers. Give one kind; --ignore leaves some out."
        )
    notes: tuple[Note, ...] = ()
    if len(truth) == 1:
        labels = set(kept[truth[0]].astype(str))
        if len(names) == len(labels) > 1 and {re.split(r"[_. ]", name)[-1] for name in names} == labels:
            raise SoberError(
                "E813",
                f"The columns {', '.join(repr(n[:30]) for n in names[:3])} look like probabilities of the "
                f"{len(labels)} classes by one configuration. Give one column per configuration, or a long "
                f"table. {WANTED}",
            )
        y = _values(kept[truth[0]])
    else:
        y, notes = survival_target(kept, truth, roles.event_value)
    subjects = [c for c in _named(kept, SUBJECT, taken) if kept[c].duplicated().any()] if roles.group is None else []
    if subjects:
        text = f"{subjects[0][:40]!r} repeats. If it tells patients apart, write --group {subjects[0][:40]}, so that "
        notes += (Note("W301", f"{text}their rows are resampled together.", (subjects[0],)),)
    folds = next(iter(_named(kept, FOLD, taken)), None)
    return ToolPredictions(
        tool="AutoGluon" if any(re.search(r"_BAG_L\d|WeightedEnsemble_L\d", c) for c in names) else "wide",
        y=y,
        responses={"": np.ma.stack(values, axis=1)},
        names=names,
        groups=None if roles.group is None else kept[roles.group].astype(str).to_numpy(dtype=object).astype(str),
        folds=None if folds is None or kept[folds].isna().any() else kept[folds].factorize(sort=True)[0][:, None],
        is_adaptive=all(re.fullmatch(r"(?i)trial[_ ]?\d+|.*_trial\d+", c) for c in names),
        notes=notes,
    )


def _column(column: Any, name: str, truth: Any) -> Any:
    """Return a column of predictions as a masked array: numbers, or labels as text."""
    gaps = column.isna().to_numpy()
    if column.dtype.kind in "iufb":
        return np.ma.masked_array(column.fillna(0).to_numpy(), gaps)
    if gaps.all():  # nothing tells labels from numbers
        fill = np.zeros(len(column)) if truth.dtype.kind in "iufb" else truth.to_numpy(dtype=object)
        return np.ma.masked_array(fill, gaps)
    known = set(truth.astype(str)) if truth.dtype.kind not in "iufb" else set()
    strange = next((v for v in column.dropna().astype(str) if v not in known), None)
    if strange is None:
        return np.ma.masked_array(column.fillna(next(iter(known))).to_numpy(dtype=object), gaps)
    if _plain(name) in CONFIGURATION:
        raise SoberError(
            "E812",
            f"Column {name[:40]!r} seems to name configurations, but no column tells the samples apart. {WANTED}",
        )
    raise SoberError(
        "E812",
        f"Column {name[:40]!r} holds {strange[:30]!r}, which is neither a number nor one of the classes. "
        f"Leave it out with --ignore {name[:40]}; or, if this is a long table, rename its columns. {WANTED}",
    )
