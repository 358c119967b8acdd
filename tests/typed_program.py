"""A user's module, for type checkers: right types are asserted, mistakes are marked as wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import tracejit
from tracejit import Function

Array = NDArray[np.float64]
x: Array = np.ones(3)


def loss(x: Array, k: float = 1.0) -> float:
    return float(np.sum(x)) * k


def with_aux(x: Array) -> tuple[float, dict[str, int]]:
    return float(np.sum(x)), {"size": x.size}


# --- decorators, without arguments and with them ------------------------------------------------


@tracejit.grad
def slope(x: Array, k: float) -> float:
    return float(np.sum(x)) * k


@tracejit.jit(fp="strict", target="cpu")
def strict(x: Array) -> Array:
    return x * 2.0


@tracejit.value_and_grad(argnums=(0, "k"))
def both(x: Array, k: float) -> float:
    return float(np.sum(x)) * k


@tracejit.grad(has_aux=True)
def beside(x: Array) -> tuple[float, dict[str, int]]:
    return with_aux(x)


@tracejit.vjp(has_aux=True)
def back(x: Array) -> tuple[float, dict[str, int]]:
    return with_aux(x)


@tracejit.jvp
def ahead(x: Array) -> float:
    return float(np.sum(x))


@tracejit.vmap(in_axes=(0, None))
def rows(x: float, k: float) -> float:
    return x * k


@tracejit.recompute_grad
def again(x: Array) -> float:
    return float(np.sum(x))


@tracejit.checkpoint
def segment(x: Array) -> Array:
    return x * 2.0


@tracejit.custom_gradient
def twice(x: float, *, by: float = 2.0) -> tuple[float, Callable[[float], float]]:
    return by * x, lambda upstream: by * upstream


@tracejit.RegisterGradient("TypedProgram")
def rule(op: Any, grad: Array) -> Array:
    return grad


class Model:
    weight = 2.0

    @tracejit.jit
    def step(self, x: Array, k: int = 0) -> float:
        return float(np.sum(x)) * self.weight

    @tracejit.value_and_grad(argnums=1)
    def fit(self, x: Array) -> float:
        return float(np.sum(x)) * self.weight


assert_type(slope(x, k=2.0), Any)
assert_type(strict(x), Array)
assert_type(both(x, 1.0), tuple[float, Any])
assert_type(beside(x), tuple[Any, dict[str, int]])
assert_type(back(x), tuple[float, Callable[[Any], Any], dict[str, int]])
assert_type(ahead((x,), (x,)), tuple[float, Any])
assert_type(rows(x, 2.0), Any)
assert_type(again(x), float)
assert_type(segment(x), Array)
assert_type(twice(1.0, by=3.0), float)
assert_type(rule(None, x), Array)
assert_type(Model().step(x, k=1), float)
assert_type(Model().fit(x), tuple[float, Any])

# --- functions ----------------------------------------------------------------------------------

assert_type(tracejit.jit(loss)(x, k=2.0), float)
assert_type(tracejit.value_and_grad(with_aux, 0, True)(x), tuple[tuple[float, dict[str, int]], Any])
assert_type(tracejit.value_and_grad(with_aux, has_aux=True)(x),
            tuple[tuple[float, dict[str, int]], Any])
assert_type(tracejit.vjp(loss)(x), tuple[float, Callable[[Any], Any]])
assert_type(tracejit.vjp(loss, x, k=2.0), tuple[float, Callable[[Any], Any]])
assert_type(tracejit.vjp(with_aux, x, has_aux=True),
            tuple[float, Callable[[Any], Any], dict[str, int]])
assert_type(tracejit.jvp(loss, (x,), (x,)), tuple[float, Any])
assert_type(tracejit.hvp(loss, (x,), (x,)), Any)
assert_type(tracejit.hvp(loss)((x,), (x,)), Any)
assert_type(tracejit.jacobian(loss)(x), Any)
assert_type(tracejit.jacrev(loss, "x")(x), Any)
assert_type(tracejit.jacfwd(argnums=["x", "k"])(loss)(x), Any)
assert_type(tracejit.hessian(loss)(x, 1.0), Any)
assert_type(tracejit.cond(True, lambda x: x, lambda x: -x, 2.0), Any)
assert_type(tracejit.while_loop(lambda v: v < 9.0, lambda v: v * 2.0, 1.0), float)
assert_type(tracejit.fori_loop(0, 5, lambda i, v: v + i, x), Array)
assert_type(tracejit.scan(lambda s, v: (s + v, s), x, x), tuple[Array, Any])
assert_type(tracejit.stop_gradient(x), Array)
assert_type(tracejit.checkpoint(range(9), snapshots=3), Iterable[int])


def keeps(f: Callable[[Array], float]) -> Function[[Array], float]:
    return tracejit.jit(f)


def any_function(f: Function) -> str:
    return str(f.trace("f64[n]").graph)


any_function(slope)
with tracejit.config(disable_jit=True, cache_size=1 << 20) as now:
    assert_type(now.disable_jit, bool)
with tracejit.GradientTape(persistent=True) as tape:
    assert_type(tape, tracejit.GradientTape)
assert_type(tracejit.Variable(1.0).assign(2.0), tracejit.Variable)
assert_type(slope.report().names, tuple[str, ...])
assert_type(tracejit.cache.info().count, int)

tracejit.grad(loss, 0, True)  # wrong: no pair comes back

# --- mistakes -----------------------------------------------------------------------------------

slope(x)  # wrong: k is missing
strict("text")  # wrong: no array
strict(x, 1.0)  # wrong: one argument too many
Model().step("text")  # wrong: no array
tracejit.jit(fp="fast")  # wrong: no such setting
tracejit.jit(loss, traget="cuda")  # wrong: misspelt
tracejit.grad(3.0)  # wrong: no function
tracejit.grad(loss, argnums=1.5)  # wrong: neither position nor name
tracejit.gradd(loss)  # wrong: misspelt
slope.warmpu((x, 1.0))  # wrong: misspelt
tracejit.config(disable_jti=True)  # wrong: misspelt
wrong: Array = both(x, 1.0)  # wrong: a pair
keeps(with_aux)  # wrong: another result
