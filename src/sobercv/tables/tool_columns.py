"""Columns of tables that other tools write: fold scores or predictions of configurations, known by their names.

A wide table has one column per configuration and one row per fold (scores) or per sample (predictions). A long one has
one row per score or prediction and columns with documented names: those of tidymodels, caret, mlr3 and sober, or of the
lists below.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ..errors import Note, SoberError
from .naming import plain

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
PREDICTED = ("y_pred", "ypred", "pred", "predicted", "prediction", "yhat", "y_hat", "response", "predict")
LABEL = (*PREDICTED, "pred_class", "predicted_class")
CHANCES = ("prob", "proba", "probability", "predict_proba", "y_prob", "y_proba")
NUMBER = (*PREDICTED, *CHANCES, "score", "y_score", "decision", "decision_function", "risk")
SCORE = ("estimate", "score", "test_score", "value")
#: Columns that name the data: a winner is chosen for one task.
TASK = ("task_id", "task", "dataset", "dataset_id", "data_set")
#: Columns of fold scores: tidymodels calls the fold "id", and repeats "id" where the fold is "id2".
FOLDS = (*FOLD, "id2", "id")
MODELS = (*CONFIGURATION, "params")
#: Columns of tables of predictions, which hold folds as well.
PREDICTIONS = {"pred", "obs", "truth", "response", "prediction", "rowindex", "row", "row_ids", "y_true", "y_pred"}
#: A fold's score in scikit-learn's cv_results_, by position of the fold and name of the metric.
SPLIT = re.compile(r"split(\d+)_test_(.+)")
#: Measures of which less is better, and more.
LOSS = re.compile(
    r"(classif\.|regr\.|surv\.|mean_)?(rmse|mae|mse|mape|smape|mase|medae|sse|mn_log_loss|log_?loss|"
    r"[bm]?brier(_class|_score|_survival|_survival_integrated)?|ce|mmce|err(or)?|loss|.*_(error|loss))|"
    r"classif\.(fnr|fpr|fdr|fomr|fn|fp|costs)|regr\.(maxae|medse|msle|rae|rmsle|rrse|rse|sae|pinball)|"
    r"surv\.(graf|rcll|nloglik|schmid)|classification_cost",
    re.I,
)
GAIN = re.compile(
    r"(classif\.|regr\.|surv\.|mean_)?(acc(uracy)?|kap(pa)?|roc|(roc_?|pr_?)?auc|roc_aun[pu]|roc_auc_survival|"
    r"sens(itivity)?|spec(ificity)?|f_?(meas|1|beta).*|mcc|bacc|bal(anced)?_accuracy|r(squared|sq|2)|rsq_trad|ccc|"
    r"(test_)?score|precision|recall|ppv|npv|(pos|neg)_pred_value|detection_rate|j_index|c_?index|concordance.*|"
    r"gain_capture|average_precision|neg_.+)|classif\.(tpr|tnr|tp|tn|mauc_.+|dor)|regr\.(ktau|srho)",
    re.I,
)
#: A column of probabilities of one class, and the class.
CHANCE = re.compile(r"(?i)\.?(?:y_?)?(?:prob|proba|probability|p|pred|predict_proba|score)[_. ](.+)")
#: Bootstraps and random hold-outs of caret and rsample, whose test sets overlap.
HOLD_OUT = r"(?i)(bootstrap|resample)\d+$"
#: Rows of a summary below the rows of the folds; rsample's "Apparent" predicts the rows of training.
SUMMARY_ROW = r"(?i)\s*(mean|average|avg|median|sd|std|std[ _.]?(dev|err)|stdev|se|min|max|overall|total|apparent)\W*"
#: More rows than this, numbered as folds, may be samples that were left out one by one.
MOST_FOLDS = 20


@dataclass(frozen=True)
class Tool:
    """What a tool calls the columns of its long tables of predictions."""

    name: str = ""
    marks: tuple[str, ...] = ()  # columns that all of them have; the first one numbers the samples
    configuration: tuple[str, ...] = CONFIGURATION  # empty: all columns that have no other part
    truth: tuple[str, ...] = TRUTH  # empty: the outcome has its own name
    fold: tuple[str, ...] = FOLD
    hint: str = ""  # how to keep predictions


TOOLS = (
    Tool("tidymodels", (".row", ".config"), ("config",), (), ("id2", "id"), "Tune with save_pred = TRUE."),
    Tool("caret", ("rowIndex", "obs", "pred", "Resample"), (), ("obs",), ("resample",)),
    Tool("mlr3", ("row_ids", "truth"), ("uhash", "nr", "config", "learner_id", "batch_nr"), ("truth",)),
)


def tool_of(columns: Iterable[Any]) -> Tool:
    """Return the tool that writes long tables of predictions with these columns; one without marks where none does."""
    present = set(columns)
    if present.isdisjoint((*CONFIGURATION, *FOLD, *REPEAT)):
        present.add("Resample")  # which caret leaves out for LOOCV
    return next((tool for tool in TOOLS if present.issuperset(tool.marks)), Tool())


def named(frame: Any, words: Collection[str], leave_out: Collection[Any] = ()) -> list[Any]:
    """Return the columns whose names are among words, in the order of the words."""
    names = [(plain(column), column) for column in frame.columns if column not in leave_out]
    found = [column for word in words for name, column in names if name == word]
    if len(set(found)) < len(found):
        raise SoberError("E804", f"Several columns are called {found[0]!r}. Rename all but one.")
    return found


def first_named(frame: Any, words: Collection[str], leave_out: Collection[Any] = ()) -> Any:
    """Return the column that has the first of the words as its name; None if there is none."""
    return next(iter(named(frame, words, leave_out)), None)


def measures(columns: Iterable[Any]) -> list[str]:
    """Return the columns that hold a measure by their names."""
    names = list(map(str, columns))
    own = {"F"} if "Recall" in names else set()  # caret's F beside Precision and Recall
    return [c for c in names if c in own or LOSS.fullmatch(c) or GAIN.fullmatch(c) or plain(c) in SCORE]


def holds_fold_scores(columns: Iterable[Any]) -> bool:
    """Whether a table holds scores of folds by the names of its columns, rather than predictions of samples."""
    columns = list(map(str, columns))
    names = set(map(plain, columns))
    if any(map(SPLIT.fullmatch, columns)):
        return True
    has_samples = bool(names & set(TRUTH)) and not names.isdisjoint({*SAMPLE, *SUBJECT} - set(FOLDS))
    if names & PREDICTIONS or has_samples or any(c.startswith(".pred") for c in columns) or not names & set(FOLDS):
        return False
    is_long = bool(measures(columns)) and not names.isdisjoint((*MODELS, "resample"))
    return is_long or {".metric", ".estimate"} <= set(columns)


def holds_wide_scores(frame: Any) -> bool:
    """Whether each row of a wide table is a fold by its name, and every other column can be a configuration's scores.

    Numbers of folds could be those of leave-one-out, whose rows are samples: they are believed in short tables only.
    """
    where = named(frame, (*FOLDS, *REPEAT))
    if not where or frame.duplicated(where).any() or not could_be_scores(frame.drop(columns=where)):
        return False
    labels = frame[where].astype(str)
    if any(labels[c].str.match(r"(?i)(fold|repeat|bootstrap|resample|split)\W*\d").any() for c in where):
        return True
    return len(frame) <= MOST_FOLDS and any("fold" in plain(c) or plain(c) == "resample" for c in where)


def could_be_scores(table: Any) -> bool:
    """Whether columns hold fractions, unlike labels and numbers of samples, and none is called a truth."""
    numbers = all(column.dtype.kind == "f" for _, column in table.items()) and (table % 1 > 0).any(axis=None)
    return bool(numbers) and table.shape[1] >= 2 and not named(table, (*TRUTH, *PREDICTIONS))


def correctable(frame: Any) -> str:
    """Say that `sober correct` takes this table, where by its columns a tool wrote it; an empty text elsewhere."""
    columns = list(map(str, frame.columns))
    names, what = set(map(plain, columns)), ""
    is_predicted = not names.isdisjoint({*LABEL, *NUMBER}) or any(map(CHANCE.fullmatch, columns))
    has_parts = all(names & set(words) for words in (CONFIGURATION, TRUTH, (*SAMPLE, *SUBJECT)))
    if tool_of(columns).marks or (is_predicted and has_parts):
        what = "out-of-fold predictions"
    elif holds_fold_scores(columns) or holds_wide_scores(frame):
        what = "scores by fold"
    return f"If these are {what} of a search, sober correct FILE corrects its best score." if what else ""


# ---- the rows of a table -------------------------------------------------------------------------------------------
def tidied(frame: Any) -> Any:
    """Make columns of an index that says where a row was; drop the row numbers that R and pandas write as a column.

    caret's `resamples()$values` becomes a long table.
    """
    if not {*FOLDS, *REPEAT, *MODELS}.isdisjoint(map(plain, frame.index.names)):
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


def without_summaries(frame: Any, words: Collection[str], notes: list[Note]) -> Any:
    """Leave out rows that are no folds: what a spreadsheet or a tool wrote below them, and predictions of training."""
    fold = first_named(frame, words)
    labels = frame.index.to_series() if fold is None else frame[fold]
    is_summary = labels.astype(str).str.fullmatch(SUMMARY_ROW).to_numpy(bool)
    if not is_summary.any():
        return frame
    names = ", ".join(map(repr, labels[is_summary].unique()[:3]))
    notes.append(Note("W204", f"Rows called {names} are not folds, and were left out."))
    return frame[~is_summary]


def places(frame: Any, words: Collection[str]) -> tuple[Any, Any]:
    """Return the fold and the repeat of each row by the columns so named; None where there are none."""
    own = [c for c in frame.columns if str(c)[:1] == "."]  # tidymodels' .iter is a step of the search
    fold, repeat = first_named(frame, words, own), first_named(frame, REPEAT, own)
    if repeat is None and fold == "id2" and "id" in frame:
        repeat = "id"
    if fold is None or repeat is not None:
        return frame.get(fold), frame.get(repeat)
    told = frame[fold].astype(str).str.extract(r"[._ ](Rep\w*)$")[0]  # caret names both at once: Fold03.Rep1
    return frame[fold], None if told.isna().any() else told.rename(None)


def configurations(frame: Any, columns: list[Any]) -> Any:
    """Name each row's configuration by the columns that tell configurations apart."""
    if not columns:
        return frame.iloc[:, 0].map(lambda _: "the only one")
    if len(columns) == 1 and plain(columns[0]) in CONFIGURATION:
        return complete(frame[columns[0]]).astype(str)
    return reduce(lambda text, more: text + ", " + more, (f"{c}=" + frame[c].astype(object).map(str) for c in columns))


def parameters(frame: Any, columns: list[Any], names: Any) -> list[dict[str, Any]]:
    """Return the parameters of each configuration, in natural order of the configurations' names.

    They are the columns that are the same in all rows of a configuration, and differ between configurations.
    """
    texts = {c: frame[c].astype(str) for c in columns}
    alike = [c for c, text in texts.items() if (text.groupby(names).nunique() == 1).all() and text.nunique() > 1]
    first = ~names.duplicated()
    return records(frame.loc[first, alike].set_axis(names[first], axis=0).loc[in_order(names)])


def records(table: Any) -> list[dict[str, Any]]:
    """Return the cells of each row that are not empty, by name of the column."""
    rows = table.to_dict("records") or [{}] * len(table)  # pandas 2 knows no rows without columns
    return [{str(name): v for name, v in row.items() if v == v} for row in rows]


def in_order(names: Any) -> list[Any]:
    """Return the different names in natural order, whatever that of the rows: Fold2 before Fold10, 0.05 before 0.1."""

    def parts(name: Any) -> Any:
        cut = re.split(r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)", str(name))
        return [float(text) if i % 2 else text for i, text in enumerate(cut)], str(name)

    return sorted(names.unique(), key=parts)


def complete(column: Any) -> Any:
    """Return a column that every row needs; refuse gaps."""
    if column.isna().any():
        raise SoberError("E812", f"The column {column.name!r} has missing values. Every row needs one.")
    return column


def check_no_means(frame: Any) -> None:
    """Refuse the summaries of R's tools, known by columns that tables of fold scores do not have."""
    names = set(map(str, frame.columns))
    save = ""
    if {".metric", "mean"} <= names and ".estimate" not in names:
        save = "collect_metrics(tuned, summarize = FALSE)"
    elif {"learner_id", "resampling_id", "iters"} <= names:
        save = "bmr$score(), without its columns of lists"
    elif any(f"{measure}SD" in names for measure in measures(names)):
        save = 'fit$resample, after trainControl(returnResamp = "all")'
    if save:
        raise SoberError("E812", f"These are means over folds, and the score of every fold is needed. Save {save}.")


def one_resampling(frame: Any) -> str:
    """Refuse rows of several tasks or resamplings; return the name of mlr3's resampling, where there is one."""
    for words, what in ((TASK, "tasks"), (("resampling_id",), "resamplings")):
        name = first_named(frame, words)
        found = [] if name is None else frame[name].dropna().astype(str).unique().tolist()
        if len(found) > 1:
            said = f"{', '.join(map(repr, found[:-1][:3]))} and {found[-1]!r}"
            raise SoberError("E812", f"The table holds the {what} {said}; keep the rows of one.")
    return found[0].casefold() if found else ""
