# SPDX-License-Identifier: Apache-2.0
"""Attention to chosen keys and to pages of latent keys, compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import ttnn

DTYPES = {"float32": (ttnn.float32, 1e-5), "bfloat16": (ttnn.bfloat16, 3e-2)}
NONE = 0xFFFFFFFF


def drawn(*shapes: list[int]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator).bfloat16().float() for shape in shapes]


def chosen(rows: int, count: int, of: int, heads: int = 1, first: int = 0) -> torch.Tensor:
    """Returns different numbers below `of` for each row; of each row with an odd number, the last names none."""
    generator = torch.Generator().manual_seed(1)
    picks = torch.stack([torch.randperm(of, generator=generator)[:count] for _ in range(heads * rows)])
    picks = picks.reshape(1, heads, rows, count)
    picks[..., 0] = first
    picks[..., 1:] = torch.where(picks[..., 1:] == first, NONE, picks[..., 1:])
    picks[:, :, 1::2, -1] = NONE
    return picks


def attended(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seen: torch.Tensor, scale: float, sink: Any = None
) -> Any:
    scores = (q @ k.mT * scale).masked_fill(~seen, -torch.inf)
    if sink is not None:
        scores = torch.cat([scores, (sink * scale).expand(*scores.shape[:3], 1)], -1)
    return scores.softmax(-1)[..., : k.shape[2]] @ v


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sink", [False, True])
def test_keys_of_indices(device: Any, dtype: str, sink: bool) -> None:
    kind, close = DTYPES[dtype]
    q, kv, s = drawn([1, 4, 5, 24], [2, 1, 40, 24], [1, 1, 1, 4])
    picks = chosen(5, 8, 40)
    found = ttnn.transformer.sparse_sdpa(
        ttnn.from_torch(q, kind, device=device), ttnn.from_torch(kv, kind, device=device),
        ttnn.from_torch(picks, ttnn.uint32, device=device), 16, kv_format=ttnn.SparseKVFormat.BF16, cache_batch_idx=1,
        attention_sink=ttnn.from_torch(s, kind, device=device) if sink else None, scale=0.3,
    )  # fmt: skip
    seen = (picks[..., None] == torch.arange(40)).any(-2)
    expected = attended(q, kv[1:], kv[1:, :, :, :16], seen, 0.3, s.reshape(1, 4, 1, 1) if sink else None)
    assert (found.layout, found.dtype) == (ttnn.ROW_MAJOR_LAYOUT, kind)
    torch.testing.assert_close(ttnn.to_torch(found).float(), expected, atol=close, rtol=close)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("start", [None, 0, 91])
def test_blocks_of_indices(device: Any, dtype: str, start: int | None) -> None:
    kind, close = DTYPES[dtype]
    q, k, v = drawn([1, 4, 5, 16], [1, 2, 96, 16], [1, 2, 96, 8])
    picks = chosen(5, 2, 3, heads=2, first=0)
    own = [ttnn.from_torch(each, kind, layout=ttnn.TILE_LAYOUT, device=device) for each in (k, v)]
    found = ttnn.transformer.sparse_sdpa_msa(
        ttnn.from_torch(q, kind, device=device), *own, ttnn.from_torch(picks, ttnn.uint32, device=device),
        block_size=32, chunk_start_idx=start,
    )  # fmt: skip
    seen = (picks[..., None] == torch.arange(96) // 32).any(-2).repeat_interleave(2, 1)
    if start is not None:
        seen = seen & (torch.arange(96) <= start + torch.arange(5)[:, None])
    expected = attended(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), seen, 0.25)
    torch.testing.assert_close(ttnn.to_torch(found).float(), expected, atol=close, rtol=close)


def test_queries_of_devices_follow_each_other() -> None:
    q, k, v = drawn([1, 2, 8, 16], [1, 1, 32, 16], [1, 1, 32, 16])
    with ttnn.open_mesh_device(ttnn.MeshShape(1, 2)) as mesh:
        parts = ttnn.from_torch(q, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 2))
        own = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=mesh) for each in (k, v)]
        picks = ttnn.from_torch(torch.zeros(1, 1, 4, 1), ttnn.uint32, device=mesh)
        found = ttnn.transformer.sparse_sdpa_msa(parts, *own, picks, block_size=32, chunk_start_idx=3, cluster_axis=1)
        result = ttnn.to_torch(found, mesh_composer=ttnn.ConcatMeshToTensor(mesh, 2))
    seen = torch.arange(32) <= 3 + torch.arange(8)[:, None]
    torch.testing.assert_close(result, attended(q, k, v, seen, 0.25), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pages_of_latent_keys(device: Any, dtype: str) -> None:
    kind, close = DTYPES[dtype]
    q, k = drawn([2, 4, 32, 24], [6, 1, 32, 24])
    table = torch.tensor([[3, 1], [0, 5]], dtype=torch.int32)
    own = [ttnn.from_torch(each, kind, layout=ttnn.TILE_LAYOUT, device=device) for each in (q, k)]
    found = ttnn.transformer.chunked_flash_mla_prefill(*own, 16, ttnn.from_torch(table, device=device), 32)
    keys = torch.stack([torch.cat([k[page] for page in row], 1) for row in table.tolist()])
    seen = torch.arange(64) <= torch.arange(32, 64)[:, None]
    expected = attended(q, keys, keys[..., :16], seen, 24**-0.5)
    torch.testing.assert_close(ttnn.to_torch(found).float(), expected, atol=close, rtol=close)


def test_wrong_values(device: Any) -> None:
    q, kv, picks = (ttnn.zeros(shape, device=device) for shape in ([1, 2, 3, 8], [2, 1, 64, 8], [1, 1, 3, 4]))
    sparse, form = ttnn.transformer.sparse_sdpa, {"kv_format": ttnn.SparseKVFormat.BF16}
    for arguments, text in (
        ({"cache_batch_idx": None}, "cache_batch_idx is None; expected one of the 2 batches of kv"),
        ({"cache_batch_idx": 2}, "cache_batch_idx is 2; expected 0 to 1"),
        ({"kv_format": ttnn.SparseKVFormat.FP8_E4M3}, "expected SparseKVFormat.BF16"),
        ({"block_cyclic_sp_axis": 1}, "block_cyclic_sp_axis is 1; expected None: caches lie in order here"),
    ):
        with pytest.raises(ValueError, match=text):
            sparse(q, kv, picks, 4, **form | {"cache_batch_idx": 0} | arguments)
    with pytest.raises(ValueError, match="v_dim is 9; expected 1 to 8"):
        sparse(q, kv, picks, 9, **form, cache_batch_idx=0)
    with pytest.raises(ValueError, match="block_size is 48; expected a divisor of 64, the tokens"):
        ttnn.transformer.sparse_sdpa_msa(q, kv, kv, picks, block_size=48, cache_batch_idx=0)
    with pytest.raises(ValueError, match="head_dim_v is 9; expected 1 to 8"):
        ttnn.transformer.chunked_flash_mla_prefill(q, kv, 9, picks, 0)
