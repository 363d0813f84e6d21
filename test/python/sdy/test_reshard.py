# SPDX-License-Identifier: Apache-2.0
"""Reshards as collectives, run on arrays of element numbers; never more exchanges than a search over all ways takes."""

from __future__ import annotations

import math
import random
import re

import numpy as np
import pytest
from meshes import Dims, Mesh, fewest_exchanges, random_cuts, random_dims, read_dims, read_parts, sharding_text, shards
from ttmlir.ir import Context, Module
from ttmlir.passmanager import PassManager

MESHES = [
    Mesh({"x": 2, "y": 2}),
    Mesh({"x": 2, "y": 4}),
    Mesh({"x": 2, "y": 2, "z": 2}),
    Mesh({"x": 2, "y": 3}),
    Mesh({"x": 6, "y": 2}),
    Mesh({"x": 8}),
]
PAIRS, SLOW_PAIRS = 40, 112  # for each mesh and rank: 720, and 2,016


def lowered(mesh: Mesh, shape: tuple[int, ...], pairs: list[tuple[Dims, Dims]]) -> list[str]:
    """Returns the pass's output for one reshard of each pair, as text."""
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.axes.items())
    tensor = f"tensor<{'x'.join(map(str, shape))}xi32>"
    text = f"sdy.mesh @m = <[{axes}]>\n"
    for number, (source, target) in enumerate(pairs):
        before, after = sharding_text(mesh, source), sharding_text(mesh, target)
        text += f"""func.func @f{number}(%a: {tensor} {{sdy.sharding = #sdy.sharding<@m, [{before}]>}}) -> {tensor} {{
            %0 = sdy.reshard %a <@m, [{after}]> : {tensor}
            return %0 : {tensor}
        }}\n"""
    with Context():
        module = Module.parse(text)
        PassManager.parse("builtin.module(func.func(sdy-reshard-to-collectives))").run(module.operation)
        module.operation.verify()
        return str(module).split("func.func")[1:]


def run(mesh: Mesh, whole: np.ndarray, source: Dims, target: Dims, function: str) -> int:
    """Runs the ops of a function and checks what each leaves on each device; the number of exchanges."""
    data = [mesh.local(whole, device, source) for device in mesh.devices]
    largest = max(data[0].size, mesh.local(whole, mesh.devices[0], target).size)
    current, exchanges = source, 0
    pattern = r"sdy\.(\w+) (?:\[(.*?)\] )?%\w+ out_sharding=<@m, \[(.*?)\]>"
    for name, argument, out in re.findall(pattern, function):
        after = read_dims(mesh, out)
        if name == "all_slice":
            data = mesh.slice(data, read_dims(mesh, argument))
        elif name == "all_gather":
            data = mesh.gather(data, read_dims(mesh, argument))
        elif name == "all_to_all":
            moves = re.findall(r"\{([^}]*)\}: (\d+)->(\d+)", argument)
            data = mesh.all_to_all(data, [(read_parts(mesh, axes), int(s), int(t)) for axes, s, t in moves])
        else:
            assert name == "collective_permute"
            data = mesh.permute(data, current, after)
        exchanges += name != "all_slice"
        for part, device in zip(data, mesh.devices, strict=True):
            np.testing.assert_array_equal(part, mesh.local(whole, device, after), err_msg=function)
        assert data[0].size <= largest, function
        current = after
    assert [shards(parts) for parts in current] == [shards(parts) for parts in target]
    for part, device in zip(data, mesh.devices, strict=True):
        np.testing.assert_array_equal(part, mesh.local(whole, device, target), err_msg=function)
    return exchanges


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("mesh", MESHES, ids=lambda mesh: "x".join(map(str, mesh.axes.values())))
def test_random_reshards(mesh: Mesh, rank: int, request: pytest.FixtureRequest) -> None:
    seed = 1000 * rank + sum(mesh.axes.values()) + request.config.getoption("--seed")
    rng = random.Random(seed)
    shape = (math.prod(mesh.axes.values()),) * rank
    pairs = []
    for _ in range(SLOW_PAIRS if request.config.getoption("--slow") else PAIRS):
        cuts = random_cuts(rng, mesh)
        pairs.append((random_dims(rng, mesh, rank, cuts), random_dims(rng, mesh, rank, cuts)))
    whole = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    for (source, target), function in zip(pairs, lowered(mesh, shape, pairs), strict=True):
        assert "sdy.reshard" not in function
        exchanges = run(mesh, whole, source, target, function)
        best = fewest_exchanges(mesh, shape, source, target)
        assert exchanges <= best, f"{exchanges} exchanges where {best} do, seed {seed}:\n{function}"


def test_parts_without_a_common_split() -> None:
    """An axis of 6 as 2x3 and as 3x2: parts of the one are not parts of the other."""
    mesh = Mesh({"x": 6, "y": 2})
    rng = random.Random(7)
    cuts = [{"x": 2, "y": 1}, {"x": 3, "y": 1}]
    pairs = [(random_dims(rng, mesh, 2, cuts[0]), random_dims(rng, mesh, 2, cuts[1])) for _ in range(PAIRS)]
    pairs.append((((("x", 1, 3),), ()), ((("x", 2, 3),), ())))
    whole = np.arange(144).reshape(12, 12)
    for (source, target), function in zip(pairs, lowered(mesh, (12, 12), pairs), strict=True):
        run(mesh, whole, source, target, function)


@pytest.mark.parametrize(
    ("source", "target", "ops"),
    [
        ('{"x", "y"}, {}', '{"x"}, {}', ["all_gather"]),
        ("{}, {}", '{"x"}, {}', ["all_slice"]),
        ('{"x"}, {}', '{}, {"x"}', ["all_to_all"]),
        ('{"x"}, {}', '{"y"}, {}', ["collective_permute"]),
        ('{"x"}, {"y"}', '{"y"}, {"x"}', ["collective_permute"]),
        ('{"x", "y"}, {}', '{"y"}, {"x"}', ["collective_permute", "all_to_all"]),
        ('{"x"}, {}', '{"y"}, {"x"}', ["all_slice", "collective_permute"]),
        ('{"x"}, {}', '{"x"}, {}', []),
        ('{"x"}, {"y"}', "{}, {}", ["all_gather"]),
    ],
)
def test_known_reshards(source: str, target: str, ops: list[str]) -> None:
    mesh = Mesh({"x": 2, "y": 2})
    [function] = lowered(mesh, (8, 8), [(read_dims(mesh, source), read_dims(mesh, target))])
    assert re.findall(r"sdy\.(\w+) (?:\[|%)", function) == ops


def test_sizes_that_only_some_counts_divide() -> None:
    """6 rows take two parts, not four: what comes in between must divide, too."""
    mesh = Mesh({"x": 2, "y": 2})
    source, target = read_dims(mesh, '{}, {"x", "y"}'), read_dims(mesh, '{"x"}, {}')
    whole = np.arange(48).reshape(6, 8)
    [function] = lowered(mesh, (6, 8), [(source, target)])
    assert run(mesh, whole, source, target, function) <= fewest_exchanges(mesh, (6, 8), source, target)
