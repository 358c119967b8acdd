"""Forward mode: run over a block's equations, computing a tangent beside every active value.

    y = op(x)   =>   y_dot = jvp[op](x, y, x_dot)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tracejit.autodiff.sweep import Sweep
from tracejit.ir.builder import BlockScope
from tracejit.ir.core import Atom, Block, Eqn, Literal, Op, Value
from tracejit.ir.lowering import Inline, LogOp, Region
from tracejit.ir.types import Aval, Type, is_differentiable
from tracejit.ir.walk import Env, copy_eqn, copy_param, copy_type, copy_value, read_atom
from tracejit.ops.calls import find_gradient, is_marked
from tracejit.trace.ground.context import Trace, current
from tracejit.trace.ground.source import describe_line
from tracejit.trace.values.equations import atom_of

__all__ = ["ForwardSweep", "forward_block"]


class ForwardSweep(Sweep):
    """The tangents found so far, and the questions and steps by which rules of ops find more.

    active -- of equations with regions, which results have tangents, as the last run over them
              found: a run over the regions around begins there, or n of them needed 2 ** n runs
    """

    def __init__(self, trace: Trace, env: Env, tangents: dict[Value, object],
                 active: dict[Eqn, list[bool]]) -> None:
        super().__init__(trace)
        self.env = env
        self.tangents = tangents
        self.active = active

    # --- tangents, of values of the old program ---------------------------------------------------

    def read(self, a: Atom) -> Atom:
        """Return the stand-in of an operand of the old program."""
        return read_atom(self.env, a)

    def has(self, a: Atom) -> bool:
        """Return whether an operand has a tangent."""
        return isinstance(a, Value) and self.tangents.get(a) is not None

    def dense(self, tangent: object, t: Type) -> Any:
        """Return a tangent, zeros where there is none."""
        return self.zeros(copy_type(t, self.env)) if tangent is None else tangent

    def dense_of(self, a: Atom) -> Atom:
        """Return the tangent of an operand as a value."""
        tangent = self.tangents.get(a) if isinstance(a, Value) else None
        tangent = self.dense(tangent, a.aval)
        return tangent if isinstance(tangent, Value) else atom_of(tangent)

    # --- regions --------------------------------------------------------------------------------

    @contextmanager
    def copy_region(self, region: Block,
                    types: Sequence[Type]) -> Iterator[tuple[ForwardSweep, BlockScope, list[Any]]]:
        """Open a copy of a region with further inputs for tangents."""
        env = dict(self.env)
        inputs = [copy_value(v, env) for v in region.inputs]
        dots = [Value(copy_type(t, env)) for t in types]
        if inputs:
            self.builder.assume(inputs[0], *self.builder.ranges.get(region.inputs[0], (0, None)))
        with self.builder.block((*inputs, *dots)) as scope:
            inner = ForwardSweep(self.trace, env, dict(self.tangents), self.active)
            yield inner, scope, [self.operand(v) for v in dots]

    def replace(self, eqn: Eqn, starts: Sequence[object], regions: Sequence[Block],
                dotted: Sequence[Value] = ()) -> list[Any]:
        """Emit an equation with regions in place of an old one; return all its results.

        dotted -- the old results of which tangents follow
        """
        params = {k: copy_param(p, self.env) for k, p in eqn.params.items()}
        atoms = [a if isinstance(a, (Value, Literal)) else atom_of(a) for a in starts]
        results = self.builder.emit(eqn.op, atoms, params, regions, site=eqn.site)
        self.env.update(zip(eqn.outputs, results, strict=False))
        for old, new in zip((*eqn.outputs, *dotted), results, strict=False):
            t = copy_type(old.aval, self.env)
            if isinstance(t, Aval):
                new.aval = t  # branches may yield the sizes of their results
        return [self.operand(v) for v in results]

    # --- the sweep ------------------------------------------------------------------------------

    def run(self, eqns: Sequence[Eqn]) -> None:
        """Go over equations in order."""
        for eqn in eqns:
            self.step(eqn)

    def step(self, eqn: Eqn) -> None:
        """Copy an equation and compute the tangents of its results."""
        tangents = [self.tangents.get(a) if isinstance(a, Value) else None for a in eqn.inputs]
        if isinstance(eqn.op.lowering, Region) or (eqn.regions and eqn.op.jvp is not None):
            with self.builder.differentiating(None, eqn.site):
                results = eqn.op.jvp(self, eqn, tangents)  # type: ignore[misc]
            self._bind(eqn, results)
            return
        new = copy_eqn(eqn, self.env)
        self.builder.append(new)
        begins_log = eqn.op.lowering == LogOp("of") and is_differentiable(new.output.aval.dtype)
        if is_marked(eqn.op) or not new.outputs or (
                all(t is None for t in tangents) and not begins_log):
            return
        if eqn.op.jvp is None:
            raise LookupError(f"{describe_line(eqn.site)}: {_without_jvp(eqn.op)}")
        with self.builder.differentiating(new.outputs[0], eqn.site):
            self._bind(eqn, eqn.op.jvp(self, new, tangents))

    def _bind(self, eqn: Eqn, results: Sequence[object]) -> None:
        for v, t in zip(eqn.outputs, results, strict=True):
            if t is not None:
                self.tangents[v] = t


def _without_jvp(op: Op) -> str:
    """Return the reason why an op has no forward mode, and a remedy."""
    reverse = "in reverse mode (tracejit.grad, tracejit.vjp)"
    if op.lowering == Inline("operands"):
        return f"a function with tracejit.custom_gradient has a derivative {reverse} alone"
    if find_gradient(op) is not None:
        return f"op {op.name!r} has a gradient, and so a derivative {reverse} alone"
    return (f"op {op.name!r} has no derivative. Register a gradient with tracejit.RegisterGradient"
            f"({op.name!r}) and differentiate {reverse}, or say that it has none with "
            f"tracejit.no_gradient({op.name!r})")


def forward_block(block: Block, wrt: Sequence[Value], keep: Sequence[int]) -> Block:
    """Return a block of outputs and their tangents.

    Its inputs are the block's, then a tangent per input of `wrt`; its outputs are the outputs that
    `keep` numbers, then the tangents of the floating ones among them.
    """
    trace = current()
    env: Env = {}
    inputs = [copy_value(v, env) for v in block.inputs]
    dots = [Value(copy_type(v.aval, env), f"{v.name}_dot" if v.name else None) for v in wrt]
    with trace.builder.block((*inputs, *dots)) as scope:
        sweep = ForwardSweep(trace, env, {}, {})
        sweep.tangents.update((v, sweep.operand(d)) for v, d in zip(wrt, dots, strict=True))
        sweep.run(block.eqns)
        outputs = [sweep.read(block.outputs[k]) for k in keep]
        outputs += [sweep.dense_of(block.outputs[k]) for k in keep
                    if block.outputs[k].aval.dtype.kind in "fc"]
        return scope.close(outputs)
