"""from_optuna: how good the best trial of a study is whose trials kept their out-of-fold predictions.

Studies that `sobercv.optuna.Objective` ran are judged by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError, also
from ..inference import Estimate
from .correction import by_model, judge
from .cross_val_predict import METHODS


def from_optuna(
    study: Any,
    y: Any,
    metric: str | Sequence[str] | None = None,
    *,
    predictions: str | Mapping[int, Any] = "oof",
    method: str = "predict_proba",
    **options: Any,
) -> Estimate | dict[str, Estimate]:
    """Correct the score of the best trial of an Optuna study.

    Parameters
    ----------
    study : optuna.Study
    y : array-like [N]
        The truth.
    metric : str or list of str, optional
        As in `sobercv.bbc`; default: `roc_auc` (`roc_auc_ovr` for more than two classes) for probabilities,
        `accuracy` for labels and `r2` for numbers.
    predictions : str or mapping of int to array, default="oof"
        The user attribute in which the objective kept a trial's out-of-fold predictions,
        ``trial.set_user_attr("oof", predicted.tolist())``; or the predictions by the number of the trial. [N], or
        [N, K] with classes in sorted order.
    method : {"predict", "predict_proba", "decision_function"}, default="predict_proba"
        What they are: labels or numbers, probabilities (of two classes: of the greater), or scores.
    **options
        Those of `sobercv.bbc`: `groups`, `random_state`, ...; `force=True` goes on where the answer could mislead, with
        a note.

    Returns
    -------
    Estimate, or dict of str to Estimate when `metric` is a list

    Examples
    --------
    >>> import optuna, sobercv
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> def objective(trial):
    ...     model = DecisionTreeClassifier(max_depth=trial.suggest_int("depth", 1, 8), random_state=0)
    ...     oof = cross_val_predict(model, X, y, cv=3, method="predict_proba")[:, 1]
    ...     trial.set_user_attr("oof", oof.tolist())
    ...     return ((oof > 0.5) == y).mean()
    >>> study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    >>> study.optimize(objective, n_trials=4)
    >>> sobercv.correct(study, "accuracy", y=y).winner_name.startswith("trial")
    True
    """
    if method not in METHODS:
        raise SoberError("E122", f"`method` must be one of {', '.join(METHODS)}; got {method!r}.")
    complete = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
    found = {trial.number: _of(trial, predictions) for trial in complete}
    columns = {f"trial {number}": column for number, column in found.items() if column is not None}
    if not columns:
        where = f"the user attribute {predictions!r}" if isinstance(predictions, str) else "`predictions`"
        raise SoberError(
            "E111",
            f"None of the {len(complete)} complete trials has its out-of-fold predictions in {where}. In the objective "
            'write trial.set_user_attr("oof", predicted.tolist()).',
        )
    imported = by_model("Optuna", np.asarray(y), columns, method)
    notes = _left_out(len(study.trials), len(columns))
    estimates = judge(replace(imported, is_adaptive=_learns(study), notes=notes), metric, options)
    params = {f"trial {trial.number}": dict(trial.params) for trial in complete}
    several = estimates if isinstance(estimates, dict) else {"": estimates}
    first = next(iter(several.values()))
    other = _other_winner(study, str(first.winner_name), first.metric, columns)
    told = {
        name: replace(one, winner_params=params[str(one.winner_name)], notes=(*one.notes, *other))
        for name, one in several.items()
    }
    return told if isinstance(estimates, dict) else told[""]


def _other_winner(study: Any, winner: str, metric: str, columns: Mapping[str, Any]) -> tuple[Note, ...]:
    """Note that the study itself would have selected another trial."""
    if len(study.directions) > 1:
        return ()
    best = f"trial {study.best_trial.number}"
    if best == winner:
        return ()
    kept = "" if best in columns else ", which kept no predictions"
    text = (
        f"The study's own best trial is {best[6:]} (value {study.best_value:.6g}){kept}; by {metric} of the kept "
        f"predictions it is {winner[6:]}, and this is the score of {winner[6:]}. For the score of {best[6:]} correct "
        "by the metric that the objective returned."
    )
    return (Note("W212", text),)


def _of(trial: Any, predictions: str | Mapping[int, Any]) -> Array | None:
    given = trial.user_attrs.get(predictions) if isinstance(predictions, str) else predictions.get(trial.number)
    return None if given is None else np.asarray(given)


def _left_out(n_trials: int, n_judged: int) -> tuple[Note, ...]:
    if n_trials == n_judged:
        return ()
    text = (
        f"Of {n_trials} trials {n_trials - n_judged} were pruned, failed or kept no predictions, and took no part in "
        "the correction; it may be slightly too small."
    )
    return (Note("W204", text),)


def _learns(study: Any) -> bool:
    """Whether the sampler looked at scores."""
    try:
        from ..optuna.judging import learns_from_scores
    except ImportError:
        raise also(ImportError)(
            "E403", "sobercv.from_optuna needs Optuna, which is not installed. Write: pip install 'sobercv[optuna]'."
        ) from None
    return learns_from_scores(study)
