# SPDX-License-Identifier: Apache-2.0
"""Parameters of the library that the rows of the runtime lack: steps before a call of a row and after it.

A step takes the name of the function, the value of its parameter, and the arguments of the call, which it may change.
It returns what is done with the result, or None.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from operator import index
from typing import Any, SupportsIndex

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import CoreCoord, CoreRange, CoreRangeSet, DataType, Layout, MemoryConfig, TensorMemoryLayout

from ..configs import Config
from ..constants import TILE_SIZE
from .activations import with_activations
from .modes import GeluVariant

Values = dict[str, Any]
Then = Callable[[Any], Any]


def ttnn(name: str) -> Callable[..., Any]:
    """Returns a public function; they are complete only when the package has been imported."""
    function: Callable[..., Any] = getattr(sys.modules["ttnn"], name)
    return function


INTEGERS = (DataType.INT32, DataType.UINT32, DataType.UINT16, DataType.UINT8)
# Instead of the row, under this name in the arguments: the function that is called.
INSTEAD = "instead of the row"


def activate(operands: tuple[str, str]) -> Callable[[str, Any, Values], None]:
    def step(function: str, value: Any, values: Values) -> None:
        parameter = next(name for name in operands if name in values)
        operand = values[parameter]
        if not isinstance(operand, Tensor):
            raise TypeError(f"ttnn.{function}: {parameter} is {operand!r}; an activation of it needs a ttnn.Tensor")
        values[parameter] = with_activations(function, operand, value)

    return step


def apart(function: str, value: bool | None, values: Values) -> None:
    tensor = values["input_tensor"]
    if value is False and values.get("memory_config") is None and isinstance(tensor, Tensor) and tensor.is_on_device():
        values["memory_config"] = MemoryConfig(TensorMemoryLayout.INTERLEAVED, tensor.memory_config().buffer_type)


def scaled(function: str, value: float, values: Values) -> Then:
    return lambda result: ttnn("multiply")(result, value)


def in_layout(function: str, value: Layout, values: Values) -> Then | None:
    values["layout"] = value
    return None


def rounded(function: str, value: str, values: Values) -> Then:
    if value not in ("floor", "trunc"):
        raise ValueError(f"ttnn.{function}: rounding_mode is {value!r}; expected None, 'floor' or 'trunc'")
    operand = values.get("input_tensor_a")
    if values.get("dtype") is None and isinstance(operand, Tensor) and operand.dtype in INTEGERS:
        return lambda result: ttnn("typecast")(ttnn(value)(result), operand.dtype)
    return ttnn(value)


def add_residual(function: str, value: Tensor, values: Values) -> None:
    values["input_tensor"] = ttnn("add")(values["input_tensor"], value)


def approximated(function: str, value: GeluVariant, values: Values) -> Then | None:
    if value is not GeluVariant.Tanh:
        return None

    def approximated(input_tensor: Tensor, **options: Any) -> Any:
        wide = ttnn("typecast")(input_tensor, DataType.FLOAT32)
        cubic = ttnn("add")(wide, ttnn("multiply")(ttnn("pow")(wide, 3.0), 0.044715))
        gate = ttnn("sigmoid")(ttnn("multiply")(cubic, 1.5957691216057308))  # 2 * sqrt(2 / pi)
        return ttnn("typecast")(
            ttnn("multiply")(wide, gate), options.get("dtype") or input_tensor.dtype,
            memory_config=options.get("memory_config"), output_tensor=options.get("output_tensor"),
        )  # fmt: skip

    values[INSTEAD] = approximated
    return None


def over_dims(function: str, value: Sequence[int], values: Values) -> None:
    if not value or values["dim"] is not None or not all(type(each) is int for each in value):
        raise TypeError(f"ttnn.{function}: dims is {value!r} and dim {values['dim']!r}; expected dimensions in one")

    def product(input_tensor: Tensor, output_tensor: Tensor | None = None, **options: Any) -> Any:
        result: Any = input_tensor
        for each in value:
            result = ttnn("prod")(result, each, True)
        return ttnn("assign")(
            result, dtype=options.get("dtype"), memory_config=options.get("memory_config"), output_tensor=output_tensor
        )

    values[INSTEAD] = product


def of_user(function: str, value: int, values: Values) -> None:
    if values["batch_idx_tensor"] is not None:
        raise TypeError(f"ttnn.{function}: batch_idx and batch_idx_tensor are given; expected one of them")
    device = values["cache_tensor"].device()
    values["batch_idx_tensor"] = Tensor([value], [1], DataType.INT32, Layout.ROW_MAJOR, device)


def with_bias(function: str, value: Tensor, values: Values) -> Then:
    return lambda result: ttnn("add")(result, value)


def in_groups(function: str, value: int, values: Values) -> None:
    tensors, dim = values["tensors"], values["dim"]
    if value < 1 or any(tensor.shape[dim] % value for tensor in tensors):
        raise ValueError(
            f"ttnn.{function}: groups is {value}; expected a divisor of "
            f"{', '.join(str(tensor.shape[dim]) for tensor in tensors)}, the sizes of dimension {dim}"
        )
    parts = [ttnn("split")(tensor, tensor.shape[dim] // value, dim) for tensor in tensors]
    values["tensors"] = [part[group] for group in range(value) for part in parts]


def one_axis(function: str, values: Values) -> None:
    tensor = values["tilize_input_tensor" if "tilize_input_tensor" in values else "input_tensor"]
    device = tensor.device() if isinstance(tensor, Tensor) else None
    if device is None:
        values["cluster_axis"] = 0  # the function says what is wrong with its tensor
        return
    rows, columns = device.get_mesh_shape()
    if rows > 1 and columns > 1:
        raise ValueError(
            f"ttnn.{function}: cluster_axis is None; expected 0 or 1 on a mesh of {rows}x{columns} devices"
        )
    values["cluster_axis"] = 0 if rows > 1 else 1


def one_core(function: str, values: Values) -> None:
    values["mux_core_range_set"] = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(0, 0))])


def flat_roll(function: str, values: Values) -> None:
    def rolled(input_tensor: Tensor, shifts: Any, dim: None, **options: Any) -> Any:
        flat = ttnn("reshape")(input_tensor, [-1]) if isinstance(input_tensor, Tensor) else input_tensor
        return ttnn("reshape")(ttnn(function)(flat, shifts, 0, **options), input_tensor.shape)

    values[INSTEAD] = rolled


def devices_of_axis(function: str, values: Values) -> None:
    tensor = values["input_tensor"]
    device = tensor.device() if isinstance(tensor, Tensor) else None
    axis = values["cluster_axis"]
    values["num_devices"] = device.get_mesh_shape()[axis] if device is not None and axis in (0, 1) else 1


def experts_of_token(function: str, values: Values) -> None:
    tensor = values["expert_metadata_tensor"]
    values["num_experts_per_tok"] = tensor.shape[-1] if isinstance(tensor, Tensor) and len(tensor.shape) else 1


def written(place: int) -> Callable[[str, Tensor, Values], Then]:
    """Returns a step that writes one of several results to a tensor."""

    def step(function: str, value: Tensor, values: Values) -> Then:
        def then(results: Any) -> Any:
            ttnn("assign")(results[place], output_tensor=value)
            return tuple(value if at == place else result for at, result in enumerate(results))

        return then

    return step


def padded_as(function: str, value: Sequence[int], values: Values) -> Then:
    """Checks the padded shape. It may be that of the tiles as they are, with other rows and columns in use.

    Programs for a card name the rows in use of a tile of users this way, `((1, 1, 8, n), (1, 1, 32, n))`.
    """
    tensor, shape = values["input_tensor"], values["shape"]
    if (
        isinstance(tensor, Tensor)
        and tensor.layout == Layout.TILE
        and isinstance(shape, list | tuple)
        and [*tensor.padded_shape] == [*value]
        and len(shape) == len(value)
        and len(shape) >= 2
        and [*shape[:-2], *(size + -size % TILE_SIZE for size in shape[-2:])] == [*value]
        and math.prod(shape) != math.prod(tensor.shape)
    ):
        common = [min(pair) for pair in zip(shape, tensor.shape, strict=True)]
        tensor = ttnn("slice")(tensor, [0] * len(common), common)
        values["input_tensor"] = ttnn("pad")(
            tensor, [(0, size - own) for size, own in zip(shape, common, strict=True)], 0
        )

    def then(result: Tensor) -> Tensor:
        if list(result.padded_shape) != list(value):
            raise ValueError(
                f"ttnn.{function}: padded_shape is {list(value)}; expected {list(result.padded_shape)}, which follows "
                "from the shape and the layout"
            )
        return result

    return then


def flipped(tensor: Tensor, axis: int, memory_config: MemoryConfig | None = None) -> Tensor:
    """Returns the tensor with the elements of a dimension in the opposite order."""
    if 0 in tensor.shape:
        return tensor
    rank, size = len(tensor.shape), tensor.shape[axis]
    places = ttnn("arange")(
        size - 1, -1, -1, dtype=DataType.UINT32, device=tensor.device(), layout=Layout.ROW_MAJOR
    )  # fmt: skip
    along = ttnn("reshape")(places, [size if each == axis else 1 for each in range(rank)])
    times = [1 if each == axis else tensor.shape[each] for each in range(rank)]
    return ttnn("gather")(
        tensor, axis, ttnn("repeat")(ttnn("to_layout")(along, tensor.layout), times), memory_config=memory_config
    )


def from_the_end(function: str, value: bool, values: Values) -> Then | None:
    """Reads the operand from the end of the dimension, and turns the result round."""
    parameter = next(name for name in ("input_tensor", "input") if name in values)
    tensor, dim = values[parameter], values["dim"]
    rank = len(tensor.shape) if isinstance(tensor, Tensor) else 0
    if not value or not isinstance(dim, SupportsIndex) or not -rank <= index(dim) < rank:
        return None  # the function says what is wrong with them
    axis, memory_config = index(dim) % rank, values["memory_config"]
    values[parameter], values["memory_config"] = flipped(tensor, axis), None
    return lambda result: flipped(result, axis, memory_config)


def not_mirrored(function: str, value: bool, values: Values) -> None:
    """Turns a kernel that is mirrored already to what PyTorch has; prepared weights are neither."""
    weights, window = values["weight_tensor"], values["kernel_size"]
    if (
        not value
        and isinstance(weights, Tensor)
        and isinstance(window, list | tuple)
        and [*weights.shape[2:]] == [*window]
    ):
        turned = flipped(flipped(weights, 2), 3)
        # Those on a device are not prepared any more: a call that returns them has to return them as prepared.
        if turned.is_on_device():
            turned = ttnn("reshape")(turned, [1, 1, math.prod(turned.shape) // turned.shape[1], turned.shape[1]])
        values["weight_tensor"] = turned


def release_input(function: str, value: bool, values: Values) -> Then | None:
    tensor = values["input_tensor"]

    def then(result: Any) -> Any:
        ttnn("deallocate")(tensor)
        return result

    return then if value else None


def divided_by(function: str, value: int, values: Values) -> Then:
    if value < 1 or values["ceil_mode"] or not values["count_include_pad"]:
        raise ValueError(
            f"ttnn.{function}: divisor_override is {value}; expected a positive number, with ceil_mode=False and "
            "count_include_pad=True"
        )
    height, width = values["kernel_size"]
    return lambda result: ttnn("multiply")(result, height * width / value)


def with_indices(function: str, value: bool, values: Values) -> Then | None:
    if value:
        values[INSTEAD] = lambda **given: list(ttnn("max_pool2d_with_indices")(**given))
    return None


def _sizes(values: Values) -> list[int]:
    """Returns the sizes of a convolution's result: height and width, or length."""
    transposed, length = "output_padding" in values, "input_length" in values
    names = ["input_length"] if length else ["input_height", "input_width"]
    count = len(names)

    def each(name: str) -> list[int]:
        value = values[name]
        return [value] * count if isinstance(value, int) else list(value) * (count if len(value) < count else 1)

    padding = each("padding")
    around = [padding[0] + padding[1]] if length and len(padding) == 2 else [2 * size for size in padding[:count]]
    if len(padding) == 2 * count and not length:  # top, bottom, left, right
        around = [padding[0] + padding[1], padding[2] + padding[3]]
    found = []
    for at, (stride, dilation, kernel) in enumerate(
        zip(each("stride"), each("dilation"), each("kernel_size"), strict=False)
    ):
        size, window = values[names[at]], dilation * (kernel - 1) + 1
        if transposed:
            found.append((size - 1) * stride - around[at] + window + each("output_padding")[at])
        else:
            found.append((size + around[at] - window) // stride + 1)
    return found


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def with_sizes(function: str, value: bool, values: Values) -> Then | None:
    sizes = _sizes(values)
    return (lambda result: (result, sizes[0] if len(sizes) == 1 else tuple(sizes))) if value else None


def _sliced(function: str, value: Config, values: Values) -> None:
    values["slice_config"] = value
