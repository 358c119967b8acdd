"""State that functions which are not captured read from outside: guarded, or more than guards hold.

Such a function runs as it is, once, while its caller is captured. Its code says which globals it
loads and which names it takes of them; each has to be a constant, a function of this kind again, a
user's class whose entries of these names are such, or a function of a library that reads nothing
but its arguments. Any other read makes the program one for a single call.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable, Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any

import numpy as np

from tracejit.exact import is_unchanging
from tracejit.trace.ground.modules import home_of, is_fixed, is_followed, is_known_ufunc
from tracejit.trace.ground.trees import codes_in
from tracejit.trace.state.paths import Path, functions_of
from tracejit.trace.state.policy import asks_again, gives_another_value, reads_nothing

__all__ = ["is_generated", "names_in", "own_methods", "OuterReads"]

_MAKERS = ("__init__", "__new__", "__init_subclass__", "__post_init__", "__call__")
"""The methods that Python does not call by itself on existing objects."""
_LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_TAKES = {"LOAD_ATTR", "LOAD_METHOD"}
_REFLECTIVE = {getattr, setattr, delattr, hasattr, globals, locals, vars, dir, eval, exec, compile,
               open, input, print, id, hash, breakpoint, __import__}
"""The builtins that read or do more than their arguments show."""
_INSIDES = {"__dict__", "__globals__", "__closure__", "__code__", "__defaults__", "__kwdefaults__",
            "__builtins__", "__subclasses__", "__bases__", "__mro__", "__doc__", "__slots__",
            "__annotations__", "__module__", "f_globals", "f_locals", "f_back", "gi_frame",
            "cell_contents", "modules"}
"""The attributes by which code reads state that no guard sees."""
_OF_PYTHON = {type(object.__init__), type(list.append), type(object.__new__),
              type(object.__subclasshook__), type(vars(dict)["fromkeys"]), MemberDescriptorType,
              GetSetDescriptorType}
"""The types of entries of a class that are written in C: methods of `object`, slots."""
_NOTHING: Any = object()


def is_generated(code: CodeType) -> bool:
    """Return whether a data class or named tuple has made some code, which reads attributes."""
    if code.co_filename != "<string>":
        return False
    makes_tuple = code.co_names == ("_tuple_new",) and code.co_varnames[:1] == ("_cls",)
    return makes_tuple or code.co_qualname.startswith("__create_fn__.<locals>.__")


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes that stand in some code."""
    for inner in codes_in(code):
        yield from inner.co_names


def own_methods(cls: type) -> Iterator[str]:
    """Yield the names of methods that Python calls by itself on objects of a user's class."""
    for base in cls.__mro__:
        if is_followed(base):
            for name, method in vars(base).items():
                if name.startswith("__") and name not in _MAKERS and isinstance(
                        method, FunctionType):
                    yield name


class OuterReads:
    """State that functions which are not captured read from outside, in one capture."""

    def __init__(self, captured: Any) -> None:
        self.captured = captured
        self.found: dict[int, tuple[FunctionType, bool]] = {}
        """By the id of a function: itself, and whether it reads more than guards hold."""
        self.called: dict[int, list[FunctionType]] = {}
        """The functions that a function names as globals, by its id."""

    def reads_more(self, fn: FunctionType) -> bool:
        """Guard a function's reads from outside; return whether no guard holds some of them."""
        if id(fn) not in self.found:
            if is_fixed(home_of(fn)):
                return not _reads_nothing(fn)
            if is_generated(fn.__code__):
                return False
            self.found[id(fn)] = fn, False  # of a function that calls itself
            self.captured.code(fn)
            self.found[id(fn)] = fn, self._reads_more(fn)
        return self.found[id(fn)][1]

    def _reads_more(self, fn: FunctionType) -> bool:
        kept = [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
        found = [bool(set(fn.__code__.co_freevars) - {"__class__"}),
                 not all(map(is_unchanging, kept))]
        for code in codes_in(fn.__code__):
            found.append(not _INSIDES.isdisjoint(code.co_names))
            found += [self._takes_more(fn, name, taken) for name, taken in _loads(code)]
        return any(found)

    def _takes_more(self, fn: FunctionType, name: str | None, taken: list[str]) -> bool:
        """Guard a global; return whether it or its attribute `taken` may hold any further state."""
        if name is None:  # an import
            return True
        path = Path(fn.__globals__, name)
        if name not in fn.__globals__:
            self.captured.absent(path)
            return _is_more(getattr(builtins, name, None), taken)
        x = fn.__globals__[name]
        self.captured.hold(path, x)
        if isinstance(x, FunctionType):
            self.called.setdefault(id(fn), []).append(x)
            return bool(taken) or self.reads_more(x)
        if isinstance(x, type) and is_followed(x):
            return type(x) is not type or self.entries_read_more(x, (
                *names_in(fn.__code__), *own_methods(x), *_MAKERS))
        return _is_more(x, taken)

    def entries_read_more(self, cls: type, names: Iterator[str] | tuple[str, ...]) -> bool:
        """Guard entries of a class by name, and the entries that its methods name in turn.

        Returns whether an entry is, or reads, more than guards hold.
        """
        return bool(self.guard_entries(cls, dict.fromkeys(n for n in names if hasattr(cls, n))))

    def names_of(self, fn: FunctionType) -> dict[str, None]:
        """Return the names in a function's code, and in that of the functions that it calls."""
        found: dict[str, None] = {}
        pending, done = [fn], set()
        while pending:
            fn = pending.pop()
            if id(fn) not in done:
                done.add(id(fn))
                found.update(dict.fromkeys(names_in(fn.__code__)))
                pending += self.called.get(id(fn), ())
        return found

    def guard_entries(self, cls: type, reached: dict[str, None],
                      named: dict[str, None] | None = None) -> list[str]:
        """Guard entries of a class by their names, and the entries that its methods name in turn.

        Returns the names of entries that are, or read, more than guards hold.

        named -- gets all the names that the methods read, of whichever object
        """
        found: list[str] = []
        done: set[str] = set()
        while pending := [name for name in reached if name not in done]:
            for name in pending:
                done.add(name)
                entry = self.captured.entry_of(cls, name)
                methods = functions_of(entry)
                more = [fn for fn in methods if self.reads_more(fn)]
                if more or not (methods or is_unchanging(entry) or type(entry) in _OF_PYTHON):
                    found.append(f"{cls.__qualname__}.{name}")
                for fn in methods:
                    names = self.names_of(fn)
                    reached.update(dict.fromkeys(n for n in names if hasattr(cls, n)))
                    (names if named is None else named).update(names)
        return found


def _loads(code: CodeType) -> Iterator[tuple[str | None, list[str]]]:
    """Yield the globals that some code loads, and the names that it takes of each at once.

    An import is one of no name.
    """
    loaded: str | None = None
    taken: list[str] = []
    for i in dis.get_instructions(code):
        if loaded is not None and i.opname in _TAKES:
            taken.append(i.argval)
        elif i.opname != "EXTENDED_ARG":
            if loaded is not None:
                yield loaded, taken
            loaded, taken = (i.argval if i.opname in _LOADS else None), []
            if i.opname == "IMPORT_NAME":
                yield None, []


def _is_more(x: object, taken: list[str]) -> bool:
    """Return whether an object, or its attribute `taken`, may be no constant or pure function."""
    for k, name in enumerate(taken):
        if not (isinstance(x, ModuleType) and is_fixed(x.__name__)):
            return not isinstance(x, type) or _is_more(x, []) or (
                k < len(taken) and gives_another_value(getattr(x, name, _NOTHING)))
        x = getattr(x, name, _NOTHING)
    if isinstance(x, np.ufunc):
        return not is_known_ufunc(x)
    return not (_reads_nothing(x) if callable(x) else is_unchanging(x))


def _reads_nothing(fn: Callable[..., object]) -> bool:
    return reads_nothing(fn) and not gives_another_value(fn) and asks_again(fn) is None and not (
        isinstance(fn, BuiltinFunctionType) and fn in _REFLECTIVE)
