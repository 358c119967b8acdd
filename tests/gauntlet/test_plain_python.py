"""Plain Python around the mathematics: a captured program has Python's result, or is refused.

Each case is called by the interpreter of Python and under `jit`; results agree in type, dtype,
shape and elements, and an error is of the type that Python raises. A refusal names a line here.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import linecache
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.errors import InternalError, IRError, Refusal

X = np.array([1.0, 2.0, 3.0])
K = 3.0
DTYPES = ["float64", "float32", "int64", "int8", "uint8", "uint64", "bool", "complex64"]


def outcome(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return fn(*copy.deepcopy(args))
    except (InternalError, IRError):
        raise
    except Exception as e:
        return e


def require_same(found: Any, expected: Any) -> None:
    if isinstance(expected, Exception):
        assert isinstance(found, Refusal) or type(found).__name__ == type(expected).__name__ or (
            isinstance(found, TypeError) and isinstance(expected, TypeError)), found
    elif isinstance(expected, str):
        assert found == expected
    elif type(expected) in (list, tuple):
        assert type(found) is type(expected) and len(found) == len(expected), found
        for x, y in zip(found, expected, strict=True):
            require_same(x, y)
    else:
        x, y = np.asarray(found), np.asarray(expected)
        assert isinstance(found, np.ndarray) == isinstance(expected, np.ndarray), found
        assert (x.dtype, x.shape) == (y.dtype, y.shape), found
        assert np.allclose(x, y, rtol=2e-6, atol=1e-12), found


def check(fn: Callable[..., Any], *args: Any, may_refuse: bool = False) -> None:
    with tracejit.config(disable_jit=True):
        staged = tracejit.jit(fn)
        for _ in range(2):
            found = outcome(staged, args)
            expected = outcome(fn, args)
            if isinstance(found, Refusal):
                assert may_refuse or isinstance(expected, Exception), found
                assert __file__ in str(found), found
            else:
                require_same(found, expected)


# --- an item of a list is one, by whichever number ------------------------------------------------


def _by_numbers(first: str, second: str) -> Callable[[Any, Any, int], Any]:
    """Return a program that changes the last of two items by one number, and by another."""
    names: dict[str, Any] = {}
    text = (f"def f(x, y, n):\n    h = [x[0], x[2]]\n    for i in range(n):\n"
            f"        h[0], h[{first}] = h[{second}], h[0]\n"
            "        h[:] = [v * 0.5 for v in h]\n"
            f"        h[{second}] += 0.25\n        h[{first}] *= 1.5\n"
            "        if y[i] > 0.9:\n            return h[0] - h[1]\n"
            f"    if y[0] > 0.5:\n        h[{second}] = h[{first}] + 1.0\n"
            f"        h.append(x[1])\n        h[{first}], h[1] = h[1], h[{second}]\n"
            "        return h[0] + 5.0 * h[1] + 7.0 * h[2]\n"
            "    return h[0] + 5.0 * h[1]\n")
    lines = text.splitlines(keepends=True)
    file = f"<items {first} {second}>"
    linecache.cache[file] = (len(text), None, lines, file)
    exec(compile(text, file, "exec"), names)
    program: Callable[[Any, Any, int], Any] = names["f"]
    return program


@pytest.mark.parametrize("second", ["1", "-1", "len(h) - 1", "-1 % len(h)"])
@pytest.mark.parametrize("first", ["1", "-1"])
def test_an_item_is_one_by_whichever_number(first: str, second: str) -> None:
    f = _by_numbers(first, second)
    with tracejit.config(disable_jit=True):
        g = tracejit.jit(f)
        for n in range(4):
            for place in range(4):
                y = np.where(np.arange(4) == place, 0.95, 0.6 * (place % 2))
                args = np.array([1.0, 2.0, 3.0]), y, n
                np.testing.assert_allclose(g(*args), f(*args), rtol=1e-12)


# --- an object that is an index -------------------------------------------------------------------


class Place:
    def __init__(self, at: int) -> None:
        self.at = at

    def __index__(self) -> int:
        return self.at


@pytest.mark.parametrize("at", [0, -1, 2, 7])
def test_an_object_may_be_an_index(at: int) -> None:
    check(lambda x, k: [x[0], x[1] * 2.0, x[2]][Place(k)], X, at)
    check(lambda x, k: (x[0], x[1] * 2.0, x[2])[Place(k)], X, at)
    check(lambda x, k: [v * 2.0 for v in x][Place(k)], X, at)


# --- a defaultdict makes items when they are asked for --------------------------------------------


OUTSIDE = collections.defaultdict(float, b=2.5)


def a_missing_item_of_a_dict_from_outside(x: Any) -> Any:
    return x * (OUTSIDE["a"] + OUTSIDE["b"])


def an_item_asked_for_where_data_decides(x: Any) -> Any:
    made = collections.defaultdict(float)
    if x[0] > 5.0:
        made["a"]
    return x * len(made)


def an_item_set_where_data_decides(x: Any) -> Any:
    made = collections.defaultdict(float)
    if x[0] > 5.0:
        made["a"] = 1.0
    return x * len(made)


def an_item_that_may_be_there(x: Any) -> Any:
    made = collections.defaultdict(float)
    if x[0] > 5.0:
        made["a"] = 1.0
    return x * ("a" in made)


def items_made_by_reading(x: Any) -> Any:
    made = collections.defaultdict(lambda: collections.defaultdict(list))
    for k in range(4):
        made[k % 2][k // 2].append(x[0] * k)
    return sum(made[0][1]) * sum(made[1][0]) + len(made[7]), len(made)


def an_item_read_again_in_a_loop(x: Any) -> Any:
    made = collections.defaultdict(float)
    while made["s"] < 10.0:
        made["s"] += x[0]
    return made["s"], len(made)


@pytest.mark.parametrize("fn", [
    an_item_asked_for_where_data_decides, an_item_set_where_data_decides, an_item_that_may_be_there,
    items_made_by_reading, an_item_read_again_in_a_loop])
@pytest.mark.parametrize("first", [1.0, 7.0])
def test_a_defaultdict_is_pythons(fn: Callable[..., Any], first: float) -> None:
    check(fn, np.array([first, 2.0]), may_refuse="decides" in fn.__name__)


def test_an_item_is_not_made_in_a_dict_from_outside() -> None:
    with pytest.raises(Refusal, match="changing a defaultdict from outside"):
        tracejit.jit(a_missing_item_of_a_dict_from_outside)(1.5)
    assert dict(OUTSIDE) == {"b": 2.5}


# --- the body of a class is a scope that no function in it sees -----------------------------------


def a_name_of_the_class_hides_that_of_the_function(x: Any) -> Any:
    a = 100.0

    class C:
        a = x * 2.0
        b = a + 1.0
        c = tuple([a for _ in range(2)])  # the function's

        def method(self) -> Any:
            return a  # the function's

    return C.b + C.c[0] * 10.0 + C().method()


def a_global_is_read_until_the_class_binds_it(x: Any) -> Any:
    class C:
        K = K * 2.0  # type: ignore[misc]

        def method(self, k: Any = K) -> Any:
            return k + K

    return C().method() * x


def decorators_see_names_of_the_class(x: Any) -> Any:
    class C:
        def __init__(self, v: Any) -> None:
            self._v = v

        @property
        def v(self) -> Any:
            return self._v * 2.0

        @v.setter
        def v(self, w: Any) -> None:
            self._v = w + 1.0

    c = C(x)
    c.v = x * x
    c.v += 1.0
    return c.v


def statements_in_a_class(x: Any) -> Any:
    class C:
        total = 0.0
        for i in range(3):
            if i:
                total += x * i * K
        try:
            other = total.missing
        except AttributeError:
            other = total * 2.0

        class Inner:
            value = x

    return C.total + C.other + C.i + C.Inner.value


def decorated_classes(x: Any) -> Any:
    def add(cls: Any) -> Any:
        cls.z = x
        return cls

    @add
    @dataclasses.dataclass
    class C:
        a: float = 2.0

    return C.z * C().a


def rest_of_a_mapping(x: Any) -> Any:
    match {"k": 3.0, "a": 1, "b": 2}:
        case {"k": v, **rest}:
            return x * v * len(rest)
    return x


def choices_in_a_class(x: Any) -> Any:
    a = 100.0

    class C:
        a = x * 2.0
        b = a if a > 1.0 else 0.0

    return C.b + a * 0.0


def late_choices_in_a_class(x: Any) -> Any:
    a = 100.0

    class C:
        a = x * 2.0
        b = 0.0 or a

    return C.b + a * 0.0


SCOPES = [a_name_of_the_class_hides_that_of_the_function, a_global_is_read_until_the_class_binds_it,
          decorators_see_names_of_the_class, statements_in_a_class, decorated_classes,
          rest_of_a_mapping]


@pytest.mark.parametrize("fn", SCOPES)
def test_bodies_of_classes_are_scopes(fn: Any) -> None:
    check(fn, 2.0)


@pytest.mark.parametrize("fn", [choices_in_a_class, late_choices_in_a_class])
def test_a_choice_in_the_body_of_a_class_is_right_or_refused(fn: Any) -> None:
    check(fn, 2.0, may_refuse=True)


# --- a list and an array -------------------------------------------------------------------------


def added(make: Any, other: Any, x: Any) -> Any:
    first = kept = make(x)
    first += other(x)
    return first, kept


def multiplied(make: Any, other: Any, x: Any) -> Any:
    first = kept = make(x)
    first *= other(x)
    return first, kept


LISTS = {"plain": lambda x: [1.0, 2.0, 3.0], "traced": lambda x: [x[0], 2.0, x[1]],
         "of an array": lambda x: [v * 2.0 for v in x], "tuple": lambda x: (1.0, x[1], 3.0)}
OTHERS = {"array": lambda x: x, "expression": lambda x: x * 2.0, "outside": lambda x: X,
          "list": lambda x: [x[0]], "tuple": lambda x: (x[0], 5.0), "number": lambda x: x[1],
          "generator": lambda x: (v * 3.0 for v in x), "python": lambda x: 2,
          "text": lambda x: "ab"}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("make", LISTS)
@pytest.mark.parametrize("operation", [added, multiplied])
def test_augmented_lists(operation: Any, make: str, other: str) -> None:
    check(lambda x: operation(LISTS[make], OTHERS[other], x), X, may_refuse=True)


@pytest.mark.parametrize("make", ["plain", "traced", "of an array"])
def test_a_list_to_which_an_array_is_added_in_place_is_an_array(make: str) -> None:
    check(lambda x: added(LISTS[make], OTHERS["array"], x)[0] * 2.0, X)
    check(lambda x: added(LISTS[make], OTHERS["list"], x), X)


# --- numbers are no containers --------------------------------------------------------------------

NO_CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: sum(x), "max": lambda x: max(x), "min": lambda x: min(x),
    "any": lambda x: any(x), "all": lambda x: all(x), "list": lambda x: list(x),
    "tuple": lambda x: tuple(x), "len": lambda x: len(x), "sorted": lambda x: sorted(x),
    "zip": lambda x: [*zip(x, x, strict=True)], "enumerate": lambda x: [*enumerate(x)],
    "item": lambda x: x[0], "slice": lambda x: x[:1], "in": lambda x: 1.0 in x,
    "call": lambda x: x(),
    "reversed": lambda x: [*reversed(x)], "map": lambda x: [*map(abs, x)],
    "comprehension": lambda x: [v for v in x], "star": lambda x: [*x],
}


@pytest.mark.parametrize("name", NO_CONTAINERS)
@pytest.mark.parametrize("x", [2.0, 3, True, 1j, np.float64(2.0)], ids=repr)
def test_numbers_are_no_containers(name: str, x: Any) -> None:
    check(NO_CONTAINERS[name], x)


@pytest.mark.parametrize("fold", [max, min])
@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (1, 1, 2)], ids=repr)
def test_the_items_of_an_array_of_two_axes_are_rows(fold: Any, shape: tuple[int, ...]) -> None:
    check(lambda x: fold(x) * 2.0, np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape))


@pytest.mark.parametrize("v", [2.0, 7.0, 2, None, "a"], ids=repr)
def test_membership_in_an_array(v: Any) -> None:
    check(lambda x: x * 2.0 if v in x else x, X)
    check(lambda x: x * 2.0 if x[0] in x[1:] else x, X)


HASHED: dict[str, Callable[[Any], Any]] = {
    "set": lambda x: len({v for v in x}), "display": lambda x: len({x[0], x[1]}),
    "key": lambda x: {x[0]: 1.0}[x[0]], "array": lambda x: {x: 1.0}, "in": lambda x: x[0] in {1.0},
}


@pytest.mark.parametrize("name", HASHED)
def test_a_number_of_the_run_is_no_key(name: str) -> None:
    check(HASHED[name], X, may_refuse=True)


# --- what arrays and numbers are made into --------------------------------------------------------

MADE: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x[0].item(), "items": lambda x: x.tolist(), "first": lambda x: x.item(1),
    "var": lambda x: x.var(), "std": lambda x: np.std(x), "var of one axis": lambda x: np.var(x, 0),
    "gradient": lambda x: np.gradient(x), "vdot": lambda x: np.vdot(x, x),
    "percentile": lambda x: np.percentile(x, 30), "quantile": lambda x: np.quantile(x, 0.3),
    "interp": lambda x: np.interp(1.5, x, x), "clip": lambda x: np.clip(x, 0, np.int8(1)),
    "dot by a number": lambda x: np.dot(x, 2.5), "inner by a number": lambda x: np.inner(2, x),
    "round": lambda x: np.round(x), "round of one": lambda x: round(x[0]),
    "round to places": lambda x: round(x, 1),
    "in a dtype": lambda x: np.add(x, 1j, dtype=np.float32),
    "view": lambda x: x.view() * 1, "fromiter": lambda x: np.fromiter((v for v in x), x.dtype),
    "power": lambda x: x ** 2,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MADE)
def test_dtypes_of_what_is_made(name: str, dtype: str) -> None:
    check(MADE[name], np.array([3, 1, 0, 5]).astype(dtype), may_refuse=True)


@pytest.mark.parametrize("name", ["item", "var", "gradient", "percentile", "clip", "view"])
def test_dtypes_that_were_found(name: str) -> None:
    for dtype in ("float32", "uint8"):
        check(MADE[name], np.array([3, 250, 0, 5]).astype(dtype))


# --- copies and views -----------------------------------------------------------------------------


def a_view_by_its_method(x: Any) -> Any:
    y = x.view()
    y[0] = 9.0 * x[1]
    y *= 1.5
    return np.sum(x) + y[2]


def a_reshape_that_copies(x: Any) -> Any:
    y = x.reshape(-1, copy=True)
    y[0] = 50.0
    return x[0] + y[0]


def deep_copies(x: Any) -> Any:
    d = {"a": [x, x * 2.0], "b": x, "n": x[1]}
    e = copy.deepcopy(d)
    e["a"][0][0] = 50.0
    f = copy.copy(d)
    f["c"] = 1.0
    return x[0] + len(d) + e["b"][0] + d["n"] * e["n"] + copy.copy(x)[1]


def fields_as_a_dict(x: Any) -> Any:
    @dataclasses.dataclass
    class P:
        a: Any
        b: Any

    d = dataclasses.asdict(P(x, [x[0]]))
    d["a"][0] = 70.0
    return x[0] + d["a"][0] + d["b"][0]


def zipped_with_plain_things(x: Any) -> Any:
    total = 0.0
    for letter, v in zip("abc", x, strict=True):
        total += v * ord(letter)
    for key, v in zip({"p": 1, "q": 2}, x, strict=False):
        total += v * len(key)
    for k, v in zip({1: 2, 3: 4}.values(), x, strict=False):
        total += v * k
    return total


def ranges_of_floats(x: Any) -> Any:
    return np.arange(1.0, len(x) + 1) * x + np.arange(0.0, 2 * len(x), 2.0)


def a_loop_by_nditer(x: Any) -> Any:
    for v in np.nditer(x, op_flags=["readwrite"]):  # type: ignore[call-overload]
        v[...] = v * 2.0
    return x


def test_nditer_is_a_loop() -> None:
    check(a_loop_by_nditer, X)


COPIES = [a_view_by_its_method, a_reshape_that_copies, deep_copies, fields_as_a_dict,
          zipped_with_plain_things, ranges_of_floats]


@pytest.mark.parametrize("fn", COPIES)
def test_copies_and_views(fn: Any) -> None:
    check(fn, X)


@pytest.mark.parametrize("fn", COPIES[:-1])
def test_gradients_of_copies_and_views(fn: Any) -> None:
    def difference(k: int) -> Any:
        h = np.eye(3)[k] * 1e-6
        return (fn(X + h) - fn(X - h)) / 2e-6

    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(fn)(X.copy())
    assert slope == pytest.approx([difference(k) for k in range(3)], rel=1e-6)


def test_programs_compiled() -> None:
    for fn, x in ((decorators_see_names_of_the_class, 2.0), (deep_copies, X),
                  (a_view_by_its_method, X)):
        require_same(outcome(tracejit.jit(fn), (x,)), outcome(fn, (x,)))


# --- arrays of no axes ----------------------------------------------------------------------------

NO_AXES = {"where": "np.where(x[0] > 0.0, x[0], 0.0)", "select": "np.select([x[0] > 0.0], [x[0]])",
           "tensordot": "np.tensordot(x, x, 1)", "asarray": "np.asarray(x[0])",
           "squeeze": "x[:1].squeeze()", "ellipsis": "x[0, ...]", "sum": "np.sum(x)",
           "zeros": "np.zeros(()) + 0.0 * x[0]",
           "piecewise": "np.piecewise(x[0], [x[0] > 0.0], [1.0, 2.0])"}
USES = {
    "two names": "s = r; s += 1.0; return r * s",
    "by ellipsis": "s = r; r[...] = 5.0; return r * s",
    "in a loop": "s = r\nfor i in range(20): s += x[i % 3]\nreturn r * s",
    "in a list": "l = [r]; l[0] += 1.0; return r * l[0]",
    "a choice": "s = r if x[1] > 0.0 else 0.0\ns += 1.0\nreturn r * s",
    "carried": "s = 0.0\nfor v in x: s = np.where(v > 1.5, s + v, s)\nreturn s * r",
    "a function": "def add(v): v += 1.0\nadd(r); return r * x[1]",
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("made", NO_AXES)
def test_arrays_of_no_axes(made: str, use: str, tmp_path: Any) -> None:
    if made in ("sum", "zeros") and use == "by ellipsis":
        return  # a number in NumPy, an error there
    text = "".join(f"    {line}\n" for line in f"r = {NO_AXES[made]}\n{USES[use]}".splitlines())
    file = tmp_path / "program.py"
    file.write_text(f"def f(x):\n{text}")
    space: dict[str, Any] = {"np": np}
    exec(compile(file.read_text(), str(file), "exec"), space)
    with tracejit.config(disable_jit=True):
        found = outcome(tracejit.jit(space["f"]), (X,))
    if not isinstance(found, Refusal):
        assert found == pytest.approx(space["f"](X.copy())), found
    else:
        assert use == "a choice", found


# --- what classes give by `__getattr__`, until an object has it -----------------------------------


@pytest.mark.parametrize("first", [False, True])
def test_an_attribute_of_an_object_hides_what_getattr_gives(first: bool) -> None:
    class C:
        def __getattr__(self, name: str) -> Any:
            return 5.0

    c = C()
    f = lambda x: x * c.k  # type: ignore[attr-defined] # noqa: E731
    with tracejit.config(disable_jit=True):
        staged = tracejit.jit(f)
        for value in ((3.0, None, 4.0, None) if first else (None, 3.0, None, 4.0)):
            vars(c).clear()
            if value is not None:
                c.k = value
            assert staged(2.0) == f(2.0)
            C.__getattr__ = lambda self, name: 7.0  # type: ignore[method-assign]
            assert staged(2.0) == f(2.0)


def test_errors_of_code_that_is_not_captured_are_the_users(monkeypatch: Any) -> None:
    import struct

    with tracejit.config(disable_jit=True), pytest.raises(struct.error):
        tracejit.jit(lambda x: x * struct.unpack("d", b"short")[0])(2.0)


def test_byte_orders_in_the_interpreter() -> None:
    def add(x: Any) -> Any:
        x += 1.0
        return np.sum(x)

    with tracejit.config(disable_jit=True):
        x = X.astype(">f8")
        assert tracejit.jit(add)(x) == 9.0 and x[0] == 2.0


# --- sizes, one after the other -------------------------------------------------------------------

CAUGHT = {
    "truth": ("if x > 1.0: return 1.0", "ValueError"),
    "shapes": ("y = x + np.ones(2)", "ValueError"),
    "reshape": ("y = x.reshape(2, -1)[0]", "ValueError"), "item": ("y = x[2] + x", "IndexError"),
    "concatenate": ("y = np.concatenate([x, np.ones((2, 2))])", "ValueError"),
    "product": ("y = np.eye(3) @ x", "ValueError"), "unpacking": ("y, _ = x", "ValueError"),
    "bare": ("y = np.stack([x, np.ones(3)])[0]", "Exception"), "key": ("y = {}['a']", "KeyError"),
    "user's": ("raise ValueError", "ValueError"), "list": ("y = [1.0][2]", "IndexError"),
}
SIZES = [(3, 1, 2, 4, 3), (1, 3, 2), (2, 3, 1), (4, 0, 1)]


def of_text(text: str, file: Any) -> Any:
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    file.write_text(f"def f(x):\n{lines}")
    space: dict[str, Any] = {"np": np}
    exec(compile(file.read_text(), str(file), "exec"), space)
    return space["f"]


def check_sizes(f: Any, sizes: tuple[int, ...], may_refuse: bool) -> None:
    with tracejit.config(disable_jit=True):
        staged = tracejit.jit(f)
        for n in sizes:
            found, expected = (outcome(g, (np.arange(1.0, n + 1),)) for g in (staged, f))
            if isinstance(found, Refusal):
                assert may_refuse, found
            else:
                require_same(found, expected)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", CAUGHT)
def test_what_is_caught_may_come_of_sizes(name: str, sizes: Any, tmp_path: Any) -> None:
    body, error = CAUGHT[name]
    text = f"y = x * 0.0\ntry:\n    {body}\nexcept {error}:\n    y = x * 3.0\nreturn np.sum(y)"
    check_sizes(of_text(text, tmp_path / "program.py"), sizes, may_refuse=True)


WHILES = ["while i < len(x) and x[i] < 3.0: x[i] *= 2.0; i += 1",
          "while i < x.size and not x[i] > 2.0: i += 1",
          "while len(x) > i and (x[i] < 2.0 or x[i] > 5.0): i += 1",
          "while i + 1 < len(x) and x[i] < x[i + 1]: i += 1",
          "while True:\n    if i >= len(x) or x[i] > 2.0: break\n    i += 1"]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("text", WHILES)
def test_conditions_that_guard_an_index(text: str, sizes: Any, tmp_path: Any) -> None:
    f = of_text(f"i = 0\n{text}\nreturn np.sum(x) + i", tmp_path / "program.py")
    check_sizes(f, sizes, may_refuse=False)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda a: a.copy(), "F": np.asfortranarray, "gaps": lambda a: np.repeat(a, 2, 1)[:, ::2],
    "transposed": lambda a: a.T.copy().T, "backwards": lambda a: a[::-1].copy()[::-1],
}
ONES = ["a[:1, :1].reshape(())", "a[0, :1].reshape(())", "a[1:2, 1:2].reshape(1, 1, 1)",
        "a[:1, :1].ravel()", "a[:, :1].reshape(-1)", "a[:1].reshape(-1)", "a[2:, -1:].squeeze()",
        "a[:1, -1:].reshape(1)", "a[None, 0, 0:1].reshape(())"]


@pytest.mark.parametrize("source", ONES)
def test_one_element_in_any_layout_is_seen_through_a_reshape(source: str, tmp_path: Any) -> None:
    f = of_text(f"a = x\nr = {source}\nr *= 7.0\nreturn a * 1.0", tmp_path / "program.py")
    with tracejit.config(disable_jit=True):
        staged = tracejit.jit(f)
        for make in (*LAYOUTS.values(), *reversed(LAYOUTS.values())):
            ours, theirs = (make(np.arange(1.0, 13.0).reshape(3, 4)) for _ in range(2))
            found = outcome_in_place(staged, ours)
            if not isinstance(found, Refusal):
                require_same(found, f(theirs))
                require_same(ours, theirs)


def outcome_in_place(f: Any, x: Any) -> Any:
    try:
        return f(x)
    except Refusal as e:
        return e


# --- what generators make one by one --------------------------------------------------------------


@pytest.mark.parametrize("fold", ["sum(c(x) for _ in range(4))", "sum([c(x) for _ in range(4)])",
                                  "sum((c(x) for _ in range(3)), x)", "sum(map(c, [x, x, x]))"])
def test_sums_read_an_item_before_the_next_is_made(fold: str, tmp_path: Any) -> None:
    text = ("class C:\n    def __init__(self):\n        self.t = 0.0\n    def __call__(self, v):\n"
            f"        self.t += v\n        return self.t\nc = C()\nreturn {fold}")
    check(of_text(text, tmp_path / "program.py"), X)


@pytest.mark.parametrize("operation", ["x * k", "k + x", "x < k", "x ** k", "x // k"])
@pytest.mark.parametrize("x", [2.0, 3, X], ids=["float", "int", "array"])
def test_errors_about_operands_name_the_users_types(operation: str, x: Any, tmp_path: Any) -> None:
    f = of_text(f"k = None\nreturn {operation}", tmp_path / "program.py")
    with tracejit.config(disable_jit=True), pytest.raises(TypeError) as caught:
        tracejit.jit(f)(x)
    assert not re.search("Tracer|SymInt", str(caught.value))


# --- a function of NumPy that a program replaces --------------------------------------------------

REPLACED = """
import math, sys
import numpy as np
import tracejit

def f(x):
    return np.sin(x) + math.cos(x)

def mine(x):
    return x * 2.0

if "early" not in sys.argv:
    with tracejit.config(disable_jit="traced" in sys.argv):
        tracejit.jit(lambda x: x * 7.0)(1.0)
if "numpy" in sys.argv:
    np.sin = mine
if "math" in sys.argv:
    math.cos = mine
try:
    print(tracejit.jit(f)(1.0) == f(1.0))
except tracejit.Refusal as refusal:
    print("see the library's own" in str(refusal))
"""


def test_programs_with_replaced_functions_are_not_those_of_others(tmp_path: Any) -> None:
    file = tmp_path / "script.py"
    file.write_text(REPLACED)
    space = os.environ | {"TRACEJIT_CACHE": "1", "TRACEJIT_CACHE_DIR": str(tmp_path / "store")}
    for kind in ("numpy", "", "math", "", "early numpy", "early math", "numpy math", "",
                 "traced math", "traced"):
        run = subprocess.run([sys.executable, str(file), *kind.split()], env=space, check=True,
                             capture_output=True, text=True)
        assert run.stdout.strip() == "True", (kind, run.stdout, run.stderr)


# --- `try` around what may raise other exceptions, or none ----------------------------------------

PRESENT = 2.0
LOOKED_AT: dict[str, float] = {}


def a_name_that_may_be_absent(x: Any) -> Any:
    try:
        return x * PRESENT
    except NameError:
        return x


def a_name_that_is_absent(x: Any) -> Any:
    try:
        y = np.sum(x) * 2.0 + ABSENT  # type: ignore[name-defined]
    except NameError:
        y = np.sum(x) * 5.0
    return y


def another_error_than_may_come(x: Any) -> Any:
    try:
        y = np.sin(x) * 2.0
        return y / np.sum(x)
    except (KeyError, AttributeError):
        return x


def a_key_after_captured_operations(x: Any) -> Any:
    try:
        y = x * 3.0
        z = y * LOOKED_AT["a"]
    except KeyError:
        z = y + 1.0
    return z


def in_a_loop_with_else_and_finally(x: Any) -> Any:
    s = 0.0
    for v in x:
        try:
            s = s + v * LOOKED_AT.get("q", 2.0)
        except (KeyError, NameError):
            s = s + 100.0
        else:
            s = s + 1.0
        finally:
            s = s * 2.0
    return s


def loops_inside(x: Any) -> Any:
    try:
        t = 0.0
        for v in x:
            t = t + v * v
        while t < 50.0:
            t = t * 2.0 + 1.0
    except Exception:
        t = 0.0
    return t


def one_in_another(x: Any) -> Any:
    try:
        try:
            y = x * 2.0
            LOOKED_AT["none"]
        except NameError:
            y = x * 9.0
    except KeyError:
        y = y * 5.0
    return y


def a_reshape_that_may_not_fit(x: Any) -> Any:
    try:
        y = x.reshape(2, -1) * 2.0
    except ValueError:
        y = x * 3.0
    return np.sum(y * y)


def sizes_that_may_not_agree(x: Any) -> Any:
    try:
        return np.sum(x[:2] * x[1:])
    except ValueError:
        return np.sum(x)


def nothing_to_take_the_greatest_of(x: Any) -> Any:
    try:
        return np.max(x) * 2.0
    except ValueError:
        return -1.0


TRIES = [a_name_that_may_be_absent, a_name_that_is_absent, another_error_than_may_come,
         a_key_after_captured_operations, in_a_loop_with_else_and_finally, loops_inside,
         one_in_another, a_reshape_that_may_not_fit, sizes_that_may_not_agree,
         nothing_to_take_the_greatest_of]


@pytest.mark.parametrize("fn", TRIES)
def test_a_try_around_what_cannot_raise_what_it_catches(fn: Any) -> None:
    staged = tracejit.jit(fn)
    with tracejit.config(disable_jit=True):
        for size in (3, 4, 0, 5, 3):
            x = np.arange(1.0, size + 1.0)
            require_same(outcome(staged, (x,)), outcome(fn, (x,)))


def divides(x: Any) -> Any:
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return x


def indexes(x: Any) -> Any:
    try:
        return np.ones(3)[int(x)]
    except LookupError:
        return x


def asserts(x: Any) -> Any:
    try:
        assert x > 0.0
    except Exception:
        return -x
    return x


def raises(x: Any) -> Any:
    try:
        if x > 1.0:
            raise ValueError("too large")
    except ValueError:
        return -x
    return x


def decomposes(x: Any) -> Any:
    try:
        return np.linalg.inv(np.eye(2) * x)[0, 0]
    except np.linalg.LinAlgError:
        return x


def warns(x: Any) -> Any:
    try:
        return np.log(x * np.ones(2))
    except RuntimeWarning:
        return x


def raises_what_numpy_warns_of(x: Any) -> Any:
    old = np.seterr(divide="raise")
    try:
        return np.ones(2) / x
    finally:
        np.seterr(**old)


def makes_errors_of_warnings(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.log(x)


@pytest.mark.parametrize("fn", [divides, asserts, raises, decomposes, indexes])
def test_a_try_around_what_may_raise_takes_its_handler(fn: Any) -> None:
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(fn)
        for x in (0.5, 0.0, -1.5, 2.0):
            assert compiled(x) == fn(x)


@pytest.mark.parametrize("fn", [warns, raises_what_numpy_warns_of, makes_errors_of_warnings])
def test_a_try_around_what_may_raise_what_it_catches_is_refused(fn: Any) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(Refusal) as caught:
        tracejit.jit(fn)(0.5)
    assert __file__ in str(caught.value)


def test_a_name_that_comes_and_goes_under_a_try(monkeypatch: pytest.MonkeyPatch) -> None:
    with tracejit.config(disable_jit=True):
        gradient = tracejit.grad(lambda x: a_name_that_may_be_absent(x))
        assert gradient(3.0) == 2.0
        monkeypatch.delitem(globals(), "PRESENT")
        assert gradient(3.0) == 1.0
        monkeypatch.setitem(globals(), "PRESENT", 7.0)
        assert gradient(3.0) == 7.0


# --- y.shape = (2, 2) is for all names of y -------------------------------------------------------


def of_what_a_loop_makes(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        y = x * (i + 1.0)
        z, items = y, [y]
        y.shape = (2, 2)
        s = s + np.sum(z[0] * items[0][1]) + z.ndim
    return s


def of_what_a_branch_makes(x: Any) -> Any:
    if x[0] > 0.0:
        y = x * 2.0
        z = y
        y.shape = (2, 2)
        r = z[1, 0] * y[0, 0]
    else:
        r = x[0] * 2.0
    return r


def of_an_array_that_goes_around(x: Any) -> Any:
    y = x * 2.0
    for _ in range(3):
        y = y * 2.0
        y.shape = (2, 2)
        y = y.ravel()
    return y


def within_a_gradient(x: Any) -> Any:
    def product(v: Any) -> Any:
        y = v * 2.0
        y.shape = (2, 2)
        return np.sum(y[0] * y[1])

    return tracejit.grad(product)(x * 1.0)


def by_a_function(x: Any) -> Any:
    def square(v: Any) -> None:
        v.shape = (2, 2)

    s = 0.0
    for i in range(2):
        y = x * (i + 1.0)
        square(y)
        s = s + np.sum(y[0])
    return s


def of_two_names_from_a_branch(x: Any) -> Any:
    if x[0] > 0.0:
        y = x * 2.0
        z = y
    else:
        y = x * 3.0
        z = y
    y.shape = (2, 2)
    return z


def of_two_names_from_a_loop(x: Any) -> Any:
    y = x * 2.0
    z = y
    for _ in range(3):
        y = y * 1.5
        z = y
    y.shape = (2, 2)
    return z


def of_one_that_a_branch_may_bind_anew(x: Any) -> Any:
    y = x * 2.0
    z = y
    if x[0] > 0.0:
        y = z
    y.shape = (2, 2)
    return z


def of_what_was_there_before(x: Any) -> Any:
    y = x * 2.0
    z = y
    for _ in range(1):
        y.shape = (2, 2)
    return z


def of_one_in_a_list_after_a_loop(x: Any) -> Any:
    items = [x * 1.0 for _ in range(2)]
    y = items[1]
    y.shape = (2, 2)
    return np.sum(items[1][0]) + items[1].ndim


@pytest.mark.filterwarnings("ignore:Setting the shape")  # deprecated since NumPy 2.5
@pytest.mark.parametrize("fn", [of_what_a_loop_makes, of_what_a_branch_makes, by_a_function,
                                of_an_array_that_goes_around, within_a_gradient])
def test_a_shape_is_assigned_to_what_is_made_in_a_loop_or_branch(fn: Any) -> None:
    check(fn, np.arange(1.0, 5.0))


@pytest.mark.filterwarnings("ignore:Setting the shape")  # deprecated since NumPy 2.5
@pytest.mark.parametrize("fn", [of_two_names_from_a_branch, of_two_names_from_a_loop,
                                of_one_that_a_branch_may_bind_anew, of_what_was_there_before,
                                of_one_in_a_list_after_a_loop])
def test_a_shape_that_is_assigned_is_seen_by_all_names(fn: Any) -> None:
    check(fn, np.arange(1.0, 5.0), may_refuse=True)
