# SPDX-License-Identifier: Apache-2.0
"""Running a network again: the same bits, whatever the number of threads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module, compile_ttir_module_to_flatbuffer
from builder.execution.device_tensors import convert_input_layouts, host_tensor
from op_cases import device
from torch import Tensor

sys.path.append(str(Path(__file__).resolve().parents[3] / "examples" / "models"))

from zoo import ZOO

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


@pytest.fixture
def threads() -> Iterator[Any]:
    """set_threads, undone at the end."""
    yield rt.runtime.set_threads
    rt.runtime.set_threads(0)


def run(binary: Any, inputs: list[Tensor]) -> list[bytes]:
    """Inputs are placed anew: a cache that the network updates in place begins with the same values."""
    placed = convert_input_layouts(device(), [host_tensor(x) for x in inputs], fbb=binary, program_index=0)
    return [bytes(output.get_data_buffer()) for output in rt.runtime.submit(device(), binary, 0, placed)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ZOO)
def test_same_bits(name: str, dtype: str, threads: Any, tmp_path: Path) -> None:
    """Prepared for one and for two threads, and run on both."""
    model, kind = ZOO[name], DTYPES[dtype]
    network, inputs = model.make(True)
    module, builder = build_module(model.on_chip(network, inputs, kind), "ttir")
    binary, *_ = compile_ttir_module_to_flatbuffer(module, builder)
    path = str(tmp_path / "model.ttnn")
    binary.store(path)
    chip_inputs = model.chip_inputs(inputs, kind)
    found = {}
    for prepared in (1, 2):
        threads(prepared)
        binary = rt.binary.load_binary_from_path(path)  # nothing is kept of one that was loaded before
        for count in (prepared, 1, 2):
            threads(count)
            found[prepared, count] = run(binary, chip_inputs)
    expected = found[1, 1]
    assert [key for key, bits in found.items() if bits != expected] == []
