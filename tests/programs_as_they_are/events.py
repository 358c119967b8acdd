"""Differential equations whose steps, stops and events depend on the solution."""

import numpy as np

from programs_as_they_are.table import program

C = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
A = [
    [],
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
B5 = np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0])
B4 = np.array([5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40])


def rk45(f, t0, t1, y0, rtol=1e-4, atol=1e-6, h=0.1):
    t, y = t0, y0
    ts, ys = [t], [y]
    while t < t1:
        h = min(h, t1 - t)
        k = []
        for i in range(7):
            dy = np.zeros_like(y)
            for j in range(i):
                dy = dy + A[i][j] * k[j]
            k.append(f(t + C[i] * h, y + h * dy))
        k = np.array(k)
        new = y + h * (B5 @ k)
        err = h * ((B5 - B4) @ k)
        scale = atol + rtol * np.maximum(np.abs(y), np.abs(new))
        error = np.sqrt(np.mean((err / scale) ** 2))
        if error <= 1:
            t = t + h
            y = new
            ts.append(t)
            ys.append(y)
        factor = 0.9 * error ** -0.2 if error > 0 else 5.0
        h = h * min(5.0, max(0.2, factor))
    return np.array(ts), np.array(ys)


@program(lambda n, rng: (np.array([1.0, 0.5]), 0.8, float(n) / 2), argnums=(0,),
         differences=1e-5, sizes=(2, 5))
def van_der_pol_action(y0, mu, end):
    def f(t, y):
        return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    ts, ys = rk45(f, 0.0, end, y0)
    dt = np.diff(ts)
    speed = ys[:, 1]
    return np.sum(dt * (speed[1:] ** 2 + speed[:-1] ** 2) / 2) + ys[-1, 0]


@program(lambda n, rng: (3.0 + 0.1 * n, 0.8, 9.81, n), argnums=(0, 1, 2), sizes=(2, 4))
def bounce_times(height, restitution, g, wanted):
    """Locate each impact by bisection within the step in which the ball goes below ground."""
    def step(state, dt):
        x, v = state
        return x + v * dt - 0.5 * g * dt * dt, v - g * dt

    state = (height, 0.0)
    t, dt = 0.0, 0.05
    impacts = []
    while len(impacts) < wanted:
        new = step(state, dt)
        if new[0] < 0:
            lo, hi = 0.0, dt
            while hi - lo > 1e-13:
                mid = (lo + hi) / 2
                if step(state, mid)[0] < 0:
                    hi = mid
                else:
                    lo = mid
            x, v = state
            hit = (v + np.sqrt(v * v + 2 * g * x)) / g  # the root in closed form, for smoothness
            assert abs(hit - lo) < 1e-9
            impacts.append(t + hit)
            t += hit
            state = (0.0, -restitution * step(state, hit)[1])
            state = step(state, 1e-3)
            t += 1e-3
        else:
            state = new
            t += dt
    return impacts[-1] + sum(impacts) / len(impacts)


@program(lambda n, rng: (1.0 + rng.uniform(0, 1, 20 * n), 0.5, 1.0), argnums=(0, 1), sizes=(3, 6))
def spike_train(current, leak, threshold):
    v = 0.0
    spikes = []
    last = None
    intervals = []
    dt = 0.1
    for i, drive in enumerate(current):
        dv = drive - leak * v
        if v + dt * dv >= threshold:
            fraction = (threshold - v) / dv
            t = i * dt + fraction
            spikes.append(t)
            if last is not None:
                intervals.append(t - last)
            last = t
            v = 0.0
        else:
            v += dt * dv
    if not intervals:
        return v
    intervals = np.array(intervals)
    return intervals.std() / intervals.mean() + v


def trajectory(f, y, dt, steps):
    t = 0.0
    for _ in range(steps):
        yield t, y
        k1 = f(t, y)
        k2 = f(t + dt / 2, y + dt / 2 * k1)
        k3 = f(t + dt / 2, y + dt / 2 * k2)
        k4 = f(t + dt, y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += dt


@program(lambda n, rng: (np.array([10.0, 5.0]), np.array([1.1, 0.4, 0.1, 0.4]), 10 * n),
         argnums=(0, 1), differences=1e-5)
def prey_peak_by_generator(y0, p, steps):
    def f(t, y):
        prey, predator = y
        return np.array([p[0] * prey - p[1] * prey * predator,
                         p[2] * prey * predator - p[3] * predator])

    peak, when = -np.inf, 0.0
    eaten = 0.0
    for t, (prey, predator) in trajectory(f, y0, 0.05, steps):
        if prey > peak:
            peak, when = prey, t
        eaten += 0.05 * prey * predator
    return peak + 0.1 * eaten + when


@program(lambda n, rng: (2.0 + 0.1 * n, 1e-12), sizes=(3, 8))
def newton_with_history(a, tol):
    history = [a]
    for _ in range(50):
        x = history[-1]
        fx = x ** 3 - a * x - 1
        dfx = 3 * x ** 2 - a
        history.append(x - fx / dfx)
        if abs(history[-1] - history[-2]) < tol:
            break
    else:
        raise RuntimeError("no convergence")
    steps = np.abs(np.diff(history))
    return history[-1] + 1e-3 * steps[0] + 1e-3 * steps[1] / steps[0] ** 2


@program(lambda n, rng: (0.3, 1.0, 0.01 * n), argnums=(0, 1), sizes=(10, 30))
def pendulum_period(angle, length, kick):
    """Integrate to the first crossing of zero, then interpolate the time of it."""
    g = 9.81
    theta, omega, t, dt = angle, kick, 0.0, 0.01
    while True:
        previous = theta
        omega -= dt * g / length * np.sin(theta)
        theta += dt * omega
        t += dt
        if previous > 0 >= theta:
            return 4 * (t - dt * theta / (theta - previous))
        if t > 10:
            return np.inf
