# SPDX-License-Identifier: Apache-2.0
"""The digits network for the simulated chip: built with TTIRBuilder, compiled to a flatbuffer, run and measured."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import _ttmlir_runtime as tt_runtime
import torch
from builder.base.builder_apis import build_module, compile_ttir_module_to_flatbuffer
from builder.base.builder_runtime import GoldenReport, execute_fb
from builder.execution.device_tensors import convert_input_layouts, fetched, host_tensor
from builder.ttir.ttir_builder import TTIRBuilder
from network import Network
from torch import Tensor

runtime = tt_runtime.runtime


@dataclass(frozen=True)
class Format:
    """The numeric format on the chip: dtype of the module, and the compiler's options."""

    dtype: torch.dtype
    pipeline_options: tuple[str, ...] = ()


FORMATS = {
    "f32": Format(torch.float32),
    "bf16": Format(torch.bfloat16),
    "bfp8": Format(torch.bfloat16, ("target-format=bfp_bf8",)),
}


def on_chip(network: Network, images: Tensor, dtype: torch.dtype) -> Callable[[TTIRBuilder], None]:
    """The network with its weights as constants, for `images` [n, 1, 8, 8], as `build_module` takes it."""
    weights = {name: value.detach().to(dtype) for name, value in network.named_parameters()}
    pixels = images.permute(0, 2, 3, 1).contiguous().to(dtype)
    batch = len(images)

    def module(builder: TTIRBuilder) -> None:
        @builder.func([tuple(pixels.shape)], [dtype])
        def digits(images: Any, builder: TTIRBuilder) -> Any:
            builder.set_goldens({images: pixels})

            def convolve(x: Any, name: str) -> Any:
                weight = builder.constant(weights[f"{name}.weight"])
                bias = builder.constant(weights[f"{name}.bias"].reshape(1, 1, 1, -1))
                return builder.conv2d(x, weight, bias, stride=1, padding=1, dilation=1, groups=1, loc=name)

            def dense(x: Any, name: str) -> Any:
                weight = builder.constant(weights[f"{name}.weight"])
                bias = builder.constant(weights[f"{name}.bias"])
                return builder.linear(x, weight, bias, transpose_b=True, loc=name)

            x = builder.relu(convolve(images, "conv1"), loc="relu1")
            x = builder.relu(convolve(x, "conv2"), loc="relu2")
            x = builder.max_pool2d(x, kernel=2, stride=2, dilation=1, padding=0, ceil_mode=False, loc="max_pool")
            x = builder.reshape(x, shape=[batch, 32 * 4 * 4], loc="rows")
            x = builder.relu(dense(x, "hidden"), loc="relu3")
            return builder.softmax(dense(x, "output"), dimension=1, loc="probabilities")

    return module


@dataclass(frozen=True)
class Compiled:
    """A flatbuffer with its goldens, and the TTIR it was made from, as text."""

    binary: Any
    goldens: Any
    intermediates: Any
    ttir: str

    def ttnn_of(self, location: str) -> list[str]:
        """The ops of the compiled program that came from the TTIR op at `location`, as text."""
        ops = json.loads(self.binary.get_program_ops_as_json(0))
        return [op["debug"] for op in ops if op["loc"] == f'loc("{location}")' and op["name"] != "ttnn.deallocate"]


def compile_network(network: Network, images: Tensor, name: str) -> Compiled:
    """The network in one of FORMATS."""
    form = FORMATS[name]
    module, builder = build_module(on_chip(network, images, form.dtype), "ttir")
    ttir = module.operation.get_asm(enable_debug_info=True, large_elements_limit=8, large_resource_limit=64)
    binary, goldens, intermediates = compile_ttir_module_to_flatbuffer(
        module, builder, pipeline_options=list(form.pipeline_options)
    )
    return Compiled(binary, goldens, intermediates, ttir)


@dataclass(frozen=True)
class Run:
    """The results of a run.

    seconds: wall time of a submit with the images on the chip already (median of several); chip_seconds: what the cost
    model estimates for the chip; l1_peak, dram_peak: most bytes in use in one core's L1, in one DRAM channel.
    """

    probabilities: Tensor
    report: GoldenReport
    seconds: float
    chip_seconds: float
    l1_peak: int
    dram_peak: int


def run(compiled: Compiled, images: Tensor, device: Any, repeats: int = 15) -> Run:
    """Run the compiled network on an open device, check every intermediate, then time it without the checks."""
    report = execute_fb(
        compiled.binary,
        compiled.goldens,
        compiled.intermediates,
        device=device,
        enable_intermediate_verification=True,
        pcc=0.98,
    )
    pixels = host_tensor(images.permute(0, 2, 3, 1).contiguous())
    placed = convert_input_layouts(device, [pixels], fbb=compiled.binary, program_index=0)
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        outputs = runtime.submit(device, compiled.binary, 0, placed)
        times.append(time.perf_counter() - started)
    last = runtime.last_run(device)
    assert last is not None
    return Run(
        fetched(outputs[0])[0].float(),
        report,
        statistics.median(times),
        last.device_ns * 1e-9,
        last.l1_peak_bytes_per_bank,
        last.dram_peak_bytes_per_bank,
    )
