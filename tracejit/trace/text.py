"""Text in which ints are written that are only known at run time.

It can be printed as it is. Whoever looks at its letters, a dict that has it as a key say, needs
the ints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tracejit.trace.context import current, refuse
from tracejit.trace.tracer import SymInt, Tracer, need_int

__all__ = ["OpenText", "formatted", "written"]


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


class OpenText(str):
    """Text with the ints that are written in it."""

    numbers: tuple[SymInt | Tracer, ...]

    def as_result(self) -> str:
        """Return what a function gives that returns the text."""
        self.settle()
        return str.__str__(self)

    def settle(self) -> None:
        """Ask for the numbers that are written in the text, as its letters are looked at.

        A number of data is refused; an int of the call becomes known.
        """
        for n in self.numbers:
            if isinstance(n, Tracer):
                raise refuse("text with a number in it that only the run knows is looked at",
                             "Print it with tracejit.debug_print, or return the number")
            need_int(n.dim, "text in which it is written")

    def __add__(self, other: str) -> str:
        return written(str.__add__(self, other), self, other)

    def __radd__(self, other: str) -> str:
        return written(str.__add__(other, self), self, other)


def _looking(name: str) -> Callable[..., Any]:
    plain = getattr(str, name)

    def method(self: OpenText, *args: Any, **kwargs: Any) -> Any:
        self.settle()
        return plain(self, *args, **kwargs)

    return method


for _name in ("__hash__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__len__",
              "__getitem__", "__contains__", "__iter__", "__mod__", "__mul__", "__rmul__",
              *(name for name in dir(str) if not name.startswith("_"))):
    setattr(OpenText, _name, _looking(_name))


def written(text: str, *sources: Any) -> str:
    """Return a text that was made of some things, which may hold ints that are not known yet."""
    numbers = tuple(_numbers(sources))
    if not numbers or current().shown is not None:  # messages show the ints at run time
        return text
    result = OpenText(text)
    result.numbers = numbers
    return result


def _numbers(sources: Iterable[Any]) -> Iterator[SymInt | Tracer]:
    for x in sources:
        if isinstance(x, (SymInt, Tracer)):
            yield x
        elif isinstance(x, OpenText):
            yield from x.numbers
        elif isinstance(x, (list, tuple)):
            yield from _numbers(x)


def formatted(value: Any, conversion: int, spec: str) -> str:
    """Return what `{value!conversion:spec}` in an f-string is."""
    shown = _CONVERSIONS[chr(conversion)](value) if conversion > 0 else value
    return written(format(shown, spec), value)
