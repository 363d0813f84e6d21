# SPDX-License-Identifier: Apache-2.0
"""StableHLO ops that order elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from builder.base.builder_utils import Operand
from builder.ops.attributes import convert
from builder.ops.methods import takes_common

if TYPE_CHECKING:
    from .window import WindowMixin as Base
else:
    Base = object


def first_before(descending: bool) -> Callable[..., Any]:
    """Returns a comparator of the first input's elements."""

    def before(*elements: Any) -> Any:
        a, b, *_, builder = elements
        return builder.compare(a, b, "GT" if descending else "LT")

    return before


class OrderingMixin(Base):
    """Methods of StableHLOBuilder."""

    @takes_common
    def sort(
        self,
        in0: Operand,
        dimension: int = -1,
        is_stable: bool = False,
        descending: bool = False,
        value_inputs: Sequence[Operand] | None = None,
        **common: Any,
    ) -> Any:
        """Returns `in0` in order along `dimension`; `value_inputs`, of the same shape, are put in its order."""
        operands = [self._value(value) for value in (in0, *(value_inputs or ()))]
        attributes = {
            "dimension": convert("stablehlo.sort", "dimension", "I64Attr", dimension, self.context),
            "is_stable": convert("stablehlo.sort", "is_stable", "BoolAttr", is_stable, self.context),
        }
        results = [value.type for value in operands]
        return self._with_body("sort", operands, attributes, first_before(descending), results, common, in_pairs=True)
