"""Solvers and samplers that keep states, events and results as objects."""

from dataclasses import dataclass, field

import numpy as np

from programs_as_they_are.table import program


class Bogacki:
    def __init__(self, f, rtol=1e-4, atol=1e-7):
        self.f, self.rtol, self.atol = f, rtol, atol
        self.accepted = []
        self.rejected = 0

    def step(self, t, y, h):
        k1 = self.f(t, y)
        k2 = self.f(t + h / 2, y + h / 2 * k1)
        k3 = self.f(t + 0.75 * h, y + 0.75 * h * k2)
        new = y + h * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
        k4 = self.f(t + h, new)
        return new, h * (-5 / 72 * k1 + 1 / 12 * k2 + 1 / 9 * k3 - 1 / 8 * k4)

    def solve(self, t0, t1, y0):
        t, y, h = t0, y0, 0.05
        self.accepted.append((t, y))
        while t < t1:
            if t + h > t1:
                h = t1 - t
            new, error = self.step(t, y, h)
            scale = self.atol + self.rtol * np.maximum(np.abs(y), np.abs(new))
            e = np.sqrt(np.mean((error / scale) ** 2))
            if e < 1:
                t = t + h
                y = new
                self.accepted.append((t, y))
            else:
                self.rejected += 1
            h = h * min(4, max(0.25, 0.9 / max(e, 1e-10) ** (1 / 3)))
        return y


@program(lambda n, rng: (np.array([1.0, 0.2]), 1.5, float(n)), argnums=(0, 1), sizes=(2, 3),
         differences=1e-4)
def accepted_steps(y0, mu, T):
    solver = Bogacki(lambda t, y: np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]))
    last = solver.solve(0.0, T, y0)
    total = 0.0
    for (ta, ya), (tb, yb) in zip(solver.accepted[:-1], solver.accepted[1:]):
        total += (tb - ta) * (ya[0] ** 2 + yb[0] ** 2) / 2
    return total + last @ last


@dataclass
class Event:
    time: float
    state: np.ndarray


@program(lambda n, rng: (np.array([1.0, 0.0]), 0.1 * n), argnums=(0, 1), sizes=(1, 2),
         differences=1e-5)
def zero_crossings(s0, damping):
    def rhs(s):
        return np.array([s[1], -np.sin(s[0]) - damping * s[1]])

    events = []
    s, t, h = s0, 0.0, 0.05
    while len(events) < 3:
        k1 = rhs(s)
        k2 = rhs(s + h / 2 * k1)
        k3 = rhs(s + h / 2 * k2)
        k4 = rhs(s + h * k3)
        new = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if s[0] * new[0] < 0:
            theta = s[0] / (s[0] - new[0])
            events.append(Event(t + theta * h, s + theta * (new - s)))
        s = new
        t += h
    return sum(event.time * event.state[1] for event in events)


@dataclass
class Result:
    root: float
    iterations: int
    history: list = field(default_factory=list)


def newton(f, df, x0, tol=1e-12, maxiter=50):
    history = [x0]
    x = x0
    for it in range(maxiter):
        fx = f(x)
        if abs(fx) < tol:
            return Result(x, it, history)
        x = x - fx / df(x)
        history.append(x)
    raise RuntimeError("no convergence")


@program(lambda n, rng: (0.3 + 0.1 * n, 0.7), argnums=(0, 1), sizes=(1, 3))
def kepler_with_history(M, e):
    found = newton(lambda E: E - e * np.sin(E) - M, lambda E: 1 - e * np.cos(E), M)
    return found.root + 0.01 * found.history[1] + 0.001 * sum(found.history)


@program(lambda n, rng: (rng.uniform(1, 3, (n, n)),), sizes=(4, 6))
def path_by_parents(cost):
    n, m = cost.shape
    best = np.full((n, m), np.inf)
    best[0, 0] = cost[0, 0]
    parent = -np.ones((n, m), dtype=int)
    for _ in range(n + m):
        for i in range(n):
            for j in range(m):
                for di, dj in ((1, 0), (0, 1), (-1, 0), (0, -1)):
                    a, b = i + di, j + dj
                    if 0 <= a < n and 0 <= b < m and best[i, j] + cost[a, b] < best[a, b]:
                        best[a, b] = best[i, j] + cost[a, b]
                        parent[a, b] = i * m + j
    path = []
    k = (n - 1) * m + m - 1
    while k >= 0:
        path.append(k)
        k = parent[k // m, k % m]
    return best[-1, -1] + sum(cost[k // m, k % m] for k in path) / len(path)


@program(lambda n, rng: (rng.uniform(0, 1, (n, n)), 0.45), sizes=(5, 8))
def regions_by_flooding(image, level):
    n, m = image.shape
    seen = np.zeros((n, m), dtype=bool)
    regions = []
    for i in range(n):
        for j in range(m):
            if seen[i, j] or image[i, j] < level:
                continue
            seen[i, j] = True
            stack = [(i, j)]
            size, mass = 0, 0.0
            while stack:
                a, b = stack.pop()
                size += 1
                mass += image[a, b]
                for da, db in [(-1, 0), (1, 0), (0, -1), (0, 1)]:
                    p, q = a + da, b + db
                    if 0 <= p < n and 0 <= q < m and not seen[p, q] and image[p, q] >= level:
                        seen[p, q] = True
                        stack.append((p, q))
            regions.append((size, mass))
    return max(mass / size for size, mass in regions) + sum(mass ** 2 for _, mass in regions)
