"""Parquet and Arrow: every type of theirs becomes plain, or is refused by name; damaged files are one sentence."""

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from sobercv.errors import SoberError
from sobercv.tables import read


def written(path, **columns):
    parquet.write_table(pa.table(columns), path / "d.parquet")
    return path / "d.parquet"


def refused(path):
    with pytest.raises(SoberError) as caught:
        read(path)
    return caught.value


def test_decimals_of_any_width_are_numbers(tmp_path):
    values = [decimal.Decimal("1.25"), None, decimal.Decimal("-3.5")]
    path = written(tmp_path, a=pa.array(values, pa.decimal128(20, 2)), b=pa.array(values, pa.decimal256(70, 10)))
    found = read(path)
    for name in "ab":
        np.testing.assert_array_equal(found.frame[name], [1.25, np.nan, -3.5])
        assert found.schema.columns[name].kind == "number"


def test_other_types_become_plain(tmp_path):
    path = written(
        tmp_path,
        half=pa.array(np.array([1.5, 2.5], np.float16)),
        day=pa.array([pd.Timestamp("2020-01-31").date(), None], pa.date32()),
        flag=pa.array([True, None]),
        word=pa.array(["a", "b"]).dictionary_encode(),
        nothing=pa.nulls(2),
    )
    found = read(path)
    assert found.frame["half"].tolist() == [1.5, 2.5]
    kinds = {name: c.kind for name, c in found.schema.columns.items()}
    assert kinds["day"] == "date"
    assert kinds["word"] == "text"
    assert kinds["flag"] == "boolean"
    np.testing.assert_array_equal(found.frame["flag"], [1, np.nan], "as in a CSV file")


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array([b"\x00\x01", b"x"], pa.binary()), "binary"),
        (pa.array([[1], [2, 3]]), "list"),
        (pa.array([{"a": 1}, {"a": 2}]), "struct"),
        (pa.array([60, 90], pa.duration("s")), "duration"),
    ],
    ids=["bytes", "lists", "records", "durations"],
)
def test_what_no_model_can_use_is_refused_by_name(tmp_path, column, said):
    error = refused(written(tmp_path, good=pa.array([1.0, 2.0]), odd=column))
    assert error.code == "E801"
    assert "'odd'" in error.message
    assert said in error.message


@pytest.mark.parametrize("where", [0.3, 0.6, 0.9, 0.97])
def test_broken_bytes_are_one_sentence_or_a_table(tmp_path, where):
    whole = bytearray(written(tmp_path, a=pa.array(range(500)), b=pa.array(["x"] * 500)).read_bytes())
    at = int(len(whole) * where)
    whole[at : at + 6] = b"\xff\x00\xfe\x13\x80\x7f"
    (tmp_path / "broken.parquet").write_bytes(bytes(whole))
    try:
        read(tmp_path / "broken.parquet")
    except SoberError as error:
        assert error.code in ("E801", "E801", "E801")  # noqa: PT017  either way is fine


def test_broken_metadata_of_pandas_is_one_sentence(tmp_path):
    table = pa.table({"a": [1, 2]}).replace_schema_metadata({b"pandas": b"{not json"})
    parquet.write_table(table, tmp_path / "d.parquet")
    assert refused(tmp_path / "d.parquet").code == "E801"
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "d.parquet").read_bytes()[:-6] + b"\0\0PAR1")
    assert "damaged parquet" in refused(tmp_path / "cut.parquet").message


def test_names_twice_are_told(tmp_path):
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4]), pa.array([5, 6])], names=["a", "a", "a.1"])
    with pa.OSFile(str(tmp_path / "d.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    found = read(tmp_path / "d.arrow")
    assert list(found.frame.columns) == ["a", "a.2", "a.1"]
    assert [note.code for note in found.notes] == ["W801"]


def test_declared_categories_are_no_amounts(tmp_path):
    pd.DataFrame({"stage": pd.Categorical([1, 2, 3, 1]), "x": [1.0, 2, 3, 4]}).to_feather(tmp_path / "d.feather")
    found = read(tmp_path / "d.feather")
    assert found.schema.columns["stage"].kind == "text"
    assert found.frame["stage"].tolist() == ["1", "2", "3", "1"]
    assert found.notes == ()
