# SPDX-License-Identifier: Apache-2.0
"""Tensors in files, read without the runtime."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

# Data types of tensor.fbs, by their numbers; block formats are kept as the bf16 values that they stand for.
_STORED = {0: torch.float32, 1: torch.float16, 9: torch.uint32, 10: torch.uint16, 11: torch.uint8, 12: torch.int32}
_STORED |= {13: torch.bool} | dict.fromkeys((2, 3, 4, 5, 6, 7, 8), torch.bfloat16)
# Those of tensorbin.fbs. Blocks: the bits of an element.
_PLAIN = {0: torch.bfloat16, 1: torch.float32, 2: torch.uint32, 5: torch.uint8, 6: torch.uint16, 7: torch.int32}
_BLOCKS = {3: 8, 4: 4}
_FACE = 16
_TILE = 32


class Table:
    """A table of a flatbuffer: fields by their index."""

    def __init__(self, data: bytes, at: int):
        self.data, self.at = data, at

    def _number(self, at: int, form: str) -> int:
        return int(struct.unpack_from("<" + form, self.data, at)[0])

    def _field(self, index: int) -> int:
        entries = self.at - self._number(self.at, "i")
        present = 4 + 2 * index < self._number(entries, "H")
        offset = self._number(entries + 4 + 2 * index, "H") if present else 0
        return self.at + offset if offset else 0

    def number(self, index: int, form: str) -> int:
        """Returns a number; 0 where it is left out."""
        at = self._field(index)
        return self._number(at, form) if at else 0

    def target(self, index: int) -> int:
        """Returns the place that an offset names; 0 where it is left out."""
        at = self._field(index)
        return at + self._number(at, "I") if at else 0

    def table(self, index: int) -> Table:
        return Table(self.data, self.target(index))

    def numbers(self, index: int, form: str) -> tuple[int, ...]:
        at = self.target(index)
        return struct.unpack_from(f"<{self._number(at, 'I')}{form}", self.data, at + 4) if at else ()

    def bytes(self, index: int) -> bytes:
        at = self.target(index)
        return self.data[at + 4 : at + 4 + self._number(at, "I")] if at else b""

    def tables(self, index: int) -> list[Table]:
        at = self.target(index)
        places = range(at + 4, at + 4 + 4 * self._number(at, "I"), 4) if at else ()
        return [Table(self.data, place + self._number(place, "I")) for place in places]


def load_tensor(*device: Any, file_path: str) -> Tensor:
    """Returns the tensor of a file with one shard.

    A file is one of include/ttmlir/Target/TTNN/tensor.fbs behind its length, or of tensorbin.fbs, as Tenstorrent's
    library writes it: the length of the table, the table, and the data.
    """
    data = Path(file_path).read_bytes()
    own = data[8:12] == b"TTSR"
    head = 4 if own else 8
    root = Table(data, head + struct.unpack_from("<I", data, head)[0])
    shards = root.tables(5 if own else 2)
    if len(shards) != 1:
        raise ValueError(f"{file_path} holds {len(shards)} shards; expected one")
    if own:
        return _plain(shards[0].bytes(0), _STORED[root.number(2, "B")], root.numbers(1, "q"))
    described = root.table(0)
    layout = described.table(1)
    offset, size = struct.unpack_from("<QQ", data, shards[0].target(1))
    begin = head + struct.unpack_from("<Q", data)[0] + offset
    values, shape, kind = data[begin : begin + size], described.numbers(0, "I"), layout.number(0, "B")
    if layout.number(1, "B") == 1:
        return _plain(values, _PLAIN[kind], shape)
    return _tiled(values, kind, shape)


def _plain(values: bytes, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
    return (
        torch.frombuffer(bytearray(values), dtype=dtype).reshape(shape) if values else torch.empty(shape, dtype=dtype)
    )


def _tiled(values: bytes, kind: int, shape: tuple[int, ...]) -> Tensor:
    """Puts the elements of tiles, each of four faces, in rows; padding is dropped."""
    *batches, height, width = (1,) * (2 - len(shape)) + tuple(shape)
    count, rows, columns = math.prod(batches), -(-height // _TILE), -(-width // _TILE)
    dtype = torch.bfloat16 if kind in _BLOCKS else _PLAIN[kind]
    if not count * rows * columns:
        return torch.empty(shape, dtype=dtype)
    elements = _blocks(values, _BLOCKS[kind]) if kind in _BLOCKS else _plain(values, dtype, (-1,))
    faces = elements.reshape(count, rows, columns, 2, 2, _FACE, _FACE)
    whole = faces.permute(0, 1, 3, 5, 2, 4, 6).reshape(count, rows * _TILE, columns * _TILE)
    return whole[:, :height, :width].reshape(shape).contiguous()


def _blocks(values: bytes, bits: int) -> Tensor:
    """Returns the bf16 numbers of tiles: 64 exponents, then the elements, of which the first has the lowest bits."""
    groups = _TILE * _TILE // _FACE
    tiles = torch.frombuffer(bytearray(values), dtype=torch.uint8).reshape(-1, groups + _TILE * _TILE * bits // 8).int()
    exponents, packed = tiles[:, :groups], tiles[:, groups:]
    shifts = torch.arange(0, 8, bits, dtype=torch.int32)
    elements = (packed[..., None] >> shifts) & ((1 << bits) - 1)
    elements = elements.reshape(-1, groups, _FACE)
    magnitudes, signs = elements & ((1 << (bits - 1)) - 1), 1 - 2 * (elements >> (bits - 1))
    return torch.ldexp((magnitudes * signs).double(), exponents[..., None] - 127 - (bits - 2)).to(torch.bfloat16)
