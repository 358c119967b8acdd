"""value_and_grad[loss]: emitted by tracejit.

"""

def kernel(ctx, w, x, y, out0, out1, arena, d, n):
    t0 = f64_at(arena, 0, 5)
    o1 = 0 + idiv(8 * n + 63, 64) * 64
    t24 = f64_at(arena, o1, 6)
    o2 = o1 + idiv(8 * n + 63, 64) * 64
    t25 = f64_at(arena, o2, 7)
    v6 = f64(n)                                               # %6  logistic.py:8
    v15 = 1.0 / v6                                            # %15  logistic.py:8
    for i in range(n):
        s0 = 0.0
        for j in range(d):
            s0 = radd(s0, x[i * d + j] * w[j])                # %0  logistic.py:7
        t0[i] = s0
    s4 = 0.0
    for block in range(0, n, 4096):
        s4_part = 0.0
        for i in range(block, imin(block + 4096, n)):
            y_2 = y[i]
            v2 = -(y_2 * t0[i])                               # %1 %2  logistic.py:8
            v3 = maximum(0.0, v2) + log1p(exp(-fabs(select(0.0 == v2, 0.0, 0.0 - v2))))  # %3  logistic.py:8
            s4_part = radd(s4_part, v3)                       # %4  logistic.py:8
            v17 = v2 == v3                                    # %17  logistic.py:8
            t24[i] = -(v15 * exp(select(v17, 0.0, v2) - select(v17, 0.0, v3))) * y_2  # %19 %18 %20 %21 %22 %23 %24  logistic.py:7
        s4 = radd(s4, s4_part)
    v7 = s4 / v6                                              # %7  logistic.py:8
    s9 = 0.0
    for block_2 in range(0, d, 4096):
        s9_part = 0.0
        for i in range(block_2, imin(block_2 + 4096, d)):
            w_3 = w[i]
            s9_part = radd(s9_part, w_3 * w_3)                # %8 %9  logistic.py:8
            t25[i] = 0.0                                      # %25  logistic.py:7
        s9 = radd(s9, s9_part)
    v11 = v7 + 0.0005 * s9                                    # %10 %11  logistic.py:8
    for i in range(n):
        v24_2 = t24[i]
        for j in range(d):
            t25[j] = t25[j] + v24_2 * x[i * d + j]            # %25  logistic.py:7
    for i in range(d):
        v13 = 0.0005 * w[i]                                   # %13  logistic.py:8
        out1[i] = v13 + v13 + t25[i]                          # %14 %26  logistic.py:7
    out0[0] = v11
    return 0

