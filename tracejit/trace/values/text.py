"""Text in which ints are written that are only known at run time.

It can be printed as it is. Code that looks at its letters, a dict that has it as a key say, needs
the ints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tracejit.ir.core import Site
from tracejit.trace.ground.context import current, is_tracing
from tracejit.trace.ground.source import find_site
from tracejit.trace.values.known_numbers import TextField, shown_text, text_number
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["OpenText", "formatted", "settle", "write", "written"]


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


class OpenText(str):
    """Text with the ints that are written in it."""

    numbers: tuple[Any, ...]
    site: Site | None

    def as_result(self) -> str:
        """Return the result of a function that returns the text."""
        self.settle()
        return self.with_numbers()

    def with_numbers(self) -> str:
        """Return the text with the numbers of the call that are known by now."""
        return _filled(str.__str__(self), lambda field: format(text_number(field.x), field.spec))

    def with_markers(self) -> str:
        """Return the text for someone who looks at it while the function is captured."""
        return _filled(str.__str__(self), lambda field: field.x._marker())

    def settle(self) -> None:
        """Ask for the numbers that are written in the text, as its letters are looked at.

        A number of data is refused; an int of the call becomes known.
        """
        for n in self.numbers:
            text_number(n, self.site)

    def _within_text(self) -> None:
        """Have the numbers noted by a text that holds this one."""
        if not is_tracing() or current().shown is not None:
            return
        unread = current().unread
        if unread is None:
            self.settle()
        else:
            unread.extend(self.numbers)

    def __str__(self) -> str:
        self._within_text()
        return self._letters()

    def _letters(self) -> str:
        """Return the letters; in the message of an error, with fields that the run fills in."""
        if not is_tracing() or current().shown is None:
            return str.__str__(self)
        if any(hasattr(type(n), "as_result") for n in self.numbers):
            self.settle()
        return _filled(str.__str__(self), lambda field: shown_text(field.x, field.spec))

    def __repr__(self) -> str:
        self._within_text()
        return str.__repr__(self)

    def __format__(self, spec: str) -> str:
        if spec and not all(hasattr(type(n), "as_result") for n in self.numbers):
            self.settle()  # the letters of a clock's reading are known
            return format(self.with_numbers(), spec)
        self._within_text()
        return str.__format__(self._letters(), spec)

    def __add__(self, other: str) -> str:
        return written(str.__add__(self, other), self, other)

    def __radd__(self, other: str) -> str:
        return written(str.__add__(other, self), self, other)


def _looking(name: str) -> Callable[..., Any]:
    plain = getattr(str, name)

    def method(self: OpenText, *args: object, **kwargs: object) -> Any:
        self.settle()
        return plain(self.with_numbers(), *args, **kwargs)

    return method


for _name in ("__hash__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__len__",
              "__getitem__", "__contains__", "__iter__", "__mod__", "__mul__", "__rmul__",
              *(name for name in dir(str) if not name.startswith("_"))):
    setattr(OpenText, _name, _looking(_name))


def _filled(text: str, text_of: Callable[[TextField], str]) -> str:
    """Return a text with others in its fields."""
    for field in current().text_fields if is_tracing() else ():
        if field.mark in text:
            text = text.replace(field.mark, text_of(field))
    return text


def written(text: str, *sources: object) -> str:
    """Return a text that was made of some texts, which may hold ints that are not known yet."""
    return _open(text, [n for x in sources if isinstance(x, OpenText) for n in x.numbers])


def write(make: Callable[..., object], *args: object, **kwargs: object) -> Any:
    """Return the text that a function makes, with the numbers that it shows."""
    trace = current()
    before, trace.unread = trace.unread, []
    try:
        text = make(*args, **kwargs)
        numbers = trace.unread
    finally:
        trace.unread = before
    if not isinstance(text, str):
        return text
    if isinstance(text, OpenText):
        numbers = [*numbers, *text.numbers]
    return _open(text, numbers)


def settle(x: object) -> None:
    """Ask for the numbers in a text that goes to a function which looks at its letters.

    In the message of an error the run fills them in.
    """
    if is_tracing() and current().shown is not None:
        return
    if isinstance(x, OpenText):
        x.settle()
    elif isinstance(x, (list, tuple)):
        for item in x:
            settle(item)
    elif isinstance(x, dict):
        for item in x.values():
            settle(item)


def _open(text: str, numbers: Iterable[SymInt | Tracer]) -> str:
    numbers = tuple(numbers)
    if not numbers or current().shown is not None:  # messages show the ints at run time
        return text
    result = OpenText(str.__str__(text))
    result.numbers, result.site = numbers, find_site()
    if current().outside:  # code that is not captured calls this one, and may look at its letters
        result.settle()
    return result


def formatted(value: object, conversion: int, spec: str) -> str:
    """Return the text of `{value!conversion:spec}` in an f-string."""
    settle(spec)
    if conversion > 0 and spec and isinstance(value, (Tracer, SymInt)) and (
            chr(conversion) in "sr" and current().shown is None):
        padded: str = write(shown_text, value, spec, chr(conversion))
        return padded
    if conversion > 0:
        value = write(_CONVERSIONS[chr(conversion)], value)
    text: str = write(format, value, spec)
    return text
