"""g: 1000 Runge–Kutta steps of the Lotka–Volterra equations, in scalars."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload


def plain(p: Any, steps: int, h: float) -> Any:
    a, b, g, d, x, y = p[0], p[1], p[2], p[3], p[4], p[5]
    loss = 0.0
    for _ in range(steps):
        k1 = a * x - b * x * y
        l1 = d * x * y - g * y
        x2 = x + 0.5 * h * k1
        y2 = y + 0.5 * h * l1
        k2 = a * x2 - b * x2 * y2
        l2 = d * x2 * y2 - g * y2
        x3 = x + 0.5 * h * k2
        y3 = y + 0.5 * h * l2
        k3 = a * x3 - b * x3 * y3
        l3 = d * x3 * y3 - g * y3
        x4 = x + h * k3
        y4 = y + h * l3
        k4 = a * x4 - b * x4 * y4
        l4 = d * x4 * y4 - g * y4
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y = y + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        loss = loss + h * ((x - 1) ** 2 + (y - 1) ** 2)
    return loss


@numba.njit(error_model="numpy")
def hand(p: Any, steps: Any, h: Any) -> Any:
    a, b, g, d, x, y = p[0], p[1], p[2], p[3], p[4], p[5]
    X = np.empty((steps + 1, 2))
    X[0, 0] = x
    X[0, 1] = y
    loss = 0.0
    for s in range(steps):
        k1 = a * x - b * x * y
        l1 = d * x * y - g * y
        x2 = x + 0.5 * h * k1
        y2 = y + 0.5 * h * l1
        k2 = a * x2 - b * x2 * y2
        l2 = d * x2 * y2 - g * y2
        x3 = x + 0.5 * h * k2
        y3 = y + 0.5 * h * l2
        k3 = a * x3 - b * x3 * y3
        l3 = d * x3 * y3 - g * y3
        x4 = x + h * k3
        y4 = y + h * l3
        k4 = a * x4 - b * x4 * y4
        l4 = d * x4 * y4 - g * y4
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y = y + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        X[s + 1, 0] = x
        X[s + 1, 1] = y
        loss += h * ((x - 1) ** 2 + (y - 1) ** 2)
    a_bar = b_bar = g_bar = d_bar = x_bar = y_bar = 0.0
    q = h / 6
    for s in range(steps - 1, -1, -1):
        x_bar += 2 * h * (X[s + 1, 0] - 1)
        y_bar += 2 * h * (X[s + 1, 1] - 1)
        x = X[s, 0]
        y = X[s, 1]
        k1 = a * x - b * x * y
        l1 = d * x * y - g * y
        x2 = x + 0.5 * h * k1
        y2 = y + 0.5 * h * l1
        k2 = a * x2 - b * x2 * y2
        l2 = d * x2 * y2 - g * y2
        x3 = x + 0.5 * h * k2
        y3 = y + 0.5 * h * l2
        k3 = a * x3 - b * x3 * y3
        l3 = d * x3 * y3 - g * y3
        x4 = x + h * k3
        y4 = y + h * l3
        k_bar = q * x_bar
        l_bar = q * y_bar
        x4_bar = k_bar * (a - b * y4) + l_bar * d * y4
        y4_bar = -k_bar * b * x4 + l_bar * (d * x4 - g)
        a_bar += k_bar * x4
        b_bar -= k_bar * x4 * y4
        d_bar += l_bar * x4 * y4
        g_bar -= l_bar * y4
        k_bar = 2 * q * x_bar + h * x4_bar
        l_bar = 2 * q * y_bar + h * y4_bar
        x3_bar = k_bar * (a - b * y3) + l_bar * d * y3
        y3_bar = -k_bar * b * x3 + l_bar * (d * x3 - g)
        a_bar += k_bar * x3
        b_bar -= k_bar * x3 * y3
        d_bar += l_bar * x3 * y3
        g_bar -= l_bar * y3
        k_bar = 2 * q * x_bar + 0.5 * h * x3_bar
        l_bar = 2 * q * y_bar + 0.5 * h * y3_bar
        x2_bar = k_bar * (a - b * y2) + l_bar * d * y2
        y2_bar = -k_bar * b * x2 + l_bar * (d * x2 - g)
        a_bar += k_bar * x2
        b_bar -= k_bar * x2 * y2
        d_bar += l_bar * x2 * y2
        g_bar -= l_bar * y2
        k_bar = q * x_bar + 0.5 * h * x2_bar
        l_bar = q * y_bar + 0.5 * h * y2_bar
        x_bar = x_bar + x4_bar + x3_bar + x2_bar + k_bar * (a - b * y) + l_bar * d * y
        y_bar = y_bar + y4_bar + y3_bar + y2_bar - k_bar * b * x + l_bar * (d * x - g)
        a_bar += k_bar * x
        b_bar -= k_bar * x * y
        d_bar += l_bar * x * y
        g_bar -= l_bar * y
    return loss, np.array([a_bar, b_bar, g_bar, d_bar, x_bar, y_bar])


def in_jax(jax: Any, p: Any, steps: int, h: float) -> Any:
    a, b, g, d = p[0], p[1], p[2], p[3]

    def step(state: Any, _: Any) -> Any:
        x, y, loss = state
        k1 = a * x - b * x * y
        l1 = d * x * y - g * y
        x2 = x + 0.5 * h * k1
        y2 = y + 0.5 * h * l1
        k2 = a * x2 - b * x2 * y2
        l2 = d * x2 * y2 - g * y2
        x3 = x + 0.5 * h * k2
        y3 = y + 0.5 * h * l2
        k3 = a * x3 - b * x3 * y3
        l3 = d * x3 * y3 - g * y3
        x4 = x + h * k3
        y4 = y + h * l3
        k4 = a * x4 - b * x4 * y4
        l4 = d * x4 * y4 - g * y4
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y = y + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        loss = loss + h * ((x - 1) ** 2 + (y - 1) ** 2)
        return (x, y, loss), None

    start = (p[4], p[5], 0.0 * p[4])
    return jax.lax.scan(step, start, None, length=steps)[0][2]


WORKLOAD = Workload(
    key="g", title="Lotka–Volterra RK4, 1000 steps", plain=plain,
    arguments=lambda: (np.array([1.5, 1.0, 3.0, 1.0, 1.0, 1.0]), 1000, 0.01),
    hand=hand, forms={"JAX": in_jax}, at_least=40, at_most=1.2)
