"""What recording costs: a training step on the tape, and tapes that are never the same twice."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tracejit
from benchmarks.overheads import Measure
from benchmarks.timing import Clock, interleave, ratio

__all__ = ["measure_tapes"]

LENGTH = 40


def measure_tapes(rounds: int, batch: float, clock: Clock) -> Iterator[Measure]:
    """Yield what tapes take beside compiled gradients and beside PyTorch."""
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(64, 784)), rng.integers(0, 10, 64)
    params = [0.05 * rng.normal(size=(784, 256)), np.zeros(256),
              0.05 * rng.normal(size=(256, 10)), np.zeros(10)]
    calls = _training(x, labels, params)
    times = interleave(calls, {}, rounds=rounds, batch=batch, clock=clock)
    yield Measure("training step of e (MLP 64×784-256-10) on the tape, to that under "
                  "`value_and_grad`", ratio(times["tape"], times["compiled"]), "×", 3.0)
    if "PyTorch" in calls:
        yield Measure("the same, to eager PyTorch", ratio(times["tape"], times["PyTorch"]), "×")
    if importlib.util.find_spec("torch"):
        for n in (10, 1000, 100_000):
            times = interleave(_random_tapes(n), {}, rounds=rounds, batch=batch, clock=clock)
            yield Measure(f"{LENGTH} operations that differ each time, arrays of {n:_}, to eager "
                          "PyTorch", ratio(times["tape"], times["PyTorch"]), "×", 1.0)


def _training(x: Any, labels: Any, params: list[Any]) -> dict[str, Callable[[], Any]]:
    rows = np.arange(len(labels))

    def loss(w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        z = np.maximum(x @ w1 + b1, 0.0) @ w2 + b2
        top = np.max(z, axis=1, keepdims=True)
        return np.mean(np.log(np.sum(np.exp(z - top), axis=1)) + top[:, 0] - z[rows, labels])

    compiled = tracejit.value_and_grad(loss, argnums=(0, 1, 2, 3))
    variables = [tracejit.Variable(p) for p in params]

    def on_tape() -> Any:
        with tracejit.GradientTape() as tape:
            value = loss(*variables)
        return tape.gradient(value, variables)

    calls: dict[str, Callable[[], Any]] = {"compiled": lambda: compiled(*params), "tape": on_tape}
    expected = compiled(*params)[1]
    for _ in range(4):  # compiled meanwhile
        for g, e in zip(on_tape(), expected, strict=True):
            np.testing.assert_allclose(g.numpy(), e, rtol=1e-9, atol=1e-12)
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        tx, ty = torch.tensor(x), torch.tensor(labels)
        tensors = [torch.tensor(p, requires_grad=True) for p in params]

        def in_torch() -> Any:
            w1, b1, w2, b2 = tensors
            z = torch.relu(tx @ w1 + b1) @ w2 + b2
            return torch.autograd.grad(torch.nn.functional.cross_entropy(z, ty), tensors)

        for g, e in zip(in_torch(), expected, strict=True):
            np.testing.assert_allclose(g.numpy(), e, rtol=1e-8, atol=1e-12)
        calls["PyTorch"] = in_torch
    return calls


def _program(xs: Any, choices: np.ndarray, lib: Any) -> Any:
    """Compute something that the choices make."""
    pool = [xs]
    for kind, a, b in choices:
        u, v = pool[a % len(pool)], pool[b % len(pool)]
        pool.append(u * v + 0.3 if kind == 0 else u - v * 0.5 if kind == 1 else
                     lib.tanh(u) if kind == 2 else lib.sin(u) if kind == 3 else
                     u / (v * v + 1.0))
    return sum(p.sum() for p in pool[-3:])


def _random_tapes(n: int) -> dict[str, Callable[[], Any]]:
    import torch

    torch.set_num_threads(1)
    data = np.linspace(-1.0, 1.0, n)
    choices = [np.random.default_rng(k).integers(0, (5, 1 << 20, 1 << 20), (LENGTH, 3))
               for k in range(2000)]
    ours, theirs = itertools.cycle(choices), itertools.cycle(choices)

    def on_tape(chosen: Any = None) -> Any:
        x = tracejit.constant(data)
        with tracejit.GradientTape() as tape:
            tape.watch(x)
            y = _program(x, next(ours) if chosen is None else chosen, np)
        return tape.gradient(y, x)

    def in_torch(chosen: Any = None) -> Any:
        x = torch.tensor(data, requires_grad=True)
        y = _program(x, next(theirs) if chosen is None else chosen, torch)
        y.backward()
        return x.grad

    for chosen in choices[:20]:
        np.testing.assert_allclose(on_tape(chosen).numpy(), in_torch(chosen).numpy(), rtol=1e-9,
                                   atol=1e-12)
    return {"tape": on_tape, "PyTorch": in_torch}
