# SPDX-License-Identifier: Apache-2.0
"""Forms of calls that the library has besides that of the row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Layout


def padded(
    input_tensor: Any, padding: Any, value: Any, fill: Any, output_padded_shape: Any, input_tensor_start: Any
) -> tuple[Any, Any]:
    """Returns padding as pairs one after another, and the value, of any form of `pad`.

    The forms: pairs `[(before, after), ...]`, the same one after another, and
    `(input_tensor, output_padded_shape, input_tensor_start, value)`.

    Raises:
        TypeError: padding and a shape are given, or neither.
        ValueError: the shape has no room for the tensor; there are not as many pairs as dimensions.
    """
    if not isinstance(input_tensor, Tensor):
        return padding, value  # the function says what is wrong with it
    if isinstance(value, list | tuple):  # by place
        output_padded_shape, input_tensor_start, value, padding = padding, value, 0.0 if fill is None else fill, None
    elif fill is not None:
        raise TypeError(f"ttnn.pad: fill is {fill!r}; it stands behind the start of the tensor, not behind a value")
    sizes = list(input_tensor.shape)
    if output_padded_shape is not None:
        if padding is not None:
            raise TypeError("ttnn.pad: padding and output_padded_shape are given; expected one of them")
        shape, start = list(output_padded_shape), list(input_tensor_start or [0] * len(sizes))
        if not len(shape) == len(start) == len(sizes):
            raise ValueError(
                f"ttnn.pad: output_padded_shape is {shape} and the start {start}; expected {len(sizes)} sizes"
            )
        pairs = [(low, new - low - size) for new, low, size in zip(shape, start, sizes, strict=True)]
        if any(side < 0 for pair in pairs for side in pair):
            raise ValueError(f"ttnn.pad: output_padded_shape is {shape}, without room for {sizes} from {start} on")
        return [side for pair in pairs for side in pair], value
    if padding is None:
        raise TypeError("ttnn.pad: padding is None; expected pairs, or output_padded_shape")
    if isinstance(padding, list | tuple) and any(isinstance(pair, list | tuple) for pair in padding):
        if len(padding) != len(sizes) or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in padding):
            raise ValueError(f"ttnn.pad: padding is {padding!r}; expected {len(sizes)} pairs (before, after)")
        return [side for pair in padding for side in pair], value
    return padding, value


def _positions(function: str, name: str) -> Callable[[Any, Any, Any], Any]:
    """Returns what makes a tensor of numbers that stand in a list: (a tensor on the device, list, tensor) to it."""

    def prepare(near: Any, numbers: Any, tensor: Any) -> Any:
        if numbers is None or numbers == [] or numbers == ():
            return tensor
        if tensor is not None:
            raise TypeError(f"ttnn.{function}: {name} and {name}_tensor are given; expected one of them")
        listed = [numbers] if isinstance(numbers, int) else numbers
        if not isinstance(listed, list | tuple) or not all(type(each) is int for each in listed):
            raise TypeError(f"ttnn.{function}: {name} is {numbers!r}; expected integers")
        device = near.device() if isinstance(near, Tensor) else None
        return Tensor(list(listed), [len(listed)], DataType.INT32, Layout.ROW_MAJOR, device)

    return prepare


def bounds(start: Any, end: Any) -> tuple[Any, Any]:
    """Returns where numbers begin and end; one bound alone is the end."""
    return (0, start) if end is None else (0 if start is None else start, end)


# By function: what brings parameters into the row's form, what it takes, and which of that it replaces.
PREPARED: dict[str, tuple[Callable[..., Any], tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "arange": (bounds, ("start", "end"), ("start", "end"), ()),
    "pad": (
        padded,
        ("input_tensor", "padding", "value", "fill", "output_padded_shape", "input_tensor_start"),
        ("padding", "value"),
        ("fill", "output_padded_shape", "input_tensor_start"),
    ),
    "experimental.paged_update_cache": (
        _positions("experimental.paged_update_cache", "update_idxs"),
        ("cache_tensor", "update_idxs", "update_idxs_tensor"),
        ("update_idxs_tensor",),
        ("update_idxs",),
    ),
    "transformer.scaled_dot_product_attention_decode": (
        _positions("transformer.scaled_dot_product_attention_decode", "cur_pos"),
        ("input_tensor_k", "cur_pos", "cur_pos_tensor"),
        ("cur_pos_tensor",),
        ("cur_pos",),
    ),
}
