"""The transforms as users call them: `transform(f)`, `@transform`, `@transform(...)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, overload

from tracejit.analyses import Without
from tracejit.configuration import Threads
from tracejit.runtime.function import Function
from tracejit.runtime.tracebacks import hiding_frames
from tracejit.transforms.arguments import argument_places
from tracejit.transforms.deferred import Deferred
from tracejit.transforms.options import Argnums, Fp, Options, Target
from tracejit.transforms.signatures import give_signature

__all__ = ["grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jit", "jvp",
           "value_and_grad", "vjp", "vmap"]

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")
_Tuple = tuple[Any, ...] | list[Any]

# Of every transform, overloads for type checkers: of a function, and as a decorator with arguments;
# with auxiliary data A, and without. The transforms have the function's parameters P.


def _decorator(fn: Any, make: Callable[[Callable[..., Any]], Deferred]) -> Any:
    """Serve `transform(f)`, `@transform` and `@transform(...)`."""
    if fn is None:
        return lambda f: _checked(f, make)
    return _checked(fn, make)


def _checked(fn: Callable[..., object],
             make: Callable[[Callable[..., object]], Deferred]) -> Function:
    if not callable(fn):
        raise TypeError(f"a transform takes a function, not {fn!r}")
    return make(fn).function()


def _differentiating(name: str, home: str, argnums: object, settings: tuple[object, ...], fp: str,
                     target: str, threads: Threads, without: Without = (),
                     ) -> Callable[[Callable[..., Any]], Deferred]:
    """Return the maker of a transform by arguments, which are checked at once."""
    def make(fn: Callable[..., object]) -> Deferred:
        argument_places(fn, argnums)
        return Deferred(name, home, fn, settings, Options(fp, target, threads, without))

    return make


@overload
def jit(fn: Callable[P, R], *, fp: Fp = ..., target: Target = ..., threads: Threads = ...,
        without: Without = ...) -> Function[P, R]: ...


@overload
def jit(fn: None = ..., *, fp: Fp = ..., target: Target = ..., threads: Threads = ...,
        without: Without = ...) -> Callable[[Callable[P, R]], Function[P, R]]: ...


def jit(fn: Callable[..., Any] | None = None, *, fp: str = "default", target: str = "cpu",
        threads: Threads = None, without: Without = ()) -> Any:
    """Compile a function; arrays that it writes to are written to as in NumPy.

    fn      -- a function of arrays of any shape (floats, complex numbers, integers, bools), of
               numbers, and of nests of them; anything else, a text say, is fixed for a compilation
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    target  -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`
    without -- names of analyses that are switched off, to see what each brings; see "Settings"

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.

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
    return _decorator(fn, lambda f: Deferred("jit", "compiled:Jit", f, (),
                                             Options(fp, target, threads, without)))


@overload
def grad(fn: Callable[P, object], argnums: Argnums = ..., has_aux: Literal[False] = ..., *,
         fp: Fp = ..., target: Target = ..., threads: Threads = ...,
         without: Without = ...) -> Function[P, Any]: ...


@overload
def grad(fn: Callable[P, tuple[object, A]], argnums: Argnums = ..., *, has_aux: Literal[True],
         fp: Fp = ..., target: Target = ..., threads: Threads = ...,
         without: Without = ...) -> Function[P, tuple[Any, A]]: ...


@overload
def grad(fn: Callable[P, tuple[object, A]], argnums: Argnums, has_aux: Literal[True], *,
         fp: Fp = ..., target: Target = ..., threads: Threads = ...,
         without: Without = ...) -> Function[P, tuple[Any, A]]: ...


@overload
def grad(fn: None = ..., argnums: Argnums = ..., has_aux: Literal[False] = ..., *, fp: Fp = ...,
         target: Target = ..., threads: Threads = ...,
         without: Without = ...) -> Callable[[Callable[P, Any]], Function[P, Any]]: ...


@overload
def grad(fn: None = ..., argnums: Argnums = ..., *, has_aux: Literal[True], fp: Fp = ...,
         target: Target = ..., threads: Threads = ...,
         without: Without = ...
         ) -> Callable[[Callable[P, tuple[Any, A]]], Function[P, tuple[Any, A]]]: ...


def grad(fn: Callable[..., Any] | None = None, argnums: object = 0, has_aux: bool = False, *,
         fp: str = "default", target: str = "cpu", threads: Threads = None,
         without: Without = ()) -> Any:
    """Return the function that computes the gradient of a function with a scalar result.

    fn      -- a function that returns a real scalar, a float of shape (): a number or an array's
               element (or, with `has_aux`, a pair with more)
    argnums -- position or name of the argument to differentiate by, or a tuple of them: floats or
               complex numbers, arrays of them of any shape, or nests of these
    has_aux -- whether the function returns (value, auxiliary data); so does its gradient then
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    target  -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`
    without -- names of analyses that are switched off, to see what each brings; see "Settings"

    The gradient has the structure, shapes and dtypes of the argument (with a tuple of argnums, a
    tuple of them); an argument that the result does not depend on has zeros.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` where the result is no real scalar or an argument is not floating.

    >>> import numpy as np, tracejit
    >>> @tracejit.grad
    ... def slope(x):
    ...     return np.sum(x ** 2)
    >>> slope(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _decorator(fn, _differentiating("grad", "gradient:Gradient", argnums,
                                           (argnums, has_aux, False), fp, target, threads, without))


@overload
def value_and_grad(fn: Callable[P, R], argnums: Argnums = ..., has_aux: Literal[False] = ..., *,
                   fp: Fp = ..., target: Target = ..., threads: Threads = ...,
                   without: Without = ...) -> Function[P, tuple[R, Any]]: ...


@overload
def value_and_grad(fn: Callable[P, tuple[R, A]], argnums: Argnums = ..., *, has_aux: Literal[True],
                   fp: Fp = ..., target: Target = ..., threads: Threads = ...,
                   without: Without = ...) -> Function[P, tuple[tuple[R, A], Any]]: ...


@overload
def value_and_grad(fn: Callable[P, tuple[R, A]], argnums: Argnums, has_aux: Literal[True], *,
                   fp: Fp = ..., target: Target = ..., threads: Threads = ...,
                   without: Without = ...) -> Function[P, tuple[tuple[R, A], Any]]: ...


@overload
def value_and_grad(fn: None = ..., argnums: Argnums = ..., has_aux: Literal[False] = ..., *,
                   fp: Fp = ..., target: Target = ..., threads: Threads = ...,
                   without: Without = ...
                   ) -> Callable[[Callable[P, R]], Function[P, tuple[R, Any]]]: ...


@overload
def value_and_grad(fn: None = ..., argnums: Argnums = ..., *, has_aux: Literal[True], fp: Fp = ...,
                   target: Target = ..., threads: Threads = ...,
                   without: Without = ...) -> Callable[[Callable[P, tuple[R, A]]],
                                 Function[P, tuple[tuple[R, A], Any]]]: ...


def value_and_grad(fn: Callable[..., Any] | None = None, argnums: object = 0, has_aux: bool = False,
                   *, fp: str = "default", target: str = "cpu", threads: Threads = None,
                   without: Without = ()) -> Any:
    """Return the function that computes value and gradient in one pass; see `grad`.

    fn      -- a function that returns a real scalar, a float of shape () (or, with `has_aux`, a
               pair with more)
    argnums -- position or name of the argument to differentiate by, or a tuple of them
    has_aux -- whether the function returns (value, auxiliary data); the result is then
               ((value, auxiliary data), gradient)
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    target  -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`
    without -- names of analyses that are switched off, to see what each brings; see "Settings"

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` where the result is no real scalar or an argument is not floating.

    >>> import tracejit
    >>> value, slope = tracejit.value_and_grad(lambda x: x * x * x)(2.0)
    >>> float(value), float(slope)
    (8.0, 12.0)
    """
    return _decorator(fn, _differentiating("value_and_grad", "gradient:Gradient", argnums,
                                           (argnums, has_aux, True), fp, target, threads, without))


@overload
def vjp(fn: Callable[P, R], *, argnums: Argnums | None = ..., has_aux: Literal[False] = ...,
        fp: Fp = ..., target: Target = ..., threads: Threads = ...
        ) -> Callable[P, tuple[R, Callable[[Any], Any]]]: ...


@overload
def vjp(fn: Callable[P, tuple[R, A]], *, argnums: Argnums | None = ..., has_aux: Literal[True],
        fp: Fp = ..., target: Target = ..., threads: Threads = ...
        ) -> Callable[P, tuple[R, Callable[[Any], Any], A]]: ...


@overload
def vjp(fn: None = ..., *, argnums: Argnums | None = ..., has_aux: Literal[False] = ...,
        fp: Fp = ..., target: Target = ..., threads: Threads = ...
        ) -> Callable[[Callable[P, R]], Callable[P, tuple[R, Callable[[Any], Any]]]]: ...


@overload
def vjp(fn: None = ..., *, argnums: Argnums | None = ..., has_aux: Literal[True], fp: Fp = ...,
        target: Target = ..., threads: Threads = ...
        ) -> Callable[[Callable[P, tuple[R, A]]],
                      Callable[P, tuple[R, Callable[[Any], Any], A]]]: ...


@overload
def vjp(fn: Callable[..., R], *primals: object, argnums: Argnums | None = ...,
        has_aux: Literal[False] = ..., fp: Fp = ..., target: Target = ..., threads: Threads = ...,
        **kwargs: object) -> tuple[R, Callable[[Any], Any]]: ...


@overload
def vjp(fn: Callable[..., tuple[R, A]], *primals: object, argnums: Argnums | None = ...,
        has_aux: Literal[True], fp: Fp = ..., target: Target = ..., threads: Threads = ...,
        **kwargs: object) -> tuple[R, Callable[[Any], Any], A]: ...


@hiding_frames
def vjp(fn: Callable[..., object] | None = None, *primals: object, argnums: object = None,
        has_aux: bool = False, fp: str = "default", target: str = "cpu", threads: Threads = None,
        **kwargs: object) -> Any:
    """Return value and pullback: the map from the result's cotangents to the arguments'.

    fn      -- a function of floating arrays of any shape, numbers, and nests of them, with a result
               of the same kind
    primals, kwargs -- arguments of fn; without any, a function of them is returned
    argnums -- position or name of the argument to differentiate by, or a tuple of them; by default
               all positional arguments
    has_aux -- whether the function returns (value, auxiliary data)
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    target  -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`

    `vjp(f)` is a function of f's arguments that returns (value, pullback), or (value, pullback,
    aux) with `has_aux`; `vjp(f, x, y)` calls it at once. The pullback takes a cotangent of the
    value's structure, shapes and dtypes, and returns one cotangent for an int or name in `argnums`,
    else a tuple of them, of the arguments' shapes and dtypes.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` or `ValueError` from the pullback where a cotangent does not fit the result.

    >>> import numpy as np, tracejit
    >>> value, pullback = tracejit.vjp(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
    >>> pullback(np.array([1.0, 1.0]))
    (array([3., 3.]), 3.0)
    """
    def make(f: Callable[..., object]) -> Callable[..., Any]:
        import tracejit.scipy_api  # (importing fills the tables)
        import tracejit.transforms.optimizers
        import tracejit.transforms.stiff_equations  # noqa: F401
        from tracejit.transforms.linear import Pullback

        if not callable(f):
            raise TypeError(f"a transform takes a function, not {f!r}")
        pull = Pullback(f, argnums, has_aux, Options(fp, target, threads))

        @functools.wraps(f, updated=())
        @hiding_frames
        def value_and_pullback(*args: object, **keywords: object) -> Any:
            return pull(*args, **keywords)

        give_signature(value_and_pullback, "vjp", f, has_aux)
        return value_and_pullback

    if fn is None:
        return make
    return make(fn)(*primals, **kwargs) if primals or kwargs else make(fn)


@overload
def jvp(fn: Callable[..., R], primals: None = ..., tangents: None = ..., *, fp: Fp = ...,
        target: Target = ..., threads: Threads = ...
        ) -> Callable[[_Tuple, _Tuple], tuple[R, Any]]: ...


@overload
def jvp(fn: Callable[..., R], primals: _Tuple, tangents: _Tuple, *, fp: Fp = ...,
        target: Target = ..., threads: Threads = ...) -> tuple[R, Any]: ...


@overload
def jvp(fn: None = ..., *, fp: Fp = ..., target: Target = ..., threads: Threads = ...
        ) -> Callable[[Callable[..., R]], Callable[[_Tuple, _Tuple], tuple[R, Any]]]: ...


@hiding_frames
def jvp(fn: Callable[..., Any] | None = None, primals: object = None, tangents: object = None, *,
        fp: str = "default", target: str = "cpu", threads: Threads = None) -> Any:
    """Return value and tangent of a function: its derivative along a direction.

    fn       -- a function of floating arrays of any shape, numbers, and nests of them
    primals  -- a tuple of its arguments: where to differentiate
    tangents -- a tuple of directions, of the arguments' structures, shapes and dtypes
    fp       -- "default", or "strict", which turns off vectorised math and reordered sums
    target   -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads  -- how many threads share loops, or "auto"; None for the setting, see `config`

    `jvp(f)` is a function of (primals, tangents), two tuples; `jvp(f, primals, tangents)` calls it
    at once. The tangent has the structure, shapes and dtypes of the value.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` or `ValueError` where tangents do not fit primals.

    >>> import numpy as np, tracejit
    >>> value, tangent = tracejit.jvp(np.sin, (0.0,), (2.0,))
    >>> float(value), float(tangent)
    (0.0, 2.0)
    """
    return _along(fn, "jvp", "linear:Tangent", Options(fp, target, threads), primals, tangents)


def _along(fn: Callable[..., object] | None, name: str, home: str, options: Options,
           primals: object, tangents: object) -> Any:
    """Serve `transform(f)` and `transform(f, primals, tangents)`."""
    def make(f: Callable[..., object]) -> Callable[..., Any]:
        from tracejit.transforms.linear import pair_of

        inner = _checked(f, lambda g: Deferred(name, home, g, (), options))

        @functools.wraps(f, updated=())
        @hiding_frames
        def along_tangents(primals: object, tangents: object) -> Any:
            return inner(*pair_of(name, primals, tangents))

        give_signature(along_tangents, name, f)
        return along_tangents

    if fn is None:
        return make
    if primals is None:
        return make(fn)
    return make(fn)(primals, tangents)


@overload
def vmap(fn: Callable[..., object], in_axes: object = ..., out_axes: object = ..., *, fp: Fp = ...,
         target: Target = ..., threads: Threads = ...) -> Function: ...


@overload
def vmap(fn: None = ..., in_axes: object = ..., out_axes: object = ..., *, fp: Fp = ...,
         target: Target = ..., threads: Threads = ...
         ) -> Callable[[Callable[..., Any]], Function]: ...


def vmap(fn: Callable[..., Any] | None = None, in_axes: object = 0, out_axes: object = 0, *,
         fp: str = "default", target: str = "cpu", threads: Threads = None) -> Any:
    """Return the function that maps another over an axis of its arguments.

    fn       -- a function of one element: of an array's row, say
    in_axes  -- which axis of the arguments the elements lie along: an int for all positional
                arguments, or a tuple with an int, None (the same for all elements), or a nest of
                these, for each; arguments by name are mapped over axis 0
    out_axes -- along which axis of the results the elements are stacked: an int, None for results
                that do not differ between elements, or a nest of these
    fp       -- "default", or "strict", which turns off vectorised math and reordered sums
    target   -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads  -- how many threads share loops, or "auto"; None for the setting, see `config`

    The function may have loops and branches; each element takes its own way through them.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `ValueError` for axes that are not there or of different sizes.

    >>> import numpy as np, tracejit
    >>> dots = tracejit.vmap(np.dot, in_axes=(0, None))
    >>> dots(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0]))
    array([21., 43.])
    """
    return _decorator(fn, lambda f: Deferred("vmap", "mapping:make_vmap", f, (in_axes, out_axes),
                                             Options(fp, target, threads)))


@overload
def jacrev(fn: Callable[P, object], argnums: Argnums = ..., has_aux: Literal[False] = ..., *,
           fp: Fp = ..., target: Target = ..., threads: Threads = ...) -> Function[P, Any]: ...


@overload
def jacrev(fn: Callable[P, tuple[object, A]], argnums: Argnums = ..., *, has_aux: Literal[True],
           fp: Fp = ..., target: Target = ..., threads: Threads = ...
           ) -> Function[P, tuple[Any, A]]: ...


@overload
def jacrev(fn: Callable[P, tuple[object, A]], argnums: Argnums, has_aux: Literal[True], *,
           fp: Fp = ..., target: Target = ..., threads: Threads = ...
           ) -> Function[P, tuple[Any, A]]: ...


@overload
def jacrev(fn: None = ..., argnums: Argnums = ..., has_aux: Literal[False] = ..., *, fp: Fp = ...,
           target: Target = ..., threads: Threads = ...
           ) -> Callable[[Callable[P, Any]], Function[P, Any]]: ...


@overload
def jacrev(fn: None = ..., argnums: Argnums = ..., *, has_aux: Literal[True], fp: Fp = ...,
           target: Target = ..., threads: Threads = ...
           ) -> Callable[[Callable[P, tuple[Any, A]]], Function[P, tuple[Any, A]]]: ...


def jacrev(fn: Callable[..., Any] | None = None, argnums: object = 0, has_aux: bool = False, *,
           fp: str = "default", target: str = "cpu", threads: Threads = None) -> Any:
    """Return the function that computes the Jacobian, in reverse mode: one sweep per result.

    fn      -- a function with floating results: an array, a number, or a nest of them
    argnums -- position or name of the argument to differentiate by, or a tuple of them
    has_aux -- whether the function returns (result, auxiliary data); so does its Jacobian then
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    target  -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`

    For a result of shape s and an argument of shape t it has shape s + t. Where results or
    arguments are nests, it is a nest of results of nests of arguments. Prefer `jacfwd` where the
    arguments have fewer elements than the results.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` where results or chosen arguments are no real floats.

    >>> import numpy as np, tracejit
    >>> tracejit.jacrev(lambda x: x ** 2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _decorator(fn, _differentiating("jacrev", "mapping:make_jacrev", argnums,
                                           (argnums, has_aux), fp, target, threads))


jacobian = jacrev


@overload
def jacfwd(fn: Callable[P, object], argnums: Argnums = ..., has_aux: Literal[False] = ..., *,
           fp: Fp = ..., target: Target = ..., threads: Threads = ...) -> Function[P, Any]: ...


@overload
def jacfwd(fn: Callable[P, tuple[object, A]], argnums: Argnums = ..., *, has_aux: Literal[True],
           fp: Fp = ..., target: Target = ..., threads: Threads = ...
           ) -> Function[P, tuple[Any, A]]: ...


@overload
def jacfwd(fn: Callable[P, tuple[object, A]], argnums: Argnums, has_aux: Literal[True], *,
           fp: Fp = ..., target: Target = ..., threads: Threads = ...
           ) -> Function[P, tuple[Any, A]]: ...


@overload
def jacfwd(fn: None = ..., argnums: Argnums = ..., has_aux: Literal[False] = ..., *, fp: Fp = ...,
           target: Target = ..., threads: Threads = ...
           ) -> Callable[[Callable[P, Any]], Function[P, Any]]: ...


@overload
def jacfwd(fn: None = ..., argnums: Argnums = ..., *, has_aux: Literal[True], fp: Fp = ...,
           target: Target = ..., threads: Threads = ...
           ) -> Callable[[Callable[P, tuple[Any, A]]], Function[P, tuple[Any, A]]]: ...


def jacfwd(fn: Callable[..., Any] | None = None, argnums: object = 0, has_aux: bool = False, *,
           fp: str = "default", target: str = "cpu", threads: Threads = None) -> Any:
    """Return the function that computes the Jacobian, in forward mode: one sweep per argument.

    fn      -- a function with floating results: an array, a number, or a nest of them
    argnums -- position or name of the argument to differentiate by, or a tuple of them
    has_aux -- whether the function returns (result, auxiliary data); so does its Jacobian then
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    target  -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`

    Its shapes are the same as `jacrev`'s; it computes a column per element of the arguments.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` where results or chosen arguments are no real floats.

    >>> import numpy as np, tracejit
    >>> tracejit.jacfwd(lambda t: np.array([np.cos(t), np.sin(t)]))(0.0)
    array([-0.,  1.])
    """
    return _decorator(fn, _differentiating("jacfwd", "mapping:make_jacfwd", argnums,
                                           (argnums, has_aux), fp, target, threads))


@overload
def hessian(fn: Callable[P, object], argnums: Argnums = ..., has_aux: Literal[False] = ..., *,
            fp: Fp = ..., target: Target = ..., threads: Threads = ...) -> Function[P, Any]: ...


@overload
def hessian(fn: Callable[P, tuple[object, A]], argnums: Argnums = ..., *, has_aux: Literal[True],
            fp: Fp = ..., target: Target = ..., threads: Threads = ...
            ) -> Function[P, tuple[Any, A]]: ...


@overload
def hessian(fn: Callable[P, tuple[object, A]], argnums: Argnums, has_aux: Literal[True], *,
            fp: Fp = ..., target: Target = ..., threads: Threads = ...
            ) -> Function[P, tuple[Any, A]]: ...


@overload
def hessian(fn: None = ..., argnums: Argnums = ..., has_aux: Literal[False] = ..., *, fp: Fp = ...,
            target: Target = ..., threads: Threads = ...
            ) -> Callable[[Callable[P, Any]], Function[P, Any]]: ...


@overload
def hessian(fn: None = ..., argnums: Argnums = ..., *, has_aux: Literal[True], fp: Fp = ...,
            target: Target = ..., threads: Threads = ...
            ) -> Callable[[Callable[P, tuple[Any, A]]], Function[P, tuple[Any, A]]]: ...


def hessian(fn: Callable[..., Any] | None = None, argnums: object = 0, has_aux: bool = False, *,
            fp: str = "default", target: str = "cpu", threads: Threads = None) -> Any:
    """Return the function that computes the Hessian of a function with a scalar result.

    fn      -- a function that returns a real scalar, a float of shape () (or, with `has_aux`, a
               pair with more)
    argnums -- position or name of the argument to differentiate by, or a tuple of them
    has_aux -- whether the function returns (value, auxiliary data); so does its Hessian then
    fp      -- "default", or "strict", which turns off vectorised math and reordered sums
    target  -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads -- how many threads share loops, or "auto"; None for the setting, see `config`

    It is forward over reverse mode, `jacfwd(grad(fn))`: for an argument of shape t it has shape
    t + t; for a tuple of argnums it is a tuple of tuples.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` where the result is no real scalar or an argument is not floating.

    >>> import numpy as np, tracejit
    >>> tracejit.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return _decorator(fn, _differentiating("hessian", "mapping:make_hessian", argnums,
                                           (argnums, has_aux), fp, target, threads))


@overload
def hvp(fn: Callable[..., object], primals: None = ..., tangents: None = ..., *, fp: Fp = ...,
        target: Target = ..., threads: Threads = ...) -> Callable[[_Tuple, _Tuple], Any]: ...


@overload
def hvp(fn: Callable[..., object], primals: _Tuple, tangents: _Tuple, *, fp: Fp = ...,
        target: Target = ..., threads: Threads = ...) -> Any: ...


@overload
def hvp(fn: None = ..., *, fp: Fp = ..., target: Target = ..., threads: Threads = ...
        ) -> Callable[[Callable[..., Any]], Callable[[_Tuple, _Tuple], Any]]: ...


@hiding_frames
def hvp(fn: Callable[..., Any] | None = None, primals: object = None, tangents: object = None, *,
        fp: str = "default", target: str = "cpu", threads: Threads = None) -> Any:
    """Return the Hessian of a function with a scalar result times a direction.

    fn       -- a function that returns a real scalar, a float of shape ()
    primals  -- a tuple of its arguments: where to differentiate
    tangents -- a tuple of directions, of the arguments' structures, shapes and dtypes
    fp       -- "default", or "strict", which turns off vectorised math and reordered sums
    target   -- "cpu", or "cuda": kernels for an NVIDIA GPU, of which results are `DeviceArray`s
    threads  -- how many threads share loops, or "auto"; None for the setting, see `config`

    `hvp(f)` is a function of (primals, tangents), two tuples with one item per argument;
    `hvp(f, primals, tangents)` calls it at once. The product has the structure of the argument, or
    is a tuple where there are several. It costs a small multiple of the function, for any
    number of elements.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` or `ValueError` where tangents do not fit primals.

    >>> import numpy as np, tracejit
    >>> x, v = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    >>> tracejit.hvp(lambda x: x[0] ** 2 * x[1], (x,), (v,))
    array([4., 2.])
    """
    return _along(fn, "hvp", "mapping:make_hvp", Options(fp, target, threads), primals, tangents)
