"""Hard use of the store: many processes at once, kills at random moments, damage everywhere.

    python tests/stress_store.py [--processes 32] [--kills 200] [--flips 200]

It stops at the first wrong result, crash, or store that does not recover.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MODEL = """
import numpy as np
import tracejit

@tracejit.value_and_grad
def loss(w, x):
    total = 0.0
    for i in range(3):
        total += np.sum(np.exp(np.tanh(w)) @ x)
    return total
"""
CALL = """
import json, logging, sys
import numpy as np
import model
value, slope = model.loss(np.linspace(0.0, 1.0, 5), np.arange(15.0).reshape(5, 3))
print(json.dumps([value.hex(), slope.tobytes().hex(), "numba" in sys.modules]))
"""


class Stress:
    """A project with a store of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "model.py").write_text(MODEL)
        self.environment = {**os.environ, "TRACEJIT_CACHE": "1", "PYTHONPATH": str(ROOT),
                            "TRACEJIT_CACHE_DIR": str(folder / "cache")}
        self.expected = self.run()[:2]

    def start(self) -> Any:
        return subprocess.Popen([sys.executable, "-c", CALL], cwd=self.folder, text=True,
                                env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def result(self, process: Any) -> Any:
        out, err = process.communicate(timeout=600)
        if process.returncode:
            raise AssertionError(f"exit status {process.returncode}: {err}")
        return json.loads(out)

    def run(self) -> Any:
        return self.result(self.start())

    def check(self) -> bool:
        """Run a process, check its result, and return whether it had to compile."""
        *found, compiled = self.run()
        assert found == self.expected, f"another result: {found}"
        return bool(compiled)

    def artifacts(self) -> list[Path]:
        return sorted(p.parent for p in self.folder.glob("cache/artifacts/*/*/manifest.json"))

    def clear(self) -> None:
        shutil.rmtree(self.folder / "cache", ignore_errors=True)

    # --- what it has to endure ------------------------------------------------------------------

    def many(self, count: int) -> str:
        self.clear()
        started = [self.start() for _ in range(count)]
        results = [self.result(p) for p in started]
        assert all(r[:2] == self.expected for r in results)
        assert not self.check()
        return f"{count} processes at once: {sum(r[2] for r in results)} compiled, all right"

    def kills(self, count: int, rng: random.Random) -> str:
        compiled = 0
        for _ in range(count):
            if rng.random() < 0.5:
                self.clear()
            process = self.start()
            time.sleep(rng.uniform(0.05, 2.5))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            compiled += self.check()
            assert not self.check(), "the store has lost the program"
        return f"{count} kills: the next process was right each time, {compiled} compiled"

    def flips(self, count: int, rng: random.Random) -> str:
        compiled = 0
        for _ in range(count):
            files = [f for f in self.folder.glob("cache/artifacts/**/*") if f.is_file()]
            path = rng.choice(files)
            data = bytearray(path.read_bytes())
            if data and rng.random() < 0.7:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            else:
                del data[rng.randrange(len(data) + 1):]
            path.write_bytes(bytes(data))
            compiled += self.check()
        return f"{count} damaged files: right each time, {compiled} compiled again"


def main() -> None:
    """Run all three and print their findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--flips", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        stress = Stress(Path(folder))
        print(stress.many(options.processes), flush=True)
        print(stress.flips(options.flips, rng), flush=True)
        print(stress.kills(options.kills, rng), flush=True)


if __name__ == "__main__":
    main()
