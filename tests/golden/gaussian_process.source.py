"""value_and_grad[negative_log_likelihood]: emitted by tracejit.

"""

def kernel(ctx, theta, x, y, out0, out1, arena, n):
    t21 = f64_at(arena, 0, 5)
    t40 = f64_at(arena, 0, 5)
    o1 = 0 + idiv(8 * n * n + 63, 64) * 64
    t23 = f64_at(arena, o1, 6)
    t42 = f64_at(arena, o1, 6)
    t53 = f64_at(arena, o1, 6)
    o2 = o1 + idiv(8 * n * n + 63, 64) * 64
    t24 = i64_at(arena, o2, 7)
    o3 = o2 + idiv(8 * n + 63, 64) * 64
    t22 = f64_at(arena, o3, 8)
    o4 = o3 + idiv(8 * n * n + 63, 64) * 64
    t29 = f64_at(arena, o4, 9)
    o5 = o4 + idiv(8 * n + 63, 64) * 64
    t38 = f64_at(arena, o5, 10)
    o6 = o5 + idiv(8 * n + 63, 64) * 64
    t44 = f64_at(arena, o6, 11)
    t55 = f64_at(arena, o6, 11)
    v5 = exp(theta[2])                                        # %5  gaussian_process.py:7
    v3 = exp(theta[1])                                        # %3  gaussian_process.py:7
    v11 = v3 * v3                                             # %11  gaussian_process.py:9
    v1 = exp(theta[0])                                        # %1  gaussian_process.py:7
    for i in range(n):
        x_2 = x[i]
        for j in range(n):
            v8 = x_2 - x[j]                                   # %8  gaussian_process.py:8
            t21[i * n + j] = v1 * exp(-0.5 * (v8 * v8) / v11) + v5 * f64(j == i)  # %18 %19 %20 %9 %10 %12 %13 %14 %21  gaussian_process.py:9
    for i in range(n):
        for j in range(n):
            t23[i * n + j] = t21[i * n + j]                   # %23, a copy: a library routine overwrites it
    if getrf(n, t23, t24) < 0:                                # %23  gaussian_process.py:11
        return fail(ctx, 1, 0, 0)
    for i in range(n):
        for j in range(n):
            t22[i * n + j] = t21[i * n + j]                   # %22, a copy: a library routine overwrites it
    if potrf(n, t22) != 0:                                    # %22  gaussian_process.py:10
        return fail(ctx, 2, 0, 0)
    for row in range(n):
        for column in range(row + 1, n):
            t22[row * n + column] = 0.0
    s27 = True
    for i in range(n):
        s27 = s27 & (t23[i * n + i] != 0.0)                   # %26 %27  gaussian_process.py:11
    if not s27:                                               # gaussian_process.py:11
        return fail(ctx, 3, 0, 0)
    for i in range(n):
        t29[i] = y[i]                                         # %29, a copy: a library routine overwrites it
    trsm("L", "N", "N", n, 1, t23, t29)                       # %29  gaussian_process.py:11
    trsm("U", "N", "U", n, 1, t23, t29)
    for k in range(n - 1, -1, -1):
        for j_2 in range(1):
            held = t29[k * 1 + j_2]
            t29[k * 1 + j_2] = t29[(t24[k] - 1) * 1 + j_2]
            t29[(t24[k] - 1) * 1 + j_2] = held
    s32 = 0.0
    s35 = 0.0
    for block in range(0, n, 4096):
        s32_part = 0.0
        s35_part = 0.0
        for i in range(block, imin(block + 4096, n)):
            v31 = 0.5 * y[i]                                  # %31  gaussian_process.py:12
            s32_part = radd(s32_part, v31 * t29[i])           # %32  gaussian_process.py:12
            s35_part = radd(s35_part, log(t22[i * n + i]))    # %34 %35  gaussian_process.py:12
            t38[i] = v31                                      # %38  gaussian_process.py:11
        s32 = radd(s32, s32_part)
        s35 = radd(s35, s35_part)
    for k_2 in range(n):
        for j_3 in range(1):
            held_2 = t38[k_2 * 1 + j_3]
            t38[k_2 * 1 + j_3] = t38[(t24[k_2] - 1) * 1 + j_3]
            t38[(t24[k_2] - 1) * 1 + j_3] = held_2
    trsm("U", "T", "U", n, 1, t23, t38)
    trsm("L", "T", "N", n, 1, t23, t38)                       # %39  gaussian_process.py:11
    if n * n * 1 >= 4096:
        gemm("N", "T", n, n, 1, t38, 1, t29, 1, t40)          # %40  gaussian_process.py:11
    else:
        for i in range(n):
            for j in range(n):
                s40 = 0.0
                for l in range(1):
                    s40 = radd(s40, t38[i] * t29[j])          # %40  gaussian_process.py:11
                t40[i * n + j] = s40
    v36 = s32 + s35                                           # %36  gaussian_process.py:12
    for i in range(n):
        for j in range(n):
            t42[i * n + j] = 0.0                              # %42  gaussian_process.py:10
    for i in range(n):
        t42[i * n + i] = t42[i * n + i] + 1.0 / t22[i * n + i]  # %37 %43  gaussian_process.py:10
    if n * n * n >= 4096:
        gemm("T", "N", n, n, n, t22, n, t42, n, t44)          # %44  gaussian_process.py:10
    else:
        small_gemm("T", "N", n, n, n, t22, t42, t44)          # %44  gaussian_process.py:10
    for i in range(n):
        for j in range(n):
            v50 = t44[i * n + j] * select(i > j, 1.0, select(i == j, 0.5, 0.0))  # %46 %47 %45 %48 %50  gaussian_process.py:10
            v50_2 = t44[j * n + i] * select(j > i, 1.0, select(j == i, 0.5, 0.0))  # %46 %47 %45 %48 %50  gaussian_process.py:10
            t53[i * n + j] = select(i >= j, v50, 0.0) + select(j >= i, v50_2, 0.0)  # %49 %51 %53  gaussian_process.py:10
    trsm("L", "T", "N", n, n, t22, t53)                       # %54  gaussian_process.py:10
    for i in range(n):
        for j in range(n):
            t55[i * n + j] = t53[j * n + i]                   # %55  gaussian_process.py:10
    trsm("L", "T", "N", n, n, t22, t55)                       # %56  gaussian_process.py:10
    s61 = 0.0
    s63 = 0.0
    s69 = 0.0
    for i in range(n):
        s61_part = 0.0
        s63_part = 0.0
        s69_part = 0.0
        x_4 = x[i]
        for j in range(n):
            v57 = t55[i * n + j] * select(i > j, 1.0, select(i == j, 0.5, 0.0))  # %46 %47 %45 %48 %57  gaussian_process.py:10
            v59 = -t40[i * n + j] + select(i >= j, v57, 0.0)  # %49 %58 %41 %59  gaussian_process.py:10
            s61_part = radd(s61_part, v59 * f64(j == i))      # %18 %19 %60 %61  gaussian_process.py:9
            v8_2 = x_4 - x[j]                                 # %8  gaussian_process.py:8
            v12_2 = -0.5 * (v8_2 * v8_2) / v11                # %9 %10 %12  gaussian_process.py:9
            v13_2 = exp(v12_2)                                # %13  gaussian_process.py:9
            s63_part = radd(s63_part, v59 * v13_2)            # %62 %63  gaussian_process.py:9
            s69_part = radd(s69_part, v59 * v1 * v13_2 * (-v12_2 / v11))  # %66 %67 %64 %65 %68 %69  gaussian_process.py:9
        s61 = radd(s61, s61_part)
        s63 = radd(s63, s63_part)
        s69 = radd(s69, s69_part)
    v70 = s69 * v3                                            # %70  gaussian_process.py:9
    v77 = s63 * v1                                            # %77  gaussian_process.py:7
    v72 = s61 * v5                                            # %72  gaussian_process.py:7
    v73 = (v70 + v70) * v3                                    # %71 %73  gaussian_process.py:7
    out1[0] = 0.0                                             # %74  gaussian_process.py:7
    out1[1] = 0.0                                             # %74  gaussian_process.py:7
    out1[2] = 0.0                                             # %74  gaussian_process.py:7
    out1[2] = out1[2] + v72                                   # %75  gaussian_process.py:7
    out1[1] = out1[1] + v73                                   # %76  gaussian_process.py:7
    out1[0] = out1[0] + v77                                   # %78  gaussian_process.py:7
    out0[0] = v36
    return 0

