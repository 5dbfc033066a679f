"""sober check: what each check sees, and what it leaves in peace."""

import json

import numpy as np
import pandas as pd
import pytest

from sobercv.checks import look, measure, plan
from sobercv.tables import assign

from .conftest import SMALL, table

RNG = np.random.default_rng(2)
BIG = table(n=300, seed=1)


def codes(frame, **roles):
    return [f.code for f in look(assign(frame, **({"target": "y"} | roles)))]


SEEN = [
    ("a copy of the target", BIG.assign(copy=BIG["y"].map({"ill": 1.0, "well": 2.0})), "W806"),
    ("a copy as text", BIG.assign(copy=BIG["y"] + "!"), "W806"),
    ("gaps that tell the target", BIG.assign(when=np.where(BIG["y"] == "ill", "2020-01-01", None)), "W806"),
    ("row numbers", BIG.assign(nr=range(300)), "W807"),
    ("keys", BIG.assign(key=[f"P-{i * 37 % 1000:04d}" for i in range(300)]), "W807"),
    ("a date of death", BIG.assign(death_date=pd.date_range("2020-01-01", periods=300)), "W808"),
    ("a date", BIG.assign(born=pd.date_range("1950-01-01", periods=300)), "S803"),
    ("a constant", BIG.assign(one=1), "W809"),
    ("nothing", BIG.assign(none=np.nan), "W809"),
    ("mostly gaps", BIG.assign(few=[1.0, 2.0, *[np.nan] * 298]), "W810"),
    ("copied rows", pd.concat([BIG, BIG.head(20)]), "W805"),
    ("patients with several rows", BIG.assign(patient_id=RNG.integers(1000, 1100, 300)), "W812"),
    ("a rare class", BIG.assign(y=["rare"] * 15 + ["other"] * 285), "W804"),
    ("stars from 1 to 5", BIG.assign(y=RNG.integers(1, 6, 300)), "S801"),
    ("few rows", table(n=100), "S802"),
]


@pytest.mark.parametrize(("name", "frame", "code"), SEEN, ids=[s[0] for s in SEEN])
def test_what_should_be_seen_is_seen(name, frame, code):
    assert code in codes(frame)


def test_an_honest_table_is_left_in_peace():
    assert codes(BIG) == []


def test_leaks_of_numbers_and_of_times_are_seen():
    y = RNG.normal(size=300)
    frame = pd.DataFrame({"y": y, "cents": 100 * y + 0.01 * RNG.normal(size=300), "other": RNG.normal(size=300)})
    assert codes(frame) == ["W806"]
    time = np.exp(y)
    frame = pd.DataFrame({"t": time, "e": 1, "visits": np.round(time * 50), "other": RNG.normal(size=300)})
    assert codes(frame, target=None, time="t", event="e") == ["W806"]


def test_a_named_group_or_id_is_not_complained_about():
    frame = BIG.assign(patient_id=np.repeat(np.arange(100), 3))
    assert codes(frame, group="patient_id") == ["S802"]  # 100 patients are few
    assert codes(frame, id="patient_id") == ["S802"]


def test_leaks_in_wide_tables_take_seconds():
    frame = pd.DataFrame(RNG.normal(size=(100, 2000)), columns=[f"g{i}" for i in range(2000)])
    frame["y"] = np.arange(100) % 2
    frame["leak"] = frame["y"] * 2.0
    found = [f for f in look(assign(frame, target="y")) if f.code == "W806"]
    assert found[0].columns == ("leak",)


def test_the_time_is_measured_and_grows_with_repeats():
    data = assign(BIG, target="y")
    once = measure(plan(data, preset="quick", folds=5), data, 1)
    tens = measure(plan(data, preset="quick", folds=5, repeats=10), data, 1)
    assert 0 < once < tens


def test_what_people_see(sober, tmp_path):
    table(text=True).assign(one=1).to_csv(tmp_path / "data.csv", index=False)
    ended = sober("check", "data.csv", "--target", "y", *SMALL)
    assert ended.code == 0
    lines = [line.rstrip() for line in ended.out.splitlines() if "time" not in line]
    assert lines == [
        "The table",
        "  file    data.csv (csv)",
        "  size    60 rows, 4 columns to learn from (3 numbers, 1 text)",
        "  target  y: two classes (ill: 28, well: 32)",
        "",
        "The columns",
        "  good     number           -2.32503 to 1.96026",
        "  useless  number           -2.39823 to 1.81648",
        "  site     text             north, south",
        "  y        target (text)    ill, well",
        "  one      constant         1",
        "",
        "The plan",
        "  preset  quick: 3 of 33 configurations, drawn at random.",
        "  metric  roc_auc",
        "  fits    at most 10 (3 configurations, 3 folds)",
        "",
        "",
        "next  sober fit data.csv --target y --preset quick --configurations 3 --folds 3 -o run",
    ]
    assert [line.split()[:2] for line in ended.err.splitlines()] == [
        ["W804", "warning"],
        ["W809", "warning"],
        ["S802", "suggestion"],
    ]


def test_check_leaves_nothing_behind(sober, data, tmp_path):
    before = sorted(p.name for p in tmp_path.iterdir())
    assert sober("check", "data.csv", "--target", "y", *SMALL, "--json").code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_check_and_fit_agree_about_errors(sober, tmp_path):
    table().assign(y=["odd"] * 2 + ["even"] * 58).to_csv(tmp_path / "d.csv", index=False)
    look_ = sober("check", "d.csv", "--target", "y", "--json")
    fit = sober("fit", "d.csv", "--target", "y", "-o", "run")
    first = json.loads(look_.out)["findings"][0]
    assert fit.code == look_.code == 2
    assert fit.err == f"sober: {first['message']} [{first['code']}]\n"
    assert not (tmp_path / "run").exists()
