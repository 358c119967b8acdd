"""A function near a point: linearised, with its Jacobian, and as a Taylor polynomial."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from tracejit.configuration import Threads
from tracejit.runtime.function import Function
from tracejit.runtime.tracebacks import hiding_frames
from tracejit.trace.ground.active import is_tracing
from tracejit.trace.values.specs import spec_of_leaf
from tracejit.transforms.arguments import argument_places
from tracejit.transforms.options import Argnums, Fp, Options, Target
from tracejit.transforms.products import name_of
from tracejit.transforms.public import jit, jvp
from tracejit.tree import flatten, unflatten

__all__ = ["linearize", "taylor", "value_and_jacobian"]


@hiding_frames
def linearize(fn: Callable[..., object], /, *primals: Any, fp: Fp = "default",
              target: Target = "cpu", threads: Threads = None) -> tuple[Any, Callable[..., Any]]:
    """Return a function's result at a point, and its derivative there: a linear function.

    fn      -- a function of numbers, arrays and nests of them
    primals -- its arguments: the point
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    target  -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`

    Returned are the result and a function of tangents, one per argument, which returns the tangent
    of the result: `jvp(fn, primals, tangents)[1]` at the point as it is now, since arrays and
    objects are copied. What `fn` reads from outside it reads when it is called. It is compiled at
    its first call; each call costs one forward product.

    Raises `Refusal` for a construct that cannot be captured: the message names the line and a
    remedy.
    Raises `TypeError` or `ValueError`, when the derivative is called, where tangents do not fit.

    >>> import numpy as np, tracejit
    >>> value, along = tracejit.linearize(lambda x: x[0] * x[1:], np.array([2.0, 1.0, 3.0]))
    >>> value, along(np.array([1.0, 0.0, 0.0])), along(np.array([0.0, 1.0, 0.0]))
    (array([2., 6.]), array([1., 3.]), array([2., 0.]))
    """
    leaves, structure = flatten(primals)
    point = unflatten(structure, iter([_copied(x) for x in leaves]))
    settings: dict[str, Any] = {"fp": fp, "target": target, "threads": threads}
    forward = jvp(fn, **settings)

    def along(*tangents: object) -> Any:
        return forward(point, tangents)[1]

    along.__name__ = f"linearize[{name_of(fn)}]"
    if is_tracing():
        return _not_writing(fn)(*primals), along
    return jit(_not_writing(fn), **settings)(*point), along


def _copied(x: object) -> Any:
    """Return a copy of a part of a point, to which nobody else writes."""
    if is_tracing():
        from tracejit.trace.values.equations import lift
        from tracejit.trace.values.tracer import Tracer

        return lift(x).copy() if isinstance(x, Tracer) and x.is_array else x
    if isinstance(x, np.ndarray):
        return np.array(x)
    return copy.deepcopy(x) if spec_of_leaf(x).kind == "static" else x


def _not_writing(fn: Callable[..., object]) -> Callable[..., Any]:
    """Return a function that leaves its arguments as they are; for captured code."""
    def value(*args: object, **kwargs: object) -> Any:
        from tracejit.trace.python.calls import call_function
        from tracejit.trace.values.equations import lift
        from tracejit.trace.values.tracer import Tracer

        leaves, structure = flatten((args, kwargs))
        copies = [lift(x).copy() if isinstance(x, Tracer) and x.is_array else x for x in leaves]
        return call_function(fn, *unflatten(structure, iter(copies)))

    value.__name__ = name_of(fn)
    return value


@hiding_frames
def value_and_jacobian(fn: Callable[..., object], argnums: Argnums = 0,
                       mode: Literal["fwd", "rev"] = "rev", *, fp: Fp = "default",
                       target: Target = "cpu", threads: Threads = None) -> Function:
    """Return the function that computes a function's result and its Jacobian, in one program.

    fn      -- a function with floating results: an array, a number, or a nest of them
    argnums -- position or name of the argument to differentiate by, or a tuple of them
    mode    -- "rev", one pullback per element of the result, or "fwd", one forward product per
               element of the arguments; the shorter is the better
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    target  -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` where results or chosen arguments are no real floats.

    >>> import numpy as np, tracejit
    >>> both = tracejit.value_and_jacobian(lambda x: x[1:] * x[:-1])
    >>> value, jacobian = both(np.array([1.0, 2.0, 3.0]))
    >>> value, jacobian
    (array([2., 6.]), array([[2., 1., 0.],
           [0., 3., 2.]]))
    """
    if mode not in ("fwd", "rev"):
        raise ValueError(f'mode is "fwd" or "rev", not {mode!r}')
    argument_places(fn, argnums)

    return jit(_with_parameters(_both(fn, argnums, mode), fn), fp=fp, target=target,
               threads=threads)


def _both(fn: Callable[..., object], argnums: Argnums, mode: str) -> Callable[..., Any]:
    """Return the function of result and Jacobian; for captured code."""
    def both(*args: object, **kwargs: object) -> Any:
        from tracejit.trace.python.calls import call_function
        from tracejit.transforms.mapping import forward_jacobian, reverse_jacobian

        if mode == "fwd":
            matrix = forward_jacobian(fn, argnums, False, Options())(*args, **kwargs)
            return _not_writing(fn)(*args, **kwargs), matrix
        twice = _twice(fn, call_function)
        matrix, value = reverse_jacobian(twice, argnums, True, Options())(*args, **kwargs)
        return value, matrix

    both.__name__ = f"value_and_jacobian[{name_of(fn)}]"
    return both


def _twice(fn: Callable[..., object], call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that returns its result and, as auxiliary data, its result."""
    def result_twice(*args: object, **kwargs: object) -> Any:
        result = call(fn, args, kwargs)
        return result, result

    return _with_parameters(result_twice, fn)


def _with_parameters(made: Callable[..., Any], fn: Callable[..., object]) -> Callable[..., Any]:
    """Let a function have the parameters of another, by which `argnums` names them."""
    made.__wrapped__ = fn  # type: ignore[attr-defined]
    return made


@hiding_frames
def taylor(fn: Callable[..., object], x: Any, v: Any, order: int, *, fp: Fp = "default",
           threads: Threads = None) -> Any:
    """Return the coefficients of the Taylor polynomial of `fn(x + t v)` in t.

    fn      -- a function of an array or number that returns an array or a number
    x       -- the point: a float or a float array
    v       -- the direction, of the shape and dtype of x
    order   -- of the polynomial: an int from 0 on
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`

    The result has one more axis than `fn(x)`, the first, of order + 1 elements: element k is the
    k-th derivative along v, divided by k!. It is made of nested forward products, so that the
    program grows with each order; up to 6 is quick to compile.

    Raises `Refusal` for a construct that cannot be captured: the message names the line and a
    remedy.
    Raises `TypeError` or `ValueError` where x, v or the order do not fit.

    >>> import numpy as np, tracejit
    >>> tracejit.taylor(np.exp, 0.0, 2.0, 3).round(6)
    array([1.      , 2.      , 2.      , 1.333333])
    """
    order = operator.index(order)
    if order < 0:
        raise ValueError(f"the order of a Taylor polynomial is 0 or more, not {order}")
    if np.shape(x) != np.shape(v):
        raise ValueError(f"the direction has the shape {np.shape(v)}, and x {np.shape(x)}")

    return jit(_coefficients(fn, order), fp=fp, threads=threads)(x, v)


def _require_one(fn: Callable[..., object], result: object) -> Any:
    """Return a result, which has to be one array or number of floats; within a capture."""
    from tracejit.numpy_api.elementwise import as_tracer

    structure = flatten(result)[1]
    is_one = structure.kind is None and not isinstance(result, (str, type(None)))
    if not is_one or as_tracer(result).dtype.kind not in "fc":
        kind = as_tracer(result).dtype if is_one else f"a {type(result).__name__}"
        raise TypeError(f"{name_of(fn)} has to return one array or number of floats to have a "
                        f"Taylor polynomial, and returns {kind}")
    return result


def _coefficients(fn: Callable[..., object], order: int) -> Callable[..., Any]:
    """Return the function of x and v that returns the coefficients; for captured code."""
    def coefficients(x: Any, v: Any) -> Any:
        from tracejit.trace.python.calls import call_function

        def derivatives(count: int) -> Callable[[Any], Any]:
            """Return the function of t that returns derivatives 0 to `count`."""
            if count == 0:
                return lambda t: (_require_one(fn, call_function(fn, (x + t * v,), {})),)

            def next_one(t: Any) -> Any:
                found, slopes = jvp(derivatives(count - 1), (t,), (1.0,))
                return (*found, slopes[-1])

            return next_one

        found = derivatives(order)(0.0)
        return np.stack([d / math.factorial(k) for k, d in enumerate(found)])

    coefficients.__name__ = f"taylor[{name_of(fn)}]"
    return coefficients
