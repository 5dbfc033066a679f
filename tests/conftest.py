"""One Hypothesis profile: the same examples in every run, so that a red test is a change and not chance."""

import os
import signal
import sys
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

# Before numpy is imported, here and in what tests start: two workers share two cores, and threads of linear algebra
# that wait for a core of their own made some tests three times slower.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Tests start hundreds of processes: without bytecode on disk each of them compiles scikit-learn, pandas and numba again
# and takes 8 s to start instead of 3.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# In the background of a shell and under nohup these are ignored, also by what tests start, which must hear them.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (getattr(signal, "SIGHUP", 0), signal.SIG_DFL)):
    if number and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

settings.register_profile(
    "sober", derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)
settings.load_profile("sober")


#: Left out of `make coverage`: these run the same lines again and again, and counting them takes time.
UNCOUNTED = ("/faults/", "/fuzz/", "/clusters/", "/studies/", "/presets/", "/optuna_trials/", "/oracles/",
             "test_pages", "test_endings", "test_messy_tables", "test_hostile", "test_statistics", "test_processes",
             "test_against", "test_laws", "test_docs", "test_strangers", "test_browser")  # fmt: skip


def pytest_collection_modifyitems(items):
    """Leave some tests out of the coverage, and those marked soak out of a usual run."""
    skipped = pytest.mark.skip(reason="slow; make soak runs it")
    for item in items:
        path = item.path.as_posix()
        if any(part in path for part in UNCOUNTED):
            item.add_marker("no_cover")
        if item.get_closest_marker("soak") and not os.environ.get("SOBER_SOAK"):
            item.add_marker(skipped)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    """Let worker processes serve one test after another: they end where a variable of the environment changes.

    pytest sets this one for every test, and two new workers take three seconds.
    """
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    return (yield)


@pytest.fixture(autouse=True)
def _no_figures_left_over():
    """A figure that one test leaves open must not be another test's problem."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_terminal_summary(terminalreporter):
    """Say how many inputs the fuzzers tried and how many runs were ended, over all workers.

    These are the properties "tried ..." and "ended by ..." of tests that passed.
    """
    tried, ended = Counter(), Counter()
    for report in (r for reports in terminalreporter.stats.values() for r in reports):
        if getattr(report, "when", "") == "teardown":
            tried.update({n.removeprefix("tried "): v for n, v in report.user_properties if n.startswith("tried ")})
            ended.update(
                {n.removeprefix("ended by "): v for n, v in report.user_properties if n.startswith("ended by ")}
            )
    if tried:
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(tried.items()))
        terminalreporter.write_line(f"{tried.total()} inputs of fuzzers: {kinds}")
    for kind, n in sorted(ended.items()):
        terminalreporter.write_line(f"{n} {kind}: the same bits after resume, no process left")
