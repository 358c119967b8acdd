"""Statements of random programs: assignments, writes, state, branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from random_lists import Lists
from random_words import AUGMENTS, CONSTANTS, LESS, THRESHOLDS, Int, M, N, Type

__all__ = ["Statements"]


class Statements(Lists):
    """Writes statements."""

    # --- statements -----------------------------------------------------------------------------

    @contextmanager
    def block(self, head: str, loop: str = "") -> Iterator[None]:
        """Write a compound statement; names that its body sets are not set after it."""
        self.emit(head)
        outer, self.scope = self.scope, self.scope.copy()
        if loop:
            self.scope.loops = (*self.scope.loops, loop)
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.emit("pass")
        self.depth -= 1
        self.scope = outer

    def body(self, most: int = 4) -> None:
        """Write some statements."""
        for _ in range(1 + self.below(most)):
            if self.left <= 0:
                return
            self.statement()

    def statement(self) -> None:
        """Write a statement."""
        self.left -= 1
        nested = self.depth <= 4 and self.left > 0
        table: list[tuple[int, Callable[[], object]]] = [
            (6, self.set_number), (5, self.set_array), (6, self.write_item), (4, self.write_slice),
            (3, self.write_whole), (2, self.bind_view), (2, self.swap), (1, self.mutate)]
        if self.scope.states:
            table.append((4, self.change_state))
        if self.scope.lists:
            table.append((6, self.change_list))
        table.append((2, self.make_list))
        if nested:
            table += [(2, self.fill_list)]
            table += [(6, self.for_), (2, self.while_), (5, self.if_), (1, self.fill),
                      (1, self.with_)]
        table += [(1, self.write_out), (1, self.unpack), (1, self.set_flag), (1, self.assert_)]
        if self.scope.loops and not self.scope.unrolled:
            table.append((2, self.jump))
        elif self.depth == 1:
            table.append((1, self.jump))
        self.weighted(table)()

    def target(self, type_: Type, stem: str) -> str:
        """Return the name of a type to assign to, old or new."""
        names = [name for name in self.of(type_) if name not in ("a", "x", "y")]
        if names and not self.chance(35):
            return self.pick(names)
        return self.fresh(stem)

    def set_number(self) -> None:
        """s = ..., s += ..."""
        name = self.target((), "s")
        if name in self.scope.names and self.chance(60):
            operator = self.pick(AUGMENTS)
            value = self.number() if operator != "*=" else self.bounded(self.number(1))
            self.emit(f"{name} {operator} {value}")
            return
        value = self.number() if name in self.scope.names or self.chance(70) else self.pick(
            ("0.0", "0", "1.0"))
        self.emit(f"{name} = {value}")
        self.scope.names[name] = ()

    def set_array(self) -> None:
        """u = ..."""
        type_ = self.some_type()
        name = self.target(type_, "uvwABC"[len(type_) * 3 - 3])
        value = self.array(type_) if not self.chance(30) else self.pick(self.born(type_))
        names = self.of(type_)
        if len(names) > 1 and self.chance(12):
            value = f"{self.pick(names)} if {self.condition()} else {self.pick(names)}"
        also = ""
        if self.chance(6):
            also = self.target(type_, "w") + " = "
            self.scope.names[also[:-3]] = type_
        self.emit(f"{also}{name} = {value}")
        self.scope.names[name] = type_

    def set_flag(self) -> None:
        """b = u[0] > 0.3"""
        value = self.condition()
        name = self.fresh("b")
        self.emit(f"{name} = {value}")
        self.scope.flags.append(name)

    def unpack(self) -> None:
        """s, (t, w) = ..., (..., ...), the names all different.

        CPython 3.11.2 makes `s, s, s = 1, 2, 3` of it that s is 1: no oracle for equal ones.
        """
        values = [self.number(1) for _ in range(3)]
        names: list[str] = []
        for _ in range(3):
            name = self.target((), "s")
            names.append(self.fresh("s") if name in names else name)
        shape = self.pick(("{}, {}, {}", "{}, ({}, {})"))
        self.emit(f"{shape.format(*names)} = {shape.format(*values)}")
        self.scope.names.update(dict.fromkeys(names, ()))

    def assert_(self) -> None:
        """assert ..., or raise"""
        value = self.number(1)
        if self.chance(50):
            self.emit(f"assert {value} < 1e9, f\"{{n}} is too large\"")
            return
        with self.block(f"if {value} > 1e9:"):
            self.emit("raise ValueError(\"too large\")")

    def write_out(self) -> None:
        """np.sin(u, out=v), np.add.at(u, [0, 1], v)"""
        name = self.written()
        type_ = self.scope.names[name]
        if type_ == (N,) and self.chance(40):
            self.emit(f"np.add.at({name}, {self.pick(('[0, 1]', '[1, 0, 1]'))}, {self.number(1)})")
            return
        u, v = self.array(type_, 1), self.array(type_, 0)
        self.emit(self.pick((f"np.sin({u}, out={name})", f"np.add({u}, {v}, out={name})")))

    def written(self) -> str:
        """Choose an array to write to."""
        own = [name for name, t in self.scope.names.items() if t and name not in ("x", "y")]
        if not own or self.chance(8):
            return self.pick(("x", "y"))
        return own[-1 - self.below(len(own))]

    def assignment(self, place: str, value: Callable[[], str], factor: Callable[[], str]) -> None:
        """place = ..., place += ..."""
        operator = self.pick(("=", "=", *AUGMENTS))
        self.emit(f"{place} {operator} {factor() if operator == '*=' else value()}")

    def write_item(self) -> None:
        """u[i] = ..."""
        item = self.item(self.written())
        if self.chance(30):
            item = item.replace(", ", "][")
        self.assignment(item, self.number, lambda: self.bounded(self.number(1)))

    def write_slice(self) -> None:
        """u[1:] = ..., A[i] += ..."""
        name = self.written()
        type_ = self.scope.names[name]
        options: list[tuple[str, Type]] = [(f"{name}[:]", type_)]
        if len(type_) == 2:
            options += [(f"{name}[{self.index(type_[0])}]", (type_[1],)),
                        (f"{name}[:, {self.index(type_[1])}]", (type_[0],))]
        if type_[0] == N:
            rest = (LESS, *type_[1:])
            if len(type_) == 1:
                options += [(f"{name}[1:]", rest), (f"{name}[:-1]", rest),
                            (f"{name}[:0:-1]", rest)]
            options += [(f"{name}[{cut}]", ("any",))
                        for cut in ("1:", ":-1", "::2", "1::2", "::-2")]
            options += [(f"{name}[{k}:]", ("any",)) for k in self.scope.ints]
            options += [(f"{name}[:{k}]", ("any",)) for k in self.scope.ints]
        if len(type_) == 1:
            options += [(f"{name}[{name} > {self.pick(THRESHOLDS)}]", ("any",))]
        place, inner = options[self.below(len(options))]
        if inner == ("any",):
            self.assignment(place, lambda: self.number(1), lambda: self.bounded(self.number(1)))
            return
        self.assignment(place, lambda: self.array(inner, 1) if self.chance(70) else self.number(1),
                        lambda: self.bounded(self.array(inner, 1)))

    def write_whole(self) -> None:
        """u += ..."""
        name = self.written()
        type_ = self.scope.names[name]
        operator = self.pick(AUGMENTS)
        value = self.array(type_, 1) if operator != "*=" else self.bounded(self.array(type_, 1))
        self.emit(f"{name} {operator} {value}")

    def bind_view(self) -> None:
        """row = A[i], then write through it."""
        type_ = self.some_type()
        views = [*self.views(type_), *self.of(type_)]
        if not views:
            return self.set_number()
        name = self.fresh("r")
        self.emit(f"{name} = {self.pick(views)}")
        self.scope.names[name] = type_
        if self.chance(70):
            self.assignment(self.item(name), self.number, lambda: self.bounded(self.number(1)))
        return None

    def swap(self) -> None:
        """u, v = v, u"""
        type_ = self.some_type() if self.chance(80) else ()
        names = [n for n in self.of(type_) if n not in ("x", "y", "a")]
        if len(names) < 2:
            return self.set_array()
        first = self.below(len(names))
        second = (first + 1 + self.below(len(names) - 1)) % len(names)
        p, q = names[first], names[second]
        if len(type_) == 0 and self.chance(50):
            self.emit(f"{p}, {q} = {q}, {self.number()}")
        else:
            self.emit(f"{p}, {q} = {q}, {p}")
        return None

    def mutate(self) -> None:
        """Call a helper that writes to its argument."""
        name = self.written()
        if len(self.scope.names[name]) == 2:
            name = f"{name}[{self.index(self.scope.names[name][0])}]"
        elif self.chance(50):
            self.helpers.add("couple")
            other = self.pick((name, f"{name}[::-1]", self.array(self.scope.names[name], 1)))
            self.emit(f"couple({name}, {other}, {self.pick(CONSTANTS)})")
            return
        self.helpers.add("stir")
        self.emit(f"stir({name}, {self.number(0)})")

    def fill(self) -> None:
        """Make an uninitialised array and set every element."""
        name, k = self.fresh("r"), self.fresh("k")
        self.emit(f"{name} = np.empty(n)")
        with self.block(f"for {k} in range(n):", "for"):
            self.scope.ints[k] = Int(frozenset({N}))
            self.emit(f"{name}[{k}] = {self.number()}")
            self.body(2)
        self.scope.names[name] = (N,)

    # --- state ----------------------------------------------------------------------------------

    def make_state(self) -> None:
        """Make a closure, an object or a queue that later statements change."""
        kinds = {"closure": "step", "object": "o", "queue": "q", "pair": "p", "list": "l",
                 "dict": "d", "lambda": "g"}
        kind = self.pick(("closure", *kinds))
        name = self.fresh(kinds[kind])
        vectors = self.of((N,))
        if kind == "object":
            self.helpers.add("Level")
            self.emit(f"{name} = Level({self.number(0)})")
        elif kind == "pair":
            self.helpers.add("Pair")
            vector = self.pick(vectors)
            self.emit(f"{name} = Pair({vector}{self.pick(('.copy()', ' * 0.9', ''))})")
        elif kind == "list":
            self.emit(f"{name} = [{self.pick(vectors)}, {self.pick(vectors)} * 0.7]")
        elif kind == "dict":
            self.emit(f"{name} = dict(u={self.pick(vectors)}, s={self.number(0)})")
        elif kind == "lambda":
            self.emit(f"{name} = lambda v: {self.bounded('v')} + {self.number(0)}")
        elif kind == "queue":
            self.helpers.add("deque")
            self.emit(f"{name} = deque([{self.number(0)}, {self.number(0)}, 0.0], maxlen=3)")
        else:
            level, count = self.fresh("s"), self.fresh("c")
            self.emit(f"{level}, {count} = {self.number(0)}, 0")
            change = f"{level} = {level} * 0.6 + np.sin(v)"
            with self.block(f"def {name}(v):"):
                self.emit(f"nonlocal {level}, {count}")
                self.emit(f"{count} += 1")
                if self.chance(30):
                    self.emit(f"if v > {self.pick(THRESHOLDS)}:")
                    self.emit(f"    return {level}")
                if self.chance(50):
                    self.emit(f"if {level} < {self.pick(THRESHOLDS)}:")
                    change = f"    {change}"
                self.emit(change)
                self.emit(f"return {level} * ({count} % 3)")
            self.scope.names[level] = ()
            self.scope.ints[count] = Int(frozenset())
        self.scope.states[name] = kind

    def read_state(self) -> str:
        """Return a number that state holds or gives."""
        name = self.pick(list(self.scope.states))
        kind = self.scope.states[name]
        if kind in ("closure", "lambda"):
            return f"{name}({self.number(0)})"
        if kind == "list":
            return self.pick((f"np.sum({name}[0])", f"{name}[1][{self.index(N)}]"))
        if kind == "dict":
            return self.pick((f"{name}['s']", f"np.mean({name}['u'])"))
        if kind == "pair":
            whole = f"{name}.{self.pick(('u', 'w'))}"
            return self.pick((f"np.sum({whole})", f"{whole}[{self.index(N)}]"))
        if kind == "queue":
            return f"{name}[{self.pick(('0', '1', '-1'))}]"
        return self.pick((f"{name}.value", f"{name}.v", f"(0.3 if {name} < 0.4 else -0.2)"))

    def change_state(self) -> None:
        """step(...), o += ..., q.append(...)"""
        name = self.pick(list(self.scope.states))
        kind = self.scope.states[name]
        value = self.bounded(self.number(1))
        if kind == "list":
            self.emit(self.pick((
                f"{name}[0], {name}[1] = {name}[1], {name}[0]", f"{name}[1][1:] += {value}",
                f"{name}[0][{self.index(N)}] = {value}", f"{name}[1] = {self.array((N,), 1)}")))
        elif kind == "dict":
            self.emit(self.pick((
                f"{name}['s'] += {value}", f"{name}['u'][{self.index(N)}] -= {value}",
                f"{name}['u'] = {name}['u'] * 0.7 + {value}")))
        elif kind == "lambda":
            self.set_number()  # it reads names, as they are when it is called
        else:
            self.emit({"closure": f"{name}({value})", "object": f"{name} += {value}",
                       "queue": f"{name}.append({value})", "pair": f"{name}.step({value})"}[kind])

    # --- control flow ---------------------------------------------------------------------------

    def if_(self) -> None:
        """Write a branch; a name that both sides set is set after it."""
        new: list[dict[str, Type]] = []
        test = self.condition()
        if self.chance(10):
            name = self.target((), "s")
            test = f"({name} := {self.number(1)}) > {self.pick(THRESHOLDS)}"
            self.scope.names[name] = ()
        with self.block(f"if {test}:"):
            self.body(3)
            new.append(self.scope.names)
        for _ in range(self.below(2)):
            with self.block(f"elif {self.condition()}:"):
                self.body(2)
                new.append(self.scope.names)
        if self.chance(50):
            with self.block("else:"):
                self.body(3)
                new.append(self.scope.names)
            common = {k: t for k, t in new[0].items() if all(s.get(k) == t for s in new)}
            self.scope.names.update(common)

    def with_(self) -> None:
        """Write a block under a context manager."""
        with self.block("with np.errstate(all='ignore'):"):
            self.body(2)

    def else_(self) -> None:
        """Write the `else` of a loop, sometimes: it runs unless a break left the loop."""
        if self.left > 0 and self.chance(12):
            with self.block("else:"):
                self.body(2)

    def for_(self) -> None:
        """Write a loop over a range, an array or a tuple."""
        i = self.fresh("i")
        over = self.for_list() if self.chance(15) else None
        if over is not None:
            with self.block(over[0], "for"):
                over[1]()
                self.body(3)
            return self.else_()
        in_n, in_both = frozenset({N}), frozenset({N, LESS})
        ranges: list[tuple[str, Int]] = [
            ("range(n)", Int(in_n)), ("range(n)", Int(in_n)), ("range(len(x))", Int(in_n)),
            ("range(1, n)", Int(in_n, before=in_both)), ("range(n - 1)", Int(in_both, after=in_n)),
            ("range(n - 1, -1, -1)", Int(in_n)), ("range(n - 2, -1, -1)", Int(in_both, after=in_n)),
            ("range(0, n, 2)", Int(in_n)), ("reversed(range(n))", Int(in_n)),
            ("range(n - 1, 0, -2)", Int(in_n, before=in_both)), ("range(1, n - 1)", Int(
                in_both, after=in_n, before=in_both)),
            ("range(3)", Int(frozenset({M}))),
            (self.pick([f"range({name}.shape[1])" for name in self.of((N, M))] or ["range(3)"]),
             Int(frozenset({M}))),
            ("range(2)", Int(frozenset({N, M}))), ("range(n // 2)", Int(in_both))]
        for k, known in self.scope.ints.items():
            if N in known.inside:
                ranges += [(f"range({k})", Int(in_n)), (f"range({k}, n)", Int(in_n)),
                           (f"range({k} + 1)", Int(in_n)),
                           (f"range({k} + 1, n)", Int(in_n, before=in_n)),
                           (f"range(n - 1, {k}, -1)", Int(in_n, before=in_n))]
        if self.chance(15):
            return self.for_items(i)
        text, known = ranges[self.below(len(ranges))]
        with self.block(f"for {i} in {text}:", "for"):
            self.scope.ints[i] = known
            self.body()
        self.else_()
        return None

    def for_items(self, i: str) -> None:
        """Write a loop over the items of something."""
        w = self.fresh("w")
        kind = self.below(6)
        vectors = self.of((N,))
        rows = self.pick(self.of((N, M)) or [""])
        kind = kind if rows or kind != 1 else 0
        head = [f"for {w} in {self.pick(vectors)}:", f"for {w} in {rows}:",
                f"for {i}, {w} in enumerate({self.pick(vectors)}):",
                f"for {i}, {w} in enumerate(reversed({self.pick(vectors)})):",
                f"for {i}, {w} in zip(range(n - 1, -1, -1), {self.pick(vectors)}):",
                f"for {w} in ({self.number(0)}, {self.number(0)}):"][kind]
        with self.block(head, "for" if kind < 5 else "unrolled"):
            self.scope.names[w] = (M,) if kind == 1 else ()
            if 2 <= kind < 5:
                self.scope.ints[i] = Int(frozenset({N}))
            self.body(3)
        self.else_()

    def while_(self) -> None:
        """Write a loop that ends by a counter, by data, or by both."""
        if self.chance(30):
            t = self.fresh("t")
            self.emit(f"{t} = 1.0 + {self.operand(self.number(0))} ** 2")
            inline = self.chance(20)
            test = f"({t} := {t} * 0.6 - 0.013) > 0.27" if inline else f"{t} > 0.45"
            with self.block(f"while {test}:", "for"):
                if not inline:
                    self.emit(f"{t} = {t} * 0.6 - 0.013")
                self.body(3)
            self.else_()
            return
        k = self.fresh("k")
        early = self.chance(50)
        self.emit(f"{k} = 0")
        test = f"{k} < n" + (f" and ({self.condition()})" if self.chance(40) else "")
        endless = self.chance(15)
        head = "while True:" if endless else f"while {test}:"
        with self.block(head, "for" if early else "while"):
            self.scope.ints[k] = Int(frozenset({N}))
            if endless:
                self.emit(f"if {k} >= n or {self.simple_condition()}:")
                self.emit("    break")
            if early:
                self.emit(f"{k} += 1")
                self.scope.ints[k] = Int(frozenset(), before=frozenset({N}))
            self.body(3)
            if not early:
                self.emit(f"{k} += 1")
        self.else_()
        self.scope.ints[k] = Int(frozenset())

    def jump(self) -> None:
        """Write a conditional `break`, `continue` or `return`."""
        options = ["return"]
        if self.scope.loops:
            options = {"while": ["break", "return"], "fill": ["return"]}.get(
                self.scope.loops[-1], ["break", "continue", "return"])
        kind = self.pick(options)
        with self.block(f"if {self.condition()}:"):
            if self.chance(40):
                self.statement()
            self.emit(kind if kind != "return" else f"return {self.result()}")

    def result(self) -> str:
        """Return a number that depends on the elements of all arrays."""
        terms = [self.number(1)]
        for name, t in self.scope.names.items():
            if name not in ("x", "y", "a") and self.chance(75):
                terms.append(f"np.sum({name} * {name})" if t and self.chance(50)
                             else f"np.sum({name}) * 0.3" if t else name)
        for name, items in self.scope.lists.items():
            if self.chance(75):
                terms.append(f"sum({name})" if not items.type else f"sum(sum(r) for r in {name})"
                             if items.type == ("list",) else f"sum(np.sum(v * v) for v in {name})")
        if self.chance(15):
            terms.append("np.sum(x * x)")
        return " + ".join(self.operand(t) for t in terms)
