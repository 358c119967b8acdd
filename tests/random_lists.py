"""Lists in random programs: made in every way, read, changed, sliced, nested, filled in loops.

A list has a kind from when it is made: a size says how many items it has for good (then the indices
of the size are its own), or it has one item at least, and grows and shrinks.
"""

from __future__ import annotations

from collections.abc import Callable

from random_values import Values
from random_words import CONSTANTS, LESS, Int, Items, M, N, Type

__all__ = ["Lists"]

NUMBERS: Type = ()
ROWS: Type = ("list",)
"""The type of items that are lists of three numbers."""

READ_NUMBERS = ("sum({0})", "{0}[0]", "{0}[-1]", "{0}[len({0}) // 2]", "max({0})", "min({0})",
                "len({0}) * 0.1", "np.sum(np.array({0}))", "np.mean({0})", "sorted({0})[0]",
                "sum(v * 0.7 for v in {0})", "sum([np.sin(v) for v in {0}])",
                "sum(u * v for u, v in zip({0}, {1}))", "sum(k * v for k, v in enumerate({0}))",
                "sum({0}[1:])", "sum({0}[::2])", "({0} + {1})[-1]", "[*{0}, {2}][0]",
                "(0.3 if {0} == {1} else -0.2)", "(0.1 if any(v > 0.4 for v in {0}) else 0.2)",
                "(0.1 if all(v < 0.9 for v in {0}) else 0.2)", "np.dot({0}, {0})", "{0}[::-1][0]",
                "({0} * 2)[len({0})]", "sum(list(map(np.tanh, {0})))",
                "(0.1 if {2} in {0} else 0.3)",
                "sum(v for v in {0} if v > 0.2)", "{0}.count({0}[0]) * 0.1")
READ_VECTORS = ("np.sum({0}[0])", "{0}[-1][0]", "sum(np.sum(v) for v in {0})", "np.sum(sum({0}))",
                "np.sum(np.stack({0}))", "np.sum(np.concatenate({0}) * 0.3)", "len({0}) * 0.1",
                "np.max(np.array({0}))", "np.sum({0}[len({0}) // 2] * 0.5)", "{0}[0] @ {0}[-1]",
                "sum(v[0] for v in {0})", "np.sum(({0} + {0})[-1])")
READ_ROWS = ("{0}[0][0]", "{0}[-1][2]", "sum(sum(r) for r in {0})", "np.sum(np.array({0}))",
             "sum(r[1] for r in {0})", "len({0}[0]) * 0.1", "sum(sum({0}, []))")

MAKE_NUMBERS = ("[{e} for {k} in range(n)]", "[0 for _ in range(n)]", "[0.0] * n", "[{s}] * n",
                "list({v})", "[w for w in {v}]", "[w * 0.7 for w in {v}]", "{v}.tolist()",
                "[w + {s} for w in {v}]", "[0 for _ in {v}]", "[np.sin(w) for w in {v}[::-1]]",
                "[{s} for _ in range(n)]", "[u * w for u, w in zip({v}, {v})]",
                "[k * w for k, w in enumerate({v})]", "sorted({v})")
MAKE_SOME_NUMBERS = ("[{s}, {s}, 0.3]", "[{s}]", "[0.0, {s}]", "[w for w in {v} for _ in range(2)]",
                     "[0] * 3", "[w for k, w in enumerate({v}) if k % 2 == 0]", "[1, {s}]")
REMAKE = ("{0}[:]", "{0}[::-1]", "list({0})", "{0}.copy()", "[v for v in {0}]", "{0}",
          "{0}[1:] + {0}[:1]", "list(reversed({0}))")
REMAKE_SOME = ("({0} + {1})[-3:]", "({1} * 2)[:4]", "{0}[-2:] + {1}[:1]", "{0}[:1]", "{0}[-1:]",
               "[*{0}[-2:], *{1}[:2]]")
CHANGE_NUMBERS = ("{0}[{i}] = {s}", "{0}[{i}] += {s}", "{0}[{i}] *= {b}", "{0}.reverse()",
                  "{0}[0], {0}[-1] = {0}[-1], {0}[0]", "{0}[:] = [v * 0.5 for v in {0}]",
                  "{0}[1:] = [v + 0.1 for v in {0}[1:]]", "{0} = [np.sin(v) for v in {0}]",
                  "{0} = [v * {b} for v in {0}]", "{0}.sort()")
CHANGE_SOME = ("{0}.append({s})", "{0}.append({s})", "{0} += [{s}]", "{0}.insert(0, {s})",
               "{0}.extend([{s}, 0.2])", "{0} = {0} + [{s}]", "{0} = {0}[-3:] + [{s}]",
               "{0}.insert(len({0}) // 2, {s})", "{0}.extend({0}[:1])",
               "if len({0}) > 2:\n    {0}.pop()", "if len({0}) > 2:\n    {0}.pop(0)",
               "if len({0}) > 1:\n    del {0}[0]", "while len({0}) > 4:\n    {0}.pop()",
               "{0}[:1] = [{s}, {s}]")
CHANGE_VECTORS = ("{0}[{i}][{j}] = {s}", "{0}[{i}] += {s}", "{0}[{i}] = {v}", "{0}[{i}] *= {b}",
                  "for {k} in {0}:\n    {k} *= 0.8", "for {k} in {0}:\n    {k}[{j}] += {s}",
                  "{0}[{i}][:] = {v}", "{0}.reverse()", "{0}[0], {0}[-1] = {0}[-1], {0}[0]",
                  "{0} = [v * {b} for v in {0}]", "{0}[{i}][1:] = {0}[{i}][:-1] * 0.9")
CHANGE_SOME_VECTORS = ("{0}.append({v})", "{0}.append({0}[-1] * 0.7)", "{0} += [{v}]",
                       "{0}.insert(0, {v})", "{0} = {0}[-2:] + [{v}]",
                       "if len({0}) > 1:\n    {0}.pop()", "{0}.extend([{v}, {v}])")
CHANGE_ROWS = ("{0}[{i}][{j}] = {s}", "{0}[{i}][{j}] += {s}", "{0}[{i}] = [{s}, 0.1, {s}]",
               "{0}[{i}][0], {0}[{i}][2] = {0}[{i}][2], {0}[{i}][0]", "{0}.reverse()",
               "for {k} in {0}:\n    {k}[0] = {s}")
CHANGE_SOME_ROWS = ("{0}.append([{s}, 0.2, {s}])", "{0}.append({0}[0])",
                    "if len({0}) > 1:\n    {0}.pop()")


class Lists(Values):
    """Writes statements and expressions about lists."""

    def make_list(self) -> None:
        """h = [...]"""
        kind = self.below(10)
        make = self._numbers if kind < 5 else self._vectors if kind < 8 else self._rows
        text, items = make()
        name = self.fresh("h")
        self.emit(f"{name} = {text}")
        self.scope.lists[name] = items

    def _numbers(self) -> tuple[str, Items]:
        known = [name for name, t in self.scope.lists.items() if t == Items(NUMBERS, N)]
        vector = self.pick(self.of((N,)))
        if known and self.chance(25):
            return self.pick(REMAKE).format(self.pick(known)), Items(NUMBERS, N)
        k = self.fresh("k")
        size = None if self.chance(55) else N
        table = MAKE_NUMBERS if size or self.chance(50) else MAKE_SOME_NUMBERS
        outer, self.scope = self.scope, self.scope.copy()
        self.scope.ints[k] = Int(frozenset({N}))
        element = f"{self.bounded(self.item(self.pick(self.of((N,)))))} + {self.number(0)}"
        self.scope = outer
        text = self.pick(table)
        return text.format(e=element, k=k, s=self.number(0), v=vector), Items(NUMBERS, size)

    def _vectors(self) -> tuple[str, Items]:
        u, w, s = self.pick(self.of((N,))), self.pick(self.of((N,))), self.number(0)
        table: list[tuple[str, Type, str | None]] = [
            (f"[{u}, {w} * 0.7]", (N,), None), (f"[{u} * {s} for _ in range(3)]", (N,), M),
            ("[np.zeros(n) for _ in range(3)]", (N,), M), ("[np.zeros(n)] * 3", (N,), M),
            (f"[{u}[::-1], {w}]", (N,), None), (f"[{u} * k for k in range(n)]", (N,), N),
            (f"[{u} * w for w in {w}]", (N,), N), (f"[{u}]", (N,), None),
            (f"[{u} * 0.5 ** k for k in range(n)]", (N,), None)]
        for name in self.of((N, M)):
            table += [(f"list({name})", (M,), N), (f"[r for r in {name}]", (M,), N),
                      (f"[{name}[k] for k in range(n)]", (M,), N),
                      (f"[{name}[:, k] for k in range(3)]", (N,), M),
                      (f"[r * {s} for r in {name}]", (M,), N), (f"list({name}.T)", (N,), M)]
        for name, t in self.scope.lists.items():
            if t.type and t.type != ROWS:
                table += [(self.pick(REMAKE).format(name), t.type, t.size)] * 2
        text, type_, size = table[self.below(len(table))]
        return text, Items(type_, size)

    def _rows(self) -> tuple[str, Items]:
        u, s = self.pick(self.of((N,))), self.number(0)
        size = self.pick(("n", ""))
        return self.pick((
            "[[0.0] * 3 for _ in range(n)]", f"[[{s}, {u}[k], 0.2] for k in range(n)]",
            "[[0, 0, 0] for _ in range(n)]", f"[[w, w * {s}, 0.1] for w in {u}]",
            "[[0.5] * 3] * n")), Items(ROWS, N if size else None)

    def place_in(self, name: str) -> str:
        """Return an index of a list."""
        size = self.scope.lists[name].size
        if size is not None:
            return self.index(size)
        ints = [f"{k} % len({name})" for k in self.scope.ints]
        return self.pick(("0", "-1", f"len({name}) // 2", *ints))

    def alike(self, name: str) -> str:
        """Return a list of the same kind, perhaps the same."""
        return self.pick([n for n, t in self.scope.lists.items() if t == self.scope.lists[name]])

    def read_list(self) -> str:
        """Return a number that a list holds or gives."""
        name = self.pick(list(self.scope.lists))
        type_ = self.scope.lists[name].type
        if self.chance(40):
            place = f"{name}[{self.place_in(name)}]"
            return place if not type_ else f"{place}[{self._inner(type_)}]"
        if not type_ and self.chance(8) and self.scope.lists[name].size is None:
            self.helpers.add("spread")
            return f"spread({name}, {self.number(0)})"
        table = READ_NUMBERS if not type_ else READ_ROWS if type_ == ROWS else READ_VECTORS
        return self.pick(table).format(name, self.alike(name), self.number(0))

    def _inner(self, type_: Type) -> str:
        return self.pick(("0", "1", "2", "-1")) if type_ == ROWS else self.index(type_[0])

    def arrays_of_lists(self, type_: Type) -> list[str]:
        """Return expressions for arrays of a type that are made of lists."""
        found = []
        for name, t in self.scope.lists.items():
            if type_ == t.type and type_:
                found += [f"{name}[{self.place_in(name)}]", f"sum({name})", f"{name}[0]"]
            if not t.type and t.size and type_ == (t.size,):
                found += [f"np.array({name})", f"np.asarray({name}) * 0.5", f"np.cumsum({name})"]
            if t.type in ((N,), (M,)) and t.size and type_ == (t.size, t.type[0]):
                found += [f"np.array({name})", f"np.stack({name})"]
            if t.type == ROWS and t.size and type_ == (t.size, M):
                found.append(f"np.array({name})")
        return found

    def change_list(self) -> None:
        """h[0] = ..., h.append(...), h = h[1:] + [...]"""
        name = self.pick(list(self.scope.lists))
        items = self.scope.lists[name]
        if self.chance(10):
            return self._remake(name, items)
        fixed, growing = {
            NUMBERS: (CHANGE_NUMBERS, CHANGE_SOME), ROWS: (CHANGE_ROWS, CHANGE_SOME_ROWS),
        }.get(items.type, (CHANGE_VECTORS, CHANGE_SOME_VECTORS))
        text = self.pick(growing if items.size is None and self.chance(60) else fixed)
        vector = ""
        if items.type and items.type != ROWS:
            vector = self.array(items.type, 1)
        filled = text.format(name, i=self.place_in(name), s=self.number(1), v=vector,
                             b=self.pick(CONSTANTS[:5]), k=self.fresh("r"),
                             j=self._inner(items.type) if items.type else "0")
        for line in filled.split("\n"):
            self.emit(line)
        return None

    def _remake(self, name: str, items: Items) -> None:
        table = REMAKE if items.size or self.chance(40) else REMAKE_SOME
        self.emit(f"{name} = {self.pick(table).format(name, self.alike(name))}")

    def for_list(self) -> tuple[str, Callable[[], None]] | None:
        """Return the head of a loop over a list, and a function that declares its names."""
        if not self.scope.lists:
            return None
        name = self.pick(list(self.scope.lists))
        items = self.scope.lists[name]
        if items.type == ROWS:
            return None
        i, w = self.fresh("i"), self.fresh("w")
        over = name if items.size else f"{name}[:]"
        head = self.pick((f"for {w} in {over}:", f"for {i}, {w} in enumerate({over}):",
                          f"for {w} in reversed({over}):",
                          f"for {i}, {w} in zip(range(n), {over}):"))

        def declare() -> None:
            self.scope.names[w] = items.type
            if i in head.split(" in ")[0]:
                known = {items.size} if items.size else set()
                self.scope.ints[i] = Int(frozenset(
                    known | ({N} if "zip" in head else set())))

        return head, declare

    def fill_list(self) -> None:
        """Make an empty list and append to it in a loop, as users of NumPy do."""
        name, k = self.fresh("h"), self.fresh("k")
        vectors = self.chance(35)
        ranges = (("range(n)", N), ("range(3)", M), ("range(n - 1, -1, -1)", N),
                  ("range(1, n)", LESS))
        text, size = ranges[self.below(len(ranges))]
        self.emit(f"{name} = []")
        with self.block(f"for {k} in {text}:", "for"):
            self.scope.ints[k] = Int(frozenset({N} if size != M else {M}))
            self.scope.loops = (*self.scope.loops[:-1], "fill")
            if self.chance(40):
                self.statement()
            value = self.array((N,), 1) if vectors else self.number()
            self.emit(self.pick((f"{name}.append({value})", f"{name}.append({value})",
                                 f"{name}.insert(0, {value})")))
        self.scope.lists[name] = Items((N,) if vectors else NUMBERS,
                                       size if self.chance(60) else None)
