"""Sequences, phylogenies, populations and images."""

import numpy as np

from programs_as_they_are.table import program


@program(lambda n, rng: (np.array([1.0, -0.7, -0.45]), rng.integers(0, 4, n),
                         rng.integers(0, 4, n + 1)), sizes=(5, 9))
def needleman_wunsch_identity(scoring, s, t):
    """The score of the alignment, and which share of its columns matches by weight."""
    match, mismatch, gap = scoring
    n, m = len(s), len(t)
    F = np.zeros((n + 1, m + 1))
    F[:, 0] = gap * np.arange(n + 1)
    F[0, :] = gap * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = F[i - 1, j - 1] + (match if s[i - 1] == t[j - 1] else mismatch)
            F[i, j] = max(diagonal, F[i - 1, j] + gap, F[i, j - 1] + gap)
    top, bottom = [], []
    i, j = n, m
    while i > 0 or j > 0:
        if i > 0 and j > 0 and F[i, j] == F[i - 1, j - 1] + (
                match if s[i - 1] == t[j - 1] else mismatch):
            top.append(s[i - 1])
            bottom.append(t[j - 1])
            i, j = i - 1, j - 1
        elif i > 0 and F[i, j] == F[i - 1, j] + gap:
            top.append(s[i - 1])
            bottom.append(-1)
            i -= 1
        else:
            top.append(-1)
            bottom.append(t[j - 1])
            j -= 1
    same = sum(1 for a, b in zip(top, bottom) if a == b)
    return F[n, m] * same / len(top)


@program(lambda n, rng: (rng.standard_normal((3, 3)), rng.standard_normal((3, 4)),
                         rng.integers(0, 4, n)), argnums=(0, 1), sizes=(5, 10))
def viterbi_path_score(transition, emission, observed):
    A = transition - np.log(np.exp(transition).sum(1, keepdims=True))
    B = emission - np.log(np.exp(emission).sum(1, keepdims=True))
    delta = B[:, observed[0]]
    back = []
    for o in observed[1:]:
        scores = delta[:, None] + A
        back.append(scores.argmax(axis=0))
        delta = scores.max(axis=0) + B[:, o]
    state = int(np.argmax(delta))
    path = [state]
    for pointers in reversed(back):
        state = pointers[state]
        path.append(state)
    path = path[::-1]
    occupancy = sum(np.exp(B[s, o]) for s, o in zip(path, observed))
    return delta.max() + occupancy / len(path)


QUARTET = ((("a", 0), ("b", 1), 4), (("c", 2), ("d", 3), 5))


def site_likelihood(node, lengths, tips, rate):
    """Felsenstein's pruning: partial likelihoods of four states at a node."""
    if isinstance(node[0], str):
        return tips[node[0]]
    partial = np.ones(4)
    for child in node[:2]:
        length = lengths[child[-1]]
        same = 0.25 + 0.75 * np.exp(-4 / 3 * rate * length)
        P = np.full((4, 4), (1 - same) / 3)
        np.fill_diagonal(P, same)
        partial = partial * (P @ site_likelihood(child, lengths, tips, rate))
    return partial


@program(lambda n, rng: (rng.uniform(0.1, 0.4, 6), 0.9, rng.integers(0, 4, (4, n))),
         argnums=(0, 1), differences=1e-5)
def felsenstein(lengths, rate, sites):
    loglik = 0.0
    for column in sites.T:
        tips = {name: np.eye(4)[state] for name, state in zip("abcd", column)}
        loglik += np.log(0.25 * site_likelihood(QUARTET, lengths, tips, rate).sum())
    return loglik


def image(n, rng):
    picture = 0.1 * rng.uniform(0, 1, (n, n))
    picture[1:n - 1, 1:n // 2 + 1] += 1.0
    return picture, 0.5


@program(image, argnums=(0,), sizes=(5, 8))
def region_growing(picture, threshold):
    """Flood fill from a seed; the mean updates as the region grows."""
    rows, columns = picture.shape
    region = np.zeros(picture.shape, dtype=bool)
    stack = [(2, 1)]
    mean, count = picture[2, 1], 0
    while stack:
        i, j = stack.pop()
        if i < 0 or j < 0 or i >= rows or j >= columns or region[i, j]:
            continue
        if abs(picture[i, j] - mean) > threshold:
            continue
        region[i, j] = True
        mean = (mean * count + picture[i, j]) / (count + 1)
        count += 1
        stack += [(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)]
    return mean + picture[region].std()


@program(lambda n, rng: (np.array([1.0, 0.15, 0.6]), rng.uniform(0.05, 0.95, (8 * n, 2))),
         argnums=(0,), sizes=(3, 6))
def gillespie_waiting_times(rates, uniforms):
    """A birth-death-catastrophe process from given uniform numbers: pathwise times."""
    birth, death, catastrophe = rates
    population, t = 5, 0.0
    times, sizes = [t], [population]
    for u, choice in uniforms:
        propensities = np.array([birth * population, death * population * population,
                                 catastrophe * (population > 8)])
        total = propensities.sum()
        if total == 0:
            break
        t += -np.log(u) / total
        event = np.searchsorted(np.cumsum(propensities) / total, choice)
        if event == 0:
            population += 1
        elif event == 1:
            population -= 1
        else:
            population //= 2
        times.append(t)
        sizes.append(population)
    times = np.array(times)
    return np.sum(np.diff(times) * np.array(sizes)[:-1]) / times[-1] + times[-1]
