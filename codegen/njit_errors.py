"""Exceptions with numbers in their messages, raised out of `@njit` code: one class for each kind.

Numba makes an exception of its class and of values. Here these are a message and numbers for its
fields; the exception is then that kind with the message that Python code gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core.callconv import CPUCallConv

from tracejit.errors import class_of_raisable, raisable_of_class

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext

__all__ = ["formatted", "raise_formatted"]


def _formatted(kind: type[Exception]) -> type[Exception]:
    def __init__(self: Any, message: str, *numbers: float) -> None:
        kind.__init__(self, message.format(*numbers))

    def __reduce__(self: Any) -> Any:
        return kind, self.args

    return type(class_of_raisable(kind), (kind,),
                {"__init__": __init__, "__reduce__": __reduce__, "__module__": __name__})


def __getattr__(name: str) -> type[Exception]:
    """Return such a class by the name by which Numba pickles it."""
    if (kind := raisable_of_class(name)) is None:
        raise AttributeError(name)
    return formatted(kind)


_FORMATTED: dict[type[Exception], type[Exception]] = {}


def formatted(kind: type[Exception]) -> type[Exception]:
    """Return the class of a kind whose message is made when it is raised."""
    return _FORMATTED.get(kind) or _FORMATTED.setdefault(kind, _formatted(kind))


class _Convention(CPUCallConv):
    """Numba's calling convention, for functions that have no environment."""

    def emit_unwrap_dynamic_exception_fn(self, module: ir.Module, st_type: ir.Type,
                                         nb_types: object) -> Any:
        """Return the function that makes Python floats of the numbers, and frees them."""
        count = len(st_type)
        name = f"tracejit_floats_{count}"
        if name in module.globals:
            return module.globals[name]
        byte = ir.IntType(8).as_pointer()
        function = ir.Function(module, ir.FunctionType(byte, [byte]), name)
        function.linkage = "linkonce_odr"
        b = ir.IRBuilder(function.append_basic_block("entry"))
        numbers = b.load(b.bitcast(function.args[0], st_type.as_pointer()))
        pyapi = self.context.get_python_api(b)
        floats = [pyapi.float_from_double(b.extract_value(numbers, k)) for k in range(count)]
        self.context.nrt.free(b, function.args[0])
        b.ret(pyapi.tuple_pack(floats))
        return function


def raise_formatted(context: TargetContext, builder: ir.IRBuilder, kind: type[Exception],
                    message: str, numbers: Sequence[ir.Value], place: object,
                    function: str) -> None:
    """Emit the return from a function with an exception, its message made of floats."""
    types = (None, *(None for _ in numbers))
    _Convention(context).return_dynamic_user_exc(
        builder, formatted(kind), (message, *numbers), types, place, function)
