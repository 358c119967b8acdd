"""Hypergeometric functions of real numbers."""

from __future__ import annotations

from tracejit.numpy_api.special import in_double
from tracejit.ops.hypergeometric import certain
from tracejit.trace.ground.dispatch import scipy_captures

__all__: list[str] = []

scipy_captures("scipy.special", {
    name: in_double(name, lambda *xs, name=name: certain(name, *xs)) for name in (
        "hyp1f1", "hyp2f1")})
