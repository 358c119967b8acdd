"""Exported kernels: position-independent object code for a CPU, which needs nothing of Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import llvmlite.binding as llvm
from llvmlite.binding.value import Linkage

from tracejit.codegen import libraries, vector_math
from tracejit.codegen.c_interface import CInterface
from tracejit.codegen.c_wrapper import wrapper_text
from tracejit.codegen.compile import Functions, optimised_kernel
from tracejit.codegen.machine import target_machine
from tracejit.codegen.scalars import SCALARS
from tracejit.errors import ExportError

if TYPE_CHECKING:
    pass

__all__ = ["CPUS", "ExportedCode", "cpu_description", "export_kernel", "vector_widths"]

CPUS = {
    **dict.fromkeys(("x86-64", "x86-64-v2"), (128,)),
    **dict.fromkeys(("x86-64-v3", "haswell", "broadwell", "skylake", "znver1", "znver2", "znver3"),
                    (128, 256)),
    **dict.fromkeys(("x86-64-v4", "skylake-avx512", "cascadelake", "icelake-server",
                     "sapphirerapids", "znver4"), (128, 256, 512)),
}
"""CPUs that code can be made for on x86, with the bits of the vectors that they have."""


@dataclass(frozen=True, slots=True)
class ExportedCode:
    """Object code, and the libraries that it needs, as words for a linker."""

    object_code: bytes
    libraries: tuple[str, ...]


def vector_widths(cpu: str | None) -> tuple[int, ...]:
    """Return the bits of the vector functions that a CPU can run; None is this one.

    Raises `ExportError` where the name is not known: LLVM would ignore it.
    """
    if cpu is None:
        return vector_math.host_widths()
    if cpu not in CPUS or not llvm.get_process_triple().startswith("x86_64"):
        raise ExportError(f"cpu={cpu!r} is not known; use None for the CPU of this machine, or, "
                          f"on x86, one of {', '.join(CPUS)}")
    return CPUS[cpu]


def cpu_description(cpu: str | None) -> str:
    """Return the processor and its features, which decide which instructions are used."""
    return cpu or f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def export_kernel(functions: Functions, interface: CInterface, symbol: str,
                  cpu: str | None) -> ExportedCode:
    """Compile a kernel with its C functions; only these are visible.

    The kernel is optimised alone, as it is for calls from Python.
    """
    machine = target_machine("pic", cpu)
    module = optimised_kernel(functions, f"{symbol}_kernel", machine)
    wrapper = llvm.parse_assembly(wrapper_text(interface, symbol, f"{symbol}_kernel",
                                               module.triple))
    _run(wrapper, machine, "add_mem_copy_opt_pass", "add_sroa_pass", "add_instruction_combine_pass",
         "add_simplify_cfg_pass")
    module.link_in(wrapper)
    visible = {f"{symbol}{part}" for part in ("", "_workspace", "_message")}
    for item in (*module.functions, *module.global_variables):
        if not item.is_declaration and item.name not in visible and (
                not item.name.startswith("llvm.")):
            item.linkage = Linkage.private
    _run(module, machine, "add_global_dead_code_eliminate_pass", "add_strip_dead_prototype_pass")
    _rename_blas(module)
    outside = [f for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    needed = _libraries(f.name for f in outside)
    for function in outside:  # they are called without a detour by the linker's table
        function.add_function_attribute("nonlazybind")
    return ExportedCode(machine.emit_object(module), needed)


def _run(module: object, machine: llvm.TargetMachine, *passes: str) -> None:
    manager = llvm.create_new_module_pass_manager()
    for name in passes:
        getattr(manager, name)()
    manager.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def _rename_blas(module: llvm.ModuleRef) -> None:
    """Call BLAS by the names that a library has, in place of our own."""
    for function in module.functions:
        routine = function.name.removeprefix("tracejit_")
        if function.is_declaration and routine in libraries.ROUTINES:
            function.name = libraries.linkable_name(routine)


_OF_LLVM = ("exp10", "ldexp", "nearbyint", "round")
"""Functions of libm that Loop IR does not call, and LLVM makes of others."""
_MATH = frozenset(f"{name}{suffix}" for suffix in ("", "f") for name in (*_OF_LLVM, *(
    row.name for row in SCALARS.values() if row.libm or row.math or row.device)))
_MEMORY = ("memcpy", "memmove", "memset")


def _libraries(symbols: Iterable[str]) -> tuple[str, ...]:
    """Return a linker's options for some symbols; `ExportError` for one that Python alone has."""
    found: dict[tuple[str, ...], None] = {}
    for name in sorted(symbols):
        if name in _MEMORY or name in _MATH:
            continue
        if name.startswith("_ZGV"):
            found["-lmvec",] = None
        elif name in libraries.linkable_names():
            found[libraries.link_words()] = None
        else:
            raise ExportError(_explain(name))
    return (*(word for words in found for word in words), "-lm")


def _explain(symbol: str) -> str:
    if symbol.startswith("tracejit_native_"):
        op = symbol.removeprefix("tracejit_native_").rpartition("_")[0]
        return (f"the program calls the compiled function of op {op!r}, which lives in this "
                "process alone. Make the op of a plain Python function, which is captured")
    if symbol.startswith("tracejit_random_"):
        return ("the program draws random numbers from a Generator of NumPy's, which C programs "
                "have not. Pass the numbers as an argument")
    if symbol.startswith("tracejit_special_"):
        return (f"the program calls scipy.special's {symbol.split('_')[2]}, which C programs have "
                "not. Compute it outside and pass it as an argument")
    return f"the program calls {symbol}, which no library for C programs has"
