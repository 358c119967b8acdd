"""Python's builtins on traced values: what each does in their place, as a table for calls."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable, Iterator
from types import UnionType
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import maximum, minimum
from tracejit.trace.containers.places import MaybeUnset
from tracejit.trace.containers.runs import Run, as_array_operand, has_runs, size_of
from tracejit.trace.containers.stand_ins import StandIn, note_use
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, METHODS
from tracejit.trace.lists import list_runs
from tracejit.trace.lists.iterables import (
    Iterated,
    TracedIterable,
    as_now,
    counted,
    make_enumerate,
    make_ndenumerate,
    make_ndindex,
    make_range,
    make_reversed,
    make_zip,
)
from tracejit.trace.lists.rows import Rows
from tracejit.trace.python import list_functions, list_making
from tracejit.trace.python.attributes import (
    attribute_of_traced,
    delete_attribute,
    read_attribute,
    set_attribute,
)
from tracejit.trace.python.builtin_calls import BUILTINS, call_natively
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.comparisons import compare
from tracejit.trace.python.identity import id_of
from tracejit.trace.python.iterating import iterate
from tracejit.trace.python.kinds_of_values import holds_traced, type_of
from tracejit.trace.python.library import (
    extreme_by_key,
    extreme_by_keys,
    sorted_by_key,
    sorted_by_keys,
)
from tracejit.trace.python.operations import binary, unary
from tracejit.trace.python.special_methods import special_method
from tracejit.trace.python.truths import any_of, truth
from tracejit.trace.regions.branches import as_condition
from tracejit.trace.regions.draws import drawing_nothing
from tracejit.trace.state.changes import (
    is_iterator,
    note_made,
    note_new,
    read_deeply,
    read_unseen,
    unseen,
)
from tracejit.trace.state.running import watched
from tracejit.trace.values.equations import apply_operator, cast, is_weak
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.mixed import (
    Flag,
    Merged,
    Mixed,
    all_kinds_of,
    keys_of,
    kinds_of,
    merged,
    number_of,
    one_of_kind,
    storage,
    united,
)
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import python_int, require, rounded, strong
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.text import settle, write
from tracejit.trace.values.tracer import Tracer, tracer_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__: list[str] = []


def _length(x: Any) -> Any:
    if isinstance(x, Tracer):
        if not x.dims:
            raise TypeError("len() of unsized object")
        return of_dim(x.dims[0])
    if isinstance(x, SymInt):
        raise TypeError("object of type 'int' has no len()")
    if isinstance(x, TracedIterable):
        return of_dim(x.count)
    if has_runs(x):
        return size_of(x)
    note_use(x)
    if hasattr(type(x), "as_result") and not isinstance(x, StandIn) and not isinstance(x, str):
        return x.shape[0]
    method = special_method(x, "__len__")
    if method is not None:
        return method(x)
    read_unseen(x)
    return len(x)


def _fold(ufunc: Any, plain: Callable[..., object]) -> Callable[..., Any]:
    """`max(a, b)` and `max(array)`; the first of several equal ones wins, as in Python."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1:
            items = (_items if kwargs.get("key") is None else _items_in_turn)(args[0])
            if kwargs.get("key") is not None or has_runs(items) or _holds_rows(items):
                if kwargs or _holds_rows(items):
                    return _extreme_by_key(ufunc, plain, items, **kwargs)
                return list_functions.extreme(items, ufunc, lambda x, y: _weak_pair(ufunc, x, y))
            args = (tuple(items) if is_iterator(items) else items,)
        if kwargs.get("key") is not None or (len(args) > 1 and _holds_rows(args)):
            return _extreme_by_key(ufunc, plain, args, **kwargs)
        if not any(map(holds_traced, args)):
            return call_natively(plain, args, kwargs)
        if len(args) == 1:
            if isinstance(args[0], Tracer) and args[0].ndim == 1:
                return FUNCTIONS[np.max if ufunc is np.maximum else np.min](args[0])
            args = tuple(args[0])
        result = args[0]
        for x in args[1:]:
            result = _weak_pair(ufunc, result, x)
        return result

    return function


def _holds_rows(xs: object) -> bool:
    """Return whether a list has tuples with traced numbers in them."""
    return isinstance(xs, (list, tuple)) and any(
        isinstance(x, Rows) or (isinstance(x, tuple) and holds_traced(x)) for x in xs)


def _extreme_by_key(ufunc: np.ufunc, plain: Callable[..., object], items: Any, *, key: Any = None,
                    **default: object) -> Any:
    """Return the largest or smallest item by a key: Python's own where no key is traced."""
    items = tuple(items) if is_iterator(items) else items
    largest = ufunc is np.maximum
    if isinstance(items, (list, tuple, range)) and not has_runs(items) and key is not None:
        keys = [call_function(key, (x,), {}) for x in items]
        if any(map(holds_traced, keys)):
            return call_function(extreme_by_keys, (largest, items, keys), {})
        read_deeply(keys)
        places = range(len(keys))
        found = call_natively(plain, (places,), {"key": keys.__getitem__, "default": None})
        return items[found] if keys else call_natively(plain, (items,), default)
    return call_function(extreme_by_key, (f"{plain.__name__}() arg is an empty sequence", largest,
                                          items, key, *default.values()), {})


def _weak_pair(ufunc: np.ufunc, x: Any, y: Any) -> Any:
    if all(isinstance(v, (int, SymInt)) and not isinstance(v, bool) for v in (x, y)):
        fn = maximum if ufunc is np.maximum else minimum
        left, right = (v.dim if isinstance(v, SymInt) else v for v in (x, y))
        return of_dim(fn(left, right, current().builder.known))
    if any(isinstance(v, (list, tuple)) for v in (x, y)):
        raise refuse("the largest of lists or tuples of numbers that only the run knows",
                     "Compare numbers of theirs in an `if`")
    if any(isinstance(v, Tracer) and v.dims for v in (x, y)):
        raise ValueError("The truth value of an array with more than one element is ambiguous. "
                         "Use np.maximum or np.minimum")
    if any(isinstance(v, Mixed) and not isinstance(v, Merged) for v in (x, y)):
        return _mixed_pair(ufunc, x, y)
    compare = np.greater if ufunc is np.maximum else np.less
    if not (is_weak(x) and is_weak(y)):
        result = apply_operator(ufunc, number_of(x), number_of(y))
        if any(isinstance(v, (Tracer, np.ndarray)) and (v.ndim or getattr(v, "is_array", True))
               for v in (x, y)):
            return result
        return _of_either_kind(result, x, lambda: np.logical_not(apply_operator(
            compare, number_of(y), number_of(x))), y)
    other = as_condition(apply_operator(compare, y, x))
    if isinstance(other, bool):
        return y if other else x
    result = FUNCTIONS[np.where](other, y, x)
    result.weak = True
    return _of_either_kind(result, x, lambda: np.logical_not(other), y)


def _of_either_kind(result: Any, x: Any, is_first: Callable[[], Any], y: Any) -> Any:
    """Return the larger or smaller of two numbers, of the kind that it has."""
    first, second = all_kinds_of(x), all_kinds_of(y)
    flag = Flag(next(iter(keys_of(first))), is_first) if (
        len(keys_of(first)) == len(keys_of(second)) == 1) else None
    return merged(result, united(first, second), flag)


def _mixed_pair(ufunc: np.ufunc, x: object, y: Any) -> Any:
    """Return the larger or smaller of two numbers, which is of the kind of either."""
    kinds = united(kinds_of(x), kinds_of(y))
    mixed = x if isinstance(x, Mixed) else y
    if storage(kinds) != np.float64:
        mixed.tell_apart()
    a, b = (strong(number_of(v)) for v in (x, y))
    other = apply_operator(np.greater if ufunc is np.maximum else np.less, b, a)
    return Mixed(FUNCTIONS[np.where](other, b, a), kinds, mixed.tell_apart)


def _sum(iterable: object, start: Any = 0) -> Any:
    if isinstance(iterable, Tracer) and iterable.dims:
        return list_functions.sum_of_array(iterable, start)
    found = _items(iterable)
    if has_runs(found):
        return list_functions.total(found, start, functools.partial(binary, "Add"))
    items = tuple(map(as_now, found) if is_iterator(found) else found)
    if any(special_method(x, "__add__") for x in (start, *items)):
        return functools.reduce(functools.partial(binary, "Add"), items, start)
    return note_new(builtins.sum(items, start), (start, *items))


def _fsum(iterable: object) -> Any:
    """Add floats up, what each addition rounds off beside: T. Ogita, S. Rump, S. Oishi, 2005."""
    if isinstance(iterable, Tracer):
        raise refuse("math.fsum of an array cannot be captured", "Use np.sum, or a list of numbers")
    total, lost = np.float64(0.0), np.float64(0.0)
    items = tuple(_items(iterable))
    if not any(isinstance(x, TracedOperand) for x in items):
        return math.fsum(items)
    for x in items:
        if isinstance(x, Tracer):
            _require_scalar(x)
    floats = [strong(cast(x, np.float64)) for x in items]
    for x in floats:
        new = total + x
        back = new - total
        lost = lost + ((total - (new - back)) + (x - back))
        total = new
    unknown = functools.reduce(np.logical_or, map(np.isnan, floats))
    endless = functools.reduce(np.logical_or, map(np.isinf, floats))
    require(np.logical_or(unknown, np.logical_not(np.isnan(total))), ValueError,
            "-inf + inf in fsum")
    require(np.logical_or(endless, np.logical_not(np.isinf(total))), OverflowError,
            "intermediate overflow in fsum")
    result: Any = np.where(np.isfinite(total), total + lost, total)
    result.weak = True
    return result


def _require_scalar(x: Tracer) -> None:
    if x.dims:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")


def _int(x: Any = 0, *args: object) -> Any:
    if isinstance(x, Tracer):
        _require_scalar(x)
        return python_int(x)
    settle(x)
    return x if isinstance(x, SymInt) else int(x, *args)


def _float(x: Any = 0.0) -> Any:
    if not isinstance(x, TracedOperand):
        settle(x)
        return float(x)
    if isinstance(x, Tracer):
        _require_scalar(x)
        if x.dtype.kind == "c" and x.weak:
            raise TypeError("float() argument must be a string or a real number, not 'complex'")
    result = cast(x, np.float64)
    result.weak = True
    return result


def _bool(x: Any = False) -> Any:
    """Return a truth value, which is Python's own."""
    x = truth(x)
    return x if isinstance(x, bool) else tracer_of(x.value, weak=True)


def _complex(*args: Any) -> Any:
    """Return `complex(re, im)` of numbers."""
    if not any(isinstance(x, TracedOperand) for x in args):
        settle(args)
        return complex(*args)
    for x in args:
        if isinstance(x, Tracer):
            _require_scalar(x)
    re, *im = (strong(cast(x, np.complex128)) for x in args)
    result = re + 1j * im[0] if im else re
    result.weak = True
    return result


def _round(x: Any, ndigits: Any = None) -> Any:
    if isinstance(x, SymInt):
        if ndigits is None or (isinstance(ndigits, int) and ndigits >= 0):
            return x
        raise refuse("rounding of ints to tens or hundreds cannot be captured",
                     "Write (x + 5) // 10 * 10, say")
    if not isinstance(x, Tracer):
        return round(x, ndigits)
    if x.weak and x.dtype.kind == "b":
        return _round(_int(x), ndigits)
    if x.dtype.kind == "c" or (not x.weak and (x.is_array or x.dtype.kind == "b")):
        raise TypeError(f"type {type_of(x).__name__} doesn't define __round__ method")
    if x.weak and x.dtype.kind == "f" and ndigits:
        return rounded(x, ndigits)
    result = FUNCTIONS[np.round](x, ndigits or 0)
    result.weak = x.weak
    return result if ndigits is not None else _int(result)


def _isinstance(x: object, kinds: Any) -> Any:
    """A traced array passes for an ndarray, a traced number for the number that it stands for."""
    if isinstance(x, StandIn):
        return _isinstance(x.empty(), kinds)
    if not isinstance(x, (Tracer, SymInt)):
        if hasattr(type(x), "stands_for"):
            return _issubclass(type_of(x), kinds)
        with watched():
            answer = isinstance(x, kinds)
        return _is_kind(type_of(x), kinds, answer)
    if isinstance(x, Merged):
        return _is_instance_on_each_path(x, kinds)
    stands_for = type_of(x)
    return any(issubclass(stands_for, k) or (
        k.__module__.partition(".")[0] == "tracejit" and isinstance(x, k)) for k in _classes(kinds))


def _is_instance_on_each_path(x: Merged, kinds: Any) -> Any:
    """Return whether a number of several kinds is an instance, which the run may tell."""
    answers = {key: _isinstance(one_of_kind(x, key), kinds) for key in keys_of(x.kinds)}
    if len(set(answers.values())) == 1:
        return next(iter(answers.values()))
    found = [x.is_of(key) for key, answer in answers.items() if answer]
    if len(answers) > 2:
        x.tell_apart()
    return _bool(found[0])


def _is_kind(cls: type, kinds: object, answer: bool) -> bool:
    """Return whether something is of a kind, under guards on what decides that."""
    for kind in _classes(kinds) if type(kinds).__module__ != "typing" else ():
        if not current().captured.is_kind(cls, kind):
            unseen(f"{type(kind).__qualname__}.__instancecheck__")
    return answer


def _issubclass(cls: type, kinds: Any) -> bool:
    with watched():
        answer = issubclass(cls, kinds)
    return _is_kind(cls, kinds, answer)


def _classes(kinds: object) -> Iterator[type]:
    """Yield the classes that `isinstance` asks about: of tuples in tuples, and `int | float`."""
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if isinstance(kind, (tuple, UnionType)):
            yield from _classes(kind if isinstance(kind, tuple) else kind.__args__)
        elif isinstance(kind, type):
            yield kind
        else:
            raise TypeError("isinstance() arg 2 must be a type, a tuple of types, or a union")


def _type(x: object, *more: object, **keywords: object) -> type:
    return type(x, *more, **keywords) if more else type_of(x)


def _text(make: Callable[..., str]) -> Callable[..., str]:
    def function(*args: object, **kwargs: object) -> str:
        for x in args:
            read_unseen(x)
            read_deeply(x)
        text: str = write(make, *args, **kwargs)
        return text

    return function


def _list_of(kind: type) -> Callable[..., Any]:
    def function(*args: Any, **items: object) -> Any:
        if len(args) == 1 and kind in (list, tuple):
            found = list_making.list_from(args[0])
            if found is not None:
                return note_made(kind(found))
        if kind not in (list, tuple):
            read_deeply([args, items])
        if kind is set or kind is dict:
            args = tuple(tuple(list_functions.items_of(found)) if has_runs(found := _items(x))
                         else found for x in args)
        return note_made(kind(*map(_items, args), **items))

    return function


def _items(x: object) -> Any:
    """Return what a builtin iterates over, where Python would call a user's method for it."""
    if isinstance(x, (TracedIterable, Iterated)):
        found = list_making.list_from(x)
        return tuple(x) if found is None else found
    if isinstance(x, (SymInt, Tracer)) and not x.ndim:
        return iter(x)  # which raises
    return x if special_method(x, "__iter__") is None else tuple(iterate(x))


_IN_TURN = ("items that another function takes one after the other", "Make them a list first")


def _items_in_turn(x: object) -> Any:
    """Return the items of what Python goes through while it calls a function of each."""
    with drawing_nothing(*_IN_TURN):
        items = _items(x)
        return tuple(items) if is_iterator(items) else items


def _by_method(plain: Callable[..., object], name: str) -> Callable[..., Any]:
    """Return a builtin that calls the method of a user's class which stands for it."""
    def function(*args: object, **kwargs: object) -> Any:
        method = special_method(args[0], name) if args else None
        return plain(*args, **kwargs) if method is None else method(*args, **kwargs)

    return function


def _pow(base: object, exp: object, mod: Any = None) -> Any:
    """Return a power; one modulo a number is of Python ints, which have to be known."""
    if mod is None:
        return binary("Pow", base, exp)
    operands = [base, exp, mod]
    if any(isinstance(x, Tracer) for x in operands):
        if any(isinstance(x, Tracer) and x.is_array for x in operands):
            raise TypeError("unsupported operand type(s) for ** or pow(): 'numpy.ndarray', "
                            f"'{type_of(exp).__name__}', '{type_of(mod).__name__}'")
        raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
    return pow(*(need_int(x.dim, "pow() of three numbers") if isinstance(x, SymInt) else x
                 for x in operands))


def _hash(x: object) -> int:
    """Return a hash: of an int that is known, for what else is traced there is none."""
    if isinstance(x, Tracer):
        if x.is_array:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        raise refuse("hash() of a number that is only known at run time",
                     "Make it a Python int argument, or decide on the number with `if`")
    return int(call_natively(hash, (x,), {}))


def _is(a: object, b: object) -> Any:
    return compare("Is", a, b)


def _is_not(a: object, b: object) -> Any:
    return compare("IsNot", a, b)


def _iter(x: object, *sentinel: Any) -> Any:
    return call_natively(iter, (x, *sentinel), {}) if sentinel else iterate(x)


def _next(iterator: object, *default: object) -> Any:
    return call_natively(next, (iterator, *default), {})


def _divmod(x: object, y: Any) -> Any:
    if isinstance(x, TracedOperand) or isinstance(y, TracedOperand):
        return x // y, x % y
    return divmod(x, y)


_UNTIL = ("the items of any() or all(), which stop at the first item that decides",
          "Make it a list: any([...]), or write the loop out")


def _any(iterable: object) -> Any:
    with drawing_nothing(*_UNTIL):
        items = _items(iterable)
        return _bool(list_functions.any_item(items) if has_runs(items) else any_of(items))


def _all(iterable: object) -> Any:
    with drawing_nothing(*_UNTIL):
        items = _items(iterable)
        return _bool(list_functions.every_item(items) if has_runs(items) else _each_of(items))


def _each_of(iterable: Any) -> Any:
    result: Any = True
    for x in iterable:
        x = truth(x)
        if x is False:
            return False
        result = x if result is True else np.logical_and(result, x) if x is not True else result
    return result


def _map(fn: Callable[..., object], *xs: object) -> Any:
    if any(isinstance(x, (Tracer, TracedIterable, Iterated)) or has_runs(x) for x in xs):
        zipped = counted(make_zip(*xs))
        assert zipped is not None
        mapped = TracedIterable(zipped.lo, zipped.hi,
                                lambda k: call_function(fn, zipped.item(k), {}), "map()")
        mapped.walks = zipped.walks
        return Iterated(mapped)
    return (call_function(fn, items, {}) for items in zip(*xs, strict=False))


def _sorted(xs: object, *, key: object = None, reverse: object = False) -> Any:
    found = _list_of(list)(xs) if isinstance(xs, Tracer) else _items(xs)
    if has_runs(found):
        if key is not None or list_runs.joined(found) is None:
            return call_function(sorted_by_key, (found, key, reverse), {})
        return list_functions.ordered(found, key, reverse)
    if key is None and (floats := list_functions.sorted_floats(found, reverse)) is not None:
        return note_made(floats)
    if key is not None or _holds_rows(found):
        return _sorted_items(list(found), key, reverse)
    return call_natively(sorted, (found,), {"key": key, "reverse": reverse})


def _sorted_items(items: list[object], key: Any, reverse: object) -> list[Any]:
    """Sort items of which Python knows how many there are: itself, where no key is traced."""
    keys = items if key is None else [call_function(key, (x,), {}) for x in items]
    if any(map(holds_traced, keys)):
        found: list[Any] = call_function(sorted_by_keys, (items, keys, reverse), {})
        return found
    read_deeply(keys)
    order = call_natively(sorted, (range(len(items)),),
                          {"key": keys.__getitem__, "reverse": reverse})
    return note_made([items[k] for k in order])  # type: ignore[no-any-return]


def _fromiter(iterable: object, dtype: npt.DTypeLike, count: int = -1) -> Any:
    """Return the items of an iterable as an array."""
    items = _list_of(list)(iterable)
    if any(isinstance(x, (list, tuple)) or (isinstance(x, Tracer) and x.dims) or (
            isinstance(x, Run) and not x.is_numbers) for x in items):
        raise ValueError("setting an array element with a sequence.")
    if has_runs(items) and count != -1:
        list_runs.give_up(items, "fromiter() of some items")
    return FUNCTIONS[np.array](as_array_operand(items if count == -1 else items[:count]),
                               dtype=dtype)


def _reduce(fn: Callable[..., object], xs: object, *start: object) -> Any:
    with drawing_nothing(*_IN_TURN):
        items = _items(xs)
    return functools.reduce(lambda a, b: call_function(fn, (a, b), {}),
                            list_functions.items_of(items) if has_runs(items) else items, *start)


def _getattr(owner: object, name: str, *default: object) -> Any:
    """Read an attribute by its name, as `owner.name` does."""
    if isinstance(owner, TracedOperand):
        return default[0] if default and not _hasattr(owner, name) else (
            attribute_of_traced(owner, name))
    try:
        return read_attribute(owner, name, *default)
    except AttributeError:
        if not default:
            raise
        return default[0]


def _hasattr(owner: object, name: str) -> bool:
    """Return whether something has an attribute; reading it is what Python does, too."""
    if isinstance(owner, TracedOperand):
        return hasattr(type_of(owner), name)  # a number has no length, and Python's no shape
    if isinstance(getattr(owner, "__dict__", {}).get(name), MaybeUnset):
        read_unseen(owner)  # which refuses it
    try:
        read_attribute(owner, name)
    except AttributeError:
        return False
    return True


def _vars(*owner: object) -> Any:
    return read_attribute(owner[0], "__dict__")

METHODS["tolist"] = list_making.nested_list

BUILTINS.update({
    range: make_range, enumerate: make_enumerate, zip: make_zip, reversed: make_reversed,
    np.ndindex: make_ndindex, np.ndenumerate: make_ndenumerate,
    getattr: _getattr, hasattr: _hasattr, vars: _vars, setattr: set_attribute,
    delattr: delete_attribute, len: _length,
    iter: _iter, next: _next, max: _fold(np.maximum, max), min: _fold(np.minimum, min), sum: _sum,
    int: _by_method(_int, "__int__"), float: _by_method(_float, "__float__"), bool: _bool,
    round: _by_method(_round, "__round__"), isinstance: _isinstance,
    issubclass: _issubclass, list: _list_of(list), tuple: _list_of(tuple),
    dict: _list_of(dict), set: _list_of(set), divmod: _divmod, any: _any,
    all: _all, complex: _complex, abs: functools.partial(unary, "abs"),
    pow: _pow, hash: _hash, id: id_of, map: _map, sorted: _sorted,
    type: _type, str: _text(str), repr: _text(repr), format: _text(format),
    ascii: _text(ascii),
    functools.reduce: _reduce,
    math.prod: lambda xs, *, start=1: _reduce(operator.mul, xs, start),
    np.fromiter: _fromiter,
    math.fsum: _fsum, operator.is_: _is, operator.is_not: _is_not,
})
