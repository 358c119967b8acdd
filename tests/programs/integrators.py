"""Ordinary differential equations and quadrature."""
# ruff: noqa: B905  (a plain zip, as users write it)

from dataclasses import dataclass

import numpy as np

from programs.program import program


def lotka_volterra(y, p):
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


RATES = np.array([1.0, 0.4, 0.3, 0.8])


@program(lambda n, rng: (np.array([1.2, 0.9]), RATES.copy(), n, 0.05), argnums=(0, 1, 3))
def euler(y, p, steps, h):
    for _ in range(steps):
        y = y + h * lotka_volterra(y, p)
    return np.sum(y)


def rk4_step(f, y, h, *args):
    k1 = f(y, *args)
    k2 = f(y + h / 2 * k1, *args)
    k3 = f(y + h / 2 * k2, *args)
    k4 = f(y + h * k3, *args)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@program(lambda n, rng: (np.array([1.2, 0.9]), RATES.copy(), n), argnums=(0, 1))
def rk4(y, p, steps):
    for _ in range(steps):
        y = rk4_step(lotka_volterra, y, 0.1, p)
    return y[0] * y[1]


@program(lambda n, rng: (np.array([1.2, 0.9]), RATES.copy(), n), argnums=(0, 1))
def rk4_trajectory(y0, p, steps):
    trajectory = np.empty((steps + 1, 2))
    trajectory[0] = y0
    for k in range(steps):
        trajectory[k + 1] = rk4_step(lotka_volterra, trajectory[k], 0.1, p)
    return np.mean(trajectory[:, 0] ** 2) + trajectory[-1, 1]


@program(lambda n, rng: (np.array([1.2, 0.9]), RATES.copy(), 0.5 * n, 1e-5), argnums=(0, 1),
         sizes=(2, 4))
def adaptive_rk23(y, p, end, tolerance):
    """Bogacki–Shampine's pair; a step whose error is too large is made again."""
    t, h = 0.0, 0.5
    accepted = rejected = 0
    while t < end:
        h = min(h, end - t)
        k1 = lotka_volterra(y, p)
        k2 = lotka_volterra(y + h * k1 / 2, p)
        k3 = lotka_volterra(y + h * 3 * k2 / 4, p)
        new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = lotka_volterra(new, p)
        error = np.max(np.abs(h * (-5 * k1 / 72 + k2 / 12 + k3 / 9 - k4 / 8)))
        if error <= tolerance:
            t += h
            y = new
            accepted += 1
        else:
            rejected += 1
        h *= min(2.0, max(0.3, 0.9 * (tolerance / (error + 1e-15)) ** (1 / 3)))
    return y[0] + 0.1 * accepted + 0.01 * rejected


A = [[], [1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9],
     [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
     [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
     [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]]
B4 = [5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40]


@program(lambda n, rng: (np.array([1.2, 0.3]), 0.7 * n, 1.5), argnums=(0, 2), sizes=(2, 4))
def adaptive_rk45(y, end, mu):
    """Van der Pol's oscillator by Dormand and Prince's pair, with step rejection."""
    def f(y):
        return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    t, h = 0.0, 1.0
    while t < end:
        if t + h > end:
            h = end - t
        k = np.zeros((7, 2))
        for i in range(7):
            stage = y.copy()
            for j in range(i):
                stage += h * A[i][j] * k[j]
            k[i] = f(stage)
        lower = y.copy()
        for i in range(7):
            lower += h * B4[i] * k[i]
        error = np.sqrt(np.mean((stage - lower) ** 2)) / 1e-6
        if error < 1.0:
            t = t + h
            y = stage
        h = h * min(5.0, max(0.2, 0.9 * error ** (-0.2)))
    return y @ y


@program(lambda n, rng: (1.0, 0.8, n), argnums=(0, 1))
def implicit_euler(y, rate, steps):
    h = 0.2
    for _ in range(steps):
        new = y
        for _ in range(30):
            residual = new - y + h * rate * new**3
            if abs(residual) < 1e-11:
                break
            new = new - residual / (1 + 3 * h * rate * new**2)
        y = new
    return y


@program(lambda n, rng: (np.array([1.2, 0.9]), RATES.copy(), n), argnums=(0, 1))
def adams_bashforth(y, p, steps):
    h = 0.1
    before = lotka_volterra(y, p)
    y = y + h * before
    for _ in range(steps):
        now = lotka_volterra(y, p)
        y += h * (1.5 * now - 0.5 * before)
        before = now
    return np.sum(y**2)


@program(lambda n, rng: (np.array([1.2, 0.9]), RATES.copy(), n), argnums=(0, 1))
def adams_bashforth_with_history(y, p, steps):
    """Four slopes in a buffer that is shifted by overlapping slices."""
    weights = np.array([55.0, -59.0, 37.0, -9.0]) / 24
    history = np.zeros((4, 2))
    history[:] = lotka_volterra(y, p)
    for _ in range(steps):
        y = y + 0.05 * weights @ history
        history[1:] = history[:-1]
        history[0] = lotka_volterra(y, p)
    return np.sum(y * history[-1])


@program(lambda n, rng: (0.5, 0.0, 9.81, n), argnums=(0, 1, 2))
def pendulum_verlet(angle, speed, g, steps):
    h = 0.05
    angles = np.zeros(steps + 1)
    angles[0] = angle
    acceleration = -g * np.sin(angle)
    for k in range(steps):
        angles[k + 1] = angles[k] + h * speed + 0.5 * h**2 * acceleration
        new = -g * np.sin(angles[k + 1])
        speed += 0.5 * h * (acceleration + new)
        acceleration = new
    return 0.5 * speed**2 + np.sum(angles**2)


@dataclass
class Ball:
    height: float
    speed: float


@program(lambda n, rng: (Ball(1.0, 0.3), 0.8, 25 * n), argnums=(0, 1))
def bouncing_ball(ball, restitution, steps):
    h, g = 0.01, 9.81
    y, v = ball.height, ball.speed
    bounces = 0
    for _ in range(steps):
        v -= h * g
        y += h * v
        if y < 0.0 < restitution:
            y, v = -restitution * y, -restitution * v
            bounces += 1
            if bounces == 3:
                break
    return y + 0.5 * v * v


@program(lambda n, rng: (0.6, 0.3, rng.normal(size=n), np.full(n, 0.1)), argnums=(0, 1, 2, 3))
def euler_maruyama(x, sigma, noise, dt):
    for h, w in zip(dt, noise):
        x += h * np.sin(x) + sigma * np.sqrt(h) * w * x
    return x


@program(lambda n, rng: (0.3, 1.7, n), argnums=(0, 1), sizes=(3, 5))
def romberg(a, b, levels):
    def f(x):
        return np.exp(-x) * np.sin(2 * x)

    r = np.zeros((levels, levels))
    h = b - a
    r[0, 0] = 0.5 * h * (f(a) + f(b))
    for i in range(1, levels):
        h = 0.5 * h
        total = 0.0
        for k in range(1, 2**i, 2):
            total += f(a + k * h)
        r[i, 0] = 0.5 * r[i - 1, 0] + h * total
        for j in range(1, i + 1):
            r[i, j] = r[i, j - 1] + (r[i, j - 1] - r[i - 1, j - 1]) / (4**j - 1)
    return r[levels - 1, levels - 1]


@program(lambda n, rng: (0.2, 2.0 + 0.1 * n, 3.0), argnums=(0, 1, 2), sizes=(3, 5))
def adaptive_simpson(a, b, c):
    """Intervals that are not yet precise enough wait on a stack."""
    def f(x):
        return np.exp(-c * x) * x

    stack = np.zeros((50, 2))
    stack[0, 0], stack[0, 1] = a, b
    top, total = 1, 0.0
    while top > 0:
        top -= 1
        low, high = stack[top]
        middle, h = (low + high) / 2, high - low
        whole = h / 6 * (f(low) + 4 * f(middle) + f(high))
        left = h / 12 * (f(low) + 4 * f((low + middle) / 2) + f(middle))
        right = h / 12 * (f(middle) + 4 * f((middle + high) / 2) + f(high))
        if abs(left + right - whole) < 1e-4 or top > 45:
            total += left + right
            continue
        stack[top] = low, middle
        stack[top + 1] = middle, high
        top += 2
    return total


@program(lambda n, rng: (0.1, 1.9, n), argnums=(0, 1))
def simpson_by_slices(a, b, n):
    x = a + (b - a) * np.arange(2 * n + 1) / (2 * n)
    y = np.exp(-(x**2))
    return (b - a) / (6 * n) * (y[0] + y[-1] + 4 * np.sum(y[1::2]) + 2 * np.sum(y[2:-1:2]))


@program(lambda n, rng: (np.array([1.0, 0.0, 0.0]), 0.3, n), argnums=(0, 1))
def stiff_chemistry_bdf2(y, rate, steps):
    """Robertson's reactions, scaled, by BDF2 with a Newton iteration each."""
    def f(y):
        r1, r2, r3 = rate * y[0], 2.0 * y[1] * y[2], 3.0 * y[1] ** 2
        return np.array([-r1 + r2, r1 - r2 - r3, r3])

    def jacobian(y):
        return np.array([[-rate, 2.0 * y[2], 2.0 * y[1]],
                         [rate, -2.0 * y[2] - 6.0 * y[1], -2.0 * y[1]],
                         [0.0, 6.0 * y[1], 0.0]])

    h = 0.1
    before, now = y, y + h * f(y)
    for _ in range(steps):
        new = now.copy()
        for _ in range(20):
            residual = new - (4 * now - before) / 3 - 2 * h / 3 * f(new)
            if np.sum(residual**2) < 1e-18:
                break
            new -= np.linalg.solve(np.eye(3) - 2 * h / 3 * jacobian(new), residual)
        before, now = now, new
    return now[0] + 2 * now[1]
