"""One table judged: what our intervals are made of, the rivals' intervals, and the score that they should hold.

Takes a `Trained` table, gives plain rows, from which intervals with other constants can be made without training.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sobercv
from sobercv import Predictions, metrics
from sobercv.inference.intervals import CROSS_VALIDATED, quantile
from sobercv.inference.units import Units

from . import rivals
from .trained import Trained

LEVEL = 0.95
BOOTSTRAPS = 500
HALVES = 4  # ways to halve the folds
JUDGES = 60  # resamples for the standard error of the truth
METRICS = {
    "binary": ("accuracy", "roc_auc"),
    "classes": ("accuracy", "roc_auc_ovr"),
    "regression": ("r2", "neg_mean_squared_error"),
}
PARTS = ("naive", "value", "centre", "size", "doubt", "freedom", "still lost", "low", "high")
BY_ROWS = ("Wald", "corrected-t", "conservative-z", "Bates", "Bates 4")
RIVALS = (*BY_ROWS, "hold-out", "MABT")
Row = dict[str, Any]


def judge(table: Trained, kind: str, seed: int) -> list[Row]:
    """Rows of one table: for each metric the tuned winner, and two configurations alone as if nothing was tuned."""
    built = _build(table.y, table.predictions, kind, table.folds)
    truth = _build(table.y_judges, table.judged, kind)
    resamples = Units(truth.n_samples, seed, "judges").counts(0, JUDGES)
    rows = []
    for metric in METRICS[kind]:
        scorer = metrics.get(metric).bind(truth, n_jobs=1)
        true = scorer.scores(np.ones((1, truth.n_samples), np.uint8))[0]
        errors = scorer.scores(resamples)
        last = built.n_configurations - 1
        for which in ("tuned", 0, last):
            some = built if which == "tuned" else built.take_configurations(np.arange(last + 1) == which)
            found = sobercv.bbc(None, some, metric, n_bootstraps=BOOTSTRAPS, random_state=seed)
            w = found.winner
            bounds = found.bounds
            assert isinstance(bounds, sobercv.inference.intervals.Calibrated)
            parts = (
                found.naive, found.value, bounds.centre, bounds.size * CROSS_VALIDATED, bounds.doubt, bounds.freedom,
                bounds.still_lost, *bounds.range,
            )  # fmt: skip
            assert found.draws is not None
            row = {
                "metric": metric, "which": "tuned" if which == "tuned" else f"fixed {which}", "winner": w,
                "truth": true[w], "truth error": np.nanstd(errors[:, w], ddof=1),
                **dict(zip(PARTS, parts, strict=True)),
                **{f"q{share:g}": quantile(found.draws, share) for share in (0.025, 0.05, 0.975)},
                **_jackknife(table, kind, metric, w), **_near(built, found), **_rivals(table, kind, metric, w),
                **_held_out(table, kind, metric, None if which == "tuned" else w, true, seed),
            }  # fmt: skip
            if which == "tuned":
                row |= _gain(built, metric, seed, true, errors)
            rows.append(row)
    return rows


def _jackknife(table: Trained, kind: str, metric: str, w: int) -> Row:
    """Delete each fold from the whole procedure (th), and from the rows that judge alone (t).

    What deleting a fold from the training rows does is th - t. The part of it that is the same for all test rows is
    the covariance of what it does to two halves of the other folds, whose models have been trained apart.
    """
    f = len(table.paired)
    own = table.predictions[:, w]
    columns = [np.where(np.isnan(paired[:, w]), own, paired[:, w]) for paired in table.paired]
    built = _build(table.y, np.stack([*columns, own], axis=1), kind)
    rest = np.stack([table.folds != j for j in range(f)])
    rng = np.random.default_rng(0)
    halves = [np.isin(table.folds, rng.permutation(f)[: f // 2]) for _ in range(HALVES)]
    masks = [rest, *(rest & side for half in halves for side in (half, ~half))]
    scorer = metrics.get(metric).bind(built, n_jobs=1)
    scores = scorer.scores(np.concatenate(masks).astype(np.uint8)).reshape(len(masks), f, f + 1)
    th, t = np.diagonal(scores[:, :, :f], axis1=1, axis2=2), scores[:, :, f]  # [masks, f] each

    def variance(one: np.ndarray, other: np.ndarray) -> float:
        return float((f - 1) / f * ((one - one.mean()) * (other - other.mean())).sum())

    moved = th - t
    return {
        "J": variance(th[0], th[0]), "J rows": variance(t[0], t[0]), "J train": variance(moved[0], moved[0]),
        "J shared": float(np.nanmean([variance(moved[i], moved[i + 1]) for i in range(1, len(masks), 2)])),
        "J cross": variance(moved[0], t[0]), "slope": -float(moved[0].mean()),
        "J pairs": _mutual(table, kind, metric, own, columns),
        "apart": float(np.mean([1 - _alike(c[r], own[r]) for c, r in zip(columns, rest, strict=True)])),
    }  # fmt: skip


def _mutual(table: Trained, kind: str, metric: str, own: np.ndarray, columns: list[np.ndarray]) -> float:
    """Twice the sum, over pairs of folds, of what each one's rows do to the score of the other when they train it.

    E[j, k] is the change of the whole score when the rows of fold k are predicted by the models without fold j, too;
    what fold j does to all folds and what all folds do to fold k is taken out.
    """
    f = len(columns)
    cells = [(j, k) for j in range(f) for k in range(f) if j != k]
    inside = [(table.folds == k).reshape(-1, *[1] * (own.ndim - 1)) for k in range(f)]
    built = _build(table.y, np.stack([*(np.where(inside[k], columns[j], own) for j, k in cells), own], axis=1), kind)
    scores = metrics.get(metric).bind(built, n_jobs=1).scores(np.ones((1, len(own)), np.uint8))[0]
    E = np.full((f, f), np.nan)
    E[tuple(np.array(cells).T)] = scores[:-1] - scores[-1]
    for _ in range(20):  # the diagonal is missing, so that means are taken out in turns
        E -= np.nanmean(E, axis=1, keepdims=True)
        E -= np.nanmean(E, axis=0, keepdims=True)
    return float(np.nansum(E * E.T))


def _alike(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one.ravel(), other.ravel()
    return float(np.corrcoef(one, other)[0, 1]) if np.ptp(one) > 0 and np.ptp(other) > 0 else 1.0


def _near(built: Predictions, found: sobercv.Estimate) -> Row:
    """What needs no fits: how much configurations that score about as well differ from the winner."""
    (values,) = built.responses.values()
    values = values[:, :, 0].reshape(len(values), built.n_configurations, -1)
    whole = found.naive
    spread = np.nanstd(found.draws) if found.draws is not None else 0.0
    near = [c for c, s in zip(found.configurations, found.scores, strict=True) if s >= whole - spread / 2]
    own = values[:, found.winner].ravel()
    differ = [1 - np.corrcoef(values[:, c].ravel(), own)[0, 1] for c in near if c != found.winner]
    return {"near": float(np.nanmean(differ)) if differ else 0.0, "n near": len(near)}


def _gain(built: Predictions, metric: str, seed: int, true: np.ndarray, errors: np.ndarray) -> Row:
    """Was tuning worth it: the winner against the first configuration."""
    found = sobercv.difference(
        None, built, metric, first="best", second=[0], n_bootstraps=BOOTSTRAPS, random_state=seed
    )
    w = found.first.winner
    low, high = found.interval
    return {
        "gain": found.value, "gain low": low, "gain high": high, "gain naive": found.naive,
        "gain truth": true[w] - true[0],
        "gain error": float(np.nanstd(errors[:, w] - errors[:, 0], ddof=1)),
    }  # fmt: skip


# ---- rivals ----------------------------------------------------------------------------------------------------------
def _rivals(table: Trained, kind: str, metric: str, w: int) -> Row:
    """Intervals of metrics that are a mean over rows."""
    found = dict.fromkeys(BY_ROWS, rivals.NONE)
    if metric in ("accuracy", "neg_mean_squared_error"):
        score, y = _scores(kind, metric), table.y
        means = np.array([score(y[t], p[:, w]).mean() for t, p in _each(table.splits)])
        halves = [[np.mean([score(y[t], p[:, w]).mean() for t, p in _each(h)]) for h in two] for two in table.halves]
        nested = [
            (folds, score(y, out[:, w]), np.stack([score(y, one[:, w]) for one in paired]))
            for folds, out, paired in [(table.folds, table.predictions, table.paired), *table.repeats]
        ]
        found["Wald"] = rivals.wald(score(y, table.predictions[:, w]), LEVEL)
        found["corrected-t"] = rivals.corrected_t(means, 1 / 9, LEVEL)
        found["Bates"] = rivals.bates(nested[:1], LEVEL)
        if halves:
            found["conservative-z"] = rivals.conservative_z(means, np.array(halves), LEVEL)
            found["Bates 4"] = rivals.bates(nested, LEVEL)
    return _named(found)


def _held_out(table: Trained, kind: str, metric: str, w: int | None, true: np.ndarray, seed: int) -> Row:
    """Intervals of a hold-out: selected on the other rows (MABT: preselected there); truth is that of all rows."""
    found = {"hold-out": rivals.NONE, "MABT": rivals.NONE}
    truths = {"hold-out truth": float("nan"), "MABT truth": float("nan")}
    if metric in ("accuracy", "neg_mean_squared_error", "roc_auc"):
        held, out, first = table.held
        y, rest = table.y[held], np.delete(table.y, held)
        within = (
            metrics.get(metric).bind(_build(rest, out, kind), n_jobs=1).scores(np.ones((1, len(rest)), np.uint8))[0]
        )
        chosen = int(np.nanargmax(within)) if w is None else w
        truths["hold-out truth"] = true[chosen]
        if metric == "roc_auc":
            found["hold-out"] = rivals.delong(y, first[:, chosen], LEVEL)
        elif metric == "accuracy":
            right = _scores(kind, metric)
            found["hold-out"] = rivals.wilson(right(y, first[:, chosen]), LEVEL)
            few = np.flatnonzero(within >= np.quantile(within, 0.9)) if w is None else np.array([w])
            each = np.column_stack([right(y, first[:, c]) for c in few])
            best, bound = rivals.mabt(each, LEVEL, np.random.default_rng(seed))
            found["MABT"], truths["MABT truth"] = (float("nan"), float("nan"), bound), true[few[best]]
        else:
            found["hold-out"] = rivals.wald(_squares(y, first[:, chosen]), LEVEL)
    return _named(found) | truths


def _named(found: dict[str, rivals.Ends]) -> Row:
    return {f"{name} {end}": value for name, ends in found.items() for end, value in zip("lhb", ends, strict=True)}


def _scores(kind: str, metric: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return _right(kind) if metric == "accuracy" else _squares


def _each(splits: Any) -> Any:
    return zip(splits.tests, splits.predictions, strict=True)


def _right(kind: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    if kind == "binary":
        return lambda y, p: np.where(np.isnan(p), np.nan, (p > 0.5) == y).astype(float)
    return lambda y, p: np.where(np.isnan(p[:, 0]), np.nan, p.argmax(axis=1) == y).astype(float)


def _squares(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.asarray(-((y - p) ** 2))


def _build(y: np.ndarray, predictions: np.ndarray, kind: str, folds: np.ndarray | None = None) -> Predictions:
    values = predictions.astype(np.float64)
    task = "regression" if kind == "regression" else "classification"
    values = values[:, :, None] if kind != "classes" else values[:, :, None, :] / values.sum(axis=2)[:, :, None, None]
    responses = ("predict",) if kind == "regression" else ("predict_proba",)
    return Predictions.build(y, values, task=task, responses=responses, folds=folds)  # type: ignore[arg-type]
