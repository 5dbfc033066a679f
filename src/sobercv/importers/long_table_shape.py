"""Long tables of no known tool, recognised by their shape: one row per prediction.

Refuses with the columns that are wanted where a part is lacking. Such a table read as a wide one would give a wrong
number.
"""

from __future__ import annotations

import re
from typing import Any

from ..errors import SoberError
from ..tables import Roles
from .column_names import CONFIGURATION, FOLD, REPEAT, SAMPLE, SUBJECT, TRUTH, named, only_truth, plain_name
from .imported import ImportedPredictions, Parts, arrays_of

WANTED = (
    "A long table needs: sample (which row of the data), model (which configuration), y_true, and prob_<class>, score "
    "or y_pred; fold and repeat where there are any."
)
_CHANCE = re.compile(r"(?i)(?:y_?)?(?:prob|proba|probability|p|pred|score)[_. ](.+)")
_LABEL = frozenset(
    {"y_pred", "ypred", "pred", "pred_class", "predicted", "prediction", "predicted_class", "yhat", "y_hat"}
)
_NUMBER = frozenset({
    "prob", "proba", "probability", "score", "y_prob", "y_proba", "y_score", "decision", "risk", "pred", "prediction",
    "predicted", "y_pred", "ypred", "yhat", "y_hat",
})  # fmt: skip


def is_long_table(frame: Any, roles: Roles) -> bool:
    """Whether some column names samples more than once."""
    return _sample(frame, roles) is not None


def _sample(frame: Any, roles: Roles) -> str | None:
    """Return the column that tells samples apart, if it repeats as in long tables."""
    taken = {*roles.target_names, roles.group}
    # A patient may have several rows in a wide table, too; only with a column of models does it name samples.
    words = SAMPLE | SUBJECT if _configuration(frame, roles) else SAMPLE
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
    """Return (sample, configuration) columns by their values: every sample with every configuration, once a repeat."""
    taken = {*roles.target_names, roles.group, *roles.ignore, *named(frame, FOLD | REPEAT)}
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
    return plain_name(str(column.name)) in CONFIGURATION or _names_models(column, set(truth.dropna().astype(str)))


def read_long_table(frame: Any, roles: Roles) -> ImportedPredictions:
    """Read a long table of no known tool."""
    sample = str(_sample(frame, roles))
    kept = frame.drop(columns=[c for c in roles.ignore if c in frame.columns])
    truth = roles.target or only_truth(named(kept, TRUTH, {sample}))
    fold, repeat = next(iter(named(kept, FOLD)), None), next(iter(named(kept, REPEAT)), None)
    model = _configuration(kept, roles) or next((m for s, m in _pairs(kept, roles) if s == sample), None)
    taken = {sample, truth, model, fold, repeat, roles.group}
    if model is None and repeat is not None and not kept.duplicated([sample, repeat]).any():
        kept, model = _melted(kept, [c for c in kept.columns if c not in taken]), "model"
        taken |= {model}
    if model is None:
        times = int(kept[sample].value_counts().max())
        raise SoberError(
            "E812",
            f"{sample[:40]!r} repeats (up to {times} rows a value), but no column names the configurations. {WANTED}",
        )
    labels = {str(v) for v in kept[truth].dropna().unique()}
    rest = [c for c in kept.columns if c not in taken]
    chances = {m[1]: kept[c] for c in rest if (m := _CHANCE.fullmatch(c)) and m[1] in labels}
    label = next((c for c in rest if plain_name(c) in _LABEL and _are_labels(kept[c], kept[truth], labels)), None)
    number = next((c for c in rest if plain_name(c) in _NUMBER and c != label and kept[c].dtype.kind in "iuf"), None)
    if not chances and label is None and number is None:
        raise SoberError("E812", f"No column of this long table holds predictions. {WANTED}")
    parts = Parts(
        sample=kept[sample],
        configuration=kept[model].astype(str),
        repeat=None if repeat is None else kept[repeat],
        fold=None if fold is None else kept[fold],
        truth=kept[truth],
        group=None if roles.group is None else kept[roles.group],
        label=None if label is None else kept[label],
        number=None if number is None else kept[number],
        chances=chances,
    )
    return arrays_of(f"long table by {sample!r} and {model!r}", parts, roles.ignore)


def _are_labels(column: Any, truth: Any, labels: set[str]) -> bool:
    """Whether predictions are classes: text, or whole numbers that all occur in the truth, of few classes."""
    if column.dtype.kind == "f" or truth.dtype.kind == "f":
        return False
    return len(labels) <= 20 and {str(v) for v in column.dropna().unique()} <= labels


def _melted(frame: Any, columns: list[str]) -> Any:
    """Make one row per prediction of a table that has a column for each configuration and a row for each repeat."""
    numbers = [c for c in columns if frame[c].dtype.kind in "iuf"]
    others = [c for c in frame.columns if c not in columns]
    return frame.melt(id_vars=others, value_vars=numbers, var_name="model", value_name="score")
