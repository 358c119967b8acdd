"""value_and_grad[soft_dtw]: emitted by tracejit.

"""

def kernel(ctx, x, y, out0, out1, out2, arena, n, m):
    t46 = f64_at(arena, 0, 5)
    o1 = 0 + idiv(8 * n * m + 8 * n + 8 * m + 71, 64) * 64
    t35 = f64_at(arena, o1, 6)
    o2 = o1 + idiv(8 * n * m + 63, 64) * 64
    t38 = f64_at(arena, o2, 7)
    o3 = o2 + idiv(8 * n * m + 63, 64) * 64
    t42 = f64_at(arena, o3, 8)
    o4 = o3 + idiv(8 * n * m + 63, 64) * 64
    t109 = f64_at(arena, o4, 9)
    for i in range(n + 1):
        for j in range(m + 1):
            t46[i * (m + 1) + j] = 10000000000.0              # %0  soft_dtw.py:8
    t46[0] = 0.0                                              # %1  soft_dtw.py:9
    n_2 = idiv(n, 2)
    for i in range(n_2):                                      # %5  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        next_row = 2 * i + 2                                  # %next_row  soft_dtw.py:11
        row = 2 * i + 1                                       # %row  soft_dtw.py:11
        end = m + 1                                           # %end  soft_dtw.py:11
        for j in range(1, m + 2):                             # %13  soft_dtw.py:11
            inside = j != end                                 # %inside  soft_dtw.py:11
            if inside:                                        # %13  soft_dtw.py:11
                v30 = x[row - 1] - y[j - 1]                   # %30  soft_dtw.py:14
                v17 = t46[row * (m + 1) + j - 1]
                v17_2 = t46[(row - 1) * (m + 1) + j]
                v17_3 = t46[(row - 1) * (m + 1) + j - 1]
                v25 = select(v17_2 < v17_3, v17_2, v17_3)     # %24 %25  soft_dtw.py:13
                v27 = select(v17 < v25, v17, v25)             # %26 %27  soft_dtw.py:13
                v41 = exp(v27 - v17)                          # %40 %41  soft_dtw.py:15
                v37 = exp(v27 - v17_2)                        # %36 %37  soft_dtw.py:15
                v34 = exp(v27 - v17_3)                        # %33 %34  soft_dtw.py:15
                v45 = v30 * v30 + v27 - log(v34 + v37 + v41)  # %39 %43 %44 %31 %32 %45  soft_dtw.py:14
                t35[(row - 1) * m + j - 1] = v34              # %35  soft_dtw.py:15
                t38[(row - 1) * m + j - 1] = v37              # %38  soft_dtw.py:15
                t42[(row - 1) * m + j - 1] = v41              # %42  soft_dtw.py:15
                t46[row * (m + 1) + j] = v45                  # %46  soft_dtw.py:14
            inside_ = j != 1                                  # %inside_  soft_dtw.py:11
            if inside_:                                       # %13  soft_dtw.py:11
                column = j - 1                                # %column  soft_dtw.py:11
                v30_2 = x[next_row - 1] - y[column - 1]       # %30  soft_dtw.py:14
                v13 = t46[next_row * (m + 1) + column - 1]
                v13_2 = t46[(next_row - 1) * (m + 1) + column]
                v13_3 = t46[(next_row - 1) * (m + 1) + column - 1]
                v25_2 = select(v13_2 < v13_3, v13_2, v13_3)   # %24 %25  soft_dtw.py:13
                v27_2 = select(v13 < v25_2, v13, v25_2)       # %26 %27  soft_dtw.py:13
                v41_2 = exp(v27_2 - v13)                      # %40 %41  soft_dtw.py:15
                v37_2 = exp(v27_2 - v13_2)                    # %36 %37  soft_dtw.py:15
                v34_2 = exp(v27_2 - v13_3)                    # %33 %34  soft_dtw.py:15
                v45_2 = v30_2 * v30_2 + v27_2 - log(v34_2 + v37_2 + v41_2)  # %39 %43 %44 %31 %32 %45  soft_dtw.py:14
                t35[(next_row - 1) * m + column - 1] = v34_2  # %35  soft_dtw.py:15
                t38[(next_row - 1) * m + column - 1] = v37_2  # %38  soft_dtw.py:15
                t42[(next_row - 1) * m + column - 1] = v41_2  # %42  soft_dtw.py:15
                t46[next_row * (m + 1) + column] = v45_2      # %46  soft_dtw.py:14
    for i in range(2 * n_2 + 1, n + 1):                       # %5  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        for j in range(1, m + 1):                             # %13  soft_dtw.py:11
            v30_3 = x[i - 1] - y[j - 1]                       # %30  soft_dtw.py:14
            v17_4 = t46[i * (m + 1) + j - 1]
            v17_5 = t46[(i - 1) * (m + 1) + j]
            v17_6 = t46[(i - 1) * (m + 1) + j - 1]
            v25_3 = select(v17_5 < v17_6, v17_5, v17_6)       # %24 %25  soft_dtw.py:13
            v27_3 = select(v17_4 < v25_3, v17_4, v25_3)       # %26 %27  soft_dtw.py:13
            v41_3 = exp(v27_3 - v17_4)                        # %40 %41  soft_dtw.py:15
            v37_3 = exp(v27_3 - v17_5)                        # %36 %37  soft_dtw.py:15
            v34_3 = exp(v27_3 - v17_6)                        # %33 %34  soft_dtw.py:15
            v45_3 = v30_3 * v30_3 + v27_3 - log(v34_3 + v37_3 + v41_3)  # %39 %43 %44 %31 %32 %45  soft_dtw.py:14
            t35[(i - 1) * m + j - 1] = v34_3                  # %35  soft_dtw.py:15
            t38[(i - 1) * m + j - 1] = v37_3                  # %38  soft_dtw.py:15
            t42[(i - 1) * m + j - 1] = v41_3                  # %42  soft_dtw.py:15
            t46[i * (m + 1) + j] = v45_3                      # %46  soft_dtw.py:14
    v5 = t46[n * (m + 1) + m]
    for i in range(n + 1):
        for j in range(m + 1):
            t109[i * (m + 1) + j] = 0.0                       # %48  soft_dtw.py:10
    t109[n * (m + 1) + m] = t109[n * (m + 1) + m] + 1.0       # %49  soft_dtw.py:10
    for i in range(n):
        out1[i] = 0.0                                         # %50  soft_dtw.py:10
    for i in range(m):
        out2[i] = 0.0                                         # %51  soft_dtw.py:10
    for i in range(n_2):                                      # %52  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        next_row_ = n - 2 * i - 1                             # %next_row_  soft_dtw.py:11
        row_ = n - 2 * i                                      # %row_  soft_dtw.py:11
        for j in range(m, -1, -1):                            # %58  soft_dtw.py:11
            inside__ = j != 0                                 # %inside__  soft_dtw.py:11
            if inside__:                                      # %58  soft_dtw.py:11
                v61 = t109[row_ * (m + 1) + j]
                v96 = v61 * (x[row_ - 1] - y[j - 1])          # %75 %96  soft_dtw.py:14
                v97 = v96 + v96                               # %97  soft_dtw.py:14
                v5_3 = t46[(row_ - 1) * (m + 1) + j]
                v5_4 = t46[(row_ - 1) * (m + 1) + j - 1]
                v70 = v5_3 < v5_4                             # %70  soft_dtw.py:13
                v72 = t46[row_ * (m + 1) + j - 1] < select(v70, v5_3, v5_4)  # %71 %72  soft_dtw.py:13
                v79 = not v72                                 # %79  soft_dtw.py:13
                v8 = t42[(row_ - 1) * m + j - 1]
                v7 = t38[(row_ - 1) * m + j - 1]
                v6 = t35[(row_ - 1) * m + j - 1]
                v86 = -v61 * (1.0 / (v6 + v7 + v8))           # %76 %77 %78 %85 %86  soft_dtw.py:14
                v92 = v86 * v6                                # %92  soft_dtw.py:15
                v89 = v86 * v7                                # %89  soft_dtw.py:15
                v87 = v86 * v8                                # %87  soft_dtw.py:15
                v95 = v87 + v89 + v92 + v61                   # %91 %94 %95  soft_dtw.py:14
                v98 = -v97                                    # %98  soft_dtw.py:14
                v106 = -v92 + select(v79 & (not v70), v95, 0.0)  # %81 %82 %105 %93 %106  soft_dtw.py:13
                v104 = -v89 + select(v79 & v70, v95, 0.0)     # %80 %103 %90 %104  soft_dtw.py:13
                v102 = -v87 + select(v72, v95, 0.0)           # %101 %88 %102  soft_dtw.py:13
                t109[row_ * (m + 1) + j] = 0.0                # %84  soft_dtw.py:14
                out2[j - 1] = out2[j - 1] + v98               # %99  soft_dtw.py:14
                out1[row_ - 1] = out1[row_ - 1] + v97         # %100  soft_dtw.py:14
                t109[row_ * (m + 1) + j - 1] = t109[row_ * (m + 1) + j - 1] + v102  # %107  soft_dtw.py:12
                t109[(row_ - 1) * (m + 1) + j] = t109[(row_ - 1) * (m + 1) + j] + v104  # %108  soft_dtw.py:12
                t109[(row_ - 1) * (m + 1) + j - 1] = t109[(row_ - 1) * (m + 1) + j - 1] + v106  # %109  soft_dtw.py:12
            inside___ = j != m                                # %inside___  soft_dtw.py:11
            if inside___:                                     # %58  soft_dtw.py:11
                column_ = j + 1                               # %column_  soft_dtw.py:11
                v58 = t109[next_row_ * (m + 1) + column_]
                v96_2 = v58 * (x[next_row_ - 1] - y[column_ - 1])  # %75 %96  soft_dtw.py:14
                v97_2 = v96_2 + v96_2                         # %97  soft_dtw.py:14
                v5_6 = t46[(next_row_ - 1) * (m + 1) + column_]
                v5_7 = t46[(next_row_ - 1) * (m + 1) + column_ - 1]
                v70_2 = v5_6 < v5_7                           # %70  soft_dtw.py:13
                v71_2 = select(v70_2, v5_6, v5_7)             # %71  soft_dtw.py:13
                v72_2 = t46[next_row_ * (m + 1) + column_ - 1] < v71_2  # %72  soft_dtw.py:13
                v79_2 = not v72_2                             # %79  soft_dtw.py:13
                v8_2 = t42[(next_row_ - 1) * m + column_ - 1]
                v7_2 = t38[(next_row_ - 1) * m + column_ - 1]
                v6_2 = t35[(next_row_ - 1) * m + column_ - 1]
                v86_2 = -v58 * (1.0 / (v6_2 + v7_2 + v8_2))   # %76 %77 %78 %85 %86  soft_dtw.py:14
                v92_2 = v86_2 * v6_2                          # %92  soft_dtw.py:15
                v89_2 = v86_2 * v7_2                          # %89  soft_dtw.py:15
                v87_2 = v86_2 * v8_2                          # %87  soft_dtw.py:15
                v95_2 = v87_2 + v89_2 + v92_2 + v58           # %91 %94 %95  soft_dtw.py:14
                v98_2 = -v97_2                                # %98  soft_dtw.py:14
                v106_2 = -v92_2 + select(v79_2 & (not v70_2), v95_2, 0.0)  # %81 %82 %105 %93 %106  soft_dtw.py:13
                v104_2 = -v89_2 + select(v79_2 & v70_2, v95_2, 0.0)  # %80 %103 %90 %104  soft_dtw.py:13
                v102_2 = -v87_2 + select(v72_2, v95_2, 0.0)   # %101 %88 %102  soft_dtw.py:13
                t109[next_row_ * (m + 1) + column_] = 0.0     # %84  soft_dtw.py:14
                out2[column_ - 1] = out2[column_ - 1] + v98_2  # %99  soft_dtw.py:14
                out1[next_row_ - 1] = out1[next_row_ - 1] + v97_2  # %100  soft_dtw.py:14
                t109[next_row_ * (m + 1) + column_ - 1] = t109[next_row_ * (m + 1) + column_ - 1] + v102_2  # %107  soft_dtw.py:12
                t109[(next_row_ - 1) * (m + 1) + column_] = t109[(next_row_ - 1) * (m + 1) + column_] + v104_2  # %108  soft_dtw.py:12
                t109[(next_row_ - 1) * (m + 1) + column_ - 1] = t109[(next_row_ - 1) * (m + 1) + column_ - 1] + v106_2  # %109  soft_dtw.py:12
    for i in range(n - 2 * n_2, 0, -1):                       # %52  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        for j in range(m, 0, -1):                             # %58  soft_dtw.py:11
            v61_2 = t109[i * (m + 1) + j]
            v96_3 = v61_2 * (x[i - 1] - y[j - 1])             # %75 %96  soft_dtw.py:14
            v97_3 = v96_3 + v96_3                             # %97  soft_dtw.py:14
            v5_9 = t46[(i - 1) * (m + 1) + j]
            v5_10 = t46[(i - 1) * (m + 1) + j - 1]
            v70_3 = v5_9 < v5_10                              # %70  soft_dtw.py:13
            v72_3 = t46[i * (m + 1) + j - 1] < select(v70_3, v5_9, v5_10)  # %71 %72  soft_dtw.py:13
            v79_3 = not v72_3                                 # %79  soft_dtw.py:13
            v8_3 = t42[(i - 1) * m + j - 1]
            v7_3 = t38[(i - 1) * m + j - 1]
            v6_3 = t35[(i - 1) * m + j - 1]
            v86_3 = -v61_2 * (1.0 / (v6_3 + v7_3 + v8_3))     # %76 %77 %78 %85 %86  soft_dtw.py:14
            v92_3 = v86_3 * v6_3                              # %92  soft_dtw.py:15
            v89_3 = v86_3 * v7_3                              # %89  soft_dtw.py:15
            v87_3 = v86_3 * v8_3                              # %87  soft_dtw.py:15
            v95_3 = v87_3 + v89_3 + v92_3 + v61_2             # %91 %94 %95  soft_dtw.py:14
            v98_3 = -v97_3                                    # %98  soft_dtw.py:14
            v106_3 = -v92_3 + select(v79_3 & (not v70_3), v95_3, 0.0)  # %81 %82 %105 %93 %106  soft_dtw.py:13
            v104_3 = -v89_3 + select(v79_3 & v70_3, v95_3, 0.0)  # %80 %103 %90 %104  soft_dtw.py:13
            v102_3 = -v87_3 + select(v72_3, v95_3, 0.0)       # %101 %88 %102  soft_dtw.py:13
            t109[i * (m + 1) + j] = 0.0                       # %84  soft_dtw.py:14
            out2[j - 1] = out2[j - 1] + v98_3                 # %99  soft_dtw.py:14
            out1[i - 1] = out1[i - 1] + v97_3                 # %100  soft_dtw.py:14
            t109[i * (m + 1) + j - 1] = t109[i * (m + 1) + j - 1] + v102_3  # %107  soft_dtw.py:12
            t109[(i - 1) * (m + 1) + j] = t109[(i - 1) * (m + 1) + j] + v104_3  # %108  soft_dtw.py:12
            t109[(i - 1) * (m + 1) + j - 1] = t109[(i - 1) * (m + 1) + j - 1] + v106_3  # %109  soft_dtw.py:12
    out0[0] = v5
    return 0

