"""Structured arrays and records within a capture: an array for each field.

A field is a view of the record's memory, and fields of one record lie beside one another: so each
is an array of its own, and all that reads or writes a field is an operation on that array. A row,
`a[i]`, is a record of views without axes, as NumPy's is a view of the array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from tracejit.ir.dims import Dim
from tracejit.structured_dtypes import kind_of_rows, text_of_dtype
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.values.equations import lift
from tracejit.trace.values.field_keys import axes_of, is_list_of_names, is_number, with_more
from tracejit.trace.values.symbolic_ints import SymInt, of_dim, python_dims
from tracejit.trace.values.tracer import Tracer

__all__ = ["StructuredArray"]


class StructuredArray:
    """The stand-in of a structured array or record.

    kind  -- `np.ndarray` or `np.recarray`; of a record `np.void` or `np.record`
    ndim  -- the number of its axes: a field may have more, at the end
    parts -- by name the fields that hold numbers: arrays, or stand-ins where records are nested
    """

    has_captured_operators = True
    is_held = True

    def __init__(self, kind: type, dtype: np.dtype, ndim: int,
                 parts: dict[str, object]) -> None:
        self.kind, self.dtype, self.ndim = kind, dtype, ndim
        self.parts: dict[str, Any] = parts

    @property
    def stands_for(self) -> type:
        """Return the class that it has for the program."""
        return self.kind

    def as_fields(self) -> tuple[type, tuple[str, int], list[Any]]:
        """Return it as a node of a nest (`tree.py`)."""
        text = text_of_dtype(self.dtype)
        assert text is not None
        return self.kind, (text, self.ndim), list(self.parts.values())

    @staticmethod
    def joined_fields(kind: type, text: str, parts: Sequence[object]) -> Any:
        """Return the stand-in for a node of a nest."""
        return ABOVE.joined_fields(kind, text, parts)

    def like(self, parts: Sequence[object]) -> StructuredArray:
        """Return a stand-in with other arrays for fields."""
        return StructuredArray(self.kind, self.dtype, self.ndim,
                               dict(zip(self.parts, parts, strict=True)))

    def is_like(self, other: StructuredArray) -> bool:
        """Return whether another one has the same type."""
        return (self.kind, self.ndim) == (other.kind, other.ndim) and (
            self.as_fields()[1] == other.as_fields()[1])

    @property
    def is_row(self) -> bool:
        """Return whether it is a record, and no array of them."""
        return self.kind is np.void or self.kind is np.record

    @property
    def dims(self) -> tuple[Dim, ...]:
        """Return the shape as dims."""
        first = next(iter(self.parts.values()))
        return () if self.is_row else tuple(first.dims[:self.ndim])

    # --- reads ------------------------------------------------------------------------------------

    def __getitem__(self, key: object) -> Any:
        if isinstance(key, str):
            return self._field(key)
        if is_list_of_names(key):
            return self._of_names(key)
        if self.is_row:
            return self._field(self._name_at(key))
        keys = key if isinstance(key, tuple) else (key,)
        consumed = [axes_of(k) for k in keys]
        if sum(consumed) > self.ndim:
            raise IndexError(f"too many indices for array: array is {self.ndim}-dimensional, but "
                             f"{sum(consumed)} were indexed")
        is_row = sum(consumed) == self.ndim and all(map(is_number, keys))
        return self._taken(keys, is_row)

    def _field(self, name: str) -> Any:
        if name not in (self.dtype.names or ()):
            raise ValueError(f"no field of name {name}")
        if name not in self.parts:
            assert self.dtype.fields is not None
            base = self.dtype.fields[name][0].base
            raise refuse(f"the field {name!r} of a structured array is of dtype {base}, which "
                         "cannot be captured", "Leave it outside, and pass what it decides as an "
                         "array of numbers", "TJ302")
        part = self.parts[name]
        if isinstance(part, StructuredArray) or not isinstance(part, Tracer):
            return part
        if self.is_row and not part.dims and part.is_array:
            return part[()]
        return Tracer(part.cell, part.steps, weak=part.weak) if part.is_array else part

    def _of_names(self, names: list[str]) -> StructuredArray:
        dtype = self.dtype[names]
        for name in names:
            self._field(name)
        kind = np.void if self.kind is np.record else (
            np.ndarray if self.kind is np.recarray else self.kind)
        return StructuredArray(kind, np.dtype((np.void, dtype)), self.ndim,
                      {name: self.parts[name] for name in names})

    def _name_at(self, key: object) -> str:
        names = self.dtype.names or ()
        if isinstance(key, (Tracer, SymInt)):
            raise refuse("a field of a record whose number data decides",
                         "Write its name: row['x']", "TJ302")
        if not isinstance(key, int) or not -len(names) <= key < len(names):
            raise IndexError(f"invalid index ({key})")
        return names[key]

    def _taken(self, keys: tuple[object, ...], is_row: bool) -> StructuredArray:
        made = {name: part._taken(with_more(keys, is_row, part.ndim - self.ndim),
                                  is_row and part.ndim == self.ndim)
                if isinstance(part, StructuredArray) else
                part[with_more(keys, is_row, part.ndim - self.ndim)]
                for name, part in self.parts.items()}
        name, first = next(iter(made.items()))
        old = self.parts[name]
        ndim = first.ndim - (old.ndim - self.ndim)
        kind = kind_of_rows(self.dtype) if is_row else self.kind
        return StructuredArray(kind, self.dtype, ndim, made)

    def counted_rows(self) -> tuple[Dim, Callable[[Any], Any]]:
        """Return the number of rows, and how one is had, for a loop over them."""
        if not self.dims:
            raise TypeError("iteration over a 0-d array")
        own = self.like([*self.parts.values()])
        return self.dims[0], own.__getitem__

    # --- writes -----------------------------------------------------------------------------------

    def __setitem__(self, key: object, value: object) -> None:
        if isinstance(key, str):
            target = self._field(key) if self.is_row else None
            part = self.parts[key] if target is not None else self._field(key)
            if isinstance(part, StructuredArray):
                part._put((...,), value)
            elif not isinstance(part, Tracer) or not part.is_array:
                raise refuse("writing to a record that is an argument, or from outside",
                             "Pass an array, and write to a row of it", "TJ302")
            elif not (isinstance(value, Tracer) and value.cell is part.cell
                      and value.steps == part.steps):  # as after `a["x"] += 1`
                part[...] = value
        elif is_list_of_names(key):
            self._of_names(key)._put((...,), value)
        elif self.is_row:
            self[self._name_at(key)] = value
        else:
            keys = key if isinstance(key, tuple) else (key,)
            if sum(map(axes_of, keys)) > self.ndim:
                raise IndexError("too many indices for array")
            self._put(keys, value)

    def _put(self, keys: tuple[object, ...], value: object) -> None:
        """Write to some rows: field by field, of a record or tuple in their order."""
        if len(self.parts) < len(self.dtype.names or ()):
            raise refuse("writing rows to a structured array that has fields other than numbers",
                         "Write field by field: a['x'][i] = ...", "TJ302")
        for part, new in zip(self.parts.values(), self._by_field(value), strict=True):
            more = with_more(keys, False, part.ndim - self.ndim)
            if isinstance(part, StructuredArray):
                part._put(more, new)
            elif not isinstance(part, Tracer) or not part.is_array:
                raise refuse("writing to a record that is an argument, or from outside",
                             "Pass an array, and write to a row of it", "TJ302")
            else:
                part[more] = new

    def _by_field(self, value: object) -> list[Any]:
        """Return what is written to each field, as it is before anything is written."""
        if isinstance(value, StructuredArray):
            if len(value.parts) < len(value.dtype.names or ()):
                raise refuse("copying records that have fields other than numbers",
                             "Copy field by field", "TJ302")
            found = [*value._now().parts.values()]
        elif isinstance(value, tuple):
            found = [x.own() if isinstance(x, Tracer) else x for x in value]
        elif isinstance(value, (list, str, bytes, dict, type(None), np.ndarray, np.void)):
            raise refuse(f"writing a {type(value).__name__} to rows of a structured array",
                         "Write a tuple for a row, or field by field: a['x'][:] = ...", "TJ302")
        else:
            number = lift(value)
            if np.ndim(number):
                raise refuse("writing an array without fields to rows of a structured array",
                             "Write field by field: a['x'][:] = ...", "TJ302")
            found = [number] * len(self.parts)
        if len(found) != len(self.parts):
            raise ValueError(f"could not assign tuple of length {len(found)} to structure with "
                             f"{len(self.parts)} fields.")
        return found

    def _now(self) -> StructuredArray:
        return self.like([x._now() if isinstance(x, StructuredArray) else x.own()
                          if isinstance(x, Tracer) else x for x in self.parts.values()])

    # --- attributes -------------------------------------------------------------------------------

    def on_attribute(self, name: str) -> Any:
        """Return an attribute as the program sees it."""
        if name == "__class__":
            return self.kind
        if name in _OWN and hasattr(self.kind, name):
            return _OWN[name](self)
        names_fields = self.kind is np.recarray or self.kind is np.record
        if hasattr(self.kind, name):
            raise refuse(f"the attribute {name!r} of a structured array cannot be captured",
                         "Use its fields: a['x'].sum(), say", "TJ302")
        if names_fields and name in (self.dtype.names or ()):
            return self._field(name)
        if self.kind is np.recarray:
            raise AttributeError(f"recarray has no attribute {name}")
        kind = "record" if self.kind is np.record else f"numpy.{self.kind.__name__}"
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    def on_set_attribute(self, name: str, value: object) -> None:
        """Carry out an assignment to an attribute, which of a recarray is one to a field."""
        if name in (self.dtype.names or ()) and not hasattr(self.kind, name) and (
                self.kind is np.recarray or self.kind is np.record):
            self[name] = value
            return
        raise refuse(f"assigning to the attribute {name!r} of a structured array",
                     "Write to its fields: a['x'] = ...", "TJ302")

    def copied(self) -> StructuredArray:
        """Return a copy: a field at a time."""
        return self.like([x.copied() if isinstance(x, StructuredArray) else FUNCTIONS[np.array](x)
                          for x in self.parts.values()])

    def viewed(self, dtype: object = None, type: object = None) -> StructuredArray:
        """Return `a.view(np.recarray)` or `a.view(np.ndarray)`."""
        kind = dtype if type is None else type
        if kind not in (np.recarray, np.ndarray) or self.is_row:
            raise refuse("a view of a structured array as something else",
                         "Use its fields: a['x']", "TJ302")
        new = np.dtype((np.record, self.dtype)) if kind is np.recarray else self.dtype
        return StructuredArray(np.recarray if kind is np.recarray else np.ndarray, new, self.ndim,
                      self.parts)

    def __len__(self) -> Any:
        if self.is_row:
            return len(self.dtype.names or ())
        if not self.dims:
            raise TypeError("len() of unsized object")
        return of_dim(self.dims[0])

    def __iter__(self) -> Iterator[Any]:
        if self.is_row:
            return iter([self._field(name) for name in self.dtype.names or ()])
        raise refuse("going through the rows of a structured array outside of a loop",
                     "Write a loop: for row in a", "TJ302")

    def _refused(self, *others: object) -> NoReturn:
        raise refuse("an operation on a structured array or record as a whole",
                     "Use its fields: a['x'] + b['x'], say", "TJ302")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refused
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refused
    __neg__ = __abs__ = __bool__ = __contains__ = __index__ = __float__ = __int__ = _refused
    __array__ = __array_ufunc__ = __array_function__ = __reduce__ = __str__ = __repr__ = _refused
    __hash__ = None  # type: ignore[assignment]


_OWN: dict[str, Callable[[StructuredArray], Any]] = {
    "dtype": lambda a: a.dtype, "ndim": lambda a: 0 if a.is_row else a.ndim,
    "shape": lambda a: python_dims(a.dims), "size": lambda a: of_dim(math.prod(a.dims)),
    "itemsize": lambda a: a.dtype.itemsize,
    "copy": lambda a: a.copied, "view": lambda a: a.viewed,
    "field": lambda a: a._field,
}
"""The attributes of arrays that the program may ask for."""
