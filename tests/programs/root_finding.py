"""Roots of equations: loops that end when they have converged."""
# ruff: noqa: B905  (a plain zip, as users write it)

import numpy as np

from programs.program import program


@program(lambda n, rng: (float(n), 1e-12))
def newton_sqrt(a, tolerance):
    x = a
    while abs(x * x - a) > tolerance:
        x = 0.5 * (x + a / x)
    return x


@program(lambda n, rng: (rng.uniform(0.1, 0.8, n), rng.uniform(0.3, 2.5, n)), argnums=(0, 1))
def kepler_orbits(eccentricities, anomalies):
    total = 0.0
    for e, m in zip(eccentricities, anomalies):
        anomaly = m
        while True:
            step = (anomaly - e * np.sin(anomaly) - m) / (1 - e * np.cos(anomaly))
            anomaly = anomaly - step
            if abs(step) < 1e-10:
                break
        total += np.sin(anomaly) ** 2
    return total


def cubic(x, c):
    return x**3 + c[1] * x - c[0]


@program(lambda n, rng: (np.array([2.0 + n, 1.5]), 0.0, 4.0), argnums=(0, 1, 2))
def bisection(c, low, high):
    for _ in range(200):
        middle = 0.5 * (low + high)
        if high - low < 1e-6:
            break
        if cubic(middle, c) * cubic(low, c) <= 0:
            high = middle
        else:
            low = middle
    return middle - cubic(middle, c) / (3 * middle**2 + c[1])


@program(lambda n, rng: (np.array([2.0 + n, 1.5]), 1.0, 2.0), argnums=(0, 1))
def secant(c, before, now):
    f_before = cubic(before, c)
    for _ in range(50):
        f_now = cubic(now, c)
        if abs(f_now) < 1e-10:
            break
        before, now, f_before = now, now - f_now * (now - before) / (f_now - f_before), f_now
    else:
        now = 0.0
    return now


@program(lambda n, rng: (0.3 + 0.1 * n,))
def illinois(a):
    """Regula falsi that halves the end which stays."""
    low, high = 0.0, 3.0
    f_low, f_high = low - a * np.cos(low), high - a * np.cos(high)
    side = 0
    middle = low
    for _ in range(100):
        middle = (f_low * high - f_high * low) / (f_low - f_high)
        f_middle = middle - a * np.cos(middle)
        if abs(f_middle) < 1e-12:
            break
        if f_middle * f_high > 0:
            high, f_high = middle, f_middle
            if side == -1:
                f_low /= 2
            side = -1
        else:
            low, f_low = middle, f_middle
            if side == 1:
                f_high /= 2
            side = 1
    return middle


def halley_root(f, df, ddf, x, tolerance=1e-9):
    while abs(y := f(x)) > tolerance:
        slope = df(x)
        x = x - 2 * y * slope / (2 * slope**2 - y * ddf(x))
    return x


@program(lambda n, rng: (rng.uniform(1.0, 3.0, n),))
def halley_of_nested_functions(a):
    total = 0.0
    for value in a:
        def f(x):
            return x * np.exp(x) - value

        def df(x):
            return (1 + x) * np.exp(x)

        total += halley_root(f, df, lambda x: (2 + x) * np.exp(x), np.log(1 + value))
    return total


@program(lambda n, rng: (rng.uniform(0.5, 1.5, n), np.ones(n)), argnums=(0, 1))
def newton_system(b, start):
    """Solve x + tanh(x) mean(x) = b."""
    n = len(b)
    x = start.copy()
    residual = x + np.tanh(x) * np.mean(x) - b
    while np.sqrt(np.sum(residual**2)) > 1e-9:
        jacobian = np.eye(n)
        for i in range(n):
            jacobian[i, i] += (1 - np.tanh(x[i]) ** 2) * np.mean(x)
            for j in range(n):
                jacobian[i, j] += np.tanh(x[i]) / n
        x -= np.linalg.solve(jacobian, residual)
        residual = x + np.tanh(x) * np.mean(x) - b
    return np.sum(x**2)


@program(lambda n, rng: (0.4 + 0.2 * n,))
def bracketed_root(a):
    """Double the bracket until the sign changes, then halve it."""
    high = 0.25
    while high * np.exp(high) < a:
        high *= 2
    low = 0.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if middle * np.exp(middle) < a else (low, middle)
    for _ in range(4):
        low -= (low * np.exp(low) - a) / ((1 + low) * np.exp(low))
    return low


@program(lambda n, rng: (0.7 * n, 1.7))
def continued_fraction(a, x):
    """The incomplete gamma function's continued fraction by Lentz' method."""
    tiny = 1e-30
    b = x + 1.0 - a
    c = 1.0 / tiny
    d = 1.0 / b
    h = d
    for i in range(1, 200):
        an = -i * (i - a)
        b += 2.0
        d = an * d + b
        if abs(d) < tiny:
            d = tiny
        c = b + an / c
        if abs(c) < tiny:
            c = tiny
        d = 1.0 / d
        delta = d * c
        h *= delta
        if abs(delta - 1.0) < 1e-13:
            break
    return h


@program(lambda n, rng: (1.0 + n, 0.4 * n))
def arithmetic_geometric_mean(a, b):
    while abs(a - b) > 1e-9:
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    return 0.5 * (a + b)


@program(lambda n, rng: (0.1 * n, 2.0), argnums=(0, 1))
def golden_section(shift, width):
    ratio = (np.sqrt(5.0) - 1) / 2
    low, high = -width, width
    x1, x2 = high - ratio * (high - low), low + ratio * (high - low)
    f1, f2 = np.cosh(x1 - shift), np.cosh(x2 - shift)
    while high - low > 0.1:
        if f1 < f2:
            high, x2, f2 = x2, x1, f1
            x1 = high - ratio * (high - low)
            f1 = np.cosh(x1 - shift)
        else:
            low, x1, f1 = x1, x2, f2
            x2 = low + ratio * (high - low)
            f2 = np.cosh(x2 - shift)
    middle = (low + high) / 2
    return middle - np.tanh(middle - shift)


@program(lambda n, rng: (rng.uniform(0.2, 0.9, n), 0.5), argnums=(0, 1))
def fixed_point_with_limit(x, damping):
    error, trips = 1.0, 0
    while error > 1e-8 and trips < 100:
        new = (1 - damping) * x + damping * np.cos(x * np.mean(x))
        error = np.max(np.abs(new - x))
        x = new
        trips += 1
    return np.sum(x) + 0.01 * trips


@program(lambda n, rng: (rng.uniform(0.5, 2.0, n + 1),))
def deflated_polynomial(c):
    """Largest root by Newton, then divide the polynomial by it: synthetic division in place."""
    c = np.append(c, 1.0) * np.append(-np.ones(len(c)), 1.0)
    total = 0.0
    x = 1.0 + np.sum(np.abs(c[:-1]))
    for _ in range(60):
        value, slope = 0.0, 0.0
        for a in c[::-1]:
            slope = slope * x + value
            value = value * x + a
        step = value / slope
        x = x - step
        if abs(step) < 1e-10:
            break
    for k in range(len(c) - 2, -1, -1):
        c[k] += x * c[k + 1]
    total += x + np.sum(c[1:] ** 2)
    return total
