# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and einsum, of all types and ranks, compared with NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from compared import computed
from single import check, node_model
from ttmlir.onnx import OnnxError

BF16 = np.dtype(ml_dtypes.bfloat16)
TYPES = [np.float32, np.float64, np.float16, np.int32, np.int64, np.uint32, np.uint64, BF16]


def draw(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = 0) -> Any:
    random, dtype = np.random.default_rng(seed + sum(shape)), np.dtype(dtype)
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else -50, 50, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def exact(x: Any) -> Any:
    return x if x.dtype.kind in "iu" else x.astype(np.float64)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((4,), (4,)), ((4,), (4, 3)), ((2, 4), (4,)), ((33, 4), (4, 3)), ((5, 2, 4), (4, 3)), ((1, 2, 4), (5, 4, 3)),
        ((2, 1, 3, 4), (5, 4, 2)), ((4,), (5, 4, 3)), ((5, 2, 4), (4,)), ((2, 0), (0, 3)), ((0, 4), (4, 3)),
    ],
)  # fmt: skip
def test_matmul(a: tuple[int, ...], b: tuple[int, ...], dtype: Any) -> None:
    x, y = draw(a, dtype), draw(b, dtype, 1)
    check("MatMul", [x, y], expected=[np.asarray(np.matmul(exact(x), exact(y)).astype(dtype))], opset=13)


@pytest.mark.parametrize("c", [None, (), (1,), (5,), (1, 5), (4, 1), (4, 5)])
@pytest.mark.parametrize(("left", "right"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_gemm(c: tuple[int, ...] | None, left: int, right: int) -> None:
    a, b = draw((3, 4) if left else (4, 3)), draw((5, 3) if right else (3, 5), seed=1)
    added = None if c is None else draw(c, seed=2)
    expected = 0.5 * (a.T if left else a) @ (b.T if right else b) + (0 if c is None else 2 * added)
    check("Gemm", [a, b, added], expected=[expected], alpha=0.5, beta=2.0, transA=left, transB=right)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 24])
def test_versions_of_gemm(opset: int) -> None:
    a, b, c = draw((2, 3)), draw((3, 4)), draw((4,))
    check("Gemm", [a, b, c], expected=[a @ b + c], opset=opset)


def test_gemm_of_integers() -> None:
    a, b, c = draw((2, 3), np.int32), draw((3, 4), np.int32), draw((4,), np.int32)
    check("Gemm", [a, b, c], expected=[2 * (a @ b) + 3 * c], alpha=2.0, beta=3.0)


EQUATIONS: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]), ("ij->", [(2, 3)]),
    ("...ij,...jk->...ik", [(5, 2, 3), (5, 3, 4)]), ("...ij,...jk", [(1, 2, 3), (5, 3, 4)]), ("ba", [(2, 3)]),
    ("ijk,jil->kl", [(2, 3, 4), (3, 2, 5)]), ("i,j->ji", [(3,), (4,)]), (" bij, bjk -> bik ", [(2, 3, 4), (2, 4, 5)]),
    ("a,ab,abc->abc", [(2,), (2, 3), (2, 3, 4)]), ("iii->i", [(3, 3, 3)]), ("ijij->ij", [(2, 3, 2, 3)]),
    ("i...->...", [(2, 3, 4)]), ("...,...", [(2, 3), (2, 3)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("iij,jk->ik", [(3, 3, 2), (2, 4)]), ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]), (",ij->ij", [(), (2, 3)]),
    ("Ab,bA->A", [(2, 3), (3, 2)]), ("ij,jk->ik", [(2, 1), (3, 4)]), ("...ij,ij->...", [(2, 4, 3, 5), (3, 5)]),
    ("ij,jk->ik", [(2, 0), (0, 4)]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS)
def test_einsum(equation: str, shapes: list[tuple[int, ...]], dtype: Any) -> None:
    operands = [draw(shape, dtype, k) for k, shape in enumerate(shapes)]
    expected = np.einsum(equation.replace(" ", ""), *map(exact, operands)).astype(dtype)
    check("Einsum", operands, expected=[np.asarray(expected)], opset=12, equation=equation)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_einsum_wraps_narrow_integers(dtype: Any) -> None:
    a, b = draw((3, 40), dtype), draw((40, 4), dtype)
    check("Einsum", [a, b], expected=[np.einsum("ij,jk->ik", a, b)], opset=28, equation="ij,jk->ik")


@pytest.mark.parametrize("batches", [(0, 0), (1, 0), (1, 1)])
@pytest.mark.parametrize("turned", [(0, 0), (1, 0), (1, 1)])
def test_fused_matmul(batches: tuple[int, int], turned: tuple[int, int]) -> None:
    def operand(rows: int, columns: int, is_turned: int, first: int) -> Any:
        shape = (columns, rows) if is_turned else (rows, columns)
        return draw((shape[0], 2, shape[1]) if first else (2, *shape))

    check(
        "FusedMatMul", [operand(3, 4, turned[0], batches[0]), operand(4, 5, turned[1], batches[1])],
        domain="com.microsoft", transA=turned[0], transB=turned[1], transBatchA=batches[0], transBatchB=batches[1],
        alpha=0.5,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("op", "operands", "attributes", "text"),
    [
        ("MatMul", [draw((2, 3)), draw((4, 5))], {}, "3 columns and 4 rows"),
        ("Gemm", [draw((2, 3)), draw((4, 5))], {}, "inner dimensions 3 and 4 differ"),
        ("Gemm", [draw((2, 3, 1)), draw((3, 5))], {}, "expected matrices"),
        ("Gemm", [draw((2, 3)), draw((3, 5)), draw((4, 2, 5))], {}, r"expected a shape that broadcasts to \[2, 5\]"),
        ("Einsum", [draw((2, 3)), draw((4, 5))], {"equation": "ij,jk"}, "dimension 'j' has sizes 3 and 4"),
        ("Einsum", [draw((2, 3))], {"equation": "ij,jk"}, "has 2 terms for 1 operands"),
        ("Einsum", [draw((2, 3))], {"equation": "ijk->i"}, "for an operand of 2 dimensions"),
        ("Einsum", [draw((2, 3))], {"equation": "ij->ik"}, "'k' of the result"),
        ("Einsum", [draw((2, 3))], {"equation": "ii"}, "sizes 2 and 3"),
    ],
)
def test_refused(op: str, operands: list[Any], attributes: dict[str, Any], text: str) -> None:
    model, given = node_model(op, operands, **attributes)
    model.graph.output[0].type.tensor_type.elem_type = 1
    with pytest.raises(OnnxError, match=text):
        computed(model, given)
