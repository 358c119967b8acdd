"""The functions that Loop IR calls: one row each, from which every list of their names is derived.

A row says which dtype a result has, the cost of a call, and who may call the function. How the
function is carried out is said where a target's functions are made: `scalar_intrinsics.py` and
`scalar_functions.py` for the CPU, `cuda/functions.py` for devices; functions of `math` need no more
than their row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tracejit.ir.scipy_functions import C_FUNCTIONS

__all__ = ["SCALARS", "Scalar", "names_where", "scalar"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A function of scalars, or a routine on buffers.

    result  -- the dtype of a call: "operands", to which the operands promote; "array", the first
               operand's; "part", of a part of a complex number; the name of a dtype; "" for none
    flops   -- how a call counts: "add" or "compare", one operation; "call", the function by its
               name; "" for nothing
    quick   -- whether a call takes a few instructions
    libm    -- of a function of libm that has vector variants, the number of operands; else 0
    math    -- its name in NumPy where `math`, which numba-cuda maps to libdevice, has it as `name`
    device  -- whether libdevice has it as `name`, and NumPy too
    host    -- whether the host of a device has it
    context -- whether the kernel's context is passed first
    effect  -- whether a call does more than compute
    """

    name: str
    result: str = "operands"
    flops: str = "call"
    quick: bool = False
    libm: int = 0
    math: str = ""
    device: bool = False
    host: bool = False
    context: bool = False
    effect: bool = False


def _libm(name: str, math: str = "", *, operands: int = 1, device: bool = False) -> Scalar:
    return Scalar(name, libm=operands, math=math, device=device)


def _context(name: str, result: str = "i64", *, effect: bool = True) -> Scalar:
    return Scalar(name, result, "", context=True, effect=effect)


_ROWS = (
    # Functions of libm, in vectors and alone: a row is all that one more takes on every target.
    _libm("exp", "exp"), _libm("exp2", device=True), _libm("expm1", "expm1"), _libm("log", "log"),
    _libm("log2", "log2"), _libm("log10", "log10"), _libm("log1p", "log1p"), _libm("sin", "sin"),
    _libm("cos", "cos"), _libm("tan", "tan"), _libm("asin", "arcsin"), _libm("acos", "arccos"),
    _libm("atan", "arctan"), _libm("sinh", "sinh"), _libm("cosh", "cosh"), _libm("tanh", "tanh"),
    _libm("asinh", "arcsinh"), _libm("acosh", "arccosh"), _libm("atanh", "arctanh"),
    _libm("cbrt", device=True), _libm("erf"), _libm("erfc"), _libm("j0", device=True),
    _libm("j1", device=True), _libm("y0", device=True),
    _libm("y1", device=True), _libm("lgamma", device=True), _libm("tgamma", device=True),
    _libm("pow", operands=2), _libm("atan2", "arctan2", operands=2),
    _libm("hypot", "hypot", operands=2), _libm("nextafter", "nextafter", operands=2),
    # A few instructions each.
    Scalar("sqrt", quick=True, math="sqrt"),
    Scalar("fabs", flops="compare", quick=True, math="absolute"),
    Scalar("floor", flops="compare", quick=True, device=True),
    Scalar("ceil", flops="compare", quick=True, device=True),
    Scalar("trunc", flops="compare", quick=True, device=True),
    Scalar("rint", flops="compare", quick=True, device=True),
    Scalar("copysign", flops="compare", quick=True, math="copysign"),
    Scalar("maximum", flops="compare", quick=True), Scalar("minimum", flops="compare", quick=True),
    Scalar("round_f16", "f32", "", quick=True), Scalar("radd", flops="add"),
    Scalar("select", flops="", quick=True, host=True),
    Scalar("between", "bool", "", quick=True, host=True),
    Scalar("fmod", math="fmod"), Scalar("abs"), Scalar("complex", "c128", ""),
    Scalar("real", "part", ""), Scalar("imag", "part", ""), Scalar("conjugate", flops=""),
    # Integers: sizes and indices are made with these.
    Scalar("imax", flops="", quick=True, host=True),
    Scalar("imin", flops="", quick=True, host=True),
    Scalar("idiv", flops="", host=True), Scalar("imod", flops="", host=True),
    Scalar("stretch", "i64", "", host=True),
    Scalar("ipow"), Scalar("ishl"), Scalar("ishr"), Scalar("irem"),
    Scalar("igcd"), Scalar("ilcm"),
    # Functions defined as Python, in `scalar_functions.py`.
    Scalar("floor_divide"), Scalar("remainder"), Scalar("cdiv"), Scalar("cpow"),
    *(Scalar(name, "f64") for name in (
        "i0e", "i1e", "normal_quantile", "gamma_density", "gamma_part", "beta_density", "beta_part",
        "gamma_quantile", "beta_quantile", "student_t", "student_t_quantile", "count_quantile",
        "bessel_j", "bessel_y", "bessel_ie", "bessel_ke", "exponential_integral", "expi", "dawsn",
        "erfcx", "erfi", "sine_integral", "cosine_integral", "fresnel_sine", "fresnel_cosine",
        "spence", "owens_t", "airy_function", "struve", "hyper_1f1",
        "hyper_2f1", "odd_factorials_real")),
    Scalar("faddeeva", "c128"), Scalar("odd_factorials", "c128"), Scalar("lambert_w", "c128"),
    *(Scalar(f"c_{name}", "c128" if f.result == "z" else "f64")
      for name, f in C_FUNCTIONS.items()),
    # Memory: the workspace's, and Logs, which grow.
    _context("within", "array", effect=False),
    _context("log_base", "", effect=False), _context("log_capacity"), _context("log_grow"),
    Scalar("advance", "array", ""),
    # The kernel and its callers.
    _context("fail"), _context("interrupted"), _context("show"),
    _context("call_back"),     _context("parallel_for"),
    Scalar("call_native", "i64", "", effect=True), Scalar("slot", "i64", ""),
    Scalar("lap", "", "", effect=True), Scalar("tally", "", "", effect=True),
    Scalar("scalar_loop", "", ""),
    # Routines on buffers.
    Scalar("gemm", "", ""), Scalar("gemm_at", "", ""), Scalar("gemm_block", "", ""),
    Scalar("small_gemm", "", ""), Scalar("small_gemm_at", "", ""),
    Scalar("potrf", "i64", ""), Scalar("getrf", "i64", ""), Scalar("trsm", "", ""),
    Scalar("lapack", "i64", ""),
    Scalar("draw_fill", "", "", effect=True), Scalar("draw_bounded", "", "", effect=True),
    Scalar("draw_each", "", "", effect=True), Scalar("draw_below", "", "", effect=True),
    Scalar("argsort", "", ""), Scalar("eigh", "i64", ""),
    Scalar("dft", "", ""), Scalar("real_dft", "", ""), Scalar("dft_real", "", ""),
    Scalar("positions", "", ""), Scalar("search", "", ""), Scalar("place_of", "i64", ""),
    Scalar("matrix_product", "", ""), Scalar("accumulate", "", ""),
)

SCALARS = {row.name: row for row in _ROWS}


def scalar(name: str) -> Scalar:
    """Return the row of a function; one that only a renderer calls has none, and gets a plain one.
    """
    return SCALARS.get(name) or Scalar(name, "operands", "")


def names_where(**columns: object) -> tuple[str, ...]:
    """Return the names of the functions whose rows have these values, in the order of the table."""
    return tuple(row.name for row in SCALARS.values()
                 if all(getattr(row, key) == value for key, value in columns.items()))


def _unique(rows: Iterable[Scalar]) -> None:
    assert len({row.name for row in rows}) == len(_ROWS), "a function has two rows"


_unique(_ROWS)
