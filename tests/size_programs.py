"""Random programs with arrays of which data decides how long they are."""

from __future__ import annotations

import random

__all__ = ["program"]

_MASKS = ("{v} > {c}", "({v} > {c}) & ({v} < {d})", "~({v} > {c})", "np.abs({v}) < {d}",
          "{v} > np.mean(x)", "{v} > 99.0", "{v} < 99.0")
_MAPS = ("np.sin({v}) + {c}", "{v} * {v}", "np.sqrt(np.abs({v}) + 0.1)", "{v}[::-1] * {c}",
         "np.cumsum({v})", "np.sort({v})", "np.roll({v}, 1)", "{v} - {v}.sum()", "-{v}",
         "{v}.copy()", "np.where({v} > {c}, {v}, 0.5)")
_FOLDS = ("np.sum({v})", "np.sum({v} * np.arange(len({v})))", "{v} @ {v}[::-1]",
          "np.prod(1.0 + 0.1 * {v})", "np.max({v}, initial=0.0)", "len({v}) * x.sum()",
          "np.sum({v}[1:] * {v}[:-1])", "np.sum(np.outer({v}, x) * 0.1)", "np.sum(np.sin({v}))")
_LONGER = ("np.concatenate([{v}, {w}])", "np.repeat({v}, 2)", "np.tile({v}, 2)",
           "np.append({v}, {c})", "np.repeat({v}, np.floor(np.abs({v})).astype(int))")
_SHORTER = ("{v}[{m}]", "{v}[np.nonzero({m})]", "{v}[np.where({m})[0]]",
            "{v}[np.flatnonzero({m})]", "np.compress({m}, {v})", "np.extract({m}, {v})",
            "{v}[:np.sum({m})]", "np.delete({v}, {m})", "{v}[np.sum({m}) // 2:]",
            "np.unique({v})")
_WRITES = ("{v}[{m}] = {c}", "{v}[{m}] *= {c}", "{v}[{m}] = {v}[{m}] ** 2",
           "{v}[{m}] += {v}[{m}][::-1]", "{v}[:np.sum({m})] = {d}",
           "{v}[np.nonzero({m})] -= {c}", "{v}[1:] += {v}[:-1]")
_MADE = {"map": _MAPS, "shorter": _SHORTER, "longer": _LONGER}
_KINDS = (*_MADE, "shorter", "write", "fold", "fold", "loop", "if", "over")


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.arrays = ["x"]
        self.own: set[str] = set()

    def fill(self, text: str, v: str) -> str:
        r = self.random
        mask = r.choice(_MASKS) if "{m}" in text else ""
        text = text.replace("{m}", mask).replace("{w}", r.choice(self.arrays)).replace("{v}", v)
        while "{c}" in text or "{d}" in text:
            text = text.replace("{c}", f"{r.uniform(-0.5, 0.9):.2f}", 1)
            text = text.replace("{d}", f"{r.uniform(0.9, 2.5):.2f}", 1)
        return text

    def step(self, indent: str, depth: int) -> None:
        r = self.random
        kind = r.choice(_KINDS)
        v = r.choice(self.arrays)
        if kind in ("map", "shorter", "longer"):
            text = self.fill(r.choice(_MADE[kind]), v)
            name = f"y{len(self.arrays)}"
            self.lines.append(f"{indent}{name} = {text}")
            self.arrays.append(name)
            if not text.startswith((f"{v}[:", f"{v}[np.sum")):
                self.own.add(name)
        elif kind == "write" and self.own:
            v = r.choice(sorted(self.own & set(self.arrays)) or ["z"])
            if v != "z":
                self.lines.append(f"{indent}{self.fill(r.choice(_WRITES), v)}")
        elif kind in ("loop", "if", "over") and depth < 2:
            known = list(self.arrays)
            head = {"loop": f"for t in range({r.choice((2, 3, 20))}):", "over": f"for e in {v}:",
                    "if": f"if np.sum({v}) > 0.7:"}[kind]
            self.lines.append(indent + head)
            if kind == "over":
                self.lines.append(f"{indent}    s = s + np.sin(e)")
            for _ in range(r.randint(1, 3)):
                self.step(indent + "    ", depth + 1)
            self.lines.append(f"{indent}    s = s * 0.9")
            self.arrays = known
            self.own &= set(known)
        else:
            self.lines.append(f"{indent}s = s + {self.fill(r.choice(_FOLDS), v)}")


def program(seed: int) -> str:
    """Return the source of a function f(x) of a vector, whose result is a number."""
    w = _Writer(seed)
    for _ in range(w.random.randint(3, 7)):
        w.step("    ", 0)
    ends = [f"    s = s + 0.5 * np.sum(np.cos({v}))" for v in w.arrays[1:]]
    return "\n".join(["def f(x):", "    s = 0.0", *w.lines, *ends, "    return s", ""])
