"""Functions that are not captured are refused for a reason of their own, at the user's line."""

from __future__ import annotations

import pkgutil
from typing import Any

import numpy as np
import pytest

import tracejit
import tracejit.api  # (fills the tables)
from tracejit.trace.ground.reasons import REASONS, WhyNot

X = np.array([0.5, 1.5])
REFUSED = [(module, reason, names.split()) for module, rows in REASONS.items()
           for reason, names in rows.items() if not reason.plain]


@pytest.mark.parametrize(("module", "reason", "names"), REFUSED)
def test_a_call_with_a_traced_argument_is_refused_for_the_reason(
        module: str, reason: WhyNot, names: list[str]) -> None:
    for name in names:
        fn: Any = getattr(pkgutil.resolve_name(module), name, None)
        if fn is None:  # not of this NumPy or SciPy
            continue
        with pytest.raises(tracejit.Refusal) as refusal:
            tracejit.jit(lambda x, fn=fn: fn(x))(X)
        assert f"{name} cannot be captured: {reason.text}. {reason.remedy}" in str(refusal.value)
        assert str(refusal.value).startswith(f"{__file__}:")


def test_functions_about_types_are_evaluated_in_the_capture() -> None:
    def half(x: np.ndarray) -> Any:
        wide = np.promote_types(x.dtype, np.float64)
        return x.astype(wide) * (0.5 if np.issubdtype(x.dtype, np.floating) else 2.0)

    assert tracejit.grad(lambda x: np.sum(half(x)))(X).tolist() == [0.5, 0.5]


def test_a_number_of_the_run_is_refused_for_the_reason() -> None:
    with pytest.raises(tracejit.Refusal, match="it tells of dtypes and shapes"):
        tracejit.jit(lambda x: np.min_scalar_type(x[0]))(X)
