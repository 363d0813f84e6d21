"""Inputs of a program: from a file of tensors, or random ones that its ops accept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from golden import GoldenMapTensor
from golden.sampling import generator, random_tensor
from ttmlir.files import whole_file

from .errors import InputError
from .file import Program, Tensor

READS = ".npz, .npy, .pt or .pth"


def read_tensors(path: str) -> dict[str, torch.Tensor]:
    """Tensors by name; those of a file that has none are called 0, 1, …"""
    suffix = Path(path).suffix
    try:
        if suffix in (".npz", ".npy"):
            import numpy

            loaded = numpy.load(path, allow_pickle=False)
            arrays = {name: loaded[name] for name in loaded.files} if suffix == ".npz" else {"0": loaded}
            return {name: torch.from_numpy(array) for name, array in arrays.items()}
        if suffix in (".pt", ".pth"):
            loaded = torch.load(path, weights_only=True)
        else:
            raise InputError(f"{path}: expected a {READS} file")
    except OSError:
        raise
    except InputError:
        raise
    except Exception as error:  # what damaged files raise has no common type
        raise InputError(f"{path}: not readable as {suffix}: {str(error).splitlines()[0]}") from error
    found = loaded if isinstance(loaded, Mapping) else {"0": loaded} if isinstance(loaded, torch.Tensor) else None
    if found is None and isinstance(loaded, Sequence):
        found = {str(i): tensor for i, tensor in enumerate(loaded)}
    if found is None or not all(isinstance(t, torch.Tensor) for t in found.values()):
        raise InputError(f"{path}: expected tensors, a list of them or tensors by name")
    return {str(name): tensor for name, tensor in found.items()}


def write_tensors(path: str, tensors: Mapping[str, torch.Tensor]) -> None:
    """A .npz or .pt file; bf16 becomes f32 in the former, which has no such type."""
    suffix = Path(path).suffix
    if suffix not in (".npz", ".pt", ".pth"):
        raise InputError(f"{path}: expected a .npz, .pt or .pth file")
    with whole_file(path) as file:
        if suffix == ".npz":
            import numpy

            plain = {n: (t.float() if t.dtype == torch.bfloat16 else t).numpy() for n, t in tensors.items()}
            numpy.savez(file, **plain)
        else:
            torch.save(dict(tensors), file)


def names_of(tensor: Tensor, index: int) -> list[str]:
    """What an input may be called in a file of tensors."""
    names = (tensor.name, f"input_{index}", f"arg{index}", f"arr_{index}", str(index))
    return list(dict.fromkeys(name for name in names if name))


def takes(program: Program) -> str:
    return ", ".join(f"{t.name or f'input_{i}'} {t.type}" for i, t in enumerate(program.inputs)) or "no inputs"


def given(path: str, program: Program) -> list[GoldenMapTensor]:
    """The program's inputs from a file, by name; all of them, of the right shape, values in the program's dtype."""
    tensors = read_tensors(path)
    unused = set(tensors)
    found = []
    for index, wanted in enumerate(program.inputs):
        name = next((n for n in names_of(wanted, index) if n in tensors), None)
        if name is None:
            raise InputError(
                f"{path}: nothing for input {index} (named {' or '.join(names_of(wanted, index))}); the program "
                f'"{program.name}" takes: {takes(program)}'
            )
        unused.discard(name)
        found.append(on_devices(tensors[name], wanted, program, f"{path}: {name}"))
    if unused:
        raise InputError(f'no input named "{min(unused)}"; the program "{program.name}" takes: {takes(program)}')
    return found


def on_devices(value: torch.Tensor, wanted: Tensor, program: Program, where: str) -> GoldenMapTensor:
    """A value as the program takes it; the shards of a distributed input lie one after another in a first dimension."""
    devices = program.mesh[0] * program.mesh[1]
    shape = (devices, *wanted.shape) if wanted.distributed else wanted.shape
    if tuple(value.shape) != shape:
        hint = f" (one shard for each of {devices} devices)" if wanted.distributed else ""
        raise InputError(f"{where} has shape {list(value.shape)}, the program takes {list(shape)}{hint}")
    value = value.to(wanted.torch_dtype())
    shards = dict(enumerate(value)) if wanted.distributed else {0: value}
    return GoldenMapTensor(shards, program.mesh)


def random_inputs(program: Program, ranges: Mapping[int, Any], seed: int) -> list[GoldenMapTensor]:
    """Random values by dtype, the same for the same seed. ranges: input index -> (low, high) where its ops need it."""

    def make(shape: tuple[int, ...], dtype: torch.dtype, index: int, source: torch.Generator) -> torch.Tensor:
        return random_tensor(shape, dtype, ranges.get(index), source)

    return filled(program, seed, make)


def filled(program: Program, seed: int, make: Callable[..., torch.Tensor]) -> list[GoldenMapTensor]:
    """Inputs by make(shape, dtype, index, generator); one for each device where an input is distributed."""
    result = []
    for index, wanted in enumerate(program.inputs):
        devices = program.mesh[0] * program.mesh[1] if wanted.distributed else 1
        shards = {
            device: make(wanted.shape, wanted.torch_dtype(), index, generator(seed, program.name, index, device))
            for device in range(devices)
        }
        result.append(GoldenMapTensor(shards, program.mesh))
    return result


# --init -> values of a shape as float32, from a generator.
FILLS: dict[str, Callable[[tuple[int, ...], torch.Generator], torch.Tensor]] = {
    "rand": lambda shape, source: torch.rand(shape, generator=source),
    "randn": lambda shape, source: torch.randn(shape, generator=source),
    "zeros": lambda shape, source: torch.zeros(shape),
    "ones": lambda shape, source: torch.ones(shape),
    "arange": lambda shape, source: torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape),
}


def made(init: str, program: Program, ranges: Mapping[int, Any], seed: int) -> list[GoldenMapTensor]:
    """Inputs as --init says."""
    if init == "domain":
        return random_inputs(program, ranges, seed)
    return filled(program, seed, lambda shape, dtype, index, source: FILLS[init](shape, source).to(dtype))
