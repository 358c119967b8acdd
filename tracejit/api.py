"""The public names, with the registries filled."""

from __future__ import annotations

import tracejit.numpy_api  # (importing fills the tables)
import tracejit.scipy_api
import tracejit.transforms.optimizers
import tracejit.transforms.stiff_equations  # noqa: F401
from tracejit.ops.callbacks import pure_callback
from tracejit.ops.calls import (
    NoGradient,
    NotDifferentiable,
    RegisterGradient,
    no_gradient,
    stop_gradient,
)
from tracejit.ops.extension import custom_gradient, register_op
from tracejit.ops.printing import debug_print
from tracejit.structured import cond, fori_loop, map, scan, while_loop
from tracejit.tape.symbolic import AggregationMethod, Graph, gradients
from tracejit.tape.tape import GradientTape, UnconnectedGradients
from tracejit.tape.values import constant
from tracejit.tape.variables import Module, Variable
from tracejit.trace.values.specs import spec
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
           "check_grads", "checkpoint", "cond", "constant", "custom_gradient", "debug_print",
           "fori_loop", "grad", "gradients", "hessian",
           "hvp", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "map", "no_gradient",
           "pure_callback", "recompute_grad", "register_op", "scan", "spec", "stop_gradient",
           "value_and_grad", "vjp", "vmap", "while_loop"]
