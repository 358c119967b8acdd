"""What an older SciPy lacks: tables of cases name it, and tests that call it are skipped.

A module of SciPy hands one out to a file of the tests alone, so that others see what is there.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

__all__ = ["stand_in_for_lacking"]

_WRITTEN_FOR = (1, 17)
"""The SciPy of which the tables name functions."""
_HERE = str(Path(__file__).parent)
_MODULES = ("cluster.vq", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize",
            "signal", "sparse", "sparse.linalg", "spatial", "spatial.distance",
            "spatial.transform", "special", "stats")


class Lacking:
    """A function that is not there; what is asked of it is not there either."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if os.environ.get("PYTEST_CURRENT_TEST"):
            pytest.skip(f"the installed SciPy has no {self.__name__}")
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Lacking(f"{self.__name__}.{name}")

    def __repr__(self) -> str:
        return f"<{self.__name__}, which is not there>"


def _give(module: ModuleType) -> None:
    """Let a module give functions that it lacks to tests, which ask by their tables."""
    own = vars(module).get("__getattr__")

    def lacking(name: str) -> Any:
        try:
            if own is not None:
                return own(name)
        except AttributeError:
            pass
        if name.startswith("_") or not sys._getframe(1).f_code.co_filename.startswith(_HERE):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        return Lacking(f"{module.__name__}.{name}")

    module.__getattr__ = lacking  # type: ignore[method-assign]


def stand_in_for_lacking() -> None:
    """Let modules of a SciPy older than the tables give stand-ins for what they lack."""
    if tuple(map(int, version("scipy").split(".")[:2])) < _WRITTEN_FOR:
        for name in _MODULES:
            _give(importlib.import_module(f"scipy.{name}"))
