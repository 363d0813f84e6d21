# SPDX-License-Identifier: Apache-2.0
"""A program on a mesh, and the program of one of its chips, which exchanges nothing: collectives' results are given.

What a chip computes between collectives is the same in both, so the times of the second, run once for each chip, are
the work of the chips, and what the first takes more is what the mesh costs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.execution.device_tensors import convert_input_layouts, create_tensor, fetched, host_tensor
from builder.ops.structure import walk
from ttmlir import ir
from ttmlir.passes import (
    stablehlo_pipeline,
    stablehlo_to_ttir_pipeline,
    ttir_to_ttnn_backend_pipeline,
    ttnn_to_flatbuffer_bin,
)
from ttmlir.passmanager import PassManager

from ..device import device

Mesh = tuple[int, int]
COLLECTIVES = tuple(
    f"ttir.{name}"
    for name in (
        "all_gather",
        "all_reduce",
        "reduce_scatter",
        "all_to_all",
        "collective_permute",
        "collective_broadcast",
        "mesh_partition",
    )
)


def main_of(module: ir.Module) -> Any:
    """The only public function, of the module or of the one for devices inside."""
    functions = [op for op in walk(module.operation) if op.name == "func.func"]
    [main] = [f for f in functions if '"private"' not in str(f.attributes.get("sym_visibility"))]
    return main


def in_shards(text: str) -> tuple[str, int]:
    """TTIR of StableHLO whose arguments all have shardings, and how many results it has; chips keep their shards of
    arguments and results."""
    with ir.Context():
        module = ir.Module.parse(text)
        results = len(ir.FunctionType(main_of(module).attributes["function_type"].value).results)
        stablehlo_pipeline(module, {"result-presharded": [1] * results})
        stablehlo_to_ttir_pipeline(module)
        localize = "builtin.module(func.func(ttir-localize-presharded))"
        PassManager.parse(f"builtin.module(ttcore.device_module({localize}))").run(module.operation)
        return str(module), results


def collectives_of(main: Any) -> list[Any]:
    """Returns the collectives among the function's own ops, in order."""
    body = [op.operation for op in main.regions[0].blocks[0].operations]
    return [op for op in body if op.name in COLLECTIVES]


def check_collectives(module: ir.Module) -> None:
    """Raises ValueError for one in a loop, a branch, or a function that is called."""
    own = len(collectives_of(main_of(module)))
    found = [op.name for op in walk(module.operation) if op.name in COLLECTIVES]
    if len(found) != own:
        raise ValueError(f"{len(found) - own} of {len(found)} collectives are not ops of the function itself")


def rewritten(ttir: str, change: Callable[[Any, list[Any]], None]) -> str:
    """`change` gets the function and the values that it returns, to which it may add."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(ttir)
        check_collectives(module)
        main = main_of(module)
        block = main.regions[0].blocks[0]
        end = list(block.operations)[-1].operation
        values = list(end.operands)
        change(main, values)
        ir.Operation.create("func.return", operands=values, ip=ir.InsertionPoint(end))
        end.erase()
        types = ir.FunctionType.get([a.type for a in block.arguments], [v.type for v in values])
        main.attributes["function_type"] = ir.TypeAttr.get(types)
        if "res_attrs" in main.attributes:
            del main.attributes["res_attrs"]
        module.operation.verify()
        return str(module)


def telling(ttir: str) -> str:
    """The same, which returns what collectives give, too."""
    return rewritten(ttir, lambda main, values: values.extend(op.results[0] for op in collectives_of(main)))


def of_one_chip(ttir: str) -> str:
    """Takes what collectives give as further arguments, and returns what it would give to them."""

    def change(main: Any, values: list[Any]) -> None:
        block = main.regions[0].blocks[0]
        collectives = collectives_of(main)
        for op in collectives:
            op.results[0].replace_all_uses_with(block.add_argument(op.results[0].type, op.location))
        # Only now: an operand may be what another one gives, and a result that is returned has been replaced.
        values[:] = list(list(block.operations)[-1].operation.operands)
        values.extend(op.operands[0] for op in collectives)
        for op in collectives:
            op.erase()
        given = list(main.attributes["arg_attrs"]) if "arg_attrs" in main.attributes else []
        given += [ir.DictAttr.get({})] * (len(block.arguments) - len(given))
        main.attributes["arg_attrs"] = ir.ArrayAttr.get(given)

    text = rewritten(ttir, change)
    text = re.sub(r", #ttcore\.tensor_mesh<\"[^\"]*\">", "", text)
    return re.sub(r"ttcore\.meshes = #ttcore\.meshes<\[.*?\]>(, )?", "", text)


def compiled(ttir: str, mesh: Mesh) -> bytes:
    with ir.Context():
        module = ir.Module.parse(ttir)
        ttir_to_ttnn_backend_pipeline(module, {"mesh-shape": mesh})
        return ttnn_to_flatbuffer_bin(module)


def splits_of(ttir: str) -> list[tuple[int, int] | None]:
    """Returns the dimension of each argument that rows and columns of the mesh split, -1 for none; None: one tensor."""
    with ir.Context():
        main = main_of(ir.Module.parse(ttir))
        found: list[tuple[int, int] | None] = []
        for attributes in main.attributes["arg_attrs"]:
            if "ttcore.shard_dims" not in attributes:
                found.append(None)
                continue
            rows, columns = ir.DenseI64ArrayAttr(attributes["ttcore.shard_dims"])
            found.append((rows, columns))
        return found


def shard(value: torch.Tensor, split: tuple[int, int], mesh: Mesh, chip: int) -> torch.Tensor:
    for dim, place, parts in zip(split, divmod(chip, mesh[1]), mesh, strict=True):
        if dim >= 0:
            value = value.chunk(parts, dim)[place]
    return value.contiguous()


@functools.cache
def mesh_device(mesh: Mesh) -> Any:
    options = rt.runtime.MeshDeviceOptions()
    options.mesh_shape = mesh
    return rt.runtime.open_mesh_device(options)


@dataclass(frozen=True)
class Sides:
    """Functions that run the mesh's program, and that of a chip once for each chip. sent: bytes between chips."""

    mesh: Callable[[], list[Any]]
    chips: Callable[[], list[list[Any]]]
    collectives: int
    sent: int


def sides(text: str, values: Sequence[torch.Tensor], weights: Sequence[bool], mesh: Mesh) -> Sides:
    """Returns the sides of a StableHLO module whose arguments all have shardings. weights: constant arguments.

    Raises:
        ValueError: a chip's program gives something else than the mesh's.
    """
    ttir, results = in_shards(text)
    splits = splits_of(ttir)
    count = mesh[0] * mesh[1]
    whole_mesh = mesh_device(mesh)

    def given(value: torch.Tensor, split: tuple[int, int] | None) -> dict[int, torch.Tensor]:
        """Returns inputs by chip; one for all where all have the same."""
        if split is None or max(split) < 0:
            return {0: value}
        return {chip: shard(value, split, mesh, chip) for chip in range(count)}

    shards = [given(value, split) for value, split in zip(values, splits, strict=True)]

    def placed(on: Any, binary: Any, tensors: Sequence[Any]) -> list[Any]:
        found = convert_input_layouts(on, tensors, fbb=binary, program_index=0)
        for tensor, is_weight in zip(found, weights, strict=False):
            if is_weight:
                tensor.set_parameter()
        return found

    hosts = [create_tensor(each, mesh if len(each) > 1 else (1, 1)) for each in shards]
    told = rt.binary.load_binary_from_bytes(compiled(telling(ttir), mesh))
    outputs = [fetched(t) for t in rt.runtime.submit(whole_mesh, told, 0, placed(whole_mesh, told, hosts))]
    del told  # and what it has prepared
    binary = rt.binary.load_binary_from_bytes(compiled(ttir, mesh))
    inputs = placed(whole_mesh, binary, hosts)

    def of(tensors: Sequence[torch.Tensor] | dict[int, torch.Tensor], chip: int) -> torch.Tensor:
        return tensors[chip if len(tensors) > 1 else 0]

    # What all chips have is one tensor. A program is prepared for its weights: where they differ, each chip has one.
    code = compiled(of_one_chip(ttir), (1, 1))
    one = {i: host_tensor(each[0]) for i, each in enumerate(shards) if len(each) == 1}
    alike = all(i in one for i, is_weight in enumerate(weights) if is_weight)
    programs: list[tuple[Any, list[Any]]] = []
    for chip in range(count):
        program = programs[0][0] if alike and programs else rt.binary.load_binary_from_bytes(code)
        own = [one[i] if i in one else host_tensor(of(each, chip)) for i, each in enumerate(shards)]
        own += [host_tensor(of(each, chip)) for each in outputs[results:]]
        there = placed(device(), program, own)
        if alike and programs:  # another tensor would be another parameter, for which the program is prepared anew
            there = [programs[0][1][i] if i in one else tensor for i, tensor in enumerate(there)]
        programs.append((program, there))

    def by_chips() -> list[list[Any]]:
        return [rt.runtime.submit(device(), program, 0, own) for program, own in programs]

    for chip, found in enumerate(by_chips()):
        for index in range(results):
            expected, [value] = of(outputs[index], chip).double(), fetched(found[index])
            limit = 1e-5 * max(1e-30, float(expected.max() - expected.min()))
            wrong = float((expected - value.double()).abs().max())
            if not wrong <= limit:
                raise ValueError(f"result {index} of chip {chip} alone is off by {wrong:.2g}; expected {limit:.2g}")
    sent = sum(send.bytes for op in rt.runtime.sends(binary, 0) for send in op.sends)
    return Sides(lambda: rt.runtime.submit(whole_mesh, binary, 0, inputs), by_chips, len(outputs) - results, sent)
