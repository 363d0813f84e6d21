# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of several processes in one of them, and prints the name and the error of each as JSON."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import textwrap
import traceback

import jax
import run_programs

HEAD = """
PROCESSES = jax.process_count()
COUNT = len(jax.devices())
mesh = jax.make_mesh((COUNT,), ("x",), axis_types=(Auto,))
def from_local(v, spec):
    s = NamedSharding(mesh, spec)
    rows = [np.arange(len(v))[index[0]] for index in s.addressable_devices_indices_map(v.shape).values()]
    return jax.make_array_from_process_local_data(s, v[np.concatenate(rows)], v.shape)
def gathered(x):
    from jax.experimental import multihost_utils
    return multihost_utils.process_allgather(x, tiled=True)
def process_sum(value):
    from jax.experimental import multihost_utils
    return int(np.sum(multihost_utils.process_allgather(np.int32(value))))
"""


def main(index: int, count: int, port: int, folder: str, pattern: str = "") -> None:
    import process_programs

    jax.distributed.initialize(f"127.0.0.1:{port}", count, index)
    for table, programs in vars(process_programs).items():
        for name, text in programs.items() if table.isupper() else ():
            if not re.search(pattern, name):
                continue
            error = ""
            try:
                head = run_programs.HEAD.replace("COUNT = SIZES[0] * SIZES[1]\n", "") + HEAD
                program = compile(head + textwrap.dedent(text), name, "exec")
                with contextlib.redirect_stdout(sys.stderr):  # what programs print
                    exec(program, {"FOLDER": folder, "__name__": "program"})
            except Exception as raised:
                error = "".join(traceback.format_exception(raised))
            print(json.dumps([name, error]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
