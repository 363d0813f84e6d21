# SPDX-License-Identifier: Apache-2.0
"""Ops on lists of tensors, which optimizers with `foreach=True` call, as the op on each tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from .registry import composed

PREFIX = "_foreach_"
# Names of arguments by position in the list's op, by keyword in the tensor's.
KEYWORDS = {"addcmul": {"value": "value", "scalars": "value"}, "addcdiv": {"value": "value", "scalars": "value"}}


def _norm(x: torch.Tensor, order: Any = 2, dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.linalg.vector_norm(x, order, dtype=dtype)


# The functions of a tensor that `torch` has under another name, or with other arguments.
OTHERS: dict[str, Callable[..., Any]] = {"copy": torch.ops.aten.copy, "norm": _norm, "zero": torch.zeros_like}
# The functions of a tensor and a number, where those of two tensors take no number.
OF_NUMBERS = {"maximum": torch.clamp_min, "minimum": torch.clamp_max}


def of_lists() -> Iterator[tuple[str, Any, Callable[..., Any]]]:
    """Yields the ops on lists, with their overloads and the functions on tensors; in-place ones are functionalized."""
    for full in torch._C._dispatch_get_all_op_names():
        if not full.startswith(f"aten::{PREFIX}"):
            continue
        name, _, overload = full.removeprefix(f"aten::{PREFIX}").partition(".")
        function = OTHERS.get(name) or getattr(torch, name, None)
        if function is None or name.endswith("_") or "out" in overload:
            continue
        op = getattr(getattr(torch.ops.aten, PREFIX + name), overload or "default")
        if not _scalars_in_a_tensor(op):
            yield full, op, OF_NUMBERS.get(name, function) if overload.startswith("Scalar") else function


def _scalars_in_a_tensor(op: Any) -> bool:
    return any(x.name == "scalars" and isinstance(x.type, torch.TensorType) for x in op._schema.arguments)


def on_each(op: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the op on lists by the function on their tensors."""
    arguments = op._schema.arguments
    keywords = KEYWORDS.get(op._schema.name.removeprefix(f"aten::{PREFIX}"), {})

    def composed_op(*args: Any, **kwargs: Any) -> list[torch.Tensor]:
        given = dict(zip((x.name for x in arguments), args, strict=False)) | kwargs
        lists = [x.name for x in arguments if isinstance(x.type, torch.ListType)]
        results = []
        for i in range(len(given[lists[0]])):
            one = {name: value[i] if name in lists else value for name, value in given.items()}
            named = {x.name for x in arguments if x.kwarg_only} | set(keywords)
            results.append(
                function(
                    *(value for name, value in one.items() if name not in named),
                    **{keywords.get(name, name): value for name, value in one.items() if name in named},
                )
            )
        return results

    return composed_op


for _name, _op, _function in of_lists():
    composed(_name)(on_each(_op, _function))
