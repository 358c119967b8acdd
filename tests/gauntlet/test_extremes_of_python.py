"""`max` and `min` of Python: the first of equal ones, with NaN as comparisons find it.

The oracle is Python, bit by bit: zeros of either sign are equal, and no comparison with a NaN is
true, so that the result depends on the order. The gradient is at the number that Python returns.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

NUMBERS = (1.0, -0.0, 0.0, np.nan, -np.inf, np.inf)
ARRAYS = [np.array(v) for n in (1, 2, 3) for v in itertools.product(NUMBERS, repeat=n)]
EMPTY = np.array([])

FORMS: dict[str, Callable[..., Any]] = {
    "array": lambda m, x: m(x), "list": lambda m, x: m(list(x)), "tuple": lambda m, x: m((*x,)),
    "floats": lambda m, x: m(x.tolist()), "iterator": lambda m, x: m(iter(x)),
    "generator": lambda m, x: m(v for v in x), "made": lambda m, x: m([v * 1.0 for v in x]),
    "map": lambda m, x: m(map(float, x)), "selection": lambda m, x: m(x[x == x], default=2.0),
    "longer": lambda m, x: m([0.0, *x]), "default": lambda m, x: m(x, default=7.0),
    "list, default": lambda m, x: m(list(x), default=7.0),
    "narrow": lambda m, x: m(x.astype(np.float32)), "key": lambda m, x: m(x, key=lambda v: -v),
    "reversed": lambda m, x: m(x[::-1]), "view": lambda m, x: m(x[:])}
PAIRS: dict[str, Callable[..., Any]] = {
    "items": lambda m, x: m(x[0], x[-1]), "number first": lambda m, x: m(0.0, x[0]),
    "number last": lambda m, x: m(x[0], 0.0), "three": lambda m, x: m(x[0], -0.0, x[-1]),
    "floats": lambda m, x: m(float(x[0]), float(x[-1])), "int": lambda m, x: m(0, x[0]),
    "of kinds": lambda m, x: m(float(x[0]), x[-1]), "NaN": lambda m, x: m(x[0], np.nan),
    "starred": lambda m, x: m(0.0, *x)}


@pytest.mark.parametrize("m", [max, min])
@pytest.mark.parametrize("form", FORMS)
def test_extremes_of_arrays_and_lists_are_pythons(form: str, m: Any) -> None:
    how = FORMS[form]
    require_like_python(lambda x: how(m, x), [*ARRAYS, EMPTY])


@pytest.mark.parametrize("m", [max, min])
@pytest.mark.parametrize("form", PAIRS)
def test_extremes_of_numbers_are_pythons(form: str, m: Any) -> None:
    how = PAIRS[form]
    require_like_python(lambda x: how(m, x), ARRAYS)


@pytest.mark.parametrize("m", [max, min])
@pytest.mark.parametrize("form", ["array", "list", "generator", "items", "starred"])
def test_the_gradient_is_at_the_number_that_python_returns(form: str, m: Any) -> None:
    how = {**FORMS, **PAIRS}[form]
    gradient = tracejit.grad(lambda x: how(m, x) * 2.0)
    for x in (np.array(v) for v in itertools.permutations([1.0, -2.0, np.nan, 5.0])):
        marked = [*map(_Marked, x)]
        chosen = how(m, marked)
        expected = [2.0 * (v is chosen) for v in marked]
        with tracejit.config(disable_jit=True):
            np.testing.assert_array_equal(gradient(x), expected, err_msg=str(x))


class _Marked(float):
    """A number that is told from others by its identity."""


@pytest.mark.parametrize("m", [max, min])
def test_compiled_extremes_are_pythons(m: Any) -> None:
    def f(x: Any) -> Any:
        return m(x), m(0.0, x[0]), m(x[0], x[1])

    compiled = tracejit.jit(f)
    for x in ARRAYS:
        if len(x) == 3:
            np.testing.assert_array_equal(_bits(compiled(x)), _bits(f(x)), err_msg=str(x))


def test_wrong_arguments_are_pythons_errors() -> None:
    x = np.ones(3)
    for f in (lambda x: max(x, start=1), lambda x: max(x[0], x[1], default=2.0),
              lambda x: min(x, 2.0, key=abs, default=3.0)):
        with pytest.raises(TypeError) as expected:
            f(x)
        with pytest.raises(TypeError) as found:
            tracejit.jit(f)(x)
        assert str(expected.value) in str(found.value)


def _bits(xs: Any) -> list[Any]:
    """Return numbers with the signs of their zeros."""
    return [(float(v), bool(np.signbit(v)) and v == v) for v in xs]


def require_like_python(program: Callable[[Any], Any], arrays: list[np.ndarray]) -> None:
    """Require Python's number, or its kind of error, for each array."""
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(program)
        for x in arrays:
            try:
                expected = program(x)
            except ValueError as e:
                with pytest.raises(ValueError, match=re.escape(str(e))):
                    compiled(x)
                continue
            np.testing.assert_array_equal(_bits([compiled(x)]), _bits([expected]), err_msg=str(x))
