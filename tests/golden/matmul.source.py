"""grad[f]: emitted by tracejit.

"""

def kernel(ctx, a, b, c, out0, out1, out2, arena, n, k):
    t0 = f64_at(arena, 0, 6)
    t3 = f64_at(arena, 0, 6)
    o1 = 0 + idiv(16 * n + 63, 64) * 64
    t2 = f64_at(arena, o1, 7)
    t7 = f64_at(arena, o1, 7)
    o2 = o1 + idiv(16 * n + 63, 64) * 64
    t1 = f64_at(arena, o2, 8)
    if n * 2 * k >= 4096:
        gemm("N", "N", n, 2, k, a, k, b, 2, t0)               # %0  matmul.py:7
    else:
        for i in range(n):
            t0[i * 2] = 0.0                                   # %0  matmul.py:7
            t0[i * 2 + 1] = 0.0                               # %0  matmul.py:7
        for i in range(n):
            for j in range(k):
                a_2 = a[i * k + j]
                t0[i * 2] = radd(t0[i * 2], a_2 * b[j * 2])   # %0  matmul.py:7
                t0[i * 2 + 1] = radd(t0[i * 2 + 1], a_2 * b[j * 2 + 1])  # %0  matmul.py:7
    for i in range(n):
        t1[i * 2] = tanh(t0[i * 2])                           # %1  matmul.py:7
        t2[i * 2] = 1.0                                       # %2  matmul.py:7
        t1[i * 2 + 1] = tanh(t0[i * 2 + 1])                   # %1  matmul.py:7
        t2[i * 2 + 1] = 1.0                                   # %2  matmul.py:7
    if 2 * 2 * n >= 4096:
        gemm("T", "N", 2, 2, n, t1, 2, t2, 2, out2)           # %4  matmul.py:7
    else:
        out2[0] = 0.0                                         # %4  matmul.py:7
        out2[1] = 0.0                                         # %4  matmul.py:7
        out2[1 * 2] = 0.0                                     # %4  matmul.py:7
        out2[1 * 2 + 1] = 0.0                                 # %4  matmul.py:7
        s = out2[0]
        s_2 = out2[1]
        s_3 = out2[2]
        s_4 = out2[3]
        for i in range(n):
            v1_2_2 = t1[i * 2]
            s = radd(s, t2[i * 2] * v1_2_2)                   # %4  matmul.py:7
            s_2 = radd(s_2, t2[i * 2 + 1] * v1_2_2)           # %4  matmul.py:7
            v1_2_3 = t1[i * 2 + 1]
            s_3 = radd(s_3, t2[i * 2] * v1_2_3)               # %4  matmul.py:7
            s_4 = radd(s_4, t2[i * 2 + 1] * v1_2_3)           # %4  matmul.py:7
        out2[0] = s                                           # %4  matmul.py:7
        out2[1] = s_2                                         # %4  matmul.py:7
        out2[2] = s_3                                         # %4  matmul.py:7
        out2[3] = s_4                                         # %4  matmul.py:7
    if n * 2 * 2 >= 4096:
        gemm("N", "T", n, 2, 2, t2, 2, c, 2, t3)              # %3  matmul.py:7
    else:
        for i in range(n):
            s3 = 0.0
            s3 = radd(s3, t2[i * 2] * c[0])                   # %3  matmul.py:7
            s3 = radd(s3, t2[i * 2 + 1] * c[1])               # %3  matmul.py:7
            t3[i * 2] = s3
            s3 = 0.0
            s3 = radd(s3, t2[i * 2] * c[2])                   # %3  matmul.py:7
            s3 = radd(s3, t2[i * 2 + 1] * c[3])               # %3  matmul.py:7
            t3[i * 2 + 1] = s3
    for i in range(n):
        v1_3_2 = t1[i * 2]
        t7[i * 2] = t3[i * 2] * (1.0 - v1_3_2 * v1_3_2)       # %5 %6 %7  matmul.py:7
        v1_3_3 = t1[i * 2 + 1]
        t7[i * 2 + 1] = t3[i * 2 + 1] * (1.0 - v1_3_3 * v1_3_3)  # %5 %6 %7  matmul.py:7
    if k * 2 * n >= 4096:
        gemm("T", "N", k, 2, n, a, k, t7, 2, out1)            # %9  matmul.py:7
    else:
        for i in range(k):
            out1[i * 2] = 0.0                                 # %9  matmul.py:7
            out1[i * 2 + 1] = 0.0                             # %9  matmul.py:7
        for i in range(n):
            for j in range(k):
                a_3 = a[i * k + j]
                out1[j * 2] = out1[j * 2] + t7[i * 2] * a_3   # %9  matmul.py:7
                out1[j * 2 + 1] = out1[j * 2 + 1] + t7[i * 2 + 1] * a_3  # %9  matmul.py:7
    if n * k * 2 >= 4096:
        gemm("N", "T", n, k, 2, t7, 2, b, 2, out0)            # %8  matmul.py:7
    else:
        for i in range(n):
            for j in range(k):
                s8 = 0.0
                s8 = radd(s8, t7[i * 2] * b[j * 2])           # %8  matmul.py:7
                s8 = radd(s8, t7[i * 2 + 1] * b[j * 2 + 1])   # %8  matmul.py:7
                out0[i * k + j] = s8
    return 0

