"""Exactly the same: one comparison of values by type, bits and order, which asks no user's `==`."""

from __future__ import annotations

import functools
import struct
import sys
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

__all__ = ["MADE_BY_PYTHON", "Itself", "copied", "is_compared_by_content", "is_unchanging", "same",
           "token"]

MADE_BY_PYTHON = 1 << 9
"""A flag of types: that a statement `class` made them."""


class Itself:
    """An object that is equal to itself alone; it is kept alive, so that its address is."""

    x: Any

    __slots__ = ("x",)

    def __init__(self, x: object) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.x is other.x

    def __hash__(self) -> int:
        return id(self.x)


def token(x: object) -> Any:
    """Return a hashable that two objects share if and only if they are exactly the same.

    Numbers, text and nests of them are so by type, bits and order; anything else by identity.
    """
    how = _how(type(x))
    if how is not None:
        return type(x), how(x)
    if isinstance(x, np.generic) and type(x).__module__ == "numpy" and not x.dtype.hasobject:
        return type(x), token(x.dtype), x.tobytes()
    if isinstance(x, np.dtype):
        return "dtype", str(x), x.byteorder, x.alignment, repr(x.metadata)
    return Itself(x)


def _how(kind: type) -> Callable[[Any], Any] | None:
    """Return how objects of a type are compared; None for types compared by identity."""
    how = _TOKENS.get(kind)
    name = (kind.__module__, kind.__qualname__)
    if how is None and name in _OTHERS and (
            getattr(sys.modules.get(name[0]), name[1], None) is kind):
        how = _TOKENS[kind] = _OTHERS[name]
    return how


def same(x: object, y: object) -> bool:
    """Return whether two objects are exactly the same."""
    return x is y or (type(x) is type(y) and token(x) == token(y))


def is_unchanging(x: Any) -> bool:
    """Return whether an object never changes, nor any object in it."""
    kind = type(x)
    if kind in (tuple, frozenset):
        return all(map(is_unchanging, x))
    if kind is slice:
        return all(map(is_unchanging, (x.start, x.stop, x.step)))
    return kind in _UNCHANGING or isinstance(x, (np.dtype, type)) or (
        isinstance(x, np.generic) and kind.__module__ == "numpy" and not x.dtype.hasobject) or (
        _how(kind) is not None and kind.__module__ in _MODULES)


def is_compared_by_content(x: object) -> bool:
    """Return whether an object is compared by content that may change."""
    return _how(type(x)) is not None and not is_unchanging(x)


def copied(x: object) -> Any:
    """Return a deep copy of one of Python's containers; other objects as they are."""
    how = _COPIES.get(type(x))
    return x if how is None else how(x)


def _copy_of_partial(x: functools.partial[object]) -> Any:
    made = functools.partial(x.func, *x.args, **x.keywords)
    vars(made).update(vars(x))
    return made


_COPIES: dict[type, Callable[[Any], Any]] = {
    list: lambda x: [*map(copied, x)], set: set.copy, bytearray: bytearray.copy,
    deque: lambda x: deque(map(copied, x), x.maxlen),
    dict: lambda x: {key: copied(item) for key, item in x.items()},
    functools.partial: _copy_of_partial,
}


def _itself(x: object) -> Any:
    return x


def _items(x: Iterable[object]) -> Any:
    return tuple([token(item) for item in x])


def _entries(x: Any) -> Any:
    return tuple([(token(key), token(item)) for key, item in x.items()])


def _complex(x: complex) -> bytes:
    return struct.pack("=dd", x.real, x.imag)


def _partial(x: functools.partial[object]) -> Any:
    return token(x.func), _items(x.args), _entries(x.keywords), _entries(vars(x))


def _bound(x: types.MethodType) -> Any:
    return Itself(x.__func__), Itself(x.__self__)


def _builtin(x: types.BuiltinFunctionType) -> Any:
    owner = x.__self__
    return x.__name__, token(owner) if is_unchanging(owner) else Itself(owner)


def _datetime(x: Any) -> Any:
    return repr(x.replace(tzinfo=None)), x.fold, token(x.tzinfo)


_TOKENS: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((bool, int, str, bytes), _itself),
    **dict.fromkeys((type(None), type(Ellipsis), type(NotImplemented)), lambda x: None),
    float: functools.partial(struct.pack, "=d"), complex: _complex,
    **dict.fromkeys((tuple, list, set, frozenset, deque), _items),
    dict: _entries, OrderedDict: lambda x: (_entries(x), _entries(vars(x))),
    bytearray: bytes,
    range: lambda x: (x.start, x.stop, x.step),
    slice: lambda x: (token(x.start), token(x.stop), token(x.step)),
    functools.partial: _partial,
    types.MethodType: _bound,
    **dict.fromkeys((types.BuiltinFunctionType, types.MethodWrapperType), _builtin),
}
"""By exact type, as a subclass may hold anything besides: the key that is compared of an object."""

_OTHERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("decimal", "Decimal"): lambda x: x.as_tuple(),
    ("fractions", "Fraction"): lambda x: (x.numerator, x.denominator),
    **dict.fromkeys((("datetime", "date"), ("datetime", "timedelta")), repr),
    **dict.fromkeys((("datetime", "datetime"), ("datetime", "time")), _datetime),
    **dict.fromkeys((("pathlib", "PosixPath"), ("pathlib", "WindowsPath"),
                     ("pathlib", "PurePosixPath"), ("pathlib", "PureWindowsPath")), str),
    ("uuid", "UUID"): lambda x: x.int,
    ("re", "Pattern"): lambda x: (token(x.pattern), x.flags),
}
"""The same for types that need not be imported, by module and name."""

_MODULES = {module for module, _ in _OTHERS}
_UNCHANGING = {
    bool, int, float, complex, str, bytes, range, type(None), type(Ellipsis), type(NotImplemented),
    types.FunctionType, types.BuiltinFunctionType, types.CodeType, np.ufunc,
}
