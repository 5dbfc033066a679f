"""Elastic nets for classes and survival times in glmnet's terms, and glmnet's path of penalties.

Fitted by proximal Newton steps, each of them a weighted elastic net by scikit-learn's coordinate descent. They never
warn about convergence: a step that does not lower the loss ends the fit where it stands.

The loss is glmnet's (Friedman, Hastie, Tibshirani 2010; Simon et al. 2011 for Cox): the mean negative log-likelihood
plus `alpha` times the penalty, so that one value means the same for all sample sizes. scikit-learn's own
`LogisticRegression` needs the saga solver for this, which takes seconds where this takes milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import ElasticNet
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..containers import Array, weights_of
from ..errors import SoberError
from ..feature_selection.independence import RiskSets
from ..targets import Target, classes_of, survival_of, task_name
from .sklearn_models import silent_at_cap

_LEAST_WEIGHT = 1e-5  # as in glmnet: no sample is ever certain


# A loss has a `start` for the intercept and the `total` weight. Of a linear predictor it returns the loss, the negative
# gradient and the curvature, summed over samples.
class _Logistic:
    def __init__(self, positive: Array, weight: Array) -> None:
        self.positive, self.weight, self.total = positive.astype(float), weight, float(weight.sum())
        share = float(np.clip(np.average(self.positive, weights=weight), _LEAST_WEIGHT, 1 - _LEAST_WEIGHT))
        self.start = float(np.log(share / (1 - share)))

    def __call__(self, eta: Array) -> tuple[float, Array, Array]:
        p = expit(eta)
        loss = float((self.weight * np.logaddexp(0, eta)).sum() - (self.weight * self.positive) @ eta)
        return loss, self.weight * (self.positive - p), self.weight * (p * (1 - p))


class _Cox:
    """Partial likelihood; only the diagonal of the curvature, as in Simon et al."""

    start = 0.0

    def __init__(self, event: Array, time: Array, weight: Array) -> None:
        self.sets, self.total = RiskSets(weight * event, time), float(weight.sum())
        self.weight = weight[self.sets.order]

    def __call__(self, eta: Array) -> tuple[float, Array, Array]:
        order, event, deaths = self.sets.order, self.sets.event, self.sets.deaths
        eta = eta[order] - eta.max()
        risk = self.weight * np.exp(eta)
        at_risk = np.maximum(self.sets.at_risk(risk), 1e-100)  # its square must not underflow
        loss = float(deaths @ np.log(at_risk) - event @ eta)
        hazard, squared = self.sets.until(deaths / at_risk), self.sets.until(deaths / at_risk**2)
        gradient, curvature = np.empty_like(eta), np.empty_like(eta)
        gradient[order] = event - risk * hazard
        curvature[order] = np.maximum(risk * hazard - risk * np.exp(eta) * squared, 0.0)
        return loss, gradient, curvature


def _fit(net: _ElasticNet, X: Any, loss: _Logistic | _Cox) -> tuple[Array, float, int]:
    """Return coefficients, intercept and the number of steps."""
    alpha, l1_ratio, n, p = net.alpha, net.l1_ratio, loss.total, X.shape[1]
    coef, intercept = np.zeros(p), loss.start
    inner = ElasticNet(l1_ratio=l1_ratio, warm_start=True, tol=1e-4, max_iter=300)

    def penalised(value: float, coef: Array) -> float:
        return value / n + alpha * (l1_ratio * np.abs(coef).sum() + 0.5 * (1 - l1_ratio) * float(coef @ coef))

    value, gradient, curvature = loss(np.full(X.shape[0], intercept))
    null, current, step = max(value, np.finfo(float).tiny), penalised(value, coef), 0
    with silent_at_cap():  # where the inner fit stops, the next step goes on
        while step < net.max_iter:
            step += 1
            weights = np.maximum(curvature, _LEAST_WEIGHT)
            target = np.asarray(X @ coef).ravel() + intercept + gradient / weights
            inner.alpha = alpha * n / weights.sum()
            inner.fit(X, target, sample_weight=weights)
            before = current
            for size in 0.5 ** np.arange(11):
                new_coef = coef + size * (inner.coef_ - coef)
                new_intercept = intercept + size * (float(inner.intercept_) - intercept)
                value, gradient, curvature = loss(np.asarray(X @ new_coef).ravel() + new_intercept)
                current = penalised(value, new_coef)
                if current <= before:
                    break
            else:
                break
            coef, intercept = new_coef, new_intercept
            inner.coef_ = coef.copy()
            # As glmnet: enough when the loss hardly moves, or hardly anything is left of it.
            if before - current <= net.tol * null / n or value <= 1e-3 * null:
                break
    return coef, intercept, step


def _weighted(X: Any, y: Array, sample_weight: Any) -> tuple[Any, Array, Array]:
    """Return the rows that weigh anything, and their weights; all weigh 1 by default.

    A weight of 3 is three copies of a row. Weights below 1 on average are scaled up: small parts of a row have too
    little curvature for a step.
    """
    weight = weights_of(sample_weight, len(y))
    if weight is None:
        return X, y, np.ones(len(y))
    keep = weight > 0
    if not keep.all():
        X, y, weight = X[keep], y[keep], weight[keep]
    return X, y, weight / min(weight.mean(), 1.0)


class _ElasticNet(BaseEstimator):  # type: ignore[misc]
    """The parameters of both nets.

    `alpha` is glmnet's lambda, the size of the penalty; `l1_ratio`, the absolute part of it, is glmnet's alpha.
    """

    def __init__(self, alpha: float = 0.01, l1_ratio: float = 1.0, *, max_iter: int = 50, tol: float = 1e-5) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.tol = tol


class ElasticNetLogistic(ClassifierMixin, _ElasticNet):  # type: ignore[misc]
    """Logistic regression with glmnet's penalty; several classes one against the rest."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ElasticNetLogistic:
        """Fit to labels."""
        X, y = validate_data(self, X, y, accept_sparse="csc", dtype=np.float64, order="F")
        check_classification_targets(y)
        X, y, weight = _weighted(X, y, sample_weight)
        codes, self.classes_ = classes_of(y)
        if len(self.classes_) < 2:
            raise SoberError("E112", f"Two classes are needed; all samples are of one class, {self.classes_[0]!r}.")
        wanted = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        fits = [_fit(self, X, _Logistic(codes == k, weight)) for k in wanted]
        coefs, intercepts, steps = zip(*fits, strict=True)
        self.coef_, self.intercept_, self.n_iter_ = np.array(coefs), np.array(intercepts), max(steps)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return log-odds, [N] for two classes and [N, K] for more."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Array:
        """Return probabilities [N, K]."""
        p = expit(self.decision_function(X))
        if p.ndim == 1:
            return np.column_stack([1 - p, p])
        p = np.maximum(p, np.finfo(float).tiny)
        return p / p.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Array:
        """Return labels."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class ElasticNetCox(_ElasticNet):
    """Cox regression with glmnet's penalty; `predict` returns log-risks, `predict_survival_function` curves."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ElasticNetCox:
        """Fit to records of (event, time)."""
        X = validate_data(self, X, accept_sparse="csc", dtype=np.float64, order="F")
        X, records, weight = _weighted(X, survival_of(y), sample_weight)
        loss = _Cox(records["event"], records["time"], weight)
        self.coef_, _, self.n_iter_ = _fit(self, X, loss)
        log_risk = np.asarray(X @ self.coef_).ravel()
        self.baseline_ = Breslow(log_risk, records["event"], records["time"], weight)
        return self

    def predict(self, X: Any) -> Array:
        """Return log-risks [N]: higher means earlier."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, accept_sparse="csr", reset=False) @ self.coef_).ravel()

    def predict_survival_function(self, X: Any) -> Array:
        """Return survival curves [N], functions of time, as scikit-survival's models do."""
        return self.baseline_.curves(self.predict(X))


def penalty_path(X: Any, y: Any, task: str, l1_ratio: float, n: int = 10) -> list[float]:
    """Return glmnet's path of penalties: from the least that leaves nothing, down by a factor of 100 or 10,000.

    X [N, P] is cleaned and scaled. An `l1_ratio` below 0.001 counts as 0.001, as in glmnet.
    """
    target = Target.read(y, task_name(task))
    values = target.values
    if task == "regression":
        pulls = [values - values.mean()]
    elif task == "survival":
        pulls = [_Cox(values["event"], values["time"], np.ones(len(values)))(np.zeros(len(values)))[1]]
    else:
        pulls = [(values == k) - np.mean(values == k) for k in range(target.n_classes)]
    samples, columns = X.shape
    largest = max(float(np.abs(X.T @ pull).max()) for pull in pulls) / samples / max(l1_ratio, 1e-3) or 1.0
    return [float(f"{v:.6g}") for v in np.geomspace(largest, largest * (1e-2 if samples < columns else 1e-4), n)]


@dataclass(frozen=True, eq=False)
class SurvivalCurve:
    """The probability to survive beyond a time: 1 before the first of `x`, `y` from each of them on."""

    x: Array  #: ascending times [U]
    y: Array  #: [U]

    def __call__(self, time: Any) -> Any:
        """Return the probability at one or several times."""
        return np.append(1.0, self.y)[np.searchsorted(self.x, time, side="right")]


class Breslow:
    """The cumulative hazard at a log-risk of 0, from the training rows."""

    def __init__(self, log_risk: Array, event: Array, time: Array, weight: Array) -> None:
        self.times, code = np.unique(time, return_inverse=True)
        self._shift = float(log_risk.max())  # so that no risk overflows
        risk = np.bincount(code.reshape(-1), weight * np.exp(log_risk - self._shift))
        at_risk = np.cumsum(risk[::-1])[::-1]
        deaths = np.bincount(code.reshape(-1), weight * event)
        self.hazard = np.cumsum(np.divide(deaths, at_risk, out=np.zeros_like(deaths), where=deaths > 0))

    def curves(self, log_risk: Array) -> Array:
        """Return the curve of each row [n]."""
        risks = np.exp(log_risk - self._shift)
        return np.array([SurvivalCurve(self.times, np.exp(-self.hazard * risk)) for risk in risks], dtype=object)
