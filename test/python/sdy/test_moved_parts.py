# SPDX-License-Identifier: Apache-2.0
"""Gathers, slices and concatenations along split dimensions: devices send each other what they lack, and no tensor is
gathered whole. Values are compared with NumPy, bit for bit where nothing is computed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from sharded_programs import Mesh, Program, Split, compiled, run, splits_of
from ttmlir import ir
from ttmlir.passes import stablehlo_pipeline

MESHES: tuple[Mesh, ...] = ((1, 2), (2, 2), (2, 4))
COLLECTIVE = re.compile(r'"stablehlo\.(all_gather|all_reduce|all_to_all|collective_permute|reduce_scatter)"')


@dataclass(frozen=True)
class Case:
    """body: gives %r of the arguments; reference: the result, by NumPy; sent: collectives of two devices that split
    dimension 0 of the first argument; rtol: of the largest value, 0 for the same bits."""

    body: str
    shapes: tuple[tuple[int, ...], ...]
    result: tuple[int, ...]
    reference: Callable[..., np.ndarray]
    sent: dict[str, int] = field(default_factory=dict)
    rtol: float = 0

    def program(self) -> Program:
        of = f"t<{'x'.join(map(str, self.result))}>"
        return Program(f"{self.body}\nreturn %r : {of}", self.shapes, (of,))


def rows(indices: str, element: str = "i32", index: str = "i32") -> str:
    """Rows of %t, 64x16 of `element`, at the indices."""
    return f"""%i = stablehlo.constant dense<{indices}> : tensor<6x1x{index}>
    %g = "stablehlo.gather"(%t, %i) <{{slice_sizes = array<i64: 1, 16>, dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}}>
      : (tensor<64x16x{element}>, tensor<6x1x{index}>) -> tensor<6x16x{element}>"""


SOME, AT = "[[40], [0], [63], [31], [32], [40]]", [40, 0, 63, 31, 32, 40]
OUTSIDE = "[[-5], [64], [2000], [3], [-2147483648], [2147483647]]"
SUM = {"all_reduce": 1}


def placed(x: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Elements at pairs of positions, moved inside as StableHLO does."""
    pairs = np.clip(at.astype(np.int64), 0, np.array(x.shape[:2]) - 1)
    return x[pairs[..., 0], pairs[..., 1]]


def products(a: np.ndarray, b: np.ndarray, s: np.ndarray) -> np.ndarray:
    return (np.einsum("xymk,ekn->xyemn", a, b[0]) * (s != 0)[..., None, None])[:, :, None]


def scores(q: np.ndarray, k: np.ndarray, w: np.ndarray) -> np.ndarray:
    each = np.maximum(np.einsum("bhsd,btd->bhst", q, k[:, 0]), 0) * w
    later = np.arange(k.shape[2])[None, :] > 4 + np.arange(q.shape[2])[:, None]
    return np.where(later, -np.inf, each.sum(1, keepdims=True))


CASES = {
    "rows": Case(
        f"%t = stablehlo.add %a0, %a0 : t<64x16>\n{rows(SOME, 'f32')}\n%r = stablehlo.abs %g : t<6x16>",
        ((64, 16),),
        (6, 16),
        lambda x: abs(x + x)[AT],
        SUM,
    ),
    "rows, with their signs": Case(
        "%t = stablehlo.reshape %a0 : (t<64x16>) -> t<64x16>\n" + rows(SOME, "f32").replace("%g", "%r"),
        ((64, 16),),
        (6, 16),
        lambda x: x[AT],
        SUM,
    ),
    "rows outside": Case(
        "%t = stablehlo.reshape %a0 : (t<64x16>) -> t<64x16>\n" + rows(OUTSIDE, "f32").replace("%g", "%r"),
        ((64, 16),),
        (6, 16),
        lambda x: x[[0, 63, 63, 3, 0, 63]],
        SUM,
    ),
    "rows at narrow indices": Case(
        "%t = stablehlo.reshape %a0 : (t<64x16>) -> t<64x16>\n"
        + rows("[[40], [0], [200], [31], [32], [255]]", "f32", "ui8").replace("%g", "%r"),
        ((64, 16),),
        (6, 16),
        lambda x: x[[40, 0, 63, 31, 32, 63]],
        SUM,
    ),
    "rows at wide indices": Case(
        "%t = stablehlo.reshape %a0 : (t<64x16>) -> t<64x16>\n"
        + rows("[[40], [0], [63], [-1], [32], [2147483647]]", "f32", "i64").replace("%g", "%r"),
        ((64, 16),),
        (6, 16),
        lambda x: x[[40, 0, 63, 0, 32, 63]],
        SUM,
    ),
    "rows of integers": Case(
        "%t = stablehlo.convert %a0 : (t<64x16>) -> tensor<64x16xi32>\n"
        + rows(SOME)
        + "\n%r = stablehlo.convert %g : (tensor<6x16xi32>) -> t<6x16>",
        ((64, 16),),
        (6, 16),
        lambda x: np.trunc(np.nan_to_num(x, posinf=0, neginf=0))[AT] + 0.0,
        SUM,
    ),
    "rows of booleans": Case(
        "%z = stablehlo.constant dense<0.0> : t<64x16>\n%t = stablehlo.compare GT, %a0, %z : (t<64x16>, t<64x16>) -> "
        "tensor<64x16xi1>\n" + rows(SOME, "i1") + "\n%r = stablehlo.convert %g : (tensor<6x16xi1>) -> t<6x16>",
        ((64, 16),),
        (6, 16),
        lambda x: (x > 0)[AT].astype(np.float32),
        SUM,
    ),
    # Both dimensions at once, by pairs that are arguments.
    "elements": Case(
        """%n = stablehlo.constant dense<5.0> : t<2x3x2>
        %m = stablehlo.multiply %a1, %n : t<2x3x2>
        %i = stablehlo.convert %m : (t<2x3x2>) -> tensor<2x3x2xi32>
        %r = "stablehlo.gather"(%a0, %i) <{slice_sizes = array<i64: 1, 1, 4>, dimension_numbers = #stablehlo.gather<
          offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>}>
          : (t<16x8x4>, tensor<2x3x2xi32>) -> t<2x4x3>""",
        ((16, 8, 4), (2, 3, 2)),
        (2, 4, 3),
        lambda x, i: placed(x, np.trunc(i * 5)).transpose(0, 2, 1),
        SUM,
    ),
    # The dimension stays, with size 1, and the numbers are the second ones of pairs.
    "columns that stay": Case(
        """%i = stablehlo.constant dense<[[0, 3], [0, 60], [0, 31]]> : tensor<3x2xi32>
        %r = "stablehlo.gather"(%a0, %i) <{slice_sizes = array<i64: 1, 8>, dimension_numbers = #stablehlo.gather<
          offset_dims = [1, 2], start_index_map = [1, 0], index_vector_dim = 1>}>
          : (t<64x8>, tensor<3x2xi32>) -> t<3x1x8>""",
        ((64, 8),),
        (3, 1, 8),
        lambda x: x[[3, 60, 31]][:, None],
        SUM,
    ),
    # Of a column without an index, each slice has the first element: only gathering gives it.
    "a column without an index": Case(
        """%i = stablehlo.constant dense<[[3], [6], [1]]> : tensor<3x1xi32>
        %r = "stablehlo.gather"(%a0, %i) <{slice_sizes = array<i64: 1, 1>, dimension_numbers = #stablehlo.gather<
          collapsed_slice_dims = [0, 1], start_index_map = [1], index_vector_dim = 1, offset_dims = []>}>
          : (t<64x8>, tensor<3x1xi32>) -> t<3>""",
        ((64, 8),),
        (3,),
        lambda x: x[0, [3, 6, 1]],
        {"all_gather": 1},
    ),
    # As many rows as the table has: gathering the table takes less.
    "as many rows": Case(
        """%i = stablehlo.constant dense<[[3], [1], [1], [0]]> : tensor<4x1xi32>
        %r = "stablehlo.gather"(%a0, %i) <{slice_sizes = array<i64: 1, 8>, dimension_numbers = #stablehlo.gather<
          offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}>
          : (t<4x8>, tensor<4x1xi32>) -> t<4x8>""",
        ((4, 8),),
        (4, 8),
        lambda x: x[[3, 1, 1, 0]],
        {"all_gather": 1},
    ),
    "concatenate": Case(
        "%r = stablehlo.concatenate %a0, %a1, dim = 0 : (t<16x4>, t<16x4>) -> t<32x4>",
        ((16, 4), (16, 4)),
        (32, 4),
        lambda a, b: np.concatenate([a, b]),
        {"collective_permute": 2},
    ),
    "concatenate three": Case(
        "%r = stablehlo.concatenate %a0, %a1, %a2, dim = 0 : (t<16x4>, t<8x4>, t<8x4>) -> t<32x4>",
        ((16, 4), (8, 4), (8, 4)),
        (32, 4),
        lambda *x: np.concatenate(x),
    ),
    "concatenate what does not divide": Case(
        "%r = stablehlo.concatenate %a0, %a1, dim = 0 : (t<16x4>, t<1x4>) -> t<17x4>",
        ((16, 4), (1, 4)),
        (17, 4),
        lambda a, b: np.concatenate([a, b]),
        {"all_gather": 1},
    ),
    # Queries, keys and values of one product.
    "thirds": Case(
        """%q = stablehlo.slice %a0 [0:16, 0:4] : (t<48x4>) -> t<16x4>
        %k = stablehlo.slice %a0 [16:32, 0:4] : (t<48x4>) -> t<16x4>
        %v = stablehlo.slice %a0 [32:48, 0:4] : (t<48x4>) -> t<16x4>
        %s = stablehlo.maximum %q, %v : t<16x4>
        %r = stablehlo.minimum %s, %k : t<16x4>""",
        ((48, 4),),
        (16, 4),
        lambda x: np.minimum(np.maximum(x[:16], x[32:]), x[16:32]),
        {"collective_permute": 2},
    ),
    "a quarter": Case(
        "%r = stablehlo.slice %a0 [48:64, 0:4] : (t<64x4>) -> t<16x4>",
        ((64, 4),),
        (16, 4),
        lambda x: x[48:],
        {"collective_permute": 1},
    ),
    "steps that begin far away": Case(
        "%r = stablehlo.slice %a0 [33:64:2, 0:4] : (t<64x4>) -> t<16x4>",
        ((64, 4),),
        (16, 4),
        lambda x: x[33:64:2],
        {"collective_permute": 1},
    ),
    "what begins in the middle of parts": Case(
        "%r = stablehlo.slice %a0 [37:53, 0:4] : (t<64x4>) -> t<16x4>",
        ((64, 4),),
        (16, 4),
        lambda x: x[37:53],
    ),
    "products of experts": Case(
        """%p = stablehlo.constant dense<0.0> : t<2x3x1x4>
        %c = stablehlo.compare GT, %a2, %p : (t<2x3x1x4>, t<2x3x1x4>) -> tensor<2x3x1x4xi1>
        %s = stablehlo.convert %c : (tensor<2x3x1x4xi1>) -> t<2x3x1x4>
        %r = stablehlo.custom_call @tt.sparse_matmul(%a0, %a1, %s)
          : (t<2x3x8x16>, t<1x4x16x8>, t<2x3x1x4>) -> t<2x3x1x4x8x8>""",
        ((2, 3, 8, 16), (1, 4, 16, 8), (2, 3, 1, 4)),
        (2, 3, 1, 4, 8, 8),
        lambda a, b, s: products(a, b, s[:, :, 0] > 0),
        rtol=1e-5,
    ),
    "products of experts, with their number": Case(
        """%s = stablehlo.constant dense<1.0> : t<2x3x1x4>
        %r = stablehlo.custom_call @tt.sparse_matmul(%a0, %a1, %s) {mhlo.frontend_attributes = {nnz = "24"}}
          : (t<2x3x8x16>, t<1x4x16x8>, t<2x3x1x4>) -> t<2x3x1x4x8x8>""",
        ((2, 3, 8, 16), (1, 4, 16, 8)),
        (2, 3, 1, 4, 8, 8),
        lambda a, b: products(a, b, np.ones((2, 3, 4))),
        rtol=1e-5,
    ),
    "scores of the indexer": Case(
        """%r = stablehlo.custom_call @tt.indexer_score_dsa(%a0, %a1, %a2)
          {mhlo.frontend_attributes = {chunk_start_idx = "4"}}
          : (t<2x8x4x16>, t<2x1x8x16>, t<2x8x4x1>) -> t<2x1x4x8>""",
        ((2, 8, 4, 16), (2, 1, 8, 16), (2, 8, 4, 1)),
        (2, 1, 4, 8),
        scores,
        rtol=1e-5,
    ),
}


def inputs_of(case: Case) -> list[torch.Tensor]:
    """Random numbers; where nothing is computed of them, also zeros of both signs, infinities and NaN."""
    generator = np.random.default_rng(5)
    found = [generator.uniform(-4, 4, shape).astype(np.float32) for shape in case.shapes]
    if case.rtol == 0 and "convert %a0" not in case.body and "imum" not in case.body:
        special = np.array([-0.0, 0.0, np.inf, -np.inf, np.nan], np.float32)
        places = found[0].reshape(-1)[::7]
        places[:] = np.resize(special, places.shape)
    return [torch.from_numpy(x) for x in found]


def splits(case: Case, mesh: Mesh) -> list[tuple[Split | None, ...]]:
    """Each argument alone in each way, and all of them alike."""
    ways = [splits_of(shape, mesh)[1:] for shape in case.shapes]
    found: list[tuple[Split | None, ...]] = []
    for index, mine in enumerate(ways):
        found += [tuple(way if i == index else None for i in range(len(ways))) for way in mine]
    alike = [way for way in ways[0] if all(way in other for other in ways[1:])]
    return found + [(way,) * len(ways) for way in alike if len(ways) > 1]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m[0]}x{m[1]}")
@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name: str, mesh: Mesh) -> None:
    case = CASES[name]
    inputs = inputs_of(case)
    expected = np.asarray(case.reference(*(x.numpy() for x in inputs)), np.float32)
    for split in splits(case, mesh):
        where = f"{name} on {mesh}, arguments {split}"
        for shard in run(compiled(case.program().text(split, mesh), mesh), inputs, split, mesh)[0]:
            found = shard.numpy()
            assert found.shape == expected.shape, where
            if case.rtol:
                finite = np.isfinite(expected)
                np.testing.assert_array_equal(finite, np.isfinite(found), where)
                assert abs(found - expected)[finite].max() <= case.rtol * abs(expected[finite]).max(), where
            else:
                np.testing.assert_array_equal(found.view(np.int32), expected.view(np.int32), where)


@pytest.mark.parametrize("element", ["bf16", "f16", "i8", "ui8", "i16", "ui32", "i64", "complex<f32>"])
def test_rows_of_each_type(element: str) -> None:
    """The bits of a gather on one device."""
    lines = [f"%p = stablehlo.abs %a0 : t<64x16>\n%t = stablehlo.convert %p : (t<64x16>) -> tensor<64x16x{element}>",
             rows(SOME, element), f"%r = stablehlo.convert %g : (tensor<6x16x{element}>) -> t<6x16>"]  # fmt: skip
    if element.startswith("complex"):
        lines[0] = f"%t = stablehlo.complex %a0, %a0 : tensor<64x16x{element}>"
        lines[2] = f"%r = stablehlo.imag %g : (tensor<6x16x{element}>) -> t<6x16>"
    program = Program("\n".join(lines) + "\nreturn %r : t<6x16>", ((64, 16),), ("t<6x16>",))
    inputs = [torch.from_numpy(np.random.default_rng(3).uniform(-90, 90, (64, 16)).astype(np.float32))]
    expected = run(compiled(program.text(), (1, 1)), inputs, [None], (1, 1))[0][0]
    assert expected.any()
    for mesh, split in [((1, 2), ("y", "")), ((2, 4), ("yx", "")), ((2, 4), ("y", "x"))]:
        for shard in run(compiled(program.text([split], mesh), mesh), inputs, [split], mesh)[0]:
            assert torch.equal(expected, shard), f"{element} on {mesh}, {split}"


def test_rows_of_a_type_without_zero() -> None:
    """No number leaves others as they are in a sum: every device gets the whole table."""
    element = "f8E8M0FNU"
    text = Program(f"%t = stablehlo.convert %a0 : (t<64x16>) -> tensor<64x16x{element}>\n{rows(SOME, element)}\n"
                   f"%r = stablehlo.convert %g : (tensor<6x16x{element}>) -> t<6x16>\nreturn %r : t<6x16>",
                   ((64, 16),), ("t<6x16>",)).text([("y", "")], (1, 2))  # fmt: skip
    with ir.Context():
        module = ir.Module.parse(text)
        stablehlo_pipeline(module, "")
        assert Counter(COLLECTIVE.findall(str(module))) == Counter({"all_gather": 1})


def sent(case: Case, split: tuple[Split | None, ...], mesh: Mesh) -> Counter[str]:
    """Collectives of the partitioned program."""
    with ir.Context():
        module = ir.Module.parse(case.program().text(split, mesh))
        stablehlo_pipeline(module, "")
        return Counter(COLLECTIVE.findall(str(module)))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.sent])
def test_sends_what_devices_lack(name: str) -> None:
    case = CASES[name]
    first: Split = ("y",) + ("",) * (len(case.shapes[0]) - 1)
    split = tuple(first if shape == case.shapes[0] else None for shape in case.shapes)
    assert sent(case, split, (1, 2)) == case.sent


@pytest.mark.parametrize(
    ("name", "split", "collectives"),
    [
        # The columns of products, and their sums over rows of the experts.
        ("products of experts", (None, ("", "", "", "y"), None), {}),
        ("products of experts", (None, ("", "y", "", ""), None), {}),
        ("products of experts", (("", "", "", "y"), ("", "", "y", ""), None), {"all_reduce": 1}),
        ("products of experts, with their number", (None, ("", "", "", "y")), {}),
        ("products of experts, with their number", (None, ("", "y", "", "")), {"all_gather": 1}),
        # Heads are summed over; a row's position decides which keys come after it.
        ("scores of the indexer", (("y", "", "", ""), None, None), {}),
        ("scores of the indexer", (("", "y", "", ""), None, None), {"all_reduce": 1}),
        ("scores of the indexer", (("", "", "y", ""), None, None), {"all_gather": 1}),
    ],
)
def test_calls_are_computed_in_parts(name: str, split: tuple[Split | None, ...], collectives: dict[str, int]) -> None:
    assert sent(CASES[name], split, (1, 2)) == collectives
