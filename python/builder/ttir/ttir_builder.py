# SPDX-License-Identifier: Apache-2.0
"""Builder of TTIR modules. Its methods are the ops of the dialect; see builder.ops.methods."""

from __future__ import annotations

import re
from typing import Any

from ttmlir import ir

from builder.base.builder import Builder
from builder.base.builder_utils import Operand, TypeInfo
from builder.ops.methods import takes_common
from builder.ops.structure import infos


def quantised_as(type_: ir.Type) -> tuple[float, int] | None:
    """Returns scale and zero point of a quantised tensor that has one of each."""
    found = re.search(r"!quant\.uniform<[^,]*, ([-+.\de]+)(?::(-?\d+))?>", str(type_))
    return (float(found[1]), int(found[2] or 0)) if found else None


class TTIRBuilder(Builder):
    dialects = ("ttir", "debug")

    def to_layout(
        self, in0: Operand, output_type: ir.Type, unit_attrs: list[str] | None = None, loc: Any = None
    ) -> Any:
        """Changes layout or element type: `output_type` is the tensor type of the result."""
        output = self.empty(self.get_shape(in0), output_type, loc=loc)
        common = {"unit_attrs": unit_attrs, "loc": loc, "result_types": [output_type]}
        return self.create_op(infos("ttir")["ttir.to_layout"], [in0, output], {}, common=common)

    @takes_common
    def quantize(self, in0: Operand, scale: float, zero_point: int, dtype: Any, **common: Any) -> Any:
        """Returns the integers that stand for the numbers: round(in0 / scale) + zero_point, of `dtype`."""
        return self._cast("quantize", in0, TypeInfo(dtype, scale, zero_point), common)

    @takes_common
    def requantize(self, in0: Operand, scale: float, zero_point: int, dtype: Any, **common: Any) -> Any:
        """Returns quantised numbers with another scale and zero point."""
        return self._cast("requantize", in0, TypeInfo(dtype, scale, zero_point), common)

    @takes_common
    def dequantize(self, in0: Operand, scale: float, zero_point: int, dtype: Any, **common: Any) -> Any:
        """Returns the numbers that integers stand for, as floats of `dtype`. The operand's type says scale and zero
        point; those given here must be these."""
        said = quantised_as(in0.type)
        if "!quant.uniform" not in str(in0.type):
            raise ValueError(
                f"ttir.dequantize: in0 is a {in0.type}; expected quantised numbers (of others: dequantize_unrolled)"
            )
        if said is not None and said != (scale, zero_point):
            raise ValueError(
                f"ttir.dequantize: scale and zero_point are {scale} and {zero_point}; in0 is of {said[0]} and {said[1]}"
            )
        return self._cast("dequantize", in0, dtype, common)

    def _cast(self, name: str, in0: Operand, element: Any, common: dict[str, Any]) -> Any:
        """Builds an op that changes only the element type."""
        op = infos("ttir")[f"ttir.{name}"]
        return self.create_op(op, [in0], {}, {0: self.get_shape(in0)}, {0: element}, common=common)

    def topk_indices(self, topk_values: Operand) -> Operand:
        """Returns the indices of the topk whose values are `topk_values`."""
        op: Any = topk_values.owner
        return op.results[1]
