"""What tests share: files of expected text, compared, or with `--golden` written again."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest

os.environ["TRACEJIT_CACHE"] = "0"  # no test finds what another run has compiled


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, so that no process is left with one at the end."""
    items.sort(key=lambda item: item.path.name != "test_cuda.py")


def pytest_collection_finish() -> None:
    """Leave what has been imported out of every later search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--golden`."""
    parser.addoption("--golden", action="store_true",
                     help="write the files of expected text again instead of comparing with them")


@pytest.fixture
def expect_text(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Return what asserts that a file holds a text, and with `--golden` makes it so."""
    def expect(path: Path, text: str) -> None:
        if request.config.getoption("golden"):
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.name} is not there; see {request.path.name} --golden"
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.name} is no longer what comes out. If the change is meant, run "
            f"python -m pytest tests/{request.path.name} --golden, and read the diff")

    return expect
