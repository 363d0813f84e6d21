# SPDX-License-Identifier: Apache-2.0
"""target="ttmetal": kernels that several elementwise ops share, and operands that are broadcast within kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module
from op_cases import clone, device, execute
from test_ttmetal_grid import Build, check
from ttmlir import passes

# A shape and those that are broadcast to it: rows, columns, values, batches of whole tiles and of parts of tiles.
BROADCASTS: list[tuple[tuple[int, ...], list[tuple[int, ...]]]] = [
    ((40, 70), [(1, 70), (70,), (40, 1), (1, 1), (1,), ()]),
    ((2, 64, 96), [(1, 64, 96), (64, 96), (2, 1, 96), (2, 64, 1), (1, 64, 1), (64, 1), (1, 1, 96), (96,)]),
    ((2, 33, 50), [(1, 33, 50), (2, 1, 50), (2, 33, 1), (33, 1), (1, 1, 50), (2, 1, 1)]),
    ((3, 2, 32, 1), [(1, 2, 32, 1), (3, 1, 32, 1), (2, 1, 1), (1, 1, 1, 1)]),
    ((2, 3, 32, 40), [(2, 1, 32, 40), (1, 3, 32, 1), (3, 32, 40), (2, 1, 1, 40), (2, 3, 1, 1), (32, 40)]),
    ((1024, 1056), [(1, 1056), (1024, 1), (1, 1)]),
    ((1, 1), [(1,), ()]),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
def test_broadcasts(dtype: torch.dtype) -> None:
    """Both operands of a subtraction, on both sides, and an explicit broadcast."""

    def explicit(shape: Sequence[int], other: Sequence[int]) -> Build:
        padded = [1] * (len(shape) - len(other)) + list(other)
        sizes = [whole // size for whole, size in zip(shape, padded, strict=True)]
        return lambda b, x: b.broadcast(x, broadcast_dimensions=sizes)

    cases: list[tuple[str, Sequence[tuple[int, ...]], Build]] = []
    for shape, others in BROADCASTS:
        for other in others:
            cases.append((f"{shape} - {other}", [shape, other], lambda b, x, y: b.subtract(x, y)))
            cases.append((f"{other} - {shape}", [other, shape], lambda b, x, y: b.subtract(x, y)))
            if len(other) == len(shape):
                cases.append((f"{other} to {shape}", [other], explicit(shape, other)))
    check(cases, dtype)


def both(b: Any, x: Any, y: Any) -> Any:
    """The two operands are each broadcast."""
    return b.maximum(b.exp(x), y)


def shared(b: Any, x: Any, y: Any) -> Any:
    """Values that several ops of a kernel read, an operand of them and a result."""
    square = b.multiply(x, x)
    return b.add(b.subtract(square, b.neg(x)), b.multiply(square, b.add(y, square)))


def deep(b: Any, x: Any, y: Any) -> Any:
    """More values at a time than there are registers, in whatever order."""
    leaves = [b.add(x, y), b.subtract(x, y), b.multiply(x, y), b.maximum(x, y)] * 4
    values = [op(leaf) for op, leaf in zip([b.neg, b.abs, b.sigmoid, b.tanh] * 4, leaves, strict=True)]
    while len(values) > 1:
        values = [b.add(first, second) for first, second in zip(values[::2], values[1::2], strict=True)]
    return values[0]


def mixed(b: Any, x: Any, y: Any) -> Any:
    """A sum in bf16 and its exponential in f32."""
    total = b.typecast(
        b.add(b.typecast(x, output_type=torch.bfloat16), b.typecast(y, output_type=torch.bfloat16)),
        output_type=torch.float32,
    )
    return b.add(b.exp(b.multiply(total, total)), x)


def choice(b: Any, x: Any, y: Any) -> Any:
    return b.where(b.lt(x, y), b.sin(x), b.clamp_scalar(y, min_arg=-0.5, max_arg=0.25))


CHAINS: list[tuple[str, Sequence[tuple[int, ...]], Build]] = [
    (f"{build.__name__} {shapes}", shapes, build)
    for build in (both, shared, deep, mixed, choice)
    for shapes in ([(50, 70), (50, 70)], [(50, 70), (1, 70)], [(2, 32, 1), (2, 32, 40)])
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_chains(dtype: torch.dtype) -> None:
    check(CHAINS, dtype)


def test_chains_of_integers() -> None:
    check([(name, shapes, build) for name, shapes, build in CHAINS if name.startswith("shared")], torch.int32)


@pytest.mark.parametrize("name", ["sum", "max"])
def test_more_tiles_of_a_core_than_its_buffers_hold(name: str) -> None:
    """Each core joins many pairs of tiles, whose order the loads keep."""
    shapes = [(2, 352, 3), (3, 544, 40), (33, 2, 16, 3)]
    dims = [0, 0, 1]
    check(
        [
            (f"{name} {shape}", [shape], lambda b, x, dim=dim: getattr(b, name)(x, dim_arg=[dim], keep_dim=True))
            for shape, dim in zip(shapes, dims, strict=True)
        ],
        torch.float32,
    )


def test_reductions_of_whole_tiles_without_the_dimensions() -> None:
    cases: list[tuple[str, Sequence[tuple[int, ...]], Build]] = []
    for shape in [(32, 32), (64, 96), (2, 32, 64), (1, 64)]:
        for dims in ([-1], [-2], [-2, -1]):
            if shape[dims[0]] > 1:
                cases.append(
                    (f"{shape} {dims}", [shape], lambda b, x, dims=dims: b.sum(x, dim_arg=dims, keep_dim=False))
                )
    check(cases, torch.float32)


def test_numbers_of_kernels() -> None:
    """Softmax, a norm and a biased activation take few kernels besides those that make and undo tiles."""

    def norm(b: Any, x: Any, w: Any) -> Any:
        mean = b.mean(x, dim_arg=[1], keep_dim=True)
        centred = b.subtract(x, mean)
        variance = b.mean(b.multiply(centred, centred), dim_arg=[1], keep_dim=True)
        return b.multiply(b.multiply(centred, b.rsqrt(variance)), w)

    found = {}
    for name, build in {
        "bias": lambda b, x, w: b.gelu(b.add(x, w)),
        "norm": norm,
        "softmax": lambda b, x, w: b.softmax(b.multiply(x, w), dimension=1),
    }.items():

        def module(builder: Any, build: Build = build) -> None:
            @builder.func([(128, 256), (1, 256)], [torch.float32] * 2)
            def f(x: Any, w: Any, b: Any) -> Any:
                return build(b, x, w)

        built, _ = build_module(module, "ttir")
        metal = clone(built)
        passes.ttir_to_ttmetal_pipeline(metal)
        found[name] = str(metal).count("ttmetal.enqueue_program")
    assert found == {"bias": 4, "norm": 12, "softmax": 7}


def squares(b: Any, x: Any, y: Any) -> Any:
    return b.sum(b.multiply(x, y), dim_arg=[-1], keep_dim=True)


def exponentials(b: Any, x: Any, y: Any) -> Any:
    """As of a softmax whose quotients are not needed: a chain with a broadcast column."""
    return b.sum(b.exp(b.subtract(x, y)), dim_arg=[-1], keep_dim=True)


def columns(b: Any, x: Any, y: Any) -> Any:
    return b.max(b.add(b.abs(x), y), dim_arg=[-2], keep_dim=True)


def matrices(b: Any, x: Any, y: Any) -> Any:
    return b.mean(b.multiply(x, y), dim_arg=[-2, -1], keep_dim=True)


def leading(b: Any, x: Any, y: Any) -> Any:
    return b.sum(b.multiply(x, y), dim_arg=[0], keep_dim=True)


def norm(b: Any, x: Any, y: Any) -> Any:
    return b.rms_norm(b.add(x, y), [x.type.shape[-1]], epsilon=1e-2)


def constants(b: Any, x: Any, y: Any) -> Any:
    return b.sum(b.add(b.multiply(x, b.full(list(x.type.shape), x.type.element_type, 0.1)), y), dim_arg=[-1])


# Programs whose reductions read values of their own, and how many kernels disappear with f32 and with bf16.
REDUCED: list[tuple[Build, list[tuple[int, ...]], int, int]] = [
    (squares, [(64, 128), (64, 128)], 1, 1),
    (squares, [(3, 50, 64), (1, 1, 64)], 1, 1),
    (squares, [(64, 2048), (64, 2048)], 1, 1),  # in chunks
    (squares, [(2, 33, 1024), (2, 33, 1)], 1, 1),
    (exponentials, [(64, 256), (64, 1)], 1, 1),
    (columns, [(2, 128, 96), (2, 1, 96)], 1, 1),
    (matrices, [(2, 64, 96), (2, 64, 96)], 1, 2),
    (leading, [(40, 32, 64), (40, 32, 64)], 1, 1),
    (norm, [(64, 512), (64, 512)], 1, 1),
    (constants, [(64, 96), (64, 96)], 1, 1),
]


def bits_and_kernels(
    cases: Sequence[tuple[Build, Sequence[tuple[int, ...]]]], dtype: torch.dtype, options: str
) -> list[tuple[list[torch.Tensor], int, int]]:
    """Outputs, number of kernels, and the most bytes of L1 of programs of two operands."""

    def module(builder: Any) -> None:
        for number, (build, shapes) in enumerate(cases):

            def f(x: Any, y: Any, b: Any, build: Build = build) -> Any:
                return build(b, x, y)

            f.__name__ = f"case{number}"
            builder.func(list(shapes), [dtype] * len(shapes))(f)

    built, builder = build_module(module, "ttir")
    metal = clone(built)
    passes.ttir_to_ttmetal_pipeline(metal, options)
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    results = []
    rt.runtime.set_perf_recording(True)
    try:
        for index, goldens in builder.golden_map[0].items():
            found = [shards[0] for shards in execute(binary, index, goldens.inputs, (1, 1))]
            report = rt.runtime.last_run(device((1, 1)))
            kernels = sum(op.name == "EnqueueProgramCommand" for op in report.ops)
            results.append((found, kernels, report.l1_peak_bytes_per_bank))
    finally:
        rt.runtime.set_perf_recording(False)
    return results


FUSED = "enable-eltwise-reduction-fusion=true"


@pytest.mark.parametrize("options", ["", "override-device-shape=1,1", "force-spill-to-dram-if-legal=true"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_reductions_compute_what_they_alone_read(dtype: torch.dtype, options: str) -> None:
    """The same bits from fewer kernels."""
    cases = [(build, shapes) for build, shapes, *_ in REDUCED]
    separate = bits_and_kernels(cases, dtype, options)
    fused = bits_and_kernels(cases, dtype, f"{options} {FUSED}".strip())
    for (build, shapes, wide, narrow), (first, kernels, _), (second, fewer, _) in zip(
        REDUCED, separate, fused, strict=True
    ):
        what = f"{build.__name__} {shapes}"
        assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True)), what
        assert kernels - fewer == (wide if dtype is torch.float32 else narrow), what


def test_a_reduction_of_its_own_values_takes_less_memory() -> None:
    """The exponential of a product, half a MiB on one core, is never in a buffer as a whole."""

    def build(b: Any, x: Any, y: Any) -> Any:
        return b.sum(b.exp(b.matmul(x, y)), dim_arg=[-1], keep_dim=True)

    case, one_core = [(build, [(256, 32), (32, 512)])], "override-device-shape=1,1"
    [(_, _, separate)] = bits_and_kernels(case, torch.float32, one_core)
    [(_, _, fused)] = bits_and_kernels(case, torch.float32, f"{one_core} {FUSED}")
    assert separate >= 1 << 20
    assert fused < separate - (1 << 18)


def test_values_with_other_users_stay_in_buffers() -> None:
    def build(b: Any, x: Any, y: Any) -> Any:
        z = b.exp(b.multiply(x, y))
        return b.div(z, b.sum(z, dim_arg=[-1], keep_dim=True))

    case = [(build, [(64, 96), (64, 96)])]
    [([separate], kernels, _)] = bits_and_kernels(case, torch.float32, "")
    [([fused], same, _)] = bits_and_kernels(case, torch.float32, FUSED)
    assert torch.equal(separate, fused)
    assert kernels == same


def test_producers_of_producers_without_elementwise_fusion() -> None:
    """Only the last op of a chain is computed in the reduction; topk has long chains before its reductions."""

    def build(b: Any, x: Any, y: Any) -> Any:
        return b.topk(b.exp(b.sin(b.add(x, y))), k=4, dim=-1)[0]

    case = [(exponentials, [(64, 256), (64, 1)]), (build, [(3, 32), (3, 32)])]
    separate = bits_and_kernels(case, torch.float32, "enable-elementwise-fusion=false")
    fused = bits_and_kernels(case, torch.float32, f"enable-elementwise-fusion=false {FUSED}")
    for (first, kernels, _), (second, fewer, _) in zip(separate, fused, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
        assert fewer < kernels
