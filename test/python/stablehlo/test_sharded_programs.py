# SPDX-License-Identifier: Apache-2.0
"""Programs with shardings at their arguments: partitioned and run on a mesh, compared with the same on one device."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import _ttmlir_runtime as rt
import numpy as np
import pytest
import torch
from sharded_ops import INSIDE, NO_PROGRAM, OPS, convolution, select_and_scatter
from sharded_ops import program as one_op
from sharded_programs import PROGRAMS, Mesh, Program, Split, compiled, run, splits_of, tensor
from ttrt.ops import registry

MESHES: tuple[Mesh, ...] = ((1, 2), (2, 2), (2, 4))
SAMPLES = 6
ALL = PROGRAMS | {f"stablehlo.{name}": program for name, program in OPS.items()}


def inputs_of(program: Program) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    return [torch.rand(shape, generator=generator) * 2 - 1 for shape in program.shapes]


def annotations(program: Program, mesh: Mesh, seed: int, most: int) -> list[tuple[Split | None, ...]]:
    """Each argument alone in each way, or `most` of these; and some of all arguments at once."""
    ways = [[None, *splits_of(shape, mesh)] for shape in program.shapes]
    found: list[tuple[Split | None, ...]] = []
    for index, mine in enumerate(ways):
        found += [tuple(split if i == index else None for i in range(len(ways))) for split in mine[1:]]
    if len(found) > most:
        found = random.Random(seed).sample(found, most)
    chosen = random.Random(f"{mesh}{seed}")
    return found + [tuple(chosen.choice(mine) for mine in ways) for _ in range(SAMPLES)]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m[0]}x{m[1]}")
@pytest.mark.parametrize("name", ALL)
def test_same_as_on_one_device(name: str, mesh: Mesh, request: pytest.FixtureRequest) -> None:
    program, seed = ALL[name], request.config.getoption("--seed")
    most = 1000 if request.config.getoption("--slow") else 40 if name in PROGRAMS else 8
    inputs = inputs_of(program)
    whole = [shards[0] for shards in run(compiled(program.text(), (1, 1)), inputs, [None] * len(inputs), (1, 1))]
    for splits in annotations(program, mesh, seed, most):
        outputs = run(compiled(program.text(splits, mesh), mesh), inputs, splits, mesh)
        for index, (expected, found) in enumerate(zip(whole, outputs, strict=True)):
            where = f"{name} on {mesh}, arguments {splits}, result {index}, --seed={seed}"
            assert len({tuple(s.shape) for s in found}) == 1 and found[0].shape == expected.shape, where
            for shard in found:
                if program.exact:
                    assert torch.equal(expected, shard), where
                else:
                    scale = (expected.max() - expected.min()).item()
                    assert (expected - shard).abs().max().item() <= 1e-5 * scale, where


def test_each_op_is_in_a_program() -> None:
    names = {op.name.partition(".")[2] for op in registry() if op.name.startswith("stablehlo.")}
    having = {name.split()[0].rstrip(",") for name in OPS} | INSIDE.keys()
    assert not names - having - NO_PROGRAM.keys(), "in no program of sharded_ops.py, without a reason"
    assert not having & NO_PROGRAM.keys(), "in a program, and in NO_PROGRAM"
    assert not NO_PROGRAM.keys() - names, "in NO_PROGRAM and in no dialect"
    for name, where in INSIDE.items():
        assert f"stablehlo.{name} " in OPS[where].body


# ---------------------------------------------------------------------- windows, compared with loops over the whole
# operand

WINDOW_MESHES: tuple[Mesh, ...] = ((1, 2), (2, 2), (1, 4), (1, 8))
WINDOWS, SLOW_WINDOWS = 24, 200
FUNCTIONS: dict[str, tuple[float, Callable]] = {"add": (0, np.add), "maximum": (-(2**30), np.maximum)}


@dataclass(frozen=True)
class Window:
    """Along one dimension."""

    size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    base: int = 1  # dilation of the operand
    gap: int = 1  # dilation of the window

    def results(self, n: int) -> int:
        extent = (self.size - 1) * self.gap + 1
        return ((n - 1) * self.base + 1 + self.low + self.high - extent) // self.stride + 1


def surrounded(x: np.ndarray, windows: Sequence[Window], fill: float) -> np.ndarray:
    """Padded and dilated; a negative padding cuts off."""
    for dim, window in enumerate(windows):
        length = (x.shape[dim] - 1) * window.base + 1
        shape = list(x.shape)
        shape[dim] = window.low + length + window.high
        wide = np.full(shape, fill, x.dtype)
        for i in range(x.shape[dim]):
            at = window.low + i * window.base
            if 0 <= at < shape[dim]:
                wide[(slice(None),) * dim + (at,)] = x[(slice(None),) * dim + (i,)]
        x = wide
    return x


def places(windows: Sequence[Window], at: Sequence[int]) -> tuple[slice, ...]:
    return tuple(
        slice(i * w.stride, i * w.stride + (w.size - 1) * w.gap + 1, w.gap) for i, w in zip(at, windows, strict=True)
    )


def reduced(x: np.ndarray, windows: Sequence[Window], name: str) -> np.ndarray:
    start, function = FUNCTIONS[name]
    wide = surrounded(x, windows, start)
    result = np.empty([w.results(n) for w, n in zip(windows, x.shape, strict=True)], x.dtype)
    for at in np.ndindex(*result.shape):
        result[at] = function.reduce(wide[places(windows, at)], axis=None)
    return result


def convolved(x: np.ndarray, kernel: np.ndarray, windows: Sequence[Window]) -> np.ndarray:
    """x: batch, rows, columns, features; kernel: rows, columns, features of x, features of the result."""
    wide = surrounded(x, [Window(1), *windows, Window(1)], 0)
    rows, columns = (w.results(n) for w, n in zip(windows, x.shape[1:3], strict=True))
    result = np.empty([x.shape[0], rows, columns, kernel.shape[3]], x.dtype)
    for n, i, j, o in np.ndindex(*result.shape):
        result[n, i, j, o] = (wide[(n, *places(windows, (i, j)))] * kernel[..., o]).sum()
    return result


def listed(values: Sequence[object]) -> str:
    return f"[{', '.join(map(str, values))}]"


def text(name: str, windows: Sequence[Window], shape: Sequence[int], kernel: Sequence[int], isInteger: bool) -> Program:
    """Returns a program of f32 arguments, or of integers if `computed` has these."""
    sizes = [w.results(n) for w, n in zip(windows, shape[1:3] if kernel else shape, strict=True)]
    result = (shape[0], *sizes, kernel[3]) if kernel else tuple(sizes)
    element = "i32" if isInteger else "f32"
    of = lambda dims: tensor(dims).replace("f32", element)  # noqa: E731
    shapes = (tuple(shape), tuple(kernel)) if kernel else (tuple(shape),)
    lines, names = [], []
    for index, each in enumerate(shapes):
        names.append(f"%b{index}" if isInteger else f"%a{index}")
        if isInteger:
            lines.append(f"%b{index} = stablehlo.convert %a{index} : ({tensor(each)}) -> {of(each)}")
    pads = listed([listed([w.low, w.high]) for w in windows])
    if name == "convolution":
        fields = [("stride", "stride"), ("lhs_dilate", "base"), ("rhs_dilate", "gap")]
        window = ", ".join(f"{key} = {listed([getattr(w, field) for w in windows])}" for key, field in fields)
        lines.append(
            f"""%c = stablehlo.convolution({", ".join(names)}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {{{window}, pad = {pads}}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
            : ({of(shape)}, {of(kernel)}) -> {of(result)}"""
        )
    else:
        start = FUNCTIONS[name][0]
        lines.append(f"%start = stablehlo.constant dense<{start if isInteger else float(start)}> : {of(())}")
        fields = [("dimensions", "size"), ("strides", "stride"), ("dilations", "gap")]
        window = ", ".join(
            f"window_{key} = array<i64: {', '.join(str(getattr(w, field)) for w in windows)}>" for key, field in fields
        )
        lines.append(
            f"""%c = "stablehlo.reduce_window"({names[0]}, %start) <{{{window},
            padding = dense<{pads}> : tensor<{len(windows)}x2xi64>}}> ({{
            ^bb0(%l: {of(())}, %m: {of(())}):
              %n = stablehlo.{name} %l, %m : {of(())}
              stablehlo.return %n : {of(())}
            }}) : ({of(shape)}, {of(())}) -> {of(result)}"""
        )
    if isInteger:
        lines.append(f"%r = stablehlo.convert %c : ({of(result)}) -> {tensor(result)}")
    lines.append(f"return {'%r' if isInteger else '%c'} : {tensor(result)}")
    return Program("\n".join(lines), shapes, (tensor(result),), exact=isInteger or name == "maximum")


def random_window(rng: random.Random, n: int, isDilated: bool) -> Window:
    """Most have as many results as elements, a half or third of them, or twice as many: what may be split."""
    while True:
        size, gap = rng.choice([1, 2, 3, 3, 5, 7]), rng.choice([1, 1, 1, 2])
        stride, base = (1, rng.choice([1, 2, 3])) if isDilated else (rng.choice([1, 1, 2, 3]), 1)
        extent = (size - 1) * gap + 1
        both = (n * base // stride - 1) * stride + extent - ((n - 1) * base + 1)  # padding for so many results
        low = rng.randint(min(0, both), max(0, both))
        if rng.random() < 0.2:
            low, both = rng.randint(0, extent - 1), rng.randint(0, 2 * extent - 2)
        window = Window(size, stride, low, both - low, base, gap)
        # What the compiler takes of an operand that is whole.
        if window.results(n) > 0 and (
            (base == 1 and min(low, both - low) > -n) or 0 <= min(low, both - low) <= max(low, both - low) < extent
        ):
            return window


def random_case(rng: random.Random) -> tuple[str, list[Window], tuple[int, ...], tuple[int, ...], bool]:
    """Convolutions of integers, and those with strides of dilated operands, are refused, split or not."""
    rows, columns = rng.choice([(16, 8), (8, 16), (24, 4), (12, 6), (10, 7)])
    name = rng.choice(["convolution", "convolution", "add", "maximum"])
    isConvolution = name == "convolution"
    isDilated = isConvolution and rng.random() < 0.4
    windows = [random_window(rng, n, isDilated) for n in (rows, columns)]
    if isConvolution:
        return name, windows, (2, rows, columns, 3), (windows[0].size, windows[1].size, 3, 4), False
    return name, windows, (rows, columns), (), rng.random() < 0.5


def ways(shape: Sequence[int], mesh: Mesh) -> list[Split]:
    return [split for split in splits_of(shape, mesh) if any(split)]


@pytest.mark.parametrize("mesh", WINDOW_MESHES, ids=lambda m: f"{m[0]}x{m[1]}")
def test_random_windows(mesh: Mesh, request: pytest.FixtureRequest) -> None:
    seed = request.config.getoption("--seed")
    rng = random.Random(f"{mesh} {seed}")
    for number in range(SLOW_WINDOWS if request.config.getoption("--slow") else WINDOWS):
        name, windows, shape, kernel, isInteger = random_case(rng)
        program = text(name, windows, shape, kernel, isInteger)
        arrays = [
            np.array(
                [rng.randint(-9, 9) / (1 if isInteger else 8) for _ in range(int(np.prod(each)))], np.float32
            ).reshape(each)
            for each in program.shapes
        ]
        expected = convolved(arrays[0], arrays[1], windows) if kernel else reduced(arrays[0], windows, name)
        split = rng.choice(ways(shape, mesh) or [("",) * len(shape)])
        splits = [split, None][: len(arrays)]
        inputs = [torch.from_numpy(array) for array in arrays]
        where = f"case {number} of --seed={seed}: {name} {windows} of {shape}, integers {isInteger}, {split} on {mesh}"
        try:
            outputs = run(compiled(program.text(splits, mesh), mesh), inputs, splits, mesh)
        except Exception as error:
            raise AssertionError(f"{where}\n{program.text(splits, mesh)}") from error
        for found in outputs[0]:
            limit = 0.0 if program.exact else 1e-5 * max(1.0, float(expected.max() - expected.min()))
            assert found.shape == expected.shape and np.abs(found.numpy() - expected).max(initial=0) <= limit, where


def sends_of(program: Program, splits: Sequence[Split | None], mesh: Mesh) -> dict[str, int]:
    """Bytes between chips, by the name of the op that sends them."""
    binary = compiled(program.text(splits, mesh), mesh).binary
    names = [op["name"] for op in json.loads(binary.as_json())["programs"][0]["operations"]]
    found: dict[str, int] = {}
    for op in rt.runtime.sends(binary, 0):
        for send in op.sends:
            found[names[op.index]] = found.get(names[op.index], 0) + send.bytes
    return found


@pytest.mark.parametrize("chips", [2, 4, 8])
def test_reversal_comes_from_one_chip(chips: int) -> None:
    """From the one at the same place from the other end; a gather would send all of it to all."""
    reverse = one_op("%r = stablehlo.reverse %a0, dims = [0] : t<64x32x32>", (64, 32, 32), result="t<64x32x32>")
    assert sends_of(reverse, [("y", "", "")], (1, chips)) == {"ttnn.collective_permute": 64 * 32 * 32 * 4}


@pytest.mark.parametrize("chips", [2, 4, 8])
def test_windows_that_do_not_overlap_scatter_on_their_chip(chips: int) -> None:
    scatter = select_and_scatter((64, 32), (16, 16), "4, 2", "4, 2", "0")
    assert not sends_of(scatter, [("y", ""), ("y", "")], (1, chips))


@pytest.mark.parametrize("chips", [2, 4, 8])
@pytest.mark.parametrize(("stride", "sent"), [(1, 1 + 1), (2, 1 + 0)])
def test_gradients_of_kernels_are_sums_over_parts_of_images(stride: int, sent: int, chips: int) -> None:
    """Sends edges of images of 64 rows, and the sums: 3x3 for each of 32 x 32 features."""
    gradient = convolution(
        (2, 64, 32, 32),
        (2, 64 // stride, 32, 32),
        (32, 3, 3, 32),
        f"pad = [[1, {2 - stride}], [1, 1]], rhs_dilate = [{stride}, 1]",
        dims="[f, 0, 1, b]x[i, 0, 1, o]->[b, 0, 1, f]",
    )
    found = sends_of(gradient, [("", "y", "", ""), ("", "y", "", "")], (1, chips))
    edges, sums = found.pop("ttnn.collective_permute"), found.pop("ttnn.all_reduce")
    assert not found
    assert edges == (chips - 1) * sent * 2 * 32 * 32 * 4
    # Rings whose chips send parts of the sums to all others, twice; of 3 rows, tiles have 32.
    assert 0 < sums <= 2 * (chips - 1) * 32 * 3 * 32 * 32 * 4


@pytest.mark.parametrize("chips", [2, 4, 8])
@pytest.mark.parametrize(
    ("window", "sent"),
    [
        (Window(3, low=1, high=1), 1 + 1),
        (Window(5, low=2, high=2), 2 + 2),
        (Window(3, gap=2, low=2, high=2), 2 + 2),
        (Window(4, low=0, high=3), 3),
        (Window(4, stride=2, low=1, high=1), 1 + 1),
        (Window(2, stride=2), 0),
        (Window(4, base=2, low=2, high=2), 1 + 1),
    ],
)
def test_devices_send_edges_only(window: Window, sent: int, chips: int) -> None:
    """Rows of 64 places of 32 features, to each neighbour those that it lacks; a gather would send them all to all."""
    mesh = (1, chips)
    program = text("convolution", [window, Window(1)], (1, 64, 64, 32), (window.size, 1, 32, 32), False)
    binary = compiled(program.text([("", "y", "", ""), None], mesh), mesh).binary
    sends = [send for op in rt.runtime.sends(binary, 0) for send in op.sends]
    assert all(abs(send.route[0] - send.route[-1]) == 1 == send.hops for send in sends)
    assert sum(send.bytes for send in sends) == (chips - 1) * sent * 64 * 32 * 4
