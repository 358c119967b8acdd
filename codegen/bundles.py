"""Definitions of this package as text that stands alone: each with all that it is made of.

What emitted source calls is defined once, in the modules of `codegen`. A module that has to run
where tracejit is not installed has a copy of the definitions that it needs, in an order in which
each is behind those that it names.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Bundle", "names_read"]

COMPANIONS = {"Ptr": ("PtrModel", "PtrGetItem", "PtrSetItem", "ptr_getitem", "ptr_setitem"),
              "Half": ("HalfModel",)}
"""Definitions that work by being registered, by the class for which they are."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a module: its own definitions, and the names that it imports.

    lines    -- the lines of each definition, and its tree
    imported -- by name, the module and the name there if it is one of tracejit's
    outside  -- by name, the statement that imports it from elsewhere
    """

    lines: dict[str, tuple[str, ast.stmt]]
    imported: dict[str, tuple[str, str]]
    outside: dict[str, str]


@functools.cache
def _names_of(module: str) -> _Names:
    found = _Names({}, {}, {})
    source = inspect.getsource(sys.modules.get(module) or importlib.import_module(module))
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _note_import(node, found)
            continue
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        text = "\n".join(lines[first - 1:node.end_lineno])
        for name in _bound(node):
            found.lines[name] = text, node
    return found


def _note_import(node: ast.Import | ast.ImportFrom, found: _Names) -> None:
    base = getattr(node, "module", None)
    for alias in node.names:
        name = alias.asname or alias.name
        if base is not None and base.split(".")[0] == "tracejit":
            found.imported[name] = base, alias.name
        else:
            found.outside[name] = ast.unparse(
                ast.ImportFrom(base, [alias], 0) if base is not None else ast.Import([alias]))


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else (
        [node.target] if isinstance(node, ast.AnnAssign) else [])
    for target in targets:
        yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def names_read(node: ast.AST) -> Iterator[str]:
    """Yield the names that a tree reads, but for annotations, which nobody evaluates."""
    if isinstance(node, ast.Name):
        yield node.id
    for key, value in ast.iter_fields(node):
        if key not in ("annotation", "returns"):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    yield from names_read(part)


@dataclass(slots=True)
class Bundle:
    """Definitions, with those that they need.

    imports     -- the statements of import that they need
    definitions -- their lines, each behind what it names
    """

    imports: dict[str, None] = field(default_factory=dict)
    definitions: list[str] = field(default_factory=list)
    _given: dict[tuple[str, str], str] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    def reserve(self, name: str) -> None:
        """Leave a name to something else."""
        self._texts[name] = ""

    def add(self, module: str, name: str) -> str | None:
        """Add a definition of a module; return its name here, None where the module has none."""
        names = _names_of(module)
        if name in names.imported:
            return self.add(*names.imported[name])
        if name in names.outside:
            self.imports[names.outside[name]] = None
            return name
        if name not in names.lines:
            return None
        if (module, name) not in self._given:
            self._define(module, name, *names.lines[name])
        return self._given[module, name]

    def _define(self, module: str, name: str, text: str, node: ast.stmt) -> None:
        """Write a definition; one whose name another module's has gets the module's name, too."""
        taken = name in self._texts and self._texts[name] != text
        own = f"{name}_{module.rpartition('.')[2]}" if taken else name
        is_known = name in self._texts and not taken
        self._given[module, name] = own
        self._texts.setdefault(own, text)
        for other in dict.fromkeys(names_read(node)):
            found = self.add(module, other)
            if found is not None and found != other:
                text = re.sub(rf"(?<![\w.\"']){other}\b", found, text)
        if own != name:
            text = re.sub(rf"(?<![\w.\"']){name}\b", own, text)
        if not is_known and text not in self.definitions:  # an assignment may bind several names
            self.definitions.append(text)
        for companion in COMPANIONS.get(name, ()):
            self.add(module, companion)
