"""Telling digits apart: a network of two layers, in NumPy.

8 × 8 pictures of handwritten digits (Alpaydin and Kaynak, UCI repository, 1998; with
scikit-learn), a hidden layer of rectified units, softmax and cross-entropy, trained by Adam:
Kingma and Ba, "Adam: a method for stochastic optimization" (2015), algorithm 1.

Parameters are a list of pairs, as one would keep them, and the gradient is such a list. The loop
over layers is over that list; batches of any size run the same program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import tracejit

FIELD = "Machine learning"
Layers = list[tuple[np.ndarray, np.ndarray]]


def scores(layers: Layers, x: np.ndarray) -> np.ndarray:
    """Return a score for each picture and digit."""
    for W, b in layers[:-1]:
        x = np.maximum(x @ W + b, 0.0)
    W, b = layers[-1]
    return x @ W + b


def cross_entropy(layers: Layers, x: np.ndarray, digit: np.ndarray) -> float:
    """Return the mean of minus the log of the probability of the right digit."""
    z = scores(layers, x)
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(len(x)), digit])


def problem(hidden: int = 64, batch: int = 100) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a first network, pictures and digits."""
    rng = np.random.default_rng(0)
    sizes = [64, hidden, 10]
    layers = [(rng.normal(0.0, np.sqrt(2 / n), (n, m)), np.zeros(m))
              for n, m in zip(sizes[:-1], sizes[1:])]
    data = load_digits()
    return cross_entropy, (layers, data.data[:batch] / 16.0, data.target[:batch])


def main(hidden: int = 64, epochs: int = 30, batch: int = 100) -> dict[str, Any]:
    """Train the network on 1400 pictures and try it on the rest."""
    _, (layers, *_) = problem(hidden)
    value_and_slope = tracejit.value_and_grad(cross_entropy)
    data, rng = load_digits(), np.random.default_rng(1)
    order = rng.permutation(len(data.target))
    train, test = order[:1400], order[1400:]
    first = [[np.zeros_like(p) for p in layer] for layer in layers]
    second = [[np.zeros_like(p) for p in layer] for layer in layers]
    history, t = [], 0
    for _ in range(epochs):
        for rows in np.split(rng.permutation(train), len(train) // batch):
            value, slopes = value_and_slope(layers, data.data[rows] / 16.0, data.target[rows])
            history.append(value)
            t += 1
            for layer, slope, m, v in zip(layers, slopes, first, second):
                for p, g, i in zip(layer, slope, range(2)):
                    m[i] = 0.9 * m[i] + 0.1 * g
                    v[i] = 0.999 * v[i] + 0.001 * g ** 2
                    p -= 3e-3 * (m[i] / (1 - 0.9 ** t)) / (np.sqrt(v[i] / (1 - 0.999 ** t)) + 1e-8)
    told = np.argmax(scores(layers, data.data[test] / 16.0), axis=1)
    accuracy = np.mean(told == data.target[test])
    print(f"loss {history[0]:.3f} -> {history[-1]:.3f}, accuracy on held-out digits {accuracy:.3f}")
    return {"history": np.array(history), "accuracy": accuracy}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the loss by step."""
    axes.semilogy(result["history"])
    axes.set(xlabel="step", ylabel="cross-entropy",
             title=f"{100 * result['accuracy']:.1f} % of held-out digits are told right")
