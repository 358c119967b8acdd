"""Machine learning: recurrent state, growing caches, trees, clusters."""

import numpy as np

from programs_as_they_are.table import program


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_model(weight, bias, hidden, cell, x):
    n = len(x)
    forget = sigmoid(x * weight[:n] + bias[:n])
    ingate = sigmoid(hidden * weight[n:2 * n] + bias[n:2 * n])
    outgate = sigmoid(x * weight[2 * n:3 * n] + bias[2 * n:3 * n])
    change = np.tanh(hidden * weight[3 * n:] + bias[3 * n:])
    cell = cell * forget + ingate * change
    return outgate * np.tanh(cell), cell


def lstm_predict(main, extra, state, x):
    x1 = x * extra[0]
    for i in range(0, len(state), 2):
        layer = main[i:i + 2]
        state[i], state[i + 1] = lstm_model(layer[0], layer[1], state[i], state[i + 1], x1)
        x1 = state[i]
    return x1 * extra[1] + extra[2]


def characters(n, rng):
    d, layers = 3, 2
    return (rng.uniform(-1, 1, (2 * layers, 4 * d)), rng.uniform(-1, 1, (3, d)),
            rng.uniform(-1, 1, (2 * layers, d)), np.eye(d)[rng.integers(0, d, n)])


@program(characters, argnums=(0, 1), sizes=(4, 8))
def adbench_lstm(main, extra, state, sequence):
    state = state.copy()
    total, count = 0.0, 0
    x = sequence[0]
    for target in sequence[1:]:
        y = lstm_predict(main, extra, state, x)
        y = y - np.log(2 + np.exp(y).sum())
        total += np.sum(target * y)
        count += target.shape[0]
        x = target
    return -total / count


def decoder(n, rng):
    return (rng.standard_normal((6, 4)), *(0.5 * rng.standard_normal((4, 4)) for _ in range(3)),
            0.3 * rng.standard_normal((4, 6)), n)


@program(decoder, argnums=(0, 1, 3), sizes=(4, 7))
def decoding_with_cache(embedding, Wq, Wk, Wv, out, length):
    keys, values = [], []
    token = 0
    logprob = 0.0
    for position in range(length):
        x = embedding[token]
        keys.append(x @ Wk)
        values.append(x @ Wv)
        K, V = np.stack(keys), np.stack(values)
        scores = K @ (x @ Wq) / np.sqrt(len(x))
        attention = np.exp(scores - scores.max())
        attention /= attention.sum()
        logits = (x + attention @ V) @ out
        logits = logits - logits.max()
        logp = logits - np.log(np.exp(logits).sum())
        token = int(np.argmax(logp))
        logprob += logp[token]
        if token == 5:
            break
    return logprob / len(keys)


EXPRESSION = ("+", ("*", "x", ("sin", "y")), ("/", ("-", "x", 1.5), ("exp", ("*", 0.5, "y"))))
FUNCTIONS = {"sin": np.sin, "exp": np.exp}


def evaluate(expression, env):
    if isinstance(expression, str):
        return env[expression]
    if isinstance(expression, (int, float)):
        return expression
    head, *args = expression
    args = [evaluate(a, env) for a in args]
    match head:
        case "+":
            return args[0] + args[1]
        case "-":
            return args[0] - args[1]
        case "*":
            return args[0] * args[1]
        case "/":
            return args[0] / args[1]
        case _:
            return FUNCTIONS[head](*args)


@program(lambda n, rng: (rng.standard_normal(n), rng.standard_normal(n)), argnums=(0, 1))
def expression_tree(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        total += evaluate(EXPRESSION, {"x": x, "y": y}) ** 2
    return total


@program(lambda n, rng: (rng.standard_normal((4 * n, 2)) + 3 * (np.arange(4 * n) % 3)[:, None],),
         sizes=(4, 6))
def k_means_inertia(points):
    k = 3
    centers = points[:k].copy()
    labels = None
    for _ in range(20):
        distance = ((points[:, None] - centers[None]) ** 2).sum(-1)
        new = distance.argmin(1)
        if labels is not None and np.array_equal(new, labels):
            break
        labels = new
        for c in range(k):
            members = points[labels == c]
            if len(members):
                centers[c] = members.mean(axis=0)
    return distance[np.arange(len(points)), labels].sum()


@program(lambda n, rng: (0.1 * rng.standard_normal((2, 4)), 0.1 * rng.standard_normal(4),
                         rng.standard_normal((4 * n, 2))), argnums=(0, 1), differences=1e-5)
def early_stopping(w1, w2, data):
    x, y = data, np.sin(data[:, 0]) * data[:, 1]
    split = len(x) // 2
    params = {"w1": w1.copy(), "w2": w2.copy()}
    best, best_loss, patience = dict(params), np.inf, 3
    for epoch in range(15):
        h = np.tanh(x[:split] @ params["w1"])
        r = h @ params["w2"] - y[:split]
        g2 = h.T @ r / split
        g1 = x[:split].T @ (np.outer(r, params["w2"]) * (1 - h * h)) / split
        for name, g in (("w1", g1), ("w2", g2)):
            params[name] = params[name] - 0.3 * g
        loss = np.mean((np.tanh(x[split:] @ params["w1"]) @ params["w2"] - y[split:]) ** 2)
        if loss < best_loss:
            best, best_loss, patience = dict(params), loss, 3
        else:
            patience -= 1
            if patience == 0:
                break
    return best_loss + 0.01 * np.sum(best["w1"] ** 2)
