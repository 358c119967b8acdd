"""Users' text in text of ours: names of values and graphs, identifiers, comments.

A function's name, a file's, a dictionary's key, a format may be any string. Here it becomes a word,
or a line that stands in a comment: never code.
"""

from __future__ import annotations

import functools
import re
import unicodedata

__all__ = ["graph_name", "identifier", "in_docstring", "on_one_line", "value_name"]

MAX_LENGTH = 60
"""Letters of the longest name; tables of a thousand arguments stay readable."""


def on_one_line(text: str) -> str:
    """Return text on one line, with unprintable and direction-changing characters escaped.

    >>> on_one_line("a\\nb")
    'a\\\\nb'
    """
    return text if text.isprintable() else "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode()
        for c in text)


def in_docstring(text: str) -> str:
    """Return a line that is the text again in a string between triple quotes."""
    return on_one_line(text).replace("\\", r"\\").replace('"""', r"\"\"\"")


def value_name(text: str) -> str:
    """Return a name for a value: the letters, digits and underscores of a text."""
    text = unicodedata.normalize("NFKC", text)
    name = "".join(c if f"a{c}".isidentifier() else "_" for c in text).strip("_")[:MAX_LENGTH]
    return name if name[:1].isidentifier() else f"arg{name}"


def graph_name(text: object) -> str:
    """Return a name for a graph: a word, as `_lambda` or `grad[f]` are.

    >>> graph_name("<lambda>"), graph_name("grad[f]"), graph_name("two words")
    ('_lambda', 'grad[f]', 'two_words')
    """
    name = unicodedata.normalize("NFKC", str(text)).replace("<lambda>", "_lambda")
    name = re.sub(r"[^\w.\[\]]", "_", name)
    if len(name) > 2 * MAX_LENGTH or not _is_nested(name):
        name = re.sub(r"[.\[\]]", "_", name)[:2 * MAX_LENGTH]
    return name if name[:1].isidentifier() else f"f{name}"


def _is_nested(name: str) -> bool:
    """Whether brackets in a name hold names in turn."""
    while (inner := re.sub(r"(?<=\w)\[[^\W\d][\w.]*\]", "", name)) != name:
        name = inner
    return "[" not in name and "]" not in name


@functools.lru_cache(maxsize=4096)
def identifier(text: str) -> str:
    """Return a text as an identifier of ASCII letters, for source that other tools read.

    Different texts may have the same one.

    >>> identifier("α"), identifier("naïve"), identifier("2"), identifier("in")
    ('alpha', 'naive', 'v2', 'in')
    """
    name = "".join(c if c == "_" or (c.isascii() and c.isalnum()) else _spelt(c)
                   for c in unicodedata.normalize("NFKD", text))
    name = name[:MAX_LENGTH + 1]
    return name if re.match("[A-Za-z_]", name) else f"v{name}"


def _spelt(c: str) -> str:
    """Return how a letter is called, by its own last word where that is one, else by number."""
    if unicodedata.combining(c):
        return ""
    name = unicodedata.name(c, "")
    if not c.isalpha():
        return "_"
    if name.startswith("GREEK "):
        word = name.split(" WITH ")[0].split()[-1].lower()
        return word.capitalize() if "CAPITAL" in name else word
    return f"u{ord(c):x}"
