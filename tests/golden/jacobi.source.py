"""grad[jacobi]: emitted by tracejit.

"""

def kernel(ctx, a, steps, out0, arena, n, m):
    steps_ = steps[0]                                         # %steps
    t9 = f64_at(arena, 0, 3)
    o1 = 0 + idiv(8 * n * m + 63, 64) * 64
    t8 = f64_at(arena, o1, 4)
    t14 = f64_at(arena, o1, 4)
    for i in range(n):
        for j in range(m):
            t9[i * m + j] = a[i * m + j]                      # %a_, a copy: the loop changes it, and what it was is still read
    for i in range(steps_):                                   # %0  jacobi.py:7
        if interrupted(ctx, i, 15):
            return -1
        n_2 = imax(n - 2, 0)
        n_3 = imax(m - 2, 0)
        for j in range(n_2):
            for k in range(n_3):
                v5 = t9[j * m + k + 1] + t9[(j + 2) * m + k + 1] + t9[(j + 1) * m + k]  # %3 %5  jacobi.py:9
                t8[j * n_3 + k] = 0.25 * (v5 + t9[(j + 1) * m + k + 2])  # %7 %8  jacobi.py:9
        for j in range(n_2):
            for k in range(n_3):
                t9[(j + 1) * m + k + 1] = t8[j * n_3 + k]     # %9  jacobi.py:9
    for i in range(n):
        for j in range(m):
            v0 = t9[i * m + j]
            out0[i * m + j] = v0 + v0                         # %10  jacobi.py:11
    for i in range(steps_ - 1, -1, -1):                       # %11  jacobi.py:7
        if interrupted(ctx, i, 15):
            return -1
        n_4 = imax(n - 2, 0)
        n_5 = imax(m - 2, 0)
        for j in range(n_4):
            for k in range(n_5):
                t14[j * n_5 + k] = out0[(j + 1) * m + k + 1]  # %14  jacobi.py:9
                out0[(j + 1) * m + k + 1] = 0.0               # %15  jacobi.py:9
            for k in range(n_5):
                v16 = t14[j * n_5 + k] * 0.25                 # %16  jacobi.py:9
                out0[(j + 1) * m + k + 2] = out0[(j + 1) * m + k + 2] + v16  # %17  jacobi.py:9
            for k in range(n_5):
                out0[(j + 1) * m + k] = out0[(j + 1) * m + k] + t14[j * n_5 + k] * 0.25  # %16 %18  jacobi.py:9
        for j in range(n_4):
            for k in range(n_5):
                v16_3 = t14[j * n_5 + k] * 0.25               # %16  jacobi.py:9
                out0[(j + 2) * m + k + 1] = out0[(j + 2) * m + k + 1] + v16_3  # %19  jacobi.py:9
            for k in range(n_5):
                out0[j * m + k + 1] = out0[j * m + k + 1] + t14[j * n_5 + k] * 0.25  # %16 %20  jacobi.py:9
    return 0

