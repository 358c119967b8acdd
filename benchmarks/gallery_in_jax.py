"""The gallery's functions in JAX: their own source with `jax.numpy`, or a form with `lax.scan`.

A form is a function of (jax, the example's module) that returns a function of the same arguments.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["in_jax"]

Form = Callable[[Any, ModuleType], Callable[..., Any]]


def _as_it_is(function: str) -> Form:
    """Return the form that is an example's own source with other names for its libraries."""

    def form(jax: Any, example: ModuleType) -> Callable[..., Any]:
        spec = importlib.util.spec_from_file_location(f"{example.__name__}_in_jax",
                                                      str(example.__file__))
        assert spec is not None and spec.loader is not None
        copy = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(copy)
        theirs = {"np": jax.numpy, "expm": jax.scipy.linalg.expm,
                  "gammaln": jax.scipy.special.gammaln, "cho_solve": jax.scipy.linalg.cho_solve,
                  "cho_factor": jax.scipy.linalg.cho_factor}
        vars(copy).update({name: value for name, value in theirs.items() if hasattr(copy, name)})
        return getattr(copy, function)

    return form


def _cart_pole(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy
    motion = _as_it_is("motion")(jax, example)

    def cost(pushes: Any, weight: Any) -> Any:
        h = example.DURATION / len(pushes)

        def step(x: Any, u: Any) -> Any:
            k1 = motion(x, u)
            k2 = motion(x + h / 2 * k1, u)
            k3 = motion(x + h / 2 * k2, u)
            k4 = motion(x + h * k3, u)
            return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        last, _ = jax.lax.scan(step, jnp.zeros(4), pushes)
        missed = last - jnp.array([1.0, jnp.pi, 0.0, 0.0])
        return h * jnp.sum(pushes ** 2) + weight * jnp.sum(missed ** 2)

    return cost


def _inverse_lqr(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def mismatch(log_q: Any, A: Any, B: Any, R: Any, seen: Any, horizon: int) -> Any:
        Q = jnp.diag(jnp.exp(log_q))

        def step(carry: Any, _: Any) -> Any:
            P, _ = carry
            K = jnp.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
            return (Q + A.T @ P @ (A - B @ K), K), None

        (_, K), _ = jax.lax.scan(step, (Q, jnp.zeros_like(seen)), None, length=horizon)
        return jnp.sum((K - seen) ** 2)

    return mismatch


def _american_put(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def put(market: Any, steps: int) -> Any:  # arrays keep their length: what is beyond is unused
        S, K, r, sigma, T = market
        dt = T / steps
        u = jnp.exp(sigma * jnp.sqrt(dt))
        p = (jnp.exp(r * dt) - 1 / u) / (u - 1 / u)
        discount = jnp.exp(-r * dt)
        k = jnp.arange(steps + 1)

        def step(value: Any, n: Any) -> Any:
            price = S * u ** (2.0 * k - n)
            waiting = discount * (p * jnp.roll(value, -1) + (1 - p) * value)
            return jnp.maximum(K - price, waiting), None

        value = jnp.maximum(K - S * u ** (2.0 * k - steps), 0.0)
        return jax.lax.scan(step, value, jnp.arange(steps - 1.0, -1.0, -1.0))[0][0]

    return put


def _seir(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def minus_log_likelihood(scaled: Any, counts: Any) -> Any:
        before, after, day, a, c, first = jnp.exp(scaled)
        h, N = 0.1, example.PEOPLE

        def step(state: Any, t: Any) -> Any:
            S, E, ill = state
            b = after + (before - after) / (1.0 + jnp.exp(t - day))
            dS, dE, dI = -b * S * ill / N, b * S * ill / N - a * E, a * E - c * ill
            S1, E1, I1 = S + h * dS, E + h * dE, ill + h * dI
            new = (S + h / 2 * (dS - b * S1 * I1 / N), E + h / 2 * (dE + b * S1 * I1 / N - a * E1),
                   ill + h / 2 * (dI + a * E1 - c * I1))
            return new, h / 2 * a * (E + E1)

        start = example.PEOPLE - first, 0.0 * first, first
        _, cases = jax.lax.scan(step, start, h * jnp.arange(10 * len(counts)))
        expected = jnp.sum(cases.reshape(-1, 10), axis=1)
        return jnp.sum(expected - counts * jnp.log(expected))

    return minus_log_likelihood


def _heston(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy
    characteristic = _as_it_is("characteristic")(jax, example)

    def misfit(parameters: Any, prices: Any, S: Any, strikes: Any, maturities: Any, u: Any,
               w: Any) -> Any:
        def of_maturity(T: Any) -> Any:
            phi = characteristic(u - 0.5j, T, *parameters)
            k = jnp.log(S / strikes) + example.RATE * T
            integrand = jnp.real(jnp.exp(1j * k[:, None] * u) * phi) / (u ** 2 + 0.25)
            forward = jnp.sqrt(S * strikes) * jnp.exp(-example.RATE * T / 2) / jnp.pi
            return S - forward * (integrand @ w)

        return jnp.sum((jax.vmap(of_maturity)(maturities) - prices) ** 2)

    return misfit


def _thin_film(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def mean_reflectance(thickness: Any, index: Any, wavelength: Any) -> Any:
        M = jnp.broadcast_to(jnp.eye(2, dtype=complex), (len(wavelength), 2, 2))
        for k in range(len(thickness)):
            n = index[k]
            a = 2 * jnp.pi * n * thickness[k] / wavelength
            layer = jnp.array([[jnp.cos(a), 1j * jnp.sin(a) / n],
                               [1j * n * jnp.sin(a), jnp.cos(a)]])
            M = M @ layer.transpose(2, 0, 1)
        B = M[:, 0, 0] + M[:, 0, 1] * example.GLASS
        C = M[:, 1, 0] + M[:, 1, 1] * example.GLASS
        return 100 * jnp.mean(jnp.abs((B - C) / (B + C)) ** 2)

    return mean_reflectance


def _lennard_jones(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def energy(x: Any) -> Any:
        i, j = jnp.tril_indices(len(x), -1)
        inverse = 1.0 / jnp.sum((x[i] - x[j]) ** 2, axis=1)
        return jnp.sum(4.0 * (inverse ** 6 - inverse ** 3))

    return energy


def _polymer(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp, h = jax.numpy, example.STEP

    def misfit(log_k: Any, frames: Any, x: Any, v: Any) -> Any:
        k = jnp.exp(log_k)

        def forces(x: Any) -> Any:
            bond = x[1:] - x[:-1]
            length = jnp.sqrt(jnp.sum(bond ** 2, axis=1))
            pull = (k * (length - 1.0) / length)[:, None] * bond
            return jnp.pad(pull, ((0, 1), (0, 0))) - jnp.pad(pull, ((1, 0), (0, 0)))

        def step(state: Any, _: Any) -> Any:
            x, v, F = state
            v = v + h / 2 * F
            x = x + h * v
            F = forces(x)
            return (x, v + h / 2 * F, F), None

        def frame(state: Any, _: Any) -> Any:
            state, _ = jax.lax.scan(step, state, None, length=example.EVERY)
            return state, state[0]

        _, film = jax.lax.scan(frame, (x, v, forces(x)), None, length=len(frames))
        return jnp.mean((film - frames) ** 2)

    return misfit


def _waveform_inversion(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp, dx, dt = jax.numpy, example.DX, example.DT

    def misfit(c: Any, pulse: Any, recorded: Any) -> Any:
        r = (c * dt / dx) ** 2

        def step(waves: Any, p: Any) -> Any:
            old, now = waves
            inner = 2 * now[1:-1] - old[1:-1] + r[1:-1] * (now[2:] - 2 * now[1:-1] + now[:-2])
            inner = inner.at[0].add(dt ** 2 * p)
            low = now[0] + c[0] * dt / dx * (now[1] - now[0])
            high = now[-1] - c[-1] * dt / dx * (now[-1] - now[-2])
            return (now, jnp.concatenate([low[None], inner, high[None]])), now[2]

        _, trace = jax.lax.scan(step, (jnp.zeros_like(c), jnp.zeros_like(c)),
                                jnp.append(pulse, 0.0))
        return jnp.sum((trace[1:] - recorded) ** 2) / jnp.sum(recorded ** 2)

    return misfit


FORMS: dict[str, Form] = {
    "american_put": _american_put, "cart_pole": _cart_pole, "heston": _heston,
    "inverse_lqr": _inverse_lqr, "lennard_jones": _lennard_jones, "polymer": _polymer,
    "phase_retrieval": _as_it_is("misfit"), "seir": _seir, "thin_film": _thin_film,
    "waveform_inversion": _waveform_inversion,
}


def in_jax(name: str, example: ModuleType) -> Callable[[], Any] | None:
    """Return a call of an example's value and gradient in JAX, or None where there is none.

    Gradients by complex numbers are conjugated, as they are elsewhere.
    """
    if name not in FORMS or importlib.util.find_spec("jax") is None:
        return None
    import jax

    jax.config.update("jax_enable_x64", True)
    _, arguments = example.problem()
    form = FORMS[name](jax, example)
    fixed = [k for k, x in enumerate(arguments) if isinstance(x, int)]  # lengths of loops
    compiled = jax.jit(jax.value_and_grad(form), static_argnums=fixed)
    moved = [x if k in fixed else jax.tree.map(jax.numpy.asarray, x)
             for k, x in enumerate(arguments)]

    def call() -> Any:
        value, gradient = jax.block_until_ready(compiled(*moved))
        return value, jax.tree.map(jax.numpy.conj, gradient)

    return call
