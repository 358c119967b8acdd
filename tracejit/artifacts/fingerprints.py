"""Fingerprints: what two processes must agree in for one's compiled program to be the other's.

A function's is made of its code and defaults, without lines and comments; what it reads from
outside has guards of its own. Classes are known by their methods, modules by name.
"""

from __future__ import annotations

import builtins
import enum
import functools
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

__all__ = ["Unstorable", "builtin_names", "describe", "describe_with_globals", "digest",
           "fingerprint", "functions_in", "is_users"]


class Unstorable(Exception):
    """Something that another process cannot recognise, with the reason."""


_OTHERS = frozenset(sys.stdlib_module_names) | {
    "numpy", "scipy", "numba", "llvmlite", "tracejit", "builtins"} - {"__main__"}


def is_users(module: str | None) -> bool:
    """Return whether a module is neither tracejit's nor one of those whose version is recorded."""
    return (module or "__main__").partition(".")[0] not in _OTHERS


def digest(x: Any) -> str:
    """Return a short hash of something made of lists, strings and numbers."""
    text = x if isinstance(x, bytes) else json.dumps(x, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def fingerprint(x: Any) -> str:
    """Return what identifies an object in all processes; `Unstorable` if nothing does."""
    return digest(describe(x))


def describe(x: Any, seen: tuple[int, ...] = ()) -> Any:
    """Return an object as nested lists of strings."""
    if id(x) in seen:
        return ["again"]
    seen = (*seen, id(x))
    for kinds, how in _HOWS:
        if isinstance(x, kinds):
            return how(x, seen)
    if _name_of_type(type(x)).startswith("tracejit."):
        return _describe_own(x, seen)
    if hasattr(x, "py_func") and isinstance(x.py_func, FunctionType):  # Numba's dispatcher
        options = sorted((k, str(v)) for k, v in x.targetoptions.items())
        return ["njit", options, describe(x.py_func, seen)]
    if is_users(type(x).__module__):
        return ["instance", describe(type(x), seen), *_describe_state(x, seen)]
    if isinstance(x, type(str.join)) or type(x).__name__ in ("method-wrapper", "wrapper_descriptor",
                                                             "_ArrayFunctionDispatcher"):
        return ["builtin", _name_of(x)]
    raise Unstorable(f"a {_name_of_type(type(x))} is read, which another process would not know "
                     "again")


def _name_of(x: Any) -> str:
    module = getattr(x, "__module__", None) or type(getattr(x, "__self__", None)).__module__
    return f"{module}:{getattr(x, '__qualname__', getattr(x, '__name__', '?'))}"


def _name_of_type(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}".replace(":", ".", 1)


_UNSEEN = frozenset((
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__",
    "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__pow__", "__rpow__",
    "__matmul__", "__rmatmul__", "__neg__", "__pos__", "__abs__", "__lt__", "__le__", "__gt__",
    "__ge__", "__eq__", "__ne__", "__bool__", "__len__", "__iter__", "__contains__", "__getitem__",
    "__getattr__", "__getattribute__", "__float__", "__int__", "__index__", "__hash__"))
"""Methods that Python calls by itself: what they read of an object no guard sees."""


def _describe_state(x: Any, seen: Any) -> Any:
    """Describe what an object holds, where its class has methods that run unseen."""
    kinds = [k for k in type(x).__mro__ if is_users(k.__module__)]
    if not any(isinstance(vars(k).get(name), FunctionType) for k in kinds for name in _UNSEEN):
        return []
    slots = [name for k in kinds for name in getattr(k, "__slots__", ()) if hasattr(x, name)]
    state = {**getattr(x, "__dict__", {}), **{name: getattr(x, name) for name in slots}}
    return [describe(state, seen)]


def describe_with_globals(fn: FunctionType, seen: tuple[int, ...] = ()) -> Any:
    """Return a function with what its global names stand for: it runs without being captured."""
    if id(fn) in seen:
        return ["again"]
    seen = (*seen, id(fn))
    found = []
    for name in sorted(_names_in(fn.__code__)):
        if name in fn.__globals__:
            x = fn.__globals__[name]
            deep = isinstance(x, FunctionType) and is_users(x.__module__)
            found.append([name, describe_with_globals(x, seen) if deep else describe(x, seen)])
    return ["with globals", describe(fn), found,
            [describe(y, seen) for y in _contents(fn)]]


def _names_in(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for x in code.co_consts:
        if isinstance(x, CodeType):
            found |= _names_in(x)
    return found


def builtin_names(fn: FunctionType) -> set[str]:
    """Return the names of builtins that a function may use, which a module could hide."""
    return {name for name in _names_in(fn.__code__)
            if hasattr(builtins, name) and name not in fn.__globals__}


def _describe_sequence(x: Any, seen: Any) -> Any:
    items = sorted(x, key=repr) if isinstance(x, (set, frozenset)) else x
    return [type(x).__name__, *[describe(item, seen) for item in items]]


def _describe_array(x: np.ndarray, seen: Any) -> Any:
    if x.dtype.hasobject:
        raise Unstorable("an array of objects is read")
    return ["array", x.dtype.str, list(x.shape), digest(np.ascontiguousarray(x).tobytes())]


def _describe_code(x: CodeType, seen: Any) -> Any:
    consts = [describe(c, seen) for c in x.co_consts]
    return ["code", x.co_name, x.co_code.hex(), consts, list(x.co_names), list(x.co_varnames),
            list(x.co_freevars), list(x.co_cellvars), x.co_argcount, x.co_posonlyargcount,
            x.co_kwonlyargcount, x.co_flags, x.co_exceptiontable.hex()]


def _describe_function(x: FunctionType, seen: Any) -> Any:
    parts = [describe(y, seen) for y in (x.__defaults__, x.__kwdefaults__)]
    if not is_users(x.__module__):  # its code has a version, what it closes over has not
        return ["function", _name_of(x), *parts, *[describe(y, seen) for y in _contents(x)
                                                   if callable(y) or isinstance(y, _PLAIN)]]
    wrapped = [describe(x.__wrapped__, seen)] if hasattr(x, "__wrapped__") else []
    return ["function", describe(x.__code__, seen), *parts, *wrapped]


def _parts_of(member: Any) -> Iterator[Any]:
    """Yield a member of a class and what is in it: a property's functions, a classmethod's."""
    yield member
    for name in ("__func__", "fget", "fset", "func"):
        yield getattr(member, name, None)


def _describe_class(x: type, seen: Any) -> Any:
    members = []
    for kind in x.__mro__:
        if is_users(kind.__module__):
            for name, member in sorted(vars(kind).items()):
                for inner in _parts_of(member):
                    plain = isinstance(inner, _PLAIN) and not name.startswith("__")
                    if plain or isinstance(inner, FunctionType):
                        members.append([name, describe(inner, seen)])
    return ["class", f"{x.__module__}:{x.__qualname__}", members]


def _describe_own(x: Any, seen: Any) -> Any:
    """Describe an object of tracejit's: a transformed function, an op, a gradient of one's own."""
    settings = getattr(x, "transform", None)
    parts = [] if settings is None else [
        settings.name, *[describe(y, seen) for y in getattr(settings, "settings", ())],
        repr(getattr(settings, "options", None))]
    inner = getattr(x, "__wrapped__", getattr(x, "fn", None))
    if hasattr(x, "num_outputs"):
        parts += [x.op.name, str(x.num_outputs)]
    return ["tracejit", _name_of_type(type(x)), *parts,
            *([] if inner is None else [describe(inner, seen)])]


def _plain(x: Any, seen: Any) -> Any:
    return [type(x).__name__, repr(x)]


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, range)
_HOWS: list[tuple[Any, Callable[[Any, Any], Any]]] = [
    (enum.Enum, lambda x, seen: ["enum", _name_of_type(type(x)), x.name]),
    (np.generic, lambda x, seen: ["scalar", x.dtype.str, x.tobytes().hex()]),
    (_PLAIN, _plain),
    (np.dtype, lambda x, seen: ["dtype", str(x)]),
    ((list, tuple, set, frozenset), _describe_sequence),
    (dict, lambda x, seen: ["dict", *[[describe(k, seen), describe(v, seen)]
                                      for k, v in x.items()]]),
    (np.ndarray, _describe_array),
    (CodeType, _describe_code),
    (FunctionType, _describe_function),
    (type, _describe_class),
    (ModuleType, lambda x, seen: ["module", x.__name__]),
    (MethodType, lambda x, seen: ["method", describe(x.__func__, seen)]),
    (functools.partial, lambda x, seen: ["partial", describe(x.func, seen), describe(x.args, seen),
                                         describe(x.keywords, seen)]),
    ((BuiltinFunctionType, np.ufunc), lambda x, seen: ["builtin", _name_of(x)]),
]


def _contents(fn: FunctionType) -> Iterator[Any]:
    """Yield what a function closes over."""
    for cell in fn.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            pass


def functions_in(x: Any) -> list[FunctionType]:
    """Return the Python functions that an object leads to: itself, what it wraps or closes over."""
    found: dict[FunctionType, None] = {}

    def visit(y: Any, depth: int) -> None:
        if depth > 8:
            return
        if isinstance(y, FunctionType):
            if y not in found:
                found[y] = None
                visit(getattr(y, "__wrapped__", None), depth + 1)
                for content in _contents(y):
                    visit(content, depth + 1)
        elif isinstance(y, MethodType):
            visit(y.__func__, depth + 1)
            visit(type(y.__self__), depth + 1)
        elif isinstance(y, functools.partial):
            for part in (y.func, *y.args, *y.keywords.values()):
                visit(part, depth + 1)
        elif isinstance(y, type):
            if is_users(y.__module__):
                for kind in y.__mro__:
                    for member in vars(kind).values() if is_users(kind.__module__) else ():
                        for inner in _parts_of(member):
                            if isinstance(inner, FunctionType):
                                visit(inner, depth + 1)
        elif callable(y) or is_users(type(y).__module__):
            for name in ("fn", "py_func", "__wrapped__"):
                visit(getattr(y, name, None), depth + 1)
            visit(type(y), depth + 1)

    visit(x, 0)
    return list(found)
