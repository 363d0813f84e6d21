# SPDX-License-Identifier: Apache-2.0
"""Goldens of ops that make tensors from attributes."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .op import Op, TensorSpec

# Words of random bits are computed in 64 bits.
WORD = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)

Words = Sequence[np.ndarray]


def full(*device: Any, out: TensorSpec, fill_value: float = 0.0) -> Tensor:
    return torch.full(out.shape, fill_value, dtype=out.dtype)


def filled(value: float) -> Callable[..., Tensor]:
    return lambda *device, out: torch.full(out.shape, value, dtype=out.dtype)


def arange(*device: Any, out: TensorSpec, start: int, end: int, step: int, arange_dimension: int = 0) -> Tensor:
    # torch.arange has no unsigned integers.
    unsigned = out.dtype in (torch.uint16, torch.uint32)
    values = torch.arange(start, end, step, dtype=torch.int64 if unsigned else out.dtype).to(out.dtype)
    return values.reshape([-1 if d == arange_dimension else 1 for d in range(len(out.shape))]).expand(out.shape)


def iota(*shape: Any, out: TensorSpec, iota_dimension: int) -> Tensor:
    return arange(out=out, start=0, end=out.shape[iota_dimension], step=1, arange_dimension=iota_dimension)


def constant(*device: Any, out: TensorSpec, value: Any) -> Tensor:
    """Returns `value` is a tensor, or a number that fills the result."""
    if isinstance(value, Tensor):
        return value.to(out.dtype).reshape(out.shape)
    return torch.full(out.shape, value, dtype=out.dtype)


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


def shifted(bits: Tensor, places: int) -> Tensor:
    """Returns unsigned shift to the right of int64."""
    return (bits >> places) & ((1 << (64 - places)) - 1)


def random_bits(shape: Sequence[int], seed: int) -> Tensor:
    """Returns 64 bits an element, those of the device: SplitMix64 (Steele, Lea, Flood 2014) at the element's place,
    int64."""

    def wrapped(value: int) -> int:
        return (value + 2**63) % 2**64 - 2**63

    element = torch.arange(1, math.prod(shape) + 1).reshape(tuple(shape))
    z = element * wrapped(0x9E3779B97F4A7C15) + wrapped((seed + 1) * 0xD1342543DE82EF95)
    z = (z ^ shifted(z, 30)) * wrapped(0xBF58476D1CE4E5B9)
    z = (z ^ shifted(z, 27)) * wrapped(0x94D049BB133111EB)
    return z ^ shifted(z, 31)


def rand(*device: Any, out: TensorSpec, low: float = 0.0, high: float = 1.0, seed: int = 0) -> Tensor:
    """Returns uniform in [low, high): 24 random bits an element, as the device draws them."""
    unit = shifted(random_bits(out.shape, seed), 40).float() * 2.0**-24
    return (low + (torch.tensor(high) - low) * unit).to(out.dtype)


def sampling(
    values: Tensor, indices: Tensor, k: Tensor, p: Tensor, temp: Tensor, seed: int = 0, *, out: TensorSpec
) -> Tensor:
    """Draws, of each user's candidates, one of the k likeliest that it takes to reach p, by the bits that the device
    draws."""
    ranked, order = (
        (values.double() * temp.reshape(-1, 1)).reshape(-1, values.shape[-1]).sort(descending=True, stable=True)
    )
    chances = torch.softmax(ranked, dim=-1)
    before = chances.cumsum(dim=-1) - chances
    place = torch.arange(chances.shape[-1])
    kept = (place < k.reshape(-1, 1)) & ((before < p.reshape(-1, 1).double()) | (place == 0))
    sums = (chances * kept).cumsum(dim=-1)
    users = ranked.shape[0]
    random = shifted(random_bits([users], seed), 11).double() * 2.0**-53
    which = (sums <= random[:, None] * sums[:, -1:]).sum(dim=-1).clamp(max=kept.sum(dim=-1) - 1)
    chosen = order.gather(1, which[:, None])
    return indices.reshape(users, -1).gather(1, chosen).reshape(out.shape)


def product(x: np.ndarray, factor: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns upper and lower word of the products of words."""
    whole = x * np.uint64(factor)
    return whole >> HALF, whole & WORD


def philox(x: Words, key: Words) -> list[np.ndarray]:
    """Returns Philox4x32-10 of J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011)."""
    (a, b, c, d), (k, m) = x, key
    for _ in range(10):
        (high0, low0), (high1, low1) = product(a, 0xD2511F53), product(c, 0xCD9E8D57)
        a, b, c, d = high1 ^ b ^ k, low1, high0 ^ d ^ m, low0
        k, m = (k + np.uint64(0x9E3779B9)) & WORD, (m + np.uint64(0xBB67AE85)) & WORD
    return [a, b, c, d]


def threefry(x: Words, key: Words) -> list[np.ndarray]:
    """Returns Threefry-2x32-20 of the same paper; a key is added before the rounds and after every four of them."""
    (a, b), (k, m) = x, key
    schedule = [k, m, k ^ m ^ np.uint64(0x1BD11BDA)]
    for step in range(20):
        if step % 4 == 0:
            a, b = injected(a, b, schedule, step // 4)
        turn = np.uint64((13, 15, 26, 6, 17, 29, 16, 24)[step % 8])
        a = (a + b) & WORD
        b = (b << turn | b >> (HALF - turn)) & WORD ^ a
    return list(injected(a, b, schedule, 5))


def injected(a: np.ndarray, b: np.ndarray, schedule: Words, turn: int) -> tuple[np.ndarray, np.ndarray]:
    return (a + schedule[turn % 3]) & WORD, (b + schedule[(turn + 1) % 3] + np.uint64(turn)) & WORD


def rng_bit_generator(state: Tensor, *, rng_algorithm: str = "DEFAULT", out: list[TensorSpec]) -> list[Tensor]:
    """Returns the state (key, counter, maybe its upper half) with the counter after the blocks that were used, and the
    bits.

    A block of the cipher gives words of 32 bits; an element of 64 bits is two of them, the lower first. Philox's words
    are the elements in order; it counts in 128 bits, and the upper half of a state of two numbers begins as the key.
    Those of Threefry lie side by side in one dimension: the first of even size, or else the largest.
    """
    if state.shape != (2,) and (state.shape != (3,) or rng_algorithm == "THREE_FRY"):
        raise ValueError(f"the state has shape {list(state.shape)}; expected a key and a counter of 64 bits")
    key, counter, *more = (np.uint64(int(n) % 2**64) for n in state)
    shape, bits = out[1].shape, 8 * torch.empty(0, dtype=out[1].dtype).element_size()
    keys = [np.asarray([key & WORD]), np.asarray([key >> HALF])]
    words = list(shape) + [2] * (bits == 64)
    if rng_algorithm == "THREE_FRY":
        split = len(words) - 1
        if bits < 64 and shape:
            even = [d for d, size in enumerate(shape) if size % 2 == 0]
            split = even[0] if even else shape.index(max(shape))
        blocks = [-(-size // 2) if d == split else size for d, size in enumerate(words)]
        result = threefry(counted(counter, math.prod(blocks)), keys)
        paired = np.stack([w.reshape(blocks) for w in result], axis=split + 1)
        merged = paired.reshape([2 * n if d == split else n for d, n in enumerate(blocks)] if words else [2])
        found = merged.take(range(words[split]), axis=split) if words else merged[0]
        count = math.prod(blocks)
    else:
        count = -(-math.prod(words) // 4)
        upper = (more[0] if more else key) + (counter + np.arange(count, dtype=np.uint64) < counter)
        result = philox([*counted(counter, count), upper & WORD, upper >> HALF], keys)
        found = np.stack(result, axis=1).reshape(-1)[: math.prod(words)].reshape(words)
    if bits == 64:
        found = found[..., 0] | found[..., 1] << HALF
    after = [key, counter + np.uint64(count), *(n + (counter + np.uint64(count) < counter) for n in more)]
    return [torch.from_numpy(np.asarray(after).view(np.int64)), whole(found, bits).reshape(shape)]


def counted(counter: np.uint64, count: int) -> list[np.ndarray]:
    """Returns the words of as many counters, lower first."""
    counters = counter + np.arange(count, dtype=np.uint64)
    return [counters & WORD, counters >> HALF]


def whole(words: np.ndarray, bits: int) -> Tensor:
    """Returns the lowest bits of words as numbers without a sign; of 64 bits, with the sign that their bits say."""
    cut = words if bits == 64 else words & np.uint64((1 << bits) - 1)
    return torch.from_numpy(np.asarray(cut, np.uint64).view(np.int64))


CREATION = {
    "zeros": Op(filled(0), aten="zeros"),
    "ones": Op(filled(1), aten="ones"),
    "empty": Op(filled(0), aten="empty.memory_format"),
    "full": Op(full, aten="full"),
    "arange": Op(arange, aten="arange.start_step"),
    "iota": Op(iota),
    "dynamic_iota": Op(iota),
    "constant": Op(constant),
    "load_tensor": Op(load_tensor),
    "stablehlo.rng_bit_generator": Op(rng_bit_generator),
    "rand": Op(rand, aten="rand"),
    "sampling": Op(sampling),
}
