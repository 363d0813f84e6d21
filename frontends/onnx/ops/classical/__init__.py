# SPDX-License-Identifier: Apache-2.0
"""Ops of ai.onnx.ml: models that are not networks."""

from . import models, trees, vectors

__all__ = ["models", "trees", "vectors"]
