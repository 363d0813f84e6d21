# SPDX-License-Identifier: Apache-2.0
"""Functions of the package ttnn: signatures, defaults, numbers in place of tensors, what can go wrong."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest
import torch
import ttnn
from _ttmlir_runtime import ttnn as native
from replay import called
from ttnn.library.parameters import OWN_BY_PLACE, extras_of
from ttnn.library.prepared import PREPARED

FUNCTIONS = {function.name: function for function in native.functions()}


def tensor(values: Any, device: ttnn.Device | None = None, dtype: Any = ttnn.bfloat16) -> ttnn.Tensor:
    values = values if isinstance(values, torch.Tensor) else torch.tensor(values)
    return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signature_and_documentation(name: str) -> None:
    function = FUNCTIONS[name]
    result = called(function)
    parameters = inspect.signature(result).parameters
    own = [each.name for each in function.parameters]
    extras = extras_of(name, tuple(own))
    assert len(parameters) == len({*own, *extras}) + bool(function.into)
    assert all(f"    {extra} (" in (result.__doc__ or "") for extra in extras)
    for declared in function.parameters:
        found = parameters[declared.name]
        by_place = declared.name in OWN_BY_PLACE.get(name, ())
        assert (found.kind is found.KEYWORD_ONLY) == (declared.keyword_only and not by_place)
        required = declared.name in PREPARED[name].required if name in PREPARED else False
        assert (found.default is found.empty) == required or not declared.omissible
        assert f"{declared.name} ({declared.type}):" in result.__doc__
    assert result.__doc__.startswith(function.docs[0])
    assert result.__module__ == "ttnn" + (f".{name.rpartition('.')[0]}" if "." in name else "")


def test_signatures_that_people_know() -> None:
    def text(function: Callable[..., Any]) -> str:
        return str(inspect.signature(function)).replace("'", "")

    results = "dtype: DataType | None = None, memory_config: MemoryConfig | None = None, layout: Layout | None = None"
    into = f"{results}, output_tensor: Tensor | None = None"
    fast = "fast_and_approximate_mode: bool | None = True"
    start = f"(input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, {into}, {fast}, "
    assert text(ttnn.add).startswith(start)
    assert text(ttnn.add).endswith("sub_device_id: SubDeviceId | None = None) -> Tensor")
    assert text(ttnn.exp) == (
        f"(input_tensor: Tensor, *, {into}, fast_and_approximate_mode: bool | None = False, "
        "sub_core_grids: CoreRangeSet | None = None) -> Tensor"
    )
    assert text(ttnn.permute).startswith("(input_tensor: Tensor, dims: int | Sequence[int], *, pad_value: float = 0.0")
    assert text(ttnn.full).endswith("optional_tensor: Tensor | None = None) -> Tensor")
    assert f"*, {results}" in text(ttnn.reshape)
    assert text(ttnn.deallocate) == "(tensor: Tensor, force: bool = True) -> None"
    assert "math_op: ReduceType = ReduceType.Sum" in text(ttnn.all_reduce)
    assert "stride: int | Sequence[int] = (1, 1)" in text(ttnn.conv2d)
    assert "exponent: float | Tensor" in text(ttnn.pow)
    assert text(ttnn.sort).endswith("-> tuple[Tensor, Tensor]")
    assert ttnn.mul is ttnn.multiply
    assert ttnn.transformer.concatenate_heads.__name__ == "concatenate_heads"


def test_all_names_are_there() -> None:
    assert len(set(ttnn.__all__)) == len(ttnn.__all__)
    assert all(hasattr(ttnn, name) for name in ttnn.__all__)


def test_bounds_of_arange(device: ttnn.Device) -> None:
    assert ttnn.arange(3).to_list() == ttnn.arange(end=3).to_list() == ttnn.arange(0, 3).to_list() == [0, 1, 2]
    assert ttnn.arange(2, 8, 3, device=device).to_list() == [2, 5]
    with pytest.raises(TypeError, match="arange: end is None"):
        ttnn.arange()


def test_results_are_as_the_first_tensor(device: ttnn.Device) -> None:
    x = ttnn.from_torch(torch.ones(4, 4), layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
    y = ttnn.from_torch(torch.ones(4, 4), dtype=ttnn.bfloat16, device=device)
    for result, dtype, layout, memory in [
        (ttnn.add(x, y), ttnn.float32, ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG),
        (ttnn.add(y, x), ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG),
        (ttnn.add(y, y), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, ttnn.DRAM_MEMORY_CONFIG),
        (ttnn.matmul(x, x), ttnn.float32, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG),
        (ttnn.add(x, y, dtype=ttnn.bfloat16), ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG),
        (ttnn.sin(x, memory_config=ttnn.DRAM_MEMORY_CONFIG), ttnn.float32, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG),
        (ttnn.argmax(x, dim=1), ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, ttnn.L1_MEMORY_CONFIG),
        (ttnn.zeros([2]), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, None),
        (ttnn.ones([2], dtype=ttnn.int32, device=device), ttnn.int32, ttnn.ROW_MAJOR_LAYOUT, ttnn.DRAM_MEMORY_CONFIG),
    ]:  # fmt: skip
        assert (result.dtype, result.layout) == (dtype, layout)
        assert (result.memory_config() == memory) if memory else result.device() is None
    values, indices = ttnn.topk(x, 2, dtype=[ttnn.bfloat16, ttnn.uint16])
    assert (values.dtype, indices.dtype) == (ttnn.bfloat16, ttnn.uint16)
    values, indices = ttnn.topk(x, 2)
    assert (values.dtype, indices.dtype) == (ttnn.float32, ttnn.uint16)


A, B = [[1.0, -2.5], [0.25, 4.0]], [[2.0, 0.5], [-1.0, 4.0]]
OPERATORS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a % b,
    lambda a, b: abs(a) ** b, lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b,
    lambda a, b: a == b, lambda a, b: a != b,
]  # fmt: skip


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16], ids=lambda d: d.name)
def test_operators(operator: Callable[[Any, Any], Any], dtype: ttnn.DataType, device: ttnn.Device) -> None:
    a, b = torch.tensor(A), torch.tensor(B)
    for right, expected in [(tensor(b, device, dtype), operator(a, b)), (0.5, operator(a, 0.5)), (2, operator(a, 2))]:
        found = operator(tensor(a, device, dtype), right)
        assert found.dtype == dtype
        torch.testing.assert_close(ttnn.to_torch(found).float(), expected.float(), rtol=2**-7, atol=0)


def test_more_operators(device: ttnn.Device) -> None:
    a, b = torch.tensor(A), torch.tensor(B)
    x, y = tensor(a, device), tensor(b, device)
    for found, expected in [
        (1 - x, 1 - a), (2.0 / x, 2 / a), (3 * x, 3 * a), (2 + x, 2 + a), (x @ y, a @ b), (-x, -a), (abs(x), abs(a)),
        (ttnn.pow(x, 2), a**2), (ttnn.pow(abs(x), y), abs(a) ** b), (ttnn.where(x > 0, x, 0.0), a.clamp(0)),
        (ttnn.where(x > 0, 1.0, y), torch.where(a > 0, 1.0, b)), (ttnn.clamp(x, 0, 1), a.clamp(0, 1)),
        (ttnn.clamp(x, max=1.0), a.clamp(max=1.0)), (ttnn.clamp(x, y, 4.0), a.clamp(b, torch.full_like(b, 4))),
        (ttnn.slice(x, [0, 0], [2, 1]), a[:, :1]), (ttnn.slice(x, [0, 0], [2, 2], [1, 2]), a[:, ::2]),
        (ttnn.slice(x, [1, -1], [0, 0], [-1, -3]), a[1:, 1:]),
        (ttnn.maximum(x, 0), a.clamp(0)),
    ]:  # fmt: skip
        torch.testing.assert_close(ttnn.to_torch(found).float(), expected, rtol=2**-7, atol=2**-7)
    bits = torch.tensor([[1, 6], [7, 12]], dtype=torch.int32)
    z = ttnn.from_torch(bits, device=device)
    for found, expected in [
        (z & 5, bits & 5), (z | 8, bits | 8), (z ^ z, bits ^ bits), (~z, ~bits), (z << 2, bits << 2),
        (z >> 1, bits >> 1), (z >> numpy.int64(2), bits >> 2),
        ((z - 9) >> z, (bits - 9) >> bits), (z + 1, bits + 1), (z * 3.0, bits * 3),
    ]:  # fmt: skip
        assert torch.equal(ttnn.to_torch(found), expected)
    assert (x == None) is False  # noqa: E711
    assert len({x, y, x}) == 2


def test_numbers_keep_to_the_tensors_type(device: ttnn.Device) -> None:
    """A number is rounded to the tensor's type; one that is no value of an integer type is refused."""
    x = tensor([[1.0]], device)
    assert (x * 0.1).item() == torch.tensor(0.1).bfloat16().item()
    block = tensor(torch.ones(1, 32), device, ttnn.bfloat8_b)
    for found in (block * 2, 2 * block, 2 - block):
        assert (found.dtype, found[0, 0].item()) in [(ttnn.bfloat8_b, 2.0), (ttnn.bfloat8_b, 1.0)]
    whole = ttnn.from_torch(torch.tensor([1], dtype=torch.uint8))
    for wrong in (0.5, 256, -1, math.inf, math.nan, 10**30):
        with pytest.raises(
            ValueError, match=r"ttnn.add: input_tensor_b is .*; expected a number that the data type UINT8"
        ):
            whole + wrong


WRONG: list[tuple[Callable[[ttnn.Tensor], Any], type[Exception], str]] = [
    (lambda x: ttnn.add(x), TypeError, r"add\(\) missing 1 required positional argument: 'input_tensor_b'"),
    (lambda x: ttnn.add(x, x, alpha=1), TypeError, r"add\(\) got an unexpected keyword argument 'alpha'"),
    (lambda x: ttnn.sum(x, 1, False, ttnn.bfloat16), TypeError, "takes from 1 to 3 positional arguments"),
    (lambda x: ttnn.add(x, "1"), TypeError, "ttnn.add: input_tensor_b is '1' of type str; expected ttnn.Tensor or a"),
    (lambda x: ttnn.add(1, 2), TypeError, "ttnn.add: .* expected ttnn.Tensor for one of the arguments"),
    (lambda x: ttnn.add(x, torch.ones(2, 2)), TypeError, r"input_tensor_b is tensor\(.* of type Tensor; expected"),
    (lambda x: ttnn.relu(2.0), TypeError, "ttnn.relu: input_tensor is 2.0 of type float; expected ttnn.Tensor"),
    (lambda x: ttnn.relu(None), TypeError, "ttnn.relu: input_tensor is None; expected Tensor"),
    (lambda x: ttnn.add(x, x, dtype=torch.float32), TypeError, "dtype is torch.float32 .*; expected ttnn.DataType"),
    (lambda x: ttnn.add(x, x, dtype=3), TypeError, "ttnn.add: dtype is 3 of type int; expected ttnn.DataType"),
    (lambda x: ttnn.add(x, x, layout="tile"), TypeError, "layout is 'tile' of type str; expected ttnn.Layout"),
    (lambda x: ttnn.add(x, x, memory_config=ttnn.BufferType.L1), TypeError, "memory_config is .*; expected ttnn.Mem"),
    (lambda x: ttnn.topk(x, 1, dtype=[ttnn.uint16]), TypeError, "dtype is .*, or one for each of the 2 results"),
    (lambda x: ttnn.sum(x, dim="1"), TypeError, "ttnn.sum: dim is '1' of type str; expected an integer or a"),
    (lambda x: ttnn.sum(x, dim=[0, 1.5]), TypeError, r"ttnn.sum: dim is \[0, 1.5\] of type list; expected an"),
    (lambda x: ttnn.sum(x, keepdim=1), TypeError, "ttnn.sum: keepdim is 1 of type int; expected True or False"),
    (lambda x: ttnn.softmax(x, dim=0.5), TypeError, "ttnn.softmax: dim is 0.5 of type float; expected an integer"),
    (lambda x: ttnn.pow(x, "2"), TypeError, "ttnn.pow: exponent is '2' of type str; expected a number or ttnn.Tensor"),
    (lambda x: ttnn.concat(x), TypeError, "ttnn.concat: tensors is a ttnn.Tensor; expected a list of ttnn.Tensor"),
    (lambda x: ttnn.concat([x, 1]), TypeError, "ttnn.concat: tensors is .*; expected a list of ttnn.Tensor"),
    (lambda x: ttnn.zeros([2], device="0"), TypeError, "device is '0' of type str; expected an open device"),
    (lambda x: ttnn.all_reduce(x, cluster_axis=0, math_op="sum"), TypeError, "math_op is 'sum' .*; expected ttnn.Red"),
    (
        lambda x: ttnn.all_reduce(x, cluster_axis=0, math_op=ttnn.Topology.Ring),
        TypeError,
        "math_op is Topology.Ring of type Topology; expected ttnn.ReduceType",
    ),
    (lambda x: ttnn.matmul(x, x, program_config=7), TypeError, "program_config is 7 .*; expected ttnn.MatmulMulti"),
    (
        lambda x: ttnn.matmul(x, x, compute_kernel_config=ttnn.Conv2dConfig()),
        TypeError,
        r"compute_kernel_config is Conv2dConfig\(.*; expected ttnn.DeviceComputeKernelConfig",
    ),
    (lambda x: ttnn.matmul(x, x[:1]), ttnn.OpError, "matmul"),
    (lambda x: ttnn.add(x, x.reshape(4)), ttnn.OpError, "add"),
    (lambda x: ttnn.reshape(x, [3]), ttnn.OpError, "reshape"),
    (lambda x: ttnn.softmax(x, dim=2), ttnn.OpError, "softmax"),
    (lambda x: ttnn.permute(x, (0, 0)), ttnn.OpError, "permute"),
    (lambda x: ttnn.slice(x, [0], [1]), ttnn.OpError, "slice"),
    (lambda x: ttnn.concat([]), ttnn.OpError, "concat"),
    (lambda x: x @ 2, TypeError, "unsupported operand"),
    (lambda x: x + "a", TypeError, "unsupported operand"),
    (lambda x: ttnn.Conv2dConfig(weights_dtype=1), TypeError, "Conv2dConfig: weights_dtype is 1; expected DataType"),
    (lambda x: ttnn.Conv2dConfig(activation="relux"), TypeError, "activation is 'relux'; expected UnaryWithParam"),
    (lambda x: ttnn.Conv2dConfig(no_such=1), TypeError, "unexpected keyword argument 'no_such'"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG, ids=[text for _, _, text in WRONG])
def test_wrong_calls(
    wrong: Callable[[ttnn.Tensor], Any], error: type[Exception], text: str, device: ttnn.Device
) -> None:
    with pytest.raises(error, match=text):
        wrong(tensor(A, device))


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("place", [5, -1])
def test_positions_beyond_a_table(width: int, place: int, device: ttnn.Device) -> None:
    """Rows of 4 and 8 bytes are copied in a way of their own."""
    places = ttnn.from_torch(torch.tensor([[0, place]], dtype=torch.int32), dtype=ttnn.int32, device=device)
    table = ttnn.from_torch(torch.rand(5, width), dtype=ttnn.float32, device=device)
    with pytest.raises(ttnn.OpError, match=rf"has {place} as element 1; expected a position from 0 to 4"):
        ttnn.to_torch(ttnn.embedding(places, table))


def test_tensors_of_two_devices(device: ttnn.Device) -> None:
    with ttnn.manage_device(0) as other, pytest.raises(ttnn.DeviceError, match="devices"):
        ttnn.add(tensor(A, device), tensor(A, other))


def test_configs(device: ttnn.Device) -> None:
    image, weight = torch.randn(1, 1, 16, 8), torch.randn(4, 8, 3, 3)
    options = {
        "in_channels": 8, "out_channels": 4, "batch_size": 1, "input_height": 4, "input_width": 4,
        "kernel_size": (3, 3), "padding": (1, 1), "device": device,
        "input_tensor": tensor(image, device), "weight_tensor": ttnn.from_torch(weight, dtype=ttnn.bfloat16),
    }  # fmt: skip
    plain = ttnn.conv2d(**options)
    relu = ttnn.UnaryWithParam(op_type=ttnn.UnaryOpType.RELU)
    for activation in ("relu", ttnn.UnaryOpType.RELU, relu):
        config = ttnn.Conv2dConfig(activation=activation, weights_dtype=ttnn.bfloat16)
        assert config.activation == relu
        found = ttnn.conv2d(**options, conv_config=config)
        assert torch.equal(ttnn.to_torch(found), ttnn.to_torch(plain).relu())
    grid = ttnn.CoreCoord(8, 8)
    config = ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=grid,
        in0_block_w=1,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=1,
        per_core_N=1,
    )
    precise = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    x = tensor(A, device)
    found = ttnn.matmul(x, x, program_config=config, compute_kernel_config=precise)
    assert torch.equal(ttnn.to_torch(found), ttnn.to_torch(x @ x))
    assert ttnn.ReduceType.SUM is ttnn.ReduceType.Sum
    assert repr(ttnn.MathFidelity.HIFI4) == "MathFidelity.HiFi4"


def test_composed_functions(device: ttnn.Device) -> None:
    values = torch.arange(24.0).reshape(2, 1, 12)
    x = tensor(values, device)
    for found, expected in [
        (ttnn.squeeze(x, 1), values.squeeze(1)), (ttnn.squeeze(x, 0), values),
        (ttnn.unsqueeze(x, -1), values[..., None]), (ttnn.unsqueeze_to_4D(x), values[None]),
        (ttnn.expand(x, (-1, 3, 12)), values.expand(-1, 3, 12)),
        (ttnn.expand(x, (4, 2, 5, 12)), values.expand(4, 2, 5, 12)), (ttnn.zeros_like(x), values * 0),
        (ttnn.ones_like(x), values * 0 + 1), (ttnn.full_like(x, 7.0), values * 0 + 7), (ttnn.clone(x), values),
        (ttnn.square(x), values**2), (ttnn.rsub(x, 3), 3 - values), (ttnn.rdiv(x + 1, 6.0), 6 / (values + 1)),
        (ttnn.matmul(x, ttnn.transpose(x, 1, 2), core_grid=ttnn.CoreGrid(y=8, x=8)), values @ values.mT),
    ]:  # fmt: skip
        assert (found.dtype, found.layout, found.device()) == (x.dtype, x.layout, device)
        assert torch.equal(ttnn.to_torch(found), expected.bfloat16())
    for size in (5, [4, 8], 12):
        parts = ttnn.split(x, size, dim=2)
        assert all(torch.equal(ttnn.to_torch(a).float(), b) for a, b in zip(parts, values.split(size, 2), strict=True))
    assert ttnn.full_like(x, 1, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT).dtype == ttnn.float32
    for wrong, text in [
        (lambda: ttnn.squeeze(x, 3), "squeeze: dim is 3; expected -3 to 2"),
        (lambda: ttnn.expand(x, (3, 1, 12)), r"expand: shape \[2, 1, 12\] cannot become \[3, 1, 12\]"),
        (lambda: ttnn.split(x, [4, 4], dim=2), r"split: sizes \[4, 4\] do not make 12"),
        (lambda: ttnn.split(x, 0), "split: split_size is 0; expected a positive number"),
        (lambda: ttnn.unsqueeze_to_4D(x.reshape(1, 1, 1, 2, 12)), "expected at most four dimensions"),
    ]:
        with pytest.raises(ValueError, match=text):
            wrong()


def test_numbers_of_numpy(device: ttnn.Device) -> None:
    x = tensor(A, device)
    for two in (numpy.float32(2), numpy.int64(2), numpy.float64(2), torch.tensor(2.0)):
        assert ttnn.to_torch(x * two).tolist() == (torch.tensor(A) * 2).tolist()
    assert ttnn.to_torch(numpy.float32(2) * x).tolist() == (torch.tensor(A) * 2).tolist()
    assert ttnn.sum(x, dim=numpy.int64(1)).shape == (2,)


def test_ops_that_write_an_operand(device: ttnn.Device) -> None:
    cache = tensor(torch.zeros(1, 1, 32, 4), device)
    shared = ttnn.from_device(cache)
    assert ttnn.fill_cache(cache, tensor(torch.ones(1, 1, 2, 4), device), 0) is None
    assert ttnn.to_torch(cache)[0, 0, :3].tolist() == [[1] * 4, [1] * 4, [0] * 4]
    assert not ttnn.to_torch(shared).any()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((3, []), "load_cached: function is 3 of type int; expected a function of tensors"),
        ((lambda x: x, 3), "load_cached: tensors is 3 of type int; expected a list of tensors"),
        ((lambda x: x, [3]), "load_cached: tensors[0] is 3 of type int; expected a tensor"),
        ((lambda: None, [], "cpu"), "load_cached: device is 'cpu' of type str; expected an open device"),
        ((lambda: 3, []), "load_cached: <lambda> returned 3 of type int; expected tensors"),
        ((lambda: [None], []), "load_cached: <lambda> returned None of type NoneType; expected tensors"),
    ],
)
def test_load_cached_names_what_is_wrong(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError) as raised:
        ttnn.load_cached(*arguments)
    assert str(raised.value) == message


def test_load_cached(device: ttnn.Device) -> None:
    calls = []

    def function(a: ttnn.Tensor, b: ttnn.Tensor) -> ttnn.Tensor:
        calls.append((a, b))
        return a + b

    x, y = tensor(A, device), tensor(B, device)
    first = ttnn.load_cached(function, [x, y])
    assert ttnn.load_cached(function, [x, y]) is first
    assert first.is_constant
    assert len(calls) == 1
    assert torch.equal(
        ttnn.to_torch(ttnn.load_cached(function, [y, x])), torch.tensor(A).add(torch.tensor(B)).bfloat16()
    )
    assert len(calls) == 2
    ttnn.load_cached(function, [x, tensor(B, device)])
    assert len(calls) == 3
    two = ttnn.load_cached(lambda device: (ttnn.zeros([2], device=device), ttnn.ones([2], device=device)), [], device)
    assert [t.device() for t in two] == [device, device]


def test_many_shapes_do_not_grow_without_end(device: ttnn.Device) -> None:
    """Kernels are kept for later calls, but only so many."""
    for n in range(1, 300):
        assert ttnn.sum(ttnn.ones([n], device=device, dtype=ttnn.float32)).item() == n


def test_threads(device: ttnn.Device) -> None:
    def work(seed: int) -> list[float]:
        x = tensor(torch.full((64, 64), float(seed)), device, ttnn.float32)
        return [ttnn.sum(ttnn.relu(x * i) + x).item() for i in range(50)]

    with ThreadPoolExecutor(4) as pool:
        for seed, found in enumerate(pool.map(work, range(8))):
            assert found == [64 * 64 * seed * (i + 1) for i in range(50)]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: ttnn.Shape("a"), TypeError, "Shape: 'a'; expected integers"),
        (lambda: ttnn.Shape([1.5]), TypeError, "Shape: [1.5]; expected integers"),
        (lambda: ttnn.close_device(3), TypeError, "close_device: device is 3 of type int; expected a device"),
        (
            lambda: ttnn.close_mesh_device(None),
            TypeError,
            "close_mesh_device: mesh_device is None of type NoneType; expected a device",
        ),
        (lambda: ttnn.sofmax, AttributeError, "module 'ttnn' has no attribute 'sofmax'; did you mean softmax"),
    ],
)
def test_common_mistakes(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).startswith(message)


def test_constants_of_closed_devices_are_forgotten() -> None:
    """Functions that live on would keep them, and their devices."""
    from ttnn import caching

    functions = []
    for _ in range(3):
        own = ttnn.open_device(device_id=0)
        functions.append(lambda device: tensor(A, device))
        result = ttnn.load_cached(functions[-1], [], own)
        assert result.is_allocated() and functions[-1] in caching._kept
        ttnn.close_device(own)
    assert [f in caching._kept for f in functions] == [False, False, True]


def test_while_loop_and_switch_case(device: ttnn.Device) -> None:
    """The sum of 0 + 1 + ... + 4, with what is carried in two places, and a constant."""
    start, total, limit = (
        ttnn.from_torch(torch.tensor([value]), device=device, layout=ttnn.TILE_LAYOUT) for value in (0.0, 0.0, 5.0)
    )

    def more(i: ttnn.Tensor, total: ttnn.Tensor, limit: ttnn.Tensor) -> ttnn.Tensor:
        return ttnn.lt(i, limit)

    def step(i: ttnn.Tensor, total: ttnn.Tensor, limit: ttnn.Tensor) -> tuple[ttnn.Tensor, ttnn.Tensor]:
        return ttnn.add(i, 1.0), ttnn.add(total, i)

    i, result = ttnn.while_loop(more, step, [start, total], [limit])
    assert (ttnn.to_torch(i).item(), ttnn.to_torch(result).item()) == (5.0, 10.0)
    # A loop without turns gives values of its own: what it started with may go.
    kept, _ = ttnn.while_loop(more, step, [limit, total], [limit])
    ttnn.deallocate(limit)
    assert ttnn.to_torch(kept).item() == 5.0
    doubled = ttnn.switch_case(start, [lambda x: ttnn.add(x, x), lambda x: x], [i])
    same = ttnn.switch_case(i, [lambda x: ttnn.add(x, x), lambda x: x], [i])
    ttnn.deallocate(i)
    assert (ttnn.to_torch(doubled).item(), ttnn.to_torch(same).item()) == (10.0, 5.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ttnn.while_loop(3, lambda a: a, [x]), "while_loop: cond is 3 of type int; expected a function"),
        (
            lambda x: ttnn.while_loop(lambda a: a, lambda a: a, x),
            "while_loop: tensors is .*; expected a list of tensors",
        ),
        (lambda x: ttnn.while_loop(lambda: 1, lambda: 1, []), "while_loop: tensors is empty"),
        (
            lambda x: ttnn.while_loop(lambda a: a, lambda a: a, [x]),
            "the condition of a loop is a tensor of shape .2.*one",
        ),
        (lambda x: ttnn.while_loop(lambda a: True, lambda a: a, [x]), "the condition of a loop is True of type bool"),
        (
            lambda x: ttnn.while_loop(lambda a: ttnn.sum(ttnn.abs(a)), lambda a: (a, a), [x]),
            "while_loop: body returned 2 tensors; expected 1",
        ),
        (lambda x: ttnn.switch_case(x, []), "switch_case: branches is .*; expected a list of functions"),
        (lambda x: ttnn.switch_case(ttnn.sum(x), [lambda: 3]), "switch_case: the branch returned 3 of type int"),
        (lambda x: ttnn.switch_case(ttnn.sum(x), [lambda a: a], [3]), r"switch_case: tensors\[0\] is 3 of type int"),
        (lambda x: ttnn.switch_case(x, [lambda: x], [], "cpu"), "switch_case: device is 'cpu'"),
    ],
)
def test_control_names_what_is_wrong(device: ttnn.Device, call: Any, message: str) -> None:
    x = ttnn.from_torch(torch.tensor([1.0, 2.0]), device=device, layout=ttnn.TILE_LAYOUT)
    with pytest.raises((TypeError, ValueError, RuntimeError), match=message):
        call(x)


@pytest.mark.parametrize("shape", [[2**62], [2**61, 2], [2**60]])
def test_bytes_that_no_number_counts_are_refused(shape: list[int]) -> None:
    with pytest.raises(RuntimeError, match=r"has more than 2\^59 elements"):
        ttnn.full(shape, -1.0, dtype=ttnn.float32)


@pytest.mark.parametrize("columns", [8, 32, 64])
def test_weights_of_norms_in_rows(device: ttnn.Device, columns: int) -> None:
    x, weight, bias = torch.randn(1, 1, 40, 64), torch.randn(64), torch.randn(64)
    chip = tensor(x, device, ttnn.float32)
    rows = [tensor(each.reshape(1, 1, -1, columns), device, ttnn.float32) for each in (weight, bias)]
    found = ttnn.group_norm(chip, num_groups=4, epsilon=1e-5, weight=rows[0], bias=rows[1], inplace=False)
    expected = torch.nn.functional.group_norm(x.transpose(1, 3), 4, weight, bias, 1e-5).transpose(1, 3)
    torch.testing.assert_close(ttnn.to_torch(found), expected, atol=1e-4, rtol=1e-4)
    found = ttnn.layer_norm(chip, epsilon=1e-5, weight=rows[0], bias=rows[1])
    expected = torch.nn.functional.layer_norm(x, (64,), weight, bias)
    torch.testing.assert_close(ttnn.to_torch(found), expected, atol=1e-4, rtol=1e-4)


def test_weights_of_group_norm_are_those_of_the_channels(device: ttnn.Device) -> None:
    with pytest.raises(ttnn.OpError, match=r"group_norm: weight has shape \[1, 1, 2, 16\]; expected \[64\]"):
        ttnn.group_norm(
            tensor(torch.ones(1, 1, 4, 64), device), num_groups=4, weight=tensor(torch.ones(1, 1, 2, 16), device)
        )
