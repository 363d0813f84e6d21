# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels of TT-Lang from Python's syntax tree to C++ of the kernel API."""
