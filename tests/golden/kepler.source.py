"""value_and_grad[kepler]: emitted by tracejit.

"""

def kernel(ctx, e, m, out0, out1, out2):
    e_ = e[0]                                                 # %e
    m_ = m[0]                                                 # %m
    log0 = log_base(ctx, 0, "f64:5")
    top0 = 0                                                  # %0  kepler.py:8
    cap0 = 0
    c_tj_broken1_ = False
    cx_ = m_
    iv1 = 0
    while True:                                               # %1  kepler.py:8
        v6 = not c_tj_broken1_                                # %6  kepler.py:8
        if not (v6):
            break
        v12 = cos(cx_)                                        # %12  kepler.py:9
        v14 = 1.0 - e_ * v12                                  # %13 %14  kepler.py:9
        v8 = sin(cx_)                                         # %8  kepler.py:9
        v15 = (cx_ - e_ * v8 - m_) / v14                      # %9 %10 %11 %15  kepler.py:9
        v20 = fabs(v15) < 1e-10                               # %19 %20  kepler.py:11
        v18 = cx_ - v15                                       # %18  kepler.py:10
        v17 = -v15 / v14                                      # %16 %17  kepler.py:9
        if top0 + 3 > cap0:                                   # %21  kepler.py:8
            if log_grow(ctx, 0, top0 + 3, 8) != 0:
                return fail(ctx, 1, 0, 0)
            log0 = log_base(ctx, 0, "f64:5")
            cap0 = log_capacity(ctx, 0)
        log0[top0] = v8
        top0 = top0 + 1
        log0[top0] = v12
        top0 = top0 + 1
        log0[top0] = v17
        top0 = top0 + 1
        c_tj_broken1_ = v20
        cx_ = v18
        iv1 = iv1 + 1
        if interrupted(ctx, iv1, 1023):
            return -1
    cv26 = 1.0
    cv27 = 0.0
    cv28 = 0.0
    for i_chunk in range(0, iv1, 4194304):                    # %22  kepler.py:8
        if interrupted(ctx, 0, 0):
            return -1
        for i in range(iv1 - i_chunk - 1, imax(iv1 - i_chunk - 4194304, 0) - 1, -1):
            top0 = top0 - 1
            v33 = log0[top0]                                  # %30  kepler.py:8
            top0 = top0 - 1
            v32 = log0[top0]                                  # %30  kepler.py:8
            top0 = top0 - 1
            v31 = log0[top0]                                  # %30  kepler.py:8
            v38 = -cv26                                       # %38  kepler.py:10
            v41 = -(v38 * v33)                                # %40 %41  kepler.py:9
            v39 = v38 * (1.0 / (1.0 - e_ * v32))              # %34 %35 %36 %39  kepler.py:9
            v47 = -v39                                        # %47  kepler.py:9
            v48 = cv28 - v39                                  # %48  kepler.py:9
            v52 = cv27 + v41 * v32 + v47 * v31                # %50 %42 %44 %52  kepler.py:9
            cv26 = cv26 + v41 * e_ * (-v31) + v39 + v47 * e_ * v32  # %51 %53 %37 %43 %45 %46 %49 %54  kepler.py:9
            cv27 = v52
            cv28 = v48
    v55 = cv28 + cv26                                         # %55  kepler.py:8
    out0[0] = cx_
    out1[0] = cv27
    out2[0] = v55
    return 0

