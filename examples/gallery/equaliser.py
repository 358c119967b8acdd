"""An equaliser: a recursive filter that undoes a room.

A filter of second-order sections is fitted such that the response of room and filter together is
flat: the Robert Bristow-Johnson formulas of peaking filters (Audio EQ cookbook), with gain,
frequency and width of each section as unknowns; responses by `scipy.signal.freqz`'s formula, b(z)
/ a(z).

The coefficients of sections are stacked in a loop. Magnitudes in decibels are logarithms of
absolute values of complex numbers, whose gradient is real. The sound goes through
`scipy.signal.lfilter`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.signal import lfilter

import tracejit

FIELD = "Signals"
RATE = 48_000.0


def section(gain: float, frequency: float, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of a peaking filter: gain in dB, frequency in Hz, width as 1 / Q."""
    A, w = 10 ** (gain / 40), 2 * np.pi * frequency / RATE
    alpha = np.sin(w) * width / 2
    b = np.array([1 + alpha * A, -2 * np.cos(w), 1 - alpha * A])
    a = np.array([1 + alpha / A, -2 * np.cos(w), 1 - alpha / A])
    return b / a[0], a / a[0]


def decibels(sections: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Return the response of sections in a row.

    sections -- gain, log of the frequency and log of the width of each: [n, 3]
    """
    z = np.exp(-2j * np.pi * frequencies / RATE)
    total = np.zeros(len(frequencies))
    for gain, log_frequency, log_width in sections:
        b, a = section(gain, np.exp(log_frequency), np.exp(log_width))
        response = (b[0] + b[1] * z + b[2] * z ** 2) / (a[0] + a[1] * z + a[2] * z ** 2)
        total += 20 * np.log10(np.abs(response))
    return total


def unevenness(sections: np.ndarray, room: np.ndarray, frequencies: np.ndarray) -> float:
    """Return the mean square of the response of both, in dB²."""
    return np.mean((decibels(sections, frequencies) + room) ** 2)


def resonances() -> np.ndarray:
    """Return what the room does, in the form of sections."""
    return np.array([[6.0, np.log(120.0), np.log(0.4)], [-5.0, np.log(450.0), np.log(0.8)],
                     [4.0, np.log(2200.0), np.log(1.0)], [-7.0, np.log(8000.0), np.log(0.6)]])


def problem(points: int = 200) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: sections that do little, the room, and frequencies."""
    frequencies = np.geomspace(30.0, 16_000.0, points)
    start = np.stack([np.full(4, 0.1), np.log(np.geomspace(100.0, 10_000.0, 4)), np.zeros(4)], 1)
    return unevenness, (start, decibels(resonances(), frequencies), frequencies)


def main(points: int = 200, samples: int = 4000) -> dict[str, Any]:
    """Fit the filter, and send an impulse through room and filter."""
    loss, (start, *data) = problem(points)
    value_and_slope = tracejit.value_and_grad(loss)

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(x.reshape(-1, 3), *data)
        return value, slope.ravel()

    found = minimize(flat, start.ravel(), jac=True, method="BFGS", options={"gtol": 1e-9})
    sections = found.x.reshape(-1, 3)
    sound = np.zeros(samples)
    sound[0] = 1.0
    for gain, log_frequency, log_width in (*resonances(), *sections):
        sound = lfilter(*section(gain, np.exp(log_frequency), np.exp(log_width)), sound)
    echo = np.abs(sound[1:]).max() / sound[0]
    print(f"unevenness {np.sqrt(np.mean(data[0] ** 2)):.2f} dB -> {np.sqrt(found.fun):.1e} dB, "
          f"echo of an impulse {echo:.1e}")
    return {"sections": sections, "room": data[0], "frequencies": data[1], "echo": echo,
            "uneven": np.sqrt(found.fun)}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the responses."""
    ours, room = decibels(result["sections"], result["frequencies"]), result["room"]
    for values, name in ((room, "room"), (ours, "filter"), (room + ours, "both")):
        axes.semilogx(result["frequencies"], values, label=name)
    axes.set(xlabel="Hz", ylabel="dB")
    axes.legend()
