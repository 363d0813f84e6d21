# SPDX-License-Identifier: Apache-2.0
"""Builder of StableHLO modules, with Shardy's annotations. Its methods are the ops of the dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttmlir import ir

from builder.base.builder import Builder
from builder.base.builder_utils import Operand, as_operand
from builder.ops.attributes import convert
from builder.ops.methods import OpInfo, takes_common
from builder.ops.structure import infos

from .calls import CallMixin
from .collectives import CollectiveMixin
from .indexing import IndexingMixin
from .ordering import OrderingMixin
from .shardy import ShardyMixin
from .window import WindowMixin

# How the parameters of dot_general name the lists of their dimension numbers.
DOT = {
    "lhs_batching_dimensions": "batch_dims_lhs",
    "rhs_batching_dimensions": "batch_dims_rhs",
    "lhs_contracting_dimensions": "contract_dims_lhs",
    "rhs_contracting_dimensions": "contract_dims_rhs",
}


class StableHLOBuilder(CallMixin, CollectiveMixin, ShardyMixin, IndexingMixin, OrderingMixin, WindowMixin, Builder):
    dialects = ("stablehlo", "debug")

    def begin_module(self) -> None:
        """Declares the meshes, as every module does."""
        for name, mesh in self.meshes.items():
            self.mesh(name, self.mesh_attr([self.mesh_axis_attr(axis, size) for axis, size in mesh.items()]))

    def op_info(self, name: str) -> OpInfo:
        found = infos("stablehlo").get(f"stablehlo.{name}")
        if found is None:
            raise AttributeError(f"this version has no op stablehlo.{name}")
        return found

    @takes_common
    def iota(self, output: Operand, iota_dimension: int, **common: Any) -> Any:
        """Returns 0, 1, ... along `iota_dimension`, of the type of `output`."""
        return self._typed("iota", [], {"iota_dimension": iota_dimension}, output, common)

    @takes_common
    def dynamic_iota(self, output: Operand, output_shape: Operand, iota_dimension: int, **common: Any) -> Any:
        """Counts as iota, with the shape given by an operand."""
        return self._typed("dynamic_iota", [output_shape], {"iota_dimension": iota_dimension}, output, common)

    @takes_common
    def convert(self, in0: Operand, output_type: Any = None, **common: Any) -> Any:
        """Changes the element type."""
        value = self._operand(in0)
        return self.create_op(
            self.op_info("convert"), [value], {}, {0: self.get_shape(value)}, {0: output_type or self.get_type(value)},
            common=common,
        )  # fmt: skip

    @takes_common
    def dot_general(
        self,
        in0: Operand,
        in1: Operand,
        batch_dims_lhs: Sequence[int],
        contract_dims_lhs: Sequence[int],
        batch_dims_rhs: Sequence[int],
        contract_dims_rhs: Sequence[int],
        **common: Any,
    ) -> Any:
        """Returns product over the contracted dimensions; the result: batch dimensions, then the free ones of each
        side."""
        given = {
            "batch_dims_lhs": batch_dims_lhs,
            "contract_dims_lhs": contract_dims_lhs,
            "batch_dims_rhs": batch_dims_rhs,
            "contract_dims_rhs": contract_dims_rhs,
        }
        fields = ", ".join(f"{field} = {list(given[name])}" for field, name in DOT.items() if list(given[name]))
        numbers = ir.Attribute.parse(f"#stablehlo.dot<{fields}>", self.context)
        left, right = self._operand(in0), self._operand(in1)
        a, b = self.get_shape(left), self.get_shape(right)
        used_a, used_b = {*batch_dims_lhs, *contract_dims_lhs}, {*batch_dims_rhs, *contract_dims_rhs}
        shape = [a[d] for d in batch_dims_lhs]
        shape += [n for d, n in enumerate(a) if d not in used_a] + [n for d, n in enumerate(b) if d not in used_b]
        attributes = {"dot_dimension_numbers": numbers}
        return self.create_op(self.op_info("dot_general"), [left, right], attributes, {0: shape}, common=common)

    @takes_common
    def pad(self, in0: Operand, padding_value: Operand, padding: Sequence[int], **common: Any) -> Any:
        """Returns `padding`: low and high of each dimension in turn."""
        value = self._operand(in0)
        low, high = list(padding[0::2]), list(padding[1::2])
        shape = [n + lo + hi for n, lo, hi in zip(self.get_shape(value), low, high, strict=True)]
        arrays = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": [0] * len(low)}
        attributes = {k: self._array("pad", k, v) for k, v in arrays.items()}
        operands = [value, self._operand(padding_value)]
        return self.create_op(self.op_info("pad"), operands, attributes, {0: shape}, common=common)

    def _operand(self, value: Any) -> ir.Value:
        found = as_operand(value)
        if found is None:
            raise TypeError(f"expected an operand, not a {type(value).__name__}")
        return found

    def _typed(self, op: str, operands: list[Any], numbers: dict[str, int], like: Operand, common: Any) -> Any:
        attributes = {n: convert(f"stablehlo.{op}", n, "I64Attr", v, self.context) for n, v in numbers.items()}
        common = {**common, "result_types": [self._operand(like).type]}
        return self.create_op(self.op_info(op), operands, attributes, common=common)
