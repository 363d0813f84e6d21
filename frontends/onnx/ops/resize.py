# SPDX-License-Identifier: Apache-2.0
"""Resampling of tensors: a dimension at a time, as weighted sums of a few neighbours or as a product with weights.

Positions are computed in f32, as onnxruntime does, so that ties fall on the same side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from ttmlir.dialects import stablehlo

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Node, op
from ..values import BOOL, F32, F64, I32, Array, Value, is_float

if TYPE_CHECKING:
    from ..importer import Graph

Numbers: TypeAlias = Any  # arrays of NumPy when sizes are fixed, values of the program otherwise
# Neighbours up to which rows are taken and added; more are a product with a matrix.
MOST_TAPS = 4


class Known:
    """Arithmetic of positions with NumPy's arrays."""

    is_open = False

    def iota(self, n: int) -> Numbers:
        return np.arange(n, dtype=np.float32)

    def size(self, n: int) -> Numbers:
        return np.float32(n)

    def number(self, x: float) -> Numbers:
        return np.float32(x)

    def floor(self, x: Numbers) -> Numbers:
        return np.floor(x)

    def ceil(self, x: Numbers) -> Numbers:
        return np.ceil(x)

    def abs(self, x: Numbers) -> Numbers:
        return np.abs(x)

    def minimum(self, x: Numbers, y: Numbers) -> Numbers:
        return np.minimum(x, y)

    def maximum(self, x: Numbers, y: Numbers) -> Numbers:
        return np.maximum(x, y)

    def where(self, condition: Numbers, x: Numbers, y: Numbers) -> Numbers:
        return np.where(condition, x, y)

    def both(self, x: Numbers, y: Numbers) -> Numbers:
        return x & y


class Term:
    """A value of the program with Python's operators, for positions that depend on open sizes."""

    def __init__(self, g: Emitter, value: Value) -> None:
        self.g, self.value = g, value

    def _with(self, other: Numbers, op: Any, swap: bool = False) -> Term:
        y = other.value if isinstance(other, Term) else self.g.scalar(float(other), self.value)
        return Term(self.g, op(y, self.value) if swap else op(self.value, y))

    def __add__(self, other: Numbers) -> Term:
        return self._with(other, self.g.add)

    def __radd__(self, other: Numbers) -> Term:
        return self._with(other, self.g.add)

    def __sub__(self, other: Numbers) -> Term:
        return self._with(other, self.g.sub)

    def __rsub__(self, other: Numbers) -> Term:
        return self._with(other, self.g.sub, True)

    def __mul__(self, other: Numbers) -> Term:
        return self._with(other, self.g.mul)

    def __rmul__(self, other: Numbers) -> Term:
        return self._with(other, self.g.mul)

    def __truediv__(self, other: Numbers) -> Term:
        return self._with(other, self.g.div)

    def __rtruediv__(self, other: Numbers) -> Term:
        return self._with(other, self.g.div, True)

    def compare(self, direction: str, other: Numbers) -> Term:
        return self._with(other, lambda x, y: self.g.compare(direction, x, y))

    def __lt__(self, other: Numbers) -> Term:
        return self.compare("LT", other)

    def __le__(self, other: Numbers) -> Term:
        return self.compare("LE", other)

    def __gt__(self, other: Numbers) -> Term:
        return self.compare("GT", other)

    def __ge__(self, other: Numbers) -> Term:
        return self.compare("GE", other)


class Computed(Known):
    """Arithmetic of positions in the program."""

    is_open = True

    def __init__(self, g: Emitter) -> None:
        self.g = g

    def iota(self, n: int) -> Numbers:
        return Term(self.g, self.g.cast(self.g.iota((n,), 0), F32))

    def size(self, n: int) -> Numbers:
        return Term(self.g, self.g.reshape(self.g.cast(self.g.number(n, I32), F32), ()))

    def _unary(self, x: Numbers, op: Any) -> Numbers:
        return Term(self.g, self.g.unary(op, x.value))

    def floor(self, x: Numbers) -> Numbers:
        return self._unary(x, stablehlo.floor)

    def ceil(self, x: Numbers) -> Numbers:
        return self._unary(x, stablehlo.ceil)

    def abs(self, x: Numbers) -> Numbers:
        return self._unary(x, stablehlo.abs)

    def minimum(self, x: Numbers, y: Numbers) -> Numbers:
        return x._with(y, self.g.minimum)

    def maximum(self, x: Numbers, y: Numbers) -> Numbers:
        return x._with(y, self.g.maximum)

    def where(self, condition: Numbers, x: Numbers, y: Numbers) -> Numbers:
        like = x if isinstance(x, Term) else y
        x, y = (v.value if isinstance(v, Term) else self.g.scalar(float(v), like.value) for v in (x, y))
        return Term(self.g, self.g.select(condition.value, x, y))

    def both(self, x: Numbers, y: Numbers) -> Numbers:
        return Term(self.g, Value(x.value.shape, BOOL, stablehlo.and_(self.g.ir(x.value), self.g.ir(y.value))))


@dataclass(frozen=True)
class Axis:
    """A dimension that is resampled.

    scale: as the node gives it, or None for out / size. region: begin and end, of tf_crop_and_resize.
    fractional: the resized length is size * scale, which `out` is rounded from.
    """

    dim: int
    size: int
    out: int
    scale: float | None
    region: tuple[float, float] = (0.0, 1.0)
    fractional: bool = False


@dataclass(frozen=True)
class Method:
    """The resampling of a node, with its attributes and their defaults."""

    mode: str
    transform: str
    nearest: str
    cubic: float
    exclude: bool
    antialias: bool
    outside: float


def positions(a: Any, axis: Axis, transform: str) -> Numbers:
    """Returns where in the input each place of the output is."""
    x = a.iota(axis.out)
    scale = a.size(axis.out) / a.size(axis.size) if axis.scale is None else a.number(axis.scale)
    if transform == "asymmetric":
        return x / scale
    # The last place; where the scale is given, ONNX has it between places.
    end_at = a.size(axis.size) * scale - a.number(1) if axis.fractional else a.size(axis.out - 1)
    if transform == "align_corners":
        return x * (a.size(axis.size - 1) / end_at) if axis.out > 1 else x
    if transform == "tf_crop_and_resize":
        begin, end = map(a.number, axis.region)
        last = a.size(axis.size - 1)
        if axis.out <= 1:
            return x * a.number(0) + (begin + end) * a.number(0.5) * last
        return begin * last + x * ((end - begin) * last / end_at)
    if transform == "tf_half_pixel_for_nn":
        return (x + a.number(0.5)) / scale
    middle = (x + a.number(0.5)) / scale - a.number(0.5)
    if transform == "half_pixel":
        return middle
    if transform == "pytorch_half_pixel":
        return middle if axis.out > 1 else x * a.number(0)
    if transform == "half_pixel_symmetric":
        size = a.size(axis.size)
        adjustment = a.size(axis.out) / (scale * size)
        return middle + size * a.number(0.5) * (a.number(1) - adjustment)
    raise Refused(f"coordinate_transformation_mode is {transform!r}, which this op does not have")


def rounded(a: Any, x: Numbers, mode: str, shrinks: bool) -> Numbers:
    """Returns the nearest whole numbers."""
    if mode == "round_prefer_floor":
        return a.ceil(x - a.number(0.5))
    if mode == "round_prefer_ceil":
        return a.floor(x + a.number(0.5))
    if mode == "simple":  # before there was an attribute
        mode = "ceil" if shrinks else "floor"
    if mode in ("floor", "ceil"):
        return getattr(a, mode)(x)
    raise Refused(f"nearest_mode is {mode!r}; expected round_prefer_floor, round_prefer_ceil, floor or ceil")


def filtered(a: Any, t: Numbers, method: Method) -> Numbers:
    """Returns the weight of a neighbour at the distance t."""
    t, one = a.abs(t), a.number(1)
    if method.mode == "linear":
        return a.maximum(one - t, a.number(0))
    c = a.number(method.cubic)
    near = ((c + a.number(2)) * t - (c + a.number(3))) * t * t + one
    far = ((c * t - a.number(5) * c) * t + a.number(8) * c) * t - a.number(4) * c
    return a.where(t <= one, near, a.where(t < a.number(2), far, a.number(0)))


def neighbours(a: Any, x: Numbers, method: Method, scale: float) -> tuple[list[Numbers], list[Numbers]]:
    """Returns whole numbers of places, which can be outside, and their weights."""
    narrow = min(scale, 1.0) if method.antialias else 1.0
    reach = (1 if method.mode == "linear" else 2) / narrow
    first, count = math.floor(-reach) + 1, 2 * math.ceil(reach)
    low = a.floor(x)
    places = [low + a.number(first + i) for i in range(count)]
    return places, [filtered(a, (place - x) * a.number(narrow), method) for place in places]


def resampled(g: Emitter, x: Value, axis: Axis, method: Method) -> tuple[Value, Value | None]:
    """Returns one dimension resampled, and which of its places are outside of the input, [out], where that counts."""
    a: Any = Computed(g) if g.is_open else Known()
    at = positions(a, axis, method.transform)
    last, zero = a.size(axis.size - 1), a.number(0)
    beyond = None
    if method.transform == "tf_crop_and_resize":
        beyond = mask(g, a, at, last)
    scale = axis.scale if axis.scale is not None else axis.out / axis.size
    if method.mode == "nearest":
        taken = rounded(a, at, method.nearest, scale < 1)
        return taken_rows(g, x, axis.dim, index(g, a.minimum(a.maximum(taken, zero), last))), beyond
    places, weights = neighbours(a, at, method, scale)
    if method.exclude or method.antialias:
        if method.exclude:
            weights = [a.where(a.both(p >= zero, p <= last), w, zero) for p, w in zip(places, weights, strict=True)]
        whole = sum(weights[1:], weights[0])
        weights = [w / whole for w in weights]
    places = [a.minimum(a.maximum(p, zero), last) for p in places]
    shape = [1] * x.rank
    shape[axis.dim] = axis.out
    if len(places) > MOST_TAPS and not g.is_open:
        matrix = np.zeros((axis.out, axis.size), np.float32)
        for p, w in zip(places, weights, strict=True):
            np.add.at(matrix, (np.arange(axis.out), p.astype(np.int64)), w)
        product = g.dot(x, g.cast(g.constant(matrix), x.dtype), ((axis.dim,), (1,)))
        order = list(range(x.rank - 1))
        order.insert(axis.dim, x.rank - 1)
        return g.transpose(product, order), beyond
    y: Value | None = None
    for p, w in zip(places, weights, strict=True):
        if not g.is_open and not w.any():
            continue
        part = taken_rows(g, x, axis.dim, index(g, p))
        if g.is_open or not (w == 1).all():
            share = w.value if isinstance(w, Term) else g.constant(w.astype(np.float32))
            part = g.mul(part, g.reshape(g.cast(share, x.dtype), shape))
        y = part if y is None else g.add(y, part)
    return y if y is not None else taken_rows(g, x, axis.dim, index(g, places[0])), beyond


def index(g: Emitter, at: Numbers) -> Value:
    return g.cast(at.value, I32) if isinstance(at, Term) else g.constant(np.asarray(at).astype(np.int32))


def taken_rows(g: Emitter, x: Value, dim: int, at: Value) -> Value:
    """Returns places of one dimension, as a slice where they have one distance."""
    if at.known is not None and not g.is_open and at.size:
        steps = np.unique(np.diff(at.known))
        if at.size == 1 or (steps.size == 1 and steps[0] > 0):
            step = int(steps[0]) if at.size > 1 else 1
            return g.slice_dim(x, dim, int(at.known[0]), int(at.known[-1]) + 1, step)
    return g.gather(x, at, dim)


def mask(g: Emitter, a: Any, at: Numbers, last: Numbers) -> Value:
    outside = a.where(at < a.number(0), a.number(1), a.where(at > last, a.number(1), at * a.number(0)))
    found = outside.value if isinstance(outside, Term) else g.constant(np.asarray(outside, np.float32))
    return g.compare("NE", found, g.scalar(0, found))


def whole_factors(g: Emitter, axes: Sequence[Axis], x: Value, method: Method) -> list[int] | None:
    """Returns by how much height and width of images grow, if `upsample2d` does that."""
    if x.rank != 4 or method.mode == "cubic" or any(axis.dim < 2 for axis in axes):
        return None
    if method.transform == "tf_crop_and_resize" or (method.mode == "linear" and not is_float(x.dtype)):
        return None
    if g.is_open and any(axis.scale is None for axis in axes):
        return None
    factors = [1, 1]
    for axis in axes:
        scale = axis.scale if axis.scale is not None else axis.out / axis.size
        factors[axis.dim - 2] = int(scale)
        if method.mode == "linear":
            if scale != int(scale) or method.transform not in ("half_pixel", "pytorch_half_pixel") or axis.out < 2:
                return None
            continue
        taken = rounded(Known(), positions(Known(), axis, method.transform), method.nearest, scale < 1)
        taken = np.clip(taken, 0, axis.size - 1)
        repeated = np.repeat(np.arange(axis.size), max(1, int(scale)))
        if scale != int(scale) or axis.out != repeated.size or not np.array_equal(taken, repeated):
            return None
    return factors


def resize(g: Emitter, x: Value, axes: Sequence[Axis], method: Method) -> Value:
    """Returns all dimensions resampled."""
    axes = [
        axis
        for axis in axes
        if axis.size != axis.out
        or (axis.scale is not None and axis.scale != 1)
        or method.transform == "tf_crop_and_resize"
    ]
    if any(axis.out == 0 for axis in axes):
        return g.broadcast(g.full((1,) * x.rank, 0, x.dtype), out_shape(x, axes))
    if any(axis.size == 0 for axis in axes):
        raise Refused(f"X is {x!r}, which has no element to make others of")
    factors = whole_factors(g, axes, x, method)
    if factors == [1, 1]:
        return x
    if factors is not None:
        image = g.transpose(x, [0, 2, 3, 1])
        mode = "nearest" if method.mode == "nearest" else "bilinear"
        return g.transpose(g.ttir("upsample2d", image, scale_factor=g.i32s(factors), mode=mode), [0, 3, 1, 2])
    dtype = x.dtype
    y = x if method.mode == "nearest" or dtype in (F32, F64) else g.cast(x, F32)
    beyond: list[tuple[int, Value]] = []
    # Those that shrink first, as less is computed then; open sizes have one order.
    for axis in axes if g.is_open else sorted(axes, key=lambda axis: axis.out / axis.size):
        y, outside = resampled(g, y, axis, method)
        beyond += [(axis.dim, outside)] if outside is not None else []
    for dim, outside in beyond:
        shape = [1] * x.rank
        shape[dim] = outside.size
        y = g.select(g.reshape(outside, shape), g.scalar(method.outside, y), y)
    if not is_float(dtype) and method.mode != "nearest":
        # As onnxruntime, towards 0 without a filter; a cubic convolution reaches beyond the type.
        if method.antialias:
            y = g.unary(stablehlo.round_nearest_afz, y)
        info = np.iinfo(dtype)
        y = g.minimum(g.maximum(y, g.scalar(int(info.min), y)), g.scalar(int(info.max), y))
    return g.cast(y, dtype)


def out_shape(x: Value, axes: Sequence[Axis]) -> list[int]:
    shape = list(x.shape)
    for axis in axes:
        shape[axis.dim] = axis.out
    return shape


#
# Nodes
#


def known(value: Value | None, name: str) -> Array | None:
    """Returns an input as numbers; None where it is left out or empty.

    Raises:
        Refused: it is computed.
    """
    if value is None or value.size == 0:
        return None
    if value.known is None:
        raise Refused(f"{name} is computed; expected it to be known when it is compiled")
    return value.known.reshape(-1)


def axes_of(g: Emitter, node: Node, x: Value, roi: Array | None, scales: Array | None, sizes: Array | None,
            transform: str) -> list[Axis]:  # fmt: skip
    named = node.get("axes") or range(x.rank)
    dims = [int(d) + x.rank if d < 0 else int(d) for d in named]
    if sorted(set(dims)) != sorted(dims) or any(not 0 <= d < x.rank for d in dims):
        raise Refused(f"axes is {list(named)}; expected different dimensions of X, {x!r}")
    given = scales if scales is not None else sizes
    if given is None:
        raise Refused("neither scales nor sizes are given")
    if given.size != len(dims):
        raise Refused(f"{'scales' if scales is not None else 'sizes'} has {given.size} numbers; expected {len(dims)}")
    regions = [(0.0, 1.0)] * len(dims)
    if transform == "tf_crop_and_resize":
        if roi is None or roi.size != 2 * len(dims):
            raise Refused(f"roi has {0 if roi is None else roi.size} numbers; expected {2 * len(dims)}")
        regions = [(float(roi[i]), float(roi[i + len(dims)])) for i in range(len(dims))]
    if scales is not None:
        if any(not s > 0 or not np.isfinite(s) for s in scales):
            raise Refused(f"scales is {scales.tolist()}; expected numbers above 0")
        result = [np.float32(s) for s in scales]
        outs = [int(np.floor(np.float32(x.shape[d]) * s)) for d, s in zip(dims, result, strict=True)]
        if max(outs, default=0) > 2**31:
            raise Refused(f"scales make sizes of {outs}")
        return [Axis(d, x.shape[d], out, float(s), region, True)
                for d, out, s, region in zip(dims, outs, result, regions, strict=True)]  # fmt: skip
    assert sizes is not None
    requested = [int(n) for n in sizes]
    if min(requested, default=0) < 0:
        raise Refused(f"sizes is {requested}; expected at least 0")
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    if policy in ("not_larger", "not_smaller"):
        ratios = [n / x.shape[d] for n, d in zip(requested, dims, strict=True)]
        ratio = np.float32(min(ratios) if policy == "not_larger" else max(ratios))
        requested = [math.floor(float(ratio * np.float32(x.shape[d])) + 0.5) for d in dims]
        return [Axis(d, x.shape[d], n, float(ratio), region)
                for d, n, region in zip(dims, requested, regions, strict=True)]  # fmt: skip
    if policy != "stretch":
        raise Refused(f"keep_aspect_ratio_policy is {policy!r}; expected stretch, not_larger or not_smaller")
    return [Axis(d, x.shape[d], n, None, region) for d, n, region in zip(dims, requested, regions, strict=True)]


def steady(g: Graph, node: Node, axes: Sequence[Axis]) -> list[Axis]:
    """Returns the axes with scales in place of sizes, where all open sizes are scaled by one whole number."""
    if not g.is_open or any(axis.scale is not None for axis in axes):
        return list(axes)
    given = zip(*(g.traced(node.proto.input[i]) for i in (0, 3)), strict=False)
    ratios = [[axis.out / axis.size for axis in axes] if all(axis.size for axis in axes) else []]
    for (shape, _), (_, sizes) in given:
        if sizes is not None and sizes.size == len(axes):
            ratios.append([int(n) / max(1, shape[axis.dim]) for n, axis in zip(sizes.flatten(), axes, strict=True)])
    if len(ratios) < 2 or any(r != ratios[0] for r in ratios) or any(r != int(r) for r in ratios[0]):
        return list(axes)
    return [replace(axis, scale=r) for axis, r in zip(axes, ratios[0], strict=True)]


@op("Resize", keep=True)
def resize_node(g: Graph, node: Node, x: Value, *rest: Value | None) -> Value:
    old = node.version < 11
    inputs = [None, rest[0], None] if old else [*rest, None, None, None][:3]
    transform = node.get("coordinate_transformation_mode", "asymmetric" if old else "half_pixel")
    roi, scales, sizes = (known(v, name) for v, name in zip(inputs, ("roi", "scales", "sizes"), strict=True))
    if transform != "tf_crop_and_resize":
        roi = None
    mode = node.get("mode", "nearest")
    if mode not in ("nearest", "linear", "cubic"):
        raise Refused(f"mode is {mode!r}; expected nearest, linear or cubic")
    method = Method(
        mode, transform, "simple" if old else node.get("nearest_mode", "round_prefer_floor"),
        node.get("cubic_coeff_a", -0.75), bool(node.get("exclude_outside", 0)), bool(node.get("antialias", 0)),
        node.get("extrapolation_value", 0.0),
    )  # fmt: skip
    return resize(g, x, steady(g, node, axes_of(g, node, x, roi, scales, sizes, transform)), method)


@op("Upsample", keep=True)
def upsample(g: Emitter, node: Node, x: Value, scales: Value | None = None) -> Value:
    given = known(scales, "scales") if scales is not None else np.asarray(node.need("scales"), np.float32)
    mode = node.get("mode", "nearest")
    if mode not in ("nearest", "linear"):
        raise Refused(f"mode is {mode!r}; expected nearest or linear")
    method = Method(mode, "asymmetric", "simple", -0.75, False, False, 0.0)
    return resize(g, x, axes_of(g, node, x, None, given, None, "asymmetric"), method)
