"""The page of the gallery: a picture, a sentence, times and the code of each example, by field."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from benchmarks.table import seconds
from examples.gallery import NAMES, load
from examples.gallery._times import TIMES

__all__ = ["PAGE", "draw", "page", "picture"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
GREY = "#858585"
"""Of axes and text: seen on white and on black."""
COLOURS = ["#3f8fd2", "#e0803a", "#3fa060", "#d05a6e", "#9a7bd0", "#a8793f", "#cf6fb3", "#8c8c8c"]

INTRODUCTION = """\
# Gallery

{count} problems from {fields} fields, each in a file of plain NumPy: the function, its data, and
what finds the answer by its gradient. `python -m examples.gallery` solves all of them, with a name
behind it one. Gradients are checked against central differences, and answers against known ones.

Times are those of a value with its gradient, in processor time on one core. Differences are SciPy's
`approx_fprime`. JAX's is that of `jax.jit(jax.value_and_grad(...))` of the same formulas, with
`lax.scan` for long loops; `benchmarks/gallery_in_jax.py` has its forms, not one for every example.
Measured by `python -m examples.gallery --times`.

{machine}
"""

ENTRY = """
### {title}

{sentence}

![{title}](gallery/{picture})

{times}

<details>
<summary>{name}.py</summary>

```{{literalinclude}} ../examples/gallery/{name}.py
:language: python
```

</details>

[The file](../examples/gallery/{name}.py)
"""


def picture(name: str) -> Path:
    """Return where the picture of an example is."""
    return next(PICTURES.glob(f"{name}.*"))


def draw(names: list[str]) -> None:
    """Solve examples and draw their pictures: lines as SVG, what has an image in it as PNG."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    grey = dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color",
                          "text.color", "axes.titlecolor"), GREY)
    look = {**grey, "svg.fonttype": "none", "svg.hashsalt": "x",
            "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9,
            "legend.frameon": False, "axes.titlesize": 9, "path.simplify_threshold": 0.5,
            "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 1.5,
            "axes.prop_cycle": plt.cycler(color=COLOURS), "axes.facecolor": "none"}
    PICTURES.mkdir(exist_ok=True)
    for name in names:
        result = load(name).main()
        for old in PICTURES.glob(f"{name}.*"):
            old.unlink()
        with plt.rc_context(look):
            figure, axes = plt.subplots(figsize=(5.6, 3.2), layout="constrained")
            load(name).plot(result, axes)
            has_image = bool(axes.images or axes.collections)
            path = PICTURES / f"{name}.{'png' if has_image else 'svg'}"
            options = {"dpi": 120} if has_image else {"metadata": {"Date": None, "Creator": None}}
            figure.savefig(path, transparent=True, **options)
            plt.close(figure)


def _times(found: dict[str, float]) -> str:
    """Return a sentence about an example's times."""
    ours = found["tracejit"]

    def beside(way: str) -> str:
        ratio = found[way] / ours
        digits = f"{ratio:,.0f}" if ratio >= 20 else f"{ratio:.2g}"
        return f"{seconds(found[way])}, {digits} times as long"

    text = (f"{found['unknowns']:.0f} unknowns. Value and gradient: {seconds(ours)}. "
            f"Differences: {beside('differences')}.")
    return text + (f" JAX: {beside('JAX')}." if "JAX" in found else "")


def page() -> str:
    """Return the page."""
    kept = json.loads(TIMES.read_text(encoding="utf-8"))
    fields: dict[str, list[str]] = {}
    for name in NAMES:
        fields.setdefault(load(name).FIELD, []).append(name)
    parts = [INTRODUCTION.format(fields=len(fields), count=len(NAMES),
                                 machine=_filled(kept["machine"]))]
    for field in sorted(fields):
        parts.append(f"\n## {field}\n")
        parts += [_entry(name, kept["examples"][name]) for name in fields[field]]
    return "".join(parts)


def _entry(name: str, found: dict[str, Any]) -> str:
    first = (load(name).__doc__ or "").partition("\n")[0]
    title, _, rest = first.rstrip(".").partition(": ")
    learnt = " ".join((load(name).__doc__ or "").strip().split("\n\n")[-1].split())
    sentence = (f"{rest[0].upper()}{rest[1:]}. " if rest else "") + learnt
    return ENTRY.format(title=title, sentence=_filled(sentence), name=name,
                        times=_filled(_times(found)), picture=picture(name).name)


def _filled(text: str) -> str:
    return textwrap.fill(text, 110, break_on_hyphens=False, break_long_words=False)
