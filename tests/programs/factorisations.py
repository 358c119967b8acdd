"""Matrix factorisations and triangular solves, element by element."""

import numpy as np

from programs.program import program


def positive(n, rng):
    a = rng.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


def dominant(n, rng):
    return rng.normal(size=(n, n)) + 2 * n * np.eye(n)


@program(lambda n, rng: (positive(n, rng),))
def cholesky(a):
    n = len(a)
    factor = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            if i == j:
                factor[i, i] = np.sqrt(s)
            else:
                factor[i, j] = s / factor[j, j]
    return np.sum(np.log(np.diag(factor))) + np.sum(factor**3)


@program(lambda n, rng: (positive(n, rng),))
def cholesky_in_place(a):
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(np.tril(a) ** 3)


@program(lambda n, rng: (dominant(n, rng), rng.normal(size=n)), argnums=(0, 1))
def lu_solve(a, b):
    n = len(a)
    lu, x = a.copy(), b.copy()
    for k in range(n):
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
    for i in range(n):
        for j in range(i):
            x[i] -= lu[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= lu[i, j] * x[j]
        x[i] /= lu[i, i]
    return np.sum(x**2)


@program(lambda n, rng: (rng.normal(size=(n, n)), rng.normal(size=n)), argnums=(0, 1))
def gaussian_elimination_with_pivoting(a, b):
    a, b = a.copy(), b.copy()
    n, sign = len(b), 1.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(n):
                a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
            b[k], b[pivot] = b[pivot], b[k]
            sign = -sign
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - a[i, i + 1:] @ x[i + 1:]) / a[i, i]
    return x @ x + sign * np.prod(np.diag(a))


@program(lambda n, rng: (rng.normal(size=(n, n)),))
def pivoting_by_row_swaps(a):
    """Rows change places by an index array on both sides."""
    a = a.copy()
    determinant = 1.0
    for k in range(len(a)):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            determinant *= -1
        determinant *= a[k, k]
        a[k + 1:, k:] -= np.outer(a[k + 1:, k] / a[k, k], a[k, k:])
    return determinant


@program(lambda n, rng: (rng.normal(size=(n + 1, n)),))
def gram_schmidt(a):
    """PolyBench's QR, by columns."""
    m, n = a.shape
    q, r = np.zeros((m, n)), np.zeros((n, n))
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += a[i, k] * a[i, k]
        r[k, k] = np.sqrt(norm)
        for i in range(m):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            for i in range(m):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(m):
                a[i, j] -= q[i, k] * r[k, j]
    return np.sum(q**3) + np.sum(r**2)


@program(lambda n, rng: (rng.normal(size=(n, n + 2)),))
def modified_gram_schmidt_of_rows(a):
    basis = a.copy()
    for i, row in enumerate(basis):
        row /= np.sqrt(row @ row)
        for other in basis[i + 1:]:
            other -= (other @ row) * row
    return np.sum(basis**3)


@program(lambda n, rng: (rng.normal(size=(n + 1, n)),))
def householder(a):
    r = a.copy()
    n = r.shape[1]
    for k in range(n):
        v = r[k:, k].copy()
        v[0] += np.sign(v[0]) * np.sqrt(np.sum(v**2))
        v /= np.sqrt(np.sum(v**2))
        r[k:, k:] -= 2.0 * np.outer(v, v @ r[k:, k:])
    return np.sum(np.triu(r) ** 3)


@program(lambda n, rng: (rng.normal(size=(n + 1, n)),), sizes=(3, 4, 6))
def givens_rotations(a):
    a = a.copy()
    m, n = a.shape
    for j in range(n):
        for i in range(m - 1, j, -1):
            radius = np.sqrt(a[i - 1, j] ** 2 + a[i, j] ** 2)
            c, s = a[i - 1, j] / radius, a[i, j] / radius
            upper, lower = a[i - 1].copy(), a[i].copy()
            a[i - 1] = c * upper + s * lower
            a[i] = c * lower - s * upper
    return np.sum(a**3)


@program(lambda n, rng: (dominant(n, rng), rng.normal(size=n)), argnums=(0, 1))
def triangular_solves(a, b):
    n = len(b)
    y = np.empty(n)
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= a[i, j] * y[j]
        y[i] = s / a[i, i]
    x = y
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= a[i, j] * x[j]
        x[i] /= a[i, i]
    return np.sum(x**2)


@program(lambda n, rng: (rng.normal(size=n), 4 + rng.normal(size=n), rng.normal(size=n),
                         rng.normal(size=n)), argnums=(0, 1, 2, 3))
def thomas(a, b, c, d):
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[-1] /= b[-1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]
    return np.sum(d**2)


@program(lambda n, rng: (dominant(n, rng),))
def gauss_jordan_inverse(a):
    n = len(a)
    work = np.hstack([a, np.eye(n)])
    for k in range(n):
        work[k] /= work[k, k]
        for i in range(n):
            if i != k:
                work[i] -= work[i, k] * work[k]
    return np.sum(work[:, n:] ** 2)


@program(lambda n, rng: (positive(n, rng),))
def ldl(a):
    n = len(a)
    lower, d = np.eye(n), np.zeros(n)
    for j in range(n):
        d[j] = a[j, j] - np.sum(lower[j, :j] ** 2 * d[:j])
        for i in range(j + 1, n):
            lower[i, j] = (a[i, j] - np.sum(lower[i, :j] * lower[j, :j] * d[:j])) / d[j]
    return np.sum(np.log(d)) + np.sum(lower**3)


@program(lambda n, rng: (positive(n, rng),), sizes=(3, 4))
def jacobi_eigenvalues(a):
    """Cyclic rotations until the elements off the diagonal have gone."""
    n = len(a)
    for _ in range(20):
        off = 0.0
        for i in range(n):
            for j in range(i):
                off += a[i, j] ** 2
        if off < 1e-14:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                theta = 0.5 * np.arctan(2 * a[p, q] / (a[q, q] - a[p, p]))
                c, s = np.cos(theta), np.sin(theta)
                for k in range(n):
                    a[k, p], a[k, q] = c * a[k, p] - s * a[k, q], s * a[k, p] + c * a[k, q]
                for k in range(n):
                    a[p, k], a[q, k] = c * a[p, k] - s * a[q, k], s * a[p, k] + c * a[q, k]
    return np.sum(np.log(np.diag(a)) ** 2)


@program(lambda n, rng: (rng.normal(size=(n, n)),), sizes=(2, 3, 4), compilations=3)
def determinant_by_cofactors(a):
    """A recursion on a size in a loop: every size is captured by itself."""
    if len(a) == 1:
        return a[0, 0]
    total = 0.0
    for j in range(len(a)):
        minor = np.concatenate([a[1:, :j], a[1:, j + 1:]], axis=1)
        total += (-1) ** j * a[0, j] * determinant_by_cofactors(minor)
    return total
