"""Golden references: what every op computes, as a torch expression, and how results are compared with it.

Needs torch only. See golden/mapping.py for the table.
"""

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
