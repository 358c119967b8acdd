"""Syntax-tree pass before the others: rewrite each `yield`, for each form of a generator.

A generator of the user's runs inside out where a loop takes its items: the loop's body is called in
the place of each `yield`, so that loops of the generator are loops of the graph.

    def steps(y, n):                     def steps(_tj_each, y, n):
        for _ in range(n):        =>         for _ in range(n):
            yield y                              if _tj.each(_tj_each, y): return
            y = y + f(y)                         y = y + f(y)

Where items are taken one after another, by `next(g)` say, it stays a generator, and the control
flow around a `yield` is Python's own.
"""

from __future__ import annotations

import ast
import copy
from typing import Literal

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.trace.syntax.jumps import always_jumps
from tracejit.trace.syntax.named_yields import name_yields, yields
from tracejit.trace.syntax.syntax import (
    Stmts,
    assign,
    constant,
    hook,
    load,
    own_nodes,
    place,
    rewrite_lists,
)

__all__ = ["EACH", "Form", "NotInForm", "in_form", "is_generator", "yields"]

EACH = "_tj_each"
"""The first parameter of a generator that is run inside out: the receiver of each item."""

Form = Literal["each", "until", "steps"]
"""Each item goes to a function, which may say that it was the last; or one is taken after another.
"""


class NotInForm(Exception):
    """Internal: a generator does not run in a form, for the syntax on a line.

    what   -- the syntax that has no such form
    remedy -- the text that says how to write it
    """

    def __init__(self, line: int, what: str, remedy: str) -> None:
        super().__init__(what)
        self.line, self.what, self.remedy = line, what, remedy

    def refusal(self, file: str) -> Refusal:
        """Return the refusal of a generator that has no form at all."""
        return Refusal(f"{line_name(file, self.line)}: {self.what} cannot be captured. "
                       f"{self.remedy}", "TJ104")


def is_generator(node: ast.FunctionDef) -> bool:
    """Return whether a function has a `yield` of its own."""
    return yields(node.body)


def in_form(node: ast.FunctionDef, form: Form) -> ast.FunctionDef:
    """Return a copy of a generator function in a form; `NotInForm` if it has none."""
    node = copy.deepcopy(node)
    name_yields(node)
    first: Stmts = []
    last: Stmts = []
    if form == "until":  # nobody reads the result of a generator that a loop leaves
        returns = [n for n in own_nodes(node.body) if isinstance(n, ast.Return)]
        if not always_jumps(node.body):
            last = [place(ast.Return(None), node.body[-1])] if returns else []
        elif not returns:
            first = [place(ast.Expr(hook("endless", load(EACH))), node)]
    node.body = [*first, *_Former(form).block(node.body), *last]
    node.tj_by_steps = form == "steps"  # type: ignore[attr-defined]
    if form != "steps":
        node.args.posonlyargs.insert(0, ast.arg(EACH, lineno=node.lineno, col_offset=0))
    return node


class _Former:
    """Rewrites the statement lists of one generator function."""

    def __init__(self, form: Form) -> None:
        self.form = form

    def block(self, stmts: Stmts) -> Stmts:
        return [new for s in stmts for new in self.statement(s)]

    def statement(self, s: ast.stmt) -> Stmts:
        if not yields([s]):
            return [s]
        self._refuse(s)
        if isinstance(s, (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)):
            rewrite_lists(s, self.block)
            return [s]
        found = getattr(s, "value", None)
        if isinstance(found, ast.YieldFrom):
            if self.form == "steps":  # which hands on what is sent
                found.value = place(hook("delegated", found.value), s)
                return [s]
            return self._each_of(s, found)
        if self.form == "steps":
            return [s]
        assert isinstance(found, ast.Yield)
        value = constant(None) if found.value is None else found.value
        return [*self._give(value, s), *self._with_value(s, constant(None))]

    def _give(self, value: ast.expr, s: ast.stmt) -> Stmts:
        """Return the statement that hands an item on."""
        call = place(hook("each", load(EACH), value), s)
        if self.form == "each":
            return [place(ast.Expr(call), s)]
        leave = ast.Return(None)
        leave.tj_bare = True  # type: ignore[attr-defined]
        return [place(ast.If(call, [leave], []), s)]

    def _each_of(self, s: ast.stmt, found: ast.YieldFrom) -> Stmts:
        """Return `yield from` as a loop, and the statement with its value."""
        items, item = (f"_tj_{stem}{s.lineno}_{s.col_offset}" for stem in ("items", "from"))
        loop = ast.For(ast.Name(item, ast.Store()), load(items), self._give(load(item), s), [])
        value = hook("returned_by", load(items))
        return [place(assign(items, hook("begun", found.value)), s), place(loop, s),
                *self._with_value(s, value)]

    def _with_value(self, s: ast.stmt, value: ast.expr) -> Stmts:
        """Return a statement with a value in the place of its `yield`; none for a bare `yield`."""
        if isinstance(s, ast.Expr):
            return []
        s.value = place(value, s)  # type: ignore[attr-defined]
        return [s]

    def _refuse(self, s: ast.stmt) -> None:
        """Refuse syntax that has no form around a `yield`, or in its statement."""
        is_left = self.form != "each"
        if isinstance(s, (ast.If, ast.While, ast.Match, ast.For)):
            parts = [s.iter, s.target] if isinstance(s, ast.For) else [
                s.subject] if isinstance(s, ast.Match) else [s.test]
            if not yields(parts):
                return
        elif isinstance(s, ast.Try):
            around = [*(n for h in s.handlers for n in h.body), *s.finalbody]
            if not is_left and not yields(around) and not (s.handlers and yields(s.body)):
                return
            raise NotInForm(s.lineno, "a `yield` in a `try`", "Put the `try` around the loop that "
                            "takes the items")
        elif isinstance(s, ast.With):
            raise NotInForm(s.lineno, "a `yield` in a `with`",
                            "Put the `with` around the loop that takes the items")
        else:
            value = getattr(s, "value", None)
            others = [n for n in ast.iter_child_nodes(s) if n is not value]
            if isinstance(value, (ast.Yield, ast.YieldFrom)) and not yields(
                    [*others, *([] if value.value is None else [value.value])]):
                return
        raise NotInForm(s.lineno, "a `yield` that may not be reached in its expression",
                        "Let it be a statement of its own: yield v")
