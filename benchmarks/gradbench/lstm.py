"""GradBench's `lstm`: the mean loss of a recurrent net whose matrices are diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.evaluation import Evaluation


def sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def loss(layers: Any, ends: Any, state: Any, sequence: Any) -> Any:
    """Return the mean loss of predicting each row of `sequence` from those before.

    layers -- (l, 2, 4, b): per layer weights and biases of forget, in, out and change
    ends   -- (3, b): weights of the input, weights and biases of the output
    state  -- (l, 2, b): per layer what is put out and what is kept
    """
    depth, _, _, size = layers.shape
    hidden = state[:, 0].copy()
    cells = state[:, 1].copy()
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * ends[0]
        for k in range(depth):
            weight, bias = layers[k]
            forget = sigmoid(x * weight[0] + bias[0])
            enter = sigmoid(hidden[k] * weight[1] + bias[1])
            leave = sigmoid(x * weight[2] + bias[2])
            change = np.tanh(hidden[k] * weight[3] + bias[3])
            cells[k] = cells[k] * forget + enter * change
            hidden[k] = leave * np.tanh(cells[k])
            x = hidden[k]
        y = x * ends[1] + ends[2]
        y = y - np.log(np.sum(np.exp(y)) + 2.0)
        total = total + np.sum(sequence[t + 1] * y)
    return -total / (size * (len(sequence) - 1))


def prepare(given: Any) -> tuple[Any, ...]:
    layers, ends, state, sequence = (np.array(given[name]) for name in (
        "main_params", "extra_params", "state", "sequence"))
    depth, size = len(state) // 2, state.shape[1]
    return layers.reshape(depth, 2, 4, size), ends, state.reshape(depth, 2, size), sequence


def flattened(gradients: Any) -> list[float]:
    return [x for part in gradients for x in part.ravel().tolist()]


FUNCTIONS = {"objective": Evaluation(prepare, tracejit.jit(loss)),
             "jacobian": Evaluation(prepare, tracejit.grad(loss, (0, 1)), flattened)}
