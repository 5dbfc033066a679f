"""Proposals: a tuner that learns from scores lists the configurations, one after the other.

Takes a search space and what a search fits, gives configurations whose outcomes are all in the store; the race that
follows has nothing left to fit. Never judges: what the correction does not know of such a search is said by a note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from ..errors import SoberError, also
from ..inference import Question
from ..training import Configuration, MemoryStore, Plan, Problem
from ..training.fit.space import check_names
from ..training.fit.task import Outcome
from ..training.race import race

_ALL_FAILED = "E315"
_ALMOST = 1e-9  # a quantile may be infinite at the ends


def check_proposer(search: Any) -> None:
    """Refuse what does not go with a proposer."""
    if search.proposer is None:
        return
    if search.proposer != "tpe":
        raise SoberError("E108", f'`proposer` must be "tpe" or None; got {search.proposer!r}.')
    if search.n_iter is None:
        raise SoberError("E114", "`proposer` proposes `n_iter` configurations; say how many. Write n_iter=200.")
    for name in ("store", "max_seconds", "half_width"):
        if getattr(search, name) is not None:
            raise SoberError(
                "E114",
                f"`{name}` does not go with `proposer`: leave one of them out. sobercv.optuna.Objective keeps a study, "
                "and goes on with it.",
            )


def blanks(n_iter: Any) -> list[Configuration]:
    """Give a place for each configuration that will be proposed."""
    if isinstance(n_iter, bool) or not isinstance(n_iter, (int, np.integer)) or n_iter < 1:
        raise SoberError("E303", f"`n_iter` must be a whole number of at least 1; got {n_iter!r}.")
    return [Configuration(i) for i in range(n_iter)]


class _Recorder(MemoryStore):
    """The store of one configuration, which puts all that it records into another one."""

    def __init__(self, problem: Problem, plan: Plan, into: MemoryStore, place: int) -> None:
        super().__init__(problem, plan, 1)
        self._into, self._place = into, place

    def record(self, outcome: Outcome) -> None:
        """Keep one outcome in both."""
        super().record(outcome)
        self._into.record(replace(outcome, configuration=self._place))


def proposed(
    space: Any, fitting: Mapping[str, Any], places: list[Configuration], store: MemoryStore, question: Question
) -> list[Configuration]:
    """Propose, fit and score, one configuration after the other.

    Parameters
    ----------
    space : dict
        Parameter names to lists, or to distributions with quantiles (`scipy.stats.loguniform(1e-3, 10)`).
    fitting : mapping
        `experiment`, `plan` and `executor`, as for `race`.
    places : list of Configuration
        How many to propose, see `blanks`.
    store : MemoryStore
        Takes all outcomes.
    question : Question
        Its first metric is what the tuner maximises; its seed is the tuner's.
    """
    if question.by == "fold":
        raise SoberError(
            "E114", "`proposer` goes by scores of predictions, and here only models are scored. Name another metric."
        )
    tuner, readers = _tuner(question.seed), {name: _reader(name, values) for name, values in _one(space).items()}
    experiment, plan = fitting["experiment"], fitting["plan"]
    found = []
    for place in places:
        trial = tuner.ask({name: distribution for name, (distribution, _) in readers.items()})
        params = {name: read(trial.params[name]) for name, (_, read) in readers.items()}
        found.append(Configuration(place.index, params))
        check_names(experiment.estimator, found[-1:])
        alone = _Recorder(experiment.problem, plan, store, place.index)
        try:
            race(experiment, [Configuration(0, params)], plan, executor=fitting["executor"], store=alone)
        except SoberError as error:
            if error.code != _ALL_FAILED or experiment.raise_errors:
                raise
        score = _score(alone, question)
        # A configuration that failed, or has no score, is told as such: the tuner then knows nothing of it.
        tuner.tell(trial, *((score,) if np.isfinite(score) else (None, _failed())))
    return found


def _score(alone: MemoryStore, question: Question) -> float:
    if alone.failures:
        return float("nan")
    predictions = alone.predictions().only_seen()
    return float(question.bind(predictions).scores(np.ones((1, predictions.n_samples), np.uint8))[0, 0])


def _tuner(seed: int) -> Any:
    try:
        import optuna
    except ImportError:
        raise also(ImportError)(
            "E403", "proposer='tpe' needs Optuna, which is not installed. Write: pip install 'sobercv[optuna]'."
        ) from None
    said = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # a new study is announced otherwise
    try:
        return optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed % 2**32))
    finally:
        optuna.logging.set_verbosity(said)


def _failed() -> Any:
    from optuna.trial import TrialState

    return TrialState.FAIL


def _one(space: Any) -> Mapping[str, Any]:
    if not isinstance(space, Mapping):
        raise SoberError(
            "E114",
            "`proposer` searches one space, a dict; a list of several was given. Write sobercv.optuna.Objective.",
        )
    return space


def _reader(name: str, values: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Give what the tuner chooses from, and how its choice becomes a value."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if hasattr(values, "ppf"):
        whole = hasattr(getattr(values, "dist", None), "pmf")

        def quantile(share: float) -> Any:
            value = float(values.ppf(min(max(share, _ALMOST), 1.0 - _ALMOST)))
            return round(value) if whole else value

        return FloatDistribution(0.0, 1.0), quantile
    if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
        raise SoberError(
            "E108", f"The values of {name!r} must be a list or a distribution with quantiles; got {values!r}."
        )
    listed = list(values)
    numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in listed)
    if numbers and all(low < high for low, high in pairwise(listed)):  # their order means something
        return IntDistribution(0, len(listed) - 1), listed.__getitem__
    return CategoricalDistribution(tuple(range(len(listed)))), listed.__getitem__
