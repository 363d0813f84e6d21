# SPDX-License-Identifier: Apache-2.0
"""Attributes and types of the d2m dialect: they are made from text, with ``Attribute.parse`` and ``Type.parse``."""
