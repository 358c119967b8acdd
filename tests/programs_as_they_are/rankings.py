"""Programs that take, split and rank: tables, heaps, bracketings, agents."""

import bisect
import heapq
import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from programs_as_they_are.table import program


@program(lambda n, rng: (rng.uniform(0.0, 1.0, (n, n)), 0.35, 1.5), argnums=(0, 2), sizes=(5, 8))
def forest_fire(fuel, wet, wind):
    """Breadth first spread of a fire, with the time at which each cell ignites."""
    rows, cols = fuel.shape
    ignition = np.full((rows, cols), np.nan)
    ignition[rows // 2, 0] = 0.0
    frontier = deque([(rows // 2, 0)])
    while frontier:
        i, j = frontier.popleft()
        for di, dj in ((-1, 0), (1, 0), (0, 1), (0, -1)):
            a, b = i + di, j + dj
            if a < 0 or a >= rows or b < 0 or b >= cols:
                continue
            if fuel[a, b] < wet or not np.isnan(ignition[a, b]):
                continue
            speed = fuel[a, b] * (wind if dj > 0 else 1.0)
            ignition[a, b] = ignition[i, j] + 1.0 / speed
            frontier.append((a, b))
    burnt = ~np.isnan(ignition)
    return ignition[burnt].mean() + np.nanmax(ignition) * burnt.sum() / burnt.size


@dataclass
class Animal:
    energy: float
    position: int
    age: int = 0


@program(lambda n, rng: (rng.uniform(0.5, 1.5, 6), 0.4, n), argnums=(0, 1), sizes=(4, 8))
def grazing_animals(grass, cost, days):
    """Agents that eat, split and die: a list that is filtered every day."""
    grass = grass.copy()
    animals = [Animal(1.0, 0), Animal(0.8, 3)]
    for day in range(days):
        born = []
        for animal in animals:
            animal.position = (animal.position + 1 + animal.age % 2) % len(grass)
            eaten = 0.6 * grass[animal.position]
            grass[animal.position] -= eaten
            animal.energy += eaten - cost
            animal.age += 1
            if animal.energy > 1.2:
                animal.energy /= 2
                born.append(Animal(animal.energy, (animal.position + 2) % len(grass)))
        animals = [a for a in animals + born if a.energy > 0.1]
        grass = np.minimum(grass + 0.25, 1.6)
        if not animals:
            break
    return sum(a.energy for a in animals) + grass.sum()


MASSES = [0.5, 0.8, 1.0, 1.5, 2.0, 5.0, 10.0]
LUMINOSITY = [0.04, 0.4, 1.0, 5.0, 16.0, 500.0, 6000.0]


@program(lambda n, rng: (2.0 + 0.1 * n, rng.uniform(0.01, 0.99, 4 * n)), argnums=(0,), sizes=(3, 6))
def cluster_luminosity(slope, uniforms):
    """Stars drawn from a power law by inversion, luminosities by a table in logarithms."""
    lo, hi = MASSES[0], MASSES[-1]
    total = 0.0
    brightest = 0.0
    for u in uniforms:
        m = (lo ** (1 - slope) + u * (hi ** (1 - slope) - lo ** (1 - slope))) ** (1 / (1 - slope))
        k = bisect.bisect_right(MASSES, m) - 1
        k = min(max(k, 0), len(MASSES) - 2)
        w = math.log(m / MASSES[k]) / math.log(MASSES[k + 1] / MASSES[k])
        light = math.exp((1 - w) * math.log(LUMINOSITY[k]) + w * math.log(LUMINOSITY[k + 1]))
        if light > brightest:
            brightest = light
        total += light
    return math.log(total) + brightest / total


@program(lambda n, rng: (np.cumsum(rng.standard_normal(8 * n)), 0.5), argnums=(0,), sizes=(3, 6))
def rainflow_fatigue(stress, exponent):
    """Turning points, then rainflow counting with a stack; Miner's damage."""
    turning = [stress[0]]
    for a, b, c in zip(stress, stress[1:], stress[2:]):
        if (b - a) * (c - b) < 0:
            turning.append(b)
    turning.append(stress[-1])
    stack, cycles = [], []
    for s in turning:
        stack.append(s)
        while len(stack) >= 3:
            new = abs(stack[-1] - stack[-2])
            old = abs(stack[-2] - stack[-3])
            if new < old:
                break
            if len(stack) == 3:
                cycles.append((old, 0.5))
                stack.pop(0)
            else:
                cycles.append((old, 1.0))
                last = stack.pop()
                stack.pop()
                stack.pop()
                stack.append(last)
    for a, b in zip(stack[:-1], stack[1:]):
        cycles.append((abs(b - a), 0.5))
    return sum(count * size ** (3 + exponent) for size, count in cycles) / len(cycles)


@program(lambda n, rng: (rng.uniform(1, 4, n), rng.uniform(0.1, 1.0, n), 3),
         argnums=(0, 1), sizes=(6, 10))
def list_scheduling(durations, weights, machines):
    """Weighted shortest jobs first, each on the machine that is free first."""
    jobs = sorted(range(len(durations)), key=lambda j: durations[j] / weights[j])
    free = [(0.0, m) for m in range(machines)]
    heapq.heapify(free)
    cost = 0.0
    plan = {m: [] for m in range(machines)}
    for j in jobs:
        t, m = heapq.heappop(free)
        end = t + durations[j]
        cost += weights[j] * end
        plan[m].append(j)
        heapq.heappush(free, (end, m))
    makespan = max(t for t, _ in free)
    return cost + makespan


@program(lambda n, rng: (rng.uniform(1, 5, n), rng.uniform(1, 4, n), 1.4 * n),
         argnums=(0,), sizes=(5, 8))
def knapsack_by_branch_and_bound(value, weight, room):
    order = np.argsort(-value / weight)
    value, weight = value[order], weight[order]
    n = len(value)

    def bound(k, v, w):
        while k < n and w + weight[k] <= room:
            v += value[k]
            w += weight[k]
            k += 1
        if k < n:
            v += value[k] * (room - w) / weight[k]
        return v

    best = 0.0
    stack = [(0, 0.0, 0.0)]
    while stack:
        k, v, w = stack.pop()
        if v > best:
            best = v
        if k == n or bound(k, v, w) <= best:
            continue
        stack.append((k + 1, v, w))
        if w + weight[k] <= room:
            stack.append((k + 1, v + value[k], w + weight[k]))
    return best


@program(lambda n, rng: (rng.uniform(0.5, 2, (n, n + 1)), rng.uniform(4, 6, n),
                         rng.uniform(1, 3, n + 1)), argnums=(0, 1, 2), sizes=(2, 4))
def linear_program_by_simplex(A, b, c):
    m, n = A.shape
    T = np.zeros((m + 1, n + m + 1))
    T[:m, :n] = A
    T[:m, n:n + m] = np.eye(m)
    T[:m, -1] = b
    T[m, :n] = -c
    basis = list(range(n, n + m))
    while True:
        j = int(np.argmin(T[m, :-1]))
        if T[m, j] >= -1e-12:
            break
        ratios = [(T[i, -1] / T[i, j], i) for i in range(m) if T[i, j] > 1e-12]
        if not ratios:
            raise ValueError("unbounded")
        _, i = min(ratios)
        T[i] /= T[i, j]
        for k in range(m + 1):
            if k != i:
                T[k] -= T[k, j] * T[i]
        basis[i] = j
    return T[m, -1]
