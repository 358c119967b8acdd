"""Functions without source: they run as they are, on stand-ins for their globals and cells.

Such are functions that are typed at Python's prompt before 3.13, or made by `exec`. Tracers refuse
control flow on data there; globals and closure cells are captured as ever. Attributes of objects
cannot be followed, and are refused; so are changes of what is outside, which Python would make at
every call, and the capture makes once, or in a copy.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.modules import is_fixed
from tracejit.trace.ground.trees import codes_in
from tracejit.trace.state.changes import is_iterator
from tracejit.trace.state.contents import has_changed, parts_of, put_parts
from tracejit.trace.state.guards import Content, state_of
from tracejit.trace.state.policy import reads_state
from tracejit.trace.values.operands import TracedOperand

__all__ = ["with_stand_ins"]

_DATA = (bool, int, str, bytes, type(None), type(Ellipsis), slice, range, np.dtype, TracedOperand)
"""The types of captured contents that such a function may use as they are."""

_STATELESS = ("math", "cmath", "numpy", "scipy", "tracejit", "operator", "functools", "itertools",
              "collections", "dataclasses", "enum", "fractions", "numbers", "types", "typing")
"""The modules whose functions give the same at every call."""
_OF_STATE = ("breakpoint", "hash", "id", "input", "open", "print")
"""The builtins of which that is not true."""

_READS, _WRITES = ("LOAD_GLOBAL", "LOAD_NAME"), ("STORE_GLOBAL", "DELETE_GLOBAL")
_OF_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM")
_REBINDS = ("STORE_DEREF", "DELETE_DEREF")
_BY_NAME = ("getattr", "globals", "vars")
"""The builtins that read or change names which no code shows."""


def with_stand_ins(fn: FunctionType, call: Callable[..., object]) -> FunctionType:
    """Return a function without source that reads stand-ins for globals and closure cells.

    call -- how captured code calls a function that it reads: (function, args, kwargs) -> result

    Raises `Refusal` where a content that it reads cannot be followed, or it assigns to globals.
    """
    if fn.__code__.co_flags & inspect.CO_GENERATOR:
        raise _unseen(fn, "it is a generator")
    table = dict(fn.__globals__)
    read = [name for name in dict.fromkeys(_globals_of(fn)) if name in table]
    table |= {name: _stand_in(fn, name, call) for name in read}
    held = [_stand_in(fn, name, call) for name in fn.__code__.co_freevars]
    copy = FunctionType(fn.__code__, table, fn.__name__, None, tuple(map(CellType, held)))
    copy.__defaults__, copy.__kwdefaults__ = current().captured.defaults(fn)
    copy.__qualname__ = fn.__qualname__
    given = *(copy.__defaults__ or ()), *(copy.__kwdefaults__ or {}).values()
    _watch_draws(fn)
    _watch(fn, [*(table[name] for name in read), *held, *given])
    return copy


def _globals_of(fn: FunctionType) -> Iterator[str]:
    """Yield the names of globals that a function and its inner functions read."""
    for code in codes_in(fn.__code__):
        for instruction in dis.get_instructions(code):
            name = instruction.argval
            if instruction.opname in _WRITES:
                raise _unseen(fn, f"it assigns to the global {name}")
            if instruction.opname in _REBINDS and name in fn.__code__.co_freevars:
                raise _unseen(fn, f"it assigns to {name} of a function around it")
            if instruction.opname == "IMPORT_NAME" and name.partition(".")[0] not in _STATELESS:
                raise _unseen(fn, f"it imports {name}, whose content may change")
            if instruction.opname in _OF_ATTRIBUTES and reads_state(name):
                raise _unseen(fn, f"what {name}() in it reads or changes cannot be followed")
            if instruction.opname in _READS:
                if (name in _BY_NAME or reads_state(name)) and name not in fn.__globals__:
                    raise _unseen(fn, f"what {name}() in it reads or changes cannot be followed")
                yield name


def _watch_draws(fn: FunctionType) -> None:
    state, before = np.random.get_state(legacy=False), state_of(np.random)

    def require_same() -> None:
        if state_of(np.random) != before:
            np.random.set_state(state)
            raise _unseen(fn, "it draws from NumPy's global generator of random numbers, once, "
                          "while the function around it is captured")

    current().captured.running.unseen.setdefault(id(np.random), require_same)


def _watch(fn: FunctionType, contents: list[object]) -> None:
    """Have changes refused, from now on, of what a function without source reads outside."""
    captured, pending = current().captured, contents
    watched = captured.running.unseen
    while pending:
        x = pending.pop()
        if id(x) in watched:  # it may have been changed by now
            continue
        if isinstance(x, ModuleType):
            watched[id(x)] = functools.partial(_require_names, fn, x, dict(vars(x)))
        elif isinstance(x, tuple):
            pending += x
        elif captured.is_from_outside(x) and (parts := parts_of(x)) is not None:
            watched[id(x)] = functools.partial(_require_parts, fn, x, parts)
            pending += parts.values()


def _require_names(fn: FunctionType, module: ModuleType, before: dict[str, object]) -> None:
    names = vars(module)
    if names.keys() != before.keys() or any(names[k] is not x for k, x in before.items()):
        names.clear()
        names.update(before)
        raise _changes(fn, module)


def _require_parts(fn: FunctionType, x: object, before: dict[object, object]) -> None:
    if has_changed(x, before):
        put_parts(x, parts_of(x) or {}, before)
        raise _changes(fn, x)


def _changes(fn: FunctionType, x: object) -> Refusal:
    return _unseen(fn, f"it changes a {type(x).__name__} from outside, once, while the function "
                   "around it is captured")


def _stand_in(fn: FunctionType, name: str, call: Callable[..., object]) -> Any:
    captured = current().captured
    content = captured.name(fn, name)
    if isinstance(content, functools.partial):
        return _Called(content, call)
    if isinstance(content, _DATA) or id(content) in captured.containers or (
            type(content).__module__.startswith("tracejit.")):  # a copy, or a stand-in
        return content
    if isinstance(content, ModuleType):
        if content.__name__.partition(".")[0] in _STATELESS:
            return content
    elif isinstance(content, type):
        if _is_of_a_library(content):
            return content
    elif isinstance(content, np.ufunc) or (isinstance(content, BuiltinFunctionType) and (
            (content.__module__ or "").partition(".")[0] in ("builtins", *_STATELESS)
            and content.__name__ not in _OF_STATE)):
        return content
    elif isinstance(content, (FunctionType, MethodType, BuiltinFunctionType)):
        return _Called(content, call)
    elif _is_of_a_library(type(content)) and not is_iterator(content):
        captured.freeze(content)
        if not Content(content).opaque:
            return content
    raise _unseen(fn, f"what it reads of {name} cannot be followed")


def _is_of_a_library(kind: type) -> bool:
    """Whether a class is one that NumPy, SciPy, tracejit or the standard library has."""
    if kind.__module__ == "tracejit":
        return True
    module = sys.modules.get(kind.__module__)
    return is_fixed(kind.__module__) and getattr(module, kind.__name__, None) is kind


class _Called:
    """A function that is called as captured code calls it; it has no attributes to read or set."""

    def __init__(self, fn: Callable[..., object], call: Callable[..., object]) -> None:
        functools.update_wrapper(self, fn, updated=())
        vars(self)["__call"] = fn, call

    def __call__(self, *args: object, **kwargs: object) -> Any:
        fn, call = vars(self)["__call"]
        return call(fn, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _attribute(vars(self)["__call"][0], name)

    def __setattr__(self, name: str, content: object) -> None:
        if not name.startswith("__"):
            raise _attribute(vars(self)["__call"][0], name)
        super().__setattr__(name, content)


def _attribute(fn: object, name: str) -> Refusal:
    return refuse(f"the attribute {name!r} of a {type(fn).__name__} in code that has no source "
                  "that could be seen", "Define the function that asks for it in a file", "TJ101")


def _unseen(fn: FunctionType, what: str) -> Refusal:
    where = line_name(fn.__code__.co_filename, fn.__code__.co_firstlineno)
    return Refusal(f"{where}: {fn.__qualname__} has no source that could be seen, and {what}. "
                   "Define the function in a file or a notebook, or pass what it needs as an "
                   "argument", "TJ101")
