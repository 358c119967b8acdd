"""The lengths of files and functions: what is long has a reason, and the reason goes with it.

A file is long from 300 lines on, a function from 40, docstrings included. Each check is a function
from files to complaints, and is shown a fault that it finds.
"""

from __future__ import annotations

import ast

from test_packaging import MODULES

FILE, FUNCTION = 300, 40
"""The most lines that a file and a function have without a reason."""

LONG_FILES = {
    "artifacts.fingerprints": "one walk over whatever a guard may name, with a rule for each kind",
    "artifacts.loading": "one way from a file to a program: each check comes before the next",
    "codegen.compile": "one pipeline, Numba's cut down; its parts make no sense alone",
    "codegen.cuda.splitting": "one recursion over Loop IR that decides what becomes a kernel",
    "codegen.loop_expressions": "the nodes of expressions: a grammar is read in one place",
    "codegen.scalar_intrinsics": "a table: one intrinsic after the other",
    "codegen.schedule": "one decision, with its reasons, about which statements share a nest",
    "codegen.statements": "one walk that makes statements of equations, by lowering descriptors",
    "inspection.costs.counting": "a table: what each kind of op costs, in dims",
    "inspection.pictures.diagram": "one walk that makes nodes, edges and boxes of a graph",
    "inspection.pictures.layout": "one algorithm, the layered layout, in its four steps",
    "ir.parser": "one grammar, the printed form, from its tokens on",
    "ir.values": "values and dims know one another: a dim is a polynomial over values",
    "numpy_api.creation": "NumPy's functions that make arrays, each short",
    "numpy_api.data_sizes": "NumPy's functions whose results have a size by data, each short",
    "numpy_api.distributions": "a table: distributions with their densities and methods",
    "numpy_api.elementwise": "NumPy's functions of one element, each short",
    "numpy_api.generators": "the methods of `Generator`, one after the other",
    "numpy_api.reductions": "folds share their arguments' rules: dtype, axis, initial, where",
    "ops.arithmetic": "a table: one elementwise op a row",
    "ops.extension": "what users register: its checks, capture and calls are one contract",
    "ops.linalg": "a table: one op of matrices with its rules after the other",
    "passes.jamming": "one pass, unroll-and-jam, with what it asks and what it makes",
    "passes.rules": "a table: one rewrite after the other",
    "program.cuda.driver": "one interface: CUDA's driver, call by call",
    "program.entry_source": "one LLVM function, the fast entry, written from its top to its end",
    "program.layout": "one question: where CPython keeps things, and whether that holds here",
    "program.records": "one record after the other: how each kind of guard is laid out",
    "program.specialisation": "one call of a program, from arguments to results",
    "runtime.function": "the class that users hold: its attributes are what they can look at",
    "runtime.stages": "the staged objects that users hold: traced, lowered, compiled",
    "store.files": "one way to files of this user alone, descriptor by descriptor",
    "tape.plans": "one kind of call: how it is captured, prepared and compiled",
    "tape.programs": "a recording as one program: captured, differentiated, cut",
    "tape.recording": "one act, carrying out a call and noting it, in its fast and slow forms",
    "tape.tape": "TensorFlow's class: its methods are documented where they are",
    "tape.values": "what behaves as an array on a tape: operators and methods",
    "trace.attempt": "one attempt of a capture, from inputs to the closed graph",
    "trace.containers.choices": "what a choice is and what is known of its tag",
    "trace.containers.places": "the contents that places may have, and how they are gone through",
    "trace.containers.runs": "what stands in a list for items of which a size says how many",
    "trace.ground.context": "the state of a capture: cells, frames and the trace know one another",
    "trace.ground.layouts": "one question, view or copy, with a rule for each way to make an array",
    "trace.ground.trees": "one question, which syntax tree a function was compiled from",
    "trace.hooks.hooks": "the hooks that rewritten code calls: short, one after the other",
    "trace.hooks.loop_hooks": "the hooks of loops, and of comprehensions, which are loops",
    "trace.lists.grown": "one kind of list, in a Log, with what may be done to it",
    "trace.lists.iterables": "what loops over traced things run over, one kind after the other",
    "trace.python.builtin_functions": "a table: one builtin after the other",
    "trace.python.keyed": "a deque, a set and a dict in Python, captured like users' code",
    "trace.python.list_items": "the methods of lists, one after the other",
    "trace.python.list_making": "the ways to make a list, one after the other",
    "trace.regions.aliases": "one question: which array a name holds after a loop or branch",
    "trace.regions.guesses": "the guesses of what a loop carries, one kind after the other",
    "trace.regions.loop_tracer": "one fixed point: the body is traced until its guess holds",
    "trace.regions.merging": "one recursion over what two branches leave, kind by kind",
    "trace.state.captured": "one way into a capture: each read of state leaves a guard or an input",
    "trace.state.changes": "one comparison, before and after code that is not captured",
    "trace.syntax.liveness": "one analysis: which names are read later",
    "trace.syntax.rewriter": "one transformer: the scope of names goes through all its visits",
    "trace.values.equations": "operands become an equation: one decision on dtype, shape, class",
    "trace.values.indexing": "NumPy's indexing: reads and writes share what an index means",
    "trace.values.mixed": "numbers of several kinds: what they are and how operators treat them",
    "trace.values.python_numbers": "Python's arithmetic where it is not NumPy's, by operators",
    "trace.values.tracer": "one class, the handle on an array, with what makes and names it",
    "transforms.linear": "`vjp`, `jvp` and their pullbacks: one program in two halves",
    "transforms.mapping": "`vmap` and the Jacobians: one element, traced in a map",
    "transforms.public": "signatures and docstrings: the pages of the manual for each transform",
}
"""The files that are long, by their names under tracejit, with what holds each together."""

LONG_FUNCTIONS = {
    "codegen.host_loops.HostLoops._split_loop": "20 lines show the loops that it writes",
    "codegen.scalar_functions.definitions": "a table: the functions close over the same four names",
    "inspection.profiles.profiling.profile": "public: its docstring explains what is measured",
    "ir.fourier.dft": "compiled by Numba as one function: one transform, any length",
    "ir.jacobi.symmetric_eigen": "compiled by Numba as one function: one iteration of rotations",
    "tape.backward.go_back": "the loop of a tape: a call of a helper costs what a step costs",
    "tape.recording.perform": "runs at each operation of a tape, in about a microsecond",
    "tape.symbolic.gradients": "public: its docstring is that of seven arguments",
    "transforms.checkpointing.checkpoint": "public: its docstring explains loops and functions",
    "transforms.public.vjp": "public: its docstring explains pullbacks",
}
"""The functions that are long, with the reason of each."""


def long_files(modules: dict[str, str]) -> set[str]:
    """Return the names of the files that are long."""
    return {_short(module) for module, source in modules.items() if source.count("\n") > FILE}


def long_functions(modules: dict[str, str]) -> set[str]:
    """Return the names of the functions that are long, with those of what they are in."""
    found: set[str] = set()

    def visit(node: ast.AST, name: str) -> None:
        for inner in ast.iter_child_nodes(node):
            own = f"{name}.{inner.name}" if isinstance(inner, _NAMED) else name
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and (
                    (inner.end_lineno or 0) - inner.lineno + 1 > FUNCTION):
                found.add(own)
            visit(inner, own)

    for module, source in modules.items():
        visit(ast.parse(source), _short(module))
    return found


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _short(module: str) -> str:
    return module.removeprefix("tracejit.")


def complaints(found: set[str], reasons: dict[str, str]) -> tuple[set[str], set[str]]:
    """Return what is long without a reason, and the reasons of what is long no more."""
    return found - set(reasons), set(reasons) - found


def test_every_long_file_has_a_reason() -> None:
    assert complaints(long_files(MODULES), LONG_FILES) == (set(), set())


def test_every_long_function_has_a_reason() -> None:
    assert complaints(long_functions(MODULES), LONG_FUNCTIONS) == (set(), set())


def test_what_is_long_is_found_and_what_is_long_no_more() -> None:
    body = "".join(f"        x = {k}\n" for k in range(FUNCTION))
    modules = {"tracejit.a": f"class C:\n    def f(self):\n{body}\n    def g(self): ...\n",
               "tracejit.b": "x = 1\n" * (FILE + 1), "tracejit.c": "x = 1\n" * FILE}
    assert long_functions(modules) == {"a.C.f"}
    assert long_files(modules) == {"b"}
    assert complaints(long_files(modules), {"c": "", "d": ""}) == ({"b"}, {"c", "d"})
