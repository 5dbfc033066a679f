"""One question for all: whatever reads an option reads it in the same place, and checks it once."""

from dataclasses import replace

import numpy as np
import pytest

import sobercv
from sobercv.inference import Question, tables
from sobercv.inference.tables import open_table

RNG = np.random.default_rng(19)
Y = np.arange(60) % 2
P = np.where(RNG.random((60, 8)) < np.linspace(0.6, 0.8, 8), Y[:, None], 1 - Y[:, None])
FOLDS = np.arange(60) % 5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("protocol", [sobercv.naive, sobercv.tibshirani, sobercv.nested])
def test_all_protocols_pick_the_same_winner_by_standard_errors(protocol, seed):
    """Standard errors are drawn, so the winner depends on the seed: the same one everywhere."""
    options = {"select": "simplest_within", "random_state": seed}
    bbc = sobercv.bbc(Y, P, "accuracy", n_bootstraps=10, **options)
    found = protocol(Y, P, "accuracy", folds=FOLDS, **options)
    assert (found.winner, found.naive, found.seed) == (bbc.winner, bbc.naive, seed)


def test_the_seed_matters_there():
    winners = {sobercv.naive(Y, P, "accuracy", select="simplest_within", random_state=s).winner for s in range(4)}
    assert len(winners) > 1


def test_standard_errors_are_drawn_once(monkeypatch):
    drawn = []
    table = open_table(P, Question.ask("accuracy", select="simplest_within", n_bootstraps=300, n_jobs=2), y=Y)
    plain = tables.spread
    monkeypatch.setattr(tables, "spread", lambda scores: drawn.append(1) or plain(scores))
    sobercv.inference.bbc.corrected(table)
    assert drawn == [1]


def test_nested_selection_compares_within_folds_where_asked():
    """Scores of a fold are shifted: pooled pairs mislead, pairs within folds do not."""
    rng = np.random.default_rng(0)
    shift = 100.0 * FOLDS[:, None] * np.array([1, 0])
    p = np.column_stack([Y + 0.3 * rng.normal(size=60), Y + 1.5 * rng.normal(size=60)]) + shift
    pooled, within = (sobercv.nested(Y, p, "roc_auc", folds=FOLDS, aggregate=a) for a in ("pooled", "within_folds"))
    assert (pooled.winner, within.winner) == (1, 0)
    by_fold = [sobercv.naive(Y[f == FOLDS], p[f == FOLDS][:, :1], "roc_auc").value for f in range(5)]
    assert within.value == pytest.approx(np.mean(by_fold), abs=1e-12)


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ({"aggregate": "mean"}, "E122", '"within_folds"; got .mean'),
        ({"by": "row"}, "E122", '"sample" or "fold"; got .row'),
        ({"n_bootstraps": 0}, "E108", "n_bootstraps.*0"),
        ({"confidence_level": 95}, "E108", "95.*0.95"),
        ({"select": "worst"}, "E122", "worst"),
        ({"random_state": -1}, "E108", "random_state.*-1"),
        ({"by": "fold", "stratify": True}, "E114", "stratify"),
        ({"aggregate": "within_folds"}, "E114", "within_folds.*accuracy"),
        ({"n_jobs": 0}, "E108", "n_jobs"),
    ],
)
def test_checked_when_made(options, code, says):
    with pytest.raises(sobercv.SoberError, match=says) as caught:
        Question.ask("accuracy", **options)
    assert caught.value.code == code


def test_a_variant_is_checked_as_well():
    question = Question.ask("roc_auc", stratify=True)
    with pytest.raises(sobercv.SoberError, match="E114"):
        replace(question, by="fold")
    assert replace(question, by="fold", stratify=False).aggregate == "fold"


def test_strata_of_numbers_are_refused_once_the_target_is_known():
    question = Question.ask(lambda y, p: 0.0, stratify=True)
    with pytest.raises(sobercv.SoberError, match=r"stratify.*E114"):
        question.for_target(np.linspace(0, 1, 30))


def test_a_list_is_answered_with_a_dict():
    one, several = (sobercv.naive(Y, P, metric) for metric in ("accuracy", ["accuracy"]))
    assert several.keys() == {"accuracy"}
    assert several["accuracy"].value == one.value
