# SPDX-License-Identifier: Apache-2.0
"""Describe a simulated machine: its chips and their memories.

--save and --save-artifacts write the description as the compiler reads it (system-desc-path of its pipelines); the
builder reads the latter's file automatically.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ttmlir.files import write_whole

from . import artifacts, machine
from .output import grouped, pairs, print_json, write_json

EXAMPLES = """
ttrt query --mesh n300
ttrt query --arch blackhole --save blackhole.ttsys
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    machine.arguments(parser, f"{machine.DEFAULT_ARCH}, 1x1")
    parser.add_argument("--json", action="store_true", help="print the description as JSON")
    parser.add_argument("--result-file", metavar="FILE", help="write it as JSON to FILE")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    parser.add_argument("--save", metavar="FILE", help="write the description for the compiler to FILE")
    artifacts.arguments(parser, artifacts.SYSTEM)


def description(arch: str, shape: machine.Mesh) -> dict[str, Any]:
    """Returns what the runtime says of itself."""
    import _ttmlir_runtime as rt

    with machine.opened(arch, shape) as device:
        return json.loads(rt.runtime.get_current_system_desc(mesh_device=device).as_json())


def compiler_text(arch: str, shape: machine.Mesh) -> str:
    """Returns the attribute that the compiler takes for this machine."""
    from ttmlir.dialects.ttcore.ir import SystemDescAttr
    from ttmlir.ir import Attribute, Context

    context = Context()
    with context:
        value: Any = Attribute.parse(f"#ttcore.arch<{arch}>", context)
        return f"{SystemDescAttr.get_default(value.value, list(shape))}\n"


def run(args: argparse.Namespace) -> int:
    arch, shape = machine.chosen(args, machine.DEFAULT_ARCH, (1, 1))
    desc = description(arch, shape)
    kept = Path(args.artifact_dir) / artifacts.SYSTEM
    if args.clean_artifacts:
        kept.unlink(missing_ok=True)
    if args.save_artifacts:
        kept.parent.mkdir(parents=True, exist_ok=True)
    for path in [*([args.save] if args.save else []), *([kept] if args.save_artifacts else [])]:
        write_whole(Path(path), compiler_text(arch, shape))
    if args.result_file:
        write_json(args.result_file, desc)
    if args.quiet:
        return 0
    if args.json:
        print_json(desc)
        return 0
    chips = desc["chips"]
    pairs(f"{len(chips)} x {arch}, mesh {machine.mesh_text(shape)}", chip_rows(chips[0]))
    return 0


def chip_rows(chip: dict[str, Any]) -> list[tuple[str, Any]]:
    rows, columns = chip["grid"]
    channels = chip["num_dram_channels"]
    return [
        ("worker cores", f"{rows * columns} ({rows} x {columns})"),
        ("L1 per core", f"{grouped(chip['l1_size'])} bytes"),
        ("L1 in all", f"{grouped(chip['l1_size'] * rows * columns)} bytes"),
        ("DRAM", f"{channels} channels of {grouped(chip['dram_channel_size'])} bytes"),
        ("DRAM in all", f"{grouped(channels * chip['dram_channel_size'])} bytes"),
        ("alignment", f"L1 {chip['noc_l1_address_align_bytes']}, DRAM {chip['noc_dram_address_align_bytes']} bytes"),
    ]
