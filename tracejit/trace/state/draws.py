"""Random numbers that uncaptured code draws: told from the states of the generators.

`scipy.stats.norm.rvs()` draws from NumPy's global generator, a Latin hypercube from one of its own.
Whoever draws has moved a generator on, or has asked the system for entropy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

from tracejit.errors import Refusal
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.public_names import public_name
from tracejit.trace.state.guards import state_of

__all__ = ["asks_for_entropy", "global_states", "refused_draw"]


def global_states() -> tuple[object, object]:
    """Return the states of NumPy's and Python's global generators of random numbers.

    None where no module is imported of which uncaptured functions draw from them.
    """
    modules: Any = sys.modules
    numpys = None
    if "scipy" in modules and "numpy.random.mtrand" in modules:
        numpys = state_of(modules["numpy.random.mtrand"]._rand)
    draws = "statistics" in modules and "random" in modules
    return numpys, modules["random"].getstate() if draws else None


def asks_for_entropy(codes: Iterable[CodeType]) -> bool:
    """Return whether the system's generator is among code that ran, as a new generator asks it."""
    random = sys.modules.get("random")
    return random is not None and any(
        code.co_filename == random.__file__ and code.co_qualname.startswith("SystemRandom.")
        for code in codes)


def refused_draw(fn: Callable[..., object] | None) -> Refusal:
    """Return the refusal of a function that has drawn random numbers."""
    name = "code that is not captured" if fn is None else public_name(fn)
    return refuse(f"{name} draws random numbers from a generator that no capture sees, and a "
                  "captured function would keep the first",
                  "Call it outside and pass the value as an argument", "TJ114")
