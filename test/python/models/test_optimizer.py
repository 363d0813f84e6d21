# SPDX-License-Identifier: Apache-2.0
"""Networks and random modules with tensors in L1 and in shards: the same bits, in the time that the compiler said.

Levels of the optimizer change where tensors lie, and nothing that is computed. A program that runs has had room for all
its tensors and circular buffers on the simulated chip: the allocator refuses what has none.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module
from emit_cases import Subject, assert_same, compare_all, compare_python, of_flatbuffer
from golden import GoldenMapTensor
from op_cases import lowered
from ttmlir.passes import ttnn_to_flatbuffer_bin

sys.path.append(str(Path(__file__).resolve().parents[3] / "examples" / "models"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "random_programs"))

from random_modules import drawn
from zoo import ZOO

LEVELS = (1, 2)
SEEDS = range(30)


def at_level(module: Any, level: int, options: str = "") -> Any:
    return lowered(module, (1, 1), f"optimization-level={level} {options}".strip())


def estimate(module: Any) -> Any:
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(module))
    return rt.runtime.estimate(binary, 0, "wormhole_b0", (1, 1))


def network(name: str, kind: torch.dtype, reduced: bool = True, batch: int = 1) -> tuple[Any, list[GoldenMapTensor]]:
    model = ZOO[name]
    result, inputs = model.make(reduced, batch=batch)
    module, _ = build_module(model.on_chip(result, inputs, kind), "ttir")
    return module, [GoldenMapTensor({0: value}) for value in model.chip_inputs(inputs, kind)]


@pytest.mark.parametrize("name", ZOO)
def test_networks_give_the_same_bits(name: str) -> None:
    module, inputs = network(name, torch.bfloat16)
    expected = of_flatbuffer(Subject(name, lowered(module, (1, 1)), [inputs]))
    for level in LEVELS:
        subject = Subject(f"{name} at level {level}", at_level(module, level), [inputs])
        found = of_flatbuffer(subject)
        assert_same(subject.name, expected[0], found[0])
        compare_python(subject, found)


def one_row(transposed: bool, kind: torch.dtype = torch.bfloat16) -> tuple[Any, list[GoldenMapTensor]]:
    """A product of one row of tiles with a weight that is a constant, twice."""
    torch.manual_seed(0)
    values = torch.randn(32, 256, dtype=kind)
    first, second = torch.randn(256, 1024, dtype=kind), torch.randn(1024, 416, dtype=kind)

    def module(builder: Any) -> None:
        @builder.func([values.shape], [kind])
        def main(x: Any, builder: Any) -> Any:
            for weight in (first, second):
                result = builder.constant(weight.T.contiguous() if transposed else weight)
                x = builder.matmul(x, result, transpose_b=transposed)
            return x

    return build_module(module, "ttir")[0], [GoldenMapTensor({0: values})]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("weights", ["", "experimental-weight-dtype=bfp_bf8"])
def test_weights_in_shards_of_dram_give_the_same_bits(transposed: bool, weights: str) -> None:
    module, inputs = one_row(transposed)
    expected = of_flatbuffer(Subject("level 0", lowered(module, (1, 1), weights), [inputs]))
    compiled = at_level(module, 2, weights)
    assert "dram_sharded_program_config" in str(compiled)
    subject = Subject("level 2", compiled, [inputs])
    found = of_flatbuffer(subject)
    assert_same(subject.name, expected[0], found[0])
    compare_python(subject, found)
    assert estimate(compiled).device_ns < estimate(lowered(module, (1, 1), weights)).device_ns


@pytest.mark.long
def test_emitted_cpp_gives_the_same_bits() -> None:
    result = {name: network(name, torch.bfloat16) for name in ("resnet-50", "bert-base")} | {"row": one_row(True)}
    subjects = [
        Subject(f"{name} at level 2", at_level(module, 2), [inputs]) for name, (module, inputs) in result.items()
    ]
    problems = compare_all(subjects)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("options", ["enable-trace=true", "pipeline-stages=2"])
def test_traces_and_stages_give_the_same_bits(options: str) -> None:
    mesh = (1, 2) if "stages" in options else (1, 1)
    for name in ("resnet-18", "bert-base"):
        module, inputs = network(name, torch.bfloat16)
        expected = of_flatbuffer(Subject(name, lowered(module, (1, 1)), [inputs]))
        subject = Subject(name, lowered(module, mesh, f"{options} optimization-level=2"), [inputs], mesh)
        assert_same(f"{name}, {options}", expected[0], of_flatbuffer(subject)[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_random_modules_give_the_same_bits(seed: int) -> None:
    module, builder = drawn(seed).built()
    inputs = builder.golden_map[0][0].inputs
    expected = of_flatbuffer(Subject(f"seed {seed}", lowered(module, (1, 1)), [inputs]))
    for level in LEVELS:
        subject = Subject(f"seed {seed} at level {level}", at_level(module, level), [inputs])
        assert_same(subject.name, expected[0], of_flatbuffer(subject)[0])


@pytest.mark.long
@pytest.mark.parametrize("name", ["resnet-18", pytest.param("bert-base", marks=pytest.mark.slow)])
def test_levels_take_less_time_on_the_chip(name: str) -> None:
    module, _ = network(name, torch.bfloat16, reduced=False)
    times = [estimate(at_level(module, level)).device_ns for level in (0, *LEVELS)]
    assert times[1] < times[0] and times[2] <= times[1], times


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["resnet-18", *(pytest.param(n, marks=pytest.mark.slow) for n in ("bert-base", "llama-block-prefill"))]
)
def test_the_compiler_and_the_clock_agree(name: str, tmp_path: Path) -> None:
    """The trace has the compiler's time for each op; the clock counts the same from the flatbuffer."""
    module, _ = network(name, torch.bfloat16, reduced=False)
    compiled = at_level(module, 2, f"enable-decision-trace=true decision-trace-dir={tmp_path}")
    trace = json.loads((tmp_path / "main.json").read_text())
    clock = estimate(compiled).device_ns
    moves = 4e3 * sum(op.name == "ttnn.to_memory_config" for op in estimate(compiled).ops)
    assert trace["ns"] == pytest.approx(clock, rel=0.1, abs=moves + 2e4)
    assert trace["dram_ns"] > trace["ns"]


@pytest.mark.long
def test_little_room_sends_tensors_back(tmp_path: Path) -> None:
    """A share of L1 that holds little: results stay the same, and the trace says what went back to DRAM, and why."""
    module, inputs = network("resnet-18", torch.bfloat16, reduced=False, batch=2)
    share = f"tensor-l1-usage-cap=0.03 enable-decision-trace=true decision-trace-dir={tmp_path}"
    subject = Subject("resnet-18, little room", at_level(module, 2, share), [inputs])
    expected = of_flatbuffer(Subject("resnet-18", lowered(module, (1, 1)), [inputs]))
    assert_same(subject.name, expected[0], of_flatbuffer(subject)[0])
    trace = json.loads((tmp_path / "main.json").read_text())
    assert trace["l1_peak_bytes"] <= 0.03 * trace["l1_bytes_per_core"]
    assert trace["spills"] and all("needed again last" in spill["reason"] for spill in trace["spills"])
    page = (tmp_path / "main.html").read_text()
    assert "Back to DRAM" in page and "places were possible" in page
