"""sober example: tables to try the commands on; nothing is fetched."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
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


def breast_cancer() -> bytes:
    """Return the tumours that ship with scikit-learn."""
    data = load_breast_cancer(as_frame=True)
    data.data.insert(0, "diagnosis", data.target_names[data.target])
    return bytes(data.data.to_csv(index=False, lineterminator="\n").encode())


def oof() -> bytes:
    """Return out-of-fold predictions of nearest neighbours, as any tool could write them."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:120], y[:120]
    columns = {"benign": y}
    for k in range(1, 30, 2):
        for p in (1, 2):
            model = make_pipeline(StandardScaler(), KNeighborsClassifier(k, p=p))
            columns[f"k={k}, p={p}"] = cross_val_predict(model, X, y, cv=10, method="predict_proba")[:, 1]
    return pd.DataFrame(columns).to_csv(index=False, lineterminator="\n").encode()


def clinic() -> bytes:
    """Return simulated patients as a German clinic would export them: decimal commas, codes, words for gaps."""
    return ("\r\n".join(";".join(cells) for cells in clinic_rows()) + "\r\n").encode("utf-8-sig")


def clinic_rows() -> Iterator[tuple[str, ...]]:
    """Yield the header of `clinic` and 120 visits of patients, two each."""
    draw = random.Random(1)
    yield ("Patient", "Alter", "Gewicht", "Leukozyten", "Station", "Aufnahme", "Raucher", "CRP", "Tage", "Status",
           "Befund")  # fmt: skip
    for i in range(120):
        weight, crp = draw.gauss(75, 12), draw.lognormvariate(1, 1)
        risk = (weight - 75) / 12 + (crp > 3) + draw.gauss(0, 1)
        yield (
            f"P{i // 2:04d}", str(draw.randint(20, 90)), _amount(weight), _amount(draw.gauss(7000, 1500)),
            draw.choice(["007", "07", "7", "012"]), f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.2023",
            draw.choice(["TRUE", "FALSE", "k.A."]), _amount(crp, 2) if draw.random() > 0.1 else "?",
            str(draw.randint(1, 900)), str(draw.choice([0, 1, 2, 2])), "krank" if risk > 0.5 else "gesund",
        )  # fmt: skip


#: By name: the bytes of the file, what is in it, and a command to try on it.
TABLES: dict[str, tuple[Callable[[], bytes], str, str]] = {
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
    name = given["name"]
    if name not in TABLES:
        raise SoberError("E122", f"There is no example {name!r}; choose one of {', '.join(TABLES)}.")
    make, what, command = TABLES[name]
    path, content = Path(given["output"] or f"{name}.csv"), make()
    if read_file(path) not in (None, content):
        raise SoberError("E809", f"{str(path)!r} already exists and holds something else. Name another file with -o.")
    write_file(path, content)
    screen = Screen(given)
    screen.say(f"{path}: {what}")
    screen.say(f"Try: {command.format(path)}")


def _amount(number: float, decimals: int = 1) -> str:
    """Write a number as in Germany: 1.234,5."""
    return f"{number:,.{decimals}f}".translate(str.maketrans(",.", ".,"))
