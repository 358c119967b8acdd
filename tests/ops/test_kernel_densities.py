"""Kernel densities and distances of samples: edges, second derivatives, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernel_cases import AT, KDE, OTHERS, PLANE, SHARES, U, V
from scipy import stats
from test_numpy_cases import assert_identical

import tracejit

kde = stats.gaussian_kde

SECOND: dict[str, tuple[Callable[..., Any], Any]] = {
    "data": (lambda d: np.sum(kde(d)(V) ** 2), U), "points": (lambda x: np.sum(KDE(x) ** 2), V),
    "logpdf": (lambda d: np.sum(kde(d).logpdf(AT)), PLANE),
    "box": (lambda d: kde(d).integrate_box_1d(-0.2, 0.7), U),
    "weights": (lambda w: np.sum(kde(U, weights=w)(V) ** 2), SHARES),
    "width": (lambda b: np.sum(kde(U, b[0])(V) ** 2), np.array([0.3])),
    "energy": (lambda u: stats.energy_distance(u, V), U),
    "weighted": (lambda w: stats.wasserstein_distance(U, V, w), SHARES)}


@pytest.mark.parametrize("name", SECOND)
def test_the_derivative_of_the_gradient_is_the_differences(name: str) -> None:
    fn, x = SECOND[name]
    direction = np.random.default_rng(5).standard_normal(x.shape)
    with tracejit.config(disable_jit=True):
        gradient = tracejit.grad(fn)
        found = tracejit.grad(lambda a: np.sum(gradient(a) * direction))(x)
        h = 1e-4
        near, far = ([gradient(x + k * h * direction) for k in pair] for pair in ((1, -1), (2, -2)))
    wanted = (8 * (near[0] - near[1]) - (far[0] - far[1])) / (12 * h)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


EDGES: list[tuple[Any, ...]] = [
    (stats.wasserstein_distance, np.array([1.0]), np.array([3.0])),
    (stats.wasserstein_distance, U, U), (stats.energy_distance, U, U),
    (stats.wasserstein_distance, np.zeros(4), np.zeros(3)),
    (stats.energy_distance, np.array([1, 2, 2]), np.array([2, 2, 5])),
    (stats.wasserstein_distance, U, V, np.eye(7)[2], OTHERS),
    (lambda d, x: kde(d)(x), np.array([1.0, 2.0]), np.array([1.5])),
    (lambda d, x: kde(d)(x), np.array([1, 2, 2]), np.array([50, 0])),
    (lambda d, x: kde(d).logpdf(x), U, np.array([1e3, -1e3])),
    (lambda d: kde(d).integrate_box_1d(-np.inf, np.inf), U),
    (lambda d, w, x: kde(d, weights=w)(x), U, np.arange(7.0), V)]


@pytest.mark.parametrize("case", EDGES, ids=range(len(EDGES)))
def test_at_edges_values_are_scipys(case: tuple[Any, ...]) -> None:
    fn, *args = case
    with tracejit.config(disable_jit=True):
        assert_identical(tracejit.jit(lambda *xs: fn(*xs))(*args), fn(*args))


@pytest.mark.parametrize(("fn", "x"), [
    (lambda d: kde(d)(V), U[:1]), (lambda d: kde(d)(V), np.ones((3, 2))),
    (lambda d: kde(d)(V), np.ones(4)), (lambda d: kde(d)(V), PLANE),
    (lambda d: kde(d, "no")(V), U), (lambda d: kde(d, weights=OTHERS)(V), U),
    (lambda d: kde(d).integrate_box_1d(0.0, 1.0), PLANE),
    (lambda w: stats.wasserstein_distance(U, V, w), -SHARES),
    (lambda w: stats.energy_distance(U, V, w), 0.0 * SHARES),
    (lambda w: stats.energy_distance(U, V, w), OTHERS)])
def test_errors_are_scipys(fn: Any, x: Any) -> None:
    with pytest.raises((ValueError, np.linalg.LinAlgError)) as theirs:
        fn(x)
    with (tracejit.config(disable_jit=True),
          pytest.raises((ValueError, np.linalg.LinAlgError)) as ours):
        tracejit.jit(lambda a: fn(a))(x)
    assert type(ours.value) is type(theirs.value)


@pytest.mark.parametrize(("fn", "x", "words"), [
    (lambda d: kde(d, lambda k: 0.5)(V), U, "bw_method="),
    (lambda d: kde(d).resample(3), U, "`resample`"), (lambda d: kde(d).factor, U, "`factor`"),
    (lambda d: kde(d)(V), U + 1j, "complex"),
    (lambda u: stats.wasserstein_distance(u, V), PLANE, "several axes")])
def test_what_is_not_supported_is_refused_by_name(fn: Any, x: Any, words: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match=words):
        tracejit.jit(lambda a: fn(a))(x)


def test_a_compiled_density_is_scipys() -> None:
    found = tracejit.jit(lambda d, x: kde(d)(x) + kde(d).logpdf(x))(PLANE, AT)
    assert_identical(found, kde(PLANE)(AT) + kde(PLANE).logpdf(AT))
    assert_identical(tracejit.jit(lambda u: stats.energy_distance(u, V))(U),
                     stats.energy_distance(U, V))


def test_a_density_from_outside_that_changes_is_read_anew() -> None:
    own = kde(U)

    def density(x: Any) -> Any:
        return own(x)

    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(density)
        assert_identical(compiled(V), own(V))
        own.set_bandwidth(0.7)
        assert_identical(compiled(V), own(V))
