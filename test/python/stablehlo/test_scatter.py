# SPDX-License-Identifier: Apache-2.0
"""StableHLO's gather and scatter with random dimension numbers: through the pipelines to the chip, compared with
goldens.

The goldens loop over index vectors as the specification does; the compiler makes lookups and scatters of rows.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import _ttmlir_runtime as rt
import pytest
from builder.base.builder_apis import load_mlir_file
from golden import compare
from op_cases import execute, lowered
from ttmlir.ir import MLIRError
from ttmlir.passes import ttnn_to_flatbuffer_bin

BODIES = {
    "set": "stablehlo.return %b : tensor<{t}>",
    "keep": "stablehlo.return %a : tensor<{t}>",
    **{
        name: f"%r = stablehlo.{name} %a, %b : tensor<{{t}}>\n      stablehlo.return %r : tensor<{{t}}>"
        for name in ("add", "multiply", "maximum", "minimum")
    },
    # 2 b - a, which asks for the order of the updates.
    "formula": "%d = stablehlo.subtract %b, %a : tensor<{t}>\n      %r = stablehlo.add %d, %b : tensor<{t}>\n"
    "      stablehlo.return %r : tensor<{t}>",
}


def tensor(shape: list[int], element: str) -> str:
    return "tensor<" + "x".join([*map(str, shape), element]) + ">"


@dataclass
class Numbers:
    """Random dimension numbers, and shapes that fit them."""

    operand: list[int]
    sizes: list[int]  # of a slice, in all dimensions of the operand
    dropped: list[int]
    batching: list[int]
    index_batching: list[int]
    start_map: list[int]
    vector: int
    indices: list[int]
    offset: list[int]
    slices: list[int]  # a gather's result, a scatter's update

    @classmethod
    def draw(cls, draw: random.Random) -> Numbers:
        rank = draw.randint(1, 4)
        operand = [draw.randint(1, 5) for _ in range(rank)]
        roles = [draw.choice(["kept", "kept", "dropped", "batching"]) for _ in range(rank)]
        dropped, batching = ([d for d in range(rank) if roles[d] == role] for role in ("dropped", "batching"))
        kept = [d for d in range(rank) if roles[d] == "kept"]
        sizes = [draw.randint(1, operand[d]) if d in kept else 1 for d in range(rank)]
        free = [d for d in range(rank) if d not in batching]
        start_map = draw.sample(free, draw.randint(0, len(free)))
        # The batch: dimensions of its own, and those of the operand that are batches, in any order.
        parts: list[tuple[int, int | None]] = [(draw.randint(1, 3), None) for _ in range(draw.randint(0, 2))]
        parts += [(operand[d], d) for d in batching]
        draw.shuffle(parts)
        batch = [size for size, _ in parts]
        hidden = len(start_map) == 1 and draw.random() < 0.3
        vector = len(batch) if hidden else draw.randint(0, len(batch))
        indices = batch if hidden else [*batch[:vector], len(start_map), *batch[vector:]]
        place = {d: i for i, (_, d) in enumerate(parts)}
        index_batching = [place[d] + (not hidden and place[d] >= vector) for d in batching]
        total = len(batch) + len(kept)
        offset = sorted(draw.sample(range(total), len(kept)))
        window, rest = iter([sizes[d] for d in kept]), iter(batch)
        slices = [next(window) if d in offset else next(rest) for d in range(total)]
        return cls(operand, sizes, dropped, batching, index_batching, start_map, vector, indices, offset, slices)

    def text(self, names: tuple[str, ...]) -> str:
        lists = (self.offset, self.dropped, self.batching, self.index_batching, self.start_map)
        fields = [f"{name} = {dims}" for name, dims in zip(names, lists, strict=True) if dims]
        return ", ".join([*fields, f"index_vector_dim = {self.vector}"])


def gather_text(n: Numbers, element: str, index: str) -> str:
    names = (
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
    )
    x, i, y = tensor(n.operand, element), tensor(n.indices, index), tensor(n.slices, element)
    # Starts that lie outside, too, are moved inside.
    return f"""func.func @main(%x: {x}, %i: {i}) -> {y} {{
      %c = stablehlo.constant dense<2> : {i}
      %s = stablehlo.subtract %i, %c : {i}
      %0 = "stablehlo.gather"(%x, %s) <{{dimension_numbers = #stablehlo.gather<{n.text(names)}>,
        slice_sizes = array<i64: {", ".join(map(str, n.sizes))}>}}> : ({x}, {i}) -> {y}
      return %0 : {y}
    }}"""


def scatter_text(n: Numbers, element: str, index: str, body: str) -> str:
    names = (
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
    )
    x, i, u = tensor(n.operand, element), tensor(n.indices, index), tensor(n.slices, element)
    # Windows that lie outside or partly outside, too, are left out.
    return f"""func.func @main(%x: {x}, %i: {i}, %u: {u}) -> {x} {{
      %c = stablehlo.constant dense<2> : {i}
      %s = stablehlo.subtract %i, %c : {i}
      %0 = "stablehlo.scatter"(%x, %s, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<{n.text(names)}>}}> ({{
      ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
        {BODIES[body].format(t=element)}
      }}) : ({x}, {i}, {u}) -> {x}
      return %0 : {x}
    }}"""


def check(text: str) -> None:
    module, builder = load_mlir_file(text, target="stablehlo")
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    goldens = builder.golden_map[0][0]
    ((found,),) = execute(binary, 0, goldens.inputs, (1, 1))
    comparison = compare(goldens.outputs[0].shard_at(0), found)
    assert comparison.within, f"{text}\n{comparison}"


def drawn(seed: int, request: pytest.FixtureRequest, name: str) -> list[tuple[random.Random, Numbers]]:
    draw = random.Random(f"{name}{seed}")
    count = 200 if request.config.getoption("--slow") else 20
    return [(draw, Numbers.draw(draw)) for _ in range(count)]


@pytest.mark.parametrize("element", ["f32", "bf16", "i32"])
def test_gather(element: str, seed: int, request: pytest.FixtureRequest) -> None:
    for draw, numbers in drawn(seed, request, f"gather {element}"):
        if 0 in numbers.indices:
            continue  # no tensor of no elements is an input
        check(gather_text(numbers, element, draw.choice(["i32", "i32", "i64"])))


@pytest.mark.parametrize("body", BODIES)
def test_scatter(body: str, seed: int, request: pytest.FixtureRequest) -> None:
    for draw, numbers in drawn(seed, request, f"scatter {body}"):
        if 0 in numbers.indices:
            continue
        check(scatter_text(numbers, draw.choice(["f32", "i32"]), draw.choice(["i32", "i32", "i64"]), body))


@pytest.mark.parametrize("index", ["i8", "ui8"])
@pytest.mark.parametrize("body", ["add", "formula"])
def test_more_batches_than_an_index_counts(body: str, index: str) -> None:
    """The second dimension of the input is the index's; 300 is more than i8 and ui8 hold."""
    numbers = Numbers([300, 6], [1, 1], [1], [0], [0], [1], 2, [300, 2, 1], [], [300, 2])
    check(scatter_text(numbers, "f32", index, body))


def test_constant_indices_inside_need_no_check() -> None:
    text = """func.func @main(%x: tensor<4x3xf32>, %u: tensor<2x3xf32>) -> tensor<4x3xf32> {{
      %i = stablehlo.constant dense<[[{0}], [1]]> : tensor<2x1xi32>
      %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %r = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }}) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }}"""
    for index, inside in ((3, True), (4, False), (-1, False)):
        check(text.format(index))
        module, _ = load_mlir_file(text.format(index), target="stablehlo")
        assert ("ttnn.where" not in str(lowered(module, (1, 1)))) == inside, index


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("stablehlo.add %a, %b", "stablehlo.subtract %b, %a", "its region is not one of add, subtract, multiply"),
        ("%r = stablehlo.add %a, %b", "%r = stablehlo.add %b, %b", "its region is not one of add, subtract, multiply"),
    ],
)
def test_refusals(old: str, new: str, message: str) -> None:
    numbers = Numbers([4], [1], [0], [], [], [0], 1, [2, 1], [], [2])
    text = scatter_text(numbers, "f32", "i32", "add")
    assert old in text
    module, _ = load_mlir_file(text.replace(old, new), target="stablehlo")
    with pytest.raises(MLIRError, match=f"stablehlo.scatter: not converted to TTIR: {message}"):
        lowered(module, (1, 1))


def test_slices_without_elements_are_refused() -> None:
    numbers = Numbers([5, 4], [0, 4], [0], [], [], [0], 1, [3, 1], [1], [3, 4])
    module, _ = load_mlir_file(gather_text(numbers, "f32", "i32"), target="stablehlo")
    with pytest.raises(MLIRError, match=r"stablehlo\.gather: not converted to TTIR: its slices have no elements"):
        lowered(module, (1, 1))
