# SPDX-License-Identifier: Apache-2.0
"""What ops know while a device's modules are traced: formats, names, and the values that were asked for."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx.traceback import annotate
from torch.overrides import TorchFunctionMode

from .errors import PyBudaError
from .formats import FLOATS, DataFormat, MathFidelity


@dataclass(frozen=True)
class Precision:
    """One call of `configure_mixed_precision`: which ops it is about, and what they get."""

    op_type: str | None = None
    name_regex: str | None = None
    output_df: DataFormat | None = None
    math_fidelity: MathFidelity | None = None
    accumulate_df: DataFormat | None = None
    intermediate_df: DataFormat | None = None

    def fits(self, name: str, op_type: str | None) -> bool:
        if self.op_type is not None and (op_type is None or self.op_type.lower() != op_type.lower()):
            return False
        return self.name_regex is None or re.search(self.name_regex, name) is not None


@dataclass(frozen=True)
class Formats:
    """Which format the values of a device have.

    default: of what nobody said anything about. rules: of ops, parameters and inputs; the last that fits holds.
    base: what programs compute in. Where all values have one format it is that; else Float32, and each value is rounded
    to its own.
    """

    default: DataFormat
    rules: Sequence[Precision] = ()
    explicit: Sequence[DataFormat] = ()

    @property
    def is_mixed(self) -> bool:
        return bool(self.explicit) or any(rule.output_df for rule in self.rules)

    @property
    def base(self) -> DataFormat:
        return DataFormat.Float32 if self.is_mixed else self.default

    def of(self, name: str, op_type: str | None = None) -> DataFormat:
        for rule in reversed(self.rules):
            if rule.output_df is not None and rule.fits(name, op_type):
                return rule.output_df
        return self.default

    def rounded(self, x: torch.Tensor, data_format: DataFormat) -> torch.Tensor:
        if not x.dtype.is_floating_point or data_format is self.base:
            return x
        return torch.ops.pybuda.round_to(x, FLOATS[data_format])


@dataclass
class Trace:
    """One run of the modules of a device, over fake tensors.

    nops: (op or input, ops that read it): copies between them.
    saved: values of the ops whose names are in `to_save`. used: numbers of the nops that are there.
    roots: for ops that only move elements, what they are about: nops see through them.
    """

    formats: Formats
    to_save: Sequence[str] = ()
    nops: Sequence[tuple[str, Sequence[str]]] = ()
    saved: dict[str, torch.Tensor] = field(default_factory=dict)
    ops: dict[str, str] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    roots: dict[str, str] = field(default_factory=dict)
    _buffers: dict[tuple[str, str], torch.Tensor] = field(default_factory=dict)
    _module: str = ""
    _names: set[str] = field(default_factory=set)

    @contextmanager
    def module(self, name: str) -> Iterator[None]:
        """The time in which the ops of a module are made."""
        outer = self._module, self._names
        self._module, self._names = name, set()
        _current.trace = self
        try:
            yield
        finally:
            self._module, self._names = outer
            _current.trace = None

    def name_of(self, name: str, op_type: str) -> str:
        """The op's name; one is made for an empty one.

        Raises:
            PyBudaError: the module has an op of this name.
        """
        if not name:
            number = sum(kind == op_type for kind in self.ops.values())
            while (name := f"{op_type.lower()}_{number}") in self._names:
                number += 1
        if name in self._names:
            raise PyBudaError(f"module {self._module!r} has two ops named {name!r}; expected names of their own")
        self._names.add(name)
        self.ops[name] = op_type
        return name

    def behind_nops(self, source: str, reader: str, value: torch.Tensor) -> tuple[str, torch.Tensor]:
        """What an op reads: `value`, or the last of the nops between `source` and it; with its name."""
        for number, (behind, readers) in enumerate(self.nops):
            if behind not in (source, self.roots.get(source)) or reader not in readers:
                continue
            self.used.add(number)
            name = f"buffer_0_{behind}_{readers[0]}"
            # Readers behind different moves have the nop in different orders of elements.
            key = name, source
            if key not in self._buffers:
                self.ops[name] = "Nop"
                with marked(name, "Nop"):
                    self._buffers[key] = self.output(name, "Nop", value.clone())
            source, value = name, self._buffers[key]
        return source, value

    def output(self, name: str, op_type: str, value: torch.Tensor) -> torch.Tensor:
        """An op's result in the op's format."""
        value = self.formats.rounded(value, self.formats.of(name, op_type))
        if name in self.to_save:
            self.saved[name] = value
        return value


# On the nodes of graphs that are traced: the op that they are a part of, and its type.
SOURCE, SOURCE_TYPE = "pybuda_op", "pybuda_type"


def marked(name: str, op_type: str) -> AbstractContextManager[Any]:
    """Marks the nodes that are traced in the block as parts of an op; their gradients' nodes are, too."""
    return annotate({SOURCE: name, SOURCE_TYPE: op_type})


# Functions of PyTorch whose results are products, by the name that their op has in PyBuda.
OP_TYPES = {
    "linear": "matmul", "matmul": "matmul", "__matmul__": "matmul", "mm": "matmul", "bmm": "matmul", "addmm": "matmul",
    "layer_norm": "layernorm", "conv2d": "conv2d", "add": "add", "__add__": "add", "mul": "multiply",
    "__mul__": "multiply", "sub": "subtract", "__sub__": "subtract",
}  # fmt: skip


class Rounding(TorchFunctionMode):
    """While it is on, results of PyTorch's functions have the formats of the trace."""

    def __init__(self, formats: Formats) -> None:
        super().__init__()
        self.formats = formats

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        is_new = isinstance(result, torch.Tensor) and not result._is_view() and not any(result is x for x in args)
        if not is_new or not result.dtype.is_floating_point or name.startswith("__get"):
            return result
        return self.formats.rounded(result, self.formats.of("", OP_TYPES.get(name, name)))


class _Current(threading.local):
    trace: Trace | None = None


_current = _Current()


def current(op_type: str, name: str) -> Trace:
    """The trace that an op is part of.

    Raises:
        PyBudaError: there is none.
    """
    if _current.trace is None:
        raise PyBudaError(
            f"pybuda.op.{op_type} {name!r} is called outside of a module's forward; place the module on a TTDevice "
            "and run it"
        )
    return _current.trace
