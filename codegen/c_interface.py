"""The C interface of an exported kernel: its parameters, its error codes, and the header.

Sizes are parameters, one for each that the program has; results and workspace are the caller's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tracejit.codegen.c_names import c_name
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.plan import Condition
from tracejit.codegen.slots import arena_size
from tracejit.ir.core import Graph, Value
from tracejit.ir.dims import Dim, dim_values, format_dim
from tracejit.ir.dtypes import DTYPES, is_half
from tracejit.ir.user_text import on_one_line

__all__ = ["FIRST_CONDITION", "NEGATIVE", "NO_WORKSPACE", "TOO_LARGE", "C_TYPES", "CInterface",
           "CParameter", "header_text", "make_interface"]

NEGATIVE, TOO_LARGE, NO_WORKSPACE, FIRST_CONDITION = -2, -3, -4, -16
"""Error codes of the interface; the program's are positive. Conditions count downwards."""

C_TYPES: dict[np.dtype, str] = {
    DTYPES["bool"]: "bool", DTYPES["f32"]: "float", DTYPES["f64"]: "double",
    DTYPES["f16"]: "uint16_t", DTYPES["c64"]: "float _Complex", DTYPES["c128"]: "double _Complex",
    **{dtype: f"{dtype.name}_t" for dtype in DTYPES.values() if dtype.kind in "iu"},
}


@dataclass(frozen=True, slots=True)
class CParameter:
    """One parameter of the C function.

    kind  -- "pointer", "scalar" (by value), "size", "output", "workspace" or "allocator"
    value -- the input or size that it is, or for an output its number
    """

    kind: str
    name: str
    c_type: str
    value: Value | int | None
    note: str

    @property
    def declaration(self) -> str:
        """Return the parameter as in a prototype."""
        return f"{self.c_type}{'' if self.c_type.endswith('*') else ' '}{self.name}"


@dataclass(frozen=True, slots=True)
class CInterface:
    """An exported kernel as it looks from C.

    conditions -- conditions on sizes and int arguments, each with the message for its failure
    """

    kernel: Kernel
    parameters: tuple[CParameter, ...]
    conditions: tuple[tuple[Condition, str], ...]
    names: dict[Value, str] = field(repr=False)

    @property
    def sizing(self) -> list[CParameter]:
        """Return the parameters of the function that gives the bytes of the workspace."""
        dims = [d for (d, _, _), _ in self.conditions]
        dims += [d for a in self.kernel.graph.outputs for d in a.aval.shape]
        needed = {v for d in [*dims, arena_size(self.kernel)] for v in dim_values(d)}
        return [p for p in self.parameters
                if p.kind == "size" or (p.kind == "scalar" and p.value in needed)]

    def messages(self) -> Iterator[tuple[int, str]]:
        """Yield every error code with its message."""
        for k, failure in enumerate(self.kernel.failures):
            text = re.sub(r"\{\d[^}]*\}", "...", failure.message)
            where = f" ({failure.site})" if failure.site is not None else ""
            text = text.replace("{{", "{").replace("}}", "}")
            yield k + 1, on_one_line(f"{failure.error}: {text}{where}")
        yield NEGATIVE, "a size is negative"
        yield TOO_LARGE, "the sizes are too large: bytes do not fit into 64 bits"
        yield NO_WORKSPACE, "the workspace is NULL, and this program needs one"
        for k, (_, message) in enumerate(self.conditions):
            yield FIRST_CONDITION - k, on_one_line(message)


def make_interface(kernel: Kernel, conditions: Sequence[tuple[Condition, str]],
                   results: Mapping[int, str], notes: Mapping[int, str]) -> CInterface:
    """Return the interface of a kernel.

    conditions -- the program's conditions on sizes and ints, each with a reason or ""
    results    -- names for outputs, by number; others are called as in the source
    notes      -- remarks on inputs, by number
    """
    graph = kernel.graph
    taken = {"workspace", "allocator"}
    names = {v: c_name(kernel.labels[v], taken) for v in (*graph.sizes, *graph.inputs)}
    parameters = _inputs_of(graph, names, notes)
    for k, a in enumerate(graph.outputs):
        kind = C_TYPES[a.aval.dtype]
        name = c_name(results.get(k, kernel.outputs[k].name), taken)
        note = f"{kind}{_shape_text(a.aval.shape, names) or '[1]'}{_bits_of(a.aval.dtype)}, written"
        parameters.append(CParameter("output", name, f"{kind} *", k, note))
    parameters.append(CParameter("workspace", "workspace", "void *", None,
                                "as many bytes as the function for it says, or NULL for 0"))
    if kernel.logs:
        parameters.append(CParameter("allocator", "allocator", "const tracejit_allocator *", None,
                                    "gives memory to loops; all of it is released on return"))
    texts = [(c, _condition_text(c, names, reason)) for c, reason in conditions
             if not isinstance(c[0], int)]
    return CInterface(kernel, tuple(parameters), tuple(dict(texts).items()), names)


def _inputs_of(graph: Graph, names: Mapping[Value, str],
               notes: Mapping[int, str]) -> list[CParameter]:
    """Return the arguments, each array followed by the sizes that it is the first to name."""
    parameters: list[CParameter] = []

    def sizes(dims: Sequence[Dim]) -> None:
        for v in dict.fromkeys(v for d in dims for v in dim_values(d) if v.is_size):
            if all(p.value is not v for p in parameters):
                parameters.append(
                    CParameter("size", names[v], "int64_t", v, "a number of elements"))

    for k, v in enumerate(graph.inputs):
        kind = C_TYPES[v.aval.dtype]
        note = kind + _shape_text(v.aval.shape, names) + _bits_of(v.aval.dtype)
        note += f"; {notes[k]}" if k in notes else ""
        if v.aval.shape or v.aval.dtype.kind == "c":
            parameters.append(CParameter("pointer", names[v], f"const {kind} *", v, note))
            sizes(v.aval.shape)
        else:
            parameters.append(CParameter("scalar", names[v], kind, v, note))
    sizes([v.dim for v in graph.sizes])
    return parameters


def _bits_of(dtype: np.dtype) -> str:
    return f", the bits of {dtype}" if is_half(dtype) else ""


def _shape_text(dims: Sequence[Dim], names: Mapping[Value, str]) -> str:
    return "".join(f"[{format_dim(d, names.__getitem__)}]" for d in dims)


_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _condition_text(condition: Condition, names: Mapping[Value, str], reason: str) -> str:
    d, relation, truth = condition
    relation = relation if truth else _OPPOSITE[relation]
    assert not isinstance(d, int)
    sign = -1 if all(c < 0 for _, c in d.terms) else 1
    relation = relation if sign == 1 else _MIRRORED[relation]
    left = format_dim((d - d.const) * sign, names.__getitem__)
    text = f"{left} {relation} {-d.const * sign}"
    return f"this program is for {text} only" + (f" ({reason})" if reason else "")


# --- the header -----------------------------------------------------------------------------------

_ALLOCATOR = """\
#ifndef TRACEJIT_ALLOCATOR
#define TRACEJIT_ALLOCATOR
/* Memory for loops whose number of iterations only the data say. `resize` is as realloc: it returns
   a block of new_size bytes that begins as `block`, of old_size bytes, did, or NULL where there is
   no memory; the first block is NULL. With new_size 0 it frees the block, and its result is not
   looked at. Blocks are aligned as those of malloc. */
typedef struct tracejit_allocator {
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void *user;
} tracejit_allocator;
#endif

"""

_RULES = """\
Arrays are C-contiguous and aligned as their elements; one without elements may be NULL.
Results and workspace overlap nothing else; the workspace may begin at any address.
The function keeps no state and takes no memory of its own: it may run in several threads
at once, each with results and workspace of its own.""".splitlines()


def header_text(interface: CInterface, symbol: str, alias: str, about: Sequence[str],
                link: Sequence[str]) -> str:
    """Return the header.

    about -- lines on the program and the arguments that it was made for
    link  -- lines on the libraries that a linker needs besides the object
    """
    width = max(len(p.name) for p in interface.parameters)
    lines = [*about, "", "Parameters:"]
    lines += [f"  {p.name:<{width}}  {p.note}" for p in interface.parameters]
    lines += ["", *_RULES, "",
              "The function returns 0, or one of these codes, and then its results mean nothing:"]
    lines += [f"  {code:>4}  {message}" for code, message in interface.messages()]
    lines += ["", f"{alias}_message(code) gives these texts.",
              f"{alias}_workspace gives a number of bytes, or one of the negative codes.",
              "", "To link the object or the archive, add:",
              *(f"  {line}" for line in link)]
    comment = "\n".join(f" * {on_one_line(line)}".rstrip() for line in lines)
    comment = comment.replace("*/", "* /").replace("/*", "/ *")
    guard = f"{symbol.upper()}_H"
    main = _prototype(symbol, [p.declaration for p in interface.parameters])
    sizing = _prototype(f"{symbol}_workspace",
                        [p.declaration for p in interface.sizing] or ["void"])
    return "".join([
        f"/*\n{comment}\n */\n#ifndef {guard}\n#define {guard}\n\n",
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n\n', _ALLOCATOR if interface.kernel.logs else "",
        main, sizing, f"const char *{symbol}_message(int64_t code);\n\n",
        *(f"#define {alias}{part} {symbol}{part}\n" for part in ("", "_workspace", "_message")),
        "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"])


def _prototype(name: str, parameters: Sequence[str]) -> str:
    text, line = "", f"int64_t {name}("
    for k, parameter in enumerate(parameters):
        piece = parameter + (", " if k + 1 < len(parameters) else ");")
        if len(line) + len(piece) > 100:
            text, line = f"{text}{line.rstrip()}\n", "    "
        line += piece
    return f"{text}{line}\n"
