"""Reports as HTML: self-contained, without scripts, and readable where styles are stripped."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from html import escape

from tracejit.inspection.elements import (
    CodeBlock,
    Element,
    Line,
    Paragraph,
    Picture,
    Role,
    Section,
    Table,
    TableRow,
)

__all__ = ["PAGE", "render_html"]

SCOPE = ".tracejit" * 3
"""The selector of a report, thrice: notebooks have styles for tables that would win otherwise."""

STYLE = """
&{font:13px/1.5 system-ui,sans-serif}
& details{margin:2px 0 2px 2px;padding-left:8px;border-left:1px solid #8884}
& details details{margin-left:10px}
& summary{cursor:pointer}
& .s{opacity:.65;font-weight:normal}
& .x{overflow-x:auto}
& table{border-collapse:collapse;border:0;margin:4px 0;font-size:12px}
& tr,& tr:nth-child(even){background:none}
& th,& td{text-align:left;vertical-align:baseline;line-height:1.5;padding:1px 12px 1px 4px;border:0;
white-space:nowrap}
& td.w{white-space:normal;min-width:14em}
& .n{text-align:right}
& th{font-weight:600;opacity:.65;border-bottom:1px solid #8886}
& code,& pre{font:12px/1.5 ui-monospace,Menlo,Consolas,monospace;background:none;
padding:0;color:inherit}
& pre{margin:4px 0;white-space:pre}
& tr.f>td:first-child{box-shadow:inset 3px 0 #4c78a8}
& tr.b>td:first-child{box-shadow:inset 3px 0 #e07b00}
& tr.b{background:#e07b0014}
& tr.b:nth-child(even){background:#e07b0014}
& tr.p>td:first-child{box-shadow:inset 3px 0 #8888}
& tr.p{opacity:.75}
& ins{background:#2ca02c26;text-decoration:none}
& del{background:#d6272826;text-decoration:none}
& img{max-width:100%;height:auto}
& a{color:inherit}
"""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width,initial-scale=1"></head>
<body>
{body}
</body></html>
"""
"""A page around a piece of HTML."""

CLASSES: dict[Role, str] = {"forward": "f", "backward": "b", "pruned": "p"}
LONG = 60
"""A cell of text, not code, with more characters than this may be broken into lines."""


def render_html(elements: Sequence[Element], key: str) -> str:
    """Return elements as a piece of HTML; `key` begins its anchors, unique in a document."""
    style = STYLE.strip().replace("\n", "").replace("&", SCOPE)
    anchors = set(_anchors(elements))
    body = "\n".join(_HtmlWriter(key, anchors).elements(elements))
    return f'<div class="tracejit"><style>{style}</style>\n{body}\n</div>'


def _anchors(elements: Sequence[Element]) -> Iterator[str]:
    for element in elements:
        if isinstance(element, Section):
            yield from _anchors(element.elements)
        elif isinstance(element, Table):
            yield from (row.anchor for row in element.rows if row.anchor)


class _HtmlWriter:
    """Writes elements; links that lead nowhere are left out.

    key     -- the prefix of anchors in the document
    anchors -- the anchors that there are
    """

    def __init__(self, key: str, anchors: set[str]) -> None:
        self.key, self.anchors = key, anchors

    def elements(self, elements: Sequence[Element]) -> Iterator[str]:
        for element in elements:
            if isinstance(element, Section):
                yield from self.section(element)
            elif isinstance(element, Table):
                yield from self.table(element)
            elif isinstance(element, CodeBlock):
                if element.caption:
                    yield f"<p>{escape(element.caption)}</p>"
                lines = "\n".join(map(_line, _numbered(element.lines)))
                yield f'<div class="x"><pre>{lines}</pre></div>'
            elif isinstance(element, Paragraph):
                yield f"<p>{_marked(escape(element.text))}</p>"
            elif isinstance(element, Picture):
                data = base64.b64encode(element.svg.encode()).decode()
                yield (f'<div class="x"><img alt="{escape(element.text)}" '
                       f'src="data:image/svg+xml;base64,{data}"></div>')

    def section(self, section: Section) -> Iterator[str]:
        summary = f' <span class="s">{escape(section.summary)}</span>' if section.summary else ""
        is_open = " open" if section.is_open else ""
        tag = "b" if section.name else "code"
        title = f"<{tag}>{escape(section.title)}</{tag}>"
        yield f"<details{is_open}><summary>{title}{summary}</summary>"
        yield from self.elements(section.elements)
        yield "</details>"

    def table(self, table: Table) -> Iterator[str]:
        used = [k for k in range(len(table.columns)) if any(row.cells[k] for row in table.rows)]
        yield '<div class="x"><table>'
        if any(table.columns):
            heads = (f"<th{_number_class(table, k)}>{escape(table.columns[k])}</th>" for k in used)
            yield f"<thead><tr>{''.join(heads)}</tr></thead>"
        yield "<tbody>"
        for row in table.rows:
            role = CLASSES.get(row.role)
            cells = "".join(self.cell(table, row, k) for k in used)
            yield f"<tr class=\"{role}\">{cells}</tr>" if role else f"<tr>{cells}</tr>"
        yield "</tbody></table></div>"

    def cell(self, table: Table, row: TableRow, k: int) -> str:
        text, name = "  " * row.depth * (k == 0) + row.cells[k], table.columns[k]
        shown = _kept_indent(escape(text).replace("\n", "<br>"))
        if name in table.code and text:
            shown = f"<code>{shown}</code>"
        if name == table.linked and row.link in self.anchors:
            shown = f'<a href="#{escape(self.key + row.link)}">{shown}</a>'
        if k == 0 and row.anchor:
            shown = f'<a id="{escape(self.key + row.anchor)}"></a>{shown}'
        if name not in table.code and len(text) > LONG:
            return f'<td class="w">{shown}</td>'
        return f"<td{_number_class(table, k)}>{shown}</td>"


def _marked(text: str) -> str:
    """Return text with the parts between backticks as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", text)


def _number_class(table: Table, k: int) -> str:
    return ' class="n"' if table.columns[k] in table.numbers else ""


def _kept_indent(text: str) -> str:
    """Return text whose indentation survives outside of `<pre>`."""
    def kept(line: str) -> str:
        rest = line.lstrip(" ")
        return "&nbsp;" * (len(line) - len(rest)) + rest

    return "<br>".join(map(kept, text.split("<br>")))


def _numbered(lines: Sequence[Line]) -> Iterator[Line]:
    digits = max((len(str(line.number)) for line in lines if line.number), default=0)
    for line in lines:
        number = f"{line.number or '':>{digits}}  " if digits else ""
        yield Line(number + line.text, line.number, line.role)


def _line(line: Line) -> str:
    text = escape(line.text)
    if line.role in ("added", "removed"):
        tag = "ins" if line.role == "added" else "del"
        text = f"<{tag}>{text}</{tag}>"
    return text
