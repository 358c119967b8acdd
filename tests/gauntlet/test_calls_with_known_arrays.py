"""Functions of SciPy and NumPy that take no traced values, called with arrays from outside.

No argument comes into these calls, so that their results are constants of the program as long as
the arrays, lists and numbers hold what they held. The oracle is Python, before and after changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.interpolate
import scipy.io.wavfile
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse.csgraph
import scipy.spatial
import scipy.special
import scipy.stats

import tracejit

M = np.array([[2.0, 1.0], [1.0, 3.0]])
D = np.array([0.3, 1.2, 0.7, 2.0])
CUT = 0.2
L = [0.1, 0.5, 0.3]

EXPRESSIONS = [
    "(scipy.linalg.orth(M) @ x[:2]).sum()",
    "(scipy.linalg.schur(M)[0] @ x[:2]).sum()",
    "(scipy.linalg.null_space(M[:1]) * x[0]).sum()",
    "scipy.linalg.ldl(M)[1].sum() * x.sum()",
    "scipy.signal.lfilter(*scipy.signal.butter(3, CUT), x).sum()",
    "x[scipy.signal.find_peaks(D)[0]].sum() if x[0] > 0.0 else x[1]",
    "scipy.signal.find_peaks(D, height=CUT)[0].sum() * x.sum()",
    "scipy.signal.get_window(('kaiser', CUT), 4).sum() * x.sum()",
    "scipy.spatial.cKDTree(D[:, None]).query([[0.4], [1.0]])[0].sum() * x[1]",
    "x[scipy.spatial.cKDTree(D[:3, None]).query([0.4])[1]]",
    "scipy.spatial.Delaunay(np.stack([D, D[::-1] ** 2], 1)).simplices.shape[0] * x.sum()",
    "scipy.cluster.vq.kmeans2(D[:, None], 2, seed=3)[0].sum() * x.sum()",
    "x[scipy.optimize.linear_sum_assignment(M)[1]].sum()",
    "scipy.optimize.minimize(lambda v: ((v - 1) ** 2).sum(), np.zeros(2)).x.sum() * x.sum()",
    "scipy.sparse.csgraph.shortest_path(M).sum() * x.sum()",
    "scipy.stats.gaussian_kde(D)(D).sum() * x.sum()",
    "scipy.stats.shapiro(D).statistic * x.sum()",
    "scipy.stats.kstest(L, 'norm').statistic * x.sum()",
    "sum(scipy.stats.shapiro(D + k).statistic * x[k] for k in range(3))",
    "scipy.ndimage.label(D > CUT)[1] * x.sum()",
    "scipy.special.roots_jacobi(3, CUT, 0.5)[0].sum() * x.sum()",
    "np.polynomial.Polynomial(D)(0.5) * x.sum()",
    "scipy.stats.shapiro(changed(D)).statistic * x.sum()",
    "written(scipy.linalg.orth(M), x[0]).sum()",
    "scipy.signal.istft(scipy.signal.stft(x, nperseg=2)[2], nperseg=2)[1][:3] @ D[:3]",
    "scipy.signal.firwin(3, CUT) @ x + scipy.linalg.hessenberg(scipy.linalg.orth(M) * x[0])[0, 0]",
]
CHANGES = ["pass", "D[1] = 0.1; M[0, 0] = 4.0; L[0] = 0.9", "D = D[::-1] * 1.5; M = M.T @ M",
           "CUT = 0.35", "L = [0.2, 0.7]", "D[1] = 1.1; CUT = 0.2"]


def changed(x: np.ndarray) -> np.ndarray:
    y = x.copy()
    y[0] = 5.0
    return y


def written(x: np.ndarray, item: float) -> np.ndarray:
    y = x.copy()
    y[0] = item
    return y


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_calls_with_known_arrays_are_pythons(expression: str, tmp_path: Any) -> None:
    names = {**globals(), "M": M.copy(), "D": D.copy(), "L": L.copy()}
    file = tmp_path / "known.py"
    file.write_text(f"def f(x):\n    return {expression}\n")
    exec(compile(file.read_text(), file, "exec"), names)
    f, x = names["f"], np.array([0.5, 0.8, 1.1])
    compiled, gradient = tracejit.jit(f), tracejit.grad(f)
    with tracejit.config(disable_jit=True):
        for change in CHANGES:
            exec(change, names)
            np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)
            slopes = [(f(x + h) - f(x - h)) / 2e-6 for h in np.eye(3) * 1e-6]
            np.testing.assert_allclose(gradient(x), slopes, rtol=1e-6, atol=1e-8)


OF_SIZES = [
    "scipy.linalg.hilbert(len(x)) @ x", "scipy.signal.get_window('hann', x.size) * x",
    "scipy.signal.savgol_coeffs(2 * len(x) + 1, 2)[:len(x)] @ x",
    "scipy.linalg.pascal(x.shape[0], kind='lower')[-1] * x",
    "scipy.signal.remez(len(x), [0.0, 0.1, 0.2, 0.5], [1, 0]) @ x",
    "scipy.special.roots_legendre(len(x) - 1)[0].sum() * x",
    "sum(scipy.linalg.invhilbert(n)[n - 1, n - 1] * x[n] for n in range(1, len(x)))",
    "scipy.linalg.dft(k) @ x", "scipy.signal.buttap(k - 1)[1].real.sum() * x",
]


@pytest.mark.parametrize("expression", OF_SIZES)
def test_sizes_of_arguments_are_given_to_functions_that_are_not_captured(
        expression: str, tmp_path: Any) -> None:
    names = {**globals()}
    file = tmp_path / "sized.py"
    file.write_text(f"def f(x, k):\n    return {expression}\n")
    exec(compile(file.read_text(), file, "exec"), names)
    compiled = tracejit.jit(names["f"])
    with tracejit.config(disable_jit=True):
        for n in (5, 3, 7, 5):
            x = np.linspace(0.2, 1.1, n)
            np.testing.assert_allclose(compiled(x, n), names["f"](x, n), rtol=1e-12)


@pytest.mark.parametrize("expression", [
    "scipy.stats.shapiro(x).statistic", "scipy.signal.find_peaks(D * x[0])[0].sum() * x[0]",
    "scipy.optimize.fmin(lambda v: ((v - x[0]) ** 2).sum(), np.zeros(2)).sum()",
])
def test_calls_with_data_stay_refused(expression: str, tmp_path: Any) -> None:
    file = tmp_path / "known.py"
    file.write_text(f"def f(x):\n    return {expression}\n")
    names = {**globals()}
    exec(compile(file.read_text(), file, "exec"), names)
    with pytest.raises(tracejit.Refusal, match=r"known\.py:2: scipy\.\w+\.\w+ cannot be captured"):
        tracejit.jit(names["f"])(np.array([0.5, 0.8, 1.1]))


@pytest.mark.parametrize("expression", [
    "np.shares_memory(D, D)", "np.may_share_memory(D, D[1:])",
    "np.lib.array_utils.byte_bounds(D)[0]", "np.save('D.npy', D) is None",
    "np.savez('D.npz', D=D) is None", "np.savetxt('D.txt', D) is None",
    "scipy.io.mmwrite('D.mtx', M) is None", "scipy.io.savemat('D.mat', {'D': D}) is None",
    "scipy.io.wavfile.write('D.wav', 8000, D) is None", "D.tofile('D.bin') is None",
])
def test_calls_that_tell_more_than_contents_are_refused(expression: str, tmp_path: Any,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an array is, whether it is the user's own, and files that each call writes."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "known.py"
    file.write_text(f"def f(x):\n    return x[0] * ({expression})\n")
    names = {**globals()}
    exec(compile(file.read_text(), file, "exec"), names)
    with pytest.raises((tracejit.Refusal, AttributeError)):
        tracejit.jit(names["f"])(np.array([0.5, 0.8, 1.1]))


def test_arrays_that_objects_hold_are_not_written_to() -> None:
    """A tree has the memory of its points, not a copy; a function that is done holds nothing."""
    def whole(x: float) -> float:
        y = D.copy()[:, None]
        tree = scipy.spatial.cKDTree(y)
        y[0] = 9.0
        return x * tree.data[0, 0]

    def part(x: float) -> float:
        y = np.ones((4, 1))
        tree = scipy.spatial.cKDTree(y[1:])
        y += 9.0
        return x * tree.data[0, 0]

    def neither(x: float) -> float:
        y = D.copy()
        value = scipy.stats.shapiro(y).statistic
        y[0] = 9.0
        z = y[:, None] * 2.0
        tree = scipy.spatial.cKDTree(D[:, None])
        z[0] = 3.0
        return x * value + y.sum() + z.sum() + tree.data[0, 0]

    with tracejit.config(disable_jit=True):
        for f in (whole, part):
            with pytest.raises(tracejit.Refusal, match="code which is not captured holds"):
                tracejit.jit(f)(2.0)
        assert tracejit.jit(neither)(2.0) == pytest.approx(neither(2.0), rel=1e-12)


def test_what_was_called_is_told() -> None:
    def f(x: np.ndarray) -> float:
        return float(scipy.stats.shapiro(D).statistic) * x.sum()

    why = str(tracejit.jit(f).trace(np.ones(3)).why())
    assert "scipy.stats.shapiro was called while the function was captured" in why
