"""The table of ops by name, which `tracejit.ops` fills and the parser reads."""

from __future__ import annotations

from tracejit.errors import IRError
from tracejit.ir.core import Op

__all__ = ["OPS", "add_op", "find_op"]

OPS: dict[str, Op] = {}


def add_op(op: Op) -> Op:
    """Enter an op; `KeyError` if the name is taken."""
    if op.name in OPS:
        raise KeyError(f"op {op.name!r} is registered already")
    OPS[op.name] = op
    return op


def find_op(name: str) -> Op:
    """Return the op of that name, or raise `IRError`."""
    try:
        return OPS[name]
    except KeyError:
        raise IRError(f"there is no op {name!r}") from None
