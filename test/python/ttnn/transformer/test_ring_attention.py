# SPDX-License-Identifier: Apache-2.0
"""Attention of sequences whose parts several devices have, compared with PyTorch's on whole sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import ttnn

attention = torch.nn.functional.scaled_dot_product_attention
DTYPES = {"float32": (ttnn.float32, 1e-5), "bfloat16": (ttnn.bfloat16, 3e-2)}
DEVICES = 4
# Parameters that only a card needs.
HARDWARE = {
    "program_config": None, "multi_device_global_semaphore": [], "num_links": 1, "topology": ttnn.Topology.Linear,
}  # fmt: skip
JOINT = HARDWARE | {"persistent_output_buffer_k": None, "persistent_output_buffer_v": None, "joint_strategy": "rear"}


@pytest.fixture(scope="module")
def mesh() -> Iterator[Any]:
    with ttnn.open_mesh_device(ttnn.MeshShape(1, DEVICES)) as device:
        yield device


def spread(mesh: Any, tensor: torch.Tensor, dtype: Any = ttnn.float32, dim: int | None = 2) -> Any:
    """Returns equal parts of a dimension on the devices, or the whole tensor on each."""
    mapper = ttnn.ReplicateTensorToMesh(mesh) if dim is None else ttnn.ShardTensorToMesh(mesh, dim)
    return ttnn.from_torch(tensor, dtype, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper)


def joined(mesh: Any, tensor: Any, dim: int = 2) -> torch.Tensor:
    return ttnn.to_torch(tensor, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim)).float()


def drawn(*shapes: list[int], seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator).bfloat16().float() for shape in shapes]


def halves(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the sequence in the order of devices that have an early and a late half each."""
    parts = tensor.chunk(2 * DEVICES, 2)
    return torch.cat([parts[each] for d in range(DEVICES) for each in (d, 2 * DEVICES - 1 - d)], 2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("logical", [32, 29, 1])
@pytest.mark.parametrize("joint", [0, 5])
def test_joint_attention_sees_all_tokens_that_count(mesh: Any, dtype: str, logical: int, joint: int) -> None:
    kind, close = DTYPES[dtype]
    q, k, v = drawn([2, 4, 32, 16], [2, 2, 32, 16], [2, 2, 32, 8])
    jq, jk, jv = drawn([2, 4, joint, 16], [2, 2, joint, 16], [2, 2, joint, 8], seed=1)
    own = [spread(mesh, each, kind) for each in (q, k, v)]
    others = [spread(mesh, each, kind, None) for each in (jq, jk, jv)] if joint else [None] * 3
    keys, values = torch.cat([k[:, :, :logical], jk], 2), torch.cat([v[:, :, :logical], jv], 2)
    expected = attention(torch.cat([q, jq], 2), keys, values, enable_gqa=True)
    for name, more in (("ring", {"ccl_core_grid_offset": ttnn.CoreCoord(0, 0)}), ("exp_ring", {})):
        function = getattr(ttnn.transformer, f"{name}_joint_scaled_dot_product_attention")
        result, behind, sums = function(
            *own, *others, logical_n=logical, dim=2, cluster_axis=1, mesh_device=mesh, **JOINT, **more
        )
        torch.testing.assert_close(joined(mesh, result), expected[:, :, :32], atol=close, rtol=close)
        assert behind.shape == (2, 4, joint, 8)
        if joint:
            torch.testing.assert_close(ttnn.to_torch(behind).float(), expected[:, :, 32:], atol=close, rtol=close)
        scores = q @ keys.repeat_interleave(2, 1).mT / 4
        logsumexp = torch.cat([part[:, :, :8] for part in joined(mesh, sums, 0).chunk(DEVICES)], 2)
        torch.testing.assert_close(logsumexp, scores.logsumexp(-1, True), atol=close, rtol=close)


def test_joint_tokens_may_be_divided_among_devices(mesh: Any) -> None:
    q, k, v, jq, jk, jv = drawn(*[[1, 2, 8, 16]] * 6)
    own, others = ([spread(mesh, each) for each in group] for group in ((q, k, v), (jq, jk, jv)))
    result, behind, _ = ttnn.transformer.ring_joint_scaled_dot_product_attention(
        *own,
        *others,
        logical_n=8,
        logical_l=7,
        dim=2,
        cluster_axis=1,
        mesh_device=mesh,
        ccl_core_grid_offset=None,
        **JOINT,
    )
    expected = attention(torch.cat([q, jq], 2), torch.cat([k, jk[:, :, :7]], 2), torch.cat([v, jv[:, :, :7]], 2))
    torch.testing.assert_close(joined(mesh, result), expected[:, :, :8], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(joined(mesh, behind), expected[:, :, 8:], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("sink", [False, True])
def test_causal_attention(mesh: Any, balanced: bool, window: int | None, sink: bool) -> None:
    q, k, v, s = drawn([1, 4, 16, 16], [1, 2, 16, 16], [1, 2, 16, 16], [1, 4, 1, 1])
    order = halves if balanced else torch.clone
    own = [spread(mesh, order(each)) for each in (q, k, v)]
    result, _, sums = ttnn.transformer.ring_joint_scaled_dot_product_attention(
        *own, logical_n=16, dim=2, cluster_axis=1, mesh_device=mesh, ccl_core_grid_offset=None, is_causal=True,
        is_balanced=balanced,
        sliding_window_size=window, attention_sink=spread(mesh, s, dim=None) if sink else None, scale=0.5, **JOINT
    )  # fmt: skip
    apart = torch.arange(16)[:, None] - torch.arange(16)
    hidden = (apart < 0) | (apart >= (window or 16))
    scores = (q @ k.repeat_interleave(2, 1).mT * 0.5).masked_fill(hidden, -torch.inf)
    if sink:
        scores = torch.cat([scores, (s * 0.5).expand(1, 4, 16, 1)], -1)
    expected = scores.softmax(-1)[..., :16] @ v.repeat_interleave(2, 1)
    torch.testing.assert_close(joined(mesh, result), order(expected), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(joined(mesh, sums), order(scores.logsumexp(-1, True)), atol=1e-5, rtol=1e-5)


def test_queries_may_be_the_last_of_a_cache(mesh: Any) -> None:
    """Slabs of 8 tokens: two of each device, by slabs."""
    k, v = drawn([3, 2, 16, 16], [3, 2, 16, 16])
    (q,) = drawn([1, 2, 8, 16], seed=1)

    def by_devices(x: torch.Tensor) -> torch.Tensor:
        parts = x.chunk(8, 2)
        return torch.cat([parts[slab * DEVICES + device] for device in range(DEVICES) for slab in range(2)], 2)

    own = [spread(mesh, each) for each in (q, by_devices(k), by_devices(v))]
    result, _, _ = ttnn.transformer.ring_joint_scaled_dot_product_attention(
        *own,
        logical_n=16,
        dim=2,
        cluster_axis=1,
        mesh_device=mesh,
        ccl_core_grid_offset=None,
        is_causal=True,
        kv_cache_batch_idx=2,
        **JOINT,
    )
    mask = torch.where(torch.arange(16) > torch.arange(8, 16)[:, None], -torch.inf, 0.0)
    expected = attention(q, k[2:], v[2:], attn_mask=mask)
    torch.testing.assert_close(joined(mesh, result), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("balanced", [False, True])
def test_latent_attention(mesh: Any, balanced: bool) -> None:
    q, kv = drawn([1, 4, 16, 24], [1, 1, 16, 24])
    order = halves if balanced else torch.clone
    result, statistics = ttnn.transformer.ring_mla(
        spread(mesh, order(q)), spread(mesh, order(kv)), persistent_output_buffer_kv=None, head_dim_v=16, logical_n=16,
        dim=2, cluster_axis=None, mesh_device=mesh, ccl_core_grid_offset=None, is_balanced=balanced, **HARDWARE
    )  # fmt: skip
    expected = attention(q, kv, kv[..., :16], is_causal=True, enable_gqa=True)
    torch.testing.assert_close(joined(mesh, result), order(expected), atol=1e-5, rtol=1e-5)
    assert statistics.shape == (1, 4, 8, 1)
    hidden = torch.arange(16) > torch.arange(16)[:, None]
    scores = order((q @ kv.mT / 24**0.5).masked_fill(hidden, -torch.inf))
    most, sums = (
        torch.cat(each, 2) for each in zip(*(x.chunk(2, 2) for x in joined(mesh, statistics).chunk(4, 2)), strict=True)
    )
    torch.testing.assert_close(most, scores.amax(-1, True), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(sums, (scores - most).exp().sum(-1, True), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("ring_id", [None, 0, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_early_and_late_queries(mesh: Any, ring_id: int | None, dtype: str) -> None:
    kind, close = DTYPES[dtype]
    q, k, v = drawn([2, 4, 16, 16], [2, 2, 16, 16], [2, 2, 16, 8])
    own = [spread(mesh, each, kind, None) for each in (q, k, v)]
    result = ttnn.transformer.ring_distributed_scaled_dot_product_attention(*own, DEVICES, ring_id)
    expected = halves(attention(q, k, v, is_causal=True, enable_gqa=True)).chunk(DEVICES, 2)
    for device, part in enumerate(ttnn.get_device_tensors(result)):
        at = device if ring_id is None else ring_id
        torch.testing.assert_close(ttnn.to_torch(part).float(), expected[at], atol=close, rtol=close)


def test_early_and_late_queries_of_pages(mesh: Any) -> None:
    q, k, v = drawn([2, 4, 8, 16], [6, 2, 4, 16], [6, 2, 4, 8])
    table = torch.tensor([[3, 1, 4], [0, 5, 2]], dtype=torch.int32)
    pages = ttnn.from_torch(table, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh))
    own = [spread(mesh, each, dim=None) for each in (q, k, v)]
    result = ttnn.transformer.ring_distributed_scaled_dot_product_attention(
        *own, DEVICES, page_table=pages, chunk_start_idx=4
    )
    keys, values = (torch.stack([torch.cat([x[p] for p in row], 1) for row in table.tolist()]) for x in (k, v))
    mask = torch.where(torch.arange(12) > torch.arange(4, 12)[:, None], -torch.inf, 0.0)
    expected = halves(attention(q, keys, values, attn_mask=mask, enable_gqa=True))
    torch.testing.assert_close(joined(mesh, result), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"joint_strategy": "front"}, "joint_strategy is 'front'; expected \"rear\""),
        ({"logical_n": 9}, "logical_n is 9; expected 0 to 8"),
        ({"dim": 1}, "dim is 1; expected 2, the length"),
        ({"cluster_axis": 3}, "cluster_axis is 3; expected 0 or 1"),
        ({"is_causal": True, "is_cross": True}, "is_cross and is_causal are True; expected one of them"),
        ({"sliding_window_size": 3}, "sliding_window_size is given; expected is_causal=True with it"),
        ({"kv_cache_batch_idx": 1}, "kv_cache_batch_idx is 1; expected 0 to 0"),
        ({"kv_actual_isl": 3}, "kv_actual_isl is 3; expected None: places in caches are numbers of the call here"),
        ({"circular_kv_cache": True}, "circular_kv_cache is True; expected False"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_wrong_values(mesh: Any, values: dict[str, Any], text: str) -> None:
    own = [spread(mesh, each) for each in drawn(*[[1, 2, 8, 16]] * 3)]
    given = (
        JOINT
        | {"logical_n": 8, "dim": 2, "cluster_axis": 1, "mesh_device": mesh, "ccl_core_grid_offset": None}
        | values
    )
    with pytest.raises(ValueError, match=text.replace("(", r"\(")):
        ttnn.transformer.ring_joint_scaled_dot_product_attention(*own, **given)


def test_wrong_rings(mesh: Any) -> None:
    own = [spread(mesh, each, dim=None) for each in drawn(*[[1, 2, 8, 16]] * 3)]
    function = ttnn.transformer.ring_distributed_scaled_dot_product_attention
    for arguments, text in (
        ((3,), "ring_size is 3; expected half a divisor of 8, the queries"),
        ((2,), r"ring_size is 2; the mesh has \[1, 4\] devices"),
        ((4, 4), "ring_id is 4; expected 0 to 3"),
    ):
        with pytest.raises(ValueError, match=text):
            function(*own, *arguments)
    with pytest.raises(ValueError, match="chunk_start_idx is 1; expected 0 to 0"):
        function(*own, 4, chunk_start_idx=1)
