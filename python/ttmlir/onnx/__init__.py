# SPDX-License-Identifier: Apache-2.0
"""ONNX models, by onnx2torch and `ttmlir.torch`: `ttmlir.onnx.compile("model.onnx")`."""

from .importer import OnnxError, compile, load, operators

__all__ = ["OnnxError", "compile", "load", "operators"]
