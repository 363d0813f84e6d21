# SPDX-License-Identifier: Apache-2.0
"""The programs of a flatbuffer on a mesh, op by op: how values are split, what chips hold, what they send.

Bytes, routes and times are those that the runtime's clock counts; nothing is run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import _ttmlir_runtime as tt_runtime

from .page import page
from .recorder import callees_of
from .records import plain, tensor_record

runtime = tt_runtime.runtime
AXES = ("rows", "columns")  # of a mesh; a value may differ from row to row, and from column to column
# Ops after which chips along `cluster_axis` hold the same, and those after which they do not.
JOINING = ("ttnn.all_gather", "ttnn.all_reduce", "ttnn.all_reduce_async")
SENDING = ("ttnn.all_to_all", "ttnn.collective_permute", "ttnn.point_to_point")
SPLITTING = ("ttnn.reduce_scatter", "ttnn.mesh_partition")


@dataclass(frozen=True)
class Send:
    """route: chips from the sender to the receiver; each has a link to the next."""

    route: tuple[int, ...]
    bytes: int

    @property
    def hops(self) -> int:
        return len(self.route) - 1


@dataclass(frozen=True)
class MeshValue:
    """A value of a program.

    type: of what one chip holds, or the host. place: "each" (a tensor of its own on each chip), "same" (one that all
    chips have) or "host". differs: axes of the mesh along which chips may hold different parts. dims: for each axis of
    the mesh, the dimension that it cuts, -1 for none; None where the file does not say it. whole: the shape before it
    was cut, None likewise.
    """

    type: str
    shape: tuple[int, ...]
    place: str
    differs: tuple[int, ...]
    dims: tuple[int, ...] | None = None
    whole: tuple[int, ...] | None = None


@dataclass(frozen=True)
class MeshOp:
    """ins, outs: values. groups: chips that exchange with each other. dram_held: bytes on each chip, in all its banks;
    l1_held: on each core. fabric_ns: the part of device_ns in which it sends. runs: programs that it runs,
    which may send, too: what they do is theirs, once for each time."""

    index: int
    name: str
    location: str
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    device_ns: float
    dram_held: int
    l1_held: int
    groups: tuple[tuple[int, ...], ...] = ()
    sends: tuple[Send, ...] = ()
    fabric_ns: float = 0.0
    runs: tuple[str, ...] = ()

    @property
    def hops(self) -> int:
        return max((send.hops for send in self.sends), default=0)

    def links(self) -> dict[tuple[int, int], int]:
        """Returns bytes over each link, (from, to)."""
        return links_of(self.sends)


@dataclass(frozen=True)
class MeshProgram:
    """mesh: rows and columns; chips are numbered row by row. inputs: values. device_ns: of all ops, or of stages, which
    work at the same time, until the last one ends."""

    name: str
    private: bool
    mesh: tuple[int, int]
    arch: str
    inputs: tuple[int, ...]
    input_names: tuple[str, ...]
    values: tuple[MeshValue, ...]
    ops: tuple[MeshOp, ...]
    device_ns: float

    @property
    def chips(self) -> int:
        return self.mesh[0] * self.mesh[1]

    def links(self) -> dict[tuple[int, int], int]:
        """Returns bytes over each link in the whole program, (from, to)."""
        return links_of([send for op in self.ops for send in op.sends])


def links_of(sends: Sequence[Send]) -> dict[tuple[int, int], int]:
    total: Counter[tuple[int, int]] = Counter()
    for send in sends:
        for link in zip(send.route, send.route[1:], strict=False):
            total[link] += send.bytes
    return dict(sorted(total.items()))


def groups_of(sends: Sequence[Send]) -> tuple[tuple[int, ...], ...]:
    """Returns chips that exchange with each other, directly or by others."""
    groups: list[set[int]] = []
    for send in sends:
        ends = {send.route[0], send.route[-1]}
        met = [group for group in groups if group & ends]
        groups = [group for group in groups if not group & ends] + [ends.union(*met)]
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def argument_dims(mlir: str) -> dict[str, list[tuple[int, ...] | None]]:
    """Returns function -> for each argument its `ttcore.shard_dims`, None where it has none; nothing of a text that is
    none."""
    from ttmlir import ir

    found: dict[str, list[tuple[int, ...] | None]] = {}
    if "ttcore.shard_dims" not in mlir:
        return found

    def look(operation: Any) -> None:
        if operation.name == "func.func" and "arg_attrs" in operation.attributes:
            every = [ir.DictAttr(a) for a in ir.ArrayAttr(operation.attributes["arg_attrs"])]
            name = ir.StringAttr(operation.attributes["sym_name"]).value
            key = "ttcore.shard_dims"
            found[name] = [tuple(ir.DenseI64ArrayAttr(a[key])) if key in a else None for a in every]
            return
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    look(inner.operation)

    try:
        with ir.Context():
            look(ir.Module.parse(mlir).operation)
    except ir.MLIRError:  # the text is for people; a file without one runs as well
        return {}
    return found


def whole_of(shape: Sequence[int], dims: Sequence[int], mesh: Sequence[int]) -> tuple[int, ...]:
    whole = list(shape)
    for dim, size in zip(dims, mesh, strict=True):
        if dim >= 0:
            whole[dim] *= size
    return tuple(whole)


class Values:
    """The values of a program, whose splits are followed from its inputs on."""

    def __init__(self, program: Mapping[str, Any]) -> None:
        self.mesh = tuple(program["mesh_shape"])
        self.descriptions = [value["desc"] for value in program["values"]]
        self.made: dict[int, MeshValue] = {}

    def add(self, value: int, differs: Sequence[int], dims: Sequence[int] | None) -> None:
        desc = self.descriptions[value]
        shape = tuple(desc["shape"])
        if not desc["distributed"]:
            place, differs, dims = "host" if desc["buffer_type"] == "system_memory" else "same", (), None
        else:
            place = "each"
        if dims is not None and not all(-1 <= dim < len(shape) for dim in dims):
            dims = None
        differs = tuple(axis for axis in sorted(set(differs)) if self.mesh[axis] > 1)
        whole = None if dims is None else whole_of(shape, dims, self.mesh)
        self.made[value] = MeshValue(
            str(tensor_record(value, desc)), shape, place, differs, None if dims is None else tuple(dims), whole
        )

    def add_input(self, value: int, dims: Sequence[int] | None) -> None:
        if dims is not None and len(dims) != len(self.mesh):
            dims = None
        split = range(len(self.mesh)) if dims is None else [axis for axis, dim in enumerate(dims) if dim >= 0]
        self.add(value, split, dims)

    def follow(self, op: Mapping[str, Any]) -> None:
        ins = [self.made[value] for value in op["ins"] if value is not None]
        for value in op["outs"]:
            self.add(value, *self.split_by(op["name"], op["attributes"], ins))

    def split_by(
        self, name: str, attributes: Mapping[str, Any], ins: Sequence[MeshValue]
    ) -> tuple[Sequence[int], Sequence[int] | None]:
        """Returns the axes along which results differ, and which dimensions these cut."""
        everywhere = range(len(self.mesh))
        if name == "ttnn.distribute_tensor":
            dims = placements(attributes, len(self.mesh), len(ins[0].shape))
            return (everywhere, None) if dims is None else ([a for a, dim in enumerate(dims) if dim >= 0], dims)
        differs = sorted({axis for value in ins for axis in value.differs})
        axis = attributes.get("cluster_axis")
        if name in JOINING and axis is not None:
            dims = ins[0].dims
            if dims is not None and name == "ttnn.all_gather" and dims[axis] >= 0:
                rank = len(ins[0].shape)
                at = attributes.get("all_gather_dim", 0) % max(rank, 1)
                dims = tuple(-1 if a == axis else d for a, d in enumerate(dims)) if dims[axis] == at else None
            return [a for a in differs if a != axis], dims
        if name in SPLITTING:
            return (everywhere if axis is None else [*differs, axis]), None
        if name in SENDING or name.startswith("ttcore.") or "rand" in name:
            return everywhere, None
        # Where all operands are cut alike and the result has their shape, the file does not say whether the op mixes
        # dimensions, so that only the axes are known.
        return differs, None


def placements(attributes: Mapping[str, Any], axes: int, rank: int) -> tuple[int, ...] | None:
    """Returns the dimension that each axis of the mesh cuts, by a distribute_tensor; None where it is of another
    mesh."""
    found = attributes.get("mapper_config", {}).get("fields", {}).get("placements", [])
    if len(found) != axes or rank == 0:
        return None
    fields = [placement["fields"] for placement in found]
    return tuple(f["dim"] % rank if f["type"]["symbol"] == "shard" else -1 for f in fields)


def mesh_program(binary: Any, index: int, arch: str) -> MeshProgram:
    """Returns what a program does on its mesh.

    Raises:
        _ttmlir_runtime.Error: it is one of TTMetal, or does not fit on the chips; names program and op.
    """
    return mesh_programs(binary, arch, [index])[0]


def mesh_programs(binary: Any, arch: str, indices: Sequence[int]) -> list[MeshProgram]:
    """Returns what `mesh_program` returns, of several programs."""
    programs = json.loads(binary.as_json())["programs"]
    dims = argument_dims(json.loads(binary.get_mlir_as_json())["source"])
    with runtime.open_mesh_device(arch_options(arch)) as chip:
        banks = chip.get_num_dram_channels()
    return [one(binary, index, arch, programs, dims, banks) for index in indices]


def arch_options(arch: str) -> Any:
    options = runtime.MeshDeviceOptions()
    options.arch = arch
    return options


def one(
    binary: Any, index: int, arch: str, programs: Sequence[Mapping[str, Any]],
    dims: Mapping[str, Sequence[tuple[int, ...] | None]], banks: int,
) -> MeshProgram:  # fmt: skip
    program = programs[index]
    if "pipeline" in program:
        return staged(binary, index, arch, programs, banks)
    mesh = (program["mesh_shape"][0], program["mesh_shape"][1])
    report = runtime.estimate(binary, index, arch, mesh)
    sent = {op.index: op for op in runtime.sends(binary, index, arch)}
    values = Values(program)
    said = dims.get(program["name"], [])
    inputs = tuple(given["value"] for given in program["inputs"])
    for i, value in enumerate(inputs):
        values.add_input(value, said[i] if len(said) == len(inputs) else None)
    ops = []
    for perf, op in zip(report.ops, program["operations"], strict=True):
        values.follow(op)
        made = sent.get(perf.index)
        sends = tuple(Send(tuple(s.route), s.bytes) for s in made.sends) if made else ()
        ops.append(MeshOp(
            perf.index, perf.name, plain(perf.loc), tuple(v for v in op["ins"] if v is not None), tuple(op["outs"]),
            perf.device_ns, perf.dram_resident_bytes_per_bank * banks, perf.l1_resident_bytes_per_bank,
            groups_of(sends), sends, made.fabric_ns if made else 0.0,
            tuple(programs[callee]["name"] for callee in callees_of(op)),
        ))  # fmt: skip
    listed = tuple(values.made[i] for i in range(len(program["values"])))
    names = tuple(given["name"] for given in program["inputs"])
    total = sum(op.device_ns for op in ops)
    return MeshProgram(program["name"], program["private"], mesh, arch, inputs, names, listed, tuple(ops), total)


def staged(binary: Any, index: int, arch: str, programs: Sequence[Mapping[str, Any]], banks: int) -> MeshProgram:
    """Returns a program of stages: each is an op that runs a program on chips of its own, and sends what later ones
    take.

    Times and bytes are of all micro-batches.
    """
    program = programs[index]
    pipeline, mesh = program["pipeline"], (program["mesh_shape"][0], program["mesh_shape"][1])
    report = runtime.estimate(binary, index, arch, mesh)
    sent: dict[int, list[Any]] = {}
    for found in runtime.sends(binary, index, arch):
        sent.setdefault(found.index, []).append(found)
    inputs = tuple(given["value"] for given in program["inputs"])
    outputs = [given["value"] for given in program["outputs"]]
    values = Values(program)
    for value in inputs:
        values.add_input(value, None)
    for value in outputs:
        values.add(value, range(len(mesh)), None)
    count, ops = pipeline["micro_batches"], []
    for i, (stage, perf) in enumerate(zip(pipeline["stages"], report.stages, strict=True)):
        made = sent.get(i, [])
        sends = tuple(Send(tuple(s.route), s.bytes * count) for found in made for s in found.sends)
        place = f"chips from {stage['mesh_offset']} on, {'x'.join(map(str, stage['mesh_shape']))} of them"
        ops.append(MeshOp(
            i, f"stage {i}", place, tuple(inputs[v["input"]] for v in stage["inputs"] if "input" in v),
            tuple(v for v, given in zip(outputs, pipeline["outputs"], strict=True) if given.get("stage") == i),
            perf.compute_ns + perf.send_ns, perf.dram_peak_bytes_per_bank * banks, perf.l1_peak_bytes_per_bank,
            groups_of(sends), sends,
            count * sum(found.fabric_ns for found in made), (programs[stage["program"]]["name"],),
        ))  # fmt: skip
    listed = tuple(values.made[i] for i in range(len(program["values"])))
    names = tuple(given["name"] for given in program["inputs"])
    return MeshProgram(
        program["name"], program["private"], mesh, arch, inputs, names, listed, tuple(ops), report.device_ns
    )


def as_json(program: MeshProgram) -> dict[str, Any]:
    """Returns the program as JSON, with the bytes over each link, of each op and in all."""

    def links(found: Mapping[tuple[int, int], int]) -> list[dict[str, int]]:
        return [{"from": a, "to": b, "bytes": sent} for (a, b), sent in found.items()]

    data = asdict(program)
    for shown, op in zip(data["ops"], program.ops, strict=True):
        shown |= {"hops": op.hops, "links": links(op.links())}
    return data | {"links": links(program.links())}


def mesh_page(title: str, programs: Sequence[MeshProgram]) -> str:
    """Returns the page that shows them: one file that needs nothing but a browser."""
    return page("mesh.html", {"title": title, "programs": [as_json(program) for program in programs]})
