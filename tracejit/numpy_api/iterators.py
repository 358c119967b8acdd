"""`np.nditer` and `np.broadcast` as loops: over the elements of arrays, and places to write to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.dims import Dim, product
from tracejit.numpy_api.elementwise import as_array
from tracejit.numpy_api.made import Made
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, captures
from tracejit.trace.ground.layouts import is_contiguous
from tracejit.trace.lists.iterables import place_of
from tracejit.trace.values.equations import broadcast_dims, same_dim
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.symbolic_ints import of_dim, python_dims
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []

_FLAGS = frozenset(("multi_index", "c_index", "refs_ok", "zerosize_ok"))
_OF_OPERANDS = frozenset(("readonly", "readwrite", "writeonly", "allocate", "no_broadcast"))
_BY_LOOP = "Write a loop over it: for x, y in np.nditer([a, b])"


class _ReadOnly(Tracer):
    """A view of an operand that an iterator only reads."""

    __slots__ = ()

    def __setitem__(self, key: object, content: object) -> None:
        raise ValueError("assignment destination is read-only")


class Iterator(Made):
    """An iterator over elements of operands, which a loop goes through; what it is at is known.

    operands -- arrays
    written  -- for each, whether it may be written to
    """

    has_captured_operators = True
    is_held = True

    def __init__(self, operands: Sequence[Tracer], written: Sequence[bool],
                 flags: Sequence[str] = (), scipys: str = "numpy.nditer") -> None:
        self.operands, self.written, self.flags = tuple(operands), tuple(written), tuple(flags)
        self.scipys = scipys
        self.dims = broadcast_dims([x.dims for x in operands])
        self.place: tuple[Any, ...] | None = None
        self.number: Any = None
        self.is_done = False
        """Whether a loop has gone through it, after which there is nothing left."""

    def counted_rows(self) -> tuple[Dim, Callable[[Any], Any]]:
        """Return the number of places, and how the elements at one are had, for a loop."""
        if self.is_done:
            raise refuse(f"a second loop over one {self.scipys}, which is at its end",
                         "Make another one for each loop", "TJ221")
        self.is_done = True
        return product(self.dims), self._at

    def _at(self, number: object) -> Any:
        self.number, self.place = number, place_of(number, self.dims)
        found = [self._element(x, can_write)
                 for x, can_write in zip(self.operands, self.written, strict=True)]
        return found[0] if len(found) == 1 and self.scipys == "numpy.nditer" else tuple(found)

    def _element(self, x: Tracer, can_write: bool) -> Any:
        assert self.place is not None
        own = self.place[len(self.place) - len(x.dims):]
        key = tuple(0 if d == 1 else k for k, d in zip(own, x.dims, strict=True))
        if self.scipys == "numpy.broadcast":
            return x[key]
        view = x[(*key, ...)]
        return view if can_write else _ReadOnly(view.cell, view.steps)

    def on_attribute(self, name: str) -> Any:
        """Return an attribute as the program sees it."""
        asked = {"multi_index": "multi_index", "index": "c_index"}.get(name)
        if asked is not None and asked in self.flags and self.place is not None:
            return self.place if name == "multi_index" else self.number
        plain: dict[str, Any] = {}
        if self.scipys == "numpy.broadcast":
            plain = {"numiter": len(self.operands), "size": of_dim(product(self.dims)),
                     "nd": len(self.dims)}
        else:
            plain = {"operands": self.operands, "nop": len(self.operands),
                     "itersize": of_dim(product(self.dims))}
        if self.scipys == "numpy.broadcast" or "multi_index" in self.flags:  # else axes are joined
            plain |= {"ndim": len(self.dims), "shape": python_dims(self.dims)}
        if name in plain:
            return plain[name]
        if name in ("__enter__", "__exit__", "close"):
            return getattr(self, name)
        raise refuse(f"`{name}` of {self.scipys} here cannot be captured", _BY_LOOP, "TJ221")

    def close(self) -> None:
        """End the iteration."""

    def __enter__(self) -> Iterator:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def _flags_of_operands(given: Sequence[Any] | None, count: int,
                       has_blank: Sequence[bool]) -> list[set[str]]:
    """Return the flags of each operand, as NumPy has them where they are left out."""
    if given is None:
        return [{"writeonly", "allocate"} if blank else {"readonly"} for blank in has_blank]
    if all(isinstance(flag, str) for flag in given):
        given = [given] * count
    found = [set(flags) for flags in given]
    if len(found) != count or any(flags - _OF_OPERANDS for flags in found):
        raise refuse("np.nditer with such op_flags= cannot be captured",
                     "Use readonly, readwrite and writeonly, and allocate for None", "TJ221")
    return found


def _require_order(operands: Sequence[Tracer], order: str) -> None:
    """Refuse to go through arrays as they lie in memory, unless they lie in the order of C."""
    for x in operands if order in ("K", "A") else ():
        asked: set[int] = set()
        if not is_contiguous(x, asked):
            raise refuse("np.nditer of an array that is not, or not known to be, in C order goes "
                         "through it as it lies in memory", 'Say order="C"', "TJ221")
        current().memory.rest_on_layouts(asked)


@captures(np.nditer)
def nditer(op: Any, flags: Any = None, op_flags: Any = None, op_dtypes: object = None,
           order: str = "K", casting: object = "safe", op_axes: object = None,
           itershape: object = None, buffersize: object = 0) -> Iterator:
    """Return an iterator over operands, of which a loop takes the elements."""
    items = list(op) if isinstance(op, (list, tuple)) else [op]
    if set(flags or ()) - _FLAGS or order not in ("C", "K", "A") or any(
            x is not None for x in (op_dtypes, op_axes, itershape)):
        raise refuse("np.nditer with such flags=, order= or op_axes= cannot be captured",
                     'Use flags=["multi_index"] or ["c_index"], and order="C"', "TJ221")
    blank = [x is None for x in items]
    kinds = _flags_of_operands(op_flags, len(items), blank)
    arrays = [None if x is None else as_array(x) for x in items]
    given = [x for x in arrays if x is not None]
    dims = broadcast_dims([x.dims for x in given])
    if "zerosize_ok" not in (flags or ()):
        _require_elements(dims)
    _require_order(given, order)
    dtype = np.result_type(*[x.dtype for x in given])
    operands = [FUNCTIONS[np.empty](python_dims(dims), dtype) if x is None else x for x in arrays]
    written = ["readonly" not in kind for kind in kinds]
    for x, can_write in zip(operands, written, strict=True):
        if can_write and not (len(x.dims) == len(dims) and all(map(same_dim, x.dims, dims))):
            raise refuse("np.nditer with an operand to write to that is broadcast",
                         "Make it as large as the others", "TJ221")
    return Iterator(operands, written, tuple(flags or ()))


def _require_elements(dims: tuple[Dim, ...]) -> None:
    message = "Iteration of zero-sized operands is not enabled"
    for d in dims:
        none = current().decide(d, "==", "whether there is anything to go through")
        if none is None:
            require(of_dim(d) > 0, ValueError, message)
        elif none:
            raise ValueError(message)


@captures(np.broadcast)
def broadcast(*arrays: object) -> Iterator:
    """Return the elements of arrays that are broadcast, as tuples."""
    found = [as_array(x) for x in arrays]
    return Iterator(found, [False] * len(found), scipys="numpy.broadcast")
