"""From a finished search, or from an estimate, to the plain data of its report.

All that a report shows is computed here and in the modules of its charts; renderers only write it down.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..errors import Note, SoberError
from ..inference import Estimate
from ..inference.estimate import METHODS
from ..inference.procedures import Threshold
from ..search.results import estimate_of
from ..training.race import UNREACHED
from .charts import CHARTS, draws_chart, race_of, tuned_threshold
from .evidence import N_BANDS, Evidence
from .families_table import BASELINE, families_table
from .model_charts import model_section
from .notes import judged, missing_charts, win_shares
from .notes import notes as notes_of
from .records import Chart, ConfigurationRow, Facts, Score, Section, Summary, Table
from .words import clean, configurations_in_words, count, percent, seconds, within

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
SELECTION = "How the number was obtained"
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
    first, log, rows = estimate_of(search), search.race_, configurations(search)
    code = _NOISE.sub(r"\1", f"{BaseEstimator.__repr__(search, N_CHAR_MAX=4000)}.fit(X, y)")
    race, rounds = race_of(search)
    has_rounds = len(log.alive_by_round) > 1
    note = SINGLE
    if isinstance(first.decision, Threshold):
        note += (
            " Ranks and pooled scores are those at each configuration's own best threshold; means over folds are of "
            "the labels that it predicts untuned."
        )
    if any(row.wins and row.status == "dropped" for row in rows):
        note += " A dropped configuration can win a resample: it is judged only on the folds that it ran."
    early = ""
    if dropped := sum(row.status == "dropped" for row in rows):
        early = f"; with early dropping, in the manner of BCED-CV (BBCD-CV): {count(dropped, 'configuration')} dropped"
    by_fold = search.question_.aggregate == "fold"
    rule = "mean over folds" if by_fold else "score of all out-of-sample predictions together"
    rule += ", which ranks rows of the same fold only" if search.question_.aggregate == "within_folds" else ""
    timing = {"Models trained": f"{search.n_fits_ + search.n_recalled_:,}"}
    if log.n_fits_saved:
        share = 100 * log.n_fits_saved / (log.n_fits + log.n_fits_saved)
        timing["Models not needed"] = f"{log.n_fits_saved:,} ({share:.0f} %)"
    if not search.n_recalled_:  # what was recalled took its time in an earlier run
        timing["Time of the race"] = seconds(log.seconds)
    if hasattr(search, "best_estimator_"):
        timing["Models trained"] += ", the final one included"
        timing["Time of the final model"] = seconds(search.refit_time_)
    # Whether tuning beats a constant says nothing of it.
    models = (row for row in rows if row.index in first.configurations and not row.params.startswith(BASELINE))
    compared = None
    if base := next(models, None):
        compared = base.index, f"the first {'configuration' if base.index == 0 else 'model'} ({base.params})"
    made = _summary(list(search.estimate_.values()) if search.multimetric_ else [first], rows, compared)
    made = replace(
        made,
        title=clean(title or "Tuning report", 120),
        task=search.predictions_.task,
        winner=f"{rows[search.best_index_].params}{'' if first.decision is None else f'; {first.decision.shown()}'}",
        data=_data(search, X),
        method=f"{METHODS[first.method]}{early}. The winner was chosen by {within(made.scores[0].label)}, the {rule}.",
        command=clean(command or code, 4000),
        race=race,
        table_note=note,
        timing=timing,
    ).with_notes(notes_of(search, notes))
    charts = (*draws_chart(first, made.scores[0]), *[rounds] * has_rounds)
    return made.with_section(Section("selection", SELECTION, charts, sentence="" if has_rounds else rounds.sentence))


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
    first = estimates[0]
    rank = np.argsort(np.argsort(-first.scores, kind="stable"), kind="stable") + 1
    known = (np.ma.masked_where(np.isnan(values), values).tolist() for values in (first.scores, win_shares(first)))
    rows = []
    for index, place, score, wins in zip(first.configurations.tolist(), rank.tolist(), *known, strict=True):
        name = clean(first._winner(), 300) if index == first.winner else f"configuration {index}"
        rows.append(ConfigurationRow(index, name, "finished", index == first.winner, place, score, wins=wins))
    made = _summary(estimates, rows, None)
    made = replace(made, title=clean(title or made.title, 120), command=clean(command or "", 4000))
    made = made.with_notes((*dict.fromkeys(note for estimate in estimates for note in estimate.notes), *judged(first)))
    return made.with_section(Section("selection", SELECTION, draws_chart(first, made.scores[0])))


def _summary(estimates: list[Estimate], rows: Sequence[ConfigurationRow], compared: tuple[int, str] | None) -> Summary:
    """Write down what estimates tell; `compared` with the winner is a configuration (default: the first), in words."""
    first, scores, tried = estimates[0], tuple(map(Score.of, estimates)), sum(row.was_compared for row in rows)
    score, share = scores[0], float(win_shares(first)[first.configurations == first.winner].sum())
    unit = "folds" if first.method == "bbc-f" else "groups" if first.n_groups else "samples"
    interval = f", {100 * score.level:g} % interval {score.ends}" if score.interval else ""
    # Why the honest number is not what plain cross-validation claims.
    draws = count(score.n_draws, "resample")
    if not score.n_draws:
        why = f"This protocol draws no resamples; plain cross-validation claims {score.claim}."
    elif tried == 1:
        why = (
            f"There was one configuration and nothing to choose, so the two differ only by chance: {score.honest} is "
            f"the mean over {draws} of its score on the {unit} left out."
        )
    elif score.optimism <= 0:
        why = (
            f"Choosing again in {draws} and scoring each choice on the {unit} it had not seen gives {score.honest}, no "
            f"less than plain cross-validation's {score.claim}: choosing among {tried:,} configurations cost nothing "
            "here."
        )
    else:
        why = (
            f"Plain cross-validation quotes the best of {tried:,} scores, so part of its {score.claim} is luck; "
            f"choosing again in {draws} and scoring each choice on the {unit} it had not seen gives {score.honest}."
        )
    promise, drawn = "", "samples" if unit == "folds" else unit
    if score.interval is not None:
        made = {"percentile": " (Percentiles of the draws.)", "calibrated": " (The calibrated interval.)"}
        promise = (
            f"What the interval means: if the study were repeated with other {drawn} from the same source, "
            f"intervals made like this would contain the score of the chosen model on new {drawn} in about "
            f"{100 * score.level:g} of 100 studies. It applies to {drawn} like these: same "
            f"{'place, same ' * (drawn != 'groups')}way of measuring, same mix. It says nothing about "
            f"{'other hospitals, ' * (drawn != 'groups')}later years or other devices; only new data can."
            f"{made.get(score.interval_method or '', '')}"
        )
    if compared is None:
        index = int(first.configurations[0])
        compared = index, "the first configuration" if index == 0 else f"configuration {index}, the first that is known"
    about, tuning = f"Configuration {first.winner}.", ""
    if share == share and tried > 1:
        winners = count(int((np.asarray(first.win_counts) > 0).sum()), "configuration")
        others = "no other ever won" if share == 1 else f"{winners} won at least once"
        about += f" It won {percent(share)} of the resamples; {others}."
    if first.judge_alone is not None and first.n_configurations > 1 and first.draws is not None:
        with suppress(SoberError):  # no draw judges it
            tuning = first.gain_over(compared[0]).sentence(compared[1])
    facts = {
        "Samples": 0 if first.n_folds else first.n_samples, "Groups": first.n_groups, "Folds": first.n_folds,
        "Repeats": first.n_repeats if first.n_repeats > 1 else 0, "Configurations": first.n_configurations,
    }  # fmt: skip
    by_rank = sorted(rows, key=attrgetter("rank"))  # equal ranks stay in the order of their ids
    return Summary(
        title="Corrected score",
        task="",
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        headline=f"{score.label}: {score.honest}{interval}.",
        why=why,
        scores=scores,
        winner=clean(first._winner(), 300),
        about_winner=f"{about} {tuning}".strip(),
        data={name: f"{n:,}{', all that is known' * (name == 'Folds')}" for name, n in facts.items() if n},
        versions={name.replace("python", "Python"): version for name, version in versions().items()},
        method=f"{METHODS.get(first.method, first.method)}.",
        citation=CITATION,
        seed=first.seed or 0,
        command="",
        configurations=tuple(sorted(by_rank, key=attrgetter("is_winner"), reverse=True)),
        table_note=SINGLE,
        promise=promise,
        tuning=tuning,
        excess=getattr(first.bounds, "excess", None),
    )


def with_charts(summary: Summary, search: Any, time: str = "time") -> Summary:
    """Add the charts and tables of the winner's predictions, and say which are missing; `time`: of survival."""
    if not search.winner_predictions_.responses:
        text = "The search scored models and kept no predictions, so there are no charts; add a metric to scoring."
        return summary.with_notes((Note("W704", text),))
    evidence = Evidence.of(search, time)
    parts = [part for task, make in CHARTS.values() if task == evidence.task for part in make(evidence)]
    parts += tuned_threshold(evidence, search)
    charts = tuple(part for part in parts if isinstance(part, Chart))
    tables = tuple(part for part in parts if isinstance(part, Table))
    score, n_groups = summary.scores[0], estimate_of(search).n_groups
    sentence = (
        f"Drawn from the winner's out-of-sample predictions; bands hold {100 * score.level:g} % of {N_BANDS} bootstrap "
        f"resamples{'' if n_groups is None else ' of whole groups'}."
    )
    if n_groups is not None and n_groups < FEW_GROUPS:
        sentence += (
            f" With {n_groups} groups, bands and intervals in this section are too narrow: look at the curves only."
        )
    if score.optimism > 0 and len(search.race_.status) > 1:
        sentence += (
            " They belong to the configuration that looked best, so they are slightly optimistic, like plain "
            f"cross-validation: {score.claim} where the honest number is {score.honest}."
        )
    summary = summary.with_section(Section("curves", "What the winner predicts", charts, tables, sentence))
    if (kinds := families_table(search)) is not None:
        summary = summary.with_section(Section("families", kinds.title, tables=(kinds,)))
    return summary.with_notes(missing_charts(evidence, charts))


def finished(summary: Summary, search: Any, notes: Iterable[Note] = ()) -> Summary:
    """Add the last notes, and list which configurations failed, where and why."""
    params = {row.index: row.params for row in summary.configurations if row.status == "failed"}
    failed = sorted((c, failure) for c, failure in search.race_.failures.items() if c in params)
    rows = (
        (str(int(c)), params[c], f"fold {failure.fold + 1} of repeat {failure.repeat + 1}",
         f"{clean(failure.error or failure.kind, 80)}: {clean(failure.message, 400)}")
        for c, failure in failed[:MOST_FAILURES]
    )  # fmt: skip
    more = f"The first {MOST_FAILURES} of {len(failed)} are shown." if len(failed) > MOST_FAILURES else ""
    table = Table("failures", "Failures", (("No.", "Parameters", "Where", "Cause"), *rows), more)
    return summary.with_notes(notes).with_section(Section("failures", "Failures", tables=(table,)) if failed else None)


# ---- facts ---------------------------------------------------------------------------------------------------------
def _data(search: Any, X: Any) -> Facts:
    """Say how much data there was, and what was to be predicted."""
    table, groups = search.predictions_, estimate_of(search).n_groups
    classes = f", {count(table.n_classes, 'class', 'classes')}" if table.n_classes else ""
    facts = {"Task": f"{table.task}{classes}", "Samples": f"{table.n_samples:,}"}
    if groups:
        facts["Groups"] = f"{groups:,}, kept together in folds and resamples"
    shape: tuple[int, ...] = getattr(X, "shape", ())
    model = getattr(search, "best_estimator_", None)
    n_columns = shape[1] if len(shape) == 2 else getattr(model, "n_features_in_", None)
    if n_columns:
        facts["Columns"] = f"{n_columns:,}"
    if table.task == "survival":
        events = int(table.y["event"].astype(bool).sum())
        facts["Target"] = f"{count(events, 'event')}, {table.n_samples - events:,} censored"
    elif table.y.ndim > 1:
        facts["Target"] = count(table.y.shape[1], "output") if table.y.shape[1] else "none"
    elif table.classes is None:
        spread = f"{table.y.mean():.4g} on average, standard deviation {table.y.std():.4g}"
        facts["Target"] = f"{spread}, from {table.y.min():.4g} to {table.y.max():.4g}"
    else:
        sizes = np.bincount(table.y, minlength=len(table.classes)).tolist()
        named = [f"{clean(label, 60)}: {n:,}" for label, n in zip(table.classes.tolist(), sizes, strict=True)]
        more = f"; and {len(named) - MOST_CLASSES} more" if len(named) > MOST_CLASSES else ""
        facts["Target"] = "; ".join(named[:MOST_CLASSES]) + more
    if table.sample_weight is not None:
        facts["Weights"] = "samples are weighted, in fits and in every score"
    folds = search.n_splits_ // table.n_repeats
    repeats = f", repeated {table.n_repeats} times" if table.n_repeats > 1 else ""
    each = f"each of {groups:,} groups held out once" if groups == folds else count(folds, "fold")
    total, n_out = len(search.race_.status), len(search.race_.failures)
    compared = f"{total - n_out:,} of {total:,}" if n_out else f"{total:,}"
    return {**facts, "Cross-validation": f"{each}{repeats}", "Configurations": compared}


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
    wins = np.full(len(log.status), np.nan)  # of those that took part in the correction
    wins[estimate.configurations] = win_shares(estimate)
    # With tuned thresholds, what ranks.
    pooled = results.get(f"tuned_test_{tail}", results[f"pooled_test_{tail}"])
    mean, spread = results[f"mean_test_{tail}"], results[f"std_test_{tail}"]
    numbers = {"pooled": pooled, "mean": mean, "spread": spread, "wins": wins, "p": log.p}
    known = {name: np.ma.masked_where(np.isnan(values), values).tolist() for name, values in numbers.items()}
    status = np.where((log.status == "finished") & (not search.is_complete_), "still in the race", log.status)
    status[[c for c, cause in log.failures.items() if cause.message == UNREACHED]] = "not reached"
    return tuple(
        ConfigurationRow(
            index=i,
            params=params,
            status=str(status[i]),
            is_winner=i == search.best_index_,
            rank=int(results[f"rank_test_{tail}"][i]),
            seconds=float(results["mean_fit_time"][i]),
            dropped_after=int(log.dropped_at[i]) + 1 if log.dropped_at[i] >= 0 else None,
            **{name: values[i] for name, values in known.items()},
        )
        for i, params in enumerate(configurations_in_words(search))
    )
