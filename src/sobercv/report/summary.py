"""From a finished search, or from an estimate, to the plain data of its report.

All that a report shows is computed here and in the modules of its charts; renderers only write it down.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..containers import Array
from ..errors import Note, SoberError
from ..inference import Estimate
from ..inference.estimate import METHODS
from ..inference.procedures import Threshold
from ..predictions import Predictions
from ..search.results import estimate_of
from ..training.race import UNREACHED
from .charts import CHARTS, draws_chart, race_of, tuned_threshold
from .evidence import Evidence
from .families_table import BASELINE, families_table
from .model_charts import model_section
from .notes import judged, missing_charts
from .notes import notes as notes_of
from .records import Chart, ConfigurationRow, Facts, Score, Section, Summary, Table
from .words import clean, configurations_in_words, count, metric_label, percent, seconds, within

CITATION = (
    "Tsamardinos, Greasidou, Borboudakis (2018). Bootstrapping the out-of-sample predictions for efficient and "
    "accurate cross-validation. Machine Learning 107, 1895-1922. doi:10.1007/s10994-018-5714-4"
)
PACKAGES = (
    "sobercv", "scikit-learn", "numpy", "scipy", "numba", "joblib", "pandas", "skrub", "skops", "scikit-survival",
)  # fmt: skip
#: What the scores of single configurations are.
SINGLE = (
    "Scores of single configurations are plain cross-validation, for dropped ones on the folds they ran; the "
    "honest number is at the top."
)
MOST_FAILURES, MOST_CLASSES = 100, 8
#: Resampling fewer groups shows too little of how they differ, so that each is held out in turn.
FEW_GROUPS = 10
#: What tells readers of code nothing: the types of numpy around numbers, and the addresses of functions.
_NOISE = re.compile(r"np\.(?:float64|int64|bool_?|str_)\(([^()]*)\)| at 0x[0-9a-f]+")


def summarize(
    search: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    title: str | None = None,
    command: str | None = None,
    n_permutations: int = 10,
    notes: Iterable[Note] = (),
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
        What repeats the run, such as a command line (default: the search as code).
    n_permutations : int, default=10
        Shuffles for each column; 0 leaves the importance out.
    notes : iterable of Note
        What checks of the table found, such as `sobercv.checks.check_dataset`; they are listed among the caveats.

    Returns
    -------
    Summary
    """
    check_is_fitted(search, "estimate_")
    if isinstance(n_permutations, bool) or not isinstance(n_permutations, int) or n_permutations < 0:
        raise SoberError("E108", f"`n_permutations` must be a whole number of 0 or more; got {n_permutations!r}.")
    n = search.predictions_.n_samples
    for name, values in (("X", X), ("y", y)):
        if values is not None and (rows := _num_samples(values)) != n:
            text = f"`{name}` has {rows:,} rows, but the search was given {n:,}. Pass the data that it was tuned on."
            raise SoberError("E502", text)
    fields = getattr(getattr(y, "dtype", None), "fields", None) or {}  # of survival times: event and time
    time = next((name for name, (kind, *_) in fields.items() if kind.kind != "b"), "time")
    summary = summarize_numbers(search, X, title=title, command=command, notes=notes)
    summary = with_charts(summary, search, clean(time, 60))
    section, more = model_section(search, X, y, sample_weight=sample_weight, n_permutations=n_permutations)
    return finished(summary.with_section(section), search, more)


def summarize_numbers(
    search: Any,
    X: Any = None,
    *,
    title: str | None = None,
    command: str | None = None,
    notes: Iterable[Note] = (),
) -> Summary:
    """Put all that takes no time into plain data: everything but charts of predictions and the final model."""
    first, log, rows, by = estimate_of(search), search.race_, configurations(search), search.question_.aggregate
    (race, rounds), has_rounds, note = race_of(search), len(log.alive_by_round) > 1, SINGLE
    if isinstance(first.decision, Threshold):
        note += " Ranks and pooled scores are those at each configuration's own best threshold; fold means are untuned."
    if any(row.wins and row.status == "dropped" for row in rows):
        note += " A dropped configuration can win a resample: it is judged only on the folds that it ran."
    early = "; with early dropping, in the manner of BCED-CV (BBCD-CV)" * ("dropped" in log.status)
    rule = "mean over folds" if by == "fold" else "score of all out-of-sample predictions together"
    rule += ", which ranks rows of the same fold only" * (by == "within_folds")
    has_model, saved = hasattr(search, "best_estimator_"), log.n_fits_saved
    timing = {
        "Models trained": f"{search.n_fits_ + search.n_recalled_:,}{', the final one included' * has_model}",
        "Models not needed": f"{saved:,} ({100 * saved / (log.n_fits + saved):.0f} %)" if saved else "",
        # What was recalled took its time in an earlier run.
        "Time of the race": "" if search.n_recalled_ else seconds(log.seconds),
        "Time of the final model": seconds(search.refit_time_) if has_model else "",
    }
    return _summary(
        list(search.estimate_.values()) if search.multimetric_ else [first],
        rows,
        notes_of(search, notes),
        search.predictions_,
        rounds=(rounds,) * has_rounds,
        sentence="" if has_rounds else rounds.sentence,
        title=clean(title or "Tuning report", 120),
        task=search.predictions_.task,
        winner=f"{rows[search.best_index_].params}{'' if first.decision is None else f'; {first.decision.shown()}'}",
        data=_data(search, X),
        method=f"{METHODS[first.method]}{early}. The winner was chosen by "
        f"{within(metric_label(first.metric, first.positive))}, the {rule}.",
        command=clean(command or _NOISE.sub(r"\1", f"{BaseEstimator.__repr__(search, 4000)}.fit(X, y)"), 4000),
        race=race,
        table_note=note,
        timing={label: text for label, text in timing.items() if text},
    )


def summarize_estimates(
    found: Estimate | Mapping[str, Estimate], *, title: str | None = None, command: str | None = None
) -> Summary:
    """Put what an estimate without its search can say into plain data.

    Parameters
    ----------
    found : Estimate or dict of str to Estimate
        From `sobercv.correct`, `sobercv.bbc` or Optuna's `Objective`; the first metric selected.
    title, command : str, optional
    """
    estimates = list(found.values()) if isinstance(found, Mapping) else [found]
    if not estimates:
        raise SoberError("E122", "There is no estimate to report. Pass what sobercv.correct or sobercv.bbc returned.")
    first, winner = estimates[0], clean(estimates[0]._winner(), 300)
    names = {index: f"configuration {index}" for index in first.configurations.tolist()} | {first.winner: winner}
    rank = np.argsort(np.argsort(-first.scores, kind="stable"), kind="stable") + 1
    sizes = {
        "Samples": 0 if first.n_folds else first.n_samples, "Groups": first.n_groups, "Folds": first.n_folds,
        "Repeats": first.n_repeats if first.n_repeats > 1 else 0, "Configurations": first.n_configurations,
    }  # fmt: skip
    return _summary(
        estimates,
        _rows(first, names, ["finished"] * len(names), first.winner, {"rank": rank, "pooled": first.scores}),
        dict.fromkeys(note for estimate in estimates for note in estimate.notes),
        title=clean(title or "Corrected score", 120),
        task="",
        winner=winner,
        data={name: f"{n:,}{', all that is known' * (name == 'Folds')}" for name, n in sizes.items() if n},
        method=f"{METHODS.get(first.method, first.method)}.",
        command=clean(command or "", 4000),
        table_note=SINGLE,
    )


def _summary(
    estimates: Sequence[Estimate],
    rows: tuple[ConfigurationRow, ...],
    notes: Iterable[Note],
    table: Predictions | None = None,
    *,
    rounds: tuple[Chart, ...] = (),
    sentence: str = "",
    **known: Any,
) -> Summary:
    """Put together what estimates and the rows of their configurations tell, and what else is known.

    `table`: the predictions of a search; `rounds`: the chart of its race, or a `sentence` in its place.
    """
    first, scores = estimates[0], tuple(map(Score.of, estimates))
    score, tried = scores[0], sum(row.was_compared for row in rows)
    interval = f", {100 * score.level:g} % interval {score.ends}" if score.interval else ""
    unit = "folds" if first.method == "bbc-f" else "groups" if first.n_groups else "samples"
    about, share = f"Configuration {first.winner}.", next(row.wins for row in rows if row.index == first.winner)
    if share is not None and tried > 1:
        winners = count(sum(bool(row.wins) for row in rows), "configuration")
        others = "no other ever won" if share == 1 else f"{winners} won at least once"
        about += f" It won {percent(share)} of the resamples; {others}."
    # Whether tuning beats a constant says nothing of it.
    models = [row for row in rows if row.index in first.configurations and not row.params.startswith(BASELINE)]
    tuning = ""
    if models and first.n_configurations > 1:
        base = f"the first {'model' if models[0].index else 'configuration'} ({models[0].params})"
        with suppress(SoberError):  # no draw judges it
            tuning = first.gain_over(models[0].index).sentence(None if table is None else base)
    summary = Summary(
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        headline=f"{score.label}: {score.honest}{interval}.",
        why=_why(score, tried, unit),
        scores=scores,
        about_winner=f"{about} {tuning}".strip(),
        versions={name.replace("python", "Python"): version for name, version in versions().items()},
        citation=CITATION,
        seed=first.seed or 0,
        configurations=tuple(sorted(rows, key=lambda row: (not row.is_winner, row.rank, row.index))),
        promise=_promise(score, "groups" if unit == "groups" else "samples") if score.interval else "",
        tuning=tuning,
        excess=getattr(first.bounds, "excess", None),
        **known,
    )
    charts = (*draws_chart(first, score), *rounds)
    section = Section("selection", "How the number was obtained", charts, sentence=sentence)
    return summary.with_notes([*notes, *judged(score, share, table)]).with_section(section)


def _why(score: Score, tried: int, unit: str) -> str:
    """Say why the honest number is not what plain cross-validation claims; `tried`: configurations."""
    again = "Choosing again and scoring each choice"
    if not score.n_draws:
        return f"This protocol draws no resamples; plain cross-validation claims {score.claim}."
    if tried == 1:
        why, again = "There was one configuration and nothing to choose: the two differ only by chance.", "Scoring it"
    elif score.optimism > 0 and score.claim != score.honest:
        why = f"Plain cross-validation quotes the best of {tried:,} scores, so part of its {score.claim} is luck."
    else:
        why = f"Choosing among {tried:,} configurations cost nothing here: plain cross-validation claims no more."
    return f"{why} {again} on the {unit} left out of {count(score.n_draws, 'resample')} gives {score.honest}."


def _promise(score: Score, unit: str) -> str:
    """Say what the interval means."""
    place, elsewhere = ("", "") if unit == "groups" else ("same place, ", "other hospitals, ")
    return (
        f"What the {score.interval_method} interval means: if the study were repeated with other {unit} from the same "
        f"source, intervals made like this would contain the score of the chosen model on new {unit} in about "
        f"{100 * score.level:g} of 100 studies. It applies to {unit} like these: {place}same way of measuring, same "
        f"mix. It says nothing about {elsewhere}later years or other devices; only new data can."
    )


def with_charts(summary: Summary, search: Any, time: str = "time") -> Summary:
    """Add the charts and tables of the winner's predictions, and say which are missing; `time`: of survival."""
    if not search.winner_predictions_.responses:
        text = "The search scored models and kept no predictions, so there are no charts; add a metric to scoring."
        return summary.with_notes([Note("W704", text)])
    evidence = Evidence.of(search, time)
    parts = [part for task, make in CHARTS.values() if task == evidence.task for part in make(evidence)]
    parts += tuned_threshold(evidence, search)
    charts = tuple(part for part in parts if isinstance(part, Chart))
    score, n_groups = summary.scores[0], estimate_of(search).n_groups
    sentence = (
        f"Drawn from the winner's out-of-sample predictions; bands hold {100 * score.level:g} % of {evidence.n_bands} "
        f"bootstrap resamples{' of whole groups' if n_groups else ''}."
    )
    if n_groups and n_groups < FEW_GROUPS:
        sentence += f" With {n_groups} groups, bands and intervals here are too narrow: look at the curves only."
    if score.optimism > 0 and len(summary.configurations) > 1:
        sentence += " The curves are those of the configuration that looked best, so they are slightly optimistic."
    tables = tuple(part for part in parts if isinstance(part, Table))
    summary = summary.with_section(Section("curves", "What the winner predicts", charts, tables, sentence))
    summary = summary.with_section(Section("families", "Kinds of models", tables=families_table(search)))
    return summary.with_notes(missing_charts(evidence, charts))


def finished(summary: Summary, search: Any, notes: Iterable[Note] = ()) -> Summary:
    """Add the last notes, and list which configurations failed, where and why."""
    failed = sorted((row.index, row.params) for row in summary.configurations if row.status == "failed")
    rows = [("No.", "Parameters", "Where", "Cause")]
    for index, params in failed[:MOST_FAILURES]:
        failure = search.race_.failures[index]
        cause = f"{clean(failure.error or failure.kind, 80)}: {clean(failure.message, 400)}"
        rows.append((str(index), params, f"fold {failure.fold + 1} of repeat {failure.repeat + 1}", cause))
    more = f"The first {MOST_FAILURES} of {len(failed)} are shown." if len(failed) > MOST_FAILURES else ""
    tables = (Table("failures", "Failures", tuple(rows), more),) if failed else ()
    return summary.with_notes(notes).with_section(Section("failures", "Failures", tables=tables))


# ---- facts ---------------------------------------------------------------------------------------------------------
def _data(search: Any, X: Any) -> Facts:
    """Say how much data there was, and what was to be predicted."""
    table, groups = search.predictions_, estimate_of(search).n_groups
    shape: tuple[int, ...] = getattr(X, "shape", ())
    model = getattr(search, "best_estimator_", None)
    n_columns = shape[1] if len(shape) == 2 else getattr(model, "n_features_in_", None)
    classes = f", {count(table.n_classes, 'class', 'classes')}" if table.n_classes else ""
    folds = search.n_splits_ // table.n_repeats
    each = f"each of {groups:,} groups held out once" if groups == folds else count(folds, "fold")
    repeats = f", repeated {table.n_repeats} times" if table.n_repeats > 1 else ""
    total, n_out = len(search.race_.status), len(search.race_.failures)
    facts = {
        "Task": f"{table.task}{classes}",
        "Samples": f"{table.n_samples:,}",
        "Groups": f"{groups:,}, kept together in folds and resamples" if groups else "",
        "Columns": f"{n_columns:,}" if n_columns else "",
        "Target": _target(table),
        "Weights": "" if table.sample_weight is None else "samples are weighted, in fits and in every score",
        "Cross-validation": f"{each}{repeats}",
        "Configurations": f"{total - n_out:,} of {total:,}" if n_out else f"{total:,}",
    }
    return {label: text for label, text in facts.items() if text}


def _target(table: Predictions) -> str:
    """Say what was to be predicted."""
    if table.task == "survival":
        events = int(table.y["event"].astype(bool).sum())
        return f"{count(events, 'event')}, {table.n_samples - events:,} censored"
    if table.y.ndim > 1:
        return count(table.y.shape[1], "output") if table.y.shape[1] else "none"
    if table.classes is None:
        spread = f"{table.y.mean():.4g} on average, standard deviation {table.y.std():.4g}"
        return f"{spread}, from {table.y.min():.4g} to {table.y.max():.4g}"
    sizes = np.bincount(table.y, minlength=len(table.classes)).tolist()
    named = [f"{clean(label, 60)}: {n:,}" for label, n in zip(table.classes.tolist(), sizes, strict=True)]
    more = f"; and {len(named) - MOST_CLASSES} more" if len(named) > MOST_CLASSES else ""
    return "; ".join(named[:MOST_CLASSES]) + more


def versions() -> Facts:
    """Return the versions of Python and of the libraries that shape a result."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def configurations(search: Any) -> tuple[ConfigurationRow, ...]:
    """Say what became of each configuration, in the order of their ids."""
    results, log, estimate = search.cv_results_, search.race_, estimate_of(search)
    tail = estimate.metric if search.multimetric_ else "score"
    status = np.where((log.status == "finished") & (not search.is_complete_), "still in the race", log.status)
    status[[c for c, cause in log.failures.items() if cause.message == UNREACHED]] = "not reached"
    columns = {
        "rank": results[f"rank_test_{tail}"],
        # With tuned thresholds, what ranks.
        "pooled": results.get(f"tuned_test_{tail}", results[f"pooled_test_{tail}"]),
        "mean": results[f"mean_test_{tail}"],
        "spread": results[f"std_test_{tail}"],
        "seconds": results["mean_fit_time"],
        "dropped_after": results["dropped_at"] + 1,
        "p": log.p,
    }
    names = dict(enumerate(configurations_in_words(search)))
    return _rows(estimate, names, status.tolist(), search.best_index_, columns)


def _rows(
    estimate: Estimate, names: Mapping[int, str], status: Sequence[str], winner: int, columns: Mapping[str, Array]
) -> tuple[ConfigurationRow, ...]:
    """Write a row per configuration, named by its id; what is NaN or masked is None."""
    counts, wins = estimate.win_counts, {}
    if counts is not None and counts.sum():
        wins = dict(zip(estimate.configurations.tolist(), (counts / counts.sum()).tolist(), strict=True))
    values = ([None if v != v else v for v in column.tolist()] for column in columns.values())
    return tuple(
        ConfigurationRow(i, name, state, i == winner, wins=wins.get(i), **dict(zip(columns, row, strict=True)))
        for (i, name), state, *row in zip(names.items(), status, *values, strict=True)
    )
