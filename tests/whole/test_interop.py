"""Functions in PyTorch, JAX and PyTensor have values and derivatives that are these libraries' own.

Each library is tested where it is installed: `pip install tracejit[interop]`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.interop.arrays import ArrayFunction

X, K = np.array([1.0, 2.0, 0.5]), 2.0


def energy(x: Any, k: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = s + k * x[i] ** 3 * np.sin(x[i - 1])
    return s


def several(x: Any, n: Any) -> Any:
    return x * n, np.argmax(x), 3.0


def of_complex(z: Any) -> Any:
    return np.exp(z) * np.conj(z)


REFUSED: dict[str, tuple[Callable[..., Any], tuple[object, ...], str]] = {
    "a write": (lambda x: x.__setitem__(0, 1.0) or x, (X,), "writes to an argument"),
    "a dict": (lambda x: {"a": x}, (X,), "Return a tuple"),
    "nothing": (lambda x: None, (X,), "returns None, and other libraries"),
    "a list in a tuple": (lambda x: (x, [x]), (X,), "returns a list, and"),
    "a text": (lambda x, s: x, (X, "a"), "argument 1 of <lambda> is a str"),
    "a construct": (lambda x: x.upper(), (X,), "no captured attribute 'upper'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_pass_between_libraries_is_an_error(name: str) -> None:
    function, args, text = REFUSED[name]
    with pytest.raises((TypeError, AttributeError), match=text):
        ArrayFunction(function)(*args)


def test_results_share_no_memory_with_arguments() -> None:
    for function in (lambda x: x, lambda x: (x[1:], x), lambda x: x.T):
        for result in ArrayFunction(function)(X):
            assert not np.shares_memory(result, X)


def test_kinds_of_results_are_known_before_they_are_computed() -> None:
    function = ArrayFunction(lambda x, n: (np.outer(x, x), x[:2].astype("f4"), 3.0, n))
    made = function(X, 4)
    for told, result in zip(function.results((X, 4)), made, strict=True):
        assert (told.dtype, told.shape) == (result.dtype, result.shape)
    assert ArrayFunction(lambda x: x[x > 0.7]).results((X,))[0].shape is None


def test_pullbacks_and_tangents_are_those_of_the_function() -> None:
    function = ArrayFunction(energy)
    slope = tracejit.grad(energy, argnums=(0, 1))(X, K)
    pulled = function.pullback((0, 1), (0,))(1.0, X, K)
    np.testing.assert_allclose(pulled[0], slope[0], rtol=1e-14)
    np.testing.assert_allclose(pulled[1], slope[1], rtol=1e-14)
    (pushed,) = function.tangents((0,), (0,))(X, X, K)
    np.testing.assert_allclose(pushed, slope[0] @ X, rtol=1e-14)


# --- PyTorch ------------------------------------------------------------------------------------


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")
class TestTorch:
    @staticmethod
    def given(**options: Any) -> tuple[Any, Any]:
        import torch

        return torch.tensor(X, **options), torch.tensor(K, dtype=torch.float64, **options)

    def test_derivatives_of_both_modes_and_orders(self) -> None:
        import torch

        from tracejit.interop.torch import as_function

        f, (x, k) = as_function(energy), self.given(requires_grad=True)
        assert torch.autograd.gradcheck(f, (x, k), check_forward_ad=True)
        assert torch.autograd.gradgradcheck(f, (x, k))
        tangents = torch.func.jvp(as_function(several), (x.detach(), torch.tensor(2.0)),
                                  (torch.ones(3, dtype=x.dtype), torch.tensor(1.0)))[1]
        assert [t.tolist() for t in tangents] == [(2.0 + X).tolist(), 0, 0.0]
        z = torch.tensor([1.0 + 2.0j, 3.0j], dtype=torch.complex128, requires_grad=True)
        assert torch.autograd.gradcheck(as_function(of_complex), (z,))
        assert torch.autograd.gradcheck(as_function(of_complex), (z.conj(),))

    def test_transforms_of_functions(self) -> None:
        import torch

        from tracejit.interop.torch import as_function

        f, (x, k) = as_function(energy), self.given()

        def alike(x: Any, k: Any) -> Any:
            return torch.sum(k * x ** 3 * torch.sin(torch.roll(x, 1)))

        rows = torch.stack([x, 2.0 * x, x * x])
        for transform in (lambda f: torch.func.hessian(f)(x, k),
                          lambda f: torch.func.vmap(f, in_dims=(0, None))(rows, k),
                          lambda f: torch.func.vmap(torch.func.grad(f), in_dims=(0, None))(rows, k),
                          lambda f: torch.func.jacfwd(f, argnums=1)(x, k)):
            torch.testing.assert_close(transform(f), transform(alike))

    def test_dtypes_and_results(self) -> None:
        import torch

        from tracejit.interop.torch import as_function

        x = torch.tensor([1.0, 3.0], requires_grad=True)
        product, place, constant = as_function(several)(x, 3)
        (product.sum() + constant).backward()
        assert product.dtype == x.grad.dtype == torch.float32
        assert (place.item(), constant.item(), x.grad.tolist()) == (1, 3.0, [3.0, 3.0])
        with pytest.raises(TypeError, match=r"no torch\.bfloat16"):
            as_function(lambda x: x)(x.to(torch.bfloat16))

    def test_a_change_between_the_sweeps_is_seen(self) -> None:
        import torch

        from tracejit.interop.torch import as_function

        x = torch.tensor(X, requires_grad=True)
        y = x * 1.0
        loss = as_function(energy)(y, 2.0)
        with torch.no_grad():
            y.mul_(3.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


# --- JAX ----------------------------------------------------------------------------------------


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
class TestJax:
    def test_transforms_give_what_jax_gives(self) -> None:
        import jax
        from jax import numpy as jnp

        from tracejit.interop.jax import as_function

        def alike(x: Any, k: Any) -> Any:
            return jnp.sum(k * x ** 3 * jnp.sin(jnp.roll(x, 1)))

        with jax.enable_x64(True):
            x = jnp.asarray(X)
            rows, ks = jnp.stack([x, 2.0 * x]), jnp.array([1.0, 2.0, 3.0])
            for transform in (
                    lambda f: jax.jit(f)(x, K), lambda f: jax.grad(f, argnums=(0, 1))(x, K),
                    lambda f: jax.jacrev(jax.grad(f))(x, K),
                    lambda f: jax.jacrev(jax.jacrev(jax.grad(f)))(x, K),
                    lambda f: jax.vmap(jax.vmap(f, (0, None)), (None, 0))(rows, ks),
                    lambda f: jax.vmap(jax.grad(f), (0, None))(rows, K),
                    lambda f: jax.grad(jax.checkpoint(lambda x: f(x, K)))(x),
                    lambda f: jax.lax.scan(lambda c, _: (c - 0.01 * jax.grad(f)(c, K), f(c, K)),
                                           x, None, length=3)):
                for found, expected in zip(jax.tree.leaves(transform(as_function(energy))),
                                           jax.tree.leaves(transform(alike)), strict=True):
                    np.testing.assert_allclose(found, expected, rtol=1e-12)

    def test_complex_cotangents_are_in_jaxs_convention(self) -> None:
        import jax
        from jax import numpy as jnp

        from tracejit.interop.jax import as_function

        with jax.enable_x64(True):
            z, ct = jnp.array([1.0 + 2.0j, 3.0j]), jnp.array([1.0j, 2.0 + 1.0j])
            found = jax.vjp(as_function(of_complex), z)[1](ct)[0]
            expected = jax.vjp(lambda z: jnp.exp(z) * jnp.conj(z), z)[1](ct)[0]
            np.testing.assert_allclose(found, expected, rtol=1e-12)

    def test_dtypes_and_results(self) -> None:
        import jax
        from jax import numpy as jnp

        from tracejit.interop.jax import as_function

        x = jnp.array([1.0, 3.0], "f4")
        results, back = jax.vjp(as_function(several), x, 3)
        zero = np.zeros((), jax.dtypes.float0)
        slope, nothing = back((jnp.ones(2, "f4"), zero, jnp.ones((), results[2].dtype)))
        assert slope.tolist() == [3.0, 3.0]
        assert nothing.dtype == jax.dtypes.float0
        wide = as_function(lambda x: np.sum(x.astype("f8") ** 2))
        assert jax.grad(wide)(x).tolist() == [2.0, 6.0]  # its float64 is float32 in JAX
        with pytest.raises(TypeError, match="size of a result of <lambda> is computed from data"):
            as_function(lambda x: x[x > 1.0])(x)


# --- PyTensor -----------------------------------------------------------------------------------


@pytest.mark.skipif(find_spec("pytensor") is None, reason="PyTensor is not installed")
class TestPyTensor:
    @pytest.mark.parametrize("mode", ["NUMBA", "FAST_COMPILE"])
    def test_derivatives_are_those_of_the_function(self, mode: str) -> None:
        import pytensor
        from pytensor import tensor as pt

        from tracejit.interop.pytensor import as_op

        x, k = pt.dvector("x"), pt.dscalar("k")
        y = as_op(energy)(x, k)
        run = pytensor.function([x, k], [y, *pytensor.grad(y, [x, k]),
                                         pytensor.gradient.hessian(y, x)], mode=mode)
        slopes = tracejit.grad(energy, argnums=(0, 1))(X, K)
        expected = (energy(X, K), *slopes, tracejit.hessian(energy)(X, K))
        for found, right in zip(run(X, K), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-12)

    @pytest.mark.parametrize("mode", ["NUMBA", "FAST_COMPILE"])
    def test_dtypes_and_results(self, mode: str) -> None:
        import pytensor
        from pytensor import tensor as pt

        from tracejit.interop.pytensor import as_op

        x, n = pt.fvector("x"), pt.iscalar("n")
        product, place, constant = as_op(several)(x, n)
        loss = product.sum() * constant
        run = pytensor.function([x, n], [product, place, constant, pytensor.grad(loss, x)],
                                mode=mode)
        found = run(np.array([1.0, 3.0], "f4"), 3)
        assert [r.tolist() for r in found] == [[3.0, 9.0], 1, 3.0, [9.0, 9.0]]
        same = pytensor.function([x], as_op(lambda x: x)(x), mode=mode)
        assert same(np.array([1.0], "f4")).tolist() == [1.0]
