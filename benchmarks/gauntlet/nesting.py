"""Derivatives of derivatives, and rules of one's own

The inner derivative has to see the outer variable, a stopped gradient has to stay stopped, and a
rule that a user registers has to have the shape of what it is for.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gauntlet.lazily import autograd, ca, jax, jnp, pt, pytensor, torch
from benchmarks.gauntlet.program import Raises, asked, program


def inner_slope_times_x(tool):
    """d/dx of x · d/dy (x y²) at y = 2, which is 4 x²: 8 x."""
    import tracejit

    def f(x):
        return x * tracejit.grad(lambda y: x * y * y)(2.0)

    return tool.grad(f)(1.5)


def jax_inner_slope_times_x(tool):
    def f(x):
        return x * jax.grad(lambda y: x * y * y)(2.0)

    return tool.grad(f)(1.5)


def torch_inner_slope_times_x(tool):
    def f(x):
        y = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
        (slope,) = torch.autograd.grad(x * y * y, y, create_graph=True)
        return x * slope

    return tool.grad(f)(1.5)


def autograd_inner_slope_times_x(tool):
    def f(x):
        return x * autograd.grad(lambda y: x * y * y)(2.0)

    return tool.grad(f)(1.5)


def pytensor_inner_slope_times_x(tool):
    def f(x):
        y = pt.constant(2.0).copy()
        return x * pytensor.grad(x * y * y, y)

    return tool.grad(f)(1.5)


def casadi_inner_slope_times_x(tool):
    def f(x):
        y = ca.SX.sym("y")
        return x * ca.substitute(ca.gradient(x * y * y, y), y, 2.0)

    return tool.grad(f)(1.5)


def second_derivative_of_a_clipped_square(tool):
    clip = getattr(tool.np, "clip", None) or (lambda x, a, b: ca.fmin(ca.fmax(x, a), b))
    return [float(tool.curvature(lambda x: clip(x, 0.0, 1.0) ** 2)(at)) for at in (0.5, 2.0)]


def second_derivative_of_a_masked_power(tool):
    where = getattr(tool.np, "where", None) or ca.if_else
    return tool.curvature(lambda x: where(x > 0.0, tool.np.sqrt(x) ** 3, 0.0))(-1.0)


def second_derivative_of_a_cubed_modulus(tool):
    return tool.curvature(lambda x: abs(x) ** 3)(0.0)


def rule_of_another_shape(tool):
    """A rule for Σ x² that forgets to be an array: an error is right."""
    import tracejit

    op = tracejit.register_op("GauntletSquares", lambda x: np.sum(x * x))

    @tracejit.RegisterGradient("GauntletSquares")
    def rule(op, grad):
        return grad * 2.0

    return tool.grad(lambda x: op(x))(np.array([1.0, 2.0]))


def jax_rule_of_another_shape(tool):
    f = jax.custom_vjp(lambda x: jnp.sum(x * x))
    f.defvjp(lambda x: (jnp.sum(x * x), x), lambda x, g: (g * 2.0,))
    return tool.grad(f)(np.array([1.0, 2.0]))


def torch_rule_of_another_shape(tool):
    class Squares(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.sum(x * x)

        @staticmethod
        def backward(ctx, g):
            return g * 2.0

    return tool.grad(Squares.apply)(np.array([1.0, 2.0]))


def autograd_rule_of_another_shape(tool):
    from autograd.extend import defvjp, primitive

    f = primitive(lambda x: np.sum(x * x))
    defvjp(f, lambda ans, x: lambda g: g * 2.0)
    return tool.grad(f)(np.array([1.0, 2.0]))


def stopped_factor(x):
    import tracejit

    return tracejit.stop_gradient(x * x) * x


def jax_stopped_factor(x):
    return jax.lax.stop_gradient(x * x) * x


def torch_stopped_factor(x):
    return (x * x).detach() * x


def pytensor_stopped_factor(x):
    return pytensor.gradient.disconnected_grad(x * x) * x


NO_RULES = "rules are classes of operations"

PROGRAMS = [
    asked("x d/dy(x y²) at y = 2, by x", inner_slope_times_x, 12.0, JAX=jax_inner_slope_times_x,
          PyTorch=torch_inner_slope_times_x, autograd=autograd_inner_slope_times_x,
          PyTensor=pytensor_inner_slope_times_x, CasADi=casadi_inner_slope_times_x),
    asked("d²/dx² of clip(x, 0, 1)² at 0.5 and at 2", second_derivative_of_a_clipped_square,
          [2.0, 0.0]),
    asked("d²/dx² of `where(x > 0, sqrt(x) ** 3, 0)` at -1", second_derivative_of_a_masked_power,
          0.0, cites=("casadi/casadi#1878",)),
    asked("d²/dx² of |x|³ at 0", second_derivative_of_a_cubed_modulus, 0.0),
    asked("a registered rule for Σ x² that gives one number", rule_of_another_shape,
          Raises(ValueError, "shape"), JAX=jax_rule_of_another_shape,
          PyTorch=torch_rule_of_another_shape, autograd=autograd_rule_of_another_shape,
          PyTensor=NO_RULES, CasADi=NO_RULES,
          Enzyme="it looks into functions with rules, and leaves the rules out"),
    program("a stopped x², times x", stopped_factor, 1.5, right=2.25, JAX=jax_stopped_factor,
            PyTorch=torch_stopped_factor, autograd="no function stops a gradient",
            PyTensor=pytensor_stopped_factor, CasADi="no function stops a gradient"),
]
