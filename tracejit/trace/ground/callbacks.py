"""Python functions that programs call while they run: what they are given, and what they return."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.tree import Structure, flatten, unflatten

__all__ = ["Callee", "keep_error", "raise_kept_error", "warned"]

_NUMBERS: dict[str, type] = {"float": float, "int": int, "complex": complex, "bool": bool}


class Callee:
    """A Python function with the nests of its arguments and results.

    function -- called with arrays and numbers as a plain program would call it
    call     -- the nest of positional arguments
    leaves   -- of the arguments: a kind ("array", "scalar", or a Python number's type) for each
                that a program computes, else a tuple with the object itself
    result   -- the nest of results
    kinds    -- of the results
    dtypes   -- of the results
    """

    function: Callable[..., Any]

    def __init__(self, function: Callable[..., object], call: Structure, leaves: Sequence[object],
                 result: Structure, kinds: Sequence[str], dtypes: Sequence[np.dtype]) -> None:
        self.function, self.call = function, call
        self.leaves: tuple[Any, ...] = tuple(leaves)
        self.is_flat = all(part.kind is None for part in call.parts)
        """Whether no argument is a nest."""
        self.result, self.kinds, self.dtypes = result, tuple(kinds), tuple(dtypes)

    @property
    def name(self) -> str:
        """Return the function's name, for messages."""
        return str(getattr(self.function, "__qualname__", type(self.function).__qualname__))

    def __str__(self) -> str:
        return self.name

    def given(self, operands: Sequence[object]) -> list[Any]:
        """Return the arguments for operands, which are arrays, also where they are numbers."""
        computed = iter(operands)
        leaves = [x[0] if isinstance(x, tuple) else _as_kind(next(computed), x)
                  for x in self.leaves]
        if self.is_flat:
            return leaves
        args: list[Any] = list(unflatten(self.call, leaves))
        return args

    def found(self, operands: Sequence[object],
              shapes: Sequence[tuple[int, ...] | None]) -> list[np.ndarray]:
        """Call the function and return its results as arrays of these shapes, or raise.

        shapes -- None where the result may have any
        """
        return self.checked(self.function(*self.given(operands)), shapes)

    def checked(self, result: object, shapes: Sequence[tuple[int, ...] | None]) -> list[np.ndarray]:
        """Return results as arrays; raise `TypeError` or `ValueError` where they are others."""
        if self.result.kind is None and isinstance(result, np.ndarray):
            return [self._checked(result, self.kinds[0], self.dtypes[0], shapes[0])]
        leaves, structure = flatten(result)
        if structure != self.result:
            raise TypeError(f"{self.name} returned {_nest(result)}, and its spec is another nest: "
                            f"{_count(self.result)}")
        return [self._checked(x, kind, dtype, shape) for x, kind, dtype, shape in zip(
            leaves, self.kinds, self.dtypes, shapes, strict=True)]

    def _checked(self, x: object, kind: str, dtype: np.dtype, shape: tuple[int, ...] | None) -> Any:
        if kind in _NUMBERS:
            if type(x) is not _NUMBERS[kind] and not (kind == "float" and isinstance(x, float)):
                raise TypeError(f"{self.name} returned {_described(x)}, and its spec is {kind}")
            return np.array(x, dtype)
        is_plain = type(x) in (float, int, complex, bool) and np.dtype(type(x)) == dtype
        if not is_plain and (not isinstance(x, (np.ndarray, np.generic))
                             or isinstance(x, np.ma.MaskedArray) or x.dtype != dtype):
            expected = "an array" if kind == "array" else "a number"
            raise TypeError(f"{self.name} returned {_described(x)}, and its spec is {expected} of "
                            f"{dtype}. Convert the result in the function, or change the spec")
        found = np.asarray(x, order="C")
        if shape is not None and found.shape != shape:
            raise ValueError(f"{self.name} returned an array of shape {found.shape}, and its spec "
                             f"has shape {shape}")
        return found


def _as_kind(x: object, kind: str) -> Any:
    if kind in _NUMBERS:
        return np.asarray(x).item()
    return np.asarray(x) if kind == "array" else np.asarray(x)[()]


def _described(x: object) -> str:
    if isinstance(x, np.ma.MaskedArray):
        return "a masked array"
    if isinstance(x, (np.ndarray, np.generic)):
        return f"{'an array' if np.ndim(x) else 'a number'} of {x.dtype}"
    return f"a {type(x).__name__}"


def _nest(x: object) -> str:
    return f"{len(x)} items" if isinstance(x, (tuple, list)) else f"a {type(x).__name__}"


def _count(structure: Structure) -> str:
    kind = structure.kind
    return "one array or number" if kind is None else f"a {kind.__name__} of {structure.count}"


class _Kept(threading.local):
    def __init__(self) -> None:
        self.error: BaseException | None = None


_KEPT = _Kept()


def keep_error(e: BaseException) -> None:
    """Keep an exception aside until the kernel has ended that called the function."""
    _KEPT.error = e


def raise_kept_error() -> None:
    """Raise the exception that was kept aside in this thread."""
    e, _KEPT.error = _KEPT.error, None
    assert e is not None
    raise e


def warned(good: bool, first: float, second: float, text: str) -> tuple[()]:
    """Warn where something is not good, in a text that has places for two numbers."""
    if not good:
        warnings.warn(text.format(first, second), RuntimeWarning, stacklevel=2)
    return ()
