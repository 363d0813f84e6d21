# SPDX-License-Identifier: Apache-2.0
"""Forms of calls that the library has besides that of the row."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
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


def _positions(function: str, name: str) -> Callable[[Any, Any, Any], tuple[Any]]:
    """Returns what makes a tensor of numbers that stand in a list: (a tensor on the device, list, tensor) to it."""

    def prepare(near: Any, numbers: Any, tensor: Any) -> tuple[Any]:
        if numbers is None or numbers == [] or numbers == ():
            return (tensor,)
        if tensor is not None:
            raise TypeError(f"ttnn.{function}: {name} and {name}_tensor are given; expected one of them")
        listed = [numbers] if isinstance(numbers, int) else numbers
        if not isinstance(listed, list | tuple) or not all(type(each) is int for each in listed):
            raise TypeError(f"ttnn.{function}: {name} is {numbers!r}; expected integers")
        device = near.device() if isinstance(near, Tensor) else None
        return (Tensor(list(listed), [len(listed)], DataType.INT32, Layout.ROW_MAJOR, device),)

    return prepare


def bounds(start: Any, end: Any) -> tuple[Any, Any]:
    """Returns where numbers begin and end; one bound alone is the end."""
    return (0, start) if end is None else (0 if start is None else start, end)


def converted(input_tensor: Any, dtype: Any, input_dtype: Any, output_dtype: Any) -> tuple[Any]:
    """Returns the type of the result, of `(input_tensor, dtype)` or `(input_tensor, input_dtype, output_dtype)`."""
    if output_dtype is None:
        return (dtype,)
    if dtype is not None and input_dtype is not None:
        raise TypeError("ttnn.typecast: dtype and output_dtype are given; expected one of them")
    given = dtype if input_dtype is None else input_dtype
    if isinstance(input_tensor, Tensor) and given is not None and given != input_tensor.dtype:
        raise ValueError(f"ttnn.typecast: input_dtype is {given}; input_tensor is of {input_tensor.dtype}")
    return (output_dtype,)


def product(dim: Any, output_tensor: Any) -> tuple[Any, Any]:
    """Returns the dimension and the tensor for the result, of `(input_tensor, dim)` or `(input_tensor, output)`."""
    if not isinstance(dim, Tensor):
        return dim, output_tensor
    if output_tensor is not None:
        raise TypeError("ttnn.prod: output_tensor is given twice")
    return None, dim


def _one_position(function: str, name: str) -> Callable[[Any, Any], tuple[Any]]:
    """Returns what makes a tensor of one number, where a call gives that instead of a tensor."""

    def prepare(near: Any, value: Any) -> tuple[Any]:
        if value is None or isinstance(value, Tensor):
            return (value,)
        if type(value) is not int or not 0 <= value < 2**31:
            raise TypeError(f"ttnn.{function}: {name} is {value!r}; expected an integer from 0 on, or a ttnn.Tensor")
        device = near.device() if isinstance(near, Tensor) else None
        return (Tensor([value], [1], DataType.INT32, Layout.ROW_MAJOR, device),)

    return prepare


def chunk_start(near: Any, number: Any, tensor: Any) -> tuple[Any]:
    """Returns where a chunk begins as a tensor, of a number or a tensor."""
    function = "transformer.chunked_scaled_dot_product_attention"
    if number is not None and tensor is not None:
        raise TypeError(f"ttnn.{function}: chunk_start_idx and chunk_start_idx_tensor are given; expected one of them")
    return _one_position(function, "chunk_start_idx")(near, number) if tensor is None else (tensor,)


def latent_values(input_tensor_v: Any, head_dim_v: Any) -> tuple[Any, Any]:
    """Returns the values and their size, of `(q, k, head_dim_v)` or `(q, k, values)`."""
    if type(input_tensor_v) is int:
        if head_dim_v is not None:
            raise TypeError("ttnn.transformer.flash_mla_prefill: head_dim_v is given twice")
        return None, input_tensor_v
    if head_dim_v is None and isinstance(input_tensor_v, Tensor) and len(input_tensor_v.shape):
        head_dim_v = input_tensor_v.shape[-1]
    return input_tensor_v, head_dim_v


def volumes(input_tensor: Any, *given: Any) -> tuple[Any, ...]:
    """Returns channels, batch, depth, height and width of [batch, depth, height, width, channels], if not given."""
    shape = list(input_tensor.shape) if isinstance(input_tensor, Tensor) else []
    if len(shape) != 5:
        return given  # the function says what is wrong with it
    found = (shape[4], *shape[:4])
    return tuple(size if each is None else each for size, each in zip(found, given, strict=True))


def demands(*names: str) -> Callable[[Callable[..., Any]], Any]:
    """Returns a decorator that shows parameters as required, because the first form of a call gives them."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(function)
        shown = [p.replace(default=p.empty) if p.name in names else p for p in own.parameters.values()]
        function.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
        return function

    return decorate


@dataclass(frozen=True)
class Prepared:
    """Converts the parameters of a call to the form of a row.

    prepare: takes `taken` and returns `replaced`; `used` is None from then on.
    required: parameters that are shown as required, because a call in the first form gives them.
    optional: parameters of the row that need not be given.
    forms: the parameters by place of the other forms, as stubs have them; `-name` leaves one of the others out.
    """

    prepare: Callable[..., tuple[Any, ...]] | None = None
    taken: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()


_SIZES = ("in_channels", "batch_size", "input_depth", "input_height", "input_width")
_NUMBER = Prepared(forms=("input_tensor_a: Tensor, input_b: Tensor | float",))
# By function.
PREPARED: dict[str, Prepared] = {
    "arange": Prepared(bounds, ("start", "end"), ("start", "end"), forms=("end: int",)),
    "assign": Prepared(required=("memory_config",), forms=("input_a: Tensor, input_b: Tensor",)),
    "bitwise_and": _NUMBER,
    "bitwise_or": _NUMBER,
    "bitwise_xor": _NUMBER,
    "divide": Prepared(forms=("input_tensor_a: Tensor, value: float",)),
    "logical_left_shift": _NUMBER,
    "maximum": _NUMBER,
    "minimum": _NUMBER,
    "pad": Prepared(
        padded,
        ("input_tensor", "padding", "value", "fill", "output_padded_shape", "input_tensor_start"),
        ("padding", "value"),
        ("fill", "output_padded_shape", "input_tensor_start"),
        forms=(
            "input_tensor: Tensor, output_padded_shape: Sequence[int], input_tensor_start: Sequence[int], value: float",
        ),
    ),
    "prod": Prepared(
        product,
        ("dim", "output_tensor"),
        ("dim", "output_tensor"),
        forms=("input_tensor: Tensor, output_tensor: Tensor",),
    ),
    "reshape": Prepared(forms=("input_tensor: Tensor, logical_shape: Sequence[int], padded_shape: Sequence[int]",)),
    "roll": Prepared(required=("dim",), forms=("input_tensor: Tensor, shifts: int",)),
    "slice": Prepared(
        forms=(
            "input_tensor: Tensor, starts: Any, ends: Any, steps: Any",
            "input_tensor: Tensor, slice_start: Sequence[int], slice_end: Sequence[int], "
            "slice_step: Sequence[int] | None = None",
        )
    ),
    "typecast": Prepared(
        converted,
        ("input_tensor", "dtype", "input_dtype", "output_dtype"),
        ("dtype",),
        ("output_dtype", "input_dtype"),
        forms=("input_tensor: Tensor, input_dtype: DataType, output_dtype: DataType",),
    ),
    "update_cache": Prepared(_one_position("update_cache", "update_idx"), ("cache", "update_idx"), ("update_idx",)),
    "experimental.conv3d": Prepared(volumes, ("input_tensor", *_SIZES), _SIZES, optional=_SIZES),
    "experimental.paged_update_cache": Prepared(
        _positions("experimental.paged_update_cache", "update_idxs"),
        ("cache_tensor", "update_idxs", "update_idxs_tensor"),
        ("update_idxs_tensor",),
        ("update_idxs",),
        optional=("update_idxs_tensor",),
    ),
    "transformer.chunked_scaled_dot_product_attention": Prepared(
        chunk_start,
        ("input_tensor_q", "chunk_start_idx", "chunk_start_idx_tensor"),
        ("chunk_start_idx_tensor",),
        ("chunk_start_idx",),
        optional=("chunk_start_idx_tensor",),
    ),
    "transformer.flash_mla_prefill": Prepared(
        latent_values,
        ("input_tensor_v", "head_dim_v"),
        ("input_tensor_v", "head_dim_v"),
        required=("input_tensor_v",),
        optional=("head_dim_v",),
        forms=("input_tensor_q: Tensor, input_tensor_k: Tensor, head_dim_v: int",),
    ),
    "transformer.scaled_dot_product_attention_decode": Prepared(
        _positions("transformer.scaled_dot_product_attention_decode", "cur_pos"),
        ("input_tensor_k", "cur_pos", "cur_pos_tensor"),
        ("cur_pos_tensor",),
        ("cur_pos",),
    ),
}
