"""Functions with arguments that are unusual and valid: NumPy and SciPy are the oracles.

Negative axes and several, lists as arguments, layouts, options: values, dtypes and gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.spatial.distance
import scipy.special
import scipy.stats
from oracles import numeric_gradient

import tracejit
from tests.gauntlet.test_scipy_of_every_dtype import difference, leaves, outcome

RNG = np.random.default_rng(7)
X, V, Z = RNG.normal(size=(3, 4)), RNG.normal(size=7), RNG.normal(size=(2, 3, 4))
P, F, R = np.abs(V) + 0.3, np.asfortranarray(X), X[::-1, ::-1]

PROGRAMS: tuple[tuple[Callable[[Any], Any], np.ndarray], ...] = (
    (lambda x: np.sum(x, axis=(-1, 0), keepdims=True), Z),
    (lambda x: np.std(x, axis=-2, ddof=1, keepdims=True), F),
    (lambda x: np.var(x, axis=(0, 1), ddof=2), R),
    (lambda x: np.percentile(x, [10, 50, 90], axis=-1, keepdims=True), X),
    (lambda x: np.quantile(x, np.array([[.1, .2], [.3, .9]]), axis=(0, 1)), X),
    (lambda x: np.quantile(x, .25, axis=0, method='midpoint'), X),
    (lambda x: np.nanpercentile(np.where(x>1, np.nan, x), 30, axis=1), X),
    (lambda x: np.nanmedian(np.where(x>.5, np.nan, x), axis=(0, 1)), X),
    (lambda x: np.median(x, axis=(-1, 0)), Z),
    (lambda x: np.average(x, axis=-1, weights=[1, 2, 3, 4], returned=True), X),
    (lambda x: np.average(x, axis=(0, 1), weights=np.arange(12).reshape(3, 4)), X),
    (lambda x: np.cumprod(x[:, ::-1], axis=1), X),
    (lambda x: np.diff(x, n=2, axis=-1, prepend=0, append=[[1], [2], [3]]), X),
    (lambda x: np.gradient(x, 2., [0., 1., 3., 4.]), X),
    (lambda x: np.gradient(x, axis=-1, edge_order=2), X),
    (lambda x: np.trapezoid(x, [0, 1, 3], axis=0), X),
    (lambda x: np.trapezoid(x, dx=.5, axis=-1), F),
    (lambda x: np.clip(x, [-1, -.5, 0, .5], None), X),
    (lambda x: np.clip(x, a_min=None, a_max=.3), X),
    (lambda x: np.einsum('ij, kj->ik', x, x), X),
    (lambda x: np.einsum('...ij, ...j->...i', x, [1., 2, 3, 4]), Z),
    (lambda x: np.tensordot(x, x, axes=([0, 1], [0, 1])), X),
    (lambda x: np.tensordot(x, x, axes=[[-1], [-1]]), X),
    (lambda x: np.roll(x, (1, -1), axis=(0, 1)), X),
    (lambda x: np.rot90(x, k=-1, axes=(1, 0)), X),
    (lambda x: np.pad(x, ((1, 0), (0, 2)), mode='reflect'), X),
    (lambda x: np.pad(x, [(1, 2)], mode='linear_ramp', end_values=((0, 1), (2, 3))), X),
    (lambda x: np.pad(x, 1, mode='wrap'), X),
    (lambda x: np.interp([0., .5, 9.], np.sort(x), x, left=-1, right=2.), V),
    (lambda x: np.interp(x, [0., 1., 2.], [1, 3, 2], period=3), V),
    (lambda x: np.histogram(x, bins=[-2, -1, 0, 1, 2], density=True)[0], V),
    (lambda x: np.histogram(x, bins=4, range=(-1, 1), weights=x*x)[0], V),
    (lambda x: np.bincount([0, 1, 1, 3, 0, 2, 3], weights=x, minlength=6), V),
    (lambda x: np.linspace(x[0], x[1], 5, endpoint=False, retstep=True), V),
    (lambda x: np.linspace(x[:2], x[2:4], 4, axis=-1), V),
    (lambda x: np.geomspace(x[0], x[1], 4), P),
    (lambda x: np.logspace(x[0], x[1], 4, base=2), P),
    (lambda x: np.linalg.norm(x, axis=(0, 2), ord='fro', keepdims=True), Z),
    (lambda x: np.linalg.norm(x, ord=-np.inf, axis=-1), Z),
    (lambda x: np.linalg.norm(x, ord='nuc'), X),
    (lambda x: np.linalg.norm(x, 2, axis=(1, 2)), Z),
    (lambda x: np.linalg.solve(x@x.T+np.eye(3), x), X),
    (lambda x: np.linalg.lstsq(x.T, [1, 2, 3, 4], rcond=None)[0], X),
    (lambda x: np.linalg.pinv(x, rcond=1e-10), X),
    (lambda x: np.linalg.slogdet(x@x.T)[1], X),
    (lambda x: np.linalg.matrix_power(x[:, :3], -2), X),
    (lambda x: np.linalg.multi_dot([x, x.T, x]), X),
    (lambda x: np.linalg.svd(x, compute_uv=False), F),
    (lambda x: np.linalg.qr(x.T, mode='r'), X),
    (lambda x: np.linalg.eigvalsh(x@x.T, UPLO='U'), X),
    (lambda x: np.linalg.cond(x@x.T, 1), X),
    (lambda x: np.fft.fft(x, n=6, axis=0, norm='ortho'), X),
    (lambda x: np.fft.rfft(x, n=3, norm='forward'), V),
    (lambda x: np.fft.irfft(np.fft.rfft(x), n=7), V),
    (lambda x: np.fft.fft2(x, axes=(-2, -1)), Z),
    (lambda x: np.fft.fftshift(x, axes=(1, )), X),
    (lambda x: scipy.fft.dct(x, type=3, norm='ortho', axis=0), X),
    (lambda x: scipy.fft.idst(x, 2, n=5), V),
    (lambda x: scipy.fft.dctn(x, axes=[0], norm='ortho'), X),
    (lambda x: scipy.stats.skew(x, axis=-1, bias=False), X),
    (lambda x: scipy.stats.kurtosis(x, axis=None, fisher=False), X),
    (lambda x: scipy.stats.zscore(x, axis=1, ddof=1), X),
    (lambda x: scipy.stats.sem(x, axis=None), X),
    (lambda x: scipy.stats.iqr(x, axis=0, scale='normal', keepdims=True), X),
    (lambda x: scipy.stats.median_abs_deviation(x, axis=None, scale='normal'), X),
    (lambda x: tuple(scipy.stats.ttest_ind(x, [.1, .2, .5], equal_var=False)), V),
    (lambda x: tuple(scipy.stats.pearsonr(x, x**2+[1, 0, 0, 0, 0, 0, 2])), V),
    (lambda x: tuple(scipy.stats.linregress(np.arange(7), x))[:2], V),
    (lambda x: scipy.stats.norm.logpdf(x, loc=[[0], [1]], scale=2), V),
    (lambda x: scipy.stats.gamma.cdf(x, a=2, scale=.5), P),
    (lambda x: scipy.stats.t.sf(x, df=3), V),
    (lambda x: scipy.stats.beta.logpdf(x/5, 2, b=3), P),
    (lambda x: scipy.stats.multivariate_normal.logpdf(x, [0, 0, 0, 0], np.eye(4)*2), X),
    (lambda x: scipy.special.logsumexp(x, axis=(0, 1), b=[[1], [2], [0]]), X),
    (lambda x: scipy.special.softmax(x, axis=(0, -1)), X),
    (lambda x: scipy.special.xlogy([0, 1, 2], x[:3]), P),
    (lambda x: scipy.special.gammaln(x), V),
    (lambda x: scipy.special.multigammaln(x[0]+3, 2), P),
    (lambda x: scipy.special.comb(5, [0, 2, 7])*x[0], V),
    (lambda x: scipy.special.jv([[0], [1]], x), P),
    (lambda x: scipy.special.huber(.5, x), V),
    (lambda x: scipy.signal.lfilter([1.], [1., -.5], x, axis=0), X),
    (lambda x: scipy.signal.detrend(x, axis=0, type='constant'), X),
    (lambda x: scipy.signal.convolve(x, [[1, 2], [3, 4]], mode='same'), X),
    (lambda x: scipy.signal.correlate(x, x[:2, :2], mode='valid'), X),
    (lambda x: scipy.signal.hilbert(x, axis=0), X),
    (lambda x: scipy.signal.resample(x, 5, axis=1), X),
    (lambda x: scipy.signal.medfilt(x, 3), V),
    (lambda x: scipy.ndimage.gaussian_filter(x, (1, .5), mode='constant', cval=1.), X),
    (lambda x: scipy.ndimage.gaussian_filter1d(x, 1., axis=0, order=1, mode='wrap'), X),
    (lambda x: scipy.ndimage.uniform_filter(x, size=[3, 1], mode='mirror'), X),
    (lambda x: scipy.ndimage.map_coordinates(x, [[.5, 1.2], [1., 2.7]], order=1, mode='nearest'),
        X),
    (lambda x: scipy.ndimage.shift(x, [.5, 0], order=1, mode='constant', cval=2.), X),
    (lambda x: scipy.ndimage.sobel(x, axis=0, mode='constant'), X),
    (lambda x: scipy.ndimage.center_of_mass(x*x), X),
    (lambda x: scipy.integrate.simpson(x, axis=0, dx=.5), X),
    (lambda x: scipy.interpolate.CubicSpline(np.arange(7), x, bc_type=((1, 0.), (2, .5)))([0.5,
        7.], 1), V),
    (lambda x: scipy.interpolate.CubicSpline([0, 1, 2], x, axis=0, bc_type='natural')(1.5), X),
    (lambda x: scipy.interpolate.interp1d([0, 1, 2], x, axis=0, fill_value=(-1, 9),
        bounds_error=False)([-.5, .5, 3.]), X),
    (lambda x: scipy.interpolate.interp1d([2, 0, 1], x, axis=0, kind='nearest')([.6, 1.]), X),
    (lambda x: scipy.interpolate.interp1d(np.arange(4), x, kind='cubic',
        fill_value='extrapolate')([.6, 4.5]), X),
    (lambda x: scipy.interpolate.RegularGridInterpolator(([0, 1, 2], [0, 1, 2, 3]), x,
        bounds_error=False, fill_value=None)([[.5, .5], [3., 1.]]), X),
    (lambda x: scipy.interpolate.BarycentricInterpolator([0, 1, 2], x)([.5, 1.5]), X),
    (lambda x: scipy.linalg.solve(x@x.T+np.eye(3), [1, 2, 3], assume_a='pos', lower=True), X),
    (lambda x: scipy.linalg.cho_solve(scipy.linalg.cho_factor(x@x.T+np.eye(3)), [1, 2, 3]), X),
    (lambda x: scipy.linalg.expm(x[:, :3]), X),
    (lambda x: scipy.linalg.expm(np.stack([x[:, :3], x[:, 1:]])), X),
    (lambda x: scipy.linalg.toeplitz(x[0], x[:, 0]), X),
    (lambda x: scipy.linalg.solve_toeplitz((x[0]+[9, 0, 0, 0], x[1]), x[2]), X),
    (lambda x: scipy.linalg.block_diag(x, [1, 2], 3), X),
    (lambda x: scipy.linalg.norm(x, ord=1, axis=(1, 0)), X),
    (lambda x: scipy.linalg.lu(x)[2], X),
    (lambda x: scipy.linalg.svdvals(x), X),
    (lambda x: scipy.spatial.distance.cdist(x, x[:2]+1, 'minkowski', p=3), X),
    (lambda x: scipy.spatial.distance.pdist(x, 'seuclidean', V=[1, 2, 3, 4]), X),
    (lambda x: scipy.optimize.rosen(x), X),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", range(len(PROGRAMS)))
def test_values_and_gradients_are_the_librarys(program: int) -> None:
    f, x = PROGRAMS[program]
    ours, theirs = (outcome(f, (x,), captured) for captured in (True, False))
    assert not isinstance(ours, Exception)
    assert difference(ours, theirs) == ""

    def total(x: Any) -> Any:
        return sum(np.sum(np.real(part) * 0.7 + np.imag(part) * 0.3) for part in leaves(f(x)))

    with tracejit.config(disable_jit=True):
        by_x = tracejit.grad(total)(x)
    numeric = numeric_gradient(total, [x.copy()], 0, 1e-6)
    assert np.allclose(by_x, numeric, rtol=1e-5, atol=1e-6)
