# SPDX-License-Identifier: Apache-2.0
"""Ops that are made of others (frontends/torch/ops/composed): values and gradients of eager mode, and nothing left
to PyTorch."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from compiled import assert_agree, on_chip
from torch.nn import functional
from torch.utils._pytree import tree_leaves
from ttmlir.torch.report import record

Make = Callable[[torch.dtype], tuple[torch.Tensor, ...]]


def of(*shapes: tuple[int, ...], scale: float = 1.0) -> Make:
    return lambda dtype: tuple((torch.randn(shape) * scale).to(dtype) for shape in shapes)


def to_integers(x: torch.Tensor) -> torch.Tensor:
    """Values many of which are equal, with the gradients of x."""
    return x + (x.detach().round() - x.detach())


def samples(x: torch.Tensor, *shape: int) -> torch.Tensor:
    return torch.linspace(0, 0.99, math.prod(shape)).reshape(shape).to(x.dtype)


INDICES, OFFSETS = torch.tensor([1, 2, 4, 5, 4, 3, 2, 7]), torch.tensor([0, 3, 3, 6])
PLACES = torch.arange(12).reshape(4, 3) * 7 % 5
CASES: dict[str, tuple[Callable[..., Any], Make]] = {
    **{f"adaptive maxima 1d {n}": (lambda x, n=n: functional.adaptive_max_pool1d(x, n), of((2, 3, 13)))
       for n in (1, 5, 13, 20)},
    **{f"adaptive maxima 2d {n}": (lambda x, n=n: functional.adaptive_max_pool2d(x, n, return_indices=True),
                                   of((2, 3, 13, 17))) for n in ((5, 4), (1, 1), (13, 3))},
    "adaptive maxima of equals": (lambda x: functional.adaptive_max_pool2d(to_integers(x), (5, 4), return_indices=True),
                                  of((2, 3, 13, 17))),
    "adaptive maxima without a batch": (lambda x: functional.adaptive_max_pool2d(x, (5, 4)), of((3, 13, 17))),
    "adaptive maxima 3d": (lambda x: functional.adaptive_max_pool3d(x, (3, 2, 4)), of((1, 2, 7, 5, 9))),
    "fractional maxima 2d": (
        lambda x: functional.fractional_max_pool2d(x, 2, output_size=(5, 6), return_indices=True,
                                                   _random_samples=samples(x, 2, 3, 2)),
        of((2, 3, 13, 17))),
    "fractional maxima 3d": (
        lambda x: functional.fractional_max_pool3d(x, 2, output_size=(3, 1, 4),
                                                   _random_samples=samples(x, 1, 2, 3)),
        of((1, 2, 7, 5, 9))),
    **{f"{op.__name__} {dim}": (lambda x, op=op, dim=dim: op(to_integers(x), dim), of((5, 9)))
       for op, dim in itertools.product((torch.cummax, torch.cummin), (0, -1))},
    "cummax of one": (lambda x: torch.cummax(x, 1), of((5, 1))),
    "logcumsumexp": (lambda x: torch.logcumsumexp(x * 3, 1), of((4, 37))),
    **{f"scatter {reduce} {own}": (lambda x, s, reduce=reduce, own=own:
                                   x.scatter_reduce(0, PLACES, s, reduce, include_self=own), of((5, 3), (4, 3)))
       for reduce, own in itertools.product(("sum", "prod", "mean", "amax", "amin"), (True, False))},
    **{f"index {reduce} {own}": (lambda x, s, reduce=reduce, own=own:
                                 x.index_reduce(0, torch.tensor([1, 0, 1, 3]), s, reduce, include_self=own),
                                 of((5, 3), (4, 3)))
       for reduce, own in itertools.product(("prod", "mean", "amax", "amin"), (True, False))},
    **{f"bags {mode}": (lambda w, mode=mode: functional.embedding_bag(INDICES, w, OFFSETS, mode=mode), of((9, 4)))
       for mode in ("sum", "mean", "max")},
    "bags of weights": (lambda w, p: functional.embedding_bag(INDICES, w, OFFSETS, None, 2, False, "sum", False, p),
                        of((9, 4), (8,))),
    "bags, padding": (lambda w: functional.embedding_bag(INDICES.reshape(2, 4), w, mode="mean", padding_idx=4),
                      of((9, 4))),
    "bags, last offset": (lambda w: functional.embedding_bag(INDICES, w, torch.tensor([0, 2, 8]), mode="sum",
                                                             include_last_offset=True), of((9, 4))),
    "lgamma": (torch.lgamma, of((200,), scale=20)),
    "lgamma near its zeros": (lambda x: torch.lgamma(1.5 + x), of((200,))),
    "fake quantize": (lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -20, 20), of((40,), scale=2)),
    "fake quantize by tensors": (
        lambda x: torch.fake_quantize_per_tensor_affine(x, torch.tensor(0.1), torch.tensor(3), -20, 20),
        of((40,), scale=2)),
    "fake quantize of channels": (
        lambda x: torch.fake_quantize_per_channel_affine(
            x, torch.tensor([0.1, 0.2, 0.05]), torch.tensor([0, 1, 2], dtype=torch.int32), 0, -20, 20),
        of((3, 40), scale=2)),
    **{f"{op.__name__} of pairs": (op, of((4, 1, 3), (5, 1), scale=2))
       for op in (torch.fmax, torch.fmin, torch.hypot, torch.copysign, torch.dist)},
    "ldexp": (lambda x: torch.ldexp(x, INDICES - 4), of((3, 8))),
    "medians": (lambda x: (torch.median(to_integers(x)), torch.nanmedian(x)), of((5, 9))),
    **{f"put {sums}": (lambda x, s, sums=sums: x.put(torch.tensor([[0, -1, 7], [4, 2, 9]]), s, sums),
                       of((3, 5), (2, 3))) for sums in (True, False)},
    "masked scatter": (lambda x, s: x.masked_scatter(torch.arange(12).reshape(3, 4) % 3 == 0, s), of((3, 4), (20,))),
}  # fmt: skip
SINGLE: dict[str, tuple[Callable[..., Any], Make]] = {
    **{f"cdist {p}": (lambda x, y, p=p: torch.cdist(x, y, p), of((2, 5, 3), (1, 4, 3)))
       for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf)},
    "digamma": (torch.digamma, of((200,), scale=5)),
    "cdist of equal rows": (lambda x: torch.cdist(x, x * 1, 2.0, "donot_use_mm_for_euclid_dist"), of((5, 3))),
    **{f"pdist {p}": (lambda x, p=p: functional.pdist(x, p), of((6, 3))) for p in (1.0, 2.0, 3.0)},
    **{f"triangular {upper} {left} {unit}": (
        lambda a, b, upper=upper, left=left, unit=unit: torch.linalg.solve_triangular(
            (torch.triu(a) if upper else torch.tril(a)) + 4 * torch.eye(33), b if left else b.mT,
            upper=upper, left=left, unitriangular=unit),
        of((2, 33, 33), (33, 5), scale=0.3)) for upper, left, unit in itertools.product((True, False), repeat=3)},
}  # fmt: skip


def check_with_gradients(function: Callable[..., Any], arguments: tuple[torch.Tensor, ...]) -> None:
    """Values, and gradients of a sum of them by other weights each; the report names no op of PyTorch."""
    compiled = on_chip(function)
    with record() as reports, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.no_grad():
            assert_agree(compiled(*arguments), function(*arguments))
        gradients = []
        for run in (compiled, function):
            leaves = [x.clone().requires_grad_() for x in arguments]
            results = [x for x in tree_leaves(run(*leaves)) if x.is_floating_point()]
            sum((x.float() * torch.arange(x.numel()).reshape(x.shape).cos()).sum() for x in results).backward()
            gradients.append([x.grad for x in leaves])
    assert_agree(*gradients)
    assert not any(r.on_host for r in reports), [r.on_host for r in reports]


def cases_by_turns() -> Iterator[Any]:
    """Each case runs in one of both types, the next case in the other; --slow runs all in both."""
    for place, name in enumerate(CASES):
        for at, dtype in enumerate((torch.float32, torch.bfloat16)):
            # Not simply by turns: parameters of many cases have two values.
            marks = [] if at == (place + place // 2) % 2 else [pytest.mark.slow]
            yield pytest.param(name, dtype, marks=marks, id=f"{name}-{dtype}")


@pytest.mark.parametrize(("name", "dtype"), list(cases_by_turns()))
def test_values_and_gradients(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(len(name))
    function, make = CASES[name]
    check_with_gradients(function, make(dtype))


@pytest.mark.parametrize("name", SINGLE)
def test_values_and_gradients_in_f32(name: str) -> None:
    torch.manual_seed(len(name))
    function, make = SINGLE[name]
    check_with_gradients(function, make(torch.float32))


def whole(function: Callable[..., Any], *arguments: torch.Tensor) -> None:
    with record() as reports, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_agree(on_chip(function)(*arguments), function(*arguments))
    assert not any(r.on_host for r in reports), [r.on_host for r in reports]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool], ids=str)
def test_integers(dtype: torch.dtype) -> None:
    x = (torch.arange(24).reshape(4, 6) * 7 % 5).to(dtype)
    whole(lambda x: (torch.cummax(x, 1), torch.cummin(x, 0), x.masked_scatter(x > 2, x.flip(0))), x)


def test_not_a_number_and_infinity() -> None:
    x = torch.tensor(
        [[1.0, math.nan, 3.0, math.inf, math.nan, 2.0], [-math.inf, -math.inf, 0.0, 1.0, -math.inf, math.inf]]
    )
    whole(lambda x: (torch.cummax(x, 1), torch.cummin(x, 1), torch.logcumsumexp(x[1:], 1)), x)
    ends = torch.tensor([0.0, -0.0, -1.0, -5.0, 1.0, 2.0, math.inf, math.nan, 1e30, 171.0, -2.5])
    whole(lambda x: (torch.lgamma(x), torch.digamma(x)), ends)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_pairs_of_special_values(dtype: torch.dtype) -> None:
    some = torch.tensor([0.0, -0.0, 1.0, -3.0, math.inf, -math.inf, math.nan]).to(dtype)
    some = torch.cat([some, -some[-1:]])
    x, y = (part.reshape(-1) for part in torch.meshgrid(some, some, indexing="ij"))
    whole(lambda x, y: (torch.fmax(x, y), torch.fmin(x, y), torch.hypot(x, y), torch.copysign(x, y)), x, y)
    whole(lambda x, y: (torch.copysign(x, y).signbit(), torch.copysign(x, -0.0).signbit()), x, y)


def test_hypotenuses_are_exact_where_squares_are_not_normal() -> None:
    x, y = (torch.tensor(sides)[:, None] * 2.0 ** torch.tensor([-140, -70, 0, 40, 100, 123]) for sides in
            ([3.0, 5.0, 8.0, 0.0], [4.0, -12.0, 15.0, 9.0]))  # fmt: skip
    assert torch.equal(on_chip(torch.hypot)(x, y), torch.hypot(x, y))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8], ids=str)
@pytest.mark.parametrize("size", [0, 1, 7, 8])
def test_places_in_sorted_tensors(size: int, dtype: torch.dtype) -> None:
    torch.manual_seed(size)
    ends = (torch.rand(2, size) * 9).to(dtype).sort().values
    values = (torch.rand(2, 6) * 9).to(dtype)
    if dtype.is_floating_point:
        values[0, :3] = torch.tensor([math.nan, math.inf, -math.inf])
    whole(
        lambda ends, x: (
            torch.searchsorted(ends, x), torch.searchsorted(ends, x, side="right", out_int32=True),
            torch.bucketize(x, ends[0]), torch.bucketize(x, ends[1], right=True), torch.bucketize(2.5, ends[0]),
            torch.searchsorted(ends[0], 3), torch.searchsorted(ends.flip(1), x),
            torch.searchsorted(ends.flip(1), x, sorter=torch.arange(size).flip(0).repeat(2, 1)),
        ),
        ends, values,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8], ids=str)
def test_elements_by_order(dtype: torch.dtype) -> None:
    x = (torch.arange(30).reshape(5, 6) * 7 % 11).to(dtype)
    if dtype.is_floating_point:
        x[0], x[1, 2], x[2, 1:5], x[3, :2] = math.nan, math.nan, math.nan, torch.tensor([math.inf, -math.inf])
    whole(
        lambda x: [
            torch.median(x), torch.nanmedian(x), torch.median(x[0, 0]), torch.median(x, 1).values,
            torch.median(x, 0, True).values, torch.nanmedian(x, 1).values, torch.nanmedian(x, 0, True).values,
            torch.kthvalue(x, 4, 1).values, torch.kthvalue(x, 2, 0, True).values,
            *torch.median(x[:, :1], 1), *torch.kthvalue(x[:, :1], 1), *torch.nanmedian(x[:1], 0),
        ],
        x,
    )  # fmt: skip


LEFT: dict[str, Callable[[torch.Tensor], Any]] = {
    "median": lambda x: torch.median(x, 1), "nanmedian": lambda x: torch.nanmedian(x, 1),
    "kthvalue": lambda x: torch.kthvalue(x, 3), "index_put": lambda x: x.index_put((PLACES == 1,), x[0, :2]),
    "searchsorted": lambda x: torch.searchsorted(x[0], x[1].half()),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_what_only_pytorch_knows_is_left_to_it(name: str) -> None:
    """Places among equal elements, as many values as a mask chooses, and errors of PyTorch."""
    x = torch.arange(12.0).reshape(4, 3) % 2
    with record() as reports, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            want = LEFT[name](x)
        except RuntimeError as error:
            with pytest.raises(RuntimeError, match=re.escape(str(error).partition(":")[0])):
                on_chip(LEFT[name])(x)
        else:
            assert_agree(on_chip(LEFT[name])(x), want)
    assert [name in op for r in reports for op in r.on_host] == [True]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool], ids=str)
def test_values_at_masks(dtype: torch.dtype) -> None:
    x = (torch.arange(60).reshape(4, 3, 5) * 7 % 11 - 3).to(dtype)
    mask, put = x > 0, torch.ops.aten.index_put
    whole(
        lambda x, one: [
            put(x, indices, values, accumulate)
            for accumulate in (False, True)
            for indices, values in (
                ((mask,), one), ((mask,), one[None]), ((mask[:, 0, 0],), x[1]), ((mask[:, 0, 0],), x[:1]),
                ((mask[..., 1],), x[0, 0]), ((None, mask[0, :, 0]), x[:, :1]), ((None, None, mask[0, 0]), one),
            )
        ],
        x, torch.tensor(1).to(dtype),
    )  # fmt: skip


@pytest.mark.parametrize(("low", "high"), [(-2, 2), (0, 0), (0, 7), (1, 1)])
def test_histograms(low: int, high: int) -> None:
    whole(lambda x: torch.histc(x, 8, low, high), torch.arange(64.0) % 9 - 1)


@pytest.mark.parametrize(("rows", "depth", "columns"), [(1, 1, 1), (17, 33, 8), (40, 64, 65)])
def test_products_of_bytes(rows: int, depth: int, columns: int) -> None:
    if rows <= 16:
        rows += 17  # PyTorch's kernel wants more
    depth, columns = -(-depth // 8) * 8, -(-columns // 8) * 8
    a, b = (torch.randint(-128, 128, shape, dtype=torch.int8) for shape in ((rows, depth), (depth, columns)))
    whole(lambda a, b: torch._int_mm(a, b), a, b)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ends", [[3, 3, 40, 70], [70, 70, 70, 70], [0, 0, 0, 70], [1, 2, 3, 4], [0, 0, 0, 0]], ids=str)
@pytest.mark.parametrize("rows", [2, 70, 600])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_products_of_groups(dtype: torch.dtype, rows: int, ends: list[int]) -> None:
    """The experts of transformers, whose rows behind the last end are 0."""
    import transformers.integrations.moe  # noqa: F401  registers the op

    offsets = torch.tensor([n * rows // 70 for n in ends], dtype=torch.int32)
    x, matrices = torch.randn(rows, 24).to(dtype), torch.randn(4, 24, 40).to(dtype)
    check_with_gradients(lambda x, w: torch.ops.transformers.grouped_mm_fallback(x, w, offsets), (x, matrices))


@pytest.mark.parametrize("rows", [4, 70])
def test_products_of_groups_of_pytorch(rows: int) -> None:
    offsets = torch.tensor([1, 1, rows // 2, rows], dtype=torch.int32)
    x, matrices = torch.randn(rows, 16, dtype=torch.bfloat16), torch.randn(4, 16, 24, dtype=torch.bfloat16)
    check_with_gradients(lambda x, w: torch._grouped_mm(x, w, offs=offsets), (x, matrices))


SMALL: dict[str, Any] = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 128,
    "max_position_embeddings": 128, "intermediate_size": 96, "num_experts_per_tok": 2, "pad_token_id": None,
    "bos_token_id": None, "eos_token_id": None,
}  # fmt: skip
MIXTURES: dict[str, dict[str, Any]] = {
    "mixtral": {"num_local_experts": 4},
    "gpt_oss": {"num_local_experts": 4, "head_dim": 16},
    "qwen3_next": {"num_experts": 4, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32, "head_dim": 16,
                   "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 16,
                   "linear_value_head_dim": 16, "layer_types": ["linear_attention", "full_attention"]},
}  # fmt: skip


@pytest.mark.parametrize("name", MIXTURES)
def test_mixtures_of_experts(name: str) -> None:
    """Models of transformers with random weights: nothing is left to PyTorch, forward and backward."""
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(name, **SMALL, **MIXTURES[name]))
    tokens = torch.randint(0, 128, (1, 24))
    gradients = []
    with record() as reports, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for run in (torch.compile(model, backend="tt"), model):
            model.zero_grad()
            loss = run(tokens, use_cache=False, labels=tokens).loss
            loss.backward()
            gradients.append([loss.detach()] + [p.grad.clone() for p in model.parameters() if p.grad is not None])
    assert_agree(*gradients)
    assert not any(r.on_host for r in reports), [r.on_host for r in reports]
