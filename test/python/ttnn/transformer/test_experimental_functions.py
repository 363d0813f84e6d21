# SPDX-License-Identifier: Apache-2.0
"""Functions of ttnn.experimental that are made of others, compared with PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import ttnn

X = ttnn.experimental


@pytest.fixture(scope="module")
def line() -> Iterator[Any]:
    with ttnn.open_mesh_device(ttnn.MeshShape(1, 2)) as device:
        yield device


def drawn(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def put(device: Any, *tensors: torch.Tensor, layout: Any = ttnn.TILE_LAYOUT) -> list[Any]:
    return [ttnn.from_torch(each, layout=layout, device=device) for each in tensors]


def spread(line: Any, tensor: torch.Tensor, dim: int) -> Any:
    mapper = ttnn.ShardTensorToMesh(line, dim)
    return ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=line, mesh_mapper=mapper)


def joined(line: Any, tensor: Any, dim: int) -> torch.Tensor:
    return ttnn.to_torch(tensor, mesh_composer=ttnn.ConcatMeshToTensor(line, dim))


def close(found: torch.Tensor, expected: torch.Tensor, by: float = 1e-5) -> None:
    torch.testing.assert_close(found, expected, atol=by, rtol=by)


# Between devices.


def test_parts_are_gathered(line: Any) -> None:
    x, y = drawn((1, 1, 4, 6), (1, 2, 4, 8))
    own = [spread(line, x, 3), spread(line, y, 3)]
    assert torch.equal(ttnn.to_torch(X.strided_all_gather_async(own[0], None, 3, [])), x)
    everywhere = ttnn.ReplicateTensorToMesh(line)
    target = ttnn.from_torch(torch.zeros_like(x), layout=ttnn.TILE_LAYOUT, device=line, mesh_mapper=everywhere)
    found = X.strided_all_gather_async(own[0], target, 3, [], cluster_axis=1)
    assert found.buffer_address() == target.buffer_address()
    assert torch.equal(ttnn.to_torch(target), x)
    first, second = x.chunk(2, 3)
    assert torch.equal(ttnn.to_torch(X.all_gather_async_reversed(own[0], 3, None)), torch.cat([second, first], 3))
    both = X.ring_attention_all_gather_async(
        own, [], 3, multi_device_global_semaphore=[], cluster_axis=1, mesh_device=line, topology=ttnn.Topology.Linear
    )
    assert [torch.equal(ttnn.to_torch(a), b) for a, b in zip(both, (x, y), strict=True)] == [True, True]
    with pytest.raises(ValueError, match="persistent_output_buffer has 1 tensors; expected 2"):
        X.ring_attention_all_gather_async(
            own, [target], 3, multi_device_global_semaphore=[], cluster_axis=1, mesh_device=line, topology=None
        )


def test_parts_of_one_dimension_become_those_of_another(line: Any) -> None:
    (x,) = drawn((1, 1, 4, 6))
    found = X.all_to_all_async(spread(line, x, 2), None, None, 2, 3, None)
    assert found.shape == (1, 1, 4, 3)
    assert torch.equal(joined(line, found, 3), x)
    with pytest.raises(ValueError, match="in_dim is 2 and out_dim -2; expected two different dimensions"):
        X.all_to_all_async(spread(line, x, 2), None, None, 2, -2, None)
    with pytest.raises(ValueError, match="out_dim has 5 elements; expected a multiple of 2"):
        X.all_to_all_async(spread(line, x[..., :5], 2), None, None, 2, 3, None)


def test_products_on_the_way(line: Any) -> None:
    x, weight, bias = drawn((1, 1, 4, 6), (6, 8), (1, 8))
    own, shared = spread(line, x, 3), put(line, weight, bias)
    whole, product = X.all_gather_matmul_async(own, shared[0], None, 3, [], None, bias=shared[1], activation="relu")
    assert torch.equal(ttnn.to_torch(whole), x)
    close(ttnn.to_torch(product), torch.relu(x @ weight + bias))
    close(ttnn.to_torch(X.llama_all_gather_matmul_async(own, shared[0], None, 3, 1, line, None, None)), x @ weight)
    local, summed = X.matmul_reduce_scatter_async(own, spread(line, weight, 0), None, None, 3, [], None)
    parts = [a @ b for a, b in zip(x.chunk(2, 3), weight.chunk(2, 0), strict=True)]
    close(joined(line, local, 0), torch.cat(parts, 0))
    close(joined(line, summed, 3), x @ weight)


def test_sums_are_divided(line: Any) -> None:
    (x,) = drawn((2, 1, 4, 6))
    own = spread(line, x, 0)
    for found in (
        X.llama_reduce_scatter(own, None, 3, None, None, 1, line),
        X.reduce_scatter_minimal_direct(own, 3),
        X.reduce_scatter_minimal_direct(own, -1, cluster_axis=1, memory_config=ttnn.L1_MEMORY_CONFIG),
    ):
        close(joined(line, found, 3), x.sum(0, keepdim=True))


@pytest.mark.parametrize(("first", "count"), [(0, 8), (1, 4), (5, 2)])
def test_slices_are_divided_again(line: Any, first: int, count: int) -> None:
    (x,) = drawn((1, 8, 3))
    found = X.slice_reshard_async(spread(line, x, 1), 1, first, count, 1, None, None)
    assert found.shape == (1, count // 2, 3)
    assert torch.equal(joined(line, found, 1), x[:, first : first + count])
    with pytest.raises(ValueError, match="output_dim_shape is 3; expected a multiple of 2 devices"):
        X.slice_reshard_async(spread(line, x, 1), 1, 0, 3, 1, None, None)
    with pytest.raises(ValueError, match="output_dim_offset is 5; expected 0 to 4"):
        X.slice_reshard_async(spread(line, x, 1), 1, 5, 4, 1, None, None)


# States.


@pytest.mark.parametrize("length", [1, 5, 32])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_states_of_rows(device: Any, length: int, dtype: str) -> None:
    a, bx, state = (x.to(getattr(torch, dtype)) for x in drawn((1, 1, length, 40), (1, 1, length, 40), (1, 1, 1, 40)))
    a = a.sigmoid()
    found = X.prefix_scan(*put(device, a, bx, state))
    rows, now = [], state.double()
    for at in range(length):
        now = a[:, :, at : at + 1].double() * now + bx[:, :, at : at + 1].double()
        rows.append(now)
    close(ttnn.to_torch(found).double(), torch.cat(rows, 2), 1e-5 if dtype == "float32" else 2e-2)
    with pytest.raises(ValueError, match="expected \\[1, 1, length, width\\] twice"):
        X.prefix_scan(*put(device, a, bx, bx[..., :7]))


# Heads.


def test_rotary_embedding_of_queries_and_keys(device: Any) -> None:
    users, size = 2, 64
    q, k, cos, sin = drawn(
        (1, users, 32, size), (1, users, 32, size), (1, 2 * users, 32, size), (1, 2 * users, 32, size)
    )
    turn = torch.zeros(32, 32)
    turn[torch.arange(0, 32, 2), torch.arange(1, 32, 2)] = 1
    turn[torch.arange(1, 32, 2), torch.arange(0, 32, 2)] = -1
    tables = put(device, cos, sin, turn.expand(1, 2 * users, 32, 32).contiguous())
    found = X.rotary_embedding_llama_fused_qk(*put(device, q, k), *tables)
    whole = torch.block_diag(turn, turn)
    for part, x, own in zip(found, (q, k), (slice(0, users), slice(users, None)), strict=True):
        expected = x * cos[:, own, :1] + (x @ whole) * sin[:, own, :1]
        close(ttnn.to_torch(part), expected)
    with pytest.raises(ValueError, match=r"cos_cache has shape \[1, 2, 32, 64\]; expected \[1, 4, rows, size\]"):
        X.rotary_embedding_llama_fused_qk(*put(device, q, k, cos[:, :2]), *tables[1:])


def test_heads_in_two_parts(device: Any) -> None:
    (x,) = drawn((2, 1, 5, 4 * 24))
    first, rest = X.nlp_create_q_heads_split(*put(device, x), num_heads=4, split_head_dim=16)
    heads = x.reshape(2, 5, 4, 24).transpose(1, 2)
    assert torch.equal(ttnn.to_torch(first), heads[..., :16])
    assert torch.equal(ttnn.to_torch(rest), heads[..., 16:])
    with pytest.raises(ValueError, match="split_head_dim is 24; expected 1 to 23"):
        X.nlp_create_q_heads_split(*put(device, x), num_heads=4, split_head_dim=24)


@pytest.mark.parametrize("turned", [False, True])
def test_products_with_a_cache(device: Any, turned: bool) -> None:
    tokens, grid = 40, ttnn.CoreCoord(8, 8)
    q, cache = drawn((1, 4, 2, 16 if turned else 64), (2, 1, 96, 16))
    found = X.attn_matmul_from_cache(
        *put(device, q, cache), num_tokens=tokens, transpose_hw=turned, compute_with_storage_grid_size=grid
    )
    taken = cache[:, :, :64]
    expected = (q.transpose(0, 2) @ (taken.mT if turned else taken)).transpose(0, 2)
    close(ttnn.to_torch(found), expected)
    with pytest.raises(ValueError, match="num_tokens is 97; expected 1 to 96"):
        X.attn_matmul_from_cache(
            *put(device, q, cache), num_tokens=97, transpose_hw=turned, compute_with_storage_grid_size=grid
        )


def test_rows_of_two_caches(device: Any) -> None:
    first, second, a, b = (x.bfloat16() for x in drawn((3, 2, 4, 8), (3, 2, 4, 8), (1, 2, 5, 8), (1, 2, 5, 8)))
    index = torch.tensor([[9, -1, 0, 12, 6, 3]], dtype=torch.int32)
    caches = put(device, first, second)
    rows = put(device, a, b)
    places = ttnn.from_torch(index, device=device)
    found = X.indexed_fused_update_cache(caches[0], rows[0], caches[1], rows[1], places)
    for cache, result, before, new in zip(caches, found, (first, second), (a, b), strict=True):
        expected = before.clone()
        for row, at in enumerate(index[0, :5].tolist()):
            if 0 <= at < 12:
                expected[at // 4, :, at % 4] = new[0, :, row]
        assert torch.equal(ttnn.to_torch(cache), expected)
        assert result.buffer_address() == cache.buffer_address()
    with pytest.raises(ValueError, match=r"expected \[1, 2, count, 8\]"):
        X.indexed_fused_update_cache(caches[0], caches[1], caches[1], rows[1], places)


# Experts, and the greatest elements.


def test_experts_of_groups(device: Any) -> None:
    scores, bias = drawn((1, 2, 5, 256), (1, 2, 5, 256))
    weights, numbers = X.deepseek_grouped_gate(*put(device, scores, bias), route_scale=2.5)
    plain = scores.sigmoid()
    ranked = plain + bias
    groups = ranked.reshape(1, 2, 5, 8, 32)
    best = groups.topk(2, -1).values.sum(-1).topk(4, -1).indices
    kept = torch.zeros(1, 2, 5, 8).scatter(-1, best, 1.0).repeat_interleave(32, -1)
    expected = ranked.masked_fill(kept == 0, -torch.inf).topk(8, -1).indices
    assert torch.equal(ttnn.to_torch(numbers).long(), expected)
    chosen = plain.gather(-1, expected)
    close(ttnn.to_torch(weights), chosen / chosen.sum(-1, keepdim=True) * 2.5)
    for options, text in (
        ({"n_groups": 7}, r"expected \[..., n \* 7\] each"),
        ({"topk_groups": 9}, "topk_groups is 9; expected 1 to 8"),
        ({"n_activated_experts": 129}, "n_activated_experts is 129; expected 1 to 128"),
    ):
        with pytest.raises(ValueError, match=text):
            X.deepseek_grouped_gate(*put(device, scores, bias), **options)


@pytest.mark.parametrize("valid", [None, 40])
def test_places_of_the_greatest(device: Any, valid: int | None) -> None:
    values = torch.randperm(3 * 70, generator=torch.Generator().manual_seed(0)).reshape(3, 70).bfloat16()
    values[1, 5:] = -torch.inf
    found = X.topk_large_indices(*put(device, values, layout=ttnn.ROW_MAJOR_LAYOUT), k=16, valid_length=valid)
    assert (found.dtype, found.layout) == (ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
    top = values[:, :valid].float().topk(16, -1)
    expected = torch.where(top.values == -torch.inf, 0xFFFFFFFF, top.indices)
    assert torch.equal(ttnn.to_torch(found).long(), expected)
    with pytest.raises(ValueError, match="k is 71 and valid_length 70; expected 1 to 70 elements"):
        X.topk_large_indices(*put(device, values), k=71)


# Spectra.


@pytest.mark.parametrize("shape", [(8,), (2, 3, 1), (2, 33), (1, 1, 4, 128)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_spectra(device: Any, shape: tuple[int, ...], dtype: str) -> None:
    real, imaginary = (x.to(getattr(torch, dtype)) for x in drawn(shape, shape))
    own = put(device, real, imaginary, layout=ttnn.ROW_MAJOR_LAYOUT)
    by = 1e-4 if dtype == "float32" else 5e-2
    for found, expected in (
        (X.fft(own[0]), torch.fft.fft(real.float())),
        (X.fft(own[0], input_imag=own[1]), torch.fft.fft(torch.complex(real.float(), imaginary.float()))),
        (X.ifft(*own), torch.fft.ifft(torch.complex(real.float(), imaginary.float()))),
    ):
        for part, whole in zip(found, (expected.real, expected.imag), strict=True):
            assert part.dtype == own[0].dtype
            close(ttnn.to_torch(part).float(), whole, by)
    with pytest.raises(ValueError, match='precision is \'exact\'; expected "precise" or "fast"'):
        X.fft(own[0], "exact")
