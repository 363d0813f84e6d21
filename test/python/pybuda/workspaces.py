# SPDX-License-Identifier: Apache-2.0
"""Files that the compiler leaves of a small model: netlist, placement, and the data of a performance run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NETLIST = """# net
devices:
  arch: wormhole_b0

queues:
  act:     {input: HOST, type: queue, entries: 2, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], \
ublock_order: r, df: Float16_b, target_device: 0, loc: host, host: [[0, 0x0]]}

graphs:
  fwd_0_0_temporal_epoch_0:
    target_device: 0
    input_count: 1
    first_matmul: {type: matmul, grid_loc: [0, 0], grid_size: [2, 5], inputs: [act, w1],
         t: 1, mblock: [2, 1], ublock: [2, 2], math_fidelity: HiFi3, attributes: {m_k: 4, u_kt: 1}}
    gelu: {type: gelu, grid_loc: [0, 5], grid_size: [2, 1], inputs: [first_matmul], t: 1, mblock: [2, 1],
         ublock: [2, 2], math_fidelity: HiFi3}

  fwd_0_1_temporal_epoch_0:
    target_device: 1
    input_count: 1
    encoder.layer.0.attention.self.query.a_name_that_is_longer_than_a_column.matmul.1: {type: matmul, \
grid_loc: [0, 0], grid_size: [4, 4], inputs: [gelu, w2],
         t: 2, mblock: [1, 1], ublock: [1, 1], math_fidelity: LoFi, attributes: {m_k: 1, u_kt: 4}}

  fwd_0_2_temporal_epoch_1:
    target_device: 0
    input_count: 1
    last: {type: add, grid_loc: [0, 0], grid_size: [1, 1], inputs: [e2e_queue], t: 1, mblock: [1, 1], ublock: [1, 1]}
"""
LONG = "encoder.layer.0.attention.self.query.a_name_that_is_longer_than_a_column.matmul.1"
# Op: epoch, temporal epoch, chip, est, kernel, bw_kernel, what it waits for, bytes a cycle in and out.
TIMES = {
    "first_matmul": (0, 0, 0, 4000, 4100, 8200, "dram read", (64.0, 32.0), (0.0, 0.0)),
    "gelu": (0, 0, 0, 900, 1000, 1000, "", (0.0, 0.0), (8.0, 8.0)),
    LONG: (1, 0, 1, 5000, 5000, 5000, "", (1.5, 1.5), (2.5, 2.5)),
    "last": (2, 1, 0, 1700, 1800, 1800, "", (0.0, 0.0), (4.0, 4.0)),
}
GRIDS = {"first_matmul": (2, 5), "gelu": (2, 1), LONG: (4, 4), "last": (1, 1)}
TYPES = {"first_matmul": "matmul", "gelu": "gelu", LONG: "matmul", "last": "add"}
PLACES = {"first_matmul": [0, 0], "gelu": [0, 5], LONG: [0, 0], "last": [0, 0]}
INPUTS = {"first_matmul": ["act", "w1"], "gelu": ["first_matmul"], LONG: ["gelu", "w2"], "last": ["e2e_queue"]}


def op(name: str) -> dict[str, Any]:
    _, _, _, est, _, cycles, limiter, _, _ = TIMES[name]
    is_matmul = TYPES[name] == "matmul"
    return {
        "name": name, "type": TYPES[name], "source": name, "grid_loc": PLACES[name], "grid_size": list(GRIDS[name]),
        "size": list(GRIDS[name]), "grid_transpose": False, "tiles": [1, 4, 4], "shape": [1, 128, 128], "t": 1,
        "mblock": [2, 1], "ublock": [2, 2], "inner_tiles": 4 if is_matmul else 0, "u_kt": 1 if is_matmul else 0,
        "m_k": 4 if is_matmul else 0, "inputs": INPUTS[name], "in_df": ["Float16_b"] * len(INPUTS[name]),
        "out_df": "Float16_b", "math_fidelity": "HiFi3", "fused_ops": [], "l1_bytes": 131072,
        "estimated_cycles": est, "cycles": cycles, "limiter": limiter,
    }  # fmt: skip


def queue(name: str, kind: str, source: str, places: list[int], size: int, loc: str = "dram") -> dict[str, Any]:
    return {"name": name, "kind": kind, "input": source, "type": "queue", "shape": [1, 128, 128], "df": "Float16_b",
            "entries": 2, "grid_size": [1, len(places)], "chip": 0, "loc": loc, "bytes": size,
            "places": [[channel, 4096] for channel in places]}  # fmt: skip


def placement() -> dict[str, Any]:
    names = {0: ["first_matmul", "gelu"], 1: [LONG], 2: ["last"]}
    epochs = [
        {"name": f"fwd_0_{number}_temporal_epoch_{number // 2}", "number": number, "temporal_epoch": number // 2,
         "chip": number % 2, "type": "fwd", "cycles": max(TIMES[n][5] for n in ops), "inputs_per_second": 1e5,
         "utilization": 0.25, "balancer_utilization": 0.5, "matmul_cores": 10, "slowest_op": ops[0],
         "ops": [op(n) for n in ops]}
        for number, ops in names.items()
    ]  # fmt: skip
    return {
        "version": 1, "name": "net", "arch": "wormhole_b0", "grid_size": [8, 8], "chips": [0, 1], "microbatch": 4,
        "clock_ghz": 1.0, "l1_bytes": 1400832, "time": {"fwd": {"cycles": 10000}}, "epochs": epochs,
        "queues": [queue("act", "input", "HOST", [0], 65536, "host"),
                   queue("w1", "parameter", "HOST", [0, 1, 2], 40960),
                   queue("w2", "parameter", "HOST", [3], 40960), queue("e2e_queue", "e2e", LONG, [4], 8192),
                   queue("net.output", "output", "last", [1], 32768, "host")],
        "memory": {"host": [65536, 32768], "0": [40960, 40960, 40960, 40960, 8192, 0]},
    }  # fmt: skip


def performance(everything: bool = True) -> dict[str, Any]:
    rows = []
    for name, (epoch, temporal, chip, est, kernel, bw, problem, taken, given) in TIMES.items():
        row: dict[str, Any] = {"name": name, "epoch": epoch, "temporal_epoch": temporal, "chip": chip, "est": est,
                               "kernel": kernel, "bw_kernel": bw, "bw_problem": problem}  # fmt: skip
        if everything:
            row["in"] = {"required": taken[0], "actual": taken[1]}
            row["out"] = {"required": given[0], "actual": given[1]}
        rows.append(row)
    return {"level": "verbose" if everything else "light", "ops": rows}


def workspace(everything: bool = True) -> Path:
    """The files in the working directory; returns the netlist under another name."""
    build = Path("tt_build")
    (build / "perf_results").mkdir(parents=True)
    (build / "net_netlist.yaml").write_text(NETLIST)
    (build / "net_placement.json").write_text(json.dumps(placement()))
    (build / "perf_results" / "net.json").write_text(json.dumps(performance(everything)))
    netlist = Path("your_netlist.yaml")
    netlist.write_text(NETLIST)
    return netlist
