"""value_and_grad[soft_dtw]: emitted by tracejit.

"""

def kernel(ctx, x, y, out0, out1, out2, arena, n, m):
    t44 = f64_at(arena, 0, 5)
    o1 = 0 + idiv(8 * n * m + 8 * n + 8 * m + 71, 64) * 64
    t33 = f64_at(arena, o1, 6)
    o2 = o1 + idiv(8 * n * m + 63, 64) * 64
    t36 = f64_at(arena, o2, 7)
    o3 = o2 + idiv(8 * n * m + 63, 64) * 64
    t40 = f64_at(arena, o3, 8)
    o4 = o3 + idiv(8 * n * m + 63, 64) * 64
    t115 = f64_at(arena, o4, 9)
    for i in range(n + 1):
        for j in range(m + 1):
            t44[i * (m + 1) + j] = 10000000000.0              # %0  soft_dtw.py:8
    t44[0] = 0.0                                              # %1  soft_dtw.py:9
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
                v28 = x[row - 1] - y[j - 1]                   # %28  soft_dtw.py:14
                v17 = t44[row * (m + 1) + j - 1]
                v17_2 = t44[(row - 1) * (m + 1) + j]
                v17_3 = t44[(row - 1) * (m + 1) + j - 1]
                v24 = select(v17_2 < v17_3, v17_2, v17_3)     # %24  soft_dtw.py:13
                v25 = select(v17 < v24, v17, v24)             # %25  soft_dtw.py:13
                v39 = exp(v25 - v17)                          # %38 %39  soft_dtw.py:15
                v35 = exp(v25 - v17_2)                        # %34 %35  soft_dtw.py:15
                v32 = exp(v25 - v17_3)                        # %31 %32  soft_dtw.py:15
                v43 = v28 * v28 + v25 - log(v32 + v35 + v39)  # %37 %41 %42 %29 %30 %43  soft_dtw.py:14
                t33[(row - 1) * m + j - 1] = v32              # %33  soft_dtw.py:15
                t36[(row - 1) * m + j - 1] = v35              # %36  soft_dtw.py:15
                t40[(row - 1) * m + j - 1] = v39              # %40  soft_dtw.py:15
                t44[row * (m + 1) + j] = v43                  # %44  soft_dtw.py:14
            inside_ = j != 1                                  # %inside_  soft_dtw.py:11
            if inside_:                                       # %13  soft_dtw.py:11
                column = j - 1                                # %column  soft_dtw.py:11
                v28_2 = x[next_row - 1] - y[column - 1]       # %28  soft_dtw.py:14
                v13 = t44[next_row * (m + 1) + column - 1]
                v13_2 = t44[(next_row - 1) * (m + 1) + column]
                v13_3 = t44[(next_row - 1) * (m + 1) + column - 1]
                v24_2 = select(v13_2 < v13_3, v13_2, v13_3)   # %24  soft_dtw.py:13
                v25_2 = select(v13 < v24_2, v13, v24_2)       # %25  soft_dtw.py:13
                v39_2 = exp(v25_2 - v13)                      # %38 %39  soft_dtw.py:15
                v35_2 = exp(v25_2 - v13_2)                    # %34 %35  soft_dtw.py:15
                v32_2 = exp(v25_2 - v13_3)                    # %31 %32  soft_dtw.py:15
                v43_2 = v28_2 * v28_2 + v25_2 - log(v32_2 + v35_2 + v39_2)  # %37 %41 %42 %29 %30 %43  soft_dtw.py:14
                t33[(next_row - 1) * m + column - 1] = v32_2  # %33  soft_dtw.py:15
                t36[(next_row - 1) * m + column - 1] = v35_2  # %36  soft_dtw.py:15
                t40[(next_row - 1) * m + column - 1] = v39_2  # %40  soft_dtw.py:15
                t44[next_row * (m + 1) + column] = v43_2      # %44  soft_dtw.py:14
    for i in range(2 * n_2 + 1, n + 1):                       # %5  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        for j in range(1, m + 1):                             # %13  soft_dtw.py:11
            v28_3 = x[i - 1] - y[j - 1]                       # %28  soft_dtw.py:14
            v17_4 = t44[i * (m + 1) + j - 1]
            v17_5 = t44[(i - 1) * (m + 1) + j]
            v17_6 = t44[(i - 1) * (m + 1) + j - 1]
            v24_3 = select(v17_5 < v17_6, v17_5, v17_6)       # %24  soft_dtw.py:13
            v25_3 = select(v17_4 < v24_3, v17_4, v24_3)       # %25  soft_dtw.py:13
            v39_3 = exp(v25_3 - v17_4)                        # %38 %39  soft_dtw.py:15
            v35_3 = exp(v25_3 - v17_5)                        # %34 %35  soft_dtw.py:15
            v32_3 = exp(v25_3 - v17_6)                        # %31 %32  soft_dtw.py:15
            v43_3 = v28_3 * v28_3 + v25_3 - log(v32_3 + v35_3 + v39_3)  # %37 %41 %42 %29 %30 %43  soft_dtw.py:14
            t33[(i - 1) * m + j - 1] = v32_3                  # %33  soft_dtw.py:15
            t36[(i - 1) * m + j - 1] = v35_3                  # %36  soft_dtw.py:15
            t40[(i - 1) * m + j - 1] = v39_3                  # %40  soft_dtw.py:15
            t44[i * (m + 1) + j] = v43_3                      # %44  soft_dtw.py:14
    v5 = t44[n * (m + 1) + m]
    for i in range(n + 1):
        for j in range(m + 1):
            t115[i * (m + 1) + j] = 0.0                       # %46  soft_dtw.py:10
    t115[n * (m + 1) + m] = t115[n * (m + 1) + m] + 1.0       # %47  soft_dtw.py:10
    for i in range(n):
        out1[i] = 0.0                                         # %48  soft_dtw.py:10
    for i in range(m):
        out2[i] = 0.0                                         # %49  soft_dtw.py:10
    for i in range(n_2):                                      # %50  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        next_row_ = n - 2 * i - 1                             # %next_row_  soft_dtw.py:11
        row_ = n - 2 * i                                      # %row_  soft_dtw.py:11
        for j in range(m, -1, -1):                            # %56  soft_dtw.py:11
            inside__ = j != 0                                 # %inside__  soft_dtw.py:11
            if inside__:                                      # %56  soft_dtw.py:11
                v59 = t115[row_ * (m + 1) + j]
                v100 = v59 * (x[row_ - 1] - y[j - 1])         # %73 %100  soft_dtw.py:14
                v101 = v100 + v100                            # %101  soft_dtw.py:14
                v5_2 = t44[row_ * (m + 1) + j - 1]
                v5_3 = t44[(row_ - 1) * (m + 1) + j]
                v5_4 = t44[(row_ - 1) * (m + 1) + j - 1]
                v69 = select(v5_3 < v5_4, v5_3, v5_4)         # %69  soft_dtw.py:13
                v77 = not (v5_2 < v69)                        # %70 %77  soft_dtw.py:13
                v8 = t40[(row_ - 1) * m + j - 1]
                v7 = t36[(row_ - 1) * m + j - 1]
                v6 = t33[(row_ - 1) * m + j - 1]
                v90 = -v59 * (1.0 / (v6 + v7 + v8))           # %74 %75 %76 %89 %90  soft_dtw.py:14
                v96 = v90 * v6                                # %96  soft_dtw.py:15
                v93 = v90 * v7                                # %93  soft_dtw.py:15
                v91 = v90 * v8                                # %91  soft_dtw.py:15
                v105 = (v91 + v93 + v96 + v59) * select(v69 == v5_2, 0.5, 1.0)  # %79 %80 %95 %98 %99 %105  soft_dtw.py:13
                v108 = v105 * select(v5_4 == v5_3, 0.5, 1.0)  # %83 %84 %108  soft_dtw.py:13
                v102 = -v101                                  # %102  soft_dtw.py:14
                v112 = -v93 + select(v77 & (v5_3 <= v5_4), v108, 0.0)  # %82 %86 %111 %94 %112  soft_dtw.py:13
                v110 = -v96 + select(v77 & (not (v5_3 < v5_4)), v108, 0.0)  # %68 %81 %85 %109 %97 %110  soft_dtw.py:13
                v107 = -v91 + select(v5_2 <= v69, v105, 0.0)  # %78 %106 %92 %107  soft_dtw.py:13
                t115[row_ * (m + 1) + j] = 0.0                # %88  soft_dtw.py:14
                out2[j - 1] = out2[j - 1] + v102              # %103  soft_dtw.py:14
                out1[row_ - 1] = out1[row_ - 1] + v101        # %104  soft_dtw.py:14
                t115[row_ * (m + 1) + j - 1] = t115[row_ * (m + 1) + j - 1] + v107  # %113  soft_dtw.py:12
                t115[(row_ - 1) * (m + 1) + j] = t115[(row_ - 1) * (m + 1) + j] + v112  # %114  soft_dtw.py:12
                t115[(row_ - 1) * (m + 1) + j - 1] = t115[(row_ - 1) * (m + 1) + j - 1] + v110  # %115  soft_dtw.py:12
            inside___ = j != m                                # %inside___  soft_dtw.py:11
            if inside___:                                     # %56  soft_dtw.py:11
                column_ = j + 1                               # %column_  soft_dtw.py:11
                v56 = t115[next_row_ * (m + 1) + column_]
                v100_2 = v56 * (x[next_row_ - 1] - y[column_ - 1])  # %73 %100  soft_dtw.py:14
                v101_2 = v100_2 + v100_2                      # %101  soft_dtw.py:14
                v5_5 = t44[next_row_ * (m + 1) + column_ - 1]
                v5_6 = t44[(next_row_ - 1) * (m + 1) + column_]
                v5_7 = t44[(next_row_ - 1) * (m + 1) + column_ - 1]
                v69_2 = select(v5_6 < v5_7, v5_6, v5_7)       # %69  soft_dtw.py:13
                v77_2 = not (v5_5 < v69_2)                    # %70 %77  soft_dtw.py:13
                v8_2 = t40[(next_row_ - 1) * m + column_ - 1]
                v7_2 = t36[(next_row_ - 1) * m + column_ - 1]
                v6_2 = t33[(next_row_ - 1) * m + column_ - 1]
                v90_2 = -v56 * (1.0 / (v6_2 + v7_2 + v8_2))   # %74 %75 %76 %89 %90  soft_dtw.py:14
                v96_2 = v90_2 * v6_2                          # %96  soft_dtw.py:15
                v93_2 = v90_2 * v7_2                          # %93  soft_dtw.py:15
                v91_2 = v90_2 * v8_2                          # %91  soft_dtw.py:15
                v105_2 = (v91_2 + v93_2 + v96_2 + v56) * select(v69_2 == v5_5, 0.5, 1.0)  # %79 %80 %95 %98 %99 %105  soft_dtw.py:13
                v108_2 = v105_2 * select(v5_7 == v5_6, 0.5, 1.0)  # %83 %84 %108  soft_dtw.py:13
                v102_2 = -v101_2                              # %102  soft_dtw.py:14
                v112_2 = -v93_2 + select(v77_2 & (v5_6 <= v5_7), v108_2, 0.0)  # %82 %86 %111 %94 %112  soft_dtw.py:13
                v110_2 = -v96_2 + select(v77_2 & (not (v5_6 < v5_7)), v108_2, 0.0)  # %68 %81 %85 %109 %97 %110  soft_dtw.py:13
                v107_2 = -v91_2 + select(v5_5 <= v69_2, v105_2, 0.0)  # %78 %106 %92 %107  soft_dtw.py:13
                t115[next_row_ * (m + 1) + column_] = 0.0     # %88  soft_dtw.py:14
                out2[column_ - 1] = out2[column_ - 1] + v102_2  # %103  soft_dtw.py:14
                out1[next_row_ - 1] = out1[next_row_ - 1] + v101_2  # %104  soft_dtw.py:14
                t115[next_row_ * (m + 1) + column_ - 1] = t115[next_row_ * (m + 1) + column_ - 1] + v107_2  # %113  soft_dtw.py:12
                t115[(next_row_ - 1) * (m + 1) + column_] = t115[(next_row_ - 1) * (m + 1) + column_] + v112_2  # %114  soft_dtw.py:12
                t115[(next_row_ - 1) * (m + 1) + column_ - 1] = t115[(next_row_ - 1) * (m + 1) + column_ - 1] + v110_2  # %115  soft_dtw.py:12
    for i in range(n - 2 * n_2, 0, -1):                       # %50  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        for j in range(m, 0, -1):                             # %56  soft_dtw.py:11
            v59_2 = t115[i * (m + 1) + j]
            v100_3 = v59_2 * (x[i - 1] - y[j - 1])            # %73 %100  soft_dtw.py:14
            v101_3 = v100_3 + v100_3                          # %101  soft_dtw.py:14
            v5_8 = t44[i * (m + 1) + j - 1]
            v5_9 = t44[(i - 1) * (m + 1) + j]
            v5_10 = t44[(i - 1) * (m + 1) + j - 1]
            v69_3 = select(v5_9 < v5_10, v5_9, v5_10)         # %69  soft_dtw.py:13
            v77_3 = not (v5_8 < v69_3)                        # %70 %77  soft_dtw.py:13
            v8_3 = t40[(i - 1) * m + j - 1]
            v7_3 = t36[(i - 1) * m + j - 1]
            v6_3 = t33[(i - 1) * m + j - 1]
            v90_3 = -v59_2 * (1.0 / (v6_3 + v7_3 + v8_3))     # %74 %75 %76 %89 %90  soft_dtw.py:14
            v96_3 = v90_3 * v6_3                              # %96  soft_dtw.py:15
            v93_3 = v90_3 * v7_3                              # %93  soft_dtw.py:15
            v91_3 = v90_3 * v8_3                              # %91  soft_dtw.py:15
            v80_3 = select(v69_3 == v5_8, 0.5, 1.0)           # %79 %80  soft_dtw.py:13
            v105_3 = (v91_3 + v93_3 + v96_3 + v59_2) * v80_3  # %95 %98 %99 %105  soft_dtw.py:13
            v108_3 = v105_3 * select(v5_10 == v5_9, 0.5, 1.0)  # %83 %84 %108  soft_dtw.py:13
            v102_3 = -v101_3                                  # %102  soft_dtw.py:14
            v112_3 = -v93_3 + select(v77_3 & (v5_9 <= v5_10), v108_3, 0.0)  # %82 %86 %111 %94 %112  soft_dtw.py:13
            v110_3 = -v96_3 + select(v77_3 & (not (v5_9 < v5_10)), v108_3, 0.0)  # %68 %81 %85 %109 %97 %110  soft_dtw.py:13
            v107_3 = -v91_3 + select(v5_8 <= v69_3, v105_3, 0.0)  # %78 %106 %92 %107  soft_dtw.py:13
            t115[i * (m + 1) + j] = 0.0                       # %88  soft_dtw.py:14
            out2[j - 1] = out2[j - 1] + v102_3                # %103  soft_dtw.py:14
            out1[i - 1] = radd(out1[i - 1], v101_3)           # %104  soft_dtw.py:14
            t115[i * (m + 1) + j - 1] = t115[i * (m + 1) + j - 1] + v107_3  # %113  soft_dtw.py:12
            t115[(i - 1) * (m + 1) + j] = t115[(i - 1) * (m + 1) + j] + v112_3  # %114  soft_dtw.py:12
            t115[(i - 1) * (m + 1) + j - 1] = t115[(i - 1) * (m + 1) + j - 1] + v110_3  # %115  soft_dtw.py:12
    out0[0] = v5
    return 0

