# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch that the compiler has an op for, from its table, and layers."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from golden.mapping import TABLE

from .datatypes import OperatorDefinition, OperatorParamNumber, OperatorRepository
from .shapes import linear_inputs, matmul_inputs, same_input_shapes

OF_ANY_RANK = {"mm": "matmul"}
NUMBERS = {"int": int, "float": float, "number": float}


def definitions() -> Iterator[OperatorDefinition]:
    """Returns the functions whose operands are a fixed number of tensors, and whose other parameters are numbers."""
    seen = set()
    for row in TABLE.values():
        name, _, overload = (row.aten or "").partition(".")
        name = OF_ANY_RANK.get(name, name)
        function = getattr(torch, name, None)
        packet = getattr(torch.ops.aten, name, None) if name else None
        if function is None or packet is None or name in seen:
            continue
        schema = getattr(packet, overload or "default")._schema
        needed = [x for x in schema.arguments if not x.has_default_value()]
        tensors = [x.name for x in needed if str(x.type) == "Tensor"]
        others = [x for x in needed if x.name not in tensors]
        if not tensors or any(str(x.type) not in NUMBERS for x in others):
            continue
        seen.add(name)
        pointwise = torch.Tag.pointwise in getattr(packet, overload or "default").tags
        yield OperatorDefinition(
            name,
            f"torch.{name}",
            len(tensors),
            forward_params=[OperatorParamNumber(x.name, NUMBERS[str(x.type)]) for x in others],
            operands=tensors,
            calc_input_shapes=matmul_inputs if name == "matmul" else same_input_shapes if pointwise else None,
        )
    features = [OperatorParamNumber("in_features", int, 1, 512), OperatorParamNumber("out_features", int, 1, 512)]
    yield OperatorDefinition(
        "linear", "torch.nn.Linear", 1, instantiate=True, constructor_params=features, operands=["input"],
        calc_input_shapes=linear_inputs,
    )  # fmt: skip


pytorch_operator_repository = OperatorRepository(definitions())
