"""The table of Python's builtins on traced values, and its builtins on attributes and texts."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any, SupportsIndex, cast

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.trace.containers.places import MaybeUnset
from tracejit.trace.containers.runs import has_runs, size_of
from tracejit.trace.containers.stand_ins import StandIn, note_use
from tracejit.trace.ground.attributes import own_entries
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import METHODS
from tracejit.trace.ground.facts import fact_of_absence
from tracejit.trace.lists.iterables import (
    TracedIterable,
    as_index,
    make_enumerate,
    make_ndenumerate,
    make_ndindex,
    make_reversed,
    make_zip,
)
from tracejit.trace.lists.ranges import TracedRange, make_range
from tracejit.trace.python import list_making
from tracejit.trace.python.attributes import (
    attribute_of_traced,
    delete_attribute,
    has_name,
    read_attribute,
    set_attribute,
)
from tracejit.trace.python.builtin_calls import BUILTINS, call_natively
from tracejit.trace.python.comparisons import compare
from tracejit.trace.python.identity import id_of
from tracejit.trace.python.item_functions import (
    all_are_true,
    any_is_true,
    array_of_items,
    fsum_of,
    list_of,
    map_over,
    reduce_items,
    sum_of,
)
from tracejit.trace.python.iterating import iterate
from tracejit.trace.python.keys_by_data import count_of, has_keys_by_data
from tracejit.trace.python.kind_functions import is_instance, is_subclass, type_function
from tracejit.trace.python.number_functions import (
    hash_of,
    power,
    quotient_and_rest,
    round_number,
    to_bool,
    to_complex,
    to_float,
    to_int,
)
from tracejit.trace.python.operations import unary
from tracejit.trace.python.order_functions import fold_by, sorted_items
from tracejit.trace.python.special_methods import special_method
from tracejit.trace.state.texts import read_as_text
from tracejit.trace.state.uncaptured import read_unseen
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.text import write
from tracejit.trace.values.tracer import Tracer, no_sequence

__all__: list[str] = []


def _length(x: Any) -> Any:
    if isinstance(x, Tracer):
        if not x.dims:
            raise no_sequence(x, "len() of unsized object", "object of type {} has no len()")
        return of_dim(x.dims[0])
    if isinstance(x, SymInt):
        raise TypeError("object of type 'int' has no len()")
    if isinstance(x, TracedIterable):
        return of_dim(x.count)
    if has_runs(x):
        return size_of(x)
    note_use(x)
    if hasattr(type(x), "as_result") and not isinstance(x, StandIn) and not isinstance(x, str):
        return x.shape[0]
    method = special_method(x, "__len__")
    if method is not None:
        return method(x)
    if has_keys_by_data(x):
        return count_of(x)
    read_unseen(x, in_order=False)
    return len(x)


def _text(make: Callable[..., str]) -> Callable[..., str]:
    def function(*args: object, **kwargs: object) -> str:
        read_as_text(args)
        text: str = write(make, *args, **kwargs)
        return text

    return function


def _by_method(plain: Callable[..., object], name: str) -> Callable[..., Any]:
    """Return a builtin that calls the method of a user's class which stands for it."""
    def function(*args: object, **kwargs: object) -> Any:
        method = special_method(args[0], name) if args else None
        return plain(*args, **kwargs) if method is None else method(*args, **kwargs)

    return function


def _index(a: object) -> Any:
    """Return `operator.index(a)`, which arrays with axes do not have."""
    if isinstance(a, Tracer) and a.dims:
        operator.index(cast("SupportsIndex", np.zeros(2, a.dtype)))
    return as_index(a)


def _is(a: object, b: object) -> Any:
    return compare("Is", a, b)


def _is_not(a: object, b: object) -> Any:
    return compare("IsNot", a, b)


def _iter(x: object, *sentinel: Any) -> Any:
    return call_natively(iter, (x, *sentinel), {}) if sentinel else iterate(x)


def _next(iterator: object, *default: object) -> Any:
    return call_natively(next, (iterator, *default), {})


def _getattr(owner: object, name: str, *default: object) -> Any:
    """Read an attribute by its name, as `owner.name` does."""
    if isinstance(owner, TracedOperand):
        return default[0] if default and not _hasattr(owner, name) else (
            attribute_of_traced(owner, name))
    try:
        return read_attribute(owner, name, *default)
    except AttributeError:
        if not default:
            raise
        return default[0]


def _hasattr(owner: object, name: str) -> bool:
    """Return whether an object has an attribute, which is read as Python reads it."""
    if isinstance(owner, (TracedOperand, TracedRange)):
        found = has_name(owner, name)  # a number has no length, and Python's no shape
        if not found and isinstance(owner, Tracer) and owner.is_array:
            current().memory.require_plain(fact_of_absence(name))
        return found
    if isinstance(own_entries(owner).get(name), MaybeUnset):
        read_unseen(owner)  # which refuses it
    try:
        read_attribute(owner, name)
    except AttributeError:
        return False
    return True


def _callable(x: object) -> bool:
    """Return whether something can be called, which its class says."""
    if not isinstance(x, TracedOperand):
        current().captured.entry(x, "__call__")
    return callable(x)


def _vars(*owner: object) -> Any:
    return read_attribute(owner[0], "__dict__")


METHODS["tolist"] = list_making.nested_list

BUILTINS.update({
    range: make_range, enumerate: make_enumerate, zip: make_zip, reversed: make_reversed,
    np.ndindex: make_ndindex, np.ndenumerate: make_ndenumerate,
    getattr: _getattr, hasattr: _hasattr, vars: _vars, setattr: set_attribute,
    delattr: delete_attribute, len: _length, iter: _iter, next: _next,
    max: fold_by(np.maximum, max), min: fold_by(np.minimum, min), sum: sum_of,
    int: _by_method(to_int, "__int__"), float: _by_method(to_float, "__float__"), bool: to_bool,
    round: _by_method(round_number, "__round__"), isinstance: is_instance,
    issubclass: is_subclass, list: list_of(list), tuple: list_of(tuple),
    dict: list_of(dict), set: list_of(set), divmod: quotient_and_rest, any: any_is_true,
    all: all_are_true, complex: to_complex, abs: functools.partial(unary, "abs"),
    pow: power, hash: hash_of, id: id_of, map: map_over, sorted: sorted_items,
    type: type_function, callable: _callable, str: _text(str), repr: _text(repr),
    format: _text(format),
    ascii: _text(ascii),
    functools.reduce: reduce_items,
    math.prod: lambda xs, *, start=1: reduce_items(operator.mul, xs, start),
    np.fromiter: array_of_items,
    math.fsum: fsum_of, operator.is_: _is, operator.is_not: _is_not,
    operator.index: _index,
})


def _require_pythons_own() -> None:
    """Refuse builtins that were replaced before: the table would take a user's for Python's."""
    for name, x in vars(builtins).items():
        known = isinstance(x, (FunctionType, BuiltinFunctionType, type)) and x in BUILTINS
        if known and (x.__name__ != name or x.__module__ not in ("builtins", "_operator")):
            raise NotCaptured(f"the builtin {name!r} was replaced before tracejit captured "
                              "anything, and nothing can be captured now. Replace it later")


_require_pythons_own()
