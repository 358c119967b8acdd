"""Programs over float16 in C, in the store, in files, on threads, without F16C, and where not."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
import pytest

import tracejit
from tracejit.codegen import halves
from tracejit.codegen.machine import load_object, target_machine
from tracejit.store import store

HALF = np.float16
RNG = np.random.default_rng(5)
X = RNG.normal(size=50).astype(HALF)
EVERY = np.arange(65536, dtype=np.uint16).view(HALF)


def affine(x: Any, s: Any) -> Any:
    """One array, one number; one of each back."""
    return x * s - x / 3, np.sum(x * x)


def cube(x: Any) -> Any:
    return np.sum(x * x * x)


# --- on other CPUs --------------------------------------------------------------------------------


WHOSE = {halves._BY_INTEGERS: "integers", halves._BY_INSTRUCTION: "instructions"}


def converted(text: str, x: np.ndarray, result: Any) -> np.ndarray:
    """Return numbers as the first function of some LLVM text converts them."""
    module = llvm.parse_assembly(text.replace("@tracejit_f16", f"@{WHOSE[text]}_f16"))
    machine = target_machine()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    name, takes = ("f16_wide", "i16") if result == np.float32 else ("f16_bits", "float")
    name, every = f"{WHOSE[text]}_{name}", f"{WHOSE[text]}_all_{name}"
    gives = {"i16": "float", "float": "i16"}[takes]
    module.link_in(llvm.parse_assembly(f"""
declare {gives} @{name}({takes})
define void @{every}(i64 %n, {takes}* %x, {gives}* %y) {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %a = getelementptr {takes}, {takes}* %x, i64 %i
  %b = getelementptr {gives}, {gives}* %y, i64 %i
  %v = load {takes}, {takes}* %a
  %w = call {gives} @{name}({takes} %v)
  store {gives} %w, {gives}* %b
  %next = add i64 %i, 1
  %on = icmp slt i64 %next, %n
  br i1 %on, label %loop, label %end
end:
  ret void
}}"""))
    engine = load_object(machine.emit_object(module))
    y = np.empty(x.shape, result)
    run = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(
        engine.get_function_address(every))
    run(x.size, x.ctypes.data, y.ctypes.data)
    return y


def singles() -> np.ndarray:
    """Return float32 at each float16, at each middle between two, and beside these."""
    finite = np.sort(EVERY[np.isfinite(EVERY)].astype(np.float32))
    middles = (finite[1:] + finite[:-1]) / 2
    beside = [np.nextafter(middles, np.float32(to)) for to in (-np.inf, np.inf)]
    ends = np.array([65519.996, 65520, 1e30, np.inf, np.nan, 1e-45, 2.0 ** -25, -0.0], np.float32)
    drawn = RNG.integers(0, 1 << 32, 100_000, dtype=np.uint32).view(np.float32)
    return np.concatenate([finite, middles, *beside, ends, drawn])


def test_integers_convert_as_instructions_do() -> None:
    x = singles()
    with np.errstate(all="ignore"):
        narrow = x.astype(HALF)
    for text in WHOSE if halves._has_instructions(target_machine()) else [halves._BY_INTEGERS]:
        np.testing.assert_array_equal(converted(text, EVERY, np.float32), EVERY.astype(np.float32))
        found = converted(text, x, np.uint16).view(HALF)
        np.testing.assert_array_equal(found, narrow)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(narrow))


@pytest.mark.parametrize("cpu", [None, "x86-64"])
def test_exported_programs_give_the_same_bits(tmp_path: Path, cpu: Any) -> None:
    if cpu is not None and "x86_64" not in llvm.get_default_triple():
        pytest.skip("for another kind of CPU")
    compiled = tracejit.jit(affine).trace(X, HALF(0.3)).lower().compile()
    compiled.export(tmp_path / "affine.so", cpu=cpu)
    header = (tmp_path / "affine.h").read_text()
    assert "x          uint16_t[n], the bits of float16" in header
    symbol = next(w for w in header.replace("(", " ").split() if w.startswith("tracejit_"))
    run = getattr(ctypes.CDLL(str(tmp_path / "affine.so")), symbol)
    y, total = np.empty_like(X), np.empty((), HALF)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (y, total)]
    code = run(ctypes.c_void_p(X.ctypes.data), ctypes.c_int64(X.size),
               ctypes.c_uint16(int(HALF(0.3).view(np.uint16))), *pointers, None)
    assert code == 0
    expected = tracejit.jit(affine)(X, HALF(0.3))
    np.testing.assert_array_equal(y, expected[0])
    assert total == expected[1]


# --- kept, shared, shown --------------------------------------------------------------------------


def test_snapshots_and_the_store_keep_programs_over_float16(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_WARNED", set())
    compiled = tracejit.jit(affine).trace(X, HALF(0.3)).lower().compile()
    loaded = tracejit.load(compiled.save(tmp_path / "affine.tracejit"))
    expected = affine(X, HALF(0.3))
    for y, e in zip(loaded(X, HALF(0.3)), tracejit.jit(affine)(X, HALF(0.3)), strict=True):
        np.testing.assert_array_equal(y, e)
    np.testing.assert_array_equal(loaded(X, HALF(0.3))[0], expected[0])
    with tracejit.config(cache=True, cache_dir=str(tmp_path / "cache")):
        first = tracejit.grad(cube)(X)
        assert tracejit.cache.info().count == 1
        np.testing.assert_array_equal(tracejit.grad(cube)(X), first)
        assert tracejit.cache.info().count == 1
    assert first.dtype == HALF


def test_threads_share_loops_over_float16() -> None:
    x = RNG.normal(size=200_000).astype(HALF)
    with tracejit.config(threads=2):
        shared = tracejit.jit(lambda x: x * x - x / 3)(x)
    np.testing.assert_array_equal(shared, x * x - x / 3)


def test_sums_of_many_are_rounded_once() -> None:
    x = np.ones((5000, 2), HALF)
    np.testing.assert_array_equal(tracejit.jit(lambda x: x.sum(axis=0))(x), [5000, 5000])
    assert x.sum(axis=0)[0] == 2048  # NumPy rounds after each addition here
    assert tracejit.jit(lambda x: x.mean())(np.full(100_000, 60_000, HALF)) == 60_000


def test_prints_show_float16(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        tracejit.debug_print("{} {}", x[0], x[:2])
        return x

    x = np.array([0.1, 0.2, 0.3], HALF)
    tracejit.jit(f)(x)
    assert capsys.readouterr().out == f"{x[0]} {x[:2]}\n"


# --- gradients with rules, in loops, of other kinds -----------------------------------------------


@tracejit.custom_gradient
def squared(x: Any) -> Any:
    return x * x, lambda g: g * 3 * x


def inner(x: Any) -> Any:
    return np.sum(tracejit.grad(cube)(x) * x)


def through_a_loop(x: Any) -> Any:
    total = x[0] * 0
    while total < 3:
        total = total + np.exp(x[1]) * x[2] * x[2] + np.float16(0.25)
    return total


GRADIENTS = {
    "nested": (inner, lambda x: 9 * x ** 2), "custom": (
        lambda x: np.sum(squared(x)), lambda x: 3 * x),
    "steep": (lambda x: np.sum(np.arctan(300 * x)), lambda x: 300 / (1 + (300 * x) ** 2)),
    "checkpoint": (lambda x: np.sum(tracejit.checkpoint(lambda z: z * z * z)(x)),
                   lambda x: 3 * x ** 2),
    "loop": (through_a_loop, lambda x: tracejit.grad(through_a_loop)(x)),
    "vmap": (lambda x: np.sum(tracejit.vmap(lambda v: v * v * v)(x)), lambda x: 3 * x ** 2)}


@pytest.mark.parametrize("name", list(GRADIENTS))
def test_gradients_are_rounded_at_their_argument_alone(name: str) -> None:
    f, expected = GRADIENTS[name]
    found = tracejit.grad(f)(X)
    assert found.dtype == HALF
    np.testing.assert_allclose(found, expected(X.astype(np.float32)).astype(HALF), 2e-3, 1e-3)
    if name == "custom":
        return  # of reverse mode alone
    (forward,) = tracejit.jvp(f, (X,), (np.ones_like(X),))[1:]
    assert forward.dtype == HALF
    np.testing.assert_allclose(float(forward), float(np.sum(expected(X.astype(float)))), 4e-3)


def test_transforms_give_float16() -> None:
    x = X[:4]
    value, pullback = tracejit.vjp(lambda x: x * x, x)
    assert value.dtype == pullback(np.ones_like(x))[0].dtype == HALF
    assert tracejit.value_and_grad(cube)(x)[0].dtype == HALF
    for of in (tracejit.jacobian, tracejit.jacfwd, tracejit.jacrev):
        np.testing.assert_array_equal(of(lambda x: x * x)(x), np.diag(2 * x))
    hessian = tracejit.hessian(cube)(x)
    assert hessian.dtype == HALF
    np.testing.assert_allclose(hessian, np.diag(6 * x.astype(float)), 1e-3)


# --- where there is no float16 --------------------------------------------------------------------


@numba.njit
def numbas(x: Any) -> Any:
    return x * 2


NATIVE = tracejit.register_op("DoubledByNumba", numbas)


def on_a_tape(x: Any) -> Any:
    with tracejit.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(x * x)
    return tape.gradient(y, x)


@pytest.mark.parametrize(("call", "kind", "said"), [
    (lambda: tracejit.constant(X), TypeError, "Convert it first: x.astype\\(np.float32\\)"),
    (lambda: tracejit.jit(on_a_tape)(X), tracejit.Refusal,
     "float16 cannot be captured. Use tracejit.grad"),
    (lambda: tracejit.jit(lambda x: NATIVE(x))(X), tracejit.Refusal,
     "has no float16 on CPUs. Convert its operands first: x.astype"),
    (lambda: tracejit.jit(lambda x: x * 2, target="cuda")(X), tracejit.Refusal,
     "float16, which is computed on the CPU alone. Convert it first"),
    (lambda: tracejit.check_grads(cube, (X,)), TypeError, "Pass x.astype\\(np.float32\\)"),
    (lambda: tracejit.jit(lambda x: np.linalg.inv(x))(X[:9].reshape(3, 3)), TypeError,
     "array type float16 is unsupported in linalg"),
    (lambda: tracejit.jit(lambda x: x * 2)(X.astype(np.longdouble)), tracejit.Refusal,
     "which drops digits: x.astype\\(np.float64\\)")])
def test_float16_is_refused_with_a_remedy(call: Any, kind: Any, said: str) -> None:
    with pytest.raises(kind, match=said):
        call()


def test_callers_in_njit_code_are_told() -> None:
    gradient = tracejit.grad(cube)

    @numba.njit
    def caller(x: Any) -> Any:
        return gradient(x)

    with pytest.raises(numba.TypingError, match="float16, which Numba lacks on CPUs"):
        caller(X)
