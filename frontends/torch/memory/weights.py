# SPDX-License-Identifier: Apache-2.0
"""Weights that a program received, and whether they are unchanged: all of them are checked at once."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from _ttmlir_runtime.utils import HostSamples

import torch

# Elements of a weight that are compared at each call when not all are: the first, and others at equal distances.
SAMPLES = 16

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def samples_of(tensor: torch.Tensor) -> Bytes:
    """Returns the bytes of SAMPLES elements, current whenever the array is read.

    The memory is PyTorch's and is not kept alive: the array is to be read while `tensor` is there.
    """
    if not tensor.is_contiguous() or tensor.numel() == 0:
        return np.empty(0, np.uint8)
    width, count = tensor.element_size(), min(tensor.numel(), SAMPLES)
    step = (tensor.numel() - 1) // (count - 1) * width if count > 1 else width
    memory = memoryview((ctypes.c_char * tensor.nbytes).from_address(tensor.data_ptr()))
    return np.ndarray((count, width), np.uint8, memory, strides=(step, 1))


def version_of(tensor: torch.Tensor) -> int:
    """Returns how often the tensor was written, as PyTorch counts it; it does not count for inference tensors."""
    return 0 if tensor.is_inference() else tensor._version


@dataclass
class Resident:
    """A weight as the program has it, and which state of which tensor it is.

    storage: of the tensor. Another one may come to have its address.
    copy: the values that were sent, where they are to be compared.
    samples, known: some values, and what they were when the weight was sent.
    """

    tensor: weakref.ref[torch.Tensor]
    storage: weakref.ref[torch.UntypedStorage]
    address: int
    version: int
    value: Any
    copy: torch.Tensor | None = None
    samples: Bytes | None = None
    known: bytes = b""

    def is_of(self, tensor: torch.Tensor) -> bool:
        """Returns whether `tensor` is the weight, and its values are those that the program has."""
        same = (
            self.tensor() is tensor
            and self.storage() is tensor.untyped_storage()
            and self.version == version_of(tensor)
            and self.address == tensor.data_ptr()
        )
        return (
            same
            and (self.samples is None or self.samples.tobytes() == self.known)
            and (self.copy is None or torch.equal(self.copy, tensor))
        )


class Together:
    """The check of `Resident.is_of` for all weights at once: as many comparisons in a fifth of the time.

    inputs: of the program, with the weights as it has them, and None for all else.
    """

    def __init__(self, weights: Sequence[Resident], tensors: Sequence[torch.Tensor], inputs: Sequence[Any]) -> None:
        self.inputs = inputs
        # A tensor or storage that is gone may have its address taken by another. No cycle: values go with the program.
        self.gone: list[object] = []
        self.held = [
            weakref.ref(known, self.gone.append) for tensor in tensors for known in (tensor, tensor.untyped_storage())
        ]
        self.ids = list(map(id, tensors))
        self.addresses = [weight.address for weight in weights]
        self.all_addresses = frozenset(self.addresses)
        self.versions = [weight.version for weight in weights]
        inference = any(tensor.is_inference() for tensor in tensors)
        self.version_of: Callable[[Any], int] = version_of if inference else attrgetter("_version")
        self.samples = HostSamples([x for x in (weight.samples for weight in weights) if x is not None and x.size])
        # Values are compared that were sent, not those of now.
        self.suits = all(weight.copy is None for weight in weights) and all(
            weight.samples is None or weight.samples.tobytes() == weight.known for weight in weights
        )

    def are(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Returns whether the weights are these tensors, with the values that the program has."""
        return (
            not self.gone
            and self.suits
            and list(map(id, tensors)) == self.ids
            and list(map(self.version_of, tensors)) == self.versions
            and list(map(torch.Tensor.data_ptr, tensors)) == self.addresses
            and self.samples.are_unchanged()
        )
