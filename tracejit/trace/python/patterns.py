"""The classes that patterns of a `match` name, asked of traced values as `isinstance` is."""

from __future__ import annotations

from typing import Any

from tracejit.trace.python.kind_functions import is_instance
from tracejit.trace.values.operands import TracedOperand

__all__ = ["pattern_class"]
_TAKE_THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Builtin classes of which Python takes the one positional pattern for the subject itself."""


class _Asking(type):
    """The class of stand-ins for classes in patterns, which take a traced float for a float."""

    asked: Any

    def __instancecheck__(cls, x: object) -> bool:
        """Return whether the class that `cls` stands for has `x` as an instance."""
        return bool(is_instance(x, cls.asked) if isinstance(x, TracedOperand) else
                    isinstance(x, cls.asked))


def pattern_class(kind: Any) -> Any:
    """Return what stands for a class in a pattern of a `match` that Python itself carries out."""
    if not isinstance(kind, type):
        return kind
    parts: dict[str, object] = {"asked": kind}
    if hasattr(kind, "__match_args__"):
        parts["__match_args__"] = kind.__match_args__
    base = (float,) if issubclass(kind, _TAKE_THEMSELVES) else ()
    return _Asking(kind.__name__, base, parts)
