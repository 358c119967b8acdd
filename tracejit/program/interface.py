"""The facts of a program that calls of its compiled code need: no graph, and nothing of capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tracejit.trace.ground.facts import Fact
from tracejit.trace.state.guards import Guarded
from tracejit.trace.state.paths import Leaf, Path
from tracejit.tree import Structure

if TYPE_CHECKING:
    from tracejit.codegen.kernel import Called, Shown

__all__ = ["KernelFailure", "Interface", "Kind"]

Kind = tuple[np.dtype, int]
"""The dtype and rank of an input or output."""


class KernelFailure(Protocol):
    """The meaning of a status of a kernel: an exception, its message, and the user's line."""

    @property
    def error(self) -> str:
        """Return the name of the exception."""

    @property
    def message(self) -> str:
        """Return the message, with places for numbers."""

    @property
    def site(self) -> Any:
        """Return the user's line: an object with `location` and `function`."""


@dataclass(eq=False, slots=True)
class Interface:
    """How calls and results of a program map to its inputs and outputs, and when it holds.

    sources   -- per input, the number of the argument's leaf, or captured state
    guards    -- the objects that must be as they were
    structure -- of the result; its leaves are `constants`, or outputs where these are None
    weak      -- per output, whether it is a Python number
    written   -- leaves of the arguments to be overwritten, with the number of the output
    assigned  -- paths to variables to be assigned to, with the number of the output
    recorded  -- paths to the variables and tape values that it reads
    sizes     -- how many sizes it has
    logs      -- how many Logs it has
    releases  -- whether it has loops, branches or calls, and runs without the GIL
    prints    -- its prints, each with the values that it shows
    returned  -- leaves of the result that are an argument's leaf (True) or an earlier one (False)
    facts     -- facts about the memory of its inputs
    found     -- outputs whose sizes the kernel finds out: their numbers, their kinds, and the Log
                 in which they are left; among `outputs` are their shapes
    zero_d    -- the numbers of the outputs that are arrays without axes, and no numbers
    parallel  -- whether threads may share loops of it
    callbacks -- its calls of Python functions, each with its operands and results
    is_for_one_call -- whether the capture read state that may differ at the next call
    """

    name: str
    inputs: tuple[Kind, ...]
    outputs: tuple[Kind, ...]
    sources: tuple[int | Leaf, ...]
    guards: list[Guarded]
    structure: Structure
    constants: list[tuple[Any, ...] | None]
    weak: list[bool]
    written: list[tuple[int, int]]
    assigned: list[tuple[Path, int]]
    recorded: list[Path]
    sizes: int
    logs: int
    releases: bool
    failures: Sequence[KernelFailure]
    prints: Sequence[Shown]
    facts: tuple[Fact, ...] = ()
    returned: tuple[tuple[int, bool, int], ...] = ()
    found: tuple[tuple[int, Kind, int], ...] = ()
    zero_d: tuple[int, ...] = ()
    parallel: bool = False
    callbacks: Sequence[Called] = ()
    is_for_one_call: bool = False
