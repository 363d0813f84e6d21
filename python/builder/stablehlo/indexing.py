# SPDX-License-Identifier: Apache-2.0
"""StableHLO ops at computed positions: gather and scatter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ttmlir import ir

from builder.base.builder_utils import Operand, as_operand, process_multi_return_result
from builder.ops.attributes import convert
from builder.ops.methods import takes_common

if TYPE_CHECKING:
    from .window import WindowMixin as Base
else:
    Base = object


class IndexingMixin(Base):
    """Methods of StableHLOBuilder."""

    def _numbers(self, op: str, index_vector_dim: int, lists: dict[str, Sequence[int] | None]) -> Any:
        """Builds #stablehlo.gather or #stablehlo.scatter; an empty list is omitted."""
        fields = [f"{key} = {[int(dim) for dim in dims]}" for key, dims in lists.items() if dims]
        fields.append(f"index_vector_dim = {int(index_vector_dim)}")
        return ir.Attribute.parse(f"#stablehlo.{op}<{', '.join(fields)}>", self.context)

    def _flags(self, op: str, **flags: bool) -> dict[str, ir.Attribute]:
        return {
            name: convert(f"stablehlo.{op}", name, "BoolAttr", value, self.context) for name, value in flags.items()
        }

    @takes_common
    def gather(
        self,
        operand: Operand,
        start_indices: Operand,
        offset_dims: Sequence[int],
        collapsed_slice_dims: Sequence[int],
        operand_batching_dims: Sequence[int],
        start_indices_batching_dims: Sequence[int],
        start_index_map: Sequence[int],
        index_vector_dim: int,
        slice_sizes: Sequence[int],
        indices_are_sorted: bool = False,
        **common: Any,
    ) -> Any:
        """Slices of `slice_sizes` at the starts along `index_vector_dim`, moved so that they lie inside the operand."""
        lists: dict[str, Sequence[int] | None] = {
            "offset_dims": offset_dims,
            "collapsed_slice_dims": collapsed_slice_dims,
            "operand_batching_dims": operand_batching_dims,
            "start_indices_batching_dims": start_indices_batching_dims,
            "start_index_map": start_index_map,
        }
        attributes = {
            "dimension_numbers": self._numbers("gather", index_vector_dim, lists),
            "slice_sizes": self._array("gather", "slice_sizes", slice_sizes),
            **self._flags("gather", indices_are_sorted=indices_are_sorted),
        }
        operands = [self._value(operand), self._value(start_indices)]
        return self.create_op(self.op_info("gather"), operands, attributes, common=common)

    @takes_common
    def scatter(
        self,
        inputs: Sequence[Operand],
        scatter_indices: Operand,
        updates: Sequence[Operand],
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scattered_dims_to_operand_dims: Sequence[int],
        index_vector_dim: int,
        update_computation: Callable[..., Any] | str,
        input_batching_dims: Sequence[int] | None = None,
        scatter_indices_batching_dims: Sequence[int] | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        **common: Any,
    ) -> Any:
        """Returns the inputs with slices at computed starts combined with `updates`: a function of scalars, or "add",
        "max"."""
        lists = {
            "update_window_dims": update_window_dims,
            "inserted_window_dims": inserted_window_dims,
            "input_batching_dims": input_batching_dims,
            "scatter_indices_batching_dims": scatter_indices_batching_dims,
            "scatter_dims_to_operand_dims": scattered_dims_to_operand_dims,
        }
        attributes = {
            "scatter_dimension_numbers": self._numbers("scatter", index_vector_dim, lists),
            **self._flags("scatter", indices_are_sorted=indices_are_sorted, unique_indices=unique_indices),
        }
        one = as_operand(inputs) is not None
        given = [self._value(v) for v in process_multi_return_result([inputs] if one else inputs)]
        changes = [self._value(v) for v in process_multi_return_result([updates] if one else updates)]
        operands = [*given, self._value(scatter_indices), *changes]
        results = [value.type for value in given]
        return self._with_body("scatter", operands, attributes, update_computation, results, common)
