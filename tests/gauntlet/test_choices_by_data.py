"""Things of which data decides which they are: None or a tuple, functions, objects, strings.

Programs are generated of alternatives, of the place that holds them and of their uses; Python and
central differences are the oracles.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import outcome

import tracejit

Program = Callable[..., Any]


class Elastic:
    def __init__(self, modulus: float) -> None:
        self.modulus = modulus

    def stress(self, strain: Any) -> Any:
        return self.modulus * strain


class Plastic:
    def __init__(self, modulus: float, limit: float) -> None:
        self.modulus, self.limit = modulus, limit

    def stress(self, strain: Any) -> Any:
        if strain < self.limit / self.modulus:
            return self.modulus * strain
        return self.limit + 0.1 * (self.modulus * strain - self.limit)


SOFT, HARD = Elastic(2.0), Plastic(3.0, 0.5)

ALTERNATIVES = {
    "None/number": ("None", "x * 2.0", "{} is not None", "{} * x"),
    "number/None": ("x", "None", "{} is not None", "{} * x"),
    "None/tuple": ("None", "(x, 3.0 * x)", "{} is not None", "{}[0] * {}[1]"),
    "None/array": ("None", "x * np.arange(3.0)", "{} is not None", "({} ** 2).sum()"),
    "two functions": ("np.sin", "np.exp", "{} is np.exp", "{}(x)"),
    "own functions": ("(lambda z: z * x)", "(lambda z: z + x * x)", "callable({})", "{}(x)"),
    "None/object": ("None", "HARD", "{} is not None", "{}.stress(x)"),
    "two classes": ("SOFT", "HARD", "isinstance({}, Plastic)", "{}.stress(x)"),
    "two strings": ("'a'", "'b'", "{} == 'b'", "x * (2.0 if {} == 'a' else x)"),
    "two ranks": ("x * np.ones(2)", "x * np.ones((2, 2))", "{}.ndim == 2", "np.sum({} ** 2)"),
    "two lengths": ("(x,)", "(x, 2.0 * x)", "len({}) == 2", "{}[-1] * x"),
}
PLACES = {
    "if": ("""
    v = {a}
    if x > 1.0:
        v = {b}
""", "v"),
    "else": ("""
    if x > 2.0:
        v = {a}
    elif x > 1.0:
        v = {b}
    else:
        v = {a}
""", "v"),
    "expression": ("""
    v = {b} if x > 1.0 else {a}
""", "v"),
    "loop": ("""
    v = {a}
    for k in range(len(p)):
        if p[k] * x > 1.0:
            v = {b}
""", "v"),
    "while": ("""
    v, y = {a}, x
    while y < 2.0:
        if y > 1.0:
            v = {b}
        y = y + 0.37
""", "v"),
    "return": ("""
    def found(x):
        if x > 1.0:
            return {b}
        return {a}
    v = found(x)
""", "v"),
    "return in a loop": ("""
    def found(x):
        for k in range(len(p)):
            if p[k] * x > 1.0:
                return {b}
        return {a}
    v = found(x)
""", "v"),
    "item": ("""
    w = [{a}, 1.0]
    if x > 1.0:
        w[0] = {b}
""", "w[0]"),
    "key": ("""
    w = {{'v': {a}}}
    if x > 1.0:
        w['v'] = {b}
""", "w['v']"),
    "attribute": ("""
    w = Elastic({a})
    if x > 1.0:
        w.modulus = {b}
""", "w.modulus"),
}
USES = {
    "asked": """
    return x * x if {test} else 3.0 * x
""",
    "used after a check": """
    if {test}:
        return {use}
    return x
""",
    "used within and": """
    if x > 0.2 and {test} and {use} > 0.3:
        return {use} * 2.0
    return x * x
""",
    "used without a check": """
    return {use} + x
""",
    "asserted": """
    assert {test}, "it is the other"
    return {use}
""",
    "handed on": """
    def used(u):
        return {handed}
    if not {test}:
        return 5.0 * x
    return used({held}) + x
""",
}
POINTS = (0.31, 1.27, 2.43)
P = np.array([0.2, 0.9, 0.45])


def _program(source: str, name: str) -> Program:
    """Make a function of a text that has lines."""
    file = f"<choice {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np, "Elastic": Elastic, "Plastic": Plastic, "SOFT": SOFT,
                             "HARD": HARD, "__name__": __name__}
    exec(compile(source, file, "exec", dont_inherit=True), names)
    made: Program = names["f"]
    return made


def _generated() -> dict[str, str]:
    found = {}
    for kind, (a, b, test, use) in ALTERNATIVES.items():
        for place, (text, held) in PLACES.items():
            for what, end in USES.items():
                body = text.format(a=a, b=b) + end.format(
                    test=test.replace("{}", held), use=use.replace("{}", held), held=held,
                    handed=use.replace("{}", "u"))
                found[f"{kind}, {place}, {what}"] = "def f(x, p):" + body
    return found


GENERATED = _generated()


def _outcome(fn: Program, *args: Any) -> Any:
    try:
        return fn(*args)
    except (TypeError, AttributeError, AssertionError, IndexError) as e:
        return e


def _compare(f: Program, x: float, p: Any) -> None:
    """Compare value, derivatives in both modes and errors with Python's."""
    expected = _outcome(f, x, p)
    found = _outcome(tracejit.value_and_grad(f), x, p)
    if isinstance(expected, Exception):
        assert type(found) is type(expected), found
        return
    if isinstance(found, Exception):
        raise found
    h = 1e-6
    slope = (f(x + h, p) - f(x - h, p)) / (2 * h)
    assert found[0] == pytest.approx(expected, rel=1e-12)
    assert found[1] == pytest.approx(slope, rel=1e-5, abs=1e-6)
    tangent = tracejit.jvp(lambda y: f(y, p), (x,), (1.0,))[1]
    assert tangent == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", GENERATED)
def test_what_data_decides_is_what_python_has(name: str) -> None:
    f = _program(GENERATED[name], name)
    with tracejit.config(disable_jit=True):
        for x in POINTS:
            _compare(f, x, P)


SAMPLE = [name for k, name in enumerate(GENERATED) if k % 41 == 0]


@pytest.mark.parametrize("name", SAMPLE)
def test_compiled(name: str) -> None:
    f = _program(GENERATED[name], name + ", compiled")
    for x in POINTS:
        _compare(f, x, P)


# --- programs -------------------------------------------------------------------------------------


def nearest_sphere(p: Any) -> Any:
    hit = None
    for k in range(p.shape[0]):
        b = p[k] - 3.0
        disc = b * b - (b * b + 0.01 - 0.49)
        t = None
        if disc > 0:
            t = -b - np.sqrt(disc) * p[k]
        if t is not None and (hit is None or t < hit[0]):
            hit = (t, k)
    if hit is None:
        return 0.0 * p[0]
    return hit[0] * (1.0 + hit[1])


def nearest_neighbour(p: Any) -> Any:
    best, found = None, None
    for i in range(len(p)):
        d = (p[i] - 0.4) ** 2
        if best is None or d < best:
            best, found = d, i
    return best * p[found]


def tree_lookup(p: Any) -> Any:
    left, right = np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1])

    def lookup(key: float) -> Any:
        node = 0
        while node >= 0:
            if abs(p[node] - key) < 0.1:
                return p[node] * 2.0
            node = left[node] if key < p[node] else right[node]
        return None

    found = lookup(0.45)
    return p[0] if found is None else found


def event_location(p: Any) -> Any:
    t, y, t_event = 0.0, p[0], None
    while t < 5.0:
        new = y + 0.1 * (p[1] - y)
        if t_event is None and new > 0.5:
            t_event = t + 0.1 * (0.5 - y) / (new - y)
        t, y = t + 0.1, new
    return y if t_event is None else t_event


def unguarded_event(p: Any) -> Any:
    t, y, t_event = 0.0, p[0], None
    while t_event is None and t < 5.0:
        new = y + 0.1 * (p[1] - y)
        if new > 0.5:
            t_event = t + 0.1 * (0.5 - y) / (new - y)
        t, y = t + 0.1, new
    return t_event + y


def activation_by_data(p: Any) -> Any:
    table = (np.tanh, np.exp, lambda z: z * z)
    s = 0.0
    for i in range(len(p)):
        k = 0
        if p[i] > 0.3:
            k = 1
        if p[i] > 0.6:
            k = -1
        s += table[k](p[i])
    return s


def piecewise_material(p: Any) -> Any:
    total = 0.0
    for i in range(len(p)):
        material = SOFT if p[i] < 0.3 else HARD
        total += material.stress(p[i]) * p[i]
        if isinstance(material, Plastic):
            total += material.limit
    return total


def machine_of_states(p: Any) -> Any:
    mode, s = "idle", 0.0
    for i in range(len(p)):
        if mode == "idle":
            s += p[i]
            mode = "run" if s > 0.5 else mode
        elif mode == "run":
            s += p[i] ** 2
            mode = "done" if s > 1.5 else mode
    return s


def differences(p: Any) -> Any:
    last, s = None, 0.0
    for i in range(len(p)):
        if last is not None:
            s += (p[i] - last) ** 2
        last = p[i]
    return s * last


def best_array(p: Any) -> Any:
    best, least = None, 1e9
    for i in range(len(p)):
        v = np.sin(p) * p[i]
        if v.sum() < least:
            least, best = v.sum(), v
    return least if best is None else (best ** 2).sum()


class Asked:
    """An object that counts how often its truth or its equality was asked."""

    def __init__(self) -> None:
        self.count = 0.0

    def __eq__(self, other: object) -> bool:
        self.count = self.count + 1.0
        return True

    def __bool__(self) -> bool:
        self.count = self.count + 10.0
        return True

    __hash__ = None  # type: ignore[assignment]


def questions_that_are_counted(p: Any) -> Any:
    a, b = Asked(), Asked()
    one, t = (a if p[0] > 0.3 else b), p[0]
    if one == 3:
        t = 2.0 * t
    if not one:
        t = 7.0 * t
    return t + 100.0 * a.count + b.count


def chosen_within_what_is_chosen(p: Any) -> Any:
    h, seen, t = None, None, 0.0
    for v in p:
        if v > 0.6:
            h = (seen, v)
        elif v > 0.5:
            h = np.cos
        else:
            seen = (v,) if v > 0.3 else None
        for u in p:
            if isinstance(h, tuple) and h[0] is not None:
                t = t + h[0][0] * h[1] * u
    return t + p[0]


def read_of_a_function(p: Any) -> Any:
    h: Any = None
    if p[0] > 0.8:
        h = np.cos
    return p[0] if h is None else h[0] * 2.0


def second_of_one(p: Any) -> Any:
    h: Any = None
    for v in p:
        if h is not None:
            p = p + h[1] * 0.5
        if v > 0.8:
            h = (v,)
    return (p ** 2).sum()


PROGRAMS = (nearest_sphere, nearest_neighbour, tree_lookup, event_location, unguarded_event,
            activation_by_data, piecewise_material, machine_of_states, differences, best_array,
            questions_that_are_counted, chosen_within_what_is_chosen, read_of_a_function,
            second_of_one)
ARRAYS = [np.array([0.31, 0.7, 0.1, 0.53, 0.62]), np.array([0.9, 0.2, 0.35, -0.4, 0.82]),
          np.array([0.01, 0.03, 0.022, 0.0451, 0.051]), np.array([0.4, 1.2, -1.1])]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("compiled", [False, True])
def test_programs_as_they_are(f: Program, compiled: bool) -> None:
    g = tracejit.value_and_grad(f)
    with tracejit.config(disable_jit=not compiled):
        for p in ARRAYS:
            expected = _outcome(f, p)
            if isinstance(expected, Exception):
                assert type(_outcome(g, p)) is type(expected)
                continue
            value, slope = g(p)
            numeric = [(f(p + 1e-6 * e) - f(p - 1e-6 * e)) / 2e-6 for e in np.eye(len(p))]
            assert value == pytest.approx(expected, rel=1e-12)
            assert slope == pytest.approx(np.array(numeric), rel=1e-4, abs=1e-5)


def test_what_is_returned_is_of_one_kind() -> None:
    def f(x: Any) -> Any:
        if x > 1.0:
            return x
        return None

    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal) as caught:
        tracejit.grad(f)(2.0)
    assert "is a number or None, depending on data since " in str(caught.value)
    assert "and is returned: what is returned must be of one kind" in str(caught.value)


def test_a_key_that_data_chooses_is_deleted_in_a_branch_for_each() -> None:
    def f(x: Any) -> Any:
        found = {"a": x, "b": 2.0 * x}
        name = "a" if x > 1.0 else "b"
        del found[name]
        return sum(found.values())

    with tracejit.config(disable_jit=True):
        assert (tracejit.grad(f)(2.0), tracejit.grad(f)(0.5)) == (2.0, 1.0)


def test_an_array_is_not_indexed_by_none() -> None:
    def f(p: Any) -> Any:
        found = None
        for i in range(len(p)):
            if p[i] > 0.5:
                found = i
        return 2.0 * p[found]

    with tracejit.config(disable_jit=True):
        g = tracejit.value_and_grad(f)
        assert g(ARRAYS[0])[0] == 2.0 * ARRAYS[0][4]
        with pytest.raises(TypeError, match="the index of an array is None, depending on data"):
            g(ARRAYS[2])


@pytest.mark.parametrize("f", [piecewise_material, differences, nearest_sphere])
def test_batches(f: Program) -> None:
    with tracejit.config(disable_jit=True):
        batch = np.array(ARRAYS[:3])
        assert np.allclose(tracejit.vmap(f)(batch), [f(p) for p in batch], rtol=1e-12)


# --- tables ---------------------------------------------------------------------------------------

SHAPES: dict[int, Any] = {0: np.sin, 1: np.cos, 2: np.tanh}


def by_a_table_of_the_module(x):
    total = 0.0
    for v in x:
        total += SHAPES[int(v * 10) % 3](v) * 2.0
    return total


def by_a_table_of_local_functions(x):
    def halved(v):
        return v * 0.5

    table = {-1: halved, 1: lambda v: v * v * x[0]}
    return sum(table[-1 if v < 0.4 else 1](v) for v in x)


def by_a_table_of_texts(x):
    kinds, total = {0: "square", 1: "line", 7: "none"}, 0.0
    for v in x:
        total += v * v if kinds[int(v * 10) % 2] == "square" else -v
    return total


TABLES = (by_a_table_of_the_module, by_a_table_of_local_functions, by_a_table_of_texts)
POINT = np.array([0.31, 0.72, 0.153, 0.93])


@pytest.mark.parametrize("f", TABLES)
def test_a_dict_is_a_table_of_functions(f: Program) -> None:
    with tracejit.config(disable_jit=True):
        value, slope = tracejit.value_and_grad(f)(POINT)
    np.testing.assert_allclose(value, f(POINT))
    steps = 1e-6 * np.eye(POINT.size)
    np.testing.assert_allclose(slope, [(f(POINT + h) - f(POINT - h)) / 2e-6 for h in steps],
                               rtol=1e-6, atol=1e-8)


def test_a_table_of_functions_is_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    with tracejit.config(disable_jit=True):
        traced = tracejit.jit(by_a_table_of_the_module)
        traced(POINT)
        monkeypatch.setitem(SHAPES, 0, np.exp)
        np.testing.assert_allclose(traced(POINT), by_a_table_of_the_module(POINT))
        monkeypatch.setitem(SHAPES, 3, np.exp)
        np.testing.assert_allclose(traced(POINT), by_a_table_of_the_module(POINT))


@pytest.mark.parametrize("compiled", [False, True])
def test_a_key_that_is_not_in_the_table_raises(compiled: bool) -> None:
    def f(x):
        return {0: np.sin, 2: np.cos}[int(x[0] * 10)](x[1])

    with tracejit.config(disable_jit=not compiled):
        assert tracejit.jit(f)(np.array([0.25, 1.0])) == np.cos(1.0)
        with pytest.raises(KeyError):
            tracejit.jit(f)(np.array([0.15, 1.0]))


def swapped_tuples(x):
    items = [(x[0], 1.0), (x[1], 2.0), (x[2], 3.0)]
    a, b = items[int(x[3])], items[int(x[4])]
    if x[5] > 0.5:
        a, b = b, a
    return a[0] * 10 + a[1] + 100 * b[0] + 1000 * b[1]


def the_best_of_some_tuples(x):
    items = [(x[0], 1.0), (x[1], 2.0), (x[2], 3.0)]
    best = items[0]
    for v in x[3:]:
        a = items[int(2 * v) % 3]
        if a[0] * x[5] < best[0] * x[4]:
            best = a
    return best[0] * 10 + best[1]


def arrays_or_none(x):
    items = [x[:2], x[1:3] * 2, None]
    a, b = items[int(x[3])], items[int(x[4])]
    if x[5] > 0.5:
        a, b = b, a
    return (0.5 if a is None else np.sum(a)) + (0.25 if b is None else 10 * np.sum(b))


@pytest.mark.parametrize("f", [swapped_tuples, the_best_of_some_tuples, arrays_or_none])
def test_items_of_one_kind_are_told_apart(f: Program) -> None:
    """Which of some tuples that are alike a name has is merged by its numbers."""
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(f)
        for i in range(3):
            for k in range(3):
                for last in (0.0, 1.0):
                    x = np.array([0.3, 0.2, 0.7, i, k, last])
                    np.testing.assert_allclose(compiled(x), f(x), rtol=1e-13)


class HasDefault:
    own = None

    def __init__(self, v):
        self.v = v


def test_none_of_a_class_is_a_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    """An attribute that is None in the class is there, even if an object sets its own."""
    def f(x):
        a, b = HasDefault(x[0]), HasDefault(x[1])
        a.own = x[1]
        return a.own * a.v + (b.v if b.own is None else b.own)

    x = np.array([1.5, 2.5])
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(f)
        assert compiled(x) == f(x)
        monkeypatch.setattr(HasDefault, "own", 4.0)
        assert compiled(x) == f(x)
        monkeypatch.delattr(HasDefault, "own")
        assert isinstance(outcome(compiled, x), AttributeError)
