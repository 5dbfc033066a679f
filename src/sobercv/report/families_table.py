"""Kinds of models: groups of configurations, and a table of the corrected score of the best of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..containers import as_array
from ..errors import SoberError
from ..inference.difference import Family, families
from .records import Table
from .words import between, clean, count, digits_for, family_of, metric_label, number, percent, within

BASELINE = "a constant baseline"


def families_table(search: Any) -> tuple[Table, ...]:
    """Tabulate the kinds of models that were in the race; none where there are not two."""
    procedure, table = search.question_.procedure, search.predictions_
    if search.question_.by == "fold" or (procedure is not None and procedure.stands_beside):
        return ()
    labels = [clean(label, 60) for label in labels_of(search, None)]
    if len({labels[int(c)] for part in (table, *table.dropped) for c in part.configurations}) < 2:
        return ()
    found = families(table, search.question_, labels)
    first, digits = found[0].estimate, digits_for([f.estimate.value for f in found])
    label = within(metric_label(first.metric, first.positive))
    head = ("Kind of model", "Tried", f"Honest {label}", "Interval", "Difference", "Its interval", "Won")
    rows = (
        (f.name, str(len(f.configurations)), number(f.estimate.value, digits),
         between(f.estimate.interval, digits) if f.estimate.interval else "",
         number(f.difference.value, digits, "+"), between(f.difference.interval, digits), percent(f.share))
        for f in found
    )  # fmt: skip
    return (Table("families", "Kinds of models", (head, *rows), _sentence(search, found, digits)),)


def _sentence(search: Any, found: list[Family], digits: int = 3) -> str:
    """Say which other kinds the data do not tell from the winner's; dropped ones are not among them."""
    others = [f for f in found if search.best_index_ not in f.configurations]
    left = [f for f in others if (search.race_.status[f.configurations] != "finished").all()]
    near = [f.name for f in others if f.may_be_as_good and f not in left]
    told = [
        "The best of each kind next to the best of all, both selected and judged on the same resamples; the difference "
        f"of the two has its own interval ({100 * found[0].difference.confidence_level:g} %, percentiles)."
    ]
    if above := ", ".join(f.name for f in found if round(f.difference.value, digits) > 0):  # as it is written
        told.append(
            f"Above the honest score at the top: {above}, because choosing among fewer costs less. Report the score at "
            "the top: choosing a kind from this table would be one more selection, which no number here accounts for."
        )
    if near:
        told.append(f"{count(len(near), 'other kind')} may be as good as the winner: {', '.join(near)}.")
    elif len(left) < len(others):
        told.append("The other kinds that stayed in the race are worse than the winner by more than chance explains.")
    if left:
        names = ", ".join(f.name for f in left)
        told.append(f"Dropped early and so judged on few samples, so their intervals say little: {names}.")
    return " ".join(told)


def labels_of(search: Any, by: Any) -> list[str]:
    """Return the label of every configuration, see `BBCSearchCV.families`."""
    listed: list[Mapping[str, Any]] = search.cv_results_["params"]
    if by is None:
        return [_family(search.estimator, params) for params in listed]
    if callable(by):
        return [str(by(params)) for params in listed]
    if isinstance(by, str):
        known = {name for params in listed for name in params}
        if by not in known:
            text = f"`by` must be a parameter of the search, one of {', '.join(sorted(known))}; got {by!r}."
            raise SoberError("E122", text)
        return [f"{by}={params[by]!r}" if by in params else f"no {by}" for params in listed]
    labels = as_array(by, "by")[0]
    if labels.shape != (len(listed),):
        text = f"`by` must have a label for each of the {len(listed)} configurations; got shape {labels.shape}."
        raise SoberError("E101", text)
    return list(map(str, labels.tolist()))


def _family(estimator: Any, params: Mapping[str, Any]) -> str:
    """Name the kind of model of a configuration; what tunes its penalty need not be a ridge."""
    words = family_of(_model(estimator, params))
    is_tuned = any(name.rpartition("__")[2] in ("penalty", "l1_ratio") for name in params)
    return words.removeprefix("ridge ") if is_tuned else words


def _model(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Return the model of a configuration: the last step of a pipeline, or what a parameter puts in its place."""
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        return _model(params.get(name, last), {})
    return next((value for name, value in params.items() if "__" not in name and hasattr(value, "fit")), estimator)
