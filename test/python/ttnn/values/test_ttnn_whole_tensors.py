# SPDX-License-Identifier: Apache-2.0
"""Functions made of others that look at whole tensors, compared with PyTorch's: every row, two types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import ttnn
from composite_cases import CASES, Shape
from ttnn.composites import COMPOSITES


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.Device]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def filled(value: Any, dtype: torch.dtype, generator: torch.Generator) -> Any:
    if isinstance(value, Shape):
        return (torch.rand(value, generator=generator) * 4 - 2).to(dtype)
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.float64:
            return value.float()
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, list) and value and isinstance(value[0], Shape | torch.Tensor):
        return [filled(each, dtype, generator) for each in value]
    return value


def mapped(value: Any, change: Any) -> Any:
    if isinstance(value, list):
        return [mapped(each, change) for each in value]
    return change(value) if isinstance(value, torch.Tensor) else value


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _dtype_of(name: str, dtype: torch.dtype) -> torch.dtype:
    return {"bitwise_right_shift": torch.int32, "plus_one": torch.int32, "experimental.typecast": torch.float32}.get(
        name, dtype
    )


ROWS = [(name, at) for name, rows in sorted(CASES.items()) for at in range(len(rows))]


@pytest.mark.parametrize(("name", "at"), ROWS, ids=[f"{name}-{at}" for name, at in ROWS])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_whole_tensors_are_as_in_pytorch(name: str, at: int, dtype: torch.dtype, device: ttnn.Device) -> None:
    generator = torch.Generator().manual_seed(at + 1)
    values = {key: filled(value, dtype, generator) for key, value in CASES[name][at].items()}
    if dtype == torch.bfloat16 and name in ("moreh_arange", "moreh_full"):
        values["dtype"] = ttnn.bfloat16
    elif name in ("moreh_arange", "moreh_full"):
        values["dtype"] = ttnn.float32
    function = COMPOSITES[name]
    exact = {key: mapped(value, lambda t: t.double() if t.is_floating_point() else t) for key, value in values.items()}
    expected = listed(ttnn.get_golden_function(function)(**exact))
    placed = {
        key: mapped(value, lambda t: ttnn.from_torch(t, layout=ttnn.TILE_LAYOUT, device=device))
        for key, value in values.items()
    }
    if name in ("moreh_arange", "moreh_full"):
        placed["device"] = device
    found = listed(function(**placed))
    assert len(found) == len(expected)
    step = 2.0**-7 if dtype == torch.bfloat16 else 3e-5
    for ours, theirs in zip(found, expected, strict=True):
        if theirs is None:
            assert ours is None
            continue
        got = ttnn.to_torch(ours)
        assert got.dtype == _dtype_of(name, dtype)
        assert got.shape == theirs.shape
        torch.testing.assert_close(got.double(), theirs.to(got.dtype).double(), rtol=step, atol=step, equal_nan=True)


def test_in_place_functions_change_their_tensor(device: ttnn.Device) -> None:
    data = torch.randn(2, 33, 40)
    x = ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.softmax_in_place(x)
    torch.testing.assert_close(ttnn.to_torch(x), torch.softmax(data, -1), rtol=1e-5, atol=1e-6)
    gradients = [torch.randn(5, 7), torch.randn(3)]
    ours = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in gradients]
    ttnn.moreh_clip_grad_norm(ours, 0.5)
    for each in gradients:
        each.requires_grad_().grad = each.detach().clone()
    torch.nn.utils.clip_grad_norm_(gradients, 0.5)
    for each, placed in zip(gradients, ours, strict=True):
        torch.testing.assert_close(ttnn.to_torch(placed), each.grad, rtol=1e-5, atol=1e-6)


def test_results_are_written_where_they_are_told(device: ttnn.Device) -> None:
    def zeros() -> ttnn.Tensor:
        return ttnn.from_torch(torch.zeros(4, 6), layout=ttnn.TILE_LAYOUT, device=device)

    x, g = (ttnn.from_torch(torch.randn(4, 6), layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2))
    targets = [zeros(), zeros(), zeros()]
    results = ttnn.moreh_adam(
        x, g, zeros(), zeros(), step=1, param_out=targets[0], exp_avg_out=targets[1], exp_avg_sq_out=targets[2]
    )
    for target, result in zip(targets, results, strict=False):
        assert torch.equal(ttnn.to_torch(target), ttnn.to_torch(result))
        assert ttnn.to_torch(target).abs().sum() > 0
    [a, b] = ttnn.moreh_bmm_backward(
        *(
            ttnn.reshape(each, [1, *shape])
            for each, shape in ((g, (4, 6)), (x, (4, 6)), (ttnn.matmul(x, g, transpose_a=True), (6, 6)))
        ),
        input_grad_memory_config=ttnn.L1_MEMORY_CONFIG,
    )
    assert a.memory_config().buffer_type == ttnn.BufferType.L1
    assert b.memory_config().buffer_type == ttnn.BufferType.DRAM


def test_layouts_and_block_formats(device: ttnn.Device) -> None:
    x = ttnn.from_torch(torch.randn(33, 65), device=device)
    tiles = ttnn.tilize(x, dtype=ttnn.bfloat8_b)
    assert (tiles.layout, tiles.dtype, tuple(tiles.padded_shape)) == (ttnn.TILE_LAYOUT, ttnn.bfloat8_b, (64, 96))
    rows = ttnn.untilize(tiles)
    assert (rows.layout, rows.dtype, tuple(rows.padded_shape)) == (ttnn.ROW_MAJOR_LAYOUT, ttnn.bfloat16, (33, 65))


def test_random_tensors(device: ttnn.Device) -> None:
    ttnn.manual_seed(7)
    first = ttnn.to_torch(ttnn.randn([64, 640], device, dtype=ttnn.float32))
    second = ttnn.to_torch(ttnn.randn([64, 640], device, dtype=ttnn.float32))
    ttnn.manual_seed(7)
    assert torch.equal(first, ttnn.to_torch(ttnn.randn([64, 640], device, dtype=ttnn.float32)))
    assert not torch.equal(first, second)
    assert abs(first.mean()) < 0.02 and abs(first.std() - 1) < 0.02 and abs((first**4).mean() - 3) < 0.2
    assert ttnn.randn([3, 3], device).dtype == ttnn.bfloat16

    x = ttnn.from_torch(torch.zeros(64, 640), layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.uniform(x, -1.0, 3.0, seed=5)
    numbers = ttnn.to_torch(x)
    assert numbers.min() >= -1 and numbers.max() <= 3 and abs(numbers.mean() - 1) < 0.03
    chances = ttnn.from_torch(torch.full((64, 640), 0.25), layout=ttnn.TILE_LAYOUT, device=device)
    drawn = ttnn.to_torch(ttnn.bernoulli(chances, seed=3))
    assert set(drawn.unique().tolist()) == {0.0, 1.0} and abs(drawn.mean() - 0.25) < 0.02


def test_integers_move_and_fill(device: ttnn.Device) -> None:
    data = torch.arange(35, dtype=torch.int32).reshape(5, 7) - 9
    x = ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)
    for name, *arguments in (("roll", 3, 1), ("narrow", 0, 1, 3), ("tril",), ("triu",)):
        got = ttnn.to_torch(getattr(ttnn, name)(x, *arguments))
        assert got.dtype == torch.int32
        assert torch.equal(got, getattr(torch, name)(data, *arguments))


def placed(device: ttnn.Device, *shape: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ttnn.Tensor]:
    data = torch.randn(*shape).to(dtype)
    return data, ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)


COMPLEX = {
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "angle": torch.angle,
    "conj": lambda z: torch.conj(z).resolve_conj(),
    "polar": lambda z: torch.polar(z.real, z.imag),
}


@pytest.mark.parametrize("name", sorted(COMPLEX))
def test_complex_numbers_and_their_gradients(name: str, device: ttnn.Device) -> None:
    (_, a), (imag, b), (x, g), (y, h) = (placed(device, 5, 33) for _ in range(4))
    if name == "polar":  # of magnitudes, which are not negative
        a = ttnn.abs(a)
    z = torch.complex(ttnn.to_torch(a), imag).requires_grad_()
    expected = COMPLEX[name](z)
    ours = ttnn.complex_tensor(a, b)
    found = getattr(ttnn, name)(ours)
    if expected.is_complex():
        expected.backward(torch.complex(x, y))
        options = {"memory_config": ttnn.L1_MEMORY_CONFIG}
        [gradient] = getattr(ttnn, f"{name}_bw")(ttnn.complex_tensor(g, h), ours, **options)
        pairs = [(found.real, expected.real), (found.imag, expected.imag)]
    else:
        expected.backward(x)
        [gradient] = getattr(ttnn, f"{name}_bw")(g, ours, memory_config=ttnn.L1_MEMORY_CONFIG)
        pairs = [(found, expected)]
    pairs += [(gradient.real, z.grad.real), (gradient.imag, z.grad.imag)]
    assert gradient.real.memory_config() == ttnn.L1_MEMORY_CONFIG
    for got, theirs in pairs:
        torch.testing.assert_close(ttnn.to_torch(got), theirs.detach(), rtol=1e-5, atol=1e-5)


def test_complex_numbers_without_a_part(device: ttnn.Device) -> None:
    data = torch.tensor([[0.0, -0.0, 1.0]])
    zero, one = (ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (data, data * 0 + 1))
    z = ttnn.complex_tensor(one, zero)
    assert ttnn.to_torch(ttnn.is_real(z)).tolist() == [[1, 1, 0]]
    assert ttnn.to_torch(ttnn.is_imag(z)).tolist() == [[0, 0, 0]]


def test_correlation(device: ttnn.Device) -> None:
    (a, x), (b, y) = (placed(device, 33, 40) for _ in range(2))
    found = ttnn.pearson_correlation_coefficient(x, y)
    assert found == pytest.approx(torch.corrcoef(torch.stack([a.flatten(), b.flatten()]))[0, 1].item(), abs=1e-5)
    assert ttnn.pearson_correlation_coefficient(x, x) == pytest.approx(1.0, abs=1e-5)


def test_caches_of_keys(device: ttnn.Device) -> None:
    cache = ttnn.from_torch(torch.zeros(2, 3, 64, 32), layout=ttnn.TILE_LAYOUT, device=device)
    prompt, ours = placed(device, 1, 3, 32, 32)
    token, next_token = placed(device, 1, 3, 2, 32)
    assert ttnn.kv_cache.fill_cache_for_user_(cache, ours, 1) is cache
    assert ttnn.kv_cache.update_cache_for_token_(cache, next_token, 40) is cache
    expected = torch.zeros(2, 3, 64, 32)
    expected[1, :, :32] = prompt[0]
    expected[:, :, 40] = token[0].transpose(0, 1)
    assert torch.equal(ttnn.to_torch(cache), expected)


def test_attention_of_joint_sequences(device: ttnn.Device) -> None:
    own, joint = ([placed(device, 1, 2, n, 32) for _ in range(3)] for n in (64, 32))
    first, second = ttnn.transformer.joint_scaled_dot_product_attention(
        *(ours for _, ours in own), *(ours for _, ours in joint), joint_strategy="rear", program_config=None
    )
    q, k, v = (torch.cat([a, b], 2) for (a, _), (b, _) in zip(own, joint, strict=True))
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(ttnn.to_torch(first), expected[:, :, :64], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(ttnn.to_torch(second), expected[:, :, 64:], rtol=1e-4, atol=1e-4)


def test_attention_whose_values_are_parts_of_keys(device: ttnn.Device) -> None:
    q, ours_q = placed(device, 1, 2, 4, 64)
    k, ours_k = placed(device, 2, 1, 64, 64)
    places = ttnn.from_torch(torch.tensor([10, 63], dtype=torch.int32), device=device)
    found = ttnn.transformer.flash_multi_latent_attention_decode(
        ours_q, ours_k, head_dim_v=32, cur_pos_tensor=places, scale=0.125
    )
    for user, last in enumerate((10, 63)):
        keys = k[user, :, : last + 1]
        expected = torch.nn.functional.scaled_dot_product_attention(q[:, user, None], keys, keys[..., :32], scale=0.125)
        got = ttnn.to_torch(found)[:, user]
        torch.testing.assert_close(got, expected.reshape(got.shape), rtol=1e-4, atol=1e-4)


def test_parts_are_written(device: ttnn.Device) -> None:
    data, part = placed(device, 2, 3, 4)
    target, ours = placed(device, 3, 5, 7)
    assert ttnn.experimental.slice_write(part, ours, [1, 0, 2], [3, 3, 6], [1, 1, 1]) is not None
    target[1:3, 0:3, 2:6] = data
    assert torch.equal(ttnn.to_torch(ours), target)
    for start, text in (([2, 0, 2], "input_tensor has shape"), ([1, 0, 2], "step is")):
        with pytest.raises(ValueError, match=text):
            ttnn.experimental.slice_write(part, ours, start, [3, 3, 6], [1, 1, 2 if text == "step is" else 1])


def test_gathers_and_scatters_with_semaphores() -> None:
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    try:
        data = torch.randn(1, 1, 32, 128)
        x = ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=3))
        whole = ttnn.experimental.all_gather_async(x, 3, multi_device_global_semaphore=None, cluster_axis=1)
        for each in ttnn.get_device_tensors(whole):
            assert torch.equal(ttnn.to_torch(each), data)
        part = ttnn.experimental.reduce_scatter_minimal_async(x, None, 3, None, cluster_axis=1)
        total = data[..., :64] + data[..., 64:]
        for at, each in enumerate(ttnn.get_device_tensors(part)):
            torch.testing.assert_close(ttnn.to_torch(each), total[..., 32 * at : 32 * at + 32])
    finally:
        ttnn.close_mesh_device(mesh)


def test_dropout_and_fused_caches(device: ttnn.Device) -> None:
    data, x = placed(device, 64, 320)
    got = ttnn.to_torch(ttnn.experimental.dropout(x, 0.25, 2.0, 5))
    assert abs((got == 0).float().mean() - 0.25) < 0.02
    torch.testing.assert_close(got[got != 0], (data * 2)[got != 0])
    caches = [ttnn.from_torch(torch.zeros(2, 1, 64, 32), layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2)]
    tokens = [placed(device, 1, 2, 1, 32) for _ in range(2)]
    places = ttnn.from_torch(torch.tensor([3, 40], dtype=torch.int32), device=device)
    ttnn.experimental.paged_fused_update_cache(
        caches[0], tokens[0][1], caches[1], tokens[1][1], update_idxs_tensor=places
    )
    for cache, (token, _) in zip(caches, tokens, strict=True):
        expected = torch.zeros(2, 1, 64, 32)
        expected[0, :, 3], expected[1, :, 40] = token[0, 0], token[0, 1]
        assert torch.equal(ttnn.to_torch(cache), expected)
    heads = ttnn.experimental.split_query_key_value_and_split_heads(placed(device, 2, 1, 5, 96)[1], None, num_heads=4)
    assert [tuple(each.shape) for each in heads] == [(2, 4, 5, 8), (2, 4, 8, 5), (2, 4, 5, 8)]


WRONG = [
    (lambda x: ttnn.chunk(x, 0, 0), ValueError, "ttnn.chunk: chunks is 0; expected a positive number"),
    (lambda x: ttnn.chunk(x, 2, 5), ValueError, "ttnn.chunk: dim is 5; expected -2 to 1"),
    (lambda x: ttnn.stack(x, 0), TypeError, "ttnn.stack: input_tensors is of type Tensor; expected a list of tensors"),
    (lambda x: ttnn.stack([], 0), ValueError, "ttnn.stack: input_tensors is empty; expected at least one tensor"),
    (lambda x: ttnn.stack([x, ttnn.transpose(x, 0, 1)], 0), ValueError, r"have shapes \[4, 6\] and \[6, 4\]; expected"),
    (lambda x: ttnn.experimental.convert_to_hwc(x), ValueError, r"convert_to_hwc: input has shape \[4, 6\]; expected"),
    (lambda x: ttnn.moreh_clip_grad_norm([], 1.0), ValueError, "ttnn.moreh_clip_grad_norm: inputs is empty; expected"),
    (
        lambda x: ttnn.moreh_clip_grad_norm([x / 0.0], 1.0, error_if_nonfinite=True),
        ValueError,
        "the norm of order 2.0 is inf; expected a finite one",
    ),
    (lambda x: ttnn.narrow(x, 0, 3, 2), ValueError, "ttnn.narrow: start is 3 and length 2; dimension 0 has 4"),
    (
        lambda x: ttnn.l1_loss(x, x, reduction="sum"),
        TypeError,
        "ttnn.l1_loss: reduction is 'sum'; expected a ttnn.Loss",
    ),
    (lambda x: ttnn.moreh_adam(x, x, x, x), ValueError, "ttnn.moreh_adam: step is 0; expected the number of the step"),
    (lambda x: ttnn.moreh_adam(x, x, x, x, step=1, amsgrad=True), ValueError, "amsgrad is True without max_exp"),
    (lambda x: ttnn.moreh_nll_loss(x, x, "all"), ValueError, "ttnn.moreh_nll_loss: reduction is 'all'; expected"),
    (
        lambda x: ttnn.moreh_sum_backward(x),
        ValueError,
        "ttnn.moreh_sum_backward: the shape of the gradient is not given",
    ),
    (
        lambda x: ttnn.moreh_getitem(x, [x], [0, 1]),
        ValueError,
        r"ttnn.moreh_getitem: index_dims is \[0, 1\] of 1 index",
    ),
    (lambda x: ttnn.moreh_group_norm(x, 3), ValueError, "ttnn.moreh_group_norm: num_groups is 3; expected a divisor"),
    (lambda x: ttnn.moreh_layer_norm(x, 3), ValueError, "ttnn.moreh_layer_norm: normalized_dims is 3; expected 1 to 2"),
    (lambda x: ttnn.untilize_with_unpadding(x, [4, 0]), ValueError, r"output_tensor_end is \[4, 0\]; the tensor has"),
    (lambda x: ttnn.tilize_with_val_padding(x, [3, 6], 0), ValueError, r"output_tensor_shape is \[3, 6\]; expected at"),
    (lambda x: ttnn.tilize(x, dtype="bf16"), TypeError, "ttnn.tilize: dtype is 'bf16' of type str; expected DataType"),
    (lambda x: ttnn.uniform(x, 2.0, 1.0), ValueError, "ttnn.uniform: from_ is 2.0 and to 1.0; expected from_"),
    (lambda x: ttnn.fold(x, 2, 2), ValueError, r"ttnn.fold: input has shape \[4, 6\]; expected \[batch, n \* 2"),
    (lambda x: ttnn.adaptive_avg_pool2d(x, 1, 2, 2, 3, [0, 1]), ValueError, r"output_size is \[0, 1\]; expected two"),
    (lambda x: ttnn.adaptive_max_pool2d(x, 1, 2, 2, 3, [1, 1]), ValueError, r"expected the elements of \[1, 2, 2, 3\]"),
    (lambda x: ttnn.real(x), TypeError, "ttnn.real: input_tensor is of type Tensor; expected a ttnn.ComplexTensor"),
    (lambda x: ttnn.moreh_arange(0, 3, 0), ValueError, "ttnn.moreh_arange: start is 0, end 3 and step 0"),
]


@pytest.mark.parametrize("row", range(len(WRONG)))
def test_wrong_calls_of_whole_tensors(row: int, device: ttnn.Device) -> None:
    call, kind, text = WRONG[row]
    x = ttnn.from_torch(torch.ones(4, 6), layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(kind, match=text):
        call(x)
