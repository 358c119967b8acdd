"""State that changes after the first call

A compiler that captures a function once sees its globals, closures and attributes once. The next
call has the first call's numbers, unless something compares them.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gauntlet.program import asked

SYMBOLIC = "a graph has shared variables or parameters for this, which are passed on purpose"
K = 2.0
WEIGHTS = np.array([1.0, 2.0, 3.0])
SETTINGS = {"power": 2}
CALLS = 0


def cube_times_k(x):
    return K * x ** 3


def global_number(tool):
    global K
    K = 2.0
    slope = tool.grad(cube_times_k)
    slope(2.0)
    K = 5.0
    return slope(2.0)


def closure_number(tool):
    k = 2.0

    def f(x):
        return k * x ** 3

    slope = tool.grad(f)
    slope(2.0)
    k = 5.0
    return slope(2.0)


def array_changed_later(tool):
    weights = np.array([1.0, 2.0, 3.0])

    def f(x):
        return (x * x * weights[2]) * weights[0]

    slope = tool.grad(f)
    slope(2.0)
    weights[2] = 10.0
    return slope(2.0)


class Spring:
    """A model with a parameter."""

    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, x):
        return 0.5 * self.stiffness * x * x


def attribute_of_a_model(tool):
    spring = Spring(1.0)
    force = tool.grad(spring.energy)
    force(2.0)
    spring.stiffness = 4.0
    return force(2.0)


def setting_in_a_dict(tool):
    SETTINGS["power"] = 2
    slope = tool.grad(lambda x: x ** SETTINGS["power"])
    slope(2.0)
    SETTINGS["power"] = 3
    return slope(2.0)


def helper(x):
    return x * x


def first_helper(x):
    return x * x


def second_helper(x):
    return x * x * x


def function_replaced(tool):
    global helper
    helper = first_helper
    slope = tool.grad(lambda x: 2.0 * helper(x))
    slope(2.0)
    helper = second_helper
    return slope(2.0)


def mutable_default(tool):
    def f(x, seen=[]):  # noqa: B006 - that is what is asked
        seen.append(1)
        return x * x * len(seen)

    slope = tool.grad(f)
    return [slope(1.0) for _ in range(5)][-1]


def counter(tool):
    global CALLS
    CALLS = 0

    def f(x):
        global CALLS
        CALLS += 1
        return x * x

    slope = tool.grad(f)
    for _ in range(5):
        slope(1.0)
    return CALLS


def list_in_a_closure_grows(tool):
    terms = [1.0]

    def f(x):
        total = 0.0
        for k in terms:
            total = total + k * x * x
        return total

    slope = tool.grad(f)
    slope(1.0)
    terms.append(10.0)
    return slope(1.0)


PYTENSOR_CASADI = {"PyTensor": SYMBOLIC, "CasADi": SYMBOLIC}

PROGRAMS = [
    asked("`K = 5` between two calls of the gradient of K x³ at 2", global_number, 60.0,
          cites=("jax-ml/jax#1426",), **PYTENSOR_CASADI),
    asked("the same with a variable of an enclosing function", closure_number, 60.0,
          cites=("jax-ml/jax#1426",), **PYTENSOR_CASADI),
    asked("an element of a closed-over array changes", array_changed_later, 40.0,
          **PYTENSOR_CASADI),
    asked("`spring.stiffness = 4` between two calls of a bound method's gradient",
          attribute_of_a_model, 8.0, **PYTENSOR_CASADI),
    asked("`SETTINGS[\"power\"] = 3` between two calls", setting_in_a_dict, 12.0,
          **PYTENSOR_CASADI),
    asked("a function that is called gets another definition", function_replaced, 24.0,
          **PYTENSOR_CASADI),
    asked("a default argument `seen=[]` grows at each call; the fifth gradient",
          mutable_default, 10.0, **PYTENSOR_CASADI),
    asked("`CALLS += 1` in the function; the count after five calls", counter, 5,
          **PYTENSOR_CASADI),
    asked("a list in a closure grows between two calls", list_in_a_closure_grows, 22.0,
          **PYTENSOR_CASADI),
]
