"""noted: what is warned of with a code while something runs, as notes.

Takes nothing, gives a list that is filled when the block ends; other people's warnings are left out. Never prints.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import Note, SoberWarning


@contextmanager
def noted() -> Iterator[list[Note]]:
    """Collect warnings, each said once: ``with noted() as notes: ...``."""
    notes: list[Note] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SoberWarning)
        yield notes
    said = [Note(w.message.code, w.message.message) for w in caught if isinstance(w.message, SoberWarning)]
    notes.extend(dict.fromkeys(said))
