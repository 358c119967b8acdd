"""value_and_grad[soft_dtw]: emitted by tracejit.

"""

def kernel(ctx, x, y, out0, out1, out2, arena, n, m):
    t68 = f64_at(arena, 0, 5)
    t124 = f64_at(arena, 0, 5)
    o1 = 0 + idiv(8 * n * m + 8 * n + 8 * m + 71, 64) * 64
    t43 = bool_at(arena, o1, 6)
    o2 = o1 + idiv(n * m + 63, 64) * 64
    t57 = f64_at(arena, o2, 7)
    o3 = o2 + idiv(8 * n * m + 63, 64) * 64
    t60 = f64_at(arena, o3, 8)
    o4 = o3 + idiv(8 * n * m + 63, 64) * 64
    t64 = f64_at(arena, o4, 9)
    o5 = o4 + idiv(8 * n * m + 63, 64) * 64
    t46 = bool_at(arena, o5, 10)
    o6 = o5 + idiv(n * m + 63, 64) * 64
    t48 = bool_at(arena, o6, 11)
    for i in range(n + 1):
        for j in range(m + 1):
            t68[i * (m + 1) + j] = 10000000000.0              # %0  soft_dtw.py:8
    t68[0] = 0.0                                              # %1  soft_dtw.py:9
    n_2 = idiv(n, 2)
    for i in range(n_2):                                      # %8  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        next_row = 2 * i + 2                                  # soft_dtw.py:11
        row = 2 * i + 1                                       # soft_dtw.py:11
        end = m + 1                                           # soft_dtw.py:11
        for j in range(1, m + 2):                             # %22  soft_dtw.py:11
            inside = j != end                                 # soft_dtw.py:11
            if inside:                                        # %22  soft_dtw.py:11
                v52 = x[row - 1] - y[j - 1]                   # %52  soft_dtw.py:14
                v29 = t68[row * (m + 1) + j - 1]
                v29_2 = t68[(row - 1) * (m + 1) + j]
                v29_3 = t68[(row - 1) * (m + 1) + j - 1]
                v39 = v29_2 < v29_3                           # %39  soft_dtw.py:13
                v41 = select(v39, v29_2, v29_3)               # %41  soft_dtw.py:13
                v42 = v29 < v41                               # %42  soft_dtw.py:13
                v49 = select(v42, v29, v41)                   # %49  soft_dtw.py:13
                v63 = exp(v49 - v29)                          # %62 %63  soft_dtw.py:15
                v59 = exp(v49 - v29_2)                        # %58 %59  soft_dtw.py:15
                v56 = exp(v49 - v29_3)                        # %55 %56  soft_dtw.py:15
                v44 = not v42                                 # %44  soft_dtw.py:13
                v67 = v52 * v52 + v49 - log(v56 + v59 + v63)  # %61 %65 %66 %53 %54 %67  soft_dtw.py:14
                v45 = v44 & v39                               # %45  soft_dtw.py:13
                v47 = v44 & (not v39)                         # %40 %47  soft_dtw.py:13
                t43[(row - 1) * m + j - 1] = v42              # %43  soft_dtw.py:13
                t46[(row - 1) * m + j - 1] = v45              # %46  soft_dtw.py:13
                t48[(row - 1) * m + j - 1] = v47              # %48  soft_dtw.py:13
                t57[(row - 1) * m + j - 1] = v56              # %57  soft_dtw.py:15
                t60[(row - 1) * m + j - 1] = v59              # %60  soft_dtw.py:15
                t64[(row - 1) * m + j - 1] = v63              # %64  soft_dtw.py:15
                t68[row * (m + 1) + j] = v67                  # %68  soft_dtw.py:14
            inside_2 = j != 1                                 # soft_dtw.py:11
            if inside_2:                                      # %22  soft_dtw.py:11
                column = j - 1                                # soft_dtw.py:11
                v52_2 = x[next_row - 1] - y[column - 1]       # %52  soft_dtw.py:14
                v22 = t68[next_row * (m + 1) + column - 1]
                v22_2 = t68[(next_row - 1) * (m + 1) + column]
                v22_3 = t68[(next_row - 1) * (m + 1) + column - 1]
                v39_2 = v22_2 < v22_3                         # %39  soft_dtw.py:13
                v41_2 = select(v39_2, v22_2, v22_3)           # %41  soft_dtw.py:13
                v42_2 = v22 < v41_2                           # %42  soft_dtw.py:13
                v49_2 = select(v42_2, v22, v41_2)             # %49  soft_dtw.py:13
                v63_2 = exp(v49_2 - v22)                      # %62 %63  soft_dtw.py:15
                v59_2 = exp(v49_2 - v22_2)                    # %58 %59  soft_dtw.py:15
                v56_2 = exp(v49_2 - v22_3)                    # %55 %56  soft_dtw.py:15
                v44_2 = not v42_2                             # %44  soft_dtw.py:13
                v67_2 = v52_2 * v52_2 + v49_2 - log(v56_2 + v59_2 + v63_2)  # %61 %65 %66 %53 %54 %67  soft_dtw.py:14
                v45_2 = v44_2 & v39_2                         # %45  soft_dtw.py:13
                v47_2 = v44_2 & (not v39_2)                   # %40 %47  soft_dtw.py:13
                t43[(next_row - 1) * m + column - 1] = v42_2  # %43  soft_dtw.py:13
                t46[(next_row - 1) * m + column - 1] = v45_2  # %46  soft_dtw.py:13
                t48[(next_row - 1) * m + column - 1] = v47_2  # %48  soft_dtw.py:13
                t57[(next_row - 1) * m + column - 1] = v56_2  # %57  soft_dtw.py:15
                t60[(next_row - 1) * m + column - 1] = v59_2  # %60  soft_dtw.py:15
                t64[(next_row - 1) * m + column - 1] = v63_2  # %64  soft_dtw.py:15
                t68[next_row * (m + 1) + column] = v67_2      # %68  soft_dtw.py:14
    for i in range(2 * n_2 + 1, n + 1):                       # %8  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        for j in range(1, m + 1):                             # %22  soft_dtw.py:11
            v52_3 = x[i - 1] - y[j - 1]                       # %52  soft_dtw.py:14
            v29_4 = t68[i * (m + 1) + j - 1]
            v29_5 = t68[(i - 1) * (m + 1) + j]
            v29_6 = t68[(i - 1) * (m + 1) + j - 1]
            v39_3 = v29_5 < v29_6                             # %39  soft_dtw.py:13
            v41_3 = select(v39_3, v29_5, v29_6)               # %41  soft_dtw.py:13
            v42_3 = v29_4 < v41_3                             # %42  soft_dtw.py:13
            v49_3 = select(v42_3, v29_4, v41_3)               # %49  soft_dtw.py:13
            v63_3 = exp(v49_3 - v29_4)                        # %62 %63  soft_dtw.py:15
            v59_3 = exp(v49_3 - v29_5)                        # %58 %59  soft_dtw.py:15
            v56_3 = exp(v49_3 - v29_6)                        # %55 %56  soft_dtw.py:15
            v44_3 = not v42_3                                 # %44  soft_dtw.py:13
            v67_3 = v52_3 * v52_3 + v49_3 - log(v56_3 + v59_3 + v63_3)  # %61 %65 %66 %53 %54 %67  soft_dtw.py:14
            v45_3 = v44_3 & v39_3                             # %45  soft_dtw.py:13
            v47_3 = v44_3 & (not v39_3)                       # %40 %47  soft_dtw.py:13
            t43[(i - 1) * m + j - 1] = v42_3                  # %43  soft_dtw.py:13
            t46[(i - 1) * m + j - 1] = v45_3                  # %46  soft_dtw.py:13
            t48[(i - 1) * m + j - 1] = v47_3                  # %48  soft_dtw.py:13
            t57[(i - 1) * m + j - 1] = v56_3                  # %57  soft_dtw.py:15
            t60[(i - 1) * m + j - 1] = v59_3                  # %60  soft_dtw.py:15
            t64[(i - 1) * m + j - 1] = v63_3                  # %64  soft_dtw.py:15
            t68[i * (m + 1) + j] = v67_3                      # %68  soft_dtw.py:14
    v8 = t68[n * (m + 1) + m]
    for i in range(n + 1):
        for j in range(m + 1):
            t124[i * (m + 1) + j] = 0.0                       # %70  soft_dtw.py:10
    t124[n * (m + 1) + m] = t124[n * (m + 1) + m] + 1.0       # %71  soft_dtw.py:10
    for i in range(n):
        out1[i] = 0.0                                         # %72  soft_dtw.py:10
    for i in range(m):
        out2[i] = 0.0                                         # %73  soft_dtw.py:10
    for i in range(n_2):                                      # %74  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        next_row_2 = n - 2 * i - 1                            # soft_dtw.py:11
        row_2 = n - 2 * i                                     # soft_dtw.py:11
        for j in range(m, -1, -1):                            # %80  soft_dtw.py:11
            inside_3 = j != 0                                 # soft_dtw.py:11
            if inside_3:                                      # %80  soft_dtw.py:11
                v83 = t124[row_2 * (m + 1) + j]
                v111 = v83 * (x[row_2 - 1] - y[j - 1])        # %94 %111  soft_dtw.py:14
                v112 = v111 + v111                            # %112  soft_dtw.py:14
                v12 = t64[(row_2 - 1) * m + j - 1]
                v11 = t60[(row_2 - 1) * m + j - 1]
                v10 = t57[(row_2 - 1) * m + j - 1]
                v101 = -v83 * (1.0 / (v10 + v11 + v12))       # %95 %96 %97 %100 %101  soft_dtw.py:14
                v107 = v101 * v10                             # %107  soft_dtw.py:15
                v104 = v101 * v11                             # %104  soft_dtw.py:15
                v102 = v101 * v12                             # %102  soft_dtw.py:15
                v110 = v102 + v104 + v107 + v83               # %106 %109 %110  soft_dtw.py:14
                v113 = -v112                                  # %113  soft_dtw.py:14
                v121 = -v107 + select(t48[(row_2 - 1) * m + j - 1], v110, 0.0)  # %120 %108 %121  soft_dtw.py:13
                v119 = -v104 + select(t46[(row_2 - 1) * m + j - 1], v110, 0.0)  # %118 %105 %119  soft_dtw.py:13
                v117 = -v102 + select(t43[(row_2 - 1) * m + j - 1], v110, 0.0)  # %116 %103 %117  soft_dtw.py:13
                t124[row_2 * (m + 1) + j] = 0.0               # %99  soft_dtw.py:14
                out2[j - 1] = out2[j - 1] + v113              # %114  soft_dtw.py:14
                out1[row_2 - 1] = out1[row_2 - 1] + v112      # %115  soft_dtw.py:14
                t124[row_2 * (m + 1) + j - 1] = t124[row_2 * (m + 1) + j - 1] + v117  # %122  soft_dtw.py:12
                t124[(row_2 - 1) * (m + 1) + j] = t124[(row_2 - 1) * (m + 1) + j] + v119  # %123  soft_dtw.py:12
                t124[(row_2 - 1) * (m + 1) + j - 1] = t124[(row_2 - 1) * (m + 1) + j - 1] + v121  # %124  soft_dtw.py:12
            inside_4 = j != m                                 # soft_dtw.py:11
            if inside_4:                                      # %80  soft_dtw.py:11
                column_2 = j + 1                              # soft_dtw.py:11
                v80 = t124[next_row_2 * (m + 1) + column_2]
                v111_2 = v80 * (x[next_row_2 - 1] - y[column_2 - 1])  # %94 %111  soft_dtw.py:14
                v112_2 = v111_2 + v111_2                      # %112  soft_dtw.py:14
                v12_2 = t64[(next_row_2 - 1) * m + column_2 - 1]
                v11_2 = t60[(next_row_2 - 1) * m + column_2 - 1]
                v10_2 = t57[(next_row_2 - 1) * m + column_2 - 1]
                v101_2 = -v80 * (1.0 / (v10_2 + v11_2 + v12_2))  # %95 %96 %97 %100 %101  soft_dtw.py:14
                v107_2 = v101_2 * v10_2                       # %107  soft_dtw.py:15
                v104_2 = v101_2 * v11_2                       # %104  soft_dtw.py:15
                v102_2 = v101_2 * v12_2                       # %102  soft_dtw.py:15
                v110_2 = v102_2 + v104_2 + v107_2 + v80       # %106 %109 %110  soft_dtw.py:14
                v120_2 = select(t48[(next_row_2 - 1) * m + column_2 - 1], v110_2, 0.0)  # %120  soft_dtw.py:13
                v118_2 = select(t46[(next_row_2 - 1) * m + column_2 - 1], v110_2, 0.0)  # %118  soft_dtw.py:13
                v116_2 = select(t43[(next_row_2 - 1) * m + column_2 - 1], v110_2, 0.0)  # %116  soft_dtw.py:13
                v113_2 = -v112_2                              # %113  soft_dtw.py:14
                v121_2 = -v107_2 + v120_2                     # %108 %121  soft_dtw.py:13
                v119_2 = -v104_2 + v118_2                     # %105 %119  soft_dtw.py:13
                v117_2 = -v102_2 + v116_2                     # %103 %117  soft_dtw.py:13
                t124[next_row_2 * (m + 1) + column_2] = 0.0   # %99  soft_dtw.py:14
                out2[column_2 - 1] = out2[column_2 - 1] + v113_2  # %114  soft_dtw.py:14
                out1[next_row_2 - 1] = out1[next_row_2 - 1] + v112_2  # %115  soft_dtw.py:14
                t124[next_row_2 * (m + 1) + column_2 - 1] = t124[next_row_2 * (m + 1) + column_2 - 1] + v117_2  # %122  soft_dtw.py:12
                t124[(next_row_2 - 1) * (m + 1) + column_2] = t124[(next_row_2 - 1) * (m + 1) + column_2] + v119_2  # %123  soft_dtw.py:12
                t124[(next_row_2 - 1) * (m + 1) + column_2 - 1] = t124[(next_row_2 - 1) * (m + 1) + column_2 - 1] + v121_2  # %124  soft_dtw.py:12
    for i in range(n - 2 * n_2, 0, -1):                       # %74  soft_dtw.py:10
        if interrupted(ctx, i, 15):
            return -1
        for j in range(m, 0, -1):                             # %80  soft_dtw.py:11
            v83_2 = t124[i * (m + 1) + j]
            v111_3 = v83_2 * (x[i - 1] - y[j - 1])            # %94 %111  soft_dtw.py:14
            v112_3 = v111_3 + v111_3                          # %112  soft_dtw.py:14
            v12_3 = t64[(i - 1) * m + j - 1]
            v11_3 = t60[(i - 1) * m + j - 1]
            v10_3 = t57[(i - 1) * m + j - 1]
            v101_3 = -v83_2 * (1.0 / (v10_3 + v11_3 + v12_3))  # %95 %96 %97 %100 %101  soft_dtw.py:14
            v107_3 = v101_3 * v10_3                           # %107  soft_dtw.py:15
            v104_3 = v101_3 * v11_3                           # %104  soft_dtw.py:15
            v102_3 = v101_3 * v12_3                           # %102  soft_dtw.py:15
            v110_3 = v102_3 + v104_3 + v107_3 + v83_2         # %106 %109 %110  soft_dtw.py:14
            v113_3 = -v112_3                                  # %113  soft_dtw.py:14
            v121_3 = -v107_3 + select(t48[(i - 1) * m + j - 1], v110_3, 0.0)  # %120 %108 %121  soft_dtw.py:13
            v119_3 = -v104_3 + select(t46[(i - 1) * m + j - 1], v110_3, 0.0)  # %118 %105 %119  soft_dtw.py:13
            v117_3 = -v102_3 + select(t43[(i - 1) * m + j - 1], v110_3, 0.0)  # %116 %103 %117  soft_dtw.py:13
            t124[i * (m + 1) + j] = 0.0                       # %99  soft_dtw.py:14
            out2[j - 1] = out2[j - 1] + v113_3                # %114  soft_dtw.py:14
            out1[i - 1] = out1[i - 1] + v112_3                # %115  soft_dtw.py:14
            t124[i * (m + 1) + j - 1] = t124[i * (m + 1) + j - 1] + v117_3  # %122  soft_dtw.py:12
            t124[(i - 1) * (m + 1) + j] = t124[(i - 1) * (m + 1) + j] + v119_3  # %123  soft_dtw.py:12
            t124[(i - 1) * (m + 1) + j - 1] = t124[(i - 1) * (m + 1) + j - 1] + v121_3  # %124  soft_dtw.py:12
    out0[0] = v8
    return 0

