# SPDX-License-Identifier: Apache-2.0
"""Functions that read images [batch, height, width, channels] between their pixels, and convert their colors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Layout

from ..library.colors import YUVCoefficients, coefficients_of
from ..library.modes import MODES
from .frame import COMPOSITES, composite, ops
from .parts import numbers, part_of


def _images(name: str, tensor: Tensor) -> list[int]:
    shape = list(tensor.shape)
    if len(shape) != 4:
        raise ValueError(f"{name} has shape {shape}; expected [batch, height, width, channels]")
    return shape


def _rows(tensor: Tensor) -> Tensor:
    wide = ops.typecast(tensor, DataType.FLOAT32) if tensor.dtype != DataType.FLOAT32 else tensor
    return ops.to_layout(wide, Layout.ROW_MAJOR)


def _pixels(image: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the pixels [batch, places, channels] at whole numbers [batch, places, 1], and 1 where there is one."""
    batch, height, width, channels = image.shape
    inside = ops.ge(x, 0.0) * ops.le(x, width - 1.0) * ops.ge(y, 0.0) * ops.le(y, height - 1.0)
    # Positions of pixels that are not there become 0 before they are integers: they may be NaN.
    column, row = (ops.typecast(ops.where(inside, each, 0.0), DataType.INT32) for each in (x, y))
    first = ops.typecast(numbers(batch, image, 0, 3), DataType.INT32) * (height * width)
    ids = ops.typecast(first + row * width + column, DataType.UINT32)
    flat = ops.reshape(image, [batch * height * width, channels])
    return ops.embedding(ops.reshape(ids, [batch, x.shape[1]]), flat), inside


def _weighted(image: Tensor, corners: Sequence[tuple[Tensor, Tensor, Tensor]], fill: float = 0.0) -> Tensor:
    """Returns the sum of pixels by weight; those outside the image are `fill`."""
    total: Any = None
    for y, x, weight in corners:
        pixels, inside = _pixels(image, y, x)
        part = ops.where(inside, pixels, fill) * weight
        total = part if total is None else total + part
    return total


def _corners(y: Tensor, x: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Returns the four pixels around a place, row by row, with their weights."""
    top, left = ops.floor(y), ops.floor(x)
    down, right = y - top, x - left
    return [
        (top, left, (1.0 - down) * (1.0 - right)), (top, left + 1.0, (1.0 - down) * right),
        (top + 1.0, left, down * (1.0 - right)), (top + 1.0, left + 1.0, down * right),
    ]  # fmt: skip


def _sampled(image: Tensor, y: Tensor, x: Tensor, mode: str, fill: float = 0.0) -> Tensor:
    if mode == "bilinear":
        return _weighted(image, _corners(y, x), fill)
    y, x = (COMPOSITES["round"](each) for each in (y, x))
    pixels, inside = _pixels(image, y, x)
    return ops.where(inside, pixels, fill)


def _check_modes(mode: str, padding_mode: str) -> None:
    if mode not in ("bilinear", "nearest"):
        raise ValueError(f'mode is {mode!r}; expected "bilinear" or "nearest"')
    if padding_mode != "zeros":
        raise ValueError(f'padding_mode is {padding_mode!r}; expected "zeros"')


def _places(grid: Tensor, height: int, width: int, align_corners: bool) -> tuple[Tensor, Tensor]:
    """Returns rows and columns [batch, places, 1] of positions (x, y) from -1 to 1 [batch, places, 2]."""
    x, y = part_of(grid, 2, 0, 1), part_of(grid, 2, 1, 2)
    if align_corners:
        return (y + 1.0) * ((height - 1) / 2), (x + 1.0) * ((width - 1) / 2)
    return ((y + 1.0) * float(height) - 1.0) * 0.5, ((x + 1.0) * float(width) - 1.0) * 0.5


def _result(found: Tensor, like: Tensor) -> Tensor:
    found = ops.to_layout(found, like.layout)
    return found if found.dtype == like.dtype else ops.typecast(found, like.dtype)


@composite(
    "memory_config compute_kernel_config",
    golden="torch.nn.functional.grid_sample(input_tensor.permute(0, 3, 1, 2), grid.reshape(grid.shape[0], "
    "grid.shape[1], -1, 2), mode, padding_mode, align_corners).permute(0, 2, 3, 1).reshape(*((*grid.shape[:3], -1) if "
    "batch_output_channels else (*grid.shape[:2], -1, input_tensor.shape[3])))",
    wide=False,
)
def grid_sample(
    input_tensor: Tensor,
    grid: Tensor,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    use_precomputed_grid: bool = False,
    batch_output_channels: bool = False,
) -> Tensor:
    """Reads images [batch, height, width, channels] at the places of a grid [batch, rows, columns, 2 * n].

    Args:
        grid: n positions (x, y) from -1 to 1; with use_precomputed_grid what prepare_grid_sample_grid returns.
        mode: "bilinear" or "nearest".
        batch_output_channels: the n results of a place lie in channels; otherwise side by side in columns.
    Returns:
        [batch, rows, columns * n, channels], or [batch, rows, columns, n * channels].
    Raises:
        ValueError: shapes do not fit, or a mode is another.
    """
    _check_modes(mode, padding_mode)
    batch, height, width, channels = _images("input_tensor", input_tensor)
    rows = _images("grid", grid)
    size = (2 if mode == "nearest" else 6) if use_precomputed_grid else 2
    if rows[0] != batch or rows[3] % size or not rows[3]:
        raise ValueError(f"grid has shape {rows}; expected [{batch}, rows, columns, n * {size}]")
    count = rows[3] // size
    shape = [*rows[:3], count * channels] if batch_output_channels else [batch, rows[1], rows[2] * count, channels]
    places = [batch, rows[1] * rows[2] * count, size]
    if 0 in shape or 0 in input_tensor.shape:
        zeros = ops.zeros(shape, dtype=input_tensor.dtype, layout=Layout.ROW_MAJOR, device=input_tensor.device())
        return ops.to_layout(zeros, input_tensor.layout)
    image = _rows(input_tensor)
    if use_precomputed_grid:
        found = _prepared(image, ops.reshape(ops.to_layout(grid, Layout.ROW_MAJOR), places), mode)
    else:
        y, x = _places(ops.reshape(_rows(grid), places), height, width, align_corners)
        found = _sampled(image, y, x, mode)
    return _result(ops.reshape(found, shape), input_tensor)


def _number(grid: Tensor, at: int) -> Tensor:
    """Returns the 16-bit integers whose bits a prepared grid has as bfloat16."""
    bits = ops.typecast(ops.bitcast(part_of(grid, 2, at, at + 1), DataType.UINT16), DataType.INT32)
    value = ops.typecast(bits, DataType.FLOAT32)
    return ops.where(ops.ge(value, 32768.0), value - 65536.0, value)


def _prepared(image: Tensor, grid: Tensor, mode: str) -> Tensor:
    if grid.dtype != DataType.BFLOAT16:
        raise ValueError(f"grid has data type {grid.dtype.name}; expected BFLOAT16 of a prepared grid")
    top, left = _number(grid, 0), _number(grid, 1)
    if mode == "nearest":
        return _sampled(image, top, left, mode)
    weights = [_rows(part_of(grid, 2, at, at + 1)) for at in range(2, 6)]
    places = [(top, left), (top, left + 1.0), (top + 1.0, left), (top + 1.0, left + 1.0)]
    return _weighted(image, [(*place, weight) for place, weight in zip(places, weights, strict=True)])


def _bits(values: Tensor, limit: int) -> Tensor:
    """Returns whole numbers as the bits of bfloat16; those outside -1 to `limit` are -1."""
    there = ops.ge(values, -1.0) * ops.le(values, float(limit))
    values = ops.where(there, values, -1.0)
    values = ops.where(ops.lt(values, 0.0), values + 65536.0, values)
    return ops.bitcast(ops.typecast(ops.typecast(values, DataType.UINT32), DataType.UINT16), DataType.BFLOAT16)


@composite(wide=False)
def prepare_grid_sample_grid(
    grid: Tensor,
    input_shape: Sequence[int],
    *,
    mode: str = "bilinear",
    align_corners: bool = False,
    padding_mode: str = "zeros",
    output_dtype: DataType | None = None,
) -> Tensor:
    """Computes once what grid_sample reads of a grid [batch, rows, columns, 2].

    Args:
        input_shape: [batch, height, width, channels] of the images.
    Returns:
        BFLOAT16 [batch, rows, columns, 6]: row and column of the upper left pixel as the bits of 16-bit integers, and
        the weights of four pixels, 0 outside the image. With mode "nearest", row and column alone: a place between two
        pixels belongs to the next one, as in the library. grid_sample takes the even one there, as PyTorch does.
    Raises:
        ValueError: shapes do not fit, a mode is another, or output_dtype is not BFLOAT16.
    """
    _check_modes(mode, padding_mode)
    shape = _images("grid", grid)
    if output_dtype not in (None, DataType.BFLOAT16):
        raise ValueError(f"output_dtype is {output_dtype!r}; expected BFLOAT16")
    if shape[3] != 2 or len(input_shape) != 4 or not all(0 < each < 32768 for each in input_shape[1:3]):
        raise ValueError(f"grid has shape {shape} and input_shape is {list(input_shape)}; expected [batch, rows, "
                         "columns, 2], and four sizes with a height and a width from 1 to 32767")  # fmt: skip
    height, width = input_shape[1:3]
    y, x = _places(ops.reshape(_rows(grid), [shape[0], shape[1] * shape[2], 2]), height, width, align_corners)
    if mode == "nearest":
        y, x = (ops.floor(each + 0.5) for each in (y, x))  # ties go up, as the library's do
        inside = ops.ge(x, 0.0) * ops.le(x, width - 1.0) * ops.ge(y, 0.0) * ops.le(y, height - 1.0)
        parts = [_bits(ops.where(inside, each, -1.0), 32767) for each in (y, x)]
        return ops.reshape(ops.concat(parts, dim=2), [*shape[:3], 2])
    parts = []
    for at, (row, column, weight) in enumerate(_corners(y, x)):
        if not at:
            parts = [_bits(row, height - 1), _bits(column, width - 1)]
        inside = ops.ge(column, 0.0) * ops.le(column, width - 1.0) * ops.ge(row, 0.0) * ops.le(row, height - 1.0)
        parts.append(ops.typecast(ops.where(inside, weight, 0.0), DataType.BFLOAT16))
    return ops.reshape(ops.concat(parts, dim=2), [*shape[:3], 6])


_TURN = (
    "(lambda h, w, c, s, x0, y0: torch.stack((((c * (torch.arange(w) - x0)[None, :] - s * (torch.arange(h) - y0)"
    "[:, None] + x0) * 2 + 1) / w - 1, ((s * (torch.arange(w) - x0)[None, :] + c * (torch.arange(h)"
    " - y0)[:, None] + y0)"
    " * 2 + 1) / h - 1), -1))(*input_tensor.shape[1:3],"
    " torch.tensor(angle).double().deg2rad().cos(), torch.tensor(angle)."
    "double().deg2rad().sin(), *(center or ((input_tensor.shape[2] - 1) / 2, (input_tensor.shape[1] - 1) / 2)))"
)


@composite(
    "memory_config",
    golden="torch.nn.functional.grid_sample((input_tensor - fill).permute(0, 3, 1, 2), "
    f"{_TURN}[None].repeat(input_tensor.shape[0], 1, 1, 1).to(input_tensor), interpolation_mode, align_corners=False)"
    ".permute(0, 2, 3, 1) + fill",
    wide=False,
)
def rotate(
    input_tensor: Tensor,
    angle: float,
    *,
    center: Sequence[float] | None = None,
    fill: float = 0.0,
    expand: bool = False,
    interpolation_mode: str = "nearest",
) -> Tensor:
    """Turns images [batch, height, width, channels] counter-clockwise by an angle in degrees.

    Args:
        center: (x, y) in pixels; the middle of the image when left out.
        fill: stands for what lies outside the image.
        interpolation_mode: "nearest" or "bilinear".
    Raises:
        ValueError: expand is True, the tensor has not four dimensions, or a parameter is another.
    """
    batch, height, width, channels = _images("input_tensor", input_tensor)
    if expand:
        raise ValueError("expand is True; expected False: the result has the size of the image")
    if interpolation_mode not in ("nearest", "bilinear"):
        raise ValueError(f'interpolation_mode is {interpolation_mode!r}; expected "nearest" or "bilinear"')
    if center is not None and len(center) != 2:
        raise ValueError(f"center is {list(center)}; expected two numbers, x and y")
    if 0 in input_tensor.shape:
        return ops.assign(input_tensor)
    middle_x, middle_y = ((width - 1) / 2, (height - 1) / 2) if center is None else map(float, center)
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    image = _rows(input_tensor)
    across = ops.reshape(numbers(width, image), [1, width, 1]) - middle_x
    down = ops.reshape(numbers(height, image), [height, 1, 1]) - middle_y
    x, y = (
        ops.repeat(ops.reshape(each, [1, height * width, 1]), [batch, 1, 1])
        for each in (across * cosine - down * sine + middle_x, across * sine + down * cosine + middle_y)
    )
    found = _sampled(image, y, x, interpolation_mode, float(fill))
    return _result(ops.reshape(found, [batch, height, width, channels]), input_tensor)


# Colors.


def _plane(image: Tensor, row: Sequence[float]) -> Tensor:
    parts = [part_of(image, 0, at, at + 1) * float(row[at]) for at in range(3)]
    value = ops.clamp(parts[0] + parts[1] + parts[2] + float(row[3]), 0.0, 255.0)
    return ops.typecast(COMPOSITES["round"](value), DataType.UINT8)


def rgb_to_yuv(
    input: Tensor,
    *,
    format: Any = MODES["YUVFormat"].YUV420Planar,
    color_space: Any = MODES["YUVColorSpace"].BT601,
    input_range: Any = MODES["RGBRange"].MinusOneToOne,
    output_range: Any = MODES["YUVRange"].Limited,
    coefficients: Any = None,
    wide_rows: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Converts frames [3, height, width, time] of red, green and blue to three planes of bytes.

    Args:
        coefficients: YUVCoefficients, instead of color_space, input_range and output_range.
        wide_rows: planes are [1, height, width * time].
    Returns:
        UINT8 [1, height, width, time] of brightness, and two of color with half the height and half the width.
    Raises:
        TypeError, ValueError: sizes are not even, or a parameter is another.
    """
    shape = list(input.shape)
    if len(shape) != 4 or shape[0] != 3 or shape[1] % 2 or shape[2] % 2:
        raise ValueError(f"input has shape {shape}; expected [3, height, width, time] with even height and width")
    if format is not MODES["YUVFormat"].YUV420Planar:
        raise TypeError(f"format is {format!r}; expected YUVFormat.YUV420Planar")
    rows = coefficients_of(color_space, input_range, output_range) if coefficients is None else coefficients
    if not isinstance(rows, YUVCoefficients):
        raise TypeError(f"coefficients is {coefficients!r}; expected YUVCoefficients")
    image = _rows(input)
    height, width, time = shape[1:]
    small = image
    for axis, size in ((1, height), (2, width)):
        sizes = list(small.shape)
        small = ops.mean(ops.reshape(small, [*sizes[:axis], size // 2, 2, *sizes[axis + 1 :]]), axis + 1, False)
    planes = [_plane(image, rows.y), _plane(small, rows.cb), _plane(small, rows.cr)]
    if wide_rows:
        planes = [ops.reshape(each, [1, each.shape[1], each.shape[2] * time]) for each in planes]
    first, second, third = planes
    return first, second, third


for _name in ("rgb_to_yuv", "experimental.rgb_to_yuv"):
    composite("memory_config", wide=False, name=_name)(rgb_to_yuv)


# Functions of two tensors, and elements that are not zero.

_OPS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "ADD": lambda a, b: a + b, "SUB": lambda a, b: a - b, "MUL": lambda a, b: a * b,
}  # fmt: skip


@composite(
    "memory_config output_tensor",
    golden="{'ADD': torch.add, 'SUB': torch.sub, 'MUL': torch.mul}[math_op.name](input_a, input_b)",
)
def bcast(input_a: Tensor, input_b: Tensor, math_op: Any, dim: Any) -> Tensor:
    """Computes a function of a tensor and a second one that is repeated along rows, columns or both.

    Raises:
        TypeError, ValueError: math_op and dim are no BcastOpMath and BcastOpDim, or a shape does not fit.
    """
    for name, value, kind in (("math_op", math_op, "BcastOpMath"), ("dim", dim, "BcastOpDim")):
        if not isinstance(value, MODES[kind]):
            raise TypeError(f"{name} is {value!r}; expected ttnn.{kind}")
    expected = list(input_a.shape[-2:])
    for at, letter in enumerate("HW"):
        if letter in dim.name:
            expected[at] = 1
    if list(input_b.shape[-2:]) != expected:
        raise ValueError(f"input_b has shape {list(input_b.shape)}; expected [..., {expected[0]}, {expected[1]}]")
    return _OPS[math_op.name](input_a, input_b)


@composite(
    "memory_config sub_core_grids sub_device_id",
    golden="beta1 * torch.tanh(gate / beta1) * torch.sigmoid(gate) * beta2 * torch.tanh(up / beta2)",
)
def situ_glu(gate: Tensor, up: Tensor, beta1: float, beta2: float) -> Tensor:
    """Computes beta1 * tanh(gate / beta1) * sigmoid(gate) * beta2 * tanh(up / beta2).

    Raises:
        ValueError: beta1 or beta2 is 0.
    """
    if not beta1 or not beta2:
        raise ValueError(f"beta1 is {beta1} and beta2 {beta2}; expected numbers other than 0")
    bounded = ops.tanh(gate * (1.0 / beta1)) * float(beta1) * ops.sigmoid(gate)
    return bounded * (ops.tanh(up * (1.0 / beta2)) * float(beta2))


@composite(
    "memory_config compute_kernel_config program_config dtype",
    golden="input_tensor * torch.rsqrt(stats.reshape(*stats.shape[:-1], -1, 32)[..., 0].mean(-1, keepdim=True) "
    "/ input_tensor.shape[-1] + epsilon) * (1 if weight is None else weight.reshape(-1)) + (0 if bias is None "
    "else bias.reshape(-1))",
)
def rms_norm_post_all_gather(
    input_tensor: Tensor,
    stats: Tensor,
    *,
    epsilon: float = 1e-12,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_2d_core_grid: bool | None = None,
) -> Tensor:
    """Computes the RMS norm of one device's part of rows, with the sums of squares of all devices.

    Args:
        stats: [..., 32 * devices], what all_gather makes of the results of rms_norm_pre_all_gather: column 0 of each
            32 has a sum of squares.
    Raises:
        ValueError: the last dimension of stats is no multiple of 32.
    """
    del use_2d_core_grid
    width, size = stats.shape[-1], input_tensor.shape[-1]
    if not width or width % 32:
        raise ValueError(f"stats has shape {list(stats.shape)}; expected [..., 32 * devices]")
    rank = len(stats.shape)
    sums = [part_of(stats, rank - 1, at, at + 1) for at in range(0, width, 32)]
    total = sums[0]
    for each in sums[1:]:
        total = total + each
    result = input_tensor * ops.rsqrt(total * (1.0 / max(1, size * len(sums))) + epsilon)
    if weight is not None:
        result = result * ops.reshape(weight, [size])
    return result if bias is None else result + ops.reshape(bias, [size])
