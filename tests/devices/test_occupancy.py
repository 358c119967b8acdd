"""Occupancy estimates agree with NVIDIA's own arithmetic, `cuda_occupancy.h`."""

from __future__ import annotations

import importlib.util
import itertools
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from test_cuda import has_compiler

import tracejit
from tracejit.codegen.cuda import assembler
from tracejit.codegen.cuda.occupancy import LIMITS, WARP, occupancy_of
from tracejit.codegen.cuda.program import THREADS_OF

REGISTERS = (0, 8, 16, 31, 32, 33, 40, 48, 63, 64, 72, 96, 127, 128, 168, 255)
SHARED = (0, 1, 1000, 2048, 4096, 5700, 7250, 10240, 16384, 30000, 48 << 10)
THREADS = (1, 32, 64, 96, 128, 160, 256, 512, 1000, 1024)

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "cuda_occupancy.h"

static void show(int major, int minor, int warps, size_t shared, size_t reserved) {
    static const int registers[] = {REGISTERS}, shares[] = {SHARED}, threads[] = {THREADS};
    cudaOccDeviceProp device = {0};
    cudaOccDeviceState state = {0};
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    device.computeMajor = major; device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024; device.maxThreadsPerMultiprocessor = 32 * warps;
    device.regsPerBlock = 65536; device.regsPerMultiprocessor = 65536; device.warpSize = 32;
    device.sharedMemPerBlock = 48 << 10; device.sharedMemPerMultiprocessor = shared;
    device.numSms = 1; device.sharedMemPerBlockOptin = shared - reserved;
    device.reservedSharedMemPerBlock = reserved;
    for (size_t r = 0; r < sizeof registers / sizeof(int); r++)
        for (size_t s = 0; s < sizeof shares / sizeof(int); s++)
            for (size_t t = 0; t < sizeof threads / sizeof(int); t++) {
                cudaOccFuncAttributes kernel = {0};
                cudaOccResult found;
                kernel.maxThreadsPerBlock = 1024; kernel.numRegs = registers[r];
                kernel.sharedSizeBytes = shares[s];
                kernel.maxDynamicSharedSizeBytes = 48 << 10;
                if (cudaOccMaxActiveBlocksPerMultiprocessor(&found, &device, &kernel, &state,
                                                            threads[t], 0)) {
                    printf("-1 0\n");
                    continue;
                }
                printf("%d %d\n", found.activeBlocksPerMultiprocessor, found.limitingFactors);
            }
}

int main(void) {
CALLS
    return 0;
}
"""
FACTORS = {"warps": 1, "registers": 2, "shared memory": 4, "blocks": 8}
"""OCC_LIMIT_... of the header."""


def find_header() -> Path | None:
    """Return the folder of `cuda_occupancy.h`, which the wheel of the compiler's runtime has."""
    spec = importlib.util.find_spec("nvidia")
    for folder in () if spec is None else spec.submodule_search_locations or ():
        for path in sorted(Path(folder).glob("*/include/cuda_occupancy.h")):
            return path.parent
    return None


@pytest.mark.skipif(find_header() is None or shutil.which("cc") is None,
                    reason="cuda_occupancy.h or a C compiler is missing")
def test_occupancy_is_what_the_header_says(tmp_path: Path) -> None:
    calls = "\n".join(f"    show({major}, {minor}, {x.warps}, {x.shared}, {x.reserved});"
                      for (major, minor), x in LIMITS.items())
    text = PROGRAM.replace("CALLS", calls)
    for name in ("REGISTERS", "SHARED", "THREADS"):
        text = text.replace(f"{{{name}}}", f"{{{', '.join(map(str, globals()[name]))}}}")
    source, program = tmp_path / "occupancy.c", tmp_path / "occupancy"
    source.write_text(text)
    subprocess.run(["cc", "-O1", "-w", "-I", str(find_header()), str(source), "-o", str(program)],
                   check=True)
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    cases = list(itertools.product(LIMITS, REGISTERS, SHARED, THREADS))
    told = [tuple(map(int, line.split())) for line in lines.splitlines()]
    assert len(told) == len(cases)
    for (capability, registers, shared, threads), (blocks, factors) in zip(cases, told,
                                                                          strict=True):
        found = occupancy_of(capability, threads, registers, shared)
        case = (capability, registers, shared, threads)
        assert found is not None and found.blocks == blocks, case
        assert sum(FACTORS[name] for name in found.limited_by) == factors, case
        assert found.warps == blocks * -(-threads // WARP)


PUBLISHED = [
    ((7, 5), 256, 32, 0, 1.0), ((7, 5), 256, 64, 0, 1.0), ((7, 5), 256, 65, 0, 0.75),
    ((8, 0), 256, 32, 0, 1.0), ((8, 0), 256, 33, 0, 0.75), ((8, 0), 256, 64, 0, 0.5),
    ((8, 0), 1024, 33, 0, 0.5), ((8, 6), 256, 40, 0, 1.0), ((8, 6), 1024, 32, 0, 2 / 3),
    ((8, 9), 32, 32, 0, 0.5), ((9, 0), 256, 255, 0, 0.125), ((9, 0), 32, 32, 0, 0.5),
    ((9, 0), 256, 32, 32 << 10, 0.75), ((12, 0), 128, 40, 0, 1.0),
]
"""Capability, threads, registers, shared memory and occupancy, worked out by hand from the tables:
at 33 registers a warp takes 1280, and a part of 16384 holds 12 of them, in place of 16."""


@pytest.mark.parametrize(("capability", "threads", "registers", "shared", "share"), PUBLISHED)
def test_known_values(capability, threads, registers, shared, share) -> None:
    found = occupancy_of(capability, threads, registers, shared)
    assert found is not None and found.share == pytest.approx(share)


def test_a_capability_that_is_not_known_has_no_estimate() -> None:
    assert occupancy_of((5, 0), 256, 32, 0) is None


# --- kernels --------------------------------------------------------------------------------------


def chain(x):
    return np.sum(np.exp(np.sin(x)) * x)


def kepler(m, e):
    x = m
    for _ in range(5):
        x = x - (x - e * np.sin(x) - m) / (1.0 - e * np.cos(x))
    return x


numba_cuda = pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None,
                                reason="numba-cuda is not installed")


@numba_cuda
def test_full_blocks_have_the_threads_that_calls_launch() -> None:
    from tracejit.program.cuda import host

    def full(limit: int, *most: int) -> int:
        _, threads = host._geometry((10 ** 8,), limit, *most)
        return int(np.prod(threads))

    assert full(host.MAX_BLOCKS) == full(host.PARTS) == 256
    assert full(host.ROOMS, 64) == THREADS_OF["few"] == 64


@numba_cuda
def test_each_kernel_is_known_by_how_it_is_launched() -> None:
    program = tracejit.value_and_grad(chain, target="cuda").trace("f64[n]").lower().device
    assert [program.launches(k) for k in program.kernels] == ["folding", "block"]
    assert [program.threads(k) for k in program.kernels] == [256, 256]
    program = tracejit.grad(kepler, target="cuda").trace("float", "float").lower().device
    assert program.launches("step_0") == "one" and program.threads("step_0") == 1
    mapped = tracejit.vmap(tracejit.grad(kepler), target="cuda").trace("f64[n]", "f64[n]").lower()
    assert mapped.device.launches("map_0") == "few" and mapped.device.threads("map_0") == 64


@numba_cuda
@pytest.mark.skipif(not has_compiler() or assembler.find_ptxas() is None,
                    reason="NVVM or ptxas is missing")
def test_resources_are_read_and_shown() -> None:
    lowered = tracejit.value_and_grad(chain, target="cuda").trace("f64[n]").lower()
    found = lowered.resources((9, 0))
    assert list(found) == list(lowered.kernels)
    fold, step = found["fold_0"], found["step_0"]
    assert fold.registers > 8 and not fold.spill_stores + fold.spill_loads
    assert fold.shared == step.shared == 256 * 8  # a float64 for each thread of a block
    assert fold.occupancy == occupancy_of((9, 0), 256, fold.registers, fold.shared)
    assert step.occupancy is None  # one block
    head, first, second = str(found).splitlines()
    assert head.split() == ["kernel", "threads", "registers", "spills", "shared", "local",
                            "occupancy"]
    assert first.split()[:5] == ["fold_0", "256", str(fold.registers), "0", "2048"]
    assert first.endswith(str(fold.occupancy)) and second.startswith("step_0")


def test_what_the_assembler_says_is_read() -> None:
    said = """ptxas info    : 72 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    40 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 96 bytes cumulative stack size, 2048 bytes smem
ptxas info    : Function properties for __internal_trig_reduction_slowpathd
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""
    found = assembler._parse(said)
    assert (found.registers, found.spill_stores, found.spill_loads) == (40, 8, 12)
    assert (found.shared, found.local) == (2048, 96)


def test_rows_of_a_table_are_those_of_its_kernels() -> None:
    table = assembler.ResourceTable(k=assembler.Resources(40, 0, 0))
    assert json.dumps(table.rows()) == '[["k", "256", "40", "0", "0", "0", ""]]'
