# SPDX-License-Identifier: Apache-2.0
"""Attributes of the CHLO dialect: it has none."""
