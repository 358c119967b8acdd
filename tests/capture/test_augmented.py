"""Augmented assignment, and selections by masks: in place and as NumPy does it, or its error."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracejit

OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "@")
STATEMENTS = {
    "a name": "y {}= v", "a slice": "x[:] {}= v", "a row": "x[0] {}= v", "a mask": "x[x > 1] {}= v",
    "indices": "x[[0, 1, 2]] {}= v", "an attribute": "box.y {}= v",
}
FLOATS, INTS = np.array([1.5, -2.0, 3.0]), np.array([5, 3, 2])
MATRIX = np.arange(9.0).reshape(3, 3)
TARGETS = {
    "f64": FLOATS, "f32": FLOATS.astype(np.float32), "c128": FLOATS + 1j, "i64": INTS,
    "u8": INTS.astype(np.uint8), "bool": INTS > 2, "f64 matrix": MATRIX,
    "i64 matrix": MATRIX.astype(int),
}
OPERANDS = {**{name: x for name, x in TARGETS.items() if name != "u8"},
            "column": MATRIX[:, :1].copy(), "2": 2, "2.0": 2.0, "True": True, "2j": 2j,
            "np.float64": np.float64(2.0), "np.int64": np.int64(2)}


class Box:
    def __init__(self, y: Any) -> None:
        self.y = y


def make(statement: str, name: str) -> Callable[..., Any]:
    """Return a function that carries out a statement on x, which y and box.y are too."""
    box = "    box = Box(x)\n" if "box" in statement else ""
    source = f"def f(x, v):\n    y = x\n{box}    {statement}\n    return x.copy()\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"Box": Box}
    exec(compile(source, name, "exec"), names)
    return names["f"]  # type: ignore[no-any-return]


def outcome(fn: Callable[..., Any], x: np.ndarray, v: Any) -> Any:
    """Return a call's result or its error."""
    with np.errstate(all="ignore"):
        try:
            return fn(x, v)
        except (TypeError, ValueError) as e:
            return e


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("place", STATEMENTS)
def test_augmented_assignment_is_numpys(place: str, operator: str) -> None:
    """Every operator, to every place, on every pair of dtypes: the same array, or an error."""
    f = make(STATEMENTS[place].format(operator), f"<augmented {place} {operator}>")
    compiled = tracejit.jit(f)
    for (target, x), (operand, v) in itertools.product(TARGETS.items(), OPERANDS.items()):
        what = f"{target} {operator}= {operand}"
        ours, theirs = x.copy(), x.copy()
        expected = outcome(f, theirs, v)
        with tracejit.config(disable_jit=True):
            found = outcome(compiled, ours, v)
        if isinstance(expected, Exception):
            assert isinstance(found, (TypeError, ValueError)), what
        elif isinstance(found, tracejit.Refusal):
            assert place == "a mask" or "imaginary" in str(found), what
        elif isinstance(found, TypeError):
            assert "not 'complex'" in str(found), what  # NumPy only warns of the lost part
        else:
            assert not isinstance(found, Exception), f"{what}: {found}"
            np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=what)
            assert found.dtype == expected.dtype, what
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, err_msg=what)


def product(x: Any, a: Any) -> Any:
    y = x
    x @= a
    return y


def shifts(x: Any) -> Any:
    y = x
    x <<= 2
    y >>= 1
    return x


def test_products_and_shifts_are_in_place_when_compiled() -> None:
    x = MATRIX.copy()
    np.testing.assert_array_equal(tracejit.jit(product)(x, MATRIX), MATRIX @ MATRIX)
    np.testing.assert_array_equal(x, MATRIX @ MATRIX)
    k = INTS.copy()
    np.testing.assert_array_equal(tracejit.jit(shifts)(k), 2 * INTS)
    np.testing.assert_array_equal(k, 2 * INTS)


def test_an_int_array_takes_no_floats() -> None:
    def adds(x: Any) -> Any:
        x += 0.5
        return x

    with pytest.raises(TypeError) as ours:
        tracejit.jit(adds)(INTS.copy())
    with pytest.raises(TypeError) as theirs:
        adds(INTS.copy())
    assert str(ours.value) == str(theirs.value)


# --- selections ---------------------------------------------------------------------------------

ROWS = np.array([True, False, True])


@pytest.fixture(params=[True, False], ids=["interpreted", "compiled"])
def either(request: Any) -> Iterator[None]:
    with tracejit.config(disable_jit=request.param):
        yield


SELECTIONS: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "sum over rows": (lambda x, m: np.sum(x[m], axis=0), MATRIX),
    "sum": (lambda x, m: x[m].sum(), MATRIX),
    "mean over rows": (lambda x, m: np.mean(x[m], 0), MATRIX),
    "max of ints": (lambda x, m: x[m].max(), INTS),
    "min of ints": (lambda x, m: np.min(x[m]), INTS),
    "max of bools": (lambda x, m: np.max(x[m]), INTS > 3),
    "axis 0 of a vector": (lambda x, m: np.sum(x[m], axis=0), INTS),
    "reduce": (lambda x, m: np.add.reduce(x[m]), MATRIX),
    "the same mask twice": (lambda x, m: np.prod(x[m] * x[m] + 1.0), MATRIX),
    "axis 1": (lambda x, m: np.sum(x[m], axis=1)[0], MATRIX),
    "keepdims": (lambda x, m: np.sum(x[m], axis=0, keepdims=True), MATRIX),
    "a row to each": (lambda x, m: np.sum(x[m] * x[0]), MATRIX),
}


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("name", SELECTIONS)
def test_folds_of_selections_are_numpys(name: str) -> None:
    f, x = SELECTIONS[name]
    found, expected = tracejit.jit(f)(x, ROWS), f(x, ROWS)
    np.testing.assert_allclose(found, expected)
    assert found.dtype == expected.dtype


@pytest.mark.usefixtures("either")
def test_nothing_selected_has_no_maximum() -> None:
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum"):
        tracejit.jit(lambda x, m: np.max(x[m]))(FLOATS, ROWS & False)


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("f", [
    lambda x, m: np.sum(x[m] * x), lambda x, m: np.sum(np.multiply(x[m], x)),
    lambda x, m: np.sum(x[m] * x[~m]),
], ids=["operator", "ufunc", "another mask"])
def test_selections_of_other_sizes_do_not_meet(f: Callable[..., Any]) -> None:
    rows = np.arange(15.0).reshape(5, 3)
    with pytest.raises(ValueError, match="could not be broadcast"):
        f(rows, np.arange(5) > 1)
    with pytest.raises(ValueError, match="operands have different sizes"):
        tracejit.jit(f)(rows, np.arange(5) > 1)
