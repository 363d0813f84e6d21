# SPDX-License-Identifier: Apache-2.0
"""The op table: every golden runs, and says what an independent formula says."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from golden import GoldenMapTensor, TensorSpec, find_op, get_golden_function, random_tensor
from golden.domains import accepts
from golden.elementwise import BINARY, ELEMENTWISE, TERNARY, UNARY
from golden.mapping import FAMILIES, RENAMES, TABLE
from golden.sampling import generator

INTEGER_ONLY = {"bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_left_shift", "logical_right_shift",
                "right_shift", "population_count", "count_leading_zeros"}  # fmt: skip


def arity(name: str) -> int:
    return 2 if name in BINARY and name != "pow_scalar" else 3 if name in TERNARY else 1


def sample(name: str, dtype: torch.dtype, shape=(3, 33)) -> list[torch.Tensor]:
    shapes = [shape] * arity(name)
    return [
        random_tensor(shape, dtype, accepts(name).of(i, shapes, {}), generator(1, name, i)) for i in range(len(shapes))
    ]


ATTRIBUTES = {"clamp_scalar": {"min": -0.5, "max": 0.5}, "pow_scalar": {"rhs": 2.0}}


@pytest.mark.parametrize("shape", [(3, 33), (), (0, 4), (1,)], ids=str)
@pytest.mark.parametrize("name", sorted(ELEMENTWISE))
def test_elementwise_goldens_run(name, shape):
    dtype = torch.int32 if name in INTEGER_ONLY else torch.float32
    out = TensorSpec(shape, dtype)
    result = TABLE[name](*sample(name, dtype, shape), out=out, **ATTRIBUTES.get(name, {}))
    assert result.shape == torch.Size(shape)
    if dtype.is_floating_point and result.dtype.is_floating_point:
        assert bool(torch.isfinite(result).all()), "the domain should keep values finite"


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("cbrt", [torch.tensor([-8.0, 0.0, 27.0])], [-2.0, 0.0, 3.0]),
        ("logical_and", [torch.tensor([0.0, 2.0, -1.0]), torch.tensor([1.0, 3.0, 0.0])], [0.0, 1.0, 0.0]),
        ("div", [torch.tensor([7, -7]), torch.tensor([2, 2])], [3, -3]),
        ("remainder", [torch.tensor([-7.0, 7.0]), torch.tensor([3.0, -3.0])], [2.0, -2.0]),
        ("logical_right_shift", [torch.tensor([-1, 8], dtype=torch.int32), torch.tensor([28, 40], dtype=torch.int32)],
         [15, 0]),
        ("right_shift", [torch.tensor([-16], dtype=torch.int32), torch.tensor([40], dtype=torch.int32)], [-1]),
        ("count_leading_zeros", [torch.tensor([1, 0, -1], dtype=torch.int32)], [31, 32, 0]),
        ("population_count", [torch.tensor([7, -1], dtype=torch.int32)], [3, 32]),
        ("where", [torch.tensor([0.0, 2.0]), torch.tensor([1.0, 1.0]), torch.tensor([5.0, 5.0])], [5.0, 1.0]),
        ("clamp_tensor", [torch.tensor([-3.0, 3.0]), torch.full((2,), -1.0), torch.ones(2)], [-1.0, 1.0]),
        ("round", [torch.tensor([0.5, -0.5, 2.5])], [1.0, -1.0, 3.0]),
        ("round_even", [torch.tensor([0.5, -0.5, 2.5])], [0.0, -0.0, 2.0]),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)  # fmt: skip
def test_values_that_are_easily_wrong(name, args, expected):
    assert TABLE[name](*args).tolist() == expected


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [(2.9, torch.int32, 2), (-2.9, torch.int32, -2), (1e20, torch.int32, 2**31 - 1), (-1.0, torch.uint8, 0),
     (math.nan, torch.int32, 0), (math.inf, torch.uint16, 65535)],
)  # fmt: skip
def test_typecast_saturates(value, dtype, expected):
    assert TABLE["typecast"](torch.tensor([value]), out=TensorSpec((1,), dtype)).tolist() == [expected]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("dims", [None, [1], [-1, 0], []], ids=str)
def test_reductions(name, keep, dims):
    x = torch.rand(2, 3, 5)
    reduce = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}.get(name)
    over = tuple(range(3)) if not dims else tuple(d % 3 for d in dims)
    if name == "prod":
        expected = x
        for d in over:
            expected = expected.prod(dim=d, keepdim=True)
        expected = expected if keep else expected.squeeze(over)
    else:
        expected = reduce(x, dim=over, keepdim=keep)
    torch.testing.assert_close(TABLE[name](x, keep_dim=keep, dim_arg=dims), expected)


def test_reduction_of_a_scalar_and_of_nothing():
    assert TABLE["sum"](torch.tensor(3.0), keep_dim=False).item() == 3.0
    assert TABLE["sum"](torch.zeros(0, 2), keep_dim=False, dim_arg=[0]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("padding", [1, [1, 2], [0, 1, 2, 3]], ids=str)
@pytest.mark.parametrize("groups", [1, 2])
def test_conv2d(padding, groups):
    x, w, b = torch.randn(2, 7, 9, 4), torch.randn(6, 4 // groups, 3, 3), torch.randn(1, 1, 1, 6)
    top, left, bottom, right = (padding,) * 4 if isinstance(padding, int) else (
        (padding[0], padding[1]) * 2 if len(padding) == 2 else padding
    )  # fmt: skip
    nchw = F.pad(x.permute(0, 3, 1, 2), (left, right, top, bottom))
    expected = F.conv2d(nchw, w, b.flatten(), stride=2, groups=groups).permute(0, 2, 3, 1)
    result = TABLE["conv2d"](x, w, b, stride=2, padding=padding, dilation=1, groups=groups)
    torch.testing.assert_close(result, expected)


def test_conv2d_takes_other_orders_of_dimensions():
    x, w = torch.randn(2, 4, 7, 9), torch.randn(6, 4, 3, 3)
    dims = {"batch_dim": 0, "channel_dim": 1, "height_dim": 2, "width_dim": 3}
    torch.testing.assert_close(TABLE["conv2d"](x, w, None, stride=1, padding=0, **dims), F.conv2d(x, w))


def test_device_conv2d_is_flat():
    x, w = torch.randn(2, 7, 9, 4), torch.randn(6, 4, 3, 3)
    out = TensorSpec((1, 1, 2 * 5 * 7, 6), torch.float32)
    flat = TABLE["ttnn.conv2d"](
        x.reshape(1, 1, -1, 4), w, None, batch_size=2, in_channels=4, input_height=7, input_width=9, out_channels=6,
        kernel_size=[3, 3], stride=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1, out=out,
    )  # fmt: skip
    torch.testing.assert_close(flat.reshape(2, 5, 7, 6), TABLE["conv2d"](x, w, None))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("padding", [0, [1, 2]], ids=str)
def test_conv_transpose2d(groups, padding):
    x, w = torch.randn(1, 5, 6, 4), torch.randn(4, 3, 3, 3)
    expected = F.conv_transpose2d(x.permute(0, 3, 1, 2), w, None, 2, padding, 1, groups).permute(0, 2, 3, 1)
    result = TABLE["conv_transpose2d"](x, w, None, stride=2, padding=padding, output_padding=1, groups=groups)
    torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("ceil", [True, False])
@pytest.mark.parametrize("count_pad", [True, False])
def test_pooling(ceil, count_pad):
    x = torch.randn(2, 7, 8, 3)
    nchw = x.permute(0, 3, 1, 2)
    maximum = F.max_pool2d(nchw, 3, 2, 1, 1, ceil).permute(0, 2, 3, 1)
    out = TensorSpec(tuple(maximum.shape), torch.float32)
    options = {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1, 1, 1], "dilation": [1, 1], "ceil_mode": ceil}
    torch.testing.assert_close(TABLE["max_pool2d"](x, out=out, **options), maximum)
    average = F.avg_pool2d(nchw, 3, 2, 1, ceil, count_pad).permute(0, 2, 3, 1)
    result = TABLE["avg_pool2d"](x, out=out, count_include_pad=count_pad, **options)
    torch.testing.assert_close(result, average)
    _, where = TABLE["max_pool2d_with_indices"](x, out=[out, out], **options)
    _, expected = F.max_pool2d(nchw, 3, 2, 1, 1, ceil, return_indices=True)
    assert torch.equal(where, expected.permute(0, 2, 3, 1))


@pytest.mark.parametrize("ceil", [True, False])
@pytest.mark.parametrize("count_pad", [True, False])
def test_pooling_of_volumes(ceil, count_pad):
    x = torch.randn(2, 6, 7, 8, 3)
    volume = x.movedim(-1, 1)
    sizes = ([3, 2, 4], [2, 1, 3], [1, 0, 2])
    maximum, expected = F.max_pool3d(volume, *sizes, 1, ceil, return_indices=True)
    out = TensorSpec(tuple(maximum.movedim(1, -1).shape), torch.float32)
    options = dict(zip(("kernel", "stride", "padding"), sizes, strict=True))
    options |= {"dilation": [1, 1, 1], "ceil_mode": ceil}
    torch.testing.assert_close(TABLE["max_pool3d"](x, out=out, **options), maximum.movedim(1, -1))
    _, where = TABLE["max_pool3d_with_indices"](x, out=[out, out], **options)
    assert torch.equal(where, expected.movedim(1, -1))
    average = F.avg_pool3d(volume, *sizes, ceil, count_pad).movedim(1, -1)
    result = TABLE["avg_pool3d"](x, out=out, count_include_pad=count_pad, **options)
    torch.testing.assert_close(result, average)


def test_batch_norm_training():
    x, scale, offset = torch.randn(4, 3, 5), torch.rand(3), torch.rand(3)
    mean, variance = torch.zeros(3), torch.ones(3)
    result, new_mean, new_variance = TABLE["batch_norm_training"](
        x, scale, offset, mean, variance, epsilon=1e-5, dimension=1, momentum=1.0
    )
    torch.testing.assert_close(result, F.batch_norm(x, None, None, scale, offset, training=True))
    torch.testing.assert_close(new_mean, x.mean(dim=(0, 2)))
    torch.testing.assert_close(new_variance, x.var(dim=(0, 2), unbiased=False))


def test_norms():
    x, w, b = torch.randn(2, 4, 6), torch.rand(6), torch.rand(6)
    torch.testing.assert_close(TABLE["layer_norm"](x, w, b, normalized_shape=[6]), F.layer_norm(x, (6,), w, b))
    torch.testing.assert_close(TABLE["rms_norm"](x, w, None, normalized_shape=[6]), F.rms_norm(x, (6,), w, 1e-5))
    y = torch.randn(2, 1, 5, 6)
    expected = F.group_norm(y.permute(0, 3, 1, 2), 3, eps=1e-12).permute(0, 2, 3, 1)
    torch.testing.assert_close(TABLE["group_norm"](y, num_groups=3), expected)


def test_dot_general_is_einsum():
    a, b = torch.randn(2, 3, 4, 5), torch.randn(5, 2, 6, 3)
    result = TABLE["dot_general"](
        a, b, batch_dims_lhs=[0, 1], contract_dims_lhs=[3], batch_dims_rhs=[1, 3], contract_dims_rhs=[0]
    )
    torch.testing.assert_close(result, torch.einsum("abcd,daeb->abce", a, b))


def test_data_movement():
    x = torch.arange(24).reshape(2, 3, 4)
    assert torch.equal(
        TABLE["slice_static"](x, begins=[0, 0, 3], ends=[2, 3, 0], step=[1, 2, -1]), x[:, ::2].flip(2)[..., :3]
    )
    assert torch.equal(TABLE["pad"](x, padding=[0, 1, 1, 0, 0, 0], value=7)[2], torch.full((4, 4), 7))
    assert TABLE["rearrange"](x, pattern="a b c -> (a c) b").shape == (8, 3)
    assert torch.equal(TABLE["rearrange"](x, pattern="... c -> c (...)"), x.movedim(2, 0).reshape(4, 6))
    assert torch.equal(TABLE["rearrange"](x[:, :1], pattern="a 1 c -> () c 1 a"), x[:, 0].t().reshape(1, 4, 1, 2))
    out = TensorSpec((2, 3, 4), torch.int64)
    result = TABLE["broadcast_in_dim"](torch.arange(4), broadcast_dimensions=[2], out=out)
    assert torch.equal(result, torch.arange(4).expand(2, 3, 4))
    rows = TABLE["embedding"](torch.tensor([[1.0, 0.0]]), torch.eye(3), out=TensorSpec((1, 2, 3), torch.float32))
    assert rows.tolist() == [[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]]


MESH = (2, 4)


def test_collectives_follow_the_mesh():
    whole = torch.arange(32.0).reshape(4, 8)
    shards = TABLE["mesh_shard"](
        GoldenMapTensor({0: whole}, MESH), shard_type="devices", shard_direction="full_to_shard", shard_shape=[2, 4],
        shard_dims=[0, 1],
    )  # fmt: skip
    assert torch.equal(shards.shard_at(5), whole[2:, 2:4])
    gathered = TABLE["all_gather"](shards, all_gather_dim=1, cluster_axis=1)
    assert torch.equal(gathered.shard_at(6), whole[2:])
    summed = TABLE["all_reduce"](shards, reduce_type="sum", cluster_axis=0)
    assert torch.equal(summed.shard_at(1), whole[:2, 2:4] + whole[2:, 2:4])
    scattered = TABLE["reduce_scatter"](shards, reduce_type="sum", scatter_dim=0, cluster_axis=0)
    assert torch.equal(scattered.shard_at(4), summed.shard_at(0)[1:])
    moved = TABLE["collective_permute"](shards, source_target_pairs=[[0, 1]])
    assert torch.equal(moved.shard_at(1), shards.shard_at(0)) and not moved.shard_at(0).any()
    back = TABLE["mesh_shard"](
        shards, shard_type="devices", shard_direction="shard_to_full", shard_shape=[2, 4], shard_dims=[0, 1]
    )
    assert torch.equal(back.shard_at(0), whole)


def test_a_split_that_does_not_go_names_the_sizes():
    with pytest.raises(ValueError, match=r"dimension 0 of \(3, 8\) does not split over 2 devices"):
        TABLE["mesh_shard"](
            GoldenMapTensor({0: torch.zeros(3, 8)}, MESH), shard_type="devices", shard_direction="full_to_shard",
            shard_shape=[2, 1], shard_dims=[0, -1],
        )  # fmt: skip


def test_torch_functions_apply_to_shards():
    a = GoldenMapTensor({0: torch.ones(2), 1: torch.zeros(2)}, (1, 2))
    b = GoldenMapTensor({0: torch.full((2,), 3.0)}, (1, 2))
    total = torch.add(a, b)
    assert isinstance(total, GoldenMapTensor) and total.shard_at(1).tolist() == [3.0, 3.0]
    assert a.reshape(1, 2).shape == (1, 2)
    with pytest.raises(ValueError, match="ends at 1"):
        GoldenMapTensor({2: torch.ones(1)}, (1, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.uint8, torch.bool], ids=str)
def test_random_tensors_are_reproducible_and_in_range(dtype):
    first, second = (random_tensor((64, 3), dtype, (-1.0, 5.0), generator(3, "f", 0)) for _ in range(2))
    assert first.dtype == dtype and torch.equal(first, second)
    assert first.float().min() >= -1 and first.float().max() <= 5
    assert not torch.equal(random_tensor((64, 3), torch.float32, None, generator(3, "f", 1)), first.float())


def test_renames_lead_to_rows():
    assert all(target in TABLE for target in RENAMES.values())
    assert sum(map(len, FAMILIES.values())) == len(TABLE)


def test_lookup_by_name_class_and_partial():
    class AddOp:
        OPERATION_NAME = "stablehlo.add"

    assert get_golden_function(AddOp) is find_op("ttir.add")
    assert find_op("ttir.nothing") is None
    topk = get_golden_function("ttir.topk", k=2)
    assert topk(torch.tensor([1.0, 3.0, 2.0]))[1].tolist() == [1, 2]


def test_unary_rows_name_what_torch_calls_them():
    overloads = {name: op.aten for name, op in UNARY.items() if op.aten}
    missing = [n for n, aten in overloads.items() if not hasattr(torch.ops.aten, aten.partition(".")[0])]
    assert not missing
