"""replay: run the parameters of a study's trials again with their folds kept, and correct the best.

A study that keeps nothing but one value per trial cannot be corrected. Its parameters are there, though.
"""

from __future__ import annotations

from dataclasses import replace
from inspect import isclass, signature
from typing import Any

from sklearn.pipeline import Pipeline

from ..errors import Note, SoberError, also
from ..inference import Estimate, Estimates
from ..inference.notes import adaptive
from ..search.bbc_search_cv import BBCSearchCV
from .objective import Objective, learns_from_scores, model_of


def replay(study: Any, estimator: Any, X: Any, y: Any, *, groups: Any = None, **options: Any) -> Estimate | Estimates:
    """Cross-validate the parameters of every complete trial again, and correct the score of the best.

    Parameters
    ----------
    study : optuna.Study
    estimator : estimator or callable
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
        `winner_name` is the trial.

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
    >>> sobercv.optuna.replay(study, tree, X, y, verbose=0).winner_name.startswith("trial")
    True
    """
    complete = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
    if not complete:
        raise SoberError("E111", "The study has no complete trial whose parameters could be run again.")
    allowed = [name for name in signature(BBCSearchCV).parameters if name not in ("estimator", "param_grid")]
    unknown = [name for name in options if name not in allowed]
    if unknown:
        raise also(TypeError)(
            "E122",
            f"`replay` has no option `{unknown[0]}`; there are {', '.join(allowed)}. The number of folds is cv=5.",
        )
    if isinstance(estimator, Objective):
        raise SoberError(
            "E123",
            "An Objective keeps the predictions of its trials: write objective.estimate(study), which fits nothing. To "
            "run the trials again, pass its function: sobercv.optuna.replay(study, objective.make, X, y).",
        )
    if isclass(estimator):
        raise SoberError(
            "E123", f"`estimator` must be an estimator or a function; got a class. Write {estimator.__name__}()."
        )
    if callable(estimator):
        models = [model_of(estimator, trial) for trial in complete]
        tuned, grid = Pipeline([("model", models[0])]), [{"model": [model]} for model in models]
    else:
        tuned, grid = estimator, [{name: [value] for name, value in trial.params.items()} for trial in complete]
        unknown = [name for params in grid for name in params if name not in estimator.get_params()]
        if unknown:
            raise SoberError(
                "E122",
                f"{type(estimator).__name__} has no parameter {unknown[0]!r}, which the trials have. Pass a function "
                "of the trial that returns the estimator: sobercv.optuna.replay(study, make, X, y).",
            )
    search = BBCSearchCV(tuned, grid, **{"cv": 5, "verbose": 1, **options})
    found = search.fit(X, y, **({} if groups is None else {"groups": groups})).estimate_

    def named(estimate: Estimate) -> Estimate:
        winner, best = complete[estimate.winner], study.best_trial
        text = f"Run again, trial {winner.number} is the best; in the study it was trial {best.number}."
        notes = [] if winner.params == best.params else [Note("W212", text)]
        if learns_from_scores(study):
            notes.append(adaptive(estimate.n_groups or estimate.n_samples, len(complete)))
        told: dict[str, Any] = {"winner_name": f"trial {winner.number}", "winner_params": dict(winner.params)}
        return replace(estimate, notes=(*estimate.notes, *notes), **told)

    if isinstance(found, dict):
        return Estimates({name: named(one) for name, one in found.items()})
    return named(found)
