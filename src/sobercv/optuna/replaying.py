"""replay: run the parameters of a study's trials again with their folds kept, and correct the best.

A study that keeps nothing but one value per trial cannot be corrected. Its parameters are there, though.
"""

from __future__ import annotations

from inspect import isclass, signature
from typing import Any

from optuna.trial import TrialState
from sklearn.pipeline import Pipeline

from ..errors import Note, SoberError, also
from ..inference import Estimate, Estimates
from ..inference.notes import adaptive
from ..search.bbc_search_cv import BBCSearchCV
from .objective import Objective, learns_from_scores, model_of, of_trial, trials_of


def replay(study: Any, make: Any, X: Any, y: Any, *, groups: Any = None, **options: Any) -> Estimate | Estimates:
    """Cross-validate the parameters of all complete and pruned trials again, and correct the score of the best.

    Parameters
    ----------
    study : optuna.Study
        With one objective or several; the best trial is the best by `scoring`.
    make : estimator or callable
        An estimator that has the trials' parameters; else a function of the trial that returns one, as for `Objective`.
    X, y : array-like
        The data of the study.
    groups : array-like, optional
    **options
        Those of `sobercv.BBCSearchCV`: `scoring`, `cv` (default: 5), `n_jobs`, `store` (a replay that was stopped
        continues where it was), `verbose` (default: 1, which shows progress) and so on.

    Returns
    -------
    Estimate, or Estimates, a dict of them by name, for several metrics
        `winner_name` is the trial and its parameters.

    Examples
    --------
    >>> import optuna, sobercv.optuna
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> def objective(trial):
    ...     return cross_val_score(tree.set_params(max_depth=trial.suggest_int("max_depth", 1, 5)), X, y).mean()
    >>> study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    >>> study.optimize(objective, n_trials=3)
    >>> sobercv.optuna.replay(study, tree, X, y, verbose=0).winner_name  # doctest: +ELLIPSIS
    'trial ...: max_depth=...'
    """
    trials = trials_of(study)
    known = [trial.params.keys() for trial in trials if trial.state == TrialState.COMPLETE]
    if not known:
        raise SoberError("E111", "The study has no complete trial whose parameters could be run again.")
    # A trial may have been pruned before it had all its parameters.
    replayed = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.PRUNED) and t.params.keys() in known]
    n_absent = sum(trial.state.is_finished() for trial in trials) - len(replayed)
    best = study.best_trials if len(study.directions) == 1 else []  # equally good; none where all break constraints
    allowed = [name for name in signature(BBCSearchCV).parameters if name not in ("estimator", "param_grid")]
    unknown = [name for name in options if name not in allowed]
    if unknown:
        raise also(TypeError)(
            "E122",
            f"`replay` has no option `{unknown[0]}`; there are {', '.join(allowed)}. The number of folds is cv=5.",
        )
    if isinstance(make, Objective):
        raise SoberError(
            "E123",
            "An Objective keeps the predictions of its trials: write objective.estimate(study), which fits nothing. To "
            "run the trials again, pass its function: sobercv.optuna.replay(study, objective.make, X, y).",
        )
    if isclass(make) or not (callable(make) or hasattr(make, "get_params")):
        got = f"a class. Write {make.__name__}()" if isclass(make) else f"{make!r}"
        raise SoberError("E123", f"`make` must be an estimator or a function of the trial; got {got}.")
    if callable(make):
        models = [model_of(make, trial) for trial in replayed]
        tuned, grid = Pipeline([("model", models[0])]), [{"model": [model]} for model in models]
    else:
        tuned, grid = make, [{name: [value] for name, value in trial.params.items()} for trial in replayed]
        unknown = [name for params in grid for name in params if name not in make.get_params()]
        if unknown:
            raise SoberError(
                "E122",
                f"{type(make).__name__} has no parameter {unknown[0]!r}, which the trials have. Pass a function "
                "of the trial that returns the estimator: sobercv.optuna.replay(study, make, X, y).",
            )
    search = BBCSearchCV(tuned, grid, **{"cv": 5, "verbose": 1, **options})
    found = search.fit(X, y, **({} if groups is None else {"groups": groups})).estimate_

    def named(estimate: Estimate) -> Estimate:
        winner, notes = replayed[estimate.winner], list[Note]()
        if best and winner.params not in [trial.params for trial in best]:
            text = f"Run again, trial {winner.number} is the best; in the study it was trial {best[0].number}."
            notes.append(Note("W212", text))
        if n_absent:
            text = f"{n_absent} of {len(trials)} trials failed, or were pruned before they had all parameters"
            notes.append(Note("W204", f"{text}, and took no part in the correction; it may be slightly too small."))
        if learns_from_scores(study):
            notes.append(adaptive(estimate.n_groups or estimate.n_samples, len(replayed)))
        return of_trial(estimate, winner, notes)

    if isinstance(found, dict):
        return Estimates({name: named(one) for name, one in found.items()})
    return named(found)
