"""The engine of local rewrites: rebuild a graph, offering each equation to the rules of its op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tracejit.ir.builder import Builder
from tracejit.ir.control import region_kind
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Params, Value
from tracejit.ir.dead_code import drop_dead_code
from tracejit.ir.dims import Dim
from tracejit.ir.optable import find_op
from tracejit.ir.places import numbers_of
from tracejit.ir.walk import (
    Env,
    all_eqns,
    copy_of,
    copy_param,
    copy_type,
    copy_value,
    read_atom,
    replace_graph,
)

__all__ = ["Context", "Rule", "rewrite_graph"]


class Context:
    """The graph as a rule sees and changes it: the makers of operands, and new equations."""

    def __init__(self, builder: Builder, uses: Counter[Value]) -> None:
        self.builder = builder
        self.uses = uses
        self.makers: dict[Value, Eqn] = {}
        self.ranges: dict[Value, tuple[Dim | None, Dim | None]] = {}
        """The bounds of the numbers of iterations."""
        self.eqn: Eqn | None = None

    def maker(self, a: Atom, op: str) -> Eqn | None:
        """Return the equation that made an operand, if it is of this op."""
        eqn = self.makers.get(a) if isinstance(a, Value) else None
        return eqn if eqn is not None and eqn.op.name == op else None

    def is_only_use(self, a: Atom) -> bool:
        """Return whether an operand of the equation is an operand nowhere else."""
        return isinstance(a, Value) and self.uses[a] == 1

    def take_places(self, new: Sequence[Atom], old: Sequence[Value]) -> None:
        """Let values, made now or there before, have the uses of the values that they replace."""
        for a, v in zip(new, old, strict=True):
            if isinstance(a, Value) and a is not v:
                self.uses[a] += self.uses[v]

    def emit(self, op: str, *inputs: Atom, **params: object) -> Atom:
        """Emit an equation in place of the one being rewritten."""
        assert self.eqn is not None
        (v,) = self.builder.emit(find_op(op), inputs, params, site=self.eqn.site)
        if v not in self.makers:
            self.makers[v] = self.builder.scope.eqns[-1]
        self.uses.update(a for a in inputs if isinstance(a, Value))
        return v

    def constant(self, a: Atom) -> Any:
        """Return the number that an operand is in every element; None if it is not constant."""
        if isinstance(a, Literal):
            return a.val
        full = self.maker(a, "full")
        element = full.inputs[0] if full is not None else None
        return element.val if isinstance(element, Literal) else None


Rule = Callable[[Context, Eqn, Sequence[Atom], Params], "Atom | Sequence[Atom] | None"]
"""(context, old equation, new operands, new params) -> its replacements, or None."""


def rewrite_graph(graph: Graph, rules: dict[str, Sequence[Rule]]) -> Graph:
    """Return the graph with rules applied, bottom up, and without dead code."""
    env: Env = {}
    builder = Builder()
    context = Context(builder, _count_uses(graph))
    block = _rewrite_block(graph.block, env, context, rules)
    return drop_dead_code(replace_graph(graph, block))


def _count_uses(graph: Graph) -> Counter[Value]:
    """Return how often each value is an operand or a result."""
    uses = Counter(a for a in graph.outputs if isinstance(a, Value))
    for eqn in all_eqns(graph.block):
        uses.update(a for a in eqn.inputs if isinstance(a, Value))
        uses.update(a for r in eqn.regions for a in r.outputs if isinstance(a, Value))
    return uses


def _rewrite_block(block: Block, outer: Env, context: Context, rules: dict[str, Sequence[Rule]],
                   ) -> Block:
    env = dict(outer)
    # the graph's own inputs stay, and inputs of regions, unless their sizes have become others
    inputs = [v if copy_type(v.aval, env) == v.aval else copy_value(v, env) for v in block.inputs]
    context.take_places(inputs, block.inputs)
    with context.builder.block(inputs) as scope:
        for eqn in block.eqns:
            _rewrite_eqn(eqn, env, context, rules)
        return scope.close([read_atom(env, a) for a in block.outputs])


def _rewrite_eqn(eqn: Eqn, env: Env, context: Context, rules: dict[str, Sequence[Rule]]) -> None:
    inputs = [read_atom(env, a) for a in eqn.inputs]
    params = {k: copy_param(p, env) for k, p in eqn.params.items()}
    if region_kind(eqn) in ("for", "while", "map"):
        numbers = numbers_of(eqn.with_parts(tuple(inputs), params, eqn.outputs, eqn.regions, None))
        context.ranges.update((r.inputs[0], numbers) for r in eqn.regions)
    regions = tuple(_rewrite_block(r, env, context, rules) for r in eqn.regions)
    builder = context.builder
    builder.of, builder.group = copy_of(eqn, env), eqn.group
    typed = tuple(v if (t := copy_type(v.aval, env)) == v.aval else Value(t) for v in eqn.outputs)
    current = eqn.with_parts(tuple(inputs), params, typed, regions, builder.of)
    context.eqn = current
    for rule in rules.get(eqn.op.name, ()):
        result = rule(context, current, inputs, params)
        if result is not None:
            results = [result] if isinstance(result, (Value, Literal)) else list(result)
            _stand_in(results, eqn.outputs)
            context.take_places(results, eqn.outputs)
            context.uses.subtract(a for a in inputs if isinstance(a, Value))
            env.update(zip(eqn.outputs, results, strict=True))
            builder.of = builder.group = None
            return
    before = len(builder.scope.eqns)
    if regions or any(v.is_size for v in eqn.outputs):
        outputs = tuple(copy_value(v, env) for v in eqn.outputs)
        builder.append(replace(current, outputs=outputs))
    else:
        outputs = builder.emit(eqn.op, inputs, params, site=eqn.site)
        for old, new in zip(eqn.outputs, outputs, strict=True):
            new.name = new.name or old.name
        _stand_in(outputs, eqn.outputs)
        env.update(zip(eqn.outputs, outputs, strict=True))
    context.take_places(outputs, eqn.outputs)
    if len(builder.scope.eqns) > before:
        made = builder.scope.eqns[-1]
        context.makers.update((v, made) for v in made.outputs)
    builder.of = builder.group = None


def _stand_in(new: Sequence[Atom], old: Sequence[Value]) -> None:
    """Let the values that were made just now know the values they replace, their origin."""
    for a, v in zip(new, old, strict=True):
        if isinstance(a, Value) and a.origin is None and a.uid > v.uid:
            a.origin = v
