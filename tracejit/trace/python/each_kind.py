"""Functions and attributes of numbers that are of several kinds: in a branch for each kind.

Where nothing tells the kinds apart, the function is captured once, of the number in which all kinds
are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from tracejit.trace.ground.context import current
from tracejit.trace.ground.restarts import NotRepeatable
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.attributes import attribute_of_traced
from tracejit.trace.python.calls_with_choices import hands_on, is_of_package
from tracejit.trace.regions.choosing import for_each_kind, with_plain
from tracejit.trace.regions.raising import BranchRaised, is_pythons
from tracejit.trace.values.mixed import (
    Kinds,
    Merged,
    all_kinds_of,
    in_order,
    merged,
    one_of_kind,
    settled,
    unbounded,
    united,
)
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["MethodOfEach", "attribute_of_each", "call_of_each_kind", "first_merged",
           "may_be_array", "of_each_kind", "takes_sequence", "tells_elements", "tells_items",
           "with_array", "with_kind"]

KNOWN: tuple[Any, ...] = (isinstance, bool, max, min, sum, list, tuple, len, zip, enumerate,
                          reversed, iter, range, any, all, print, id)
"""The functions that are told of kinds, or hand numbers on."""

_WRITING = (np.copyto, np.place, np.put, np.fill_diagonal, np.put_along_axis)
"""The functions of NumPy that return None: arrays convert numbers of all kinds alike."""


def first_merged(x: object) -> Merged | None:
    """Return the first number of several kinds in an argument, or in lists and tuples there."""
    if isinstance(x, Merged):
        return x
    if isinstance(x, (list, tuple)):
        return next((found for y in x if (found := first_merged(y)) is not None), None)
    return None


def with_kind(x: Any, number: Merged, plain: object) -> Any:
    """Return an argument or an index in which a number is of one kind."""
    if x is number:
        return plain
    if type(x) in (list, tuple) and first_merged(x) is not None:
        return type(x)(with_kind(y, number, plain) for y in x)
    if isinstance(x, tuple) and hasattr(x, "_fields") and first_merged(x) is not None:
        return tuple.__new__(type(x), [with_kind(y, number, plain) for y in x])
    return x


def may_be_array(x: object) -> TypeGuard[Merged]:
    """Return whether something is a number on some paths and an array without axes on others."""
    return isinstance(x, Merged) and x.may_be_array


def with_array(x: object, fn: Callable[[object], object]) -> Any:
    """Return a function's result for a choice, or for a number that may be an array without axes.
    """
    return for_each_kind(x, fn) if may_be_array(x) else with_plain(x, fn)


def takes_sequence(a: object, b: object, x: object) -> bool:
    """Return whether one of two operands, which may be an array without axes, meets a sequence."""
    return may_be_array(x) and any(isinstance(y, (list, tuple, str, bytes)) for y in (a, b))


def tells_items(x: Merged) -> bool:
    """Return whether an index tells the kinds of a number apart: not where all are ints.

    Of an array as an index there are copies, where of a number there are views.
    """
    return x.number.dtype != np.int64 or x.may_be_array


def tells_elements(x: Merged, dtype: np.dtype) -> bool:
    """Return whether an array that is written to tells the kinds of a number apart."""
    return dtype.kind in "iu" or (x.number.dtype.kind == "c" and dtype.kind == "f")


def knows_kinds(fn: object, x: Merged) -> bool:
    """Return whether a function does with a number of several kinds what Python does.

    Functions of this package that captured code calls, `gradients` among them, ask for themselves.
    """
    if is_of_package(fn):
        return True
    if fn is sorted and x.flag is None:  # whichever kind an item is of, its place is the same
        return x.number.dtype == np.float64 and not x.may_be_array
    return any(fn is f for f in KNOWN) and not (
        (x.number.dtype.kind == "c" or x.may_be_array) and (fn is max or fn is min))


def call_of_each_kind(fn: Callable[..., object], args: tuple[object, ...],
                      kwargs: dict[str, object]) -> Any:
    """Call a function with a number in its arguments that is of several kinds.

    The result is `NotImplemented` where there is none, or the function hands it on.
    """
    if isinstance(fn, MethodOfEach):
        return fn.call(args, kwargs)
    found = first_merged([*args, *kwargs.values()]) if current().mixes else None
    if found is None or hands_on(fn) or knows_kinds(fn, found):
        return NotImplemented

    def call(plain: object) -> Any:
        return ABOVE.call_function(
            fn, tuple([with_kind(x, found, plain) for x in args]),
            {name: with_kind(x, found, plain) for name, x in kwargs.items()})

    if any(fn is f for f in _WRITING) and found is not args[0]:
        return call(settled(found))
    return of_each_kind(found, call)


def attribute_of_each(owner: Merged, name: str) -> Any:
    """Return an attribute of a number that is of several kinds; methods are called for each."""
    samples = [np.zeros((), k.dtype) if k.is_array else k.dtype.type(0).item() if k.weak else
               k.dtype.type(0) for k in owner.kinds]
    if any(callable(getattr(x, name, None)) for x in samples):
        return MethodOfEach(owner, name)
    return of_each_kind(owner, lambda x: _attribute(x, name))


class MethodOfEach:
    """A bound method of a number that is of several kinds."""

    def __init__(self, owner: Merged, name: str) -> None:
        self.owner, self.name = owner, name

    def call(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Call the method of the kind that the number is of."""
        return of_each_kind(self.owner, lambda y: ABOVE.call_function(
            _attribute(y, self.name), args, kwargs))


def _attribute(x: object, name: str) -> Any:
    return attribute_of_each(x, name) if isinstance(x, Merged) else attribute_of_traced(x, name)


def of_each_kind(found: Merged, fn: Callable[[object], object]) -> Any:
    """Return a function's result, once where all kinds have it alike, else in a branch for each.

    Of an array without axes a result that is an array may be a view, or the array itself.
    """
    results = [_signature(fn, one_of_kind(found, kind.key)) for kind in in_order(found.kinds)]
    if found.may_be_array and not all(r is None or _is_plain(r[0]) for r in results):
        return for_each_kind(found, fn)
    if None not in results and len(set(results)) == 1:
        of_one = not results[0][1] and isinstance(results[0][0], (type, np.dtype, int, float, str))
        return fn(one_of_kind(found, in_order(found.kinds)[0].key) if of_one else settled(found))
    if found.flag is None and None not in results and all(map(_is_scalar, results)) and len(
            {_loosely(types) for types, _ in results}) == 1:  # a float can stand for an int
        kinds = united(*(types for types, _ in results))
        return merged(fn(settled(found)), kinds)
    return for_each_kind(found, fn)


def _is_plain(kind: object) -> bool:
    """Return whether the type of a result says that it is a number, or nothing of the capture."""
    return isinstance(kind, (frozenset, type, np.dtype, bool, int, float, str))


def _is_scalar(result: tuple[object, object]) -> bool:
    return isinstance(result[0], frozenset)


def _signature(fn: Callable[[object], object], x: object) -> Any:
    """Return the type of a result, and the operations that compute it; None where it acts."""
    with current().region("probe") as (frame, scope):
        try:
            found = _type(fn(x))
        except NotRepeatable:
            return None
        except Exception as e:
            if not is_pythons(e) and not isinstance(e, BranchRaised):
                raise
            return None
        if frame.written or frame.contents:
            return None
        return found, tuple([_operation(e) for e in scope.eqns
                             if e.op.meaning not in ("cast", "full")])


def _operation(e: Any) -> Any:
    return (e.op.name, tuple([_dtype(x) for x in e.inputs]), tuple([_dtype(v) for v in e.outputs]))


def _dtype(x: Any) -> Any:
    return getattr(x, "dtype", None) if not hasattr(x, "aval") else getattr(x.aval, "dtype", None)


def _type(x: Any) -> Any:
    if isinstance(x, Merged):
        return unbounded(x.kinds)
    if isinstance(x, (Tracer, SymInt)):
        if isinstance(x, SymInt) or not (x.is_array or x.ndim):
            return unbounded(all_kinds_of(x))
        return x.dtype, x.ndim, x.is_array
    if isinstance(x, (list, tuple)):
        return tuple(map(_type, x))
    return x if isinstance(x, (type, np.dtype, bool, int, float, str)) else type(x)


def _loosely(kinds: Kinds) -> np.dtype:
    """Return the dtype of a result in which ints are floats, and Python's numbers NumPy's."""
    return np.result_type(*(np.float64 if k.dtype.kind in "biu" else k.dtype for k in kinds))
