"""An interface as text, and back: the part of a manifest that calls need."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from tracejit.artifacts.fingerprints import Unstorable
from tracejit.artifacts.request import structure_of_text, structure_text
from tracejit.program.interface import Interface, Kind
from tracejit.store.symbols import BadObject, undefined_symbols
from tracejit.trace.ground.callbacks import Callee
from tracejit.trace.ground.facts import Fact
from tracejit.trace.state.guards import Guarded
from tracejit.trace.state.paths import Leaf

__all__ = ["InterfaceReader", "StoredFailure", "interface_text", "needs_of"]


def interface_text(i: Interface, leaves: Sequence[Leaf],
                   where: Callable[[Any], object] | None = None,
                   of_class: Callable[[type], object] | None = None) -> dict[str, Any]:
    """Return an interface as lists of strings and numbers; `Unstorable` where that cannot be.

    where    -- says in which function a code is, for lines to be found when the source has moved
    of_class -- gives text for the classes of its result
    """
    if i.recorded or i.assigned:
        raise Unstorable("it reads variables or tape values, which belong to a process")

    def site(x: Any) -> Any:
        if x is None:
            return None
        file, line, _ = x.location
        found = None if where is None else where(getattr(x.function, "code", None))
        return [found, x.statement, x.function.name, file, line]

    return {
        "name": i.name, "inputs": [[d.str, n] for d, n in i.inputs],
        "outputs": [[d.str, n] for d, n in i.outputs],
        "sources": [s if isinstance(s, int) else ["leaf", leaves.index(s)] for s in i.sources],
        "structure": structure_text(i.structure, of_class),
        "constants": [None if c is None else [_constant(c[0])] for c in i.constants],
        "weak": i.weak, "written": i.written, "sizes": i.sizes, "logs": i.logs,
        "found": [[k, [d.str, n], log] for k, (d, n), log in i.found],
        "releases": i.releases, "returned": i.returned,
        "zero_d": i.zero_d, "parallel": i.parallel,
        "facts": [[f.kind, f.inputs, f.truth] for f in i.facts],
        "failures": [[f.error, f.message, site(f.site)] for f in i.failures],
        "prints": [[template, [[d.str, n] for d, n in kinds], stream]
                   for template, kinds, stream in i.prints],
        "callbacks": [[_callee_text(callee, where, of_class), *(
            [[d.str, n] for d, n in kinds] for kinds in (given, made))]
            for callee, given, made in i.callbacks],
    }


def _callee_text(callee: Callee, where: Callable[[Any], object] | None,
                 of_class: Callable[[type], object] | None) -> list[Any]:
    """Return a Python function that a program calls as text; `Unstorable` where it has no place."""
    f = callee.function
    code = f.__code__ if isinstance(f, FunctionType) else None
    found: object = None if where is None or code is None else where(code)
    ours = str(getattr(f, "__module__", "")).startswith("tracejit.")
    if found is None and (ours or not isinstance(code, CodeType)):
        module = sys.modules.get(str(getattr(f, "__module__", None)))
        name = str(getattr(f, "__qualname__", ""))
        if module is not None and vars(module).get(name) is f:
            found = ["library", f"{module.__name__}:{name}"]
    if hasattr(f, "stored"):
        found = ["made", type(f).__module__, f.stored()]
    if found is None:
        raise Unstorable(f"it calls {callee}, to which no name leads")
    leaves = [[x[0] if type(x[0]) is float else _constant(x[0])] if isinstance(x, tuple) else x
              for x in callee.leaves]
    return [found, structure_text(callee.call, of_class), leaves,
            structure_text(callee.result, of_class), list(callee.kinds),
            [d.str for d in callee.dtypes]]


def _constant(x: object) -> Any:
    if type(x) not in (bool, int, str, type(None)):
        raise Unstorable(f"its result holds a {type(x).__name__} that no computation gives")
    return x


def needs_of(object_code: bytes) -> dict[str, Any]:
    """Return the symbols that others define, and whose BLAS it was compiled for."""
    try:
        symbols = undefined_symbols(object_code)
    except BadObject as e:
        raise Unstorable(f"this platform's object code is not known: {e}") from None
    blas = None
    for name in symbols:
        if name.startswith("tracejit_native_"):
            raise Unstorable("it calls an @njit function, which has an address in this process "
                             "alone")
        if name.startswith("tracejit_") and not name.startswith("tracejit_random_"):
            from tracejit.codegen.libraries import find_blas

            blas = list(find_blas())
    return {"symbols": sorted(symbols), "blas": blas}


class InterfaceReader:
    """Reads an interface from text.

    leaves, guards -- captured state, and guards, which have been found
    function       -- finds the function that `where` named, or None
    to_class       -- finds the classes of its result
    """

    text: dict[str, Any]
    leaves: Sequence[Leaf]
    guards: list[Guarded]

    def __init__(self, text: dict[str, object], leaves: Sequence[Leaf], guards: list[Guarded],
                 function: Callable[[Any], Any] | None = None,
                 to_class: Callable[[Any], type] | None = None) -> None:
        self.text, self.leaves, self.guards = text, leaves, guards
        self.function, self.to_class = function, to_class

    def interface(self) -> Interface:
        """Return the interface."""
        i = self.text
        return Interface(
            i["name"], _kinds(i["inputs"]), _kinds(i["outputs"]),
            tuple([s if isinstance(s, int) else self.leaves[s[1]] for s in i["sources"]]),
            self.guards, structure_of_text(i["structure"], self.to_class),
            [None if c is None else (c[0],) for c in i["constants"]], i["weak"],
            [(k, output) for k, output in i["written"]], [], [], i["sizes"], i["logs"],
            i["releases"],
            [StoredFailure(error, message, None if site is None else StoredSite(self, *site))
             for error, message, site in i["failures"]],
            [(template, _kinds(kinds), stream) for template, kinds, stream in i["prints"]],
            tuple([Fact(kind, tuple(inputs), _tuples(truth))
                   for kind, inputs, truth in i["facts"]]), _tuples(i["returned"]),
            tuple([(k, *_kinds([kind]), log) for k, kind, log in i["found"]]),
            tuple(i["zero_d"]), i["parallel"],
            [(self._callee(*callee), _kinds(given), _kinds(made))
             for callee, given, made in i["callbacks"]])

    def _callee(self, where: Any, call: Any, leaves: list[Any], result: Any, kinds: list[str],
                dtypes: list[str]) -> Callee:
        """Return a Python function that the program calls; `Missing` where it is not here."""
        from tracejit.artifacts.places import Missing, find_named

        if where[0] == "made":
            found = import_module(where[1]).restored(where[2])
        elif where[0] == "library":
            if where[1].startswith("tracejit."):
                import_module(where[1].partition(":")[0])
            found = find_named(where[1], {})
        else:
            found = None if self.function is None else self.function(where)
        if found is None:
            raise Missing("a function that it calls is not here")
        return Callee(found, structure_of_text(call, self.to_class),
                      [(x[0],) if isinstance(x, list) else x for x in leaves],
                      structure_of_text(result, self.to_class), kinds, [*map(np.dtype, dtypes)])


def _tuples(x: object) -> Any:
    """Return the tuples that a text was made of."""
    return tuple(map(_tuples, x)) if isinstance(x, list) else x


def _kinds(text: Iterable[tuple[str, int]]) -> tuple[Kind, ...]:
    return tuple([(np.dtype(dtype), ndim) for dtype, ndim in text])


class StoredFailure:
    """The meaning of a status of a stored kernel."""

    error: str
    message: str
    site: StoredSite | None

    def __init__(self, error: str, message: str, site: StoredSite | None) -> None:
        self.error, self.message, self.site = error, message, site


class StoredSite:
    """A user's line in a stored program; the source as it is now says which one."""

    reader: InterfaceReader
    where: Any
    statement: int
    name: str
    file: str
    line: int

    def __init__(self, reader: InterfaceReader, where: object, statement: int, name: str, file: str,
                 line: int) -> None:
        self.reader, self.where, self.statement = reader, where, statement
        self.name, self.file, self.line = name, file, line

    @property
    def function(self) -> StoredSite:
        """Return the object with the function's name: this one."""
        return self

    @property
    def location(self) -> tuple[str, int, int]:
        """Return (file name, line, column), the first line and column being 1."""
        from tracejit.artifacts.places import Missing
        from tracejit.errors import Refusal
        from tracejit.trace.ground.source import find_source

        try:
            fn = None if self.reader.function is None else self.reader.function(self.where)
            source = None if fn is None else find_source(fn)
            if source is not None:
                return source.locate(self.statement)
        except (Missing, LookupError, Refusal):
            pass
        return self.file, self.line, 1
