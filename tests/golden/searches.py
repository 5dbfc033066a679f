"""Twenty searches of all kinds: their winners, honest scores and the predictions of every configuration.

`python -m tests.golden.searches` records them again. Do so only for a change of numbers that the changelog explains.
"""

import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, PredefinedSplit, RepeatedStratifiedKFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import sobercv

RECORD = Path(__file__).parent / "searches.json"
CANCER = tuple(a[::3] for a in load_breast_cancer(return_X_y=True))
DIABETES = tuple(a[::3] for a in load_diabetes(return_X_y=True))
IRIS = load_iris(return_X_y=True)
NOISY = make_classification(160, 12, n_informative=3, flip_y=0.2, random_state=3)
GROUPS = np.arange(160) // 4
LINEAR = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression(max_iter=2000))])
COSTS = {"model__C": [1e-6, 1e-3, 0.1, 1.0, 10.0]}
MIXED = [COSTS, {"model": [GaussianNB(var_smoothing=v) for v in (1e-9, 1e-2)], "scale": ["passthrough"]}]
DEPTHS = {"max_depth": [1, 2, 3, 5, None], "min_samples_leaf": [1, 5]}


def calls():
    """Name of a search -> a function that fits it."""

    def fit(data, estimator, grid, **options):
        X, y = data
        routed = {"groups": options.pop("groups")} if "groups" in options else {}
        kind = sobercv.BBCRandomizedSearchCV if "n_iter" in options else sobercv.BBCSearchCV
        return kind(estimator, grid, **{"cv": 5, "n_bootstraps": 100, **options}).fit(X, y, **routed)

    tree, forest = DecisionTreeClassifier(random_state=0), RandomForestClassifier(20, random_state=0)
    return {
        "auc": lambda: fit(CANCER, LINEAR, COSTS, scoring="roc_auc"),
        "auc_no_drop": lambda: fit(CANCER, LINEAR, COSTS, scoring="roc_auc", drop=None),
        "auc_bced": lambda: fit(CANCER, LINEAR, COSTS, scoring="roc_auc", drop="bced"),
        "mixed_families": lambda: fit(CANCER, LINEAR, MIXED, scoring="neg_log_loss"),
        "default_scoring": lambda: fit(NOISY, tree, DEPTHS),
        "trees_accuracy": lambda: fit(NOISY, tree, DEPTHS, scoring="accuracy", drop=None),
        "several_metrics": lambda: fit(NOISY, LINEAR, COSTS, scoring=["roc_auc", "f1"], refit="roc_auc"),
        "repeats": lambda: fit(NOISY, tree, DEPTHS, scoring="roc_auc", n_repeats=2),
        "repeated_splitter": lambda: fit(
            NOISY, tree, DEPTHS, scoring="roc_auc", cv=RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=1)
        ),
        "many_groups": lambda: fit(NOISY, tree, DEPTHS, scoring="accuracy", cv=GroupKFold(5), groups=GROUPS, drop=None),
        "predefined": lambda: fit(NOISY, tree, DEPTHS, scoring="roc_auc", cv=PredefinedSplit(np.arange(160) % 4)),
        "shuffle": lambda: fit(
            NOISY, tree, DEPTHS, scoring="accuracy", cv=ShuffleSplit(4, test_size=0.3, random_state=2)
        ),
        "random_search": lambda: fit(NOISY, tree, DEPTHS, scoring="roc_auc", n_iter=6, random_state=4),
        "threshold": lambda: fit(
            NOISY, LINEAR, COSTS, scoring="balanced_accuracy", select=sobercv.best_with_threshold()
        ),
        "ensemble": lambda: fit(CANCER, LINEAR, COSTS, scoring="roc_auc", select=sobercv.greedy_ensemble(4)),
        "simplest": lambda: fit(NOISY, tree, DEPTHS, scoring="roc_auc", select=sobercv.simplest_within()),
        "iris": lambda: fit(IRIS, tree, DEPTHS, scoring="accuracy"),
        "iris_log_loss": lambda: fit(IRIS, LINEAR, COSTS, scoring="neg_log_loss"),
        "ridge": lambda: fit(DIABETES, Ridge(), {"alpha": [1e-3, 0.1, 1.0, 10.0]}, scoring="r2"),
        "regression_trees": lambda: fit(
            DIABETES, DecisionTreeRegressor(random_state=0), DEPTHS, scoring="neg_mean_absolute_error"
        ),
        "forest": lambda: fit(NOISY, forest, {"max_features": [1, 4], "min_samples_leaf": [1, 5]}, scoring="roc_auc"),
        "fold_means": lambda: fit(NOISY, tree, DEPTHS, scoring="roc_auc", aggregate="fold"),
    }


def plain(search):
    """Numbers of a fitted search."""
    scores = np.asarray(search.cv_results_["mean_test_score" if "mean_test_score" in search.cv_results_ else
                                            "mean_test_roc_auc"], dtype=float)  # fmt: skip
    one = next(iter(search.estimate_.values())) if isinstance(search.estimate_, dict) else search.estimate_
    return {
        "best_index": int(search.best_index_),
        "value": one.value,
        "naive": one.naive,
        "interval": [float(v) for v in one.interval],
        "scores": [None if np.isnan(v) else float(v) for v in scores],
        "status": np.asarray(search.race_.status).tolist(),
        "sums": {
            name: float(np.nansum(np.asarray(a, dtype=float)))
            for name, a in sorted(search.predictions_.responses.items())
        },
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    RECORD.write_text(json.dumps({name: plain(call()) for name, call in calls().items()}, indent=1) + "\n")
    print(f"recorded {len(calls())} searches")
