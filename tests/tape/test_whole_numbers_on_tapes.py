"""NumPy's whole numbers and truth values as arguments of calls on tapes: axes, places, counts.

Each case is a function with such an argument. It is called with several, one after another, of each
class of numbers. The oracle is NumPy, and central differences of it.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tracejit

X = np.array([1.1, 2.3, 0.7, 3.9, 2.9, 5.2])
WEIGHTS = np.arange(1.0, 40.0) ** 1.5

CALLS = {
    "roll": (lambda x, k: np.roll(x, k), (1, 2)), "repeat": (lambda x, k: np.repeat(x, k), (1, 2)),
    "axis of sum": (lambda x, k: np.sum(x.reshape(2, 3), axis=k), (0, 1, -1)),
    "axis of a method": (lambda x, k: x.reshape(2, 3).sum(k), (0, 1)),
    "axis of max": (lambda x, k: np.max(x.reshape(2, 3), axis=k), (0, 1)),
    "axis of prod": (lambda x, k: np.prod(x.reshape(2, 3), axis=k), (1, 0)),
    "axis of cumsum": (lambda x, k: np.cumsum(x.reshape(2, 3), axis=k), (0, 1)),
    "axis of sort": (lambda x, k: np.sort(x.reshape(2, 3), axis=k), (0, 1)),
    "two axes": (lambda x, k: np.sum(x.reshape(1, 2, 3), axis=(0, k)), (1, 2)),
    "axis of concatenate": (lambda x, k: np.concatenate([x.reshape(2, 3)] * 2, axis=k), (0, 1)),
    "axis of stack": (lambda x, k: np.stack([x, 2.0 * x], axis=k), (0, 1)),
    "axis of flip": (lambda x, k: np.flip(x.reshape(2, 3), k), (0, 1)),
    "axes swapped": (lambda x, k: np.swapaxes(x.reshape(1, 2, 3), 0, k), (1, 2)),
    "axis moved": (lambda x, k: np.moveaxis(x.reshape(1, 2, 3), k, 0), (1, 2)),
    "axis of expand_dims": (lambda x, k: np.expand_dims(x.reshape(2, 3), k) * np.ones((2, 1, 1)),
                            (0, 1)),
    "place": (lambda x, k: x[k], (0, 3, -1)), "row": (lambda x, k: x.reshape(2, 3)[k], (0, 1)),
    "place in a row": (lambda x, k: x.reshape(2, 3)[1, k], (0, 2)),
    "step": (lambda x, k: x[::k], (1, 2, 3)), "step back": (lambda x, k: x[::k], (1, -1, -2)),
    "step of columns": (lambda x, k: x.reshape(2, 3)[:, ::k], (1, 2)),
    "stop": (lambda x, k: x[:k], (2, 3)), "start": (lambda x, k: x[k:], (2, 3)),
    "start, stop, step": (lambda x, k: x[k:5:k], (1, 2)),
    "take": (lambda x, k: np.take(x, k), (1, 3)), "order of diff": (
        lambda x, k: np.diff(x, n=k), (1, 2)),
    "order of norm": (lambda x, k: np.linalg.norm(x, ord=k), (1, 2, 3)),
    "power": (lambda x, k: x ** k, (1, 2, 3)), "factor": (lambda x, k: x * k, (2, 3)),
    "tile": (lambda x, k: np.tile(x, k), (1, 2)), "pad": (lambda x, k: np.pad(x, k), (1, 2)),
    "reshape": (lambda x, k: x.reshape(k, -1).sum(axis=0) ** 2, (2, 3)),
    "split": (lambda x, k: np.split(x, k)[0], (2, 3)), "rot90": (
        lambda x, k: np.rot90(x.reshape(2, 3), k), (1, 2)),
    "trace": (lambda x, k: np.trace(x.reshape(2, 3), k), (0, 1)),
    "diag": (lambda x, k: np.diag(x.reshape(2, 3), k), (0, 1)),
    "tril": (lambda x, k: np.tril(x.reshape(2, 3), k), (0, 1)),
    "insert": (lambda x, k: np.insert(x, k, 9.0), (1, 2)),
    "delete": (lambda x, k: np.delete(x, k), (1, 2)),
    "partition": (lambda x, k: np.partition(x, k)[k], (1, 3)),
    "initial": (lambda x, k: np.max(x, initial=k), (0, 9)),
    "where": (lambda x, k: np.where(k == 1, x, 2.0 * x), (1, 2)),
    "many places": (lambda x, k: x[k] * x[k] * x[5], tuple(range(6)) * 3),
    "many shifts": (lambda x, k: np.roll(x, k), tuple(range(12))),
}
KINDS = {"int64": np.int64, "int32": np.int32, "int16": np.int16, "int": int}


def weighted(y: Any) -> Any:
    return np.sum(np.ravel(y) * WEIGHTS[:np.size(y)])


def slope(f: Any) -> np.ndarray:
    found, h = np.zeros(X.shape), 1e-6
    for k in range(X.size):
        step = np.zeros(X.shape)
        step[k] = h
        found[k] = (f(X + step) - f(X - step)) / (2 * h)
    return found


@pytest.mark.parametrize(("name", "kind"), [*itertools.product(CALLS, KINDS)])
def test_a_gradient_on_a_tape_is_by_the_whole_number_of_its_own_call(name, kind):
    call, numbers = CALLS[name]
    for number in numbers:
        k = KINDS[kind](number)
        x = tracejit.constant(X)
        with tracejit.GradientTape() as tape:
            tape.watch(x)
            y = call(x, k)
        with tracejit.GradientTape() as whole:
            whole.watch(x)
            loss = weighted(call(x, k))
        np.testing.assert_allclose(np.asarray(y), call(X, k), rtol=1e-12)
        np.testing.assert_allclose(whole.gradient(loss, x).numpy(),
                                   slope(lambda a, k=k: weighted(call(a, k))), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0)])
def test_the_jacobian_of_nothing_has_no_rows(shape):
    x = tracejit.constant(np.ones(3))
    with tracejit.GradientTape() as tape:
        tape.watch(x)
        y = (x * np.ones((4, 3))).ravel()[:0].reshape(shape)
    assert tape.jacobian(y, x).shape == (*shape, 3)
