"""A kernel as a module of its own for Numba: entry, kernel, and copies of functions that it calls.

    from numba import njit            imports
    def select(...)                   the functions that the kernel calls, and their own
    def kernel(ctx, x, out0, n)       the emitted source as it is
    def grad_f(x)                     the users' entry: it checks sizes, makes results, raises
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import Formatter

import numpy as np

from tracejit.codegen import numba_arguments, scalar_functions, vector_math
from tracejit.codegen.buffers import Buffer
from tracejit.codegen.bundles import Bundle
from tracejit.codegen.context import LOGS
from tracejit.codegen.intrinsics import recipes
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_ir import every_node, expressions
from tracejit.codegen.plan import Condition, size_plan
from tracejit.codegen.pointers import NUMBA_TYPES
from tracejit.codegen.python_source import heading, write
from tracejit.codegen.recipes import Recipe, Widths
from tracejit.codegen.scipy_calls import scipy_names
from tracejit.codegen.slots import arena_nodes, arena_size, dim_expression
from tracejit.errors import RAISABLE, ExportError, raisable
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim
from tracejit.ir.dtypes import dtype_name, is_half
from tracejit.ir.user_text import in_docstring, on_one_line

__all__ = ["MADE_HERE", "NumbaEntry", "module_text"]

MADE_HERE = "a module for Numba, made by tracejit"
"""Words of a module's first line."""

_NEEDS_THIS_PROCESS = {
    "show": "prints, which a module for Numba cannot. Take the print out of the program",
    "call_back": "calls a Python function while it runs, which a module for Numba cannot. Call it "
                 "outside and pass what it gives as an argument",
    "call_native": "calls an op's compiled function, which lives in this process alone. Make the "
                   "op of a plain Python function, which is captured",
    "parallel_for": "shares loops among threads. Leave threads= away",
    **{f"draw_{end}": "draws random numbers from a Generator. Pass the numbers as an argument"
       for end in ("fill", "bounded", "each", "below")},
    **dict.fromkeys(scipy_names(), "calls a function of SciPy's library, which a module for Numba "
                    "does not find. Compute it outside and pass it as an argument"),
}
"""By the name of a function that emitted source calls: why no module has it, and a remedy."""


@dataclass(frozen=True, slots=True)
class NumbaEntry:
    """The function that users call.

    name       -- its name
    about      -- the lines of its docstring
    conditions -- the conditions on sizes, each with the message where it does not hold
    is_strict  -- whether sums and math functions keep to the order and the bits of NumPy
    in_place   -- the numbers of the inputs that must be contiguous, as no copy may stand for them
    apart      -- the pairs of inputs that may not share memory
    """

    name: str
    about: Sequence[str]
    conditions: Sequence[tuple[Condition, str]]
    is_strict: bool
    in_place: frozenset[int]
    apart: Sequence[tuple[int, ...]]


def module_text(kernel: Kernel, entry: NumbaEntry) -> str:
    """Return the module's text; `ExportError` where a program needs more than NumPy and Numba."""
    if any(is_half(v.aval.dtype) for v in (*kernel.graph.inputs, *kernel.graph.outputs)):
        raise ExportError(f"{kernel.graph.name} has float16 arguments or results, which Numba "
                          "lacks on CPUs. Pass and return float32")
    sizes = _Sizes(kernel)
    body = _entry(kernel, entry, sizes)
    bundle = _bundle(kernel, entry, sizes.called)
    source = write(kernel).lines[len(heading(kernel.graph, "")):]
    return "\n".join([
        *_head(kernel, entry, bundle), *_spaced(bundle.definitions), "", "", *_prepared(bundle),
        "", "", '@njit(error_model="numpy")', *source, "", "", *body, ""])


class _Sizes:
    """Dims as source, in the names of sizes and ints; notes the functions that it calls.

    own -- by the name of a buffer, its name in the entry, where functions have theirs, too
    """

    def __init__(self, kernel: Kernel) -> None:
        self.names: dict[Value, str] = dict(
            zip(kernel.graph.sizes, kernel.size_names, strict=True))
        self.called: set[str] = set()
        self.own: dict[str, str] = {}
        functions = {"np", *numba_arguments.__all__}
        for buffer in (*kernel.inputs, *kernel.outputs):
            name = buffer.name
            if name in functions:
                while name in functions or name in kernel.parameters:
                    name += "_"
            self.own[buffer.name] = name

    def text(self, d: Dim) -> str:
        """Return a dim as source."""
        made = dim_expression(d, self.names)
        self.called |= made.calls
        return str(made)


def _bundle(kernel: Kernel, entry: NumbaEntry, helpers: Iterable[str]) -> Bundle:
    """Return the definitions that a kernel and its entry call."""
    widths: Widths = () if entry.is_strict else Recipe(vector_math.host_widths)
    known = recipes(widths, reassociate=not entry.is_strict)
    plain = scalar_functions.definitions(known)
    bundle = Bundle({**plain, "tgamma": known["tgamma"], "lgamma": known["lgamma"]})
    for name in {"kernel", entry.name}:
        bundle.reserve(name)
    known.update(plain)
    places = [f"{dtype_name(b.dtype)}_at" for b in (*kernel.inputs, *kernel.outputs)]
    for name in ("inf", "nan", *places, *_called(kernel), *sorted(helpers)):
        if name in _NEEDS_THIS_PROCESS:
            raise ExportError(f"{kernel.graph.name} {_NEEDS_THIS_PROCESS[name]}")
        if name in known:
            bundle.add(name, known[name])
    for name in numba_arguments.__all__:
        bundle.add(name, getattr(numba_arguments, name))
    return bundle


def _called(kernel: Kernel) -> list[str]:
    """Return the names of the functions that a kernel calls, in the order of its source."""
    nodes = every_node([*kernel.head, *arena_nodes(kernel), *kernel.nodes])
    return list(dict.fromkeys(
        name for node in nodes for e in expressions(node) for name in sorted(e.calls)))


def _spaced(definitions: Sequence[str]) -> list[str]:
    """Return definitions as lines, those of several lines apart."""
    return [line for text in definitions
            for line in (["", "", text] if "\n" in text else ["", text])]


def _head(kernel: Kernel, entry: NumbaEntry, bundle: Bundle) -> list[str]:
    """Return the module's docstring and its imports."""
    imports = {*bundle.statements, "import numpy as np", "from numba import njit"}
    if "Ptr" in bundle:
        imports.add("from numba.core.registry import cpu_target")
    return [f'"""{in_docstring(kernel.graph.name)}: {MADE_HERE}, which it does not need.', "",
            f"Call `{entry.name}`, which is at the end: from Python, or from "
            "other @njit code. Before it is", "the kernel, with the lines of the program that each "
            "line is from; what it calls is above.", '"""', "",
            "from __future__ import annotations", "", *sorted(imports)]


def _prepared(bundle: Bundle) -> list[str]:
    """Return the lines that make Numba know the definitions, and find the libraries' functions."""
    lines = [f"{name}()  # before machine code that calls it is read from a cache"
             for name in ("load_libmvec", "find_blas") if name in bundle]
    if "Ptr" in bundle:
        lines += ["for context, registry in ((cpu_target.typing_context, typing),",
                  "                          (cpu_target.target_context, lowering)):",
                  "    context.refresh()  # Numba's own registries come first",
                  "    context.install_registry(registry)"]
    return lines


# --- the entry ------------------------------------------------------------------------------------


def _entry(kernel: Kernel, entry: NumbaEntry, sizes: _Sizes) -> list[str]:
    """Return the function that users call."""
    plan = size_plan(kernel, [condition for condition, _ in entry.conditions])
    inputs = [sizes.own[b.name] for b in kernel.inputs]
    given: list[str] = []
    reads: list[str] = []
    for k, (name, v) in enumerate(zip(inputs, kernel.graph.inputs, strict=True)):
        if v.aval.shape:
            given += [f"{name}.shape[{axis}]" for axis in range(len(v.aval.shape))]
            reads += [] if k in entry.in_place else [f"{name} = np.ascontiguousarray({name})"]
            continue
        reads.append(f"{name} = number_of({name}, '{NUMBA_TYPES[v.aval.dtype]}')")
        if v.aval.dtype == np.int64:
            given.append(name)
            sizes.names.setdefault(v, name)
    found = [f"{sizes.names[v]} = {given[k]}" for v, k in plan.sizes.items()
             if sizes.names[v] != given[k]]
    made = [f"{sizes.own[b.name]} = np.empty({_shape(shape, sizes)}, np.{_dtype(b)})" if shape else
            f"{sizes.own[b.name]} = room_for('{NUMBA_TYPES[b.dtype]}')"
            for b, shape in zip(kernel.outputs, plan.shapes, strict=True)]
    lines = [f"def {entry.name}({', '.join(inputs)}):", f'    """{in_docstring(entry.about[0])}',
             *(("    " + in_docstring(on_one_line(line))).rstrip() for line in entry.about[1:]),
             '    """']
    body = [*reads, *found, *_tests(kernel, entry, given, sizes), *made, *_run(kernel, sizes)]
    return ["@njit(cache=True)", *lines, *("    " + line for line in body)]


def _dtype(buffer: Buffer) -> str:
    return "bool_" if buffer.dtype == np.bool_ else buffer.dtype.name


def _shape(dims: Sequence[Dim], sizes: _Sizes) -> str:
    return f"({', '.join(sizes.text(d) for d in dims)},)"


def _tests(kernel: Kernel, entry: NumbaEntry, given: Sequence[str],
           sizes: _Sizes) -> list[str]:
    """Return lines that raise where sizes do not agree, or are none that the program is for."""
    lines = []
    for k, d in size_plan(kernel, ()).checks:
        text = sizes.text(d)
        why = f"{given[k]} is not {text}"
        lines += [f"if {given[k]} != {text}:", f"    raise ValueError({why!r})"]
    for (d, relation, truth), message in entry.conditions:
        test = f"{sizes.text(d)} {relation} 0"
        lines += [f"if {f'not ({test})' if truth else test}:",
                  f"    raise ValueError({on_one_line(message)!r})"]
    for pair in entry.apart:
        if all(kernel.graph.inputs[k].aval.shape for k in pair):
            x, y = (sizes.own[kernel.inputs[k].name] for k in pair)
            reach = [f"{a}.ctypes.data < {b}.ctypes.data + {b}.nbytes"
                     for a, b in ((x, y), (y, x))]
            why = f"{x} and {y} share memory. Pass a copy of one"
            lines += [f"if {' and '.join(reach)}:", f"    raise ValueError({why!r})"]
    return lines


def _run(kernel: Kernel, sizes: _Sizes) -> list[str]:
    """Return lines that run the kernel, raise the error that it reports, and return the results."""
    lines = [f"ctx = words({LOGS + 2 * len(kernel.logs)})"]
    places, arrays = ["ctx"], []
    inputs, outputs = (list(zip(buffers, values, strict=True)) for buffers, values in (
        (kernel.inputs, kernel.graph.inputs), (kernel.outputs, kernel.graph.outputs)))
    for k, (b, v) in enumerate((*inputs, *outputs)):
        kind, ndim = NUMBA_TYPES[b.dtype], len(v.aval.shape)
        name = sizes.own[b.name]
        place = f"put(room_for('{kind}'), {name})" if k < len(inputs) else name
        if ndim:
            place = f"address_of({name}, '{kind}', {ndim})"
            arrays.append(name)
        places.append(f"{dtype_name(b.dtype)}_at({place}, 0, {k})")
    if kernel.arena:
        lines += [f"arena = np.empty({sizes.text(arena_size(kernel))} + 64, np.uint8)"]
        places.append("address_of(arena, 'uint8', 1)")
        arrays.append("arena")
    places += [sizes.names[v] for v in kernel.graph.sizes]
    status = "status"
    while status in kernel.parameters:
        status += "_"
    lines += [f"{status} = kernel(", *(f"    {place}," for place in places), ")"]
    lines += [f"keep({name})" for name in arrays]
    lines += [f"free_block(ctx, {LOGS + 2 * k})" for k in range(len(kernel.logs))]
    lines += _failures(kernel, status)
    results = [sizes.own[b.name] if v.aval.shape else
               f"number_at({sizes.own[b.name]}, '{NUMBA_TYPES[b.dtype]}')" for b, v in outputs]
    return [*lines, f"return {', '.join(results)}"]


def _failures(kernel: Kernel, status: str) -> list[str]:
    """Return lines that raise the error of a status; numbers of its message are left out."""
    lines = []
    for k, failure in enumerate(kernel.failures):
        text = "".join(words + ("" if field is None else "...")
                       for words, field, _, _ in Formatter().parse(failure.message))
        text += f" ({failure.site})" if failure.site is not None else ""
        lines += [f"if {status} == {k + 1}:",
                  f"    raise {_error(failure.error)}({on_one_line(text)!r})"]
    return lines


def _error(name: str) -> str:
    """Return the name of an exception; for one of tracejit's that of Python's that it is."""
    if name == "LinAlgError":
        return "np.linalg.LinAlgError"
    if name in RAISABLE and RAISABLE[name].__module__ != "builtins":
        return RAISABLE[name].__bases__[-1].__name__
    return next(c.__name__ for c in raisable(name).__mro__ if c.__module__ == "builtins")
