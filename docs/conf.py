"""The documentation site: `make docs` builds it, from the root of the repository.

The pages are those that GitHub shows, with links that hold in both places; so the source directory
is the whole repository, of which only these files are pages. Notebooks are shown with the outputs
that they are committed with; tests execute them.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

import tracejit

project = "tracejit"
author = "the authors of tracejit"
copyright = f"{author}. Apache License 2.0"
version = release = tracejit.__version__

extensions = ["myst_nb"]
root_doc = "docs/index"
GUIDE = ["quickstart", "gallery", "sharp-bits", "coming-from", "faq", "transforms", "control-flow",
         "solvers", "extending", "reading", "debugging", "profile", "tensorflow"]
REFERENCE = ["api", "coverage", "refusals", "codes", "numerics", "gauntlet"]
PROJECT = ["docs/design", "benchmarks/results", "examples/data/README", "CONTRIBUTING", "CHANGELOG"]

include_patterns = ["docs/*.md", "notebooks/*.ipynb", "benchmarks/results.md", "CHANGELOG.md",
                    "CONTRIBUTING.md", "examples/data/README.md"]
exclude_patterns = [".*", "build", "tests", "tracejit", "codegen", "**/__pycache__"]

nitpicky = True
nb_execution_mode = "off"
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # printed graphs in blocks without a language

html_theme = "furo"
html_title = "tracejit"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_extra_path = ["_site"]
html_copy_source = False
html_show_sphinx = False


def navigation() -> str:
    """Return the tables of contents: pages of `docs/` that no list names are part of the guide."""
    pages = {page.stem for page in Path(__file__).parent.glob("*.md")}
    guide = [name for name in GUIDE if name in pages]
    guide += sorted(pages - {*GUIDE, *REFERENCE, "index", "design"})
    notebooks = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(entries) + "\n```\n"
        for caption, entries in {
            "Guide": [f"/docs/{name}" for name in guide],
            "Notebooks": [f"/notebooks/{path.stem}" for path in notebooks],
            "Reference": [f"/docs/{name}" for name in REFERENCE],
            "Project": [f"/{name}" for name in PROJECT]}.items())


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the tables of contents at the end of the first page, where GitHub does not show them."""
    if page == root_doc:
        source[0] += navigation()


def read_first_page_again(app: Sphinx, *_: object) -> list[str]:
    """Return the pages to be read though they are as they were: others may have come."""
    return [root_doc]


def setup(app: Sphinx) -> None:
    """Connect what this file adds."""
    app.connect("env-get-outdated", read_first_page_again)
    app.connect("source-read", add_navigation)
