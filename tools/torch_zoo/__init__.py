# SPDX-License-Identifier: Apache-2.0
"""The nineteen models of the PyTorch backend's table, built from published configurations with random weights.

model, inputs = torch_zoo.make("BERT")           # as published
model, inputs = torch_zoo.make("BERT", small=True)
model(**inputs)
"""

from .models import Inputs, MnistModel, make, names
from .table import MODELS, Row

__all__ = ["MODELS", "Inputs", "MnistModel", "Row", "make", "names"]
