# SPDX-License-Identifier: Apache-2.0
"""Memory in use on a device after each op. Needs no torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import _ttmlir_runtime as tt_runtime

from builder.base.locations import plain_location

runtime = tt_runtime.runtime


def location_of(op: Any) -> str:
    return plain_location(runtime.get_op_loc_info(op))


def memory_views(device: Any) -> dict[str, Any]:
    """Returns memory by name, without those of no bytes."""
    return {str(kind).rpartition(".")[2]: v for kind, v in device.get_memory_view().items() if v.total_bytes_per_bank}


def buffers_of(view: Any) -> dict[int, dict[str, Any]]:
    """Returns the allocated buffers of a memory, by address."""
    return {
        int(block["address"]): {"address": int(block["address"]), "bytes_per_bank": int(block["size"]),
                                "label": block["label"]}
        for block in view.block_table if block["allocated"] == "yes"
    }  # fmt: skip


@dataclass
class MemoryLog:
    """The allocations and deallocations of each op of a run, and its kernels' circular buffers in a core's L1."""

    device: Any
    operations: list[dict[str, Any]] = field(default_factory=list)
    _known: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)

    def add(self, program: Any, op: Any) -> None:
        entry: dict[str, Any] = {"index": op.index, "op": op.name, "location": location_of(op),
                                 "source": runtime.get_op_source(op), "memories": {},
                                 "circular_buffer_bytes": program.circular_buffer_bytes(op)}  # fmt: skip
        for name, view in memory_views(self.device).items():
            now, before = buffers_of(view), self._known.get(name, {})
            entry["memories"][name] = {
                "allocated_bytes_per_bank": view.total_bytes_allocated_per_bank,
                "new": [b for address, b in now.items() if before.get(address) != b],
                "gone": [b for address, b in before.items() if now.get(address) != b],
            }
            self._known[name] = now
        self.operations.append(entry)

    def snapshot(self) -> dict[str, Any]:
        """Returns the resident buffers."""
        return {
            name: {
                "banks": view.num_banks,
                "total_bytes_per_bank": view.total_bytes_per_bank,
                "allocated_bytes_per_bank": view.total_bytes_allocated_per_bank,
                "free_bytes_per_bank": view.total_bytes_free_per_bank,
                "largest_free_bytes_per_bank": view.largest_contiguous_bytes_free_per_bank,
                "peak_bytes_per_bank": view.peak_bytes_allocated_per_bank,
                "resident": list(buffers_of(view).values()),
            }
            for name, view in memory_views(self.device).items()
        }
