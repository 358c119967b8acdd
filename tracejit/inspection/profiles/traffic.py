"""The flops and traffic of stretches of Loop IR: numbers from counters, formulas from loop bounds.

Counted are the operations of expressions outside of indices, and per buffer the distinct elements
that are read and written. Of an array that a nest reads shifted (`u[i]`, `u[i + 1]`) each element
counts once; loops of the program count anew in each iteration. Bytes that a cache line brings along
unused, or that a store reads before it writes, are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import ONE, Expression, Select
from tracejit.codegen.loop_ir import Let, Loop, Node, Store, While, children, expressions
from tracejit.inspection.costs.formulas import summed
from tracejit.inspection.costs.routines import calls_in
from tracejit.inspection.profiles.instrument import is_margins
from tracejit.inspection.profiles.symbols import BufferElement, Symbols
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, bare_value, dim_values, maximum

__all__ = ["Traffic", "count_traffic"]


@dataclass(slots=True)
class Traffic:
    """The flops and traffic of a row of a profile in one call.

    flops, bytes, calls -- numbers
    footprint           -- bytes of memory that it goes over
    formulas            -- of flops and bytes, None where the bounds of loops are no formula
    is_bound            -- whether the formulas count branches as always taken that were not
    dtypes              -- of the floating-point memory that it touches
    """

    flops: float = 0.0
    bytes: float = 0.0
    footprint: float = 0.0
    calls: dict[str, float] = field(default_factory=dict)
    flops_formula: Dim | None = 0
    bytes_formula: Dim | None = 0
    is_bound: bool = False
    dtypes: set[np.dtype] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Link:
    """A loop or branch around a node.

    names -- its variable
    mean  -- how often its body runs, per time that it is met
    own   -- whether it is a loop of the program
    """

    name: str
    mean: float
    own: bool
    value: Value | None = None
    lo: Dim | None = None
    hi: Dim | None = None
    is_branch: bool = False


@dataclass(slots=True)
class _Group:
    """Accesses that differ by a constant: they touch the same elements."""

    count: float
    footprint: float
    formula: Dim | None
    residues: set[object]
    stride: int

    @property
    def distinct(self) -> int:
        """Return how many sets of elements, one in `stride`, they are."""
        return max(1, min(len(self.residues), self.stride))


def count_traffic(kernel: Kernel, rows: Sequence[tuple[Traffic, Sequence[Node]]],
                  executions: Callable[[object], int], symbols: Symbols) -> None:
    """Fill in the flops and bytes of rows.

    rows       -- with the nodes that belong to each
    executions -- how often a block ran, and the sums of routines' amounts, by `counted`'s keys
    """
    counter = _TrafficCounter(executions, symbols, {id(n): r for r, nodes in rows for n in nodes})
    counter.walk(kernel.nodes, 1, (), None)
    counter.finish()


class _TrafficCounter:
    """Walks a kernel once."""

    def __init__(self, executions: Callable[[object], int], symbols: Symbols,
                 rows: Mapping[int, Traffic]) -> None:
        self.executions, self.symbols, self.rows = executions, symbols, rows
        self.groups: dict[tuple[int, str, str], dict[object, _Group]] = {}
        self.owned: dict[int, Traffic] = {id(t): t for t in rows.values()}
        self.own_trips: dict[tuple[int, str, str], float] = {}
        self.span: tuple[Dim | None, Dim | None] | None = None
        self.is_margin = False

    def walk(self, nodes: Sequence[Node], times: float, chain: tuple[Link, ...],
             row: Traffic | None) -> None:
        """Count the nodes of a block that runs so many times in all."""
        if not times:
            return
        for node in nodes:
            mine = self.rows.get(id(node), row)
            self.symbols.define(node)
            if mine is not None:
                self.expressions(node, times, chain, mine, id(nodes))
                self.routines(node, chain, mine)
            if isinstance(node, Loop):
                self.loop(node, times, chain, mine)
                continue
            for block in children(node):
                inner = self.executions(id(block))
                if isinstance(node, While):
                    link = Link(node.counter, inner / times, True, None, 0,
                                self.symbols.count_of(node))
                else:
                    link = Link("", inner / times, False, is_branch=True)
                self.walk(block, inner, (*chain, link), mine)

    def loop(self, node: Loop, times: float, chain: tuple[Link, ...],
             row: Traffic | None) -> None:
        """Count a loop."""
        symbols = self.symbols
        inner = self.executions(id(node.body))
        lo, hi = symbols.dim(node.lo), symbols.dim(node.hi)
        was_margin = self.is_margin
        if is_margins(node):
            self.is_margin = True
            whole: tuple[Dim | None, Dim | None] | None = (0, symbols.dim(_end_of(node)))
        elif self.span is not None and not self.is_margin:
            lo, hi = self.span
            whole = self.span = None
        else:
            whole = None
        if node.step != ONE:  # blocks of iterations: the loop inside runs over all of them
            whole = (lo, hi)
            lo, hi = 0, 1
        with symbols.variable(node.var, (node.lo, node.hi)) as value:
            if not is_margins(node):
                self.span = whole
            link = Link(node.var, inner / times, bool(node.blocks), value, lo, hi)
            self.walk(node.body, inner, (*chain, link), row)
        self.span = whole if is_margins(node) else None
        self.is_margin = was_margin

    # --- reads and writes of nodes --------------------------------------------------------------

    def expressions(self, node: Node, times: float, chain: tuple[Link, ...], row: Traffic,
                    block: int) -> None:
        """Add the operations and accesses of a node's expressions."""
        row.is_bound |= any(link.is_branch and link.mean < 1.0 for link in chain)
        for k, e in enumerate(expressions(node)):
            is_index = isinstance(node, Store) and k == 0
            flops, calls, accesses = self.symbols.read(e)
            if not is_index and flops:
                row.flops += flops * times
                self._formula(row, "flops_formula", flops, chain)
            for name, count in ({} if is_index else calls).items():
                row.calls[name] = row.calls.get(name, 0) + count * times
            for access in accesses:
                self.access(row, "read", access, chain, block)
        if isinstance(node, Store):
            self.access(row, "write", self.symbols.access(node.buffer, node.index), chain, block)

    def _formula(self, row: Traffic, name: str, factor: Dim, chain: tuple[Link, ...]) -> None:
        if self.is_margin:
            return
        before, total = getattr(row, name), _total(chain, lambda link: True)
        setattr(row, name, None if before is None or total is None else before + factor * total)

    def access(self, row: Traffic, mode: str, access: BufferElement, chain: tuple[Link, ...],
               block: int) -> None:
        """Note that elements of a buffer are touched."""
        every = "*" in access.names

        def depends(link: Link) -> bool:
            return every or link.name in access.names

        count = footprint = own = 1.0
        for link in chain:
            count *= link.mean if link.own or link.is_branch or depends(link) else 1.0
            footprint *= link.mean if link.is_branch or depends(link) else 1.0
            own *= link.mean if link.own and not depends(link) else 1.0
        key = (id(row), access.buffer, mode)
        self.own_trips[key] = max(own, self.own_trips.get(key, 0.0))
        groups = self.groups.setdefault(key, {})
        formula = None if self.is_margin else _total(
            chain, lambda link: link.own or depends(link))
        group = groups.setdefault((block, access.form), _Group(
            count, footprint, 0 if self.is_margin else formula, set(), access.stride))
        group.residues.add(access.residue)

    def routines(self, node: Node, chain: tuple[Link, ...], row: Traffic) -> None:
        """Add the flops and bytes of calls of library routines."""
        own = 1.0
        for link in chain:
            own *= link.mean
        for call in calls_in(node):
            row.flops += self.executions((id(node), call.flops))
            flops = self.symbols.dim(call.flops)
            self._routine_formula(row, "flops_formula", flops, chain)
            for mode, amounts in (("read", call.reads), ("write", call.writes)):
                for buffer, amount in amounts.items():
                    itemsize = self.symbols.dtype_of(buffer).itemsize
                    total = self.executions((id(node), amount))
                    row.bytes += total * itemsize
                    if mode == "read" or buffer not in call.reads:
                        row.footprint += total * itemsize / max(own, 1.0)
                    elements = self.symbols.dim(amount)
                    self._routine_formula(row, "bytes_formula", None if elements is None
                                          else elements * itemsize, chain)
                    self._note_dtype(row, buffer)

    def _routine_formula(self, row: Traffic, name: str, amount: Dim | None,
                         chain: tuple[Link, ...]) -> None:
        before = getattr(row, name)
        loops = tuple(link for link in chain if not link.is_branch)
        total = None if amount is None else _total(loops, lambda link: True, amount)
        setattr(row, name, None if before is None or total is None else before + total)

    def _note_dtype(self, row: Traffic, buffer: str) -> None:
        dtype = self.symbols.dtype_of(buffer)
        if dtype.kind in "fc":
            row.dtypes.add(dtype)

    def finish(self) -> None:
        """Add up the accesses of each row, no more per buffer than it has elements."""
        footprints: dict[tuple[int, str], float] = {}
        for key, groups in self.groups.items():
            row_id, buffer, _ = key
            row = self.owned[row_id]
            itemsize = self.symbols.dtype_of(buffer).itemsize
            size = self.symbols.size_of(buffer)
            count = sum(g.count * g.distinct for g in groups.values())
            footprint = sum(g.footprint * g.distinct for g in groups.values())
            if size is not None:
                count = min(count, size * self.own_trips[key])
                footprint = min(footprint, size)
            row.bytes += count * itemsize
            self._note_dtype(row, buffer)
            place = (row_id, buffer)
            footprints[place] = max(footprints.get(place, 0.0), footprint * itemsize)
            formula = _sum_of(groups.values())
            row.bytes_formula = None if formula is None or row.bytes_formula is None else (
                row.bytes_formula + formula * itemsize)
        for (row_id, _), bytes_ in footprints.items():
            self.owned[row_id].footprint += bytes_


def _end_of(margins: Loop) -> Expression:
    """Return where the loop that margins belong to ends: of `select(part == 0, first, n)`, n."""
    stop = [n.expression for n in margins.body if isinstance(n, Let)][-1]
    return stop.b if isinstance(stop, Select) else stop


def _sum_of(groups: Iterable[_Group]) -> Dim | None:
    """Return the formula for accesses in different places: one for each of the arrays' parts."""
    total: Dim = 0
    for formula in dict.fromkeys((g.formula, g.distinct) for g in groups):
        if formula[0] is None:
            return None
        total = total + formula[0] * formula[1]
    return total


def _total(chain: Sequence[Link], included: Callable[[Link], bool], start: Dim = 1) -> Dim | None:
    """Return how often the inside of loops runs, loops that are not included counting once."""
    total: Dim = start
    for link in reversed(chain):
        if link.is_branch:
            continue
        if not included(link):
            if link.value is not None and link.value in set(dim_values(total)):
                return None
            continue
        if link.lo is None or link.hi is None:
            return None
        index = link.value
        hi = link.hi if isinstance(link.hi - link.lo, int) else maximum(link.hi, link.lo)
        if bare_value(link.hi) is not None:
            hi = link.hi
        if index is None:
            total = total * (hi - link.lo)
        else:
            total, is_exact = summed(total, index, link.lo, hi)
            if not is_exact:
                return None
    return total
