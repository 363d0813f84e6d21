# SPDX-License-Identifier: Apache-2.0
"""Compiled programs that are kept in a folder, for the next process that compiles the same."""

from __future__ import annotations

import functools
import hashlib
import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt

from .. import _mlir_libs, ir
from ..files import write_whole


@functools.cache
def compiler() -> bytes:
    """Another one for each build of the compiler."""
    libraries = sorted(Path(_mlir_libs.__file__).parent.glob("*.so*"))
    files = [(file.name, *file.stat()[6:9:2]) for file in [*libraries, Path(tt.__file__)]]
    return repr(files).encode()


@dataclass
class Cache:
    """Flatbuffers by what they are made of: TTIR, options of the pipeline, and the build of the compiler.

    store, load: the folders that they are written to and read from. clear: what is found is removed, and compiled.
    hits: programs that were found.
    """

    store: Path
    load: Path
    clear: bool = False
    hits: int = 0

    def name(self, module: ir.Module, pipeline: str) -> str:
        code = io.BytesIO()
        module.operation.write_bytecode(code)
        found = hashlib.sha256(compiler())
        for part in (pipeline.encode(), code.getvalue()):
            found.update(len(part).to_bytes(8, "little") + part)
        return f"{found.hexdigest()}.ttnn"

    def find(self, name: str) -> tuple[bytes, Any] | None:
        """The flatbuffer of this name, and what the runtime has made of it; None where there is none.

        Machine code that it has does not run: the file may be from elsewhere.

        Warns:
            UserWarning: a file that cannot be read, or that the runtime refuses; it is compiled anew.
        """
        path = self.load / name
        if self.clear:
            for folder in {self.load, self.store}:
                (folder / name).unlink(missing_ok=True)
            return None
        try:
            data = path.read_bytes()
            binary = tt.binary.load_binary_from_bytes(data)
        except FileNotFoundError:
            return None
        except (OSError, tt.Error) as error:
            warnings.warn(f"{path} is not used: {error}", stacklevel=2)
            return None
        self.hits += 1
        return data, binary

    def keep(self, name: str, flatbuffer: bytes) -> None:
        """
        Raises:
            OSError: the folder or the file cannot be written.
        """
        if not self.clear:
            self.store.mkdir(parents=True, exist_ok=True)
            write_whole(self.store / name, flatbuffer)
