"""Where the outcomes of trials are kept: in memory, or in a folder with a file for each set of parameters.

A file is locked while its trial runs. Trials of equal parameters share a file, so that nothing is fitted twice: neither
what a sampler proposes again nor the folds of a trial that was killed.
"""

from __future__ import annotations

import os
from typing import Any
from uuid import uuid4

from optuna.trial import FrozenTrial, Trial, TrialState

from ..errors import SoberError
from ..training import Configuration, Experiment, MemoryStore, Plan, Problem, kept_outcomes
from ..training.fit.task import Outcome
from ..training.keep.cache import OutcomeCache
from ..training.keep.fingerprint import digest

#: Attributes of a trial, in Optuna's storage: where its outcomes are, after how many rounds it was pruned, how it was
#: proposed.
PLACE, ROUNDS, PROPOSED = "sobercv:place", "sobercv:rounds", "sobercv:proposed"
#: A trial is a race of one.
ALONE = Configuration(0)


class Recorder(MemoryStore):
    """The store of one trial, which remembers outcomes as they came."""

    def __init__(self, problem: Problem, plan: Plan) -> None:
        super().__init__(problem, plan, 1)
        self.outcomes: list[Outcome] = []

    def record(self, outcome: Outcome) -> None:
        """Keep one outcome."""
        super().record(outcome)
        self.outcomes.append(outcome)


class KeptTrials:
    """Outcomes of the trials of a study; without a folder they are kept in memory, and end with the process."""

    def __init__(self, folder: Any, plan: Plan, seed: int) -> None:
        if folder is not None and not isinstance(folder, (str, os.PathLike)):
            raise SoberError("E123", f'`store` must be the path of a folder or None; got {folder!r}. Write "trials".')
        self.folder = None if folder is None else os.fspath(folder)
        self._plan, self._seed = plan, seed
        self._outcomes: dict[str, list[Outcome]] = {}  # of trials that were run here, or whose file holds all splits
        if self.folder is not None:
            try:
                os.makedirs(self.folder, exist_ok=True)
            except OSError as error:
                raise SoberError(
                    "E809", f"The folder {self.folder} cannot be made ({error.strerror}); name another folder."
                ) from None

    def begin(self, trial: Trial, experiment: Experiment, shared: bool = True) -> tuple[OutcomeCache | None, Recorder]:
        """Return the cache of a trial, None without a folder, and what records its outcomes; note the place.

        Trials of equal parameters share a file, except where another one is running.
        """
        recorder = Recorder(experiment.problem, self._plan)
        cache = None
        if self.folder is None:
            place = uuid4().hex
            self._outcomes[place] = recorder.outcomes
        else:
            place = digest(experiment.estimator, size=8).hex() + ("" if shared else f"-{uuid4().hex[:8]}") + ".sqlite"
            cache = kept_outcomes(self._path(place), experiment, [ALONE], self._plan, self._seed)
        trial.set_user_attr(PLACE, place)
        return cache, recorder

    def outcomes(self, trial: FrozenTrial, experiment: Experiment) -> list[Outcome]:
        """Return the outcomes of a trial that has ended: of a pruned one those of the rounds that it ran.

        A file that holds outcomes of another experiment is refused.
        """
        place = trial.user_attrs[PLACE]
        found = self._outcomes.get(place)
        if found is None:
            found = self._read(trial.number, place, experiment)
            if len(found) == self._plan.n_splits:
                self._outcomes[place] = found
        if trial.state == TrialState.COMPLETE:
            ran = self._plan.splits
        else:
            ran = tuple(split for part in self._plan.rounds[: trial.user_attrs.get(ROUNDS, 0)] for split in part)
        here = {(outcome.repeat, outcome.fold): outcome for outcome in found}
        missing = [split.place for split in ran if (split.repeat, split.fold) not in here]
        if missing:
            raise self._absent(trial.number, f"{place} lacks {missing[0]}")
        return [here[split.repeat, split.fold] for split in ran]

    def _read(self, number: int, place: str, experiment: Experiment) -> list[Outcome]:
        if self.folder is None or not os.path.exists(self._path(place)):
            raise self._absent(number, "another process or objective ran it" if self.folder is None else place)
        cache = kept_outcomes(self._path(place), experiment, [ALONE], self._plan, self._seed)
        assert cache is not None
        with cache:
            found = [cache.recall(ALONE.index, split) for split in self._plan.splits]
        return [outcome for outcome in found if outcome is not None]

    def _absent(self, number: int, why: str) -> SoberError:
        where = "in memory" if self.folder is None else f"in {self.folder}"
        return SoberError(
            "E505",
            f"The predictions of trial {number} are not {where} ({why}). Give every process the same folder, "
            'store="trials", and keep it as long as the study.',
        )

    def _path(self, place: str) -> str:
        assert self.folder is not None
        return os.path.join(self.folder, os.path.basename(place))
