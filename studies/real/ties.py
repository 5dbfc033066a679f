"""`python -m studies.real.ties --data FOLDER`: what dropping does to equals, the likely reason of the paper's losses.

The paper does not say whether a configuration that ties with the best in a resample counts against it. Few predictions
tie often, above all at an AUC of 1. This runs plain cross-validation on small sub-data sets and replays the race both
ways: strictly worse (ours), and worse or equal. Writes `ties.csv`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import sobercv
from sobercv.inference import DropVerdict, Question

from ..harness import read_options, read_pieces, write_results
from ..race import replay
from .data import Source, fits, load, sources, sub_sample
from .design import BOOTSTRAPS, FOLDS, METRIC, SCALES, space, truths
from .run import HERE

SIZES = (20, 40, 60, 80, 100)


def drop_equals(table: sobercv.Predictions, question: Question, round_index: int) -> DropVerdict:
    """Drop what is worse than or equal to the best in more than 99 % of the resamples."""
    draws = np.random.default_rng([question.seed, round_index])
    counts = draws.multinomial(table.n_samples, np.full(table.n_samples, 1 / table.n_samples), BOOTSTRAPS)
    metric = question.first
    scores = metric.scores(table, counts, n_jobs=question.n_jobs)
    scores = scores[~np.isnan(scores).any(axis=1)]
    top = int(metric.scores(table, np.ones((1, table.n_samples), dtype=np.int64), n_jobs=question.n_jobs)[0].argmax())
    p = (scores <= scores[:, [top]]).mean(axis=0) if len(scores) else np.zeros(table.n_configurations)
    keep = p <= 0.99
    keep[top] = True
    return DropVerdict(keep, p, top)


def one(source: Source, n: int, sample: int, seed: int) -> dict[str, Any]:
    """Race one sub-data set both ways."""
    part = sub_sample(*load(source), n, sample, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline, grid = space(SCALES["small"], part.X, part.y)
        place = seed * 1009 + sample
        search = sobercv.BBCSearchCV(
            pipeline, grid, scoring=METRIC, cv=FOLDS, drop=None, refit=False, n_jobs=1, random_state=place
        ).fit(part.X, part.y)
        table = search.predictions_
        strict = sobercv.BootstrapDrop(threshold=0.99, min_predictions=0, n_bootstraps=BOOTSTRAPS)
        row: dict[str, Any] = {"data": source.name, "n": n, "sample": sample}
        winners = {"plain": search.estimate_.winner}
        for name, rule in (("strict", strict), ("equals", drop_equals)):
            raced = replay(table, rule, Question.ask(METRIC, random_state=place))
            row[f"alive {name}"] = raced.alive[1]
            winners[name] = sobercv.naive(None, raced.survivors, METRIC, n_jobs=1).winner
        judged = truths(search, part, set(winners.values()))
        return row | {f"truth {name}": judged[winner] for name, winner in winners.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(__doc__, arguments, data=None, samples=3, seed=0, jobs=-1, work="study-work", output=HERE)
    pieces = {
        options.work / f"ties-{options.seed}-{source.name}-{n:03d}-{sample:02d}.json": partial(
            one, source, n, sample, options.seed
        )
        for source in sources(options.data)[0]
        for n in SIZES
        if fits(load(source)[1], n, FOLDS)
        for sample in range(options.samples)
    }
    rows = read_pieces(pieces, "sub-data sets", options.jobs)
    write_results(rows, options.output / "ties.csv", {"seed": options.seed})
    print(sentence(rows))


def sentence(rows: list[dict[str, Any]]) -> str:
    """Both ways side by side, in words."""
    said = []
    for name, words in (("strict", "strictly worse (ours)"), ("equals", "worse or equal")):
        gone = 1 - np.mean([float(r[f"alive {name}"]) for r in rows])
        ratio: dict[tuple[str, int], list[float]] = {}
        for r in rows:
            pair = ratio.setdefault((r["data"], int(r["n"])), [0.0, 0.0])
            pair[0] += float(r[f"truth {name}"])
            pair[1] += float(r["truth plain"])
        losses = {place: 1 - a / b for place, (a, b) in ratio.items()}
        worst = max(losses, key=lambda place: losses[place])
        said.append(
            f"dropping what is {words}: {100 * gone:.0f} % gone after two folds, {100 * losses[worst]:.1f} % of AUC "
            f"lost at worst ({worst[0]}, N = {worst[1]}), {100 * np.mean(list(losses.values())):.2f} % on average"
        )
    return "; ".join(said)


if __name__ == "__main__":
    main()
