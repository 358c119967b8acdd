"""Programs as modules that need NumPy and Numba alone: what `Lowered.to_numba` writes."""

from __future__ import annotations

import keyword
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tracejit.errors import ExportError
from tracejit.runtime.export import frozen_lines, require_silent
from tracejit.runtime.result_sizes import require_known_sizes
from tracejit.trace.state.paths import Leaf

if TYPE_CHECKING:
    from tracejit.codegen.kernel import Kernel
    from tracejit.codegen.plan import Condition
    from tracejit.runtime.program import Program

__all__ = ["write_numba_module"]


def write_numba_module(program: Program, kernel: Kernel, path: str | os.PathLike[str],
                       name: str | None) -> Path:
    """Write the module; see `Lowered.to_numba`."""
    from tracejit.codegen.c_names import c_function_name
    from tracejit.codegen.numba_module import NumbaEntry, module_text

    target = Path(path)
    if target.suffix != ".py" or not target.stem.isidentifier():
        raise ValueError(f"{str(path)!r} must end in the name of a module, model.py for instance")
    own = name or c_function_name(program.name)
    if not own.isidentifier() or keyword.iskeyword(own) or own in ("np", "njit", "cpu_target"):
        raise ValueError(f"{own!r} is no name for a function of a module. Give name= another")
    require_silent(program, kernel)
    require_known_sizes(program.graph, "a module for Numba")
    if program.written or program.assigned:
        raise ExportError(f"{program.name} writes to its arguments or assigns variables, which a "
                          "module for Numba does not. Let it work on a copy, x = x.copy(), and "
                          "return that")
    facts = program.capture.facts
    if any(fact.kind == "identical" for fact in facts):
        raise ExportError(f"{program.name} asks whether two arrays are one object, which @njit "
                          "code cannot tell")
    is_strict = getattr(program.options, "fp", "default") == "strict"
    entry = NumbaEntry(own, _about(program, kernel), _conditions(program), is_strict,
                       frozenset(k for fact in facts for k in fact.inputs),
                       [fact.inputs for fact in facts if fact.kind == "overlap"])
    _require_ours(target)
    target.write_text(module_text(kernel, entry), encoding="utf-8")
    return target


def _require_ours(target: Path) -> None:
    """Raise `FileExistsError` for a file that is there and was not made here: a user's program."""
    from tracejit.codegen.numba_module import MADE_HERE

    if target.exists():
        with target.open(encoding="utf-8", errors="replace") as file:
            if MADE_HERE not in file.readline():
                raise FileExistsError(f"{target} is there, and is no module that to_numba has "
                                      "made. Give another name, or delete it")


def _about(program: Program, kernel: Kernel) -> list[str]:
    """Return the lines that say what a function takes and gives."""
    lines = [f"{program.name}.", ""]
    for buffer, v, source in zip(kernel.inputs, kernel.graph.inputs, program.sources, strict=True):
        outside = f", what {source.path} was" if isinstance(source, Leaf) else ""
        lines.append(f"{buffer.name}: {v.aval}{outside}")
    lines += frozen_lines(program)
    return [*lines, f"Returns {', '.join(str(v.aval) for v in kernel.graph.outputs)}."]


def _conditions(program: Program) -> list[tuple[Condition, str]]:
    """Return the conditions on sizes and ints, each with the message where it does not hold."""
    from tracejit.runtime.export import conditions_of

    return [(condition, f"{program.name} was made for other sizes or ints" + (
        f": {reason}" if reason else "")) for condition, reason in conditions_of(program)]
