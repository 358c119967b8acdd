"""What the body of a `try` may raise: its errors by numbers, and what they hold, in places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tracejit.trace.containers.places import UNSET, HiddenPlace, MaybeUnset, NamePlace, children
from tracejit.trace.containers.runs import place_in_code
from tracejit.trace.ground.context import current
from tracejit.trace.ground.restarts import PlaceInCode
from tracejit.trace.values.equations import lift
from tracejit.trace.values.known_numbers import FIELD, UnknownText
from tracejit.trace.values.mixed import Mixed
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["Attempt", "Fault", "classes"]


class _ErrorPlace(HiddenPlace):
    """A number of a `try`: of its error, or in its text. Branches merge it, and loops carry it."""

    __slots__ = ("around", "depth")
    name = "the error of a `try`"

    def __init__(self, depth: int, content: object) -> None:
        super().__init__()
        self.depth = self.around = depth
        self.content = content

    def put(self, content: object) -> None:
        """Set it in the region that is open."""
        current().record(self, self.around)
        self.set(content)


@dataclass(slots=True)
class Fault:
    """An error that the body of a `try` may raise.

    shown    -- the numbers that its text shows
    error    -- the error for a handler; None where the text has numbers in it
    contents -- its arguments and attributes, if there are numbers of the run among them
    where    -- where in the code it is raised
    """

    kind: type[BaseException]
    text: str
    shown: list[_ErrorPlace]
    error: BaseException | None
    contents: _ErrorPlace | None = None
    where: PlaceInCode = ()

    def note(self, shown: Sequence[object], error: BaseException | None) -> None:
        """Keep the numbers that the error shows, and what it holds."""
        for place, x in zip(self.shown, shown, strict=True):
            place.put(lift(x) * 1.0)
        if self.contents is not None and error is not None:
            self.contents.put(tuple("" if _is_unknown(x) else x for x in _held(error)))

    def is_met(self) -> bool:
        """Return whether the run may come to it: it was more than part of a guess about a loop."""
        return self.contents is None or self.contents.get() is not UNSET

    def as_raised(self) -> BaseException | None:
        """Return the error for a handler."""
        error = self.error
        if error is None or (self.contents is None and not any(map(_is_unknown, _held(error)))):
            return error
        content: Any = _held(error)
        if self.contents is not None:
            content = self.contents.get()
            content = content.content if isinstance(content, MaybeUnset) else content
        items = [UnknownText() if _is_unknown(x) else y
                 for x, y in zip(_held(error), content, strict=True)]
        count = len(error.args)
        made = self.kind.__new__(self.kind, *items[:count])
        vars(made).update(zip(vars(error), items[count:], strict=True))
        return made


def _held(error: BaseException) -> tuple[Any, ...]:
    """Return what an error holds: its arguments, and the contents of its attributes."""
    return (*error.args, *vars(error).values())


def _form(error: BaseException | None) -> object:
    """Return how many arguments an error has, and which attributes."""
    return None if error is None else (len(error.args), list(vars(error)))


def _is_unknown(x: object) -> bool:
    """Return whether something is a text with numbers in it that only the run knows."""
    return type(x) is UnknownText or (type(x) is str and FIELD[0] in x)


class Attempt:
    """The body of a `try` while it is traced.

    caught -- returns the exceptions that its handlers catch
    names  -- the names that matter after its body
    exact  -- the names among them that matter after an error
    """

    def __init__(self, caught: Callable[[], Any], names: Sequence[NamePlace],
                 exact: Sequence[NamePlace]) -> None:
        self.caught, self.names = caught, names
        self.exact = {p.key for p in exact}
        self.depth = current().depth
        self.code = _ErrorPlace(self.depth, 0)
        """The number of the fault that was met, 0 for none."""
        self.faults: list[Fault] = []
        self.known: list[Fault] = []
        """All that were found, also on guesses of loops' contents that did not hold."""

    def catches(self, kind: type[BaseException]) -> bool:
        """Return whether an error of the run is its own."""
        return any(t in kind.__mro__ for t in classes(self.caught()))

    def fault(self, kind: type[BaseException], text: str, shown: Sequence[object],
              error: BaseException | None) -> int:
        """Return the number of a fault."""
        for k, f in enumerate(self.faults):
            if error is None and not shown and (f.kind, f.text, f.shown) == (kind, text, []):
                return k + 1
        found = self._found(kind, text, shown, error)
        if not any(f is found for f in self.faults):
            self.faults.append(found)
        return next(k for k, f in enumerate(self.faults, 1) if f is found)

    def _found(self, kind: type[BaseException], text: str, shown: Sequence[object],
               error: BaseException | None) -> Fault:
        """Return a fault; where it keeps numbers, the same at one place, which loops carry."""
        holds = error is not None and any(map(_has_numbers, _held(error)))
        where = place_in_code() if holds or shown else ()
        if where:
            for f in self.known:
                if (f.kind, f.text, len(f.shown), f.where) == (kind, text, len(shown), where) and (
                        _form(f.error) == _form(error)):
                    f.error = error
                    return f
        if error is None and not shown:
            error = kind(text)
        fault = Fault(kind, text, [_ErrorPlace(self.depth, 0.0) for _ in shown], error,
                      _ErrorPlace(self.depth, UNSET) if holds else None, where)
        self.known.append(fault)
        return fault

    def fail(self, number: int, shown: Sequence[object],
             error: BaseException | None = None) -> None:
        """Note the error."""
        self.faults[number - 1].note(shown, error)
        self.code.put(number)


def classes(caught: object) -> Iterator[type]:
    """Yield the classes of exceptions that an `except` names, in tuples of any depth."""
    for t in caught if isinstance(caught, tuple) else (caught,):
        if isinstance(t, tuple):
            yield from classes(t)
        else:
            yield t


def _has_numbers(content: object) -> bool:
    """Return whether there are numbers of the run in a content."""
    inner = () if type(content) is UnknownText else children(content)
    if inner is None:
        return isinstance(content, (Tracer, SymInt, Mixed))
    return any(_has_numbers(x) for x in inner)
