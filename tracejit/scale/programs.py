"""Programs that go to workers: compiled here, and anew when what they read changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.artifacts.snapshots import digest_of_snapshot, snapshot_of
from tracejit.program.request import key_of
from tracejit.runtime.function import Function
from tracejit.trace.state.paths import READING_FAILS, Leaf
from tracejit.trace.values.specs import spec_of_leaf
from tracejit.transforms.public import jit
from tracejit.tree import flatten_call

if TYPE_CHECKING:
    from tracejit.runtime.stages import Compiled

__all__ = ["Programs", "Shipped", "as_function"]


MOST_KNOWN = 32
"""How many programs of a function are remembered for further sums and sweeps."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """A program for workers.

    name     -- the digest of its content
    data     -- the content of a file of `compiled.save`
    contents -- the bytes of the floats and arrays that it reads from outside, as they are in it
    """

    name: str
    data: bytes
    compiled: Compiled
    contents: tuple[bytes, ...]

    def is_current(self) -> bool:
        """Return whether what the program reads from outside is as it was."""
        if not all(guard.holds() for guard in self.compiled.interface.guards):
            return False
        try:
            return _contents(self.compiled) == self.contents
        except READING_FAILS:
            return False


def _contents(compiled: Compiled) -> tuple[bytes, ...]:
    return tuple(np.asarray(s.read()).tobytes() for s in compiled.interface.sources
                 if isinstance(s, Leaf))


class Programs:
    """The programs of one function, in the order in which they were needed."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.name: str = getattr(function, "__qualname__", "the function")
        self._shipped: list[Shipped] = []

    def current(self) -> list[Shipped]:
        """Return the programs that hold now; what reads something that has changed is dropped."""
        self._shipped = [x for x in self._shipped if x.is_current()]
        return self._shipped

    def make(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Shipped:
        """Compile the program for a call, to be tried after those that are there.

        Raises `TypeError` where a program cannot do its work elsewhere.
        """
        made = self._known(args, kwargs)
        if any(x.name == made.name for x in self._shipped):
            raise TypeError(f"{self.name} does not run on a worker with the program that was "
                            "compiled for its arguments")
        self._shipped.append(made)
        return made

    def _known(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Shipped:
        """Return the program for a call: one of another sum or sweep, or one that is made now."""
        leaves, structure = flatten_call(args, kwargs)
        key = (key_of(structure, tuple(map(spec_of_leaf, leaves))), tuple(map(np.shape, leaves)))
        known: dict[Any, Shipped] = vars(self.function).setdefault("_shipped_programs", {})
        if key in known and known[key].is_current():
            return known[key]
        compiled = self.function.trace(*args, **kwargs).lower().compile()
        self._require_whole(compiled)
        data = snapshot_of(compiled)
        if len(known) >= MOST_KNOWN:
            known.clear()
        known[key] = Shipped(digest_of_snapshot(data), data, compiled, _contents(compiled))
        return known[key]

    def _require_whole(self, compiled: Compiled) -> None:
        interface = compiled.interface
        specs = (compiled._arguments or ((),))[0]
        static = [s.content for s in specs if s.kind == "static"]
        if static:
            raise TypeError(f"{self.name} takes {static[0]!r}, which is neither a number nor an "
                            "array. Give it a function in which this stands already: "
                            "lambda w, x: f(w, x, option)")
        if interface.recorded:
            raise TypeError(f"{self.name} reads a variable, which workers have no part in. Pass "
                            "its value")
        if compiled.lowered.traced.program.capture.unseen:
            raise TypeError(f"{self.name} reads state that may differ at every call, a file or a "
                            "clock say, which workers do not share. Pass what it reads")
        if interface.written or interface.assigned:
            raise TypeError(f"{self.name} writes to its arguments or to variables, which are "
                            "copies on workers. Let it write to copies of its own")
        if any(s.kind == "generator" for s in specs):
            raise TypeError(f"{self.name} draws from a Generator, which each worker would have a "
                            "copy of. Pass the numbers that are drawn")


def as_function(g: Callable[..., object], what: str) -> Function:
    """Return a function as a transformed one for the CPU; `TypeError` where it cannot be one."""
    if not callable(g):
        raise TypeError(f"{what} takes a function, not {g!r}")
    found: Any = g if isinstance(g, Function) else jit(g)
    if found._target != "cpu":
        raise TypeError(f'{what} runs on CPUs: give it a function without target="cuda"')
    return found  # type: ignore[no-any-return]
