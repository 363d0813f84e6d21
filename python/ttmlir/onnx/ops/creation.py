# SPDX-License-Identifier: Apache-2.0
"""Ops that make tensors of no elements of others."""

from __future__ import annotations

import numpy as np

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Node, op
from ..values import F32, I64, Value
from .movement import known_ints


@op("Constant", keep=True)
def constant(g: Emitter, node: Node) -> Value:
    for name, value in node.attributes.items():
        if name == "value":
            return Value.of(value)
        if name in ("value_float", "value_floats"):
            return Value.of(np.array(value, F32))
        if name in ("value_int", "value_ints"):
            return Value.of(np.array(value, I64))
        raise Refused(f"a constant by attribute {name} has no form on the chip")
    raise Refused("the constant has no value")


@op("ConstantOfShape")
def constant_of_shape(g: Emitter, node: Node, shape: Value) -> Value:
    one = np.asarray(node.get("value", np.zeros(1, F32))).reshape(())
    return g.broadcast(Value.of(one), known_ints(shape, "the shape"))
