# SPDX-License-Identifier: Apache-2.0
"""Models as files: what `torch.export` captures, compiled ahead."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils._pytree import tree_flatten, tree_unflatten

from ..files import write_whole
from .decompositions import decompositions
from .dynamo import compile_graph
from .errors import UnsupportedError
from .options import Options
from .program import Program

STATE = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


class CompiledModel:
    """A model that was compiled ahead; called as the model was.

    ttir, ttnn: the program as text, before and after the pipeline.
    flatbuffer: what `ttrt run` and the runtime load.
    """

    def __init__(self, exported: ExportedProgram, options: Options) -> None:
        self.exported = exported
        signature = exported.graph_signature
        specs = signature.input_specs
        if any(spec.kind is InputKind.TOKEN for spec in specs):
            raise UnsupportedError("the model has ops with effects (tokens)")
        state = [i for i, spec in enumerate(specs) if spec.kind in STATE]
        self._state = {i: self._tensor(specs[i]) for i in state}
        self.program: Program = compile_graph(exported.graph_module, state, options, keep_text=True)
        self.ttir, self.ttnn = self.program.ttir, self.program.ttnn
        self._outputs = signature.output_specs

    def _tensor(self, spec: Any) -> torch.Tensor:
        target = spec.target
        if target in self.exported.state_dict:
            return self.exported.state_dict[target]
        return self.exported.constants[target]

    @property
    def flatbuffer(self) -> bytes:
        return self.program.flatbuffer

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the model returns, computed on the chip. Buffers that the model writes are written.

        Raises:
            ValueError: other arguments than the model was exported with.
        """
        given, spec = tree_flatten((args, kwargs))
        if spec != self.exported.call_spec.in_spec:
            raise ValueError(f"called with {spec}; the model was exported with {self.exported.call_spec.in_spec}")
        users = iter(given)
        specs = self.exported.graph_signature.input_specs
        arguments = [self._state[i] if i in self._state else next(users) for i in range(len(specs))]
        results = []
        with torch.no_grad():
            for spec, value in zip(self._outputs, self.program(arguments), strict=True):
                if spec.kind is OutputKind.BUFFER_MUTATION:
                    self.exported.state_dict[spec.target].copy_(value)
                elif spec.kind is OutputKind.USER_INPUT_MUTATION:
                    names = [s.arg.name for s in specs]
                    arguments[names.index(spec.target)].copy_(value)
                elif spec.kind is OutputKind.USER_OUTPUT:
                    results.append(value)
                else:
                    raise UnsupportedError(f"an output of kind {spec.kind.name}")
        return tree_unflatten(results, self.exported.call_spec.out_spec)

    def save(self, path: str | os.PathLike[str]) -> list[Path]:
        """Writes the program; the suffix of `path` says as what.

        .ttnn (flatbuffer), .mlir (TTIR, and TTNN beside it).
        Returns:
            The files that were written.
        """
        target = Path(path)
        writers = {".ttnn": self._flatbuffer_to, ".mlir": self._text_to}
        if target.suffix not in writers:
            raise ValueError(f"save to {target.name}: suffix {target.suffix!r}; known: {', '.join(writers)}")
        return writers[target.suffix](target)

    def _flatbuffer_to(self, path: Path) -> list[Path]:
        write_whole(path, self.flatbuffer)
        return [path]

    def _text_to(self, path: Path) -> list[Path]:
        lowered = path.with_suffix(".ttnn.mlir")
        write_whole(path, self.ttir)
        write_whole(lowered, self.ttnn)
        return [path, lowered]


def compile(
    model: torch.nn.Module | ExportedProgram,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    options: Options | Mapping[str, Any] | None = None,
) -> CompiledModel:
    """A model compiled for these example arguments.

    Raises:
        UnsupportedError: an op that has no form on the chip; names it, its operands and the line of Python.
    """
    if not isinstance(model, ExportedProgram):
        model = torch.export.export(model, tuple(args), dict(kwargs or {}))
    return CompiledModel(model.run_decompositions(decompositions()), Options.of(options))
