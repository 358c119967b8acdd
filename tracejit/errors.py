"""The exceptions that tracejit raises, each naming the user's line, a remedy and a code.

Codes stand in one table, `tracejit/codes.py`; `python -m tracejit explain TJ408` prints the page of
one.
"""

from __future__ import annotations

import functools
import importlib
import sys
from types import FunctionType
from typing import Any, Self

import numpy as np

__all__ = ["RAISABLE", "CompileError", "ComplexResult", "DeviceError", "EqualNaN", "ExportError",
           "IRError", "InternalError", "LargeInt", "MissingAttribute", "Refusal", "Restart",
           "SnapshotError", "TracejitError", "UncapturedError", "class_of_raisable",
           "name_of_raisable", "raisable", "raisable_of_class"]


class TracejitError(Exception):
    """Base class of the errors that only tracejit raises.

    text -- what happened, and what to do
    code -- the code of its cause, "TJ408", which ends the message; by default its class's
    """

    code: str | None = None

    def __init__(self, text: str = "", code: str | None = None) -> None:
        super().__init__(text)
        if code is not None:
            self.code = code

    @property
    def text(self) -> str:
        """Return the message without the code."""
        return super().__str__()

    def __str__(self) -> str:
        return self.text if self.code is None else f"{self.text} [{self.code}]"

    @classmethod
    def restating(cls, error: TracejitError, before: str = "") -> Self:
        """Return an error of this class with the text and the code of another one.

        before -- a text to put before it, the line where it was met
        """
        again = cls(before + error.text)
        again.code = error.code
        return again


class Refusal(TracejitError, TypeError):
    """Raised when a construct cannot be captured; the message names the user's line and a remedy.

    It is a `TypeError`, as the refusals of JAX and Numba are, so that callers who catch them need
    not know tracejit.
    """


class MissingAttribute(Refusal, AttributeError):
    """Raised for an array attribute that cannot be captured; `hasattr` sees it as absent."""


class IRError(TracejitError, ValueError):
    """Raised when a graph is malformed: by the verifier, the parser or an op's shape rule."""

    code: str | None = "TJ612"


class CompileError(TracejitError, RuntimeError):
    """Raised when emitted source cannot be compiled: a defect of tracejit, never of the user."""

    code: str | None = "TJ611"


class InternalError(TracejitError, RuntimeError):
    """Raised where tracejit itself fails: the message says where, and how to go on."""

    code: str | None = "TJ610"


class DeviceError(TracejitError, RuntimeError):
    """Raised when a program cannot run on a device: none is there, or it has no memory left."""

    code: str | None = "TJ603"


class ExportError(TracejitError, RuntimeError):
    """Raised when a compiled program cannot be exported; the message says why, with a remedy."""

    code: str | None = "TJ604"


class SnapshotError(TracejitError, ValueError):
    """Raised when a file that holds a compiled program cannot be loaded."""

    code: str | None = "TJ607"


class UncapturedError(TracejitError, RuntimeError):
    """Raised when a function that is for captures alone is called outside of one."""

    code: str | None = "TJ613"


class Restart(BaseException):
    """Internal: a capture needs to begin again with more known about one input.

    It derives from `BaseException` so that a user's `except Exception` does not swallow it.
    """


class ComplexResult(Refusal, ValueError):
    """Raised by a program whose float would be a complex number in Python."""

    code: str | None = "TJ311"


class LargeInt(Refusal, OverflowError):
    """Raised by a program whose int would have more than 64 bits in Python."""

    code: str | None = "TJ312"


class EqualNaN(Refusal, ValueError):
    """Raised by a program that asks whether two NaN are equal items, where Python asks for one."""

    code: str | None = "TJ313"


class NotCaptured(Refusal, NotImplementedError):
    """Raised by a program for arguments of which the captured function has no formula."""

    code: str | None = "TJ315"


class SizeByData(Refusal, ValueError):
    """Raised by a program whose result would have another size in NumPy, depending on data."""

    code: str | None = "TJ314"


RAISABLE: dict[str, type[Exception]] = {
    e.__name__: e for e in (
        ComplexResult, EqualNaN, LargeInt, NotCaptured, SizeByData,
        ValueError, IndexError, TypeError, AssertionError, ArithmeticError, ZeroDivisionError,
        OverflowError, FloatingPointError, RuntimeError, NotImplementedError, KeyError, LookupError,
        AttributeError, NameError, UnboundLocalError, MemoryError, StopIteration, Exception,
        RecursionError)}
"""The exceptions that compiled code can raise, by name."""


def raisable(name: str) -> type[Exception]:
    """Return the exception of a name that compiled code raises: a user's is `MODULE:NAME`."""
    if name == "LinAlgError":
        return np.linalg.LinAlgError
    if ":" not in name:
        return RAISABLE[name]
    module, _, path = name.partition(":")
    try:  # at each error: a module that was loaded again has another class under the name
        found: Any = importlib.import_module(module)
        kind: type[Exception] = functools.reduce(getattr, path.split("."), found)
    except (ImportError, AttributeError):
        if name not in _OF_USERS:
            raise
        kind = _OF_USERS[name]
    return kind


def name_of_raisable(kind: type[BaseException]) -> str | None:
    """Return the name by which compiled code raises an exception; None if it cannot.

    It can raise a user's that is made of a text alone, and that its module has under its name.
    """
    if kind is np.linalg.LinAlgError or RAISABLE.get(kind.__name__) is kind:
        return kind.__name__
    if not issubclass(kind, Exception) or kind.__module__.partition(".")[0] == "tracejit" or (
            not _is_made_of_a_text(kind)):
        return None
    found: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is not kind:
        return None
    name = f"{kind.__module__}:{kind.__qualname__}"
    _OF_USERS[name] = kind
    return name


def _is_made_of_a_text(kind: type[Exception]) -> bool:
    """Return whether an exception is a text: no code of users' runs to tell."""
    if type(kind) is not type or any(isinstance(x, FunctionType) and name.startswith("__")
                                     for c in kind.__mro__ for name, x in vars(c).items()):
        return False
    try:
        return kind("text").args == ("text",)
    except TypeError:
        return False


_PREFIX = "Formatted"


def class_of_raisable(kind: type[Exception]) -> str:
    """Return the name of the class by which `@njit` code raises an exception, without dots."""
    return f"{_PREFIX}{name_of_raisable(kind)}".replace(".", "/")


def raisable_of_class(name: str) -> type[Exception] | None:
    """Return the exception which `@njit` code raises by a class; None if it is none of these."""
    found = name.removeprefix(_PREFIX)
    return None if found == name else raisable(found.replace("/", "."))


_OF_USERS: dict[str, type[Exception]] = {}
"""The exceptions of users' that were captured last, by `MODULE:NAME`: their modules may be gone."""
