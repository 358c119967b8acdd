"""The Numba type of a function of ours: how `@njit` code types a call of it and compiles it.

Numba meets such a function as a global, a closure's cell or an argument. The meaning of a call is
decided by a *resolver*, which traces the function for the Numba types of the call's arguments.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Protocol

from numba.core import types
from numba.core.imputils import Registry
from numba.core.registry import cpu_target
from numba.core.typing.templates import signature
from numba.extending import NativeValue, models, register_model, unbox

from tracejit.codegen.njit_call import NjitCall
from tracejit.codegen.njit_link import emit_call

if TYPE_CHECKING:
    from llvmlite import ir
    from numba.core.base import BaseContext as TargetContext

__all__ = ["FunctionType", "Resolver"]

Key = tuple[tuple[Any, ...], tuple[str, ...]]
"""The Numba types of a call's arguments, and the names of the last ones, which are given so."""


class Resolver(Protocol):
    """The resolver of the calls of one function."""

    def resolve(self, args: Sequence[object], names: Sequence[str]) -> NjitCall:
        """Return the call for arguments of these types; `TypingError` where there is none."""


class FunctionType(types.Callable, types.Opaque):
    """The type of one function: each has its own, so that calls are known at typing time."""

    _numbers = itertools.count()

    def __init__(self, function: Callable[..., object], resolver: Resolver) -> None:
        self.function, self.resolver = function, resolver
        self.calls: dict[Key, NjitCall] = {}
        super().__init__(f"{function!r} #{next(self._numbers)}")

    @property
    def key(self) -> int:
        """Return the key that tells two of these types apart; a type keeps its function alive."""
        return id(self.function)

    def get_call_type(self, context: TargetContext, args: Sequence[object],
                      kws: dict[str, object]) -> Any:
        """Return the signature of a call."""
        names = tuple(dict(kws))
        call = self.resolver.resolve((*args, *dict(kws).values()), names)
        key = (tuple(call.args), names)
        if self.calls.get(key) is not call:
            self.calls[key] = call
            cpu_target.target_context.insert_func_defn([(_implementation(call), call, call.args)])
        made = signature(call.result, *call.args)
        return made.replace(pysig=_python_signature(len(args), names)) if names else made

    def get_call_signatures(self) -> tuple[tuple[Any, ...], bool]:
        """Return the signatures known so far, and that there are more."""
        return tuple(signature(c.result, *c.args) for c in self.calls.values()), True

    def get_impl_key(self, sig: Any) -> NjitCall:
        """Return the call that a signature stands for."""
        names = () if sig.pysig is None else tuple(
            p.name for p in sig.pysig.parameters.values() if p.kind is not p.POSITIONAL_ONLY)
        return self.calls[tuple(sig.args), names]


def _implementation(call: NjitCall) -> Any:
    def implementation(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                       args: Sequence[ir.Value]) -> Any:
        return emit_call(context, builder, call, args)

    return implementation


def _python_signature(count: int, names: Sequence[str]) -> Signature:
    """Return the signature of a call with `count` positional arguments and some by name."""
    prefix = "_" * (1 + max(map(len, names)))
    return Signature([*(Parameter(f"{prefix}{k}", Parameter.POSITIONAL_ONLY) for k in range(count)),
                      *(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names)])


register_model(FunctionType)(models.OpaqueModel)
_REGISTRY = Registry("tracejit functions")


@_REGISTRY.lower_constant(FunctionType)
def _constant(context: TargetContext, builder: ir.IRBuilder, kind: types.Type,
              value: object) -> Any:
    return context.get_dummy_value()


@unbox(FunctionType)
def _unbox(kind: types.Type, x: object, c: Any) -> Any:
    """The value says nothing that the type does not say."""
    return NativeValue(c.context.get_dummy_value())


cpu_target.target_context.install_registry(_REGISTRY)
