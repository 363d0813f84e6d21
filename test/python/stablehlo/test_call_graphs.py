# SPDX-License-Identifier: Apache-2.0
"""Calls that would be inlined without end, or into more ops than memory holds: each is an error, and soon."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

BIN = Path(__file__).resolve().parents[3] / "build" / "bin"
T = "tensor<8xf32>"


def doubling(levels: int) -> str:
    """Two calls on each level."""
    functions = [
        f"func.func private @f{i}(%a: {T}) -> {T} {{ %0 = func.call @f{i + 1}(%a) : ({T}) -> {T}\n"
        f"  %1 = func.call @f{i + 1}(%0) : ({T}) -> {T}\n  return %1 : {T} }}"
        for i in range(levels)
    ]
    last = f"func.func private @f{levels}(%a: {T}) -> {T} {{ %0 = stablehlo.add %a, %a : {T}\n  return %0 : {T} }}"
    return "\n".join([*functions, last, main("f0")])


def chain(length: int) -> str:
    functions = [
        f"func.func private @f{i}(%a: {T}) -> {T} {{ %0 = func.call @f{i + 1}(%a) : ({T}) -> {T}\n  return %0 : {T} }}"
        for i in range(length)
    ]
    return "\n".join([*functions, f"func.func private @f{length}(%a: {T}) -> {T} {{ return %a : {T} }}", main("f0")])


def main(callee: str, kind: str = T) -> str:
    return (
        f"func.func @main(%a: {kind}) -> {kind} {{ %0 = func.call @{callee}(%a) : ({kind}) -> {kind}\n"
        f"  return %0 : {kind} }}"
    )


def recursive(kind: str) -> str:
    return (
        f"func.func private @f(%a: {kind}) -> {kind} {{ %0 = func.call @f(%a) : ({kind}) -> {kind}\n"
        f"  %1 = func.call @f(%0) : ({kind}) -> {kind}\n  return %1 : {kind} }}"
    )


def in_region() -> str:
    return (
        recursive("tensor<f32>")
        + f"""
func.func @main(%x: {T}) -> {T} {{
  %r = "stablehlo.map"(%x) ({{
  ^bb0(%e: tensor<f32>):
    %c = func.call @f(%e) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %c : tensor<f32>
  }}) {{dimensions = array<i64: 0>}} : ({T}) -> {T}
  return %r : {T}
}}"""
    )


DYNAMIC = "tensor<?xf32>"


@pytest.mark.parametrize(
    ("text", "passes", "message"),
    [
        (doubling(40), "stablehlo-pipeline", "more than 1048576 ops when their calls are inlined"),
        (doubling(40), "stablehlo-to-ttir-pipeline ttir-to-ttnn-backend-pipeline", "ops when its calls are inlined"),
        (chain(3000), "stablehlo-pipeline", "is called more than 1000 calls deep"),
        (recursive(T) + main("f"), "stablehlo-pipeline", "calls itself, and programs cannot"),
        (recursive(DYNAMIC) + main("f", DYNAMIC), "stablehlo-to-ttir-pipeline", "does @f call itself?"),
        (in_region(), "stablehlo-to-ttir-pipeline", "it is called without end"),
    ],
    ids=["doubling", "doubling to TTNN", "chain", "recursion", "recursion of dynamic shape", "recursion in a region"],
)
def test_is_an_error(text: str, passes: str, message: str) -> None:
    command = [BIN / "ttmlir-opt", "-", *(f"--{name}" for name in passes.split())]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 1 and message in done.stderr, done.stderr[-2000:]


def test_calls_of_calls_are_inlined() -> None:
    command = [BIN / "ttmlir-opt", "-", "--stablehlo-inline-calls"]
    done = subprocess.run(command, input=doubling(5), capture_output=True, text=True, check=True)
    assert done.stdout.count("stablehlo.add") == 32 and "call" not in done.stdout
