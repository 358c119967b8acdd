"""Discrete Fourier transforms of all kinds of lengths, against sums in extended precision."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir

import tracejit
from tracejit.codegen.dft_calls import NAME, Transforms
from tracejit.codegen.machine import load_object, target_machine
from tracejit.ops.fourier import MORE_ROOM, ROOM

LENGTHS = (
    1, 2, 3, 4, 5, 7, 16, 30, 49, 61, 122, 427,  # short, of written out factors and others
    64, 72, 100, 105, 121, 512, 625, 1000, 1024, 1085,  # long: two divisors of eight or more
    67, 134, 201, 1006, 1021)  # with a large prime
ROWS = (1, 2, 9)


def everything(z: Any, x: Any, h: Any, n: int) -> Any:
    return (np.fft.fft(z), np.fft.ifft(z, norm="forward"), np.fft.fft(x), np.fft.rfft(x),
            np.fft.irfft(h, n, norm="forward"))


def linear(x: Any, h: Any, a: Any, b: Any, y: Any, n: int) -> Any:
    return (np.sum(np.real(np.conj(a) * np.fft.fft(x))) + np.sum(np.real(np.conj(b) * np.fft.rfft(
        x))) + np.sum(y * np.fft.irfft(h, n, norm="forward")))


EVERYTHING = tracejit.jit(everything)
SLOPES = tracejit.grad(linear, argnums=(0, 1))


def matrix(n: int) -> Any:
    """Return the matrix of the transform, in extended precision."""
    circle = 8 * np.arctan(np.longdouble(1)) * np.arange(n) / n
    places = np.outer(np.arange(n), np.arange(n)) % n
    return (np.cos(circle) - 1j * np.sin(circle))[places]


def is_exact(found: Any, exact: Any) -> None:
    n = max(found.shape[-1], exact.shape[-1])
    error = np.linalg.norm(found - exact) / max(np.linalg.norm(exact.astype(complex)), 1e-300)
    assert error <= 2.0 ** -53 * (1.5 + np.log2(n))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize("n", LENGTHS)
def test_transforms_are_as_exact_as_passes_are(n: int, rng: np.random.Generator) -> None:
    f, half = matrix(n), n // 2 + 1
    for rows in ROWS:
        x, z = rng.normal(size=(rows, n)), rng.normal(size=(rows, n)) + 1j * rng.normal(
            size=(rows, n))
        found = EVERYTHING(z, x, z[:, :half], n)
        whole = z.copy()
        whole[:, half:] = np.conj(z[:, 1:n - half + 1][:, ::-1])
        whole[:, [0, n // 2] if n % 2 == 0 else [0]] = whole[:, [0, n // 2] if n % 2 == 0 else [
            0]].real
        exact = z @ f, z @ np.conj(f), x @ f, (x @ f)[:, :half], (whole @ np.conj(f)).real
        for ours, theirs in zip(found, exact, strict=True):
            is_exact(ours, theirs)


@pytest.mark.parametrize("n", LENGTHS)
def test_ways_back_are_the_adjoints(n: int, rng: np.random.Generator) -> None:
    f, half = matrix(n), n // 2 + 1
    twice = np.where((np.arange(half) > 0) & (2 * np.arange(half) < n), 2.0, 1.0)
    for rows in ROWS:
        x, y = rng.normal(size=(2, rows, n))
        a, b, h = (rng.normal(size=(rows, k)) + 1j * rng.normal(size=(rows, k))
                   for k in (n, half, half))
        slopes = SLOPES(x, h, a, b, y, n)
        is_exact(slopes[0], (a @ np.conj(f) + b @ np.conj(f)[:half]).real)
        is_exact(slopes[1], (y @ f)[:, :half] * twice)


def test_rows_do_not_know_of_one_another(rng: np.random.Generator) -> None:
    """The same numbers come out for a row alone, first, or last."""
    for n in (30, 64, 134, 1000):
        z = rng.normal(size=(9, n)) + 1j * rng.normal(size=(9, n))
        together = EVERYTHING(z, z.real, z[:, :n // 2 + 1], n)
        for row in range(9):
            alone = EVERYTHING(z[row:row + 1], z[row:row + 1].real, z[row:row + 1, :n // 2 + 1], n)
            for one, all_of_them in zip(alone, together, strict=True):
                np.testing.assert_array_equal(one[0], all_of_them[row])


def test_transforms_stay_within_their_room() -> None:
    module = ir.Module("transforms")
    module.data_layout = str(target_machine().target_data)
    Transforms(module)
    parsed = llvm.parse_assembly(str(module))
    parsed.get_function(NAME).linkage = "external"
    engine = load_object(target_machine().emit_object(parsed))
    pointer, word, number = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    side = word, word, number
    transform = ctypes.CFUNCTYPE(None, pointer, pointer, *side, pointer, *side, word, word, word)(
        engine.get_function_address(NAME))
    for n in (*range(1, 150), 366, 427, 539, 1006, 1021, 1022, 2042, 3600, 4099, 10007, 65537):
        half, size = n // 2 + 1, 2 * (n * ROOM + MORE_ROOM)
        memory, x, out = np.zeros(2 * size), np.zeros(4 * n), np.ones(6 * n + 32)
        memory[size:] = 7.0
        for rows in (1, 2):
            for source, to, swap in (
                    ((2, n), (2, n), 0), ((1, n), (2, n), 0), ((1, n), (2, half), 0),
                    ((2, n), (1, n), 8), ((2, half), (1, n), 8)):
                out[:] = 7.0
                transform(memory.ctypes.data, x.ctypes.data, *source, 1.0, out.ctypes.data, *to,
                          1.0, rows, n, swap)
                assert np.all(memory[size:] == 7.0)
                assert np.all(out[:rows * math.prod(to)] == 0.0)
                assert np.all(out[rows * math.prod(to):] == 7.0)
