"""The array API standard's own tests: python tests/array_api_suite.py CHECKOUT [--max-examples N].

CHECKOUT is a clone of github.com/data-apis/array-api-tests with its submodule; its requirements
have to be installed. The suite runs three times: on `numpy`, on `tracejit.numpy`, and on that
namespace with each call captured and interpreted (`captured_namespace.py`). What fails there and
passes on `numpy` is listed. Exit status 1 where there is such a test.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMESPACES = ("numpy", "tracejit.numpy", "captured_namespace")


def outcomes(checkout: Path, namespace: str, options: list[str]) -> dict[str, str | None]:
    """Run the suite on a namespace; return the message of each test, None where it passed.

    Tests that are skipped are left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        environment = os.environ | {
            "ARRAY_API_TESTS_MODULE": namespace, "TRACEJIT_CACHE": "0",
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)])}
        command = [sys.executable, "-m", "pytest", "-q", "--disable-deadline", "--derandomize",
                   "-p", "no:cacheprovider", f"--junitxml={report}", *options, "array_api_tests"]
        subprocess.run(command, cwd=checkout, env=environment, stdout=subprocess.DEVNULL)
        found: dict[str, str | None] = {}
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
            wrong = [part for part in case if part.tag in ("failure", "error")]
            if wrong or case.find("skipped") is None:
                found[name] = wrong[0].get("message", "") if wrong else None
    return found


def main() -> int:
    """Run the suite on each namespace and print what differs from NumPy."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--max-examples", type=int, default=5)
    parser.add_argument("--namespaces", nargs="+", default=NAMESPACES[1:], choices=NAMESPACES)
    parser.add_argument("options", nargs="*", help="more for pytest, after --")
    asked = parser.parse_args()
    options = [f"--max-examples={asked.max_examples}", *asked.options]
    numpys = outcomes(asked.checkout, "numpy", options)
    print(f"numpy: {sum(m is None for m in numpys.values())} of {len(numpys)} pass")
    differs = False
    for namespace in asked.namespaces:
        found = outcomes(asked.checkout, namespace, options)
        print(f"{namespace}: {sum(m is None for m in found.values())} of {len(found)} pass")
        for name, message in found.items():
            if message is not None and numpys.get(name) is None:
                differs = True
                print(f"    {name}: {' '.join(message.split())[:300]}")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
