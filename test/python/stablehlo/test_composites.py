# SPDX-License-Identifier: Apache-2.0
"""Composites `tenstorrent.NAME` that TTIR has an op for, on the chip, compared with PyTorch.

Their decomposition here is a wrong one, so that a result shows which of the two was taken.
"""

from __future__ import annotations

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


def test_what_the_op_does_not_compute_is_decomposed() -> None:
    (found,) = run("gelu", 'approximate = "tanh"', [X], [type_of(X)])
    assert torch.equal(found, torch.full_like(X, 77))
    (found,) = run("unheard_of", "", [X], [type_of(X)])
    assert torch.equal(found, torch.full_like(X, 77))
