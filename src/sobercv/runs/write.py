"""write: everything that came out of a run, into its folder.

Takes a fitted search with what was prepared; gives the results that the screen shows. Each file is written whole.
"""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..report.html import to_html
from ..report.records import Summary
from ..report.summary import summarize
from ..tables.column_facts import column_facts
from .folder import SETTINGS, RunFolder
from .long_table import long_table
from .methods import methods, winner_of
from .model import save
from .refit import refit_script
from .settings import Settings
from .train import Prepared

#: Tables with text and more columns than this get no importance of columns: each shuffle encodes all text anew.
MOST_ENCODED = 200
PACKAGES = ("sobercv", "scikit-learn", "numpy", "scipy", "pandas", "skrub", "joblib", "scikit-survival")


def begin(folder: RunFolder, prepared: Prepared) -> Settings:
    """Write down what is going to be run, before it runs, so that it can be resumed.

    Parameters
    ----------
    folder : RunFolder
    prepared : Prepared

    Returns
    -------
    Settings
        With the path of the data made absolute; what came by standard input is kept in the folder.
    """
    table = prepared.table
    if table.path is None:
        copy = folder / f"data.{'csv' if table.format in ('csv', 'tsv') else table.format}"
        copy.write_bytes(table.raw)
        path = copy
    else:
        path = table.path
    settings = prepared.settings.with_(data=str(Path(path).resolve()))
    folder.write_json(
        SETTINGS, {"settings": settings.to_dict(), "sha256": table.sha256, "versions": versions(), "format": 1}
    )
    return settings


def stored(folder: RunFolder) -> tuple[Settings, str]:
    """Read what a run is a run of: its settings, and the fingerprint of its data."""
    held = folder.check().read_json(SETTINGS)
    settings = held.get("settings")
    return Settings.of(settings if isinstance(settings, dict) else {}), str(held.get("sha256"))


def write(search: Any, prepared: Prepared, settings: Settings, folder: RunFolder) -> dict[str, Any]:
    """Write the results of a run.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    prepared : Prepared
    settings : Settings
        With the path of the data.
    folder : RunFolder

    Returns
    -------
    dict
        What `results.json` holds.
    """
    import pyarrow.parquet as parquet

    data, planned, found = prepared.data, prepared.plan, versions()
    command = settings.command()
    title = f"{' and '.join(data.target)} in {prepared.table.name}"
    shuffles = n_shuffles(data.X)
    summary = summarize(
        search, data.X, data.y, title=title, command=command, n_permutations=shuffles, notes=prepared.findings
    )
    results = {
        **headline(summary),
        "winner": winner_of(search),
        "data": describe(prepared),
        "findings": [f.to_dict() for f in prepared.findings],
        "settings": settings.to_dict(),
        "command": command,
        "versions": found,
        "n_fits": int(search.n_fits_),
        "summary": summary.to_dict(),
    }
    script = refit_script(search, data, prepared.table, str(settings.data), found["sobercv"])
    parquet.write_table(long_table(search.predictions_, data.rows), folder / "predictions.parquet")
    save(search.best_estimator_, data, folder, {
        "score": results["score"], "versions": found, "command": command, "reading": prepared.table.record.to_dict(),
    })  # fmt: skip
    folder.write_text("refit.py", script)
    folder.write_text("METHODS.md", methods(search, planned, data, summary, found["sobercv"]))
    folder.write_text("report.html", to_html(summary))
    folder.write_json("results.json", results)
    return results


def n_shuffles(X: Any) -> int:
    """Shuffle each column as often as the patience of people allows; text takes long to encode."""
    columns = X.shape[1]
    if all(dtype.kind in "iufb" for dtype in X.dtypes):
        return 10
    return max(1, min(10, 60 // columns)) if columns <= MOST_ENCODED else 0


def headline(summary: Summary) -> dict[str, Any]:
    """Give the numbers that the screen ends with."""
    score = summary.scores[0]
    return {
        "score": {
            "metric": score.metric,
            "honest": score.value,
            "interval": None if score.interval is None else list(score.interval),
            "confidence_level": score.level,
            "naive": score.naive,
            "optimism": score.optimism,
        },
        "others": {s.metric: {"honest": s.value, "naive": s.naive} for s in summary.scores[1:]},
        "n_configurations": summary.race.n_start,
        "n_finished": sum(row.status == "finished" for row in summary.configurations),
        "n_dropped": sum(row.status == "dropped" for row in summary.configurations),
        "n_failed": sum(row.status == "failed" for row in summary.configurations),
    }


def describe(prepared: Prepared) -> dict[str, Any]:
    """Give what is in the table, as plain data."""
    data, table = prepared.data, prepared.table
    kinds = [_kind(data.X[name]) for name in data.X.columns]
    found: dict[str, Any] = {
        "file": table.name,
        "format": table.format,
        "sha256": table.sha256,
        "rows": data.n_rows,
        "rows_without_target": data.n_without_target,
        "columns": data.X.shape[1],
        "kinds": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
        "missing_cells": int(data.X.isna().sum().sum()),
        "target": list(data.target),
        "task": data.task,
        "groups": None if data.groups is None else int(data.groups.max()) + 1,
        "columns_read": [fact.to_dict() for fact in column_facts(table, data)],
    }
    if data.task == "survival":
        found["events"] = int(data.y["event"].sum())
    elif data.classes:
        found["classes"] = {str(c): int((data.y == c).sum()) for c in data.classes}
    else:
        found["range"] = [float(data.y.min()), float(data.y.max())]
    return found


def _kind(column: Any) -> str:
    kind = column.dtype.kind
    return {"M": "dates", "b": "flags"}.get(kind, "numbers" if kind in "iuf" else "text")


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that shape a result."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
