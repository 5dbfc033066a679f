"""The study beyond two classes: what it measures, and what it advises."""

import numpy as np
import pandas as pd
from studies.harness import Options, read_results

import sobercv
from studies import beyond, intervals, sets


def made_up(rng, n=40, judges=400, c=5):
    """Numbers that every model predicts equally well: what wins was lucky."""
    y, y_judges = rng.normal(size=n), rng.normal(size=judges)
    return {
        "y": y,
        "y_judges": y_judges,
        "folds": (np.arange(n) % 10)[:, None],
        "predictions": (y[:, None] + rng.normal(size=(n, c)))[:, :, None],
        "judged": y_judges[:, None] + rng.normal(size=(judges, c)),
    }


def test_a_table_is_judged_by_what_the_library_gives(tmp_path):
    table, place = made_up(np.random.default_rng(0)), ("diabetes", 60, 0, 5)
    (tmp_path / "tables").mkdir()
    np.savez(tmp_path / "tables" / f"{sets.table_name(*place)}.npz", **table)
    part = beyond.PARTS["main"]
    found = part.results(pd.DataFrame(part.made(Options(work=tmp_path), [place]))).set_index("metric")
    r2, squared = found.loc["r2"], found.loc["neg_mean_squared_error"]
    expected = sobercv.bbc(
        table["y"], table["predictions"], "r2", folds=table["folds"], interval="percentile",
        random_state=intervals.seed_of(*place),
    )  # fmt: skip
    assert (r2["data"], r2["bbc"], r2["naive"]) == ("diabetes", expected.value, expected.naive)
    low, high = expected.interval_at(0.95)
    assert r2["width percentile"] == high - low
    assert r2["lower percentile"] == (expected.lower_bound(0.95) <= r2["truth"])
    assert r2["naive"] >= r2["632+"] >= r2["bbc"]
    assert squared["truth"] < 0
    assert abs(r2["truth"] - (1 + squared["truth"])) < 1e-6  # the squared error in units of the variance is 1 - R2


def test_a_metric_has_a_line_with_its_advice():
    rows = read_results("beyond")
    found = beyond.by_metric(rows)
    assert list(found) == list(beyond.TITLES)
    assert all(len(some) >= 100 for some in found.values())
    narrow = rows.assign(**{"covers calibrated": 0.5, "covers percentile": 0.5})
    assert {beyond.told(some)["advice"] for some in beyond.by_metric(narrow).values()} == {"ask for 99 %"}
