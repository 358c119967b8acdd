"""Paths to captured state as text, and back in another process.

A path begins at a module's names, at a closure's cell, or at an argument. Whose closure it is says
the function that the request is for, or one that a guard holds.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import CellType, FunctionType
from typing import Any

from tracejit.artifacts.fingerprints import (
    MAIN,
    Unstorable,
    functions_in,
    known_module,
    main_of,
)
from tracejit.exact import copied, same
from tracejit.trace.state.paths import Given, Holder, Path

__all__ = ["Missing", "PlaceReader", "PlaceWriter", "find_named", "names_of"]


class Missing(Exception):
    """An object that a stored program refers to is not here."""


def _is_own(module: str, root: dict[str, Any]) -> bool:
    """Return whether a dict has NumPy's names as tracejit's own code reads them.

    In another process they are read from NumPy: what has been put in their place fits no guard.
    """
    from tracejit.trace.ground.own_numpy import own_names  # whoever writes has captured

    return root is own_names(module)


class PlaceWriter:
    """Writes paths: knows by which of some functions a cell can be found."""

    fn: Any
    arguments: Sequence[Any]
    main: dict[str, Any]

    def __init__(self, fn: Callable[..., object], guarded: Sequence[object],
                 arguments: Sequence[object]) -> None:
        self.fn, self.arguments, self.main = fn, arguments, main_of(fn)
        self.cells: dict[int, list[Any]] = {}
        """By the id of a cell, the function that has it."""
        for owner, x in (("function", fn), *enumerate(guarded)):
            for k, f in enumerate(functions_in(x)):
                for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
                    self.cells.setdefault(id(cell), ["cell", owner, k, name])

    def text(self, path: Path) -> Any:
        """Return a path as lists of strings and numbers."""
        steps: list[list[Any]] = []
        for n, (kind, key) in enumerate(path.steps):
            if kind == "super":
                order = Path(path.root, path.name, path.steps[:n]).read().__mro__
                steps.append([kind, [order.index(key[0]), key[1]]])
                continue
            if not isinstance(key, (str, int, type(None))):  # a step to a class has none
                raise Unstorable(f"{path} has a key that is neither a string nor a number")
            steps.append([kind, key])
        return [self._root(path), path.name, steps]

    def _root(self, path: Path) -> Any:
        root = path.root
        if isinstance(root, CellType):
            if id(root) not in self.cells:
                raise Unstorable(f"{path} is in a closure that no name leads to")
            return self.cells[id(root)]
        if root is sys.modules:
            return ["modules"]
        if isinstance(root, dict):
            module = known_module(root.get("__name__"))
            if root is self.main and module == MAIN:
                return ["module", MAIN]
            if module != MAIN and module in sys.modules and vars(sys.modules[module]) is root:
                return ["module", module]
            if module in ("numpy", "numpy.linalg") and _is_own(module, root):
                return ["module", module]
            if type(root) is Given:
                for k, x in enumerate(self.arguments):
                    if same(x, root[path.name]):
                        return ["argument", k]
                if root[path.name] is self.fn:
                    return ["function"]
        if type(root) is Holder and isinstance(root.content, type):
            return self.of_class(root.content)
        raise Unstorable(f"{path} is read from where no name leads to")

    def of_class(self, cls: type) -> list[str]:
        """Return how a class is found; `Unstorable` where no name leads to it."""
        name = f"{known_module(cls.__module__)}:{cls.__qualname__}"
        if not _is_named(name, self.main, cls):
            raise Unstorable(f"no name leads to the class {cls.__qualname__}")
        return ["class", name]


class PlaceReader:
    """Finds the objects at paths in this process.

    guarded -- gives the object of the k-th guard
    """

    fn: Any
    guarded: Callable[[int], Any]
    arguments: Sequence[Any]
    main: dict[str, Any]

    def __init__(self, fn: Callable[..., object], guarded: Callable[[int], object],
                 arguments: Sequence[object]) -> None:
        self.fn, self.guarded, self.arguments = fn, guarded, arguments
        self.main = main_of(fn)
        self._functions: dict[Any, list[FunctionType]] = {}

    def path(self, text: Any) -> Path:
        """Return a path again; `Missing` where its root is not here."""
        root, name, steps = text
        if root[0] == "modules" and name not in sys.modules:
            try:
                importlib.import_module(name)
            except ImportError:
                raise Missing(f"module {name} cannot be imported") from None
        path = Path(self._root(root, name), name)
        for kind, key in steps:
            path = path.step(kind, _class_behind(path, *key) if kind == "super" else key)
        return path

    def _root(self, root: Any, name: str) -> Any:
        if root[0] == "module":
            return names_of(root[1], self.main)
        if root[0] == "modules":  # a module that the function imports
            return sys.modules
        if root[0] == "argument":
            return {name: copied(self.arguments[root[1]])}
        if root[0] == "function":
            return {name: self.fn}
        if root[0] == "class":
            return Holder(self.to_class(root))
        return self._cell(root)

    def to_class(self, text: Sequence[str]) -> type:
        """Return a class again; `Missing` where there is none of its name."""
        found = find_named(text[1], self.main)
        if not isinstance(found, type):
            raise Missing(f"{text[1]} is no class")
        return found

    def _cell(self, root: Any) -> Any:
        _, owner, k, name = root
        if owner not in self._functions:
            self._functions[owner] = functions_in(
                self.fn if owner == "function" else self.guarded(owner))
        found = self._functions[owner]
        if k >= len(found) or name not in found[k].__code__.co_freevars:
            raise Missing(f"the closure that has {name} is not here")
        cells = found[k].__closure__ or ()
        return cells[found[k].__code__.co_freevars.index(name)]


def _class_behind(path: Path, place: int, name: str) -> tuple[type, str]:
    """Return the key of a step to attributes of the classes behind one of a class's bases."""
    try:
        order = path.read().__mro__
    except Exception:
        raise Missing(f"{path} is not here") from None
    if place >= len(order):
        raise Missing(f"the bases of {path} have changed")
    return order[place], name


def _is_named(name: str, main: dict[str, object], x: object) -> bool:
    try:
        return find_named(name, main) is x
    except Missing:
        return False


def names_of(module: str, main: dict[str, object]) -> dict[str, Any]:
    """Return the names in a module; `Missing` if it is not imported, and none of ours.

    main -- the names of the script that is asked for
    """
    if module == MAIN:
        return main
    if module.startswith("tracejit.") and module not in sys.modules:
        import_module("tracejit.trace.capture")  # which imports all of the capture
    if module not in sys.modules:
        raise Missing(f"module {module} is not imported")
    return vars(sys.modules[module])


def find_named(name: str, main: dict[str, object]) -> Any:
    """Return the object that `module:qualname` names; `Missing` if nothing is."""
    module, _, path = name.partition(":")
    first, *rest = path.split(".")
    found = names_of(module, main).get(first)
    for part in rest:
        found = getattr(found, part, None)
    if found is None:
        raise Missing(f"{name} is not here")
    return found
