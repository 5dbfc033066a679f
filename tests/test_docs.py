"""The documentation is true: every block of Python runs, every code has its entry, every doctest holds."""

import doctest
import importlib
import pkgutil
import re
import warnings
from pathlib import Path

import pytest

import sobercv
from sobercv.errors import CODES

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = sorted(m.name for m in pkgutil.walk_packages(sobercv.__path__, "sobercv.") if not m.name.endswith("__main__"))


NUMBER = r"\d+(?:\.\d+)?"


def blocks(page: Path) -> list[str]:
    return [code for code, _ in shown(page)]


def shown(page: Path) -> list[tuple[str, str]]:
    """Give each block of Python with what the page says it prints: a block of text right below."""
    pattern = r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```)?"
    return re.findall(pattern, page.read_text() + "\n", flags=re.M | re.S)


def same(printed: str, on_the_page: str) -> bool:
    """Whether the words are the same, and the numbers nearly: another processor rounds in another way."""
    numbers = zip(re.findall(NUMBER, printed), re.findall(NUMBER, on_the_page), strict=False)
    return re.sub(NUMBER, "#", printed) == re.sub(NUMBER, "#", on_the_page) and all(
        a == b or abs(float(a) - float(b)) < (0.02 * max(1, float(b)) if "." in a else 5) for a, b in numbers
    )


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, (block, output) in enumerate(shown(page)):
            capsys.readouterr()
            exec(compile(block, f"{page.name}, block {i + 1}", "exec"), names)
            assert not output or same(capsys.readouterr().out, output), f"{page.name}, what block {i + 1} prints"


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_every_code_has_an_entry_and_no_entry_lacks_a_code():
    entries = re.findall(
        r"^\| ([EWS]\d+) \| ([^|]+) \| [^|]{20,} \|$", (ROOT / "docs" / "codes.md").read_text(), flags=re.M
    )
    assert entries == list(CODES.items())


def test_every_code_is_used_and_every_code_that_is_used_has_an_entry():
    sources = [path for path in (ROOT / "src").rglob("*.py") if path.name != "errors.py"]
    used = {code for path in sources for code in re.findall(r"\b[EWS]\d{3}\b", path.read_text())}
    assert used == set(CODES)


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "ARCHITECTURE.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            made = "examples/gallery/GALLERY_HEADER.rst" if target.startswith("gallery/") else None  # by `make docs`
            assert (ROOT / made if made else page.parent / target).exists(), f"{page.name} links to {target}"
