# SPDX-License-Identifier: Apache-2.0
"""Exchanges tensor files with ttnn 0.81.1, which it installs into a folder of its own.

    python test/python/ttnn/library/exchange_files.py PYTHON [--record]

PYTHON is an interpreter of version 3.10 or 3.12, for which the package exists; it needs no card. Both sides write the
same tensors. The program fails unless the library reads each of our files, with the same values, specification and data
bytes as its own, and we read each of its files. With --record, it prints the rows of tensor_files.txt.
"""

from __future__ import annotations

import argparse
import base64
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

CHIP = """
arch: {0: wormhole_b0}
chips: {0: [0, 0, 0, 0]}
ethernet_connections: []
chips_with_mmio: [0: 0]
harvesting: {0: {noc_translation: true, harvest_mask: 32}}
boardtype: {0: n150}
chip_to_boardtype: {0: n150}
chip_unique_ids: {0: 1649267441665}
boards: [[{board_id: 1649267441665}, {board_type: n150}, {chips: [0]}]]
"""
DTYPES = "bfloat16 float32 uint32 bfloat8_b bfloat4_b uint8 uint16 int32 int8"
LAYOUTS = "ROW_MAJOR TILE"
SHAPES = [(3, 5), (2, 33, 65), (7,), ()]
RECORDED = [(3, 5)]


def numbers(shape: tuple[int, ...]) -> list[int]:
    """Returns the values of a tensor, row by row."""
    count = 1
    for size in shape:
        count *= size
    return [i % 13 for i in range(count)]


def names() -> list[tuple[str, str, str, tuple[int, ...]]]:
    """Returns file, data type, layout and shape of each tensor; block formats exist in tiles only."""
    return [
        (f"{dtype}-{layout}-{'x'.join(map(str, shape))}.tensorbin", dtype, layout, shape)
        for dtype in DTYPES.split()
        for layout in LAYOUTS.split()
        for shape in SHAPES
        if layout == "TILE" or not dtype.endswith("_b")
    ]


# Runs with the library: writes its files into one folder, and compares those of the other with them.
LIBRARY = """
import sys
from pathlib import Path
import ttnn
from exchange_files import names, numbers

theirs, ours = map(Path, sys.argv[1:])
for file, dtype, layout, shape in names():
    layout = getattr(ttnn, layout + "_LAYOUT")
    kind = float if "float" in dtype else int
    tensor = ttnn.Tensor(list(map(kind, numbers(shape))), list(shape), getattr(ttnn, dtype), layout)
    ttnn.dump_tensor(str(theirs / file), tensor)
    if dtype == "int8":
        continue
    read = ttnn.load_tensor(str(ours / file))
    assert read.spec == tensor.spec and read.to_list() == tensor.to_list(), file
    data = [(folder / file).read_bytes() for folder in (theirs, ours)]
    bodies = [each[8 + int.from_bytes(each[:8], "little"):] for each in data]
    assert bodies[0] == bodies[1], file
"""


def run_library(python: str, folder: Path, program: str, *arguments: str) -> None:
    """Runs a program with the library, which is installed into the folder; exits with its messages where it fails."""
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    own = folder / "venv/bin/python"
    subprocess.run([own, "-m", "pip", "install", "-q", "ttnn==0.81.1"], check=True)
    (folder / "chip.yaml").write_text(CHIP)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parent),
        "TT_METAL_MOCK_CLUSTER_DESC_PATH": str(folder / "chip.yaml"),
        "HOME": str(folder),
    }
    done = subprocess.run([own, "-c", program, *arguments], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-4000:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    import torch
    import ttnn

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs, ours = folder / "theirs", folder / "ours"
        for each in (theirs, ours):
            each.mkdir()
        for file, dtype, layout, shape in names():
            if dtype != "int8":
                values = torch.tensor(numbers(shape), dtype=torch.float32).reshape(shape)
                tensor = ttnn.from_torch(values, getattr(ttnn, dtype), layout=getattr(ttnn, f"{layout}_LAYOUT"))
                ttnn.dump_tensor(str(ours / file), tensor)
        run_library(given.python, folder, LIBRARY, str(theirs), str(ours))
        for file, dtype, layout, shape in names():
            read = ttnn.load_tensor(str(theirs / file))
            assert (read.layout.name, tuple(read.shape)) == (layout, shape), file
            expected = torch.tensor(numbers(shape), dtype=torch.float64).reshape(shape)
            if not dtype.endswith("_b"):
                assert torch.equal(ttnn.to_torch(read).double(), expected), file
            if given.record and shape in RECORDED:
                print(file, base64.b64encode(zlib.compress((theirs / file).read_bytes(), 9)).decode())
    if not given.record:
        print(len(names()), "files exchanged")


if __name__ == "__main__":
    main()
