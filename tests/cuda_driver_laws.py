"""The laws of the layer over CUDA's driver; run by cuda_child.py on a stand-in for the driver."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as bindings
from cuda_fake_driver import FakeDriver
from cuda_laws import OnDevice, decay
from dlpack_capsule import Exporting

import tracejit
from tracejit.program.cuda import driver as real

__all__ = ["DRIVER_LAWS"]

STATUS = bindings.CUresult


def waves(x: Any) -> Any:
    return np.sum(np.exp(np.sin(x)) * x)


def picked(x: Any, index: Any) -> Any:
    return x[index] * 2.0


X = np.linspace(0.1, 1.0, 40)
"""Few: each thread of the simulator is one of Python."""


# --- waiting --------------------------------------------------------------------------------------


def calls_with_arrays_on_the_device_do_not_wait(api: FakeDriver) -> None:
    fn = tracejit.value_and_grad(waves, target="cuda")
    fn(OnDevice(X))
    for k in range(4):
        with api.counting() as calls:
            value, slope = fn(OnDevice(X + k))
        assert not any(name.startswith(("cuMemcpy", "cuStreamSync", "cuMemset")) for name in calls)
        expected = tracejit.value_and_grad(waves)(X + k)
        with api.counting() as calls:
            np.testing.assert_allclose(value.item(), expected[0], rtol=1e-12)
        assert calls["cuStreamSynchronize"] == calls["cuMemcpyDtoHAsync"] == 1
        np.testing.assert_allclose(np.asarray(slope), expected[1], rtol=1e-12)


def a_program_that_can_fail_asks_once(api: FakeDriver) -> None:
    fn = tracejit.jit(picked, target="cuda")
    for index in (3, 4, 5):
        with api.counting() as calls:
            found = fn(OnDevice(X), index)
        assert calls["cuStreamSynchronize"] == calls["cuMemcpyDtoHAsync"] == 1
        assert calls["cuMemsetD8Async"] <= 2
        assert found.item() == 2.0 * X[index]
    with pytest.raises(IndexError):
        fn(OnDevice(X), len(X))
    assert fn(OnDevice(X), -1).item() == 2.0 * X[-1]


def copies_are_as_many_as_arrays(api: FakeDriver) -> None:
    fn = tracejit.value_and_grad(waves, target="cuda")
    fn(X)
    with api.counting() as calls:
        value, slope = fn(X)
    assert (calls["cuMemcpyHtoDAsync"], calls["cuMemcpyDtoHAsync"]) == (1, 2)
    assert calls["cuStreamSynchronize"] == 1
    assert type(value) is np.float64
    np.testing.assert_allclose(slope, tracejit.grad(waves)(X), rtol=1e-12)


def a_loop_on_data_asks_once_per_iteration(api: FakeDriver) -> None:
    def until(u: Any, tolerance: Any) -> Any:
        count, error = 0.0, 1.0
        while error > tolerance:
            new = 0.5 * u
            error = np.max(np.abs(new - u))
            u = new
            count = count + 1.0
        return u, count

    fn, expected = tracejit.jit(until, target="cuda"), tracejit.jit(until)
    for _ in range(3):
        with api.counting() as calls:
            u, count = fn(OnDevice(X), 0.01)
        v, n = expected(X, 0.01)
        assert calls["cuStreamSynchronize"] <= n + 2
        assert calls["cuGraphLaunch"] == 0
        assert count.item() == n
        assert np.array_equal(np.asarray(u), v)


def a_host_array_beside_one_on_the_device_is_copied_before_the_call_returns(
        api: FakeDriver) -> None:
    fn = tracejit.jit(lambda x, y: x * y, target="cuda")
    y = np.ones(40)
    found = fn(OnDevice(X), y)
    y[:] = 5.0
    assert np.array_equal(np.asarray(found), X)


# --- captured launches ----------------------------------------------------------------------------


def launches_that_come_again_are_one_call(api: FakeDriver) -> None:
    fn = tracejit.value_and_grad(waves, target="cuda")
    x = OnDevice(X)
    expected = tracejit.value_and_grad(waves)(X)
    seen = []
    for _ in range(5):
        with api.counting() as calls:
            value, slope = fn(x)
        seen.append((calls["cuLaunchKernel"], calls["cuStreamBeginCapture"],
                     calls["cuGraphLaunch"]))
        np.testing.assert_allclose(value.item(), expected[0], rtol=1e-12)
        np.testing.assert_allclose(np.asarray(slope), expected[1], rtol=1e-12)
        del value, slope
    assert seen == [(2, 0, 0), (2, 1, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)]


def numbers_by_value_are_told_apart_to_the_bit(api: FakeDriver) -> None:
    def fn(x: Any, a: Any) -> Any:
        return np.sum(x * x) + a, np.sum(x) * a, np.copysign(x, a)

    on_device, on_cpu = tracejit.jit(fn, target="cuda"), tracejit.jit(fn)
    x = OnDevice(X)
    for a in (0.0, 0.0, 0.0, -0.0, -0.0, -0.0, 3.0, 0.0, 3.0, np.nan, np.nan, -0.0):
        found = [np.asarray(r) for r in on_device(x, a)]
        for r, e in zip(found, on_cpu(X, a), strict=True):
            np.testing.assert_allclose(r, e, rtol=1e-12)
            assert np.array_equal(np.signbit(r), np.signbit(e))
    assert api.calls["cuGraphLaunch"] >= 5


def memory_that_grows_is_not_used_at_its_old_place(api: FakeDriver) -> None:
    def fn(x: Any) -> Any:
        y = np.sin(x) * np.sum(x)
        return np.sum(y * y[::-1]), y / np.max(y)

    on_device, on_cpu = tracejit.jit(fn, target="cuda"), tracejit.jit(fn)
    small, large = np.linspace(0.1, 1.0, 20), np.linspace(0.1, 1.0, 300)
    kept = {n: OnDevice(x) for n, x in ((20, small), (300, large))}
    for x in (small, small, small, large, small, small, small, large, large):
        found = [np.asarray(r) for r in on_device(kept[len(x)])]
        for r, e in zip(found, on_cpu(x), strict=True):
            np.testing.assert_allclose(r, e, rtol=1e-12)
    assert api.calls["cuGraphLaunch"] > 0


def memory_of_threads_that_grows_is_not_used_at_its_old_place(api: FakeDriver) -> None:
    def long(x: Any) -> Any:
        work = np.cumsum(x * x)
        for k in range(1, len(x)):
            work[k] = work[k] + np.sin(work[k - 1])
        return np.sum(work)

    def fn(x: Any, many: Any) -> Any:
        return tracejit.vmap(tracejit.grad(long))(x), np.sum(many)

    on_device, on_cpu = tracejit.jit(fn, target="cuda"), tracejit.jit(fn)
    many = OnDevice(np.ones(300))
    rng = np.random.default_rng(0)
    xs = {n: rng.normal(size=(n, 30)) for n in (5, 40)}  # more threads, and a block as large
    given = {n: OnDevice(x) for n, x in xs.items()}
    for n in (5, 5, 5, 40, 5, 5, 5):
        found = on_device(given[n], many)
        np.testing.assert_allclose(np.asarray(found[0]), on_cpu(xs[n], many.x)[0], rtol=1e-12)
        del found
    assert api.calls["cuGraphLaunch"] > 0


def where_nothing_can_be_captured_launches_are_plain(api: FakeDriver) -> None:
    for name in ("cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate"):
        api.faults[name] = STATUS.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        fn = tracejit.value_and_grad(waves, target="cuda")
        x, before = OnDevice(X), api.calls[name]
        for _ in range(8):
            found = fn(x)
            np.testing.assert_allclose(np.asarray(found[1]), tracejit.grad(waves)(X), rtol=1e-12)
            del found
        assert api.calls[name] > before, "it was tried"
        del api.faults[name]
        for stream in api.streams.values():
            stream.captured = None
    assert not api.calls["cuGraphLaunch"]


# --- memory ---------------------------------------------------------------------------------------


def memory_is_given_back(api: FakeDriver) -> None:
    fn = tracejit.value_and_grad(waves, target="cuda")
    fn(X)
    kept = api.live()
    found = [fn(OnDevice(X)) for _ in range(5)]
    assert api.live() > kept
    del found
    fn(X)
    assert api.live() == kept
    del fn
    gc.collect()
    assert not api.live()
    assert not api.pinned


def arguments_are_given_back_at_once(api: FakeDriver) -> None:
    fn = tracejit.grad(waves, target="cuda")
    gc.disable()
    try:
        x = fn(OnDevice(X))
        fn(x)
        before = api.live()
        del x
        assert api.live() < before
    finally:
        gc.enable()


def results_come_from_memory_that_was_given_back(api: FakeDriver) -> None:
    fn = tracejit.grad(waves, target="cuda")
    x = OnDevice(X)
    addresses = {fn(x).address for _ in range(5)}
    assert len(addresses) == 1


def all_of_a_program_lies_in_one_block(api: FakeDriver) -> None:
    def fn(x: Any) -> Any:
        y = np.cumsum(x)
        z = np.cumsum(y * np.max(y))
        return np.sum(z) * np.max(z), z[::-1] * y

    on_device = tracejit.jit(fn, target="cuda")
    on_device(OnDevice(X))
    with api.counting() as calls:
        on_device(OnDevice(X))
    assert calls["cuMemAllocFromPoolAsync"] == 2, "the results"


def too_little_memory_is_said_and_passes(api: FakeDriver) -> None:
    other = tracejit.jit(lambda x: np.cumsum(x) * np.cumsum(x)[::-1], target="cuda")
    other(np.ones(400))  # keeps memory for itself
    fn = tracejit.jit(lambda x: np.exp(x), target="cuda")
    fn(np.ones(8))
    api.do_cuMemPoolTrimTo(1, 0)
    api.limit = api.live() + 5 * 1024
    x = np.ones(500)
    assert np.array_equal(fn(x), np.exp(x)), "what the other program keeps is given back"
    for _ in range(2):
        with pytest.raises(MemoryError, match=r"lambda.* 8000000 bytes were asked for"):
            fn(np.ones(1_000_000))
    assert np.array_equal(fn(x), np.exp(x))
    api.limit *= 4
    assert other(np.ones(400))[0] == 400.0


def arrays_of_the_host_are_let_go_once_they_are_copied(api: FakeDriver) -> None:
    fn = tracejit.jit(lambda x: np.exp(x), target="cuda")
    fn(np.ones(8))
    api.do_cuMemPoolTrimTo(1, 0)
    api.limit = api.live() + 5 * 1024  # for the argument, and not for the result
    with pytest.raises(MemoryError, match="4000 bytes were asked for"):
        fn(np.ones(1000)[::2])  # what is copied from is the call's own
    assert not api.copying


# --- streams --------------------------------------------------------------------------------------


def calls_run_on_the_stream_that_is_given(api: FakeDriver) -> None:
    class Protocol:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, handle

    class OfTorch:
        cuda_stream = 0

    handle = OfTorch.cuda_stream = api.new_stream()
    fn = tracejit.grad(waves, target="cuda")
    expected = tracejit.grad(waves)(X)
    for given in (handle, Protocol(), OfTorch()):
        idle = len(api.streams[1].given)
        with tracejit.stream(given):
            found = fn(OnDevice(X))
        assert len(api.streams[1].given) == idle
        assert found.__cuda_array_interface__["stream"] == handle
        np.testing.assert_allclose(found.copy_to_host(), expected, rtol=1e-12)
    with pytest.raises(TypeError, match="no CUDA stream"), tracejit.stream("1"):
        pass
    assert fn(OnDevice(X)).__cuda_array_interface__["stream"] == 1


def one_stream_waits_for_another(api: FakeDriver) -> None:
    first, second = api.new_stream(), api.new_stream()
    double = tracejit.jit(lambda x: 2.0 * x, target="cuda")
    with tracejit.stream(first):
        x = double(OnDevice(X))
    with tracejit.stream(second):
        y = double(x)
    assert np.array_equal(y.copy_to_host(), 4.0 * X)
    with tracejit.stream(second):
        z = double(OnDevice(np.zeros(40), stream=first))
    with tracejit.stream(first):
        w = double(x)
        del x  # its memory is used anew on the first stream, while the second one may read it
        fresh = double(OnDevice(np.ones(40)))
    assert np.array_equal(w.copy_to_host(), 4.0 * X)
    assert np.array_equal(fresh.copy_to_host(), np.full(40, 2.0))
    assert not z.copy_to_host().any()


def memory_that_another_stream_reads_is_not_used_anew(api: FakeDriver) -> None:
    first, second = api.new_stream(), api.new_stream()
    double = tracejit.jit(lambda x: 2.0 * x, target="cuda")
    with tracejit.stream(first):
        x = double(OnDevice(X))
    with tracejit.stream(second):
        y = double(x)
    with tracejit.stream(first):
        del x
        other = double(OnDevice(np.ones(40)))
        assert np.array_equal(other.copy_to_host(), np.full(40, 2.0))
    assert np.array_equal(y.copy_to_host(), 4.0 * X)


def threads_and_streams_do_not_share_memory(api: FakeDriver) -> None:
    def fn(x: Any, n: Any) -> Any:
        y = np.sin(x) * np.sum(x) * n
        return np.sum(y * y), y[::-1] / np.max(y)

    on_device, on_cpu = tracejit.jit(fn, target="cuda"), tracejit.jit(fn)
    on_device(OnDevice(X), 1.0)
    wrong: list[Any] = []

    def work(k: int, handle: int) -> None:
        try:
            with tracejit.stream(handle):
                x = X * (k + 1)
                for n in (1.0, 1.0, 1.0, 2.0):
                    found = on_device(OnDevice(x), n)
                    for a, b in zip(found, on_cpu(x, n), strict=True):
                        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-12)
        except BaseException as e:
            wrong.append(e)

    streams = [1, 1, 2, 2, api.new_stream(), api.new_stream()]
    api.streams[2].lock = api.streams[1].lock  # it is one per thread: here they take turns
    threads = [threading.Thread(target=work, args=(k, s)) for k, s in enumerate(streams)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong
    assert all(len(used) == 1 for used in api.contexts.values()), api.contexts


# --- arrays of others -----------------------------------------------------------------------------


def arrays_come_by_dlpack(api: FakeDriver) -> None:
    fn = tracejit.grad(waves, target="cuda")
    given = Exporting(X)
    np.testing.assert_allclose(fn(given).copy_to_host(), tracejit.grad(waves)(X), rtol=1e-12)
    assert given.streams == [1]
    handle = api.new_stream()
    with tracejit.stream(handle):
        fn(given)
    assert given.streams == [1, handle]
    with pytest.raises(tracejit.Refusal, match="contiguous"):
        fn(Exporting(np.ones((4, 6)), strides=(1, 4)))
    with pytest.raises(tracejit.DeviceError, match="lies on device 1"):
        fn(Exporting(X, ordinal=1))


def arrays_of_another_device_are_named(api: FakeDriver) -> None:
    fn = tracejit.grad(waves, target="cuda")
    api.ordinals[X.ctypes.data] = 1
    with pytest.raises(tracejit.DeviceError, match=r"lies on device 1.*run on device 0"):
        fn(OnDevice(X))
    api.do_cuCtxSetCurrent(0x101)  # device 1
    found = fn(OnDevice(X))
    np.testing.assert_allclose(found.copy_to_host(), tracejit.grad(waves)(X), rtol=1e-12)
    api.do_cuCtxSetCurrent(0x100)
    np.testing.assert_allclose(found.copy_to_host(), tracejit.grad(waves)(X), rtol=1e-12)
    with pytest.raises(tracejit.DeviceError, match="lies on device 1"):
        fn(found)


def arguments_on_the_device_are_written_to_where_the_call_succeeds(api: FakeDriver) -> None:
    def scaled(x: Any, k: Any) -> None:
        x *= 2.0
        x[k] = 1.0

    fn = tracejit.jit(scaled, target="cuda")
    x = X.copy()
    given = OnDevice(x)
    with pytest.raises(IndexError):
        fn(given, len(X))
    api.streams[1].run()
    assert np.array_equal(x, X)
    fn(given, 3)
    api.streams[1].run()
    expected = X.copy()
    scaled(expected, 3)
    assert np.array_equal(x, expected)


def arguments_that_share_memory_on_the_device_are_told_apart(api: FakeDriver) -> None:
    def doubled(x: Any, y: Any) -> Any:
        x *= 2.0
        return np.sum(y ** 2)

    fn = tracejit.jit(doubled, target="cuda")
    whole = np.linspace(1.0, 2.0, 24)
    for first, second in ((slice(8), slice(8, 16)), (slice(8), slice(8)), (slice(8, 16), slice(8))):
        memory, expected = whole.copy(), whole.copy()
        x, y = OnDevice(memory[first]), OnDevice(memory[second])
        found = fn(x, y)
        value = doubled(expected[first], expected[second])
        api.streams[1].run()
        assert np.isclose(found.item(), value, rtol=1e-12)
        assert np.allclose(memory, expected, rtol=1e-12)
    with pytest.raises(tracejit.Refusal, match="'x', which is written to, shares memory with"):
        fn(OnDevice(whole[:8]), OnDevice(whole[4:12]))
    given = OnDevice(whole[:8].copy())
    assert np.isclose(fn(given, given).item(), 4.0 * np.sum(whole[:8] ** 2), rtol=1e-12)


# --- errors ---------------------------------------------------------------------------------------


def a_lost_context_is_said(api: FakeDriver) -> None:
    fn = tracejit.grad(waves, target="cuda")
    fn(X)
    for name in ("cuStreamSynchronize", "cuLaunchKernel", "cuMemAllocFromPoolAsync"):
        api.faults[name] = STATUS.CUDA_ERROR_ILLEGAL_ADDRESS
        with pytest.raises(tracejit.DeviceError, match=r"waves.*ILLEGAL_ADDRESS.*[Ss]tart it anew"):
            fn(X)
        del api.faults[name]
    api.faults["cuMemcpyHtoDAsync"] = STATUS.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(tracejit.DeviceError, match="cuMemcpyHtoDAsync failed with INVALID_VALUE"):
        fn(X)
    del api.faults["cuMemcpyHtoDAsync"]
    np.testing.assert_allclose(fn(X), tracejit.grad(waves)(X), rtol=1e-12)


def an_old_driver_is_given_machine_code(api: FakeDriver) -> None:
    before = real.linked
    with pytest.raises(tracejit.DeviceError, match="older than the compiler"):
        before("no PTX", (9, 0))
    given = []

    def linked(ptx: str, capability: tuple[int, int]) -> bytes:
        given.append(capability)
        return ptx.encode() + b"\0"

    real.linked = linked
    try:
        api.faults["cuModuleLoadData"] = [STATUS.CUDA_ERROR_UNSUPPORTED_PTX_VERSION]
        found = tracejit.grad(waves, target="cuda")(X)
    finally:
        real.linked = before
    assert given == [(9, 0)]
    np.testing.assert_allclose(found, tracejit.grad(waves)(X), rtol=1e-12)


def without_a_device_or_driver_it_says_so(api: FakeDriver) -> None:
    api.faults["cuInit"] = STATUS.CUDA_ERROR_NO_DEVICE
    with pytest.raises(tracejit.DeviceError, match=r"no CUDA device.*NO_DEVICE"):
        real.Driver(api)


def a_log_that_is_full_begins_again(api: FakeDriver) -> None:
    fn, expected = tracejit.grad(decay, target="cuda"), tracejit.grad(decay)
    for end in (3.0, 700.0, 3.0, 700.0, 700.0, 700.0):
        np.testing.assert_allclose(fn(0.3, 1e-3, end), expected(0.3, 1e-3, end), rtol=1e-12)


DRIVER_LAWS: dict[str, Callable[[FakeDriver], None]] = {f.__name__: f for f in (
    calls_with_arrays_on_the_device_do_not_wait, a_program_that_can_fail_asks_once,
    copies_are_as_many_as_arrays, a_loop_on_data_asks_once_per_iteration,
    a_host_array_beside_one_on_the_device_is_copied_before_the_call_returns,
    launches_that_come_again_are_one_call, numbers_by_value_are_told_apart_to_the_bit,
    memory_that_grows_is_not_used_at_its_old_place,
    memory_of_threads_that_grows_is_not_used_at_its_old_place,
    where_nothing_can_be_captured_launches_are_plain, memory_is_given_back,
    arguments_are_given_back_at_once, results_come_from_memory_that_was_given_back,
    all_of_a_program_lies_in_one_block,
    too_little_memory_is_said_and_passes,
    arrays_of_the_host_are_let_go_once_they_are_copied, calls_run_on_the_stream_that_is_given,
    one_stream_waits_for_another, memory_that_another_stream_reads_is_not_used_anew,
    threads_and_streams_do_not_share_memory, arrays_come_by_dlpack,
    arrays_of_another_device_are_named,
    arguments_on_the_device_are_written_to_where_the_call_succeeds,
    arguments_that_share_memory_on_the_device_are_told_apart, a_lost_context_is_said,
    an_old_driver_is_given_machine_code, without_a_device_or_driver_it_says_so,
    a_log_that_is_full_begins_again)}
