"""The text of comparisons that a data class makes of its fields, which nobody keeps.

The names of the fields stand in the code, in order. The text is written again as `dataclasses`
writes it, and taken only if it compiles to the code.
"""

from __future__ import annotations

from types import CodeType

from tracejit.trace.ground.trees import Tree, tree_in

__all__ = ["GENERATED", "tree_of_generated"]

GENERATED = __file__
"""The file under whose name these comparisons run: errors in them are at the line around."""

_SIGNS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_TEXT = """\
def __create_fn__():
 def {name}(self,other):
{first}  if other.__class__ is self.__class__:
   return {compared}
  return NotImplemented
"""
_SAME_OBJECT = "  if self is other:\n   return True\n"
"""Since Python 3.13 an object is equal to itself, and fields are compared one by one."""


def tree_of_generated(code: CodeType) -> Tree | None:
    """Return the syntax tree of a comparison that a data class has made; None for other code."""
    if code.co_filename != "<string>" or code.co_name not in _SIGNS:
        return None
    for text in _texts(code.co_name, list(code.co_names[1:-1])):
        tree = tree_in(text, code)
        if tree is not None:
            return tree
    return None


def _texts(name: str, fields: list[str]) -> list[str]:
    """Return the texts that versions of Python write for a comparison of some fields."""
    mine, others = ("".join(f"{x}.{field}," for field in fields) for x in ("self", "other"))
    whole = f"({mine}){_SIGNS[name]}({others})"
    each = " and ".join(f"self.{field}==other.{field}" for field in fields) or "True"
    return [_TEXT.format(name=name, first="", compared=whole),
            *[_TEXT.format(name=name, first=first, compared=each)
              for first in ("", _SAME_OBJECT) if name == "__eq__"]]
