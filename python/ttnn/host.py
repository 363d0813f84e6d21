# SPDX-License-Identifier: Apache-2.0
"""Functions of the host, as emitted programs bring them along for what the chip lacks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from .arguments import check_device, check_tensors, described
from .constants import DRAM_MEMORY_CONFIG, TILE_LAYOUT


@dataclass(frozen=True)
class HostResult:
    """A tensor that a function of the host gives: on a device, or in the host's memory.

    shape: sizes, on a mesh those of one chip.
    """

    shape: Sequence[int]
    dtype: DataType
    layout: Layout = TILE_LAYOUT
    memory_config: MemoryConfig = DRAM_MEMORY_CONFIG

    def __post_init__(self) -> None:
        sizes = self.shape if isinstance(self.shape, Sequence) and not isinstance(self.shape, str) else None
        if sizes is None or not all(type(size) is int and size >= 0 for size in sizes):
            raise TypeError(f"HostResult: shape is {described(self.shape)}; expected a list of sizes")
        for name, expected in (("dtype", DataType), ("layout", Layout), ("memory_config", MemoryConfig)):
            if not isinstance(getattr(self, name), expected):
                raise TypeError(
                    f"HostResult: {name} is {described(getattr(self, name))}; expected a ttnn.{expected.__name__}"
                )


def host_call(
    library: str | os.PathLike[str],
    function: str,
    tensors: Sequence[Tensor],
    results: Sequence[HostResult],
    device: Device | None = None,
) -> Any:
    """Calls a function of a library of machine code, once for each chip that has values of its own.

    Args:
        library: its file, which a compiled program brought along. It can do whatever this process may.
        function: its name there.
        tensors: its operands.
        results: what it gives.
        device: where results lie, if no tensor says it.
    Returns:
        The result, or a tuple of several.
    Raises:
        TypeError: an argument is something else; names it.
        Error, OpError: the file is no such library, has no such function, or one for tensors of other sizes.
    """
    if not isinstance(library, (str, os.PathLike)):
        raise TypeError(f"host_call: library is {described(library)}; expected a path")
    if not isinstance(function, str):
        raise TypeError(f"host_call: function is {described(function)}; expected a name")
    given = check_tensors("host_call", "tensors", tensors)
    if isinstance(results, str) or not isinstance(results, Sequence):
        raise TypeError(f"host_call: results is {described(results)}; expected a list of HostResult")
    for index, result in enumerate(results):
        if not isinstance(result, HostResult):
            raise TypeError(f"host_call: results[{index}] is {described(result)}; expected a HostResult")
    check_device("host_call", device)
    expected = [(list(each.shape), each.dtype, each.layout, each.memory_config) for each in results]
    created = _native.host_call(os.fspath(library), function, given, expected, device)
    return created[0] if len(created) == 1 else tuple(created)
