"""smooth: emitted by tracejit.

"""

def kernel(ctx, x, weight, out0, n):
    weight_ = weight[0]                                       # %weight
    for i in range(n):
        out0[i] = x[i]                                        # %1, a copy: the loop changes it, and what it was is still read
    for i_chunk in range(1, n, 4194304):                      # %0  inplace.py:7
        if interrupted(ctx, 0, 0):
            return -1
        for i in range(i_chunk, imin(i_chunk + 4194304, n)):
            out0[i] = weight_ * out0[i] + (1.0 - weight_) * out0[i - 1]  # %4 %6 %3 %7 %8  inplace.py:8
    if not 0 < n:                                             # inplace.py:9
        return fail(ctx, 1, 0, n)
    out0[0] = out0[0] * 2.0                                   # %10 %11  inplace.py:9
    return 0

