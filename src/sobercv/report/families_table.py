"""The table of families: for each kind of model the corrected score of its best, and how far it is from the winner.

Takes a fitted search, gives a `Table`; None where all configurations are of one kind, or where they are mixed.
"""

from __future__ import annotations

from typing import Any

from ..inference.difference import Family, families
from .grouping import labels_of
from .records import Table
from .words import between, clean, count, digits_for, metric_label, number, percent, signed, within


def families_table(search: Any) -> Table | None:
    """Tabulate the kinds of models that were in the race.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    """
    procedure = search.question_.procedure
    if search.question_.by == "fold" or (procedure is not None and procedure.stands_beside):
        return None
    labels, table = labels_of(search, None), search.predictions_
    if len({labels[int(c)] for part in (table, *table.leavers) for c in part.configurations}) < 2:
        return None
    found = families(search.predictions_, search.question_, labels)
    digits = digits_for([family.estimate.value for family in found])
    label = metric_label(found[0].estimate.metric, found[0].estimate.positive)
    head = ("Kind of model", "Tried", f"Honest {within(label)}", "Interval", "Difference", "Its interval", "Won")
    return Table("families", "Kinds of models", (head, *(_row(f, digits) for f in found)), _sentence(search, found))


def _row(family: Family, digits: int) -> tuple[str, ...]:
    estimate, gap = family.estimate, family.difference
    interval = "" if estimate.interval is None else between(estimate.interval, digits)
    return (
        clean(family.name, 60),
        str(len(family.configurations)),
        number(estimate.value, digits),
        interval,
        signed(gap.value, digits),
        between(gap.interval, digits),
        percent(family.share),
    )


def _sentence(search: Any, found: list[Family]) -> str:
    """Say which other kinds the data do not tell from the winner's; who left the race is not among them."""
    others = [f for f in found if search.best_index_ not in f.configurations]
    left = [f for f in others if (search.race_.status[f.configurations] != "finished").all()]
    near = [clean(f.name, 60) for f in others if f.may_be_as_good and f not in left]
    text = (
        "The best of each kind beside the best of all, both selected and judged on the same resamples; the difference "
        f"of the two has an interval of its own ({100 * found[0].difference.confidence_level:g} %, percentiles). A "
        "kind can be above the best of all, because choosing among fewer costs less. "
    )
    if near:
        text += f"{count(len(near), 'other kind')} may be as good as the winner: {', '.join(near)}."
    elif len(left) < len(others):
        text += "The other kinds that stayed in the race are worse than the winner by more than chance explains."
    if left:
        names = ", ".join(clean(f.name, 60) for f in left)
        text += " Left the race early with hardly a chance to win; few samples judge them, so that their wide "
        text += f"intervals say little: {names}."
    return text.replace("  ", " ")
