"""sober example: tables to try the commands on; nothing is fetched."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..errors import SoberError
from ..runs.folder import read_file, write_file
from .screen import Screen


def breast_cancer() -> pd.DataFrame:
    """Return the tumours that ship with scikit-learn."""
    data = load_breast_cancer(as_frame=True)
    data.data.insert(0, "diagnosis", data.target_names[data.target])
    return data.data


def oof() -> pd.DataFrame:
    """Return out-of-fold predictions of nearest neighbours, as any tool could write them."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:120], y[:120]
    columns = {"benign": y}
    for k in range(1, 30, 2):
        for p in (1, 2):
            model = make_pipeline(StandardScaler(), KNeighborsClassifier(k, p=p))
            columns[f"k={k}, p={p}"] = cross_val_predict(model, X, y, cv=10, method="predict_proba")[:, 1]
    return pd.DataFrame(columns)


def clinic() -> pd.DataFrame:
    """Return two visits of each simulated patient as a German clinic writes them: 1.234,5, codes, words for gaps."""
    draw, german, rows = random.Random(1), str.maketrans(",.", ".,"), []
    for i in range(120):
        weight, crp = draw.gauss(75, 12), draw.lognormvariate(1, 1)
        risk = (weight - 75) / 12 + (crp > 3) + draw.gauss(0, 1)
        rows.append({
            "Patient": f"P{i // 2:04d}", "Alter": str(draw.randint(20, 90)),
            "Gewicht": f"{weight:.1f}".translate(german),
            "Leukozyten": f"{draw.gauss(7000, 1500):,.1f}".translate(german),
            "Station": draw.choice(["007", "07", "7", "012"]),
            "Aufnahme": f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.2023",
            "Raucher": draw.choice(["TRUE", "FALSE", "k.A."]),
            "CRP": f"{crp:.2f}".translate(german) if draw.random() > 0.1 else "?",
            "Tage": str(draw.randint(1, 900)), "Status": str(draw.choice([0, 1, 2, 2])),
            "Befund": "krank" if risk > 0.5 else "gesund",
        })  # fmt: skip
    return pd.DataFrame(rows)


#: By name: the table, what is in it, and a command to try on it.
TABLES: dict[str, tuple[Callable[[], pd.DataFrame], str, str]] = {
    "breast_cancer": (
        breast_cancer, "569 tumours, 30 measurements, diagnosis malignant or benign",
        "sober fit {} --target diagnosis --preset quick -o run",
    ),
    "clinic": (
        clinic, "120 visits of 60 simulated patients, as a German clinic would export them",
        "sober check {} --target Befund --group Patient --ignore Tage --ignore Status",
    ),
    "oof": (
        oof, "out-of-fold predictions of 30 configurations for 120 tumours",
        "sober correct {} --target benign --metric roc_auc",
    ),
}  # fmt: skip


def example(given: dict[str, Any]) -> None:
    """Write a table, and say what to try on it."""
    name, screen = given["name"], Screen(given)
    if name not in TABLES:
        raise SoberError("E122", f"There is no example {name!r}; choose one of {', '.join(TABLES)}.")
    (make, what, command), path = TABLES[name], Path(given["output"] or f"{name}.csv")
    # That of the clinic as Excel writes it in Germany.
    sep, end, encoding = (";", "\r\n", "utf-8-sig") if name == "clinic" else (",", "\n", "utf-8")
    content = make().to_csv(index=False, sep=sep, lineterminator=end).encode(encoding)
    if read_file(path) not in (None, content):
        raise SoberError("E809", f"{str(path)!r} already exists and holds something else. Name another file with -o.")
    write_file(path, content)
    screen.say(f"{path}: {what}")
    screen.say(f"Try: {command.format(path)}")
