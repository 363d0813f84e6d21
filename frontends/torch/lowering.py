# SPDX-License-Identifier: Apache-2.0
"""The tools of functions that lower aten ops: values of the program under construction, and ops to create others."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ttmlir import ir
from ttmlir.dialects import ttir

import torch
from torch.fx.node import Node, map_aggregate

from .errors import UnsupportedError
from .integers import MOST
from .types import NARROW, element_type

Number: TypeAlias = bool | int | float


@dataclass(frozen=True)
class Value:
    """A tensor of the program.

    dtype: PyTorch's, which the MLIR type does not tell (f64 constants are f32 there).
    """

    ir: ir.Value
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Draw:
    """Numbers that the host draws before each run.

    sample: draws them; gets what the op returns and its operands, tensors as fakes.
    node: of the graph.
    """

    sample: Callable[..., torch.Tensor]
    node: Node
    fake: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    def __call__(self) -> torch.Tensor:
        return self.sample(self.fake, *self.args, **self.kwargs)


class OpenInt(int):
    """An integer that depends on open sizes. place: in the numbers of the graph (`sizes.expressions.Table`)."""

    place: int


class OpenFloat(float):
    """A float that depends on open sizes, likewise."""

    place: int


@dataclass(frozen=True)
class HostNumber:
    """A number that depends on open sizes, which the host passes to each run: [1]."""

    place: int
    dtype: torch.dtype


# Lowers one call; gets what PyTorch's op gets, tensors as Values, and returns a Value, or a tuple with the results.
Rule: TypeAlias = Callable[..., Any]
RULES: dict[str, Rule] = {}
# For ops whose integers can exceed their operands: a rule that takes magnitudes in f32 and returns those of the
# results, or None if these do not grow.
GROWING: dict[str, Rule] = {}


def rule(*names: str, grows: bool | Rule = False) -> Callable[[Rule], Rule]:
    """Registers a function for overloads of aten, named as in "add.Tensor"; ".default" is left out.

    grows: that integers can exceed the operands, as those of sums and products; the rule of their magnitudes where the
    function itself, on magnitudes, does not bound them.
    """

    def register(function: Rule) -> Rule:
        for name in names:
            if name in RULES:
                raise ValueError(f"aten.{name} has two rules")
            RULES[name] = function
            if grows:
                GROWING[name] = function if grows is True else grows
        return function

    return register


def dimension(dim: int, rank: int) -> int:
    """Returns `dim` counted from the front; a tensor of rank 0 has dimension 0 for PyTorch."""
    return dim % max(rank, 1)


def dimensions(dims: Any, rank: int) -> list[int]:
    """Returns dimensions as PyTorch's reductions take them: None and [] are all."""
    if dims is None or (isinstance(dims, Sequence) and not dims):
        return list(range(rank))
    given = [dims] if isinstance(dims, int) else list(dims)
    return sorted({dimension(d, rank) for d in given}) if rank else []


def described(argument: Any) -> Any:
    """Returns the result of a node, as a fake tensor or a number; other operands are unchanged."""
    return argument.meta.get("val") if isinstance(argument, Node) else argument


class Lowering:
    """The function that is being built, at the place of one aten op."""

    def __init__(self, context: ir.Context) -> None:
        self.context = context
        self.fake: Any = None  # what the op returns, as fake tensors
        self.given: Sequence[Any] = ()  # its operands, as fake tensors
        self.used: frozenset[int] | None = None  # results with users; None: all
        self.block: Any = None  # of the function
        self.draws: list[Draw | HostNumber] = []
        self.node: Any = None  # of the graph
        self.checks = True  # whether the result of `limit` is used
        self.limits: list[tuple[Value, str]] = []
        self.filled: list[Number] = []  # values of `full`, in the order of its calls
        self.varying: Container[int] = ()  # which of them depend on open sizes
        self.has_stablehlo = False  # ops of StableHLO stand among those of TTIR
        self.is_open = False  # other sizes will be taken for those of the graph
        self._constants: dict[Any, ir.Value] = {}

    def is_wide(self) -> bool:
        """Returns whether the op returns 64-bit integers, and a check whether they fit is requested."""
        return self.checks and isinstance(self.fake, torch.Tensor) and self.fake.dtype is torch.int64

    def limit(self, magnitudes: Value, text: str) -> None:
        """Has the program refuse its results where one of these floats is beyond 32 bits."""
        most = self.reduce(ttir.max, magnitudes, list(range(magnitudes.rank)), False)
        self.limits.append((self.reshape(most, (1,)), text))

    def draw(self, sample: Callable[..., torch.Tensor], fake: torch.Tensor) -> Value:
        """Returns a tensor like `fake` that the host makes before each run; the program takes it as one more input.

        sample: see `Draw`; it uses nothing of this lowering, so that it draws at other sizes, too.
        """
        argument = self.block.add_argument(self.type(fake.shape, fake.dtype), ir.Location.current)
        args, kwargs = map_aggregate((self.node.args, self.node.kwargs), described)
        self.draws.append(Draw(sample, self.node, self.fake, args, kwargs))
        return Value(argument, tuple(fake.shape), fake.dtype)

    def number(self, value: OpenInt | OpenFloat, dtype: torch.dtype) -> Value:
        """Returns a number that the host passes before each run, [1]."""
        requested = HostNumber(value.place, dtype)
        if (known := self._constants.get(requested)) is None:
            known = self._constants[requested] = self.block.add_argument(self.type((1,), dtype), ir.Location.current)
            self.draws.append(requested)
        return Value(known, (1,), dtype)

    #
    # Types
    #

    def type(self, shape: Sequence[int], dtype: torch.dtype) -> ir.Type:
        return ir.RankedTensorType.get(list(shape), element_type(dtype, self.context))

    def value(self, result: ir.Value, dtype: torch.dtype) -> Value:
        return Value(result, tuple(ir.RankedTensorType(result.type).shape), dtype)

    def wants(self, result: int) -> bool:
        """Returns whether this result of the op has users."""
        return self.used is None or result in self.used

    def out(self, result: int | None = None) -> torch.Tensor:
        """Returns the op's result as a fake tensor: its shape and dtype."""
        return self.fake if result is None else self.fake[result]

    #
    # Constants
    #

    def full(self, shape: Sequence[int], value: Number, dtype: torch.dtype) -> Value:
        """Returns a tensor of one value."""
        if isinstance(value, OpenInt | OpenFloat):
            return self.expand(self.reshape(self.number(value, dtype), (1,) * len(shape)), tuple(shape))
        self.filled.append(value)
        if len(self.filled) - 1 in self.varying and float(value).is_integer() and abs(value) < MOST:
            # The bounds of an op are numbers of the program; the values of a constant are not.
            begin = int(value)
            position = ttir.arange(begin, begin + 1, 1, 0, results=[self.type((1,), torch.int32)])
            number = self.cast(Value(position, (1,), torch.int32), dtype)
            return self.expand(self.reshape(number, (1,) * len(shape)), tuple(shape))
        key = (tuple(shape), value, type(value), math.copysign(1, value), dtype)
        if (known := self._constants.get(key)) is None:
            kind = element_type(dtype, self.context)
            if dtype.is_floating_point:
                splat = ir.FloatAttr.get(kind, float(value))
            else:
                splat = ir.IntegerAttr.get(kind, wrapped(int(value), dtype))
            if self.is_open and math.prod(shape) > 1:  # a constant would have all elements for the largest sizes
                alone = ir.DenseElementsAttr.get_splat(self.type((1,) * len(shape), dtype), splat)
                known = ttir.broadcast(ttir.constant(alone), [int(n) for n in shape])
            else:
                known = ttir.constant(ir.DenseElementsAttr.get_splat(self.type(shape, dtype), splat))
            self._constants[key] = known
        return Value(known, tuple(shape), dtype)

    def scalar(self, value: Number, like: Value) -> Value:
        """Returns a number of the dtype of `like`, to be broadcast with it."""
        return self.full((1,) * like.rank, value, like.dtype)

    def constant(self, tensor: torch.Tensor) -> Value:
        """Returns the values of a tensor that is known now."""
        tensor = tensor.detach()
        values = tensor.float() if tensor.dtype is torch.float64 else tensor
        first = values.flatten()[:1]
        alike = (values == first) & (values.signbit() == first.signbit())
        if tensor.numel() == 1 or (tensor.numel() and bool(alike.all())):
            return self.full(tensor.shape, values.flatten()[0].item(), tensor.dtype)
        kind = self.type(tensor.shape, tensor.dtype)
        if tensor.dtype is torch.bool:
            attribute = ir.DenseElementsAttr.get([ir.BoolAttr.get(bool(x)) for x in values.flatten().tolist()], kind)
        else:
            raw = values.contiguous().reshape(-1).view(torch.uint8).numpy()
            name = f"torch_{len(self._constants)}"
            self._constants[name] = None
            attribute = ir.DenseResourceElementsAttr.get_from_buffer(raw, name, kind, alignment=64)
        return Value(ttir.constant(attribute), tuple(tensor.shape), tensor.dtype)

    def iota(self, shape: Sequence[int], dim: int, dtype: torch.dtype = torch.int32) -> Value:
        """Returns positions along one dimension."""
        result = ttir.arange(0, shape[dim], 1, dim, results=[self.type(shape, dtype)])
        return Value(result, tuple(shape), dtype)

    #
    # Elementwise ops
    #

    def call(
        self, op: Callable[..., Any], *operands: Value, dtype: torch.dtype | None = None, **attributes: Any
    ) -> Value:
        """Returns an op whose result type follows from its operands; `dtype` is PyTorch's, by default the first
        operand's."""
        return self.value(op(*(x.ir for x in operands), **attributes), dtype or operands[0].dtype)

    def cast(self, x: Value, dtype: torch.dtype) -> Value:
        if x.dtype is dtype:
            return x
        kind = self.type(x.shape, dtype)
        if kind == x.ir.type:
            return Value(x.ir, x.shape, dtype)
        if dtype is torch.bool:
            return self.compare(ttir.ne, x, self.scalar(0, x))
        if x.dtype.is_floating_point and dtype in NARROW:  # the chip saturates, PyTorch takes the lowest bits
            return self.cast(self.cast(x, torch.int32), dtype)
        return Value(ttir.typecast(x.ir, results=[kind]), x.shape, dtype)

    def elementwise(self, op: Callable[..., Any], *operands: Value) -> Value:
        """Returns an op of operands of one dtype, which is the result's."""
        shape = torch.broadcast_shapes(*(x.shape for x in operands))
        kind = self.type(shape, operands[0].dtype)
        return Value(op(*(x.ir for x in operands), results=[kind]), tuple(shape), operands[0].dtype)

    def compare(self, op: Callable[..., Any], lhs: Value, rhs: Value) -> Value:
        shape = torch.broadcast_shapes(lhs.shape, rhs.shape)
        result = op(lhs.ir, rhs.ir, results=[self.type(shape, torch.bool)])
        return Value(result, tuple(shape), torch.bool)

    def where(self, condition: Value, x: Value, y: Value) -> Value:
        shape = torch.broadcast_shapes(condition.shape, x.shape, y.shape)
        result = ttir.where(condition.ir, x.ir, y.ir, results=[self.type(shape, x.dtype)])
        return Value(result, tuple(shape), x.dtype)

    def add(self, x: Value, y: Value) -> Value:
        return self.elementwise(ttir.add, x, y)

    def sub(self, x: Value, y: Value) -> Value:
        return self.elementwise(ttir.subtract, x, y)

    def mul(self, x: Value, y: Value) -> Value:
        return self.elementwise(ttir.multiply, x, y)

    def div(self, x: Value, y: Value) -> Value:
        return self.elementwise(ttir.div, x, y)

    #
    # Shapes
    #

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        if x.shape == tuple(shape):
            return x
        return Value(ttir.reshape(x.ir, [int(n) for n in shape]), tuple(shape), x.dtype)

    def permute(self, x: Value, order: Sequence[int]) -> Value:
        if list(order) == list(range(x.rank)):
            return x
        return Value(ttir.permute(x.ir, list(order)), tuple(x.shape[d] for d in order), x.dtype)

    def expand(self, x: Value, shape: Sequence[int]) -> Value:
        """Repeats dimensions of size 1; new dimensions are leading ones."""
        x = self.reshape(x, (1,) * (len(shape) - x.rank) + x.shape)
        if x.shape == tuple(shape):
            return x
        repeats = [want // have if have else 1 for want, have in zip(shape, x.shape, strict=True)]
        if 0 in shape:
            return self.full(shape, 0, x.dtype)
        return Value(ttir.broadcast(x.ir, repeats), tuple(shape), x.dtype)

    def slice(self, x: Value, dim: int, begin: int, end: int, step: int = 1) -> Value:
        if begin == 0 and end == x.shape[dim] and step == 1:
            return x
        begins, ends, steps = [0] * x.rank, list(x.shape), [1] * x.rank
        begins[dim], ends[dim], steps[dim] = begin, end, step
        return self.call(ttir.slice_static, x, begins=begins, ends=ends, step=steps)

    def concat(self, xs: Sequence[Value], dim: int) -> Value:
        if len(xs) == 1:
            return xs[0]
        return self.value(ttir.concat([x.ir for x in xs], dim), xs[0].dtype)

    def pad(self, x: Value, padding: Sequence[int], value: Number) -> Value:
        """Returns `padding`: low and high of each dimension in turn; nothing is cut off."""
        if not any(padding):
            return x
        return self.call(ttir.pad, x, padding=list(padding), value=float(value))

    def reduce_type(self, name: str) -> ir.Attribute:
        return ir.Attribute.parse(f"#ttcore.reduce_type<{name}>", self.context)

    #
    # Reductions
    #

    def reduce(self, op: Callable[..., Any], x: Value, dims: Sequence[int], keep: bool) -> Value:
        if not x.rank:
            x = self.reshape(x, (1,))
            return self.reduce(op, x, [0], False)
        if not dims:
            return x
        return self.call(op, x, keep_dim=keep, dim_arg=list(dims))

    def finish(self, x: Value, fake: torch.Tensor) -> Value:
        """Returns the result in the dtype and shape that PyTorch says it has."""
        return self.reshape(self.cast(x, fake.dtype), tuple(fake.shape))


def wrapped(value: int, dtype: torch.dtype) -> int:
    """Returns the integer that a tensor of `dtype` holds for `value`."""
    if dtype is torch.bool:
        return int(value != 0)
    info = torch.iinfo(dtype)
    if not info.min <= value <= info.max:
        raise UnsupportedError(f"{value} does not fit into {dtype}; it holds {info.min} to {info.max}")
    return value
