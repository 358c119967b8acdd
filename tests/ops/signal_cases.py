"""Cases for functions of `scipy.signal` and `scipy.ndimage`: a function and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage, signal

MATRIX = np.array([[0.913, 0.217], [-0.109, 1.137]])

__all__ = ["SIGNAL_CASES"]

RNG = np.random.default_rng(1)
S, T, Q = (RNG.standard_normal(n) for n in (64, (2, 70), 64))
LINE, IMAGE, CUBE = (RNG.standard_normal(n) for n in (12, (8, 9), (4, 5, 3)))
SOS = signal.butter(4, [0.1, 0.3], "band", output="sos")
B, A = np.array([1.0, 0.4, 0.2]), np.array([1.0, -0.3, 0.1])
TIME = np.linspace(0.0, 2.0, 9)
FAR = np.array([[-0.7, -2.3, 3.2, 8.6, -15.2], [1.2, -5.1, 9.4, 2.2, -30.2]])
WEIGHTS = RNG.standard_normal((3, 2))
PLACES = np.array([[1.55, 2.55, -0.95, 7.05], [2.25, 3.35, 1.05, 8.05]])
WIDTH = 0.8

SIGNAL_CASES: dict[str, list[tuple[Any, ...]]] = {}


def _enter(module: Any, cases: dict[str, list[tuple[Any, ...]]]) -> None:
    """Enter cases: of each the arguments and, if the last is a dict, keywords."""
    for name, given in cases.items():
        function = getattr(module, name)
        for args in given:
            words = args[-1] if isinstance(args[-1], dict) else {}
            plain = args[:-1] if words else args
            SIGNAL_CASES.setdefault(f"{module.__name__}.{name}", []).append(
                (lambda *xs, f=function, w=words: f(*xs, **w), *plain))


_enter(signal, {
    "welch": [(S, {"nperseg": 16}), (T, {"window": "hamming", "nperseg": 20, "noverlap": 5,
                                         "nfft": 32, "detrend": "linear", "scaling": "spectrum"}),
              (S,), (T, {"nperseg": 2, "axis": 0, "detrend": False, "return_onesided": False})],
    "csd": [(S, Q, {"nperseg": 16}), (S[:40], Q, {"nperseg": 16})],
    "coherence": [(S, Q, {"nperseg": 16})],
    "periodogram": [(S, 2.0), (T, {"window": "hann", "nfft": 100, "scaling": "spectrum"}),
                    (S, {"nfft": 40})],
    "spectrogram": [(S, 2.0, {"nperseg": 16}), *((S, {"nperseg": 16, "mode": m}) for m in (
        "complex", "magnitude", "angle"))],
    "stft": [(S, {"nperseg": 16}), (T, 3.0, {"window": "hamming", "nperseg": 15, "noverlap": 4,
                                             "nfft": 30, "boundary": None, "scaling": "psd"}),
             (T, {"nperseg": 24, "padded": False})],
    "resample": [(S, {"num": n}) for n in (40, 63, 64, 65, 90)] + [(T, {"num": 41, "axis": 1})],
    "upfirdn": [(B, S, {"up": 2, "down": 3}), (B, T), (B, S, {"down": 2})],
    "resample_poly": [(S, {"up": 3, "down": 2}), (T, {"up": 2, "down": 5, "axis": 1})],
    "decimate": [(S, {"q": 2}), (S, {"q": 3, "ftype": "fir"}), (T, {"q": 2, "axis": 1})],
    "medfilt": [(S, {"kernel_size": 5}), (T, {"kernel_size": (1, 3)})],
    "wiener": [(S, {"mysize": 5}), (S, {"noise": 0.5})],
    "chirp": [(TIME, 1.0, 2.0, 3.0, {"method": m, "phi": 30.0}) for m in (
        "linear", "quadratic", "logarithmic")] + [
            (TIME, 1.0, 2.0, 3.0, {"method": "quadratic", "vertex_zero": False})],
    "sawtooth": [(6.0 * TIME + 0.1, 0.3), (6.0 * TIME + 0.1,)],
    "freqz": [(B, A, {"worN": 16}), (B, A, {"worN": [0.1, 0.3], "fs": 2.0}),
              (B, {"worN": 5, "include_nyquist": True}), (B, A, np.array([0.1, 0.4]))],
})
SIGNAL_CASES["scipy.signal.welch"].append(
    (lambda x, w: signal.welch(x, 2.0, w), S, np.hanning(12) + 0.1))
SIGNAL_CASES["scipy.signal.resample_poly"].append(
    (lambda x, h: signal.resample_poly(x, 2, 4, window=h), S, np.array([1.0, 2.0, 1.0])))
SIGNAL_CASES["scipy.signal.sosfiltfilt"] = [
    (lambda x: signal.sosfiltfilt(SOS, x), S), (lambda x: signal.sosfiltfilt(
        SOS, x, axis=1, padtype="even", padlen=10), T),
    (lambda x: signal.sosfiltfilt(signal.butter(3, 0.3, output="sos"), x, padtype=None), S)]
SIGNAL_CASES["scipy.signal.freqz_sos"] = SIGNAL_CASES["scipy.signal.sosfreqz"] = [
    (lambda s: signal.freqz_sos(np.concatenate([s[:, :3], np.ones((4, 1)), s[:, 3:]], axis=1), 16,
                                fs=3.0), np.delete(SOS, 3, 1))]
SIGNAL_CASES["scipy.signal.sosfilt"] = [
    (lambda x, z, axis=axis: signal.sosfilt(SOS, x, axis, z), x, RNG.standard_normal(shape))
    for x, axis, shape in ((S, -1, (4, 2)), (T, 1, (4, 2, 2)), (T.T, 0, (4, 2, 2)))]
SHORT = signal.stft(T, nperseg=8, noverlap=5)[2]
_enter(signal, {
    "istft": [(SHORT, 2.0, {"nperseg": 8, "noverlap": 5}), (SHORT.real.copy(), {"boundary": False}),
              (SHORT.astype(np.complex64), {"window": "hamming", "nfft": 8, "scaling": "psd"}),
              (SHORT, {"input_onesided": False, "noverlap": 1}),
              *((SHORT, {"time_axis": t, "freq_axis": f}) for t, f in ((0, 1), (1, 0), (2, 0)))],
    "order_filter": [(LINE, {"domain": np.ones(3), "rank": 1}), (IMAGE, {
        "domain": np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]]), "rank": -2})],
    "square": [(6.0 * TIME + 0.1,), (6.0 * TIME + 0.1, 0.3)],
    "deconvolve": [(LINE, A), (LINE[:3], A), (LINE[:1], np.array([2.0])), (LINE + 1j, B)],
    "envelope": [(LINE[:n], {"bp_in": band, "residual": rest, "n_out": m}) for n in (11, 12)
                 for band in ((1, None), (None, None), (2, 4), (0, 3), (-3, 4), (-3, -1))
                 for rest, m in (("lowpass", None), ("all", 8), (None, 15))] + [
        (LINE + 1j * LINE[::-1], {"residual": None}), (IMAGE, {"axis": 0, "squared": True})],
    "lombscargle": [(np.sort(LINE), TIME[1] * LINE, TIME[1:], {
        "normalize": kind, "floating_mean": floats, "weights": weights})
        for kind in (False, True, "amplitude") for floats in (False, True)
        for weights in (None, LINE ** 2)],
})
_enter(ndimage, {
    "sobel": [(IMAGE, {"axis": 0}), (IMAGE, {"mode": "nearest"}), (CUBE,)],
    "prewitt": [(IMAGE, {"mode": "wrap"}), (IMAGE, {"axis": 0, "mode": "constant", "cval": 2.0})],
    "laplace": [(IMAGE,), (CUBE, {"mode": "mirror"})],
    "gaussian_laplace": [(IMAGE, {"sigma": 1.0}), (IMAGE, {"sigma": (1.0, 0.7)})],
    "gaussian_filter1d": [(LINE, {"sigma": 1.2, "order": k}) for k in (1, 2, 3)],
    "convolve": [(IMAGE, WEIGHTS), (IMAGE, WEIGHTS, {"origin": (1, -1)}),
                 (LINE, WEIGHTS[:, 0], {"mode": "wrap"})],
    "correlate": [(IMAGE, WEIGHTS, {"mode": "constant", "cval": 0.3}),
                  (LINE, WEIGHTS[:2, 0], {"mode": "mirror"})],
    "uniform_filter": [(IMAGE, {"size": 3}), (IMAGE, {"size": (2, 4)}),
                       (IMAGE, {"size": (3, 2), "origin": (1, -1), "mode": "wrap"})],
    "correlate1d": [(IMAGE, WEIGHTS[:, 0], {"origin": 1})],
    "convolve1d": [(IMAGE, WEIGHTS[:2, 0], {"origin": -1, "axis": 0})],
    "maximum_filter": [(IMAGE, {"size": 3, "origin": -1})],
    "minimum_filter": [(IMAGE, {"size": (2, 3)})],
    "median_filter": [(IMAGE, {"size": 3}), (IMAGE, {"size": (2, 2), "mode": "constant"})],
    "maximum_filter1d": [(IMAGE, {"size": 3})],
    "minimum_filter1d": [(IMAGE, {"size": 4, "axis": 0})],
    "map_coordinates": [(IMAGE, PLACES, {"order": 1}), (IMAGE, PLACES, {
        "order": 1, "mode": "nearest"}), (IMAGE, PLACES, {"order": 0}), (IMAGE, PLACES)] + [
            (IMAGE, FAR, {"order": k, "mode": mode, "cval": 0.3}) for k, modes in (
                (0, ("constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap")),
                (1, ("mirror", "wrap", "grid-constant")),
                (2, ("constant", "nearest", "mirror", "reflect", "grid-wrap", "wrap")),
                (3, ("constant", "nearest", "mirror", "reflect", "grid-wrap", "grid-mirror",
                     "wrap", "grid-constant")),
                (4, ("constant", "nearest", "mirror", "grid-wrap")),
                (5, ("nearest", "reflect", "grid-constant")))
            for mode in modes] + [
            (IMAGE, FAR, {"order": k, "mode": mode, "prefilter": False}) for k, mode in (
                (1, "reflect"), (2, "nearest"), (3, "constant"))],
    "shift": [(IMAGE, np.array([0.5, -1.2]), {"order": 1}), (IMAGE, 0.4, {
        "order": 1, "mode": "nearest"}), (IMAGE[:2], np.array([0.3, -1.6])), (
            IMAGE, 0.4, {"order": 2, "mode": "reflect"})],
    "center_of_mass": [(IMAGE ** 2,)],
    "zoom": [(IMAGE, {"zoom": 1.7}), (IMAGE, {"zoom": (0.6, 2.0), "order": 1}), (
        IMAGE, {"zoom": (1, 0.2), "mode": "mirror", "order": 2}), (IMAGE, {"zoom": 1.0})],
    "affine_transform": [(IMAGE, MATRIX, np.array([0.31, -0.23]), {"mode": "reflect"}), (
        IMAGE, np.array([0.713, 0.517]), np.array([0.317, 0.219]), {"order": 1}), (
            IMAGE, np.append(MATRIX, [[0.37], [-0.21]], axis=1), {"output_shape": (3, 4)})],
})
SIGNAL_CASES["scipy.ndimage.affine_transform"].append((
    lambda x, m: ndimage.affine_transform(x, np.concatenate([m, np.array([[0.0, 0.0, 1.0]])])),
    IMAGE, np.append(MATRIX, [[0.37], [-0.21]], axis=1)))
SIGNAL_CASES["scipy.ndimage.rotate"] = [
    (lambda x, t: ndimage.rotate(x, t, reshape=False, mode="reflect"), IMAGE, 33.0),
    (lambda x: ndimage.rotate(x, 33.0, cval=0.5), IMAGE),
    (lambda x: ndimage.rotate(x, 90.0, axes=(0, 1), order=1), IMAGE)]
SIGNAL_CASES["scipy.ndimage.gaussian_gradient_magnitude"] = [
    (lambda x: ndimage.gaussian_gradient_magnitude(x, WIDTH), IMAGE)]
SIGNAL_CASES["scipy.ndimage.gaussian_filter"] = [
    (lambda x: ndimage.gaussian_filter(x, (1.0, 0.6), order=(0, 1)), IMAGE),
    (lambda x: ndimage.gaussian_filter(x, WIDTH, 1), IMAGE)]
