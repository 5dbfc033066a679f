"""What choosing cost is said where it is a lot, or nothing."""

import numpy as np
import pytest

from sobercv.inference import Estimate
from sobercv.inference.intervals import Percentile
from sobercv.runs.fit import choice_noted


def estimate(value, naive, interval, n=33):
    return Estimate(
        value=value, naive=naive, winner=0, configurations=np.arange(n), scores=np.zeros(n), method="bbc",
        metric="roc_auc", bounds=interval and Percentile(np.array(interval)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "naive", "interval", "n", "code"),
    [
        (0.60, 0.75, (0.5, 0.7), 33, "W702"),
        (0.60, 0.69, (0.5, 0.7), 33, None),
        (0.779, 0.7791, (0.771, 0.787), 33, "S805"),
        (0.60, 0.62, (0.5, 0.7), 33, None),
        (0.60, 0.75, (0.5, 0.7), 1, None),
        (0.60, 0.75, None, 33, None),
    ],
)
def test_a_note_where_choosing_cost_a_lot_or_nothing(value, naive, interval, n, code):
    notes = choice_noted(estimate(value, naive, interval, n))
    assert [note.code for note in notes] == ([] if code is None else [code])


def test_the_sentence_names_the_gap():
    text = choice_noted(estimate(0.60, 0.75, (0.5, 0.7)))[0].text
    assert text.startswith("Choosing the best of 33 configurations cost 0.150, more than half the width")
