# SPDX-License-Identifier: Apache-2.0
"""The ops that PyTorch decomposes before the front end sees them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import _core_aten_decompositions_post_autograd, core_aten_decompositions, get_decompositions

from .importer import op_name
from .lowering import RULES
from .ops.composed import composed_ops

aten = torch.ops.aten
# Ops that PyTorch's core set keeps, or that have a kernel of their own, and for which there is no rule.
MORE = [
    aten.native_layer_norm_backward, aten.native_group_norm_backward, aten.native_batch_norm_backward,
    aten.native_dropout, aten.native_dropout_backward, aten.upsample_bilinear2d, aten.upsample_bicubic2d,
    aten.upsample_nearest2d_backward, aten._to_copy, aten.grid_sampler_2d, aten.avg_pool2d_backward,
    aten.max_pool2d_with_indices_backward, aten.ldexp, aten.dist,
]  # fmt: skip


# Ops whose decompositions compute integers differently from PyTorch's own kernels, which run instead: pixels of bytes
# in fixed point, steps between integers.
FLOATS_ONLY = [
    aten.upsample_bilinear2d, aten.upsample_bicubic2d, aten.linspace, aten.logspace,
]  # fmt: skip


def for_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a decomposition that does not change calls with integer results."""

    @functools.wraps(function)
    def decomposed(*args: Any, **kwargs: Any) -> Any:
        tensor = next((x for x in args if isinstance(x, torch.Tensor)), None)
        dtype = kwargs.get("dtype") or (tensor.dtype if tensor is not None else torch.get_default_dtype())
        return function(*args, **kwargs) if dtype.is_floating_point else NotImplemented

    return decomposed


# Losses of classes: PyTorch's kernels take targets of these types, its decompositions any.
OF_TARGETS, TARGETS = [aten.nll_loss_forward, aten.nll_loss2d_forward], (torch.int64, torch.uint8)


def for_targets(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a decomposition that leaves calls alone whose second operand has another type than PyTorch's kernel
    takes."""

    @functools.wraps(function)
    def decomposed(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if args[1].dtype in TARGETS else NotImplemented

    return decomposed


def decompositions(composite: bool = False) -> dict[Any, Callable[..., Any]]:
    """Returns PyTorch's core decompositions and our own, without those of ops that have a rule.

    composite: with those of ops that PyTorch makes of others before a graph is captured, which `torch.export` keeps.
        To list them takes PyTorch a fifth of a second.
    """
    return _of_pytorch(composite) | dict(composed_ops())


@functools.cache
def _of_pytorch(composite: bool) -> dict[Any, Callable[..., Any]]:
    table = dict(core_aten_decompositions() if composite else _core_aten_decompositions_post_autograd())
    table.update(get_decompositions([op for op in MORE if op]))
    for packets, some in ((FLOATS_ONLY, for_floats), (OF_TARGETS, for_targets)):
        for packet in packets:
            for op in (getattr(packet, overload) for overload in packet.overloads()):
                if op in table:
                    table[op] = some(table[op])
    return {op: function for op, function in table.items() if op_name(op) not in RULES}
