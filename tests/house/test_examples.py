"""The demo's models: they fit, as well as they did, and by right gradients."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from examples import __main__ as demo
from examples import gaussian_process, logistic_regression, lotka_volterra, stop_gradients
from examples.fitting import Fit, gradient_error

FITS = {"logistic": logistic_regression.fit, "lotka": lotka_volterra.fit,
        "gaussian": functools.partial(gaussian_process.fit, rows=100)}


@functools.cache
def _fit(name: str) -> Fit:
    with threadpool_limits(1):
        return FITS[name]()


@pytest.mark.parametrize("name", FITS)
def test_gradient_is_that_of_central_differences(name: str) -> None:
    assert gradient_error(_fit(name)) < 1e-7


@pytest.mark.parametrize("name", FITS)
def test_nothing_near_the_minimum_is_lower(name: str) -> None:
    fit = _fit(name)
    rng = np.random.default_rng(0)
    for _ in range(20):
        nearby = fit.parameters + 0.01 * rng.standard_normal(fit.parameters.size)
        assert fit.loss(nearby, *fit.data) > fit.value


def test_the_regression_tells_tumours_apart() -> None:
    quality = _fit("logistic").quality
    assert quality["accuracy on 142 held-out cases"] > 0.95
    assert quality["log-likelihood per held-out case"] > -0.11


def test_the_process_explains_patients_that_it_has_not_seen() -> None:
    quality = _fit("gaussian").quality
    assert quality["log marginal likelihood"] > -117
    assert quality["R^2 on 342 held-out rows"] > 0.45


def test_the_rates_are_those_published() -> None:
    """Carpenter (2018) has 0.55, 0.028, 0.80, 0.024, 33.96 and 5.95 as posterior means."""
    fit = _fit("lotka")
    published = [0.55, 0.028, 0.80, 0.024, 33.96, 5.95]
    np.testing.assert_allclose(np.exp(fit.parameters), published, rtol=0.06)
    assert fit.quality["R^2 of log counts"] > 0.9


def test_the_demo_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    times = {"first call": 1.0, "compiled": 1e-5, "differences": 1e-3}
    monkeypatch.setattr(demo, "measure", lambda fit: times)
    monkeypatch.setattr(demo, "EXAMPLES", [_Fitted(m.TITLE, name) for name, m in (
        ("logistic", logistic_regression), ("gaussian", gaussian_process),
        ("lotka", lotka_volterra))])
    demo.main()
    printed = capsys.readouterr().out
    for module in (logistic_regression, gaussian_process, lotka_volterra):
        assert module.TITLE in printed
    assert "100 times as long" in printed
    assert "def kernel(" in printed


class _Fitted:
    """An example that is fitted already."""

    def __init__(self, title: str, name: str) -> None:
        self.TITLE = title
        self.fit: Any = functools.partial(_fit, name)


# --- where gradients stop -------------------------------------------------------------------------


def test_the_mixture_finds_the_species() -> None:
    results = stop_gradients.mixture()
    assert results["log-likelihood after"] > results["log-likelihood before"] + 2.0
    assert results["agreement with the species (adjusted Rand)"] > 0.7
    assert results["gradient against that of the likelihood"] < 1e-12  # Fisher's identity
    assert results["the same without stop_gradient"] > 0.1


def test_the_boltzmann_machine_reconstructs_digits() -> None:
    results = stop_gradients.boltzmann_machine()
    assert results["reconstruction error after"] < 0.3 * results["reconstruction error before"]
    assert results["gradient without stop_gradient, relative difference"] > 0.1


def test_training_against_the_adversary_helps_against_it() -> None:
    results = stop_gradients.adversary(steps=100)
    assert results["accuracy, trained without"] > 0.95
    assert results["accuracy under attack, trained against the adversary"] > (
        results["accuracy under attack, trained without"] + 0.2)
