"""value_and_grad[f]: emitted by tracejit.

"""

def kernel(ctx, x, k, out0, out1, out2, n):
    k_ = k[0]                                                 # %k
    v0 = -k_                                                  # %0  chain.py:7
    s4 = 0.0
    s8 = 0.0
    for block in range(0, n, 4096):
        s4_part = 0.0
        s8_part = 0.0
        for i in range(block, imin(block + 4096, n)):
            x_2 = x[i]
            v1 = v0 * x_2                                     # %1  chain.py:7
            v3 = exp(v1 * x_2)                                # %2 %3  chain.py:7
            s4_part = radd(s4_part, v3)                       # %4  chain.py:7
            v5 = v3 * x_2                                     # %5  chain.py:7
            s8_part = radd(s8_part, v5 * x_2)                 # %7 %8  chain.py:7
            out1[i] = v3 * v1 + v5 * v0                       # %9 %6 %10  chain.py:7
        s4 = radd(s4, s4_part)
        s8 = radd(s8, s8_part)
    v11 = -s8                                                 # %11  chain.py:7
    out0[0] = s4
    out2[0] = v11
    return 0

