"""How many warps of a kernel a multiprocessor holds at once, and the limits of their number.

Limits: NVIDIA, CUDA Programming Guide, appendix "Compute Capabilities", technical specifications.
Rules: NVIDIA, `cuda_occupancy.h`, CUDA 13: registers are given to a warp in units of 256, to the
four parts of a multiprocessor apart, so that the warps of a whole one are a multiple of 4; shared
memory is given to a block in units, and from 8.0 on 1 KiB more is taken by the system.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracejit.codegen.cuda.program import Capability

__all__ = ["LIMITS", "ProcessorLimits", "Occupancy", "occupancy_of"]

WARP = 32
"""Threads of a warp."""
REGISTERS = 1 << 16
"""Registers of a multiprocessor, and the most of a block."""
REGISTER_UNIT = 256
PARTS = 4


@dataclass(frozen=True, slots=True)
class ProcessorLimits:
    """The resources of a multiprocessor.

    warps, blocks -- how many of each it holds at once
    shared        -- bytes of shared memory
    reserved      -- bytes of these that the system takes per block
    unit          -- bytes that shared memory is given out in
    """

    warps: int
    blocks: int
    shared: int
    reserved: int
    unit: int


LIMITS: dict[Capability, ProcessorLimits] = {
    (7, 5): ProcessorLimits(32, 16, 64 << 10, 0, 256),
    (8, 0): ProcessorLimits(64, 32, 164 << 10, 1024, 128),
    (8, 6): ProcessorLimits(48, 16, 100 << 10, 1024, 128),
    (8, 9): ProcessorLimits(48, 24, 100 << 10, 1024, 128),
    (9, 0): ProcessorLimits(64, 32, 228 << 10, 1024, 128),
    (10, 0): ProcessorLimits(64, 32, 228 << 10, 1024, 128),
    (12, 0): ProcessorLimits(48, 24, 100 << 10, 1024, 128),
}


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The blocks of a kernel that a multiprocessor holds at once.

    blocks     -- how many blocks
    warps      -- how many warps they have together
    most       -- how many warps it could hold
    limited_by -- the resources that another block lacks: "warps", "blocks", "registers",
                  "shared memory"
    """

    blocks: int
    warps: int
    most: int
    limited_by: tuple[str, ...]

    @property
    def share(self) -> float:
        """Return the part of the warps that it could hold."""
        return self.warps / self.most

    def __str__(self) -> str:
        text = f"{self.share:.0%}, {self.warps} of {self.most} warps"
        return text if self.share == 1 else f"{text}, limited by {' and '.join(self.limited_by)}"


def occupancy_of(capability: Capability, threads: int, registers: int,
                 shared: int) -> Occupancy | None:
    """Return the occupancy of a kernel; None for a compute capability whose limits are not known.

    threads, registers, shared -- threads of a block, registers of a thread, and bytes of shared
                                  memory of a block
    """
    limits = LIMITS.get(capability)
    if limits is None:
        return None
    warps = -(-threads // WARP)
    fits = {"warps": limits.warps // warps, "blocks": limits.blocks,
            "registers": _by_registers(warps, registers)}
    taken = _round_up(shared + limits.reserved, limits.unit)
    if taken:
        fits["shared memory"] = limits.shared // taken
    blocks = min(fits.values())
    return Occupancy(blocks, blocks * warps, limits.warps,
                     tuple(name for name, most in fits.items() if most == blocks))


def _by_registers(warps: int, registers: int) -> int:
    """Return how many blocks there are registers for."""
    per_warp = _round_up(max(1, registers) * WARP, REGISTER_UNIT)
    if per_warp * _round_up(warps, PARTS) > REGISTERS:
        return 0
    return REGISTERS // PARTS // per_warp * PARTS // warps


def _round_up(n: int, unit: int) -> int:
    return -(-n // unit) * unit
