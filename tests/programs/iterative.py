"""Iterations over vectors that end at a tolerance: linear systems, eigenvectors, minima."""

import numpy as np

from programs.factorisations import dominant, positive
from programs.program import program


@program(lambda n, rng: (positive(n, rng), rng.normal(size=n)), argnums=(0, 1))
def conjugate_gradient(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    while rs > 1e-18:
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return np.sum(x**2)


@program(lambda n, rng: (dominant(n, rng), rng.normal(size=n)), argnums=(0, 1))
def biconjugate_gradient_stabilised(a, b):
    x = np.zeros(len(b))
    r = b.copy()
    shadow, p = r.copy(), r.copy()
    rho = shadow @ r
    for _ in range(30):
        v = a @ p
        alpha = rho / (shadow @ v)
        s = r - alpha * v
        if s @ s < 1e-20:
            x += alpha * p
            break
        t = a @ s
        omega = (t @ s) / (t @ t)
        x += alpha * p + omega * s
        r = s - omega * t
        if r @ r < 1e-20:
            break
        rho, before = shadow @ r, rho
        p = r + rho / before * alpha / omega * (p - omega * v)
    return np.sum(x**2)


@program(lambda n, rng: (positive(n, rng) + np.diag(np.arange(n)),))
def power_iteration(a):
    v = np.ones(len(a)) / np.sqrt(len(a))
    value, change = 0.0, 1.0
    while change > 1e-9:
        w = a @ v
        new = v @ w
        v = w / np.sqrt(np.sum(w**2))
        change = abs(new - value)
        value = new
    return value + v[0]


@program(lambda n, rng: (positive(n, rng), rng.normal(size=n), 3), argnums=(0, 1))
def arnoldi(a, b, steps):
    q = np.zeros((len(b), steps + 1))
    h = np.zeros((steps + 1, steps))
    q[:, 0] = b / np.sqrt(b @ b)
    for k in range(steps - 1):
        w = a @ q[:, k]
        for j in range(k + 1):
            h[j, k] = q[:, j] @ w
            w -= h[j, k] * q[:, j]
        h[k + 1, k] = np.sqrt(w @ w)
        q[:, k + 1] = w / h[k + 1, k]
    return np.sum(h**2)


@program(lambda n, rng: (dominant(n, rng), rng.normal(size=n)), argnums=(0, 1))
def gauss_seidel_to_tolerance(a, b):
    n = len(b)
    x = np.zeros(n)
    for _ in range(100):
        largest = 0.0
        for i in range(n):
            before = x[i]
            x[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1:] @ x[i + 1:]) / a[i, i]
            largest = max(largest, abs(x[i] - before))
        if largest < 1e-9:
            break
    return np.sum(x**2)


@program(lambda n, rng: (rng.uniform(0.2, 2.0, (n, n + 1)), 0.5), argnums=(0, 1))
def sinkhorn(cost, epsilon):
    n, m = cost.shape
    kernel = np.exp(-cost / epsilon)
    u, v = np.ones(n), np.ones(m)
    error = 1.0
    while error > 1e-8:
        u = 1 / n / (kernel @ v)
        v = 1 / m / (kernel.T @ u)
        error = np.sum(np.abs(u * (kernel @ v) - 1 / n))
    return np.sum(u[:, None] * kernel * v * cost)


@program(lambda n, rng: (rng.uniform(0.5, 1.5, n), 1.0), argnums=(0, 1))
def armijo_descent(x, scale):
    def f(x):
        return np.sum(scale * x**4 + np.sin(x))

    for _ in range(4):
        g = 4 * scale * x**3 + np.cos(x)
        step = 1.0
        while f(x - step * g) > f(x) - 0.3 * step * (g @ g):
            step /= 2
        x = x - step * g
    return f(x) + np.sum(x)


@program(lambda n, rng: (dominant(n, rng) / n,))
def newton_schulz_inverse(a):
    n = len(a)
    identity = np.eye(n)
    x = a.T / (np.max(np.sum(np.abs(a), axis=0)) * np.max(np.sum(np.abs(a), axis=1)))
    residual = identity - a @ x
    while np.max(np.abs(residual)) > 1e-8:
        x = x @ (identity + residual)
        residual = identity - a @ x
    return np.trace(x) + np.sum(x**2)


@program(lambda n, rng: (rng.normal(size=(2 * n, 2)), 2.0), argnums=(0, 1))
def soft_k_means(points, sharpness):
    centers = points[:2].copy()
    moved = 1.0
    while moved > 1e-4:
        squares = ((points[:, None, :] - centers) ** 2).sum(axis=2)
        weights = np.exp(-sharpness * (squares - squares.min(axis=1, keepdims=True)))
        weights /= weights.sum(axis=1, keepdims=True)
        new = (weights.T @ points) / weights.sum(axis=0)[:, None]
        moved = np.max(np.abs(new - centers))
        centers[:] = new
    return np.sum(centers**2)


@program(lambda n, rng: (rng.normal(size=(n, 3)), rng.normal(size=n), 0.1), argnums=(0, 1, 2))
def lasso_by_coordinate_descent(x, y, penalty):
    w = np.zeros(3)
    residual = y.copy()
    squares = np.sum(x**2, axis=0)
    for _ in range(4):
        for j in range(3):
            residual += x[:, j] * w[j]
            rho = x[:, j] @ residual
            if rho > penalty:
                w[j] = (rho - penalty) / squares[j]
            elif rho < -penalty:
                w[j] = (rho + penalty) / squares[j]
            else:
                w[j] = 0.0
            residual -= x[:, j] * w[j]
    return np.sum(w**2) + np.sum(residual**2)


@program(lambda n, rng: (rng.uniform(0.5, 1.5, n), 0.1, 0.9), argnums=(0, 1, 2))
def momentum_with_out_arguments(x, rate, momentum):
    x = x.copy()
    velocity, gradient = np.zeros_like(x), np.empty_like(x)
    for _ in range(5):
        np.multiply(x, x, out=gradient)
        gradient *= x
        np.multiply(velocity, momentum, out=velocity)
        velocity -= rate * gradient
        np.add(x, velocity, out=x)
    return np.sum(x**2)
