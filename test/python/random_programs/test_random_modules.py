# SPDX-License-Identifier: Apache-2.0
"""Random modules, on one chip and on meshes: the chip, the goldens, hooks and emitted Python compared with a
reference."""

from __future__ import annotations

from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import compile_ttir_module_to_flatbuffer
from builder.base.builder_runtime import execute_fb
from builder.execution.device_tensors import load_binary
from emit_cases import Subject, assert_same, compare_python, of_flatbuffer
from op_cases import HOST, execute, lowered, tagged
from random_modules import MESHES, THIN, drawn
from random_values import ANY, HELD, Kind, Module, Value
from ttmlir.passes import ttnn_to_flatbuffer_bin

ALL_MESHES = ((1, 1), *MESHES)
SAMPLE = 10  # modules for each mesh
MANY, MANY_THIN, BATCH = 2000, 3000, 50  # with --slow
# Passes that are off by default, and change no value beyond rounding.
OPTIONAL = (
    "enable-permute-matmul-fusion=true enable-fusing-conv2d-with-multiply-pattern=true enable-remove-dead-values=true "
    "enable-const-eval-inputs-to-system-memory=true enable-cpu-hoisted-const-eval=true enable-trace=true"
)
# Error compared with the largest value of a result. What a module amplifies comes on top: a few times how far its
# reference is from itself with errors of rounding (Value.spread).
ERROR = {torch.float32: 1e-4, torch.float64: 1e-4, torch.float16: 0.004, torch.bfloat16: 0.03}
AMPLIFIED = 4


def check_close(what: str, reference: Value, found: list[torch.Tensor], of_chip: bool = True) -> None:
    """of_chip: as the chip holds it, which lacks some types."""
    dtype = HELD.get(reference.dtype, reference.dtype) if of_chip else reference.dtype
    assert len(found) in (1, len(reference.shards)) or len(reference.shards) == 1, f"{what}: {len(found)} shards"
    for chip in range(max(len(found), len(reference.shards))):
        expected, given = reference.at(chip), found[chip if len(found) > 1 else 0]
        assert (given.shape, given.dtype) == (expected.shape, dtype), (
            f"{what}, chip {chip}: {given.dtype} {tuple(given.shape)}, expected {dtype} {tuple(expected.shape)}"
        )
        error = float((given.double() - expected.double()).abs().max()) if expected.numel() else 0.0
        bound = 0.0
        if not reference.exact:
            largest = float(expected.double().abs().max())
            bound = ERROR[expected.dtype] * max(1.0, largest) + AMPLIFIED * reference.spread
        assert error <= bound, f"{what}, chip {chip}: largest error {error:.3g}, expected at most {bound:.3g}"


def check_ops(module: Any, builder: Any) -> None:
    """Every op that the compiler left, on the goldens of its operands, within what its dtype explains."""
    function = next(iter(module.body.operations))
    ops = [view.operation for view in function.regions[0].blocks[0].operations]
    builder.goldens.checked = [op.results[0] for op in ops if len(op.results)]
    data, goldens, intermediates = compile_ttir_module_to_flatbuffer(module, builder)
    binary = load_binary(data)
    there: set[str] = set()
    for index in range(binary.get_num_programs()):
        rt.runtime.walk_program(binary, index, lambda op: there.add(rt.runtime.get_op_source(op)))
    execute_fb(
        binary,
        goldens,
        intermediates,
        bypass_ops=sorted(there & set(intermediates)),
        enable_intermediate_verification=True,
        check_atol=True,
        check_rtol=True,
        check_pcc=False,
    )


def is_of_host(op: Any) -> bool:
    """Whether the host has code for the op; of powers it has some."""
    return op.name in HOST and op.name != "ttir.pow"


def check_other_paths(drawn_module: Module, module: Any, inputs: Any) -> None:
    """All optional passes, and the host as far as it goes: the same values."""
    paths = {"optional passes": (module, OPTIONAL), "host": (tagged(module, is_of_host), "")}
    for name, (source, options) in paths.items():
        data = ttnn_to_flatbuffer_bin(lowered(source, drawn_module.mesh, options))
        binary = rt.binary.load_binary_from_bytes(data, allow_native=True)
        index = next(i for i in range(binary.get_num_programs()) if not binary.is_program_private(i))
        found = execute(binary, index, inputs, drawn_module.mesh)
        for output, value in enumerate(drawn_module.outputs):
            check_close(f"{name}: output {output}", value, found[output])


def check_module(drawn_module: Module) -> None:
    module, builder = drawn_module.built()
    goldens = builder.golden_map[0][0]
    for index, value in enumerate(drawn_module.outputs):
        golden = goldens.outputs[index]
        check_close(f"golden of output {index}", value, [golden.shard_at(d) for d in sorted(golden.shard_map)], False)
    subject = Subject(
        f"seed {drawn_module.seed}", lowered(module, drawn_module.mesh), [goldens.inputs], drawn_module.mesh
    )
    found = of_flatbuffer(subject)
    for index, value in enumerate(drawn_module.outputs):
        check_close(f"output {index}", value, found[0][index])
    check_other_paths(drawn_module, module, goldens.inputs)
    kept = rt.runtime.DebugHooks.get(post_op=lambda binary, program, op: None)
    try:
        assert_same("with hooks", found[0], of_flatbuffer(subject)[0])
    finally:
        rt.runtime.unregister_hooks()
        del kept
    compare_python(subject, found)
    check_ops(module, builder)


def check(seed: int, mesh: tuple[int, int], ops: int | None = None, kind: Kind = ANY) -> None:
    module = drawn(seed, mesh, ops, kind)
    try:
        check_module(module)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n\n{module.program}") from error


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("mesh", ALL_MESHES, ids=str)
def test_sample(mesh: tuple[int, int], seed: int) -> None:
    for number in range(seed, seed + SAMPLE):
        check(number, mesh)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, MANY, BATCH))
def test_many(start: int, seed: int) -> None:
    for number in range(seed + start, seed + start + BATCH):
        check(number, ALL_MESHES[number % len(ALL_MESHES)])


@pytest.mark.long
def test_sample_of_bf16_with_sizes_of_1(seed: int) -> None:
    for number in range(seed, seed + SAMPLE):
        check(number, (1, 1), kind=THIN)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, MANY_THIN, BATCH))
def test_many_of_bf16_with_sizes_of_1(start: int, seed: int) -> None:
    for number in range(seed + start, seed + start + BATCH):
        check(number, (1, 1), kind=THIN)


def test_a_seed_gives_the_same_module() -> None:
    for mesh in ALL_MESHES:
        assert drawn(7, mesh).program == drawn(7, mesh).program
        assert drawn(7, mesh).program != drawn(8, mesh).program
