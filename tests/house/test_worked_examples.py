"""The worked examples above hard files are true: their programs give the IR shown there."""

from __future__ import annotations

import importlib
import inspect
import linecache
import textwrap
from typing import Any

import numpy as np
import pytest
from ir_text import graph_of, table, text_of

import tracejit
from tracejit.autodiff.transforms import gradient_graph
from tracejit.codegen.host_loops import HostLoops
from tracejit.ir.dead_code import drop_dead_code


def text_above(module: str, inner: str = "") -> str:
    """Return the docstring of a module, or of something in it."""
    thing: Any = importlib.import_module(f"tracejit.{module}")
    for name in inner.split(".") if inner else ():
        thing = getattr(thing, name)
    return inspect.getdoc(thing) or ""


def program_in(text: str, name: str) -> Any:
    """Return the function of a name that an indented block of a text defines."""
    lines = text[text.index(f"    def {name}("):].splitlines()
    end = next(k for k, line in enumerate(lines) if k and line and not line.startswith("     "))
    source = textwrap.dedent("\n".join(lines[:end])) + "\n"
    file = f"<worked example {name} {len(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), names)
    return names[name]


def require_block(text: str, block: str) -> None:
    """Assert that a text has a block of lines, which are indented there."""
    assert textwrap.indent(block, "    ") in text, f"the text lacks\n{block}"


X = np.array([1.0, 2.0, 3.0])

PROGRAMS = [
    ("trace.regions.aliases", "", "by_turns", (X, 3)),
    ("trace.containers.container_aliases", "Turns", "swapped", (1.5, 3)),
]


@pytest.mark.parametrize(("module", "inner", "name", "args"), PROGRAMS)
def test_a_program_gives_the_graph_below_it(module: str, inner: str, name: str, args: Any) -> None:
    text = text_above(module, inner)
    program = program_in(text, name)
    traced = tracejit.jit(program).trace(*args)
    require_block(text, text_of(traced.program.graph))
    with tracejit.config(disable_jit=True):
        for n in range(4):
            np.testing.assert_array_equal(tracejit.jit(program)(args[0], n), program(args[0], n))


REFUSED = [
    ("trace.regions.aliases", "", "missed", (X, 3), "'b' is bound to one array after another"),
    ("trace.containers.container_aliases", "Turns", "changed", (1.5, 3),
     "changing a list that may be, depending on data, the one that 'p' holds"),
]


@pytest.mark.parametrize(("module", "inner", "name", "args", "message"), REFUSED)
def test_a_program_is_refused_as_it_says(module: str, inner: str, name: str, args: Any,
                                         message: str) -> None:
    text = text_above(module, inner)
    with pytest.raises(tracejit.Refusal, match=message):
        tracejit.jit(program_in(text, name)).trace(*args)
    assert message in " ".join(text.split())


def test_a_loop_is_split_as_it_says() -> None:
    text = inspect.getdoc(HostLoops._split_loop) or ""
    program = program_in(text, "shifted")
    emitted = tracejit.jit(program).trace(X).lower().source.partition("def kernel")[2]
    _, *lines, _ = emitted.strip().splitlines()
    require_block(text, textwrap.dedent("\n".join(line.partition("  # ")[0].rstrip()
                                                  for line in lines)))


def test_residuals_are_found_as_it_says() -> None:
    text = text_above("autodiff.residuals")
    begin = text.index("    the way back reads")
    block = text[begin:text.index("\n\n", begin)]
    ((_, before, _, after),) = table(block)
    graph = graph_of(before)
    made = gradient_graph(graph, [0], [0], "gradient")
    assert text_of(drop_dead_code(made)) == textwrap.dedent(after)
