# SPDX-License-Identifier: Apache-2.0
"""Tensors that stay on the device between calls.

What a program returns is a PyTorch tensor over the memory of the device's tensor. As long as PyTorch has that memory,
the device's tensor is kept, and a later call that is given it takes the device's: a key-value cache goes from call to
call without a transfer. What PyTorch writes to it is seen, for the memory is one.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from functools import partial
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

import torch

# Bytes of results that are kept on the device; the oldest are given up first. A chip has 12 GB.
MOST_BYTES = 2 << 30


class Entry(NamedTuple):
    """storage: PyTorch's, whose memory `value` has. shared: what ops write in place to `value` is written there."""

    storage: weakref.ref[torch.UntypedStorage]
    shape: torch.Size
    dtype: torch.dtype
    nbytes: int
    value: Any
    device: Any
    shared: bool


class Residence:
    """Tensors of the device by the memory that they share with PyTorch's."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.entries: dict[int, Entry] = {}
        self.most_bytes, self.nbytes = most_bytes, 0

    def keep(self, tensor: torch.Tensor, value: Any, device: Any, shared: bool = False) -> None:
        """Keeps a tensor on the chip. tensor: contiguous, of the memory of `value`."""
        self.keep_all([tensor], [value], device, shared)

    def keep_all(self, tensors: Sequence[torch.Tensor], values: Sequence[Any], device: Any, shared: bool) -> None:
        """Keeps tensors that share no memory with each other. A model returns its whole cache with every token: one
        call does for all tensors what `keep` does for one.
        """
        addresses = [*map(torch.Tensor.data_ptr, tensors)]
        for address in self.entries.keys() & {*addresses}:
            self.drop(address)
        storages = map(torch.Tensor.untyped_storage, tensors)
        references = map(weakref.ref, storages, map(partial, repeat(self.drop), addresses))
        nbytes = [*map(attrgetter("nbytes"), tensors)]
        forms = (map(attrgetter(name), tensors) for name in ("shape", "dtype"))
        rows = zip(references, *forms, nbytes, values, repeat(device), repeat(shared), strict=False)
        self.entries.update(zip(addresses, map(Entry._make, rows), strict=True))
        self.nbytes += sum(nbytes)
        while self.nbytes > self.most_bytes:
            self.drop(next(iter(self.entries)))

    def drop(self, address: int, _storage: object = None) -> None:
        entry = self.entries.pop(address, None)
        if entry is not None:
            self.nbytes -= entry.nbytes

    def find(self, tensor: torch.Tensor, device: Any, shared: bool = False) -> Any | None:
        """Returns the device's tensor for the memory, shape and dtype of `tensor`, if it exists.

        shared: only one that ops may write in place.
        """
        entry = self.entries.get(tensor.data_ptr())
        if entry is None or entry.device is not device or entry.shared < shared or not tensor.is_contiguous():
            return None
        same = tensor.shape == entry.shape and tensor.dtype is entry.dtype
        if not same or entry.storage() is not tensor.untyped_storage() or not entry.value.is_allocated():
            return None
        return entry.value


kept = Residence()


def storage_users(tensor: torch.Tensor) -> tuple[int, int]:
    """Returns how often the tensor's memory is used by PyTorch and by Python, with this function itself."""
    storage = tensor.untyped_storage()
    return torch._C._storage_Use_Count(storage._cdata), sys.getrefcount(storage)


# What a tensor counts that is the only user of its memory: it depends on the version of PyTorch.
ALONE = storage_users(torch.zeros(1))


def is_sole_user(tensor: torch.Tensor) -> bool:
    """Returns whether nothing but `tensor` uses its memory: no view, no tensor that autograd saved, no storage in
    Python."""
    return all(count <= alone for count, alone in zip(storage_users(tensor), ALONE, strict=True))
