"""Claims of the paper: counted as they are shown, whatever kind of boolean a comparison gave."""

import numpy as np
from studies.claims import Claim, as_markdown, as_text, summary


def claim(agrees):
    return Claim("6.1", "a | claim", "0.1", "0.2", agrees)


def test_the_last_line_counts_what_the_others_say():
    given = [claim(v) for v in (True, np.True_, np.float64(0.1) < 0.2, False, np.False_, None)]
    lines = as_text(given).splitlines()
    assert sum(line.startswith("agrees") for line in lines) == 3
    assert sum(line.startswith("DISAGREES") for line in lines) == 2
    assert lines[-1] == summary(given) == "3 of 6 claims agree, 1 cannot be told"


def test_a_table_keeps_its_cells():
    table = as_markdown([claim(np.True_), claim(None)])
    assert table.splitlines()[2] == "| 6.1 | a \\| claim | 0.1 | 0.2 | yes |  |"
    assert "cannot tell" in table
