# SPDX-License-Identifier: Apache-2.0
"""Ops on meshes as programs of kernels (target="ttmetal"), compared with goldens and with target ttnn."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module, compile_ttir_to_flatbuffer
from builder.base.builder_runtime import execute_fb
from builder.execution.verdicts import Verdict, compare_shards
from op_cases import clone, device, execute
from op_table_mesh import COLLECTIVES, LOCAL, MESHES, Mesh
from test_mesh_ops import build
from ttmlir import passes
from ttmlir.ir import MLIRError

CLOSE = Verdict(check_atol=True, check_rtol=True)


def on_cores(module: Any, mesh: Mesh, options: str = "") -> Any:
    metal = clone(module)
    passes.ttir_to_ttmetal_pipeline(metal, f"mesh-shape={mesh[0]},{mesh[1]} {options}".strip())
    return rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)


def check(name: str, mesh: Mesh, dtype: torch.dtype, options: str = "") -> None:
    module, builder = build(name, mesh, dtype)
    binary = on_cores(module, mesh, options)
    for index, expected in enumerate(builder.golden_map[0].values()):
        found = execute(binary, index, expected.inputs, mesh)
        for golden, shards in zip(expected.outputs, found, strict=True):
            if name in COLLECTIVES:
                assert len(shards) == mesh[0] * mesh[1], f"{expected.name}: {len(shards)} shards"
            for chip, _, comparison in compare_shards(golden, shards, CLOSE, True):
                assert comparison.within, f"{expected.name}, chip {chip}: {comparison}"


@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m[0]}x{m[1]}")
@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives_have_their_goldens(name: str, mesh: Mesh) -> None:
    check(name, mesh, torch.float32)


@pytest.mark.long
@pytest.mark.parametrize("name", LOCAL)
def test_other_ops_keep_the_values_of_each_chip(name: str) -> None:
    check(name, (2, 4), torch.float32)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int32], ids=str)
@pytest.mark.parametrize("name", ["all_gather", "all_reduce", "reduce_scatter", "all_to_all", "mesh_partition"])
def test_other_types(name: str, dtype: torch.dtype) -> None:
    check(name, (1, 2), dtype)


@pytest.mark.parametrize("options", ["override-device-shape=1,1", "force-spill-to-dram-if-legal=true"])
def test_collectives_on_other_grids_and_in_dram(options: str) -> None:
    for name in ("all_gather", "reduce_scatter", "all_to_all", "mesh_partition"):
        check(name, (2, 2), torch.float32, options)


def layers(builder: Any) -> None:
    """Two layers of which each chip has a part: columns of the first weight, rows of the second."""

    def f(x: Any, first: Any, second: Any, own: Any) -> Any:
        x = own.mesh_shard(x, "devices", "full_to_shard", [2, 1], [0, -1])
        first = own.mesh_shard(first, "devices", "full_to_shard", [1, 4], [-1, 1])
        second = own.mesh_shard(second, "devices", "full_to_shard", [4, 1], [-1, 0])
        hidden = own.relu(own.matmul(x, first))
        partial = own.matmul(hidden, second)
        whole = own.all_reduce(partial, reduce_type="sum", cluster_axis=1)
        return own.mesh_shard(whole, "devices", "shard_to_full", [2, 1], [0, -1])

    builder.func([(70, 40), (40, 200), (200, 50)], [torch.float32] * 3)(f)


MESH = OrderedDict([("x", 2), ("y", 4)])


@pytest.mark.parametrize("target", ["ttmetal", "ttnn"])
def test_layers_over_a_mesh(target: str) -> None:
    """Both targets agree with the golden; the result is one tensor."""
    _, path, goldens, _ = compile_ttir_to_flatbuffer(layers, target=target, mesh_dict=MESH)
    report = execute_fb(path, goldens, check_atol=True)
    (output,) = report.programs[0].outputs
    assert output.passed, str(output)


def test_time_of_the_fabric_is_counted() -> None:
    """More bytes over the links take longer, and kernels that only send are bound by them."""

    def gathered(columns: int) -> list[Any]:
        def module(builder: Any) -> None:
            def f(x: Any, own: Any) -> Any:
                return own.all_gather(x, all_gather_dim=0, cluster_axis=1)

            builder.func([(256, columns)], [torch.float32])(f)

        made, builder = build_module(module, "ttir", mesh_dict=OrderedDict([("x", 1), ("y", 2)]))
        binary = on_cores(made, (1, 2))
        (golden,) = builder.golden_map[0].values()
        rt.runtime.set_perf_recording(True)
        try:
            execute(binary, 0, golden.inputs, (1, 2))
            return [op for op in rt.runtime.last_run(device((1, 2))).ops if op.bound == "fabric"]
        finally:
            rt.runtime.set_perf_recording(False)

    small, large = gathered(256), gathered(2048)
    assert len(small) == len(large) == 1
    assert 6 < large[0].device_ns / small[0].device_ns < 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda b, x: b.collective_permute(x, source_target_pairs=[[0, 7]]),
            r"source_target_pairs.*7",
        ),
        (
            lambda b, x: b.rand([8, 8], torch.float32, low=0.0, high=1.0, seed=0),
            "'ttir.rand' is not lowered to D2M: its seed is 0, which draws other numbers in every run",
        ),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    def module(builder: Any) -> None:
        def f(x: Any, own: Any) -> Any:
            return call(own, x)

        builder.func([(8, 8)], [torch.float32])(f)

    with pytest.raises(Exception, match=message) as error:
        made, _ = build_module(module, "ttir", mesh_dict=OrderedDict([("x", 1), ("y", 2)]))
        on_cores(made, (1, 2))
    assert isinstance(error.value, MLIRError) or "TTBuilder" in type(error.value).__name__


def test_replicated_values_that_differ_are_an_error() -> None:
    """A result that the program takes for the same on all chips must be."""

    def module(builder: Any) -> None:
        def f(x: Any, own: Any) -> Any:
            part = own.mesh_shard(x, "devices", "full_to_shard", [1, 2], [-1, 1])
            return own.mesh_shard(own.exp(part), "devices", "shard_to_full", [1, 1], [-1, -1])

        builder.func([(8, 16)], [torch.float32])(f)

    mesh = OrderedDict([("x", 1), ("y", 2)])
    made, builder = build_module(module, "ttir", mesh_dict=mesh)
    binary = on_cores(made, (1, 2))
    golden = next(iter(builder.golden_map[0].values()))
    with pytest.raises(RuntimeError, match="the value of chip 0 is taken for that of chip 1, which differs from it"):
        execute(binary, 0, golden.inputs, (1, 2))
