"""The parts of lowering that a target has of its own, for `lower.py` to put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.host_loops import HostLoops
from tracejit.codegen.matmul import HostProducts, Products
from tracejit.codegen.nests import MakeLoops, Nests
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.schedule import Style
from tracejit.ir.core import Eqn

__all__ = ["CPU", "PARALLEL_CPU", "Target"]


def _accept(eqn: Eqn) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of machine.

    name     -- whose emitted source has names already
    style    -- its wishes for nests
    loops    -- makes the writer of loops of a kernel
    products -- makes the writer of contractions that stand alone
    check    -- refuses an equation that it cannot carry out
    """

    name: str
    style: Style
    loops: MakeLoops
    products: Callable[[KernelFrame, ScalarCode, Nests], Products]
    check: Callable[[Eqn], None] = _accept


CPU = Target("cpu", Style(), HostLoops, HostProducts)

PARALLEL_CPU = replace(CPU, style=Style(parallel=True))
