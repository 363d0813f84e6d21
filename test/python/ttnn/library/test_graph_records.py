# SPDX-License-Identifier: Apache-2.0
"""Levels, pictures and records of captures, and the library's modules that names are imported from."""

from __future__ import annotations

import contextlib
import importlib
import json
from pathlib import Path
from typing import Any

import pytest
import ttnn
from ttnn import graph


@pytest.fixture
def captured(device: Any) -> list[Any]:
    """A function of the program's own, which calls two; and one behind it."""
    x = ttnn.ones([32, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    graph.begin_graph_capture()
    graph.track_function_start("block")
    y = ttnn.relu(x, memory_config=ttnn.L1_MEMORY_CONFIG)
    z = ttnn.add(y, x)
    graph.track_function_end()
    ttnn.neg(z)
    return graph.end_graph_capture()


def test_levels(captured: list[Any]) -> None:
    names = [each["name"] for each in graph.extract_levelized_graph(captured)]
    assert names == ["block", "ttnn::neg"]
    two = [each for each in graph.extract_levelized_graph(captured, 2) if "Operation" not in each["name"]]
    assert [(each["name"], each["stacking_level"]) for each in two] == [
        ("block", 1), ("ttnn::relu", 2), ("ttnn::add", 2), ("ttnn::neg", 1),
    ]  # fmt: skip
    block, relu, add, _ = two
    assert block["internals"] == [relu["counter"], add["counter"]]
    assert (relu["out_edges"], add["in_edges"]) == ([add["counter"]], [relu["counter"]])
    assert relu["output_shape"] == ["Shape([32, 64])"]
    assert relu["output_info"] == ["DataType::BFLOAT16, Layout::TILE"]
    with pytest.raises(ValueError, match="max_level is 0; expected 1 or more"):
        graph.extract_levelized_graph(captured, 0)


def test_bytes_of_a_core(captured: list[Any]) -> None:
    found = graph.extract_resource_usage_per_core(captured)
    assert found.peak_l1 >= 2048  # a tile of relu's result in a bank
    assert found.peak_cb > 0
    assert max(found.peak_l1, found.peak_cb) <= found.peak_total <= found.peak_l1 + found.peak_cb
    assert found.peak_total == graph.extract_peak_L1_memory_usage(captured)
    nothing = graph.extract_resource_usage_per_core([])
    assert (nothing.peak_cb, nothing.peak_l1, nothing.peak_total) == (0, 0, 0)


def test_pictures(captured: list[Any], tmp_path: Path, monkeypatch: Any) -> None:
    picture = graph.visualize(captured, file_name=tmp_path / "graph.gv")
    text = (tmp_path / "graph.gv").read_text()
    assert text == picture.source
    assert text.count("subgraph") == sum(node["node_type"] == "function_start" for node in captured)
    assert text.count(" -> ") == sum(len(node["connections"]) for node in captured)
    assert text.count("{") == text.count("}")
    own = graph.visualize(captured, visualize_node=lambda g, node: g.node('say "x"\n'), visualize_edge=lambda *_: None)
    assert own.source.count(r'"say \"x\"\n"') == len(captured)
    program = tmp_path / "dot"
    program.write_text('#!/bin/sh\ncat > "$3"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert Path(picture.render(tmp_path / "graph.svg")).read_text() == picture.source
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(RuntimeError, match="pictures need the program `dot` of Graphviz"):
        picture.render(tmp_path / "graph.svg")


def test_records_of_own_functions(device: Any, tmp_path: Path) -> None:
    assert not graph.is_python_io_recording_enabled()
    assert graph.append_python_io_record("early") is None
    x = ttnn.ones([2, 3], device=device)
    graph.begin_graph_capture()
    assert graph.is_python_io_recording_enabled()
    graph.enable_python_stack_traces()
    record = graph.record_python_operation("own", (x, 3), {"name": "text"})
    graph.disable_python_stack_traces()
    graph.store_output_tensor_ids([7])
    graph.store_captured_graph([])
    graph.record_python_operation_error(record, "ValueError", "too small")
    graph.record_tensor_comparison_data(local_tensor_comparison_records=[{"tensor_id": 1}], tensors=[])
    assert graph.has_comparison_records()
    graph.end_graph_capture_to_file(tmp_path / "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    (found,) = report["python_io"]
    assert [each["name"] for each in found["arguments"]] == ["arg0", "arg1", "name"]
    assert "shape=[2, 3], BFLOAT16" in found["arguments"][0]["value"]
    assert found["input_tensor_ids"] == [x.get_global_id()]
    assert (found["output_tensor_ids"], found["error"]["message"]) == ([7], "too small")
    assert any("test_graph_records" in line for line in found["stack_trace"])
    assert report["comparisons"] == {"local_tensor_comparison_records": [{"tensor_id": 1}]}
    graph.reset_comparison_records_data()
    assert not graph.has_comparison_records()
    assert not graph.is_python_io_recording_enabled()


def test_memories_of_buffers(device: Any) -> None:
    graph.enable_detailed_buffer_tracing()
    try:
        graph.begin_graph_capture()
        result = ttnn.relu(ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=device))
        nodes = graph.end_graph_capture()
    finally:
        graph.disable_detailed_buffer_tracing()
    assert result.shape == (32, 32)
    found = [node["params"] for node in nodes if node["node_type"] == "buffer_allocate"]
    assert found
    assert all(params["num_banks"] == "12" and int(params["free_per_bank"]) > 0 for params in found)


def test_context_managers_are_left_one_by_one() -> None:
    left: list[str] = []

    @contextlib.contextmanager
    def entered(name: str) -> Any:
        yield
        left.append(name)

    with graph.ExitStackWithPop() as stack:
        stack.enter_context(entered("first"))
        stack.enter_context(entered("second"))
        stack.pop()
        assert left == ["second"]
    assert left == ["second", "first"]
    with pytest.raises(IndexError, match="no context manager was entered"):
        stack.pop()


def test_names_are_in_the_modules_of_the_library() -> None:
    for name in (
        "operations.conv2d.Conv2dConfig", "operations.normalization.create_group_norm_input_mask",
        "operations.transformer.SDPAProgramConfig", "types.Tensor", "core.is_sharded", "transformer.SparseKVFormat",
        "decorators.get_golden_function", "distributed.ShardTensorToMesh",
    ):  # fmt: skip
        module, _, last = f"ttnn.{name}".rpartition(".")
        assert getattr(importlib.import_module(module), last) is getattr(ttnn, last)
    assert ttnn.cluster.get_cluster_type() is ttnn.cluster.ClusterType.N150
    assert (ttnn.core.divup(7, 2), ttnn.core.roundup(7, 2)) == (4, 8)
    assert ttnn.device.is_wormhole_b0()
    with ttnn.open_device(device_id=0, arch="blackhole") as chip:
        assert ttnn.device.is_blackhole(chip)
        assert not ttnn.device.is_wormhole_b0(chip)
