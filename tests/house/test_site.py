"""The documentation site: it is built without a warning, and needs no network to be read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REMOTE = re.compile(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["'](?:https?:)?//[^"']+""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-c", "docs",
         "-d", str(folder / "doctrees"), ".", str(folder / "html")],
        cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_every_page_and_notebook_is_there(site: Path) -> None:
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("notebooks/*.ipynb")]
    assert pages
    for page in pages:
        assert (site / page.relative_to(ROOT)).with_suffix(".html").exists()
    first = (site / "docs" / "index.html").read_text(encoding="utf-8")
    for page in pages:
        if page.stem != "index":
            assert f"{page.stem}.html" in first


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert REMOTE.findall(page.read_text(encoding="utf-8")) == [], page.name
    for style in site.rglob("*.css"):
        assert "url(http" not in style.read_text(encoding="utf-8")


def test_what_is_loaded_from_elsewhere_is_found() -> None:
    assert REMOTE.search('<script async="async" src="https://cdn.example.org/x.js"></script>')
    assert REMOTE.search('<link rel="stylesheet" href="//example.org/x.css">')
    assert not REMOTE.search('<a href="https://example.org">x</a><script src="_static/x.js">')


def test_the_root_leads_to_the_first_page(site: Path) -> None:
    assert "url=docs/index.html" in (site / "index.html").read_text(encoding="utf-8")


def test_outputs_of_notebooks_are_shown(site: Path) -> None:
    page = (site / "notebooks" / "02_reading_the_ir.html").read_text(encoding="utf-8")
    assert "-- backward" in re.sub(r"<[^>]+>", "", page)
