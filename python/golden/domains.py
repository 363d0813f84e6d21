# SPDX-License-Identifier: Apache-2.0
"""Domains of ops: rows by op name, and how they propagate to the arguments of a program.

Needs neither torch nor MLIR: inputs are drawn from these domains where neither is loaded.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .names import op_name, row_of

Domain = tuple[float, float]
# Shapes of the operands (None for an absent one) and the op's attributes -> the values an operand may hold.
DomainOf = Callable[[Sequence[Any], Mapping[str, Any]], Domain]

DEFAULT_DOMAIN: Domain = (-2.0, 2.0)
DEFAULT_INTEGER_DOMAIN: Domain = (-16, 16)


@dataclass(frozen=True)
class Accepts:
    """One row: the values of an op's operands.

    domain: closed interval [low, high] from which test inputs are drawn, in the unit of the input; None for any.
    operands: operand index -> the domain of that operand where it has its own (indices, positions, variances).
    keeps: indices of the operands whose elements are those of the result, so that a domain required of the result is
        one of them, too; an op that keeps values asks for its own `domain` only where nothing else asks.
    results: indices of the results that hold them; None for all.
    """

    domain: Domain | None = None
    operands: Mapping[int, DomainOf] = field(default_factory=dict)
    keeps: frozenset[int] = frozenset()
    results: frozenset[int] | None = None

    def of(self, index: int, shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain | None:
        """Returns the interval from which operand `index` is drawn when the op stands alone."""
        return self.operands[index](shapes, attributes) if index in self.operands else self.domain


# ---------------------------------------------------------------------- domains of single operands


def fixed(low: float, high: float) -> DomainOf:
    return lambda shapes, attributes: (low, high)


def below(count: int) -> Domain:
    """Returns indices of `count` things."""
    return (0, max(count - 1, 0))


def dimension_of(operand: int, dim: int) -> DomainOf:
    return lambda shapes, attributes: below(shapes[operand][dim])


def along_dim(shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain:
    return below(shapes[0][attributes.get("dim", 0)])


def rows_of_weight(shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain:
    return below(math.prod(shapes[1][:-1]))


def position_in_pages(shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain:
    """Returns the domain of positions of a decode over pages: page table [users, pages of each], cache [pages, heads,
    page size, size]."""
    return below(shapes[3][-1] * shapes[1][-2])


def experts_of(mapping: int) -> DomainOf:
    """Returns numbers of experts, of which operand `mapping`, [1, 1, experts, devices], says where they are."""
    return dimension_of(mapping, 2)


def numbered_experts(shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain:
    """Returns numbers of experts of a mapping [rows, experts], or of one as in experts_of."""
    return below(shapes[3][1 if len(shapes[3]) == 2 else 2])


def one_device(shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain:
    """Returns a mapping of either form, of experts that the first device has."""
    return (0, 0) if len(shapes[3]) == 2 else (1, 1)


def likeliest(shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain:
    """Returns how many candidates of each user are looked at."""
    return (1, shapes[0][-1])


def first_of_slice(shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain:
    users = shapes[0][2]
    return (0, max(users - (attributes.get("slice_size") or users), 0))


def slice_start(shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain:
    """Starts of a StableHLO gather: slices lie inside along every dimension that they are for."""
    sizes = attributes["slice_sizes"]
    mapped = listed(attributes["dimension_numbers"], "start_index_map")
    return (0, max(min((shapes[0][d] - sizes[d] for d in mapped), default=0), 0))


def scattered_start(shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain:
    """Starts of a StableHLO scatter of one tensor: inside along every dimension that they are for."""
    mapped = listed(attributes["scatter_dimension_numbers"], "scatter_dims_to_operand_dims")
    return (0, max(min((shapes[0][d] for d in mapped), default=1) - 1, 0))


def listed(attribute: Any, name: str) -> list[int]:
    """Returns the list called `name` in the text of a structured attribute; absent means empty."""
    _, found, rest = str(attribute).partition(f"{name} = [")
    return [int(n) for n in rest.partition("]")[0].split(",") if n.strip()] if found else []


# ---------------------------------------------------------------------- the rows

ALL = frozenset(range(256))  # every operand, also of ops that take any number of them
FIRST, PAIR = frozenset({0}), frozenset({0, 1})
UNIT = Accepts((-1.0, 1.0))  # sums of many products stay small
INSIDE_ONE = Accepts((-0.99, 0.99))
NEAR_ONE = Accepts((0.8, 1.2))
VARIANCE, SCALE = fixed(0.1, 2.0), fixed(0.05, 0.5)
SHIFT = Accepts(operands={1: fixed(0, 8)})
DIVISOR = Accepts(operands={1: fixed(1, 5)})

# Ops whose results hold elements of other operands than the first, or bounds, and nothing else (but padding); and those
# that hold elements of the first and are not of those that only move them (Use.moves).
KEEPS = {
    FIRST: "optimization_barrier load_cached clamp_scalar max min floor ceil",
    PAIR: """maximum minimum stablehlo.pad stablehlo.dynamic_pad split_query_key_value_and_split_heads fill_cache
        dynamic_update_slice""",
    frozenset({1}): "stablehlo.clamp",
    frozenset({1, 2}): "where",
    ALL: "concat concatenate prepare_moe_compute_w0_w1_weights prepare_moe_compute_w2_weights",
}

DOMAINS: dict[str, Accepts] = {name: Accepts(keeps=which) for which, text in KEEPS.items() for name in text.split()} | {
    # elementwise
    "acos": INSIDE_ONE,
    "asin": INSIDE_ONE,
    "atanh": INSIDE_ONE,
    "hardsigmoid": Accepts((-5.0, 5.0)),
    "log": Accepts((0.05, 4.0)),
    "log1p": Accepts((-0.95, 4.0)),
    "log2": Accepts((0.05, 4.0)),
    "logical_not": UNIT,
    "reciprocal": Accepts((0.1, 4.0)),
    "relu6": Accepts((-2.0, 8.0)),
    "round": Accepts((-8.0, 8.0), keeps=FIRST),
    "round_even": Accepts((-8.0, 8.0), keeps=FIRST),
    "rsqrt": Accepts((0.1, 4.0)),
    "sqrt": Accepts((0.0, 4.0)),
    "tan": Accepts((-1.3, 1.3)),
    "trunc": Accepts((-8.0, 8.0), keeps=FIRST),
    "typecast": Accepts((-8.0, 8.0), keeps=FIRST),
    "div": Accepts(operands={1: fixed(0.25, 4.0)}),
    "logical_left_shift": SHIFT,
    "logical_right_shift": SHIFT,
    "right_shift": SHIFT,
    "stablehlo.shift_right_arithmetic": SHIFT,
    "pow": Accepts((0.1, 2.0)),
    "pow_scalar": Accepts((0.1, 2.0)),
    "remainder": DIVISOR,
    "clamp_tensor": Accepts(operands={1: fixed(-2.0, 0.0), 2: fixed(0.0, 2.0)}, keeps=FIRST),
    # reductions
    "prod": NEAR_ONE,
    "cumprod": NEAR_ONE,
    "reduce_and": UNIT,
    "reduce_or": UNIT,
    "topk": Accepts(keeps=FIRST, results=FIRST),
    "sort": Accepts(keeps=FIRST, results=FIRST),
    "stablehlo.sort": Accepts(),
    # products
    "matmul": UNIT,
    "linear": UNIT,
    "dot_general": UNIT,
    "dot": UNIT,
    "einsum": UNIT,
    "sparse_matmul": Accepts((-1.0, 1.0), {2: fixed(0.0, 1.0)}),
    "conv1d": UNIT,
    "conv2d": UNIT,
    "conv3d": UNIT,
    "conv_transpose2d": UNIT,
    "conv_transpose3d": UNIT,
    "stablehlo.convolution": UNIT,
    # normalization and quantization
    "batch_norm_inference": Accepts(operands={4: VARIANCE}),
    "batch_norm_training": Accepts(operands={4: VARIANCE}),
    "ttnn.batch_norm_inference": Accepts(operands={2: VARIANCE}),
    "ttnn.batch_norm_training": Accepts(operands={2: VARIANCE}),
    "stablehlo.batch_norm_training": Accepts(),
    "stablehlo.batch_norm_grad": Accepts(operands={3: VARIANCE}),
    "adamw": Accepts(operands={3: VARIANCE, 4: VARIANCE}),
    "sdpa_bw": Accepts(operands={5: fixed(0.1, 0.5), 6: fixed(0.0, 1.0)}),
    "sdpa_fw": Accepts(operands={3: fixed(0.0, 1.0)}),
    "sampling": Accepts(operands={2: likeliest, 3: fixed(0.0, 1.0), 4: fixed(0.5, 2.0)}),
    "layer_norm_post_all_gather": Accepts(operands={1: VARIANCE}),
    # A device alone has all experts.
    "all_to_all_dispatch": Accepts(operands={1: experts_of(2), 2: fixed(1, 1)}, keeps=FIRST),
    "all_to_all_dispatch_metadata": Accepts(operands={1: experts_of(3), 3: fixed(1, 1)}, keeps=frozenset({0, 2})),
    "all_to_all_combine": Accepts(operands={1: experts_of(2), 2: fixed(1, 1)}, keeps=FIRST),
    "moe_expert_token_remap": Accepts(operands={1: fixed(1, 1), 2: experts_of(1)}, keeps=FIRST),
    "moe_compute": Accepts((-1.0, 1.0), {1: numbered_experts, 3: one_device}),
    "ttnn.quantize": Accepts(operands={1: SCALE}),
    "ttnn.dequantize": Accepts(operands={1: SCALE}),
    "ttnn.requantize": Accepts(operands={1: SCALE, 3: SCALE}),
    "quantize_unrolled": Accepts(operands={1: SCALE}),
    "dequantize_unrolled": Accepts(operands={1: SCALE}),
    "requantize_unrolled": Accepts(operands={1: SCALE, 3: SCALE}),
    # indices
    "embedding": Accepts(operands={0: rows_of_weight}, keeps=frozenset({1})),
    "embedding_backward": Accepts(operands={0: rows_of_weight}),
    "gather": Accepts(operands={1: along_dim}, keeps=FIRST),
    "scatter": Accepts(operands={1: along_dim}, keeps=frozenset({0, 2})),
    "slice_dynamic": Accepts(operands={1: fixed(0, 0), 2: lambda s, attributes: (s[0][0], s[0][0])}, keeps=FIRST),
    "stablehlo.gather": Accepts(operands={1: slice_start}, keeps=FIRST),
    "stablehlo.scatter": Accepts(operands={1: scattered_start}),
    "stablehlo.torch_index_select": Accepts(operands={1: along_dim}, keeps=FIRST),
    "nlp_create_qkv_heads_decode": Accepts(operands={1: first_of_slice}, keeps=FIRST),
    # caches: positions, pages and users
    "update_cache": Accepts(operands={2: dimension_of(0, -2)}, keeps=PAIR),
    "paged_update_cache": Accepts(operands={2: dimension_of(0, -2), 3: dimension_of(0, 0)}, keeps=PAIR),
    "paged_fill_cache": Accepts(operands={2: dimension_of(0, 0), 3: dimension_of(2, 0)}, keeps=PAIR),
    "scaled_dot_product_attention_decode": Accepts(operands={4: dimension_of(1, -2)}),
    "paged_scaled_dot_product_attention_decode": Accepts(operands={3: dimension_of(1, 0), 6: position_in_pages}),
    "ttnn.paged_scaled_dot_product_attention_decode": Accepts(operands={3: dimension_of(1, 0), 5: position_in_pages}),
    "chunked_scaled_dot_product_attention": Accepts(operands={3: dimension_of(1, 0), 4: fixed(0, 0)}),
    "paged_flash_multi_latent_attention_decode": Accepts(operands={3: dimension_of(1, 0), 5: position_in_pages}),
}  # fmt: skip
ANYTHING, MOVES = Accepts(), Accepts(keeps=FIRST)


@functools.cache
def _accepts(name: str) -> Accepts:
    return row_of(DOMAINS, name) or ANYTHING


def accepts(op: Any) -> Accepts:
    """Returns the row of an op class, an operation or a name ("ttir.add"); an op without one takes anything."""
    return _accepts(op_name(op))


# ---------------------------------------------------------------------- programs


@dataclass(frozen=True)
class Value:
    """A tensor of a program. key: what tells it from others; dtype: of its elements, as MLIR or a flatbuffer say it."""

    key: Hashable
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Use:
    """An op of a program.

    operands: as ODS groups them, [] for an absent one; callee: the body of what it calls.
    moves: whether its results hold elements of operands and nothing else: of the first one, if the op has no row.
    """

    name: str
    operands: Sequence[Sequence[Value]]
    results: Sequence[Value]
    attributes: Callable[[], Mapping[str, Any]] = dict
    callee: Callable[[], Body] | None = None
    moves: bool = False


@dataclass(frozen=True)
class Body:
    arguments: Sequence[Value]
    uses: Sequence[Use]
    returns: Sequence[Value] = ()


def intersection(a: Domain | None, b: Domain | None) -> Domain | None:
    """Returns the values allowed by both; the narrower one when they exclude each other. None allows everything."""
    if a is None or b is None:
        return a if b is None else b
    low, high = max(a[0], b[0]), min(a[1], b[1])
    if low <= high:
        return (low, high)
    return min(a, b, key=lambda d: d[1] - d[0])


@dataclass(frozen=True)
class Requested:
    """needed: what ops are defined for; liked: what they were given if nothing is needed."""

    needed: Domain | None = None
    liked: Domain | None = None

    def __and__(self, other: Requested) -> Requested:
        return Requested(intersection(self.needed, other.needed), intersection(self.liked, other.liked))

    @property
    def domain(self) -> Domain | None:
        return self.needed if self.needed is not None else self.liked


NOTHING = Requested()
# Bits of the significands of floating-point formats that have no room for large integers.
SIGNIFICANDS = {"bf16": 8, "f16": 11, "f32": 24, "bfp_f8": 7, "bfp_bf8": 7, "bfp_f4": 3, "bfp_bf4": 3, "bfp_f2": 1,
                "bfp_bf2": 1}  # fmt: skip


def inside(domain: Domain | None, dtype: str) -> Domain | None:
    """Returns the part of a domain that a format does not round out of it: the largest bf16 up to 30521 is 30464."""
    bits = SIGNIFICANDS.get(dtype)
    if domain is None or bits is None or not all(map(math.isfinite, domain)):
        return domain

    def rounded(value: float, way: Callable[[float], int]) -> float:
        step = 2.0 ** (math.frexp(value)[1] - bits)
        return way(value / step) * step

    low, high = rounded(domain[0], math.ceil), rounded(domain[1], math.floor)
    return (low, high) if low <= high else domain


def argument_domains(body: Body) -> dict[int, Domain]:
    """Returns, by argument index, the closed interval that all ops accept which use it, also behind ops that keep
    values.

    Arguments without a requirement are left out.
    """
    found = (requested.domain for requested in backward(body, ()))
    return {i: domain for i, domain in enumerate(found) if domain is not None}


def backward(body: Body, returns: Sequence[Requested]) -> list[Requested]:
    """Returns the requirement on each argument, given those on the values that the body returns."""
    requested: dict[Hashable, Requested] = {}

    def ask(value: Value, what: Requested) -> None:
        if what != NOTHING:
            what = Requested(inside(what.needed, value.dtype), what.liked)
            requested[value.key] = requested.get(value.key, NOTHING) & what

    for value, what in zip(body.returns, returns, strict=False):
        ask(value, what)
    for use in reversed(body.uses):  # from the last to the first, so that the requirement on a result is known
        of_results = [requested.get(value.key, NOTHING) for value in use.results]
        if use.callee is not None:
            operands = [value for group in use.operands for value in group]
            for value, what in zip(operands, backward(use.callee(), of_results), strict=False):
                ask(value, what)
            continue
        row = accepts(use.name)
        if row is ANYTHING:
            if not use.moves:
                continue
            row = MOVES
        held = [a for i, a in enumerate(of_results) if row.results is None or i in row.results]
        through = functools.reduce(lambda a, b: a & b, held, NOTHING)
        shapes = [group[0].shape if group else None for group in use.operands]
        attributes = use.attributes() if row.operands else {}
        for i, group in enumerate(use.operands):
            if i in row.operands:
                what = Requested(row.operands[i](shapes, attributes)) if group else NOTHING
            elif i in row.keeps:
                what = through & Requested(liked=row.domain)
            else:
                what = Requested(row.domain)
            for value in group:
                ask(value, what)
    return [requested.get(value.key, NOTHING) for value in body.arguments]
