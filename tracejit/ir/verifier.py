"""The check that a graph is well formed: values defined before use, types as inferred."""

from __future__ import annotations

from collections.abc import Iterable

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Graph, Value, type_dims
from tracejit.ir.dims import bare_value, dim_values
from tracejit.ir.printer import Names, format_eqn
from tracejit.ir.types import Aval

__all__ = ["verify_graph"]


def verify_graph(graph: Graph) -> Graph:
    """Return the graph unchanged, or raise `IRError` that shows the first bad equation."""
    verify_block(graph.block, set(graph.sizes))
    verify_sizes(graph)
    return graph


def verify_sizes(graph: Graph) -> None:
    """Check that each size is by itself a dim of some input.

    A size of a program that was put into this one would be left over here: it is no input's dim.
    """
    told = {bare_value(d) for x in graph.inputs for d in type_dims(x.aval)}
    for size in graph.sizes:
        _require(size in told, f"no input's shape says what the size {size.name} is")


def verify_block(block: Block, outer: set[Value]) -> None:
    """Check a block whose enclosing blocks define `outer`."""
    defined = set(outer)
    for v in block.inputs:
        _require(v not in defined, f"{v} is defined twice")
        defined.add(v)
    for v in block.inputs:
        _require_defined((w for d in type_dims(v.aval) for w in dim_values(d)), defined, None)
    spent: set[Value] = set()
    for eqn in block.eqns:
        _require_defined(eqn.uses(), defined, eqn)
        for a in eqn.inputs:  # a Log is read once
            if isinstance(a, Value) and a.is_log:
                _require(a not in spent, f"{a} is used twice", eqn)
                spent.add(a)
        for region in eqn.regions:
            verify_block(region, defined)
        _verify_types(eqn)
        for v in eqn.outputs:
            _require(v not in defined, f"{v} is defined twice", eqn)
            defined.add(v)
    _require_defined((a for a in block.outputs if isinstance(a, Value)), defined, None)


def _verify_types(eqn: Eqn) -> None:
    inferred = eqn.op.infer([a.aval for a in eqn.inputs], eqn.params, eqn.regions)
    _require(len(inferred) == len(eqn.outputs), "the number of results is wrong", eqn)
    fresh = any(v in eqn.outputs for out in eqn.outputs
                for d in type_dims(out.aval) for v in dim_values(d))
    for t, v in zip(inferred, eqn.outputs, strict=True):
        same = t == v.aval
        if fresh and isinstance(t, Aval) and not v.is_log:
            same = t.dtype == v.aval.dtype and t.ndim == v.aval.ndim
        _require(same, f"a result of type {v.aval} should be {t}", eqn)


def _require(condition: bool, what: str, eqn: Eqn | None = None) -> None:
    if not condition:
        where = "\n".join(["", *format_eqn(eqn, Names(), "  ")]) if eqn is not None else ""
        raise IRError(f"malformed graph: {what}{where}")


def _require_defined(values: Iterable[Value], defined: set[Value], eqn: Eqn | None) -> None:
    for v in values:
        _require(v in defined, f"{v} is read before it is defined", eqn)
