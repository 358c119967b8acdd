"""Fingerprints: facts in which two processes must agree to share a compiled program.

A function's is made of its code and defaults, without lines and comments; its reads from outside
have guards of their own. Only objects known for good have one: numbers, strings, nests of them,
functions, modules by name, users' classes by their definitions, and objects of these. The content
of such an object has guards of its own, too; `sharing.py` sees to it which objects are one.
"""

from __future__ import annotations

import enum
import functools
import sys
import types
from collections.abc import Callable, Collection, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tracejit.store.digests import digest
from tracejit.trace.ground.modules import home_of, is_known_ufunc, is_standard
from tracejit.trace.state.paths import functions_of, is_users_type

__all__ = ["Unstorable", "describe", "fingerprint", "functions_in", "is_users"]


class Unstorable(Exception):
    """An object that another process cannot recognise, with the reason."""


_LIBRARIES = {"numpy", "scipy", "numba", "llvmlite", "tracejit", "builtins"}


def is_users(module: str | None) -> bool:
    """Return whether a module is neither tracejit's nor one whose version is recorded."""
    top = (module or "__main__").partition(".")[0]
    return top not in _LIBRARIES and not is_standard(top)


def fingerprint(x: object) -> str:
    """Return a text that identifies an object in all processes; `Unstorable` if there is none."""
    return digest(describe(x))


def describe(x: Any, seen: tuple[int, ...] = ()) -> Any:
    """Return an object as nested lists of strings."""
    if id(x) in seen:
        return ["again"]
    seen = (*seen, id(x))
    for kinds, how in _HOWS:
        if type(x) in kinds:
            return how(x, seen)
    if isinstance(x, np.generic):
        return ["scalar", x.dtype.str, x.tobytes().hex()]
    if isinstance(x, np.dtype):
        return ["dtype", str(x)]
    if isinstance(x, type):
        return _describe_class(x, seen) if is_users(x.__module__) else ["type", _name_of(x)]
    if _name_of_type(type(x)).startswith("tracejit."):
        return _describe_own(x, seen)
    if hasattr(x, "py_func") and isinstance(x.py_func, FunctionType):  # Numba's dispatcher
        options = sorted((k, str(v)) for k, v in x.targetoptions.items())
        return ["njit", options, describe(x.py_func, seen)]
    if type(x).__name__ == "_ArrayFunctionDispatcher":
        return ["builtin", _name_of(x)]
    if _name_of_type(type(x)) in ("collections._tuplegetter", "_collections._tuplegetter"):
        return ["field", x.__reduce__()[1][0]]
    if isinstance(x, enum.Enum) and is_users_type(type(x)):
        return ["member", _describe_class(type(x), seen), x.name]
    if _is_plain_object(x):
        return ["object", describe(type(x), seen)]
    raise Unstorable(f"it reads {_shown(x)}, and what that may read in turn no guard sees")


def _shown(x: object) -> str:
    if isinstance(x, type):
        return f"the class {x.__qualname__}"
    if isinstance(x, MethodType):
        return f"the method {x.__qualname__}"
    return f"an object of type {type(x).__qualname__}"


def _name_of(x: object) -> str:
    module = getattr(x, "__module__", None) or type(getattr(x, "__self__", None)).__module__
    return f"{module}:{getattr(x, '__qualname__', getattr(x, '__name__', '?'))}"


def _name_of_type(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _describe_sequence(x: Collection[object], seen: tuple[int, ...]) -> Any:
    return [type(x).__name__, *[describe(item, seen) for item in x]]  # a set's order counts, too


def _describe_array(x: np.ndarray, seen: object) -> Any:
    if x.dtype.hasobject:
        raise Unstorable("it reads an array of objects")
    return ["array", x.dtype.str, list(x.shape), digest(np.ascontiguousarray(x).tobytes())]


def _describe_code(x: CodeType, seen: tuple[int, ...]) -> Any:
    consts = [describe(sorted(c, key=repr) if isinstance(c, frozenset) else c, seen)
              for c in x.co_consts]  # of one that is gone through, the capture takes note
    return ["code", x.co_name, x.co_code.hex(), consts, list(x.co_names), list(x.co_varnames),
            list(x.co_freevars), list(x.co_cellvars), x.co_argcount, x.co_posonlyargcount,
            x.co_kwonlyargcount, x.co_flags, x.co_exceptiontable.hex()]


def _describe_function(x: FunctionType, seen: tuple[int, ...]) -> Any:
    parts = [describe(y, seen) for y in (x.__defaults__, x.__kwdefaults__)]
    module = known_module(x.__globals__.get("__name__"))
    if not is_users(module):  # its code has a version, its closure has not
        return ["function", module, x.__qualname__, *parts, *[describe(y, seen) for y in _contents(
            x) if callable(y) or isinstance(y, _PLAIN)]]
    if module != MAIN and vars(sys.modules.get(module or "", object)) is not x.__globals__:
        raise Unstorable(f"the module of {x.__qualname__} cannot be found by its name")
    wrapped = [describe(x.__wrapped__, seen)] if hasattr(x, "__wrapped__") else []
    return ["function", module, describe(x.__code__, seen), *parts, *wrapped]


def _describe_own(x: Any, seen: tuple[int, ...]) -> Any:
    """Describe an object of tracejit's: a transformed function, an op, a gradient of one's own."""
    settings = getattr(x, "transform", None)
    inner = getattr(x, "__wrapped__", getattr(x, "fn", None))
    if inner is None or (settings is not None and not hasattr(settings, "home")):
        raise Unstorable(f"it reads {_shown(x)}, which belongs to a process")
    parts = [] if settings is None else [
        settings.home, *[describe(y, seen) for y in settings.settings], repr(settings.options)]
    if hasattr(x, "num_outputs"):
        parts += [x.op.name, str(x.num_outputs)]
    kind = "Function" if settings is not None else _name_of_type(type(x))
    return ["tracejit", kind, *parts, describe(inner, seen)]


def _describe_builtin(x: BuiltinFunctionType, seen: tuple[int, ...]) -> Any:
    """Describe a function in C by its name, and by the object that it is bound to."""
    owner = x.__self__
    bound = [] if owner is None or isinstance(owner, (ModuleType, type)) else [
        describe(owner, seen)]
    if isinstance(owner, type):
        bound = [_name_of(owner)]
        if is_users(owner.__module__):
            raise Unstorable(f"it reads {x.__qualname__}, which is bound to a user's class")
    return ["builtin", _name_of(x), *bound]


def _describe_ufunc(x: np.ufunc, seen: object) -> Any:
    if not is_known_ufunc(x):
        raise Unstorable(f"it reads the ufunc {x.__name__}, made of a Python function, and what "
                         "that may read in turn no guard sees")
    return ["builtin", _name_of(x), x.__name__]


# --- classes and their objects --------------------------------------------------------------------


_BASES = {"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol",
          "types.SimpleNamespace"}
"""The classes of libraries that add nothing to an object but its attributes."""


def _is_plain_object(x: object) -> bool:
    """Return whether an object is determined by its attributes and users' classes."""
    return is_users_type(type(x)) and all(
        (is_users_type(base) and is_users(base.__module__)) or _name_of_type(base) in _BASES
        for base in type(x).__mro__)


def _describe_class(cls: type, seen: tuple[int, ...]) -> Any:
    """Describe a class by its name, its bases, and all functions that it has.

    Data that it holds is guarded where it is read.
    """
    entries = [[_name_of_class(base), *[[name, _describe_entry(name, x, seen)]
                                        for name, x in sorted(vars(base).items())
                                        if name not in _INCIDENTAL]]
               for base in cls.__mro__ if is_users(base.__module__)]
    return ["class", [_name_of_class(base) for base in cls.__mro__],
            _name_of_class(type(cls)), entries]


_INCIDENTAL = {"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__",
               "__firstlineno__", "__static_attributes__", "__orig_bases__", "__parameters__",
               "_abc_impl", "__dataclass_params__", "__dataclass_fields__", "__hash__"}


_FIELDS = {"_fields", "_field_defaults"}
"""The attributes that determine a named tuple's class."""


def _name_of_class(cls: type) -> str:
    return f"{known_module(cls.__module__)}:{cls.__qualname__}"


def _describe_entry(name: str, x: object, seen: tuple[int, ...]) -> Any:
    functions = functions_of(x)
    if name == "__new__" and functions and home_of(functions[0]).startswith("namedtuple_"):
        return "made of its fields"
    if functions:
        return [type(x).__name__, *[describe(f, seen) for f in functions]]
    if name in _FIELDS or (name.startswith("__") and name.endswith("__")):
        try:
            return describe(x, seen)
        except Unstorable:
            pass
    return type(x).__name__


def _describe_method(x: MethodType, seen: tuple[int, ...]) -> Any:
    return ["method", describe(x.__func__, seen), describe(x.__self__, seen)]


def _describe_slot(x: Any, seen: object) -> Any:
    return ["slot", _name_of_class(x.__objclass__), x.__name__]


def _plain(x: object, seen: object) -> Any:
    return [type(x).__name__, repr(x)]


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, range)
_HOWS: list[tuple[tuple[type, ...], Callable[[Any, Any], Any]]] = [
    (_PLAIN, _plain),
    ((list, tuple, set, frozenset), _describe_sequence),
    ((dict,), lambda x, seen: ["dict", *[[describe(k, seen), describe(v, seen)]
                                         for k, v in x.items()]]),
    ((np.ndarray,), _describe_array),
    ((CodeType,), _describe_code),
    ((FunctionType,), _describe_function),
    ((ModuleType,), lambda x, seen: ["module", x.__name__]),
    ((functools.partial,), lambda x, seen: [
        "partial", describe(x.func, seen), describe(x.args, seen), describe(x.keywords, seen)]),
    ((BuiltinFunctionType,), _describe_builtin),
    ((np.ufunc,), _describe_ufunc),
    ((type(Ellipsis), type(NotImplemented)), _plain),
    ((MethodType,), _describe_method),
    ((property, classmethod, staticmethod, functools.cached_property),
     lambda x, seen: _describe_entry("", x, seen)),
    ((types.WrapperDescriptorType, types.MethodDescriptorType, types.MemberDescriptorType,
      types.GetSetDescriptorType, types.ClassMethodDescriptorType), _describe_slot),
]
"""By exact type: a subclass may do anything."""


# --- functions ----------------------------------------------------------------------------------


def _contents(fn: FunctionType) -> Iterator[Any]:
    """Yield the contents that a function closes over."""
    for cell in fn.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            pass


MAIN = "__main__"
"""The module of scripts and notebooks. Its functions go to workers by value, with their globals."""


def known_module(name: str | None) -> str | None:
    """Return the name of a module in other processes: spawned ones import a script by a name of its
    own.
    """
    return MAIN if name == "__mp_main__" else name


def main_of(fn: Callable[..., object]) -> dict[str, Any]:
    """Return the names of the script that a function is from; else of this process' script.

    In a worker these are no module's.
    """
    for f in functions_in(fn):
        if known_module(f.__globals__.get("__name__")) == MAIN:
            return f.__globals__
    return vars(sys.modules[MAIN])


def require_one_main(x: object, main: dict[str, object]) -> None:
    """Raise `Unstorable` for an object with a function of a script that was unpickled by itself."""
    for f in functions_in(x):
        if known_module(f.__globals__.get("__name__")) == MAIN and f.__globals__ is not main:
            raise Unstorable(f"{f.__qualname__} is from a script, and has names of its own here")


def functions_in(x: object) -> list[FunctionType]:
    """Return the Python functions that an object leads to: itself, wrapped ones, its closure's."""
    found: dict[FunctionType, None] = {}

    def visit(y: object, depth: int) -> None:
        if depth > 8:
            return
        if isinstance(y, FunctionType):
            if y not in found:
                found[y] = None
                visit(getattr(y, "__wrapped__", None), depth + 1)
                for content in _contents(y):
                    visit(content, depth + 1)
        elif isinstance(y, functools.partial):
            for part in (y.func, *y.args, *y.keywords.values()):
                visit(part, depth + 1)
        elif isinstance(y, MethodType):
            visit(y.__func__, depth + 1)
        elif functions := [] if isinstance(y, FunctionType) else functions_of(y):
            for f in functions:
                visit(f, depth + 1)
        elif is_users_type(type(y)) and not isinstance(y, type):
            visit(type(y).__call__ if callable(y) else None, depth + 1)
        elif callable(y) and not isinstance(y, type):
            for name in ("fn", "py_func", "__wrapped__"):
                visit(getattr(y, name, None), depth + 1)

    visit(x, 0)
    return list(found)
