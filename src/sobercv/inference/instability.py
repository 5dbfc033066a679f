"""How unstable the winner is: what a bootstrap of its predictions misses, from the winner trained without two folds.

A bootstrap of predictions takes the rows for independent and the models for given. Both is untrue:

- The rows of fold j train the models that are judged on fold k, and the rows of fold k those that are judged on fold j.
  Where the two happen to suit each other, both scores rise. Let E[j, k] be the change of the score when the rows of
  fold k are predicted by models that lack fold j, too. With what fold j does to all folds, and what all folds do to
  fold k, taken out, the variance that the bootstrap misses is the sum of E[j, k] E[k, j] over all j and k (`mutual`).
- Other training rows would have made another final model, so that its true score varies as well. What deleting fold j
  from all training rows does to one half of the other folds goes along with what it does to the other half, whose
  models were trained apart; a jackknife of that covariance is the variance of the true score (`shared`), too large by
  about two.

Both are nothing for a learner that hardly depends on single rows, and together several times the bootstrap's variance
for a lasso with more features than rows (docs/evidence/excess.md). Takes predictions, gives numbers; trains nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..containers import Array
from ..metrics import Metric
from ..predictions import Predictions
from .intervals import Calibrated, shape
from .question import Question

#: A jackknife that deletes whole folds overshoots: so much of it is taken for the variance of the true score.
SHARE_OF_SHARED = 0.5
#: What pair models say is noisy, so that their factor is shrunken towards the usual one: so much of the way to theirs,
#: and no further than `MOST`. How they were chosen: docs/evidence/excess.md.
TRUST, MOST = 0.75, 5.0
HALVES = 4  # ways to halve the folds


def missed(question: Question, metric: Metric, own: Predictions, paired: Predictions, partner: Array) -> float:
    """Measure the variance of the winner's score that a bootstrap misses, by its out-of-fold predictions.

    `paired` are those of models that were trained without a second fold, one repeat per round of pairs; `partner` is
    the second fold of each fold in each round [K, R], -1 for none.
    """
    fold, k = own.fold_of[:, 0], len(partner)
    cells = [(int(j), i, r) for i in range(k) for r, j in enumerate(partner[i]) if j >= 0]
    names = [name for alternatives in metric.wanted for name in alternatives if name in own.responses]
    alone = {name: np.repeat(own.responses[name][:, :1, :1], len(cells) + 1, axis=1) for name in names}
    without = {name: np.repeat(own.responses[name][:, :1, :1], k + 1, axis=1) for name in names}
    for name in names:
        for c, (j, i, r) in enumerate(cells):
            rows = fold == i
            alone[name][rows, c, 0] = without[name][rows, j, 0] = paired.responses[name][rows, 0, r]
    changes = np.full((k, k), np.nan)
    scores = _scores(question, metric, own, alone, np.ones((1, len(fold)), bool))[0]
    for c, (j, i, _) in enumerate(cells):
        changes[j, i] = scores[c] - scores[-1]
    for _ in range(20):  # takes out the means of rows and of columns in turns; the diagonal is missing
        changes = changes - np.nanmean(changes, axis=1, keepdims=True)
        changes = changes - np.nanmean(changes, axis=0, keepdims=True)
    # Jackknife covariance of what deleting each fold does to two halves of the others; mean over some halvings.
    rest = np.stack([fold != j for j in range(k)])
    halves = [(fold - start) % k < k // 2 for start in range(HALVES)]
    masks = [rest & side for half in halves for side in (half, ~half)]
    found = _scores(question, metric, own, without, np.concatenate(masks)).reshape(len(masks), k, k + 1)
    moved = np.diagonal(found[:, :, :k], axis1=1, axis2=2) - found[:, :, k]
    moved = moved - moved.mean(axis=1, keepdims=True)
    each = [(k - 1) / k * float(one @ other) for one, other in zip(moved[::2], moved[1::2], strict=True)]
    known = [value for value in each if np.isfinite(value)]
    mutual, shared = float(np.nansum(changes * changes.T)), float(np.mean(known)) if known else 0.0
    return mutual + SHARE_OF_SHARED * shared  # an estimate, which may be negative


def _scores(question: Question, metric: Metric, own: Predictions, responses: dict[str, Array], masks: Array) -> Array:
    """Score columns of predictions on some of the rows, bool [M, N]."""
    c = next(iter(responses.values())).shape[1]
    table = replace(own, responses=responses, configurations=np.arange(c))
    return question.bind(table.only_seen(), metric).scores(masks[:, own.seen[:, 0]].astype(np.uint8))


def widened(bounds: Calibrated, variance: float, trust: float = TRUST) -> Calibrated:
    """Return bounds for what a bootstrap sees and misses; `trust` is how far to go to the measured factor."""
    seen = float(shape(np.array([bounds.centre]), bounds.range)[0]) / (bounds.size * bounds.excess)
    if not seen > 0 or not np.isfinite(variance):
        return bounds
    factor = min(max(bounds.excess + trust * (1.0 + variance / seen - bounds.excess), 1.0), MOST)
    return replace(bounds, size=bounds.size * bounds.excess / factor, excess=factor)
