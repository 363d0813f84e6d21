# SPDX-License-Identifier: Apache-2.0
"""What is found inside of a module keeps the module, and the last of it that goes lets the module go."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import gc
from ttmlir.ir import Context, Module

TEXT = '''func.func @main(%x: tensor<8x8xf32> {ttcore.shard_dims = array<i64: 0, 1>}) -> tensor<8x8xf32> {
  %y = "ttir.abs"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}'''


def function(module):
    return module.body.operations[0]


with Context() as context:
    found = FOUND(Module.parse(TEXT))
    others = [Module.parse(TEXT) for _ in range(3)]
    del others
    gc.collect()
    assert context._get_live_module_count() == 1
    print(found)
    del found
    gc.collect()
    assert context._get_live_module_count() == 0
"""
WAYS = {
    "the module's operation": "lambda module: module.operation",
    "the module's body": "lambda module: module.body",
    "a function": "function",
    "its operation": "lambda module: function(module).operation",
    "ops of an iteration": "lambda module: [op for op in module.body.operations]",
    "its attributes": "lambda module: function(module).attributes",
    "its regions": "lambda module: function(module).regions",
    "an argument": "lambda module: function(module).regions[0].blocks[0].arguments[0]",
    "an op inside": "lambda module: function(module).regions[0].blocks[0].operations[0]",
    "a result": "lambda module: function(module).regions[0].blocks[0].operations[0].results[0]",
    "an operand": "lambda module: function(module).regions[0].blocks[0].operations[0].operands[0]",
    "a result's owner": "lambda module: function(module).regions[0].blocks[0].operations[0].results[0].owner",
    "a use": "lambda module: next(iter(function(module).regions[0].blocks[0].arguments[0].uses)).owner",
    "a parent": "lambda module: function(module).regions[0].blocks[0].operations[1].operation.parent",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_part_keeps_its_module(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_PERTURB_", "165")  # memory that is freed holds no op any more
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("FOUND", f"({WAYS[way]})")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
