# SPDX-License-Identifier: Apache-2.0
"""Check that a flatbuffer can run on a machine: it is intact, has this version, and was compiled for such chips, whose
memories have room for its tensors and circular buffers. Nothing runs.

The machine is the one that --system-desc describes (see ttrt query --save), else a simulated one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from . import machine
from .errors import InputError
from .file import File, load
from .output import print_json
from .query import description

EXAMPLES = """
ttrt check model.ttnn --mesh n300
ttrt check model.ttnn --system-desc blackhole.ttsys
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.ttnn")
    parser.add_argument("--system-desc", metavar="FILE", help="description of the machine, as the compiler reads it")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    machine.arguments(parser, "that of the file")


def described(path: str) -> dict[str, Any]:
    """Returns a description as the compiler understands it: what it writes into a flatbuffer of a program that does
    nothing."""
    from _ttmlir_runtime import binary
    from ttmlir import ir, passes

    with open(path, "rb"):  # says why not, in the system's words
        pass
    module = ir.Module.parse("func.func @f() { return }", ir.Context())
    try:
        passes.run_pass(module, "ttcore-register-device", f"system-desc-path={path}")
        data = passes.ttnn_to_flatbuffer_bin(module)
    except ir.MLIRError as error:
        raise InputError("; ".join(d.message for d in error.error_diagnostics) or str(error)) from error
    return json.loads(binary.load_binary_from_bytes(data).get_system_desc_as_json())


def differences(file: File, system: dict[str, Any]) -> Iterator[str]:
    """Yields what the file needs and the machine does not have."""
    needed, there = file.system["chips"], system["chips"]
    if not needed:
        return
    chip, other = needed[0], there[0]
    if chip["arch"] != other["arch"]:
        yield f"compiled for {chip['arch']}, the machine has {other['arch']}"
        return
    for name, value in chip.items():
        if name in other and other[name] != value:
            yield f"compiled for {name} {value}, the machine has {other[name]}"


def wrong_meshes(file: File, shape: machine.Mesh | None) -> Iterator[str]:
    """Yields programs that do not run on a mesh; those of one chip run on any."""
    for program in file.programs:
        if shape is not None and program.mesh not in ((1, 1), shape):
            ours, theirs = machine.mesh_text(program.mesh), machine.mesh_text(shape)
            yield f'"{program.name}" is for a mesh of {ours}, the machine has {theirs}'


def unprepared(file: File, arch: str) -> Iterator[str]:
    """Yields why programs cannot be prepared for their chips: mostly memory that is too small. Places of a TTMetal file
    are in the file, and are checked when it is loaded."""
    import _ttmlir_runtime as rt

    for program in () if file.is_metal else file.programs:
        try:
            rt.runtime.estimate(file.binary, program.index, arch, program.mesh)
        except rt.Error as error:
            yield str(error)


def run(args: argparse.Namespace) -> int:
    file = load(args.file)
    if args.system_desc:
        if args.arch or args.mesh:
            raise InputError("--system-desc describes the machine; --arch and --mesh do so, too")
        system = described(args.system_desc)
        arch = system["chips"][0]["arch"]
        shape = None  # a description says which chips there are, not how they are connected
    else:
        rows, columns = file.system["mesh_shape"] or (1, 1)
        arch, shape = machine.chosen(args, file.arch, (rows, columns))
        system = description(arch, shape)
    found = [*differences(file, system), *wrong_meshes(file, shape)] or list(unprepared(file, arch))
    if args.json:
        print_json({"file": args.file, "fits": not found, "problems": found})
    if found:
        raise InputError(f"{args.file}: {'; '.join(found)}")
    if not args.json:
        print(f"{args.file}: {len(file.programs)} programs, fits")
    return 0
