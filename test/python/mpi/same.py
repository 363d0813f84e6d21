# SPDX-License-Identifier: Apache-2.0
"""Results and views of ranks, as hashes: same.py FILE OUT. Rank 0 writes them, by name and rank."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import torch
import ttnn

FOUND: dict[str, list[str]] = {}


def note(name: str, *tensors: torch.Tensor) -> None:
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(str(tuple(tensor.shape)).encode() + tensor.contiguous().view(torch.uint8).numpy().tobytes())
    FOUND[name] = rt.runtime.gather_from_ranks(digest.hexdigest())


def host(tensor: Any) -> list[torch.Tensor]:
    return [torch.from_dlpack(shard) for shard in rt.runtime.to_host(tensor, untilize=True)]


def values(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def programs(mesh: Any, path: str) -> None:
    """A compiled program, twice and with hooks that read every value."""
    binary = rt.binary.load_binary_from_path(path)
    shapes = [(4, 64), (64, 64), (64, 64)]
    inputs = [
        rt.runtime.create_multi_device_host_tensor_from_shards(
            [rt.runtime.create_host_tensor(values(*shape, seed=8 * i + chip)) for chip in range(8)], {}, [2, 4]
        )
        for i, shape in enumerate(shapes)
    ]
    for run in ("first run", "second run"):
        (output,) = rt.runtime.submit(mesh, binary, 0, inputs)
        note(f"submit, {run}", *host(output))
    seen: list[torch.Tensor] = []

    def look(binary: Any, program: Any, op: Any) -> None:
        for ref in rt.runtime.get_op_output_refs(op):
            if (tensor := rt.runtime.retrieve_tensor_from_pool(program, ref)) is not None:
                seen.extend(host(tensor))

    rt.runtime.DebugHooks.get(post_op=look)
    (output,) = rt.runtime.submit(mesh, binary, 0, inputs)
    rt.runtime.unregister_hooks()
    note("hooks", *seen)
    note("submit with hooks", *host(output))
    assert len(seen) > 3


def eager(mesh: Any) -> None:
    cut = ttnn.ShardTensor2dMesh(mesh, None, dims=(0, 1))
    join = ttnn.ConcatMesh2dToTensor(mesh, None, dims=(0, 1))
    x = ttnn.from_torch(values(16, 64, seed=1), device=mesh, mesh_mapper=cut)
    y = ttnn.from_torch(values(16, 64, seed=2), device=mesh, mesh_mapper=cut)
    note("elementwise", ttnn.to_torch(ttnn.exp(x) * y + 1.5, mesh_composer=join))
    for axis in (0, 1):
        total = ttnn.all_reduce(x, cluster_axis=axis, math_op=ttnn.ReduceType.Sum)
        note(f"all_reduce {axis}", ttnn.to_torch(total, mesh_composer=join))
        note(
            f"all_gather {axis}", *map(ttnn.to_torch, ttnn.get_device_tensors(ttnn.all_gather(x, 0, cluster_axis=axis)))
        )
        part = ttnn.reduce_scatter(x, dim=0, cluster_axis=axis, math_op=ttnn.ReduceType.Sum)
        note(f"reduce_scatter {axis}", ttnn.to_torch(part, mesh_composer=join))
    note("host tensor", ttnn.to_torch(ttnn.from_device(x), mesh_composer=join))
    note("text", torch.frombuffer(bytearray(repr(x).encode()), dtype=torch.uint8))
    ttnn.dump_tensor("x.tensorbin", x)
    note("file", *map(ttnn.to_torch, ttnn.get_device_tensors(ttnn.load_tensor("x.tensorbin", device=mesh))))
    # The condition is a value of every chip; all ranks go through the loop equally often.
    turns = 0

    def is_small(v: Any) -> Any:
        everywhere = ttnn.sum(ttnn.abs(v), dim=[0, 1], keepdim=True)
        for axis in (0, 1):
            everywhere = ttnn.all_reduce(everywhere, cluster_axis=axis, math_op=ttnn.ReduceType.Sum)
        return ttnn.lt(everywhere, 1e6)

    def twice(v: Any) -> Any:
        nonlocal turns
        turns += 1
        return v + v

    note("loop", ttnn.to_torch(ttnn.while_loop(is_small, twice, [x]), mesh_composer=join))
    note("turns", torch.tensor([turns]))
    assert turns > 5


path, out = sys.argv[1:]
with ttnn.create_mesh_device(ttnn.MeshShape(2, 4)) as mesh:
    programs(mesh, path)
    eager(mesh)
if rt.runtime.get_rank() == 0:
    Path(out).write_text(json.dumps(FOUND), encoding="utf-8")
