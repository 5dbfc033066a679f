"""Columns of numbers as one matrix: the quick look at many columns sees what a look at each one sees."""

import numpy as np
import pandas as pd

from sobercv.checks import check_dataset
from sobercv.checks.leaks import numbers_of
from sobercv.tables import assign

from .tables import codes, honest

RNG = np.random.default_rng(5)


def mixed(n=40):
    return pd.DataFrame({
        "fraction": RNG.normal(size=n), "whole": np.arange(n), "gaps": [np.nan, *np.arange(n - 1)],
        "text": ["a", "b"] * (n // 2), "flag": [True, False] * (n // 2), "nothing": np.nan,
        "nullable": pd.array([None, *np.linspace(0, 1, n - 1)], dtype="Float64"),
        "endless": [np.inf, *RNG.normal(size=n - 1)], "huge": [1e200, *RNG.normal(size=n - 1)],
    })  # fmt: skip


def test_numbers_are_taken_with_their_places_and_gaps():
    frame = mixed()
    are_numbers, values = numbers_of(frame)
    assert frame.columns[are_numbers].tolist() == [
        "fraction",
        "whole",
        "gaps",
        "nothing",
        "nullable",
        "endless",
        "huge",
    ]
    assert values.shape == (40, 7)
    assert np.isnan(values[0, 4])


def test_what_grows_is_an_identifier_with_and_without_gaps_but_not_fractions():
    frame = mixed().drop(columns=["endless", "huge"]).assign(y=[0, 1] * 20)
    frame["sorted"] = np.sort(frame["fraction"])
    found = [note for note in check_dataset(assign(frame, target="y")) if "identifier" in note.text]
    assert [note.columns for note in found] == [("whole", "gaps")]


def test_copies_are_counted_also_where_only_text_tells_rows_apart():
    frame = honest(60)
    assert not {"W301", "S801"} & set(codes(frame))
    same = pd.concat([frame, frame.head(3)])
    assert {"W301", "S801"} & set(codes(same))
    apart = same.assign(word=[f"s{i % 7}" if i < 60 else "elsewhere" for i in range(63)])
    assert not {"W301", "S801"} & set(codes(apart))
    words = pd.DataFrame({"a": ["x", "y", "x", "y"] * 10, "b": [f"w{i % 20}" for i in range(40)], "y": [0, 1] * 20})
    assert {"W301", "S801"} & set(codes(words)), "a table without numbers"


def test_empty_constant_and_mostly_empty_columns_are_named_apart():
    frame = honest(60).assign(one=1, two=[1.0, *[np.nan] * 59], word="x", none=np.nan)
    found = [note for note in check_dataset(assign(frame, target="y")) if note.code == "W809"]
    assert [note.columns for note in found] == [("none",), ("one", "word"), ("two",)]
