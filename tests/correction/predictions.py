"""One set of predictions, and the shapes in which tools write it."""

import numpy as np
import pandas as pd

N, C, R = 60, 5, 2
RNG = np.random.default_rng(12)
Y = np.where(np.arange(N) % 3 == 0, "R", "M")
CHANCE = np.clip(0.5 + 0.15 * np.where(Y == "R", 1, -1)[:, None] + 0.25 * RNG.normal(size=(N, C)), 0.01, 0.99)
FOLD = np.arange(N) // 12
MODELS = [f"model {c}" for c in range(C)]


def melted(names=None, repeats=1, **extra):
    """One row a prediction: sample, y_true, model, prob_R, and what else is asked for."""
    parts = []
    for r in range(repeats):
        for c in range(C):
            parts.append(pd.DataFrame({
                "sample": np.arange(N), "y_true": Y, "model": MODELS[c], "prob_R": np.roll(CHANCE, r, axis=1)[:, c],
                "fold": FOLD, "repeat": r,
            }))  # fmt: skip
    frame = pd.concat(parts, ignore_index=True).sample(frac=1, random_state=3)
    frame = frame.sort_values("model", kind="stable").assign(**extra)
    return frame.drop(columns=[] if repeats > 1 else ["repeat"]).rename(columns=names or {})


def wide(**extra):
    return pd.DataFrame({"y": Y, **dict(zip(MODELS, CHANCE.T, strict=True)), **extra})
