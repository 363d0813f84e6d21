# SPDX-License-Identifier: Apache-2.0
"""Gradients of ops whose backward pass has rules of ours: those of PyTorch, with nothing left to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from compiled import assert_agree, on_chip
from ttmlir.torch.report import record

# By what is done: the function, and the shapes of its arguments.
CONVOLUTIONS: dict[str, tuple[Callable[..., torch.Tensor], Sequence[tuple[int, ...]]]] = {
    "sequences": (lambda x, w, b: F.conv1d(x, w, b, 2, 1, 2, 2), [(2, 4, 9), (6, 2, 3), (6,)]),
    "images": (lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 2), (1, 2), 2), [(2, 4, 7, 8), (6, 2, 3, 2), (6,)]),
    "volumes": (lambda x, w, b: F.conv3d(x, w, b, (2, 1, 3), (1, 0, 2)), [(2, 3, 6, 4, 7), (4, 3, 3, 2, 4), (4,)]),
    "volumes in groups": (lambda x, w: F.conv3d(x, w, None, 1, 1, 1, 2), [(1, 4, 3, 3, 3), (6, 2, 3, 3, 3)]),
    "volumes, dilated": (
        lambda x, w: F.conv3d(x, w, None, (1, 2, 1), (2, 0, 1), (2, 1, 3)), [(1, 2, 5, 4, 6), (3, 2, 2, 3, 2)],
    ),
    "volumes, all windows in the padding": (
        lambda x, w: F.conv3d(x, w, None, (1, 9, 7), (0, 4, 3)), [(2, 1, 2, 1, 1), (3, 1, 2, 1, 1)],
    ),
    "a volume of one place": (lambda x, w: F.conv3d(x, w), [(1, 1, 1, 1, 1), (1, 1, 1, 1, 1)]),
    "sequences, transposed": (
        lambda x, w, b: F.conv_transpose1d(x, w, b, 3, 2, 1, 2, 2), [(2, 4, 5), (4, 3, 4), (6,)],
    ),
    "images, transposed": (
        lambda x, w, b: F.conv_transpose2d(x, w, b, (2, 3), (1, 0), (1, 2), 2, (1, 2)),
        [(2, 4, 5, 4), (4, 3, 3, 2), (6,)],
    ),
    "dilated by more than they move, transposed": (
        lambda x, w: F.conv_transpose2d(x, w, None, 1, 0, 1, 1, 2), [(1, 2, 4, 4), (2, 2, 2, 2)],
    ),
    "volumes, transposed": (
        lambda x, w, b: F.conv_transpose3d(x, w, b, (2, 1, 3), (1, 0, 2), (1, 0, 2)),
        [(2, 3, 3, 4, 2), (3, 4, 3, 2, 4), (4,)],
    ),
    "volumes, dilated and transposed": (
        lambda x, w: F.conv_transpose3d(x, w, None, 2, 1, 1, 1, 3), [(1, 2, 2, 3, 2), (2, 2, 2, 1, 3)],
    ),
    "volumes in groups, transposed": (
        lambda x, w: F.conv_transpose3d(x, w, None, 2, 3, 1, 2), [(1, 4, 4, 3, 4), (4, 3, 2, 5, 3)],
    ),
}  # fmt: skip
POOLS: dict[str, tuple[Callable[..., torch.Tensor], Sequence[tuple[int, ...]]]] = {
    "means": (lambda x: F.avg_pool2d(x, 2), [(2, 3, 6, 8)]),
    "means of windows that overlap": (lambda x: F.avg_pool2d(x, (3, 2), (1, 2), (1, 1)), [(2, 3, 5, 6)]),
    "padding does not count": (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), [(1, 2, 6, 5)]),
    "windows beyond the end": (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), [(1, 2, 6, 8)]),
    "windows larger than the image": (lambda x: F.avg_pool2d(x, (320, 4), 320, ceil_mode=True), [(2, 3, 2, 2)]),
    "larger, a divisor": (lambda x: F.avg_pool2d(x, 5, 7, 1, True, divisor_override=7), [(3, 4, 2)]),
    "larger, the greatest": (lambda x: F.max_pool2d(x, (9, 3), 9, 1, (1, 2), True), [(2, 3, 2, 7)]),
    "rows that no window reaches": (lambda x: F.avg_pool2d(x, 2, 3), [(1, 2, 7, 9)]),
    "a divisor": (lambda x: F.avg_pool2d(x, 2, divisor_override=3), [(2, 4, 4)]),
    "means of sequences": (lambda x: F.avg_pool1d(x, 3, 2, 1), [(2, 3, 9)]),
    "means of volumes": (lambda x: F.avg_pool3d(x, 2), [(2, 3, 4, 2, 6)]),
    "means of volumes that overlap": (
        lambda x: F.avg_pool3d(x, (3, 2, 3), (1, 2, 2), (1, 0, 1), ceil_mode=True), [(1, 3, 4, 5, 6)],
    ),
    "means of volumes, padding does not count": (
        lambda x: F.avg_pool3d(x, 3, 2, 1, count_include_pad=False), [(2, 2, 3, 4, 5)],
    ),
    "volumes and a divisor": (lambda x: F.avg_pool3d(x, 2, 1, 1, divisor_override=5), [(2, 2, 3, 3)]),
    "greatest of volumes": (lambda x: F.max_pool3d(x, 2), [(2, 3, 4, 2, 6)]),
    "greatest of volumes that overlap": (
        lambda x: F.max_pool3d(x, (3, 2, 2), (1, 2, 1), (1, 0, 1), (1, 2, 2), ceil_mode=True), [(2, 2, 4, 6, 5)],
    ),
    "greatest of a volume that is smaller than a window": (
        lambda x: F.max_pool3d(x, (5, 2, 4), 2, (2, 1, 0), ceil_mode=True), [(1, 2, 3, 3, 3)],
    ),
    "greatest of a volume without a batch": (lambda x: F.max_pool3d(x, (1, 3, 2), 2), [(3, 5, 4, 4)]),
    "means of parts of volumes": (lambda x: F.adaptive_avg_pool3d(x, (2, 1, 3)), [(2, 2, 3, 4, 5)]),
    "means of parts": (lambda x: F.adaptive_avg_pool2d(x, (2, 3)), [(2, 3, 4, 6)]),
    "means of parts that overlap": (lambda x: F.adaptive_avg_pool2d(x, (3, 2)), [(2, 3, 5, 7)]),
    "more parts than rows": (lambda x: F.adaptive_avg_pool2d(x, (3, 1)), [(1, 2, 2, 3)]),
    "parts of sequences": (lambda x: F.adaptive_avg_pool1d(x, 4), [(2, 3, 6)]),
    "one pixel": (lambda x: F.avg_pool2d(x, 1), [(1, 1, 1, 1)]),
    "one place": (lambda x: F.avg_pool3d(F.max_pool3d(x, 1), 1), [(1, 1, 1, 1, 1)]),
    "edges of sequences": (lambda x: F.pad(x, (2, 3), mode="replicate"), [(2, 3, 4)]),
    "edges of images": (lambda x: F.pad(x, (1, 0, 2, 3), mode="replicate"), [(2, 3, 4, 2)]),
    "edges of one pixel": (lambda x: F.pad(x, (1, 2, 3, 1), mode="replicate"), [(1, 2, 1, 1)]),
    "edges, and some cut off": (lambda x: F.pad(x, (-1, 2, 1, -2), mode="replicate"), [(1, 2, 5, 4)]),
    "edges of volumes": (lambda x: F.pad(x, (1, 1, 0, 2, 2, 1), mode="replicate"), [(1, 2, 3, 2, 4)]),
}  # fmt: skip


def gradients(run: Callable[..., torch.Tensor], values: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The result, and the gradients of all arguments for one that differs by place."""
    leaves = [x.clone().requires_grad_() for x in values]
    result = run(*leaves)
    result.backward(torch.linspace(-1, 2, result.numel()).reshape(result.shape).to(result.dtype))
    return [result.detach(), *(x.grad for x in leaves if x.grad is not None)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", [*CONVOLUTIONS, *POOLS])
def test_gradients_are_those_of_pytorch(name: str, dtype: torch.dtype) -> None:
    run, shapes = (CONVOLUTIONS | POOLS)[name]
    torch.manual_seed(1)
    values = [torch.randn(shape).to(dtype) for shape in shapes]
    # In bf16 PyTorch rounds between steps; what its f32 gives, rounded, is what is needed.
    want: Any = [x.to(dtype) for x in gradients(run, [x.float() for x in values])]
    with record() as reports:
        got = gradients(on_chip(run), values)
    assert_agree(got, want, name)
    assert [(r.kind, r.on_host) for r in reports] == [("forward", {}), ("backward", {})]


def test_places_of_the_greatest_of_volumes_are_the_first() -> None:
    x = torch.randint(0, 3, (2, 2, 5, 4, 6), generator=torch.Generator().manual_seed(0)).float()
    x[0, 1, 2, 1, 3] = torch.nan
    run = lambda x: F.max_pool3d(x, (2, 3, 2), 2, (1, 1, 0), return_indices=True)  # noqa: E731
    with record() as reports:
        assert_agree(on_chip(run)(x), run(x))
    assert [r.on_host for r in reports] == [{}]
