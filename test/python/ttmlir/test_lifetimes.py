# SPDX-License-Identifier: Apache-2.0
"""Objects inside of a module keep it alive, and the last of them frees it. Using an erased object is an error."""

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


# Each of ERASURES is the end of this program.
SOURCE = """
import gc
from ttmlir.ir import Context, Location, MLIRError, Module, Operation, SymbolTable
from ttmlir.passmanager import PassManager

TEXT = '''func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %dead = "ttir.abs"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = "ttir.neg"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @other() {
  return
}'''


def gone(*parts):
    for part in parts:
        try:
            text = str(part)
        except RuntimeError as error:
            assert "the operation has been invalidated" in str(error), error
        else:
            raise AssertionError(f"still there: {text}")


def there(*parts):
    for part in parts:
        assert str(part)


with Context() as context, Location.unknown():
    module = Module.parse(TEXT)
    function = module.body.operations[0]
    block = function.regions[0].blocks[0]
    dead, used, last = block.operations
    PROGRAM
"""
ERASURES = {
    "a pass, of an op": """
    again, result, view = block.operations[0].operation, dead.results[0], dead.operation.opview
    PassManager.parse("builtin.module(canonicalize)").run(module.operation)
    gone(dead, again, view, result)
    there(used, last, function, used.results[0], block.arguments[0], module)
    assert [op.name for op in block.operations] == [used.name, last.name]
    """,
    "a pass on a function, of an op": """
    manager = PassManager.parse("func.func(canonicalize)")
    manager.run(function.operation)
    gone(dead)
    there(used, function, module)
    """,
    "passes that put others in their places": """
    for _ in range(20):
        module = Module.parse(TEXT)
        held = list(module.body.operations[0].regions[0].blocks[0].operations)
        PassManager.parse("builtin.module(ttir-to-ttnn-backend-pipeline)").run(module.operation)
        gone(*held[:2])
        there(module)
    """,
    "a pass that fails": """
    try:
        PassManager.parse("builtin.module(canonicalize,ttcore-register-device{mesh-shape=0,0})").run(module.operation)
    except MLIRError:
        gone(dead)
        there(used, function, module)
    else:
        raise AssertionError("it did not fail")
    """,
    "the function around it": """
    result, region = used.results[0], function.regions[0]
    function.erase()
    gone(function, dead, used, last, result, block)
    for use in (lambda: list(region.blocks), lambda: list(block.operations), lambda: block.owner, lambda: result.type):
        try:
            use()
        except RuntimeError as error:
            assert "the operation has been invalidated" in str(error), error
        else:
            raise AssertionError("it can be used")
    there(module)
    """,
    "another object of it": """
    last_of_other = module.body.operations[1].regions[0].blocks[0].operations[0]
    module.body.operations[1].operation.erase()
    gone(last_of_other)
    again = block.operations[0]
    dead.operation.erase()
    gone(dead, again)
    there(used, function, module)
    """,
    "a symbol table": """
    again = module.body.operations[0]
    SymbolTable(module.operation).erase(function)
    gone(function, again, used, dead)
    there(module, module.body.operations[0])
    """,
    "the last object of what has no parent": """
    alone = Operation.parse(TEXT.partition("func.func @other")[0])
    inside = alone.regions[0].blocks[0].operations[0]
    there(inside)
    del alone
    gc.collect()
    gone(inside)
    """,
    "one that runs again": """
    for _ in range(3):
        PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        gone(dead)
        there(used, function)
    """,
}


@pytest.mark.parametrize("erasure", ERASURES)
def test_use_of_erased_op_is_an_error(erasure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_PERTURB_", "165")
    program = SOURCE.replace("    PROGRAM\n", ERASURES[erasure])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
