# SPDX-License-Identifier: Apache-2.0
"""Classifies images of 32 x 32 pixels with two convolutions, two pools and two linear layers.

python examples/ttnn/cnn_inference.py
"""

from __future__ import annotations

import torch
import ttnn


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = torch.nn.Linear(2048, 128)
        self.fc2 = torch.nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for conv in (self.conv1, self.conv2):
            x = torch.nn.functional.max_pool2d(torch.relu(conv(x)), 2)
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


def stage(
    x: ttnn.Tensor, weight: ttnn.Tensor, bias: ttnn.Tensor, shape: tuple[int, int, int, int], channels: int
) -> ttnn.Tensor:
    """Returns [1, 1, N*H/2*W/2, channels]: convolution, ReLU and pool of x with shape (N, H, W, C)."""
    batch, height, width, inputs = shape
    y = ttnn.conv2d(
        input_tensor=x,
        weight_tensor=weight,
        bias_tensor=bias,
        device=x.device(),
        in_channels=inputs,
        out_channels=channels,
        batch_size=batch,
        input_height=height,
        input_width=width,
        kernel_size=(3, 3),
        stride=(1, 1),
        padding=(1, 1),
        conv_config=ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat16, activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
        ),
    )
    return ttnn.max_pool2d(
        y,
        batch_size=batch,
        input_h=height,
        input_w=width,
        channels=channels,
        kernel_size=[2, 2],
        stride=[2, 2],
        padding=[0, 0],
        dilation=[1, 1],
        ceil_mode=False,
    )


def pcc(expected: torch.Tensor, found: torch.Tensor) -> float:
    return float(torch.corrcoef(torch.stack([expected.flatten(), found.flatten()]))[0, 1])


def main() -> None:
    torch.manual_seed(0)
    model = Network().eval()
    images = torch.rand(4, 3, 32, 32)
    with torch.no_grad():
        expected = model(images)

    device = ttnn.open_device(device_id=0, l1_small_size=8192)
    weights = {
        name: ttnn.from_torch(value, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
        for name, value in model.state_dict().items()
    }
    x = ttnn.from_torch(images, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    x = ttnn.permute(x, (0, 2, 3, 1))
    for name, shape, channels in [("conv1", (4, 32, 32, 3), 16), ("conv2", (4, 16, 16, 16), 32)]:
        bias = ttnn.reshape(weights[f"{name}.bias"], (1, 1, 1, -1))
        x = stage(x, weights[f"{name}.weight"], bias, shape, channels)

    x = ttnn.sharded_to_interleaved(x) if x.is_sharded() else x
    x = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
    x = ttnn.permute(ttnn.reshape(x, (4, 8, 8, 32)), (0, 3, 1, 2))
    x = ttnn.to_layout(ttnn.reshape(x, (4, 2048)), ttnn.TILE_LAYOUT)
    for name, activation in [("fc1", "relu"), ("fc2", None)]:
        weight = ttnn.to_layout(ttnn.transpose(weights[f"{name}.weight"], 0, 1), ttnn.TILE_LAYOUT)
        bias = ttnn.to_layout(weights[f"{name}.bias"].reshape((1, -1)), ttnn.TILE_LAYOUT)
        x = ttnn.linear(x, weight, bias=bias, activation=activation)

    found = ttnn.to_torch(x).float()
    print(f"PCC {pcc(expected, found):.6f}")
    print(f"classes {found.argmax(1).tolist()}, PyTorch {expected.argmax(1).tolist()}")
    torch.testing.assert_close(found, expected, atol=0.01, rtol=0.02)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
