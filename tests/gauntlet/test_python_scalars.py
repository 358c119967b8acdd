"""Python's own numbers in compiled code: value, type and exception are Python's, or a refusal."""

from __future__ import annotations

import linecache
import math
import numbers
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles import outcome

import tracejit

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, math.inf, -math.inf, math.nan, 5e-324, 1e308, 700.0,
          2.0 ** 63, 0.1]
INTS = [0, 1, -1, 2, 3, -3, 63, 64, 2 ** 31, 2 ** 53 + 1, 2 ** 62, 2 ** 63 - 1, -2 ** 63]
COMPLEX = [0j, 1 + 2j, -1j, complex(math.nan, 1.0)]

UNARY = [
    "-x", "+x", "~x", "abs(x)", "int(x)", "float(x)", "bool(x)", "round(x)", "math.floor(x)",
    "math.ceil(x)", "math.trunc(x)", "x ** 2", "x ** 3", "x ** -1", "x ** 0.5", "x ** 1.5",
    "x ** -0.5", "x ** 0", "1 / x", "1 // x", "1 % x", "x / 2", "x // 2", "x % 3", "x * 3",
    "x // 0.0", "x < 2 ** 53 + 1", "x == 2 ** 70", "x < 1e19", "x == 2.0 ** 53", "complex(x)",
    "not x", "x == 1", *(f"math.{name}(x)" for name in (
        "sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
        "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "fabs", "isnan",
        "isinf", "isfinite", "cbrt", "exp2", "radians", "degrees", "erf", "erfc")),
    "math.log(x, 2)", "math.log(8, x)"]
BINARY = [
    "x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "divmod(x, y)", "x & y", "x | y",
    "x ^ y", "x >> y", "x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y", "x ** y",
    "math.atan2(x, y)", "math.hypot(x, y)", "math.fmod(x, y)", "math.remainder(x, y)",
    "math.pow(x, y)", "math.copysign(x, y)", "x + y + 1", "x * y - 1", "x * y // 3",
    "(x + y) % 7"]


def function_of(parameters: str, expression: str) -> Callable[..., Any]:
    """Return a function whose source can be read."""
    source = f"import math\n\n\ndef f({parameters}):\n    return {expression}\n"
    file = f"<scalar {parameters}: {expression}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


def agree(found: Any, expected: Any) -> bool:
    """Return whether a result is Python's, or an error where Python has no number of 64 bits."""
    if isinstance(expected, tuple):
        return all(map(agree, found, expected))
    if isinstance(found, OverflowError):  # an int that leaves 64 bits on the way, or is the result
        return isinstance(expected, (OverflowError, int))
    if isinstance(found, ValueError) and "is complex in Python" in str(found):
        return isinstance(expected, (complex, OverflowError))
    if isinstance(found, ValueError) and "negative int is a float" in str(found):
        return isinstance(expected, (float, ZeroDivisionError))
    if isinstance(expected, Exception) or isinstance(found, Exception):
        return type(found) is type(expected)
    if type(found) is not type(expected):
        return False
    if isinstance(expected, complex):
        return agree(found.real, expected.real) and agree(found.imag, expected.imag)
    if isinstance(expected, float):
        if math.isnan(expected) or math.isinf(expected) or expected == 0.0:
            return repr(found) == repr(expected)
        return abs(found - expected) <= 4e-16 * abs(expected)
    return bool(found == expected)


def skipped(expression: str, *args: Any) -> bool:
    """Return whether Python itself would take too long, or complex arithmetic is NumPy's."""
    huge = any(isinstance(a, int) and abs(a) > 1000 for a in args[1:])
    return "**" in expression and (huge or any(isinstance(a, complex) for a in args))


def check(expression: str, parameters: str, cases: list[tuple[Any, ...]]) -> None:
    fn = function_of(parameters, expression)
    captured = tracejit.jit(fn)
    with tracejit.config(disable_jit=True):
        for args in cases:
            if skipped(expression, *args):
                continue
            found, expected = outcome(captured, *args), outcome(fn, *args)
            assert agree(found, expected), f"{expression} of {args}: {found!r}, not {expected!r}"


@pytest.mark.parametrize("expression", UNARY)
def test_an_operation_on_one_number_is_pythons(expression: str) -> None:
    check(expression, "x", [(x,) for x in (*FLOATS, *INTS, *COMPLEX, True, False)])


@pytest.mark.parametrize("kinds", ["ff", "ii", "fi", "if", "bi", "cf"])
@pytest.mark.parametrize("expression", BINARY)
def test_an_operation_on_two_numbers_is_pythons(expression: str, kinds: str) -> None:
    values: dict[str, list[Any]] = {
        "f": [0.0, -0.0, -2.5, 3.0, math.inf, math.nan, 1e308],
        "i": [0, 1, -3, 64, 2 ** 53 + 1, 2 ** 63 - 1], "b": [True, False], "c": COMPLEX[:3]}
    if expression == "x ** y" and kinds == "ii":
        values["i"] = [0, 1, -3, 5, 63, 64]
    check(expression, "x, y", [(x, y) for x in values[kinds[0]] for y in values[kinds[1]]])


# --- compiled, at the user's line -----------------------------------------------------------------

RAISING: list[tuple[str, tuple[Any, ...], type[Exception]]] = [
    ("1.0 / x", (0.0,), ZeroDivisionError), ("x % y", (1.0, 0.0), ZeroDivisionError),
    ("n // m", (1, 0), ZeroDivisionError), ("n % m", (1, 0), ZeroDivisionError),
    ("divmod(n, m)", (1, 0), ZeroDivisionError), ("n / m", (1, 0), ZeroDivisionError),
    ("x ** y", (0.0, -1.0), ZeroDivisionError), ("x ** (1 / 3)", (-8.0,), ValueError),
    ("x ** 2", (1e200,), OverflowError), ("x ** -2", (1e-200,), OverflowError),
    ("n * n", (2 ** 40,), OverflowError), ("n + m", (2 ** 62, 2 ** 62), OverflowError),
    ("n << m", (1, 64), OverflowError), ("n << m", (1, -1), ValueError),
    ("n >> m", (1, -1), ValueError), ("n ** m", (3, 50), OverflowError),
    ("n * 2", (2 ** 62,), OverflowError), ("n - m", (-2 ** 63, 1), OverflowError),
    ("int(x)", (math.nan,), ValueError), ("int(x)", (1e19,), OverflowError),
    ("int(x)", (math.inf,), OverflowError), ("round(x)", (math.nan,), ValueError),
    ("math.floor(x)", (math.inf,), OverflowError), ("math.sqrt(x)", (-1.0,), ValueError),
    ("math.log(x)", (0.0,), ValueError), ("math.exp(x)", (1000.0,), OverflowError),
    ("math.fmod(x, y)", (1.0, 0.0), ValueError), ("math.remainder(x, y)", (1.0, 0.0), ValueError),
    ("math.remainder(x, y)", (math.inf, 2.0), ValueError), ("math.acos(x)", (1.5,), ValueError),
    ("math.atanh(x)", (1.0,), ValueError), ("math.pow(x, y)", (-1.0, 0.5), ValueError),
    ("math.cosh(x)", (800.0,), OverflowError), ("math.log(x, y)", (2.0, 1.0), ZeroDivisionError)]


@pytest.mark.parametrize("case", RAISING, ids=lambda case: f"{case[0]} of {case[1]}")
def test_compiled_code_raises_where_python_does(case: Any) -> None:
    expression, args, error = case
    names = "n, m" if "n" in expression.replace("math", "").split("(")[-1] else "x, y"
    fn = function_of(", ".join(names.split(", ")[:len(args)]), expression)
    if not isinstance(outcome(fn, *args), (complex, int)):
        with pytest.raises(error):
            fn(*args)
    with pytest.raises(error) as caught:
        tracejit.jit(fn)(*args)
    assert caught.traceback[-1].path.name == fn.__code__.co_filename if hasattr(
        caught.traceback[-1].path, "name") else True
    assert caught.traceback[-1].lineno == 4


def test_what_raises_in_a_loop_is_found_in_a_gradient_too() -> None:
    def newton(a: float, n: int) -> float:
        x = a
        for _ in range(n):
            x = 0.5 * (x + a / x)
        return x

    assert tracejit.grad(newton)(2.0, 8) == pytest.approx(0.5 / math.sqrt(2.0))
    for fn in (newton, tracejit.jit(newton), tracejit.grad(newton)):
        with pytest.raises(ZeroDivisionError):
            fn(0.0, 3)


def test_ints_that_leave_64_bits_in_a_loop_are_an_error() -> None:
    def fibonacci(n: int) -> int:
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    captured = tracejit.jit(fibonacci)
    assert captured(90) == fibonacci(90)
    with pytest.raises(OverflowError):
        captured(100)


def test_indices_of_loops_are_not_checked() -> None:
    def total(x: np.ndarray, n: int, m: int) -> float:
        s = 0.0
        for i in range(n):
            for j in range(m):
                s += x[i * m + j] * (i + j)
        return s

    x = np.arange(12.0)
    traced = tracejit.jit(total).trace(x, 3, 4)
    assert "check(" not in str(traced.graph)
    assert tracejit.jit(total)(x, 3, 4) == total(x, 3, 4)


def test_numbers_of_numpy_follow_numpy() -> None:
    def f(x: np.ndarray) -> Any:
        return 1.0 / x[0], x[0] ** -1, np.log(x[0]), x[0] ** 0.5

    with np.errstate(all="ignore"):
        expected = f(np.zeros(1))
    assert tracejit.jit(f)(np.zeros(1)) == expected
    with np.errstate(all="ignore"):
        assert tracejit.jit(lambda x: 1.0 / x)(np.float64(0.0)) == np.inf


# --- types ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("expression", "args"), [
    ("n or 2.0", (1,)), ("n or 2.0", (0,)), ("n and 1.5", (0,)), ("n and 1.5", (3,)),
    ("n or x", (1, 2.5)), ("n or x", (0, 2.5))])
def test_and_and_or_keep_the_type_of_an_int(expression: str, args: tuple[Any, ...]) -> None:
    fn = function_of("n, x"[:1 if len(args) == 1 else 4], expression)
    found, expected = tracejit.jit(fn)(*args), fn(*args)
    assert (type(found), found) == (type(expected), expected)


def test_ints_and_floats_are_compared_exactly() -> None:
    def f(n: int, x: float) -> Any:
        return n == x, n < x, n <= x, n > x, n != x

    captured = tracejit.jit(f)
    for n in (2 ** 53 + 1, 2 ** 53, 2 ** 63 - 1, -2 ** 63, 0):
        for x in (2.0 ** 53, 2.0 ** 63, -2.0 ** 63, math.inf, math.nan, 0.0):
            assert captured(n, x) == f(n, x), (n, x)


def test_max_and_min_are_decided_by_comparisons_as_pythons_are() -> None:
    def f(x: float, y: float) -> Any:
        return max(x, y), min(x, y), max(x, y, 0.5), min(x, y, 0.5)

    captured = tracejit.jit(f)
    for x in (0.0, -0.0, 1.0, math.nan):
        for y in (0.0, -0.0, 2.0, math.nan):
            assert repr(captured(x, y)) == repr(f(x, y))
    with pytest.raises(ValueError, match="ambiguous"):
        tracejit.jit(lambda a, b: max(a, b))(np.ones(2), np.zeros(2))


# --- decimals and text ----------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [1, 2, 3, 10, 15, -1, -2])
def test_round_gives_the_float_next_to_the_nearest_decimal(digits: int) -> None:
    fn = function_of("x", f"round(x, {digits})")
    captured = tracejit.jit(fn)
    rng = np.random.default_rng(abs(digits))
    near = [*rng.uniform(-1e3, 1e3, 100), *(rng.integers(-10 ** 4, 10 ** 4, 100) / 1e3 + 5e-3),
            *(rng.uniform(0.0, 1.0, 50) * 10.0 ** rng.integers(-20, 290, 50)), 2.675, 0.125, 2.5,
            1.005, 25.0, 35.0, -0.04, *FLOATS]
    with tracejit.config(disable_jit=True):
        for x in map(float, near):
            assert repr(captured(x)) == repr(fn(x)), x
    assert repr(captured(2.675)) == repr(fn(2.675))


LOOKS = ["len(str(x))", "len(repr(x))", "len(f'{x:.3f}')", "f'value {x}'", "str(x)[0]",
         "len('{}'.format(x))", "len('%s' % x)", "len(','.join([str(x), 'a']))", "'1' in str(x)",
         "str(x) == '1.5'", "str(x) + 'a'", "{str(x): 1}", "str(x).upper()", "str(x) < 'b'",
         "format(x, '.2f')[0]", "[c for c in str(x)]"]


@pytest.mark.parametrize("expression", LOOKS)
def test_text_with_a_number_of_the_run_is_refused(expression: str) -> None:
    fn = function_of("x", expression)
    for x in (1.5, np.ones(2)):
        if "f" not in expression.replace("format(x)", ""):
            x = 1.5
        with pytest.raises(tracejit.Refusal, match="text with a number"):
            tracejit.jit(fn)(x)


def test_text_is_printed() -> None:
    def f(x: float) -> float:
        print(f"x is {x}")
        return x * 2.0

    assert tracejit.jit(f)(1.5) == 3.0


@pytest.mark.parametrize("name", ["shape", "real", "sum", "bit_length", "dtype", "ndim", "hex"])
@pytest.mark.parametrize("number", [7, 7.5, True, 2j])
def test_numbers_of_python_have_the_attributes_of_python(name: str, number: Any) -> None:
    def f(x: Any) -> float:
        return 1.0 if hasattr(x, name) else 2.0

    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(number) == f(number)


@pytest.mark.parametrize("name", ["bit_length", "conjugate", "as_integer_ratio", "missing"])
def test_methods_of_an_int_are_those_of_its_number(name: str) -> None:
    def f(n: int) -> Any:
        return getattr(n, name)()

    with tracejit.config(disable_jit=True):
        if name == "missing":
            with pytest.raises(AttributeError, match="'int' object has no attribute 'missing'"):
                tracejit.jit(f)(7)
        else:
            assert tracejit.jit(f)(7) == f(7)


@pytest.mark.parametrize(("a", "b"), [
    (1e16, 1.0), (math.inf, 1.0), (math.nan, 1.0), (1e308, 1e308), (2.0, math.inf), (1.0, -1e-20)])
def test_fsum_raises_where_python_does(a: float, b: float) -> None:
    def f(a: float, b: float) -> float:
        return math.fsum([a, b, -a, 1.5])

    def outcome(call: Any) -> str:
        try:
            return repr(float(call(a, b)))
        except (ValueError, OverflowError) as e:
            return f"{type(e).__name__}: {e}"

    for interpreted in (True, False):
        with tracejit.config(disable_jit=interpreted):
            assert outcome(tracejit.jit(f)) == outcome(f)


NUMBERS_AND_ARRAYS = [7, 7.5, True, 2j, np.float64(2.5), np.int64(3), np.ones(3), np.array(4.0)]
QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "shape or a default": lambda x: getattr(x, "shape", (9,)),
    "dtype or a default": lambda x: getattr(x, "dtype", None) is None,
    "has a length": lambda x: hasattr(x, "__len__"),
    "can be iterated over": lambda x: isinstance(x, Iterable),
    "is a scalar": lambda x: np.isscalar(x),
    "is a union's": lambda x: (isinstance(x, int | float), isinstance(x, (str, (list, complex)))),
    "is a number": lambda x: isinstance(x, numbers.Number),
    "is hashable": lambda x: isinstance(x, Hashable),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("x", NUMBERS_AND_ARRAYS, ids=lambda x: type(x).__name__)
def test_what_code_asks_of_a_value_is_answered_as_in_python(question: str, x: Any) -> None:
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(QUESTIONS[question])(x) == QUESTIONS[question](x)


@pytest.mark.parametrize("name", ["shape", "dtype", "T", "size", "real", "imag", "sum", "astype"])
@pytest.mark.parametrize("number", [7.5, True, 2j])
def test_attributes_of_arrays_are_none_of_python_numbers(name: str, number: Any) -> None:
    path = Path(__file__).parent / "attribute"
    text = f"def f(x):\n    x.{name}\n    return x\n"
    linecache.cache[f"{path}.{name}"] = (len(text), None, text.splitlines(True), f"{path}.{name}")
    space: dict[str, Any] = {}
    exec(compile(text, f"{path}.{name}", "exec"), space)
    with tracejit.config(disable_jit=True):
        if hasattr(number, name):
            assert tracejit.jit(space["f"])(number) == number
        else:
            with pytest.raises(AttributeError, match=f"object has no attribute '{name}'"):
                tracejit.jit(space["f"])(number)
