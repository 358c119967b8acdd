"""Refusals of functions that a compiled program cannot repeat: clocks, frames, debuggers."""

from __future__ import annotations

from collections.abc import Callable

from tracejit.configuration import settings
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.public_names import public_name

__all__ = ["are_seeds", "refuse_debugger", "refused_as_impure", "refused_for_frames"]


def refused_as_impure(fn: Callable[..., object], seeded: bool = False) -> Exception:
    name = public_name(fn)
    if seeded:
        return refuse(f"{name} of a seed gives the same numbers at every call, and drawing random "
                      "numbers cannot be captured",
                      "Draw them outside and pass them as an argument", "TJ114")
    if name == "time.sleep":
        return refuse("time.sleep would sleep once, while the function is captured",
                      "Sleep outside of it", "TJ113")
    return refuse(f"{name} gives another value at every call, and a captured function would keep "
                  "the first", "Call it outside and pass the value as an argument", "TJ113")


def refused_for_frames(fn: Callable[..., object]) -> Exception:
    return refuse(f"{public_name(fn)} would see the frames of tracejit, not the program's",
                  "Call it outside and pass what it gives as an argument", "TJ115")


def refuse_debugger(name: str) -> None:
    """Refuse to stop within a capture; the program goes on where the plain function has stopped."""
    if settings().debugger:
        current().note_unseen(name)
        return
    raise refuse(f"{name}() would stop within tracejit, once, where names hold traced values",
                 "Call it under tracejit.config(debugger=True), which runs the function as it is",
                 "TJ115")


def are_seeds(args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
    """Return whether a generator of random numbers is made of a seed."""
    return any(x is not None for x in (*args, *kwargs.values()))
