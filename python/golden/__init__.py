# SPDX-License-Identifier: Apache-2.0
"""Golden references: what every op computes, as a torch expression, and how results are compared with it.

Needs torch only. See golden/mapping.py for the table. `golden.domains` and `golden.sampling` do not need even that:
torch is loaded when the first name below is used and not when the package is imported (see golden/optional.py).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .optional import INSTALL

if TYPE_CHECKING:
    from .attributes import unpack_mlir_attr
    from .mapping import GOLDEN_MAPPINGS, find_op, get_golden_function
    from .metrics import (
        Comparison,
        coarser,
        compare,
        get_atol_rtol,
        get_atol_rtol_pcc,
        get_pcc,
        mask_torch_inf_nan,
        rounding_error,
        tolerances,
    )
    from .op import Op, TensorSpec
    from .sampling import random_tensor
    from .tensor import GoldenMapTensor

__all__ = [
    "GOLDEN_MAPPINGS",
    "Comparison",
    "GoldenMapTensor",
    "Op",
    "TensorSpec",
    "coarser",
    "compare",
    "find_op",
    "get_atol_rtol",
    "get_atol_rtol_pcc",
    "get_golden_function",
    "get_pcc",
    "mask_torch_inf_nan",
    "random_tensor",
    "rounding_error",
    "tolerances",
    "unpack_mlir_attr",
]

# Module -> its names that are the package's.
NAMES = {
    "attributes": "unpack_mlir_attr",
    "mapping": "GOLDEN_MAPPINGS find_op get_golden_function",
    "metrics": "Comparison coarser compare get_atol_rtol get_atol_rtol_pcc get_pcc mask_torch_inf_nan rounding_error "
    "tolerances",
    "op": "Op TensorSpec",
    "sampling": "random_tensor",
    "tensor": "GoldenMapTensor",
}
_MODULES = {name: module for module, names in NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f".{_MODULES[name]}", __name__)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ModuleNotFoundError(f"golden.{name} needs PyTorch: {INSTALL}", name="torch") from None
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
