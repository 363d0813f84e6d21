# SPDX-License-Identifier: Apache-2.0
"""Random TTIR functions of ops that fold: constants, neutral numbers, ops that undo each other, casts, clamps, moves.

The text is drawn without goldens, for programs that are compared with each other. Values include -0.0, infinities, NaN
and the ends of integer types.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from scalar_rows import FOLDED_FLOATS, FOLDED_INTEGERS, ttir_names

TORCH = {"f32": torch.float32, "bf16": torch.bfloat16, "i32": torch.int32}
FILLS = {
    "f32": ["0.0", "-0.0", "1.0", "-1.0", "6.0", "0.5", "3.0", "0x7F800000", "0xFF800000", "0x7FC00000"],
    "i32": ["0", "1", "-1", "2", "31", "2147483647", "-2147483648"],
}
FILLS["bf16"] = FILLS["f32"]
UNARY = {"f32": [*ttir_names(FOLDED_FLOATS, 1), "trunc"], "i32": ttir_names(FOLDED_INTEGERS, 1)}
UNARY["bf16"] = UNARY["f32"]
BINARY = {"f32": ttir_names(FOLDED_FLOATS, 2), "i32": ttir_names(FOLDED_INTEGERS, 2)}
BINARY["bf16"] = BINARY["f32"]


@dataclass(frozen=True)
class Drawn:
    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}{self.dtype}>"


def ints(values: list[int] | tuple[int, ...], width: int = 32) -> str:
    return "[" + ", ".join(f"{v} : i{width}" for v in values) + "]"


def array(values: list[int] | tuple[int, ...], width: int) -> str:
    return f"array<i{width}: {', '.join(map(str, values))}>" if values else f"array<i{width}>"


@dataclass
class Function:
    seed: int
    values: list[Drawn] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    arguments: list[Drawn] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.choice = random.Random(self.seed)
        self.torch = torch.Generator().manual_seed(self.seed)
        for dtype in TORCH:
            shape = self.shape()
            self.arguments += [Drawn(f"%{dtype}{i}", shape, dtype) for i in range(2)]
        self.values += self.arguments
        for _ in range(self.choice.randint(8, 40)):
            self.choice.choice(DRAWS)(self)
        # The last ones, and what they need.
        self.outputs = self.values[len(self.arguments) :][-6:] or self.values[-1:]

    def shape(self) -> tuple[int, ...]:
        return tuple(self.choice.choice([1, 1, 2, 3, 4]) for _ in range(self.choice.randint(0, 4)))

    def pick(self, *dtypes: str, rank: int = 0) -> Drawn | None:
        fitting = [v for v in self.values if (not dtypes or v.dtype in dtypes) and len(v.shape) >= rank]
        return fitting[max(self.choice.randrange(len(fitting)) for _ in range(2))] if fitting else None

    def emit(
        self, op: str, operands: list[Drawn], attributes: str, shape: tuple[int, ...] | list[int], dtype: str
    ) -> Drawn:
        result = Drawn(f"%{len(self.lines)}", tuple(shape), dtype)
        properties = f"<{{{attributes}}}> " if attributes else ""
        self.lines.append(
            f'{result.name} = "ttir.{op}"({", ".join(v.name for v in operands)}) {properties}: '
            f"({', '.join(v.type for v in operands)}) -> {result.type}"
        )
        self.values.append(result)
        return result

    @property
    def text(self) -> str:
        arguments = ", ".join(f"{v.name}: {v.type}" for v in self.arguments)
        types = ", ".join(v.type for v in self.outputs)
        body = "".join(f"  {line}\n" for line in self.lines)
        returned = f"  return {', '.join(v.name for v in self.outputs)} : {types}\n"
        return f"func.func @main({arguments}) -> ({types}) {{\n{body}{returned}}}\n"

    def inputs(self) -> list[torch.Tensor]:
        """Special values, then ordinary ones."""
        special = {
            "i32": [0, 1, -1, 2**31 - 1, -(2**31)],
            "f32": [-0.0, 0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 1e-40, 3.4e38],
        }
        result = []
        for value in self.arguments:
            kinds = torch.tensor(special.get(value.dtype, special["f32"]), dtype=TORCH[value.dtype])
            shape = value.shape
            chosen = kinds[torch.randint(len(kinds), shape, generator=self.torch)]
            ordinary = torch.randint(-64, 64, shape, generator=self.torch).to(TORCH[value.dtype])
            if value.dtype != "i32":
                ordinary = ordinary / 8
            result.append(torch.where(torch.rand(shape, generator=self.torch) < 0.5, chosen, ordinary))
        return result


# ---------------------------------------------------------------------- ops


def full(f: Function, shape: Sequence[int], dtype: str, number: str) -> Drawn:
    kind = "i32" if dtype == "i32" else "f32"
    return f.emit("full", [], f"shape = {array(tuple(shape), 32)}, fill_value = {number} : {kind}", shape, dtype)


def constant(f: Function) -> None:
    dtype = f.choice.choice(list(TORCH))
    shape = f.choice.choice([f.shape(), f.pick().shape])  # type: ignore[union-attr]
    kind = "i32" if dtype == "i32" else "f32"
    how = f.choice.choice(["zeros", "ones", "full", "full", "full", "constant"])
    if how == "full":
        f.emit(
            "full",
            [],
            f"shape = {array(shape, 32)}, fill_value = {f.choice.choice(FILLS[dtype])} : {kind}",
            shape,
            dtype,
        )
    elif how == "constant":
        count = math.prod(shape)
        numbers = [str(f.choice.randint(-4, 4)) + (".5" if kind == "f32" else "") for _ in range(count)]
        # Nested brackets by the shape, innermost first.
        for size in reversed(shape):
            numbers = ["[" + ", ".join(numbers[i : i + size]) + "]" for i in range(0, len(numbers), size)]
        f.emit("constant", [], f"value = dense<{numbers[0]}> : {Drawn('', shape, dtype).type}", shape, dtype)
    else:
        f.emit(how, [], f"shape = {array(shape, 32)}", shape, dtype)


def unary(f: Function) -> None:
    x = f.pick()
    assert x
    name = f.choice.choice(UNARY[x.dtype])
    for _ in range(f.choice.choice([1, 1, 2, 2, 3])):
        # Now and then another type on the way.
        to = f.choice.choice(["f32", "bf16"]) if x.dtype != "i32" and f.choice.random() < 0.1 else x.dtype
        x = f.emit(name, [x], "", x.shape, to)


def binary(f: Function) -> None:
    x = f.pick()
    assert x
    candidates = [v for v in f.values if v.dtype == x.dtype and broadcasts(x.shape, v.shape)]
    y = f.choice.choice([x, *candidates])
    if f.choice.random() < 0.5:
        y = full(f, y.shape, x.dtype, f.choice.choice(FILLS[x.dtype][:4]))
    if f.choice.random() < 0.5:
        x, y = y, x
    f.emit(f.choice.choice(BINARY[x.dtype]), [x, y], "", torch.broadcast_shapes(x.shape, y.shape), x.dtype)


def broadcasts(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    try:
        return math.prod(torch.broadcast_shapes(one, other)) <= 4096
    except RuntimeError:
        return False


def where(f: Function) -> None:
    x = f.pick()
    assert x
    others = [v for v in f.values if v.dtype == x.dtype and v.shape == x.shape]
    f.emit("where", [f.choice.choice(others), x, f.choice.choice(others)], "", x.shape, x.dtype)


def clamp(f: Function) -> None:
    x = f.pick()
    assert x
    kind = "i32" if x.dtype == "i32" else "f32"
    numbers = [n for n in FILLS[x.dtype] if n != "0x7FC00000"]
    for _ in range(f.choice.choice([1, 2, 2])):
        low, high = f.choice.choice(numbers), f.choice.choice(numbers)
        x = f.emit("clamp_scalar", [x], f"min = {low} : {kind}, max = {high} : {kind}", x.shape, x.dtype)


def clamp_by_tensors(f: Function) -> None:
    x = f.pick()
    assert x
    limits = [v for v in f.values if v.dtype == x.dtype and (v.shape == x.shape or v.shape == ())]
    f.emit("clamp_tensor", [x, f.choice.choice(limits), f.choice.choice(limits)], "", x.shape, x.dtype)


def typecast(f: Function) -> None:
    x = f.pick("f32", "bf16")
    assert x
    for _ in range(f.choice.choice([1, 2, 3])):
        x = f.emit("typecast", [x], "", x.shape, f.choice.choice(["f32", "bf16"]))


def permute(f: Function) -> None:
    x = f.pick(rank=1)
    for _ in range(f.choice.choice([1, 2, 2]) if x else 0):
        order = f.choice.sample(range(len(x.shape)), len(x.shape))
        x = f.emit("permute", [x], f"permutation = {array(order, 64)}", [x.shape[d] for d in order], x.dtype)


def transpose(f: Function) -> None:
    x = f.pick(rank=2)
    for _ in range(f.choice.choice([1, 2]) if x else 0):
        a, b = f.choice.sample(range(len(x.shape)), 2)
        shape = list(x.shape)
        shape[a], shape[b] = shape[b], shape[a]
        x = f.emit("transpose", [x], f"dim0 = {a} : si32, dim1 = {b - len(shape)} : si32", shape, x.dtype)


def reshape(f: Function) -> None:
    x = f.pick()
    assert x
    for _ in range(f.choice.choice([1, 2])):
        shape = [n for n in x.shape if n != 1]
        if f.choice.random() < 0.5:
            f.choice.shuffle(shape)
        for _ in range(f.choice.randint(0, 2)):
            shape.insert(f.choice.randint(0, len(shape)), 1)
        x = f.emit("reshape", [x], f"shape = {ints(shape)}", shape, x.dtype)


def unsqueeze(f: Function) -> None:
    x = f.pick()
    assert x
    if len(x.shape) > 4:
        return
    dim = f.choice.randint(0, len(x.shape))
    shape = [*x.shape[:dim], 1, *x.shape[dim:]]
    y = f.emit("unsqueeze", [x], f"dim = {dim} : si32", shape, x.dtype)
    if f.choice.random() < 0.5:
        dims = [i for i, n in enumerate(shape) if n == 1]
        gone = f.choice.choice(dims)
        f.emit("squeeze", [y], f"dim = {gone} : si32", [n for i, n in enumerate(shape) if i != gone], x.dtype)


def piece(f: Function) -> None:
    x = f.pick(rank=1)
    for _ in range(f.choice.choice([1, 2, 2]) if x else 0):
        begins, ends, steps, shape = [], [], [], []
        for n in x.shape:
            begin = f.choice.randrange(n)
            end, step = f.choice.randint(begin + 1, n), f.choice.choice([1, 1, 2])
            if f.choice.random() < 0.5:
                begin, end, step = 0, n, 1
            elif n > 1 and f.choice.random() < 0.3:  # backward
                begin = f.choice.randrange(1, n)
                end, step = f.choice.randrange(begin), f.choice.choice([-1, -2])
            shape.append(-(-abs(end - begin) // abs(step)))
            begins.append(begin - (n if f.choice.random() < 0.3 else 0))
            ends.append(end)
            steps.append(step)
        x = f.emit(
            "slice_static", [x], f"begins = {ints(begins)}, ends = {ints(ends)}, step = {ints(steps)}", shape, x.dtype
        )


def concat(f: Function) -> None:
    x = f.pick(rank=1)
    for _ in range(f.choice.choice([1, 2]) if x else 0):
        dim = f.choice.randrange(len(x.shape))
        parts = [x] * f.choice.randint(1, 3)
        if math.prod(x.shape) * len(parts) > 4096:
            return
        f.choice.shuffle(parts)
        shape = list(x.shape)
        shape[dim] *= len(parts)
        x = f.emit("concat", parts, f"dim = {dim - f.choice.choice([0, len(shape)])} : si32", shape, x.dtype)


def repeated(f: Function) -> None:
    x = f.pick(rank=1)
    for _ in range(f.choice.choice([1, 2]) if x else 0):
        copies = [f.choice.choice([1, 1, 2]) for _ in x.shape]
        if math.prod(x.shape) * math.prod(copies) > 4096:
            return
        if f.choice.random() < 0.5:
            copies = [c if n == 1 else 1 for c, n in zip(copies, x.shape, strict=True)]
            name, attribute = "broadcast", "broadcast_dimensions"
        else:
            name, attribute = "repeat", "repeat_dimensions"
        shape = [n * c for n, c in zip(x.shape, copies, strict=True)]
        x = f.emit(name, [x], f"{attribute} = {array(copies, 64)}", shape, x.dtype)


def reverse(f: Function) -> None:
    x = f.pick(rank=1)
    for _ in range(f.choice.choice([1, 2]) if x else 0):
        dims = f.choice.sample(range(len(x.shape)), f.choice.randint(1, len(x.shape)))
        dims = [d - f.choice.choice([0, len(x.shape)]) for d in dims]
        x = f.emit("reverse", [x], f"dimensions = {array(dims, 64)}", x.shape, x.dtype)


def pad(f: Function) -> None:
    x = f.pick("f32", "bf16", rank=1)
    if x is None or math.prod(x.shape) > 512:
        return
    edges = [f.choice.choice([0, 0, 0, 1]) for _ in range(2 * len(x.shape))]
    shape = [n + edges[2 * i] + edges[2 * i + 1] for i, n in enumerate(x.shape)]
    number = f.choice.choice(FILLS["f32"][:4])
    f.emit("pad", [x], f"padding = {array(edges, 32)}, value = {number} : f32", shape, x.dtype)


def reduction(f: Function) -> None:
    x = f.pick(rank=1)
    if x is None:
        return
    ones = [i for i, n in enumerate(x.shape) if n == 1]
    dims = [f.choice.choice(ones or range(len(x.shape)))]
    keep = f.choice.random() < 0.5
    shape = [1 if i in dims else n for i, n in enumerate(x.shape) if keep or i not in dims]
    name = f.choice.choice(["sum", "mean", "max", "min", "prod"] if x.dtype != "i32" else ["sum", "max", "min"])
    f.emit(name, [x], f"dim_arg = {ints(dims)}, keep_dim = {str(keep).lower()}", shape, x.dtype)


def pool(f: Function) -> None:
    x = f.pick("f32", "bf16", rank=4)
    if x is None or len(x.shape) != 4:
        return
    name = f.choice.choice(["max_pool2d", "avg_pool2d"])
    f.emit(name, [x], "kernel = 1 : i32, stride = 1 : i32, dilation = 1 : i32, padding = 0 : i32, ceil_mode = false",
           x.shape, x.dtype)  # fmt: skip


DRAWS = [
    *[constant] * 4,
    *[unary] * 3,
    *[binary] * 5,
    where, clamp, clamp_by_tensors, *[typecast] * 2,
    *[permute] * 2, transpose, *[reshape] * 2, unsqueeze, *[piece] * 2, concat, repeated, reverse, pad, reduction, pool,
]  # fmt: skip
