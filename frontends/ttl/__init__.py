# SPDX-License-Identifier: Apache-2.0
"""Runs programs of TT-Lang, Tenstorrent's kernel language in Python, on the simulated cores.

@ttl.operation(grid="full")
def add(a: ttnn.Tensor, b: ttnn.Tensor, out: ttnn.Tensor) -> None:
    ...  # dataflow buffers, and three kernels: @ttl.compute() and @ttl.datamovement() twice

add(a, b, out)
"""

from types import SimpleNamespace
from typing import Any

from .buffers import TILE_SHAPE, DataflowBuffer, make_dataflow_buffer_like
from .building import grid_size, node
from .errors import BlockError, DefinitionError, KernelError, ShapeError, TTLError, UnsupportedError
from .kernel.functions import BLOCK, MATH
from .language import GroupTransfer, copy, signpost
from .operation import Operation, Program, compute, datamovement, operation
from .pipes import Pipe, PipeNet

math: Any = SimpleNamespace(**MATH)
block: Any = SimpleNamespace(**BLOCK)

__all__ = [
    "TILE_SHAPE",
    "BlockError",
    "DataflowBuffer",
    "DefinitionError",
    "GroupTransfer",
    "KernelError",
    "Operation",
    "Pipe",
    "PipeNet",
    "Program",
    "ShapeError",
    "TTLError",
    "UnsupportedError",
    "block",
    "compute",
    "copy",
    "datamovement",
    "grid_size",
    "make_dataflow_buffer_like",
    "math",
    "node",
    "operation",
    "signpost",
]
