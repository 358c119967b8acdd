"""Calls in captured code: tables for NumPy and builtins, recursion for users' functions."""

from __future__ import annotations

import builtins
import collections
import copy
import functools
import io
import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, ValuesView
from contextlib import contextmanager, suppress
from inspect import CO_GENERATOR
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, NoReturn

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.containers.choices import first_choice, narrowed, replaced
from tracejit.trace.containers.places import Choice
from tracejit.trace.containers.runs import (
    Run,
    as_array_operand,
    has_runs,
    holds_runs,
    place_in_code,
)
from tracejit.trace.containers.stand_ins import (
    StandIn,
    as_key,
    is_made_by_data,
    is_walked,
    note_use,
    refused_kind,
)
from tracejit.trace.ground.context import bare_size, current, refuse
from tracejit.trace.ground.dependencies import note_function, note_impure
from tracejit.trace.ground.dispatch import (
    CREATES,
    FUNCTIONS,
    UFUNCS,
    Frozen,
    distribution_of,
    foreign_capture,
    foreign_method,
    method_of_object,
)
from tracejit.trace.ground.modules import home_of, is_followed, is_known_ufunc
from tracejit.trace.ground.public_names import public_name
from tracejit.trace.ground.restarts import NeedStack
from tracejit.trace.ground.source import LIKE_USERS, PACKAGE, rewritten_source
from tracejit.trace.ground.strangers import STRANGERS
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.lists import list_runs
from tracejit.trace.lists.iterables import TracedIterable, is_traced, read_now
from tracejit.trace.lists.orders import (
    are_things,
    changing,
    indexable,
    is_empty,
    is_known,
    orderable,
    readable,
    require_order,
    sort_columns,
)
from tracejit.trace.python import list_items
from tracejit.trace.python.caught import require_silence
from tracejit.trace.python.each_kind import require_one_type
from tracejit.trace.python.keyed import KEYED, DataDeque, DataDict, DataSet
from tracejit.trace.python.library import LIBRARY
from tracejit.trace.python.taking import take, takes, with_generators
from tracejit.trace.regions.choosing import for_each, told_of, with_plain
from tracejit.trace.state.changes import (
    CONTAINERS,
    before_change,
    call_watched,
    is_iterator,
    note_all_new,
    note_made,
    note_new,
    read_deeply,
    read_unseen,
    unseen,
)
from tracejit.trace.state.clocks import CLOCKS, let_out
from tracejit.trace.state.paths import is_users_type
from tracejit.trace.state.policy import (
    differs_elsewhere,
    gives_another_value,
    is_cached,
    looks_at_frames,
    module_of,
    reads_nothing,
)
from tracejit.trace.state.running import watched
from tracejit.trace.state.unseen import with_stand_ins
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.syntax.generators import Form, NotInForm
from tracejit.trace.syntax.recursion import PlaceOfFunction
from tracejit.trace.syntax.rewriter import rewrite_function
from tracejit.trace.syntax.syntax import HOOKS
from tracejit.trace.values.equations import COMPOSITES, cast, dtype_of, is_weak, lift
from tracejit.trace.values.identities import naming
from tracejit.trace.values.mixed import Merged
from tracejit.trace.values.text import settle, write, written
from tracejit.trace.values.tracer import SymInt, TracedOperand, Tracer, need_int

__all__ = ["BUILTINS", "by_data", "call_function", "call_natively", "captured_function", "convert",
           "holds_traced", "items_in", "made_keyed", "need_stack", "type_of"]

BUILTINS: dict[Any, Callable[..., Any]] = {}
"""The builtins that behave differently on traced values; `builtin_functions.py` fills it."""


_ARRAYS = frozenset((np.where, np.select, np.piecewise, np.tensordot, np.cov, np.roll))
"""What gives arrays of no axes, where other functions of NumPy give numbers."""


@above
def call_function(fn: Callable[..., object], args: tuple[object, ...],
                  kwargs: dict[str, Any]) -> Any:
    """Call a function from captured code."""
    if isinstance(fn, Choice):
        return with_plain(fn, lambda f: call_function(f, args, kwargs))
    if current().chooses and (found := first_choice([*args, *kwargs.values()])) is not None:
        plain = narrowed(found)
        if isinstance(plain, Choice) and not hands_on(fn) and not (
                any(fn is f for f in _CARRIES) and all(x is not found for x in args)):
            return _call_for_each(found, fn, args, kwargs)
        if plain is not found:
            return call_function(fn, *_with_plain(found, plain, args, kwargs))
    asked = current().captured.asked(fn, args, kwargs)
    if asked is not NotImplemented:
        return asked
    if (fn is eval or fn is exec) and len(args) < 2:
        raise refuse(f"{fn.__name__} of a text reads names that no capture sees",
                     "Write the expression out, or give it a dict of the names that it needs")
    if any(isinstance(x, StandIn) for x in (*args, *kwargs.values())):
        args = _with_items(fn, args, kwargs)
    known = _is_known_by_identity(fn)
    if known and takes(fn):
        args = with_generators(fn, args)
    if any(isinstance(x, UsersGenerator) for x in (*args, *kwargs.values())):
        result = take(fn, args, kwargs, known, _is_users)
        if result is not NotImplemented:
            return result
    if known and fn in KEYED:
        return made_keyed(_make_keyed(fn, args, kwargs))
    note_use(getattr(fn, "__self__", None))
    own: Any = LIBRARY.get(fn) if known else None
    if own is not None and any(map(holds_traced, (*args, *kwargs.values()))):
        return _call_python(own, args, kwargs)
    if known and fn in _SETTINGS:
        require_silence(public_name(fn), (*args, *kwargs.values()))
    replacement = BUILTINS.get(fn) if known else None
    capture = (FUNCTIONS.get(fn) if known else None) or _of_scipy(fn)
    owner = getattr(fn, "__self__", None)
    if has_runs(owner) or any(map(holds_runs, args)) or any(map(holds_runs, kwargs.values())):
        if isinstance(owner, (list, tuple)):
            return _call_list_method(fn, args, kwargs)
        if capture is not None or isinstance(fn, np.ufunc):
            args = tuple(map(as_array_operand, args))
            kwargs = {name: as_array_operand(x) for name, x in kwargs.items()}
        elif replacement is not None:
            if not any(fn is f for f in _OF_RUNS):
                _refuse_runs(fn, args, kwargs)
        elif not _is_users(fn):
            _refuse_runs(fn, args, kwargs)
    if replacement is not None:
        return _call_replacement(fn, replacement, args, kwargs)
    traced = any(map(holds_traced, args)) or any(map(holds_traced, kwargs.values()))
    if traced and (capture is not None or isinstance(fn, np.ufunc)):
        args = tuple([list(x) if isinstance(x, _LIKE_LISTS) else x for x in args])
    if capture is not None and (traced or fn in CREATES):
        require_one_type(naming(capture), fn, args, kwargs)
        result = naming(capture)(*args, **kwargs)
        if fn in _ARRAYS and type(result) is Tracer and not result.steps and not result.ndim:
            result.cell.is_array = True  # one of no axes, which `+=` writes to
        return result
    if isinstance(fn, np.ufunc):
        if fn not in UFUNCS and not is_known_ufunc(fn):
            unseen(f"the ufunc {fn.__name__}, made of a Python function,")
        if traced:
            return _call_ufunc(fn, args, kwargs)
        with watched():
            return fn(*args, **kwargs)
    if isinstance(fn, FunctionType):
        return _call_python(fn, args, kwargs)
    if isinstance(fn, MethodType):
        if str(fn.__module__).startswith(("numpy.random", "random")):
            raise _impure(fn)
        of_distribution = foreign_method(fn)
        if of_distribution is not None and traced:
            args = tuple(map(as_array_operand, args))
            return naming(of_distribution)(*args, **kwargs)
        return call_function(fn.__func__, (fn.__self__, *args), kwargs)
    if isinstance(fn, functools.partial):
        return call_function(fn.func, (*fn.args, *args), {**fn.keywords, **kwargs})
    if hasattr(fn, "py_func") and isinstance(fn.py_func, FunctionType):
        return _call_python(fn.py_func, args, kwargs)
    if isinstance(fn, BuiltinFunctionType):
        return _call_builtin(fn, args, kwargs, traced)
    if isinstance(fn, type):
        return _make_instance(fn, args, kwargs)
    if isinstance(fn, TracedOperand):
        raise TypeError(f"{_name_of_type(type_of(fn))!r} object is not callable")
    return _call_object(fn, args, kwargs)


def _of_scipy(fn: Callable[..., object]) -> Callable[..., Any] | None:
    """Return the capture of a function or class of SciPy that is no ufunc; None for any other."""
    return None if isinstance(fn, np.ufunc) else foreign_capture(fn)


def _make_keyed(kind: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Return `deque(...)` and the like; where data decides what it holds, an object of our own."""
    if is_made_by_data():
        if kwargs and (kind is not deque or kwargs.keys() - {"iterable", "maxlen"}):
            raise refused_kind(kind)
        return _make_instance(KEYED[kind], args, kwargs)
    if any(map(holds_traced, args)):
        current().used_keyed.add(place_in_code())
        if any(map(has_runs, args)) and kind not in BUILTINS:
            raise Refusal(str(refused_kind(kind)))
    replacement = BUILTINS.get(kind)
    if replacement is not None:
        return _call_replacement(kind, replacement, args, kwargs)
    return _make_instance(kind, args, kwargs)


def made_keyed(x: object) -> Any:
    """Note where a deque, set or dict is made, in case data decides what it holds."""
    if type(x) in KEYED:
        current().keyed[id(x)] = x, place_in_code()
    return x


def by_data(x: object) -> Any:
    """Return a new deque, set or dict, as an object of our own where data decides what it holds."""
    if type(x) in KEYED and is_made_by_data():
        items: Any = x.items() if isinstance(x, dict) else x
        return _make_instance(KEYED[type(x)], (note_made([*items]),), {})
    return made_keyed(x)


def items_in(x: StandIn) -> Any:
    """Return the items of what stands for a deque, set or dict, in the order of a loop over it."""
    if isinstance(x, DataSet):
        raise x.refused("the order of the items")
    return call_function(x.on_items, (), {})


_UNORDERED: tuple[Any, ...] = (sorted, min, max, any, all, set, frozenset)
"""The builtins that do not tell in which order a set has its items, which are ints."""
_ORDERED: tuple[Any, ...] = (
    list, tuple, sum, zip, enumerate, map, reversed, deque, dict, np.array, np.asarray,
    np.fromiter, collections.Counter)
"""The functions that go through the items of what they get."""
_LAZY: tuple[Any, ...] = (zip, enumerate, map, reversed)
"""Those of them that do so later, when the container may be another one."""
_ASKED: tuple[Any, ...] = (len, bool, isinstance, type, getattr, setattr, changing, is_walked)
"""The functions that know what stands for a deque, set or dict."""


def _with_items(fn: Callable[..., object], args: tuple[object, ...],
                kwargs: dict[str, object]) -> tuple[object, ...]:
    """Return arguments with lists in place of the deques, sets and dicts that data fills."""
    known = _is_known_by_identity(fn)
    if any(fn is f for f in _ASKED) or (known and fn in LIBRARY) or _is_users(fn):
        return args
    found = [x for x in (*args, *kwargs.values()) if isinstance(x, StandIn)]
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, list) and fn.__name__ == "append":
        return args
    goes_through = any(fn is f for f in (*_UNORDERED, *_ORDERED)) or (
        isinstance(owner, list) and fn.__name__ == "extend")
    is_lazy = any(fn is f for f in _LAZY)
    for x in found:
        if not goes_through or any(x is y for y in kwargs.values()) or (
                isinstance(x, DataSet) and not any(fn is f for f in (*_UNORDERED, sum))) or ((
                    fn is dict or fn is collections.Counter) and isinstance(x, DataDict)):
            raise x.refused(f"{getattr(fn, '__name__', 'a function')}()")
    return tuple(_items_for(x, is_lazy) if isinstance(x, StandIn) else x for x in args)


def _items_for(x: StandIn, is_lazy: bool) -> Any:
    """Return the items as an argument; what reads them later is known to the container."""
    items = call_function(x.on_items, (), {})
    if is_lazy and isinstance(x, DataDeque):
        indexable(items)
        x.shown.append(items)
    return items


_SETTINGS = frozenset((np.seterr, warnings.simplefilter, warnings.filterwarnings))


def _with_plain(choice: Choice, plain: object, args: tuple[object, ...],
                kwargs: dict[str, object]) -> tuple[tuple[object, ...], dict[str, Any]]:
    return (tuple([replaced(x, choice, plain) for x in args]),
            {name: replaced(x, choice, plain) for name, x in kwargs.items()})


def _call_for_each(choice: Choice, fn: Callable[..., object], args: tuple[object, ...],
                   kwargs: dict[str, object]) -> Any:
    """Call a function that is not handed choices: with each of the things that one may be."""
    asks = any(fn is f for f in (isinstance, bool, callable, hasattr, issubclass))
    return (told_of if asks else for_each)(
        choice, lambda x: call_function(fn, *_with_plain(choice, x, args, kwargs)))


_CARRIES: tuple[Any, ...] = (len, list, tuple, zip, enumerate, reversed, iter, are_things,
                              orderable, require_order)
"""The builtins that do not look at the items of a list, which may be one of several things each."""


_STORES = frozenset(("append", "appendleft", "insert", "setdefault", "__setitem__"))


def hands_on(fn: object) -> bool:
    """Return whether a call hands what may be one of several things on to captured code."""
    if isinstance(fn, MethodType):
        return hands_on(fn.__func__)
    if isinstance(fn, functools.partial):
        return hands_on(fn.func)
    if isinstance(fn, BuiltinFunctionType):
        return isinstance(getattr(fn, "__self__", None), (list, dict, deque)) and (
            fn.__name__ in _STORES)
    if isinstance(fn, FunctionType):
        capture = FUNCTIONS.get(fn) or foreign_capture(fn)
        return capture is None and _is_captured(fn)
    if isinstance(fn, type):
        init = fn.__init__  # type: ignore[misc]
        return isinstance(init, FunctionType) and not _is_librarys(init)
    call = type(fn).__call__ if callable(fn) else None
    return isinstance(call, FunctionType) and not _is_librarys(call)


def _is_known_by_identity(fn: Any) -> bool:
    """Return whether something can be looked up in tables of functions: no code of users' runs."""
    kind = type(fn)
    return kind is BuiltinFunctionType or (kind.__eq__, kind.__hash__) == _BY_IDENTITY


_BY_IDENTITY: tuple[Any, Any] = (object.__eq__, object.__hash__)


def _name_of_type(kind: type) -> str:
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


_LIKE_LISTS = (deque, ValuesView)
"""What NumPy takes for lists, besides lists and tuples."""


_OF_RUNS: tuple[Any, ...] = (
    len, sum, max, min, any, all, list, tuple, zip, enumerate, reversed, isinstance, type, iter,
    map, sorted, bool, functools.reduce, getattr, setattr, dict, np.fromiter)
"""The builtins that know lists of which a size says how long they are."""


_SHOWS: tuple[Any, ...] = (print, id, indexable, readable, sort_columns, as_key, changing, is_empty,
                           are_things, orderable, require_order,
                             is_known, is_walked, is_traced, read_now)
"""The functions that do not look at how long a list is, or know."""


def _is_users(fn: Callable[..., object]) -> bool:
    """Return whether a call only hands its arguments on to captured code."""
    if any(fn is f for f in _SHOWS):
        return True
    if isinstance(fn, FunctionType):
        return fn.__code__ is not None and _is_captured(fn)
    if isinstance(fn, (MethodType, functools.partial)):
        return True  # what it calls is asked
    if isinstance(fn, type):
        init = fn.__init__  # type: ignore[misc]
        return isinstance(init, FunctionType) and not _is_librarys(init)
    call = type(fn).__call__ if callable(fn) else None
    return (isinstance(call, FunctionType) and not _is_librarys(call) and (
        type(fn).__module__.partition(".")[0] != "tracejit")) or hasattr(fn, "py_func") or (
        isinstance(fn, BuiltinFunctionType) and isinstance(
            getattr(fn, "__self__", None), (dict, set)) and fn.__name__ != "update")


def _refuse_runs(fn: Callable[..., object], args: tuple[object, ...],
                 kwargs: dict[str, object]) -> NoReturn:
    xs = next(x for x in (*args, *kwargs.values()) if holds_runs(x))
    list_runs.give_up(xs, f"{getattr(fn, '__name__', 'a function')}() of a list")


def _call_list_method(fn: Any, args: tuple[object, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method of a list, or with a list, of which a size says how long it is."""
    owner, name = fn.__self__, fn.__name__
    method = list_items.METHODS.get(name)
    if not has_runs(owner) and name in ("append", "insert", "__setitem__"):
        return call_natively(fn, args, kwargs)  # the list goes in as it is
    if method is None or not (isinstance(owner, list) or name in ("index", "count")):
        xs = next(x for x in (owner, *args, *kwargs.values()) if holds_runs(x))
        list_runs.give_up(xs, f"{type(owner).__name__}.{name}()")
    if not has_runs(owner) and name != "extend":
        _refuse_runs(fn, args, kwargs)
    return method(owner, *args, **kwargs)


def holds_traced(x: object) -> bool:
    """Return whether an argument is traced or is a list or tuple with something traced in it."""
    if isinstance(x, (list, tuple, *_LIKE_LISTS)):
        return any(map(holds_traced, x))
    return isinstance(x, (TracedOperand, TracedIterable, Run))


def type_of(x: object) -> type:
    """Return `type(x)`; for what is traced, the type of what it stands for."""
    if isinstance(x, SymInt):
        return int
    if hasattr(type(x), "stands_for"):
        passes_for: type = x.stands_for  # type: ignore[attr-defined]
        return passes_for
    if isinstance(x, StandIn):
        return x.kind
    if not isinstance(x, Tracer):
        cls: type = current().captured.class_of(x)
        return cls
    if x.is_array:
        return np.ndarray
    if isinstance(x, Merged):
        x.tell_apart()
    plain: type = {"f": float, "i": int, "c": complex, "b": bool}.get(x.dtype.kind, x.dtype.type)
    return plain if x.weak else x.dtype.type


_DISPATCHING = vars(functools)["singledispatch"](print).__code__


def _call_python(fn: FunctionType, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a Python function, captured if it is a user's and has a source."""
    if fn.__code__ is _DISPATCHING and args:
        return call_function(current().captured.dispatched(fn, type_of(args[0])), args, kwargs)
    if fn.__code__.co_flags & CO_GENERATOR and (made := _generator(fn, args, kwargs)) is not None:
        return made
    new = convert(fn)
    code = getattr(new, "__code__", None)
    with _recursion(fn, new, args):
        if code is None or rewritten_source(code) or code.co_filename.startswith(PACKAGE):
            return new(*args, **kwargs)
        if module_of(fn).partition(".")[0] == "logging":
            args = tuple(map(let_out, args))
        settle([*args, kwargs])
        for name in current().captured.native.called_with(fn, (*args, *kwargs.values())):
            unseen(name)
        result = call_watched(new, args, kwargs, f"{fn.__name__}()")
    if fn is copy.copy:
        note_new(result, args)
    elif fn is copy.deepcopy:
        note_all_new(result, args)
    return result


def _generator(fn: FunctionType, args: tuple[object, ...],
               kwargs: dict[str, object]) -> UsersGenerator | None:
    """Return a generator of the user's that has not begun; None where it is not captured."""
    fn = _as_written(fn)
    is_local = rewritten_source(fn.__code__) is not None
    in_form = _form_of_local if is_local else _form_of
    if not is_local and (in_form(fn, "each") or convert(fn)) is fn:
        return None
    fn(*args, **kwargs)  # which binds the arguments, and runs nothing
    made = UsersGenerator(fn.__code__, functools.partial(in_form, fn), args, kwargs,
                          place_in_code())
    note_made(made)
    return made


def _as_written(fn: FunctionType) -> FunctionType:
    """Return the function of which one is the rewritten form, as `functools.partial` is given it.

    A local function of a captured one is what it is.
    """
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        if name == HOOKS and rewritten_source(fn.__code__) is not None:
            written: FunctionType = cell.cell_contents.fn
            same = written.__code__.co_firstlineno == fn.__code__.co_firstlineno
            return written if same and written.__qualname__ == fn.__qualname__ else fn
    return fn


def _form_of(fn: FunctionType, form: Form) -> Callable[..., Any] | None:
    """Return a generator function in a form; None where it has none."""
    try:
        return convert(fn, form)
    except NotInForm:
        return None


def _form_of_local(fn: FunctionType, form: Form) -> Callable[..., Any] | None:
    """Return a form of a generator function within a captured one, which names its forms."""
    if form == "steps":
        return fn
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        if name.startswith(f"_tj_form_{form}"):
            other: FunctionType = cell.cell_contents
            made = FunctionType(other.__code__, other.__globals__, fn.__name__, fn.__defaults__,
                                other.__closure__)
            made.__kwdefaults__ = fn.__kwdefaults__
            return made
    return None


@contextmanager
def _recursion(fn: FunctionType, new: Callable[..., object],
               args: tuple[object, ...]) -> Iterator[None]:
    """Bound a recursion of which every level is in a region of its own.

    Where sizes are not known, an array that gets smaller has sizes that get longer and longer: the
    capture begins again with them as Python ints. Where none are left it begins again with the
    function as a loop.
    """
    trace = current()
    levels = trace.recursions.setdefault(fn.__code__, [])
    if len({*levels, trace.depth}) > len(levels) >= 3:
        for d in [d for x in args if isinstance(x, Tracer) for d in x.dims]:
            if bare_size(d) is None:
                need_int(d, "a recursion on a size")
    if trace.depth not in levels and len({*levels}) >= (64 if trace.is_unrolled else 8):
        need_stack(place_of_function(fn))
    if trace.is_unrolled and len({*levels}) >= 8:
        trace.deep_calls += 1
        if trace.deep_calls > _MANY_CALLS:
            need_stack(place_of_function(fn))
    if len(levels) >= _DEEP:
        trace.deep = place_of_function(fn)
    levels.append(trace.depth)
    trace.running.append((fn, new))
    try:
        yield
    finally:
        levels.pop()
        trace.running.pop()


_MANY_CALLS = 200
"""How many calls are captured one by one that are eight regions deep: each takes as long."""
_DEEP = 16
"""From so many levels on a recursion is taken for the cause, should Python's stack be full."""


def place_of_function(fn: FunctionType) -> tuple[str, CodeType, PlaceOfFunction]:
    """Return the file and code of a function, or of that around it, and which one in it it is."""
    code = fn.__code__
    source = rewritten_source(code)
    if source is None:
        return code.co_filename, code, None
    return source.file, source.code, (code.co_firstlineno, code.co_name)


def need_stack(function: tuple[str, CodeType, PlaceOfFunction]) -> NoReturn:
    """Begin again with a function as a loop; raise `RecursionError` where it is one."""
    trace = current()
    if not trace.restarts or function in trace.functions_as_loops:
        raise RecursionError
    raise NeedStack(function)


def captured_function(fn: object) -> Callable[..., Any] | None:
    """Return a user's Python function with its control flow captured; None for any other."""
    if not isinstance(fn, FunctionType):
        return None
    new = convert(fn)
    return None if new is fn and rewritten_source(fn.__code__) is None else new


def _is_captured(fn: FunctionType) -> bool:
    """Return whether a function is a user's, a generator in any form included."""
    if fn.__code__.co_flags & CO_GENERATOR and rewritten_source(fn.__code__) is None:
        with suppress(NotInForm):
            return convert(fn, "each") is not fn
    return captured_function(fn) is not None


def _call_ufunc(fn: np.ufunc, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    if fn not in UFUNCS and fn not in COMPOSITES and (capture := foreign_capture(fn)) is not None:
        return naming(capture)(*args, **kwargs)
    return fn(*(lift(a) if isinstance(a, (list, tuple)) else a for a in args), **kwargs)


_LIBRARIES = ("numpy", "scipy", "numba", "llvmlite")


def convert(fn: FunctionType, form: Form = "steps") -> Callable[..., Any]:
    """Return a Python function with its control flow captured; others as they are.

    form -- which form it gets, if it is a generator; `NotInForm` if it has none
    """
    if rewritten_source(fn.__code__) is not None:
        return fn
    capture = foreign_capture(fn)
    if capture is not None:
        return _or_plain(capture, fn)
    module, file = home_of(fn).partition(".")[0], fn.__code__.co_filename
    if gives_another_value(fn):
        raise _impure(fn)
    if looks_at_frames(fn):
        raise _of_frames(fn)
    if module in ("pdb", "bdb"):
        _refuse_debugger(fn.__qualname__ if "." in fn.__qualname__ else f"pdb.{fn.__name__}")
    if file not in LIKE_USERS and (
            module in (*_LIBRARIES, *STRANGERS) or file.startswith(PACKAGE)
            or _is_standard(file)):
        if not file.startswith(PACKAGE) and not reads_nothing(fn):
            unseen(f"{home_of(fn)}.{fn.__qualname__}")
        return fn
    loops = frozenset([where for path, code, where in current().functions_as_loops
                       if path == file and code == fn.__code__])
    rewritten = rewrite_function(fn, ABOVE.Hooks(fn), form, loops)
    if rewritten is None:
        note_impure(f"{fn.__qualname__}, whose source is not there,")
        current().captured.code(fn)
        current().captured.running.seen.add(id(fn.__code__))
        return with_stand_ins(fn, call_function)
    note_function(fn)
    current().captured.code(fn)
    if fn.__defaults__ or fn.__kwdefaults__:
        rewritten.__defaults__, rewritten.__kwdefaults__ = current().captured.defaults(fn)
    return rewritten


def _or_plain(capture: Callable[..., object], fn: Callable[..., object]) -> Callable[..., Any]:
    """Capture a call on traced values; leave one on plain values alone."""

    def call(*args: object, **kwargs: object) -> Any:
        traced = any(map(holds_traced, args)) or any(map(holds_traced, kwargs.values()))
        return naming(capture)(*args, **kwargs) if traced else fn(*args, **kwargs)

    return call


_STANDARD = os.path.dirname(os.__file__) + os.sep


def _is_librarys(fn: FunctionType) -> bool:
    """Return whether a Python function is one of the standard library, or of NumPy and the like."""
    return home_of(fn).partition(".")[0] in _LIBRARIES or _is_standard(fn.__code__.co_filename)


def _is_standard(file: str) -> bool:
    installed = file.startswith(_STANDARD) and "site-packages" not in file
    return installed or file.startswith("<frozen")


def _impure(fn: Callable[..., object], seeded: bool = False) -> Exception:
    name = public_name(fn)
    if seeded:
        return refuse(f"{name} of a seed gives the same numbers at every call, and drawing random "
                      "numbers cannot be captured",
                      "Draw them outside and pass them as an argument")
    if name == "time.sleep":
        return refuse("time.sleep would sleep once, while the function is captured",
                      "Sleep outside of it")
    return refuse(f"{name} gives another value at every call, and a captured function would keep "
                  "the first", "Call it outside and pass the value as an argument")


def _of_frames(fn: Callable[..., object]) -> Exception:
    return refuse(f"{public_name(fn)} would see the frames of tracejit, not the program's",
                  "Call it outside and pass what it gives as an argument")


def _refuse_debugger(name: str) -> NoReturn:
    raise refuse(f"{name}() would stop within tracejit, once, where names hold traced values",
                 "Debug the function as it is, without the decorator or as f.__wrapped__")


# --- builtins -----------------------------------------------------------------------------------

_LOOKS: tuple[Any, ...] = (ascii, bool, callable, delattr, format, getattr, hasattr, hash, id,
                           isinstance, issubclass, iter, len, print, range, repr, setattr, str,
                           type, vars)
"""The builtins that change nothing, iterators included, or note by themselves what they change."""


_IDENTIFIES = (callable, id, isinstance, issubclass, print, type)
"""Those of them that do not look at what an object holds."""


def _looks(fn: Callable[..., object]) -> bool:
    return any(fn is f for f in _LOOKS)


def _call_replacement(fn: Callable[..., object], replacement: Callable[..., object],
                      args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    if _looks(fn):
        return replacement(*args, **kwargs)
    call = functools.update_wrapper(naming(replacement), fn)  # refusals name it
    result = call_watched(call, args, kwargs, f"{fn.__name__}()")
    return note_made(result) if is_iterator(result) else result


def _call_builtin(fn: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
                  traced: bool) -> Any:
    owner = getattr(fn, "__self__", None)
    name = fn.__name__
    if id(owner) in current().captured.namespaces and name in _ITEM_METHODS:
        return _item_of_namespace(owner, *args)
    if name == "sort" and type(owner) is list and (
            traced or kwargs.get("key") is not None or holds_traced(owner)):
        return _put(owner, call_function(sorted, (owner,), kwargs))
    if fn is builtins.breakpoint:
        _refuse_debugger("breakpoint")
    clock = CLOCKS.get(fn) if owner is time else None
    if clock is not None:
        return clock()
    if gives_another_value(fn):
        raise _impure(fn, name == "default_rng" and _are_seeds(args, kwargs))
    if looks_at_frames(fn):
        raise _of_frames(fn)
    if differs_elsewhere(fn):
        note_impure(name)
    if not reads_nothing(fn):
        unseen(f"{module_of(fn)}.{name}")
    if fn is builtins.print and traced:
        current().note("print() shows traced values once, while the function is captured; "
                       "tracejit.debug_print shows what they are at every call")
    return call_natively(fn, args, kwargs)


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
    """Call what Python implements; functions that it calls back are captured, for their guards."""
    args = tuple(map(_captured, args))
    if _shows(fn, kwargs):
        args = tuple(map(let_out, args))
    kwargs = {name: _captured(_called_back(x) if name == "key" else x)
              for name, x in kwargs.items()}
    if not _moves(fn):
        for x in (getattr(fn, "__self__", None), *args, *kwargs.values()):
            read_deeply(x)
    if _looks(fn):
        for x in args if fn not in _IDENTIFIES else ():
            read_unseen(x)
        result = write(fn, *args, **kwargs) if fn is print and "file" not in kwargs else (
            fn(*args, **kwargs))
    else:
        owner = getattr(fn, "__self__", None)
        name = getattr(fn, "__name__", type(fn).__name__)
        if any(module_of(type(x)) == "decimal" for x in (owner, *args)):
            current().captured.precision()
        what = f"{name}()" if owner is None else f"{type(owner).__name__}.{name}()"
        if isinstance(owner, str) and name in ("format", "format_map"):
            return write(fn, *args, **kwargs)
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
"""The methods of containers that move what they hold, and call nothing of it."""


def _moves(fn: Callable[..., object]) -> bool:
    """Return whether a call asks nothing of the objects that are in its arguments."""
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, tuple(_MOVES)):
        return any(isinstance(owner, kind) and fn.__name__ in names
                   for kind, names in _MOVES.items())
    return any(fn is f for f in (*_IDENTIFIES, len, iter, getattr, hasattr, setattr, delattr))


def _called_back(x: object) -> Any:
    """Return what native code calls back as a function that is captured."""
    if isinstance(x, (MethodType, functools.partial)):
        return lambda *args: call_function(x, args, {})
    return x


def _captured(x: object) -> Any:
    return convert(x) if isinstance(x, FunctionType) else x


def _are_seeds(args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
    """Return whether a generator of random numbers is made of a seed."""
    return any(x is not None for x in (*args, *kwargs.values()))


# --- classes and objects ------------------------------------------------------------------------


def _make_instance(cls: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Make an object; its Python `__init__` is captured like any function."""
    init = cls.__init__
    if issubclass(cls, threading.Thread):
        raise refuse("a thread that captured code starts", "Start it around the compiled function")
    if isinstance(getattr(cls, "__del__", None), FunctionType):  # runs whenever nothing holds it
        unseen(f"{cls.__qualname__}.__del__")
    if is_followed(cls):
        for name in ("__new__", "__init__"):
            current().captured.entry_of(cls, name)
    if isinstance(init, FunctionType) and cls.__new__ is object.__new__ and type(cls) is type:
        new = convert(init)
        if new is init and rewritten_source(init.__code__) is None:
            return call_natively(cls, args, kwargs)
        instance: Any = cls.__new__(cls)
        note_made(instance)
        if rewritten_source(new.__code__) is None:  # it calls `__post_init__`, say, as it is
            with watched():
                new(instance, *args, **kwargs)
        else:
            new(instance, *args, **kwargs)
        return instance
    if issubclass(cls, np.generic) and args and holds_traced(args[0]):
        return _scalar_of_numpy(cls, lift(args[0]))
    if gives_another_value(cls):
        raise _impure(cls, _are_seeds(args, kwargs))
    if not is_users_type(cls) and not reads_nothing(cls):
        unseen(f"{cls.__module__}.{cls.__qualname__}")
    return call_natively(cls, args, kwargs)


def _scalar_of_numpy(cls: type, x: object) -> Any:
    """Return `np.float64(x)` and the like: of Python's numbers by `float` or `int`, which raise."""
    own = dtype_of(x).kind
    if own == "c" and np.dtype(cls).kind in "iuf" and is_weak(x):
        raise TypeError(f"{'float' if np.dtype(cls).kind == 'f' else 'int'}() argument must be a "
                        "string or a real number, not 'complex'")
    if own == "f" and np.dtype(cls).kind in "iu" and is_weak(x):
        x = BUILTINS[int](x)
    return cast(x, cls)


def _call_object(fn: Callable[..., object], args: tuple[object, ...],
                 kwargs: dict[str, object]) -> Any:
    call = current().captured.entry(fn, "__call__")
    if isinstance(call, FunctionType) and not call.__code__.co_filename.startswith(PACKAGE):
        if call in FUNCTIONS:
            return call_function(call, (fn, *args), kwargs)
        if (name := distribution_of(fn)) is not None:
            return Frozen(fn, name, args, kwargs)
        of_object = method_of_object(fn, "__call__")
        if of_object is not None and any(map(holds_traced, (*args, *kwargs.values()))):
            return naming(of_object)(*args, **kwargs)
        return _call_python(call, (fn, *args), kwargs)
    if gives_another_value(fn):
        makes = getattr(fn, "__name__", "") == "default_rng"
        raise _impure(fn, makes and _are_seeds(args, kwargs))
    if is_cached(fn) or not reads_nothing(fn):
        unseen(f"calling a {type(fn).__qualname__}")
    if type(fn).__module__.partition(".")[0] == "tracejit":
        return fn(*args, **kwargs)
    return call_natively(fn, args, kwargs)
