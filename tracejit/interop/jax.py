"""Compiled functions in JAX's programs: called back on the CPU, with a pullback of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tracejit.interop.arrays import ArrayFunction, Result
from tracejit.transforms.options import Fp

__all__ = ["as_function"]


def as_function(fn: Callable[..., object], *, fp: Fp = "default") -> Callable[..., Any]:
    """Return a NumPy function as a function of JAX arrays, for `jax.jit`, `grad` and `vmap`.

    fn -- a function of arrays and numbers that returns an array or a number, or a tuple of them
    fp -- "default", or "strict", which turns off vectorised math and reordered sums

    JAX calls it back on the host (`jax.pure_callback`); its reverse derivatives, of every order,
    are compiled by tracejit (`jax.custom_vjp`, which has no forward mode: `jax.jacrev(jax.grad(f))`
    is the Hessian). Under `jax.vmap` it is mapped by `tracejit.vmap`, in one call. Array arguments
    without axes, and Python numbers, are numbers for `fn`.

    Raises `Refusal` for a construct that cannot be captured: the message names the line and a
    remedy.
    Raises `TypeError` where `fn` writes to its arguments, takes or returns something else than
    arrays and numbers, or returns an array whose size data decides.

    >>> import jax, numpy as np
    >>> from tracejit.interop.jax import as_function
    >>> energy = as_function(lambda x: np.sum(x ** 3))
    >>> jax.grad(lambda x: 2.0 * energy(x))(jax.numpy.array([1.0, 2.0])).tolist()
    [6.0, 24.0]
    """
    applied = _Applicable(ArrayFunction(fn, fp))

    def call(*args: object) -> Any:
        return applied(*args)

    call.__name__ = call.__qualname__ = applied.function.name
    call.__doc__ = fn.__doc__
    return call


class _Applicable:
    """A function of arrays as JAX calls it; its pullbacks are such functions again."""

    def __init__(self, function: ArrayFunction) -> None:
        self.function = function
        self._pullbacks: dict[ArrayFunction, _Applicable] = {}
        self._with_rule = jax.custom_vjp(self._results)
        self._with_rule.defvjp(lambda *args: (self._with_rule(*args), args), self._back)

    def __call__(self, *args: object) -> Any:
        results = self._with_rule(*args)
        return results[0] if self.function.is_single(_kinds(args)) else results

    def _results(self, *args: Any) -> tuple[Any, ...]:
        given = [jax.numpy.asarray(a) for a in args]
        shapes = [_shape(self.function.name, r) for r in self.function.results(_kinds(given))]

        def run(*arrays: Any) -> tuple[np.ndarray, ...]:
            function = self.function
            for _ in range(arrays[0].ndim - given[0].ndim if given else 0):
                function = function.mapped((0,) * len(given))
            results = function(*map(_array, arrays))
            return tuple([np.asarray(r, s.dtype) for r, s in zip(results, shapes, strict=True)])

        found = jax.pure_callback(run, tuple(shapes), *given, vmap_method="broadcast_all")
        return tuple(found)

    def _back(self, args: Any, cotangents: Any) -> tuple[Any, ...]:
        kinds = _kinds(args)
        wanted = tuple([k for k, a in enumerate(kinds) if a.is_differentiable])
        smooth = tuple([k for k, r in enumerate(self.function.results(kinds))
                        if r.is_differentiable])
        found: dict[int, Any] = {}
        if wanted and smooth:
            back = self.function.pullback(wanted, smooth)
            if back not in self._pullbacks:
                self._pullbacks[back] = _Applicable(back)
            applied = self._pullbacks[back]
            cts = [_turned(jax.numpy.asarray(cotangents[k])) for k in smooth]
            found = dict(zip(wanted, applied._with_rule(*cts, *args), strict=True))
        return tuple([_cotangent(found.get(k), a) for k, a in enumerate(args)])


def _cotangent(found: Any, a: Any) -> Any:
    """Return an argument's cotangent as JAX asks for it; None stands for zeros."""
    if found is not None:
        return _turned(found)
    given = jax.numpy.asarray(a)
    return jax.numpy.zeros_like(given) if given.dtype.kind in "fc" else np.zeros(
        given.shape, jax.dtypes.float0)


def _turned(cotangent: Any) -> Any:
    """Return a complex cotangent of JAX's as TensorFlow has it, or the other way round."""
    return jax.numpy.conj(cotangent) if cotangent.dtype.kind == "c" else cotangent


def _kinds(args: Sequence[Any]) -> list[Result]:
    """Return the dtypes and shapes of arguments, which under transforms have no numbers."""
    given = [jax.typeof(jax.numpy.asarray(a)) for a in args]
    return [Result(np.dtype(a.dtype), len(a.shape), a.shape) for a in given]


def _shape(name: str, result: Result) -> jax.ShapeDtypeStruct:
    if result.shape is None:
        raise TypeError(f"the size of a result of {name} is computed from data, which JAX cannot "
                        "know beforehand. Return an array of the largest size")
    return jax.ShapeDtypeStruct(result.shape, jax.dtypes.canonicalize_dtype(result.dtype))


def _array(a: Any) -> Any:
    array = np.asarray(a)
    return array if array.ndim else array[()]
