# SPDX-License-Identifier: Apache-2.0
"""A rank that runs a program again and again, until something happens to one of them.

faulty.py FILE MESH FAULT: rank 1 has the fault, after a few runs. "exact": devices have exact arithmetic.
"""

from __future__ import annotations

import os
import signal
import sys
import time

import _ttmlir_runtime as rt
import numpy as np


def main(path: str, mesh: str, fault: str) -> None:
    options = rt.runtime.MeshDeviceOptions(exact=fault == "exact")
    options.mesh_shape = [int(n) for n in mesh.split("x")]
    device = rt.runtime.open_mesh_device(options)
    binary = rt.binary.load_binary_from_path(path)
    inputs = [
        rt.runtime.create_multi_device_host_tensor_from_shards(
            [rt.runtime.create_host_tensor(np.full(shape, 0.01, np.float32))] * 8, {}, [2, 4]
        )
        for shape in [(4, 64), (64, 64), (64, 64)]
    ]
    for run in range(10**9):
        outputs = rt.runtime.submit(device, binary, 0, inputs)
        if run == 3:
            print("running", flush=True)
        if run < 20 or rt.runtime.get_rank() != 1:
            continue
        if fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif fault == "hang":
            time.sleep(3600)
        elif fault == "end":
            return
        elif fault == "raise":
            raise RuntimeError("this rank has had enough")
        elif fault == "other call":
            rt.runtime.to_host(outputs[0], untilize=True)
            rt.runtime.gather_from_ranks("a rank of its own mind")
        elif fault == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)


main(*sys.argv[1:])
