"""Neural networks, recurrent ones step by step, and their training."""
# ruff: noqa: B905  (a plain zip, as users write it)

from typing import NamedTuple

import numpy as np

from programs.program import program


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm_arguments(n, rng):
    hidden = 3
    params = {"w": 0.5 * rng.normal(size=(4 * hidden, 2)), "b": rng.normal(size=4 * hidden),
              "u": 0.5 * rng.normal(size=(4 * hidden, hidden))}
    return params, rng.normal(size=(n, 2))


@program(lstm_arguments, argnums=(0, 1))
def lstm(params, xs):
    hidden = params["u"].shape[1]
    h, c = np.zeros(hidden), np.zeros(hidden)
    for x in xs:
        z = params["w"] @ x + params["u"] @ h + params["b"]
        i, f = sigmoid(z[:hidden]), sigmoid(z[hidden:2 * hidden])
        o, g = sigmoid(z[2 * hidden:3 * hidden]), np.tanh(z[3 * hidden:])
        c = f * c + i * g
        h = o * np.tanh(c)
    return np.sum(h**2) + np.sum(c)


class Gate(NamedTuple):
    w: np.ndarray
    u: np.ndarray
    b: np.ndarray

    def __call__(self, x, h):
        return self.w @ x + self.u @ h + self.b


def gru_arguments(n, rng):
    def gate():
        return Gate(rng.normal(size=(n, 2)), rng.normal(size=(n, n)) / n, rng.normal(size=n))

    return (gate(), gate(), gate()), rng.normal(size=(n + 1, 2))


@program(gru_arguments, argnums=(0, 1))
def gru(gates, xs):
    update, reset, candidate = gates
    h = np.zeros(len(update.b))
    for t in range(len(xs)):
        z = sigmoid(update(xs[t], h))
        r = sigmoid(reset(xs[t], h))
        h = (1 - z) * h + z * np.tanh(candidate(xs[t], r * h))
    return np.sum(h**2)


@program(lambda n, rng: (rng.normal(size=(3, 3)) / 2, rng.normal(size=(n, 3))), argnums=(0, 1))
def rnn_with_list_of_states(w, xs):
    states = []
    h = np.zeros(3)
    for x in xs:
        h = np.tanh(w @ h + x)
        states.append(h)
    return np.sum(np.stack(states) ** 2)


@program(lambda n, rng: (rng.normal(size=(3, 3)) / 2, rng.normal(size=(n, 3)),
                         rng.integers(0, n, 4)), argnums=(0, 1))
def bidirectional_rnn(w, table, tokens):
    steps = len(tokens)
    forward, backward = np.zeros((steps + 1, 3)), np.zeros((steps + 1, 3))
    for t, token in enumerate(tokens):
        forward[t + 1] = np.tanh(w @ forward[t] + table[token])
    for t in reversed(range(steps)):
        backward[t] = np.tanh(w.T @ backward[t + 1] + table[tokens[t]])
    return np.sum(forward[1:] * backward[:-1])


def layers(n, rng):
    sizes = [(2, 4), (4, 3), (3, 1)]
    return ([(rng.normal(size=(a, b)), rng.normal(size=b)) for a, b in sizes],
            rng.normal(size=(n, 2)), rng.normal(size=n))


@program(layers, argnums=(0, 1))
def perceptron(layers, x, y):
    for i, (w, b) in enumerate(layers):
        x = x @ w + b
        if i < len(layers) - 1:
            x = np.tanh(x)
    return np.mean((x[:, 0] - y) ** 2)


@program(lambda n, rng: (rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), rng.normal(size=(n, 3))),
         argnums=(0, 1, 2))
def causal_attention(q, k, v):
    n, d = q.shape
    out = np.zeros_like(v)
    for t in range(n):
        scores = k[:t + 1] @ q[t] / np.sqrt(d)
        weights = np.exp(scores - np.max(scores))
        out[t] = (weights / np.sum(weights)) @ v[:t + 1]
    return np.sum(out**2)


@program(lambda n, rng: (rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), rng.normal(size=(n, 3))),
         argnums=(0, 1, 2))
def masked_attention(q, k, v):
    scores = q @ k.T
    scores[np.triu(np.ones((len(q), len(k))), 1) > 0] = -1e9
    scores -= np.max(scores, axis=1, keepdims=True)
    weights = np.exp(scores)
    weights /= np.sum(weights, axis=1, keepdims=True)
    return np.sum((weights @ v) ** 2)


@program(lambda n, rng: (rng.normal(size=(n, 4)), rng.normal(size=4), rng.normal(size=4), n // 2),
         argnums=(0, 1, 2))
def online_attention(k, q, scale, block):
    """Softmax over blocks of keys, with a running maximum and a running sum."""
    top, norm = -1e30, 0.0
    mean = np.zeros(4)
    for start in range(0, len(k), block):
        part = k[start:start + block]
        scores = part @ q
        new_top = max(top, np.max(scores))
        weights = np.exp(scores - new_top)
        decay = np.exp(top - new_top)
        norm = norm * decay + np.sum(weights)
        mean = mean * decay + weights @ part
        top = new_top
    return np.sum(scale * mean / norm) + top


@program(lambda n, rng: (rng.normal(size=(n, n + 1)), rng.normal(size=(2, 2))), argnums=(0, 1))
def convolution_and_pooling(image, kernel):
    rows, columns = image.shape[0] - 1, image.shape[1] - 1
    out = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            for di in range(2):
                for dj in range(2):
                    out[i, j] += kernel[di, dj] * image[i + di, j + dj]
    total = 0.0
    for i in range(0, rows - 1, 2):
        for j in range(0, columns - 1, 2):
            total += np.max(out[i:i + 2, j:j + 2]) ** 2
    return total


@program(lambda n, rng: (rng.normal(size=(n + 3, 4)), np.ones(4), np.zeros(4), 0.9),
         argnums=(0, 1, 2), differences=1e-7)
def batch_norm_with_running_mean(x, gamma, beta, momentum):
    running = np.zeros(4)
    total = 0.0
    for start in (0, 1):
        batch = x[start::2]
        mean, variance = batch.mean(axis=0), batch.var(axis=0)
        running *= momentum
        running += (1 - momentum) * mean
        total += np.sum(np.tanh(gamma * (batch - mean) / np.sqrt(variance + 1e-3) + beta))
    return total + running @ running


@program(lambda n, rng: (rng.normal(size=(5, 2)), 0.2 * rng.normal(size=(n, 2)),
                         rng.integers(0, 5, n), rng.integers(0, 5, n), 0.3), argnums=(0, 1, 4))
def skip_gram_updates(vectors, context, centers, others, rate):
    """Train word vectors in place, pair by pair; the loss of the last epoch counts."""
    vectors = vectors.copy()
    loss = 0.0
    for _ in range(2):
        loss = 0.0
        for c, o in zip(centers, others):
            p = sigmoid(np.dot(vectors[c], vectors[o]) + np.sum(context[0]))
            loss -= np.log(p)
            vectors[c] += rate * (1 - p) * vectors[o]
    return loss


@program(lambda n, rng: (rng.normal(size=n), 0.1, 0.9, 6), argnums=(0, 1, 2))
def learned_adam(x, rate, beta, steps):
    """Derivatives by the step size of an optimiser's result."""
    m, v = np.zeros_like(x), np.zeros_like(x)
    for t in range(1, steps + 1):
        g = 2 * x + np.cos(x)
        m = beta * m + (1 - beta) * g
        v = 0.99 * v + 0.01 * g**2
        x = x - rate * (m / (1 - beta**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-6)
    return np.sum(x**2 + np.sin(x))


@program(lambda n, rng: (rng.normal(size=(n, n)).astype(np.float32),
                         rng.normal(size=n).astype(np.float32)), argnums=(0, 1), differences=2e-3)
def echo_state_in_single_precision(w, x):
    state = np.zeros_like(x)
    for _ in range(4):
        state = np.float32(0.7) * state + np.float32(0.3) * np.tanh(w @ state + x)
    return np.sum(state * x)
