"""The notebooks: they run from a clean kernel, and show the outputs of now.

Each is a pair: the text `NAME.py`, which is reviewed, and `NAME.ipynb`, which has the outputs too.
`--golden` makes the second from the first. Cells tagged `varies` show times, or code for one
processor: their outputs are there, and not compared.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jupytext
import nbformat
import numpy as np
import pytest
from nbmake.nb_run import NotebookRun

import tracejit

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.py"))
METADATA = {
    "jupytext": {"formats": "ipynb,py:percent"},
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SECONDS = 60


# --- text and notebook --------------------------------------------------------------------------


def from_text(path: Path) -> Any:
    """Return the notebook of a text, without outputs."""
    notebook = jupytext.read(path)
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = nbformat.from_dict(
            {"tags": cell.metadata["tags"]} if cell.metadata.get("tags") else {})
    return notebook


def sources(notebook: Any) -> list[Any]:
    """Return the common part of a notebook and its text: kinds, sources and tags of cells."""
    return [(cell.cell_type, cell.source, cell.metadata.get("tags", [])) for cell in notebook.cells]


def executed(path: Path) -> Any:
    """Return a notebook with the outputs of a clean kernel; fail where a cell does."""
    result = NotebookRun(path, SECONDS).execute()
    assert result.error is None, result.error.trace
    for cell in result.nb.cells:
        cell.metadata.pop("execution", None)  # when it ran
    return result.nb


def shown(cell: Any) -> str:
    """Return the text that a cell shows, times replaced; "varies" for a cell with that tag."""
    if "varies" in cell.metadata.get("tags", []):
        return "varies"
    text = "".join(out.get("text", "") or out.get("data", {}).get("text/plain", "")
                   for out in cell.outputs)
    return re.sub(r"\b[\d.]+ (?:ns|µs|ms|s)\b", "TIME", text)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("text", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_show_what_comes_out(text: Path, request: pytest.FixtureRequest) -> None:
    path = text.with_suffix(".ipynb")
    if request.config.getoption("golden"):
        nbformat.write(from_text(text), path)
        nbformat.write(executed(path), path)
        return
    committed = nbformat.read(path, 4)
    assert sources(committed) == sources(from_text(text)), f"{text.name} differs: make notebooks"
    again = executed(path)
    assert [shown(c) for c in code_cells(again)] == [shown(c) for c in code_cells(committed)]


# --- what a notebook is like --------------------------------------------------------------------


def faults(notebook: Any) -> Iterator[str]:
    """Yield the faults of a notebook as it lies in the repository."""
    cells, code = notebook.cells, code_cells(notebook)
    first = cells[0].source.splitlines()[0]
    if not re.fullmatch(r"# .+\?", first):
        yield f"its title asks no question: {first}"
    if len(cells) > 25:
        yield f"it has {len(cells)} cells"
    if not isinstance(ast.parse(code[-1].source).body[-1], ast.Assert):
        yield "it does not end in an assertion"
    if [cell.execution_count for cell in code] != list(range(1, len(code) + 1)):
        yield "it was not run from its beginning to its end"
    if not any(cell.outputs for cell in code):
        yield "it has no outputs"
    for cell in code:
        for out in cell.outputs:
            text = nbformat.from_dict(out).get("text", "") or str(out.get("data", ""))
            if out.output_type == "error":
                yield f"cell {cell.execution_count} fails: {out.ename}"
            if out.get("name") == "stderr":
                yield f"cell {cell.execution_count} writes to stderr: {text[:80]}"
            if re.search(r"(?<![\w.])/(?:tmp|home|root|usr|work|Users|var)/", text):
                yield f"cell {cell.execution_count} shows a path of the machine"
            if re.search(r" at 0x[0-9a-f]{6,}", text):
                yield f"cell {cell.execution_count} shows an address"


@pytest.mark.parametrize("text", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_keep_to_their_form(text: Path) -> None:
    assert list(faults(nbformat.read(text.with_suffix(".ipynb"), 4))) == []


def test_there_are_eight_and_each_is_a_pair() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == [f"0{k}" for k in range(1, 9)]
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize(("change", "fault"), [
    (lambda nb: nb.cells[0].update(source="# A title"), "its title asks no question: # A title"),
    (lambda nb: nb.cells.extend([nb.cells[0]] * 30), "it has 33 cells"),
    (lambda nb: nb.cells[-1].update(source="x = 1"), "it does not end in an assertion"),
    (lambda nb: nb.cells[1].update(execution_count=7),
     "it was not run from its beginning to its end"),
    (lambda nb: nb.cells[1].update(outputs=[]), "it has no outputs"),
    (lambda nb: nb.cells[1].outputs.append(nbformat.v4.new_output(
        "error", ename="KeyError", evalue="", traceback=[])), "cell 1 fails: KeyError"),
    (lambda nb: nb.cells[1].outputs.append(nbformat.v4.new_output(
        "stream", name="stderr", text="careful")), "cell 1 writes to stderr: careful"),
    (lambda nb: nb.cells[1].outputs[0].update(text="/tmp/x.py:3"),
     "cell 1 shows a path of the machine"),
    (lambda nb: nb.cells[1].outputs[0].update(text="<object at 0x7f2e5a>"),
     "cell 1 shows an address"),
])
def test_a_notebook_that_does_not_is_found(change: Any, fault: str) -> None:
    v4 = nbformat.v4
    notebook = v4.new_notebook(cells=[
        v4.new_markdown_cell("# What is this?"),
        v4.new_code_cell("x = 1\nprint(x)", execution_count=1,
                         outputs=[v4.new_output("stream", text="1\n")]),
        v4.new_code_cell("assert x == 1", execution_count=2)])
    assert list(faults(notebook)) == []
    change(notebook)
    assert list(faults(notebook)) == [fault]


def test_an_output_that_changed_is_found() -> None:
    def cell(text: str, **tags: Any) -> Any:
        return nbformat.v4.new_code_cell("x", outputs=[nbformat.v4.new_output(
            "execute_result", data={"text/plain": text, "text/html": "<b>"})], metadata=tags)

    assert shown(cell("1")) == "1" != shown(cell("2"))
    assert shown(cell("1", tags=["varies"])) == shown(cell("2", tags=["varies"]))


# --- names of cells -----------------------------------------------------------------------------

CELL = "/tmp/ipykernel_7/123.py"
CODE = """
def f(x):
    return np.sum(np.sin(x))

def g(x):
    return np.isnat(x)

def h(x, i):
    return x[i]

def scattered(x, i):
    out = np.zeros(3)
    np.add.at(out, i, x)
    return np.sum(out * out)

def of_two_types(x):
    s = 0
    for k in range(len(x)):
        if x[k] > 0.3:
            s = s + 2.0 * x[k]
    return s
"""


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return the functions of a cell, with IPython as it names the file that it stands in."""
    names: dict[str, tuple[str, str]] = {CELL: ("Cell", "In[7]")}
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=names.get))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(linecache.cache, CELL, (len(CODE), None, CODE.splitlines(True), CELL))
    found = {"np": np}
    exec(compile(CODE, CELL, "exec"), found)
    return SimpleNamespace(**found)


def test_lines_of_cells_are_named_as_the_notebook_names_them(cell: SimpleNamespace) -> None:
    assert "# In[7]:3" in str(tracejit.grad(cell.f).trace(tracejit.spec("f64[n]")).graph)
    lowered = tracejit.grad(cell.f).trace("f64[n]").lower()
    row = next(line for line in str(lowered.report()["lines"]).splitlines() if "np.sin" in line)
    assert "out0[i]" in row  # what is emitted stands beside the cell's line
    with pytest.raises(tracejit.Refusal, match=r"^In\[7\]:6: np\.isnat cannot be"):
        tracejit.jit(cell.g)(np.ones(3))
    with pytest.raises(IndexError) as caught:
        tracejit.jit(cell.h)(np.ones(3), 7)
    assert caught.value.__notes__ == ["raised by captured code at In[7]:9"]


def test_what_ipython_runs_to_name_a_cell_is_no_part_of_a_program(cell: SimpleNamespace) -> None:
    """Lines are named also while a capture notes which code runs that is not captured."""
    x, i, users = np.array([0.5, 0.25, 0.75]), np.array([0, 2, 2]), sys.getprofile()
    for fn, args in ((cell.scattered, (x, i)), (cell.of_two_types, (x,))):
        g = tracejit.jit(fn)
        with tracejit.config(disable_jit=True):
            assert [g(*args), g(*args)] == [fn(*args)] * 2
        assert sum(map(len, g._table.values())) == 1, fn
        assert sys.getprofile() is users  # nothing is noted any more


def test_lines_of_files_are_named_by_the_file(cell: SimpleNamespace) -> None:
    graph = tracejit.grad(lambda x: np.sum(np.sin(x))).trace(tracejit.spec("f64[n]")).graph
    assert "# test_notebooks.py:" in str(graph)
