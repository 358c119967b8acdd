"""A function of arrays as other libraries call it: flat results, a pullback, tangents, batches.

Each of these is such a function again, so that derivatives of any order come from one mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import evaluate
from tracejit.ir.interpreter import bind_sizes
from tracejit.ir.types import Aval
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.specs import ArgSpec, spec_of_leaf
from tracejit.transforms.options import Fp
from tracejit.transforms.public import jit, jvp, vjp, vmap
from tracejit.tree import Structure

if TYPE_CHECKING:
    from tracejit.runtime.stages import Traced

__all__ = ["ArrayFunction", "Result"]


@dataclass(frozen=True, slots=True)
class Result:
    """A result before there is one.

    shape -- None where data decides on it
    """

    dtype: np.dtype
    ndim: int
    shape: tuple[int, ...] | None

    @property
    def is_differentiable(self) -> bool:
        """Whether it is of floats or complex numbers."""
        return self.dtype.kind in "fc"


class ArrayFunction:
    """A function of arrays and numbers that returns one array or number, or a tuple of them.

    fn  -- the user's function, or one made of it
    fp  -- "default" or "strict", as for `jit`

    `compiled` is it as `jit` returns it: without the checks, for `@njit` code too.
    """

    def __init__(self, fn: Callable[..., object], fp: Fp = "default") -> None:
        self.fn = fn
        self.name = getattr(fn, "__name__", "f")
        self._fp: Fp = fp
        self.compiled = jit(fn, fp=fp)
        self._traced: dict[tuple[ArgSpec, ...], Traced] = {}
        self._made: dict[tuple[object, ...], ArrayFunction] = {}

    def __repr__(self) -> str:
        return self.name

    def __call__(self, *args: object) -> tuple[np.ndarray, ...]:
        """Return the results as arrays, none of which shares memory with an argument."""
        self._trace(args)
        results: Any = self.compiled(*args)
        given = [a for a in args if isinstance(a, np.ndarray)]
        return tuple([_own(r, given) for r in (results if isinstance(results, tuple)
                                               else (results,))])

    def is_single(self, args: Sequence[object]) -> bool:
        """Whether it returns one array or number for such arguments, and not a tuple."""
        return self._trace(args).program.structure.kind is not tuple

    def results(self, args: Sequence[object]) -> list[Result]:
        """Return what it returns for such arguments, which are not computed with.

        args -- arrays and numbers, or objects that have a dtype, a number of axes, and a shape
        """
        program = self._trace(args).program
        sizes = bind_sizes(program.graph, [
            np.broadcast_to(0.0, getattr(args[source], "shape", None) or ())
            if isinstance(source, int) else 0.0 for source in program.sources])
        outputs = iter(program.graph.outputs)
        return [_result(next(outputs).aval, sizes) if constant is None
                else _constant(np.asarray(constant[0])) for constant in program.constants]

    def pullback(self, wanted: tuple[int, ...], results: tuple[int, ...]) -> ArrayFunction:
        """Return the function of cotangents and arguments that gives cotangents of arguments.

        wanted  -- the numbers of these arguments
        results -- the numbers of the results that have cotangents
        """
        def pulled(*given: Any) -> Any:
            cts, args = given[:len(results)], given[len(results):]
            chosen = [args[k] for k in wanted]
            pullback: Any = vjp(self._part(args, wanted, results), *chosen)[1]
            return pullback(cts)

        return self._again("vjp", pulled, wanted, results)

    def tangents(self, wanted: tuple[int, ...], results: tuple[int, ...]) -> ArrayFunction:
        """Return the function of tangents and arguments that gives tangents of results."""
        def pushed(*given: Any) -> Any:
            along, args = given[:len(wanted)], given[len(wanted):]
            return jvp(self._part(args, wanted, results), tuple(args[k] for k in wanted),
                       along)[1]

        return self._again("jvp", pushed, wanted, results)

    def mapped(self, axes: tuple[int | None, ...]) -> ArrayFunction:
        """Return the function of arrays of arguments along these axes; None for one for all."""
        return self._again("vmap", vmap(self.fn, in_axes=axes), axes)

    def _trace(self, args: Sequence[object]) -> Traced:
        specs = tuple([_spec(self.name, k, a) for k, a in enumerate(args)])
        if specs not in self._traced:
            traced = self.compiled.trace(*specs)
            _require_plain(self.name, traced)
            self._traced[specs] = traced
        return self._traced[specs]

    def _part(self, args: Sequence[Any], wanted: Sequence[int],
              results: Sequence[int]) -> Callable[..., tuple[Any, ...]]:
        def part(*chosen: Any) -> tuple[Any, ...]:
            given = dict(zip(wanted, chosen, strict=True))
            called = tuple([given.get(k, a) for k, a in enumerate(args)])
            found: Any = call_function(self.fn, called, {})
            found = found if isinstance(found, tuple) else (found,)
            return tuple([found[k] for k in results])

        return part

    def _again(self, name: str, fn: Callable[..., object], *key: object) -> ArrayFunction:
        if (name, *key) not in self._made:
            fn.__name__ = f"{name}[{self.name}]"
            self._made[name, *key] = ArrayFunction(fn, self._fp)
        return self._made[name, *key]


def _spec(name: str, k: int, a: object) -> ArgSpec:
    """Return the kind of an argument, where it is an array or a number."""
    dtype, ndim = getattr(a, "dtype", None), getattr(a, "ndim", None)
    if isinstance(a, (bool, int, float, complex, np.generic, np.ndarray)):
        spec = spec_of_leaf(a, f"argument {k} of {name}")
    elif isinstance(dtype, np.dtype) and isinstance(ndim, int):
        spec = ArgSpec("array" if ndim else "scalar", dtype, ndim)
    else:
        spec = ArgSpec("static")
    if not spec.is_traced:
        raise TypeError(f"argument {k} of {name} is a {type(a).__name__}, and only arrays and "
                        "numbers pass between libraries. Fix it: functools.partial(f, ...)")
    return spec


def _require_plain(name: str, traced: Traced) -> None:
    """Raise where a function does to its arguments, or returns, what other libraries cannot see."""
    structure = traced.program.structure
    if traced.program.written:
        raise TypeError(f"{name} writes to an argument, of which other libraries know nothing. "
                        "Write to a copy: x = x.copy()")
    parts = structure.parts if structure.kind is tuple else (structure,)
    if any(part.kind is not None for part in parts):
        raise TypeError(f"{name} returns {_named(structure)}, and other libraries get arrays and "
                        "numbers alone. Return a tuple of them")


def _named(structure: Structure) -> str:
    kinds = [part.kind for part in structure.parts if part.kind is not None]
    kind = kinds[0] if structure.kind is tuple else structure.kind
    return "None" if kind is type(None) else f"a {getattr(kind, '__name__', 'nest')}"


def _own(result: Any, given: Sequence[np.ndarray]) -> np.ndarray:
    """Return a result as an array in memory of its own."""
    array = np.asarray(result)
    is_own = array.flags.writeable and not any(np.may_share_memory(array, a) for a in given)
    return array if is_own else array.copy()


def _result(aval: Aval, sizes: dict[Any, int]) -> Result:
    try:
        shape = tuple([evaluate(d, sizes.__getitem__) for d in aval.shape])
    except KeyError:
        shape = None
    return Result(aval.dtype, len(aval.shape), shape)


def _constant(value: np.ndarray) -> Result:
    return Result(value.dtype, value.ndim, value.shape)
