"""From a captured program to code that runs: the staged objects and their attributes.

`g.trace(*args)` gives a `Traced`, its `.lower()` a `Lowered`, its `.compile()` a `Compiled`.
"""

from __future__ import annotations

import functools
import logging
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tracejit.analyses import ANALYSES
from tracejit.artifacts.code import Code, code_for_cpu
from tracejit.configuration import config, settings
from tracejit.display import Displayed
from tracejit.ir.core import Graph, Value
from tracejit.ir.dims import bare_value
from tracejit.ir.notes import with_code
from tracejit.ir.verifier import verify_graph
from tracejit.passes.blocking import block_products, describe_block
from tracejit.passes.jamming import describe_jam, unroll_and_jam
from tracejit.passes.nest_products import describe_nest, multiply_nests
from tracejit.passes.ordering import call_in_order
from tracejit.passes.pipeline import PASSES
from tracejit.passes.searching import mark_ties, search_on_vectors
from tracejit.program.emitted import digest_of, load_source
from tracejit.program.invocation import Invocation
from tracejit.runtime.compiling import dump, faults_of_ours
from tracejit.runtime.program import Program
from tracejit.runtime.progress import stage
from tracejit.signals import uninterrupted
from tracejit.trace.values.specs import ArgSpec
from tracejit.tree import Structure

if TYPE_CHECKING:
    from tracejit.codegen.kernel import Kernel
    from tracejit.program.request import Asked
    from tracejit.runtime.cfunction import CFunction

__all__ = ["Compiled", "Lowered", "Traced", "traced_sizes"]

LOG = logging.getLogger("tracejit")

MANY_ROWS = 16
"""How many rows an array has for which short rows get loops of their own."""


class Traced(Displayed):
    """A captured program before codegen."""

    shapes: list[tuple[int, ...] | int | None]

    def __init__(self, program: Program,
                 arguments: tuple[Sequence[ArgSpec], Structure] | None = None,
                 function: Asked | None = None, leaves: Sequence[object] | None = None) -> None:
        self.program = program
        self.arguments = arguments
        """The specs of the arguments, and how these make up a call; None for a bare graph."""
        self.function = function
        """The transformed function that was traced, if it was one."""
        self.shapes = _shapes(program, leaves)
        """Per input of the graph, its shape while it was traced, or the int; None if unknown."""
        self.without: frozenset[str] = getattr(program.options, "switched_off", settings().without)
        """The analyses that are switched off."""
        self.times: dict[str, float] = {}
        self.history: list[tuple[str, Graph]] = []
        """The graph after each pass, with the pass's name, once `graph` was asked for."""

    @functools.cached_property
    def graph(self) -> Graph:
        """Return the graph after all passes."""
        dump(self.program, "before.txt", self.program.graph)
        start = perf_counter()
        graph = self.program.graph
        for apply_pass in PASSES:
            before = graph
            graph = apply_pass(graph)
            self.history.append((apply_pass.__name__, graph))
            if settings().verify:
                verify_graph(graph)
            if settings().debug >= 2 and str(graph) != str(before):
                LOG.warning("after %s:\n%s", apply_pass.__name__, graph)
        self.times["passes"] = perf_counter() - start
        dump(self.program, "after.txt", graph)
        if settings().dump is not None:
            self._dump_more(graph)
        return graph

    def _dump_more(self, graph: Graph) -> None:
        """Write the decisions, and a script that compiles and runs the program alone."""
        from tracejit.runtime.reproducing import reproducer

        dump(self.program, "why.txt", self.why())
        dump(self.program, "repro.py", reproducer(self.program, graph, self.shapes))

    def why(self) -> str:
        """Return, line by line, each fixed or stored value, unrolled loop, pruned op, and why."""
        lines = [f"without {name}: {ANALYSES[name]} [TJ715]" for name in sorted(self.without)]
        lines += map(with_code, self.program.graph.notes)
        for eqn, reason in self.program.graph.reasons:
            if eqn.outputs:
                where = f" ({eqn.site})" if eqn.site is not None else ""
                lines.append(f"{eqn.op.name}{where} has no backward part: {reason} [TJ701]")
        return "\n".join(lines) if lines else "nothing was fixed, stored or pruned"

    def lower(self) -> Any:
        """Return the emitted program: a `Lowered`, or with target="cuda" a `DeviceLowered`."""
        if getattr(self.program.options, "target", "cpu") == "cuda":
            from tracejit.runtime.device_stages import DeviceLowered

            return DeviceLowered(self)
        return Lowered(self)

    def __str__(self) -> str:
        return str(self.graph)

    def __repr__(self) -> str:
        return str(self)


class Lowered(Displayed):
    """A program with its emitted source.

    change -- changes the kernel before it is rendered
    """

    kernel: Kernel
    arranged: list[str]
    """Which loops are carried out in another way than the graph shows."""

    def __init__(self, traced: Traced, change: Callable[[Kernel], None] | None = None) -> None:
        with uninterrupted():  # Numba cannot be imported again where a part of it was
            from tracejit.codegen.lower import lower_graph
            from tracejit.codegen.python_source import render

        self.traced = traced
        graph = traced.graph
        start = perf_counter()
        with stage(graph.name, "making loops of its equations", graph), faults_of_ours(
                f"{graph.name} cannot be lowered"):
            carried_out, self.arranged = _arranged(graph, traced.without, _keeps_order(traced))
            self.kernel = lower_graph(graph, carried_out, checked=settings().verify,
                                      lengths=_row_lengths(traced), without=traced.without,
                                      in_order=_keeps_order(traced),
                                      parallel=getattr(traced.program.options, "is_parallel",
                                                       settings().threads is not None))
            if change is not None:
                change(self.kernel)
            self.source: str = render(self.kernel)
        traced.times["codegen"] = perf_counter() - start
        dump(traced.program, "py", self)
        if settings().dump is not None:
            dump(traced.program, "why.txt", self.why())
        if settings().debug >= 3:
            LOG.warning("emitted:\n%s", self.source)

    @property
    def graph(self) -> Graph:
        """Return the graph."""
        return self.traced.graph

    def why(self) -> str:
        """Return the lines of `Traced.why`, with lines on copies of arrays in loops, loops that
        handle several iterations at a time, and sizes of which one value has loops of its own.
        """
        copied = dict.fromkeys(self.arranged)
        short = (f"{name} == {n}: loops over it are written out, since it is {n} in the call that "
                 "this was made for; other values have loops [TJ803]" for name, n in
                 self.kernel.short.items())
        copies = (f"{copy} [TJ804]" for copy in self.kernel.copies())
        return "\n".join([self.traced.why(), *copies, *copied, *short])

    def compile(self) -> Compiled:
        """Return the compiled program."""
        return Compiled(self)

    def to_numba(self, path: str | os.PathLike[str], *, name: str | None = None) -> Path:
        """Write the program as a module that needs NumPy and Numba alone; return its path.

        path -- of the module, "model.py" for instance
        name -- of its function, instead of the program's

        The function takes the program's arrays and numbers one after another, and what it reads
        from outside behind them; @njit code may call it, and Numba caches it. See docs/export.md.
        Raises `ExportError` where a program cannot be such a module, as when it prints.
        Raises `FileExistsError` where `path` is a file that this method has not made.

        >>> import tempfile, tracejit
        >>> cube = tracejit.grad(lambda x: x * x * x).trace(1.0).lower()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(cube.to_numba(f"{folder}/cube.py", name="slope").name)
        cube.py
        """
        from tracejit.runtime.numba_export import write_numba_module

        lowered = self
        if self.kernel.is_checked or self.kernel.parts:
            with config(verify=False, threads=None):
                lowered = Lowered(self.traced)
        return write_numba_module(lowered.traced.program, lowered.kernel, path, name)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return str(self)


_FOR_ONE_CALL: dict[str, Any] = {}
"""The newest machine code of programs that are captured anew at every call, by its symbol."""


class Compiled(Displayed):
    """A program in machine code."""

    symbol: str
    path: str
    code: Any
    times: dict[str, float]
    interface: Any
    invocation: Invocation

    def __init__(self, lowered: Lowered) -> None:
        with uninterrupted():
            from tracejit.codegen.compile import Functions, compile_kernel
            from tracejit.codegen.plan import plan_text

        self.lowered = lowered
        kernel, program = lowered.kernel, lowered.traced.program
        plan = plan_text(kernel, program.size_conditions())
        self.symbol = f"tracejit_{digest_of(lowered.source, plan, program.options)}"
        self.path, names = load_source(lowered.source, program.options)
        self._made_of = (Functions(kernel, names, self.path), self.symbol,
                         [plan.replace("PLAN", f"{self.symbol}_plan")])
        known = _FOR_ONE_CALL.get(self.symbol) if program.capture.unseen else None
        doing = f"compiling {lowered.source.count(chr(10))} lines of source"
        with stage(program.name, doing, lowered.graph), faults_of_ours(
                f"the emitted source {self.path} does not compile"):
            self.code = known or compile_kernel(*self._made_of)
        if program.capture.unseen:
            _FOR_ONE_CALL[self.symbol] = self.code
            if len(_FOR_ONE_CALL) > 32:
                del _FOR_ONE_CALL[next(iter(_FOR_ONE_CALL))]
        self.times = {**lowered.traced.times, **self.code.times}
        if settings().dump is not None:
            dump(program, "ll", self.llvm)
            dump(program, "s", self.asm)
        if settings().debug >= 4:
            LOG.warning("optimised:\n%s\nassembly:\n%s", self.llvm, self.asm)
        self.interface = program.interface(kernel)
        self.invocation = Invocation(self.interface, self.addresses(),
                                     kernel if kernel.is_checked else None)

    @property
    def graph(self) -> Graph:
        """Return the graph."""
        return self.lowered.graph

    @property
    def source(self) -> str:
        """Return the emitted source."""
        return self.lowered.source

    @property
    def _arguments(self) -> tuple[Sequence[ArgSpec], Structure] | None:
        """Return the specs of the arguments, and how these make up a call; None for a graph."""
        return self.lowered.traced.arguments

    def _kept_code(self) -> Code:
        """Return the part of a manifest that describes the code, and its files."""
        return code_for_cpu(self.symbol, self.code.object_code, self.code.bitcode, self.source)

    @property
    def llvm(self) -> str:
        """Return the optimised LLVM IR."""
        text: str = self.code.llvm
        return text

    @property
    def asm(self) -> str:
        """Return the assembly of the machine code, which takes compiling again."""
        return self._assembly(with_lines=False)

    def asm_with_lines(self) -> str:
        """Return the assembly with `.loc` directives that lead to lines of the emitted source."""
        return self._assembly(with_lines=True)

    def _assembly(self, *, with_lines: bool) -> str:
        from tracejit.codegen.compile import assembly_of

        return assembly_of(*self._made_of, with_lines=with_lines)

    def why(self) -> str:
        """Return the text of `Lowered.why`."""
        return self.lowered.why()

    def save(self, path: str | Path) -> Path:
        """Write the program to a file that `tracejit.load` reads, and return its path.

        It is a snapshot: arrays and numbers that the function reads from outside are kept as they
        are now. Raises `TypeError` where arguments or results are of classes that no name leads to.
        """
        from tracejit.artifacts.snapshots import save_snapshot

        return save_snapshot(self, Path(path))

    def export(self, path: str | os.PathLike[str], *, cpu: str | None = None,
               name: str | None = None) -> list[Path]:
        """Write the program as C header, object, static archive and shared library; return these.

        path -- ends in .so, for all of them beside each other, or in .a, .o or .h, for this and
                the files before it
        cpu  -- None for the CPU of this machine, or a name, "x86-64-v3" for instance; on this
                machine's CPU results equal Python's calls to the last bit
        name -- its name in C programs, instead of the function's; it stands for a symbol
                that is named by the program's content

        The header describes the parameters, in elements and bytes, and the codes;
        see docs/export.md. Raises `ExportError` where the program cannot be exported, as when it
        calls an `@njit` function, or where a C compiler is needed and there is none; earlier
        files are written then.

        >>> import tempfile, tracejit
        >>> cube = tracejit.grad(lambda x: x * x * x).trace(1.0).lower().compile()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print([p.name for p in cube.export(f"{folder}/cube.o", name="slope_of_cube")])
        ['cube.h', 'cube.o']
        """
        from tracejit.runtime.export import export_program

        lowered = self.lowered
        if lowered.kernel.is_checked:
            with config(verify=False):
                lowered = Lowered(self.lowered.traced)
        return export_program(lowered.traced.program, lowered.kernel, lowered.source, self.path,
                              path, cpu, name)

    def cfunc(self, signature: str | None = None) -> CFunction:
        """Return a program of float64 scalars as a C function `double f(double, ...)`.

        signature -- None for one parameter per argument, or one that `scipy.LowLevelCallable`
                     knows: "double (double)", "double (double, void *)", "double (int, double *)",
                     "double (int, double *, void *)"

        The C function has `address`, `ctypes` and `native_name`, as Numba's `cfunc`. Where the
        program raises, or is given another number of arguments, the function returns NaN. Raises
        `ExportError` for a program of anything else than float64 scalars with one such result.

        >>> import tracejit
        >>> cube = tracejit.grad(lambda x: x * x * x).trace(1.0).lower().compile()
        >>> cube.cfunc().ctypes(2.0)
        12.0
        """
        from tracejit.runtime.cfunction import make_cfunction

        return make_cfunction(self.lowered.traced.program, self.lowered.kernel,
                              self.addresses()[0], f"{self.symbol}_c", signature)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return str(self)

    def addresses(self) -> tuple[int, int]:
        """Return the addresses of the kernel's entry and of the plan."""
        return self.code.address(self.symbol), self.code.address(f"{self.symbol}_plan")


def traced_sizes(traced: Traced) -> dict[Value, int]:
    """Return the sizes of a graph while it was traced, as far as inputs have them."""
    return {size: n for v, shape in zip(traced.graph.inputs, traced.shapes, strict=False)
            for d, n in zip(v.aval.shape, shape if isinstance(shape, tuple) else (), strict=False)
            if (size := bare_value(d)) is not None}


def _arranged(graph: Graph, off: frozenset[str], in_order: bool) -> tuple[Graph, list[str]]:
    """Return the graph as a CPU carries it out, and the lines of `why` on its loops.

    in_order -- whether sums have to be added up in the program's order
    """
    why: list[str] = []
    if "ordering" not in off:
        graph = call_in_order(graph)
    if not in_order and "blocking" not in off:
        graph, nests = multiply_nests(graph)
        graph, blocked = block_products(graph)
        why += [f"{describe_nest(e)} [TJ805]" for e in nests]
        why += [f"{describe_block(e)} [TJ802]" for e in blocked]
    if "jamming" not in off:
        graph, jammed = unroll_and_jam(graph)
        why += [f"{describe_jam(e)} [TJ801]" for e in jammed]
    search = mark_ties if "searching" in off else search_on_vectors
    return search(graph), why


def _keeps_order(traced: Traced) -> bool:
    """Return whether sums have to be added up in the program's order."""
    return getattr(traced.program.options, "fp", "default") == "strict"


def _row_lengths(traced: Traced) -> dict[Value, int]:
    """Return how long the rows of inputs were that have many, of coordinates say."""
    return {size: shape[-1] for v, shape in zip(traced.graph.inputs, traced.shapes, strict=False)
            if isinstance(shape, tuple) and math.prod(shape[:-1]) >= MANY_ROWS
            and (size := bare_value(v.aval.shape[-1])) is not None}


def _shapes(program: Program,
            leaves: Sequence[object] | None) -> list[tuple[int, ...] | int | None]:
    """Return the shape of each input that is an array now, the number of each that is an int."""
    def shape(x: object) -> tuple[int, ...] | int | None:
        return x if type(x) is int else getattr(x, "shape", None)

    return [shape(leaves[s]) if isinstance(s, int) and leaves is not None
            else None if isinstance(s, int) else shape(s.content) for s in program.sources]
