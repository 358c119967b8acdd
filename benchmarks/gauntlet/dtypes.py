"""Digits and dtypes

Here every tool computes in the dtype that it takes by itself: float32 in JAX, and in PyTorch for
Python's floats. An int that leaves its bits wraps around.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gauntlet.lazily import torch
from benchmarks.gauntlet.program import program

LARGE = 100_000_001.0
SYMBOLIC = "ints are Python's while the graph is built"


def small_part_of_a_large_number(x):
    return (x - 1e8) ** 2


def square_of_an_int(x, n):
    return x * (n * n)


def int_past_64_bits(x, n):
    return x * (n * n)


def mean_of_bytes(x, image):
    return x * np.mean(image)


def torch_mean_of_bytes(x, image):
    return x * torch.mean(image.double())


def half_of_an_int(x, n):
    return x ** (n / 2)


def float_written_to_ints(x):
    y = np.arange(3)
    y[1] = 2.5 * x
    return y[1] * x


def torch_float_written_to_ints(x):
    y = torch.arange(3)
    y[1] = 2.5 * x
    return y[1] * x


def copy_in_single_precision(x):
    y = x.astype(np.float32) * np.float32(3.0)
    return np.sum(y.astype(np.float64) ** 2)


def torch_copy_in_single_precision(x):
    y = x.to(torch.float32) * 3.0
    return torch.sum(y.to(torch.float64) ** 2)


PROGRAMS = [
    program("(x - 1e8)² at 1e8 + 1", small_part_of_a_large_number, LARGE, right=2.0,
            single=True),
    program("x n² with n = 70 000", square_of_an_int, 2.0, 70_000, right=4.9e9, single=True,
            PyTensor=SYMBOLIC, CasADi=SYMBOLIC),
    program("x n² with n = 2³³, which leaves 64 bits", int_past_64_bits, 2.0, 2 ** 33,
            right=float(2 ** 66), PyTensor=SYMBOLIC, CasADi=SYMBOLIC),
    program("x times the mean of bytes", mean_of_bytes, 2.0, np.array([200, 250], np.uint8),
            PyTorch=torch_mean_of_bytes, CasADi="no arrays of bytes"),
    program("x ** (n / 2) with n = 3", half_of_an_int, 2.0, 3, single=True),
    program("a float written to an array of ints, which cuts it", float_written_to_ints, 1.5,
            right=3.0, JAX="arrays take no writes", autograd="arrays take no writes",
            PyTensor="arrays take no writes", PyTorch=torch_float_written_to_ints,
            CasADi="no arrays of ints"),
    program("through float32 and back", copy_in_single_precision, np.array([1.5, 2.0]),
            right=[27.0, 36.0], PyTorch=torch_copy_in_single_precision,
            PyTensor=lambda x: ((x.astype("float32") * np.float32(3.0)).astype("float64")
                                ** 2).sum(), CasADi="one dtype"),
]
