"""Run in a process of its own by test_cuda.py: programs on Numba's CUDA simulator, or to PTX.

numba-cuda decides when it is imported which of both it is. For each program that is asked for a
line of JSON is printed: its name, and the words of its fault, or nothing.
"""

from __future__ import annotations

import importlib.metadata
import json
import pkgutil
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import programs
import pytest
from cuda_laws import LAWS, TEAMS
from cuda_races import watching
from kernels import with_values
from oracles import assert_same, random_like
from programs.program import PROGRAMS, Program
from samples import applications, dtypes_of, sampled, sizes_of

import tracejit
from tracejit.autodiff.transforms import pullback_graph
from tracejit.codegen import schedule
from tracejit.codegen.cuda import teams, units
from tracejit.ir.core import Graph, Op
from tracejit.ir.interpreter import interpret
from tracejit.runtime.device_stages import DeviceLowered
from tracejit.runtime.program import Program as Captured
from tracejit.runtime.stages import Traced
from tracejit.tree import flatten

for _module in pkgutil.iter_modules(programs.__path__, "programs."):
    importlib.import_module(_module.name)

TOLERANCE = {np.dtype(np.float32): 2e-5}
"""Relative error allowed to a sum in another order; 1e-9 for float64."""


# --- the gallery ----------------------------------------------------------------------------------


def check_program(program: Program) -> None:
    """Value and gradient of a program of the gallery are the interpreter's, dtypes included.

    `test_gallery.py` compares the interpreter and the CPU with Python.
    """
    n = program.sizes[0]
    with tracejit.config(disable_jit=True):
        interpreted = tracejit.value_and_grad(program.function, program.argnums)
        expected = interpreted(*program.arguments(n))
    on_device = tracejit.value_and_grad(program.function, program.argnums, target="cuda")
    found = on_device(*program.arguments(n))
    for x, y in zip(flatten(found)[0], flatten(expected)[0], strict=True):
        assert type(x) is type(y), f"{type(x)} in place of {type(y)}"
        assert np.asarray(x).dtype == np.asarray(y).dtype
        tolerance = TOLERANCE.get(np.asarray(y).dtype, 1e-9)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


# --- the table of ops -----------------------------------------------------------------------------


def run_on_device(graph: Graph, operands: Sequence[Any]) -> list[Any]:
    """Return the outputs of a graph's kernels."""
    compiled = DeviceLowered(Traced(Captured.of_graph(graph))).compile()
    assert compiled.invocation.fits(operands)
    return compiled.invocation.run(operands)


def why_refused(graph: Graph) -> str:
    """Return the words of a graph's refusal for devices; "" where it is not to be refused."""
    from tracejit.ir.lowering import Library, Pointwise
    from tracejit.ir.walk import all_eqns

    eqns = list(all_eqns(graph.block))
    values = [v for e in eqns for v in (*e.inputs, *e.outputs)]
    how = [e.op.lowering for e in eqns]
    if any(isinstance(h, Library) and h.routine == "lapack" for h in how):
        return "LAPACK"
    if any(isinstance(h, Pointwise) and h.function for h in how):
        return "is SciPy's compiled function"
    is_complex = any(getattr(v.aval, "dtype", np.dtype(float)).kind == "c" for v in values)
    return "complex" if is_complex else ""


def check_op(op: Op, dtype: Any) -> None:
    """Assert that an op on all samples, and its pullback, have the interpreter's results."""
    graph, operands, fixed = applications(op, dtype, sizes_of(op, dtype))
    if why := why_refused(graph):
        with pytest.raises(tracejit.Refusal, match=why):
            run_on_device(graph, operands)
        return
    expected = interpret(graph, *operands)
    wrt = [k for k, x in enumerate(operands) if x.dtype.kind == "f" and not fixed[k]]
    if op.vjp is None or op.marked or not wrt or not any(e.dtype.kind == "f" for e in expected):
        assert_same(run_on_device(graph, operands), expected, op.name, factor=10)
        return
    rng = np.random.default_rng(4)
    cts = [random_like(rng, e) if e.dtype.kind == "f" else np.zeros_like(e) for e in expected]
    pullback = pullback_graph(graph, wrt, "pullback")
    found = run_on_device(with_values(pullback, graph), [*operands, *cts])
    assert_same(found[:len(expected)], expected, op.name, factor=10)
    assert_same(found[len(expected):], interpret(pullback, *operands, *cts),
                f"the pullback of {op.name}", factor=100)


def in_many_threads(check: Callable[..., None], *args: Any) -> None:
    """Check with every loop over elements in many threads, however small it is."""
    before = units.FEW, teams.SHORT, schedule.MAX_WRITTEN_OUT
    units.FEW, teams.SHORT, schedule.MAX_WRITTEN_OUT = 0, 0, 0
    try:
        check(*args)
    finally:
        units.FEW, teams.SHORT, schedule.MAX_WRITTEN_OUT = before


# --- PTX ------------------------------------------------------------------------------------------


def check_benchmark_ptx(key: str) -> None:
    """Kernels of a benchmark compile."""
    from benchmarks.workloads import WORKLOADS

    workload = WORKLOADS[key]
    gradient = tracejit.value_and_grad(workload.plain, workload.argnums, target="cuda")
    check_ptx(gradient.trace(*workload.arguments()).lower())


def check_program_ptx(name: str) -> None:
    """Kernels of a program with teams of threads compile."""
    transform, fn, specs = TEAMS[name]
    check_ptx(transform(fn, target="cuda").trace(*specs).lower(), ((8, 0),))


def check_ptx(lowered: DeviceLowered,
              capabilities: Sequence[tuple[int, int]] = ((7, 5), (8, 0), (9, 0))) -> None:
    """Kernels compile for three capabilities; registers are not spilled."""
    from tracejit.codegen.cuda.assembler import find_ptxas
    from tracejit.program.cuda.driver import linked

    for capability in capabilities:
        ptx = lowered.ptx(capability)
        assert set(ptx) == set(lowered.kernels)
        assert all(f".target sm_{capability[0]}{capability[1]}" in text for text in ptx.values())
        check_parameters(lowered.emitted.kernels, ptx)
        if any(d.name == "nvidia-nvjitlink" for d in importlib.metadata.distributions()):
            assert all(linked(text, capability).startswith(b"\x7fELF") for text in ptx.values())
        if find_ptxas() is not None:
            for name, found in lowered.resources(capability).items():
                assert not found.spill_stores + found.spill_loads, f"{name}: {found}"


def check_parameters(kernels: dict[str, Any], ptx: dict[str, str]) -> None:
    """Kernels take as many parameters, of as many bytes, as calls pack for them."""
    from tracejit.program.cuda.parameters import Packing

    for name, parameters in kernels.items():
        packing = Packing(parameters)
        head = ptx[name].partition(".entry")[2].partition("{")[0]
        found = [(kind, int(bits) // 8) for kind, bits in re.findall(r"\.param \.([a-z])(\d+)",
                                                                     head)]
        expected: list[tuple[str, int]] = []
        for dtype, is_array in packing.kinds:
            expected += 7 * [("u", 8)] if is_array else [
                ("f" if dtype.kind == "f" else "u", dtype.itemsize)]
        assert found == expected, f"{name}: {found}, and not {expected}"
        assert packing.layout.size == len(packing.slots) == 8 * len(found)


def check_op_ptx(op: Op, dtype: Any) -> None:
    """The kernels of an op compile."""
    graph, _, _ = applications(op, dtype, (2,))
    if not why_refused(graph):
        lowered = DeviceLowered(Traced(Captured.of_graph(graph)))
        check_parameters(lowered.emitted.kernels, lowered.ptx((8, 0)))


def check_numbers_ptx(name: str) -> None:
    """Numbers of every dtype are passed by value."""
    def add(x: Any, a: Any) -> Any:
        return x + a

    spec = f"{name}[]" if name != "float" else "float"
    lowered = tracejit.jit(add, target="cuda").trace(f"{name.replace('float', 'f64')}[n]",
                                                     tracejit.spec(spec)).lower()
    assert any(not p.is_array and p.dtype == tracejit.spec(spec).dtype
               for ps in lowered.emitted.kernels.values() for p in ps)
    check_parameters(lowered.emitted.kernels, lowered.ptx((8, 0)))


# --- the real device class ------------------------------------------------------------------------


def on_a_driver(name: str) -> None:
    """A law holds where the device is one of the driver's, as far as a stand-in for it goes."""
    with_a_driver(lambda api: LAWS[name]())


def with_a_driver(law: Callable[[Any], None]) -> None:
    """A law of the real device class holds over a stand-in for the driver."""
    from cuda_fake_driver import faked

    with faked() as api:
        law(api)


# --- what is asked for ----------------------------------------------------------------------------


def checks(kind: str, names: Sequence[str]) -> Iterator[tuple[str, Callable[..., None], Any]]:
    """Yield name, check and its arguments."""
    if kind == "gallery":
        for program in PROGRAMS:
            if str(program) in names:
                yield str(program), check_program, (program,)
    elif kind == "laws":
        for name in names:
            yield name, LAWS[name], ()
    elif kind == "laws-driver":
        for name in names:
            yield name, on_a_driver, (name,)
    elif kind == "driver":
        from cuda_driver_laws import DRIVER_LAWS

        for name in names:
            yield name, with_a_driver, (DRIVER_LAWS[name],)
    elif kind == "numbers-ptx":
        for name in names:
            yield name, check_numbers_ptx, (name,)
    elif kind == "ptx":
        for key in names:
            yield key, check_benchmark_ptx, (key,)
    elif kind == "programs-ptx":
        for name in names:
            yield name, check_program_ptx, (name,)
    else:
        part, parts = map(int, names)
        cases = [(op, t) for op in sampled() for t in dtypes_of(op)
                 if not getattr(op.lowering, "function", False)]  # SciPy's own are not for devices
        for op, dtype in cases[part::parts]:
            if kind == "ops-ptx" and dtype != dtypes_of(op)[0]:
                continue  # one dtype of each compiles; what it computes is the simulator's matter
            name = f"{op.name}-{np.dtype(dtype).name}"
            if kind == "ops":
                yield name, in_many_threads, (check_op, op, dtype)
            else:
                yield name, check_op_ptx, (op, dtype)


def main(kind: str, *names: str) -> None:
    warnings.simplefilter("ignore")  # the simulator computes with NumPy, which warns of infinities
    for name, check, args in checks(kind, names):
        fault = ""
        try:
            with watching() if kind in ("gallery", "ops", "laws") else nullcontext():
                check(*args)
        except Exception as e:
            fault = "".join(traceback.format_exception(e))[-2000:]
        print(json.dumps([name, fault]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
