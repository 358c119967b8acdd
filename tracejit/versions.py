"""The versions of all libraries and tools that play a part, for bug reports."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

__all__ = ["show_versions"]

PACKAGES = ("tracejit", "numpy", "numba", "llvmlite", "scipy")


def show_versions() -> None:
    """Print the versions of Python, tracejit and its dependencies, and the processor.

    >>> import tracejit
    >>> tracejit.show_versions()  # doctest: +ELLIPSIS
    python ...
    """
    lines = [("python", sys.version.split()[0]), ("platform", platform.platform())]
    for name in PACKAGES:
        try:
            lines.append((name, version(name)))
        except PackageNotFoundError:
            lines.append((name, "not installed"))
    try:
        import llvmlite.binding as llvm

        lines.append(("processor", llvm.get_host_cpu_name()))
    except ImportError:
        pass
    width = max(len(name) for name, _ in lines)
    print("\n".join(f"{name:<{width}} {text}" for name, text in lines))
