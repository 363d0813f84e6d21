# SPDX-License-Identifier: Apache-2.0
"""A Python number that a type or attribute cannot hold is an error that names the argument; nothing wraps."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
import ttnn

runtime = rt.runtime
WIDE = 1 << 32  # wraps to 0 in 32 bits

BOUNDS = {
    ttnn.uint8: (0, 255), ttnn.uint16: (0, 65535), ttnn.uint32: (0, WIDE - 1), ttnn.int32: (-WIDE // 2, WIDE // 2 - 1),
}  # fmt: skip


@pytest.mark.parametrize("dtype", BOUNDS, ids=lambda dtype: dtype.name)
def test_full_holds_what_the_type_holds(dtype):
    low, high = BOUNDS[dtype]
    for value in (low, high):
        found = ttnn.full([2], value, dtype=dtype)
        assert found.to_list() == [value] * 2
        assert ttnn.full_like(found, value).to_list() == [value] * 2
    # The dialect's attributes have 32 bits: of u32 they are read as those of i32, too.
    below = -(1 << 31) if dtype is ttnn.uint32 else low
    for value in (below - 1, high + 1, WIDE * 256, -WIDE, 1e30, math.nan, math.inf, 10**400, -(10**400)):
        with pytest.raises(ValueError, match=r"^ttnn\.full: fill_value is "):
            ttnn.full([2], value, dtype=dtype)


@pytest.mark.parametrize("dtype", BOUNDS, ids=lambda dtype: dtype.name)
def test_arange_holds_what_the_type_holds(dtype):
    low, high = BOUNDS[dtype]
    assert ttnn.arange(high - 1, high + 1, 1, dtype=dtype).to_list() == [high - 1, high]
    assert ttnn.arange(low + 1, low - 1, -1, dtype=dtype).to_list() == [low + 1, low]
    for start, end, step in ((high, high + 2, 1), (WIDE, WIDE + 2, 1), (high, high - WIDE * 4, -(1 << 31))):
        with pytest.raises(ValueError, match="cannot hold; expected"):
            ttnn.arange(start, end, step, dtype=dtype)


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16, ttnn.bfloat8_b], ids=lambda dtype: dtype.name)
def test_floats_do_not_become_infinite(dtype):
    x = ttnn.ones([32, 32], dtype=dtype, layout=ttnn.TILE_LAYOUT)
    for call in (lambda v: x + v, lambda v: v * x, lambda v: ttnn.full([2], v), lambda v: ttnn.clamp(x, min=v)):
        for value in (1e300, -1e39, 10**400):
            with pytest.raises(ValueError, match=r"room for|64 bits"):
                call(value)
        call(math.inf)
        call(1 << 70)


# Each refuses every number of WRONG, and says which argument it was.
INTEGERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "full": (lambda n: ttnn.full([n, 4], 1), "shape|out of host memory"),
    "zeros": (lambda n: ttnn.zeros([4, n]), "shape|out of host memory"),
    "reshape": (lambda n: ttnn.ones([4, 8]).reshape(8 + n, 4 + n), "shape"),
    "softmax": (lambda n: ttnn.softmax(ttnn.ones([4, 8]), dim=n), "dim"),
    "sum": (lambda n: ttnn.sum(ttnn.ones([4, 8]), dim=[0, n]), "dim"),
    "concat": (lambda n: ttnn.concat([ttnn.ones([4, 8])] * 2, dim=n), "dim"),
    "permute": (lambda n: ttnn.permute(ttnn.ones([4, 8]), [1 + n, n]), "dims"),
    "topk": (lambda n: ttnn.topk(ttnn.ones([4, 8]), n + 2), "k"),
    "slice": (lambda n: ttnn.slice(ttnn.ones([4, 8]), [n, 0], [n + 1, 4], [1, 1]), "starts"),
    "index": (lambda n: ttnn.ones([4, 8])[n], "index"),
    "mesh_shape": (lambda n: setattr(runtime.MeshDeviceOptions(), "mesh_shape", (n + 1, 1)), r"mesh_shape\[0\]"),
    "mesh_offset": (lambda n: setattr(runtime.MeshDeviceOptions(), "mesh_offset", (0, n)), r"mesh_offset\[1\]"),
    "device_ids": (lambda n: setattr(runtime.MeshDeviceOptions(), "device_ids", [n]), r"device_ids\[0\]"),
    "num_hw_cqs": (lambda n: setattr(runtime.MeshDeviceOptions(), "num_hw_cqs", n), "num_hw_cqs"),
    "open_device": (lambda n: ttnn.open_device(device_id=n), "device_id"),
    "set_threads": (lambda n: runtime.set_threads(n), "count|threads"),
    "CoreCoord": (lambda n: ttnn.CoreCoord(n, 0), "CoreCoord: x"),
    "CoreGrid": (lambda n: ttnn.CoreGrid(y=1, x=n), "CoreGrid: x"),
    "itemsize": (lambda n: runtime.create_owned_host_tensor(0, [0], [1], 4 + n, runtime.DataType.Float32), "itemsize"),
}
WRONG = [WIDE, -WIDE, (1 << 64), -(1 << 64), 1 << 70]


@pytest.mark.parametrize("number", WRONG, ids=hex)
@pytest.mark.parametrize("name", INTEGERS)
def test_wide_integers_are_refused(name, number):
    call, argument = INTEGERS[name]
    with pytest.raises((ValueError, IndexError, rt.Error), match=argument) as raised:
        call(number)
    # What 64 bits hold gets to the function, which looks at it itself.
    assert abs(number) <= WIDE or isinstance(raised.value, (ValueError, IndexError, ttnn.DeviceError))


def test_bytes_of_memories_are_no_negative_numbers():
    for name in ("l1_small_size", "trace_region_size"):
        for value in (-1, 1 << 63, 1 << 70):
            with pytest.raises(ValueError, match=rf"^{name} is {value}; expected 0 to 9223372036854775807$"):
                setattr(runtime.MeshDeviceOptions(), name, value)
    options = runtime.MeshDeviceOptions()
    for name in ("mesh_shape", "l1_small_size", "trace_region_size"):
        setattr(options, name, None)
        assert getattr(options, name) is None


def test_threads_have_a_limit():
    """The system would refuse to start them, and OpenMP end the process."""
    for count in (-1, (1 << 31) - 1):
        with pytest.raises(rt.Error, match=rf"setThreads: {count} threads; expected 0 \(default\) to "):
            runtime.set_threads(count)


def test_non_integer_is_named(tmp_path):
    for value, text in (([1, "x"], r"shape[1] is 'x' of type str"), ([None], "shape[0] is None of type NoneType")):
        with pytest.raises(TypeError, match=re.escape(text)):
            runtime.create_owned_host_tensor(0, value, [1], 4, runtime.DataType.Float32)
    with pytest.raises(
        TypeError, match=r"index of dimension 0 is tensor\(\[1\., 1\.\]\) of type Tensor; expected an int"
    ):
        ttnn.ones([4, 4])[torch.ones(2)]
    with pytest.raises(TypeError, match=r"CoreRangeSet: ranges\[0\] is 3; expected a CoreRange"):
        ttnn.CoreRangeSet([3])
    with pytest.raises(ValueError, match="null"):
        ttnn.dump_tensor(str(tmp_path / "a\0b"), ttnn.ones([2]))
    assert not list(tmp_path.iterdir())


def test_lists_that_change_while_they_are_read():
    class Item:
        def __index__(self) -> int:
            sizes.clear()
            return 1

    sizes: list[Any] = [Item(), *[1] * 50]
    assert len(ttnn.ones(sizes).shape) == 51
    sizes = [Item(), *[1] * 50]
    with pytest.raises(rt.Error, match="stride"):
        runtime.create_owned_host_tensor(0, sizes, [], 4, runtime.DataType.Float32)


def test_buffers_by_hand():
    device = ttnn.open_device(device_id=0)
    buffer = rt.utils.allocate_l1_buffer(device, 4096, 1024)
    assert buffer.is_allocated() and buffer.size() == 4096
    buffer.deallocate()
    assert not buffer.is_allocated()
    for sizes in ((0, 1), (1 << 40, 1 << 40), (-32, 32), (33, 32)):
        with pytest.raises(rt.Error, match=r"buffer_size|out of L1"):
            rt.utils.allocate_l1_buffer(device, *sizes)
    with pytest.raises(ValueError, match=r"^buffer_size is "):
        rt.utils.allocate_dram_buffer(device, 1 << 63, 32)
    ttnn.close_device(device)
