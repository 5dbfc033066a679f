"""Resume and extend: the same call goes on, a larger one fits only what is new, another one is refused."""

import contextlib
import os
import shutil
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.errors import SoberError, SoberWarning
from sobercv.training import RoundEnded
from tests.faults import runs
from tests.training.training_estimators import Troubled


class Stop(Exception):
    pass


def stop_after(n):
    """A drop rule that ends the run from inside, after so many rounds."""

    def rule(predictions, question, index):
        if index == n:
            raise Stop

    return rule


@pytest.fixture
def fits(tmp_path, monkeypatch):
    """Count the fits that were begun since the last question."""
    log = tmp_path / "fits.log"
    monkeypatch.setenv("SOBER_FIT_LOG", str(log))
    asked = [0]

    def new():
        before, asked[0] = asked[0], len(runs.fits(log))
        return asked[0] - before

    return new


@pytest.mark.parametrize(("rounds", "n_jobs"), [(0, None), (1, None), (4, None), (7, None), (4, 2)])
def test_a_stopped_run_goes_on(tmp_path, fits, rounds, n_jobs):
    path = tmp_path / "run.sqlite"
    truth = runs.search(None)
    total = fits()
    with pytest.raises(Stop):
        runs.search(path, drop=stop_after(rounds))
    before = fits()
    assert before == (rounds + 1) * 8
    found = runs.search(path, n_jobs=n_jobs)
    assert runs.bits(found) == runs.bits(truth)
    if n_jobs is None:
        # Without its rule the first part has fitted what the rule would have dropped; nothing else is left over.
        assert fits() <= total - 8
    again = runs.search(path)
    assert runs.bits(again) == runs.bits(truth)
    for name in ("mean_fit_time", "std_fit_time", "mean_score_time"):
        np.testing.assert_array_equal(again.cv_results_[name], found.cv_results_[name])


def test_a_run_that_was_out_of_time_goes_on(tmp_path):
    path = tmp_path / "run.sqlite"
    truth = runs.bits(runs.search(None))
    for limit in (0.05, 0.2, 0.4):
        # An early end gives an incomplete result, or none at all where no round was done.
        with contextlib.suppress(SoberError), warnings.catch_warnings():
            warnings.simplefilter("ignore", SoberWarning)
            runs.search(path, seconds=0.005, max_seconds=limit)
    assert runs.bits(runs.search(path, seconds=0.005)) == truth


def test_later_rounds_on_disk_do_not_leak_into_earlier_ones(tmp_path):
    path = tmp_path / "run.sqlite"
    runs.search(path, drop=None)  # everything, by everybody
    assert runs.bits(runs.search(path)) == runs.bits(runs.search(None))


def test_more_repeats(tmp_path, fits):
    path = tmp_path / "run.sqlite"
    runs.search(path, n_repeats=1)
    first = fits()
    found = runs.search(path, n_repeats=3)
    second = fits()
    assert runs.bits(found) == runs.bits(runs.search(None, n_repeats=3))
    assert first + second == fits()
    assert runs.bits(runs.search(path, n_repeats=2)) == runs.bits(runs.search(None, n_repeats=2))  # a part of it


def test_more_configurations(tmp_path, fits):
    path = tmp_path / "run.sqlite"
    few, many = {"C": [0.01, 1.0], "flip": [False]}, {"C": [0.001, 0.01, 0.1, 1.0], "flip": [True, False]}
    runs.search(path, grid=few, drop=None)
    assert fits() == 2 * 8
    found = runs.search(path, grid=many, drop=None)
    assert fits() == 6 * 8
    assert runs.bits(found) == runs.bits(runs.search(None, grid=many, drop=None))
    assert runs.bits(runs.search(path, grid=many)) == runs.bits(runs.search(None, grid=many))  # with another rule


def test_equal_configurations_are_fitted_each(tmp_path, fits):
    path, grid = tmp_path / "run.sqlite", {"C": [1.0, 1.0], "flip": [False]}
    truth = runs.bits(runs.search(None, grid=grid))
    fits()
    assert runs.bits(runs.search(path, grid=grid)) == truth
    assert fits() == 16
    assert runs.bits(runs.search(path, grid=grid)) == truth
    assert fits() == 0


def test_random_searches_grow(tmp_path, fits):
    from scipy.stats import loguniform

    path, space = tmp_path / "run.sqlite", {"C": loguniform(0.01, 10)}
    runs.search(path, grid=space, n_iter=3, drop=None)
    found = runs.search(path, grid=space, n_iter=5, drop=None)
    assert fits() == 40
    assert runs.bits(found) == runs.bits(runs.search(None, grid=space, n_iter=5, drop=None))


def test_without_a_seed_the_file_knows_it(tmp_path, fits):
    path = tmp_path / "run.sqlite"
    first = runs.search(path, random_state=None)
    fits()
    second = runs.search(path, random_state=None)
    assert second.seed_ == first.seed_
    assert fits() == 0
    assert runs.bits(first) == runs.bits(second)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"X": runs.X + 1e-12}, "the data (X)"),
        ({"X": runs.X.astype(np.float32)}, "the data (X)"),
        ({"y": runs.Y[::-1]}, "the data (y)"),
        ({"y": runs.Y[::-1], "X": -runs.X}, "the data (X, y)"),
        ({"cv": 5}, "the folds"),
        ({"cv": ShuffleSplit(3, random_state=0), "n_repeats": 1}, "the folds"),
        ({"random_state": 1}, "the seed (was 0; is 1)"),
        ({"grid": {"C": [0.01, 7.0], "flip": [False, True]}}, "the grid (6 of 8 stored configurations"),
        ({"estimator": runs.Logged(seconds=1e-9)}, "seconds=1e-09)"),
        ({"estimator": DecisionTreeClassifier(), "grid": {"max_depth": [1]}}, "the estimator (was tests.faults"),
    ],
)
def test_another_run_is_refused_and_the_difference_named(stored, changes, words):
    before = stored.read_bytes()
    with pytest.raises(SoberError) as error:
        runs.search(stored, **changes)
    assert error.value.code == "E502"
    assert words in str(error.value)
    assert stored.read_bytes() == before


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "run.sqlite"
    runs.search(path)
    return path


def plain(store, scoring="roc_auc", X=runs.X, y=runs.Y, **options):
    made = sobercv.BBCSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scoring, cv=3, n_bootstraps=30, store=store
    )
    return made.fit(X, y, **options)


def test_scoring_groups_and_weights(tmp_path):
    path = tmp_path / "run.sqlite"
    plain(path)
    plain(path, ["roc_auc", "average_precision"])  # asks for the same predictions
    for options, words in [
        ({"scoring": "accuracy"}, "was decision_function or predict_proba; is predict"),
        ({"sample_weight": np.arange(1.0, 61)}, "sample_weight"),
        ({"groups": np.arange(60) // 2}, "groups"),
    ]:
        with pytest.raises(SoberError, match=words) as error:
            plain(path, **options)
        assert error.value.code == "E502"


def test_failures_are_stored_by_name(tmp_path):
    path = tmp_path / "run.sqlite"
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    grid = {"trouble": ["none", "raise", "strange"], "size": [0, 1]}
    found = []
    for _ in range(2):
        search = sobercv.BBCSearchCV(Troubled(), grid, scoring="accuracy", cv=3, n_bootstraps=30, store=path)
        with pytest.warns(SoberWarning, match="4 of 6 configurations failed"):
            found.append(search.fit(X, y))
    first, second = (search.race_.failures for search in found)
    assert first == second
    assert first[4].traceback == second[4].traceback != ""
    assert runs.bits(found[0]) == runs.bits(found[1])
    with pytest.raises(RuntimeError, match="no luck today"):  # met again, not read
        sobercv.BBCSearchCV(Troubled(), grid, scoring="accuracy", cv=3, store=path, error_score="raise").fit(X, y)


@pytest.mark.parametrize("kind", ["labels of three classes", "probabilities", "numbers", "pandas"])
def test_every_kind_of_prediction(tmp_path, kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.array(["a", "b", "c"])[np.arange(60) % 3]
    model, scoring = make_pipeline(StandardScaler(), LogisticRegression()), "accuracy"
    grid = {"logisticregression__C": [0.1, 1.0, 10.0]}
    if kind == "probabilities":
        scoring = ["neg_log_loss", "accuracy"]
    if kind == "numbers":
        y, model, scoring, grid = X[:, 0], Ridge(), "r2", {"alpha": [0.1, 1.0]}
    if kind == "pandas":
        X, y = pd.DataFrame(X, columns=list("uvw")), pd.Series(y)
    options = {"scoring": scoring, "cv": 3, "n_bootstraps": 30}
    truth, first, second = (
        sobercv.BBCSearchCV(model, grid, store=path, **options).fit(X, y)
        for path in (None, tmp_path / "run.sqlite", tmp_path / "run.sqlite")
    )
    for found in (first, second):
        for name, values in truth.predictions_.responses.items():
            np.testing.assert_array_equal(found.predictions_.responses[name], values)
            assert found.predictions_.responses[name].dtype == values.dtype


def test_other_versions_are_named_and_refused(tmp_path, monkeypatch):
    path = tmp_path / "run.sqlite"
    truth = runs.bits(runs.search(path))
    monkeypatch.setattr("sobercv.training.keep.fingerprint.platform.python_version_tuple", lambda: ("2", "7", "18"))
    with pytest.raises(SoberError, match=r"the installed versions \(python 3\.\d+, now 2\.7\)") as error:
        runs.search(path)
    assert error.value.code == "E502"
    monkeypatch.undo()
    assert runs.bits(runs.search(path)) == truth


def test_the_index_of_a_table_is_part_of_the_data(tmp_path):
    """An estimator may read the index; other rows under the same numbers are other data."""
    X, y = pd.DataFrame(runs.X, index=np.arange(60)), runs.Y
    plain(tmp_path / "run.sqlite", X=X, y=y)
    with pytest.raises(SoberError, match=r"the data \(X\)") as error:
        plain(tmp_path / "run.sqlite", X=X.set_index(np.arange(60) + 1), y=y)
    assert error.value.code == "E502"
    with pytest.raises(SoberError, match=r"the data \(X\)"):
        plain(tmp_path / "run.sqlite", X=X.astype({0: np.float32}), y=y)


class Unlucky(LogisticRegression):
    """Fails with what the machine did when a file says so."""

    def fit(self, X, y, sample_weight=None):
        said = os.environ.get("UNLUCKY", "")
        if said and self.C == 10:
            if said == "hidden":
                try:
                    raise OSError("the disk is away")
                except OSError as error:
                    raise ValueError("nothing to read") from error
            raise {"MemoryError": MemoryError, "OSError": PermissionError, "ImportError": ModuleNotFoundError}[said](
                "no"
            )
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("said", ["MemoryError", "OSError", "ImportError", "hidden"])
def test_what_the_machine_did_is_tried_again(tmp_path, monkeypatch, said):
    """A failure of the machine is no verdict on the configuration: the resumed winner is the one of a quiet hour."""
    grid = {"C": [1e-6, 10.0]}

    def best():
        made = sobercv.BBCSearchCV(
            Unlucky(), grid, scoring="neg_log_loss", cv=3, n_bootstraps=30, store=tmp_path / "run.sqlite"
        )
        return made.fit(runs.X, runs.Y).best_params_["C"]

    monkeypatch.setenv("UNLUCKY", said)
    with pytest.warns(SoberWarning, match="1 of 2 configurations failed"):
        assert best() == 1e-6
    monkeypatch.delenv("UNLUCKY")
    assert best() == 10


@pytest.mark.parametrize("path", ["", " ", ":memory:", "/dev/null", "file:run.sqlite", "file:run?mode=memory", b"run"])
def test_a_store_that_would_keep_nothing_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SoberError, match="must be the path of a file") as error:
        plain(path)
    assert error.value.code == "E123"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="files that are open can be deleted")
@pytest.mark.parametrize("how", ["delete", "replace", "folder"])
def test_a_store_that_is_deleted_during_the_run_is_said_and_the_run_goes_on(tmp_path, how):
    truth = runs.bits(runs.search(None))
    path = tmp_path / "folder" / "run.sqlite"
    path.parent.mkdir()

    def vanish(event):
        if isinstance(event, RoundEnded) and event.round == 2:
            if how == "folder":
                shutil.rmtree(path.parent)
            else:
                path.unlink()
            if how == "replace":
                path.write_text("somebody else's")

    with pytest.warns(SoberWarning, match="cannot be resumed") as caught:
        found = runs.search(path, on_event=vanish)
    assert [w.message.code for w in caught if isinstance(w.message, SoberWarning)] == ["W501"]
    assert runs.bits(found) == truth
    assert path.exists() == (how == "replace")
    assert how != "replace" or path.read_text() == "somebody else's"
