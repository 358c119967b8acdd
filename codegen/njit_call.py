"""A call of a compiled program in `@njit` code: the data from which its function is emitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracejit.codegen.kernel import Kernel

__all__ = ["Machine", "NjitCall", "Raises"]


@dataclass(frozen=True, slots=True)
class Raises:
    """An exception with its message, perhaps with fields for two numbers, and its place."""

    kind: type[Exception]
    message: str
    file: str | None = None
    line: int = 0
    function: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """A compiled program: its kernel, where it and its plan are, and the error for each status.

    llvm     -- the optimised module
    is_fixed -- whether the plan is the same for all arguments
    misfit   -- the error where the plan refuses the arguments
    no_room  -- the error where there is no memory; its field is the bytes
    """

    kernel: Kernel
    symbol: str
    entry: int
    plan: int
    llvm: str
    is_fixed: bool
    failures: tuple[Raises, ...]
    misfit: Raises
    no_room: Raises


@dataclass(eq=False, slots=True)
class NjitCall:
    """A call for arguments of certain Numba types.

    args      -- these types
    result    -- the Numba type of the result
    constants -- per leaf of the result: None where an output of the kernel, else (the object,)
    sources   -- per input of the kernel: the number of the argument's leaf, or the frozen value
    compile   -- makes the machine code, when Numba lowers the first caller
    apart     -- pairs of inputs that must not share memory, each with the error where they do
    """

    args: tuple[Any, ...]
    result: Any
    constants: Sequence[tuple[Any, ...] | None]
    sources: Sequence[int | np.generic | np.ndarray]
    compile: Callable[[], Machine]
    apart: Sequence[tuple[int, int, Raises]] = ()
    built: tuple[Any, Any] | None = field(default=None)
