"""Numbers of several kinds: items of a list of which some are Python's and others NumPy's, say.

A list of which a size says how long it is stores its items in one array, and may get items of
another kind (`[0] * n` that gets floats). An item that is read is of one of the kinds, and nobody
knows of which. Operators whose results are the same for each of them go on; any other operation
that would tell them apart makes the list again, item by item.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import loop_dtypes
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of

__all__ = ["UNBOUNDED", "Flag", "Kind", "Kinds", "Merged", "Mixed", "all_kinds_of", "are_ints",
           "as_index", "can_join", "combined", "is_mixed", "joint", "keys_of", "kinds_of",
           "merged", "number_of", "of_one_kind", "of_some_kinds", "one_of_kind", "returned",
           "settled", "storage", "unbounded", "united"]

UNBOUNDED = -1


Key = tuple[np.dtype, bool, bool]
"""A dtype, whether a number is Python's own, and whether it is an array without axes."""


class Kind(NamedTuple):
    """The kind of a number: its `Key`, and how large it may be.

    bound -- none is larger; `UNBOUNDED` where nobody knows
    """

    dtype: np.dtype
    weak: bool
    is_array: bool = False
    bound: float = UNBOUNDED

    @property
    def key(self) -> Key:
        """Return the kind without the bound."""
        return self[:3]


Kinds = frozenset[Kind]


def of_one_kind(dtype: np.dtype, weak: bool, is_array: bool = False) -> Kinds:
    """Return the kinds of numbers that are alike."""
    return frozenset({Kind(dtype, weak, is_array)})


def in_order(kinds: Kinds) -> list[Kind]:
    """Return kinds in an order that is the same in all processes: hashes of dtypes are not."""
    return sorted(kinds, key=str)


def united(*several: Iterable[Kind]) -> Kinds:
    """Return kinds of which each dtype is in once, with the larger bound."""
    found: dict[Key, float] = {}
    for kind in itertools.chain(*several):
        before = found.get(kind.key, 0)
        found[kind.key] = UNBOUNDED if UNBOUNDED in (before, kind.bound) else (
            max(before, kind.bound))
    return frozenset(Kind(*key, bound) for key, bound in found.items())


def unbounded(kinds: Kinds) -> Kinds:
    """Return kinds of which nobody knows how large the numbers are."""
    return frozenset(k._replace(bound=UNBOUNDED) for k in kinds)


_EXACT = 2 ** 53
"""Every int up to it is a float64."""


def storage(kinds: Kinds, ints: bool = False) -> np.dtype | None:
    """Return the dtype in which numbers of these kinds keep their values; None if there is none.

    ints -- whether Python's ints and NumPy's may be together, to be compared and used as indices
    """
    if len(kinds) == 1 or (ints and are_ints(kinds)):
        return next(iter(kinds)).dtype
    if any(k.dtype.kind not in "fc" and not (k.weak and 0 <= k.bound <= _EXACT) for k in kinds):
        return None
    dtype = np.result_type(*(k.dtype for k in kinds))
    return dtype if dtype in (np.float64, np.complex128) and all(
        k.dtype in (np.float64, np.complex128) or k.weak for k in kinds) else None


def are_ints(kinds: Iterable[Kind]) -> bool:
    """Return whether all numbers of some kinds are Python's ints or int64."""
    return all(k.dtype == np.int64 for k in kinds)


def as_index(x: object) -> object:
    """Return an int that may be Python's or NumPy's as one: as an index they are alike."""
    return x.number if isinstance(x, Mixed) and x.number.dtype == np.int64 else x


def kinds_of(x: object) -> Kinds:
    """Return of which kinds a number may be."""
    if isinstance(x, Mixed) and not isinstance(x, Merged):
        return x.kinds
    if isinstance(x, Tracer):
        return of_one_kind(x.dtype, x.weak)
    if isinstance(x, SymInt):
        return of_one_kind(np.dtype(np.int64), True)
    if isinstance(x, (np.generic, np.ndarray)):
        return of_one_kind(x.dtype, False)
    bound = abs(x) if isinstance(x, int) or (isinstance(x, float) and abs(x) <= _EXACT) else (
        UNBOUNDED)
    return frozenset({Kind(np.dtype(type(x)), True, bound=bound)})


def can_join(x: object, y: object) -> bool:
    """Return whether one number or array can hold what two may be, and no operation is another.

    Python's numbers and NumPy's of 64 bits join, floats of 32 bits and truth values among
    themselves: a `Merged` number knows of which kind it is. Arrays have to be of one dtype, and so
    have numbers of other dtypes, which have limits of their own.
    """
    dtypes = [number_of(v).dtype if isinstance(v, (Tracer, SymInt, np.generic, np.ndarray)) else
              np.dtype(type(v)) for v in (x, y)]
    if dtypes[0] == dtypes[1]:
        return True
    if any(isinstance(v, np.ndarray) or (isinstance(v, Tracer) and (
            v.is_array or v.cell.value.aval.ndim)) for v in (x, y)):
        return False
    return all(t.kind in "fc" or t == np.int64 for t in dtypes)


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
        """Give the list up: an equation would show the number's kind."""
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


class Flag(NamedTuple):
    """Which of two kinds a number is: this one where `holds()`, and the other one elsewhere."""

    key: Key
    holds: Callable[[], Any]


class Merged(Mixed):
    """A number that paths leave of several kinds: as one of the kind that all of them join to.

    flag -- which of two kinds it is; None where nobody knows
    """

    flag: Flag | None

    __slots__ = ("flag",)

    def __init__(self, number: Tracer, kinds: Kinds, tell_apart: Callable[[], NoReturn],
                 flag: Flag | None) -> None:
        super().__init__(number, kinds, tell_apart)
        self.flag = flag

    @property
    def value(self) -> Any:
        """Return the present value."""
        return self.number.value

    @property
    def weak(self) -> bool:
        """Return whether it is Python's own on all paths."""
        return all(k.weak for k in self.kinds)

    @weak.setter
    def weak(self, weak: bool) -> None:
        pass

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype that all kinds join to."""
        return self.number.dtype

    @property
    def may_be_array(self) -> bool:
        """Return whether it may be an array without axes, which is written to."""
        return any(k.is_array for k in self.kinds)

    def __hash__(self) -> int:
        if self.may_be_array:
            self.tell_apart()
        return super().__hash__()

    def as_int(self) -> Tracer:
        """Return it as the number of an item, or a size; refuse it where it may be no int."""
        if self.number.dtype != np.int64:
            self.tell_apart()
        return self.number

    def is_of(self, key: Key) -> Any:
        """Return whether it is of a kind, which the run may tell; refuse where nobody knows."""
        if self.flag is None:
            self.tell_apart()
        holds = self.flag.holds()
        if key == self.flag.key:
            return holds
        return not holds if isinstance(holds, bool) else np.logical_not(holds)


def keys_of(kinds: Iterable[Kind]) -> set[Key]:
    """Return kinds without the bounds."""
    return {k.key for k in kinds}


def all_kinds_of(x: Any) -> Kinds:
    """Return of which kinds a number may be, on whichever path, or an array without axes."""
    if isinstance(x, Mixed):
        return x.kinds
    if isinstance(x, np.ndarray) or (isinstance(x, Tracer) and x.is_array):
        return of_one_kind(x.dtype, False, True)
    return kinds_of(x)


def joint(kinds: Kinds) -> tuple[np.dtype, bool]:
    """Return the dtype that holds all numbers of some kinds, and whether all are Python's."""
    strong = [k.dtype for k in kinds if not k.weak]
    fits = np.result_type(*strong) if strong else None
    own = [k.dtype for k in kinds if k.weak and not _fits(k, fits)]
    return np.result_type(*strong, *own), not strong


def _fits(kind: Kind, dtype: np.dtype | None) -> bool:
    """Return whether a dtype of NumPy's numbers holds a Python number of a kind, bit by bit."""
    if dtype is None or kind.dtype.kind == "c":
        return False
    if dtype.kind in "fc" and np.finfo(dtype).nmant < 52:
        most = 2 << np.finfo(dtype).nmant
        return kind.bound == 0 or (kind.dtype.kind == "i" and 0 <= kind.bound <= most)
    if dtype.kind in "biu":
        return kind.dtype == dtype
    return True


def merged(number: Any, kinds: Kinds, flag: Flag | None = None) -> Any:
    """Return a number that is of one of some kinds, depending on data or on a loop's turn.

    One of the kinds may be an array without axes: then its cell is one that is written to.
    """
    if len(keys_of(kinds)) == 1 or (isinstance(number, Tracer) and number.dims):
        return number
    number = number if isinstance(number, Tracer) else ABOVE.cast(number, joint(kinds)[0])
    current().mixes = True
    if any(k.is_array for k in kinds):
        number.cell.is_array = True
    if number.dtype.kind in "fc" and any(
            k.bound > _EXACT and int(float(k.bound)) != k.bound for k in kinds):
        raise refuse("a large int that no float is, on one path, beside a float on another",
                     "Write it as a float on all paths", "TJ413")
    where, names = describe_line(find_site()), " or ".join(sorted(map(_name_of_kind, kinds)))

    def tell_apart() -> NoReturn:
        raise refuse(f"a number that {where} leaves is a {names}, depending on data, and this "
                     "tells them apart", "Give it one type on all paths: 0.0 in place of 0, say",
                     "TJ413")

    return Merged(number, kinds, tell_apart, flag)


def one_of_kind(x: Mixed, key: Key) -> Any:
    """Return a number as one of a kind that it may be of; the array itself where it is one."""
    dtype, weak, is_array = key
    if is_array:
        return x.number
    number = x.number if x.number.dtype == dtype else ABOVE.cast(x.number, dtype)
    return scalar_of(number.value, weak=weak)


def of_some_kinds(x: Merged, kinds: Kinds) -> Any:
    """Return a number of several kinds as one of some of them."""
    if len(keys_of(kinds)) == 1:
        return one_of_kind(x, next(iter(keys_of(kinds))))
    number = x.number if any(k.is_array for k in kinds) else tracer_of(x.number.value)
    return Merged(number, kinds, x.tell_apart, None)


def _name_of_kind(kind: Kind) -> str:
    if kind.is_array:
        return f"np.{kind.dtype.name} array without axes"
    plain = {"b": "bool", "i": "int", "f": "float", "c": "complex"}
    return plain[kind.dtype.kind] if kind.weak else f"np.{kind.dtype.name}"


def number_of(x: object) -> Any:
    """Return a number of several kinds as one of the kind in which it is stored."""
    return x.number if isinstance(x, Mixed) else x


def settled(x: object) -> Any:
    """Return a number that a name holds, as one of the kind that all of its kinds join to.

    It is none that is written to: of an array without axes it is the element.
    """
    if not isinstance(x, Mixed):
        return x
    return scalar_of(x.number.value, weak=all(k.weak for k in x.kinds))


def returned(x: object, of_any_kind: bool) -> Any:
    """Return a result: an int stays one, and a float is NumPy's where it may be.

    of_any_kind -- whether only the values count, as for a gradient
    """
    if isinstance(x, Mixed) and not isinstance(x, Merged) and not of_any_kind and (
            len({k.dtype for k in x.kinds}) > 1 or x.number.dtype.kind == "i"):
        x.tell_apart()
    return settled(x)


# --- operators ------------------------------------------------------------------------------------

_COMPARISONS = {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}
_DIVISIONS = {np.true_divide, np.floor_divide, np.remainder}
_SIGNED = {np.negative, np.multiply, np.floor_divide, np.remainder}
"""The operators that give -0.0 of some floats that are ints, and of the ints 0."""
_OF_BITS = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift,
            np.right_shift}
_ORDERS = {np.less, np.less_equal, np.greater, np.greater_equal}
_OF_SIZE = {np.power, np.left_shift, np.right_shift}
"""The operators of which Python's ints have no limits, or errors of their own."""
_OF_FUNCTIONS: dict[str, Any] = {"i": int, "f": float, "c": complex}
_OF_OPERATORS = {"b": int, **_OF_FUNCTIONS}
"""The types as which Python's numbers promote: bools are ints to operators, but not to ufuncs."""


def combined(apply: Callable[..., Any], ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    """Return `apply(ufunc, *operands)` of operands of several kinds, or give up their list.

    apply -- carries out the operator, or NumPy's function, on numbers of one kind
    """
    is_operator = apply.__name__ == "apply_operator"
    mixed = [x for x in operands if isinstance(x, Mixed)]
    of_paths = all(isinstance(x, Merged) for x in mixed)
    has_axes = any(isinstance(x, Tracer) and not isinstance(x, Mixed) and x.is_array
                   for x in operands)
    if is_operator:
        _require_divisors(ufunc, operands, mixed[0], of_paths)
    table = {}
    for combination in itertools.product(*(in_order(all_kinds_of(x)) for x in operands)):
        table[combination] = _result(ufunc, combination, operands, is_operator, of_paths)
    found = [entry for entry in table.values() if entry is not None]
    if len(found) < len(table) or len({dtypes for dtypes, _ in found}) > 1:
        return _for_each_kind(apply, ufunc, operands, mixed[0])
    kinds = united(kind for _, kind in found)
    if len(keys_of(kinds)) > 1 and (has_axes or not (
            ufunc in _COMPARISONS or of_paths or storage(kinds, ints=True) is not None)):
        return _for_each_kind(apply, ufunc, operands, mixed[0])
    weak = is_operator and (all(k.weak for k in united(*map(all_kinds_of, operands))) or (
        of_paths and _holds_ints(operands) and any(k.weak for k in kinds)))  # it may be too large
    result = apply(ufunc, *(_representative(x, weak, t) for x, t in zip(
        operands, found[0][0], strict=False)))
    if len(keys_of(kinds)) == 1:
        if isinstance(result, Tracer):
            (result.weak,) = {k.weak for k in kinds}
        return result
    if of_paths:
        flag = _flag_of_result(operands, table)
        return merged(_without_sign(ufunc, result, kinds, flag), kinds, flag)
    return Mixed(result, kinds, mixed[0].tell_apart)


def _for_each_kind(apply: Callable[..., object], ufunc: np.ufunc, operands: Sequence[object],
                   mixed: Mixed) -> Any:
    """Return the result of an operator in a branch for each kind of an operand; else refuse."""
    if not isinstance(mixed, Merged) or mixed.flag is None:
        mixed.tell_apart()
    return ABOVE.for_each_kind(mixed, lambda y: apply(ufunc, *(
        y if x is mixed else x for x in operands)))


def _holds_ints(operands: Sequence[object]) -> bool:
    """Return whether all operands that paths leave of several kinds are ints, or truth values."""
    return all(x.dtype.kind in "bi" for x in operands if isinstance(x, Merged))


def _require_divisors(ufunc: np.ufunc, operands: tuple[object, ...], mixed: Mixed,
                      of_paths: bool) -> None:
    """Let the run raise Python's error of a division by 0, where the kinds make it Python's."""
    if ufunc in _DIVISIONS and of_paths:
        _require_divisor(operands)
    elif ufunc in _DIVISIONS:
        _require_any_divisor(operands[1], mixed, [all_kinds_of(x) for x in operands])
    elif of_paths and ufunc is np.power and _is_negative(operands[1]):
        _require_divisor((1.0, operands[0]), "0.0 cannot be raised to a negative power")


def _without_sign(ufunc: Any, result: Any, kinds: Kinds, flag: Flag | None) -> Any:
    """Return a result whose zeros have no sign where the run knows it to be an int."""
    ints = [key for key in keys_of(kinds) if key[0].kind in "bi"]
    if ufunc not in _SIGNED or flag is None or len(ints) != 1:
        return result
    holds = flag.holds()
    is_int = holds if ints[0] == flag.key else np.logical_not(holds)
    return tracer_of(ABOVE.cast(np.where(is_int, tracer_of(result.value) + 0.0, tracer_of(
        result.value)), result.dtype).value, weak=result.weak)


def _flag_of_result(operands: Sequence[Any], table: Mapping[tuple[Kind, ...], Any]) -> Flag | None:
    """Return which kind a result is of, where one kind comes of one combination alone."""
    keys = {tuple(k.key for k in combination): kind.key
            for combination, (_, kind) in table.items()}
    alone = [(c, key) for c, key in keys.items() if list(keys.values()).count(key) == 1]
    known = all(x.flag is not None for x in operands if isinstance(x, Merged))
    if not alone or not known or len(set(keys.values())) > 2:
        return None
    combination, key = alone[0]

    def holds() -> Any:
        flags = [x.is_of(k) for x, k in zip(operands, combination, strict=True)
                 if isinstance(x, Merged)]
        return functools.reduce(np.logical_and, flags)

    return Flag(key, holds)


def _require_divisor(operands: tuple[Any, ...], message: str = "division by zero") -> None:
    """Require that a divisor is not zero where Python's numbers meet, as far as the run knows."""
    weak = [{k.weak for k in all_kinds_of(x)} for x in operands]
    if _divides(operands[1]) or {False} in weak or weak == [{True}, {True}]:
        return
    free: Any = operands[1] != 0 if not isinstance(operands[1], Mixed) else (
        Tracer(operands[1].cell) != 0)
    if any(k != {True} and x.flag is None for x, k in zip(operands, weak, strict=True)):
        ABOVE.require_ours(free, ZeroDivisionError, f"{message}, of which data decides whether "
                           "it is Python's: give the number one type on all paths")
        return
    for x, kinds in zip(operands, weak, strict=True):
        if kinds == {True}:
            continue
        for key in dict.fromkeys(k.key for k in in_order(x.kinds)):
            if not key[1]:
                free = np.logical_or(free, x.is_of(key))
    ABOVE.require(free, ZeroDivisionError, message)


def _require_any_divisor(divisor: object, mixed: Mixed, kinds: Sequence[Kinds]) -> None:
    """Require that a divisor is not zero where the numbers may be Python's, or may be NumPy's.

    A zero is an error in Python, and infinity in NumPy. A list that can be made item by item is; in
    a list whose length data decides nobody knows the kind, so that a zero is an error.
    """
    if _divides(divisor) or any(all(not k.weak for k in ks) for ks in kinds) or all(
            k.weak for ks in kinds for k in ks):
        return
    number = number_of(divisor)
    run = getattr(mixed.tell_apart, "__self__", None)
    if not isinstance(number, (Tracer, SymInt)) or run is None or not run.has_length_by_data:
        mixed.tell_apart()
    ABOVE.require(number != 0, ZeroDivisionError, "division by zero")


def _representative(x: Any, weak: bool, dtype: np.dtype) -> Any:
    """Return an operand as a number of one kind."""
    if isinstance(x, Merged) and x.dtype != dtype and dtype.kind in "fc":
        return ABOVE.cast(x.number, dtype)
    if isinstance(x, Mixed):
        return tracer_of(x.number.value, weak=weak)
    return x


def _result(ufunc: Any, kinds: tuple[Kind, ...], operands: tuple[Any, ...],
            is_operator: bool, of_paths: bool) -> tuple[Any, Kind] | None:
    """Return in which dtypes operands of some kinds are computed, and the kind of the result."""
    weak = is_operator and all(k.weak for k in kinds)
    if weak and ufunc in _ORDERS and any(k.dtype.kind == "c" for k in kinds):
        return None  # Python has no order of complex numbers
    if ufunc is np.power and not _is_safe_power(kinds, operands, of_paths):
        return None
    python = _OF_OPERATORS if is_operator else _OF_FUNCTIONS
    if ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor) and is_operator:
        python = _OF_FUNCTIONS  # True & False is a bool in Python
    keys = tuple(python.get(k.dtype.kind, k.dtype) if k.weak else k.dtype for k in kinds)
    if ufunc is np.power and kinds[0].weak and keys == (int, int) and _is_negative(operands[1]):
        keys = (float, float)
    try:
        *dtypes, dtype = loop_dtypes(ufunc, keys)
    except TypeError:
        return None
    if ufunc is np.power and dtype.kind in "iu" and not kinds[0].weak and not (
            type(operands[1]) is int and operands[1] >= 0):
        return None  # NumPy raises an error for ints to negative powers
    if of_paths and _holds_ints(operands):
        if weak and (ufunc in _OF_SIZE or (dtype.kind == "i" and dtype != np.int64)):
            return None
        return tuple(dtypes), Kind(dtype, weak)
    only_ints = are_ints(united(*map(all_kinds_of, operands)))
    if ufunc in _COMPARISONS and only_ints:
        return tuple(dtypes), Kind(dtype, weak, bound=1)
    if any(t.kind not in "fc" for t in dtypes):
        bound = _bound(ufunc, kinds, operands)
        if bound is None and not of_paths and ufunc not in _OF_BITS and only_ints:
            return tuple(dtypes), Kind(dtype, weak)
        if bound is None and not (of_paths and all(t.kind in "bi" for t in dtypes)
                                  and ufunc not in _OF_BITS):
            return None
        dtypes = [np.dtype(np.float64)] * len(dtypes)
        return tuple(dtypes), Kind(dtype, weak, bound=UNBOUNDED if bound is None else bound)
    return tuple(dtypes), Kind(dtype, weak)


def _divides(x: object) -> bool:
    return isinstance(x, (int, float)) and x != 0


def _is_negative(x: Any) -> bool:
    return type(x) in (int, float) and x < 0


def _is_safe_power(kinds: tuple[Kind, ...], operands: tuple[Any, ...], of_paths: bool) -> bool:
    """Return whether no power of Python's numbers raises an error, or is another one's."""
    exponent = operands[1]
    if of_paths and (type(exponent) in (int, float) or not (
            kinds[0].weak and kinds[0].dtype.kind in "bi")):
        return True
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
