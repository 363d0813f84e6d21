# SPDX-License-Identifier: Apache-2.0
"""The d2m dialect from Python."""

import pytest
from ttmlir import ir
from ttmlir.dialects import d2m


def test_ops_have_classes() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(
            """
            func.func @f(%a: memref<1x1x2x2xf32>, %cb: !d2m.cb<memref<2x2xf32>>, %t: !ttcore.tile<32x32, bf16>) {
              d2m.generic {block_factors = [], grid = #ttcore.grid<1x2>, indexing_maps = [], iterator_types = [],
                           threads = [#d2m.thread<datamovement>, #d2m.thread<compute, @kernel>]}
                  ins() outs(%a : memref<1x1x2x2xf32>) additionalArgs(%cb : !d2m.cb<memref<2x2xf32>>) {
                %0 = d2m.core_index(1) : index
                d2m.remote_load %a[%0, %0] into %cb : memref<1x1x2x2xf32> into !d2m.cb<memref<2x2xf32>>
              }, {
                %0 = "d2m.tile_exp"(%t) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              }
              return
            }"""
        )
        generic = module.body.operations[0].regions[0].blocks[0].operations[0]
        assert isinstance(generic, d2m.GenericOp)
        assert [str(thread) for thread in generic.threads] == [
            "#d2m.thread<datamovement>",
            "#d2m.thread<compute, @kernel>",
        ]
        assert str(generic.grid) == "#ttcore.grid<1x2>" and len(generic.regions) == 2
        index, load = generic.regions[0].blocks[0].operations
        assert isinstance(index, d2m.CoreIndexOp) and isinstance(load, d2m.RemoteLoadOp)
        assert load.cb == generic.additionalArgs[0] and load.localBuffer is None
        tile = d2m.tile_sigmoid(
            ir.Type.parse("!ttcore.tile<32x32, f32>"),
            generic.regions[1].blocks[0].operations[0],
            loc=ir.Location.unknown(),
            ip=ir.InsertionPoint(generic.regions[1].blocks[0]),
        )
        assert "d2m.tile_sigmoid" in str(tile.owner)


def test_error_states_the_cause() -> None:
    with ir.Context(), pytest.raises(ir.MLIRError, match="expected compute, datamovement or unified"):
        ir.Module.parse("module attributes {t = #d2m.thread<pack>} {}")
