"""Readings of clocks: made once, during capture, and never part of a result.

A decorator that times its function reads a clock before and after, and prints or logs the time
that the capture took. A reading in the program's arithmetic is refused, and so is a reading whose
digits are looked at.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from typing import Any, NoReturn

from tracejit.errors import Refusal
from tracejit.trace.ground.context import current, is_tracing
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.values.text import OpenText

__all__ = ["CLOCKS", "Reading", "let_out"]


_NO_NUMBERS = (type(None), str, tuple, list, dict, set)


class Reading:
    """A clock's reading, or a number computed of readings: text can be made of it.

    It passes for the number; all uses but text and arithmetic with numbers are refused.
    """

    clock: str
    number: float
    site: Any

    __slots__ = ("clock", "number", "site")

    def __init__(self, clock: str, number: float) -> None:
        self.clock, self.number = clock, number
        self.site = find_site()

    @property
    def stands_for(self) -> type:
        """Return the type that it has in Python."""
        return type(self.number)

    @property  # type: ignore[misc]  # isinstance asks for it
    def __class__(self) -> type:
        return self.stands_for

    def __format__(self, spec: str) -> str:
        return self._text(format(self.number, spec))

    def __str__(self) -> str:
        return self._text(str(self.number))

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        if type(other) in _NO_NUMBERS:
            return False
        self.as_result()

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    def _text(self, text: str) -> str:
        """Note that a text shows the number, in case code reads at its letters; return the text."""
        if is_tracing():
            unread = current().unread
            if unread is None:
                self.as_result()
            unread.append(self)
        return text

    def as_result(self) -> NoReturn:
        """Refuse a use of the number in the program's results."""
        refusal = Refusal(
            f"{describe_line(self.site)}: {self.clock} gives another value at every call, and a "
            "captured function would keep the first. Call it outside and pass the value as an "
            "argument", "TJ113")
        if is_tracing():
            current().refused = refusal
        raise refusal

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(type(self.number), name) and not name.startswith("__"):
            self.as_result()
        raise AttributeError(
            f"{type(self.number).__name__!r} object has no attribute {name!r}")


def _operation(plain: Callable[[Any, Any], Any], *, reflected: bool = False) -> Any:
    def method(self: Reading, other: object) -> Any:
        if type(other) is Reading:
            other = other.number
        if type(other) not in (int, float):
            self.as_result()
        operands = (other, self.number) if reflected else (self.number, other)
        found = plain(*operands)
        if isinstance(found, tuple):
            return tuple(Reading(self.clock, x) for x in found)
        return Reading(self.clock, found)

    return method


def _of_one(plain: Callable[..., float]) -> Any:
    def method(self: Reading, *digits: int) -> Any:
        return Reading(self.clock, plain(self.number, *digits))

    return method


def _refused(self: Reading, *_: object, **__: object) -> NoReturn:
    self.as_result()


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "divmod"):
    _plain = getattr(operator, _name, divmod)
    setattr(Reading, f"__{_name}__", _operation(_plain))
    setattr(Reading, f"__r{_name}__", _operation(_plain, reflected=True))
for _name, _plain in (("neg", operator.neg), ("pos", operator.pos), ("abs", abs),
                      ("round", round)):
    setattr(Reading, f"__{_name}__", _of_one(_plain))
for _name in ("bool", "float", "int", "index", "hash", "complex", "array", "array_ufunc",
              "lt", "le", "gt", "ge", "iter", "trunc", "floor", "ceil", "reduce_ex"):
    setattr(Reading, f"__{_name}__", _refused)


def let_out(x: object) -> object:
    """Return the text that a log or a stream may show of a reading, or of a text with readings."""
    if type(x) is Reading:
        return x.number
    if isinstance(x, OpenText) and all(type(n) is Reading for n in x.numbers):
        return str.__str__(x)
    return x.with_markers() if isinstance(x, OpenText) else x


def _reading(clock: Any) -> Callable[[], Reading]:
    name = f"time.{clock.__name__}"

    def read() -> Reading:
        current().note(f"{name}() is read once, while the function is captured", "TJ708")
        return Reading(name, clock())

    return read


CLOCKS: dict[Any, Callable[[], Reading]] = {
    getattr(time, name): _reading(getattr(time, name))
    for stem in ("time", "perf_counter", "monotonic", "process_time", "thread_time")
    for name in (stem, f"{stem}_ns") if hasattr(time, name)}
"""The clocks of `time`, with the functions that captured code calls in their place."""
