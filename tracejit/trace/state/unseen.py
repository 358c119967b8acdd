"""Functions without source: they run as they are, on stand-ins for their globals and cells.

Such are functions that are typed at Python's prompt before 3.13, or made by `exec`. Tracers refuse
control flow on data there; globals and closure cells are captured as ever. Attributes of objects
cannot be followed, and are refused.
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.trace.ground.context import current
from tracejit.trace.ground.modules import is_fixed
from tracejit.trace.ground.trees import codes_in
from tracejit.trace.values.operands import TracedOperand

__all__ = ["with_stand_ins"]

_DATA = (bool, int, str, bytes, type(None), type(Ellipsis), slice, range, np.dtype, list, tuple,
         dict, set, TracedOperand)
"""The types of captured contents that such a function may use as they are."""

_READS, _WRITES = ("LOAD_GLOBAL", "LOAD_NAME"), ("STORE_GLOBAL", "DELETE_GLOBAL")


def with_stand_ins(fn: FunctionType, call: Callable[..., object]) -> FunctionType:
    """Return a function without source that reads stand-ins for globals and closure cells.

    call -- how captured code calls a function that it reads: (function, args, kwargs) -> result

    Raises `Refusal` where a content that it reads cannot be followed, or it assigns to globals.
    """
    table = dict(fn.__globals__)
    for name in dict.fromkeys(_globals_of(fn)):
        if name in table:
            table[name] = _stand_in(fn, name, call)
    cells = tuple(CellType(_stand_in(fn, name, call)) for name in fn.__code__.co_freevars)
    copy = FunctionType(fn.__code__, table, fn.__name__, fn.__defaults__, cells)
    copy.__kwdefaults__, copy.__qualname__ = fn.__kwdefaults__, fn.__qualname__
    return copy


def _globals_of(fn: FunctionType) -> Iterator[str]:
    """Yield the names of globals that a function and its inner functions read."""
    for code in codes_in(fn.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.opname in _WRITES:
                raise _unseen(fn, f"it assigns to the global {instruction.argval}")
            if instruction.opname in _READS:
                yield instruction.argval


def _stand_in(fn: FunctionType, name: str, call: Callable[..., object]) -> Any:
    content = current().captured.name(fn, name)
    if isinstance(content, _DATA):
        return content
    if isinstance(content, ModuleType):
        if is_fixed(content.__name__):
            return content
    elif isinstance(content, type):
        if _is_of_a_library(content):
            return content
    elif isinstance(content, (np.ufunc, BuiltinFunctionType)):
        return content
    elif isinstance(content, (FunctionType, MethodType, functools.partial)):
        return _called(content, call)
    elif _is_of_a_library(type(content)):
        return content
    raise _unseen(fn, f"what it reads of {name} cannot be followed")


def _is_of_a_library(kind: type) -> bool:
    """Whether a class is one that NumPy, SciPy, tracejit or the standard library has."""
    if kind.__module__ == "tracejit":
        return True
    module = sys.modules.get(kind.__module__)
    return is_fixed(kind.__module__) and getattr(module, kind.__name__, None) is kind


def _called(fn: Callable[..., object], call: Callable[..., object]) -> Callable[..., Any]:
    """Return a function that is called as captured code calls it."""

    @functools.wraps(fn, updated=())
    def function(*args: object, **kwargs: object) -> Any:
        return call(fn, args, kwargs)

    return function


def _unseen(fn: FunctionType, what: str) -> Refusal:
    where = line_name(fn.__code__.co_filename, fn.__code__.co_firstlineno)
    return Refusal(f"{where}: {fn.__qualname__} has no source that could be seen, and {what}. "
                   "Define the function in a file or a notebook, or pass what it needs as an "
                   "argument", "TJ101")
