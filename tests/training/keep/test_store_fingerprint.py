"""Fingerprints: equal for what trains alike, in every process; different for everything else."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from sobercv.errors import SoberError
from sobercv.training.keep.cache import Manifest
from sobercv.training.keep.fingerprint import digest, fingerprint


class Mine(TransformerMixin, BaseEstimator):
    FACTOR = 2

    def __init__(self, k=1):
        self.k = k

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X * self.k * self.FACTOR


def adder(a):
    return lambda x: x + a


def frame(**changes):
    return pd.DataFrame(
        {
            "a": [1, 2],
            "b": ["x", None],
            "c": pd.Categorical(["u", "v"]),
            "d": pd.array([1, None], dtype="Int64"),
            "e": pd.to_datetime(["2020", "2021"]),
            **changes,
        }
    )


def fitted(shift):
    return FrozenEstimator(LogisticRegression().fit(np.arange(8.0)[:, None] + shift, [0, 1] * 4))


def eye(scale=1.0, kind="csr"):
    return sparse.eye_array(3, format=kind) * scale


#: Every two of these are different.
VALUES = [
    None, True, 1, 1.0, -0.0, 0.0, "1", b"1", [1], (1,), {1}, {"a": 1}, {"a": 1.0}, np.float32(0.1), 0.1, np.nan,
    np.arange(3), np.arange(3.0), np.arange(3.0)[:, None], np.array(["a", "b"]), np.array(["a", 1], object),
    np.ma.masked_array([1, 2], [0, 1]), np.ma.masked_array([1, 2], [1, 0]),
    np.array([(True, 1.5)], dtype=[("e", bool), ("t", float)]),
    eye(), eye(2.0),
    frame(), frame().set_index(pd.Index([7, 8])), frame().set_index(pd.Index(["u", "v"])),
    frame().set_index(pd.Index([0, 1], name="id")), frame().set_index(pd.MultiIndex.from_tuples([(0, 1), (0, 2)])),
    frame(a=np.array([1, 2], np.int32)), frame(c=pd.Categorical(["u", "v"], ordered=True)),
    frame(c=pd.Categorical(["u", "v"], categories=["v", "u"])), pd.Series([1, 2]), pd.Series([1, 2], name="a"),
    frame(a=[1, 3]), frame(b=["x", "y"]), frame(c=["u", "v"]), frame().rename(columns={"a": "A"}),
    pl.DataFrame({"a": [1, 2], "b": ["x", None]}), pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}), pl.Series("a", [1, 2]),
    pl.DataFrame({"a": [[1], [2, 3]]}), pa.table({"a": [1, None], "b": ["x", None]}), pa.table({"a": [1, 2]}),
    SVC(), SVC(C=2), SVC(C=2.0), make_pipeline(StandardScaler(), SVC()), make_pipeline(StandardScaler(), SVC(C=3)),
    make_pipeline(StandardScaler().set_output(transform="pandas"), SVC()),
    make_pipeline(SelectKBest(f_classif, k=2), SVC()),
    RandomForestClassifier(random_state=0), RandomForestClassifier(random_state=np.random.RandomState(0)),
    RandomForestClassifier(random_state=np.random.RandomState(1)), np.random.default_rng(1),
    GridSearchCV(SVC(), {"C": [1]}, cv=StratifiedKFold(3)), GridSearchCV(SVC(), {"C": [1]}, cv=StratifiedKFold(4)),
    RBF(2.0) + WhiteKernel(), RBF(3.0) + WhiteKernel(), Mine(), Mine(2), Mine,
    FunctionTransformer(np.log1p), FunctionTransformer(adder(3)), FunctionTransformer(adder(4)),
    FunctionTransformer(lambda x: x * 2), FunctionTransformer(lambda x: x * 3), functools.partial(np.add, 3), np.add,
    fitted(0), fitted(1), slice(1, 2), range(3), Path("a"), max, Mine().transform,
]  # fmt: skip


def test_different_values_differ():
    texts = [fingerprint(value, set()) for value in VALUES]
    assert len(set(texts)) == len(texts)


def test_every_process_says_the_same(tmp_path):
    code = "from tests.training.keep.test_store_fingerprint import VALUES, digest; print([digest(v) for v in VALUES])"
    root = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONHASHSEED": "1"}  # this process has another
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True).stdout
    assert said == f"{[digest(v) for v in VALUES]}\n"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([(1, 2), (1, 2)], [(1, 2)] * 2),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: 2, "a": 3, int: 4}, {int: 4, "a": 3, 1: 2}),
        (eye(), eye(kind="csc")),
        (SVC(), SVC(C=1.0, kernel="rbf")),
        (SVC(C=2), SVC(C=2).fit([[0], [1]], [0, 1])),
        (RandomForestClassifier(n_jobs=2, verbose=1), RandomForestClassifier()),
        (frame(), frame().copy()),
        (frame()[["a"]].assign(f=1), pd.DataFrame({"a": [1, 2], "f": [1, 1]})),
    ],
)
def test_what_trains_alike_is_alike(a, b):
    assert digest(a) == digest(b)


def test_an_edited_class_is_another_one():
    def define(factor):
        class Edited(Mine):
            def transform(self, X):
                return X * factor if factor > 1 else super().transform(X)

        return Edited

    def decorated(power):
        @functools.lru_cache
        def inner(x):
            return x**power

        return inner

    assert digest(define(2)()) == digest(define(2)())
    assert digest(define(2)()) != digest(define(3)())
    assert digest(decorated(2)) != digest(decorated(3))


def test_objects_inside_themselves_are_refused():
    loop: list = []
    loop.append(loop)
    with pytest.raises(SoberError, match="nested too deeply"):
        digest(loop)


def test_what_cannot_be_told_is_refused():
    with pytest.raises(SoberError) as error:
        digest({"a": (i for i in range(3))})
    assert error.value.code == "E602"


def test_manifests_survive_json():
    asked = {"the seed": (str(2**63), str(2**63)), "the estimator": ("0a", "é")}
    manifest = Manifest({"X": "1"}, {"m.f": "0a"}, {"python": "3"}, asked, ["a"], {"k": "{'C': 1}"})
    back = Manifest(**json.loads(manifest.to_json()))
    assert back.to_json() == manifest.to_json()
    assert int(back.asked["the seed"][0]) == 2**63
    assert not back.differences(manifest)
