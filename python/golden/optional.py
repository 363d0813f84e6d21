# SPDX-License-Identifier: Apache-2.0
"""PyTorch, which is an extra: loaded when it is first used; where it is missing, the error says what installs it.

`from golden.optional import torch` takes the place of `import torch` in modules that also serve those who have none.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

INSTALL = "pip install 'ttmlir[torch]'"
# Types that values are tested for. While PyTorch is not loaded, no value is of them, and the question loads nothing.
TYPES = {name: type(name, (), {"__module__": "torch"}) for name in ("Tensor", "dtype", "Size")}


class _Torch(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in TYPES and sys.modules.get("torch") is None:
            return TYPES[name]
        try:
            value = getattr(import_module("torch"), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise ModuleNotFoundError(f"this needs PyTorch: {INSTALL}", name="torch") from None
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import torch as torch
else:
    torch = _Torch("torch")


def has_torch() -> bool:
    try:
        import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return False
    return True


def dtype_name(dtype: Any) -> str | None:
    """Returns a name like "float32" of a torch dtype, a numpy dtype or a scalar type of numpy or ml_dtypes; None of
    anything else."""
    if isinstance(dtype, torch.dtype):
        return str(dtype).removeprefix("torch.")
    if isinstance(dtype, np.dtype) or (isinstance(dtype, type) and issubclass(dtype, np.generic)):
        return np.dtype(dtype).name
    return None
