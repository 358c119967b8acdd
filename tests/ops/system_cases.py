"""Cases for linear systems of `scipy.signal`: a function and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

__all__ = ["SYSTEM_CASES"]

B, A = np.array([0.7, 0.4]), np.array([1.3, 0.9, 1.1, 0.4])
LONG = np.array([0.3, 0.2, 0.9])
Z, P = np.array([-0.5, 0.3]), np.array([-0.9, -0.4, -1.2])
PAIRS = np.array([-0.4 + 0.8j, -0.4 - 0.8j, -1.1 + 0.3j, -1.1 - 0.3j])
W = np.array([0.2, 0.7, 1.9])
STATES = np.array([[-0.5, 0.3], [-0.2, -0.8]])
INPUT, OUTPUT, DIRECT = np.array([[0.4], [1.1]]), np.array([[0.7, -0.2]]), np.array([[0.3]])
TWO = np.array([[0.4, 0.2], [1.1, -0.3]])
TIMES = np.linspace(0.0, 2.0, 6)
DRIVE = np.array([0.1, 0.8, -0.4, 0.3, 0.9, 0.2])
X0 = np.array([0.2, -0.6])


def _of(name: str, *keys: Any, **words: Any) -> Any:
    """Return a function of arrays that calls one of SciPy's with constants behind them."""
    f = getattr(signal, name)
    return lambda *xs: f(*xs, *keys, **words)


def _system(name: str, *keys: Any, **words: Any) -> Any:
    """Return the same of arrays that are the parts of a system."""
    f = getattr(signal, name)
    return lambda *xs: f(xs, *keys, **words)


SS = (STATES, INPUT, OUTPUT, DIRECT)
_CASES: dict[str, list[tuple[Any, ...]]] = {
    **{name: [(_of(name), B, A, 1.7), (_of(name), A, B, 0.6), (_of(name), LONG, A[:3])]
       for name in ("lp2lp", "lp2hp")},
    **{name: [(_of(name), B, A, 1.7, 0.4), (_of(name), A, B, 0.6, 1.2), (_of(name), B, A)]
       for name in ("lp2bp", "lp2bs")},
    **{name: [(_of(name), Z, P, 2.0, 1.7), (_of(name), Z, PAIRS, 2.0)]
       for name in ("lp2lp_zpk", "lp2hp_zpk")},
    **{name: [(_of(name), Z, P, 2.0, 1.7, 0.4), (_of(name), Z, PAIRS, 2.0, 1.7)]
       for name in ("lp2bp_zpk", "lp2bs_zpk")},
    **{name: [(_of(name), 0.3, 4.0), (_of(name, 5.0), 0.9, 3.0)]
       for name in ("iirnotch", "iirpeak")},
    "kaiser_beta": [(_of("kaiser_beta"), x) for x in (60.0, 30.0, 12.0)],
    "kaiser_atten": [(lambda w: signal.kaiser_atten(20, w), 0.3)],
    "findfreqs": [(_of("findfreqs", 5), B, A), (_of("findfreqs", 4, kind="zp"), Z, PAIRS)],
    "freqs": [(lambda b, a, w: signal.freqs(b, a, w), B, A, W), (_of("freqs", 6), B, A)],
    "freqs_zpk": [(lambda *xs: signal.freqs_zpk(*xs), Z, P, 2.0, W),
                  (_of("freqs_zpk", 2.0, 6), Z, PAIRS)],
    "freqz_zpk": [(lambda *xs: signal.freqz_zpk(*xs), Z, P, 2.0, W),
                  (_of("freqz_zpk", 2.0, 6, whole=True), Z, PAIRS)],
    "group_delay": [(_system("group_delay", w=7), B, A), (_system("group_delay", w=W), B, A),
                    (_system("group_delay", w=W, fs=9.0), LONG, B)],
    **{name: [(_system(name, w=W), B, A), (_system(name, w=W), *SS),
              (_system(name, w=W), Z, P, 2.0), (_system(name, n=5), B, A)]
       for name in ("freqresp", "bode")},
    **{name: [(lambda *xs, name=name: getattr(signal, name)((*xs, 0.5), w=W), B, A),
              (lambda *xs, name=name: getattr(signal, name)((*xs, 0.5), n=6), *SS),
              (lambda *xs, name=name: getattr(signal, name)((*xs, 0.5), w=W), Z, P, 2.0)]
       for name in ("dfreqresp", "dbode")},
    "zpk2ss": [(_of("zpk2ss"), Z, P, 2.0)], "ss2zpk": [(_of("ss2zpk"), *SS)],
    "abcd_normalize": [(_of("abcd_normalize"), *SS), (lambda a, b: signal.abcd_normalize(
        a, b, C=X0), STATES, INPUT), (lambda d: signal.abcd_normalize(STATES, D=d), DIRECT)],
    "lsim": [(lambda *xs: signal.lsim(xs[:4], xs[4], TIMES), *SS, DRIVE),
             (lambda *xs: signal.lsim(xs[:4], xs[4], TIMES, interp=False), *SS, DRIVE),
             (lambda t, d, x: signal.lsim(SS, 0.0, t + d * np.arange(6.0), x), 0.3, 0.4, X0),
             (lambda b, a, u, x: signal.lsim((b, a), u, TIMES, x), B, A, DRIVE,
              np.append(X0, 0.4)),
             (lambda u: signal.lsim((STATES, TWO, STATES, TWO), u, TIMES),
              np.stack([DRIVE, DRIVE[::-1]], 1)), (lambda x: signal.lsim(SS, None, [0.5], x), X0)],
    **{name: [(_system(name, T=TIMES), B, A), (lambda x, name=name: getattr(signal, name)(
        SS, x, TIMES), X0[:, None] if name == "impulse" else X0), (
            _system(name, T=TIMES), *SS)] for name in ("impulse", "step")},
    "dlsim": [(lambda *xs: signal.dlsim((*xs[:4], 0.5), *xs[4:]), *SS, DRIVE),
              (lambda *xs: signal.dlsim((*xs[:4], 0.5), xs[4], x0=xs[5]), *SS, DRIVE, X0),
              (lambda b, a, u: signal.dlsim((b, a, 2.0), u), B, A, DRIVE)],
    **{name: [(lambda *xs, name=name: getattr(signal, name)((*xs, 0.5), n=5),
               STATES, TWO, STATES, TWO),
              (lambda b, a, name=name: getattr(signal, name)((b, a, 2.0), n=5), B, A)]
       for name in ("dimpulse", "dstep")},
}
T, LINE = np.linspace(-0.4, 1.1, 7), np.array([0.3, -0.8, 1.2, 0.5, -0.4, 0.9, 0.7])
IMAGE = np.sin(1.0 + np.arange(30.0) ** 2).reshape(5, 6)
BANDS, GAINS = np.array([0.0, 0.3, 0.5, 1.0]), np.array([1.0, 0.9, 0.1, 0.2])
SYMMETRIC = np.array([0.1, 0.4, 0.9, 0.4, 0.1])
SOS = np.array([[0.5, 0.2, 0.1, 1.0, -0.3, 0.1], [0.7, 0.1, 0.3, 1.0, 0.2, -0.1]])
Y = np.array([0.4, 0.9])
_CASES.update({
    "gausspulse": [(_of("gausspulse", 2.0, 0.6), T), (_of("gausspulse", retquad=True, retenv=True),
                                                      T, 1.5, 0.7, -5.0),
                   (lambda fc, bw, tpr: signal.gausspulse("cutoff", fc, bw, tpr=tpr), 3.0, 0.4,
                    -50.0)],
    "sweep_poly": [(_of("sweep_poly"), T, B, 20.0), (_of("sweep_poly"), T, A)],
    "gauss_spline": [(_of("gauss_spline", 3), T)],
    "vectorstrength": [(_of("vectorstrength"), np.cumsum(LINE ** 2), 0.7),
                       (_of("vectorstrength"), np.cumsum(LINE ** 2), np.array([0.7, 1.1]))],
    "correlation_lags": [(lambda x, mode=mode, n=n: signal.correlation_lags(len(x), n, mode), LINE)
                         for mode in ("full", "same", "valid") for n in (3, 7, 9)],
    "lfiltic": [(_of("lfiltic"), B, A, LINE), (_of("lfiltic"), A, B, Y, LONG),
                (_of("lfiltic"), LONG, A, Y, LINE[:1])],
    "sosfilt_zi": [(_of("sosfilt_zi"), SOS)],
    "medfilt2d": [(_of("medfilt2d"), IMAGE), (_of("medfilt2d", (1, 3)), IMAGE)],
    "hilbert2": [(_of("hilbert2"), IMAGE), (_of("hilbert2", 4), IMAGE),
                 (_of("hilbert2", (7, 5)), IMAGE)],
    **{name: [(_of(name), LINE), (_of(name), LINE[:1]), (_of(name), LINE[:2])]
       for name in ("cspline1d", "qspline1d")},
    **{name: [(_of(name), LINE, np.array([-3.3, 0.2, 2.7, 5.9, 8.4, 30.1])),
              (_of(name, dx=0.5, x0=0.3), LINE, T), (_of(name), LINE, T, 0.71, 0.23)]
       for name in ("cspline1d_eval", "qspline1d_eval")},
    "czt": [(_of("czt"), LINE), (_of("czt", 5), IMAGE), (_of("czt", axis=0), IMAGE),
            (lambda x, w, a: signal.czt(x, 9, w, a), LINE, 0.8 - 0.5j, 1.1 + 0.2j),
            (_of("czt"), LINE + 1j * LINE[::-1])],
    "czt_points": [(lambda w, a: signal.czt_points(6, w, a), 0.8 - 0.5j, 1.1 + 0.2j),
                   (lambda a: signal.czt_points(4, a=a), 0.5 + 0.3j)],
    "zoom_fft": [(_of("zoom_fft", 0.7), LINE), (lambda x, f: signal.zoom_fft(x, f, 9), LINE,
                                                np.array([0.2, 0.9])),
                 (_of("zoom_fft", [1.0, 2.0], 5, fs=6.0, endpoint=True, axis=0), IMAGE)],
    "invresz": [(lambda r, p, k: signal.invresz(r, p, k), A[:3], np.array([0.3, -0.5, 0.9]), B),
                (_of("invresz", []), A[:3], np.array([0.3, -0.5, 0.9]))],
    "firls": [(lambda b, d: signal.firls(7, b * 0.9 + 0.01, d), BANDS, GAINS), (
        lambda d, w: signal.firls(5, BANDS, d, weight=w, fs=2.4), GAINS, Y)],
    "firwin2": [(lambda g: signal.firwin2(9, BANDS, g), GAINS), (lambda f, g: signal.firwin2(
        9, np.concatenate([[0.0], f, [1.5]]), g, fs=3.0, nfreqs=33, window=None), BANDS[1:3],
        GAINS), (lambda g: signal.firwin2(8, BANDS, np.append(g, 0.0), window="hann"), GAINS[:3]),
        (lambda g: signal.firwin2(7, BANDS, np.concatenate([[0.0], g, [0.0]]),
                                  antisymmetric=True), GAINS[:2])],
    "minimum_phase": [(lambda h, half=half: signal.minimum_phase(
        np.concatenate([h, h[:2][::-1]]), half=half),
                       SYMMETRIC[:3]) for half in (True, False)],
    "cheb1ap": [(lambda r, n=n: signal.cheb1ap(n, r), 0.8) for n in (1, 3, 4)],
    "cheb2ap": [(lambda r, n=n: signal.cheb2ap(n, r), 20.0) for n in (1, 3, 4)],
    "iircomb": [(lambda q, kind=kind, zero=zero: signal.iircomb(2.0, q, kind, 10.0, pass_zero=zero),
                 30.0) for kind in ("notch", "peak") for zero in (True, False)],
    "gammatone": [(lambda f: signal.gammatone(f, "iir", fs=16000.0), 440.0), (
        lambda f: signal.gammatone(f, "fir", fs=160.0, numtaps=9), 20.0)],
})
PEAKS = np.array([2, 5])
BIG = np.sin(1.0 + np.arange(120.0) ** 2).reshape(10, 12)
_CASES.update({
    "peak_prominences": [(_of("peak_prominences", PEAKS), LINE), (_of("peak_prominences", PEAKS, 3),
                                                                  LINE)],
    "peak_widths": [(_of("peak_widths", PEAKS), LINE), (_of("peak_widths", [2, 5], wlen=3), LINE,
                    ), (lambda x, r: signal.peak_widths(x, PEAKS, r), LINE, 0.3)],
    "cspline2d": [(_of("cspline2d", precision=0.1), BIG)],
    "qspline2d": [(_of("qspline2d", precision=0.1), BIG)],
    "spline_filter": [(_of("spline_filter", 0.5), np.sin(1.0 + np.arange(900.0) ** 2).reshape(
        30, 30))],
    "sepfir2d": [(_of("sepfir2d"), IMAGE, LONG, SYMMETRIC)],
    "symiirorder1": [(_of("symiirorder1", 0.4, 0.1, 1e-3), LINE), (_of("symiirorder1", 0.4, 0.1,
                                                                        1e-3), IMAGE)],
    "symiirorder2": [(_of("symiirorder2", 0.2, 0.7, 0.01), BIG)],
})
SYSTEM_CASES = {f"scipy.signal.{name}": cases for name, cases in _CASES.items()}
