"""Where PyTorch and tracejit differ on purpose, and how results without one sign are compared."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.op_db.check import Outcome

__all__ = ["THROUGH", "WRAPPERS", "because"]


def _sizes(*numbers: int) -> Callable[[Any], Any]:
    """Return the function that takes absolute values of results whose phases are free."""
    def through(results: Any) -> Any:
        return [abs(x) if k in numbers else x for k, x in enumerate(results)]
    return through


# Vectors have a free sign or phase: their absolute values are compared.
THROUGH: dict[str, Callable[[Any], Any]] = {
    "linalg_eigh": _sizes(1), "linalg_eig": _sizes(1), "linalg_svd": _sizes(0, 2),
    "svd": _sizes(0, 2),
}


def _hermitian(form: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args, **kwargs: form(x + np.conj(np.swapaxes(x, -1, -2)), *args, **kwargs)


def _triangular(form: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(x: Any, *args: Any, upper: bool = False, **kwargs: Any) -> Any:
        return form(np.triu(x) if upper else np.tril(x), *args, upper=upper, **kwargs)
    return wrapped


def _positive_diagonal(form: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(x: Any, upper: bool = False) -> Any:
        unit = np.eye(x.shape[-1], dtype=x.dtype)
        positive = x * (1 - unit) + unit
        return form(np.triu(positive) if upper else np.tril(positive), upper=upper)
    return wrapped


def _masked(form: Callable[..., Any]) -> Callable[..., Any]:
    """Results without an element are 0, as are masked elements of what keeps the shape."""
    def wrapped(x: Any, *args: Any, mask: Any = None, **kwargs: Any) -> Any:
        found = form(x, *args, mask=mask, **kwargs)
        if mask is None:
            return found
        full = np.broadcast_to(mask, x.shape)
        keeps_shape = "dim" not in kwargs and np.shape(found) == x.shape
        if keeps_shape and args and isinstance(args[-1], int):
            return np.where(full, found, 0.0)
        dim = kwargs.get("dim")
        axes = tuple(dim) or None if isinstance(dim, list | tuple) else dim
        some = np.any(full, axis=axes, keepdims=kwargs.get("keepdim", False))
        return np.where(some, found, np.zeros_like(found))
    return wrapped


def _masked_pair(form: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(x: Any, y: Any, input_mask: Any = None, other_mask: Any = None) -> Any:
        found = form(x, y, input_mask=input_mask, other_mask=other_mask)
        masks = [m for m in (input_mask, other_mask) if m is not None]
        return np.where(functools.reduce(np.logical_and, masks), found, 0.0) if masks else found
    return wrapped


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "gradcheck_wrapper_hermitian_input": _hermitian,
    "gradcheck_wrapper_triangular_input_real_positive_diagonal": _positive_diagonal,
    "gradcheck_wrapper_masked_operation": _masked,
    "gradcheck_wrapper_masked_pointwise_operation": _masked_pair,
}

# Ops ("" for all), a part of what is said of a difference, and the reason for it.
REASONS = (
    ("linalg_eig", "not float", "eigenvalues of real matrices are complex here: docs/numerics.md"),
    ("cov", "gradient", "PyTorch's weights are of single precision"),
    ("linalg_pinv", "leaves out singular values", "ends with an error: a derivative of a "
     "pseudoinverse that leaves out singular values which are not 0 is not captured"),
    ("linalg_norm_subgradients", "gradient", "at the kink of a norm at 0 other subgradients; of "
     "orders below 1, which are no norms, NaN here and 0 there"),
    (("clamp_min", "clamp_max"), "gradient", "two equal numbers share the derivative of their "
     "extremum: a half for each, in PyTorch all for the first"),
    ("clamp", "doesn't match the broadcast shape", "PyTorch's derivative ends with an error"),
    ("acosh", "gradient by argument 0: nan", "where the value is NaN so is the derivative"),
    ("", "where the argument is infinite or NaN", "derivatives at infinity and at NaN"),
    ("", ", not nan", "PyTorch's derivative is NaN, the one here is finite"),
)


def because(op: str, outcome: Outcome) -> Outcome:
    """Return the outcome, with the reason in place of the words where it is a known difference."""
    if outcome.kind in ("differs", "error"):
        for ops, words, reason in REASONS:
            if op.startswith(ops) and words in outcome.detail:
                return Outcome("explained", reason)
    return outcome
