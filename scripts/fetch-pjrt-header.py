#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches the header of the PJRT C API and prints the folder to include.

It lies in the wheel of tensorflow-cpu on PyPI, of which only the parts that hold it are requested (or all of it, where
the server does not give parts). Nothing else of the wheel is kept.

usage: scripts/fetch-pjrt-header.py [CACHE]     (default: ${XDG_CACHE_HOME:-~/.cache}/ttmlir)
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tempfile
import urllib.request
import zipfile
from pathlib import Path

VERSION = "0.90"
WHEEL = (
    "https://files.pythonhosted.org/packages/59/03/9a99555a762de8cd4a405efbd39a732d926d8e58791441889560b7675b3e/"
    "tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_27_x86_64.whl"
)
INCLUDE = "tensorflow/include/"
HEADER = "tensorflow/compiler/xla/pjrt/c/pjrt_c_api.h"
SHA256 = "b5cdbd8289178466b9e695985fe065fe57c9b57f816c8e02b5f6bcf61c7aec4b"


class Remote(io.RawIOBase):
    """A file on a server, of which parts are read. Blocks are kept: a zip's directory is read in small pieces."""

    BLOCK = 1 << 20

    def __init__(self, url: str) -> None:
        self.url, self.place = url, 0
        self.blocks: dict[int, bytes] = {}
        with self.ask(0, 0) as answer:
            self.ranges = answer.status == 206
            if self.ranges:
                self.size = int(answer.headers["Content-Range"].rpartition("/")[2])
            else:
                self.whole = answer.read()
                self.size = len(self.whole)

    def ask(self, first: int, last: int):  # type: ignore[no-untyped-def]
        request = urllib.request.Request(self.url, headers={"Range": f"bytes={first}-{last}"})
        return urllib.request.urlopen(request, timeout=120)

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: self.size}[whence]
        return self.place

    def block(self, number: int) -> bytes:
        if number not in self.blocks:
            first = number * self.BLOCK
            with self.ask(first, min(first + self.BLOCK, self.size) - 1) as answer:
                self.blocks[number] = answer.read()
        return self.blocks[number]

    def readinto(self, into) -> int:  # type: ignore[no-untyped-def]
        count = max(0, min(len(into), self.size - self.place))
        if self.ranges:
            number, start = divmod(self.place, self.BLOCK)
            part = self.block(number)[start : start + count] if count else b""
        else:
            part = self.whole[self.place : self.place + count]
        into[: len(part)] = part
        self.place += len(part)
        return len(part)


def main() -> int:
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ttmlir"
    folder = (Path(sys.argv[1]) if len(sys.argv) > 1 else default) / f"pjrt-{VERSION}"
    header = folder / HEADER
    if not header.is_file() or hashlib.sha256(header.read_bytes()).hexdigest() != SHA256:
        print(f"fetch-pjrt-header: reading {HEADER} of {WHEEL.rpartition('/')[2]}", file=sys.stderr)
        try:
            with zipfile.ZipFile(io.BufferedReader(Remote(WHEEL))) as wheel:
                data = wheel.read(INCLUDE + HEADER)
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            print(f"fetch-pjrt-header: error: {WHEEL}: {error}", file=sys.stderr)
            return 1
        found = hashlib.sha256(data).hexdigest()
        if found != SHA256:
            print(f"fetch-pjrt-header: error: checksum of {HEADER} is {found}, expected {SHA256}", file=sys.stderr)
            return 1
        header.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=header.parent, delete=False) as file:
            file.write(data)
        os.chmod(file.name, 0o644)
        os.replace(file.name, header)
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
