# SPDX-License-Identifier: Apache-2.0
"""The ops in the text of a flatbuffer: each alone and in full, whatever its strings hold."""

from ttmlir import ir, passes
from ttmlir.passmanager import PassManager

MESSAGE = r"one\0Atwo #ttnn_layout \22three\22 #dram \\"
LAYOUT = (
    "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, "
    "<interleaved>>"
)


def test_names_are_written_out_but_in_strings() -> None:
    with ir.Context():
        module = ir.Module.parse(
            f"""
            func.func @main(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {{
              "debug.print"(%a) <{{message = "{MESSAGE}"}}> : (tensor<32x32xf32>) -> ()
              %0 = "ttir.exp"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
              return %0 : tensor<32x32xf32>
            }}"""
        )
        PassManager.parse("builtin.module(ttir-to-ttnn-backend-pipeline)").run(module.operation)
        written = bytes(passes.ttnn_to_flatbuffer_bin(module)).decode(errors="replace")
    tensor = f"tensor<32x32xf32, {LAYOUT}>"
    assert f'\0"debug.print"(%arg0) <{{message = "{MESSAGE}"}}> : ({tensor}) -> ()\0' in written
    assert f'\0%0 = "ttnn.exp"(%arg0) : ({tensor}) -> {tensor}\0' in written
