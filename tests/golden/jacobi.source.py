"""grad[jacobi]: emitted by tracejit.

"""

def kernel(ctx, a, steps, out0, arena, n, m):
    steps_ = steps[0]                                         # %steps
    ta_ = f64_at(arena, 0, 3)
    o1 = 0 + idiv(8 * n * m + 63, 64) * 64
    t9 = f64_at(arena, o1, 4)
    o2 = o1 + idiv(8 * n * m + 63, 64) * 64
    t14 = f64_at(arena, o2, 5)
    for i in range(n):
        for j in range(m):
            ta_[i * m + j] = a[i * m + j]                     # %a_, a copy: the loop changes it, and what it was is still read
    for i in range(steps_):                                   # %0  jacobi.py:7
        if interrupted(ctx, i, 15):
            return -1
        for j in range(n):
            for k in range(m):
                t9[j * m + k] = ta_[j * m + k]                # %9, a copy: what it was before this write is still read
        n_2 = imax(n - 2, 0)
        n_3 = imax(m - 2, 0)
        for j in range(n_2):
            for k in range(n_3):
                a__4 = ta_[(j + 1) * m + k]
                a__5 = ta_[(j + 1) * m + k + 2]
                v8 = 0.25 * (ta_[j * m + k + 1] + ta_[(j + 2) * m + k + 1] + a__4 + a__5)  # %3 %5 %7 %8  jacobi.py:9
                t9[(j + 1) * m + k + 1] = v8                  # %9  jacobi.py:9
        for j in range(n):
            for k in range(m):
                ta_[j * m + k] = t9[j * m + k]                # %a_, a copy: the next iteration begins with it, and what this one began with is still read when it is made
    for i in range(n):
        for j in range(m):
            v0 = ta_[i * m + j]
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

