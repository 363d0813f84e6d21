# SPDX-License-Identifier: Apache-2.0
"""Linear algebra, by ops and by the calls of LAPACK that JAX writes for the CPU, on the chip, compared with PyTorch."""

from __future__ import annotations

import math

import pytest
import torch
from test_expansions import run, type_of
from ttmlir import passes
from ttmlir.ir import Context, MLIRError, Module


def call(
    routine: str, operands: dict[str, torch.Tensor], results: list[str], **letters: str | int
) -> list[torch.Tensor]:
    config = ", ".join(
        f"{name} = {value} : i32" if isinstance(value, int) else f"{name} = {ord(value)} : ui8"
        for name, value in letters.items()
    )
    types = ", ".join(type_of(x) for x in operands.values())
    names = ", ".join(f"%{name}" for name in operands)
    kind = "c" if any(x.is_complex() for x in operands.values()) else "s"
    target = routine if routine.endswith("_ffi") else f"lapack_{kind}{routine}_ffi"
    text = f"%all:{len(results)} = stablehlo.custom_call @{target}({names}) "
    text += f"{{mhlo.backend_config = {{{config}}}}} : ({types}) -> ({', '.join(results)})\n"
    # Results are ops of the text.
    text += "\n".join(f"%r{i} = stablehlo.optimization_barrier %all#{i} : {of}" for i, of in enumerate(results))
    return run(text, operands, results)


def matrices(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def sizes(shape: tuple[int, ...], element: str) -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (6, 3), (3, 6), (2, 3, 5, 5), (3, 40, 40)])
def test_getrf(shape: tuple[int, ...]) -> None:
    a = matrices(*shape)
    *batch, m, n = shape
    pivots = sizes((*batch, min(m, n)), "i32")
    lu, exchanged, info = call("getrf", {"a": a}, [type_of(a), pivots, sizes(tuple(batch), "i32")])
    expected, rows = torch.linalg.lu_factor(a)
    torch.testing.assert_close(lu, expected, rtol=1e-4, atol=1e-4)
    assert torch.equal(exchanged, rows)
    assert not info.any()


def test_getrf_of_singular_matrices() -> None:
    """A column that is 0, and one that becomes it; the first of equal pivots; what comes before stays as it is."""
    a = torch.tensor([
        [[1.0, 0, 2], [3, 0, 4], [5, 0, 7]],
        [[1, 2, 3], [2, 4, 6], [4, 8, 12]],
        [[2, 1, 0], [-2, 3, 1], [2, 5, 9]],
    ])  # fmt: skip
    lu, exchanged, info = call("getrf", {"a": a}, [type_of(a), "tensor<3x3xi32>", "tensor<3xi32>"])
    expected, rows, found = torch.linalg.lu_factor_ex(a)
    torch.testing.assert_close(lu, expected)
    assert torch.equal(exchanged, rows)
    assert info.tolist() == found.tolist() == [2, 2, 0]


def test_potrf_says_which_pivot_is_not_positive() -> None:
    a = torch.stack([torch.eye(3), torch.tensor([[4.0, 2, 0], [2, 1, 3], [0, 3, 5]]), -torch.eye(3), torch.ones(3, 3)])
    a[3, 2, 2] = -5
    for letter, upper in (("L", False), ("U", True)):
        _, info = call("potrf", {"a": a}, [type_of(a), "tensor<4xi32>"], uplo=letter)
        assert info.tolist() == torch.linalg.cholesky_ex(a, upper=upper).info.tolist() == [0, 2, 1, 2]


@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (6, 3), (3, 6), (2, 3, 5, 5)])
def test_permutation_of_pivots(shape: tuple[int, ...]) -> None:
    a = matrices(*shape)
    lu, pivots = torch.linalg.lu_factor(a)
    size = sizes((*shape[:-1], shape[-2]), "f32")
    (found,) = run(
        f"%r0 = stablehlo.custom_call @tt.permutation_of_pivots(%p) : ({type_of(pivots)}) -> {size}", {"p": pivots},
        [size],
    )  # fmt: skip
    assert torch.equal(found, torch.lu_unpack(lu, pivots)[0])


@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (2, 3, 5, 5)])
def test_geqrf_and_orgqr(shape: tuple[int, ...]) -> None:
    a = matrices(*shape, seed=1)
    *batch, _, n = shape
    taus = sizes((*batch, n), "f32")
    packed, factors = call("geqrf", {"a": a}, [type_of(a), taus])
    expected, expected_factors = torch.geqrf(a)
    torch.testing.assert_close(packed, expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(factors, expected_factors, rtol=1e-4, atol=1e-4)
    (q,) = call("orgqr", {"a": packed, "t": factors}, [type_of(a)])
    torch.testing.assert_close(q @ packed.triu()[..., :n, :], a, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 5), (2, 3, 8, 8), (33, 33)])
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_syevd(shape: tuple[int, ...], triangle: str) -> None:
    """The other triangle is not read."""
    a = matrices(*shape, seed=2)
    symmetric = a.tril() + a.tril(-1).mT if triangle == "L" else a.triu() + a.triu(1).mT
    batch, n = shape[:-2], shape[-1]
    results = [type_of(a), sizes((*batch, n), "f32"), sizes(batch, "i32")]
    vectors, values, info = call("syevd", {"a": a}, results, mode="V", uplo=triangle)
    torch.testing.assert_close(values, torch.linalg.eigvalsh(symmetric.double()).float(), rtol=1e-5, atol=2e-5)
    torch.testing.assert_close(symmetric @ vectors, vectors * values[..., None, :], rtol=1e-4, atol=5e-5)
    torch.testing.assert_close(vectors.mT @ vectors, torch.eye(n).expand(*batch, n, n), rtol=1e-4, atol=2e-5)
    assert not info.any()


@pytest.mark.parametrize("scale", [1e-30, 1e25])
def test_syevd_of_special_matrices(scale: float) -> None:
    """Nothing, one value several times, and numbers whose squares f32 does not have."""
    a = (
        torch.stack([torch.zeros(4, 4), torch.eye(4), torch.ones(4, 4), torch.diag(torch.tensor([3.0, -1, 2, -1]))])
        * scale
    )
    results = [type_of(a), "tensor<4x4xf32>", "tensor<4xi32>"]
    vectors, values, _ = call("syevd", {"a": a}, results, mode="V", uplo="L")
    torch.testing.assert_close(values / scale, torch.linalg.eigvalsh(a.double() / scale).float(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(vectors.mT @ vectors, torch.eye(4).expand(4, 4, 4), rtol=1e-5, atol=1e-5)


def singular(a: torch.Tensor, mode: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    *batch, m, n = a.shape
    left, right = (m, n) if mode != "S" else (min(m, n), min(m, n))
    shapes = [(*batch, min(m, n)), (*batch, m, left), (*batch, right, n)]
    results = [type_of(a), *(sizes(shape, "f32") for shape in shapes), sizes(tuple(batch), "i32")]
    _, values, u, vt, info = call("gesdd", {"a": a}, results, mode=mode)
    assert not info.any()
    return values, u, vt


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (7, 3), (3, 7), (2, 3, 6, 5), (20, 33), (5, 1)])
@pytest.mark.parametrize("mode", ["S", "A", "N"])
def test_gesdd(shape: tuple[int, ...], mode: str) -> None:
    a = matrices(*shape, seed=3)
    values, u, vt = singular(a, mode)
    torch.testing.assert_close(values, torch.linalg.svdvals(a.double()).float(), rtol=1e-5, atol=1e-5)
    if mode == "N":
        return
    k = min(shape[-2:])
    torch.testing.assert_close(u[..., :k] * values[..., None, :] @ vt[..., :k, :], a, rtol=1e-4, atol=2e-5)
    for vectors in (u, vt.mT):
        product = vectors.mT @ vectors
        torch.testing.assert_close(product, torch.eye(product.shape[-1]).expand_as(product), rtol=1e-4, atol=2e-5)


def test_gesdd_of_special_matrices() -> None:
    """Nothing, several equal values, and fewer of them than columns: vectors are orthogonal nevertheless."""
    a = torch.stack([torch.zeros(5, 3), torch.eye(5, 3), torch.ones(5, 3), torch.arange(15.0).reshape(5, 3) * 1e10])
    values, u, vt = singular(a, "A")
    expected = torch.linalg.svdvals(a.double()).float()
    torch.testing.assert_close(values, expected, rtol=1e-5, atol=1e6)
    torch.testing.assert_close(values[:3], expected[:3], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(u[..., :3] * values[:, None] @ vt, a, rtol=1e-5, atol=1e5)
    for vectors in (u, vt):
        size = vectors.shape[-1]
        torch.testing.assert_close(vectors.mT @ vectors, torch.eye(size).expand(4, size, size), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("shape", [(1, 1), (6, 2), (2, 3, 5, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64], ids=["real", "complex"])
def test_gtsv(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """A diagonal of zeros needs an exchange of rows, or what stands for it."""
    *batch, n, _ = shape
    below, main, above = (matrices(*batch, n, seed=seed, dtype=dtype) for seed in (4, 5, 6))
    if n % 2 == 0:
        main[..., 0] = 0
    b = matrices(*shape, seed=7, dtype=dtype)
    operands = {"l": below, "d": main, "u": above, "b": b}
    results = [*(type_of(x) for x in operands.values()), sizes(tuple(batch), "i32")]
    found = call("gtsv", operands, results)
    whole = main.diag_embed() + below[..., 1:].diag_embed(-1) + above[..., :-1].diag_embed(1)
    torch.testing.assert_close(found[3], torch.linalg.solve(whole, b), rtol=1e-3, atol=1e-4)
    assert not found[4].any()


@pytest.mark.parametrize(
    ("routine", "letters"), [("syevd", {"mode": "V"}), ("syevd", {"mode": "V", "uplo": "X"}), ("gees", {"mode": "V"})]
)
def test_refusal_names_the_op(routine: str, letters: dict[str, str]) -> None:
    a = matrices(4, 4)
    with pytest.raises(MLIRError, match=f"'lapack_s{routine}_ffi' is a function of LAPACK"):
        call(routine, {"a": a}, [type_of(a), "tensor<4xf32>", "tensor<i32>"], **letters)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "%f:3 = stablehlo.custom_call @lapack_cgetrf_ffi(%a) : "
            "(tensor<2x2xcomplex<f32>>) -> (tensor<2x2xcomplex<f32>>, tensor<2xi32>, tensor<i32>)",
            "lapack_cgetrf_ffi",
        ),
        (
            "%x = stablehlo.real %a : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32>\n"
            "%f:3 = stablehlo.custom_call @lapack_sgeev_ffi(%x) : "
            "(tensor<2x2xf32>) -> (tensor<2xcomplex<f32>>, tensor<2x2xcomplex<f32>>, tensor<i32>)",
            "lapack_sgeev_ffi",
        ),
        (
            "%f = stablehlo.custom_call @other(%a) : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>",
            "stablehlo.custom_call of 'other': complex numbers are not lowered here",
        ),
    ],
)
def test_calls_of_complex_numbers_are_named(text: str, name: str) -> None:
    text = f"func.func @main(%a: tensor<2x2xcomplex<f32>>) {{\n{text}\nreturn\n}}"
    with Context(), pytest.raises(MLIRError, match=name):
        passes.stablehlo_to_ttir_pipeline(Module.parse(text))


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 3, 8, 8), (33, 33)])
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(shape: tuple[int, ...], lower: bool) -> None:
    a = torch.randn(shape, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    a = a @ a.mT + torch.eye(shape[-1]) * shape[-1]
    factor = torch.linalg.cholesky(a, upper=not lower)
    # The other triangle is not read.
    other = torch.full_like(a, math.nan)
    given = (a.tril() + other.triu(1)) if lower else (a.triu() + other.tril(-1))
    given = torch.where(given.isnan(), torch.tensor(math.nan), given).float()
    (found,) = run(f"%r0 = stablehlo.cholesky %x, lower = {str(lower).lower()} : {type_of(given)}", {"x": given},
                   [type_of(given)])  # fmt: skip
    torch.testing.assert_close(found.double(), factor, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_solve(left: bool, lower: bool, transpose: str, unit: bool) -> None:
    n, m = 6, 3
    generator = torch.Generator().manual_seed(8)
    a = torch.randn(2, n, n, generator=generator) / 4 + torch.eye(n) * 2
    b = torch.randn(2, n, m, generator=generator) if left else torch.randn(2, m, n, generator=generator)
    triangle = (a.tril() if lower else a.triu()).double()
    if unit:
        triangle = triangle - torch.diag_embed(triangle.diagonal(dim1=-2, dim2=-1)) + torch.eye(n, dtype=torch.float64)
    op = triangle if transpose == "NO_TRANSPOSE" else triangle.mT
    expected = torch.linalg.solve(op, b.double(), left=left)
    flags = f"left_side = {str(left).lower()}, lower = {str(lower).lower()}, unit_diagonal = {str(unit).lower()}"
    (found,) = run(f"""%r0 = "stablehlo.triangular_solve"(%a, %b)
      <{{{flags}, transpose_a = #stablehlo<transpose {transpose}>}}> : ({type_of(a)}, {type_of(b)}) -> {type_of(b)}""",
        {"a": a, "b": b}, [type_of(b)])  # fmt: skip
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (2, 3, 5, 5)], ids=str)
def test_eigh_of_xla(shape: tuple[int, ...], lower: bool) -> None:
    """XLA's call, which returns a tuple; one triangle is read."""
    a = matrices(*shape)
    of, values = type_of(a), sizes(shape[:-1], "f32")
    vectors, found = run(f"""%t = stablehlo.custom_call @Eigh(%a) {{backend_config = "{int(lower)},1,100,0.000001"}}
        : ({of}) -> tuple<{of}, {values}>
      %r0 = stablehlo.get_tuple_element %t[0] : (tuple<{of}, {values}>) -> {of}
      %r1 = stablehlo.get_tuple_element %t[1] : (tuple<{of}, {values}>) -> {values}""",
        {"a": a}, [of, values])  # fmt: skip
    torch.testing.assert_close(found, torch.linalg.eigvalsh(a, UPLO="L" if lower else "U"), rtol=1e-4, atol=1e-4)
    whole = a.tril() + a.tril(-1).mT if lower else a.triu() + a.triu(1).mT
    torch.testing.assert_close(whole @ vectors, vectors * found[..., None, :], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 4), (1, 1)])
def test_qr(shape: tuple[int, ...]) -> None:
    """The calls that jax.numpy.linalg.qr makes."""
    a = torch.randn(shape, generator=torch.Generator().manual_seed(9))
    k = min(shape[-2:])
    taus = "tensor<" + "".join(f"{size}x" for size in (*shape[:-2], k)) + "f32>"
    of = type_of(a)
    packed, factors = run(f"%r0, %r1 = stablehlo.custom_call @Qr(%a) : ({of}) -> ({of}, {taus})", {"a": a}, [of, taus])
    upper = packed[..., :k, :].triu()
    thin = packed[..., :k].contiguous()
    (q,) = run(f"""%r0 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%p, %t)
      : ({type_of(thin)}, {taus}) -> {type_of(thin)}""", {"p": thin, "t": factors}, [type_of(thin)])  # fmt: skip
    torch.testing.assert_close(q @ upper, a, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(q.mT @ q, torch.eye(k).expand(*shape[:-2], k, k), rtol=1e-4, atol=1e-4)
