"""Signatures of transformed functions: the parameters of a call, and the type of its result.

    f: (x: A, k: int) -> float        grad(f): (x: A, k: int) -> Any
    value_and_grad(f): (x: A, k: int) -> tuple[float, Any]
    vjp(f): (x: A, k: int) -> tuple[float, Callable[[Any], Any]]
    jvp(f): (primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[float, Any]

A gradient has the type of the arguments that `argnums` chooses: its annotation is Any. An
annotation that is a text stays one within a tuple, where `typing.get_type_hints` finds it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter, Signature
from types import GenericAlias
from typing import Any, get_args, get_origin

__all__ = ["by_place", "give_signature"]

_BESIDE = {"jvp": Any, "vjp": Callable[[Any], Any]}
"""The annotation of a tangent and of a pullback, which come with a value."""

_ALONG = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=tuple[Any, ...])
          for name in ("primals", "tangents")]
"""The parameters of a derivative along a direction."""


def give_signature(made: Any, name: str, fn: Callable[..., object], has_aux: bool = False) -> None:
    """Let `inspect.signature` and `typing.get_type_hints` give the signature of a transform.

    made -- a transform of the function `fn`, for which they would give the signature of `fn`
    """
    try:
        own = inspect.signature(fn)
    except (TypeError, ValueError):  # a builtin that does not tell
        if name not in ("jvp", "hvp"):
            return
        own = Signature()
    parameters = list(own.parameters.values())
    if name in ("jvp", "hvp"):
        parameters = _ALONG
    if name == "vmap":  # takes arrays of arguments
        parameters = [p.replace(annotation=Parameter.empty) for p in parameters]
    result = _result(name, own.return_annotation, has_aux)
    made.__signature__ = Signature(parameters, return_annotation=result)
    annotations = {p.name: p.annotation for p in parameters} | {"return": result}
    made.__annotations__ = {k: a for k, a in annotations.items() if a is not Parameter.empty}


def _result(name: str, own: object, has_aux: bool) -> Any:
    """Return the annotation of a transform's result, made of the function's annotation."""
    value, aux = (Any if own is Signature.empty else own), Any
    if has_aux:
        pair = get_args(own) if get_origin(own) is tuple else ()
        value, aux = pair if len(pair) == 2 and ... not in pair else (Any, Any)
    if name == "value_and_grad":
        return _tuple(_tuple(value, aux) if has_aux else value, Any)
    parts = (value, _BESIDE[name]) if name in _BESIDE else (Any,)
    if has_aux or len(parts) > 1:
        return _tuple(*parts, *(aux,) * has_aux)
    return own if own is Signature.empty else Any


def _tuple(*parts: object) -> Any:
    return GenericAlias(tuple, parts)


def by_place(solver: Callable[..., object], args: tuple[object, ...],
             kwargs: dict[str, object]) -> tuple[object, ...]:
    """Return the arguments of a call without keywords, as the residual takes them."""
    if not kwargs:
        return args
    bound = inspect.signature(solver).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"{', '.join(bound.kwargs)} of {getattr(solver, '__name__', 'a solver')} "
                        "can be given by name alone, and the residual takes what the solver does, "
                        "by position. Let it have a position")
    return bound.args
