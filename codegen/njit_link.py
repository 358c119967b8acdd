"""Calls of compiled programs, linked into the `@njit` code that makes them.

Each has a function in Numba's calling convention, made once. Kernels of a few numbers go along with
it, for callers to inline; all others are called where they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core.funcdesc import FunctionDescriptor

from tracejit.codegen.njit_body import Body
from tracejit.codegen.njit_call import Machine, NjitCall
from tracejit.codegen.njit_memory import STACK_ARENA
from tracejit.codegen.plan import plan_dims

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext

__all__ = ["emit_call"]

MOST_INSTRUCTIONS = 500
"""The size of the largest kernel that goes along with its callers."""


def emit_call(context: TargetContext, builder: ir.IRBuilder, call: NjitCall,
              args: Sequence[ir.Value]) -> Any:
    """Emit a call into a function that Numba compiles."""
    if call.built is None:
        call.built = _build(context, call)
    descriptor, library = call.built
    context.active_code_library.add_linking_library(library)
    return context.call_internal(builder, descriptor, call.result(*call.args), args)


def _build(context: TargetContext, call: NjitCall) -> tuple[Any, Any]:
    """Return the description of a call's function, and the code library that has it."""
    machine = call.compile()
    name = f"{machine.symbol}_njit"
    names = [f"arg{k}" for k in range(len(call.args))]
    inlined = _goes_along(machine)
    descriptor = FunctionDescriptor(True, "tracejit", name, name, "", {}, call.result, {}, names,
                                    (), argtypes=call.args)
    library = context.codegen().create_library(name)
    module = library.create_ir_module(name)
    function = context.declare_function(module, descriptor)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    values = context.call_conv.decode_arguments(builder, call.args, function)
    with context.push_code_library(library):
        Body(context, builder, call, machine, inlined).emit(values)
    _forbid_caching(module, name)
    library.add_ir_module(module)
    if inlined:
        library.add_llvm_module(_linkable(machine))
    library.finalize()
    return descriptor, library


def _forbid_caching(module: ir.Module, name: str) -> None:
    """Let Numba refuse `cache=True` in callers: reloaded, they would have the gradient of old.

    Numba looks for names that begin so; a weak variable stays although nothing uses it.
    """
    variable = ir.GlobalVariable(module, ir.IntType(8), f"numba.dynamic.globals.{name}")
    variable.linkage, variable.initializer = "weak", ir.IntType(8)(0)


# --- small kernels -------------------------------------------------------------------------------


def _goes_along(machine: Machine) -> bool:
    """Whether a kernel is small and of numbers alone, so that callers may inline it.

    Of arrays it may not: its accesses say that buffers do not alias, which inlined twice would be
    said of one call's result and the next one's argument. Neither where additions may be
    reordered: they have to be in the order in which a call from Python adds.
    """
    kernel = machine.kernel
    atoms = (*kernel.graph.inputs, *kernel.graph.outputs)
    workspace = plan_dims(kernel)[-1]
    return (not kernel.logs and not any(a.aval.shape for a in atoms)
            and isinstance(workspace, int) and workspace <= STACK_ARENA
            and not re.search(r"\breassoc\b", machine.llvm)
            and machine.llvm.count("\n  ") <= MOST_INSTRUCTIONS)


_ANNOTATIONS = re.compile(r', !(?:alias\.scope|noalias) !\d+|"vector-function-abi-variant"="[^"]*"'
                          r"|^@llvm\.compiler\.used = .*$", re.M)
"""Annotations dropped from a kernel that callers inline, so that they compute the same bits."""


def _linkable(machine: Machine) -> Any:
    """Return a kernel's module for linking: any number of modules may have it."""
    module = llvm.parse_assembly(_ANNOTATIONS.sub("", machine.llvm))
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "linkonce_odr"
    return module
