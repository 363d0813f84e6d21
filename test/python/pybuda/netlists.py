# SPDX-License-Identifier: Apache-2.0
"""An independent check of a netlist: what its text says fits the chip, and nothing lies on anything else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import yaml
from pybuda.placement.program import CONVERSION, moving_ops
from pybuda.placement.summary import Result

# Bytes of a tile of 32 x 32, and what a core has for buffers: facts/isa.md section 8, docs/pybuda.md.
TILE = {
    "Float32": 4096, "Int32": 4096, "RawUInt32": 4096, "Float16": 2048, "Float16_b": 2048, "UInt16": 2048,
    "RawUInt16": 2048, "Bfp8": 1088, "Bfp8_b": 1088, "Bfp4": 576, "Bfp4_b": 576, "Bfp2": 320, "Bfp2_b": 320,
    "Int8": 1024, "RawUInt8": 1024,
}  # fmt: skip
L1 = 1499136 - 103712
CHANNEL = {"dram": 2 << 30, "host": 1 << 30}
CHANNELS = {"dram": 6, "host": 4}
HEADER = 32


def tiles_of(entry: Mapping[str, Any]) -> int:
    return math.prod([*entry["mblock"], *entry["ublock"]])


def check_netlist(text: str, grid: tuple[int, int] = (8, 8), l1: int = L1) -> dict[str, Any]:
    """The netlist as data.

    Raises:
        AssertionError: says what does not fit.
    """
    net = yaml.safe_load(text)
    queues, graphs = net["queues"] or {}, net["graphs"]
    seen: set[str] = set(queues)
    fused = 0
    for graph_name, graph in graphs.items():
        taken: dict[tuple[int, int], str] = {}
        ops = {k: v for k, v in graph.items() if isinstance(v, dict)}
        assert ops, f"{graph_name} is empty"
        here: set[str] = set()
        for name, op in ops.items():
            assert name not in seen, f"{name} is there twice"
            seen.add(name)
            (row, column), (r, c) = op["grid_loc"], op["grid_size"]
            if op.get("grid_transpose"):
                r, c = c, r
            for cell in ((y, x) for y in range(row, row + r) for x in range(column, column + c)):
                assert 0 <= cell[0] < grid[0] and 0 <= cell[1] < grid[1], f"{name} is outside of the grid: {cell}"
                assert cell not in taken, f"{name} and {taken[cell]} are on core {cell} of {graph_name}"
                taken[cell] = name
            for source in op["inputs"]:
                assert source in queues or source in here, f"{name} reads {source}, which is not there before it"
            here.add(name)
            check_l1(name, op, l1)
            fused += op["type"] == "fused_op"
    check_queues(queues, {name for graph in graphs.values() for name in graph})
    run = [step["execute"]["graph_name"] for p in net["programs"] for steps in p.values() for step in steps
           if isinstance(step, dict) and "execute" in step]  # fmt: skip
    assert sorted(run) == sorted(graphs), "each graph is executed once"
    assert len(net.get("fused_ops") or {}) == fused
    return net


def check_program(result: Result, epoch_type: str = "fwd") -> None:
    """Checks that ops that run compute each op of the netlist, that each of them computes one, that work is the same,
    and that both begin epochs where they are requested.

    Raises:
        AssertionError: names ops of the netlist, or an op that runs.
    """
    ran = [x for program in result.programs if program.epoch_type == epoch_type for x in program.ops]
    placed = {x.op.name: e.number for e in result.epochs if e.type == epoch_type
              for x in e.placed if x.op.node}  # fmt: skip
    assert {name for row in ran for name in row.computes} == set(placed)
    for row in ran:
        assert len(row.computes) <= 1, f"{row.name} computes {row.computes}"
        assert row.epochs == tuple(sorted({placed[name] for name in row.computes})), row
        if row.name != CONVERSION and row.name not in moving_ops():
            assert row.computes, f"{row.name} of {row.node!r} computes no op of the netlist"
    for op in (result.graph.op(name) for name in placed):
        assert op is not None and op.work == sum(row.work for row in ran if op.name in row.computes), op
    numbered = [x for x in ran if x.requested_epoch is not None and x.epochs]
    for a, b in itertools.product(numbered, numbered):
        assert a.requested_epoch >= b.requested_epoch or a.epochs[-1] < b.epochs[0], f"{a} shares an epoch with {b}"


def check_l1(name: str, op: Mapping[str, Any], l1: int) -> None:
    attributes = op.get("attributes", {})
    size = op["buf_size_mb"] * tiles_of(op) * TILE[op["out_df"]]
    size += sum(n * TILE[df] for n, df in zip(op["input_buf_min_size_tiles"], op["in_df"], strict=True))
    if attributes.get("m_k", 1) > 1 and op["intermed_df"] != op["out_df"]:
        size += tiles_of(op) * TILE[op["intermed_df"]]
    assert size <= l1, f"{name} takes {size} bytes of L1"
    assert math.prod(op["ublock"]) <= (4 if op["acc_df"] == "Float32" else 8), f"{name} overflows the destination"


def check_queues(queues: Mapping[str, Any], ops: set[str]) -> None:
    ranges: dict[tuple[Any, ...], list[tuple[int, int, str]]] = {}
    for name, queue in queues.items():
        assert queue["input"] == "HOST" or queue["input"] in ops, f"{name} is written by {queue['input']}"
        if "alias" in queue:
            continue
        loc = queue["loc"]
        places = queue[loc]
        assert len(places) == math.prod(queue["grid_size"])
        size = HEADER + queue["entries"] * queue["t"] * tiles_of(queue) * TILE[queue["df"]]
        for channel, address in places:
            assert 0 <= channel < CHANNELS[loc], f"{name} is in {loc} channel {channel}"
            assert address >= 0 and address + size <= CHANNEL[loc], f"{name} ends outside of channel {channel}"
            assert address % 32 == 0
            device = queue["target_device"] if loc == "dram" else "host"
            ranges.setdefault((device, channel), []).append((address, address + size, name))
    for place, found in ranges.items():
        found.sort()
        for (_, end, a), (start, _, b) in itertools.pairwise(found):
            assert end <= start, f"{a} and {b} overlap in {place}"
