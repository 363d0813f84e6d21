# SPDX-License-Identifier: Apache-2.0
"""Factorizations and systems of `torch.linalg` on the chip: values and gradients of eager mode, and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from compiled import on_chip
from torch import linalg
from torch.utils._pytree import tree_leaves
from ttmlir.torch.report import record

Function = Callable[[torch.Tensor], Any]


def positive(x: torch.Tensor) -> torch.Tensor:
    return x @ x.mT + x.shape[-1] * torch.eye(x.shape[-1])


def joined(u: torch.Tensor, s: torch.Tensor, v: torch.Tensor) -> list[torch.Tensor]:
    """Returns quantities that do not depend on the signs of vectors."""
    return [s, (u * s.unsqueeze(-2)) @ v, u.mT @ u, v @ v.mT]


def of_eigh(x: torch.Tensor, uplo: str = "L") -> list[torch.Tensor]:
    values, vectors = linalg.eigh(x, uplo)
    return [values, (vectors * values.unsqueeze(-2)) @ vectors.mT, vectors.mT @ vectors]


SQUARE: dict[str, Function] = {
    "cholesky": lambda x: linalg.cholesky_ex(positive(x))[0],
    "upper cholesky": lambda x: linalg.cholesky_ex(positive(x), upper=True),
    "cholesky solve": lambda x: torch.cholesky_solve(x, linalg.cholesky_ex(positive(x))[0]),
    "upper cholesky solve": lambda x: torch.cholesky_solve(x, linalg.cholesky_ex(positive(x), upper=True)[0], True),
    "cholesky inverse": lambda x: torch.cholesky_inverse(linalg.cholesky_ex(positive(x))[0]),
    "inverse": lambda x: linalg.inv_ex(x + 2)[0],
    "determinant": linalg.det,
    "sign and logarithm of the determinant": linalg.slogdet,
    "solve": lambda x: linalg.solve_ex(x, x + 1)[0],
    "solve for a vector": lambda x: linalg.solve_ex(x, x[..., 0])[0],
    "solve from the right": lambda x: linalg.solve_ex(x, x - 1, left=False)[0],
    "solve with factors": lambda x: linalg.lu_solve(*linalg.lu_factor_ex(x)[:2], x * 2),
    "solve transposed with factors": lambda x: linalg.lu_solve(*linalg.lu_factor_ex(x)[:2], x * 2, adjoint=True),
    "eigenvalues": lambda x: linalg.eigvalsh(x + x.mT),
    "eigenvectors": lambda x: of_eigh(x + x.mT),
    "eigenvectors of the upper triangle": lambda x: of_eigh(x, "U"),
    "triangle": lambda x: linalg.solve_triangular(x.triu() + 2 * torch.eye(x.shape[-1]), x, upper=True),
    "unit triangle from the right": lambda x: linalg.solve_triangular(
        x.tril() / x.shape[-1], x, upper=False, left=False, unitriangular=True
    ),
}
ANY: dict[str, Function] = {
    "lu": linalg.lu,
    "factors": lambda x: linalg.lu_factor_ex(x),
    "qr": linalg.qr,
    "complete qr": lambda x: linalg.qr(x, mode="complete"),
    "r alone": lambda x: linalg.qr(x, mode="r")[1],
    "singular values": linalg.svdvals,
    "singular vectors": lambda x: joined(*linalg.svd(x, full_matrices=False)),
    "spectral norm": lambda x: linalg.matrix_norm(x, 2),
    "pseudoinverse": linalg.pinv,
}


def on_the_chip_alone(function: Function, x: torch.Tensor) -> list[torch.Tensor]:
    with record() as reports:
        results = tree_leaves(on_chip(function)(x))
    assert [report.on_host for report in reports] == [{}]
    return results


def check(function: Function, x: torch.Tensor) -> None:
    found, expected = on_the_chip_alone(function, x), tree_leaves(function(x))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 3, 6, 6), (2, 33, 33)], ids=str)
@pytest.mark.parametrize("name", SQUARE)
def test_square_matrices(name: str, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    check(SQUARE[name], torch.randn(shape) / shape[-1] + torch.eye(shape[-1]))


@pytest.mark.parametrize("shape", [(1, 4), (5, 5), (2, 7, 4), (2, 2, 3, 8)], ids=str)
@pytest.mark.parametrize("name", ANY)
def test_matrices(name: str, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    check(ANY[name], torch.randn(shape))


OF_SQUARE = ("cholesky", "inverse", "determinant", "sign and logarithm of the determinant", "solve", "eigenvalues",
             "triangle")  # fmt: skip
GRADIENTS = {name: SQUARE[name] for name in OF_SQUARE} | {
    "determinant of a transposed matrix": lambda x: linalg.det(x.mT),
    **{name: ANY[name] for name in ("lu", "qr", "singular values", "pseudoinverse")},
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    torch.manual_seed(0)
    given = torch.randn(2, 5, 5) / 4 + torch.eye(5) * torch.arange(1.0, 6.0)

    def gradient(function: Function) -> torch.Tensor:
        x = given.clone().requires_grad_()
        results = [y for y in tree_leaves(function(x)) if y.dtype.is_floating_point]
        sum((y * torch.linspace(-1, 2, y.numel()).reshape(y.shape)).sum() for y in results).backward()
        assert x.grad is not None
        return x.grad

    with record() as reports:
        found = gradient(on_chip(GRADIENTS[name]))
    torch.testing.assert_close(found, gradient(GRADIENTS[name]), rtol=1e-3, atol=1e-3)
    assert [(report.kind, report.on_host) for report in reports] == [("forward", {}), ("backward", {})]


def test_matrices_without_a_factorization() -> None:
    """The numbers that say which pivot is none are LAPACK's, and errors are PyTorch's."""
    indefinite = torch.tensor([[4.0, 2, 0], [2, 1, 3], [0, 3, 5]])
    singular = torch.tensor([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]])
    for function in (lambda x: linalg.cholesky_ex(x)[1], lambda x: linalg.inv_ex(x)[1]):
        given = torch.stack([indefinite, singular, torch.eye(3)])
        (found,) = on_the_chip_alone(function, given)
        assert found.tolist() == function(given).tolist()
    for function, given in ((linalg.cholesky, indefinite), (linalg.inv, singular)):
        with pytest.raises(RuntimeError) as expected:
            function(given)
        with pytest.raises(RuntimeError) as raised:
            on_chip(function)(given)
        assert str(expected.value) in str(raised.value)


def test_the_check_of_a_result_is_named() -> None:
    with pytest.warns(UserWarning, match=r"for: with_effects of aten\._linalg_check_errors\.default \(1\)"):
        on_chip(linalg.inv)(torch.eye(3) + 1)


@pytest.mark.parametrize("given", [torch.eye(3, dtype=torch.float64), torch.zeros(0, 0), torch.zeros(2, 0, 0)], ids=str)
def test_ops_left_to_pytorch(given: torch.Tensor) -> None:
    with record() as reports:
        found = on_chip(linalg.det)(given)
    assert torch.equal(found, linalg.det(given)) and found.dtype is given.dtype
    assert all("_linalg_det" in " ".join(report.on_host) for report in reports)
