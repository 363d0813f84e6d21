# SPDX-License-Identifier: Apache-2.0
"""Arguments that are evaluated once and stay in the memory of the host: values are those of arguments on the device."""

from __future__ import annotations

import pytest
import torch
from _ttmlir_runtime import binary
from golden import GoldenMapTensor
from op_cases import execute, lowered
from ttmlir import ir
from ttmlir.passes import ttnn_to_flatbuffer_bin

PROGRAM = """
func.func @main(%x: tensor<3x33xf32> {{ttcore.argument_type = #ttcore.argument_type<input>}},
                %w: tensor<{shape}x{dtype}> {{ttcore.argument_type = #ttcore.argument_type<parameter>}}) -> tensor<3x33xf32> {{
  %0 = "ttir.typecast"(%w) : (tensor<{shape}x{dtype}>) -> tensor<{shape}xf32>
  %1 = "ttir.exp"(%0) : (tensor<{shape}xf32>) -> tensor<{shape}xf32>
  %2 = "ttir.add"(%x, %1) : (tensor<3x33xf32>, tensor<{shape}xf32>) -> tensor<3x33xf32>
  return %2 : tensor<3x33xf32>
}}
"""  # noqa: E501


@pytest.mark.parametrize("shape", [(3, 33), (1, 1), (33,)], ids=str)
@pytest.mark.parametrize(("dtype", "torch_dtype"), [("f32", torch.float32), ("bf16", torch.bfloat16)])
def test_values(shape: tuple[int, ...], dtype: str, torch_dtype: torch.dtype) -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(PROGRAM.format(shape="x".join(map(str, shape)), dtype=dtype))
        result = lowered(module, (1, 1), "enable-const-eval-inputs-to-system-memory=true")
        assert "#system_memory" in str(result)
        program = binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(result))
    x = torch.linspace(-1, 1, 99).reshape(3, 33)
    for scale in (1.0, -0.5):  # other weights, another evaluation
        weight = (scale * torch.linspace(-2, 2, torch.Size(shape).numel())).reshape(shape).to(torch_dtype)
        inputs = [GoldenMapTensor({0: value}, (1, 1)) for value in (x, weight)]
        for _ in range(2):
            found = execute(program, 0, inputs, (1, 1))[0][0]
            torch.testing.assert_close(found, x + weight.float().exp(), rtol=1e-6, atol=1e-6)
