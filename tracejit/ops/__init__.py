"""The op registry: one op, one entry, and all that anyone needs to know of it in that entry."""

from tracejit.trace.ground.own_numpy import require_numpy

require_numpy()

from tracejit.ops import (  # noqa: E402, F401  (importing fills the tables)
    arithmetic,
    bessel,
    bessel_kin,
    callbacks,
    calls,
    checkpointing,
    complex_arguments,
    complex_partials,
    control,
    creation,
    draws,
    eigen,
    factors,
    fourier,
    gather,
    halves,
    hypergeometric,
    implicit,
    incomplete,
    integrals,
    linalg,
    list_items,
    logs,
    printing,
    reductions,
    roots,
    scipy_functions,
    scipy_partials,
    selections,
    shapes,
    similar,
    special,
    systems,
    writes,
)
