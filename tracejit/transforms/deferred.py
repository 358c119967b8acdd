"""A transform by name and settings: the module that carries it out is imported when it is needed.

So a program that is found in the store of compiled ones is called without the tracer.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.configuration import switched_off
from tracejit.runtime.function import Function, make_function
from tracejit.trace.values.specs import ArgSpec
from tracejit.transforms.arguments import open_arguments
from tracejit.transforms.options import Options
from tracejit.transforms.pickling import reduce_function
from tracejit.transforms.signatures import give_signature
from tracejit.tree import Structure, flatten_call, has_one_twice

if TYPE_CHECKING:
    from tracejit.runtime.program import Program

__all__ = ["Deferred"]

OPENING = {"grad", "value_and_grad"}
"""The transforms that may differentiate by objects; their first setting is `argnums`."""

_WHOLE = {np.ndarray, float, int, complex, np.float64}
"""Types of arguments without parts."""

WITH_AUX = {"grad", "value_and_grad", "jacrev", "jacfwd", "hessian"}
"""The transforms whose second setting is `has_aux`."""


class Deferred:
    """A transform of a function.

    home     -- "module:name" of the function that makes it from function, settings and options
    settings -- the user's settings, such as argnums
    """

    name: str
    home: str
    fn: Callable[..., Any]
    settings: tuple[Any, ...]
    options: Options

    def __init__(self, name: str, home: str, fn: Callable[..., object],
                 settings: tuple[object, ...], options: Options) -> None:
        self.name, self.home, self.fn = name, home, fn
        self.settings, self.options = settings, options

    def function(self) -> Function:
        """Return the callable, with the signature of its calls."""
        made = make_function(self)
        if self.name != "jit":
            give_signature(made, self.name, self.fn, self.name in WITH_AUX and self.settings[1])
        return made

    @functools.cached_property
    def transform(self) -> Any:
        """Return the object that carries the transform out."""
        import tracejit.scipy_api  # (importing fills the tables)
        import tracejit.transforms.optimizers
        import tracejit.transforms.stiff_equations  # noqa: F401
        from tracejit.trace.ground.own_numpy import keep_numpy

        module, _, name = self.home.partition(":")
        make = getattr(importlib.import_module(f"tracejit.transforms.{module}"), name)
        keep_numpy()
        return make(self.fn, *self.settings, self.options)

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[object] | None) -> Program:
        """Capture the function for arguments of these specs."""
        with switched_off(self.options.switched_off):
            program: Program = self.transform.make_program(specs, structure, leaves)
        return program

    def opened(self, args: tuple[object, ...],
               kwargs: dict[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
        """Return the arguments of a call; objects that it differentiates by are taken apart."""
        if self.name not in OPENING or (all(type(x) in _WHOLE for x in args) and not kwargs):
            return args, kwargs
        return open_arguments(self.fn, self.settings[0], args, kwargs)

    def reduce(self, function: Function) -> Any:
        """Return the result of `__reduce__` for the function of this transform."""
        return reduce_function(function, self)

    def token(self) -> tuple[object, ...]:
        """Return the token by which Dask knows the function of this transform."""
        from tracejit.transforms.tokens import token_of

        return token_of(self)

    def inline(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Make a call part of the capture around it."""
        from tracejit.trace.ground.context import refuse

        args, kwargs = self.opened(args, kwargs)
        if self.name != "jit" and has_one_twice(flatten_call(args, kwargs)[1]):
            raise refuse(f"{self.name}, within a capture, of a list, dict or object that is an "
                         "argument twice", "Pass a copy as one of them", "TJ509")
        with switched_off(self.options.switched_off):
            return self.transform.inline(args, kwargs)
