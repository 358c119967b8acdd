"""LLVM's target machine for a CPU, and the engine that holds object code: no Numba in here."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm

__all__ = ["load_object", "target_machine"]

_MACHINES: dict[str, Any] = {}


def target_machine(reloc: str = "static", cpu_name: str | None = None, effort: int = 3) -> Any:
    """Return LLVM's target machine for this CPU (or a named one), of an optimisation level."""
    key = f"{reloc} {cpu_name} {effort}"
    if key not in _MACHINES:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _MACHINES[key] = _new_machine(reloc, cpu_name, effort)
    return _MACHINES[key]


def _new_machine(reloc: str, cpu_name: str | None, effort: int = 3) -> Any:
    features = "" if cpu_name else _host_features()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu_name or llvm.get_host_cpu_name(), features=features, opt=effort, reloc=reloc,
        codemodel="jitdefault" if reloc == "static" else "default")


def _host_features() -> str:
    """Return what this CPU has; vectors of 512 bits are no last resort where they are as fast.

    CPUs that have `avx512vbmi2` do not slow down for them, as those before did; LLVM keeps to 256
    bits on all of Intel's.
    """
    features = llvm.get_host_cpu_features()
    wide = ",-prefer-256-bit" if features.get("avx512vbmi2") else ""
    return f"{features.flatten()}{wide}"


_ENGINES: list[Any] = []


def load_object(object_code: bytes) -> Any:
    """Load object code into the process; return the engine that finds its symbols.

    One engine holds all code: an engine owns its target machine, and code in use must not go.
    """
    if not _ENGINES:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = _new_machine("static", None)
        _ENGINES.append(llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine))
    (engine,) = _ENGINES
    engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
    engine.finalize_object()
    return engine
