"""Programs with target="cuda" that outlive the process: as files, and in the store.

No device is needed: PTX is compiled without one, and a device of some compute capability is said to
be there. Calls of loaded programs run in Numba's simulator, in a process of its own.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_cuda import PLANNED, has_compiler

import tracejit
from tracejit.codegen.cuda.program import DeviceProgram
from tracejit.errors import SnapshotError
from tracejit.ir.dims import evaluate
from tracejit.ir.interpreter import bind_sizes
from tracejit.runtime import making
from tracejit.runtime.interpreted import Interpreted
from tracejit.store import environment, store
from tracejit.store.digests import digest

ROOT = Path(__file__).parents[2]
SCALE = np.array([1.0, 2.0, 3.0])
RATE = 0.5

pytestmark = pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None,
                                reason="numba-cuda is not installed")
needs_compiler = pytest.mark.skipif(not has_compiler(), reason="NVVM is not installed")


def energy(u, steps):
    total = 0.0
    for _ in range(steps):
        u = u + RATE * np.sin(u)
        total += np.sum(u[::2] ** 2)
    if total > 1e6:
        raise ValueError("too much")
    return total + np.sum(SCALE)


def short(x):
    return np.sum(np.sin(x) * x)


# --- what calls need, as plain data ---------------------------------------------------------------


def lowered_programs() -> Iterator[Any]:
    for transform, fn, specs, _ in PLANNED:
        yield transform(fn, target="cuda").trace(*specs).lower()
    yield tracejit.value_and_grad(energy, target="cuda").trace("f64[n]", "int").lower()


def test_what_calls_need_is_the_same_from_its_text() -> None:
    for lowered in lowered_programs():
        program = lowered.device
        text = json.loads(json.dumps(program.text(), sort_keys=True))
        again = DeviceProgram.of_text(text, program.source, program.plan, {})
        assert again == program
        assert list(again.kernels) == list(lowered.kernels)


@pytest.mark.parametrize("case", range(len(PLANNED) + 1))
def test_the_plan_is_what_the_dims_say(case: int) -> None:
    """Sizes, shapes and bytes follow from the graph's dims; arrays that do not fit are refused."""
    lowered = list(lowered_programs())[case]
    compiled, graph = lowered.compile(), lowered.graph
    rng = np.random.default_rng(case)
    seen = set()
    for k in range(40):
        n = rng.integers(1, 4)  # where all are as large, most programs hold
        values = [np.zeros([rng.integers(0, 4) if k % 2 else n for _ in v.aval.shape],
                           v.aval.dtype)
                  if v.aval.shape else v.aval.dtype.type(rng.integers(0, 9)) for v in graph.inputs]
        _, found = compiled.invocation.plan(values)
        seen.add(found is None)
        assert (found is not None) == Interpreted(lowered.traced).fits(values)
        if found is None:
            continue
        env = {**bind_sizes(graph, values), **dict(zip(graph.inputs, values, strict=True))}
        sizes, shapes, places, total = found
        assert sizes == tuple(env[v] for v in graph.sizes)
        assert list(shapes) == [tuple(evaluate(d, lambda v: int(env[v])) for d in a.aval.shape)
                                for a in graph.outputs]
        taken = [size for _, size in places]
        assert taken == [evaluate(b.size * b.dtype.itemsize, lambda v: int(env[v]))
                         for b in lowered.kernel.arena]
        numbers = {b.number for b in lowered.kernel.arena}
        for (at, size), b in zip(places, lowered.kernel.arena, strict=True):
            assert at % 64 == 0 and at + size <= total
            assert all(at + size <= other or other + more <= at or b.number == c.number
                       for (other, more), c in zip(places, lowered.kernel.arena, strict=True))
        assert total <= sum(taken) + 64 * len(numbers) or len(numbers) < len(taken)
    assert False in seen


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that was compiled for 8.0 and saved, where no device is."""
    if not has_compiler():
        pytest.skip("NVVM is not installed")
    lowered = tracejit.value_and_grad(energy, target="cuda").trace(np.ones(6), 2).lower()
    path = tmp_path_factory.mktemp("saved") / "energy.tracejit"
    assert lowered.compile(capability=(8, 0)).save(path) == path
    return path


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Return a function that sets the compute capability of the device; None for no device.
    """
    def say(capability: Any) -> None:
        monkeypatch.setattr("tracejit.program.cuda.images.device_capability", lambda: capability)
    return say


def manifest_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("manifest.json"))


def changed(path: Path, new: Path, change: Callable[[dict[str, Any], dict[str, bytes]], None],
            *, is_honest: bool = True) -> Path:
    """Copy an artifact with a change, its digests renewed if it is honest."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files["manifest.json"])
    change(manifest, files)
    if is_honest:
        manifest["files"] = {name: digest(files[name]) for name in manifest["files"]}
        files["manifest.json"] = json.dumps(manifest).encode()
        files["digest"] = digest(files["manifest.json"]).encode()
    with zipfile.ZipFile(new, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return new


def test_a_file_holds_the_ptx_of_every_kernel_and_says_what_it_was_made_with(saved: Path) -> None:
    manifest, loaded = manifest_of(saved), tracejit.load(saved)
    lowered = tracejit.value_and_grad(energy, target="cuda").trace(np.ones(6), 2).lower()
    assert manifest["device"]["capability"] == "8.0"
    assert manifest["environment"]["numba-cuda"] == importlib.metadata.version("numba-cuda")
    assert "nvvm" in manifest["environment"]["NVVM"]
    assert set(environment.describe_environment()) < set(manifest["environment"])
    assert loaded.capability == (8, 0)
    assert list(loaded.ptx()) == list(lowered.kernels)
    assert all(".target sm_80" in text for text in loaded.ptx().values())
    assert loaded.source == lowered.source


def child(script: str, *, simulate: bool) -> Any:
    """Return the last line that a script prints in a process of its own, as JSON."""
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    given.pop("NUMBA_ENABLE_CUDASIM", None)
    if simulate:
        given["NUMBA_ENABLE_CUDASIM"] = "1"
    done = subprocess.run([sys.executable, "-c", script], env=given, text=True, check=False,
                          capture_output=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_loaded_program_computes_what_the_cpu_computes(saved: Path) -> None:
    """In the simulator, which runs the source of the file; the function is not imported."""
    found = child(f"""
import json, numpy as np, tracejit
f = tracejit.load({str(saved)!r})
results = []
for n, steps in ((6, 2), (1, 1), (301, 3)):
    value, slope = f(np.linspace(0.0, 2.0, n), steps)
    results.append([float(value), slope.tolist()])
try:
    f(np.full(4, 1e4), 1)
except ValueError as e:
    results.append([str(e), *e.__notes__])
print(json.dumps(results))
""", simulate=True)
    for (value, slope), (n, steps) in zip(found, ((6, 2), (1, 1), (301, 3)), strict=False):
        expected = tracejit.value_and_grad(energy)(np.linspace(0.0, 2.0, n), steps)
        np.testing.assert_allclose(value, expected[0], rtol=1e-12)
        np.testing.assert_allclose(slope, expected[1], rtol=1e-12)
    line = energy.__code__.co_firstlineno + 6
    assert found[3][0] == "too much"
    assert f"test_cuda_store.py:{line}" in found[3][1]


def test_loading_imports_neither_numba_nor_the_tracer(saved: Path) -> None:
    imported = child(f"""
import json, sys, numpy as np, tracejit
f = tracejit.load({str(saved)!r})
held = f._specialisation
_, planned = held.runner.plan(held.values([np.ones(5), 3]))
assert planned[1] == ((), (5,))
print(json.dumps(sorted(sys.modules)))
""", simulate=False)
    tops = {name.partition(".")[0] for name in imported}
    assert not tops & {"numba", "numba_cuda"}
    assert not {name for name in imported if name.startswith("tracejit.") and name.split(".")[1] in
                ("autodiff", "passes", "ops", "numpy_api")}
    assert not {"tracejit.trace.values.tracer", "tracejit.trace.capture"} & set(imported)


@pytest.mark.parametrize("capability", [None, (8, 0), (8, 6), (9, 0), (12, 0)])
def test_devices_of_the_same_and_higher_capability_run_it(saved: Path, on_device: Any,
                                                          capability: Any) -> None:
    on_device(capability)
    assert tracejit.load(saved).capability == (8, 0)


def test_a_lower_device_is_refused_by_name(saved: Path, on_device: Any) -> None:
    on_device((7, 5))
    with pytest.raises(SnapshotError, match=r"capability 8\.0 .* device here has 7\.5"):
        tracejit.load(saved)


def test_ptx_of_a_file_serves_higher_devices_without_compiling(saved: Path) -> None:
    from tracejit.program.cuda.images import ptx_for

    program = tracejit.load(saved)._specialisation.runner.program
    assert ptx_for(program, (9, 0)) is program.ptx[8, 0]


@pytest.mark.parametrize("name", ["kernel.py", "plan.py", "loop_0.ptx", "manifest.json"])
def test_a_damaged_file_is_refused(saved: Path, tmp_path: Path, name: str) -> None:
    def damage(manifest: Any, files: dict[str, bytes]) -> None:
        files[name] = files[name].replace(b"0", b"1", 1)

    path = changed(saved, tmp_path / "f", damage, is_honest=False)
    stem = "manifest" if name == "manifest.json" else name
    with pytest.raises(SnapshotError, match=f"its {stem} is damaged.*Save it again"):
        tracejit.load(path)


def test_a_file_without_a_kernel_is_refused(saved: Path, tmp_path: Path) -> None:
    def drop(manifest: Any, files: dict[str, bytes]) -> None:
        del files["loop_0.ptx"], manifest["files"]["loop_0.ptx"]

    with pytest.raises(SnapshotError, match=r"loop_0\.ptx"):
        tracejit.load(changed(saved, tmp_path / "f", drop))


@pytest.mark.parametrize(("name", "holds"), [
    ("tracejit", False), ("device format", False), ("format", False), ("processor", True),
    ("numba", True), ("numba-cuda", True), ("python", True), ("tracejit's source", True)])
def test_another_machine_may_have_another_cpu_and_compiler(saved: Path, tmp_path: Path, name: str,
                                                           holds: bool) -> None:
    def other(manifest: Any, files: Any) -> None:
        manifest["environment"][name] = "another"

    path = changed(saved, tmp_path / "f", other)
    if holds:
        assert tracejit.load(path).capability == (8, 0)
        return
    with pytest.raises(SnapshotError, match=f"{name} is .*, and was another"):
        tracejit.load(path)


def test_without_device_or_capability_nothing_is_saved(tmp_path: Path) -> None:
    compiled = tracejit.grad(short, target="cuda").trace("f64[n]").lower().compile()
    with pytest.raises(tracejit.DeviceError, match=r"no CUDA device.*capability=\(8, 0\)"):
        compiled.save(tmp_path / "f")
    assert not list(tmp_path.iterdir())


@needs_compiler
def test_with_a_device_what_is_saved_is_for_it(tmp_path: Path, on_device: Any) -> None:
    on_device((9, 0))
    compiled = tracejit.grad(short, target="cuda").trace("f64[n]").lower().compile()
    assert tracejit.load(compiled.save(tmp_path / "f")).capability == (9, 0)


def test_the_simulator_saves_and_keeps_nothing(tmp_path: Path) -> None:
    said = child(f"""
import json, numpy as np, tracejit
from test_cuda_store import short
g = tracejit.grad(short, target="cuda")
with tracejit.config(cache=True, cache_dir={str(tmp_path)!r}):
    g(np.ones(3))
    said = [tracejit.cache.explain(g, np.ones(3)), tracejit.cache.info().count]
for settings in ({{}}, {{"capability": (8, 0)}}):
    try:
        g.trace("f64[n]").lower().compile(**settings).save({str(tmp_path / "f")!r})
    except tracejit.DeviceError as e:
        said.append(str(e))
print(json.dumps(said))
""", simulate=True)
    assert "not kept: Numba's CUDA simulator compiles nothing" in said[0]
    assert said[1] == 0
    assert all("simulator compiles nothing" in text for text in said[2:]) and len(said) == 4


# --- the store ------------------------------------------------------------------------------------


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_device: Any) -> Iterator[list[str]]:
    """Switch the store on, with a device of 8.0; yield the list of compiled functions' names."""
    if not has_compiler():
        pytest.skip("NVVM is not installed")
    on_device((8, 0))
    names: list[str] = []
    make = making.make
    monkeypatch.setattr(making, "make", lambda call: names.append(
        call.function.__name__) or make(call))
    monkeypatch.setattr(store, "_WARNED", set())
    with tracejit.config(cache=True, cache_dir=str(tmp_path / "cache")):
        yield names


def warm(fn: Any = short, *specs: str) -> Any:
    """Return a new function that is ready for calls, compiled or from the store."""
    g = tracejit.grad(fn, target="cuda")
    g.warmup(specs or ("f64[n]",))
    return g


def artifacts(tmp_path: Path) -> list[Path]:
    return sorted(p.parent for p in (tmp_path / "cache").glob("artifacts/*/*/manifest.json"))


def test_what_was_compiled_for_a_device_is_found_again(made: list[str]) -> None:
    first, again = warm(), warm()
    assert made == ["short"]
    (found,), = again._table.values()
    (other,), = first._table.values()
    assert found.is_stored and found.runner.program == other.runner.program
    assert found.runner.program.ptx == other.runner.program.ptx
    assert "serves this call" in tracejit.cache.explain(again, "f64[n]")
    entry, = tracejit.cache.ls()
    assert entry.device == "8.0" and "for compute capability 8.0" in str(entry)
    text = tracejit.cache.explain(entry.key)
    assert "It is for a device of:\n  compute capability 8.0" in text and "numba-cuda: " in text


def test_programs_for_cpu_and_device_are_apart(made: list[str]) -> None:
    warm()
    tracejit.grad(short).warmup(("f64[n]",))
    warm()
    assert made == ["short", "short"]


def test_another_capability_is_a_miss_with_its_reason(made: list[str], on_device: Any) -> None:
    warm()
    for capability, said in (((9, 0), "has 9.0"), ((7, 5), "has 7.5"), (None, "no CUDA device")):
        on_device(capability)
        g = tracejit.grad(short, target="cuda")
        assert said in tracejit.cache.explain(g, "f64[n]")
    on_device((9, 0))
    warm()
    on_device((8, 0))
    warm()
    assert made == ["short", "short"] and tracejit.cache.info().count == 2
    assert tracejit.cache.prune() == 0


def test_another_compiler_is_a_miss_with_its_reason(made: list[str],
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    warm()
    other = {**environment.describe_device_environment(), "numba-cuda": "0.0"}
    monkeypatch.setattr("tracejit.artifacts.loading.describe_device_environment", lambda: other)
    assert "numba-cuda is 0.0" in tracejit.cache.explain(tracejit.grad(short, target="cuda"),
                                                         "f64[n]")
    warm()
    assert made == ["short", "short"]


@pytest.mark.parametrize("name", ["kernel.py", "plan.py", "loop_0.ptx", "manifest.json"])
def test_damage_is_made_again_with_a_warning(made: list[str], name: str, tmp_path: Path,
                                             caplog: pytest.LogCaptureFixture) -> None:
    warm()
    path, = artifacts(tmp_path)
    path.joinpath(name).write_bytes(path.joinpath(name).read_bytes().replace(b"0", b"1", 1))
    warm()
    assert made == ["short", "short"]
    assert "will be made again" in caplog.text and path.name in caplog.text
    warm()
    assert made == ["short", "short"]
    assert not tracejit.cache.verify()


def test_verify_finds_damage(made: list[str], tmp_path: Path) -> None:
    warm()
    path, = artifacts(tmp_path)
    path.joinpath("plan.py").write_bytes(b"")
    complaint, = tracejit.cache.verify()
    assert "plan.py is damaged" in complaint


MODEL = """
import numpy as np

COUNT = 3

def loss(w, x):
    total = 0.0
    for i in range(COUNT):
        total += np.sum(np.tanh(w @ x))
    return total
"""
WARM = """
import json, sys
import tracejit, model
from tracejit.program.cuda import images

images.device_capability = lambda: (8, 0)
g = tracejit.value_and_grad(model.loss, target="cuda")
g.warmup(("f64[n]", "f64[n, m]"))
(found,), = g._table.values()
print(json.dumps([found.is_stored, sorted(sys.modules)]))
"""


@needs_compiler
def test_a_fresh_process_finds_it_and_imports_neither_numba_nor_the_tracer(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.setenv("TRACEJIT_CACHE", "1")
    monkeypatch.setenv("TRACEJIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    runs = [child(WARM, simulate=False) for _ in range(2)]
    assert [is_stored for is_stored, _ in runs] == [False, True]
    imported = runs[1][1]
    assert not {name.partition(".")[0] for name in imported} & {"numba", "numba_cuda"}
    assert not {"tracejit.trace.values.tracer", "tracejit.trace.capture"} & set(imported)
    (tmp_path / "model.py").write_text(MODEL.replace("COUNT = 3", "COUNT = 4"))
    assert not child(WARM, simulate=False)[0]
