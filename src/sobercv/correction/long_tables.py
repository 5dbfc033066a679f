"""Long tables of predictions, one row per prediction: of R's tools by their columns, of any other by its shape.

Refuses with the columns that are needed where a part is lacking: read as a wide table it would give a wrong number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..tables import Roles
from .column_names import (
    CONFIGURATION,
    FOLD,
    LABEL,
    NUMBER,
    REPEAT,
    SAMPLE,
    SUBJECT,
    TRUTH,
    joined,
    named,
    only_truth,
    plain_name,
)
from .tool_predictions import ToolPredictions

WANTED = (
    "A long table needs: sample (which row of the data), model (which configuration), y_true, and prob_<class>, score "
    "or y_pred; fold and repeat where there are any."
)
_CHANCE = re.compile(r"(?i)(?:y_?)?(?:prob|proba|probability|p|pred|score)[_. ](.+)")


def _series(frame: Any, name: str | None) -> Any:
    return None if name is None else frame[name]


def _said(predicted: Any, is_number: bool) -> dict[str, Any]:
    """Predictions as numbers or as labels."""
    return {"number" if is_number else "label": predicted}


def _chances(frame: Any, prefix: str = "prob.") -> dict[str, Any]:
    return {c.removeprefix(prefix): frame[c] for c in frame.columns if c.startswith(prefix)}


# ---- R's tools, known by their columns -----------------------------------------------------------------------------
def _tidymodels(frame: Any, roles: Roles) -> ToolPredictions:
    """Read collect_predictions() of a tuned workflow, or sober's own predictions.parquet, which has its names."""
    predicted = [c for c in frame.columns if c.startswith(".pred")]
    if not predicted:
        raise SoberError("E812", "The table has .row and .config but no .pred column. Tune with save_pred = TRUE.")
    group = roles.group or (".group" if ".group" in frame.columns else None)
    taken = {".row", ".config", ".iter", "id", "id2", *predicted, group}
    others = [c for c in frame.columns if c not in taken and not c.startswith(".decision_")]
    truth = roles.target or only_truth([c for c in others if frame.groupby(".row")[c].nunique().max() == 1])
    resample = frame["id"].astype(str) if "id" in frame.columns else None
    split = frame["id2"].astype(str) if "id2" in frame.columns else resample
    # One level of resampling: Fold01 is a fold of the only repeat; Bootstrap01 is a hold-out of its own.
    if "id2" not in frame.columns and resample is not None and resample.str.match(r"(?i)fold").all():
        resample = None
    parts = Parts(
        sample=frame[".row"], configuration=frame[".config"].astype(str), truth=frame[truth], repeat=resample,
        fold=split, group=_series(frame, group), label=frame.get(".pred_class"), number=frame.get(".pred"),
        chances={name: column for name, column in _chances(frame, ".pred_").items() if name != "class"},
    )  # fmt: skip
    is_adaptive = ".iter" in frame.columns and frame[".iter"].nunique() > 1
    return arrays_of("tidymodels", parts, roles.ignore, is_adaptive)


def _caret(frame: Any, roles: Roles) -> ToolPredictions:
    """Read train(...)$pred with savePredictions = "all"."""
    truth = roles.target or "obs"
    levels = set(frame[truth].astype(str))
    chances = {c: frame[c] for c in frame.columns if c in levels}
    taken = {*TOOLS["caret"][0], "weights", truth, *chances, roles.group}
    resample = frame["Resample"].astype(str)
    repeat = resample.str.extract(r"\.?(Rep\d+)$")[0]
    parts = Parts(
        sample=frame["rowIndex"], configuration=joined(frame, [c for c in frame.columns if c not in taken]),
        truth=frame[truth], fold=resample, group=_series(frame, roles.group), chances=chances,
        repeat=repeat if repeat.notna().all() else None if resample.str.match(r"(?i)fold").all() else resample,
        **_said(frame["pred"], frame[truth].dtype.kind in "iuf" and not chances),
    )  # fmt: skip
    return arrays_of("caret", parts, roles.ignore)


def _mlr3(frame: Any, roles: Roles) -> ToolPredictions:
    """Read as.data.table() of predictions, bound together with a column that tells configurations apart."""
    truth = roles.target or "truth"
    model = next((c for c in ("uhash", "nr", "config", "learner_id", "batch_nr") if c in frame.columns), None)
    chances, response = _chances(frame), frame.get("response")
    if response is None and not chances:
        raise SoberError("E812", "The table has row_ids and truth but neither response nor prob. columns.")
    is_number = frame[truth].dtype.kind in "iuf" and not chances and response.dtype.kind == "f"
    parts = Parts(
        sample=frame["row_ids"], configuration=joined(frame, []) if model is None else frame[model].astype(str),
        truth=frame[truth], repeat=frame["repeat"].astype(str) if "repeat" in frame.columns else None,
        fold=frame["iteration"].astype(str) if "iteration" in frame.columns else None,
        group=_series(frame, roles.group), chances=chances, **_said(response, is_number),
    )  # fmt: skip
    return arrays_of("mlr3", parts, roles.ignore, is_adaptive=model == "batch_nr" and frame[model].nunique() > 1)


def _mlr(frame: Any, roles: Roles) -> ToolPredictions:
    """Read getBMRPredictions(benchmark(..., keep.pred = TRUE), as.df = TRUE); rows of set == "train" are left out."""
    frame = frame[frame["set"].astype(str) == "test"] if "set" in frame.columns else frame
    truth, chances = roles.target or "truth", _chances(frame)
    parts = Parts(
        sample=frame["id"], configuration=frame["learner.id"].astype(str), truth=frame[truth],
        repeat=_mlr_repeat(frame), fold=frame["iter"], group=_series(frame, roles.group), chances=chances,
        **_said(frame["response"], frame[truth].dtype.kind in "iuf" and not chances),
    )  # fmt: skip
    return arrays_of("mlr", parts, roles.ignore)


def _mlr_repeat(frame: Any) -> Any:
    """Tell repeats by the number of the iteration: mlr counts through the folds of all repeats.

    Where samples are not predicted equally often (bootstraps, hold-outs), each iteration is a repeat of its own.
    """
    times = frame.groupby(["learner.id", "id"]).size()
    n_repeats, n_iterations = int(times.iloc[0]), int(frame["iter"].nunique())
    if (times == n_repeats).all() and n_iterations % n_repeats == 0:
        repeat = (frame["iter"] - 1) // (n_iterations // n_repeats)
        if not repeat.to_frame("repeat").assign(a=frame["learner.id"], b=frame["id"]).duplicated().any():
            return repeat
    return frame["iter"]


#: Columns by which a tool is known, and what reads its table.
TOOLS: dict[str, tuple[tuple[str, ...], Callable[[Any, Roles], ToolPredictions]]] = {
    "tidymodels": ((".row", ".config"), _tidymodels),
    "caret": (("rowIndex", "obs", "pred", "Resample"), _caret),
    "mlr3": (("row_ids", "truth"), _mlr3),
    "mlr": (("learner.id", "id", "truth", "response", "iter"), _mlr),
}


# ---- tables of no known tool, by their shape -----------------------------------------------------------------------
def known_reader(frame: Any) -> Callable[[Any, Roles], ToolPredictions] | None:
    """Return what reads the table of a tool that is known by its columns; None for any other."""
    return next((reader for columns, reader in TOOLS.values() if set(columns) <= set(frame.columns)), None)


def long_reader(frame: Any, roles: Roles) -> Callable[[Any, Roles], ToolPredictions] | None:
    """Return what reads this long table; None if no column names samples more than once."""
    return known_reader(frame) or (_by_shape if _sample(frame, roles) is not None else None)


def _sample(frame: Any, roles: Roles) -> str | None:
    """Return the column that tells samples apart, if it repeats as in long tables."""
    taken = {*roles.target_names, roles.group}
    # A patient may have several rows in a wide table, too; only with a column of models does it name samples.
    words = (*SAMPLE, *SUBJECT) if _configuration(frame, roles) else SAMPLE
    for name in named(frame, words, taken):
        if frame[name].duplicated().any() and frame[name].nunique() > 1:
            return name
    pairs = _pairs(frame, roles)
    return pairs[0][0] if len(pairs) == 1 else None


def _configuration(frame: Any, roles: Roles) -> str | None:
    """Return the column that names configurations."""
    found = named(frame, CONFIGURATION, {*roles.target_names, roles.group, *roles.ignore})
    return found[0] if len(found) == 1 else None


def _pairs(frame: Any, roles: Roles) -> list[tuple[str, str]]:
    """Return (sample, configuration) columns by their values: every sample with each configuration once per repeat."""
    taken = {*roles.target_names, roles.group, *roles.ignore, *named(frame, (*FOLD, *REPEAT))}
    truth = roles.target or next(iter(named(frame, TRUTH)), None)
    classes = set() if truth is None else set(frame[truth].dropna().astype(str))
    open_ = [c for c in frame.columns if c not in taken and c != truth and frame[c].dtype.kind not in "fbM"]
    texts = [c for c in open_ if frame[c].dtype.kind == "O" and _names_models(frame[c], classes)]
    repeats = named(frame, REPEAT)[:1]
    return [
        (sample, model) for model in texts for sample in open_
        if sample != model and frame[sample].nunique() * frame[model].nunique() <= len(frame)
        and frame[sample].nunique() > 2 and not frame.duplicated([sample, model, *repeats]).any()
    ]  # fmt: skip


def _names_models(column: Any, classes: set[str]) -> bool:
    """Whether a text column has a few values that are no classes, each as often as every other."""
    counts = column.value_counts()
    is_even = len(counts) > 1 and counts.min() == counts.max() >= 3
    return bool(is_even and not set(counts.index.astype(str)) <= classes)


def looks_like_models(column: Any, truth: Any) -> bool:
    """Whether a text column of a table seems to name configurations."""
    return plain_name(column.name) in CONFIGURATION or _names_models(column, set(truth.dropna().astype(str)))


def _by_shape(frame: Any, roles: Roles) -> ToolPredictions:
    """Read a long table of no known tool."""
    sample = str(_sample(frame, roles))
    kept = frame.drop(columns=[c for c in roles.ignore if c in frame.columns])
    truth = roles.target or only_truth(named(kept, TRUTH, {sample}))
    fold, repeat = next(iter(named(kept, FOLD)), None), next(iter(named(kept, REPEAT)), None)
    model = _configuration(kept, roles) or next((m for s, m in _pairs(kept, roles) if s == sample), None)
    taken = {sample, truth, model, fold, repeat, roles.group}
    if model is None and repeat is not None and not kept.duplicated([sample, repeat]).any():
        # One column per configuration and one row per repeat.
        numbers = [c for c in kept.columns if c not in taken and kept[c].dtype.kind in "iuf"]
        kept = kept[[c for c in kept.columns if c in taken or c in numbers]]
        kept = kept.melt([c for c in kept.columns if c in taken], numbers, var_name="model", value_name="score")
        model = "model"
        taken |= {model}
    if model is None:
        times = int(kept[sample].value_counts().max())
        raise SoberError(
            "E812",
            f"{sample[:40]!r} repeats (up to {times} rows per value), but no column names the configurations. {WANTED}",
        )
    labels = {str(v) for v in kept[truth].dropna().unique()}
    rest = [c for c in kept.columns if c not in taken]
    chances = {m[1]: kept[c] for c in rest if (m := _CHANCE.fullmatch(c)) and m[1] in labels}
    label = next((c for c in named(kept[rest], LABEL) if _are_labels(kept[c], kept[truth], labels)), None)
    number = next((c for c in named(kept[rest], NUMBER) if c != label and kept[c].dtype.kind in "iuf"), None)
    if not chances and label is None and number is None:
        raise SoberError("E812", f"No column of this long table holds predictions. {WANTED}")
    parts = Parts(
        sample=kept[sample], configuration=kept[model].astype(str), truth=kept[truth], repeat=_series(kept, repeat),
        fold=_series(kept, fold), group=_series(kept, roles.group), label=_series(kept, label),
        number=_series(kept, number), chances=chances,
    )  # fmt: skip
    return arrays_of(f"long table by {sample!r} and {model!r}", parts, roles.ignore)


def _are_labels(column: Any, truth: Any, labels: set[str]) -> bool:
    """Whether predictions are classes: text, or whole numbers that all occur in the truth, of few classes."""
    if column.dtype.kind == "f" or truth.dtype.kind == "f":
        return False
    return len(labels) <= 20 and {str(v) for v in column.dropna().unique()} <= labels


# ---- columns to arrays ---------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Parts:
    """Columns of a long table by the part that they play; None where a tool does not have it."""

    sample: Any
    configuration: Any
    truth: Any
    repeat: Any = None
    fold: Any = None
    group: Any = None
    label: Any = None
    number: Any = None
    chances: Mapping[str, Any] = field(default_factory=dict)


def arrays_of(tool: str, parts: Parts, ignore: Sequence[str] = (), is_adaptive: bool = False) -> ToolPredictions:
    """Bring the columns of a long table into arrays [N, C, R(, K)].

    Rows that were predicted twice in the same place are refused: then these are not out-of-fold predictions of one
    cross-validation.

    Parameters
    ----------
    ignore : sequence of str
        Configurations to leave out.
    is_adaptive : bool
        Whether later configurations were chosen by the scores of earlier ones.
    """
    keep = ~parts.configuration.isin(list(ignore)).to_numpy() & parts.truth.notna().to_numpy()
    if not keep.any():
        raise SoberError("E812", "No prediction is left: the truth is missing everywhere, or all were ignored.")
    rows, samples = _codes(parts.sample, keep)
    models, names = _codes(parts.configuration, keep)
    places, repeats = (np.zeros(len(rows), int), [0]) if parts.repeat is None else _codes(parts.repeat, keep)
    n, c, r = len(samples), len(names), len(repeats)
    flat = (rows * c + models) * r + places
    _check_once(flat, rows, models, samples, names)
    present = np.zeros(n * c * r, bool)
    present[flat] = True
    gaps = ~present.reshape(n, c, r)

    def spread(column: Any, empty: Any) -> Any:
        values = column[keep].to_numpy()
        kind = object if values.dtype.kind not in "iufb" else np.result_type(values, 0.0)
        out = np.full(n * c * r, empty, dtype=kind)
        out[flat] = values
        return np.ma.masked_array(out.reshape(n, c, r), gaps)

    y = _own(rows, n, parts.truth[keep], "truth")
    folds = None
    if parts.fold is not None:
        folds = np.zeros((n, r), int)
        folds[rows, places] = _codes(parts.fold, keep)[0]
    return ToolPredictions(
        tool=tool,
        y=y,
        responses=_responses(parts, spread, y),
        names=[str(name) for name in names],
        groups=None if parts.group is None else _own(rows, n, parts.group[keep], "group").astype(str),
        folds=folds,
        is_adaptive=is_adaptive,
        n_repeats=r,
    )


def _codes(column: Any, keep: Array) -> tuple[Array, list[Any]]:
    if column[keep].isna().any():
        raise SoberError("E812", f"The column {column.name!r} has gaps. Every prediction needs one.")
    codes, values = column[keep].factorize(sort=True)
    return np.asarray(codes), list(values)


def _check_once(flat: Array, sample: Array, configuration: Array, samples: list[Any], names: list[Any]) -> None:
    _, first, times = np.unique(flat, return_index=True, return_counts=True)
    if times.max() == 1:
        return
    worst = first[times.argmax()]
    where = f"row {samples[sample[worst]]} of configuration {str(names[configuration[worst]])[:60]!r}"
    if len(names) == 1:
        raise SoberError(
            "E813",
            f"Only one configuration can be told apart, and {where} was predicted {times.max()} times. Keep the column "
            "that tells configurations apart.",
        )
    raise SoberError(
        "E814",
        f"In one repeat {where} was predicted {times.max()} times, so these are not out-of-fold predictions of one "
        "cross-validation. Keep the column of the repeat, or save the hold-out predictions only.",
    )


def _own(sample: Array, n: int, column: Any, what: str) -> Array:
    """Return each sample's own value, the same in all its rows."""
    codes, values = column.factorize()
    own = np.full(n, -1)
    own[sample] = codes
    if (own[sample] != codes).any():
        raise SoberError("E812", f"The {what} differs between rows of the same sample. One sample has one {what}.")
    chosen = values.take(own)
    return np.asarray(chosen.to_numpy() if chosen.dtype.kind in "iufb" else np.asarray(chosen, dtype=object))


def _responses(parts: Parts, spread: Any, truth: Array) -> dict[str, Any]:
    found, label, number, chances = {}, parts.label, parts.number, parts.chances
    labels = sorted(set(truth.tolist()))
    texts = {str(one): one for one in labels}
    if number is not None:
        found["predict" if not chances and truth.dtype.kind == "f" else ""] = spread(number, 0.0)
    if label is not None:
        labelled = label.astype(str).map(texts) if truth.dtype == object else label
        if labelled.isna().any():
            raise SoberError("E110", "A predicted class does not occur in the truth. Check the labels.")
        found["predict"] = spread(labelled, labels[0])
    if chances and set(chances) >= set(texts):
        columns = [spread(chances[str(one)], 0.0) for one in labels]
        found["predict_proba"] = columns[1] if len(columns) == 2 else np.ma.stack(columns, axis=3)
    elif len(chances) == 1 and len(labels) == 2 and set(chances) <= set(texts):
        name, column = next(iter(chances.items()))
        found["predict_proba"] = spread(column if texts[name] == labels[1] else 1 - column, 0.0)
    if not found:
        raise SoberError("E812", "No column holds predictions for the classes of the truth. Check their names.")
    return found
