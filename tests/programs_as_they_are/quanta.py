"""Quantum mechanics in small matrices and on grids."""

import numpy as np
from scipy import linalg
from scipy.special import eval_hermite, factorial, spherical_jn

from programs_as_they_are.table import program

X = np.array([[0, 1], [1, 0]], dtype=complex)
Y = np.array([[0, -1j], [1j, 0]])
Z = np.array([[1, 0], [0, -1]], dtype=complex)


@program(lambda n, rng: (rng.uniform(0.5, 1.5, n), 0.8), argnums=(0, 1))
def anharmonic_ground_state(coefficients, omega):
    n = 8
    a = np.diag(np.sqrt(np.arange(1.0, n)), 1)
    x = (a + a.T) / np.sqrt(2 * omega)
    H = omega * (a.T @ a + 0.5 * np.eye(n))
    power = x @ x
    for c in coefficients:
        H = H + 0.01 * c * power
        power = power @ x
    return np.linalg.eigvalsh((H + H.T) / 2)[0]


@program(lambda n, rng: (rng.uniform(-1, 1, (n, 3)), 0.3), argnums=(0, 1))
def gate_fidelity(pulses, dt):
    U = np.eye(2, dtype=complex)
    for x, y, z in pulses:
        U = linalg.expm(-1j * dt * (x * X + y * Y + z * Z)) @ U
    return np.abs(np.trace(X.conj().T @ U)) ** 2 / 4


@program(lambda n, rng: (rng.standard_normal(n), 0.9), argnums=(0, 1))
def spin_chain_energy(fields, J):
    """A variational state of three spins, by Kronecker products."""
    E = np.eye(2)
    H = -J * (np.kron(np.kron(Z, Z), E) + np.kron(E, np.kron(Z, Z)))
    psi = np.ones(1, dtype=complex)
    for angle in fields[:3]:
        psi = np.kron(psi, np.array([np.cos(angle), np.sin(angle)]))
    H = H - 0.5 * np.kron(np.kron(X, E), E)
    return np.real(np.vdot(psi, H @ psi))


@program(lambda n, rng: (0.4, rng.standard_normal(2 * n) + 1j * rng.standard_normal(2 * n)),
         argnums=(0,))
def split_step(dt, psi):
    n = len(psi)
    x = np.linspace(-3, 3, n)
    k = 2 * np.pi * np.fft.fftfreq(n, d=x[1] - x[0])
    for _ in range(3):
        psi = np.exp(-0.5j * dt * x ** 2) * psi
        psi = np.fft.ifft(np.exp(-0.5j * dt * k ** 2) * np.fft.fft(psi))
    density = np.abs(psi) ** 2
    return np.sum(density * x ** 2) / density.sum()


@program(lambda n, rng: (rng.uniform(0.2, 1, (n, 2, 2)),), argnums=(0,))
def entanglement_entropy(psi):
    state = psi.reshape(len(psi), 4)
    s = np.linalg.svd(state / np.linalg.norm(state), compute_uv=False)
    p = s ** 2
    return -np.sum(p * np.log(p))


@program(lambda n, rng: (0.7, np.linspace(-2, 2, 2 * n)), argnums=(0,))
def oscillator_wave(stretch, x):
    psi = sum(eval_hermite(k, stretch * x) * np.exp(-(stretch * x) ** 2 / 2)
              / np.sqrt(2.0 ** k * factorial(k)) for k in range(4))
    return np.trapezoid(psi ** 2, x)


@program(lambda n, rng: (1.3, rng.uniform(0.5, 3, n)), argnums=(0, 1))
def partial_wave(k, r):
    return np.sum(spherical_jn(1, k * r) ** 2 * r)
