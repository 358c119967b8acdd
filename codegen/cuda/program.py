"""The data that calls of a program on a device need, as plain data: strings, numbers and dtypes.

It is all that a call takes of a program besides its `Interface`, and all that an artifact keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["ALONE", "CONTEXT", "SIDE", "THREADS", "THREADS_OF", "Capability", "DeviceProgram",
           "Parameter", "Planned"]

Capability = tuple[int, int]
"""A compute capability, (9, 0) for instance."""

Planned = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[tuple[int, int], ...], int]
"""Sizes, shapes of results, per array of the arena where it begins and its bytes; all bytes."""
THREADS = 256
"""Threads of a full block; a power of two, as the reductions of a block need it."""
THREADS_OF = {"one": 1, "few": 64}
"""The same by the host's function that launches the kernel, where it has fewer."""
SIDE = 32
"""Rows and columns of a product that a block computes at a time."""
CONTEXT = 4
"""Words of the context before the sizes that Logs need."""
ALONE = ("one", "block")
"""The host's functions that launch one block, and never more."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel: an array, or a number by value.

    is_room -- whether it is memory of which each thread has a part for itself
    """

    name: str
    dtype: np.dtype
    is_array: bool
    is_room: bool = False


@dataclass(frozen=True, slots=True)
class DeviceProgram:
    """The data that calls of a program on a device need.

    source  -- the emitted module: a function per kernel, and the host's `launch`
    plan    -- source of a function `plan` of the shapes of array arguments and the numbers of int
               arguments, in order: it gives sizes, shapes of results, per array of the arena where
               it begins and its bytes, and the bytes of the arena; None where they do not fit
    kernels -- per kernel its parameters, after the context
    inputs  -- per input its name in `launch`, its dtype and rank
    sizes   -- the names of the sizes in `launch`
    outputs -- per output its name in `launch`, its dtype and rank
    arena   -- the arrays that lie in the arena, and their dtypes
    arrays  -- the host's arrays besides: dtype and elements, 0 for a part per block
    logs    -- the dtypes of Logs
    launched -- per kernel, the host's function that launches it
    ptx     -- the PTX of every kernel, by the compute capabilities that it was made for so far
    stored  -- whether it comes from an artifact, whose PTX serves higher capabilities as well
    """

    source: str
    plan: str
    kernels: dict[str, tuple[Parameter, ...]]
    inputs: tuple[tuple[str, np.dtype, int], ...]
    sizes: tuple[str, ...]
    outputs: tuple[tuple[str, np.dtype, int], ...]
    arena: tuple[tuple[str, np.dtype], ...]
    arrays: dict[str, tuple[np.dtype, int]]
    logs: tuple[np.dtype, ...]
    launched: dict[str, str]
    ptx: dict[Capability, dict[str, str]] = field(default_factory=dict, compare=False)
    stored: bool = field(default=False, compare=False)

    def launches(self, kernel: str) -> str:
        """Return the host's function that launches a kernel: "grid", "folding", "few" and so on."""
        return self.launched.get(kernel, "")

    def threads(self, kernel: str) -> int:
        """Return how many threads a full block of a kernel has."""
        return THREADS_OF.get(self.launches(kernel), THREADS)

    def text(self) -> dict[str, Any]:
        """Return its text in JSON: all but the sources and PTX, which are files."""
        return {
            "kernels": [[name, [[p.name, p.dtype.str, p.is_array, p.is_room] for p in parameters]]
                        for name, parameters in self.kernels.items()],
            "inputs": [[name, dtype.str, ndim] for name, dtype, ndim in self.inputs],
            "sizes": list(self.sizes),
            "outputs": [[name, dtype.str, ndim] for name, dtype, ndim in self.outputs],
            "arena": [[name, dtype.str] for name, dtype in self.arena],
            "arrays": [[name, dtype.str, count] for name, (dtype, count) in self.arrays.items()],
            "logs": [dtype.str for dtype in self.logs],
            "launched": self.launched,
        }

    @classmethod
    def of_text(cls, text: Mapping[str, Any], source: str, plan: str,
                ptx: dict[Capability, dict[str, str]]) -> DeviceProgram:
        """Return the program of an artifact."""
        return cls(
            source, plan,
            {name: tuple([Parameter(p, np.dtype(dtype), is_array, is_room)
                          for p, dtype, is_array, is_room in parameters])
             for name, parameters in text["kernels"]},
            tuple([(name, np.dtype(dtype), ndim) for name, dtype, ndim in text["inputs"]]),
            tuple(text["sizes"]),
            tuple([(name, np.dtype(dtype), ndim) for name, dtype, ndim in text["outputs"]]),
            tuple([(name, np.dtype(dtype)) for name, dtype in text["arena"]]),
            {name: (np.dtype(dtype), count) for name, dtype, count in text["arrays"]},
            tuple(map(np.dtype, text["logs"])), dict(text["launched"]), ptx, stored=True)
