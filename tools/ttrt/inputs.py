# SPDX-License-Identifier: Apache-2.0
"""Inputs of a program: from files of tensors, random ones that its ops accept, or as --init says."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from golden.domains import Body, Domain, Use, Value, argument_domains
from golden.sampling import generator, random_array
from ttmlir import safetensors
from ttmlir.files import whole_file
from ttmlir.op_facts import has_fact

from .arrays import BFLOAT16, Shards, from_torch, numpy_dtype, to_torch
from .errors import InputError
from .file import CALL, File, Program, Tensor
from .input_arguments import DOMAIN, READS, Init, check_written, names_of, takes

# ---------------------------------------------------------------------- files


def read_tensors(path: str) -> dict[str, np.ndarray]:
    """Returns tensors by name; those of a file that has none are called 0, 1, …"""
    suffix = Path(path).suffix
    if suffix not in READS:
        raise InputError(f"{path}: expected a {', '.join(READS[:-1])} or {READS[-1]} file")
    with Path(path).open("rb"):  # says why not, in the system's words
        pass
    try:
        if suffix == ".safetensors":
            return safetensors.read(path)
        return read_numpy(path) if suffix in (".npz", ".npy") else read_torch(path)
    except InputError:
        raise
    except ImportError:
        raise InputError(f"{path}: reading {suffix} files needs PyTorch: pip install 'ttmlir[torch]'") from None
    except Exception as error:  # what damaged files raise has no common type
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{path}: not readable as {suffix}: {reason}") from error


def read_numpy(path: str) -> dict[str, np.ndarray]:
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        arrays = {"0": loaded}
    else:
        with loaded:
            arrays = {name: loaded[name] for name in loaded.files}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise InputError(f"{path}: {name} has elements of type {array.dtype}; expected numbers")
    return arrays


def read_torch(path: str) -> dict[str, np.ndarray]:
    import torch

    loaded = torch.load(path, weights_only=True)
    found = loaded if isinstance(loaded, Mapping) else {"0": loaded} if isinstance(loaded, torch.Tensor) else None
    if found is None and isinstance(loaded, Sequence):
        found = {str(i): tensor for i, tensor in enumerate(loaded)}
    if found is None or not all(isinstance(t, torch.Tensor) for t in found.values()):
        raise InputError(f"{path}: expected tensors, a list of them or tensors by name")
    return {str(name): from_torch(tensor) for name, tensor in found.items()}


def write_tensors(path: str, tensors: Mapping[str, np.ndarray]) -> None:
    """Writes a .npz or .pt file; bf16 becomes f32 in the former, which has no such type."""
    check_written(path)
    with whole_file(path) as file:
        if Path(path).suffix == ".npz":
            plain: Any = {n: (a.astype(np.float32) if a.dtype == BFLOAT16 else a) for n, a in tensors.items()}
            np.savez(file, **plain)
        else:
            import torch

            torch.save({name: to_torch(array) for name, array in tensors.items()}, file)


def given(path: str, program: Program) -> list[Shards]:
    """Returns the program's inputs from a file, by name; all of them, of the right shape, values in the program's
    dtype."""
    tensors = read_tensors(path)
    unused = set(tensors)
    found = []
    for index, expected in enumerate(program.inputs):
        name = next((n for n in names_of(expected, index) if n in tensors), None)
        if name is None:
            raise InputError(
                f"{path}: nothing for input {index} (named {' or '.join(names_of(expected, index))}); the program "
                f'"{program.name}" takes: {takes(program)}'
            )
        unused.discard(name)
        found.append(on_devices(tensors[name], expected, program, f"{path}: {name}"))
    if unused:
        raise InputError(f'no input named "{min(unused)}"; the program "{program.name}" takes: {takes(program)}')
    return found


def on_devices(value: np.ndarray, expected: Tensor, program: Program, where: str) -> Shards:
    """Returns a value as the program takes it; the shards of a distributed input lie one after another in a first
    dimension."""
    devices = program.mesh[0] * program.mesh[1]
    shape = (devices, *expected.shape) if expected.distributed else expected.shape
    if tuple(value.shape) != shape:
        hint = f" (one shard for each of {devices} devices)" if expected.distributed else ""
        raise InputError(f"{where} has shape {list(value.shape)}, the program takes {list(shape)}{hint}")
    dtype = numpy_dtype(expected.host_dtype())
    if dtype.kind in "iu" and value.size:
        low, high = float(value.min()), float(value.max())
        info = np.iinfo(dtype)
        if not (info.min <= low and high <= info.max):
            wrong = high if info.min <= low else low
            raise InputError(f"{where} has {wrong:.0f}, which {expected.dtype} cannot hold")
    value = value.astype(dtype, copy=False)
    return Shards(dict(enumerate(value)) if expected.distributed else {0: value}, program.mesh)


# ---------------------------------------------------------------------- what the ops accept


def ranges(file: File, program: Program) -> dict[int, Domain]:
    """Returns input index -> the values that the program's ops accept, where they ask for some."""
    return {} if file.is_metal else argument_domains(body_of(file, program.index))


def body_of(file: File, index: int) -> Body:
    """Returns a program of a flatbuffer as golden.domains follows it. Operands are single: ODS's groups are not
    recorded."""
    program = file.description["programs"][index]
    values = [
        Value(i, tuple(value["desc"]["shape"]), value["desc"]["data_type"]) for i, value in enumerate(program["values"])
    ]

    def use(op: dict[str, Any]) -> Use:
        operands = [[] if i is None else [values[i]] for i in op["ins"]]
        callee = op["attributes"]["callee"] if op["name"] == CALL else None
        body = (lambda: body_of(file, callee)) if callee is not None else None
        results, moves = [values[i] for i in op["outs"]], has_fact(op["name"], "moves_values")
        return Use(op["name"], operands, results, lambda: op["attributes"], body, moves)

    arguments, returns = ([values[v["value"]] for v in program[end]] for end in ("inputs", "outputs"))
    return Body(arguments, [use(op) for op in program["operations"]], returns)


# ---------------------------------------------------------------------- making values

Make = Callable[[tuple[int, ...], np.dtype, np.random.Generator], np.ndarray]

# --init -> values of a shape, from a generator; they are converted to the input's type.
FILLS: dict[str, Callable[[tuple[int, ...], np.random.Generator], np.ndarray]] = {
    "rand": lambda shape, source: source.random(shape, np.float32),
    "randn": lambda shape, source: source.standard_normal(shape, np.float32),
    "normal": lambda shape, source: source.standard_normal(shape, np.float32),
    "zeros": lambda shape, source: np.zeros(shape, np.float32),
    "ones": lambda shape, source: np.ones(shape, np.float32),
    "arange": lambda shape, source: np.arange(math.prod(shape)).reshape(shape),
}


def fitted(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Returns values in a dtype; what an integer has no room for becomes its largest or smallest value."""
    if dtype.kind in "iu":
        values = np.clip(values, float(np.iinfo(dtype).min), float(np.iinfo(dtype).max))
    return values.astype(dtype)


def of_program(args: argparse.Namespace, file: File, program: Program) -> list[Shards]:
    """Returns the inputs of a program as the command line says."""
    if args.inputs:
        return given(args.inputs, program)
    weights = named(args.weights, program) if args.weights else {}
    return generated(args.init, program, ranges(file, program), args.seed, weights, owners(file, program))


def named(path: str, program: Program) -> dict[int, Shards]:
    """Returns those inputs of a program that a file has, by index; each tensor must be one of them."""
    found = {}
    for name, value in read_tensors(path).items():
        index = next((i for i, expected in enumerate(program.inputs) if expected.name == name), None)
        if index is None:
            raise InputError(f'{path}: no input named "{name}"; the program "{program.name}" takes: {takes(program)}')
        expected = program.inputs[index]
        dtype = numpy_dtype(expected.host_dtype())
        if value.dtype != dtype and value.dtype.kind in "fV" and dtype.kind in "fV":  # ml_dtypes' kind is V
            raise InputError(f"{path}: {name} has elements of type {value.dtype}, the program takes {dtype}")
        found[index] = on_devices(value, expected, program, f"{path}: {name}")
    return found


def random_inputs(file: File, program: Program, seed: int) -> list[Shards]:
    """Returns random values that the ops accept, the same for the same seed."""
    return generated((), program, ranges(file, program), seed, part_owners=owners(file, program))


def owners(file: File, program: Program) -> dict[int, list[int]]:
    """Returns input index -> for each chip the first one that has the same part, where the file says how the whole is
    cut.

    Chips that stand for the same part must get the same values: what is gathered of them is compared.
    """
    if not any(expected.distributed for expected in program.inputs):
        return {}
    from profiler.meshes import argument_dims

    dims = argument_dims(file.mlir).get(program.name, [])
    if len(dims) != len(program.inputs):
        return {}
    rows, columns = program.mesh
    return {
        index: [
            (chip // columns if cut[0] >= 0 else 0) * columns + (chip % columns if cut[1] >= 0 else 0)
            for chip in range(rows * columns)
        ]
        for index, cut in enumerate(dims)
        if cut is not None and len(cut) == 2
    }


def generated(
    inits: Sequence[Init],
    program: Program,
    accepted: Mapping[int, Domain],
    seed: int,
    known: Mapping[int, Shards] | None = None,
    part_owners: Mapping[int, Sequence[int]] | None = None,
) -> list[Shards]:
    """Returns inputs as --init says, but for those that are known, by index; one array for each device where an input
    is distributed, the same for those of one owner."""
    result = []
    for index, expected in enumerate(program.inputs):
        if known and index in known:
            result.append(known[index])
            continue
        entry = next((e for n in [*names_of(expected, index), None] for e in inits if e.name == n), Init(DOMAIN))
        if entry.is_file:
            result.append(from_file(entry, expected, index, program))
            continue
        make = generator_of(entry, expected, index, program, accepted.get(index))
        devices = program.mesh[0] * program.mesh[1] if expected.distributed else 1
        dtype = numpy_dtype(expected.host_dtype())
        of = (part_owners or {}).get(index, range(devices))
        parts = {
            d: make(expected.shape, dtype, generator(seed, program.name, index, d)) for d in sorted({*of[:devices]})
        }
        result.append(Shards({d: parts[of[d]] for d in range(devices)}, program.mesh))
    return result


def from_file(entry: Init, expected: Tensor, index: int, program: Program) -> Shards:
    tensors = read_tensors(entry.what)
    name = next((n for n in names_of(expected, index) if n in tensors), None)
    name = next(iter(tensors)) if name is None and len(tensors) == 1 else name
    if name is None:
        of = ", ".join(tensors) or "no tensor"
        raise InputError(f"{entry}: the file has {of}; expected one tensor, or one of {names_of(expected, index)[0]}")
    return on_devices(tensors[name], expected, program, f"{entry}: {name}")


def generator_of(entry: Init, expected: Tensor, index: int, program: Program, accepted: Domain | None) -> Make:
    if entry.what == DOMAIN:
        return lambda shape, dtype, source: random_array(shape, dtype.name, accepted, source)
    if entry.interval is None:
        return lambda shape, dtype, source: fitted(FILLS[entry.what](shape, source), dtype)
    low, high = entry.interval
    dtype = numpy_dtype(expected.host_dtype())
    if dtype.kind in "biu":
        # HIGH itself is not drawn, as in Python's ranges.
        low, high = math.ceil(low), math.ceil(high) - 1
        least, most = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
        what = f"input {index} of {program.name!r}, a {expected.type}"
        if low > high:
            raise InputError(f"{entry}: no integer lies in this range; it is for {what}")
        if low < least or high > most:
            raise InputError(f"{entry}: {low if low < least else high} is no value of {what}: {least} to {most}")
    return lambda shape, dtype, source: random_array(shape, dtype.name, (low, high), source)
