# SPDX-License-Identifier: Apache-2.0
"""Strict devices: which data types and layouts the library takes, its exception, and the text of each refusal."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest
import torch
import ttnn
from ttnn.composites import COMPOSITES

# For each function the integer types of one tensor, or of two alike, that ttnn 0.81.1 takes.
INTEGERS = {
    "abs relu relu6": "int32 uint32 uint16 uint8",
    "acos asin asinh atan cbrt ceil cos erf erfc exp expm1 floor gelu hardsigmoid isfinite log log1p log2 mish": "",
    "reciprocal rsqrt sigmoid sign silu sin softmax sqrt tan tanh mean prod argmax": "",
    "bitwise_not max min sum": "int32 uint32",
    "logical_not": "int32 uint32 uint16",
    "neg": "int32",
}
PAIRS = {
    "add subtract multiply bitwise_and bitwise_or bitwise_xor": "int32 uint32 uint16",
    "logical_and logical_or logical_xor": "int32 uint32 uint16",
    "atan2 matmul": "",
    "divide": "int32",
    "eq ne lt le gt ge": "int32 uint32 uint16 uint8",
    "maximum minimum remainder": "int32 uint32",
}
TYPES = "int32 uint32 uint16 uint8"


@pytest.fixture(scope="module")
def strict() -> Iterator[ttnn.Device]:
    with ttnn.manage_device(0, strict=True) as device:
        yield device


def tensor(dtype: str, device: ttnn.Device, shape: tuple[int, ...] = (32, 32), layout: str = "TILE") -> ttnn.Tensor:
    layout_of = getattr(ttnn, f"{layout}_LAYOUT")
    return ttnn.from_torch(torch.ones(shape), getattr(ttnn, dtype), layout=layout_of, device=device)


def runs(name: str, *operands: ttnn.Tensor) -> bool:
    try:
        getattr(ttnn, name)(*operands)
    except RuntimeError as error:
        assert "a strict device expects" in str(error)
        return False
    return True


@pytest.mark.parametrize("dtype", TYPES.split())
def test_integers(dtype: str, strict: ttnn.Device) -> None:
    values = tensor(dtype, strict)
    for table, count in ((INTEGERS, 1), (PAIRS, 2)):
        for names, taken in table.items():
            for name in names.split():
                assert runs(name, *[values] * count) == (dtype in taken.split()), name


def test_mixed_types(strict: ttnn.Device) -> None:
    integers, floats, unsigned = (tensor(dtype, strict) for dtype in ("int32", "bfloat16", "uint32"))
    for name in ["add", "subtract", "eq", "lt", "maximum", "remainder", "logical_and"]:
        assert not any(runs(name, *pair) for pair in ((integers, floats), (floats, integers), (unsigned, integers))), (
            name
        )
    assert runs("multiply", integers, floats)
    assert ttnn.divide(integers, floats).dtype == ttnn.bfloat16
    assert not runs("multiply", unsigned, integers)
    assert runs("add", tensor("float32", strict), floats)


def test_texts(strict: ttnn.Device) -> None:
    x, rows = tensor("bfloat16", strict), tensor("bfloat16", strict, layout="ROW_MAJOR")
    batches, one = (tensor("bfloat16", strict, (count, 3, 32, 32)) for count in (2, 1))
    image = tensor("bfloat16", strict, (1, 1, 64, 32), "ROW_MAJOR")
    for call, expected in [
        (lambda: ttnn.exp(tensor("int32", strict)), r"ttnn.exp: input_tensor is of si32; .* device expects floats"),
        (lambda: ttnn.neg(tensor("uint8", strict)), r"ttnn.neg: input_tensor is of u8; .* expects floats or si32"),
        (lambda: ttnn.matmul(x, rows), r"ttnn.matmul: input_tensor_b is in ROW_MAJOR layout; .* expects TILE"),
        (lambda: ttnn.matmul(batches, one),
         r"input_tensor_b has the shape \[1, 3, 32, 32\]; .* the first tensor, which has the shape \[2, 3, 32, 32\]"),
        (lambda: ttnn.add(tensor("int32", strict), x), r"input_tensor_b is of bf16; .* expects si32, as of the other"),
        (lambda: ttnn.embedding(tensor("int32", strict), rows), r"embedding: input_tensor is of si32; .* u32 or bf16"),
        (lambda: ttnn.add(x.cpu(), x), r"ttnn.add: input_tensor_a is on the host; .* expects a tensor on the device"),
        (lambda: ttnn.matmul(x, x.cpu()), r"ttnn.matmul: input_tensor_b is on the host; .* expects a tensor on the"),
        (lambda: ttnn.to_dtype(x, ttnn.float32), r"to_dtype: tensor is on the device; .* a tensor on the host"),
        (lambda: ttnn.group_norm(one, num_groups=1), r"group_norm: input_tensor is interleaved; .* a sharded tensor"),
        (lambda: ttnn.rms_norm(rows), r"rms_norm: input_tensor is in ROW_MAJOR layout; .* expects TILE"),
        (lambda: ttnn.max_pool2d(image, 1, 8, 8, 32, [2, 2], [2, 2], [0, 0], [1, 1]),
         r"max_pool2d: the device was opened with l1_small_size 0; a strict device expects room in L1_SMALL"),
    ]:  # fmt: skip
        with pytest.raises(RuntimeError, match=expected):
            call()


def test_minimum_is_enough(strict: ttnn.Device) -> None:
    image = tensor("bfloat16", strict, (1, 1, 64, 32))
    assert ttnn.group_norm(image, num_groups=1, inplace=False).memory_config() == ttnn.DRAM_MEMORY_CONFIG
    assert ttnn.rms_norm(image, weight=tensor("bfloat16", strict, (1, 32), "ROW_MAJOR")).shape == image.shape


def test_a_region_of_small_buffers_is_enough() -> None:
    with ttnn.manage_device(0, strict=True, l1_small_size=16384) as device:
        image = tensor("bfloat16", device, (1, 1, 64, 32), "ROW_MAJOR")
        assert ttnn.max_pool2d(image, 1, 8, 8, 32, [2, 2], [2, 2], [0, 0], [1, 1]).shape == (1, 1, 16, 32)


def test_composites_call_what_the_library_takes(strict: ttnn.Device) -> None:
    """Functions that are made of others: their own calls are never refused."""
    called = 0
    for name, function in COMPOSITES.items():
        needed = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
        kinds = [str(each.annotation) for each in needed if each.kind is each.POSITIONAL_OR_KEYWORD]
        given = [tensor("bfloat16", strict) if "Tensor" in kind else 1 if "int" in kind else 0.5 for kind in kinds]
        try:
            function(*given)
            called += 1
        except (TypeError, ValueError, ttnn.Error) as error:
            assert "a strict device expects" not in str(error), name
    assert called > 200


def test_which_devices_are_strict() -> None:
    for options, strict in [
        ({}, False),
        ({"strict": True}, True),
        ({"exact": True}, True),
        ({"exact": True, "strict": False}, False),
    ]:
        with ttnn.manage_device(0, **options) as device:
            assert device.strict is strict
    with ttnn.create_mesh_device((1, 2), strict=True) as mesh:
        assert not runs("exp", ttnn.from_torch(torch.ones(32, 32), ttnn.int32, layout=ttnn.TILE_LAYOUT, device=mesh))
    with pytest.raises(TypeError, match="strict is 1; expected True or False"):
        ttnn.open_device(device_id=0, strict=1)
