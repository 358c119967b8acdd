"""grad[waves]: emitted by tracejit.

"""

def kernel(ctx, now, before, steps, out0, out1, arena, n):
    steps_ = steps[0]                                         # %steps
    tbefore_ = f64_at(arena, 0, 5)
    t28 = f64_at(arena, 0, 5)
    o1 = 0 + idiv(8 * n + 63, 64) * 64
    tnow_ = f64_at(arena, o1, 6)
    o2 = o1 + idiv(8 * n + 63, 64) * 64
    keptnow_ = f64_at(arena, o2, 7)
    o3 = o2 + idiv(8 * n + 63, 64) * 64
    t20 = f64_at(arena, o3, 8)
    for i in range(n):
        tbefore_[i] = before[i]                               # %before_, a copy: the loop changes it, and what it was is still read
    for i in range(n):
        tnow_[i] = now[i]                                     # %now_, a copy: the loop changes it, and what it was is still read
    for i in range(steps_):                                   # %0  swap.py:8
        if interrupted(ctx, i, 15):
            return -1
        n_2 = imax(n - 2, 0)
        for j in range(n_2):
            v3 = 2.0 * tnow_[j + 1]                           # %3  swap.py:9
            tbefore_[j + 1] = v3 - tbefore_[j + 1] + 0.1 * (tnow_[j + 2] - v3 + tnow_[j])  # %7 %9 %10 %5 %11 %12  swap.py:9
        for j in range(n):
            keptnow_[j] = tnow_[j]                            # %keptnow_, a copy: arrays exchange places
        for j in range(n):
            tnow_[j] = tbefore_[j]                            # %now_, a copy: the next iteration begins with it, and what this one began with is still read when it is made
        for j in range(n):
            tbefore_[j] = keptnow_[j]                         # %before_, a copy: the next iteration begins with it, and what this one began with is still read when it is made
    for i in range(n):
        v1 = tnow_[i]
        out0[i] = v1 + v1                                     # %13  swap.py:11
        out1[i] = 0.0                                         # %14  swap.py:8
    for i in range(steps_ - 1, -1, -1):                       # %15  swap.py:8
        if interrupted(ctx, i, 15):
            return -1
        n_3 = imax(n - 2, 0)
        for j in range(n_3):
            t20[j] = out0[j + 1]                              # %20  swap.py:9
            out0[j + 1] = 0.0                                 # %21  swap.py:9
        first = imin(2, n)
        last = imax(imin(n, n_3), first)
        for part in range(2):
            begin = select(part == 0, 0, last)
            stop = select(part == 0, first, n)
            for j in range(begin, stop):
                scalar_loop()
                t28[j] = out0[j]                              # %28, a copy: what it was before this write is still read
                v23 = out1[j]                                 # %23  swap.py:9
                if between(0, j, n_3):
                    v23 = v23 + t20[j] * 0.1                  # %22  swap.py:9
                v25 = v23                                     # %25  swap.py:9
                if between(2, j, n_3 + 2):
                    v25 = v25 + t20[j - 2] * 0.1              # %22  swap.py:9
                v30 = v25                                     # %30  swap.py:9
                if between(1, j, n_3 + 1):
                    v20_3 = t20[j - 1]
                    v30 = v30 + (-(v20_3 * 0.1) + v20_3) * 2.0  # %22 %24 %27 %29  swap.py:9
                out0[j] = v30                                 # %30  swap.py:9
        for j in range(first, last):
            t28[j] = out0[j]                                  # %28, a copy: what it was before this write is still read
            v20_4 = t20[j - 1]
            v29_2 = (-(v20_4 * 0.1) + v20_4) * 2.0            # %22 %24 %27 %29  swap.py:9
            out0[j] = out1[j] + t20[j] * 0.1 + t20[j - 2] * 0.1 + v29_2  # %22 %23 %25 %30  swap.py:9
        for j in range(n_3):
            t28[j + 1] = t28[j + 1] + (-t20[j])               # %26 %28  swap.py:9
        for j in range(n):
            out1[j] = t28[j]                                  # %17, a copy: the next iteration begins with it, and what this one began with is still read when it is made
    return 0

