"""CUDA devices as a target: nests without blocks and margins, with notes of independent loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tracejit.codegen.cuda.loops import DeviceLoops
from tracejit.codegen.cuda.products import DeviceProducts, is_device_product
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.lower import lower_for
from tracejit.codegen.schedule import Style
from tracejit.codegen.target import Target
from tracejit.errors import Refusal
from tracejit.ir.core import Eqn, Graph
from tracejit.ir.dtypes import is_half
from tracejit.ir.lowering import Callback, Effect, Library, LogOp, Native, Pointwise
from tracejit.ir.walk import all_eqns

__all__ = ["lower_for_device"]


def lower_for_device(graph: Graph, *, strict: bool = False) -> Kernel:
    """Return the kernel of a graph for a device.

    strict -- whether floats are to be summed in the order of the program, which lets one thread do
              every sum, and every accumulation at indices that are data
    """
    _refuse_halves(graph)
    return lower_for(STRICT_CUDA if strict else CUDA, graph, graph)


def _refuse_halves(graph: Graph) -> None:
    for eqn in all_eqns(graph.block):
        kinds = [a.aval.dtype for a in (*eqn.inputs, *eqn.outputs)]
        kinds += [eqn.op.lowering.half] if isinstance(eqn.op.lowering, Pointwise) and (
            eqn.op.lowering.half is not None) else []
        half = next(filter(is_half, kinds), None)
        if half is not None:
            raise Refusal(f"{half} ({eqn.site}) is computed on the CPU alone. Convert it first: "
                          'x.astype(np.float32), or leave out target="cuda"', "TJ601")


_RESIDUALS = ("new", "push", "pop")
"""The actions on Logs of loops that store residuals."""


def _refuse_what_only_the_cpu_has(eqn: Eqn) -> None:
    how = eqn.op.lowering
    if isinstance(how, Native):
        raise Refusal(f"{eqn.op.name} ({eqn.site}) calls a function that is compiled for the "
                      "CPU, which cannot run on the device. Call the Python function behind "
                      'it, so that it is captured, or leave out target="cuda"', "TJ601")
    if isinstance(how, Callback):
        raise Refusal(f"{eqn.params['callee']} ({eqn.site}) is a Python function, which the device "
                      "cannot call. Call it outside and pass what it gives as an argument, or "
                      'leave out target="cuda"', "TJ601")
    if isinstance(how, Pointwise) and how.function:
        raise Refusal(f"scipy.special's {eqn.params['function']} ({eqn.site}) is SciPy's compiled "
                      "function, which is on the CPU. Compute it outside and pass it as an "
                      'argument, or leave out target="cuda"', "TJ601")
    if isinstance(how, Library) and how.routine == "draw":
        raise Refusal(f"random numbers ({eqn.site}) are drawn from a Generator of NumPy's, which "
                      "is on the CPU. Draw them outside and pass them as an argument", "TJ601")
    if isinstance(how, Library) and how.routine == "lapack":
        raise Refusal(f"factors and eigenvectors of matrices ({eqn.site}) are found by LAPACK, "
                      "which is on the CPU. Compute them outside and pass them as arguments, or "
                      'leave out target="cuda"', "TJ601")
    if isinstance(how, Library) and how.routine in ("dft", "real_dft", "dft_real"):
        raise Refusal(f"Fourier transforms ({eqn.site}) are of complex numbers, which kernels for "
                      "the device do not have. Compute them outside and pass their real and "
                      'imaginary parts as arrays of their own, or leave out target="cuda"', "TJ601")
    if isinstance(how, Effect) and how.shows:
        raise Refusal(f"{eqn.op.name} ({eqn.site}) shows values where they are computed, which "
                      "the device cannot. Return them, or leave out target=\"cuda\"", "TJ601")
    if isinstance(how, LogOp) and how.action not in _RESIDUALS:
        raise Refusal(f"a list of which data decides the length ({eqn.site}) is kept on the "
                      "CPU alone. Fill an array that is made as long as the list may get, or "
                      'leave out target="cuda"', "TJ601")


_STYLE = Style(vectorises=False, in_registers=True, is_product=is_device_product,
               reads_parts=False, atomic=tuple(map(np.dtype, ("f4", "f8", "i4", "i8"))),
               fuses=True)

CUDA = Target("cuda", _STYLE, DeviceLoops, DeviceProducts, _refuse_what_only_the_cpu_has)

STRICT_CUDA = replace(CUDA, style=replace(
    _STYLE, atomic=tuple(map(np.dtype, ("i4", "i8"))), in_order=True))
