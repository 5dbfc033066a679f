"""Where the outcomes of trials are kept: in memory, or in a folder with one file per set of parameters.

A file is locked while its trial runs, and a trial of equal parameters waits for it, so that nothing is fitted twice:
neither what a sampler proposes again nor the folds of a trial that was killed.
"""

from __future__ import annotations

import os
from typing import Any
from uuid import uuid4

from optuna.trial import FrozenTrial, Trial, TrialState

from ..errors import SoberError
from ..training import Configuration, Experiment, MemoryStore, Plan
from ..training.fit.task import Outcome, Task
from ..training.keep.cache import Manifest, OutcomeCache
from ..training.keep.fingerprint import digest

#: Attributes of a trial, in Optuna's storage: where its outcomes are, after how many rounds it was pruned, how it was
#: proposed.
PLACE, ROUNDS, PROPOSED = "sobercv:place", "sobercv:rounds", "sobercv:proposed"
#: A trial is a race of one.
ALONE = Configuration(0)


class TrialFile(OutcomeCache):
    """The file of all trials of equal parameters: who opens it waits while another one has it open."""

    def __enter__(self) -> OutcomeCache:
        while True:
            try:
                return super().__enter__()
            except SoberError as error:
                if error.code != "E501":
                    raise


class Recorder(MemoryStore):
    """The store of one trial, which remembers outcomes as they came."""

    def __init__(self, experiment: Experiment, plan: Plan) -> None:
        super().__init__(experiment.problem, plan, 1)
        self.outcomes: list[Outcome] = []

    def record(self, outcome: Outcome) -> None:
        """Keep one outcome."""
        super().record(outcome)
        self.outcomes.append(outcome)


class KeptTrials:
    """Outcomes of the trials of a study; without a folder they end with the process."""

    def __init__(self, folder: Any, plan: Plan, seed: int) -> None:
        if folder is not None and not isinstance(folder, (str, os.PathLike)):
            raise SoberError("E123", f'`store` must be the path of a folder or None; got {folder!r}. Write "trials".')
        self.folder, self._plan, self._seed = folder, plan, seed
        self._outcomes: dict[str, list[Outcome]] = {}  # by place: of trials that ran here, or whose file is complete
        try:
            if folder is not None:
                os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise SoberError(
                "E809", f"The folder {folder} cannot be made ({error.strerror}); name another folder."
            ) from None

    def begin(self, trial: Trial, experiment: Experiment) -> tuple[TrialFile | None, Recorder]:
        """Return the cache of a trial, None without a folder, and what records its outcomes; note the place."""
        recorder = Recorder(experiment, self._plan)
        place = uuid4().hex if self.folder is None else f"{digest(experiment.estimator)[:16]}.sqlite"
        trial.set_user_attr(PLACE, place)
        file = self._file(place, experiment)
        if file is None:
            self._outcomes[place] = recorder.outcomes
        return file, recorder

    def outcomes(self, trial: FrozenTrial, experiment: Experiment) -> list[Outcome]:
        """Return the outcomes of a trial that has ended: of a pruned one those of the rounds that it ran.

        A file that holds outcomes of another experiment is refused.
        """
        place = trial.user_attrs[PLACE]
        found = self._outcomes.get(place)
        file = self._file(place, experiment) if found is None else None
        if file is not None and os.path.exists(file.path):
            with file:
                recalled = [file.recall(Task(split, ALONE)) for split in self._plan.splits]
            found = [outcome for outcome in recalled if outcome is not None]
            if len(found) == self._plan.n_splits:
                self._outcomes[place] = found
        n_rounds = None if trial.state == TrialState.COMPLETE else trial.user_attrs.get(ROUNDS, 0)
        ran = [split for part in self._plan.rounds[:n_rounds] for split in part]
        here = {(outcome.repeat, outcome.fold): outcome for outcome in found or ()}
        missing = next((split.place for split in ran if (split.repeat, split.fold) not in here), None)
        if missing is not None or found is None:
            where = "in memory" if self.folder is None else f"in {os.fspath(self.folder)}"
            lost = "another process or objective ran it" if self.folder is None else place
            raise SoberError(
                "E505",
                f"The predictions of trial {trial.number} are not {where} "
                f"({lost if found is None else f'{place} lacks {missing}'}). Give every process the same folder, "
                'store="trials", and keep it as long as the study.',
            )
        return [here[split.repeat, split.fold] for split in ran]

    def _file(self, place: str, experiment: Experiment) -> TrialFile | None:
        if self.folder is None:
            return None
        path = os.path.join(self.folder, os.path.basename(place))
        return TrialFile(path, self._plan, Manifest.build(experiment, [ALONE], self._plan, self._seed))
