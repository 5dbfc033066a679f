"""What a scorer costs: BBCSearchCV against GridSearchCV, for scorers of scikit-learn and a function of one's own."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import (
    cohen_kappa_score,
    d2_brier_score,
    fbeta_score,
    jaccard_score,
    log_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import sobercv

from . import timing
from .report import Section, number, ratio

GRID: dict[str, list[Any]] = {"max_depth": list(range(1, 11)), "criterion": ["gini", "entropy"]}


def of_ones_own(y_true, y_pred):
    """What nobody can look into, and what costs as much as a function of scikit-learn."""
    return fbeta_score(y_true, y_pred, beta=2)


SCORERS = {
    "fbeta_score, beta=2": make_scorer(fbeta_score, beta=2),
    "jaccard_score": make_scorer(jaccard_score),
    "cohen_kappa_score": make_scorer(cohen_kappa_score),
    "roc_auc_score, max_fpr=0.1": make_scorer(roc_auc_score, response_method="predict_proba", max_fpr=0.1),
    "log_loss": make_scorer(log_loss, response_method="predict_proba", greater_is_better=False),
    "d2_brier_score": make_scorer(d2_brier_score, response_method="predict_proba"),
    "a function of one's own": make_scorer(of_ones_own),
}


def run(quick: bool = False, large: bool = False) -> list[Section]:
    X, y = load_breast_cancer(return_X_y=True)
    rows = []
    for name in list(SCORERS)[:: 6 if quick else 1]:
        options: dict[str, Any] = {"cv": 5, "scoring": SCORERS[name], "n_jobs": 1}
        model = DecisionTreeClassifier(random_state=0)
        searches = {
            "GridSearchCV": GridSearchCV(model, GRID, **options),
            "BBCSearchCV": sobercv.BBCSearchCV(model, GRID, **options),
        }
        searches["BBCSearchCV"].set_params(param_grid={"max_depth": [1, 2]}, n_bootstraps=2).fit(X, y)  # loads kernels
        searches["BBCSearchCV"].set_params(param_grid=GRID, n_bootstraps=1000)
        taken = timing.race({who: partial(search.fit, X, y) for who, search in searches.items()}, 3, 15.0)
        times = taken["BBCSearchCV"] / taken["GridSearchCV"]
        rows.append([name, *(number(seconds) for seconds in taken.values()), ratio(times)])
    return [
        Section(
            "Scorers: 20 trees, breast cancer, 5 folds",
            ["scorer", "GridSearchCV, s", "BBCSearchCV, s", "BBC/Grid"],
            rows,
            ["The whole `fit`, final model, dropping and a bootstrap of 1,000 resamples included."],
        )
    ]
