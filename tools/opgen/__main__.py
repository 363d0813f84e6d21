# SPDX-License-Identifier: Apache-2.0
"""Describe every op of the dialects once, for all that has to know what it takes.

usage: python tools/opgen RECORDS.json FOLDER

RECORDS.json: include/ttmlir/Dialect/AllOps.td as llvm-tblgen --dump-json prints it. Written to FOLDER, each only if it
differs from the file:

    ttmlir/Target/TTNN/Api.inc               ops, functions, enums and structs of the library, as C++ tables
    ttmlir/Target/TTNN/AttributeVisitor.inc  fields of structured attributes and names of enums, for writers
    ops.json                                 all ops of all dialects, for Python
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import emit
import functions
import split
from describe import read


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    dialects = read(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), functions.ENUM_TYPES)
    result = {
        "ttmlir/Target/TTNN/Api.inc": emit.api,
        "ttmlir/Target/TTNN/AttributeVisitor.inc": emit.visitor,
        "ops.json": emit.description,
    }
    for name, make in result.items():
        split.write(Path(sys.argv[2]) / name, make(dialects))
    return 0


if __name__ == "__main__":
    sys.exit(main())
