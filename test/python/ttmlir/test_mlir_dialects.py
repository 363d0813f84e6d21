# SPDX-License-Identifier: Apache-2.0
"""Dialects of MLIR itself in Python, and attributes of TTCore that Python makes."""

from __future__ import annotations

from typing import Any

import pytest
from ttmlir import ir, rewrite
from ttmlir.dialects import arith, func, memref, mpmd, quant, tensor, ttcore, ttir


def test_ops_of_mlirs_dialects_have_classes() -> None:
    text = """
    func.func @f(%m: memref<4xf32>, %t: tensor<4xf32>, %i: index) -> f32 {
      %0 = memref.load %m[%i] : memref<4xf32>
      %1 = tensor.extract %t[%i] : tensor<4xf32>
      %2 = arith.addf %0, %1 : f32
      return %2 : f32
    }"""
    with ir.Context():
        module = ir.Module.parse(text)
        ops = list(module.body.operations[0].body.blocks[0].operations)
        assert [type(op) for op in ops] == [memref.LoadOp, tensor.ExtractOp, arith.AddFOp, func.ReturnOp]


def test_a_tensor_is_created() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            empty = tensor.EmptyOp([2, 3], ir.F32Type.get())
        assert str(empty.result.type) == "tensor<2x3xf32>" and module.operation.verify()


def test_quantized_types() -> None:
    with ir.Context():
        byte, single = ir.IntegerType.get_signless(8), ir.F32Type.get()
        found = quant.UniformQuantizedType.get(1, byte, single, 0.5, 3, -128, 127)
        assert (str(found), found.scale, found.zero_point) == ("!quant.uniform<i8:f32, 5.000000e-01:3>", 0.5, 3)
        assert isinstance(ir.Type.parse("!quant.uniform<i8:f32, 0.5:3>"), quant.UniformQuantizedType)


def test_mpmd_says_that_it_is_not_read() -> None:
    with pytest.raises(AttributeError, match=r"mpmd has no 'NamedMeshOp'.*not read"):
        mpmd.NamedMeshOp  # noqa: B018


def test_grids() -> None:
    with ir.Context() as context:
        grid = ttcore.ir.GridAttr.get([2, 4])
        assert (str(grid), grid.shape) == ("#ttcore.grid<2x4>", [2, 4])
        assert ttcore.ir.GridAttr.get(context, [2, 4]) == grid == ir.Attribute.parse("#ttcore.grid<2x4>")
        with pytest.raises(ValueError, match="sizes of 1 or more"):
            ttcore.ir.GridAttr.get([0, 4])


def test_metal_layouts() -> None:
    with ir.Context() as context:
        layout = ttcore.ir.MetalLayoutAttr.get(context, [2, 64, 96], ttcore.ir.MemorySpace.DeviceL1)
        assert layout == ir.Attribute.parse(str(layout))
        assert (layout.logical_shape, layout.dim_alignments) == ([2, 64, 96], [1, 32, 32])
        assert str(layout.collapsed_intervals) == "dense<[[0, 2], [2, 3]]> : tensor<2x2xi64>"
        assert layout.memory_space == ttcore.ir.MemorySpace.DeviceL1
        assert layout.memory_layout == ttcore.ir.TensorMemoryLayout.Sharded
        intervals = ir.Attribute.parse("dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>")
        other = ttcore.ir.MetalLayoutAttr.get([2, 64, 96], 2, 0, intervals, [1, 1, 32])
        assert (other.collapsed_intervals, other.dim_alignments, other.memory_layout) == (intervals, [1, 1, 32], 0)
        with pytest.raises(ValueError, match="logical_shape has 1 dimensions but dim_alignments 2"):
            ttcore.ir.MetalLayoutAttr.get([64], 3, 1, None, [32, 32])
        with pytest.raises(ValueError, match="expected a value of MemorySpace"):
            ttcore.ir.MetalLayoutAttr.get([64], 99)


def test_meshes() -> None:
    with ir.Context():
        mesh = ttcore.ir.MeshAttr.get("mesh", [2, 4])
        assert ttcore.ir.MeshesAttr.get([mesh]).meshes == [mesh]


def test_a_new_operation_loads_its_dialect() -> None:
    """Contexts load dialects when they are needed; an operation of one that is not loaded has no syntax of its own."""
    with ir.Context(), ir.Location.unknown():
        i32 = ir.IntegerType.get_signless(32)
        one = ir.Operation.create("arith.constant", [i32], attributes={"value": ir.IntegerAttr.get(i32, 1)})
        assert str(one).strip() == "%c1_i32 = arith.constant 1 : i32" and one.verify()
        one.erase()


def test_names_of_ops_load_their_dialects() -> None:
    """A pattern that is added before any program is parsed matches, and the name of an op says what it implements."""
    with ir.Context() as context:
        assert context.is_registered_operation("ttir.add") and not context.is_registered_operation("ttir.no_op")
        assert not context.is_registered_operation("unknown.op") and not context.is_registered_operation("plain")
    with ir.Context() as context:
        assert ir.InferTypeOpInterface(arith.AddIOp, context)
    with ir.Context(), ir.Location.unknown():
        patterns = rewrite.RewritePatternSet()

        def replaced(op: ttir.ExpOp, rewriter: Any) -> None:
            with rewriter.ip:
                rewriter.replace_op(op, [ttir.abs(op.operands[0])])

        patterns.add(ttir.ExpOp, replaced)
        frozen = patterns.freeze()
        module = ir.Module.parse(
            """func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
                 %0 = "ttir.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
                 return %0 : tensor<2xf32>
               }"""
        )
        rewrite.apply_patterns_and_fold_greedily(module, frozen)
        assert "ttir.abs" in str(module) and "ttir.exp" not in str(module)
