# SPDX-License-Identifier: Apache-2.0
"""target="ttmetal": tensors larger than the L1 of a core, or of all cores, which lie in DRAM, compared with torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module
from op_cases import device
from ttmlir import passes

Build = Callable[..., Any]
GRIDS = {"1x1": "1,1", "1x8": "1,8", "7x8": "7,8"}
# A core has room for 67 tiles of f32.
LITTLE = "test-assume-l1-capacity=380000"
# Of rank 1 to 5; more rows than columns of tiles, and the other way round; prime numbers of tiles.
SHAPES = [(20001,), (40, 6000), (3000, 130), (2, 500, 201), (3, 2, 150, 333), (2, 3, 2, 100, 257)]

# The calls of the builder, those of torch, and the largest relative error.
OPS: dict[str, tuple[Build, Callable[[torch.Tensor], torch.Tensor], float]] = {
    "chain": (lambda b, x: b.multiply(b.add(x, x), b.exp(x)), lambda x: (x + x) * x.exp(), 1e-5),
    "cast": (
        lambda b, x: b.typecast(b.typecast(x, output_type=torch.int32), output_type=torch.float32),
        lambda x: x.trunc(),
        0,
    ),
    "sum": (lambda b, x: b.sum(x, dim_arg=[-1], keep_dim=True), lambda x: x.sum(-1, keepdim=True), 1e-3),
    "max": (lambda b, x: b.max(x, dim_arg=[0], keep_dim=False), lambda x: x.amax(0), 0),
    "softmax": (lambda b, x: b.softmax(x, dimension=-1), lambda x: x.softmax(-1), 1e-5),
    "reverse": (lambda b, x: b.reverse(x, dimensions=[0]), lambda x: x.flip(0), 0),
    "concat": (lambda b, x: b.concat([x, b.abs(x)], dim=0), lambda x: torch.cat([x, x.abs()]), 0),
    "turned": (
        lambda b, x: b.permute(x, permutation=[*reversed(range(x.type.rank))]),
        lambda x: x.permute(*reversed(range(x.ndim))),
        0,
    ),
}


def compiled(build: Build, inputs: Sequence[torch.Tensor], options: str) -> tuple[Any, str]:
    """(binary, module) of one function."""

    def module(builder: Any) -> None:
        def f(*arguments: Any) -> Any:
            return build(arguments[-1], *arguments[:-1])

        builder.func([tuple(x.shape) for x in inputs], [x.dtype for x in inputs])(f)

    built, _ = build_module(module, "ttir")
    passes.ttir_to_ttmetal_pipeline(built, options)
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(built), allow_native=True)
    return binary, str(built)


def result(binary: Any, inputs: Sequence[torch.Tensor]) -> torch.Tensor:
    outputs = rt.runtime.submit(device(), binary, 0, [rt.runtime.create_host_tensor(x) for x in inputs])
    return torch.from_dlpack(rt.runtime.to_host(outputs[0])[0])


def check(build: Build, inputs: Sequence[torch.Tensor], expected: torch.Tensor, tolerance: float, options: str) -> str:
    binary, module = compiled(build, inputs, options)
    torch.testing.assert_close(result(binary, inputs), expected, rtol=tolerance, atol=tolerance)
    return module


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("op", OPS)
def test_values_of_tensors_in_dram(op: str, grid: str, shape: tuple[int, ...]) -> None:
    """On one core all of these are larger than its L1, and on most grids some are than that of all cores."""
    build, torchs, tolerance = OPS[op]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    module = check(build, [x], torchs(x), tolerance, f"override-device-shape={GRIDS[grid]} {LITTLE}")
    assert grid != "1x1" or "#dram>" in module


@pytest.mark.parametrize("other", [(1, 900), (500, 1), (3, 1, 1), (900,)], ids=lambda shape: "x".join(map(str, shape)))
@pytest.mark.parametrize("grid", GRIDS)
def test_operands_that_are_broadcast(grid: str, other: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(5)
    x, y = torch.randn(3, 500, 900, generator=generator), torch.randn(other, generator=generator)
    check(
        lambda b, x, y: b.add(b.exp(x), y), [x, y], x.exp() + y, 1e-5, f"override-device-shape={GRIDS[grid]} {LITTLE}"
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((300, 500), (500, 400)),
        ((40, 64), (64, 9000)),
        ((3000, 40), (40, 50)),
        ((3, 100, 300), (3, 300, 200)),
        ((2, 3, 100, 300), (300, 260)),
    ],
    ids=["square", "wide", "tall", "batch", "one-matrix"],
)
@pytest.mark.parametrize("grid", GRIDS)
def test_products(grid: str, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(7)
    x, y = torch.randn(a, generator=generator), torch.randn(b, generator=generator)
    check(lambda b, x, y: b.matmul(x, y), [x, y], x @ y, 1e-3, f"override-device-shape={GRIDS[grid]}")
    if a[-1] == 500:
        options = f"override-device-shape={GRIDS[grid]} force-spill-to-dram-if-legal=true"
        check(lambda b, x, y: b.matmul(x, y), [x, y], x @ y, 1e-3, options)


def test_more_than_all_cores_have() -> None:
    """120 MB, where 64 cores have 96 MB of L1; the second run has the values of its own inputs."""
    x = torch.arange(6000 * 5000, dtype=torch.float32).reshape(6000, 5000) % 1000
    binary, module = compiled(lambda b, x: b.add(b.multiply(x, x), x), [x], "")
    assert "#dram>" in module
    for values in (x, -x):
        assert torch.equal(result(binary, [values]), values * values + values)


def test_data_types_in_dram() -> None:
    generator = torch.Generator().manual_seed(9)
    for dtype in (torch.bfloat16, torch.int32, torch.uint8):
        x = torch.randint(0, 100, (70, 90), generator=generator).to(dtype)
        options = "override-device-shape=2,2 force-spill-to-dram-if-legal=true"
        check(lambda b, x: b.concat([b.add(x, x), x], dim=1), [x], torch.cat([x + x, x], 1), 0, options)
