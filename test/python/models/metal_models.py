# SPDX-License-Identifier: Apache-2.0
"""Whole networks on target ttmetal compared with target ttnn: kernels, L1, time on the chip, agreement, and timelines.

`PYTHONPATH=test/python/models:test/python/ops python test/python/models/metal_models.py` prints a table, in bf16. Its
options are names of networks, `--reduced` for small ones of the same kinds, and `--trace DIR`, which writes the
profiler's report of each network to a folder of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.base.builder_apis import build_module, compile_ttir_module_to_flatbuffer
from golden import get_pcc
from op_cases import clone, device
from profiler import trace
from test_models import ZOO, on_chip
from torch import Tensor, nn
from ttmlir import passes


class Mnist(nn.Module):
    """Holds the layers of a network for images of 28 x 28 pixels: 784, 256, 128 and 10 values."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in ((784, 256), (256, 128), (128, 10)))

    def forward(self, images: Tensor) -> Tensor:
        """Returns probabilities [n, 10] of images [n, 784]."""
        for layer in self.layers[:-1]:
            images = torch.relu(layer(images))
        return torch.softmax(self.layers[-1](images), dim=1)


def mnist(reduced: bool) -> tuple[Callable[[Any], None], list[Tensor], tuple[Tensor, ...]]:
    """The network as build_module takes it, its inputs, and what torch computes."""
    torch.manual_seed(0)
    network = Mnist().eval().requires_grad_(False)
    images = torch.rand(32 if reduced else 128, 784)
    given = images.bfloat16()

    def module(builder: Any) -> None:
        @builder.func([tuple(images.shape)], [torch.bfloat16])
        def main(x: Any, b: Any) -> Any:
            for at, layer in enumerate(network.layers):
                weight, bias = (b.constant(value.bfloat16()) for value in (layer.weight, layer.bias))
                x = b.linear(x, weight, bias, transpose_b=True)
                x = b.relu(x) if at < 2 else b.softmax(x, dimension=1)
            return x

    return module, [given], (network(images),)


def network_of(name: str, reduced: bool) -> tuple[Callable[[Any], None], list[Tensor], tuple[Tensor, ...]]:
    if name == "mnist":
        return mnist(reduced)
    model = ZOO[name]
    network, inputs = model.make(reduced)
    with torch.inference_mode():
        expected = network(*inputs)
    return (
        model.on_chip(network, inputs, torch.bfloat16),
        model.chip_inputs(inputs, torch.bfloat16),
        expected if isinstance(expected, tuple) else (expected,),
    )


NAMES = ("mnist", *ZOO)


@dataclass(frozen=True)
class Ran:
    """A program that has run. programs: of kernels. sources: different kernels. l1, dram: most bytes per bank, with
    circular buffers. pcc: with torch in f32, the least of all outputs."""

    programs: int
    sources: int
    l1: int
    dram: int
    device_ns: float
    pcc: float


def ran(binary: Any, inputs: list[Tensor], expected: Sequence[Tensor]) -> Ran:
    found = on_chip(binary, inputs)
    report = rt.runtime.last_run(device())
    pcc = min(get_pcc(torchs, ours.float()) for torchs, ours in zip(expected, found, strict=True))
    if binary.file_identifier == "TTM0":
        programs = sum(op.name == "EnqueueProgramCommand" for op in report.ops)
        l1 = report.l1_peak_bytes_per_bank
        commands = json.loads(binary.as_json())["programs"][0]["operations"]
        kernels = [kernel for command in commands for kernel in command["attributes"].get("kernels", ())]
        sources = len({kernel["symbol"] for kernel in kernels})
    else:
        programs = sum(op.programs for op in report.ops)
        l1 = max(op.l1_resident_bytes_per_bank + op.circular_buffer_bytes for op in report.ops)
        sources = len({op.name for op in report.ops if op.programs})
    return Ran(programs, sources, l1, report.dram_peak_bytes_per_bank, report.device_ns, pcc)


def compared(name: str, reduced: bool, folder: Path | None = None) -> tuple[Ran, Ran]:
    """The network on target ttmetal and on target ttnn."""
    made, inputs, expected = network_of(name, reduced)
    module, builder = build_module(made, "ttir")
    metal = clone(module)
    passes.ttir_to_ttmetal_pipeline(metal)
    kernels = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    library, *_ = compile_ttir_module_to_flatbuffer(module, builder)
    rt.runtime.set_perf_recording(True)
    try:
        with trace(folder / name) if folder else contextlib.nullcontext():
            return ran(kernels, inputs, expected), ran(library, inputs, expected)
    finally:
        rt.runtime.set_perf_recording(False)


def table(names: Sequence[str], reduced: bool, folder: Path | None = None) -> Iterator[str]:
    yield "| network | programs of kernels | different kernels | L1 per core, KiB | DRAM per bank, MiB | ms | PCC |"
    yield "|---|---|---|---|---|---|---|"
    for name in names:
        pairs = compared(name, reduced, folder)
        cells = (
            [f"{each.programs}" for each in pairs],
            [f"{each.sources}" for each in pairs],
            [f"{each.l1 / 1024:.0f}" for each in pairs],
            [f"{each.dram / 2**20:.1f}" for each in pairs],
            [f"{each.device_ns / 1e6:.3f}" for each in pairs],
            [f"{each.pcc:.5f}" for each in pairs],
        )
        yield f"| {name} | {' | '.join(' / '.join(pair) for pair in cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares networks on target ttmetal with target ttnn.")
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--reduced", action="store_true", help="small networks of the same kinds")
    parser.add_argument("--trace", type=Path, metavar="DIR", help="write timelines")
    arguments = parser.parse_args()
    for line in table(arguments.names, arguments.reduced, arguments.trace):
        print(line, flush=True)


if __name__ == "__main__":
    main()
