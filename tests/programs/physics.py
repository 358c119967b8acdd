"""Particles, fields, rays and quantum states."""
# ruff: noqa: B905  (a plain zip, as users write it)

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from programs.program import program


class Bodies(NamedTuple):
    position: np.ndarray
    velocity: np.ndarray
    mass: np.ndarray


def bodies(n, rng):
    return Bodies(2 * rng.normal(size=(n, 3)), 0.1 * rng.normal(size=(n, 3)),
                  rng.uniform(0.5, 1.5, n)), 4, 0.05


def gravity(x, mass, softening=0.1):
    a = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = x[j] - x[i]
            r3 = (np.sum(d * d) + softening) ** 1.5
            a[i] += mass[j] * d / r3
            a[j] -= mass[i] * d / r3
    return a


@program(bodies, argnums=(0, 2))
def n_body_leapfrog(bodies, steps, dt):
    x, v, mass = bodies.position.copy(), bodies.velocity.copy(), bodies.mass
    a = gravity(x, mass)
    for _ in range(steps):
        v += 0.5 * dt * a
        x += dt * v
        a = gravity(x, mass)
        v += 0.5 * dt * a
    return 0.5 * np.sum(mass[:, None] * v**2) + np.sum(x**2)


def pull_by_columns(x, mass):
    dx, dy = x[:, 0:1].T - x[:, 0:1], x[:, 1:2].T - x[:, 1:2]
    inverse = dx**2 + dy**2 + 0.01
    near = inverse > 0
    inverse[near] = inverse[near] ** -1.5
    return np.hstack(((dx * inverse) @ mass, (dy * inverse) @ mass))


def energy_by_columns(x, v, mass):
    dx, dy = x[:, 0:1].T - x[:, 0:1], x[:, 1:2].T - x[:, 1:2]
    inverse = np.sqrt(dx**2 + dy**2)
    others = inverse > 0
    inverse[others] = 1.0 / inverse[others]
    return 0.5 * np.sum(mass * v**2), np.sum(np.triu(-(mass * mass.T) * inverse, 1))


@program(lambda n, rng: (rng.normal(size=(n, 2)), rng.normal(size=(n, 2)),
                         rng.uniform(0.5, 1.5, (n, 1)), 4, 0.01), argnums=(0, 1, 2, 4),
         differences=1e-7)
def n_body_by_columns(x, v, mass, steps, dt):
    """Whole arrays, with columns kept as columns, and the distance to oneself left out by masks."""
    v -= np.mean(mass * v, axis=0) / np.mean(mass)
    kinetic, potential = np.ndarray(steps), np.ndarray(steps)
    pull = pull_by_columns(x, mass)
    for k in range(steps):
        v += 0.5 * dt * pull
        x += dt * v
        pull = pull_by_columns(x, mass)
        v += 0.5 * dt * pull
        kinetic[k], potential[k] = energy_by_columns(x, v, mass)
    return np.sum(kinetic) + np.sum(potential)


@program(lambda n, rng: (rng.uniform(0, 3, (n, 2)), 3.0, 1.4), argnums=(0, 2))
def lennard_jones_in_a_box(x, box, cutoff):
    """The nearest image of each pair, and nothing beyond the cutoff."""
    energy = 0.0
    shift = 1 / cutoff**12 - 1 / cutoff**6
    for i in range(len(x) - 1):
        for j in range(i + 1, len(x)):
            d = x[i] - x[j]
            for k in range(2):
                if d[k] > box / 2:
                    d[k] -= box
                elif d[k] < -box / 2:
                    d[k] += box
            r2 = np.sum(d**2)
            if r2 > cutoff**2:
                continue
            r6 = 1 / (r2 + 0.5) ** 3
            energy += 4 * (r6 * r6 - r6 - shift)
    return energy + np.sum(x**2)


@program(lambda n, rng: (rng.normal(size=(n, 2)), np.arange(n - 1), np.arange(1, n),
                         np.full(n - 1, 0.8), 2.0), argnums=(0, 3, 4))
def spring_mesh(x, ends_a, ends_b, lengths, stiffness):
    x, v = x.copy(), np.zeros_like(x)
    for _ in range(3):
        force = np.zeros_like(x)
        for s in range(len(lengths)):
            i, j = ends_a[s], ends_b[s]
            d = x[j] - x[i]
            length = np.sqrt(d @ d)
            pull = stiffness * (length - lengths[s]) * d / length
            force[i] += pull
            force[j] -= pull
        force[0] = 0.0
        v += 0.1 * force
        v *= 0.98
        x += 0.1 * v
    return np.sum(x**2)


@program(lambda n, rng: (rng.normal(size=(n + 1, 2)), 1.0), argnums=(0, 1))
def rope_by_position_constraints(x, length):
    """Jakobsen's relaxation: both ends of each stick are moved in place."""
    x = x.copy()
    for _ in range(4):
        for a, b in zip(x[:-1], x[1:]):  # noqa: RUF007
            d = b - a
            size = np.sqrt(np.sum(d**2))
            correction = 0.5 * (size - length) / size * d
            a += correction
            b -= correction
        x[0] = 0.0
    return np.sum(x**2)


@dataclass
class Sphere:
    center: np.ndarray
    radius: float
    albedo: float


def hit(sphere, origin, direction):
    oc = origin - sphere.center
    b = oc @ direction
    discriminant = b * b - (oc @ oc - sphere.radius**2)
    if discriminant < 0:
        return -1.0
    t = -b - np.sqrt(discriminant)
    if t < 0:
        return -1.0
    return t


@program(lambda n, rng: ([Sphere(np.array([0.1, 0.2, 3.0]), 1.0, 0.8),
                          Sphere(np.array([0.7, -0.3, 4.1]), 1.3, 0.5)],
                         np.array([0.3, -0.5, 0.8]), n), argnums=(0, 1))
def ray_tracer(spheres, light, pixels):
    total = 0.0
    origin = np.zeros(3)
    for i in range(pixels):
        for j in range(pixels):
            direction = np.array([i / pixels - 0.45, j / pixels - 0.45, 1.0])
            direction /= np.sqrt(direction @ direction)
            nearest, shade = 1e9, 0.0
            for sphere in spheres:
                t = hit(sphere, origin, direction)
                if 0 < t < nearest:
                    normal = (origin + t * direction - sphere.center) / sphere.radius
                    nearest, shade = t, sphere.albedo * max(-(normal @ light), 0.0)
            total += shade
    return total


@program(lambda n, rng: (np.array([0.3, 0.9, -0.2]), np.array([1.0, 2.0, 3.0]), n), argnums=(0, 1))
def rigid_body(omega, inertia, steps):
    q = np.array([1.0, 0.0, 0.0, 0.0])
    h = 0.1
    for _ in range(steps):
        w, x, y, z = q
        a, b, c = omega
        q = q + 0.5 * h * np.array([-x * a - y * b - z * c, w * a + y * c - z * b,
                                    w * b - x * c + z * a, w * c + x * b - y * a])
        q /= np.sqrt(np.sum(q**2))
        torque = np.cross(inertia * omega, omega)
        omega = omega + h * torque / inertia
    return q[1] * q[2] + np.sum(omega**3)


@program(lambda n, rng: (rng.uniform(0.5, 1.5, n), 0.3), argnums=(0, 1), differences=1e-7)
def thin_films(thicknesses, contrast):
    """Reflection by transfer matrices of complex numbers."""
    m = np.eye(2, dtype=complex)
    for k, d in enumerate(thicknesses):
        index = 1.5 + contrast if k % 2 == 0 else 1.5
        phase = index * d
        m = m @ np.array([[np.cos(phase), 1j * np.sin(phase) / index],
                          [1j * index * np.sin(phase), np.cos(phase)]])
    numerator = m[0, 0] + m[0, 1] - m[1, 0] - m[1, 1]
    denominator = m[0, 0] + m[0, 1] + m[1, 0] + m[1, 1]
    return np.abs(numerator / denominator) ** 2


@program(lambda n, rng: (rng.normal(size=n + 2), rng.uniform(0, 1, n + 2), 0.1), argnums=(0, 1, 2),
         differences=1e-7)
def schroedinger(start, potential, dt):
    """Visscher's scheme on a complex state, real and imaginary parts in turn."""
    psi = start + 1j * np.zeros(len(start))
    for _ in range(4):
        laplacian = np.zeros(len(psi), dtype=complex)
        laplacian[1:-1] = psi[2:] - 2 * psi[1:-1] + psi[:-2]
        psi = psi + 1j * dt * (0.5 * laplacian - potential * psi)
        psi /= np.sqrt(np.sum(np.abs(psi) ** 2))
    return np.sum(np.abs(psi) ** 2 * np.arange(len(psi)))


@program(lambda n, rng: (rng.uniform(-0.5, 0.3, n), rng.uniform(-0.5, 0.5, n)), argnums=(0, 1),
         sizes=(3, 5))
def smooth_mandelbrot(re, im):
    total = 0.0
    for k in range(len(re)):
        x = y = 0.0
        for i in range(20):
            x, y = x * x - y * y + 1.2 * re[k] - 0.4, 2 * x * y + 1.2 * im[k]
            if x * x + y * y > 4.0:
                total -= 0.1 * i
                break
        total += np.log(1 + x * x + y * y)
    return total


@program(lambda n, rng: (-60.0, rng.uniform(5, 15, 5 * n)), argnums=(0, 1))
def hodgkin_huxley(v, current):
    m, h, n = 0.05, 0.6, 0.32
    spikes = 0
    for stimulus in current:
        am, bm = 0.1 * (v + 40.5) / (1 - np.exp(-(v + 40.5) / 10)), 4 * np.exp(-(v + 65) / 18)
        ah, bh = 0.07 * np.exp(-(v + 65) / 20), 1 / (1 + np.exp(-(v + 35) / 10))
        an, bn = 0.01 * (v + 55.3) / (1 - np.exp(-(v + 55.3) / 10)), 0.125 * np.exp(-(v + 65) / 80)
        m += 0.05 * (am * (1 - m) - bm * m)
        h += 0.05 * (ah * (1 - h) - bh * h)
        n += 0.05 * (an * (1 - n) - bn * n)
        ionic = 120 * m**3 * h * (v - 50) + 36 * n**4 * (v + 77) + 0.3 * (v + 54.4)
        before, v = v, v + 0.05 * (stimulus - ionic)
        if before < 0.0 <= v:
            spikes += 1
    return 0.01 * v + m * h + spikes


@program(lambda n, rng: (rng.uniform(0.1, 1.0, n), 0.3, 1.0), argnums=(0, 1, 2))
def radiative_layers(depths, albedo, flux):
    """Adding layers from the top; then the fluxes between them from the ground up."""
    n = len(depths)
    transmission, reflection = np.exp(-depths), 0.3 * (1 - np.exp(-depths))
    ground = np.zeros(n + 1)
    ground[n] = albedo
    for k in reversed(range(n)):
        ground[k] = reflection[k] + transmission[k] ** 2 * ground[k + 1] / (
            1 - reflection[k] * ground[k + 1])
    down = flux
    absorbed = []
    for k in range(3):
        new = down * transmission[k] / (1 - reflection[k] * ground[k + 1])
        absorbed.append(down * (1 - ground[k]) - new * (1 - ground[k + 1]))
        down = new
    return sum(a**2 for a in absorbed) + down


@program(lambda n, rng: (rng.choice([-1.0, 1.0], (n, n)), rng.uniform(0, 1, (2, n, n)), 0.4, 0.2),
         argnums=(2, 3))
def ising_sweeps(spins, uniform, coupling, field):
    """Metropolis' flips with given random numbers; the log-probability of the moves."""
    n = len(spins)
    spins = spins.copy()
    score = 0.0
    for sweep in range(len(uniform)):
        for i in range(n):
            for j in range(n):
                neighbours = (spins[i - 1, j] + spins[(i + 1) % n, j] + spins[i, j - 1]
                              + spins[i, (j + 1) % n])
                change = 2 * spins[i, j] * (coupling * neighbours + field)
                p = 1 / (1 + np.exp(change))
                if uniform[sweep, i, j] < p:
                    spins[i, j] *= -1
                    score += np.log(p)
                else:
                    score += np.log(1 - p)
    return score


@program(lambda n, rng: (0.5, 0.4, 1.0, 10 * n), argnums=(0, 1, 2))
def projectile_until_it_lands(angle, drag, power, most):
    x = y = 0.0
    vx, vy = power * np.cos(angle), power * np.sin(angle)
    dt = 0.05
    for _ in range(most):
        speed = np.sqrt(vx**2 + vy**2)
        vx, vy = vx - dt * drag * speed * vx, vy - dt * (1.0 + drag * speed * vy)
        before = x, y
        x, y = x + dt * vx, y + dt * vy
        if y < 0:
            fraction = before[1] / (before[1] - y)
            return before[0] + fraction * (x - before[0])
    return x
