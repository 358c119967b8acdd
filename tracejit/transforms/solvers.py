"""Derivatives in the form in which solvers ask for them: of a first argument, others behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.configuration import Threads
from tracejit.runtime.tracebacks import hiding_frames
from tracejit.transforms.options import Fp, Target
from tracejit.transforms.products import (
    linearized,
    name_of,
    pullback_along,
    pullback_at,
    read_anew,
    tangent_at,
)
from tracejit.transforms.public import grad, jit, jvp

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

__all__ = ["gauss_newton", "hessp", "linear_operator"]


@hiding_frames
def hessp(fn: Callable[..., object], *, fp: Fp = "default", target: Target = "cpu",
          threads: Threads = None) -> Callable[..., Any]:
    """Return the product of a Hessian and a direction as `scipy.optimize.minimize` asks for it.

    fn      -- a function of an array x, and of others behind it, that returns a real scalar
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    target  -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`

    `hessp(f)(x, p, *args)` is the Hessian of f by x alone at (x, *args), times p, which has the
    shape of x; so is the result. It costs a small multiple of the function, for any number of
    elements, and is compiled once for all sizes. `hvp` is its like for directions in all arguments.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` or `ValueError` where p does not fit x.

    >>> import numpy as np, tracejit
    >>> def f(x, k):
    ...     return k * x[0] ** 2 * x[1]
    >>> tracejit.hessp(f)(np.array([1.0, 2.0]), np.array([1.0, 0.0]), 0.5)
    array([2., 1.])
    """
    slope = grad(fn)

    def product(x: object, p: object, *args: object) -> Any:
        read_anew(fn)
        _, turned = jvp(lambda y: slope(y, *args), (x,), (p,))
        return turned

    product.__name__ = f"hessp[{name_of(fn)}]"
    return jit(product, fp=fp, target=target, threads=threads)


@hiding_frames
def linear_operator(fn: Callable[..., object], x: object, *args: object, fp: Fp = "default",
                    threads: Threads = None) -> LinearOperator:
    """Return the Jacobian at a point as SciPy's `LinearOperator`: products with it, never itself.

    fn      -- a function of an array x, and of others behind it, that returns an array or a number
    x       -- where to differentiate: a float array of n elements, of any shape
    args    -- further arguments of `fn`
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`

    The operator has the shape (m, n) for a result of m elements: `matvec` is one sweep forward,
    `rmatvec` one forward and one back, both with elements in C order. The operator keeps a copy of
    x; `args` are read when it is used.

    Raises `Refusal` for a construct that cannot be captured: the message names the line and a
    remedy.
    Raises `TypeError` where x is no real float array, or the result is no such array or number.

    >>> import numpy as np, tracejit
    >>> J = tracejit.linear_operator(lambda x: x[1:] * x[:-1], np.array([1.0, 2.0, 3.0]))
    >>> J.shape
    (2, 3)
    >>> J @ np.array([1.0, 0.0, 0.0]), J.T @ np.array([0.0, 1.0])
    (array([2., 0.]), array([0., 3., 2.]))
    """
    point = _point("linear_operator", x)
    settings: dict[str, Any] = {"fp": fp, "threads": threads}
    forward, back = tangent_at(fn, 0, **settings), pullback_at(fn, 0, **settings)
    value, _ = forward(np.zeros_like(point), point, *args)
    return _operator(point, np.asarray(value), lambda v: forward(v, point, *args)[1],
                     lambda w: back(w, point, *args))


@hiding_frames
def gauss_newton(residual: Callable[..., object], *, fp: Fp = "default",
                 threads: Threads = None) -> Callable[..., LinearOperator]:
    """Return the function that gives, at a point, the Gauss-Newton matrix of a residual.

    residual -- a function of an array x, and of others behind it, that returns an array
    fp       -- "default", or "strict", which turns off vectorised math and reordered sums
    threads  -- how many threads share loops, or "auto"; None for the setting, see `config`

    `gauss_newton(r)(x, *args)` is SciPy's `LinearOperator` of J^T J, with J the Jacobian of the
    residual at x, which it keeps a copy of. A product is one sweep forward and one back. It stands
    for the Hessian of half the sum of squares, of which it leaves out the term with the
    residual's own second derivatives: it is an approximation unless the residual is zero.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` where x is no real float array, or the residual no such array or number.

    >>> import numpy as np, tracejit
    >>> matrix = tracejit.gauss_newton(lambda x: x[1:] * x[:-1])(np.array([1.0, 2.0, 3.0]))
    >>> matrix @ np.eye(3)
    array([[ 4.,  2.,  0.],
           [ 2., 10.,  6.],
           [ 0.,  6.,  4.]])
    """
    def product(v: object, *args: object) -> Any:
        _, linear = linearized(residual, 0, args, {})
        return pullback_along(residual, 0, args, {})[1](linear(v))

    product.__name__ = f"gauss_newton[{name_of(residual)}]"
    compiled = jit(product, fp=fp, threads=threads)

    def matrix(x: object, *args: object) -> LinearOperator:
        point = _point("gauss_newton", x)
        return _operator(point, point, lambda v: compiled(v, point, *args),
                         lambda v: compiled(v, point, *args))

    matrix.__name__ = product.__name__
    return matrix


def _point(what: str, x: object) -> np.ndarray:
    """Return a copy of a point, which has to be a real float array."""
    point = np.array(x)
    if point.dtype.kind != "f":
        raise TypeError(f"{what} differentiates by real float arrays, and x has the dtype "
                        f"{point.dtype}. Pass x.astype(float)")
    return point


def _operator(point: np.ndarray, value: np.ndarray, forward: Callable[[Any], Any],
              back: Callable[[Any], Any]) -> LinearOperator:
    """Return an operator on flat arrays, of products with arrays as the function has them."""
    from scipy.sparse.linalg import LinearOperator

    def matvec(v: Any) -> Any:
        return np.ravel(forward(np.asarray(v, point.dtype).reshape(point.shape)))

    def rmatvec(w: Any) -> Any:
        given = np.asarray(w, value.dtype).reshape(value.shape)
        return np.ravel(back(given if value.shape else given[()]))

    return LinearOperator((value.size, point.size), matvec=matvec, rmatvec=rmatvec,
                          dtype=np.result_type(value, point))
