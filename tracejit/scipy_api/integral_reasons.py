"""Why functions of `scipy.integrate` and `scipy.spatial.distance` are not captured."""

from __future__ import annotations

from tracejit.trace.ground.reasons import DTYPES, KNOWN_NUMBERS, STEPS, WhyNot, not_captured

__all__: list[str] = []

_OF_NUMBERS = WhyNot("it asks whether a matrix is one of distances, which its numbers decide",
                     "Ask outside")
_ADAPTS = WhyNot("how many pieces it takes depends on the function's values in ways that SciPy "
                 "does not tell", "Use scipy.integrate.quad, or fixed_quad with as many points as "
                 "are needed")

not_captured("scipy.spatial.distance", {
    _OF_NUMBERS: "is_valid_dm is_valid_y", DTYPES: "num_obs_dm num_obs_y"})
not_captured("scipy.integrate", {
    STEPS: "BDF DOP853 DenseOutput LSODA OdeSolution OdeSolver RK23 RK45 Radau complex_ode ode",
    WhyNot("it is a collocation whose mesh is chosen by its residuals",
           "Write the equations of a fixed mesh, and solve them by Newton's method"): "solve_bvp",
    _ADAPTS: "cubature nsum quad_vec tanhsinh",
    WhyNot("its points are drawn at random", "Draw the points outside, and take the mean of the "
           "function at them"): "qmc_quad",
    KNOWN_NUMBERS: "lebedev_rule newton_cotes"})
