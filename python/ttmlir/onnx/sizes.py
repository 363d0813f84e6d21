# SPDX-License-Identifier: Apache-2.0
"""ONNX models with named dimensions: one program for all sizes where it can be, else one for each set of sizes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.export.graph_signature import InputKind

from ..torch import CompiledModel, Options
from ..torch import compile as compile_module
from ..torch.exported import check_sizes

# Sizes of the examples that a model is exported with: different, and no sizes that kernels and heads have.
EXAMPLES = (6, 7, 11, 13, 17, 19, 23, 29)
MOST_FIXED = 16
# PyTorch's errors of sizes that have to be known; some are in modules that it loads later.
ABOUT_SIZES = {"GuardOnDataDependentSymNode", "ConstraintViolationError", "DynamicOutputShapeException"}


@dataclass(frozen=True)
class Input:
    """An input of a model. shape: sizes and names."""

    name: str
    shape: tuple[int | str, ...]
    dtype: torch.dtype

    def example(self, sizes: Mapping[str, int]) -> torch.Tensor:
        return torch.ones([n if isinstance(n, int) else sizes[n] for n in self.shape], dtype=self.dtype)


class OpenModel:
    """An ONNX model whose named dimensions have any sizes between their bounds; called with tensors in the order of
    the model's inputs.

    sizes: (least, most) of each named dimension; None for no bound. program: for all sizes; None where there is none,
        and `closed` says why. Then, and for sizes of 1, each set of sizes gets a program when it is first met.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        inputs: Sequence[Input],
        sizes: Mapping[str, tuple[int, int | None]],
        options: Options | Mapping[str, Any] | None = None,
    ) -> None:
        self.module, self.inputs, self.sizes, self.options = module, list(inputs), dict(sizes), options
        self._fixed: OrderedDict[tuple[int, ...], CompiledModel] = OrderedDict()
        self.closed = ""
        self.program: CompiledModel | None = None
        try:
            self.program = compile_module(self._exported(), options=options)
        except Exception as error:  # PyTorch has no common type for them
            if not is_about_sizes(error):
                raise
            self.closed = str(error).strip().splitlines()[0]
        if self.program is not None:
            self.closed = self.program.closed

    def _exported(self) -> torch.export.ExportedProgram:
        examples = {}
        for number, (name, (least, most)) in enumerate(self.sizes.items()):
            n = max(least, EXAMPLES[number % len(EXAMPLES)] + number // len(EXAMPLES) * EXAMPLES[-1])
            examples[name] = n if most is None else min(n, most)
        dynamic = tuple(
            {d: torch.export.Dim.AUTO for d, n in enumerate(each.shape) if isinstance(n, str)} for each in self.inputs
        )
        arguments = tuple(each.example(examples) for each in self.inputs)
        return torch.export.export(self.module, arguments, dynamic_shapes=dynamic)

    def check(self, arguments: Sequence[torch.Tensor]) -> dict[str, int]:
        """The sizes that arguments bring.

        Raises:
            ValueError: another number of inputs, or a size that the model does not take; names input and dimension.
        """
        if len(arguments) != len(self.inputs):
            raise ValueError(f"the model takes {len(self.inputs)} inputs and was given {len(arguments)}")
        found: dict[str, tuple[int, str]] = {}
        for each, given in zip(self.inputs, arguments, strict=True):
            if given.dim() != len(each.shape) or given.dtype != each.dtype:
                shape = f"{str(each.dtype).removeprefix('torch.')}[{', '.join(map(str, each.shape))}]"
                have = f"{str(given.dtype).removeprefix('torch.')}{list(given.shape)}"
                raise ValueError(f"input {each.name} is {have}; expected {shape}")
            for d, (n, size) in enumerate(zip(each.shape, given.shape, strict=True)):
                place = f"input {each.name}: dimension {d}"
                if isinstance(n, int):
                    if n != size:
                        raise ValueError(f"{place} is {size}; expected {n}")
                    continue
                first, where = found.setdefault(n, (size, place))
                if first != size:
                    raise ValueError(f"{place} ({n}) is {size}; expected {first}, as {where} is")
                least, most = self.sizes[n]
                if size < least or (most is not None and size > most):
                    bound = f"at least {least}" if most is None else f"{least} to {most}"
                    raise ValueError(f"{place} ({n}) is {size}; expected {bound}")
        return {name: n for name, (n, _) in found.items()}

    def __call__(self, *arguments: torch.Tensor) -> Any:
        """What the model returns, computed on the chip; raises as `check` does."""
        sizes = self.check(arguments)
        if self.program is not None and self._takes(self.program, arguments):
            return self.program(*arguments)
        key = tuple(sizes.values())
        if (fixed := self._fixed.get(key)) is None:
            fixed = self._fixed[key] = compile_module(self.module, arguments, options=self.options)
            if len(self._fixed) > MOST_FIXED:
                self._fixed.popitem(last=False)
        self._fixed.move_to_end(key)
        return fixed(*arguments)

    def _takes(self, program: CompiledModel, arguments: Sequence[torch.Tensor]) -> bool:
        """Whether PyTorch exported the model for these sizes, too: it takes some for known."""
        users = iter(arguments)
        specs = program.exported.graph_signature.input_specs
        try:
            check_sizes(
                program.exported, [next(users) if spec.kind is InputKind.USER_INPUT else None for spec in specs]
            )
        except ValueError:
            return False
        return True

    def save(self, *arguments: Any, **options: Any) -> list[Path]:
        """Writes the program for all sizes as `CompiledModel.save` does.

        Raises:
            ValueError: there is none; says why.
        """
        if self.program is None:
            raise ValueError(
                f"the sizes of the model cannot stay open in a file: {self.closed}; give sizes={{name: size}}"
            )
        return self.program.save(*arguments, **options)


def is_about_sizes(error: BaseException) -> bool:
    """Whether an error of an export says that a size, or what is computed from sizes, has to be known."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return bool(kinds & ABOUT_SIZES) or "Constraints violated" in str(error)
