"""grad[f]: emitted by tracejit.

"""

def kernel(ctx, table, rows, w, out0, out1, arena, n, d, k):
    t0 = i64_at(arena, 0, 5)
    for i in range(k):
        rows_2 = rows[i]
        v0 = select(rows_2 < 0, rows_2 + n, rows_2)           # %0  single.py:7
        if not 0 <= v0 < n:                                   # %0  single.py:7
            return fail(ctx, 1, rows_2, n)
        t0[i] = v0
    for i in range(d):
        out1[i] = f32(0.0)                                    # %9  single.py:7
    for i in range(k):
        v0_2 = t0[i]
        for j in range(d):
            table_2 = table[v0_2 * d + j]
            v3 = f32(table_2 * w[j]) > f32(0.0)               # %2 %3  single.py:8
            v8 = f32(f32(select(v3, f32(1.0), f32(0.009999999776482582))) * table_2)  # %6 %8  single.py:7
            out1[j] = out1[j] + v8                            # %9  single.py:7
    for i in range(n):
        for j in range(d):
            out0[i * d + j] = f32(0.0)                        # %10
    for i in range(k):
        v0_3 = t0[i]
        for j in range(d):
            w_3 = w[j]
            v3_2 = f32(table[v0_3 * d + j] * w_3) > f32(0.0)  # %2 %3  single.py:8
            v7 = f32(f32(select(v3_2, f32(1.0), f32(0.009999999776482582))) * w_3)  # %6 %7  single.py:7
            out0[v0_3 * d + j] = out0[v0_3 * d + j] + v7      # %11
    return 0

