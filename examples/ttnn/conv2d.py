# SPDX-License-Identifier: Apache-2.0
"""Convolves images: shard layouts, prepared weights, groups, dilation, strides, and a transposed convolution.

python examples/ttnn/conv2d.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

HEIGHT = ttnn.TensorMemoryLayout.HEIGHT_SHARDED
WIDTH = ttnn.TensorMemoryLayout.WIDTH_SHARDED
BLOCK = ttnn.TensorMemoryLayout.BLOCK_SHARDED
# Input channels, output channels, size, kernel, stride, padding, dilation, groups, shard layout, weights.
CASES = [
    (3, 64, 56, 7, 2, 3, 1, 1, HEIGHT, ttnn.bfloat16),
    (64, 64, 28, 3, 1, 1, 1, 1, HEIGHT, ttnn.bfloat8_b),
    (128, 256, 14, 3, 2, 1, 1, 1, BLOCK, ttnn.bfloat8_b),
    (256, 512, 7, 1, 1, 0, 1, 1, WIDTH, ttnn.bfloat16),
    (32, 32, 20, 3, 1, 2, 2, 1, HEIGHT, ttnn.bfloat16),
    (64, 64, 16, 3, 1, 1, 1, 64, HEIGHT, ttnn.bfloat16),
    (64, 128, 16, 3, 1, 1, 1, 4, None, ttnn.bfloat16),
]


def main() -> None:
    torch.manual_seed(0)
    device: Any = ttnn.open_device(device_id=0, l1_small_size=16384)
    compute = ttnn.init_device_compute_kernel_config(
        device.arch(),
        math_fidelity=ttnn.MathFidelity.HiFi4,
        math_approx_mode=False,
        fp32_dest_acc_en=True,
        packer_l1_acc=False,
    )
    for inputs, outputs, size, kernel, stride, padding, dilation, groups, layout, weights_dtype in CASES:
        batch = 2
        images = torch.randn(batch, inputs, size, size).bfloat16().float()
        weight = torch.randn(outputs, inputs // groups, kernel, kernel) * (inputs * kernel**2 / groups) ** -0.5
        bias = torch.randn(1, 1, 1, outputs)
        expected = torch.conv2d(images, weight, bias.flatten(), stride, padding, dilation, groups).relu()

        x = ttnn.from_torch(images.permute(0, 2, 3, 1), dtype=ttnn.bfloat16, device=device)
        config = ttnn.Conv2dConfig(
            weights_dtype=weights_dtype,
            shard_layout=layout,
            activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
            deallocate_activation=False,
            enable_act_double_buffer=True,
            output_layout=ttnn.TILE_LAYOUT,
        )
        if layout == BLOCK:
            config.act_block_h_override = 32
        arguments: dict[str, Any] = {
            "in_channels": inputs,
            "out_channels": outputs,
            "batch_size": batch,
            "input_height": size,
            "input_width": size,
            "kernel_size": (kernel, kernel),
            "stride": (stride, stride),
            "padding": (padding, padding),
            "dilation": (dilation, dilation),
            "groups": groups,
            "device": device,
            "conv_config": config,
        }
        host_weight, host_bias = ttnn.from_torch(weight, dtype=ttnn.float32), ttnn.from_torch(bias, dtype=ttnn.float32)
        y, (height, width), (prepared, prepared_bias) = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=host_weight,
            bias_tensor=host_bias,
            compute_config=compute,
            return_output_dim=True,
            return_weights_and_bias=True,
            dtype=ttnn.bfloat16,
            **arguments,
        )
        # The second image in a row finds the weights on the device.
        y, [height, width] = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=prepared,
            bias_tensor=prepared_bias,
            compute_config=compute,
            return_output_dim=True,
            dtype=ttnn.bfloat16,
            **arguments,
        )
        assert tuple(y.shape) == (1, 1, batch * height * width, outputs), y.shape
        y = ttnn.sharded_to_interleaved(y, ttnn.L1_MEMORY_CONFIG) if ttnn.is_sharded(y) else y
        found = ttnn.to_torch(y).float().reshape(batch, height, width, outputs).permute(0, 3, 1, 2)
        tolerance = 0.03 if weights_dtype == ttnn.bfloat16 else 0.1
        torch.testing.assert_close(found, expected, atol=tolerance, rtol=0.03)
        print(f"{inputs} -> {outputs}, {kernel} x {kernel}, {layout}: {height} x {width}, {y.memory_config()}")

        # Prepared by themselves, as for a network that is loaded once.
        weight_on_device = ttnn.prepare_conv_weights(
            weight_tensor=host_weight,
            weights_format="OIHW",
            input_memory_config=x.memory_config(),
            input_layout=x.layout,
            input_dtype=ttnn.bfloat16,
            has_bias=True,
            **arguments,
        )
        bias_on_device = ttnn.prepare_conv_bias(
            bias_tensor=host_bias,
            input_memory_config=x.memory_config(),
            input_layout=x.layout,
            input_dtype=ttnn.bfloat16,
            **arguments,
        )
        again = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=ttnn.to_device(weight_on_device, device),
            bias_tensor=ttnn.to_device(bias_on_device, device),
            compute_config=compute,
            dtype=ttnn.bfloat16,
            **arguments,
        )
        found = ttnn.to_torch(again).float().reshape(batch, height, width, outputs).permute(0, 3, 1, 2)
        torch.testing.assert_close(found, expected, atol=tolerance, rtol=0.03)

    images, weight = torch.randn(1, 32, 8, 8), torch.randn(32, 16, 2, 2) * 0.2
    x = ttnn.from_torch(images.permute(0, 2, 3, 1), dtype=ttnn.bfloat16, device=device)
    y, (height, width) = ttnn.conv_transpose2d(
        input_tensor=x,
        weight_tensor=ttnn.from_torch(weight, dtype=ttnn.bfloat16),
        device=device,
        in_channels=32,
        out_channels=16,
        batch_size=1,
        input_height=8,
        input_width=8,
        kernel_size=(2, 2),
        stride=(2, 2),
        padding=(0, 0),
        conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, shard_layout=HEIGHT),
        return_output_dim=True,
    )
    found = ttnn.to_torch(y).float().reshape(1, height, width, 16).permute(0, 3, 1, 2)
    torch.testing.assert_close(found, torch.conv_transpose2d(images, weight, stride=2), atol=0.05, rtol=0.05)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
