# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms, as products with cosines and sines."""

from __future__ import annotations

import math

import numpy as np

from ..emitter import Emitter
from ..errors import Refused
from ..folding import evaluate
from ..registry import Node, op
from ..values import F32, F64, Array, Value, is_float
from .convolution import convolved

# Elements of a matrix that is computed when a graph is imported.
LARGEST = 1 << 26


def number(value: Value | None, name: str) -> int | None:
    """Returns a known whole number, or None where it is left out.

    Raises:
        Refused: it is computed, or no scalar.
    """
    if value is None:
        return None
    if value.known is None:
        raise Refused(f"{name} is computed; expected it to be known when it is compiled")
    if value.size != 1:
        raise Refused(f"{name} is {value!r}; expected a scalar")
    return int(value.known.reshape(()))


def matrix(size: int, taken: int, parts: int, inverse: bool, onesided: bool) -> Array:
    """Returns [taken, parts, made, 2] of a transform of `size` places: those of the input, and real and imaginary
    parts.

    A one-sided inverse transform has the half of the frequencies, and makes real parts only: [..., made, 1].
    """
    result = size // 2 + 1 if onesided and not inverse else size
    if taken * parts * result * 2 > LARGEST:
        raise Refused(f"a transform of {size} places takes a matrix of {taken * parts * result * 2} numbers; "
                      f"expected at most {LARGEST}")  # fmt: skip
    turns = (np.arange(taken, dtype=np.int64)[:, None] * np.arange(result, dtype=np.int64)[None, :]) % size
    angles = turns * (2 * math.pi / size)
    cosine, sine = np.cos(angles), np.sin(angles)
    if inverse:
        cosine, sine = cosine / size, -sine / size
    if inverse and onesided:  # the other half is the conjugate
        twice = np.full((taken, 1), 2.0)
        twice[0] = 1
        if size % 2 == 0 and taken == size // 2 + 1:
            twice[-1] = 1
        sums = np.stack([cosine * twice, sine * twice], 1)[..., None]
    else:
        sums = np.stack([np.stack([cosine, -sine], -1), np.stack([sine, cosine], -1)], 1)
    return sums[:, :parts]


def require_signal(x: Value, name: str) -> None:
    if not is_float(x.dtype) or x.rank < 2 or x.shape[-1] not in (1, 2):
        raise Refused(f"{name} is {x!r}; expected floats with real or real and imaginary parts in the last dimension")


@op("DFT")
def dft(g: Emitter, node: Node, x: Value, length: Value | None = None, axis: Value | None = None) -> Value:
    require_signal(x, "input")
    at = node.get("axis", 1) if node.version < 20 else number(axis, "axis")
    at = -2 if at is None else at
    if not -x.rank <= at < x.rank or at % x.rank == x.rank - 1:
        raise Refused(f"axis is {at}; expected one of {x!r}, and not the last")
    at %= x.rank
    inverse, onesided = bool(node.get("inverse", 0)), bool(node.get("onesided", 0))
    size = number(length, "dft_length")
    if size is None:
        size = 2 * (x.shape[at] - 1) if inverse and onesided else x.shape[at]
    if size < 1:
        raise Refused(f"the transform has {size} places; expected at least 1")
    taken = min(x.shape[at], size // 2 + 1 if inverse and onesided else size)
    sums = matrix(size, taken, x.shape[-1], inverse, onesided)
    parts, result, out = sums.shape[1:]
    wide = x.dtype if x.dtype in (F32, F64) else F32
    v = g.cast(g.slice_dim(x, at, 0, taken), wide)
    to_end = [d for d in range(x.rank - 1) if d != at] + [at, x.rank - 1]
    v = g.transpose(v, to_end)
    rest = v.shape[:-2]
    v = g.reshape(v, (math.prod(rest), taken * parts))
    y = g.dot(v, g.constant(sums.reshape(taken * parts, result * out).astype(wide)), ((1,), (0,)))
    y = g.reshape(y, (*rest, result, out))
    return g.cast(g.transpose(y, [to_end.index(d) for d in range(x.rank)]), x.dtype)


@op("STFT")
def stft(g: Emitter, node: Node, x: Value, step: Value, window: Value | None = None,
         length: Value | None = None) -> Value:  # fmt: skip
    """Returns a convolution with the transform's matrix, which is windowed, and a stride of the step."""
    require_signal(x, "signal")
    if x.rank != 3:
        raise Refused(f"signal is {x!r}; expected [n, length, 1 or 2]")
    stride, size = number(step, "frame_step"), number(length, "frame_length")
    if size is None:
        size = window.size if window is not None else x.shape[1]
    if window is not None and window.shape != (size,):
        raise Refused(f"window is {window!r}; expected {size} numbers, the frame's length")
    if stride is None or not 1 <= stride <= x.shape[1] or not 1 <= size <= x.shape[1]:
        raise Refused(f"frame_step is {stride} and the frame's length {size}; expected 1 to the signal's, {x!r}")
    sums = matrix(size, size, x.shape[2], False, bool(node.get("onesided", 1)))
    _, parts, result, out = sums.shape
    wide = x.dtype if x.dtype in (F32, F64) else F32
    kernel = sums.reshape(size, parts, result * out).transpose(2, 1, 0)
    if window is not None and window.known is not None:
        kernel = kernel * window.known.astype(np.float64)
    weight = g.constant(np.ascontiguousarray(kernel.astype(wide)))
    if window is not None and window.known is None:
        weight = g.mul(weight, g.cast(window, wide))
    y = convolved(g, g.transpose(g.cast(x, wide), [0, 2, 1]), weight, None, [stride], [(0, 0)], [1], 1)
    y = g.transpose(y, [0, 2, 1])
    return g.cast(g.reshape(y, (*y.shape[:2], result, out)), x.dtype)


@op("MelWeightMatrix")
def mel_weight_matrix(g: Emitter, node: Node, *inputs: Value) -> Value:
    """Returns a matrix too large to be folded like other known arrays."""
    known = [x.known for x in inputs]
    if any(x is None for x in known):
        raise Refused("an input is computed; expected all to be known when it is compiled")
    bins, length = (number(x, name) or 0 for x, name in zip(inputs, ("num_mel_bins", "dft_length"), strict=False))
    if bins < 1 or length < 1 or bins * (length // 2 + 1) > LARGEST:
        raise Refused(
            f"num_mel_bins is {bins} and dft_length {length}; expected at least 1, and at most {LARGEST} numbers"
        )
    found = evaluate(node.proto, "", node.version, known, {"": node.opset})
    if found is None:
        raise Refused("the numbers of the inputs make no matrix")
    return Value.of(found[0])
