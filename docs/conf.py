"""The site: Markdown pages of this folder, the reference from docstrings, the gallery from examples/gallery.

`make docs` copies this folder to build/ and builds the copy. Nothing on the site is loaded from elsewhere: fonts,
search and scripts lie beside the pages.
"""

from pathlib import Path
from typing import Any

from sphinx_gallery.sorting import FileNameSortKey

import sobercv

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "pyproject.toml").exists())

project = "sober"
author = "The sober developers"
copyright = author
version = release = sobercv.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
default_role = "code"  # a name in single backticks is a name
maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
templates_path = ["_templates"]
exclude_patterns = ["_templates"]
suppress_warnings = ["config.cache"]  # functions in the gallery's settings cannot be pickled

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # docstrings say it in words
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": FileNameSortKey,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 60,
    "download_all_examples": False,
    "remove_config_comments": True,
    # A notebook runs where the repository is not.
    "first_notebook_cell": f"%pip install --quiet 'sobercv[plot]>={release}' pandas",
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "sober"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("resample.js", {"defer": "defer"})]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "sober"},
    "navbar_center": [],
    "navbar_align": "content",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
}
html_sidebars = {"**": ["site-navigation"]}


def write_changelog(app: Any) -> None:
    """Make the page of changes from CHANGELOG.md, whose links start at the root of the repository."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (Path(app.srcdir) / "changelog.md").write_text(text.replace("](docs/", "]("), encoding="utf-8")


def setup(app: Any) -> None:
    """Connect what is made before the pages are read."""
    app.connect("builder-inited", write_changelog)
