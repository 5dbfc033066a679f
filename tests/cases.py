"""Small random tables for every metric and every kind of cross-validation, as sober takes them and as the oracle does.

A target is a metric on a kind of data ("accuracy-labels3"); a setting is a way to cross-validate ("repeats").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import sobercv
from sobercv.predictions import Predictions

from .oracles.paper import Table

_LABELS = ["accuracy", "balanced_accuracy", "matthews_corrcoef"] + [
    f"{name}_{average}" for name in ("f1", "precision", "recall") for average in ("macro", "micro", "weighted")
]
_KINDS = {
    "labels2": [*_LABELS, "f1", "precision", "recall"],
    "labels3": _LABELS,
    "proba2": ["neg_log_loss", "neg_brier_score", "roc_auc", "average_precision"],
    "proba3": [
        "neg_log_loss",
        "neg_brier_score",
        "roc_auc_ovr",
        "roc_auc_ovo",
        "roc_auc_ovr_weighted",
        "roc_auc_ovo_weighted",
    ],
    "number": [
        "neg_mean_squared_error",
        "neg_root_mean_squared_error",
        "neg_mean_absolute_error",
        "neg_median_absolute_error",
        "r2",
        "explained_variance",
    ],
    "positive": [
        "neg_mean_poisson_deviance",
        "neg_mean_gamma_deviance",
        "neg_mean_squared_log_error",
        "neg_root_mean_squared_log_error",
        "neg_mean_absolute_percentage_error",
    ],
    "survival": ["concordance_index"],
}
TARGETS = [f"{metric}-{kind}" for kind, metrics in _KINDS.items() for metric in metrics]
_MORE = {
    "labels2": [
        "cohen_kappa",
        "positive_likelihood_ratio",
        "neg_negative_likelihood_ratio",
        "jaccard",
        "fbeta(beta=2)",
        "recall(pos_label=0)",
        "sensitivity",
        "specificity",
        "ppv",
        "npv",
    ],
    "labels3": [
        "cohen_kappa",
        "jaccard_macro",
        "jaccard_micro",
        "jaccard_weighted",
        "fbeta(beta=0.5, average='macro')",
    ],
    "proba2": [
        "sensitivity(threshold=0.3)",
        "specificity(threshold=0.3)",
        "ppv(threshold=0.7)",
        "npv(threshold=0.3)",
        "sensitivity(threshold=0.25, pos_label=0)",
        "net_benefit(threshold=0.2)",
        "net_benefit(threshold=0.5, pos_label=0)",
        "brier_scaled",
        "d2_log_loss_score",
        "d2_brier_score",
        "average_precision(pos_label=0)",
    ],
    "proba3": [
        "d2_log_loss_score",
        "d2_brier_score",
        "top_k_accuracy",
        "top_k_accuracy(k=1)",
        "average_precision",
        "average_precision(average='weighted')",
    ],
    "decision2": ["roc_auc"],
    "decision3": ["top_k_accuracy"],
    "number": ["neg_max_error", "d2_absolute_error_score"],
    "survival": [
        "concordance_index_ipcw",
        "concordance_index_ipcw(tau=5)",
        "cumulative_dynamic_auc(time=4)",
    ],
    "courses": ["neg_integrated_brier_score(times=[2, 4, 7])"],
    "chances": ["neg_survival_brier_score(time=4)"],
}
#: Every metric; the protocols of `tests/inference` are tried on `TARGETS` only, which hold all kinds of data.
ALL_TARGETS = TARGETS + [f"{metric}-{kind}" for kind, metrics in _MORE.items() for metric in metrics]
ALL_TARGETS += ["youden-labels2", "neg_cost(missed=5)-labels2"]  # cases are drawn by their place in the list
METRICS = sorted({target.rsplit("-", 1)[0] for target in ALL_TARGETS})
SETTINGS = ["plain", "repeats", "groups", "ties", "incomplete", "folds", "weights"]

_RESPONSE = {"proba": "predict_proba", "decision": "decision_function"}  # all others are read by what `predict` gives
_TIMES = {"chances": [4], "courses": [2, 4, 7]}  # survival probabilities at these times
_TASK = {"labels": "classification", "proba": "classification", "decision": "classification"} | dict.fromkeys(
    ("number", "positive"), "regression"
)


@dataclass
class Case:
    """One table, its options, and the resamples to replay."""

    metric: str
    kind: str
    y: np.ndarray
    p: np.ndarray  # [N, C, R(, K)]
    counts: np.ndarray  # [B, N]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def response(self) -> str:
        return _RESPONSE.get(self.kind.rstrip("23"), "predict")

    @property
    def answers(self) -> dict[str, np.ndarray]:
        """Predictions by response."""
        if self.kind in _TIMES:
            return {f"survival_at({t})": self.p[..., k] for k, t in enumerate(_TIMES[self.kind])}
        return {self.response: self.p}

    def arguments(self) -> dict[str, Any]:
        """What `sobercv.bbc` and its rivals are called with, except for the draws."""
        options = {name: value for name, value in self.options.items() if name != "seen"}
        return {"y": self.y, "predictions": self.masked, "metric": self.metric, **options}

    @property
    def masked(self) -> dict[str, np.ndarray]:
        """Predictions by response; what was not predicted is masked."""
        if "seen" not in self.options:
            return self.answers
        n, _, r = self.p.shape[:3]
        unseen = ~(np.asarray(self.options["seen"]).reshape(n, -1) & np.ones((1, r), bool))
        return {
            name: np.ma.masked_array(
                answers, np.broadcast_to(unseen.reshape(n, 1, r, *[1] * (answers.ndim - 3)), answers.shape)
            )
            for name, answers in self.answers.items()
        }

    def table(self) -> Table:
        """The same for the oracle."""
        n, _, r = self.p.shape[:3]
        by_repeat = {
            name: np.asarray(self.options[name]).reshape(n, -1) * np.ones((1, r), int)
            for name in ("folds", "seen")
            if name in self.options
        }
        return Table(
            y=self.y,
            p=self.p,
            metric=self.metric,
            seen=by_repeat.get("seen", np.ones((n, r))).astype(bool),
            folds=by_repeat.get("folds", np.zeros((n, r), int)),
            weight=self.options.get("sample_weight"),
            aggregate=self.options.get("aggregate", "pooled"),
            within_folds=self.options.get("aggregate") == "within_folds",
        )

    def predictions(self) -> Predictions:
        """The same as the noun of the library."""
        known = ("folds", "groups", "sample_weight")
        return Predictions.build(
            self.y,
            self.masked,
            task=_TASK.get(self.kind.rstrip("23"), "survival"),
            responses=(self.response,),
            **{name: self.options[name] for name in known if name in self.options},
        )

    def scores(self, counts) -> np.ndarray:
        """[B, C], by the library."""
        return sobercv.metrics.get(self.metric).scores(self.predictions(), np.asarray(counts))


def truth(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    if kind[-1] in "23":
        return rng.permutation(np.arange(n) % int(kind[-1]))
    if kind in ("survival", *_TIMES):
        y = np.empty(n, [("event", bool), ("time", float)])
        y["event"], y["time"] = rng.random(n) < 0.6, rng.integers(1, 9, n)
        return y
    return rng.gamma(2, size=n) + 0.1 if kind == "positive" else rng.normal(size=n)


def guesses(rng: np.random.Generator, kind: str, y: np.ndarray, c: int, r: int, ties: bool) -> np.ndarray:
    """Predictions [N, C, R(, K)] that are worse the higher the configuration, but not by much."""
    shape = (len(y), c, r)
    noise = rng.normal(size=shape) * np.linspace(0.8, 1.6, c)[None, :, None]
    if kind.startswith("labels"):
        return np.where(noise > 0.9, rng.integers(0, int(kind[-1]), shape), y[:, None, None])
    if kind in ("proba3", "decision3"):
        logits = 1.5 * (y[:, None, None, None] == np.arange(3)) + rng.normal(size=(*shape, 3)) * (1 + ties)
        if ties:
            logits = np.round(logits)
        if kind == "decision3":
            return logits
        raw = np.exp(logits)
        return raw / raw.sum(axis=3, keepdims=True)
    if kind in _TIMES:  # the less likely to survive, the later it is asked
        scale = np.exp(0.3 * noise)[..., None] * y["time"][:, None, None, None]
        chances = np.exp(-np.array(_TIMES[kind]) / scale)
        return np.round(chances * 4) / 4 if ties else chances
    if kind == "survival":
        out = noise - 0.4 * y["time"][:, None, None]
    elif kind == "positive":
        out = y[:, None, None] * np.exp(0.5 * noise)
    else:
        out = 1.5 * y[:, None, None] + noise
    if kind == "proba2":
        out = 1 / (1 + np.exp(-out))
        return np.round(out * 4) / 4 if ties else out
    if ties:
        out = np.ceil(out * 2) / 2 if kind == "positive" else np.round(out)
    return out


def make(target: str, setting: str = "plain", seed: int = 0, n: int = 24, c: int = 4, b: int = 6) -> Case:
    metric, kind = target.rsplit("-", 1)
    rng = np.random.default_rng([seed, n, c, ALL_TARGETS.index(target), [*SETTINGS, "within_folds"].index(setting)])
    repeats = 2 if setting in ("repeats", "incomplete", "folds") else 1
    y = truth(rng, kind, n)
    p = guesses(rng, kind, y, c, repeats, setting == "ties")
    options: dict[str, Any] = {}
    units = np.arange(n)
    if setting == "groups":
        units = rng.permutation(np.arange(n) // 2)
        options["groups"] = np.array([f"g{u}" for u in units])
    if setting == "weights":
        options["sample_weight"] = rng.integers(1, 8, n) / 4  # dyadic, so that a weighted median is exact
    if setting in ("folds", "within_folds"):
        options["folds"] = np.stack([rng.permutation(np.arange(n) % 3) for _ in range(repeats)], axis=1)
        options |= {"aggregate": "fold" if setting == "folds" else "within_folds"}
    if setting == "incomplete":
        options["seen"] = rng.random((n, repeats)) < 0.8
        options["seen"][:3], options["seen"][-1] = False, True
        if p.dtype.kind == "f":
            p = np.where(options["seen"].reshape(n, 1, repeats, *[1] * (p.ndim - 3)), p, np.nan)  # never to be read
    drawn = rng.multinomial(len(set(units)), [1 / len(set(units))] * len(set(units)), size=b)
    return Case(metric, kind, y, p, drawn[:, units], options)
