"""From a finished search, or from an estimate, to the plain data of its report.

All that a report shows is computed here and in the modules of its charts; renderers only write it down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..containers import Array
from ..errors import Note, SoberError
from ..inference import Estimate
from . import class_charts, facts, numeric_charts
from .checklist import checklist
from .evidence import N_BANDS, Evidence
from .facts import estimates_of, score_of, wins_of_winner
from .families_table import BASELINE, families_table
from .model_charts import model_section
from .notes import in_order, judged, missing_charts
from .notes import notes as notes_of
from .records import Box, Chart, ConfigurationRow, Fact, Line, Race, Score, Section, Summary, Table
from .words import (
    between,
    clean,
    count,
    in_words,
    number,
    percent,
    short_names,
    winner_in_words,
)

#: The charts of each task, by name; each is made from the winner's predictions.
CHARTS: dict[str, tuple[str, Any]] = {
    "roc": ("classification", class_charts.roc),
    "precision_recall": ("classification", class_charts.precision_recall),
    "calibration": ("classification", class_charts.calibration),
    "decision": ("classification", class_charts.decision_curve),
    "predicted": ("regression", numeric_charts.predicted),
    "residuals": ("regression", numeric_charts.residuals),
    "survival": ("survival", numeric_charts.survival),
}
TABLES = {"classification": class_charts.thresholds, "survival": numeric_charts.horizons}
MOST_FAILURES = 100
#: What a configuration is that was in the race when the run was ended.
UNFINISHED = "still in the race"


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
    _check(search, X, y, n_permutations)
    summary = with_charts(summarize_numbers(search, X, title=title, command=command, notes=notes), search)
    section, more = model_section(search, X, y, sample_weight=sample_weight, n_permutations=n_permutations)
    return finished(summary if section is None else summary.with_section(section), search, more)


def summarize_numbers(
    search: Any, X: Any = None, *, title: str | None = None, command: str | None = None, notes: Iterable[Note] = ()
) -> Summary:
    """Put all that takes no time into plain data: everything but charts of predictions and the final model."""
    estimates, log = estimates_of(search), search.race_
    tried, by_groups = len(log.status), search.predictions_.groups is not None
    unit = "folds" if search.question_.by == "fold" else "groups" if by_groups else "samples"
    rows = configurations(search)
    made = _of_estimates(estimates, tried, unit, title or "Tuning report", _first_model(rows, estimates[0]))
    race, rounds = race_of(search), race_chart(search) if len(log.alive_by_round) > 1 else None
    told = "" if rounds else facts.race_note(race, tried, search.is_complete_)
    return replace(
        made,
        task=search.predictions_.task,
        winner=Fact(winner_in_words(search), made.winner.text),
        notes=notes_of(search, notes),
        data=facts.data(search, X),
        method=facts.method(search),
        seed=int(search.seed_),
        command=clean(command or facts.command(search), 4000),
        race=race,
        configurations=rows,
        table_note=facts.table_note(estimates[0], rows),
        timing=facts.timing(search),
        glossary=facts.glossary(search.predictions_.task, winner_in_words(search), made.scores),
        sections=(_selection(*made.charts, rounds, sentence=told),),
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
    first = estimates[0]
    unit = "folds" if first.n_folds is not None else "groups" if first.n_groups else "samples"
    made = _of_estimates(estimates, first.n_configurations, unit, title or "Corrected score")
    return replace(made, command=clean(command or "", 4000), configurations=_compared(first))


def _of_estimates(
    estimates: list[Estimate], tried: int, unit: str, title: str, model: tuple[int, str] | None = None
) -> Summary:
    """Write down what estimates alone tell; `model` is what the winner is compared with, by its id and in words."""
    first, scores = estimates[0], tuple(score_of(estimate) for estimate in estimates)
    tuning = _tuning(first, *(model or _first_known(first)))
    made = Summary(
        title=clean(title, 120),
        task="",
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        headline=_headline(scores[0]),
        why=_why(scores[0], tried, unit),
        scores=scores,
        winner=Fact(clean(first._winner(), 300), f"{_won(first, tried)} {tuning}".strip()),
        notes=in_order([*dict.fromkeys(n for e in estimates for n in e.notes), *judged(first)]),
        data=facts.size(first),
        versions=tuple(Fact(name.replace("python", "Python"), v) for name, v in facts.versions().items()),
        method=facts.protocol(first),
        citation=facts.CITATION,
        seed=first.seed or 0,
        command="",
        table_note=facts.SINGLE,
        promise=facts.promise(scores[0], "samples" if unit == "folds" else unit),
        glossary=facts.glossary("", "", scores),
        tuning=tuning,
        excess=getattr(first.bounds, "excess", None),
    )
    return made.with_section(_selection(draws_chart(first, scores[0])))


def _selection(*charts: Chart | None, sentence: str = "") -> Section:
    """The section that says how the number came about."""
    drawn = tuple(chart for chart in charts if chart is not None)
    return Section("selection", "How the number came about", drawn, sentence=sentence)


def finished(summary: Summary, search: Any, notes: Iterable[Note] = ()) -> Summary:
    """Add the last notes, the failures and the checklist, once all else is there."""
    failed = _failures(search)
    summary = summary.with_notes(notes)
    summary = summary if failed is None else summary.with_section(Section("failures", "Failures", tables=(failed,)))
    return replace(summary, checklist=checklist(summary))


# ---- scores and sentences ------------------------------------------------------------------------------------------
def _headline(score: Score) -> str:
    text = f"{score.label}: {number(score.value, score.digits)}"
    if score.interval is None:
        return f"{text}."
    return f"{text}, {100 * score.level:g} % interval {between(score.interval, score.digits)}."


def _why(score: Score, tried: int, unit: str) -> str:
    """Say why the honest number is not what plain cross-validation claims."""
    honest, naive = number(score.value, score.digits), number(score.naive, score.digits)
    if not score.n_draws:
        return f"The protocol makes no resamples; plain cross-validation claims {naive}."
    if tried == 1:
        return (
            f"There was one configuration and nothing to choose, so the two differ only by chance: {honest} is the "
            f"mean over {count(score.n_draws, 'resample')} of its score on the {unit} left out."
        )
    again = (
        f"choosing again in {count(score.n_draws, 'resample')} and scoring each choice on the {unit} it had not seen"
    )
    if score.optimism <= 0:
        return (
            f"{again[0].upper()}{again[1:]} gives {honest}, no less than plain cross-validation's {naive}: choosing "
            f"among {tried:,} configurations cost nothing here."
        )
    return (
        f"Plain cross-validation quotes the best of {tried:,} scores, so part of its {naive} is luck; {again} gives "
        f"{honest}."
    )


def _first_known(estimate: Estimate) -> tuple[int, str]:
    first = int(estimate.configurations[0])
    return first, "the first configuration" if first == 0 else f"configuration {first}, the first that is known"


def _first_model(rows: Sequence[ConfigurationRow], estimate: Estimate) -> tuple[int, str]:
    """The first configuration that is more than a constant: whether tuning beats a constant tells nothing of tuning."""
    known = sorted((row for row in rows if row.index in estimate.configurations), key=lambda row: row.index)
    first = next((row for row in known if not row.params.startswith(BASELINE)), None)
    if first is None:
        return _first_known(estimate)
    return first.index, f"the first {'configuration' if first.index == 0 else 'model'} ({first.params})"


def _tuning(estimate: Estimate, first: int, name: str) -> str:
    """Say whether tuning was worth it: the winner against a configuration that needed no choice."""
    if estimate.judge_alone is None or estimate.n_configurations < 2 or estimate.draws is None:
        return ""
    try:
        return estimate.gain_over(first).sentence(name)
    except SoberError:  # no draw judges it
        return ""


def _won(estimate: Estimate, tried: int) -> str:
    share = wins_of_winner(estimate)
    if share is None or tried == 1:
        return f"Configuration {estimate.winner}."
    winners = int((np.asarray(estimate.win_counts) > 0).sum())
    others = "no other ever won" if winners == 1 else f"{count(winners, 'configuration')} won at least once"
    return f"Configuration {estimate.winner}. It won {percent(share)} of the resamples; {others}."


# ---- charts of the selection ---------------------------------------------------------------------------------------
def draws_chart(estimate: Estimate, score: Score) -> Chart | None:
    """Histogram of the draws in some 30 bins, with the honest score and what plain cross-validation claims."""
    if estimate.draws is None:
        return None
    known = estimate.draws[~np.isnan(estimate.draws)]
    if not len(known):
        return None
    low, high, n_bins = float(known.min()), float(known.max()), int(np.clip(np.sqrt(len(known)), 5, 30))
    if high - low < 1e-12:  # all draws are equal: one bar in the middle
        low, high, n_bins = low - 0.5, high + 0.5, 25
    heights, edges = np.histogram(known, bins=n_bins, range=(low, high))
    first, last = score.interval or (low, high)
    boxes = []
    for left, right, n in zip(edges.tolist(), edges[1:].tolist(), heights.tolist(), strict=False):
        inside = first <= (left + right) / 2 <= last or left <= score.value <= right
        hint = f"{n} draws from {number(left, 4)} to {number(right, 4)}"
        boxes.append(Box(_six(left), 0.0, _six(right), float(n), 0 if inside else 2, hint))
    top, shown = float(heights.max()) * 1.16, [low, high, score.naive]
    pad = 0.03 * (max(shown) - min(shown))
    claims = (("honest", score.value), ("plain CV", score.naive))
    lines = tuple(_upright(f"{name} {number(v, score.digits)}", v, top) for name, v in claims)
    ends = (min(shown) - pad, max(shown) + pad)
    sentence = facts.draws_note(estimate)
    return Chart("draws", "Draws", score.label, "resamples", ends, (0.0, top), lines, sentence, boxes=tuple(boxes))


def _upright(label: str, x: float, top: float) -> Line:
    return Line(label, (x, x), (0.0, top), (0.0, top), (0.0, top))


def _six(value: float) -> float:
    return float(f"{value:.6g}")


def race_of(search: Any) -> Race:
    """Say how many configurations the race began with, and what dropping saved."""
    log, rule = search.race_, search.drop_rule_
    return Race(
        len(log.status), int(log.n_fits), int(log.n_fits_saved), rule="" if rule is None else clean(rule),
        reason=str(getattr(rule, "reason", f"{clean(rule)} found inferior")), counted=bool(search.predictions_.dropped),
    )  # fmt: skip


def race_chart(search: Any) -> Chart:
    """Draw one column per round: configurations that stayed, were dropped or failed."""
    race, alive = race_of(search), search.race_.alive_by_round.tolist()
    boxes, before = [], len(search.race_.status)
    for i, stayed in enumerate(alive):
        dropped = int((search.race_.dropped_at == i).sum())
        sizes, floor = (stayed, dropped, before - stayed - dropped), 0
        told = f"Round {i + 1}: {stayed} still in the race, {dropped} dropped, {sizes[2]} failed"
        for series, size in enumerate(sizes):
            if size:
                boxes.append(Box(i + 0.61, float(floor), i + 1.39, float(floor + size), series, told))
            floor += size
        before = stayed
    ends = (0.4, len(alive) + 0.6)
    return Chart(
        "race", "Race", "round of the cross-validation", "configurations", ends, (0.0, race.n_start * 1.08),
        boxes=tuple(boxes),
        series=("still in the race", "dropped" * bool(race.n_saved), "failed" * bool(search.race_.failures)),
        sentence=facts.race_note(race, alive[-1], search.is_complete_),
    )  # fmt: skip


# ---- configurations ------------------------------------------------------------------------------------------------
def configurations(search: Any) -> tuple[ConfigurationRow, ...]:
    """Make the table of configurations, the best first."""
    results, log = search.cv_results_, search.race_
    estimate = estimates_of(search)[0]
    tail = estimate.metric if search.multimetric_ else "score"
    wins = np.full(len(log.status), np.nan)  # of those that took part in the correction
    if estimate.win_counts is not None:
        wins[estimate.configurations] = estimate.win_counts / max(estimate.win_counts.sum(), 1)
    # With tuned thresholds, what ranks.
    pooled = results.get(f"tuned_test_{tail}", results[f"pooled_test_{tail}"])
    names, default = _names(search), getattr(search.estimator, "steps", [("", search.estimator)])[-1][1]
    made = [
        ConfigurationRow(
            index=i,
            params=in_words(results["params"][i], names, default),
            status=UNFINISHED if log.status[i] == "finished" and not search.is_complete_ else str(log.status[i]),
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
    ]
    return tuple(sorted(made, key=lambda row: (not row.is_winner, row.rank, row.index)))


def _compared(estimate: Estimate) -> tuple[ConfigurationRow, ...]:
    """The same table where only scores and wins are known."""
    total = 0 if estimate.win_counts is None else int(estimate.win_counts.sum())
    order = np.argsort(-np.asarray(estimate.scores, float), kind="stable")
    rank = np.empty(len(order), int)
    rank[order] = np.arange(1, len(order) + 1)
    made = []
    for place, index in enumerate(estimate.configurations.tolist()):
        is_winner = index == estimate.winner
        wins = None if not total or estimate.win_counts is None else float(estimate.win_counts[place] / total)
        made.append(
            ConfigurationRow(
                index, clean(estimate._winner(), 300) if is_winner else f"configuration {index}", "finished", is_winner,
                int(rank[place]), _known(estimate.scores, place), None, None, wins, None, None, None,
            )
        )  # fmt: skip
    return tuple(sorted(made, key=lambda row: (not row.is_winner, row.rank, row.index)))


def _failures(search: Any) -> Table | None:
    """List which configurations failed, where and why."""
    failed = sorted(search.race_.failures.items())
    if not failed:
        return None
    names, params = _names(search), search.cv_results_["params"]
    rows = [("Nr.", "Parameters", "Where", "Cause")]
    for c, failure in failed[:MOST_FAILURES]:
        where = f"fold {failure.fold + 1} of repeat {failure.repeat + 1}"
        cause = f"{clean(failure.error or failure.kind, 80)}: {clean(failure.message, 400)}"
        rows.append((str(int(c)), in_words(params[c], names), where, cause))
    more = f"The first {MOST_FAILURES} of {len(failed)} are shown." if len(failed) > MOST_FAILURES else ""
    return Table("failures", "Failures", tuple(rows), more)


def _names(search: Any) -> dict[str, str]:
    return short_names(name for params in search.cv_results_["params"] for name in params)


def _known(values: Array, i: int) -> float | None:
    value = float(values[i])
    return None if value != value else value


# ---- charts of what the winner predicts ----------------------------------------------------------------------------
def with_charts(summary: Summary, search: Any) -> Summary:
    """Add the charts and tables of the winner's predictions, and say which ones the reader may miss."""
    if not search.winner_predictions_.responses:
        text = "The search scored models and kept no predictions, so there are no charts; add a metric to scoring."
        return summary.with_notes((Note("W704", text),))
    evidence = Evidence.of(search)
    charts, tables = charts_of(evidence)
    tuned = class_charts.tuned_threshold(evidence, search)
    charts = charts if tuned is None else (*charts, tuned)
    sentence = facts.curves_note(search, summary.scores[0], N_BANDS)
    kinds = families_table(search)
    summary = summary.with_section(Section("curves", "What the winner predicts", charts, tables, sentence))
    if kinds is not None:
        summary = summary.with_section(Section("families", kinds.title, tables=(kinds,)))
    return summary.with_notes(missing_charts(evidence, charts))


def charts_of(evidence: Evidence) -> tuple[tuple[Chart, ...], tuple[Table, ...]]:
    """All charts and tables that the task and the predictions allow."""
    made = [chart(evidence) for task, chart in CHARTS.values() if task == evidence.task]
    tables = [TABLES[evidence.task](evidence)] if evidence.task in TABLES else []
    found = class_charts.confusion(evidence) if evidence.task == "classification" else None
    if found is not None:
        made.append(found[0])
        tables.append(found[1])
    return tuple(chart for chart in made if chart is not None), tuple(t for t in tables if t is not None)


def _check(search: Any, X: Any, y: Any, n_permutations: int) -> None:
    if isinstance(n_permutations, bool) or not isinstance(n_permutations, int) or n_permutations < 0:
        raise SoberError("E108", f"`n_permutations` must be a whole number of 0 or more; got {n_permutations!r}.")
    n = search.predictions_.n_samples
    for name, values in (("X", X), ("y", y)):
        shape = getattr(values, "shape", None)
        rows = n if values is None else shape[0] if shape else len(values)
        if rows != n:
            raise SoberError(
                "E502",
                f"`{name}` has {rows:,} rows, but the search was given {n:,}. Pass the data that it was tuned on.",
            )
