"""Every storage gives the same blocks of the same table; what is no storage is left to memory."""

import dask.array
import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

import sobercv
from sobercv import sources
from sobercv.errors import SoberError
from sobercv.sources import ROWS, ArraySource, Source, base, chunked, memory_map, parquet, registry

N, C = 25, 4
TABLE = np.random.default_rng(9).random((N, C))
FEW = 10  # rows of a block here


@pytest.fixture
def small_blocks(monkeypatch):
    for module in (base, memory_map, chunked, parquet, sources.dask_array):
        monkeypatch.setattr(module, "ROWS", FEW, raising=False)


def as_memory_map(where):
    np.save(where / "p.npy", TABLE)
    return sobercv.stream(np.load(where / "p.npy", mmap_mode="r"))


def as_zarr(where, chunks=(7, 2)):
    array = zarr.create_array(where / "p.zarr", shape=TABLE.shape, chunks=chunks, dtype="f8")
    array[:] = TABLE
    return array


def as_file(where):
    pa.parquet.write_table(pa.table({f"c{j}": TABLE[:, j] for j in range(C)}), where / "p.parquet", row_group_size=8)
    return where / "p.parquet"


STORAGES = {
    "numpy": lambda where: sobercv.stream(TABLE),
    "memory map": as_memory_map,
    "zarr": as_zarr,
    "zarr, chunks of several blocks": lambda where: as_zarr(where, (23, 4)),
    "a path": as_file,
    "text": lambda where: str(as_file(where)),
    "ParquetFile": lambda where: pa.parquet.ParquetFile(as_file(where)),
    "Dataset": lambda where: pa.dataset.dataset(as_file(where)),
    "dask": lambda where: dask.array.from_array(TABLE, chunks=(9, 3)),
}


@pytest.fixture(params=STORAGES)
def source(request, tmp_path, small_blocks):
    return sobercv.stream(STORAGES[request.param](tmp_path))


@pytest.mark.parametrize("columns", [slice(None), slice(1, 3), np.array([3, 0])], ids=["all", "some", "picked"])
def test_blocks_are_the_table_cut_at_fixed_places(source, columns):
    found = list(source.blocks(columns))
    assert [start for start, _ in found] == [0, 10, 20]
    for start, values in found:
        np.testing.assert_array_equal(values, TABLE[start : start + FEW, columns])
    np.testing.assert_array_equal(source.columns(columns), TABLE[:, columns])


def total(values, parcel):
    start, stop = parcel
    assert len(values) == stop - start
    return np.append(values.sum(axis=0), 1)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_work_is_done_on_every_block_once(source, n_threads):
    done = np.sum(list(source.map(total, lambda start, stop: (start, stop), slice(None), n_threads)), axis=0)
    np.testing.assert_allclose(done[:-1], TABLE.sum(axis=0))
    assert done[-1] == 3


def test_a_source_shows_its_size(source):
    assert source.shape == (N, C)
    assert "25 samples, 4 configurations" in repr(source)
    assert sobercv.stream(source) is source
    assert sources.recognise(source) == (source, "")
    assert sources.recognise({"predict_proba": source}) == (source, "predict_proba")


def test_only_files_have_names(source):
    if source.has_names:
        np.testing.assert_array_equal(source.column("c2"), TABLE[:, 2])
        rest = source.without(["c2"])
        np.testing.assert_array_equal(rest.columns(slice(None)), TABLE[:, [0, 1, 3]])
        assert source.without(["z"]) is source
        with pytest.raises(SoberError, match="c0") as error:
            source.column("z")
        assert error.value.code == "E804"
    else:
        assert source.without(["c2"]) is source
        with pytest.raises(SoberError, match="only Parquet") as error:
            source.column("c2")
        assert error.value.code == "E118"


@given(st.integers(1, 60), st.integers(1, 12))
def test_every_row_is_in_one_block(n, rows):
    table = np.arange(2.0 * n).reshape(n, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_map, "ROWS", rows)
        found = list(ArraySource(table).blocks(slice(None)))
    np.testing.assert_array_equal(np.concatenate([values for _, values in found]), table)
    assert [start for start, _ in found] == list(range(0, n, rows))


@pytest.mark.parametrize("values", [TABLE, TABLE.tolist(), np.ma.masked_array(TABLE), None, 3, {"predict": TABLE}])
def test_what_fits_in_memory_is_left_there(values):
    assert sources.recognise(values) is None


def test_large_memory_maps_are_read_in_blocks_without_being_asked(tmp_path, monkeypatch):
    np.save(tmp_path / "p.npy", TABLE)
    mapped = np.load(tmp_path / "p.npy", mmap_mode="r")
    assert sources.recognise(mapped) is None
    monkeypatch.setattr(memory_map, "LARGE", mapped.nbytes - 1)
    assert isinstance(sources.recognise(mapped)[0], ArraySource)


def test_a_storage_is_a_class_and_one_entry(monkeypatch):
    class Doubled(Source):
        shape = (N, C)

        @classmethod
        def of(cls, values, names=None):
            return cls() if isinstance(values, str) else None

        def blocks(self, columns):
            yield 0, 2 * TABLE[:, columns]

    monkeypatch.setattr(registry, "STORAGES", (Doubled, *registry.STORAGES))
    y = np.arange(N) % 2
    ours = sobercv.bbc(y, "doubled", "roc_auc", n_bootstraps=20, random_state=0)
    again = sobercv.bbc(y, 2 * TABLE, "roc_auc", n_bootstraps=20, random_state=0)
    assert ours.value == again.value


@pytest.mark.parametrize(
    ("make", "code", "part"),
    [
        (lambda where: sobercv.stream(TABLE[None]), "E118", "3 axes"),
        (lambda where: sobercv.stream(TABLE[:0]), "E101", "nothing"),
        (lambda where: sobercv.stream(3), "E118", "int"),
        (lambda where: sobercv.stream(TABLE, columns=["a"]), "E114", "columns"),
        (lambda where: sobercv.stream(as_file(where), columns=["z"]), "E804", "'z'.*'c0'"),
        (lambda where: sobercv.stream(where / "p.csv"), "E118", "parquet"),
        (lambda where: sobercv.stream(where / "absent.parquet"), "E801", "absent"),
        (lambda where: sources.recognise({"predict": as_file(where), "predict_proba": TABLE}), "E118", "one response"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, make, code, part):
    with pytest.raises(SoberError, match=part) as error:
        make(tmp_path)
    assert error.value.code == code


def test_gaps_in_a_file_are_found_with_their_rows(tmp_path):
    pa.parquet.write_table(pa.table({"a": [0.5, None, 0.2]}), tmp_path / "p.parquet")
    with pytest.raises(SoberError, match="'a' lacks 1 predictions in rows 0 to 2") as error:
        list(sobercv.stream(tmp_path / "p.parquet").blocks(slice(None)))
    assert error.value.code == "E102"


def test_what_goes_with_the_samples_comes_from_anywhere(tmp_path):
    file = sobercv.stream(as_file(tmp_path))
    found, taken = sources.vector("c1", file)
    np.testing.assert_array_equal(found, TABLE[:, 1])
    assert taken == ["c1"]
    pair, taken = sources.vector(["c1", "c2"], file)
    np.testing.assert_array_equal(pair, TABLE[:, 1:3])
    assert taken == ["c1", "c2"]
    lazy = dask.array.from_array(TABLE[:, 0], chunks=5)
    np.testing.assert_array_equal(sources.vector(lazy, file)[0], TABLE[:, 0])
    assert sources.vector(None, file) == (None, [])


def test_blocks_are_what_the_bootstrap_draws_together():
    assert ROWS == 1 << 16
