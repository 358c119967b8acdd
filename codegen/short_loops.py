"""Nests whose innermost loops run over a size that was 2, 3 or 4 when the program was made.

Three coordinates of a point, say: a loop over them is too short for vectors, and the loop around it
is not vectorised because of it. Such a nest is written twice, and once with the short loops written
out; a sum at one place of memory then becomes a sum in a register:

    for i in range(n):                          if m == 3:
        for k in range(m):                          for i in range(n):
            g[i * m + k] = 0.0                          g[i * 3] = 0.0; ...
        for j in range(n):                              s = g[i * 3]; ...
            for k in range(m):                          for j in range(n):
                d = r[i * m + k] - r[j * m + k]             d = r[i * 3] - r[j * 3]
                g[i * m + k] = g[i * m + k] + d * d         s = radd(s, d * d); ...
                                                        g[i * 3] = s; ...
                                                else:
                                                    (as it was)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tracejit.codegen.expression_edits import call, every, integer, known_integer, rewritten
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import I64, ONE, ZERO, Bin, Expression, Load, Var
from tracejit.codegen.loop_ir import (
    Assign,
    Do,
    If,
    Let,
    Loop,
    Node,
    Return,
    Store,
    While,
    children,
    every_node,
    expressions,
)
from tracejit.codegen.node_copies import NodeCopier, folded

__all__ = ["SHORT", "sums_of", "write_out_short_loops"]

SHORT = range(2, 5)
"""The sizes that count as the structure of a program rather than as the amount of its data."""
MOST_NODES = 64
"""How many statements one short loop may become."""

Fresh = Callable[[str], str]


def write_out_short_loops(kernel: Kernel, lengths: Mapping[str, int], fresh: Fresh) -> None:
    """Give nests of a kernel a second form for sizes that are short, and note it in `short`.

    lengths -- the values of sizes, by their names, when the program was made
    fresh   -- gives a name that nothing else has
    """
    kernel.nodes = _in_two_forms(kernel.nodes, lengths, kernel.short, fresh)


def _in_two_forms(nodes: Sequence[Node], lengths: Mapping[str, int], found: dict[str, int],
                  fresh: Fresh) -> list[Node]:
    result: list[Node] = []
    nests: list[Loop] = []
    for node in nodes:
        nest = node if isinstance(node, Loop) and not node.blocks else None
        if nest is not None and _short_sizes(nest, lengths):
            nests.append(nest)
            continue
        result += _nests_in_two_forms(nests, lengths, found, fresh)
        nests = []
        if nest is not None:
            result += _written_out(result, nest, fresh)
            continue
        for block in children(node):
            block[:] = _in_two_forms(block, lengths, found, fresh)
        result.append(node)
    return result + _nests_in_two_forms(nests, lengths, found, fresh)


def _nests_in_two_forms(nests: list[Loop], lengths: Mapping[str, int], found: dict[str, int],
                        fresh: Fresh) -> list[Node]:
    """Return consecutive nests, and behind a test their forms with short loops written out.

    They share the test, so that a sum finds the zeros that an earlier nest stores in its place.
    """
    if not any(_short_sizes(loop, lengths) for nest in nests for loop in _inner_loops(nest)):
        return [*nests]
    short = {name: n for nest in nests for name, n in _short_sizes(nest, lengths).items()}
    found.update(short)
    values = {name: integer(n) for name, n in short.items()}
    special: list[Node] = []
    for nest in nests:
        own = {n.name: fresh(n.name) for n in every_node(nest.body) if isinstance(n, Let)}
        special += _written_out(special, NodeCopier(own, values).loop(nest), fresh)
    first, *others = (Bin("==", Var(name, I64), integer(n)) for name, n in short.items())
    return [If(functools.reduce(lambda a, b: Bin("and", a, b), others, first), special, [*nests])]


def _short_sizes(nest: Loop, lengths: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes over which short loops of a nest run that can be written out."""
    return {n.hi.name: lengths[n.hi.name] for n in (nest, *_inner_loops(nest))
            if isinstance(n.hi, Var) and n.hi.name in lengths
            and _can_be_written_out(n, lengths[n.hi.name])}


def _inner_loops(nest: Loop) -> list[Loop]:
    return [n for n in every_node(nest.body) if isinstance(n, Loop)]


def _can_be_written_out(loop: Loop, trips: int) -> bool:
    return trips in SHORT and loop.lo == ZERO and loop.step == ONE and not (
        loop.blocks or loop.reverse) and (
        len(list(every_node(loop.body))) * trips <= MOST_NODES) and not any(
            isinstance(n, (Loop, While, Return, Do)) for n in every_node(loop.body))


# --- short loops ----------------------------------------------------------------------------------


def _written_out(before: Sequence[Node], nest: Loop, fresh: Fresh) -> list[Node]:
    """Return a nest with the iterations of its short loops one after another.

    before -- the nodes before it in its block
    """
    block: list[Node] = [nest]
    if _write_out(block, fresh):
        return _with_registers(before, block, fresh)
    return block


def _write_out(nodes: list[Node], fresh: Fresh) -> bool:
    """Put the iterations of short loops one after another, in place; return whether any was."""
    result: list[Node] = []
    changed = False
    for node in nodes:
        for block in children(node):
            changed |= _write_out(block, fresh)
        trips = (known_integer(node.hi) or 0) if isinstance(node, Loop) else 0
        if isinstance(node, Loop) and _can_be_written_out(node, trips):
            changed = True
            for k in range(trips):
                own = {n.name: fresh(n.name) for n in every_node(node.body) if isinstance(n, Let)}
                result += NodeCopier(own, {node.var: integer(k)}).nodes(node.body)
        else:
            result.append(node)
    nodes[:] = result
    return changed


# --- sums at one place ----------------------------------------------------------------------------


def _with_registers(before: Sequence[Node], nodes: Sequence[Node], fresh: Fresh) -> list[Node]:
    """Return nodes whose loops keep sums at unchanging places in registers."""
    result: list[Node] = []
    for node in nodes:
        for block in children(node):
            block[:] = _with_registers((), block, fresh)
        sums = [s for s in sums_of(node) if _is_set([*before, *result], s)] if isinstance(
            node, Loop) else []
        registers = [(s, Var(fresh("s"), s.expression.dtype)) for s in sums]
        result += [Assign(v.name, Load(s.buffer, s.index, v.dtype)) for s, v in registers]
        result.append(node)
        for s, v in registers:
            assert isinstance(node, Loop)
            node.body[node.body.index(s)] = Assign(v.name, call("radd", v, _term(s)), s.origin)
            result.append(replace(s, expression=v))
    return result


def _term(s: Store) -> Expression:
    assert isinstance(s.expression, Bin)
    return s.expression.b


def sums_of(loop: Loop) -> list[Store]:
    """Return the stores of a loop that add to a place which no iteration and no other store has."""
    inside = list(every_node(loop.body))
    changing = {loop.var} | {n.name for n in inside if isinstance(n, (Let, Assign))} | {
        n.var for n in inside if isinstance(n, Loop)}
    found: dict[str, list[Store]] = {}
    for n in inside:
        if isinstance(n, Store):
            found.setdefault(n.buffer, []).append(n)
    reads = [e for n in inside for whole in expressions(n) for e in every(whole)]
    sums: list[Store] = []
    for buffer, stores in found.items():
        loads = [e for e in reads if buffer in e.mentions and (
            (isinstance(e, Load) and e.buffer == buffer) or not e.parts)]
        if len(loads) == len(stores) and all(
                _adds(s, loop) and s.index.reads.isdisjoint(changing) for s in stores) and (
                    _are_apart([s.index for s in stores])):
            sums += stores
    return sums


def _adds(s: Store, loop: Loop) -> bool:
    """Return whether a store is a plain sum of floats: `b[p] = b[p] + term`."""
    e = s.expression
    return isinstance(e, Bin) and e.op == "+" and e.dtype.kind in "fc" and (
        any(n is s for n in loop.body) and e.a == Load(s.buffer, s.index, e.dtype))


def _are_apart(places: Sequence[Expression]) -> bool:
    """Return whether indices are a common one and different constants."""
    split = [_place(p) for p in places]
    return len({base for base, _ in split}) == 1 and len({k for _, k in split}) == len(split)


def _place(index: Expression) -> tuple[Expression, int]:
    """Return an index as a part that is no constant, and a constant."""
    e = rewritten(index, lambda x: folded(x) if isinstance(x, Bin) and x.op in "+*" else x)
    whole = known_integer(e)
    if whole is not None:
        return ZERO, whole
    k = known_integer(e.b) if isinstance(e, Bin) and e.op == "+" else None
    return (e, 0) if k is None else (e.a, k)  # type: ignore[attr-defined]


def _is_set(before: Sequence[Node], s: Store) -> bool:
    """Return whether the place of a sum is set just before a loop, so that the place exists."""
    for node in reversed(before):
        if isinstance(node, Store) and node.buffer == s.buffer and (
                _place(node.index) == _place(s.index)):
            return True
        if isinstance(node, Let | Assign) and node.name in s.index.reads:
            return False
    return False
