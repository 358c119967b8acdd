"""A kernel as a module of its own for Numba: entry, kernel, and copies of what the kernel calls.

    from numba import njit            imports
    def select(...)                   the functions that the kernel calls, and what these need
    def kernel(ctx, x, out0, n)       the emitted source as it is
    def grad_f(x)                     what users call: it checks sizes, makes results, raises
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tracejit.codegen import library_calls, numba_arguments, scalar_intrinsics
from tracejit.codegen.buffers import Buffer
from tracejit.codegen.bundles import Bundle, names_read
from tracejit.codegen.context import LOGS
from tracejit.codegen.intrinsics import namespace
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.plan import Condition, size_plan
from tracejit.codegen.pointers import NUMBA_TYPES
from tracejit.codegen.python_source import write
from tracejit.codegen.scalars import names_where
from tracejit.codegen.slots import arena_size, dim_source
from tracejit.errors import RAISABLE, ExportError
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim
from tracejit.ir.dtypes import DTYPES, dtype_name, is_half
from tracejit.ir.user_text import in_docstring, on_one_line

__all__ = ["NumbaEntry", "module_text"]

PACKAGE = "tracejit.codegen"
CONTEXT = ("fail", "interrupted", "log_base", "advance", "log_capacity")
BLAS = tuple(library_calls.names())
MADE = {"log_grow": "_log_growth(realloc)", "inf": "float('inf')", "nan": "float('nan')"}

_WHY = {
    "show": "prints, which a module for Numba cannot. Take the print out of the program",
    "call_native": "calls an op's compiled function, which lives in this process alone. Make the "
                   "op of a plain Python function, which is captured",
    "parallel_for": "shares loops among threads. Leave threads= away",
    **{f"draw_{end}": "draws random numbers from a Generator. Pass the numbers as an argument"
       for end in ("fill", "bounded", "each", "below")},
}


@dataclass(frozen=True, slots=True)
class NumbaEntry:
    """What users call: its name, its docstring, and the conditions on sizes, with their texts."""

    name: str
    about: Sequence[str]
    conditions: Sequence[tuple[Condition, str]]
    is_strict: bool


def module_text(kernel: Kernel, entry: NumbaEntry) -> str:
    """Return the module's text; `ExportError` where a program needs more than NumPy and Numba."""
    if any(is_half(v.aval.dtype) for v in (*kernel.graph.inputs, *kernel.graph.outputs)):
        raise ExportError(f"{kernel.graph.name} has float16 arguments or results, which Numba "
                          "lacks on CPUs. Pass and return float32")
    source = write(kernel).lines
    start = next(k for k, line in enumerate(source) if line.startswith("def kernel("))
    shown = [*source[start:]]
    body = [*_entry(kernel, entry)]
    bundle = Bundle()
    called = dict.fromkeys(names_read(ast.parse("\n".join([*shown, *body]))))
    known = namespace(())
    for name in called:
        if name in known and _home(name) is None:
            bundle.reserve(name)
    if not entry.is_strict:
        bundle.add(f"{PACKAGE}.vector_math", "host_widths")
    rows = [f"WIDTHS = {'()' if entry.is_strict else 'host_widths()'}"]
    for name in called:
        if name in known:
            rows += _bind(bundle, name, kernel.graph.name, entry.is_strict)
        elif name in numba_arguments.__all__:
            bundle.add(f"{PACKAGE}.numba_arguments", name)
    text = "\n".join([*_head(kernel, entry, bundle), *_spaced(bundle.definitions), "", "",
                      *_prepared(bundle), *rows, "", "",
                      '@njit(error_model="numpy")', *shown, "", "", *body, ""])
    if len(re.findall(rf"^(?:(?:def|class) {entry.name}\b|{entry.name} = |.*import {entry.name}$)",
                      text, re.MULTILINE)) > 1:
        raise ExportError(f"{entry.name!r} is the name of another function of the module. Give "
                          "name= another")
    return text


def _spaced(definitions: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for text in definitions:
        lines += ["", "", text] if text.startswith(("def ", "class ", "@")) else ["", text]
    return lines


def _head(kernel: Kernel, entry: NumbaEntry, bundle: Bundle) -> list[str]:
    imports = dict.fromkeys(("import numpy as np", "from numba import njit", *bundle.imports))
    imports |= dict.fromkeys(("from numba.core import types",
                              "from numba.core.registry import cpu_target"))
    return [f'"""{in_docstring(kernel.graph.name)}: a module for Numba, made by tracejit, which it '
            "does not need.", "", f"Call `{entry.name}`, which is at the end: from Python, or from "
            "other @njit code. Before it is", "the kernel, with the lines of the program that each "
            "line is from; what it calls is above.", '"""', "",
            "from __future__ import annotations", "", *sorted(
                imports, key=lambda line: (line.startswith("from"), line))]


def _prepared(bundle: Bundle) -> list[str]:
    """Return the lines that make Numba know the definitions, and find the libraries' functions."""
    text = "\n".join(bundle.definitions)
    lines = []
    if "def load_libmvec" in text:
        lines.append("load_libmvec()  # before machine code that calls it is read from a cache")
    if "def find_blas" in text:
        lines.append("find_blas()  # before machine code that calls it is read from a cache")
    if "class Ptr(" in text:
        lines += ["for context, registry in ((cpu_target.typing_context, typing),",
                  "                          (cpu_target.target_context, lowering)):",
                  "    context.refresh()  # Numba's own registries come first",
                  "    context.install_registry(registry)"]
    return lines


# --- what the kernel calls ------------------------------------------------------------------------


def _bind(bundle: Bundle, name: str, program: str, is_strict: bool) -> list[str]:
    """Add what a function is made of; return the line that makes it, if there is one."""
    made, module = _made(name, is_strict), _home(name)
    if module is not None:
        bundle.add(f"{PACKAGE}.{module}", name)
        return []
    if made is None:
        why = _WHY.get(name, f"calls {name}, of which there is no copy for such a module yet. "
                             "Compute it outside and pass it as an argument")
        raise ExportError(f"{program} {why}")
    home, text = made
    for other in names_read(ast.parse(text)):
        own = bundle.add(f"{PACKAGE}.{home}", other)
        text = text if own is None else re.sub(rf"\b{other}\b", own, text)
    return [f"{name} = {text}"]


def _home(name: str) -> str | None:
    """Return the module that defines a function by its name; None where a call makes it."""
    return {**dict.fromkeys(CONTEXT, "context_words"), **dict.fromkeys(BLAS, "library_calls"),
            **dict.fromkeys(("select", "between", "scalar_loop"), "scalar_intrinsics")}.get(name)


def _made(name: str, is_strict: bool) -> tuple[str, str] | None:
    """Return the module of the functions that make a function, and the call that does."""
    kinds = {("bool_" if key == "bool" else key): NUMBA_TYPES[d] for key, d in DTYPES.items()
             if not is_half(d)}
    if name in kinds:
        return "casts", f"cast_to(types.{kinds[name]})"
    if name.endswith("_at") and name[:-3] in DTYPES:
        return "pointers", f"pointer(np.dtype('{DTYPES[name[:-3]].name}'))"
    if name in names_where(libm=1):
        return "scalar_intrinsics", f"_math('{name}', WIDTHS)"
    if name in names_where(libm=2):
        return "scalar_intrinsics", f"_math2('{name}', WIDTHS)"
    if name in MADE:
        return "context_words", MADE[name]
    if name == "radd":
        return "scalar_intrinsics", f"_reduction_add({'()' if is_strict else 'FAST_MATH'})"
    table = _factories()
    return ("scalar_intrinsics", table[name]) if name in table else None


@functools.cache
def _factories() -> dict[str, str]:
    """Return the calls that make functions of scalars, by name, as the table there has them."""
    tree = ast.parse(inspect.getsource(scalar_intrinsics.scalar_names))
    table = next(node for node in ast.walk(tree) if isinstance(node, ast.Dict))
    return {ast.literal_eval(key): ast.unparse(value)
            for key, value in zip(table.keys, table.values, strict=True) if key is not None}


# --- the entry ------------------------------------------------------------------------------------


def _entry(kernel: Kernel, entry: NumbaEntry) -> list[str]:
    """Return the function that users call."""
    plan = size_plan(kernel, [condition for condition, _ in entry.conditions])
    inputs = [b.name for b in kernel.inputs]
    given: list[str] = []
    reads: list[str] = []
    names: dict[Value, str] = dict(zip(kernel.graph.sizes, kernel.size_names, strict=True))
    for name, v in zip(inputs, kernel.graph.inputs, strict=True):
        dims = len(v.aval.shape)
        if dims:
            given += [f"{name}.shape[{k}]" for k in range(dims)]
            reads.append(f"{name} = np.ascontiguousarray({name})")
        else:
            kind = NUMBA_TYPES[v.aval.dtype]
            reads.append(f"{name} = np.array([number_of({name}, '{kind}')])")
            if v.aval.dtype == np.int64:
                given.append(f"{name}[0]")
                names.setdefault(v, f"{name}[0]")
    sizes = [f"{names[v]} = {given[k]}" for v, k in plan.sizes.items() if names[v] != given[k]]
    tests = _tests(kernel, entry, given, names)
    made = [f"{b.name} = np.empty({_shape(shape, names)}, np.{_dtype(b)})"
            for b, shape in zip(kernel.outputs, plan.shapes, strict=True)]
    lines = [f"def {entry.name}({', '.join(inputs)}):", f'    """{in_docstring(entry.about[0])}',
             *("    " + in_docstring(on_one_line(line)) for line in entry.about[1:]), '    """']
    body = [*reads, *sizes, *tests, *made, *_run(kernel, names)]
    return ["@njit(cache=True)", *lines, *("    " + line for line in body)]


def _dtype(buffer: Buffer) -> str:
    return "bool_" if buffer.dtype == np.bool_ else buffer.dtype.name


def _shape(dims: Sequence[Dim], names: Mapping[Value, str]) -> str:
    if not dims:
        return "1"
    return f"({', '.join(dim_source(d, names) for d in dims)},)"


def _tests(kernel: Kernel, entry: NumbaEntry, given: Sequence[str],
           names: Mapping[Value, str]) -> list[str]:
    """Return lines that raise where sizes do not agree, or are none that the program is for."""
    lines = []
    for k, d in size_plan(kernel, ()).checks:
        text = dim_source(d, names)
        why = f"{given[k]} is not {text}"
        lines += [f"if {given[k]} != {text}:", f"    raise ValueError({why!r})"]
    for (d, relation, truth), message in entry.conditions:
        test = f"{dim_source(d, names)} {relation} 0"
        lines += [f"if {f'not ({test})' if truth else test}:",
                  f"    raise ValueError({on_one_line(message)!r})"]
    return lines


def _run(kernel: Kernel, names: Mapping[Value, str]) -> list[str]:
    """Return lines that run the kernel, raise what it reports, and return the results."""
    lines = [f"ctx = np.zeros({LOGS + 2 * len(kernel.logs)}, np.int64)"]
    places, kept = ["words_of(ctx)"], ["ctx"]
    for k, b in enumerate((*kernel.inputs, *kernel.outputs)):
        values = kernel.graph.inputs if k < len(kernel.inputs) else kernel.graph.outputs
        ndim = len(values[k - (0 if k < len(kernel.inputs) else len(kernel.inputs))].aval.shape)
        kind = NUMBA_TYPES[b.dtype]
        places.append(f"{dtype_name(b.dtype)}_at(address_of({b.name}, '{kind}', {max(ndim, 1)}),"
                      f" 0, {k})")
        kept.append(b.name)
    if kernel.arena:
        lines += [f"arena = np.empty({dim_source(arena_size(kernel), names)} + 64, np.uint8)"]
        places.append("address_of(arena, 'uint8', 1)")
        kept.append("arena")
    places += [names[v] for v in kernel.graph.sizes]
    status = "status"
    while status in kernel.parameters:
        status += "_"
    lines += [f"{status} = kernel("]
    lines += [f"    {place}," for place in places]
    lines += [")", *(f"keep({name})" for name in kept)]
    lines += [f"free_block(words_of(ctx), {LOGS + 2 * k})" for k in range(len(kernel.logs))]
    if kernel.logs:
        lines.append("keep(ctx)")
    for k, failure in enumerate(kernel.failures):
        text = re.sub(r"\{\d[^}]*\}", "...", failure.message)
        text = text.replace("{{", "{").replace("}}", "}")
        text += f" ({failure.site})" if failure.site is not None else ""
        lines += [f"if {status} == {k + 1}:",
                  f"    raise {_error(failure.error)}({on_one_line(text)!r})"]
    results = [b.name if a.aval.shape else f"{b.name}[0]"
               for b, a in zip(kernel.outputs, kernel.graph.outputs, strict=True)]
    return [*lines, f"return {', '.join(results)}"]


def _error(name: str) -> str:
    """Return the name of an exception; for one of tracejit's that of Python's that it is."""
    if name == "LinAlgError":
        return "np.linalg.LinAlgError"
    kind = RAISABLE[name]
    return name if kind.__module__ == "builtins" else kind.__bases__[-1].__name__
