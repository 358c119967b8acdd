"""Numbers of several kinds: items of a list of which some are Python's and others NumPy's, say.

A list of which a size says how long it is stores its items in one array, and may get items of
another kind (`[0] * n` that gets floats). An item that is read is of one of the kinds, and nobody
knows of which. Operators whose results are the same for each of them go on; anything else that
would tell them apart makes the list again, item by item.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tracejit.trace.ground.dispatch import loop_dtypes
from tracejit.trace.values.tracer import SymInt, Tracer, scalar_of, tracer_of

__all__ = ["UNBOUNDED", "Kind", "Kinds", "Mixed", "combined", "is_mixed", "kinds_of",
           "number_of", "of_one_kind", "returned", "settled", "storage", "unbounded", "united"]

UNBOUNDED = -1


class Kind(NamedTuple):
    """What a number is: a dtype, whether it is Python's own, and how large it may be.

    bound -- none is larger; `UNBOUNDED` where nobody knows
    """

    dtype: np.dtype
    weak: bool
    bound: float = UNBOUNDED


Kinds = frozenset[Kind]


def of_one_kind(dtype: np.dtype, weak: bool) -> Kinds:
    """Return the kinds of numbers that are alike."""
    return frozenset({Kind(dtype, weak)})


def united(*several: Iterable[Kind]) -> Kinds:
    """Return kinds of which each dtype is in once, with the larger bound."""
    found: dict[tuple[np.dtype, bool], float] = {}
    for dtype, weak, bound in itertools.chain(*several):
        before = found.get((dtype, weak), 0)
        found[dtype, weak] = UNBOUNDED if UNBOUNDED in (before, bound) else max(before, bound)
    return frozenset(Kind(*key, bound) for key, bound in found.items())


def unbounded(kinds: Kinds) -> Kinds:
    """Return kinds of which nobody knows how large the numbers are."""
    return frozenset(k._replace(bound=UNBOUNDED) for k in kinds)


_EXACT = 2 ** 53
"""Every int up to it is a float64."""


def storage(kinds: Kinds) -> np.dtype | None:
    """Return the dtype in which numbers of these kinds keep their values; None if there is none."""
    if len(kinds) == 1:
        return next(iter(kinds)).dtype
    if any(k.dtype.kind not in "fc" and not (k.weak and 0 <= k.bound <= _EXACT) for k in kinds):
        return None
    dtype = np.result_type(*(k.dtype for k in kinds))
    return dtype if dtype in (np.float64, np.complex128) and all(
        k.dtype in (np.float64, np.complex128) or k.weak for k in kinds) else None


def kinds_of(x: object) -> Kinds:
    """Return of which kinds a number may be."""
    if isinstance(x, Mixed):
        return x.kinds
    if isinstance(x, Tracer):
        return of_one_kind(x.dtype, x.weak)
    if isinstance(x, SymInt):
        return of_one_kind(np.dtype(np.int64), True)
    if isinstance(x, (np.generic, np.ndarray)):
        return of_one_kind(x.dtype, False)
    bound = abs(x) if isinstance(x, int) or (isinstance(x, float) and abs(x) <= _EXACT) else (
        UNBOUNDED)
    return frozenset({Kind(np.dtype(type(x)), True, bound)})


def is_mixed(kinds: Kinds) -> bool:
    """Return whether numbers of these kinds are of more than one."""
    return len(kinds) > 1


class Mixed(Tracer):
    """A number of one of several kinds, which nobody may see before it is settled."""

    kinds: Kinds
    tell_apart: Callable[[], NoReturn]

    __slots__ = ("kinds", "tell_apart")

    def __init__(self, number: Tracer, kinds: Kinds, tell_apart: Callable[[], NoReturn]) -> None:
        super().__init__(number.cell, number.steps)
        self.kinds, self.tell_apart = kinds, tell_apart

    @property
    def value(self) -> Any:
        """Give the list up: something would see of which kind the number is."""
        self.tell_apart()

    @property
    def weak(self) -> bool:
        """Give the list up, unless all kinds are Python's."""
        return self.tell_apart()

    @weak.setter
    def weak(self, weak: bool) -> None:
        pass

    @property
    def dtype(self) -> np.dtype:
        """Give the list up."""
        self.tell_apart()

    @property
    def dims(self) -> tuple[()]:
        """Return that it has no axes."""
        return ()

    @property
    def number(self) -> Tracer:
        """Return the number, of the kind that its list is stored in."""
        return Tracer(self.cell, self.steps)


def number_of(x: object) -> Any:
    """Return a number of several kinds as one of the kind in which it is stored."""
    return x.number if isinstance(x, Mixed) else x


def settled(x: object) -> Any:
    """Return a number that a name holds: on several ways to it, it is what all of them join to."""
    if not isinstance(x, Mixed):
        return x
    return scalar_of(x.number.value, weak=all(k.weak for k in x.kinds))


def returned(x: object, of_any_kind: bool) -> Any:
    """Return a result: an int stays one, and a float is NumPy's where it may be.

    of_any_kind -- whether only the values count, as for a gradient
    """
    if isinstance(x, Mixed) and not of_any_kind and len({k.dtype for k in x.kinds}) > 1:
        x.tell_apart()
    return settled(x)


# --- operators ------------------------------------------------------------------------------------

_COMPARISONS = {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}
_DIVISIONS = {np.true_divide, np.floor_divide, np.remainder}
_OF_FUNCTIONS: dict[str, Any] = {"i": int, "f": float, "c": complex}
_OF_OPERATORS = {"b": int, **_OF_FUNCTIONS}
"""What Python's numbers promote as: bools are ints to operators, and bools to ufuncs."""


def combined(apply: Callable[..., Any], ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    """Return `apply(ufunc, *operands)` of operands of several kinds, or give up their list.

    apply -- carries out the operator, or NumPy's function, on numbers of one kind
    """
    is_operator = apply.__name__ == "apply_operator"
    first = next(x for x in operands if isinstance(x, Mixed))
    has_axes = any(isinstance(x, Tracer) and not isinstance(x, Mixed) and x.is_array
                   for x in operands)
    dtypes = set()
    results = []
    for combination in itertools.product(*(kinds_of(x) for x in operands)):
        found = _result(ufunc, combination, operands, is_operator)
        if found is None:
            first.tell_apart()
        dtypes.add(found[0])
        results.append(found[1])
    kinds = united(results)
    if len(dtypes) > 1 or (len(kinds) > 1 and (has_axes or not (
            ufunc in _COMPARISONS or storage(kinds) is not None))):
        first.tell_apart()
    weak = is_operator and all(k.weak for k in united(*map(kinds_of, operands)))
    result = apply(ufunc, *(_representative(x, weak) for x in operands))
    if len(kinds) == 1:
        (kind,) = kinds
        result.weak = kind.weak
        return result
    return Mixed(result, kinds, first.tell_apart)


def _representative(x: object, weak: bool) -> Any:
    """Return an operand as a number of one kind."""
    if isinstance(x, Mixed):
        return tracer_of(x.number.value, weak=weak)
    return x


def _result(ufunc: np.ufunc, kinds: tuple[Kind, ...], operands: tuple[object, ...],
            is_operator: bool) -> tuple[Any, Kind] | None:
    """Return in which dtypes operands of some kinds are computed, and the kind of the result."""
    weak = is_operator and all(k.weak for k in kinds)
    if weak and ufunc in _DIVISIONS and not _divides(operands[1]) and not all(
            k.weak for x in operands for k in kinds_of(x)):
        return None  # Python's numbers raise an error where NumPy's do not
    if ufunc is np.power and not _is_safe_power(kinds, operands):
        return None
    python = _OF_OPERATORS if is_operator else _OF_FUNCTIONS
    keys = tuple(python.get(k.dtype.kind, k.dtype) if k.weak else k.dtype for k in kinds)
    try:
        *dtypes, dtype = loop_dtypes(ufunc, keys)
    except TypeError:
        return None
    if any(t.kind not in "fc" for t in dtypes):
        bound = _bound(ufunc, kinds, operands)
        if bound is None:
            return None
        dtypes = [np.dtype(np.float64)] * len(dtypes)
        return tuple(dtypes), Kind(dtype, weak, bound)
    return tuple(dtypes), Kind(dtype, weak, UNBOUNDED)


def _divides(x: object) -> bool:
    return isinstance(x, (int, float)) and x != 0


def _is_safe_power(kinds: tuple[Kind, ...], operands: tuple[object, ...]) -> bool:
    """Return whether no power of Python's numbers raises an error, or is another one's."""
    exponent = operands[1]
    return type(exponent) in (int, float) and exponent in (1, 2, 3) and (
        not kinds[0].weak or 0 <= kinds[0].bound <= _EXACT)


def _bound(ufunc: Any, kinds: tuple[Kind, ...], operands: tuple[Any, ...]) -> float | None:
    """Return how large the result of ints is; None where floats may give another one."""
    if any(k.bound < 0 for k in kinds):
        return None
    if ufunc in _COMPARISONS:
        return 1
    a, b = (kinds[0].bound, kinds[-1].bound)
    literals = [x for x in operands if not isinstance(x, Mixed)]
    if any(x < 0 for x in literals) and ufunc is not np.add:
        return None  # of 0, where a float is -0.0
    bounds = {np.add: a + b, np.multiply: a * b, np.power: a ** b if b <= 3 else None,
              np.absolute: a, np.positive: a}
    if ufunc is np.multiply and len(literals) == 0 and a and b:
        return None
    found = bounds.get(ufunc)
    return found if found is not None and found <= _EXACT else None
