"""GradBench's `ba`: errors of points seen by cameras, and their sparse Jacobian.

Each error has 15 parameters: 11 of a camera, 3 of a point and a weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.evaluation import Evaluation

SIZES = (11, 3, 1)
SHOWN = 2 * sum(SIZES)  # elements of the first two rows; the eval compares these and the last


def rotated(rotation: Any, x: Any) -> Any:
    """Return a point turned about an axis, by Rodrigues' formula."""
    square = np.sum(rotation * rotation)
    if square == 0.0:
        return x + np.cross(rotation, x)
    angle = np.sqrt(square)
    axis = rotation / angle
    along = np.dot(axis, x) * (1.0 - np.cos(angle))
    return x * np.cos(angle) + np.cross(axis, x) * np.sin(angle) + axis * along


def error(camera: Any, x: Any, w: Any, feature: Any) -> Any:
    """Return how far from `feature` a camera sees a point, times its weight."""
    seen = rotated(camera[:3], x - camera[3:6])
    at = seen[:2] / seen[2]
    square = np.sum(at * at)
    at = at * (1.0 + camera[9] * square + camera[10] * square * square)
    return w * (at * camera[6] + camera[7:9] - feature)


def weight_error(w: Any) -> Any:
    return 1.0 - w * w


def errors(cameras: Any, points: Any, w: Any, seen: Any, features: Any) -> Any:
    found = np.empty((len(w), 2))
    for i in range(len(w)):
        found[i] = error(cameras[seen[i, 0]], points[seen[i, 1]], w[i], features[i])
    return found, weight_error(w)


def blocks(cameras: Any, points: Any, w: Any, seen: Any, features: Any) -> Any:
    """Return, per observation, the Jacobian of its error by its 15 parameters (2, 15)."""
    jacobian = tracejit.jacobian(error, (0, 1, 2))
    found = np.empty((len(w), 2, 15))
    for i in range(len(w)):
        by_camera, by_point, by_weight = jacobian(
            cameras[seen[i, 0]], points[seen[i, 1]], w[i], features[i])
        found[i, :, :11] = by_camera
        found[i, :, 11:14] = by_point
        found[i, :, 14] = by_weight
    return found, tracejit.grad(lambda v: np.sum(weight_error(v)))(w)


BLOCKS = tracejit.jit(blocks)


def jacobian(cameras: Any, points: Any, w: Any, seen: Any, features: Any) -> Any:
    """Return rows' starts, columns and values of the sparse Jacobian, errors above weights'."""
    found, by_weight = BLOCKS(cameras, points, w, seen, features)
    p = len(w)
    starts = np.cumsum([0, cameras.size, points.size])
    places = [size * index[:, None] + np.arange(size) + start for size, index, start in zip(
        SIZES, (seen[:, 0], seen[:, 1], np.arange(p)), starts, strict=True)]
    columns = np.repeat(np.hstack(places)[:, None, :], 2, axis=1)
    rows = np.concatenate([np.arange(2 * p + 1) * sum(SIZES),
                           2 * p * sum(SIZES) + 1 + np.arange(p)])
    return (rows, np.concatenate([columns.ravel(), starts[2] + np.arange(p)]),
            np.concatenate([found.ravel(), by_weight]))


def prepare(given: Any) -> tuple[Any, ...]:
    n, m, p = given["n"], given["m"], given["p"]
    order = np.arange(p)
    return (np.tile(np.array(given["cam"]), (n, 1)), np.tile(np.array(given["x"]), (m, 1)),
            np.full(p, given["w"]), np.stack([order % n, order % m], axis=1),
            np.tile(np.array(given["feat"]), (p, 1)))


def repeated(found: Any) -> dict[str, Any]:
    reprojected, weights = found
    return {"reproj_error": {"elements": reprojected[0].tolist(), "repeated": len(reprojected)},
            "w_err": {"element": float(weights[0]), "repeated": len(weights)}}


def shortened(found: Any) -> dict[str, Any]:
    return {name: [*part[:SHOWN].tolist(), part[-1].item()]
            for name, part in zip(("rows", "cols", "vals"), found, strict=True)}


FUNCTIONS = {"objective": Evaluation(prepare, tracejit.jit(errors), repeated),
             "jacobian": Evaluation(prepare, jacobian, shortened)}
