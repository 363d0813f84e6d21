# SPDX-License-Identifier: Apache-2.0
"""The networks of examples/models on the simulated chip compared with the same in plain torch."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module, compile_ttir_module_to_flatbuffer, split_mlir_file
from builder.base.builder_runtime import execute_fb
from builder.execution.device_tensors import convert_input_layouts, fetched, host_tensor
from golden import get_pcc
from op_cases import device
from torch import Tensor

sys.path.append(str(Path(__file__).resolve().parents[3] / "examples" / "models"))

from zoo import ZOO

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def on_chip(binary: Any, inputs: list[Tensor]) -> list[Tensor]:
    placed = convert_input_layouts(device(), [host_tensor(x) for x in inputs], fbb=binary, program_index=0)
    return [fetched(output)[0] for output in rt.runtime.submit(device(), binary, 0, placed)]


@dataclass(frozen=True)
class Prepared:
    """A network compiled for the chip, what goes into it, and what torch computes in f32."""

    name: str
    dtype: str
    binary: Any
    inputs: list[Tensor]
    expected: tuple[Tensor, ...]


def prepared(name: str, dtype: str, reduced: bool) -> Prepared:
    model = ZOO[name]
    network, inputs = model.make(reduced)
    with torch.inference_mode():
        expected = network(*inputs)
    kind = DTYPES[dtype]
    module, builder = build_module(model.on_chip(network, inputs, kind), "ttir")
    binary, *_ = compile_ttir_module_to_flatbuffer(module, builder)
    return Prepared(
        name, dtype, binary, model.chip_inputs(inputs, kind), expected if isinstance(expected, tuple) else (expected,)
    )


def check(model: Prepared) -> None:
    """f32: no error above 1e-4 of the range of torch's values; bf16: correlated 0.999 with torch in f32."""
    found = on_chip(model.binary, model.inputs)
    assert len(found) == len(model.expected)
    for i, (ours, torchs) in enumerate(zip(found, model.expected, strict=True)):
        assert ours.shape == torchs.shape and ours.dtype == DTYPES[model.dtype]
        ours = ours.float()
        error = float((ours - torchs).abs().max() / (torchs.max() - torchs.min()))
        pcc = get_pcc(torchs, ours)
        print(f"{model.name} {model.dtype}, output {i}: largest error {error:.3g} of the range, PCC {pcc:.6f}")
        if model.dtype == "f32":
            assert error <= 1e-4, f"output {i}: error {error:.3g} of the range"
        else:
            assert pcc >= 0.999, f"output {i}: PCC {pcc:.6f}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ZOO)
def test_agrees_with_torch(name: str, dtype: str) -> None:
    """Networks of the same kinds of layers, a few of them and narrow."""
    check(prepared(name, dtype, reduced=True))


@pytest.mark.parametrize("name", ZOO)
def test_every_op_alone(name: str) -> None:
    """Split into modules of one op each, which run on the values that they have in the whole."""
    model = ZOO[name]
    network, inputs = model.make(True)
    parts = split_mlir_file(*build_module(model.on_chip(network, inputs, torch.float32), "ttir"))
    for module, builder in parts:
        report = execute_fb(*compile_ttir_module_to_flatbuffer(module, builder), check_atol=True, check_rtol=True)
        assert len(report.records) >= 1
    assert len(parts) > 20


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ZOO)
def test_agrees_with_torch_in_full(name: str, dtype: str) -> None:
    """As published."""
    check(prepared(name, dtype, reduced=False))
