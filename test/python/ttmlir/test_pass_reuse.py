# SPDX-License-Identifier: Apache-2.0
"""A pipeline that is parsed once and run on many modules."""

from __future__ import annotations

from ttmlir import ir
from ttmlir.passmanager import PassManager

CALLING = """
func.func private @inner(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "ttir.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @inner(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def test_state_of_a_pass_ends_with_the_module() -> None:
    context = ir.Context()
    with context:
        manager = PassManager.parse("builtin.module(ttir-inline-functions)")
        for _ in range(200):  # ops of one module lie where those of the one before did
            module = ir.Module.parse(CALLING)
            manager.run(module.operation)
            names = [op.operation.name for op in module.body.operations[0].regions[0].blocks[0]]
            assert names == ["ttir.exp", "func.return"]
            assert len(module.body.operations) == 1
            del module
