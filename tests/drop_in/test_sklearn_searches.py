"""scikit-learn's own tests of its searches, run with ours in their place: what fails is what docs/migration.md lists.

The module is taken from the installed scikit-learn and copied into a temporary folder. It takes minutes: `make soak`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn.model_selection

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"
MODULE = Path(sklearn.model_selection.__file__).parent / "tests" / "test_search.py"
#: How many passed when this was written; fewer is a step back.
LEAST = 96
#: Imported before the tests are, so that they find our classes under scikit-learn's names.
CONFTEST = """
import sklearn.model_selection

import sobercv

sklearn.model_selection.GridSearchCV = sobercv.BBCSearchCV
sklearn.model_selection.RandomizedSearchCV = sobercv.BBCRandomizedSearchCV
"""


def expected() -> dict[str, str]:
    """Test names and reasons of the table in the migration page."""
    return dict(re.findall(r"^\| `(test_\w+)` \| (.+) \|$", PAGE.read_text(), flags=re.M))


def test_every_listed_test_has_a_reason_and_exists():
    source = MODULE.read_text() if MODULE.exists() else pytest.skip("scikit-learn is installed without its tests")
    assert expected()
    assert [name for name in expected() if f"def {name}(" not in source] == []


@pytest.mark.skipif(not os.environ.get("SOBER_SOAK"), reason="takes minutes; make soak runs it")
def test_only_the_listed_tests_of_scikit_learn_fail(tmp_path, capsys):
    if not MODULE.exists():
        pytest.skip("scikit-learn is installed without its tests")
    shutil.copy(MODULE, tmp_path / "test_search.py")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "test_search.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    failed = set(re.findall(r"^(?:FAILED|ERROR) test_search\.py::(\w+)", run.stdout, flags=re.M))
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped)", run.stdout.splitlines()[-1])}
    with capsys.disabled():
        print(f"\nscikit-learn's tests of searches: {counts}")
    assert sorted(failed - set(expected())) == []
    assert counts["passed"] >= LEAST
