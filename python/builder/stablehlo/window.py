# SPDX-License-Identifier: Apache-2.0
"""StableHLO ops with a body or with windows: reductions, pooling, convolution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from ttmlir import ir

from builder.base.builder_utils import Operand, as_operand, process_multi_return_result, tensor_type
from builder.ops.attributes import convert, integers
from builder.ops.methods import takes_common

if TYPE_CHECKING:
    from builder.base.builder import Builder as Base
else:
    Base = object

# Ops by which a body can be named instead of being built.
BODIES = {"add": "add", "sum": "add", "max": "maximum", "maximum": "maximum", "min": "minimum", "minimum": "minimum",
          "mul": "multiply", "multiply": "multiply", "prod": "multiply", "and": "and", "or": "or"}  # fmt: skip

# Reductions of windows, and what they start from.
POOLS = {"max": ("max", -math.inf), "avg": ("add", 0.0)}


def window_size(size: int, window: int, stride: int, low: int, high: int, dilation: int = 1, base: int = 1) -> int:
    """Returns how many windows fit into a dimension; what does not fit is left out."""
    spread = (size - 1) * base + 1 + low + high if size else low + high
    reach = (window - 1) * dilation + 1
    return max((spread - reach) // stride + 1, 0)


def pairs(padding: Sequence[Any] | None, rank: int) -> list[list[int]]:
    """Returns [low, high] of each dimension, from pairs or from a flat list of both in turn."""
    if padding is None:
        return [[0, 0] for _ in range(rank)]
    array = np.asarray(padding)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"padding {padding}: expected integers")
    if array.size != 2 * rank:
        raise ValueError(f"padding {padding}: expected low and high of {rank} dimensions")
    return array.reshape(-1, 2).tolist()


class WindowMixin(Base):
    """Methods of StableHLOBuilder."""

    def _array(self, op: str, name: str, values: Sequence[int]) -> ir.Attribute:
        return convert(f"stablehlo.{op}", name, "DenseI64ArrayAttr", values, self.context)

    def _with_body(self, op: str, operands: list[ir.Value], attributes: dict[str, ir.Attribute], body: Any,
                   results: Sequence[ir.Type], common: dict[str, Any], in_pairs: bool = False) -> Any:  # fmt: skip
        """Builds an op whose region takes two scalars for each result: the accumulator and the next element.

        in_pairs: both of the first result, then both of the second, instead of the first ones of all.
        """
        info = self.op_info(op)
        produced = self.create_op(
            info, operands, attributes, common={**common, "result_types": list(results)}, regions=1
        )
        owner = (produced[0] if isinstance(produced, tuple) else produced).owner
        each = [tensor_type([], ir.RankedTensorType(t).element_type) for t in results]
        scalars = [scalar for scalar in each for _ in range(2)] if in_pairs else each * 2
        location = owner.location
        block = owner.regions[0].blocks.append(*scalars, arg_locs=[location] * len(scalars))
        returned = self.build_block(body_function(body), block)
        finish = self.op_info("return")
        finish.cls.build_generic(
            results=[], operands=[returned] if finish.segmented else returned, attributes={}, loc=location,
            ip=ir.InsertionPoint(block),
        )  # fmt: skip
        return produced

    @takes_common
    def reduce(
        self,
        inputs: Sequence[Operand],
        init_values: Sequence[Operand],
        dimensions: Sequence[int],
        body: Callable[..., Any] | str,
        result_types: Sequence[ir.Type] | None = None,
        **common: Any,
    ) -> Any:
        """Combines all elements along `dimensions` by `body`: a function of scalars and the builder, or "add",
        "max"."""
        values = [self._value(v) for v in process_multi_return_result(inputs)]
        inits = [self._value(v) for v in process_multi_return_result(init_values)]
        if result_types is None:
            result_types = [
                tensor_type(
                    [n for d, n in enumerate(ir.RankedTensorType(v.type).shape) if d not in dimensions],
                    ir.RankedTensorType(v.type).element_type,
                )
                for v in values
            ]
        attributes = {"dimensions": self._array("reduce", "dimensions", dimensions)}
        return self._with_body("reduce", [*values, *inits], attributes, body, result_types, common)

    @takes_common
    def reduce_window(
        self,
        in0: Operand,
        init_value: Operand | float,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int] | None = None,
        base_dilations: Sequence[int] | None = None,
        window_dilations: Sequence[int] | None = None,
        padding: Sequence[Sequence[int]] | None = None,
        body: Callable[..., Any] | str = "add",
        **common: Any,
    ) -> Any:
        """Combines the elements of each window by `body`; `padding` is [low, high] of each dimension."""
        value = self._value(in0)
        tensor = ir.RankedTensorType(value.type)
        init = as_operand(init_value)
        if init is None:
            dtype = np.float32 if isinstance(init_value, float) else np.int32
            init = self.constant(np.asarray(init_value, dtype))
            init = init if init.type.element_type == tensor.element_type else self.convert(init, tensor.element_type)
        rank = len(tensor.shape)
        ones = [1] * rank
        edges = pairs(padding, rank)
        given = {"window_dimensions": window_dimensions, "window_strides": window_strides,
                 "base_dilations": base_dilations, "window_dilations": window_dilations}  # fmt: skip
        attributes = {k: self._array("reduce_window", k, v) for k, v in given.items() if v is not None}
        if padding is not None:
            attributes["padding"] = integers(edges, self.context)
        shape = [
            window_size(n, window, stride, low, high, dilation, base)
            for n, window, stride, (low, high), dilation, base in zip(
                tensor.shape, window_dimensions, window_strides or ones, edges, window_dilations or ones,
                base_dilations or ones, strict=True,
            )
        ]  # fmt: skip
        result = tensor_type(shape, tensor.element_type)
        return self._with_body("reduce_window", [value, self._value(init)], attributes, body, [result], common)

    @takes_common
    def pool_2d(
        self,
        in0: Operand,
        kernel_size: Sequence[int],
        stride: Sequence[int] | None = None,
        padding: Sequence[int] | None = None,
        pool_type: str = "max",
        **common: Any,
    ) -> Any:
        """Returns the greatest ("max") or mean ("avg") elements of windows over the last two of four dimensions.

        Args:
            kernel_size: height and width of the windows, which are `stride` apart (without one: side by side).
            padding: of height and width, on both sides; or top, left, bottom, right. It counts in means, as zeros.
        """
        value = self._value(in0)
        tensor = ir.RankedTensorType(value.type)
        if pool_type not in POOLS:
            raise ValueError(f"pool_2d: pool_type is {pool_type!r}; expected {' or '.join(POOLS)}")
        if len(tensor.shape) != 4:
            raise ValueError(f"pool_2d: in0 has rank {len(tensor.shape)}; expected 4")
        if not isinstance(tensor.element_type, ir.FloatType):
            raise ValueError(f"pool_2d: in0 has elements {tensor.element_type}; expected a floating-point type")
        kernel = list(kernel_size)
        steps, edges = list(kernel if stride is None else stride), list([0, 0] if padding is None else padding)
        for name, given, counts in (("kernel_size", kernel, (2,)), ("stride", steps, (2,)), ("padding", edges, (2, 4))):
            least = 0 if name == "padding" else 1
            if len(given) not in counts or not all(isinstance(n, Integral) and n >= least for n in given):
                raise ValueError(f"pool_2d: {name} is {given}; expected {' or '.join(map(str, counts))} integers of at "
                                 f"least {least}")  # fmt: skip
        top, left, bottom, right = edges if len(edges) == 4 else edges * 2
        body, start = POOLS[pool_type]
        pooled = self.reduce_window(
            value, self._number(start, tensor.element_type), [1, 1, *kernel], [1, 1, *steps],
            padding=[[0, 0], [0, 0], [top, bottom], [left, right]], body=body,
            **common if pool_type == "max" else {"loc": common.get("loc")},
        )  # fmt: skip
        if pool_type == "max":
            return pooled
        count = self._number(kernel[0] * kernel[1], tensor.element_type, self.get_shape(pooled))
        return self.divide(pooled, count, **common)

    def _number(self, value: float, element: ir.Type, shape: Sequence[int] = ()) -> Any:
        """Builds a constant of one number."""
        number = ir.FloatAttr.get(element, value, loc=self.location)
        attribute = ir.DenseElementsAttr.get_splat(tensor_type(shape, element), number)
        return self.create_op(self.op_info("constant"), [], {"value": attribute})

    @takes_common
    def convolution(
        self,
        in0: Operand,
        weight: Operand,
        window_strides: Sequence[int],
        padding: Sequence[Any],
        lhs_dilation: Sequence[int],
        rhs_dilation: Sequence[int],
        input_batch_dimension: int,
        input_feature_dimension: int,
        input_spatial_dimensions: Sequence[int],
        kernel_output_feature_dimension: int,
        kernel_input_feature_dimension: int,
        kernel_spatial_dimensions: Sequence[int],
        output_batch_dimension: int,
        output_feature_dimension: int,
        output_spatial_dimensions: Sequence[int],
        feature_group_count: int,
        batch_group_count: int,
        **common: Any,
    ) -> Any:
        """Returns convolution with any order of dimensions; `padding` is low and high of each spatial one."""
        value, kernel = self._value(in0), self._value(weight)
        x, w = ir.RankedTensorType(value.type), ir.RankedTensorType(kernel.type)
        rank = len(window_strides)
        edges = pairs(padding, rank)
        text = "x".join(
            named_dimensions(first, second, places, letters)
            for first, second, places, letters in (
                (input_batch_dimension, input_feature_dimension, input_spatial_dimensions, "bf"),
                (kernel_output_feature_dimension, kernel_input_feature_dimension, kernel_spatial_dimensions, "oi"),
            )
        )
        output = (output_batch_dimension, output_feature_dimension, output_spatial_dimensions)
        text += "->" + named_dimensions(*output, "bf")
        shape = [0] * (rank + 2)
        shape[output_batch_dimension] = x.shape[input_batch_dimension] // batch_group_count
        shape[output_feature_dimension] = w.shape[kernel_output_feature_dimension]
        for i in range(rank):
            low, high = edges[i]
            shape[output_spatial_dimensions[i]] = window_size(
                x.shape[input_spatial_dimensions[i]], w.shape[kernel_spatial_dimensions[i]], window_strides[i],
                low, high, rhs_dilation[i], lhs_dilation[i],
            )  # fmt: skip
        attributes: dict[str, Any] = {
            "window_strides": self._array("convolution", "window_strides", window_strides),
            "padding": integers(edges, self.context),
            "lhs_dilation": self._array("convolution", "lhs_dilation", lhs_dilation),
            "rhs_dilation": self._array("convolution", "rhs_dilation", rhs_dilation),
            "dimension_numbers": ir.Attribute.parse(f"#stablehlo.conv<{text}>", self.context),
            "feature_group_count": feature_group_count,
            "batch_group_count": batch_group_count,
        }
        counts = ("feature_group_count", "batch_group_count")
        for name in counts:
            attributes[name] = convert("stablehlo.convolution", name, "I64Attr", attributes[name], self.context)
        info = self.op_info("convolution")
        return self.create_op(info, [value, kernel], attributes, {0: shape}, common=common)


def named_dimensions(first: int, second: int, places: Sequence[int], letters: str) -> str:
    """Returns [b, 0, 1, f]"""
    names = {first: letters[0], second: letters[1]} | {place: str(i) for i, place in enumerate(places)}
    return "[" + ", ".join(names[d] for d in sorted(names)) + "]"


def body_function(body: Callable[..., Any] | str) -> Callable[..., Any]:
    if callable(body):
        return body
    if body not in BODIES:
        raise ValueError(f"no body {body!r}; there are {', '.join(BODIES)}")

    def combine(a: Operand, b: Operand, builder: Any) -> Any:
        return builder.create_op(builder.op_info(BODIES[body]), [a, b], {})

    combine.__name__ = body
    return combine
