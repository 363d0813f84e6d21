# SPDX-License-Identifier: Apache-2.0
"""Steps of attention, as functions of ttnn.transformer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import MemoryConfig

from .functions import FUNCTIONS


def _make(name: str, in_place: bool) -> Callable[..., Tensor]:
    def function(
        tensor: Tensor,
        *,
        head_size: int | None = None,
        attention_mask: Tensor | None = None,
        program_config: Any = None,
        causal_mask: bool | None = False,
        memory_config: MemoryConfig | None = None,
    ) -> Tensor:
        scores = tensor
        if head_size is not None:
            if not isinstance(head_size, int) or head_size < 1:
                raise ValueError(f"transformer.{name}: head_size is {head_size!r}; expected a positive integer")
            scores = FUNCTIONS["multiply"](scores, head_size**-0.5)
        if attention_mask is not None:
            scores = FUNCTIONS["add"](scores, attention_mask)
        result = FUNCTIONS["softmax"](scores, dim=-1, memory_config=memory_config)
        return FUNCTIONS["assign"](result, output_tensor=tensor) if in_place else result

    function.__name__ = function.__qualname__ = name
    where = "; written to the scores, which are returned" if in_place else ""
    function.__doc__ = f"""Softmax of attention scores [batch, heads, queries, keys] over keys{where}.

    Of scores / sqrt(head_size) + attention_mask.

    Args:
        head_size: scores are not divided where it is left out.
        attention_mask: added to the scores; broadcast to their shape.
        program_config: of the hardware; makes no difference here.
        causal_mask: on the hardware, that the mask is one for each query; it makes no difference here.
    Raises:
        ValueError: head_size is not positive.
    """
    return function


ATTENTION = {
    f"transformer.{name}": _make(name, name.endswith("_")) for name in ("attention_softmax", "attention_softmax_")
}
