"""Products with the Jacobian by one argument, compiled: what operators and sparse matrices run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from tracejit.ir.core import Atom, Block, Eqn
from tracejit.runtime.function import Function
from tracejit.transforms.options import Options
from tracejit.transforms.public import jit
from tracejit.tree import LEAF, flatten

__all__ = ["linearized", "name_of", "pullback_along", "pullback_at", "read_anew", "tangent_along",
           "tangent_at", "value_at"]


def read_anew(fn: Callable[..., object]) -> None:
    """Let programs of a capture read at each call what a method, a partial or an object holds."""
    from tracejit.trace.ground.context import current
    from tracejit.trace.state.paths import Holder, Path

    if not isinstance(fn, FunctionType):
        current().captured.own_bound(fn, Path(Holder(fn), name_of(fn)))


def tangent_along(fn: Callable[..., object], argnum: int, args: tuple[object, ...],
                  kwargs: dict[str, object], v: object) -> tuple[Any, Any]:
    """Return value, and Jacobian by an argument times a direction; within a capture."""
    value, linear = linearized(fn, argnum, args, kwargs)
    return value, linear(v)


def linearized(fn: Callable[..., object], argnum: int, args: tuple[object, ...],
               kwargs: dict[str, object]) -> tuple[Any, Callable[[object], Any]]:
    """Return value, and the function that multiplies the Jacobian by directions; in a capture.

    The equations that no direction comes into are computed with the value, once.
    """
    from tracejit.trace.values.equations import atom_of, lift
    from tracejit.transforms.nested import capture_block, conforming, tracer_of_atom

    read_anew(fn)
    leaves, structure = flatten((args, kwargs))
    k = len(flatten(args[:argnum])[0])
    leaves[k] = lift(leaves[k])
    block, weak, result, constants, heads = capture_block(fn, leaves, structure, [k])
    _require_one_number(fn, block, constants, result == LEAF, heads)
    linear = _linear_part(block, atom_of(leaves[k]))

    def along(v: object) -> Any:
        return tracer_of_atom(linear(atom_of(conforming("tangent", v, leaves[k]))), weak[0])

    return tracer_of_atom(linear.value, weak[0]), along


class _LinearPart:
    """The tangent of a block's output as a function of its input's, within a capture.

    value -- the block's output
    """

    def __init__(self, known: list[Atom], part: Block, value: Atom) -> None:
        self.known, self.part, self.value = known, part, value

    def __call__(self, v: Atom) -> Any:
        from tracejit.ops.calls import inline_region

        return inline_region(self.part, [v, *self.known])[0]


def _linear_part(block: Block, x: Atom) -> _LinearPart:
    """Emit the equations of a block and its tangents that no tangent comes into."""
    from tracejit.autodiff.forward import forward_block
    from tracejit.ir.halves import widened_block
    from tracejit.ir.walk import eqn_uses, free_values, without_prints
    from tracejit.ops.calls import inline_region

    block = widened_block(block)
    whole = forward_block(block, block.inputs, [0])
    primal, dot = whole.inputs
    value, tangent = whole.outputs
    depends = {dot}
    outside: list[Eqn] = []
    inside: list[Eqn] = []
    for eqn in whole.eqns:
        is_linear = not depends.isdisjoint(eqn_uses(eqn))
        depends.update(eqn.outputs if is_linear else ())
        (inside if is_linear else outside).append(eqn)
    made = {primal, *(v for eqn in outside for v in eqn.outputs)}
    read = [v for v in free_values(Block((dot,), tuple(inside), (tangent,))) if v in made]
    if any(v.is_log for v in read):  # which is read once: all is computed with each tangent
        outside, inside, read, made = [], [*whole.eqns], [primal], {primal}
    both = [value, *read] if value in made else read
    known = inline_region(Block((primal,), tuple(outside), tuple(both)), [x])
    # a loop may have the value together with the tangent; then it is computed by itself
    found = known.pop(0) if value in made else inline_region(without_prints(block), [x])[0]
    return _LinearPart(known, Block((dot, *read), tuple(inside), (tangent,)), found)


def _require_one_number(fn: Callable[..., object], block: Block, constants: Sequence[object],
                        is_one: bool, heads: object) -> None:
    """Raise unless a function returns one array or number, real and floating."""
    if not is_one or constants != [None] or block.outputs[0].aval.dtype.kind != "f":
        kind = "a nest" if not is_one else "no number" if constants != [None] else str(
            block.outputs[0].aval.dtype)
        raise TypeError(f"{name_of(fn)} has to return one array or number of real floats to have a "
                        f"Jacobian that is one matrix, and returns {kind}")
    if heads:
        raise TypeError(f"two arguments of {name_of(fn)} are one array, which it writes to. Pass a "
                        "copy as one of them")


def pullback_along(fn: Callable[..., object], argnum: int, args: tuple[object, ...],
                   kwargs: dict[str, object]) -> tuple[Any, Callable[[object], Any]]:
    """Return value, and the function that multiplies weights by the Jacobian; within a capture."""
    from tracejit.transforms.linear import Pullback

    read_anew(fn)
    value, pullback = Pullback(fn, argnum, False, Options()).inline(args, kwargs)
    return value, pullback


def tangent_at(fn: Callable[..., object], argnum: int, **settings: Any) -> Function:
    """Return value, and Jacobian times a direction: a function of (direction, *args)."""
    def product(v: object, *args: object, **kwargs: object) -> Any:
        return tangent_along(fn, argnum, args, kwargs, v)

    product.__name__ = f"jvp[{name_of(fn)}]"
    return jit(product, **settings)


def pullback_at(fn: Callable[..., object], argnum: int, **settings: Any) -> Function:
    """Return weights times the Jacobian: a function of (weights, *args)."""
    def product(w: object, *args: object, **kwargs: object) -> Any:
        return pullback_along(fn, argnum, args, kwargs)[1](w)

    product.__name__ = f"vjp[{name_of(fn)}]"
    return jit(product, **settings)


def value_at(fn: Callable[..., object], argnum: int, **settings: Any) -> Function:
    """Return the value alone, of a function that may write to its arguments: they stay."""
    def value(*args: object, **kwargs: object) -> Any:
        return pullback_along(fn, argnum, args, kwargs)[0]

    value.__name__ = f"value[{name_of(fn)}]"
    return jit(value, **settings)


def name_of(fn: Callable[..., object]) -> str:
    """Return a function's name, as part of others."""
    return getattr(fn, "__name__", "f").replace("<lambda>", "_lambda")
