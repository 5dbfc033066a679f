"""Settings, results and run folders that somebody has edited: a documented exit code and a coded sentence, or the number.

Three kinds of inputs: settings files of any content; JSON files of a run with edits anywhere; run folders with files missing, cut, swapped, replaced by links and pipes. `SOBER_SOAK=1` tries many more.
"""

import contextlib
import io
import json
import os
import random
import re
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sobercv.cli.app import run
from sobercv.runs.folder import RunFolder

from ..cli.conftest import table
from .trying import TRIED, examples, within_patience


@pytest.fixture(scope="module")
def place(finished, tmp_path_factory):
    """A folder for all examples of a test: the finished run beside it is never touched."""
    home = tmp_path_factory.mktemp("fuzz")
    before = os.getcwd()
    os.chdir(home)
    (home / "data.csv").write_bytes((finished / "data.csv").read_bytes())
    yield home
    os.chdir(before)


def ended(*arguments):
    """Run a command; give its exit code and its output, if it ended as documented."""
    out, err = io.StringIO(), io.StringIO()
    with within_patience(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(list(arguments))
    said = err.getvalue()
    assert code in (0, 1, 2), (code, said)
    assert "Traceback" not in said
    assert "should not happen" not in said, said
    if code:
        assert len(said.strip().splitlines()) == 1, said
        assert re.search(r"\[E\d{3}\]\s*$", said), said
    TRIED[f"runs ({arguments[0]})"] += 1
    return code, out.getvalue()


# ---- settings files ------------------------------------------------------------------------------------------------
NAMES = (
    "data", "target", "time", "event", "id", "group", "ignore", "task", "metric", "preset", "configurations", "cv",
    "repeats", "aggregate", "stratify", "seed", "jobs", "max-time", "output", "json",
    "quiet", "fast", "no-report", "folds", "tarket",
)  # fmt: skip
WORDS = ("data.csv", "y", "good", "useless", "quick", "paper", "roc_auc", "f1", "accuracy", "fold", "binary", "10m", "")
SCALARS = st.one_of(
    st.sampled_from(WORDS),
    st.booleans(),
    st.integers(-3, 12),
    st.integers(),
    st.sampled_from([2**63, -(2**63), 10**18]),
    st.floats(),
    st.text(max_size=20),
)
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=5), v, max_size=3))


def as_toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{as_toml(k)} = {as_toml(v)}' for k, v in value.items())}}}"
    return repr(value)


@examples(soak=400, usual=15)
@given(
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5).map(
        lambda d: "".join(f"{k} = {as_toml(v)}\n" for k, v in d.items()).encode("utf-8", "replace")
    )
    | st.binary(max_size=200)
    | st.text(max_size=100).map(lambda s: s.encode("utf-8", "replace"))
)
def test_any_settings_file(place, raw):
    (place / "mine.toml").write_bytes(raw)
    small = ("--preset", "quick", "--configurations", "2", "--cv", "3", "--jobs", "1", "--seed", "0")
    code, out = ended("check", "data.csv", "--target", "y", *small, "--settings", "mine.toml", "--quiet")
    assert code or out == "" or json.loads(out)["data"]["rows"] == 60


# ---- edited files of a run -----------------------------------------------------------------------------------------
JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-5, 5), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from([1e308, -1e308, 1e-320, 10**40, 0, -1, "", "finished", "dropped", "E809", "\ud800", "\u202e"]),
        st.text(max_size=10),
    ),
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=8), v, max_size=4),
    max_leaves=6,
)  # fmt: skip


def places(values, way=()):
    """Every place in plain data, as the way to it."""
    inside = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    for key, value in inside:
        yield (*way, key)
        yield from places(value, (*way, key))


def edit(values, seed, new):
    """Change, remove or double something somewhere; sometimes near the top, where it matters."""
    luck = random.Random(seed)
    ways = [w for w in places(values) if len(w) <= luck.choice([1, 2, 3, 9])]
    way = luck.choice(ways)
    for key in way[:-1]:
        values = values[key]
    act = luck.choice(["set", "set", "remove", "double", "swap"])
    if act == "remove":
        del values[way[-1]]
    elif act == "double" and isinstance(values, list):
        values.append(values[way[-1]])
    elif act == "swap" and isinstance(values, list):
        luck.shuffle(values)
    else:
        values[way[-1]] = new


def fresh(finished, place):
    shutil.rmtree(place / "run", ignore_errors=True)
    shutil.copytree(finished / "run", place / "run")
    return RunFolder(place / "run")


def reference(finished):
    return json.loads((finished / "run" / "results.json").read_text())


@examples(soak=400, usual=20)
@given(st.integers(0, 2**32), st.lists(JSON, min_size=1, max_size=3), st.booleans())
def test_edited_results(place, finished, seed, new, as_json):
    folder = fresh(finished, place)
    values = json.loads((folder / "results.json").read_text())
    for i, value in enumerate(new):
        edit(values, seed + i, value)
    (folder / "results.json").write_text(json.dumps(values))
    ended("report", "run", *(["--json"] if as_json else []))
    ended("predict", "run", "data.csv")


@examples(soak=60, usual=5)
@given(st.binary(max_size=60), st.integers(0, 2**32), st.sampled_from(["results.json", "settings.json", "model.skops"]))
def test_bytes_written_into_a_file(place, finished, raw, at, name):
    folder = fresh(finished, place)
    held = (folder / name).read_bytes()
    at %= len(held)
    (folder / name).write_bytes(held[:at] + raw + held[at + len(raw) :])
    command = {"results.json": ("report", "run"), "settings.json": ("resume", "run", "--no-report", "-q")}
    ended(*command.get(name, ("predict", "run", "data.csv")))


@examples(soak=120, usual=6)
@given(st.integers(0, 2**32), JSON)
def test_edited_settings(place, finished, seed, new):
    folder = fresh(finished, place)
    values = json.loads((folder / "settings.json").read_text())
    edit(values["settings"] if seed % 2 else values, seed, new)
    (folder / "settings.json").write_text(json.dumps(values))
    ended("resume", "run", "--jobs", "1", "--no-report", "-q")


# ---- folders -------------------------------------------------------------------------------------------------------
def spoil(folder, luck, raw):
    """Do something to a file of the run."""
    names = sorted(p.name for p in folder.path.iterdir())
    path = folder / luck.choice([*names, "report.html", ".lock", "run.sqlite-wal"])
    act = luck.choice(["remove", "empty", "cut", "bytes", "link", "dangling", "pipe", "folder", "swap", "unreadable"])
    if path.is_symlink():  # made just now: writing through it is what sober must not do
        return
    held = path.read_bytes() if path.is_file() else b""
    if act == "swap":
        other = folder / luck.choice(names)
        if other.is_file() and (path.is_file() or not path.exists()):
            path.write_bytes(other.read_bytes())
        return
    if path.is_file():
        path.unlink()
    if path.exists() or act == "remove":
        return
    if act in ("link", "dangling"):
        path.symlink_to(folder.path.parent / ("outside" if act == "link" else "nowhere"))
    elif act == "pipe":
        os.mkfifo(path)
    elif act == "folder":
        path.mkdir()
    else:
        cut = luck.randrange(len(held) + 1)
        path.write_bytes({"empty": b"", "cut": held[:cut], "bytes": held[:cut] + raw}.get(act, held))
        if act == "unreadable":
            path.chmod(0)


@examples(soak=200, usual=12)
@given(st.integers(0, 2**32), st.binary(min_size=1, max_size=40), st.integers(1, 2))
def test_spoilt_folders(place, finished, seed, raw, times):
    luck = random.Random(seed)
    (place / "outside").write_bytes(b"precious")
    folder = fresh(finished, place)
    for _ in range(times):
        spoil(folder, luck, raw)
    command = luck.choice([
        ("report", "run", "--json"), ("resume", "run", "--json", "--no-report"), ("predict", "run", "data.csv"),
        ("fit", "data.csv", "--target", "y", "--preset", "quick", "--configurations", "2", "--cv", "2", "--jobs", "1",
         "-o", "run", "--overwrite", "--no-report", "--json"),
    ])  # fmt: skip
    code, out = ended(*command)
    assert (place / "outside").read_bytes() == b"precious"
    assert not (place / "nowhere").exists()
    if code == 0 and command[0] in ("report", "resume"):
        assert json.loads(out)["score"] == reference(finished)["score"]
    if code == 0 and command[0] == "predict":
        assert len(out.splitlines()) == len(table()) + 1
