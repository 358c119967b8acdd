"""The layout of the arena: an offset for each slot, as source and as a dim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracejit.codegen.buffers import Buffer
from tracejit.ir.dims import Dim, ceil_div, format_dim

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
        text = format_dim(size, lambda v: kernel.labels[v])
        end = f"{offset} + idiv({text}, {ALIGNMENT}) * {ALIGNMENT}"
        following = f"o{k + 1}" if k + 1 < len(numbers) else None
        slots.append(Slot(number, buffers, offset, end, following))
        offset = following or ""
    return slots


def arena_size(kernel: Kernel) -> Dim:
    """Return the bytes of the whole arena."""
    total: Dim = 0
    for number in sorted({b.number for b in kernel.arena}):
        total = total + _bytes(next(b for b in kernel.arena if b.number == number))
    return total
