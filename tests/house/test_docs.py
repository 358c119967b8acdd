"""The documentation: its programs are run, and the outputs that it shows are the outputs now.

In README.md and docs/*.md a block of ```python is run, in the order of the page, each as a file
`example.py` of its own with the names of earlier blocks; not if its fence says `python no-run`,
or `python needs=NAME` and this library is not installed. A block of ```text that follows it is its
output. `--golden` writes these blocks, the figures of the README, docs/api.md, docs/coverage.md and
the end of docs/refusals.md again.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import importlib.util
import io
import linecache
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from api_page import api_page
from coverage_page import (
    PACKAGE,
    STATUS,
    WITHOUT_REASONS,
    coverage_page,
    public_functions,
    reasons,
    uncaptured,
)
from refusals_page import messages, refusals, refusals_in, with_others

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S)
Expect = Callable[[Path, str], None]


# --- pages --------------------------------------------------------------------------------------


def printed(source: str, path: Path, names: dict[str, Any]) -> str:
    """Run source as a file; return its output."""
    path.parent.mkdir()
    path.write_text(source, encoding="utf-8")
    linecache.checkcache(str(path))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, str(path), "exec"), names)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().rstrip().splitlines())


def is_runnable(info: str) -> bool:
    """Return whether a fence asks for a library that is here."""
    _, asks, library = info.partition("python needs=")
    return bool(asks) and importlib.util.find_spec(library) is not None


def with_output(page: str, folder: Path) -> str:
    """Return a page with its programs' outputs of now in the blocks of text behind them."""
    module = types.ModuleType("example")
    sys.modules["example"] = module
    names: dict[str, Any] = vars(module)
    parts: list[str] = []
    end, output = 0, None
    for number, block in enumerate(BLOCK.finditer(page)):
        between = page[end:block.start()]
        if block["info"] == "text" and output is not None:
            parts += [between, f"```text\n{output}```"]
            output = None
        else:
            assert not output, f"what this prints is not shown: {output}"
            parts += [between, block[0]]
            output = None
            if block["info"] == "python" or is_runnable(block["info"]):
                output = printed(block["body"], folder / str(number) / "example.py", names)
        end = block.end()
    assert not output, f"what this prints is not shown: {output}"
    return "".join([*parts, page[end:]])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_programs_print_what_the_page_says(path: Path, tmp_path: Path, expect_text: Expect) -> None:
    expect_text(path, with_output(path.read_text(encoding="utf-8"), tmp_path))


def test_a_wrong_output_is_found(tmp_path: Path) -> None:
    page = "```python\nprint(1 + 1)\n```\n\n```text\n{}\n```\n"
    assert with_output(page.format(3), tmp_path) == page.format(2)


def test_an_output_that_is_not_shown_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="not shown"):
        with_output("```python\nprint(1 + 1)\n```\n", tmp_path)


# --- figures ------------------------------------------------------------------------------------

FIGURES = re.compile(r"(<!-- from benchmarks/results.md -->\n).*?(?=\n<!-- end -->)", re.S)
COLUMNS = ("workload", "tracejit", "by hand", "JAX", "PyTorch", "autograd")


def figures(results: str) -> str:
    """Return the columns of the benchmarks' table that the README shows."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in results.splitlines() if line.startswith("|")]
    head, _, *body = rows[:next((k for k, row in enumerate(rows) if row[0] == "measure"), None)]
    chosen = [head.index(name) for name in COLUMNS]
    table = [COLUMNS, ("---",) * len(COLUMNS), *([row[k] for k in chosen] for row in body)]
    return "\n".join("| " + " | ".join(row) + " |" for row in table)


def test_the_figures_are_those_of_the_benchmarks(expect_text: Expect) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    table = figures((ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8"))
    assert FIGURES.search(page)
    expect_text(ROOT / "README.md", FIGURES.sub(lambda m: m[1] + table, page))


def test_what_is_captured_is_what_the_page_lists(expect_text: Expect) -> None:
    expect_text(ROOT / "docs" / "coverage.md", coverage_page())


@pytest.mark.parametrize("module", [m for m in STATUS if m not in WITHOUT_REASONS])
def test_every_public_function_is_captured_or_has_a_reason_of_its_own(module: str) -> None:
    """A name that a new NumPy or SciPy adds fails here until it is captured or has a reason."""
    assert set(uncaptured(module)) <= reasons(module).keys(), module


def test_no_function_has_a_reason_and_a_capture() -> None:
    for module in STATUS:
        captured = public_functions(module).keys() - set(uncaptured(module))
        assert not captured & reasons(module).keys(), module


def test_every_refusal_is_on_its_page(expect_text: Expect) -> None:
    page = ROOT / "docs" / "refusals.md"
    expect_text(page, with_others(page.read_text(encoding="utf-8")))


def test_a_refusal_that_the_page_lacks_is_found() -> None:
    page = ("```text\nline 1: async code cannot be captured. Call the compiled\n"
            "    function from async code instead. [TJ102]\n```\n")
    page += "<!-- refusals without a program -->\n<!-- end -->\n"
    assert messages(page) == ["line 1: async code cannot be captured. Call the compiled function "
                              "from async code instead. [TJ102]"]
    listed = with_others(page)
    assert "async code" not in listed.partition("<!--")[2]
    assert listed.count("\n| ") == len(refusals()) - 1 + 2


def test_what_a_refusal_says_is_read_from_the_source() -> None:
    source = """
REMEDY = "Do " + "this"
def f(x):
    raise refuse(f"a {x} thing", REMEDY, "TJ101")
def g(x):
    raise Refusal(f"{x}: no {x}. Write y", "TJ102")
"""
    assert list(refusals_in(ast.parse(source))) == [
        ("a … thing", "Do this", "TJ101"), ("no …", "Write y", "TJ102")]


def test_the_reference_is_what_the_docstrings_say(expect_text: Expect) -> None:
    expect_text(ROOT / "docs" / "api.md", api_page())


# --- the rest of it -----------------------------------------------------------------------------


def documented(files: list[Path]) -> list[str]:
    """Return the modules with examples in their docstrings."""
    return [".".join(["tracejit", *path.relative_to(PACKAGE).with_suffix("").parts])
            .removesuffix(".__init__") for path in files if ">>>" in path.read_text("utf-8")]


@pytest.mark.parametrize("module", documented(sorted(PACKAGE.rglob("*.py"))))
def test_examples_of_docstrings_are_true(module: str) -> None:
    library = module.removeprefix("tracejit.interop.")
    if library != module and importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried
    assert not failed


FOLDERS = "tracejit|codegen|tests|docs|examples|benchmarks"


def test_what_pages_refer_to_is_there() -> None:
    """Paths, in code or as links, in every page of the project."""
    pages = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    missing = []
    for page in pages:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        found = re.findall(r"\]\(([^)#:]+)\)", text)
        found += re.findall(rf"`((?:{FOLDERS})/[\w/.]*)`", text)
        missing += [f"{page.name}: {name}" for name in found
                    if not any((base / name).exists() for base in (page.parent, ROOT))]
    assert missing == []
