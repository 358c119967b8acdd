"""Tracebacks end at the user's line, and show frames of the user alone."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.errors import IRError

X = np.array([1.0, 2.0, 3.0])
FILE = __file__


def helper(x: Any) -> Any:
    return np.dot(x, np.ones((7, 7)))  # (shapes)


def shapes(x: Any) -> Any:
    return helper(x * 2.0)


def raises(x: Any) -> Any:
    raise KeyError("what")  # (raises)


def refused(x: Any) -> Any:
    return np.linalg.qr(x)  # (refused)


def out_of_bounds(x: Any) -> Any:
    k = len(x) + 2
    return x[0] * x[k]  # (out_of_bounds)


def on_data(x: Any) -> Any:
    if x[0] > 0.0:
        raise ValueError("positive")  # (on_data)
    return x[0]


CALLS: dict[str, Callable[[Any], Any]] = {
    "jit": lambda f: tracejit.jit(f)(X),
    "grad": lambda f: tracejit.grad(f)(X),
    "trace": lambda f: tracejit.grad(f).trace(X),
    "vjp": lambda f: tracejit.vjp(f, X),
    "vjp in two steps": lambda f: tracejit.vjp(f)(X),
    "jvp": lambda f: tracejit.jvp(f, (X,), (X,)),
    "jvp in two steps": lambda f: tracejit.jvp(f)((X,), (X,)),
    "nested": lambda f: tracejit.jit(tracejit.grad(f))(X),
    "check_grads": lambda f: tracejit.check_grads(tracejit.jit(f), (X,)),
}


def frames_of(call: Callable[[], Any]) -> list[traceback.FrameSummary]:
    """Return the frames of a call's error, but for pytest's and this one."""
    with pytest.raises(Exception) as caught:
        call()
    return list(traceback.extract_tb(caught.value.__traceback__))


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("f", [shapes, raises, refused, out_of_bounds, on_data])
@pytest.mark.parametrize("how", CALLS)
def test_the_last_frame_is_the_users_line(how: str, f: Any, interpreted: bool) -> None:
    if how == "trace" and f in (on_data, out_of_bounds):
        pytest.skip("raised by a call")
    with tracejit.config(disable_jit=interpreted):
        frames = frames_of(lambda: CALLS[how](f))
    assert {frame.filename for frame in frames} == {FILE}
    assert f"# ({f.__name__})" in (frames[-1].line or "")
    assert len(frames) <= 5  # frames_of, the lambda, the entry's caller, the user's functions


def test_an_error_before_any_line_of_the_function_ends_at_the_call() -> None:
    frames = frames_of(lambda: tracejit.grad(shapes)(3))
    assert {frame.filename for frame in frames} == {FILE}
    assert frames[-1].line == "frames = frames_of(lambda: tracejit.grad(shapes)(3))"


def test_a_pullback_hides_its_frames() -> None:
    _, pullback = tracejit.vjp(np.sin, X)
    frames = frames_of(lambda: pullback((X, X)))
    assert {frame.filename for frame in frames} == {FILE}


def test_debug_keeps_all_frames(caplog: Any) -> None:
    with tracejit.config(debug=1):
        frames = frames_of(lambda: tracejit.jit(shapes)(X))
    assert len({frame.filename for frame in frames}) > 3


def test_a_defect_keeps_all_frames(monkeypatch: Any) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise IRError("broken")

    monkeypatch.setattr("tracejit.transforms.compiled.capture_function", broken)
    assert len(frames_of(lambda: tracejit.jit(shapes)(X))) > 3


def with_cause(x: Any) -> Any:
    try:
        {}["key"]
    except KeyError as e:
        raise ValueError("no key") from e
    return x


def with_context(x: Any) -> Any:
    try:
        {}["key"]
    except KeyError:
        raise ValueError("no key")  # noqa: B904  (its context is looked at)
    return x


def from_none(x: Any) -> Any:
    try:
        {}["key"]
    except KeyError:
        raise ValueError("no key") from None
    return x


@pytest.mark.parametrize("f", [with_cause, with_context, from_none])
def test_causes_and_contexts_are_pythons(f: Any) -> None:
    with pytest.raises(ValueError, match="no key") as ours:
        tracejit.jit(f)(X)
    with pytest.raises(ValueError, match="no key") as theirs:
        f(X)
    assert ours.value.__suppress_context__ == theirs.value.__suppress_context__
    for kind in ("__cause__", "__context__"):
        found, expected = getattr(ours.value, kind), getattr(theirs.value, kind)
        assert type(found) is type(expected)
        if expected is not None:
            assert {t.filename for t in traceback.extract_tb(found.__traceback__)} == {FILE}


def test_refusals_have_no_context() -> None:
    with pytest.raises(tracejit.Refusal) as caught:
        tracejit.jit(lambda x: np.unique(x[None], axis=0))(X)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
