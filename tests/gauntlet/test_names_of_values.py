"""Which names arrays and numbers have: those of NumPy's and Python's classes, and none of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

VALUES: dict[str, Any] = {"array": np.array([[1.0, 2.0]]), "float": 2.0, "int": 3,
                          "scalar": np.float64(2.0)}
OWN = sorted({name for kind in (Tracer, SymInt) for name in dir(kind)} | {"aval", "value", "dim"})
NAMES = sorted({*OWN, *dir(np.ndarray), *dir(float), *dir(int), *dir(type), "units", "detach"})


def asked(x: Any) -> Any:
    return [1.0 if hasattr(x, name) else 0.0 for name in NAMES]


def absent(x: Any) -> Any:
    return [1.0 if getattr(x, name, None) is None else 0.0 for name in OWN]


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("f", [asked, absent])
def test_names_are_those_of_the_class(f: Any, kind: str) -> None:
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(VALUES[kind]) == f(VALUES[kind])


def tried(x: Any) -> Any:
    try:
        return x * len(x.value)
    except AttributeError:
        return x * 3.0


def read(x: Any) -> Any:
    return x.aval


@pytest.mark.parametrize("kind", VALUES)
def test_names_of_our_own_are_none_of_the_values(kind: str) -> None:
    x = VALUES[kind]
    with tracejit.config(disable_jit=True):
        with pytest.raises(AttributeError):
            tracejit.jit(read)(x)
        try:
            found = tracejit.jit(tried)(x)
        except tracejit.Refusal:
            return
    np.testing.assert_array_equal(found, tried(x))
