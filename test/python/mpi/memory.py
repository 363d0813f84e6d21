# SPDX-License-Identifier: Apache-2.0
"""How much memory a rank takes for a value of so many MiB on each of 8 chips: prints MiB."""

from __future__ import annotations

import sys
from pathlib import Path

import _ttmlir_runtime as rt
import ttnn


def peak() -> int:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


with ttnn.create_mesh_device(ttnn.MeshShape(2, 4)) as mesh:
    rt.runtime.gather_from_ranks("ready")
    before = peak()
    elements = int(sys.argv[1]) << 18
    x = ttnn.full((1024, elements // 1024), 0.5, dtype=ttnn.DataType.FLOAT32, device=mesh, layout=ttnn.TILE_LAYOUT)
    spread = ttnn.all_reduce(x, cluster_axis=1, math_op=ttnn.ReduceType.Sum)  # each chip has one of its own
    del x
    more = [ttnn.exp(spread), ttnn.exp(spread)]
    # One write for a line: other ranks print to the same pipe.
    sys.stdout.write(f"{peak() - before}\n")
