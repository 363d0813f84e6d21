# SPDX-License-Identifier: Apache-2.0
"""Modules as graphs of PyTorch: tracing, data formats, and compiled functions."""
