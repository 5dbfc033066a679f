"""Names and cells that want to be obeyed: they run or are refused in a sentence, and nothing of them executes."""

import json

import numpy as np
import pytest

from .conftest import SMALL, refitted, table

SCRIPT = "<script>alert('sober')</script>"
NAMES = [
    SCRIPT, 'say "hello"', "two\nlines", "rocket \U0001f680", "x" * 500, "__import__('os')", "{{ 7 * 7 }}",
    "[bold red]a", "\x1b[31mred", "a\tb", "'; DROP TABLE fits; --", "</style><img src=x onerror=alert(1)>", "%s %d",
    "\u202eltr",
]  # fmt: skip


def hostile():
    frame, rng = table(), np.random.default_rng(3)
    for name in NAMES:
        frame[name] = rng.normal(size=len(frame)).round(3)
    frame["cells"] = rng.choice([SCRIPT, 'a "quote"', "two\nlines", "\U0001f680"], len(frame))
    frame[SCRIPT + "y"] = np.where(frame.pop("y") == "ill", "<b>ill</b>", "{{ well }}")
    return frame


def test_hostile_names_run_and_nothing_executes(sober, tmp_path):
    hostile().to_csv(tmp_path / "d.csv", index=False)
    ended = sober("fit", "d.csv", "--target", SCRIPT + "y", *SMALL, "-o", "run")
    assert ended.code == 0, ended.err
    page = (tmp_path / "run" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "\x1b[31m" not in ended.out + ended.err
    json.loads((tmp_path / "run" / "results.json").read_text())
    refitted(tmp_path, "d.csv", as_process=True)
    assert sober("predict", "run", "d.csv").code == 0


PLAIN = table()


@pytest.mark.parametrize(
    ("name", "raw", "code"),
    [
        ("a BOM", b"\xef\xbb\xbf" + PLAIN.to_csv(index=False).encode(), None),
        ("UTF-16", PLAIN.to_csv(index=False).encode("utf-16"), None),
        ("Windows line ends", PLAIN.to_csv(index=False, lineterminator="\r\n").encode(), None),
        ("old Mac line ends", PLAIN.to_csv(index=False, lineterminator="\r").encode(), None),
        ("mixed line ends", PLAIN.to_csv(index=False).replace("\n", "\r\n", 20).encode(), None),
        ("Latin-1", PLAIN.assign(straße="Köln").to_csv(index=False).encode("latin-1"), "W801"),
        ("semicolons", PLAIN.to_csv(index=False, sep=";").encode(), None),
        ("bars", PLAIN.to_csv(index=False, sep="|").encode(), None),
        ("blank lines at the end", PLAIN.to_csv(index=False).encode() + b"\n\n\n", None),
        ("the same name twice", PLAIN.to_csv(index=False).replace("useless", "good", 1).encode(), "W801"),
        ("short rows", PLAIN[["y", "good", "useless"]].to_csv(index=False).encode() + b"ill,0.5\nwell\n", "W801"),
        ("no target in some rows", PLAIN[["good", "useless", "y"]].to_csv(index=False).encode() + b"1,2,\n", "W813"),
    ],
)  # fmt: skip
def test_odd_files_are_read(sober, tmp_path, name, raw, code):
    (tmp_path / "d.csv").write_bytes(raw)
    ended = sober("check", "d.csv", "--target", "y", *SMALL, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["data"]["classes"].keys() == {"ill", "well"}
    assert found["data"]["rows"] in (60, 62)
    codes = {f["code"] for f in found["findings"]}
    assert code is None or code in codes


def test_half_a_pair_of_unicode_is_no_reason_to_fail(sober, tmp_path):
    (tmp_path / "d.csv").write_bytes(b"\xed\xa0\xbd,y\n" + b"1.5,a\n2.5,b\n" * 30)
    ended = sober("check", "d.csv", "--target", "y", *SMALL)
    assert ended.code == 0, ended.err
    assert "W801" in ended.err
