"""Forty calls of `bbc` over metrics, groups, repeats, weights, folds, thresholds and ensembles.

`python -m tests.golden.estimates` records them again. Do so only for a change of numbers that the changelog explains.
"""

import json
from pathlib import Path

import numpy as np

import sobercv

RECORD = Path(__file__).parent / "estimates.json"


def _rng(seed):
    return np.random.default_rng(seed)


def binary(n=90, c=12, seed=1, repeats=None):
    """Labels, and scores in (0, 1) that are rounded, so that there are ties."""
    rng = _rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    shape = (n, c) if repeats is None else (n, c, repeats)
    signal = y.reshape(-1, *[1] * (len(shape) - 1)) * np.linspace(0.2, 1.4, c).reshape((1, c) + (1,) * (len(shape) - 2))
    return y, np.round(1 / (1 + np.exp(-(signal + rng.normal(size=shape) - 0.5))), 2).clip(0.01, 0.99)


def classes(n=80, c=7, k=3, seed=2):
    """Labels of several classes with their probabilities [N, C, 1, K]."""
    rng = _rng(seed)
    y = rng.integers(0, k, n)
    raw = rng.normal(size=(n, c, 1, k)) + 1.2 * (y[:, None, None, None] == np.arange(k))
    raw = np.exp(raw)
    return y, raw / raw.sum(axis=-1, keepdims=True)


def numbers(n=70, c=9, seed=3):
    """A target and predictions of several accuracies."""
    rng = _rng(seed)
    y = rng.normal(size=n) + 5.0
    return y, y[:, None] * np.linspace(0.3, 1.0, c) + rng.normal(size=(n, c))


def times(n=80, c=8, seed=4):
    """A survival target and risks."""
    rng = _rng(seed)
    risk = rng.normal(size=n)
    y = np.zeros(n, dtype=[("event", bool), ("time", float)])
    y["time"], y["event"] = np.round(rng.exponential(np.exp(-risk)) + 0.01, 2), rng.random(n) < 0.6
    return y, risk[:, None] * np.linspace(0.2, 1.0, c) + rng.normal(size=(n, c))


def folds(n, k, seed=5):
    return _rng(seed).permutation(np.arange(n) % k)


def calls():
    """Name of a call -> what it returns."""
    y, p = binary()
    yr, pr = binary(repeats=3, seed=6)
    ym, pm = classes()
    yn, pn = numbers()
    yt, pt = times()
    groups, f = np.arange(90) // 2, folds(90, 5)
    weight = _rng(7).random(90) + 0.5
    labels = (p > 0.5).astype(int)
    many = ["roc_auc", "average_precision", "neg_log_loss"]

    def bbc(*args, **options):
        return sobercv.bbc(*args, **{"n_bootstraps": 300, **options})

    table = {
        "roc_auc": lambda: bbc(y, p),
        "roc_auc_two_threads": lambda: bbc(y, p, n_jobs=2),
        "roc_auc_percentile": lambda: bbc(y, p, interval="percentile"),
        "roc_auc_fixed_models": lambda: bbc(y, p, interval="fixed_models"),
        "roc_auc_groups": lambda: bbc(y, p, groups=groups),
        "roc_auc_folds_mean": lambda: bbc(y, p, folds=f, aggregate="fold"),
        "roc_auc_within_folds": lambda: bbc(y, p, folds=f, aggregate="within_folds"),
        "roc_auc_by_fold": lambda: bbc(y, p, folds=folds(90, 10), by="fold", interval="percentile"),
        "roc_auc_stratified": lambda: bbc(y, p, stratify=True),
        "roc_auc_weights": lambda: bbc(y, p, sample_weight=weight),
        "roc_auc_repeats": lambda: bbc(yr, pr),
        "roc_auc_repeats_groups": lambda: bbc(yr, pr, groups=groups),
        "roc_auc_level": lambda: bbc(y, p, confidence_level=0.8),
        "roc_auc_seed": lambda: bbc(y, p, random_state=11),
        "roc_auc_simplest": lambda: bbc(y, p, select=sobercv.simplest_within(standard_errors=1.0)),
        "roc_auc_tolerance": lambda: bbc(y, p, select=sobercv.simplest_within(tolerance=0.02)),
        "roc_auc_own_rule": lambda: bbc(y, p, select=lambda s: np.zeros(len(s), int)),
        "several": lambda: bbc(y, p, many),
        "several_groups": lambda: bbc(y, p, many, groups=groups),
        "accuracy": lambda: bbc(y, labels, "accuracy"),
        "accuracy_groups": lambda: bbc(y, labels, "accuracy", groups=groups),
        "accuracy_weights": lambda: bbc(y, labels, "accuracy", sample_weight=weight),
        "balanced_accuracy": lambda: bbc(y, labels, "balanced_accuracy"),
        "f1": lambda: bbc(y, labels, "f1"),
        "mcc": lambda: bbc(y, labels, "matthews_corrcoef"),
        "accuracy_by_fold": lambda: bbc(y, labels, "accuracy", folds=f, by="fold", interval="percentile"),
        "neg_brier_score": lambda: bbc(y, p, "neg_brier_score", interval="percentile"),
        "threshold": lambda: bbc(y, p, "balanced_accuracy", select=sobercv.best_with_threshold()),
        "threshold_f1_groups": lambda: bbc(y, p, "f1", select=sobercv.best_with_threshold(), groups=groups),
        "ensemble": lambda: bbc(y, p, "roc_auc", select=sobercv.greedy_ensemble(5)),
        "multiclass_log_loss": lambda: bbc(ym, pm, "neg_log_loss"),
        "multiclass_auc": lambda: bbc(ym, pm, "roc_auc_ovr"),
        "multiclass_accuracy": lambda: bbc(ym, pm.argmax(axis=-1), "accuracy"),
        "r2": lambda: bbc(yn, pn, "r2"),
        "mse": lambda: bbc(yn, pn, "neg_mean_squared_error"),
        "mae": lambda: bbc(yn, pn, "neg_mean_absolute_error"),
        "r2_groups": lambda: bbc(yn, pn, "r2", groups=np.arange(70) // 2),
        "concordance": lambda: bbc(yt, pt, "concordance_index"),
        "concordance_stratified": lambda: bbc(yt, pt, "concordance_index", stratify=True),
        "callable": lambda: bbc(
            y, labels, sobercv.make_metric(lambda a, b: float(np.mean(a == b)), name="hits"), n_bootstraps=60
        ),
    }
    return table


def plain(estimate):
    """Numbers of an estimate, or of several by name."""
    if isinstance(estimate, dict):
        return {name: plain(one) for name, one in estimate.items()}
    draws = estimate.draws
    return {
        "value": estimate.value,
        "naive": estimate.naive,
        "interval": [float(v) for v in estimate.interval],
        "winner": int(estimate.winner),
        "win_counts": np.asarray(estimate.win_counts).tolist(),
        "sum_of_draws": float(np.nansum(draws)),
        "sum_of_squares": float(np.nansum(np.square(draws))),
    }


if __name__ == "__main__":
    RECORD.write_text(json.dumps({name: plain(call()) for name, call in calls().items()}, indent=1) + "\n")
    print(f"recorded {len(calls())} calls")
