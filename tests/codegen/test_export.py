"""Exported programs: C programs get Python's results from them, to the last bit, without Python."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from c_programs import HEAD, Run, build, call_from_c, undefined_symbols
from scipy import special

import tracejit
from benchmarks.workloads import soft_dtw
from tracejit.errors import ExportError
from tracejit.runtime.stages import Compiled

needs_c = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("cc", "ar", "nm", "ldd")),
    reason="needs a C compiler, ar, nm and ldd")
on_x86 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the CPUs named are x86's")


def compiled(function: Any, *args: Any) -> Compiled:
    """Return the program of a transformed function for arguments."""
    made: Compiled = function.trace(*args).lower().compile()
    return made


def require_same(found: Run, expected: Any) -> None:
    """Assert that a call from C succeeded with results that have the bits of Python's."""
    assert (found.status, found.message) == (0, "success")
    expected = expected if isinstance(expected, tuple) else (expected,)
    for x, y in zip(found.results, expected, strict=True):
        y = np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        assert x.tobytes() == y.tobytes()


# --- results ------------------------------------------------------------------------------------


def waves(x):
    return np.sum(np.exp(-x) * np.sin(3.0 * x) + np.tanh(x) ** 3)


@needs_c
@pytest.mark.parametrize(("n", "fp"), [(0, "default"), (1, "default"), (7, "default"),
                                       (1000, "default"), (1000, "strict")])
def test_elementwise_results_have_the_bits_of_pythons(n: int, fp: str, tmp_path: Path) -> None:
    x = np.linspace(-2.0, 2.0, n)
    f = tracejit.value_and_grad(waves, fp=fp)
    found = call_from_c(tmp_path, compiled(f, x), f"x0, {n}, r0, r1, workspace", f"{n}", [x],
                        [(float, ()), (float, (n,))])
    require_same(found, f(x))
    uses_libmvec = any(s.startswith("_ZGV") for s in undefined_symbols(tmp_path / "lib.o"))
    assert not (uses_libmvec and fp == "strict")


@needs_c
def test_functions_with_loops_of_their_own(tmp_path: Path) -> None:
    def f(x, k):
        return np.sum(np.sort(x) * (np.arange(len(x)) // k) + x % 0.3)

    x = np.random.default_rng(1).normal(size=50)
    g = tracejit.grad(f)
    found = call_from_c(tmp_path, compiled(g, x, 3), "x0, 50, 3, r0, workspace", "50", [x],
                        [(float, (50,))])
    require_same(found, g(x, 3))


@needs_c
@pytest.mark.parametrize("function", [
    lambda x: special.gammainc(1.3, x), lambda x: special.betaincinv(1.3, x, 0.4),
    lambda x: special.jv(0.5, x), lambda x: special.airy(-x)[0] * special.struve(1.0, x),
    lambda x: special.lambertw(x).real + special.voigt_profile(x, x, 0.3),
    lambda x: special.hyp2f1(0.5, 1.5, 2.2, -x) + special.hyp1f1(0.5, 1.5, x)])
def test_special_functions_are_those_of_python(function: Any, tmp_path: Path) -> None:
    """The gamma function in them is the C library's."""
    x = np.linspace(0.3, 4.0, 5)
    g = tracejit.grad(lambda x: np.sum(function(x)))
    found = call_from_c(tmp_path, compiled(g, x), "x0, 5, r0, workspace", "5", [x],
                        [(float, (5,))])
    require_same(found, g(x))


@needs_c
@pytest.mark.parametrize("kind", [".so", ".a"])
def test_soft_dtw_from_c_has_the_bits_of_pythons(kind: str, tmp_path: Path) -> None:
    f = tracejit.value_and_grad(soft_dtw.plain)
    x, y = soft_dtw.arguments()
    found = call_from_c(tmp_path, compiled(f, x, y), "x0, 200, x1, 200, r0, r1, workspace",
                        "200, 200", [x, y], [(float, ()), (float, (200,))], kind=kind,
                        link=["-lmvec"] if kind == ".a" else [], skew=3)
    require_same(found, f(x, y))
    program = subprocess.run(["ldd", str(tmp_path / f"main{kind[1:]}")], capture_output=True,
                             text=True, check=True).stdout
    assert "libm.so" in program
    assert "python" not in program.lower()


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def spread(x):
    total = 0.0
    while total < 5000.0:
        total = total + np.sum(np.exp(0.001 * total) * x * x)
    return total


@needs_c
def test_loops_on_data_take_memory_from_the_callers_allocator(tmp_path: Path) -> None:
    """The C program fails where not all memory is given back."""
    f = tracejit.grad(newton)
    found = call_from_c(tmp_path, compiled(f, 2.0), "2.0, r0, workspace, allocator", "", [],
                        [(float, ())])
    require_same(found, f(2.0))
    x = np.linspace(0.0, 1.0, 5)
    g = tracejit.grad(spread)
    found = call_from_c(tmp_path, compiled(g, x), "x0, 5, r0, workspace, allocator", "5", [x],
                        [(float, (5,))])
    require_same(found, g(x))


@needs_c
@pytest.mark.parametrize(("allocator", "before"), [
    ("NULL", "(void)allocator;"), ("&none", "tracejit_allocator none = {0}; (void)allocator;"),
    ("allocator", "calls_left = 1;"), ("allocator", "calls_left = 0;")])
def test_without_memory_there_is_a_code(allocator: str, before: str, tmp_path: Path) -> None:
    x = np.full(5, 0.02)
    found = call_from_c(tmp_path, compiled(tracejit.grad(spread), x),
                        f"x0, 5, r0, workspace, {allocator}", "5", [x], [(float, (5,))],
                        before=before)
    assert found.status > 0
    assert found.message.startswith("MemoryError: what this loop stores for its way back")
    assert "test_export.py:" in found.message


@needs_c
@pytest.mark.parametrize("n", [3, 200])
def test_matrix_products_are_those_of_numpys_blas(n: int, tmp_path: Path) -> None:
    def f(a, b):
        return np.sum(np.tanh(a @ b))

    a, b = np.random.default_rng(0).normal(size=(2, n, n)) / n
    g = tracejit.grad(f, argnums=(0, 1))
    found = call_from_c(tmp_path, compiled(g, a, b), f"x0, {n}, {n}, x1, {n}, r0, r1, workspace",
                        f"{n}, {n}, {n}", [a, b], [(float, (n, n))] * 2)
    require_same(found, g(a, b))
    assert "scipy_dgemm_64_" in undefined_symbols(tmp_path / "lib.o")


@needs_c
def test_products_along_a_batch_are_those_of_numpys_blas(tmp_path: Path) -> None:
    def f(a, b):
        return np.sum(np.tanh(a @ b))

    a, b = np.random.default_rng(0).normal(size=(2, 3, 40, 40)) / 40
    g = tracejit.grad(f, argnums=(0, 1))
    found = call_from_c(tmp_path, compiled(g, a, b), "x0, 3, 40, 40, x1, 40, r0, r1, workspace",
                        "3, 40, 40, 40", [a, b], [(float, (3, 40, 40))] * 2)
    require_same(found, g(a, b))
    assert "scipy_dgemm_64_" in undefined_symbols(tmp_path / "lib.o")


@needs_c
def test_factorisations_are_lapacks(tmp_path: Path) -> None:
    def f(a, b):
        return np.sum(np.linalg.solve(a, b)) + np.sum(np.log(np.diag(np.linalg.cholesky(a))))

    a = np.eye(6) + 0.1 * np.ones((6, 6))
    g = tracejit.grad(f)
    for matrix in (a, -a):
        found = call_from_c(tmp_path, compiled(g, a, a[0]), "x0, 6, x1, r0, workspace",
                            "6", [matrix, a[0]], [(float, (6, 6))])
        if matrix is a:
            require_same(found, g(a, a[0]))
        else:
            assert found.message.startswith("LinAlgError: Matrix is not positive definite (")


@needs_c
def test_other_dtypes(tmp_path: Path) -> None:
    def f(x, z, k, flag, a, w):
        return np.sum(x * np.float32(2.5)) * x, z * 1j + np.conj(w), k * 3 + 1, flag & (a > 0.5)

    args: tuple[Any, ...] = (np.linspace(0, 1, 9, dtype=np.float32), np.array([1 + 2j, 3 - 4j]),
                             np.array([1, -2, 3], np.int16), np.array([True, False]), 0.75, 2 + 1j)
    g = tracejit.jit(f)
    c = compiled(g, *args)
    found = call_from_c(
        tmp_path, c, "x0, 9, x1, 2, x2, 3, x3, 2, 0.75, x4, r0, r1, r2, r3, workspace",
        "9, 2, 3, 2", [*args[:4], np.array(args[5])],
        [(np.float32, (9,)), (complex, (2,)), (np.int16, (3,)), (bool, (2,))])
    require_same(found, g(*args))
    assert "const float _Complex" not in (tmp_path / "lib.h").read_text()
    assert "const double _Complex *w" in (tmp_path / "lib.h").read_text()


@needs_c
def test_scalars_of_any_dtype_go_by_value(tmp_path: Path) -> None:
    def f(x, k, b, y):
        return np.where(b, x * k, x) + y

    args = (np.float32(1.5), np.int8(-3), np.bool_(True), np.uint16(40000))
    g = tracejit.jit(f)
    found = call_from_c(tmp_path, compiled(g, *args), "1.5f, -3, true, 40000, r0, workspace", "",
                        [], [(g(*args).dtype, ())])
    require_same(found, g(*args))


@needs_c
def test_state_from_outside_is_a_parameter(tmp_path: Path) -> None:
    weights, order = np.array([1.0, -2.0, 0.5]), 2

    def f(x):
        return np.sum(weights * x) ** order

    g, x = tracejit.grad(f), np.array([1.0, 2.0, 4.0])
    found = call_from_c(tmp_path, compiled(g, x), "x0, 3, x1, r0, workspace", "3", [x, weights],
                        [(float, (3,))])
    require_same(found, g(x))
    header = (tmp_path / "lib.h").read_text()
    assert "double[n]; what weights is in Python" in header
    assert "order is 2, as it was when this was made." in header


@needs_c
def test_arrays_that_are_written_to_are_results(tmp_path: Path) -> None:
    def f(x):
        x[1:] = x[:-1] * 2.0

    g, x = tracejit.jit(f), np.arange(4.0)
    found = call_from_c(tmp_path, compiled(g, x), "x0, 4, r0, workspace", "4", [x], [(float, (4,))])
    g(x)
    require_same(found, x)
    assert "double *x_new" in (tmp_path / "lib.h").read_text()


# --- codes --------------------------------------------------------------------------------------


def roots(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0.0:
            raise ValueError(f"element {i} is negative")
        total += np.sqrt(x[i])
    return total + x[3]


@needs_c
@pytest.mark.parametrize(("x", "message"), [
    ([1.0, 2.0, -1.0, 4.0], "ValueError: element ... is negative (test_export.py:"),
    ([1.0, 2.0, 1.0], "IndexError: index ... is out of bounds for axis 0 with size ... "
                      "(test_export.py:")])
def test_what_the_program_raises_is_a_code(x: list[float], message: str, tmp_path: Path) -> None:
    c = compiled(tracejit.grad(roots), np.ones(5))
    found = call_from_c(tmp_path, c, f"x0, {len(x)}, r0, workspace", f"{len(x)}", [np.array(x)],
                        [(float, (len(x),))])
    assert found.status > 0
    assert found.message.startswith(message)
    assert f"{found.status}  {message}" in (tmp_path / "lib.h").read_text()


def powers(x, k):
    weights = {0: 1.0, 1: -2.0, 2: 3.0, 3: -4.0}  # of which keys are known
    total = np.zeros(len(x))
    for j in range(k):
        total = total + weights[j] * x ** j
    return np.sum(total)


@needs_c
def test_sizes_that_the_program_is_not_for_are_codes(tmp_path: Path) -> None:
    def f(x, y, k):
        if len(x) > 3:
            return np.sum(x) * np.sum(y)
        return np.sum(y)

    c = compiled(tracejit.grad(f), np.ones(5), np.ones(2), 3)
    short = call_from_c(tmp_path, c, "x0, 2, x1, 2, 3, r0, workspace", "2, 2",
                        [np.ones(2), np.ones(2)], [(float, (2,))])
    assert short.status == short.room <= -16
    assert short.message.startswith("this program is for n > 3 only (a branch at test_export.py:")
    negative = call_from_c(tmp_path, c, "x0, -1, x1, 2, 3, r0, workspace", "-1, 2",
                           [np.ones(2), np.ones(2)], [(float, (2,))])
    assert negative.status == negative.room == -2
    assert negative.message == "a size is negative"


@needs_c
def test_an_int_that_was_fixed_is_checked(tmp_path: Path) -> None:
    x = np.linspace(0.0, 1.0, 4)
    f = tracejit.grad(powers)
    c = compiled(f, x, 4)
    found = call_from_c(tmp_path, c, "x0, 4, 4, r0, workspace", "4, 4", [x], [(float, (4,))])
    require_same(found, f(x, 4))
    wrong = call_from_c(tmp_path, c, "x0, 4, 5, r0, workspace", "4, 5", [x], [(float, (4,))])
    assert wrong.message.startswith("this program is for k == 4 only (")


@needs_c
def test_a_workspace_that_is_missing_or_cannot_be_is_a_code(tmp_path: Path) -> None:
    c = compiled(tracejit.value_and_grad(soft_dtw.plain), *soft_dtw.arguments())
    x = np.ones(2)
    found = call_from_c(tmp_path, c, "x0, 2, x1, 2, r0, r1, NULL", "2, 2", [x, x],
                        [(float, ()), (float, (2,))], before="(void)workspace;")
    assert (found.status, found.room > 0) == (-4, True)
    huge = f"{1 << 40}, {1 << 40}"
    found = call_from_c(tmp_path, c, f"x0, {1 << 40}, x1, {1 << 40}, r0, r1, workspace", huge,
                        [x, x], [(float, ()), (float, (2,))])
    assert (found.status, found.room) == (-3, -3)


# --- what is in the files -----------------------------------------------------------------------


@needs_c
@pytest.mark.parametrize("function", [waves, newton, spread, roots, soft_dtw.plain])
def test_objects_need_mathematics_and_nothing_else(function: Any, tmp_path: Path) -> None:
    args = {newton: (2.0,), soft_dtw.plain: soft_dtw.arguments()}.get(function, (np.ones(5),))
    paths = compiled(tracejit.grad(function), *args).export(tmp_path / "lib.so")
    assert [p.suffix for p in paths] == [".h", ".o", ".a", ".so"]
    for symbol in undefined_symbols(tmp_path / "lib.o"):
        assert symbol in {"exp", "log", "sin", "cos", "sincos", "tanh", "pow", "memset", "memcpy"
                          } or symbol.startswith("_ZGV")
    shown = subprocess.run(["nm", str(tmp_path / "lib.so")], capture_output=True, text=True,
                           check=True).stdout.lower()
    assert not any(word in shown for word in ("numba", "nrt", "python", "malloc", "realloc", "env"))
    exported = {line.split()[-1] for line in shown.splitlines() if " t tracejit_" in line}
    assert len(exported) == 3
    assert not any(" d tracejit" in line or " b tracejit" in line for line in shown.splitlines())
    linked = subprocess.run(["ldd", str(tmp_path / "lib.so")], capture_output=True, text=True,
                            check=True).stdout
    assert "python" not in linked.lower()


@needs_c
@on_x86
@pytest.mark.parametrize(("cpu", "banned"), [("x86-64", ("%ymm", "%zmm", "_ZGVd", "_ZGVe")),
                                             ("x86-64-v3", ("%zmm", "_ZGVe"))])
def test_a_named_cpu_has_all_instructions_that_are_used(
        cpu: str, banned: tuple[str, ...], tmp_path: Path) -> None:
    x = np.linspace(-2.0, 2.0, 1000)
    f = tracejit.value_and_grad(waves)
    found = call_from_c(tmp_path, compiled(f, x), "x0, 1000, r0, r1, workspace", "1000", [x],
                        [(float, ()), (float, (1000,))], cpu=cpu)
    assert found.status == 0
    for a, b in zip(found.results, f(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)
    shown = subprocess.run(["objdump", "-dr", str(tmp_path / "lib.o")], capture_output=True,
                           text=True, check=True).stdout
    assert "%xmm" in shown
    assert not any(word in shown for word in banned)
    assert f"for the CPU {cpu}." in (tmp_path / "lib.h").read_text()


def test_a_cpu_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="cpu='pentium9000' is not known; use None"):
        compiled(tracejit.grad(newton), 2.0).export(tmp_path / "lib.o", cpu="pentium9000")
    assert list(tmp_path.iterdir()) == []


PRINTS_SYMBOL = """
import sys
import tracejit
sys.path[:0] = {path!r}
{before}
from test_export import newton
tracejit.grad(newton).trace(2.0).lower().compile().export({out!r} + "/lib.o")
"""


def test_inputs_that_share_no_memory_have_their_names_in_c(tmp_path: Path) -> None:
    def add(double: Any, auto: Any) -> None:
        for i in range(len(double)):
            double[i] = double[i] + auto[i]

    compiled(tracejit.jit(add), np.ones(3), np.ones(3)).export(tmp_path / "add.h", name="add_to")
    text = (tmp_path / "add.h").read_text()
    names = re.search(r"(\w+) and (\w+) share no memory", text)
    assert names is not None
    for name in names.groups():
        assert re.search(rf"double \*{name}\b", text)


def test_the_same_program_has_the_same_name(tmp_path: Path) -> None:
    first = "tracejit.jit(lambda x: x * 2.0)(1.0)"
    texts = []
    for seed, before in (("1", ""), ("2", first)):
        out = tmp_path / seed
        out.mkdir()
        source = PRINTS_SYMBOL.format(path=sys.path, before=before, out=str(out))
        subprocess.run([sys.executable, "-c", source], check=True,
                       env={**os.environ, "PYTHONHASHSEED": seed})
        texts.append(((out / "lib.h").read_text(), (out / "lib.o").read_bytes()))
    assert texts[0] == texts[1]
    other = compiled(tracejit.jit(newton), 2.0)
    other.export(tmp_path / "lib.h")
    first, second = (re.findall("tracejit_[0-9a-f]{24}", text)
                     for text in (texts[0][0], (tmp_path / "lib.h").read_text()))
    assert first[0] != second[0]


THREADS = """
#include <pthread.h>
#define N 200
static double x[2][N], y[N], value[2], grad[2][N], again[N], other;
static void *work(void *k_) {
    long k = (long)k_;
    void *workspace = malloc(f_workspace(N, N));
    for (int i = 0; i < 50; i++)
        if (f(x[k], N, y, N, &value[k], grad[k], workspace)) abort();
    free(workspace);
    return NULL;
}
int main(void) {
    for (int i = 0; i < N; i++) { x[0][i] = i * 0.1; x[1][i] = i * i * 0.01; y[i] = i * 0.2; }
    pthread_t threads[2];
    for (long k = 0; k < 2; k++) pthread_create(&threads[k], NULL, work, (void *)k);
    for (long k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    void *workspace = malloc(f_workspace(N, N));
    for (long k = 0; k < 2; k++) {
        if (f(x[k], N, y, N, &other, again, workspace)) return 1;
        if (other != value[k] || memcmp(again, grad[k], sizeof again)) return 2;
    }
    return value[0] == value[1];
}
"""


@needs_c
def test_two_threads_do_not_disturb_one_another(tmp_path: Path) -> None:
    c = compiled(tracejit.value_and_grad(soft_dtw.plain), *soft_dtw.arguments())
    c.export(tmp_path / "lib.so", name="f")
    source = "#include \"lib.h\"\n" + HEAD[HEAD.index("#include <stdio.h>"):HEAD.index("static")]
    subprocess.run([str(build(tmp_path, source + THREADS))], check=True, timeout=60)


# --- refusals -----------------------------------------------------------------------------------


def test_without_a_compiler_it_says_what_there_is_and_what_to_run(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -O2")
    monkeypatch.setenv("AR", "no-such-archiver")
    c = compiled(tracejit.grad(newton), 2.0)
    with pytest.raises(ExportError, match=r"lib.a could not be made: no-such-archiver: .*There are "
                                          r"now lib.h and lib.o; .* run: no-such-archiver rcs "):
        c.export(tmp_path / "lib.so")
    assert {p.name for p in tmp_path.iterdir()} == {"lib.h", "lib.o"}
    assert [p.name for p in c.export(tmp_path / "lib.o")] == ["lib.h", "lib.o"]
    if shutil.which("ar"):
        monkeypatch.delenv("AR")
        with pytest.raises(ExportError, match=r"lib.so could not be made: no-such-compiler: .* "
                                              r"run: no-such-compiler -O2 -shared -o "):
            c.export(tmp_path / "lib.so")
        assert {p.name for p in tmp_path.iterdir()} == {"lib.h", "lib.o", "lib.a"}


def test_what_lives_in_this_process_alone_is_refused(tmp_path: Path) -> None:
    op = tracejit.register_op("exported_thrice", numba.njit(lambda x: x * 3.0))
    with pytest.raises(ExportError, match="the compiled function of op 'exported_thrice'"):
        compiled(tracejit.jit(lambda x: op(x) + 1.0), np.ones(3)).export(tmp_path / "lib.o")
    assert list(tmp_path.iterdir()) == []


def test_powers_of_complex_numbers_need_no_python(tmp_path: Path) -> None:
    def f(z):
        return np.sum(np.real(z ** 2.5))

    compiled(tracejit.jit(f), np.ones(3) * 1j).export(tmp_path / "lib.so")
    assert (tmp_path / "lib.so").exists()


def test_names_and_suffixes_that_cannot_be(tmp_path: Path) -> None:
    c = compiled(tracejit.grad(newton), 2.0)
    with pytest.raises(ValueError, match=r"must end in one of .h, .o, .a, .so"):
        c.export(tmp_path / "lib.dll")
    with pytest.raises(ValueError, match="'2x' is no name for a C function"):
        c.export(tmp_path / "lib.o", name="2x")


def test_what_verify_mode_compiled_is_exported_without_its_checks(tmp_path: Path) -> None:
    with tracejit.config(verify=True):
        checked = compiled(tracejit.grad(waves), np.ones(3))
    checked.export(tmp_path / "a.o")
    compiled(tracejit.grad(waves), np.ones(3)).export(tmp_path / "b.o")
    assert (tmp_path / "a.o").read_bytes() == (tmp_path / "b.o").read_bytes()


@needs_c
def test_the_guides_program_prints_what_the_guide_says(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expect_text: Any) -> None:
    path = Path(__file__).parents[2] / "docs" / "export.md"
    page = path.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", page, re.M | re.S)
    (python, source), (c, main), (sh, commands), (text, printed) = blocks[:4]
    assert (python, c, sh, text) == ("python no-run", "c", "sh", "text")
    Path("fit.py").write_text(source)
    exec(compile(source, "fit.py", "exec"), {"__name__": "fit"})
    Path("main.c").write_text(main)
    shown = subprocess.run(["sh", "-ec", commands], capture_output=True, text=True, check=True)
    expect_text(path, page.replace(f"```sh\n{commands}```\n\n```text\n{printed}```",
                                   f"```sh\n{commands}```\n\n```text\n{shown.stdout}```"))
    header = Path("loss.h").read_text()
    symbol = re.search("tracejit_[0-9a-f]{24}", header)
    assert symbol is not None
    declared = " ".join(header.replace(symbol[0], "loss_gradient").split())
    assert " ".join(page[page.index("    int64_t"):page.index("and this is")].split()) in declared


# --- C functions in this process ------------------------------------------------------------------


def decay(x, k):
    return np.exp(-k * x) * np.sin(x)


def test_scipy_integrates_gradients_without_python() -> None:
    scipy = pytest.importorskip("scipy")
    from scipy.integrate import quad

    g = tracejit.grad(newton)
    c = compiled(g, 2.0)
    for signature in (None, "double (double)", "double (double, void *)", "double (int, double *)",
                      "double (int, double *, void *)"):
        low = scipy.LowLevelCallable(c.cfunc(signature).ctypes)
        assert low.signature == signature or signature is None
        assert quad(low, 1.0, 2.0) == quad(g, 1.0, 2.0)
    h = tracejit.grad(decay)
    low = scipy.LowLevelCallable(compiled(h, 1.0, 2.0).cfunc("double (int, double *)").ctypes)
    assert quad(low, 0.0, 2.0, args=(3.0,)) == quad(h, 0.0, 2.0, args=(3.0,))


def test_compiled_code_calls_a_c_function_as_a_cfunc() -> None:
    """By its `ctypes`, as Numba calls functions of its own `cfunc`."""
    slope = compiled(tracejit.grad(decay), 1.0, 2.0).cfunc()
    call = slope.ctypes

    @numba.njit
    def total(n):
        s = 0.0
        for i in range(n):
            s += call(0.1 * i, 2.0)
        return s

    g = tracejit.grad(decay)
    assert total(5) == sum(g(0.1 * i, 2.0) for i in range(5))
    assert slope.address == ctypes.cast(call, ctypes.c_void_p).value
    assert slope.native_name.startswith("tracejit_")


def test_a_c_function_that_fails_returns_nan() -> None:
    def f(x):
        if x < 0.0:
            raise ValueError("negative")
        return np.sqrt(x)

    c = compiled(tracejit.grad(f), 1.0)
    assert c.cfunc().ctypes(4.0) == 0.25
    assert np.isnan(c.cfunc().ctypes(-4.0))
    packed = c.cfunc("double (int, double *)").ctypes
    assert np.isnan(packed(2, (ctypes.c_double * 2)(4.0, 4.0)))


def test_what_cannot_be_a_c_function_of_scalars() -> None:
    with pytest.raises(ExportError, match="no function of float64 numbers"):
        compiled(tracejit.grad(waves), np.ones(3)).cfunc()
    with pytest.raises(ExportError, match="takes 2 numbers, which"):
        compiled(tracejit.grad(decay), 1.0, 2.0).cfunc("double (double)")
    with pytest.raises(ValueError, match="is not one of 'double \\(double\\)'"):
        compiled(tracejit.grad(decay), 1.0, 2.0).cfunc("float (float)")
