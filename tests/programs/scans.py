"""Loops over elements where each step needs the one before: sums, sorts, recurrences, tables."""

import numpy as np

from programs.program import program


@program(lambda n, rng: (rng.normal(size=n), rng.normal(size=n)), argnums=(0, 1))
def prefix_sum_in_place(x, w):
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return np.sum(w * np.sin(x))


@program(lambda n, rng: (rng.normal(size=n), 0.7), argnums=(0, 1))
def horner(coefficients, x):
    value = 0.0
    for c in reversed(coefficients):
        value = value * x + c
    return value


@program(lambda n, rng: (rng.normal(size=n), 0.4), argnums=(0, 1))
def horner_with_derivative(c, x):
    p, dp = c[-1], 0.0
    for k in range(len(c) - 2, -1, -1):
        dp = dp * x + p
        p = p * x + c[k]
    return p * dp


@program(lambda n, rng: (rng.normal(size=n),))
def kahan_sum(x):
    total, compensation = 0.0, 0.0
    for value in x:
        y = value * value - compensation
        t = total + y
        compensation = (t - total) - y
        total = t
    return total


@program(lambda n, rng: (rng.normal(size=n), rng.normal(size=n)), argnums=(0, 1))
def bubble_sort(x, weights):
    x = x.copy()
    n = len(x)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                swapped = True
        if not swapped:
            break
    return np.sum(weights * x**2)


@program(lambda n, rng: (rng.normal(size=n), rng.normal(size=n)), argnums=(0, 1))
def insertion_sort(x, weights):
    x = x.copy()
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return np.sum(weights * x)


@program(lambda n, rng: (np.sort(rng.normal(size=n)), np.sort(rng.normal(size=n + 2))),
         argnums=(0, 1))
def merge(left, right):
    out = np.empty(len(left) + len(right))
    i = j = 0
    for k in range(len(out)):
        if j == len(right) or (i < len(left) and left[i] <= right[j]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return np.sum(out * np.arange(len(out)) ** 2)


@program(lambda n, rng: (0.3, 0.2, n), argnums=(0, 1))
def memoised_recurrence(a, b, n):
    memo = np.zeros(n + 2)
    memo[0], memo[1] = 1.0, a
    for k in range(2, n + 2):
        memo[k] = a * memo[k - 1] + b * memo[k // 2] * memo[k - 2]
    return memo[n + 1]


def catalan(n, memo, x):
    """Return a weighted Catalan number, each of them computed once."""
    if n in memo:
        return memo[n]
    total = 0.0
    for k in range(n):
        total = total + catalan(k, memo, x) * catalan(n - 1 - k, memo, x) * x
    memo[n] = total
    return total


@program(lambda n, rng: (0.7, n), compilations=3)
def memoised_recursion(x, n):
    return catalan(n, {0: 1.0}, x)


@program(lambda n, rng: (0.9, n))
def collatz(x, n):
    while n != 1:
        if n % 2 == 0:
            n //= 2
            x = np.sin(x) + 0.5
        else:
            n = 3 * n + 1
            x = x * x - 0.1
    return x


@program(lambda n, rng: (0.9 + n, 1.3), argnums=(0, 1))
def collatz_of_floats(x, a):
    """Halve or stretch, by the size of the value itself."""
    steps = 0
    while x > 1.0:
        x = x / 2 if int(np.floor(np.real(x))) % 2 == 0 else a * x - 2.0 * a + 0.3
        steps += 1
        if steps > 60:
            break
    return x * x


@program(lambda n, rng: (rng.uniform(0.1, 0.9, n), 3.7), argnums=(0, 1), sizes=(3, 5))
def logistic_map_escape(x, r):
    total = 0.0
    for start in x:
        y = start
        for k in range(12):  # noqa: B007
            y = r * y * (1 - y)
            if y > 0.9:
                break
        else:
            continue
        total += y * (k + 1)
    return total + np.sum(x)


@program(lambda n, rng: (rng.normal(size=n),))
def kadane(x):
    """The largest sum of a run of elements."""
    best = current = x[0]
    for value in x[1:]:
        current = max(value, current + value)
        best = max(best, current)
    return best


@program(lambda n, rng: (rng.normal(size=n), 0.3), argnums=(0, 1))
def de_casteljau(points, t):
    b = points.copy()
    n = len(b)
    for r in range(1, n):
        for i in range(n - r):
            b[i] = (1 - t) * b[i] + t * b[i + 1]
    return b[0]


@program(lambda n, rng: (np.arange(n) + rng.uniform(0, 0.5, n), rng.normal(size=n), 1.3),
         argnums=(0, 1, 2))
def newton_divided_differences(x, y, at):
    c = y.copy()
    n = len(x)
    for k in range(1, n):
        c[k:] = (c[k:] - c[k - 1:-1]) / (x[k:] - x[:-k])
    value = c[-1]
    for k in range(2, n + 1):
        value = value * (at - x[-k]) + c[-k]
    return value


@program(lambda n, rng: (np.arange(n) + rng.uniform(0, 0.5, n), rng.normal(size=n), 1.3),
         argnums=(0, 1, 2))
def neville(x, y, at):
    p = y.copy()
    n = len(x)
    for level in range(1, n):
        for i in range(n - level):
            p[i] = ((at - x[i + level]) * p[i] + (x[i] - at) * p[i + 1]) / (x[i] - x[i + level])
    return p[0]


@program(lambda n, rng: (np.arange(n) + rng.uniform(0, 0.5, n), rng.normal(size=n),
                         rng.uniform(0.6, n - 1.1, 4)), argnums=(0, 1, 2))
def table_lookup(x, y, queries):
    total = 0.0
    for q in queries:
        low, high = 0, len(x) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if x[middle] <= q:
                low = middle
            else:
                high = middle
        t = (q - x[low]) / (x[high] - x[low])
        total += (1 - t) * y[low] + t * y[high]
    return total


@program(lambda n, rng: (rng.normal(size=n), 0.3), argnums=(0, 1))
def clenshaw(c, x):
    b1 = b2 = 0.0
    for k in reversed(range(1, len(c))):
        b1, b2 = c[k] + 2 * x * b1 - b2, b1
    return c[0] + x * b1 - b2


@program(lambda n, rng: (rng.normal(size=n),))
def fenwick_tree(x):
    n = len(x)
    tree = np.zeros(n + 1)
    for k in range(n):
        i = k + 1
        while i <= n:
            tree[i] += x[k]
            i += i & -i
    total = 0.0
    for k in range(n):
        i, prefix = k + 1, 0.0
        while i > 0:
            prefix += tree[i]
            i -= i & -i
        total += prefix**2
    return total


@program(lambda n, rng: (rng.normal(size=2**n),), sizes=(2, 3))
def walsh_hadamard(x):
    x = x.copy()
    n = len(x)
    h = 1
    while h < n:
        for i in range(0, n, 2 * h):
            for j in range(i, i + h):
                x[j], x[j + h] = x[j] + x[j + h], x[j] - x[j + h]
        h *= 2
    return np.sum(np.sin(x))


@program(lambda n, rng: (rng.normal(size=n), rng.normal(size=3)), argnums=(0, 1))
def sliding_window(x, kernel):
    out = np.zeros(len(x) - 2)
    for i in range(len(out)):
        window = x[i:i + 3]
        out[i] = window @ kernel
        window[0] = 0.5 * out[i]
    return np.sum(out**2) + np.sum(x)


@program(lambda n, rng: (rng.normal(size=n),))
def overlapping_shift(x):
    x[1:] = x[:-1] + 0.5 * x[1:]
    x[:-1] -= x[1:]
    x[::2] *= 2.0
    return np.sum(x**3)


@program(lambda n, rng: (rng.normal(size=n),))
def reverse_through_a_view(x):
    y = x.copy()
    back = y[::-1]
    for i in range(len(y) // 2):
        back[i] = y[i] * back[i] + 1.0
    return np.sum(y * np.arange(1, len(y) + 1))


@program(lambda n, rng: (rng.normal(size=n), 0.3), argnums=(0, 1))
def linear_congruential_visits(x, a):
    """Walk through an array by integer arithmetic, and change each visited element."""
    x, k, total = x.copy(), 0, 0.0
    for step in range(2 * len(x)):
        k = (5 * k + 3 * step + 1) % len(x)
        total += x[k]
        x[k] = a * np.cos(x[k]) + 0.1 * total
    return total


@program(lambda n, rng: (rng.uniform(0.5, 1.5, n),))
def longest_rise_ends_early(x):
    def ascent(start):
        k = start
        while k + 1 < len(x) and x[k + 1] > x[k]:
            k += 1
        return k

    best, where = 0, 0
    i = 0
    while i < len(x):
        j = ascent(i)
        if j - i > best:
            best, where = j - i, i
        i = j + 1
    return x[where + best] / x[where] + np.sum(x)


@program(lambda n, rng: (np.cumsum(rng.uniform(0.3, 1.0, n)), rng.normal(size=n), 0.7),
         argnums=(0, 1, 2), sizes=(3, 5))
def lagrange_polynomial(xs, ys, t):
    """A filter on indices: the loop around it is unrolled, for every size by itself."""
    total = 0.0
    for i in range(len(xs)):
        total += ys[i] * np.prod([(t - xs[j]) / (xs[i] - xs[j]) for j in range(len(xs)) if j != i])
    return total
