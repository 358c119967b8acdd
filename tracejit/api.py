"""The public names, with the registries filled."""

from __future__ import annotations

import re
from typing import Any

import tracejit.numpy_api  # noqa: F401  (importing fills the tables)
from tracejit.ir.types import DTYPES
from tracejit.ops.calls import (
    NoGradient,
    NotDifferentiable,
    RegisterGradient,
    no_gradient,
    stop_gradient,
)
from tracejit.ops.extension import custom_gradient, register_op
from tracejit.structured import cond, fori_loop, map, scan, while_loop
from tracejit.tape.symbolic import AggregationMethod, Graph, gradients
from tracejit.tape.tape import GradientTape, UnconnectedGradients
from tracejit.tape.values import constant
from tracejit.tape.variables import Module, Variable
from tracejit.trace.specs import ArgSpec
from tracejit.transforms.checking import check_grads
from tracejit.transforms.checkpointing import checkpoint, recompute_grad
from tracejit.transforms.public import (
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    value_and_grad,
    vjp,
    vmap,
)

__all__ = ["AggregationMethod", "GradientTape", "Graph", "Module", "NoGradient",
           "NotDifferentiable", "RegisterGradient", "UnconnectedGradients", "Variable",
           "check_grads", "checkpoint", "cond", "constant", "custom_gradient", "fori_loop",
           "grad", "gradients", "hessian",
           "hvp", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "map", "no_gradient",
           "recompute_grad", "register_op", "scan", "spec", "stop_gradient", "value_and_grad",
           "vjp", "vmap", "while_loop"]

_SPEC = re.compile(r"\s*(\w+)\s*(?:\[([^\]]*)\])?\s*$")


def spec(text: str) -> Any:
    """Return what stands for an argument of a type, wherever example arguments are taken.

    text -- a dtype with sizes, named or fixed: "f64[n, 3]", "i64[]", or "float", "int", "complex"
            for Python numbers

    Raises `ValueError` for text that is none of these.

    >>> import tracejit
    >>> tracejit.spec("f64[n, 3]").ndim
    2
    """
    python_numbers = {"float": "f64", "int": "i64", "complex": "c128"}
    if text.strip() in python_numbers:
        return ArgSpec(text.strip(), DTYPES[python_numbers[text.strip()]])
    m = _SPEC.match(text)
    if m is None or m[1] not in DTYPES or m[2] is None:
        raise ValueError(f"{text!r} is no spec: write a dtype ({', '.join(DTYPES)}) with sizes in "
                         "brackets, as in 'f64[n, 3]', or 'float', 'int', 'complex'")
    parts = [p.strip() for p in m[2].split(",") if p.strip()]
    sizes = tuple(int(p) if p.isdigit() else p for p in parts)
    if not sizes:
        return ArgSpec("scalar", DTYPES[m[1]])
    return ArgSpec("array", DTYPES[m[1]], len(sizes), None, sizes)
