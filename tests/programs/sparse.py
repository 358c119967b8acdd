"""Sparse matrices, graphs and scatters, by loops over indices."""
# ruff: noqa: B905  (a plain zip, as users write it)

from typing import NamedTuple

import numpy as np

from programs.program import program


class CSR(NamedTuple):
    data: np.ndarray
    indices: np.ndarray
    starts: np.ndarray


def csr(n, rng):
    counts = rng.integers(0, 4, n)
    counts[-1] = 2
    size = counts.sum()
    return CSR(rng.normal(size=size), rng.integers(0, n, size), np.append(0, np.cumsum(counts)))


def unpacked(n, rng):
    return (*csr(n, rng), rng.normal(size=n))


def edges(n, rng):
    return rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n)


@program(unpacked, argnums=(0, 3))
def csr_product(data, indices, starts, x):
    y = np.zeros(len(starts) - 1)
    for i in range(len(y)):
        for k in range(starts[i], starts[i + 1]):
            y[i] += data[k] * x[indices[k]]
    return np.sum(y**2)


@program(unpacked, argnums=(0, 3))
def csr_transposed_product(data, indices, starts, x):
    y = np.zeros(len(x))
    for i in range(len(starts) - 1):
        row = slice(starts[i], starts[i + 1])
        for j, value in zip(indices[row], data[row]):
            y[j] += value * x[i]
    return np.sum(y**2)


def csr_times(matrix, x):
    out = np.zeros(len(matrix.starts) - 1)
    for i in range(len(out)):
        low, high = matrix.starts[i], matrix.starts[i + 1]
        out[i] = np.sum(matrix.data[low:high] * x[matrix.indices[low:high]])
    return out


@program(unpacked, argnums=(0, 3))
def csr_product_by_slices(data, indices, starts, x):
    return np.sum(csr_times(CSR(data, indices, starts), x) ** 2)


@program(lambda n, rng: (*edges(n, rng), rng.normal(size=2 * n), rng.normal(size=n)),
         argnums=(2, 3))
def coordinate_scatter(rows, columns, values, x):
    y = np.zeros_like(x)
    np.add.at(y, rows, values * x[columns])
    np.subtract.at(y, columns, 0.5 * values)
    return np.sum(y**3)


@program(lambda n, rng: (rng.uniform(0, 1, 2 * n), rng.normal(size=2 * n), n), argnums=(1,),
         differences=1e-8)
def weighted_histogram(positions, weights, bins):
    counts = np.zeros(bins)
    for k in range(len(positions)):
        b = int(positions[k] * bins)
        if 0 <= b < bins:
            counts[b] += weights[k]
    return np.sum(counts**2)


@program(lambda n, rng: (rng.uniform(0.1, n - 1.1, 2 * n), rng.normal(size=2 * n), n),
         argnums=(0, 1), differences=1e-7)
def cloud_in_cell(positions, charges, cells):
    """Charges go to both neighbours; the field is read back in the same way."""
    density = np.zeros(cells)
    left = np.floor(positions).astype(int)
    share = positions - left
    np.add.at(density, left, charges * (1 - share))
    np.add.at(density, left + 1, charges * share)
    field = density[left] * (1 - share) + density[left + 1] * share
    return np.sum(field**2)


@program(lambda n, rng: (*edges(n, rng), rng.normal(size=(n, 2)), rng.normal(size=(2, 2))),
         argnums=(2, 3))
def message_passing(sources, targets, features, w):
    for _ in range(2):
        messages = np.tanh(features[sources] @ w)
        gathered = np.zeros_like(features)
        for e in range(len(targets)):
            gathered[targets[e]] += messages[e]
        features = features + gathered
    return np.sum(features**2)


@program(lambda n, rng: (*edges(n, rng), rng.uniform(0.5, 1.5, 2 * n), 0.85, n), argnums=(2, 3))
def page_rank(sources, targets, weights, damping, n):
    out = np.full(n, 0.1)
    for k, s in enumerate(sources):
        out[s] += weights[k]
    rank = np.full(n, 1.0 / n)
    change = 1.0
    while change > 1e-8:
        new = np.full(n, (1 - damping) / n)
        for k in range(len(sources)):
            new[targets[k]] += damping * rank[sources[k]] * weights[k] / out[sources[k]]
        change = np.sum(np.abs(new - rank))
        rank = new
    return np.sum(rank**2)


@program(lambda n, rng: (rng.normal(size=(5, 2)), rng.integers(0, 5, 3 * n),
                         np.arange(0, 3 * n, 3)))
def embedding_bags(table, tokens, offsets):
    total = 0.0
    for b in range(len(offsets)):
        end = offsets[b + 1] if b + 1 < len(offsets) else len(tokens)
        bag = np.zeros(table.shape[1])
        count = 0
        for k in range(offsets[b], end):
            bag += table[tokens[k]]
            count += 1
        if count > 0:
            bag /= count
        total += np.sum(np.sin(bag))
    return total


@program(lambda n, rng: (rng.normal(size=2 * n), rng.integers(0, 3, 2 * n)))
def group_means(x, group):
    sums, counts = np.zeros(3), np.zeros(3)
    for value, g in zip(x, group):
        sums[g] += value
        counts[g] += 1
    means = sums / np.maximum(counts, 1)
    return np.sum((x - means[group]) ** 2)


@program(lambda n, rng: (rng.uniform(0.5, 1.5, 2 * n), *edges(n, rng), n))
def bellman_ford(lengths, sources, targets, n):
    distance = np.full(n, 1e6)
    distance[0] = 0.0
    for _ in range(n - 1):
        relaxed = False
        for k in range(len(lengths)):
            through = distance[sources[k]] + lengths[k]
            if through < distance[targets[k]]:
                distance[targets[k]] = through
                relaxed = True
        if not relaxed:
            break
    total = 0.0
    for d in distance:
        if d > 1e5:
            continue
        total += d**2
    return total + 0.1 * np.sum(lengths)


@program(lambda n, rng: (rng.normal(size=n), rng.integers(0, n, n)))
def pointer_jumping(x, parent):
    x, parent = x.copy(), parent.copy()
    for _ in range(3):
        x = x + 0.5 * x[parent]
        parent = parent[parent]
    return np.sum(x**2)


@program(lambda n, rng: (rng.uniform(0.2, 1.0, n), 2.0 * np.sqrt(n)), argnums=(0, 1))
def projection_to_the_simplex(x, scale):
    u = np.sort(x)[::-1]
    total, rho = 0.0, 0.0
    for k, value in enumerate(u):
        total += value
        threshold = (total - scale) / (k + 1)
        if value > threshold:
            rho = threshold
    return np.sum(np.maximum(x - rho, 0.0) ** 3)
