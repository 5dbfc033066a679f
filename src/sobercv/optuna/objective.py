"""The objective: what one trial of a study does, which samples lead the sampler, and what the study comes to.

It fits, prunes and judges by the training, the drop rules and the bootstrap of sober; it never proposes. Outcomes are
kept in memory, or in a folder with one file per set of parameters. A file is locked while its trial runs, and a trial
of equal parameters waits for it, so that nothing is fitted twice: neither what a sampler proposes again nor the folds
of a trial that was killed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import isclass
from operator import attrgetter
from typing import Any
from uuid import uuid4

import numpy as np
import optuna
from optuna.samplers import BruteForceSampler, GridSampler, QMCSampler, RandomSampler
from optuna.trial import FixedTrial, FrozenTrial, Trial, TrialState
from sklearn.base import clone

from .. import seeds
from ..containers import Array, check_level
from ..errors import Note, SoberError
from ..inference import Estimate, Estimates, Question
from ..inference.bootstrap import corrected
from ..inference.estimate import shown
from ..inference.notes import adaptive
from ..inference.tables import Table, open_table
from ..predictions import Predictions
from ..search.design import Options, drop_rule
from ..search.results import predictions_of, trained
from ..search.scoring import ScoringPlan, wanted_of
from ..training import Configuration, Experiment, MemoryStore, OutcomeCache, Plan, Problem, make_pool
from ..training.fit.problem import weight_name_for
from ..training.fit.task import Outcome, Task
from ..training.keep.fingerprint import digest
from ..training.race import race

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

    def __init__(self, problem: Problem, plan: Plan) -> None:
        super().__init__(problem, plan, 1)
        self.outcomes: list[Outcome] = []

    def record(self, outcome: Outcome) -> None:
        """Keep one outcome."""
        super().record(outcome)
        self.outcomes.append(outcome)


class Objective:
    """Cross-validates the estimator of each trial; made once, passed to `study.optimize`.

    Parameters
    ----------
    make : callable
        Trial -> estimator, with parameters that `trial.suggest_...` proposed. It is called again with the same
        parameters when a trial is read back, so that it must depend on the trial alone.
    X, y : array-like
        As for `BBCSearchCV.fit`.
    scoring : str, callable, Metric, list or dict
        What is maximised; of several metrics the first. Signs are scikit-learn's: more is better.
    cv : int, splitter or iterable, default=10
    n_repeats : int, default=1
    groups, sample_weight : array-like [N], optional
    pos_label : label, optional
        The positive one of two classes.
    drop : {"auto", "study"}, drop rule or None, default="auto"
        After each fold, a trial that is worse than the best complete one is pruned: by the paper's rule ("auto"), by
        another of `sobercv`'s drop rules, or by the study's own pruner ("study"). None prunes nothing.
    propose_from : float, default=1
        The share of the folds whose samples lead the sampler. Below 1 (0.5, say) the sampler, and the drop rule, see
        the scores of those samples only, and the estimate is judged by the others: an honest score also where the
        sampler learns from scores. Then `study.best_trial` is the best by those samples; the winner is that of
        `estimate`, by all samples.
    aggregate : {"pooled", "fold"}, default="pooled"
    store : path, optional
        A folder that keeps all predictions, for a study that is resumed or shared by several processes; without it
        they are kept in memory.
    random_state : int, numpy generator or None, default=0
        Seed of folds and draws; samplers have their own. None is for one process only.

    Attributes
    ----------
    problem : Problem
    plan : Plan
        The splits, in the order in which they are run.
    question : Question
    proposing : bool array [N]
        The samples whose scores lead the sampler.

    Examples
    --------
    >>> import optuna
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sobercv.optuna import Objective
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> def make(trial):
    ...     return DecisionTreeClassifier(max_depth=trial.suggest_int("depth", 1, 8), random_state=0)
    >>> objective = Objective(make, *load_breast_cancer(return_X_y=True), scoring="roc_auc", cv=5)
    >>> study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    >>> study.optimize(objective, n_trials=5)
    >>> bool(objective.estimate(study).value > 0.9)
    True
    """

    def __init__(
        self,
        make: Callable[[Any], Any],
        X: Any,
        y: Any,
        *,
        scoring: Any,
        cv: Any = 10,
        n_repeats: int = 1,
        groups: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        drop: Any = "auto",
        propose_from: float = 1.0,
        aggregate: str = "pooled",
        store: Any = None,
        random_state: Any = 0,
    ) -> None:
        if isclass(make) or not callable(make):
            raise SoberError("E123", f"`make` must be a function from a trial to an estimator; got {make!r}.")
        self.make = make
        self.drop = drop
        self._by_study = isinstance(drop, str) and drop == "study"
        # A trial of the past that was pruned never comes back, so that "auto" is the more careful rule.
        self._drop = {"study": None, "auto": "bced"}.get(drop, drop) if isinstance(drop, str) else drop
        seed = seeds.root(random_state)
        scores = ScoringPlan.make(Options(make, scoring=scoring))
        metrics = list(scores.metrics().values())
        asked = metrics if scores.several else metrics[0]
        self.question = Question.ask(asked, aggregate=aggregate, random_state=seed).for_target(y)
        about = {"task": self.question.first.task, "pos_label": pos_label}
        self.problem = Problem.build(X, y, groups=groups, sample_weight=sample_weight, **about)
        for metric in self.question.metrics:
            metric.check_target(self.problem.target)
        plan = Plan.build(self.problem, cv, n_repeats, seed)
        self._share = check_level(propose_from, "propose_from", usual=0.5, may_be_one=True)
        self.proposing = rows_that_propose(plan, self._share)
        # The folds that lead the sampler run first, so that nothing is pruned by the others.
        rounds = sorted(plan.rounds, key=lambda part: not any(self.proposing[split.test].any() for split in part))
        self.plan = replace(plan, rounds=tuple(rounds))
        if store is not None and not isinstance(store, (str, os.PathLike)):
            raise SoberError("E123", f'`store` must be the path of a folder or None; got {store!r}. Write "trials".')
        self._folder: Any = store
        self._kept: dict[str, list[Outcome]] = {}  # by place: of trials that ran here, or whose file is complete
        try:
            if store is not None:
                os.makedirs(store, exist_ok=True)
        except OSError as error:
            problem = f"The folder {store} cannot be created ({error.strerror}); name another folder."
            raise SoberError("E809", problem) from None
        nothing_yet = MemoryStore(self.problem, self.plan, 1).nothing_yet()
        drop_rule(self._drop, nothing_yet, self.question)  # refuses before any trial

    # ---- a trial -------------------------------------------------------------------------------------------------
    def __call__(self, trial: Trial) -> float:
        """Run the folds of a trial, report after each, prune or return the score."""
        check_study(trial.study)
        trial.set_user_attr(PROPOSED, {"by_scores": learns_from_scores(trial.study), "from": self._share})
        experiment, rival = self._experiment(trial), self._rival(trial.study)
        recorder = Recorder(self.problem, self.plan)
        rule = drop_rule(self._drop, self._leading(recorder.nothing_yet()), self.question)

        def after_round(predictions: Predictions, index: int) -> None:
            score = self._score(predictions)
            if np.isfinite(score):
                trial.report(score, index)
            pruned = trial.should_prune() if self._by_study else self._is_worse(rule, predictions, rival, index)
            if pruned and index + 1 < self.plan.n_rounds:
                trial.set_user_attr(ROUNDS, index + 1)
                raise optuna.TrialPruned(f"worse than the best trial after {index + 1} of {self.plan.n_rounds} rounds")

        place = uuid4().hex if self._folder is None else f"{digest(experiment.estimator)[:16]}.sqlite"
        trial.set_user_attr(PLACE, place)
        file = self._file(place, experiment)
        if file is None:
            self._kept[place] = recorder.outcomes
        race(experiment, [ALONE], self.plan, pool=make_pool(), store=recorder, cache=file, rule=after_round)
        return self._score(recorder.predictions())

    def _file(self, place: str, experiment: Experiment) -> TrialFile | None:
        if self._folder is None:
            return None
        path = os.path.join(self._folder, os.path.basename(place))
        return TrialFile(path, experiment, [ALONE], self.plan, self.question.seed)

    def _experiment(self, trial: Any) -> Experiment:
        """Return what a trial runs."""
        estimator = model_of(self.make, trial)
        name, problem = weight_name_for(estimator), self.problem
        if problem.sample_weight is not None and problem.weight_name != name:
            problem = replace(problem, weight_name=name)
        # `optimize(catch=)` decides about errors
        return Experiment(problem, estimator, wanted_of(self.question), raise_errors=True)

    def _outcomes(self, trial: FrozenTrial) -> list[Outcome]:
        """Return the outcomes of a trial that has ended: of a pruned one those of the rounds that it ran."""
        experiment = self._experiment(FixedTrial(dict(trial.params), number=trial.number))
        place = trial.user_attrs[PLACE]
        found = self._kept.get(place)
        file = self._file(place, experiment) if found is None else None
        if file is not None and os.path.exists(file.path):
            with file:  # refuses outcomes of another experiment
                recalled = [file.recall(Task(split, ALONE)) for split in self.plan.splits]
            found = [outcome for outcome in recalled if outcome is not None]
            if len(found) == self.plan.n_splits:
                self._kept[place] = found
        n_rounds = None if trial.state == TrialState.COMPLETE else trial.user_attrs.get(ROUNDS, 0)
        ran = [Task(split, ALONE) for part in self.plan.rounds[:n_rounds] for split in part]
        here = {outcome.place: outcome for outcome in found or ()}
        missing = next((task.split.name for task in ran if task.place not in here), None)
        if missing is not None or found is None:
            in_folder = f"in {self._folder} ({place} lacks {missing})"
            where = "in memory (another process or objective ran it)" if self._folder is None else in_folder
            raise SoberError(
                "E505",
                f"The predictions of trial {trial.number} are not {where}. Give every process the same folder, "
                'store="trials", and keep it as long as the study.',
            )
        return [here[task.place] for task in ran]

    def _score(self, predictions: Predictions) -> float:
        """Score by the metric that selects, on the samples that lead the sampler; NaN where none has been seen."""
        table = self._leading(predictions)
        if not len(table.rows):
            return float("nan")
        seen = table.only_seen()
        return float(self.question.bind(seen).scores(np.ones((1, seen.n_samples), np.uint8))[0, 0])

    def _leading(self, predictions: Predictions) -> Predictions:
        return predictions if self.proposing.all() else predictions.take_rows(self.proposing)

    # ---- pruning -------------------------------------------------------------------------------------------------
    def _rival(self, study: optuna.Study) -> Predictions | None:
        """Predictions of the best complete trial so far; None where there is none, or nothing is pruned."""
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        done = [trial for trial in complete if PLACE in trial.user_attrs]
        if self._drop is None or not done:
            return None
        store = MemoryStore(self.problem, self.plan, 1)
        for outcome in self._outcomes(max(done, key=attrgetter("value"))):
            store.record(outcome)
        return store.predictions()

    def _is_worse(self, rule: Any, predictions: Predictions, rival: Predictions | None, index: int) -> bool:
        """Ask the drop rule about two: the best complete trial, and this one."""
        mine = self._leading(predictions)
        if rule is None or rival is None or not len(mine.rows):
            return False
        best = self._leading(rival).responses
        both = {name: np.concatenate([best[name], values], axis=1) for name, values in mine.responses.items()}
        verdict = rule(replace(mine, responses=both, configurations=np.arange(2)), self.question, index)
        return verdict is not None and not bool(verdict.keep[1])

    # ---- the study -----------------------------------------------------------------------------------------------
    def estimate(self, study: optuna.Study, *, count_pruned: bool = True, **options: Any) -> Any:
        """Return the honest score of the best trial.

        Parameters
        ----------
        study : Study
            Whose trials this objective ran, here or in other processes with the same `store`.
        count_pruned : bool, default=True
            Pruned trials take part in the correction with the folds that they have. Without them it would be too
            small: what was pruned for its bad luck in this sample might have won in another.
        **options
            `n_bootstraps`, `confidence_level`, `stratify`, `select`, `interval`, `n_jobs` and `random_state`
            of `sobercv.bbc`.

        Returns
        -------
        Estimate, or Estimates, a dict of them by name, where `scoring` names several metrics
            `winner` is the number of the best trial, `winner_params` its parameters, `winner_name` both.
        """
        trials, all_propose = trials_of(study), bool(self.proposing.all())
        check_study(study)
        first, options = self.question, {"random_state": self.question.seed, **options}
        question = Question.ask(first.metrics if first.several else first.first, aggregate=first.aggregate, **options)
        ended = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.PRUNED)]
        own = [t for t in ended if PLACE in t.user_attrs]
        other = next((t for t in own if t.user_attrs[PROPOSED]["from"] != self._share), None)
        if other is not None:  # no sample is left to judge it
            raise SoberError(
                "E114",
                f"Trial {other.number} was run with a different `propose_from`, so different samples led the sampler. "
                "Judge it with an objective like the one that ran it, or start a new study.",
            )
        store = MemoryStore(self.problem, self.plan, len(trials))
        for trial in own:
            for outcome in self._outcomes(trial):
                store.record(replace(outcome, configuration=trial.number))
        finished = np.isin(np.arange(len(trials)), [t.number for t in own if t.state == TrialState.COMPLETE])
        if not finished.any():
            raise SoberError("E111", "No trial of this objective is complete; run study.optimize(objective).")
        pruned = ~finished & store.done.any(axis=1)
        predictions = replace(predictions_of(store, finished, pruned & count_pruned & all_propose), n_dropped=0)
        # Otherwise trials were pruned by the samples that led the sampler, as they were proposed.
        judges = None if all_propose else ~self.proposing
        table = open_table(predictions, question) if judges is None else Table(predictions, question, judges=judges)
        found = corrected(table)
        notes = _absent(trials, len(ended) - len(own), pruned, table)
        by_scores = all_propose and any(trial.user_attrs[PROPOSED]["by_scores"] for trial in own)
        if by_scores and len(table.configurations) > 1:
            notes.append(adaptive(table.units.n, len(table.configurations)))
        winner = trials[next(iter(found.values())).winner]
        told = {name: of_trial(replace(one, n_left_out=0), winner, notes) for name, one in found.items()}
        return Estimates(told) if question.several else next(iter(told.values()))

    def refit(self, estimate: Estimate | Mapping[str, Estimate] | optuna.Study) -> Any:
        """Train the winner on all data, and return the fitted model.

        Parameters
        ----------
        estimate : Estimate, dict of str to Estimate, or Study
            What `estimate` returned; a study is estimated first.
        """
        if isinstance(estimate, optuna.Study):
            estimate = self.estimate(estimate)
        if isinstance(estimate, Mapping):  # all have the same winner
            estimate = next(iter(estimate.values()), estimate)
        if not isinstance(estimate, Estimate):
            raise SoberError(
                "E123",
                f"`estimate` must be what objective.estimate(study) returned; got {type(estimate).__name__}. Write "
                "objective.refit(objective.estimate(study)).",
            )
        won = self._experiment(FixedTrial(dict(estimate.winner_params or {}), number=estimate.winner))
        arguments = won.problem.fit_arguments(np.arange(won.problem.n_samples))
        return trained(clone(won.estimator), won.problem.X, won.problem.y, **arguments)

    def retry(self, study: optuna.Study) -> int:
        """Enqueue again the trials that a killed process left running, and return their number.

        What they had fitted is in the store and is not fitted again. Only where no other process works on the study.
        """
        killed = [trial for trial in trials_of(study) if trial.state == TrialState.RUNNING]
        for trial in killed:
            if PLACE in trial.user_attrs:  # else it had not begun: it has not all its parameters, and nothing is kept
                study.enqueue_trial(dict(trial.params))
            study.tell(trial.number, state=TrialState.FAIL)
        return len(killed)


def model_of(make: Callable[[Any], Any], trial: Any) -> Any:
    """Return the estimator that the user's function makes of a trial; refuse what is none."""
    try:
        estimator = make(trial)
    except Exception as error:
        if not isinstance(trial, (FixedTrial, FrozenTrial)):
            raise  # of a running trial `optimize(catch=)` decides
        problem = f"fails on trial {trial.number}: {str(error).rstrip('.')}"
        if lacking := re.match("The value of the parameter (.+) is not found", str(error)):
            has = ", ".join(trial.params) or "none"
            problem = f"asks for the parameter {lacking[1]}, which trial {trial.number} lacks; it has {has}"
        advice = "Suggest the parameters as the study did, with the same names and settings."
        raise SoberError("E117", f"`make` {problem}. {advice}") from error
    if isclass(estimator) or not hasattr(estimator, "fit"):
        got = f"a class. Write {estimator.__name__}()" if isclass(estimator) else f"{estimator!r}"
        raise SoberError("E117", f"`make` must return an estimator with a fit method; it returned {got}.")
    return estimator


def trials_of(study: Any) -> list[FrozenTrial]:
    """Return the trials of a study; refuse what is none."""
    if not isinstance(study, optuna.Study):
        raise SoberError("E123", f"`study` must be what optuna.create_study returned; got {type(study).__name__}.")
    return study.trials


def of_trial(estimate: Estimate, winner: FrozenTrial, notes: Sequence[Note]) -> Estimate:
    """Name the winner of an estimate by the number and the parameters of its trial, and add notes."""
    name, params = f"trial {winner.number}: {shown(winner.params)}".removesuffix(": "), dict(winner.params)
    return replace(estimate, winner_name=name, winner_params=params, notes=(*estimate.notes, *notes))


def check_study(study: optuna.Study) -> None:
    """Refuse studies that minimise, or that have several objectives."""
    directions = [direction.name.lower() for direction in study.directions]
    if directions != ["maximize"]:
        raise SoberError(
            "E114",
            f"The study must have a single direction, maximize (higher is better for every metric here); got "
            f'{", ".join(directions)}. Write optuna.create_study(direction="maximize").',
        )


def learns_from_scores(study: optuna.Study) -> bool:
    """Whether the sampler of a study may look at scores of earlier trials: all may but those that never do."""
    return not isinstance(study.sampler, (RandomSampler, GridSampler, QMCSampler, BruteForceSampler))


def rows_that_propose(plan: Plan, share: float) -> Array:
    """Return the samples whose scores lead the sampler, bool [N]: a share of the folds of the first repeat."""
    if share == 1.0:
        return np.ones(plan.n_samples, bool)
    first = [i for i, split in enumerate(plan.splits) if split.repeat == 0]
    if len(first) < 2 or not plan.seen(first)[:, 0].all():
        raise SoberError(
            "E114", "`propose_from` below 1 needs folds that hold out every sample once. Write cv=10, or leave it out."
        )
    # Every other fold for 0.5: where rows have an order, both parts have some of its beginning and of its end.
    chosen = np.diff(np.floor(np.arange(len(first) + 1) * share + 1e-9)) > 0
    if not chosen.any() or chosen.all():
        chosen = np.arange(len(first)) < (1 if not chosen.any() else len(first) - 1)
    return np.asarray(chosen[plan.fold_of[:, 0]])


def _absent(trials: Sequence[FrozenTrial], n_foreign: int, pruned: Array, table: Table) -> list[Note]:
    """Say which trials the correction does not know."""
    left_out = int((pruned & ~np.isin(np.arange(len(trials)), table.configurations)).sum())
    failed = sum(trial.state == TrialState.FAIL for trial in trials)
    counted = {"were pruned": left_out, "failed": failed, "were run outside this objective": n_foreign}
    parts = [f"{n} {what}" for what, n in counted.items() if n]
    if not parts:
        return []
    small = n_foreign or (left_out and table.judges is None)
    text = f"Of {len(trials)} trials, {' and '.join(parts)}; they took no part in the correction"
    return [Note("W204", f"{text}{'; it may be slightly too small' if small else ''}.")]
