# SPDX-License-Identifier: Apache-2.0
"""The gated delta rule, compared with PyTorch token by token in float64."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import ttnn


def drawn(batch: int, length: int, heads: int, of_values: int, size: int, width: int, alike: bool = False) -> Any:
    """Returns q, k, v, g, beta and a state; with `alike` all keys are equal and hardly anything is forgotten."""
    generator = torch.Generator().manual_seed(length)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    q, k = (torch.nn.functional.normalize(random(batch, length, heads, size), dim=-1) for _ in range(2))
    g = -torch.rand(batch, length, of_values, generator=generator) * 2
    if alike:
        k[:], g[:] = k[:, :1], -1e-3
    return q, k, random(batch, length, of_values, width), g, random(batch, length, of_values).sigmoid(), random(
        batch, of_values, size, width
    )  # fmt: skip


def expected(q: Any, k: Any, v: Any, g: Any, beta: Any, state: Any, scale: float | None = None) -> Any:
    """Returns results, and the state after each token."""
    times = v.shape[2] // q.shape[2]
    q, k = (x.double().repeat_interleave(times, 2) for x in (q, k))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    state, results, states = state.double(), [], []
    for t in range(q.shape[1]):
        state = state * g[:, t].double().exp()[..., None, None]
        seen = torch.einsum("bhk,bhkv->bhv", k[:, t], state)
        change = (v[:, t].double() - seen) * beta[:, t, :, None].double()
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, t], change)
        results.append(torch.einsum("bhk,bhkv->bhv", q[:, t] * scale, state))
        states.append(state)
    return torch.stack(results, 1).float(), torch.stack(states, 1).float()


def put(device: Any, *tensors: torch.Tensor) -> list[Any]:
    return [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in tensors]


SHAPES = {
    "one token": (1, 1, 2, 2, 16, 8), "one chunk": (2, 32, 1, 2, 16, 16), "odd": (1, 71, 2, 4, 24, 16),
    "two chunks": (1, 128, 1, 1, 32, 32), "keys of 1": (1, 33, 1, 1, 1, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("chunk", [32, 64])
@pytest.mark.parametrize("alike", [False, True])
def test_chunks(device: Any, name: str, chunk: int, alike: bool) -> None:
    values = drawn(*SHAPES[name], alike)
    result, states = expected(*values)
    *own, state = put(device, *values)
    found, last = ttnn.transformer.chunk_gated_delta_rule(
        *own, initial_state=state, output_final_state=True, chunk_size=chunk
    )
    assert (found.layout, found.dtype) == (ttnn.ROW_MAJOR_LAYOUT, ttnn.float32)
    torch.testing.assert_close(ttnn.to_torch(found), result, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(ttnn.to_torch(last), states[:, -1], atol=1e-4, rtol=1e-4)


def test_chunks_begin_without_a_state(device: Any) -> None:
    *values, state = drawn(2, 40, 2, 2, 16, 16)
    found, last = ttnn.transformer.chunk_gated_delta_rule(*put(device, *values), scale=0.7, output_head_major=True)
    assert last is None
    result, _ = expected(*values, torch.zeros_like(state), scale=0.7)
    torch.testing.assert_close(ttnn.to_torch(found), result.transpose(1, 2).flatten(0, 1), atol=1e-4, rtol=1e-4)


def test_heads_side_by_side_are_normalized(device: Any) -> None:
    q, k, v, g, beta, _ = drawn(1, 32, 2, 4, 16, 16)
    found, _ = ttnn.transformer.chunk_gated_delta_rule(
        *put(device, q.flatten(2) * 3, k.flatten(2) * 2, v.flatten(2), g, beta), chunk_size=32
    )
    result, _ = expected(q, k, v, g, beta, torch.zeros(1, 4, 16, 16))
    torch.testing.assert_close(ttnn.to_torch(found), result, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["one token", "keys of 1"])
@pytest.mark.parametrize("per_token", [False, True])
def test_tokens(device: Any, name: str, per_token: bool) -> None:
    values = drawn(*SHAPES[name])
    result, states = expected(*values)
    *own, state = put(device, *values)
    found, kept = ttnn.transformer.fused_recurrent_gated_delta_rule(
        *own, initial_state=state, output_final_state=True, output_per_token_state=per_token
    )
    torch.testing.assert_close(ttnn.to_torch(found), result, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ttnn.to_torch(kept), states if per_token else states[:, -1], atol=1e-5, rtol=1e-5)


def test_no_tokens(device: Any) -> None:
    *values, state = drawn(1, 0, 1, 1, 4, 4)
    for name in ("chunk_gated_delta_rule", "fused_recurrent_gated_delta_rule"):
        found, last = getattr(ttnn.transformer, name)(
            *put(device, *values), initial_state=put(device, state)[0], output_final_state=True
        )
        assert found.shape == (1, 0, 1, 4)
        assert torch.equal(ttnn.to_torch(last), state)


def test_matrices_of_chunks(device: Any) -> None:
    heads, chunks, rows, size, width = 2, 3, 32, 16, 8
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator) * 0.3

    unit = torch.tril(random(heads, chunks, rows, rows), -1) + torch.eye(rows)
    values, keys = random(heads, chunks, rows, width), random(heads, chunks, rows, size)
    inner, queries = random(heads, chunks, rows, rows), random(heads, chunks, rows, size)
    turned, decay = random(heads, chunks, size, rows), random(heads, chunks, 1, 1).sigmoid()
    state = random(heads, size, width)
    found, last = ttnn.transformer.gated_delta_attn_seq(
        *put(device, unit, values, keys, inner, queries, turned, decay, torch.zeros(heads, chunks, rows, 32)),
        initial_state=put(device, state)[0],
    )
    state, results = state.double(), []
    for chunk in range(chunks):
        solved = torch.linalg.solve_triangular(
            unit[:, chunk].double(), torch.cat([values[:, chunk], keys[:, chunk]], -1).double(), upper=False
        )
        change = solved[..., :width] - solved[..., width:] @ state
        results.append(queries[:, chunk].double() @ state + inner[:, chunk].double() @ change)
        state = state * decay[:, chunk].double() + turned[:, chunk].double() @ change
    torch.testing.assert_close(ttnn.to_torch(found), torch.stack(results, 1).float(), atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(ttnn.to_torch(last), state.float(), atol=1e-3, rtol=1e-3)


def test_wrong_values(device: Any) -> None:
    *values, _ = drawn(1, 3, 2, 2, 4, 4)
    q, k, v, g, beta = put(device, *values)
    rule = ttnn.transformer.chunk_gated_delta_rule
    with pytest.raises(ValueError, match="chunk_size is 16; expected 32 or 64"):
        rule(q, k, v, g, beta, chunk_size=16)
    with pytest.raises(ValueError, match="use_qk_l2norm is True; expected False"):
        rule(q, k, v, g, beta, use_qk_l2norm=True)
    with pytest.raises(ValueError, match=r"g has shape \[1, 3, 2, 4\]; expected \[1, 3, 2\]"):
        rule(q, k, v, v, beta)
    with pytest.raises(ValueError, match=r"initial_state has shape \[1, 3, 2, 4\]; expected \[1, 2, 4, 4\]"):
        rule(q, k, v, g, beta, initial_state=v)
    with pytest.raises(ValueError, match="initial_state_block_idx is given; expected None"):
        ttnn.transformer.fused_recurrent_gated_delta_rule(q, k, v, g, beta, initial_state_block_idx=g)
