"""Columns of numbers as one matrix: the quick look at many columns sees what a look at each one sees."""

import numpy as np
import pandas as pd

from sobercv.checks import check_dataset
from sobercv.checks.leaks import NumericColumns, not_fractions
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
    numbers = NumericColumns.of(mixed())
    assert numbers.names == ["fraction", "whole", "gaps", "nothing", "nullable", "endless", "huge"]
    assert numbers.positions.tolist() == [0, 1, 2, 5, 6, 7, 8]
    assert dict(zip(numbers.names, numbers.whole.tolist(), strict=True)) == {
        "fraction": False, "whole": True, "gaps": True, "nothing": True, "nullable": False, "endless": False,
        "huge": False,
    }  # fmt: skip
    assert numbers.largest[-1] == 1e200
    assert numbers.largest[3] == 0
    assert np.isnan(numbers.values[0, 4])


def test_only_fractions_are_passed_over():
    assert not_fractions(mixed()) == ["whole", "gaps", "text", "flag", "nothing"]
    assert not_fractions(pd.DataFrame({"t": ["a"]})) == ["t"]


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
