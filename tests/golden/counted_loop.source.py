"""value_and_grad[g]: emitted by tracejit.

"""

def kernel(ctx, a, x, n, out0, out1, out2, arena):
    a_ = a[0]                                                 # %a
    x_ = x[0]                                                 # %x
    n_ = n[0]                                                 # %n
    t0 = f64_at(arena, 0, 6)
    cx_ = x_
    for i_chunk in range(0, n_, 4194304):                     # %1  counted_loop.py:7
        if interrupted(ctx, 0, 0):
            return -1
        for i in range(i_chunk, imin(i_chunk + 4194304, n_)):
            v8 = cx_ + 0.1 * a_ * sin(cx_)                    # %6 %5 %7 %8  counted_loop.py:8
            t0[i] = cx_                                       # %4  counted_loop.py:7
            cx_ = v8
    cv11 = 1.0
    cv12 = 0.0
    for i_chunk in range(0, n_, 4194304):                     # %9  counted_loop.py:7
        if interrupted(ctx, 0, 0):
            return -1
        for i in range(n_ - i_chunk - 1, imax(n_ - i_chunk - 4194304, 0) - 1, -1):
            v2 = t0[i]
            v22 = radd(cv12, cv11 * sin(v2) * 0.1)            # %15 %17 %21 %22  counted_loop.py:8
            cv11 = cv11 + cv11 * (0.1 * a_) * cos(v2)         # %16 %14 %18 %19 %20  counted_loop.py:8
            cv12 = v22
    out0[0] = cx_
    out1[0] = cv12
    out2[0] = cv11
    return 0

