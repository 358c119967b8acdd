"""Cases for filters that `scipy.signal` designs, and for forms of linear systems."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

__all__ = ["DESIGN_CASES"]

RNG = np.random.default_rng(3)
B, A = np.array([1.0, 0.4, 0.2]), np.array([1.5, -0.6, 0.9, 0.3])
BOTH = np.array([0.2, 0.45])
STATES, INPUTS = RNG.standard_normal((3, 3)), RNG.standard_normal((3, 2))
OUTPUTS, DIRECT = RNG.standard_normal((2, 3)), RNG.standard_normal((2, 2))
ENDS, POLES = np.array([0.5, 0.2, -0.3, 0.8]), np.array([0.6, 0.5, 0.9, -0.2, 0.1])
"""The parts of a pair, then real ones: `_paired` makes zeros and poles of them."""
SECTIONS = signal.ellip(5, 1.0, 40.0, 0.3, output="sos") + np.array(
    [0.01, 0.02, 0.03, 0.0, 0.02, 0.01])
FEWER = np.array([[1.0, -3.0, 2.0, 1.0, -0.7, 0.1], [0.0, 1.0, 2.0, 1.0, 0.5, 0.2]])
"""Sections of which one is of first degree, as long as its zero stays one."""
SYSTEM = (STATES, INPUTS, OUTPUTS, DIRECT)


def _paired(x: Any) -> Any:
    """Return a number with its conjugate, of its parts, and real ones: they stay so if moved."""
    return np.concatenate([np.stack([x[0] + 1j * x[1], x[0] - 1j * x[1]]), x[2:]])


DESIGN_CASES: dict[str, list[tuple[Any, ...]]] = {
    "butter": [
        (lambda w: signal.butter(3, w), 0.3),
        *((lambda w, n=n, b=b, a=a, o=o: signal.butter(n, w, b, a, o), w)
          for n in (1, 2, 3, 4, 5) for b in ("low", "high") for a in (False, True)
          for o in ("ba", "zpk", "sos") for w in (0.2, 0.75)),
        *((lambda w, n=n, b=b, a=a, o=o: signal.butter(n, w, b, a, o), BOTH) for n in (1, 2, 3)
          for b in ("band", "stop") for a in (False, True) for o in ("ba", "zpk")),
        (lambda w, f: signal.butter(3, w, fs=f), 10.0, 100.0),
        (lambda w, x: signal.lfilter(*signal.butter(2, w), x), 0.3, B),
        (lambda w, x: signal.sosfilt(signal.butter(3, w, output="sos"), x), 0.3, B),
        (lambda x: x * signal.butter(3, [0.2, 0.4], "band", output="sos").sum(), 1.5)],
    "cheby1": [(lambda w: signal.cheby1(4, 1.0, w), 0.3), (
        lambda w: signal.cheby1(3, 1.0, w, "high", output="sos"), 0.3)],
    "cheby2": [(lambda w: signal.cheby2(3, 40.0, w, "high"), 0.3), (
        lambda w: signal.cheby2(4, 40.0, w, output="sos"), 0.3)],
    "ellip": [(lambda w: signal.ellip(4, 1.0, 40.0, w), 0.3),
              (lambda w: signal.ellip(1, 1.0, 40.0, w), 0.3),
              *((lambda w, b=b, a=a: signal.ellip(3, 1.0, 40.0, w, b, a, "sos"), BOTH)
                for b in ("band", "stop") for a in (False, True)),
              (lambda w: signal.ellip(2, 1.0, 40.0, w, btype="bandpass"), BOTH)],
    "bessel": [(lambda w, n=n: signal.bessel(4, w, norm=n), 0.3)
               for n in ("phase", "delay", "mag")],
    "iirfilter": [(lambda w: signal.iirfilter(2, w), BOTH), (
        lambda w: signal.iirfilter(4, w, 1.0, 40.0, "lowpass", ftype="ellip"), 0.3)],
    "bilinear": [(signal.bilinear, B, A), (signal.bilinear, A, B), (
        lambda b, a, f: signal.bilinear(b, a, f), B, A, 3.0)],
    "bilinear_zpk": [(lambda z, p, k, f: signal.bilinear_zpk(z, p, k, f), B, A, 2.0, 3.0)],
    "zpk2sos": [*((lambda z, p, k, h=h: signal.zpk2sos(_paired(z), _paired(p), k, h), ENDS,
                   POLES[:n], 2.0)
                  for h, n in ((None, 5), ("nearest", 4), ("keep_odd", 5), ("minimal", 5))),
                (lambda z, p, k: signal.zpk2sos(_paired(z), _paired(p), k, analog=True),
                 ENDS[:2], POLES, 2.0),
                (lambda z, p, k: signal.zpk2sos(z, p, k), ENDS[2:], POLES[2:], 2.0)],
    "residue": [(signal.residue, B, A), (signal.residue, A, B)],
    "residuez": [(signal.residuez, B, A), (signal.residuez, A, B)],
    "invres": [(lambda r, p, k: signal.invres(r, p, k), A[:3], np.array([0.3, -0.5, 0.9]), B[:2]), (
        lambda b, a: [np.real(x) for x in signal.invres(*signal.residue(b, a))], A, B)],
    "tf2sos": [(signal.tf2sos, B, A), (lambda b, a: signal.tf2sos(b, a, "keep_odd"), B, A)],
    "sos2tf": [(signal.sos2tf, SECTIONS)],
    "sos2zpk": [(signal.sos2zpk, SECTIONS), (
        lambda s: signal.sos2zpk(s * (FEWER != 0.0)), FEWER)],
    "tf2zpk": [(signal.tf2zpk, B, A[:3])],
    "zpk2tf": [(signal.zpk2tf, B, A, 2.0), (
        lambda b, a: signal.zpk2tf(*signal.tf2zpk(b, a)), B, A)],
    "tf2ss": [(signal.tf2ss, B, A), (signal.tf2ss, np.stack([B, 2.0 * B[::-1]]), A),
              (signal.tf2ss, B[:1], A[:1])],
    "ss2tf": [(lambda b, a: signal.ss2tf(*signal.tf2ss(b, a)), B, A),
              (lambda *s: signal.ss2tf(*s, input=1), *SYSTEM)],
    "normalize": [(signal.normalize, B, A)],
    "cont2discrete": [
        *((lambda a, b, c, d, h, m=m: signal.cont2discrete((a, b, c, d), h, m), *SYSTEM, 0.3)
          for m in ("zoh", "foh", "bilinear", "euler", "backward_diff")),
        (lambda a, b, c, h: signal.cont2discrete((a, b, c, np.zeros((2, 2))), h, "impulse"),
         *SYSTEM[:3], 0.3),
        (lambda a, b, c, d, h, r: signal.cont2discrete((a, b, c, d), h, "gbt", r), *SYSTEM, 0.3,
         0.4),
        (lambda b, a, h: signal.cont2discrete((b, a), h), B, A, 0.3),
        (lambda p, k, h: signal.cont2discrete(([], p, k), h)[2] * 1.0, -A[:2] ** 2, 2.0, 0.3)],
    "firwin": [
        *((lambda w, n=n: signal.firwin(n, w), 0.3) for n in (7, 8)),
        (lambda w: signal.firwin(7, w, pass_zero="highpass"), 0.3),
        (lambda w: signal.firwin(8, w, pass_zero=False), BOTH),
        (lambda w: signal.firwin(9, w, pass_zero="bandstop", window=("kaiser", 3.0), fs=4.0), BOTH),
        (lambda w: signal.firwin(9, w, width=0.2, scale=False), 0.4)],
}
