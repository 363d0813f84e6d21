# SPDX-License-Identifier: Apache-2.0
"""The networks of examples/models, whole as programs of kernels on cores, compared with the same in plain torch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module
from metal_models import compared
from test_models import DTYPES, Prepared, check
from ttmlir import passes
from zoo import ZOO


def prepared(name: str, dtype: str, reduced: bool, options: str = "") -> Prepared:
    model = ZOO[name]
    network, inputs = model.make(reduced)
    with torch.inference_mode():
        expected = network(*inputs)
    kind = DTYPES[dtype]
    module, _ = build_module(model.on_chip(network, inputs, kind), "ttir")
    passes.ttir_to_ttmetal_pipeline(module, options)
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(module), allow_native=True)
    return Prepared(
        name, dtype, binary, model.chip_inputs(inputs, kind), expected if isinstance(expected, tuple) else (expected,)
    )


def by_turns(names: Iterable[str], others: Iterable[str]) -> list[Any]:
    """Pairs: each name with one of the others, the next name with the next one; --slow runs all."""
    others = list(others)
    return [
        pytest.param(name, other, marks=[] if at == place % len(others) else [pytest.mark.slow])
        for place, name in enumerate(names)
        for at, other in enumerate(others)
    ]


@pytest.mark.long
@pytest.mark.parametrize(("name", "dtype"), by_turns(ZOO, DTYPES))
def test_agrees_with_torch_on_cores(name: str, dtype: str) -> None:
    check(prepared(name, dtype, reduced=True))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "grid"), by_turns(["resnet-18", "bert-base", "llama-block-prefill"], ["7,8", "3,5", "1,1"])
)
def test_on_other_grids(name: str, grid: str) -> None:
    check(prepared(name, "f32", reduced=True, options=f"override-device-shape={grid}"))


@pytest.mark.parametrize("name", ["mnist", "bert-base"])
def test_the_table_of_networks(name: str, tmp_path: Path) -> None:
    """Its figures, and the timeline of a network on both targets."""
    metal, library = compared(name, reduced=True, folder=tmp_path)
    assert min(metal.pcc, library.pcc) >= 0.999
    assert metal.programs > library.programs > 0 and metal.sources > library.sources > 0
    assert 0 < metal.l1 < 1499136 and 0 < library.l1 < 1499136
    assert metal.device_ns > library.device_ns > 0
    events = json.loads((tmp_path / name / "trace.json").read_text())["traceEvents"]
    assert sum(event["name"] == "EnqueueProgramCommand" for event in events if event["pid"] == 2) == metal.programs
    assert any(event["pid"] == 3 and event["ph"] == "X" for event in events)


@pytest.mark.slow
@pytest.mark.parametrize("name", ZOO)
def test_agrees_with_torch_on_cores_in_full(name: str) -> None:
    """As published."""
    check(prepared(name, "bf16", reduced=False))
