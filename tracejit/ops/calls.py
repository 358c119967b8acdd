"""TensorFlow's names for users' additions: op types, their gradients, and where gradients end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Graph, Op, Params, Value
from tracejit.ir.lowering import Inline
from tracejit.ir.optable import OPS
from tracejit.ir.types import Aval
from tracejit.ir.walk import copy_block, copy_dim
from tracejit.ops.cotangents import Cotangent
from tracejit.ops.kinds import only, structural
from tracejit.ops.modes import ReverseMode
from tracejit.trace.ground.context import bare_size, current
from tracejit.trace.ground.dependencies import note_rule
from tracejit.trace.ground.source import describe_line
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.eager import Recorded, record_call
from tracejit.trace.values.equations import apply, atom_of, emit, lift, same_dim
from tracejit.trace.values.identities import named
from tracejit.trace.values.mixed import Merged, merged, settled
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["NoGradient", "NotDifferentiable", "Operation", "RegisterGradient", "find_gradient",
           "inline_graph", "inline_region", "is_marked", "no_gradient", "stop_gradient"]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

GRADIENTS: dict[str, Callable[..., Any]] = {}
"""The gradient functions that users registered, by op type."""

NOT_DIFFERENTIABLE: set[str] = set()
"""The op types that users marked with `no_gradient`."""


class Operation:
    """The operation that a gradient function differentiates, as it sees it.

    Attributes: `inputs` and `outputs` (tuples of arrays), `type` and `name` (str).
    """

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    type: str
    name: str

    def __init__(self, eqn: Eqn, inputs: tuple[object, ...], outputs: tuple[object, ...]) -> None:
        self.inputs, self.outputs = inputs, outputs
        self.type = eqn.op.name
        self.name = f"{eqn.op.name}:{describe_line(eqn.site)}"
        self._attributes = dict(eqn.params)

    def get_attr(self, name: str) -> Any:
        """Return a parameter of the operation; `ValueError` if it has none of that name."""
        if name not in self._attributes:
            raise ValueError(f"operation {self.type!r} has no attribute {name!r}; it has "
                             f"{sorted(self._attributes)}")
        return self._attributes[name]


def _check_name(op_type: object, what: str) -> None:
    if not isinstance(op_type, str):
        raise TypeError(f"{what} takes the name of an op type as a string, not {op_type!r}")
    marked = op_type in OPS and (OPS[op_type].marked or OPS[op_type].vjp is not None)
    if op_type in GRADIENTS or op_type in NOT_DIFFERENTIABLE or marked:
        raise KeyError(f"op type {op_type!r} has a gradient registered already")


class RegisterGradient:
    """A decorator that registers the gradient function of an op type.

    op_type -- the name that `register_op` was given

    The function is called as `fn(op, *grads)` with one gradient per output of `op` (an
    `Operation`), and returns one gradient per input: an array of the input's shape and dtype, or
    None for no gradient.

    Raises `TypeError` if the op type is no string, `KeyError` if it has a gradient already.

    >>> import numpy as np, tracejit
    >>> twice = tracejit.register_op("Twice", lambda x: 2.0 * x)
    >>> @tracejit.RegisterGradient("Twice")
    ... def twice_grad(op, grad):
    ...     return 2.0 * grad
    >>> float(tracejit.grad(lambda x: twice(x) ** 2)(3.0))
    24.0
    """

    def __init__(self, op_type: str) -> None:
        _check_name(op_type, "RegisterGradient")
        self.op_type = op_type

    def __call__(self, f: F) -> F:
        """Register `f` and return it."""
        _check_name(self.op_type, "RegisterGradient")
        GRADIENTS[self.op_type] = f
        return f


def no_gradient(op_type: str) -> None:
    """Say that an op type is not differentiable: its inputs get no gradient through it.

    op_type -- the name that `register_op` was given

    Do not use it for an op whose gradient exists but is not written yet: asking for that one's
    gradient is a `LookupError`, as it should be.

    Raises `TypeError` if the op type is no string, `KeyError` if it has a gradient already.

    >>> import numpy as np, tracejit
    >>> rounded = tracejit.register_op("Rounded", lambda x: np.round(x))
    >>> tracejit.no_gradient("Rounded")
    >>> float(tracejit.grad(lambda x: x * rounded(x))(2.6))
    3.0
    """
    _check_name(op_type, "no_gradient")
    NOT_DIFFERENTIABLE.add(op_type)


NoGradient: Callable[[str], None] = no_gradient
NotDifferentiable: Callable[[str], None] = no_gradient


def is_marked(op: Op) -> bool:
    """Return whether an op is marked as not differentiable."""
    return op.name not in GRADIENTS and (op.marked or op.name in NOT_DIFFERENTIABLE)


def find_gradient(op: Op) -> Callable[..., Any] | None:
    """Return the rule (sweep, eqn, cts) -> cts of an op; None if it has neither rule nor mark."""
    if op.name in GRADIENTS:
        note_rule(op.name, GRADIENTS[op.name])
        return _registered_rule
    if is_marked(op):
        if op.name in NOT_DIFFERENTIABLE:
            note_rule(op.name, None)
        return lambda sweep, eqn, cts: [None] * len(eqn.inputs)
    return op.vjp


def _registered_rule(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    inputs = tuple(map(sweep.operand, eqn.inputs))
    operation = Operation(eqn, inputs, tuple(map(sweep.operand, eqn.outputs)))
    grads = [sweep.dense(ct, v.aval) for ct, v in zip(cts, eqn.outputs, strict=True)]
    results = call_function(GRADIENTS[eqn.op.name], (operation, *grads), {})
    if not isinstance(results, (tuple, list)):
        results = (results,)
    if len(results) != len(inputs):
        raise ValueError(f"the gradient of op {eqn.op.name!r} returned {len(results)} values, but "
                         f"the op has {len(inputs)} inputs")
    return [_checked_gradient(eqn, k, g, a.aval)
            for k, (g, a) in enumerate(zip(results, eqn.inputs, strict=True))]


def _checked_gradient(eqn: Eqn, k: int, g: object, aval: Aval) -> Any:
    if g is None:
        return None
    g = lift(g)
    tracer = g if isinstance(g, Tracer) else tracer_of(_full(g, aval))
    if tracer.dims != aval.shape or tracer.dtype != aval.dtype:
        raise ValueError(f"the gradient of op {eqn.op.name!r} for input {k} has type "
                         f"{tracer.aval}, but the input is {aval}")
    return tracer


def _full(g: object, aval: Aval) -> Value:
    dtype = aval.dtype if isinstance(g, (int, float, complex)) else None
    (value,) = emit("full", [atom_of(g, dtype)], {"shape": ()})
    return value


def stop_gradient(x: T) -> T:
    """Return `x` as it is; gradients do not flow back through it.

    x -- an array, a number, or a list, tuple or dict of them

    >>> import tracejit
    >>> float(tracejit.grad(lambda x: x * tracejit.stop_gradient(x))(3.0))
    3.0
    """
    stopped: T = _stopped(x)
    return stopped


def _stopped(x: object) -> Any:
    if isinstance(x, Merged):
        return merged(_stopped(settled(x)), x.kinds, x.flag)
    if isinstance(x, Tracer):
        result: Tracer = named(apply("stop_gradient", x))
        result.weak = x.weak
        return result
    if isinstance(x, Recorded):
        return record_call(stop_gradient, (x,))
    if isinstance(x, tuple):
        return tuple.__new__(type(x), map(stop_gradient, x))
    if isinstance(x, list):
        return type(x)(map(stop_gradient, x))
    if isinstance(x, dict):
        return {k: stop_gradient(item) for k, item in x.items()}
    if x is None or isinstance(x, (TracedOperand, np.ndarray, np.generic, int, float, complex)):
        return x
    raise TypeError(f"stop_gradient takes arrays and numbers, not a {type(x).__name__}")


# --- a result with a gradient of its own --------------------------------------------------------


def inline_region(region: Block, operands: Sequence[object]) -> list[Any]:
    """Emit a region's equations with these operands as its inputs; return its outputs."""
    builder = current().builder
    env: dict[Value, Any] = dict(zip(region.inputs, operands, strict=True))
    block = copy_block(Block((), region.eqns, region.outputs), env)
    for eqn in block.eqns:
        builder.append(eqn)
    return list(block.outputs)


def inline_graph(graph: Graph, operands: Sequence[object],
                 numbers: Mapping[Value, int]) -> list[Any]:
    """Emit a program's equations on these operands, whose sizes its own become; return its outputs.

    numbers -- the values of sizes that the shapes of the operands do not give
    """
    atoms = [atom_of(lift(x)) for x in operands]
    pairs = [pair for v, a in zip(graph.inputs, atoms, strict=True)
             for pair in zip(v.aval.shape, a.aval.shape, strict=True)]
    sizes: dict[Value, Any] = {}
    for inner, outer in pairs:
        size = bare_size(inner)
        if size is not None:
            sizes.setdefault(size, outer)
    sizes = {**numbers, **sizes}
    for inner, outer in pairs:
        if not same_dim(copy_dim(inner, sizes), outer):
            raise ValueError(f"{graph.name} is called with a size of {outer} where its other "
                             f"operands have {copy_dim(inner, sizes)}")
    left = [v for v in graph.sizes if v not in sizes]
    if left:
        raise IRError(f"nothing says what the sizes {left} of {graph.name} are")
    region = Block((*sizes, *graph.inputs), graph.eqns, graph.outputs)
    return inline_region(region, [*map(current().canonical, sizes.values()), *atoms])


def _with_gradient_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(*avals[:params["count"]])


def _with_gradient_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    count = eqn.params["count"]
    operands = [atom_of(sweep.dense(ct, v.aval)) for ct, v in zip(cts, eqn.outputs, strict=True)]
    results = inline_region(eqn.regions[0], operands)
    values = [v if isinstance(v, Value) else _full(v.val, v.aval) for v in results]
    none = eqn.params["none"]
    return [None] * count + [None if k in none else tracer_of(v) for k, v in enumerate(values)]


structural("with_gradient", lambda *xs, count, none, regions: tuple(xs[:count]),
           _with_gradient_infer, Inline("operands"), _with_gradient_vjp)
