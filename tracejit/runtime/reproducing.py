"""A compilation as a script of its own: the graph as text, arguments, and a comparison."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.configuration import settings
from tracejit.errors import IRError
from tracejit.ir.core import Graph, Value
from tracejit.ir.dims import evaluate
from tracejit.ir.lowering import Callback, Inline, Native
from tracejit.ir.parser import parse_graph
from tracejit.ir.user_text import graph_name, on_one_line
from tracejit.ir.walk import all_eqns

if TYPE_CHECKING:
    from tracejit.runtime.program import Program

__all__ = ["reproducer"]

SIZE = 4
"""The value of a size or an int, where no call gives one."""

_SCRIPT = '''"""Runs {name} alone: compiled code against the interpreter.

tracejit {version} wrote it before it compiled the program. {about}
"""

import numpy as np

import tracejit.api  # noqa: F401  (importing fills the tables)
from tracejit.configuration import config
from tracejit.ir.interpreter import interpret
from tracejit.ir.parser import parse_graph
from tracejit.runtime.program import Program
from tracejit.runtime.stages import Traced
from tracejit.transforms.options import Options

GRAPH = {graph}

rng = np.random.default_rng(0)
arguments = [
{arguments}
]

program = Program.of_graph(parse_graph(GRAPH))
program.options = Options(fp={fp!r}, without={without!r})
with config(verify={verify}):
    compiled = Traced(program).lower().compile()
    found = compiled.invocation.run(arguments)
expected = interpret(program.graph, *arguments)
for k, (x, y) in enumerate(zip(found, expected, strict=True)):
    wide = np.asarray(y).dtype.itemsize >= 8
    np.testing.assert_allclose(x, y, rtol=1e-9 if wide else 1e-4, atol=1e-12 if wide else 1e-6,
                               err_msg=f"result {{k}}")
print("{name}: the compiled program gives what the interpreter does")
'''


def reproducer(program: Program, graph: Graph, shapes: Sequence[object]) -> str:
    """Return a script that compiles and runs a program, and compares it with the interpreter.

    graph  -- the program's graph after all passes, which has no calls of users' op types
    shapes -- the shape of each input, or the int, in the call that it is compiled for; or None
    """
    about = "Its arguments have the shapes of that call, and random elements."
    given = _given(program.graph, shapes)
    if given is None:
        about = f"No call is known: sizes and ints are {SIZE}, other elements random."
    chosen = program.graph
    if any(isinstance(e.op.lowering, Inline) for e in all_eqns(chosen.block)):
        chosen = graph
        about += "\nThe graph is the one after all passes: before them it calls what only a\n" \
                 "process has."
    why = _unreadable(chosen)
    if why:
        text = (f"This script cannot run {program.name} alone: {why}. The graph was:\n\n{chosen}")
        return f"raise SystemExit({_literal(text)})"
    try:
        given = given or _chosen(chosen)
        arguments = "\n".join(f"    {_argument(v, x)},  # {on_one_line(v.name or str(k))}"
                              for k, (v, x) in enumerate(zip(chosen.inputs, given, strict=True)))
    except (LookupError, ValueError) as e:
        return f"raise SystemExit({_literal(f'No arguments are known for {program.name}: {e!r}')})"
    version = sys.modules["tracejit"].__version__
    return _SCRIPT.format(name=graph_name(program.name), version=version, about=about,
                          graph=_literal(f"{chosen}\n"), arguments=arguments,
                          fp=getattr(program.options, "fp", "default"),
                          without=",".join(sorted(getattr(program.options, "switched_off", ()))),
                          verify=settings().verify)


def _unreadable(graph: Graph) -> str:
    """Return why the text of a graph does not stand for it; empty if it does."""
    for eqn in all_eqns(graph.block):
        if isinstance(eqn.op.lowering, Native):
            return (f"it calls {eqn.op.name}, an @njit function of yours that no text stands for")
        if isinstance(eqn.op.lowering, Callback):
            return f"it calls {eqn.params['callee']}, a Python function that no text stands for"
    try:
        parse_graph(str(graph))
    except IRError as e:
        return f"its text cannot be read back ({e})"
    return ""


def _given(graph: Graph, shapes: Sequence[object]) -> list[Any] | None:
    """Return the shape of each input, or the number that an int is; None where one is unknown."""
    if any(x is None for v, x in zip(graph.inputs, shapes, strict=True) if v.aval.shape):
        return None
    return [x if v.aval.shape or isinstance(x, int) else SIZE
            for v, x in zip(graph.inputs, shapes, strict=True)]


def _chosen(graph: Graph) -> list[Any]:
    """Return small shapes and numbers that agree with one another."""
    env: dict[Value, Any] = dict.fromkeys(graph.sizes, SIZE)
    env.update((v, SIZE) for v in graph.inputs if not v.aval.shape and v.aval.dtype.kind in "iu")
    return [tuple(evaluate(d, env.__getitem__) for d in v.aval.shape) if v.aval.shape
            else env.get(v, 0) for v in graph.inputs]


def _argument(v: Value, given: object) -> str:
    """Return source of an argument: an int as it was, anything else random."""
    dtype = v.aval.dtype
    if not v.aval.shape:
        if dtype.kind in "biu":
            return f"np.{dtype.name}({np.asarray(given).item()!r})"
        return f"np.{dtype.name}(rng.uniform(0.1, 1.0))"
    if dtype.kind in "iu":
        return f"rng.integers(0, 2, {given}).astype(np.{dtype.name})"
    if dtype.kind == "b":
        return f"rng.uniform(size={given}) < 0.5"
    return f"rng.uniform(0.1, 1.0, {given}).astype(np.{dtype.name})"


def _literal(text: str) -> str:
    """Return text as a literal of several lines."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    literal = f'"""\\\n{escaped}"""'
    assert ast.literal_eval(literal) == text
    return literal
