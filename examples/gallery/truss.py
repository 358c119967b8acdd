"""The shape of a truss: where its joints should be for it to be stiff.

A cantilever of bars carries a load at its tip. Stiffness matrices of bars are added up to K; the
compliance is f'u with K u = f (Bendsøe and Sigmund, "Topology optimization", 2003, section 1.2),
the material is limited. Of two bars at a wall that carry a load along it the best stand at right
angles, each at 45 degrees: Michell, Philosophical Magazine 8 (1904).

Assembly by `K[np.ix_(d, d)] += k` and `np.linalg.solve` have gradients, and so has a copy into
which rows are written by an array of their numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Partial differential equations"


def lengths(nodes: np.ndarray, bars: np.ndarray) -> np.ndarray:
    """Return the lengths of bars between nodes, [n, 2]."""
    return np.sqrt(np.sum((nodes[bars[:, 1]] - nodes[bars[:, 0]]) ** 2, axis=1))


def compliance(free: np.ndarray, nodes: np.ndarray, moving: np.ndarray, bars: np.ndarray,
               load: np.ndarray, fixed: int) -> float:
    """Return f'u for bars that share a volume of one by their lengths.

    free   -- places of the nodes that may move, [m, 2]; `moving` are their numbers
    load   -- forces at all nodes, [n, 2]; the first `fixed` nodes are held
    """
    x = nodes.copy()
    x[moving] = free
    area = 1.0 / np.sum(lengths(x, bars))
    K = np.zeros((2 * len(x), 2 * len(x)))
    for a, b in bars:
        d = x[b] - x[a]
        length = np.sqrt(d @ d)
        direction = np.concatenate((-d, d)) / length
        places = np.array([2 * a, 2 * a + 1, 2 * b, 2 * b + 1])
        K[np.ix_(places, places)] += area / length * np.outer(direction, direction)
    f = load.ravel()[2 * fixed:]
    return f @ np.linalg.solve(K[2 * fixed:, 2 * fixed:], f)


def problem(bays: int = 4) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the compliance of a cantilever and its arguments; the tip stays where it is."""
    lower, upper = 2 * np.arange(bays), 2 * np.arange(bays) + 1
    nodes = np.array([[i, j] for i in range(bays) for j in (0.0, 1.0)] + [[bays, 0.5]])
    bars = [(a, a + 2) for a in (*lower[:-1], *upper[:-1])]
    bars += [(a, a + 1) for a in lower[1:]]
    bars += [(a, a + 3) for a in lower[:-1]] + [(a, a + 1) for a in upper[:-1]]
    bars += [(lower[-1], 2 * bays), (upper[-1], 2 * bays)]
    load = np.zeros_like(nodes)
    load[-1] = [0.0, -1.0]
    moving = np.arange(2, 2 * bays)
    return compliance, (nodes[moving], nodes, moving, np.array(bars), load, 2)


def two_bars() -> tuple[Any, ...]:
    """Return the arguments for two bars from a wall at x = 0 whose feet may move; see Michell."""
    nodes = np.array([[0.0, 0.3], [0.0, -0.3], [1.0, 0.0]])
    load = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, -1.0]])
    return nodes[:2], nodes, np.array([0, 1]), np.array([[0, 2], [1, 2]]), load, 2


def main(bays: int = 4) -> dict[str, Any]:
    """Move the joints, up and down and to the sides."""
    value_and_slope = tracejit.value_and_grad(compliance)

    def flat(x: np.ndarray, *data: Any) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(x.reshape(-1, 2), *data)
        return value, slope.ravel()

    start, *data = two_bars()
    feet = minimize(flat, start.ravel(), tuple(data), jac=True, method="L-BFGS-B",
                    bounds=[(0, 0), (0, 3), (0, 0), (-3, 0)], options={"gtol": 1e-9}).x[1::2]
    start, *data = problem(bays)[1]
    found = minimize(flat, start.ravel(), tuple(data), jac=True, method="L-BFGS-B",
                     bounds=[(x - 0.45, x + 0.45) for x in start.ravel()])
    nodes = data[0].copy()
    nodes[data[1]] = found.x.reshape(-1, 2)
    before = compliance(start, *data)
    print(f"compliance {before:.1f} -> {found.fun:.1f}; feet of two bars at {feet.round(4)}")
    return {"nodes": nodes, "bars": data[2], "before": before, "after": found.fun, "feet": feet,
            "first": data[0]}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the truss before and after."""
    for a, b in result["bars"]:
        axes.plot(*result["first"][[a, b]].T, ":", color="C7", linewidth=1)
        axes.plot(*result["nodes"][[a, b]].T, "o-", color="C0", markersize=3)
    tip = result["nodes"][-1]
    axes.annotate("", tip - [0.0, 0.5], tip, arrowprops={"arrowstyle": "->", "color": "C1"})
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.set_title(f"compliance {result['before']:.0f} (dotted), {result['after']:.0f}")
