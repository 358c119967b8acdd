"""Values that users can name are theirs: equal ones are not one for gradients, tapes and stops.

Random programs, a third of whose statements repeat another statement, are differentiated
by the values of their names. `gradients` within `jit` is compared with differences of the program
in plain NumPy, in which the statement of that name gives a little more; a tape within `jit` with
the same tape outside.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles import assert_close

import tracejit

A, B = np.array([0.4, -0.7, 1.1]), np.array([0.9, 0.3, -0.5])


@pytest.fixture(autouse=True)
def _interpreted() -> Iterator[None]:
    with tracejit.config(disable_jit=True, verify=True):
        yield


# --- random programs ------------------------------------------------------------------------------

EXPRESSIONS = ("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} * 2.0", "np.sin({0})",
               "{0} * {0}", "{0}.copy()", "+{0}", "{0}[::-1]", "np.where(a > 0.0, {0}, {1})",
               "np.minimum({0}, 9.0 + {1} ** 2)", "{0} + 0.0", "{0}.reshape(3)", "np.cumsum({0})",
               "{0} / (2.0 + {1} * {1})", "np.concatenate(({0}[1:], {1}[:1]))", "{0} @ {1} * {0}",
               "np.sum({0}) * {1}", "{0}[0] * {1}", "np.stack(({0}, {1}))[0]", "abs({0} + 9.0)",
               "{0} * np.cos({1})", "-{0}", "np.tanh({0})", "{0}[:]", "np.multiply({0}, 2.0)",
               "{0} ** 2", "np.exp(0.1 * {0})")


def statements(seed: int, count: int = 7) -> list[tuple[str, str]]:
    """Return a program: names, each with its expression of earlier ones; many are equal."""
    choose = random.Random(seed)
    names = ["a", "b"]
    program: list[tuple[str, str]] = []
    for k in range(count):
        if program and choose.random() < 0.35:
            text = choose.choice(program)[1]
        else:
            text = choose.choice(EXPRESSIONS).format(choose.choice(names), choose.choice(names))
        program.append((f"v{k}", text))
        names.append(f"v{k}")
    program.append(("y", "np.sum(" + " * ".join(choose.sample(names[2:], 2)) + ")"))
    return program


def compiled(lines: Sequence[str], name: str) -> Callable[..., Any]:
    """Return a function `f(a, b)` with these lines, whose source can be seen."""
    source = "def f(a, b):\n" + "".join(f"    {line}\n" for line in lines)
    file = f"<named values {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"np": np, "tracejit": tracejit}
    exec(compile(source, file, "exec"), scope)
    f: Callable[..., Any] = scope["f"]
    return f


def run(program: Sequence[tuple[str, str]], moved: str, by: np.ndarray | float,
        frozen: dict[str, Any]) -> Any:
    """Return all values where one name's statement gives `by` more and frozen names keep theirs."""
    scope: dict[str, Any] = {"np": np}
    for name, text in (("a", "A"), ("b", "B"), *program):
        value = eval(text, {"A": A.copy(), "B": B.copy(), **scope})
        value = frozen.get(name, value)
        scope[name] = value + by if name == moved else value
    return scope


def partial(program: Sequence[tuple[str, str]], name: str, frozen: dict[str, Any]) -> np.ndarray:
    """Return the derivative of y by a name, by a central difference."""
    shape = np.shape(run(program, "", 0.0, {})[name])
    result = np.zeros(shape)
    for index in np.ndindex(*shape):
        step = np.zeros(shape)
        step[index] = 1e-5
        ends = [run(program, name, sign * step, frozen)["y"] for sign in (1.0, -1.0)]
        result[index] = (ends[0] - ends[1]) / 2e-5
    return result


@pytest.mark.parametrize("seed", range(400))
def test_gradients_are_by_what_the_names_stand_for(seed: int) -> None:
    program = statements(seed)
    choose = random.Random(~seed)
    names = ["a", "b", *(name for name, _ in program[:-1])]
    xs = choose.sample(names, 3)
    stops = choose.sample(names, choose.choice((0, 0, 1, 2)))
    f = compiled([*(f"{name} = {text}" for name, text in program),
                  f"return tracejit.gradients(y, [{', '.join(xs)}], "
                  f"stop_gradients=[{', '.join(stops)}])"], str(seed))
    found = tracejit.jit(f)(A, B)
    values = run(program, "", 0.0, {})
    for x, g in zip(xs, found, strict=True):
        expected = partial(program, x, {s: values[s] for s in stops})
        assert_close(0.0 * expected if g is None else g, expected, 1e-6, f"{x}: {program} {stops}")


@pytest.mark.parametrize("seed", range(400))
def test_a_tape_within_jit_is_the_tape_outside(seed: int) -> None:
    program = statements(seed)
    choose = random.Random(~seed)
    lines, depth = ["with tracejit.GradientTape(persistent=True) as tape:"], 1
    for k, (name, text) in enumerate(program):
        kind = choose.random()
        known = ["a", "b", *(n for n, _ in program[:k])]
        if kind < 0.45:
            lines.append(f"    tape.watch({choose.choice(known)})")
        if kind > 0.85 and depth:
            lines += ["    with tape.stop_recording():", f"        {name} = {text}"]
        elif kind > 0.8 and name == "y":
            lines.append(f"{name} = {text}")
        else:
            lines.append(f"    {name} = {text}")
    xs = choose.sample(["a", "b", *(n for n, _ in program[:-1])], 4)
    lines.append(f"return [tape.gradient(y, x) for x in ({', '.join(xs)})]")
    f = compiled(lines, f"tape {seed}")
    outside = f(tracejit.constant(A), tracejit.constant(B))
    within = tracejit.jit(f)(A, B)
    for x, g, e in zip(xs, within, outside, strict=True):
        zero = np.zeros(3)
        assert_close(zero if g is None else g, zero if e is None else np.asarray(e), 1e-9,
                     f"{x}: " + "\n".join(lines))


# --- what was found, and more of its kind ---------------------------------------------------------


def _two_towers(x: Any) -> Any:
    target = np.tanh(x * 2.0)
    online = np.tanh(x * 2.0)
    return tracejit.gradients(np.sum((online - target) ** 2 + online), [x],
                              stop_gradients=[target])[0]


def _watched_later(a: Any) -> Any:
    with tracejit.GradientTape() as tape:
        b = a * 2.0
        tape.watch(b)
        c = a * 2.0
        y = b * c
    return tape.gradient(y, b)


def _second(a: Any) -> Any:
    b, c = a * a, a * a
    g = tracejit.gradients(b * c, [b])[0]  # which is c, and a value of its own
    return tracejit.gradients(g * c + g, [c])[0], tracejit.gradients(g * c, [g])[0]


def _of_a_rule(a: Any) -> Any:
    b = np.cos(a)
    g = tracejit.gradients(np.sin(a), [a])[0]  # cos(a), and not b
    return tracejit.gradients(g + b, [b])[0], tracejit.gradients(g, [b])[0]


def _constants() -> Any:
    b, c = tracejit.constant(2.0), tracejit.constant(2.0)
    return tracejit.gradients(b * c, [b])[0]


def _items(x: Any) -> Any:
    b, c = x[0], x[0]
    return tracejit.gradients(b + c, [b])[0], tracejit.gradients(b + c, [x])[0][0]


def _views(x: Any) -> Any:
    b, c = x[1:], x[1:]
    return tracejit.gradients(np.sum(b * c), [b])[0][0]


def _copies(x: Any) -> Any:
    b = x.copy()
    return tracejit.gradients(np.sum(b * x), [b])[0][0], tracejit.gradients(
        np.sum(b * x), [x])[0][0]


def _in_a_loop(a: Any) -> Any:
    total = 0.0
    for i in range(3):
        b, c = a * i, a * i
        total = total + tracejit.gradients(b * c, [b])[0]
    return total


def _in_a_branch(a: Any) -> Any:
    if a > 0.0:
        b, c = a * 2.0, a * 2.0
        g = tracejit.gradients(b * c, [b])[0]
    else:
        g = a
    return g


def _after_the_tape(a: Any) -> Any:
    with tracejit.GradientTape(persistent=True) as tape:
        tape.watch(a)
        b = a * 2.0
    c = a * 2.0
    return tape.gradient(b, a), tape.gradient(c, a)


def _functions(a: Any) -> Any:
    def twice(v: Any) -> Any:
        return v * 2.0

    b, c = twice(a), twice(a)
    return tracejit.gradients(b * c, [b])[0]


def _stopped(a: Any) -> Any:
    b, c = tracejit.stop_gradient(a), tracejit.stop_gradient(a)
    return tracejit.gradients(b * c, [b])[0]


def _nested_grads(a: Any) -> Any:
    b, c = tracejit.grad(np.sin)(a), tracejit.grad(np.sin)(a)
    return tracejit.gradients(b * c, [b])[0], tracejit.gradients(b * c, [a])[0]


X = np.array([3.0, 4.0])
FOUND: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "the row": (lambda a: (lambda b, c: tracejit.gradients(b + c, [b]))(a * 2.0, a * 2.0),
                (3.0,), [1.0]),
    "stop_gradients": (lambda a: (lambda b, c: tracejit.gradients(b + c, [a], stop_gradients=[b]))(
        a * 2.0, a * 2.0), (3.0,), [2.0]),
    "two towers": (_two_towers, (0.0,), 2.0),
    "a tape that watches later": (_watched_later, (3.0,), 6.0),
    "a gradient is a value of its own": (_second, (3.0,), (19.0, 9.0)),
    "a rule's value is not the user's": (_of_a_rule, (0.5,), (1.0, None)),
    "constants": (_constants, (), 2.0),
    "items": (_items, (X,), (1.0, 2.0)),
    "views": (_views, (X,), 4.0),
    "copies": (_copies, (X,), (3.0, 6.0)),
    "in a loop": (_in_a_loop, (2.0,), 6.0),
    "in a branch": (_in_a_branch, (2.0,), 4.0),
    "after the tape": (_after_the_tape, (2.0,), (2.0, None)),
    "results of functions": (_functions, (2.0,), 4.0),
    "stop_gradient": (_stopped, (2.0,), 2.0),
    "nested gradients": (_nested_grads, (0.5,), (np.cos(0.5), -2 * np.cos(0.5) * np.sin(0.5))),
}


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("interpreted", [True, False])
def test_equal_values_are_not_one(name: str, interpreted: bool) -> None:
    f, args, expected = FOUND[name]
    with tracejit.config(disable_jit=interpreted):
        found = tracejit.jit(f)(*args)
    listed = isinstance(expected, (tuple, list))
    pairs = zip(found, expected, strict=True) if listed else [(found, expected)]
    for g, e in pairs:
        assert (g is None) == (e is None), (found, expected)
        if e is not None:
            assert_close(g, e)


def test_a_capture_without_tapes_shares_equal_values() -> None:
    def f(a: Any) -> Any:
        b, c = np.sin(a) * 2.0, np.sin(a) * 2.0
        return b + c

    ops = [e.op.name for e in tracejit.jit(f).trace(1.0).graph.eqns]
    assert ops == ["sin", "mul", "add"]


def test_names_are_gone_before_code_is_made_and_work_is_shared() -> None:
    def f(a: Any) -> Any:
        b, c = np.sin(a) * 2.0, np.sin(a) * 2.0
        return tracejit.gradients(b * c, [b])[0], b + c

    ops = [e.op.name for e in tracejit.jit(f).trace(1.0).graph.eqns]
    assert sorted(ops) == ["add", "mul", "sin"]


# --- tapes in tapes, in loops, on views -----------------------------------------------------------


def _second_order(x: Any) -> Any:
    with tracejit.GradientTape() as outer:
        outer.watch(x)
        with tracejit.GradientTape() as inner:
            inner.watch(x)
            b, c = x * x, x * x
            y = np.sum(b * c * np.sin(x))
        g = inner.gradient(y, x)
        z = np.sum(g * g)
    return outer.gradient(z, x)


def _inner_watches_later(x: Any) -> Any:
    with tracejit.GradientTape() as outer:
        outer.watch(x)
        b = x * 2.0
        outer.watch(b)
        with tracejit.GradientTape() as inner:
            inner.watch(b)
            c = x * 2.0
            y = np.sum(b * c * b)
        g = inner.gradient(y, b)
        z = np.sum(g * g)
    return outer.gradient(z, [x, b])


def _two_watch_one(x: Any) -> Any:
    with tracejit.GradientTape(persistent=True) as outer:
        b = x * 2.0
        outer.watch(b)
        first = np.sum(b * b)
        with tracejit.GradientTape() as inner:
            inner.watch(b)
            second = np.sum(b ** 3)
        g = inner.gradient(second, b)
        total = first + np.sum(g)
    return outer.gradient(first, b), outer.gradient(total, b)


def _two_watch_a_view(x: Any) -> Any:
    b = x[1:]
    with tracejit.GradientTape(persistent=True) as outer:
        outer.watch(b)
        first = np.sum(b * b)
        with tracejit.GradientTape() as inner:
            inner.watch(b)
            second = np.sum(b ** 3 * x[1:])
        total = first + second
    return outer.gradient(first, b), inner.gradient(second, b), outer.gradient(total, b)


def _tape_in_a_loop(x: Any) -> Any:
    total = 0.0 * x
    for i in range(3):
        with tracejit.GradientTape() as tape:
            tape.watch(x)
            b, c = x * 2.0, x * 2.0
            y = np.sum(b * c) * (i + 1)
        total = total + tape.gradient(y, x)
    return total


@pytest.mark.parametrize("f", [_second_order, _inner_watches_later, _two_watch_one,
                               _two_watch_a_view, _tape_in_a_loop], ids=lambda f: f.__name__)
@pytest.mark.parametrize("interpreted", [True, False])
def test_tapes_in_tapes_are_those_outside(f: Any, interpreted: bool) -> None:
    outside = f(tracejit.constant(A))
    with tracejit.config(disable_jit=interpreted):
        within = tracejit.jit(f)(A)
    listed = isinstance(outside, (tuple, list))
    for g, e in zip(within, outside, strict=True) if listed else [(within, outside)]:
        assert_close(g, np.asarray(e), 1e-9)


def test_a_watched_argument_is_written_to_only_where_the_program_writes() -> None:
    def only_read(x: Any) -> Any:
        with tracejit.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(x * x)
        return tape.gradient(y, x)

    def written(x: Any) -> Any:
        x[0] = 3.0
        return only_read(x)

    fixed = A.copy()
    fixed.flags.writeable = False
    np.testing.assert_array_equal(tracejit.jit(only_read)(fixed), 2.0 * A)
    changed = A.copy()
    found = tracejit.jit(written)(changed)
    np.testing.assert_array_equal(changed, [3.0, *A[1:]])
    np.testing.assert_array_equal(found, 2.0 * changed)


ONE_OF_THE_LISTS = [
    "max([a, b], key=len)", "min(h, key=len)", "next(iter(h))", "d.get(1)", "d.pop(2)", "h.pop()",
    "sorted(h, key=len)[0]", "[*h][0]", "d.setdefault(1, [])", "(lambda v: v)(a)", "list(h)[1]",
    "next(reversed(h))", "next(filter(None, h))", "list(d.values())[0]", "next(iter(d.values()))",
    "list(zip(h, h))[0][1]", "dict(d)[1]", "tuple(h)[0]", "h.copy()[0]", "h[0] or h[1]",
    "list(map(lambda v: v, h))[1]", "list(enumerate(h))[1][1]", "sum(h, [])", "list(reversed(a))",
    "h.__getitem__(0)", "a.__iadd__([1.0])", "a[:]", "a + b"]


@pytest.mark.parametrize("expression", ONE_OF_THE_LISTS)
def test_a_list_stays_the_very_list_where_values_have_names(expression: str,
                                                            tmp_path: Path) -> None:
    """A tape in a program gives its values names, and its lists are no copies for that."""
    text = ("def f(x):\n    g = slope(x[0] * 1.0)\n    a, b = [x[0], x[1]], [x[2]]\n"
            "    h, d = [a, b], {1: a, 2: b}\n"
            f"    m = {expression}\n    m.append(x[1] * 5.0)\n"
            "    return g + sum(a) + 2.0 * sum(b) + len(a) + sum(m)\n")
    (tmp_path / "named_lists.py").write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(tmp_path / "named_lists.py"), "exec"), names)

    def taped(u: Any) -> Any:
        with tracejit.GradientTape() as tape:
            tape.watch(u)
            y = u * u
        return tape.gradient(y, u)

    x = np.array([1.0, 2.0, 3.0])
    names["slope"] = lambda u: 2.0 * u
    expected = names["f"](x)
    names["slope"] = taped
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(names["f"])(x) == pytest.approx(expected)


def test_a_list_made_in_a_branch_beside_a_tape_is_captured_or_refused_at_once() -> None:
    def f(x: Any) -> Any:
        with tracejit.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(x * x)
        g = tape.gradient(y, x)
        h = [x, x * 0.7]
        if g[0] > 0.7:
            h = list(reversed(h))
            for k in range(len(x)):
                if x[k] > 1.0:
                    h.append(h[-1] * 0.7)
        return x[0]

    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(np.array([0.8, 1.5, 2.0])) == 0.8
