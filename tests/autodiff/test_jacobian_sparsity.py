"""`jacobian_sparsity` misses no element of any Jacobian, and finds the least pattern of the usual.
"""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np
import pytest
from random_programs import Writer
from random_words import M, N
from scipy import integrate, optimize, sparse

import tracejit
from tracejit.autodiff.input_sets import InputSets

# --- known patterns -----------------------------------------------------------------------------


def sides(x: Any) -> Any:
    return x[1:] * x[:-1]


def by_elements(x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        out[i] = x[i - 1] * x[i] + x[i + 1] ** 2
    return out


def at_places(x: Any, places: Any) -> Any:
    return x[places] ** 2


def added_at_places(x: Any, places: Any) -> Any:
    y = np.zeros(len(x))
    np.add.at(y, places, np.sin(x[:len(places)]))
    return y


def either(x: Any) -> Any:
    return x[0] * x[1] if x[2] > 0.0 else x[1] * x[3]


def until(x: Any) -> Any:
    y = x.copy()
    while y[0] > 1e-3:
        y[1:] += 0.1 * y[:-1]
        y[0] *= 0.5
    return y


def until_large(x: Any) -> Any:
    y = x.copy()
    for i in range(len(x) - 1):
        if y[i] > 1.0:
            break
        y[i + 1] *= x[i]
    return y


def refined(x: Any) -> Any:
    y = np.ones(len(x))
    for _ in range(50):
        step = (y * y - x) / (2.0 * y)
        y = y - step
        if np.max(np.abs(step)) < 1e-9:
            break
    return y


def counted(x: Any) -> Any:
    y, k = x.copy(), 0
    while np.sum(y) > 0.1:
        y, k = 0.5 * y, k + 1
    return y * k


def overwritten(x: Any) -> Any:
    y, k = x[0], 0
    while y > 0.0 and k < 2:
        k += 1
        y = x[k]
    return y


def by_steps(x: Any) -> Any:
    y, k = x.copy(), 0
    while np.sum(y) > 0.0:
        y[k % 3] -= 1.0
        k += 1
    return y


def gathered(x: Any) -> Any:
    items, k = [], 0
    while k < 3 and x[k] > -1e3:
        items.append(x[k] * x[-1])
        k += 1
    return sum(items) * np.ones(1)


def largest(x: Any) -> Any:
    return x[np.argmax(x)] * np.ones(2)


def written_somewhere(x: Any) -> Any:
    y = x.copy()
    y[int(abs(x[0]))] = x[1]
    return y


def half(x: Any) -> Any:
    return x[:int(len(x) / 2)] * x[-1]


def by_rows(x: Any) -> Any:
    return tracejit.vmap(lambda row: row[0] * np.cumsum(row))(x.reshape(2, 2)).ravel()


def rooted(x: Any) -> Any:
    return x * np.floor(x[0]) + tracejit.stop_gradient(x[1]) * np.sign(x)


def into_lists(x: Any) -> Any:
    items = []
    for i in range(len(x)):
        items.append(x[i] * x[-1 - i])
    return np.array(items)


def band(n: int, *offsets: int) -> np.ndarray:
    return sum(np.eye(n, k=k, dtype=bool) for k in offsets)  # type: ignore[no-any-return]


def inner(n: int) -> np.ndarray:
    found = band(n, -1, 0, 1)
    found[[0, -1]] = False
    return found


KNOWN = [
    (sides, 5, (), band(5, 0, 1)[:4]),
    (by_elements, 6, (), inner(6)),
    (at_places, 4, ([2, -1, 2],), np.eye(4, dtype=bool)[[2, 3, 2]]),
    (added_at_places, 3, ([1, 1, 0],), np.array(
        [[0, 0, 1], [1, 1, 0], [0, 0, 0]], bool)),
    (either, 4, (), np.array([[1, 1, 0, 1]], bool)),
    (until, 4, (), np.tri(4, dtype=bool)),
    (until_large, 4, (), band(4, -1, 0)),
    (refined, 3, (), np.eye(3, dtype=bool)),
    (counted, 3, (), np.eye(3, dtype=bool)),
    (overwritten, 4, (), np.array([[1, 1, 1, 0]], bool)),
    (gathered, 5, (), np.array([[1, 1, 1, 0, 1]], bool)),
    (largest, 3, (), np.ones((2, 3), bool)),
    (written_somewhere, 3, (), np.array([[1, 1, 0], [0, 1, 0], [0, 1, 1]], bool)),
    (lambda x: np.linalg.solve(np.diag(x[:2]), x[2:4]), 5, (),
     np.repeat([[1, 1, 1, 1, 0]], 2, 0) > 0),
    (lambda x: np.fft.rfft(x[1:]).real, 3, (), np.repeat([[0, 1, 1]], 2, 0) > 0),
    (half, 4, (), np.array([[1, 0, 0, 1], [0, 1, 0, 1]], bool)),
    (by_rows, 4, (), np.kron(np.eye(2), np.tri(2)).astype(bool)),
    (rooted, 3, (), np.eye(3, dtype=bool)),
    (into_lists, 4, (), (np.eye(4) + np.eye(4)[::-1]).astype(bool)),
    (lambda x: np.sum(x), 3, (), np.ones((1, 3), bool)),
    (lambda x: np.tril(np.outer(x, np.ones(2))).ravel(), 2, (),
     np.array([[1, 0], [0, 0], [0, 1], [0, 1]], bool)),
    (lambda x: np.where(np.arange(3) < 1, x[0], x), 3, (), np.eye(3, dtype=bool)),
    (lambda x: x[:0], 3, (), np.zeros((0, 3), bool)),
    (lambda x: 2.0 * x, 0, (), np.zeros((0, 0), bool)),
    (lambda x: 1.0 * x, 1, (), np.ones((1, 1), bool)),
    (lambda x: np.ones(2), 3, (), np.zeros((2, 3), bool)),
    (lambda x: x.reshape(2, 2) @ np.array([1.0, 0.0]), 4, (), np.kron(np.eye(2), [1, 1]) > 0),
]


@pytest.mark.parametrize(("function", "size", "args", "pattern"), KNOWN)
def test_patterns_are_those_of_the_text(function: Any, size: int, args: Any, pattern: Any) -> None:
    found = tracejit.jacobian_sparsity(function, np.ones(size), *map(np.array, args))
    assert isinstance(found, sparse.coo_array) and found.dtype == bool
    assert found.shape == pattern.shape
    np.testing.assert_array_equal(found.toarray(), pattern)


def test_numbers_do_not_come_into_it() -> None:
    for x in (np.zeros(6), np.full(6, np.nan), np.full(6, -np.inf)):
        np.testing.assert_array_equal(tracejit.jacobian_sparsity(by_elements, x).toarray(),
                                      inner(6))


def test_other_arguments_other_dtypes_and_scalars() -> None:
    found = tracejit.jacobian_sparsity(lambda t, y: t * y[::-1], 2.0, np.ones((2, 2), np.float32),
                                       argnums=1)
    np.testing.assert_array_equal(found.toarray(), np.kron(np.eye(2)[::-1], np.eye(2)) > 0)
    assert tracejit.jacobian_sparsity(lambda t, y: t * y, 2.0, np.ones(3)).shape == (3, 1)
    assert tracejit.jacobian_sparsity(np.sin, 2.0).toarray().tolist() == [[True]]
    hessian = tracejit.jacobian_sparsity(tracejit.grad(lambda x: np.sum(sides(x) ** 2)), np.ones(4))
    np.testing.assert_array_equal(hessian.toarray(), band(4, -1, 0, 1))


def test_sets_of_many_inputs_are_the_same() -> None:
    n = 5000  # more than have a bit each
    found = tracejit.jacobian_sparsity(lambda x: sides(x) + x[0], np.ones(n)).tocsr()
    expected = sparse.diags_array([1.0, 1.0], offsets=[0, 1], shape=(n - 1, n)).tolil()
    expected[:, 0] = 1.0
    assert (found != (expected.tocsr() != 0)).nnz == 0


def test_the_line_that_makes_rows_dense_is_named() -> None:
    def mean_free(x: Any) -> Any:
        y = x * 2.0
        return y - np.sum(y)

    line = mean_free.__code__.co_firstlineno + 2
    why = tracejit.jacobian_sparsity(mean_free, np.ones(3)).why()
    assert f"test_jacobian_sparsity.py:{line}: reduce_sum: an element of its result depends on " \
           "all inputs" in why
    assert "data decides" in tracejit.jacobian_sparsity(largest, np.ones(3)).why()
    assert "taken together" in tracejit.jacobian_sparsity(by_steps, np.ones(3)).why()
    assert tracejit.jacobian_sparsity(sides, np.ones(3)).why() == "no line makes a row dense"


def test_a_function_with_a_gradient_of_its_own_has_the_pattern_of_that() -> None:
    @tracejit.custom_gradient
    def rounded(x: Any) -> Any:
        return np.round(x), lambda ct: ct[::-1]  # a pullback that the value does not tell

    found = tracejit.jacobian_sparsity(lambda x: 2.0 * rounded(x), np.ones(3))
    np.testing.assert_array_equal(found.toarray(), np.eye(3, dtype=bool)[::-1])


def test_what_has_no_pattern_is_an_error() -> None:
    with pytest.raises(TypeError, match="returns a nest"):
        tracejit.jacobian_sparsity(lambda x: (x, x), np.ones(2))
    with pytest.raises(TypeError, match=r"x\.astype\(float\)"):
        tracejit.jacobian_sparsity(np.sin, np.arange(3))
    with pytest.raises(TypeError, match="not a list"):
        tracejit.jacobian_sparsity(sides, [1.0, 2.0])
    with pytest.raises(TypeError, match="data decides how many elements"):
        tracejit.jacobian_sparsity(lambda x: x[x > 0.0], np.ones(2))
    with pytest.raises(TypeError, match="argnums is its position"):
        tracejit.jacobian_sparsity(sides, np.ones(2), argnums="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="there are 1"):
        tracejit.jacobian_sparsity(sides, np.ones(2), argnums=1)


# --- random programs ----------------------------------------------------------------------------


class Vectors(Writer):
    """Writes programs that return the elements of all their arrays, side by side."""

    def result(self) -> str:
        """Return them as one array."""
        parts = [f"np.ravel({name})" for name in self.scope.names if name not in ("a", "y")]
        parts += [f"np.ravel(sum({name}))" for name, items in self.scope.lists.items()
                  if not items.type]
        return f"np.concatenate([{', '.join(parts)}])"


def program_of(seed: int) -> Any:
    source = Vectors(random.Random(seed).randrange, 24, (N, M)).program()
    file = f"<program of elements {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names: dict[str, Any] = {"np": np, "__name__": "program"}
    exec(compile(source, file, "exec"), names)
    return names["f"]


def arguments(seed: int, n: int) -> Any:
    rng = np.random.default_rng(seed)
    return 2.0 * rng.normal(size=n), 2.0 * rng.normal(size=(n, 3)), 2.0 * rng.normal(), n


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.filterwarnings("ignore")
def test_no_element_of_a_random_programs_jacobian_is_missed(seed: int) -> None:
    f = program_of(seed)
    for argnum in (0, 1):
        with tracejit.config(disable_jit=True):  # the interpreter: nothing is compiled
            try:
                pattern = tracejit.jacobian_sparsity(f, *arguments(seed, 4), argnums=argnum)
            except (tracejit.Refusal, TypeError):  # a size that data decides, for one
                return
            for k in range(3):
                try:
                    dense = tracejit.jacfwd(f, argnum)(*arguments(seed + k, 4))
                except (ArithmeticError, ValueError, IndexError, tracejit.Refusal):
                    continue  # a program may raise at some points
                dense = np.reshape(dense, pattern.shape)
                assert not ((dense != 0.0) & ~pattern.toarray()).any()


# --- sets of inputs -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [7, 5000])
def test_unions_are_pythons(count: int) -> None:
    sets, rng = InputSets(count), np.random.default_rng(count)
    members = [set(rng.integers(0, count, size=3).tolist()) for _ in range(20)]
    singles = sets.singles()
    numbers = np.array([sets.union_of(singles[sorted(m)]) for m in members])
    left, right = numbers[:10], numbers[10:]
    for k, number in enumerate(sets.union(left, right)):  # type: ignore[arg-type]
        assert set(sets.members(int(number)).tolist()) == members[k] | members[10 + k]
    rows = sets.folded(numbers.reshape(4, 5), [1])
    for k, number in enumerate(rows):  # type: ignore[arg-type]
        assert set(sets.members(int(number)).tolist()) == set().union(*members[5 * k:5 * k + 5])
    running = sets.running(numbers, 0, backwards=True)
    assert set(sets.members(int(running[15])).tolist()) == set().union(*members[15:])
    everything = sets.union_of(singles)
    assert sets.joined(everything, int(numbers[0])) == everything


def test_without_memory_sets_grow_to_all_inputs() -> None:
    sets = InputSets(4)
    singles = sets.singles()
    sets.left = -1
    assert sets.members(sets.joined(*singles[:2].tolist())).tolist() == [0, 1, 2, 3]
    assert sets.is_full


def test_a_pattern_of_too_many_elements_is_an_error() -> None:
    with pytest.raises(MemoryError, match="reduce_sum: an element of its result depends on all"):
        tracejit.jacobian_sparsity(lambda x: x - np.sum(x), np.ones(20_000))


# --- SciPy takes them ---------------------------------------------------------------------------


def heat(t: Any, y: Any) -> Any:
    inside = np.concatenate([y[:1], y, y[-1:]])
    return 50.0 * (inside[2:] - 2.0 * y + inside[:-2]) - y ** 3


def test_solve_ivp_takes_a_pattern() -> None:
    y = np.sin(np.linspace(0.0, 3.0, 12))
    pattern = tracejit.jacobian_sparsity(heat, 0.0, y, argnums=1)
    found = integrate.solve_ivp(heat, (0.0, 0.1), y, method="BDF", jac_sparsity=pattern)
    expected = integrate.solve_ivp(heat, (0.0, 0.1), y, method="BDF")
    np.testing.assert_allclose(found.y[:, -1], expected.y[:, -1], rtol=1e-2, atol=1e-4)


def test_least_squares_takes_a_pattern() -> None:
    def residuals(x: Any) -> Any:
        return np.concatenate([10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]])

    x = np.zeros(6)
    found = optimize.least_squares(residuals, x,
                                   jac_sparsity=tracejit.jacobian_sparsity(residuals, x))
    np.testing.assert_allclose(found.x, np.ones(6), atol=1e-4)
