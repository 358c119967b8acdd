"""Readings of clocks: made once, during capture, and never part of a result.

A decorator that times its function reads a clock before and after. What it prints or logs is the
time that the capture took; a reading that would come into what the program computes is refused.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from typing import Any, NoReturn

from tracejit.errors import Refusal
from tracejit.trace.ground.context import current
from tracejit.trace.ground.source import describe_line, find_site

__all__ = ["CLOCKS", "Reading"]


class Reading:
    """What a clock said, or what was computed of such readings: text can be made of it."""

    __float__: Any
    __int__: Any
    __index__: Any
    __hash__: Any
    __array__: Any
    __lt__: Any
    __le__: Any
    __gt__: Any
    __ge__: Any
    __iter__: Any
    clock: str
    number: float
    site: Any

    __slots__ = ("clock", "number", "site")

    def __init__(self, clock: str, number: float) -> None:
        self.clock, self.number = clock, number
        self.site = find_site()

    def __format__(self, spec: str) -> str:
        return format(self.number, spec)

    def __str__(self) -> str:
        return str(self.number)

    __repr__ = __str__

    def as_result(self) -> NoReturn:
        """Refuse to make it a part of what the program computes."""
        raise Refusal(f"{describe_line(self.site)}: {self.clock} gives another value at every "
                      "call, and a captured function would keep the first. Call it outside and "
                      "pass the value as an argument")

    def __bool__(self) -> bool:
        self.as_result()

    __float__ = __int__ = __index__ = __hash__ = __array__ = __bool__
    __lt__ = __le__ = __gt__ = __ge__ = __iter__ = lambda self, *other: self.as_result()

    def __eq__(self, other: object) -> bool:
        return self.__bool__()

    __array_ufunc__ = None


def _operation(plain: Callable[[Any, Any], Any], *, reflected: bool = False) -> Any:
    def method(self: Reading, other: object) -> Any:
        if isinstance(other, Reading):
            other = other.number
        if type(other) not in (int, float):
            self.as_result()
        operands = (other, self.number) if reflected else (self.number, other)
        return Reading(self.clock, plain(*operands))

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv"):
    _plain = getattr(operator, _name)
    setattr(Reading, f"__{_name}__", _operation(_plain))
    setattr(Reading, f"__r{_name}__", _operation(_plain, reflected=True))


def _reading(clock: Any) -> Callable[[], Reading]:
    name = f"time.{clock.__name__}"

    def read() -> Reading:
        current().note(f"{name}() is read once, while the function is captured")
        return Reading(name, clock())

    return read


CLOCKS: dict[Any, Callable[[], Reading]] = {
    getattr(time, name): _reading(getattr(time, name))
    for stem in ("time", "perf_counter", "monotonic", "process_time", "thread_time")
    for name in (stem, f"{stem}_ns") if hasattr(time, name)}
"""The clocks of `time`, with what captured code calls in their place."""
