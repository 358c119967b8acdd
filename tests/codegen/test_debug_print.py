"""`debug_print`: compiled code prints the same lines as the function run by Python."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import tracejit
from tracejit import debug_print
from tracejit.errors import ExportError
from tracejit.ir.parser import parse_graph

X = np.array([0.1, 0.7, 1.3])


def _loops(x: np.ndarray, n: int) -> float:
    debug_print("start: {} n={n:d} {:.2f}", x[0], x, n=n)
    total = 0.0
    for k in range(n):
        y = np.sin(x) * k
        total = total + np.sum(y * y)
        if total > 1.0:
            debug_print("{k}: large {total!r:>20} {y}", k=k, total=total, y=y)
        else:
            debug_print("{0}: small {1}", k, total)
    debug_print("end")
    return total


def _writes(x: np.ndarray, n: int) -> float:
    kept = np.zeros(n)
    for k in range(n):
        debug_print("before {}", kept)
        kept[k] = x[0] * k
        debug_print("after {} {}", kept[:2], kept[::-1])
    return np.sum(kept * kept)


def _whiles(x: np.ndarray, n: int) -> float:
    s = x[0]
    while s < n:
        s = s * 2.0 + 0.1
        for j in range(2):
            debug_print("{:8.3e} {}", s, j)
        if s > 2.0:
            debug_print("leaving {}", s)
            break
    return s


def _nests(x: np.ndarray, n: int) -> float:
    pair = {"a": x[0], "b": (x[1] > 0.5, [n, 2.5])}
    debug_print("{} {{braces}} {pair[a]:+.1f} {}%", pair, "a text", pair=pair)
    debug_print("{0.shape} {0.dtype} {1:{width}.{digits}f}", x, x[2], width=10, digits=3)
    debug_print("{:{}.{}f}", x[1], 9, 2)
    debug_print("quotes \" ' and \\ and\nlines {}", x[0])
    debug_print("{} {}", np.int32(3) * (x > 0.5), X)
    return np.sum(x * n)


def _large(x: np.ndarray, n: int) -> float:
    wide = np.ones(5000) * x[0]
    debug_print("{} {:.1f}", wide, wide[:, None] * np.ones(3))
    return np.sum(wide)


def _calls(x: np.ndarray, n: int) -> float:
    def inner(z: Any) -> Any:
        debug_print("inner {}", z)
        return z * z

    return inner(x[0]) + inner(x[1])


PROGRAMS = [_loops, _writes, _whiles, _nests, _large, _calls]


def _printed(capsys: pytest.CaptureFixture[str], call: Callable[[], Any]) -> str:
    capsys.readouterr()
    call()
    return capsys.readouterr().out


@pytest.mark.parametrize("fn", PROGRAMS)
@pytest.mark.parametrize("transform", [tracejit.jit, tracejit.grad, tracejit.value_and_grad])
@pytest.mark.parametrize("settings", [{}, {"disable_jit": True}, {"verify": True}])
def test_programs_print_what_python_does(fn: Any, transform: Any, settings: dict[str, bool],
                                         capsys: pytest.CaptureFixture[str]) -> None:
    expected = _printed(capsys, lambda: fn(X, 3)).replace("np.float64", "")
    f = transform(fn)
    assert expected
    with tracejit.config(**settings):
        for _ in range(2):
            assert _printed(capsys, lambda: f(X, 3)).replace("np.float64", "") == expected


@pytest.mark.parametrize("fn", PROGRAMS)
def test_printing_disturbs_neither_value_nor_gradient(
        fn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = tracejit.value_and_grad(fn)(X, 3)
    monkeypatch.setitem(globals(), "debug_print", lambda *args, **named: None)
    silent = tracejit.value_and_grad(fn)(X, 3)
    assert shown[0] == pytest.approx(silent[0], rel=1e-14)
    np.testing.assert_allclose(shown[1], silent[1], rtol=1e-14)


def test_elements_of_a_map_print_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    batch = np.stack([X, 2.0 * X, 3.0 * X])
    expected = _printed(capsys, lambda: [_loops(x, 2) for x in batch]).replace("np.float64", "")
    for transform in (tracejit.vmap, lambda f: tracejit.vmap(tracejit.grad(f))):
        f = transform(lambda x: _loops(x, 2))
        assert _printed(capsys, lambda: f(batch)).replace("np.float64", "") == expected


def _step(s: Any) -> Any:
    debug_print("step {:.3f}", s)
    return np.sin(s) * s


def _checkpointed(x: float) -> float:
    return tracejit.checkpoint(_step)(tracejit.checkpoint(_step)(x))


def _with_snapshots(x: float) -> float:
    for _ in tracejit.checkpoint(range(7), snapshots=2):
        x = _step(x) + 1.0
    return x


def _scanned(x: float) -> float:
    return tracejit.scan(lambda s, _: (_step(s), s), x, None, length=4)[0]


def _fori(x: float) -> float:
    return tracejit.fori_loop(0, 4, lambda _, s: _step(s), x)


@pytest.mark.parametrize("fn", [_checkpointed, _with_snapshots, _scanned, _fori])
@pytest.mark.parametrize("transform", [
    tracejit.jit, tracejit.grad, lambda f: tracejit.grad(tracejit.grad(f)), tracejit.jacobian,
    lambda f: lambda x: tracejit.jvp(f, (x,), (1.0,)), tracejit.jacfwd,
    lambda f: lambda x: tracejit.vjp(f)(x)[1](1.0),
    lambda f: tracejit.jit(lambda x: tracejit.vjp(f)(x)[1](1.0)),
])
def test_what_is_computed_again_prints_once(fn: Any, transform: Any,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    expected = _printed(capsys, lambda: fn(1.2))
    f = transform(fn)
    assert _printed(capsys, lambda: f(1.2)) == expected


def test_the_rows_of_a_jacobian_share_one_way_forward(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: np.ndarray) -> np.ndarray:
        for k in range(3):
            debug_print("{}", k)
            x = x * np.sum(x)
        return x

    assert _printed(capsys, lambda: tracejit.jacrev(f)(X)) == "0\n1\n2\n"


def test_gradients_of_users_print_on_the_way_back(capsys: pytest.CaptureFixture[str]) -> None:
    @tracejit.custom_gradient
    def f(x: Any) -> Any:
        debug_print("forward {}", x)

        def back(ct: Any) -> Any:
            debug_print("backward {}", ct)
            return 2.0 * ct

        return x * x, back

    g = tracejit.grad(lambda x: 3.0 * f(x))
    assert _printed(capsys, lambda: g(2.0)) == "forward 2.0\nbackward 3.0\n"


def test_tapes_print_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    x = tracejit.Variable(2.0)

    def call() -> Any:
        with tracejit.GradientTape() as tape:
            y = x * x
            debug_print("{} {:.1f}", x, y)
            z = tracejit.jit(lambda v: _loops(v * X, 2))(y)
        return tape.gradient(z, x)

    expected = "2.0 4.0\n" + _printed(capsys, lambda: _loops(4.0 * X, 2))
    for _ in range(5):
        assert _printed(capsys, call) == expected.replace("np.float64", "").replace(
            "(", "np.float64(")


@pytest.mark.parametrize(("error", "call"), [
    (TypeError, lambda x: debug_print(x)), (ValueError, lambda x: debug_print("x =", x)),
    (IndexError, lambda x: debug_print("{} {}", x)), (KeyError, lambda x: debug_print("{y}", x=x)),
    (ValueError, lambda x: debug_print("{:d}", x * 0.5)), (ValueError, lambda x: debug_print("{")),
    (ValueError, lambda x: debug_print("{y}", y=x, z=x)),
])
def test_formats_that_do_not_fit_are_refused(error: type[Exception], call: Any) -> None:
    def f(x: Any) -> Any:
        call(x)
        return x

    with pytest.raises(error):
        f(2.0)
    with pytest.raises(error):
        tracejit.jit(f)(2.0)


def test_a_width_that_is_computed_is_refused() -> None:
    f = tracejit.jit(lambda x, n: debug_print("{:{}.2f}", x, n))
    with pytest.raises(tracejit.Refusal, match="widths in formats have to be known"):
        f(2.0, 9)


def test_what_printing_raises_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, text: str) -> None:
            raise OSError("no space left")

        def flush(self) -> None:
            pass

    f = tracejit.jit(_with_snapshots)
    f(1.2)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Full())
        with pytest.raises(OSError, match="no space left"):
            f(1.2)
    assert f(1.2) == _with_snapshots(1.2)


def test_a_print_is_a_line_of_the_graph_that_is_read_back() -> None:
    graph = tracejit.jit(_nests).trace(X, 3).graph
    assert 'format="quotes \\" \' and \\\\ and\\nlines {0}"' in str(graph)
    assert str(parse_graph(str(graph))) == re.sub(" +# .*", "", str(graph))


def test_prints_are_said_to_have_no_backward_part() -> None:
    graph = tracejit.grad(_step).trace(1.0).program.graph
    assert {e.op.name: reason for e, reason in graph.reasons}["debug_print"] == (
        "a print, not a value")


def test_why_says_what_a_print_costs() -> None:
    def f(x: Any) -> Any:
        print(x)
        return x

    assert "print() prints at each call" in tracejit.jit(f).trace(1.0).why()


# --- other ways to run a program ----------------------------------------------------------------


def test_programs_that_print_are_refused_where_they_could_not(tmp_path: Path) -> None:
    compiled = tracejit.jit(_step).trace(1.0).lower().compile()
    with pytest.raises(ExportError, match="prints, which needs Python"):
        compiled.export(tmp_path / "step.o")
    with pytest.raises(ExportError, match="prints"):
        compiled.cfunc()
    assert list(tmp_path.iterdir()) == []
    f = tracejit.jit(_step)

    @numba.njit
    def caller(x: float) -> float:
        return f(x)

    with pytest.raises(numba.core.errors.TypingError, match="prints, which it can from Python"):
        caller(1.0)


def test_a_saved_program_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tracejit.jit(_step).trace(1.0).lower().compile().save(tmp_path / "step")
    loaded = tracejit.load(path)
    assert _printed(capsys, lambda: loaded(0.5)) == "step 0.500\n"


def test_a_stored_program_prints_in_another_process(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent("""
        import json, sys
        import numpy as np, tracejit

        @tracejit.grad
        def f(x):
            for k in range(2):
                tracejit.debug_print("{}: {:.2f} {}", k, x, np.array([x, k]))
                x = x * x
            return x

        f(1.5)
        print(json.dumps("tracejit.trace.capture" in sys.modules))
    """))
    found = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "program.py"], capture_output=True, text=True, check=True,
            cwd=tmp_path, env={"PATH": "", "PYTHONPATH": str(Path(__file__).parents[2]),
                               "TRACEJIT_CACHE_DIR": str(tmp_path / "cache")})
        *lines, captured = done.stdout.splitlines()
        assert lines == ["0: 1.50 [1.5 0. ]", "1: 2.25 [2.25 1.  ]"]
        found.append(json.loads(captured))
    assert found == [True, False]
