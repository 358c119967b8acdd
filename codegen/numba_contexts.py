"""Numba's contexts for kernels, and the functions of ours in Python that kernels call.

Numba optimises a function when it is compiled, and again in each function that calls it, and makes
an object for Python of it. Of the functions here LLVM sees the plain code, once, in the kernel that
calls them: the first gradient with a sort took 0.31 s before, and takes 0.23; with hyp2f1 1.75 s
and 0.9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from numba.core import callconv, compiler, types, typing
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)

from tracejit.codegen import pointers
from tracejit.codegen.pointers import Ptr
from tracejit.signals import uninterrupted

__all__ = ["Helper", "contexts", "plain_flags"]


class _PlainLibrary(JITCodeLibrary):
    """A code library that leaves all optimisation to the module that it is linked into."""

    def _optimize_functions(self, module: object) -> None:
        """Leave the functions of a module as they are."""

    def _optimize_final_module(self) -> None:
        """Leave the module as it is."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _PlainCodegen(JITCPUCodegen):
    """Numba's code generator, making libraries that are not optimised."""

    _library_class = _PlainLibrary

    def __init__(self, shared: JITCPUCodegen) -> None:
        self.__dict__ = shared.__dict__


class _ShortPipeline(CompilerBase):
    """Numba's passes without those for closures, for functions to be inlined and for arrays."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes."""
        pipeline = PassManager("helpers")
        for step in (TranslateByteCode, FixupArgs, IRProcessing, GenericRewrites, ReconstructSSA,
                     NopythonTypeInference, PreLowerStripPhis, IRLegalization, AnnotateTypes,
                     NativeLowering, NoPythonBackend):
            pipeline.add_pass(step, step.__name__)
        pipeline.finalize()
        return [pipeline]


class Helper(CPUDispatcher):
    """A function in Python that kernels call, compiled for each kind of operands without wrappers.

    It cannot be called from Python.
    """

    def __init__(self, function: FunctionType) -> None:
        super().__init__(function, targetoptions={"nopython": True})

    def compile(self, sig: Sequence[types.Type]) -> object:
        """Compile the function for the types of operands; return what Numba finds it by."""
        args = tuple(sig)
        if args not in self.overloads:
            typing_context, target_context = contexts()
            library = target_context.codegen().create_library(self.__name__)
            flags = plain_flags()
            flags.enable_ssa = True  # a name may have a type of its own after each binding
            found = _ShortPipeline(typing_context, target_context, library, args, None, flags,
                                   {}).compile_extra(self.py_func)
            key = object()
            target_context.insert_user_function(key, found.fndesc, [library])
            self.overloads[args] = found._replace(entry_point=key)
        return self.overloads[args].entry_point


def plain_flags() -> Any:
    """Return how Numba compiles the functions of Python that operations call."""
    flags = compiler.Flags()
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.nrt = False
    flags.error_model = "numpy"
    flags.enable_pyobject = False
    flags.enable_ssa = False
    return flags


class _TypingContext(typing.Context):
    """Numba's typing context, remembering how operators and functions on scalars resolve.

    Numba asks every overload of `+` anew at every addition, which is most of its time on such code.
    """

    def __init__(self, shared: typing.Context) -> None:
        self.__dict__ = shared.__dict__
        self.__dict__.setdefault("_tj_resolved", {})

    def resolve_function_type(self, func: Callable[..., object], args: Sequence[types.Type],
                              kws: object) -> Any:
        if kws or not all(isinstance(t, (types.Number, types.Boolean, Ptr)) for t in args):
            return super().resolve_function_type(func, args, kws)
        key = (func, tuple(args))
        resolved = self._tj_resolved
        if key not in resolved:
            resolved[key] = super().resolve_function_type(func, args, kws)
        return resolved[key]

    def resolve_setitem(self, target: object, index: object, value: object) -> Any:
        key = ("setitem", target, index, value)
        resolved = self._tj_resolved
        if key not in resolved:
            resolved[key] = super().resolve_setitem(target, index, value)
        return resolved[key]


_CONTEXTS: list[Any] = []


def contexts() -> tuple[Any, Any]:
    """Return Numba's typing and target contexts, with our functions in them.

    Numba goes through each registry of functions once: an error in the middle of one would leave
    the rest of it out of all later compilations.
    """
    with uninterrupted():
        return _refreshed_contexts()


def _refreshed_contexts() -> tuple[Any, Any]:
    if not _CONTEXTS:
        shared, target_context = cpu_target.typing_context, cpu_target.target_context
        shared.refresh()
        target_context.refresh()
        shared.install_registry(pointers.typing)
        target_context.install_registry(pointers.lowering)
        model = callconv.create_error_model("numpy", target_context)
        plain = _PlainCodegen(target_context.codegen())
        _CONTEXTS.extend((_TypingContext(shared), target_context.subtarget(
            error_model=model, _internal_codegen=plain)))
    typing_context, target_context = _CONTEXTS
    typing_context.refresh()  # for functions that were defined since
    target_context.refresh()
    return typing_context, target_context
