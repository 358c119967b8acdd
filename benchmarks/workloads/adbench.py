"""ADBench's objectives on generated data of its sizes; the functions are those of `gradbench/`.

Bundle adjustment and hand tracking are Jacobians there: here the gradient of their squared errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gradbench import ba, gmm, ht, lstm
from benchmarks.workloads.mixture import in_jax as mixture_in_jax
from benchmarks.workloads.mixture import posterior
from benchmarks.workloads.workload import Workload, with_names

CAMERAS, POINTS, OBSERVATIONS = 49, 776, 3184  # a tenth of ba1's points and observations
BONES, VERTICES, CORRESPONDENCES = 22, 544, 100
LAYERS, BITS, CHARACTERS = 2, 14, 1024


# --- mixtures -----------------------------------------------------------------------------------

def mixture(d: int, k: int, n: int = 1000) -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    return (r.normal(size=k), r.uniform(size=(k, d)), r.normal(size=(k, d)),
            r.normal(size=(k, d * (d - 1) // 2)), r.normal(size=(n, d)))


def in_arrays(alpha: Any, mu: Any, logs: Any, lower: Any, x: Any) -> Any:
    k, d = mu.shape
    rows, columns = np.tril_indices(d, -1)
    roots = np.zeros((k, d, d))
    roots[:, rows, columns] = lower
    return posterior(alpha, mu, logs, lower, roots, x)


def in_loops(alpha: Any, mu: Any, logs: Any, lower: Any, x: Any) -> Any:
    return gmm.posterior(alpha, mu, logs, lower, x, 1.0, 0)


def arrays_in_jax(jax: Any, alpha: Any, mu: Any, logs: Any, lower: Any, x: Any) -> Any:
    return mixture_in_jax(jax, alpha, mu, jax.numpy.hstack([logs, lower]), x)


def loops_in_jax(jax: Any, alpha: Any, mu: Any, logs: Any, lower: Any, x: Any) -> Any:
    """Return the same from arrays, whose elements below the diagonal are here in another order."""
    d = mu.shape[1]
    columns, rows = np.triu_indices(d, 1)
    place = np.empty((d, d), int)
    place[rows, columns] = np.arange(len(rows))
    return arrays_in_jax(jax, alpha, mu, logs, lower[:, place[np.tril_indices(d, -1)]], x)


# --- bundle adjustment --------------------------------------------------------------------------

def bundle(cameras: Any, points: Any, w: Any, seen: Any, features: Any) -> Any:
    reprojected, weights = ba.errors(cameras, points, w, seen, features)
    return np.sum(reprojected * reprojected) + np.sum(weights * weights)


def bundle_in_jax(jax: Any, cameras: Any, points: Any, w: Any, seen: Any, features: Any) -> Any:
    jnp = jax.numpy

    def turned(rotation: Any, x: Any) -> Any:
        angle = jnp.sqrt(jnp.sum(rotation * rotation))
        axis = rotation / angle
        along = jnp.dot(axis, x) * (1.0 - jnp.cos(angle))
        return x * jnp.cos(angle) + jnp.cross(axis, x) * jnp.sin(angle) + axis * along

    error = with_names(ba.error, np=jnp, rotated=turned)
    found = jax.vmap(error)(cameras[seen[:, 0]], points[seen[:, 1]], w, features)
    return jnp.sum(found * found) + jnp.sum(ba.weight_error(w) ** 2)


def bundle_arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    cameras = np.hstack([r.normal(size=(CAMERAS, 6)), r.uniform(0.5, 2, (CAMERAS, 3)),
                         0.1 * r.normal(size=(CAMERAS, 2))])
    points = r.normal(size=(POINTS, 3)) + np.array([0.0, 0.0, 20.0])
    seen = np.stack([r.integers(0, CAMERAS, OBSERVATIONS), r.integers(0, POINTS, OBSERVATIONS)], 1)
    return cameras, points, r.uniform(size=OBSERVATIONS), seen, r.normal(size=(OBSERVATIONS, 2))


# --- hand tracking ------------------------------------------------------------------------------

def hand(theta: Any, us: Any, *model: Any) -> Any:
    error = ht.complicated(np.zeros(2), theta, *model, us)
    return np.sum(error * error)


def hand_in_jax(jax: Any, theta: Any, us: Any, parents: Any, relatives: Any, inverses: Any,
                base: Any, weights: Any, points: Any, corners: Any) -> Any:
    jnp = jax.numpy
    places = np.array([(2 + 4 * finger + joint, axis) for finger in range(ht.FINGERS)
                       for joint in range(3) for axis in range(2 if joint == 0 else 1)])
    posed = jnp.zeros((BONES, 3)).at[places[:, 0], places[:, 1]].set(theta[6:])
    turns = jax.vmap(with_names(ht.turned, np=jnp))(posed[:, 0], posed[:, 1], posed[:, 2])
    moves = relatives @ jnp.zeros((BONES, 4, 4)).at[:, :3, :3].set(turns).at[:, 3, 3].set(1.0)
    absolutes: list[Any] = []
    for bone, parent in enumerate(PARENTS):
        absolutes.append(moves[bone] if parent < 0 else absolutes[parent] @ moves[bone])
    transforms = (jnp.stack(absolutes) @ inverses)[:, :3]
    moved = jnp.einsum("vb,bij,vj->vi", weights, transforms, base)
    x, y, z = theta[:3] / (angle := jnp.sqrt(jnp.sum(theta[:3] ** 2)))
    cross = jnp.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turn = jnp.eye(3) + jnp.sin(angle) * cross + (1 - jnp.cos(angle)) * cross @ cross
    found = moved @ turn.T + theta[3:6]
    a, b = us[:, :1], us[:, 1:]
    error = points - (a * found[corners[:, 0]] + b * found[corners[:, 1]]
                      + (1.0 - a - b) * found[corners[:, 2]])
    return jnp.sum(error * error)


PARENTS = [-1, 0, *(1 if joint == 0 else 1 + 4 * finger + joint
                    for finger in range(ht.FINGERS) for joint in range(4))]


def hand_arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    weights = r.uniform(size=(VERTICES, BONES)) * (r.uniform(size=(VERTICES, BONES)) < 0.1)
    base = np.hstack([r.normal(size=(VERTICES, 3)), np.ones((VERTICES, 1))])
    return (r.normal(size=26) * 0.3, r.uniform(0, 0.5, (CORRESPONDENCES, 2)), np.array(PARENTS),
            np.eye(4) + 0.1 * r.normal(size=(BONES, 4, 4)),
            np.eye(4) + 0.1 * r.normal(size=(BONES, 4, 4)), base, weights,
            r.normal(size=(CORRESPONDENCES, 3)), r.integers(0, VERTICES, (CORRESPONDENCES, 3)))


# --- recurrent net ------------------------------------------------------------------------------

def lstm_in_jax(jax: Any, layers: Any, ends: Any, state: Any, sequence: Any) -> Any:
    jnp = jax.numpy
    sigmoid = jax.nn.sigmoid

    def step(before: Any, given: Any) -> Any:
        now, following = given
        x = now * ends[0]
        after = []
        for (weight, bias), (hidden, cell) in zip(layers, before, strict=True):
            forget = sigmoid(x * weight[0] + bias[0])
            enter = sigmoid(hidden * weight[1] + bias[1])
            leave = sigmoid(x * weight[2] + bias[2])
            cell = cell * forget + enter * jnp.tanh(hidden * weight[3] + bias[3])
            x = leave * jnp.tanh(cell)
            after.append(jnp.stack([x, cell]))
        y = x * ends[1] + ends[2]
        return jnp.stack(after), jnp.sum(following * (y - jnp.log(jnp.sum(jnp.exp(y)) + 2.0)))

    losses = jax.lax.scan(step, state, (sequence[:-1], sequence[1:]))[1]
    return -jnp.sum(losses) / (sequence.shape[1] * (len(sequence) - 1))


def lstm_arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    return (r.uniform(size=(LAYERS, 2, 4, BITS)), r.uniform(size=(3, BITS)),
            r.uniform(size=(LAYERS, 2, BITS)), r.integers(0, 2, (CHARACTERS, BITS)).astype(float))


WORKLOADS = (
    Workload(key="gmm-arrays", title="GMM in arrays, d=64 K=25", plain=in_arrays,
             arguments=lambda: mixture(64, 25), argnums=(0, 1, 2, 3), at_least=1,
             forms={"JAX": arrays_in_jax}),
    Workload(key="gmm-loops", title="GMM in loops, d=10 K=25", plain=in_loops,
             arguments=lambda: mixture(10, 25), argnums=(0, 1, 2, 3), at_least=1,
             forms={"JAX": loops_in_jax}),
    Workload(key="gmm-loops-64", title="the same, d=64 K=25, 100 points", plain=in_loops,
             arguments=lambda: mixture(64, 25, 100), argnums=(0, 1, 2, 3), at_least=1,
             forms={"JAX": loops_in_jax}),
    Workload(key="ba", title="bundle adjustment, 3 184 errors", plain=bundle,
             arguments=bundle_arguments, argnums=(0, 1, 2), at_least=1,
             forms={"JAX": bundle_in_jax}),
    Workload(key="hand", title="hand tracking, 100 points", plain=hand, arguments=hand_arguments,
             argnums=(0, 1), at_least=1, forms={"JAX": hand_in_jax}),
    Workload(key="lstm", title="LSTM of 2 layers, 1 024 characters", plain=lstm.loss,
             arguments=lstm_arguments, argnums=(0, 1), at_least=1, forms={"JAX": lstm_in_jax}),
)
