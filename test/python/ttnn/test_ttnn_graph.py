# SPDX-License-Identifier: Apache-2.0
"""Captures of calls, and the functions of ttnn that compute no tensor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import ttnn


@pytest.fixture
def device() -> Iterator[ttnn.Device]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def captured(device: ttnn.Device) -> list[dict]:
    x = ttnn.from_torch(
        torch.ones(64, 64, dtype=torch.bfloat16), layout=ttnn.TILE_LAYOUT, device=device,
        memory_config=ttnn.L1_MEMORY_CONFIG,
    )  # fmt: skip
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    ttnn.graph.track_function_start("mine")
    y = ttnn.softmax(ttnn.matmul(x, x, memory_config=ttnn.L1_MEMORY_CONFIG), dim=-1)
    ttnn.graph.track_function_end()
    assert ttnn.graph.is_graph_capture_active()
    assert tuple(y.shape) == (64, 64)
    return ttnn.graph.end_graph_capture()


def test_a_capture_has_functions_tensors_and_buffers(device: ttnn.Device) -> None:
    graph = captured(device)
    assert not ttnn.graph.is_graph_capture_active()
    assert [node["counter"] for node in graph] == list(range(len(graph)))
    assert (graph[0]["node_type"], graph[-1]["node_type"]) == ("capture_start", "capture_end")
    assert json.loads(json.dumps(graph)) == graph
    assert all(isinstance(value, str) for node in graph for value in node["params"].values())
    assert all(0 < sink < len(graph) for node in graph for sink in node["connections"])
    assert ttnn.graph.extract_calltrace(graph) == [
        "mine", "ttnn::matmul", "MatmulDeviceOperation", "ttnn::softmax", "SoftmaxDeviceOperation",
    ]  # fmt: skip
    assert ttnn.graph.count_intermediate_and_output_tensors(graph) == (1, 1)
    [info] = ttnn.graph.extract_output_info(graph)
    assert (info.shape, info.type) == ((64, 64), "L1")
    assert info.size > 0
    # Of the matmul's result and the input at least; a tile of bfloat16 is 2048 bytes.
    assert ttnn.graph.extract_peak_L1_memory_usage(graph) >= 3 * 2048
    durations = ttnn.graph.extract_operation_durations(graph)
    assert [name for name, _ in durations] == ["ttnn::matmul", "ttnn::softmax"]
    assert ttnn.graph.extract_total_duration_from_graph(graph) == sum(time for _, time in durations) > 0
    # Two blocks of a tile of each operand, as K has two, and the result; row, blocks, sums and factors of a softmax.
    sizes = [int(n["params"]["size"]) for n in graph if n["node_type"] == "circular_buffer_allocate"]
    assert sizes == [4096, 4096, 2048, 4096, 8192, 4096, 2048, 4096, 4096, 2048, 2048]
    [matmul] = [n for n in graph if n["params"].get("name") == "MatmulDeviceOperation" and n["arguments"]]
    assert matmul["arguments"][0] == "program_factory=MatmulMultiCoreReuseMcast2DProgramFactory"
    assert "'math_fidelity': 'HiFi2'" in matmul["arguments"][1] and "'in0_block_w': 1" in matmul["arguments"][2]
    lines = ttnn.graph.pretty_format(graph).splitlines()
    assert lines[0] == "mine()"
    assert any(line.startswith("  ttnn::matmul(transpose_a=False") for line in lines)


def test_captures_in_files(device: ttnn.Device, tmp_path: Path) -> None:
    x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    with ttnn.graph.full_graph_capture(tmp_path / "a.json"):
        ttnn.add(x, x)
    report = json.loads((tmp_path / "a.json").read_text())
    assert report["version"] == ttnn.graph.REPORT_VERSION
    assert ttnn.graph.extract_calltrace(report["graph"]) == ["ttnn::add", "BinaryNgDeviceOperation"]


def test_captures_that_are_not_there(device: ttnn.Device) -> None:
    with pytest.raises(RuntimeError, match=r"ttnn.graph.end_graph_capture: there is no capture"):
        ttnn.graph.end_graph_capture()
    with pytest.raises(TypeError, match=r"run_mode is 1; expected a ttnn.graph.RunMode"):
        ttnn.graph.begin_graph_capture(1)
    ttnn.graph.begin_graph_capture()
    with pytest.raises(RuntimeError, match="a capture has begun; end it first"):
        ttnn.graph.begin_graph_capture()
    with pytest.raises(RuntimeError, match="no function has begun"):
        ttnn.graph.track_function_end()
    assert [node["node_type"] for node in ttnn.graph.end_graph_capture()] == ["capture_start", "capture_end"]


def test_sizes_and_kinds() -> None:
    assert [ttnn.element_size(each) for each in (ttnn.float32, ttnn.bfloat16, ttnn.uint8)] == [4, 2, 1]
    assert [ttnn.tile_size(each) for each in (ttnn.float32, ttnn.bfloat16, ttnn.bfloat8_b)] == [4096, 2048, 1088]
    with pytest.raises(ValueError, match=r"ttnn.element_size: dtype is .*BFLOAT8_B"):
        ttnn.element_size(ttnn.bfloat8_b)
    x = ttnn.from_torch(torch.ones(32, 33), layout=ttnn.TILE_LAYOUT)
    assert [ttnn.has_tile_padding(x, dim=dim) for dim in (None, 0, 1)] == [True, False, True]
    with pytest.raises(ValueError, match=r"ttnn.has_tile_padding: dim is 2; expected -2 to 1"):
        ttnn.has_tile_padding(x, dim=2)
    assert ttnn.has_storage_type_of(x, x.storage_type())
    assert ttnn.get_conv_output_dim(224, 7, 2, 3) == 112
    assert ttnn.ttnn_dtype_to_torch_dtype(ttnn.bfloat16) is torch.bfloat16
    assert ttnn.distributed.ShardTensorToMesh is ttnn.ShardTensorToMesh


def test_names_and_golden_functions(tmp_path: Path) -> None:
    names = ttnn.query_registered_operations()
    assert {"ttnn.add", "ttnn.moreh_adam", "ttnn.add_", "ttnn.kv_cache.fill_cache_for_user_"} <= set(names)
    assert not any("experimental" in name for name in names)
    ttnn.dump_operations(tmp_path / "names.csv", include_experimental=True)
    rows = (tmp_path / "names.csv").read_text().splitlines()
    assert "ttnn.celu,True" in rows and "ttnn.experimental.isin,True" in rows

    @ttnn.register_python_operation(name="ttnn.mine", golden_function=torch.relu)
    def mine(x: ttnn.Tensor) -> ttnn.Tensor:
        return ttnn.relu(x)

    assert ttnn.get_golden_function(mine) is torch.relu
    with pytest.raises(ValueError, match="name is 'mine'"):
        ttnn.register_python_operation(name="mine")
    with pytest.raises(TypeError, match="golden_function is 3; expected a function"):
        ttnn.attach_golden_function(mine, 3)


def test_semaphores_and_empty_tensors(device: ttnn.Device) -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))])
    semaphore = ttnn.create_global_semaphore(device, cores, 3)
    assert ttnn.get_global_semaphore_address(semaphore) > 0
    assert ttnn.to_torch(semaphore.tensor).tolist() == [3]
    ttnn.reset_global_semaphore_value(semaphore, 7)
    assert ttnn.to_torch(semaphore.tensor).tolist() == [7]
    with pytest.raises(ValueError, match="initial_value is -1"):
        ttnn.create_global_semaphore(device, cores, -1)
    with pytest.raises(TypeError, match="global_semaphore is 3; expected one of create_global_semaphore"):
        ttnn.get_global_semaphore_address(3)
    x = ttnn.from_torch(torch.ones(4, 5), layout=ttnn.TILE_LAYOUT, device=device)
    result = ttnn.empty_like(x, dtype=ttnn.bfloat16)
    assert (tuple(result.shape), result.dtype, result.layout) == ((4, 5), ttnn.bfloat16, ttnn.TILE_LAYOUT)
