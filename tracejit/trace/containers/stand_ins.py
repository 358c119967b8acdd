"""Stand-ins for deques, sets and dicts whose items data decides.

Their classes (`trace/python/keyed.py`) keep the items in lists and are written in Python, which is
captured like users' code: captured code calls `on__len__` for `len(x)`. The methods that Python
itself would call refuse, as they would see the lists of the capture.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn

from tracejit.errors import Refusal
from tracejit.trace.containers.runs import place_in_code
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.values.mixed import Merged

__all__ = ["StandIn", "StandInRefused", "as_key", "is_made_by_data", "is_walked", "note_use",
           "refused_kind"]

class StandInRefused(Refusal):
    """A refusal of an operation on a stand-in: the capture may do without the stand-in."""

    __module__, __qualname__ = Refusal.__module__, Refusal.__qualname__  # as users see it


class StandIn:
    """The object that captured code has in place of a deque, a set or a dict."""

    kind: ClassVar[type]
    walked = 0
    """How many loops run over it just now."""

    def refused(self, what: str) -> StandInRefused:
        """Return the refusal of an operation, named `what`, on a container that data fills."""
        return StandInRefused.restating(refuse(
            f"{what} of a {self.kind.__name__} of which data decides what it holds",
            "Use its items by `for`, `in`, len() and its methods that add and remove items",
            "TJ411"))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(self.kind, name):
            raise self.refused(f"{name}()")
        raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")

    @property
    def shown(self) -> list[Any]:
        """Return the copies of its items that something goes through by and by."""
        found: list[Any] = self.__dict__.setdefault("_shown", [])
        return found

    def refuse_walked(self) -> None:
        """Refuse that it gets or loses items while a loop runs over it."""
        trace = current()
        walked = [*trace.walked, *(w for i in trace.iterators for w in i.walks)]
        if self.walked or any(xs is w for xs in self.shown for w in walked):
            raise self.refused("a change, while a loop runs over it,")

    @contextmanager
    def being_walked(self) -> Iterator[None]:
        """Note that a loop runs over it, or over the container that it is a view of."""
        owner = self.owner
        owner.walked += 1
        try:
            yield
        finally:
            owner.walked -= 1

    @property
    def owner(self) -> StandIn:
        """Return the container that it is a view of, or is itself."""
        return self

    def on_items(self) -> Any:
        """Return the items, in the order of a loop over it."""
        raise self.refused("the items")

    def empty(self) -> Any:
        """Return an empty container of the kind that it stands for."""
        return self.kind()

    def as_result(self) -> NoReturn:
        """Refuse to be returned."""
        raise self.refused("returning the items")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        raise self.refused("a comparison")

    __hash__ = object.__hash__

    def _by_python(self, *_: object) -> NoReturn:
        raise self.refused("code that is not captured asks for what is in it, which is the items")

    __len__ = __iter__ = __contains__ = __bool__ = __getitem__ = __setitem__ = _by_python
    __delitem__ = __repr__ = __or__ = __and__ = __sub__ = __xor__ = __add__ = _by_python
    __ior__ = __iand__ = __isub__ = __ixor__ = __iadd__ = __imul__ = _by_python
    __ror__ = __rand__ = __rsub__ = __rxor__ = __reduce_ex__ = _by_python
    __lt__ = __le__ = __gt__ = __ge__ = _by_python


def note_use(container: object) -> None:
    """Note that captured code uses a deque, set or dict that it made: data may decide how."""
    trace = current()
    found = trace.keyed.get(id(container))
    if found is not None:
        trace.used_keyed.add(found[1])


def is_made_by_data() -> bool:
    """Return whether the deque, set or dict made here has to be a stand-in, as data fills it."""
    places = current().keyed_by_data
    return bool(places) and place_in_code() in places


def refused_kind(kind: type) -> StandInRefused:
    """Return the refusal of a container that is made in a way for which there is no code."""
    return StandInRefused.restating(refuse(
        f"a {kind.__name__} made so, of which data decides what it holds",
        "Make it empty, and add its items one by one", "TJ411"))


def is_walked(x: StandIn) -> bool:
    """Return whether a loop runs over a container just now."""
    return x.walked > 0


def as_key(x: Any, in_set: bool = False) -> Any:
    """Return a key of numbers: an int, or a tuple of ints; in a dict, floats as well.

    The order of floats in a set would show in the last bits of their sum.
    """
    if isinstance(x, tuple) and x:
        return tuple(as_key(y, in_set) for y in x)
    kind = getattr(getattr(x, "dtype", None), "kind", None) or type(x).__name__
    if isinstance(x, Merged) and x.may_be_array:
        x.tell_apart()
    if isinstance(x, list) or getattr(x, "is_array", False):
        raise TypeError(f"unhashable type: "
                        f"{'list' if isinstance(x, list) else 'numpy.ndarray'!r}")
    if kind in ("f", "float") and not in_set:
        ABOVE.require_ours(x == x, ValueError, "a NaN is the key of a dict, which Python looks up "
                           "by its identity. Test with np.isnan")
    elif kind not in ("i", "u", "b", "int", "bool", "SymInt"):
        raise StandInRefused.restating(refuse(
            f"a set or dict of which data decides what it holds has a key of type {kind}",
            "Let the keys be ints, floats (of a dict), or tuples of them", "TJ411"))
    return x
