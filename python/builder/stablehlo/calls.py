# SPDX-License-Identifier: Apache-2.0
"""Functions of the module as one op, and ops of the chip that StableHLO calls by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttmlir import ir

from builder.base.builder_utils import Operand, process_multi_return_result, retyped
from builder.base.errors import did_you_mean
from builder.ops.methods import takes_common
from builder.ops.structure import functions, symbol

if TYPE_CHECKING:
    from builder.base.builder import Builder as Base
else:
    Base = object


class CallMixin(Base):
    """Methods of StableHLOBuilder."""

    @takes_common
    def composite(
        self,
        composite_name: str,
        operands: Sequence[Operand],
        decomposition: Any,
        composite_attributes: ir.DictAttr | Mapping[str, ir.Attribute] | None = None,
        **common: Any,
    ) -> Any:
        """Returns an op that `decomposition` computes, and that a compiler may know by its name.

        Args:
            composite_name: "namespace.name".
            decomposition: a function of the module or its name; or a function of the operands and the builder, which
                becomes a private one of the module.
        """
        values = [self._value(v) for v in process_multi_return_result(operands)]
        callee, results = self._decomposition(decomposition, values)
        attributes: dict[str, ir.Attribute] = {
            "name": ir.StringAttr.get(composite_name, context=self.context),
            "decomposition": ir.FlatSymbolRefAttr.get(callee, context=self.context),
        }
        if composite_attributes is not None:
            given = composite_attributes
            attributes["composite_attributes"] = (
                ir.DictAttr.get(dict(given), context=self.context) if isinstance(given, Mapping) else given
            )
        common = {**common, "result_types": results}
        return self.create_op(self.op_info("composite"), values, attributes, common=common)

    def _decomposition(self, given: Any, values: Sequence[ir.Value]) -> tuple[str, list[ir.Type]]:
        """Returns name and result types of the function that computes a composite."""
        if isinstance(given, str):
            known = {symbol(f): f for f in functions(self._require_module().operation)}
            if given not in known:
                raise ValueError(f"composite: the module has no function {given!r}{did_you_mean(given, known)}")
            function = known[given]
        elif isinstance(given, (ir.OpView, ir.Operation)):
            function = given
        elif callable(given):
            function = self.private_function(given, [v.type for v in values])
        else:
            raise TypeError(f"composite: decomposition is a {type(given).__name__}; expected a function or its name")
        type_: Any = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        return symbol(function), list(type_.results)

    @takes_common
    def flash_mla_prefill(
        self,
        query: Operand,
        key: Operand,
        head_dim_v: int,
        value: Operand | None = None,
        attention_mask: Operand | None = None,
        is_causal: bool = True,
        scale: float | None = None,
        **common: Any,
    ) -> Any:
        """Returns attention whose values are the first `head_dim_v` features of the keys, unless they are given.

        query: [batch, heads, sequence, size]; key and value have as many heads, or fewer that each serve a group.
        """
        given = {
            "head_dim_v": head_dim_v,
            "is_causal": is_causal,
            "has_value": value is not None,
            "has_attention_mask": attention_mask is not None,
            **({} if scale is None else {"scale": scale}),
        }
        operands = [v for v in (query, key, value, attention_mask) if v is not None]
        shape = [*self.get_shape(self._value(query))[:-1], head_dim_v]
        return self._chip_call("tt.flash_mla_prefill", operands, shape, given, common)

    @takes_common
    def indexer_score_dsa(
        self, query: Operand, key: Operand, weights: Operand, chunk_start_idx: int = 0, **common: Any
    ) -> Any:
        """Returns how much each position of a sequence matters to each query: a sum over heads, -inf for later
        positions.

        query: [batch, heads, S, size], key: [batch, 1, T, size], weights: [batch, heads, S, 1]; result:
        [batch, 1, S, T]. `chunk_start_idx` is the position of the first query.
        """
        operands = [query, key, weights]
        ranks = [len(self.get_shape(self._value(v))) for v in operands]
        if ranks != [4, 4, 4]:
            raise ValueError(f"indexer_score_dsa: query, key and weights have ranks {ranks}; expected 4")
        batch, _, rows, _ = self.get_shape(query)
        shape = [batch, 1, rows, self.get_shape(key)[2]]
        return self._chip_call("tt.indexer_score_dsa", operands, shape, {"chunk_start_idx": chunk_start_idx}, common)

    def _chip_call(
        self, target: str, operands: Sequence[Any], shape: Sequence[int], given: Mapping[str, Any], common: Any
    ) -> Any:
        """Builds a custom call with its attributes as text; the result has the elements of the first operand."""
        values = [self._value(v) for v in operands]
        texts = {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in given.items()}
        attributes: dict[str, ir.Attribute] = {
            "call_target_name": ir.StringAttr.get(target, context=self.context),
            "mhlo.frontend_attributes": ir.DictAttr.get(
                {k: ir.StringAttr.get(v, context=self.context) for k, v in texts.items()}, context=self.context
            ),
        }
        common = {**common, "result_types": [retyped(values[0].type, shape=list(shape))]}
        return self.create_op(self.op_info("custom_call"), values, attributes, common=common)
