"""Messages to users: each error names the user's own line and, where there is one, a remedy.

A case is a function, marked by a comment `# <-- here` on the line to be named, with the exact text.
"""

from __future__ import annotations

import functools
import random
import re
import time
import traceback
import types
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import tracejit
from tracejit.errors import Refusal
from tracejit.ir.dtypes import remedy_for_dtype

X = np.array([1.0, 2.0, 3.0])
A = np.ones((3, 4))
HERE = "# <-- here"
OUTER = np.ones(3)
ITEMS = [1.0]
TOTAL = 0.0


def marked_line(fn: Any) -> str:
    """Return `file:line` of the line of a function that is marked; its first where none is."""
    code = fn.__code__
    with open(code.co_filename) as f:
        lines = f.read().splitlines()
    for number in range(code.co_firstlineno, len(lines) + 1):
        if HERE in lines[number - 1]:
            return f"{code.co_filename}:{number}"
        if number > code.co_firstlineno and lines[number - 1].startswith(("def ", "class ", "@")):
            break
    return f"{code.co_filename}:{code.co_firstlineno}"


def error_of(call: Callable[[], Any]) -> BaseException:
    """Return the exception that a call raises, having checked that nothing of Numba's is in it."""
    with pytest.raises(Exception) as caught:
        call()
    text = "".join(traceback.format_exception(caught.value))
    assert "numba" not in text.lower().replace("docs/coverage.md", "")
    assert "llvm" not in text.lower()
    return caught.value


def without_line(error: BaseException) -> str:
    """Return a refusal's text without the file and line, which are this file's."""
    place, text = getattr(error, "text", str(error)).split(": ", 1)
    assert re.fullmatch(re.escape(__file__) + r":\d+", place)
    return text


def assert_refused(fn: Any, args: tuple[Any, ...], text: str,
                   transform: Any = tracejit.jit) -> None:
    """Assert that a capture is refused with exactly this text, at the marked line."""
    error = error_of(lambda: transform(fn)(*args))
    assert isinstance(error, Refusal)
    assert isinstance(error, TypeError)
    assert error.text == f"{marked_line(fn)}: {text}"


# --- constructs that are refused ------------------------------------------------------------------


def generates(x: Any) -> Any:  # <-- here
    for k in range(3):
        yield x * k


def tries(x: Any) -> Any:
    try:  # <-- here
        y = np.arange(3.0)[[int(x)]]
    except IndexError:
        y = 0.0
    return y


def matches(x: Any) -> Any:
    match x:  # <-- here
        case {"rate": r}:
            return r
        case _:
            return 2.0 * x


async def awaits(x: Any) -> Any:
    return x


def assigns_global(x: Any) -> Any:
    global TOTAL  # <-- here
    TOTAL = x
    return x


def shrinks(x: Any, n: Any) -> Any:
    state = x, 0.0
    for _ in range(n):  # <-- here
        state = state[0][1:], state[1] + 1.0
    return state[0]


def appends(x: Any) -> Any:
    found = []
    while x < 10.0:  # <-- here
        x = x * 2.0
        found.append((x, "x"))
    return len(found)


def chooses_an_object(x: Any) -> Any:
    if x > 0.0:
        chosen = Fraction(1, 2)
    else:
        chosen = Fraction(1, 3)
    return f"{chosen}"  # <-- here


def differs(x: Any) -> Any:
    if x > 0.0:
        y = x
    else:
        y = None
    return f"{y}"  # <-- here


def writes_to_outer(x: Any) -> Any:
    OUTER[0] = x  # <-- here
    return x


def appends_to_outer(x: Any) -> Any:
    ITEMS.append(x)  # <-- here
    return x


def indexes_list(x: Any) -> Any:
    return [1, 2.0, x[0]][np.argmax(x)] ** 2  # <-- here


def indexes_dict(x: Any) -> Any:
    return {"a": 1.0}[x[0]]  # <-- here


def counter() -> Callable[[Any], Any]:
    k = 0

    def tick(x: Any) -> Any:
        nonlocal k  # <-- here
        k += 1
        return x * k

    return tick


WEIGHTS = iter(ITEMS)


def reads_on(x: Any) -> Any:
    return x * next(WEIGHTS)  # <-- here


def remembers(x: Any) -> Any:
    @functools.lru_cache
    def square(k: int) -> Any:
        return x[k] ** 2

    s = square(0) if x[0] > 0.0 else square(1)
    return s + square(0)  # <-- here


def recurses(x: Any) -> Any:
    return x if x < 1.0 else min(recurses(y) for y in (x - 1.0, x - 2.0))  # <-- here


def finds_root(x: Any) -> Any:
    return scipy.optimize.leastsq(lambda t: t - x, x)[0]


REFUSED: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "generator": (generates, (0.5,),
                  "a generator that is returned cannot be captured. Return a list of its items: "
                  "list(...)"),
    "try": (tries, (0.5,),
            "`try` around captured operations, whose exceptions are not raised while they "
            "are captured. Test with `if` before, or move the try outside"),
    "match": (matches, (0.5,), "`match` on a traced value. Use if and elif"),
    "async": (awaits, (0.5,),
              "async code cannot be captured. Call the compiled function from async code "
              "instead"),
    "global": (assigns_global, (0.5,),
               "assigning to a global cannot be captured. Return the new value and "
               "assign it outside."),
    "array that shrinks": (shrinks, (X, 2),
                           "'state' has shape (n,) before an iteration of this loop and "
                           "(max(n - 1, 0),) after it. Make it as large as it will get before the "
                           "loop, "
                           "and write to parts of it"),
    "append in a while": (appends, (0.5,),
                          "this `while` on data cannot be captured: a list that gets longer as "
                          "data decides holds items of type tuple. Fill an array that is made "
                          "before it, and give every name that it changes one kind of value"),
    "objects by data": (chooses_an_object, (0.5,),
                        "'chosen' is one of several things, each a Fraction, depending on data "
                        "since {file}:{line-2}, and this needs to know which. Ask first (`is "
                        "None`, isinstance), and give it one kind of value on all paths"),
    "kinds that differ": (differs, (0.5,),
                          "'y' is a number or None, depending on data since {file}:{line-2}, and "
                          "this needs to know which. Ask first (`is None`, isinstance), and give "
                          "it one kind of value on all paths"),
    "outer array": (writes_to_outer, (0.5,),
                    "writing to an array from outside of the captured function. "
                    "Work on a copy: x = x.copy()"),
    "outer closure": (counter(), (0.5,),
                      "binding 'k' by `nonlocal` in a function that was made outside of the "
                      "captured one. Return the new value and assign it outside"),
    "outer iterator": (reads_on, (0.5,),
                       "changing a list_iterator from outside of the captured function. "
                       "Return the new value instead, or work on a copy made inside"),
    "value of a branch": (remembers, (X,),
                          "a value that was computed inside a loop or branch is used outside of "
                          "it: something that is not captured kept it. Keep it in a name, a list, "
                          "or an attribute that captured code assigns to"),
    "outer list": (appends_to_outer, (0.5,),
                   "changing a list from outside of the captured function. "
                   "Return the new value instead, or work on a copy made inside"),
    "list at data": (indexes_list, (X,), "a list is indexed by a traced value. Make it an array: "
                     "np.array(...)[i]"),
    "dict at data": (indexes_dict, (X,), "a dict is indexed by a traced value. Make it an array: "
                     "np.array(...)[i]"),
    "recursion on data": (recurses, (5.0,),
                          "a recursion that ends on data, with a call of itself in a "
                          "comprehension or a function within, cannot be captured. "
                          "Write a loop with a stack, or let the recursion end on a size"),
    "function": (lambda x: np.packbits(x), (X,),
                 "numpy.packbits cannot be captured: it moves bits of ints, which have no "
                 "derivative. Use `>>` and `&`"),
    "ufunc": (lambda x: np.isnat(x), (X,),
              "np.isnat cannot be captured: it is about dates. Pass numbers of days or seconds"),
    "method": (lambda x: x.tobytes(), (X,),
               "arrays have no captured attribute 'tobytes'. docs/coverage.md "
               "lists the methods and attributes that are captured"),
    "half precision": (lambda x: np.nextafter(x, x), (np.ones(3, np.float16),),
                       "np.nextafter of float16 cannot be captured. Convert the operands first: "
                       "x.astype(np.float32)"),
    "np.random": (lambda x: x * np.random.rand(), (X,),
                  "numpy.random.rand gives another value at every "
                  "call, and a captured function would keep the first. Call it outside and pass "
                  "the value "
                  "as an argument"),
    "random": (lambda x: x * random.random(), (X,),
               "random.random gives another value at every call, and a "
               "captured function would keep the first. Call it outside and pass the value as an "
               "argument"),
    "time": (lambda x: x * time.time(), (X,),
             "time.time gives another value at every call, and a captured "
             "function would keep the first. Call it outside and pass the value as an argument"),
    "foreign library": (finds_root, (0.5,),
                        "scipy.optimize.leastsq cannot be captured: it searches for a minimum, and "
                        "a result where a search stops has no derivative of its own. Use "
                        "scipy.optimize.minimize or least_squares, or call it in a solver under "
                        "tracejit.custom_root"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_line_and_remedy(name: str) -> None:
    fn, args, text = REFUSED[name]
    file, _, line = marked_line(fn).rpartition(":")
    if fn is finds_root:  # the line is that of the function's body
        line = str(int(line) + 1)
        error = error_of(lambda: tracejit.jit(fn)(*args))
        assert error.text == f"{file}:{line}: {text}"
        return
    text = text.replace("{file}", file).replace("{line-2}", str(int(line) - 4))
    assert_refused(fn, args, text)


def test_refusals_are_the_same_from_a_gradient() -> None:
    assert_refused(matches, (0.5,), "`match` on a traced value. Use if and elif", tracejit.grad)


STRANGE: list[tuple[Any, list[str]]] = [
    (np.array([0.5, 1.5], np.longdouble), ["x.astype(np.float64)"]),
    (np.array([0.5, 1.5j], np.clongdouble), ["x.astype(np.complex128)"]),
    (np.array([1, 2.5], object), ["np.array(x, dtype=float)"]),
    (np.array(["1", "2"]), ["x.astype(float)", "np.unique(x, return_inverse=True)[1]"]),
    (np.array([b"1", b"2"]), ["x.astype(float)"]),
    (np.array(["2020-01-01", "2021-01-01"], "M8[D]"), ["(x - x[0]) / np.timedelta64(1, 's')"]),
    (np.array([3, 4], "m8[h]"), ["x / np.timedelta64(1, 's')"]),
    (np.ones(2, np.dtype({"names": ["a", "b"], "formats": ["f8", "i4"], "offsets": [0, 4]})),
     ["x['a']", "x['b']"])]


@pytest.mark.parametrize(("array", "codes"), STRANGE)
def test_arrays_of_other_dtypes_are_refused_with_what_to_do_instead(array: Any,
                                                                    codes: list[str]) -> None:
    with tracejit.config(disable_jit=True):
        error = error_of(lambda: tracejit.jit(lambda x: x)(array))
        assert isinstance(error, Refusal)
        head, _, remedy = without_line(error).partition(", which cannot be captured. ")
        assert head == f"an argument is an array of dtype {array.dtype}"
        for code in codes:
            assert code in remedy
            given = eval(code, {"x": array, "np": np})
            np.testing.assert_array_equal(tracejit.jit(lambda x: x * 2)(given), given * 2)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4", "uint2"])
def test_dtypes_of_other_libraries_are_refused_with_what_to_do_instead(name: str) -> None:
    dtype: Any = types.SimpleNamespace(name=name, names=None)  # as ml_dtypes has them
    assert re.fullmatch(r"Convert it outside: x\.astype\(np\.(float32|int8)\)",
                        remedy_for_dtype(dtype))


def test_a_number_of_another_dtype_has_no_gradient() -> None:
    error = error_of(lambda: tracejit.grad(lambda x: x * 2.0)(np.longdouble(1.0)))
    assert f"argument 'x' is of dtype {np.dtype(np.longdouble)}. Pass a float" in str(error)


@pytest.mark.parametrize("argument", [np.ma.array([1.0, 2.0], mask=[0, 1]), np.matrix([[1.0]])],
                         ids=["masked array", "matrix"])
def test_arrays_that_are_more_than_arrays_are_refused(argument: Any) -> None:
    """Also where a plain array was there before: the mask must not be dropped in silence."""
    with tracejit.config(disable_jit=True):
        f = tracejit.jit(lambda x: x * 2.0)
        f(np.ones(argument.shape))
        error = error_of(lambda: f(argument))
    assert isinstance(error, Refusal)
    remedy = ("Pass x.data and np.ma.getmaskarray(x) as two arrays"
              if isinstance(argument, np.ma.MaskedArray) else "Pass np.asarray(x)")
    assert without_line(error) == (f"an argument is a {type(argument).__name__}, whose operations "
                                   f"mean something else than an array's. {remedy}")


def writes_then_reads(x: Any, y: Any) -> Any:
    x[0] = 5.0
    return y[0] * 1.0


@pytest.mark.parametrize("interpreted", [False, True])
def test_a_written_argument_that_overlaps_another_is_refused(interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        f = tracejit.jit(writes_then_reads)
        x = np.arange(6.0)
        for a, b in ((x[:4], x[2:]), (x[::2], x[:3])):
            error = error_of(lambda a=a, b=b: f(a, b))
            assert isinstance(error, Refusal)
            line = writes_then_reads.__code__.co_firstlineno + 1
            assert error.text == (f"{__file__}:{line}: argument 'x', which is written to, shares "
                                  "memory with argument 'y'. Pass a copy: x.copy()")
        np.testing.assert_array_equal(x, np.arange(6.0))
        y = np.arange(6.0)
        assert f(y, y) == 5.0  # one array under two names
        assert y[0] == 5.0
        assert f(x[::2], x[1::2]) == 1.0  # neighbours in memory, and apart
        assert x[0] == 5.0


def writes_nowhere(x: Any, y: Any, n: int) -> Any:
    for k in range(n):
        if MODE == "writing":
            x[k] = 5.0
        elif y[k] > 1.0:
            pass
    return x[0] * y[1]


def writes_nowhere_while(x: Any, y: Any, n: int) -> Any:
    while n > 0 and y[0] < 100.0:
        n -= 1
        for k in range(n):
            if MODE == "writing":
                x[k] = 5.0
    return x[0] * y[1]


MODE = "reading"


@pytest.mark.parametrize("function", [writes_nowhere, writes_nowhere_while])
@pytest.mark.parametrize("interpreted", [False, True])
def test_an_array_that_no_iteration_writes_to_may_overlap_another(
        function: Any, interpreted: bool) -> None:
    """The name of a place in a loop's text is no write: nothing is to be refused, in no line."""
    x = np.arange(6.0)
    with tracejit.config(disable_jit=interpreted):
        for a in (x[:4], np.broadcast_to(3.0, 4)):
            assert tracejit.jit(function)(a, x[2:], 3) == function(a, x[2:], 3)
        value, (dx, dy) = tracejit.value_and_grad(function, argnums=(0, 1))(x[:4], x[2:], 3)
    assert value == 0.0
    np.testing.assert_array_equal(dx, [3.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(dy, np.zeros(4))


def test_hasattr_sees_the_methods_of_arrays_captured_or_not() -> None:
    f = tracejit.jit(lambda x: x.tobytes() if hasattr(x, "tobytes") else x + 1.0)
    with pytest.raises(tracejit.Refusal, match="'tobytes'"):
        f(X)  # as with absent attributes, the other choice would be another program than Python's
    g = tracejit.jit(lambda x: x.mine() if hasattr(x, "mine") else x + 1.0)
    np.testing.assert_array_equal(g(X), X + 1.0)


# --- errors that NumPy raises too -----------------------------------------------------------------


def misfits(x: Any, y: Any) -> Any:
    z = x * 2.0
    return z + y  # <-- here


def writes_misfit(x: Any, y: Any) -> Any:
    z = np.zeros(3)
    z[:] = y  # <-- here
    return z + x


def adds_float_to_ints(x: Any) -> Any:
    x += 0.5  # <-- here
    return x


def reads_nowhere(x: Any) -> Any:
    return x * nowhere  # noqa: F821  # <-- here


def unpacks(x: Any) -> Any:
    a, b = x  # <-- here
    return a + b


CAPTURE_ERRORS: dict[str, tuple[Any, tuple[Any, ...], type, str]] = {
    "add": (misfits, (X, np.ones(4)), ValueError,
            "operands could not be broadcast together with shapes (3,) (4,)"),
    "write": (writes_misfit, (X, np.ones(4)), ValueError,
              "could not broadcast input array from shape (4,) into shape (3,)"),
    "matmul": (lambda x, y: x @ y, (A, X), ValueError,
               "matmul: shapes (3,4) and (3,) do not match in the summed dimension 'j'"),
    "reshape": (lambda x: x.reshape(2, 2), (X,), ValueError,
                "cannot reshape array of size 3 into shape (2,2)"),
    "stack": (lambda x, y: np.stack([x, y]), (X, np.ones(4)), ValueError,
              "all the input array dimensions except for the concatenation axis must match "
              "exactly"),
    "square": (lambda x: np.linalg.cholesky(x), (A,), np.linalg.LinAlgError,
               "Last 2 dimensions of the array must be square"),
    "axis": (lambda x: np.sum(x, axis=2), (A,), np.exceptions.AxisError,
             "axis 2 is out of bounds for array of dimension 2"),
    "empty": (lambda x: np.max(x), (np.zeros(0),), ValueError,
              "zero-size array to reduction operation maximum which has no identity"),
    "indices": (lambda x: x[0, 0], (X,), IndexError,
                "too many indices for array: array is 1-dimensional, but 2 were indexed"),
    "float index": (lambda x, t: x[t], (X, 1.0), IndexError,
                    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
                    "integer or "
                    "boolean arrays are valid indices"),
    "float of array": (lambda x: float(x), (X,), TypeError,
                       "only 0-dimensional arrays can be converted to Python scalars"),
    "truth of array": (lambda x: 1.0 if x > 0.0 else 2.0, (X,), ValueError,
                       "The truth value of an array with more than one element is ambiguous. Use "
                       "a.any() "
                       "or a.all()"),
    "in place": (adds_float_to_ints, (np.arange(3),), TypeError,
                 "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int64') with "
                 "casting rule "
                 "'same_kind'"),
    "name": (reads_nowhere, (0.5,), NameError, "name 'nowhere' is not defined"),
    "unpack": (unpacks, (X,), ValueError, "too many values to unpack (expected 2)"),
    "zip": (lambda x, y: sum(a * b for a, b in zip(x, y, strict=True)), (X, np.ones(2)), ValueError,
            "zip() has arguments of different lengths"),
    "arguments": (lambda x, y: x, (0.5,), TypeError,
                  "<lambda>() missing 1 required positional argument: 'y'"),
}


@pytest.mark.parametrize("name", CAPTURE_ERRORS)
def test_errors_of_a_capture_are_numpys_and_note_the_line(name: str) -> None:
    fn, args, kind, text = CAPTURE_ERRORS[name]
    error = error_of(lambda: tracejit.jit(fn)(*args))
    assert type(error) is kind
    assert str(error) == text
    assert error.__notes__ == [f"while tracejit captured {marked_line(fn)}"]


# --- errors at run time ---------------------------------------------------------------------------


def reads_beyond(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i + 1]  # <-- here
    return total


def reads_at(x: Any, i: Any) -> Any:
    return 2.0 * x[i]  # <-- here


def writes_at(x: Any, i: Any) -> Any:
    y = x * 1.0
    y[i] = 1.0  # <-- here
    return np.sum(y)


def set_in_one_branch(x: Any) -> Any:
    if x > 0.0:
        y = 2.0 * x
    return y  # <-- here


def set_in_loop(x: Any) -> Any:
    for _ in range(int(x)):
        y = 2.0 * x
    return y  # <-- here


def asserts(x: Any) -> Any:
    assert x > 0.0, "x must be positive"  # <-- here
    return np.log(x)


def raises(x: Any) -> Any:
    if x < 0.0:
        raise ValueError("no root of {this}")  # <-- here
    return np.sqrt(x)


def factors(x: Any) -> Any:
    return np.sum(np.linalg.cholesky(x))  # <-- here


def solves(x: Any) -> Any:
    return np.sum(np.linalg.solve(x, np.ones(3)))  # <-- here


def raises_either_way(x: Any) -> Any:
    if x < 0.0:
        raise ValueError("negative")  # <-- here
    else:
        raise IndexError("positive")


def reads_the_tenth(x: Any) -> Any:
    return x[9]  # <-- here


def reads_the_tenth_to_last(x: Any) -> Any:
    return x[-10]  # <-- here


def reads_beyond_the_first(x: Any) -> Any:
    total = 0.0
    for i in range(5):
        total = total + x[-1 - i]  # <-- here
    return total


def reads_beyond_the_first_of_two(x: Any) -> Any:
    few, total = np.array([x[0], x[1]]), 0.0
    for i in range(len(x)):
        total = total + few[-1 - i]  # <-- here
    return total


def to_the_power(n: Any, m: Any) -> Any:
    return n ** m  # <-- here


def to_the_power_of_data(n: Any, x: Any) -> Any:
    return n ** int(x[0])  # <-- here


UNSET = ("cannot access local variable 'y' where it is not associated with a value: it is set in "
         "only one "
         "branch, or in a loop that did not run. Set it before")
RUN_ERRORS: dict[str, tuple[Any, tuple[Any, ...], type, str]] = {
    "index in a loop": (reads_beyond, (X,), IndexError,
                        "index 3 is out of bounds for axis 0 with size 3"),
    "index argument": (reads_at, (X, 7), IndexError,
                       "index 7 is out of bounds for axis 0 with size 3"),
    "negative index": (reads_at, (X, -4), IndexError,
                       "index -4 is out of bounds for axis 0 with size 3"),
    "index array": (reads_at, (X, np.array([0, 9])), IndexError,
                    "index 9 is out of bounds for axis 0 with size 3"),
    "a number": (reads_the_tenth, (X,), IndexError,
                 "index 9 is out of bounds for axis 0 with size 3"),
    "a number from the end": (reads_the_tenth_to_last, (X,), IndexError,
                              "index -10 is out of bounds for axis 0 with size 3"),
    "a loop from the end": (reads_beyond_the_first, (X,), IndexError,
                            "index -4 is out of bounds for axis 0 with size 3"),
    "a loop from the end of few": (reads_beyond_the_first_of_two, (X,), IndexError,
                                   "index -3 is out of bounds for axis 0 with size 2"),
    "write": (writes_at, (X, 5), IndexError, "index 5 is out of bounds for axis 0 with size 3"),
    "branch": (set_in_one_branch, (-1.0,), UnboundLocalError, UNSET),
    "loop": (set_in_loop, (0.5,), UnboundLocalError, UNSET),
    "assert": (asserts, (-1.0,), AssertionError, "x must be positive"),
    "raise": (raises, (-1.0,), ValueError, "no root of {this}"),
    "raise in both branches": (raises_either_way, (-1.0,), ValueError, "negative"),
    "negative power of ints": (to_the_power, (np.array([2, 3]), -1 * np.ones(2, int)), ValueError,
                               "Integers to negative integer powers are not allowed."),
    "negative power of an int": (
        to_the_power_of_data, (2, np.array([-1.0])), ValueError,
        "an int to the power of a negative int is a float in Python, and which it is depends on "
        "data: make one of them a float"),
    "cholesky": (factors, (-np.eye(3),), np.linalg.LinAlgError, "Matrix is not positive definite"),
    "solve": (solves, (np.zeros((3, 3)),), np.linalg.LinAlgError, "Singular matrix"),
}


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("name", RUN_ERRORS)
def test_errors_at_run_time_end_at_the_users_line(name: str, interpreted: bool) -> None:
    fn, args, kind, text = RUN_ERRORS[name]
    with tracejit.config(disable_jit=interpreted):
        error = error_of(lambda: tracejit.jit(fn)(*args))
    assert type(error) is kind
    assert str(error) == text
    file, _, line = marked_line(fn).rpartition(":")
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name) == (file, int(line), fn.__name__)


@pytest.mark.parametrize("name", ["index in a loop", "raise"])
def test_errors_at_run_time_are_the_same_from_a_gradient(name: str) -> None:
    fn, args, kind, text = RUN_ERRORS[name]
    error = error_of(lambda: tracejit.grad(fn)(*args))
    assert type(error) is kind
    assert str(error) == text
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert f"{last.filename}:{last.lineno}" == marked_line(fn)


def test_a_failed_call_leaves_the_function_usable() -> None:
    f = tracejit.jit(raises)
    error_of(lambda: f(-1.0))
    assert f(4.0) == 2.0


# --- transforms -----------------------------------------------------------------------------------


SCALAR = ("{where}: grad needs a function with a real scalar result, but {name} returns {what}. "
          "Sum or "
          "average the result (np.sum, np.mean), or use tracejit.vjp or tracejit.jvp")


@pytest.mark.parametrize(("fn", "args", "what"), [
    (lambda x: x * x, (X,), "f64[n]"), (lambda x: None, (X,), "None"),
    (lambda x: np.argmax(x), (X,), "i64[]"),
    (lambda x: 3, (1.0,), "an object of type int"), (lambda x: (x, x), (1.0,),
                                                     "an object of type tuple"),
    (lambda x: np.sum(x * 1j), (X,), "c128[]")],
    ids=["array", "None", "int64", "int", "tuple", "complex"])
def test_grad_of_no_real_scalar(fn: Any, args: tuple[Any, ...], what: str) -> None:
    error = error_of(lambda: tracejit.grad(fn)(*args))
    assert type(error) is TypeError
    has_aux = ". For (value, auxiliary data), use grad with has_aux=True"
    assert str(error) == SCALAR.format(where=marked_line(fn), name="_lambda", what=what) + (
        has_aux if "tuple" in what else "")


@pytest.mark.parametrize(("argument", "what", "name"), [
    (3, "of dtype int64", "x"), (np.arange(3), "of dtype int64", "x"),
    (np.ones(2, bool), "of dtype bool", "x"),
    ("a", "no number", "x"), ({"w": 3}, "of dtype int64", "x['w']")],
    ids=["int", "int array", "bool array", "str", "in a dict"])
def test_grad_by_no_float(argument: Any, what: str, name: str) -> None:
    def fn(x: Any) -> Any:
        return 1.0

    error = error_of(lambda: tracejit.grad(fn)(argument))
    assert type(error) is TypeError
    assert str(error) == (
        f"{fn.__code__.co_filename}:{fn.__code__.co_firstlineno}: grad needs floats to "
        f"differentiate by, but "
        f"argument {name!r} is {what}. Pass a float (1.0, x.astype(float)), or choose other "
        f"arguments with "
        "argnums")


SQUARE = lambda x: x * x  # noqa: E731
USES: dict[str, tuple[Callable[[], Any], type, str]] = {
    "argnums beyond": (lambda: tracejit.grad(SQUARE, argnums=1)(1.0), TypeError,
                       "argnums has 1, but the call has 1 positional arguments"),
    "argnums unknown": (lambda: tracejit.grad(SQUARE, argnums="z")(1.0), TypeError,
                        "argnums names 'z', but the function's arguments are 'x'"),
    "argnums float": (lambda: tracejit.grad(SQUARE, argnums=1.5), TypeError,
                      "argnums are positions or names of arguments, not 1.5"),
    "argnums empty": (lambda: tracejit.grad(SQUARE, argnums=()), TypeError,
                      "argnums is empty: there is nothing to differentiate by"),
    "no function": (lambda: tracejit.grad(3), TypeError, "a transform takes a function, not 3"),
    "no function for vjp": (lambda: tracejit.vjp(3), TypeError,
                            "a transform takes a function, not 3"),
    "cotangent shape": (lambda: tracejit.vjp(SQUARE, X)[1](np.ones(4)), ValueError,
                        "the cotangent of the result has shape (4,), but the result has shape "
                        "(3,)"),
    "cotangent structure": (lambda: tracejit.vjp(SQUARE, X)[1]((X, X)), TypeError,
                            "the cotangent has another structure than the result"),
    "cotangent complex": (lambda: tracejit.vjp(SQUARE, X)[1](X * 1j), TypeError,
                          "a complex tangent or cotangent of something of dtype float64"),
    "tangent structure": (lambda: tracejit.jvp(SQUARE, (X,), (X, X)), TypeError,
                          "primals and tangents have different structures"),
    "tangent shape": (lambda: tracejit.jvp(SQUARE, (X,), (np.ones(4),)), ValueError,
                      "the tangent of argument[0] has shape (4,), but argument[0] has shape (3,)"),
    "tangents bare": (lambda: tracejit.jvp(SQUARE, X, X), TypeError,
                      "jvp takes the arguments and their tangents as two tuples: jvp(f, (x, y), "
                      "(x_dot, "
                      "y_dot))"),
    "spec": (lambda: tracejit.spec("f65[n]"), ValueError,
             "'f65[n]' is no spec: write a dtype (bool, i8, i16, i32, i64, u8, u16, u32, u64, "
             "f16, f32, f64, c64, "
             "c128) with sizes in brackets, as in 'f64[n, 3]', or 'float', 'int', 'complex'"),
    "RegisterGradient": (lambda: tracejit.RegisterGradient(3), TypeError,
                         "RegisterGradient takes the name of an op type as a string, not 3"),
    "no_gradient": (lambda: tracejit.no_gradient(3), TypeError,
                    "no_gradient takes the name of an op type as a string, not 3"),
}


@pytest.mark.parametrize("name", USES)
def test_misuse_is_told_what_is_wrong(name: str) -> None:
    call, kind, text = USES[name]
    error = error_of(call)
    assert type(error) is kind
    assert str(error) == text


def test_has_aux_without_a_pair() -> None:
    error = error_of(lambda: tracejit.grad(SQUARE, has_aux=True)(1.0))
    assert str(error) == (f"{marked_line(SQUARE)}: grad with has_aux=True needs a function that "
                          f"returns a "
                          "pair (value, auxiliary data)")


def test_an_unknown_setting_is_an_error() -> None:
    with pytest.raises(TypeError, match="colour"), tracejit.config(colour=True):
        pass


# --- ops of one's own -----------------------------------------------------------------------------

OPAQUE = tracejit.register_op("MessagesOpaque", lambda x: np.sin(x))


def through_opaque(x: Any) -> Any:
    y = 2.0 * x
    return np.sum(OPAQUE(y))  # <-- here


@pytest.mark.parametrize("transform", [
    tracejit.grad, tracejit.value_and_grad,
    lambda f: lambda x: tracejit.vjp(f, x)[1](1.0),
    lambda f: lambda x: tracejit.jvp(f, (x,), (x,))], ids=["grad", "value_and_grad", "vjp", "jvp"])
def test_an_op_without_a_rule_is_a_lookup_error_naming_op_and_line(transform: Any) -> None:
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(through_opaque)(X) == np.sum(np.sin(2.0 * X))
        error = error_of(lambda: transform(through_opaque)(X))
    assert type(error) is LookupError
    assert str(error).startswith(f"{marked_line(through_opaque)}: ")
    assert "'MessagesOpaque'" in str(error)
    assert "RegisterGradient" in str(error) or "use reverse mode" in str(error)


def test_registering_twice_is_a_key_error() -> None:
    tracejit.register_op("MessagesTwice", np.sin)
    for again in (lambda: tracejit.register_op("MessagesTwice", np.cos),
                  lambda: tracejit.register_op("tanh", np.tanh)):
        with pytest.raises(KeyError, match="registered already"):
            again()
    tracejit.RegisterGradient("MessagesTwice")(lambda op, grad: grad)
    with pytest.raises(KeyError, match="MessagesTwice"):
        tracejit.RegisterGradient("MessagesTwice")(lambda op, grad: grad)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: tracejit.register_op(3, np.sin),
     "register_op takes the name of an op type as a string, not 3"),
    (lambda: tracejit.register_op("MessagesNone", 3), "register_op takes a function, not 3"),
    (lambda: tracejit.custom_gradient(3), "custom_gradient takes a function, not 3")])
def test_ops_of_the_wrong_type(call: Any, text: str) -> None:
    error = error_of(call)
    assert type(error) is TypeError
    assert str(error) == text


# --- numbers in messages, and numbers that do not fit ---------------------------------------------


def complains(x: Any, n: int) -> Any:
    for i in range(len(x)):
        if x[i] > 1.5:
            raise ValueError(f"{{x}}[{i}] is {x[i]:.3e}, {'not ' + str(n)}")
    assert x[0] > 0.0, "x[0] is %s" % x[0]  # noqa: UP031  (as users write it)
    return n


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("x", [X, X - 2.0, X[:0] + 1.0])
def test_messages_on_data_show_numbers(x: Any, interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        ours = error_of(lambda: tracejit.jit(complains)(x, 7))
    theirs = error_of(lambda: complains(x, 7))
    if isinstance(theirs, ValueError):  # two numbers are shown, of three
        assert str(ours).rpartition("not ")[0] == str(theirs).rpartition("not ")[0]
    assert type(ours) is type(theirs)
    if isinstance(theirs, AssertionError):
        assert str(ours) == str(theirs).splitlines()[0]  # (pytest adds to it)


def test_numbers_that_are_known_are_shown_as_ever() -> None:
    def f(x: Any, n: int) -> Any:
        if n > 2:
            raise ValueError(f"n is {n}")
        return x

    error = error_of(lambda: tracejit.jit(f)(X, 3))
    assert str(error) in ("n is 3", "n is n")


def test_an_int_beyond_64_bits_is_refused() -> None:
    with pytest.raises(Refusal, match="does not fit into 64 bits"):
        tracejit.jit(lambda n: n + 1)(1 << 70)
    f = lambda n: n * (1 << 70)  # noqa: E731
    with pytest.raises(Refusal, match=rf"test_messages\.py:{f.__code__.co_firstlineno}: the int "):
        tracejit.jit(f)(3)
    g = tracejit.jit(lambda n: n + 1)
    assert g(3) == 4
    with pytest.raises(Refusal, match="does not fit into 64 bits"):
        g(-(1 << 64))


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
def test_a_reshape_that_data_makes_impossible_says_so(interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        f = tracejit.jit(lambda x, n: np.reshape(x, (n, -1)))
        assert f(np.arange(6.0), 2).shape == (2, 3)
        with pytest.raises(ValueError, match=r"cannot reshape array of size 6 into shape \(n,newa"):
            f(np.arange(6.0), 4)
        with pytest.raises(ValueError, match=r"array of size 6 into shape \(4,newaxis\)"):
            tracejit.jit(lambda x: x.reshape(4, -1))(np.arange(6.0))


def test_forward_mode_says_what_helps() -> None:
    bare = tracejit.register_op("NoRule", lambda x: x * x)
    ruled = tracejit.register_op("ReverseRule", lambda x: x * x)
    tracejit.RegisterGradient("ReverseRule")(lambda op, ct: 2.0 * op.inputs[0] * ct)
    custom = tracejit.custom_gradient(lambda x: (x * x, lambda ct: 2.0 * x * ct))
    for op, text in ((bare, r"has no derivative\. Register .*RegisterGradient\('NoRule'\) and "
                            r"differentiate in reverse mode .*no_gradient\('NoRule'\)$"),
                     (ruled, r"has a gradient, and so a derivative in reverse mode .* alone$"),
                     (custom, r"custom_gradient has a derivative in reverse mode .* alone$")):
        with pytest.raises(LookupError, match=text):
            tracejit.jvp(lambda x, op=op: op(x), (2.0,), (1.0,))
    assert tracejit.grad(lambda x: ruled(x))(2.0) == 4.0
    assert tracejit.grad(lambda x: custom(x))(2.0) == 4.0


def test_typos_in_specs_and_settings_are_said_so() -> None:
    with pytest.raises(ValueError, match=r"'f64\[n' is no spec: write a dtype"):
        tracejit.grad(np.sum).trace("f64[n")
    with pytest.raises(TypeError, match=r"no setting 'debug_nan'; did you mean debug_nans\?"):
        with tracejit.config(debug_nan=True):
            pass
