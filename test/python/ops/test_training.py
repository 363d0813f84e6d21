# SPDX-License-Identifier: Apache-2.0
"""Training steps compared with PyTorch's own, and what ops of training and routing refuse when they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
import ttnn
from builder.base.builder_apis import compile_and_execute_ttnn, load_mlir_file
from builder.base.builder_runtime import execute_fb
from op_cases import lowered
from ttmlir.passes import ttnn_to_flatbuffer_bin


@pytest.fixture(scope="module")
def device() -> Any:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture
def put(device: Any) -> Callable[..., Any]:
    def placed(value: torch.Tensor, dtype: Any = ttnn.float32) -> Any:
        return ttnn.from_torch(value, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)

    return placed


@pytest.mark.parametrize("amsgrad", [False, True])
def test_steps_of_adamw_are_those_of_torch(put: Callable[..., Any], amsgrad: bool) -> None:
    torch.manual_seed(3)
    weight = torch.nn.Parameter(torch.randn(5, 33))
    optimizer = torch.optim.AdamW([weight], lr=0.01, weight_decay=0.1, amsgrad=amsgrad)
    state = [put(weight.detach().clone()), *(put(torch.zeros(5, 33)) for _ in range(3))]
    param, mean, square, largest = state
    for step in range(1, 6):
        weight.grad = torch.randn(5, 33) / step
        optimizer.step()
        ttnn.adamw(
            param, put(weight.grad), mean, square, largest if amsgrad else None, lr=0.01, beta1=0.9, beta2=0.999,
            beta1_pow=0.9**step, beta2_pow=0.999**step, epsilon=1e-8, weight_decay=0.1,
        )  # fmt: skip
        torch.testing.assert_close(ttnn.to_torch(param), weight.detach(), atol=1e-6, rtol=1e-5)


def test_stochastic_rounding_is_right_on_average(put: Callable[..., Any]) -> None:
    """Steps of a tenth of a unit in the last place: rounded to nearest, the parameter would never change."""
    unit, count = 2.0**-7, 1 << 14
    ones, zeros = torch.ones(count), torch.zeros(count)
    found = []
    for is_random in (False, True):
        param = put(ones, ttnn.bfloat16)
        ttnn.adamw(
            param, put(-ones), put(zeros), put(zeros), None, lr=unit / 10, beta1=0.0, beta2=0.0, beta1_pow=0.0,
            beta2_pow=0.0, epsilon=0.0, weight_decay=0.0, stochastic_rounding=is_random,
        )  # fmt: skip
        found.append(float((ttnn.to_torch(param).double() - 1).mean()) / unit)
    assert found[0] == 0
    assert found[1] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("kind", ["none", "causal", "arbitrary"])
def test_gradients_of_attention_are_those_of_torch(put: Callable[..., Any], kind: str) -> None:
    torch.manual_seed(5)
    query, upstream = torch.randn(2, 4, 7, 16), torch.randn(2, 4, 7, 16)
    key, value = torch.randn(2, 2, 7, 16), torch.randn(2, 2, 7, 16)
    mask = torch.ones(2, 1, 7, 7).tril() if kind == "arbitrary" else None
    leaves = [t.clone().requires_grad_() for t in (query, key, value)]
    expected = torch.nn.functional.scaled_dot_product_attention(
        leaves[0], *leaves[1:], attn_mask=None if mask is None else mask.bool(), is_causal=kind == "causal",
        enable_gqa=True,
    )  # fmt: skip
    expected.backward(upstream)
    placed = [put(t) for t in (query, key, value)]
    options = {"mask_type": getattr(ttnn.AttentionMaskType, kind.upper())}
    given = None if mask is None else put(mask)
    output, statistics = ttnn.sdpa_fw(*placed, given, return_intermediates=True, **options)
    torch.testing.assert_close(ttnn.to_torch(output), expected.detach(), atol=1e-5, rtol=1e-5)
    gradients = ttnn.sdpa_bw(put(upstream), output, *placed, statistics, given, **options)
    for found, leaf in zip(gradients, leaves, strict=True):
        torch.testing.assert_close(ttnn.to_torch(found), leaf.grad, atol=1e-5, rtol=1e-4)
    alone = ttnn.sdpa_fw(*placed, given, **options)
    assert torch.equal(ttnn.to_torch(alone), ttnn.to_torch(output))


def test_dropout_of_attention_is_refused(put: Callable[..., Any]) -> None:
    x = put(torch.randn(1, 1, 4, 4))
    with pytest.raises(Exception, match=r"sdpa_fw.*'dropout_probability' is 0\.1.*; expected 0"):
        ttnn.sdpa_fw(x, x, x, dropout_probability=0.1)


def sampled(put: Callable[..., Any], values: torch.Tensor, k: int, p: float, **options: Any) -> torch.Tensor:
    users = values.shape[0]
    indices = torch.arange(values.shape[1], dtype=torch.int32).expand(values.shape).contiguous() + 100
    return ttnn.to_torch(
        ttnn.sampling(
            put(values),
            put(indices, ttnn.int32),
            put(torch.full((users,), k, dtype=torch.int32), ttnn.int32),
            put(torch.full((users,), p)),
            put(torch.ones(users)),
            **options,
        )
    )


def test_samples_follow_the_probabilities(put: Callable[..., Any]) -> None:
    chances = torch.tensor([0.5, 0.1, 0.3, 0.06, 0.04])
    values = chances.log().expand(4000, 5).contiguous()
    for k, p, kept in ((5, 1.0, chances), (2, 1.0, chances * (chances > 0.2)), (5, 0.75, chances * (chances > 0.2))):
        found = torch.bincount(sampled(put, values, k, p, seed=11).long() - 100, minlength=5) / 4000
        torch.testing.assert_close(found, kept / kept.sum(), atol=0.03, rtol=0)
    assert (sampled(put, values, 5, 0.0) == 100).all()


def test_samples_without_a_seed_differ(put: Callable[..., Any]) -> None:
    values = torch.zeros(64, 32)
    assert torch.equal(sampled(put, values, 32, 1.0, seed=3), sampled(put, values, 32, 1.0, seed=3))
    assert not torch.equal(sampled(put, values, 32, 1.0), sampled(put, values, 32, 1.0))


def test_impossible_domain_is_refused(put: Callable[..., Any]) -> None:
    values = torch.zeros(2, 3)
    with pytest.raises(Exception, match=r"sampling.*'k' of user 0 is 0; expected 1 to 3"):
        sampled(put, values, 0, 1.0)
    with pytest.raises(Exception, match=r"sampling.*4"):
        sampled(put, values, 4, 1.0)
    with pytest.raises(Exception, match=r"sampling: a value of user 1, or its 'temp', is NaN"):
        sampled(put, torch.tensor([[0.0, 1.0], [0.0, torch.nan]]), 1, 1.0)


def test_a_module_of_ttnn_sees_what_adamw_wrote() -> None:
    """Goldens of what an op changes in place, too."""

    def module(builder: Any) -> None:
        @builder.func([(4, 32)] * 4, [torch.float32] * 4)
        def step(param: Any, grad: Any, mean: Any, square: Any, builder: Any) -> Any:
            square = builder.abs(square)
            builder.adamw(
                param, grad, mean, square, lr=0.1, beta1=0.9, beta2=0.9, beta1_pow=0.9, beta2_pow=0.9, epsilon=1e-3,
                weight_decay=0.1,
            )  # fmt: skip
            return builder.add(builder.add(param, mean), square)

    compile_and_execute_ttnn(module, check_atol=True, check_rtol=True)


NARROW = """
func.func @main(%q: tensor<1x4x7x16xf32>, %k: tensor<1x2x7x16xf32>, %v: tensor<1x2x7x16xf32>, %g: tensor<1x4x7x16xf32>)
    -> (tensor<1x4x7x32xf32>, tensor<1x4x7x16xf32>, tensor<1x2x7x16xf32>, tensor<1x2x7x16xf32>) {
  %0:2 = "ttir.sdpa_fw"(%q, %k, %v) <{mask_type = #ttcore.attention_mask_type<causal>, return_intermediates = true}>
      : (tensor<1x4x7x16xf32>, tensor<1x2x7x16xf32>, tensor<1x2x7x16xf32>) -> (tensor<1x4x7x16xf32>, tensor<1x4x7x32xf32>)
  %1:3 = "ttir.sdpa_bw"(%g, %0#0, %q, %k, %v, %0#1) <{mask_type = #ttcore.attention_mask_type<causal>}>
      : (tensor<1x4x7x16xf32>, tensor<1x4x7x16xf32>, tensor<1x4x7x16xf32>, tensor<1x2x7x16xf32>, tensor<1x2x7x16xf32>, tensor<1x4x7x32xf32>)
      -> (tensor<1x4x7x16xf32>, tensor<1x2x7x16xf32>, tensor<1x2x7x16xf32>)
  return %0#1, %1#0, %1#1, %1#2 : tensor<1x4x7x32xf32>, tensor<1x4x7x16xf32>, tensor<1x2x7x16xf32>, tensor<1x2x7x16xf32>
}
"""  # noqa: E501


def test_intermediates_of_one_tile_hold_the_logarithm_of_the_sum() -> None:
    torch.manual_seed(6)
    query, upstream = torch.randn(1, 4, 7, 16), torch.randn(1, 4, 7, 16)
    key, value = torch.randn(1, 2, 7, 16), torch.randn(1, 2, 7, 16)
    inputs = [query, key, value, upstream]
    module, builder = load_mlir_file(NARROW, target="ttir", golden_inputs={"main": inputs})
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    execute_fb(binary, builder.golden_map[0], builder.golden_map[1], enable_intermediate_verification=True,
               check_atol=True, check_rtol=True)  # fmt: skip
    outputs = [builder.golden_map[0][0][f"output_{i}"].shard_at(0) for i in range(4)]
    scores = query @ key.repeat_interleave(2, 1).transpose(-1, -2) / 4
    scores = scores.masked_fill(torch.ones(7, 7).triu(1) > 0, -torch.inf)
    torch.testing.assert_close(outputs[0][..., 0], scores.logsumexp(-1), atol=1e-5, rtol=1e-5)
    assert not outputs[0][..., 1:].any()
    leaves = [t.clone().requires_grad_() for t in (query, key, value)]
    torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=True, enable_gqa=True).backward(upstream)
    for found, leaf in zip(outputs[1:], leaves, strict=True):
        torch.testing.assert_close(found, leaf.grad, atol=1e-5, rtol=1e-4)
