# SPDX-License-Identifier: Apache-2.0
"""The state of tracing a device's modules: formats, names, and the values that were requested."""

from __future__ import annotations

import inspect
import itertools
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.fx.traceback import annotate
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

from ..enums import BACKWARD, FORWARD, OPTIMIZER
from ..errors import PyBudaError
from .formats import FLOATS, INTEGERS, ROUNDED_ONLY, DataFormat, MathFidelity, as_integers, copied, widened

# Types that ops have in the netlist alone, and their names in programs.
NETLIST_TYPES = {"splice": ("concatenate", "concat", "cat")}


@dataclass(frozen=True)
class InputFormat:
    """The format in which an op reads an operand: number (None: all), format, and whether also results of ops."""

    number: int | None
    data_format: DataFormat
    activations: bool


@dataclass(frozen=True)
class Precision:
    """One call of `configure_mixed_precision`: the ops that it selects, and their settings.

    epoch_type: fwd, bwd or opt. is_gradient_op: only ops that give gradients of parameters, or only others.
    """

    op_type: str | None = None
    name_regex: str | None = None
    output_df: DataFormat | None = None
    math_fidelity: MathFidelity | None = None
    accumulate_df: DataFormat | None = None
    intermediate_df: DataFormat | None = None
    epoch_type: str | None = None
    input_df: tuple[InputFormat, ...] = ()
    is_gradient_op: bool | None = None

    def fits(self, name: str, op_type: str | None, epoch_type: str = FORWARD, gradient: bool = False) -> bool:
        if self.op_type is not None:
            low = self.op_type.lower()
            if op_type is None or op_type.lower() not in (low, *NETLIST_TYPES.get(low, ())):
                return False
        if self.epoch_type not in (None, epoch_type) or self.is_gradient_op not in (None, gradient):
            return False
        return self.name_regex is None or re.search(self.name_regex, name) is not None

    def __str__(self) -> str:
        given = ((key, value) for key, value in vars(self).items() if value not in (None, ()))
        return f"configure_mixed_precision({', '.join(f'{key}={shown(value)}' for key, value in given)})"


def last_said(
    rules: Sequence[Precision], what: str, name: str, op_type: str | None, epoch_type: str, gradient: bool
) -> Any:
    """Returns the value of the last matching rule that sets one; else None."""
    for rule in reversed(rules):
        value = getattr(rule, what)
        if value is not None and rule.fits(name, op_type, epoch_type, gradient):
            return value
    return None


def shown(value: Any) -> str:
    """Returns it as a program writes it."""
    if isinstance(value, tuple):
        return str({x.number: (x.data_format.name, x.activations) for x in value})
    return value.name if isinstance(value, DataFormat | MathFidelity) else repr(value)


@dataclass(frozen=True)
class Formats:
    """The formats of a device's values.

    default: of values without a rule. rules: of ops, parameters and inputs; the last that fits holds.
    base: what programs compute in. Where all values have one format it is that; else Float32, and each value is rounded
    to its own.
    seen: the subjects of queries: names, types, epochs, whether a gradient.
    operands: names and types of ops, each with the number of operands that were read.
    """

    default: DataFormat
    rules: Sequence[Precision] = ()
    explicit: Sequence[DataFormat] = ()
    seen: set[tuple[str, str | None, str, bool]] = field(default_factory=set, compare=False)
    operands: dict[tuple[str, str], int] = field(default_factory=dict, compare=False)

    @property
    def is_mixed(self) -> bool:
        return (
            self.default in ROUNDED_ONLY
            or any(x in FLOATS for x in self.explicit)
            or any(rule.input_df or rule.intermediate_df for rule in self.rules)
            or any(rule.output_df in FLOATS and rule.epoch_type != OPTIMIZER for rule in self.rules)
        )

    @property
    def touches(self) -> bool:
        """Returns whether values are rounded, or clamped, one by one."""
        return self.is_mixed or any(rule.output_df in INTEGERS for rule in self.rules)

    @property
    def base(self) -> DataFormat:
        return DataFormat.Float32 if self.is_mixed else self.default

    def setting(
        self, what: str, name: str, op_type: str | None = None, epoch_type: str = FORWARD, gradient: bool = False
    ) -> Any:
        """Returns the value of the last matching rule that sets one; else None."""
        self.seen.add((name, op_type, epoch_type, gradient))
        return last_said(self.rules, what, name, op_type, epoch_type, gradient)

    def of(
        self, name: str, op_type: str | None = None, epoch_type: str = FORWARD, gradient: bool = False
    ) -> DataFormat:
        return self.setting("output_df", name, op_type, epoch_type, gradient) or self.default

    def input_df(self, number: int, name: str, op_type: str | None, activation: bool) -> DataFormat | None:
        """Returns the format in which an op reads an operand, if a rule says it. activation: the operand is an op's
        result."""
        for rule in reversed(self.rules):
            for x in rule.input_df:
                if x.number in (None, number) and (x.activations or not activation) and rule.fits(name, op_type):
                    return x.data_format
        return None

    def rounded(self, x: torch.Tensor, data_format: DataFormat, what: str = "a value", read: bool = False) -> Any:
        """Returns a value in a format, which integers only have where it is one of integers.

        Raises:
            FormatError: a format of integers for floats; names `what`.
        """
        if data_format in INTEGERS:
            return as_integers(x, data_format, what)
        if not x.dtype.is_floating_point or data_format is self.base:
            return x
        return torch.ops.pybuda.round_to(x, FLOATS[data_format], read)

    def operand(
        self, x: torch.Tensor, number: int, name: str, op_type: str, activation: bool, trained: bool
    ) -> torch.Tensor:
        """Returns an operand as an op reads it; in training also the gradient that the op's backward pass computes for
        it, in the operand's format. trained: it is a parameter.
        """
        self.operands[name, op_type] = max(self.operands.get((name, op_type), 0), number + 1)
        data_format = self.input_df(number, name, op_type, activation)
        if data_format is not None:
            x = self.rounded(x, data_format, f"operand {number} of op {name or op_type!r}", read=True)
        if not x.dtype.is_floating_point:
            return widened(x) if self.of(name, op_type) in INTEGERS else x
        if not self.is_mixed or not (torch.is_grad_enabled() and x.requires_grad):
            return x
        backward = self.of(name, op_type, BACKWARD, trained)
        return x if backward is self.base or backward in INTEGERS else GradientRounding.apply(x, FLOATS[backward])

    def of_step(self, name: str) -> DataFormat | None:
        """Returns the format that rules about optimizer steps set for new weights."""
        rules = [rule for rule in self.rules if rule.epoch_type == OPTIMIZER]
        return replace(self, rules=rules).setting("output_df", name, None, OPTIMIZER)

    def unused(self) -> list[Precision]:
        """Returns rules that fitted nothing that was seen."""
        return [rule for rule in self.rules if not any(rule.fits(*x) for x in self.seen)]

    def most_operands(self, rule: Precision) -> tuple[int, str]:
        """Returns the most operands of an op that a rule fits, and the op's name, or its type; 0 if it fits none."""
        found = ((n, name or op_type) for (name, op_type), n in self.operands.items() if rule.fits(name, op_type))
        return max(found, default=(0, ""))


class GradientRounding(torch.autograd.Function):
    """The operand; its gradient is rounded to a format."""

    @staticmethod
    def forward(context: Any, x: torch.Tensor, data_format: str) -> torch.Tensor:
        context.data_format = data_format
        return x.clone()

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return torch.ops.pybuda.round_to(gradient, context.data_format), None


@dataclass
class Trace:
    """One run of the modules of a device, over fake tensors.

    nops: (op or input, ops that read it): copies between them.
    saved: values of the ops whose names are in `to_save`. used: numbers of the existing nops.
    roots: for ops that only move elements, what they are about: nops see through them.
    between: what modules have given to the next one: results of ops.
    """

    formats: Formats
    to_save: Sequence[str] = ()
    nops: Sequence[tuple[str, Sequence[str]]] = ()
    saved: dict[str, torch.Tensor] = field(default_factory=dict)
    ops: dict[str, str] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    roots: dict[str, str] = field(default_factory=dict)
    between: list[Any] = field(default_factory=list)
    _buffers: dict[tuple[str, str], torch.Tensor] = field(default_factory=dict)
    _module: str = ""
    _names: set[str] = field(default_factory=set)

    @contextmanager
    def module(self, name: str) -> Iterator[None]:
        """Marks the ops that are made in the block as those of a module."""
        outer = self._module, self._names
        self._module, self._names = name, set()
        _current.trace = self
        try:
            yield
        finally:
            self._module, self._names = outer
            _current.trace = None

    def name_of(self, name: str, op_type: str) -> str:
        """Returns the op's name; one is made for an empty one.

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
        """Returns what an op reads, with its name: `value`, or the last of the nops between `source` and it."""
        for number, (behind, readers) in enumerate(self.nops):
            if behind not in (source, self.roots.get(source)) or reader not in readers:
                continue
            self.used.add(number)
            name = f"buffer_0_{behind}_{readers[0]}"
            # Users behind different data movement ops see the nop with different orders of elements.
            key = name, source
            if key not in self._buffers:
                self.ops[name] = "Nop"
                with marked(name, "Nop"):
                    self._buffers[key] = self.output(name, "Nop", copied(value))
            source, value = name, self._buffers[key]
        return source, value

    def output(self, name: str, op_type: str, value: torch.Tensor) -> torch.Tensor:
        """Returns an op's result in the op's format."""
        value = self.formats.rounded(value, self.formats.of(name, op_type), "its result")
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


# Functions that return a part of their operand unchanged, or only describe it: nothing is computed.
VIEWS = frozenset({
    "view", "reshape", "permute", "transpose", "t", "expand", "expand_as", "view_as", "reshape_as", "slice", "select",
    "narrow", "split", "chunk", "unbind", "unsqueeze", "squeeze", "flatten", "unflatten", "movedim", "swapaxes",
    "__getitem__", "detach", "to", "float", "contiguous", "size", "dim", "numel", "stride", "is_contiguous",
})  # fmt: skip


def writes(function: Callable[..., Any], name: str, args: Any, kwargs: Any) -> bool:
    """Returns whether a function of PyTorch writes into its operand: `add_`, `__iadd__`, `__setitem__`,
    `inplace=True`."""
    if name.startswith(("__i", "__set")) or (name.endswith("_") and not name.endswith("__")):
        return True
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments.get("inplace") is True
    except (TypeError, ValueError):  # of C
        return False


class Rounding(TorchFunctionMode):
    """While active, results of PyTorch's functions have the formats of the trace, and so have their operands.

    parameters, inputs: of the module; other operands are results of functions.
    """

    def __init__(self, trace: Trace, parameters: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.formats, self.parameters = trace.formats, list(parameters)
        self.given = [*self.parameters, *(x for x in inputs if not among(x, trace.between))]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        kind = OP_TYPES.get(name, name)
        if name.startswith("__get") and name != "__getitem__":
            return func(*args, **kwargs)
        if name not in VIEWS and not writes(func, name, args, kwargs):
            numbers = itertools.count()
            args, kwargs = tree_map_only(torch.Tensor, lambda x: self.read(x, next(numbers), kind), (args, kwargs))
        result = func(*args, **kwargs)
        is_new = isinstance(result, torch.Tensor) and not result._is_view() and not among(result, args)
        return self.formats.rounded(result, self.formats.of("", kind), f"the result of {kind}") if is_new else result

    def read(self, x: torch.Tensor, number: int, kind: str) -> torch.Tensor:
        return self.formats.operand(x, number, "", kind, not among(x, self.given), among(x, self.parameters))


def among(x: Any, values: Sequence[Any]) -> bool:
    return any(x is other for other in values)


class _Current(threading.local):
    trace: Trace | None = None


_current = _Current()


def current(op_type: str, name: str) -> Trace:
    """Returns the trace that an op is part of.

    Raises:
        PyBudaError: there is none.
    """
    if _current.trace is None:
        raise PyBudaError(
            f"pybuda.op.{op_type} {name!r} is called outside of a module's forward; place the module on a TTDevice "
            "and run it"
        )
    return _current.trace
