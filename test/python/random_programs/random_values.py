# SPDX-License-Identifier: Apache-2.0
"""Values and modules that are drawn at random, beside what they compute; see random_modules.py."""

from __future__ import annotations

import math
import random
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

NAMES = {torch.float32: "torch.float32", torch.bfloat16: "torch.bfloat16", torch.int32: "torch.int32"}
FLOATS = (torch.float32, torch.bfloat16)
LIMIT = {torch.float32: 64.0, torch.bfloat16: 64.0, torch.int32: 2**20}  # of the size of elements
MOST_ELEMENTS = 1 << 14  # of a value on one chip


@dataclass(frozen=True)
class Value:
    """name: in the program. shards: one for each chip, or one that all have. exact: the device has the same bits."""

    name: str
    shards: tuple[Tensor, ...]
    exact: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.shards[0].shape)

    @property
    def dtype(self) -> torch.dtype:
        return self.shards[0].dtype

    @property
    def rank(self) -> int:
        return self.shards[0].dim()

    def at(self, chip: int) -> Tensor:
        return self.shards[chip if len(self.shards) > 1 else 0]

    @property
    def least(self) -> float:
        return min((float(s.float().min()) for s in self.shards if s.numel()), default=0.0)

    @property
    def most(self) -> float:
        return max((float(s.float().max()) for s in self.shards if s.numel()), default=0.0)


@dataclass
class Module:
    """A drawn module. lines: of the function's body. inputs: as the program takes them."""

    seed: int
    mesh: tuple[int, int]
    inputs: list[Tensor] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The function that builds it, to be copied into a file of its own."""
        names = [f"x{i}" for i in range(len(self.inputs))]
        shapes = "[" + ", ".join(str(tuple(x.shape)) for x in self.inputs) + "]"
        dtypes = "[" + ", ".join(NAMES[x.dtype] for x in self.inputs) + "]"
        returned = ", ".join(v.name for v in self.outputs)
        body = "".join(f"        {line}\n" for line in self.lines)
        return (
            f"def module(builder):\n    @builder.func({shapes}, {dtypes})\n"
            f"    def main({', '.join([*names, 'builder'])}):\n{body}        return {returned}\n"
        )

    @property
    def program(self) -> str:
        """A file that builds and runs it, with other inputs."""
        rows, columns = self.mesh
        return (
            f"# --seed {self.seed}, mesh {rows}x{columns}\nfrom collections import OrderedDict\n\nimport torch\n"
            "from builder.base.builder_apis import *\n\n\n"
            f'{self.source}\n\nmesh = OrderedDict([("x", {rows}), ("y", {columns})])\n'
            "print(compile_and_execute_ttir(module, mesh_dict=mesh, enable_intermediate_verification=True))\n"
        )

    def built(self) -> tuple[Any, Any]:
        """(module, builder), with the inputs as goldens."""
        from builder.base.builder_apis import build_module
        from golden import GoldenMapTensor

        names: dict[str, Any] = {"torch": torch}
        exec(compile(self.source, f"<seed {self.seed}>", "exec"), names)
        rows, columns = self.mesh
        module, builder = build_module(names["module"], "ttir", mesh_dict=OrderedDict([("x", rows), ("y", columns)]))
        builder.goldens.set_inputs("main", [GoldenMapTensor({0: x}, self.mesh) for x in self.inputs])
        return module, builder


# ---------------------------------------------------------------------- drawing


class Refused(Exception):
    """An op that does not suit the values there are; another one is drawn."""


class Generator:
    """Draws one module of the ops of a catalog."""

    def __init__(self, seed: int, mesh: tuple[int, int] = (1, 1)):
        self.choice = random.Random(f"{seed} {mesh}")
        self.torch = torch.Generator().manual_seed(self.choice.getrandbits(60))
        self.module = Module(seed, mesh)
        self.mesh = mesh
        self.chips = mesh[0] * mesh[1]
        self.values: list[Value] = []
        self.dtype = self.choice.choice([torch.float32, torch.float32, torch.bfloat16])

    def draw(self, catalog: Sequence[Draw]) -> Module:
        for _ in range(self.choice.randint(1, 3)):
            self.new_input()
        wanted = self.choice.randint(5, 20 if self.chips > 1 else 50)
        for _ in range(20 * wanted):
            if len(self.values) >= wanted + len(self.module.inputs):
                break
            try:
                self.choice.choice(catalog)(self)
            except Refused:
                continue
        last = self.values[-1]
        others = self.choice.sample(self.values[:-1], min(len(self.values) - 1, self.choice.randint(0, 2)))
        self.module.outputs = [last, *(v for v in others if not v.name.startswith("x"))]
        return self.module

    # ------------------------------------------------------------------ values

    def random_shape(self) -> tuple[int, ...]:
        """Multiples of the number of chips, so that collectives can cut; sizes of 1 and odd ones; scalars."""
        rank = self.choice.choice([0, 1, 2, 2, 2, 3, 4]) if self.chips == 1 else self.choice.choice([1, 2, 2, 3])
        sizes = (1, 1, 2, 3, 5, 7, 16, 32, 33) if self.chips == 1 else (8, 16, 32, 8, 24, 1)
        shape = tuple(self.choice.choice(sizes) for _ in range(rank))
        return shape if math.prod(shape) <= MOST_ELEMENTS else self.random_shape()

    def random_tensor(self, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        if dtype is torch.int32:
            return torch.randint(-8, 9, tuple(shape), generator=self.torch, dtype=dtype)
        return (torch.rand(tuple(shape), generator=self.torch) * 4 - 2).to(dtype)

    def new_input(self, shape: tuple[int, ...] | None = None, dtype: torch.dtype | None = None) -> Value:
        """An argument: without annotation, or split or replicated over the mesh."""
        shape = self.random_shape() if shape is None else shape
        dtype = dtype or (torch.int32 if self.choice.random() < 0.15 else self.dtype)
        how = self.choice.choice(["whole", "split", "replicated"]) if self.chips > 1 else "whole"
        name = f"x{len(self.module.inputs)}"
        if how == "whole":
            value = Value(name, (self.random_tensor(shape, dtype),), True)
            self.module.inputs.append(value.shards[0])
            return self.add(value)
        if how == "replicated":
            whole = self.random_tensor(shape, dtype)
            self.module.inputs.append(whole)
            counts, dims, kind = [1], [-1], "replicate"
            shards = [whole] * self.chips
        else:
            dims = self.split_dims(len(shape))
            counts = [1] * len(shape)
            for axis, dim in enumerate(dims):
                if dim >= 0:
                    counts[dim] *= self.mesh[axis]
            whole = self.random_tensor([n * c for n, c in zip(shape, counts, strict=True)], dtype)
            self.module.inputs.append(whole)
            kind = "devices"
            shards = [self.part(whole, dims, chip) for chip in range(self.chips)]
        self.add(Value(name, (whole,), True))
        return self.emit(
            f'builder.mesh_shard({name}, shard_type="{kind}", shard_direction="full_to_shard", '
            f"shard_shape={counts}, shard_dims={dims})",
            shards,
            True,
        )

    def split_dims(self, rank: int) -> list[int]:
        """The dimension that each axis of the mesh splits, -1 for none."""
        dims = [-1, -1]
        for axis in self.choice.sample([0, 1], self.choice.randint(1, 2)):
            free = [d for d in range(rank) if d not in dims]
            if free:
                dims[axis] = self.choice.choice(free)
        return dims

    def part(self, whole: Tensor, dims: Sequence[int], chip: int) -> Tensor:
        place = divmod(chip, self.mesh[1])
        for axis, dim in enumerate(dims):
            if dim >= 0:
                whole = whole.chunk(self.mesh[axis], dim)[place[axis]]
        return whole

    def add(self, value: Value) -> Value:
        self.values.append(value)
        return value

    def emit(self, call: str, shards: Sequence[Tensor], exact: bool) -> Value:
        """The result of a call. Refused where its values cannot be compared well."""
        for shard in shards:
            if shard.numel() > MOST_ELEMENTS or shard.numel() == 0 or shard.dim() > 5:
                raise Refused
            if not bool(torch.isfinite(shard.float()).all()) or float(shard.float().abs().max()) > LIMIT[shard.dtype]:
                raise Refused
        name = f"v{len(self.module.lines)}"
        self.module.lines.append(f"{name} = {call}")
        return self.add(Value(name, tuple(shards), exact))

    def each(self, function: Callable[..., Tensor], *operands: Value, dtype: torch.dtype | None = None) -> list[Tensor]:
        """The function on each chip's values, in f32 and rounded: once where all chips have the same."""
        dtype = dtype or operands[0].dtype
        chips = self.chips if any(len(v.shards) > 1 for v in operands) else 1
        wide = [[s.float() if s.dtype in FLOATS else s for s in (v.at(c) for v in operands)] for c in range(chips)]
        return [function(*tensors).to(dtype) for tensors in wide]

    def pick(self, where: Callable[[Value], bool] = lambda v: True) -> Value:
        """One of the values that suit, late ones more often."""
        suitable = [v for v in self.values if where(v)]
        if not suitable:
            raise Refused
        return suitable[max(self.choice.randrange(len(suitable)) for _ in range(2))]

    def dim(self, value: Value) -> int:
        if value.rank == 0:
            raise Refused
        return self.choice.randrange(-value.rank, value.rank)

    def divisors(self, n: int) -> list[int]:
        return [d for d in range(1, n + 1) if n % d == 0]


Draw = Callable[[Generator], None]


def is_float(value: Value) -> bool:
    return value.dtype in FLOATS
