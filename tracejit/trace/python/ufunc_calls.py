"""Calls of ufuncs and of their methods with the arguments that all ufuncs take: `out=` and others.

NumPy itself decides on loops, casts and unknown arguments: a call with such arguments is made once
on empty arrays of the operands' dtypes, and raises NumPy's errors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.layouts import UNKNOWN, lay_out
from tracejit.trace.ground.upward import above
from tracejit.trace.values.equations import (
    ACCUMULATIONS,
    REDUCTIONS,
    apply_ufunc,
    cast,
    dims_of,
    dtype_of,
    is_weak,
    lift,
    promotion_key,
    same_dim,
)
from tracejit.trace.values.tracer import Lifted, Tracer

__all__ = ["call_ufunc", "fold_dtype", "mask_of", "require_shape", "require_targets", "write_out",
           "write_reduced"]


@above
def call_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[object],
               kwargs: dict[str, object]) -> Any:
    """Capture a call of a ufunc or of one of its methods."""
    if method in _METHODS:
        return _METHODS[method](ufunc, inputs, kwargs)
    raise _refused(ufunc, method)


def _refused(ufunc: np.ufunc, method: str) -> Exception:
    return refuse(f"np.{ufunc.__name__}.{method} with these arguments cannot be captured",
                  "Use the plain function", "TJ217")


# --- calls ---------------------------------------------------------------------------------------


def _call(ufunc: np.ufunc, inputs: Sequence[object], kwargs: dict[str, Any]) -> Any:
    operands, given = inputs[:ufunc.nin], inputs[ufunc.nin:]
    if len(operands) < ufunc.nin or kwargs.get("axes") or kwargs.get("axis"):
        raise _refused(ufunc, "__call__")
    if given:
        kwargs["out"] = (*given, *(None,) * (ufunc.nout - len(given)))
    if not kwargs:
        return apply_ufunc(ufunc, *operands)
    operands = tuple(lift(x) for x in operands)
    out = kwargs.pop("out", None)
    targets = out if isinstance(out, tuple) else (out,) * (1 if ufunc.nout == 1 else 0)
    where = mask_of(kwargs.pop("where", True))
    all_true = where is True
    _ask_numpy(ufunc, operands, out, kwargs)
    if not all_true and (not targets or any(t is None for t in targets)):
        raise refuse(f"np.{ufunc.__name__}.__call__ with these arguments cannot be captured: "
                     "where= without out= leaves memory that nobody has written to",
                     "Pass out=, or use np.where", "TJ203")
    results = _computed(ufunc, operands, kwargs)
    written = [_laid(r, kwargs.get("order")) if t is None else _write(r, t, where, ufunc)
               for r, t in zip(results, targets or (None,) * ufunc.nout, strict=True)]
    return tuple(written) if ufunc.nout > 1 else written[0]


def _ask_numpy(ufunc: np.ufunc, operands: Sequence[object], out: Any,
               kwargs: dict[str, object]) -> None:
    """Raise NumPy's errors of a call, but for shapes and values, by a call on empty arrays."""
    shape = (0,) if ufunc.signature is None else (0, 0)

    def empty(x: Any) -> Any:
        return x if x is None else np.empty(shape, x.dtype)

    stand_ins = [promotion_key(x)(1) if isinstance(promotion_key(x), type) else
                 np.empty(shape, dtype_of(x)) for x in operands]
    targets = out if isinstance(out, tuple) else (out,)
    require_targets(targets)
    asked: Any = tuple(map(empty, targets)) if isinstance(out, tuple) else empty(out)
    with np.errstate(all="ignore"):
        ufunc(*stand_ins, **({} if out is None else {"out": asked}), **kwargs)


def require_targets(targets: Sequence[object]) -> None:
    """Require each target of `out=` to be an array of the capture, or `None`."""
    for x in targets:
        if isinstance(x, np.ndarray):
            raise refuse("out= is an array from outside of the captured function",
                         "Make it an argument, or create it inside the function", "TJ402")
        if x is not None and not ((isinstance(x, Tracer) and x.is_array) or dims_of(x)):
            raise TypeError("return arrays must be of ArrayType")


def _computed(ufunc: np.ufunc, operands: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the results, computed in the dtypes that the call asks for."""
    dtypes: Sequence[Any] = ()
    asked = kwargs.get("signature", kwargs.get("sig"))
    dtype = kwargs.get("dtype")
    if dtype is not None:
        asked = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
    if asked is not None:
        keys = [np.dtype(np.int64) if k is int and all(is_weak(x) for x in operands) else k
                for k in map(promotion_key, operands)]
        dtypes = ufunc.resolve_dtypes((*keys, *(None,) * ufunc.nout), signature=asked,
                                      casting=kwargs.get("casting") or "same_kind")
        operands = [x if dtype_of(x) == t and not is_weak(x) else _converted(x, t)
                    for x, t in zip(operands, dtypes, strict=False)]
    result = apply_ufunc(ufunc, *operands)
    results = result if isinstance(result, tuple) else (result,)
    for r, t in zip(results, dtypes[ufunc.nin:], strict=False):
        assert r.dtype == t
    return results


def _converted(x: Lifted, dtype: np.dtype) -> Any:
    """Return an operand in another dtype, of complex numbers the real part."""
    return cast(np.real(x) if dtype_of(x).kind == "c" and dtype.kind not in "cb" else x, dtype)


def _laid(result: Tracer, order: str | None) -> Tracer:
    """Note how a new array lies that an order was asked for."""
    order = (order or "K").upper()
    if order in ("C", "F"):
        return lay_out(result, order) if len(result.dims) > 1 else result
    if order == "A":
        result.cell.layout = UNKNOWN
    return result


def _outer(ufunc: np.ufunc, inputs: Sequence[object], kwargs: dict[str, object]) -> Any:
    if ufunc.nin != 2 or len(inputs) != 2 or ufunc.signature is not None:
        raise _refused(ufunc, "outer")
    a, b = (lift(x) for x in inputs)
    a = a[(..., *(None,) * len(dims_of(b)))] if dims_of(b) and dims_of(a) else a
    return _call(ufunc, (a, b), kwargs)


# --- folds ---------------------------------------------------------------------------------------


def _folding(table: dict[object, Callable[..., object]],
             method: str) -> Callable[[Any, Sequence[Any], dict[str, Any]], Any]:
    """Return the capture of `reduce` or `accumulate`, which fold along axis 0 by default."""

    def fold(ufunc: np.ufunc, inputs: Sequence[object], kwargs: dict[str, object]) -> Any:
        if ufunc not in table or len(inputs) != 1:
            raise _refused(ufunc, method)
        kwargs.setdefault("axis", 0)
        out = kwargs.get("out")
        if isinstance(out, tuple) and len(out) == 1:
            kwargs["out"], = out
        unknown = kwargs.keys() - inspect.signature(table[ufunc]).parameters.keys()
        if method == "accumulate" and (
                isinstance(kwargs["axis"], tuple) or (
                    kwargs["axis"] is None and len(dims_of(lift(inputs[0]))) > 1)):
            raise ValueError("accumulate does not allow multiple axes")
        if unknown:
            with np.errstate(all="ignore"):
                getattr(ufunc, method)(np.ones((1, 1)), **{k: kwargs[k] for k in unknown})
            raise _refused(ufunc, method)
        return table[ufunc](*inputs, **kwargs)

    return fold


def write_reduced(function: Callable[..., object], result: Any, out: Any) -> Any:
    """Return the result of a fold; where `out=` is given, written to it in the dtype of `out`."""
    if out is None:
        return result
    require_shape(function, result, out)
    if not np.can_cast(dtype_of(result), out.dtype, "same_kind"):
        raise refuse(f"{out.dtype} as out= of a fold in {dtype_of(result)}, which NumPy casts at "
                     "each step, cannot be captured", "Leave out= away, and convert the result",
                     "TJ203")
    return _write(result, out, True)


def require_shape(function: Callable[..., object], result: Lifted, out: Any) -> bool:
    """Require of `out=` that it is an array of a result's shape; return that it is."""
    require_targets((out,))
    have, want = dims_of(out), dims_of(result)
    if len(have) != len(want) or not all(map(same_dim, have, want)):
        raise ValueError(f"output parameter for reduction operation {function.__name__} has the "
                         f"wrong shape: Found {out.shape} but expected {np.shape(result)}")
    return True


def fold_dtype(ufunc: Any, a: Tracer, out: object) -> np.dtype | None:
    """Return the dtype in which NumPy folds an array where `out=` is given; None where not."""
    if not isinstance(out, Tracer):
        return None
    dtypes: tuple[np.dtype, ...] = ufunc.resolve_dtypes((out.dtype, a.dtype, None), reduction=True,
                                                       casting="unsafe")
    return dtypes[1]


def mask_of(where: object) -> Any:
    """Return `where=` as `True` or an operand: arrays are of bools, all else has its truth."""
    if where is True or (isinstance(where, np.bool_) and where):
        return True
    if isinstance(where, (Tracer, np.ndarray)):
        where = lift(where)
        if dtype_of(where) == np.bool_:
            return where
        raise TypeError(f"Cannot cast array data from {dtype_of(where)!r} to dtype('bool') "
                        "according to the rule 'safe'")
    return cast(where, np.bool_)


# --- out= ----------------------------------------------------------------------------------------


def write_out(ufunc: Any, result: Any, out: Any) -> Any:
    """Write a result to `out=`, and return `out`."""
    target = out[0] if isinstance(out, tuple) else out
    require_targets((target,))
    if not np.can_cast(result.dtype, target.dtype, casting="same_kind"):
        raise TypeError(f"Cannot cast ufunc '{ufunc.__name__}' output from {result.dtype!r} to "
                        f"{target.dtype!r} with casting rule 'same_kind'")
    return _write(result, target, True, ufunc)


def _write(result: Any, target: Tracer, where: object, ufunc: object = None) -> Tracer:
    """Write a result that may be cast to an array, to the elements that a mask selects."""
    result = lift(result)
    if target.dtype != dtype_of(result):
        result = _converted(result, target.dtype)
    if where is not True:
        result = FUNCTIONS[np.where](where, result, target)
    have, want = target.dims, result.dims
    if ufunc is np.matmul and len(want) < len(have):
        raise refuse("np.matmul to an array of more axes than the product cannot be captured",
                     "Assign the product: out[...] = a @ b", "TJ203")
    if len(want) > len(have) or (ufunc is np.matmul and not all(map(same_dim, have, want))):
        raise ValueError(f"non-broadcastable output operand with shape {target.shape} doesn't "
                         f"match the broadcast shape {result.shape}")
    target[...] = result
    return target


_METHODS: dict[str, Callable[[Any, Sequence[Any], dict[str, Any]], Any]] = {
    "__call__": _call, "outer": _outer, "reduce": _folding(REDUCTIONS, "reduce"),
    "accumulate": _folding(ACCUMULATIONS, "accumulate"),
    "at": lambda ufunc, inputs, kwargs: FUNCTIONS[np.ufunc.at](ufunc, *inputs, **kwargs),
    "reduceat": lambda ufunc, inputs, kwargs: FUNCTIONS[np.ufunc.reduceat](
        ufunc, *inputs, **kwargs),
}
