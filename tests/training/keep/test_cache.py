"""The cache on disk: rows that tell damage and forgery, and a file from which nothing can be executed."""

import ast
import builtins
import contextlib
import importlib
import marshal
import pickle
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from sobercv.errors import SoberError
from sobercv.training import Configuration, Experiment, MemoryStore, Plan, Problem, expand, stored_seed
from sobercv.training.fit.task import Failure, Outcome, Task
from sobercv.training.keep.cache import SCHEMA, OutcomeCache

from ..training_estimators import RANKS, Troubled

FILES = ("fingerprint", "cache")
rng = np.random.default_rng(0)
N = 24
X = rng.normal(size=(N, 2))
Y = np.arange(N) % 2


def made(path, n_repeats=1, n=3, y=Y):
    problem = Problem.build(X, y, task="classification")
    plan = Plan.build(problem, 3, n_repeats)
    configurations = expand({"size": list(range(n))})
    experiment = Experiment(problem, Troubled(), RANKS)
    return OutcomeCache(path, experiment, configurations, plan, seed=11)


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
    configurations = [Configuration(c) for c in range(len(store.manifest.configurations))]
    return [store.recall(Task(split, c)) for split in store.plan.splits for c in configurations]


def test_what_was_kept_is_recalled(tmp_path):
    path = tmp_path / "run.sqlite"
    kept = fill(path)
    with made(path) as store:
        memory = MemoryStore(Problem.build(X, Y, task="classification"), store.plan, 3)
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


def brought_back(path, outcome):
    with made(path) as store:
        store.keep(outcome)
    with made(path) as store:
        return store.recall(Task(store.plan.splits[outcome.fold], Configuration(outcome.configuration)))


@pytest.mark.parametrize(
    "responses",
    [
        {"predict": np.array([0, 1, 2], np.int8)},
        {"predict_proba": np.full((4, 9), 1 / 9), "predict": np.arange(4)},
        {"predict": np.arange(8.0)[::2]},
        {"predict": np.array([1.5], np.float32)},
    ],
)
def test_arrays_come_back_as_they_were(tmp_path, responses):
    back = brought_back(tmp_path / "run.sqlite", Outcome(2, 0, 1, responses, 0.1, 0.2, answers={"predict": 1 / 3}))
    assert (back.configuration, back.repeat, back.fold, back.is_recalled) == (2, 0, 1, True)
    assert back.answers == {"predict": 1 / 3}
    assert (back.fit_seconds, back.predict_seconds) == (0.1, 0.2)
    for name, values in responses.items():
        np.testing.assert_array_equal(back.responses[name], values)
        assert back.responses[name].dtype == values.dtype
        assert back.responses[name].shape == values.shape


def test_failures_come_back_as_they_were(tmp_path):
    failure = Failure("raised", "no\x00 \ud800 luck", "Error", 0, 2, "frames")
    back = brought_back(tmp_path / "run.sqlite", Outcome(1, 0, 2, {}, 0.1, 0.0, failure)).failure
    assert back == failure
    assert back.traceback == "frames"


def test_passing_failures_are_tried_again(tmp_path):
    store = made(tmp_path / "run.sqlite")
    with store:
        store.keep(Outcome(0, 0, 0, {}, 0.0, 0.0, Failure("worker died", "killed")))
        store.keep(Outcome(1, 0, 0, {}, 0.0, 0.0, Failure("raised", "no luck")))
        store.keep(Outcome(2, 0, 0, {}, 0.0, 0.0, Failure("raised", "no memory", by_machine=True)))
    with store:
        first, second, third = (store.recall(Task(store.plan.splits[0], Configuration(c))) for c in range(3))
        assert first is third is None
        assert second.failure.message == "no luck"


@pytest.mark.parametrize("column", ["configuration", "split", "form", "data", "checksum"])
@pytest.mark.parametrize("value", [None, 7, "text", b"", b"{}", "another row"])
def test_any_change_of_a_row_is_damage(tmp_path, column, value):
    path = tmp_path / "run.sqlite"
    fill(path)
    db = sqlite3.connect(path)
    rows = db.execute(f"SELECT rowid, {column} FROM outcomes ORDER BY rowid").fetchall()
    value = next(other for _, other in rows if other != rows[0][1]) if value == "another row" else value
    with contextlib.suppress(sqlite3.IntegrityError):  # keys of another row
        db.execute(f"UPDATE outcomes SET {column} = ? WHERE rowid = ?", (value, rows[0][0]))
    changed = db.total_changes > 0
    db.commit()
    db.close()
    with made(path) as store:
        if column in ("configuration", "split") or not changed:
            assert sum(outcome is None for outcome in recalled(store)) == changed  # it is fitted again
        else:
            with pytest.raises(SoberError, match="is damaged") as error:
                recalled(store)
            assert error.value.code == "E505"


def test_rows_of_another_run_are_damage(tmp_path):
    """Copied from a store of other data, with the keys of its splits and configurations."""
    path, other = tmp_path / "run.sqlite", tmp_path / "other.sqlite"
    fill(path)
    fill(other, y=1 - Y)
    db = sqlite3.connect(path)
    db.execute("ATTACH ? AS other", (str(other),))
    db.execute("UPDATE outcomes SET (form, data, checksum) = (SELECT form, data, checksum FROM other.outcomes AS o "
               "WHERE o.configuration = outcomes.configuration AND o.split = outcomes.split)")  # fmt: skip
    db.commit()
    db.close()
    with made(path) as store, pytest.raises(SoberError, match="is damaged"):
        recalled(store)


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
    harmless = ("importlib.metadata", "importlib.machinery", "importlib.util", "joblib.hashing")  # they only look
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
