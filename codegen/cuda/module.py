"""The module that is emitted for a device: its text, its kernels with parameters, its memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tracejit.codegen.cuda.program import Parameter
from tracejit.codegen.cuda.units import DeviceSteps
from tracejit.codegen.loop_ir import NOWHERE, Loop, every_node
from tracejit.codegen.python_source import SourcePlace

__all__ = ["DeviceSource"]


@dataclass(slots=True)
class DeviceSource:
    """The emitted module, and the data needed to call it.

    kernels -- per kernel, its parameters
    arrays  -- the host's arrays besides arguments, results and the arena: dtype and elements
    launched -- per kernel, the host's function that launches it: "grid", "folding", "few" and so on
    lines   -- per kernel, its first line and its last one
    places  -- where the nodes of kernels are
    """

    text: str
    program: DeviceSteps
    launched: dict[str, str] = field(default_factory=dict)
    lines: dict[str, tuple[int, int]] = field(default_factory=dict)
    places: list[SourcePlace] = field(default_factory=list)
    kernels: dict[str, list[Parameter]] = field(default_factory=dict)
    arrays: dict[str, tuple[np.dtype, int]] = field(default_factory=dict)

    def sites(self, kernel: str) -> list[str]:
        """Return the user's lines that a kernel carries out, in the order of its source."""
        first, last = self.lines[kernel]
        return list(dict.fromkeys(str(p.node.origin.site) for p in self.places
                                  if first <= p.first <= last and p.node.origin.site is not None))

    def alone(self) -> Iterator[str]:
        """Yield the loops of arrays that one thread does, since their iterations depend on others.

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
