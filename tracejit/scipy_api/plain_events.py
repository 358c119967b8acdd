"""Solutions of differential equations between their steps, and events, as Python would have them.

Captured like users' functions. An event's time is a root on a step's interpolation, as in SciPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.plain_odes import Pair, Slope, advance, slope_of

__all__ = ["Events", "followed", "on_pieces", "sampled"]

Event = Callable[..., float]
FOUR_EPS = 4.0 * 2.220446049250313e-16


def interpolated(fun: Slope, pair: Pair, t: float, y: np.ndarray, new: np.ndarray, k: np.ndarray,
                 h: float, args: tuple[object, ...]) -> np.ndarray:
    """Return the coefficients of a step's interpolation: powers times components."""
    if pair.more_a is None or pair.more_c is None or pair.d is None:
        return h * (pair.p.T @ k)
    stages, further = len(k), len(pair.more_c)
    whole = np.zeros((stages + further, y.size))
    whole[:stages] = k
    for s in range(further):
        slope = pair.more_a[s, :stages + s] @ whole[:stages + s]
        whole[stages + s] = slope_of(fun, t + pair.more_c[s] * h, y + h * slope, args)
    change = new - y
    first = [change, h * k[0] - change, 2.0 * change - h * (k[-1] + k[0])]
    return np.concatenate([np.array(first), h * (pair.d @ whole)])


def between(pair: Pair, piece: np.ndarray, y: np.ndarray, x: float) -> np.ndarray:
    """Return the solution at a part x of a step that begins at y."""
    if pair.d is None:
        return y + x ** np.arange(1.0, len(piece) + 1.0) @ piece
    found = np.zeros_like(y)
    for i in range(len(pair.d) + 3):
        found = (found + piece[len(pair.d) + 2 - i]) * (x if i % 2 == 0 else 1.0 - x)
    return found + y


def at_time(pair: Pair, piece: np.ndarray, t: float, y: np.ndarray, h: float,
            s: float) -> np.ndarray:
    """Return the solution at a time s of a step that begins at t with y."""
    return between(pair, piece, y, (s - t) / h if h != 0.0 else 0.0)


def on_pieces(pair: Pair, times: np.ndarray, starts: np.ndarray, lengths: np.ndarray,
              pieces: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the solution at times: times times components; of one at a step's end the earlier."""
    found = np.zeros((len(at), starts.shape[1]))
    last = len(lengths) - 1
    upwards = times[-1] >= times[0]
    for j in range(len(at)):
        where = stop_gradient(at[j])
        if upwards:
            k = np.searchsorted(times, where, side="left") - 1
        else:
            k = np.searchsorted(-times, -where, side="left") - 1
        k = min(max(k, 0), last)
        length = lengths[k]  # 0 of an empty interval
        part = (at[j] - times[k]) / length if length != 0.0 else 0.0
        found[j] = between(pair, pieces[k], starts[k], part)
    return found


def sampled(fun: Slope, pair: Pair, t: float, end: float, y: np.ndarray, f: np.ndarray, size: float,
            most: float, rtol: float, atol: np.ndarray, args: tuple[object, ...],
            at: np.ndarray) -> np.ndarray:
    """Return the solution at times: times times components."""
    found = np.zeros((len(at), y.size))
    sign = 1.0 if end >= t else -1.0
    place = 0
    while place < len(at) and at[place] == t:
        found[place] = y
        place += 1
    while t != end:
        later, k, size = advance(fun, pair, t, end, y, f, size, most, rtol, atol, args)
        h = later - t
        new = y + h * (pair.b @ k[:-1])
        if place < len(at) and sign * (at[place] - later) <= 0.0:
            piece = interpolated(fun, pair, t, y, new, k, h, args)
            while place < len(at) and sign * (at[place] - later) <= 0.0:
                found[place] = between(pair, piece, y, (at[place] - t) / h)
                place += 1
        y = new
        f, t = k[-1], later
    return found


def happens(before: float, after: float, direction: float) -> bool:
    """Whether an event's function changes its sign in a step, in the direction asked for."""
    up = (before <= 0.0) & (after >= 0.0)  # (`and` would be a branch)
    down = (before >= 0.0) & (after <= 0.0)
    if direction > 0.0:
        return up
    if direction < 0.0:
        return down
    return up | down


class Events(NamedTuple):
    """The events of an integration.

    functions  -- whose roots they are
    directions -- in which the functions change their signs: up, down, or 0 for both
    limits     -- how often each may be; then it ends the integration
    find       -- finds a root between two points
    """

    functions: list[Event]
    directions: list[float]
    limits: list[float]
    find: Callable[..., float]


def met(events: Events, path: Callable[[float], np.ndarray], now: np.ndarray, after: np.ndarray,
        counts: np.ndarray, t: float, later: float, args: tuple[object, ...]) -> tuple[
            np.ndarray, np.ndarray, int]:
    """Return the times of the events in a step, which of them count, and the one that ends it, or
    -1.

    path       -- the solution in the step
    now, after -- the values of the events' functions at its ends
    counts     -- how often each has been, which is changed
    """
    sign = 1.0 if later >= t else -1.0
    roots, active = np.zeros(len(now)), np.zeros(len(now), bool)
    stop, which = np.inf, -1
    for e, event in enumerate(events.functions):
        if happens(now[e], after[e], events.directions[e]):
            active[e] = True
            counts[e] += 1.0
            roots[e] = events.find(lambda s: float(event(s, path(s), *args)), t,  # noqa: B023
                                   later, xtol=FOUR_EPS, rtol=FOUR_EPS)
            if (counts[e] >= events.limits[e]) & (sign * roots[e] < stop):
                stop, which = sign * stop_gradient(roots[e]), e
    at, order = sign * stop_gradient(roots), np.arange(len(now))
    return roots, active & ((at < stop) | ((at == stop) & (order <= which))), which


def followed(fun: Slope, pair: Pair, t: float, end: float, y: np.ndarray, f: np.ndarray,
             size: float, most: float, rtol: float, atol: np.ndarray, args: tuple[object, ...],
             events: Events, keeps: bool) -> tuple[object, ...]:
    """Return times, states, and lengths and coefficients of all steps; status and message; times
    and states of events.

    keeps -- whether the interpolation of the steps is asked for
    """
    times, states, lengths, pieces = [t], [y], [], []
    moments: list[list[float]] = [[] for _ in events.functions]
    places: list[list[np.ndarray]] = [[] for _ in events.functions]
    counts = np.zeros(len(events.functions))
    now = np.array([float(event(t, y, *args)) for event in events.functions])
    ended, done = False, bool(t < t)  # as data says it: all steps are one loop's
    while not done:
        later, k, size = advance(fun, pair, t, end, y, f, size, most, rtol, atol, args)
        h = later - t
        new = y + h * (pair.b @ k[:-1])
        piece = interpolated(fun, pair, t, y, new, k, h, args)
        if keeps:
            lengths.append(h)
            pieces.append(piece)
        path = functools.partial(at_time, pair, piece, t, y, h)
        after = np.array([float(event(later, new, *args)) for event in events.functions])
        roots, counting, which = met(events, path, now, after, counts, t, later, args)
        for e in range(len(events.functions)):
            if counting[e]:
                moments[e].append(roots[e])
                places[e].append(path(roots[e]))
        ended = which >= 0
        if ended:
            later = roots[which]
            new = path(later)
        y, f, t, now = new, k[-1], later, after
        times.append(t)
        states.append(y)
        done = bool(ended | (t == end))
    end_of_it = (1, "A termination event occurred.") if ended else (
        0, "The solver successfully reached the end of the integration interval.")
    return (np.array(times), np.array(states), np.array(lengths), np.array(pieces), end_of_it,
            [np.array(x) for x in moments], [np.array(x) for x in places])
