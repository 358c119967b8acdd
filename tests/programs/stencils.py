"""Partial differential equations on grids, written into in place."""

import numpy as np

from programs.program import program


def grid(n, rng):
    return rng.uniform(0.5, 1.5, (n, n + 1))


@program(lambda n, rng: (grid(n, rng), grid(n, rng), 3), argnums=(0, 1))
def jacobi_2d(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1]
                               + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1]
                               + b[:-2, 1:-1])
    return np.sum(a**2)


@program(lambda n, rng: (grid(n, rng), 2))
def seidel_2d(a, steps):
    rows, columns = a.shape
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j]
                           + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9.0
    return np.sum(a**2)


@program(lambda n, rng: (grid(n, rng), 1.2, 2), argnums=(0, 1))
def red_black_relaxation(u, omega, sweeps):
    rows, columns = u.shape
    for _ in range(sweeps):
        for colour in (0, 1):
            for i in range(1, rows - 1):
                for j in range(1 + (i + colour) % 2, columns - 1, 2):
                    new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                    u[i, j] += omega * (new - u[i, j])
    return np.sum(u**2)


@program(lambda n, rng: (rng.normal(size=n + 2), 0.5, 4), argnums=(0, 1))
def red_black_by_strided_slices(u, omega, sweeps):
    even, odd = u[2:-1:2], u[1:-1:2]
    for _ in range(sweeps):
        odd += omega * (0.5 * (u[:-2:2] + u[2::2])[:len(odd)] - odd)
        even += omega * (0.5 * (u[1:-2:2] + u[3::2])[:len(even)] - even)
    return np.sum(u**3)


@program(lambda n, rng: (rng.uniform(0.5, 1.5, n), 0.7, 0.03), argnums=(0, 1))
def heat_until_time(u, diffusivity, end):
    h = 0.1
    dt = 0.4 * h**2
    t = 0.0
    while t < end:
        u[1:-1] += dt * diffusivity / h**2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0], u[-1] = u[1], u[-2]
        t += dt
    return np.sum(u**2)


@program(lambda n, rng: (rng.uniform(0.5, 1.5, (n, 4, 3)), 0.05, 2), argnums=(0, 1), sizes=(3, 5))
def heat_3d(a, c, steps):
    b = a.copy()
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = (
            c * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + c * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + c * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
            + a[1:-1, 1:-1, 1:-1])
        a, b = b, a
    return np.sum(a**3)


@program(lambda n, rng: (rng.normal(size=n), np.zeros(n), rng.normal(size=6), 0.5),
         argnums=(0, 1, 2, 3))
def fdtd_1d(electric, magnetic, source, c):
    for t in range(len(source)):
        magnetic[:-1] += c * (electric[1:] - electric[:-1])
        electric[1:] += c * (magnetic[1:] - magnetic[:-1])
        electric[0] = source[t]
    return np.sum(electric**2 + magnetic**2)


@program(lambda n, rng: (grid(n, rng), grid(n, rng), grid(n, rng), rng.normal(size=3)),
         argnums=(0, 1, 2, 3))
def fdtd_2d(ex, ey, hz, source):
    for pulse in source:
        ey[0, :] = pulse
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.sum(hz**2)


@program(lambda n, rng: (rng.uniform(0.5, 1.5, (n + 1, n + 1)), 2))
def adi(u, steps):
    """PolyBench's alternating directions."""
    n = len(u)
    v, p, q = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    mul1, mul2 = 0.4, 0.2
    a, b, c, d, e, f = -mul1 / 2, 1 + mul1, -mul1 / 2, -mul2 / 2, 1 + mul2, -mul2 / 2
    for _ in range(1, steps + 1):
        v[0, 1:n - 1] = 1.0
        p[1:n - 1, 0] = 0.0
        q[1:n - 1, 0] = v[0, 1:n - 1]
        for j in range(1, n - 1):
            p[1:n - 1, j] = -c / (a * p[1:n - 1, j - 1] + b)
            q[1:n - 1, j] = (-d * u[j, :n - 2] + (1 + 2 * d) * u[j, 1:n - 1] - f * u[j, 2:]
                             - a * q[1:n - 1, j - 1]) / (a * p[1:n - 1, j - 1] + b)
        v[n - 1, 1:n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:n - 1] = p[1:n - 1, j] * v[j + 1, 1:n - 1] + q[1:n - 1, j]
        u[1:n - 1, 0] = 1.0
        p[1:n - 1, 0] = 0.0
        q[1:n - 1, 0] = u[1:n - 1, 0]
        for j in range(1, n - 1):
            p[1:n - 1, j] = -f / (d * p[1:n - 1, j - 1] + e)
            q[1:n - 1, j] = (-a * v[:n - 2, j] + (1 + 2 * a) * v[1:n - 1, j] - c * v[2:, j]
                             - d * q[1:n - 1, j - 1]) / (d * p[1:n - 1, j - 1] + e)
        u[1:n - 1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:n - 1, j] = p[1:n - 1, j] * u[1:n - 1, j + 1] + q[1:n - 1, j]
    return np.sum(u**2)


def column_fields(n, rng):
    def field():
        return rng.uniform(0.5, 1.5, (2, 3, n + 1))

    return field(), field(), rng.uniform(0.5, 1.5, (3, 3, n + 1)), field(), 0.4


@program(column_fields, argnums=(0, 1, 2, 3, 4))
def vertical_advection(utens, u, wcon, u_pos, dtr):
    """COSMO's vertical advection: a tridiagonal system per column, swept up and down."""
    levels = u.shape[2]
    ccol, dcol = np.empty(u.shape), np.empty(u.shape)
    out = utens.copy()
    for k in range(levels):
        if k == 0:
            gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
            cs = gcv * 0.4
            ccol[:, :, k] = gcv * 0.6
            bcol = dtr - ccol[:, :, k]
            correction = -cs * (u[:, :, k + 1] - u[:, :, k])
            dcol[:, :, k] = dtr * u_pos[:, :, k] + utens[:, :, k] + correction
            divided = 1.0 / (bcol + 3.0)
            ccol[:, :, k] *= divided
            dcol[:, :, k] *= divided
        elif k < levels - 1:
            gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
            gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
            as_, cs = gav * 0.4, gcv * 0.4
            acol = gav * 0.6
            ccol[:, :, k] = gcv * 0.6
            bcol = dtr - acol - ccol[:, :, k] + 3.0
            correction = (-as_ * (u[:, :, k - 1] - u[:, :, k])
                          - cs * (u[:, :, k + 1] - u[:, :, k]))
            dcol[:, :, k] = dtr * u_pos[:, :, k] + utens[:, :, k] + correction
            divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
            ccol[:, :, k] *= divided
            dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * divided
        else:
            gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
            acol = gav * 0.6
            dcol[:, :, k] = dtr * u_pos[:, :, k] - gav * 0.4 * (u[:, :, k - 1] - u[:, :, k])
            divided = 1.0 / (dtr - acol + 3.0 - ccol[:, :, k - 1] * acol)
            dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * divided
    for k in range(levels - 1, -1, -1):
        if k == levels - 1:
            data = dcol[:, :, k].copy()
        else:
            data = dcol[:, :, k] - ccol[:, :, k] * data
        out[:, :, k] = dtr * (data - u_pos[:, :, k])
    return np.sum(out**2)


@program(column_fields, argnums=(0, 1))
def back_substitution_of_columns(ccol, dcol, *_):
    total = 0.0
    for k in range(dcol.shape[2] - 1, -1, -1):
        if k == dcol.shape[2] - 1:
            data = dcol[:, :, k]
        else:
            data = dcol[:, :, k] - ccol[:, :, k] * data
        total += np.sum(data**2)
    return total


def pressure_source(b, u, v, dt, dx):
    b[1:-1, 1:-1] = (1 / dt * ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
                               + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dx))
                     - ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)) ** 2)
    b[1:-1, -1] = (1 / dt * (u[1:-1, 0] - u[1:-1, -2]) / (2 * dx)
                   - ((u[1:-1, 0] - u[1:-1, -2]) / (2 * dx)) ** 2)


def relaxed_pressure(p, b, dx, sweeps):
    for _ in range(sweeps):
        pn = p.copy()
        p[1:-1, 1:-1] = 0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1]
                                - dx**2 * b[1:-1, 1:-1])
        p[1:-1, -1] = 0.25 * (pn[1:-1, 0] + pn[1:-1, -2] + pn[2:, -1] + pn[:-2, -1]
                              - dx**2 * b[1:-1, -1])
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]
    return p


@program(lambda n, rng: (0.1 * grid(n + 2, rng), 1.0, 0.1), argnums=(0, 1, 2), sizes=(3, 5))
def channel_flow(u, force, nu):
    """Flow between plates until it hardly changes, periodic along the channel."""
    dt, dx = 0.02, 0.25
    v, p, b = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    change, steps = 1.0, 0
    while change > 0.03:
        un, vn = u.copy(), v.copy()
        pressure_source(b, u, v, dt, dx)
        p = relaxed_pressure(p, b, dx, 3)
        u[1:-1, 1:-1] = (un[1:-1, 1:-1]
                         - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
                         - vn[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[:-2, 1:-1])
                         - dt / (2 * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
                         + nu * dt / dx**2 * (un[1:-1, 2:] - 4 * un[1:-1, 1:-1] + un[1:-1, :-2]
                                              + un[2:, 1:-1] + un[:-2, 1:-1]) + force * dt)
        v[1:-1, 1:-1] = (vn[1:-1, 1:-1]
                         - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
                         - dt / (2 * dx) * (p[2:, 1:-1] - p[:-2, 1:-1]))
        u[1:-1, -1] = un[1:-1, -1] + force * dt + nu * dt / dx**2 * (un[2:, -1] - 2 * un[1:-1, -1]
                                                                    + un[:-2, -1])
        u[1:-1, 0] = u[1:-1, -1]
        u[0, :] = u[-1, :] = v[0, :] = v[-1, :] = 0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        steps += 1
        if steps > 200:
            break
    return np.sum(u**2) + np.sum(v**2) + np.sum(p[1:-1] ** 2)


@program(lambda n, rng: (rng.normal(size=n + 6),))
def restriction_after_a_sweep(f):
    u = np.zeros(len(f))
    for i in range(1, len(u) - 1):
        u[i] = u[i - 1] + f[i]
    residual = np.zeros_like(u)
    residual[1:-1] = u[2:]
    return np.sum(residual[::2] ** 2)


@program(lambda n, rng: (rng.normal(size=n), 0.3, 5), argnums=(0, 1))
def wave_with_three_buffers(now, c, steps):
    before, after = now.copy(), np.zeros_like(now)
    for _ in range(steps):
        after[1:-1] = 2 * now[1:-1] - before[1:-1] + c**2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        before, now, after = now, after, before
    return np.sum(now**2) + np.sum(before)


@program(lambda n, rng: (rng.uniform(-1, 1, n), 0.3, 4), argnums=(0, 1))
def upwind_burgers(u, dt, steps):
    u = u.copy()
    for _ in range(steps):
        left, right = np.roll(u, 1), np.roll(u, -1)
        gradient = np.where(u > 0, u - left, right - u)
        u -= dt * u * gradient
    return np.sum(u**2)


@program(lambda n, rng: (grid(n, rng), 0.1, 3), argnums=(0, 1))
def ghost_cells(image, rate, steps):
    """Diffusion in a padded array; its inside is a view that is written through."""
    padded = np.zeros((image.shape[0] + 2, image.shape[1] + 2))
    inside = padded[1:-1, 1:-1]
    inside[...] = image
    for _ in range(steps):
        padded[0], padded[-1] = padded[1], padded[-2]
        padded[:, 0], padded[:, -1] = padded[:, 1], padded[:, -2]
        laplacian = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
                     - 4 * inside)
        inside += rate * laplacian * inside
    return np.sum(padded**2)


@program(lambda n, rng: (grid(n + 2, rng), grid(n + 2, rng)), argnums=(0, 1))
def horizontal_diffusion(field, coefficient):
    """Two fluxes with limiters."""
    lap = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:]
                                     + field[1:-1, :-2])
    flux_x = lap[1:, :] - lap[:-1, :]
    flux_x[flux_x * (field[2:-1, 1:-1] - field[1:-2, 1:-1]) > 0] = 0
    flux_y = lap[:, 1:] - lap[:, :-1]
    flux_y = np.where(flux_y * (field[1:-1, 2:-1] - field[1:-1, 1:-2]) > 0, 0.0, flux_y)
    out = field.copy()
    out[2:-2, 2:-2] -= coefficient[2:-2, 2:-2] * (flux_x[1:, 1:-1] - flux_x[:-1, 1:-1]
                                                  + flux_y[1:-1, 1:] - flux_y[1:-1, :-1])
    return np.sum(out**2) + np.sum(flux_x**2) + np.sum(flux_y**2)


def v_cycle(u, f, h):
    """Return u after a cycle of multigrid for -u'' = f."""
    if len(u) == 3:
        u[1] = 0.5 * (u[0] + u[2] + h**2 * f[1])
        return u
    for _ in range(2):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + h**2 * f[i])
    residual = np.zeros_like(u)
    residual[1:-1] = f[1:-1] + (u[2:] - 2 * u[1:-1] + u[:-2]) / h**2
    coarse = residual[::2].copy()
    coarse[1:-1] = 0.25 * (residual[1:-2:2] + 2 * residual[2:-1:2] + residual[3::2])
    correction = v_cycle(np.zeros(len(coarse)), coarse, 2 * h)
    u[::2] += correction
    u[1::2] += 0.5 * (correction[:-1] + correction[1:])
    return u


@program(lambda n, rng: (rng.normal(size=2**n + 1), rng.normal(size=2**n + 1)), argnums=(0, 1),
         sizes=(2, 3), compilations=2)
def multigrid(u, f):
    return np.sum(v_cycle(u, f, 0.5) ** 2)


@program(lambda n, rng: (1.0 + 0.1 * rng.normal(size=n), np.zeros(n), 0.05), argnums=(0, 1, 2))
def shallow_water(h, hu, dt):
    """Rusanov's fluxes between cells, with mirrors at both ends."""
    n = len(h)
    for _ in range(3):
        mass, momentum = np.zeros(n + 1), np.zeros(n + 1)
        for k in range(n + 1):
            left, right = max(k - 1, 0), min(k, n - 1)
            hl, hr = h[left], h[right]
            ql = hu[left] if k > 0 else -hu[0]
            qr = hu[right] if k < n else -hu[n - 1]
            speed = np.sqrt(9.81 * max(hl, hr)) + 1.0
            mass[k] = 0.5 * (ql + qr) - 0.5 * speed * (hr - hl)
            momentum[k] = (0.5 * (ql**2 / hl + qr**2 / hr + 4.9 * (hl**2 + hr**2))
                           - 0.5 * speed * (qr - ql))
        h = h - dt * (mass[1:] - mass[:-1])
        hu = hu - dt * (momentum[1:] - momentum[:-1])
    return np.sum(h**2) + np.sum(hu**2)


@program(lambda n, rng: (rng.normal(size=(n, n + 1)),), sizes=(2, 3), compilations=2)
def mean_of_the_neighbours_there_are(u):
    (n, m), v = u.shape, u.copy()
    for i in range(n):
        for j in range(m):
            around = [v[i + di, j + dj] for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0))
                      if 0 <= i + di < n and 0 <= j + dj < m]
            v[i, j] = 0.5 * v[i, j] + 0.5 * sum(around) / len(around)
    return np.sum(v * u)
