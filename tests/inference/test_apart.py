"""Samples that the proposer has not seen judge alone: as a literal loop does, and without a debt to the proposals."""

import numpy as np
import pytest

import sobercv
from sobercv import Predictions
from sobercv.inference import Question, notes
from sobercv.inference.bootstrap import corrected
from sobercv.inference.tables import Table
from sobercv.testing import simulate


def test_agrees_with_a_literal_loop():
    data = simulate.beta_accuracy(n=60, c=8, seed=2)
    table = Predictions.build(data.y, data.predictions, task="classification")
    judges = np.arange(60) % 3 == 0
    apart = Table(table, Question.ask("accuracy", n_bootstraps=50), judges=judges)
    found = corrected(apart)["accuracy"]
    right = (data.predictions == data.y[:, None]).astype(float)
    for b, counts in enumerate(apart.units.counts(0, 50)):
        winner = int(np.argmax(counts @ right))  # the first of equals
        absent = [i for i in range(60) if counts[i] == 0 and judges[i]]
        assert found.draws[b] == pytest.approx(right[absent, winner].mean(), abs=1e-12)
    assert found.winner == int(np.argmax(right.sum(axis=0)))
    assert found.naive == right.mean(axis=0).max()
    assert found.interval_method == "percentile"
    assert [note.code for note in found.notes] == ["W201"]


def test_proposals_that_only_suit_what_was_looked_at_win_nothing():
    """Columns that guess, the best of many on half of the samples: plain BBC believes them, judging apart does not."""
    values = {"bbc": [], "apart": []}
    for repetition in range(60):
        rng = np.random.default_rng(repetition)
        y, seen = rng.permutation(np.arange(60) % 2), np.arange(60) % 2 == 0
        guesses = rng.integers(0, 2, (60, 1000))
        proposed = np.argsort(-(guesses == y[:, None])[seen].sum(axis=0), kind="stable")[:20]
        table = Predictions.build(y, guesses[:, proposed], task="classification")
        values["bbc"].append(sobercv.bbc(None, table, "accuracy", n_bootstraps=100).value)
        values["apart"].append(
            corrected(Table(table, Question.ask("accuracy", n_bootstraps=100), judges=~seen))["accuracy"].value
        )
    error = np.std(values["apart"], ddof=1) / np.sqrt(60)
    assert abs(np.mean(values["apart"]) - 0.5) < 5 * error
    assert np.mean(values["bbc"]) > 0.55


def test_the_note_says_how_much_is_left():
    note = notes.adaptive(90, 180)
    assert note.code == "W811"
    assert "200 trials on 100 samples" in note.text
