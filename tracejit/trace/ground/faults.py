"""Whose fault an exception is: errors that no program should meet say that they are tracejit's.

An exception that Python or NumPy would raise for the user's program passes unchanged. All others
come from inside: they are told by the line that raised them, and by names that users never wrote.
"""

from __future__ import annotations

import linecache
import os
import re
from types import FrameType, TracebackType
from typing import TypeVar, cast

from tracejit.errors import CompileError, InternalError, IRError, Refusal, TracejitError

__all__ = ["NAMES", "as_in_python", "fault_of_ours", "is_ours"]

E = TypeVar("E", bound=BaseException)

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
INNER = tuple(os.path.abspath(os.path.join(PACKAGE, part)) + os.sep for part in (
    "autodiff", "passes", "codegen", "artifacts", "transforms", "ir",
    os.path.join(os.pardir, "codegen")))
"""Folders whose code carries out no user's code: any accidental exception there is a fault."""
PYTHONS = (ArithmeticError, ImportError, LookupError, AttributeError, MemoryError, NameError,
           OSError, RuntimeError, StopIteration, SyntaxError, TypeError, ValueError)
"""The exceptions that hooks raise, as Python and NumPy would, for captured code."""
CALL_OF_USERS = "return fn(*args, **kwargs)"
"""The line at which a capture calls uncaptured functions: their exceptions are the user's."""
OPERATIONS = (CALL_OF_USERS, "result = plain(a, b)", "return plain(a, b)")
"""The lines at which Python itself carries out the user's operations."""
NAMES = re.compile(r"\b(Tracer|Merged|SymInt|TracedIterable|Expr|Slot|MaybeUnset|Poison|Choice|"
                   r"Views|Rows|Stored|Grown|Run|Mixed)\b")
"""Classes that users' programs do not have: an error that names one is not Python's."""


def fault_of_ours(error: Exception, function: str) -> Exception | None:
    """Return the error to raise in place of one of tracejit's own; None for any other."""
    if isinstance(error, TracejitError) and not isinstance(error, IRError):
        return None
    if not isinstance(error, IRError) and not is_ours(error):
        return None
    if _is_pythons(error):
        where = _users_line(error.__traceback__).removeprefix(", at ")
        text = NAMES.sub("a traced value", str(error))
        return Refusal(f"{where}: this asks for a number that only the run knows: {text}. Write it "
                       "with operations that docs/coverage.md lists, or do it after the call",
                       "TJ110")
    text = (f"{type(error).__name__}: {error}. This is a fault of tracejit, met in {function}"
            f"{_users_line(error.__traceback__)}; please report it. To go on, call the function "
            "without its transform, or under tracejit.config(disable_jit=True) if it is compiling "
            "that fails; TRACEJIT_DUMP=folder writes what was made before it")
    return IRError(text) if isinstance(error, IRError) else InternalError(text)


def _last(error: BaseException) -> TracebackType | None:
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _is_pythons(error: Exception) -> bool:
    """Whether Python raised a `TypeError` in the user's own code because it met a tracer."""
    traceback = _last(error)
    if type(error) is not TypeError or traceback is None or not NAMES.search(str(error)):
        return False
    file = os.path.abspath(traceback.tb_frame.f_code.co_filename)
    return not file.startswith((PACKAGE, *INNER)) or (
        linecache.getline(file, traceback.tb_lineno).strip() in OPERATIONS)


def as_in_python(error: E) -> E:
    """Return an error as Python raises it: parts of rewritten code read locals as free names."""
    trace = _last(error)
    if not isinstance(error, NameError) or type(error) is not NameError or trace is None:
        return error
    code, name = trace.tb_frame.f_code, error.name
    if not _is_part(code.co_name) or name not in code.co_freevars:
        return error
    frame: FrameType | None = trace.tb_frame
    while frame is not None and (
            frame.f_code.co_filename != code.co_filename or _is_part(frame.f_code.co_name)):
        frame = frame.f_back
    if frame is None or name in frame.f_code.co_freevars:  # free in the function, too
        return error
    found = UnboundLocalError(f"cannot access local variable {name!r} where it is not associated "
                              "with a value", name=name)
    return cast(E, found.with_traceback(error.__traceback__))


def _is_part(function: str) -> bool:
    return function.startswith("_tj_")


def is_ours(error: Exception) -> bool:
    """Return whether a defect of tracejit raised an error, and not a user's program."""
    traceback = _last(error)
    if traceback is None:
        return False
    file = os.path.abspath(traceback.tb_frame.f_code.co_filename)
    if not file.startswith((PACKAGE, *INNER)):
        return isinstance(error, (TypeError, AttributeError, ValueError)) and bool(
            NAMES.search(str(error)))
    line = linecache.getline(file, traceback.tb_lineno).strip()
    if line == CALL_OF_USERS:
        return bool(NAMES.search(str(error)))
    if line.startswith("raise") and not isinstance(error, CompileError):
        return False
    if file.startswith(INNER) and not file.endswith("interpreter.py"):
        return True
    return not isinstance(error, PYTHONS) or bool(NAMES.search(str(error)))


def _users_line(traceback: TracebackType | None) -> str:
    """Return the innermost user's line of a traceback as ", at file:line"; "" if it has none."""
    from tracejit.ir.cells import line_name
    from tracejit.trace.ground.source import is_user_code

    where = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_user_code(code) and code.co_filename.rpartition(os.sep)[2] != "":
            where = f", at {line_name(code.co_filename, traceback.tb_lineno)}"
        traceback = traceback.tb_next
    return where
