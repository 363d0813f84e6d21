# SPDX-License-Identifier: Apache-2.0
"""Programs of TOSA on the chip: its numbers by PyTorch, with the rounding and the layouts of TOSA's specification."""

from __future__ import annotations

import pytest
import torch
from _ttmlir_runtime import binary
from golden import GoldenMapTensor
from op_cases import execute, lowered
from ttmlir import ir
from ttmlir.passes import ttnn_to_flatbuffer_bin
from ttmlir.passmanager import PassManager

F = torch.nn.functional
HALVES = torch.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.75, -0.75, 300.0, -300.0, 127.5, 0.0])
NETWORK = """
func.func @main(%x: tensor<2x9x8x4xf32>, %w: tensor<8x3x3x4xf32>, %b: tensor<8xf32>, %v: tensor<3x3x8x2xf32>, %c: tensor<16xf32>) -> (tensor<2x4x2x16xf32>, tensor<2x1x4x16xf32>) {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = "tosa.conv2d"(%x, %w, %b, %zp, %zp) <{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 0, 2, 1>, stride = array<i64: 1, 1>}> : (tensor<2x9x8x4xf32>, tensor<8x3x3x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x8x9x8xf32>
  %1 = "tosa.clamp"(%0) <{min_val = 0.0 : f32, max_val = 1.5 : f32}> : (tensor<2x8x9x8xf32>) -> tensor<2x8x9x8xf32>
  %2 = "tosa.depthwise_conv2d"(%1, %v, %c, %zp, %zp) <{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 2, 0, 0, 0>, stride = array<i64: 1, 2>}> : (tensor<2x8x9x8xf32>, tensor<3x3x8x2xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x8x4x16xf32>
  %3 = "tosa.avg_pool2d"(%2, %zp, %zp) <{acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}> : (tensor<2x8x4x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x2x16xf32>
  %4 = "tosa.reduce_max"(%2) <{axis = 1 : i32}> : (tensor<2x8x4x16xf32>) -> tensor<2x1x4x16xf32>
  return %3, %4 : tensor<2x4x2x16xf32>, tensor<2x1x4x16xf32>
}
"""  # noqa: E501


def run(text: str, *inputs: torch.Tensor) -> list[torch.Tensor]:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(convert-tosa-to-ttir)").run(module.operation)
        program = binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    index = next(i for i in range(program.get_num_programs()) if not program.is_program_private(i))
    given = [GoldenMapTensor({0: value}, (1, 1)) for value in inputs]
    return [shards[0] for shards in execute(program, index, given, (1, 1))]


@pytest.mark.parametrize("source", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("type_", "bits"), [("i8", 8), ("i16", 16), ("i32", 32)])
def test_floats_are_rounded_to_integers(source: torch.dtype, type_: str, bits: int) -> None:
    """Halves to the even number; what the type does not hold is its least or greatest."""
    values = HALVES.to(source)
    of = "f32" if source is torch.float32 else "bf16"
    (found,) = run(
        f"""func.func @main(%a: tensor<12x{of}>) -> tensor<12xi32> {{
        %0 = "tosa.cast"(%a) : (tensor<12x{of}>) -> tensor<12x{type_}>
        %1 = "tosa.cast"(%0) : (tensor<12x{type_}>) -> tensor<12xi32>
        return %1 : tensor<12xi32> }}""",
        values,
    )
    least, greatest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    want = [min(max(round(float(value)), least), greatest) for value in values]  # Python rounds halves to even
    assert found.tolist() == want


def test_network() -> None:
    result = torch.Generator().manual_seed(0)
    x, w, b, v, c = (
        torch.randn(shape, generator=result) for shape in [(2, 9, 8, 4), (8, 3, 3, 4), (8,), (3, 3, 8, 2), (16,)]
    )
    found = run(NETWORK, x, w, b, v, c)
    image = F.pad(x.permute(0, 3, 1, 2), (2, 1, 1, 0))
    image = F.conv2d(image, w.permute(0, 3, 1, 2), b).clamp(0, 1.5)
    kernel = v.permute(2, 3, 0, 1).reshape(16, 1, 3, 3)
    image = F.conv2d(F.pad(image, (0, 0, 2, 0)), kernel, c, stride=(1, 2), groups=8)
    want = [F.avg_pool2d(image, 2).permute(0, 2, 3, 1), image.permute(0, 2, 3, 1).amax(1, keepdim=True)]
    for value, expected in zip(found, want, strict=True):
        torch.testing.assert_close(value, expected, rtol=1e-4, atol=1e-4)
