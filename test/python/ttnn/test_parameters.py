# SPDX-License-Identifier: Apache-2.0
"""Parameters of the library that functions made of rows take: what they compute, what they refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import ttnn
from torch.nn import functional
from ttnn.library.parameters import DEFAULTS, PARAMETERS, TAKEN
from ttnn.library.prepared import PREPARED

CORES = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 3))])
A = torch.linspace(-3, 3, 40 * 70).reshape(40, 70)
B = torch.linspace(5, 1, 40 * 70).reshape(40, 70)


@pytest.fixture(scope="module")
def device() -> Iterator[Any]:
    with ttnn.manage_device(0) as opened:
        yield opened


def put(device: Any, values: torch.Tensor, dtype: Any = ttnn.float32) -> Any:
    return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def images(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(1, 8, 8, 4).permute(0, 3, 1, 2)


def flat(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 2, 3, 1).reshape(1, 1, -1, 4)


def place(device: Any, *numbers: int) -> Any:
    return ttnn.from_torch(torch.tensor(numbers), ttnn.uint32, device=device)


def prepared(device: Any, kernel: torch.Tensor, **how: Any) -> Any:
    """Returns the weights of conv_transpose2d as it reads them."""
    return ttnn.prepare_conv_transpose2d_weights(
        weight_tensor=ttnn.from_torch(kernel),
        input_memory_config=ttnn.DRAM_MEMORY_CONFIG,
        input_layout=ttnn.TILE_LAYOUT,
        input_dtype=ttnn.float32,
        device=device,
        weights_format="IOHW",
        has_bias=False,
        groups=1,
        stride=(1, 1),
        padding=(0, 0),
        dilation=(1, 1),
        output_padding=(0, 0),
        **IMAGE,
        **how,
    )


KERNEL = torch.linspace(-1, 2, 48).reshape(4, 2, 3, 2)
IMAGES = torch.linspace(-2, 3, 256).reshape(1, 1, 64, 4)
POOL = (1, 8, 8, 4, [2, 2], [2, 2], [0, 0])
IMAGE: dict[str, Any] = {
    "in_channels": 4,
    "out_channels": 2,
    "batch_size": 1,
    "input_height": 8,
    "input_width": 8,
    "kernel_size": (3, 2),
}
RELU, EXP = ttnn.UnaryOpType.RELU, ttnn.UnaryWithParam(op_type=ttnn.UnaryOpType.EXP, params=[])
GE = ttnn.UnaryWithParam(op_type=ttnn.UnaryOpType.UNARY_GE, params=[0.0])
LEAKY = ttnn.UnaryWithParam(op_type=ttnn.UnaryOpType.LEAKY_RELU, params=[0.3])

# What a call with a parameter computes, and the same in PyTorch.
COMPUTED: dict[str, tuple[Callable[[Any, Any], Any], Callable[[], torch.Tensor]]] = {
    "activations": (lambda a, b: ttnn.subtract(a, b, activations=["relu"]), lambda: (A - B).relu()),
    "activations in order": (lambda a, b: ttnn.add(a, b, activations=[RELU, EXP]), lambda: (A + B).relu().exp()),
    "activations with a parameter": (
        lambda a, b: ttnn.subtract(a, b, activations=[LEAKY]),
        lambda: functional.leaky_relu(A - B, 0.3),
    ),
    "activations that only the library has": (
        lambda a, b: ttnn.add(a, b, activations=[ttnn.UnaryOpType.CBRT, ttnn.UnaryOpType.GELU_TANH]),
        lambda: functional.gelu((A + B).sign() * (A + B).abs() ** (1 / 3), approximate="tanh"),
    ),
    "activations by the library's names": (
        lambda a, b: ttnn.add(a, b, activations=[ttnn.UnaryOpType.SOFTPLUS, GE]),
        lambda: torch.ones(40, 70),
    ),
    "activations of operands": (
        lambda a, b: ttnn.multiply(a, b, input_tensor_a_activations=[RELU], input_tensor_b_activations=["exp"]),
        lambda: A.relu() * B.exp(),
    ),
    "activations of a power": (
        lambda a, b: ttnn.pow(b, b, input_tensor_a_activations=["sqrt"], activations=["log"]),
        lambda: (B.sqrt() ** B).log(),
    ),
    "activations in place": (lambda a, b: ttnn.add_(ttnn.clone(a), b, activations=["relu"]), lambda: (A + B).relu()),
    "activations of comparisons": (
        lambda a, b: ttnn.gt(a, b, input_tensor_b_activations=["neg"]),
        lambda: (A > -B).float(),
    ),
    "rounding_mode floor": (
        lambda a, b: ttnn.divide(a, b, rounding_mode="floor"),
        lambda: torch.div(A, B, rounding_mode="floor"),
    ),
    "rounding_mode trunc": (
        lambda a, b: ttnn.div(a, b, rounding_mode="trunc"),
        lambda: torch.div(A, B, rounding_mode="trunc"),
    ),
    "value": (lambda a, b: ttnn.div(a, value=4.0), lambda: A / 4),
    "input_b": (lambda a, b: ttnn.maximum(a, input_b=0.5), lambda: torch.maximum(A, torch.tensor(0.5))),
    "scalar of sum": (lambda a, b: ttnn.sum(a, 1, scalar=2.0), lambda: 2 * A.sum(1)),
    "scalar of max": (lambda a, b: ttnn.max(a, 1, scalar=0.5), lambda: 0.5 * A.amax(1)),
    "output_layout": (lambda a, b: ttnn.sum(a, 1, output_layout=ttnn.ROW_MAJOR_LAYOUT), lambda: A.sum(1)),
    "variant": (
        lambda a, b: ttnn.gelu(a, variant=ttnn.GeluVariant.Tanh),
        lambda: functional.gelu(A, approximate="tanh"),
    ),
    "groups": (
        lambda a, b: ttnn.concat([a, b], 1, groups=2),
        lambda: torch.cat([A[:, :35], B[:, :35], A[:, 35:], B[:, 35:]], 1),
    ),
    "residual_input_tensor of layer_norm": (
        lambda a, b: ttnn.layer_norm(a, epsilon=1e-5, residual_input_tensor=b),
        lambda: functional.layer_norm(A + B, (70,)),
    ),
    "residual_input_tensor of rms_norm": (
        lambda a, b: ttnn.rms_norm(a, epsilon=1e-5, residual_input_tensor=b),
        lambda: functional.rms_norm(A + B, (70,), eps=1e-5),
    ),
    "slice_start": (
        lambda a, b: ttnn.slice(a, slice_start=[3, 5], slice_end=[30, 60], slice_step=[1, 2]),
        lambda: A[3:30, 5:60:2],
    ),
    "logical_shape": (lambda a, b: ttnn.reshape(a, logical_shape=[70, 40]), lambda: A.reshape(70, 40)),
    "padded_shape of fewer rows": (
        lambda a, b: ttnn.reshape(a, (33, 65), (64, 96)),
        lambda: A[:33, :65],
    ),
    "padded_shape of more rows": (
        lambda a, b: ttnn.reshape(a, (64, 70), ttnn.Shape([64, 96])),
        lambda: functional.pad(A, (0, 0, 0, 24)),
    ),
    "reverse_order of cumsum": (
        lambda a, b: ttnn.cumsum(a, -1, reverse_order=True),
        lambda: A.flip(1).cumsum(1).flip(1),
    ),
    "reverse_order along a number of NumPy": (
        lambda a, b: ttnn.cumsum(a, np.int64(0), reverse_order=True),
        lambda: A.flip(0).cumsum(0).flip(0),
    ),
    "reverse_order of cumprod": (
        lambda a, b: ttnn.cumprod(b, 0, reverse_order=True, out=put(a.device(), torch.zeros(40, 70))),
        lambda: B.flip(0).cumprod(0).flip(0),
    ),
    "slice_dim": (
        lambda a, b: ttnn.slice(a, place(a.device(), 20, 0), place(a.device(), 40, 70), slice_dim=0, num_devices=2),
        lambda: A[20:],
    ),
    "mirror_kernel": (
        lambda a, b: ttnn.conv_transpose2d(
            input_tensor=put(a.device(), IMAGES),
            weight_tensor=ttnn.from_torch(KERNEL.flip(2, 3)),
            device=a.device(),
            in_channels=4,
            out_channels=2,
            batch_size=1,
            input_height=8,
            input_width=8,
            kernel_size=(3, 2),
            mirror_kernel=False,
        ),
        lambda: functional.conv_transpose2d(images(IMAGES), KERNEL).permute(0, 2, 3, 1).reshape(1, 1, -1, 2),
    ),
    "mirror_kernel, with weights to return": (
        lambda a, b: ttnn.conv_transpose2d(
            input_tensor=put(a.device(), IMAGES),
            weight_tensor=ttnn.from_torch(KERNEL.flip(2, 3)),
            device=a.device(),
            in_channels=4,
            out_channels=2,
            batch_size=1,
            input_height=8,
            input_width=8,
            kernel_size=(3, 2),
            mirror_kernel=False,
            return_weights_and_bias=True,
        )[0],
        lambda: functional.conv_transpose2d(images(IMAGES), KERNEL).permute(0, 2, 3, 1).reshape(1, 1, -1, 2),
    ),
    "mirror_kernel, with weights prepared before": (
        lambda a, b: ttnn.conv_transpose2d(
            input_tensor=put(a.device(), IMAGES),
            weight_tensor=prepared(a.device(), KERNEL.flip(2, 3), mirror_kernel=False),
            device=a.device(),
            **IMAGE,
            mirror_kernel=False,
        ),
        lambda: functional.conv_transpose2d(images(IMAGES), KERNEL).permute(0, 2, 3, 1).reshape(1, 1, -1, 2),
    ),
    "output_dtype": (
        lambda a, b: ttnn.typecast(a, input_dtype=ttnn.float32, output_dtype=ttnn.bfloat16),
        lambda: A.bfloat16(),
    ),
    "divisor_override": (
        lambda a, b: ttnn.avg_pool2d(put(a.device(), IMAGES), *POOL, divisor_override=3, dtype=ttnn.float32),
        lambda: flat(functional.avg_pool2d(images(IMAGES), 2, divisor_override=3)),
    ),
    "return_indices": (
        lambda a, b: ttnn.max_pool2d(put(a.device(), IMAGES), *POOL, [1, 1], return_indices=True, dtype=ttnn.float32)[
            0
        ],
        lambda: flat(functional.max_pool2d(images(IMAGES), 2)),
    ),
    "pad with pairs": (
        lambda a, b: ttnn.pad(a, [(0, 1), (2, 3)], 0.5),
        lambda: functional.pad(A, (2, 3, 0, 1), value=0.5),
    ),
    "pad to a shape": (
        lambda a, b: ttnn.pad(a, [45, 80], [2, 3], 0.5),
        lambda: functional.pad(A, (3, 7, 2, 3), value=0.5),
    ),
    "output_padded_shape": (
        lambda a, b: ttnn.pad(a, output_padded_shape=[45, 80], input_tensor_start=[2, 3], value=0.5),
        lambda: functional.pad(A, (3, 7, 2, 3), value=0.5),
    ),
    "activations of a composite": (
        lambda a, b: ttnn.logaddexp(a, b, input_tensor_a_activations=["relu"], activations=["neg"]),
        lambda: -torch.logaddexp(A.relu(), B),
    ),
    "rounding_mode of rdiv": (lambda a, b: ttnn.rdiv(b, 7.0, rounding_mode="trunc"), lambda: (7 / B).trunc()),
    "scalar of fmod": (lambda a, b: ttnn.fmod(a, scalar=2.0), lambda: A.fmod(2.0)),
    "value of floor_div": (lambda a, b: ttnn.floor_div(a, value=2.0), lambda: A.div(2.0, rounding_mode="floor")),
    "scalar of mul_bw": (lambda a, b: ttnn.mul_bw(a, input_tensor_a=b, scalar=2.0)[0], lambda: 2 * A),
    "input_b of rsub": (lambda a, b: ttnn.rsub(a, input_b=2.0, activations=["relu"]), lambda: (2 - A).relu()),
    "dim of squeeze": (lambda a, b: ttnn.squeeze(ttnn.reshape(a, [1, 40, 1, 70])), lambda: A),
    "dims of squeeze": (lambda a, b: ttnn.squeeze(ttnn.reshape(a, [1, 40, 1, 70]), [0, 2]), lambda: A),
    "output_shape": (
        lambda a, b: ttnn.expand(ttnn.sum(a, 0, True), output_shape=[3, -1], memory_config=ttnn.L1_MEMORY_CONFIG),
        lambda: A.sum(0, True).expand(3, -1),
    ),
    "full_like by place": (
        lambda a, b: ttnn.full_like(a, 2.0, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, a.device(), ttnn.L1_MEMORY_CONFIG),
        lambda: torch.full_like(A, 2.0).bfloat16(),
    ),
    "zeros_like by place": (lambda a, b: ttnn.zeros_like(a, ttnn.bfloat16), lambda: torch.zeros_like(A).bfloat16()),
    "memory_config of split": (
        lambda a, b: ttnn.split(a, 35, 1, memory_config=ttnn.L1_MEMORY_CONFIG)[1],
        lambda: A[:, 35:],
    ),
    "true_value": (lambda a, b: ttnn.where(a, true_value=b, false_value=0.0), lambda: torch.where(A != 0, B, 0)),
    "repeat_dims": (lambda a, b: ttnn.repeat(a, repeat_dims=[2, 1]), lambda: A.repeat(2, 1)),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_computes_as_pytorch(name: str, device: Any) -> None:
    call, expected = COMPUTED[name]
    found = ttnn.to_torch(call(put(device, A), put(device, B)))
    torch.testing.assert_close(found, expected(), rtol=2e-5, atol=2e-5)


# Of the hardware: calls that compute the same with them as without.
SAME: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "sub_core_grids": lambda a, more: ttnn.exp(a, **more),
    "sub_device_id": lambda a, more: ttnn.add(a, a, **more),
    "fast_and_approximate_mode": lambda a, more: ttnn.sqrt(ttnn.abs(a), **more),
    "compute_kernel_config": lambda a, more: ttnn.layer_norm(a, **more),
    "core_grid": lambda a, more: ttnn.matmul(a, a, transpose_b=True, **more),
    "output_tile": lambda a, more: ttnn.matmul(a, a, transpose_b=True, **more),
    "mode": lambda a, more: ttnn.sigmoid(a, **more),
    "reshape_tile_mode": lambda a, more: ttnn.reshape(a, [70, 40], **more),
    "pad_value": lambda a, more: ttnn.to_layout(a, ttnn.ROW_MAJOR_LAYOUT, **more),
}
VALUES = {
    "sub_core_grids": CORES,
    "sub_device_id": ttnn.SubDeviceId(0),
    "fast_and_approximate_mode": True,
    "compute_kernel_config": ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4),
    "core_grid": ttnn.CoreGrid(y=8, x=8),
    "output_tile": ttnn.Tile([32, 32]),
    "mode": ttnn.SigmoidMode.FastApproximate,
    "reshape_tile_mode": ttnn.TileReshapeMapMode.RECREATE,
    "pad_value": 3.0,
}


@pytest.mark.parametrize("name", SAME)
def test_has_no_effect(name: str, device: Any) -> None:
    x = put(device, A)
    assert torch.equal(ttnn.to_torch(SAME[name](x, {name: VALUES[name]})), ttnn.to_torch(SAME[name](x, {})))


WRONG: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (
        lambda a: ttnn.exp(a, sub_core_grids=3),
        TypeError,
        "ttnn.exp: sub_core_grids is 3 of type int; expected CoreR",
    ),
    (lambda a: ttnn.exp(a, fast_and_approximate_mode=1), TypeError, "fast_and_approximate_mode is 1 of type int"),
    (
        lambda a: ttnn.add(a, a, activations="relu"),
        TypeError,
        "ttnn.add: activations is 'relu' of type str; exp",
    ),
    (lambda a: ttnn.add(a, a, activations=["rellu"]), TypeError, "activation 'rellu'; expected a UnaryWithParam"),
    (lambda a: ttnn.add(2.0, a, input_tensor_a_activations=["exp"]), TypeError, "input_tensor_a is 2.0; an activation"),
    (lambda a: ttnn.div(a, a, rounding_mode="up"), ValueError, "rounding_mode is 'up'; expected None, 'floor' or"),
    (lambda a: ttnn.div(a, a, value=2.0), TypeError, "value and input_tensor_b are given; expected one of them"),
    (lambda a: ttnn.sum(a, scalar="two"), TypeError, "ttnn.sum: scalar is 'two' of type str; expected a number"),
    (
        lambda a: ttnn.reshape(a, (8, 70), (32, 96)),
        ttnn.OpError,
        r"shape is \[8, 70\] with 560 elements, but the input",
    ),
    (
        lambda a: ttnn.matmul(a, a, global_cb=1),
        ValueError,
        "global_cb is 1; expected None: the simulator has no glo",
    ),
    (lambda a: ttnn.pad(a, [(0, 1)], 0.0), ValueError, r"padding is \[\(0, 1\)\]; expected 2 pairs \(before, after\)"),
    (lambda a: ttnn.pad(a, [1, 1], [0, 0], 0.0), ValueError, r"\[1, 1\], without room for \[40, 70\] from \[0, 0\] on"),
    (lambda a: ttnn.fmod(a, scalar=2.0, input_tensor_b=a), TypeError, "fmod: scalar and input_tensor_b are given"),
    (
        lambda a: ttnn.conv2d(
            input_tensor=ttnn.ones([1, 1, 64, 4]),
            weight_tensor=ttnn.ones([8, 4, 3, 3]),
            in_channels=4,
            out_channels=8,
            batch_size=1,
            input_height=8,
            input_width=8,
            kernel_size=(3, 3),
            device=a.device(),
            conv_config=ttnn.Conv2dConfig(activation=ttnn.UnaryOpType.CBRT),
        ),
        ValueError,
        "UnaryOpType.CBRT: configs of ops do not have it; give it as one of `activations`",
    ),
    (lambda a: ttnn.pad(a), TypeError, "ttnn.pad: padding is None; expected pairs, or output_padded_shape"),
    (lambda a: ttnn.pad(a, [0, 1, 0, 1], 0.0, 1.0), TypeError, "ttnn.pad: fill is 1.0; it stands behind the start"),
    (lambda a: ttnn.concat([a, a], 1, groups=3), ValueError, "groups is 3; expected a divisor of 70, 70, the sizes of"),
    (
        lambda a: ttnn.avg_pool2d(a, *POOL, ceil_mode=True, divisor_override=3),
        ValueError,
        "divisor_override is 3; expected a positive number, with ceil_mode=False and count_include_pad=True",
    ),
    (
        lambda a: ttnn.conv_transpose2d(
            input_tensor=a, weight_tensor=a, device=a.device(), **IMAGE | {"kernel_size": 3}, mirror_kernel=False
        ),
        ttnn.OpError,
        "kernel_size",
    ),
    (
        lambda a: prepared(a.device(), KERNEL.reshape(1, 1, 24, 2), mirror_kernel=False),
        ttnn.OpError,
        r"shape \[1, 1, 24, 2\], whose last dimensions are not the kernel_size of \[3, 2\], which mirror_kernel",
    ),
    (lambda a: ttnn.sharded_to_interleaved(ttnn.from_torch(A)), ValueError, "lies on the host; expected a tensor on a"),
    (lambda a: ttnn.typecast(a, ttnn.int32) >> 1.5, TypeError, "unsupported operand"),
    (lambda a: ttnn.typecast(a, ttnn.int32) >> "a", TypeError, "unsupported operand"),
    (lambda a: ttnn.Tile([16, 32]), ValueError, r"ttnn.Tile: tile_shape is \[16, 32\]; the simulated chip has tiles"),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case[2][:40])
def test_refuses(case: tuple[Callable[[Any], Any], type[Exception], str], device: Any) -> None:
    call, kind, text = case
    with pytest.raises(kind, match=text):
        call(put(device, A))


@pytest.mark.parametrize("is_on_device", [False, True])
def test_mirrored_weights_that_are_returned_are_taken_again(is_on_device: bool, device: Any) -> None:
    weights = ttnn.from_torch(KERNEL.flip(2, 3), device=device if is_on_device else None)
    expected = functional.conv_transpose2d(images(IMAGES), KERNEL).permute(0, 2, 3, 1).reshape(1, 1, -1, 2)
    for _ in range(3):
        found, (weights, _) = ttnn.conv_transpose2d(
            input_tensor=put(device, IMAGES),
            weight_tensor=weights,
            device=device,
            **IMAGE,
            mirror_kernel=False,
            return_weights_and_bias=True,
        )
        torch.testing.assert_close(ttnn.to_torch(found), expected, rtol=2e-5, atol=2e-5)


def test_results_of_reversed_scans_are_in_shards(device: Any) -> None:
    shards = ttnn.create_sharded_memory_config(
        (32, 96), CORES, ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
    )
    for scan in (ttnn.cumsum, ttnn.cumprod):
        found = scan(put(device, A), 1, reverse_order=True, memory_config=shards)
        assert found.memory_config() == scan(put(device, A), 1, memory_config=shards).memory_config()
        assert found.is_sharded()


def test_scans_in_reverse_beyond_the_integers_of_floats(device: Any) -> None:
    size = 2**24 + 3
    values = torch.zeros(size, dtype=torch.int32)
    values[-3:] = torch.tensor([100, 10, 1])
    x = ttnn.from_torch(values, device=device)
    assert ttnn.to_torch(ttnn.cumsum(x, 0, reverse_order=True))[-4:].tolist() == [111, 111, 11, 1]


def test_a_mesh_with_one_axis_needs_no_cluster_axis() -> None:
    with ttnn.create_mesh_device((1, 2)) as mesh:
        x = ttnn.from_torch(A, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 1))
        whole = ttnn.all_gather(x, 1)
        assert torch.equal(ttnn.to_torch(ttnn.get_device_tensors(whole)[1]), A)
    with ttnn.create_mesh_device((2, 2)) as mesh:
        x = ttnn.from_torch(A, layout=ttnn.TILE_LAYOUT, device=mesh)
        with pytest.raises(ValueError, match="cluster_axis is None; expected 0 or 1 on a mesh of 2x2 devices"):
            ttnn.all_gather(x, 1)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(
    ("transposed", "padding"), [(False, (1, 1)), (False, (1, 0)), (False, (1, 0, 2, 1)), (True, (1, 1)), (True, (1, 0))]
)
def test_convolutions_return_sizes_and_weights(transposed: bool, padding: Any, stride: int, device: Any) -> None:
    name = "conv_transpose2d" if transposed else "conv2d"
    shape = (4, 8, 3, 3) if transposed else (8, 4, 3, 3)
    weight = ttnn.from_torch(torch.rand(shape), dtype=ttnn.bfloat16)
    x = put(device, torch.rand(1, 1, 2 * 9 * 7, 4))
    result, (height, width), (kept, bias) = getattr(ttnn, name)(
        input_tensor=x, weight_tensor=weight, device=device, in_channels=4, out_channels=8, batch_size=2,
        input_height=9, input_width=7, kernel_size=(3, 3), stride=(stride, stride), padding=padding,
        return_output_dim=True, return_weights_and_bias=True,
    )  # fmt: skip
    assert tuple(result.shape) == (1, 1, 2 * height * width, 8)
    assert bias is None and kept.is_on_device() and kept.dtype == weight.dtype
    alone = ttnn.conv1d(
        input_tensor=put(device, torch.rand(1, 1, 2 * 9, 4)),
        weight_tensor=ttnn.from_torch(torch.rand(8, 4, 3), dtype=ttnn.bfloat16), device=device, in_channels=4,
        out_channels=8, batch_size=2, input_length=9, kernel_size=3, stride=stride, padding=1, return_output_dim=True,
    )  # fmt: skip
    assert tuple(alone[0].shape) == (1, 1, 2 * alone[1], 8)


def test_tensors_from_a_spec(device: Any) -> None:
    spec = ttnn.TensorSpec([40, 70], ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.BufferType.L1)
    x = ttnn.from_torch(A, spec=spec, device=device, tile=ttnn.Tile(), pad_value=1.0)
    assert x.spec == spec
    with pytest.raises(ValueError, match=r"from_torch: spec has shape \[40, 70\]; expected \[3\], the tensor's"):
        ttnn.from_torch(torch.zeros(3), spec=spec)
    with pytest.raises(ValueError, match="from_torch: dtype and spec are given; expected one of them"):
        ttnn.from_torch(A, ttnn.bfloat16, spec=spec)
    with pytest.raises(TypeError, match="from_torch: pad_value is 'x' of type str; expected a number"):
        ttnn.from_torch(A, pad_value="x")
    with pytest.raises(ValueError, match="from_torch: col_tilize is True; expected False"):
        ttnn.from_torch(A, col_tilize=True)


def test_positions_in_a_list(device: Any) -> None:
    cache, row = torch.zeros(2, 1, 64, 32), torch.rand(1, 2, 1, 32).bfloat16()
    x = put(device, row, ttnn.bfloat16)
    listed, tensor = put(device, cache, ttnn.bfloat16), put(device, cache, ttnn.bfloat16)
    positions = ttnn.from_torch(torch.tensor([3, 7], dtype=torch.int32), device=device)
    ttnn.experimental.paged_update_cache(listed, x, update_idxs=[3, 7])
    ttnn.experimental.paged_update_cache(tensor, x, update_idxs_tensor=positions)
    assert torch.equal(ttnn.to_torch(listed), ttnn.to_torch(tensor))
    assert torch.equal(ttnn.to_torch(listed)[1, 0, 7], row[0, 1, 0])
    keys = torch.rand(2, 1, 64, 32).bfloat16()
    q = put(device, torch.rand(1, 2, 4, 32), ttnn.bfloat16)
    k = put(device, keys, ttnn.bfloat16)
    decode = ttnn.transformer.scaled_dot_product_attention_decode
    assert torch.equal(
        ttnn.to_torch(decode(q, k, k, cur_pos=[3, 7])), ttnn.to_torch(decode(q, k, k, cur_pos_tensor=positions))
    )
    with pytest.raises(TypeError, match="cur_pos and cur_pos_tensor are given; expected one of them"):
        decode(q, k, k, cur_pos=[3, 7], cur_pos_tensor=positions)
    with pytest.raises(TypeError, match=r"update_idxs is \['a'\]; expected integers"):
        ttnn.experimental.paged_update_cache(listed, x, update_idxs=["a"])
    with pytest.raises(ValueError, match="block_size is 32; expected None: blocks are as long as"):
        ttnn.experimental.paged_update_cache(listed, x, update_idxs=[3, 7], block_size=32)


def test_inputs_can_be_freed(device: Any) -> None:
    x = put(device, IMAGES)
    ttnn.max_pool2d(x, *POOL, [1, 1], deallocate_input=True)
    assert not x.is_allocated()


def test_the_table_names_functions_and_parameters_that_exist() -> None:
    from ttnn.functions import FUNCTIONS

    for names, functions in TAKEN.items():
        assert set(names.split()) <= PARAMETERS.keys()
        assert set(functions.split()) <= FUNCTIONS.keys()
    assert DEFAULTS.keys() <= FUNCTIONS.keys()
    assert set(PREPARED) <= FUNCTIONS.keys()
    assert {name for names in TAKEN for name in names.split()} == {name.rpartition(".")[2] for name in PARAMETERS}
