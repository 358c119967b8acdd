"""The public names, for type checkers and editors: where each of them is defined."""

from tracejit import cache as cache
from tracejit.artifacts.snapshots import load as load
from tracejit.configuration import config as config
from tracejit.errors import (
    DeviceError as DeviceError,
    Refusal as Refusal,
)
from tracejit.inspection.explaining import explain as explain
from tracejit.inspection.profiles.profiling import profile as profile
from tracejit.ops.callbacks import pure_callback as pure_callback
from tracejit.ops.calls import (
    NoGradient as NoGradient,
    NotDifferentiable as NotDifferentiable,
    RegisterGradient as RegisterGradient,
    no_gradient as no_gradient,
    stop_gradient as stop_gradient,
)
from tracejit.ops.extension import (
    custom_gradient as custom_gradient,
    register_op as register_op,
)
from tracejit.ops.printing import debug_print as debug_print
from tracejit.program.cuda.arrays import DeviceArray as DeviceArray
from tracejit.program.cuda.streams import stream as stream
from tracejit.runtime.function import Function as Function
from tracejit.program.memory import clear_caches as clear_caches
from tracejit.structured import (
    cond as cond,
    fori_loop as fori_loop,
    map as map,
    scan as scan,
    while_loop as while_loop,
)
from tracejit.tape.symbolic import (
    AggregationMethod as AggregationMethod,
    Graph as Graph,
    gradients as gradients,
)
from tracejit.tape.tape import (
    GradientTape as GradientTape,
    UnconnectedGradients as UnconnectedGradients,
)
from tracejit.tape.values import constant as constant
from tracejit.tape.variables import (
    Module as Module,
    Variable as Variable,
)
from tracejit.trace.values.specs import spec as spec
from tracejit.transforms.checking import check_grads as check_grads
from tracejit.transforms.checkpointing import (
    checkpoint as checkpoint,
    recompute_grad as recompute_grad,
)
from tracejit.transforms.near_points import (
    linearize as linearize,
    taylor as taylor,
    value_and_jacobian as value_and_jacobian,
)
from tracejit.scale.sums import sum_over as sum_over
from tracejit.scale.sweeps import sweep as sweep
from tracejit.transforms.public import (
    grad as grad,
    hessian as hessian,
    hvp as hvp,
    jacfwd as jacfwd,
    jacobian as jacobian,
    jacrev as jacrev,
    jit as jit,
    jvp as jvp,
    value_and_grad as value_and_grad,
    vjp as vjp,
    vmap as vmap,
)
from tracejit.transforms.solutions import (
    custom_fixed_point as custom_fixed_point,
    custom_linear_solve as custom_linear_solve,
    custom_root as custom_root,
)
from tracejit.transforms.solvers import (
    gauss_newton as gauss_newton,
    hessp as hessp,
    linear_operator as linear_operator,
)
from tracejit.transforms.sparse import (
    sparse_hessian as sparse_hessian,
    sparse_jacobian as sparse_jacobian,
)
from tracejit.transforms.sparsity import jacobian_sparsity as jacobian_sparsity
from tracejit.classes import register_structure as register_structure
from tracejit.versions import show_versions as show_versions

__version__: str

__all__ = ["AggregationMethod", "DeviceArray", "DeviceError", "Function", "GradientTape", "Graph",
           "Module", "NoGradient", "NotDifferentiable", "Refusal", "RegisterGradient",
           "UnconnectedGradients", "Variable", "__version__", "check_grads", "checkpoint",
           "clear_caches", "cond", "config", "constant", "custom_fixed_point", "custom_gradient",
           "custom_linear_solve", "custom_root", "debug_print", "explain", "fori_loop",
           "gauss_newton", "grad", "gradients", "hessian", "hessp", "hvp", "jacfwd", "jacobian",
           "jacobian_sparsity", "jacrev", "jit", "jvp", "linear_operator", "linearize", "load",
           "map", "no_gradient", "profile", "pure_callback", "recompute_grad", "register_op",
           "register_structure", "scan", "show_versions", "sparse_hessian", "sparse_jacobian",
           "spec", "stop_gradient", "stream", "sum_over", "sweep", "taylor", "value_and_grad",
           "value_and_jacobian", "vjp", "vmap", "while_loop"]
