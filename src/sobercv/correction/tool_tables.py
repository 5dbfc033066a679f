"""Tables that tools wrote: fold scores or predictions, wide or long, known by the names of their columns.

A wide table has one column per configuration and one row per fold (scores) or per sample (predictions). A long one has
one row per score or prediction and columns with documented names: those of tidymodels, caret, mlr3 and sober, or of the
lists below. Where a part is lacking, the table is refused: read in another way it would give a wrong number.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import reduce
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..containers import Array
from ..errors import Note, SoberError
from ..tables import Settings
from ..tables.naming import listed
from ..tables.roles import assign, check_target, find
from .judging import FoldScores, ToolPredictions
from .searches import OVERLAP, SPLIT, read_search

#: Columns that number samples, tell patients apart, or say where a row was in the cross-validation; never predictions
#: of a configuration. Where several are present, the first in the list plays the part.
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
#: More rows than this, numbered as folds, may be samples that were left out one by one.
MOST_FOLDS = 20
_SAY = "Name with metric= (on the command line --metric)"
_NO_SCORES = (
    "A table of fold scores has one row per fold and one numeric column per configuration, or columns such as fold, "
    "model and score; got the columns {}."
)
WANTED = (
    "A long table needs: sample (which row of the data), model (which configuration), y_true, and prob_<class>, score "
    "or y_pred; fold and repeat if there are any."
)
#: Tools whose long tables are known, by columns that they all have; the first one numbers the samples.
TOOLS = {
    "tidymodels": (".row", ".config"),
    "caret": ("rowIndex", "obs", "pred", "Resample"),
    "mlr3": ("row_ids", "truth"),
}
#: Columns of tables of predictions, which hold folds as well.
PREDICTIONS = {"pred", "obs", "truth", "response", "prediction", "rowindex", "row", "row_ids", "y_true", "y_pred"}
#: Measures of which less is better: they are negated, and called neg_... as in scikit-learn.
LOSS = re.compile(
    r"(classif\.|regr\.|mean_)?(rmse|mae|mse|mape|smape|mase|medae|sse|mn_log_loss|log_?loss|[bm]?brier(_class|_score)?|"
    r"ce|mmce|err(or)?|loss|.*_(error|loss))",
    re.I,
)
GAIN = re.compile(
    r"(classif\.|regr\.|mean_)?(acc(uracy)?|kappa|roc|(roc_?|pr_?)?auc|sens(itivity)?|spec(ificity)?|f_?(meas|1|beta).*|"
    r"mcc|bacc|bal(anced)?_accuracy|r(squared|sq|2)|ccc|(test_)?score|precision|recall|ppv|npv|(pos|neg)_pred_value|"
    r"detection_rate|j_index|c_?index|concordance.*|average_precision|neg_.+)",
    re.I,
)
#: Columns of cross_validate and of a trimmed cv_results_, and folds as columns: no configurations of a wide table.
_SUMMARY = re.compile(
    r"((mean_|std_|rank_)?(test|train)|param)_.+|(mean_|std_)?(fit|score)_time|"
    r"(fold|split|resample|rep(eat)?)[ _.]?\d+|mean|average|avg|median|sd|std|std_?(dev|err)|se",
    re.I,
)
#: Rows of a summary below the rows of the folds.
_SUMMARY_ROW = r"(?i)\s*(mean|average|avg|median|sd|std|std[ _.]?(dev|err)|stdev|se|min|max|overall|total)\W*"
#: Bootstraps and random hold-outs of caret and rsample, whose test sets overlap; size of a bootstrap's test set over
#: that of its training set, which others hardly exceed.
_HOLD_OUT, _HOLD_OUT_SHARE = r"(?i)(bootstrap|resample)\d+$", 0.368 / 0.632
_CHANCE = re.compile(r"(?i)\.?(?:y_?)?(?:prob|proba|probability|p|pred|score)[_. ](.+)")


def recognise(
    frame: Any, roles: Settings | None = None, metric: str | None = None, n_repeats: int | None = None, **given: Any
) -> FoldScores | ToolPredictions:
    """Read a table of fold scores or of predictions.

    `roles`: the column with the truth (long tables of known tools tell it themselves), or time and event in wide tables
    of risks; a group whose rows are resampled together; columns or, in long tables, configurations to leave out.
    `metric`, `n_repeats`: the measure that selected, and the number of repeats, in a table of fold scores.
    `**given`: names of `Settings`, instead of it.
    """
    roles = roles or Settings(**given)
    frame = _tidied(frame)
    _check_no_means(frame)
    if roles.target_names:
        check_target(roles, frame.columns)
    elif (is_named := holds_fold_scores(frame)) or _holds_wide_scores(frame):
        if metric is None and not is_named:
            text = "The table holds fold scores. Say of what: --metric accuracy, or --metric rmse for errors."
            raise SoberError("E113", text)
        return read_frame(frame.drop(columns=list(roles.ignore), errors="ignore"), metric, n_repeats=n_repeats)
    for name in filter(None, [*roles.target_names, roles.group]):
        find(frame, name)
    roles.roles()  # refuses a column with two roles
    if not tool_of(frame) and _sample(frame, roles) is None:
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
    found = [column for word in words for name, column in names if name == word]
    if len(set(found)) < len(found):
        raise SoberError("E804", f"Several columns are called {found[0]!r}. Rename all but one.")
    return found


def _first_named(frame: Any, words: Collection[str], leave_out: Collection[Any] = ()) -> Any:
    """Return the column that has the first of the words as its name; None if there is none."""
    return next(iter(_named(frame, words, leave_out)), None)


def _joined(frame: Any, columns: list[Any]) -> Any:
    """Name each row's configuration by the columns that tell configurations apart."""
    if not columns:
        return frame.iloc[:, 0].map(lambda _: "the only one")
    if len(columns) == 1 and _plain(columns[0]) in CONFIGURATION:
        return _text(frame[columns[0]])
    return reduce(lambda text, more: text + ", " + more, (f"{c}=" + frame[c].astype(object).map(str) for c in columns))


def _text(column: Any) -> Any:
    """Write a column that every row needs as text."""
    if column.isna().any():
        raise SoberError("E812", f"The column {column.name!r} has missing values. Every row needs one.")
    return column.astype(str)


def _tidied(frame: Any) -> Any:
    """Make columns of an index that says where a row was; drop the row numbers that R and pandas write as a column.

    caret's `resamples()$values` becomes a long table.
    """
    if not {*FOLDS, *REPEAT, *MODELS}.isdisjoint(map(_plain, frame.index.names)):
        frame = frame.reset_index()
    nameless = [c for c in frame.columns if re.fullmatch(r"(?i)Unnamed: \d+|X|V1|\.\.\.1|index|", str(c))]
    counts = [[str(i + start) for i in range(len(frame))] for start in (0, 1)]
    frame = frame.drop(columns=[c for c in nameless if frame[c].astype(str).tolist() in counts]).reset_index(drop=True)
    values = [str(c) for c in frame.columns if c != "Resample"]
    if values and "Resample" in frame and all("~" in name for name in values):  # model~measure
        frame = frame.melt("Resample", var_name="model", value_name="score")
        parts = frame.pop("model").str.rsplit("~", n=1)
        frame = frame.assign(model=parts.str[0], metric=parts.str[1])
    return frame


def _places(frame: Any, words: Collection[str]) -> tuple[Any, Any]:
    """Return the fold and the repeat of each row by the columns so named; None where there are none."""
    own = [c for c in frame.columns if str(c)[:1] == "."]  # tidymodels' .iter is a step of the search
    fold, repeat = _first_named(frame, words, own), _first_named(frame, REPEAT, own)
    if repeat is None and fold == "id2" and "id" in frame:
        repeat = "id"
    if fold is None or repeat is not None:
        return frame.get(fold), frame.get(repeat)
    told = frame[fold].astype(str).str.extract(r"[._ ](Rep\w*)$")[0]  # caret names both at once: Fold03.Rep1
    return frame[fold], None if told.isna().any() else told.rename(None)


# ---- fold scores ---------------------------------------------------------------------------------------------------
def holds_fold_scores(frame: Any) -> bool:
    """Whether a table holds scores of folds by their names, rather than predictions of samples."""
    names = {_plain(column) for column in frame.columns}
    if any(SPLIT.fullmatch(str(column)) for column in frame.columns):
        return True
    if names & PREDICTIONS or any(str(c).startswith(".pred") for c in frame.columns) or not names & set(FOLDS):
        return False
    is_long = bool(_measures(frame)) and not names.isdisjoint((*MODELS, "resample"))
    return is_long or {".metric", ".estimate"} <= set(frame.columns)


def _holds_wide_scores(frame: Any) -> bool:
    """Whether each row of a wide table is a fold by its name, and every other column can be a configuration's scores.

    Numbers of folds could be those of leave-one-out, whose rows are samples: they are believed in short tables only.
    """
    places = _named(frame, (*FOLDS, *REPEAT))
    if not places or frame.duplicated(places).any() or not _could_be_scores(frame.drop(columns=places)):
        return False
    labels = frame[places].astype(str)
    if any(labels[c].str.match(r"(?i)(fold|repeat|bootstrap|resample|split)\W*\d").any() for c in places):
        return True
    return len(frame) <= MOST_FOLDS and any("fold" in _plain(c) or _plain(c) == "resample" for c in places)


def _could_be_scores(table: Any) -> bool:
    """Whether all columns hold fractions, unlike labels and numbers of samples, and none is called a truth."""
    numbers = all(column.dtype.kind == "f" and (column.dropna() % 1 != 0).any() for _, column in table.items())
    return numbers and table.shape[1] >= 2 and not _named(table, (*TRUTH, *PREDICTIONS))


def read_frame(
    frame: Any, metric: str | None = None, *, n_repeats: int | None = None, greater_is_better: bool | None = None
) -> FoldScores:
    """Read fold scores from a data frame.

    `metric`: the measure that selected; needed for several measures in rows, default: the first column of a measure.
    `n_repeats`: where no column tells the repeats (default: 1). `greater_is_better`: for a measure of unknown name.
    """
    if frame.columns.inferred_type == "integer" and frame.index.inferred_type == "string" and not frame.index.name:
        text = "Rows have names and columns have numbers, as if every row were a configuration. Pass frame.T."
        raise SoberError("E812", text)
    notes = list[Note]()
    frame = _tidied(_without_summary_rows(frame, notes))
    if any(SPLIT.fullmatch(str(column)) for column in frame.columns):
        return _cv_results(frame, metric, n_repeats)
    _check_no_means(frame)
    columns = ", ".join(map(str, list(frame.columns)[:8]))
    resampling = _check_one_benchmark(frame)
    fold, repeat = _places(frame, FOLDS)
    if "repeated" in resampling and repeat is None and n_repeats is None:
        raise SoberError(
            "E108",
            f"The folds are those of {resampling!r}, and no column tells the repeats apart. Say how often the folds "
            "were repeated: n_repeats= (on the command line --repeats).",
        )
    if fold is None or not _measures(frame):
        table, places = _wide_scores(frame, repeat, n_repeats, columns)
    else:
        frame, metric, score = _one_measure(frame, metric, notes)
        table, places = _long_scores(frame, score)
    try:
        scores = table.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        scores = np.empty((0, 0))
    if scores.shape[1] < 2:
        raise SoberError("E812", _NO_SCORES.format(columns))
    sizes = places.value_counts()  # folds by repeat
    told = len(sizes) if sizes.max() > 1 else 1  # else repeats of one split
    if sizes.nunique() > 1 or (told > 1 and n_repeats not in (None, told)):
        raise SoberError(
            "E108",
            f"The table has {told} repeats, with {sizes.min()} to {sizes.max()} folds each. Repeats must have the "
            "same number of folds, and `n_repeats` must be their number.",
        )
    is_hold_out = told < len(sizes) or (fold is not None and fold.astype(str).str.match(_HOLD_OUT).all())
    is_hold_out = is_hold_out or resampling in ("bootstrap", "subsampling")
    notes += [Note("W203", OVERLAP)] if is_hold_out else []
    sign, name = direction("score" if metric is None else metric, greater_is_better)
    return FoldScores(
        {name: sign * scores}, names=[str(c) for c in table.columns],
        n_repeats=told if n_repeats is None else n_repeats, test_share=_HOLD_OUT_SHARE if is_hold_out else None,
        is_adaptive=len(set(frame.get(".iter", ()))) > 1, notes=tuple(notes),
    )  # fmt: skip


def _without_summary_rows(frame: Any, notes: list[Note]) -> Any:
    """Leave out rows that a spreadsheet or a tool wrote below the folds, such as their mean."""
    fold = _first_named(frame, FOLDS)
    labels = frame.index.to_series() if fold is None else frame[fold]
    is_summary = labels.astype(str).str.fullmatch(_SUMMARY_ROW).to_numpy(bool)
    if not is_summary.any():
        return frame
    names = ", ".join(map(repr, labels[is_summary].unique()[:3]))
    notes.append(Note("W204", f"Rows called {names} are no folds, and were left out."))
    return frame[~is_summary]


def _check_no_means(frame: Any) -> None:
    """Refuse the summaries of R's tools, known by columns that tables of fold scores do not have."""
    names = set(map(str, frame.columns))
    save = ""
    if {".metric", "mean"} <= names and ".estimate" not in names:
        save = "collect_metrics(tuned, summarize = FALSE)"
    elif {"learner_id", "resampling_id", "iters"} <= names:
        save = "as.data.table(bmr$score())"
    elif any(f"{measure}SD" in names for measure in _measures(frame)):
        save = 'fit$resample, after trainControl(returnResamp = "all")'
    if save:
        raise SoberError("E812", f"These are means over folds, and the score of every fold is needed. Save {save}.")


def _check_one_benchmark(frame: Any) -> str:
    """Refuse rows of several tasks or resamplings of mlr3; return the name of the resampling, where there is one."""
    for column, what in (("task_id", "tasks"), ("resampling_id", "resamplings")):
        name = _first_named(frame, (column,))
        found = [] if name is None else frame[name].dropna().astype(str).unique().tolist()
        if len(found) > 1:
            said = f"{', '.join(map(repr, found[:-1][:3]))} and {found[-1]!r}"
            raise SoberError("E812", f"The table holds the {what} {said}; keep the rows of one.")
    return found[0].casefold() if found else ""


def direction(measure: str, greater_is_better: bool | None) -> tuple[int, str]:
    """Return the sign that makes more better, and the name of the signed score; ask where the name does not tell."""
    if greater_is_better is None:
        greater_is_better = GAIN.fullmatch(measure) is not None
        if not greater_is_better and not LOSS.fullmatch(measure):
            said = f"It is unknown whether a higher {measure!r} is better. Pass greater_is_better=True or False."
            said += f" On the command line call it score, or {measure}_loss if lower is better."
            raise SoberError("E113", said)
    return (1, measure) if greater_is_better else (-1, f"neg_{measure}")


def _measures(frame: Any) -> list[str]:
    """Columns that hold a measure by their names."""
    return [c for c in map(str, frame.columns) if LOSS.fullmatch(c) or GAIN.fullmatch(c) or _plain(c) in SCORE]


def _one_measure(frame: Any, metric: str | None, notes: list[Note]) -> tuple[Any, Any, Any]:
    """Return the rows of the measure that selected, its name, and the column that holds its scores."""
    from sklearn.neighbors import VALID_METRICS

    score, measures = _first_named(frame, SCORE), _measures(frame)
    measure = None if score is None else _first_named(frame, ("metric", "measure"))
    known = [] if measure is None else list(dict.fromkeys(_text(frame[measure])))
    # Measures one below the other; "metric" is also a parameter of nearest neighbours.
    if measure == ".metric" or not set(known) <= {*VALID_METRICS["ball_tree"], *VALID_METRICS["brute"]}:
        metric = known[0] if metric is None and len(known) == 1 else metric
        if metric not in known:
            raise SoberError("E113", f"{_SAY} the measure that selected; the table holds {', '.join(known)}.")
        return frame[frame[measure].astype(str) == metric].drop(columns=measure), metric, score
    if metric in measures:
        return frame, metric, metric
    if metric is not None and score is None:
        raise SoberError("E122", f"{_SAY} one of the columns {', '.join(measures)}; got {metric!r}.")
    score = measures[0] if score is None else score
    if metric is None and len(measures) > 1:
        text = f"The table holds {', '.join(measures)}; {score} is taken as the one that selected."
        notes.append(Note("W204", f"{text} {_SAY} another."))
    return frame, metric or score, score


def _long_scores(frame: Any, score: Any) -> tuple[Any, Any]:
    """Make a long table wide, the folds of each repeat together; return it and the repeat of each of its rows."""
    fold, repeat = _places(frame, FOLDS)
    place = fold.astype(str).to_frame("fold").assign(repeat="" if repeat is None else repeat.astype(str))
    # What tells configurations apart: the column that names them, or all parameters.
    taken = {fold.name, None if repeat is None else repeat.name, *_measures(frame)}
    by = [c for c in frame.columns if c not in taken and _plain(c) != "task_id" and str(c)[:1] != "."]
    named = _first_named(frame, MODELS)
    # A column called "model" may be one of several parameters (caret's C5.0).
    if named is not None and (len(by) < 2 or not place.assign(model=frame[named]).duplicated().any()):
        by = [named]
    elif named is not None and named not in by:  # .config of one of several workflows
        by.append(named)
    model = _joined(frame, by)
    if model.nunique() < 2:
        raise SoberError(
            "E813",
            "The table holds the fold scores of one configuration, so nothing was chosen and nothing can be corrected. "
            'Save those of every configuration (caret: trainControl(returnResamp = "all")).',
        )
    twice = place.assign(model=model).duplicated(keep=False).to_numpy()
    if twice.any():
        first = twice.argmax()
        raise SoberError(
            "E812",
            f"{model.iloc[first]!r} has two scores on {fold.name} {place['fold'].iloc[first]!r}. One column must tell "
            f"folds apart and one or more must tell configurations apart; read as {fold.name!r} and "
            f"{', '.join(map(repr, by))}.",
        )
    # Fold2 before Fold10.
    order = [place[c].str.replace(r"\d+", lambda number: number[0].zfill(20), regex=True) for c in ("repeat", "fold")]
    table = frame.set_index([*order, model])[score].unstack()[model.unique()]
    return table, table.index.get_level_values(0)


def _wide_scores(frame: Any, repeat: Any, n_repeats: int | None, columns: str) -> tuple[Any, Any]:
    """Return the columns of the configurations, the folds of each repeat together, and the repeat of each row."""
    places = _named(frame, (*FOLDS, *REPEAT))
    if places and n_repeats is None and frame.duplicated(places).any():
        raise SoberError(
            "E812",
            f"Rows have the same {' and '.join(map(str, places))}, so this is not a table with one row per fold; got "
            f"the columns {columns}. Pass how often folds were repeated (n_repeats=); out-of-fold predictions go to "
            "sobercv.bbc(y, predictions).",
        )
    table, parts = frame.drop(columns=places), {*TRUTH, *SAMPLE, *SUBJECT, *CONFIGURATION, *_measures(frame)}
    for column in table.columns:
        if not parts.isdisjoint((column, _plain(column))) or _SUMMARY.fullmatch(str(column)):
            text = f" {column!r} is not a configuration; out-of-fold predictions go to sobercv.bbc(y, predictions)."
            raise SoberError("E812", _NO_SCORES.format(columns) + text)
    repeat = frame.index.to_series().map(lambda _: "") if repeat is None else repeat
    if repeat.duplicated().any():  # else repeats of one split
        repeat = repeat.sort_values(kind="stable")
    return table.loc[repeat.index], repeat


def _cv_results(frame: Any, metric: str | None, n_repeats: int | None) -> FoldScores:
    """A cv_results_ that was saved as a table: one row per configuration."""
    results: dict[str, Any] = {str(column): frame[column].to_numpy() for column in frame.columns}
    parameters = frame[[name for name in results if name.startswith("param_")]].to_dict("records")
    results["params"] = [{name[6:]: value for name, value in row.items() if value == value} for row in parameters]
    search = SimpleNamespace(cv_results_=results, scoring=metric or "score", refit=metric or True)
    rank = f"rank_test_{metric if f'rank_test_{metric}' in results else 'score'}"
    if rank in results:
        search.best_index_ = int(results[rank].argmin())
        if not np.array_equal(results[rank], rankdata(results[rank], method="min")):
            raise SoberError(
                "E813",
                f"{rank} does not rank all rows: some are missing, or several tables were joined. Pass every "
                "configuration that was tried; if searches were joined, leave out the columns of ranks.",
            )
    return read_search(search, metric, n_repeats)


# ---- long tables of predictions ------------------------------------------------------------------------------------
def tool_of(frame: Any) -> str:
    """Return the tool whose long table of predictions this is by its columns; an empty name for any other table."""
    return next((tool for tool, columns in TOOLS.items() if set(columns) <= set(frame.columns)), "")


def holds_long_predictions(frame: Any) -> bool:
    """Whether a table is a long one of predictions by its names: of a known tool, or with the documented parts."""
    parts = all(_named(frame, words) for words in (CONFIGURATION, TRUTH))
    is_long = bool(tool_of(frame)) or (parts and _sample(frame, Settings()) is not None)
    return is_long and not holds_fold_scores(frame)


def _sample(frame: Any, roles: Settings) -> Any:
    """Return the column that tells samples apart, if it repeats as in long tables."""
    # A patient may have several rows in a wide table, too; only with a column of models does it name samples.
    words = (*SAMPLE, *SUBJECT) if _named(frame, CONFIGURATION, roles.ignore) else SAMPLE
    names = _named(frame, words, {*roles.roles(), roles.group})
    return next((name for name in names if frame[name].nunique() > 1 and frame[name].duplicated().any()), None)


def read_long(frame: Any, roles: Settings) -> ToolPredictions:
    """Bring the columns of a long table into arrays [N, C, R(, K)], without the configurations to be ignored.

    Rows that were predicted twice in the same place are refused: then these are not out-of-fold predictions of one
    cross-validation.
    """
    tool = tool_of(frame)
    if tool == "mlr3":
        _check_one_benchmark(frame)
    own = TOOLS.get(tool, (_sample(frame, roles),))
    sample, group = own[0], roles.group or (".group" if tool == "tidymodels" and ".group" in frame else None)
    table = frame.drop(columns=[c for c in roles.ignore if c in frame and c not in own])
    fold, repeat = _places(table, {"tidymodels": ("id2", "id"), "caret": ("resample",)}.get(tool, FOLD))
    if tool in ("tidymodels", "caret") and repeat is None and fold is not None:
        # Fold01 is a fold of the only repeat; Bootstrap01 is a hold-out of its own.
        repeat = None if fold.astype(str).str.match(r"(?i)fold").all() else fold
    table = table.drop(columns=[c for c in table if c == group and c not in own])
    truth = roles.target or {"caret": "obs", "mlr3": "truth"}.get(tool) or _truth(table, sample, tool)
    table = table.drop(columns=[sample, truth], errors="ignore")
    model = _model(table, frame[sample], frame[truth], tool)
    chances, label, number = _predicted(table, frame[truth], tool)
    keep = (~model.isin(list(roles.ignore)) & frame[truth].notna()).to_numpy()
    if not keep.any():
        raise SoberError("E812", "No predictions remain: the truth is missing everywhere, or all were ignored.")

    def codes(column: Any) -> tuple[Array, list[Any]]:
        if column[keep].isna().any():
            raise SoberError("E812", f"The column {column.name!r} has missing values. Every prediction needs one.")
        found, values = column[keep].factorize(sort=True)
        return np.asarray(found), list(values)

    (rows, samples), (models, names) = codes(frame[sample]), codes(model)
    places, repeats = (np.zeros(len(rows), int), [0]) if repeat is None else codes(repeat)
    place, (n, c, r) = (rows, models, places), (len(samples), len(names), len(repeats))
    times = np.zeros((n, c, r), int)
    np.add.at(times, place, 1)
    if (most := times.max()) > 1:
        row, which, _ = np.unravel_index(times.argmax(), times.shape)
        start = "Only one configuration can be identified: in" if c == 1 else "In"
        raise SoberError(
            "E813" if c == 1 else "E814",
            f"{start} one repeat, row {samples[row]} of configuration {str(names[which])[:50]!r} was predicted {most} "
            "times, so these are not out-of-fold predictions of one cross-validation. Keep the columns that identify "
            "configurations and repeats, and save the hold-out predictions only.",
        )

    def spread(column: Any, empty: Any = 0.0) -> Any:
        values = column[keep].to_numpy()
        kind = object if values.dtype.kind not in "iufb" else np.result_type(values, 0.0)
        out = np.full((n, c, r), empty, dtype=kind)
        out[place] = values
        return np.ma.masked_array(out, times == 0)

    def shared(column: Any, what: str, *at: Array) -> Array:
        """Return codes of what all rows of a sample share, at its row or also its repeat: [N] or [N, R]."""
        found, out = codes(column)[0], np.zeros((n, r)[: len(at)], int)
        out[at] = found
        if (out[at] != found).any():
            raise SoberError("E812", f"The {what} differs between rows of one sample. Every sample needs one {what}.")
        return out

    shared(frame[truth], "truth", rows)
    firsts = np.flatnonzero(keep)[np.unique(rows, return_index=True)[1]]  # a row of each sample
    y, responses = frame[truth].iloc[firsts], {}
    y = np.asarray(y.to_numpy(None if y.dtype.kind in "iufb" else object))
    labels = {str(one): one for one in sorted(set(y.tolist()))}
    if number is not None:
        responses["predict" if not chances and y.dtype.kind == "f" else ""] = spread(table[number])
    if label is not None:
        predicted = table[label].astype(str).map(labels)
        if predicted.isna().any():
            raise SoberError("E110", "A predicted class does not occur in the truth. Check the labels.")
        responses["predict"] = spread(predicted, next(iter(labels.values())))
    if set(chances) == set(labels):
        columns = [spread(table[chances[name]]) for name in labels]
        responses["predict_proba"] = columns[1] if len(columns) == 2 else np.ma.stack(columns, axis=3)
    elif len(chances) == 1 and len(labels) == 2:
        ((name, column),) = chances.items()
        chance = spread(table[column])
        responses["predict_proba"] = chance if name == list(labels)[1] else 1 - chance
    if not responses:
        raise SoberError("E812", "No column holds predictions for the classes of the truth. Check their names.")
    if group is not None:
        shared(frame[group], "group", rows)
    return ToolPredictions(
        tool or f"long table by {sample!r} and {model.name!r}", y, responses, [str(name) for name in names],
        groups=None if group is None else frame[group].iloc[firsts].to_numpy(object).astype(str),
        folds=None if fold is None else shared(fold, "fold", rows, places),
        is_adaptive=model.name == "batch_nr" or len(set(table.get(".iter", ()))) > 1, n_repeats=r,
    )  # fmt: skip


def _truth(table: Any, sample: Any, tool: str) -> Any:
    """Return the column of the truth; ask where none or several could be it."""
    found = _named(table, TRUTH, {sample})
    if tool == "tidymodels":  # the outcome has its own name, and is the same in all rows of a sample
        others = [c for c in table if c[:1] != "." and c not in ("id", "id2")]
        found = [c for c in others if table.groupby(sample)[c].nunique().max() == 1]
    if len(found) == 1:
        return found[0]
    several = f"Which column holds the truth? It could be {' or '.join(map(repr, found[:4]))}."
    said = several if found else "No column clearly holds the truth."
    raise SoberError("E808", f"{said} Write --target COLUMN.")


def _predicted(table: Any, truth: Any, tool: str) -> tuple[dict[str, Any], Any, Any]:
    """Return the columns of predictions: probabilities by class, labels, and numbers; None where there are none."""
    labels = {str(label) for label in truth.dropna().unique()}
    spelled = _spelled(labels)
    if tool == "caret":
        chances = {spelled[c]: c for c in table if c in spelled}
    else:
        chances = {spelled[m[1]]: c for c in table if (m := _CHANCE.fullmatch(str(c))) and m[1] in spelled}

    def are_labels(column: Any) -> bool:
        """Whether predictions are classes: text, or whole numbers that all occur in the truth, of few classes."""
        if "f" in (column.dtype.kind, truth.dtype.kind):
            return False
        return column.dtype.kind not in "iub" or (len(labels) <= 20 and {*column.dropna().astype(str)} <= labels)

    label = next((c for c in _named(table, LABEL) if are_labels(table[c])), None)
    number = next((c for c in _named(table, NUMBER) if c != label and table[c].dtype.kind in "iuf"), None)
    if not chances and label is None and number is None:
        hint = "Tune with save_pred = TRUE." if tool == "tidymodels" else WANTED
        raise SoberError("E812", f"No column of this long table holds predictions. {hint}")
    return chances, label, number


def _spelled(labels: Collection[str]) -> dict[str, str]:
    """Map spellings to labels: R's data.frame() writes points for the spaces and signs of names; each is of one."""
    points = {label: re.sub(r"[^\w.]", ".", label) for label in labels}
    unique = {name: label for label, name in points.items() if [*points.values()].count(name) == 1}
    return {**unique, **{label: label for label in labels}}


def _model(table: Any, sample: Any, truth: Any, tool: str) -> Any:
    """Name each row's configuration."""
    if tool == "caret":  # by all parameters
        others = {*TOOLS[tool], "weights", *_spelled(set(truth.dropna().astype(str)))}
        return _joined(table, [c for c in table if c not in others])
    own = {"tidymodels": ("config",), "mlr3": ("uhash", "nr", "config", "learner_id", "batch_nr")}
    column = _first_named(table, own.get(tool, CONFIGURATION))
    if column is None:
        raise SoberError(
            "E812",
            f"{sample.name[:40]!r} repeats (up to {sample.value_counts().max()} rows per value), but no column names "
            f"the configurations. {WANTED}",
        )
    return _text(table[column])


# ---- wide tables of predictions ------------------------------------------------------------------------------------
def _wide_predictions(frame: Any, roles: Settings) -> ToolPredictions:
    """Read a wide table; any table that is not long is read as one, or refused."""
    if not roles.target_names:
        text = f"Say which column holds the truth: --target COLUMN. {listed(frame.columns)} {WANTED}"
        if _could_be_scores(frame):
            text += " If each row holds the scores of one fold, add a column fold that numbers the rows."
        raise SoberError("E808", text)
    names = [c for c in frame.columns if c not in roles.roles() and _plain(c) not in PLACE]
    if not names:
        text = "There is no column of predictions beside the truth. Pass one column per configuration."
        raise SoberError("E812", text)
    data = assign(frame, roles)
    labels = set(map(str, data.y)) if data.task != "survival" else {}
    values = [_column(data.X[name], labels if data.y.dtype.kind in "OU" else {}) for name in names]
    if len({v.dtype == object for v in values}) > 1:
        text = "Some columns hold labels and others numbers. Pass one kind; --ignore leaves some out."
        raise SoberError("E812", text)
    if len(names) == len(labels) > 1 and {re.split(r"[_. ]", name)[-1] for name in names} == labels:
        raise SoberError(
            "E813",
            f"The columns {', '.join(repr(n[:30]) for n in names[:3])} look like probabilities of the {len(labels)} "
            f"classes by one configuration. Pass one column per configuration, or a long table. {WANTED}",
        )
    if by_class := _probabilities_by_class(names, labels, data.X):
        raise SoberError(
            "E812",
            f"The columns {by_class} are probabilities of one configuration, one for each class. A wide table has one "
            f"column per configuration; write probabilities of classes as a long table. {WANTED}",
        )
    notes, (fold, repeat) = data.notes, _places(data.X, FOLD)
    if repeat is not None and repeat.nunique() > 1:
        raise SoberError(
            "E812",
            "The table names repeats, so a sample has several rows; in a wide table every row is a sample. Pass "
            f"the repeats as a long table. {WANTED}",
        )
    subject = next((c for c in _named(data.X, SUBJECT) if data.X[c].duplicated().any()), "")
    if subject and roles.group is None:
        text = f"{subject[:40]!r} repeats. If it identifies patients, write --group {subject[:40]}, so that "
        notes += (Note("W301", f"{text}their rows are resampled together.", (subject,)),)
    groups = None if roles.group is None else frame[roles.group].iloc[data.rows].astype(str).to_numpy(object)
    return ToolPredictions(
        "AutoGluon" if any(re.search(r"_BAG_L\d|WeightedEnsemble_L\d", c) for c in names) else "wide", data.y,
        {"": np.ma.stack(values, axis=1)}, names, groups=None if groups is None else groups.astype(str),
        folds=None if fold is None or fold.isna().any() else fold.factorize(sort=True)[0][:, None],
        is_adaptive=all(re.fullmatch(r"(?i)trial[_ ]?\d+|.*_trial\d+", c) for c in names), notes=notes,
    )  # fmt: skip


def _probabilities_by_class(names: list[Any], labels: Collection[str], table: Any) -> str:
    """Return columns of one configuration where all are called by configuration and class and add up to 1."""
    if not 2 <= len(labels) <= len(names) or any(table[c].dtype.kind != "f" for c in names):
        return ""
    by_stem: dict[str, list[Any]] = {}
    for name in names:
        label = max((label for label in labels if str(name).endswith(label)), key=len, default="")
        by_stem.setdefault(str(name).removesuffix(label), []).append(name)
    groups = [*by_stem.values()]
    adds_up = all(len(group) == len(labels) for group in groups) and all(
        np.allclose(table[group].dropna().sum(axis=1), 1.0, atol=1e-3) for group in groups
    )
    return ", ".join(repr(str(c)[:30]) for c in groups[0][:3]) if adds_up else ""


def _column(column: Any, labels: Collection[str]) -> Any:
    """Return a column of predictions as a masked array: numbers, or labels as text."""
    gaps, name = column.isna().to_numpy(), str(column.name)
    if column.dtype.kind in "iufb" or (gaps.all() and not labels):
        return np.ma.masked_array(column.fillna(0).to_numpy(np.float64 if gaps.all() else None), gaps)
    strange = next((v for v in column.dropna().astype(str) if v not in labels), None)
    if strange is None:
        return np.ma.masked_array(column.astype(object).fillna(min(labels)).to_numpy(), gaps)
    what = "seems to name configurations, but no column tells the samples apart."
    if _plain(name) not in CONFIGURATION:
        what = (
            f"holds {strange[:30]!r}, which is neither a number nor one of the classes. Leave it out with --ignore "
            f"{name[:40]}; or, if this is a long table, rename its columns."
        )
    raise SoberError("E812", f"Column {name[:40]!r} {what} {WANTED}")
