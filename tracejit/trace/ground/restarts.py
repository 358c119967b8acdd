"""Exceptions that end an attempt at a capture, or at a loop: it begins again on other terms."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from tracejit.errors import Refusal, Restart
from tracejit.ir.core import Site, Value

__all__ = ["Grows", "NeedCounting", "NeedIntegrands", "NeedLeast", "NeedLeaving", "NeedNames",
           "NeedOneCopy", "NeedOnePool", "NeedOwnIterators", "NeedPoolFact", "NeedRun",
           "NeedSliceEnds", "NeedStack", "NeedStatic", "NeedSteps", "NotRepeatable", "PlaceInCode",
           "Relist", "Unroll", "Widens"]


class NeedStatic(Restart):
    """An integer is needed as a Python int: a size, an int argument or a loop index."""

    value: Value
    site: Site | None
    why: str

    def __init__(self, value: Value, site: Site | None, why: str) -> None:
        super().__init__(value)
        self.value, self.site, self.why = value, site, why
        self.pin: tuple[Any, int] | None = None
        """Which input it is, and its number in this call, once the capture has looked it up."""
        self.siblings: list[tuple[Any, int]] = []
        """The same of the ints beside it in a list: fixing them one by one would take long."""

    def found(self) -> tuple[Any, int]:
        """Return the pin, which has been looked up."""
        assert self.pin is not None
        return self.pin


class NeedLeast(NeedStatic):
    """A size is to be taken as no less than a number."""

    def __init__(self, value: Value, least: int, site: Site | None, why: str) -> None:
        super().__init__(value, site, why)
        self.least = least


class NeedSliceEnds(Restart):
    """A slice ends behind its axis in this call: none is taken to end within it."""

    def __init__(self) -> None:
        super().__init__()


class NeedNames(Restart):
    """Equal values are told apart: see `tracejit.trace.values.identities`."""

    def __init__(self) -> None:
        super().__init__()


class NeedStack(Restart):
    """A function calls itself as often as data says: it has to be a loop.

    function -- which one it is, as `functions_as_loops` of a `Trace` has them
    """

    def __init__(self, function: Hashable) -> None:
        super().__init__(function)
        self.function = function


class NeedOnePool(Restart):
    """The lists of two places in the code take each other's place: their items go to one pool."""

    def __init__(self, one: Hashable, other: Hashable) -> None:
        super().__init__(one, other)
        self.one, self.other = one, other


class NeedRun(Restart):
    """A loop reads or writes items of a list by its index: they have to be in one run.

    site -- where in the code the list is made
    """

    def __init__(self, site: tuple[Hashable, ...]) -> None:
        super().__init__(site)
        self.site = site


class NeedCounting(Restart):
    """A list of a pool gets longer or shorter while a loop may be running over it."""

    def __init__(self, site: Hashable) -> None:
        super().__init__(site)
        self.site = site


class NeedPoolFact(Restart):
    """A fact about a pool has to be known from the start: `what` is a field of `PoolFacts`."""

    def __init__(self, what: str, one: Hashable, other: Hashable = None) -> None:
        super().__init__(what, one, other)
        self.what, self.one, self.other = what, one, other


class NeedLeaving(Restart):
    """An error of the run ends loops, and a `try` around them catches it.

    loops -- where in the code the loops are
    """

    def __init__(self, loops: frozenset[PlaceInCode]) -> None:
        super().__init__(loops)
        self.loops = loops


class NeedOwnIterators(Restart):
    """An iterator without an end goes beside items of which data says how many there are."""

    def __init__(self) -> None:
        super().__init__()


class NeedIntegrands(Restart):
    """An integral is taken in an integral: integrands have to be captured once, as blocks."""

    def __init__(self) -> None:
        super().__init__()


class NeedOneCopy(Restart):
    """Two arguments of a transform within the capture are one array, which is written to.

    pair -- which call it is, and the names of the two
    """

    def __init__(self, pair: tuple[Hashable, frozenset[str]]) -> None:
        super().__init__(pair)
        self.pair = pair


class NotRepeatable(Restart):
    """A trial run would make a change that cannot be undone, of an iterator say."""

    def __init__(self) -> None:
        super().__init__()


class Unroll(Exception):
    """Internal: the loop needs its index, or its carried values, as Python values.

    why     -- the reason
    refusal -- raised where only data decides how often the loop runs
    """

    why: str
    refusal: Refusal | None

    def __init__(self, why: str, refusal: Refusal | None = None) -> None:
        super().__init__(why)
        self.why, self.refusal = why, refusal


class Grows(Unroll):
    """A list from around a loop or branch gets more items in it: that may carry its storage.

    frame     -- of the loop or branch
    container -- the list
    by_data   -- whether data decides how many items it gets
    kinds     -- by place in the items, if items are tuples: the kinds of its numbers
    template  -- a tuple that is like the items
    shape     -- of the items, where they are arrays
    others    -- the same of further lists that the loop or branch has to carry
    """

    frame: Any
    container: Any

    def __init__(self, frame: object, container: object, why: str, by_data: bool = False,
                 kinds: Any = None, template: object = None, shape: Any = None,
                 refusal: Refusal | None = None) -> None:
        super().__init__(why, refusal)
        self.frame, self.container = frame, container
        self.by_data, self.kinds, self.template = by_data, kinds or {}, template
        self.shape = shape
        self.others: list[Grows] = []


class Widens(Refusal):
    """A carried array gets more elements in an iteration, or it was None: the first is special.

    A refusal, unless the first iteration can be carried out before the loop.
    """

    __module__, __qualname__ = Refusal.__module__, Refusal.__qualname__  # as users see it

    def __init__(self, refusal: Refusal, why: str) -> None:
        super().__init__(refusal.text, refusal.code)
        self.why = why


PlaceInCode = tuple[tuple[str, int], ...]
"""Where a list is made: file and line of each captured function that is running."""


class Relist(Restart):
    """A list has to be made in another way: the capture begins again.

    kinds -- the further kinds of its numbers; None: as a list without runs
    """

    where: PlaceInCode
    kinds: frozenset[Any] | None
    why: str

    def __init__(self, where: PlaceInCode, kinds: frozenset[Any] | None, why: str) -> None:
        super().__init__(where)
        self.where, self.kinds, self.why = where, kinds, why


class NeedSteps(Restart):
    """The items of a generator of the user's have to be taken one after another.

    where -- where in the code it is made; or where else its items are taken in another way
    """

    where: Hashable

    def __init__(self, where: Hashable) -> None:
        super().__init__(where)
        self.where = where
