"""The evidence pages and their tables are those of the committed results."""

from importlib import import_module

import pytest
from studies.evidence import FOLDER, Evidence, Table, filled, markdown
from studies.excess import page as excess

STUDIES = ("adaptive", "beyond", "folds", "intervals", "racing", "real", "simulation", "tuned")


PAGES = [*(import_module(f"studies.{study}.page").evidence for study in STUDIES), *excess.PAGES]


@pytest.mark.parametrize("page", PAGES)
def test_the_page_is_made_of_the_results(page):
    made = page()
    assert (FOLDER / f"{made.name}.md").read_text(encoding="utf-8") == made.page()
    assert (FOLDER / f"{made.name}.svg").exists()
    for table in made.tables:
        assert (FOLDER / f"{table.name}.csv").read_text(encoding="utf-8") == table.as_csv()


def test_no_table_lacks_a_page():
    found = [page() for page in PAGES]
    assert {path.stem for path in FOLDER.glob("*.csv")} >= {table.name for made in found for table in made.tables}


def test_a_page_leads_with_its_answer_and_ends_with_its_commands():
    made = Evidence("a", "Title", "Yes.", "A figure", "Text.", [Table("t", "all", ["x"], [["1"]])], "python -m a", {})
    assert made.page() == (
        "# Title\n**Yes.**\n\n![A figure](a.svg)\n\nText.\n\n## Tables\n- [t.csv](t.csv): all\n\n"
        "## Repeat it\n```bash\npython -m a\n```\n"
    )
    assert made.tables[0].as_csv() == "x\n1\n"


def test_paragraphs_are_filled_and_tables_are_not():
    table = markdown(("a", "b|c"), [("1" * 130, "2")])
    assert "b\\|c" in table
    text = filled(f"## Head\n{'word ' * 40}\n\n{table}\n\n- {'item ' * 40}\n- two")
    assert table in text
    assert all(len(line) <= 120 for line in text.splitlines() if not line.startswith("|"))
    assert text.splitlines()[-2].startswith("  item")
    assert text.endswith("- two")
