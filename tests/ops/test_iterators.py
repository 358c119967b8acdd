"""`np.nditer` and `np.broadcast`: loops over elements, with NumPy's values and their slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, numeric_gradient

import tracejit

X = np.array([[0.3, 0.7, 1.2], [1.5, 0.1, 0.9]])
PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[fn.__name__] = fn
    return fn


@program
def one(x: Any) -> Any:
    s = 0.0
    for v in np.nditer(x):
        s = s * 1.1 + v * v
    for k, v in enumerate(np.nditer(x.T, order="C")):
        s = s + k * v
    for row in x:
        for v in np.nditer(row):
            s += v * row[0]
    return s


@program
def several(x: Any) -> Any:
    s = 0.0
    for a, b, c, d in np.nditer([x, x[:, :1].copy(), np.arange(3.0), 2.0]):
        s = s * 1.1 + a * b * c * d
    for (a, b), k in zip(np.nditer((x, x)), range(6), strict=True):
        s += a * b * k
    for a, b in np.broadcast(x, np.arange(3.0)):
        s = 0.9 * s + a * b
    return s * len(np.broadcast(x, x[0]).shape)


@program
def places(x: Any) -> Any:
    it = np.nditer(x, flags=["multi_index"])
    s = 0.0
    for v in it:
        i, j = it.multi_index
        s += v * (i + 1) * x[i, j - 1] * it.ndim * it.shape[1]
    it = np.nditer(x, flags=["c_index"])
    for v in it:
        if v > 1.4:
            break
        s += v * it.index * it.nop * it.itersize
    return s


@program
def written(x: Any) -> Any:
    y, z = x.copy(), np.zeros_like(x)
    with np.nditer(y, op_flags=["readwrite"]) as it:  # type: ignore[call-overload]
        for v in it:
            v[...] = v * 2
            y[0, 0] += 0.5
    for a, b in np.nditer([y, z], op_flags=[["readonly"], ["writeonly"]]):
        b[...] = a ** 2
    made = np.nditer([z, None])
    with made:
        for a, b in made:
            b[...] = np.sin(a)
        return np.sum(made.operands[1]) + np.sum(y)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_numpys_and_slopes_are_differences(name: str) -> None:
    fn = PROGRAMS[name]
    with tracejit.config(disable_jit=True):
        value, slope = tracejit.value_and_grad(fn)(X)
    assert_close(value, fn(X))
    np.testing.assert_allclose(slope, numeric_gradient(fn, [X], 0), rtol=1e-6, atol=1e-7)


def test_a_compiled_loop_is_the_interpreted_one() -> None:
    with tracejit.config(disable_jit=True):
        expected = tracejit.grad(written)(X)
    assert_close(tracejit.grad(written)(X), expected)


def second(x: Any) -> Any:
    it = np.nditer(x)
    for _ in it:
        pass
    return sum([v for v in it])


def stepped(x: Any) -> Any:
    it = np.nditer(x)
    while not it.finished:
        it.iternext()
    return x


def sums(x: Any) -> Any:
    y = np.zeros(3)
    for a, b in np.nditer([x, y], op_flags=[["readonly"], ["readwrite"]]):
        b[...] += a
    return y


@pytest.mark.parametrize(("fn", "x", "message"), [
    (second, X, "a second loop over one numpy.nditer, which is at its end"),
    (stepped, X, "`finished` of numpy.nditer here cannot be captured"),
    (sums, X, "np.nditer with an operand to write to that is broadcast"),
    (lambda x: np.nditer(x).ndim, X, "`ndim` of numpy.nditer here cannot be captured"),
    (one, X.T, 'through it as it lies in memory. Say order="C"'),
    (lambda x: np.nditer(x, flags=["external_loop"]), X, "np.nditer with such flags="),
    (lambda x: np.nditer(x, op_flags=["copy"]), X, "np.nditer with such op_flags="),
    (lambda x: np.ma.masked_less(x, 1.0).sum(), X, "Compute with the data and a mask"),
])
def test_refusals_say_what_to_write_instead(fn: Callable[[Any], Any], x: Any, message: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal) as caught:
        tracejit.jit(fn)(x)
    assert message in str(caught.value)


@pytest.mark.parametrize("fn", [lambda x: [v.__setitem__(..., 1.0) for v in np.nditer(x)],
                                lambda x: [v for v in np.nditer(x[:0])]])
def test_errors_are_numpys(fn: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError) as theirs:
        fn(X.copy())
    with tracejit.config(disable_jit=True), pytest.raises(ValueError) as ours:
        tracejit.jit(fn)(X)
    assert str(ours.value).splitlines()[0] == str(theirs.value)
