# SPDX-License-Identifier: Apache-2.0
"""The agreement of targets: TTIR ops on target ttmetal and on target ttnn, both on an exact device.

`PYTHONPATH=test/python/ops python test/python/ops/special/exact_table.py` prints how many elements have the same bits,
by op and data type. Its options are a pattern of names (`--ops 'ttir.log*'`) and `--dtypes f32`.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.execution.device_tensors import convert_input_layouts, create_tensor, fetched
from metal_table import BLOCKS, OPS, Entry, built, entries, refusal
from op_cases import clone, lowered
from ttmlir import passes

DTYPES = ("f32", "bf16", BLOCKS)


@dataclass(frozen=True)
class Agreement:
    """Elements of results that have the same bits on both targets, of how many, and the largest difference."""

    same: int
    count: int
    largest: float  # of the largest value


@functools.cache
def device() -> Any:
    """A mesh of one exact chip that stays open for all tests of this process."""
    return rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions(exact=True))


def metal(module: Any, dtype: str) -> Any:
    """The program of cores. A kernel does not keep results of several ops in registers, where they are not packed."""
    blocks = "global-data-format-target=bfp_bf8" if dtype == BLOCKS else ""
    made: Any = clone(module)
    passes.ttir_to_ttmetal_pipeline(made, f"enable-elementwise-fusion=false {blocks}".strip())
    return rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(made), allow_native=True)


def library(module: Any, dtype: str) -> Any:
    made = lowered(module, (1, 1), "target-format=bfp_bf8" if dtype == BLOCKS else "")
    return rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(made))


def in_blocks(values: torch.Tensor) -> torch.Tensor:
    """Values that bfp8 holds: the library rounds once when it casts, and the packer of a kernel twice."""
    if not values.is_floating_point() or not values.numel():
        return values
    rows = values.float().reshape(-1, values.shape[-1] if values.dim() else 1)
    padded = torch.nn.functional.pad(rows, (0, -rows.shape[1] % 16))
    packed = torch.from_numpy(rt.arithmetic.pack_block(padded.reshape(-1, 16).contiguous().numpy(), 8))
    return packed.reshape(padded.shape)[:, : rows.shape[1]].reshape(values.shape).to(values.dtype)


def results(binary: Any, index: int, inputs: Sequence[Any], dtype: str) -> list[torch.Tensor]:
    host = []
    for value in inputs:
        shards = value.golden_map_tensor_as_torch_tensors()
        if dtype == BLOCKS:
            shards = {number: in_blocks(shard) for number, shard in shards.items()}
        host.append(create_tensor(shards, (1, 1)))
    placed = convert_input_layouts(device(), host, fbb=binary, program_index=index)
    return [fetched(tensor)[0] for tensor in rt.runtime.submit(device(), binary, index, placed)]


def different(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Returns where bits differ; NaN of any bits are equal, since a result may be one that the host makes."""
    if not a.is_floating_point():
        return a != b
    return ~((a == b) & (a.signbit() == b.signbit()) | a.isnan() & b.isnan())


def agreements(several: Sequence[Entry]) -> dict[Entry, Agreement | str]:
    """Runs entries of a data type that the pipeline accepts; a reason where one of the targets refuses its operands."""
    module, builder = built(several)
    cores, other = metal(module, several[0].dtype), library(module, several[0].dtype)
    found: dict[Entry, Agreement | str] = {}
    for index, goldens in builder.golden_map[0].items():
        try:
            a, b = (results(binary, index, goldens.inputs, several[0].dtype) for binary in (cores, other))
        except RuntimeError as error:
            found[several[index]] = str(error).splitlines()[0]
            continue
        same, count, largest = 0, 0, 0.0
        for x, y in zip(a, b, strict=True):
            wrong = different(x, y)
            same, count = same + int((~wrong).sum()), count + x.numel()
            if wrong.any():
                finite = y.double().abs()[y.double().isfinite()]
                apart = (x.double() - y.double()).abs()[wrong].nan_to_num(0, 0, 0)
                largest = max(largest, float(apart.max() / max(float(finite.max()) if len(finite) else 0.0, 1e-30)))
        found[several[index]] = Agreement(same, count, largest)
    return found


def of_ops(ops: Sequence[str], dtype: str) -> dict[str, dict[Entry, Agreement | str]]:
    """Runs ops, without entries that the pipeline refuses."""
    accepted = [entry for op in ops for entry in entries(op, dtype) if refusal(entry, "8x8") is None]
    by_op: dict[str, dict[Entry, Agreement | str]] = {}
    for entry, found in (agreements(accepted) if accepted else {}).items():
        by_op.setdefault(entry.op, {})[entry] = found
    return by_op


def table(ops: Sequence[str], dtypes: Sequence[str], part: int = 12) -> Iterator[str]:
    yield "| op | dtype | cases with the same bits | elements with the same bits | largest difference |"
    yield "|---|---|---|---|---|"
    for dtype in dtypes:
        for first in range(0, len(ops), part):
            for op, found in of_ops(ops[first : first + part], dtype).items():
                yield from (f"{entry.name}: {reason}" for entry, reason in found.items() if isinstance(reason, str))
                numbers = [each for each in found.values() if isinstance(each, Agreement)]
                same, count = sum(each.same for each in numbers), sum(each.count for each in numbers)
                whole = sum(each.same == each.count for each in numbers)
                largest = max((each.largest for each in numbers), default=0.0)
                yield f"| {op} | {dtype} | {whole} of {len(numbers)} | {same} of {count} | {largest:.1e} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints which TTIR ops have the same bits on both targets.")
    parser.add_argument("--ops", default="*", help="a pattern of names")
    parser.add_argument("--dtypes", nargs="*", default=DTYPES)
    arguments = parser.parse_args()
    for line in table(fnmatch.filter(OPS, arguments.ops), arguments.dtypes):
        print(line, flush=True)


if __name__ == "__main__":
    main()
