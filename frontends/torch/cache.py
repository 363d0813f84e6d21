# SPDX-License-Identifier: Apache-2.0
"""Compiled programs that are kept in a folder, for the next process that compiles the same.

The environment's `TTMLIR_CACHE` says where, unless the option `cache` does: `off` (the default), `on` (the user's cache
folder), or the path of a folder.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import platform
import stat
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt
from ttmlir import _mlir_libs, ir
from ttmlir.files import whole_file

VARIABLE = "TTMLIR_CACHE"
OFF, ON = ("", "0", "off"), ("1", "on")
# A file is this line, a digest of its name and what follows, and the flatbuffer.
HEAD = b"ttmlir program 1\n"
# Names of functions in machine code begin with it (runtime/lib/core/native_code.cpp).
NATIVE = b"native:"


class NotUsedError(Exception):
    """Raised when a file is not used; the text says why."""


@functools.cache
def compiler() -> bytes:
    """Describes what programs depend on in addition to their module and options: the build of the compiler, and the
    CPU."""
    libraries = sorted(Path(_mlir_libs.__file__).parent.glob("*.so*"))
    files = [(file.name, *file.stat()[6:9:2]) for file in [*libraries, Path(tt.__file__)]]
    return repr((files, platform.machine(), tt.runtime.get_available_units())).encode()


def user_folder() -> Path:
    """Returns the folder of programs in the user's cache folder."""
    if base := os.environ.get("TTMLIR_CACHE_DIR"):
        return Path(base) / "torch"
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "ttmlir" / "torch"


def requested_cache(given: Any) -> Cache | None:
    """Returns the cache that an option requests, or None.

    given: a `Cache`, a folder, True for the user's folder, False for none, or None for what the environment says.
        `TTMLIR_CACHE=off` turns off what options ask for, too.

    Raises:
        TypeError: the option is something else.
        ValueError: the environment says something else.
    """
    said = os.environ.get(VARIABLE)
    if not isinstance(given, Cache | str | os.PathLike | bool | None):
        expected = "a folder, True (the user's), False, a ttmlir.torch.cache.Cache, or None"
        raise TypeError(f"option cache is {given!r}; expected {expected}")
    if said is not None and said.lower() in OFF[1:]:
        return None
    if isinstance(given, Cache):
        return given
    if given is None:
        said = said or ""
        if said.lower() not in OFF + ON and os.sep not in said:
            raise ValueError(f"{VARIABLE}={said}; expected off, on, or the path of a folder with a {os.sep!r} in it")
        given = said if os.sep in said else said.lower() in ON
    if isinstance(given, bool):
        return Cache.of(user_folder()) if given else None
    return Cache.of(Path(given).expanduser())


def read_own(path: Path) -> bytes:
    """Reads a file that this user has written.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be read.
        NotUsedError: another user may have written it.
    """
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise NotUsedError("it is no regular file")
        if found.st_uid not in (os.geteuid(), 0):
            raise NotUsedError(f"it belongs to user {found.st_uid}, and this process to {os.geteuid()}")
        if found.st_mode & stat.S_IWOTH:
            raise NotUsedError("every user may write it")
        return file.read()


def digest(name: str, flatbuffer: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + flatbuffer).digest()


@dataclass
class Cache:
    """Flatbuffers by their inputs: TTIR, options of the pipeline, the build of the compiler, and the CPU.

    A program that cannot be kept or found is compiled, and a warning says why.

    store, load: the folders that they are written to and read from. clear: what is found is removed, and compiled.
    hits: programs that were found.
    """

    store: Path
    load: Path
    clear: bool = False
    hits: int = 0

    @classmethod
    def of(cls, folder: Path) -> Cache:
        return cls(folder, folder)

    def name(self, module: ir.Module, pipeline: str) -> str:
        code = io.BytesIO()
        module.operation.write_bytecode(code)
        found = hashlib.sha256(compiler())
        for part in (pipeline.encode(), code.getvalue()):
            found.update(len(part).to_bytes(8, "little") + part)
        return f"{found.hexdigest()}.ttnn"

    def find(self, name: str) -> tuple[bytes, Any] | None:
        """Returns the flatbuffer of this name, and the binary that the runtime loaded from it; None if missing.

        Machine code that it has does not run: the file may be from elsewhere.

        Warns:
            UserWarning: a file that cannot be read, that another user may have written, that is damaged, or that the
                runtime refuses; it is compiled again.
        """
        path = self.load / name
        try:
            if self.clear:
                for folder in {self.load, self.store}:
                    (folder / name).unlink(missing_ok=True)
                return None
            data = read_own(path)
            flatbuffer = data[len(HEAD) + 32 :]
            if not data.startswith(HEAD) or data[len(HEAD) : len(HEAD) + 32] != digest(name, flatbuffer):
                raise NotUsedError("it is damaged, or was written for another program")
            binary = tt.binary.load_binary_from_bytes(flatbuffer)
        except FileNotFoundError:
            return None
        except (OSError, NotUsedError, tt.Error) as error:
            warnings.warn(f"{path} is not used: {error}", stacklevel=2)
            return None
        self.hits += 1
        return flatbuffer, binary

    def keep(self, name: str, flatbuffer: bytes) -> None:
        """Writes a program, unless it has machine code, which would not run.

        Warns:
            UserWarning: the folder or the file cannot be written.
        """
        if self.clear or NATIVE in flatbuffer:
            return
        try:
            self.store.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self.store / name
            path.unlink(missing_ok=True)  # what is not used: also a pipe, or another user's file
            with whole_file(path) as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(HEAD + digest(name, flatbuffer) + flatbuffer)
        except OSError as error:
            warnings.warn(f"a compiled program is not kept: {error}", stacklevel=2)
