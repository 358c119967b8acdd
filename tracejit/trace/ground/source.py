"""Where a function's source is, and which statement of it runs: files, lines, sites."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeVar
from weakref import WeakSet

from tracejit.ir.cells import line_name
from tracejit.ir.core import Site
from tracejit.trace.ground.generated import GENERATED, tree_of_generated
from tracejit.trace.ground.strangers import STRANGERS
from tracejit.trace.ground.trees import SYNTAX_TREES, find_tree

__all__ = ["FunctionSource", "describe_line", "entrance", "find_site", "find_source",
           "is_made_by_captured", "is_of_library", "is_user_code", "line_of_error",
           "note_made_class", "of_users_module", "plain_source", "register_code",
           "rewritten_source", "runs_library_code", "written_local"]

FACTORY = "_tj_factory"
"""The name of the function around a rewritten one."""
PACKAGE = os.path.abspath(os.path.join(__file__, *[os.pardir] * 3)) + os.sep
_CODEGEN = os.path.realpath(os.path.join(PACKAGE, "codegen")) + os.sep
LIKE_USERS = frozenset(os.path.join(PACKAGE, *path.split("/")) for path in (
    "structured.py", "autodiff/snapshots.py", "autodiff/plain_integrals.py", "numpy_api/plainly.py",
    "numpy_api/plain_minors.py", "numpy_api/plain_schur.py", "numpy_api/sampling.py",
    "trace/python/library.py", "trace/python/comparing.py", "trace/python/keyed.py",
    "trace/python/keys_by_data.py", "trace/python/pooled.py", "trace/python/pooled_attributes.py",
    "trace/python/range_questions.py", "trace/python/from_generators.py",
    "trace/python/itertools_in_python.py", "trace/python/numbers_in_python.py",
    "scipy_api/plain_distributions.py", "scipy_api/plain_systems.py", "scipy_api/plain_sums.py",
    *(f"scipy_api/plain_{name}.py" for name in (
        "bands", "definite", "events", "integrands", "iterations", "odes", "peaks", "quadrature",
        "roots", "sections", "signals", "splines")), "trace/ground/generated.py"))
"""The files of this package whose functions are captured as users' are."""

_REWRITTEN: dict[int, tuple[CodeType, FunctionSource]] = {}
"""Every code object that came out of the rewriter, with the function that it was.

By identity: codes are equal where functions of two files are.
"""


def register_code(code: CodeType, source: FunctionSource) -> None:
    """Note the function that a code object was made of."""
    _REWRITTEN[id(code)] = code, source


def rewritten_source(code: CodeType) -> FunctionSource | None:
    """Return the function that a code object was made of; None for one that was not rewritten."""
    found = _REWRITTEN.get(id(code))
    return None if found is None else found[1]


def written_local(fn: FunctionType) -> ast.FunctionDef | None:
    """Return a local function of a captured one as the user wrote it; None for any other."""
    source = rewritten_source(fn.__code__)
    for node in ast.walk(source.tree) if source is not None and source.tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == fn.__code__.co_name and (
                min([node.lineno, *[x.lineno for x in node.decorator_list]])
                == fn.__code__.co_firstlineno):
            return node
    return None


class FunctionSource:
    """A function's syntax tree and the lines of its statements.

    Sites name statements by ordinal, so that they survive a comment added above; `locate` turns an
    ordinal into the line of the source as it is now.
    """

    name: str
    file: str
    tree: ast.FunctionDef | ast.Lambda | None
    code: CodeType

    def __init__(self, name: str, file: str, tree: ast.FunctionDef | ast.Lambda | None,
                 code: CodeType) -> None:
        self.name, self.file, self.tree, self.code = name, file, tree, code
        self.positions: list[tuple[int, int]] = []
        self.ordinals: dict[int, int] = {}
        if tree is not None:
            found = {(n.lineno, n.col_offset) for n in ast.walk(tree)
                     if isinstance(n, (ast.stmt, ast.expr))}
            first_of_line: dict[int, int] = {}
            for line, column in sorted(found):
                first_of_line.setdefault(line, column)
            for line, column in first_of_line.items():
                self.ordinals[line] = len(self.positions)
                self.positions.append((line, column))

    def site(self, line: int) -> Site:
        """Return the site of the statement on a line."""
        return Site(self, self.ordinals.get(line, line if self.tree is None else 0))

    def locate(self, statement: int) -> tuple[str, int, int]:
        """Return file, line and column (from 1) of a statement."""
        if self.tree is None:
            return self.file, statement, 1
        line, column = self.positions[statement]
        return self.file, line, column + 1

    def __repr__(self) -> str:
        return f"<source of {self.name} at {self.file}:{self.code.co_firstlineno}>"


_PLAIN: dict[int, FunctionSource] = {}


def plain_source(code: CodeType) -> FunctionSource:
    """Return the source of code that was not rewritten, whose sites are lines."""
    found = _PLAIN.get(id(code))
    if found is None:
        found = _PLAIN[id(code)] = FunctionSource(code.co_name, code.co_filename, None, code)
    return found


_MADE: WeakSet[type] = WeakSet()
"""The classes that captured code has made."""


def is_made_by_captured(cls: type) -> bool:
    """Return whether captured code made a class, by a statement or by a call."""
    return cls in _MADE


def note_made_class(made: object) -> Any:
    """Note what a class statement of captured code has made, and return it."""
    if isinstance(made, type):
        _MADE.add(made)
    return made


def of_users_module(made: object, *args: object) -> None:
    """Give a class that a call in captured code made the module of this code, as Python does.

    args -- the arguments of the call: it may make another class of one, as `dataclass` does
    """
    if isinstance(made, type) and any(isinstance(x, type) and x in _MADE for x in args):
        _MADE.add(made)
    if isinstance(made, type) and made.__module__.startswith("tracejit.") and getattr(
            sys.modules.get(made.__module__), made.__name__, None) is not made:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and rewritten_source(frame.f_code) is None:
            frame = frame.f_back
        if frame is not None:
            made.__module__ = frame.f_globals.get("__name__", "builtins")
            _MADE.add(made)


_Method = TypeVar("_Method", bound=Callable[..., object])
_ENTRANCES: list[CodeType] = []
_PASSED: dict[int, CodeType] = {}
"""The codes of tracejit, NumPy and Python that are no statement of a user's, by identity."""



def entrance(method: _Method) -> _Method:
    """Mark the method by which capture calls its `fn`: code of its caller is not captured code."""
    _ENTRANCES.append(method.__code__)
    return method


def find_site() -> Site | None:
    """Return the statement of captured code that is running now.

    After the function has returned, while its result is looked at, it is the function's first line.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if id(code) in _PASSED:
            frame = frame.f_back
            continue
        if code in _ENTRANCES:
            entered = getattr(inspect.unwrap(frame.f_locals["self"].fn), "__code__", None)
            if entered is not None and is_user_code(entered):
                return plain_source(entered).site(entered.co_firstlineno)
        source = rewritten_source(code)
        if source is not None and code.co_filename not in LIKE_USERS:
            return source.site(frame.f_lineno)
        if not _is_internal(code.co_filename) and not _has_no_text(code):
            return plain_source(code).site(frame.f_lineno)
        if code.co_filename != "<string>" and code not in _ENTRANCES:
            _PASSED[id(code)] = code
        frame = frame.f_back
    return None


_INTERNAL: dict[str, bool] = {}


def _is_internal(file: str) -> bool:
    """Whether a file is tracejit's or NumPy's own, or no file at all as in `contextlib`."""
    known = _INTERNAL.get(file)
    if known is None:
        path = os.path.abspath(file)
        standard = os.path.dirname(os.__file__) + os.sep
        known = _INTERNAL[file] = (
            path.startswith((PACKAGE, _CODEGEN))
            or any(path.startswith(folder) for folder in _library_folders())
            or file.startswith("<frozen")
            or (path.startswith(standard) and "site-packages" not in path))
    return known


def _has_no_text(code: CodeType) -> bool:
    """Whether code was made by `exec` of a text that nobody has, as methods of dataclasses are."""
    return code.co_filename == "<string>" and (
        code.co_qualname.startswith("__create_fn__") or not linecache.getline("<string>", 1))


def is_of_library(fn: Callable[..., object]) -> bool:
    """Return whether a callable is not a user's function: one that is written in C, or internal."""
    code = getattr(fn, "__code__", None)
    return code is None or _is_internal(code.co_filename)


def runs_library_code() -> bool:
    """Return whether tracejit is asked by Python code of a library, which may catch errors."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame is not None and rewritten_source(frame.f_code) is None


def _library_folders() -> list[str]:
    """Return where libraries lie that are not followed into; a user's folder may have the name."""
    names = ("numpy", "scipy", *STRANGERS)
    files = [getattr(sys.modules.get(name), "__file__", None) for name in names]
    return [os.path.dirname(file) + os.sep for file in files if file]


def describe_line(site: Site | None) -> str:
    """Return `file:line` of a site, or a stand-in where there is none."""
    if site is None:
        return "<unknown line>"
    file, line, _ = site.location
    return line_name(file, line)


def line_of_error(error: BaseException, fn: Callable[..., object]) -> str:
    """Return `file:line` of the user's line that raised an error; else where `fn` is defined."""
    code = getattr(fn, "__code__", None)
    where = "<unknown line>"
    if code is not None:
        where = line_name(code.co_filename, code.co_firstlineno)
    tb = error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if is_user_code(code):
            where = line_name(code.co_filename, tb.tb_lineno)
        tb = tb.tb_next
    return where


def site_of_error(error: BaseException) -> Site | None:
    """Return the statement of user code that raised an error, as far as it is known."""
    site = None
    tb = error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if is_user_code(code):
            source = rewritten_source(code) or plain_source(code)
            site = source.site(tb.tb_lineno)
        tb = tb.tb_next
    return site


def is_user_code(code: CodeType) -> bool:
    """Return whether a frame of this code is one of the user's, rewritten or not."""
    file = code.co_filename
    if file in LIKE_USERS:
        return False
    return rewritten_source(code) is not None or not (file == "<string>" or _is_internal(file))


# --- finding the tree ---------------------------------------------------------------------------


def find_source(fn: FunctionType) -> FunctionSource | None:
    """Return the source of a Python function, or None where there is none to be found.

    Raises `Refusal` where the text at its place does not give the function's code.
    """
    code, file = fn.__code__, fn.__code__.co_filename
    with SYNTAX_TREES:
        tree = tree_of_generated(code)
        if tree is not None:
            file = GENERATED
        else:
            tree = find_tree(fn)
        return None if tree is None else FunctionSource(fn.__qualname__, file, tree, code)
