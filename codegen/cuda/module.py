"""The module that is emitted for a device: its text, its kernels with parameters, its memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tracejit.codegen.cuda.program import Parameter
from tracejit.codegen.cuda.units import Program
from tracejit.codegen.loop_ir import NOWHERE, Loop, every_node

__all__ = ["DeviceSource"]


@dataclass(slots=True)
class DeviceSource:
    """The emitted module, and what is needed to call it.

    kernels -- per kernel, its parameters
    arrays  -- what the host allocates besides arguments, results and the arena: dtype and elements
    """

    text: str
    program: Program
    kernels: dict[str, list[Parameter]] = field(default_factory=dict)
    arrays: dict[str, tuple[np.dtype, int]] = field(default_factory=dict)

    def alone(self) -> Iterator[str]:
        """Yield what loops of arrays one thread does, since their iterations depend on others.

        Of products of matrices, how they are done.
        """
        for unit in self.program.units():
            if unit.is_product:
                yield (f"{unit.nodes[0].origin}: a product of matrices, by cuBLAS where that is "
                       f"there, else by {unit.name}, which goes through tiles")
                continue
            for loop in [] if unit.is_grid else every_node(unit.nodes):
                if not isinstance(loop, Loop):
                    continue
                found = [n.origin for n in loop.body if n.origin != NOWHERE] or [loop.origin]
                if found[0] != NOWHERE:
                    yield f"{found[0]}: a loop that one thread of the device does alone"
