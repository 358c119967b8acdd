"""Values and two derivatives of special functions, as mpmath has them at fifty digits.

`python tests/ops/special_values.py`, with mpmath at hand, writes `special_values.json` again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["PATH", "points"]

PATH = Path(__file__).with_suffix(".json")


def points() -> dict[str, list[tuple[list[float], float]]]:
    """Return by name the parameters and the argument of each point."""
    rng = np.random.default_rng(23)

    def drawn(low: float, high: float, count: int = 12) -> list[float]:
        return [float(x) for x in rng.uniform(low, high, count)]

    def tiny(low: float, high: float) -> list[float]:
        return [float(10.0 ** x) for x in rng.uniform(low, high, 6)]

    plain = {"airy_ai": [*drawn(-20.0, 12.0), *tiny(-8.0, 1.5)],
             "airy_bi": [*drawn(-20.0, 12.0), *tiny(-8.0, 1.5)],
             "lambertw_0": [*drawn(-0.36, 3.0), *tiny(-8.0, 9.0)],
             "lambertw_-1": [*drawn(-0.36, -0.01, 8), *(-x for x in tiny(-8.0, -1.0))]}
    found: dict[str, list[tuple[list[float], float]]] = {
        name: [([], x) for x in xs] for name, xs in plain.items()}
    found["voigt_profile"] = [([s, g], x) for s, g, x in zip(
        drawn(0.2, 3.0), drawn(0.001, 4.0), drawn(-9.0, 9.0), strict=True)]
    found["struve"] = [([v], x) for v, x in zip(
        [0.0, 1.0, 2.0, 0.5, -0.3, -1.7, 5.5, 12.0] * 2,
        [*drawn(0.01, 6.0, 8), *drawn(6.0, 50.0, 8)], strict=True)]
    found["hyp1f1"] = [([a, b], x) for a, b, x in zip(
        drawn(-6.0, 6.0, 24), drawn(0.2, 6.0, 24), [*drawn(-30.0, 30.0), *drawn(-3.0, 3.0)],
        strict=True)]
    found["hyp2f1"] = [([a, b, c], x) for a, b, c, x in zip(
        drawn(-4.0, 4.0, 24), drawn(-4.0, 4.0, 24), drawn(0.2, 6.0, 24),
        [*drawn(-8.0, 0.9), *(1.0 - t for t in tiny(-4.0, -0.5)), *(-t for t in tiny(0.0, 3.0))],
        strict=True)]
    sides = [*drawn(6.0, 8.0, 6), *(10.0 ** x for x in (1.0, 1.5, 2.5, 5.0, 9.0))]
    small = [0.45, 0.55, *tiny(-12.0, -1.0)]
    further = {"dawsn": [*small, *sides, *(-x for x in sides)], "erfcx": [*small, *sides, -2.0],
               **{name: [*small, *(-x for x in small)] for name in ("j1", "i1", "i1e")},
               "rgamma": [*small, *(-x for x in small), *(1e-9 - k for k in (1.0, 2.0, 7.0)), -3.0]}
    found.update({name: [([], x) for x in xs] for name, xs in further.items()})
    for name in ("voigt_width", "voigt_flank"):
        found[name] = [([x, *other], y) for x, other, y in zip(
            drawn(0.3, 9.0, 16), [[s] for s in drawn(0.2, 2.0, 16)],
            [*tiny(-7.0, -0.5), *drawn(0.05, 1.5, 10)], strict=True)]
    return found


def _written() -> None:
    import mpmath as mp  # type: ignore[import-not-found, import-untyped, unused-ignore]

    mp.mp.dps = 50

    def voigt(s: Any, g: Any, x: Any) -> Any:
        z = (x + 1j * g) / (s * mp.sqrt(2))
        return mp.re(mp.exp(-z * z) * mp.erfc(-1j * z)) / (s * mp.sqrt(2 * mp.pi))

    functions: dict[str, Any] = {
        "airy_ai": mp.airyai, "airy_bi": mp.airybi, "lambertw_0": lambda x: mp.lambertw(x, 0),
        "lambertw_-1": lambda x: mp.lambertw(x, -1), "struve": mp.struveh,
        "hyp1f1": mp.hyp1f1, "hyp2f1": mp.hyp2f1,
        "voigt_profile": voigt, "voigt_width": lambda x, g, s: voigt(s, g, x),
        "voigt_flank": lambda x, s, g: voigt(s, g, x),
        "dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
        "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x), "j1": mp.j1, "rgamma": mp.rgamma,
        "i1": lambda x: mp.besseli(1, x), "i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x)}
    table = {}
    for name, given in points().items():
        f = functions[name]
        table[name] = [[args, x, *(float(mp.re(mp.diff(
            lambda t, f=f, args=args: f(*map(mp.mpf, args), t), x, n))) for n in (0, 1, 2))]
            for args, x in given]
    lines = ",\n".join(f'"{name}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "]"
                       for name, rows in table.items())
    PATH.write_text("{" + lines + "}\n", encoding="utf-8")


if __name__ == "__main__":
    _written()
