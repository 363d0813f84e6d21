# SPDX-License-Identifier: Apache-2.0
"""Networks and random modules whose ops request grids of cores: the same bits as without, at each level."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from builder.base.builder_apis import build_module
from emit_cases import Subject, assert_same, compare_python, of_flatbuffer
from golden import GoldenMapTensor
from op_cases import lowered
from ttmlir import ir

sys.path.append(str(Path(__file__).resolve().parents[3] / "examples" / "models"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "random_programs"))

from random_modules import drawn
from zoo import ZOO

pytestmark = pytest.mark.filterwarnings("ignore:.*ttcore.grid")  # kernels that have no shards on a grid
LEVELS = (0, 1, 2)
FUSING = "enable-fusing-pass=false"  # requests keep ops apart that are rounded once if they are fused
ROWS, COLUMNS = (1, 2, 3, 4, 8), (1, 1, 2, 4)  # small tensors have one column of tiles


def request_grids(module: Any, seed: int) -> int:
    """Has two thirds of the ops with a tensor request a random grid; returns how many do."""
    draw, count = random.Random(seed), 0
    for function in module.body.operations:
        for op in function.regions[0].blocks[0].operations if function.regions else ():
            tensors = len(op.results) == 1 and isinstance(op.results[0].type, ir.RankedTensorType)
            if tensors and len(op.operation.operands) and draw.random() < 0.67:
                grid = f"#ttcore.grid<{draw.choice(ROWS)}x{draw.choice(COLUMNS)}>"
                op.attributes["ttcore.grid"] = ir.Attribute.parse(grid, module.context)
                count += 1
    return count


def compare(name: str, module: Any, inputs: list[Any], seed: int) -> int:
    """Returns how many results are copied from a grid of cores to DRAM, without a level of the optimizer."""
    expected = of_flatbuffer(Subject(name, lowered(module, (1, 1), FUSING), inputs))
    assert request_grids(module, seed)
    copies = 0
    for level in LEVELS:
        program = lowered(module, (1, 1), f"{FUSING} optimization-level={level}")
        copies += str(program).count("ttnn.to_memory_config") if level == 0 else 0
        subject = Subject(f"{name} with grids at level {level}", program, inputs)
        found = of_flatbuffer(subject)
        assert_same(subject.name, expected[0], found[0])
        compare_python(subject, found)
    return copies


@pytest.mark.long
@pytest.mark.parametrize("name", ["resnet-18", "mobilenet-v2", "bert-base"])
def test_networks_give_the_same_bits_on_grids(name: str) -> None:
    model = ZOO[name]
    result, inputs = model.make(True, batch=1)
    module, _ = build_module(model.on_chip(result, inputs, torch.bfloat16), "ttir")
    given = [GoldenMapTensor({0: value}) for value in model.chip_inputs(inputs, torch.bfloat16)]
    assert compare(name, module, [given], 0)


@pytest.mark.parametrize("seed", range(20))
def test_random_modules_give_the_same_bits_on_grids(seed: int) -> None:
    module, builder = drawn(seed).built()
    compare(f"seed {seed}", module, [builder.golden_map[0][0].inputs], seed)
