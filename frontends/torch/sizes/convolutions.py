# SPDX-License-Identifier: Apache-2.0
"""Convolutions of images whose sizes change, without guards on what PyTorch's own kernels are fast for.

For the strides of a convolution's result, PyTorch asks which of its kernels would run. For one image, the number of
elements decides between two of them, so that each layer of a network adds a guard, and the network is traced again
beyond it. The strides do not depend on the choice. Graphs for this backend take the kernel of the first call's sizes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

import torch

from ..entry import backend

_capturing = ContextVar("capturing", default=False)


@contextmanager
def any_image_size() -> Iterator[None]:
    """Captures the graphs of the block for this backend, where Dynamo does not say for which."""
    token = _capturing.set(True)
    try:
        yield
    finally:
        _capturing.reset(token)


def is_for_us() -> bool:
    """Returns whether this backend compiles the code that is being traced."""
    if _capturing.get():
        return True
    dynamo = sys.modules.get("torch._dynamo.symbolic_convert")
    translator = getattr(dynamo.tls, "current_tx", None) if dynamo is not None else None
    compiler = getattr(getattr(translator, "output", None), "compiler_fn", None)
    while compiler is not None and compiler is not backend:
        # Dynamo's wrappers of a backend, and then those of `torch.compile`.
        compiler = getattr(compiler, "_torchdynamo_orig_backend", None) or getattr(compiler, "compiler_fn", None)
    return compiler is backend


def at_first_sizes(tensor: Any) -> Any:
    """Returns a fake tensor with the sizes of the first call in place of one with symbols; other values unchanged."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    numbers = [*tensor.shape, *tensor.stride()]
    if not any(isinstance(n, torch.SymInt) for n in numbers):
        return tensor
    known = [n.node.hint if isinstance(n, torch.SymInt) else n for n in numbers]
    like = torch.empty_strided(known[: tensor.dim()], known[tensor.dim() :], dtype=tensor.dtype, device=tensor.device)
    return like.requires_grad_(tensor.requires_grad)


def install() -> None:
    """Puts the question in the place of PyTorch's. Graphs of other backends are traced as before."""
    original = torch._C._select_conv_backend

    @wraps(original)
    def select(*arguments: Any, **named: Any) -> Any:
        if is_for_us():
            arguments = tuple(map(at_first_sizes, arguments))
            named = {name: at_first_sizes(value) for name, value in named.items()}
        return original(*arguments, **named)

    torch._C._select_conv_backend = select
