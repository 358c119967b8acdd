"""Which results of an `@njit` function may be one array, or views of one.

Numba's code of the function tells: two results are apart where no array that one may be, or may be
a view of, is among those of the other. Calls of functions that are not known here may return any
array that they get.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["results_in_common"]

_MAKING = ("arrayexpr", "binop", "unary")
_FRESH = (np.zeros_like, np.empty_like, np.ones_like, np.full_like, np.copy)
_FRESH_METHODS = ("array.copy", "array.astype")


def results_in_common(compiled: object, kinds: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the pairs of results that may be one array.

    compiled -- what Numba keeps of one signature of a function
    kinds    -- Numba's types of the results
    """
    from numba import types

    arrays = [k for k, kind in enumerate(kinds) if isinstance(kind, types.Array)]
    pairs = [(j, k) for j, k in itertools.combinations(arrays, 2)
             if kinds[j].mutable or kinds[k].mutable]
    told = getattr(compiled, "type_annotation", None)
    if not pairs or isinstance(told, str) or told is None:  # (of a program from Numba's cache)
        return pairs
    found = _Code(told).arrays_of_results(len(kinds))
    return [(j, k) for j, k in pairs if any(_meet(each[j], each[k]) for each in found)]


def _meet(some: set[object], others: set[object]) -> bool:
    return None in some or None in others or not some.isdisjoint(others)


class _Code:
    """The typed code of a function in Numba's form, with one definition for each name."""

    def __init__(self, told: Any) -> None:
        self.types, self.blocks = told.typemap, told.blocks
        self.definitions: dict[str, list[Any]] = {}
        for statement in self._statements():
            if hasattr(statement, "target") and hasattr(statement, "value"):
                self.definitions.setdefault(statement.target.name, []).append(statement.value)

    def _statements(self) -> Iterator[Any]:
        for block in self.blocks.values():
            yield from block.body

    def arrays_of_results(self, count: int) -> list[list[set[object]]]:
        """Return for each `return` the arrays that each of the results may be; None is any."""
        from numba.core import ir

        return [self._of_return(x.value, count) for x in self._statements()
                if isinstance(x, ir.Return)]

    def _of_return(self, value: Any, count: int) -> list[set[object]]:
        from numba.core import ir

        while isinstance(value, ir.Var) or getattr(value, "op", "") == "cast":
            value = value.value if not isinstance(value, ir.Var) else self._only(value)
        if getattr(value, "op", "") == "build_tuple" and len(value.items) == count:
            return [self._arrays(x, set()) for x in value.items]
        return [{None}] * count

    def _only(self, name: Any) -> Any:
        found = self.definitions.get(name.name, [])
        return found[0] if len(found) == 1 else None

    def _arrays(self, name: Any, seen: set[str]) -> set[object]:
        """Return the expressions that make the arrays which a name may be, or be a view of."""
        from numba import types
        from numba.core import ir

        kind = self.types.get(name.name)
        if name.name in seen or not self._holds(kind):
            return set()
        seen.add(name.name)
        if not isinstance(kind, (types.Array, types.BaseTuple, types.BoundFunction)):
            return {None}
        found: set[object] = set()
        for value in self.definitions.get(name.name, [None]):
            if isinstance(value, ir.Var):
                found |= self._arrays(value, seen)
            elif not isinstance(value, ir.Expr):
                found |= {None} if value is None else set()  # an argument is told by its type
            else:
                found |= {id(value)} if value.op in (*_MAKING, "call") else set()
                for part in self._handed_on(value):
                    found |= self._arrays(part, seen)
        return found

    def _holds(self, kind: object) -> bool:
        """Return whether a value of a type may hold an array."""
        from numba import types

        if isinstance(kind, types.BaseTuple):
            return any(map(self._holds, kind.types))
        if isinstance(kind, types.BoundFunction):
            return self._holds(kind.this)
        plain = (types.Number, types.Boolean, types.Function, types.Dispatcher, types.Module,
                 types.SliceType, types.NoneType, types.Literal, types.DType, types.NumberClass,
                 types.RangeType, types.RangeIteratorType, types.UnicodeType)
        return not isinstance(kind, plain)

    def _handed_on(self, value: Any) -> list[Any]:
        """Return the names of which an expression may give, or view, the arrays."""
        if value.op in _MAKING:
            return []
        names: list[Any] = value.list_vars()
        if value.op != "call":
            return names
        kind = self.types.get(value.func.name)
        key = getattr(kind, "typing_key", None)
        if isinstance(key, np.ufunc):
            return names[1 + key.nin:]  # `out`
        return [] if key in _FRESH or key in _FRESH_METHODS else names
