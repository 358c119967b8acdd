"""Filters and state-space models: Kalman, hidden Markov, recursive and adaptive filters."""

from collections import namedtuple

import numpy as np

from programs.program import program

Linear = namedtuple("Linear", "f h q r")


def kalman_arguments(n, rng):
    model = Linear(np.array([[1.0, 0.1], [-0.1, 0.95]]), np.array([[1.0, 0.2]]),
                   0.1 * np.eye(2), np.array([[0.3]]))
    return model, np.zeros(2), np.eye(2), rng.normal(size=(n, 1))


@program(kalman_arguments, argnums=(0, 1, 2, 3))
def kalman(model, mean, cov, observations):
    f, h, q, r = model
    loss = 0.0
    for y in observations:
        mean = f @ mean
        cov = f @ cov @ f.T + q
        s = h @ cov @ h.T + r
        gain = cov @ h.T @ np.linalg.inv(s)
        innovation = y - h @ mean
        mean = mean + gain @ innovation
        cov = (np.eye(2) - gain @ h) @ cov
        loss += innovation @ np.linalg.solve(s, innovation) + np.log(np.linalg.det(s))
    return 0.5 * loss


@program(lambda n, rng: (rng.normal(size=n), 0.9, 0.2, 0.5), argnums=(0, 1, 2, 3))
def scalar_kalman_smoother(y, a, q, r):
    """Rauch, Tung and Striebel's smoother: forward over time, then back."""
    n = len(y)
    m, p = np.zeros(n), np.zeros(n)
    predicted_m, predicted_p = np.zeros(n), np.zeros(n)
    mean, var = 0.0, 1.0
    for t in range(n):
        predicted_m[t], predicted_p[t] = a * mean, a * a * var + q
        gain = predicted_p[t] / (predicted_p[t] + r)
        mean = predicted_m[t] + gain * (y[t] - predicted_m[t])
        var = (1 - gain) * predicted_p[t]
        m[t], p[t] = mean, var
    for t in range(n - 2, -1, -1):
        c = p[t] * a / predicted_p[t + 1]
        m[t] += c * (m[t + 1] - predicted_m[t + 1])
        p[t] += c**2 * (p[t + 1] - predicted_p[t + 1])
    return np.sum(m**2) + np.sum(p)


def hmm_arguments(n, rng):
    start, transition = rng.uniform(0.2, 1, 3), rng.uniform(0.2, 1, (3, 3))
    emission = rng.uniform(0.2, 1, (3, 4))
    return (start / start.sum(), transition / transition.sum(axis=1, keepdims=True), emission,
            rng.integers(0, 4, n))


@program(hmm_arguments, argnums=(0, 1, 2))
def hmm_forward(start, transition, emission, symbols):
    alpha = start * emission[:, symbols[0]]
    log_likelihood = 0.0
    for symbol in symbols[1:]:
        scale = np.sum(alpha)
        log_likelihood += np.log(scale)
        alpha = (alpha / scale) @ transition * emission[:, symbol]
    return log_likelihood + np.log(alpha.sum())


@program(hmm_arguments, argnums=(0, 1, 2))
def viterbi_score(start, transition, emission, symbols):
    states = len(start)
    score = np.log(start * emission[:, symbols[0]])
    for t in range(1, len(symbols)):
        new = np.empty(states)
        for j in range(states):
            best = score[0] + np.log(transition[0, j])
            for i in range(1, states):
                candidate = score[i] + np.log(transition[i, j])
                if candidate > best:
                    best = candidate
            new[j] = best + np.log(emission[j, symbols[t]])
        score = new
    return np.max(score)


@program(hmm_arguments, argnums=(0, 1, 2))
def viterbi_with_traceback(start, transition, emission, symbols):
    """The likelihood along the best path, which is found first."""
    steps, states = len(symbols), len(start)
    score = np.zeros((steps, states))
    pointers = np.zeros((steps, states), dtype=int)
    score[0] = np.log(start) + np.log(emission[:, symbols[0]])
    for t in range(1, steps):
        candidates = score[t - 1][:, None] + np.log(transition)
        pointers[t] = np.argmax(candidates, axis=0)
        score[t] = np.max(candidates, axis=0) + np.log(emission[:, symbols[t]])
    state = np.argmax(score[-1])
    likelihood = 1.0
    for t in range(steps - 1, 0, -1):
        before = pointers[t, state]
        likelihood *= 2 * transition[before, state] * emission[state, symbols[t]]
        state = before
    return likelihood * start[state]


@program(hmm_arguments, argnums=(0, 1, 2))
def backward_into_rows(start, transition, emission, symbols):
    beta = np.ones((len(symbols), len(start)))
    for t in range(len(symbols) - 2, -1, -1):
        np.matmul(transition, emission[:, symbols[t + 1]] * beta[t + 1], out=beta[t])
    return np.log(np.sum(start * emission[:, symbols[0]] * beta[0]))


@program(hmm_arguments, argnums=(0, 1, 2))
def forward_backward(start, transition, emission, symbols):
    steps, states = len(symbols), len(start)
    alpha, beta = np.zeros((steps, states)), np.ones((steps, states))
    alpha[0] = start * emission[:, symbols[0]]
    for t in range(1, steps):
        alpha[t] = (alpha[t - 1] @ transition) * emission[:, symbols[t]]
    for t in range(steps - 2, -1, -1):
        np.multiply(emission[:, symbols[t + 1]], beta[t + 1], out=beta[t])
        beta[t] = transition @ beta[t]
    posterior = alpha * beta
    posterior /= posterior.sum(axis=1, keepdims=True)
    return np.sum(posterior[:, 0] ** 2)


@program(lambda n, rng: (rng.normal(size=n), np.array([0.2, 0.3, 0.1]), np.array([-0.5, 0.2])),
         argnums=(0, 1, 2))
def biquad(x, b, a):
    y = np.zeros_like(x)
    x1 = x2 = y1 = y2 = 0.0
    for i, value in enumerate(x):
        y[i] = b[0] * value + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2
        x1, x2, y1, y2 = value, x1, y[i], y1
    return np.sum(y**2)


@program(lambda n, rng: (rng.normal(size=n), rng.normal(size=3), np.array([1.2, -0.5, 0.2])),
         argnums=(0, 1, 2))
def direct_form_two(x, b, a):
    """scipy.signal.lfilter's loop: the state is shifted by overlapping slices."""
    state = np.zeros(len(b))
    y = np.zeros(len(x))
    for n in range(len(x)):
        y[n] = (b[0] * x[n] + state[0]) / a[0]
        state[:-1] = state[1:]
        state[:-1] += b[1:] * x[n] - a[1:] * y[n]
    return np.sum(y**2)


@program(lambda n, rng: (rng.normal(size=3 * n), 0.3, 0.1, 0.2), argnums=(0, 1, 2, 3))
def holt_winters(y, alpha, beta, gamma):
    period = 3
    season = np.zeros(period)
    season[:] = y[:period] - np.mean(y[:period])
    level, trend = np.mean(y[:period]), 0.0
    loss = 0.0
    for t in range(period, len(y)):
        s = season[t % period]
        loss += (y[t] - level - trend - s) ** 2
        before = level
        level = alpha * (y[t] - s) + (1 - alpha) * (level + trend)
        trend = beta * (level - before) + (1 - beta) * trend
        season[t % period] = gamma * (y[t] - level) + (1 - gamma) * s
    return loss / (len(y) - period)


@program(lambda n, rng: (rng.normal(size=2 * n), 0.6, n), argnums=(0, 1))
def comb_filter_with_ring_buffer(x, gain, delay):
    ring = np.zeros(delay)
    position = 0
    out = 0.0
    for sample in x:
        delayed = ring[position]
        ring[position] = sample + gain * delayed
        position += 1
        if position == delay:
            position = 0
        out += delayed * sample
    return out + np.sum(ring**2)


@program(lambda n, rng: (rng.normal(size=n + 1),))
def decimated_delay(x):
    delayed = np.zeros_like(x)
    delayed[1:] = np.sin(x[:-1])
    return np.sum(delayed[::2] ** 2)


@program(lambda n, rng: (rng.normal(size=n + 4), rng.normal(size=n + 4), 0.1), argnums=(0, 1, 2))
def least_mean_squares(x, desired, mu):
    taps = 3
    w = np.zeros(taps)
    errors = np.zeros(len(x))
    for t in range(taps, len(x)):
        recent = x[t - taps:t][::-1]
        errors[t] = desired[t] - w @ recent
        w += mu * errors[t] * recent
    return np.mean(errors**2)


@program(lambda n, rng: (rng.normal(size=n), rng.normal(size=(n, 2)), 0.95), argnums=(0, 1, 2))
def recursive_least_squares(y, x, forget):
    w, p = np.zeros(2), 10.0 * np.eye(2)
    for t in range(len(y)):
        px = p @ x[t]
        gain = px / (forget + x[t] @ px)
        w = w + gain * (y[t] - x[t] @ w)
        p = (p - np.outer(gain, px)) / forget
    return np.sum(w**2)


@program(lambda n, rng: (np.append(2.0, rng.uniform(-0.4, 0.4, n)),))
def levinson_durbin(r):
    n = len(r) - 1
    a = np.zeros(n + 1)
    a[0] = 1.0
    error = r[0]
    for k in range(1, n + 1):
        acc = r[k]
        for j in range(1, k):
            acc += a[j] * r[k - j]
        reflection = -acc / error
        before = a.copy()
        for j in range(1, k):
            a[j] = before[j] + reflection * before[k - j]
        a[k] = reflection
        error *= 1 - reflection**2
    return error + np.sum(a**2)


@program(lambda n, rng: (rng.normal(size=n), rng.normal(size=n), rng.uniform(0.2, 1, n), 0.37),
         argnums=(0, 1, 2))
def particle_resampling(particles, noise, weights, offset):
    """Systematic resampling: pointers walk along the sum of the weights."""
    n = len(particles)
    cumulative = np.cumsum(weights / np.sum(weights))
    chosen = np.empty(n)
    i = 0
    for k in range(n):
        point = (k + offset) / n
        while i < n - 1 and cumulative[i] < point:
            i += 1
        chosen[k] = particles[i] + 0.1 * noise[k]
    return np.mean(chosen**2) + np.sum(weights**2)


@program(lambda n, rng: (rng.uniform(0.5, 1.5, (n, n + 1)), 0.4, 0.25), argnums=(0, 1, 2))
def recursive_image_filter(image, a, b):
    """Causal and anticausal passes along rows, then along columns, in place."""
    rows, columns = image.shape
    y = np.zeros((rows, columns))
    for i in range(rows):
        left = 0.0
        for j in range(columns):
            y[i, j] = (1 - a) * image[i, j] + a * left
            left = y[i, j]
        right = 0.0
        for j in range(columns - 1, -1, -1):
            y[i, j] += b * right
            right = y[i, j]
    for j in range(columns):
        for i in range(1, rows):
            y[i, j] += a * y[i - 1, j]
        for i in range(rows - 2, -1, -1):
            y[i, j] += b * y[i + 1, j]
    return np.sum(y**2)


@program(lambda n, rng: (rng.uniform(0.5, 1.5, (n, n + 1)), 0.25), argnums=(0, 1))
def deriche(image, alpha):
    """PolyBench's edge filter: four recursive passes."""
    w, h = image.shape
    k = (1 - np.exp(-alpha)) ** 2 / (1 + 2 * alpha * np.exp(-alpha) - np.exp(2 * alpha))
    a1, a2 = k, k * np.exp(-alpha) * (alpha - 1)
    a3, a4 = k * np.exp(-alpha) * (alpha + 1), -k * np.exp(-2 * alpha)
    b1, b2 = 2.0 ** (-alpha), -np.exp(-2 * alpha)
    y1, y2, out = np.empty_like(image), np.empty_like(image), np.empty_like(image)
    for i in range(w):
        ym1 = ym2 = xm1 = 0.0
        for j in range(h):
            y1[i, j] = a1 * image[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = image[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for i in range(w):
        yp1 = yp2 = xp1 = xp2 = 0.0
        for j in range(h - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2, xp1 = xp1, image[i, j]
            yp2, yp1 = yp1, y2[i, j]
    out[:] = y1 + y2
    for i in range(1, w):
        out[i, :] += b1 * out[i - 1, :]
    return np.sum(out**2)
