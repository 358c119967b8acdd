"""Functions of Python's library, written in Python: captured like users' functions.

`heapq` and `bisect` are the algorithms of CPython, so that a list is in the same order after each
call; `sorted`, `min` and `max` have a key here, or items that are tuples. Each begins by having the
items of a list in one run, so that data may say which item is read or written.
"""

from __future__ import annotations

import bisect
import cmath
import heapq
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tracejit.trace.lists.orders import (
    are_few_things,
    are_numbers,
    indexable,
    is_known,
    orderable,
    readable,
    require_order,
    sort_columns,
)
from tracejit.trace.python.comparing import order_by_comparing
from tracejit.trace.python.itertools_in_python import ENDLESS
from tracejit.trace.python.numbers_in_python import OF_NUMBERS

__all__ = ["LIBRARY", "extreme_by_comparing", "extreme_by_key", "extreme_by_keys",
           "extreme_of_array", "sorted_by_key", "sorted_by_keys", "take_out"]


# --- heapq ----------------------------------------------------------------------------------------


def _heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    indexable(heap)
    _sift_down(heap, 0, len(heap) - 1)


def _heappop(heap: Any) -> Any:
    indexable(heap)
    last = heap.pop()
    if heap:
        first = heap[0]
        heap[0] = last
        _sift_up(heap, 0)
        last = first
    return last


def _heapreplace(heap: Any, item: Any) -> Any:
    indexable(heap)
    first = heap[0]
    heap[0] = item
    _sift_up(heap, 0)
    return first


def _heappushpop(heap: Any, item: Any) -> Any:
    indexable(heap)
    if heap and heap[0] < item:
        first = heap[0]
        heap[0] = item
        _sift_up(heap, 0)
        item = first
    return item


def _heapify(heap: Any) -> None:
    indexable(heap)
    k = len(heap) // 2 - 1
    while k >= 0:
        _sift_up(heap, k)
        k = k - 1


def _sift_down(heap: Any, start: Any, place: Any) -> None:
    item = heap[place]
    while place > start:
        above = (place - 1) >> 1
        other = heap[above]
        if not item < other:
            break
        heap[place] = other
        place = above
    heap[place] = item


def _sift_up(heap: Any, place: Any) -> None:
    end, start = len(heap), place
    item = heap[place]
    child = 2 * place + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _sift_down(heap, start, place)


def _nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted_by_key(iterable, key, False)[:max(n, 0)]


def _nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted_by_key(iterable, key, True)[:max(n, 0)]


# --- lists ----------------------------------------------------------------------------------------


def take_out(xs: list[object], place: int) -> None:
    """Take the item at a place out of a list."""
    if is_known(place):
        del xs[place]
        return
    for k in range(len(xs) - 1):
        if k >= place:
            xs[k] = xs[k + 1]
    xs.pop()


# --- bisect ---------------------------------------------------------------------------------------


def _bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    a = orderable(a)
    while lo < hi:
        middle = (lo + hi) // 2
        y = a[middle] if key is None else key(a[middle])
        if y < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def _bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    a = orderable(a)
    while lo < hi:
        middle = (lo + hi) // 2
        y = a[middle] if key is None else key(a[middle])
        if x < y:
            hi = middle
        else:
            lo = middle + 1
    return lo


def _insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    indexable(a)
    y = x if key is None else key(x)
    a.insert(_bisect_left(a, y, lo, hi, key=key), x)


def _insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    indexable(a)
    y = x if key is None else key(x)
    a.insert(_bisect_right(a, y, lo, hi, key=key), x)


# --- order by a key -------------------------------------------------------------------------------


def sorted_by_key(xs: Any, key: Any = None, reverse: Any = False) -> Any:
    """Return `sorted(xs, key=key, reverse=reverse)`."""
    items = list(xs)
    return sorted_by_keys(items, items if key is None else _keys_of(items, key), reverse)


def sorted_by_keys(items: Any, keys: Any, reverse: Any) -> Any:
    """Return items in the order of their keys; items of equal keys stay in order."""
    items = orderable(items)
    if are_few_things(items):
        return _sorted_by_exchanges(items, keys, reverse)
    if reverse:
        items, keys = items[::-1], keys[::-1]
    keys = readable(keys)
    found = []
    for k in sort_columns(keys) if are_numbers(keys) else order_by_comparing(keys):
        found.append(items[k])
    return found[::-1] if reverse else found


def _sorted_by_exchanges(items: list[object], keys: Any, reverse: bool) -> list[object]:
    """Return the items in order; each goes down the list while its key is the smaller one."""
    require_order(keys)
    keys = list(keys)
    for end in range(1, len(items)):
        for k in range(end, 0, -1):
            if keys[k] > keys[k - 1] if reverse else keys[k] < keys[k - 1]:
                items[k - 1], items[k] = items[k], items[k - 1]
                keys[k - 1], keys[k] = keys[k], keys[k - 1]
    return items


def extreme_by_key(what: str, largest: bool, xs: Any, key: Any, *default: object) -> Any:
    """Return the first of the largest or smallest items, by a key."""
    items = list(xs)
    if not items:
        if default:
            return default[0]
        raise ValueError(what)
    return extreme_by_keys(largest, items, items if key is None else _keys_of(items, key))


def _keys_of(items: Iterable[object], key: Callable[..., object]) -> list[object]:
    keys = []
    for x in items:
        keys.append(key(x))
    return keys


def extreme_by_keys(largest: bool, items: list[object], keys: Any) -> object:
    """Return the first of the largest or smallest items, of which there are some, by their keys."""
    items, keys = orderable(items), orderable(keys)
    best, best_key = items[0], keys[0]
    for k in range(1, len(items)):
        if keys[k] > best_key if largest else keys[k] < best_key:
            best, best_key = items[k], keys[k]
    return best


def extreme_by_comparing(largest: bool, items: list[Any]) -> object:
    """Return the first of the largest or smallest items, compared by methods of their own."""
    best = items[0]
    for k in range(1, len(items)):
        if items[k] > best if largest else items[k] < best:
            best = items[k]
    return best


def extreme_of_array(what: str, largest: bool, xs: np.ndarray, *default: object) -> Any:
    """Return the largest or smallest number of an array, as comparisons one by one find it.

    It is the first of equal ones, as zeros of either sign are. No comparison with a NaN is true: it
    is the result where it comes first.
    """
    if len(xs) == 0:
        if default:
            return default[0]
        raise ValueError(what)
    if xs.dtype.kind != "f":
        return np.max(xs) if largest else np.min(xs)
    if largest:
        place = np.argmax(np.where(xs == xs, xs, -np.inf))
    else:
        place = np.argmin(np.where(xs == xs, xs, np.inf))
    return xs[np.where(xs[0] == xs[0], place, 0)]


# --- math -----------------------------------------------------------------------------------------


def _isclose(a: float, b: float, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    return _are_close(a, b, rel_tol, abs_tol, math.isinf)


def _complex_isclose(a: complex, b: complex, *, rel_tol: float = 1e-09,
                     abs_tol: float = 0.0) -> bool:
    return _are_close(a, b, rel_tol, abs_tol, cmath.isinf)


def _are_close(a: complex, b: complex, rel_tol: float, abs_tol: float,
               isinf: Callable[..., bool]) -> bool:
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if isinf(a) or isinf(b):
        return False
    apart = abs(b - a)
    return bool(apart <= abs(rel_tol * b) or apart <= abs(rel_tol * a) or apart <= abs_tol)


LIBRARY: dict[Any, Any] = {
    **OF_NUMBERS, **ENDLESS, math.isclose: _isclose, cmath.isclose: _complex_isclose,
    heapq.heappush: _heappush, heapq.heappop: _heappop, heapq.heapify: _heapify,
    heapq.heapreplace: _heapreplace, heapq.heappushpop: _heappushpop,
    heapq.nsmallest: _nsmallest, heapq.nlargest: _nlargest,
    bisect.bisect_left: _bisect_left, bisect.bisect_right: _bisect_right,
    bisect.insort_left: _insort_left, bisect.insort_right: _insort_right}
"""The captured replacements; `bisect` is `bisect_right`, and `insort` is `insort_right`."""
