# SPDX-License-Identifier: Apache-2.0
"""Random modules on target ttmetal: the values of the reference and of TTNN, or a refusal that names an op or its type.

`--slow` runs 2,000 modules, and 500 under options of the pipeline that are drawn at random.
"""

from __future__ import annotations

import random
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from op_cases import clone, execute, lowered
from random_modules import drawn
from random_values import Value
from test_random_modules import ERROR, check_close
from ttmlir import passes
from ttmlir.ir import MLIRError

COUNT, OPS = 40, 4
MANY, MANY_OPTIONS, BATCH = 2000, 500, 50  # with --slow
LONG = 8  # ops; of a module that is refused, the first half runs

# Options that change no value beyond rounding. Most are drawn for a module.
OPTIONS: dict[str, list[str]] = {
    "override-device-shape": ["1,1", "1,8", "2,3", "5,7", "8,1"],
    "num-stream-buffers": ["1", "3"],
    "disable-tolayout-folding": ["true"],
    "enable-elementwise-fusion": ["false"],
    "enable-multicast-inference": ["false"],
    "enable-op-scheduler": ["false"],
    "max-dst-physical-size-tiles": ["1", "2", "3"],
    "available-l1-addr-range": ["300000,1400001"],
    "test-assume-l1-capacity": ["1300000"],
    "force-spill-to-dram-if-legal": ["true"],
    "allow-l1-output-spilling": ["false"],
    "default-input-memspace": ["dram"],
    "default-output-memspace": ["dram"],
    "stream-insert-policy": ["always"],
    "test-buffer-size-policy": ["min", "max"],
    "matmul-interchange": ["1,0,2"],
    "use-tile-matmul": ["true"],
    "disable-l1-acc": ["true"],
    "force-compile-time-args": ["true"],
    "set-math-fidelity": ["LoFi", "HiFi2", "HiFi3"],
    "insert-profiler-traces": ["true"],
    "profiler-traits": ["all", "fpu,sfpu", "init"],
    "collapse-tensors-2d": ["false"],
    "enable-eltwise-reduction-fusion": ["true"],
    "use-tensor-accessor-dma": ["true"],
}


# Ops, types or sizes; the last one is of use-tile-matmul.
REFUSALS = ("is not lowered to D2M", "does not fit in L1", "which only products of blocks have")


def options_of(number: int) -> str:
    choice = random.Random(number)
    return " ".join(f"{name}={choice.choice(values)}" for name, values in OPTIONS.items() if choice.random() < 0.6)


def check_same(what: str, reference: Value, found: list[torch.Tensor], other: list[torch.Tensor]) -> None:
    """The two targets differ by as much as both may differ from the reference."""
    first, second = found[0].double(), other[0].double()
    assert bool((first.isnan() == second.isnan()).all()), f"{what}: NaN in other places"
    error = float((first - second).abs().max()) if first.numel() else 0.0
    largest = float(second.abs().max()) if second.numel() else 0.0
    bound = 0.0 if reference.exact else 2 * ERROR[reference.dtype] * max(1.0, largest) + 8 * reference.spread
    assert error <= bound, f"{what}: {error:.3g} from ttnn, expected at most {bound:.3g}"


def runs(number: int, ops: int, options: str = "", compare: bool = False) -> bool:
    """Whether a module runs; it may be refused for an op, a type, or its size."""
    module = drawn(number, (1, 1), ops)
    built, builder = module.built()
    metal: Any = clone(built)
    what = f"--seed {number}, {ops} ops, '{options}'"
    try:
        passes.ttir_to_ttmetal_pipeline(metal, options)
    except MLIRError as error:
        assert any(reason in str(error) for reason in REFUSALS), f"{what}: {error}"
        return False
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    inputs = builder.golden_map[0][0].inputs
    found = execute(binary, 0, inputs, (1, 1))
    for output, value in enumerate(module.outputs):
        check_close(f"{what}, output {output}", value, found[output])
    if compare:
        ttnn = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(lowered(built, (1, 1))))
        for output, other in enumerate(execute(ttnn, 0, inputs, (1, 1))):
            check_same(f"{what}, output {output}", module.outputs[output], found[output], other)
    return True


@pytest.mark.long
@pytest.mark.parametrize("part", range(2))
def test_values_or_a_refusal(part: int, seed: int) -> None:
    """Modules of four ops, one program file per module; more than one in four runs."""
    first = seed + part * COUNT
    ran = sum(runs(number, OPS) for number in range(first, first + COUNT))
    assert ran * 4 > COUNT, f"{ran} of {COUNT} modules ran"


@pytest.mark.long
def test_values_under_options(seed: int) -> None:
    for number in range(seed + 1000, seed + 1000 + COUNT // 2):
        if not runs(number, OPS, options_of(number)):
            runs(number, OPS // 2, options_of(number))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MANY, BATCH))
def test_many(first: int, seed: int) -> None:
    for number in range(seed + 5000 + first, seed + 5000 + first + BATCH):
        ops = LONG
        while ops and not runs(number, ops, compare=True):
            ops //= 2


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MANY_OPTIONS, BATCH))
def test_many_under_options(first: int, seed: int) -> None:
    for number in range(seed + 9000 + first, seed + 9000 + first + BATCH):
        ops = LONG
        while ops and not runs(number, ops, options_of(number), compare=True):
            ops //= 2
