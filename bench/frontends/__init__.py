# SPDX-License-Identifier: Apache-2.0
"""Models of PyTorch, JAX and ONNX as users bring them, compared with the libraries that run them there."""
