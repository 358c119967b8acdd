"""Calls in captured code: tables for NumPy and builtins, recursion for users' functions."""

from __future__ import annotations

import builtins
import functools
import os
import sys
from collections.abc import Callable
from inspect import CO_GENERATOR
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from tracejit.trace import loops
from tracejit.trace.context import current, refuse
from tracejit.trace.dependencies import note_function, note_impure
from tracejit.trace.dispatch import CREATES, FOREIGN, FUNCTIONS, UFUNCS
from tracejit.trace.equations import COMPOSITES, cast, lift
from tracejit.trace.iterables import (
    TracedIterable,
)
from tracejit.trace.keywords import checking_keywords
from tracejit.trace.rewriter import rewrite_function
from tracejit.trace.source import LIKE_USERS, PACKAGE, rewritten_source
from tracejit.trace.tracer import Traced
from tracejit.trace.unseen import with_stand_ins

__all__ = ["BUILTINS", "call_function", "call_natively", "convert", "holds_traced",
           "known_container", "special_method"]

BUILTINS: dict[Any, Callable[..., Any]] = {}
"""The builtins that behave differently on traced values; `builtin_functions.py` fills it."""


def call_function(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function from captured code."""
    try:
        replacement = BUILTINS.get(fn)
        capture = FUNCTIONS.get(fn)
    except TypeError:  # an unhashable callable
        replacement = capture = None
    if replacement is not None:
        return replacement(*args, **kwargs)
    traced = any(map(holds_traced, args)) or any(map(holds_traced, kwargs.values()))
    if capture is not None and (traced or fn in CREATES):
        return capture(*args, **kwargs)
    if isinstance(fn, np.ufunc):
        return _call_ufunc(fn, args, kwargs) if traced else fn(*args, **kwargs)
    if isinstance(fn, FunctionType):
        return convert(fn)(*args, **kwargs)
    if isinstance(fn, MethodType):
        return call_function(fn.__func__, (fn.__self__, *args), kwargs)
    if isinstance(fn, functools.partial):
        return call_function(fn.func, (*fn.args, *args), {**fn.keywords, **kwargs})
    if hasattr(fn, "py_func") and isinstance(fn.py_func, FunctionType):
        return convert(fn.py_func)(*args, **kwargs)
    if isinstance(fn, BuiltinFunctionType):
        return _call_builtin(fn, args, kwargs, traced)
    if isinstance(fn, type):
        return _make_instance(fn, args, kwargs)
    return _call_object(fn, args, kwargs)


def holds_traced(x: Any) -> bool:
    """Return whether an argument is traced or is a list or tuple with something traced in it."""
    if isinstance(x, (list, tuple)):
        return any(map(holds_traced, x))
    return isinstance(x, (Traced, TracedIterable))


def _call_ufunc(fn: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if fn not in UFUNCS and fn not in COMPOSITES and fn.__name__ in FOREIGN:
        return checking_keywords(FOREIGN[fn.__name__], fn)(*args, **kwargs)
    return fn(*(lift(a) if isinstance(a, (list, tuple)) else a for a in args), **kwargs)


_LIBRARIES = ("numpy", "scipy", "numba", "llvmlite")
_PURE = {"numpy", "scipy", "numba", "functools", "operator", "itertools", "collections", "math",
         "cmath", "dataclasses", "typing", "enum", "abc", "copy", "types", "numbers", "string",
         "re", "builtins", "warnings", "contextlib", "statistics", "fractions", "decimal",
         "bisect", "heapq"}
"""The modules of the standard library that give the same in every process."""
_QUIET = {"numpy", "scipy", "numba", "tracejit"}
"""Whose callable objects do the same in every process."""
_IMPURE = {"random", "time", "secrets", "uuid", "datetime"}


def convert(fn: FunctionType) -> Callable[..., Any]:
    """Return a Python function with its control flow captured; others as they are."""
    if rewritten_source(fn.__code__) is not None:
        return fn
    module = (fn.__module__ or "").partition(".")[0]
    if module == "scipy" and fn.__name__ in FOREIGN:
        return _or_plain(checking_keywords(FOREIGN[fn.__name__], fn), fn)
    if module in _IMPURE:
        raise _impure(fn)
    file = fn.__code__.co_filename
    if file not in LIKE_USERS and (
            module in _LIBRARIES or file.startswith(PACKAGE) or _is_standard(file)):
        reads = module == "numpy" and fn.__name__ in _READING
        if (module not in _PURE or reads) and not file.startswith(PACKAGE):
            note_impure(f"{fn.__module__}.{fn.__qualname__}")
        return fn
    from tracejit.trace.hooks import Hooks

    rewritten = rewrite_function(fn, Hooks(fn))
    if rewritten is None:
        note_impure(f"{fn.__qualname__}, whose source is not there,")
        return with_stand_ins(fn, call_function)
    note_function(fn)
    return rewritten


def _or_plain(capture: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
    """Capture a call on traced values; leave one on plain values alone."""

    def call(*args: Any, **kwargs: Any) -> Any:
        traced = any(map(holds_traced, args)) or any(map(holds_traced, kwargs.values()))
        return (capture if traced else fn)(*args, **kwargs)

    return call


_STANDARD = os.path.dirname(os.__file__) + os.sep


def _is_standard(file: str) -> bool:
    installed = file.startswith(_STANDARD) and "site-packages" not in file
    return installed or file.startswith("<frozen")


def _impure(fn: Any) -> Exception:
    module = getattr(fn, "__module__", None) or type(getattr(fn, "__self__", None)).__module__
    return refuse(f"{module}.{getattr(fn, '__name__', fn)} gives another value "
                  "at every call, and a captured function would keep the first",
                  "Call it outside and pass the value as an argument")


# --- builtins -----------------------------------------------------------------------------------


def _call_builtin(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], traced: bool) -> Any:
    owner = getattr(fn, "__self__", None)
    name = fn.__name__
    if isinstance(owner, (list, dict, set)) and name in _CHANGING:
        current().captured.refuse_change(owner)
        known_container(owner, f"{type(owner).__name__}.{name}()")
    module = (getattr(fn, "__module__", None) or type(owner).__module__ or "")
    if module.partition(".")[0] in _IMPURE or module.startswith("numpy.random"):
        raise _impure(fn)
    reads = any(owner is m for m in _READING_MODULES) or name in _READING
    if reads or module.partition(".")[0].lstrip("_") not in _PURE:
        note_impure(f"{module}.{name}")
    if fn is builtins.print and traced:
        current().note("print() shows traced values once, while the function is captured; "
                       "tracejit.debug_print shows what they are at every call")
    return call_natively(fn, args, kwargs)


def call_natively(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call what Python implements; functions that it calls back are captured, for their guards."""
    return fn(*map(_captured, args), **{name: _captured(x) for name, x in kwargs.items()})


def _captured(x: Any) -> Any:
    return convert(x) if isinstance(x, FunctionType) else x


_READING = {"open", "input", "id", "hash", "globals", "locals", "vars", "eval", "exec",
            "__import__", "dir", "hasattr", "load", "loadtxt", "genfromtxt", "fromfile",
            "memmap"}
_READING_MODULES = tuple(sys.modules[name] for name in ("sys", "posix", "nt", "_io", "_socket")
                         if name in sys.modules)
"""What may give something else in another process."""

_CHANGING = {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update",
             "setdefault", "popitem", "add", "discard"}


def known_container(x: Any, what: str | None = None) -> int:
    """Return in how many regions a container was made; refuse `what` changes one from outside.

    A list that grows in a loop of the graph has no size; the loop can only be unrolled.
    """
    frames = current().frames
    for frame in reversed(frames):
        if id(x) in frame.created:
            return frame.depth
        if frame.kind == "probe":
            if isinstance(x, (list, dict, set)):
                frame.contents.setdefault(id(x), (x, x.copy()))
        elif frame.kind == "loop" and what is not None:
            raise loops.Unroll(f"{what} needs its iterations one by one")
        elif frame.kind == "if" and what is not None:
            raise refuse(f"{what} in a branch on data", "Use arrays, or assign to a name")
        elif frame.kind == "map" and what is not None:
            raise refuse(f"{what} in a function that vmap, map or scan calls for all elements at "
                         "once", "Return what each element gives")
    return 0


def special_method(x: Any, name: str) -> Callable[..., Any] | None:
    """Return a method that Python calls by itself, captured, where a user's class has it."""
    if type(x).__module__ == "builtins" or isinstance(x, Traced):
        return None
    method = getattr(type(x), name, None)
    if not isinstance(method, FunctionType):
        return None
    if method.__code__.co_flags & CO_GENERATOR:  # runs as it is
        note_impure(method.__qualname__)
        return None
    return convert(method)


# --- classes and objects ------------------------------------------------------------------------


def _make_instance(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make an object; its Python `__init__` is captured like any function."""
    init = cls.__init__
    if isinstance(init, FunctionType) and cls.__new__ is object.__new__ and type(cls) is type:
        instance: Any = cls.__new__(cls)
        frames = current().frames
        if frames:
            frames[-1].created[id(instance)] = instance
        convert(init)(instance, *args, **kwargs)
        return instance
    if issubclass(cls, np.generic) and args and holds_traced(args[0]):
        return cast(lift(args[0]), cls)
    return call_natively(cls, args, kwargs)


def _call_object(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if str(getattr(fn, "__module__", "")).startswith("numpy.random"):
        raise _impure(fn)
    call = type(fn).__call__ if callable(fn) else None
    if isinstance(call, FunctionType) and not call.__code__.co_filename.startswith(PACKAGE):
        return convert(call)(fn, *args, **kwargs)
    if type(fn).__module__.partition(".")[0] not in _QUIET:
        note_impure(f"a {type(fn).__qualname__}")
    return fn(*args, **kwargs)
