"""Objects of users' classes as state: cases for `state_sequences.py`, beside the others.

`of` in a call is the transform, or nothing where the function itself is asked: so methods, callable
objects, partials and closures that are made anew for each call are transformed anew as well.
"""

from __future__ import annotations

from state_cases import Case, case_of

__all__ = ["OBJECTS"]

OBJECTS: list[Case] = []

_MODEL = """
N = 3
def helper(v):
    return v * 2.0
class Base:
    c = 5
    d = 2.5
    def extra(self, v):
        return v + self.d
class Inner:
    def __init__(self, w):
        self.w, self.n = w, 2
class Model(Base):
    def __init__(self, k=2.0, n=3):
        self.k, self.n, self.W = k, n, np.array([1.0, 2.0, 3.0])
        self.l, self.t, self.inner, self.fn = [1.0, 2, 'a'], {'a': 1.0, 'b': 2}, Inner(k), helper
    @property
    def size(self):
        return self.n
    def loss(self, x):
        return np.sum(x * self.k * self.W) * self.n + self.c
    def whole(self, x):
        s = 0.0
        for i in range(self.size):
            s = s + x * self.inner.w * self.l[1] + self.t['b'] * self.inner.n
        return self.fn(s) + super().extra(s) + self.l[0] * self.t['a'] * len(self.l[2])
    def __call__(self, x):
        return self.whole(x) + self.loss(x)
    def __mul__(self, x):
        return x * self.k + self.n
class Slotted:
    __slots__ = ('k', 'n')
    def __init__(self, k, n=2):
        self.k, self.n = k, n
    def loss(self, x):
        return x * self.k * self.n
@dataclasses.dataclass
class Data:
    k: float = 2.0
    n: int = 2
    def loss(self, x):
        return x * self.k * self.n
@dataclasses.dataclass(frozen=True)
class Frozen:
    k: float = 2.0
    n: int = 2
    def loss(self, x):
        return x * self.k * self.n
class Mode(enum.Enum):
    FAST = 1
    SLOW = 2
class Chosen:
    def __init__(self, mode):
        self.mode = mode
    def loss(self, x):
        return x * (2.0 if self.mode is Mode.FAST else 3.0)
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b
    def loss(self, x):
        return x * (2.0 if self.a is self.b else 3.0) * self.a.n * self.b.n
class Lazy:
    def __init__(self, k):
        self.k = k
    def __getattr__(self, name):
        if name != 'missing':
            raise AttributeError(name)
        return self.k * 2
    def loss(self, x):
        return x * self.missing
class Scaled:
    def __init__(self, k):
        self.k = k
    def __get__(self, o, t):
        return self.k * o.n
class Described:
    s = Scaled(2.0)
    def __init__(self, n):
        self.n = n
    def loss(self, x):
        return x * self.s
def make(k):
    return lambda x: x * k
def lam():
    return lambda x: x * k
def power(k, x):
    return x ** k
"""

_ANEW = [
    ("method", "of(m.loss)(x)", "m = Model(2.0)", ["m = Model(2.0)", "m = Model(3.0)",
     "m = Model(2)", "m = Model(np.float32(2))", "m = Model(2.0, 4)", "m = Model(2.0, True)",
     "m = Model(float('nan'))", "m = Model(-0.0)", "m.n = 5", "m.W = np.array([1, 2, 3])",
     "m.W[0] = 7.0", "m.n = 2.0", "m.loss = lambda x: x", "Model.c = 6", "Base.c = 7"]),
    ("method of all kinds", "of(m.whole)(x)", "m = Model(2.0)", ["m = Model(2.0)", "m = Model(4.0)",
     "m.l = [1.0, 2, 'ab']", "m.l = [1.0, 2.5, 'a']", "m.l[1] = True", "m.t = {'b': 2, 'a': 1.0}",
     "m.t['b'] = 3", "m.inner = Inner(5.0)", "m.inner.n = 4", "m.fn = lambda v: v",
     "helper = lambda v: v * 7.0", "Base.extra = lambda self, v: v * self.d", "Base.d = 3.5",
     "Base.d = 3", "Model.size = property(lambda self: 1)", "del m.t['a']\nm.t['a'] = 9.0",
     "Inner.n = 3", "m.inner = types.SimpleNamespace(w=1.0, n=1)"]),
    ("callable", "of(m)(x)", "m = Model(2.0)", ["m = Model(2.0)", "m = Model(3.0, 1)",
     "Model.__call__ = lambda self, x: x * self.k", "m.__class__ = Other",
     "m.__call__ = lambda x: 0.0"]),
    ("argument", "g(x, m)", "m = Model(2.0)", ["m = Model(2.0)", "m = Model(3.0)", "m = Model(2)",
     "m.n = 5", "m = Other(2.0)", "m = Slotted(2.0)", "m = Data()", "m = Frozen(3.0)"]),
    ("operator", "g2(x, m)", "m = Model(2.0)", ["m = Model(2.0)", "m = Model(3.0)",
     "Model.__mul__ = lambda self, x: x", "m = 2.0", "m = Other(2.0)"]),
    ("global", "g3(x)", "m = Model(2.0)", ["m = Model(2.0)", "m = Model(3.0)", "m.n = 4",
                                           "m = Slotted(2.0)", "m = Data(2.0, 7)"]),
    ("slots", "of(m.loss)(x)", "m = Slotted(2.0)", ["m = Slotted(2.0)", "m = Slotted(2)",
     "m = Slotted(2.0, 3)", "m.n = 4", "del m.n", "Slotted.loss = lambda self, x: x"]),
    ("data class", "of(m.loss)(x)", "m = Data()", ["m = Data()", "m = Data(3.0)", "m = Data(2, 2)",
     "m = Data(2.0, 3)", "m = Frozen(2.0, 3)", "Data.loss = lambda self, x: x + self.n"]),
    ("frozen data class", "of(m.loss)(x)", "m = Frozen()", ["m = Frozen()", "m = Frozen(3.0)",
     "m = Frozen(2, 2)", "m = dataclasses.replace(m, n=5)"]),
    ("enumeration", "of(m.loss)(x)", "m = Chosen(Mode.FAST)", ["m = Chosen(Mode.FAST)",
     "m = Chosen(Mode.SLOW)", "class Mode(enum.Enum):\n    FAST = 1\n    SLOW = 2",
     "m = Chosen(1)"]),
    ("identity", "of(m.loss)(x)", "i = Inner(1.0)\nm = Pair(i, i)", ["m = Pair(i, i)",
     "m = Pair(Inner(1.0), Inner(1.0))", "m.a = i", "m.b = i", "i.n = 3",
     "m = Pair(i, Inner(1.0))"]),
    ("attributes by a method", "of(m.loss)(x)", "m = Lazy(2.0)", ["m = Lazy(2.0)", "m = Lazy(3)",
     "m.missing = 5.0", "Lazy.missing = 6.0", "Lazy.__getattr__ = lambda self, name: 7.0"]),
    ("descriptor", "of(m.loss)(x)", "m = Described(2)", ["m = Described(2)", "m = Described(3)",
     "Described.s = Scaled(3.0)", "Described.__dict__['s'].k = 4.0", "m.s = 5.0",
     "Scaled.__get__ = lambda self, o, t: 6.0"]),
    ("class again", "of(m.loss)(x)", "m = Slotted(2.0)", [
     "class Slotted:\n    def __init__(self, k):\n        self.k = k\n"
     "    def loss(self, x):\n        return x + self.k\nm = Slotted(2.0)", "m = Slotted(2.0)",
     "class Slotted(Base):\n    __slots__ = ('k',)\n"
     "    def __init__(self, k):\n        self.k = k\n"
     "    def loss(self, x):\n        return self.extra(x) * self.k\nm = Slotted(2.0)"]),
    ("bases", "of(m.extra)(x)", "m = Model(2.0)", ["Model.__bases__ = (Middle,)",
     "Middle.d = 4.5", "Model.__bases__ = (Base,)", "m = Model(3.0)", "Base.d = 1"]),
    ("instance of a base", "of(asks)(x)", "m = Model(2.0)", ["Model.__bases__ = (Middle,)",
     "Model.__bases__ = (Base,)", "m = Middle()", "m = Model(2.0)"]),
    ("instance of a base, once", "g5(x)", "m = Model(2.0)", [
        "Model.__bases__ = (Middle,)", "Model.__bases__ = (Base,)", "m = Middle()", "m = Model()"]),
    ("instance of an abstract class", "g6(x)", "m = Model(2.0)", [
        "Abstract.register(Model)", "m = Slotted(2.0)", "Abstract.register(Slotted)"]),
    ("instance by a hook", "g7(x)", "m = Model(2.0)", [
        "Hook.__instancecheck__ = lambda cls, o: False", "m = Slotted(2.0)"]),
    ("subclass", "g8(x)", "m = Model(2.0)", [
        "Model.__bases__ = (Middle,)", "Model.__bases__ = (Base,)", "m = Middle()", "m = Model()"]),
    ("closure", "of(make(k))(x)", "k = 2.0", ["k = 3.0", "k = 2", "k = np.float32(2)", "k = -0.0",
                                              "k = 2.0", "k = np.array(2.0)"]),
    ("closure over an object", "of(over(m))(x)", "m = Model(2.0)", ["m = Model(2.0)", "m.k = 3",
                                                                    "m = Slotted(2.0)"]),
    ("lambda", "of(lam())(x)", "k = 2.0", ["k = 3.0", "k = 2", "k = 3"]),
    ("partial", "of(functools.partial(power, k))(x)", "k = 2.0", ["k = 3.0", "k = 2", "k = 3",
     "power = lambda k, x: x * k"]),
    ("partial of a method", "of(functools.partial(Model.loss, m))(x)", "m = Model(2.0)", [
     "m = Model(2.0)", "m = Model(2)", "Model.loss = lambda self, x: x"]),
    ("partial of an object", "of(functools.partial(at, m))(x)", "m = Model(2.0)", [
     "m = Model(2.0)", "m = Model(3)", "m.n = 5", "m = Slotted(2.0)"]),
    ("class method", "of(m.made)(x)", "m = Other(2.0)", ["m = Other(2.0)", "Other.c = 3",
     "Other.c = 3.5", "Other.made = classmethod(lambda cls, x: x)"]),
    ("static method", "of(Other.plain)(x)", "m = Other(2.0)", [
     "Other.plain = staticmethod(lambda x: x * 7.0)", "N = 4"]),
    ("data class of arrays", "g9(Point(x, n))", "n = 2", ["n = 3", "n = 2.5", "n = True",
     "Point.total = lambda self: self.v", "class Point(Point):\n    k = 4", "Point.k = 5"]),
    ("named tuple", "g9(Pair2(x, n))", "n = 2", ["n = 3", "n = 2.5", "Pair2.k = 5",
     "class Pair2(namedtuple('Pair2', 'n v')):\n    k = 3\n    def total(self):\n"
     "        return self.n * self.v * self.k"]),
    ("named tuple from outside", "g10(x)", "t = Pair2(2.0, 2)", ["t = Pair2(3.0, 2)",
     "t = Pair2(2.0, 3)", "t = Pair2(2, 2)", "t = (2.0, 2)", "Pair2.k = 5", "t = Pair2(2.0, 2)"]),
    ("object in a list", "g4(x)", "ms = [Model(2.0), Slotted(3.0)]", ["ms = [Model(2.0), Data()]",
     "ms[0] = Model(2.0)", "ms[0] = Model(2)", "ms.reverse()", "ms.append(Data(n=4))",
     "ms = {0: Model(2.0), 1: Data()}"]),
]
_FUNCTIONS = """
class Other(Model):
    def loss(self, x):
        return x - self.k
    def __call__(self, x):
        return x * 9.0
    def __mul__(self, x):
        return x - 1.0
    @classmethod
    def made(cls, x):
        return x * cls.c
    @staticmethod
    def plain(x):
        return x * N
class Abstract(abc.ABC):
    pass
class Hook(type):
    def __instancecheck__(cls, o):
        return hasattr(o, 'k')
class Hooked(metaclass=Hook):
    pass
def f6(x):
    return x * (2.0 if isinstance(m, Abstract) else 3.0)
def f7(x):
    return x * (2.0 if isinstance(m, Hooked) else 3.0)
def f8(x):
    return x * (2.0 if issubclass(type(m), Middle) else 3.0)
@dataclasses.dataclass
class Point:
    v: object
    n: object
    k = 3
    def total(self):
        return self.v * self.n * self.k
class Pair2(namedtuple('Pair2', 'v n')):
    k = 3
    def total(self):
        return self.v * self.n * self.k
def f9(p):
    return p.total() * (2.0 if type(p) is Point else 3.0)
def f10(x):
    return x * t[0] * t[-1] * (2.0 if type(t) is tuple else t.k)
class Middle(Base):
    d = 3.5
    c = 6
def over(m):
    return lambda x: m.loss(x)
def at(m, x):
    return m.loss(x) + m.n
def asks(x):
    return x * (2.0 if isinstance(m, Middle) else 3.0)
def f(x, m):
    return m.loss(x)
def f2(x, m):
    return m * x
def f3(x):
    return m.loss(x) * m.k
def f5(x):
    return asks(x)
def f4(x):
    r = x
    for k in ms:
        r = r + (ms[k] if isinstance(ms, dict) else k).loss(x)
    return r
"""
for _name, _call, _first, _changes in _ANEW:
    _text = f"{_MODEL}{_FUNCTIONS}{_first}"
    OBJECTS.append(case_of(f"anew: {_name}", _text, *_changes, call=_call))
    if _call.startswith("of("):
        _fn = _call.removeprefix("of").removesuffix("(x)")
        OBJECTS.append(case_of(f"once: {_name}", f"{_text}\ndef f(x):\n    return {_fn}(x)",
                               *_changes))

_CALLED = """
K = 2
def h(k):
    return k * 2
class P:
    def __init__(self, k, j=0):
        self.k, self.j = k, j
    def __eq__(self, o):
        return isinstance(o, P) and self.k == o.k
    def __hash__(self):
        return 1
    def rank(self):
        return h(self.k)
    def __lt__(self, o):
        return self.rank() < o.rank()
    def __str__(self):
        return 'a' * h(self.k)
    def __len__(self):
        return self.k + K
class S:
    def __setattr__(self, name, v):
        object.__setattr__(self, name, v)
@dataclasses.dataclass
class Data:
    k: int
    def __lt__(self, o):
        return self.k < o.k
p, q = P(1, 5), P(2, 7)
L = [p, q]
D = {p: 2, q: 3}
E = [Data(1), Data(2)]
def made():
    s = S()
    s.k = 2.0
    return s.k
"""
for _name, _read, _changes in [
    ("index", "L.index(P(2))", ["p.k = 5", "q.k = 1", "p.k = 2", "q.k = 2"]),
    ("membership", "(2.0 if P(1) in L else 3.0)", ["p.k = 5", "q.k = 1", "p.k = 1"]),
    ("membership in a tuple", "(2.0 if P(1) in (p, q) else 3.0)", ["p.k = 5", "q.k = 1"]),
    ("sorting", "sorted(L)[0].j", ["h = lambda k: -k", "h = lambda k: k * 2", "p.k = 9",
                                   "P.rank = lambda self: -self.k", "q.j = 8"]),
    ("sorting in place", "placed()", ["h = lambda k: -k", "p.k = 9", "L.reverse()"]),
    ("greatest", "max(L).j", ["h = lambda k: -k", "p.k = 9"]),
    ("text", "len(str(p))", ["h = lambda k: k * 3", "p.k = 9"]),
    ("text in a list", "len(str(E))", ["E[0].k = 100", "E[1] = Data(7)"]),
    ("text by format", "len('{}{}'.format(p, E))", ["h = lambda k: k * 3", "E[0].k = 100"]),
    ("key of a dict", "D.get(P(1), 9)", ["p.k = 5", "q.k = 1", "D[p] = 4"]),
    ("item of a dict", "{p: 2, q: 3}.get(P(2), 9)", ["p.k = 2", "q.k = 3"]),
    ("count", "L.count(P(1))", ["p.k = 5", "q.k = 1"]),
    ("set", "len(set([p, q, P(1)]))", ["p.k = 2", "P.__eq__ = lambda s, o: False"]),
    ("set display", "len({p, q, P(1)})", ["p.k = 3", "q.k = 1"]),
    ("equal lists", "(2.0 if L == [P(1), P(2)] else 3.0)", ["p.k = 2", "p.k = 1", "L.append(p)"]),
    ("equal data", "(2.0 if E == [Data(1), Data(2)] else 3.0)", ["E[0].k = 5", "E[0].k = 1",
                                                                 "E[0].k = True"]),
    ("index of data", "E.index(Data(2))", ["E[0].k = 2", "E[1].k = 2"]),
    ("greatest data", "max(E).k", ["E[0].k = 9", "E[1].k = 10"]),
    ("lengths", "sum(map(len, L))", ["p.k = 5", "K = 3", "P.__len__ = lambda self: 3"]),
    ("assignment", "made()",
     ["S.__setattr__ = lambda s, n, v: object.__setattr__(s, n, v * 2)", "del S.__setattr__",
      "S.__setattr__ = lambda s, n, v: object.__setattr__(s, n, v + 5)"]),
]:
    OBJECTS.append(case_of(
        f"called: {_name} of objects", f"{_CALLED}\ndef placed():\n    M = [*L]\n    M.sort()\n"
        f"    return M[0].j\ndef f(x):\n    return x * {_read}", *_changes,
        refused=_name == "key of a dict"))  # of which two may become equal
