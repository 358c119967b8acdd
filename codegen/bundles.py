"""Definitions of this package as text that stands alone: each with all that it is made of.

Functions that emitted source calls are defined once, in the modules of `codegen`. A module to run
where tracejit is not installed has a copy of the definitions that it needs, each behind those that
it names:

    bundle = Bundle({})
    bundle.add("select", select)        the source of `select`, and before it of all that it names
    bundle.statements                   from numba.core import types; ...
    bundle.definitions                  @intrinsic
                                        def select(typingctx, condition, a, b): ...

Python's compiler says which names a definition reads; annotations are not among them.
"""

from __future__ import annotations
import __future__

import builtins
import dis
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.imputils import Registry
from numba.core.typing.templates import Registry as TypingRegistry
from numba.extending import _Intrinsic

from tracejit.codegen.halves import Half, HalfModel
from tracejit.codegen.pointers import (
    Ptr,
    PtrGetItem,
    PtrModel,
    PtrSetItem,
    ptr_getitem,
    ptr_setitem,
)
from tracejit.codegen.recipes import Recipe
from tracejit.errors import ExportError, Refusal

__all__ = ["Bundle"]

PACKAGE = "tracejit"

_COMPANIONS: dict[object, tuple[type | FunctionType, ...]] = {
    Half: (HalfModel,), Ptr: (PtrModel, PtrGetItem, PtrSetItem, ptr_getitem, ptr_setitem)}
"""Definitions that work by being registered, by the class for which they are."""

_STAND_INS: dict[object, object] = {Refusal: RuntimeError, ExportError: RuntimeError}
"""The classes of Python that stand for tracejit's own."""


class Bundle:
    """Definitions, with those that they need.

    functions   -- the functions that emitted source calls and Numba compiles, by name
    statements  -- the statements of import that the definitions need
    definitions -- their texts, each behind the definitions that it names
    """

    def __init__(self, functions: Mapping[str, object]) -> None:
        self.functions = functions
        self.statements: dict[str, None] = {}
        self.definitions: list[str] = []
        self._texts: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    def reserve(self, name: str) -> None:
        """Leave a name to something else."""
        self._texts[name] = "something else"

    def add(self, name: str, thing: object) -> None:
        """Add a thing under a name, behind all that it names.

        Raises `ExportError` for a thing that has no text, and for a second thing of one name.
        """
        thing = _STAND_INS.get(thing, thing) if isinstance(thing, type) else thing
        statement = _statement(name, thing)
        text, named = (statement, {}) if statement is not None else self._definition(name, thing)
        if name in self._texts:
            if self._texts[name] != text:
                raise ExportError(f"a module for Numba would have two things called {name!r}")
            return
        self._texts[name] = text
        for other, found in named.items():
            self.add(other, found)
        if statement is None:
            self.definitions.append(text)
        elif statement:
            self.statements[statement] = None
        for companion in _COMPANIONS.get(thing, ()) if isinstance(thing, type) else ():
            self.add(companion.__name__, companion)

    def _definition(self, name: str, thing: object) -> tuple[str, dict[str, object]]:
        """Return the text that binds a name to a thing, and the names in the text."""
        fn = _function_of(thing)
        if fn is None and not isinstance(thing, type):
            spelling = _Spelling()
            return f"{name} = {spelling.of(thing)}", spelling.named
        definition: Any = thing if fn is None else fn
        own = definition.__name__
        if "<locals>" in definition.__qualname__ and self.functions.get(name) is not thing:
            raise ExportError(f"a module for Numba cannot have {name}, which a call has made")
        if own != name:
            return f"{name} = {own}", {own: thing}
        text = textwrap.dedent(inspect.getsource(definition)).rstrip()
        found = {n: self._meaning(n, thing, fn) for n in _names_read(text)}
        if self.functions.get(name) is thing:
            text = f'@njit(error_model="numpy")\n{text}'
        return text, {n: x for n, x in found.items() if x is not _PYTHONS and n != name}

    def _meaning(self, name: str, thing: object, fn: FunctionType | None) -> object:
        """Return the thing that a definition means by a name."""
        if self.functions.get(getattr(thing, "__name__", "")) is thing and name in self.functions:
            return self.functions[name]
        if fn is not None and name in fn.__code__.co_freevars:
            return (fn.__closure__ or ())[fn.__code__.co_freevars.index(name)].cell_contents
        home: Any = thing if fn is None else fn
        return vars(sys.modules[home.__module__]).get(name, _PYTHONS)


_PYTHONS = object()
"""The meaning of a builtin's name: nothing that has to be defined."""


def _statement(name: str, thing: object) -> str | None:
    """Return the statement that imports a thing of another package."""
    if isinstance(thing, ModuleType):
        home, _, last = thing.__name__.rpartition(".")
        return (f"import {last}" if not home else f"from {home} import {last}") + (
            "" if last == name else f" as {name}")
    if getattr(extending, name, None) is thing:
        return f"from numba.extending import {name}"
    home, last = getattr(thing, "__module__", ""), getattr(thing, "__name__", "")
    if not home or not last or home.split(".")[0] == PACKAGE:
        return None
    if thing is getattr(builtins, name, None):
        return ""
    if getattr(sys.modules.get(home), last, None) is not thing:
        return None
    return f"from {home} import {last}" + ("" if last == name else f" as {name}")


def _function_of(thing: object) -> FunctionType | None:
    """Return the function of Python behind an intrinsic, a cached or a compiled function."""
    if isinstance(thing, _Intrinsic):
        thing = thing._defn
    elif isinstance(thing, Dispatcher):
        thing = thing.py_func
    thing = getattr(thing, "__wrapped__", thing)
    return thing if isinstance(thing, FunctionType) else None


def _names_read(text: str) -> list[str]:
    """Return the names that a definition reads from outside of itself."""
    code = compile(text, "<definition>", "exec", __future__.annotations.compiler_flag)
    return list(dict.fromkeys(_reads(code)))


def _reads(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") and name != "__name__":
            yield name
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _reads(inner)


# --- things that are no definitions ---------------------------------------------------------------


class _Spelling:
    """Writes values as expressions of Python, and notes the names in them."""

    def __init__(self) -> None:
        self.named: dict[str, object] = {}

    def of(self, x: Any) -> str:
        """Return a value as an expression; raise `ExportError` where it has none."""
        if isinstance(x, Recipe):
            return f"{self.of(x.factory)}({self._all(x.arguments)})"
        if x is None or isinstance(x, (bool, int, str, bytes, complex)):
            return repr(x)
        if isinstance(x, float):
            return repr(x) if np.isfinite(x) else f"float({str(x)!r})"
        if isinstance(x, dict):
            return "{" + ", ".join(f"{self.of(k)}: {self.of(v)}" for k, v in x.items()) + "}"
        if isinstance(x, tuple):
            return f"({self._all(x)}{',' if len(x) == 1 else ''})"
        for kind, how in _SPELLINGS.items():
            if isinstance(x, kind):
                return how(self, x)
        if isinstance(getattr(x, "__name__", None), str):
            return self.name(x.__name__, x)
        raise ExportError(f"{x!r} has no text that stands alone")

    def name(self, name: str, thing: object) -> str:
        """Return a name, and note the thing that it names."""
        self.named[name] = thing
        return name

    def _all(self, xs: Iterable[object]) -> str:
        return ", ".join(map(self.of, xs))

    def numbas(self, x: types.Type) -> str:
        """Return a type of Numba."""
        if isinstance(x, Half):
            return f"{self.name('Half', Half)}({x.name!r})"
        names = ("boolean", x.name, *dir(types))
        found = next((n for n in names if getattr(types, n, None) is x), None)
        if found is None:
            raise ExportError(f"{x!r} has no text that stands alone")
        return f"{self.name('types', types)}.{found}"

    def llvms(self, x: ir.Type) -> str:
        """Return a type of LLVM."""
        own = f"{self.name('ir', ir)}.{type(x).__name__}"
        if isinstance(x, ir.PointerType):
            return f"{self.of(x.pointee)}.as_pointer()"
        if isinstance(x, ir.FunctionType):
            return f"{own}({self.of(x.return_type)}, [{self._all(x.args)}])"
        if isinstance(x, ir.LiteralStructType):
            return f"{own}([{self._all(x.elements)}])"
        if isinstance(x, ir.VectorType):
            return f"{own}({self.of(x.element)}, {x.count})"
        return f"{own}({x.width if isinstance(x, ir.IntType) else ''})"

    def registry(self, x: Registry | TypingRegistry) -> str:
        """Return a registry, which begins empty."""
        name = "TypingRegistry" if isinstance(x, TypingRegistry) else "Registry"
        return f"{self.name(name, type(x))}({self.of(x.name) if isinstance(x, Registry) else ''})"


_SPELLINGS: dict[type, Callable[[_Spelling, Any], str]] = {
    frozenset: lambda s, x: f"frozenset(({s._all(sorted(x))},))",
    list: lambda s, x: f"[{s._all(x)}]",
    np.dtype: lambda s, x: f"{s.name('np', np)}.dtype({x.name!r})",
    np.ndarray: lambda s, x: f"{s.name('np', np)}.array({s.of(x.tolist())}, {x.dtype.name!r})",
    types.Type: _Spelling.numbas, ir.Type: _Spelling.llvms,
    Registry: _Spelling.registry, TypingRegistry: _Spelling.registry,
}
"""How values of further kinds are written."""
