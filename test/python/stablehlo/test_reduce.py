# SPDX-License-Identifier: Apache-2.0
"""StableHLO's reductions, whose computation is a region: through the pipelines to the chip, compared with their
goldens."""

from __future__ import annotations

import _ttmlir_runtime as rt
import pytest
from builder.base.builder_apis import load_mlir_file
from golden import compare
from op_cases import execute, lowered
from ttmlir.passes import ttnn_to_flatbuffer_bin

WINDOW = "window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>"

CASES = {
    "sum": """func.func @main(%x: tensor<33x65xf32>) -> tensor<33xf32> {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
        : (tensor<33x65xf32>, tensor<f32>) -> tensor<33xf32>
      return %0 : tensor<33xf32>
    }""",
    "max": """func.func @main(%x: tensor<3x5x7xf32>) -> tensor<5xf32> {
      %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0, 2]
        : (tensor<3x5x7xf32>, tensor<f32>) -> tensor<5xf32>
      return %0 : tensor<5xf32>
    }""",
    "max window": f"""func.func @main(%x: tensor<1x8x8x5xf32>) -> tensor<1x4x4x5xf32> {{
      %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%x, %z) <{{{WINDOW}}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }}) : (tensor<1x8x8x5xf32>, tensor<f32>) -> tensor<1x4x4x5xf32>
      return %0 : tensor<1x4x4x5xf32>
    }}""",
}


@pytest.mark.parametrize("what", CASES)
def test_reduction(what: str) -> None:
    module, builder = load_mlir_file(CASES[what], target="stablehlo")
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    goldens = builder.golden_map[0][0]
    ((found,),) = execute(binary, 0, goldens.inputs, (1, 1))
    comparison = compare(goldens.outputs[0].shard_at(0), found)
    assert comparison.within, comparison
