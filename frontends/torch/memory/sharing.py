# SPDX-License-Identifier: Apache-2.0
"""Graphs that depend on the memory of arguments: its sharing is part of the key of a program.

Dynamo guards shapes, strides and types of arguments, and whether two are one tensor, but not whether their memory
overlaps, nor where in it they begin. A program of values alone is right for the way in which the arguments had memory
when it was made, so graphs that write to an argument look at which share it at each call, and those with views by
strides at where they begin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ..strided import memory

Program: TypeAlias = Callable[..., Any]
# How arguments share memory: () where they do not, else what says which elements of them are the same.
Pattern: TypeAlias = tuple[Any, ...]
PLAIN = {torch.Tensor, torch.nn.Parameter}


def span(tensor: torch.Tensor) -> tuple[int, int]:
    """Returns the addresses of a tensor's first element and of the end of its last one; the tensor is not empty."""
    first = tensor.data_ptr()
    if tensor.is_contiguous():
        return first, first + tensor.nbytes
    last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    return first, first + (last + 1) * tensor.element_size()


def overlapping(arguments: Sequence[Any]) -> list[tuple[int, int]]:
    """Returns pairs of numbers of arguments whose memory overlaps: each that overlaps an earlier address is in one."""
    spans = []
    for number, x in enumerate(arguments):
        is_plain = type(x) in PLAIN or (isinstance(x, torch.Tensor) and has_memory(x))
        if is_plain and x.layout is torch.strided and (nbytes := x.nbytes):
            first = x.data_ptr()
            spans.append((first, first + nbytes, number) if x.is_contiguous() else (*span(x), number))
    spans.sort()
    end, owner, found = 0, -1, []
    for first, last, number in spans:
        if first < end:
            found.append((owner, number))
        if last > end:
            end, owner = last, number
    return found


def of_one_storage(arguments: Sequence[Any]) -> bool:
    """Returns whether PyTorch knows all memory that arguments share: not that of two tensors over one array of
    NumPy."""
    return all(memory(arguments[first]) == memory(arguments[second]) for first, second in overlapping(arguments))


def has_memory(tensor: torch.Tensor) -> bool:
    if type(tensor) not in PLAIN and (isinstance(tensor, FakeTensor) or is_traceable_wrapper_subclass(tensor)):
        return False
    return tensor.layout is torch.strided and tensor.numel() > 0


def geometry(tensor: torch.Tensor | None) -> Pattern:
    return () if tensor is None else (tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset())


def pattern_of(arguments: Sequence[Any]) -> Pattern:
    """Returns how arguments share memory.

    Tensors of a storage with overlapping parts are distinguished by their place in it, and by the tensor that they are
    views of, from which PyTorch makes them again.
    """
    pairs = overlapping(arguments)
    if not pairs:
        return ()
    storages = {memory(arguments[number]) for pair in pairs for number in pair}
    places: dict[int, int] = {}  # of storages and of viewed tensors, by the first argument that has them
    found = []
    for number, tensor in enumerate(arguments):
        if isinstance(tensor, torch.Tensor) and has_memory(tensor) and memory(tensor) in storages:
            base = tensor._base
            storage = places.setdefault(memory(tensor), number)
            viewed = places.setdefault(id(tensor if base is None else base), number)
            size = tensor.untyped_storage().nbytes()
            found.append((number, storage, viewed, size, geometry(tensor), geometry(base)))
    return tuple(found)


def places_of(arguments: Sequence[Any]) -> Pattern:
    """Returns the offsets of arguments in their memory: strided views depend on them."""
    return tuple(
        (x.storage_offset(), x.untyped_storage().nbytes()) if isinstance(x, torch.Tensor) and has_memory(x) else ()
        for x in arguments
    )


class Sharing:
    """A graph that depends on the memory of arguments: a program for each way in which they have it.

    patterns: say which way that is. programs: those of ways other than that which the graph was compiled for.
    """

    def __init__(
        self,
        patterns: Sequence[Callable[[Sequence[Any]], Pattern]],
        inputs: Sequence[Any],
        program: Program,
        recompile: Callable[[Sequence[Any]], Program],
    ) -> None:
        self.patterns, self.program, self.recompile = patterns, program, recompile
        self.pattern = self.pattern_of(inputs)
        self.programs: dict[Pattern, Program] = {}

    def pattern_of(self, arguments: Sequence[Any]) -> Pattern:
        return tuple(pattern(arguments) for pattern in self.patterns)

    def __call__(self, *arguments: Any) -> Any:
        pattern = self.pattern_of(arguments)
        if pattern == self.pattern:
            return self.program(*arguments)
        sizes = tuple((x.shape, x.stride()) if isinstance(x, torch.Tensor) else x for x in arguments)
        program = self.programs.get((pattern, sizes))
        if program is None:
            program = self.programs[pattern, sizes] = self.recompile(arguments)
        return program(*arguments)
