"""Tables as people have them: dates, categories, gaps, constants, copies."""

import numpy as np
import pandas as pd

from sobercv.targets import SURVIVAL


def mixed(n=120, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.normal(60, 10, n)
    stage = rng.choice(["I", "II", "III"], n)
    frame = pd.DataFrame(
        {
            "age": age,
            "stage": stage,
            "site": pd.Categorical(rng.choice(["left", "right"], n)),
            "seen": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
            "born": [f"{d:02d}/03/19{y}" for d, y in zip(rng.integers(1, 28, n), rng.integers(30, 70, n), strict=True)],
            "count as text": rng.integers(0, 50, n).astype(str),
            "smoker": rng.random(n) < 0.3,
            "nodes": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "name": [f"patient {i} of ward {i % 7}" for i in range(n)],
            "constant": 1.0,
            "empty": np.nan,
            "age again": age,
        }
    )
    frame.loc[::9, "age"] = np.nan
    frame.loc[1::11, "stage"] = None
    frame.loc[2::13, "seen"] = pd.NaT
    frame.loc[3, "nodes"] = pd.NA
    signal = (age - 60) / 10 + (stage == "III") + 0.3 * rng.normal(size=n)
    return frame, signal


def targets(signal, seed=0):
    rng = np.random.default_rng(seed)
    survival = np.empty(len(signal), SURVIVAL)
    survival["event"] = rng.random(len(signal)) < 0.7
    survival["time"] = rng.exponential(np.exp(-signal)) + 0.01
    return {
        "binary": np.array(["no", "yes"])[(signal > 0.3).astype(int)],
        "multiclass": np.digitize(signal, [-0.3, 0.8]),
        "regression": 1000 * signal,
        "survival": survival,
    }
