"""autograd's own tests, put to tracejit: `python -m benchmarks.autograd_suite FOLDER`.

The folder is `tests/` of a checkout of HIPS/autograd. Its tests import `autograd`: here that name
stands for a module in which `numpy` is NumPy, `scipy` is SciPy, and `grad` and its like are
tracejit's. `check_grads` compares tracejit's pullbacks and tangents with differences, and does so
again for the derivatives. What is about autograd's own insides is left out: `OWN` says what.
"""

from __future__ import annotations

import argparse
import builtins
import functools
import itertools
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

import tracejit

STEP = 1e-6
TOLERANCE = 1e-6

# Tests of what autograd itself is made of, and of functions and arguments that it adds to NumPy and
# SciPy; `-` stands for all tests of a file.
OWN: dict[str, str | tuple[str, ...]] = {
    "test_core.py": "-", "test_vspaces.py": "-", "test_tests.py": "-",
    "test_ufunc_dispatch.py": "-", "test_performance.py": "-",
    "test_fft.py": ("test_rfftn_odd_not_implemented",),
    "test_graphs.py": ("test_assignment_raises_error",),
    "test_linalg.py": ("test_pinv",),  # calls a function of autograd's module by itself
    "test_numpy.py": ("test_make_diagonal", "test_diagonal", "test_scalar_array_box_attributes"),
    "test_scipy.py": ("test_convolve_generalization", "test_convolve_ignore",
                      "test_convolve_ignore_dot"),
    "test_wrappers.py": ("test_custom_where", "test_custom_where_dtypes",
                         "test_wrapped_name_and_docs"),
}


def leaves(nest: Any) -> list[Any]:
    """Return the numbers and arrays of a nest."""
    if isinstance(nest, dict):
        return [x for k in sorted(nest) for x in leaves(nest[k])]
    if isinstance(nest, list | tuple):
        return [x for part in nest for x in leaves(part)]
    return [nest]


def along(nest: Any, *others: Any, by: Callable[..., Any]) -> Any:
    """Return a nest of what a function gives of the leaves at each place."""
    if isinstance(nest, dict):
        return {k: along(nest[k], *(o[k] for o in others), by=by) for k in nest}
    if isinstance(nest, list | tuple):
        return type(nest)([along(*parts, by=by) for parts in zip(nest, *others, strict=True)])
    return by(nest, *others)


def inner(a: Any, b: Any) -> float:
    """Return the real inner product of two nests."""
    return float(sum(np.sum(np.real(np.conj(x) * y))
                     for x, y in zip(leaves(a), leaves(b), strict=True)))


def directions(nest: Any) -> Any:
    """Return a random nest of a nest's shapes and dtypes."""
    def like(x: Any) -> Any:
        x = np.asarray(x)
        v = np.random.standard_normal(x.shape)
        if x.dtype.kind == "c":
            v = v + 1j * np.random.standard_normal(x.shape)
        return np.asarray(v, x.dtype) if x.ndim else x.dtype.type(v)
    return along(nest, by=like)


def as_given(x: Any) -> Any:
    """Return a float for an int: autograd differentiates by both."""
    return along(x, by=lambda v: float(v) if isinstance(v, int) else v)


def by_differences(f: Callable[[Any], Any], x: Any, v: Any) -> Any:
    """Return the derivative along a direction by central differences, in NumPy."""
    high = f(along(x, v, by=lambda a, b: a + b * STEP / 2))
    low = f(along(x, v, by=lambda a, b: a - b * STEP / 2))
    return along(high, low, by=lambda a, b: (np.asarray(a) - np.asarray(b)) / STEP)


def scalar_close(a: Any, b: Any) -> bool:
    return bool(abs(a - b) < TOLERANCE or abs(a - b) / abs(a + b) < TOLERANCE)


def check_equivalent(a: Any, b: Any) -> None:
    v = directions(a)
    assert scalar_close(inner(a, v), inner(b, v)), f"{a}\n is not\n{b}"


def check_unary(f: Callable[[Any], Any], x: Any, modes: Any, order: int) -> None:
    """Check derivatives of a function of one nest, and theirs."""
    v = directions(x)
    numeric = by_differences(f, x, v)
    if "fwd" in modes:
        value, tangent = tracejit.jvp(f, (x,), (v,))
        check_equivalent(tangent, numeric)
        if order > 1:
            check_unary(lambda xv: tracejit.jvp(f, (xv[0],), (xv[1],))[1], (x, v), ("fwd",),
                        order - 1)
    if "rev" in modes:
        value, pullback = tracejit.vjp(f, x)
        w = directions(value)
        assert scalar_close(inner(pullback(w)[0], v), inner(w, numeric))
        if order > 1:
            check_unary(lambda xw: tracejit.vjp(f, xw[0])[1](xw[1])[0], (x, w), ("rev",),
                        order - 1)


def unary_to_nary(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Return the operator on functions of several arguments, by `argnum`."""
    @functools.wraps(operator)
    def of_function(function: Any, argnum: Any = 0, *more: Any, **named: Any) -> Any:
        @functools.wraps(function)
        def of_arguments(*args: Any, **kwargs: Any) -> Any:
            def unary(x: Any) -> Any:
                given = builtins.list(args)
                for k, part in ([(argnum, x)] if isinstance(argnum, int)
                                else zip(argnum, x, strict=True)):
                    given[k] = part
                return function(*given, **kwargs)
            x = args[argnum] if isinstance(argnum, int) else tuple(args[k] for k in argnum)
            return operator(unary, x, *more, **named)
        return of_arguments
    return of_function


@unary_to_nary
def check_grads(f: Any, x: Any, modes: Any = ("fwd", "rev"), order: int = 2) -> None:
    with tracejit.config(disable_jit=True):
        check_unary(f, as_given(x), modes, order)


def combo_check(function: Any, *how: Any, **named: Any) -> Callable[..., None]:
    """Return the check of a function with all combinations of arguments."""
    def check(*args: Any, **kwargs: Any) -> None:
        keys = [[(k, x) for x in xs] for k, xs in kwargs.items()]
        for chosen in itertools.product(*args):
            for options in itertools.product(*keys):
                check_grads(function, *how, **named)(*chosen, **dict(options))
    return check


def conjugated(nest: Any) -> Any:
    """Return autograd's gradient: the conjugate of tracejit's."""
    return along(nest, by=lambda g: np.conj(g) if np.iscomplexobj(g) else g)


def interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with tracejit.config(disable_jit=True):
            return function(*args, **kwargs)
    return call


def one(result: Any) -> Any:
    """Return the only element of an array: autograd takes gradients of these."""
    return np.sum(result) if np.ndim(result) else result


@unary_to_nary
def grad(f: Any, x: Any) -> Any:
    return interpreted(lambda v: conjugated(tracejit.grad(lambda x: one(f(x)))(v)))(as_given(x))


@unary_to_nary
def value_and_grad(f: Any, x: Any) -> Any:
    value, gradient = interpreted(tracejit.value_and_grad(lambda x: one(f(x))))(as_given(x))
    return value, conjugated(gradient)


@unary_to_nary
def elementwise_grad(f: Any, x: Any) -> Any:
    return interpreted(tracejit.grad(lambda v: np.sum(f(v))))(as_given(x))


@unary_to_nary
def jacobian(f: Any, x: Any) -> Any:
    return interpreted(tracejit.jacobian(f))(as_given(x))


@unary_to_nary
def hessian(f: Any, x: Any) -> Any:
    return interpreted(tracejit.hessian(f))(as_given(x))


@unary_to_nary
def holomorphic_grad(f: Any, x: Any) -> Any:
    return interpreted(lambda v: tracejit.jvp(f, (v,), (np.ones_like(v)[()],))[1])(x)


@unary_to_nary
def deriv(f: Any, x: Any) -> Any:
    x = as_given(x)
    return interpreted(lambda v: tracejit.jvp(f, (v,), (np.ones_like(v)[()],))[1])(x)


@unary_to_nary
def make_vjp(f: Any, x: Any) -> Any:
    value, pullback = interpreted(tracejit.vjp)(f, as_given(x))
    return (lambda w: interpreted(pullback)(w)[0]), value


@unary_to_nary
def make_jvp(f: Any, x: Any) -> Any:
    return lambda v: interpreted(tracejit.jvp)(f, (as_given(x),), (v,))


@unary_to_nary
def make_hvp(f: Any, x: Any) -> Any:
    return (lambda v: interpreted(tracejit.hvp(f))((x,), (v,))), interpreted(tracejit.grad(f))(x)


def absent(*_: object, **__: object) -> Any:
    """Skip a test that calls what has no counterpart."""
    pytest.skip("of autograd's own")


def hvp_of(function: Any, argnum: int = 0) -> Any:
    """Return the function of arguments and a direction: the Hessian times it."""
    def product(*args: Any) -> Any:
        *given, v = args

        def unary(x: Any) -> Any:
            return function(*given[:argnum], x, *given[argnum + 1:])

        return interpreted(tracejit.hvp(unary))((given[argnum],), (v,))
    return product


def tensor_jacobian_product(function: Any, argnum: int = 0) -> Any:
    def product(*args: Any) -> Any:
        *given, w = args

        def weighted(x: Any) -> Any:
            return np.tensordot(w, function(*given[:argnum], x, *given[argnum + 1:]), np.ndim(w))

        return interpreted(tracejit.jacobian(weighted))(given[argnum])
    return product


def grad_and_aux(function: Any, argnum: int = 0) -> Any:
    def both(*args: Any, **kwargs: Any) -> Any:
        (_, aux), gradient = interpreted(
            tracejit.value_and_grad(function, argnums=argnum, has_aux=True))(*args, **kwargs)
        return gradient, aux
    return both


def checkpoint(function: Any) -> Any:
    return function


def flatten(nest: Any) -> Any:
    """Return a nest as a vector, and the function back."""
    parts = leaves(nest)
    shapes = [np.shape(p) for p in parts]

    def unflatten(vector: Any) -> Any:
        ends = np.cumsum([int(np.prod(s)) for s in shapes])
        pieces = iter([np.reshape(vector[e - int(np.prod(s)):e], s)
                       for s, e in zip(shapes, ends, strict=True)])
        return along(nest, by=lambda _: next(pieces))

    return (np.concatenate([np.ravel(p) for p in parts]) if parts else np.zeros(0)), unflatten


def module(name: str, contents: dict[str, Any]) -> ModuleType:
    made = ModuleType(name)
    made.__dict__.update(contents)
    made.__path__ = []  # a package, whose modules are in the table
    sys.modules[name] = made
    return made


def stand_in() -> None:
    """Put a module `autograd` of tracejit's functions in place of autograd."""
    own = {f.__name__: f for f in (
        grad, value_and_grad, elementwise_grad, jacobian, hessian, holomorphic_grad, deriv,
        make_vjp, make_jvp, make_hvp, tensor_jacobian_product, grad_and_aux, checkpoint)}
    own |= {"hessian_vector_product": hvp_of, "hessian_tensor_product": hvp_of,
            "vector_jacobian_product": tensor_jacobian_product, "dict": dict, "list": list,
            "tuple": tuple, "isinstance": isinstance, "make_ggnvp": absent}
    root = module("autograd", own)
    inner_scipy = module("autograd.scipy", {})
    for name in ("integrate", "linalg", "signal", "special", "stats"):
        part = getattr(scipy, name)
        setattr(inner_scipy, name, part)
        sys.modules[f"autograd.scipy.{name}"] = part
    sys.modules["autograd.scipy.stats.multivariate_normal"] = scipy.stats.multivariate_normal
    root.numpy, root.scipy = np, inner_scipy
    for name in ("", ".random", ".linalg", ".fft"):
        sys.modules[f"autograd.numpy{name}"] = functools.reduce(
            getattr, filter(None, name.split(".")), np)
    checks = {"check_grads": check_grads, "combo_check": combo_check,
              "scalar_close": scalar_close, "check_equivalent": check_equivalent}
    root.test_util = module("autograd.test_util", checks)
    root.util = module("autograd.util", {"quick_grad_check": check_grads})
    root.wrap_util = module("autograd.wrap_util", {"unary_to_nary": unary_to_nary})
    root.core = module("autograd.core", {"make_vjp": make_vjp, "primitive_vjps": {},
                                             "vspace": absent, "primitive": absent})
    root.extend = module("autograd.extend", {"primitive": absent, "defvjp": absent})
    root.tracer = module("autograd.tracer", {"isbox": lambda x: False, "primitive": absent})
    root.builtins = module("autograd.builtins", {
        "list": list, "tuple": tuple, "dict": dict, "isinstance": isinstance})
    root.misc = module("autograd.misc", {"flatten": flatten, "const_graph": absent})
    root.differential_operators = module("autograd.differential_operators", own)


class Recorder:
    """Collects each test's outcome: passed, or the words of what stopped it."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [i for i in items if OWN.get(i.path.name) != "-"
                    and i.name.split("[")[0] not in OWN.get(i.path.name, ())]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Iterator[None]:
        outcome = yield
        report = outcome.get_result()
        if report.when == "call" and not report.skipped:
            said = "passed"
            if call.excinfo is not None:
                error = call.excinfo.value
                kind = "refused" if isinstance(error, tracejit.Refusal) else "failed"
                said = f"{kind}: {type(error).__name__}: {' '.join(str(error).split())[-300:]}"
            self.outcomes[f"{item.path.name}::{item.name}"] = said


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.autograd_suite", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    stand_in()
    recorder = Recorder()
    pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-W", "ignore",
                 "-k", options.only, "--continue-on-collection-errors",
                 "-c", "/dev/null", "--rootdir", str(options.folder), str(options.folder)],
                plugins=[recorder])
    for name, said in recorder.outcomes.items():
        if said != "passed":
            print(f"{name}: {said}")
    print(dict(Counter(said.split(":")[0] for said in recorder.outcomes.values())))
    if options.json:
        options.json.write_text(json.dumps(recorder.outcomes, indent=1))


if __name__ == "__main__":
    main()
