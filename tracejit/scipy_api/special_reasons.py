"""Why functions of `scipy.special` are not captured."""

from __future__ import annotations

from tracejit.trace.ground.reasons import KNOWN_NUMBERS, SETTINGS, WhyNot, not_captured

__all__: list[str] = []

_ZEROS = ("ai_zeros bei_zeros beip_zeros ber_zeros berp_zeros bi_zeros erf_zeros fresnel_zeros "
          "fresnelc_zeros fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros kei_zeros "
          "keip_zeros kelvin_zeros ker_zeros kerp_zeros y0_zeros y1_zeros y1p_zeros yn_zeros "
          "ynp_zeros")
_POLYNOMIALS = ("legendre chebyt chebyu chebyc chebys jacobi laguerre genlaguerre hermite "
                "hermitenorm gegenbauer sh_legendre sh_chebyt sh_chebyu sh_jacobi")
_NODES = ("roots_legendre roots_chebyt roots_chebyu roots_chebyc roots_chebys roots_jacobi "
          "roots_laguerre roots_genlaguerre roots_hermite roots_hermitenorm roots_gegenbauer "
          "roots_sh_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_jacobi p_roots t_roots "
          "u_roots c_roots s_roots j_roots l_roots la_roots h_roots he_roots cg_roots ps_roots "
          "ts_roots us_roots js_roots")

not_captured("scipy.special", {
    SETTINGS: "errstate geterr seterr",
    KNOWN_NUMBERS: f"{_ZEROS} {_NODES} bernoulli euler",
    WhyNot("its values are ints, which have no derivative, of ints",
           "Call it on constants, or write them with scipy.special.gamma", plain=True):
        "factorial2 factorialk stirling2",
    WhyNot("it makes a polynomial object of constant parameters, which is captured where it is "
           "called", "Call scipy.special's eval_ function of its name, which takes parameters "
           "that depend on data", plain=True): _POLYNOMIALS,
    WhyNot("its numbers are coefficients of a series of constant parameters, found by continued "
           "fractions of a number of steps that depends on them", "Pass constants", plain=True):
        "mathieu_even_coef mathieu_odd_coef obl_cv_seq pro_cv_seq",
    WhyNot("it is of one number, and SciPy computes it by another recurrence on each side of 1",
           "Call scipy.special.hyp2f1, or write the recurrence where the side is known",
           plain=True): "lqn lqmn",
    WhyNot("it is of one number and one order, with the orders below it",
           "Call scipy.special.jv and gamma", plain=True): "lmbda",
    WhyNot("it is of one complex number, with all orders below one",
           "Call scipy.special.pbdv of real ones", plain=True): "pbdn_seq",
    WhyNot("it is an eigenvector of a matrix of its parameters, scaled by an integral",
           "Pass constants", plain=True): "ellip_harm ellip_harm_2 ellip_normal",
})
