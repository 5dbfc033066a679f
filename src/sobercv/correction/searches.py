"""What searches of other tools kept: scikit-learn's and those like it, Optuna, AutoGluon, mljar-supervised.

Anything with scikit-learn's `cv_results_` keeps fold scores as ``split0_test_score`` and so on. AutoGluon and mljar
keep the predictions of every model; nothing of either is imported or unpickled. Stacked and weighted ensembles are left
out: they were fitted to the out-of-fold predictions of the other models.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier, is_regressor

from .. import metrics
from ..containers import Array
from ..errors import Note, SoberError, SoberWarning
from ..inference import Estimate
from ..inference.estimate import shown
from ..metrics import Metric
from ..tables.tool_columns import SPLIT
from .judging import FoldScores, Rule, ToolPredictions, more_is_better

OVERLAP = "Test sets overlap, so the splits are not independent: the interval is widened for it."
#: How far the mean of fold scores may lie from the value of the trial.
CLOSE = 1e-6
#: Fewer digits of a rounded value may agree by chance.
LEAST_DIGITS = 3
#: A model's own predictions of rows that it was not trained on, of all folds or of one hold-out, as mljar keeps them.
FILES = ("predictions_out_of_folds.csv", "predictions_validation.csv")
ENSEMBLE = "predictions_ensemble.csv"


# ---- fitted searches ------------------------------------------------------------------------------------------------
def taken_apart(thing: Any) -> tuple[list[str], Any]:
    """Return the search that a pipeline ends in, and the names of the steps before it; of anything else itself."""
    if not hasattr(thing, "named_steps"):
        return [], thing
    return [name for name, step in thing.steps[:-1] if step not in (None, "passthrough")], thing.steps[-1][1]


def refusal(thing: Any) -> SoberError:
    """Say what to pass in place of what holds no scores."""
    kind = type(thing).__name__
    if hasattr(thing, "fit") and (hasattr(thing, "param_grid") or hasattr(thing, "param_distributions")):
        return SoberError("E113", f"This {kind} is not fitted yet. Call its fit first.")
    if hasattr(thing, "intermediate_values") and hasattr(thing, "user_attrs"):
        return SoberError("E123", "This is one trial, and the choice among all of them is corrected. Pass the study.")
    if isinstance(thing, (str, os.PathLike)) and Path(thing).suffix in (".pkl", ".pickle", ".joblib"):
        text = "Unpickling can run any code, so `correct` does not open pickled files. If you trust this one: "
        return SoberError("E123", f'{text}correct(joblib.load("{thing}")).')
    if isinstance(thing, str) and "://" in thing:
        return SoberError("E123", f'Pass the study: correct(optuna.load_study(study_name=None, storage="{thing}")).')
    text = "`correct` takes a fitted search, an Optuna study, a table of fold scores, or a result of AutoGluon or "
    text += f"mljar; got {kind}. Out-of-fold predictions: sobercv.bbc(y, predictions). Files: sober correct FILE."
    return SoberError("E123", text)


def read_search(
    search: Any, metric: str | None = None, n_repeats: int | None = None, before: Sequence[str] = ()
) -> FoldScores:
    """Read the fold scores of a fitted search.

    `metric` selects (default: `refit`), `n_repeats` is by the splitter, `before` names steps of a pipeline before it.
    """
    results, cv, refit = search.cv_results_, getattr(search, "cv", None), getattr(search, "refit", True)
    keys = [match for match in map(SPLIT.fullmatch, results) if match]
    if "params" not in results and "n_features" in results:  # RFECV
        results = {**results, "params": [{"n_features": int(n)} for n in results["n_features"]]}
    if not keys or "params" not in results:
        text = f"This {type(search).__name__} keeps no scores by fold: its cv_results_ lacks split0_test_score or "
        text += "params. Pass the fold scores as a table with one row per fold and one column per configuration."
        raise SoberError("E812", text)
    n_splits, names = 1 + max(int(match[1]) for match in keys), list(dict.fromkeys(match[2] for match in keys))
    columns = {name: [f"split{k}_test_{name}" for k in range(n_splits)] for name in names}
    if lost := [key for each in columns.values() for key in each if key not in results]:
        raise SoberError("E812", f"There is no {lost[0]}, so a fold is missing. Pass all of cv_results_.")
    if "dropped" in list(results.get("status", ())):
        raise SoberError("E812", "BBCSearchCV dropped some of these. Use its estimate_, or search with drop=None.")
    notes = list[Note]()
    known = {name: found for name in names if (found := _metric_of(search, name, notes))}
    measures = [found.name for found in known.values()]
    titles = {found.name: name for name, found in known.items() if measures.count(found.name) == 1}
    titles |= {title(search, name): name for name in names}
    default: Any = names[0] if len(names) == 1 or callable(refit) else refit
    first = default if metric is None else titles.get(metric, metric)
    if first not in names:
        is_named = isinstance(first, str)
        given = f"got {first!r}" if is_named else "the search has several and no refit"
        text = f"`metric` must name the metric that selects, one of {', '.join(names)}; {given}."
        if len(names) == 1:
            text = f"This search was scored by {title(search, names[0])} only; leave the metric out."
        raise SoberError("E122" if is_named else "E113", text)
    rows = np.arange(len(results["params"]))
    if "iter" in results:
        iteration = np.asarray(results["iter"])
        rows = np.flatnonzero(iteration == iteration.max())
        text = f"A halving search: only the configurations of its last iteration ({len(rows)}) were judged on all "
        text += f"data. The earlier iterations ({len(np.unique(iteration)) - 1}) chose them on the same samples; that "
        notes.append(Note("W811", f"{text}is not corrected for."))
    notes += steps_before(before)
    # Where another metric is to select, neither the search's own winner nor its own rule counts.
    is_own = metric is None if callable(refit) else len(names) == 1 or first == refit
    best = getattr(search, "best_index_", None) if is_own else None
    repeats = getattr(cv, "n_repeats", 1)  # as the splitter says
    is_count = isinstance(repeats, (int, np.integer)) and repeats > 0 and n_splits % repeats == 0
    tells = cv is None or isinstance(cv, (int, np.integer, list, tuple)) or hasattr(cv, "split")  # unlike a generator
    test_share, dependence = _dependence(cv, n_repeats)
    notes += [Note("W203", dependence)] if dependence else []
    scores = {
        title(search, name): np.array([np.asarray(results[key], dtype=np.float64)[rows] for key in columns[name]])
        for name in dict.fromkeys([first, *names])
    }
    return FoldScores(
        scores, ranges={title(search, name): found.range for name, found in known.items()},
        params=[dict(results["params"][row]) for row in rows],
        n_repeats=n_repeats if n_repeats is not None else int(repeats) if is_count else 1, test_share=test_share,
        winner=int(np.flatnonzero(rows == best)[0]) if best is not None and best in rows else None,
        rule=_rule(refit, names, results, rows) if callable(refit) and is_own else None,
        is_adaptive=hasattr(search, "optimizer_results_"),  # BayesSearchCV proposes by earlier scores
        knows_repeats=n_repeats is not None or (tells and hasattr(search, "cv")), notes=tuple(notes),
    )  # fmt: skip


def steps_before(before: Sequence[str]) -> list[Note]:
    """Note that the steps of a pipeline before the search had seen all samples."""
    text = f"The steps before the search ({', '.join(before)}) were fitted once, to all samples, so every fold was "
    text += "scored on rows that they had seen; the score may still be too good. Put the pipeline into the search."
    return [Note("W301", text)] if before else []


def _metric_of(search: Any, name: str, notes: list[Note]) -> Metric | None:
    """Return the metric that the scorer of this name is, noting a loss as a gain; None where that is not known."""
    found = getattr(search, "scorer_", None) or getattr(search, "scoring", None)
    scorer = found.get(name) if isinstance(found, Mapping) else found if name == "score" else None
    if scorer is None or not (isinstance(scorer, str) or hasattr(scorer, "_score_func")):
        return None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SoberWarning)
            metric = metrics.get(scorer)
    except SoberError:
        return None
    notes += [Note(w.message.code, w.message.message) for w in caught if isinstance(w.message, SoberWarning)]
    return metric if np.isfinite(metric.range).any() else None


def title(search: Any, name: str = "score") -> str:
    """Name of a metric as the user knows it: cv_results_ calls the only one "score"."""
    if name != "score":
        return name
    scoring = getattr(search, "scoring", None)
    if isinstance(scoring, str):
        return scoring
    if scoring is None and (estimator := getattr(search, "estimator", None)) is not None:
        return "accuracy" if is_classifier(estimator) else "r2" if is_regressor(estimator) else "score"
    return str(getattr(getattr(scoring, "_score_func", scoring), "__name__", "score"))


def _dependence(cv: Any, n_repeats: int | None) -> tuple[float | None, str]:
    """Return the size of a test set over that of its training set where test sets overlap; and why splits are no folds.

    A size that is not known is taken as large as can be expected, rather than make the interval too narrow.
    """
    from sklearn.model_selection import BaseShuffleSplit, GroupShuffleSplit, LeavePGroupsOut, LeavePOut, TimeSeriesSplit

    if isinstance(cv, TimeSeriesSplit):
        return None, "Splits of a time series share training rows and differ in size; the interval may be too narrow."
    if isinstance(cv, (list, tuple)) and n_repeats is None:  # pairs of rows; those of declared repeats may overlap
        tests = np.concatenate([test for _, test in cv])
        if tests.dtype.kind in "iu" and len(np.unique(tests)) < len(tests):
            share = float(np.mean([len(test) / len(train) for train, test in cv]))
            return share, f"{OVERLAP} If they are folds of several repeats, pass how many: n_repeats=."
    if isinstance(cv, (LeavePOut, LeavePGroupsOut)):
        return 1.0, OVERLAP
    if not isinstance(cv, BaseShuffleSplit):
        return None, ""
    test, train = cv.test_size, cv.train_size
    if test is None and not isinstance(train, int):
        test = 1 - train if train is not None else 0.2 if isinstance(cv, GroupShuffleSplit) else 0.1
    if train is None and isinstance(test, float):
        train = 1 - test
    is_known = None not in (test, train) and isinstance(test, float) == isinstance(train, float)
    return float(test / train) if is_known else 1.0, OVERLAP


def _rule(refit: Callable[[dict[str, Any]], int], names: list[str], results: Mapping[str, Any], rows: Array) -> Rule:
    """Wrap `refit=callable`: it sees the cv_results_ of the folds present in a resample."""
    scores_of = re.compile(r"(split\d+|mean|std|rank)_test_.+")
    others = {key: np.ma.asarray(column)[rows] for key, column in results.items() if not scores_of.fullmatch(key)}

    def rule(present: Sequence[Array]) -> int:
        resampled: dict[str, Any] = {**others, "params": [results["params"][row] for row in rows]}
        for name, scores in zip(names, present, strict=True):
            mean = scores.mean(axis=0)
            ordered = np.sort(-mean)
            resampled |= {f"split{k}_test_{name}": row for k, row in enumerate(scores)}
            resampled |= {f"mean_test_{name}": mean, f"std_test_{name}": scores.std(axis=0)}
            resampled[f"rank_test_{name}"] = (1 + np.searchsorted(ordered, -mean)).astype(np.int32)
        return int(refit(resampled))

    return rule


# ---- Optuna ---------------------------------------------------------------------------------------------------------
def is_study(thing: Any) -> bool:
    """Whether this is an Optuna study."""
    return hasattr(thing, "trials") and hasattr(thing, "best_trials")


def read_study(
    study: Any, metric: str | None = None, n_repeats: int | None = None, greater_is_better: bool | None = None
) -> FoldScores:
    """Read the fold scores of the complete trials; `metric` is a name for the score (default: "value")."""
    if len(study.directions) > 1:
        text = "The study has several objectives, so no single trial was selected. Run its trials again by one metric: "
        raise SoberError("E114", f'{text}sobercv.optuna.replay(study, make, X, y, scoring="roc_auc").')
    complete, about = _complete(study)
    folds = {trial.number: found for trial in complete if (found := fold_scores_of(trial)) is not None}
    lengths = sorted({len(one) for one in folds.values()})
    # A rounded value may agree with its list by chance, so that a trial whose list does not is no failure.
    if not lengths or any(len(one) in lengths for t in complete if t.number not in folds for _, one in _lists_of(t)):
        raise SoberError("E812", _what_is_kept(complete, folds))
    if len(lengths) > 1:
        raise SoberError("E101", f"Trials have different numbers of folds: {', '.join(map(str, lengths))}.")
    if (best := study.best_trial.number) not in folds:
        raise SoberError("E111", f"The best trial of the study, {best}, keeps no scores by fold. Run it again.")
    sign, name = (1.0 if study.direction.name == "MAXIMIZE" else -1.0), metric or "value"
    is_gain = more_is_better(name) if greater_is_better is None else greater_is_better
    if is_gain is not None and is_gain != (sign > 0) and not name.startswith("neg_"):
        does, better = ("maximises", "lower") if sign > 0 else ("minimises", "higher")
        text = f"The study {does}, so its values cannot be {metric or 'a score'}, where {better} is better. Name what "
        text += "the objective returned, or leave the name out; if the direction is wrong, run the study again."
        raise SoberError("E122", text)
    name = name if sign > 0 or name.startswith("neg_") else f"neg_{name}"
    nothing = np.full(lengths[0], np.nan)  # of trials that were pruned or failed: every trial is at its own number
    scores = np.column_stack([sign * folds.get(trial.number, nothing) for trial in study.trials])
    names = [f"trial {trial.number}: {shown(trial.params)}".removesuffix(": ") for trial in study.trials]
    return FoldScores(
        {name: scores}, names=names, n_repeats=1 if n_repeats is None else n_repeats,
        knows_repeats=n_repeats is not None, advice='trial.set_user_attr("oof", ...) keeps them.', **about,
    )  # fmt: skip


def read_study_predictions(
    study: Any, y: Any, predictions: str | Mapping[int, Any] = "oof", method: str = "predict_proba"
) -> ToolPredictions:
    """Read the out-of-fold predictions of the complete trials: a user attribute's, or those by number of the trial."""
    complete, about = _complete(study)
    if isinstance(predictions, str):
        kept, where = {t.number: t.user_attrs.get(predictions) for t in complete}, f"the user attribute {predictions!r}"
    else:
        kept, where = {t.number: predictions.get(t.number) for t in complete}, "`predictions`"
    if all(value is None for value in kept.values()):
        text = f"None of the {len(complete)} complete trials has its out-of-fold predictions in {where}. In the "
        raise SoberError("E111", f'{text}objective write trial.set_user_attr("oof", predicted.tolist()).')
    by_trial = {f"trial {trial.number}": kept.get(trial.number) for trial in study.trials}
    return ToolPredictions.by_model("Optuna", y, by_trial, method, **about)


def _complete(study: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the complete trials, and what else is known of all trials."""
    from ..optuna.objective import PLACE, learns_from_scores  # needs Optuna, as the study does

    if not (complete := [trial for trial in study.trials if trial.state.name == "COMPLETE"]):
        raise SoberError("E111", "The study has no complete trial. Run study.optimize(objective) first.")
    if any(PLACE in trial.user_attrs for trial in complete):
        text = "A sobercv.optuna.Objective ran these trials: write objective.estimate(study). A new process needs its "
        raise SoberError("E812", f"{text}store=; without one, use sobercv.optuna.replay(study, objective.make, X, y).")
    params = [dict(trial.params) for trial in study.trials]
    return complete, {"params": params, "is_adaptive": bool(learns_from_scores(study))}


def with_study_winner(study: Any, estimates: dict[str, Estimate]) -> dict[str, Estimate]:
    """Note where the study itself selected another trial than its predictions do."""
    first = next(iter(estimates.values()))
    winner = first.winner
    if len(study.directions) > 1 or (best := study.best_trial.number) == winner:
        return estimates
    kept = "" if best in first.configurations else ", which kept no predictions"
    text = f"The study's own best trial is {best} (value {study.best_value:.6g}){kept}; by {first.metric} of the kept "
    text += f"predictions it is {winner}, and this is the score of {winner}. For the score of {best} correct by the "
    text += "metric that the objective returned."
    return {name: replace(one, notes=(*one.notes, Note("W212", text))) for name, one in estimates.items()}


def fold_scores_of(trial: Any) -> Array | None:
    """Return the scores of one trial by fold, or None if it keeps none whose mean is its value."""
    value = trial.value
    for _, folds in _lists_of(trial):
        mean = float(folds.mean())
        is_rounded = any(round(mean, digits) == value for digits in range(LEAST_DIGITS, 7))
        if is_rounded or abs(mean - value) <= CLOSE * (1 + abs(value)):
            return folds
    return None


def _lists_of(trial: Any) -> Iterator[tuple[str, Array]]:
    """Yield the numbers that a trial keeps, each list under its name; its reports have none."""
    kept, reported = trial.user_attrs, sorted(trial.intermediate_values.items())
    splits = sorted((int(match[1]), kept[name]) for name in kept if (match := SPLIT.fullmatch(name)))
    has_gap = bool(reported) and reported[-1][0] - reported[0][0] != len(reported) - 1  # else one report per fold
    for name, values in [("", [v for _, v in splits]), *kept.items(), ("", [v for _, v in reported if not has_gap])]:
        try:
            folds = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            continue
        if folds.ndim == 1 and len(folds) > 1:
            yield name, folds


def _what_is_kept(complete: list[Any], folds: Mapping[int, Array]) -> str:
    """Say what complete trials keep that are no scores of folds, and what to keep."""
    text = f"{len(folds)} of {len(complete)} complete trials keep fold scores whose mean is their value"
    if kept := [(name, t, each) for t in complete if t.number not in folds for name, each in _lists_of(t)]:
        name, trial, found = next((each for each in kept if each[0]), kept[0])
        # Running means over folds, epochs of one hold-out: nothing tells them apart.
        reported = f"reports {len(found)} values, running means or a learning curve"
        what = f'keeps {len(found)} numbers in "{name}"' if name else reported
        text += f"; trial {trial.number} {what}, whose mean is {np.mean(found):.4g}, but its value is {trial.value:.4g}"
        text += '. If these are scores of folds, pass them by trial: correct({"trial 0": [...], ...})' if name else ""
    text += (
        '. Store them in the objective, trial.set_user_attr("fold_scores", scores), and return their mean; if trials '
    )
    return f"{text}keep out-of-fold predictions, pass y=; or run them again: sobercv.optuna.replay(study, make, X, y)."


# ---- AutoGluon, mljar-supervised ------------------------------------------------------------------------------------
def read_autogluon(predictor: Any) -> ToolPredictions:
    """Ask a TabularPredictor, fitted with bagging, for the out-of-fold predictions of its base models."""
    if predictor.problem_type not in ("binary", "multiclass", "regression"):
        raise SoberError("E812", f"Problems of type {predictor.problem_type!r} cannot be judged here.")
    refitted = set(predictor.model_refit_map().values())  # their predictions are those of the models that they copy
    base = [name for name in predictor.model_names(level=1) if name not in refitted]
    try:
        oof = {name: predictor.predict_proba_oof(name) for name in base}
    except AssertionError as error:  # how AutoGluon says that there was no bagging
        text = f"The predictor has no out-of-fold predictions ({str(error).strip()}) Fit it with bagging: "
        raise SoberError("E812", f"{text}predictor.fit(data, num_bag_folds=8).") from error
    if not oof:
        raise SoberError("E813", "The predictor has no base models. Fit it with num_bag_folds=8.")
    _, inner = predictor.load_data_internal(data="train", return_X=False)
    inner = inner[~inner.index.duplicated()]  # AutoGluon repeats rows of rare classes
    y = np.asarray(predictor.transform_labels(inner, inverse=True).loc[next(iter(oof.values())).index])
    classes = None if predictor.problem_type == "regression" else np.unique(y).tolist()
    columns = {name: np.asarray(table if classes is None else table[classes], float) for name, table in oof.items()}
    others = [name for name in predictor.model_names() if name not in base and name not in refitted]
    method = "predict" if classes is None else "predict_proba"
    notes = _ensembles_left_out(others, len(base))
    return ToolPredictions.by_model("AutoGluon", y, columns, method, notes=notes)


def is_mljar(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder looks like one of mljar-supervised."""
    return (Path(folder) / "params.json").is_file() and bool(_models(folder))


def read_mljar(folder: str | os.PathLike[str]) -> ToolPredictions:
    """Read the predictions of every single model in the `results_path` of an mljar-supervised AutoML."""
    folder, single, mixed = Path(folder), dict[str, pd.DataFrame](), list[str]()
    settings = _read(folder / "params.json")
    for path in _models(folder):
        name = path.parent.name
        is_mixed = path.name == ENSEMBLE or name.endswith("_Stacked")  # fitted to predictions of others
        if is_mixed or _read(path.with_name("framework.json")).get("is_stacked"):
            mixed.append(name)
        else:
            single[name] = _read(path)
    if not single:
        raise SoberError("E812", f"{folder} contains no model of mljar-supervised with out-of-fold predictions.")
    first, table = next(iter(single.items()))
    for name, other in single.items():
        if [*other] != [*table] or not other["target"].equals(table["target"]):
            raise SoberError("E812", f"The models {name!r} and {first!r} in {folder} predicted different rows.")
    y, is_number = table["target"].to_numpy(), settings.get("ml_task") == "regression"
    searched = settings.get("hill_climbing_steps") or settings.get("boost_on_errors")
    columns = {name: each.drop(columns="target").squeeze(axis=1).to_numpy() for name, each in single.items()}
    y, method = (y, "predict") if is_number else (_labels([*table][1:], y, folder), "predict_proba")
    return ToolPredictions.by_model(
        "mljar", y, columns, method,
        is_adaptive=bool(searched) or settings.get("mode") == "Optuna", notes=_ensembles_left_out(mixed, len(single)),
    )  # fmt: skip


def _models(folder: str | os.PathLike[str]) -> list[Path]:
    return sorted(path for name in (*FILES, ENSEMBLE) for path in Path(folder).glob(f"*/{name}"))


def _read(path: Path) -> Any:
    """Read settings; or target and predictions, without other columns (weights, sensitive features)."""
    try:
        if path.suffix == ".json":
            return dict(json.loads(path.read_text(encoding="utf-8")))
        table = pd.read_csv(path, dtype=str).filter(regex="^(target$|prediction)").astype(float)
        if len(table.columns) < 2 or table.columns[0] != "target" or table.isna().any(axis=None):
            raise ValueError("no columns target and prediction without gaps")
        return table
    except (OSError, ValueError, TypeError) as error:
        raise SoberError("E812", f"{path} cannot be read ({error}). Name the folder that AutoML wrote.") from None


def _labels(columns: Sequence[str], target: Array, folder: Path) -> Array:
    """Call classes as the columns do, where their order is that of the names; else by their numbers."""
    two = re.fullmatch(r"prediction_0_for_(.*)_1_for_(.*)", columns[0])
    names = list(two.groups()) if two else [name.removeprefix("prediction_") for name in columns]
    n, codes = max(2, len(names)), target.astype(int)
    if len(strange := target[~np.isin(target, np.arange(n))]):
        text = f"The target in {folder} must hold the codes of its {n} classes, 0 to {n - 1}; got {strange[0]:g}. "
        raise SoberError("E812", f"{text}Train the models again.")
    return codes if len(names) < 2 or names != sorted(names) else np.array(names, dtype=object)[codes]


def _ensembles_left_out(names: Sequence[str], n_kept: int) -> tuple[Note, ...]:
    """Note which models were left out because they are made of the `n_kept` others."""
    text = f"{len(names)} of {len(names) + n_kept} models ({', '.join(names[:3])}) are ensembles of the others, fitted "
    text += "to the same truth, and were left out. select=sobercv.greedy_ensemble() judges an ensemble of the others."
    return (Note("W204", text),) if names else ()
