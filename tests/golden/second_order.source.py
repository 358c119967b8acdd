"""hessian_vector: emitted by tracejit.

"""

def kernel(ctx, x, v, out0, n):
    n_2 = imax(n - 1, 0)
    first = imin(1, n)
    last = imax(imin(n, n_2), first)
    for part in range(2):
        begin = select(part == 0, 0, last)
        stop = select(part == 0, first, n)
        for i in range(begin, stop):
            scalar_loop()
            v25 = 0.0                                         # %25  second_order.py:7
            if between(1, i, n_2 + 1):
                v3 = x[i - 1] * v[i - 1]                      # %3  second_order.py:7
                v14 = 100.0 * (v[i] - (v3 + v3))              # %4 %8 %14  second_order.py:7
                v25 = v25 + (v14 + v14)                       # %16  second_order.py:7
            v26 = v25                                         # %26  second_order.py:7
            if between(0, i, n_2):
                v_4 = v[i]
                x_3 = x[i]
                v3_2 = x_3 * v_4                              # %3  second_order.py:7
                v14_2 = 100.0 * (v[i + 1] - (v3_2 + v3_2))    # %4 %8 %14  second_order.py:7
                v13 = 100.0 * (x[i + 1] - x_3 * x_3)          # %2 %7 %13  second_order.py:7
                v21 = x_3 * (-(v14_2 + v14_2)) + (-(v13 + v13) * v_4)  # %15 %17 %20 %16 %18 %19 %21  second_order.py:7
                v26 = v26 + (-(-v_4 - v_4) + v21 + v21)       # %9 %10 %11 %22 %23  second_order.py:7
            out0[i] = v26                                     # %26  second_order.py:7
    for i in range(first, last):
        v_6 = v[i]
        x_5 = x[i]
        v3_3 = x_5 * v_6                                      # %3  second_order.py:7
        v14_3 = 100.0 * (v[i + 1] - (v3_3 + v3_3))            # %4 %8 %14  second_order.py:7
        v13_2 = 100.0 * (x[i + 1] - x_5 * x_5)                # %2 %7 %13  second_order.py:7
        v21_2 = x_5 * (-(v14_3 + v14_3)) + (-(v13_2 + v13_2) * v_6)  # %15 %17 %20 %16 %18 %19 %21  second_order.py:7
        v3_4 = x[i - 1] * v[i - 1]                            # %3  second_order.py:7
        v14_4 = 100.0 * (v_6 - (v3_4 + v3_4))                 # %4 %8 %14  second_order.py:7
        out0[i] = v14_4 + v14_4 + (-(-v_6 - v_6) + v21_2 + v21_2)  # %9 %10 %11 %22 %23 %16 %26  second_order.py:7
    return 0

