"""Programs with target="cuda": in Numba's simulator as on the CPU, and PTX that compiles.

Both need a process of their own, since numba-cuda decides at its import which one it is.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cuda_laws import LAWS, TEAMS, kepler, softmax

import tracejit

CHILD = Path(__file__).parents[1] / "cuda_child.py"

pytestmark = pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None,
                                reason="numba-cuda is not installed")


def has_compiler() -> bool:
    """Return whether NVVM is there, which makes PTX."""
    spec = importlib.util.find_spec("nvidia")
    folders = () if spec is None else spec.submodule_search_locations or ()
    return any(list(Path(folder).glob("*/nvvm")) for folder in folders)


needs_compiler = pytest.mark.skipif(not has_compiler(), reason="NVVM is not installed")

GALLERY = {
    "alignment": "hard_dtw_in_a_band log_softmax_by_reduce conditional_random_field floyd_warshall",
    "factorisations": "lu_solve gram_schmidt thomas",
    "filters": "scalar_kalman_smoother direct_form_two",
    "finance": "crank_nicolson_call",
    "integrators": "adaptive_rk45",
    "iterative": "sinkhorn soft_k_means arnoldi",
    "physics": "lennard_jones_in_a_box spring_mesh rigid_body",
    "recurrent_nets": "lstm gru perceptron causal_attention echo_state_in_single_precision",
    "root_finding": "newton_sqrt kepler_orbits bisection newton_system",
    "scans": "horner kahan_sum insertion_sort table_lookup sliding_window",
    "sparse": "csr_product coordinate_scatter weighted_histogram embedding_bags pointer_jumping",
    "statistics": "welford kernel_density logistic_irls",
    "stencils": "jacobi_2d seidel_2d red_black_by_strided_slices heat_until_time",
}
"""Programs of the gallery, by module."""

PARTS = 16
"""In how many processes the gallery and the table of ops are gone through."""


def run_child(kind: str, *names: str, simulate: bool) -> dict[str, str]:
    """Return the words of each program's fault, by its name; "" for a right program."""
    environment = dict(os.environ)
    environment.pop("NUMBA_ENABLE_CUDASIM", None)
    folders = [str(CHILD.parents[1]), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    if simulate:
        environment["NUMBA_ENABLE_CUDASIM"] = "1"
    done = subprocess.run([sys.executable, str(CHILD), kind, *names], env=environment, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(line) for line in done.stdout.splitlines())


def faults(results: dict[str, str]) -> dict[str, str]:
    """Return the programs with which something is wrong."""
    return {name: fault for name, fault in results.items() if fault}


def test_at_least_thirty_programs_of_the_gallery_are_run() -> None:
    assert sum(len(names.split()) for names in GALLERY.values()) >= 30


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_of_the_gallery_are_what_they_are_on_the_cpu(part: int) -> None:
    """A process for several modules: to import Numba takes as long as a program."""
    names = [f"{module}.{name}" for module in list(GALLERY)[part::PARTS]
             for name in GALLERY[module].split()]
    results = run_child("gallery", *names, simulate=True)
    assert set(results) == set(names)
    assert not faults(results)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_op_is_what_the_interpreter_says(part: int) -> None:
    results = run_child("ops", str(part), str(PARTS), simulate=True)
    assert len(results) > 20
    assert not faults(results)


@needs_compiler
@pytest.mark.parametrize("part", range(PARTS))
def test_every_op_compiles_to_ptx(part: int) -> None:
    assert not faults(run_child("ops-ptx", str(part), str(PARTS), simulate=False))


@needs_compiler
def test_numbers_of_every_dtype_are_packed_as_kernels_take_them() -> None:
    names = "bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 float".split()
    results = run_child("numbers-ptx", *names, simulate=False)
    assert set(results) == set(names)
    assert not faults(results)


@needs_compiler
@pytest.mark.parametrize("keys", ["a b10", "b1e5 c", "d g", "k m", "n n-arrays", "f", "j"])
def test_benchmarks_compile_to_ptx_without_spills(keys: str) -> None:
    results = run_child("ptx", *keys.split(), simulate=False)
    assert set(results) == set(keys.split())
    assert not faults(results)


@needs_compiler
@pytest.mark.parametrize("names", [["cross_entropy", "logistic"],
                                   ["perceptron", "extremes", "batches", "running"]])
def test_teams_and_products_compile_to_ptx_without_spills(names: list[str]) -> None:
    results = run_child("programs-ptx", *names, simulate=False)
    assert set(results) == set(names)
    assert not faults(results)


@pytest.mark.parametrize("part", range(PARTS))
def test_laws(part: int) -> None:
    names = list(LAWS)[part::PARTS]
    results = run_child("laws", *names, simulate=True)
    assert set(results) == set(names)
    assert not faults(results)


DRIVER_LAWS = re.findall(r"^def (\w+)\(\s*api: FakeDriver\) -> None:",
                         (CHILD.parent / "cuda_driver_laws.py").read_text(), re.MULTILINE)
"""By name: this process is not in the simulator, and cannot import them."""


@pytest.mark.parametrize("part", range(PARTS))
def test_the_layer_over_the_driver(part: int) -> None:
    """Waiting, memory, streams, captured launches and errors, over a stand-in for the driver."""
    names = DRIVER_LAWS[part::PARTS]
    assert len(DRIVER_LAWS) > 20
    results = run_child("driver", *names, simulate=True)
    assert set(results) == set(names)
    assert not faults(results)


OF_CALLS = ("a_full_log_is_given_more_room", "loops_of_the_host_ask_the_device",
            "failures_are_the_cpus", "arguments_are_written_to", "what_teams_share_is_complete",
            "results_on_the_device_are_arguments_again", "arrays_on_the_device_stay_there")
"""Laws that ask something of a device besides to launch a kernel."""


def test_laws_hold_over_the_driver() -> None:
    results = run_child("laws-driver", *OF_CALLS, simulate=True)
    assert set(results) == {*OF_CALLS} < {*LAWS}
    assert not faults(results)


# --- how many kernels there are -------------------------------------------------------------------


def chain(x):
    return np.sum(np.exp(np.sin(x)) * x)


def smoothness(x):
    return np.sum((x[1:] - x[:-1]) ** 2)


def heat(u, steps):
    for _ in range(steps):
        u = u + 0.1 * np.sin(u)
    return np.sum(u)


PLANNED = [
    (tracejit.jit, lambda x: np.exp(x) + x, ("f64[n]",), ("loop_0",)),
    (tracejit.value_and_grad, chain, ("f64[n]",), ("fold_0", "step_0")),
    (tracejit.grad, chain, ("f64[n]",), ("loop_0",)),
    (tracejit.grad, smoothness, ("f64[n]",), ("loop_0",)),
    (*TEAMS["logistic"], ("fold_0", "columns_0", "fold_1", "step_0")),
    (*TEAMS["cross_entropy"], ("fold_0", "step_0")),
    (*TEAMS["perceptron"],
     ("product_0", "loop_0", "product_1", "fold_0", "product_2", "product_3", "columns_0", "loop_1",
      "loop_2", "product_4", "columns_1", "loop_3", "step_0")),
    (*TEAMS["batches"], ("product_0",)),
    (tracejit.jit, np.cumsum, ("f64[n]",), ("rows_0", "rows_1")),
    (tracejit.jit, lambda x: np.cumsum(x, axis=1), ("f64[n, m]",), ("rows_0",)),
    (tracejit.jit, lambda a, b: a @ b, ("f32[n, k]", "f32[k, m]"), ("product_0",)),
    (tracejit.jit, softmax, ("f64[n, m]",), ("rows_0",)),
    (tracejit.jit, lambda x, y: np.sum(np.exp(x) * y, axis=1), ("f64[n, m]", "f64[n, m]"),
     ("rows_0",)),
    (tracejit.jit, lambda x: np.sum(x, axis=0), ("f64[n, m]",), ("columns_0", "loop_0")),
    (tracejit.grad, kepler, ("float", "float"), ("step_0",)),
    (lambda f, target: tracejit.vmap(tracejit.grad(f), target=target), kepler,
     ("f64[n]", "f64[n]"), ("map_0",)),
]


@pytest.mark.parametrize(("transform", "fn", "specs", "kernels"), PLANNED)
def test_a_program_has_the_kernels_that_are_planned(transform, fn, specs, kernels) -> None:
    """A nest of the CPU is one kernel, forward and backward, and nothing is done twice."""
    lowered = transform(fn, target="cuda").trace(*specs).lower()
    assert lowered.kernels == kernels
    _, _, host = lowered.source.partition("def launch(")
    assert all(host.count(f"{name}, ctx") == 1 for name in kernels)


def test_loops_of_the_host_launch_the_kernels_of_their_body_per_step() -> None:
    lowered = tracejit.grad(heat, target="cuda").trace("f64[n]", "int").lower()
    _, _, host = lowered.source.partition("def launch(")
    assert host.count("for ") == 2  # forwards and backwards
    assert "told(" not in host  # nothing waits for the device


def test_what_one_thread_does_alone_is_said() -> None:
    lowered = tracejit.jit(np.cumsum, target="cuda", fp="strict").trace("f64[n]").lower()
    assert lowered.kernels == ("step_0",)
    assert "one thread of the device does alone" in lowered.why()


# --- no device ------------------------------------------------------------------------------------


def test_without_a_device_a_call_says_so() -> None:
    from numba import cuda

    if cuda.is_available():
        pytest.skip("a device is there")
    with pytest.raises(tracejit.DeviceError, match="no CUDA device"):
        tracejit.grad(chain, target="cuda")(np.ones(3))


def test_a_target_has_to_be_known() -> None:
    with pytest.raises(ValueError, match='"cpu" or "cuda"'):
        tracejit.grad(chain, target="gpu")


def test_numba_cuda_is_imported_for_the_device_only() -> None:
    code = ("import sys, numpy as np, tracejit\n"
            "tracejit.grad(lambda x: np.sum(x * x))(np.ones(3))\n"
            "assert not any(m.startswith(('numba_cuda', 'numba.cuda.cudadrv')) "
            "for m in sys.modules), 'imported'")
    subprocess.run([sys.executable, "-c", code], check=True)
