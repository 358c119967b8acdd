"""The laws of target="cuda" beyond single programs; run in the simulator by cuda_child.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import pytest

import tracejit
from tracejit.tree import flatten

__all__ = ["LAWS", "TEAMS", "kepler", "softmax"]


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


@contextmanager
def small_blocks() -> Iterator[None]:
    """Let blocks have few threads, so that small arrays have many of them, and long rows."""
    from tracejit.program.cuda import teams

    before = teams.THREADS, teams.WARP, teams.EACH
    teams.THREADS, teams.WARP, teams.EACH = 16, 4, 2
    try:
        yield
    finally:
        teams.THREADS, teams.WARP, teams.EACH = before


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def cross_entropy(x: Any, t: Any) -> Any:
    return -np.sum(t * np.log(softmax(x)))


def logistic(w: Any, x: Any, y: Any) -> Any:
    z = y * (x @ w)
    return np.mean(np.logaddexp(0.0, -z)) + 0.5e-3 * np.sum(w * w)


def perceptron(v: Any, b: Any, w: Any, c: Any, x: Any, y: Any) -> Any:
    return np.mean((np.tanh(x @ v + b) @ w + c - y) ** 2)


def extremes(x: Any) -> Any:
    return np.argmax(x, axis=1), np.argmin(x, axis=0), np.prod(x, axis=0), np.sum(x, axis=(1, 0))


def running(x: Any) -> Any:
    return np.sum(np.cumsum(x, axis=1) ** 2) + np.sum(np.cumsum(np.sin(x[0])))


TEAMS = {
    "cross_entropy": (tracejit.value_and_grad, cross_entropy, ("f64[n, m]", "f64[n, m]")),
    "logistic": (tracejit.value_and_grad, logistic, ("f64[d]", "f64[n, d]", "f64[n]")),
    "perceptron": (lambda f, target: tracejit.value_and_grad(f, (0, 1, 2, 3), target=target),
                   perceptron, ("f32[d, h]", "f32[h]", "f32[h, o]", "f32[o]", "f32[n, d]",
                                "f32[n, o]")),
    "extremes": (tracejit.jit, extremes, ("f32[n, m]",)),
    "running": (tracejit.value_and_grad, running, ("f32[n, m]",)),
    "batches": (tracejit.jit, np.matmul, ("f64[b, n, m]", "f64[b, m, k]")),
}
"""Programs with teams of threads and products: a transform, a function, specs."""


def programs_with_teams_are_what_they_are_on_the_cpu() -> None:
    rng = np.random.default_rng(0)
    for transform, fn, specs in TEAMS.values():
        sizes = {"n": 9, "m": 37, "d": 5, "h": 18, "o": 3, "b": 2, "k": 4}
        args = [rng.uniform(0.1, 1.0, [sizes[d] for d in s[4:-1].split(", ")]).astype(
            f"float{s[1:3]}") for s in specs]
        found = flatten(transform(fn, target="cuda")(*args))[0]
        expected = flatten(transform(fn, target="cpu")(*args))[0]
        for x, y in zip(found, expected, strict=True):
            assert np.asarray(x).dtype == np.asarray(y).dtype
            tolerance = 1e-5 if np.asarray(y).dtype == np.float32 else 1e-12
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def sums_over_one_axis_are_done_by_teams() -> None:
    """Rows and columns, in many shapes: longer and shorter than a block, empty, in three axes."""
    rng = np.random.default_rng(0)

    def rows(x: Any) -> Any:
        return np.sum(np.exp(x) * x, axis=1), np.max(x, axis=1), np.argmin(x, axis=1)

    def columns(x: Any) -> Any:
        return np.sum(x * x, axis=0), np.min(x, axis=0), np.prod(x, axis=0)

    def loss(x: Any, t: Any) -> Any:
        return np.sum(softmax(x) * t) + np.sum(np.log(np.sum(x * x, axis=0)))

    def middle(x: Any) -> Any:
        return np.sum(x, axis=1), np.sum(np.sin(x), axis=(1, 2)), np.any(x > 1.0, axis=2)

    both(tracejit.jit, rows, rng.normal(size=(2, 300)))
    both(tracejit.jit, columns, rng.normal(size=(300, 2)))
    with small_blocks():
        for shape in ((3, 20), (20, 3), (5, 1), (0, 4), (4, 0)):
            x = rng.normal(size=shape)
            if x.size:
                both(tracejit.jit, rows, x)
                both(tracejit.value_and_grad, loss, x, rng.normal(size=shape))
            both(tracejit.jit, lambda x: (np.sum(x, axis=1), np.sum(x, axis=0)), x)
            both(tracejit.jit, columns if shape[0] else np.cos, x.astype(np.float32))
        for shape in ((3, 5, 17), (2, 9, 3)):
            both(tracejit.jit, middle, rng.normal(size=shape))


def places_of_the_largest_are_the_first() -> None:
    x = np.random.default_rng(0).integers(0, 3, size=(6, 41)).astype(float)
    x[1, 30] = x[1, 35] = np.nan
    x[2], x[3] = -np.inf, np.inf
    for function in (np.argmax, np.argmin):
        both(tracejit.jit, lambda x, f=function: (f(x, axis=1), f(x, axis=0)), x)
        both(tracejit.jit, lambda x, f=function: f(x, axis=1), np.arange(24).reshape(2, 12) % 7)


def running_sums_are_done_by_teams() -> None:
    rng = np.random.default_rng(0)

    def weighted(x: Any) -> Any:
        return np.sum(np.cumsum(np.sin(x)) ** 2) + np.sum(np.cumsum(x[::-1] * x))

    def along(x: Any) -> Any:
        return np.cumsum(x, axis=1), np.cumsum(x * x, axis=0), np.cumsum(x[:, ::-1], axis=1)

    with small_blocks():
        for n in (0, 1, 40):
            x = rng.normal(size=n)
            both(tracejit.jit, lambda x: np.cumsum(x), x)
            both(tracejit.value_and_grad, weighted, x)
        both(tracejit.jit, along, rng.normal(size=(4, 20)))
        both(tracejit.grad, lambda x: np.sum(along(x)[0] ** 2 * along(x)[1]),
             rng.normal(size=(5, 9)))
        both(tracejit.jit, lambda k: np.cumsum(k), np.arange(90) % 5)
    both(tracejit.grad, lambda x: np.sum(np.cumprod(x)), rng.uniform(0.9, 1.1, size=40))
    strict = tracejit.jit(np.cumsum, target="cuda", fp="strict")
    x = rng.normal(size=500)
    assert np.array_equal(strict(x), np.cumsum(x))
    assert strict.trace(x).lower().kernels == ("step_0",)


def products_are_numpys() -> None:
    """Of sizes that are no multiples of a tile, transposed, in batches, within loops."""
    rng = np.random.default_rng(0)

    def transposed(a: Any, b: Any) -> Any:
        return a @ b, a.T @ b.T

    def batches(a: Any, b: Any, c: Any) -> Any:
        return np.matmul(a, b), np.matmul(a, c), np.swapaxes(b, 1, 2) @ np.sin(c[:, :2])

    def powers(a: Any, n: Any) -> Any:
        x = np.eye(len(a))
        for _ in range(n):
            x = x @ a
        return np.sum(x ** 2)

    for m, k, n in ((33, 17, 5), (1, 1, 40), (35, 0, 2), (0, 3, 4)):
        for dtype in (np.float64, np.float32):
            a, b = (rng.normal(size=s).astype(dtype) for s in ((m, k), (k, n)))
            both(tracejit.jit, lambda a, b: a @ b, a, b)
    both(tracejit.jit, transposed, rng.normal(size=(19, 19)), rng.normal(size=(19, 19)))
    both(tracejit.jit, batches, rng.normal(size=(3, 4, 18)), rng.normal(size=(3, 18, 4)),
         rng.normal(size=(18, 7)))
    both(tracejit.value_and_grad, powers, rng.normal(size=(5, 5)) / 4, 3)
    both(tracejit.vmap, lambda a, b: a @ b, rng.normal(size=(3, 4, 5)), rng.normal(size=(3, 5, 2)))


def what_teams_share_is_complete() -> None:
    """A barrier is between a thread's store and a read of the element by another of its team."""
    def backwards(x: Any) -> Any:
        y = np.exp(x)
        return y, np.sum(y[:, ::-1] * x, axis=1), y[:, ::-1] + x

    def in_part(x: Any) -> Any:
        y = x.copy()
        y[:, 0] = np.sin(x[:, 1])
        return y, np.sum(y * x, axis=1)

    with small_blocks():
        for fn in (backwards, in_part):
            both(tracejit.jit, fn, np.random.default_rng(0).normal(size=(5, 21)))
            both(tracejit.grad, lambda x, fn=fn: np.sum(fn(x)[1] ** 2), np.ones((2, 9)))
            source = tracejit.jit(fn, target="cuda").trace("f64[n, m]").lower().source
            assert "    cuda.syncthreads()" in source


def teams_of_many_sizes_give_the_same_twice() -> None:
    rng = np.random.default_rng(0)
    fn = tracejit.jit(lambda x: (np.sum(x, axis=1), np.sum(x, axis=0)), target="cuda")
    for shape in ((7, 90), (130, 5)):
        x = rng.normal(size=shape)
        for a, b in zip(fn(x), fn(x), strict=True):
            assert np.array_equal(a, b)
    strict = tracejit.jit(lambda x: (np.sum(x, axis=1), np.sum(x, axis=0)), target="cuda",
                          fp="strict")
    x = rng.normal(size=(5, 60))
    sums = [0.0] * 5
    for k in range(60):
        sums = [s + float(x[i, k]) for i, s in enumerate(sums)]
    assert strict(x)[0].tolist() == sums
    assert not any("_add(" in k for k in strict.trace(x).lower().source.splitlines())


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
    """Return an array on the device with the elements of an array."""
    return tracejit.jit(lambda x: x + 0, target="cuda")(OnDevice(np.asarray(x)))


def arrays_on_the_device_stay_there() -> None:
    from numba import cuda

    x = np.linspace(0.1, 1.0, 6).reshape(2, 3)
    fn = tracejit.value_and_grad(lambda x: np.sum(np.sin(x) ** 2), target="cuda")
    value, slope = fn(OnDevice(x))
    expected, other = fn(x)
    assert type(value) is type(slope) is tracejit.DeviceArray
    assert (value.shape, slope.shape, slope.dtype) == ((), (2, 3), np.dtype(float))
    assert float(value) == value.item() == expected
    assert np.array_equal(slope.copy_to_host(), other)
    assert np.array_equal(np.asarray(fn(OnDevice(x, (24, 8), stream=2))[1]), other)
    assert np.array_equal(np.asarray(fn(cuda.to_device(x))[1]), other), "Numba's own"
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
    complex_numbers_are_refused, sums_over_one_axis_are_done_by_teams,
    programs_with_teams_are_what_they_are_on_the_cpu, places_of_the_largest_are_the_first,
    products_are_numpys, running_sums_are_done_by_teams, what_teams_share_is_complete,
    teams_of_many_sizes_give_the_same_twice)}
