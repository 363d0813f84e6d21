# SPDX-License-Identifier: Apache-2.0
"""Registers the PJRT plugin of JAX's platform `tt`. JAX calls `initialize` through the entry point `jax_plugins`."""

from __future__ import annotations

from .plugin import initialize, library_path

__all__ = ["initialize", "library_path"]
