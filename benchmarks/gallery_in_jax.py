"""The gallery's functions in JAX: their own source with `jax.numpy`, or a form with `lax.scan`.

A form is a function of (jax, the example's module) that returns a function of the same arguments.
"""

from __future__ import annotations

import importlib.util
import sys
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
        sys.modules[spec.name] = copy
        spec.loader.exec_module(copy)
        theirs = {"np": jax.numpy, "expm": jax.scipy.linalg.expm,
                  "gammaln": jax.scipy.special.gammaln, "cho_solve": jax.scipy.linalg.cho_solve,
                  "cho_factor": jax.scipy.linalg.cho_factor,
                  "fftconvolve": jax.scipy.signal.fftconvolve}
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


def _nile(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def minus_log_likelihood(log_variances: Any, y: Any) -> Any:
        noise, wander = jnp.exp(log_variances)

        def step(carry: Any, seen: Any) -> Any:
            level, P = carry
            P = P + wander
            F = P + noise
            v = seen - level
            return (level + P / F * v, P * noise / F), 0.5 * (jnp.log(F) + v ** 2 / F)

        _, terms = jax.lax.scan(step, (y[0], noise), y[1:])
        return jnp.sum(terms) + 0.5 * (len(y) - 1) * jnp.log(2 * jnp.pi)

    return minus_log_likelihood


def _bundle_adjustment(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy
    project = _as_it_is("project")(jax, example)

    def loss(x: Any, seen: Any, first: Any) -> Any:
        free = 6 * (len(seen) - 1)
        cameras = jnp.vstack([first, x[:free].reshape(-1, 6)])
        found = jax.vmap(project, in_axes=(0, None))(cameras, x[free:].reshape(-1, 3))
        return 0.5 * jnp.sum((found - seen) ** 2)

    return loss


def _heat_conduction(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def misfit(log_k: Any, film: Any, weight: Any) -> Any:
        k = jnp.exp(log_k)
        n = len(k) - 1
        r = 0.5 * k * (n + 1) ** 2 / len(film)
        low = (-r[:-1]).at[0].set(0.0)
        up = (-r[1:]).at[-1].set(0.0)

        def step(u: Any, _: Any) -> Any:
            whole = jnp.concatenate((jnp.ones(1), u, jnp.zeros(1)))
            right = (u + jnp.diff(r * jnp.diff(whole))).at[0].add(r[0])
            u = jax.lax.linalg.tridiagonal_solve(low, 1 + r[:-1] + r[1:], up, right[:, None])[:, 0]
            return u, u

        _, found = jax.lax.scan(step, jnp.zeros(n), None, length=len(film))
        return jnp.mean((found - film) ** 2) + weight * jnp.sum(jnp.diff(log_k) ** 2)

    return misfit


def _truss(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def compliance(free: Any, nodes: Any, moving: Any, bars: Any, load: Any, fixed: int) -> Any:
        x = nodes.at[moving].set(free)
        d = x[bars[:, 1]] - x[bars[:, 0]]
        length = jnp.sqrt(jnp.sum(d ** 2, axis=1))
        area = 1.0 / jnp.sum(length)
        direction = jnp.concatenate((-d, d), axis=1) / length[:, None]
        places = jnp.stack([2 * bars[:, 0], 2 * bars[:, 0] + 1, 2 * bars[:, 1], 2 * bars[:, 1] + 1],
                           axis=1)
        parts = (area / length)[:, None, None] * direction[:, :, None] * direction[:, None, :]
        K = jnp.zeros((2 * len(x), 2 * len(x)))
        K = K.at[places[:, :, None], places[:, None, :]].add(parts)
        f = load.ravel()[2 * fixed:]
        return f @ jnp.linalg.solve(K[2 * fixed:, 2 * fixed:], f)

    return compliance


def _burgers(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp, viscosity = jax.numpy, example.VISCOSITY

    def misfit(u: Any, seen: Any, steps: int, dt: Any, weight: Any) -> Any:
        dx = 1.0 / len(u)

        def step(u: Any, _: Any) -> Any:
            right = jnp.roll(u, -1)
            speed = jnp.maximum(jnp.abs(u), jnp.abs(right))
            flux = 0.25 * (u ** 2 + right ** 2) - (0.5 * speed + viscosity / dx) * (right - u)
            u = u - dt / dx * (flux - jnp.roll(flux, 1))
            return u, u

        _, film = jax.lax.scan(step, u, None, length=steps)
        error = film[steps // 4 - 1::steps // 4, ::4] - seen
        return jnp.sum(error ** 2) + weight * jnp.sum((jnp.roll(u, -1) - u) ** 2)

    return misfit


def _hueckel(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def energy(parameters: Any, bonds: Any) -> Any:
        alpha, beta = parameters
        i, j = bonds[:, 0], bonds[:, 1]
        H = jnp.diag(alpha).at[i, j].add(beta).at[j, i].add(beta)
        return -2 * jnp.sum(jnp.linalg.eigvalsh(-H)[:len(alpha) // 2])

    return energy


def _radial_velocity(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def chi_squared(orbit: Any, times: Any, seen: Any, error: Any) -> Any:
        period, K, e, w, phase, offset = orbit
        M = (2 * jnp.pi * times / period - phase) % (2 * jnp.pi)
        E = M + e * jnp.sin(M)
        for _ in range(6):  # enough for all; `lax.while_loop` has no way back
            E = E - (E - e * jnp.sin(E) - M) / (1 - e * jnp.cos(E))
        f = 2 * jnp.arctan2(jnp.sqrt(1 + e) * jnp.sin(E / 2), jnp.sqrt(1 - e) * jnp.cos(E / 2))
        v = offset + K * (jnp.cos(w + f) + e * jnp.cos(w))
        return 0.5 * jnp.sum(((v - seen) / error) ** 2)

    return chi_squared


def _qubit_pulse(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy

    def infidelity(pulse: Any, dt: Any, weight: Any) -> Any:
        def step(U: Any, xy: Any) -> Any:
            drive = 0.5 * (xy[0] - 1j * xy[1]) * example.LOWER
            H = example.DETUNED + drive + drive.conj().T
            return jax.scipy.linalg.expm(-1j * dt * H) @ U, None

        U, _ = jax.lax.scan(step, jnp.eye(3, dtype=complex), pulse)
        overlap = jnp.trace(example.TARGET.T @ U[:2, :2])
        edges = jnp.concatenate((jnp.zeros((1, 2)), pulse, jnp.zeros((1, 2))))
        return 1 - jnp.abs(overlap) ** 2 / 4 + weight * jnp.sum(jnp.diff(edges, axis=0) ** 2)

    return infidelity


def _neural_ode(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy
    slope = _as_it_is("slope")(jax, example)

    def misfit(net: Any, x: Any, film: Any, h: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            k1 = slope(net, x)
            k2 = slope(net, x + h / 2 * k1)
            k3 = slope(net, x + h / 2 * k2)
            k4 = slope(net, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return x, x

        _, found = jax.lax.scan(step, x, None, length=len(film))
        return jnp.mean(jnp.sqrt((found - film) ** 2 + 1e-8))

    return misfit


def _neuron(jax: Any, example: ModuleType) -> Callable[..., Any]:
    jnp = jax.numpy
    exp = jnp.exp

    def rounded(x: Any, y: Any) -> Any:
        near = jnp.abs(x / y) < 1e-6
        safe = jnp.where(near, 1.0, x)
        return jnp.where(near, y * (1 - x / y / 2), safe / (exp(safe / y) - 1))

    def misfit(log_g: Any, current: Any, recorded: Any, dt: Any) -> Any:
        g = exp(log_g)

        def step(state: Any, current: Any) -> Any:
            V, m, h, n = state
            am, bm = 0.1 * rounded(-(V + 40), 10.0), 4 * exp(-(V + 65) / 18)
            ah, bh = 0.07 * exp(-(V + 65) / 20), 1 / (exp(-(V + 35) / 10) + 1)
            an, bn = 0.01 * rounded(-(V + 55), 10.0), 0.125 * exp(-(V + 65) / 80)
            m = am / (am + bm) + (m - am / (am + bm)) * exp(-dt * (am + bm))
            h = ah / (ah + bh) + (h - ah / (ah + bh)) * exp(-dt * (ah + bh))
            n = an / (an + bn) + (n - an / (an + bn)) * exp(-dt * (an + bn))
            sodium, potassium, leak = g[0] * m ** 3 * h, g[1] * n ** 4, g[2]
            total = sodium + potassium + leak
            rest = (sodium * 50 + potassium * -77 + leak * -54.387 + current) / total
            V = rest + (V - rest) * exp(-dt * total)
            return (V, m, h, n), V

        _, trace = jax.lax.scan(step, (-65.0, 0.0529, 0.5961, 0.3177), current)
        return jnp.mean((trace - recorded) ** 2)

    return misfit


FORMS: dict[str, Form] = {
    "american_put": _american_put, "bundle_adjustment": _bundle_adjustment, "burgers": _burgers,
    "cart_pole": _cart_pole, "heat_conduction": _heat_conduction, "heston": _heston,
    "hueckel": _hueckel, "inverse_lqr": _inverse_lqr, "lennard_jones": _lennard_jones,
    "neural_ode": _neural_ode, "neuron": _neuron, "nile": _nile, "polymer": _polymer,
    "qubit_pulse": _qubit_pulse, "radial_velocity": _radial_velocity, "seir": _seir,
    "thin_film": _thin_film, "truss": _truss, "waveform_inversion": _waveform_inversion,
    **{name: _as_it_is(function) for name, function in {
        "deconvolution": "energy", "digits": "cross_entropy", "equaliser": "unevenness",
        "figure_eight": "action", "lens_design": "spot",
        "hamiltonian_monte_carlo": "potential", "inverse_kinematics": "error",
        "laplace": "minus_log_joint", "newton_logistic": "loss", "phase_retrieval": "misfit",
        "registration": "difference", "risk_parity": "objective", "total_variation": "energy",
        "word_vectors": "glove"}.items()},
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
        gradient = jax.tree.map(jax.numpy.conj, gradient)
        if isinstance(gradient, dict):  # JAX sorts keys
            gradient = {name: gradient[name] for name in arguments[0]}
        return value, gradient

    return call
