# SPDX-License-Identifier: Apache-2.0
"""What ir.py adds to the extension at run time, for type checkers."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from ._mlir_libs._mlir.ir import *  # noqa: F403

_Builder = TypeVar("_Builder", bound=Callable[..., Any])

class MLIRError(Exception):
    message: str
    error_diagnostics: list[Any]
    def __init__(self, message: str, error_diagnostics: Sequence[Any]) -> None: ...

def loc_tracebacks(*, max_depth: int | None = None) -> AbstractContextManager[None]: ...
def register_attribute_builder(kind: str, replace: bool = False) -> Callable[[_Builder], _Builder]: ...
