# SPDX-License-Identifier: Apache-2.0
"""Options of ttir-to-ttmetal-pipeline that change kernels: results are those of the goldens."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module
from builder.execution.verdicts import Verdict, compare_shards
from op_cases import clone, device, execute
from ttmlir import passes
from ttmlir.ir import MLIRError

Build = Callable[..., Any]
SMALL_L1 = "test-assume-l1-capacity=250000"
OPTIONS = [
    "",
    "use-tile-matmul=true",
    "matmul-interchange=1,0,2",
    f"matmul-interchange=1,0,2 test-buffer-size-policy=min {SMALL_L1}",
    f"disable-l1-acc=true {SMALL_L1}",
    "disable-l1-acc=true test-buffer-size-policy=min",
    "test-buffer-size-policy=min",
    "test-buffer-size-policy=max",
    "stream-insert-policy=always",
    "stream-insert-policy=always test-buffer-size-policy=min",
    "force-compile-time-args=true",
    "default-input-memspace=dram",
    "default-output-memspace=dram",
    "default-input-memspace=dram default-output-memspace=dram force-compile-time-args=true",
    "allow-l1-output-spilling=false",
    SMALL_L1,
    "available-l1-addr-range=200000,330000",
    "enable-eltwise-reduction-fusion=true",
    f"enable-eltwise-reduction-fusion=true default-input-memspace=dram {SMALL_L1}",
    "use-tensor-accessor-dma=true default-input-memspace=dram default-output-memspace=dram",
    "use-tensor-accessor-dma=true force-spill-to-dram-if-legal=true force-compile-time-args=true",
    "collapse-tensors-2d=false",
    "insert-profiler-traces=true",
    "insert-profiler-traces=true profiler-traits=all",
]


def lowered(build: Build, shapes: list[tuple[int, ...]], dtype: torch.dtype, options: str) -> tuple[Any, Any]:
    def module(builder: Any) -> None:
        def f(*arguments: Any) -> Any:
            return build(arguments[-1], *arguments[:-1])

        builder.func(shapes, [dtype] * len(shapes))(f)

    made, builder = build_module(module, "ttir")
    metal = clone(made)
    passes.ttir_to_ttmetal_pipeline(metal, options)
    return metal, builder.golden_map[0][0]


def check(build: Build, shapes: list[tuple[int, ...]], dtype: torch.dtype, options: str) -> None:
    metal, golden = lowered(build, shapes, dtype, options)
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    found = execute(binary, 0, golden.inputs, (1, 1))
    for expected, shards in zip(golden.outputs, found, strict=True):
        largest = float(expected.shard_at(0).abs().max())
        for _, _, comparison in compare_shards(expected, shards, Verdict(atol=1e-5 * largest, check_atol=True), True):
            assert comparison.within, str(comparison)


@pytest.mark.parametrize("grid", ["1,1", "8,8"])
@pytest.mark.parametrize("options", OPTIONS)
def test_layer(options: str, grid: str) -> None:
    """A product in several steps of K, broadcasts, a reduction and data movement."""

    def build(b: Any, x: Any, w: Any, bias: Any) -> Any:
        y = b.gelu(b.add(b.matmul(x, w), bias))
        return b.multiply(b.permute(y, [1, 0]), b.transpose(b.sum(y, dim_arg=[1], keep_dim=True), 0, 1))

    check(build, [(96, 320), (320, 200), (200,)], torch.float32, f"override-device-shape={grid} {options}".strip())


@pytest.mark.parametrize("shape", [(3, 96, 64), (2, 3, 160, 32), (7, 32, 40), (5, 3, 33, 20)])
def test_whole_matrices(shape: tuple[int, ...]) -> None:
    """Parts of cores that are whole matrices, or parts of one: products, reductions, broadcasts, other shapes."""

    def build(b: Any, x: Any, y: Any) -> Any:
        products = b.matmul(x, y, transpose_b=True)
        z = b.multiply(b.softmax(products, dimension=-1), b.max(products, dim_arg=[-2], keep_dim=True))
        z = b.add(b.matmul(z, y), b.sum(x, dim_arg=[0], keep_dim=True))
        turned = b.permute(b.subtract(z, b.exp(x)), [*range(1, len(shape)), 0])
        return b.reshape(turned, [math.prod(shape) // shape[0], shape[0]])

    check(build, [shape, shape], torch.float32, "collapse-tensors-2d=false")


@pytest.mark.parametrize("shapes", [((64, 512), (512, 96)), ((2, 3, 33, 70), (70, 65)), ((4, 40, 48), (4, 48, 36))])
@pytest.mark.parametrize("options", ["", SMALL_L1, "disable-l1-acc=true", "test-buffer-size-policy=min"])
def test_products_of_integers_wrap(options: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    """All bits of a product of i32 agree with torch's, which is modulo 2^32."""

    def build(b: Any, x: Any, y: Any) -> Any:
        return b.matmul(x, y)

    metal, _ = lowered(build, list(shapes), torch.int32, options)
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randint(-(2**31), 2**31, shape, generator=generator).to(torch.int32) for shape in shapes)
    x.view(-1)[:3] = torch.tensor([-(2**31), 2**31 - 1, -1])
    outputs = rt.runtime.submit(device(), binary, 0, [rt.runtime.create_host_tensor(each) for each in (x, y)])
    found = torch.from_dlpack(rt.runtime.to_host(outputs[0])[0])
    wide = torch.matmul(x.double() % 2**16, y.double() % 2**16)  # a check of the low bits in another way
    expected = torch.matmul(x, y)
    assert torch.equal(found, expected)
    assert torch.equal(found.to(torch.int64) % 2**16, wide.to(torch.int64) % 2**16)


def test_no_other_order_of_loops() -> None:
    with pytest.raises(MLIRError, match="matmul-interchange=0,2,1 is no order of the loops of a product"):
        lowered(lambda b, x: b.exp(x), [(32, 32)], torch.float32, "matmul-interchange=0,2,1")
