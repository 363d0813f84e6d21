# SPDX-License-Identifier: Apache-2.0
"""JAX's platform `tt`: registers the PJRT plugin. JAX calls `initialize` by the entry point `jax_plugins`."""

from __future__ import annotations

from .plugin import initialize, library_path

__all__ = ["initialize", "library_path"]
