"""Estimators, likelihoods and chains."""
# ruff: noqa: B905  (a plain zip, as users write it)

import numpy as np

from programs.program import program


@program(lambda n, rng: (rng.normal(size=n),))
def welford(x):
    mean, m2 = 0.0, 0.0
    for k, value in enumerate(x, 1):
        delta = value - mean
        mean += delta / k
        m2 += delta * (value - mean)
    return m2 / (len(x) - 1) + mean**3


@program(lambda n, rng: (rng.normal(size=(n, 3)),))
def online_covariance(rows):
    mean, cov = np.zeros(3), np.zeros((3, 3))
    count = 0
    for row in rows:
        count += 1
        before = row - mean
        mean += before / count
        cov += np.outer(before, row - mean)
    cov /= count - 1
    return np.sum(cov**2) + np.trace(cov)


@program(lambda n, rng: (rng.normal(size=n), rng.normal(size=4), 0.7), argnums=(0, 1, 2))
def kernel_density(data, points, bandwidth):
    log_density = 0.0
    for p in points:
        density = 0.0
        for x in data:
            density += np.exp(-0.5 * ((p - x) / bandwidth) ** 2)
        log_density += np.log(density / (len(data) * bandwidth))
    return log_density


@program(lambda n, rng: (rng.normal(size=(n + 4, 2)), rng.integers(0, 2, n + 4) * 1.0, 0.1),
         argnums=(0, 1, 2))
def logistic_irls(x, y, ridge):
    w = np.zeros(2)
    for _ in range(20):
        p = 1 / (1 + np.exp(-(x @ w)))
        gradient = x.T @ (y - p) - ridge * w
        hessian = (x.T * (p * (1 - p))) @ x + ridge * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        w = w + step
        if np.max(np.abs(step)) < 1e-8:
            break
    return np.sum(w**2)


@program(lambda n, rng: (rng.normal(size=2 * n), np.array([-1.0, 1.5]), np.ones(2)),
         argnums=(0, 1, 2))
def gaussian_mixture_em(x, means, variances):
    weights = np.full(2, 0.5)
    log_likelihood, before = -1e9, -np.inf
    trips = 0
    while log_likelihood - before > 1e-3 and (trips := trips + 1) < 20:
        before = log_likelihood
        squares = (x[:, None] - means) ** 2
        density = weights * np.exp(-0.5 * squares / variances) / np.sqrt(variances)
        total = density.sum(axis=1, keepdims=True)
        log_likelihood = np.sum(np.log(total))
        r = density / total
        counts = r.sum(axis=0)
        weights = counts / len(x)
        means = (r * x[:, None]).sum(axis=0) / counts
        variances = (r * (x[:, None] - means) ** 2).sum(axis=0) / counts + 0.1
    return log_likelihood


@program(lambda n, rng: (rng.normal(size=n), np.array([0.5, -0.2]), np.array([0.3])),
         argnums=(0, 1, 2))
def arma_likelihood(y, phi, theta):
    errors = np.zeros_like(y)
    for t in range(len(y)):
        predicted = 0.0
        for i in range(len(phi)):
            if t - i - 1 >= 0:
                predicted += phi[i] * y[t - i - 1]
        for j in range(len(theta)):
            if t - j - 1 >= 0:
                predicted += theta[j] * errors[t - j - 1]
        errors[t] = y[t] - predicted
    return len(y) * np.log(np.mean(errors**2))


@program(lambda n, rng: (rng.normal(size=2), rng.normal(size=(n, 2)), rng.uniform(0, 1, n),
                         rng.integers(0, 2, n)), argnums=(0, 1))
def cox_partial_likelihood(beta, x, times, events):
    order = np.argsort(-times)
    risk, total = 0.0, 0.0
    for k in order:
        score = x[k] @ beta
        risk += np.exp(score)
        if events[k] == 1:
            total += score - np.log(risk)
    return total + np.sum(beta**2)


@program(lambda n, rng: (rng.normal(size=n), 1.0), argnums=(0, 1))
def huber_location(x, delta):
    center = np.median(x)
    change = 1.0
    while change > 1e-7:
        r = np.abs(x - center)
        w = np.ones_like(x)
        far = r > delta
        w[far] = delta / r[far]
        new = np.sum(w * x) / np.sum(w)
        change = abs(new - center)
        center = new
    return center * 2.0


@program(lambda n, rng: (rng.normal(size=n), rng.normal(size=(n, 2)), rng.normal(size=2), 0.3),
         argnums=(0, 1, 2, 3))
def pinball_loss(y, x, w, quantile):
    total = 0.0
    for row, value in zip(x, y):
        error = value - row @ w
        total += quantile * error if error > 0 else (quantile - 1) * error
    return total / len(y)


@program(lambda n, rng: (rng.normal(size=n) + 0.3 * np.arange(n),))
def isotonic_regression(y):
    """Pool adjacent violators: blocks on a stack are merged while they are out of order."""
    n = len(y)
    means, sizes = np.zeros(n), np.zeros(n, dtype=int)
    top = -1
    for value in y:
        top += 1
        means[top], sizes[top] = value, 1
        while top > 0 and means[top - 1] > means[top]:
            size = sizes[top - 1] + sizes[top]
            means[top - 1] = (sizes[top - 1] * means[top - 1] + sizes[top] * means[top]) / size
            sizes[top - 1] = size
            top -= 1
    total = 0.0
    for k in range(top + 1):
        total += sizes[k] * means[k] ** 2
    return total


@program(lambda n, rng: (np.array([0.3, -0.4]), 0.8, rng.normal(size=(n, 2)), rng.uniform(size=n)),
         argnums=(0, 1, 2))
def metropolis(x, scale, noise, uniform):
    def log_p(x):
        return -0.5 * np.sum(x**2) - 0.1 * np.sum(x**4)

    accepted = 0
    chain = np.zeros((len(noise) + 1, 2))
    chain[0] = x
    for k, (step, u) in enumerate(zip(noise, uniform)):
        proposal = chain[k] + scale * step
        if np.log(u) < log_p(proposal) - log_p(chain[k]):
            chain[k + 1] = proposal
            accepted += 1
        else:
            chain[k + 1] = chain[k]
    return np.mean(chain**2) + 0.1 * accepted


@program(lambda n, rng: (np.array([0.3, -0.4]), rng.normal(size=(n, 2)), 0.2, np.array([1.0, 0.5])),
         argnums=(0, 1, 2, 3))
def hamiltonian_monte_carlo(x, momenta, step, precision):
    def grad_u(x):
        return precision * x + 0.1 * x**3

    energies = np.empty(len(momenta))
    for i, p in enumerate(momenta):
        q = x.copy()
        p -= 0.5 * step * grad_u(q)
        for leap in range(3):
            q += step * p
            if leap != 2:
                p -= step * grad_u(q)
        p -= 0.5 * step * grad_u(q)
        energies[i] = 0.5 * p @ p
        x = q
    return np.sum(x**2) + np.mean(energies) + np.sum(momenta)


@program(lambda n, rng: (rng.normal(size=n + 3), 1.5), argnums=(0, 1))
def winsorised_mean_by_masks(x, limit):
    z = (x - x.mean()) / np.sqrt(np.mean((x - x.mean()) ** 2) + 0.1)
    z[z > limit] = limit
    z[z < -limit] = -limit
    z[np.abs(z) < 0.1] *= 2.0
    return np.sum(z**3) + np.mean(z[z > 0])


@program(lambda n, rng: (rng.normal(size=n), rng.integers(0, n, (4, n))))
def bootstrap_of_means(x, samples):
    means = np.array([np.mean(x[sample]) for sample in samples])
    return np.sum((means - np.mean(x)) ** 2)


@program(lambda n, rng: (rng.normal(size=(n, n)), rng.normal(size=n)), argnums=(0, 1),
         compilations=3)  # unpacking and the step of a slice fix the number of rows
def rows_and_columns_through_views(table, margin):
    """Centre rows, then columns, then the diagonal: all of them views of one table."""
    for row in table:
        row -= row.mean()
    for column in table.T:
        column *= 1 + 0.1 * column[0]
    diagonal = table.reshape(-1)[::len(table) + 1]
    diagonal += margin
    first, *_, last = table
    first[:], last[:] = last.copy(), first.copy()
    return np.sum(table * np.arange(table.size).reshape(table.shape))


@program(lambda n, rng: ({"x": rng.normal(size=n), "weights": [0.3, 0.7]},
                         {"power": 2, "shift": 0.5}))
def nested_settings(data, settings):
    total = 0.0
    for w in data["weights"]:
        for x in data["x"]:
            if -1.0 < x <= 1.0:
                total += w * (x - settings["shift"]) ** settings["power"]
            else:
                total += w * abs(x)
    return total
