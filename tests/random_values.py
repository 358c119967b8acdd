"""Expressions of random programs: numbers, arrays, their views, conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from random_words import (
    BOUNDED,
    CONSTANTS,
    FLAT,
    FUNCTIONS,
    HALF,
    HELPERS,
    LESS,
    REFERENCES,
    STATES,
    THRESHOLDS,
    Int,
    M,
    N,
    Scope,
    Type,
)

__all__ = ["Values"]


class Values:
    """Writes expressions; `below(k)` chooses a number from 0 to k - 1."""

    def __init__(self, below: Callable[[int], int], size: int = 24,
                 second: Type = (N, M)) -> None:
        self.below = below
        self.lines: list[str] = []
        self.depth = 1
        self.left = size
        self.count = 0
        self.helpers: set[str] = set()
        self.reads: set[str] = set()
        """Names of the module's state that is read."""
        self.transforms = self.chance(12)
        """Whether the program takes derivatives itself."""
        self.states = self.chance(25)
        """Whether the program reads the module's state."""
        self.scope = Scope({"x": (N,), "y": second, "a": ()})

    # --- choices --------------------------------------------------------------------------------

    def pick(self, items: Sequence[str]) -> str:
        """Choose one of some texts."""
        return items[self.below(len(items))]

    def chance(self, percent: int) -> bool:
        """Choose True with a probability; False is the simpler choice."""
        return self.below(100) >= 100 - percent

    def weighted(self, table: Sequence[tuple[int, Callable[[], object]]]) -> Callable[[], object]:
        """Choose by weight."""
        k = self.below(sum(w for w, _ in table))
        for weight, make in table:
            k -= weight
            if k < 0:
                return make
        raise AssertionError

    def fresh(self, stem: str) -> str:
        """Return a new name."""
        self.count += 1
        return f"{stem}{self.count}"

    def emit(self, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.depth + line)

    def of(self, type_: Type) -> list[str]:
        """Return the names of a type."""
        return [name for name, t in self.scope.names.items() if t == type_]

    # --- indices --------------------------------------------------------------------------------

    def index(self, size: str) -> str:
        """Return an index that is in range for an array of a size."""
        short = size in (LESS, HALF)  # perhaps one element
        options = ["0", "-1"] if short else ["0", "-1", "1"]
        for name, k in self.scope.ints.items():
            if size in k.inside:
                options += [name, name, name]
                options += [f"{size} - 1 - {name}"]
                options += [] if short else [f"({name} + 1) % {size}"]
            elif not short:
                options += [f"{name} % {size}"]
            if size in k.after:
                options += [f"{name} + 1"] * 2
            if size in k.before:
                options += [f"{name} - 1"] * 2
        return options[(self.below(len(options)) + 3) % len(options)]

    def item(self, name: str) -> str:
        """Return an element of an array as text."""
        return f"{name}[{', '.join(self.index(size) for size in self.scope.names[name])}]"

    # --- numbers --------------------------------------------------------------------------------

    def number(self, depth: int = 2) -> str:
        """Return an expression for a number."""
        arrays = [name for name, t in self.scope.names.items() if t]
        leaves = [(5, lambda: self.pick(self.of(()))), (5, lambda: self.item(self.pick(arrays))),
                  (2, lambda: self.pick(CONSTANTS))]
        if self.scope.ints:
            leaves.append((1, lambda: f"{self.pick(list(self.scope.ints))} * 0.1"))
        if depth <= 0:
            return str(self.weighted(leaves)())
        inner = [
            (4, lambda: self.pick(FUNCTIONS).format(self.operand(self.number(depth - 1)))),
            (4, lambda: f"{self.operand(self.number(depth - 1))} {self.pick('+-')} "
                        f"{self.operand(self.number(depth - 1))}"),
            (4, lambda: f"{self.bounded(self.number(depth - 1))} * "
                        f"{self.operand(self.number(depth - 1))}"),
            (3, lambda: self.reduction(depth - 1)),
            (1, lambda: f"({self.number(depth - 1)} if {self.condition()} "
                        f"else {self.number(depth - 1)})"),
            (1, lambda: f"{self.pick(('max', 'min'))}({self.number(depth - 1)}, "
                        f"{self.number(depth - 1)})"),
            (2, lambda: self.helper_call(self.number(depth - 1))),
            (1, self.comprehension),
        ]
        if self.scope.states:
            inner.append((4, self.read_state))
        if self.scope.lists:
            inner.append((7, self.read_list))
        if self.states:
            inner.append((4, self.read_module))
        if self.transforms:
            inner.append((4, self.derivative))
        return str(self.weighted([*leaves, *inner])())

    def read_module(self) -> str:
        """Return a number that the module's state holds or gives."""
        name = self.pick(tuple(STATES))
        self.reads.add(name)
        return self.pick(STATES[name][1]).format(self.number(0))

    def derivative(self, type_: Type = ()) -> str:
        """Return a call of a helper that takes derivatives by a value that nothing else names."""
        name = self.pick(tuple(REFERENCES))
        self.helpers |= {name, "tracejit"}
        make = (lambda: self.array(type_, 0)) if type_ else (lambda: self.number(0))
        return f"{name}({self.operand(make())} * 0.6 + a * 0.1, {make()})"

    def operand(self, text: str) -> str:
        """Return an expression that binds tightly."""
        simple = all(c.isalnum() or c in "_.[]" for c in text) or (text.startswith("np.") and (
            text.count("(") == 1 and text.endswith(")")))
        return text if simple else f"({text})"

    def bounded(self, text: str) -> str:
        """Return a factor that keeps products from growing."""
        return self.pick(BOUNDED[:3]).format(text) if self.chance(60) else self.pick(CONSTANTS[:5])

    def reduction(self, depth: int) -> str:
        """Return a number made of a whole array."""
        type_ = self.some_type()
        whole = self.array(type_, depth)
        options = ["np.sum({})", "np.mean({})", "np.sum({} * 0.5)", "np.max({})", "np.min({})"]
        if len(type_) == 1:
            options += ["total({})", "first({}, 0.3)"]
            options += ["halves(x * 0.7)"] if type_ == (N,) else []
            name = self.pick(self.of(type_)) if self.of(type_) else ""
            if name:
                options += [f"np.dot({{}}, {name})"] * 2 + [f"{self.operand(whole)} @ {name}"]
                for k in self.scope.ints:
                    options += [f"np.sum({name}[{k}:])", f"np.sum({name}[:{k}] * 0.7)"]
        text = self.pick(options)
        self.helpers |= {h for h in HELPERS if text.startswith(h)}
        return text.format(whole)

    def helper_call(self, text: str) -> str:
        """Return a call of a helper that works on numbers and arrays alike."""
        name = self.pick(("mix", "bend", "pick", "blend", "power"))
        self.helpers.add(name)
        second = {"mix": self.number(0), "bend": self.pick((*CONSTANTS[:3], "c=0.9")),
                  "pick": self.number(0), "power": self.pick("23"),
                  "blend": f"{self.number(0)}, {self.number(0)}, w={self.pick(CONSTANTS)}"}[name]
        return f"{name}({text}, {second})"

    def arrays_of_lists(self, type_: Type) -> list[str]:
        """Return expressions for arrays of a type that are made of lists."""
        raise NotImplementedError

    def read_list(self) -> str:
        """Return a number that a list holds or gives."""
        raise NotImplementedError

    def read_state(self) -> str:
        """Return a number that state holds or gives."""
        raise NotImplementedError

    def elements(self) -> str:
        """Return the inside of a comprehension over the indices of x."""
        k = self.fresh("k")
        outer, self.scope = self.scope, self.scope.copy()
        self.scope.ints[k] = Int(frozenset({N}))
        element = self.bounded(self.item(self.pick(self.of((N,))))) + f" * {self.number(0)}"
        self.scope = outer
        return f"{element} for {k} in range(n)"

    def comprehension(self) -> str:
        """sum([... for k in range(n)])"""
        return self.pick(("sum([{}])", "sum({})", "np.sum(np.array([{}]))")).format(self.elements())

    def condition(self) -> str:
        """Return a condition on data or on integers."""
        ints = list(self.scope.ints)
        options = [
            (5, lambda: f"{self.number(0)} {self.pick('><')} {self.pick(THRESHOLDS)}"),
            (3, lambda: f"{self.operand(self.number(1))} {self.pick(('>', '<', '<=', '>='))} "
                        f"{self.number(0)}"),
            (1, lambda: f"{self.pick(THRESHOLDS[:2])} < {self.number(0)} < 1.27"),
            (1, lambda: f"{self.simple_condition()} {self.pick(('and', 'or'))} "
                        f"{self.simple_condition()}"),
            (1, lambda: f"not {self.simple_condition()}"),
        ]
        if ints:
            options += [(3, lambda: f"{self.pick(ints)} % 2 == {self.pick('01')}"),
                        (2, lambda: f"{self.pick(ints)} {self.pick(('>', '<', '==', '!='))} "
                                    f"{self.pick(('1', 'n - 1', *ints))}")]
        return str(self.weighted(options)())

    def simple_condition(self) -> str:
        """Return a comparison."""
        if self.scope.ints and self.chance(30):
            return f"{self.pick(list(self.scope.ints))} > {self.pick('01')}"
        if self.scope.flags and self.chance(50):
            return self.pick(self.scope.flags)
        return f"{self.number(0)} {self.pick('><')} {self.pick(THRESHOLDS)}"

    # --- arrays ---------------------------------------------------------------------------------

    def some_type(self) -> Type:
        """Choose the type of an array."""
        types: list[Type] = [(N,), (N,), (N,), (N,), (N,), (N,), (M,), (LESS,), (N, M), (N, M),
                             (N, M), (M, N), (M, N), (FLAT,), (HALF,)]
        return types[self.below(len(types))]

    def views(self, type_: Type) -> list[str]:
        """Return expressions for arrays of a type that share memory with a name."""
        found = []
        for name, t in self.scope.names.items():
            if t == type_ and len(t) == 1:
                found.append(f"{name}[::-1]")
            if type_ == (LESS,) and t == (N,):
                found += [f"{name}[1:]", f"{name}[:-1]", f"{name}[:0:-1]"]
            if len(t) == 2 and type_ == (t[1],):
                found += [f"{name}[{self.index(t[0])}]"] * 2
            if len(t) == 2 and type_ == (t[0],):
                found.append(f"{name}[:, {self.index(t[1])}]")
            if len(t) == 2 and type_ == (t[1], t[0]):
                found.append(f"{name}.T")
            if len(t) == 2 and type_ == t:
                found += [f"{name}[::-1]", f"{name}[:, ::-1]", f"{name}[...]"]
            found += self.reshaped(name, t, type_)
        return found

    def reshaped(self, name: str, t: Type, type_: Type) -> list[str]:
        """Return views of a type, or copies where NumPy cannot make views, of another shape."""
        if len(t) == 2 and type_ == (FLAT,):
            return [f"{name}.reshape(-1)", f"{name}.ravel()", f"np.ravel({name})",
                    f"{name}.T.ravel()", f"np.reshape({name}, n * 3)", f"{name}.flatten()"]
        if t == (FLAT,) and type_ in ((N, M), (M, N)):
            return [f"{name}.reshape({', '.join(type_)})", f"{name}.reshape({type_[1]}, -1).T"]
        if t == (FLAT,) and type_ == (N,):
            return [f"{name}[::3]", f"{name}[1::3]", f"{name}[:n]"]
        if t == (N,) and type_ == (HALF,):
            return [f"{name}[::2]", f"{name}[::-2]"]
        if len(t) == 2 and type_ == (t[1], t[0]):
            return [f"np.transpose({name})", f"{name}.swapaxes(0, 1)",
                    f"{name}.reshape({', '.join(type_)})"]
        return []

    def born(self, type_: Type) -> list[str]:
        """Return expressions for new arrays of a type."""
        shape = type_[0] if len(type_) == 1 else f"({', '.join(type_)})"
        found = [f"np.zeros({shape})", f"np.ones({shape})", f"np.full({shape}, {self.number(0)})"]
        found += [f"{name}.copy()" for name in self.of(type_)]
        for name in self.of(type_):
            found += [f"np.zeros_like({name})", self.pick((
                f"np.copy({name})", f"np.array({name})", f"np.ones_like({name})",
                f"{name}.copy('K')", f"np.full_like({name}, {self.number(0)})"))]
        if len(type_) == 2:
            found += [f"{self.pick(('np.asfortranarray', 'np.ascontiguousarray'))}({name} * 0.9)"
                      for name in self.of(type_)]
            row = self.of((type_[1],))
            found += [f"np.broadcast_to({name}, {shape}).copy()" for name in row[:1]]
        found += self.arrays_of_lists(type_)
        if len(type_) == 1:
            found += [f"np.arange({shape}) * 0.2"]
        return found

    def array(self, type_: Type, depth: int = 2) -> str:
        """Return an expression for an array of a type."""
        names = self.of(type_)
        views = self.views(type_)
        leaves: list[tuple[int, Callable[[], object]]] = []
        if names:
            leaves.append((6, lambda: self.pick(names)))
        if views:
            leaves.append((3, lambda: self.pick(views)))
        if not leaves or depth > 0:
            leaves.append((1, lambda: self.pick(self.born(type_))))
        if depth <= 0:
            return str(self.weighted(leaves)())
        again = lambda: self.operand(self.array(type_, depth - 1))  # noqa: E731
        inner: list[tuple[int, Callable[[], object]]] = [
            (5, lambda: self.pick([f for f in FUNCTIONS if f != "abs({})"]).format(again())),
            (3, lambda: f"{again()} {self.pick('+-')} {again()}"),
            (3, lambda: f"{self.bounded(self.array(type_, depth - 1))} * {again()}"),
            (3, lambda: f"{again()} * {self.operand(self.number(0))}"),
            (1, lambda: f"np.where({again()} > {self.pick(THRESHOLDS)}, {again()}, {again()})"),
            (1, lambda: self.helper_call_array(type_, depth - 1)),
        ]
        if self.transforms:
            inner.append((3, lambda: self.derivative(type_)))
        if len(type_) == 1:
            inner += [(1, lambda: f"np.cumsum({again()})"), (1, lambda: f"np.roll({again()}, 1)")]
        if type_ == (N,):
            inner += [(1, lambda: f"np.array([{self.elements()}])")]
            inner += [(1, lambda: f"{self.array((N, M), 0)} @ {self.array((M,), 0)}"),
                      (1, lambda: f"np.sum({self.array((N, M), depth - 1)}, axis=1)"),
                      (1, lambda: f"np.concatenate(({self.array((LESS,), 0)}, "
                                  f"{self.array((N,), 0)}[:1]))")]
        if type_ == (M,):
            inner += [(1, lambda: f"{self.array((N,), 0)} @ {self.array((N, M), 0)}"),
                      (1, lambda: f"np.sum({self.array((N, M), depth - 1)}, axis=0)")]
        if type_ == (LESS,):
            inner += [(1, lambda: f"np.diff({self.array((N,), depth - 1)})")]
        if len(type_) == 2:
            rows, columns = (type_[0],), (type_[1],)
            inner += [(1, lambda: f"np.outer({self.array(rows, 0)}, {self.array(columns, 0)})"),
                      (1, lambda: f"{again()} * {self.operand(self.array(columns, 0))}"),
                      (1, lambda: f"{again()} + {self.operand(self.array(rows, 0))}[:, None]")]
        return str(self.weighted([*leaves, *inner])())

    def helper_call_array(self, type_: Type, depth: int) -> str:
        """Return a call of a helper on an array."""
        name = self.pick(("mix", "bend", "pick"))
        self.helpers.add(name)
        second = {"mix": self.array(type_, 0), "bend": self.pick(CONSTANTS),
                  "pick": self.number(0)}[name]
        return f"{name}({self.array(type_, depth)}, {second})"
