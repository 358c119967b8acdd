"""What a workload consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

__all__ = ["Workload", "with_names"]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A function to differentiate, its arguments, and the forms that its peers need.

    plain     -- the NumPy function that a user would write; tracejit gets it unchanged
    arguments -- makes the arguments of one call
    argnums   -- the arguments to differentiate by
    hand      -- compiled by Numba: (*arguments) -> (value, *gradients), where that was written
    hand_vec  -- makes the same with vector math, where that was written
    forms     -- per peer, a function of (library, *arguments) in place of the plain one; a peer
                 that is not named here runs the plain source with its own `np`
    at_least  -- target: how many times faster than JAX
    at_most   -- target: how many times the hand-written adjoint's time
    """

    key: str
    title: str
    plain: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    hand: Callable[..., Any] | None = None
    argnums: tuple[int, ...] = (0,)
    hand_vec: Callable[[], Callable[..., Any]] | None = None
    forms: dict[str, Callable[..., Any]] = field(default_factory=dict)
    at_least: float | None = None
    at_most: float | None = None


def with_names(fn: Callable[..., Any], **names: Any) -> FunctionType:
    """Return a function with the same source in which some global names mean something else."""
    assert isinstance(fn, FunctionType)
    return FunctionType(fn.__code__, {**fn.__globals__, **names}, fn.__name__, fn.__defaults__)
