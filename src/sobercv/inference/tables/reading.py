"""How a block of a table that is read in blocks becomes checked predictions.

Takes numbers or labels as they are stored, gives `Predictions` of the block, checked as a table in memory is checked.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from ...containers import Array
from ...errors import SoberError
from ...predictions import Predictions
from ...responses import read_response
from ...targets import Target


@dataclass(frozen=True, eq=False)
class Reading:
    """How numbers become labels or probabilities; small enough to travel with every block."""

    target: Target  # without its values
    responses: tuple[str, ...]
    response: str

    def table(self, values: Array, y: Array, weight: Array | None, start: int) -> Predictions:
        """Check a block as a table in memory is checked, and give it as one."""
        n = len(values)
        seen = np.ones((n, 1), bool)
        try:
            found = read_response(self.response, values[:, :, None], seen, self.target, self.responses)
            table = Predictions(
                target=replace(self.target, values=y),
                responses={found[0]: found[1]},
                seen=seen,
                fold_of=np.zeros((n, 1), np.int64),
                sample_weight=weight,
            )
        except SoberError as problem:
            raise SoberError(problem.code, f"In rows {start:,} to {start + n - 1:,}: {problem.message}") from None
        return table

    def check_kinds(self, kinds: Collection[str]) -> None:
        """Refuse blocks that were read in two ways, if that is not the same thing.

        Blocks of nothing but 0 and 1 pass for labels where others show that they are probabilities. With the classes 0
        and 1 that is the same thing; with others it is not.
        """
        both = {"predict", "predict_proba"} <= set(kinds)
        if both and not (self.target.classes is not None and self.target.classes.tolist() == [0, 1]):
            raise SoberError(
                "E110",
                "`predictions` looks like labels in some blocks and like probabilities in others. Say which it is: "
                'pass {"predict": ...} or {"predict_proba": ...}.',
            )
