"""Innermost loops whose iterations may come in any order: their sums are vectors, and they run up.

A sum at one place of memory or in a scalar is marked, so that LLVM keeps a vector of partial sums,
and the loop goes on vectors. A loop down, as those of the way back are, becomes one up, whose
vectors need no turning, where all else that it stores is at places of their own:

    for t in range(n - 1, -1, -1):              for t in range(n):
        g[s] = g[s] + a[t] * b[t]       =>          g[s] = radd(g[s], a[t] * b[t])
        h[t] = h[t] + b[t]                          h[t] = h[t] + b[t]

Nothing else in the loop reads or writes the place or the scalar of such a sum: whoever looks at one
on its way, as compensated summation does, gets the program's order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tracejit.codegen.check_hoisting import slope_of, without_lets
from tracejit.codegen.cleanup import names_in
from tracejit.codegen.expression_edits import call, every
from tracejit.codegen.loop_expressions import ONE, Bin, Call, Expression, Load, Var
from tracejit.codegen.loop_ir import (
    Assign,
    Let,
    Loop,
    Node,
    Store,
    children,
    expressions,
)
from tracejit.codegen.short_loops import sums_of

__all__ = ["order_freely"]


def order_freely(nodes: Sequence[Node], in_order: bool) -> None:
    """Mark the sums of innermost loops, and let loops run up, in place.

    in_order -- whether sums have to be added up in the program's order
    """
    for node in nodes:
        for block in children(node):
            order_freely(block, in_order)
        if isinstance(node, Loop) and all(isinstance(n, (Let, Assign, Store)) for n in node.body):
            sums = [] if in_order else [*sums_of(node), *_scalar_sums(node)]
            for s in sums:
                assert isinstance(s.expression, Bin)
                s.expression = call("radd", s.expression.a, s.expression.b)
            if node.reverse and _may_run_up(node):
                node.reverse = False


def _scalar_sums(loop: Loop) -> list[Let | Assign]:
    """Return the sums that a loop carries in scalars, each of which it reads once and sets once."""
    read = Counter(name for n in loop.body for name in names_in(n))
    made = {n.name: n for n in loop.body if isinstance(n, Let)}
    found: list[Let | Assign] = []
    for n in loop.body:
        if isinstance(n, Assign) and read[n.name] == 1:
            e = n.expression
            maker = made.get(e.name, n) if isinstance(e, Var) and read[e.name] == 1 else n
            e = maker.expression
            if isinstance(e, Bin) and e.op == "+" and e.dtype.kind in "fc" and (
                    e.a == Var(n.name, e.dtype)):
                found.append(maker)
    return found


def _may_run_up(loop: Loop) -> bool:
    """Return whether no iteration sees what another one does, but for sums in any order."""
    names: dict[str, Expression | None] = {loop.var: None}
    names.update((n.name, n.expression) for n in loop.body if isinstance(n, Let))
    if loop.step != ONE or any(isinstance(n, Assign) for n in loop.body):
        return False
    whole = [e for n in loop.body for e in expressions(n)]
    buffers = [n.buffer for n in loop.body if isinstance(n, Store)]
    for s in loop.body:
        if isinstance(s, Store) and not (
                buffers.count(s.buffer) == 1 and _is_read_only_there(s, whole) and (
                    slope_of(without_lets(s.index, names), loop.var, names) or _is_free_sum(s))):
            return False
    return True


def _is_read_only_there(s: Store, whole: Sequence[Expression]) -> bool:
    """Return whether a loop reads a buffer only at the place where a store writes to it."""
    places = [e.index for tree in whole for e in every(tree)
              if isinstance(e, Load) and e.buffer == s.buffer]
    return len(places) == sum(tree.mentions.count(s.buffer) for tree in whole) and all(
        place == s.index for place in places)


def _is_free_sum(s: Store) -> bool:
    e = s.expression
    return isinstance(e, Call) and e.fn.name == "radd" and (
        e.args[0] == Load(s.buffer, s.index, e.dtype))
