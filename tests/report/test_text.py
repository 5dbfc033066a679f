from dataclasses import replace
from pathlib import Path

import pytest

from sobercv.report import to_text
from sobercv.report.text import scale

from . import cases

GOLDEN = Path(__file__).parent / "golden.txt"


def test_golden():
    """After a wanted change: .venv/bin/python -m tests.report.test_text."""
    assert to_text(cases.by_hand()) == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", cases.CASES)
def test_every_task_can_be_written(name):
    text = to_text(cases.summary(name))
    assert "\x1b" not in text
    assert "honest score" in text
    assert text.isascii() or name == "hostile"


def test_scale_keeps_its_marks_on_the_line():
    score = cases.by_hand().scores[0]
    assert scale(score).count("o honest") == 1
    assert "[" in scale(score)
    same = replace(score, interval=None, naive=score.value)
    assert scale(same).split()[1] == "o"


if __name__ == "__main__":
    GOLDEN.write_text(to_text(cases.by_hand()), encoding="utf-8")
