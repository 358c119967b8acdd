"""Why functions of `numpy.polynomial` are not captured."""

from __future__ import annotations

from tracejit.trace.ground.reasons import KNOWN_NUMBERS, SETTINGS, WhyNot, not_captured

__all__: list[str] = []

_TRIM = WhyNot("which coefficients it leaves out depends on their values",
               "Leave small ones in, or trim after the call", plain=True)

not_captured("numpy.polynomial", {SETTINGS: "set_default_printstyle"})
for _module, _prefix, _nodes in (
        ("polynomial", "poly", ""), ("chebyshev", "cheb", "chebgauss chebpts1 chebpts2"),
        ("legendre", "leg", "leggauss"), ("hermite", "herm", "hermgauss"),
        ("hermite_e", "herme", "hermegauss"), ("laguerre", "lag", "laggauss")):
    not_captured(f"numpy.polynomial.{_module}", {
        _TRIM: f"{_prefix}trim", **({KNOWN_NUMBERS: _nodes} if _nodes else {})})
