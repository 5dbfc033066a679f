"""scikit-learn's own tests that name its searches, run with ours in their place: what fails is what the page lists.

The modules are those of the installed scikit-learn; a plugin replaces the names before they are imported. It takes
minutes: `make soak`.
"""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

TABLE = Path(__file__).parents[2] / "docs" / "migration-tests.csv"
SKLEARN = Path(sklearn.__file__).parent
#: Where scikit-learn tests its searches; the other modules use them in passing.
MAIN = "sklearn.model_selection.tests.test_search"
#: How many of them passed when this was written; fewer is a step back.
LEAST = 120
#: Imported before the tests are, so that they find our classes under scikit-learn's names.
PLUGIN = f"""
import inspect
import re

import sklearn.model_selection

import sobercv

sklearn.model_selection.GridSearchCV = sobercv.BBCSearchCV
sklearn.model_selection.RandomizedSearchCV = sobercv.BBCRandomizedSearchCV


def names_a_search(item):
    if item.module.__name__ in ("{MAIN}", "sklearn.tests.test_metaestimators"):
        return True
    ours = r"BBC\\w*SearchCV|\\b(Grid|Randomized)SearchCV"
    return re.search(ours, item.nodeid + inspect.getsource(item.function)) is not None


def pytest_collection_modifyitems(config, items):
    config.hook.pytest_deselected(items=[item for item in items if not names_a_search(item)])
    items[:] = [item for item in items if names_a_search(item)]
"""


def modules() -> list[str]:
    """Test modules of the installed scikit-learn that name a search, the main one first; none without its tests."""
    name = re.compile(r"\b(Grid|Randomized)SearchCV")
    found = [path for path in SKLEARN.rglob("test_*.py") if name.search(path.read_text())]
    names = sorted(".".join(path.relative_to(SKLEARN.parent).with_suffix("").parts) for path in found)
    return sorted(names, key=lambda name: name != MAIN)


def listed(is_main: bool) -> dict[str, str]:
    """Test names and reasons of the table beside the migration page."""
    with TABLE.open(newline="") as file:
        return {row["test"]: row["why"] for row in csv.DictReader(file) if (row["module"] == "its own") == is_main}


def run(names: list[str], folder: Path) -> tuple[set[str], dict[str, int]]:
    """Give the names of the tests that failed, and how many passed, failed and were skipped."""
    (folder / "replaced_searches.py").write_text(PLUGIN)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-p", "replaced_searches",
         "-c", os.devnull, "--rootdir", ".", "--pyargs", *names],
        cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    failed = set(re.findall(r"^(?:FAILED|ERROR) .*::(\w+)", done.stdout, flags=re.M))
    last = done.stdout.splitlines()[-1]
    return failed, {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped|error)", last)}


needs_tests = pytest.mark.skipif(MAIN not in modules(), reason="scikit-learn is installed without its tests")


@needs_tests
def test_every_listed_test_has_a_reason_and_exists():
    for is_main in (True, False):
        names = [name for name in modules() if (name == MAIN) is is_main]
        sources = [(SKLEARN.parent / name.replace(".", "/")).with_suffix(".py").read_text() for name in names]
        assert listed(is_main)
        assert [test for test in listed(is_main) if not any(f"def {test}(" in source for source in sources)] == []


@needs_tests
@pytest.mark.skipif(not os.environ.get("SOBER_SOAK"), reason="takes minutes; make soak runs it")
@pytest.mark.parametrize("is_main", [True, False], ids=["searches", "other modules"])
def test_exactly_the_listed_tests_of_scikit_learn_fail(is_main, tmp_path, capsys):
    failed, counts = run([name for name in modules() if (name == MAIN) is is_main], tmp_path)
    with capsys.disabled():
        print(f"\nscikit-learn's tests of searches, {'their own module' if is_main else 'other modules'}: {counts}")
    assert sorted(failed - listed(is_main).keys()) == []
    always = {name for name, reason in listed(is_main).items() if not reason.startswith("sometimes")}
    assert sorted(always - failed) == [], "listed, but they pass"
    if is_main:
        assert counts["passed"] >= LEAST
