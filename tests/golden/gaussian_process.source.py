"""value_and_grad[negative_log_likelihood]: emitted by tracejit.

"""

def kernel(ctx, theta, x, y, out0, out1, arena, n):
    t21 = f64_at(arena, 0, 5)
    t41 = f64_at(arena, 0, 5)
    t52 = f64_at(arena, 0, 5)
    o1 = 0 + idiv(8 * n * n + 63, 64) * 64
    t39 = f64_at(arena, o1, 6)
    t37 = f64_at(arena, o1, 6)
    o2 = o1 + idiv(8 * n * n + 63, 64) * 64
    t23 = f64_at(arena, o2, 7)
    t50 = f64_at(arena, o2, 7)
    o3 = o2 + idiv(8 * n * n + 63, 64) * 64
    t24 = i64_at(arena, o3, 8)
    o4 = o3 + idiv(8 * n + 63, 64) * 64
    t26 = f64_at(arena, o4, 9)
    o5 = o4 + idiv(8 * n + 63, 64) * 64
    t22 = f64_at(arena, o5, 10)
    o6 = o5 + idiv(8 * n * n + 63, 64) * 64
    t35 = f64_at(arena, o6, 11)
    v5 = exp(theta[2])                                        # %5  gaussian_process.py:7
    v3 = exp(theta[1])                                        # %3  gaussian_process.py:7
    v11 = v3 * v3                                             # %11  gaussian_process.py:9
    v1 = exp(theta[0])                                        # %1  gaussian_process.py:7
    for i in range(n):
        x_2 = x[i]
        for j in range(n):
            v8 = x_2 - x[j]                                   # %8  gaussian_process.py:8
            t21[i * n + j] = v1 * exp(-0.5 * (v8 * v8) / v11) + v5 * f64(j == i)  # %18 %19 %20 %9 %10 %12 %13 %14 %21  gaussian_process.py:9
            t39[i * n + j] = 0.0                              # %39  gaussian_process.py:10
    for i in range(n):
        for j in range(n):
            t23[i * n + j] = t21[i * n + j]                   # %23, a copy: a library routine overwrites it
    if getrf(n, t23, t24) != 0:                               # %23  gaussian_process.py:11
        return fail(ctx, 1, 0, 0)
    for i in range(n):
        t26[i] = y[i]                                         # %26, a copy: a library routine overwrites it
    trsm("L", "N", "N", n, 1, t23, t26)                       # %26  gaussian_process.py:11
    trsm("U", "N", "U", n, 1, t23, t26)
    for k in range(n - 1, -1, -1):
        for j in range(1):
            held = t26[k * 1 + j]
            t26[k * 1 + j] = t26[(t24[k] - 1) * 1 + j]
            t26[(t24[k] - 1) * 1 + j] = held
    for i in range(n):
        for l in range(n):
            t22[i * n + l] = t21[i * n + l]                   # %22, a copy: a library routine overwrites it
    if potrf(n, t22) != 0:                                    # %22  gaussian_process.py:10
        return fail(ctx, 2, 0, 0)
    for row in range(n):
        for column in range(row + 1, n):
            t22[row * n + column] = 0.0
    s29 = 0.0
    s32 = 0.0
    for block in range(0, n, 4096):
        s29_part = 0.0
        s32_part = 0.0
        for i in range(block, imin(block + 4096, n)):
            v28 = 0.5 * y[i]                                  # %28  gaussian_process.py:12
            s29_part = radd(s29_part, v28 * t26[i])           # %29  gaussian_process.py:12
            v22 = t22[i * n + i]
            s32_part = radd(s32_part, log(v22))               # %31 %32  gaussian_process.py:12
            t35[i] = v28                                      # %35  gaussian_process.py:11
            t39[i * n + i] = t39[i * n + i] + 1.0 / v22       # %34 %40  gaussian_process.py:10
        s29 = radd(s29, s29_part)
        s32 = radd(s32, s32_part)
    if n * n * n >= 4096:
        gemm("T", "N", n, n, n, t22, n, t39, n, t41)          # %41  gaussian_process.py:10
    else:
        for i in range(n):
            for l in range(n):
                t41[i * n + l] = 0.0                          # %41  gaussian_process.py:10
        for i in range(n):
            for l in range(n):
                v22_2 = t22[i * n + l]
                for m in range(n):
                    t41[l * n + m] = t41[l * n + m] + v22_2 * t39[i * n + m]  # %41  gaussian_process.py:10
    for k_2 in range(n):
        for j_2 in range(1):
            held_2 = t35[k_2 * 1 + j_2]
            t35[k_2 * 1 + j_2] = t35[(t24[k_2] - 1) * 1 + j_2]
            t35[(t24[k_2] - 1) * 1 + j_2] = held_2
    trsm("U", "T", "U", n, 1, t23, t35)
    trsm("L", "T", "N", n, 1, t23, t35)                       # %36  gaussian_process.py:11
    if n * n * 1 >= 4096:
        gemm("N", "T", n, n, 1, t35, 1, t26, 1, t37)          # %37  gaussian_process.py:11
    else:
        for i in range(n):
            for l in range(n):
                s37 = 0.0
                for m in range(1):
                    s37 = radd(s37, t35[i] * t26[l])          # %37  gaussian_process.py:11
                t37[i * n + l] = s37
    v33 = s29 + s32                                           # %33  gaussian_process.py:12
    for i in range(n):
        for l in range(n):
            v47 = t41[i * n + l] * select(i > l, 1.0, select(i == l, 0.5, 0.0))  # %43 %44 %42 %45 %47  gaussian_process.py:10
            v47_2 = t41[l * n + i] * select(l > i, 1.0, select(l == i, 0.5, 0.0))  # %43 %44 %42 %45 %47  gaussian_process.py:10
            t50[i * n + l] = select(i >= l, v47, 0.0) + select(l >= i, v47_2, 0.0)  # %46 %48 %50  gaussian_process.py:10
    trsm("L", "T", "N", n, n, t22, t50)                       # %51  gaussian_process.py:10
    for i in range(n):
        for l in range(n):
            t52[i * n + l] = t50[l * n + i]                   # %52  gaussian_process.py:10
    trsm("L", "T", "N", n, n, t22, t52)                       # %53  gaussian_process.py:10
    s58 = 0.0
    s60 = 0.0
    s66 = 0.0
    for i in range(n):
        s58_part = 0.0
        s60_part = 0.0
        s66_part = 0.0
        x_4 = x[i]
        for l in range(n):
            v54 = t52[i * n + l] * select(i > l, 1.0, select(i == l, 0.5, 0.0))  # %43 %44 %42 %45 %54  gaussian_process.py:10
            v56 = -t37[i * n + l] + select(i >= l, v54, 0.0)  # %46 %55 %38 %56  gaussian_process.py:10
            s58_part = radd(s58_part, v56 * f64(l == i))      # %18 %19 %57 %58  gaussian_process.py:9
            v8_2 = x_4 - x[l]                                 # %8  gaussian_process.py:8
            v12_2 = -0.5 * (v8_2 * v8_2) / v11                # %9 %10 %12  gaussian_process.py:9
            v13_2 = exp(v12_2)                                # %13  gaussian_process.py:9
            s60_part = radd(s60_part, v56 * v13_2)            # %59 %60  gaussian_process.py:9
            s66_part = radd(s66_part, v56 * v1 * v13_2 * (-v12_2 / v11))  # %63 %64 %61 %62 %65 %66  gaussian_process.py:9
        s58 = radd(s58, s58_part)
        s60 = radd(s60, s60_part)
        s66 = radd(s66, s66_part)
    v67 = s66 * v3                                            # %67  gaussian_process.py:9
    v74 = s60 * v1                                            # %74  gaussian_process.py:7
    v69 = s58 * v5                                            # %69  gaussian_process.py:7
    v70 = (v67 + v67) * v3                                    # %68 %70  gaussian_process.py:7
    out1[0] = 0.0                                             # %71  gaussian_process.py:7
    out1[1] = 0.0                                             # %71  gaussian_process.py:7
    out1[2] = 0.0                                             # %71  gaussian_process.py:7
    out1[2] = out1[2] + v69                                   # %72  gaussian_process.py:7
    out1[1] = out1[1] + v70                                   # %73  gaussian_process.py:7
    out1[0] = out1[0] + v74                                   # %75  gaussian_process.py:7
    out0[0] = v33
    return 0

