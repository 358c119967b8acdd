"""Variables: state on tapes, state of compiled functions, and tapes within such functions."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from test_tape import Net

import tracejit
from tracejit.tape import programs

Tape = tracejit.GradientTape


@pytest.fixture
def interpreted() -> Any:
    with tracejit.config(disable_jit=True):
        yield


def test_assigning() -> None:
    v = tracejit.Variable([1.0, 2.0], name="v")
    before = v.read_value()
    assert v.assign_add([1.0, 1.0]).assign_sub([0.5, 0.0]) is v
    assert v.numpy().tolist() == [1.5, 3.0]
    assert before.numpy().tolist() == [1.0, 2.0]
    assert (v.shape, v.dtype, v.name, v.trainable) == ((2,), np.float64, "v", True)
    assert repr(v) == "<Variable 'v' float64(2,): array([1.5, 3. ])>"
    data = np.array([5.0, 6.0])
    v.assign(data)
    data[:] = 0.0
    v.numpy()[:] = 0.0
    assert v.numpy().tolist() == [5.0, 6.0]
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        other.assign([0.0, 0.0])
        assert (v.numpy().tolist(), other.name) == ([5.0, 6.0], "v")


def test_a_variable_read_in_several_states_gets_the_sum() -> None:
    v = tracejit.Variable(2.0)
    with Tape() as tape:
        y = v * 2.0
        v.assign(5.0)
        y = y + v * v
    assert tape.gradient(y, v).numpy() == 2.0 + 10.0


# --- state of compiled functions ------------------------------------------------------------------


@pytest.mark.usefixtures("interpreted")
def test_compiled_functions_read_the_present_state_and_update_it() -> None:
    v, n = tracejit.Variable([1.0, 2.0]), tracejit.Variable(0.0, trainable=False)

    @tracejit.jit
    def f(x: Any) -> Any:
        n.assign_add(1.0)
        return np.sum(v * x) + n

    @tracejit.value_and_grad
    def g(x: Any) -> Any:
        n.assign_add(10.0)
        return np.sum(v * x ** 2)

    @tracejit.grad
    def h(x: Any) -> Any:
        n.assign(n * 2.0)
        return np.sum(v * x)

    x = np.array([1.0, 1.0])
    assert f(x) == 4.0
    assert f(x) == 5.0
    v.assign([10.0, 20.0])
    assert f(x) == 33.0
    value, slope = g(x)
    assert (value, slope.tolist(), n.numpy()) == (30.0, [20.0, 40.0], 13.0)
    assert h(x).tolist() == [10.0, 20.0]
    assert n.numpy() == 26.0
    with pytest.raises(tracejit.Refusal, match="jit, grad and value_and_grad alone"):
        tracejit.jvp(f)((x,), (x,))


def test_kernels_update_state_too() -> None:
    w = tracejit.Variable(0.0, name="w")

    @tracejit.jit
    def descend(n: Any) -> Any:
        for _ in range(n):
            with Tape() as tape:
                loss = (w - 3.0) ** 2
            w.assign_sub(0.1 * tape.gradient(loss, w))
        return w.read_value()

    with tracejit.config(verify=True):
        result = descend(5)
    assert result == pytest.approx(3 * (1 - 0.8 ** 5))
    assert w.numpy() == result
    assert descend(1) == pytest.approx(3 * (1 - 0.8 ** 6))


@pytest.mark.usefixtures("interpreted")
def test_one_variable_under_two_names() -> None:
    v = tracejit.Variable(1.0)
    pair = {"a": v, "b": v}

    @tracejit.jit
    def f(x: Any) -> Any:
        pair["a"].assign_add(x)
        return pair["b"] * 10.0

    assert f(1.0) == 20.0
    assert f(1.0) == 30.0


@pytest.mark.usefixtures("interpreted")
def test_a_variable_in_the_place_of_another() -> None:
    holder = {"v": tracejit.Variable(1.0)}

    @tracejit.jit
    def f(x: Any) -> Any:
        holder["v"].assign_add(x)
        return holder["v"] * 1.0

    first = holder["v"]
    assert f(1.0) == 2.0
    holder["v"] = tracejit.Variable(100.0)
    assert f(1.0) == 101.0
    assert (first.numpy(), holder["v"].numpy()) == (2.0, 101.0)


@pytest.mark.usefixtures("interpreted")
def test_assigning_in_branches() -> None:
    v = tracejit.Variable([1.0, 1.0])

    @tracejit.jit
    def f(x: Any) -> Any:
        if x > 0.0:
            v.assign(v * x)
        else:
            v.assign_sub([1.0, 2.0])
        return v[0]

    assert f(3.0) == 3.0
    assert f(-1.0) == 2.0
    assert v.numpy().tolist() == [2.0, 1.0]
    with pytest.raises(ValueError, match="has shape"):
        tracejit.jit(lambda x: v.assign(x))(np.ones(3))

    @tracejit.jit
    def writes(x: Any) -> Any:
        v[0] = x
        return v[0]

    with pytest.raises(tracejit.Refusal, match="elements of the variable"):
        writes(1.0)
    with pytest.raises(tracejit.Refusal, match="a variable made inside"):
        tracejit.jit(lambda x: tracejit.Variable([1.0]) * x)(1.0)


@pytest.mark.usefixtures("interpreted")
def test_tapes_see_the_variables_that_compiled_functions_read() -> None:
    v = tracejit.Variable([1.0, 2.0, 3.0], name="v")

    @tracejit.jit
    def model(x: Any) -> Any:
        s = 0.0
        for i in range(len(x)):
            s += v[i] ** 2 * x[i]
        return s

    x = np.array([1.0, 1.0, 2.0])
    for _ in range(2):
        with Tape() as tape:
            y = model(x) * 3
        assert tape.gradient(y, v).tolist() == [6.0, 12.0, 36.0]
    with Tape() as second:
        with Tape() as tape:
            y = model(x)
        slope = tape.gradient(y, v)
    assert second.gradient(slope, v).tolist() == [2.0, 2.0, 4.0]


# --- tapes within captures ------------------------------------------------------------------------


@pytest.mark.usefixtures("interpreted")
def test_a_tape_within_a_compiled_function() -> None:
    @tracejit.jit
    def f(x: Any) -> Any:
        before = x * x
        with Tape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * np.sin(x)
            with tape.stop_recording():
                z = y * 2
            w = y + z
        return [tape.gradient(y, x), tape.gradient(w, x), tape.gradient(w, y),
                tape.gradient(before, x), tape.gradient(y, before),
                tape.gradient(z, x, unconnected_gradients=tracejit.UnconnectedGradients.ZERO)]

    slope = 4 * np.sin(2.0) + 4 * np.cos(2.0)
    dy, dw, by_y, of_before, by_before, zero = f(2.0)
    np.testing.assert_allclose([dy, dw, by_y, zero], [slope, slope, 1.0, 0.0])
    assert (of_before, by_before) == (None, None)

    @tracejit.jit
    def twice(x: Any) -> Any:
        with Tape() as second:
            second.watch(x)
            with Tape() as tape:
                tape.watch(x)
                y = x ** 3
            d = tape.gradient(y, x)
        return d, second.gradient(d, x)

    assert twice(2.0) == (12.0, 12.0)

    @tracejit.jit
    def unwatched(x: Any) -> Any:
        with Tape() as tape:
            y = x ** 3
        return tape.gradient(y, x)

    assert unwatched(2.0) is None

    @tracejit.jit
    def again(x: Any) -> Any:
        with Tape() as tape:
            tape.watch(x)
            y = x ** 3
        tape.gradient(y, x)
        return tape.gradient(y, x)

    with pytest.raises(RuntimeError, match="persistent"):
        again(2.0)


# --- training -------------------------------------------------------------------------------------


def cross_entropy(logits: Any, labels: np.ndarray) -> Any:
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    picked = shifted[np.arange(len(labels)), labels]
    return np.mean(np.log(np.sum(np.exp(shifted), axis=1)) - picked)


@pytest.mark.parametrize("within", [False, True], ids=["tape", "tape in jit"])
def test_two_hundred_steps_on_the_digits(within: bool) -> None:
    images, labels = load_digits(return_X_y=True)
    images = images / 16.0
    order = np.random.default_rng(0).permutation(len(labels))
    train, test = order[:1400], order[1400:]
    net = Net(64, 64, 10)

    def step(x: Any, y: Any) -> Any:
        with Tape() as tape:
            loss = cross_entropy(net(x), y)
        grads = tape.gradient(loss, net.trainable_variables)
        for v, g in zip(net.trainable_variables, grads, strict=True):
            v.assign_sub(0.7 * g)
        net.steps.assign_add(1)
        return loss

    if within:
        step = tracejit.jit(step)
    rng = np.random.default_rng(1)
    tracejit.clear_caches()  # programs, and plans whose numbers other tests' calls made operands
    held = []
    for k in range(200):
        if k in (100, 199):  # by then the way back is compiled
            gc.collect()
            tracemalloc.start()
            held.append(tracemalloc.get_traced_memory()[0])
        batch = rng.choice(train, 256)
        step(images[batch], labels[batch])
    tracemalloc.stop()
    assert held[1] - held[0] < 300_000  # the variables' present states are 38 kB
    found = np.argmax(net(images[test]).numpy(), axis=1)
    assert np.mean(found == labels[test]) > 0.95
    assert net.steps.numpy() == 200
    if not within:  # the way back was compiled, once
        assert [p is not None for p in programs._PROGRAMS.values()] == [True]


# --- structures that repeat -----------------------------------------------------------------------


def random_tape(rng: np.random.Generator, x: Any, y: Any, m: Any) -> Any:
    """Compute something: the choices come from the generator alone."""
    pool = [x, y]
    for _ in range(12):
        a, b = (pool[k] for k in rng.integers(0, len(pool), 2))
        kind = rng.integers(0, 8)
        made = (a * b if kind == 0 else a + b if kind == 1 else np.sin(a) if kind == 2 else
                m @ a if kind == 3 else a * 0.5 - b if kind == 4 else
                np.where(a > b, a, b * 2.0) if kind == 5 else
                np.concatenate([a[1:], b[:1]]) if kind == 6 else a / (1.0 + b * b))
        pool.append(np.tanh(made))
    return sum(np.sum(p * p) for p in pool[-3:])


@pytest.mark.parametrize("seed", range(4))
def test_the_compiled_way_back_is_the_interpreted_one(seed: int, monkeypatch: Any) -> None:
    """For several sizes, after which the program is compiled only once."""
    def gradient(n: int) -> Any:
        rng = np.random.default_rng(n)
        x, y = tracejit.Variable(rng.normal(size=n)), tracejit.Variable(rng.normal(size=n))
        m = rng.normal(size=(n, n))
        with Tape() as tape:
            z = random_tape(np.random.default_rng(seed), x, y, m)
        return tape.gradient(z, [x, y], unconnected_gradients="zero")

    tracejit.clear_caches()  # programs, and plans whose numbers other tests' calls made operands
    with tracejit.config(disable_jit=True):
        expected = {n: gradient(n) for n in (3, 5, 8)}
    made = []
    study = programs.Backward._study
    monkeypatch.setattr(programs.Backward, "_study",
                        lambda self, request: made.append(1) or study(self, request))
    for _ in range(3):
        for n, grads in expected.items():
            for g, e in zip(gradient(n), grads, strict=True):
                np.testing.assert_allclose(g.numpy(), e.numpy(), rtol=1e-9, atol=1e-12)
    assert len(programs._PROGRAMS) == 1
    assert all(p is not None for p in programs._PROGRAMS.values())
    assert len(made) == 1


@pytest.mark.usefixtures("interpreted")
def test_tapes_see_tape_values_that_compiled_functions_read() -> None:
    box = {"target": tracejit.constant([1.0, 2.0])}

    @tracejit.jit
    def loss(w: Any) -> Any:
        return np.sum((w - box["target"]) ** 2)

    v = tracejit.Variable([1.0, 1.0])
    for k in range(3):
        box["target"] = target = tracejit.constant([1.0 + k, 2.0])
        with Tape() as tape:
            tape.watch(target)
            y = loss(v)
        by_v, by_target = tape.gradient(y, [v, target])
        assert by_v.tolist() == [-2.0 * k, -2.0]
        assert by_target.tolist() == [2.0 * k, 2.0]
        assert loss(np.array([0.0, 0.0])) == (1.0 + k) ** 2 + 4.0


@pytest.mark.usefixtures("interpreted")
def test_compiled_functions_update_variables_under_a_tape_once() -> None:
    n, mean = tracejit.Variable(0.0, trainable=False), tracejit.Variable(0.0, trainable=False)
    w = tracejit.Variable([1.0, 2.0])

    @tracejit.jit
    def model(x: Any) -> Any:
        n.assign_add(1.0)
        y = np.sum(np.tanh(w * x))
        mean.assign(0.5 * mean + 0.5 * y)
        return y

    x = np.array([1.0, 1.0])
    t = np.tanh([1.0, 2.0])
    for k in range(3):
        with Tape() as tape:
            y = model(x) * 2.0
        np.testing.assert_allclose(tape.gradient(y, w).numpy(), 2 * (1 - t ** 2), rtol=1e-12)
        assert n.numpy() == k + 1
        np.testing.assert_allclose(mean.numpy(), np.sum(t) * (1 - 0.5 ** (k + 1)), rtol=1e-12)


@pytest.mark.usefixtures("interpreted")
def test_what_is_computed_again_must_not_assign() -> None:
    n = tracejit.Variable(0.0, trainable=False, name="counter")

    @tracejit.checkpoint
    def block(x: Any) -> Any:
        n.assign_add(1.0)
        return np.sum(x ** 2)

    x = tracejit.Variable([1.0, 2.0])
    with Tape() as tape:
        y = block(x)
    with pytest.raises(TypeError, match="assigns to 'counter'"):
        tape.gradient(y, x)


# --- what is read of a variable is what it was then ----------------------------------------------


READINGS = {
    "transpose": lambda v: v.T, "np.transpose": np.transpose, "np.ravel": np.ravel,
    "reshape": lambda v: v.reshape(-1), "np.reshape": lambda v: np.reshape(v, (1, -1)),
    "squeeze": np.squeeze, "real": lambda v: v.real, "all": lambda v: v[...], "plus": lambda v: +v,
    "broadcast": lambda v: np.broadcast_to(v, (2, 3, 3)), "stack": lambda v: np.stack([v, v]),
    "row": lambda v: v[1], "rows": lambda v: next(iter(v)), "itself": lambda v: v,
    "atleast": np.atleast_2d, "value": lambda v: v.read_value(),
}


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", READINGS)
def test_views_of_variables_do_not_follow_assignments(name: str) -> None:
    """But for the variable itself: in a capture as outside of it."""

    def f(v: Any) -> Any:
        y = READINGS[name](v)
        v.assign(v * 10.0)
        return np.sum(y * y)

    found = []
    for call in (f, lambda v: tracejit.jit(lambda: f(v))()):
        v = tracejit.Variable(np.arange(9.0).reshape(3, 3) + 1.0)
        found.append((float(call(v)), v.numpy().sum()))
    assert found[0] == found[1]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("update", [
    lambda y: operator.iadd(y, 2.0), lambda y: operator.isub(y, 2.0),
    lambda y: operator.imul(y, 2.0), lambda y: operator.itruediv(y, 2.0),
    lambda y: operator.ifloordiv(y, 2.0), lambda y: operator.imod(y, 2.0),
    lambda y: operator.ipow(y, 2), lambda y: operator.imatmul(y, np.ones((3, 3)))])
def test_operators_in_place_bind_a_name_anew(update: Any) -> None:
    v = tracejit.Variable(np.arange(9.0).reshape(3, 3) + 1.0)
    expected = update(v).numpy()
    np.testing.assert_array_equal(tracejit.jit(lambda: np.abs(update(v)))(), np.abs(expected))
    assert v.numpy().sum() == 45.0


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("write", [
    lambda v: v.sort(), lambda v: v.fill(1.0), lambda v: np.copyto(v, 1.0),
    lambda v: np.add(v, 1.0, out=v), lambda v: np.add.at(v, 1, 1.0),
    lambda v: np.reshape(v, -1).__setitem__(0, 1.0)])
def test_writing_into_a_variable_is_refused(write: Any) -> None:
    v = tracejit.Variable(np.arange(3.0), name="v")
    with pytest.raises(tracejit.Refusal, match=r"test_variables.py:\d+: writing to .*'v'"):
        tracejit.jit(lambda: write(v))()
    with pytest.raises((TypeError, ValueError), match=r"written to|read-only"):
        write(v)


@pytest.mark.usefixtures("interpreted")
def test_cotangents_and_reset_of_a_captured_tape() -> None:
    @tracejit.jit
    def f(x: Any) -> Any:
        with Tape(persistent=True) as tape:
            tape.watch(x)
            y, z = x * x, x * 3.0
        both = tape.gradient([y, z], x, output_gradients=[None, np.float64(2.0)])
        tape.reset()
        with tape:
            tape.watch(x)
            w = x ** 3
        return both, tape.gradient(w, x)

    assert f(2.0) == (4.0 + 6.0, 12.0)
