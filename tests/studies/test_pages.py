"""The evidence pages and their tables are those of the committed results."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from studies.__main__ import STUDIES
from studies.harness import FOLDER, TEMPLATES, Mean, Page, agreement, all_of, fill

from studies import harness

PAGES = [page for study in STUDIES for page in import_module(f"studies.{study}").PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.__module__}.{page.__name__}")
def test_the_page_is_made_of_the_results(page):
    made = page()
    assert (FOLDER / f"{made.name}.svg").exists()
    for name, content in made.files().items():
        assert (FOLDER / name).read_text(encoding="utf-8") == content


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.md")), ids=lambda path: path.stem)
def test_a_page_leads_with_its_answer_and_ends_with_its_commands(path):
    first, *_, repeat = path.read_text(encoding="utf-8").split("\n\n")
    title, answer = first.split("\n", 1)
    assert title.startswith("# ")
    assert answer.startswith("**")
    assert answer.rstrip().endswith("**")
    assert repeat.startswith("## Repeat it\n```bash\npython -m studies ")
    assert repeat.rstrip().endswith("Results made with {versions}.")


def test_every_template_of_a_table_is_linked():
    words = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.md"))
    assert all(f"]({path.name})" in words for path in TEMPLATES.glob("*.csv"))


def test_a_page_its_tables_and_its_figure_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "TEMPLATES", tmp_path)
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    (tmp_path / "a.json").write_text('{"seed": 3}')
    (tmp_path / "a.md").write_text(
        "# Title\n**{x.min:+.1f}.**\n\n## Tables\n- [t.csv](t.csv): all\n\nMade: {versions}.\n"
    )
    (tmp_path / "t.csv").write_text('x,agrees\n"{rows[x]:,}",{rows[same]}\n')
    rows = pd.DataFrame({"x": [1000, 2], "same": [True, False]})
    made = Page("a", "a", lambda plt, numbers: plt.subplots()[0], {"rows": rows, "x": rows.x})
    assert made.files() == {
        "a.md": "# Title\n**+2.0.**\n\n## Tables\n- [t.csv](t.csv): all\n\nMade: seed 3.\n",
        "t.csv": 'x,agrees\n"1,000",yes\n2,NO\n',
    }
    made.write(tmp_path / "out")
    first = (tmp_path / "out" / "a.svg").read_bytes()
    made.write(tmp_path / "out")
    assert (tmp_path / "out" / "a.svg").read_bytes() == first


def test_paragraphs_are_wrapped_and_tables_are_repeated():
    words = (
        f"## Head\n{'word ' * 40}\n\n| a | b |\n| --- | --- |\n| {{t[x]}} | {'1' * 130} |\n\n- {'item ' * 40}\n- two"
    )
    lines = harness.page(words, {"t": pd.DataFrame({"x": ["p", "q"]})}).splitlines()
    assert [line[:5] for line in lines if line.startswith("|")] == ["| a |", "| ---", "| p |", "| q |"]
    assert all(len(line) <= 120 for line in lines if not line.startswith("|"))
    assert lines[-2].startswith("  item")
    assert lines[-1] == "- two"


def test_a_minus_never_starts_a_line():
    """Markdown would make a list item of it."""
    for length in range(100, 125):
        lines = harness.page(f"{'x' * length} K - 1 and more", {}).splitlines()
        assert not any(line.startswith("- ") for line in lines)


def test_verdicts_stand_beside_what_they_judge():
    numbers = {"m": Mean(0.5, 0.1), "x": 0.5}
    assert (
        fill("{m:near 0.6 0.05} {m:below 0.4} {m:below 0.2} {m:above 0.4}", numbers) == "cannot tell cannot tell NO yes"
    )
    assert fill("{x:near 0.6 0.1} {x:below 0.4} {x:above 0.4} {x:.2f}", numbers) == "yes NO yes 0.50"


def test_numbers_are_written_as_they_are_read():
    shown = fill("{a:share} {b:share} {nan:.2f}| {yes} {no} {none} {m:+.2f}", {
        "a": 0.9512, "b": 1.0, "nan": np.nan, "yes": np.True_, "no": False, "none": None, "m": Mean(0.5, 0.1)
    })  # fmt: skip
    assert shown == ".951 1 | yes NO cannot tell +0.50 ± 0.20"
    assert fill("{m:+.3f}", {"m": Mean.of([0.25])}) == "+0.250"


def test_statements_are_counted_as_they_are_shown():
    assert agreement(["yes"] * 3 + ["NO"] * 2 + ["cannot tell"]) == "3 of 6 agree, 1 cannot be told"
    assert agreement(["yes"]) == "1 of 1 agree"


@pytest.mark.parametrize(
    ("short_by", "error", "agrees"), [(-0.1, 1.0, True), (0.0, 0.0, True), (0.02, 0.01, None), (0.03, 0.01, False)]
)
def test_what_two_standard_errors_reach_cannot_be_told(short_by, error, agrees):
    assert Mean(short_by, error).below() is agrees
    assert Mean(0.25 - short_by, error).near(0.25, 0.0) is (True if short_by == 0 else agrees if short_by > 0 else None)
    assert all_of([True, agrees]) is agrees
    assert all_of([False, agrees]) is False
