"""The flops and traffic of a graph, as formulas in its sizes: flops, calls, bytes.

`costs_of(graph)` adds up equations. It counts:

- *flops*: `+ - * /`, negation, comparison, the larger of two and rounding are one each, on floats;
  on complex numbers they count as the operations on floats that they are made of, on integers and
  bools as nothing. A sum of n terms is n, a product of matrices 2nmk, factorisations their leading
  term.
- *calls* of functions such as `exp`, `sqrt` and `pow` are counted by name and are no flops.
- *bytes moved*: each equation reads its operands and writes its result, as NumPy would; views are
  free, a write to a slice moves the slice. Loops over elements that were fused move less, but not
  less than the *least*: the graph's own arrays, once each.

A counted loop multiplies by its trips, `range(n)` by n; where its body's costs depend on the index
they are summed up. How often a `while` runs is not known: its count is a name in the formula, which
stands for 1 where numbers are asked for. Of a branch, the dearer side counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tracejit.inspection.costs.formulas import format_formula, larger, smaller, summed
from tracejit.inspection.costs.operations import operations_of
from tracejit.ir.control import LoopEqn, bounds_of, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value
from tracejit.ir.dims import Dim, dim_values, evaluate, floor_div, maximum, product
from tracejit.ir.lowering import (
    Alias,
    Argument,
    Callback,
    Contract,
    Effect,
    Gather,
    Index,
    Inline,
    Library,
    LogOp,
    Native,
    Pointwise,
    Reduce,
    Region,
    Running,
    Ties,
    View,
    Write,
    axis_labels,
)
from tracejit.ir.printer import Names
from tracejit.ir.walk import all_eqns

__all__ = ["Costs", "Numbers", "costs_of"]


@dataclass(frozen=True, slots=True)
class Numbers:
    """Costs for known sizes."""

    flops: int
    bytes_moved: int
    least_bytes: int
    calls: Mapping[str, int]

    @property
    def intensity(self) -> float:
        """Return the arithmetic intensity: flops per byte moved."""
        return self.flops / self.bytes_moved if self.bytes_moved else 0.0


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of a graph as dims.

    calls    -- by function, how often it is called
    names    -- the names of sizes, and of counts that are not known beforehand
    unknowns -- per count that is not known beforehand, its name and its description
    notes    -- rough counts, and where
    """

    flops: Dim
    bytes_moved: Dim
    least_bytes: Dim
    calls: Mapping[str, Dim]
    names: Mapping[Value, str]
    unknowns: Mapping[str, str]
    notes: tuple[str, ...]

    def text(self, formula: Dim) -> str:
        """Return a formula in the names of the sizes: `3*n*m + 2*n`."""
        return format_formula(formula, self.names)

    def at(self, sizes: Mapping[str, int]) -> Numbers:
        """Return the numbers for given sizes; unknown counts are 1 where they are not given.

        Raises `ValueError` where a size is missing.
        """
        def number(d: Dim) -> int:
            return max(evaluate(d, lambda v: self._number(v, sizes)), 0)

        calls = {name: number(d) for name, d in self.calls.items()}
        return Numbers(number(self.flops), number(self.bytes_moved), number(self.least_bytes),
                       calls)

    def _number(self, v: Value, sizes: Mapping[str, int]) -> int:
        name = self.names[v]
        if name not in sizes and name not in self.unknowns:
            raise ValueError(f"the size {name} is needed: costs.at({{{name!r}: ...}})")
        return int(sizes.get(name, 1))

    def lines(self) -> list[str]:
        """Return the costs as lines of text."""
        calls = " + ".join(f"{_factor(self.text(d))} {name}" for name, d in self.calls.items())
        lines = [f"flops: {self.text(self.flops)}" + (f", and calls: {calls}" if calls else ""),
                 f"bytes: {self.text(self.bytes_moved)} if nothing is fused, "
                 f"{self.text(self.least_bytes)} at least"]
        lines += [f"{name} is {meaning}" for name, meaning in self.unknowns.items()]
        return [*lines, *self.notes]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _factor(text: str) -> str:
    return f"({text})" if " + " in text or " - " in text else text


# --- sums ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Sum:
    """Flops, bytes and calls so far."""

    flops: Dim = 0
    bytes: Dim = 0
    calls: dict[str, Dim] = field(default_factory=dict)

    def add(self, other: _Sum) -> None:
        """Add another sum."""
        self.flops, self.bytes = self.flops + other.flops, self.bytes + other.bytes
        for name, count in other.calls.items():
            self.calls[name] = self.calls.get(name, 0) + count

    def map(self, fn: Callable[[Dim], Dim]) -> _Sum:
        """Return the sum with a function applied to each of its parts."""
        return _Sum(fn(self.flops), fn(self.bytes), {k: fn(d) for k, d in self.calls.items()})

    def dearer(self, other: _Sum) -> _Sum:
        """Return, part by part, the larger of two sums."""
        names = dict.fromkeys((*self.calls, *other.calls))
        calls = {k: larger(self.calls.get(k, 0), other.calls.get(k, 0)) for k in names}
        return _Sum(larger(self.flops, other.flops), larger(self.bytes, other.bytes), calls)


def costs_of(graph: Graph) -> Costs:
    """Return the flops and traffic of a graph.

    >>> import numpy as np, tracejit
    >>> from tracejit.inspection.costs.counting import costs_of
    >>> slope = tracejit.grad(lambda x: np.sum(np.exp(x) * x))
    >>> print(costs_of(slope.trace(tracejit.spec("f64[n]")).graph))
    flops: 2*n, and calls: n exp
    bytes: 64*n if nothing is fused, 16*n at least
    """
    return _Counter(graph).run()


class _Counter:
    """Counts one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.makers = {v: e for e in all_eqns(graph.block) for v in e.outputs}
        self.notes: dict[str, None] = {}

    def run(self) -> Costs:
        total = self.block(self.graph.block)
        arrays = dict.fromkeys(a for a in (*self.graph.inputs, *self.graph.outputs)
                               if isinstance(a, Value) and _is_array(a))
        least: Dim = 0
        for v in arrays:
            least = least + _bytes(v)
        formulas = [total.flops, total.bytes, least, *total.calls.values()]
        names, unknowns = self._names(formulas)
        return Costs(total.flops, total.bytes, least, total.calls, names, unknowns,
                     tuple(self.notes))

    def _names(self, formulas: Sequence[Dim]) -> tuple[dict[Value, str], dict[str, str]]:
        """Name the values of formulas: sizes and arguments have names, counts get one."""
        printed = Names()
        names = {v: printed.of(v) for v in (*self.graph.sizes, *self.graph.inputs)}
        unknowns: dict[str, str] = {}
        for v in dict.fromkeys(v for d in formulas for v in dim_values(d)):
            if v in names:
                continue
            free = ("k", *(f"k{i}" for i in range(2, len(names) + 3)))
            names[v] = next(name for name in free if name not in names.values())
            unknowns[names[v]] = self._meaning(v)
        return names, unknowns

    def _meaning(self, v: Value) -> str:
        maker = self.makers.get(v)
        if maker is not None and region_kind(maker) == "while":
            return f"the number of iterations of the loop at {maker.site}"
        where = "" if maker is None or maker.site is None else f" at {maker.site}"
        return f"a number that is found at run time{where}"

    # --- blocks and regions ---------------------------------------------------------------------

    def block(self, block: Block) -> _Sum:
        total = _Sum()
        for eqn in block.eqns:
            total.add(self.eqn(eqn))
        return total

    def eqn(self, eqn: Eqn) -> _Sum:
        how = eqn.op.lowering
        if isinstance(how, Region):
            return self.region(eqn, how.kind)
        if isinstance(how, Inline):
            return self.block(eqn.regions[0]) if how.what == "region" else _Sum()
        found = _Sum(bytes=self.moved(eqn))
        elements = product(eqn.outputs[0].aval.shape) if _has_type(eqn) else 0
        if isinstance(how, Pointwise):
            _pointwise(eqn, how, elements, found)
        elif isinstance(how, Library):
            _library(eqn, how, found)
        elif isinstance(how, (Native, Callback)):
            found.calls[eqn.op.name] = 1
        elif _is_floating(eqn.inputs):
            found.flops = self.flops(eqn, elements)
        return found

    def region(self, eqn: Eqn, kind: str) -> _Sum:
        parts = [self.block(region) for region in eqn.regions]
        if kind == "if":
            then, other = parts
            if then != other:
                self.notes[f"of the branch at {eqn.site} the dearer side is counted"] = None
            return then.dearer(other)
        lo, hi = bounds_of(eqn)
        *tested, index = LoopEqn(eqn).indices
        total = parts[-1].map(lambda d: self.over(d, index, lo, hi, eqn))
        if not tested:
            return total
        first = parts[0].map(lambda d: self.over(d, tested[0], lo, hi + 1, eqn))
        first.add(total)
        return first

    def over(self, d: Dim, index: Value, lo: Dim, hi: Dim, eqn: Eqn) -> Dim:
        """Return the sum of the costs of iterations."""
        is_count = any(hi - v.dim in (0, 1) for v in dim_values(hi))
        total, is_exact = summed(d, index, lo, hi if is_count else maximum(hi, lo))
        if not is_exact:
            self.notes[f"in the loop at {eqn.site} each iteration counts as the last one"] = None
        return total

    # --- equations ------------------------------------------------------------------------------

    def flops(self, eqn: Eqn, elements: Dim) -> Dim:
        """Return the operations of folds and contractions, and of additions to elements."""
        how = eqn.op.lowering
        weight = 2 if _is_complex(eqn.inputs) else 1
        if isinstance(how, (Reduce, Argument, Ties, Running)):
            return weight * product(eqn.inputs[0].aval.shape)
        if isinstance(how, Contract):
            return _contraction(eqn)
        if isinstance(how, Write) and how.combine == "add":
            return weight * product(eqn.inputs[1].aval.shape)
        return 0

    def moved(self, eqn: Eqn) -> Dim:
        """Return the bytes that an equation reads and writes."""
        how = eqn.op.lowering
        if isinstance(how, LogOp):
            return _sum(_bytes(a) for a in (*eqn.inputs, *eqn.outputs) if not _is_log(a))
        if isinstance(how, (View, Alias)):  # free, but for a number that is read from an array
            is_item = _is_array(eqn.inputs[0]) and not _is_array(eqn.output)
            return _bytes(eqn.output) if is_item else 0
        if isinstance(how, (Index, Effect)):
            return 0
        if isinstance(how, Write):
            part, *indices = eqn.inputs[1:]
            twice = 2 if how.combine == "add" else 1
            return _sum([self.read(part), twice * _bytes(part), *map(self.read, indices)])
        if isinstance(how, Gather):
            reads = [_bytes(eqn.output), *map(self.read, eqn.inputs[1:])]
        else:
            reads = list(map(self.read, dict.fromkeys(eqn.inputs)))
        return _sum([*reads, *(_bytes(v) for v in eqn.outputs if _is_array(v))])

    def read(self, a: Atom) -> Dim:
        """Return the bytes of an operand: repeats of views are read once, numbers are no memory."""
        if not _is_array(a):
            return 0
        least = _bytes(a)
        while a in self.makers:
            maker = self.makers[a]
            if isinstance(maker.op.lowering, Index):
                return 0
            if not isinstance(maker.op.lowering, (View, Alias)):
                return least
            a = maker.inputs[0]
            if not _is_array(a):
                return 0
            least = smaller(least, _bytes(a))
        return least


def _pointwise(eqn: Eqn, how: Pointwise, elements: Dim, found: _Sum) -> None:
    if not _is_floating(eqn.inputs):
        return
    made = operations_of(how.written(eqn.params, len(eqn.inputs)))
    found.flops = made.flops(is_complex=_is_complex(eqn.inputs)) * elements
    found.calls = {name: count * elements for name, count in made.calls.items()}


def _contraction(eqn: Eqn) -> Dim:
    left, right, output = axis_labels(eqn.params["spec"])
    dims = dict(zip(left + right, (*eqn.inputs[0].aval.shape, *eqn.inputs[1].aval.shape),
                    strict=True))
    every = product(tuple(dims.values()))
    multiply, add = (6, 2) if _is_complex(eqn.inputs) else (1, 1)
    return (multiply + add if set(dims) - set(output) else multiply) * every


ROUTINES: dict[str, Callable[[Dim, Dim], Dim]] = {
    "cholesky": lambda n, m: floor_div(n * n * n, 3),
    "cholesky_or_not": lambda n, m: floor_div(n * n * n, 3),
    "lu": lambda n, m: floor_div(2 * n * n * n, 3),
    "lu_or_not": lambda n, m: floor_div(2 * n * n * n, 3),
    "triangular_solve": lambda n, m: n * n * m,
    "solve": lambda n, m: 2 * n * n * m,
    "slogdet": lambda n, m: n,
}
"""The flops of library routines on n × n and n × m matrices: their leading terms."""


def _library(eqn: Eqn, how: Library, found: _Sum) -> None:
    routine = ROUTINES.get(how.routine)
    if routine is None:
        found.calls[how.routine] = 1
        return
    last = eqn.inputs[min(1, len(eqn.inputs) - 1)]
    found.flops = routine(eqn.inputs[0].aval.shape[0], (*last.aval.shape, 1)[1])


# --- atoms --------------------------------------------------------------------------------------


def _sum(dims: Iterable[Dim]) -> Dim:
    total: Dim = 0
    for d in dims:
        total = total + d
    return total


def _has_type(eqn: Eqn) -> bool:
    return bool(eqn.outputs) and not eqn.outputs[0].is_log


def _is_log(a: Atom) -> bool:
    return isinstance(a, Value) and a.is_log


def _is_array(a: Atom) -> bool:
    return not _is_log(a) and bool(a.aval.shape)


def _bytes(a: Atom) -> Dim:
    return product(a.aval.shape) * a.aval.dtype.itemsize


def _is_floating(atoms: Sequence[Atom]) -> bool:
    return any(a.aval.dtype.kind in "fc" for a in atoms)


def _is_complex(atoms: Sequence[Atom]) -> bool:
    return any(a.aval.dtype.kind == "c" for a in atoms)
