"""`jit`: the function itself, compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracejit.runtime.program import Program
from tracejit.trace.capture import capture_function
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.specs import ArgSpec
from tracejit.transforms.arranged_captures import arranged
from tracejit.transforms.options import Options
from tracejit.tree import Structure

__all__ = ["Jit"]


class Jit:
    """The function itself, compiled; `writes_back`: it writes to its arguments, too."""

    fn: Callable[..., Any]
    options: Options
    writes_back: bool

    name: str = "jit"

    def __init__(self, fn: Callable[..., object], options: Options,
                 writes_back: bool = True) -> None:
        self.fn, self.options, self.writes_back = fn, options, writes_back
        if not writes_back:
            self.name = "forward"

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[object] | None) -> Program:
        """Capture the function for arguments of these specs."""
        c = capture_function(self.fn, specs, structure, leaves,
                             writes_back=self.writes_back, assigns=True)
        c = arranged(c, self.options)
        return Program.of_capture(c, self.options, written=c.written, assigned=c.assigned,
                                  returned=c.returned)

    def inline(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Call within a capture: as if it were not compiled."""
        return call_function(self.fn, args, kwargs)
