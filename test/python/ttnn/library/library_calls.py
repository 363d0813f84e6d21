# SPDX-License-Identifier: Apache-2.0
"""Calls of ttnn 0.81.1 on one Wormhole chip and their results, recorded from the package without a card.

library_calls.txt holds the operands (name, shape, data type, layout and memory, one a line), an empty line, and the
calls: `name | call | result`. A result is shape, padded shape, data type, layout and memory. library_values.txt holds
expressions in the same form, of which it has the text; they are evaluated in order, as addresses follow from earlier
ones. `refused` stands for a RuntimeError, and the name of an exception for itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
import ttnn

_FOLDER = Path(__file__).parent
_OPERANDS, _CALLS = (_FOLDER / "library_calls.txt").read_text().split("\n\n")


class Call(NamedTuple):
    """One row: the call as Python, and its result in the library."""

    name: str
    text: str
    result: str


def _rows(text: str) -> list[Call]:
    return [Call(*(part.strip() for part in line.split(" | "))) for line in text.strip().splitlines()]


def calls() -> list[Call]:
    """Returns the rows of the calls."""
    return _rows(_CALLS)


def expressions() -> list[Call]:
    """Returns the rows of library_values.txt."""
    return _rows((_FOLDER / "library_values.txt").read_text())


def operands(device: ttnn.Device) -> dict[str, Any]:
    """Returns the names that calls use: the operands, the package and the device."""
    names: dict[str, Any] = {"ttnn": ttnn, "device": device}
    for line in _OPERANDS.strip().splitlines():
        found = re.fullmatch(r"(\w+) (\[.*\]) (\w+) (\w+) (\w+)", line)
        assert found, line
        name, shape, dtype, layout, memory = found.groups()
        values = torch.ones([int(size) for size in shape[1:-1].split(",")])
        where = (
            {} if memory == "HOST" else {"device": device, "memory_config": getattr(ttnn, f"{memory}_MEMORY_CONFIG")}
        )
        layout_of = getattr(ttnn, f"{layout}_LAYOUT")
        names[name] = ttnn.from_torch(values, getattr(ttnn, dtype), layout=layout_of, **where)
    return names


def described(result: Any) -> str:
    """Returns shape, padded shape, data type, layout and memory as a row has them."""
    if isinstance(result, tuple | list):
        return f"({'; '.join(map(described, result))})"
    memory = result.memory_config()
    where = f"{memory.memory_layout.name} {memory.buffer_type.name}"
    shapes = f"{list(result.shape)} pad {list(result.padded_shape)}"
    return f"{shapes} {result.dtype.name} {result.layout.name} {where}"


def things(device: ttnn.Device, folder: str) -> dict[str, Any]:
    """Returns the names that expressions use."""
    kept: list[ttnn.Tensor] = []  # or their memory would be free again

    def address(
        rows: int, columns: int, dtype: Any, layout: Any = ttnn.TILE_LAYOUT, memory: Any = ttnn.DRAM_MEMORY_CONFIG
    ) -> str:
        kept.append(
            ttnn.from_torch(torch.zeros(rows, columns), dtype, layout=layout, device=device, memory_config=memory)
        )
        return hex(kept[-1].buffer_address())

    def sharded(shape: tuple[int, int], cores: int) -> ttnn.MemoryConfig:
        grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(cores - 1, 0))})
        spec = ttnn.ShardSpec(grid, list(shape), ttnn.ShardOrientation.ROW_MAJOR)
        return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)

    def view(device: ttnn.Device, memory: Any) -> tuple[int, int, int]:
        found = ttnn.get_memory_view(device, memory)
        return found.num_banks, found.total_bytes_per_bank, found.total_bytes_free_per_bank

    def values(tensor: ttnn.Tensor) -> tuple[Any, ...]:
        found = ttnn.to_torch(tensor)
        return tensor.dtype, tensor.layout, found.dtype, found.tolist()

    return {
        "torch": torch,
        "ttnn": ttnn,
        "device": device,
        "folder": folder,
        "address": address,
        "sharded": sharded,
        "view": view,
        "values": values,
        "kinds": lambda tensor: (tensor.dtype, tensor.layout, tuple(tensor.shape), ttnn.to_torch(tensor).dtype),
        "shapes": lambda tensor: (tensor.shape, tensor.padded_shape, tuple(ttnn.to_torch(tensor).shape)),
        "six": ttnn.from_torch(torch.arange(6.0).reshape(2, 3), ttnn.bfloat16),
        "small40": ttnn.from_torch(torch.zeros(40, 50), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT),
        "floats": torch.tensor([[1.5, -1.5, 2.5, 300.7, -0.4, 70000.0]]),
        "integers": torch.tensor([[1, -1, 255, 256, 70000, -5]]),
        "beyond": torch.tensor([[torch.nan, torch.inf, -1.5, 3e9, 5e9]]),
        "beyond32": torch.tensor([[torch.nan, torch.inf, -1.5, 3e9, 2.5]]),
    }


def outcome(text: str, names: dict[str, Any], tell: Callable[[Any], str] = described) -> str:
    """Returns what a call gives, `refused` for a RuntimeError, or the name and text of another exception."""
    try:
        return tell(eval(text, names))
    except RuntimeError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def value_of(text: str, names: dict[str, Any]) -> str:
    """Returns the text of an expression's value; of other exceptions than a RuntimeError, the name."""
    found = outcome(text, names, str).replace("\n", "\\n")
    name = found.partition(":")[0]
    return name if re.fullmatch(r"\w+Error", name) else found
