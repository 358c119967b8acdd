"""Lists and objects of pools, by their numbers.

A number is merged by branches, carried by loops and kept in lists like any other, so that all
names for one list or object see each change of it.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tracejit.trace.containers.stand_ins import StandInRefused
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.upward import ABOVE

__all__ = ["Numbered", "ObjectReference"]


class Numbered:
    """A list or an object of a pool, by its number."""

    is_held = True
    """What its pool has is held by who holds it."""

    _pool: Any
    _number: Any

    def numbered(self, number: object) -> Any:
        """Return the thing of the same pool that has a number."""
        return self.of_pool(self._pool, number)

    @classmethod
    def of_pool(cls, pool: object, number: object) -> Any:
        """Return the thing of a pool that has a number."""
        made = object.__new__(cls)
        object.__setattr__(made, "_pool", pool)
        object.__setattr__(made, "_number", number)
        return made


class ObjectReference(Numbered):
    """An object of a user's class in a pool; `python/objects.py` has its operations."""

    @property
    def stands_for(self) -> type:
        """Return the class of the object."""
        found: type = self._pool.cls
        return found

    __class__ = stands_for  # for `super(C, x)`

    def refused(self, what: str) -> StandInRefused:
        """Return the refusal of an operation, named `what`, on an object that data chooses."""
        return StandInRefused.restating(refuse(
            f"{what} a {self.stands_for.__name__}, where data decides which one it is",
            "Read and set its attributes, call its methods, and ask by `is`", "TJ412"))

    def __getattr__(self, name: str) -> Any:
        return ABOVE.read_attribute(self, name)

    def __setattr__(self, name: str, content: object) -> None:
        ABOVE.set_attribute(self, name, content)

    def __delattr__(self, name: str) -> None:
        raise self.refused(f"deleting the attribute {name!r} of")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        raise self.refused("code that is not captured compares")

    def _by_python(self, *_: object) -> NoReturn:
        raise self.refused("code that is not captured asks for the content of")

    __hash__ = _by_python
    __len__ = __contains__ = __bool__ = __setitem__ = _by_python
    __delitem__ = __repr__ = __or__ = __and__ = __sub__ = __xor__ = __add__ = _by_python
    __reduce_ex__ = __lt__ = __le__ = __gt__ = __ge__ = __copy__ = _by_python
    __deepcopy__ = __float__ = __int__ = __index__ = __format__ = __mul__ = _by_python
    __truediv__ = __neg__ = __radd__ = __rsub__ = __rmul__ = __array__ = _by_python
    __complex__ = __iter__ = __getitem__ = __reversed__ = _by_python
