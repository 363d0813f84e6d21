# SPDX-License-Identifier: Apache-2.0
"""Meshes and shardings of Shardy: how a program's tensors are split over the axes of a mesh."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ttmlir import ir
from ttmlir.dialects.sdy import ir as sdy

from builder.base.builder_utils import Operand, retyped
from builder.ops.structure import infos

if TYPE_CHECKING:
    from builder.base.builder import Builder as Base
else:
    Base = object


@dataclass(frozen=True)
class Text:
    """Part of an attribute that MLIR writes inside of others only."""

    text: str

    def __str__(self) -> str:
        return self.text


def joined(parts: Sequence[Any]) -> str:
    return ", ".join(map(str, parts))


def axes_by_dimension(sharding: Any) -> list[list[str]]:
    """Returns names of the axes that split each dimension of a tensor's sharding."""
    split: Any = sdy.TensorShardingAttr(sharding)
    return [[axis.name for axis in dimension.axes] for dimension in split.dimension_shardings]


def scaled(type_: ir.Type, sharding: Any, sizes: Mapping[str, int], manual_axes: Sequence[str], whole: bool) -> ir.Type:
    """Returns the tensor type of one device's part, or, with `whole`, of all parts together."""
    shape = list(ir.RankedTensorType(type_).shape)
    for dim, axes in enumerate(axes_by_dimension(sharding)):
        for axis in axes:
            if axis not in manual_axes:
                continue
            if not whole and shape[dim] % sizes[axis]:
                raise ValueError(f"dimension {dim} of {type_} does not split over {sizes[axis]} devices of {axis!r}")
            shape[dim] = shape[dim] * sizes[axis] if whole else shape[dim] // sizes[axis]
    return retyped(type_, shape=shape)


class ShardyMixin(Base):
    """Attributes and ops of the sdy dialect, for a builder."""

    def mesh_axis_attr(self, name: str, size: int) -> Text:
        return Text(f'"{name}"={operator.index(size)}')

    def mesh_attr(self, axes: Sequence[Text]) -> ir.Attribute:
        return ir.Attribute.parse(f"#sdy.mesh<[{joined(axes)}]>", self.context)

    def axis_ref_attr(self, name: str, sub_axis_info_attr: Any = None) -> Text:
        """Returns an axis, or the part of it that `sub_axis_info_attr` ("(1)2") names."""
        return Text(f'"{name}"' + (f":{sub_axis_info_attr}" if sub_axis_info_attr is not None else ""))

    def dimension_sharding_attr(self, axes: Sequence[Text], is_closed: bool, priority: int | None = None) -> Text:
        """Returns the axes that split a dimension; an open one may be split further."""
        parts = [*map(str, axes)] + ([] if is_closed else ["?"])
        return Text("{" + ", ".join(parts) + "}" + (f"p{priority}" if priority is not None else ""))

    def tensor_sharding_attr(
        self,
        mesh_name: str,
        dimension_shardings: Sequence[Text],
        replicated_axes: Sequence[Text] = (),
        unreduced_axes: Sequence[Text] = (),
    ) -> ir.Attribute:
        text = f"@{mesh_name}, [{joined(dimension_shardings)}]"
        text += f", replicated={{{joined(replicated_axes)}}}" if replicated_axes else ""
        text += f", unreduced={{{joined(unreduced_axes)}}}" if unreduced_axes else ""
        return ir.Attribute.parse(f"#sdy.sharding<{text}>", self.context)

    def tensor_sharding_per_value_attr(self, shardings: Sequence[ir.Attribute]) -> ir.Attribute:
        text = joined([str(s).removeprefix("#sdy.sharding") for s in shardings])
        return ir.Attribute.parse(f"#sdy.sharding_per_value<[{text}]>", self.context)

    def manual_axes_attr(self, manual_axes: Sequence[str]) -> ir.Attribute:
        names = joined([f'"{name}"' for name in manual_axes])
        return ir.Attribute.parse(f"#sdy<manual_axes{{{names}}}>", self.context)

    def axes_ref_list_attr(self, axis_ref_list: Sequence[Text]) -> Text:
        return Text("{" + joined(axis_ref_list) + "}")

    def list_of_axis_ref_lists_attr(self, list_of_axis_ref_lists: Sequence[Text]) -> ir.Attribute:
        return ir.Attribute.parse(f"#sdy<list_of_axis_ref_lists[{joined(list_of_axis_ref_lists)}]>", self.context)

    def sdy_all_gather(self, in0: Operand, gathering_axes: ir.Attribute, out_sharding: ir.Attribute) -> Any:
        """Joins what `gathering_axes` split, for each dimension."""
        attributes = {"gathering_axes": gathering_axes, "out_sharding": out_sharding}
        return self.create_op(infos("sdy")["sdy.all_gather"], [in0], attributes)

    def manual_computation(
        self,
        nested_func: Callable[..., Any],
        original_inputs: Sequence[Operand],
        in_shardings: Sequence[ir.Attribute],
        out_shardings: Sequence[ir.Attribute],
        manual_axes: Sequence[str],
        loc: Any = None,
    ) -> Any:
        """Returns a region that `nested_func` builds, in which tensors have the shape of one device's part."""
        operands = list(original_inputs)
        if len(in_shardings) != len(operands):
            raise ValueError(f"{len(operands)} inputs but {len(in_shardings)} in_shardings")
        sizes = {a: n for mesh in self.meshes.values() for a, n in mesh.items()}
        local = [scaled(o.type, s, sizes, manual_axes, False) for o, s in zip(operands, in_shardings, strict=True)]
        region = ir.Operation.create("builtin.unrealized_conversion_cast", regions=1, loc=self.location)
        block = region.regions[0].blocks.append(*local, arg_locs=[self.location] * len(local))
        returned = self.build_block(nested_func, block)
        if len(out_shardings) != len(returned):
            raise ValueError(f"{nested_func.__name__} returned {len(returned)} values but there are "
                             f"{len(out_shardings)} out_shardings")  # fmt: skip
        results = [scaled(v.type, s, sizes, manual_axes, True) for v, s in zip(returned, out_shardings, strict=True)]
        sdy = infos("sdy")
        ip = ir.InsertionPoint(block)
        finish = sdy["sdy.return"]
        values = [returned] if finish.segmented else returned
        finish.cls.build_generic(results=[], operands=values, attributes={}, loc=self.location, ip=ip)
        attributes = {
            "in_shardings": self.tensor_sharding_per_value_attr(in_shardings),
            "out_shardings": self.tensor_sharding_per_value_attr(out_shardings),
            "manual_axes": self.manual_axes_attr(manual_axes),
        }
        common = {"loc": loc, "result_types": results}
        result = self.create_op(sdy["sdy.manual_computation"], operands, attributes, common=common)
        owner = (result[0] if isinstance(result, tuple) else result).owner
        block.append_to(owner.regions[0])
        return result

    def mesh(self, mesh_name: str, mesh_attr: ir.Attribute) -> Any:
        """Declares a mesh at the start of the module."""
        attributes = {"sym_name": ir.StringAttr.get(mesh_name, self.context), "mesh": mesh_attr}
        ip = ir.InsertionPoint(self._module_block())
        cls = infos("sdy")["sdy.mesh"].cls
        return cls.build_generic(results=[], operands=[], attributes=attributes, loc=self.location, ip=ip)

    def sharding_constraint(self, in0: Operand, tensor_sharding_attr: ir.Attribute) -> Any:
        return self._sharded("sdy.sharding_constraint", in0, tensor_sharding_attr)

    def reshard(self, in0: Operand, tensor_sharding_attr: ir.Attribute) -> Any:
        return self._sharded("sdy.reshard", in0, tensor_sharding_attr)

    def _sharded(self, op: str, in0: Operand, sharding: ir.Attribute) -> Any:
        found = infos("sdy").get(op)
        if found is None:
            raise AttributeError(f"this version has no op {op}")
        common = {"result_types": [in0.type]}
        return self.create_op(found, [in0], {"sharding": sharding}, common=common)
