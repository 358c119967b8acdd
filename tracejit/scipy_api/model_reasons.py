"""Why functions of `scipy.ndimage`, `scipy.optimize` and `scipy.interpolate` are not captured."""

from __future__ import annotations

from tracejit.trace.ground.reasons import KNOWN_NUMBERS, WhyNot, not_captured

__all__: list[str] = []

YES_AND_NO = WhyNot("it tells of true and false elements, which no derivative goes through",
                    "Call it outside, and pass what it gives", plain=True)
REGIONS = WhyNot("data would decide how many regions or places it finds",
                 "Find them outside, and pass labels or places", plain=True)
POINTS = WhyNot("it calls a function for each point, with arrays that SciPy writes to",
                "Write the function of all windows, from "
                "np.lib.stride_tricks.sliding_window_view", plain=True)
MINIMA = WhyNot("it searches for a minimum, and a result where a search stops has no derivative of "
                "its own", "Use scipy.optimize.minimize or least_squares, or call it in a solver "
                "under tracejit.custom_root", plain=True)
DIFFERENCES = WhyNot("it takes differences for derivatives", "Use tracejit.grad or tracejit.jvp",
                     plain=True)
SOLUTIONS = WhyNot("it searches for a solution of several equations, and where a search stops has "
                   "no derivative of its own",
                   "Use scipy.optimize.root, or call it in a solver under tracejit.custom_root",
                   plain=True)
CHOICES = WhyNot("its result is a choice, or at a corner of its constraints, which data decides",
                 "Call it outside, and pass which constraints hold", plain=True)
OBJECTS = WhyNot("it makes an object that minimisers take or return", "Use it outside", plain=True)
KNOTS = WhyNot("data would decide how many knots its spline has",
               "Use scipy.interpolate.make_interp_spline, whose knots the places say, or "
               "make_lsq_spline", plain=True)

not_captured("scipy.ndimage", {
    YES_AND_NO: "binary_closing binary_dilation binary_erosion binary_fill_holes "
                "binary_hit_or_miss binary_opening binary_propagation distance_transform_bf "
                "distance_transform_cdt distance_transform_edt watershed_ift",
    REGIONS: "find_objects label value_indices",
    WhyNot("it tells places, as tuples of ints", "Use scipy.ndimage.minimum and maximum, and "
           "np.argmin and np.argmax for places", plain=True):
        "extrema maximum_position minimum_position",
    WhyNot("it counts numbers of regions, and counts have no derivative", "Use np.histogram of the "
           "numbers of each region", plain=True): "histogram",
    KNOWN_NUMBERS: "generate_binary_structure iterate_structure",
    POINTS: "generic_filter generic_filter1d generic_gradient_magnitude generic_laplace "
            "labeled_comprehension vectorized_filter",
    WhyNot("it calls a function for each point, with a tuple of ints",
           "Compute the coordinates of all points, and use scipy.ndimage.map_coordinates",
           plain=True): "geometric_transform",
    WhyNot("its factors are numbers of Bessel's functions at ellipses of which the size decides "
           "the kind", "Use fourier_gaussian or fourier_uniform", plain=True): "fourier_ellipsoid",
})
not_captured("scipy.optimize", {
    MINIMA: "basinhopping bracket brent brute differential_evolution direct "
            "dual_annealing fmin fmin_bfgs fmin_cg fmin_cobyla fmin_l_bfgs_b fmin_ncg fmin_powell "
            "fmin_slsqp fmin_tnc fminbound golden leastsq line_search shgo",
    SOLUTIONS: "anderson broyden1 broyden2 diagbroyden excitingmixing linearmixing "
               "newton_krylov",
    DIFFERENCES: "approx_fprime check_grad",
    CHOICES: "isotonic_regression linprog lsq_linear milp "
             "quadratic_assignment",
    OBJECTS: "BFGS Bounds BroydenFirst HessianUpdateStrategy InverseJacobian KrylovJacobian "
             "LbfgsInvHessProduct LinearConstraint NonlinearConstraint OptimizeResult RootResults "
             "SR1",
    WhyNot("it prints", "Call it outside", plain=True): "linprog_verbose_callback show_options",
})
SURFACES = WhyNot("FITPACK chooses the knots of its surface by the data",
                  "Use scipy.interpolate.RectBivariateSpline, RegularGridInterpolator or "
                  "RBFInterpolator", plain=True)
not_captured("scipy.interpolate", {
    KNOTS: "generate_knots make_splprep make_splrep splprep",
    SURFACES: "SmoothBivariateSpline SmoothSphereBivariateSpline bisplrep",
    WhyNot("FITPACK decides by a threshold which directions of its least squares it leaves out",
           "Use scipy.interpolate.RectBivariateSpline, or np.linalg.lstsq of products of splines",
           plain=True): "LSQBivariateSpline LSQSphereBivariateSpline",
    WhyNot("FITPACK tries values at the poles until its spline is smooth there",
           "Use scipy.interpolate.RectBivariateSpline away from the poles", plain=True):
        "RectSphereBivariateSpline",
    WhyNot("it is a class from which splines of two numbers inherit",
           "Use scipy.interpolate.RectBivariateSpline", plain=True): "BivariateSpline",
    WhyNot("data would decide how many zeros its spline has",
           "Find a zero by scipy.optimize.brentq of the spline", plain=True): "sproot",
    WhyNot("it chooses its points one after another, where the error is greatest",
           "Use scipy.interpolate.BarycentricInterpolator", plain=True): "AAA",
    WhyNot("slopes at its points are estimated by sweeps until they change by less than a "
           "tolerance", "Use LinearNDInterpolator or RBFInterpolator", plain=True):
        "CloughTocher2DInterpolator",
    WhyNot("it is not in SciPy any more", "Use scipy.interpolate.RectBivariateSpline",
           plain=True): "interp2d",
    WhyNot("it makes an np.poly1d of differences, by points around one",
           "Use tracejit.grad as often as the degree says", plain=True):
        "approximate_taylor_polynomial",
})
