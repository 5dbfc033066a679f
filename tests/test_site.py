"""The site without building it: its settings load, every public name has its entry, every page is in a table of contents.

`make docs` builds it, with warnings as errors.
"""

import re
import runpy
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import sobercv

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def entries(page, directive):
    """Names that the directives of a page list, without their options and titles."""
    found = []
    for block in re.findall(rf"{re.escape(directive)}\S*\n(.*?)```", page.read_text(), flags=re.S):
        lines = (line.strip() for line in block.splitlines())
        found += [re.sub(r".*<(.*)>", r"\1", line) for line in lines if line and not line.startswith((":", ".."))]
    return found


def test_every_public_name_has_an_entry_and_every_entry_exists():
    listed = entries(DOCS / "api.md", ".. autosummary::")
    modules = {name for name in sobercv.__all__ if "." in "".join(e for e in listed if e.startswith(f"{name}."))}
    assert set(sobercv.__all__) - modules - {"progress"} <= set(listed)
    for name in listed:
        path, _, last = f"sobercv.{name}".rpartition(".")
        found = getattr(import_module(path), last)
        assert found.__doc__, name


def test_every_page_is_in_a_table_of_contents():
    listed = {"index"}
    for page in DOCS.rglob("*.md"):
        folder = page.parent.relative_to(DOCS)
        listed |= {(folder / entry).as_posix() for entry in entries(page, "{toctree}")}
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")}
    assert pages == listed - {"gallery/index", "changelog"}  # made by `make docs`


def test_anchors_lead_to_headings():
    for page in DOCS.rglob("*.md"):
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
            text = (page.parent / target if target else page).read_text()
            headings = re.findall(r"^#+ (.+)$", text, flags=re.M)
            slugs = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
            assert anchor in slugs, f"{page.name} links to {target}#{anchor}"


def test_the_settings_load_and_name_files_that_exist():
    settings = runpy.run_path(str(DOCS / "conf.py"))
    assert settings["release"] == sobercv.__version__
    for name in [*settings["html_css_files"], *(name for name, _ in settings["html_js_files"])]:
        assert (DOCS / "_static" / name).exists()
    assert list(Path(settings["sphinx_gallery_conf"]["examples_dirs"]).glob("plot_*.py"))
    assert all(find_spec(name) for name in [*settings["extensions"], settings["html_theme"]])


def test_nothing_is_loaded_from_elsewhere():
    for file in [*(DOCS / "_static").iterdir(), *(DOCS / "images").glob("*.svg")]:
        text = file.read_text()
        assert not re.search(r"(src|href|url\()\s*=?\s*['\"(]?\s*https?:", text), file.name
        assert "@import" not in text
