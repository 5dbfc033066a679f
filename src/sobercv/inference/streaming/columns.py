"""Every other metric, exactly: one block of configurations at a time, with all their samples.

Takes a `Request`, gives what was drawn. A score depends on its own configuration only, so that the scores `[B, C]` can
be gathered block by block; out of bag the winners' columns alone are read again.
"""

from __future__ import annotations

import os

import numpy as np

from ...containers import Array
from ...errors import SoberError, warn
from ...metrics import blocks
from ..claims import FROM_PROBABILITIES, Drawn, notes_on_size
from ..selection import apply
from ..table import Bound, bind, check_scales
from .request import Request

_BYTES = 1 << 29  # of predictions, sorted orders and walks that are held at a time
_COUNTS = 1 << 27  # bytes of counts that a thread holds
_A_SAMPLE = {"survival": 800}  # bytes that a sample takes with one configuration; survival has log2(N) levels
_A_SAMPLE_ELSE = 120


def draw(request: Request) -> Drawn:
    """Score all configurations block by block, select, then judge the winners."""
    _check_memory(request)
    n, c = request.n_samples, request.n_configurations
    n_threads = blocks.threads(request.n_jobs)
    bootstrap = request.bootstrap()
    cut = [(b,) for b in _ranges(request.n_bootstraps, n, n_threads)]
    scores = np.empty((request.n_bootstraps, c))
    wholes = [np.empty(c) for _ in request.metrics]
    errors = np.empty(c) if request.needs_standard_errors else None
    kinds: set[bool] = set()
    for at in _blocks(np.arange(c), n):
        bound = _bind(request, at)
        kinds.add(bound.table.labels_from_probabilities)

        def score(span: tuple[int, int], bound: Bound = bound) -> Array:
            return bound.scorers[0].scores(bootstrap.counts(*span))

        scores[:, at] = np.concatenate(blocks.run(score, cut, n_threads))
        for whole, scorer in zip(wholes, bound.scorers, strict=True):
            whole[at] = bound.whole(scorer)
        if errors is not None:
            errors[at] = bound.standard_errors(request.seed)
    chosen = apply(request.rule, scores, errors)
    winner = int(apply(request.rule, wholes[0][None], errors)[0])
    if winner < 0:
        name = request.metrics[0].name
        raise SoberError("E109", f"{name} is undefined on these samples, so nothing can be selected. Check `y`.")
    draws = [np.full(request.n_bootstraps, np.nan) for _ in request.metrics]
    for at in _blocks(np.unique(chosen[chosen >= 0]), n):
        bound = _bind(request, at)

        def judge(span: tuple[int, int], bound: Bound = bound, at: Array = at) -> list[Array]:
            here = chosen[slice(*span)]
            mine = np.isin(here, at)
            absent = (bootstrap.counts(*span)[mine] == 0).view(np.uint8)
            return [scorer.picked(absent, np.searchsorted(at, here[mine])) for scorer in bound.scorers]

        done = blocks.run(judge, cut, n_threads)
        for k, values in enumerate(draws):
            values[np.isin(chosen, at)] = np.concatenate([part[k] for part in done])
    return _drawn(request, wholes, winner, chosen, draws, request.reading().settle(frozenset(kinds)))


def _drawn(
    request: Request, wholes: list[Array], winner: int, chosen: Array, draws: list[Array], from_probabilities: bool
) -> Drawn:
    notes = notes_on_size(request.n_configurations, 0, request.n_samples, request.n_groups)
    if request.folds is not None:
        scales = check_scales(_bind(request, np.array([winner])), 0)
        if scales is not None:
            warn("W203", scales)
            notes.append(scales)
    return Drawn(
        metrics=request.metrics,
        wholes=wholes,
        winner=winner,
        chosen=chosen,
        draws=draws,
        configurations=np.arange(request.n_configurations),
        n_samples=request.n_samples,
        n_groups=request.n_groups,
        notes=(*notes, *([FROM_PROBABILITIES] if from_probabilities else [])),
    )


def _bind(request: Request, configurations: Array) -> Bound:
    """Read these configurations and bind the metrics to them, as in memory."""
    first, last = int(configurations[0]), int(configurations[-1]) + 1
    whole = last - first == len(configurations)
    values = request.source.columns(slice(first, last) if whole else configurations)
    return bind(
        request.truth,
        {request.response: values} if request.response else values,
        request.metrics,
        groups=request.groups,
        folds=request.folds,
        sample_weight=request.weight,
        select=request.select,
        aggregate=request.aggregate,
        within_folds=request.within_folds,
        n_jobs=request.n_jobs,
    )


def _blocks(configurations: Array, n_samples: int) -> list[Array]:
    width = max(1, _BYTES // (40 * n_samples))
    return [configurations[at : at + width] for at in range(0, len(configurations), width)]


def _ranges(n_resamples: int, n_samples: int, n_threads: int) -> list[tuple[int, int]]:
    """Resamples that are scored together; fewer than a unit where their counts would not fit."""
    if blocks.UNIT * n_samples <= _COUNTS:
        return blocks.ranges(n_resamples, n_samples, n_threads)
    size = max(8, _COUNTS // n_samples // 8 * 8)
    return [(at, min(at + size, n_resamples)) for at in range(0, n_resamples, size)]


def _check_memory(request: Request) -> None:
    """Refuse what would need more memory than the machine has, before it is tried."""
    n_threads = blocks.threads(request.n_jobs)
    each = _A_SAMPLE.get(request.metrics[0].task, _A_SAMPLE_ELSE) + 16 * n_threads  # 8 resamples, twice, a thread
    needed = request.n_samples * each
    machine = _memory()
    if machine and needed > machine:
        name = request.metrics[0].name
        instead = "Pass approximate=True for histograms with a known error" if name == "roc_auc" else "Take fewer rows"
        raise SoberError(
            "E119",
            f"An exact {name} of {request.n_samples:,} samples needs some {needed / 2**30:.0f} GiB; this machine has "
            f"{machine / 2**30:.0f}. {instead}, or choose a metric that is a mean over samples.",
        )


def _memory() -> int:
    """Bytes of the machine; 0 where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
