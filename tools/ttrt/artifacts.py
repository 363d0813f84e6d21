# SPDX-License-Identifier: Apache-2.0
"""The folder in which a command saves its artefacts."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttmlir.files import whole_file, write_whole

from .errors import InputError

if TYPE_CHECKING:
    from .execution import Execution
    from .flatbuffer_goldens import ProgramGoldens

FOLDER = "ttrt-artifacts"
SYSTEM = "system_desc.ttsys"
RUN_REPORT, READ_REPORT = "run_results.json", "read_results.json"


def arguments(parser: argparse.ArgumentParser, what: str) -> None:
    group = parser.add_argument_group("artefacts")
    group.add_argument("--save-artifacts", action="store_true", help=f"write {what}")
    group.add_argument("--artifact-dir", default=FOLDER, metavar="DIR", help="where to (default: %(default)s)")
    group.add_argument("--clean-artifacts", action="store_true", help="empty the folder first")


def prepared(args: argparse.Namespace, report: str) -> Path | None:
    """Returns <artifact dir>/<name of the file>, made and if so wished emptied; None when nothing is to be saved.

    report: the file in it by which a folder is known as one of ours.
    """
    folder = Path(args.artifact_dir) / Path(args.file).stem
    if args.clean_artifacts and folder.exists():
        if any(folder.iterdir()) and not (folder / report).exists():
            raise InputError(f"--clean-artifacts: {folder} has no {report}, so it is not a folder of artefacts")
        shutil.rmtree(folder)
    if not args.save_artifacts:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def save_run(folder: Path, run: Execution, goldens: ProgramGoldens | None) -> None:
    """Saves <folder>/<program>/input_0.pt and so on; tensors of several devices are lists of them."""
    import torch

    from .arrays import to_torch

    place = folder / run.program.name
    place.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, Any] = {f"input_{i}": list(map(to_torch, v.arrays.values())) for i, v in enumerate(run.inputs)}
    tensors |= {f"output_{i}": list(map(to_torch, shards)) for i, shards in enumerate(run.found)}
    if goldens is not None:
        tensors |= {f"golden_{i}": list(v.shard_map.values()) for i, v in enumerate(goldens.outputs)}
    for source, results in run.values.items():
        number = source.replace("/", "_")
        tensors |= {f"op_{number}" + (f"_{i}" if i else ""): shards for i, shards in enumerate(results)}
    for name, shards in tensors.items():
        with whole_file(place / f"{name}.pt") as file:
            torch.save(shards[0] if len(shards) == 1 else shards, file)
    if run.memory:
        write_whole(place / "memory.json", json.dumps(run.memory, indent=1))
