"""The layout of the arena: an offset for each slot, as source and as a dim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracejit.codegen.buffers import Buffer
from tracejit.ir.core import Value
from tracejit.ir.dims import Call, Dim, ceil_div

if TYPE_CHECKING:
    from tracejit.codegen.lower import Kernel

__all__ = ["ALIGNMENT", "Slot", "arena_layout", "arena_size"]

ALIGNMENT = 64


@dataclass(slots=True)
class Slot:
    """One stretch of the arena, shared by buffers that are never needed at once."""

    number: int
    buffers: list[Buffer]
    offset: str
    end: str
    next: str | None


def _bytes(buffer: Buffer) -> Dim:
    """Return a buffer's bytes, rounded up to the alignment."""
    return ceil_div(buffer.size * buffer.dtype.itemsize, ALIGNMENT) * ALIGNMENT


def arena_layout(kernel: Kernel) -> list[Slot]:
    """Return the slots in order, their offsets as source over the names of sizes."""
    numbers = sorted({b.number for b in kernel.arena})
    slots = []
    offset = "0"
    for k, number in enumerate(numbers):
        buffers = [b for b in kernel.arena if b.number == number]
        size = buffers[0].size * buffers[0].dtype.itemsize + ALIGNMENT - 1
        text = dim_source(size, kernel.scalar_names)
        end = f"{offset} + idiv({text}, {ALIGNMENT}) * {ALIGNMENT}"
        following = f"o{k + 1}" if k + 1 < len(numbers) else None
        slots.append(Slot(number, buffers, offset, end, following))
        offset = following or ""
    return slots


_FUNCTIONS = {"max": "imax", "min": "imin", "floordiv": "idiv", "mod": "imod"}


def dim_source(d: Dim, names: Mapping[Value, str]) -> str:
    """Return a dim as source."""
    if isinstance(d, int):
        return str(d)
    terms = []
    for monomial, c in d.terms:
        factors = [names[a] if isinstance(a, Value) else _call_source(a, names) for a in monomial]
        terms.append(" * ".join([*([str(c)] if c != 1 else []), *factors]))
    return " + ".join([*terms, *([str(d.const)] if d.const else [])]).replace("+ -", "- ")


def _call_source(a: Call, names: Mapping[Value, str]) -> str:
    left, right = (dim_source(arg, names) for arg in a.args)
    return f"{_FUNCTIONS[a.fn]}({left}, {right})"


def arena_size(kernel: Kernel) -> Dim:
    """Return the bytes of the whole arena."""
    total: Dim = 0
    for number in sorted({b.number for b in kernel.arena}):
        total = total + _bytes(next(b for b in kernel.arena if b.number == number))
    return total
