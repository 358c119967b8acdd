"""The transforms as users call them: `transform(f)`, `@transform`, `@transform(...)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tracejit.runtime.function import Function, make_function
from tracejit.runtime.tracebacks import hiding_frames
from tracejit.transforms.compiled import Jit, Options
from tracejit.transforms.gradient import Gradient
from tracejit.transforms.linear import Pullback, Tangent, tangents_like

__all__ = ["grad", "jit", "jvp", "value_and_grad", "vjp"]


def _decorator(fn: Any, make: Callable[[Callable[..., Any]], Any]) -> Any:
    """Serve `transform(f)`, `@transform` and `@transform(...)`."""
    if fn is None:
        return lambda f: _checked(f, make)
    return _checked(fn, make)


def _checked(fn: Any, make: Callable[[Callable[..., Any]], Any]) -> Function:
    if not callable(fn):
        raise TypeError(f"a transform takes a function, not {fn!r}")
    return make_function(make(fn))


def jit(fn: Callable[..., Any] | None = None, *, fp: str = "default") -> Any:
    """Compile a function; arrays that it writes to are written to as in NumPy.

    fn -- a function of arrays, numbers and nests of them
    fp -- "strict" turns off vectorised math and reordered sums

    >>> import numpy as np, tracejit
    >>> @tracejit.jit
    ... def norm(x):
    ...     total = 0.0
    ...     for i in range(len(x)):
    ...         total += x[i] * x[i]
    ...     return np.sqrt(total)
    >>> float(norm(np.array([3.0, 4.0])))
    5.0
    """
    return _decorator(fn, lambda f: Jit(f, Options(fp)))


def grad(fn: Callable[..., Any] | None = None, argnums: Any = 0, has_aux: bool = False, *,
         fp: str = "default") -> Any:
    """Return the function that computes the gradient of a function with a scalar result.

    fn      -- a function that returns a real scalar (or, with `has_aux`, a pair with more)
    argnums -- position or name of the argument to differentiate by, or a tuple of them
    has_aux -- whether the function returns (value, auxiliary data); so does its gradient then
    fp      -- "strict" turns off vectorised math and reordered sums

    The gradient has the structure, shapes and dtypes of the argument (with a tuple of argnums, a
    tuple of them); an argument that the result does not depend on has zeros.

    Raises `TypeError` where the result is no real scalar or an argument is not floating.

    >>> import numpy as np, tracejit
    >>> @tracejit.grad
    ... def slope(x):
    ...     return np.sum(x ** 2)
    >>> slope(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _decorator(fn, lambda f: Gradient(f, argnums, has_aux, False, Options(fp)))


def value_and_grad(fn: Callable[..., Any] | None = None, argnums: Any = 0, has_aux: bool = False, *,
                   fp: str = "default") -> Any:
    """Return the function that computes value and gradient in one pass; see `grad`.

    >>> import tracejit
    >>> value, slope = tracejit.value_and_grad(lambda x: x * x * x)(2.0)
    >>> float(value), float(slope)
    (8.0, 12.0)
    """
    return _decorator(fn, lambda f: Gradient(f, argnums, has_aux, True, Options(fp)))


@hiding_frames
def vjp(fn: Callable[..., Any] | None = None, *primals: Any, argnums: Any = None,
        has_aux: bool = False, fp: str = "default", **kwargs: Any) -> Any:
    """Return value and pullback: the map from cotangents of the result to those of the arguments.

    `vjp(f)` is a function of f's arguments that returns (value, pullback), or (value, pullback,
    aux) with `has_aux`; `vjp(f, x, y)` calls it at once. The pullback returns one cotangent for an
    int or name in `argnums`, else a tuple of them, by default for all positional arguments.

    Raises `TypeError` or `ValueError` from the pullback where a cotangent does not fit the result.

    >>> import numpy as np, tracejit
    >>> value, pullback = tracejit.vjp(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
    >>> pullback(np.array([1.0, 1.0]))
    (array([3., 3.]), 3.0)
    """
    def make(f: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(f):
            raise TypeError(f"a transform takes a function, not {f!r}")
        pull = Pullback(f, argnums, has_aux, Options(fp))

        @functools.wraps(f, updated=())
        @hiding_frames
        def value_and_pullback(*args: Any, **keywords: Any) -> Any:
            return pull(*args, **keywords)

        return value_and_pullback

    if fn is None:
        return make
    return make(fn)(*primals, **kwargs) if primals or kwargs else make(fn)


@hiding_frames
def jvp(fn: Callable[..., Any] | None = None, primals: Any = None, tangents: Any = None, *,
        fp: str = "default") -> Any:
    """Return value and tangent of a function: its derivative along a direction.

    `jvp(f)` is a function of (primals, tangents), two tuples; `jvp(f, primals, tangents)` calls it
    at once.

    Raises `TypeError` or `ValueError` where tangents do not fit primals.

    >>> import numpy as np, tracejit
    >>> value, tangent = tracejit.jvp(np.sin, (0.0,), (2.0,))
    >>> float(value), float(tangent)
    (0.0, 2.0)
    """
    def make(f: Callable[..., Any]) -> Callable[..., Any]:
        inner = _checked(f, lambda g: Tangent(g, Options(fp)))

        @functools.wraps(f, updated=())
        @hiding_frames
        def value_and_tangent(primals: Any, tangents: Any) -> Any:
            return inner(tuple(primals), tangents_like(primals, tangents))

        return value_and_tangent

    if fn is None:
        return make
    if primals is None:
        return make(fn)
    if not (isinstance(primals, (tuple, list)) and isinstance(tangents, (tuple, list))):
        raise TypeError("jvp takes the arguments and their tangents as two tuples: "
                        "jvp(f, (x, y), (x_dot, y_dot))")
    return make(fn)(primals, tangents)
