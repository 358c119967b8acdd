"""Programs for a device show themselves, and one message says why an attribute is not there."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from test_cuda import has_compiler
from test_reports import Checker

import tracejit
from tracejit import __main__ as command_line
from tracejit.codegen.cuda import assembler

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None,
                                reason="numba-cuda is not installed")
needs_compiler = pytest.mark.skipif(not has_compiler(), reason="NVVM is not installed")
needs_ptxas = pytest.mark.skipif(assembler.find_ptxas() is None, reason="ptxas is not installed")


def heat(u, steps):
    for _ in range(steps):
        u = u + 0.1 * np.sin(u)
    return np.sum(u * u)


def until(x):
    while np.sum(x * x) > 1.0:
        x = 0.5 * x
    return np.sum(x)


def short(x):
    return np.sum(np.sin(x) * x)


def on_device(fn: Any, *specs: str) -> Any:
    return tracejit.value_and_grad(fn, target="cuda").trace(*specs)


# --- reports --------------------------------------------------------------------------------------


@pytest.mark.parametrize("fn_specs", [(heat, "f64[n]", "int"), (until, "f64[n]"),
                                      (short, "f32[n]")])
def test_html_is_whole_and_says_what_the_text_says(fn_specs: Any) -> None:
    traced = on_device(*fn_specs)
    for shown in (traced, traced.lower(), traced.lower().compile()):
        report = shown.report()
        report = report[tuple(name for name in report.names if name != "picture")]
        shown_words = set(re.findall(r"\w+", " ".join(Checker(report.to_html()).words)))
        assert set(re.findall(r"\w\w+", str(report))) <= shown_words
        Checker(shown._repr_html_())


def test_every_kernel_is_a_row_with_its_parameters_and_lines() -> None:
    lowered = on_device(heat, "f64[n]", "int").lower()
    section, = lowered.report()["kernels"].elements()
    rows = {row.cells[0]: row.cells for row in section.elements[0].rows}
    assert list(rows) == list(lowered.kernels)
    source = lowered.source.splitlines()
    for name, cells in rows.items():
        assert source[int(cells[4]) - 1].startswith(f"def {name}(ctx, ")
        names = [p.name for p in lowered.device.kernels[name]]
        assert re.findall(r"(\w+):", cells[2]) == names
    lines = {cells[3] for cells in rows.values()}
    first = heat.__code__.co_firstlineno
    assert f"test_cuda_reports.py:{first + 2}" in lines
    assert any(f"test_cuda_reports.py:{first + 3}" in text for text in lines)


def test_what_is_launched_is_said_in_words() -> None:
    text = str(tracejit.value_and_grad(short, target="cuda").trace("f64[n]").report())
    assert "kernels" not in text  # it is not lowered yet
    text = str(on_device(short, "f64[n]").lower().report()["kernels"])
    assert "blocks fold to parts" in text and "one block folds parts" in text
    text = str(on_device(until, "f64[n]").lower().report()["kernels"])
    assert "waits for the device at 1 place" in text


def test_the_emitted_code_and_its_lines_are_whole() -> None:
    lowered = on_device(heat, "f64[n]", "int").lower()
    text = str(lowered.report()["source"])
    numbered = dict(re.findall(r"^ *(\d+)(?:  (.*))?$", text, re.M))
    source = lowered.source.splitlines()
    assert len(numbered) > 20
    for number, line in numbered.items():
        assert source[int(number) - 1].rstrip() == line.rstrip()
    assert "def launch(" in text
    facts = str(lowered.report()["overview"])
    assert f"{len(lowered.kernels)}, of {len(numbered)} lines" in facts


def test_a_function_shows_its_newest_program(tmp_path: Path,
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    g = tracejit.value_and_grad(short, target="cuda")
    g.warmup(("f64[n]",))
    report = g.report()
    assert "1 specialisation" in str(report) and "kernels" in report.available


def test_explain_says_what_becomes_of_it() -> None:
    g = tracejit.value_and_grad(until, target="cuda")
    text = " ".join(str(tracejit.explain(g, "f64[n]")).split())
    assert re.search(r"they become \d+ kernels for a CUDA device, which one function of the host "
                     "launches and waits for data of the device", text)
    assert ".resources((8, 0))" in text and "tracejit.profile" not in text
    assert "one kernel" not in text


@needs_compiler
@needs_ptxas
def test_resources_and_ptx_are_parts_on_request() -> None:
    compiled = on_device(short, "f64[n]").lower().compile(capability=(9, 0))
    report = compiled.report()
    assert "Not shown here: resources, ptx" in str(report)
    text = str(report["resources"])
    assert "compute capability 9.0" in text and "no spills" in text
    for name, taken in compiled.resources((9, 0)).items():
        row, = re.findall(rf"^{name} .*$", text, re.M)
        assert str(taken.registers) in row.split()
    assert ".target sm_90" in str(report["ptx"])


def test_without_ptxas_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembler, "find_ptxas", lambda: None)
    if not has_compiler():
        pytest.skip("NVVM is not installed")
    text = str(on_device(short, "f64[n]").lower().report()["resources"])
    assert "ptxas is not there" in text


@needs_compiler
def test_the_command_line_shows_programs_for_a_device(tmp_path: Path, capsys: Any) -> None:
    name = f"{__name__}:short"
    common = ["--spec", "f64[n]", "--grad", "--target", "cuda"]
    assert command_line.main(["inspect", name, *common, "--what", "source"]) == 0
    assert "def launch(" in capsys.readouterr().out
    given = ["--what", "ptx", "--capability", "9.0"]
    assert command_line.main(["inspect", name, *common, *given]) == 0
    assert ".target sm_90" in capsys.readouterr().out
    assert command_line.main(["inspect", name, *common, "--what", "llvm"]) == 1
    assert "PTX in place of LLVM IR" in capsys.readouterr().err
    assert command_line.main(["inspect", name, "--spec", "f64[n]", "--grad", "--what", "ptx"]) == 1
    assert "--target cuda" in capsys.readouterr().err
    folder = tmp_path / "report"
    assert command_line.main(["report", name, *common, "-o", str(folder)]) == 0
    files = {path.name for path in folder.iterdir()}
    assert {"index.html", "kernel.py", "loop_0.ptx", "graph.svg", "why.txt"} <= files
    assert "kernel.ll" not in files
    assert not Checker((folder / "index.html").read_text()).open


# --- what is not possible -------------------------------------------------------------------------


def compiled_short() -> Any:
    return tracejit.grad(short, target="cuda").trace("f64[n]").lower().compile()


@pytest.mark.parametrize(("ask", "said"), [
    (lambda c: c.export("f.so"), "cannot be exported as a C library"),
    (lambda c: c.cfunc(), "cannot be made a C function"),
    (lambda c: c.llvm, "PTX in place of LLVM IR"),
    (lambda c: c.asm, "PTX in place of assembly"),
])
def test_what_is_of_the_cpu_is_refused_with_what_there_is(ask: Any, said: str) -> None:
    with pytest.raises(tracejit.DeviceError, match=rf"grad\[short\] has target=\"cuda\".*{said}"):
        ask(compiled_short())


gradient = tracejit.grad(short, target="cuda")


@njit
def from_njit(x):
    return gradient(x)


def test_njit_code_is_refused() -> None:
    with pytest.raises(tracejit.Refusal, match="`@njit` code runs on the CPU"):
        from_njit(np.ones(3))


class Anywhere:
    """An object that looks like an array on a device."""

    def __init__(self, typestr: str, shape: tuple[int, ...]) -> None:
        self.typestr, self.shape = typestr, shape

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"typestr": self.typestr, "shape": self.shape, "strides": None,
                "data": (0, False), "version": 3}


def narrow(x):
    return np.sum(x * np.ones(3))


def imaginary(x):
    z = x * 1j
    return np.sum(z.real)


@pytest.mark.parametrize(("call", "kind", "said"), [
    (lambda: gradient(np.array([1.0, None])), TypeError, "dtype object, which cannot be captured"),
    (lambda: gradient(np.ones(3, np.float16)), TypeError, "dtype float16"),
    (lambda: gradient(Anywhere("|O8", (3,))), TypeError, "dtype object"),
    (lambda: gradient(Anywhere("<f2", (3,))), TypeError, "dtype float16"),
    (lambda: gradient(np.arange(3)), TypeError, "'x' is of dtype int64"),
    (lambda: gradient("abc"), TypeError, "'x' is no number"),
    (lambda: tracejit.grad(narrow, target="cuda")(np.ones(4)), ValueError, r"\(4,\).*\(3,\)"),
    (lambda: tracejit.grad(imaginary, target="cuda")(np.ones(4)), TypeError,
     r"complex numbers \(test_cuda_reports.py:\d+\), which kernels"),
    (lambda: tracejit.grad(short)(Anywhere("<f8", (3,))), TypeError,
     r"on a CUDA device, and this runs on the CPU.*target=\"cuda\""),
    (lambda: tracejit.profile(gradient, np.ones(3)), TypeError, "profile measures code of the CPU"),
    (lambda: compiled_short().ptx("9.0"), TypeError, r"pair of ints, \(9, 0\)"),
    (lambda: compiled_short().lowered.compile(capability=9.0), TypeError, "pair of ints"),
])
def test_misuse_is_one_message_at_the_call(call: Any, kind: type, said: str) -> None:
    with pytest.raises(kind, match=said):
        call()


def test_a_wrong_shape_is_raised_at_the_users_line() -> None:
    with pytest.raises(ValueError) as raised:
        tracejit.grad(narrow, target="cuda")(np.ones(4))
    assert raised.traceback[-1].lineno == narrow.__code__.co_firstlineno


@needs_compiler
def test_the_number_next_to_a_float32_is_found_in_float32() -> None:
    """Next to it in float64 is a number that is rounded to the first again."""
    lowered = tracejit.jit(np.nextafter, target="cuda").trace("f32[n]", "f32[n]").lower()
    assert not any(".f64" in text for text in lowered.ptx((8, 0)).values())


# --- what is not installed ------------------------------------------------------------------------


def test_without_numba_cuda_lowering_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *args: None if
                        name == "numba_cuda" else find(name, *args))
    with pytest.raises(tracejit.DeviceError, match=r"pip install 'tracejit\[cuda\]'"):
        tracejit.grad(short, target="cuda")(np.ones(3))


WITHOUT_NVVM = """
from cuda import pathfinder

def without(name, *args):
    if name == "nvvm":
        raise pathfinder.DynamicLibNotFoundError("not here")
    return find(name, *args)

find, pathfinder.load_nvidia_dynamic_lib = pathfinder.load_nvidia_dynamic_lib, without
import numpy as np, tracejit
lowered = tracejit.grad(lambda x: np.sum(x * x), target="cuda").trace("f64[n]").lower()
try:
    lowered.ptx()
except tracejit.DeviceError as e:
    print(e)
"""


def test_without_nvvm_ptx_says_what_to_install() -> None:
    given = {**os.environ, "PYTHONPATH": str(ROOT)}
    given.pop("NUMBA_ENABLE_CUDASIM", None)
    done = subprocess.run([sys.executable, "-c", WITHOUT_NVVM], env=given, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "NVVM, which compiles kernels for CUDA devices, is not there: pip install" in done.stdout


@needs_compiler
def test_a_capability_that_is_too_old_is_said() -> None:
    with pytest.raises(tracejit.DeviceError, match=r"for compute capability 3\.0"):
        compiled_short().ptx((3, 0))


@needs_compiler
@pytest.mark.parametrize(("script", "said"), [
    ("echo 'ptxas k.ptx, line 9; fatal: Unsupported .version 9.3; current version is 8.0' >&2",
     "older than the compiler of numba-cuda"),
    ("echo 'ptxas fatal: no such thing' >&2", "does not accept loop_0: ptxas fatal: no such"),
])
def test_an_assembler_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                         script: str, said: str) -> None:
    path = tmp_path / "ptxas"
    path.write_text(f"#!/bin/sh\n{script}\nexit 1\n")
    path.chmod(0o755)
    monkeypatch.setattr(assembler, "find_ptxas", lambda: str(path))
    with pytest.raises(tracejit.DeviceError, match=said):
        compiled_short().resources((8, 0))


@needs_compiler
def test_without_an_assembler_resources_say_what_to_install(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembler, "find_ptxas", lambda: None)
    with pytest.raises(tracejit.DeviceError, match="pip install nvidia-cuda-nvcc"):
        compiled_short().resources((8, 0))
