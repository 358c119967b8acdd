"""The plan of a call on a device, as Python source: sizes, shapes of results, places in the arena.

It writes a `SizePlan` (`codegen/plan.py`), and besides where each array of the arena lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tracejit.codegen.cuda.module import DeviceSource
from tracejit.codegen.cuda.program import DeviceProgram
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_ir import Let
from tracejit.codegen.plan import Condition, size_plan
from tracejit.codegen.slots import dim_source, slot_sizes

__all__ = ["plan_source", "program_of"]


def program_of(kernel: Kernel, emitted: DeviceSource,
               conditions: Sequence[Condition]) -> DeviceProgram:
    """Return the data that calls of a kernel need.

    conditions -- conditions on the sizes
    """
    heads = iter([n.name for n in kernel.head if isinstance(n, Let)])
    names = [buffer.name if v.aval.shape else next(heads)
             for buffer, v in zip(kernel.inputs, kernel.graph.inputs, strict=True)]
    return DeviceProgram(
        emitted.text, plan_source(kernel, conditions),
        {name: tuple(parameters) for name, parameters in emitted.kernels.items()},
        tuple([(name, v.aval.dtype, len(v.aval.shape))
               for name, v in zip(names, kernel.graph.inputs, strict=True)]),
        tuple(kernel.size_names),
        tuple([(buffer.name, buffer.dtype, len(shape)) for buffer, shape in zip(
            kernel.outputs, size_plan(kernel, conditions).shapes, strict=True)]),
        tuple([(b.name, b.dtype) for b in kernel.arena]), dict(emitted.arrays),
        tuple(kernel.logs), dict(emitted.launched))


def plan_source(kernel: Kernel, conditions: Sequence[Condition]) -> str:
    """Return the source of a kernel's plan: a function of the dims of a call, d0, d1 and so on."""
    plan = size_plan(kernel, conditions)
    names = {size: f"d{k}" for size, k in plan.sizes.items()}
    tests = [f"d{k} != {dim_source(d, names)}" for k, d in plan.checks]
    for d, relation, truth in plan.conditions:
        tests.append(f"{'not ' if truth else ''}{dim_source(d, names)} {relation} 0")
    lines = [f"def plan({', '.join(f'd{k}' for k in range(len(plan.given)))}):"]
    for test in tests:
        lines += [f"    if {test}:", "        return None"]
    numbers = sorted({b.number for b in kernel.arena})
    end = "0"
    for number, size in zip(numbers, slot_sizes(kernel), strict=True):
        lines += [f"    at{number} = {end}", f"    end = at{number} + {dim_source(size, names)}"]
        end = "end"
    sizes = _tuple(names[v] for v in kernel.graph.sizes)
    shapes = _tuple(_tuple(dim_source(d, names) for d in shape) for shape in plan.shapes)
    places = _tuple(f"(at{b.number}, {dim_source(b.size * b.dtype.itemsize, names)})"
                    for b in kernel.arena)
    return "\n".join([*lines, f"    return {sizes}, {shapes}, {places}, {end}", ""])


def _tuple(parts: Iterable[str]) -> str:
    return f"({''.join(f'{part}, ' for part in parts).rstrip(' ')})"
