"""Fast Hankel transforms of `scipy.fft`: products of spectra between powers of the places."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.taking import captures_of_finite, constant_of

__all__: list[str] = []


def _transform(name: str, before: Callable[..., np.ndarray],
               behind: Callable[..., np.ndarray]) -> Any:
    """Return a transform, whose spectrum SciPy's own transform of a single 1 tells.

    before, behind -- (places, offset) to the powers of exp(bias) that are multiplied with
    """
    def capture(a: object, dln: object, mu: object, offset: object = 0.0,
                bias: object = 0.0) -> Any:
        x: Any = as_inexact(a)
        step, order, away, power = (constant_of(v, f"scipy.fft.{name}") for v in (
            dln, mu, offset, bias))
        n = known_length(np.moveaxis(x, -1, 0), "the length of a Hankel transform")
        places = (np.arange(n) - (n - 1) / 2) * step
        first, last = (np.exp(power * f(places, away)) for f in (before, behind))
        one = np.zeros(n)
        one[0] = 1.0
        fft: Any = sys.modules["scipy.fft"]
        answer = getattr(fft, name)(one, step, order, offset=away, bias=power)
        spectrum = np.fft.rfft((answer / last)[::-1] / first[0])
        turned = np.fft.irfft(np.fft.rfft(x * as_tracer(first)) * as_tracer(spectrum), n)
        return turned[..., ::-1] * as_tracer(last)

    return capture


captures_of_finite("scipy.fft", {
    "fht": _transform("fht", lambda t, o: -t, lambda t, o: -(t + o)),
    "ifht": _transform("ifht", lambda t, o: t + o, lambda t, o: t)})
