"""The syntax tree of a function: found in its text, compiled, and compared with its code.

A text that was read is a guess. The file may have been edited since it was imported, another text
may have had its name, an import hook may have changed it on the way. So the tree is compiled once
more, as the function's code says it was, and taken only if it gives that code.
"""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import linecache
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name

__all__ = ["SYNTAX_TREES", "Tree", "codes_in", "find_tree", "future_flags", "is_same_code",
           "line_text", "tree_in"]

Tree = ast.FunctionDef | ast.Lambda
SYNTAX_TREES = threading.RLock()
"""CPython 3.11 counts how deep a syntax tree is for all threads at once."""
_VERIFIED: dict[str, list[str]] = {}
"""By file name, the lines of the last text that a function's code was found to be made of."""


def find_tree(fn: FunctionType) -> Tree | None:
    """Return the syntax tree that the code of a function was compiled from.

    None where there is no text; Python 3.13 knows the text of `python -c`. Raises `Refusal` where
    the text does not give the function's code.
    """
    with SYNTAX_TREES:
        lines: list[str] = []
        for lines in _texts(fn):
            tree = _find_in("".join(lines), fn)
            if tree is not None:
                _VERIFIED[fn.__code__.co_filename] = lines
                return tree
    code = fn.__code__
    if not lines or code.co_filename == "<string>":  # of `exec`: a common name
        return None
    raise Refusal(
        f"{line_name(code.co_filename, code.co_firstlineno)}: the code of {fn.__qualname__} is not "
        "what its source says now: the text was changed after it was loaded, another text has the "
        "same file name, or an import hook compiled something else. Reload the module, run the "
        "cell again, or restart Python", "TJ101")


def _texts(fn: FunctionType) -> Iterator[list[str]]:
    """Yield the texts of a function's file, in lines: as it was last read, then as it is now."""
    file = fn.__code__.co_filename
    known = linecache.cache.get(file)
    before = known[2] if known is not None and len(known) == 4 else []
    if before:
        yield before
    linecache.checkcache(file)
    now = linecache.getlines(file, fn.__globals__)
    if now and now != before:
        yield now


def line_text(file: str, line: int) -> str:
    """Return a line of the text that functions of a file were made of, or of the file as it is."""
    lines = _VERIFIED.get(file)
    if lines is None:
        linecache.checkcache(file)
        lines = linecache.getlines(file)
    return lines[line - 1].rstrip("\n") if 0 < line <= len(lines) else ""


# --- finding the tree ---------------------------------------------------------------------------


class _FunctionPlace:
    """A function in a module's tree: its node, and the class whose private names it uses."""

    def __init__(self, node: Tree, owner: str | None, statement: int) -> None:
        self.node, self.owner, self.statement = node, owner, statement
        decorators: Sequence[ast.expr] = (
            node.decorator_list if isinstance(node, ast.FunctionDef) else [])
        self.name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
        self.first_line = decorators[0].lineno if decorators else node.lineno

    def is_around(self, code: CodeType) -> bool:
        """Whether all of a code's instructions stand in this lambda; a `def` has its own lines."""
        if not isinstance(self.node, ast.Lambda):
            return True
        body = self.node.body
        first = body.lineno, body.col_offset
        last = body.end_lineno or 0, body.end_col_offset or 0
        return all(first <= (line, column) and (end, end_column) <= last
                   for line, end, column, end_column in code.co_positions()
                   if line is not None and end is not None and column is not None
                   and end_column is not None and not column == end_column == 0)


class _Parsed:
    """A module's top-level statements and, for each of them, the functions in it."""

    def __init__(self, text: str) -> None:
        self.statements = ast.parse(text).body
        self.places = [_places(s, k) for k, s in enumerate(self.statements)]
        self.imported = _imported_names(self.statements)

    def module_of(self, statement: int, *, imports: bool) -> ast.Module:
        """Return a module of one statement, whose functions have the code that they have here.

        imports -- whether to import the same names as the text: a call of an attribute of a name
                   that its module imports is compiled in another way
        """
        names = self.imported if imports else ()
        head: list[ast.stmt] = [ast.fix_missing_locations(ast.Import([ast.alias("sys", name)]))
                                for name in names]
        return ast.Module([*head, self.statements[statement]], [])


def _imported_names(statements: Sequence[ast.AST]) -> list[str]:
    """Return the names that statements of a module import into it."""
    found: dict[str, None] = {}
    pending = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name.partition(".")[0], None) for a in node.names)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            pending += ast.iter_child_nodes(node)
    found.pop("*", None)
    return list(found)


def _places(root: ast.stmt, statement: int) -> list[_FunctionPlace]:
    """Return the functions in a statement, in an order that its tree alone decides."""
    found: list[_FunctionPlace] = []
    pending: list[tuple[ast.AST, str | None]] = [(root, None)]
    while pending:
        node, owner = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found.append(_FunctionPlace(node, owner, statement))
        inside, name = (set(node.body), node.name) if isinstance(node, ast.ClassDef) else ((), "")
        for child in ast.iter_child_nodes(node):
            pending.append((child, name if child in inside else owner))
    return found


@functools.lru_cache(maxsize=8)
def _parsed(text: str) -> _Parsed | None:
    try:
        return _Parsed(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _find_in(text: str, fn: FunctionType) -> Tree | None:
    """Return the tree in a text that compiles to the code of a function."""
    code = fn.__code__
    parsed = _parsed(text)
    if parsed is None:
        return None
    candidates = [p for places in parsed.places for p in places if p.name == code.co_name]
    line = code.co_firstlineno
    candidates.sort(key=lambda p: (abs(p.first_line - line),
                                   p.first_line == line and not p.is_around(code)))
    for place in candidates:
        for transform in _transforms(fn):
            made = _code_of(place, text, future_flags(code), transform)
            if made is not None and is_same_code(made, code):
                return _mangled(place.node, place.owner)
    return None


def tree_in(text: str, code: CodeType) -> Tree | None:
    """Return the tree of the only function of a name in a text, if it compiles to some code."""
    parsed = _parsed(text)
    for place in parsed.places[0] if parsed is not None else ():
        if place.name == code.co_name:
            made = _code_of(place, text, future_flags(code), None)
            if made is not None and is_same_code(made, code):
                return place.node
    return None


# --- compiling it -------------------------------------------------------------------------------

Transform = Callable[[ast.Module], None]
_FUTURE: int = functools.reduce(int.__or__, (getattr(__future__, name).compiler_flag
                                             for name in __future__.all_feature_names))


def future_flags(code: CodeType) -> int:
    """Return the flags of the `__future__` that code was compiled with."""
    return code.co_flags & _FUTURE & ~__future__.nested_scopes.compiler_flag


def _code_of(place: _FunctionPlace, text: str, flags: int,
             transform: Transform | None) -> CodeType | None:
    """Return the code that a function in a text compiles to."""
    codes = [c for c in _compiled(text, flags, place.statement, transform)
             if (c.co_name, c.co_firstlineno) == (place.name, place.first_line)]
    if place.name != "<lambda>":
        return codes[0] if codes else None
    parsed = _parsed(text)
    assert parsed is not None
    rivals = [p for p in parsed.places[place.statement]
              if p.name == "<lambda>" and p.first_line == place.first_line]
    if len(rivals) == 1:
        return codes[0] if codes else None
    for code in codes:
        around = [p for p in rivals if p.is_around(code)]
        inner = [p for p in around if all(q is p or _holds(q, p) for q in around)]
        if inner == [place]:
            return code
    return None


def _holds(outer: _FunctionPlace, inner: _FunctionPlace) -> bool:
    """Whether a function's tree has another function in it."""
    return any(n is inner.node for n in ast.walk(outer.node))


@functools.lru_cache(maxsize=512)
def _compiled(text: str, flags: int, statement: int,
              transform: Transform | None) -> list[CodeType]:
    """Return the code of the functions in one of a text's top-level statements.

    All other statements are outside of every scope of this one.
    """
    parsed = _parsed(text)
    assert parsed is not None
    module = parsed.module_of(statement, imports=transform is not _alone)
    try:
        if transform not in (None, _alone):
            module = copy.deepcopy(module)
            transform(module)
        flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        return list(codes_in(compile(module, "<source>", "exec", flags, dont_inherit=True)))
    except (SyntaxError, ValueError, RecursionError):
        return []


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield some code, and all code that stands in it: of inner functions, comprehensions."""
    yield code
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield from codes_in(x)


def _transforms(fn: FunctionType) -> Iterator[Transform | None]:
    """Yield the changes that a module's tree may have had before compilation: nothing, first."""
    yield None
    yield _alone
    loader = getattr(fn.__globals__.get("__spec__"), "loader", None)
    if type(loader).__module__ == _PYTEST and _PYTEST in sys.modules:
        yield _pytest_rewriting(getattr(loader, "config", None))


def _alone(module: ast.Module) -> None:
    """Take each statement as a module, as IPython does with the statements of a cell."""


_PYTEST = "_pytest.assertion.rewrite"


@functools.lru_cache(maxsize=4)
def _pytest_rewriting(config: object) -> Transform:
    """Return pytest's rewriting of assertions, which gives the same or raises the same error."""

    def rewrite(module: ast.Module) -> None:
        sys.modules[_PYTEST].rewrite_asserts(module, b"", "<source>", config)

    return rewrite


# --- comparing code -----------------------------------------------------------------------------

_SAME = ("co_name", "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags",
         "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_exceptiontable")


def is_same_code(a: CodeType, b: CodeType) -> bool:
    """Return whether two code objects do the same: all but lines and the file's name is equal."""
    return (all(getattr(a, name) == getattr(b, name) for name in _SAME)
            and _are_same(a.co_consts, b.co_consts))


def _are_same(a: Sequence[object], b: Sequence[object]) -> bool:
    return len(a) == len(b) and all(map(_is_same, a, b))


def _is_same(a: Any, b: Any) -> bool:
    """Whether two constants are equal in type and bits: 1 is not True, and 0.0 is not -0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, CodeType):
        return is_same_code(a, b)
    if isinstance(a, tuple):
        return _are_same(a, b)
    if isinstance(a, frozenset):
        return len(a) == len(b) and all(any(_is_same(x, y) for y in b) for x in a)
    if isinstance(a, slice):
        return _are_same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b)
    if isinstance(a, complex):
        return _are_same((a.real, a.imag), (b.real, b.imag))
    return bool(a == b)


# --- private names of classes -------------------------------------------------------------------


def _mangled(node: Tree, owner: str | None) -> Tree:
    """Return a function's tree with the names that the compiler makes of private ones in classes.

    owner -- the class that the function is in
    """
    if owner is None and not any(isinstance(n, ast.ClassDef) for n in ast.walk(node)):
        return node
    new = copy.deepcopy(node)
    _Mangler(owner).visit(new)
    return new


class _Mangler(ast.NodeVisitor):
    """Puts the class's name before each name with two leading underscores.

    Keywords of calls and of patterns stay as they are, as they do in the compiler.
    """

    def __init__(self, owner: str | None) -> None:
        self.prefix = f"_{owner.lstrip('_')}" if owner is not None and owner.strip("_") else ""

    def _name(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return f"{self.prefix}{name}" if private else name

    def generic_visit(self, node: ast.AST) -> None:
        """Rename the private names that a node binds or reads."""
        for field in _NAMES.get(type(node), ()):
            content = getattr(node, field)
            if isinstance(content, str):
                setattr(node, field, self._name(content))
            elif content is not None:
                setattr(node, field, [self._name(x) for x in content])
        super().generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Rename in the body of a class within the function by that class."""
        inner = _Mangler(node.name)
        node.name = self._name(node.name)
        for x in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(x)
        for s in node.body:
            inner.visit(s)

    def visit_alias(self, node: ast.alias) -> None:
        """Bind an imported module or object to the private name."""
        bound = self._name(node.asname or node.name)
        if bound != (node.asname or node.name):
            node.asname = bound


_NAMES: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Name: ("id",), ast.Attribute: ("attr",), ast.arg: ("arg",), ast.FunctionDef: ("name",),
    ast.Global: ("names",), ast.Nonlocal: ("names",), ast.ExceptHandler: ("name",),
    ast.MatchAs: ("name",), ast.MatchStar: ("name",), ast.MatchMapping: ("rest",),
}
