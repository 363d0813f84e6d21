# SPDX-License-Identifier: Apache-2.0
"""Activations that an op applies to its own result: elementwise ops, by name."""

from __future__ import annotations

import functools
import re
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from .elementwise import ELEMENTWISE

# UnaryOpType's spelling of ops that are called otherwise, and what no op is.
SPELLED = {"recip": "reciprocal"}
OTHERS = {"gelu_tanh": functools.partial(F.gelu, approximate="tanh")}


def activated(x: Tensor, activation: str | None) -> Tensor:
    if not activation:
        return x
    row = OTHERS.get(activation) or ELEMENTWISE.get(SPELLED.get(activation, activation))
    if row is None:
        raise ValueError(f"no golden for the activation {activation!r}")
    return row(x)


def activation_of(config: Any) -> str | None:
    """Returns the activation in a #ttnn.conv2d_config, or None."""
    found = re.search(r"activation = <op_type = (\w+)", str(config))
    return found[1] if found else None
