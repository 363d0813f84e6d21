# SPDX-License-Identifier: Apache-2.0
"""Classes of attributes and ops are called as programs of the ecosystem call them, and as MLIR has it."""

from __future__ import annotations

import pytest
from ttmlir.dialects import ttcore, ttir, ttnn
from ttmlir.ir import Context, F32Type, InsertionPoint, Location, Module, RankedTensorType

cores = ttnn.ir.CoreCoordAttr


@pytest.fixture
def context():
    with Context() as context, Location.unknown():
        yield context


def memory(context, layout="HeightSharded", buffer="L1", corner=(3, 7)):
    span = ttnn.ir.CoreRangeAttr.get(context, cores.get(context, 0, 0), cores.get(context, *corner))
    spec = ttnn.ir.ShardSpecAttr.get(
        context,
        ttnn.ir.CoreRangeSetAttr.get(context, [span]),
        ttnn.ir.ShapeAttr.get(context, [32, 64]),
        ttnn.ir.ShardOrientationAttr.get(context, ttnn.ShardOrientation.RowMajor),
    )
    return ttnn.ir.MemoryConfigAttr.get(
        context,
        ttnn.ir.TensorMemoryLayoutAttr.get(context, getattr(ttnn.ir.TensorMemoryLayout, layout)),
        ttnn.ir.BufferTypeAttr.get(context, getattr(ttnn.ir.BufferType, buffer)),
        spec,
    )


def test_contexts_are_taken_in_every_place(context):
    forms = [cores.get(context, 1, 2), cores.get(y=1, x=2, ctx=context), cores.get(1, 2, context), cores.get(1, 2)]
    assert {str(form) for form in forms} == {"#ttnn.core_coord<2, 1>"}
    for attribute in (ttcore.ir.ReduceTypeAttr, ttnn.ir.LayoutAttr):
        assert attribute.get(context, 1) == attribute.get(1)


def test_memory_of_a_tensor(context):
    config = memory(context)
    assert str(config) == (
        "#ttnn.memory_config<#ttnn.buffer_type<l1>, <height_sharded>, "
        "#ttnn.shard_spec<<[#ttnn.core_range<(0,0), (7,3)>]>, <32x64>, <row_major>>>"
    )
    (span,) = config.shard_spec.core_range_set.core_ranges
    assert (span.start_coord.x, span.end_coord.x, span.end_coord.y) == (0, 7, 3)
    assert config.shard_spec.shard_shape.shape == [32, 64] and "row_major" in str(config.shard_spec.shard_orientation)
    interleaved = ttnn.ir.MemoryConfigAttr.get(
        context, ttnn.ir.TensorMemoryLayoutAttr.get(0), ttnn.ir.BufferTypeAttr.get(0)
    )
    assert interleaved.shard_spec is None and "interleaved" in str(interleaved.tensor_memory_layout)


def test_wrong_attributes_are_named(context):
    span = ttnn.ir.CoreRangeAttr
    with pytest.raises(TypeError, match="end is an attribute of another class; expected a CoreCoordAttr"):
        span.get(context, cores.get(0, 0), ttnn.ir.ShapeAttr.get([1]))
    with pytest.raises(ValueError, match=r"ends at \(0,0\) before it starts at \(2,1\)"):
        span.get(context, cores.get(1, 2), cores.get(0, 0))
    one = span.get(cores.get(0, 0), cores.get(1, 1))
    with pytest.raises(ValueError, match="overlap"):
        ttnn.ir.CoreRangeSetAttr.get([one, one])
    with pytest.raises(ValueError, match=r"coreRanges\[1\] is an attribute of another kind"):
        ttnn.ir.CoreRangeSetAttr.get([one, cores.get(0, 0)])


def test_enums_are_where_attributes_are():
    assert ttcore.ir.AttentionMaskType.NoMask is ttcore.AttentionMaskType.None_
    assert ttcore.ir.MeshShardType is ttcore.MeshShardType and ttnn.ir.BufferType is ttnn.BufferType


@pytest.mark.parametrize("dialect", [ttir, ttnn], ids=["ttir", "ttnn"])
def test_types_of_results_come_first(context, dialect):
    narrow, wide = (RankedTensorType.get([2], F32Type.get()), RankedTensorType.get([3, 2], F32Type.get()))
    module = Module.create()
    with InsertionPoint(module.body):
        x = ttir.EmptyOp(narrow).result
        given = dialect.AddOp(wide, x, x)
        named = dialect.AddOp(lhs=x, rhs=x, results=[narrow])
        assert given.result.type == wide and named.result.type == narrow
        assert dialect.AddOp(x, x).result.type == narrow if dialect is ttir else True
        with pytest.raises(TypeError, match=f"{dialect.AddOp.OPERATION_NAME}: types of results are given twice"):
            dialect.AddOp(narrow, x, x, results=[narrow])


def test_several_results(context):
    shape, indices = (RankedTensorType.parse(text) for text in ("tensor<2x3xf32>", "tensor<2x3xi32>"))
    module = Module.create()
    with InsertionPoint(module.body):
        x = ttir.EmptyOp(RankedTensorType.parse("tensor<2x8xf32>")).result
        op = ttir.TopKOp(shape, indices, x, 3)
    assert [result.type for result in op.results] == [shape, indices]
