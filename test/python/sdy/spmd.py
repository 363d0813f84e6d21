# SPDX-License-Identifier: Apache-2.0
"""Runs a partitioned module on every device of a mesh, on arrays, and the same program on whole arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from meshes import Dims, Mesh, read_dims, read_parts
from ttmlir import ir

Value = np.ndarray
SHARDING = re.compile(r"<@\w+, \[(.*?)\](?:, replicated=\{[^}]*\})?>")


def entry_of(attributes: Any, name: str = "sdy.sharding", default: Any = None) -> Any:
    """MLIR's dictionaries have no `get` of this kind."""
    return attributes[name] if name in attributes else default  # noqa: SIM401


def read_sharding(mesh: Mesh, attribute: Any, rank: int) -> Dims:
    match = SHARDING.search(str(attribute)) if attribute is not None else None
    return read_dims(mesh, match[1]) if match else ((),) * rank


def ints(attribute: Any) -> list[int]:
    return [int(n) for n in re.findall(r"-?\d+", str(attribute).split(":", 1)[1])]


def dot_general(op: Any, args: list[Value], shape: tuple[int, ...]) -> Value:
    def dims(name: str) -> list[int]:
        found = re.search(rf"{name}_dimensions = \[([\d, ]*)\]", str(op.attributes["dot_dimension_numbers"]))
        return [int(n) for n in re.findall(r"\d+", found[1])] if found else []

    lhs, rhs = args
    batch, contract = dims("lhs_batching"), dims("lhs_contracting")
    names_l: list[int] = list(range(lhs.ndim))
    names_r: list[int] = [lhs.ndim + n for n in range(rhs.ndim)]
    for a, b in zip(batch + contract, dims("rhs_batching") + dims("rhs_contracting"), strict=True):
        names_r[b] = names_l[a]
    free = [n for n in names_l if n not in batch + contract] + [n for n in names_r if n >= lhs.ndim]
    return np.einsum(lhs, names_l, rhs, names_r, [names_l[n] for n in batch] + free)


def reduce(op: Any, args: list[Value], shape: tuple[int, ...]) -> Value:
    values, init = args
    body = op.regions[0].blocks[0].operations[0].operation.name
    function = {"stablehlo.add": np.add, "stablehlo.maximum": np.maximum, "stablehlo.multiply": np.multiply}[body]
    return function(function.reduce(values, axis=tuple(ints(op.attributes["dimensions"]))), init)


def slice_(op: Any, args: list[Value], shape: tuple[int, ...]) -> Value:
    """A dimension of which the whole is taken may be split; others are whole on each device."""
    whole = ir.RankedTensorType(op.operands[0].type).shape
    ranges = zip(*(ints(op.attributes[n]) for n in ("start_indices", "limit_indices", "strides")), strict=True)
    return args[0][
        tuple(np.s_[:] if (a, b, c) == (0, n, 1) else np.s_[a:b:c] for (a, b, c), n in zip(ranges, whole, strict=True))
    ]


def pad(op: Any, args: list[Value], shape: tuple[int, ...]) -> Value:
    low, high = (ints(op.attributes[f"edge_padding_{end}"]) for end in ("low", "high"))
    return np.pad(args[0], list(zip(low, high, strict=True)), constant_values=args[1])


def broadcast_in_dim(op: Any, args: list[Value], shape: tuple[int, ...]) -> Value:
    dims = ints(op.attributes["broadcast_dimensions"]) if args[0].ndim else []
    expanded = [1] * len(shape)
    for size, dim in zip(args[0].shape, dims, strict=True):
        expanded[dim] = size
    return np.broadcast_to(args[0].reshape(expanded), shape)


def take(op: Any, args: list[Value], shape: tuple[int, ...]) -> Value:
    """The gather of an embedding: rows by their number."""
    return args[0][args[1]]


def take_held(rows: Value, numbers: Value, held: Value) -> Value:
    """The rows of these numbers that a device holds, whose numbers are `held`; zeros for the others."""
    place = {int(number): at for at, number in enumerate(held)}
    result = np.zeros((*numbers.shape, *rows.shape[1:]), rows.dtype)
    for index, number in np.ndenumerate(numbers):
        if int(number) in place:
            result[index] = rows[place[int(number)]]
    return result


def sort(op: Any, args: list[Value], shape: tuple[int, ...]) -> Value:
    return np.sort(args[0], axis=int(op.attributes["dimension"]))


OPS: dict[str, Callable[[Any, list[Value], tuple[int, ...]], Value]] = {
    "stablehlo.add": lambda op, args, shape: args[0] + args[1],
    "stablehlo.subtract": lambda op, args, shape: args[0] - args[1],
    "stablehlo.multiply": lambda op, args, shape: args[0] * args[1],
    "stablehlo.maximum": lambda op, args, shape: np.maximum(*args),
    "stablehlo.negate": lambda op, args, shape: -args[0],
    "stablehlo.transpose": lambda op, args, shape: np.transpose(args[0], ints(op.attributes["permutation"])),
    "stablehlo.reshape": lambda op, args, shape: args[0].reshape(shape),
    "stablehlo.reverse": lambda op, args, shape: np.flip(args[0], ints(op.attributes["dimensions"])),
    "stablehlo.concatenate": lambda op, args, shape: np.concatenate(args, int(op.attributes["dimension"])),
    "stablehlo.slice": slice_,
    "stablehlo.pad": pad,
    "stablehlo.broadcast_in_dim": broadcast_in_dim,
    "stablehlo.dot_general": dot_general,
    "stablehlo.reduce": reduce,
    "stablehlo.gather": take,
    "stablehlo.sort": sort,
}


class Machine:
    """All values of a function, on each device and as a whole."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.unsplit: dict[Any, Value] = {}
        self.locals: dict[Any, list[Value]] = {}
        self.dims: dict[Any, Dims] = {}
        self.collectives: list[str] = []

    def split(self, whole: Value, dims: Dims) -> list[Value]:
        return [self.mesh.local(whole, device, dims) for device in self.mesh.devices]

    def define(self, value: Any, whole: Value, dims: Dims, parts: list[Value] | None = None) -> None:
        self.unsplit[value], self.dims[value] = whole, dims
        self.locals[value] = self.split(whole, dims) if parts is None else parts

    def run(self, function: Any, inputs: list[Value]) -> None:
        attributes = entry_of(function.attributes, "arg_attrs", [])
        block = function.regions[0].blocks[0]
        for number, (argument, whole) in enumerate(zip(block.arguments, inputs, strict=True)):
            entry = attributes[number] if len(attributes) else {}
            self.define(
                argument,
                whole,
                read_sharding(self.mesh, entry_of(entry), whole.ndim),
            )
        results = entry_of(function.attributes, "res_attrs", [])
        for op in block.operations:
            op = op.operation
            if op.name == "func.return":
                for number, value in enumerate(op.operands):
                    entry = results[number] if len(results) else {}
                    reference = read_sharding(self.mesh, entry_of(entry), self.unsplit[value].ndim)
                    self.check(value, reference, "the result")
            else:
                self.step(op)

    def check(self, value: Any, dims: Dims, what: str) -> None:
        for part, expected in zip(self.locals[value], self.split(self.unsplit[value], dims), strict=True):
            np.testing.assert_array_equal(part, expected, err_msg=f"{what} of {value}")

    def step(self, op: Any) -> None:
        [result] = op.results
        shape = tuple(ir.RankedTensorType(result.type).shape)
        if op.name.endswith("constant"):
            dims = read_sharding(self.mesh, entry_of(op.attributes), len(shape))
            return self.define(result, np.array(op.attributes["value"]).reshape(shape), dims)
        if op.name.startswith("sdy."):
            return self.collective(op, result)
        dims = read_sharding(self.mesh, entry_of(op.attributes), len(shape))
        whole = OPS[op.name](op, [self.unsplit[v] for v in op.operands], shape)
        assert whole.shape == shape
        local_shape = tuple(n // self.mesh_size(parts) for n, parts in zip(shape, dims, strict=True))
        if op.name == "stablehlo.gather":
            rows, numbers = op.operands
            every = self.split(np.arange(len(self.unsplit[rows])), self.dims[rows][:1])
            parts = [take_held(*given) for given in zip(self.locals[rows], self.locals[numbers], every, strict=True)]
        else:
            parts = [
                OPS[op.name](op, [self.locals[v][n] for v in op.operands], local_shape)
                for n in range(len(self.mesh.devices))
            ]
        assert all(part.shape == local_shape for part in parts), f"{op} gives {parts[0].shape}, not {local_shape}"
        self.define(result, whole, dims, parts)

    @staticmethod
    def mesh_size(parts: tuple[tuple[str, int, int], ...]) -> int:
        return int(np.prod([size for _, _, size in parts], dtype=int))

    def collective(self, op: Any, result: Any) -> None:
        name, [operand] = op.name.removeprefix("sdy."), op.operands
        after = read_sharding(self.mesh, op.attributes["out_sharding"], len(self.dims[operand]))
        data, mesh = self.locals[operand], self.mesh
        if name == "all_reduce":
            parts = read_parts(mesh, str(op.attributes["reduction_axes"]))
            kind = str(op.attributes["reduction_op"]) if "reduction_op" in op.attributes else "sum"
            combine = np.maximum if "max" in kind or kind.startswith("1") else np.add
            groups = [mesh.group(device, parts) for device in mesh.devices]
            data = [combine.reduce([data[n] for n in group]) for group in groups]
        elif name in ("all_slice", "all_gather"):
            lists = read_dims(
                mesh, str(op.attributes["slicing_axes" if name == "all_slice" else "gathering_axes"]).split("<", 1)[1]
            )
            data = mesh.slice(data, lists) if name == "all_slice" else mesh.gather(data, lists)
        elif name == "all_to_all":
            moves = re.findall(r"\{([^}]*)\}: (\d+)->(\d+)", str(op.attributes["params"]))
            data = mesh.all_to_all(data, [(read_parts(mesh, axes), int(s), int(t)) for axes, s, t in moves])
        else:
            assert name == "collective_permute", name
            data = mesh.permute(data, self.dims[operand], after)
        self.collectives.append(name)
        self.define(result, self.unsplit[operand], after, data)
        self.check(result, after, name)
