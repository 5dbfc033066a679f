"""Models for two or more classes.

Takes a request, gives a default model and a list of grids; never fits.
"""

from __future__ import annotations

from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from .elastic import ElasticNetLogistic
from .models import SVM_STEPS, CappedSVC, RootForestClassifier, SerialBoostingClassifier
from .spaces import Grid, Request, cross, family


def space(request: Request) -> tuple[Any, list[Grid]]:
    """Give the default model and the grids for classes.

    Parameters
    ----------
    request : Request
    """
    level, seed, jobs = request.level, request.seed, request.n_jobs
    logistic = LogisticRegression(max_iter=10_000)
    families = [family(logistic, C=level.ridge)]
    for ratio in level.l1_ratios:
        families.append(family(ElasticNetLogistic(l1_ratio=ratio), alpha=request.penalties(ratio)))
    families += _svms(request)
    if level.bayes:
        families.append(family(BernoulliNB() if request.is_sparse else GaussianNB()))
    families.append(family(KNeighborsClassifier(), n_neighbors=request.neighbours()))
    forest = RootForestClassifier(request.n_trees, n_jobs=jobs, random_state=seed)
    families.append(family(forest, min_samples_leaf=level.leaves, roots=level.roots))
    if request.is_sparse:  # scikit-learn's histograms need dense rows
        extra = ExtraTreesClassifier(request.n_trees, n_jobs=jobs, random_state=seed)
        families.append(family(extra, min_samples_leaf=level.sizes, max_features=level.rates))
    else:
        boosting = SerialBoostingClassifier(max_iter=level.rounds, early_stopping=False, random_state=seed)
        families.append(family(boosting, learning_rate=level.rates, max_leaf_nodes=level.sizes))
    return logistic, cross(DummyClassifier(), families, request)


def _svms(request: Request) -> list[Grid]:
    level, grids = request.level, []
    grids.append(_svm(request, CappedSVC(kernel="linear", max_iter=SVM_STEPS), C=level.linear))
    for kernel, degree in level.kernels:
        svm = CappedSVC(kernel=kernel, degree=degree, max_iter=SVM_STEPS)
        grids.append(_svm(request, svm, C=level.costs, gamma=level.gammas))
    return grids


def _svm(request: Request, svm: CappedSVC, **values: Any) -> Grid:
    if not request.probabilities:
        return family(svm, **values)
    return family(CalibratedClassifierCV(svm, cv=3, ensemble=False), inside="estimator__", **values)
