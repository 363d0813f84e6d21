# SPDX-License-Identifier: Apache-2.0
"""Steps of attention, as functions of ttnn.transformer."""

from __future__ import annotations

from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import MemoryConfig

from .functions import FUNCTIONS


def attention_softmax(
    tensor: Tensor,
    *,
    head_size: int | None = None,
    attention_mask: Tensor | None = None,
    program_config: Any = None,
    causal_mask: bool | None = False,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Softmax of attention scores [batch, heads, queries, keys] over keys: of scores / sqrt(head_size) + mask.

    Args:
        head_size: scores are not divided where it is left out.
        attention_mask: added to the scores; broadcast to their shape.
        program_config: of the hardware; makes no difference here.
        causal_mask: on the hardware, that the mask is one for each query; it makes no difference here.
    Raises:
        ValueError: head_size is not positive.
    """
    return _softmax("attention_softmax", tensor, head_size, attention_mask, memory_config, None)


def attention_softmax_(
    tensor: Tensor,
    *,
    head_size: int | None = None,
    attention_mask: Tensor | None = None,
    program_config: Any = None,
    causal_mask: bool | None = False,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """The same with the result in the tensor that is given; returns it."""
    return _softmax("attention_softmax_", tensor, head_size, attention_mask, memory_config, tensor)


def _softmax(
    function: str, scores: Tensor, head_size: int | None, mask: Tensor | None, memory: MemoryConfig | None,
    into: Tensor | None,
) -> Tensor:  # fmt: skip
    if head_size is not None:
        if not isinstance(head_size, int) or head_size < 1:
            raise ValueError(f"transformer.{function}: head_size is {head_size!r}; expected a positive integer")
        scores = FUNCTIONS["multiply"](scores, head_size**-0.5)
    if mask is not None:
        scores = FUNCTIONS["add"](scores, mask)
    result = FUNCTIONS["softmax"](scores, dim=-1, memory_config=memory)
    return result if into is None else FUNCTIONS["assign"](result, output_tensor=into)


ATTENTION = {"attention_softmax": attention_softmax, "attention_softmax_": attention_softmax_}
