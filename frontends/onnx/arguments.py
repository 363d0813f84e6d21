# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of calls: arrays of NumPy, tensors of PyTorch, and compatible objects."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from ttmlir.arrays import fits

from .files import one_line
from .model import Declared
from .values import Array, is_integer

# Elements of inputs whose values may become part of a program.
MOST_VALUES, MOST_NUMBERS = 64, 8


def shape_of(x: Any) -> Any:
    return tuple(each.shape for each in x) if isinstance(x, list) else x.shape


def value_sets(arrays: Mapping[str, Any]) -> list[dict[str, Array]]:
    """Returns inputs whose values may decide which ops are built: integers first, then a few numbers, then tensors of
    any rank.
    """
    plain = {name: x for name, x in arrays.items() if isinstance(x, np.ndarray)}
    whole = {n: x for n, x in plain.items() if (is_integer(x.dtype) or x.dtype == np.bool_) and x.size <= MOST_VALUES}
    few = {n: x for n, x in plain.items() if n in whole or x.size <= MOST_NUMBERS}
    return [
        {n: x for n, x in whole.items() if x.ndim <= 1},
        {n: x for n, x in few.items() if x.ndim <= 1},
        whole,
        few,
    ]


def as_array(value: Any) -> Any:
    """Returns a value as an array, without a copy where it can be."""
    if isinstance(value, np.ndarray):
        return value
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        tensor = value.detach().cpu()
        if tensor.dtype is torch.bfloat16:  # which NumPy lacks
            import ml_dtypes

            return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
        return tensor.resolve_conj().resolve_neg().numpy()
    if hasattr(value, "__dlpack__") and not isinstance(value, np.generic):
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError):
            pass
    return np.asarray(value)


def to_torch(value: Any) -> Any:
    """Returns an output as a tensor of PyTorch, or a list of them."""
    import torch

    if isinstance(value, list):
        return [to_torch(x) for x in value]
    if value.dtype.name == "bfloat16":
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    if value.dtype.kind == "V":
        kind = getattr(torch, value.dtype.name, None)
        if kind is not None and value.dtype.itemsize == 1 and not value.dtype.name.startswith(("int", "uint")):
            return torch.from_numpy(value.view(np.uint8)).view(kind)
        return value
    return torch.from_numpy(value)


def taken(declared: Declared, value: Any) -> Any:
    """Returns a value of an input as an array of its type, or a list of arrays for a sequence.

    Raises:
        ValueError: a value of another type; names the input.
    """
    name, dtype = declared.name, declared.dtype
    if declared.is_sequence:
        if not isinstance(value, list | tuple):
            raise ValueError(f"input {name} is {type(value).__name__}; expected a {declared}")
        each = Declared(name, None, dtype)
        return [taken(each, x) for x in value]
    if value is None:
        raise ValueError(f"input {name} is None; expected {declared}")
    try:
        array = as_array(value)
    except (TypeError, ValueError, RuntimeError) as error:  # PyTorch's for layouts that NumPy lacks are of each kind
        raise ValueError(f"input {name} is no array, {one_line(error)}; expected {declared}") from None
    if array.dtype == dtype:
        return array
    have = f"{array.dtype.name}{list(array.shape)}"
    if not fits(array, dtype):
        raise ValueError(f"input {name} is {have}; expected {declared}")
    with np.errstate(over="ignore"):
        result = array.astype(dtype)
    kept = result == array if is_integer(dtype) else np.isfinite(result) | ~np.isfinite(array)
    if not kept.all():
        raise ValueError(f"input {name} is {have} and has values that {dtype.name} does not hold")
    return result
