"""Functions and classes that uncaptured code looks into, as `inspect` and `repr` do.

Such code asks for any of their attributes, by names that no capture sees. All are guarded.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import FunctionType, MethodType, ModuleType
from typing import Any

from tracejit.exact import Itself, token
from tracejit.trace.ground.context import current
from tracejit.trace.ground.modules import home_of, is_fixed, is_followed
from tracejit.trace.ground.source import rewritten_source, written_local
from tracejit.trace.state.guards import Content, Guarded
from tracejit.trace.state.methods import items_of
from tracejit.trace.state.paths import (
    READING_FAILS,
    FunctionRoot,
    Path,
    functions_of,
    is_users_type,
)
from tracejit.trace.state.uncaptured import unseen

__all__ = ["Inside", "read_annotations", "read_insides"]


class Inside(Content):
    """The insides of a user's function or class: code, defaults, annotations, entries."""

    __slots__ = ()

    def _parts_of(self, x: object, around: tuple[object, ...]) -> Any:
        if not around and isinstance(x, FunctionType):
            return self._of_function(x, (x,))
        if not around and isinstance(x, type):
            return tuple([self._of_class(base, (x,)) for base in x.__mro__ if is_followed(base)])
        return super()._parts_of(x, around)

    def _of_function(self, fn: FunctionType, around: tuple[object, ...]) -> Any:
        own = (fn.__defaults__, fn.__kwdefaults__, fn.__annotations__, vars(fn))
        found = [Itself(fn), Itself(fn.__code__),
                 *map(token, (fn.__name__, fn.__qualname__, fn.__doc__, fn.__module__)),
                 *[self._parts_of(x, around) for x in own]]
        inner = vars(fn).get("__wrapped__")
        if isinstance(inner, FunctionType) and not any(inner is x for x in around):
            found.append(self._of_function(inner, (*around, inner)))
        return tuple(found)

    def _of_class(self, cls: type, around: tuple[object, ...]) -> Any:
        entries = [(name, Itself(x) if isinstance(x, type) else self._parts_of(x, around))
                   for name, x in vars(cls).items() if name not in _NOTES]
        functions = [self._of_function(fn, (*around, fn))
                     for x in vars(cls).values() for fn in functions_of(x)]
        return Itself(cls), cls.__name__, cls.__qualname__, tuple(entries), tuple(functions)


_NOTES = ("__slotnames__",)
"""The entries that the standard library adds to a class when it first copies an object."""


def read_insides(things: Iterable[object]) -> None:
    """Guard the insides of the functions and classes among some objects, and of their classes."""
    captured = current().captured
    for x in _looked_into(things):
        if isinstance(x, ModuleType):
            unseen("reading names of a module")
            continue
        if id(x) in captured.looked_into:
            continue
        captured.looked_into[id(x)] = x
        path = captured.path_of_class(x) if isinstance(x, type) else (
            Path(FunctionRoot(x), x.__name__))
        captured.guards.append(Guarded(path, Inside(x)))


def _looked_into(things: Iterable[object]) -> Iterator[Any]:
    for thing in things:
        for x in items_of(thing):
            if isinstance(x, type):
                if is_followed(x):
                    yield x
            elif isinstance(x, FunctionType):
                if rewritten_source(x.__code__) is not None:
                    read_annotations(x)
                elif not is_fixed(home_of(x)):
                    yield x
            elif isinstance(x, ModuleType):
                if not is_fixed(x.__name__):
                    yield x
            elif isinstance(x, MethodType):
                yield from _looked_into((x.__func__, x.__self__))
            elif isinstance(x, functools.partial):
                yield from _looked_into((x.func, *x.args, *x.keywords.values()))
            elif is_users_type(type(x)) and is_followed(type(x)):
                yield type(x)


def read_annotations(fn: object) -> None:
    """Guard the outer names in the annotations of a function that captured code makes.

    Python evaluates them, unseen, where the function is made.
    """
    node = written_local(fn) if isinstance(fn, FunctionType) else None
    if node is None or not isinstance(fn, FunctionType):
        return
    for annotation in [*[x.annotation for x in ast.walk(node.args) if isinstance(x, ast.arg)],
                       node.returns]:
        if annotation is not None:
            _read_annotation(annotation, fn.__globals__)


def _read_annotation(annotation: ast.expr, names: dict[str, object]) -> None:
    captured = current().captured
    if isinstance(annotation, ast.Name) and annotation.id not in names:
        captured.absent(Path(names, annotation.id))  # a builtin, or a name of the function around
    elif (path := _path_in(annotation, names)) is not None:
        with suppress(*READING_FAILS):  # Python has raised where it evaluated the annotation
            captured.read(path)
    elif isinstance(annotation, ast.BinOp):
        _read_annotation(annotation.left, names)
        _read_annotation(annotation.right, names)
    elif isinstance(annotation, ast.Constant):
        if isinstance(annotation.value, str):  # who asks for types evaluates the text
            with suppress(SyntaxError):
                _read_annotation(ast.parse(annotation.value, mode="eval").body, names)
    else:
        unseen("reading an annotation")


def _path_in(annotation: ast.expr, names: dict[str, object]) -> Path | None:
    """Return the path that a dotted name spells out; None if it is none, or begins elsewhere."""
    if isinstance(annotation, ast.Name):
        return Path(names, annotation.id) if annotation.id in names else None
    if isinstance(annotation, ast.Attribute):
        path = _path_in(annotation.value, names)
        return None if path is None else path.step("attr", annotation.attr)
    return None
