# SPDX-License-Identifier: Apache-2.0
"""Pivoted QR, Hessenberg and tridiagonal forms, and complex matrices, by calls of LAPACK, compared with LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from test_expansions import type_of
from test_lapack import call, matrices, sizes
from ttmlir.ir import MLIRError

lapack = pytest.importorskip("scipy.linalg.lapack", reason="scipy is not installed: pip install scipy")

DTYPES = [torch.float32, torch.complex64]
NAMES = {torch.float32: "f32", torch.complex64: "complex<f32>"}
IDS = ["real", "complex"]


def of_lapack(routine: str, dtype: torch.dtype) -> Any:
    return getattr(lapack, ("c" if dtype.is_complex else "s") + routine)


def close(found: torch.Tensor, expected: np.ndarray, tolerance: float = 1e-4) -> None:
    torch.testing.assert_close(found, torch.from_numpy(np.ascontiguousarray(expected)), rtol=1e-4, atol=tolerance)


def each(a: torch.Tensor) -> list[tuple[tuple[int, ...], np.ndarray]]:
    return [(place, a[place].numpy()) for place in np.ndindex(*a.shape[:-2])]


@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (6, 3), (3, 6), (2, 3, 5, 5), (33, 20)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=IDS)
def test_geqp3(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """Columns that must come first come first, in their order."""
    a = matrices(*shape, dtype=dtype)
    *batch, m, n = shape
    pivots = torch.zeros((*batch, n), dtype=torch.int32)
    if n > 2:
        pivots[..., 2] = 1
    taus = sizes((*batch, min(m, n)), NAMES[dtype])
    r, order, factors = call("geqp3", {"a": a, "p": pivots}, [type_of(a), type_of(pivots), taus])
    for place, matrix in each(a):
        # scipy takes no columns that lead: they are given to it in front.
        first = pivots[place].numpy() != 0
        moved = np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)])
        q, tau, *_ = of_lapack("geqrf", dtype)(matrix[:, order[place].numpy() - 1])
        close(r[place], q)
        close(factors[place], tau)
        if n > 2:
            assert order[place][0] == 3
        else:
            _, expected, *_ = of_lapack("geqp3", dtype)(matrix[:, moved])
            assert order[place].tolist() == expected.tolist()
        lengths = np.abs(np.diagonal(q))[int(first.sum()) :]
        assert (lengths[:-1] >= lengths[1:] * (1 - 1e-5)).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=IDS)
def test_geqp3_without_columns_that_lead(dtype: torch.dtype) -> None:
    """Also of columns of equal length, of which the first one is taken, and of zeros."""
    a = torch.stack([matrices(5, 4, seed=3, dtype=dtype), torch.eye(5, 4, dtype=dtype), torch.zeros(5, 4, dtype=dtype)])
    pivots = torch.zeros((3, 4), dtype=torch.int32)
    r, order, factors = call("geqp3", {"a": a, "p": pivots}, [type_of(a), type_of(pivots), sizes((3, 4), NAMES[dtype])])
    for place, matrix in each(a):
        expected, jpvt, tau, *_ = of_lapack("geqp3", dtype)(matrix)
        assert order[place].tolist() == jpvt.tolist()
        close(r[place].abs(), np.abs(expected))
        close(factors[place], tau)


@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (2, 2), (2, 3, 5, 5), (17, 17)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=IDS)
def test_gehrd(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    a = matrices(*shape, seed=1, dtype=dtype)
    *batch, n = shape[:-1]
    results = [type_of(a), sizes((*batch, n - 1), NAMES[dtype]), sizes(tuple(batch), "i32")]
    form, taus, info = call("gehrd", {"a": a}, results, low=1, high=n)
    assert not info.any()
    for place, matrix in each(a):
        expected, tau, _ = of_lapack("gehrd", dtype)(matrix)
        close(form[place], expected)
        if n > 1:
            close(taus[place], tau[: n - 1])


@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (2, 2), (2, 3, 5, 5), (17, 17)], ids=str)
@pytest.mark.parametrize("triangle", ["L", "U"])
@pytest.mark.parametrize("dtype", DTYPES, ids=IDS)
def test_sytrd(shape: tuple[int, ...], triangle: str, dtype: torch.dtype) -> None:
    """The other triangle, and the imaginary part of the diagonal, are not read."""
    a = matrices(*shape, seed=2, dtype=dtype)
    *batch, n = shape[:-1]
    rows = [sizes((*batch, size), "f32") for size in (n, n - 1)]
    results = [type_of(a), *rows, sizes((*batch, n - 1), NAMES[dtype]), sizes(tuple(batch), "i32")]
    routine = "hetrd" if dtype.is_complex else "sytrd"
    form, diagonal, below, taus, info = call(routine, {"a": a}, results, uplo=triangle)
    assert not info.any()
    for place, matrix in each(a):
        expected, d, e, tau, _ = of_lapack(routine, dtype)(matrix, lower=triangle == "L")
        side = np.tril if triangle == "L" else np.triu
        close(torch.from_numpy(side(form[place].numpy())), side(expected))
        close(diagonal[place], d)
        if n > 1:
            close(below[place], e)
            close(taus[place], tau)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 5), (2, 3, 8, 8), (21, 21)], ids=str)
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_heevd(shape: tuple[int, ...], triangle: str) -> None:
    a = matrices(*shape, seed=2, dtype=torch.complex64)
    whole = a.tril() + a.tril(-1).mH if triangle == "L" else a.triu() + a.triu(1).mH
    whole = whole - torch.diag_embed(1j * whole.diagonal(dim1=-2, dim2=-1).imag)
    batch, n = shape[:-2], shape[-1]
    results = [type_of(a), sizes((*batch, n), "f32"), sizes(batch, "i32")]
    vectors, values, info = call("heevd", {"a": a}, results, mode="V", uplo=triangle)
    torch.testing.assert_close(values, torch.linalg.eigvalsh(whole.cdouble()).float(), rtol=1e-5, atol=2e-5)
    torch.testing.assert_close(whole @ vectors, vectors * values[..., None, :].cfloat(), rtol=1e-4, atol=5e-5)
    eye = torch.eye(n, dtype=torch.complex64).expand(*batch, n, n)
    torch.testing.assert_close(vectors.mH @ vectors, eye, rtol=1e-4, atol=2e-5)
    assert not info.any()


def test_eigenvalues_of_nan_are_told() -> None:
    a = torch.stack([torch.full((3, 3), torch.nan), torch.eye(3), torch.full((3, 3), torch.inf)])
    _, values, info = call("syevd", {"a": a}, [type_of(a), "tensor<3x3xf32>", "tensor<3xi32>"], mode="V", uplo="L")
    assert info.tolist() == [1, 0, 1]
    assert values[1].tolist() == [1, 1, 1]


@pytest.mark.parametrize("triangle", ["L", "U"])
def test_complex_potrf(triangle: str) -> None:
    a = matrices(3, 5, 5, seed=4, dtype=torch.complex64)
    a = a @ a.mH + torch.eye(5)
    a[1, 2, 2] = -9
    results = [type_of(a), "tensor<3xi32>"]
    factor, info = call("potrf", {"a": a}, results, uplo=triangle)
    expected = torch.linalg.cholesky_ex(a, upper=triangle == "U")
    assert info.tolist() == expected.info.tolist() == [0, 3, 0]
    torch.testing.assert_close(factor[[0, 2]], expected.L[[0, 2]], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("transpose", ["N", "T", "C"])
@pytest.mark.parametrize("side", ["L", "R"])
def test_complex_trsm(transpose: str, side: str) -> None:
    a = matrices(2, 4, 4, seed=5, dtype=torch.complex64) + 4 * torch.eye(4)
    b = matrices(2, 4, 4, seed=6, dtype=torch.complex64)
    (found,) = call("trsm", {"a": a, "b": b}, [type_of(b)], side=side, uplo="L", trans_x=transpose, diag="N")
    op = {"N": a.tril(), "T": a.tril().mT, "C": a.tril().mH}[transpose]
    torch.testing.assert_close(found, torch.linalg.solve(op, b, left=side == "L"), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(6, 2), (1, 1), (2, 3, 7, 4)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=IDS)
def test_perturbed_systems_that_are_regular(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    *batch, n, _ = shape
    below, main, above = (matrices(*batch, n, seed=seed, dtype=dtype) for seed in (4, 5, 6))
    main[..., 0] = main[..., 0] if n == 1 else 0  # needs an exchange of rows
    b = matrices(*shape, seed=7, dtype=dtype)
    (found,) = call("tridiagonal_solve_perturbed_ffi", {"l": below, "d": main, "u": above, "b": b}, [type_of(b)])
    whole = main.diag_embed() + below[..., 1:].diag_embed(-1) + above[..., :-1].diag_embed(1)
    torch.testing.assert_close(found, torch.linalg.solve(whole, b), rtol=1e-3, atol=1e-4)


def test_perturbed_systems_that_are_singular() -> None:
    """A null vector is a solution, however long; zeros have one as well."""
    rows = torch.ones(3, 2, 4)
    rows[:, 1] = 0
    b = torch.ones(2, 4, 1)
    operands = {"l": rows[0], "d": rows[1], "u": rows[2], "b": b}
    (found,) = call("tridiagonal_solve_perturbed_ffi", operands, [type_of(b)])
    assert found.isfinite().all()
    d, e = torch.tensor([2.0, 2, 2, 2]), torch.full((4,), -1.0)
    value = torch.linalg.eigvalsh(d.diag() + e[1:].diag(1) + e[1:].diag(-1))[0]
    operands = {"l": e, "d": d - value, "u": e, "b": b[0]}
    (found,) = call("tridiagonal_solve_perturbed_ffi", operands, [type_of(b[0])])
    vector = found[:, 0] / found[:, 0].norm()
    matrix = d.diag() + e[1:].diag(1) + e[1:].diag(-1)
    torch.testing.assert_close(matrix @ vector, value * vector, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("routine", "results", "letters"),
    [
        ("gehrd", ["tensor<4x4xf32>", "tensor<3xf32>", "tensor<i32>"], {"low": 2, "high": 4}),
        ("gehrd", ["tensor<4x4xf32>", "tensor<3xf32>", "tensor<i32>"], {}),
        ("gehrd", ["tensor<4x4xf32>", "tensor<4xf32>", "tensor<i32>"], {"low": 1, "high": 4}),
        ("geqrf", ["tensor<4x4xf32>", "tensor<3xf32>"], {}),
        ("sytrd", ["tensor<4x4xf32>", *["tensor<4xf32>"] * 3, "tensor<i32>"], {"uplo": "L"}),
    ],
    ids=["rows", "no rows", "factors", "factors of QR", "diagonals"],
)
def test_misfit_is_refused(routine: str, results: list[str], letters: dict[str, str | int]) -> None:
    with pytest.raises(MLIRError, match=f"'lapack_s{routine}_ffi' is a function of LAPACK"):
        call(routine, {"a": matrices(4, 4)}, results, **letters)
