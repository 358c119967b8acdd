"""What holds of target="cuda" beyond single programs; run in the simulator by cuda_child.py."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import tracejit
from tracejit.tree import flatten

__all__ = ["LAWS"]


def same(on_device: Any, on_cpu: Any, *args: Any) -> None:
    """Two functions return the same for the same arguments, in type, dtype and shape."""
    found, expected = flatten(on_device(*args))[0], flatten(on_cpu(*args))[0]
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert type(x) is type(y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
        tolerance = 1e-6 if np.asarray(y).dtype == np.float32 else 1e-12
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def both(transform: Any, fn: Any, *args: Any, **settings: Any) -> None:
    """A transform gives the same for the device as for the CPU."""
    same(transform(fn, target="cuda", **settings), transform(fn, **settings), *args)


def kepler(e: Any, m: Any) -> Any:
    x = m
    while True:
        d = (x - e * np.sin(x) - m) / (1 - e * np.cos(x))
        x = x - d
        if abs(d) < 1e-10:
            break
    return x


def decay(x: Any, rate: Any, end: Any) -> Any:
    t = 0.0
    while t < end:
        x = x - rate * x * x
        t = t + 1.0
    return x


def every_transform() -> None:
    x, y = np.linspace(0.1, 1.0, 5), np.linspace(1.0, 2.0, 5)

    def loss(x: Any, y: Any) -> Any:
        return np.sum(np.sin(x) * y ** 2)

    def table(x: Any) -> Any:
        return np.array([x[0] * x[1], x[1] ** 3, np.exp(x[0])])

    for transform in (tracejit.jit, tracejit.grad, tracejit.value_and_grad):
        both(transform, loss, x, y)
    for transform in (tracejit.jacfwd, tracejit.jacrev):
        both(transform, table, x)
    both(tracejit.hessian, loss, x, y)
    both(tracejit.vmap, lambda a, b: a * np.exp(b), x, y)
    both(tracejit.jvp, loss, (x, y), (y, x))
    both(tracejit.hvp, lambda x: np.sum(x ** 4), (x,), (y,))
    value, pullback = tracejit.vjp(loss, x, y, target="cuda")
    expected, other = tracejit.vjp(loss, x, y)
    same(lambda: (value, pullback(2.0)), lambda: (expected, other(2.0)))


def elements_with_loops_are_one_kernel() -> None:
    e, m = np.linspace(0.1, 0.8, 7), np.linspace(0.3, 3.0, 7)
    slopes = tracejit.vmap(tracejit.value_and_grad(kepler, argnums=(0, 1)), target="cuda")
    same(slopes, tracejit.vmap(tracejit.value_and_grad(kepler, argnums=(0, 1))), e, m)
    assert slopes.trace(e, m).lower().kernels == ("map_0",)


def elements_with_arrays_of_their_own() -> None:
    def energy(x: Any) -> Any:
        path = np.zeros(4)
        path[0] = x[0]
        for k in range(3):
            path[k + 1] = path[k] * np.sin(x[1]) + x[1]
        return np.sum(path ** 2)

    def long(x: Any) -> Any:
        work = np.cumsum(x * x)
        for k in range(1, len(x)):
            work[k] = work[k] + np.sin(work[k - 1])
        return np.sum(work)

    x = np.random.default_rng(0).normal(size=(6, 2))
    both(tracejit.vmap, tracejit.grad(energy), x)
    for n in (3, 70):
        both(tracejit.vmap, tracejit.grad(long), np.random.default_rng(n).normal(size=(3, n)))


def a_full_log_is_given_more_room() -> None:
    both(tracejit.grad, decay, 0.3, 1e-3, 700.0)
    both(tracejit.grad, decay, 0.3, 1e-3, 3.0)
    many = tracejit.vmap(tracejit.grad(decay), in_axes=(0, None, None), target="cuda")
    expected = tracejit.vmap(tracejit.grad(decay), in_axes=(0, None, None))
    for end in (5.0, 600.0, 5.0):
        same(many, expected, np.array([0.1, 0.2, 0.3]), 1e-3, end)


def loops_of_the_host_ask_the_device() -> None:
    def until(u: Any, tolerance: Any) -> Any:
        error = 1.0
        while error > tolerance:
            new = u.copy()
            new[1:-1] = 0.5 * (u[2:] + u[:-2])
            error = np.max(np.abs(new - u))
            u = new
        return np.sum(u ** 2)

    u = np.zeros(6)
    u[-1] = 1.0
    both(tracejit.value_and_grad, until, u, 0.02)


def failures_are_the_cpus() -> None:
    def pick(x: Any, indices: Any) -> Any:
        total = 0.0
        for k in indices:
            total = total + x[k]
        return total

    def positive(x: Any) -> Any:
        if x < 0:
            raise ValueError("x is negative")
        return np.sqrt(x)

    def scaled(x: Any, k: Any) -> None:
        x *= 2.0
        x[k] = 1.0

    cases = [(tracejit.grad, pick, (np.ones(3), np.array([0, 5]))),
             (tracejit.vmap, positive, (np.array([1.0, -1.0, 4.0]),)),
             (tracejit.jit, scaled, (np.ones(3), 7))]
    for transform, fn, args in cases:
        messages = []
        for target in ("cpu", "cuda"):
            given = [np.copy(x) if isinstance(x, np.ndarray) else x for x in args]
            try:
                transform(fn, target=target)(*given)
            except (IndexError, ValueError) as e:
                messages.append((type(e), str(e), e.__notes__))
            assert all(np.array_equal(x, y) for x, y in zip(given, args, strict=True))
        assert len(messages) == 2, fn.__name__
        assert messages[0] == messages[1]


def arguments_are_written_to() -> None:
    def step(x: Any, y: Any) -> None:
        x[1:] += y[:-1]
        y[:] = np.cumsum(x)

    found = np.arange(5.0), np.ones(5)
    expected = np.arange(5.0), np.ones(5)
    tracejit.jit(step, target="cuda")(*found)
    tracejit.jit(step)(*expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def accumulations_that_meet_are_whole() -> None:
    index = np.array([0, 2, 2, 2, 1, 0, 2])
    both(tracejit.value_and_grad, lambda x: np.sum(x[index] ** 3), np.linspace(0.5, 1.0, 3))
    gradient = tracejit.grad(lambda x: np.sum(x[index] ** 3), target="cuda")
    assert "accumulate(" in gradient.trace(np.ones(3)).lower().source
    strict = tracejit.grad(lambda x: np.sum(x[index] ** 3), target="cuda", fp="strict")
    assert "accumulate(" not in strict.trace(np.ones(3)).lower().source
    same(strict, tracejit.grad(lambda x: np.sum(x[index] ** 3)), np.ones(3))


def sums_are_the_same_at_every_call() -> None:
    x = np.random.default_rng(0).normal(size=1500)
    total = tracejit.jit(lambda x: np.sum(x) * np.max(x), target="cuda")
    first = total(x)
    assert total(x) == first
    np.testing.assert_allclose(first, np.sum(x) * np.max(x), rtol=1e-12)
    strict = tracejit.jit(lambda x: np.sum(x), target="cuda", fp="strict")
    assert strict(x) == tracejit.jit(lambda x: np.sum(x), fp="strict")(x)


def empty_and_other_sizes_need_no_other_program() -> None:
    loss = tracejit.value_and_grad(lambda x: np.sum(np.exp(x) * x), target="cuda")
    expected = tracejit.value_and_grad(lambda x: np.sum(np.exp(x) * x))
    for n in (4, 0, 300, 1):
        same(loss, expected, np.linspace(0.0, 1.0, n))
    same(loss, expected, np.linspace(0.0, 1.0, 8, dtype=np.float32))


class OnDevice:
    """Stands for an array of another library: memory of the host, in the simulator.

    Libraries give memory back in the order of its stream; here it stays.
    """

    kept: ClassVar[list[np.ndarray]] = []

    def __init__(self, x: np.ndarray, strides: Any = None, **more: Any) -> None:
        self.kept.append(x)
        self.x = x
        self.__cuda_array_interface__ = {
            "shape": x.shape, "typestr": x.dtype.str, "strides": strides, "version": 3,
            "data": (x.ctypes.data, False), **more}


def on_device(x: Any) -> Any:
    """Return what lies on the device as such, in the place of each array."""
    return tracejit.jit(lambda x: x + 0, target="cuda")(OnDevice(np.asarray(x)))


def arrays_on_the_device_stay_there() -> None:
    x = np.linspace(0.1, 1.0, 6).reshape(2, 3)
    fn = tracejit.value_and_grad(lambda x: np.sum(np.sin(x) ** 2), target="cuda")
    value, slope = fn(OnDevice(x))
    expected, other = fn(x)
    assert type(value) is type(slope) is tracejit.DeviceArray
    assert (value.shape, slope.shape, slope.dtype) == ((), (2, 3), np.dtype(float))
    assert float(value) == value.item() == expected
    assert np.array_equal(slope.copy_to_host(), other)
    assert np.array_equal(np.asarray(fn(OnDevice(x, (24, 8), stream=2))[1]), other)
    assert repr(slope) == "DeviceArray(shape=(2, 3), dtype=float64, device=0)"
    with pytest.raises(tracejit.Refusal, match="contiguous"):
        fn(OnDevice(x, (8, 16)))
    with pytest.raises(ValueError, match="copied"):
        np.array(slope, copy=False)
    with pytest.raises(ValueError, match="not one element"):
        slope.item()


def results_on_the_device_are_arguments_again() -> None:
    def step(x: Any, rate: Any) -> Any:
        return x - 0.1 * rate * np.sin(x), np.sum(x) / 200.0

    fn, expected = tracejit.jit(step, target="cuda"), tracejit.jit(step)
    x, rate = np.linspace(0.1, 1.0, 300), 0.5
    there, number = on_device(x), 0.5
    for _ in range(4):
        there, number = fn(there, number)
        x, rate = expected(x, rate)
        assert type(there) is type(number) is tracejit.DeviceArray
    np.testing.assert_allclose(there.copy_to_host(), x, rtol=1e-12)
    np.testing.assert_allclose(float(number), rate, rtol=1e-12)
    value, pullback = tracejit.vjp(lambda x: (x ** 2, np.sum(x)), there, target="cuda")
    np.testing.assert_allclose(value[0], x ** 2, rtol=1e-12)
    np.testing.assert_allclose(pullback((there, 3.0))[0], 2 * x * x + 3.0, rtol=1e-12)
    with pytest.raises(TypeError, match="float32"):
        pullback((on_device(np.ones(300, np.float32)), 1.0))
    _, tangent = tracejit.jvp(np.sin, (there,), (there,), target="cuda")
    np.testing.assert_allclose(tangent, np.cos(x) * x, rtol=1e-12)
    tree = tracejit.jit(lambda x, a: {"a": a * 2.0, "x": x, "n": 3}, target="cuda")(there, 4.0)
    assert (float(tree["a"]), tree["n"]) == (8.0, 3)
    assert np.array_equal(tree["x"], there)
    empty = tracejit.jit(np.exp, target="cuda")(on_device(np.zeros((0, 2))))
    assert empty.copy_to_host().shape == (0, 2)


def results_on_the_device_are_exported_by_dlpack() -> None:
    x = np.linspace(0.0, 1.0, 6).reshape(3, 2)
    found = on_device(x)
    again = np.from_dlpack(found)  # the simulator's memory is the CPU's
    del found
    assert np.array_equal(again, x)


def complex_numbers_are_refused() -> None:
    with pytest.raises(tracejit.Refusal, match=r"complex numbers \(.*cuda_laws\.py"):
        tracejit.jit(lambda x: np.real(np.sum(x * (1 + 2j))), target="cuda")(np.ones(3))


LAWS = {f.__name__: f for f in (
    every_transform, elements_with_loops_are_one_kernel, elements_with_arrays_of_their_own,
    a_full_log_is_given_more_room, loops_of_the_host_ask_the_device, failures_are_the_cpus,
    arguments_are_written_to, accumulations_that_meet_are_whole, sums_are_the_same_at_every_call,
    empty_and_other_sizes_need_no_other_program, arrays_on_the_device_stay_there,
    results_on_the_device_are_arguments_again, results_on_the_device_are_exported_by_dlpack,
    complex_numbers_are_refused)}
