"""value_and_grad[scan]: emitted by tracejit.

"""

def kernel(ctx, w, rows, out0, out1, arena, n, t):
    t16 = f64_at(arena, 0, 4)
    t38 = f64_at(arena, 0, 4)
    o1 = 0 + idiv(8 * n + 63, 64) * 64
    t21 = f64_at(arena, o1, 5)
    log0 = log_base(ctx, 0, "f64:6")
    top0 = 0                                                  # %1  scan.py:8
    cap0 = 0
    for i in range(n):
        t16[i] = 0.0                                          # %h_, a copy: it begins as one number everywhere
    c_tj_broken1_ = False
    iv2 = 0
    while True:                                               # %2  scan.py:8
        v7 = not c_tj_broken1_                                # %7  scan.py:8
        if v7:                                                # %8  scan.py:8
            v8 = iv2 < t                                      # %10  scan.py:8
        else:
            v8 = v7
        if not (v8):
            break
        if top0 + n > cap0:                                   # %12  scan.py:8
            if log_grow(ctx, 0, top0 + n, 8) != 0:
                return fail(ctx, 1, 0, 0)
            log0 = log_base(ctx, 0, "f64:6")
            cap0 = log_capacity(ctx, 0)
        room = advance(log0, top0)
        top0 = top0 + n
        for i in range(n):
            room[i] = t16[i]                                  # %h_, a copy: it is stored for the way back
        s18 = 0.0
        for block in range(0, n, 4096):
            s18_part = 0.0
            for i in range(block, imin(block + 4096, n)):
                v16 = tanh(w[i] * t16[i] + rows[iv2 * n + i])  # %13 %15 %16  scan.py:9
                t16[i] = v16                                  # %16  scan.py:9
                s18_part = radd(s18_part, v16 * v16)          # %17 %18  scan.py:10
            s18 = radd(s18, s18_part)
        c_tj_broken1_ = s18 > 4.0                             # %19  scan.py:10
        iv2 = iv2 + 1
        if interrupted(ctx, iv2, 15):
            return -1
    s20 = 0.0
    for block_2 in range(0, n, 4096):
        s20_part = 0.0
        for i in range(block_2, imin(block_2 + 4096, n)):
            s20_part = radd(s20_part, t16[i])                 # %20  scan.py:12
            t21[i] = 1.0                                      # %21  scan.py:12
        s20 = radd(s20, s20_part)
    for i in range(n):
        out1[i] = 0.0                                         # %26, a copy: it begins as one number everywhere
    for i in range(iv2 - 1, -1, -1):                          # %22  scan.py:8
        if interrupted(ctx, i, 15):
            return -1
        top0 = top0 - n
        t29 = advance(log0, top0)                             # %28  scan.py:8
        for j in range(n):
            w_3 = w[j]
            v29 = t29[j]
            v33 = tanh(w_3 * v29 + rows[i * n + j])           # %30 %32 %33  scan.py:9
            v36 = t21[j] * (1.0 - v33 * v33)                  # %34 %35 %36  scan.py:9
            t38[j] = v36 * w_3                                # %38  scan.py:9
            out1[j] = out1[j] + v36 * v29                     # %37 %39  scan.py:9
        for j in range(n):
            t21[j] = t38[j]                                   # %25, a copy: the next iteration begins with it, and what this one began with is still read when it is made
    out0[0] = s20
    return 0

