# SPDX-License-Identifier: Apache-2.0
"""Random TTIR modules of one function, on one chip or on a mesh, as the text of a builder program.

A module is drawn op by op with what it computes: every value is known as tensors of torch, one for each chip where
they differ. That reference is written here, apart from the golden tables and from the runtime. It also keeps modules
within what can be compared: values stay small, and what a rounding error could flip (a comparison, a position) is drawn
of exact values only.

    python random_modules.py --print 17              the builder program of seed 17
    python random_modules.py --dump folder -n 2000   flatbuffers of seeds 0 to 1999, for ttrt-run-folder
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from random_collectives import COLLECTIVES
from random_ops import OPS
from random_values import ANY, Generator, Kind, Module

MESHES = ((1, 2), (2, 2), (2, 4))
# Of bf16, with many dimensions of 1 and others in addition to those of tiles and vectors.
THIN = Kind(torch.bfloat16, (1, 1, 1, 1, 2, 3, 31, 32, 33, 63, 64, 65))


def drawn(seed: int, mesh: tuple[int, int] = (1, 1), ops: int | None = None, kind: Kind = ANY) -> Module:
    """ops: how many calls, instead of a random number; fewer are the first ones of more."""
    return Generator(seed, mesh, kind).draw(OPS if mesh == (1, 1) else OPS + COLLECTIVES * 5, ops)


def dump(folder: Path, count: int, seed: int) -> None:
    """Flatbuffers of modules, for one chip and for meshes in turn."""
    from op_cases import lowered
    from ttmlir.passes import ttnn_to_flatbuffer_bin

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(seed, seed + count):
        mesh = ((1, 1), *MESHES)[number % 4]
        module = drawn(number, mesh)
        data = ttnn_to_flatbuffer_bin(lowered(module.built()[0], mesh))
        (folder / f"{number:06d}_{mesh[0]}x{mesh[1]}.ttnn").write_bytes(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", type=int, metavar="SEED", help="print the builder program of a seed")
    parser.add_argument("--ops", type=int, help="only the first calls of the printed program")
    parser.add_argument("--thin", action="store_true", help="the printed program is of bf16, with many sizes of 1")
    parser.add_argument("--mesh", default="1x1", help="of the printed program (default: %(default)s)")
    parser.add_argument("--dump", type=Path, metavar="FOLDER", help="write flatbuffers, named by seed and mesh")
    parser.add_argument("-n", "--count", type=int, default=100, help="of flatbuffers (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first flatbuffer (default: %(default)s)")
    args = parser.parse_args()
    if args.print is not None:
        rows, columns = map(int, args.mesh.split("x"))
        print(drawn(args.print, (rows, columns), args.ops, THIN if args.thin else ANY).program)
    if args.dump is not None:
        dump(args.dump, args.count, args.seed)


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[3]
    sys.path[:0] = [str(root / "tools"), str(root / "build" / "python_packages")]
    main()
