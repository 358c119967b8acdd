"""Walking and copying graphs: uses, free values, substitution."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Span, Value, type_dims
from tracejit.ir.dims import Dim, Expr, atom, dim_values, map_dim
from tracejit.ir.lowering import Callback, Effect, Library
from tracejit.ir.types import Aval, Type

__all__ = ["Env", "all_eqns", "block_uses", "bound_values", "copy_block", "copy_eqn", "copy_of",
           "calls_of_python", "draws", "eqn_uses", "first_undefined", "free_values", "has_effect",
           "prints", "read_atom", "replace_eqns", "replace_graph", "replace_regions",
           "without_prints"]

Env = dict[Value, "Atom | Dim"]
"""The substitute of each value: another value, a literal, or (for integers used as dims) a dim."""


def all_eqns(block: Block) -> Iterator[Eqn]:
    """Yield every equation, with the equations of its regions after it."""
    for eqn in block.eqns:
        yield eqn
        for region in eqn.regions:
            yield from all_eqns(region)


def bound_values(block: Block) -> Iterator[Value]:
    """Yield the results of the equations of a block, and the inputs of their regions."""
    for eqn in all_eqns(block):
        yield from eqn.outputs
        for region in eqn.regions:
            yield from region.inputs


def eqn_uses(eqn: Eqn) -> Iterator[Value]:
    """Yield the values that an equation reads, its regions included."""
    yield from eqn.uses()
    for region in eqn.regions:
        yield from free_values(region)


def block_uses(block: Block) -> Iterator[Value]:
    """Yield the values read anywhere in a block, its outputs included, bound or free."""
    for v in block.inputs:
        for d in type_dims(v.aval):
            yield from dim_values(d)
    for eqn in block.eqns:
        yield from eqn.uses()
        for region in eqn.regions:
            yield from block_uses(region)
    for a in block.outputs:
        if isinstance(a, Value):
            yield a


def first_undefined(block: Block, outer: Iterable[Value]) -> tuple[Value, Eqn | None] | None:
    """Return a value that is read where it is not defined, and its reader; None if all is well.

    outer -- the values defined around the block
    """
    defined = {*outer, *block.inputs}
    for eqn in block.eqns:
        for v in eqn.uses():
            if v not in defined:
                return v, eqn
        for region in eqn.regions:
            found = first_undefined(region, defined)
            if found is not None:
                return found
        defined.update(eqn.outputs)
    return next(((a, None) for a in block.outputs if isinstance(a, Value) and a not in defined),
                None)


def free_values(block: Block) -> list[Value]:
    """Return the values of enclosing blocks that a block reads, in order of first use."""
    bound: set[Value] = set()
    found: dict[Value, None] = {}

    def visit(b: Block) -> None:
        bound.update(b.inputs)
        for eqn in b.eqns:
            bound.update(eqn.outputs)
        for v in b.inputs:
            for d in type_dims(v.aval):
                found.update(dict.fromkeys(w for w in dim_values(d) if w not in bound))
        for eqn in b.eqns:
            found.update(dict.fromkeys(v for v in eqn.uses() if v not in bound))
            for region in eqn.regions:
                visit(region)
        found.update(dict.fromkeys(a for a in b.outputs
                                   if isinstance(a, Value) and a not in bound))

    visit(block)
    return [v for v in found if v not in bound]


# --- copying ------------------------------------------------------------------------------------


def read_atom(env: Mapping[Value, Atom | Dim], a: Atom) -> Atom:
    """Return the value that stands for an operand."""
    if isinstance(a, Literal):
        return a
    b = env.get(a, a)
    if isinstance(b, (Value, Literal)):
        return b
    if isinstance(b, int):
        return Literal(b, a.aval.dtype)
    raise TypeError(f"{a} is needed as a value but only its dim {b} is known")


def _read_dim(env: Mapping[Value, Atom | Dim], v: Value) -> Dim:
    b = env.get(v, v)
    if isinstance(b, Value):
        return atom(b)
    if isinstance(b, Literal):
        return int(b.val)
    return b


def copy_dim(d: Dim, env: Mapping[Value, Atom | Dim]) -> Dim:
    """Return a dim with its values replaced."""
    if isinstance(d, int) or not any(v in env for v in dim_values(d)):
        return d
    return map_dim(d, lambda v: _read_dim(env, v))


def copy_param(p: object, env: Mapping[Value, Atom | Dim]) -> Any:
    """Return a param with the values of its dims replaced."""
    if isinstance(p, Expr):
        return copy_dim(p, env)
    if isinstance(p, tuple):
        return tuple(copy_param(q, env) for q in p)
    if isinstance(p, Span):
        return Span(copy_dim(p.start, env), copy_dim(p.size, env), p.step)
    return p


def copy_type(t: Type, env: Mapping[Value, Atom | Dim]) -> Type:
    """Return a type with the values of its dims replaced."""
    if isinstance(t, Aval) and not t.is_static:
        return t.with_shape(tuple(copy_dim(d, env) for d in t.shape))
    return t


def copy_value(v: Value, env: Env) -> Value:
    """Bind a fresh value of the same type and name and return it."""
    new = Value(copy_type(v.aval, env), v.name, is_size=v.is_size)
    new.origin = v
    env[v] = new
    return new


def copy_eqn(eqn: Eqn, env: Env, regions: tuple[Block, ...] | None = None) -> Eqn:
    """Return an equation with its operands replaced and its outputs fresh and bound in `env`."""
    inputs = tuple(read_atom(env, a) for a in eqn.inputs)
    params = {k: copy_param(p, env) for k, p in eqn.params.items()}
    if regions is None:
        regions = tuple(copy_block(r, env) for r in eqn.regions)
    outputs = tuple(copy_value(v, env) for v in eqn.outputs)
    return eqn.with_parts(inputs, params, outputs, regions, copy_of(eqn, env))


def copy_of(eqn: Eqn, env: Mapping[Value, Atom | Dim]) -> Value | None:
    """Return the result of the forward equation that a backward one differentiates, replaced."""
    of = env.get(eqn.of, eqn.of) if eqn.of is not None else None
    return of if isinstance(of, Value) else eqn.of


def copy_block(block: Block, outer: Mapping[Value, Atom | Dim]) -> Block:
    """Return a block with free values replaced and bound values fresh."""
    env = dict(outer)
    inputs = tuple(copy_value(v, env) for v in block.inputs)
    eqns = tuple(copy_eqn(e, env) for e in block.eqns)
    return Block(inputs, eqns, tuple(read_atom(env, a) for a in block.outputs))


def replace_graph(graph: Graph, block: Block) -> Graph:
    """Return the graph with another block."""
    return replace(graph, block=block)


def replace_eqns(block: Block, change: Callable[[Eqn], Iterable[Eqn]]) -> Block:
    """Return a block with the equations that each equation becomes; itself where each stays.

    change -- gives the equations in an equation's place; it goes into regions by `replace_regions`
    """
    eqns = tuple(made for eqn in block.eqns for made in change(eqn))
    is_same = len(eqns) == len(block.eqns) and all(map(operator.is_, eqns, block.eqns))
    return block if is_same else Block(block.inputs, eqns, block.outputs)


def replace_regions(eqn: Eqn, change: Callable[[Block], Block]) -> Eqn:
    """Return an equation with other regions; itself where each stays."""
    regions = tuple(map(change, eqn.regions))
    is_same = all(map(operator.is_, regions, eqn.regions))
    return eqn if is_same else replace(eqn, regions=regions)


def has_effect(eqn: Eqn) -> bool:
    """Return whether an equation, or one in its regions, must stay even if nothing reads it."""
    return eqn.op.effect or any(has_effect(e) for r in eqn.regions for e in r.eqns)


def prints(block: Block) -> bool:
    """Return whether a block, or a region in it, shows anything."""
    return any(isinstance(e.op.lowering, Effect) and e.op.lowering.shows for e in all_eqns(block))


def draws(block: Block) -> bool:
    """Return whether a block, or a region in it, draws random numbers."""
    return any(e.op.lowering == Library("draw") for e in all_eqns(block))


def calls_of_python(block: Block) -> list[Any]:
    """Return the Python functions that a block, and regions in it, call."""
    return [e.params["callee"] for e in all_eqns(block) if isinstance(e.op.lowering, Callback)]


def without_prints(block: Block) -> Block:
    """Return a block, of the same values, that shows nothing: for values computed again."""
    return replace_eqns(block, _silent)


def _silent(eqn: Eqn) -> Iterator[Eqn]:
    how = eqn.op.lowering
    if not (isinstance(how, Effect) and how.shows):
        yield replace_regions(eqn, without_prints)
