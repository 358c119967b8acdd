"""Control and estimation: matrices, polynomials, observers."""

import numpy as np
from scipy import linalg
from scipy.optimize import rosen

from programs_as_they_are.table import program


@program(lambda n, rng: (0.3 * rng.standard_normal((3, 3)), rng.standard_normal((3, 1)), 0.1 * n),
         argnums=(0, 1, 2), differences=1e-5)
def zero_order_hold(A, B, dt):
    n, m = B.shape
    M = np.zeros((n + m, n + m))
    M[:n, :n], M[:n, n:] = A, B
    E = linalg.expm(dt * M)
    return np.sum(E[:n, n:] ** 2) + np.trace(E[:n, :n])


@program(lambda n, rng: (rng.uniform(0.2, 0.8, 3), n), argnums=(0,))
def closed_loop_polynomial(poles, order):
    return np.sum(np.poly(poles)[1:] ** 2) + np.polyval(np.poly(poles), 1.0 / order)


@program(lambda n, rng: (0.2 * rng.standard_normal((n, n)), rng.standard_normal((n, 2))),
         argnums=(0, 1), sizes=(3, 4), differences=1e-5)
def lyapunov_by_kronecker(A, B):
    n = len(A)
    Q = B @ B.T
    P = np.linalg.solve(np.eye(n * n) - np.kron(A, A), Q.reshape(-1)).reshape(n, n)
    return np.log(np.linalg.det(P + np.eye(n))) + np.linalg.norm(P, 2)


@program(lambda n, rng: (rng.standard_normal((3 * n, 4)), rng.standard_normal(3 * n)),
         argnums=(0, 1), differences=1e-5)
def identified_by_least_squares(Phi, y):
    theta, *_ = np.linalg.lstsq(Phi, y, rcond=None)
    return np.sum((y - Phi @ theta) ** 2) + theta @ theta


@program(lambda n, rng: (rng.uniform(0.5, 1.5, 3), rng.standard_normal((n, 3, 3))),
         argnums=(0, 1), differences=1e-5)
def joints_in_a_stack(gains, motions):
    systems = motions @ np.swapaxes(motions, -1, -2) + np.diag(gains)
    inverse = np.linalg.inv(systems)
    _, logdet = np.linalg.slogdet(systems)
    return np.trace(inverse, axis1=1, axis2=2).sum() + logdet.sum()


@program(lambda n, rng: (0.3, rng.standard_normal((3, 3)), rng.standard_normal((2, 2))),
         argnums=(0, 1, 2), differences=1e-5)
def interconnection(k, A, B):
    whole = linalg.block_diag(A, k * B, np.eye(1))
    lu = linalg.lu_factor(whole + 8 * np.eye(6))
    return linalg.lu_solve(lu, np.ones(6)).sum() + np.sum(linalg.pinv(whole[:, :4] + 1.0))


@program(lambda n, rng: (rng.uniform(0.3, 1.7, n), 0.5), argnums=(0, 1))
def scheduled_gain(x, knee):
    """A table of gains, and a function of one number made one of arrays."""
    table = np.geomspace(1.0, 8.0, 5)
    gain = np.interp(x, np.linspace(0.0, 2.0, 5), table * knee)
    soft = np.vectorize(lambda v: v if v < 1.0 else 1.0 + np.tanh(v - 1.0))
    return np.sum(gain * soft(x)) + rosen(x)
