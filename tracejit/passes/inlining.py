"""Calls gone: equations made for the gradient pass alone take the form that codegen wants."""

from __future__ import annotations

from tracejit.ir.core import Block, Eqn, Graph
from tracejit.ir.lowering import Inline
from tracejit.ir.walk import Env, copy_block, copy_eqn, copy_value, read_atom, replace_graph

__all__ = ["inline_calls"]


def inline_calls(graph: Graph) -> Graph:
    """call{body}(x) = body(x); stop_gradient(x) = x."""
    if not any(_has_call(e) for e in graph.eqns):
        return graph
    return replace_graph(graph, _inline_block(graph.block, {}))


def _has_call(eqn: Eqn) -> bool:
    return isinstance(eqn.op.lowering, Inline) or any(_has_call(e) for r in eqn.regions
                                                      for e in r.eqns)


def _inline_block(block: Block, outer: Env) -> Block:
    env = dict(outer)
    for v in block.inputs:
        env.setdefault(v, v)
    eqns: list[Eqn] = []
    _inline_into(block, env, eqns)
    return Block(block.inputs, tuple(eqns), tuple(read_atom(env, a) for a in block.outputs))


def _inline_into(block: Block, env: Env, eqns: list[Eqn]) -> None:
    for eqn in block.eqns:
        how = eqn.op.lowering
        if not isinstance(how, Inline):
            regions = tuple(_inline_region(r, env) for r in eqn.regions)
            eqns.append(copy_eqn(eqn, env, regions))
        elif how.what == "operands":
            env.update((v, read_atom(env, a))
                       for v, a in zip(eqn.outputs, eqn.inputs, strict=False))
        else:
            (body,) = eqn.regions
            inner: Env = {**env, **{v: read_atom(env, a)
                                    for v, a in zip(body.inputs, eqn.inputs, strict=True)}}
            copied = copy_block(Block((), body.eqns, body.outputs), inner)
            spliced: Env = dict(env)
            _inline_into(copied, spliced, eqns)
            env.update((v, read_atom(spliced, a))
                       for v, a in zip(eqn.outputs, copied.outputs, strict=True))


def _inline_region(region: Block, outer: Env) -> Block:
    env = dict(outer)
    inputs = tuple(copy_value(v, env) for v in region.inputs)
    eqns: list[Eqn] = []
    _inline_into(region, env, eqns)
    return Block(inputs, tuple(eqns), tuple(read_atom(env, a) for a in region.outputs))
