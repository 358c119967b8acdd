"""Prints, draws and dicts

What a function does besides its result happens at each call in Python. Where it is captured once,
it happens once: `print` is silent from the second call on, and a draw of `np.random` is a constant.
"""

from __future__ import annotations

import contextlib
import io

import numpy as np

from benchmarks.gauntlet.lazily import torch
from benchmarks.gauntlet.program import asked

BUILT_ONCE = "Python runs while the graph is built, and not when it is called"


def print_at_each_call(tool):
    def f(x):
        print("called")
        return x * x

    slope, out = tool.grad(f), io.StringIO()
    with contextlib.redirect_stdout(out):
        for _ in range(5):
            slope(1.0)
    return out.getvalue().count("called")


def log_of_numbers(tool):
    seen = []

    def f(x):
        seen.append(2.0 * x)
        return x * x

    slope = tool.grad(f)
    for x in (1.0, 2.0, 3.0):
        slope(x)
    return [float(number) for number in seen]


def draws_of_a_generator(tool):
    rng = np.random.default_rng(7)

    def f(x):
        return x * rng.normal()

    slope = tool.grad(f)
    return [float(slope(1.0)) for _ in range(3)]


def draws_without_a_key(tool):
    def f(x):
        return x * np.random.normal()

    slope = tool.grad(f)
    return float(slope(1.0) != slope(1.0))


def torch_draws_without_a_key(tool):
    slope = tool.grad(lambda x: x * torch.randn((), dtype=torch.float64))
    return float(slope(1.0) != slope(1.0))


def order_of_a_dict(tool):
    def f(params):
        total = 0.0
        for k, value in enumerate(params.values()):
            total = total + (k + 1.0) * value * value
        return total

    gradient = tool.grad(f)({"slope": 1.0, "offset": 1.0})
    return [float(gradient["slope"]), float(gradient["offset"])]


PROGRAMS = [
    asked("`print(\"called\")` in the function: lines after five calls", print_at_each_call, 5,
          PyTensor=BUILT_ONCE, CasADi=BUILT_ONCE),
    asked("`seen.append(2 * x)`: its numbers after calls with 1, 2, 3", log_of_numbers,
          [2.0, 4.0, 6.0], PyTensor=BUILT_ONCE, CasADi=BUILT_ONCE),
    asked("x times a draw of a NumPy generator: three gradients", draws_of_a_generator,
          np.random.default_rng(7).normal(size=3), PyTensor=BUILT_ONCE, CasADi=BUILT_ONCE),
    asked("x times a draw without a generator: 1 if two gradients differ", draws_without_a_key,
          1.0, PyTorch=torch_draws_without_a_key, PyTensor=BUILT_ONCE, CasADi=BUILT_ONCE),
    asked("Σ (k + 1) v² over the values of a dict, in its order", order_of_a_dict, [2.0, 4.0],
          cites=("jax-ml/jax#8419",),
          PyTensor="arguments are single variables", CasADi="arguments are single variables"),
]
