"""Whatever a table or a settings file holds, a command ends in a documented exit code with a coded sentence, or works.

And where it works, the values are those that were written: the same table in another country's writing gives the same
numbers, or a question. `SOBER_SOAK=1` tries many more; the count is printed.
"""

import contextlib
import io
import json
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import sobercv
from sobercv.cli.app import run
from sobercv.errors import SoberError
from sobercv.tables import read

from . import messy
from .trying import TRIED, examples, within_patience

DOCUMENTED = {0, 1, 2}
tables = partial(examples, suppress_health_check=list(HealthCheck))  # tables are slow to make


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".state"))


def ends_well(*arguments, kind=""):
    """Run a command; give its exit code and output if it ended as documented."""
    out, err = io.StringIO(), io.StringIO()
    with within_patience(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(list(arguments))
    said = err.getvalue()
    assert code in DOCUMENTED, (code, said)
    assert "Traceback" not in said
    assert "should not happen" not in said, said
    if code == 1:
        assert re.search(r"\[E\d{3}\]\s*$", said), said
    if code == 2 and not out.getvalue():
        assert len(said.strip().splitlines()) == 1, said
        assert re.search(r"\[E\d{3}\]\s*$", said), said
    TRIED[kind or f"tables of {arguments[0]}"] += 1
    return code, out.getvalue()


SMALL = ("--preset", "quick", "--configurations", "2", "--cv", "2", "--jobs", "1", "--json")


@tables(soak=250, usual=15)
@given(messy.tables())
def test_check_of_a_messy_table(raw):
    with open("d.csv", "wb") as file:
        file.write(raw)
    code, out = ends_well("check", "d.csv", "--target", "y", *SMALL)
    if out:
        assert isinstance(json.loads(out), dict)
        assert code in (0, 2)


@tables(soak=150, usual=15)
@given(
    messy.anything | messy.jsonish.map(lambda v: json.dumps(v).encode()),
    st.sampled_from(["d", "d.csv", "d.parquet", "d.xlsx"]),
)
def test_check_of_what_is_hardly_a_table(raw, name):
    with open(name, "wb") as file:
        file.write(raw)
    assert ends_well("check", name, "--target", "y", *SMALL)[0] in (0, 2)


@tables(soak=200, usual=15)
@given(
    messy.tables(),
    st.sampled_from([("--target", "y"), (), ("--target", "y", "--ignore", "model"), ("--group", "patient")]),
)
def test_correct_of_a_messy_table(raw, roles):
    with open("p.csv", "wb") as file:
        file.write(raw)
    code, out = ends_well("correct", "p.csv", *roles, "--json")
    if code == 0:
        score = json.loads(out)["score"]
        assert np.isfinite(score["value"])


@tables(soak=150, usual=10)
@given(messy.settings_files())
def test_settings_files(raw):
    pd.DataFrame({"good": np.arange(30) * 0.37 % 1, "y": ["a", "b"] * 15}).to_csv("d.csv", index=False)
    with open("sober.toml", "wb") as file:
        file.write(raw)
    ends_well("check", "d.csv", "--target", "y", "--jobs", "1", "--preset", "quick", "--json", kind="settings files")


@tables(soak=30, usual=1)
@given(messy.tables())
def test_fit_and_predict_of_a_messy_table(raw):
    with open("d.csv", "wb") as file:
        file.write(raw)
    fit = ("fit", "d.csv", "--target", "y", *SMALL, "-o", "run", "--overwrite", "--fast")
    if ends_well(*fit)[0] == 0:
        code, out = ends_well("predict", "run", "d.csv")
        assert code == 0
        assert len(pd.read_csv(io.StringIO(out))) == len(read("d.csv").frame)


# ---- or a correct number -------------------------------------------------------------------------------------------
WAYS = [
    (".", "", ","),
    (".", "", ";"),
    (",", "", ";"),
    (",", ".", ";"),
    (".", ",", ";"),
    (",", " ", "\t"),
    (".", "'", "|"),
]


def written(number, decimal, thousands, digits=4):
    text = f"{number:,.{digits}f}"
    return text.replace(",", "§").replace(".", decimal).replace("§", thousands)


@tables(soak=300, usual=40)
@given(
    st.lists(st.lists(st.integers(-(10**8), 10**8), min_size=3, max_size=3), min_size=3, max_size=12),
    st.sampled_from(WAYS), st.sampled_from(messy.LINES), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.integers(1, 4),
)  # fmt: skip
def test_numbers_are_those_that_were_written_or_are_asked_about(grid, way, line, encoding, digits):
    decimal, thousands, delimiter = way
    numbers = np.array(grid) / 10**digits
    rows = [["a", "b", "c"], *([written(v, decimal, thousands, digits) for v in row] for row in numbers)]
    with open("d.csv", "wb") as file:
        file.write(line.join(delimiter.join(row) for row in rows).encode(encoding))
    TRIED["tables with known values"] += 1
    try:
        found = read("d.csv").frame
    except SoberError as error:
        if error.code == "E808":
            return
        raise
    np.testing.assert_array_equal(found.to_numpy(dtype=float), numbers)


RNG = np.random.default_rng(3)
Y = np.where(np.arange(40) % 2, "R", "M")
CHANCE = np.round(
    np.clip(0.5 + 0.2 * np.where(Y == "R", 1, -1)[:, None] + 0.2 * RNG.normal(size=(40, 4)), 0.01, 0.99), 6
)


@tables(soak=100, usual=10)
@given(
    st.sampled_from([(".", ","), (",", ";"), (".", "\t")]), st.booleans(), st.permutations(range(4)),
    st.lists(st.sampled_from(["sample", "fold", "id", "row"]), unique=True),
)  # fmt: skip
def test_correct_gives_the_right_number_in_every_writing(way, is_long, order, places):
    decimal, delimiter = way
    models = [f"m{c}" for c in range(4)]
    frame = pd.DataFrame({"y_true": Y, **{models[c]: CHANCE[:, c] for c in order}})
    for place in {*places, "sample"} if is_long else places:
        frame[place] = np.arange(40) // 8 if place == "fold" else np.arange(40)
    if is_long:
        frame = frame.melt(id_vars=[c for c in frame.columns if c not in models], var_name="model", value_name="prob_R")
    frame.to_csv("p.csv", index=False, sep=delimiter, decimal=decimal)
    code, out = ends_well(
        "correct", "p.csv", "--target", "y_true", "--metric", "roc_auc", "--positive", "R", "--json",
        kind="tables with a known number",
    )  # fmt: skip
    assert code == 0
    columns = sorted(order) if is_long else order  # long tables are read in natural order; it decides between equals
    expected = sobercv.bbc(Y, CHANCE[:, columns], "roc_auc", random_state=0).value
    assert json.loads(out)["score"]["value"] == expected
