"""Compiled functions in PyTensor's graphs, and so in PyMC's models: an `Op` with a pullback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_funcify

from tracejit.interop.arrays import ArrayFunction, Result
from tracejit.transforms.options import Fp

__all__ = ["as_op"]


def as_op(fn: Callable[..., object], *, fp: Fp = "default") -> Callable[..., Any]:
    """Return a NumPy function as a function of PyTensor's variables, with derivatives.

    PyTensor's compiled code (its Numba mode, which is the default) calls the compiled program with
    no Python between.

    fn -- a function of arrays and numbers that returns an array or a number, or a tuple of them
    fp -- "default", or "strict", which turns off vectorised math and reordered sums

    The types of the results follow from those of the variables that it is applied to, once for
    each: nothing is declared. Reverse derivatives of every order are compiled by tracejit. A
    variable without axes is a number for `fn`.

    Raises `Refusal` for a construct that cannot be captured: the message names the line and a
    remedy.
    Raises `TypeError` where `fn` writes to its arguments, or takes or returns something else than
    arrays and numbers.

    >>> import numpy as np, pytensor, pytensor.tensor as pt
    >>> from tracejit.interop.pytensor import as_op
    >>> x = pt.dvector("x")
    >>> energy = as_op(lambda x: np.sum(x ** 3))(x)
    >>> pytensor.function([x], pytensor.grad(energy, x))([1.0, 2.0])
    array([ 3., 12.])
    """
    op = _TracedOp(ArrayFunction(fn, fp))

    def call(*args: object) -> Any:
        return op(*args)

    call.__name__ = call.__qualname__ = op.function.name
    call.__doc__ = fn.__doc__
    return call


class _TracedOp(Op):
    """A function of arrays as an op; its pullbacks are such ops again."""

    __props__ = ("function",)

    def __init__(self, function: ArrayFunction) -> None:
        self.function = function

    def __hash__(self) -> int:
        return hash((_TracedOp, self.function))

    def __str__(self) -> str:
        return self.function.name

    def make_node(self, *args: Any) -> Apply:
        given = [pt.as_tensor_variable(a) for a in args]
        results = self.function.results([_kind(v) for v in given])
        return Apply(self, given, [
            pt.TensorType(str(r.dtype), shape=(None,) * r.ndim)() for r in results])

    def perform(self, node: Any, inputs: Sequence[Any], outputs: Sequence[list[Any]]) -> None:
        results = self.function(*[np.asarray(a)[()] if not np.ndim(a) else a for a in inputs])
        for store, result in zip(outputs, results, strict=True):
            store[0] = result

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any],
                 cotangents: Sequence[Any]) -> list[Any]:
        """Return the cotangents of the inputs, by an op that pulls those of the outputs back."""
        wanted = tuple([k for k, v in enumerate(inputs) if np.dtype(v.dtype).kind in "fc"])
        smooth = tuple([k for k, (v, ct) in enumerate(zip(outputs, cotangents, strict=True))
                        if np.dtype(v.dtype).kind in "fc"
                        and not isinstance(ct.type, DisconnectedType)])
        found: dict[int, Any] = {}
        if wanted and smooth:
            back = _TracedOp(self.function.pullback(wanted, smooth))
            cts = [pt.cast(cotangents[k], outputs[k].dtype) for k in smooth]
            made = back(*cts, *inputs)
            found = dict(zip(wanted, made if isinstance(made, list) else [made], strict=True))
        return [found.get(k, DisconnectedType()()) for k in range(len(inputs))]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Return which inputs have a derivative of which outputs."""
        return [[np.dtype(v.dtype).kind in "fc" and np.dtype(out.dtype).kind in "fc"
                 for out in node.outputs] for v in node.inputs]

    if not hasattr(Op, "pullback"):  # before PyTensor 2.38
        L_op = pullback


def _kind(v: Any) -> Result:
    return Result(np.dtype(v.dtype), v.ndim, None)


# --- in the code that PyTensor compiles by Numba ------------------------------------------------


@numba_funcify.register(_TracedOp)
def _njit_function(op: _TracedOp, node: Any, **_: object) -> Callable[..., Any]:
    """Return the function that PyTensor's compiled code calls: of arrays, those of no axes too."""
    call = op.function.compiled
    is_single = len(node.outputs) == 1

    @numba.njit(no_cpython_wrapper=True)
    def run(*inputs: Any) -> Any:
        return _as_arrays(call(*_as_numbers(inputs)))

    @numba.njit(no_cpython_wrapper=True)
    def run_for_one(*inputs: Any) -> Any:
        return _as_arrays((call(*_as_numbers(inputs)),))[0]

    @numba.njit(no_cpython_wrapper=True)
    def run_for_one_of_a_tuple(*inputs: Any) -> Any:
        return _as_arrays(call(*_as_numbers(inputs)))[0]

    if not is_single:
        several: Callable[..., Any] = run
        return several
    is_number: bool = op.function.is_single([_kind(v) for v in node.inputs])
    alone: Callable[..., Any] = run_for_one if is_number else run_for_one_of_a_tuple
    return alone


def _as_numbers(args: Any) -> Any:
    """Stand for a tuple whose arrays of no axes are numbers, in compiled code."""
    raise NotImplementedError(args)


def _as_arrays(results: Any) -> Any:
    """Stand for a tuple whose items are arrays in memory of their own, in compiled code."""
    raise NotImplementedError(results)


@numba.extending.overload(_as_numbers)
def _(args):  # type: ignore[no-untyped-def]
    if len(args) == 0:
        return lambda args: ()
    if isinstance(args[0], numba.types.Array) and args[0].ndim == 0:
        return lambda args: (args[0][()], *_as_numbers(args[1:]))
    return lambda args: (args[0], *_as_numbers(args[1:]))


@numba.extending.overload(_as_arrays)
def _(results):  # type: ignore[no-untyped-def]
    if len(results) == 0:
        return lambda results: ()
    if isinstance(results[0], numba.types.Array):
        return lambda results: (np.copy(results[0]), *_as_arrays(results[1:]))
    return lambda results: (np.asarray(results[0]), *_as_arrays(results[1:]))
