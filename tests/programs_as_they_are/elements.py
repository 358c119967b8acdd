"""Integrals, meshes and conservation laws."""

import numpy as np

from programs_as_they_are.table import program


def simpson(f, a, fa, b, fb, m, fm, whole, tol):
    lm, rm = (a + m) / 2, (m + b) / 2
    flm, frm = f(lm), f(rm)
    left = (m - a) / 6 * (fa + 4 * flm + fm)
    right = (b - m) / 6 * (fm + 4 * frm + fb)
    delta = left + right - whole
    if abs(delta) <= 15 * tol:
        return left + right + delta / 15
    return (simpson(f, a, fa, m, fm, lm, flm, left, tol / 2)
            + simpson(f, m, fm, b, fb, rm, frm, right, tol / 2))


@program(lambda n, rng: (3.0 + 0.1 * n, 2.0), argnums=(0, 1))
def adaptive_simpson_by_recursion(k, end):
    def f(x):
        return np.sin(k * x) / (1 + x * x)

    a, b = 0.0, end
    m = (a + b) / 2
    fa, fb, fm = f(a), f(b), f(m)
    return simpson(f, a, fa, b, fb, m, fm, (b - a) / 6 * (fa + 4 * fm + fb), 1e-6)


@program(lambda n, rng: (3.0 + 0.1 * n, 2.0), argnums=(0, 1))
def adaptive_simpson_by_stack(k, end):
    def f(x):
        return np.sin(k * x) / (1 + x * x)

    def rule(a, b):
        return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b))

    stack = [(0.0, end, rule(0.0, end), 1e-6)]
    total, pieces = 0.0, 0
    while stack:
        a, b, whole, tol = stack.pop()
        m = (a + b) / 2
        left, right = rule(a, m), rule(m, b)
        if abs(left + right - whole) <= 15 * tol or pieces > 10000:
            total += left + right + (left + right - whole) / 15
            pieces += 1
        else:
            stack.append((a, m, left, tol / 2))
            stack.append((m, b, right, tol / 2))
    return total


def triangulation(n):
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    nodes = np.column_stack([x.ravel(), y.ravel()])
    elements = []
    for i in range(n - 1):
        for j in range(n - 1):
            a = i * n + j
            elements.append([a, a + 1, a + n])
            elements.append([a + 1, a + n + 1, a + n])
    return nodes, np.array(elements)


def poisson(n, rng):
    nodes, elements = triangulation(n)
    return rng.uniform(1, 2, len(elements)), nodes, elements


@program(poisson, argnums=(0,), sizes=(4, 5))
def poisson_compliance(conductivity, nodes, elements):
    n = len(nodes)
    K, f = np.zeros((n, n)), np.zeros(n)
    for e, kappa in zip(elements, conductivity):
        xy = nodes[e]
        T = np.column_stack([np.ones(3), xy])
        area = abs(np.linalg.det(T)) / 2
        grads = np.linalg.inv(T)[1:]
        K[np.ix_(e, e)] += kappa * area * grads.T @ grads
        f[e] += area / 3
    eps = 1e-9
    boundary = (nodes.min(axis=1) < eps) | (nodes.max(axis=1) > 1 - eps)
    free = np.flatnonzero(~boundary)
    u = np.zeros(n)
    u[free] = np.linalg.solve(K[np.ix_(free, free)], f[free])
    return f @ u


class ShallowWater:
    def __init__(self, h, velocity, dx=0.1, g=9.81):
        self.h = h.copy()
        self.hu = velocity * h
        self.dx, self.g, self.t = dx, g, 0.0

    def flux(self, h, hu):
        return np.array([hu, hu ** 2 / h + 0.5 * self.g * h ** 2])

    def step(self):
        c = np.abs(self.hu / self.h) + np.sqrt(self.g * self.h)
        dt = 0.4 * self.dx / c.max()
        q = np.array([self.h, self.hu])
        q = np.concatenate([q[:, :1], q, q[:, -1:]], axis=1)
        q[1, 0] *= -1
        q[1, -1] *= -1
        left, right = q[:, :-1], q[:, 1:]
        f = 0.5 * (self.flux(*left) + self.flux(*right)) - 0.5 * c.max() * (right - left)
        new = q[:, 1:-1] - dt / self.dx * (f[:, 1:] - f[:, :-1])
        self.h, self.hu = new
        self.t += dt

    def run(self, end):
        gauge = []
        while self.t < end:
            self.step()
            gauge.append(self.h[0])
        return gauge


@program(lambda n, rng: (1.0 + 0.2 * np.exp(-(np.arange(n) - n / 3) ** 2 / 4.0), 0.3, 0.5),
         argnums=(0, 1), sizes=(8, 12), differences=1e-5)
def shallow_water_gauge(h, wind, end):
    model = ShallowWater(h, wind)
    gauge = model.run(end)
    return max(gauge) + np.mean(model.hu ** 2)


@program(lambda n, rng: (rng.uniform(0.5, 1, n), 0.3), argnums=(0, 1), sizes=(8, 16))
def limited_advection(u, courant):
    """Second order upwind with van Leer's limiter, boundary cells by index sets."""
    n = len(u)
    u = u.copy()
    interior = np.setdiff1d(np.arange(n), [0, 1, n - 1])
    for _ in range(10):
        old = u.copy()
        d1 = old[interior] - old[interior - 1]
        d2 = old[interior + 1] - old[interior]
        with np.errstate(divide="ignore", invalid="ignore"):
            r = np.where(d2 != 0, d1 / d2, 0.0)
        phi = (r + np.abs(r)) / (1 + np.abs(r))
        flux = old[interior] + 0.5 * phi * (1 - courant) * d2
        u[interior[1:]] -= courant * (flux[1:] - flux[:-1])
    return np.sum(u ** 2)
