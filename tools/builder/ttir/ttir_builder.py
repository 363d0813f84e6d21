# SPDX-License-Identifier: Apache-2.0
"""Builder of TTIR modules. Its methods are the ops of the dialect; see builder.ops.methods."""

from __future__ import annotations

from typing import Any

from ttmlir import ir

from builder.base.builder import Builder
from builder.base.builder_utils import Operand
from builder.ops.structure import infos


class TTIRBuilder(Builder):
    dialects = ("ttir", "debug")

    def to_layout(
        self, in0: Operand, output_type: ir.Type, unit_attrs: list[str] | None = None, loc: Any = None
    ) -> Any:
        """Change layout or element type: `output_type` is the tensor type of the result."""
        output = self.empty(self.get_shape(in0), output_type, loc=loc)
        common = {"unit_attrs": unit_attrs, "loc": loc, "result_types": [output_type]}
        return self.create_op(infos("ttir")["ttir.to_layout"], [in0, output], {}, common=common)

    def topk_indices(self, topk_values: Operand) -> Operand:
        """The indices of the topk whose values are `topk_values`."""
        op: Any = topk_values.owner
        return op.results[1]
