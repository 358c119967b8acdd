"""The peers' modules under the names that their users give them, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["anp", "autograd", "ca", "jax", "jnp", "pt", "pytensor", "torch"]


class Lazily:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self.name), attribute)


anp, autograd, jax, jnp, torch = map(
    Lazily, ("autograd.numpy", "autograd", "jax", "jax.numpy", "torch"))
pytensor, pt, ca = map(Lazily, ("pytensor", "pytensor.tensor", "casadi"))
