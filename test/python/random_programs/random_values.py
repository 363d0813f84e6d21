# SPDX-License-Identifier: Apache-2.0
"""Values and modules that are drawn at random, with what they compute; see random_modules.py."""

from __future__ import annotations

import math
import random
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor

FLOATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
SIGNED = (torch.int32, torch.int8, torch.int16, torch.int64)
UNSIGNED = (torch.uint8, torch.uint16, torch.uint32)
DTYPES = (*FLOATS, *SIGNED, *UNSIGNED, torch.bool)
NAMES = {dtype: str(dtype) for dtype in DTYPES}
# What the chip holds in another type, in which results come back.
HELD = {
    torch.float64: torch.float32,
    torch.int8: torch.int32,
    torch.int16: torch.int32,
    torch.int64: torch.int32,
}
LIMIT = {dtype: 64.0 if dtype in FLOATS else 2**20 for dtype in DTYPES}  # of the size of elements
MOST_ELEMENTS = 1 << 14  # of a value on one chip
# Every value is computed several times: as the program says, in f64, and in f64 with errors of this relative size after
# every op. How far these are apart tells how a module amplifies rounding.
ROUNDING = {torch.float32: 2**-20, torch.float64: 2**-20, torch.float16: 2**-11, torch.bfloat16: 2**-8}
AS_WRITTEN, IN_F64, NOISY = 0, 1, (2, 3, 4)
RUNS = (AS_WRITTEN, IN_F64, *NOISY)
MOST_SPREAD = 0.125  # of a value's largest element, or of 1: what is further apart says nothing about a program


@dataclass(frozen=True)
class Value:
    """name: in the program. runs: for each of RUNS a tensor for each chip, or one that all have. exact: the device has
    the same bits."""

    name: str
    runs: tuple[tuple[Tensor, ...], ...]
    exact: bool
    now: ClassVar[int] = AS_WRITTEN  # the run that is being computed

    @property
    def shards(self) -> tuple[Tensor, ...]:
        return self.runs[Value.now]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.shards[0].shape)

    @property
    def dtype(self) -> torch.dtype:
        return self.runs[AS_WRITTEN][0].dtype

    @property
    def rank(self) -> int:
        return self.shards[0].dim()

    def at(self, chip: int) -> Tensor:
        return self.shards[chip if len(self.shards) > 1 else 0]

    @property
    def spread(self) -> float:
        """How far the runs are apart at most."""
        written = self.runs[AS_WRITTEN]
        if self.exact or not written[0].numel():
            return 0.0
        return max(
            float((a.double() - b.double()).abs().max())
            for other in self.runs
            for a, b in zip(written, other, strict=True)
        )

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
            f"# --seed {self.seed}, mesh {rows}x{columns}, {len(self.lines)} calls\n"
            "from collections import OrderedDict\n\nimport torch\n"
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


@dataclass(frozen=True)
class Kind:
    """The properties that modules are drawn with, where these are not random.

    dtype: of floats.
    sizes: of dimensions, on one chip.
    """

    dtype: torch.dtype | None = None
    sizes: tuple[int, ...] = (1, 1, 2, 3, 5, 7, 16, 32, 33)


ANY = Kind()


class Generator:
    """Draws one module of the ops of a catalog."""

    def __init__(self, seed: int, mesh: tuple[int, int] = (1, 1), kind: Kind = ANY):
        self.kind = kind
        self.choice = random.Random(f"{seed} {mesh}" if kind == ANY else f"{seed} {mesh} {kind}")
        self.torch = torch.Generator().manual_seed(self.choice.getrandbits(60))
        self.noise = torch.Generator().manual_seed(seed)
        self.module = Module(seed, mesh)
        self.mesh = mesh
        self.chips = mesh[0] * mesh[1]
        self.values: list[Value] = []
        some = [torch.float32] * 4 + [torch.bfloat16] * 3 + [torch.float16, torch.float64]
        self.dtype = kind.dtype or self.choice.choice(some)

    def draw(self, catalog: Sequence[Draw], ops: int | None = None) -> Module:
        """ops: how many calls, instead of a random number; fewer are the first ones of more."""
        for _ in range(self.choice.randint(1, 3)):
            self.new_input()
        expected = self.choice.randint(5, 20 if self.chips > 1 else 50)
        expected = expected if ops is None else ops
        for _ in range(20 * expected):
            if len(self.values) >= expected + len(self.module.inputs):
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
        sizes = self.kind.sizes if self.chips == 1 else (8, 16, 32, 8, 24, 1)
        shape = tuple(self.choice.choice(sizes) for _ in range(rank))
        return shape if math.prod(shape) <= MOST_ELEMENTS else self.random_shape()

    def random_tensor(self, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        if dtype not in FLOATS:
            least, most = (-8, 9) if dtype in SIGNED else (0, 2 if dtype is torch.bool else 17)
            return torch.randint(least, most, tuple(shape), generator=self.torch).to(dtype)
        return (torch.rand(tuple(shape), generator=self.torch) * 4 - 2).to(dtype)

    def random_dtype(self) -> torch.dtype:
        """Mostly the float type of the module."""
        if self.choice.random() < 0.8:
            return self.dtype
        return self.choice.choice([torch.int32] * 6 + [*SIGNED, *UNSIGNED, torch.bool, torch.bool])

    def given(self, tensor: Tensor) -> Value:
        """An argument of these values, without annotation."""
        self.module.inputs.append(tensor)
        return self.add(Value(f"x{len(self.module.inputs) - 1}", ((tensor,),) * len(RUNS), True))

    def indices(self, shape: Sequence[int], below: int) -> Value:
        """An argument of integers from 0."""
        return self.given(torch.randint(0, below, tuple(shape), generator=self.torch, dtype=torch.int32))

    def new_input(self, shape: tuple[int, ...] | None = None, dtype: torch.dtype | None = None) -> Value:
        """An argument: without annotation, or split or replicated over the mesh."""
        shape = self.random_shape() if shape is None else shape
        dtype = dtype or self.random_dtype()
        how = self.choice.choice(["whole", "split", "replicated"]) if self.chips > 1 else "whole"
        name = f"x{len(self.module.inputs)}"
        if how == "whole":
            return self.given(self.random_tensor(shape, dtype))
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
        self.add(Value(name, ((whole,),) * len(RUNS), True))
        return self.emit(
            f'builder.mesh_shard({name}, shard_type="{kind}", shard_direction="full_to_shard", '
            f"shard_shape={counts}, shard_dims={dims})",
            lambda: shards,
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

    def emit(self, call: str, compute: Callable[[], Sequence[Tensor]], exact: bool) -> Value:
        """The result of a call, computed in each run. Refused where its values cannot be compared well."""
        shards = compute()
        for shard in shards:
            if shard.numel() > MOST_ELEMENTS or shard.numel() == 0 or shard.dim() > 5:
                raise Refused
            if not bool(torch.isfinite(shard.float()).all()) or float(shard.float().abs().max()) > LIMIT[shard.dtype]:
                raise Refused
        name = f"v{len(self.module.lines)}"
        value = Value(name, (tuple(shards), *(self.again(compute, shards, exact, run) for run in RUNS[1:])), exact)
        largest = max(float(shard.double().abs().max()) for shard in shards)
        if not value.spread <= MOST_SPREAD * max(1.0, largest):
            raise Refused
        self.module.lines.append(f"{name} = {call}")
        return self.add(value)

    def again(
        self, compute: Callable[[], Sequence[Tensor]], written: Sequence[Tensor], exact: bool, run: int
    ) -> tuple[Tensor, ...]:
        """The shards in another run; what the device has the bits of is the same in all."""
        if exact or written[0].dtype not in FLOATS:
            return tuple(written)
        Value.now = run
        try:
            shards = compute()
        finally:
            Value.now = AS_WRITTEN
        if run not in NOISY:
            return tuple(shards)
        size = ROUNDING[written[0].dtype]
        noise = [torch.rand(s.shape, generator=self.noise, dtype=torch.float64) * 2 - 1 for s in shards]
        return tuple(s * (1 + size * n) for s, n in zip(shards, noise, strict=True))

    @staticmethod
    def wide(tensor: Tensor) -> Tensor:
        """Returns the dtype that an op computes in."""
        return tensor.float() if Value.now == AS_WRITTEN else tensor.double()

    @staticmethod
    def narrow(tensor: Tensor, dtype: torch.dtype) -> Tensor:
        """Returns the dtype of the result. Integers beyond the type are refused: their conversion is not compared."""
        if dtype not in FLOATS and dtype is not torch.bool and tensor.numel():
            held = torch.iinfo(dtype)
            if float(tensor.double().min()) < held.min or float(tensor.double().max()) > held.max:
                raise Refused
        return tensor.to(dtype) if Value.now == AS_WRITTEN or dtype not in FLOATS else tensor.double()

    def each(self, function: Callable[..., Tensor], *operands: Value, dtype: torch.dtype | None = None) -> list[Tensor]:
        """The function on each chip's values, of floats in f32 and of integers in 64 bits, and rounded; once where all
        chips have the same."""
        dtype = dtype or operands[0].dtype
        chips = self.chips if any(len(v.shards) > 1 for v in operands) else 1
        wide = [
            [self.wide(s) if s.is_floating_point() else s.long() for s in (v.at(c) for v in operands)]
            for c in range(chips)
        ]
        return [self.narrow(function(*tensors), dtype) for tensors in wide]

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

    def pick_exact(self, where: Callable[[Value], bool] = lambda v: True) -> Value:
        """For ops of which rounding errors change more than the last digits."""
        return self.pick(lambda v: v.exact and where(v))

    def divisors(self, n: int) -> list[int]:
        return [d for d in range(1, n + 1) if n % d == 0]


Draw = Callable[[Generator], None]


def is_float(value: Value) -> bool:
    return value.dtype in FLOATS
