# SPDX-License-Identifier: Apache-2.0
"""Programs with random shardings, propagated and partitioned, give on each device its part of the whole result."""

from __future__ import annotations

import random

import numpy as np
import pytest
from meshes import Mesh, random_cuts, random_dims, sharding_text
from spmd import Machine
from ttmlir.ir import Context, Module
from ttmlir.passmanager import PassManager

X = "tensor<8x8xi32>"
SCALARS = """
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>"""
# Each gives %r of %a and %b, of type X, and says the type of the result.
PROGRAMS = {
    "add": (f"%r = stablehlo.add %a, %b : {X}", X),
    "chain": (
        f"%0 = stablehlo.multiply %a, %b : {X}\n %1 = stablehlo.negate %0 : {X}\n %r = stablehlo.add %1, %a : {X}",
        X,
    ),
    "dot": (f"%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({X}, {X}) -> {X}", X),
    "dot_of_transposed": (f"%r = stablehlo.dot_general %a, %b, contracting_dims = [0] x [1] : ({X}, {X}) -> {X}", X),
    "two_dots": (
        f"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({X}, {X}) -> {X}\n"
        f"%r = stablehlo.dot_general %0, %b, contracting_dims = [1] x [1] : ({X}, {X}) -> {X}",
        X,
    ),
    "batched_dot": (
        f"%0 = stablehlo.reshape %a : ({X}) -> tensor<4x2x8xi32>\n %1 = stablehlo.reshape %b : ({X}) -> tensor<4x8x2xi32>\n"
        "%r = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
        "(tensor<4x2x8xi32>, tensor<4x8x2xi32>) -> tensor<4x2x2xi32>",
        "tensor<4x2x2xi32>",
    ),
    "transpose": (f"%0 = stablehlo.transpose %a, dims = [1, 0] : ({X}) -> {X}\n %r = stablehlo.add %0, %b : {X}", X),
    "reshape_apart": (
        f"%0 = stablehlo.add %a, %b : {X}\n %r = stablehlo.reshape %0 : ({X}) -> tensor<2x4x8xi32>",
        "tensor<2x4x8xi32>",
    ),
    "reshape_together": (
        f"%0 = stablehlo.add %a, %b : {X}\n %r = stablehlo.reshape %0 : ({X}) -> tensor<64xi32>",
        "tensor<64xi32>",
    ),
    "reshape_across": (
        f"%0 = stablehlo.add %a, %b : {X}\n %r = stablehlo.reshape %0 : ({X}) -> tensor<4x16xi32>",
        "tensor<4x16xi32>",
    ),
    "reduce_rows": (
        f"%0 = stablehlo.add %a, %b : {X}\n %r = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : ({X}, tensor<i32>) -> tensor<8xi32>",
        "tensor<8xi32>",
    ),
    "reduce_with_start": (
        f"%0 = stablehlo.add %a, %b : {X}\n %r = stablehlo.reduce(%0 init: %one) applies stablehlo.add across dimensions = [1] : ({X}, tensor<i32>) -> tensor<8xi32>",
        "tensor<8xi32>",
    ),
    "reduce_max": (
        f"%0 = stablehlo.add %a, %b : {X}\n %r = stablehlo.reduce(%0 init: %one) applies stablehlo.maximum across dimensions = [0, 1] : ({X}, tensor<i32>) -> tensor<i32>",
        "tensor<i32>",
    ),
    "reduce_product": (
        f"%0 = stablehlo.add %a, %b : {X}\n %r = stablehlo.reduce(%0 init: %one) applies stablehlo.multiply across dimensions = [1] : ({X}, tensor<i32>) -> tensor<8xi32>",
        "tensor<8xi32>",
    ),
    "normalize": (
        f"%0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : ({X}, tensor<i32>) -> tensor<8xi32>\n"
        f"%1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xi32>) -> {X}\n %2 = stablehlo.subtract %a, %1 : {X}\n"
        f"%r = stablehlo.dot_general %2, %b, contracting_dims = [1] x [0] : ({X}, {X}) -> {X}",
        X,
    ),
    "broadcast": (
        f"%0 = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<i32>) -> {X}\n %1 = stablehlo.add %a, %0 : {X}\n %r = stablehlo.multiply %1, %b : {X}",
        X,
    ),
    "slice": (
        f"%0 = stablehlo.slice %a [1:7, 0:8] : ({X}) -> tensor<6x8xi32>\n %1 = stablehlo.slice %b [2:8, 0:8] : ({X}) -> tensor<6x8xi32>\n %r = stablehlo.add %0, %1 : tensor<6x8xi32>",
        "tensor<6x8xi32>",
    ),
    "pad": (
        f"%0 = stablehlo.add %a, %b : {X}\n %r = stablehlo.pad %0, %one, low = [0, 1], high = [0, 3], interior = [0, 0] : ({X}, tensor<i32>) -> tensor<8x12xi32>",
        "tensor<8x12xi32>",
    ),
    "concatenate": (f"%r = stablehlo.concatenate %a, %b, dim = 0 : ({X}, {X}) -> tensor<16x8xi32>", "tensor<16x8xi32>"),
    "reverse": (f"%0 = stablehlo.reverse %a, dims = [1] : {X}\n %r = stablehlo.add %0, %b : {X}", X),
}
MESHES = [Mesh({"x": 2, "y": 2}), Mesh({"x": 4, "y": 2}), Mesh({"x": 2, "y": 2, "z": 2})]
ROUNDS = 6


def partitioned(mesh: Mesh, body: str, result: str, shardings: list[str]) -> str:
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.axes.items())
    arguments = ", ".join(
        f"%{name}: {X} {{sdy.sharding = #sdy.sharding<@m, [{text}]>}}"
        for name, text in zip("ab", shardings, strict=True)
    )
    return f"""sdy.mesh @m = <[{axes}]>
    func.func @main({arguments}) -> {result} {{{SCALARS}
    {body}
    return %r : {result}
    }}"""


PIPELINES = {
    "steps": "builtin.module(sdy-user-priority-propagate{conservative-propagation=CONSERVATIVE},"
    "func.func(insert-explicit-reshards{enable-full-version=true},sdy-reshard-to-collectives))",
    "pipeline": "builtin.module(sdy-propagation-pipeline{enable-insert-explicit-collectives=true "
    "conservative-propagation=CONSERVATIVE})",
}


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_devices_compute_their_parts(name: str, pipeline: str) -> None:
    rng = random.Random(name + pipeline)
    body, result = PROGRAMS[name]
    collectives = 0
    for number, mesh in enumerate(MESHES * ROUNDS):
        cuts = random_cuts(rng, mesh)
        texts = [sharding_text(mesh, random_dims(rng, mesh, 2, cuts)) for _ in "ab"]
        if number % 2:
            texts = [text.replace("}", ", ?}").replace("{, ", "{") for text in texts]
        source = partitioned(mesh, body, result, texts)
        with Context():
            module = Module.parse(source)
            conservative = str(number % 3 == 0).lower()
            PassManager.parse(PIPELINES[pipeline].replace("CONSERVATIVE", conservative)).run(module.operation)
            module.operation.verify()
            assert "sdy.reshard " not in str(module)
            [function] = [op for op in module.body.operations if op.operation.name == "func.func"]
            machine = Machine(mesh)
            values = np.random.default_rng(number)
            try:
                machine.run(function.operation, [values.integers(-9, 9, (8, 8), dtype=np.int32) for _ in "ab"])
            except AssertionError as error:
                raise AssertionError(f"{error}\nfrom {source}\nto {module}") from error
        collectives += len(machine.collectives)
    assert collectives > 0, "nothing was moved, so nothing was checked"
