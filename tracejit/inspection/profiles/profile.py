"""A profile: rows of times and rates, as text, as HTML, as a picture of bars."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tracejit.codegen.libraries import narrow_kernels
from tracejit.inspection import elements
from tracejit.inspection.elements import Element, Paragraph, Picture, Section, Table
from tracejit.inspection.profiles.limits import Level, Limits

__all__ = ["Profile", "Row"]

BAR = 20
"""The width of a bar of text, in characters."""


@dataclass(frozen=True, slots=True)
class Row:
    """One step of a program: a loop nest, a loop of the program, a call of a library.

    kind       -- "loop nest", "copy", "loop of the program", "library call", "branch", "scalar
                  code", or "short steps together" for steps of one block that are too short for
                  the clock
    role       -- "forward", "backward" or "forward and backward"
    sites      -- the user's lines, as "file.py:7"
    source     -- the emitted code
    seconds    -- the time in a call
    is_short   -- whether that is too short for the clock, so that rates would mean nothing
    executions -- how often it ran in a call
    flops, bytes, calls -- its counts in a call
    flops_formula, bytes_formula -- the same in the sizes; "" where the bounds of its loops are none
    footprint  -- the bytes of memory that it goes over
    level      -- the fastest cache that holds these, or memory
    peak_flops -- flops per second of the machine, for its dtype
    """

    kind: str
    role: str
    sites: tuple[str, ...]
    source: str
    seconds: float
    is_short: bool
    executions: int
    flops: int
    bytes: int
    footprint: int
    calls: Mapping[str, int]
    flops_formula: str
    bytes_formula: str
    level: Level
    peak_flops: float

    @property
    def bandwidth(self) -> float:
        """Return the bytes per second; 0 where the time is too short."""
        return 0.0 if self.is_short else self.bytes / self.seconds

    @property
    def rate(self) -> float:
        """Return the flops per second; 0 where the time is too short."""
        return 0.0 if self.is_short else self.flops / self.seconds

    @property
    def share_of_bandwidth(self) -> float:
        """Return the share of the machine's bandwidth."""
        return self.bandwidth / self.level.bandwidth

    @property
    def share_of_flops(self) -> float:
        """Return the share of the machine's peak flops."""
        return self.rate / self.peak_flops

    @property
    def limit(self) -> str:
        """Return which of the machine's limits is nearer: "memory" or "compute"."""
        return "memory" if self.share_of_bandwidth >= self.share_of_flops else "compute"

    @property
    def lines(self) -> str:
        """Return the user's lines in short: `model.py:3, 5, 7`."""
        files: dict[str, list[str]] = {}
        for site in self.sites:
            file, _, line = site.rpartition(":")
            files.setdefault(file, []).append(line)
        return "; ".join(f"{file}:{', '.join(lines)}" for file, lines in files.items())


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the time of a call goes.

    rows         -- the steps of the program, the longest first
    call         -- the seconds of an ordinary call, without clocks
    instrumented -- the seconds of a call with clocks; both are means of the faster half
    clock        -- the seconds of it for reading the clock; they are in no row
    limits       -- the limits of the machine
    """

    name: str
    rows: tuple[Row, ...]
    call: float
    instrumented: float
    clock: float
    limits: Limits

    @property
    def outside(self) -> float:
        """Return the seconds of an instrumented call that are in no row and no clock: arguments
        are taken, results made.
        """
        return max(self.instrumented - self.clock - sum(r.seconds for r in self.rows), 0.0)

    def share(self, row: Row) -> float:
        """Return a row's share of the time in the program."""
        total = sum(r.seconds for r in self.rows)
        return row.seconds / total if total else 0.0

    # --- text -----------------------------------------------------------------------------------

    def _cells(self, row: Row) -> tuple[str, ...]:
        calls = " + ".join(f"{_count(n)} {name}" for name, n in row.calls.items())
        flops = " + ".join(filter(None, (_count(row.flops) if row.flops else "", calls)))
        return (("≈ " if row.is_short else "") + _seconds(row.seconds), f"{self.share(row):.0%}",
                f"{row.role} {row.kind}".strip(), row.lines, str(row.executions),
                flops or "0", _rate(row.rate, "FLOP/s", row.share_of_flops),
                f"{_count(row.bytes)}B", _rate(row.bandwidth, "B/s", row.share_of_bandwidth),
                row.level.name)

    def notes(self) -> list[str]:
        """Return the remarks besides the rows."""
        short = ["≈ is too short for the clock: no rates"] * any(r.is_short for r in self.rows)
        return [f"an ordinary call takes {_seconds(self.call)}; with clocks "
                f"{_seconds(self.instrumented)}, of which {_seconds(self.clock)} for reading the "
                f"clock and {_seconds(self.outside)} outside of the program",
                f"limits of {self.limits}", *short,
                *_on_blas() * any(r.kind == "library call" for r in self.rows)]

    def __str__(self) -> str:
        table = [COLUMNS, *(self._cells(row) for row in self.rows)]
        widths = [max(len(row[k]) for row in table) for k in range(len(COLUMNS))]
        lines = [f"profile of {self.name}"]
        for number, cells in enumerate(table):
            bar = " " * BAR
            if number:
                share = self.share(self.rows[number - 1])
                bar = ("█" * max(round(share * BAR), 1)).ljust(BAR, "·")
            padded = [c.ljust(w) if k in LEFT else c.rjust(w)
                      for k, (c, w) in enumerate(zip(cells, widths, strict=True))]
            lines.append("  ".join([padded[0], padded[1], bar, *padded[2:]]).rstrip())
        return "\n".join([*lines, *self.notes()])

    __repr__ = __str__

    def section(self) -> Section:
        """Return the profile as a section of a report."""
        table = Table(COLUMNS, [elements.TableRow(self._cells(row), row.role if row.role in (
            "forward", "backward") else "") for row in self.rows], numbers=frozenset(
                c for k, c in enumerate(COLUMNS) if k not in LEFT))
        parts: list[Element] = [Picture(self.to_svg(), _spoken(self)), table]
        parts += map(Paragraph, self.notes())
        return Section("Profile", "profile", parts, f"{_seconds(self.call)} a call")

    # --- pictures -------------------------------------------------------------------------------

    def to_svg(self, path: str | Path | None = None) -> str:
        """Return the bars as an SVG picture, and write it to a file if one is given."""
        text = _bars(self)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def _repr_html_(self) -> str:
        """Return the bars and the table as HTML that needs neither scripts nor style sheets.

        The bars are an image, since viewers of notebooks drop SVG elements; its text stands for it.
        """
        head = "".join(f'<th align="{"left" if k in LEFT else "right"}">{escape(c)}</th>'
                       for k, c in enumerate(COLUMNS))
        body = ""
        for row in self.rows:
            cells = "".join(f'<td align="{"left" if k in LEFT else "right"}">{escape(c)}</td>'
                            for k, c in enumerate(self._cells(row)))
            formulas = "; ".join(f"{what}: {text}" for what, text in (
                ("flops", row.flops_formula), ("bytes", row.bytes_formula)) if text)
            code = (f"<details><summary>{escape(row.lines or row.kind)}: emitted code"
                    f"{' — ' + escape(formulas) if formulas else ''}</summary>"
                    f"<pre>{escape(row.source)}</pre></details>")
            body += (f"<tr>{cells}</tr><tr><td></td>"
                     f'<td colspan="{len(COLUMNS) - 1}" align="left">{code}</td></tr>')
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        picture = base64.b64encode(self.to_svg().encode()).decode()
        image = (f'<img src="data:image/svg+xml;base64,{picture}" alt="{escape(_spoken(self))}" '
                 f'width="100%" style="max-width: {WIDTH}px"/>')
        return (f"<h4>Profile of {escape(self.name)}</h4>{image}"
                f'<table border="0" cellpadding="4"><thead><tr>{head}</tr></thead>'
                f"<tbody>{body}</tbody></table>{notes}")


COLUMNS = ("time", "share", "what", "lines", "runs", "flops", "FLOP/s", "bytes", "B/s", "in")
LEFT = frozenset((2, 3, 9))
"""The columns that are set to the left."""


# --- the bars -----------------------------------------------------------------------------------

WIDTH, HEIGHT, LABEL = 860, 44, 300
COLOURS = {"forward": "#3b6ea8", "backward": "#b3562f", "forward and backward": "#6f5a96"}


def _bars(profile: Profile) -> str:
    """Return a bar per row for its time, with marks for its shares of the two limits."""
    rows = profile.rows
    height = HEIGHT * len(rows) + 30
    scale = WIDTH - LABEL - 150
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12" '
             'role="img">', f"<title>{escape(_spoken(profile))}</title>",
             f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    longest = max((r.seconds for r in rows), default=0.0) or 1.0
    for k, row in enumerate(rows):
        y = k * HEIGHT + 8
        length = max(row.seconds / longest * scale, 1.0)
        what = f"{row.role} {row.kind}".strip()
        parts += [
            f"<g><title>{escape(row.source)}</title>",
            _text(LABEL - 8, y + 12, row.lines or "scalar code", "end", weight="bold"),
            _text(LABEL - 8, y + 27, what, "end", colour="#555555"),
            f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="16" '
            f'fill="{COLOURS.get(row.role, "#777777")}"/>',
            _text(LABEL + length + 6, y + 12,
                  f"{_seconds(row.seconds)}, {profile.share(row):.0%}"),
            *_gauge(LABEL, y + 20, row.share_of_bandwidth, f"of {row.level.name}"),
            *_gauge(LABEL + 190, y + 20, row.share_of_flops, "of compute"), "</g>"]
    parts.append(_text(LABEL, height - 8, f"an ordinary call takes {_seconds(profile.call)}",
                       colour="#555555"))
    return "".join([*parts, "</svg>"])


def _gauge(x: float, y: float, share: float, label: str) -> list[str]:
    """Return a small bar from nothing to all of a limit."""
    filled = 70 * min(share, 1.0)
    return [f'<rect x="{x}" y="{y}" width="70" height="8" fill="#e6e6e6"/>',
            f'<rect x="{x}" y="{y}" width="{filled:.1f}" height="8" fill="#333333"/>',
            _text(x + 76, y + 8, f"{share:.0%} {label}", colour="#555555", size=11)]


def _text(x: float, y: float, text: str, anchor: str = "start", *, weight: str = "normal",
          colour: str = "#111111", size: int = 12) -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" '
            f'font-size="{size}" fill="{colour}">{escape(text)}</text>')


def _on_blas() -> list[str]:
    """Return a remark where OpenBLAS has narrower vectors than this CPU."""
    kernels = narrow_kernels()
    return [] if kernels is None else [
        f"OpenBLAS takes this CPU for a {kernels}, without AVX-512: where the environment has "
        "OPENBLAS_CORETYPE=SkylakeX when Python starts, products take as little as half the time"]


def _spoken(profile: Profile) -> str:
    return f"profile of {profile.name}: " + "; ".join(
        f"{row.lines} {_seconds(row.seconds)}" for row in profile.rows)


# --- numbers ------------------------------------------------------------------------------------


def _count(x: float) -> str:
    """Return a number with a decimal prefix: 1.2 M."""
    for limit, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if x >= limit:
            return f"{x / limit:.3g} {prefix}"
    return f"{x:.3g} "


def _rate(x: float, unit: str, share: float) -> str:
    return f"{x / 1e9:.3g} G{unit} ({share:.0%})" if x else "–"


def _seconds(x: float) -> str:
    for limit, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if x >= limit:
            return f"{x / limit:.3g} {unit}"
    return f"{x / 1e-9:.0f} ns"


