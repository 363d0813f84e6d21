# SPDX-License-Identifier: Apache-2.0
"""auto-sharding: the choice costs least of all that there are, fits the chip, and changes no result."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from auto_sharding_models import MODELS, inputs_of, transformer
from builder.base.builder_apis import get_optimal_module_least_time
from random_graphs import random_graph
from sharded_programs import Mesh, compiled, executed, in_shards, with_mesh
from ttmlir import ir
from ttmlir.passmanager import PassManager

MESHES: tuple[Mesh, ...] = ((1, 1), (1, 2), (2, 4), (8, 4))
BIN = Path(__file__).resolve().parents[3] / "build" / "bin"


def same(expected: list[torch.Tensor], found: list[list[torch.Tensor]], where: str) -> None:
    for index, (whole, shards) in enumerate(zip(expected, found, strict=True)):
        scale = max((whole.max() - whole.min()).item(), 1e-30)
        for shard in shards:
            assert shard.shape == whole.shape, f"{where}, result {index}"
            assert (whole - shard).abs().max().item() <= 1e-5 * scale, f"{where}, result {index}"


@pytest.mark.parametrize("name", MODELS)
def test_models_compute_the_same(name: str, tmp_path: Path) -> None:
    """By what was chosen, and by what it was compared with: models as small as these are best split by batches."""
    model = MODELS[name]
    inputs = inputs_of(model)
    expected = [shards[0] for shards in executed(model.text, (1, 1), inputs)]
    collectives = 0
    for mesh in MESHES:
        found = executed(model.text, mesh, inputs, f"enable-auto-sharding=true dump-variants=true dump-dir={tmp_path}")
        same(expected, found, f"{name} on {mesh}")
        if mesh == (1, 1):
            continue
        for variant in ("data_parallel", "tensor_parallel", "no_sharding"):
            text = (tmp_path / f"auto_sharding_main_{variant}.mlir").read_text()
            same(expected, in_shards(text, mesh, inputs), f"{name} on {mesh}, {variant}")
            collectives += text.count("sdy.reshard")
    assert collectives > 0, "nothing was moved, so nothing was checked"


@pytest.mark.parametrize("name", MODELS)
def test_models_with_annotated_inputs_compute_the_same(name: str) -> None:
    model = MODELS[name]
    inputs = inputs_of(model)
    expected = [shards[0] for shards in executed(model.text, (1, 1), inputs)]
    for mesh in MESHES[1:]:
        # Batches along both axes, and all else as propagation has it.
        dims = ", ".join(
            ['{"x", "y", ?}' if model.shapes[0][0] % (mesh[0] * mesh[1]) == 0 else '{"y", ?}']
            + ["{?}"] * (len(model.shapes[0]) - 1)
        )
        text = re.sub(
            r"(%a(?:rg)?0: tensor<[^>]*>)",
            rf"\1 {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}",
            model.text,
            count=1,
        )
        same(expected, in_shards(with_mesh(text, mesh), mesh, inputs), f"{name} on {mesh}")


# ----------------------------------------------------------------------------------------------------------------------
# The choice
# ----------------------------------------------------------------------------------------------------------------------


def cheapest(network: dict[str, Any]) -> float:
    """By depth-first search over all choices, cut where the sum so far and the least of what is left is too much."""
    # A copy next to the op that it is of, so that what is chosen is soon known to be too dear.
    order: list[int] = []
    ends = [(pair["first"], pair["second"]) for pair in network["pairs"]]
    while len(order) < len(network["costs"]):
        links = {
            v: sum(v in end and bool(set(end) & set(order)) for end in ends)
            for v in range(len(network["costs"]))
            if v not in order
        }
        order.append(max(links, key=lambda v: (links[v], -len(network["costs"][v]), -v)))
    place = {variable: index for index, variable in enumerate(order)}
    costs = [network["costs"][variable] for variable in order]
    columns = [len(c) for c in costs]
    joined: list[list[tuple[int, list[float], bool]]] = [[] for _ in costs]
    for pair in network["pairs"]:
        a, b = place[pair["first"]], place[pair["second"]]
        joined[max(a, b)].append((min(a, b), pair["costs"], a > b))
    rest = [0.0] * (len(costs) + 1)
    for i in range(len(costs) - 1, -1, -1):
        rest[i] = rest[i + 1] + min(costs[i]) + sum(min(table) for _, table, _ in joined[i])
    best = float("inf")
    chosen: list[int] = []

    def visit(index: int, spent: float) -> None:
        nonlocal best
        if spent + rest[index] >= best:
            return
        if index == len(costs):
            best = spent
            return
        options = []
        for choice, own in enumerate(costs[index]):
            cost = own
            for other, table, later_is_first in joined[index]:
                row, column = (choice, chosen[other]) if later_is_first else (chosen[other], choice)
                width = columns[other] if later_is_first else columns[index]
                cost += table[row * width + column]
            options.append((cost, choice))
        for cost, choice in sorted(options):
            chosen.append(choice)
            visit(index + 1, spent + cost)
            chosen.pop()

    visit(0, 0.0)
    return best


@pytest.mark.long
@pytest.mark.parametrize("mesh", [(1, 2), (2, 2)], ids=lambda m: f"{m[0]}x{m[1]}")
def test_nothing_is_cheaper(mesh: Mesh, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    seed = request.config.getoption("--seed")
    splits = 0
    for number in range(50):
        rng = random.Random(f"{seed} {mesh} {number}")
        # Large enough that chips are worth their collectives.
        text = with_mesh(random_graph(rng, rng.randint(1, 6), side=rng.choice([64, 512, 2048])).text, mesh)
        with ir.Context():
            module = ir.Module.parse(text)
            options = f"dump-variants=true dump-dir={tmp_path}"
            PassManager.parse(f"builtin.module(auto-sharding{{{options}}})").run(module.operation)
            splits += '{"' in str(module.body.operations[1])
        network = json.loads((tmp_path / "auto_sharding_main_network.json").read_text())
        assert network["is_optimal"], text
        assert network["cost"] == pytest.approx(cheapest(network), rel=1e-9), f"--seed={seed}\n{text}"
    assert splits > 10, "almost nothing was split, so nothing was chosen"


@pytest.mark.long
def test_long_search_shows_progress_on_a_terminal(tmp_path: Path) -> None:
    """Prices memory far too low; without a terminal, only the warning is written."""
    text = transformer(layers=24, batch=8, sequence=512, hidden=1024, heads=16, kv_heads=16, ffn=4096).text
    (tmp_path / "model.mlir").write_text(with_mesh(text, (8, 4)))
    command = [BIN / "ttmlir-opt", tmp_path / "model.mlir", "--auto-sharding=dram-bytes=4096", "-o", "/dev/null"]
    ours, theirs = os.openpty()
    shown = b""
    with subprocess.Popen(command, stderr=theirs) as job:
        os.close(theirs)
        with contextlib.suppress(OSError):  # of a terminal that its last user has closed
            while more := os.read(ours, 1 << 16):
                shown += more
        assert job.wait() == 0
    os.close(ours)
    bars = re.findall(r"auto-sharding @main \[(#*)(\.*)\] +(\d+)% (\w+)", shown.decode())
    assert len(bars) > 3
    assert {len(done) + len(rest) for done, rest, *_ in bars} == {30}
    assert [int(percent) for *_, percent, _ in bars] == sorted(int(percent) for *_, percent, _ in bars)
    last = shown.decode().rindex("\r\x1b[K")
    assert "auto-sharding @main [" not in shown.decode()[last:], "the bar is removed"
    assert "the least that a chip must hold is" in shown.decode()[last:]
    silent = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "auto-sharding @main [" not in silent and "the least that a chip must hold is" in silent


@pytest.mark.long
def test_weights_that_do_not_fit_are_split() -> None:
    text = transformer(layers=2, batch=8, sequence=64, hidden=256, heads=8, kv_heads=2, ffn=1024).text
    free = get_optimal_module_least_time(text, (2, 4))
    room = int(free.chosen.argument_bytes * 0.6) + free.chosen.activation_bytes
    tight = get_optimal_module_least_time(text, (2, 4), dram_bytes=room)
    assert free.chosen.fits and tight.chosen.fits
    assert tight.chosen.argument_bytes + tight.chosen.activation_bytes <= room
    assert tight.chosen.time_ns >= free.chosen.time_ns
    assert not next(v for v in tight.variants if v.name == "no_sharding").fits


def test_too_little_room_is_said() -> None:
    with pytest.warns(UserWarning, match="the least that a chip must hold is [0-9]+ bytes; it has room for 4096"):
        choice = get_optimal_module_least_time(MODELS["mlp_gradients"].text, (1, 2), dram_bytes=4096)
    assert not choice.chosen.fits


def one_op(body: str, result: str, *arguments: str) -> str:
    named = ", ".join(f"%{'abc'[i]}: tensor<{shape}xf32>" for i, shape in enumerate(arguments))
    types = ", ".join(f"tensor<{shape}xf32>" for shape in arguments)
    return f"""module {{ func.func @main({named}) -> tensor<{result}xf32> {{
        %0 = {body} : ({types}) -> tensor<{result}xf32>
        return %0 : tensor<{result}xf32>
      }} }}"""


IMAGES = "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"


@pytest.mark.parametrize(
    "text",
    [
        one_op('"stablehlo.tanh"(%a)', "1000x2048", "1000x2048"),
        one_op('"stablehlo.add"(%a, %b)', "2048x512", "2048x512", "2048x512"),
        one_op("stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]", "512x256", "512x100", "100x256"),
        one_op(
            "stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]",
            "4x70x96",
            "4x70x64",
            "4x64x96",
        ),
        one_op(
            f"stablehlo.convolution(%a, %b) {IMAGES}, window = {{pad = [[1, 1], [1, 1]]}} "
            "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}",
            "2x32x64x64",
            "2x32x64x32",
            "3x3x32x64",
        ),
        one_op(
            f"stablehlo.convolution(%a, %b) {IMAGES}, window = {{stride = [1, 1]}} "
            "{batch_group_count = 1 : i64, feature_group_count = 4 : i64}",
            "2x32x64x256",
            "2x32x64x128",
            "1x1x32x256",
        ),
        one_op("stablehlo.reshape %a", "8x256x2048", "2048x2048"),
        one_op("stablehlo.reshape %a", "8x250x2048", "2000x2048"),
        one_op("stablehlo.reshape %a", "4096x1024", "2048x2048"),
    ],
    ids=["tanh", "add", "dot", "dots", "convolution", "groups", "reshape", "padded reshape", "other rows"],
)
def test_on_one_chip_an_op_takes_what_the_clock_says(text: str) -> None:
    choice = get_optimal_module_least_time(text, (1, 1))
    program = compiled(with_mesh(text, (1, 1)), (1, 1), "enable-auto-sharding=true")
    clock = rt.runtime.estimate(program.binary, 0, "wormhole_b0", (1, 1))
    assert choice.chosen.time_ns == pytest.approx(clock.device_ns), [(op.name, op.device_ns) for op in clock.ops]


@pytest.mark.parametrize(
    ("body", "result", "cycles"),
    [
        ('"stablehlo.exponential"(%a)', "1024x1024", 640),
        ('"stablehlo.logistic"(%a)', "1024x1024", 256),
        ('"stablehlo.tanh"(%a)', "1024x1024", 530),
        ('"stablehlo.rsqrt"(%a)', "1024x1024", 1008),
        ('"stablehlo.negate"(%a)', "1024x1024", 128),
        ("stablehlo.reduce(%a init: %a) applies stablehlo.add across dimensions = [1]", "1024", 55),
    ],
)
def test_a_tile_takes_the_cycles_of_its_function(body: str, result: str, cycles: int) -> None:
    """The figures of docs/cost-model.md: of the vector unit by function, of the matrix unit for a reduction."""
    text = one_op(body, result, "1024x1024").replace("f32", "bf16")
    if "reduce" in body:
        zero = "%z = stablehlo.constant dense<0.0> : tensor<bf16>"
        text = text.replace("%0 =", f"{zero}\n        %0 =").replace("init: %a", "init: %z")
        text = text.replace("(tensor<1024x1024xbf16>) ->", "(tensor<1024x1024xbf16>, tensor<bf16>) ->")
    tiles_of_a_core = 1024 * 1024 // (32 * 32) // 64
    assert get_optimal_module_least_time(text, (1, 1)).chosen.compute_ns == pytest.approx(tiles_of_a_core * cycles)


def test_a_reshape_that_moves_no_byte_takes_nothing() -> None:
    free, moved = (
        get_optimal_module_least_time(one_op("stablehlo.reshape %a", to, "2048x2048"), (1, 1)).chosen.time_ns
        for to in ("8x256x2048", "4096x1024")
    )
    # At least 32 MB through DRAM at 267 GB/s.
    assert free == 0 and moved > 32e6 / 267e9 * 1e9


def test_annotations_stay() -> None:
    text = """module { func.func @main(
      %a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<64x64xf32>)
      -> tensor<64x64xf32> {
        %0 = stablehlo.add %a, %b : tensor<64x64xf32>
        return %0 : tensor<64x64xf32>
      } }"""
    choice = get_optimal_module_least_time(with_mesh(text, (2, 4)))
    assert choice.arguments[0] == '#sdy.sharding<@mesh, [{}, {"y"}]>'


@pytest.mark.parametrize(
    ("text", "mesh", "dram_bytes", "message"),
    [
        (MODELS["mlp_gradients"].text, None, 0, "the module has no mesh; expected mesh_shape"),
        (MODELS["mlp_gradients"].text, (0, 2), 0, r"mesh_shape is \(0, 2\); expected sizes of 1 or more"),
        (MODELS["mlp_gradients"].text, (1, 2), -1, "dram_bytes is -1; expected 0 or more"),
        (with_mesh(MODELS["mlp_gradients"].text, (1, 2)), (2, 2), 0, "the module has a mesh already"),
    ],
)
def test_refused(text: str, mesh: Any, dram_bytes: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get_optimal_module_least_time(text, mesh, dram_bytes=dram_bytes)
