"""Signals and their spectra, with NumPy's and SciPy's own functions for them."""

import numpy as np
from scipy import signal
from scipy.interpolate import CubicSpline

from programs_as_they_are.table import program


@program(lambda n, rng: (rng.standard_normal(2 * n), 0.3), argnums=(0, 1))
def low_pass_energy(x, cut):
    X = np.fft.rfft(x)
    f = np.fft.rfftfreq(len(x))
    y = np.fft.irfft(X / (1 + (f / cut) ** 4), n=len(x))
    return np.sum(y ** 2)


@program(lambda n, rng: (rng.standard_normal(3 * n),), sizes=(4, 7))
def spectral_entropy(x):
    window = np.hanning(len(x))
    power = np.abs(np.fft.fft(x * window)) ** 2
    p = power / power.sum()
    return -np.sum(p * np.log(p))


@program(lambda n, rng: (np.array([0.3, 0.2]), np.array([1.0, -0.6, 0.1]),
                         rng.standard_normal(4 * n)), argnums=(0, 1, 2))
def filtered_variance(b, a, x):
    return np.var(signal.lfilter(b, a, x))


@program(lambda n, rng: (rng.standard_normal((n, n + 1)), 0.4), argnums=(0, 1))
def blur_and_compare(image, width):
    k = np.exp(-0.5 * (np.arange(-2, 3) / width) ** 2)
    kernel = np.outer(k, k) / k.sum() ** 2
    blurred = signal.convolve2d(image, kernel, mode="same")
    return np.sum((image - blurred) ** 2)


@program(lambda n, rng: (rng.standard_normal(n), np.linspace(0, 1, n), np.linspace(0.05, 0.95, 7)),
         argnums=(0,))
def spline_roughness(y, x, at):
    spline = CubicSpline(x, y, bc_type="natural")
    return np.trapezoid(spline(at) ** 2, at) + spline(at, 1).sum()


@program(lambda n, rng: (rng.standard_normal(n), np.sort(rng.uniform(0, 1, n)), 2),
         argnums=(0,), differences=1e-5)
def detrended_power(y, t, degree):
    coefficients = np.polyfit(t, y, degree)
    residual = y - np.polyval(coefficients, t)
    return np.sum(residual ** 2) + np.trapezoid(np.unwrap(y), t)


@program(lambda n, rng: (rng.standard_normal(5 * n), 0.7), argnums=(0, 1))
def matched_filter(x, decay):
    template = np.apply_along_axis(lambda r: r / np.linalg.norm(r), 0,
                                   np.exp(-decay * np.arange(5.0))[:, None])[:, 0]
    score = np.convolve(x, template[::-1], "valid")
    return np.nanmax(score) + np.nanstd(score) + np.ediff1d(score)[0]
