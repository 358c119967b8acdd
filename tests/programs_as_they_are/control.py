"""Control and estimation."""

import numpy as np

from programs_as_they_are.table import program


def gaps(n, rng):
    y = rng.standard_normal((n, 2))
    y[1, 0] = np.nan
    y[n // 2] = np.nan
    return np.array([0.3, 0.1]), y


@program(gaps, differences=1e-5, sizes=(6, 10))
def kalman_with_missing_data(theta, y):
    q, r = np.exp(theta)
    dt = 0.5
    F = np.array([[1, dt], [0, 1]])
    H = np.array([[1.0, 0.0], [1.0, 1.0]])
    Q = q * np.array([[dt ** 3 / 3, dt ** 2 / 2], [dt ** 2 / 2, dt]])
    x, P = np.zeros(2), np.eye(2)
    loglik = 0.0
    for obs in y:
        x, P = F @ x, F @ P @ F.T + Q
        seen = ~np.isnan(obs)
        if not seen.any():
            continue
        Hs = H[seen]
        S = Hs @ P @ Hs.T + r * np.eye(seen.sum())
        innovation = obs[seen] - Hs @ x
        K = np.linalg.solve(S, Hs @ P).T
        x = x + K @ innovation
        P = P - K @ Hs @ P
        _, logdet = np.linalg.slogdet(S)
        loglik -= 0.5 * (logdet + innovation @ np.linalg.solve(S, innovation))
    return loglik


class PID:
    def __init__(self, kp, ki, kd, limit):
        self.kp, self.ki, self.kd = kp, ki, kd
        self.limit = limit
        self.integral = 0.0
        self.last_error = None

    def __call__(self, error, dt):
        derivative = 0.0 if self.last_error is None else (error - self.last_error) / dt
        self.last_error = error
        output = self.kp * error + self.ki * self.integral + self.kd * derivative
        if abs(output) > self.limit:
            return np.sign(output) * self.limit
        self.integral += error * dt
        return output


@program(lambda n, rng: (np.array([2.0, 0.7, 0.3]), 1.07, 20 * n), argnums=(0, 1))
def saturated_pid(gains, setpoint, steps):
    controller = PID(*gains, limit=1.5)
    x, v, dt = 0.0, 0.0, 0.05
    cost, settled = 0.0, 0
    for i in range(steps):
        u = controller(setpoint - x, dt)
        v += dt * (u - 0.5 * v)
        x += dt * v
        cost += dt * (setpoint - x) ** 2
        settled = settled + 1 if abs(setpoint - x) < 0.02 else 0
        if settled > 10:
            break
    return cost + 0.1 * x


@program(lambda n, rng: (0.9 * np.eye(n) + 0.1 * rng.standard_normal((n, n)),
                         rng.standard_normal((n, 2)), 0.5), argnums=(0, 1, 2), differences=1e-5,
         sizes=(3, 5))
def riccati_by_iteration(A, B, r):
    n, m = B.shape
    Q, R = np.eye(n), r * np.eye(m)
    P = Q
    for iteration in range(500):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        new = Q + A.T @ P @ (A - B @ K)
        converged = np.max(np.abs(new - P)) < 1e-12
        P = new
        if converged:
            break
    return np.trace(P)


@program(lambda n, rng: (np.array([1.5, -0.5]), 0.1 * rng.standard_normal(n)), argnums=(0, 1))
def gauss_newton_shooting(x0, controls):
    """Backtracking on controls: each trial rolls the system out again."""
    def rollout(u):
        x = x0
        xs = [x]
        for ui in u:
            x = x + 0.1 * np.array([x[1], ui - np.sin(x[0])])
            xs.append(x)
        return xs

    def cost(u):
        xs = rollout(u)
        return sum(x @ x for x in xs[1:]) + 0.1 * np.sum(u ** 2)

    u = controls
    best = cost(u)
    for _ in range(3):
        # gradient by the adjoint recursion, written by hand
        xs = rollout(u)
        lam = 2 * xs[-1]
        g = np.zeros_like(u)
        for k in reversed(range(len(u))):
            g[k] = 0.2 * u[k] + 0.1 * lam[1]
            lam = lam + 0.1 * np.array([-np.cos(xs[k][0]) * lam[1], lam[0]])
            if k > 0:
                lam = lam + 2 * xs[k]
        step = 1.0
        while step > 1e-4:
            trial = cost(u - step * g)
            if trial < best - 1e-4 * step * g @ g:
                u, best = u - step * g, trial
                break
            step /= 2
    return best
