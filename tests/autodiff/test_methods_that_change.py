"""Derivatives of methods, partials and objects are those of what these hold at each call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

X = np.arange(1.0, 4.0)


class Model:
    """A model whose parameters change between calls."""

    def __init__(self) -> None:
        self.place, self.factor, self.weights = 0, 2.0, np.ones(3)

    def __call__(self, x):
        return self.factor * self.weights * x * x[self.place]

    def value(self, x):
        return np.sum(self(x) * x)


def called(model, x):
    return model(x)


def value_of(model, x):
    return np.sum(model(x) * x)


def jacobian_of(model: Model) -> np.ndarray:
    """Return the Jacobian of a call, by hand."""
    found = np.diag(model.factor * model.weights * X[model.place])
    found[:, model.place] += model.factor * model.weights * X
    return found


def hessian_of(model: Model) -> np.ndarray:
    """Return the Hessian of the value c_i x_i^2 x_p, by hand."""
    c, p = model.factor * model.weights, model.place
    found = np.diag(2.0 * c * X[p])
    found[p] += 2.0 * c * X
    found[:, p] += 2.0 * c * X
    return found


def _dense(f: Callable[..., Any], **settings: str) -> Callable[[], Any]:
    made = tracejit.sparse_jacobian(f, **settings)
    return lambda: made(X).toarray()


def _normal(f: Callable[..., Any]) -> Callable[[], Any]:
    made = tracejit.gauss_newton(f)
    return lambda: made(X) @ np.eye(3)


def _both(f: Callable[..., Any]) -> Callable[[], Any]:
    made = tracejit.value_and_jacobian(f)
    return lambda: made(X)[1]


def _products(f: Callable[..., Any]) -> Callable[[], Any]:
    made = tracejit.hessp(f)
    return lambda: np.stack([made(X, row) for row in np.eye(3)])


def _sparse(f: Callable[..., Any]) -> Callable[[], Any]:
    made = tracejit.sparse_hessian(f)
    return lambda: made(X).toarray()


OF_VECTORS = {"columns": functools.partial(_dense, mode="fwd"),
              "rows": functools.partial(_dense, mode="rev"), "normal": _normal, "both": _both}
OF_NUMBERS = {"hessp": _products, "sparse_hessian": _sparse}


@pytest.mark.parametrize("kind", ["method", "partial", "object"])
@pytest.mark.parametrize("name", [*OF_VECTORS, *OF_NUMBERS])
def test_derivatives_follow_what_an_object_holds(name: str, kind: str) -> None:
    model = Model()
    if name in OF_VECTORS:
        f: Any = {"method": model.__call__, "partial": functools.partial(called, model),
                  "object": model}[kind]
        derivative, expected = OF_VECTORS[name](f), jacobian_of
    else:
        f = model.value if kind == "method" else functools.partial(value_of, model)
        derivative, expected = OF_NUMBERS[name](f), hessian_of
    for attribute, content in (("place", 0), ("factor", 3.0), ("place", 2),
                               ("weights", np.array([1.0, -1.0, 4.0]))):
        setattr(model, attribute, content)
        matrix = expected(model)
        np.testing.assert_allclose(
            derivative(), matrix.T @ matrix if name == "normal" else matrix)
