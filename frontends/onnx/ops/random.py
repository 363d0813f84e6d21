# SPDX-License-Identifier: Apache-2.0
"""Random numbers. With a seed, every run of a program has the same numbers; without, each run has others. They differ
from those of other implementations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from ttmlir import ir
from ttmlir.dialects import stablehlo

from onnx import helper

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Node, op
from ..values import BOOL, F32, I32, I64, DType, Value, is_float, is_integer


def seed_of(node: Node) -> int:
    """Returns the seed of `ttir.rand`: 0, if the node has none, gives other numbers in every run."""
    seed = node.get("seed")
    if seed is None:
        return 0
    return int(np.float32(seed).view(np.uint32)) or 1


def dtype_of(node: Node, default: DType) -> DType:
    kind = node.get("dtype")
    if kind is None:
        return default
    try:
        return np.dtype(helper.tensor_dtype_to_np_dtype(kind))
    except (KeyError, TypeError, ValueError):
        raise Refused(f"dtype {kind}; expected a type of numbers") from None


def uniform(g: Emitter, node: Node, shape: Sequence[int]) -> Value:
    """Returns numbers from 0 to 1, 1 not included, f32."""
    if not math.prod(shape):
        return g.full(shape, 0, F32)
    size = ir.ArrayAttr.get([ir.IntegerAttr.get(ir.IntegerType.get_signless(32), int(n)) for n in shape or (1,)])
    seed = ir.IntegerAttr.get(ir.IntegerType.get_unsigned(32), seed_of(node))
    drawn = g.ttir("rand", shape=shape or (1,), dtype=F32, size=size, seed=seed)
    return g.reshape(drawn, shape)


def require_float(dtype: DType) -> DType:
    if not is_float(dtype):
        raise Refused(f"random numbers of type {dtype.name}; expected a type of floats")
    return dtype


def uniform_between(g: Emitter, node: Node, shape: Sequence[int], dtype: DType) -> Value:
    low, high = float(node.get("low", 0.0)), float(node.get("high", 1.0))
    x = uniform(g, node, shape)
    x = g.add(g.mul(x, g.scalar(high - low, x)), g.scalar(low, x))
    x = g.cast(x, require_float(dtype))
    if low < high:  # rounding must not reach the upper bound
        x = g.minimum(x, g.scalar(float(np.nextafter(dtype.type(high), dtype.type(low))), x))
    return x


def normal(g: Emitter, node: Node, shape: Sequence[int], dtype: DType) -> Value:
    """Draws as G. Box and M. Muller, "A note on the generation of random normal deviates" (1958)."""
    both = uniform(g, node, (2, *shape))
    u, v = (g.reshape(g.slice_dim(both, 0, i, i + 1), shape) for i in range(2))
    logarithm = g.unary(stablehlo.log_plus_one, g.unary(stablehlo.negate, u))
    radius = g.unary(stablehlo.sqrt, g.mul(logarithm, g.scalar(-2, u)))
    x = g.mul(radius, g.unary(stablehlo.cosine, g.mul(v, g.scalar(2 * math.pi, v))))
    x = g.mul(x, g.scalar(float(node.get("scale", 1.0)), x))
    return g.cast(g.add(x, g.scalar(float(node.get("mean", 0.0)), x)), require_float(dtype))


def shape_of(node: Node) -> list[int]:
    shape = [int(n) for n in node.need("shape")]
    if any(n < 0 for n in shape):
        raise Refused(f"shape {shape}; expected sizes from 0")
    return shape


@op("RandomUniform", keep=True)
def random_uniform(g: Emitter, node: Node) -> Value:
    return uniform_between(g, node, shape_of(node), dtype_of(node, F32))


@op("RandomNormal", keep=True)
def random_normal(g: Emitter, node: Node) -> Value:
    return normal(g, node, shape_of(node), dtype_of(node, F32))


@op("RandomUniformLike", keep=True)
def random_uniform_like(g: Emitter, node: Node, x: Value) -> Value:
    return uniform_between(g, node, x.shape, dtype_of(node, x.dtype))


@op("RandomNormalLike", keep=True)
def random_normal_like(g: Emitter, node: Node, x: Value) -> Value:
    return normal(g, node, x.shape, dtype_of(node, x.dtype))


@op("Bernoulli", keep=True)
def bernoulli(g: Emitter, node: Node, x: Value) -> Value:
    """Returns whether a number from 0 to 1 is below the chance."""
    drawn = g.compare("LT", uniform(g, node, x.shape), g.cast(x, F32))
    dtype = dtype_of(node, x.dtype)
    if dtype != BOOL and not is_float(dtype) and not is_integer(dtype):
        raise Refused(f"dtype {dtype.name}; expected a type of numbers")
    return g.cast(drawn, dtype)


@op("Multinomial", keep=True)
def multinomial(g: Emitter, node: Node, x: Value) -> Value:
    """Returns the places of the largest sums of logarithms of chances and numbers of Gumbel's distribution."""
    if x.rank != 2 or not x.shape[1]:
        raise Refused(f"the chances are {x!r}; expected a batch of one outcome or more")
    count, dtype = node.get("sample_size", 1), dtype_of(node, I32)
    if count < 0 or dtype not in (I32, I64):
        raise Refused(f"sample_size {count} and dtype {dtype.name}; expected a number from 0, and int32 or int64")
    shape = (x.shape[0], count, x.shape[1])
    drawn = uniform(g, node, shape)
    for _ in range(2):
        drawn = g.unary(stablehlo.negate, g.unary(stablehlo.log, drawn))
    sums = g.add(g.expand_dims(g.cast(x, F32), 1), drawn)
    return g.cast(g.ttir("argmax", sums, shape=shape[:2], dtype=I32, keep_dim=False, dim_arg=[2]), dtype)
