# SPDX-License-Identifier: Apache-2.0
"""Attributes of the debug dialect: it has none."""
