"""Graph to graph: gradients, pullbacks, tangents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tracejit.autodiff.forward import forward_block
from tracejit.autodiff.reverse import ReverseSweep, reverse_block
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value, type_dims
from tracejit.ir.dead_code import prune_block
from tracejit.ir.dims import Dim, bare_value, dim_values
from tracejit.ir.halves import widened, widened_block
from tracejit.ir.inductions import without_inductions
from tracejit.ir.types import scalar
from tracejit.ir.walk import all_eqns, block_uses, replace_graph, without_prints
from tracejit.trace.ground.context import Trace, active, current
from tracejit.trace.state.captured import FixedCaptures
from tracejit.trace.state.guards import Guarded
from tracejit.trace.values.equations import apply, same_dim
from tracejit.trace.values.tracer import tracer_of

__all__ = ["adjoint_graph", "after_capture", "assume_sizes", "cut_block", "gradient_block",
           "gradient_graph", "pullback_block", "pullback_graph", "tangent_graph"]


def _prepared_block(block: Block) -> Block:
    """Return a block as it is differentiated: in float32 for halves, without inductions."""
    return without_inductions(widened_block(block))


def _prepared(graph: Graph) -> Graph:
    """Return a graph as it is differentiated; see `_prepared_block`."""
    block = _prepared_block(graph.block)
    return graph if block is graph.block else replace_graph(graph, block)


def gradient_block(block: Block, wrt: Sequence[int], outputs: Sequence[int],
                   reasons: dict[Eqn, str] | None = None) -> Block:
    """Return a block that yields some of its outputs, then the gradient of the first output.

    wrt     -- the numbers of the inputs to differentiate by
    outputs -- the numbers of the outputs that are kept
    """
    block = _prepared_block(block)
    xs = [block.inputs[k] for k in wrt]

    def start(sweep: ReverseSweep) -> list[Any]:
        aval = block.outputs[0].aval
        one = apply("full", aval.dtype.type(1), shape=aval.shape)
        return [one, *(None for _ in block.outputs[1:])]

    def finish(sweep: ReverseSweep) -> list[Atom]:
        return [*(block.outputs[k] for k in outputs), *(sweep.dense_of(x) for x in xs)]

    return reverse_block(block, xs, start, finish, reasons=reasons)


@contextmanager
def after_capture(guards: list[Guarded] | None) -> Iterator[Trace]:
    """Trace rules outside of any user's code; `guards` receives the guards of registered gradients.

    The sizes of the program stay as they are: it is captured, and its demands on arguments noted.
    """
    trace = Trace()
    trace.unifies = False
    trace.captured = FixedCaptures([] if guards is None else guards)
    with active(trace):
        yield trace


def gradient_graph(graph: Graph, wrt: Sequence[int], outputs: Sequence[int], name: str,
                   guards: list[Guarded] | None = None) -> Graph:
    """Return the graph of outputs and gradient; see `gradient_block`."""
    reasons: dict[Eqn, str] = {}
    graph = _prepared(graph)
    with after_capture(guards) as trace:
        assume_sizes(graph)
        block = gradient_block(graph.block, wrt, outputs, reasons)
    return Graph(name, graph.sizes, block, (*graph.notes, *trace.notes), tuple(reasons.items()),
                 graph.block)


def pullback_block(block: Block, wrt: Sequence[int],
                   reasons: dict[Eqn, str] | None = None,
                   cts: Sequence[Value] | None = None) -> Block:
    """Return a block of outputs and cotangents of inputs, given cotangents of the outputs.

    Its inputs are the block's, then one cotangent per output.

    cts -- these cotangents, if there are values for them
    """
    block = _prepared_block(block)
    xs = [block.inputs[k] for k in wrt]
    cts = cts or [Value(a.aval, f"ct{k}") for k, a in enumerate(block.outputs)]

    def start(sweep: ReverseSweep) -> list[Any]:
        return [_of_size(ct, a, block) for ct, a in zip(cts, block.outputs, strict=True)]

    def finish(sweep: ReverseSweep) -> list[Atom]:
        return [*block.outputs, *(sweep.dense_of(x) for x in xs)]

    return reverse_block(block, xs, start, finish, extra_inputs=cts, reasons=reasons)


def _of_size(ct: Value, output: Atom, block: Block) -> Any:
    """Return a cotangent as large as its output, which takes a check where data decides that."""
    shape = output.aval.shape
    if not any(_is_found(d, block) for d in shape):
        return tracer_of(ct)
    for d, own in zip(shape, ct.aval.shape, strict=True):
        same_dim(own, d, "a cotangent has size {0:.0f}, and what it belongs to has size {1:.0f}")
    return apply("reshape", tracer_of(ct), shape=shape)


def _is_found(d: Dim, block: Block) -> bool:
    """Return whether a size of a result is one that only the program finds out."""
    return any(not v.is_size and v not in block.inputs for v in dim_values(d))


def _with_sizes(block: Block) -> tuple[list[Value], tuple[Value, ...]]:
    """Return inputs for cotangents of a block's outputs, and the sizes that they bring along."""
    sizes: list[Value] = []

    def own(d: Dim) -> Dim:
        if not _is_found(d, block):
            return d
        sizes.append(Value(scalar(np.int64), f"k{len(sizes)}", is_size=True))
        return sizes[-1].dim

    cts = [Value(a.aval.with_shape(tuple(map(own, a.aval.shape))), f"ct{k}")
           for k, a in enumerate(block.outputs)]
    return cts, tuple(sizes)


def pullback_graph(graph: Graph, wrt: Sequence[int], name: str,
                   guards: list[Guarded] | None = None) -> Graph:
    """Return the graph of cotangents of inputs, given cotangents of the outputs."""
    reasons: dict[Eqn, str] = {}
    graph = _prepared(graph)
    with after_capture(guards) as trace:
        assume_sizes(graph)
        silent = without_prints(graph.block)  # the call has printed already
        cts, sizes = _with_sizes(silent)
        block = pullback_block(silent, wrt, reasons, cts)
    outputs = block.outputs[len(graph.outputs):]
    block = prune_block(Block(block.inputs, block.eqns, outputs))
    return Graph(name, (*graph.sizes, *sizes), block, (*graph.notes, *trace.notes),
                 tuple(reasons.items()), graph.block)


def adjoint_graph(graph: Graph, wrt: Sequence[int], given: Sequence[int], name: str,
                  guards: list[Guarded] | None = None
                  ) -> tuple[Graph, list[Value], tuple[int, ...]]:
    """Return the way back alone, the forward values that it reads, and the inputs that it reaches.

    wrt   -- the numbers of the inputs to differentiate by
    given -- the numbers of the outputs whose cotangents are given

    The graph's inputs are the values it reads, each an input or output of `graph` (so inductions
    stay), then the cotangents; other values of the way forward it computes again from them. Its
    outputs are the cotangents of the inputs of `wrt` that have one; their numbers are returned too.
    """
    reached: list[int] = []
    graph = widened(graph)
    xs = [graph.inputs[k] for k in wrt]
    cts = [Value(graph.outputs[k].aval, f"ct{k}") for k in given]

    def start(sweep: ReverseSweep) -> list[Any]:
        tracers = dict(zip(given, map(sweep.operand, cts), strict=True))
        return [tracers.get(k) for k in range(len(graph.outputs))]

    def finish(sweep: ReverseSweep) -> list[Atom]:
        reached.extend(k for k, x in zip(wrt, xs, strict=True) if sweep.cts.get(x) is not None)
        return [sweep.dense_of(graph.inputs[k]) for k in reached]

    with after_capture(guards) as trace:
        assume_sizes(graph)
        forward = without_prints(graph.block)
        block = reverse_block(forward, xs, start, finish, extra_inputs=cts)
    known = dict.fromkeys([*graph.inputs, *(a for a in graph.outputs if isinstance(a, Value))])
    block, read = cut_block(block, known)
    block = Block((*read, *cts), block.eqns, block.outputs)
    whole = Graph(name, graph.sizes, block, (*graph.notes, *trace.notes))
    return whole, read, tuple(reached)


def cut_block(block: Block, known: Iterable[Value]) -> tuple[Block, list[Value]]:
    """Return a block without the equations of known values, and the known values that it reads.

    An equation that is needed for another of its results gives the known one as well.
    """
    known = list(known)
    cut = set(known)
    needed = {a for a in block.outputs if isinstance(a, Value)}
    kept: list[Eqn] = []
    for eqn in reversed(block.eqns):
        if any(v in needed and v not in cut for v in eqn.outputs):
            kept.append(eqn)
            cut.difference_update(eqn.outputs)
            needed.update(block_uses(Block((), (eqn,), ())))
    kept.reverse()
    read = [v for v in known if v in needed and v in cut]
    return Block(block.inputs, tuple(kept), block.outputs), read


def tangent_graph(graph: Graph, wrt: Sequence[int], name: str,
                  guards: list[Guarded] | None = None) -> Graph:
    """Return the graph of outputs and their tangents, given tangents of some inputs."""
    graph = _prepared(graph)
    with after_capture(guards) as trace:
        assume_sizes(graph)
        xs = [graph.inputs[k] for k in wrt]
        block = forward_block(graph.block, xs, range(len(graph.outputs)))
    return Graph(name, graph.sizes, block, (*graph.notes, *trace.notes))


def assume_sizes(graph: Graph) -> None:
    """Note that sizes of arrays are not negative, also the sizes that data decides."""
    builder = current().builder
    found = (bare_value(d) for eqn in all_eqns(graph.block) for v in eqn.outputs
             for d in type_dims(v.aval))
    for size in (*graph.sizes, *found):
        if size is not None and size not in builder.known:
            builder.assume(size, 0, None)
