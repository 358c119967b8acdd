"""Users' functions as searches see them: blocks of an unknown, and a call of SciPy for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.solutions import Equations, closed, value_of
from tracejit.autodiff.transforms import gradient_block
from tracejit.ir.core import Block, Value
from tracejit.ir.dead_code import prune_block
from tracejit.ir.dims import Dim
from tracejit.ir.types import Aval
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.callbacks import call_back
from tracejit.ops.calls import inline_region, stop_gradient
from tracejit.scipy_api.equations import as_shaped
from tracejit.scipy_api.objectives import computed_again
from tracejit.trace.ground.context import refuse
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, atom_of, cast, same_dim
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of
from tracejit.transforms.searching import ScipySearch, graph_of
from tracejit.tree import flatten, unflatten

__all__ = ["REAL", "Optimum", "as_tuple", "block_of", "gradient_of", "like_unknown", "one_number",
           "refuse_settings", "searched", "start_of", "value_at", "with_jacobian"]

_FURTHER = frozenset((
    "active_mask", "cost", "cov_x", "fjac", "flag", "get", "grad", "hess", "hess_inv", "items",
    "jac", "keys", "message", "method", "nhev", "nit", "njev", "optimality", "qtf", "r", "status",
    "values"))
"""What SciPy's results may have besides."""
REAL = np.dtype(np.float64)
_COUNT = np.dtype(np.int64)


class Optimum:
    """What a search returns.

    x, nfev, success -- as SciPy names them
    fun              -- the function's value at x, with derivatives
    more             -- further results by their names
    """

    def __init__(self, x: object, nfev: object, fun: object, **more: object) -> None:
        self.x, self.nfev, self.fun, self.success = x, nfev, fun, True
        vars(self).update(more)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __getattr__(self, name: str) -> Any:
        if name not in _FURTHER:
            raise AttributeError(name)
        raise refuse(f"`{name}` of what a search found cannot be captured",
                     "Use `x`, `fun`, `nfev` and `success`", "TJ209")


def start_of(x0: object, name: str) -> Tracer:
    """Return the point where a search begins, one array of floats."""
    x = as_tracer(x0)
    if x.dtype.kind == "c" or len(x.dims) > 1:
        raise refuse(f"scipy.optimize.{name} of complex numbers or an array of several axes cannot "
                     "be captured", "Let the unknown be an array of real numbers with one axis",
                     "TJ214")
    return apply("reshape", cast(x, REAL), shape=x.dims or (1,))


def block_of(f: Callable[..., object], like: Tracer, args: tuple[object, ...], role: str,
           result: Callable[[Tracer, Tracer], object]) -> Block:
    """Return the block of a function of an unknown.

    result -- what is made of the function's value and the unknown
    """
    v = Value(Aval(REAL, like.dims), "x")

    def value() -> Any:
        x = scalar_of(v, weak=True) if not like.dims else tracer_of(v)
        return result(as_tracer(call_function(f, (x, *args), {})), x)

    return computed_again((f, args), (v,), value, role)


def like_unknown(y: Tracer, x: Tracer) -> Tracer:
    """Return the value of equations, of which there are as many as unknowns."""
    if y.dtype.kind == "c":
        raise refuse("a search for a root of a complex function cannot be captured",
                     "Return real and imaginary parts, of an unknown with both", "TJ214")
    if not y.dims and x.dims == (1,):
        y = apply("reshape", y, shape=(1,))
    if len(y.dims) != len(x.dims) or not all(map(same_dim, y.dims, x.dims)):
        raise ValueError(f"a function whose root is looked for returns an array of shape "
                         f"{tuple(map(str, y.dims))}, for one of {tuple(map(str, x.dims))}")
    return as_shaped(cast(y, REAL), x)


def one_number(y: Tracer, x: object) -> Tracer:
    """Return the value of a function that is minimised."""
    if y.dtype.kind == "c":
        raise refuse("a search for a minimum of a complex function cannot be captured",
                     "Return a real number", "TJ214")
    if y.dims and not all(same_dim(d, 1) for d in y.dims):
        raise ValueError("the function that is minimised returns more than one number")
    return cast(apply("reshape", y, shape=()) if y.dims else y, REAL)


def as_tuple(args: object) -> tuple[object, ...]:
    return args if isinstance(args, tuple) else (args,)


def _held(x: object) -> Any:
    """Return a nest without derivatives."""
    leaves, structure = flatten(x)
    return unflatten(structure, [stop_gradient(y) if isinstance(y, TracedOperand) else y
                                 for y in leaves])


def searched(name: str, blocks: Sequence[Block], args: Sequence[object],
              settings: dict[str, object], kind: str, shape: tuple[Dim, ...]) -> tuple[Any, Any]:
    """Emit a search by SciPy; return what it finds, without derivatives, and its count."""
    graphs, given = graph_of(blocks, name)
    values = [stop_gradient(scalar_of(v) if not v.aval.shape else tracer_of(v)) if (
        v.aval.dtype.kind in "fc") else tracer_of(v) for v in given]
    _, nest = flatten((0.0, 0))
    x, count = call_back(
        ScipySearch(name, graphs), (values, _held(list(args)), _held(settings)), nest,
        (kind, "int"),
        (REAL, _COUNT), (shape, ()))
    return x, count


def gradient_of(block: Block) -> Equations:
    """Return the equations that a gradient is 0."""
    (own,) = closed([block])
    both = gradient_block(own.block, [0], [0])
    return Equations(prune_block(Block(both.inputs, both.eqns, both.outputs[1:])), own.given)


def value_at(block: Block, x: Tracer) -> Tracer:
    return value_of(inline_region(block, [atom_of(x)])[0])


def refuse_settings(name: str, **unsupported: object) -> None:
    """Refuse settings of a search that have no derivative here, or none that is known."""
    for word, given in unsupported.items():
        if given is not None and given != () and given is not False:
            raise refuse(f"scipy.optimize.{name} with {word}= cannot be captured",
                         "Leave it out, or call it in a solver under tracejit.custom_root", "TJ203")


def with_jacobian(name: str, fun: Callable[..., object], jac: object, start: Tracer,
                   args: tuple[object, ...], result: Callable[[Tracer, Tracer], object],
                   role: str) -> list[Block]:
    """Return the block of a function, and of its derivative if there is a function for it."""
    if jac is True:
        def first(*given: object) -> Any:
            return call_function(fun, given, {})[0]

        def second(*given: object) -> Any:
            return call_function(fun, given, {})[1]

        parts: list[Callable[..., object]] = [first, second]
    elif callable(jac):
        parts = [fun, jac]
    elif jac is None or jac is False or jac in ("2-point", "3-point"):
        parts = [fun]
    else:
        raise refuse(f"scipy.optimize.{name} with {jac!r} for a derivative cannot be captured",
                     "Give a function, '2-point', '3-point', or leave it out", "TJ203")
    blocks = [block_of(parts[0], start, args, role, result)]
    blocks += [block_of(p, start, args, role, lambda y, x: cast(y, REAL)) for p in parts[1:]]
    return blocks
