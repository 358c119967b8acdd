"""Generators of random numbers: NumPy's numbers, bit for bit, and the state that it leaves.

The oracle of each law is the function itself, called with a generator in the same state.
"""

from __future__ import annotations

import copy
import functools
import itertools
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
import pytest

import tracejit
from tracejit import Refusal

BIT_GENERATORS: list[Any] = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937,
                             np.random.Philox, np.random.SFC64]
SHAPES = np.array([0.3, 1.0, 2.5, 40.0])
THIRDS = np.ones(3, np.float32) / np.float32(3)

KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "random": lambda rng, n: rng.random(n),
    "random f4": lambda rng, n: rng.random(n, np.float32),
    "standard_normal": lambda rng, n: rng.standard_normal(n),
    "standard_normal f4": lambda rng, n: rng.standard_normal(n, dtype=np.float32),
    "standard_exponential": lambda rng, n: rng.standard_exponential(n),
    "standard_exponential f4": lambda rng, n: rng.standard_exponential(n, dtype=np.float32),
    "standard_exponential inv": lambda rng, n: rng.standard_exponential(n, method="inv"),
    "normal": lambda rng, n: rng.normal(0.3, 1.7, n),
    "normal of nothing": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(-0.3, 1.7, n),
    "exponential": lambda rng, n: rng.exponential(0.7, n),
    "gamma": lambda rng, n: rng.gamma(2.5, 1.3, n),
    "gamma below 1": lambda rng, n: rng.gamma(0.4, 1.3, n),
    "standard_gamma": lambda rng, n: rng.standard_gamma(1.0, n),
    "integers": lambda rng, n: rng.integers(10, size=n),
    "integers of a pair": lambda rng, n: rng.integers(-5, 1000003, n),
    "integers with their end": lambda rng, n: rng.integers(1, 6, n, endpoint=True),
    "one integer": lambda rng, n: rng.integers(4, 5, n),
    "integers of 32 bits": lambda rng, n: rng.integers(0, 2 ** 32, n),
    "integers of more": lambda rng, n: rng.integers(-2 ** 60, 2 ** 61, n),
    "int32": lambda rng, n: rng.integers(-7, 1000, n, dtype=np.int32),
    "uint8": lambda rng, n: rng.integers(0, 200, n, dtype=np.uint8),
    "int16": lambda rng, n: rng.integers(-300, 200, n, dtype=np.int16),
    "poisson": lambda rng, n: rng.poisson(3.0, n),
    "poisson of many": lambda rng, n: rng.poisson(300.0, n),
    "choice": lambda rng, n: rng.choice(17, n),
    "choice with weights": lambda rng, n: rng.choice(4, n, p=[0.1, 0.2, 0.3, 0.4]),
    "all of int64": lambda rng, n: rng.integers(-2 ** 63, 2 ** 63, n),
    "most of int64": lambda rng, n: rng.integers(-2 ** 63, 2 ** 63 - 1, n),
    "all of uint64": lambda rng, n: rng.integers(0, 2 ** 64, n, dtype=np.uint64),
    "bounds of 8 bits": lambda rng, n: rng.integers(np.int8(-100), np.int8(100), n),
    "weights of 32 bits": lambda rng, n: rng.choice(3, n, p=THIRDS),
    "uint64": lambda rng, n: rng.integers(3, 2 ** 40, n, dtype=np.uint64),
}


def state(*generators: np.random.Generator) -> bytes:
    """Return the states of generators, arrays in them included."""
    return pickle.dumps([g.bit_generator.state for g in generators])


def same_bits(a: Any, b: Any) -> bool:
    """Return whether two results have one type, one shape and the same bits."""
    return type(a) is type(b) and np.asarray(a).dtype == np.asarray(b).dtype and (
        np.shape(a) == np.shape(b)) and np.asarray(a).tobytes() == np.asarray(b).tobytes()


def programs_of(captured: Any) -> int:
    """Return how many programs were made for calls."""
    return sum(map(len, captured._table.values()))


def require_one_stream(fn: Callable[..., Any], captured: Any, rng: Any, *args: Any) -> None:
    """Assert that a call gives Python's result, and leaves the generator in Python's state."""
    other = copy.deepcopy(rng)
    found, expected = captured(rng, *args), fn(other, *args)
    assert same_bits(found, expected)
    assert state(rng) == state(other)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_state_are_numpys_bit_for_bit(kind: str) -> None:
    fn = KINDS[kind]
    captured = tracejit.jit(fn)
    for bits in BIT_GENERATORS:
        rng = np.random.Generator(bits(3))
        for n in (7, 0, 1, 5, 1000):
            require_one_stream(fn, captured, rng, n)
    rng = np.random.default_rng(4)
    for size in (10 ** 6, 3):
        require_one_stream(fn, captured, rng, size)
    assert programs_of(captured) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_one_number_and_shapes(kind: str) -> None:
    fn = KINDS[kind]
    with tracejit.config(disable_jit=True):
        for size in (None, 3, (2, 3), (0, 4), (1,), ()):
            made = partial(fn, n=size)
            captured = tracejit.jit(made)
            rng = np.random.default_rng(8)
            for _ in range(2):
                require_one_stream(made, captured, rng)


ITEMS: dict[str, Callable[[Any], Any]] = {
    "permutation": lambda r: r.permutation(10), "of nothing": lambda r: r.permutation(0),
    "of one": lambda r: r.permutation(1), "of numbers": lambda r: r.permutation(SHAPES),
    "of a list": lambda r: r.permutation([3, 1, 4, 1, 5]),
    "of rows": lambda r: r.permutation(np.arange(12.0).reshape(4, 3)),
    "of columns": lambda r: r.permutation(np.arange(12.0).reshape(4, 3), axis=1),
    "of empty rows": lambda r: r.permutation(np.zeros((4, 0))),
    "choice of one": lambda r: r.choice(10), "choice of an item": lambda r: r.choice(SHAPES),
    "choice of items": lambda r: r.choice(SHAPES, (2, 3)),
    "choice of no axes": lambda r: r.choice(SHAPES, ()),
    "choice of no axes by weights": lambda r: r.choice(SHAPES, (), p=SHAPES / np.sum(SHAPES)),
    "choice of a list": lambda r: r.choice([1.5, 2.5, 3.5], 4),
    "choice of columns": lambda r: r.choice(np.arange(12.0).reshape(4, 3), 2, axis=1),
    "choice by weights": lambda r: r.choice(4, p=SHAPES / np.sum(SHAPES)),
    "choice of items by weights": lambda r: r.choice(SHAPES, 9, p=SHAPES / np.sum(SHAPES)),
    "without replacement": lambda r: r.choice(10, 5, replace=False),
    "one without replacement": lambda r: r.choice(10, replace=False),
    "all without replacement": lambda r: r.choice(SHAPES, 4, replace=False),
    "no shuffle": lambda r: r.choice(30, 12, replace=False, shuffle=False),
    "a matrix without replacement": lambda r: r.choice(30, (3, 4), replace=False),
    "many without replacement": lambda r: r.choice(20000, 5000, replace=False),
    "few of many": lambda r: r.choice(20000, 50, replace=False),
    "none": lambda r: r.choice(7, 0), "none of none": lambda r: r.choice(0, 0),
    "no integers of no range": lambda r: r.integers(5, 3, size=0),
}


def shuffled(rng: Any, x: Any, axis: Any = 0) -> Any:
    x = x.copy()
    rng.shuffle(x, axis)
    return x


@pytest.mark.parametrize("name", ITEMS)
@pytest.mark.parametrize("disable_jit", [True, False])
def test_permutations_and_choices(name: str, disable_jit: bool) -> None:
    fn = ITEMS[name]
    with tracejit.config(disable_jit=disable_jit):
        captured = tracejit.jit(fn)
        for bits in BIT_GENERATORS[:3]:
            require_one_stream(fn, captured, np.random.Generator(bits(12)))


@pytest.mark.parametrize("shape", [(8,), (1,), (0,), (4, 3), (3, 0), (2, 3, 2)])
def test_shuffles_are_in_place(shape: tuple[int, ...]) -> None:
    with tracejit.config(disable_jit=True):
        captured, rng = tracejit.jit(shuffled), np.random.default_rng(12)
        x = np.arange(float(np.prod(shape))).reshape(shape)
        for axis in range(len(shape)):
            require_one_stream(shuffled, captured, rng, x, axis)


def stochastic_descent(rng: Any, w: Any, x: Any, y: Any, epochs: Any, size: Any) -> Any:
    n = x.shape[0]
    for _ in range(epochs):
        order = rng.permutation(n)
        for start in range(0, n - size + 1, size):
            rows = order[start:start + size]
            w = w - 0.1 * (x[rows].T @ (x[rows] @ w - y[rows])) / size
    return np.sum(w * w)


POINTS = np.random.default_rng(0).normal(size=(12, 3))


SIZES: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "without replacement": (lambda r, n, k: r.choice(n, k, replace=False),
                            [(7, 3), (9, 9), (20000, 5000), (20000, 30)]),
    "items without replacement": (lambda r, x, k: r.choice(x, k, replace=False),
                                  [(np.arange(7.0), 3), (np.arange(20000.0), 5000)]),
    "permutation": (lambda r, n: r.permutation(n), [(7,), (0,), (100,), (1,)]),
    "weights": (lambda r, x, k: r.choice(x, k, p=x / np.sum(x)),
                [(np.arange(7.0), 3), (np.arange(50.0), 0), (np.arange(9.0), 100)]),
    "data": (lambda r, x: np.sum(r.permutation(x[x > 2.0])[:2]) + r.choice(np.sum(x > 1.0)),
             [(np.arange(7.0),), (np.arange(9.0),)]),
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("disable_jit", [True, False])
def test_programs_draw_for_all_sizes(name: str, disable_jit: bool) -> None:
    fn, calls = SIZES[name]
    with tracejit.config(disable_jit=disable_jit):
        captured, rng = tracejit.jit(fn), np.random.default_rng(6)
        for args in calls:
            other = copy.deepcopy(rng)
            assert np.array_equal(captured(rng, *args), fn(other, *args))
            assert state(rng) == state(other)
        assert programs_of(captured) <= 2  # the size of an array may decide how items are chosen


def bootstrap(rng: Any, x: Any) -> Any:
    y = rng.choice(x, len(x)) * rng.permutation(x)
    return np.sum(y * y) + np.sum(rng.choice(x, 3, replace=False))


# --- generators made inside ---------------------------------------------------------------------


def seeded(x: Any) -> Any:
    rng = np.random.default_rng(3)
    y = x * rng.normal(size=4) + np.random.default_rng(3).random()
    for _ in range(20):
        y = y + rng.uniform(0.0, x)
    return np.sum(y * y)


def seeded_by(seed: Any, x: Any) -> Any:
    rng = np.random.default_rng(seed)
    return x * rng.random() + rng.normal(x, 2.0)


def seeded_in_a_branch(x: Any) -> Any:
    if x > 0.5:
        rng = np.random.default_rng(4)
        y = x * rng.normal() + rng.random()
    else:
        y = x * np.random.default_rng([1, 2]).normal()
    return y


def given_or_made(x: Any, rng: Any = None) -> Any:
    rng = np.random.default_rng(rng if rng is not None else 8)
    return x * rng.random() * rng.random()


MADE: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]], int]] = {
    "seeded": (seeded, [(0.7,), (1.1,), (0.7,)], 0),
    "seeded by an argument": (seeded_by, [(1, 0.3), (2, 0.3), (1, 0.4)], 1),
    "in a branch": (seeded_in_a_branch, [(0.7,), (0.3,), (0.7,)], 0),
    "given or made": (given_or_made, [(0.7,), (0.3,)], 0),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("disable_jit", [True, False])
def test_a_generator_made_inside_begins_anew_at_every_call(name: str, disable_jit: bool) -> None:
    fn, calls, number = MADE[name]
    with tracejit.config(disable_jit=disable_jit):
        captured, slope = tracejit.jit(fn), tracejit.grad(fn, argnums=number)
        for args in calls:
            np.testing.assert_allclose(captured(*args), fn(*args), rtol=1e-13)
            expected = differences(
                lambda x, args=args: fn(*args[:number], x, *args[number + 1:]), args[number])
            np.testing.assert_allclose(slope(*args), expected, rtol=1e-6)


def test_a_generator_that_is_given_to_default_rng_is_itself() -> None:
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    assert tracejit.jit(given_or_made)(0.7, rng) == given_or_made(0.7, other)
    assert state(rng) == state(other)


def test_a_pullback_of_a_generator_made_inside() -> None:
    value, pull = tracejit.vjp(seeded, 0.7)
    np.testing.assert_allclose(value, seeded(0.7))
    for _ in range(2):
        np.testing.assert_allclose(pull(1.0)[0], tracejit.grad(seeded)(0.7))


def test_a_generator_without_a_seed_is_another_one_at_every_call() -> None:
    with tracejit.config(disable_jit=True):
        captured = tracejit.jit(lambda x: x * np.random.default_rng().random())
        assert len({captured(1.0) for _ in range(5)}) == 5


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "normal": lambda rng: rng.normal(SHAPES, 2.0),
    "normal of columns": lambda rng: rng.normal(SHAPES, SHAPES[:, None]),
    "normal with a size": lambda rng: rng.normal(SHAPES, 0.5, size=(3, 4)),
    "float32 loc": lambda rng: rng.normal(SHAPES.astype(np.float32), 1.0),
    "list": lambda rng: rng.normal([0.0, 5.0], [1.0, 0.1]),
    "rows with a size": lambda rng: rng.normal(SHAPES[None], SHAPES[:3, None], size=(3, 4)),
    "uniform": lambda rng: rng.uniform(-SHAPES, SHAPES),
    "exponential": lambda rng: rng.exponential(SHAPES),
    "gamma": lambda rng: rng.gamma(SHAPES, SHAPES[:, None]),
    "gamma with a size": lambda rng: rng.gamma(SHAPES, 1.0, (2, 4)),
    "standard_gamma": lambda rng: rng.standard_gamma(SHAPES),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("disable_jit", [True, False])
def test_parameters_that_are_arrays(name: str, disable_jit: bool) -> None:
    fn = ARRAYS[name]
    with tracejit.config(disable_jit=disable_jit):
        rng = np.random.default_rng(12)
        captured = tracejit.jit(fn)
        for _ in range(2):
            require_one_stream(fn, captured, rng)


# --- programs -----------------------------------------------------------------------------------


def metropolis(rng: Any, x0: Any, step: Any, n: Any) -> Any:
    x, total, accepted = x0, 0.0, 0
    for _ in range(n):
        proposal = x + step * rng.normal()
        if rng.random() < np.exp(0.5 * (x * x - proposal * proposal)):
            x = proposal
            accepted += 1
        total += x * x
    return total / n + accepted


def renewal(rng: Any, x: Any) -> Any:
    k, s = 0, x
    while s < 10.0:
        s = s + rng.exponential(x)
        if s > 5.0:
            s = s + rng.uniform(0.0, x)
        k += 1
    return s * k


def russian_roulette(rng: Any, x: Any) -> Any:
    s = x
    while rng.random() < 0.8:
        s = s * 1.1
    return s


def option(rng: Any, s0: Any, mu: Any, sigma: Any, steps: Any, paths: Any) -> Any:
    dt = 1.0 / steps
    s = np.full(paths, s0)
    for _ in range(steps):
        z = rng.standard_normal(paths)
        s = s * np.exp((mu - 0.5 * sigma ** 2) * dt + sigma * np.sqrt(dt) * z)
    return np.mean(np.maximum(s - 1.0, 0.0))


def importance(rng: Any, mu: Any, n: Any) -> Any:
    x = rng.normal(mu, 2.0, n)
    w = np.exp(-0.5 * x ** 2 + 0.5 * ((x - mu) / 2.0) ** 2) * 2.0
    return np.sum(w * x ** 2) / np.sum(w)


def hamiltonian(rng: Any, x0: Any, eps: Any, n: Any) -> Any:
    x = x0.copy()
    for _ in range(n):
        p = rng.standard_normal(x.size)
        before = 0.5 * np.sum(p * p) + 0.5 * np.sum(x * x)
        q, r = x.copy(), p.copy()
        for _ in range(5):
            r = r - 0.5 * eps * q
            q = q + eps * r
            r = r - 0.5 * eps * q
        after = 0.5 * np.sum(r * r) + 0.5 * np.sum(q * q)
        if np.log(rng.random()) < before - after:
            x = q
    return np.sum(x * x)


def particles(rng: Any, y: Any, sigma: Any, n: Any) -> Any:
    x = rng.normal(0.0, 1.0, n)
    likelihood = 0.0
    for t in range(len(y)):
        x = 0.9 * x + sigma * rng.standard_normal(n)
        w = np.exp(-0.5 * (y[t] - x) ** 2)
        likelihood += np.log(np.mean(w))
        w = w / np.sum(w)
        places = (rng.random() + np.arange(n)) / n
        x = x[np.minimum(np.searchsorted(np.cumsum(w), places), n - 1)]
    return likelihood


def gammas(rng: Any, a: Any, s: Any) -> Any:
    return np.sum(rng.gamma(2.5, s, 4)) * a + rng.standard_gamma(0.5) * s + np.sum(
        rng.gamma(SHAPES, s))


def picks(rng: Any, x: Any, n: Any) -> Any:
    k, j = rng.integers(n), rng.integers(0, n, size=4)
    return x[k] * np.sum(x[j]) + rng.integers(3, 9, endpoint=True)


def branches(rng: Any, x: Any) -> Any:
    if x > 0.5:
        y = rng.normal(x, 1.0) * rng.random()
    else:
        y = rng.exponential(x)
    return y + rng.random() * x


def growing(rng: Any, x: Any) -> Any:
    kept = []
    s = 0.0
    while s < 3.0:
        kept.append(rng.random() * x)
        s += kept[-1]
    return np.sum(np.array(kept) ** 2) + rng.random()


def all_at_once(rng: Any, x: Any, n: Any) -> Any:
    kept = list(rng.random() * x for _ in range(3))
    kept.extend(rng.normal(x) for _ in range(2))
    s = sum(rng.random() for _ in range(n)) * max(rng.random() * x for _ in range(3))
    for k, z in enumerate(kept):
        s += k * z * rng.exponential(x)
    return s if any([rng.random() < x for _ in range(3)]) else s * rng.random()


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]] = {
    "metropolis": (metropolis, (0.5, 0.7, 200), 1),
    "metropolis by its step": (metropolis, (0.5, 0.7, 50), 2),
    "renewal": (renewal, (0.7,), 1), "russian roulette": (russian_roulette, (0.7,), 1),
    "option by the drift": (option, (1.0, 0.05, 0.2, 12, 50), 2),
    "option by the volatility": (option, (1.0, 0.05, 0.2, 12, 50), 3),
    "importance": (importance, (0.3, 40), 1),
    "hamiltonian": (hamiltonian, (np.array([0.3, -0.2]), 0.2, 10), 1),
    "particles": (particles, (np.array([0.1, 0.4, -0.3, 0.8]), 0.5, 20), 2),
    "gammas": (gammas, (0.3, 1.2), 2), "picks": (picks, (np.arange(5.0) + 1.0, 5), 1),
    "branches above": (branches, (0.7,), 1), "branches below": (branches, (0.3,), 1),
    "growing": (growing, (0.9,), 1), "all at once": (all_at_once, (0.9, 4), 1),
    "stochastic descent": (stochastic_descent, (
        np.array([0.3, -1.0, 0.2]), POINTS, POINTS[:, 0] ** 2, 3, 4), 1),
    "bootstrap": (bootstrap, (np.array([0.3, -1.0, 2.0, 0.5]),), 1),
}


def differences(fn: Callable[[Any], Any], x: Any, h: float = 1e-6) -> Any:
    """Return central differences, at the same draws and decisions."""
    if not np.ndim(x):
        return (fn(x + h) - fn(x - h)) / (2.0 * h)
    return np.array([(fn(x + h * e) - fn(x - h * e)) / (2.0 * h) for e in np.eye(len(x))])


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("disable_jit", [True, False])
def test_programs_draw_once_and_have_pathwise_gradients(name: str, disable_jit: bool) -> None:
    fn, args, number = PROGRAMS[name]
    with tracejit.config(disable_jit=disable_jit):
        rng, other = np.random.default_rng(3), np.random.default_rng(3)
        captured = tracejit.jit(fn)
        for _ in range(2):
            np.testing.assert_allclose(captured(rng, *args), fn(other, *args), rtol=1e-12)
            assert state(rng) == state(other)
        before = copy.deepcopy(rng)
        value, slope = tracejit.value_and_grad(fn, argnums=number)(rng, *args)
        np.testing.assert_allclose(value, fn(other, *args), rtol=1e-12)
        assert state(rng) == state(other)

    def at(x: Any) -> Any:
        return fn(copy.deepcopy(before), *args[:number - 1], x, *args[number:])

    np.testing.assert_allclose(slope, differences(at, args[number - 1]), rtol=1e-5, atol=1e-7)


# --- transforms: each draws as often as the function does ----------------------------------------


def wave(x: Any, rng: Any) -> Any:
    z = x * rng.standard_normal(x.size)
    if z[0] > 0.0:
        z = z * rng.random()
    for _ in range(3):
        z = z + rng.uniform(0.0, x)
    return np.sum(np.sin(z) * x * x)


X = np.array([0.3, 0.7, 0.2])
DRAWS_ONCE: dict[str, Callable[[Any], Any]] = {
    "jit": lambda r: tracejit.jit(wave)(X, r),
    "grad": lambda r: tracejit.grad(wave)(X, r),
    "value_and_grad": lambda r: tracejit.value_and_grad(wave)(X, r),
    "jvp": lambda r: tracejit.jvp(lambda x: wave(x, r), (X,), (np.ones(3),)),
    "hvp": lambda r: tracejit.hvp(lambda x: wave(x, r), (X,), (np.ones(3),)),
    "grad within": lambda r: tracejit.jit(lambda x, r: tracejit.grad(wave)(x, r))(X, r),
    "grad of grad": lambda r: tracejit.grad(
        lambda x, r: np.sum(tracejit.grad(wave)(x, r) ** 2))(X, r),
    "vjp": lambda r: tracejit.vjp(wave, X, r)[0],
}


@pytest.mark.parametrize("name", DRAWS_ONCE)
def test_transforms_draw_as_often_as_the_function(name: str) -> None:
    for disable_jit in (True, False):
        with tracejit.config(disable_jit=disable_jit):
            rng, other = np.random.default_rng(3), np.random.default_rng(3)
            for _ in range(2):
                DRAWS_ONCE[name](rng)
                wave(X, other)
                assert state(rng) == state(other)


def test_second_derivatives_are_pathwise() -> None:
    def slope(x: Any) -> Any:
        return np.sum(tracejit.grad(wave)(x, np.random.default_rng(3)))

    with tracejit.config(disable_jit=True):
        rng = np.random.default_rng(3)
        found = tracejit.hvp(lambda x: wave(x, rng), (X,), (np.ones(3),))
        np.testing.assert_allclose(found, differences(slope, X), rtol=1e-5)


def test_a_pullback_draws_the_numbers_of_the_value_again_and_leaves_the_generator() -> None:
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    value, pull = tracejit.vjp(wave, X, rng)
    assert value == tracejit.jit(wave)(X, other)
    after = state(rng)
    expected = tracejit.grad(wave)(X, np.random.default_rng(3))
    for scale in (1.0, 2.0, 1.0):
        np.testing.assert_allclose(pull(scale)[0], scale * expected, rtol=1e-12)
        assert state(rng) == after


def test_a_pullback_of_two_generators_that_share_a_state() -> None:
    def fn(x: Any, a: Any, b: Any) -> Any:
        return x * a.random() * b.random()

    with tracejit.config(disable_jit=True):
        rng = np.random.default_rng(3)
        value, pull = tracejit.vjp(fn, 1.0, rng, np.random.Generator(rng.bit_generator))
        for _ in range(2):
            assert pull(1.0)[0] == value


def test_draws_that_nothing_reads_are_drawn() -> None:
    def fn(x: Any, rng: Any) -> Any:
        rng.random()
        for _ in range(3):
            rng.normal(size=2)
        return x * x

    for transform in (tracejit.jit, tracejit.grad):
        rng, other = np.random.default_rng(3), np.random.default_rng(3)
        transform(fn)(2.0, rng)
        fn(2.0, other)
        assert state(rng) == state(other)


# --- where generators come from -------------------------------------------------------------------

RNG = np.random.default_rng(11)


class Model:
    def __init__(self) -> None:
        self.rng = np.random.default_rng(2)
        self.scale = 2.0

    def draw(self, x: Any) -> Any:
        return x * self.rng.normal(0.0, self.scale)


MODEL = Model()
INNER = np.random.default_rng(21)
HELD = {"rng": RNG, "list": [np.random.default_rng(1), RNG]}


def of_closure() -> Any:
    return lambda x: x * INNER.random()


SOURCES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "global": (lambda x: x * RNG.random(), (2.0,), (RNG,)),
    "default": (lambda x, rng=RNG: x + rng.random(), (2.0,), (RNG,)),
    "closure": (of_closure(), (2.0,), (INNER,)),
    "method": (MODEL.draw, (2.0,), (MODEL.rng,)),
    "attribute": (lambda m, x: m.draw(x) + m.rng.random(), (MODEL, 2.0), (MODEL.rng,)),
    "containers": (lambda x, d: d["rng"].random() * x + d["list"][0].random() - d["list"][1].normal(
        ), (2.0, HELD), (RNG, HELD["list"][0])),
    "global and argument": (lambda x, r: RNG.random() * x + r.random() - RNG.normal(), (2.0, RNG),
                            (RNG,)),
    "twice": (lambda a, b: a.random() - 2.0 * b.random() + a.normal(), (RNG, RNG), (RNG,)),
    "one bit generator": (
        lambda a, b: a.random() - 2.0 * b.random() + a.normal(),
        (RNG, np.random.Generator(RNG.bit_generator)), (RNG,)),
    "a bound method": (lambda x, r: (lambda draw: draw(2.0, x))(r.normal), (2.0, RNG), (RNG,)),
    "none or one": (lambda x, r=None: x if r is None else x * r.random(), (2.0, RNG), (RNG,)),
    "its class": (lambda x, r: x * r.random() if r.__class__ is np.random.Generator else x,
                  (2.0, RNG), (RNG,)),
    "isinstance": (lambda x, r: x * r.random() if isinstance(r, np.random.Generator) else x,
                   (2.0, RNG), (RNG,)),
    "two in turn": (lambda x, r: sum(a * b for a, b in zip(
        (r.random() for _ in range(3)), (r.normal() for _ in range(3)), strict=True)), (X, RNG),
        (RNG,)),
    "some of them": (lambda x, r: sum(itertools.islice((r.random() for _ in range(5)), 2)),
                     (2.0, RNG), (RNG,)),
    "a key between": (lambda x, r: max(
        (r.random() for _ in range(5)), key=lambda v: v * r.random()), (2.0, RNG), (RNG,)),
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("disable_jit", [True, False])
def test_generators_are_read_where_they_are(name: str, disable_jit: bool) -> None:
    fn, args, generators = SOURCES[name]
    states = [g.bit_generator.state for g in generators]
    with tracejit.config(disable_jit=disable_jit):
        captured = tracejit.jit(fn)
        found = [captured(*args) for _ in range(3)]
    after = state(*generators)
    for g, s in zip(generators, states, strict=True):
        g.bit_generator.state = s
    assert found == [fn(*args) for _ in range(3)]
    assert after == state(*generators)


def test_another_generator_is_used_without_compiling() -> None:
    captured = tracejit.jit(metropolis)
    for bits in BIT_GENERATORS:
        rng, other = np.random.Generator(bits(1)), np.random.Generator(bits(1))
        assert captured(rng, 0.3, 0.5, 20) == metropolis(other, 0.3, 0.5, 20)
        assert state(rng) == state(other)
    assert programs_of(captured) == 1


def test_a_generator_that_threads_share_is_locked() -> None:
    def total(rng: Any, n: Any) -> Any:
        s = 0.0
        for _ in range(n):
            s += rng.random()
        return s

    captured = tracejit.jit(total)
    captured(np.random.default_rng(0), 3)
    rng, other = np.random.default_rng(5), np.random.default_rng(5)
    found: list[float] = []
    threads = [threading.Thread(target=lambda: found.append(captured(rng, 20_000)))
               for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(found) == sorted(total(other, 20_000) for _ in range(4))
    assert state(rng) == state(other)


def test_a_call_waits_for_who_draws_from_one_of_its_generators() -> None:
    captured = tracejit.jit(lambda a, b: a.random() + b.random())
    a, b = np.random.default_rng(0), np.random.default_rng(1)
    captured(a, b)
    for rng in (a, b):
        before = state(rng)
        thread = threading.Thread(target=captured, args=(a, b))
        with rng.bit_generator.lock:
            thread.start()
            thread.join(0.05)
            assert thread.is_alive()
            assert state(rng) == before
        thread.join()
        assert state(rng) != before


# --- errors and refusals --------------------------------------------------------------------------

ERRORS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "scale": (lambda r, x: r.normal(0.0, x), (-1.0,)),
    "known scale": (lambda r: r.normal(0.0, -1.0), ()),
    "scale of -0.0": (lambda r, x: r.normal(0.0, x), (-0.0,)),
    "scales of -0.0": (lambda r, x: r.gamma(1.0, x), (np.array([1.0, -0.0]),)),
    "no uniform range": (lambda r, x: r.uniform(0.0, x), (-0.0,)),
    "complex": (lambda r, x: r.normal(x), (1j,)),
    "poisson of NaN": (lambda r, x: r.poisson(x), (np.nan,)),
    "poissons of NaN": (lambda r, x: r.poisson(x), (np.array([1.0, np.nan]),)),
    "integers above 64 bits": (lambda r: r.integers(2 ** 63 + 1), ()),
    "unsigned integers above 64 bits": (lambda r: r.integers(2 ** 64 + 1, dtype=np.uint64), ()),
    "none of 8 bits": (lambda r: r.integers(np.uint8(0)), ()),
    "bytes the other way": (lambda r: r.integers(5, dtype=">i4"), ()),
    "scales": (lambda r, x: r.normal(0.0, x), (np.array([1.0, -1.0]),)),
    "exponential": (lambda r, x: r.exponential(x), (-1.0,)),
    "gamma": (lambda r, x: r.gamma(x), (-1.0,)),
    "uniform": (lambda r, x: r.uniform(1.0, x), (-1.0,)),
    "uniform to infinity": (lambda r, x: r.uniform(1.0, x), (np.inf,)),
    "integers": (lambda r, n: r.integers(3, n), (2,)),
    "no integers": (lambda r, n: r.integers(n), (0,)),
    "integers of 8 bits": (lambda r, n: r.integers(0, n, dtype=np.int8), (1000,)),
    "weights": (lambda r, p: r.choice(3, 2, p=p), (np.array([0.1, 0.2, 0.3]),)),
    "weights below 0": (lambda r, p: r.choice(3, 2, p=p), (np.array([-0.1, 0.2, 0.9]),)),
    "as many weights": (lambda r, p: r.choice(4, 2, p=p), (np.array([0.1, 0.2, 0.7]),)),
    "more than there are": (lambda r, n: r.choice(n, 5, replace=False), (3,)),
    "poisson": (lambda r, x: r.poisson(x), (-1.0,)),
    "a dtype": (lambda r: r.random(3, np.int64), ()),
    "a size": (lambda r: r.normal(np.zeros(3), 1.0, 4), ()),
    "an attribute": (lambda r: r.randn(3), ()),
    "an argument": (lambda r: r.random(3, scale=2.0), ()),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_numpys(name: str) -> None:
    fn, args = ERRORS[name]
    with tracejit.config(disable_jit=True):
        rng, other = np.random.default_rng(3), np.random.default_rng(3)
        with pytest.raises(Exception) as expected:  # whatever NumPy raises
            fn(other, *args)
        with pytest.raises(expected.type):
            tracejit.jit(fn)(rng, *args)
        assert state(rng) == state(other)


MESSAGES = ("scale of -0.0", "scales of -0.0", "no uniform range", "poisson of NaN",
            "poissons of NaN", "poisson", "scale", "uniform", "uniform to infinity")


@pytest.mark.parametrize("name", MESSAGES)
def test_errors_say_what_numpys_say(name: str) -> None:
    fn, args = ERRORS[name]
    with tracejit.config(disable_jit=True):
        texts = []
        for called in (fn, tracejit.jit(fn)):
            with pytest.raises((ValueError, OverflowError)) as caught:
                called(np.random.default_rng(3), *args)
            texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_parameters_with_one_row_or_column_are_broadcast_to_the_size() -> None:
    with tracejit.config(disable_jit=True):
        captured, rng = tracejit.jit(of_shape), np.random.default_rng(12)
        for shape in ((2, 3), (2, 1), (1, 3), (1, 1), (2, 3)):
            require_one_stream(of_shape, captured, rng, np.ones(shape))


def of_shape(rng: Any, x: Any) -> Any:
    return rng.gamma(x, x, (2, 3)) + rng.normal(x, 1.0, (2, 3))


def mapped_loop(x: Any, rng: Any) -> Any:
    for _ in tracejit.checkpoint(range(10), snapshots=3):
        x = x * rng.random()
    return x


def loop_of_generators(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = x + np.random.default_rng(3).random()
    return x


@tracejit.checkpoint
def recomputed(x: Any, rng: Any) -> Any:
    return x * rng.normal()


def every(xs: Any) -> bool:
    return all(xs)


def told(x: Any, rng: Any) -> Any:
    assert x > 0.0, f"as {rng.random()}"
    return x * rng.random()


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "vmap": (lambda r: tracejit.vmap(lambda x, r: x * r.normal(), in_axes=(0, None))(X, r),
             "rng.spawn"),
    "jacrev": (lambda r: tracejit.jacrev(lambda x, r: x * r.random(3))(X, r), "drawn in"),
    "jacfwd": (lambda r: tracejit.jacfwd(lambda x, r: x * r.random(3))(X, r), "mapped"),
    "hessian": (lambda r: tracejit.hessian(wave)(X, r), "mapped"),
    "checkpoint": (lambda r: tracejit.grad(lambda x, r: recomputed(x, r) ** 2)(0.3, r),
                   "under checkpoint"),
    "snapshots": (lambda r: tracejit.grad(mapped_loop)(0.3, r), "under checkpoint"),
    "shape of gamma": (lambda r: tracejit.grad(lambda x, r: r.gamma(x))(0.3, r),
                       "by the distribution's shape"),
    "shape of gamma forwards": (lambda r: tracejit.jvp(lambda x: r.gamma(x), (0.3,), (1.0,)),
                                "by the distribution's shape"),
    "pullback of a global": (lambda r: tracejit.vjp(lambda x: x * RNG.random(), 0.3)[1](1.0),
                             "Pass it as an argument"),
    "pullback of a default": (lambda r: tracejit.vjp(lambda x, r=RNG: x * r.random(), 0.3)[1](1.0),
                              "Pass it as an argument"),
    "pullback without a seed": (lambda r: tracejit.vjp(
        lambda x: x * np.random.default_rng().random(), 0.3)[1](1.0), "Give it a seed"),
    "pullback within": (lambda r: tracejit.jit(
        lambda x, r: tracejit.vjp(lambda y: y * y * r.random(), x)[1](1.0))(0.3, r), "pullback"),
    "returned": (lambda r: tracejit.jit(lambda x, r: (x, r))(0.3, r), "cannot be returned"),
    "returned in a dict": (lambda r: tracejit.jit(lambda x, r: {"r": [r]})(0.3, r),
                           "cannot be returned"),
    "copied": (lambda r: tracejit.jit(lambda x, r: copy.deepcopy(r).random())(0.3, r), "a copy"),
    "compared": (lambda r: tracejit.jit(lambda a, b: a is b)(r, r), "is not known"),
    "identified": (lambda r: tracejit.jit(lambda a: id(a))(r), "decides on"),
    "shown": (lambda r: tracejit.jit(lambda a: f"{a}")(r), "text of"),
    "all of a name": (lambda r: tracejit.jit(lambda x, r: every(r.random() < x for _ in range(4)))(
        0.3, r), "stop at the first"),
    "any of a map": (lambda r: tracejit.jit(lambda x, r: any(map(lambda v: r.random() < v, x)))(
        X, r), "stop at the first"),
    "a key between items of a map": (lambda r: tracejit.jit(lambda x, r: max(
        map(r.normal, [1.0, 2.0, 3.0]), key=lambda v: v * r.random()))(X, r),
        "one after the other"),
    "a reduction of a map": (lambda r: tracejit.jit(lambda x, r: functools.reduce(
        lambda a, b: a * r.random() + b, map(r.normal, x)))(X, r), "one after the other"),
    "the message of an assert": (lambda r: tracejit.jit(told)(0.3, r), "only where it fails"),
    "spawn": (lambda r: tracejit.jit(lambda x, r: r.spawn(1)[0].random())(0.3, r), "spawn"),
    "state": (lambda r: tracejit.jit(lambda x, r: r.bit_generator.state)(0.3, r),
              "bit_generator"),
    "beta": (lambda r: tracejit.jit(lambda x, r: r.beta(1.0, x))(0.3, r), "Generator.beta"),
    "out": (lambda r: tracejit.jit(lambda x, r: r.random(out=x))(np.zeros(3), r), "out="),
    "arrays of bounds": (lambda r: tracejit.jit(lambda x, r: r.integers(x))(
        np.array([3, 4]), r), "arrays as bounds"),
    "default_rng in a loop": (lambda r: tracejit.jit(loop_of_generators)(0.3, 20),
                              "before the loop"),
    "weights without replacement": (lambda r: tracejit.jit(
        lambda x, r: r.choice(4, 2, replace=False, p=[0.1, 0.2, 0.3, 0.4]))(0.3, r), "with p and"),
    "a bit generator": (lambda r: tracejit.jit(
        lambda x: np.random.Generator(np.random.PCG64(1)).random())(0.3), "PCG64"),
    "np.random": (lambda r: tracejit.jit(lambda x: x * np.random.normal())(0.3),
                  "numpy.random.normal"),
    "RandomState": (lambda r: tracejit.jit(lambda x, r: x * r.normal())(
        0.3, np.random.RandomState(0)), "RandomState"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_refused_at_the_users_line(name: str) -> None:
    fn, text = REFUSED[name]
    with tracejit.config(disable_jit=True):
        rng = np.random.default_rng(0)
        before = state(rng)
        with pytest.raises(Refusal) as caught:
            fn(rng)
        assert text in str(caught.value)
        assert __file__ in str(caught.value)
        if "pullback of" not in name:
            assert state(rng) == before


def test_other_targets_say_why_not() -> None:
    pytest.importorskip("numba_cuda")
    captured = tracejit.jit(russian_roulette)

    @numba.njit
    def caller(x: Any) -> Any:
        return of_global(x)

    of_global = tracejit.jit(lambda x: x * RNG.random())
    with pytest.raises(numba.core.errors.TypingError, match="draws random numbers"):
        caller(2.0)
    rng = np.random.default_rng(0)
    lowered = captured.trace(rng, 0.3).lower()
    with pytest.raises(tracejit.errors.ExportError, match="draws random numbers"):
        lowered.compile().export("roulette.o")
    with pytest.raises(Refusal, match="NumPy's, which is on the CPU"):
        tracejit.jit(russian_roulette, target="cuda").trace(rng, 0.3).lower()


def test_snapshots_draw(tmp_path: Any) -> None:
    saved = tracejit.jit(metropolis).trace(np.random.default_rng(0), 0.3, 0.5, 20).lower(
        ).compile().save(tmp_path / "chain.tj")
    loaded = tracejit.load(saved)
    rng, other = np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(2):
        assert loaded(rng, 0.3, 0.5, 20) == metropolis(other, 0.3, 0.5, 20)
        assert state(rng) == state(other)


def test_verify_mode_finds_nothing() -> None:
    with tracejit.config(verify=True):
        for fn, args, number in PROGRAMS.values():
            if fn in (gammas, picks, branches):
                rng, other = np.random.default_rng(3), np.random.default_rng(3)
                value, _ = tracejit.value_and_grad(fn, argnums=number)(rng, *args)
                np.testing.assert_allclose(value, fn(other, *args), rtol=1e-12)


def test_results_that_are_not_finite_are_told_without_drawing_again() -> None:
    with tracejit.config(debug_nans=True):
        rng, other = np.random.default_rng(3), np.random.default_rng(3)
        with pytest.raises(FloatingPointError, match="draw random numbers again"):
            tracejit.jit(lambda x, r: np.log(x) * r.random())(-1.0, rng)
        other.random()
        assert state(rng) == state(other)


def test_what_calls_a_function_many_times_leaves_generators_or_refuses() -> None:
    rng = np.random.default_rng(3)
    before = state(rng)
    report = tracejit.profile(tracejit.grad(metropolis, argnums=1), rng, 0.3, 0.5, 20)
    assert "metropolis" in str(report)
    assert state(rng) == before
    before = state(RNG)
    with pytest.raises(Refusal, match="draws from RNG"):
        tracejit.profile(tracejit.jit(lambda x: x * RNG.random()), 0.3)
    with pytest.raises(Refusal, match="would not be left as it is"):
        tracejit.profile(tracejit.jit(lambda x, rng=RNG: x * rng.random()), 0.3)
    assert state(RNG) == before
    with pytest.raises(TypeError, match="other numbers each time"):
        tracejit.check_grads(wave, (X, rng))
    tracejit.check_grads(lambda x: wave(x, np.random.default_rng(2)), (X,))


def test_a_snapshot_has_no_generator_in_it(tmp_path: Any) -> None:
    for fn in (lambda x: x * RNG.random(), seeded):
        with pytest.raises(TypeError, match="Make it an argument"):
            tracejit.jit(fn).trace(0.3).lower().compile().save(tmp_path / "one.tj")


def test_programs_that_draw_are_found_in_the_store(tmp_path: Any) -> None:
    module = tmp_path / "walks.py"
    module.write_text(STORED)
    environment = {**os.environ, "TRACEJIT_CACHE": "1", "TRACEJIT_CACHE_DIR": str(tmp_path / "c"),
                   "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    found = [subprocess.run([sys.executable, "-c", "import walks; walks.main()"], text=True,
                            env=environment, capture_output=True, check=True).stdout.split()
             for _ in range(2)]
    assert found == [["True", "True", "False"], ["True", "True", "True"]]


STORED = """
import numpy as np
import tracejit


@tracejit.jit
def walk(x, rng):
    s = x
    while s < 5.0:
        s = s + rng.exponential(x) * rng.normal() ** 2
    return s


def main():
    rng, other = np.random.default_rng(5), np.random.default_rng(5)
    print(walk(0.7, rng) == walk.__wrapped__(0.7, other))
    print(rng.bit_generator.state == other.bit_generator.state)
    print(all(program.is_stored for programs in walk._table.values() for program in programs))
"""


WEIGHTS = np.arange(1.0, 7.0)


def _selects(rng: Any, x: Any) -> Any:
    return x * np.sum(WEIGHTS[rng.random(6) < 0.5])


def _counts(rng: Any, x: Any) -> Any:
    return x * np.count_nonzero(rng.random(6) < 0.5) + np.sum(np.zeros(int(rng.integers(5))))


def _fills(rng: Any, x: Any) -> Any:
    items = [x]
    for _ in range(20):
        if rng.random() < 0.5:
            items.append(rng.random())
    return sum(items) + len(items)


def _finds(rng: Any, x: Any) -> Any:
    return x + np.sum(np.flatnonzero(rng.random(5) < 0.4)) + np.unique(rng.integers(3, size=6)).size


@pytest.mark.parametrize("fn", [_selects, _counts, _fills, _finds], ids=lambda fn: fn.__name__)
def test_what_a_generator_from_outside_draws_is_no_constant(fn: Any) -> None:
    drawn, expected = np.random.default_rng(3), np.random.default_rng(3)
    compiled = tracejit.jit(lambda x: fn(drawn, x))
    with tracejit.config(disable_jit=True):
        for _ in range(5):
            np.testing.assert_allclose(compiled(1.5), fn(expected, 1.5), rtol=1e-14)
    assert drawn.bit_generator.state == expected.bit_generator.state


def test_any_draws_until_one_is_true() -> None:
    def f(x: float, rng: np.random.Generator) -> bool:
        return any(rng.random() < x for _ in range(4))

    with tracejit.config(disable_jit=True):
        staged = tracejit.jit(f)
        for seed, x in itertools.product(range(6), (0.05, 0.3, 0.9)):
            ours, numpys = np.random.default_rng(seed), np.random.default_rng(seed)
            assert staged(x, ours) == f(x, numpys)
            assert state(ours) == state(numpys)
