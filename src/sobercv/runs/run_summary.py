"""summarize_run: the report of a run in plain data, as much of it as time and wishes allow.

Takes a fitted search and its data, gives a `Summary`. When it is late, the importance of columns is left out first,
then the charts, and the summary says so. Never draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..report.records import Summary
from ..report.summary import summarize
from .deadline import Deadline
from .prepared import Prepared
from .settings import Settings

#: Text takes long to encode: so many shuffles of all columns together, where a table holds text.
ENCODED_SHUFFLES = 60


def summarize_run(
    search: Any,
    prepared: Prepared,
    settings: Settings,
    deadline: Deadline,
    report: str,
    on_phase: Callable[[str], object],
) -> Summary:
    """Say what the report says.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    prepared : Prepared
    settings : Settings
    deadline : Deadline
    report : {"full", "fast", "none"}
    on_phase : callable
        Hears what goes on.
    """
    data = prepared.data
    on_phase(f"shuffling {data.X.shape[1]:,} columns for their importance, drawing the charts")
    return summarize(
        search, data.X, data.y, title=f"{' and '.join(data.target)} in {prepared.table.name}",
        command=settings.command(), n_permutations=n_shuffles(data.X) if report == "full" else 0,
        notes=prepared.findings,
    )  # fmt: skip


def n_shuffles(X: Any) -> int:
    """Give how often each column is shuffled: ten times, less where text must be encoded anew each time.

    Parameters
    ----------
    X : pandas.DataFrame
    """
    if all(dtype.kind in "iufb" for dtype in X.dtypes):
        return 10
    return max(1, min(10, ENCODED_SHUFFLES // X.shape[1]))
