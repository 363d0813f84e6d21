# SPDX-License-Identifier: Apache-2.0
"""Outputs of programs compared with their goldens, however they were run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from golden import GoldenMapTensor
from golden.optional import torch
from ttmlir.files import whole_file

from builder.base.builder_utils import get_sanitized_filename
from builder.base.errors import TTBuilderGoldenException, TTBuilderRuntimeException
from builder.goldens.module_goldens import ProgramGoldens, Programs

from .argument_checks import checked_arguments
from .report import GoldenReport, Record
from .verdicts import Verdict, compare_shards, dtype_name, shards_of


def goldens_of(goldens: Mapping[int, Any] | None, place: int, name: str) -> Mapping[str, Any]:
    """Returns the goldens of the program called `name`: found by name where possible, else by its place among the
    public ones."""
    if goldens is None:
        return {}
    if isinstance(goldens, Programs):
        found = goldens.named(name)
        if found is None:
            raise TTBuilderRuntimeException(
                f"the goldens are of {', '.join(p.name for p in goldens.values())}; there are none for program {name!r}"
            )
        return found
    if place not in goldens:
        raise TTBuilderRuntimeException(f"no goldens for program {place} ({name!r}); there are {sorted(goldens)}")
    return goldens[place]


def numbered(goldens: Mapping[str, Any], prefix: str) -> list[str]:
    names = [n for n in goldens if n.startswith(prefix)]
    return sorted(names, key=lambda n: int(n.removeprefix(prefix)))


def output_records(
    name: str,
    goldens: Mapping[str, Any],
    found: Sequence[Sequence[torch.Tensor]],
    mesh_shape: Sequence[int],
    verdict: Verdict,
) -> list[Record]:
    """Returns a program's results compared with its goldens."""
    records = []
    producers = goldens.producers if isinstance(goldens, ProgramGoldens) else {}
    for place, output in enumerate(numbered(goldens, "output_")):
        producer = producers.get(output)
        op, location = ("", name) if producer is None else (producer.op, producer.location)
        if place >= len(found):
            raise TTBuilderRuntimeException(f"program {name!r} gave {len(found)} outputs, there is a golden {output}")
        golden = shards_of(goldens[output], mesh_shape)
        for shard, value, comparison in compare_shards(golden, found[place], verdict, True, producer):
            records.append(Record("output", output, op, location, shard, tuple(value.shape), dtype_name(value),
                                  comparison, verdict.accepts(comparison)))  # fmt: skip
    return records


def raise_uncompared(report: GoldenReport) -> None:
    """Raises for a program that was to be compared with goldens and has no value to compare."""
    names = [repr(program.name) for program in report.programs if not program.records]
    if not names and report.programs:
        return
    what = f"program {', '.join(names)}: it gives no value" if names else "the binary has no public program"
    error = TTBuilderGoldenException(
        f"nothing was compared of {what}; return values from its function, or run it with disable_golden=True", []
    )
    error.report = report
    raise error


def raise_failures(report: GoldenReport) -> None:
    failures = report.failures
    if not failures:
        return
    lines = [
        f"{len(failures)} of {len(report.records)} values differ from their goldens (PCC of at least {report.pcc:g})"
    ]
    lines += [f"  {record.describe()}" for record in failures[:10]]
    if len(failures) > 10:
        lines.append(f"  and {len(failures) - 10} more")
    error = TTBuilderGoldenException("\n".join(lines), failures)
    error.report = report
    raise error


@checked_arguments
def save_torch_tensor(torch_tensor: torch.Tensor, folder_path: str | os.PathLike[str], torch_tensor_name: str) -> None:
    """Writes <folder>/<name>.pt; characters that file names cannot have are replaced."""
    folder = Path(folder_path)
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / f"{get_sanitized_filename(torch_tensor_name)}.pt") as file:
        torch.save(torch_tensor, file)


def save_goldens(folder: Path, goldens: Mapping[str, Any]) -> None:
    """Saves inputs and outputs as .pt files, one per device."""
    for name, golden in goldens.items():
        for device, shard in GoldenMapTensor.of(golden).shard_map.items():
            save_torch_tensor(shard, folder, f"{name}_golden_{device}")
