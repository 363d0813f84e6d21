# SPDX-License-Identifier: Apache-2.0
"""Calls of ttnn 0.81.1 on one Wormhole chip and their results, recorded from the package without a card.

library_calls.txt holds the operands (name, shape, data type, layout and memory, one a line), an empty line, and the
calls: `name | call | result`. A result is shape, padded shape, data type, layout and memory; `refused` stands for a
RuntimeError.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import torch
import ttnn

_OPERANDS, _CALLS = Path(__file__).with_suffix(".txt").read_text().split("\n\n")


class Call(NamedTuple):
    """One row: the call as Python, and its result in the library."""

    name: str
    text: str
    result: str


def calls() -> list[Call]:
    """Returns the rows of the calls."""
    return [Call(*(part.strip() for part in line.split(" | "))) for line in _CALLS.strip().splitlines()]


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


def outcome(text: str, names: dict[str, Any]) -> str:
    """Returns what a call gives, or `refused` where it raises a RuntimeError."""
    try:
        return described(eval(text, names))
    except RuntimeError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
