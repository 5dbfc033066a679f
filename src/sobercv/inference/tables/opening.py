"""Opens the table that suits the inputs and the question; whatever cannot be answered is refused here or by the table.

Takes `Inputs` and a `Question`, gives a `Table`. A new way to hold predictions is a file beside this one, and a place
in `STREAMED`.
"""

from __future__ import annotations

from typing import Any

from ... import sources
from ...errors import SoberError, warn
from ...predictions import Predictions
from .. import notes
from ..question import Question
from .base import Table
from .bins import BinTable
from .columns import ColumnTable
from .folds import FoldTable
from .inputs import Inputs
from .memory import MemoryTable
from .raced import RacedTable
from .rows import RowTable
from .streamed import StreamedTable

#: Tables that are read in blocks; the first that suits is taken: histograms where asked for, then the cheapest.
STREAMED: tuple[type[StreamedTable], ...] = (BinTable, RowTable, ColumnTable)


def open_table(inputs: Inputs, question: Question) -> Table:
    """Open the predictions, wherever they are, for a question that resamples them."""
    given = inputs.predictions
    streamed = sources.recognise(given if inputs.approximate is False else sources.stream(given))
    if isinstance(given, Predictions) and given.leavers:
        _refuse_twice(inputs)
        return open_predictions(given, question, inputs.counts)
    if streamed is None:
        table: Table = open_memory(inputs, question)
    else:
        if inputs.seen is not None:
            raise SoberError(
                "E118",
                "`seen` is not available for predictions that are read in blocks. Leave it out, or load them: pass a "
                "numpy array.",
            )
        kind = next(kind for kind in STREAMED if kind.suits(inputs, question))
        table = kind(*streamed, inputs, question)
    return FoldTable(table, inputs.counts) if question.by == "fold" else table


def open_predictions(table: Predictions, question: Question, counts: Any = None) -> Table:
    """Open a finished table; those who left the race before its end take part."""
    if table.leavers:
        return RacedTable(table, table.leavers, question, counts)
    return MemoryTable(table, question, counts)


def open_memory(inputs: Inputs, question: Question) -> MemoryTable:
    """Open predictions that are in memory, as all protocols but the bootstrap need them."""
    counts = inputs.counts if question.by == "sample" else None
    if isinstance(inputs.predictions, Predictions):
        _refuse_twice(inputs)
        return MemoryTable(inputs.predictions, question, counts)
    question = question.for_target(inputs.y)
    table = Predictions.build(
        inputs.y,
        inputs.predictions,
        task=question.first.task,
        responses=question.responses,
        folds=inputs.folds,
        groups=inputs.groups,
        seen=inputs.seen,
        sample_weight=inputs.sample_weight,
        pos_label=inputs.pos_label,
    )
    lacking = notes.left_out(table.n_left_out, table.n_configurations)
    if lacking is not None:
        warn(lacking.code, lacking.text)
    return MemoryTable(table, question, counts)


def _refuse_twice(inputs: Inputs) -> None:
    """Refuse what a table of predictions holds already."""
    for name in ("groups", "folds", "sample_weight", "seen", "pos_label"):
        if getattr(inputs, name) is not None:
            raise SoberError("E114", f"`{name}` is part of a Predictions table already; leave it out here.")
