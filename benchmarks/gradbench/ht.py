"""GradBench's `ht`: the distances of a posed hand's points from measured ones, by pose.

The last rows of measured points lie within triangles, at two coordinates each. A point depends on
its own two, so all of these are moved at once: two columns of the Jacobian hold them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.evaluation import Evaluation

FINGERS = 5


def turned(x: Any, z: Any, y: Any) -> Any:
    """Return the matrix of Euler's angles."""
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(x), -np.sin(x)], [0.0, np.sin(x), np.cos(x)]])
    about_y = np.array([[np.cos(y), 0.0, np.sin(y)], [0.0, 1.0, 0.0], [-np.sin(y), 0.0, np.cos(y)]])
    about_z = np.array([[np.cos(z), -np.sin(z), 0.0], [np.sin(z), np.cos(z), 0.0], [0.0, 0.0, 1.0]])
    return about_z @ about_y @ about_x


def about(axis: Any) -> Any:
    """Return the matrix of a rotation whose angle is the axis' length."""
    angle = np.sqrt(np.sum(axis * axis))
    if angle < 1e-4:
        return np.eye(3)
    x, y, z = axis / angle
    s, c = np.sin(angle), np.cos(angle)
    return np.array([
        [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
        [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
        [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c]])


def angles(theta: Any, bones: int) -> Any:
    """Return three angles per bone: the wrist's, then those of each finger's four."""
    found = np.zeros((bones, 3))
    place = 6
    for finger in range(FINGERS):
        for joint in range(3):
            bone = 2 + 4 * finger + joint
            found[bone, 0] = theta[place]
            place += 1
            if joint == 0:
                found[bone, 1] = theta[place]
                place += 1
    return found


def vertices(theta: Any, parents: Any, relatives: Any, inverses: Any, base: Any,
             weights: Any) -> Any:
    """Return where a pose moves the hand's vertices (v, 3)."""
    bones = len(relatives)
    posed = angles(theta, bones)
    absolutes = np.zeros((bones, 4, 4))
    moved = np.zeros((len(base), 3))
    for bone in range(bones):
        turn = np.eye(4)
        turn[:3, :3] = turned(posed[bone, 0], posed[bone, 1], posed[bone, 2])
        absolute = relatives[bone] @ turn
        if parents[bone] >= 0:
            absolute = absolutes[parents[bone]] @ absolute
        absolutes[bone] = absolute
        transform = absolute @ inverses[bone]
        moved += weights[:, bone, None] * (base @ transform[:3].T)
    return moved @ about(theta[:3]).T + theta[3:6]


def simple(theta: Any, parents: Any, relatives: Any, inverses: Any, base: Any, weights: Any,
           points: Any, places: Any) -> Any:
    return points - vertices(theta, parents, relatives, inverses, base, weights)[places]


def complicated(shift: Any, theta: Any, parents: Any, relatives: Any, inverses: Any, base: Any,
                weights: Any, points: Any, corners: Any, us: Any) -> Any:
    """Return distances of points within triangles at `us` (n, 2), all moved by `shift` (2,)."""
    found = vertices(theta, parents, relatives, inverses, base, weights)
    u = us + shift
    a, b = u[:, :1], u[:, 1:]
    return points - (a * found[corners[:, 0]] + b * found[corners[:, 1]]
                     + (1.0 - a - b) * found[corners[:, 2]])


SIMPLE = tracejit.jit(simple), tracejit.jacfwd(simple)
COMPLICATED = tracejit.jit(complicated), tracejit.jacfwd(complicated, (0, 1))


def prepare(given: Any) -> tuple[Any, ...]:
    data = given["data"]
    model = data["model"]
    theta = np.array(given["theta"])
    hand = (np.array(model["parents"]), np.array(model["base_relatives"]),
            np.array(model["inverse_base_absolutes"]), np.array(model["base_positions"]),
            np.array(model["weights"]), np.array(data["points"]))
    places = np.array(data["correspondences"])
    if not given.get("us"):
        return theta, *hand, places
    us = np.array(given["us"])
    return np.zeros(2), theta, *hand, np.array(model["triangles"])[places], us


def objective(*args: Any) -> Any:
    return (SIMPLE if len(args) == 8 else COMPLICATED)[0](*args)


def jacobian(*args: Any) -> Any:
    if len(args) == 8:
        return SIMPLE[1](*args)
    return np.concatenate(COMPLICATED[1](*args), axis=2)


FUNCTIONS = {"objective": Evaluation(prepare, objective, lambda e: e.ravel().tolist()),
             "jacobian": Evaluation(prepare, jacobian,
                                    lambda j: j.reshape(-1, j.shape[2]).tolist())}
