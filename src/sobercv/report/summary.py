"""From a finished search, or from an estimate, to the plain data of its report.

All that a report shows is computed here and in the modules of its charts; renderers only write it down.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping
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
from .charts import CHARTS, tuned_threshold
from .evidence import N_BANDS, Evidence
from .families_table import BASELINE, families_table
from .model_charts import model_section
from .notes import judged, missing_charts, wins_of_winner
from .notes import notes as notes_of
from .records import Box, Chart, ConfigurationRow, Fact, Line, Race, Score, Section, Summary, Table
from .words import (
    between,
    clean,
    configurations_in_words,
    count,
    digits_for,
    metric_label,
    number,
    percent,
    seconds,
    within,
)  # fmt: skip

CITATION = (
    "Tsamardinos, Greasidou, Borboudakis (2018). Bootstrapping the out-of-sample predictions for efficient and "
    "accurate cross-validation. Machine Learning 107, 1895-1922. doi:10.1007/s10994-018-5714-4"
)
PACKAGES = (
    "sobercv", "scikit-learn", "numpy", "scipy", "numba", "joblib", "pandas", "skrub", "skops", "scikit-survival",
)  # fmt: skip
#: What the scores of single configurations are.
SINGLE = (
    "Scores of single configurations are plain cross-validation, of dropped ones on the folds that they ran; the "
    "honest number stands at the top."
)
SELECTION = "How the number came about"
MOST_FAILURES, MOST_CLASSES = 100, 8
#: Resampling fewer groups shows too little of how they differ.
FEW_GROUPS = 10
_NUMPY = re.compile(r"np\.(?:float64|int64|bool_?|str_)\(([^()]*)\)")  # a number is enough, for readers


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
        rows = n if values is None else _num_samples(values)
        if rows != n:
            text = f"`{name}` has {rows:,} rows, but the search was given {n:,}. Pass the data that it was tuned on."
            raise SoberError("E502", text)
    fields = getattr(getattr(y, "dtype", None), "fields", None) or {}  # of survival times: event and time
    time = next((name for name, (kind, *_) in fields.items() if kind.kind != "b"), "time")
    summary = summarize_numbers(search, X, title=title, command=command, notes=notes)
    summary = with_charts(summary, search, clean(time, 60))
    section, more = model_section(search, X, y, sample_weight=sample_weight, n_permutations=n_permutations)
    return finished(summary if section is None else summary.with_section(section), search, more)


def summarize_numbers(
    search: Any, X: Any = None, *, title: str | None = None, command: str | None = None, notes: Iterable[Note] = ()
) -> Summary:
    """Put all that takes no time into plain data: everything but charts of predictions and the final model."""
    estimates, log, table = estimates_of(search), search.race_, search.predictions_
    unit = "folds" if search.question_.by == "fold" else "samples" if table.groups is None else "groups"
    rows, race = configurations(search), race_of(search)
    rounds = race_chart(search) if len(log.alive_by_round) > 1 else None
    models = [row for row in rows if row.index in estimates[0].configurations and not row.params.startswith(BASELINE)]
    first = min(models, key=lambda row: row.index, default=None)  # whether tuning beats a constant says nothing of it
    code = _NUMPY.sub(r"\1", f"{BaseEstimator.__repr__(search, N_CHAR_MAX=4000)}.fit(X, y)")
    decision = estimates[0].decision
    tuned = (
        " Ranks and pooled scores are those at each configuration's own best threshold; means over folds are of the "
        "labels that it predicts untuned."
    ) * isinstance(decision, Threshold)
    has_won = any(row.wins and row.status == "dropped" for row in rows)
    dropped = " A dropped configuration can win a resample: it is judged only on the folds that it ran." * has_won
    winner = f"{rows[0].params}{'' if decision is None else f'; {decision.shown()}'}"
    made = _summary(
        estimates, len(log.status), unit, winner,
        None if first is None else
        (first.index, f"the first {'configuration' if first.index == 0 else 'model'} ({first.params})"),
        title=clean(title or "Tuning report", 120), task=table.task, data=_data(search, X), method=_method(search),
        seed=int(search.seed_), command=clean(command or code, 4000), race=race, configurations=rows,
        table_note=SINGLE + tuned + dropped, timing=_timing(search),
    )  # fmt: skip
    told = "" if rounds else race_note(search)
    charts = (*draws_chart(estimates[0], made.scores[0]), *([] if rounds is None else [rounds]))
    return made.with_notes(notes_of(search, notes)).with_section(Section("selection", SELECTION, charts, sentence=told))


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
    first, data = estimates[0], []
    unit = "folds" if first.n_folds is not None else "groups" if first.n_groups else "samples"
    for label, n, more in (
        ("Samples", 0 if first.n_folds else first.n_samples, ""), ("Groups", first.n_groups, ""),
        ("Folds", first.n_folds, ", all that is known"), ("Repeats", first.n_repeats if first.n_repeats > 1 else 0, ""),
        ("Configurations", first.n_configurations, ""),
    ):  # fmt: skip
        data += [Fact(label, f"{n:,}{more}")] if n else []
    winner, order = clean(first._winner(), 300), np.argsort(-np.asarray(first.scores, float), kind="stable")
    rank = np.argsort(order, kind="stable") + 1
    wins = None if first.win_counts is None or not first.win_counts.sum() else first.win_counts / first.win_counts.sum()
    rows = [
        ConfigurationRow(
            index, winner if index == first.winner else f"configuration {index}", "finished", index == first.winner,
            int(rank[place]), _known(first.scores, place), None, None,
            None if wins is None else float(wins[place]), None, None, None,
        )
        for place, index in enumerate(first.configurations.tolist())
    ]  # fmt: skip
    made = _summary(
        estimates, first.n_configurations, unit, winner, None, title=clean(title or "Corrected score", 120), task="",
        data=tuple(data), method=f"{METHODS.get(first.method, first.method)}.", seed=first.seed or 0,
        command=clean(command or "", 4000), configurations=_best_first(rows), table_note=SINGLE,
    )  # fmt: skip
    noted = (*dict.fromkeys(note for estimate in estimates for note in estimate.notes), *judged(first))
    return made.with_notes(noted).with_section(Section("selection", SELECTION, draws_chart(first, made.scores[0])))


def _summary(
    estimates: list[Estimate], tried: int, unit: str, winner: str, compared: tuple[int, str] | None, **known: Any
) -> Summary:
    """Write down what estimates tell beside what is known already.

    `compared` is the configuration that the winner is compared with, by its id and in words; default: the first.
    """
    first, scores = estimates[0], tuple(score_of(estimate) for estimate in estimates)
    score, share = scores[0], wins_of_winner(first)
    held = f", {100 * score.level:g} % interval {between(score.interval, score.digits)}" if score.interval else ""
    if compared is None:
        index = int(first.configurations[0])
        compared = index, "the first configuration" if index == 0 else f"configuration {index}, the first that is known"
    tuning = ""
    if first.judge_alone is not None and first.n_configurations > 1 and first.draws is not None:
        try:
            tuning = first.gain_over(compared[0]).sentence(compared[1])
        except SoberError:  # no draw judges it
            tuning = ""
    won = f"Configuration {first.winner}."
    if share is not None and tried > 1:
        winners = int((np.asarray(first.win_counts) > 0).sum())
        others = "no other ever won" if winners == 1 else f"{count(winners, 'configuration')} won at least once"
        won += f" It won {percent(share)} of the resamples; {others}."
    return Summary(
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        headline=f"{score.label}: {number(score.value, score.digits)}{held}.",
        why=_why(score, tried, unit),
        scores=scores,
        winner=Fact(winner, f"{won} {tuning}".strip()),
        versions=tuple(Fact(name.replace("python", "Python"), version) for name, version in versions().items()),
        citation=CITATION,
        promise=_promise(score, "samples" if unit == "folds" else unit),
        tuning=tuning,
        excess=getattr(first.bounds, "excess", None),
        **known,
    )


def with_charts(summary: Summary, search: Any, time: str = "time") -> Summary:
    """Add the charts and tables of the winner's predictions, and say which ones the reader may miss.

    `time` is what survival times are called.
    """
    if not search.winner_predictions_.responses:
        text = "The search scored models and kept no predictions, so there are no charts; add a metric to scoring."
        return summary.with_notes((Note("W704", text),))
    evidence = Evidence.of(search, time)
    parts = [part for task, make in CHARTS.values() if task == evidence.task for part in make(evidence)]
    parts += tuned_threshold(evidence, search)
    charts = tuple(part for part in parts if isinstance(part, Chart))
    tables = tuple(part for part in parts if isinstance(part, Table))
    score, n_groups = summary.scores[0], estimates_of(search)[0].n_groups
    sentence = (
        f"Drawn from the winner's out-of-sample predictions; bands hold {100 * score.level:g} % of {N_BANDS} bootstrap "
        f"resamples{' of whole groups' if search.predictions_.groups is not None else ''}."
    )
    if n_groups is not None and n_groups < FEW_GROUPS:
        sentence += (
            f" With {n_groups} groups, bands and intervals of this section are too narrow: read the curves only."
        )
    if score.optimism > 0 and len(search.race_.status) > 1:
        sentence += (
            " They belong to the configuration that looked best, so they flatter it a little, as plain "
            f"cross-validation does: {number(score.naive, score.digits)} where the honest number is "
            f"{number(score.value, score.digits)}."
        )
    summary = summary.with_section(Section("curves", "What the winner predicts", charts, tables, sentence))
    kinds = families_table(search)
    if kinds is not None:
        summary = summary.with_section(Section("families", kinds.title, tables=(kinds,)))
    return summary.with_notes(missing_charts(evidence, charts))


def finished(summary: Summary, search: Any, notes: Iterable[Note] = ()) -> Summary:
    """Add the last notes, and list which configurations failed, where and why."""
    failed, summary = sorted(search.race_.failures.items()), summary.with_notes(notes)
    if not failed:
        return summary
    rows, params = [("Nr.", "Parameters", "Where", "Cause")], configurations_in_words(search)
    for c, failure in failed[:MOST_FAILURES]:
        where = f"fold {failure.fold + 1} of repeat {failure.repeat + 1}"
        cause = f"{clean(failure.error or failure.kind, 80)}: {clean(failure.message, 400)}"
        rows.append((str(int(c)), params[c], where, cause))
    more = f"The first {MOST_FAILURES} of {len(failed)} are shown." if len(failed) > MOST_FAILURES else ""
    table = Table("failures", "Failures", tuple(rows), more)
    return summary.with_section(Section("failures", "Failures", tables=(table,)))


# ---- scores and sentences ------------------------------------------------------------------------------------------
def estimates_of(search: Any) -> list[Estimate]:
    """Return all estimates of a search, the one of the metric that selected first."""
    return list(search.estimate_.values()) if search.multimetric_ else [search.estimate_]


def score_of(estimate: Estimate) -> Score:
    """Write an estimate as the score that readers see, with as many digits as it needs."""
    return Score(
        metric=estimate.metric,
        label=metric_label(estimate.metric, estimate.positive),
        value=float(estimate.value),
        interval=None if estimate.interval is None else tuple(float(v) for v in estimate.interval),
        level=estimate.confidence_level,
        naive=float(estimate.naive),
        optimism=float(estimate.optimism),
        n_draws=0 if estimate.draws is None else len(estimate.draws),
        n_undefined=estimate.n_undefined,
        digits=digits_for((estimate.value, estimate.naive, *(estimate.interval or ())), estimate.optimism),
        positive=None if estimate.positive is None else clean(estimate.positive, 60),
        interval_method=estimate.interval_method,
    )


def _why(score: Score, tried: int, unit: str) -> str:
    """Say why the honest number is not what plain cross-validation claims."""
    honest, naive = number(score.value, score.digits), number(score.naive, score.digits)
    draws = count(score.n_draws, "resample")
    if not score.n_draws:
        return f"The protocol makes no resamples; plain cross-validation claims {naive}."
    if tried == 1:
        return (
            f"There was one configuration and nothing to choose, so the two differ only by chance: {honest} is the "
            f"mean over {draws} of its score on the {unit} left out."
        )
    if score.optimism <= 0:
        return (
            f"Choosing again in {draws} and scoring each choice on the {unit} it had not seen gives {honest}, no less "
            f"than plain cross-validation's {naive}: choosing among {tried:,} configurations cost nothing here."
        )
    return (
        f"Plain cross-validation quotes the best of {tried:,} scores, so part of its {naive} is luck; choosing again "
        f"in {draws} and scoring each choice on the {unit} it had not seen gives {honest}."
    )


def _promise(score: Score, unit: str) -> str:
    """Say what the interval of the metric that selected promises; `unit` is what was drawn, samples or groups."""
    if score.interval is None:
        return ""
    made = {"percentile": " (Percentiles of the draws.)", "calibrated": " (The calibrated interval.)"}
    return (
        f"What the interval promises: if the study were repeated with other {unit} from the same source, intervals "
        f"made like this would hold the score of the chosen model on new {unit} in about {100 * score.level:g} of 100 "
        f"studies. It speaks of {unit} like these: same {'place, same ' * (unit != 'groups')}way of measuring, same "
        f"mix. It does not speak of {'other hospitals, ' * (unit != 'groups')}later years or other devices; only new "
        f"data can.{made.get(score.interval_method or '', '')}"
    )


# ---- facts ---------------------------------------------------------------------------------------------------------
def _data(search: Any, X: Any) -> tuple[Fact, ...]:
    """Say how much data there was, and what was to be predicted."""
    table, groups = search.predictions_, estimates_of(search)[0].n_groups
    classes = f", {count(table.n_classes, 'class', 'classes')}" if table.n_classes else ""
    facts = [Fact("Task", f"{table.task}{classes}"), Fact("Samples", f"{table.n_samples:,}")]
    if groups:
        facts.append(Fact("Groups", f"{groups:,}, kept together in folds and resamples"))
    shape: tuple[int, ...] = getattr(X, "shape", ())
    model = getattr(search, "best_estimator_", None)
    n_columns = shape[1] if len(shape) == 2 else getattr(model, "n_features_in_", None)
    if n_columns:
        facts.append(Fact("Columns", f"{n_columns:,}"))
    facts.append(Fact("Target", _target(table)))
    if table.sample_weight is not None:
        facts.append(Fact("Weights", "samples are weighted, in fits and in every score"))
    folds = search.n_splits_ // table.n_repeats
    repeats = f", repeated {table.n_repeats} times" if table.n_repeats > 1 else ""
    each = f"each of {groups:,} groups held out once" if groups == folds else count(folds, "fold")
    facts.append(Fact("Cross-validation", f"{each}{repeats}"))
    return (*facts, Fact("Configurations", f"{len(search.race_.status):,}"))


def _target(table: Any) -> str:
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


def _timing(search: Any) -> tuple[Fact, ...]:
    """Say what was trained, and how long it took."""
    log, is_final = search.race_, hasattr(search, "best_estimator_")
    trained = f"{search.n_fits_ + search.n_recalled_:,}{', the final one included' if is_final else ''}"
    facts = [Fact("Models trained", trained), Fact("Time of the race", seconds(log.seconds))]
    if log.n_fits_saved:
        share = 100 * log.n_fits_saved / (log.n_fits + log.n_fits_saved)
        facts.insert(1, Fact("Models not needed", f"{log.n_fits_saved:,} ({share:.0f} %)"))
    return (*facts, Fact("Time of the final model", seconds(search.refit_time_))) if is_final else tuple(facts)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that shape a result."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _method(search: Any) -> str:
    """Name the protocol, what was dropped, and what selected."""
    estimate, text = estimates_of(search)[0], METHODS[estimates_of(search)[0].method]
    dropped = int((search.race_.status == "dropped").sum())
    if dropped:
        text += f"; with early dropping, in the manner of BCED-CV (BBCD-CV): {count(dropped, 'configuration')} dropped"
    by_fold = search.question_.aggregate == "fold"
    rule = "mean over folds" if by_fold else "score of all out-of-sample predictions together"
    rule += ", which ranks rows of the same fold only" if search.question_.within_folds else ""
    return f"{text}. The winner was chosen by {within(metric_label(estimate.metric, estimate.positive))}, the {rule}."


# ---- the selection: draws, race, configurations --------------------------------------------------------------------
def draws_chart(estimate: Estimate, score: Score) -> tuple[Chart, ...]:
    """Histogram of the draws in some 30 bins, with the honest score and what plain CV claims; none without draws."""
    known = np.empty(0) if estimate.draws is None else estimate.draws[~np.isnan(estimate.draws)]
    if not len(known):
        return ()
    low, high, n_bins = float(known.min()), float(known.max()), int(np.clip(np.sqrt(len(known)), 5, 30))
    if high - low < 1e-12:  # all draws are equal: one bar in the middle
        low, high, n_bins = low - 0.5, high + 0.5, 25
    heights, edges = np.histogram(known, bins=n_bins, range=(low, high))
    first, last = score.interval or (low, high)
    boxes = []
    for left, right, n in zip(edges.tolist(), edges[1:].tolist(), heights.tolist(), strict=False):
        inside = first <= (left + right) / 2 <= last or left <= score.value <= right
        hint = f"{n} draws from {number(left, 4)} to {number(right, 4)}"
        boxes.append(Box(float(f"{left:.6g}"), 0.0, float(f"{right:.6g}"), float(n), 0 if inside else 2, hint))
    top, ends = float(heights.max()) * 1.16, (min(low, score.naive), max(high, score.naive))
    room, lines = 0.03 * (ends[1] - ends[0]), []
    for name, x in (("honest", score.value), ("plain CV", score.naive)):
        lines.append(Line(f"{name} {number(x, score.digits)}", (x, x), *3 * ((0.0, top),)))
    # What is tuned is not judged by the mean of the draws, see docs/evidence/tuned.md.
    honest = "their mean, the honest number" if estimate.decision is None else "the honest number"
    undefined = f" {estimate.n_undefined} draws were undefined and left out." if estimate.n_undefined else ""
    sentence = (
        f"{score.n_draws:,} times the choice was made again on a resample, and the chosen configuration scored on what "
        f"the resample had left out. The solid line marks {honest}; the dotted line, what plain cross-validation "
        f"claims; grey bars lie outside the interval.{undefined}"
    )
    return (
        Chart("draws", "Draws", score.label, "resamples", (ends[0] - room, ends[1] + room), (0.0, top), tuple(lines),
              sentence, boxes=tuple(boxes)),
    )  # fmt: skip


def race_of(search: Any) -> Race:
    """Say how many configurations the race began with, and what dropping saved."""
    log, rule = search.race_, search.drop_rule_
    return Race(
        len(log.status), int(log.n_fits), int(log.n_fits_saved), rule="" if rule is None else clean(rule),
        reason=str(getattr(rule, "reason", f"{clean(rule)} found inferior")), counted=bool(search.predictions_.dropped),
    )  # fmt: skip


def race_note(search: Any) -> str:
    """Say what the race dropped and saved."""
    race, dropped = race_of(search), int((search.race_.status == "dropped").sum())
    folds = "every fold" if search.is_complete_ else "every fold that was reached before the run was ended"
    if not race.rule:
        return f"No configuration was to be dropped: all {race.n_start:,} ran on {folds}, {race.n_trained:,} models."
    if not dropped:
        return f"After each round, configurations could be dropped that {race.reason}; none were."
    counted = " The dropped took part in the correction with the predictions that they had." if race.counted else ""
    return (
        f"After each round, configurations that {race.reason} were dropped: {dropped:,} of {race.n_start:,}, and "
        f"{race.n_saved:,} of {race.n_saved + race.n_trained:,} models were never needed.{counted} The table below "
        "says when each was dropped."
    )


def race_chart(search: Any) -> Chart:
    """Draw one column per round: configurations that stayed, were dropped or failed."""
    log, boxes = search.race_, []
    before, alive = len(log.status), log.alive_by_round.tolist()
    for i, stayed in enumerate(alive):
        dropped = int((log.dropped_at == i).sum())
        sizes, floor = (stayed, dropped, before - stayed - dropped), 0
        told = f"Round {i + 1}: {stayed} still in the race, {dropped} dropped, {sizes[2]} failed"
        for series, size in enumerate(sizes):
            if size:
                boxes.append(Box(i + 0.61, float(floor), i + 1.39, float(floor + size), series, told))
            floor += size
        before = stayed
    return Chart(
        "race", "Race", "round of the cross-validation", "configurations", (0.4, len(alive) + 0.6),
        (0.0, len(log.status) * 1.08), boxes=tuple(boxes), sentence=race_note(search),
        series=("still in the race", "dropped" * bool(log.n_fits_saved), "failed" * bool(log.failures)),
    )  # fmt: skip


def configurations(search: Any) -> tuple[ConfigurationRow, ...]:
    """Make the table of configurations, the best first."""
    results, log, estimate = search.cv_results_, search.race_, estimates_of(search)[0]
    tail = estimate.metric if search.multimetric_ else "score"
    wins = np.full(len(log.status), np.nan)  # of those that took part in the correction
    if estimate.win_counts is not None:
        wins[estimate.configurations] = estimate.win_counts / max(estimate.win_counts.sum(), 1)
    # With tuned thresholds, what ranks.
    pooled = results.get(f"tuned_test_{tail}", results[f"pooled_test_{tail}"])
    params = configurations_in_words(search)
    is_unfinished = (log.status == "finished") & (not search.is_complete_)
    return _best_first(
        ConfigurationRow(
            index=i,
            params=params[i],
            status="still in the race" if is_unfinished[i] else str(log.status[i]),
            is_winner=i == search.best_index_,
            rank=int(results[f"rank_test_{tail}"][i]),
            pooled=_known(pooled, i),
            mean=_known(results[f"mean_test_{tail}"], i),
            spread=_known(results[f"std_test_{tail}"], i),
            wins=_known(wins, i),
            seconds=float(results["mean_fit_time"][i]),
            dropped_after=int(log.dropped_at[i]) + 1 if log.dropped_at[i] >= 0 else None,
            p=_known(log.p, i),
        )
        for i in range(len(log.status))
    )


def _best_first(rows: Iterable[ConfigurationRow]) -> tuple[ConfigurationRow, ...]:
    return tuple(sorted(rows, key=lambda row: (not row.is_winner, row.rank, row.index)))


def _known(values: Array, i: int) -> float | None:
    value = float(values[i])
    return None if value != value else value
