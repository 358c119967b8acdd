"""Arithmetic, powers, exponentials, trigonometry, comparisons, logic and casts: one line each.

A line holds the op's name, its NumPy function, its scalar code and its partial derivatives in terms
of the output `z` and the operands. Derivatives of standard functions are in any table, e.g.
Abramowitz and Stegun, Handbook of Mathematical Functions, chapter 4.

Conventions, the same everywhere: `abs'(0) = 0`; where two operands tie, each has half of the
derivative of their extremum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.core import Block, Bounds, Eqn, Params
from tracejit.ir.dims import Dim, is_nonneg
from tracejit.ir.lowering import Pointwise
from tracejit.ir.optable import find_op
from tracejit.ir.types import Aval, is_differentiable
from tracejit.ops.cotangents import (
    Cotangent,
    Masked,
    Primal,
    Tangent,
    Where,
    dense,
    narrow,
    unbroadcast,
)
from tracejit.ops.kinds import RESULTS, broadcast_shapes, elementwise, only, structural
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.ground.dispatch import UFUNCS
from tracejit.trace.values.equations import VARIANTS, apply

__all__ = ["choose"]


def choose(condition: Any, x: Any, y: Any) -> Any:
    """Return `where(condition, x, y)`, decided at once where the condition is no array."""
    if isinstance(condition, (bool, np.bool_)):
        return x if condition else y
    return np.where(condition, x, y)


# --- arithmetic ---------------------------------------------------------------------------------
elementwise("add", np.add, "{0} + {1}", lambda z, x, y: (1, 1), kinds="ifc", meaning="add",
            dims=lambda params, dims: dims[0] + dims[1], rounds="sum")
elementwise("sub", np.subtract, "{0} - {1}", lambda z, x, y: (1, -1), kinds="ifc", meaning="sub",
            dims=lambda params, dims: dims[0] - dims[1], rounds="sum")
elementwise("mul", np.multiply, "{0} * {1}", lambda z, x, y: (y, x), kinds="ifc", meaning="mul",
            dims=lambda params, dims: dims[0] * dims[1], rounds="product")
elementwise("div", np.true_divide, "{0} / {1}", lambda z, x, y: (1 / y, -z / y), cost=4.0,
            kinds="f", domain=(0.5, 2.0))
elementwise("complex_div", None, "cdiv({0}, {1})", lambda z, x, y: (1 / y, -z / y), cost=12.0,
            kinds="c", reference=np.true_divide, domain=(0.5, 2.0))
elementwise("neg", np.negative, "-{0}", lambda z, x: (-1,), exact=True, kinds="ifc", meaning="neg",
            dims=lambda params, dims: -dims[0])
elementwise("floor_divide", np.floor_divide, "floor_divide({0}, {1})", integer="idiv({0}, {1})",
            cost=6.0, kinds="if", domain=(1.0, 3.0))
elementwise("remainder", np.remainder, "remainder({0}, {1})",
            lambda z, x, y: (1, -_whole_quotient(z, x, y)), integer="imod({0}, {1})", cost=8.0,
            kinds="if", domain=(1.0, 3.0))
elementwise("fmod", np.fmod, "fmod({0}, {1})", lambda z, x, y: (1, -_whole_quotient(z, x, y)),
            integer="irem({0}, {1})", cost=8.0, kinds="if", domain=(1.0, 3.0))


def _whole_quotient(z: Primal, x: Primal, y: Primal) -> Any:
    """Return how often y was taken away for the rest z: x / y may round up to the next number."""
    return np.rint((x - z) / y)


def _power_partials(z: Primal, x: Primal, y: Primal) -> tuple[Any, Any]:
    lowered = np.power(x, choose(y == 0, 1.0, y - 1))
    return y * lowered, z * choose(x > 0, np.log(choose(x > 0, x, 1.0)), 0.0)


def _pow(x: np.ndarray | np.generic, y: np.ndarray | np.generic) -> Any:
    """Return powers by C's `pow`: by one exponent for all, NumPy's ufunc takes roots, squares.

    Negative exponents of ints are left to a check: a fold also computes what a mask leaves out.
    """
    x, y = np.broadcast_arrays(x, y)
    y = np.maximum(y, 0) if y.dtype.kind == "i" else y
    if x.size == 1:  # NumPy takes its strides for a single exponent's
        return np.power(np.repeat(x, 2), np.repeat(y, 2))[0].reshape(x.shape)
    return np.power(x, np.array(y))


elementwise("power", np.power, "pow({0}, {1})", _power_partials, cost=16.0, kinds="if",
            integer="ipow({0}, {1})", domain=(0.3, 2.0), reference=_pow)
elementwise("complex_power", None, "cpow({0}, {1})",
            lambda z, x, y: (y * np.power(x, y - 1), z * np.log(x)), cost=60.0, kinds="c",
            reference=np.power)
UFUNCS[np.float_power] = find_op("power")
elementwise("abs", np.absolute, "fabs({0})", lambda z, x: (np.sign(x),), exact=True, kinds="if",
            integer="abs({0})")
elementwise("sign", np.sign, "select({0} > {zero}, {one}, select({0} < {zero}, -{one}, "
            "select({0} == {zero}, {zero}, {0})))", exact=True, kinds="if")


def _shared(x: Primal, y: Primal, is_result: object, is_alone: object) -> tuple[Where, Where]:
    """Return the derivatives of an extremum of two: of equal ones each has a half.

    Along a line max(x, y) has the larger slope of x and y on one side of a tie, and the smaller on
    the other. What has a slope has the mean of both sides, so that sums of extrema have it, too:
    max(x, 0) + log1p(exp(-abs(x))) has the slope of log(1 + exp(x)) at 0.

    is_result -- where x is the extremum
    is_alone  -- where x is, and y is not
    """
    share = choose(x == y, *np.array([0.5, 1.0], x.dtype))
    return Where(is_result, share=share), Where(is_alone, False, share)


elementwise("maximum", np.maximum, "maximum({0}, {1})",
            lambda z, x, y: _shared(x, y, x >= y, x > y), exact=True, kinds="bif")
elementwise("minimum", np.minimum, "minimum({0}, {1})",
            lambda z, x, y: _shared(x, y, x <= y, x < y), exact=True, kinds="bif")
elementwise("fmax", np.fmax, "select(({0} >= {1}) | ({1} != {1}), {0}, {1})",
            lambda z, x, y: _shared(x, y, (x >= y) | (y != y), (x > y) | (y != y)), exact=True)
elementwise("fmin", np.fmin, "select(({0} <= {1}) | ({1} != {1}), {0}, {1})",
            lambda z, x, y: _shared(x, y, (x <= y) | (y != y), (x < y) | (y != y)), exact=True)


elementwise("larger", None, "select({1} > {0}, {1}, {0})",
            lambda z, x, y: _shared(x, y, ~(y > x), ~(y >= x)), exact=True,
            reference=lambda x, y: np.where(y > x, y, x))
elementwise("smaller", None, "select({1} < {0}, {1}, {0})",
            lambda z, x, y: _shared(x, y, ~(y < x), ~(y <= x)), exact=True,
            reference=lambda x, y: np.where(y < x, y, x))
elementwise("copysign", np.copysign, "copysign({0}, {1})",
            lambda z, x, y: (np.sign(x) * np.copysign(1.0, y), None), exact=True, domain=(0.5, 2.0))
elementwise("nextafter", np.nextafter, "nextafter({0}, {1})", lambda z, x, y: (1.0, None),
            cost=5.0, exact=True, halves=False)

# --- roots, exponentials, logarithms ------------------------------------------------------------
elementwise("sqrt", np.sqrt, "sqrt({0})", lambda z, x: (0.5 / z,), cost=5.0, kinds="fc",
            domain=(0.5, 2.0))
elementwise("cbrt", np.cbrt, "cbrt({0})", lambda z, x: (1.0 / (3.0 * z * z),), cost=12.0,
            domain=(0.5, 2.0))
elementwise("exp", np.exp, "exp({0})", lambda z, x: (z,), cost=10.0, kinds="fc")
elementwise("exp2", np.exp2, "exp2({0})", lambda z, x: (z * math.log(2.0),), cost=10.0)
elementwise("expm1", np.expm1, "expm1({0})", lambda z, x: (z + 1.0,), cost=12.0)
elementwise("log", np.log, "log({0})", lambda z, x: (1.0 / x,), cost=10.0, kinds="fc",
            domain=(0.5, 2.0))
elementwise("log2", np.log2, "log2({0})", lambda z, x: (1.0 / (x * math.log(2.0)),), cost=10.0,
            domain=(0.5, 2.0))
elementwise("log10", np.log10, "log10({0})", lambda z, x: (1.0 / (x * math.log(10.0)),), cost=10.0,
            domain=(0.5, 2.0))
elementwise("log1p", np.log1p, "log1p({0})", lambda z, x: (1.0 / (1.0 + x),), cost=12.0,
            domain=(-0.5, 2.0))
elementwise("logaddexp", np.logaddexp,
            "maximum({0}, {1}) + log1p(exp(-fabs(select({0} == {1}, {zero}, {0} - {1}))))",
            lambda z, x, y: (_exp_difference(x, z), _exp_difference(y, z)), cost=24.0)


def _exp_difference(x: Primal, z: Primal) -> Any:
    """exp(x - z) as the share of x in z = logaddexp(x, y); two equal infinities share evenly."""
    return np.exp(choose(x == z, 0.0, x) - choose(x == z, 0.0, z))


def _arctan2_partials(x: Primal, y: Primal) -> tuple[Any, Any]:
    """(y, -x) / (x**2 + y**2), whose squares may leave the range of numbers; 0 of the origin."""
    size = np.hypot(x, y)
    size = choose(size == 0, 1.0, size)
    return y / size / size, -x / size / size


def _radius(z: Primal) -> Any:
    """Return what a cone's slope is divided by: infinity at its tip, of all derivatives 0."""
    return choose(z == 0, np.inf, z)


def _arcsinh_root(x: Primal) -> Any:
    """sqrt(x**2 + 1), of a real number without its square."""
    return np.sqrt(x * x + 1.0) if x.dtype.kind == "c" else np.hypot(x, x.dtype.type(1))


def _arccosh_partial(x: Primal) -> Any:
    """Two roots: their product has another branch for Re x < 0, and the square may overflow."""
    return 1.0 / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0))


# --- trigonometric and hyperbolic ---------------------------------------------------------------
elementwise("sin", np.sin, "sin({0})", lambda z, x: (np.cos(x),), cost=12.0, kinds="fc")
elementwise("cos", np.cos, "cos({0})", lambda z, x: (-np.sin(x),), cost=12.0, kinds="fc")
elementwise("tan", np.tan, "tan({0})", lambda z, x: (1.0 + z * z,), cost=14.0, kinds="fc",
            domain=(-1.0, 1.0))
elementwise("arcsin", np.arcsin, "asin({0})", lambda z, x: (1.0 / np.sqrt((1.0 - x) * (1.0 + x)),),
            cost=12.0, domain=(-0.8, 0.8))
elementwise("arccos", np.arccos, "acos({0})",
            lambda z, x: (-1.0 / np.sqrt((1.0 - x) * (1.0 + x)),),
            cost=12.0, domain=(-0.8, 0.8))
elementwise("arctan", np.arctan, "atan({0})", lambda z, x: (1.0 / (1.0 + x * x),), cost=12.0)
elementwise("arctan2", np.arctan2, "atan2({0}, {1})",
            lambda z, x, y: _arctan2_partials(x, y), cost=16.0, domain=(0.5, 2.0))
elementwise("hypot", np.hypot, "hypot({0}, {1})",
            lambda z, x, y: (x / _radius(z), y / _radius(z)), cost=10.0,
            domain=(0.5, 2.0))
elementwise("sinh", np.sinh, "sinh({0})", lambda z, x: (np.cosh(x),), cost=14.0, kinds="fc")
elementwise("cosh", np.cosh, "cosh({0})", lambda z, x: (np.sinh(x),), cost=14.0, kinds="fc")
elementwise("tanh", np.tanh, "tanh({0})", lambda z, x: (1.0 - z * z,), cost=14.0, kinds="fc")
elementwise("arcsinh", np.arcsinh, "asinh({0})", lambda z, x: (1.0 / _arcsinh_root(x),),
            cost=14.0)
elementwise("arccosh", np.arccosh, "acosh({0})", lambda z, x: (_arccosh_partial(x),),
            cost=14.0, domain=(1.5, 3.0))
elementwise("arctanh", np.arctanh, "atanh({0})", lambda z, x: (1.0 / ((1.0 - x) * (1.0 + x)),),
            cost=14.0,
            domain=(-0.8, 0.8))

# --- rounding, comparisons, logic: piecewise constant, so no derivative --------------------------


def _unequal(d: Dim, bounds: Bounds) -> list[Dim]:
    return [e - 1 for e in (d, -d) if is_nonneg(e, bounds)]


elementwise("floor", np.floor, "floor({0})", exact=True)
elementwise("ceil", np.ceil, "ceil({0})", exact=True)
elementwise("trunc", np.trunc, "trunc({0})", exact=True)
elementwise("rint", np.rint, "rint({0})", exact=True)
elementwise("equal", np.equal, "{0} == {1}", result="bool", exact=True, kinds="bifc",
            implies=(lambda d, _: [d, -d], _unequal))
elementwise("not_equal", np.not_equal, "{0} != {1}", result="bool", exact=True, kinds="bifc",
            implies=(_unequal, lambda d, _: [d, -d]))
elementwise("less", np.less, "{0} < {1}", result="bool", exact=True, kinds="if",
            implies=(lambda d, _: [-d - 1], lambda d, _: [d]))
elementwise("less_equal", np.less_equal, "{0} <= {1}", result="bool", exact=True, kinds="if",
            implies=(lambda d, _: [-d], lambda d, _: [d - 1]))
elementwise("greater", np.greater, "{0} > {1}", result="bool", exact=True, kinds="if",
            implies=(lambda d, _: [d - 1], lambda d, _: [-d]))
elementwise("greater_equal", np.greater_equal, "{0} >= {1}", result="bool", exact=True, kinds="if",
            implies=(lambda d, _: [d], lambda d, _: [-d - 1]))
elementwise("isnan", np.isnan, "{0} != {0}", result="bool", exact=True)
elementwise("isinf", np.isinf, "fabs({0}) == inf", result="bool", exact=True)
elementwise("isfinite", np.isfinite, "fabs({0}) < inf", result="bool", exact=True)
elementwise("signbit", np.signbit, "copysign({one}, {0}) < {zero}", result="bool", exact=True)
elementwise("logical_and", np.logical_and, "{0} & {1}", exact=True, kinds="b", meaning="and")
elementwise("logical_or", np.logical_or, "{0} | {1}", exact=True, kinds="b", meaning="or")
elementwise("logical_xor", np.logical_xor, "{0} ^ {1}", exact=True, kinds="b")
elementwise("logical_not", np.logical_not, "not {0}", exact=True, kinds="b")
elementwise("bitwise_and", np.bitwise_and, "{0} & {1}", exact=True, kinds="bi")
elementwise("bitwise_or", np.bitwise_or, "{0} | {1}", exact=True, kinds="bi")
elementwise("bitwise_xor", np.bitwise_xor, "{0} ^ {1}", exact=True, kinds="bi")
elementwise("invert", np.invert, "~{0}", exact=True, kinds="i")
elementwise("gcd", np.gcd, "igcd({0}, {1})", exact=True, kinds="i", cost=40.0)
elementwise("lcm", np.lcm, "ilcm({0}, {1})", exact=True, kinds="i", cost=40.0)
elementwise("left_shift", np.left_shift, "ishl({0}, {1})", exact=True, kinds="i",
            domain=(0.0, 3.0))
elementwise("right_shift", np.right_shift, "ishr({0}, {1})", exact=True, kinds="i",
            domain=(0.0, 3.0))

# --- complex numbers; cotangents as in TensorFlow: dL/dx + i dL/dy --------------------------------


def _complex_op(name: str, reference: Callable[..., object], expression: str, result: str,
                vjp: Callable[..., object], jvp: Callable[..., object], cost: float = 1.0) -> None:
    """Enter an op that is linear over the reals only.

    vjp, jvp -- (z, x, ct) -> ct and (z, x, x_dot) -> z_dot
    """

    def infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
        return only(avals[0].with_dtype(RESULTS[result](avals[0].dtype)))

    def backward(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
        z, x = sweep.operand(eqn.output), sweep.operand(eqn.inputs[0])
        return [vjp(z, x, dense(cts[0]))]

    def forward(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
        return [jvp(sweep.operand(eqn.output), sweep.operand(eqn.inputs[0]), tangents[0])]

    structural(name, reference, infer, Pointwise(expression), backward, forward, cost=cost,
               exact=cost == 1.0, kinds="c", samples=lambda n: [((n,), {}), ((2, n), {})])


_complex_op("conj", np.conjugate, "({0}).conjugate()", "same",
            lambda z, x, ct: np.conj(ct), lambda z, x, x_dot: np.conj(x_dot))
_complex_op("real", np.real, "({0}).real", "real",
            lambda z, x, ct: ct.astype(x.dtype), lambda z, x, x_dot: np.real(x_dot))
_complex_op("imag", np.imag, "({0}).imag", "real",
            lambda z, x, ct: ct * x.dtype.type(1j), lambda z, x, x_dot: np.imag(x_dot))
_complex_op("complex_abs", np.absolute, "hypot(({0}).real, ({0}).imag)", "real",
            lambda z, x, ct: ct / _radius(z) * x,
            lambda z, x, x_dot: np.real(np.conj(x) * x_dot) / _radius(z), cost=10.0)


def _complex_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    dtype = np.result_type(avals[0].dtype, np.complex64)
    return only(Aval(dtype, broadcast_shapes([a.shape for a in avals])))


def _complex_reference(x: np.ndarray | np.generic, y: np.ndarray | np.generic) -> Any:
    """Join parts as they are: x + 1j * y would make a NaN of an infinite one."""
    z = np.empty(np.broadcast_shapes(np.shape(x), np.shape(y)),
                 np.result_type(x, y, np.complex64))
    z.real, z.imag = x, y
    return z[()]


def _complex_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    ct = dense(cts[0])
    return [unbroadcast(part(ct), a.aval) if sweep.wants(a) else None
            for part, a in zip((np.real, np.imag), eqn.inputs, strict=True)]


def _complex_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    return [apply("complex", *(sweep.zeros(a.aval) if t is None else t
                               for a, t in zip(eqn.inputs, tangents, strict=True)))]


structural("complex", _complex_reference, _complex_infer, Pointwise("{t}(complex({0}, {1}))"),
           _complex_vjp, _complex_jvp, exact=True, kinds="f",
           samples=lambda n: [((n,), (n,), {}), ((n, 1), (2,), {})])


# --- choice and conversion ----------------------------------------------------------------------


def _select_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(Aval(avals[1].dtype, broadcast_shapes([a.shape for a in avals])))


def _select_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    ct = cts[0]
    condition = sweep.operand(eqn.inputs[0])
    return [None, *(unbroadcast(narrow(ct, condition, side), a.aval) if sweep.wants(a) else None
                    for a, side in zip(eqn.inputs[1:], (True, False), strict=True))]


def _select_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Any]) -> list[Any]:
    x_dot, y_dot = (sweep.zeros(a.aval) if t is None else t
                    for a, t in zip(eqn.inputs[1:], tangents[1:], strict=True))
    return [np.where(sweep.operand(eqn.inputs[0]), x_dot, y_dot)]


structural("select", lambda c, x, y: np.where(c, x, y), _select_infer,
           Pointwise("select({0}, {1}, {2})", meaning="select"), _select_vjp, _select_jvp,
           exact=True, kinds="bifc",
           samples=lambda n: [(np.arange(n) % 2 == 0, (n,), (n,), {}),
                              (np.bool_(True), (n,), (1,), {}),
                              (np.arange(2) == 0, (n, 1), (), {})])


def _cast_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(Aval(params["dtype"], avals[0].shape))


def _cast_reference(x: np.ndarray | np.generic, dtype: np.dtype) -> Any:
    if dtype.kind not in "cb" and np.asarray(x).dtype.kind == "c":
        x = np.real(x)
    return np.asarray(x).astype(dtype)


def _cast_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    source = eqn.inputs[0].aval.dtype
    if not (is_differentiable(source) and is_differentiable(eqn.params["dtype"])):
        return [None]
    ct = cts[0]
    if isinstance(ct, Masked):
        moved = _cast_vjp(sweep, eqn, [ct.dense()])[0]
        return [Masked(ct.conditions, moved, ct.is_zero)]
    ct = dense(ct)
    if source.kind != "c" and ct.dtype.kind == "c":
        ct = np.real(ct)
    return [ct if ct.dtype == source else apply("cast", ct, dtype=source)]


def _cast_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    if not is_differentiable(eqn.params["dtype"]):
        return [None]
    return [apply("cast", tangents[0], dtype=eqn.params["dtype"])]


structural("cast", _cast_reference, _cast_infer, Pointwise("{t}({0})", meaning="cast"),
           _cast_vjp, _cast_jvp, exact=True,
           samples=lambda n: [((n,), {"dtype": np.dtype(t)}) for t in
                              (np.float64, np.complex128, np.int64, np.bool_)])

VARIANTS.update({(find_op(name), kind): find_op(variant) for name, kind, variant in (
    ("add", "b", "logical_or"), ("mul", "b", "logical_and"),
    ("maximum", "b", "logical_or"), ("minimum", "b", "logical_and"),
    ("invert", "b", "logical_not"), ("bitwise_and", "b", "logical_and"),
    ("bitwise_or", "b", "logical_or"), ("bitwise_xor", "b", "logical_xor"),
    ("div", "c", "complex_div"), ("abs", "c", "complex_abs"), ("power", "c", "complex_power"))})
