# SPDX-License-Identifier: Apache-2.0
"""Emitted C++ as a shared library: found compiler, kept results, errors by file and line."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from builder.base.errors import TTBuilderRuntimeException

COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden")
KEPT = 256  # compiled programs in the cache


def compiler() -> list[str]:
    """Returns the command of the C++ compiler: $CXX, or the first of c++, g++ and clang++ in PATH.

    Raises:
        TTBuilderRuntimeException: there is none; says what to install.
    """
    chosen = shlex.split(os.environ.get("CXX", ""))
    if chosen:
        if shutil.which(chosen[0]) is None:
            raise TTBuilderRuntimeException(f"CXX is {chosen[0]!r}, which cannot be run")
        return chosen
    for name in COMPILERS:
        if shutil.which(name):
            return [name]
    raise TTBuilderRuntimeException(
        f"no C++ compiler: CXX is not set, and PATH has none of {', '.join(COMPILERS)}; install one with C++20 "
        "(apt install g++) or set CXX"
    )


def cache_folder() -> Path:
    base = os.environ.get("TTMLIR_CACHE_DIR")
    if base:
        return Path(base) / "programs"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ttmlir" / "programs"


def state_of(path: Path) -> list[int]:
    """Changes when the file does."""
    try:
        status = path.stat()
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size]


def compiled(sources: Sequence[str | os.PathLike[str]]) -> Path:
    """Returns the shared library of C++ files; one that was built from the same files before is used again.

    It is kept in the user's cache ($TTMLIR_CACHE_DIR, $XDG_CACHE_HOME/ttmlir or ~/.cache/ttmlir), by the sources, the
    compiler, the flags and the library; headers that a source includes are looked at as well.

    Raises:
        TTBuilderRuntimeException: no source, no compiler, code that does not compile (with the compiler's first
            message), or a cache that cannot be written to.
    """
    from ttnn import config  # loads the whole package

    paths = [Path(source).resolve() for source in sources]
    try:
        texts = [path.read_bytes() for path in paths]
    except OSError as error:
        raise TTBuilderRuntimeException(f"cannot read {error.filename}: {error.strerror}") from error
    try:
        library = Path(config.library_dir()) / "libttrt.so"
        command = [*compiler(), *FLAGS, f"-I{config.include_dir()}"]
    except FileNotFoundError as error:
        raise TTBuilderRuntimeException(str(error)) from error
    link = [str(library), f"-Wl,-rpath,{library.parent}"]
    identity = json.dumps([command, link, shutil.which(command[0]), state_of(library), [str(path) for path in paths]])
    key = hashlib.sha256(b"\0".join([identity.encode(), *texts])).hexdigest()[:32]
    folder = cache_folder()
    result, record = folder / f"{key}.so", folder / f"{key}.json"
    if result.is_file() and is_current(record):
        os.utime(result)
        return result
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=f".{key}.") as scratch:
            build(command, link, paths, Path(scratch), result, record)
        prune(folder)
    except OSError as error:
        raise TTBuilderRuntimeException(
            f"cannot keep the compiled program in {folder}: {error.strerror or error}; "
            "TTMLIR_CACHE_DIR names another folder"
        ) from error
    return result


def is_current(record: Path) -> bool:
    """Returns whether the headers are as they were when the library was made."""
    try:
        headers = json.loads(record.read_text())
    except (OSError, ValueError):
        return False
    return all(state_of(Path(header)) == state for header, state in headers.items())


def build(command: list[str], link: list[str], sources: list[Path], scratch: Path, result: Path, record: Path) -> None:
    """Compiles to `made`, and writes its inputs to `record`; both files appear at once."""
    output, depends = scratch / "program.so", scratch / "program.d"
    inputs = [str(source) for source in sources]
    found = subprocess.run(
        [*command, "-MMD", "-MF", str(depends), *inputs, *link, "-o", str(output)],
        capture_output=True,
        text=True,
        errors="replace",
    )
    if found.returncode:
        names = ", ".join(inputs)
        raise TTBuilderRuntimeException(f"{names} does not compile ({command[0]}):\n{first_error(found.stderr)}")
    headers = depends.read_text().replace("\\\n", " ").split()[1:] if depends.is_file() else []
    (scratch / "record").write_text(json.dumps({h: state_of(Path(h)) for h in headers if h not in inputs}))
    os.replace(scratch / "record", record)
    os.replace(output, result)


def first_error(text: str) -> str:
    """Returns the compiler's first error with the lines that show its location; everything if there is no such line."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if re.search(r":\d+(:\d+)?: (fatal )?error: ", line)), None)
    if start is None:
        return text.strip() or "the compiler says nothing"
    end = start + 1
    while end < len(lines) and end < start + 6 and not re.search(r":\d+(:\d+)?: \w+( \w+)?: ", lines[end]):
        end += 1
    return "\n".join(lines[start:end])


def prune(folder: Path) -> None:
    """Forgets the libraries that were not used for longest."""
    result = sorted(folder.glob("*.so"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for old in result[KEPT:]:
        old.unlink(missing_ok=True)
        old.with_suffix(".json").unlink(missing_ok=True)
