# SPDX-License-Identifier: Apache-2.0
"""Captures the calls of a network as a graph: what it calls, which tensors it makes, how much of L1 it needs.

python examples/ttnn/graph_capture.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import torch
import ttnn

ROWS, WIDTH = 64, 128


def main() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, 2 * WIDTH), torch.nn.ReLU(), torch.nn.Softmax(-1)).eval()
    values = torch.randn(ROWS, WIDTH)
    device: Any = ttnn.open_device(device_id=0)
    layer: Any = model[0]
    weight, bias = (
        ttnn.from_torch(each.detach(), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        for each in (layer.weight.T, layer.bias[None])
    )

    def network(x: ttnn.Tensor) -> ttnn.Tensor:
        hidden = ttnn.linear(x, weight, bias=bias, memory_config=ttnn.L1_MEMORY_CONFIG)
        positive = ttnn.relu(hidden, memory_config=ttnn.L1_MEMORY_CONFIG)
        ttnn.deallocate(hidden)
        return ttnn.softmax(positive, dim=-1)

    x = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

    # A plan alone: nothing is computed and no memory is taken.
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    network(x)
    plan = ttnn.graph.end_graph_capture()

    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    result = network(x)
    captured = ttnn.graph.end_graph_capture()
    with torch.no_grad():
        torch.testing.assert_close(ttnn.to_torch(result).float(), model(values), atol=1e-3, rtol=0.05)

    for name, graph in (("plan", plan), ("run", captured)):
        calls = ttnn.graph.extract_calltrace(graph)
        peak = ttnn.graph.extract_peak_L1_memory_usage(graph)
        between, outputs = ttnn.graph.count_intermediate_and_output_tensors(graph)
        print(f"{name}: {len(calls)} calls, {between} tensors between and {outputs} results, {peak:,} bytes of L1")
        assert peak > 0 and outputs == 1
        # Each function and its device operation begin and end.
        started = [node["params"]["name"] for node in graph if node["node_type"] == "function_start"]
        ended = [node["params"]["name"] for node in graph if node["node_type"] == "function_end"]
        assert sorted(started) == sorted(ended)
        text = " ".join(started).lower()
        assert all(word in text for word in ("linear", "relu", "softmax")), started
        # Ids of nodes are their places, and connections lead to nodes.
        assert [node["counter"] for node in graph] == list(range(len(graph)))
        assert all(0 <= at < len(graph) for node in graph for at in node["connections"])
    assert ttnn.graph.extract_calltrace(plan) == ttnn.graph.extract_calltrace(captured)
    (shape,) = (info.shape for info in ttnn.graph.extract_output_info(captured))
    assert list(shape) == [ROWS, 2 * WIDTH], shape

    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
        network(x)
        ttnn.graph.end_graph_capture_to_file(str(report))
        written = json.loads(report.read_text())
        print(f"report: {', '.join(sorted(written))}" if isinstance(written, dict) else f"{len(written)} nodes")
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
