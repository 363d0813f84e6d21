# SPDX-License-Identifier: Apache-2.0
"""Tensor files of the library: recorded ones, ours, and damaged ones. exchange_files.py records and exchanges them."""

from __future__ import annotations

import base64
import random
import struct
import zlib
from pathlib import Path

import exchange_files
import pytest
import torch
import ttnn

RECORDED = {
    name: zlib.decompress(base64.b64decode(data))
    for name, data in (line.split() for line in Path(__file__).with_name("tensor_files.txt").read_text().splitlines())
}
DESCRIBED = {file: (dtype, layout, shape) for file, dtype, layout, shape in exchange_files.names()}


def body(data: bytes) -> bytes:
    return data[8 + struct.unpack_from("<Q", data)[0] :]


def values(file: str) -> torch.Tensor:
    _, _, shape = DESCRIBED[file]
    return torch.tensor(exchange_files.numbers(shape), dtype=torch.float32).reshape(shape)


def test_all_types_are_recorded() -> None:
    assert {DESCRIBED[file][:2] for file in RECORDED} == {found[:2] for found in DESCRIBED.values()}


@pytest.mark.parametrize("file", RECORDED)
def test_recorded_files(file: str, tmp_path: Path) -> None:
    dtype, layout, shape = DESCRIBED[file]
    (tmp_path / file).write_bytes(RECORDED[file])
    read = ttnn.load_tensor(tmp_path / file)
    # The library's INT8 is absent here.
    kind = ttnn.int32 if dtype == "int8" else getattr(ttnn, dtype)
    assert (read.dtype, read.layout.name, read.shape, read.is_constant) == (kind, layout, shape, True)
    expected = ttnn.from_torch(values(file), kind, layout=read.layout)
    assert torch.equal(ttnn.to_torch(read).double(), ttnn.to_torch(expected).double())
    if dtype != "int8":
        ttnn.dump_tensor(tmp_path / "ours.tensorbin", read)
        ours = (tmp_path / "ours.tensorbin").read_bytes()
        assert body(ours) == body(RECORDED[file])
        assert (len(ours) - len(body(ours))) % 64 == 0


def test_numbers_of_int8(tmp_path: Path) -> None:
    data = RECORDED["int8-ROW_MAJOR-3x5.tensorbin"]
    (tmp_path / "x.tensorbin").write_bytes(data[: len(data) - 2] + b"\x80\xff")
    assert ttnn.load_tensor(tmp_path / "x.tensorbin").to_list()[2][3:] == [-128, -1]


@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT], ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (33, 65), (2, 1, 3, 40, 70)], ids=str)
def test_round_trip(shape: tuple[int, ...], layout: ttnn.Layout, tmp_path: Path) -> None:
    for dtype in [*exchange_files.DTYPES.split()[:-1], "float16", "bool", "bfloat2_b", "float8_b"]:
        kind = getattr(ttnn, dtype)
        if dtype.endswith("_b") and layout is ttnn.ROW_MAJOR_LAYOUT:
            continue
        tensor = ttnn.from_torch((torch.rand(shape) * 2).round(), kind, layout=layout)
        ttnn.dump_tensor(tmp_path / "x.tensorbin", tensor)
        read = ttnn.load_tensor(tmp_path / "x.tensorbin")
        assert (read.dtype, read.layout, read.shape) == (kind, layout, shape)
        assert torch.equal(ttnn.to_torch(read), ttnn.to_torch(tensor))


def test_a_tensor_of_a_mesh(tmp_path: Path) -> None:
    rows = torch.arange(4 * 33 * 5.0).reshape(4 * 33, 5)
    with ttnn.create_mesh_device((2, 2)) as mesh:
        parts = ttnn.from_torch(rows, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
        ttnn.dump_tensor(tmp_path / "x.tensorbin", parts)
        read = ttnn.load_tensor(tmp_path / "x.tensorbin", device=mesh)
        assert torch.equal(ttnn.to_torch(read, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0)), rows)


def refused(path: Path, data: bytes) -> str:
    """Returns the error of a damaged file; empty where it can be read."""
    path.write_bytes(data)
    try:
        ttnn.to_torch(ttnn.load_tensor(path))
    except ttnn.Error as error:
        assert str(error).startswith(str(path))
        return str(error).removeprefix(str(path))
    return ""


def changed(data: bytes, found: bytes, other: bytes) -> bytes:
    assert data.count(found) == 1
    return data.replace(found, other)


def test_damaged_files(tmp_path: Path) -> None:
    path, whole = tmp_path / "x.tensorbin", RECORDED["float32-TILE-3x5.tensorbin"]
    head = struct.unpack_from("<Q", whole)[0]
    span = struct.pack("<QQ", 0, 4096)
    for data, expected in [
        (b"short", ": is no tensor file, or damaged: its first 8 bytes give a head of 0 bytes in a file of 5"),
        (b"no tensor at all, but text", ": is no tensor file, or damaged: its first 8 bytes give a head of "),
        (struct.pack("<Q", 1 << 40) + whole[8:], f"a head of {1 << 40} bytes in a file of {len(whole)}"),
        (whole[:100], f"a head of {head} bytes in a file of 100"),
        (whole[:8] + bytes(head) + whole[8 + head :], "the FlatBuffers verifier refuses its head"),
        (whole[:-1], "shards[0] ends behind the file, which has 4095 bytes of data; expected 4096 bytes from 0"),
        (changed(whole, span, struct.pack("<QQ", 64, 4096)), "expected 4096 bytes from 64"),
        (changed(whole, span, struct.pack("<QQ", 1 << 63, 4096)), f"expected 4096 bytes from {1 << 63}"),
        (changed(whole, span, struct.pack("<QQ", 0, 4095)), "shards[0] has 4095 bytes; expected 4096 of shape [3, 5]"),
        (changed(whole, struct.pack("<III", 2, 3, 5), struct.pack("<III", 2, 3, 1 << 31)), "shape"),
    ]:
        assert expected in refused(path, data), expected


@pytest.mark.parametrize("file", ["float32-TILE-3x5.tensorbin", "bfloat16-ROW_MAJOR-3x5.tensorbin"])
def test_random_damage(file: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """Files with changed, missing or added bytes are read or refused with their name, whatever they hold."""
    seed = pytestconfig.getoption("--seed")
    draw, whole = random.Random(seed), RECORDED[file]
    head = 8 + struct.unpack_from("<Q", whole)[0]
    outcomes = {"read": 0, "refused": 0}
    for _ in range(2000):
        data = bytearray(whole)
        kind = draw.randrange(4)
        if kind == 0:
            del data[draw.randrange(len(data)) :]
        elif kind == 1:
            at = draw.randrange(head)
            data[at : at + draw.randrange(8)] = draw.randbytes(draw.randrange(8))
        else:
            for _ in range(draw.randrange(1, 5)):
                data[draw.randrange(head)] = draw.choice([0, 1, 2, 0x7F, 0x80, 0xFF, draw.randrange(256)])
        outcomes["refused" if refused(tmp_path / "x.tensorbin", bytes(data)) else "read"] += 1
    assert min(outcomes.values()) > 20, outcomes
