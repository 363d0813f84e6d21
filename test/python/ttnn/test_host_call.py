# SPDX-License-Identifier: Apache-2.0
"""ttnn.host_call: libraries that emitted programs bring along, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import ttnn
from ttmlir import ir, passes

TEXT = """func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.subf %x, %y : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}"""
FUNCTION = "cpu_hoisted_arith_subf"
RESULT = ttnn.HostResult([2, 3], ttnn.float32)
X, Y = torch.arange(6.0).reshape(2, 3), torch.full((2, 3), 0.5)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("code"), TEXT)


def written(folder: Path, text: str) -> Path:
    module = ir.Module.parse(text, ir.Context())
    passes.ttir_to_emitpy_pipeline(module, "cpu-fallback=true")
    passes.write_tensor_files(module, folder)
    return folder / "host_functions.so"


def placed(values: torch.Tensor, device: Any = None) -> ttnn.Tensor:
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)


def test_it_computes_on_a_device_and_on_the_host(device: ttnn.Device, library: Path) -> None:
    result = ttnn.host_call(library, FUNCTION, [placed(X, device), placed(Y, device)], [RESULT])
    assert ttnn.is_tensor_storage_on_device(result) and torch.equal(ttnn.to_torch(result), X - Y)
    host = ttnn.HostResult([2, 3], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT, HOST)
    result = ttnn.host_call(str(library), FUNCTION, [placed(X), placed(Y)], [host])
    assert not ttnn.is_tensor_storage_on_device(result) and torch.equal(ttnn.to_torch(result), X - Y)


HOST = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.SYSTEM_MEMORY)


def test_a_library_that_changes_is_read_again(device: ttnn.Device, tmp_path: Path) -> None:
    for op, expected in (("subf", X - Y), ("addf", X + Y)):
        library = written(tmp_path, TEXT.replace("subf", op))
        result = ttnn.host_call(library, f"cpu_hoisted_arith_{op}", [placed(X, device), placed(Y, device)], [RESULT])
        assert torch.equal(ttnn.to_torch(result), expected)


def test_non_library_is_refused(device: ttnn.Device, library: Path, tmp_path: Path) -> None:
    x, y = placed(X, device), placed(Y, device)
    with pytest.raises(ttnn.Error, match=r'library: "/nowhere/at/all.so" cannot be read: No such file'):
        ttnn.host_call("/nowhere/at/all.so", FUNCTION, [x, y], [RESULT])
    other = tmp_path / "text.so"
    other.write_text("this is no library")
    with pytest.raises(ttnn.Error, match="native code cannot be loaded"):
        ttnn.host_call(other, FUNCTION, [x, y], [RESULT])
    (tmp_path / "empty.so").write_bytes(b"")
    with pytest.raises(ttnn.Error, match=r"empty.so.* cannot be read"):
        ttnn.host_call(tmp_path / "empty.so", FUNCTION, [x, y], [RESULT])
    with pytest.raises(ttnn.OpError, match='has no function "another"'):
        ttnn.host_call(library, "another", [x, y], [RESULT])
    with pytest.raises(ttnn.OpError, match="is for 24, 24, 24 bytes of operands and results, and is given 24, 24;"):
        ttnn.host_call(library, FUNCTION, [x], [RESULT])
    with pytest.raises(ttnn.OpError, match="is given 24, 24, 48;"):
        ttnn.host_call(library, FUNCTION, [x, y], [ttnn.HostResult([4, 3], ttnn.float32)])
    with pytest.raises(ttnn.DeviceError, match=r"results\[0\] lies on a device, and no device was given"):
        ttnn.host_call(library, FUNCTION, [placed(X), placed(Y)], [RESULT])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, "f", [], []), "host_call: library is 3 of type int; expected a path"),
        (("a", 3, [], []), "host_call: function is 3 of type int; expected a name"),
        (("a", "f", 3, []), "host_call: tensors is 3 of type int; expected a list of tensors"),
        (("a", "f", [], 3), "host_call: results is 3 of type int; expected a list of HostResult"),
        (("a", "f", [], [3]), r"host_call: results\[0\] is 3 of type int; expected a HostResult"),
        (("a", "f", [], [], "cpu"), "host_call: device is 'cpu' of type str; expected an open device"),
    ],
)
def test_wrong_arguments_are_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ttnn.host_call(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-1], ttnn.float32), r"HostResult: shape is \[-1\] of type list; expected a list of sizes"),
        ((3, ttnn.float32), "HostResult: shape is 3 of type int; expected a list of sizes"),
        (([1], "f32"), "HostResult: dtype is 'f32' of type str; expected a ttnn.DataType"),
        (([1], ttnn.float32, 3), "HostResult: layout is 3 of type int; expected a ttnn.Layout"),
    ],
)
def test_wrong_results_are_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ttnn.HostResult(*arguments)
