"""The objects that uncaptured code may change: those that it gets, and those in its functions.

`list(itertools.starmap(list.append, [(items, 1.0)]))` names `items` only within its arguments, and
`next(filter(found.append, xs))` names `found` in a bound method. A function among the things that a
call gets may change any container which the call reaches; a call without one changes its own
arguments alone.
"""

from __future__ import annotations

import functools
import gc
import itertools
from collections.abc import Iterable
from types import BuiltinFunctionType, CellType, FunctionType, MethodType
from typing import Any, cast

from tracejit.trace.ground.attributes import all_attributes_of
from tracejit.trace.ground.modules import home_of, is_fixed
from tracejit.trace.state.paths import is_users_type
from tracejit.trace.values.operands import TracedOperand

__all__ = ["calls_functions", "reached"]

_LEAVES: Any = (bool, int, float, complex, str, bytes, type, TracedOperand)
_ITEMS = (list, tuple, set, frozenset, dict)
_HOLDERS = ("builtins", "itertools", "collections", "functools", "operator")
"""The modules of which objects show the garbage collector their contents."""
_CACHE = type(functools.cache(len))
_CALLERS = (filter, map, type(iter(int, 1)), itertools.accumulate, itertools.dropwhile,
            itertools.filterfalse, itertools.groupby, itertools.starmap, itertools.takewhile)


def reached(given: Iterable[object], fn: object = None) -> list[object]:
    """Return the objects that a call may change: those that it gets, and those in functions.

    fn -- the function that is called, which itself is no function that it gets
    """
    own = list({id(x): x for x in given}.values())
    found: dict[int, object] = {}
    pending, calls = [*own, *_held_by(fn)], False
    while pending:
        x = pending.pop()
        if id(x) in found or x is None or isinstance(x, _LEAVES):
            continue
        found[id(x)] = x
        calls = calls or callable(x)
        pending += _held_by(x)
    return [*own, *(x for k, x in found.items() if all(x is not y for y in own))] if calls else own


def calls_functions(iterator: object) -> bool:
    """Return whether an iterator of Python's calls functions, which may change objects in them."""
    return isinstance(iterator, _CALLERS) or (type(iterator).__module__ in _HOLDERS and any(
        calls_functions(x) for x in gc.get_referents(iterator)  # `zip` has a tuple of iterators
        if type(x) is tuple or hasattr(type(x), "__next__")))


def _held_by(x: object) -> Iterable[object]:
    """Return the contents of an object that a function in it may change."""
    kind = type(x)
    if kind in _ITEMS:
        return [*x, *x.values()] if isinstance(x, dict) else cast("Iterable[object]", x)
    if isinstance(x, MethodType):
        return [x.__func__, x.__self__]
    if isinstance(x, BuiltinFunctionType):
        return [x.__self__]
    if isinstance(x, functools.partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, FunctionType):  # of a library: users' functions note their changes
        return gc.get_referents(*x.__closure__) if x.__closure__ and is_fixed(home_of(x)) else ()
    if isinstance(x, CellType):
        return ()
    if isinstance(x, _CACHE):  # the links between its results are its own
        return [x.__wrapped__]
    if kind.__module__ in _HOLDERS:
        return gc.get_referents(x)
    if is_users_type(kind) or kind.__module__ == "contextlib":
        return list((all_attributes_of(x) or {}).values())
    return ()
