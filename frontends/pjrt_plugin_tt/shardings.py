# SPDX-License-Identifier: Apache-2.0
"""Lowerings of ops that request shardings, or send parts whose sizes are known at run time."""

from __future__ import annotations

import ctypes
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array, lax
from jax._src import core, custom_partitioning, debugging
from jax._src.interpreters import mlir
from jax._src.lax import parallel
from jax._src.lib import xla_client

from .rules import rule


def _ragged_all_to_all(
    operand: Array,
    output: Array,
    input_offsets: Array,
    send_sizes: Array,
    output_offsets: Array,
    recv_sizes: Array,
    *,
    axis_name: Any,
    axis_index_groups: Any,
) -> Array:
    """Sends rows to the chips of a group; chip `i` sends `send_sizes[j]` of them to chip `j`.

    Returns `output`, with the rows that came at the offsets that their senders named. Every chip gathers the rows of
    its group and picks those that are for it: sizes of messages are static on the chip.
    """

    def gathered(x: Array) -> Array:
        return lax.all_gather(x, axis_name, axis_index_groups=axis_index_groups)

    rows, height = gathered(operand), operand.shape[0]
    group = rows.shape[0]
    if not operand.size or not output.size:
        return output
    per_chip = input_offsets.shape[0] // group  # offsets for each chip of the group
    place = lax.axis_index(axis_name)
    if axis_index_groups is not None:
        places = sorted((chip, number) for members in axis_index_groups for number, chip in enumerate(members))
        place = jnp.array([number for _, number in places], jnp.int32)[place]
    starts, sizes, targets = (
        lax.dynamic_slice_in_dim(gathered(x).astype(jnp.int32), place * per_chip, per_chip, axis=1).reshape(-1, 1)
        for x in (input_offsets, send_sizes, output_offsets)
    )
    senders = jnp.repeat(jnp.arange(group, dtype=jnp.int32), per_chip)[:, None]
    row = jnp.arange(output.shape[0], dtype=jnp.int32)[None]
    own = (row >= targets) & (row < targets + sizes)  # one sender at most has written a row
    source = jnp.sum(jnp.where(own, senders * height + starts + row - targets, 0), axis=0)
    taken = jnp.take(rows.reshape(group * height, *operand.shape[1:]), source, axis=0, mode="clip")
    written = jnp.any(own, axis=0).reshape(-1, *[1] * (output.ndim - 1))
    return jnp.where(written, taken, output)


def _lower_custom_partitioning(context: Any, *operands: Any, call: Any, **_: Any) -> Any:
    """Lowers the function itself; the compiler splits its ops, and does not ask for a partition."""
    return mlir.lower_fun(core.jaxpr_as_fun(call), multiple_results=True)(context, *operands)


_Fail = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p)
_Inspect = ctypes.CFUNCTYPE(
    None, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t, _Fail, ctypes.c_void_p
)
# Callbacks of programs that are being compiled, by name. The programs keep them alive.
_inspectors: weakref.WeakValueDictionary[str, Callable[[Any], None]] = weakref.WeakValueDictionary()


@_Inspect
def _inspect(name: bytes, data: Any, size: int, fail: Any, to: int) -> None:
    try:
        callback = _inspectors.get(name.decode())
        if callback is not None:
            message = xla_client.OpSharding()
            message.ParseFromString(data[:size])
            callback(xla_client.HloSharding.from_proto(message))
    except BaseException:  # it must not leave through C
        text = traceback.format_exc().encode()
        fail(text, len(text), to)


def _encode(callback: Callable[[Any], None]) -> bytes:
    """Names a callback as JAX's own lowering requires: by bytes in the module."""
    name = f"inspect.{id(callback):x}"
    _inspectors[name] = callback
    return name.encode()


def _lower_inspect_sharding(context: Any, *operands: Any, **parameters: Any) -> Any:
    known = xla_client.encode_inspect_sharding_callback
    xla_client.encode_inspect_sharding_callback = _encode
    try:
        return debugging._inspect_sharding_lowering_rule(context, *operands, **parameters)
    finally:
        xla_client.encode_inspect_sharding_callback = known


def register(platform: str, library: ctypes.CDLL) -> None:
    mlir.register_lowering(
        parallel.ragged_all_to_all_p, rule(_ragged_all_to_all, multiple_results=False), platform=platform
    )
    mlir.register_lowering(debugging.inspect_sharding_p, _lower_inspect_sharding, platform=platform)
    library.ttPjrtSetInspector(_inspect)
    mlir.register_lowering(custom_partitioning.custom_partitioning_p, _lower_custom_partitioning, platform=platform)
