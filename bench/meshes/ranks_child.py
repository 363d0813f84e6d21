# SPDX-License-Identifier: Apache-2.0
"""One process, or one rank of several, that runs a program of a mesh again and again.

    python -m bench.meshes.ranks_child FILE.ttnn ROWSxCOLUMNS SECONDS

Rank 0 prints, for each rank, the median seconds of a run and the seconds of processor time of a run, as JSON. A rank
that waits for another one asks again and again, which is processor time, too.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import _ttmlir_runtime as rt
import torch
from builder.execution.device_tensors import convert_input_layouts, host_tensor, program_inputs_as_dict

from ..harness import once


def main() -> None:
    path, mesh, seconds = sys.argv[1:]
    options = rt.runtime.MeshDeviceOptions()
    options.mesh_shape = tuple(map(int, mesh.split("x")))
    device = rt.runtime.open_mesh_device(options)
    binary = rt.binary.load_binary_from_path(path)
    torch.manual_seed(0)
    values = [torch.randn(each["desc"]["shape"]) / 32 for each in program_inputs_as_dict(binary, 0)]
    inputs = convert_input_layouts(device, [host_tensor(value) for value in values], fbb=binary, program_index=0)

    def run() -> None:
        rt.runtime.submit(device, binary, 0, inputs)

    first = max(map(float, rt.runtime.gather_from_ranks(str(min(once(run) for _ in range(3))))))
    runs = max(3, int(1e3 * float(seconds) / first))  # the same on all ranks
    used = time.process_time()
    times = [once(run) / 1e3 for _ in range(runs)]
    found = {"median": statistics.median(times), "processor": (time.process_time() - used) / runs}
    everyone = rt.runtime.gather_from_ranks(json.dumps(found))
    if rt.runtime.get_rank() == 0:
        print(json.dumps([json.loads(text) for text in everyone]))


if __name__ == "__main__":
    main()
