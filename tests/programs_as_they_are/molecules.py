"""Molecules and particles."""

import itertools

import numpy as np

from programs_as_they_are.table import program


@program(lambda n, rng: (np.stack(np.meshgrid(*[np.arange(n)] * 2), -1).reshape(-1, 2) * 1.1
                         + rng.uniform(0.0, 0.3, (n * n, 2)), 1.1 * n), sizes=(3, 4))
def lennard_jones_by_cells(x, box):
    rc = 1.6
    m = int(box // rc)
    size = box / m
    cells = [[[] for _ in range(m)] for _ in range(m)]
    for i, (px, py) in enumerate(x):
        cells[int(px // size) % m][int(py // size) % m].append(i)
    energy = 0.0
    for a in range(m):
        for b in range(m):
            for da, db in itertools.product((-1, 0, 1), repeat=2):
                a2, b2 = a + da, b + db
                if not (0 <= a2 < m and 0 <= b2 < m):
                    continue
                for i in cells[a][b]:
                    for j in cells[a2][b2]:
                        if j <= i:
                            continue
                        r2 = np.sum((x[i] - x[j]) ** 2)
                        if r2 < rc * rc:
                            s6 = 1 / r2 ** 3
                            energy += 4 * (s6 * s6 - s6)
    return energy


BONDS = [(0, 1), (1, 2), (2, 3)]
TYPES = {0: "C", 1: "C", 2: "O", 3: "H"}
STIFFNESS = {("C", "C"): 300.0, ("C", "O"): 350.0, ("H", "O"): 450.0}
LENGTHS = {("C", "C"): 1.5, ("C", "O"): 1.4, ("H", "O"): 0.96}


def dihedral(a, b, c, d):
    b1, b2, b3 = b - a, c - b, d - c
    n1, n2 = np.cross(b1, b2), np.cross(b2, b3)
    return np.arctan2(np.dot(np.cross(n1, n2), b2 / np.linalg.norm(b2)), np.dot(n1, n2))


@program(lambda n, rng: (np.array([[0, 0, 0], [1.5, 0, 0], [2, 1.3, 0], [2.5, 1.5, 0.8]])
                         + 0.05 * rng.standard_normal((4, 3)), rng.uniform(0, 1, n)))
def force_field(x, barriers):
    energy = 0.0
    for i, j in BONDS:
        kind = tuple(sorted((TYPES[i], TYPES[j])))
        energy += 0.5 * STIFFNESS[kind] * (np.linalg.norm(x[i] - x[j]) - LENGTHS[kind]) ** 2
    phi = dihedral(*x)
    for n, v in enumerate(barriers, start=1):
        energy += v * (1 + np.cos(n * phi))
    return energy


@program(lambda n, rng: (rng.uniform(-1, 1, (n, 2)), 0.2 * rng.uniform(-1, 1, (n, 2))),
         argnums=(0, 1), sizes=(3, 5))
def stoermer_verlet(x0, v0):
    def acceleration(x):
        d = x[:, None] - x[None]
        r2 = np.sum(d ** 2, axis=-1) + 0.1
        np.fill_diagonal(r2, 1.0)
        return -np.sum(d / r2[..., None] ** 1.5, axis=1)

    dt = 0.05
    prev, cur = x0 - dt * v0, x0
    first = cur
    farthest = 0.0
    for _ in range(20):
        new = 2 * cur - prev + dt * dt * acceleration(cur)
        prev, cur = cur, new
        farthest = max(farthest, np.abs(cur - first).max())
    velocity = (cur - prev) / dt
    return 0.5 * np.sum(velocity ** 2) + farthest


class Node:
    def __init__(self, center, half):
        self.center, self.half = center, half
        self.mass, self.com = 0.0, np.zeros(2)
        self.children = None
        self.body = None


def insert(node, x, m, depth=0):
    if node.mass > 0 and depth < 12:
        if node.children is None:
            node.children = [Node(node.center + node.half / 2 * np.array([sx, sy]), node.half / 2)
                             for sx in (-1, 1) for sy in (-1, 1)]
            insert(quadrant(node, node.body[0]), *node.body, depth + 1)
        insert(quadrant(node, x), x, m, depth + 1)
    node.com = (node.com * node.mass + x * m) / (node.mass + m)
    node.mass += m
    node.body = (x, m)


def quadrant(node, x):
    return node.children[2 * int(x[0] > node.center[0]) + int(x[1] > node.center[1])]


def potential(node, x, theta):
    if node.mass == 0:
        return 0.0
    r = np.linalg.norm(x - node.com)
    if node.children is None or 2 * node.half / r < theta:
        return node.mass / r if r > 1e-9 else 0.0
    return sum(potential(child, x, theta) for child in node.children)


@program(lambda n, rng: (rng.uniform(-1, 1, (n, 2)), rng.uniform(1, 2, n)), argnums=(0, 1),
         sizes=(4, 6))
def barnes_hut(x, mass):
    root = Node(np.zeros(2), 1.0)
    for p, m in zip(x, mass):
        insert(root, p, m)
    return -0.5 * sum(m * potential(root, p, 0.5) for p, m in zip(x, mass))
