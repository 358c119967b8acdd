"""The reader of the printed IR, so that passes can be tested text in, text out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Span, Value
from tracejit.ir.dims import Dim, atom, floor_div, maximum, minimum, mod
from tracejit.ir.dtypes import DTYPES
from tracejit.ir.optable import find_op
from tracejit.ir.types import Aval, LogType, Type

__all__ = ["parse_graph"]

_TOKEN = re.compile(
    r"(?P<skip>\s+|#[^\n]*|--[^\n]*)"
    r"|(?P<float>(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|inf\b|nan\b)"
    r"|(?P<int>\d+)|(?P<value>%\w+)|(?P<name>[^\W\d][\w.\[\]]*?(?![\w.]))"
    r"|(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<mark>->|//|[-+*%(){}\[\]<>,:=])")


def parse_graph(text: str) -> Graph:
    """Read one graph; `IRError` with line and column where the text is malformed."""
    return _Parser(text).graph()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        while position < len(text):
            m = _TOKEN.match(text, position)
            if m is None:
                raise self._error(f"unexpected {text[position]!r}", position)
            if m.lastgroup != "skip":
                assert m.lastgroup is not None
                self.tokens.append((m.lastgroup, m.group(), position))
            position = m.end()
        self.tokens.append(("end", "", len(text)))
        self.at = 0
        self.values: dict[str, Value] = {}
        self.sizes: dict[str, Value] = {}
        self.declaring = False

    # --- tokens ---------------------------------------------------------------------------------

    def _error(self, what: str, position: int | None = None) -> IRError:
        position = self.tokens[self.at][2] if position is None else position
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        return IRError(f"line {line}, column {column}: {what}")

    def _peek(self, text: str, ahead: int = 0) -> bool:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1] == text

    def _take(self, text: str) -> bool:
        if self._peek(text):
            self.at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise self._error(f"expected {text!r}, found {self.tokens[self.at][1]!r}")

    def _next(self, kind: str) -> str:
        found, text, _ = self.tokens[self.at]
        if kind == "name" and text in ("inf", "nan"):  # a function may be called so
            found = kind
        if found != kind:
            raise self._error(f"expected a {kind}, found {text!r}")
        self.at += 1
        return text

    def _list(self, item: Callable[[], object], end: str) -> tuple[Any, ...]:
        items = []
        while not self._take(end):
            items.append(item())
            if not self._take(","):
                self._expect(end)
                break
        return tuple(items)

    # --- structure ------------------------------------------------------------------------------

    def graph(self) -> Graph:
        self._expect("graph")
        name = self._graph_name()
        self._expect("(")
        self.declaring = True
        inputs = self._list(self._binding, ")")
        self.declaring = False
        self._expect("->")
        while not self._peek("{"):
            self.at += 1
        self._expect("{")
        return Graph(name, tuple(self.sizes.values()), self._block(inputs, "return"))

    def _graph_name(self) -> str:
        name = self._next("name")
        while self._take("["):
            name += f"[{self._graph_name()}]"
            self._expect("]")
        return name

    def _binding(self) -> Value:
        kind, name, _ = self.tokens[self.at]
        self.at += 1
        if kind != "value":
            raise self._error(f"expected a value, found {name!r}")
        self._expect(":")
        stem = name[1:]
        v = Value(self._type(), None if stem.isdigit() else stem)
        self.values[name] = v
        return v

    def _type(self) -> Type:
        name = self._next("name")
        if name == "log":
            self._expect("<")
            dtype = self._dtype()
            self._expect(">")
            return LogType(dtype)
        self.at -= 1
        dtype = self._dtype()
        self._expect("[")
        return Aval(dtype, self._list(self._dim, "]"))

    def _dtype(self) -> np.dtype:
        name = self._next("name")
        if name not in DTYPES:
            raise self._error(f"there is no dtype {name!r}")
        return DTYPES[name]

    def _block(self, inputs: tuple[Value, ...], end: str) -> Block:
        eqns = []
        while not self._take(end):
            eqns.append(self._eqn())
        outputs = []
        while not self._peek("}"):
            outputs.append(self._atom())
            self._take(",")
        self._expect("}")
        return Block(inputs, tuple(eqns), tuple(outputs))

    def _eqn(self) -> Eqn:
        start = self.at
        while self.tokens[self.at][0] == "value":  # outputs may name one another in their dims
            name = self.tokens[self.at][1]
            self.values[name] = Value(Aval(DTYPES["i64"]), None if name[1:].isdigit() else name[1:])
            while not (self._peek(",") and self.tokens[self.at + 1][0] == "value"
                       and self._peek(":", 2)) and not self._peek("="):
                self.at += 1
            self.at += self._peek(",")
        self.at = start
        outputs = []
        while self.tokens[self.at][0] == "value":
            name = self._next("value")
            self._expect(":")
            self.values[name].retype(self._type())
            outputs.append(self.values[name])
            if not self._take(","):
                self._expect("=")
        op = find_op(self._next("name"))
        self._expect("(")
        inputs = self._list(self._atom, ")")
        params = dict(self._list(self._param, "}")) if self._take("{") else {}
        regions = []
        if self._take("["):
            while not self._take("]"):
                self._expect("(")
                region_inputs = self._list(self._binding, ")")
                self._expect("{")
                regions.append(self._block(region_inputs, "yield"))
        return Eqn(op, inputs, params, tuple(outputs), tuple(regions))

    # --- operands and params --------------------------------------------------------------------

    def _atom(self) -> Atom:
        kind, text, _ = self.tokens[self.at]
        if kind == "value":
            self.at += 1
            if text not in self.values:
                raise self._error(f"{text} is not defined")
            return self.values[text]
        if text in self.sizes:
            self.at += 1
            return self.sizes[text]
        val = self._number()
        if self._take(":"):
            return Literal(val, self._dtype())
        default = {bool: "bool", int: "i64", float: "f64", complex: "c128"}[type(val)]
        return Literal(val, DTYPES[default])

    def _number(self) -> Any:
        if self._take("True"):
            return True
        if self._take("False"):
            return False
        if self._take("("):
            real = self._number()
            self._expect(",")
            imag = self._number()
            self._expect(")")
            return complex(real, imag)
        sign = -1 if self._take("-") else 1
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        if kind not in ("int", "float"):
            raise self._error(f"expected a number, found {text!r}")
        return sign * (int(text) if kind == "int" else float(text))

    def _param(self) -> tuple[str, Any]:
        name = self._next("name")
        self._expect("=")
        return name, self._param_value()

    def _param_value(self) -> Any:
        kind, text, _ = self.tokens[self.at]
        if kind == "string":
            self.at += 1
            return json.loads(text)
        if kind == "name" and text in DTYPES:
            return self._dtype()
        if text in ("True", "False", "None"):
            self.at += 1
            return {"True": True, "False": False, "None": None}[text]
        if kind == "float" or (text == "-" and self.tokens[self.at + 1][0] == "float"):
            return self._number()
        if text == "(" and self._is_tuple():
            self._expect("(")
            return self._list(self._param_value, ")")
        start = self._dim()
        if not self._take(":"):
            return start
        stop = self._dim()
        step = self._number() if self._take(":") else 1
        return Span(start, floor_div(stop - start, step), step)

    def _is_tuple(self) -> bool:
        """Tell `(n, 3)` and `()` from `(n + 1) // 2`."""
        depth, at = 0, self.at
        while True:
            text = self.tokens[at][1]
            depth += (text in "([{" and text != "") - (text in ")]}" and text != "")
            if depth == 0:
                return self.tokens[at + 1][1] not in ("//", "%", "*", "+", "-")
            at += 1

    # --- dims -----------------------------------------------------------------------------------

    def _dim(self) -> Dim:
        result = self._term()
        while True:
            if self._take("+"):
                result = result + self._term()
            elif self._take("-"):
                result = result - self._term()
            else:
                return result

    def _term(self) -> Dim:
        result = self._factor()
        while True:
            if self._take("*"):
                result = result * self._factor()
            elif self._take("//"):
                result = floor_div(result, self._factor())
            elif self._take("%"):
                result = mod(result, self._factor())
            else:
                return result

    def _factor(self) -> Dim:
        if self._take("-"):
            return -self._factor()
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        if kind == "int":
            return int(text)
        if kind == "value":
            if text not in self.values:
                raise self._error(f"{text} is not defined")
            return atom(self.values[text])
        if text in ("max", "min"):
            self._expect("(")
            left, right = self._list(self._dim, ")")
            return maximum(left, right) if text == "max" else minimum(left, right)
        if text == "(":
            result = self._dim()
            self._expect(")")
            return result
        if kind != "name":
            raise self._error(f"expected a dim, found {text!r}")
        if text not in self.sizes:
            if not self.declaring:
                raise self._error(f"size {text} is not bound by an input's shape")
            self.sizes[text] = Value(Aval(DTYPES["i64"]), text, is_size=True)
        return atom(self.sizes[text])
