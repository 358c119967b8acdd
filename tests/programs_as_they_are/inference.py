"""Statistics: likelihoods, smoothers, orders, missing numbers."""

import numpy as np
from numpy.linalg import LinAlgError, cholesky, solve

from programs_as_they_are.table import program


@program(lambda n, rng: (rng.uniform(0.5, 1.0, 2), np.sort(rng.uniform(0, 3, n)),
                         rng.standard_normal(n)), differences=1e-5)
def gaussian_process_evidence(theta, x, y):
    length, noise = theta
    k = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / length ** 2)
    k[np.diag_indices_from(k)] += noise ** 2
    jitter = 0.0
    while True:
        try:
            chol = cholesky(k + jitter * np.eye(len(x)))
            break
        except LinAlgError:
            jitter = max(1e-10, 10 * jitter)
            if jitter > 1e-2:
                raise
    z = solve(chol, y)
    return -0.5 * z @ z - np.log(np.diag(chol)).sum() - 0.5 * len(x) * np.log(2 * np.pi)


@program(lambda n, rng: (0.5, rng.uniform(0, 1, n), rng.standard_normal(n)), argnums=(0, 1, 2))
def leave_one_out_score(bandwidth, x, y):
    n = len(x)
    total = 0.0
    for i in range(n):
        others = np.arange(n) != i
        w = np.exp(-0.5 * ((x[others] - x[i]) / bandwidth) ** 2)
        if w.sum() < 1e-12:
            continue
        total += (y[i] - np.dot(w, y[others]) / w.sum()) ** 2
    return total / n


@program(lambda n, rng: (np.sort(rng.uniform(0, 4, n)), rng.standard_normal(n)), argnums=(0, 1))
def theil_sen(x, y):
    slopes = []
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if x[j] != x[i]:
                slopes.append((y[j] - y[i]) / (x[j] - x[i]))
    slope = np.median(slopes)
    intercept = np.median(y - slope * x)
    return slope + 0.5 * intercept


@program(lambda n, rng: (rng.standard_normal(n).cumsum() + np.arange(n) * 0.3,
                         rng.uniform(0.5, 2, n)), argnums=(0, 1))
def pool_adjacent_violators(y, w):
    blocks = []
    for yi, wi in zip(y, w):
        blocks.append([yi, wi, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            y2, w2, n2 = blocks.pop()
            y1, w1, n1 = blocks.pop()
            blocks.append([(y1 * w1 + y2 * w2) / (w1 + w2), w1 + w2, n1 + n2])
    fit = []
    for value, _, count in blocks:
        fit.extend([value] * count)
    return np.sum(w * (y - np.array(fit)) ** 2) + fit[-1]


@program(lambda n, rng: (rng.uniform(0.5, 2.0, n), np.round(rng.uniform(0, 4, n)),
                         rng.uniform(0, 1, n) < 0.7))
def weighted_kaplan_meier(weights, times, died):
    """The mean of the survival curve, restricted to the last time seen."""
    survival, before, area = 1.0, 0.0, 0.0
    for t in np.unique(times[died]):
        at_risk = weights[times >= t].sum()
        deaths = weights[(times == t) & died].sum()
        area += survival * (t - before)
        survival *= 1 - deaths / at_risk
        before = t
    return area + survival * (times.max() - before)


class RunningMoments:
    def __init__(self):
        self.n, self.mean, self.m2 = 0, 0.0, 0.0

    def push(self, x):
        self.n += 1
        delta = x - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (x - self.mean)

    @property
    def variance(self):
        return self.m2 / (self.n - 1) if self.n > 1 else np.nan


@program(lambda n, rng: (np.where(np.arange(4 * n) % 7 == 3, 30.0, 1.0)
                         * rng.standard_normal(4 * n), 2.5))
def clipped_moments(x, cut):
    """Sigma clipping: moments again and again, of the elements within `cut` deviations."""
    keep = x
    for _ in range(10):
        moments = RunningMoments()
        for v in keep:
            moments.push(v)
        inside = keep[np.abs(keep - moments.mean) < cut * np.sqrt(moments.variance)]
        if len(inside) == len(keep):
            break
        keep = inside
    return moments.mean + moments.variance
