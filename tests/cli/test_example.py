"""sober example: a table for a first try, in an empty folder."""

import pytest

from sobercv.cli.examples import TABLES


@pytest.mark.parametrize("name", TABLES)
def test_the_command_that_is_said_works_on_the_table(sober, name):
    ended = sober("example", name)
    assert ended.code == 0
    line = next(x for x in ended.err.splitlines() if x.startswith("Try: sober "))
    words = line.removeprefix("Try: sober ").split()
    tried = sober("check", *words[1:-2]) if words[0] == "fit" else sober(*words)
    assert tried.code == 0, tried.err


def test_what_is_there_stays(sober, tmp_path):
    assert sober("example", "clinic").code == sober("example", "clinic").code == 0
    (tmp_path / "oof.csv").write_text("mine")
    ended = sober("example", "oof")
    assert (ended.code, (tmp_path / "oof.csv").read_text()) == (2, "mine")
    assert "E809" in ended.err
    assert sober("example", "oof", "-o", "other.csv").code == 0
    assert "breast_cancer, clinic, oof" in sober("example", "iris").err
