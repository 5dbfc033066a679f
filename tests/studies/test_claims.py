"""Claims of the paper: counted as they are shown, whatever kind of boolean a comparison gave."""

import numpy as np
import pytest
from studies.claims import Claim, as_rows, as_text, summary, told


def claim(agrees):
    return Claim("6.1", "a | claim", "0.1", "0.2", agrees)


def test_the_last_line_counts_what_the_others_say():
    given = [claim(v) for v in (True, np.True_, np.float64(0.1) < 0.2, False, np.False_, None)]
    lines = as_text(given).splitlines()
    assert sum(line.startswith("agrees") for line in lines) == 3
    assert sum(line.startswith("DISAGREES") for line in lines) == 2
    assert lines[-1] == summary(given) == "3 of 6 agree, 1 cannot be told"


def test_a_table_has_one_row_per_claim():
    heads, rows = as_rows([claim(np.True_), claim(None)])
    assert rows[0] == ("6.1", "a | claim", "0.1", "0.2", "yes", "")
    assert len(heads) == len(rows[0])
    assert "cannot tell" in rows[1]


@pytest.mark.parametrize(
    ("short_by", "error", "agrees"), [(-0.1, 1.0, True), (0.0, 0.0, True), (0.02, 0.01, None), (0.03, 0.01, False)]
)
def test_what_two_standard_errors_reach_cannot_be_told(short_by, error, agrees):
    assert told(short_by, error) is agrees
