# SPDX-License-Identifier: Apache-2.0
"""Weights of convolutions that are arguments: in rows on the host, with what is computed from them ahead."""

from __future__ import annotations

import _ttmlir_runtime as rt
import pytest
import torch
import torch.nn.functional as F
from golden import random_tensor
from golden.sampling import generator
from torch import Tensor
from ttmlir import ir
from ttmlir.passes import ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_bin
from ttmlir.torch.program import host_tensor

runtime = rt.runtime


def values(*shapes: tuple[int, ...]) -> list[Tensor]:
    return [random_tensor(s, torch.float32, (-1.0, 1.0), generator(0, "weights", i)) for i, s in enumerate(shapes)]


def run(text: str, inputs: list[Tensor], options: str = "") -> tuple[Tensor, int]:
    """(the result, the most bytes of DRAM that a device held)."""
    with ir.Context():
        module = ir.Module.parse(text)
        ttir_to_ttnn_backend_pipeline(module, options)
        binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(module))
    device = runtime.open_mesh_device(runtime.MeshDeviceOptions())
    try:
        (result,) = runtime.submit(device, binary, 0, [host_tensor(x) for x in inputs])
        (found,) = runtime.to_host(result, untilize=True)
        dram = device.get_memory_view()[runtime.MemoryBufferType.DRAM]
        return torch.from_dlpack(found).clone(), dram.peak_bytes_allocated_per_bank * device.get_num_dram_channels()
    finally:
        runtime.close_mesh_device(device)


PARAMETER = "{ttcore.argument_type = #ttcore.argument_type<parameter>}"
SIZES = "stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32"


def test_a_weight_of_small_windows_takes_no_tiles_of_the_device() -> None:
    image, weight, scale = values((1, 7, 7, 512), (2048, 512, 1, 1), (2048,))
    text = f"""
    func.func @main(%x: tensor<1x7x7x512xf32>, %w: tensor<2048x512x1x1xf32> {PARAMETER},
                    %s: tensor<2048xf32> {PARAMETER}) -> tensor<1x7x7x2048xf32> {{
      %0 = "ttir.conv2d"(%x, %w) <{{{SIZES}}}> :
          (tensor<1x7x7x512xf32>, tensor<2048x512x1x1xf32>) -> tensor<1x7x7x2048xf32>
      %1 = "ttir.batch_norm_inference"(%0, %s, %s, %s, %s) <{{dimension = 3 : i32, epsilon = 1.0e-05 : f32}}> :
          (tensor<1x7x7x2048xf32>, tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>)
          -> tensor<1x7x7x2048xf32>
      return %1 : tensor<1x7x7x2048xf32>
    }}"""
    scale = scale.abs() + 0.5
    found, peak = run(text, [image, weight, scale])
    convolved = F.conv2d(image.permute(0, 3, 1, 2).double(), weight.double())
    expected = F.batch_norm(convolved, *[scale.double()] * 4).permute(0, 2, 3, 1)
    torch.testing.assert_close(found.double(), expected, atol=1e-4, rtol=1e-4)
    # Tiles of the weight alone would be 4 GB; image and result are less than a megabyte.
    assert peak < 4 << 20


@pytest.mark.parametrize("pad", [(0, 0, 1, 2), (3, 0, 0, 0), (2, 2, 2, 2)])
def test_zeros_around_an_image_are_padding_of_its_convolution(pad: tuple[int, int, int, int]) -> None:
    """Also more than the window is large."""
    image, weight = values((1, 5, 6, 3), (4, 3, 2, 1))
    left, right, top, bottom = pad
    height, width = 5 + top + bottom, 6 + left + right
    text = f"""
    func.func @main(%x: tensor<1x5x6x3xf32>, %w: tensor<4x3x2x1xf32>) -> tensor<1x{height + 1}x{width + 2}x4xf32> {{
      %0 = "ttir.pad"(%x) <{{padding = array<i32: 0, 0, {top}, {bottom}, {left}, {right}, 0, 0>, value = 0.0 : f32}}> :
          (tensor<1x5x6x3xf32>) -> tensor<1x{height}x{width}x3xf32>
      %1 = "ttir.conv2d"(%0, %w) <{{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}}> :
          (tensor<1x{height}x{width}x3xf32>, tensor<4x3x2x1xf32>) -> tensor<1x{height + 1}x{width + 2}x4xf32>
      return %1 : tensor<1x{height + 1}x{width + 2}x4xf32>
    }}"""
    found, _ = run(text, [image, weight])
    padded = F.pad(image.permute(0, 3, 1, 2).double(), pad)
    expected = F.conv2d(padded, weight.double(), padding=1).permute(0, 2, 3, 1)
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=1e-4)


# What takes a scaled weight: op, image, weight, attributes, and the same by PyTorch.
KINDS = {
    "conv1d": ((1, 9, 6), (8, 6, 3), SIZES, F.conv1d),
    "conv2d": ((1, 5, 6, 6), (8, 6, 3, 1), SIZES, F.conv2d),
    "conv3d": ((1, 3, 4, 5, 6), (8, 6, 2, 1, 3), SIZES, F.conv3d),
    "conv_transpose3d": ((1, 3, 4, 5, 6), (6, 8, 2, 1, 3), "output_padding = 0 : i32, " + SIZES, F.conv_transpose3d),
    "conv_transpose2d": ((1, 5, 6, 6), (6, 8, 3, 1), "output_padding = 0 : i32, " + SIZES, F.conv_transpose2d),
}


@pytest.mark.parametrize("options", ["", "experimental-weight-dtype=bfp_bf8", "enable-const-eval=false"])
@pytest.mark.parametrize("kind", KINDS)
def test_scaled_weights_and_biases_of_the_host(kind: str, options: str) -> None:
    shape, kernel, attributes, reference = KINDS[kind]
    image, weight, bias = values(shape, kernel, (8,))
    scaled = weight * 0.5
    first = (0, len(shape) - 1, *range(1, len(shape) - 1))
    expected = reference(image.permute(*first).double(), scaled.double(), bias.double())
    expected = expected.permute(0, *range(2, len(shape)), 1)

    def tensor(sizes: tuple[int, ...]) -> str:
        return f"tensor<{'x'.join(map(str, sizes))}xf32>"

    x, w, ones, y = map(tensor, (shape, kernel, (1,) * (len(shape) - 1) + (8,), tuple(expected.shape)))
    text = f"""
    func.func @main(%x: {x}, %w: {w} {PARAMETER}, %b: tensor<8xf32> {PARAMETER}) -> {y} {{
      %half = "ttir.full"() <{{shape = array<i32: {", ".join(map(str, kernel))}>, fill_value = 0.5 : f32}}> : () -> {w}
      %0 = "ttir.multiply"(%w, %half) : ({w}, {w}) -> {w}
      %1 = "ttir.reshape"(%b) <{{shape = [{", ".join(f"{n} : i32" for n in (*[1] * (len(shape) - 1), 8))}]}}> :
          (tensor<8xf32>) -> {ones}
      %2 = "ttir.{kind}"(%x, %0, %1) <{{{attributes}}}> : ({x}, {w}, {ones}) -> {y}
      return %2 : {y}
    }}"""
    found, _ = run(text, [image, weight, bias], options)
    # A block format keeps seven bits of each value.
    close = {"atol": 1e-5, "rtol": 1e-4} if "bfp" not in options else {"atol": 0.1, "rtol": 0.05}
    torch.testing.assert_close(found.double(), expected, **close)
