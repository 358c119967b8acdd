"""Notebooks: how cells are named in listings and messages, and what the committed ones are like.

That they run, from a clean kernel and to the end, is nbmake's test, which collects `notebooks/`.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import tracejit

# --- names of cells -----------------------------------------------------------------------------

CELL = "/tmp/ipykernel_7/123.py"
CODE = """
def f(x):
    return np.sum(np.sin(x))

def g(x):
    return np.fft.fft(x)

def h(x, i):
    return x[i]
"""


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return the functions of a cell, with IPython as it names the file that it stands in."""
    names: dict[str, tuple[str, str]] = {CELL: ("Cell", "In[7]")}
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=names.get))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    import linecache

    monkeypatch.setitem(linecache.cache, CELL, (len(CODE), None, CODE.splitlines(True), CELL))
    found = {"np": np}
    exec(compile(CODE, CELL, "exec"), found)
    return SimpleNamespace(**found)


def test_lines_of_cells_are_named_as_the_notebook_names_them(cell: SimpleNamespace) -> None:
    assert "# In[7]:3" in str(tracejit.grad(cell.f).trace(tracejit.spec("f64[n]")).graph)
    with pytest.raises(tracejit.Refusal, match=r"^In\[7\]:6: numpy\.fft\.fft cannot be captured"):
        tracejit.jit(cell.g)(np.ones(3))
    with pytest.raises(IndexError) as caught:
        tracejit.jit(cell.h)(np.ones(3), 7)
    assert caught.value.__notes__ == ["raised by captured code at In[7]:9"]


def test_lines_of_files_are_named_by_the_file(cell: SimpleNamespace) -> None:
    graph = tracejit.grad(lambda x: np.sum(np.sin(x))).trace(tracejit.spec("f64[n]")).graph
    assert "# test_notebooks.py:" in str(graph)
