"""refit.py: a script that trains the winner again with pandas and scikit-learn alone.

Takes a fitted search and how its table was read, gives the text of the script; never runs it. Wrappers of sober's own
become the classes that they wrap, SES becomes the columns that it chose, and what has no equal outside is copied.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import numpy as np

from ..tables import Dataset, Table
from .vendored import Vendored

_SCRIPT = '''"""Trains the winner again, without sober.

Made by sober {version}.  Usage: python refit.py [table] [file for predictions]
"""

import sys

{imports}

PATH = sys.argv[1] if len(sys.argv) > 1 else {path!r}
{vendored}
table = {read}
table.columns = [str(name) for name in table.columns]
table = table.dropna(subset={target!r})
X = table.drop(columns={left_out!r}).reset_index(drop=True)
{y}

model = {model}
model.fit(X, y)

if len(sys.argv) > 2:
    pd.DataFrame({{"prediction": model.predict(X)}}).to_csv(sys.argv[2], index=False)
else:
    print(model)
'''


def refit_script(search: Any, data: Dataset, table: Table, path: str, version: str) -> str:
    """Write the script.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    data : Dataset
    table : Table
    path : str
        Where the table lies.
    version : str
        Of sober.
    """
    writer = _Writer()
    model = writer.source(search.best_estimator_, 0)
    imports = {"import pandas as pd": None, **writer.imports, **writer.vendored.imports}
    if data.task == "survival" or writer.vendored.text:
        imports["import numpy as np"] = None
    if table.code.startswith("pyarrow"):
        imports["import pyarrow.ipc"] = None
    vendored = (
        f"\n\n# Copied from sobercv, so that this script needs none.\n{writer.vendored.text}\n\n"
        if writer.vendored.text
        else ""
    )
    future = "from __future__ import annotations\n\n" if vendored else ""
    text = _SCRIPT.format(
        version=version,
        imports="\n".join(sorted(imports, key=lambda line: (line.startswith("from"), line))),
        path=path,
        vendored=vendored,
        read=table.code,
        target=list(data.target),
        left_out=list(data.roles),
        y=_target(data),
        model=model,
    )
    return text.replace("import sys\n", f"{future}import sys\n", 1)


def _target(data: Dataset) -> str:
    if data.task == "survival":
        time, event = data.target
        return (
            f'y = np.empty(len(table), [("event", bool), ("time", float)])\n'
            f'y["event"], y["time"] = {_events(event, data.event_value)}, table[{time!r}].to_numpy()'
        )
    column = f"table[{data.target[0]!r}]"
    if data.task == "regression":
        return f"y = {column}.to_numpy(dtype=float)"
    if data.y.dtype == object:
        return f"y = {column}.astype(str).to_numpy(dtype=object)"
    return f"y = {column}.to_numpy(dtype={data.y.dtype.name!r})"


def _events(name: str, value: str | None) -> str:
    column = f"table[{name!r}]"
    if value is None:
        return f'{column}.astype(str).isin(["1", "1.0", "True"]).to_numpy()'
    return (
        f'{column}.astype(str).str.strip().str.removesuffix(".0").eq({value.strip().removesuffix(".0")!r}).to_numpy()'
    )


class _Writer:
    """Writes fitted estimators as the code that makes them."""

    def __init__(self) -> None:
        self.imports: dict[str, None] = {}
        self.vendored = Vendored()

    def source(self, value: Any, depth: int) -> str:
        """Give the code of a value; pipelines get one line a step."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and value != value:
            return 'float("nan")'
        if isinstance(value, (list, tuple)):
            inner = ", ".join(self.source(v, depth) for v in value)
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
        if isinstance(value, np.ndarray):
            return self.source(value.tolist(), depth)
        if inspect.isclass(value):
            return self._name(value)
        return self._estimator(value, depth) if hasattr(value, "get_params") else repr(value)

    def _estimator(self, value: Any, depth: int) -> str:
        from sklearn.frozen import FrozenEstimator
        from sklearn.pipeline import Pipeline

        from ..presets import SES

        if isinstance(value, FrozenEstimator):  # the script trains what is frozen here
            return self.source(value.estimator, depth)
        if isinstance(value, SES):
            self.imports["from sklearn.compose import ColumnTransformer"] = None
            # SES itself lives in sober; on the same rows it chooses these columns.
            return f'ColumnTransformer([("chosen", "passthrough", {value.get_support(indices=True).tolist()})])'
        if isinstance(value, Pipeline):
            self.imports["from sklearn.pipeline import Pipeline"] = None
            pad = "    " * (depth + 1)
            steps = "".join(f"{pad}({name!r}, {self.source(step, depth + 1)}),\n" for name, step in value.steps)
            return f"Pipeline([\n{steps}{'    ' * depth}])"
        kind: Any = _outside(type(value))
        given = _changed(kind, value)
        return f"{self._name(kind)}({', '.join(f'{k}={self.source(v, depth)}' for k, v in given.items())})"

    def _name(self, kind: Any) -> str:
        """Import a class by its public path, or copy it where it is sober's own."""
        if _is_own(kind):
            self.vendored.add(kind)
            return str(kind.__name__)
        name, parts = str(kind.__name__), kind.__module__.split(".")
        for n in range(1, len(parts) + 1):
            path = ".".join(parts[:n])
            if getattr(import_module(path), name, None) is kind:
                self.imports[f"from {path} import {name}"] = None
                break
        return name


def _is_own(kind: Any) -> bool:
    return str(kind.__module__).split(".")[0] == "sobercv"


def _outside(kind: Any) -> Any:
    """Give the class that a wrapper of sober's wraps; the class itself where it wraps none."""
    if not _is_own(kind):
        return kind
    for parent in kind.__mro__:
        if not _is_own(parent) and hasattr(parent, "fit") and "__init__" in vars(parent):
            return parent
    return kind


def _changed(kind: Any, value: Any) -> dict[str, Any]:
    """Give the parameters that differ from the defaults of the class that will be written."""
    changed = {}
    for name, parameter in inspect.signature(kind.__init__).parameters.items():
        if name == "self" or not hasattr(value, name) or name in ("verbose", "n_jobs"):
            continue
        setting = getattr(value, name)
        if repr(setting) != repr(parameter.default):
            changed[name] = setting
    return changed
