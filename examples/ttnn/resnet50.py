# SPDX-License-Identifier: Apache-2.0
"""Classifies an image of 224 x 224 pixels with ResNet-50: folded norms, sharded convolutions, a trace.

python examples/ttnn/resnet50.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn
from ttnn.model_preprocessing import fold_batch_norm2d_into_conv2d, preprocess_model_parameters

STAGES = [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]  # width, blocks, stride


class Bottleneck(torch.nn.Module):
    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.conv1 = torch.nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(width)
        self.conv2 = torch.nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(width)
        self.conv3 = torch.nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = torch.nn.BatchNorm2d(4 * width)
        self.downsample: torch.nn.Sequential | None = None
        if stride != 1 or inputs != 4 * width:
            self.downsample = torch.nn.Sequential(
                torch.nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), torch.nn.BatchNorm2d(4 * width)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.bn1(self.conv1(x)).relu()
        y = self.bn2(self.conv2(y)).relu()
        y = self.bn3(self.conv3(y))
        return (y + (x if self.downsample is None else self.downsample(x))).relu()


class ResNet50(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(64)
        self.maxpool = torch.nn.MaxPool2d(3, 2, 1)
        stages, inputs = [], 64
        for width, count, stride in STAGES:
            blocks = [
                Bottleneck(inputs if at == 0 else 4 * width, width, stride if at == 0 else 1) for at in range(count)
            ]
            stages.append(torch.nn.ModuleList(blocks))
            inputs = 4 * width
        self.stages = torch.nn.ModuleList(stages)
        self.fc = torch.nn.Linear(2048, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.bn1(self.conv1(x)).relu())
        for stage in self.stages:
            for block in stage:  # type: ignore[attr-defined]
                x = block(x)
        return self.fc(x.mean((2, 3)))


def folded(conv: torch.nn.Conv2d, norm: Any) -> dict[str, ttnn.Tensor]:
    weight, bias = fold_batch_norm2d_into_conv2d(conv, norm)
    return {
        "weight": ttnn.from_torch(weight, dtype=ttnn.float32),
        "bias": ttnn.from_torch(bias.reshape(1, 1, 1, -1), dtype=ttnn.float32),
    }


def custom_preprocessor(model: torch.nn.Module, name: str, ttnn_module_args: Any) -> dict[str, Any]:
    if isinstance(model, Bottleneck):
        parameters = {f"conv{at}": folded(getattr(model, f"conv{at}"), getattr(model, f"bn{at}")) for at in (1, 2, 3)}
        if model.downsample is not None:
            parameters["downsample"] = folded(model.downsample[0], model.downsample[1])  # type: ignore[arg-type]
        return parameters
    if isinstance(model, ResNet50):
        stages = {
            index: {at: custom_preprocessor(block, "", None) for at, block in enumerate(stage)}  # type: ignore[arg-type, var-annotated]
            for index, stage in enumerate(model.stages)
        }
        fc = {
            "weight": ttnn.from_torch(model.fc.weight.T, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT),
            "bias": ttnn.from_torch(model.fc.bias.reshape(1, -1), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT),
        }
        return {"conv1": folded(model.conv1, model.bn1), "stages": stages, "fc": fc}
    return {}


class Convolution:
    """A convolution that prepares its weights in its first call and keeps them on the device."""

    def __init__(self, parameters: Any, device: Any, kernel: int, stride: int, relu: bool) -> None:
        self.weight, self.bias, self.device = parameters.weight, parameters.bias, device
        self.outputs, self.inputs = self.weight.shape[0], self.weight.shape[1]
        self.kernel, self.stride = kernel, stride
        self.activation = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU) if relu else None
        self.compute = ttnn.init_device_compute_kernel_config(
            device.arch(), math_fidelity=ttnn.MathFidelity.HiFi2, packer_l1_acc=True, math_approx_mode=False
        )

    def __call__(self, x: ttnn.Tensor, batch: int, height: int, width: int) -> tuple[ttnn.Tensor, int, int]:
        tall = batch * height * width > 1024
        config = ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat8_b,
            activation=self.activation,
            shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED if tall else ttnn.TensorMemoryLayout.BLOCK_SHARDED,
            deallocate_activation=False,
            reallocate_halo_output=True,
            enable_act_double_buffer=True,
            enable_weights_double_buffer=not tall,
            transpose_shards=False,
            reshard_if_not_optimal=True,
        )
        y, (height, width), (self.weight, self.bias) = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=self.weight,
            bias_tensor=self.bias,
            device=self.device,
            in_channels=self.inputs,
            out_channels=self.outputs,
            batch_size=batch,
            input_height=height,
            input_width=width,
            kernel_size=(self.kernel, self.kernel),
            stride=(self.stride, self.stride),
            padding=(self.kernel // 2, self.kernel // 2),
            dilation=(1, 1),
            groups=1,
            conv_config=config,
            compute_config=self.compute,
            dtype=ttnn.bfloat16,
            return_output_dim=True,
            return_weights_and_bias=True,
        )
        return y, height, width


class Block:
    def __init__(self, parameters: Any, device: Any, stride: int) -> None:
        self.conv1 = Convolution(parameters.conv1, device, 1, 1, relu=True)
        self.conv2 = Convolution(parameters.conv2, device, 3, stride, relu=True)
        self.conv3 = Convolution(parameters.conv3, device, 1, 1, relu=False)
        self.downsample = None
        if "downsample" in parameters:
            self.downsample = Convolution(parameters.downsample, device, 1, stride, relu=False)

    def __call__(self, x: ttnn.Tensor, batch: int, height: int, width: int) -> tuple[ttnn.Tensor, int, int]:
        y, rows, columns = self.conv1(x, batch, height, width)
        y, rows, columns = self.conv2(y, batch, rows, columns)
        y, rows, columns = self.conv3(y, batch, rows, columns)
        shortcut = x if self.downsample is None else self.downsample(x, batch, height, width)[0]
        if shortcut.memory_config() != y.memory_config():
            shortcut = ttnn.to_memory_config(shortcut, y.memory_config())
        y = ttnn.add_(y, shortcut, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)])
        ttnn.deallocate(shortcut)
        return y, rows, columns


class Network:
    def __init__(self, parameters: Any, device: Any) -> None:
        self.parameters = parameters
        self.conv1 = Convolution(parameters.conv1, device, 7, 2, relu=True)
        self.blocks = [
            Block(parameters.stages[index][at], device, stride if at == 0 else 1)
            for index, (_, count, stride) in enumerate(STAGES)
            for at in range(count)
        ]

    def __call__(self, x: ttnn.Tensor, batch: int, height: int, width: int) -> ttnn.Tensor:
        x, height, width = self.conv1(x, batch, height, width)
        x = ttnn.max_pool2d(
            input_tensor=x,
            batch_size=batch,
            input_h=height,
            input_w=width,
            channels=64,
            kernel_size=[3, 3],
            stride=[2, 2],
            padding=[1, 1],
            dilation=[1, 1],
            ceil_mode=False,
        )
        height, width = height // 2, width // 2
        for block in self.blocks:
            x, height, width = block(x, batch, height, width)
        x = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
        x = ttnn.reshape(x, (batch, 1, height * width, 2048))
        x = ttnn.mean(x, dim=2, keepdim=True)
        x = ttnn.reshape(x, (1, 1, batch, 2048))
        return ttnn.linear(
            x,
            self.parameters.fc.weight,
            bias=self.parameters.fc.bias,
            memory_config=ttnn.L1_MEMORY_CONFIG,
            program_config=ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
                compute_with_storage_grid_size=(8, 4),
                in0_block_w=2,
                out_subblock_h=1,
                out_subblock_w=1,
                per_core_M=1,
                per_core_N=1,
                fuse_batch=True,
                fused_activation=None,
                mcast_in0=True,
            ),
        )


def main() -> None:
    torch.manual_seed(0)
    model = ResNet50().eval()
    for module in model.modules():
        if isinstance(module, Bottleneck):
            torch.nn.init.constant_(module.bn3.weight, 0.25)  # keeps sixteen residuals of random weights in range
    image = torch.rand(1, 3, 224, 224)
    with torch.no_grad():
        expected = model(image)

    device: Any = ttnn.open_device(device_id=0, l1_small_size=24576, trace_region_size=1 << 22)
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, custom_preprocessor=custom_preprocessor, device=None
    )
    network = Network(parameters, device)
    parameters.fc.weight = ttnn.to_device(parameters.fc.weight, device)
    parameters.fc.bias = ttnn.to_device(parameters.fc.bias, device)

    host = ttnn.from_torch(image.permute(0, 2, 3, 1).reshape(1, 1, 224 * 224, 3), dtype=ttnn.bfloat16)
    x = ttnn.to_device(host, device)
    network(x, 1, 224, 224)  # prepares weights
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    logits = network(x, 1, 224, 224)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.copy_host_to_device_tensor(host, x)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    found = ttnn.to_torch(logits).float().reshape(1, 1000)
    ttnn.release_trace(device, trace)

    pcc = float(torch.corrcoef(torch.cat([expected, found]))[0, 1])
    print(f"PCC {pcc:.5f}, class {int(found.argmax())}, PyTorch {int(expected.argmax())}")
    torch.testing.assert_close(found, expected, atol=float(0.1 * expected.std()), rtol=0.05)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
