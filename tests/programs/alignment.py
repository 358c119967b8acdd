"""Dynamic programs over two sequences, a sequence and its labels, or spans of one sequence."""
# ruff: noqa: B905  (a plain zip, as users write it)

import numpy as np

from programs.program import program


def two_series(n, rng):
    return rng.normal(size=n), rng.normal(size=n + 1)


def softmin(a, b, c):
    low = min(a, b, c)
    return low - np.log(np.exp(low - a) + np.exp(low - b) + np.exp(low - c))


@program(two_series, argnums=(0, 1))
def soft_dtw(x, y):
    n, m = len(x), len(y)
    r = np.full((n + 1, m + 1), 1e10)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r[i, j] = (x[i - 1] - y[j - 1]) ** 2 + softmin(r[i - 1, j - 1], r[i - 1, j],
                                                           r[i, j - 1])
    return r[n, m]


@program(two_series, argnums=(0, 1))
def hard_dtw_in_a_band(x, y):
    n, m, width = len(x), len(y), 2
    d = np.full((n + 1, m + 1), np.inf)
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - width), min(m, i + width) + 1):
            d[i, j] = (x[i - 1] - y[j - 1]) ** 2 + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, m]


@program(lambda n, rng: (rng.integers(0, 3, n), rng.integers(0, 3, n + 2),
                         rng.uniform(0.5, 1.5, (3, 3)), 0.8, 1.1), argnums=(2, 3, 4))
def soft_edit_distance(source, target, substitution, insertion, deletion):
    n, m = len(source), len(target)
    d = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        d[i, 0] = d[i - 1, 0] + deletion
    for j in range(1, m + 1):
        d[0, j] = d[0, j - 1] + insertion
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d[i, j] = softmin(d[i - 1, j - 1] + substitution[source[i - 1], target[j - 1]],
                              d[i - 1, j] + deletion, d[i, j - 1] + insertion)
    return d[n, m]


@program(lambda n, rng: (rng.integers(0, 3, n), rng.integers(0, 3, n + 2),
                         rng.uniform(0.5, 1.5, (3, 3)), 0.8), argnums=(2, 3),
         compilations=2)  # which buffer is the last depends on whether n is even
def edit_distance_of_two_rows(source, target, substitution, gap):
    """Only the row before is kept: two buffers that change places."""
    before, row = np.zeros(len(target) + 1), np.zeros(len(target) + 1)
    for j in range(len(target) + 1):
        before[j] = j * gap
    for i in range(1, len(source) + 1):
        row[0] = i * gap
        for j in range(1, len(target) + 1):
            row[j] = softmin(before[j - 1] + substitution[source[i - 1], target[j - 1]],
                             before[j] + gap, row[j - 1] + gap)
        before, row = row, before
    return before[len(target)]


@program(lambda n, rng: (rng.normal(size=(2 * n + 1, 4)), rng.integers(1, 4, n)))
def ctc(logits, labels):
    """Graves' forward recursion over labels with blanks between them, in the log domain."""
    log_p = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    steps, length = len(log_p), 2 * len(labels) + 1
    extended = np.zeros(length, dtype=int)
    extended[1::2] = labels
    alpha = np.full(length, -1e9)
    alpha[0], alpha[1] = log_p[0, 0], log_p[0, extended[1]]
    for t in range(1, steps):
        new = np.full(length, -1e9)
        for s in range(length):
            total = alpha[s]
            if s > 0:
                total = log_add(total, alpha[s - 1])
            if s > 1 and extended[s] != 0 and extended[s] != extended[s - 2]:
                total = log_add(total, alpha[s - 2])
            new[s] = total + log_p[t, extended[s]]
        alpha = new
    return -log_add(alpha[-1], alpha[-2])


def log_add(a, b):
    high, low = (a, b) if a > b else (b, a)
    return high + np.log(1.0 + np.exp(low - high))


@program(lambda n, rng: (rng.normal(size=(2 * n + 1, 4)), rng.integers(1, 4, n)),
         differences=1e-7)
def log_softmax_by_reduce(logits, labels):
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return -np.sum(log_p[np.arange(len(labels)), labels])


@program(lambda n, rng: (rng.normal(size=(2 * n + 1, 4)), rng.integers(1, 4, n)),
         differences=1e-7)
def ctc_by_logaddexp(logits, labels):
    """The same over whole rows, with NumPy's logaddexp and shifted slices."""
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    extended = np.zeros(2 * len(labels) + 1, dtype=int)
    extended[1::2] = labels
    skips = np.zeros(len(extended), dtype=bool)
    skips[2:] = (extended[2:] != 0) & (extended[2:] != extended[:-2])
    alpha = np.full(len(extended), -1e9)
    alpha[:2] = log_p[0, extended[:2]]
    for row in log_p[1:]:
        new = alpha.copy()
        new[1:] = np.logaddexp(new[1:], alpha[:-1])
        new[2:] = np.where(skips[2:], np.logaddexp(new[2:], alpha[:-2]), new[2:])
        alpha = new + row[extended]
    return -np.logaddexp(alpha[-1], alpha[-2])


@program(lambda n, rng: (rng.normal(size=(n, n + 1)), 0.8, 0.3), argnums=(0, 1, 2))
def affine_gap_alignment(scores, opening, extension):
    """Gotoh's three tables, with a soft maximum."""
    n, m = scores.shape
    match, up, left = (np.full((n + 1, m + 1), -1e9) for _ in range(3))
    match[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            match[i, j] = scores[i - 1, j - 1] - softmin(
                -match[i - 1, j - 1], -up[i - 1, j - 1], -left[i - 1, j - 1])
            up[i, j] = log_add(match[i - 1, j] - opening, up[i - 1, j] - extension)
            left[i, j] = log_add(match[i, j - 1] - opening, left[i, j - 1] - extension)
    return -softmin(-match[n, m], -up[n, m], -left[n, m])


@program(lambda n, rng: (rng.normal(size=(n, n + 1)), 0.4), argnums=(0, 1))
def smith_waterman(scores, gap):
    n, m = scores.shape
    h = np.zeros((n + 1, m + 1))
    best = 0.0
    for i in range(n):
        for j in range(m):
            h[i + 1, j + 1] = max(0.0, h[i, j] + scores[i, j], h[i, j + 1] - gap,
                                  h[i + 1, j] - gap)
            if h[i + 1, j + 1] > best:
                best = h[i + 1, j + 1]
    return best


@program(lambda n, rng: (rng.normal(size=(n, 3)), rng.normal(size=(3, 3)), rng.integers(0, 3, n)),
         argnums=(0, 1))
def conditional_random_field(unary, transition, tags):
    score = unary[0, tags[0]]
    for t in range(1, len(tags)):
        score += transition[tags[t - 1], tags[t]] + unary[t, tags[t]]
    alpha = unary[0]
    for t in range(1, len(unary)):
        z = alpha[:, None] + transition + unary[t][None, :]
        high = z.max(axis=0)
        alpha = high + np.log(np.sum(np.exp(z - high), axis=0))
    high = alpha.max()
    return high + np.log(np.sum(np.exp(alpha - high))) - score


@program(lambda n, rng: (rng.uniform(0.1, 0.5, (n, n)), 0.3), argnums=(0, 1))
def rna_partition_function(pair, unpaired):
    """McCaskill's recursion over spans, shortest first."""
    n = len(pair)
    z = np.ones((n + 1, n + 1))
    for span in range(2, n + 1):
        for i in range(n - span + 1):
            j = i + span
            total = unpaired * z[i, j - 1]
            for k in range(i, j - 1):
                total += z[i, k] * pair[k, j - 1] * z[k + 1, j - 1]
            z[i, j] = total
    return np.log(z[0, n])


@program(lambda n, rng: (rng.uniform(1.0, 3.0, n + 1),))
def matrix_chain_order(sizes):
    n = len(sizes) - 1
    cost = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            best = np.inf
            for k in range(i, j):
                candidate = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if candidate < best:
                    best = candidate
            cost[i, j] = best
    return cost[0, n - 1]


@program(lambda n, rng: (rng.uniform(1.0, 3.0, n), rng.integers(1, 4, n), 7))
def knapsack(values, weights, capacity):
    best = np.zeros(capacity + 1)
    for value, weight in zip(values, weights):
        for c in range(capacity, weight - 1, -1):
            best[c] = max(best[c], best[c - weight] + value)
    return best[capacity]


@program(lambda n, rng: (rng.uniform(0.5, 2.0, (n, n)),))
def floyd_warshall(distance):
    d = distance.copy()
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return np.sum(d**2)


@program(lambda n, rng: (rng.uniform(0.5, 2.0, (n, n)),))
def seam_carving(energy):
    """The cheapest path from top to bottom, row by row with shifted slices."""
    cost = energy.copy()
    for i in range(1, len(cost)):
        above = cost[i - 1]
        best = above.copy()
        best[1:] = np.minimum(best[1:], above[:-1])
        best[:-1] = np.minimum(best[:-1], above[1:])
        cost[i] += best
    return np.min(cost[-1])
