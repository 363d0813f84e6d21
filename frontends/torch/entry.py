# SPDX-License-Identifier: Apache-2.0
"""Where PyTorch enters: importing it loads nothing of Dynamo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.fx import GraphModule

from .options import Options
from .report import timed


def backend(
    graph_module: GraphModule,
    example_inputs: Sequence[Any],
    options: Options | Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Returns `torch.compile(model, backend=backend)`, or `backend="tt"`: Dynamo's graph as a function that runs on the
    chip.

    mode: one of `torch.compile`. All give the same program: what they choose between is done for each, or is not there.

    Raises:
        TypeError, ValueError: an option that is not known, or of another type; a mode that PyTorch does not have.
        UnsupportedError: an op that neither the chip nor PyTorch runs; names the line of Python.
    """
    from .dynamo import compile_captured

    with timed():
        return compile_captured(graph_module, example_inputs, options, mode)
