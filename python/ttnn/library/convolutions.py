# SPDX-License-Identifier: Apache-2.0
"""Weights of convolutions that a call prepares and returns for later ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from _ttmlir_runtime.runtime import Tensor

# By function: those that prepare its weights and its bias, and the order of the weights' dimensions.
_PREPARE = {
    "conv1d": ("prepare_conv_weights", "prepare_conv_bias", "OIHW"),
    "conv2d": ("prepare_conv_weights", "prepare_conv_bias", "OIHW"),
    "conv_transpose2d": ("prepare_conv_transpose2d_weights", "prepare_conv_transpose2d_bias", "IOHW"),
}
_SAME = (
    "in_channels", "out_channels", "batch_size", "input_height", "input_width", "kernel_size", "stride", "padding",
    "dilation", "groups", "device", "conv_config", "compute_config", "slice_config",
)  # fmt: skip


def with_weights(function: str, value: bool, values: dict[str, Any]) -> Callable[[Any], Any] | None:
    """Prepares weight_tensor and bias_tensor on the device, unless they are, and returns them with the result."""
    if not value:
        return None
    requested = getattr(values.get("conv_config"), "weights_dtype", None)
    has_bias = values.get("bias_tensor") is not None
    for at, name in enumerate(("weight_tensor", "bias_tensor")):
        tensor = values.get(name)
        if isinstance(tensor, Tensor) and not (tensor.is_on_device() and requested in (None, tensor.dtype)):
            values[name] = _prepared(function, at, name, has_bias, values)
    both = (values["weight_tensor"], values.get("bias_tensor"))
    return lambda result: (*(result if isinstance(result, tuple) else (result,)), both)


def _prepared(function: str, at: int, name: str, has_bias: bool, values: dict[str, Any]) -> Tensor:
    given = {each: values[each] for each in _SAME if each in values}
    if function == "conv1d":  # as an image one pixel wide
        given |= {"input_height": values["input_length"], "input_width": 1}
    if at == 0:
        given |= {"has_bias": has_bias, "weights_format": _PREPARE[function][2]}
        if "output_padding" in values:
            given["output_padding"] = values["output_padding"]
    image = values["input_tensor"]
    if not isinstance(image, Tensor):
        return values[name]  # the convolution says what is wrong with it
    prepared = getattr(sys.modules["ttnn"], _PREPARE[function][at])(
        **{name: values[name]},
        **given,
        input_memory_config=image.memory_config(),
        input_layout=image.layout,
        input_dtype=image.dtype,
    )
    prepared.set_constant()  # it owns its values
    return prepared
