"""The evidence pages and their tables are those of the committed results."""

from importlib import import_module

import numpy as np
import pytest
from studies.__main__ import STUDIES
from studies.evidence import FOLDER, Claim, Evidence, Table, agreement, all_of, filled, markdown, within

PAGES = [page for study in STUDIES for page in import_module(f"studies.{study}").PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.__module__}.{page.__name__}")
def test_the_page_is_made_of_the_results(page):
    made = page()
    assert (FOLDER / f"{made.name}.md").read_text(encoding="utf-8") == made.page()
    assert (FOLDER / f"{made.name}.svg").exists()
    for table in made.tables:
        assert (FOLDER / f"{table.name}.csv").read_text(encoding="utf-8") == table.as_csv()


def test_a_page_leads_with_its_answer_and_ends_with_its_commands(tmp_path):
    def draw(plt):
        return plt.subplots()[0]

    made = Evidence(
        "a", "Title", "Yes.", "A figure", draw, "Text.", [Table("t", "all", ["x"], [["1"]])], "python -m studies a --x"
    )
    assert made.page() == (
        "# Title\n**Yes.**\n\n![A figure](a.svg)\n\nText.\n\n## Tables\n- [t.csv](t.csv): all\n\n"
        "## Repeat it\n```bash\npython -m studies a --x   # measures what is missing; then page\n"
        "python -m studies a --page   # the page alone\n```\n"
    )
    made.write(tmp_path)
    assert (tmp_path / "t.csv").read_text() == "x\n1\n"
    first = (tmp_path / "a.svg").read_bytes()
    made.write(tmp_path)
    assert (tmp_path / "a.svg").read_bytes() == first


def test_paragraphs_are_filled_and_tables_are_not():
    table = markdown(("a", "b|c"), [("1" * 130, "2")])
    assert "b\\|c" in table
    text = filled(f"## Head\n{'word ' * 40}\n\n{table}\n\n- {'item ' * 40}\n- two")
    assert table in text
    assert all(len(line) <= 120 for line in text.splitlines() if not line.startswith("|"))
    assert text.splitlines()[-2].startswith("  item")
    assert text.endswith("- two")


def test_statements_are_counted_as_they_are_shown():
    answers = (True, np.True_, np.float64(0.1) < 0.2, False, np.False_, None)
    claims = [Claim("6.1", "a | claim", "0.1", "0.2", answer) for answer in answers]
    assert [claim.cells()[4] for claim in claims] == ["yes"] * 3 + ["NO"] * 2 + ["cannot tell"]
    assert agreement(claims) == "3 of 6 agree, 1 cannot be told"


@pytest.mark.parametrize(
    ("short_by", "error", "agrees"), [(-0.1, 1.0, True), (0.0, 0.0, True), (0.02, 0.01, None), (0.03, 0.01, False)]
)
def test_what_two_standard_errors_reach_cannot_be_told(short_by, error, agrees):
    assert within(short_by, error) is agrees
    assert all_of([True, agrees]) is agrees
    assert all_of([False, agrees]) is False
