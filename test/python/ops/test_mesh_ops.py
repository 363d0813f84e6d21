# SPDX-License-Identifier: Apache-2.0
"""Ops on meshes of 1x2, 2x2 and 2x4 chips, of operands that are whole, split and replicated."""

from __future__ import annotations

from collections import OrderedDict
from itertools import product
from typing import Any

import pytest
import torch
from builder.base.builder_apis import build_module, compile_and_execute_ttir, compile_ttir_module_to_flatbuffer
from builder.base.builder_runtime import execute_fb
from builder.base.errors import TTBuilderGoldenException, TTBuilderRuntimeException
from builder.execution.verdicts import Verdict, compare_shards
from emit_cases import Subject, compare_python, cpp_batch, of_flatbuffer, of_programs
from golden import GoldenMapTensor
from op_cases import lowered
from op_rows import Case
from op_table_mesh import COLLECTIVES, LOCAL, MESHES, TREATMENTS, Mesh, cases_of


def split_dims(shape: tuple[int, ...]) -> list[int]:
    """The first mesh axis splits the first dimension, the second one the last."""
    return [0, len(shape) - 1] if len(shape) > 1 else [-1, 0]


def counts_of(shape: tuple[int, ...], mesh: Mesh) -> list[int]:
    counts = [1] * len(shape)
    for axis, dim in enumerate(split_dims(shape)):
        if dim >= 0:
            counts[dim] *= mesh[axis]
    return counts


def treated(builder: Any, value: Any, shape: tuple[int, ...], how: str, mesh: Mesh) -> Any:
    """An argument as the op gets it: `shape` on each chip."""
    if how == "whole":
        return value
    kind, counts, dims = "devices", counts_of(shape, mesh), split_dims(shape)
    if how == "replicated":
        kind, counts, dims = "replicate", [1], [-1]
    return builder.mesh_shard(value, kind, "full_to_shard", counts, dims)


def flat(case: Case) -> list[tuple[int, ...]]:
    shapes = [operand for _, operand in case.items()]
    return [s for shape in shapes for s in (shape if isinstance(shape, list) else [shape])]


def combinations(case: Case) -> list[tuple[str, ...]]:
    """All of one or two operands; of more, each treatment of all and each of the first alone."""
    count = len(flat(case))
    if count <= 2:
        return list(product(TREATMENTS, repeat=count))
    return [(how,) * count for how in TREATMENTS] + [(how, *["whole"] * (count - 1)) for how in ("split", "replicated")]


def call(builder: Any, name: str, case: Case, values: list[Any]) -> Any:
    values = list(values)
    given = [
        (key, [values.pop(0) for _ in operand] if isinstance(operand, list) else values.pop(0))
        for key, operand in case.items()
    ]
    positional = [value for key, value in given if isinstance(key, int)]
    by_name = {key: value for key, value in given if isinstance(key, str)}
    return getattr(builder, name)(*positional, **by_name, **case.attributes)


def build(name: str, mesh: Mesh, dtype: torch.dtype) -> tuple[Any, Any]:
    """A function for each case and treatment of its operands; results are returned without annotation."""

    def module(builder: Any) -> None:
        number = 0
        for case in cases_of(name, mesh):
            for hows in combinations(case):
                shapes = [
                    tuple(n * c for n, c in zip(shape, counts_of(shape, mesh), strict=True))
                    if how == "split"
                    else shape
                    for shape, how in zip(flat(case), hows, strict=True)
                ]

                def function(*arguments: Any, case: Case = case, hows: tuple[str, ...] = hows) -> Any:
                    *values, own = arguments
                    each = zip(values, flat(case), hows, strict=True)
                    return call(own, name, case, [treated(own, v, shape, how, mesh) for v, shape, how in each])

                function.__name__ = f"f{number}_{''.join(how[0] for how in hows)}"
                builder.func(shapes, [dtype] * len(shapes))(function)
                number += 1

    return build_module(module, "ttir", mesh_dict=OrderedDict([("x", mesh[0]), ("y", mesh[1])]))


def subject_of(name: str, mesh: Mesh, dtype: torch.dtype = torch.float32) -> tuple[Subject, list[Any]]:
    module, builder = build(name, mesh, dtype)
    goldens = list(builder.golden_map[0].values())
    return Subject(f"{name} on {mesh}", lowered(module, mesh), [g.inputs for g in goldens], mesh), goldens


@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m[0]}x{m[1]}")
@pytest.mark.parametrize("name", [*COLLECTIVES, *LOCAL])
def test_agrees_with_golden(name: str, mesh: Mesh) -> None:
    """Flatbuffer compared with golden, and emitted Python compared with the flatbuffer. Collectives give a shard for
    each chip."""
    subject, goldens = subject_of(name, mesh)
    found = of_flatbuffer(subject)
    for (shards,), expected in zip(found, goldens, strict=True):
        if name in COLLECTIVES:
            assert len(shards) == mesh[0] * mesh[1], f"{expected.name}: {len(shards)} shards"
        for chip, _, comparison in compare_shards(
            expected.outputs[0], shards, Verdict(check_atol=True, check_rtol=True), True
        ):
            assert comparison.within, f"{expected.name}, chip {chip}: {comparison}"
    compare_python(subject, found)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int32], ids=str)
def test_other_types(dtype: torch.dtype) -> None:
    for name in ("all_gather", "all_reduce", "reduce_scatter", "collective_permute", "mesh_partition"):
        subject, goldens = subject_of(name, (2, 4), dtype)
        for outputs, expected in zip(of_flatbuffer(subject), goldens, strict=True):
            verdict = Verdict(check_atol=True, check_rtol=True)
            for chip, _, comparison in compare_shards(expected.outputs[0], outputs[0], verdict, True):
                assert comparison.within, f"{name} {expected.name}, chip {chip}: {comparison}"


@pytest.mark.long
def test_emitted_cpp() -> None:
    subjects = [subject_of(name, (2, 4))[0] for name in ("all_reduce", "all_to_all", "mesh_partition")]
    with cpp_batch(subjects) as batch:
        for subject, programs in zip(subjects, batch, strict=True):
            expected = of_flatbuffer(subject)
            for reference, given in zip(expected, of_programs(subject, programs), strict=True):
                for a, b in zip(reference[0], given[0], strict=True):
                    assert torch.equal(a, b), subject.name


def test_every_collective_has_a_row() -> None:
    from op_table import COLLECTIVE

    assert COLLECTIVE.keys() == COLLECTIVES.keys()


# ---------------------------------------------------------------------- verdicts, and what wants one tensor

MESH = OrderedDict([("x", 2), ("y", 4)])


def compiled(body: Any, shape: tuple[int, ...] = (8, 16)) -> tuple[Any, Any, Any]:
    def module(builder: Any) -> None:
        @builder.func([shape], [torch.float32])
        def main(x, builder):
            return body(x, builder)

    return compile_ttir_module_to_flatbuffer(*build_module(module, "ttir", mesh_dict=MESH))


def test_verdicts_look_at_each_chip() -> None:
    """One golden for all, and one chip that has something else."""
    pairs = [[chip, chip] for chip in range(8) if chip != 5]
    binary, _, _ = compiled(lambda x, b: b.collective_permute(x, source_target_pairs=pairs))
    x = torch.linspace(-1, 1, 128).reshape(8, 16)
    with pytest.raises(TTBuilderGoldenException, match=r"1 of 8 values differ.*\n.*device 5"):
        execute_fb(binary, {0: {"input_0": x, "output_0": x}})
    each = {d: x if d != 5 else torch.zeros_like(x) for d in range(8)}
    assert execute_fb(binary, {0: {"input_0": x, "output_0": GoldenMapTensor(each, (2, 4))}}).passed


def test_inputs_of_all_chips_are_one_where_they_agree() -> None:
    binary, _, _ = compiled(lambda x, b: b.all_reduce(x, reduce_type="sum", cluster_axis=1))
    x = torch.linspace(-1, 1, 128).reshape(8, 16)
    alike = GoldenMapTensor(dict.fromkeys(range(8), x), (2, 4))
    assert execute_fb(binary, {0: {"input_0": alike, "output_0": 4 * x}}).passed
    different = GoldenMapTensor({d: x + (d == 2) for d in range(8)}, (2, 4))
    with pytest.raises(TTBuilderRuntimeException, match="input 0: expected the same values on all 8 chips, but chip 2"):
        execute_fb(binary, {0: {"input_0": different, "output_0": 4 * x}})


def test_a_full_tensor_of_different_shards_is_an_error() -> None:
    def replicated(x: Any, builder: Any) -> Any:
        mine = builder.mesh_partition(x, dim=0)
        return builder.mesh_shard(mine, "replicate", "shard_to_full", [1], [-1])

    def split(x: Any, builder: Any) -> Any:
        mine = builder.collective_permute(x, source_target_pairs=[[0, 3]])
        return builder.mesh_shard(mine, "devices", "full_to_shard", [2, 4], [0, 1])

    for body, golden, chips in (
        (replicated, r"chips \[0, 1, .*\], but \[1, .*\] differ from 0", "but chips 1, 2, 3, 4, 5, 6 and 7 differ"),
        (split, r"chips \[0, 1, .*\], but \[3\] differ from 0", "but chip 3 differs"),
    ):
        binary, goldens, _ = compiled(body)
        with pytest.raises(TTBuilderGoldenException, match=golden):
            _ = goldens[0].outputs
        with pytest.raises(TTBuilderRuntimeException, match=chips):
            execute_fb(binary, {0: {"input_0": goldens[0].inputs[0]}})


def test_constants_and_parameters() -> None:
    """Computes constants of collectives ahead as a shard for each chip."""

    def module(builder: Any) -> None:
        @builder.func([(8, 16), (8, 16)], [torch.float32, torch.float32])
        def main(x, w, builder):
            fixed = builder.mesh_partition(builder.constant(torch.linspace(0, 1, 8 * 64).reshape(8, 64)), dim=1,
                                           cluster_axis=1)  # fmt: skip
            ones = builder.all_reduce(
                builder.ones(shape=[8, 16], dtype=torch.float32), reduce_type="sum", cluster_axis=0
            )
            total = builder.all_reduce(builder.exp(w), reduce_type="sum", cluster_axis=1)
            return builder.add(builder.add(x, fixed), builder.multiply(total, ones))

    report = compile_and_execute_ttir(
        module,
        mesh_dict=MESH,
        argument_types_string="main=input,parameter",
        enable_intermediate_verification=True,
        check_atol=True,
        check_rtol=True,
    )
    assert report.passed
    assert {r.device for r in report.records} == set(range(8))
