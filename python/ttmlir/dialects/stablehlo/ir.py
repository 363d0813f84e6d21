# SPDX-License-Identifier: Apache-2.0
"""Attributes of the stablehlo dialect: none with a Python class of its own."""
