# SPDX-License-Identifier: Apache-2.0
"""Composites `tenstorrent.NAME` that TTIR has an op for, on the chip, compared with PyTorch.

Their decomposition here is a wrong one, so that a result shows which of the two was taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import load_mlir_file
from golden.tensor import GoldenMapTensor
from op_cases import execute, lowered
from test_expansions import type_of
from ttmlir.passes import ttnn_to_flatbuffer_bin


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def run(name: str, attributes: str, inputs: list[torch.Tensor], results: list[str]) -> list[torch.Tensor]:
    types, gives = ", ".join(map(type_of, inputs)), ", ".join(results)
    arguments = ", ".join(f"%a{i}: {type_of(x)}" for i, x in enumerate(inputs))
    names = ", ".join(f"%a{i}" for i in range(len(inputs)))
    wrong = [f"%w{i} = stablehlo.constant dense<77> : {kind}" for i, kind in enumerate(results) if "i32" in kind]
    wrong += [f"%w{i} = stablehlo.constant dense<77.0> : {kind}" for i, kind in enumerate(results) if "i32" not in kind]
    returned = ", ".join(f"%w{i}" for i in range(len(results)))
    result = ", ".join(f"%r{i}" for i in range(len(results)))
    lines = "\n".join(wrong)
    module, _ = load_mlir_file(
        f"""module {{
          func.func @main({arguments}) -> ({gives}) {{
            {result} = stablehlo.composite "tenstorrent.{name}" {names} {{
              composite_attributes = {{{attributes}}}, decomposition = @impl}} : ({types}) -> ({gives})
            return {result} : {gives}
          }}
          func.func private @impl({arguments}) -> ({gives}) {{
            {lines}
            return {returned} : {gives}
          }}
        }}""",
        target="stablehlo",
    )
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    return [s[0] for s in execute(binary, 0, [GoldenMapTensor({0: x}) for x in inputs], (1, 1))]


X, WEIGHT, BIAS = randn(3, 32), randn(32, seed=1), randn(32, seed=2)
Q, K, V = randn(2, 4, 8, 16), randn(2, 4, 8, 16, seed=1), randn(2, 4, 8, 16, seed=2)
MASK = torch.where(randn(2, 1, 8, 8, seed=3) > 0.5, -1e9, 0.0)
attention = torch.nn.functional.scaled_dot_product_attention
IMAGE, CHANNELS = randn(2, 6, 3, 5), randn(6, seed=1)
EDGES = torch.tensor([[math.nan, 1.0, -math.inf, 0.0, math.inf], [-0.0, 0.0, 3.0, 3.0, -2.0]])
PLACES = torch.tensor([[0, 31], [5, 5], [2, 0]], dtype=torch.int32)
Expected = Callable[..., torch.Tensor]
CASES: dict[str, tuple[str, list[torch.Tensor], Expected]] = {
    "gelu": ("", [X], torch.nn.functional.gelu),
    "layer_norm": (
        "normalized_shape = dense<32> : tensor<1xi64>, epsilon = 1.0e-05 : f32", [X, WEIGHT, BIAS],
        lambda x, w, b: torch.nn.functional.layer_norm(x, [32], w, b),
    ),
    "rms_norm": (
        "normalized_shape = [32], epsilon = 1.0e-05 : f32", [X, WEIGHT],
        lambda x, w: torch.nn.functional.rms_norm(x, [32], w, 1e-5),
    ),
    "scaled_dot_product_attention": (
        "is_causal = true, scale = 0.5 : f32", [Q, K, V], lambda q, k, v: attention(q, k, v, is_causal=True, scale=0.5)
    ),
    "scaled_dot_product_attention with a mask": (
        "is_causal = false", [Q, K, V, MASK], lambda q, k, v, m: attention(q, k, v, attn_mask=m)
    ),
    "topk_values": ("k = 3 : i64, dim = 1 : i64, largest = true, sorted = true", [X], lambda x: x.topk(3, 1).values),
    "topk_indices": (
        "k = 3 : i64, dim = 1 : i64, largest = true, sorted = true", [X], lambda x: x.topk(3, 1).indices.int()
    ),
    "topk_values by other types": ("k = 3 : ui8, dim = 1 : si16", [X], lambda x: x.topk(3, 1).values),
    "topk_values of another dimension": ("k = 2 : i64, dim = 0 : i64", [X], lambda x: x.topk(2, 0).values),
    "topk_values smallest": (
        "k = 3 : i64, dim = -1 : i64, largest = false", [X], lambda x: x.topk(3, -1, largest=False).values
    ),
    "topk_indices smallest": (
        "k = 3 : i64, dim = -1 : i64, largest = false", [X], lambda x: x.topk(3, -1, largest=False).indices.int()
    ),
    "gelu tanh": ('approximate = "tanh"', [X], lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
    "gelu_tanh": ('approximate = "tanh"', [X * 4], lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
    "gelu_tanh without an attribute": ("", [X], lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
    "argmax": ("dim = 1 : i64, keepdim = true", [X], lambda x: x.argmax(1, keepdim=True).int()),
    "argmax of all": ("", [X], lambda x: x.argmax().int()),
    "argmax with NaN and ties": ("dim = -1 : i64", [EDGES], lambda x: x.argmax(-1).int()),
    "gather": ("dim = 1 : i64", [X, PLACES], lambda x, i: x.gather(1, i.long())),
    "gather_dim": ("dim = -2 : i64", [X.T.contiguous(), PLACES.T.contiguous()], lambda x, i: x.gather(0, i.long())),
    "group_norm": (
        "num_groups = 3 : i64, epsilon = 1.0e-5 : f32, channel_dim = 1 : i64", [IMAGE, CHANNELS, CHANNELS + 1],
        lambda x, w, b: torch.nn.functional.group_norm(x, 3, w, b),
    ),
    "group_norm of rank 3": (
        "num_groups = dense<2> : tensor<1xi64>, channel_dim = 1 : i64", [IMAGE[..., 0].contiguous()],
        lambda x: torch.nn.functional.group_norm(x, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_op_is_taken(name: str) -> None:
    attributes, inputs, function = CASES[name]
    expected = function(*inputs)
    (found,) = run(name.partition(" ")[0], attributes, inputs, [type_of(expected)])
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_topk_gives_both() -> None:
    results = ["tensor<3x4xf32>", "tensor<3x4xi32>"]
    values, indices = run("topk", "k = 4 : i64, dim = 1 : i64, largest = true, sorted = true", [X], results)
    expected = X.topk(4, 1)
    assert torch.equal(values, expected.values) and torch.equal(indices.long(), expected.indices)


def test_unsupported_form_is_decomposed() -> None:
    for name, attributes in (
        ("gelu", 'approximate = "sigmoid"'), ("group_norm", "num_groups = 5 : i64"), ("topk_values", "k = 99 : i64"),
        ("topk_values", "k = 36893488147419103264 : i128"), ("group_norm", "num_groups = 36893488147419103233 : i128"),
        ("argmax", "dim = 18446744073709551615 : ui64"),
        ("rms_norm", "normalized_shape = [36893488147419103264 : i128]"),
        ("rms_norm", "normalized_shape = dense<36893488147419103264> : tensor<1xi128>"),
    ):  # fmt: skip
        (found,) = run(name, attributes, [X], [type_of(X)])
        assert torch.equal(found, torch.full_like(X, 77))
    (found,) = run("unheard_of", "", [X], [type_of(X)])
    assert torch.equal(found, torch.full_like(X, 77))


def test_uniform_draws_between_constants() -> None:
    module, _ = load_mlir_file(
        """module {
          func.func @main() -> tensor<64x64xf32> {
            %low = stablehlo.constant dense<-2.0> : tensor<f32>
            %high = stablehlo.constant dense<3.0> : tensor<f32>
            %0 = stablehlo.composite "tenstorrent.uniform" %low, %high {
              composite_attributes = {shape = array<i64: 64, 64>}, decomposition = @impl}
              : (tensor<f32>, tensor<f32>) -> tensor<64x64xf32>
            return %0 : tensor<64x64xf32>
          }
          func.func private @impl(%a: tensor<f32>, %b: tensor<f32>) -> tensor<64x64xf32> {
            %0 = stablehlo.constant dense<77.0> : tensor<64x64xf32>
            return %0 : tensor<64x64xf32>
          }
        }""",
        target="stablehlo",
    )
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    ((values,),) = execute(binary, 0, [], (1, 1))
    assert values.min() >= -2 and values.max() < 3 and 0.3 < values.mean() < 0.7
    assert len(values.unique()) > 3000


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.uint8])
def test_the_smallest_of_a_call(dtype: torch.dtype) -> None:
    x = (randn(4, 9) * 50).to(dtype) if dtype.is_signed else (randn(4, 9).abs() * 50).to(dtype)
    given, gives = type_of(x), type_of(x[:, :3])
    module, _ = load_mlir_file(
        f"""module {{ func.func @main(%x: {given}) -> ({gives}, tensor<4x3xi32>) {{
          %m = stablehlo.custom_call @tt.mark_argument(%x) {{mhlo.frontend_attributes = {{ttir.name = "x"}}}}
            : ({given}) -> {given}
          %0:2 = stablehlo.custom_call @mhlo.topk(%m) {{
            mhlo.attributes = {{k = 3 : i64, largest = false}}, mhlo.version = 1 : i64}}
            : ({given}) -> ({gives}, tensor<4x3xi32>)
          return %0#0, %0#1 : {gives}, tensor<4x3xi32> }} }}""",
        target="stablehlo",
    )
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    values, places = (shards[0] for shards in execute(binary, 0, [GoldenMapTensor({0: x})], (1, 1)))
    expected = x.sort(dim=1, stable=True)
    assert torch.equal(values, expected.values[:, :3])
    assert torch.equal(places.long(), expected.indices[:, :3])
