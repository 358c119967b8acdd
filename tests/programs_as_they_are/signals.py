"""Signal processing: transforms, envelopes, splines, detection."""

import numpy as np

from programs_as_they_are.table import program


@program(lambda n, rng: (rng.standard_normal(n), np.linspace(0, 1, n)), sizes=(8, 32))
def stockham_fft(x, weights):
    n = len(x)
    a = x.astype(complex)
    b = np.empty_like(a)
    half, stride = n // 2, 1
    while half >= 1:
        for p in range(half):
            w = np.exp(-1j * np.pi * p / half)
            for q in range(stride):
                u = a[q + stride * p]
                v = a[q + stride * (p + half)]
                b[q + stride * 2 * p] = u + v
                b[q + stride * (2 * p + 1)] = (u - v) * w
        a, b = b, a
        half //= 2
        stride *= 2
    return np.sum(weights * np.abs(a) ** 2)


def fft(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = fft(x[::2]), fft(x[1::2])
    t = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + t, even - t])


@program(lambda n, rng: (rng.standard_normal(n),), sizes=(8, 16), compilations=2)
def spectral_flatness(x):
    power = np.abs(fft(x * np.hanning(len(x))))[1:len(x) // 2] ** 2
    return np.exp(np.mean(np.log(power))) / np.mean(power)


def natural_spline(x, y):
    """Return second derivatives at the knots by Thomas's algorithm."""
    n = len(x)
    h = np.diff(x)
    m = np.zeros(n)
    if n < 3:
        return m
    diagonal = 2 * (h[:-1] + h[1:])
    right = 6 * (np.diff(y[1:]) / h[1:] - np.diff(y[:-1]) / h[:-1])
    d, r = diagonal.copy(), right.copy()
    for i in range(1, n - 2):
        w = h[i] / d[i - 1]
        d[i] -= w * h[i]
        r[i] -= w * r[i - 1]
    for i in range(n - 3, -1, -1):
        m[i + 1] = (r[i] - (h[i + 1] * m[i + 2] if i < n - 3 else 0)) / d[i]
    return m


def evaluate_spline(x, y, m, t):
    i = min(max(np.searchsorted(x, t) - 1, 0), len(x) - 2)
    h = x[i + 1] - x[i]
    a, b = (x[i + 1] - t) / h, (t - x[i]) / h
    return a * y[i] + b * y[i + 1] + ((a ** 3 - a) * m[i] + (b ** 3 - b) * m[i + 1]) * h * h / 6


@program(lambda n, rng: (rng.standard_normal(n).cumsum(), 0.1 * rng.standard_normal(n)),
         argnums=(0, 1), sizes=(5, 12))
def arc_length_of_spline(y, jitter):
    x = np.arange(len(y)) + jitter
    m = natural_spline(x, y)
    ts = np.linspace(x[0], x[-1], 40)
    values = np.array([evaluate_spline(x, y, m, t) for t in ts])
    return np.sum(np.hypot(np.diff(ts), np.diff(values)))


@program(lambda n, rng: (np.sin(np.arange(10 * n) * 0.7) + 0.1 * rng.standard_normal(10 * n),),
         sizes=(4, 7))
def sifted_mean_envelope(x):
    """One sifting of empirical mode decomposition."""
    t = np.arange(len(x))
    inner = x[1:-1]
    tops = np.where((inner > x[:-2]) & (inner > x[2:]))[0] + 1
    bottoms = np.where((inner < x[:-2]) & (inner < x[2:]))[0] + 1
    if len(tops) < 2 or len(bottoms) < 2:
        return x.sum()
    envelope = np.zeros(len(x))
    for knots in (tops, bottoms):
        m = natural_spline(knots.astype(float), x[knots])
        for k in range(len(x)):
            envelope[k] += evaluate_spline(t[knots], x[knots], m, float(t[k])) / 2
    return np.mean((x - envelope) ** 2)


@program(lambda n, rng: (rng.uniform(0, 3, n).cumsum(), 0.5), sizes=(6, 10))
def monotone_spline_energy(y, at):
    """Fritsch and Carlson's slopes, and the curve between knots."""
    n = len(y)
    delta = np.diff(y)
    m = np.r_[delta[0], (delta[:-1] + delta[1:]) / 2, delta[-1]]
    for k in range(n - 1):
        if delta[k] == 0:
            m[k] = m[k + 1] = 0
            continue
        a, b = m[k] / delta[k], m[k + 1] / delta[k]
        if a < 0 or b < 0:
            m[k] = 0
        elif (s := a * a + b * b) > 9:
            tau = 3 / np.sqrt(s)
            m[k], m[k + 1] = tau * a * delta[k], tau * b * delta[k]
    t = at
    h00, h10 = (1 + 2 * t) * (1 - t) ** 2, t * (1 - t) ** 2
    h01, h11 = t * t * (3 - 2 * t), t * t * (t - 1)
    curve = h00 * y[:-1] + h10 * m[:-1] + h01 * y[1:] + h11 * m[1:]
    return np.sum(curve ** 2)
