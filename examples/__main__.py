"""The demo: three models, how well they fit, what their gradients cost, and one of the kernels."""

from __future__ import annotations

from time import perf_counter

from threadpoolctl import threadpool_limits

import tracejit
from examples import gaussian_process, logistic_regression, lotka_volterra
from examples.fitting import Fit, gradient_error, measure

EXAMPLES = (logistic_regression, gaussian_process, lotka_volterra)


def report(title: str, fit: Fit) -> None:
    """Print one fit."""
    seconds = measure(fit)
    faster = seconds["differences"] / seconds["compiled"]
    lines = {name: f"{value:.4g}" for name, value in fit.quality.items()}
    lines |= {
        "evaluations until converged": str(fit.evaluations),
        "gradient against central differences": f"{gradient_error(fit):.1e} (relative)",
        "first call, compilation included": f"{seconds['first call']:.2f} s",
        "value and gradient": f"{1e3 * seconds['compiled']:.4g} ms a call",
        "value and scipy's approx_fprime": f"{1e3 * seconds['differences']:.4g} ms, "
                                           f"{faster:.0f} times as long"}
    print(f"\n{title}")
    for name, value in lines.items():
        print(f"  {name:<40}{value}")


def main() -> None:
    """Run the demo, with one thread for BLAS: matrices of 200 rows are too small for more."""
    begin = perf_counter()
    tracejit.grad(lambda x: x * x)(3.0)
    print(f"A first gradient, which starts Numba: {perf_counter() - begin:.2f} s")
    with threadpool_limits(1):
        fits = [example.fit() for example in EXAMPLES]
        for example, fit in zip(EXAMPLES, fits, strict=True):
            report(example.TITLE, fit)
    print("\nThe kernel of the logistic regression, value and gradient, as emitted for Numba:\n")
    print(fits[0].objective.trace(fits[0].start, *fits[0].data).lower().source)
    print(f"The demo took {perf_counter() - begin:.1f} s.")


if __name__ == "__main__":
    main()
