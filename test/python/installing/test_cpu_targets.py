# SPDX-License-Identifier: Apache-2.0
"""Compiles the runtime's sources of vectors for CPUs other than this one.

Most of the runtime is compiled for the CPU of the machine that builds it. Some errors depend on that CPU: clang refuses
to pass vectors of 512 bits by value, for example, unless AVX-512 is enabled. Sources of one unit, like AMX, have the
same flags on every machine.
"""

from __future__ import annotations

import json
import platform
import re
import shlex
import subprocess
from pathlib import Path

import _ttmlir_runtime as rt
import pytest

HEADER = Path(__file__).resolve().parents[3] / "runtime" / "lib" / "precompiled.h"
VECTORS = re.compile(r"scalars::Vector|ext_vector_type|convertvector|lanes\.h")


def commands() -> dict[Path, tuple[Path, list[str]]]:
    """The folder and the command that compile each source of the runtime whose flags depend on the machine."""
    built = next(
        folder for folder in Path(rt.__file__).resolve().parents if (folder / "compile_commands.json").is_file()
    )
    found = {}
    for entry in json.loads((built / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        cpus = [word for word in words if word.startswith("-march=")]
        if "/runtime/lib/" in entry["file"] and len(cpus) == 1 and "-Dttrt_EXPORTS" in words:
            found[Path(entry["file"])] = Path(entry["directory"]), words
    return found


def compiled_for(words: list[str], march: str, folder: Path, *output: str) -> list[str]:
    """The command for another CPU: without the precompiled header, which is of this one, and without optimisation."""
    end = next((at for at, word in enumerate(words) if word == "-Winvalid-pch"), words.index("-o"))
    kept = [word for word in words[:end] if not re.fullmatch(r"-O\d|-march=.*", word)]
    return [*kept, "-O0", f"-march={march}", *(output or ("-S", "-o", str(folder / "out.s"))), words[-1]]


def precompiled(words: list[str], march: str, folder: Path, directory: Path) -> list[str]:
    """Precompiles the runtime's header for another CPU, and returns the arguments that use it.

    Most of the time goes into the headers of the sources.
    """
    made = str(folder / "precompiled.pch")
    command = compiled_for([*words[:-1], str(HEADER)], march, folder, "-x", "c++-header", "-o", made)
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ["-include-pch", made]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="units of x86-64")
def test_sources_of_vectors_compile_for_another_cpu(tmp_path: Path) -> None:
    march = "x86-64-v3" if "avx512" in rt.runtime.get_available_units() else "x86-64-v4"
    sources = {file: made for file, made in commands().items() if VECTORS.search(file.read_text())}
    assert len(sources) > 5
    directory, words = next(iter(sources.values()))
    header = precompiled(words, march, tmp_path, directory)
    for file, (directory, words) in sources.items():
        command = [*compiled_for(words, march, tmp_path), *header]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
        assert done.returncode == 0, f"{file.name}: {done.stderr}"


def test_the_test_sees_such_an_error(tmp_path: Path) -> None:
    source = tmp_path / "by_value.cpp"
    source.write_text(
        "using V = float __attribute__((ext_vector_type(16)));\nV twice(V x) { return x + x; }\n"
        "V four_times(V x) { return twice(twice(x)); }\n"
    )
    words = next(iter(commands().values()))[1]
    refused = subprocess.run(
        compiled_for([*words[:-1], str(source)], "x86-64-v3", tmp_path), capture_output=True, text=True, cwd=tmp_path
    )
    assert refused.returncode != 0 and "avx512f" in refused.stderr
