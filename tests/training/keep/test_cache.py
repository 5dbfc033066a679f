"""The cache on disk: rows that tell damage and forgery, and a file from which nothing can be executed."""

import ast
import builtins
import importlib
import json
import marshal
import pickle
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from sobercv.errors import SoberError
from sobercv.training import Experiment, MemoryStore, Plan, Problem, Split, expand, stored_seed
from sobercv.training.fit.task import Failure, Outcome
from sobercv.training.keep.cache import SCHEMA, OutcomeCache
from sobercv.training.keep.manifest import Manifest
from sobercv.training.keep.outcome_bytes import decode, encode

from ..training_estimators import RANKS, Troubled

FILES = ("fingerprint", "own_code", "manifest", "outcome_bytes", "cache")
rng = np.random.default_rng(0)
N = 24
X = rng.normal(size=(N, 2))
Y = np.arange(N) % 2
KEY = b"k" * 32


def made(path, n_repeats=1, n=3, y=Y):
    problem = Problem.build(X, y, estimator=Troubled())
    plan = Plan.build(problem, 3, n_repeats)
    configurations = expand({"size": list(range(n))})
    experiment = Experiment(problem, Troubled(), RANKS)
    return OutcomeCache(path, experiment, plan, Manifest.build(experiment, configurations, plan, seed=11))


def outcomes(store):
    for split in store.plan.splits:
        for c in range(len(store.manifest.configurations)):
            values = {"decision_function": rng.normal(size=len(split.test))}
            yield Outcome(c, split.repeat, split.fold, values, 0.25 + c, 0.5)


def fill(path, **options):
    with made(path, **options) as store:
        kept = list(outcomes(store))
        for outcome in kept:
            store.keep(outcome)
    return kept


def recalled(store):
    return [store.recall(c, s) for s in store.plan.splits for c in range(len(store.manifest.configurations))]


def test_what_was_kept_is_recalled(tmp_path):
    path = tmp_path / "run.sqlite"
    kept = fill(path)
    with made(path) as store:
        memory = MemoryStore(Problem.build(X, Y, estimator=Troubled()), store.plan, 3)
        for a, b in zip(kept, recalled(store), strict=True):
            assert (a.configuration, a.repeat, a.fold) == (b.configuration, b.repeat, b.fold)
            assert (a.fit_seconds, a.predict_seconds) == (b.fit_seconds, b.predict_seconds)
            np.testing.assert_array_equal(a.responses["decision_function"], b.responses["decision_function"])
            memory.record(b)
    assert memory.done.all()
    assert stored_seed(path) == 11
    assert [f.name for f in tmp_path.iterdir()] == ["run.sqlite"]  # one file
    assert stored_seed(tmp_path / "nothing") is stored_seed(None) is None
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    "responses",
    [
        {"predict": np.array([0, 1, 2], np.int8)},
        {"predict_proba": np.full((4, 9), 1 / 9), "predict": np.arange(4)},
        {"predict": np.arange(8.0)[::2]},
        {"predict": np.array([1.5], np.float32)},
    ],
)
def test_arrays_come_back_as_they_were(responses):
    row = encode(Outcome(3, 1, 2, responses, 0.1, 0.2), b"c", b"s", KEY)
    back = decode(row, KEY, 5, split(len(next(iter(responses.values()))), 0, 1), n_classes=9)
    assert (back.configuration, back.repeat, back.fold, back.is_recalled) == (5, 0, 1, True)
    for name, values in responses.items():
        np.testing.assert_array_equal(back.responses[name], values)
        assert back.responses[name].dtype == values.dtype
        assert back.responses[name].shape == values.shape


def test_failures_come_back_as_they_were():
    failure = Failure("raised", "no\x00 \ud800 luck", "Error", 1, 2, "frames")
    row = encode(Outcome(3, 1, 2, {}, 0.1, 0.0, failure), b"c", b"s", KEY)
    back = decode(row, KEY, 3, split(4, 1, 2), n_classes=2).failure
    assert back == failure
    assert back.traceback == "frames"


def test_passing_failures_are_tried_again(tmp_path):
    store = made(tmp_path / "run.sqlite")
    with store:
        store.keep(Outcome(0, 0, 0, {}, 0.0, 0.0, Failure("worker died", "killed")))
        store.keep(Outcome(1, 0, 0, {}, 0.0, 0.0, Failure("raised", "no luck")))
        store.keep(Outcome(2, 0, 0, {}, 0.0, 0.0, Failure("raised", "no memory", by_machine=True)))
    with store:
        assert store.recall(0, store.plan.splits[0]) is None
        assert store.recall(1, store.plan.splits[0]).failure.message == "no luck"
        assert store.recall(2, store.plan.splits[0]) is None


def split(n, repeat=0, fold=0):
    return Split(repeat, fold, np.arange(n, 2 * n), np.arange(n))


def whole(row, key=KEY):
    return decode(row, key, 0, split(3), n_classes=2) is not None


def test_any_change_breaks_the_checksum():
    row = encode(Outcome(0, 0, 0, {"predict": np.arange(3.0)}, 0.1, 0.2), b"conf", b"split", KEY)
    assert whole(row)
    for i, part in enumerate(row):
        others = (None, 7, "text", b"", part[::-1] + b"x" if isinstance(part, bytes) else part + 1)
        for other in others:
            spoiled = (*row[:i], other, *row[i + 1 :])
            assert not whole(spoiled), (i, other)
    assert not whole(row, b"another run")
    assert not any(map(whole, ((), row[:3], None)))


@pytest.mark.parametrize(
    "form",
    [
        [["predict", "|O8", [3]]], [["predict", "<f8", [-1]]], [["predict", "<f8", [2]]], [["predict", "<f8", [2**62]]],
        [["predict", "<M8", [3]]], [["predict"]], {"kind": "raised"}, "text", 3, None, [["predict", "<f8", [True, 3]]],
        [],
    ],
)  # fmt: skip
def test_forged_forms_are_refused(form):
    from sobercv.training.keep.outcome_bytes import _checksum

    for text in (json.dumps(form), "[" * 100_000):
        body = (b"c", b"s", 0.1, 0.2, text.encode(), np.arange(3.0).tobytes())
        row = (*body, _checksum(KEY, *body))
        assert not whole(row)


@pytest.mark.parametrize(
    "values",
    [np.full(8, np.nan), np.full(8, np.inf), np.zeros(7), np.zeros((8, 2)), np.full(8, 2), np.full(8, -1)],
    ids=["NaN", "infinite", "too short", "too wide", "no such class", "negative class"],
)
def test_predictions_that_no_fit_would_give_are_damaged(tmp_path, values):
    path = tmp_path / "run.sqlite"
    fill(path)
    store = made(path)
    with store:
        store.keep(Outcome(0, 0, 0, {"decision_function": values}))
        store.keep(Outcome(0, 0, 1, {"predict": np.zeros(8)}))
    with store:
        for place in store.plan.splits[:2]:
            with pytest.raises(SoberError, match="is damaged") as error:
                store.recall(0, place)
            assert error.value.code == "E505"
        assert store.recall(1, store.plan.splits[0]) is not None


def test_a_manifest_of_nonsense_is_damage(tmp_path):
    path = tmp_path / "run.sqlite"
    fill(path)
    db = sqlite3.connect(path)
    db.execute("UPDATE manifest SET body = ?", (b"[]",))
    db.commit()
    db.close()
    with pytest.raises(SoberError, match="its manifest cannot be read") as error, made(path):
        pass
    assert error.value.code == "E505"


def test_triggers_and_views_are_refused(tmp_path):
    path = tmp_path / "run.sqlite"
    fill(path)
    db = sqlite3.connect(path)
    assert dict(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")) == SCHEMA
    db.execute("CREATE TRIGGER t AFTER INSERT ON outcomes BEGIN DELETE FROM outcomes; END")
    db.commit()
    db.close()
    with pytest.raises(SoberError, match="its tables are not those of a store") as error, made(path):
        pass
    assert error.value.code == "E505"


def test_nothing_leads_from_a_file_to_code():
    forbidden = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "importlib", "runpy"}
    harmless = ("importlib.metadata", "importlib.machinery", "importlib.util")  # they look, and import nothing
    for name in FILES:
        tree = ast.parse(Path(importlib.import_module(f"sobercv.training.keep.{name}").__file__).read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert not {alias.name.partition(".")[0] for alias in node.names} & forbidden, name
            if isinstance(node, ast.ImportFrom) and node.module and node.module not in harmless:
                assert node.module.partition(".")[0] not in forbidden, name
            if isinstance(node, ast.Call):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                assert called not in {"eval", "exec", "__import__", "import_module", "load"}, name


def test_opening_calls_no_unpickler(tmp_path, monkeypatch):
    path = tmp_path / "run.sqlite"
    fill(path)
    store = made(path)

    def explode(*arguments, **options):
        raise AssertionError("code was loaded")

    for module, names in ((pickle, ("load", "loads", "Unpickler")), (marshal, ("loads",)), (np, ("load",))):
        for name in names:
            monkeypatch.setattr(module, name, explode)
    for name in ("eval", "exec"):
        monkeypatch.setattr(builtins, name, explode)
    with store:
        found = recalled(store)
    monkeypatch.undo()
    assert all(outcome is not None for outcome in found)
