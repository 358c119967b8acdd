"""Word vectors: the meaning of words from the company they keep.

Vectors u and v of words with u_i · v_j + b_i + c_j near the logarithm of how often i stands near
j, in a weighted sum of squares: Pennington, Socher and Manning, "GloVe: global vectors for word
representation" (2014), equation 8. The text is random sentences of two patterns, in which every
tenth word is any word.

Only pairs that occur count: rows are picked by arrays of indices, many times the same row, and the
gradient adds up in the rows' places what NumPy would need `np.add.at` for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Machine learning"
WORDS = {
    "animals": ["cat", "dog", "horse", "cow"], "foods": ["fish", "meat", "hay", "bread"],
    "people": ["king", "queen", "man", "woman"], "places": ["palace", "house", "field", "stable"],
    "acts": ["eats", "smells", "swallows", "steals"], "moves": ["enters", "leaves", "sees", "owns"]}
VOCABULARY = [word for words in WORDS.values() for word in words]


def pairs(sentences: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return words, their neighbours, and how often they are neighbours."""
    rng = np.random.default_rng(3)
    counts = np.zeros((len(VOCABULARY), len(VOCABULARY)))
    for _ in range(sentences):
        kinds = [("animals", "acts", "foods"), ("people", "moves", "places")][rng.integers(2)]
        sentence = [rng.choice(WORDS[kind] if rng.random() < 0.9 else VOCABULARY)
                    for kind in kinds]
        numbers = [VOCABULARY.index(word) for word in sentence]
        for i in numbers:
            for j in numbers:
                counts[i, j] += i != j
    i, j = np.nonzero(counts)
    return i, j, counts[i, j]


def glove(parameters: tuple[np.ndarray, ...], i: np.ndarray, j: np.ndarray,
          count: np.ndarray) -> float:
    """Return the weighted squared error of the logarithms of counts."""
    u, v, b, c = parameters
    weight = np.minimum(count / 100.0, 1.0) ** 0.75
    error = np.sum(u[i] * v[j], axis=1) + b[i] + c[j] - np.log(count)
    return np.sum(weight * error ** 2) + 1e-2 * (np.sum(u ** 2) + np.sum(v ** 2))


def problem(size: int = 4, sentences: int = 8000) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: small random vectors, and the pairs."""
    rng, n = np.random.default_rng(0), len(VOCABULARY)
    u, v = 0.1 * rng.normal(size=(2, n, size))
    return glove, ((u, v, np.zeros(n), np.zeros(n)), *pairs(sentences))


def main(size: int = 4, sentences: int = 8000) -> dict[str, Any]:
    """Learn the vectors, and ask each word for the nearest other one."""
    _, (start, *data) = problem(size, sentences)
    value_and_slope = tracejit.value_and_grad(glove)
    n = len(VOCABULARY)

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        u, v = x[:2 * n * size].reshape(2, n, size)
        value, slopes = value_and_slope((u, v, *x[2 * n * size:].reshape(2, n)), *data)
        return value, np.concatenate([slope.ravel() for slope in slopes])

    found = minimize(flat, np.concatenate([p.ravel() for p in start]), jac=True, method="L-BFGS-B")
    vectors = np.sum(found.x[:2 * n * size].reshape(2, n, size), axis=0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    nearest = np.argmax(unit @ unit.T - 2 * np.eye(n), axis=1)
    kind = np.repeat(np.arange(len(WORDS)), 4)
    alike = float(np.mean(kind == kind[nearest]))
    print(f"{100 * alike:.0f} % of words are nearest to one of their kind; loss {found.fun:.2f}")
    return {"vectors": vectors, "alike": alike, "kind": kind}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the words in the plane of most variance."""
    centred = result["vectors"] - result["vectors"].mean(axis=0)
    flat = centred @ np.linalg.svd(centred)[2][:2].T
    for word, place, kind in zip(VOCABULARY, flat, result["kind"]):
        axes.plot(*place, ".", color=f"C{kind}")
        axes.text(*place, f" {word}", color=f"C{kind}", fontsize=8)
    axes.set(xticks=[], yticks=[])
