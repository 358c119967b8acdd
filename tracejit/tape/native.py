"""Compiled functions on tapes: their way back is a compiled program, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracejit.autodiff.transforms import pullback_block, pullback_graph
from tracejit.ir.core import Block, Graph
from tracejit.ops.calls import inline_region
from tracejit.runtime.function import make_function
from tracejit.runtime.program import Program
from tracejit.trace.capture import capture_function
from tracejit.trace.values.equations import atom_of, lift
from tracejit.trace.values.specs import ArgSpec
from tracejit.transforms.nested import capture_block, tracer_of_atom
from tracejit.transforms.options import Options
from tracejit.tree import LEAF, Structure, flatten

__all__ = ["NativePullback"]


class NativePullback:
    """From a call's operands and cotangents of some results to cotangents of some operands."""

    fn: Any
    plan: Any
    given: tuple[int, ...]
    reads: tuple[int, ...]
    reaches: Any
    compiled: Any
    __name__: str

    name = "vjp"

    def __init__(self, plan: Any, given: tuple[int, ...]) -> None:
        self.fn, self.plan, self.given = plan.function, plan, given
        self.reads = tuple(range(plan.arity))
        self.reaches = plan.wrt
        self.compiled = make_function(self)
        self.__name__ = f"adjoint[{plan.name}]"

    def __call__(self, *args: object) -> tuple[Any, ...]:
        """Compute on NumPy values; within a capture, add the equations."""
        self.plan.require_state()
        count = self.plan.arity
        found: tuple[Any, ...] = self.compiled(args[:count], args[count:])
        return found

    run = __call__

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[object] | None) -> Program:
        """Capture the call, and append the reverse sweep from given cotangents."""
        count = self.plan.arity
        call = Structure(tuple, None, (Structure(tuple, None, (LEAF,) * count),
                                       Structure(dict, ())))
        c = capture_function(self.plan.call, specs[:count], call,
                             None if leaves is None else leaves[:count], name=self.plan.name)
        inputs = {leaf: k for k, leaf in enumerate(c.arg_leaves)}
        wrt = [inputs[k] for k in self.plan.wrt]
        block = Block(c.graph.inputs, c.graph.eqns, tuple(c.graph.outputs[k] for k in self.given))
        forward = Graph(c.graph.name, c.graph.sizes, block, c.graph.notes)
        graph = pullback_graph(forward, wrt, self.__name__, c.guards)
        sources = (*c.arg_leaves, *c.leaves, *range(count, len(specs)))
        result = Structure(tuple, None, (LEAF,) * len(wrt))
        return Program(graph.name, graph, c, sources, result, [None] * len(wrt),
                       [False] * len(wrt), [], Options())

    def inline(self, args: tuple[Sequence[object], Sequence[object]], kwargs: object) -> Any:
        """Add the equations to the capture."""
        operands, cts = args
        leaves = [lift(x) for x in operands]
        structure = flatten((tuple(leaves), {}))[1]
        wrt = list(self.plan.wrt)
        block = capture_block(self.plan.call, leaves, structure, wrt)[0]
        chosen = Block(block.inputs, block.eqns, tuple(block.outputs[k] for k in self.given))
        whole = pullback_block(chosen, list(range(len(wrt))))
        atoms = [atom_of(leaves[k]) for k in wrt] + [atom_of(lift(ct)) for ct in cts]
        found = inline_region(whole, atoms)[len(self.given):]
        return tuple(tracer_of_atom(a, False) for a in found)
