"""Where bytes come from: damaged or endless sources end in one sentence, before they fill the memory."""

import gzip
import io
import os
import sys
import threading
from types import SimpleNamespace

import pytest

from sobercv.errors import SoberError
from sobercv.tables import read, source_bytes

TEXT = b"a,y\n" + b"1.5,u\n2.5,v\n" * 30


def refused(path):
    with pytest.raises(SoberError) as caught:
        source_bytes.source_bytes(path)
    assert caught.value.code == "E801"
    return caught.value.message


def test_gzip_is_unpacked_whatever_its_name_and_in_several_members(tmp_path):
    path = tmp_path / "d.csv"
    path.write_bytes(gzip.compress(TEXT[:40]) + gzip.compress(TEXT[40:]))
    assert source_bytes.source_bytes(path) == TEXT
    assert read(path).sha256 == read_plain(tmp_path).sha256, "the fingerprint is that of the table, not of its packing"


def read_plain(tmp_path):
    (tmp_path / "plain.csv").write_bytes(TEXT)
    return read(tmp_path / "plain.csv")


def damaged_body():
    packed = bytearray(gzip.compress(os.urandom(5000)))
    packed[2000:2010] = bytes(10)
    return bytes(packed)


@pytest.mark.parametrize(
    "packed",
    [gzip.compress(TEXT)[:-9], gzip.compress(TEXT)[:20], b"\x1f\x8b", damaged_body(), gzip.compress(TEXT) + b"more"],
    ids=["no end", "half", "two bytes", "another body", "something behind"],
)
def test_a_damaged_gzip_file_is_one_sentence(tmp_path, packed):
    (tmp_path / "d.csv.gz").write_bytes(packed)
    assert "damaged gzip" in refused(tmp_path / "d.csv.gz")


def test_what_grows_beyond_the_limit_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(source_bytes, "MOST_BYTES", 5 << 20)
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(bytes(64 << 20)))
    assert "grows beyond 5 MiB" in refused(tmp_path / "bomb.csv.gz")
    (tmp_path / "plain.csv").write_bytes(bytes(6 << 20))
    assert len(source_bytes.source_bytes(tmp_path / "plain.csv")) == 6 << 20, "a file on the disk is as large as it is"


def test_a_device_without_an_end_is_refused(monkeypatch):
    monkeypatch.setattr(source_bytes, "MOST_BYTES", 3 << 20)
    assert "more than 3 MiB" in refused(source_bytes.Path("/dev/zero"))


def test_a_pipe_is_read_to_its_end(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(TEXT))
    writer.start()
    assert source_bytes.source_bytes(pipe) == TEXT
    writer.join()


def test_standard_input_has_the_same_limit(monkeypatch):
    monkeypatch.setattr(source_bytes, "MOST_BYTES", 3 << 20)
    stream = SimpleNamespace(buffer=io.BytesIO(bytes(4 << 20)), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stream)
    assert "more than 3 MiB" in refused(None)
    stream.buffer = io.BytesIO(gzip.compress(TEXT))
    assert source_bytes.source_bytes(None) == TEXT


def test_names_that_lead_nowhere(tmp_path):
    (tmp_path / "data.csv").write_bytes(TEXT)
    assert "Did you mean" in refused(tmp_path / "dat.csv")
    (tmp_path / "data.xlsx").write_bytes(TEXT)
    assert "Did you mean" in (said := refused(tmp_path / "Data.csv"))
    assert "data.csv" in said, "of two files with one stem, the one with the suffix that was typed"
    assert "is a folder" in refused(tmp_path)
    assert "cannot be opened" in refused(tmp_path / ("x" * 400))
    assert refused(source_bytes.Path("a\0b"))
