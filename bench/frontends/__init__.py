# SPDX-License-Identifier: Apache-2.0
"""Models of PyTorch, JAX and ONNX as users bring them, beside what runs them there."""
