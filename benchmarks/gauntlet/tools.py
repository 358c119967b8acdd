"""The tools: for each how its users get a compiled gradient, where it compiles, and its `np`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any

import numpy as np

__all__ = ["TOOLS", "Tool"]

Compute = Callable[..., Any]


class Tool:
    """What programs ask of a tool: `np`, and `grad(f)`, which takes and returns NumPy's values."""

    np: Any
    packages: tuple[str, ...]

    def grad(self, f: Compute, static: tuple[int, ...] = (), single: bool = False) -> Compute:
        """Return the gradient of a function by its first argument.

        static -- arguments that are no numbers of the program
        single -- leave dtypes to the tool, in place of asking for float64
        """
        raise NotImplementedError

    def curvature(self, f: Compute) -> Compute:
        """Return the second derivative of a function of one number."""
        raise NotImplementedError

    def settings(self) -> contextlib.AbstractContextManager[Any]:
        """Return the settings under which programs run."""
        return contextlib.nullcontext()

    def version(self) -> str:
        """Return names and versions."""
        return ", ".join(f"{name} {metadata.version(name)}" for name in self.packages)


class Tracejit(Tool):
    """Ours: functions of NumPy as they are."""

    packages = ("tracejit", "numba", "numpy")

    def __init__(self) -> None:
        self.lib, self.np = import_module("tracejit"), np

    def grad(self, f: Compute, static: tuple[int, ...] = (), single: bool = False) -> Compute:
        return self.lib.grad(f)

    def curvature(self, f: Compute) -> Compute:
        return self.lib.hessian(f)


class Jax(Tool):
    """`jit(grad(f))` on `jax.numpy`, with 64 bits unless the program is about dtypes."""

    packages = ("jax",)

    def __init__(self) -> None:
        self.lib, self.np = import_module("jax"), import_module("jax.numpy")

    def grad(self, f: Compute, static: tuple[int, ...] = (), single: bool = False) -> Compute:
        compiled = self.lib.jit(self.gradient_of(f, static), static_argnums=static)

        def call(*at: Any) -> Any:
            with self.lib.enable_x64(not single):
                moved = [x if k in static else self._arrays(x) for k, x in enumerate(at)]
                return self.lib.tree.map(np.asarray, compiled(*moved))

        return call

    def gradient_of(self, f: Compute, static: tuple[int, ...]) -> Compute:
        """Return the gradient, before it is compiled."""
        return self.lib.grad(f)

    def curvature(self, f: Compute) -> Compute:
        return self.lib.jit(self.gradient_of(self.gradient_of(f, ()), ()))

    def _arrays(self, x: Any) -> Any:
        return self.lib.tree.map(
            lambda leaf: self.np.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf, x)

    def settings(self) -> contextlib.AbstractContextManager[Any]:
        return self.lib.enable_x64(True)


class Enzyme(Jax):
    """LLVM's Enzyme, or MLIR's, on functions of JAX: by `jax.vjp` of `enzyme_jax_ir()(f)`."""

    packages = ("enzyme_ad", "jax")

    def __init__(self) -> None:
        super().__init__()
        self.enzyme_jax_ir = import_module("enzyme_ad.jax").enzyme_jax_ir

    def gradient_of(self, f: Compute, static: tuple[int, ...]) -> Compute:
        def slope(*at: Any) -> Any:
            numbers = [k for k in range(len(at)) if k not in static]

            def of_numbers(*given: Any) -> Any:
                full = dict(zip(numbers, given, strict=True))
                return f(*(full.get(k, x) for k, x in enumerate(at)))

            value, back = self.lib.vjp(self.enzyme_jax_ir()(of_numbers), *(at[k] for k in numbers))
            return back(self.np.ones_like(value))[0]

        return slope


class Torch(Tool):
    """Tensors that require gradients, run by Python."""

    packages = ("torch",)

    def __init__(self) -> None:
        self.lib = self.np = import_module("torch")
        self.lib.set_num_threads(1)

    def grad(self, f: Compute, static: tuple[int, ...] = (), single: bool = False) -> Compute:
        def call(*at: Any) -> Any:
            moved = [self._tensor(x, k == 0, single) for k, x in enumerate(at)]
            first = moved[0]
            leaves = list(first.values()) if isinstance(first, dict) else [first]
            found = [g.numpy() for g in self.lib.autograd.grad(f(*moved), leaves)]
            return dict(zip(first, found, strict=True)) if isinstance(first, dict) else found[0]

        return call

    def curvature(self, f: Compute) -> Compute:
        def call(at: float) -> Any:
            x = self._tensor(at, True, False)
            (slope,) = self.lib.autograd.grad(f(x), x, create_graph=True)
            return self.lib.autograd.grad(slope, x)[0].numpy()

        return call

    def _tensor(self, x: Any, asked: bool, single: bool) -> Any:
        if isinstance(x, dict):
            return {name: self._tensor(leaf, asked, single) for name, leaf in x.items()}
        if isinstance(x, np.ndarray):
            return self.lib.tensor(x, requires_grad=asked)
        if not asked:
            return x
        dtype = None if single or isinstance(x, int) else self.lib.float64
        dtype = self.lib.complex128 if isinstance(x, complex) else dtype
        return self.lib.tensor(x, dtype=dtype, requires_grad=True)


class Autograd(Tool):
    """NumPy, wrapped."""

    packages = ("autograd",)

    def __init__(self) -> None:
        self.lib, self.np = import_module("autograd"), import_module("autograd.numpy")

    def grad(self, f: Compute, static: tuple[int, ...] = (), single: bool = False) -> Compute:
        return self.lib.grad(f)

    def curvature(self, f: Compute) -> Compute:
        return self.lib.grad(self.lib.grad(f))


class Pytensor(Tool):
    """A symbolic graph, compiled by `pytensor.function` at the first call; ints are Python's."""

    packages = ("pytensor",)

    def __init__(self) -> None:
        self.lib, self.np = import_module("pytensor"), import_module("pytensor.tensor")

    def _variable(self, x: Any) -> Any:
        kind = "z" if np.iscomplexobj(x) else "l" if np.asarray(x).dtype.kind in "iu" else "d"
        rank = ("scalar", "vector", "matrix", "tensor3")[np.ndim(x)]
        return getattr(self.np, kind + rank)()

    def grad(self, f: Compute, static: tuple[int, ...] = (), single: bool = False) -> Compute:
        made: list[Any] = []

        def call(*at: Any) -> Any:
            symbolic = [k for k, x in enumerate(at) if k == 0 or not isinstance(x, int | str)]
            if not made:
                variables = {k: self._variable(at[k]) for k in symbolic}
                value = f(*(variables.get(k, x) for k, x in enumerate(at)))
                made.append(self.lib.function(
                    list(variables.values()), self.lib.grad(value, variables[0]),
                    on_unused_input="ignore"))
            return made[0](*(at[k] for k in symbolic))

        return call

    def curvature(self, f: Compute) -> Compute:
        x = self.np.dscalar()
        return self.lib.function([x], self.lib.grad(self.lib.grad(f(x), x), x))


class Casadi(Tool):
    """A symbolic expression of scalars (`SX`), or of matrices where a program asks for `MX`."""

    packages = ("casadi",)

    def __init__(self) -> None:
        self.lib = self.np = import_module("casadi")

    def grad(self, f: Compute, static: tuple[int, ...] = (), single: bool = False) -> Compute:
        made: list[Any] = []
        kind = getattr(self.lib, getattr(f, "casadi", "SX"))

        def call(*at: Any) -> Any:
            shape = np.shape(at[0])
            if not made:
                x = kind.sym("x", *(shape or (1,)))
                value = f(x, *at[1:])
                made.append(self.lib.Function("g", [x], [self.lib.gradient(value, x)]))
            return made[0](at[0]).full().reshape(shape)

        return call

    def curvature(self, f: Compute) -> Compute:
        x = self.lib.SX.sym("x")
        second = self.lib.Function("h", [x], [self.lib.hessian(f(x), x)[0]])
        return lambda at: float(second(at))


TOOLS: dict[str, type[Tool]] = {
    "tracejit": Tracejit, "JAX": Jax, "Enzyme": Enzyme, "PyTorch": Torch, "autograd": Autograd,
    "PyTensor": Pytensor, "CasADi": Casadi}
