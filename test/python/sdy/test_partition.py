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


def op(name: str, arguments: str, attributes: str, types: str, result: str) -> str:
    return f"stablehlo.{name} {arguments}{', ' * bool(attributes)}{attributes} : ({types}) -> {result}"


def dot(a: str, b: str, dims: str, types: str = f"{X}, {X}", result: str = X) -> str:
    return op("dot_general", f"{a}, {b}", dims, types, result)


def reduce(value: str, init: str, function: str, dims: str, result: str) -> str:
    return (
        f"stablehlo.reduce({value} init: {init}) applies stablehlo.{function} across dimensions = [{dims}] : "
        f"({X}, tensor<i32>) -> {result}"
    )


ROW, WIDE, SUM = "tensor<8xi32>", "tensor<6x8xi32>", f"%0 = stablehlo.add %a, %b : {X}"
SORT = f"""%r = "stablehlo.sort"(%0) <{{dimension = 1 : i64}}> ({{
    ^bb0(%l: tensor<i32>, %m: tensor<i32>):
      %p = stablehlo.compare LT, %l, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }}) : ({X}) -> {X}"""
EMBED = f"""%i = stablehlo.constant dense<[[1, 7], [0, 3]]> : tensor<2x2xi32>
    %r = "stablehlo.gather"(%0, %i) <{{slice_sizes = array<i64: 1, 8>, dimension_numbers = #stablehlo.gather<
      offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>}}> :
      ({X}, tensor<2x2xi32>) -> tensor<2x2x8xi32>"""
# Each gives %r of %a and %b, of type X, and says the type of the result.
PROGRAMS = {
    "add": ([f"%r = stablehlo.add %a, %b : {X}"], X),
    "chain": (
        [
            f"%0 = stablehlo.multiply %a, %b : {X}",
            f"%1 = stablehlo.negate %0 : {X}",
            f"%r = stablehlo.add %1, %a : {X}",
        ],
        X,
    ),
    "dot": (["%r = " + dot("%a", "%b", "contracting_dims = [1] x [0]")], X),
    "dot_of_transposed": (["%r = " + dot("%a", "%b", "contracting_dims = [0] x [1]")], X),
    "two_dots": (
        [
            "%0 = " + dot("%a", "%b", "contracting_dims = [1] x [0]"),
            "%r = " + dot("%0", "%b", "contracting_dims = [1] x [1]"),
        ],
        X,
    ),
    "batched_dot": (
        [
            "%0 = " + op("reshape", "%a", "", X, "tensor<4x2x8xi32>"),
            "%1 = " + op("reshape", "%b", "", X, "tensor<4x8x2xi32>"),
            "%r = "
            + dot(
                "%0",
                "%1",
                "batching_dims = [0] x [0], contracting_dims = [2] x [1]",
                "tensor<4x2x8xi32>, tensor<4x8x2xi32>",
                "tensor<4x2x2xi32>",
            ),
        ],
        "tensor<4x2x2xi32>",
    ),
    "transpose": (["%0 = " + op("transpose", "%a", "dims = [1, 0]", X, X), f"%r = stablehlo.add %0, %b : {X}"], X),
    "reshape_apart": ([SUM, "%r = " + op("reshape", "%0", "", X, "tensor<2x4x8xi32>")], "tensor<2x4x8xi32>"),
    "reshape_together": ([SUM, "%r = " + op("reshape", "%0", "", X, "tensor<64xi32>")], "tensor<64xi32>"),
    "reshape_across": ([SUM, "%r = " + op("reshape", "%0", "", X, "tensor<4x16xi32>")], "tensor<4x16xi32>"),
    "reduce_rows": ([SUM, "%r = " + reduce("%0", "%zero", "add", "0", ROW)], ROW),
    "reduce_with_start": ([SUM, "%r = " + reduce("%0", "%one", "add", "1", ROW)], ROW),
    "reduce_max": ([SUM, "%r = " + reduce("%0", "%one", "maximum", "0, 1", "tensor<i32>")], "tensor<i32>"),
    "reduce_product": ([SUM, "%r = " + reduce("%0", "%one", "multiply", "1", ROW)], ROW),
    "normalize": (
        [
            "%0 = " + reduce("%a", "%zero", "add", "1", ROW),
            "%1 = " + op("broadcast_in_dim", "%0", "dims = [0]", ROW, X),
            f"%2 = stablehlo.subtract %a, %1 : {X}",
            "%r = " + dot("%2", "%b", "contracting_dims = [1] x [0]"),
        ],
        X,
    ),
    "broadcast": (
        [
            "%0 = " + op("broadcast_in_dim", "%one", "dims = []", "tensor<i32>", X),
            f"%1 = stablehlo.add %a, %0 : {X}",
            f"%r = stablehlo.multiply %1, %b : {X}",
        ],
        X,
    ),
    "slice": (
        [
            "%0 = " + op("slice", "%a [1:7, 0:8]", "", X, WIDE),
            "%1 = " + op("slice", "%b [2:8, 0:8]", "", X, WIDE),
            f"%r = stablehlo.add %0, %1 : {WIDE}",
        ],
        WIDE,
    ),
    "pad": (
        [
            SUM,
            "%r = "
            + op(
                "pad",
                "%0, %one",
                "low = [0, 1], high = [0, 3], interior = [0, 0]",
                f"{X}, tensor<i32>",
                "tensor<8x12xi32>",
            ),
        ],
        "tensor<8x12xi32>",
    ),
    "concatenate": (
        ["%r = " + op("concatenate", "%a, %b", "dim = 0", f"{X}, {X}", "tensor<16x8xi32>")],
        "tensor<16x8xi32>",
    ),
    "reverse": ([f"%0 = stablehlo.reverse %a, dims = [1] : {X}", f"%r = stablehlo.add %0, %b : {X}"], X),
    "sort": ([SUM, SORT], X),
    "embedding": ([SUM, EMBED], "tensor<2x2x8xi32>"),
}
MESHES = [Mesh({"x": 2, "y": 2}), Mesh({"x": 4, "y": 2}), Mesh({"x": 2, "y": 2, "z": 2})]
ROUNDS = 4


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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_devices_compute_their_parts(name: str, pipeline: str) -> None:
    rng = random.Random(name + pipeline)
    lines, result = PROGRAMS[name]
    body = "\n    ".join(lines)
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
