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
            for j in range(2):
                t0[i * 2 + j] = 0.0                           # %0  matmul.py:7
        for i in range(n):
            for j in range(k):
                a_2 = a[i * k + j]
                for l in range(2):
                    t0[i * 2 + l] = t0[i * 2 + l] + a_2 * b[j * 2 + l]  # %0  matmul.py:7
    for i in range(n):
        for j in range(2):
            t1[i * 2 + j] = tanh(t0[i * 2 + j])               # %1  matmul.py:7
            t2[i * 2 + j] = 1.0                               # %2  matmul.py:7
    if 2 * 2 * n >= 4096:
        gemm("T", "N", 2, 2, n, t1, 2, t2, 2, out2)           # %4  matmul.py:7
    else:
        out2[0] = 0.0                                         # %4  matmul.py:7
        out2[1] = 0.0                                         # %4  matmul.py:7
        out2[1 * 2] = 0.0                                     # %4  matmul.py:7
        out2[1 * 2 + 1] = 0.0                                 # %4  matmul.py:7
        for i in range(n):
            for j in range(2):
                v1_2 = t1[i * 2 + j]
                for l in range(2):
                    out2[j * 2 + l] = out2[j * 2 + l] + t2[i * 2 + l] * v1_2  # %4  matmul.py:7
    if n * 2 * 2 >= 4096:
        gemm("N", "T", n, 2, 2, t2, 2, c, 2, t3)              # %3  matmul.py:7
    else:
        for i in range(n):
            for j in range(2):
                s3 = 0.0
                for l in range(2):
                    s3 = radd(s3, t2[i * 2 + l] * c[j * 2 + l])  # %3  matmul.py:7
                t3[i * 2 + j] = s3
    for i in range(n):
        for j in range(2):
            v1_3 = t1[i * 2 + j]
            t7[i * 2 + j] = t3[i * 2 + j] * (1.0 - v1_3 * v1_3)  # %5 %6 %7  matmul.py:7
    if k * 2 * n >= 4096:
        gemm("T", "N", k, 2, n, a, k, t7, 2, out1)            # %9  matmul.py:7
    else:
        for i in range(k):
            for j in range(2):
                out1[i * 2 + j] = 0.0                         # %9  matmul.py:7
        for i in range(n):
            for j in range(k):
                a_3 = a[i * k + j]
                for l in range(2):
                    out1[j * 2 + l] = out1[j * 2 + l] + t7[i * 2 + l] * a_3  # %9  matmul.py:7
    if n * k * 2 >= 4096:
        gemm("N", "T", n, k, 2, t7, 2, b, 2, out0)            # %8  matmul.py:7
    else:
        for i in range(n):
            for j in range(k):
                s8 = 0.0
                for l in range(2):
                    s8 = radd(s8, t7[i * 2 + l] * b[j * 2 + l])  # %8  matmul.py:7
                out0[i * k + j] = s8
    return 0

