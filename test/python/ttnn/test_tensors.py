# SPDX-License-Identifier: Apache-2.0
"""Tensors of the package ttnn: from and to PyTorch, types, layouts, memories, printing, what can go wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import python_process
import torch
import ttnn

SHAPES = [(), (1,), (7,), (33, 65), (2, 3, 5, 33), (0,), (3, 0, 5), (32, 32), (1, 1, 64, 64)]
FLOATS = {ttnn.float32: torch.float32, ttnn.float16: torch.float16, ttnn.bfloat16: torch.bfloat16}
INTEGERS = {ttnn.int32: torch.int32, ttnn.uint8: torch.uint8, ttnn.uint16: torch.uint16, ttnn.uint32: torch.uint32}
EXACT = FLOATS | INTEGERS | {ttnn.bool: torch.bool}


def sample(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    values = torch.arange(torch.Size(shape).numel()).reshape(shape) % 100
    return (values - 50).to(dtype) if dtype.is_floating_point or dtype is torch.int32 else (values > 50).to(dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", EXACT, ids=lambda d: d.name)
@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT], ids=lambda layout: layout.name)
def test_round_trip(shape: tuple[int, ...], dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.Device) -> None:
    values = sample(shape, EXACT[dtype])
    on_device = ttnn.from_torch(values, dtype=dtype, layout=layout, device=device)
    assert (on_device.shape, on_device.dtype, on_device.layout) == (shape, dtype, layout)
    assert on_device.device() is device
    assert on_device.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    assert on_device.storage_type() == ttnn.StorageType.DEVICE
    for tensor in (on_device, ttnn.from_device(on_device), ttnn.to_layout(on_device, ttnn.ROW_MAJOR_LAYOUT)):
        back = ttnn.to_torch(tensor)
        assert back.dtype == EXACT[dtype]
        assert torch.equal(back, values)


def test_rounding_to_another_type() -> None:
    values = torch.tensor([1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1e-40, 3e38, torch.inf, -torch.inf, torch.nan])
    for dtype, torch_dtype in FLOATS.items():
        found = ttnn.to_torch(ttnn.from_torch(values, dtype=dtype))
        assert torch.equal(found.nan_to_num(7), values.to(torch_dtype).nan_to_num(7))
        assert found.isnan().equal(values.isnan())


@pytest.mark.parametrize(
    ("torch_dtype", "dtype"),
    [(torch.int64, ttnn.uint32), (torch.int16, ttnn.uint16), (torch.int8, ttnn.int32), (torch.float64, ttnn.float32),
     (torch.uint16, ttnn.uint16), (torch.uint32, ttnn.uint32), (torch.float16, ttnn.bfloat16)],
)  # fmt: skip
def test_torch_types_without_counterpart(torch_dtype: torch.dtype, dtype: ttnn.DataType) -> None:
    tensor = ttnn.from_torch(torch.tensor([0, 1, 100]).to(torch_dtype))
    assert tensor.dtype == dtype
    assert tensor.to_list() == [0, 1, 100]


def test_block_formats(device: ttnn.Device) -> None:
    """16 values share an exponent: those with as many bits as the format has come back as they are."""
    values = torch.cat([torch.tensor([64.0, 1.0, -3.0, 0.4, torch.nan] + [0.0] * 11), torch.full((16,), 0.25)])
    found = ttnn.to_torch(ttnn.from_torch(values.reshape(1, 32), dtype=ttnn.bfloat8_b, device=device))
    assert found.dtype == torch.float32
    assert found[0, 16:].eq(0.25).all()
    exact = torch.tensor([[64.0, 1.0, -3.0, 0.4] * 4])
    found = ttnn.to_torch(ttnn.from_torch(exact, dtype=ttnn.bfloat8_b))
    assert found.tolist() == [[64.0, 1.0, -3.0, 0.0] * 4]
    assert ttnn.from_torch(exact, dtype=ttnn.bfloat4_b).layout == ttnn.TILE_LAYOUT
    assert ttnn.to_torch(ttnn.from_torch(exact, dtype=ttnn.bfloat8_b), dtype=torch.bfloat16).dtype == torch.bfloat16


def test_from_torch_copies(device: ttnn.Device) -> None:
    values = torch.zeros(4, 4)
    host, on_device = ttnn.from_torch(values), ttnn.from_torch(values, device=device)
    values += 1
    back = ttnn.to_torch(on_device)
    back += 1
    assert not any(ttnn.to_torch(tensor).any() for tensor in (host, on_device))


def test_strides_views_and_gradients() -> None:
    base = torch.arange(24.0).reshape(4, 6)
    cases = [base.T, base[::2, 1::2], base[1], base.expand(3, 4, 6), base.flip(0), base.clone().requires_grad_()]
    for values in cases:
        assert torch.equal(ttnn.to_torch(ttnn.from_torch(values)), values.detach())
        assert torch.equal(ttnn.to_torch(ttnn.from_torch(values, dtype=ttnn.int32)), values.detach().int())


def test_from_numpy_and_dlpack() -> None:
    tensor = ttnn.Tensor(numpy.arange(6, dtype=numpy.float32).reshape(2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    assert tensor.to_list() == [[0, 1, 2], [3, 4, 5]]
    assert (tensor.dtype, tensor.layout) == (ttnn.bfloat16, ttnn.TILE_LAYOUT)
    assert torch.equal(torch.from_dlpack(tensor), torch.arange(6).reshape(2, 3).to(torch.bfloat16))


RANGES = {ttnn.uint8: (0, 255), ttnn.uint16: (0, 65535), ttnn.uint32: (0, 2**32 - 1), ttnn.int32: (-(2**31), 2**31 - 1)}


@pytest.mark.parametrize("torch_dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32])
@pytest.mark.parametrize("dtype", RANGES, ids=str)
def test_integers_that_another_type_lacks(dtype: ttnn.DataType, torch_dtype: torch.dtype) -> None:
    """They are refused with value and range; the ends of a range are taken, of strided tensors and numpy's, too."""
    low, high = RANGES[dtype]
    info = torch.iinfo(torch_dtype)
    for value in {low, high, low - 1, high + 1, info.min, info.max}:
        if not info.min <= value <= info.max:
            continue
        whole = torch.tensor([0, value, 1, value], dtype=torch.int64).to(torch_dtype)
        for values in (whole, whole[1::2], whole.numpy()):
            given = torch.as_tensor(values).to(torch.int64).tolist()

            def make(values: Any = values) -> ttnn.Tensor:
                torch_values = isinstance(values, torch.Tensor)
                return ttnn.from_torch(values, dtype=dtype) if torch_values else ttnn.Tensor(values, dtype)

            if low <= value <= high:
                assert ttnn.to_torch(make(), dtype=torch.int64).tolist() == given
            else:
                place = given.index(value)
                with pytest.raises(
                    ValueError, match=rf"element {place} is {value} of type .* expected {low} to {high}$"
                ):
                    make()


def test_large_integers_as_floats() -> None:
    values = torch.tensor([2**40, -(2**62), 2**31, 3])
    assert torch.equal(ttnn.to_torch(ttnn.from_torch(values, dtype=ttnn.float32)), values.float())
    assert torch.equal(ttnn.to_torch(ttnn.from_torch(values, dtype=ttnn.bfloat16)), values.to(torch.bfloat16))


def test_unsigned_values() -> None:
    tensor = ttnn.from_torch(torch.tensor([1, 2**32 - 1]).to(torch.uint32))
    assert ttnn.to_torch(tensor, dtype=torch.int64).tolist() == ttnn.to_torch(tensor).tolist() == [1, 2**32 - 1]
    assert ttnn.to_torch(tensor).dtype == torch.uint32
    expected = "element 1 is -1 .*expected 0 to 4294967295; say another dtype than UINT32, which torch.int64 becomes"
    with pytest.raises(ValueError, match=expected):
        ttnn.from_torch(torch.tensor([1, -1]))
    assert ttnn.from_torch(torch.tensor([1, -1]), dtype=ttnn.int32).to_list() == [1, -1]


def test_attributes_and_methods(device: ttnn.Device) -> None:
    host = ttnn.from_torch(torch.arange(15.0).reshape(3, 5), dtype=ttnn.bfloat16)
    assert (host.device(), host.storage_type()) == (None, ttnn.StorageType.HOST)
    assert host.memory_config() == ttnn.DRAM_MEMORY_CONFIG  # where it would lie on a device
    tile = host.to(ttnn.TILE_LAYOUT).to(device, ttnn.L1_MEMORY_CONFIG)
    assert (tile.layout, tile.memory_config()) == (ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG)
    assert tile.shape == [3, 5] == list(tile.shape)
    assert (tile.shape.rank, tile.shape.volume(), tile.shape[-1]) == (2, 15, 5)
    assert (tile.padded_shape, tile.volume(), tile.physical_volume()) == ((32, 32), 15, 1024)
    assert (len(tile), tile.element_size(), tile.is_sharded()) == (3, 2, False)
    assert tile.buffer_address() > 0
    assert tile.cpu().device() is None
    assert tile.to_torch().equal(ttnn.to_torch(tile))
    assert [row.to_list() for row in tile[:2, :2]] == [[0, 1], [5, 6]]
    assert tile.reshape(5, 3).shape == tile.reshape([5, 3]).shape == (5, 3)
    assert tile[2, 4].item() == 14.0
    assert isinstance(ttnn.from_torch(torch.tensor(3)).item(), int)
    assert ttnn.from_torch(torch.tensor([True])).dtype == ttnn.uint8
    assert ttnn.from_torch(torch.tensor([True]), dtype=ttnn.bool).item() is True
    moved = ttnn.to_memory_config(tile, ttnn.DRAM_MEMORY_CONFIG)
    assert moved.memory_config() == ttnn.DRAM_MEMORY_CONFIG


def test_indexing(device: ttnn.Device) -> None:
    values = torch.arange(2 * 5 * 7).reshape(2, 5, 7)
    tensor = ttnn.from_torch(values, device=device)
    for key in [
        0, -1, (0, 1), (slice(1, 2),), (..., 3), (slice(None), slice(1, 4, 2), slice(-3, None)), (None, 1), (0, 1, 2),
        (slice(None, None, 3), ..., None), ..., (slice(3, 1), 0), (1, ..., slice(None)),
    ]:  # fmt: skip
        assert torch.equal(ttnn.to_torch(tensor[key], dtype=torch.int64), values[key]), key


def test_bad_indices() -> None:
    tensor = ttnn.from_torch(torch.zeros(2, 3))
    for key, error, text in [
        (2, IndexError, "index 2 of dimension 0, which has size 2"),
        ((0, 0, 0), IndexError, r"3 indices for a tensor of shape \[2, 3\]"),
        ((..., ...), IndexError, "more than one ellipsis"),
        (slice(None, None, -1), ValueError, "index of dimension 0: step -1; expected a positive one"),
        ("a", TypeError, "index of dimension 0 is 'a' of type str; expected an integer or a slice"),
        ((0, 1.5), TypeError, "index of dimension 1 is 1.5"),
    ]:
        with pytest.raises(error, match=text):
            tensor[key]


def test_printing(device: ttnn.Device) -> None:
    small = ttnn.from_torch(torch.tensor([[1.0, -2.5], [0.125, torch.inf]]), dtype=ttnn.bfloat16, device=device)
    assert repr(small) == (
        "ttnn.Tensor([[ 1.0000, -2.5000],\n             [ 0.1250,     inf]], shape=Shape([2, 2]), "
        "dtype=DataType::BFLOAT16, layout=Layout::ROW_MAJOR)"
    )
    assert repr(ttnn.from_torch(torch.tensor(7))).startswith("ttnn.Tensor(    7, shape=Shape([])")
    assert repr(ttnn.from_torch(torch.zeros(0, 2))).startswith("ttnn.Tensor([], shape=Shape([0, 2])")
    assert "1.0000e-09" in repr(ttnn.from_torch(torch.tensor([1e-9, 1.0])))
    large = repr(ttnn.from_torch(torch.arange(1000000).reshape(100, 100, 100), device=device))
    assert len(large.splitlines()) == 4 * 5 + 1 + 4
    assert "[999900, 999901,  ..., 999998, 999999]]]" in large
    mesh = ttnn.from_torch(torch.arange(4), device=None)
    assert repr(mesh.shape) == "Shape([4])"


def test_a_tensor_that_was_deallocated(device: ttnn.Device) -> None:
    tensor = ttnn.from_torch(torch.ones(32, 32), device=device)
    assert tensor.is_allocated()
    ttnn.deallocate(tensor)
    assert not tensor.is_allocated()
    assert repr(tensor).startswith("ttnn.Tensor(deallocated, shape=Shape([32, 32])")
    for use in (ttnn.to_torch, ttnn.relu, ttnn.from_device, lambda t: t + 1, lambda t: t[0], lambda t: t.to_list()):
        with pytest.raises(ttnn.Error, match=r"the tensor of shape \[32, 32\] was deallocated"):
            use(tensor)


def test_a_device_that_was_closed() -> None:
    device = ttnn.open_device(device_id=0)
    tensor = ttnn.from_torch(torch.ones(2, 2), device=device)
    ttnn.close_device(device)
    assert not tensor.is_allocated()
    with pytest.raises(ttnn.DeviceError, match="closed"):
        ttnn.to_torch(tensor)
    with pytest.raises(ttnn.DeviceError, match="closed"):
        ttnn.from_torch(torch.ones(2, 2), device=device)
    with pytest.raises(ttnn.DeviceError, match="closed"):
        ttnn.close_device(device)
    with pytest.raises(ttnn.DeviceError, match="device_id is 5000"):
        ttnn.open_device(device_id=5000)


def test_devices() -> None:
    with ttnn.manage_device(device_id=1, arch="blackhole", l1_small_size=4096) as device:
        assert (device.arch, device.get_l1_small_size()) == ("blackhole", 4096)
        assert ttnn.MeshShape(device.get_mesh_shape()) == (1, 1)
        ttnn.synchronize_device(device)
    assert not device.is_open
    with ttnn.create_mesh_device(ttnn.MeshShape(2, 4)) as mesh:
        assert mesh.get_mesh_shape() == [2, 4]
    with pytest.raises(ttnn.DeviceError, match="is closed"):
        ttnn.synchronize_device(device)
    with pytest.raises(ttnn.DeviceError, match="grayskull"):
        ttnn.open_device(device_id=0, arch="grayskull")
    with pytest.raises(ValueError, match="two positive sizes"):
        ttnn.MeshShape(0, 2)


@pytest.mark.long
def test_a_program_may_leave_its_device_open() -> None:
    code = (
        "import ttnn, torch; d = ttnn.open_device(device_id=0); x = ttnn.from_torch(torch.ones(2), device=d); print(x)"
    )
    ran = python_process.run(["-c", code])
    assert (ran.returncode, ran.stderr) == (0, "")


def test_import_without_torch() -> None:
    code = "import sys, ttnn; assert 'torch' not in sys.modules; print(ttnn.full([2], 3.0).to_list())"
    folder = str(Path(ttnn.__file__).parents[1])
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": folder})
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", "[3.0, 3.0]\n")


def test_memory(device: ttnn.Device) -> None:
    sharded = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
        ttnn.BufferType.L1,
        ttnn.ShardSpec(
            ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 7))]),
            [32, 64],
            ttnn.ShardOrientation.ROW_MAJOR,
        ),
    )
    same = ttnn.MemoryConfig(
        sharded.memory_layout,
        sharded.buffer_type,
        ttnn.ShardSpec(ttnn.CoreGrid(y=8, x=1), [32, 64], ttnn.ShardOrientation.ROW_MAJOR),
    )
    assert (sharded, hash(sharded), sharded.shard_spec.num_cores()) == (same, hash(same), 8)
    tensor = ttnn.from_torch(torch.ones(256, 64), layout=ttnn.TILE_LAYOUT, device=device, memory_config=sharded)
    assert tensor.memory_config() == sharded
    assert tensor.is_sharded()
    assert (ttnn.relu(tensor) + 1.0).memory_config() == sharded
    half = ttnn.typecast(ttnn.layer_norm(tensor), ttnn.bfloat8_b)
    assert half.memory_config() == sharded and torch.equal(ttnn.to_torch(half), torch.zeros(256, 64))
    for moved in (ttnn.sum(tensor, -1), tensor[:32], ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT)):
        assert moved.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert ttnn.matmul(tensor, tensor, transpose_b=True).memory_config() == ttnn.DRAM_MEMORY_CONFIG
    square = ttnn.to_memory_config(
        ttnn.ones([256, 256], layout=ttnn.TILE_LAYOUT, device=device),
        wide := ttnn.MemoryConfig(
            sharded.memory_layout,
            sharded.buffer_type,
            ttnn.ShardSpec(ttnn.CoreGrid(y=8, x=1), [32, 256], ttnn.ShardOrientation.ROW_MAJOR),
        ),
    )
    assert ttnn.matmul(square, square).memory_config() == ttnn.DRAM_MEMORY_CONFIG
    assert ttnn.transpose(square, 0, 1).memory_config() == wide
    del square, half, moved
    assert ttnn.relu(tensor, memory_config=ttnn.DRAM_MEMORY_CONFIG).memory_config() == ttnn.DRAM_MEMORY_CONFIG
    with pytest.raises(ttnn.OutOfMemoryError, match="L1"):
        ttnn.zeros([64, 1 << 20], device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
    for wrong, text in [
        (
            lambda: ttnn.ShardSpec(ttnn.CoreGrid(1, 1), [32], ttnn.ShardOrientation.ROW_MAJOR),
            r"ShardSpec: shape \[32\]; expected two positive sizes",
        ),
        (lambda: ttnn.CoreGrid(y=0, x=1), "CoreGrid: y is 0 and x 1; expected positive numbers"),
        (lambda: ttnn.CoreRange(ttnn.CoreCoord(2, 0), ttnn.CoreCoord(1, 0)), "is not a rectangle"),
    ]:
        with pytest.raises(ValueError, match=text):
            wrong()


def test_wrong_arguments(device: ttnn.Device) -> None:
    ones = torch.ones(2, 2)
    for wrong, error, text in [
        (lambda: ttnn.from_torch([1, 2]), TypeError, "from_torch: tensor is list; expected torch.Tensor"),
        (lambda: ttnn.to_torch(ones), TypeError, "to_torch: tensor is Tensor; expected ttnn.Tensor"),
        (
            lambda: ttnn.from_torch(ones, dtype=torch.float32),
            TypeError,
            "dtype is torch.float32 of type dtype; expected ttnn",
        ),
        (lambda: ttnn.from_torch(ones, layout="tile"), TypeError, "layout is 'tile' of type str; expected ttnn.Layout"),
        (lambda: ttnn.from_torch(ones, device=0), TypeError, "device is 0; expected what ttnn.open_device returns"),
        (lambda: ttnn.open_device(device_id="a"), TypeError, "device_id is 'a' of type str; expected an integer"),
        (
            lambda: ttnn.from_torch(ones, dtype=ttnn.bfloat8_b, layout=ttnn.ROW_MAJOR_LAYOUT),
            ValueError,
            "data type BFLOAT8_B exists in TILE layout only, not in ROW_MAJOR",
        ),
        (
            lambda: ttnn.from_torch(ones, memory_config=ttnn.L1_MEMORY_CONFIG),
            ValueError,
            "memory_config is .*L1.*, but no device is given",
        ),
        (
            lambda: ttnn.from_torch(torch.tensor([2**40])),
            ttnn.Error,
            "1099511627776 .*does not fit; expected 0 to 4294967295",
        ),
        (lambda: ttnn.from_torch(torch.tensor([1j])), ttnn.Error, "cannot become a tensor"),
        (lambda: ttnn.from_torch(ones).item(), ValueError, r"shape \[2, 2\] is not one value"),
        (lambda: bool(ttnn.from_torch(ones)), ValueError, "neither true nor false"),
        (lambda: ttnn.from_torch(ones).to("cpu"), TypeError, "'cpu'; expected a device or a ttnn.Layout"),
        (lambda: ttnn.Tensor("text"), TypeError, "expected a torch tensor, numpy array .*found str"),
        (
            lambda: ttnn.to_torch(ttnn.from_torch(ones), torch_rank=1),
            ValueError,
            r"shape \[2, 2\] cannot be given rank 1",
        ),
    ]:
        with pytest.raises(error, match=text):
            wrong()
    assert ttnn.to_torch(ttnn.from_torch(torch.ones(1, 1, 2, 2)), torch_rank=2).shape == (2, 2)


def test_files(tmp_path: Path, device: ttnn.Device) -> None:
    values = torch.randn(5, 33)
    path = tmp_path / "x.tensorbin"
    ttnn.dump_tensor(path, ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device))
    for loaded in (ttnn.load_tensor(str(path)), ttnn.load_tensor(path, device=device)):
        assert (loaded.dtype, loaded.layout, loaded.is_constant) == (ttnn.bfloat16, ttnn.TILE_LAYOUT, True)
        assert torch.equal(ttnn.to_torch(loaded), values.to(torch.bfloat16))
    with pytest.raises(TypeError, match=r"ttnn.load_tensor: file_name is 7 of type int; expected a path"):
        ttnn.load_tensor(7)
    with pytest.raises(ttnn.Error, match=r"missing\.tensorbin"):
        ttnn.load_tensor(str(tmp_path / "missing.tensorbin"))
    (tmp_path / "text.tensorbin").write_text("no tensor at all")
    with pytest.raises(ttnn.Error, match=r"text\.tensorbin"):
        ttnn.load_tensor(str(tmp_path / "text.tensorbin"))
