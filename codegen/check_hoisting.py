"""Innermost loops whose iterations may fail: those in which no check fails run without them.

A loop that may leave the kernel in each iteration is not vectorised. Of an index that goes up or
down by a constant it is known before the loop which iterations are in bounds: these run without
checks, and those before and behind them, if there are any, as they were.

    for j in range(m):                      at = k
        if not 0 <= j + k < n:              end = imax(0, imin(m, select(0 <= at < n, n - at, 0)))
            return fail(ctx, 1, j + k, n)   for j in range(end):
        s = s + x[j + k]            =>          s = s + x[j + k]
                                            for j in range(end, m):
                                                if not 0 <= j + k < n:
                                                    return fail(ctx, 1, j + k, n)
                                                s = s + x[j + k]

An index that may count from the end of its axis, where it is negative, is a plain one in the
iterations in which it is not. Whatever happens in an iteration that fails, or before it, happens as
before. Numbers that pass the end of int64 make the loop without checks shorter, never longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tracejit.codegen.expression_edits import call, every, known_integer, plus, replaced
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import (
    I64,
    ONE,
    ZERO,
    Bin,
    Call,
    Const,
    Expression,
    InRange,
    Load,
    Select,
    Unary,
    Var,
)
from tracejit.codegen.loop_ir import (
    Assign,
    If,
    Let,
    Loop,
    Node,
    Return,
    While,
    children,
    every_node,
)
from tracejit.codegen.node_copies import NodeCopier
from tracejit.codegen.vector_loops import is_vector

__all__ = ["hoist_checks", "slope_of", "without_lets"]

Fresh = Callable[[str], str]

MOST_NODES = 40
"""How many statements a loop may have that is written several times."""


def hoist_checks(kernel: Kernel, fresh: Fresh) -> None:
    """Let innermost loops of a kernel run without checks as far as these hold.

    fresh -- gives a name that nothing else has
    """
    kernel.nodes = _hoisted(kernel.nodes, fresh)


def _hoisted(nodes: Sequence[Node], fresh: Fresh) -> list[Node]:
    result: list[Node] = []
    for node in nodes:
        for block in children(node):
            block[:] = _hoisted(block, fresh)
        checks = _checks_of(node) if isinstance(node, Loop) else []
        if checks:
            assert isinstance(node, Loop)
            result += _LoopInParts(node, checks, fresh).nodes()
        else:
            result.append(node)
    return result


@dataclass(frozen=True, slots=True)
class _Check:
    """A test of an index that each iteration makes.

    node    -- the node that leaves the kernel
    index   -- the index, of names that are set before the loop and of the loop's
    size    -- the size that it is below
    slope   -- by how much the index grows when the loop's does by 1
    wrapped -- the name of the index where it may count from the end; else ""
    """

    node: If
    index: Expression
    size: Expression
    slope: int
    wrapped: str = ""


def _checks_of(loop: Loop) -> list[_Check]:
    """Return the checks of a loop with none inside but over vectors, if nothing else leaves it."""
    inside = list(every_node(loop.body))
    ends = sum(isinstance(n, Return) for n in inside)
    if not ends or loop.step != ONE or len(inside) > MOST_NODES or any(
            isinstance(n, (Loop, While)) and not is_vector(n) for n in inside):
        return []
    names: dict[str, Expression | None] = {loop.var: None}
    names.update((n.name, None) for n in inside if isinstance(n, Assign))
    names.update((n.name, n.expression) for n in inside if isinstance(n, Let))
    found = [c for n in loop.body if (c := _check_in(n, loop.var, names)) is not None]
    return found if len(found) == ends else []


def _check_in(node: Node, var: str, names: Mapping[str, Expression | None]) -> _Check | None:
    test = _test_in(node)
    if test is None:
        return None
    assert isinstance(node, If)
    lo, x, size = (without_lets(e, names) for e in (test.lo or ZERO, test.x, test.hi))
    if lo != ZERO or slope_of(size, var, names) != 0:
        return None
    slope, wrapped = slope_of(x, var, names), ""
    if slope is None and isinstance(test.x, Var) and isinstance(x, Select) and (
            x == Select(Bin("<", x.b, ZERO), plus(x.b, size), x.b)):
        x, wrapped = x.b, test.x.name
        slope = slope_of(x, var, names)
    return None if slope not in (-1, 0, 1) else _Check(node, x, size, slope, wrapped)


def _test_in(node: Node) -> InRange | None:
    """Return the test without which a node leaves the kernel, if that is all it does."""
    if not isinstance(node, If) or node.other or [*map(type, node.then)] != [Return]:
        return None
    condition = node.condition
    is_test = isinstance(condition, Unary) and isinstance(condition.a, InRange)
    return condition.a if is_test else None  # type: ignore[attr-defined]


def without_lets(e: Expression, names: Mapping[str, Expression | None]) -> Expression:
    """Return an expression of names set before the loop, of its index and of names that change."""
    while found := {name: made for name in e.reads if (made := names.get(name)) is not None}:
        e = replaced(e, found)
    return e


def slope_of(e: Expression, index: str, names: Mapping[str, Expression | None]) -> int | None:
    """Return by how much an integer grows when the index does by 1; None if that is not known."""
    if e.dtype != I64 or any(isinstance(part, Load) for part in every(e)):
        return None
    if isinstance(e, Var) and e.name == index:
        return 1
    if e.reads.isdisjoint(names):
        return 0 if all(isinstance(p, (Var, Const, Bin, Unary, Call, Select, InRange))
                        for p in every(e)) else None
    if isinstance(e, Unary) and e.op == "-":
        slope = slope_of(e.a, index, names)
        return None if slope is None else -slope
    if not isinstance(e, Bin) or e.op not in "+-*":
        return None
    a, b = (slope_of(part, index, names) for part in e.parts)
    if a is None or b is None:
        return None
    if e.op != "*":
        return a + b if e.op == "+" else a - b
    left, right = map(known_integer, e.parts)
    return left * b if left is not None else a * right if right is not None else None


# --- the loops that there are then --------------------------------------------------------------


class _LoopInParts:
    """Splits a loop: `before` are the nodes in front, which find out where."""

    def __init__(self, loop: Loop, checks: Sequence[_Check], fresh: Fresh) -> None:
        self.loop, self.checks, self.fresh = loop, checks, fresh
        self.before: list[Node] = []
        self.sign = "-" if loop.reverse else "+"
        self.first, self.last = (loop.hi, loop.lo) if loop.reverse else (loop.lo, loop.hi)

    def nodes(self) -> list[Node]:
        """Return the nodes that do the work of the loop."""
        begin = self._between(self.first, [self._start(c) for c in self.checks
                                           if c.wrapped and self._grows(c)])
        end = self._between(begin, [self._end(c, begin) for c in self.checks], nearest=True)
        head = [] if begin is self.first else [self._as_it_was(self.first, begin)]
        return [*self.before, *head, self._without_checks(begin, end),
                self._as_it_was(end, self.last)]

    def _grows(self, check: _Check) -> bool:
        """Return whether an index grows from iteration to iteration."""
        return check.slope == (-1 if self.loop.reverse else 1)

    def _at(self, check: _Check, begin: Expression) -> Expression:
        """Return the index of the iteration that comes first behind a place."""
        place = Bin("-", begin, ONE) if self.loop.reverse else begin
        return self._named("at", replaced(check.index, {self.loop.var: place}))

    def _start(self, check: _Check) -> Expression:
        """Return the place from which on an index does not count from the end."""
        at = self._at(check, self.first)
        return self._moved(self.first, call("imax", ZERO, Unary("-", at)))

    def _end(self, check: _Check, begin: Expression) -> Expression:
        """Return the place up to which, from another one on, a check holds."""
        at = self._at(check, begin)
        count = Bin("-", check.size, at) if self._grows(check) else Bin("+", at, ONE)
        end = self._moved(begin, count) if check.slope else self.last
        return Select(InRange(ZERO, at, check.size), end, begin)

    def _moved(self, place: Expression, by: Expression) -> Expression:
        return by if place == ZERO and self.sign == "+" else Bin(self.sign, place, by)

    def _between(self, begin: Expression, places: Sequence[Expression], *,
                 nearest: bool = False) -> Expression:
        """Return the farthest or the nearest of some places, from `begin` to the loop's end."""
        if not places:
            return begin
        high, low = ("imin", "imax") if self.loop.reverse else ("imax", "imin")
        chosen, *others = [self._named("end", p) for p in dict.fromkeys(places)]
        for place in others:
            chosen = call(low if nearest else high, chosen, place)
        return self._named("end", call(high, begin, call(low, self.last, chosen)))

    def _named(self, name: str, e: Expression) -> Expression:
        """Give an integer a name, if it is more than one."""
        if isinstance(e, (Var, Const)):
            return e
        made = Var(self.fresh(name), I64)
        self.before.append(Let(made.name, e))
        return made

    def _without_checks(self, begin: Expression, end: Expression) -> Loop:
        dropped = {id(c.node) for c in self.checks}
        plain = {c.wrapped for c in self.checks}
        body = [replace(n, expression=n.expression.b) if isinstance(n, Let) and n.name in plain
                and isinstance(n.expression, Select) else n
                for n in self.loop.body if id(n) not in dropped]
        return self._part(begin, end, body)

    def _as_it_was(self, begin: Expression, end: Expression) -> Loop:
        own = {n.name: self.fresh(n.name) for n in every_node(self.loop.body)
               if isinstance(n, Let)}
        return self._part(begin, end, NodeCopier(own, {}).nodes(self.loop.body))

    def _part(self, begin: Expression, end: Expression, body: list[Node]) -> Loop:
        lo, hi = (end, begin) if self.loop.reverse else (begin, end)
        return replace(self.loop, lo=lo, hi=hi, body=body)
