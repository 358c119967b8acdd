"""i: prices of a million options by Black and Scholes, by all that they depend on."""

from __future__ import annotations

from collections.abc import Callable
from math import erf, exp, log, pi, sqrt
from typing import Any

import numba
import numpy as np
from scipy import special

from benchmarks.workloads.workload import Workload, with_names

RATE = 0.03


def plain(s: Any, k: Any, t: Any, v: Any) -> Any:
    spread = v * np.sqrt(t)
    d1 = (np.log(s / k) + (RATE + 0.5 * v * v) * t) / spread
    d2 = d1 - spread
    in_d1 = 0.5 * (1 + special.erf(d1 * np.sqrt(0.5)))
    in_d2 = 0.5 * (1 + special.erf(d2 * np.sqrt(0.5)))
    return np.sum(s * in_d1 - k * np.exp(-RATE * t) * in_d2)


def by_hand(s: Any, k: Any, t: Any, v: Any) -> Any:
    n = len(s)
    s_bar, k_bar, t_bar, v_bar = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    total = 0.0
    for i in range(n):
        root = sqrt(t[i])
        spread = v[i] * root
        d1 = (log(s[i] / k[i]) + (RATE + 0.5 * v[i] * v[i]) * t[i]) / spread
        in_d1 = 0.5 * (1 + erf(d1 * sqrt(0.5)))
        in_d2 = 0.5 * (1 + erf((d1 - spread) * sqrt(0.5)))
        discount = exp(-RATE * t[i])
        total += s[i] * in_d1 - k[i] * discount * in_d2
        density = s[i] * exp(-0.5 * d1 * d1) / sqrt(2 * pi)
        s_bar[i] = in_d1
        k_bar[i] = -discount * in_d2
        v_bar[i] = density * root
        t_bar[i] = density * v[i] / (2 * root) + RATE * k[i] * discount * in_d2
    return total, s_bar, k_bar, t_bar, v_bar


def hand_vec() -> Callable[..., Any]:
    from benchmarks.vector_math import vectorised

    names = {f: vectorised(f) for f in ("erf", "exp", "log")}
    compiled: Callable[..., Any] = numba.njit(error_model="numpy", fastmath=True)(
        with_names(by_hand, **names))
    return compiled


def _with_erf(erf_of: Any, np_of: Any, *args: Any) -> Any:
    class Special:
        erf = staticmethod(erf_of)

    return with_names(plain, np=np_of, special=Special)(*args)


def in_jax(jax: Any, *args: Any) -> Any:
    return _with_erf(jax.scipy.special.erf, jax.numpy, *args)


def in_torch(torch: Any, s: Any, k: Any, t: Any, v: Any) -> Any:
    spread = v * torch.sqrt(t)
    d1 = (torch.log(s / k) + (RATE + 0.5 * v * v) * t) / spread
    in_d1 = 0.5 * (1 + torch.erf(d1 * sqrt(0.5)))
    in_d2 = 0.5 * (1 + torch.erf((d1 - spread) * sqrt(0.5)))
    return torch.sum(s * in_d1 - k * torch.exp(-RATE * t) * in_d2)


def in_autograd(autograd: Any, *args: Any) -> Any:
    from autograd.scipy.special import erf as erf_of

    return _with_erf(erf_of, autograd.numpy, *args)


def arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    n = 1_000_000
    return (r.uniform(50, 150, n), r.uniform(50, 150, n), r.uniform(0.1, 2, n),
            r.uniform(0.1, 0.5, n))


WORKLOAD = Workload(key="i", title="Black–Scholes, 1e6", plain=plain, arguments=arguments,
                    argnums=(0, 1, 2, 3), hand=numba.njit(error_model="numpy")(by_hand),
                    hand_vec=hand_vec, at_least=1, at_most=1.15,
                    forms={"JAX": in_jax, "PyTorch": in_torch, "autograd": in_autograd})
