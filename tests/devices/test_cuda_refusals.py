"""Refusals of target="cuda" name the user's line and a remedy."""

from __future__ import annotations

import importlib.util
from typing import Any

import numba
import numpy as np
import pytest

import tracejit

pytestmark = pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None,
                                reason="numba-cuda is not installed")


@numba.njit
def _doubled(x: Any) -> Any:
    return 2.0 * x


doubled = tracejit.register_op("TestDoubledForDevice", _doubled)


def calls_compiled_code(x):
    return np.sum(doubled(x))


def ordered(x: Any) -> Any:
    return np.sort(x)


def calls_python(x):
    return tracejit.pure_callback(ordered, x, x)


def prints(x):
    tracejit.debug_print("{}", x)
    return x


def is_complex(x):
    return np.real(x * (1 + 2j))


def captured(x):
    return np.sum(_doubled(x))


def fills_a_list_by_data(x):
    return sum([v for v in np.ravel(x) if v > 0.0])


CASES = [
    (fills_a_list_by_data, 1, "which data decides the length.*Fill an array"),
    (calls_compiled_code, 1, "compiled for the CPU.*Call the Python function behind it"),
    (calls_python, 1, "ordered .* is a Python function, which the device cannot call.*Call it out"),
    (prints, 1, "shows values where they are computed.*Return them"),
    (is_complex, 1, "complex numbers.*Give real and imaginary parts"),
]


@pytest.mark.parametrize(("fn", "line", "message"), CASES)
def test_a_refusal_names_the_line_and_what_to_write(fn: Any, line: int, message: str) -> None:
    at = fn.__code__.co_firstlineno + line
    for transform in (tracejit.jit, lambda f, target: tracejit.vmap(f, target=target)):
        with pytest.raises(tracejit.Refusal, match=message) as caught:
            transform(fn, target="cuda").trace("f64[n]" if transform is tracejit.jit
                                               else "f64[n, m]").lower()
        assert f"test_cuda_refusals.py:{at}" in str(caught.value)
        assert 'leave out target="cuda"' in str(caught.value)


def test_on_the_cpu_none_of_it_is_refused() -> None:
    for fn, _, _ in CASES[::2]:
        tracejit.jit(fn)(np.ones(2))


def test_the_source_of_compiled_functions_is_captured() -> None:
    assert tracejit.jit(captured, target="cuda").trace("f64[n]").lower().kernels


def test_a_function_that_the_device_has_not_is_refused() -> None:
    from tracejit.codegen.cuda.functions import namespace
    from tracejit.codegen.cuda.lower import lower_for_device
    from tracejit.codegen.cuda.source import render_for_device

    def hyperbolic(x):
        return np.tanh(x)

    kernel = lower_for_device(tracejit.jit(hyperbolic, target="cuda").trace("f64[n]").graph)
    known = namespace()
    assert render_for_device(kernel, known).kernels
    del known["tanh"]
    at = hyperbolic.__code__.co_firstlineno + 1
    with pytest.raises(tracejit.Refusal, match=rf"tanh \(.*py:{at}\) is not there for the device"):
        render_for_device(kernel, known)
