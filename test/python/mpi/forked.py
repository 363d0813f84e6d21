# SPDX-License-Identifier: Apache-2.0
"""A rank forks, and its child tries to be one."""

from __future__ import annotations

import os
import sys

import _ttmlir_runtime as rt

options = rt.runtime.MeshDeviceOptions()
options.mesh_shape = [1, 2]
device = rt.runtime.open_mesh_device(options)
child = os.fork()
if child == 0:
    try:
        rt.runtime.gather_from_ranks("child")
    except rt.DeviceError as error:
        os.write(1, f"{error}\n".encode())
    os._exit(0)
os.waitpid(child, 0)
rt.runtime.gather_from_ranks("parent")
rt.runtime.close_mesh_device(device)
sys.exit(0)
