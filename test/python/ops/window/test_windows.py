# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools over degenerate windows: the chip, and the goldens, compared with PyTorch itself.

The goldens of these ops add padding and permute dimensions before they call torch; here torch gets dense tensors and
its own padding, so that nothing of the goldens is in the reference.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
import torch.nn.functional as F
from builder.base.builder_apis import build_module
from golden import GoldenMapTensor, random_tensor
from golden.sampling import generator
from op_cases import execute, lowered
from torch import Tensor
from ttmlir.passes import ttnn_to_flatbuffer_bin

Case = tuple[list[Tensor], dict[str, Any], list[Tensor]]  # operands, attributes, results


def channels_first(x: Tensor) -> Tensor:
    return x.movedim(-1, 1).clone(memory_format=torch.contiguous_format)


def channels_last(x: Tensor) -> Tensor:
    return x.movedim(1, -1).clone(memory_format=torch.contiguous_format)


def values(*shapes: Sequence[int]) -> list[Tensor]:
    return [random_tensor(s, torch.float32, (-1.0, 1.0), generator(0, "windows", i)) for i, s in enumerate(shapes)]


IMAGES = ((1, 7, 4, 16), (3, 5, 3, 1), (1, 1, 1, 1), (2, 6, 1, 3), (3, 1, 8, 2))
KERNELS = ((1, 1), (2, 3), (3, 3), (4, 1))
STRIDES = ((1, 1), (2, 3), (3, 1))
VOLUMES = ((1, 5, 7, 4, 8), (2, 3, 1, 4, 1), (1, 1, 1, 1, 1), (2, 1, 6, 3, 2))
VOLUME_KERNELS = ((1, 1, 1), (2, 1, 3), (3, 2, 2))
VOLUME_STRIDES = ((1, 1, 1), (3, 1, 2))


def pools(dilations: Sequence[Sequence[int]]) -> Iterator[tuple[Tensor, dict[str, Any]]]:
    """Windows that PyTorch takes: no more padding than half of them, and at least one fits."""
    sizes = (IMAGES, KERNELS, STRIDES) if len(dilations[0]) == 2 else (VOLUMES, VOLUME_KERNELS, VOLUME_STRIDES)
    for shape, kernel, stride, dilation, ceil in itertools.product(*sizes, dilations, (False, True)):
        for padding in itertools.product(*({0, k // 2} for k in kernel)):
            reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
            if all(n + 2 * p >= r for n, p, r in zip(shape[1:-1], padding, reach, strict=True)):
                yield values(shape)[0], {
                    "kernel": list(kernel), "stride": list(stride), "padding": list(padding),
                    "dilation": list(dilation), "ceil_mode": ceil,
                }  # fmt: skip


def options(attributes: dict[str, Any]) -> list[Any]:
    return [attributes[n] for n in ("kernel", "stride", "padding", "dilation", "ceil_mode")]


def max_pools(pool: Callable[..., Tensor], *dilations: Sequence[int]) -> Iterator[Case]:
    for x, attributes in pools(dilations):
        yield [x], attributes, [channels_last(pool(channels_first(x), *options(attributes)))]


def max_pools_with_indices(pool: Callable[..., Any], *dilations: Sequence[int]) -> Iterator[Case]:
    for x, attributes in pools(dilations):
        found, places = pool(channels_first(x), *options(attributes), return_indices=True)
        if bool(torch.isfinite(found).all()):  # of a window that lies in padding, torch points outside of the input
            yield [x], attributes, [channels_last(found), channels_last(places)]


def average_pools(pool: Callable[..., Tensor], rank: int) -> Iterator[Case]:
    for (x, attributes), counted in itertools.product(pools([(1,) * rank]), (False, True)):
        kernel, stride, padding, _, ceil = options(attributes)
        if rank == 3 and any(n < k for n, k in zip(x.shape[1:-1], kernel, strict=True)):
            continue  # PyTorch refuses volumes that are smaller than a window, with their padding or without
        found = pool(channels_first(x), kernel, stride, padding, ceil, counted)
        yield [x], attributes | {"count_include_pad": counted}, [channels_last(found)]


CONVOLUTIONS = [
    # image, kernel [O, I/groups, h, w], attributes
    ((2, 3, 4, 1), (2, 1, 2, 3), {"stride": [1, 3], "padding": [1, 0]}),
    ((3, 5, 3, 1), (1, 1, 3, 3), {"padding": [1, 0]}),
    ((3, 5, 3, 1), (4, 1, 3, 3), {"padding": [0, 0], "stride": [2, 1]}),
    ((2, 3, 1, 1), (2, 1, 2, 1), {"padding": [1, 0]}),
    ((2, 1, 1, 5), (3, 5, 1, 1), {}),
    ((3, 1, 4, 1), (1, 1, 1, 4), {}),
    ((3, 6, 6, 1), (3, 1, 3, 3), {"dilation": [2, 2], "padding": [0, 1]}),
    ((2, 6, 6, 2), (2, 1, 3, 2), {"dilation": [2, 3], "groups": 2, "padding": [1, 1]}),
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((1, 1, 1, 1), (1, 1, 3, 3), {"padding": [1, 1]}),
    ((3, 4, 2, 3), (6, 1, 2, 2), {"groups": 3, "stride": [2, 2]}),
    ((3, 4, 1, 4), (4, 1, 3, 1), {"groups": 4, "padding": [1, 0]}),
]


def conv2ds() -> Iterator[Case]:
    for image, kernel, given in CONVOLUTIONS:
        attributes = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "groups": 1} | given
        x, w = values(image, kernel)
        found = F.conv2d(channels_first(x).double(), w.double(), **attributes)
        yield [x, w], attributes, [channels_last(found).float()]


TRANSPOSED = [
    # image, kernel [I, O/groups, h, w], attributes
    ((3, 5, 1, 1), (1, 1, 3, 1), {"stride": [2, 1], "padding": [1, 0]}),
    ((2, 1, 1, 1), (1, 3, 2, 2), {"stride": [2, 2]}),
    ((3, 1, 4, 1), (1, 2, 1, 3), {"padding": [0, 1]}),
    ((2, 3, 3, 2), (2, 1, 2, 3), {"groups": 2, "stride": [1, 2], "output_padding": [0, 1]}),
    ((3, 2, 2, 1), (1, 1, 2, 2), {"dilation": [2, 2], "padding": [1, 1]}),
]


def conv_transpose2ds() -> Iterator[Case]:
    for image, kernel, given in TRANSPOSED:
        attributes = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "groups": 1, "output_padding": [0, 0]}
        attributes |= given
        x, w = values(image, kernel)
        found = F.conv_transpose2d(channels_first(x).double(), w.double(), **attributes)
        yield [x, w], attributes, [channels_last(found).float()]


def conv1ds() -> Iterator[Case]:
    for image, kernel, attributes in (
        ((3, 4, 1), (1, 1, 4), {"padding": 0}),
        ((2, 3, 1), (2, 1, 3), {"padding": 1, "stride": 3}),
        ((3, 1, 2), (2, 1, 1), {"groups": 2}),
        ((2, 7, 1), (1, 1, 3), {"dilation": 3}),
    ):
        x, w = values(image, kernel)
        found = F.conv1d(x.transpose(1, 2).contiguous().double(), w.double(), **attributes)
        yield [x, w], attributes, [found.transpose(1, 2).contiguous().float()]


def conv3ds() -> Iterator[Case]:
    for image, kernel, attributes in (
        ((3, 2, 3, 1, 1), (1, 1, 2, 3, 1), {"padding": [0, 0, 0]}),
        ((2, 1, 1, 4, 1), (2, 1, 1, 1, 4), {"padding": [0, 1, 0], "stride": [1, 2, 1]}),
        ((2, 2, 2, 2, 2), (2, 1, 2, 2, 2), {"groups": 2}),
        ((1, 7, 4, 5, 3), (2, 3, 3, 2, 2), {"dilation": [3, 1, 2], "padding": [1, 0, 1], "stride": [1, 2, 1]}),
    ):
        x, w = values(image, kernel)
        found = F.conv3d(channels_first(x).double(), w.double(), **attributes)
        yield [x, w], attributes, [channels_last(found).float()]


def conv_transpose3ds() -> Iterator[Case]:
    for image, kernel, given in (
        ((1, 2, 3, 1, 2), (2, 3, 2, 3, 1), {"stride": [2, 1, 3]}),
        ((2, 3, 2, 2, 4), (4, 1, 3, 2, 2), {"groups": 2, "stride": [2, 3, 1], "padding": [1, 0, 1]}),
        ((1, 2, 2, 3, 1), (1, 2, 2, 3, 2), {"dilation": [2, 1, 3], "stride": 2, "output_padding": [1, 0, 1]}),
        ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), {}),
    ):
        attributes = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, "output_padding": 0} | given
        x, w = values(image, kernel)
        found = F.conv_transpose3d(channels_first(x).double(), w.double(), **attributes)
        yield [x, w], attributes, [channels_last(found).float()]


CASES: dict[str, Callable[[], Iterator[Case]]] = {
    "max_pool2d": partial(max_pools, F.max_pool2d, (1, 1), (2, 1), (2, 2)),
    "max_pool2d_with_indices": partial(max_pools_with_indices, F.max_pool2d, (1, 1), (1, 2)),
    "avg_pool2d": partial(average_pools, F.avg_pool2d, 2),
    "max_pool3d": partial(max_pools, F.max_pool3d, (1, 1, 1), (2, 1, 2)),
    "max_pool3d_with_indices": partial(max_pools_with_indices, F.max_pool3d, (1, 1, 1), (1, 2, 1)),
    "avg_pool3d": partial(average_pools, F.avg_pool3d, 3),
    "conv1d": conv1ds,
    "conv2d": conv2ds,
    "conv3d": conv3ds,
    "conv_transpose2d": conv_transpose2ds,
    "conv_transpose3d": conv_transpose3ds,
}


@pytest.mark.parametrize("name", CASES)
def test_windows(name: str) -> None:
    cases = list(CASES[name]())

    def module(builder: Any) -> None:
        for i, (operands, attributes, _) in enumerate(cases):

            def function(*arguments: Any, attributes: dict[str, Any] = attributes) -> Any:
                return getattr(builder, name)(*arguments[:-1], **attributes)

            function.__name__ = f"case{i}"
            builder.func([tuple(x.shape) for x in operands], [x.dtype for x in operands])(function)

    built, builder = build_module(module, "ttir")
    for i, (operands, _, _) in enumerate(cases):
        builder.goldens.set_inputs(f"case{i}", [GoldenMapTensor({0: x}) for x in operands])
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(built, (1, 1))))
    goldens = builder.golden_map[0]
    for i, (operands, attributes, expected) in enumerate(cases):
        where = f"{name} of {[list(x.shape) for x in operands]}, {attributes}"
        found = execute(binary, i, goldens[i].inputs, (1, 1))
        for reference, (chip,), golden in zip(expected, found, goldens[i].outputs, strict=True):
            for who, value in (("the chip", chip), ("the golden", golden.shard_at(0))):
                torch.testing.assert_close(
                    value.to(reference.dtype), reference, atol=1e-5, rtol=1e-4, equal_nan=True,
                    msg=lambda text, who=who, where=where: f"{where}: {who} differs from torch: {text}",
                )  # fmt: skip
