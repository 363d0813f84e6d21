# SPDX-License-Identifier: Apache-2.0
"""Programs that are split over meshes: StableHLO without annotations, and how to annotate and run it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.execution.device_tensors import convert_input_layouts, create_tensor, fetched
from op_cases import device
from ttmlir import ir
from ttmlir.passes import (
    stablehlo_pipeline,
    stablehlo_to_ttir_pipeline,
    ttir_to_ttnn_backend_pipeline,
    ttnn_to_flatbuffer_bin,
)

Mesh = tuple[int, int]
Split = tuple[str, ...]  # the axes of each dimension: "", "x", "y", "xy" or "yx"


@dataclass(frozen=True)
class Program:
    """body: the function's text; shapes: of its arguments, all f32. exact: nothing is summed in another order."""

    body: str
    shapes: tuple[tuple[int, ...], ...]
    results: tuple[str, ...]
    exact: bool = False

    def text(self, splits: Sequence[Split | None] = (), mesh: Mesh | None = None) -> str:
        arguments = []
        for index, shape in enumerate(self.shapes):
            sharding = ""
            if mesh and index < len(splits) and (split := splits[index]) is not None:
                dims = ", ".join("{" + ", ".join([f'"{axis}"' for axis in axes] + ["?"]) + "}" for axes in split)
                sharding = f" {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"
            arguments.append(f"%a{index}: {tensor(shape)}{sharding}")
        declared = f'sdy.mesh @mesh = <["x"={mesh[0]}, "y"={mesh[1]}]>\n' if mesh else ""
        results = ", ".join(self.results)
        body = re.sub(r"t<([\dx]*)>", lambda m: tensor(tuple(map(int, filter(None, m[1].split("x"))))), self.body)
        results = re.sub(r"t<([\dx]*)>", lambda m: tensor(tuple(map(int, filter(None, m[1].split("x"))))), results)
        return f"module {{\n{declared}func.func @main({', '.join(arguments)}) -> ({results}) {{\n{body}\n}}\n}}"


def tensor(shape: Sequence[int]) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


PROGRAMS = {
    "elementwise": Program(
        """
        %0 = stablehlo.add %a0, %a1 : t<8x16>
        %1 = stablehlo.multiply %0, %a1 : t<8x16>
        %2 = stablehlo.maximum %1, %a0 : t<8x16>
        return %2 : t<8x16>
        """,
        ((8, 16), (8, 16)),
        ("t<8x16>",),
        exact=True,
    ),
    "unused": Program(
        """
        %0 = stablehlo.negate %a0 : t<8x16>
        return %0 : t<8x16>
        """,
        ((8, 16), (16, 8)),
        ("t<8x16>",),
        exact=True,
    ),
    "matmul": Program(
        """
        %0 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (t<8x16>, t<16x32>) -> t<8x32>
        return %0 : t<8x32>
        """,
        ((8, 16), (16, 32)),
        ("t<8x32>",),
    ),
    "batched matmul": Program(
        """
        %0 = stablehlo.dot_general %a0, %a1, batching_dims = [0] x [0], contracting_dims = [2] x [1]
          : (t<4x8x16>, t<4x16x8>) -> t<4x8x8>
        return %0 : t<4x8x8>
        """,
        ((4, 8, 16), (4, 16, 8)),
        ("t<4x8x8>",),
    ),
    "transpose": Program(
        """
        %0 = stablehlo.transpose %a0, dims = [1, 0] : (t<8x16>) -> t<16x8>
        %1 = stablehlo.reshape %0 : (t<16x8>) -> t<4x4x8>
        %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 3] : (t<4x4x8>) -> t<4x4x2x8>
        return %2 : t<4x4x2x8>
        """,
        ((8, 16),),
        ("t<4x4x2x8>",),
        exact=True,
    ),
    "mlp": Program(
        """
        %0 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (t<8x16>, t<16x32>) -> t<8x32>
        %b = stablehlo.broadcast_in_dim %a2, dims = [1] : (t<32>) -> t<8x32>
        %1 = stablehlo.add %0, %b : t<8x32>
        %2 = stablehlo.tanh %1 : t<8x32>
        %3 = stablehlo.dot_general %2, %a3, contracting_dims = [1] x [0] : (t<8x32>, t<32x16>) -> t<8x16>
        return %3 : t<8x16>
        """,
        ((8, 16), (16, 32), (32,), (32, 16)),
        ("t<8x16>",),
    ),
    "reduce": Program(
        """
        %z = stablehlo.constant dense<0.0> : t<>
        %i = stablehlo.constant dense<0xFF800000> : t<>
        %0 = stablehlo.reduce(%a0 init: %z) applies stablehlo.add across dimensions = [1] : (t<8x16>, t<>) -> t<8>
        %1 = stablehlo.reduce(%a0 init: %i) applies stablehlo.maximum across dimensions = [0] : (t<8x16>, t<>) -> t<16>
        return %0, %1 : t<8>, t<16>
        """,
        ((8, 16),),
        ("t<8>", "t<16>"),
    ),
    "rms_norm": Program(
        """
        %0 = stablehlo.composite "tenstorrent.rms_norm" %a0, %a1 {composite_attributes = {epsilon = 1.0e-5 : f32,
          normalized_shape = dense<16> : tensor<1xi64>}, decomposition = @norm} : (t<8x16>, t<16>) -> t<8x16>
        %1 = stablehlo.multiply %0, %a0 : t<8x16>
        return %1 : t<8x16>
        }
        func.func private @norm(%x: t<8x16>, %w: t<16>) -> t<8x16> {
        %zero = stablehlo.constant dense<0.0> : t<>
        %square = stablehlo.multiply %x, %x : t<8x16>
        %sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [1]
          : (t<8x16>, t<>) -> t<8>
        %count = stablehlo.constant dense<16.0> : t<8>
        %mean = stablehlo.divide %sum, %count : t<8>
        %epsilon = stablehlo.constant dense<1.0e-5> : t<8>
        %more = stablehlo.add %mean, %epsilon : t<8>
        %root = stablehlo.rsqrt %more : t<8>
        %rows = stablehlo.broadcast_in_dim %root, dims = [0] : (t<8>) -> t<8x16>
        %scaled = stablehlo.multiply %x, %rows : t<8x16>
        %weights = stablehlo.broadcast_in_dim %w, dims = [1] : (t<16>) -> t<8x16>
        %result = stablehlo.multiply %scaled, %weights : t<8x16>
        return %result : t<8x16>
        """,
        ((8, 16), (16,)),
        ("t<8x16>",),
    ),
    "softmax": Program(
        """
        %z = stablehlo.constant dense<0.0> : t<>
        %i = stablehlo.constant dense<0xFF800000> : t<>
        %m = stablehlo.reduce(%a0 init: %i) applies stablehlo.maximum across dimensions = [1] : (t<8x16>, t<>) -> t<8>
        %b = stablehlo.broadcast_in_dim %m, dims = [0] : (t<8>) -> t<8x16>
        %0 = stablehlo.subtract %a0, %b : t<8x16>
        %1 = stablehlo.exponential %0 : t<8x16>
        %s = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] : (t<8x16>, t<>) -> t<8>
        %c = stablehlo.broadcast_in_dim %s, dims = [0] : (t<8>) -> t<8x16>
        %2 = stablehlo.divide %1, %c : t<8x16>
        return %2 : t<8x16>
        """,
        ((8, 16),),
        ("t<8x16>",),
    ),
    "attention": Program(
        """
        %z = stablehlo.constant dense<0.0> : t<>
        %i = stablehlo.constant dense<0xFF800000> : t<>
        %0 = stablehlo.dot_general %a0, %a1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]
          : (t<2x4x8x16>, t<2x4x8x16>) -> t<2x4x8x8>
        %m = stablehlo.reduce(%0 init: %i) applies stablehlo.maximum across dimensions = [3]
          : (t<2x4x8x8>, t<>) -> t<2x4x8>
        %b = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (t<2x4x8>) -> t<2x4x8x8>
        %1 = stablehlo.subtract %0, %b : t<2x4x8x8>
        %2 = stablehlo.exponential %1 : t<2x4x8x8>
        %s = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [3]
          : (t<2x4x8x8>, t<>) -> t<2x4x8>
        %c = stablehlo.broadcast_in_dim %s, dims = [0, 1, 2] : (t<2x4x8>) -> t<2x4x8x8>
        %3 = stablehlo.divide %2, %c : t<2x4x8x8>
        %4 = stablehlo.dot_general %3, %a2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]
          : (t<2x4x8x8>, t<2x4x8x16>) -> t<2x4x8x16>
        %5 = stablehlo.transpose %4, dims = [0, 2, 1, 3] : (t<2x4x8x16>) -> t<2x8x4x16>
        %6 = stablehlo.reshape %5 : (t<2x8x4x16>) -> t<2x8x64>
        %7 = stablehlo.dot_general %6, %a3, contracting_dims = [2] x [0] : (t<2x8x64>, t<64x8>) -> t<2x8x8>
        return %7 : t<2x8x8>
        """,
        ((2, 4, 8, 16), (2, 4, 8, 16), (2, 4, 8, 16), (64, 8)),
        ("t<2x8x8>",),
    ),
    "convolution": Program(
        """
        %0 = stablehlo.convolution(%a0, %a1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
          window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (t<8x6x6x4>, t<3x3x4x8>) -> t<8x6x6x8>
        return %0 : t<8x6x6x8>
        """,
        ((8, 6, 6, 4), (3, 3, 4, 8)),
        ("t<8x6x6x8>",),
    ),
    "data movement": Program(
        """
        %z = stablehlo.constant dense<1.5> : t<>
        %0 = stablehlo.slice %a0 [1:7, 0:16] : (t<8x16>) -> t<6x16>
        %1 = stablehlo.pad %0, %z, low = [0, 2], high = [2, 6], interior = [0, 0] : (t<6x16>, t<>) -> t<8x24>
        %2 = stablehlo.reverse %1, dims = [1] : t<8x24>
        %3 = stablehlo.concatenate %2, %a1, dim = 1 : (t<8x24>, t<8x8>) -> t<8x32>
        %i = stablehlo.iota dim = 0 : t<8x32>
        %c = stablehlo.constant dense<[[0.5], [1.0], [1.5], [2.0], [2.5], [3.0], [3.5], [4.0]]> : t<8x1>
        %d = stablehlo.broadcast_in_dim %c, dims = [0, 1] : (t<8x1>) -> t<8x32>
        %4 = stablehlo.add %3, %i : t<8x32>
        %5 = stablehlo.multiply %4, %d : t<8x32>
        return %5 : t<8x32>
        """,
        ((8, 16), (8, 8)),
        ("t<8x32>",),
        exact=True,
    ),
}


def splits_of(shape: Sequence[int], mesh: Mesh) -> list[Split]:
    """Whole; each dimension by one axis or both, in either order; two dimensions by one axis each; as they divide."""
    sizes = {"x": mesh[0], "y": mesh[1], "xy": mesh[0] * mesh[1], "yx": mesh[0] * mesh[1]}
    rank = len(shape)
    found = [("",) * rank]
    for dim, axes in itertools.product(range(rank), sizes):
        found.append(tuple(axes if d == dim else "" for d in range(rank)))
    for first, second in itertools.permutations(range(rank), 2):
        found.append(tuple("x" if d == first else "y" if d == second else "" for d in range(rank)))
    return [s for s in found if all(n % sizes.get(a, 1) == 0 for n, a in zip(shape, s, strict=True))]


@dataclass(frozen=True)
class Compiled:
    """binary, and how its arguments are split: where a sharding is open, propagation may have added to it."""

    binary: object
    splits: tuple[Split, ...]


def compiled(text: str, mesh: Mesh, options: str = "") -> Compiled:
    with ir.Context():
        module = ir.Module.parse(text)
        stablehlo_pipeline(module, options)
        given = re.search(r"in_shardings=\[(.*?)\] out_shardings", str(module))
        assert given, module
        splits = [
            tuple("".join(re.findall(r'"(\w)"', dim)) for dim in re.findall(r"\{([^}]*)\}", sharding))
            for sharding in re.findall(r"<@mesh, \[(.*?)\]>", given[1])
        ]
        stablehlo_to_ttir_pipeline(module)
        ttir_to_ttnn_backend_pipeline(module, f"mesh-shape={mesh[0]},{mesh[1]}")
        binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(module))
        return Compiled(binary, tuple(splits))


def part(value: torch.Tensor, split: Split, place: dict[str, int], sizes: dict[str, int]) -> torch.Tensor:
    """Returns the part of the device at this place of the mesh."""
    for dim, axes in enumerate(split):
        index, parts = 0, 1
        for axis in axes:
            index, parts = index * sizes[axis] + place[axis], parts * sizes[axis]
        size = value.shape[dim] // parts
        value = value.narrow(dim, index * size, size)
    return value.contiguous()


def shards(value: torch.Tensor, split: Split | None, mesh: Mesh) -> dict[int, torch.Tensor]:
    """By device; an argument without sharding is one tensor."""
    if split is None:
        return {0: value}
    sizes = {"x": mesh[0], "y": mesh[1]}
    places = itertools.product(range(mesh[0]), range(mesh[1]))
    return {d: part(value, split, {"x": row, "y": column}, sizes) for d, (row, column) in enumerate(places)}


def run(
    program: Compiled, inputs: Sequence[torch.Tensor], splits: Sequence[Split | None], mesh: Mesh
) -> list[list[torch.Tensor]]:
    """The shards of each result; arguments with a sharding are given in shards."""
    given = [
        shards(value, None if split is None else final, mesh)
        for value, split, final in zip(inputs, splits, program.splits, strict=True)
    ]
    host = [create_tensor(each, mesh if len(each) > 1 else (1, 1)) for each in given]
    placed = convert_input_layouts(device(mesh), host, fbb=program.binary, program_index=0)
    return [fetched(tensor) for tensor in rt.runtime.submit(device(mesh), program.binary, 0, placed)]


def with_mesh(text: str, mesh: Mesh) -> str:
    return text.replace("module {", f'module {{\nsdy.mesh @mesh = <["x"={mesh[0]}, "y"={mesh[1]}]>', 1)


def executed(text: str, mesh: Mesh, inputs: list[torch.Tensor], options: str = "") -> list[list[torch.Tensor]]:
    """Results of a program whose arguments are given as one tensor each."""
    program = compiled(with_mesh(text, mesh), mesh, options)
    return run(program, inputs, [None] * len(inputs), mesh)


def in_shards(text: str, mesh: Mesh, inputs: list[torch.Tensor], options: str = "") -> list[list[torch.Tensor]]:
    """Results of a program that has shardings, whose arguments are given as they say."""
    program = compiled(text, mesh, options)
    given = [
        split if has else None for has, split in zip(comes_in_shards(text, len(inputs)), program.splits, strict=True)
    ]
    return run(program, inputs, given, mesh)


def comes_in_shards(text: str, count: int) -> list[bool]:
    """Returns for each argument of the only public function whether it has a sharding and is not unsharded."""
    with ir.Context():
        module = ir.Module.parse(text)
        functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
        [function] = [
            f
            for f in functions
            if "sym_visibility" not in f.attributes or "public" in str(f.attributes["sym_visibility"])
        ]
        found: Any = function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else [{}] * count
        return [
            "sdy.sharding" in attributes
            and ("ttcore.shard_status" not in attributes or "unsharded" not in str(attributes["ttcore.shard_status"]))
            for attributes in found
        ]
