# SPDX-License-Identifier: Apache-2.0
"""The function that is being built: ops of StableHLO and TTIR over values with NumPy's types and broadcasting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from ttmlir import ir
from ttmlir.dialects import stablehlo, ttir

from .errors import Refused
from .values import BOOL, ELEMENT_TYPES, I32, I64, Array, DType, Value, is_float, is_integer, is_unsigned

Number = bool | int | float
# Known arrays of more bytes become parameters of the program instead of constants in its text.
LARGEST_CONSTANT = 256


class Emitter:
    """Emits ops at the current insertion point.

    block: of the function. parameters: known arrays that are arguments of the function, in order, by their names.
    is_open: the program will be taken for other sizes than those of its types.
    """

    def __init__(self, context: ir.Context) -> None:
        self.context = context
        self.block: Any = None
        self.is_open = False
        self.inside = False  # weights become constants of the module
        self.parameters: list[tuple[str, Array]] = []
        self.names: set[str] = set()  # of arguments
        self._parameters: dict[int, ir.Value] = {}
        self._constants: dict[Any, ir.Value] = {}
        self._attributes: dict[str, ir.Attribute] = {}
        self.depth = 0  # of regions

    #
    # Types and attributes
    #

    def element(self, dtype: DType) -> ir.Type:
        text = ELEMENT_TYPES.get(dtype)
        if text is None:
            raise Refused(f"elements of type {dtype.name} have no form on the chip")
        return ir.Type.parse(text, self.context)

    def type(self, shape: Sequence[int], dtype: DType) -> ir.Type:
        return ir.RankedTensorType.get([int(n) for n in shape], self.element(dtype))

    def value(self, result: ir.Value, dtype: DType) -> Value:
        return Value(tuple(ir.RankedTensorType(result.type).shape), dtype, result)

    def attribute(self, text: str) -> ir.Attribute:
        if text not in self._attributes:
            self._attributes[text] = ir.Attribute.parse(text, self.context)
        return self._attributes[text]

    def ints(self, values: Sequence[int]) -> ir.Attribute:
        return ir.DenseI64ArrayAttr.get([int(n) for n in values])

    def i32s(self, values: Sequence[int]) -> ir.Attribute:
        return ir.DenseI32ArrayAttr.get([int(n) for n in values])

    def is_open_size(self, x: Value, dim: int) -> bool:
        """Returns whether a dimension may have other sizes than that of the type; those of 0 and 1 are never open."""
        return self.is_open and x.shape[dim] > 1

    def seen_elements(self, x: Value) -> list[Array]:
        """Returns the elements of a known value in the imports for other sizes; none where sizes do not change them."""
        del x
        return []

    def seen_sizes(self, x: Value, dim: int) -> list[int]:
        """Returns the sizes of a dimension of a node's input in the imports for other sizes."""
        del x, dim
        return []

    #
    # Constants
    #

    def ir(self, value: Value) -> ir.Value:
        """Returns the value in the program; known arrays become constants or parameters."""
        if value.ir is not None:
            return value.ir
        assert value.known is not None
        if value.varying:
            created = self._varying(value)
            if not self.depth:
                value.ir = created
            return created
        value.ir = self._known(value.known, value.name)
        return value.ir

    def _varying(self, value: Value) -> ir.Value:
        known = value.known
        assert known is not None
        if is_integer(value.dtype) and known.ndim <= 1 and all(abs(int(n)) < 2**31 - 1 for n in known.flatten()):
            numbers = [self.number(int(n), value.dtype) for n in known.flatten()]
            return self.ir(self.reshape(self.concat(numbers, 0), value.shape)) if numbers else self._known(known, "")
        if value.emit is None:
            raise Refused(f"{value.name}, which depends on an open size, is no integer")
        return self.ir(value.emit())

    def number(self, n: int, dtype: DType) -> Value:
        """Returns a number of the program that open sizes may change, [1]: bounds of ops are, values of constants are
        not."""
        position = ttir.arange(n, n + 1, 1, 0, results=[self.type((1,), I32)])
        return self.cast(Value((1,), I32, position), dtype)

    def _known(self, array: Array, name: str) -> ir.Value:
        is_splat = bool(array.size) and self._is_splat(array)
        if array.size and (array.nbytes <= LARGEST_CONSTANT or is_splat):
            raw = array.reshape(-1)[:1].tobytes() if is_splat else array.tobytes()
            key = (array.dtype, array.shape, is_splat, raw)
            if key not in self._constants:
                with ir.InsertionPoint.at_block_begin(self.block):
                    self._constants[key] = self._constant(array)
            return self._constants[key]
        if not array.size or self.inside:
            with ir.InsertionPoint.at_block_begin(self.block):
                return self._constant(array)
        if id(array) not in self._parameters:
            name = name or f"constant_{len(self.parameters)}"
            while name in self.names:
                name += "_"
            self.names.add(name)
            argument = self.block.add_argument(self.type(array.shape, array.dtype), ir.Location.name(name))
            self.parameters.append((name, array))
            self._parameters[id(array)] = argument
        return self._parameters[id(array)]

    @staticmethod
    def _is_splat(array: Array) -> bool:
        first = array.reshape(-1)[:1]
        raw = array.reshape(-1)
        if raw.size > 4096 and raw[-1:].tobytes() != first.tobytes():
            return False
        return bool((np.frombuffer(raw.tobytes(), np.uint8).reshape(raw.size, -1)
                     == np.frombuffer(first.tobytes(), np.uint8)).all())  # fmt: skip

    def _constant(self, array: Array) -> ir.Value:
        kind = self.type(array.shape, array.dtype)
        element = ir.RankedTensorType(kind).element_type

        def attribute(item: Any) -> ir.Attribute:
            if array.dtype == BOOL:
                return ir.BoolAttr.get(bool(item))
            if is_integer(array.dtype):
                if not -(2**63) <= int(item) < 2**63:
                    raise Refused(f"value {item} of type {array.dtype.name} does not fit; the chip holds 32 bits")
                return ir.IntegerAttr.get(element, int(item))
            return ir.FloatAttr.get(element, float(item))

        flat = array.reshape(-1)
        if array.size and self._is_splat(array):
            if array.size > 1 and self.is_open:  # a constant would have all elements for the largest sizes
                one = ir.DenseElementsAttr.get_splat(self.type((1,) * array.ndim, array.dtype), attribute(flat[0]))
                return self.ir(
                    self.broadcast(Value((1,) * array.ndim, array.dtype, stablehlo.constant(one)), array.shape)
                )
            return stablehlo.constant(ir.DenseElementsAttr.get_splat(kind, attribute(flat[0])))
        if array.size > 64 and array.dtype != BOOL and array.dtype.itemsize > 0 and not self._is_sub_byte(array.dtype):
            raw = np.ascontiguousarray(flat).view(np.uint8)
            name = f"onnx_{len(self._constants)}"
            self._constants[name] = None  # type: ignore[assignment]
            return stablehlo.constant(ir.DenseResourceElementsAttr.get_from_buffer(raw, name, kind, alignment=64))
        if not array.size:
            return stablehlo.constant(self.attribute(f"dense<> : {kind}"))
        return stablehlo.constant(ir.DenseElementsAttr.get([attribute(item) for item in flat], kind))

    @staticmethod
    def _is_sub_byte(dtype: DType) -> bool:
        return dtype.name in ("int4", "uint4", "int2", "uint2", "float4_e2m1fn")

    def full(self, shape: Sequence[int], number: Number, dtype: DType) -> Value:
        """Returns a tensor of one number."""
        with np.errstate(over="ignore"):
            one = np.asarray(number).astype(dtype) if is_float(dtype) or dtype == BOOL else np.array(number, dtype)
        return Value.of(np.broadcast_to(one, tuple(shape))) if math.prod(shape) <= 64 and not self.is_open else (
            self.broadcast(Value.of(one.reshape((1,) * len(shape))), tuple(shape))
        )  # fmt: skip

    def scalar(self, number: Number, like: Value) -> Value:
        """Returns a number of the type of `like`, to be broadcast with it."""
        return self.full((), number, like.dtype)

    def constant(self, array: Any) -> Value:
        return Value.of(np.asarray(array))

    def iota(self, shape: Sequence[int], dim: int, dtype: DType = I32) -> Value:
        """Returns positions along one dimension."""
        kind = self.type(shape, dtype if is_integer(dtype) else I32)
        created = Value(tuple(shape), dtype if is_integer(dtype) else I32, stablehlo.iota(kind, dim))
        return self.cast(created, dtype)

    #
    # Elementwise ops
    #

    def cast(self, x: Value, dtype: DType) -> Value:
        """Converts as StableHLO does; a bool is whether an element is not 0."""
        if x.dtype == dtype:
            return x
        if x.ir is None and x.known is not None and not x.varying and x.size <= 64:
            with np.errstate(all="ignore"):
                return Value.of(x.known.astype(dtype))
        if dtype == BOOL:
            return self.compare("NE", x, self.scalar(0, x))
        return Value(x.shape, dtype, stablehlo.convert(self.type(x.shape, dtype), self.ir(x)))

    def common(self, *operands: Value) -> list[Value]:
        """Returns operands broadcast to one shape, as NumPy does."""
        shape = self.common_shape(*operands)
        return [self.broadcast(x, shape) for x in operands]

    def common_shape(self, *operands: Value) -> tuple[int, ...]:
        try:
            return np.broadcast_shapes(*(x.shape for x in operands))
        except ValueError:
            raise Refused(f"operands {', '.join(map(repr, operands))} do not broadcast") from None

    def binary(self, op: Callable[..., Any], x: Value, y: Value) -> Value:
        """Returns an op of StableHLO of two operands of one type, broadcast."""
        if x.dtype != y.dtype:
            raise Refused(f"operands {x!r} and {y!r} have different types")
        x, y = self.common(x, y)
        return Value(x.shape, x.dtype, op(self.ir(x), self.ir(y)))

    def unary(self, op: Callable[..., Any], x: Value) -> Value:
        return Value(x.shape, x.dtype, op(self.ir(x)))

    def ttir(self, op: str, *operands: Value, shape: Sequence[int] | None = None, dtype: DType | None = None,
             **attributes: Any) -> Value:  # fmt: skip
        """Returns an op of TTIR with one result, whose type is inferred, or the first operand's with `shape` and
        `dtype`."""
        values = [self.ir(x) for x in operands]
        created = getattr(ttir, op)
        if shape is None and dtype is None:
            return self.value(created(*values, **attributes), operands[0].dtype)
        dtype = dtype or operands[0].dtype
        shape = operands[0].shape if shape is None else tuple(shape)
        return Value(tuple(shape), dtype, created(*values, results=[self.type(shape, dtype)], **attributes))

    def add(self, x: Value, y: Value) -> Value:
        return self.binary(stablehlo.add, x, y)

    def sub(self, x: Value, y: Value) -> Value:
        return self.binary(stablehlo.subtract, x, y)

    def mul(self, x: Value, y: Value) -> Value:
        return self.binary(stablehlo.multiply, x, y)

    def div(self, x: Value, y: Value) -> Value:
        return self.binary(stablehlo.divide, x, y)

    def maximum(self, x: Value, y: Value) -> Value:
        return self.binary(stablehlo.maximum, x, y)

    def minimum(self, x: Value, y: Value) -> Value:
        return self.binary(stablehlo.minimum, x, y)

    def compare(self, direction: str, x: Value, y: Value) -> Value:
        """Compares elements. direction: EQ, NE, GE, GT, LE or LT."""
        x, y = self.common(x, y)
        kind = "FLOAT" if is_float(x.dtype) else "UNSIGNED" if x.dtype == BOOL or is_unsigned(x.dtype) else "SIGNED"
        created = stablehlo.compare(
            self.ir(x), self.ir(y), self.attribute(f"#stablehlo<comparison_direction {direction}>"),
            compare_type=self.attribute(f"#stablehlo<comparison_type {kind}>"),
        )  # fmt: skip
        return Value(x.shape, BOOL, created)

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        condition, x, y = self.common(condition, x, y)
        return Value(x.shape, x.dtype, stablehlo.select(self.ir(condition), self.ir(x), self.ir(y)))

    #
    # Shapes
    #

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        shape = tuple(int(n) for n in shape)
        if x.shape == shape:
            return x
        if math.prod(shape) != x.size:
            raise Refused(f"{x!r} has {x.size} elements; shape {list(shape)} has {math.prod(shape)}")
        if x.ir is None and x.known is not None and not x.varying:
            return Value.of(x.known.reshape(shape), x.name)
        return Value(shape, x.dtype, stablehlo.reshape(self.type(shape, x.dtype), self.ir(x)))

    def transpose(self, x: Value, order: Sequence[int]) -> Value:
        order = [int(d) for d in order]
        if order == list(range(x.rank)):
            return x
        shape = tuple(x.shape[d] for d in order)
        return Value(shape, x.dtype, stablehlo.transpose(self.ir(x), self.ints(order)))

    def broadcast(self, x: Value, shape: Sequence[int]) -> Value:
        """Repeats dimensions of size 1; new dimensions are leading ones."""
        shape = tuple(int(n) for n in shape)
        if x.shape == shape:
            return x
        if x.ir is None and x.known is not None and not x.varying and math.prod(shape) <= 64 and not self.is_open:
            return Value.of(np.broadcast_to(x.known, shape))
        dims = range(len(shape) - x.rank, len(shape))
        return self.broadcast_in_dim(x, shape, dims)

    def broadcast_in_dim(self, x: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
        kind = self.type(shape, x.dtype)
        return Value(tuple(shape), x.dtype, stablehlo.broadcast_in_dim(kind, self.ir(x), self.ints(dims)))

    def expand_dims(self, x: Value, *dims: int) -> Value:
        """Inserts dimensions of size 1 at these places of the result."""
        rank = x.rank + len(dims)
        places = {d % rank for d in dims}
        sizes = iter(x.shape)
        return self.reshape(x, [1 if d in places else next(sizes) for d in range(rank)])

    def slice(self, x: Value, begins: Sequence[int], ends: Sequence[int], steps: Sequence[int] | None = None) -> Value:
        """Returns elements begin, begin + step, ... before end, of each dimension; bounds within the shape, steps
        positive."""
        steps = [1] * x.rank if steps is None else list(steps)
        if list(begins) == [0] * x.rank and list(ends) == list(x.shape) and steps == [1] * x.rank:
            return x
        shape = tuple(max(0, -(-(e - b) // s)) for b, e, s in zip(begins, ends, steps, strict=True))
        created = stablehlo.slice(self.ir(x), self.ints(begins), self.ints(ends), self.ints(steps))
        return Value(shape, x.dtype, created)

    def slice_dim(self, x: Value, dim: int, begin: int, end: int, step: int = 1) -> Value:
        begins, ends, steps = [0] * x.rank, list(x.shape), [1] * x.rank
        begins[dim], ends[dim], steps[dim] = begin, end, step
        return self.slice(x, begins, ends, steps)

    def concat(self, xs: Sequence[Value], dim: int) -> Value:
        if len(xs) == 1:
            return xs[0]
        shape = list(xs[0].shape)
        shape[dim] = sum(x.shape[dim] for x in xs)
        for x in xs[1:]:
            others = [n for d, n in enumerate(x.shape) if d != dim]
            if x.rank != xs[0].rank or others != [n for d, n in enumerate(xs[0].shape) if d != dim]:
                raise Refused(f"{xs[0]!r} and {x!r} cannot be joined along dimension {dim}")
        return Value(tuple(shape), xs[0].dtype, stablehlo.concatenate([self.ir(x) for x in xs], dim))

    def reverse(self, x: Value, dims: Sequence[int]) -> Value:
        return Value(x.shape, x.dtype, stablehlo.reverse(self.ir(x), self.ints(dims))) if dims else x

    def pad(self, x: Value, low: Sequence[int], high: Sequence[int], number: Number | Value = 0,
            interior: Sequence[int] | None = None) -> Value:  # fmt: skip
        """Pads before, after and between elements; negative numbers crop."""
        between = [0] * x.rank if interior is None else list(interior)
        if not any((*low, *high, *between)):
            return x
        fill = self.reshape(number, ()) if isinstance(number, Value) else self.full((), number, x.dtype)
        created = stablehlo.pad(self.ir(x), self.ir(fill), self.ints(low), self.ints(high), self.ints(between))
        return self.value(created, x.dtype)

    #
    # Reductions and products
    #

    def reduce(self, body: str, x: Value, dims: Sequence[int], keep: bool = False) -> Value:
        """Reduces dimensions. body: add, multiply, maximum, minimum, and_, or_."""
        dims = sorted(d % x.rank for d in dims) if x.rank else []
        shape = tuple(n for d, n in enumerate(x.shape) if d not in dims)
        init = self._neutral(body, x.dtype)
        if dims:
            op = stablehlo.ReduceOp([self.type(shape, x.dtype)], [self.ir(x)], [self.ir(init)], self.ints(dims))
            self._body(op, [self.type((), x.dtype)] * 2, lambda a, b: [getattr(stablehlo, body)(a, b)])
            x = Value(shape, x.dtype, op.results[0])
        return self.expand_dims(x, *dims) if keep else x

    def _neutral(self, body: str, dtype: DType) -> Value:
        """Returns the value by which the body leaves other operands unchanged."""
        if dtype == BOOL:
            return self.full((), body in ("and_", "minimum", "multiply"), dtype)
        if body == "and_":
            return self.full((), -1, dtype)
        if body in ("add", "or_"):
            return self.full((), 0, dtype)
        if body == "multiply":
            return self.full((), 1, dtype)
        if is_float(dtype):
            return self.full((), -math.inf if body == "maximum" else math.inf, dtype)
        import ml_dtypes

        info: Any = ml_dtypes.iinfo(dtype)
        # The chip holds 64-bit integers in 32 bits.
        least, most = max(int(info.min), -(2**31)), min(int(info.max), 2**31 - 1)
        return self.full((), least if body == "maximum" else most, dtype)

    def _body(self, op: Any, types: Sequence[ir.Type], build: Callable[..., Sequence[Any]], region: int = 0) -> None:
        """Fills a region with one block that returns the result of `build` for its arguments."""
        where = ir.Location.current
        block = op.regions[region].blocks.append(*types, arg_locs=[where] * len(types))
        self.depth += 1
        try:
            with ir.InsertionPoint(block):
                created = build(*block.arguments)
                stablehlo.return_(list(created))
        finally:
            self.depth -= 1

    def dot(self, x: Value, y: Value, contract: tuple[Sequence[int], Sequence[int]],
            batch: tuple[Sequence[int], Sequence[int]] = ((), ()), dtype: DType | None = None) -> Value:  # fmt: skip
        """Returns `dot_general`: batch dimensions, then those of x, then those of y.

        dtype: of the result, where products are summed in a wider type.
        """
        (cx, cy), (bx, by) = contract, batch
        shape = [x.shape[d] for d in bx]
        shape += [n for d, n in enumerate(x.shape) if d not in (*cx, *bx)]
        shape += [n for d, n in enumerate(y.shape) if d not in (*cy, *by)]
        parts = {"lhs_batching_dimensions": bx, "rhs_batching_dimensions": by, "lhs_contracting_dimensions": cx,
                 "rhs_contracting_dimensions": cy}  # fmt: skip
        text = ", ".join(f"{name} = [{', '.join(map(str, dims))}]" for name, dims in parts.items() if len(dims))
        dtype = dtype or x.dtype
        created = stablehlo.dot_general(
            self.ir(x), self.ir(y), self.attribute(f"#stablehlo.dot<{text}>"), results=[self.type(shape, dtype)]
        )
        return Value(tuple(shape), dtype, created)

    def matmul(self, x: Value, y: Value, dtype: DType | None = None) -> Value:
        """Multiplies as NumPy's matmul: vectors, and batches that broadcast."""
        if not x.rank or not y.rank:
            raise Refused(f"matmul of {x!r} and {y!r}; expected at least one dimension")
        left, right = x.rank == 1, y.rank == 1
        x = self.expand_dims(x, 0) if left else x
        y = self.expand_dims(y, 1) if right else y
        if x.shape[-1] != y.shape[-2]:
            raise Refused(f"matmul of {x!r} and {y!r}: {x.shape[-1]} columns and {y.shape[-2]} rows")
        if y.rank == 2:
            created = self.dot(x, y, ((x.rank - 1,), (0,)), dtype=dtype)
        else:
            batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
            x, y = (self.broadcast(v, (*batch, *v.shape[-2:])) for v in (x, y))
            dims = tuple(range(len(batch)))
            created = self.dot(x, y, ((x.rank - 1,), (y.rank - 2,)), (dims, dims), dtype=dtype)
        if left:
            created = self.reshape(created, (*created.shape[:-2], created.shape[-1]))
        return self.reshape(created, created.shape[:-1]) if right else created

    #
    # Indexing
    #

    def gather(self, x: Value, indices: Value, dim: int) -> Value:
        """Returns elements of a dimension by position, as NumPy's take; positions are not negative."""
        shape = (*x.shape[:dim], *indices.shape, *x.shape[dim + 1 :])
        if not math.prod(shape):
            return self.full(shape, 0, x.dtype)
        offsets = [d for d in range(len(shape)) if not dim <= d < dim + indices.rank]
        text = (
            f"#stablehlo.gather<offset_dims = [{', '.join(map(str, offsets))}], collapsed_slice_dims = [{dim}], "
            f"start_index_map = [{dim}], index_vector_dim = {indices.rank}>"
        )
        sizes = [1 if d == dim else n for d, n in enumerate(x.shape)]
        created = stablehlo.gather(
            self.ir(x), self.ir(indices), self.attribute(text), self.ints(sizes), results=[self.type(shape, x.dtype)]
        )
        return Value(shape, x.dtype, created)

    def dynamic_slice(self, x: Value, starts: Sequence[Value | int], sizes: Sequence[int]) -> Value:
        """Returns a slice at computed positions, moved so that it is inside. starts: numbers, or i32 values, []."""
        created = stablehlo.dynamic_slice(self.ir(x), self._starts(starts), self.ints(sizes))
        return Value(tuple(int(n) for n in sizes), x.dtype, created)

    def dynamic_update_slice(self, x: Value, update: Value, starts: Sequence[Value | int]) -> Value:
        """Returns `x` with the elements from these positions on replaced."""
        return Value(
            x.shape, x.dtype, stablehlo.dynamic_update_slice(self.ir(x), self.ir(update), self._starts(starts))
        )

    def _starts(self, starts: Sequence[Value | int]) -> list[ir.Value]:
        return [self.ir(self.full((), n, I32) if isinstance(n, int) else self.cast(n, I32)) for n in starts]

    def wrapped(self, indices: Value, size: int) -> Value:
        """Returns positions where negative ones count from the end."""
        if indices.known is not None and not indices.varying:
            return Value.of(np.where(indices.known < 0, indices.known + size, indices.known).astype(indices.dtype))
        if indices.dtype in (I32, I64) or not is_unsigned(indices.dtype):
            negative = self.compare("LT", indices, self.scalar(0, indices))
            last = self.cast(self.number(size, I32), indices.dtype) if self.is_open else self.scalar(size, indices)
            last = self.reshape(last, ())
            return self.select(negative, self.add(indices, last), indices)
        return indices

    #
    # Control
    #

    def case(self, index: Value, branches: Sequence[Callable[[], Sequence[Value]]]) -> list[Value]:
        """Returns the results of one branch, by number (i32, []; the last one for numbers beyond); types must agree."""
        created: list[list[Value]] = []

        def build(branch: Callable[[], Sequence[Value]]) -> Callable[..., Sequence[Any]]:
            def run(*_: Any) -> Sequence[Any]:
                created.append(list(branch()))
                return [self.ir(x) for x in created[-1]]

            return run

        # The types of results are known when the branches are built: those are moved into the op then.
        apart = ir.Operation.create("stablehlo.case", operands=[self.ir(index)], regions=len(branches))
        for i, branch in enumerate(branches):
            self._body(apart, [], build(branch), i)
        kinds = [[(x.shape, x.dtype) for x in results] for results in created]
        if any(kind != kinds[0] for kind in kinds):
            texts = "; ".join(", ".join(map(repr, results)) for results in created)
            raise Refused(f"branches have results of different types: {texts}")
        types = [self.type(*kind) for kind in kinds[0]]
        op = ir.Operation.create("stablehlo.case", types, [self.ir(index)], regions=len(branches))
        for i in range(len(branches)):
            apart.regions[i].blocks[0].append_to(op.regions[i])
        apart.erase()
        return [Value(shape, dtype, result) for (shape, dtype), result in zip(kinds[0], op.results, strict=True)]

    def aside(self, build: Callable[[], object]) -> None:
        """Runs `build` where the ops that it emits are not part of the program."""
        apart = ir.Operation.create("stablehlo.case", operands=[self.ir(self.full((), 0, I32))], regions=1)

        def run() -> Sequence[Any]:
            build()
            return []

        try:
            self._body(apart, [], run)
        finally:
            apart.erase()

    def loop(self, initial: Sequence[Value], condition: Callable[..., Value],
             body: Callable[..., Sequence[Value]]) -> list[Value]:  # fmt: skip
        """Returns `while`: values that the body replaces, with the same types, as long as the condition ([], bool)
        holds."""
        kinds = [(x.shape, x.dtype) for x in initial]
        types = [self.type(*kind) for kind in kinds]

        def values(arguments: Sequence[ir.Value]) -> list[Value]:
            return [Value(shape, dtype, a) for (shape, dtype), a in zip(kinds, arguments, strict=True)]

        def run(*arguments: ir.Value) -> Sequence[Any]:
            created = list(body(*values(arguments)))
            for before, after in zip(kinds, created, strict=True):
                if before != (after.shape, after.dtype):
                    raise Refused(f"a value of the loop changes from {before[1].name}{list(before[0])} to {after!r}")
            return [self.ir(x) for x in created]

        op = stablehlo.WhileOp(types, [self.ir(x) for x in initial])
        self._body(op, types, lambda *arguments: [self.ir(condition(*values(arguments)))], 0)
        self._body(op, types, run, 1)
        return [Value(shape, dtype, result) for (shape, dtype), result in zip(kinds, op.results, strict=True)]
