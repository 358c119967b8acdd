"""Layered drawings: rectangles in rows, edges from row to row, few crossings, straight lines.

Pure geometry. `arrange` puts cells that have a row in order and gives each its x; wires that pass
a row without ending in it are led through it, and all wires from one port share their way.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np

__all__ = ["LayoutCell", "Wire", "arrange", "rows_by_longest_path", "settle"]

CELL_GAP = 16.0
WIRE_GAP = 9.0
ORDER_SWEEPS = 8
PLACE_SWEEPS = 3
RELAXATIONS = 24
STIFFNESS = 0.5
CONJUGATE_STEPS = 12
CLOSE = 0.5
SNAP = 30.0
LEAN = 0.2
PULL = (1.0, 2.0, 16.0)
"""How strongly links are straightened: between cells, a cell and a point, two points."""

Links = dict[int, list[tuple[int, float, float]]]
"""Per vertex its neighbours in the next row, with where a link meets it and where the neighbour."""


@dataclass(slots=True)
class LayoutCell:
    """A rectangle; `x` is where its middle is put, in the row that it is given.

    is_first -- whether it comes first in its row
    """

    width: float
    height: float
    row: int = 0
    is_first: bool = False
    x: float = 0.0


@dataclass(frozen=True, slots=True)
class Wire:
    """From a cell to one in a later row; where it leaves and arrives, from the middle of each."""

    source: int
    target: int
    leaves: float = 0.0
    arrives: float = 0.0


def rows_by_longest_path(count: int, links: Iterable[tuple[int, int]]) -> list[int]:
    """Return a row per vertex such that every link leads to a later one; links must be acyclic.

    A vertex to which nothing leads stands just above the first that it leads to.
    """
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for a, b in links:
        before[b].append(a)
        after[a].append(b)
    rows = [0] * count
    waiting = [len(b) for b in before]
    ready = [v for v in range(count) if not waiting[v]]
    for v in ready:
        for w in after[v]:
            rows[w] = max(rows[w], rows[v] + 1)
            waiting[w] -= 1
            if not waiting[w]:
                ready.append(w)
    for v in range(count):
        if not before[v] and after[v]:
            rows[v] = min(rows[w] for w in after[v]) - 1
    return rows


def arrange(cells: Sequence[LayoutCell], wires: Sequence[Wire]) -> list[list[tuple[int, float]]]:
    """Give every cell its x, and return per wire its way: (row, x) from source to target."""
    layers = _Layers(cells, wires)
    layers.order()
    layers.place()
    ways = []
    for wire, chain in zip(wires, layers.chains, strict=True):
        way = [(layers.row[v], layers.x[v]) for v in chain]
        way[0] = (way[0][0], way[0][1] + wire.leaves)
        way[-1] = (way[-1][0], way[-1][1] + wire.arrives)
        ways.append(way)
    for v, cell in enumerate(cells):
        cell.x = layers.x[v]
    return ways


class _Layers:
    """Cells and, behind them, the points at which wires pass rows; links join adjacent rows."""

    def __init__(self, cells: Sequence[LayoutCell], wires: Sequence[Wire]) -> None:
        self.width = [c.width for c in cells]
        self.row = [c.row for c in cells]
        self.x: list[float] = []
        self.count = len(cells)
        self.wires = wires
        self.gaps: list[list[float]] = []
        self.first = [c.is_first for c in cells]
        self.chains: list[list[int]] = []
        self.up: Links = defaultdict(list)
        self.down: Links = defaultdict(list)
        links: set[tuple[int, int, float, float]] = set()
        passing: dict[tuple[int, float, int], int] = {}
        for wire in wires:
            chain = [wire.source]
            for row in range(self.row[wire.source] + 1, self.row[wire.target]):
                key = (wire.source, wire.leaves, row)
                if key not in passing:
                    passing[key] = self._point(row)
                chain.append(passing[key])
            chain.append(wire.target)
            self.chains.append(chain)
            for a, b in pairwise(chain):
                link = (a, b, wire.leaves if a == wire.source else 0.0,
                        wire.arrives if b == wire.target else 0.0)
                if link not in links:
                    links.add(link)
                    self.down[a].append((b, link[2], link[3]))
                    self.up[b].append((a, link[3], link[2]))
        depth = max(self.row, default=-1) + 1
        self.rows: list[list[int]] = [[] for _ in range(depth)]
        for v, row in enumerate(self.row):
            self.rows[row].append(v)
        for members in self.rows:
            members.sort(key=lambda v: not self.first[v])

    def _point(self, row: int) -> int:
        self.width.append(0.0)
        self.row.append(row)
        self.first.append(False)
        return len(self.width) - 1

    # --- the order within rows ------------------------------------------------------------------

    def order(self) -> None:
        """Sort rows by the means of their neighbours' places, keeping the best order met."""
        best, fewest = [list(r) for r in self.rows], self.crossings()
        for sweep in range(ORDER_SWEEPS):
            if not fewest:
                break
            rows = self.rows if sweep % 2 == 0 else self.rows[::-1]
            for members, other in zip(rows[1:], rows, strict=False):
                self._sort(members, other, self.up if sweep % 2 == 0 else self.down)
            crossings = self.crossings()
            if crossings < fewest:
                best, fewest = [list(r) for r in self.rows], crossings
        self.rows = best

    def _sort(self, members: list[int], other: list[int],
              links: Links) -> None:
        place = {v: float(k) for k, v in enumerate(other)}
        keys: dict[int, tuple[bool, float]] = {}
        for k, v in enumerate(members):
            ends = [place[w] + theirs / (self.width[w] + 1.0) for w, _, theirs in links[v]]
            own = (k + 0.5) * len(other) / len(members) - 0.5
            keys[v] = (not self.first[v], sum(ends) / len(ends) if ends else own)
        members.sort(key=keys.__getitem__)

    def crossings(self) -> int:
        """Return how often links cross."""
        total = 0
        for members, below in zip(self.rows, self.rows[1:], strict=False):
            place = {v: k for k, v in enumerate(below)}
            ends = sorted((k + ours / (self.width[v] + 1), place[w] + theirs / (self.width[w] + 1))
                          for k, v in enumerate(members) for w, ours, theirs in self.down[v])
            seen: list[float] = []
            for _, end in ends:
                total += len(seen) - bisect_left(seen, end + 1e-9)
                insort(seen, end)
        return total

    # --- coordinates ----------------------------------------------------------------------------

    def place(self) -> None:
        """Move every vertex towards its neighbours, as far as the vertices beside it let it."""
        self.x = [0.0] * len(self.width)
        self.gaps = [[self.apart(v, w) for v, w in pairwise(members)]
                     for members in self.rows]
        for members, gaps in zip(self.rows, self.gaps, strict=True):
            for v, w, gap in zip(members, members[1:], gaps, strict=False):
                self.x[w] = self.x[v] + gap
        rows = range(len(self.rows))
        for _ in range(PLACE_SWEEPS):
            for row in rows[1:]:
                self._pull(row, self.up)
            for row in rows[-2::-1]:
                self._pull(row, self.down)
        self._relax()
        for _ in range(2):
            self._straighten()

    def _pull(self, row: int, links: Links) -> None:
        """Move a row to the means of its neighbours in the row before."""
        wanted, weights = [], []
        for v in self.rows[row]:
            total = weight = 0.0
            for w, ours, theirs in links[v]:
                total += self.pull(v, w) * (self.x[w] + theirs - ours)
                weight += self.pull(v, w)
            wanted.append(total / weight if weight else self.x[v])
            weights.append(weight or 0.01)
        for v, x in zip(self.rows[row], settle(wanted, weights, self.gaps[row]), strict=True):
            self.x[v] = x

    def _relax(self) -> None:
        """Let links act as springs: alternate between their balance and the nearest x that fit.

        It is the alternating direction method of multipliers, `moved` being the multipliers.
        """
        springs = _Springs(self)
        fit = np.array(self.x)
        balanced, moved = fit, np.zeros(len(fit))
        for _ in range(RELAXATIONS):
            balanced = springs.balance(fit - moved, balanced)
            wanted = (balanced + moved).tolist()
            for members, gaps in zip(self.rows, self.gaps, strict=True):
                fit[members] = settle([wanted[v] for v in members], [1.0] * len(members), gaps)
            moved += balanced - fit
            if len(fit) and abs(balanced - fit).max() < CLOSE:
                break
        self.x = fit.tolist()

    def _straighten(self) -> None:
        """Put the points of each wire on as few verticals as fit between neighbouring vertices."""
        room: dict[int, tuple[int | None, int | None]] = {}
        for members in self.rows:
            for k, v in enumerate(members):
                room[v] = (members[k - 1] if k else None,
                           members[k + 1] if k + 1 < len(members) else None)
        done: set[int] = set()
        for wire, chain in zip(self.wires, self.chains, strict=True):
            ends = (self.x[chain[0]] + wire.leaves, self.x[chain[-1]] + wire.arrives)
            run: list[int] = []
            low, high = -inf, inf
            for v in (v for v in chain[1:-1] if v not in done):
                left, right = room[v]
                a = -inf if left is None else self.x[left] + self.apart(left, v)
                b = inf if right is None else self.x[right] - self.apart(v, right)
                if max(a, low) > min(b, high):
                    self._line_up(run, low, high, ends)
                    run, low, high = [], -inf, inf
                run.append(v)
                low, high = max(a, low), min(b, high)
            self._line_up(run, low, high, ends)
            done.update(chain)

    def _line_up(self, run: list[int], low: float, high: float, ends: tuple[float, ...]) -> None:
        """Put points on a vertical between two limits, one that ends in a cell if it may be."""
        if run:
            mean = sum(self.x[v] for v in run) / len(run)
            near = [x for x in ends if low <= x <= high and abs(x - mean) < SNAP]
            for v in run:
                self.x[v] = near[0] if near else min(max(mean, low), high)

    def pull(self, v: int, w: int) -> float:
        """Return how strongly the link of two vertices is straightened."""
        return PULL[(v >= self.count) + (w >= self.count)]

    def apart(self, v: int, w: int) -> float:
        """Return how far apart the middles of two that are beside each other must be."""
        gap = CELL_GAP if v < self.count and w < self.count else WIRE_GAP
        return (self.width[v] + self.width[w]) / 2 + gap


class _Springs:
    """Links as springs; a rectangle without links leans on its neighbours."""

    def __init__(self, layers: _Layers) -> None:
        links: list[tuple[int, int, float, float]] = []
        for v in range(len(layers.x)):
            for w, ours, theirs in layers.down[v]:
                links.append((v, w, ours - theirs, layers.pull(v, w)))
        for members in layers.rows:
            for v, w in pairwise(members):
                if not (layers.up[v] or layers.down[v]) or not (layers.up[w] or layers.down[w]):
                    links.append((v, w, layers.apart(v, w), LEAN))
        columns = list(zip(*links, strict=True)) or [(), (), (), ()]
        self.v, self.w = np.array(columns[0], int), np.array(columns[1], int)
        self.length, self.pull = np.array(columns[2], float), np.array(columns[3], float)
        self.size = len(layers.x)
        self.force = self._spread(self.pull * -self.length)

    def _spread(self, along: np.ndarray) -> np.ndarray:
        """Return per vertex the sum over its springs, which act on both ends."""
        return np.asarray(np.bincount(self.v, along, self.size)
                          - np.bincount(self.w, along, self.size))

    def balance(self, held: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return where springs and the pull towards `held` are in balance, beginning at `x`.

        By conjugate gradients.
        """
        right = self.force + STIFFNESS * held
        residual = right - self._act(x)
        step, size = residual, float(residual @ residual)
        for _ in range(CONJUGATE_STEPS):
            if size < 1e-3 * self.size:
                break
            acted = self._act(step)
            rate = size / float(step @ acted)
            x = x + rate * step
            residual = residual - rate * acted
            before, size = size, float(residual @ residual)
            step = residual + size / before * step
        return x

    def _act(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(STIFFNESS * x + self._spread(self.pull * (x[self.v] - x[self.w])))


def settle(wanted: Sequence[float], weights: Sequence[float],
           apart: Sequence[float]) -> list[float]:
    """Return the x nearest to the `wanted` ones, in weighted squares, that are `apart` or further.

    Less the required distances it is a monotone regression, solved by pooling neighbours that
    violate the order.
    """
    if not apart:
        return list(wanted)
    pools: list[tuple[float, float, int]] = []
    offsets = [0.0]
    for gap in apart:
        offsets.append(offsets[-1] + gap)
    for x, weight, offset in zip(wanted, weights, offsets, strict=False):
        mean, mass, size = x - offset, weight, 1
        while pools and pools[-1][0] >= mean:
            other, more, count = pools.pop()
            mean = (mean * mass + other * more) / (mass + more)
            mass, size = mass + more, size + count
        pools.append((mean, mass, size))
    means = [mean for mean, _, size in pools for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]
