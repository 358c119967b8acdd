"""Raising the errors that compiled code reports, as if the user's own line had raised them."""

from __future__ import annotations

from types import CodeType
from typing import Any, NoReturn

from tracejit.errors import Refusal, raisable
from tracejit.ir.cells import line_name

__all__ = ["raise_at"]


def raise_at(error: str, message: str, numbers: tuple[float, ...], site: Any) -> NoReturn:
    """Raise an exception whose traceback ends at a line of the user's function."""
    kind = raisable(error)
    text = message.format(*numbers)
    if site is None:
        raise kind(text)
    file, line, _ = site.location
    exception = kind(f"{line_name(file, line)}: {text}" if issubclass(kind, Refusal) else text)
    exception.add_note(f"raised by captured code at {line_name(file, line)}")
    code = compile("\n" * (line - 1) + "raise _error", file, "exec")
    code = _named(code, getattr(site.function, "name", "function"))
    exec(code, {"_error": exception})
    raise AssertionError


def _named(code: CodeType, name: str) -> Any:
    return code.replace(co_name=name.rpartition(".")[2])
