# SPDX-License-Identifier: Apache-2.0
"""More rows: jax.scipy, jax.numpy.linalg, jax.numpy.fft and jax.scipy.stats. See jax_functions.py."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import jax.scipy.optimize
import jax.scipy.spatial.transform
import numpy as np
from jax import lax
from jax_functions import A, B, I, P, Row, X, Y, binary, main, normal, unary

C, E = "contraction", "exact"
V = normal(8)
SQUARE = normal(5, 5) + 3 * np.eye(5, dtype=np.float32)
SYMMETRIC = (normal(6, 6) + normal(6, 6).T).astype(np.float32)
SPD = (SQUARE @ SQUARE.T + np.eye(5)).astype(np.float32)
TALL, WIDE = normal(7, 4), normal(3, 6)
HERMITIAN = (SYMMETRIC + 1j * (normal(6, 6) - normal(6, 6).T)).astype(np.complex64)
COMPLEX = (normal(5, 4) + 1j * normal(5, 4, seed=4)).astype(np.complex64)
SIGNAL = normal(64)
POSITIVE = np.abs(normal(3, 4)) + 0.3


def rebuilt_eigh(a: Any) -> Any:
    w, v = jnp.linalg.eigh(a)
    return w, (v * w[..., None, :]) @ v.conj().mT, v.conj().mT @ v


def rebuilt_svd(a: Any, full: bool = False) -> Any:
    u, s, v = jnp.linalg.svd(a, full_matrices=full)
    k = s.shape[-1]
    return s, (u[..., :k] * s[..., None, :]) @ v[..., :k, :], u.conj().mT @ u, v @ v.conj().mT


def rebuilt_qr(a: Any, pivoting: bool = False) -> Any:
    if pivoting:
        q, r, p = jsp.linalg.qr(a, mode="economic", pivoting=True)
        return q @ r, jnp.abs(jnp.diagonal(r)), p
    q, r = jnp.linalg.qr(a)
    return q @ r, jnp.abs(r), q.conj().mT @ q


def rebuilt_hessenberg(a: Any) -> Any:
    h, q = jsp.linalg.hessenberg(a, calc_q=True)
    return q @ h @ q.conj().T, jnp.abs(jnp.diagonal(h, -1)), jnp.tril(h, -2)


def tridiagonal(a: Any) -> Any:
    _, d, e, _ = lax.linalg.tridiagonal(a)
    return jnp.sum(d), jnp.sum(d**2) + 2 * jnp.sum(e**2)


def rebuilt_eig(a: Any) -> Any:
    """Vectors are unique but for a factor: what they fulfil, and the values by size."""
    w, v = jnp.linalg.eig(a)
    return jnp.sort(jnp.abs(w)), jnp.abs(a @ v - v * w[..., None, :]) + 1, jnp.linalg.norm(v, axis=-2)


def left_eig(a: Any) -> Any:
    w, left = lax.linalg.eig(a, compute_left_eigenvectors=True, compute_right_eigenvectors=False)
    return jnp.abs(left.conj().T @ a - w[:, None] * left.conj().T) + 1


def rebuilt_schur(a: Any) -> Any:
    t, z = jsp.linalg.schur(a)
    return z @ t @ z.conj().T, z.conj().T @ z, jnp.tril(t, -2)


def distribution(name: str, what: str, *arguments: Any, kind: str = C) -> Row:
    function = getattr(getattr(jsp.stats, name), what)
    return Row(f"stats.{name}.{what}", function, arguments, kind)


COUNTS, ONES = abs(I), np.ones_like(P)
STATS = [
    *[distribution("norm", what, X) for what in ["pdf", "logcdf", "sf", "logsf"]],
    *[distribution("norm", what, P) for what in ["ppf", "isf"]],
    *[distribution("beta", what, P, P + 0.5, P + 1.0) for what in ["pdf", "logpdf", "cdf", "logcdf", "sf"]],
    *[distribution("gamma", what, P * 3, P + 0.5) for what in ["pdf", "cdf", "logcdf", "sf"]],
    *[distribution("chi2", what, P * 3, P + 1.5) for what in ["pdf", "logpdf", "cdf", "sf"]],
    *[distribution("cauchy", what, X) for what in ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"]],
    *[distribution("cauchy", what, P) for what in ["ppf", "isf"]],
    *[distribution("expon", what, P * 3) for what in ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"]],
    *[distribution("laplace", what, X) for what in ["pdf", "logpdf", "cdf"]],
    *[distribution("logistic", what, X) for what in ["pdf", "logpdf", "cdf", "sf"]],
    *[distribution("logistic", what, P) for what in ["ppf", "isf"]],
    *[distribution("gumbel_l", what, X) for what in ["pdf", "logpdf", "cdf", "sf"]],
    *[distribution("gumbel_r", what, X) for what in ["pdf", "logpdf", "cdf", "sf"]],
    *[distribution("pareto", what, P + 1.2, P + 0.5) for what in ["pdf", "logpdf", "cdf", "sf"]],
    *[distribution("t", what, X, P * 4 + 1) for what in ["pdf", "logpdf"]],
    *[distribution("truncnorm", what, X, -2 * ONES, 2 * ONES) for what in ["pdf", "logpdf", "cdf", "sf"]],
    *[distribution("uniform", what, P) for what in ["pdf", "logpdf", "cdf", "ppf"]],
    *[distribution("vonmises", what, X, P * 2) for what in ["pdf", "logpdf"]],
    *[distribution("wrapcauchy", what, P, P) for what in ["pdf", "logpdf"]],
    *[distribution("gennorm", what, X, P + 1) for what in ["pdf", "logpdf", "cdf"]],
    *[distribution("bernoulli", what, I % 2, P) for what in ["pmf", "logpmf", "cdf"]],
    *[distribution("binom", what, COUNTS, COUNTS + 3, P) for what in ["pmf", "logpmf"]],
    *[distribution("betabinom", what, COUNTS, COUNTS + 3, P + 1, P + 2) for what in ["pmf", "logpmf"]],
    *[distribution("geom", what, COUNTS + 1, P) for what in ["pmf", "logpmf"]],
    *[distribution("nbinom", what, COUNTS, COUNTS + 2, P) for what in ["pmf", "logpmf"]],
    *[distribution("poisson", what, COUNTS, P * 4) for what in ["pmf", "cdf"]],
    distribution("dirichlet", "logpdf", np.float32([0.2, 0.3, 0.5]), np.float32([1.5, 2, 3])),
    distribution("multivariate_normal", "logpdf", X[:, :5], np.zeros(5, np.float32), SPD),
    Row("stats.multinomial.logpmf", lambda p: jsp.stats.multinomial.logpmf(
        jnp.array([1, 2, 3]), 6, p), [np.float32([0.2, 0.3, 0.5])], C),
    Row("stats.rankdata", jsp.stats.rankdata, [X]),
    Row("stats.sem", jsp.stats.sem, [X], C),
    Row("stats.mode", lambda i: jsp.stats.mode(i, axis=None), [I], E),
    Row("stats.gaussian_kde", lambda x, at: jsp.stats.gaussian_kde(x)(at), [normal(30), normal(5)], C),
]  # fmt: skip

LINALG = [
    Row("linalg.eigh vectors", rebuilt_eigh, [SYMMETRIC], C),
    Row("linalg.eigh of batches", rebuilt_eigh, [np.stack([SYMMETRIC, SYMMETRIC @ SYMMETRIC])], C),
    Row("linalg.eigh complex", rebuilt_eigh, [HERMITIAN], C),
    Row("linalg.eigh of an odd size", rebuilt_eigh, [SPD], C),
    Row("linalg.eigh of a diagonal", rebuilt_eigh, [np.diag(np.float32([3, -1, 2, 2, 0]))], C),
    Row("linalg.eigh of zeros", rebuilt_eigh, [np.zeros((3, 3), np.float32)], C),
    Row("linalg.eigh of one", rebuilt_eigh, [np.float32([[7]])], C),
    Row("linalg.eigh of nothing", rebuilt_eigh, [np.zeros((0, 0), np.float32)], C),
    Row("linalg.eigh upper triangle", lambda a: jnp.linalg.eigh(a, UPLO="U", symmetrize_input=False)[0], [A[:, :5]], C),
    Row("linalg.eigh of NaN", lambda a: jnp.isnan(jnp.linalg.eigvalsh(a)).all(), [np.full((3, 3), np.nan, np.float32)]),
    Row("linalg.eigh of great and small numbers", jnp.linalg.eigvalsh, [SYMMETRIC * np.float32(1e25)], C),
    Row("linalg.eigvalsh", jnp.linalg.eigvalsh, [SYMMETRIC], C),
    Row("vmap eigh", jax.vmap(rebuilt_eigh), [normal(4, 3, 3) + normal(4, 3, 3).mT], C),
    Row("grad eigvalsh", jax.grad(lambda a: jnp.sum(jnp.linalg.eigvalsh(a) ** 3)), [SYMMETRIC], C),
    Row("grad eigh", jax.grad(lambda a: jnp.sum(jnp.abs(jnp.linalg.eigh(a)[1][:, 0]))), [SYMMETRIC], C),
    Row("linalg.eig vectors", rebuilt_eig, [SQUARE], C),
    Row("linalg.eig of batches", rebuilt_eig, [normal(2, 3, 4, 4)], C),
    Row("linalg.eig complex", rebuilt_eig, [COMPLEX[:4]], C),
    Row("linalg.eig left vectors", left_eig, [SQUARE], C),
    Row("linalg.eig of one", rebuilt_eig, [np.float32([[7]])], C),
    Row("linalg.eigvals of nothing", jnp.linalg.eigvals, [np.zeros((0, 0), np.float32)], C),
    Row("linalg.eigvals of NaN", jnp.linalg.eigvals, [np.full((2, 2), np.nan, np.float32)], C),
    Row("vmap eigvals", jax.vmap(lambda a: jnp.sort(jnp.linalg.eigvals(a).real)), [normal(3, 4, 4)], C),
    Row("grad eigvals", jax.grad(lambda a: jnp.sum(jnp.abs(jnp.linalg.eigvals(a)))), [SQUARE], C),
    Row("linalg.eigvals in a loop", lambda a: lax.fori_loop(
        0, 3, lambda i, a: a / jnp.max(jnp.abs(jnp.linalg.eigvals(a))), a), [SQUARE], C),
    Row("linalg.eigvals sorted", lambda a: jnp.sort_complex(jnp.linalg.eigvals(a)), [SQUARE], C),
    Row("lax.sort of complex keys", lambda z, x: lax.sort((z, x), num_keys=1), [
        np.complex64([1 + 2j, 1 - 2j, -3, np.nan, 1 + 2j, 0]), np.arange(6, dtype=np.int32)], E),
    Row("lax.sort of numbers with complex ones", lambda z, x: lax.sort((x, z), num_keys=2), [
        np.complex64([1 + 2j, 1 - 2j, -3, 4j, 1 + 2j, 0]), np.int32([1, 1, 0, 2, 0, 1])], E),
    Row("linalg.cholesky of nothing", jnp.linalg.cholesky, [np.zeros((0, 0), np.float32)], E),
    Row("linalg.solve of nothing", jnp.linalg.solve, [np.zeros((0, 0), np.float32), np.zeros((0, 2), np.float32)], E),
    Row("scipy.linalg.schur", rebuilt_schur, [SQUARE], C),
    Row("scipy.linalg.schur complex", rebuilt_schur, [COMPLEX[:4]], C),
    Row("scipy.linalg.sqrtm", jsp.linalg.sqrtm, [SPD], C),
    Row("linalg.svd vectors", rebuilt_svd, [TALL], C),
    Row("linalg.svd wide", rebuilt_svd, [WIDE], C),
    Row("linalg.svd full", lambda a: rebuilt_svd(a, True), [TALL], C),
    Row("linalg.svd full wide", lambda a: rebuilt_svd(a, True), [WIDE], C),
    Row("linalg.svd complex", rebuilt_svd, [COMPLEX], C),
    Row("linalg.svd of a low rank", rebuilt_svd, [TALL[:, :2] @ TALL[:5, :2].T], C),
    Row("linalg.svd of batches", rebuilt_svd, [normal(2, 3, 5, 4)], C),
    Row("linalg.svd of zeros", lambda a: jnp.linalg.svd(a)[1], [np.zeros((3, 2), np.float32)], C),
    Row("linalg.svdvals", jnp.linalg.svdvals, [TALL], C),
    Row("grad svd", jax.grad(lambda a: jnp.sum(jnp.linalg.svd(a, compute_uv=False) ** 3)), [TALL], C),
    Row("grad nuclear norm", jax.grad(lambda a: jnp.linalg.norm(a, "nuc")), [TALL], C),
    Row("linalg.matrix_rank", jnp.linalg.matrix_rank, [TALL @ WIDE[:1, :4].T @ WIDE[:1, :4]], E),
    *[Row(f"linalg.norm {order}", lambda a, order=order: jnp.linalg.norm(a, order), [TALL], C)
      for order in (2, -2, "nuc", "fro", 1, np.inf, -1)],
    *[Row(f"linalg.cond {order}", lambda a, order=order: jnp.linalg.cond(a, order), [SQUARE], C)
      for order in (None, -2, 1, "fro")],
    Row("linalg.pinv complex", jnp.linalg.pinv, [COMPLEX], C),
    Row("linalg.pinv hermitian", lambda a: jnp.linalg.pinv(a, hermitian=True), [SPD], C),
    Row("linalg.lstsq", jnp.linalg.lstsq, [TALL, normal(7, 2)], C),
    Row("linalg.matrix_norm", jnp.linalg.matrix_norm, [TALL], C),
    Row("linalg.vector_norm", lambda x: jnp.linalg.vector_norm(x, ord=3), [V], C),
    Row("linalg.tensorinv", lambda a: jnp.linalg.tensorinv(a, ind=1), [SQUARE.reshape(5, 5, 1)], C),
    Row("linalg.tensorsolve", jnp.linalg.tensorsolve, [SQUARE.reshape(5, 5, 1), V[:5]], C),
    *binary(jnp.linalg, "vecdot tensordot", TALL, TALL.copy(), C)[:1],
    Row("linalg.qr", rebuilt_qr, [TALL], C),
    Row("linalg.qr wide", rebuilt_qr, [WIDE], C),
    Row("linalg.qr complex", rebuilt_qr, [COMPLEX], C),
    Row("linalg.qr pivoting", lambda a: rebuilt_qr(a, True), [TALL], C),
    Row("linalg.qr pivoting complex", lambda a: rebuilt_qr(a, True), [COMPLEX], C),
    Row("linalg.cholesky complex", jnp.linalg.cholesky, [HERMITIAN @ HERMITIAN.conj().T + 3 * np.eye(6)], C),
    Row("linalg.solve complex", jnp.linalg.solve, [HERMITIAN + 3j * np.eye(6, dtype=np.complex64), V[:6]], C),
    Row("linalg.inv complex", jnp.linalg.inv, [HERMITIAN + 3j * np.eye(6, dtype=np.complex64)], C),
    Row("linalg.det complex", jnp.linalg.det, [HERMITIAN], C),
    Row("prod complex", lambda z: (jnp.prod(z, axis=0), jnp.prod(z)), [COMPLEX], C),
    *[Row(f"triangular_solve complex {left} {lower} {transpose} {conjugate} {unit}",
          lambda a, b, left=left, lower=lower, transpose=transpose, conjugate=conjugate, unit=unit:
          lax.linalg.triangular_solve(a, b if left else b.T, left_side=left, lower=lower, transpose_a=transpose,
                                      conjugate_a=conjugate, unit_diagonal=unit),
          [HERMITIAN + 4 * np.eye(6, dtype=np.complex64), (normal(6, 2) + 1j).astype(np.complex64)], C)
      for left, lower, transpose, conjugate, unit in
      [(True, True, False, False, False), (False, True, True, False, False), (True, False, True, True, True)]],
    Row("lax.linalg.hessenberg", rebuilt_hessenberg, [SQUARE], C),
    Row("lax.linalg.hessenberg complex", rebuilt_hessenberg, [HERMITIAN], C),
    Row("lax.linalg.tridiagonal", tridiagonal, [SPD], C),
    Row("lax.linalg.tridiagonal_solve", lambda d, b: lax.linalg.tridiagonal_solve(
        jnp.full(5, 0.3).at[0].set(0), d, jnp.full(5, 0.2).at[-1].set(0), b),
        [np.float32([2, 3, 4, 3, 2]), normal(5, 2)], C),
    Row("lax.linalg.symmetric_product", lambda a, c: lax.linalg.symmetric_product(
        a, c, alpha=2.0, beta=0.5, symmetrize_output=True), [WIDE, SYMMETRIC[:3, :3]], C),
    Row("lax.linalg.cholesky_update", lambda a, v: lax.linalg.cholesky_update(jnp.linalg.cholesky(a).T, v),
        [SPD, V[:5]], C),
    Row("lax.linalg.qdwh", lambda a: lax.linalg.qdwh(a)[:2], [SQUARE], C),
    Row("lax.linalg.lu_pivots_to_permutation", lambda p: lax.linalg.lu_pivots_to_permutation(p, 5),
        [np.int32([2, 1, 4, 3])], E),
    Row("lax.linalg.householder_product", lambda a: lax.linalg.householder_product(
        a, jnp.full(4, 0.1)), [TALL], C),
    Row("scipy.linalg.polar", jsp.linalg.polar, [SQUARE], C),
    Row("scipy.linalg.eigh_tridiagonal", lambda d, e: jsp.linalg.eigh_tridiagonal(d, e, eigvals_only=True), [V, V[:7]],
        C),
    Row("scipy.linalg.lu_factor", lambda a, b: jsp.linalg.lu_solve(jsp.linalg.lu_factor(a), b), [SQUARE, V[:5]], C),
    Row("scipy.linalg.expm_frechet", jsp.linalg.expm_frechet, [SQUARE / 5, A[:, :5] / 5], C),
    *[Row(f"scipy.linalg.{name}", getattr(jsp.linalg, name), arguments, C) for name, arguments in [
        ("block_diag", [A, B]), ("toeplitz", [V]), ("hilbert", []), ("circulant", [V]), ("companion", [V + 3]),
        ("hankel", [V]), ("leslie", [V, V[:7]]), ("fiedler", [V]), ("fiedler_companion", [V + 3])] if arguments],
    *[Row(f"scipy.linalg.{name}", lambda name=name: getattr(jsp.linalg, name)(4), [], C)
      for name in ("hilbert", "hadamard", "helmert", "pascal", "invhilbert", "invpascal", "dft")],
    Row("scipy.linalg.convolution_matrix", lambda v: jsp.linalg.convolution_matrix(v, 4), [V], C),
]  # fmt: skip

SPECIAL = [
    *unary(jsp.special, "gammasgn i0e", X, C),
    *binary(jsp.special, "boxcox boxcox1p", P, X, C),
    *binary(jsp.special, "kl_div rel_entr", P, P[::-1].copy(), C),
    *unary(jsp.special, "fresnel sici", POSITIVE, C),
    Row("special.multigammaln", lambda x: jsp.special.multigammaln(x, 2), [P + 2], C),
    Row("special.expn", lambda x: jsp.special.expn(2, x), [P], C),
    Row("special.bessel_jn", lambda x: jsp.special.bessel_jn(x, v=3, n_iter=30), [np.float32([0.7, 1.5, 3.0])], C),
    Row("special.hyp1f1", lambda x: jsp.special.hyp1f1(1.5, 2.5, x), [P], C),
    Row("special.hyp2f1", lambda x: jsp.special.hyp2f1(0.5, 1.5, 2.5, x), [P * 0.8], C),
    Row("special.softmax", jsp.special.softmax, [X]),
    Row(
        "special.sph_harm_y",
        lambda t, p: jsp.special.sph_harm_y(jnp.array([2]), jnp.array([1]), t, p, n_max=3),
        [np.float32([0.4]), np.float32([1.2])],
        C,
    ),
    Row("special.digamma", jsp.special.digamma, [P * 4], C),
    Row("grad gammainc", jax.grad(lambda a: jnp.sum(jsp.special.gammainc(a, P))), [P + 1], C),
    Row("grad betainc", jax.grad(lambda x: jnp.sum(jsp.special.betainc(1.5, 2.5, x))), [P], C),
]

SIGNALS = [
    *unary(jnp.fft, "ifft fftn ifftn rfftn ihfft hfft fftshift ifftshift", normal(4, 6).astype(np.float32), C),
    *unary(jnp.fft, "rfft2 ifft2", normal(4, 6), C),
    Row("fft.irfft2", lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x)), [normal(4, 6)], C),
    Row("fft.irfftn", lambda x: jnp.fft.irfftn(jnp.fft.rfftn(x)), [normal(2, 4, 6)], C),
    Row("fft.fft n, axis and norm", lambda x: jnp.fft.fft(x, n=9, axis=0, norm="ortho"), [X], C),
    Row("fft.fftfreq", lambda: (jnp.fft.fftfreq(8, 0.1), jnp.fft.rfftfreq(7)), [], C),
    Row("fft of a prime length", jnp.fft.fft, [normal(31)], C),
    Row("grad fft", jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.fft(x)) ** 3)), [V], C),
    *unary(jsp.fft, "dct idct dctn idctn", X, C),
    Row("signal.fftconvolve", jsp.signal.fftconvolve, [SIGNAL, V], C),
    Row("signal.correlate2d", jsp.signal.correlate2d, [X, normal(3, 3)], C),
    Row("signal.detrend", jsp.signal.detrend, [SIGNAL], C),
    Row("signal.welch", lambda x: jsp.signal.welch(x, nperseg=16), [SIGNAL], C),
    Row("signal.csd", lambda x: jsp.signal.csd(x, x[::-1], nperseg=16), [SIGNAL], C),
    Row("signal.stft", lambda x: jsp.signal.stft(x, nperseg=16), [SIGNAL], C),
    Row("signal.istft", lambda x: jsp.signal.istft(jsp.signal.stft(x, nperseg=16)[2], nperseg=16), [SIGNAL], C),
    Row("ndimage.map_coordinates nearest", lambda x: jsp.ndimage.map_coordinates(
        x, [np.float32([-1, 5]), np.float32([2.2, 7])], 1, mode="nearest"), [X], C),
    Row("integrate.trapezoid", jsp.integrate.trapezoid, [X], C),
    Row("cluster.vq", jsp.cluster.vq.vq, [X, Y[:3]], C),
    Row("interpolate.RegularGridInterpolator", lambda v, at: jsp.interpolate.RegularGridInterpolator(
        (jnp.arange(4.0), jnp.arange(6.0)), v)(at), [X, np.float32([[0.3, 1.2], [2.9, 4.9]])], C),
    Row("optimize.minimize", lambda x: jsp.optimize.minimize(
        lambda x: jnp.sum((x - 1) ** 2), x, method="BFGS").x, [V], C),
    *[Row(f"sparse.linalg.{name}", lambda a, b, name=name: getattr(jsp.sparse.linalg, name)(
        lambda v: a @ v, b, tol=1e-7)[0], [SPD / 5 + 2 * np.eye(5, dtype=np.float32), V[:5]], C)
      for name in ("cg", "gmres", "bicgstab")],
    Row("spatial.Rotation", lambda q: jsp.spatial.transform.Rotation.from_quat(q).as_matrix(), [normal(4)], C),
    Row("spatial.Slerp", lambda q: jsp.spatial.transform.Rotation.from_quat(q).as_rotvec(), [normal(4)], C),
]  # fmt: skip

ROWS = [*LINALG, *SPECIAL, *SIGNALS, *STATS]


if __name__ == "__main__":
    main(ROWS)
