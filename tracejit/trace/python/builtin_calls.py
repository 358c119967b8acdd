"""Calls of functions that Python implements, which may call users' code back, or change things."""

from __future__ import annotations

import builtins
import collections
import copy
import functools
import io
import itertools
import sys
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

from tracejit.trace.ground.context import current
from tracejit.trace.ground.modules import home_of, is_fixed, is_followed
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.impure import (
    are_seeds,
    refuse_debugger,
    refused_as_impure,
    refused_for_frames,
)
from tracejit.trace.python.keys_by_data import (
    METHODS_BY_KEY,
    VIEWS,
    copied,
    has_keys_by_data,
    loses_keys_by_data,
)
from tracejit.trace.python.kinds_of_values import holds_traced
from tracejit.trace.python.printing import print_in_run
from tracejit.trace.python.special_methods import special_method
from tracejit.trace.python.users_functions import convert
from tracejit.trace.state.changes import CONTAINERS, before_change, is_iterator, note_made, note_new
from tracejit.trace.state.clocks import CLOCKS, let_out
from tracejit.trace.state.known import constant_copy
from tracejit.trace.state.policy import (
    gives_another_value,
    looks_at_frames,
    looks_inside,
    module_of,
    reads_nothing,
)
from tracejit.trace.state.running import watched
from tracejit.trace.state.texts import read_as_text
from tracejit.trace.state.uncaptured import call_watched, read_deeply, read_unseen, unseen
from tracejit.trace.values.identities import naming
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.text import settle, write, written

__all__ = ["BUILTINS", "call_builtin", "call_natively", "call_replacement"]


BUILTINS: dict[Any, Callable[..., Any]] = {}
"""The builtins that behave differently on traced values; `builtin_functions.py` fills it."""


_LOOKS: tuple[Any, ...] = (ascii, bool, callable, delattr, format, getattr, hasattr, hash, id,
                           isinstance, issubclass, iter, len, print, range, repr, setattr, str,
                           type, vars)
"""The builtins that change nothing, iterators included, or note their changes by themselves."""


_IDENTIFIES = (callable, id, isinstance, issubclass, print, type)
"""The builtins among these that do not read the content of an object."""


def looks(fn: Callable[..., object]) -> bool:
    return any(fn is f for f in _LOOKS)


def call_replacement(fn: Callable[..., object], replacement: Callable[..., object],
                      args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    if looks(fn):
        return replacement(*args, **kwargs)
    if fn is dict and len(args) == 1 and not kwargs and has_keys_by_data(args[0]):
        return copied(args[0], dict)
    call = functools.update_wrapper(naming(replacement), fn)  # refusals name it
    result = call_watched(call, args, kwargs, f"{fn.__name__}()")
    return note_made(result) if is_iterator(result) else result


def call_builtin(fn: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
                  traced: bool) -> Any:
    owner = getattr(fn, "__self__", None)
    name = fn.__name__
    if id(owner) in current().captured.namespaces and name in _ITEM_METHODS:
        return _item_of_namespace(owner, *args)
    if name in METHODS_BY_KEY and args and not isinstance(args[0], TracedOperand) and (
            not kwargs and (loses_keys_by_data if name == "pop" else has_keys_by_data)(owner)):
        return METHODS_BY_KEY[name](owner, *args)
    if name == "copy" and has_keys_by_data(owner):
        return copied(owner)
    if name in VIEWS and has_keys_by_data(owner):
        return VIEWS[name](owner)
    if name == "sort" and type(owner) is list and (
            traced or kwargs.get("key") is not None or holds_traced(owner)):
        return _put(owner, ABOVE.call_function(sorted, (owner,), kwargs))
    if name == "copy" and isinstance(owner, np.ndarray) and _is_plain(owner):
        return constant_copy(owner)
    if fn is builtins.breakpoint:
        refuse_debugger("breakpoint")
        return None
    clock = CLOCKS.get(fn) if owner is time else None
    if clock is not None:
        return clock()
    if gives_another_value(fn):
        raise refused_as_impure(fn, name == "default_rng" and are_seeds(args, kwargs))
    if looks_at_frames(fn):
        raise refused_for_frames(fn)
    if not reads_nothing(fn):
        unseen(f"{module_of(fn)}.{name}")
    if fn is builtins.print and print_in_run(args, kwargs):
        return None
    if fn is warnings.warn:
        current().note("warnings.warn() warns once, while the function is captured, whether its "
                       "branch is taken or not; warn where the function is called", "TJ708")
    return call_natively(fn, args, kwargs)


def _is_plain(x: np.ndarray) -> bool:
    """Return whether an array is of NumPy's own class, and of numbers."""
    return type(x) is np.ndarray and x.dtype.kind in "fciub"


def _shows(fn: Callable[..., object], kwargs: dict[str, object]) -> bool:
    """Return whether a function writes to a stream that programs do not read again."""
    name = getattr(fn, "__name__", "")
    stream = kwargs.get("file") if fn is print else getattr(fn, "__self__", None)
    return (fn is print or name == "write") and not isinstance(stream, io.StringIO)


def _put(xs: list[object], items: list[object]) -> None:
    """Give a list other items, as many as it has."""
    for k, x in enumerate(items):
        before_change(xs, k)
        xs[k] = x


_ITEM_METHODS = ("get", "__getitem__")


def _item_of_namespace(names: object, key: object, *default: object) -> Any:
    """Return an item of a module's dict, or the default."""
    try:
        return current().captured.item(names, key)
    except KeyError:
        return default[0] if default else None


def call_natively(fn: Callable[..., object], args: tuple[object, ...],
                  kwargs: dict[str, object]) -> Any:
    """Call a function that Python implements; functions that it calls are captured, for guards."""
    if not looks_inside(fn) and not _only_holds(fn):
        calls = any(fn is f for f in _CALLERS)
        args = tuple([_captured(_called_back(x) if calls else x) for x in args])
    if _shows(fn, kwargs):
        args = tuple(map(let_out, args))
    if not _only_holds(fn):
        kwargs = {name: _captured(_called_back(x) if name in ("key", "func") else x)
                  for name, x in kwargs.items()}
    if not _moves(fn):
        for x in (getattr(fn, "__self__", None), *args, *kwargs.values()):
            read_deeply(x)
    if looks(fn):
        for x in args if fn not in _IDENTIFIES else ():
            read_unseen(x)
        result = write(fn, *args, **kwargs) if fn is print and "file" not in kwargs else (
            fn(*args, **kwargs))
    else:
        owner = getattr(fn, "__self__", None)
        name = getattr(fn, "__name__", type(fn).__name__)
        if any(module_of(x) == "decimal" for x in (fn, type(owner), *map(type, args))):
            current().captured.precision()
        what = f"{name}()" if owner is None else f"{type(owner).__name__}.{name}()"
        if isinstance(owner, str) and name in ("format", "format_map"):
            return _filled_in(fn, args, kwargs)
        if isinstance(owner, str) and name == "join":
            texts: list[Any] = list(*args)
            return written(owner.join(texts), owner, *texts)
        if not isinstance(owner, (list, dict, collections.deque)):
            settle([*args, kwargs])
        result = call_watched(fn, args, kwargs, what, fn if owner is None else owner)
    name = getattr(fn, "__name__", "")
    if isinstance(fn, type) or name in ("copy", "iter", "sorted"):
        return result if any(result is x for x in args) else note_made(result)
    owner = getattr(fn, "__self__", None)
    if name in _MAKERS and (owner is builtins or owner is dict or type(owner) in _OWNERS):
        note_new(result, (owner, *args, *kwargs.values()))
    return result


def _filled_in(fn: Callable[..., object], args: tuple[object, ...],
               kwargs: dict[str, object]) -> Any:
    """Return a text with fields that `str.format` has filled in, by attributes of its arguments."""
    read_as_text((*args, *kwargs.values()))
    if "decimal" in sys.modules:  # an attribute that a field reads may be one
        current().captured.precision()
    with watched():
        return write(fn, *args, **kwargs)


_OWNERS = frozenset((*CONTAINERS, str))


_MAKERS = frozenset((
    "fromkeys", "union", "intersection", "difference", "symmetric_difference", "split", "rsplit",
    "splitlines", "sum", "__add__", "__mul__", "__rmul__", "__or__", "__and__", "__sub__",
    "__xor__"))
"""Functions and methods of Python whose results are new, by their names."""


_MOVES = {
    list: {"append", "extend", "insert", "pop", "clear", "reverse", "copy", "__getitem__"},
    deque: {"append", "appendleft", "extend", "extendleft", "pop", "popleft", "rotate", "clear",
            "copy"},
    dict: {"items", "keys", "values", "copy", "clear"},
}
"""The methods of containers that move their items, and call no method of an item."""


def _moves(fn: Callable[..., object]) -> bool:
    """Return whether a call asks nothing of the objects that are in its arguments."""
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, tuple(_MOVES)):
        return any(isinstance(owner, kind) and fn.__name__ in names
                   for kind, names in _MOVES.items())
    return any(fn is f for f in (*_IDENTIFIES, len, iter, getattr, hasattr, setattr, delattr))


_CALLERS: tuple[Any, ...] = (
    itertools.accumulate, itertools.dropwhile, itertools.filterfalse, itertools.groupby,
    itertools.starmap, itertools.takewhile, filter, functools.reduce, iter, map)
"""The functions that call an argument, most of them later: where a loop takes an item."""


def _called_back(x: object) -> Any:
    """Return a captured function for native code to call back."""
    if isinstance(x, type):
        is_called = is_followed(x)
    else:
        is_called = isinstance(x, (MethodType, functools.partial)) or (
            callable(x) and special_method(x, "__call__") is not None)
    return (lambda *args: ABOVE.call_function(x, args, {})) if is_called else x


_HOLDERS: tuple[Any, ...] = (
    functools.partial, functools.partialmethod, MethodType, SimpleNamespace, list, tuple, dict,
    set, frozenset, deque, zip, enumerate, itertools.chain, itertools.repeat, copy.copy, hash,
    weakref.ref)
"""The classes and functions that keep their arguments, and call none of them."""


def _only_holds(fn: Callable[..., object]) -> bool:
    """Return whether a call keeps functions that it is given: the program finds them again."""
    owner = getattr(fn, "__self__", None)
    return any(fn is f or owner is f for f in _HOLDERS) or isinstance(
        owner, (*CONTAINERS, tuple, frozenset))


def _captured(x: object) -> Any:
    """Return the captured form of a function, method or partial, for native code; else x."""
    if type(x) is MethodType:
        fn = _captured(x.__func__)
        return x if fn is x.__func__ else MethodType(fn, x.__self__)
    if type(x) is functools.partial:
        fn, args = _captured(x.func), tuple(map(_captured, x.args))
        kwargs = {name: _captured(y) for name, y in x.keywords.items()}
        held = zip((fn, *args, *kwargs.values()), (x.func, *x.args, *x.keywords.values()),
                   strict=True)
        if all(a is b for a, b in held):
            return x
        made = functools.partial(fn, *args, **kwargs)
        vars(made).update(vars(x))
        return made
    if not isinstance(x, FunctionType):
        return x
    if not is_fixed(home_of(x)):
        current().captured.code(x)
    return convert(x)
