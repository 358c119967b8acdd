"""The fast entry: one C-level function for all specialisations, driven by a table of words.

It checks arguments by pointer comparisons, reads array headers itself, makes the results, and calls
the kernel; calls that it does not expect go to the next entry or to Python. Made once per
process, in about 20 ms.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tracejit.program import layout
from tracejit.program.interrupts import poll_address
from tracejit.store.store import shared_object

__all__ = ["make_entry", "release_memory"]


class _Method(ctypes.Structure):
    """The fields that a builtin function reads of itself until it is gone: a `PyMethodDef`."""

    _fields_ = (("name", ctypes.c_void_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("doc", ctypes.c_void_p))


METH_FASTCALL, METH_KEYWORDS = 0x80, 0x02


@functools.cache
def _engine() -> Any:
    """Load the entry and return the engine that finds its functions."""
    from tracejit.codegen.machine import load_object

    llvm.add_symbol("tracejit_poll", poll_address(keeps=False))
    llvm.add_symbol("tracejit_array_type", id(np.ndarray))
    llvm.add_symbol("tracejit_numpy_new", layout.numpy_function(layout.NUMPY_NEW_FROM_DESCR))
    llvm.add_symbol("tracejit_scalar", layout.numpy_function(layout.NUMPY_SCALAR))
    return load_object(shared_object("entry", _compile))


@functools.cache
def _address() -> int:
    return int(_engine().get_function_address("tracejit_entry"))


def release_memory() -> None:
    """Free the block that is kept between calls, if the entry has been made."""
    if _engine.cache_info().currsize:
        address = _engine().get_function_address("tracejit_release")
        ctypes.CFUNCTYPE(None)(address)()


def _compile() -> bytes:
    from tracejit.codegen.machine import target_machine
    from tracejit.program.entry_source import entry_text

    module = llvm.parse_assembly(entry_text())
    machine = target_machine()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def make_entry(table: np.ndarray, name: str, kept: list[object]) -> Any:
    """Return a builtin function that calls a specialisation; its `__self__` has the table's words.

    Its description and its name are in the memory of the words, behind them. The garbage collector
    empties lists and dicts in a cycle before the function goes, but no arrays.

    kept -- the objects that words name; the function keeps them alive in its module's place
    """
    text = np.frombuffer(name.encode() + b"\0", np.uint8)
    behind = table.nbytes + ctypes.sizeof(_Method)
    memory = np.zeros(behind + len(text), np.uint8)
    memory[:table.nbytes], memory[behind:] = table.view(np.uint8), text
    method = _Method.from_buffer(memory.data, table.nbytes)
    method.name, method.function = memory.ctypes.data + behind, _address()
    method.flags = METH_FASTCALL | METH_KEYWORDS
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return new(ctypes.addressof(method), memory[:table.nbytes].view(np.int64), kept)
