"""Why functions of `scipy.stats` are not captured.

Functions that have a derivative and that nobody has written are not here: the page of what is
captured says so of them.
"""

from __future__ import annotations

from tracejit.scipy_api.matrix_reasons import RANDOM
from tracejit.scipy_api.model_reasons import MINIMA
from tracejit.trace.ground.reasons import WhyNot, not_captured

__all__ = ["ORDER_ALONE"]

ORDER_ALONE = WhyNot("it depends on the order of the numbers alone, so that its derivative is zero "
                     "wherever it has one", "Call it outside, on what the function returns",
                     plain=True)
"""A law perturbs the numbers, keeps their order, and compares results bit by bit."""

not_captured("scipy.stats", {
    ORDER_ALONE: "anderson_ksamp ansari brunnermunzel bws_test chatterjeexi cramervonmises_2samp "
                 "friedmanchisquare kruskal ks_2samp logrank mannwhitneyu median_test mood "
                 "page_trend_test percentileofscore ranksums somersd spearmanrho tiecorrect "
                 "weightedtau wilcoxon",
    WhyNot("it tests a table of counts, which are ints and have no derivative",
           "Call it outside", plain=True):
        "barnard_exact boschloo_exact fisher_exact random_table",
    WhyNot("Zolotarev's integrals lose their digits where alpha is next to 1 and in the tails, and "
           "no method with a known error for all shapes was found",
           "For alpha = 1 and 2 use cauchy, landau and norm, for alpha = 0.5 levy", plain=True):
        "levy_stable",
    RANDOM: "bootstrap dunnett goodness_of_fit monte_carlo_test multiscale_graphcorr ortho_group "
            "permutation_test power random_correlation sobol_indices special_ortho_group "
            "uniform_direction unitary_group",
    WhyNot("its numbers are counts, ints that have no derivative", "Call it outside", plain=True):
        "binomtest multivariate_hypergeom poisson_means_test",
    WhyNot("it counts the numbers below another, and counts have no derivative", "Call it outside",
           plain=True): "cumfreq quantile_test relfreq",
    WhyNot("it is the least cost of a linear program, at a corner which data decides",
           "Use wasserstein_distance of numbers, or energy_distance", plain=True):
        "wasserstein_distance_nd",
    WhyNot("it makes an object that says how numbers are drawn", "Use it outside", plain=True):
        "BootstrapMethod MonteCarloMethod PermutationMethod",
    WhyNot("it makes a random variable, an object or a class of them",
           "Use a distribution with its parameters, scipy.stats.norm.logpdf(x, m, s)", plain=True):
        "abs Binomial exp log Logistic make_distribution Mixture mvsdist Normal order_statistic "
        "rv_continuous rv_discrete rv_histogram truncate Uniform",
    WhyNot("it makes an object that holds data or a matrix", "Use arrays", plain=True):
        "CensoredData Covariance ecdf",
    WhyNot("data would decide how many numbers it keeps", "Use np.where with the bounds, and "
           "divide by the sum of the mask", plain=True): "sigmaclip",
    MINIMA: "boxcox_normmax fit ppcc_max yeojohnson_normmax",
})
