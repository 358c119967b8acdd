"""Syntax-tree pass 0: make a function that calls itself a loop over stacks.

    def f(x):                        def f(x):
        if x < 1:                        pc, calls, saved_x = 0, [-1], []
            return x                     while pc >= 0:
        return x * f(x / 2)                  if pc == 0:
                                =>               if x < 1:
                                                     result, pc = x, calls.pop()
                                                 else:
                                                     saved_x.append(x)
                                                     calls.append(1)
                                                     x, pc = x / 2, 0
                                             else:
                                                 x = saved_x.pop()
                                                 result, pc = x * result, calls.pop()
                                         return result

The body becomes blocks that end where control goes elsewhere, a call of the function itself among
them. A name that is read after such a call is saved on a stack of its own. Where every call is the
last operation of its caller, there is a count in place of the stacks. The result is Python, which
is rewritten and captured like users' code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from tracejit.trace.syntax.own_calls import SelfCalling
from tracejit.trace.syntax.recursion_blocks import Blocks
from tracejit.trace.syntax.recursion_machine import LoopOfBlocks
from tracejit.trace.syntax.recursion_nodes import Stmts
from tracejit.trace.syntax.syntax import place

__all__ = ["PlaceOfFunction", "make_loops", "names_of_itself", "undecorated"]

PlaceOfFunction = tuple[int, str] | None
"""The first line and the name of a function in another one; None for that one itself."""


def make_loops(tree: ast.FunctionDef, places: frozenset[PlaceOfFunction],
               names: frozenset[str], file: str) -> None:
    """Make functions that call themselves loops, in place: this one or some in it.

    names -- the names by which this one knows itself

    Raises `Refusal` for a function that has no such form.
    """
    rebound = frozenset(name for n in ast.walk(tree) if isinstance(n, ast.Nonlocal)
                        for name in n.names)

    def made_loop(node: ast.FunctionDef, own: frozenset[str]) -> None:
        node.body = _loop_of(SelfCalling(node, own, file, rebound))

    bodies = [getattr(n, "body", None) for n in ast.walk(tree)]
    for body in [b for b in bodies if isinstance(b, list)]:
        for k, s in enumerate(body):
            node = _named(s) if (s.lineno, "<lambda>") in places else None
            if node is not None:
                made_loop(node, frozenset([node.name]))
                body[k] = node
    for n in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
        first = min([n.lineno, *(d.lineno for d in n.decorator_list)])
        if n is not tree and (first, n.name) in places:
            made_loop(n, frozenset([n.name]))
    if None in places:
        made_loop(tree, names)


def _loop_of(itself: SelfCalling) -> Stmts:
    """Return the body of a function that calls itself, as a loop."""
    node = itself.node
    if node.args.vararg or node.args.kwarg:
        raise itself.refused(node, "a number of arguments that is not fixed")
    itself.refuse_in_scopes()
    cut = Blocks(itself)
    if not cut.calls:
        raise itself.refused(node, "a call of itself that its own code does not show")
    cut.inline_blocks()
    if not cut.may_end():
        raise itself.refused(node, "no end")
    machine = LoopOfBlocks(itself, cut)
    unset = machine.live[cut.entry] - set(itself.params)
    if unset:
        raise itself.refused(node, f"a name that may be read before it is set, {min(unset)!r},")
    machine.refuse_closures()
    return machine.loop()


def _named(s: ast.stmt) -> ast.FunctionDef | None:
    """Return `f = lambda ...: ...` as a `def`; None for anything else."""
    if isinstance(s, ast.Assign) and isinstance(s.value, ast.Lambda) and len(s.targets) == 1 and (
            isinstance(s.targets[0], ast.Name)):
        body: Stmts = [place(ast.Return(s.value.body), s.value.body)]
        return place(ast.FunctionDef(s.targets[0].id, s.value.args, body, []), s)
    return None


def names_of_itself(fn: FunctionType) -> frozenset[str]:
    """Return the global and outer names by which a function knows itself, `Class.name` too."""
    outer = {name: fn.__globals__.get(name) for name in _names_in(fn.__code__)}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty cell
            outer[name] = cell.cell_contents
    found = {name for name, x in outer.items() if undecorated(x) is fn}
    for name, x in outer.items():
        if isinstance(x, type) and undecorated(vars(x).get(fn.__name__)) is fn:
            found.add(f"{name}.{fn.__name__}")
    return frozenset(found)


def undecorated(x: object) -> object:
    """Return the function of a static method, or of a `tracejit.jit`; other objects as they are."""
    if isinstance(x, staticmethod):
        return x.__func__
    if type(x).__module__.partition(".")[0] == "tracejit":
        transform: Any = getattr(x, "transform", None)
        if getattr(transform, "name", "") == "jit":
            function: object = transform.fn
            return function
    return x


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for c in code.co_consts:
        if isinstance(c, CodeType):
            yield from _names_in(c)
