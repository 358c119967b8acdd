"""value_and_grad[huber]: emitted by tracejit.

"""

def kernel(ctx, x, delta, out0, out1, out2, n):
    delta_ = delta[0]                                         # %delta
    ctotal = 0.0
    for i_chunk in range(0, n, 4194304):                      # %0  branch.py:7
        if interrupted(ctx, 0, 0):
            return -1
        for i in range(i_chunk, imin(i_chunk + 4194304, n)):
            x_2 = x[i]
            v2 = fabs(x_2)                                    # %2  branch.py:8
            v3 = v2 <= delta_                                 # %3  branch.py:8
            if v3:                                            # %4  branch.py:8
                v4 = ctotal + 0.5 * x_2 * x_2                 # %5 %6 %7  branch.py:9
            else:
                v4 = ctotal + delta_ * (v2 - 0.5 * delta_)    # %8 %9 %10 %11  branch.py:11
            ctotal = v4
    for i in range(n):
        out1[i] = 0.0                                         # %12  branch.py:7
    cv16 = 1.0
    cv18 = 0.0
    for i_chunk in range(0, n, 4194304):                      # %13  branch.py:7
        if interrupted(ctx, 0, 0):
            return -1
        for i in range(n - i_chunk - 1, imax(n - i_chunk - 4194304, 0) - 1, -1):
            x_3 = x[i]
            v22 = select(x_3 > 0.0, 1.0, select(x_3 < 0.0, -1.0, select(x_3 == 0.0, 0.0, x_3)))  # %22  branch.py:8
            v20 = fabs(x_3)                                   # %20  branch.py:8
            v21 = v20 <= delta_                               # %21  branch.py:8
            if v21:                                           # %23  branch.py:8
                v23 = cv16 * (0.5 * x_3) + cv16 * x_3 * 0.5   # %28 %30 %27 %29 %31  branch.py:9
                v24 = cv16
                v25 = 0.0
                v26 = 0.0
            else:
                v35 = cv16 * delta_                           # %35  branch.py:11
                v38 = cv16 * (v20 - 0.5 * delta_) + (-v35 * 0.5)  # %36 %37 %32 %33 %34 %38  branch.py:11
                v23 = 0.0
                v24 = cv16
                v25 = v38
                v26 = v35
            v39 = cv18 + v25                                  # %39  branch.py:8
            out1[i] = out1[i] + select(v21, v23, v26 * v22)   # %40 %41 %42  branch.py:7
            cv16 = v24
            cv18 = v39
    out0[0] = ctotal
    out2[0] = cv18
    return 0

