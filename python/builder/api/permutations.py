# SPDX-License-Identifier: Apache-2.0
"""All ways to split the arguments of a module over a mesh, and those of them that communicate least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from math import isqrt
from typing import Any

from ttmlir import ir, passes
from ttmlir.ir import Context, Module

from builder.base.errors import TTBuilderCompileException, diagnostics_of
from builder.execution.argument_checks import checked_arguments
from builder.ops.structure import functions, walk

AXES = ("x", "y")
COLLECTIVES = {
    f"stablehlo.{name}"
    for name in (
        "all_gather",
        "all_reduce",
        "all_to_all",
        "collective_broadcast",
        "collective_permute",
        "reduce_scatter",
    )
}


def mesh_shapes(devices: int) -> Iterator[tuple[int, int]]:
    """Yields rows and columns whose product is `devices`, those of fewer rows first, each with its transpose."""
    for rows in range(1, isqrt(devices) + 1):
        if devices % rows == 0:
            yield rows, devices // rows
            if rows != devices // rows:
                yield devices // rows, rows


def splits(rank: int) -> Iterator[tuple[str | None, ...]]:
    """Yields the axis that splits each dimension: one axis of either kind, then both."""
    for count in (1, 2):
        for dims in combinations(range(rank), count):
            for axes in permutations(AXES, count):
                chosen = dict(zip(dims, axes, strict=True))
                yield tuple(chosen.get(dim) for dim in range(rank))


def sharding(split: Sequence[str | None]) -> str:
    dims = ", ".join("{?}" if axis is None else f'{{"{axis}", ?}}' for axis in split)
    return f"#sdy.sharding<@mesh, [{dims}]>"


@checked_arguments
def generate_all_module_permutations(mlir_text: str, num_devices: int) -> list[Module]:
    """Returns the module with each argument split in each way over each mesh of that many devices.

    Meshes have axes "x" and "y". An argument is split along one or two of its dimensions, each by one axis; a function
    with a scalar argument has no permutation. The last argument varies fastest.

    Raises:
        TTBuilderCompileException: the text does not parse or verify; has the diagnostics.
        ValueError: fewer devices than one, or a module that has a mesh already.
    """
    if num_devices < 1:
        raise ValueError(f"num_devices is {num_devices}; expected 1 or more")
    context = Context()
    try:
        module = Module.parse(mlir_text, context)
    except ir.MLIRError as error:
        raise TTBuilderCompileException("the text is not a valid module", diagnostics_of(error)) from error
    if any(op.name == "sdy.mesh" for op in walk(module.operation)):
        raise ValueError("the module has a mesh already; expected one without")
    found = []
    for rows, columns in mesh_shapes(num_devices):
        for index, function in enumerate(functions(module.operation)):
            ranks = [
                len(ir.RankedTensorType(argument.type).shape) for argument in function.regions[0].blocks[0].arguments
            ]
            for chosen in product(*(list(splits(rank)) for rank in ranks)):
                found.append(permuted(str(module), context, (rows, columns), index, chosen))
    return found


def permuted(
    text: str, context: Context, mesh: tuple[int, int], index: int, chosen: Sequence[Sequence[str | None]]
) -> Module:
    module = Module.parse(text, context)
    with context, ir.Location.unknown(context):
        declared = Module.parse(f'sdy.mesh @mesh = <["x"={mesh[0]}, "y"={mesh[1]}]>', context)
        module.body.append(declared.body.operations[0].operation.detach_from_parent())
        function: Any = functions(module.operation)[index]
        present = function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else [{}] * len(chosen)
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [
                ir.DictAttr.get(
                    {**{a.name: a.attr for a in attrs}, "sdy.sharding": ir.Attribute.parse(sharding(split))}
                )
                for attrs, split in zip(present, chosen, strict=True)
            ]
        )
    return module


def collectives(module: Any) -> int:
    """Returns the exchanges between devices in a module that went through `stablehlo_pipeline`; slices exchange
    nothing."""
    return sum(op.name in COLLECTIVES for op in walk(module.operation))


@checked_arguments
def get_optimal_module_least_num_collectives(module_permutations: list[Module]) -> list[Module]:
    """Returns, of the modules, those with the fewest collectives after `stablehlo_pipeline`, lowered.

    A module that the pipeline refuses is left out. The modules themselves are not changed.
    """
    best: list[Module] = []
    least = None
    for module in module_permutations:
        lowered = Module.parse(str(module), module.context)
        try:
            passes.stablehlo_pipeline(lowered)
        except ir.MLIRError:
            continue
        count = collectives(lowered)
        if least is None or count < least:
            best, least = [], count
        if count == least:
            best.append(lowered)
    return best
