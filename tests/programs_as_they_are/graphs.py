"""Graphs: shortest paths, trees, flows along edges."""

import heapq

import numpy as np

from programs_as_they_are.table import program

GRID_MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]


@program(lambda n, rng: (rng.uniform(1, 3, (n, n)),), sizes=(4, 6))
def a_star_over_terrain(cost):
    rows, columns = cost.shape
    goal = rows - 1, columns - 1
    best = np.full((rows, columns), np.inf)
    best[0, 0] = cost[0, 0]
    queue = [(cost[0, 0], 0, 0)]
    closed = np.zeros((rows, columns), bool)
    while queue:
        _, i, j = heapq.heappop(queue)
        if (i, j) == goal:
            break
        if closed[i, j]:
            continue
        closed[i, j] = True
        for di, dj in GRID_MOVES:
            a, b = i + di, j + dj
            if not (0 <= a < rows and 0 <= b < columns):
                continue
            through = best[i, j] + cost[a, b]
            if through < best[a, b]:
                best[a, b] = through
                heapq.heappush(queue, (through + abs(goal[0] - a) + abs(goal[1] - b), a, b))
    return best[goal]


@program(lambda n, rng: (rng.uniform(0, 1, (n, 2)),), sizes=(5, 8))
def minimum_spanning_tree(points):
    """Kruskal, with a forest of parents."""
    n = len(points)
    edges = []
    for i in range(n):
        for j in range(i):
            edges.append((np.hypot(*(points[i] - points[j])), i, j))
    parent = list(range(n))

    def find(a):
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    total, taken = 0.0, 0
    for length, i, j in sorted(edges):
        a, b = find(i), find(j)
        if a != b:
            parent[a] = b
            total += length
            taken += 1
            if taken == n - 1:
                break
    return total


@program(lambda n, rng: (rng.uniform(1, 2, n),), sizes=(6, 10), compilations=2)
def independent_set_on_heap(weights):
    children = {i: [] for i in range(len(weights))}
    for i in range(1, len(weights)):
        children[(i - 1) // 2].append(i)

    def visit(node):
        taken, left = weights[node], 0.0
        for child in children[node]:
            with_child, without = visit(child)
            taken += without
            left += max(with_child, without)
        return taken, left

    return max(visit(0))


@program(lambda n, rng: (np.sin(np.arange(n) * 0.9), np.sin(np.arange(n + 2) * 0.8 + 0.2)),
         argnums=(0, 1), sizes=(5, 9))
def warped_mean_along_path(x, y):
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            D[i, j] = (x[i - 1] - y[j - 1]) ** 2 + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    path = []
    i, j = n, m
    while i > 0 and j > 0:
        path.append((i - 1, j - 1))
        moves = [D[i - 1, j - 1], D[i - 1, j], D[i, j - 1]]
        k = int(np.argmin(moves))
        if k == 0:
            i, j = i - 1, j - 1
        elif k == 1:
            i -= 1
        else:
            j -= 1
    path.reverse()
    return D[n, m] + sum(x[a] * y[b] for a, b in path) / len(path)
