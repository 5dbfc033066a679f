"""What a search found, as records: the honest numbers and why they differ, the draws, the race, the configurations.

Takes a finished search, gives records; never trains and never draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..containers import Array
from ..inference import Estimate
from ..metrics import Metric
from .configuration_words import in_words, winner_in_words
from .records import ConfigurationRow, Fact, FailedConfiguration, Histogram, Race, Round, Score
from .words import between, clean, count, digits_for, metric_label, number, percent, short_names


def estimates_of(search: Any) -> list[Estimate]:
    """All estimates of a search, the one of the metric that selected first."""
    return list(search.estimate_.values()) if search.multimetric_ else [search.estimate_]


def metrics_of(search: Any) -> list[Metric]:
    """All metrics of a search, the one that selected first."""
    return list(search.question_.metrics)


def scores(search: Any) -> tuple[Score, ...]:
    """Say how good the winner is, by every metric."""
    return tuple(score_of(estimate) for estimate in estimates_of(search))


def score_of(estimate: Estimate) -> Score:
    """Write an estimate as the score that readers see, with as many digits as it needs."""
    bounds = () if estimate.interval is None else estimate.interval
    digits = digits_for((estimate.value, estimate.naive, *bounds))
    while digits < 5 and 0 < abs(estimate.optimism) < 0.5 * 10**-digits and abs(estimate.value) < 10:
        digits += 1
    return Score(
        metric=estimate.metric,
        label=metric_label(estimate.metric, estimate.positive),
        value=estimate.value,
        interval=None if estimate.interval is None else tuple(float(v) for v in estimate.interval),
        level=estimate.confidence_level,
        naive=estimate.naive,
        optimism=estimate.optimism,
        n_draws=0 if estimate.draws is None else len(estimate.draws),
        n_undefined=estimate.n_undefined,
        digits=digits,
        positive=None if estimate.positive is None else clean(estimate.positive, 60),
        interval_method=estimate.interval_method,
    )


def headline(score: Score) -> str:
    """Give the number to report, in a sentence."""
    text = f"{score.label}: {number(score.value, score.digits)}"
    if score.interval is None:
        return f"{text}."
    return f"{text}, {100 * score.level:g} % interval {between(score.interval, score.digits)}."


def why(search: Any, score: Score) -> str:
    """Say why the honest number is not what plain cross-validation claims."""
    tried, unit = len(search.race_.status), "samples" if search.predictions_.groups is None else "groups"
    unit = "folds" if search.question_.by == "fold" else unit
    honest, naive = number(score.value, score.digits), number(score.naive, score.digits)
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


def draws(estimate: Estimate) -> Histogram | None:
    """Count the draws in some 30 bins."""
    if estimate.draws is None:
        return None
    known = estimate.draws[~np.isnan(estimate.draws)]
    low, high, n_bins = float(known.min()), float(known.max()), int(np.clip(np.sqrt(len(known)), 5, 30))
    if high - low < 1e-12:  # all draws are equal: one bar in the middle
        low, high, n_bins = low - 0.5, high + 0.5, 25
    heights, edges = np.histogram(known, bins=n_bins, range=(low, high))
    return Histogram(tuple(float(f"{e:.6g}") for e in edges), tuple(heights.tolist()))


def race(search: Any) -> Race:
    """Tell who was still in the race after each round."""
    log = search.race_
    before, rounds = len(log.status), []
    for i, alive in enumerate(log.alive_by_round.tolist()):
        dropped = int((log.dropped_at == i).sum())
        rounds.append(Round(i + 1, alive, dropped, before - alive - dropped))
        before = alive
    rule = search.drop_rule_
    return Race(
        len(log.status), tuple(rounds), int(log.n_fits), int(log.n_fits_saved),
        rule="" if rule is None else clean(rule), reason=reason(rule), counted=bool(search.predictions_.dropped),
    )  # fmt: skip


def reason(rule: Any) -> str:
    """Why somebody was dropped, to follow on "configurations that"."""
    return str(getattr(rule, "reason", f"{clean(rule)} found inferior"))


def configurations(search: Any) -> tuple[ConfigurationRow, ...]:
    """Make the table of configurations, the best first."""
    results, log = search.cv_results_, search.race_
    estimate = estimates_of(search)[0]
    tail = estimate.metric if search.multimetric_ else "score"
    wins = np.full(len(log.status), np.nan)  # of those who took part in the correction
    if estimate.win_counts is not None:
        wins[estimate.configurations] = estimate.win_counts / max(estimate.win_counts.sum(), 1)
    # With tuned thresholds, what ranks.
    pooled = results.get(f"tuned_test_{tail}", results[f"pooled_test_{tail}"])
    names, default = names_of(search), getattr(search.estimator, "steps", [("", search.estimator)])[-1][1]
    made = [
        ConfigurationRow(
            index=i,
            params=in_words(results["params"][i], names, default),
            status=str(log.status[i]),
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


def winner(search: Any) -> Fact:
    """Name the winner, and say how often it won."""
    estimate = estimates_of(search)[0]
    text = winner_in_words(search)
    share = wins_of_winner(estimate)
    if share is None or len(search.race_.status) == 1:
        return Fact(text, f"Configuration {estimate.winner}.")
    winners = int((np.asarray(estimate.win_counts) > 0).sum())
    others = "no other ever won" if winners == 1 else f"{count(winners, 'configuration')} won at least once"
    return Fact(text, f"Configuration {estimate.winner}. It won {percent(share)} of the resamples; {others}.")


def wins_of_winner(estimate: Estimate) -> float | None:
    """Share of the resamples that the winner won."""
    if estimate.win_counts is None or not estimate.win_counts.sum():
        return None
    return float(estimate.win_counts[estimate.configurations == estimate.winner].sum() / estimate.win_counts.sum())


def failures(search: Any) -> tuple[FailedConfiguration, ...]:
    """List who failed, where and why."""
    names, params = names_of(search), search.cv_results_["params"]
    return tuple(
        FailedConfiguration(
            index=int(c),
            params=in_words(params[c], names),
            where=f"fold {failure.fold + 1} of repeat {failure.repeat + 1}",
            error=clean(failure.error or failure.kind, 80),
            message=clean(failure.message, 400),
        )
        for c, failure in sorted(search.race_.failures.items())
    )


def names_of(search: Any) -> dict[str, str]:
    """Give the short name of every parameter."""
    return short_names(name for params in search.cv_results_["params"] for name in params)


def _known(values: Array, i: int) -> float | None:
    value = float(values[i])
    return None if value != value else value
