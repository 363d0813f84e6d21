# SPDX-License-Identifier: Apache-2.0
"""Splitting a module over meshes, and what it takes there: functions, and the command `python -m builder.sharding`."""

from .estimates import MeshEstimate, estimate_on_mesh, plot_speed_up

__all__ = ["MeshEstimate", "estimate_on_mesh", "plot_speed_up"]
