"""Graph to graph: gradients, pullbacks, tangents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tracejit.autodiff.forward import forward_block
from tracejit.autodiff.reverse import ReverseSweep, reverse_block
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value
from tracejit.ir.dead_code import prune_block
from tracejit.ir.walk import block_uses, without_prints
from tracejit.trace.ground.context import Trace, active, current
from tracejit.trace.state.captured import FixedCaptures
from tracejit.trace.state.guards import Guarded
from tracejit.trace.values.equations import apply

__all__ = ["adjoint_graph", "after_capture", "cut_block", "gradient_block", "gradient_graph",
           "pullback_block", "pullback_graph", "tangent_graph"]


def gradient_block(block: Block, wrt: Sequence[int], outputs: Sequence[int],
                   reasons: dict[Eqn, str] | None = None) -> Block:
    """Return a block that yields some of its outputs, then the gradient of the first output.

    wrt     -- the numbers of the inputs to differentiate by
    outputs -- the numbers of the outputs that are kept
    """
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
    """Trace rules outside of any user's code; `guards` receives what registered gradients read.

    The sizes of the program stay as they are: it is captured, and what it asks of arguments noted.
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
    with after_capture(guards) as trace:
        _assume_sizes(graph)
        block = gradient_block(graph.block, wrt, outputs, reasons)
    return Graph(name, graph.sizes, block, (*graph.notes, *trace.notes), tuple(reasons.items()),
                 graph.block)


def pullback_block(block: Block, wrt: Sequence[int],
                   reasons: dict[Eqn, str] | None = None) -> Block:
    """Return a block of outputs and cotangents of inputs, given cotangents of the outputs.

    Its inputs are the block's, then one cotangent per output.
    """
    xs = [block.inputs[k] for k in wrt]
    cts = [Value(a.aval, f"ct{k}") for k, a in enumerate(block.outputs)]

    def start(sweep: ReverseSweep) -> list[Any]:
        return [sweep.operand(ct) for ct in cts]

    def finish(sweep: ReverseSweep) -> list[Atom]:
        return [*block.outputs, *(sweep.dense_of(x) for x in xs)]

    return reverse_block(block, xs, start, finish, extra_inputs=cts, reasons=reasons)


def pullback_graph(graph: Graph, wrt: Sequence[int], name: str,
                   guards: list[Guarded] | None = None) -> Graph:
    """Return the graph of cotangents of inputs, given cotangents of the outputs."""
    reasons: dict[Eqn, str] = {}
    with after_capture(guards) as trace:
        _assume_sizes(graph)
        silent = without_prints(graph.block)  # the call has shown what it prints
        block = pullback_block(silent, wrt, reasons)
    outputs = block.outputs[len(graph.outputs):]
    block = prune_block(Block(block.inputs, block.eqns, outputs))
    return Graph(name, graph.sizes, block, (*graph.notes, *trace.notes), tuple(reasons.items()),
                 graph.block)


def adjoint_graph(graph: Graph, wrt: Sequence[int], given: Sequence[int], name: str,
                  guards: list[Guarded] | None = None
                  ) -> tuple[Graph, list[Value], tuple[int, ...]]:
    """Return the way back alone, which values of the way forward it reads, and what it reaches.

    wrt   -- the numbers of the inputs to differentiate by
    given -- the numbers of the outputs whose cotangents are given

    The graph's inputs are those values, each an input or output of `graph`, then the cotangents;
    what else it needs of the way forward it computes again from them. Its outputs are the
    cotangents of those of `wrt` that have one, which are returned as well.
    """
    reached: list[int] = []
    xs = [graph.inputs[k] for k in wrt]
    cts = [Value(graph.outputs[k].aval, f"ct{k}") for k in given]

    def start(sweep: ReverseSweep) -> list[Any]:
        tracers = dict(zip(given, map(sweep.operand, cts), strict=True))
        return [tracers.get(k) for k in range(len(graph.outputs))]

    def finish(sweep: ReverseSweep) -> list[Atom]:
        reached.extend(k for k, x in zip(wrt, xs, strict=True) if sweep.cts.get(x) is not None)
        return [sweep.dense_of(graph.inputs[k]) for k in reached]

    with after_capture(guards) as trace:
        _assume_sizes(graph)
        forward = without_prints(graph.block)
        block = reverse_block(forward, xs, start, finish, extra_inputs=cts)
    known = dict.fromkeys([*graph.inputs, *(a for a in graph.outputs if isinstance(a, Value))])
    block, read = cut_block(block, known)
    block = Block((*read, *cts), block.eqns, block.outputs)
    whole = Graph(name, graph.sizes, block, (*graph.notes, *trace.notes))
    return whole, read, tuple(reached)


def cut_block(block: Block, known: Iterable[Value]) -> tuple[Block, list[Value]]:
    """Return what a block computes besides values that are known, and which of those it reads."""
    known = list(known)
    cut = set(known)
    needed = {a for a in block.outputs if isinstance(a, Value)}
    kept: list[Eqn] = []
    for eqn in reversed(block.eqns):
        if any(v in needed and v not in cut for v in eqn.outputs):
            kept.append(eqn)
            needed.update(block_uses(Block((), (eqn,), ())))
    kept.reverse()
    return Block(block.inputs, tuple(kept), block.outputs), [v for v in known if v in needed]


def tangent_graph(graph: Graph, wrt: Sequence[int], name: str,
                  guards: list[Guarded] | None = None) -> Graph:
    """Return the graph of outputs and their tangents, given tangents of some inputs."""
    with after_capture(guards) as trace:
        _assume_sizes(graph)
        xs = [graph.inputs[k] for k in wrt]
        block = forward_block(graph.block, xs, range(len(graph.outputs)))
    return Graph(name, graph.sizes, block, (*graph.notes, *trace.notes))


def _assume_sizes(graph: Graph) -> None:
    for v in graph.sizes:
        current().builder.assume(v, 0, None)
