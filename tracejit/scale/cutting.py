"""Arguments that are split: arrays cut along their first axis, or lists of chunks as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

__all__ = ["DaskBlock", "Cut", "cut", "digest_of", "identity_of"]

PIECES = 64
"""Into how many pieces an array is cut, unless these would have few rows."""
ROWS = 4096
"""The fewest rows of a piece."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What the arguments that are split were cut into.

    chunks     -- per chunk its parts: arrays, functions that make them, or what an engine holds
    is_by_rows -- whether rows may be in any chunk, as arrays were cut, and not given in pieces
    """

    chunks: list[tuple[Any, ...]]
    is_by_rows: bool

    def digests(self) -> tuple[object, ...]:
        """Return digests of the arrays that somebody may write to, in order."""
        return tuple(digest_of(x) if isinstance(x, np.ndarray) and _is_writeable(x) else None
                     for chunk in self.chunks for x in chunk)


def cut(arguments: Sequence[object], names: Sequence[str], rows: int | None) -> Cut:
    """Return the chunks of some arguments.

    rows -- of a piece of a NumPy array; None for a number that its length decides
    """
    given: list[Any] = [_opened(x, name) for x, name in zip(arguments, names, strict=True)]
    whole = [isinstance(x, np.ndarray) for x in given]
    lists = [x for x, is_whole in zip(given, whole, strict=True) if not is_whole]
    lengths = {len(x) for x in given if isinstance(x, np.ndarray)}
    if len(lengths) > 1:
        raise ValueError(f"{', '.join(names)} have different numbers of rows: {sorted(lengths)}")
    if lists and lengths:
        bounds = _bounds_of(lists[0], lengths.pop(), names)
    elif lengths:
        bounds = _bounds(lengths.pop(), rows)
    columns = [[x[a:b] for a, b in pairwise(bounds)] if is_whole else list(x)
               for x, is_whole in zip(given, whole, strict=True)]
    counts = {len(c) for c in columns}
    if len(counts) != 1:
        raise ValueError(f"{', '.join(names)} have different numbers of chunks: {sorted(counts)}")
    if counts == {0}:
        raise ValueError(f"{', '.join(names)}: there are no chunks")
    by_rows = any(whole) or any(_is_dask_array(x) for x in arguments)
    return Cut(list(zip(*columns, strict=True)), by_rows)


def _bounds(length: int, rows: int | None) -> list[int]:
    rows = rows or max(ROWS, -(-length // PIECES))
    return [*range(0, length, rows), length] if length else [0, 0]


def _bounds_of(pieces: Sequence[Any], length: int, names: Sequence[str]) -> list[int]:
    """Return where pieces of which the lengths are known begin and end."""
    lengths = [x.rows if isinstance(x, DaskBlock) else len(x) if isinstance(x, np.ndarray) else None
               for x in pieces]
    known = [n for n in lengths if n is not None]
    if len(known) < len(lengths) or sum(known) != length:
        raise ValueError(f"{', '.join(names)}: an array is cut as the chunks of the other "
                         "arguments are, and these have other lengths, or none that is known")
    return [0, *accumulate(known)]


@dataclass(frozen=True, slots=True)
class DaskBlock:
    """A chunk of a Dask array, and its number of rows; None if it is not known."""

    delayed: Any
    rows: int | None


def _opened(x: Any, name: str) -> Any:
    """Return an argument as an array with rows, or a list of chunks."""
    if _is_dask_array(x):
        if x.ndim == 0:
            raise ValueError(f"{name} has no axis to be split along")
        x = x.rechunk(dict.fromkeys(range(1, x.ndim), -1)) if any(
            n > 1 for n in x.numblocks[1:]) else x
        blocks = x.to_delayed().ravel()
        return [DaskBlock(b, None if np.isnan(n) else int(n))
                for b, n in zip(blocks, x.chunks[0], strict=True)]
    if isinstance(x, np.ndarray):
        if x.ndim == 0:
            raise ValueError(f"{name} has no axis to be split along")
        return x
    if isinstance(x, (list, tuple)):
        return x
    raise TypeError(f"{name} is a {type(x).__name__}. Pass a Dask array, a NumPy array, or a list "
                    "of arrays, futures, delayed objects or functions that make arrays")


def _is_dask_array(x: object) -> bool:
    return hasattr(x, "__dask_graph__") and hasattr(x, "numblocks")


def identity_of(x: Any) -> Any:
    """Return the key by which an argument that is split is known while it is alive."""
    if isinstance(x, np.ndarray):
        return x.__array_interface__["data"][0], x.shape, x.strides, x.dtype.str
    if isinstance(x, (list, tuple)):
        return tuple(map(identity_of, x))
    return id(x), x.name if _is_dask_array(x) else None  # x[0] = 1 gives it another name


# --- arrays that somebody writes to --------------------------------------------------------------


def _is_writeable(x: np.ndarray) -> bool:
    """Return whether somebody could write to an array's memory by a name that leads here."""
    held: Any = x
    while isinstance(held, np.ndarray):
        if held.flags.writeable:
            return True
        held = held.base
    return held is not None and not isinstance(held, bytes)


def digest_of(x: np.ndarray) -> bytes:
    """Return a digest for which an array is read once: of sums by columns and by rows of words.

    It tells any one change, and any exchange of elements, from none; it is no protection against
    somebody who looks for two arrays of one digest.
    """
    held = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
    found = hashlib.blake2b(repr((x.shape, x.dtype.str)).encode(), digest_size=16)
    whole = len(held) // 32768 * 32768
    words = held[:whole].view(np.uint64).reshape(-1, 4096)
    found.update(words.sum(axis=0, dtype=np.uint64).tobytes())
    found.update(words.sum(axis=1, dtype=np.uint64).tobytes())
    found.update(held[whole:].tobytes())
    return found.digest()
