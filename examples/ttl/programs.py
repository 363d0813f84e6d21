# SPDX-License-Identifier: Apache-2.0
"""Runs 13 programs of TT-Lang and compares them with PyTorch: `python examples/ttl/programs.py [PROGRAM...]`.

Prints the cycles of each program, and what the busiest kernels did. `--size N` sets rows and columns of matrices.
"""

from __future__ import annotations

import argparse
import time

import broadcast
import elementwise
import matmul
import torch
import ttnn

CHIPS = 2  # of the programs on several


def tiled(values: torch.Tensor, device, dtype, mapper=None):
    """Returns values as a tiled tensor in the DRAM of a device."""
    more = {} if mapper is None else {"mesh_mapper": mapper}
    return ttnn.from_torch(
        values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.DRAM_MEMORY_CONFIG, **more
    )


def values(*shape: int, kind: torch.dtype) -> torch.Tensor:
    return (torch.rand(shape) - 0.5).to(kind)


def wide(*tensors: torch.Tensor) -> list[torch.Tensor]:
    return [each.double() for each in tensors]


def of_elements(operation, device, dtype, kind, size):
    """Runs an operation of elementwise.py; returns the result and the expected one."""
    a, b, c = (values(size, size, kind=kind) for _ in range(3))
    y = tiled(torch.zeros(size, size, dtype=kind), device, dtype)
    operation(*(tiled(each, device, dtype) for each in (a, b, c)), y)
    x, w, v = wide(a, b, c)
    return ttnn.to_torch(y), x * w + v


def of_vectors(operation, device, dtype, kind, size):
    """Runs an operation of broadcast.py on tensors whose other elements it does not read."""
    a, b, c = values(size, 32, kind=kind), values(32, size, kind=kind), values(32, 32, kind=kind)
    y = tiled(torch.zeros(size, size, dtype=kind), device, dtype)
    operation(*(tiled(each, device, dtype) for each in (a, b, c)), y)
    x, w, v = wide(a[:, :1], b[:1], c[:1, :1])
    return ttnn.to_torch(y), x * w + v


def of_matrices(operation, device, dtype, kind, size):
    """Runs an operation of matmul.py."""
    a, b, c = (values(size, size, kind=kind) for _ in range(3))
    y = tiled(torch.zeros(size, size, dtype=kind), device, dtype)
    operation(*(tiled(each, device, dtype) for each in (a, b, c)), y)
    x, w, v = wide(a, b, c)
    return ttnn.to_torch(y), (x @ w + v).relu()


def rows_on_chips(operation, mesh, dtype, kind, size):
    """Divides the rows of a and of the result among chips."""
    a, b, c = (values(size, size, kind=kind) for _ in range(3))
    shard, replicate = ttnn.ShardTensorToMesh(mesh, dim=0), ttnn.ReplicateTensorToMesh(mesh)
    y = tiled(torch.zeros(size, size, dtype=kind), mesh, dtype, shard)
    operation(tiled(a, mesh, dtype, shard), tiled(b, mesh, dtype, replicate), tiled(c, mesh, dtype, shard), y)
    x, w, v = wide(a, b, c)
    return ttnn.to_torch(y, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0)), (x @ w + v).relu()


def partial_sums(operation, mesh, dtype, kind, size):
    """Divides the sums among chips: columns of a and rows of b. The first chip adds c."""
    a, b, c = (values(size, size, kind=kind) for _ in range(3))
    first = torch.zeros(size * CHIPS, size, dtype=kind)
    first[:size] = c
    y = tiled(torch.zeros(size * CHIPS, size, dtype=kind), mesh, dtype, ttnn.ShardTensorToMesh(mesh, dim=0))
    operation(
        tiled(a, mesh, dtype, ttnn.ShardTensorToMesh(mesh, dim=1)),
        tiled(b, mesh, dtype, ttnn.ShardTensorToMesh(mesh, dim=0)),
        tiled(first, mesh, dtype, ttnn.ShardTensorToMesh(mesh, dim=0)),
        y,
    )
    x, w, v = wide(a, b, c)
    return y, (x @ w + v).relu()


def sums_on_the_host(operation, mesh, dtype, kind, size):
    """Adds the parts of the sums on the host."""
    y, expected = partial_sums(operation, mesh, dtype, kind, size)
    parts = ttnn.to_torch(y, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0))
    return parts.float().reshape(-1, size, size).sum(0).relu().to(kind), expected


def sums_between_chips(operation, mesh, dtype, kind, size):
    """Adds the parts of the sums by links between the chips."""
    y, expected = partial_sums(operation, mesh, dtype, kind, size)
    joined = ttnn.relu(ttnn.all_reduce(y))
    return ttnn.to_torch(joined, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0))[:size], expected


PROGRAMS = {
    "elementwise single_tiles": (of_elements, elementwise.single_tiles),
    "elementwise blocks": (of_elements, elementwise.blocks),
    "elementwise four_nodes": (of_elements, elementwise.four_nodes),
    "elementwise all_nodes": (of_elements, elementwise.all_nodes),
    "broadcast single_tiles": (of_vectors, broadcast.single_tiles),
    "broadcast blocks": (of_vectors, broadcast.blocks),
    "matmul single_tiles": (of_matrices, matmul.single_tiles),
    "matmul blocks": (of_matrices, matmul.blocks),
    "matmul four_nodes": (of_matrices, matmul.four_nodes),
    "matmul all_nodes": (of_matrices, matmul.all_nodes),
    "matmul rows_on_chips": (rows_on_chips, matmul.all_nodes),
    "matmul sums_on_the_host": (sums_on_the_host, matmul.all_nodes_linear),
    "matmul sums_between_chips": (sums_between_chips, matmul.all_nodes_linear),
}


def run(name: str, dtype, kind: torch.dtype, size: int):
    """Runs a program; returns its result, the expected one, and the seconds that its second run took."""
    start, operation = PROGRAMS[name]
    meshes = "chip" in name or "host" in name
    if meshes:
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
        device = ttnn.open_mesh_device(ttnn.MeshShape(1, CHIPS))
    else:
        device = ttnn.open_device(device_id=0)
    try:
        torch.manual_seed(7)
        start(operation, device, dtype, kind, size)
        torch.manual_seed(7)
        began = time.perf_counter()
        found, expected = start(operation, device, dtype, kind, size)
        return found, expected, time.perf_counter() - began
    finally:
        (ttnn.close_mesh_device if meshes else ttnn.close_device)(device)


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs programs of TT-Lang.")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="parts of names; by default all")
    parser.add_argument("--size", type=int, default=256, help="rows and columns, a multiple of 128")
    parser.add_argument("--kind", choices=("bfloat16", "float32"), default="bfloat16")
    arguments = parser.parse_args()
    chosen = [name for name in PROGRAMS if all(part in name for part in arguments.programs)]
    for name in chosen:
        dtype, kind = getattr(ttnn, arguments.kind), getattr(torch, arguments.kind)
        found, expected, seconds = run(name, dtype, kind, arguments.size)
        error = float((found.double() - expected).abs().max())
        print(f"{name:28} error {error:.1e}  {seconds * 1e3:7.1f} ms", end="")
        report = getattr(PROGRAMS[name][1], "report", None)  # tt-lang-sim has none
        if report is None:
            print()
            continue
        print(f"  {report.cycles:8} cycles")
        for kernel in dict.fromkeys(each.name for each in report.kernels):
            times = [each for each in report.kernels if each.name == kernel]
            busy = max(times, key=lambda each: each.computing + each.moving)
            print(
                f"    {kernel:14} on {len(times):2} nodes; busiest (x={busy.core[0]}, y={busy.core[1]}): computes "
                f"{busy.computing:.0f}, moves {busy.moving:.0f}, waits {busy.waiting:.0f} of {busy.end:.0f}"
            )


if __name__ == "__main__":
    main()
