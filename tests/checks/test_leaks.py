"""Columns that predict the target alone: found for every task, also in wide tables; honest ones are not suspected."""

import numpy as np
import pandas as pd

from .tables import TIMED, codes, honest, notes, numeric, timed

RNG = np.random.default_rng(2)


def test_leaks_of_numbers_and_of_times_are_seen():
    frame = numeric()
    assert codes(frame.assign(cents=100 * frame["y"] + 0.01 * RNG.normal(size=300))) == ["W806"]
    frame = timed()
    assert codes(frame.assign(visits=np.round(frame["t"] * 50)), **TIMED) == ["W806"]


def test_leaks_of_several_classes_are_seen():
    y = np.array(["low", "middle", "high"])[np.arange(300) % 3]
    frame = honest().assign(y=y, code=np.arange(300) % 3 * 7.0)
    assert "W806" in codes(frame)
    assert "W806" not in codes(frame.drop(columns="code"))


def test_leaks_in_wide_tables_are_named():
    frame = pd.DataFrame(RNG.normal(size=(100, 2000)), columns=[f"g{i}" for i in range(2000)])
    frame["y"] = np.arange(100) % 2
    frame["leak"] = frame["y"] * 2.0
    (found,) = [note for note in notes(frame) if note.code == "W806"]
    assert found.columns == ("leak",)
    assert "'leak'" in found.text


def test_several_leaks_are_one_note_with_the_best_first():
    frame = honest()
    exact = (frame["y"] == "ill").astype(float)
    nearly = exact.where(np.arange(300) % 149 > 0, 1 - exact)
    (found,) = [n for n in notes(frame.assign(nearly=nearly, exact=exact)) if n.code == "W806"]
    assert found.columns == ("exact", "nearly")


def test_a_strong_but_honest_column_is_no_leak():
    rng = np.random.default_rng(0)
    strong = rng.normal(size=300)
    y = np.where(strong + 0.3 * rng.normal(size=300) > 0, "ill", "well")
    assert "W806" not in codes(honest().assign(strong=strong, y=y))


def test_too_few_rows_are_not_judged():
    frame = honest(18).assign(y=["ill", "well"] * 9)
    assert "W806" not in codes(frame.assign(copy=frame["y"]), cv=3)
