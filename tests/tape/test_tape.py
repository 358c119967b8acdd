"""`GradientTape`: TensorFlow's guide case by case, and laws against `vjp`."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import random_like
from test_numpy_cases import copied, is_floating, leaves, mapped, table_cases, ufunc_cases

import tracejit
from tracejit.tape import given, plans, recording
from tracejit.tape.values import TapeValue

Tape = tracejit.GradientTape


def of(x: Any) -> Any:
    """Return gradients as NumPy values."""
    return mapped(lambda g: None if g is None else g.numpy(), x)


# --- every captured function --------------------------------------------------------------------


def tape_cases() -> list[Any]:
    """Return the cases of NumPy's functions and methods with arrays for arguments."""
    found = [p for p in table_cases() if p.id.startswith(("np-", "method-", "property-"))]
    chosen = []
    for p in (*found, *ufunc_cases()):
        fn, args = p.values[0], tuple(p.values[1])
        if any(is_floating(x) and type(x) not in (float, complex) for x in leaves(args)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if any(map(is_floating, leaves(fn(*copied(args))))):
                    chosen.append(p)
    return chosen


LEAVES = "gradient needs a target"
WRITES = "cannot be written to"
LEAVING = dict.fromkeys((
    *(f"np-{name}" for name in (
        "zeros-3", "empty-0", "ndarray-0", "full-2", "array-1", "array-2", "array-3", "array-6",
        "array-7", "asarray-0", "asarray-1", "asanyarray-0", "ascontiguousarray-0",
        "asfortranarray-0", "asarray_chkfinite-0", "copyto-0", "copyto-1", "tri-1",
        "nditer-0", "nditer-1", "broadcast-0", "broadcast-1",
        "fill_diagonal-0", "array_equal-0", "array_equal-1", "__call__-0", "__call__-1")),
    "method-choose-0", "method-item-0", "method-item-1", "method-tolist-0",
    "method-tolist-1"), LEAVES)
LEAVING |= dict.fromkeys((
    "np-fill_diagonal-1", "np-empty_like-0", "np-copy-0", *(f"np-at-{k}" for k in range(8)),
    "np-put-0", "np-put-1", "np-putmask-0", "np-place-0", "np-put_along_axis-0",
    "method-copy-0", "method-partition-0", "method-put-0", "method-sort-0"), WRITES)
LEAVING |= dict.fromkeys(("np-from_dlpack-0", "np-from_dlpack-1"), "has no attribute '__dlpack__'")
"""The cases that make arrays or numbers of tape values, or write to them; with what is said."""


def check_on_tape(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Check value and gradients of a function on tape values against NumPy and `vjp`."""
    expected = fn(*copied(args))
    rng = np.random.default_rng(1)
    cts = mapped(lambda y: random_like(rng, y) if is_floating(y) else np.zeros_like(y), expected)
    bars = leaves(tracejit.vjp(fn, *copied(args))[1](cts))
    given = mapped(lambda x: tracejit.constant(x) if is_floating(x) and type(x) not in (
        float, complex) else x, args)
    sources = [x for x in leaves(given) if isinstance(x, TapeValue)]
    with Tape() as tape:
        tape.watch(sources)
        result = leaves(fn(*given))
    for y, e in zip(result, leaves(expected), strict=True):
        np.testing.assert_array_equal(np.asarray(y), np.asarray(e))
    pairs = [(y, ct) for y, ct in zip(result, leaves(cts), strict=True)
             if isinstance(y, TapeValue) and is_floating(y.numpy())]
    grads = tape.gradient([y for y, _ in pairs], sources,
                          output_gradients=[ct for _, ct in pairs])
    wanted = [bar for bar, x in zip(bars, leaves(given), strict=True) if isinstance(x, TapeValue)]
    for g, bar, x in zip(grads, wanted, sources, strict=True):
        if g is None:
            assert not np.any(np.asarray(bar))
            continue
        single = x.dtype in (np.float32, np.complex64)
        assert (g.dtype, g.shape) == (x.dtype, x.shape)
        np.testing.assert_allclose(g.numpy(), bar, rtol=1e-4 if single else 1e-9,
                                   atol=1e-5 if single else 1e-12)


@pytest.mark.parametrize(("fn", "args"), tape_cases())
def test_functions_on_the_tape_are_numpys(fn: Callable[..., Any], args: Any,
                                          request: pytest.FixtureRequest) -> None:
    text = LEAVING.get(request.node.callspec.id)
    with tracejit.config(disable_jit=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if text is None:
            check_on_tape(fn, tuple(args))
        else:
            with pytest.raises((TypeError, LookupError, AttributeError), match=text):
                check_on_tape(fn, tuple(args))


def test_a_wrong_gradient_on_the_tape_is_caught() -> None:
    @tracejit.custom_gradient
    def sine(x: Any) -> Any:
        return np.sin(x), lambda ct: ct * np.cos(x) * 1.001

    def differs(x: Any) -> Any:
        return sine(x) if isinstance(x, TapeValue) else np.sin(x)

    x = np.linspace(0.1, 1.0, 4)
    with tracejit.config(disable_jit=True):
        check_on_tape(lambda x: sine(x), (x,))
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            check_on_tape(differs, (x,))


# --- the guide, in its order --------------------------------------------------------------------


def test_a_scalar() -> None:
    x = tracejit.Variable(3.0)
    with Tape() as tape:
        y = x ** 2
    assert tape.gradient(y, x).numpy() == 6.0


def test_lists_and_dicts_of_sources() -> None:
    rng = np.random.default_rng(0)
    w = tracejit.Variable(rng.normal(size=(3, 2)), name="w")
    b = tracejit.Variable(np.zeros(2, np.float64), name="b")
    x = [[1.0, 2.0, 3.0]]
    with Tape(persistent=True) as tape:
        y = x @ w + b
        loss = np.mean(y ** 2)
    dw, db = tape.gradient(loss, [w, b])
    assert dw.shape == w.shape
    np.testing.assert_allclose(db.numpy(), y.numpy()[0])
    np.testing.assert_allclose(dw.numpy(), np.outer(x[0], y.numpy()[0]))
    nested = tape.gradient(loss, {"w": w, "more": [(b,)]})
    np.testing.assert_array_equal(nested["w"].numpy(), dw.numpy())
    np.testing.assert_array_equal(nested["more"][0][0].numpy(), db.numpy())


class Dense(tracejit.Module):
    """A layer as users write it."""

    def __init__(self, n: int, m: int, name: str, rng: Any) -> None:
        self.kernel = tracejit.Variable(rng.normal(size=(n, m)) * (2.0 / n) ** 0.5, name="kernel")
        self.bias = tracejit.Variable(np.zeros(m), name="bias")
        self.name = name

    def __call__(self, x: Any) -> Any:
        return x @ self.kernel + self.bias


class Net(tracejit.Module):
    """Two layers."""

    def __init__(self, *sizes: int) -> None:
        rng = np.random.default_rng(3)
        self.layers = [Dense(n, m, f"dense{k}", rng)
                       for k, (n, m) in enumerate(itertools.pairwise(sizes))]
        self.steps = tracejit.Variable(0, trainable=False, name="steps")

    def __call__(self, x: Any) -> Any:
        for layer in self.layers[:-1]:
            x = np.maximum(layer(x), 0.0)
        return self.layers[-1](x)


def test_a_model() -> None:
    net = Net(3, 2)
    with Tape() as tape:
        loss = np.mean(net(np.array([[1.0, 2.0, 3.0]])) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    assert [(v.name, g.shape) for v, g in zip(net.trainable_variables, grads, strict=True)] == [
        ("kernel", (3, 2)), ("bias", (2,))]
    assert [v.name for v in net.variables] == ["kernel", "bias", "steps"]
    assert [m.name for m in net.submodules] == ["dense0"]


def test_what_is_watched() -> None:
    x0 = tracejit.Variable(3.0, name="x0")
    x1 = tracejit.Variable(3.0, name="x1", trainable=False)
    x2 = tracejit.Variable(2.0, name="x2") + 1.0
    x3 = tracejit.constant(3.0)
    with Tape() as tape:
        y = x0 ** 2 + x1 ** 2 + x2 ** 2
    assert of(tape.gradient(y, [x0, x1, x2, x3])) == [6.0, None, None, None]
    assert [v.name for v in tape.watched_variables()] == ["x0"]
    assert "not trainable" in tape.why(y, x1)
    assert "not watched" in tape.why(y, x2)


def test_watching_a_constant_and_not_watching_variables() -> None:
    x = tracejit.constant(3.0)
    with Tape() as tape:
        tape.watch(x)
        y = x ** 2
    assert tape.gradient(y, x).numpy() == 6.0
    x0, x1 = tracejit.Variable(0.0), tracejit.Variable(10.0)
    with Tape(watch_accessed_variables=False) as tape:
        tape.watch(x1)
        ys = np.sum(np.sin(x0) + np.log1p(np.exp(x1)))
    grad = tape.gradient(ys, {"x0": x0, "x1": x1})
    assert grad["x0"] is None
    np.testing.assert_allclose(grad["x1"].numpy(), 1 / (1 + np.exp(-10.0)))
    assert "watch_accessed_variables=False" in tape.why(ys, x0)


def test_intermediate_results_and_persistence() -> None:
    x = tracejit.constant([1, 3.0])
    with Tape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert tape.gradient(z, x).tolist() == [4.0, 108.0]
    assert tape.gradient(y, x).tolist() == [2.0, 6.0]
    assert tape.gradient(z, y).tolist() == [2.0, 18.0]
    x = tracejit.constant(3.0)
    with Tape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert tape.gradient(z, y).numpy() == 18.0
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(z, x)


def test_targets_that_are_no_scalars() -> None:
    x = tracejit.Variable(2.0)
    with Tape(persistent=True) as tape:
        y0, y1 = x ** 2, 1 / x
        y = x * [3.0, 4.0]
    assert tape.gradient(y0, x).numpy() == 4.0
    assert tape.gradient(y1, x).numpy() == -0.25
    assert tape.gradient({"y0": y0, "y1": y1}, x).numpy() == 3.75
    assert tape.gradient(y, x).numpy() == 7.0
    x = tracejit.constant(np.linspace(-10.0, 10.0, 201))
    with Tape() as tape:
        tape.watch(x)
        y = 1 / (1 + np.exp(-x))
    sigmoid = 1 / (1 + np.exp(-x.numpy()))
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), sigmoid * (1 - sigmoid), rtol=1e-9)


def test_control_flow() -> None:
    x = tracejit.constant(1.0)
    v0, v1 = tracejit.Variable(2.0), tracejit.Variable(2.0)
    with Tape(persistent=True) as tape:
        tape.watch(x)
        result = v0 if x > 0.0 else v1 ** 2
    assert of(tape.gradient(result, [v0, v1])) == [1.0, None]
    assert tape.gradient(result, x) is None


def test_why_a_gradient_is_none() -> None:
    x, y = tracejit.Variable(2.0), tracejit.Variable(3.0)
    with Tape() as tape:
        z = y * y
    assert tape.gradient(z, x) is None
    assert "not read" in tape.why(z, x)

    v: Any = tracejit.Variable(2.0)  # 1. a variable replaced by a tape value
    found = []
    for _ in range(2):
        with Tape() as tape:
            y = v + 1
        found.append((type(v).__name__, of([tape.gradient(y, v)])))
        reason = tape.why(y, v)
        v = v + 1
    assert found == [("Variable", [1.0]), ("TapeValue", [None])]
    assert "assign_add" in reason

    x = tracejit.Variable([[1.0, 2.0], [3.0, 4.0]])  # 2. calculations that left the tape
    with Tape() as tape:
        x2 = x ** 2
        means = np.mean(x2.numpy(), axis=0)
        y = np.mean(tracejit.constant(means), axis=0)
    assert tape.gradient(y, x) is None
    assert f"{__file__}:" in tape.why(y, x)
    assert "NumPy value was taken" in tape.why(y, x)

    given._WARNED.clear()
    x = tracejit.constant(10)  # 3. integers
    tape = Tape()
    with pytest.warns(UserWarning, match="int64") as record:
        tape.watch(x)
    assert record[0].filename == __file__
    with tape:
        y = x * x
    assert tape.gradient(y, x) is None
    assert len(record) == 1
    assert "int64" in tape.why(y, x)

    x0, x1 = tracejit.Variable(3.0), tracejit.Variable(0.0)  # 4. state
    with Tape() as tape:
        x1.assign_add(x0)
        y = x1 ** 2
    assert tape.gradient(y, x0) is None
    assert y.numpy() == 9.0
    assert "assigned to the variable" in tape.why(y, x0)


def test_no_gradient_registered() -> None:
    adjust = tracejit.register_op("AdjustContrast", lambda image, delta: image * delta)
    image, delta = tracejit.Variable([[[0.5, 0.0, 0.0]]]), tracejit.Variable(0.1)
    with Tape(persistent=True) as tape:
        new = adjust(image, delta)
    with pytest.raises(LookupError, match=r"test_tape\.py:\d+: .*AdjustContrast"):
        tape.gradient(new, [image, delta])

    @tracejit.RegisterGradient("AdjustContrast")
    def adjust_grad(op: Any, grad: Any) -> Any:
        assert op.type == "AdjustContrast"
        return grad * op.inputs[1], np.sum(grad * op.inputs[0])

    with Tape() as tape:
        new = adjust(image, delta)
    gi, gd = tape.gradient(new, [image, delta])
    assert gi.tolist() == [[[0.1, 0.1, 0.1]]]
    assert gd.numpy() == 0.5


def test_wrong_gradients_of_ops_name_the_op() -> None:
    shift = tracejit.register_op("Shift", lambda x, s: x + s)

    @tracejit.RegisterGradient("Shift")
    def shift_grad(op: Any, grad: Any) -> Any:
        return (grad,)

    x = tracejit.Variable([1.0, 2.0])
    with Tape() as tape:
        y = shift(x, 1.0)
    with pytest.raises(ValueError, match="'Shift' returned 1 values, but the op has 2 inputs"):
        tape.gradient(y, x)


def test_zeros_in_place_of_none() -> None:
    x, y = tracejit.Variable([2.0, 2.0]), tracejit.Variable(3.0)
    with Tape() as tape:
        z = y ** 2
    zeros = tape.gradient(z, x, unconnected_gradients=tracejit.UnconnectedGradients.ZERO)
    assert zeros.tolist() == [0.0, 0.0]


# --- more of the interface ------------------------------------------------------------------------


def test_stop_gradient_and_marked_ops_end_the_thread() -> None:
    x = tracejit.Variable(3.0)
    with Tape(persistent=True) as tape:
        y = x * tracejit.stop_gradient(x)
        z = tracejit.stop_gradient(x) + np.floor(x)
    assert tape.gradient(y, x).numpy() == 3.0
    assert tape.gradient(z, x) is None
    assert "stop_gradient lets no gradient through" in tape.why(z, x)
    assert "floor lets no gradient through" in tape.why(z, x)


def test_stop_recording_and_reset() -> None:
    x = tracejit.Variable(3.0)
    with Tape(persistent=True) as tape:
        y = x * x
        with tape.stop_recording():
            z = y * x
        w = z + y
    assert tape.gradient(w, x).numpy() == 6.0
    assert tape.gradient(z, x) is None
    with Tape() as tape:
        y = x * x
        tape.reset()
        z = x * 2
    assert of(tape.gradient([z], x)) == 2.0
    with pytest.raises(ValueError, match="not recording"), Tape().stop_recording():
        pass
    with Tape() as tape, pytest.raises(ValueError, match="recording already"):
        tape.__enter__()


def test_third_order() -> None:
    x = tracejit.constant(1.3)
    with Tape() as third:
        third.watch(x)
        with Tape() as second:
            second.watch(x)
            with Tape() as first:
                first.watch(x)
                y = np.sin(x) * x ** 3
            d1 = first.gradient(y, x)
        d2 = second.gradient(d1, x)
    d3 = third.gradient(d2, x)
    s, c, t = np.sin(1.3), np.cos(1.3), 1.3
    np.testing.assert_allclose(
        [d1.numpy(), d2.numpy(), d3.numpy()],
        [c * t**3 + 3 * s * t**2, -s * t**3 + 6 * c * t**2 + 6 * s * t,
         -c * t**3 - 9 * s * t**2 + 18 * c * t + 6 * s], rtol=1e-12)


def test_complex_values_by_tensorflows_convention() -> None:
    z = tracejit.constant(1 + 2j)
    with Tape() as tape:
        tape.watch(z)
        w = (z * z.conj()).real
    assert tape.gradient(w, z).numpy() == 2 + 4j


def test_jacobians() -> None:
    def f(x: Any) -> Any:
        return np.sin(x) * x[0]

    x = np.array([1.0, 2.0, 3.0])
    v = tracejit.Variable(x)
    with Tape() as tape:
        y = f(v)
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tape.jacobian(y, v).numpy(), tracejit.jacobian(f)(x))
    rng = np.random.default_rng(0)
    xs, m = tracejit.constant(rng.normal(size=(4, 3))), rng.normal(size=(3, 2))
    with Tape() as tape:
        tape.watch(xs)
        ys = np.tanh(xs @ m)
    batch = tape.batch_jacobian(ys, xs).numpy()
    for row, x in zip(batch, xs.numpy(), strict=True):
        np.testing.assert_allclose(row, (1 - np.tanh(x @ m) ** 2)[:, None] * m.T)
    with Tape() as tape:
        tape.watch(xs)
        ys = np.sum(xs, axis=0)
    with pytest.raises(ValueError, match="same first axis"):
        tape.batch_jacobian(ys, xs)


def test_output_gradients() -> None:
    x = tracejit.Variable([1.0, 2.0])
    with Tape(persistent=True) as tape:
        y, z = x * x, x[0] * 3.0
    assert tape.gradient(y, x, output_gradients=np.array([1.0, 10.0])).tolist() == [2.0, 40.0]
    both = tape.gradient([y, z], x, output_gradients=[np.array([1.0, 10.0]), 2.0])
    assert both.tolist() == [8.0, 40.0]
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        tape.gradient(y, x, output_gradients=np.ones(3))
    with pytest.raises(ValueError, match="structure"):
        tape.gradient([y, z], x, output_gradients=[np.ones(2)])


@pytest.mark.parametrize(("bad", "message"), [
    ("text", "str 'text'"), (3.0, r"tracejit\.constant"), (np.ones(3), r"tracejit\.constant"),
    ([object()], "object")])
def test_what_cannot_be_watched(bad: Any, message: str) -> None:
    with Tape() as tape, pytest.raises(TypeError, match=message):
        tape.watch(bad)


def test_bad_targets_sources_and_variables() -> None:
    x = tracejit.Variable(1.0)
    with Tape(persistent=True) as tape:
        y = x * 2
    with pytest.raises(TypeError, match="no tape follows"):
        tape.gradient(np.ones(2), x)
    with pytest.raises(TypeError, match="needs a target"):
        tape.gradient([], x)
    with pytest.raises(TypeError, match="gradients are by tape values"):
        tape.gradient(y, 3.0)
    with pytest.raises(TypeError, match="object"):
        tracejit.Variable(np.array([None]))
    with pytest.raises(TypeError, match="cannot be written to"):
        (x * [1.0, 2.0])[0] = 3.0
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        x.assign([1.0, 2.0])
    with pytest.raises(TypeError, match="complex"):
        x.assign(1j)


@pytest.mark.parametrize("planted", [False, True])
def test_users_arrays_may_change_afterwards(planted: bool, monkeypatch: Any) -> None:
    """An array that the way back reads is copied where somebody else can write to it."""
    if planted:
        monkeypatch.setattr(recording, "_keep", lambda x, operands: x)
    data = np.array([1.0, 2.0])
    x = tracejit.Variable([3.0, 4.0])
    with Tape():
        x * tracejit.constant(data)  # of the same type, but nobody else's
    constant = tracejit.constant(data)
    with Tape(persistent=True) as tape:
        tape.watch(constant)
        y = x * data * constant
    data[:] = 100.0
    value = y.numpy()
    value[:] = -1.0
    assert (tape.gradient(y, x).tolist() == [1.0, 4.0]) is not planted
    assert y.tolist() == [3.0, 16.0]
    data = np.array([1.0, 2.0])
    _, shown = np.broadcast_arrays(x, data)
    data[:] = 100.0
    assert shown.tolist() == [1.0, 2.0]


# --- memory ---------------------------------------------------------------------------------------


def test_a_tape_holds_what_the_way_back_reads_and_no_more() -> None:
    x = tracejit.Variable(np.ones(1000))
    with Tape() as tape:
        added = x + 1.0
        root = np.sqrt(added)
        y = np.sum(root)
    kept = weakref.ref(root._data)
    unread = weakref.ref(added._data)
    del added, root
    gc.collect()
    assert unread() is None  # neither + nor the rule of sqrt reads it
    assert kept() is not None
    tape.gradient(y, x)
    assert kept() is None


def test_memory_is_flat_over_ten_thousand_steps() -> None:
    w = tracejit.Variable(np.array([1.0, -2.0]))
    x = np.array([0.5, 0.25])

    def steps(count: int) -> None:
        for k in range(count):
            with Tape() as tape:
                y = np.sum((w * x - 1.0) ** 2) * (k % 7 + 1.0)
                if k % 3:
                    y = y + np.tanh(w[0])
            w.assign_sub(0.01 * tape.gradient(y, w))

    steps(2000)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    steps(8000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 200_000


# --- functions of other kinds ---------------------------------------------------------------------


def looped(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2 * np.sin(s) + x[i]
    return s


@pytest.mark.parametrize("jit", [False, True])
def test_compiled_functions_on_the_tape(jit: bool) -> None:
    with tracejit.config(disable_jit=not jit):
        compiled = tracejit.jit(looped)
        point = np.array([1.0, 2.0, 3.0])
        x = tracejit.constant(point)
        with Tape() as second:
            second.watch(x)
            with Tape() as tape:
                tape.watch(x)
                y = compiled(x) * 2
            slope = tape.gradient(y, x)
        np.testing.assert_allclose(slope.numpy(), 2 * tracejit.grad(looped)(point), rtol=1e-12)
        with Tape() as tape:  # without a function of its own, element by element
            tape.watch(x)
            y = looped(x)
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), slope.numpy() / 2, rtol=1e-12)
        np.testing.assert_allclose(second.gradient(slope, x).numpy(),
                                   2 * tracejit.hessian(looped)(point).sum(0), rtol=1e-12)
        with Tape() as tape:
            tape.watch(x)
            y = np.sum(tracejit.grad(looped)(x))
        np.testing.assert_allclose(tape.gradient(y, x).numpy(),
                                   tracejit.hessian(looped)(point).sum(0), rtol=1e-12)


def test_compiled_functions_that_write_are_refused() -> None:
    def fill(x: Any) -> Any:
        x[0] = 1.0
        return x.sum()

    x = tracejit.Variable([1.0, 2.0])
    with (tracejit.config(disable_jit=True), Tape(),
          pytest.raises(ValueError, match="read-only") as error):
        tracejit.jit(fill)(x)
    assert f"{__file__}:{fill.__code__.co_firstlineno + 1}" in "".join(error.value.__notes__)


def test_custom_gradients() -> None:
    @tracejit.custom_gradient
    def log1pexp(x: Any) -> Any:
        e = np.exp(x)
        return np.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    x = tracejit.constant(100.0)
    with Tape() as tape:
        tape.watch(x)
        y = log1pexp(x)
    assert tape.gradient(y, x).numpy() == 1.0

    @tracejit.custom_gradient
    def outer(x: Any) -> Any:
        @tracejit.custom_gradient
        def inner(z: Any) -> Any:
            return np.sin(z), lambda up: up * np.cos(z)

        return inner(x) * 2, lambda up: up * 2 * np.cos(x)

    x = tracejit.constant(3.0)
    with Tape() as second:
        second.watch(x)
        with Tape() as tape:
            tape.watch(x)
            y = outer(x)
        d = tape.gradient(y, x)
    np.testing.assert_allclose(d.numpy(), 2 * np.cos(3.0))
    np.testing.assert_allclose(second.gradient(d, x).numpy(), -2 * np.sin(3.0))


def test_custom_gradients_of_functions_that_read_variables() -> None:
    w = tracejit.Variable(2.0, name="w")

    @tracejit.custom_gradient
    def linear(x: Any) -> Any:
        def grad(upstream: Any, variables: Any = None) -> Any:
            assert len(variables) == 1
            return upstream * w, [upstream * x * 10.0]

        return w * x, grad

    x = tracejit.constant(3.0)
    with tracejit.config(disable_jit=True):
        with Tape() as tape:
            tape.watch(x)
            y = linear(x) ** 2
        assert of(tape.gradient(y, [x, w])) == [24.0, 360.0]
        with Tape() as tape:
            y = linear(3.0)
        assert tape.gradient(y, w).numpy() == 30.0

        @tracejit.custom_gradient
        def without(x: Any) -> Any:
            return w * x, lambda upstream: upstream * w

        with Tape() as tape:
            y = without(3.0)
        with pytest.raises(TypeError, match="keyword argument `variables`"):
            tape.gradient(y, w)


def test_recompute_grad() -> None:
    block = tracejit.recompute_grad(lambda x: np.sin(x) * 2.0)
    x = tracejit.constant(0.7)
    with Tape() as tape:
        tape.watch(x)
        y = block(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), 2 * np.cos(0.7))


def test_tape_values_act_like_arrays() -> None:
    x = tracejit.constant([3.0, 1.0, 2.0])
    assert (len(x), x.shape, x.ndim, x.size, x.dtype) == (3, (3,), 1, 3, np.float64)
    assert [float(v) for v in x] == [3.0, 1.0, 2.0]
    assert f"{x[0]:.2f}" == "3.00"
    assert max(x) == 3.0
    assert bool(x[1] < x[2])
    assert 2.0 in x
    assert np.array_equal(x[x > 1.5].numpy(), [3.0, 2.0])
    assert [10, 20, 30][tracejit.constant(1)] == 20
    assert repr(x) == "TapeValue([3., 1., 2.], dtype=float64)"
    assert np.asarray(x).dtype == np.float64
    with pytest.raises(AttributeError, match="numpy"):
        x.nonsense
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    assert tracejit.constant([1, 2], dtype=np.float32).dtype == np.float32


# --- the reference pages --------------------------------------------------------------------------


def test_the_page_of_register_gradient() -> None:
    sub = tracejit.register_op("Sub", lambda x, y: x - y)

    @tracejit.RegisterGradient("Sub")
    def sub_grad(unused_op: Any, grad: Any) -> Any:
        return grad, np.negative(grad)

    x, y = tracejit.Variable([3.0, 5.0]), tracejit.Variable([1.0, 2.0])
    with Tape() as tape:
        z = sub(x, y) * [10.0, 20.0]
    dx, dy = tape.gradient(z, [x, y])
    assert (dx.tolist(), dy.tolist()) == ([10.0, 20.0], [-10.0, -20.0])
    with tracejit.config(disable_jit=True):
        grads = tracejit.grad(lambda x, y: np.sum(sub(x, y)), argnums=(0, 1))(x.numpy(), y.numpy())
    assert [g.tolist() for g in grads] == [[1.0, 1.0], [-1.0, -1.0]]
    for register in (tracejit.RegisterGradient, tracejit.no_gradient, tracejit.NoGradient,
                     tracejit.NotDifferentiable):
        with pytest.raises(TypeError, match="string"):
            register(3)


def test_several_inputs_and_outputs() -> None:
    polar = tracejit.register_op(
        "Polar", lambda x, y: (np.hypot(x, y), np.arctan2(y, x)), num_outputs=2)

    @tracejit.RegisterGradient("Polar")
    def polar_grad(op: Any, grad_r: Any, grad_angle: Any) -> Any:
        x, y = op.inputs
        r, _ = op.outputs
        assert op.type == "Polar"
        assert op.name.startswith("Polar")
        return ((grad_r * x - grad_angle * y / r) / r, (grad_r * y + grad_angle * x / r) / r)

    x, y = tracejit.Variable(3.0), tracejit.Variable(4.0)
    with Tape(persistent=True) as tape:
        r, angle = polar(x, y)
        both = r * 2.0 + angle
    np.testing.assert_allclose(of(tape.gradient(r, [x, y])), [0.6, 0.8])
    np.testing.assert_allclose(of(tape.gradient(angle, [x, y])), [-0.16, 0.12])
    np.testing.assert_allclose(of(tape.gradient(both, [x, y])), [1.2 - 0.16, 1.6 + 0.12])


def test_the_page_of_no_gradient() -> None:
    size = tracejit.register_op("Size", lambda x: np.sum(np.ones_like(x)))
    tracejit.no_gradient("Size")
    x = tracejit.Variable([1.0, 2.0, 4.0])
    with Tape(persistent=True) as tape:
        count = size(x)
        mean = np.sum(x) / count
    assert count.numpy() == 3.0
    assert tape.gradient(count, x) is None
    np.testing.assert_allclose(tape.gradient(mean, x).numpy(), [1 / 3] * 3)


def test_the_page_of_stop_gradient() -> None:
    x = tracejit.Variable([1.0, -2.0])
    with Tape(persistent=True) as tape:
        kept = tracejit.stop_gradient(x)
        y = np.sum(x * kept)
    assert (kept.tolist(), kept.dtype, kept.shape) == (x.numpy().tolist(), x.dtype, x.shape)
    assert tape.gradient(y, x).tolist() == [1.0, -2.0]
    nested = tracejit.stop_gradient({"a": [x], "b": 2.0})
    assert (nested["a"][0].tolist(), nested["b"]) == ([1.0, -2.0], 2.0)


def test_numbers_that_vary_become_operands() -> None:
    """Element by element, with many indices, slices and exponents."""
    data = np.random.default_rng(0).normal(size=20)
    x = tracejit.Variable(data)

    def f(x: Any) -> Any:
        total = 0.0
        for i in range(-20, 20):
            total = total + x[i] * (0.1 * i) + x[i] ** 2 * (0.5 + i)
        for i in range(1, 15):
            total = total + np.sum(x[i:i + 3] * x[i - 1:i + 2]) + np.sum(x[:-i]) + np.sum(x[::i])
        return total

    with Tape() as tape:
        y = f(x)
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), tracejit.grad(f)(data), rtol=1e-10)


@pytest.mark.parametrize("planted", [False, True])
def test_ways_back_are_compiled_once_they_took_long(planted: bool, monkeypatch: Any) -> None:
    """And give then the same results as before, for every size; a planted fault is seen."""
    monkeypatch.setattr(plans, "COMPILING", 0.0)
    monkeypatch.setattr(plans, "LARGE", 2)
    monkeypatch.setattr(plans, "_PLANS", {})
    monkeypatch.setattr(plans, "_PATTERNS", {})
    monkeypatch.setattr(plans, "_LOOSE", {})
    monkeypatch.setattr(recording, "_SHORTCUTS", {})
    if planted:
        compiled = plans.Pattern.compiled
        monkeypatch.setattr(plans.Pattern, "compiled", lambda self, given: lambda *args: tuple(
            1.001 * x for x in compiled(self, given)(*args)))
    worst = 0.0
    for n in (2, 5, 9):
        data = np.linspace(0.1, 0.9, n)
        x = tracejit.Variable(data)
        with Tape() as tape:
            y = np.sum(np.tanh(x * x) / (1.0 + x)) * x[0]
        slope = tape.gradient(y, x).numpy()
        t = np.tanh(data ** 2)
        expected = data[0] * ((1 - t ** 2) * 2 * data / (1 + data) - t / (1 + data) ** 2)
        expected[0] += np.sum(t / (1 + data))
        worst = max(worst, np.max(np.abs(slope / expected - 1)))
    kernels = [k for p in plans._PATTERNS.values() for k in p.kernels.values()]
    assert any(k is not None for k in kernels) or planted
    assert (worst < 1e-10) is not planted


# --- what repeats -------------------------------------------------------------------------------


def check_repeats(make: Callable[[Any, int], Any], slope: Callable[[Any, int], Any]) -> None:
    """Check the gradients of tapes that differ in one number, before and after compiling."""
    w = tracejit.Variable(np.linspace(1.0, 2.0, 30))
    for k in range(1, 15):
        with Tape() as tape:
            y = make(w, k)
        found = tape.gradient(y, w)
        np.testing.assert_allclose(found.numpy(), slope(w.numpy(), k), rtol=1e-10)


def test_numbers_that_change_from_tape_to_tape() -> None:
    """As bounds of slices, indices, exponents and factors."""

    def twice(w: Any, k: int) -> Any:
        return np.where(np.arange(30) < k, 0.0, 4.0 * w)

    def powers(w: Any, k: int) -> Any:
        g = np.zeros(30)
        g[k] = (1.5 * w[3]) ** k
        g[3] += w[k] * k * (1.5 * w[3]) ** (k - 1) * 1.5
        return g

    check_repeats(lambda w, k: np.sum((w * 2.0)[k:] * w[k:]), twice)
    check_repeats(lambda w, k: ((w * 1.5) ** k)[3] * w[k], powers)
    check_repeats(lambda w, k: np.sum(w * (k + 0.5)), lambda w, k: np.full(30, k + 0.5))


def test_a_target_that_is_a_source_after_others_that_are_none() -> None:
    """Recordings with the same calls, or none, are told apart by the targets and sources asked."""
    for _ in range(5):
        v, w = tracejit.Variable(2.0), tracejit.Variable(3.0)
        with Tape(persistent=True) as tape:
            y = w * w
        assert of(tape.gradient(y, [v, w])) == [None, 6.0]
        assert of(tape.gradient(v, [v, w])) == [1.0, None]
        assert of(tape.gradient([v, y], [v, w])) == [1.0, 6.0]
        assert of(tape.gradient([w, y], [v, w])) == [None, 7.0]
        assert of(tape.gradient([y, v], [v, w], output_gradients=[2.0, 5.0])) == [5.0, 12.0]
        with Tape(persistent=True) as tape:
            pass
        assert of(tape.gradient(v, [w])) == [None]
        assert of(tape.gradient(v, [v])) == [1.0]


def write_to(x: Any) -> Any:
    x[0] = 9.0
    return np.sum(x)


@pytest.mark.parametrize("write", [
    write_to, tracejit.jit(write_to), lambda x: np.add.at(x, 0, 1.0), lambda x: np.copyto(x, 1.0),
    lambda x: np.put(x, 0, 1.0), lambda x: np.place(x, np.array([True, False, True]), 1.0),
    lambda x: np.nan_to_num(x, copy=False), lambda x: x.fill(1.0), lambda x: x.sort(),
    lambda x: tracejit.custom_gradient(lambda z: (write_to(z), lambda g: g))(x)])
def test_tape_values_never_change(write: Callable[[Any], Any]) -> None:
    x = tracejit.constant([3.0, 1.0, 2.0])
    with tracejit.config(disable_jit=True), pytest.raises((TypeError, ValueError),
                                                          match=r"written to|read-only"):
        write(x)
    assert x.numpy().tolist() == [3.0, 1.0, 2.0]


def test_the_arrays_that_a_user_gives_stay_writeable() -> None:
    a, ct = np.arange(3.0), np.ones(3)
    x = tracejit.constant(a)

    @tracejit.custom_gradient
    def whole(z: Any) -> Any:
        return a, lambda g: g[0] * np.ones_like(z)

    with Tape() as tape:
        tape.watch(x)
        y = whole(x) * a
    tape.gradient(y, x, output_gradients=ct)
    tracejit.Variable(a).assign(a)
    assert a.flags.writeable
    assert ct.flags.writeable
    assert x.numpy().flags.writeable


def test_a_jacobian_has_one_target() -> None:
    x = tracejit.Variable([1.0, 2.0])
    with Tape(persistent=True) as tape:
        y, z = x * x, x * 2.0
    for jacobian in (tape.jacobian, tape.batch_jacobian):
        with pytest.raises(TypeError, match="one target, not of 2"):
            jacobian([y, z], x)
    assert tape.jacobian(y, {"x": x})["x"].numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]
