# SPDX-License-Identifier: Apache-2.0
"""Collectives of StableHLO: what their results are follows from the groups of devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ttmlir import ir

from builder.base.builder_utils import Operand, retyped
from builder.ops.attributes import convert
from builder.ops.methods import takes_common

if TYPE_CHECKING:
    from .window import WindowMixin as Base
else:
    Base = object

Groups = Sequence[Sequence[int]]


def sizes(shape: Sequence[int], changes: dict[int, Callable[[int], int]]) -> list[int]:
    """Returns a shape with some dimensions changed; negative ones count from the end."""
    result = list(shape)
    for dim, change in changes.items():
        if not -len(result) <= dim < len(result):
            raise ValueError(f"dimension {dim} of a tensor of rank {len(result)}; expected {-len(result)} to "
                             f"{len(result) - 1}")  # fmt: skip
        result[dim] = change(result[dim])
    return result


class CollectiveMixin(Base):
    """Methods of StableHLOBuilder."""

    def _groups(self, op: str, replica_groups: Groups | None, name: str = "replica_groups") -> ir.Attribute:
        """Returns the attribute of the groups. None: one group of all devices."""
        devices = self.mesh_shape[0] * self.mesh_shape[1]
        given = [list(range(devices))] if replica_groups is None else [list(group) for group in replica_groups]
        return convert(f"stablehlo.{op}", name, "I64ElementsAttr", given, self.context)

    def _group_size(self, replica_groups: Groups | None) -> int:
        if replica_groups is None:
            return self.mesh_shape[0] * self.mesh_shape[1]
        return max((len(group) for group in replica_groups), default=1)

    def _collective(
        self, op: str, value: ir.Value, attributes: dict[str, Any], shape: Sequence[int], common: dict[str, Any]
    ) -> Any:
        result = {"result_types": [retyped(value.type, shape=list(shape))]}
        return self.create_op(self.op_info(op), [value], attributes, common={**common, **result})

    def _group_numbers(self, op: str, **numbers: int) -> dict[str, Any]:
        return {n: convert(f"stablehlo.{op}", n, "I64Attr", v, self.context) for n, v in numbers.items()}

    @takes_common
    def all_gather(
        self, input: Operand, all_gather_dim: int, replica_groups: Groups | None = None, **common: Any
    ) -> Any:
        """Returns the tensors of each group one after another along `all_gather_dim`, on each of its devices."""
        value = self._value(input)
        shape = self.infer_all_gather_output_shape(value, all_gather_dim, replica_groups)
        numbers = self._group_numbers("all_gather", all_gather_dim=all_gather_dim % len(shape))
        attributes = {**numbers, "replica_groups": self._groups("all_gather", replica_groups)}
        return self._collective("all_gather", value, attributes, shape, common)

    def infer_all_gather_output_shape(
        self, input: Operand, all_gather_dim: int, replica_groups: Groups | None
    ) -> list[int]:
        """Returns the shape of `all_gather` with these arguments."""
        count = self._group_size(replica_groups)
        return sizes(self.get_shape(self._value(input)), {all_gather_dim: lambda n: n * count})

    @takes_common
    def all_reduce(
        self,
        input: Operand,
        replica_groups: Groups | None = None,
        body: Callable[..., Any] | str = "add",
        **common: Any,
    ) -> Any:
        """Returns the tensors of each group combined by `body`, on each of its devices."""
        value = self._value(input)
        attributes = {"replica_groups": self._groups("all_reduce", replica_groups)}
        return self._with_body("all_reduce", [value], attributes, body, [value.type], common)

    @takes_common
    def reduce_scatter(
        self,
        input: Operand,
        scatter_dimensions: int,
        replica_groups: Groups,
        body: Callable[..., Any] | str = "add",
        **common: Any,
    ) -> Any:
        """Returns the tensors of each group combined by `body`, each device keeping its part of
        `scatter_dimensions`."""
        value, count = self._value(input), self._group_size(replica_groups)
        shape = sizes(self.get_shape(value), {scatter_dimensions: lambda n: n // count})
        numbers = self._group_numbers("reduce_scatter", scatter_dimension=scatter_dimensions % len(shape))
        attributes = {**numbers, "replica_groups": self._groups("reduce_scatter", replica_groups)}
        result = retyped(value.type, shape=shape)
        return self._with_body("reduce_scatter", [value], attributes, body, [result], common)

    @takes_common
    def all_to_all(
        self,
        input: Operand,
        split_dim: int,
        concat_dim: int,
        split_count: int,
        replica_groups: Groups,
        **common: Any,
    ) -> Any:
        """Returns part i of `split_dim` goes to device i of the group, which puts what it gets together along
        `concat_dim`."""
        value = self._value(input)
        shape = sizes(self.get_shape(value), {split_dim: lambda n: n // split_count})
        shape = sizes(shape, {concat_dim: lambda n: n * split_count})
        numbers = self._group_numbers(
            "all_to_all", split_dimension=split_dim % len(shape), concat_dimension=concat_dim % len(shape),
            split_count=split_count,
        )  # fmt: skip
        attributes = {**numbers, "replica_groups": self._groups("all_to_all", replica_groups)}
        return self._collective("all_to_all", value, attributes, shape, common)

    @takes_common
    def collective_broadcast(self, input: Operand, replica_groups: Groups, **common: Any) -> Any:
        """Returns the tensor of the first device of each group, on all of the group; zeros on others."""
        value = self._value(input)
        attributes = {"replica_groups": self._groups("collective_broadcast", replica_groups)}
        return self._collective("collective_broadcast", value, attributes, self.get_shape(value), common)
