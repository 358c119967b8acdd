"""The gallery's examples: known answers, gradients of differences, and a page with all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import tracejit
from examples.gallery import NAMES, _page, load
from examples.gallery._vectors import as_vector, slopes

Result = dict[str, Any]

SIZES: dict[str, dict[str, int]] = {
    "american_put": {"steps": 200}, "cart_pole": {"steps": 40}, "deconvolution": {"n": 48},
    "hamiltonian_monte_carlo": {"draws": 4000}, "heston": {"nodes": 48},
    "inverse_kinematics": {"points": 10}, "lennard_jones": {"starts": 12},
    "neural_ode": {"hidden": 16, "steps": 300}, "neuron": {"steps": 1000},
    "phase_retrieval": {"n": 24}, "qubit_pulse": {"steps": 20},
    "random_effects": {"laboratories": 12}, "rate_constants": {"points": 12},
    "registration": {"n": 60}, "sinkhorn": {"points": 30, "targets": 40},
    "tomography": {"n": 12}, "total_variation": {"n": 48},
    "waveform_inversion": {"n": 60, "steps": 500},
}
"""Arguments of `main` that make it short."""

STEPS = {"american_put": 1e-8}
"""Steps of differences where a kink is near."""


def american_put(r: Result) -> None:
    """Longstaff and Schwartz have 4.478 for exercise at fifty times.

    Twice price and strike give twice the value, and rate, variance and time scale together: Euler's
    theorem gives two relations of the derivatives.
    """
    S, K, rate, sigma, T = 36.0, 40.0, 0.06, 0.2, 1.0
    g = r["greeks"]
    assert r["value"] == pytest.approx(4.478, abs=0.02)
    assert S * g["delta"] + K * g["by strike"] == pytest.approx(r["value"], rel=1e-10)
    assert rate * g["rho"] + sigma / 2 * g["vega"] == pytest.approx(T * g["by time"], rel=1e-10)


def bundle_adjustment(r: Result) -> None:
    assert r["rms"] < 1e-6 and r["error"] < 1e-6


def burgers(r: Result) -> None:
    assert r["error"] < 0.03


def cart_pole(r: Result) -> None:
    np.testing.assert_allclose(r["path"][-1], [1.0, np.pi, 0.0, 0.0], atol=3e-3)


def deconvolution(r: Result) -> None:
    assert r["after"] > r["before"] + 12.0


def digits(r: Result) -> None:
    assert r["accuracy"] > 0.96


def equaliser(r: Result) -> None:
    """What the filter makes of the room's impulse is an impulse, by SciPy's own filtering."""
    assert r["uneven"] < 1e-3 and r["echo"] < 1e-3


def figure_eight(r: Result) -> None:
    """Simó (2001) has an action of 24.37197 over a period of 2 pi for Chenciner's and Montgomery's
    curve; Newton's equations, integrated by SciPy, close it."""
    assert 2 * np.pi * r["action"] == pytest.approx(24.37197, abs=2e-4)
    assert r["closes"] < 1e-3


def groundwater(r: Result) -> None:
    assert r["alike"] > 0.8
    assert r["misfit"] < 200.0


def hamiltonian_monte_carlo(r: Result) -> None:
    """Moments of the posterior by quadrature; some 1000 of the samples are independent."""
    spread = np.sqrt(np.diag(r["covariance"]))
    np.testing.assert_allclose(r["samples"].mean(axis=0) / spread, r["mean"] / spread, atol=0.15)
    np.testing.assert_allclose(r["samples"].std(axis=0), spread, rtol=0.1)
    assert 0.6 < r["accepted"] < 0.99


def heat_conduction(r: Result) -> None:
    assert r["error"] < 0.03


def heston(r: Result) -> None:
    np.testing.assert_allclose(r["parameters"], [0.04, 1.5, 0.06, 0.5, -0.7], rtol=1e-2)


def hueckel(r: Result) -> None:
    """Closed forms, and Coulson's relation: bonds of higher order are shorter."""
    assert r["butadiene"]["energy"] == pytest.approx(2 * np.sqrt(5), rel=1e-12)
    order = 2 / np.sqrt(5)
    np.testing.assert_allclose(r["butadiene"]["orders"], [order, order / 2, order], rtol=1e-10)
    np.testing.assert_allclose(r["benzene"]["orders"], np.full(6, 2 / 3), rtol=1e-10)
    for molecule in ("ethene", "butadiene", "benzene", "naphthalene"):  # alternant: no charges
        np.testing.assert_allclose(r[molecule]["charges"], 1.0, rtol=1e-10)
        assert 2 * r[molecule]["orders"].sum() == pytest.approx(r[molecule]["energy"])
    orders, lengths = r["lengths"].T
    assert np.corrcoef(orders, lengths)[0, 1] < -0.9


def hydrogen_molecule(r: Result) -> None:
    """Szabo and Ostlund have -1.1167 hartree at 1.4 bohr, and 1.346 bohr where it is least."""
    assert r["at 1.4"] == pytest.approx(-1.1167, abs=5e-5)
    assert r["length"] == pytest.approx(1.346, abs=5e-4)
    assert r["energy"] <= r["curve"].min()


def inverse_kinematics(r: Result) -> None:
    assert r["worst"] < 1e-6


def inverse_lqr(r: Result) -> None:
    np.testing.assert_allclose(r["weights"], [0.05, 1.0, 4.0], rtol=1e-3)
    assert np.abs(r["path"][-1]).max() < 0.3 * np.abs(r["path"]).max()  # the aircraft comes back


def laplace(r: Result) -> None:
    assert r["laplace"] == pytest.approx(r["exact"], abs=0.02)
    assert np.argmax(r["evidences"]) == 1  # counts grow exponentially: a line


def lens_design(r: Result) -> None:
    one, two = r["spots"]
    assert two < 0.1 * one  # the second glass cancels the colours of the first


def lennard_jones(r: Result) -> None:
    """Wales and Doye (1997); twelve starts need not find the icosahedron, all are above it."""
    assert np.all(r["energies"] > -44.326801 - 1e-5)
    assert r["energy"] < -41.0 and r["force"] < 1e-2
    if len(r["energies"]) >= 100:
        assert r["energy"] == pytest.approx(-44.326801, abs=1e-5)


def neural_ode(r: Result) -> None:
    assert r["pieces"] < 0.02


def neuron(r: Result) -> None:
    np.testing.assert_allclose(r["g"], [120.0, 36.0, 0.3], rtol=0.02)


def newton_logistic(r: Result) -> None:
    np.testing.assert_allclose(r["w"], r["known"], rtol=1e-8)
    assert r["sizes"][-1] < 1e-8 * r["sizes"][0]


def nile(r: Result) -> None:
    """Durbin and Koopman have 15099 and 1469.1."""
    assert r["noise"] == pytest.approx(15099, rel=2e-4)
    assert r["step"] == pytest.approx(1469.1, rel=2e-4)


def pharmacokinetics(r: Result) -> None:
    truth = np.log([1.1, 0.25, 0.5, 0.3, 12.0])
    assert np.all(np.abs(r["parameters"] - truth) < 3 * r["errors"])
    assert np.all(r["errors"] < 0.15)


def phase_retrieval(r: Result) -> None:
    assert r["error"] < 1e-3


def polymer(r: Result) -> None:
    np.testing.assert_allclose(r["k"], r["hidden"], rtol=1e-4)


def qubit_pulse(r: Result) -> None:
    assert r["after"] < 1e-6 < r["before"]
    assert r["leaks"] < 1e-6


def radial_velocity(r: Result) -> None:
    truth = np.array([4.23, 56.0, 0.35, 1.2, 0.8, -12.0])
    assert np.all(np.abs(r["orbit"] - truth) < 3 * r["errors"])
    assert r["value"] < len(r["times"])  # half a square of one for each, or so


def random_effects(r: Result) -> None:
    np.testing.assert_allclose(r["balanced"], r["known"], atol=1e-6)
    truth = np.array([5.0, np.log(0.8), np.log(0.5)])
    assert np.all(np.abs(r["theta"] - truth) < 3 * r["errors"])


def rate_constants(r: Result) -> None:
    truth = np.log([0.04, 3e7, 1e4])
    assert np.all(np.abs(r["log_k"] - truth) < 3 * r["errors"])
    assert np.all(r["errors"] < 0.02)


def registration(r: Result) -> None:
    np.testing.assert_allclose(r["motion"], [0.25, 0.1, 4.3, -2.6], atol=1e-3)


def risk_parity(r: Result) -> None:
    np.testing.assert_allclose(r["shares"], 1 / len(r["shares"]), rtol=1e-10)
    np.testing.assert_allclose(r["predicted"], r["actual"], atol=1e-3 * np.abs(r["actual"]).max())


def seir(r: Result) -> None:
    truth = np.array([0.55, 0.12, 40.0, 0.2, 0.15, 30.0])
    assert np.all(np.abs(r["parameters"] - truth) < 3 * r["errors"])
    assert np.all(r["errors"] < 0.5 * truth)


def sinkhorn(r: Result) -> None:
    assert r["after"] < 0.01 * r["before"]
    assert 0.7 < r["radius"].min() and r["radius"].max() < 1.1  # the points are on the ring


def thin_film(r: Result) -> None:
    assert r["one"] == pytest.approx(0.55 / 4 / np.sqrt(1.52), rel=1e-5)
    assert r["reflects"] < 0.1 < r["bare"]


def tomography(r: Result) -> None:
    assert r["alike"] > 0.7


def total_variation(r: Result) -> None:
    """The minimum has the mean of the noisy picture: the variation does not see a constant."""
    assert r["after"] > r["before"] + 6.0
    assert r["mean"] < 1e-4


def truss(r: Result) -> None:
    np.testing.assert_allclose(r["feet"], [1.0, -1.0], rtol=1e-4)  # Michell: 45 degrees
    assert r["after"] < 0.95 * r["before"]


def waveform_inversion(r: Result) -> None:
    assert r["error"] < 0.04 and r["misfit"] < 1e-4


def yield_curve(r: Result) -> None:
    assert r["error"] < 2e-3


def word_vectors(r: Result) -> None:
    assert r["alike"] > 0.85


ANSWERS: dict[str, Callable[[Result], None]] = {check.__name__: check for check in (
    american_put, bundle_adjustment, burgers, cart_pole, deconvolution, digits, equaliser,
    figure_eight, groundwater, hamiltonian_monte_carlo, heat_conduction, heston, hueckel,
    hydrogen_molecule, inverse_kinematics, inverse_lqr, laplace, lennard_jones, lens_design,
    neural_ode, neuron, newton_logistic, nile, pharmacokinetics, phase_retrieval, polymer,
    qubit_pulse, radial_velocity, random_effects, rate_constants, registration, risk_parity, seir,
    sinkhorn, thin_film, tomography, total_variation, truss, waveform_inversion, word_vectors,
    yield_curve)}


def wrong_slopes(name: str, gradient: Any) -> list[tuple[float, float]]:
    """Return the derivatives along directions, by a gradient and by differences, that differ."""
    function, arguments = load(name).problem()
    rows = as_vector(gradient)[0]
    pairs = [(float(rows @ direction), slope) for direction, slope in
             slopes(function, arguments, step=STEPS.get(name, 1e-5))]
    scale = max(abs(slope) for _, slope in pairs)
    return [(ours, slope) for ours, slope in pairs if not abs(ours - slope) < 1e-6 * scale]


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_known_ones_and_gradients_those_of_differences(
        name: str, capsys: pytest.CaptureFixture[str]) -> None:
    example = load(name)
    function, arguments = example.problem()
    with threadpool_limits(1):
        value, gradient = tracejit.value_and_grad(function)(*arguments)
        assert value == pytest.approx(function(*arguments), rel=1e-10)
        assert wrong_slopes(name, gradient) == []
        assert wrong_slopes(name, _a_little_wrong(gradient)) != []
        result = example.main(**SIZES.get(name, {}))
    ANSWERS[name](result)
    assert capsys.readouterr().out
    _is_drawn(example.plot, result)


def _a_little_wrong(gradient: Any) -> Any:
    vector, restored = as_vector(gradient)
    return restored(vector * 1.001)


def _is_drawn(plot: Callable[[Result, Any], None], result: Result) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots()
    plot(result, axes)
    figure.canvas.draw()
    assert axes.has_data()
    plt.close(figure)


def test_every_example_has_a_known_answer() -> None:
    assert set(ANSWERS) == set(NAMES)
    assert len(NAMES) >= 24


def test_every_example_is_on_the_page(expect_text: Callable[[Path, str], None]) -> None:
    expect_text(_page.PAGE, _page.page())
    text = _page.PAGE.read_text(encoding="utf-8")
    for name in NAMES:
        assert f"(../examples/gallery/{name}.py)" in text
        assert f"](gallery/{_page.picture(name).name})" in text


def test_pictures_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in _page.PICTURES.iterdir()}
    assert {Path(name).stem for name in sizes} == set(NAMES)
    assert sum(sizes.values()) < 1_500_000


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_short_and_say_what_they_are(name: str) -> None:
    lines = Path(str(load(name).__file__)).read_text(encoding="utf-8").splitlines()
    assert 40 <= len(lines) <= 120
    paragraphs = (load(name).__doc__ or "").strip().split("\n\n")
    assert len(paragraphs) == 3  # title, problem, what is learnt
