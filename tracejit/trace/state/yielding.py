"""The result of a call of a user's generator function: a generator that has not begun.

A loop over it runs it inside out (`hooks/generator_hooks.py`); it is a generator of Python's, whose
code is captured, once its items are taken one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from types import CodeType, GeneratorType
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.trace.containers.places import AttributePlace
from tracejit.trace.ground.context import Frame, current, refuse
from tracejit.trace.ground.restarts import NeedSteps, PlaceInCode
from tracejit.trace.state.changes import advance
from tracejit.trace.syntax.generators import Form

__all__ = ["Delegated", "UsersGenerator"]


Forms = Callable[[Form], Callable[..., Any] | None]


class UsersGenerator:
    """A generator of the user's, and how far it has come.

    forms  -- gives the function in one of the forms of `syntax/generators.py`, None if it has none
    where  -- where in the code it was made
    state  -- "new", "inside out" while a loop over it runs, "left" by a loop that ended early,
              "steps" if its items are taken one after another, or "ended"
    """

    stands_for = GeneratorType
    is_held = True
    """Its arguments and steps count as held by the program (`containers/heap.py`)."""

    def __init__(self, code: CodeType, forms: Forms, args: tuple[object, ...],
                 kwargs: dict[str, object], where: PlaceInCode) -> None:
        self.code, self.forms, self.where = code, forms, where
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs
        self.state: Any = "new"
        self.value: Any = None
        """The value that it returned."""
        self.steps: Generator[Any, Any, Any] | None = None
        if where in current().by_steps:
            self._begin_steps()

    @property
    def is_new(self) -> bool:
        """Return whether nothing of it has run."""
        return isinstance(self.state, str) and self.state == "new"

    def inside_out(self, stops: bool) -> Callable[..., Any] | None:
        """Return the function that gives each item to another, which may end it if it `stops`.

        None where items are taken one after another, or there are none left.
        """
        state = self._entered()
        if state in ("ended", "steps"):
            return None
        return self.forms("until" if stops else "each")

    def end(self, value: object = None, state: str = "ended") -> None:
        """Note that there are no more items, or none to be had; the arguments are let go of."""
        self.state, self.value, self.steps = state, value, None
        if not _regions_around(self):
            self.args, self.kwargs = (), {}

    def _entered(self) -> str:
        """Return how far it has come, as its items are about to be taken.

        A branch may end one from around it: how far it has come is merged then, like an attribute.
        """
        state = self.state if isinstance(self.state, str) else "left"  # as data decides
        around = _regions_around(self)
        if state != "steps" and around and all(frame.kind == "if" for frame in around):
            depth = around[-1].depth - 1
            current().record(AttributePlace(self, "state", depth), depth)
        elif state != "ended":
            advance(self)
        if state in ("inside out", "left"):
            raise NeedSteps(self.where)
        return state

    def _begin_steps(self) -> None:
        by_steps = self.forms("steps")
        assert by_steps is not None  # or it was refused
        self.steps, self.state = by_steps(*self.args, **self.kwargs), "steps"
        self.args, self.kwargs = (), {}

    def __iter__(self) -> UsersGenerator:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: object) -> Any:
        """Return the next item, where the `yield` of the last one has a value."""
        if self._entered() == "ended":
            raise StopIteration
        if self.steps is None:
            advance(self)
            self._begin_steps()
        try:
            assert self.steps is not None
            return self.steps.send(value)
        except BaseException as e:
            self.end(e.value if isinstance(e, StopIteration) else None)
            raise

    def close(self) -> None:
        """End it, wherever it is."""
        if isinstance(self.state, str) and self.state == "inside out":
            raise ValueError("generator already executing")
        advance(self)
        self.end()

    def __getattr__(self, name: str) -> Any:
        if hasattr(GeneratorType, name) and not name.startswith("__"):
            raise refuse(f"{self.code.co_name}().{name} cannot be captured: of a generator are "
                         "its items", "Take these by `for` or next()", "TJ104")
        raise AttributeError(f"'generator' object has no attribute {name!r}")

    def as_result(self) -> Any:
        """Refuse to be returned."""
        where = line_name(self.code.co_filename, self.code.co_firstlineno)
        raise Refusal(f"{where}: a generator that is returned cannot be captured. Return a list of "
                      "its items: list(...)", "TJ121")


class Delegated:
    """The iterator that a `yield from` of a generator by steps goes through.

    It is not closed with this generator, nor does what goes through it end there unseen.

    kind -- the name of Python's type of it
    """

    def __init__(self, items: UsersGenerator | Iterator[Any], kind: str) -> None:
        self.items, self.kind = items, kind

    def __iter__(self) -> Delegated:
        return self

    def __next__(self) -> Any:
        return next(self.items)

    def send(self, value: object) -> Any:
        """Send a value to a generator."""
        if not isinstance(self.items, UsersGenerator):
            raise AttributeError(f"'{self.kind}' object has no attribute 'send'")
        return self.items.send(value)


def _regions_around(g: UsersGenerator) -> list[Frame]:
    """Return the open regions inside the region in which a generator was made."""
    found: list[Frame] = []
    for frame in reversed(current().frames):
        if id(g) in frame.created:
            break
        found.append(frame)
    return found


UsersGenerator.__name__ = "generator"  # as messages name its type
