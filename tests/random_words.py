"""The words of random programs: sizes, types, snippets, and the names in a statement's scope."""

from __future__ import annotations

from dataclasses import dataclass, field

N, M, LESS, FLAT, HALF = "n", "3", "n - 1", "(n * 3)", "((n + 1) // 2)"
"""The sizes that arrays have, as a program writes them."""

Type = tuple[str, ...]
"""() for a number, (size,) for a vector, (rows, columns) for a matrix."""

CONSTANTS = ("0.7", "0.3", "1.1", "-0.4", "0.53", "-1.3", "2.1")
THRESHOLDS = ("0.37", "-0.21", "0.93", "1.61", "-0.83")
BOUNDED = ("np.sin({})", "np.tanh({})", "np.cos({})", "{0} / (1.0 + {0} * {0})", "np.arctan({})",
           "np.exp(-{0} * {0})")
FUNCTIONS = (*BOUNDED, "np.sqrt(1.0 + {0} * {0})", "abs({})", "-{}", "np.log1p({0} * {0})",
             "{} ** 2", "np.maximum({}, 0.11)", "np.exp(np.minimum({}, 0.9))")
AUGMENTS = ("+=", "-=", "*=")

HELPERS = {
    "mix": ["def mix(u, v):", "    return u * 0.6 + np.sin(v)"],
    "bend": ["def bend(u, c=0.4):", "    return np.tanh(u * c) - 0.2"],
    "pick": ["def pick(u, c):", "    if c > 0.29:", "        return u * 0.5",
             "    return np.cos(u)"],
    "total": ["def total(u):", "    s = 0.0", "    for k in range(len(u)):",
              "        s += u[k] * 0.5", "    return s"],
    "stir": ["def stir(u, c):", "    for k in range(1, len(u)):",
             "        u[k] = np.sin(u[k - 1]) + c * u[k]"],
    "first": ["def first(u, c):", "    for k in range(u.shape[0]):", "        if u[k] > c:",
              "            return u[k]", "    return c * 0.5"],
    "blend": ["def blend(u, *rest, w=0.3):", "    for v in rest:", "        u = u * w + np.sin(v)",
              "    return u"],
    "power": ["def power(u, k):", "    if k == 0:", "        return u * 0.0 + 1.0",
              "    return np.sin(u) * power(u, k - 1)"],
    "halves": ["def halves(u):", "    if len(u) < 2:", "        return u[0] * 0.7",
               "    middle = len(u) // 2",
               "    return np.sin(halves(u[:middle])) + halves(u[middle:])"],
    "Level": ["class Level:", "    def __init__(self, v):", "        self.v, self.k = v, 0",
              "    def __iadd__(self, v):", "        self.v = self.v * 0.5 + np.sin(v)",
              "        self.k += 1", "        return self", "    def __lt__(self, c):",
              "        self.k += 1", "        return self.v < c", "    @property",
              "    def value(self):", "        if self.v > 0.21:",
              "            return self.v * (1 + self.k % 2)", "        return self.v - 0.4"],
    "deque": ["from collections import deque"],
    "Pair": ["class Pair:", "    def __init__(self, u):", "        self.u, self.w = u, u * 0.5",
             "    def step(self, c):", "        self.w[1:] = np.tanh(self.u[:-1]) * 0.7",
             "        self.w[0] = c", "        if c > 0.13:",
             "            self.u, self.w = self.w, self.u", "        else:",
             "            self.u[-1] -= 0.2"],
    "couple": ["def couple(u, v, c):", "    u[1:] += np.sin(v[:-1]) * c", "    v *= 0.6",
               "    for k in range(len(u)):", "        u[k] = u[k] * 0.5 + v[-1 - k]"],
    "spread": ["def spread(items, c):", "    items[0] = items[-1] * 0.5 + c",
               "    return sum(items) * 0.3"],
    "tracejit": ["import tracejit"],
    "slope": ["def slope(u, v):", "    w = u * 0.7",
              "    return tracejit.gradients(np.sum(np.sin(w) * v), [w])[0]"],
    "taped": ["def taped(u, v):", "    with tracejit.GradientTape(persistent=True) as tape:",
              "        tape.watch(u)", "        w = u * v", "        y = np.sum(w * w * u)",
              "    return tape.gradient(y, u) + tape.gradient(y, w)"],
    "inner": ["def inner(u, v):",
              "    return tracejit.grad(lambda p: np.sum(np.tanh(p) * v))(u)"],
    "descend": ["def descend(u, v):", "    for k in range(3):",
                "        u = u - 0.1 * tracejit.grad(lambda p: np.sum(np.sin(p) * v))(u)",
                "    return u"],
    "frozen": ["def frozen(u, v):", "    return tracejit.stop_gradient(u * v) * u"],
    "pushed": ["def pushed(u, v):",
               "    return tracejit.jvp(lambda p: np.sin(p) * v)((u,), (v * 1.0,))[1]"],
    "curved": ["def curved(u, v):", "    def slope_of(p):",
               "        return np.sum(tracejit.grad(lambda q: np.sum(np.sin(q) * v))(p) * v)",
               "    return tracejit.grad(slope_of)(u)"],
}

REFERENCES = {
    "slope": "def slope(u, v): return np.cos(u * 0.7) * v",
    "taped": "def taped(u, v): return 3.0 * u * u * v * v + 2.0 * u * u * v",
    "inner": "def inner(u, v): return (1.0 - np.tanh(u) ** 2) * v",
    "descend": """
def descend(u, v):
    for k in range(3):
        u = u - 0.1 * np.cos(u) * v
    return u""",
    "frozen": "def frozen(u, v): return np.real(u * v) * u",
    "pushed": "def pushed(u, v): return np.cos(u) * v * v",
    "curved": "def curved(u, v): return -np.sin(u) * v * v",
}
"""What helpers that take derivatives compute, in NumPy: u is a value that nothing else names."""

STATES: dict[str, tuple[list[str], tuple[str, ...], tuple[str, ...]]] = {
    "K": (["K = 0.8"], ("K", "K * 0.5"), ("K = 1.7", "K = 2", "K = np.float64(0.3)")),
    "W": (["W = np.array([0.3, -0.6, 0.9])"], ("W[0]", "W[-1]", "np.sum(W)"),
          ("W[1] = 0.45", "W = np.array([1.1, 0.2, -0.7])", "W *= 2.0", "W = W[::-1]")),
    "C": (["C = [0.5, 1.2]"], ("C[0]", "C[-1]", "sum(C)", "len(C) * 0.1"),
          ("C[0] = 0.9", "C.append(0.2)", "C = [1.4]", "C[1:] = [0.1, 0.2]", "C[0] = 1")),
    "T": (["class T:", "    k = 0.4"], ("T.k",), ("T.k = 0.9", "T.k = 1")),
    "O": (["class Box:", "    scale = 0.5", "    def __init__(self, k):", "        self.k = k",
           "    def of(self, v):", "        return v * self.scale + self.k", "", "",
           "O = Box(0.2)"],
          ("O.k", "O.of({})"), ("O.k = 1.1", "O = Box(0.7)", "Box.scale = 0.9", "O.scale = 0.25")),
    "D": (["D = dict(k=0.6)"], ("D['k']", "D.get('j', 0.1)"), ("D['k'] = 1.3", "D['j'] = 0.8")),
    "act": (["act = np.tanh"], ("act({})",), ("act = np.sin", "act = np.arctan")),
    "bias": (["def bias(v, c=0.3):", "    return v + c"], ("bias({})",),
             ("bias.__defaults__ = (0.8,)", "bias.__defaults__ = (2,)")),
    "get": (["def make():", "    k = 0.4", "", "    def get(v):", "        return v * k", "",
             "    def put(v):", "        nonlocal k", "        k = v", "", "    return get, put",
             "", "", "get, put = make()"], ("get({})",),
            ("put(1.1)", "put(2)", "get, put = make()")),
}
"""State of a module by the name that is read: definition, readings, changes between calls."""


@dataclass
class Int:
    """An integer name: the sizes whose arrays it can index, also after adding 1 or -1."""

    inside: frozenset[str]
    after: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Items:
    """The items of a list: their type, and as many as a size says, or at least one."""

    type: Type
    size: str | None


@dataclass
class Scope:
    """The names that a statement may use."""

    names: dict[str, Type] = field(default_factory=dict)
    lists: dict[str, Items] = field(default_factory=dict)
    ints: dict[str, Int] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    """Names of state that is changed without being assigned to, and of which kind it is."""
    flags: list[str] = field(default_factory=list)
    """Names of truth values."""
    loops: tuple[str, ...] = ()
    """The kinds of the loops around, outermost first."""
    unrolled: bool = False

    def copy(self) -> Scope:
        """Return a scope that can grow on its own."""
        return Scope(dict(self.names), dict(self.lists), dict(self.ints), dict(self.states),
                     list(self.flags), self.loops, self.unrolled)
