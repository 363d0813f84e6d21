# SPDX-License-Identifier: Apache-2.0
"""Emitted C++ as a shared library: found compiler, kept results, errors by file and line."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from builder.base.errors import TTBuilderRuntimeException

COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden")
KEPT = 256  # compiled programs in the cache
# All that emitted programs include. Its precompiled form saves a program 1 s, and one with kernels 2.5 s, and takes as
# long to make as two of these: it is made behind the first few programs.
HEADERS = ("ttnn/control.hpp", "ttnn/generic_op.hpp", "ttnn/host_call.hpp", "ttnn/program.hpp", "ttnn/ttnn.hpp")
PROGRAMS_BEFORE = 4
KEPT_HEADERS = 2  # of 140 MB each, with GCC
RETRY = 3600  # seconds until a form that could not be generated or used is generated again


def compiler() -> list[str]:
    """Returns the command of the C++ compiler: $CXX, or the first of c++, g++ and clang++ in PATH.

    Raises:
        TTBuilderRuntimeException: there is none; says what to install.
    """
    try:
        chosen = shlex.split(os.environ.get("CXX", ""))
    except ValueError as error:
        raise TTBuilderRuntimeException(f"CXX is {os.environ['CXX']!r}, which is no command: {error}") from error
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
    if result.is_file() and recorded(record) is not None:
        os.utime(result)
        return result
    try:
        folder.mkdir(parents=True, exist_ok=True)
        header = precompiled(command, state_of(library), folder, result)
        with tempfile.TemporaryDirectory(dir=folder, prefix=f".{key}.") as scratch:
            build(command, link, paths, header, Path(scratch), result, record)
        prune(folder)
    except OSError as error:
        raise TTBuilderRuntimeException(
            f"cannot keep the compiled program in {folder}: {error.strerror or error}; "
            "TTMLIR_CACHE_DIR names another folder"
        ) from error
    return result


class Header(NamedTuple):
    """A header that the compiler has a precompiled form of next to it."""

    path: Path
    states: dict[str, list[int]]  # of the headers in it

    @property
    def form(self) -> Path:
        return self.path.with_name("program.hpp.gch")


def precompiled(command: list[str], library: list[int], folder: Path, result: Path) -> Header | None:
    """Returns a header to begin programs with, or None.

    It is kept in `folder`, by compiler, flags and library, and generated again when one of its headers changes. There
    is none while `folder` has few programs other than `result`, while another process generates it, and where it cannot
    be generated, kept or used.
    """
    program = shutil.which(command[0]) or ""
    identity = json.dumps([command, program, state_of(Path(program)), library, HEADERS])
    own = folder / "headers" / hashlib.sha256(identity.encode()).hexdigest()[:32]
    header, record = Header(own / "program.hpp", {}), own / "record.json"

    def current() -> Header | None:
        known = recorded(record) if header.form.is_file() else None
        if known is None:
            return None
        os.utime(own)
        return header._replace(states=known)

    try:
        if (found := current()) or sum(path != result for path in folder.glob("*.so")) < PROGRAMS_BEFORE:
            return found
        if (own / "refused").is_file() and time.time() - (own / "refused").stat().st_mtime < RETRY:
            return None
        own.mkdir(parents=True, exist_ok=True)
        with open(own / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError while another process has it
            if not (found := current()):
                found = generated(command, header, record)
        every = sorted(own.parent.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for old in every[KEPT_HEADERS:]:
            shutil.rmtree(old, ignore_errors=True)
        return found
    except OSError:
        return None


def generated(command: list[str], header: Header, record: Path) -> Header | None:
    """Makes the precompiled form of a header, under the lock of its folder; None if the compiler cannot, or if a header
    changed meanwhile."""
    own = record.parent
    for left in own.glob("generating*"):  # of a process that was ended
        shutil.rmtree(left, ignore_errors=True)
    header.form.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=own, prefix="generating") as scratch:
        text, output, depends = (Path(scratch) / name for name in ("text", "gch", "depends"))
        text.write_text("".join(f"#include <{each}>\n" for each in HEADERS))
        os.replace(text, header.path)
        begin = header.path.stat().st_mtime_ns  # by the clock of the file system
        options = ["-MMD", "-MF", str(depends), "-x", "c++-header", str(header.path), "-o", str(output)]
        done = subprocess.run([*command, *options], capture_output=True)
        found = {name: state for name, state in states(depends).items() if name != str(header.path)}
        if any(not state or state[0] > begin for state in found.values()):
            return None
        if done.returncode or not output.is_file():
            (own / "refused").touch()
            return None
        text.write_text(json.dumps(found))
        os.replace(text, record)
        os.replace(output, header.form)
    return header._replace(states=found)


def states(depends: Path) -> dict[str, list[int]]:
    """Returns the states of the files of a rule for make."""
    names = depends.read_text().replace("\\\n", " ").split()[1:] if depends.is_file() else []
    return {name: state_of(Path(name)) for name in names}


def recorded(record: Path) -> dict[str, list[int]] | None:
    """Returns the states of the headers with which a library, or their precompiled form, was made; None if they are
    others now."""
    try:
        headers = json.loads(record.read_text())
    except (OSError, ValueError):
        return None
    return headers if all(state_of(Path(header)) == state for header, state in headers.items()) else None


def build(
    command: list[str],
    link: list[str],
    sources: list[Path],
    header: Header | None,
    scratch: Path,
    result: Path,
    record: Path,
) -> None:
    """Compiles to `result`, and writes its inputs to `record`; both files appear at once.

    Args:
        header: a precompiled one to begin with, or None. Where the compiler does not take it, there is none.
    """
    output, depends = scratch / "program.so", scratch / "program.d"
    inputs = [str(source) for source in sources]
    options = ["-MMD", "-MF", str(depends), *inputs, *link, "-o", str(output)]
    for used in (header, None) if header else (None,):
        first = ["-include", str(used.path)] if used else []
        found = subprocess.run([*command, *first, *options], capture_output=True, text=True, errors="replace")
        if not found.returncode:
            break
    if found.returncode:
        names = ", ".join(inputs)
        raise TTBuilderRuntimeException(f"{names} does not compile ({command[0]}):\n{first_error(found.stderr)}")
    others = set(inputs)
    if header:
        others |= {str(header.path), str(header.form)}
        if not used:
            with contextlib.suppress(OSError):  # its folder may be gone
                header.form.unlink(missing_ok=True)
                header.path.with_name("refused").touch()
    headers = {name: state for name, state in states(depends).items() if name not in others}
    if used:
        headers |= used.states
    (scratch / "record").write_text(json.dumps(headers))
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
